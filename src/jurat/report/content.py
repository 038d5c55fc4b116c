"""What a case asks and how its answers are measured, as hashes: so much that it can be said whether two runs did alike.

A report tells it in place of the case itself, so that runs can be compared where neither is at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jurat.jsontext import Json, canonical
from jurat.vocabulary import content_id

__all__ = ["Content", "content_from_json", "content_of", "content_to_json"]

_MEASURE = ("assertions", "pass_threshold")
_ANSWER = ("output", "execution")
_CALLED = ("name", "labels")
_TOLD_BY_THE_JUDGE = ("rubric", "template", "provider", "provider_id", "threshold", "contract", "strategy", "examples")
"""What of a judge's assertion its verdicts tell more exactly: by the judge's identity, and the threshold itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A case by what it asks, and by how its answers are measured, as hashes.

    A recorded answer belongs to neither, as it is what is compared; nor do name and labels.

    Attributes:
        assertions: by the name that each has in the record.
    """

    asked: str
    assertions: Mapping[str, str]
    pass_threshold: float | None = None


def content_of(body: Mapping[str, Json]) -> Content:
    """The content of a case as its snapshot tells it (`jurat.suite.codec.case_to_json`)."""
    asked = {name: body[name] for name in body if name not in (*_MEASURE, *_ANSWER, *_CALLED)}
    given = [one["name"] for one in body.get("assertions", ()) if "name" in one]
    assertions: dict[str, str] = {}
    for one in body.get("assertions", ()):
        name, number = str(one.get("name", one["type"])), 1
        while "name" not in one and (name in assertions or name in given):  # as `jurat.assertions` calls them
            number += 1
            name = f"{one['type']}#{number}"
        assertions[name] = _hash(_of_an_assertion(one))
    return Content(asked=_hash(asked), assertions=assertions, pass_threshold=body.get("pass_threshold"))


def _hash(value: Json) -> str:
    return content_id(canonical(value).encode())


def _of_an_assertion(one: Mapping[str, Json]) -> dict[str, Json]:
    """What no verdict tells: weights and the word on whether it is required are told by all."""
    left_out = ("name", "weight", "required", *(_TOLD_BY_THE_JUDGE if one["type"] == "rubric_judge" else ()))
    return {name: value for name, value in one.items() if name not in left_out}


def content_to_json(content: Content) -> dict[str, Json]:
    """As reports hold it."""
    return {
        "asked": content.asked,
        "assertions": dict(content.assertions),
        "pass_threshold": content.pass_threshold,
    }


def content_from_json(value: Mapping[str, Any]) -> Content:
    """What `content_to_json` wrote."""
    return Content(asked=value["asked"], assertions=value["assertions"], pass_threshold=value["pass_threshold"])
