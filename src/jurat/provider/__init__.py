"""Models as providers: one protocol, its adapters, and the fakes that ship.

`make_provider` turns what an author writes into a Provider; `protocol.py` says what a provider is. Nothing heavy is
imported before it is needed: neither the HTTP library, nor the table of prices, nor an embedded model.
"""

from typing import TYPE_CHECKING

from jurat._lazy import lazily
from jurat.provider.protocol import (
    Call,
    Capabilities,
    ChatMessage,
    File,
    FinishReason,
    Frame,
    Image,
    ModelRequest,
    Provider,
    ProviderSettings,
    Raw,
    Reply,
    ResponseSchema,
    TokenLogprobs,
    ToolCall,
    ToolResult,
    Usage,
)
from jurat.provider.registry import is_shorthand, make_provider, parse_shorthand

if TYPE_CHECKING:
    from jurat.provider.http_provider import HttpProvider
    from jurat.provider.pricing import Pricer
    from jurat.provider.python import PythonProvider
    from jurat.provider.replay import RecordingProvider, ReplayProvider
    from jurat.provider.retry import RetryPolicy
    from jurat.provider.script import ScriptedReply
    from jurat.provider.scripted import ScriptedProvider

__all__ = [
    "Call",
    "Capabilities",
    "ChatMessage",
    "File",
    "FinishReason",
    "Frame",
    "HttpProvider",
    "Image",
    "ModelRequest",
    "Pricer",
    "Provider",
    "ProviderSettings",
    "PythonProvider",
    "Raw",
    "RecordingProvider",
    "ReplayProvider",
    "Reply",
    "ResponseSchema",
    "RetryPolicy",
    "ScriptedProvider",
    "ScriptedReply",
    "TokenLogprobs",
    "ToolCall",
    "ToolResult",
    "Usage",
    "is_shorthand",
    "make_provider",
    "parse_shorthand",
]

__getattr__ = lazily(
    __name__,
    {
        "HttpProvider": "http_provider",
        "Pricer": "pricing",
        "PythonProvider": "python",
        "RecordingProvider": "replay",
        "ReplayProvider": "replay",
        "RetryPolicy": "retry",
        "ScriptedProvider": "scripted",
        "ScriptedReply": "script",
    },
)
