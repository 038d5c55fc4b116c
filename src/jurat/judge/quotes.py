"""Why a quote was not found: a hint for the person who reads the error, never a second chance for the quote.

The rule is one substring test without any normalisation (`jurat.judge.answer`). When it fails, this module says in
which respect the quote misses, without a word of the quote or of the evidence.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

__all__ = ["why_not_found"]

_TYPOGRAPHIC = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2013": "-",
        "\u2014": "-",
        "\u2011": "-",
        "\u2026": "...",
        "\u00a0": " ",
    }
)
_MAX_LOOK = 200_000
"""No hint is looked for in longer evidence: the error is the same, and a hint is not worth a pause."""


def why_not_found(quote: str, number: int, texts: Sequence[str]) -> str:
    """A clause for the message: where else the quote stands, or in what it differs. Empty when nothing is known."""
    if sum(map(len, texts)) > _MAX_LOOK:
        return ""
    elsewhere = [index for index, text in enumerate(texts) if quote in text]
    if elsewhere:
        return f", though it stands in entry {elsewhere[0]}"
    text = texts[number]
    for what, fold in _FOLDS:
        if fold(quote) in fold(text):
            return f": it differs in {what}"
    return ""


def _spaces(text: str) -> str:
    return " ".join(text.split())


def _everything(text: str) -> str:
    return _spaces(unicodedata.normalize("NFKC", text).translate(_TYPOGRAPHIC)).casefold()


_FOLDS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("upper and lower case", str.casefold),
    ("white space", _spaces),
    ("typographic quotation marks, dashes or spaces", lambda text: text.translate(_TYPOGRAPHIC)),
    ("the Unicode form of its characters", lambda text: unicodedata.normalize("NFC", text)),
    ("case, spacing or typography", _everything),
)
