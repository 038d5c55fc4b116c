"""Text from elsewhere, on a terminal: nothing in it may move the cursor, hide, reorder or colour what stands there.

Model output, file contents and names pass through `visible` before they are printed, and are never read as markup.
"""

from __future__ import annotations

import re
import textwrap

__all__ = ["visible", "wrapped"]

# C0 but tab and newline, DEL and C1; marks and overrides of writing direction; line and paragraph separators;
# invisible characters that hide text or split words; tag characters; surrogates, which no terminal can be sent.
_INVISIBLE = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """The text with control characters written as escapes (`\\x1b`, `\\u202e`); tabs and newlines stay. Linear time."""
    return _INVISIBLE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def wrapped(text: str, width: int, indent: str = "") -> str:
    """Visible text broken to a width, its own line breaks kept, every line indented."""
    lines = visible(text).expandtabs(4).split("\n")
    return "\n".join(
        textwrap.fill(line, max(width, len(indent) + 20), initial_indent=indent, subsequent_indent=indent)
        for line in lines
    )
