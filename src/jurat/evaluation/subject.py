"""The window to what is under evaluation: three steps, as for models (`jurat.provider.protocol`).

    prepare(task) -> Call        pure: everything that the subject is told, and the key that names it
    await send(call) -> Raw      the one step that waits, fails and costs
    read(raw) -> SubjectReply    pure: what it answered

So a subject's answer is committed to the response store before anybody looks at it, and cache, resume and replay go
the same way for a model, a person's function and a server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from jurat.evaluation.assessment import TypedError
from jurat.evidence import Document, Message
from jurat.jsontext import Json
from jurat.provider.protocol import Call, File, Image, Raw, Usage

__all__ = ["Subject", "SubjectReply", "Task"]

_NOTHING: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One input, made ready: every placeholder filled.

    Attributes:
        system: the system message, or None.
        messages: the conversation to answer, oldest first, the rendered prompt as the last user message.
        rendered_input: the prompt after its placeholders were filled, or None.
        prompt_template: the prompt before that, or None.
        attached: documents that are shown as they are, before the text of the last user message.
        repeat: which repeat of the same question this is (the trial's index).
    """

    system: str | None = None
    messages: tuple[Message, ...] = ()
    rendered_input: str | None = None
    prompt_template: str | None = None
    variables: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    documents: tuple[Document, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    attached: tuple[Image | File, ...] = ()
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectReply:
    """What a subject answered.

    Attributes:
        output: the visible answer; a refusal is an answer too.
        messages: what happened between the input and the answer (tool calls and their results).
        execution: more that is known: `tool_calls` (an empty list when the subject can call tools and did not),
            `finish_reason`, `refused`.
        usage: tokens, as far as known.
        cost_usd: None is unknown.
        model: the model that says it answered.
        error: why there is no answer after all, though the subject was paid for it; None for an answer.
    """

    output: str
    messages: tuple[Message, ...] = ()
    execution: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    model: str | None = None
    error: TypedError | None = None


class Subject(Protocol):
    """Who answers. See the module's text for the three steps.

    `prepare` raises AuthoringError, or RequestError, for a task that cannot be put to it. `check` and `send` raise
    ProviderError alone, as a Provider's do; `read` raises ProviderError when the bytes are no answer at all.
    """

    @property
    def name(self) -> str: ...

    @property
    def identity(self) -> Mapping[str, Json]:
        """What of it changes its answers, as plain data: snapshotted with the run."""
        ...

    def check(self) -> None: ...

    def prepare(self, task: Task) -> Call: ...

    async def send(self, call: Call) -> Raw: ...

    def read(self, raw: Raw) -> SubjectReply: ...

    async def aclose(self) -> None: ...
