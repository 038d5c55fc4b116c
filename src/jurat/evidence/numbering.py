"""Evidence: what the judge is shown, numbered. One function numbers it, and the quote check uses the same numbers.

Entries 0…n-1 are the conversation: the messages in order (the rendered input as a user message when there are none),
and the output as the last assistant message. After them come, each when there is one: `expected`, `context` (the
assertion's grounding text), every document, `metadata`. An entry is bounded to `MAX_ENTRY` characters; what was cut is
listed, never hidden, and a quote from the part that was cut away is not found. Pictures are listed too: in their place
stands a line that says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jurat.evidence.context import Context
from jurat.evidence.conversation import Role
from jurat.jsontext import Json, canonical

__all__ = ["MAX_ENTRY", "Entry", "Evidence", "estimate_tokens", "number_evidence"]

MAX_ENTRY = 50_000
"""The most characters (code points) that one entry shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One numbered piece: a message has a `role`, everything else a `label`. Exactly one of the two is set."""

    text: str
    role: Role | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The numbered entries (an entry's number is its place), and what of the fields they do not show.

    Attributes:
        truncated_fields: the fields of which a part was cut off.
        unseen_fields: the pictures, by their places, which nobody sees who reads the entries.
    """

    entries: tuple[Entry, ...]
    truncated_fields: tuple[str, ...] = ()
    unseen_fields: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """What a quote of each number may cite."""
        return tuple(entry.text for entry in self.entries)


def number_evidence(context: Context, *, expected: Json = None, grounding: str | None = None) -> Evidence:
    """Number what the judge may see.

    Args:
        context: the trial. Its own `expected` counts unless the assertion brings one.
        expected: the assertion's reference answer; text, or any JSON value (shown in canonical form).
        grounding: the assertion's grounding text, shown under the label `context`.
    """
    entries: list[Entry] = []
    cut: list[str] = []
    for field, entry in _fields(context, context.expected if expected is None else expected, grounding):
        if len(entry.text) > MAX_ENTRY:
            cut.append(field)
            entry = Entry(text=entry.text[:MAX_ENTRY], role=entry.role, label=entry.label)  # noqa: PLW2901
        entries.append(entry)
    return Evidence(entries=tuple(entries), truncated_fields=tuple(cut), unseen_fields=tuple(_unseen(context)))


def _unseen(context: Context) -> Iterator[str]:
    for index, message in enumerate(context.messages):
        yield from (f"messages[{index}].{path}" for path, _ in message.pictures())
    for index, document in enumerate(context.documents):
        if document.media_type.startswith("image/"):
            yield f"documents[{index}]"


def _fields(context: Context, expected: Json, grounding: str | None) -> Iterator[tuple[str, Entry]]:
    for index, message in enumerate(context.messages):
        yield f"messages[{index}]", Entry(role=message.role, text=message.visible_text)
    if not context.messages and context.rendered_input is not None:
        yield "rendered_input", Entry(role=Role.USER, text=context.rendered_input)
    yield "output", Entry(role=Role.ASSISTANT, text=context.output)
    if expected is not None:
        yield "expected", Entry(label="expected", text=_as_text(expected))
    if grounding is not None:
        yield "context", Entry(label="context", text=grounding)
    for index, document in enumerate(context.documents):
        label = f"document {document.name}" if document.name else f"document {index + 1}"
        yield f"documents[{index}]", Entry(label=label, text=document.text)
    if context.metadata:
        yield "metadata", Entry(label="metadata", text=canonical(context.metadata))


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else canonical(value)


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is: four ASCII characters to a token, two tokens to three other characters.

    An estimate for the check before a call; common tokenizers lie within some 30 % of it on prose in Latin script.
    """
    if text.isascii():
        return len(text) // 4 + 1
    wide = sum(1 for character in text if character > "\x7f")
    return (len(text) - wide) // 4 + wide * 2 // 3 + 1
