"""Text from elsewhere in a document: nothing in it may end what holds it, be taken for a command, or hide.

What no document can hold, and what would reorder or hide what a person reads, is written as an escape (`\\x1b`,
`\\u202e`, `\\ufffe`); the rest stays as it is, joiners of emoji and of Persian words included. Every function takes
linear time.
"""

from __future__ import annotations

import re

__all__ = ["cut", "markdown", "one_line", "shown", "xml"]

# C0 but tab and newline, DEL and C1; overrides and isolates of writing direction; separators of lines; zero-width and
# invisible characters but joiners and marks; interlinear marks; tag characters; surrogates; what is no character.
_HIDDEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u2028-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_XML = re.compile('[&<>"]')
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
# Whatever could mean something in CommonMark or GitHub's flavour of it, in the middle of a line.
_MARKUP = re.compile(
    r"[\\`*\[\]{}<>|~&$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//|[a-z0-9_+-]+:)|(?<=mailto):|(?<=xmpp):|(?<=www)\."
    r"|[@#](?=\w)",
    re.IGNORECASE,
)


def shown(text: str) -> str:
    """The text with what cannot be shown written as escapes; tabs and line breaks stay, `\\r\\n` becomes `\\n`."""
    return _HIDDEN.sub(_escape, text.replace("\r\n", "\n"))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def cut(text: str, most: int) -> str:
    """At most so many characters, with an ellipsis for the rest."""
    return text if len(text) <= most else text[:most] + "…"


def one_line(text: str, most: int) -> str:
    """On one line: white space runs become one space. At most `most` characters are looked at."""
    return shown(" ".join(text[:most].split())) + ("…" if len(text) > most else "")


def xml(text: str) -> str:
    """As characters of XML 1.0 and of HTML, in an element or in an attribute between double quotation marks."""
    return _XML.sub(lambda found: _ENTITIES[found[0]], shown(text))


def markdown(text: str) -> str:
    """As inline Markdown that shows the text to the letter, on one line: no markup, link, mention, reference or HTML.

    What could mean something becomes a character reference, which CommonMark never reads as structure. Mentions and
    references to issues are looked for after that, so that an empty comment parts their sign from what follows.
    """
    return _MARKUP.sub(_reference, " ".join(shown(text).split()))


def _reference(found: re.Match[str]) -> str:
    sign = found[0]
    return f"{sign}<!-- -->" if sign in "@#" else f"&#{ord(sign)};"
