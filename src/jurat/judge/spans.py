"""Quotes to choose from: the evidence cut into pieces, for models that cannot copy.

A small model asked to copy a sentence changes a word in it, or names the wrong entry, every second time. So it is given
the pieces to choose from, as a JSON Schema that allows nothing else: an entry's number together with one of that
entry's own pieces. The schema only asks; the check of every quote stays what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from jurat.jsontext import Json

__all__ = ["MAX_PIECES", "choice_schema", "pieces"]

MAX_PIECES = 60
"""Beyond so many pieces there is no choice to offer, and the model copies as best it can."""
_LONGEST = 160
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|\n+")
_AT_MOST = 2
_MAX_REASON = 240


def pieces(text: str) -> tuple[str, ...]:
    """The sentences of a text, or parts of long ones cut between words; each stands in the text to the letter."""
    found: dict[str, None] = {}
    for sentence in _SENTENCE_END.split(text):
        found.update(dict.fromkeys(_parts(sentence.strip())))
    return tuple(found)


def _parts(sentence: str) -> Iterator[str]:
    while len(sentence) > _LONGEST:
        space = sentence.rfind(" ", 1, _LONGEST)
        end = space if space > 0 else _LONGEST
        yield sentence[:end].rstrip()
        sentence = sentence[end:].lstrip()
    if sentence.strip():
        yield sentence


def choice_schema(texts: Sequence[str]) -> Mapping[str, Json] | None:
    """The schema of an explanation whose quotes are chosen from the texts; None when they are too long for that."""
    choices = [(index, piece) for index, text in enumerate(texts) for piece in pieces(text)]
    if not 0 < len(choices) <= MAX_PIECES:
        return None
    quotes = [_object({"message_index": {"const": index}, "quote": {"const": piece}}) for index, piece in choices]
    evidence = {"type": "array", "items": {"anyOf": quotes}, "minItems": 1, "maxItems": _AT_MOST}
    return _object({"evidence": evidence, "reason": {"type": "string", "minLength": 1, "maxLength": _MAX_REASON}})


def _object(properties: dict[str, Json]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
