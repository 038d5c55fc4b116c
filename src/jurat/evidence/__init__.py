"""What an evaluator may see, and what a judge may quote. Pure data.

`Context` is all that is known of one trial; `number_evidence` turns it into the numbered entries that a judge is shown
and that its quotes are checked against.
"""

from jurat.evidence.context import Context, Document, as_context, context_from_json, context_to_json
from jurat.evidence.conversation import (
    Block,
    Message,
    RefusalBlock,
    Role,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    message_from_json,
    message_to_json,
)
from jurat.evidence.numbering import MAX_ENTRY, Entry, Evidence, estimate_tokens, number_evidence
from jurat.evidence.picture import MAX_IMAGE_BYTES, ImageBlock, decoded_base64

__all__ = [
    "MAX_ENTRY",
    "MAX_IMAGE_BYTES",
    "Block",
    "Context",
    "Document",
    "Entry",
    "Evidence",
    "ImageBlock",
    "Message",
    "RefusalBlock",
    "Role",
    "TextBlock",
    "ThinkingBlock",
    "ToolCallBlock",
    "ToolResultBlock",
    "as_context",
    "context_from_json",
    "context_to_json",
    "decoded_base64",
    "estimate_tokens",
    "message_from_json",
    "message_to_json",
    "number_evidence",
]
