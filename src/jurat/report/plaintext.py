"""Text from elsewhere, on a terminal: nothing in it may move the cursor, hide, reorder or colour what stands there.

What a model wrote, what files hold, what cases are called: all of it passes through here before it is shown, and is
never read as markup. Everything takes linear time, and what may be long is cut before it is looked at.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator

__all__ = ["clipped", "columns", "fitted", "harmless", "padded", "visible", "wrapped"]

# C0 but tab and newline, DEL and C1; marks and overrides of writing direction; line and paragraph separators;
# invisible characters that hide text or split words; tag characters; surrogates, which no terminal can be sent.
_NO_TEXT = (
    "\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f"
)
_UNSAFE = re.compile(f"[{_NO_TEXT}]|\r(?!\n)")
_INVISIBLE = re.compile(
    f"[\r{_NO_TEXT}]"
    # A line of a build's log that begins with `::word`, or holds `##[word`, is a command to GitHub's runner.
    "|(?<!\\S):(?=:[A-Za-z][A-Za-z-]*(?:::|[ \t]))|(?<=##)\\[(?=[A-Za-z])"
)
_PIECES = re.compile(r"[ \t]+|[^ \t]+")


def visible(text: str) -> str:
    """The text with control characters written as escapes (`\\x1b`, `\\u202e`); tabs and newlines stay. Linear time.

    So is the sign that makes a word a command to a build's runner, where one would begin.
    """
    return _INVISIBLE.sub(_escape, text)


def harmless(text: str) -> str:
    """What a program reads, shown on a terminal: control characters and marks of direction as JSON escapes them.

    A JSON text stays the same one. Tabs, newlines and the ends of a table's lines stay.
    """
    return _UNSAFE.sub(_json_escape, text)


def _json_escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[start]:02x}{units[start + 1]:02x}" for start in range(0, len(units), 2))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def clipped(text: str, most: int) -> str:
    """Visible text on one line: white space runs become one space, at most `most` characters are looked at."""
    cut = len(text) > most
    return visible(" ".join(text[:most].split())) + ("…" if cut else "")


def columns(text: str) -> int:
    """How many columns of a terminal a visible text takes: East Asian characters two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_width, text))


@functools.lru_cache(maxsize=4096)
def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fitted(text: str, width: int) -> str:
    """The visible text if it is no wider than that, else its beginning with an ellipsis, which is."""
    if columns(text) <= width:
        return text
    return next(_pieces_of(text, max(width - 1, 2)), "") + "…"


def padded(text: str, width: int) -> str:
    """The visible text followed by spaces up to a width; what is longer stays as it is."""
    return text + " " * (width - columns(text))


def wrapped(text: str, width: int, indent: str = "") -> str:
    """Visible text broken to a width, its own line breaks kept, every line that holds something indented."""
    room = max(width - columns(indent), 20)
    lines = (line for own in visible(text).expandtabs(4).split("\n") for line in _folded(own, room))
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)


def _folded(line: str, room: int) -> Iterator[str]:
    """Break at spaces; a word that is longer than a line is broken where the line ends."""
    if columns(line) <= room:
        yield line
        return
    made, taken = "", 0
    for piece in _PIECES.findall(line):
        for part in _pieces_of(piece, room):
            width = columns(part)
            if taken + width > room:
                if made.strip():  # otherwise spaces alone, for which there is no room
                    yield made
                made, taken = ("", 0) if part.isspace() else (part, width)
            elif taken or not part.isspace() or not made:
                made, taken = made + part, taken + width
    if made.strip():
        yield made


def _pieces_of(word: str, room: int) -> Iterator[str]:
    if columns(word) <= room:
        yield word
        return
    start, taken = 0, 0
    for place, character in enumerate(word):
        width = _width(character)
        if taken + width > room:
            yield word[start:place]
            start, taken = place, 0
        taken += width
    yield word[start:]
