"""A model as the subject: the task becomes one request to its provider, and the reply becomes the answer.

Trials whose system message and earlier turns are equal texts share one frame, so that only the last user message is
encoded for each of them. Nothing is sent that the author did not set: no temperature, no limit, no schema.

A refusal is an answer, in the model's own words. An answer that was cut off at its limit is what it is, and says so.
Text that a content filter took away is no answer but an error (`refusal`): there is nothing to judge.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from jurat.errors import ErrorCategory
from jurat.evaluation import TypedError
from jurat.evaluation.subject import SubjectReply, Task
from jurat.jsontext import Json
from jurat.provider.pricing import Pricer
from jurat.provider.protocol import Call, ChatMessage, FinishReason, Frame, ModelRequest, Provider, Raw, Reply
from jurat.subject.conversation import spoken

__all__ = ["ProviderSubject"]

_KEPT_FRAMES = 64

_Turns = tuple[tuple[str, str], ...]


class ProviderSubject:
    """A provider that answers.

    Args:
        provider: the model.
        temperature, max_output_tokens: None sends none.
        extra: further settings of the provider's kind, sent as they are.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        temperature: float | None = None,
        max_output_tokens: int | None = None,
        extra: Mapping[str, Json] | None = None,
    ) -> None:
        self.provider = provider
        self._temperature, self._limit = temperature, max_output_tokens
        self._extra: Mapping[str, Json] = MappingProxyType(dict(extra or {}))
        self._frames: OrderedDict[_Turns, Frame] = OrderedDict()
        self._price = Pricer(provider.settings).cost

    @property
    def name(self) -> str:
        """The provider's name."""
        return self.provider.settings.name

    @property
    def identity(self) -> Mapping[str, Json]:
        """The model and the settings that are sent to it: no temperature where the model takes none."""
        settings = self.provider.settings
        return {
            "kind": "provider",
            "provider": settings.identity,
            "temperature": self._temperature if settings.capabilities.temperature else None,
            "max_output_tokens": self._limit,
            "extra": dict(self._extra),
        }

    @property
    def output_limit(self) -> int | None:
        """The most tokens that an answer may have, hidden reasoning included; None for no limit."""
        able = self.provider.settings.capabilities
        return self._limit + able.reasoning_room if self._limit is not None and able.reasoning else self._limit

    def check(self) -> None:
        """See, without a connection, whether the provider can be asked at all.

        Raises:
            ProviderError: `missing_api_key`.
            ModelError: when an embedded model is missing.
        """
        self.provider.check()

    def prepare(self, task: Task) -> Call:
        """The request.

        Raises:
            AuthoringError: for a conversation that no vendor takes (`jurat.subject.conversation`).
            RequestError: for what the model cannot do.
        """
        *earlier, last = spoken(task)
        if last.parts or any(message.parts for message in earlier):
            return self.provider.prepare(ModelRequest(frame=self._framed(earlier), last=last, repeat=task.repeat))
        frame = self._frame(tuple((message.role, message.content) for message in earlier))
        return self.provider.prepare(ModelRequest(frame=frame, user=last.content, repeat=task.repeat))

    def _frame(self, turns: _Turns) -> Frame:
        frame = self._frames.get(turns)
        if frame is None:
            if len(self._frames) >= _KEPT_FRAMES:
                self._frames.popitem(last=False)
            messages = [ChatMessage(role=role, content=content) for role, content in turns]
            frame = self._frames[turns] = self._framed(messages)
        return frame

    def _framed(self, messages: Sequence[ChatMessage]) -> Frame:
        return Frame(
            messages=tuple(messages),
            temperature=self._temperature,
            max_output_tokens=self._limit,
            extra=self._extra,
        )

    async def send(self, call: Call) -> Raw:
        """Ask the provider.

        Raises:
            ProviderError: as the provider.
        """
        return await self.provider.send(call)

    def read(self, raw: Raw) -> SubjectReply:
        """The answer.

        Raises:
            ProviderError: when the bytes are no reply.
        """
        reply = self.provider.read(raw)
        output, refused = _output(reply)
        execution: dict[str, Json] = {}
        if reply.finish_reason is not FinishReason.TOOL_CALL:
            execution["tool_calls"] = []  # no tools are offered, so none can be called
        if reply.finish_reason is not FinishReason.UNREPORTED:
            execution["finish_reason"] = reply.finish_reason.value
        if refused:
            execution["refused"] = True
        return SubjectReply(
            output=output or "",
            execution=execution,
            usage=reply.usage,
            cost_usd=self._price(reply.usage),
            model=reply.model,
            error=self._filtered() if output is None and reply.finish_reason is FinishReason.CONTENT_FILTER else None,
        )

    def _filtered(self) -> TypedError:
        message = f"the content filter of {self.name} took the whole answer away, so there is nothing to judge"
        return TypedError(type=ErrorCategory.REFUSAL, message=message)

    async def aclose(self) -> None:
        """Nothing of its own is open; the provider belongs to whoever made it."""


def _output(reply: Reply) -> tuple[str | None, bool]:
    """The visible answer, and whether it is a refusal."""
    refused = reply.refusal is not None or reply.finish_reason is FinishReason.REFUSAL
    if reply.text is not None and reply.text.strip():
        return reply.text, refused
    return (reply.refusal if reply.refusal is not None else reply.text), refused
