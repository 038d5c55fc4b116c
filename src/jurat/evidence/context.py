"""The context: all that an evaluator may see of one trial. Immutable, checked when made, and then believed.

Values are JSON-compatible and frozen (`jurat.jsontext.freeze`); unknown fields are an error. Text that is no valid
Unicode and values that have no JSON form are refused here, so that nothing later can trip over them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from jurat.errors import AuthoringError, Fault
from jurat.evidence.conversation import (
    Message,
    Role,
    json_or_fault,
    mapping_or_fault,
    message_from_json,
    message_to_json,
    refuse_unknown,
    text_or_fault,
)
from jurat.jsontext import Json, type_name

__all__ = ["Context", "Document", "as_context", "context_from_json", "context_to_json"]

_NOTHING: Mapping[str, Json] = MappingProxyType({})


def _nothing() -> Mapping[str, Json]:
    return _NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document by its extracted text, with the name and media type that it came with."""

    text: str
    name: str = ""
    media_type: str = "text/plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What is known of one trial.

    Attributes:
        output: what the subject answered; the one field that is required.
        expected: the reference answer, any JSON value, or None.
        rendered_input: the prompt after its placeholders were filled, or None.
        prompt_template: the prompt before that, or None.
        variables: what filled the placeholders.
        messages: the conversation *before* the output, oldest first.
        documents: by their extracted text.
        metadata: what the author keeps beside the case; the judge is shown it when there is any.
        provider: the name of the subject's provider, or None.
        prompt_version: which version of the prompt, or None.
        execution: what is known of the subject's call: `latency_ms`, `cost_usd`, `tool_calls`, …

    Raises:
        AuthoringError: with every fault, when a value has the wrong type or no JSON form.
    """

    output: str
    expected: Json = None
    rendered_input: str | None = None
    prompt_template: str | None = None
    variables: Mapping[str, Json] = field(default_factory=_nothing)
    messages: tuple[Message, ...] = ()
    documents: tuple[Document, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=_nothing)
    provider: str | None = None
    prompt_version: str | None = None
    execution: Mapping[str, Json] = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        faults: list[Fault] = []
        text_or_fault(self.output, "output", faults)
        for name in _OPTIONAL_TEXTS:
            value = getattr(self, name)
            if value is not None:
                text_or_fault(value, name, faults)
        for name in _MAPPINGS:
            if (value := getattr(self, name)) is not _NOTHING:
                object.__setattr__(self, name, mapping_or_fault(value, name, faults))
        if self.expected is not None:
            object.__setattr__(self, "expected", json_or_fault(self.expected, "expected", faults))
        if self.messages or not isinstance(self.messages, tuple):
            object.__setattr__(self, "messages", _messages(self.messages, faults))
        if self.documents or not isinstance(self.documents, tuple):
            object.__setattr__(self, "documents", _documents(self.documents, faults))
        if faults:
            raise AuthoringError("context", faults)

    def answered(self, output: str, execution: Mapping[str, Json], messages: Sequence[object] | None = None) -> Context:
        """The same trial with its answer, and with other messages (or their JSON) before it where some are given.

        Only what is new is checked: what this context holds has been, and trials of one case share it.

        Raises:
            AuthoringError: with every fault of what is new.
        """
        faults: list[Fault] = []
        new: dict[str, object] = {
            "output": text_or_fault(output, "output", faults),
            "execution": mapping_or_fault(execution, "execution", faults),
            "messages": self.messages if messages is None else _messages(messages, faults),
        }
        if faults:
            raise AuthoringError("context", faults)
        made = object.__new__(Context)
        for name in _FIELDS:
            object.__setattr__(made, name, new[name] if name in new else getattr(self, name))
        return made


_OPTIONAL_TEXTS = ("rendered_input", "prompt_template", "provider", "prompt_version")
_MAPPINGS = ("variables", "metadata", "execution")
_FIELDS = tuple(item.name for item in fields(Context))


def as_context(value: Context | str) -> Context:
    """A plain string is accepted wherever a context is: it is the output."""
    return value if isinstance(value, Context) else Context(output=value)


def _messages(values: object, faults: list[Fault]) -> tuple[Message, ...]:
    made: list[Message] = []
    for index, value in enumerate(_sequence(values, "messages", faults)):
        path = f"messages[{index}]"
        if type(value) is Message and type(value.role) is Role and type(value.content) is str:
            text_or_fault(value.content, f"{path}.content", faults)  # most messages are no more than their text
            made.append(value)
            continue
        plain = message_to_json(value) if isinstance(value, Message) else value
        message = message_from_json(plain, path, faults)
        if message is not None:
            made.append(message)
    return tuple(made)


def _documents(values: object, faults: list[Fault]) -> tuple[Document, ...]:
    made: list[Document] = []
    for index, value in enumerate(_sequence(values, "documents", faults)):
        document = _document(value, f"documents[{index}]", faults)
        if document is not None:
            made.append(document)
    return tuple(made)


def _document(value: object, path: str, faults: list[Fault]) -> Document | None:
    if isinstance(value, str):
        value = {"text": value}
    elif isinstance(value, Document):
        value = {"text": value.text, "name": value.name, "media_type": value.media_type}
    if not isinstance(value, Mapping):
        faults.append(Fault(path=path, expected="text or {text, name, media_type}", found=type_name(value)))
        return None
    before = len(faults)
    refuse_unknown(value, ("text", "name", "media_type"), path, faults)
    given = {"text": None, **value}
    texts = {key: text_or_fault(part, f"{path}.{key}", faults) or "" for key, part in given.items()}
    return None if len(faults) > before else Document(**texts)


def _sequence(values: object, path: str, faults: list[Fault]) -> Sequence[object]:
    if isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray):
        return values
    faults.append(Fault(path=path, expected="an array", found=type_name(values)))
    return ()


def context_to_json(context: Context) -> dict[str, Json]:
    """The context as JSON, every field written out; `context_from_json` reads it back unchanged."""
    made: dict[str, Json] = {name: getattr(context, name) for name in _FIELDS}
    made["messages"] = [message_to_json(message) for message in context.messages]
    made["documents"] = [
        {"text": document.text, "name": document.name, "media_type": document.media_type}
        for document in context.documents
    ]
    return made


def context_from_json(value: object) -> Context:
    """Read a context. Absent fields take their defaults; null stands for an absent text.

    Raises:
        AuthoringError: with every fault: an unknown field (the nearest known one is named), a wrong type, no output.
    """
    if not isinstance(value, Mapping):
        raise AuthoringError("context", [Fault(path="", expected="an object", found=type_name(value))])
    faults: list[Fault] = []
    refuse_unknown(value, _FIELDS, "", faults)
    if "output" not in value:
        faults.append(Fault(path="output", expected="text", found="nothing"))
    known: dict[str, Any] = {key: part for key, part in value.items() if key in _FIELDS}
    try:
        context = Context(**{"output": "", **known})
    except AuthoringError as error:
        raise AuthoringError("context", [*faults, *error.faults]) from None
    if faults:
        raise AuthoringError("context", faults)
    return context
