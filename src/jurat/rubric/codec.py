"""Rubrics as text: the shape of rubric files, read and described.

Reading refuses what it does not know (with the key that was probably meant) and reports all faults of the file
together, each with its line. The rules themselves live in `jurat.rubric.check`; the JSON Schema that editors use is
made from the same limits and patterns, and a file that it accepts can only fail on what a schema cannot say.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jurat.errors import RubricInvalid
from jurat.rubric.check import LIMITS, NAME_PATTERN, NEEDS, REVISION_PATTERN, faults_of
from jurat.rubric.rubric import Anchor, Criterion, Rubric
from jurat.vocabulary import Scope
from jurat.yamltext import parse_document

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jurat.jsontext import Json

__all__ = ["read_rubric", "rubric_from_json", "rubric_schema"]


def read_rubric(text: str | bytes, file: str | None = None) -> Rubric:
    """Read a rubric file's content: JSON when its name ends in `.json`, YAML otherwise.

    Raises:
        AuthoringError: when the text is no sound document.
        RubricInvalid: with every fault of the rubric, its path and its line.
    """
    document = parse_document(text, file)
    return rubric_from_json(document.value, file=file, line_of=document.line_of, spelling_of=document.spelling_of)


def rubric_from_json(
    value: Json,
    *,
    file: str | None = None,
    line_of: Callable[[str], int | None] | None = None,
    spelling_of: Callable[[str], str | None] | None = None,
    at: str = "",
) -> Rubric:
    """Make a rubric from its JSON shape, as `Rubric.to_json` writes it; what has a default may be left out.

    Args:
        value: a mapping.
        file: the file it came from, for the messages.
        line_of: finds the line of a path (`Document.line_of`).
        spelling_of: finds how a number was written (`Document.spelling_of`).
        at: the path of the rubric inside a larger document; paths in faults start with it.

    Raises:
        RubricInvalid: with every fault, in the order of the file, or of the shape where lines are not known.
    """
    faults = faults_of(value, at=at, spelling_of=spelling_of)
    if faults:
        placed = [replace(one, file=file, line=line_of(one.path) if line_of else None) for one in faults]
        raise RubricInvalid("rubric", sorted(placed, key=lambda one: one.line or 0))
    return _made(value)


def _made(value: Mapping[str, Any]) -> Rubric:
    fields = dict(value)
    fields["criteria"] = tuple(Criterion(**one) for one in value["criteria"])
    fields["anchors"] = tuple(Anchor(**one) for one in value.get("anchors", ()))
    fields["needs"] = tuple(value.get("needs", ()))
    return Rubric(**fields)


def rubric_schema() -> dict[str, Json]:
    """The JSON Schema (draft 2020-12) of rubric files, with descriptions for editors.

    It cannot say that `min` is below `max`, that ids differ, or that anchors and threshold lie inside the range.
    """
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Jurat rubric",
        "description": "The versioned definition of a quality that a judge scores against. Higher is always better.",
        **_object(_RUBRIC, ("name", "definition", "criteria")),
    }
    return deepcopy(schema)


def _object(properties: dict[str, Json], required: tuple[str, ...]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _text(description: str, limit: int) -> dict[str, Json]:
    return {"type": "string", "description": description, "minLength": 1, "maxLength": limit, "pattern": r"\S"}


def _number(description: str, least: float = -LIMITS.score, most: float = LIMITS.score) -> dict[str, Json]:
    return {"type": "number", "description": description, "minimum": least, "maximum": most}


def _word(description: str, pattern: str) -> dict[str, Json]:
    return {"type": "string", "description": description, "pattern": f"^{pattern}$"}


_CRITERION: dict[str, Json] = {
    "id": _word("Its name in answers and tables; unique in the rubric.", NAME_PATTERN),
    "description": _text("What is looked at, in a sentence or two.", LIMITS.description),
    "min": {**_number("The lowest score, inclusive; below max."), "default": 0},
    "max": {**_number("The highest score, inclusive; higher is better."), "default": 1},
    "weight": {
        **_number("Its share in the overall score.", LIMITS.least_weight, LIMITS.most_weight),
        "default": 1,
    },
    "required": {
        "type": "boolean",
        "description": "Whether falling under its own midpoint fails the whole.",
        "default": False,
    },
}

_ANCHOR: dict[str, Json] = {
    "score": _number("A point of the scale, inside the score range."),
    "label": _text("A word or two for it.", LIMITS.label),
    "description": _text("What an output that earns this score looks like.", LIMITS.description),
}

_RUBRIC: dict[str, Json] = {
    "name": _word("What it is called in references, name@revision.", NAME_PATTERN),
    "revision": {
        **_word("Which wording of it. A change of meaning is a new revision.", REVISION_PATTERN),
        "default": "v1",
    },
    "scope": {
        "enum": [scope.value for scope in Scope],
        "description": "What it looks at: one case, one turn, a whole session, a whole run.",
        "default": Scope.CASE.value,
    },
    "purpose": {
        "type": "string",
        "description": "What it is for, for people who choose one. Not shown to the judge.",
        "maxLength": LIMITS.purpose,
    },
    "definition": _text("What the quality is, and what counts. Shown to the judge.", LIMITS.definition),
    "criteria": {
        "type": "array",
        "description": "The dimensions of the quality. The score range is the envelope of their ranges.",
        "minItems": 1,
        "maxItems": LIMITS.criteria,
        "items": _object(_CRITERION, ("id", "description")),
    },
    "anchors": {
        "type": "array",
        "description": "Labelled points of the scale.",
        "maxItems": LIMITS.anchors,
        "items": _object(_ANCHOR, ("score", "label", "description")),
    },
    "needs": {
        "type": "array",
        "description": "The evidence without which it cannot be applied.",
        "maxItems": len(NEEDS),
        "items": {"enum": list(NEEDS)},
    },
    "threshold": {
        **_number("From which score on it passes; the midpoint of the range when left out."),
        "type": ["number", "null"],
    },
    "scores_absence": {
        "type": "boolean",
        "description": "Whether it is named after a fault and scores how free of it the output is.",
        "default": False,
    },
}
