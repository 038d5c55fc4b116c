"""How a console text looks: how wide, and in what colours. Colours only repeat what words say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["WORDS", "Look", "in_colour", "paint_for", "plain"]

Paint = Callable[[str, str], str]
"""A text and the word for its style in, the text as it is written out."""

WORDS = {"pass": "PASS", "fail": "FAIL", "unverified": "UNVERIFIED", "error": "ERROR", "skipped": "SKIPPED"}

_CODES = {
    "pass": "1;32",
    "fail": "1;31",
    "unverified": "1;33",
    "error": "1;35",
    "skipped": "2",
    "bold": "1",
    "dim": "2",
    "quote": "36",
}


def plain(text: str, _: str) -> str:
    """No colours."""
    return text


def in_colour(text: str, style: str) -> str:
    """With the codes that every terminal knows; each line by itself, so that none runs over."""
    return "\n".join(f"\x1b[{_CODES[style]}m{line}\x1b[0m" if line.strip() else line for line in text.split("\n"))


def paint_for(environment: Mapping[str, str], *, terminal: bool) -> Paint:
    """Whether to paint: on a terminal that can, unless NO_COLOR says not to (https://no-color.org)."""
    able = terminal and environment.get("TERM") != "dumb" and not environment.get("NO_COLOR")
    return in_colour if able else plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How wide a line may be in columns, and who paints."""

    width: int = 100
    paint: Paint = plain
