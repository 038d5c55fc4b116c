"""What is particular to the embedded model on the wire: chat completions that ask for short texts.

Both the provider that runs the model and the replay of its recorded replies go through here, so that they make the
same bytes of the same request.
"""

from __future__ import annotations

from dataclasses import replace

from jurat.jsontext import thaw
from jurat.provider.encoder import FrameEncoder
from jurat.provider.errors_from_http import Destination
from jurat.provider.openai_request import CHAT
from jurat.provider.protocol import Call, Frame, ModelRequest, ProviderSettings, Reply, ResponseSchema
from jurat.provider.schema_dialect import bounded

__all__ = ["LocalEncoder", "read_local"]

_SHORT = {"maxLength": 240, "maxItems": 2}
_KEPT_FRAMES = 64


class LocalEncoder:
    """Turns requests into calls. Keeps the shortened forms of the last frames, by identity."""

    def __init__(self, settings: ProviderSettings) -> None:
        self._encoder = FrameEncoder(settings, CHAT)
        self._frames: dict[Frame, Frame] = {}

    def call(self, request: ModelRequest) -> Call:
        """The bytes that would be sent, and their key. Pure.

        Raises:
            RequestError: as `FrameEncoder.call`.
        """
        frame = self._frames.get(request.frame) or self._short(request.frame)
        return self._encoder.call(replace(request, frame=frame))

    def _short(self, frame: Frame) -> Frame:
        """The frame with a schema that asks for short texts: a small model's long ones are no better, only later."""
        if frame.schema is None:
            short = frame
        else:
            schema = bounded(thaw(frame.schema.schema), _SHORT)
            short = replace(frame, schema=ResponseSchema(name=frame.schema.name, schema=schema))
        if len(self._frames) >= _KEPT_FRAMES:
            del self._frames[next(iter(self._frames))]
        self._frames[frame] = short
        return short


def read_local(body: bytes, to: Destination) -> Reply:
    """What the bytes say. The server names the model by its file; a record names it by its name."""
    return replace(CHAT.read(body, to), model=to.model)
