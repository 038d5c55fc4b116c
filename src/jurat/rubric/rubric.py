"""A rubric: the versioned, trusted definition of a quality. Pure data, checked once when it is made, then believed.

`Criterion` and `Anchor` are checked as parts of their rubric, so that a rubric with ten faults reports ten. Two rubrics
that mean the same have the same hash, however they were written: 0 and 0.0, CRLF and LF, outer white space and the
order of `needs` make no difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from jurat.errors import Fault, RubricInvalid
from jurat.jsontext import Json, canonical
from jurat.rubric.check import NEEDS, Misplaced, faults_of
from jurat.vocabulary import Scope, content_id

__all__ = ["MAX_CUSTOM", "Anchor", "Criterion", "Rubric", "custom_rubric"]

MAX_CUSTOM = 4_000
"""How many characters a custom rubric may have."""

_CUSTOM_THRESHOLD = 80.0
_UNPADDED = 2.0**53


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A labelled point on the scale."""

    score: float
    label: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One dimension of a rubric.

    Attributes:
        id: its name in answers and tables, unique in the rubric.
        description: what is looked at, in a sentence or two.
        min: the lowest score, inclusive.
        max: the highest score, inclusive; higher is better.
        weight: its share in the overall score, relative to the other criteria.
        required: whether falling under its own midpoint fails the whole, where criteria are scored one by one.
    """

    id: str
    description: str
    min: float = 0.0
    max: float = 1.0
    weight: float = 1.0
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """What a judge scores against.

    Attributes:
        name: letters, digits, `_`, `-`; at most 64 characters.
        revision: which wording of it; a change of meaning is a new revision.
        scope: what it looks at.
        definition: what the quality is, and what counts.
        criteria: its dimensions, 1 to 64.
        anchors: labelled points of the scale, at most 64.
        purpose: what it is for, for people who choose one. Not shown to the judge and no part of the meaning.
        needs: the evidence without which it cannot be applied, of the words in `NEEDS`.
        threshold: from which score on it passes; None for the midpoint of the range.
        scores_absence: whether it is named after a fault and scores how free of it the output is.
        content_hash: `sha256:` of all of this but `purpose`, in canonical JSON.

    Raises:
        RubricInvalid: with every fault and its path.
    """

    name: str
    revision: str = "v1"
    scope: Scope = Scope.CASE
    definition: str
    criteria: tuple[Criterion, ...]
    anchors: tuple[Anchor, ...] = ()
    purpose: str = ""
    needs: tuple[str, ...] = ()
    threshold: float | None = None
    scores_absence: bool = False
    content_hash: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        faults = faults_of(self._shape())
        if faults:
            raise RubricInvalid("rubric", faults)
        for name, value in self._normal().items():
            object.__setattr__(self, name, value)
        meaning = {key: value for key, value in self.to_json().items() if key != "purpose"}
        object.__setattr__(self, "content_hash", content_id(canonical(meaning).encode()))

    @property
    def reference(self) -> str:
        """`name@revision`."""
        return f"{self.name}@{self.revision}"

    @property
    def score_range(self) -> tuple[float, float]:
        """The lowest and the highest score: the envelope of the criteria's ranges, both inclusive."""
        return min(one.min for one in self.criteria), max(one.max for one in self.criteria)

    @property
    def pass_threshold(self) -> float:
        """The score from which on it passes: the threshold if there is one, otherwise the midpoint of the range."""
        if self.threshold is not None:
            return self.threshold
        low, high = self.score_range
        return (low + high) / 2

    def to_json(self) -> dict[str, Json]:
        """The whole rubric in the shape of rubric files, with every field; whole numbers without a fraction."""
        return {
            "name": self.name,
            "revision": self.revision,
            "scope": self.scope.value,
            "purpose": self.purpose,
            "definition": self.definition,
            "criteria": [_plain(one) for one in self.criteria],
            "anchors": [_plain(one) for one in self.anchors],
            "needs": list(self.needs),
            "threshold": None if self.threshold is None else _tidy(self.threshold),
            "scores_absence": self.scores_absence,
        }

    def _shape(self) -> dict[str, object]:
        """The fields as the rules want them; what is no criterion or anchor stays what it is and is found out."""
        shape: dict[str, object] = {one.name: getattr(self, one.name) for one in fields(self) if one.init}
        for name, kind in (("criteria", Criterion), ("anchors", Anchor)):
            value = shape[name]
            if isinstance(value, list | tuple):
                shape[name] = [_members(one) if isinstance(one, kind) else _stranger(one) for one in value]
        return shape

    def _normal(self) -> dict[str, object]:
        return {
            "scope": Scope(self.scope),
            "definition": _text(self.definition),
            "purpose": _text(self.purpose),
            "criteria": tuple(_normal_criterion(one) for one in self.criteria),
            "anchors": tuple(_normal_anchor(one) for one in self.anchors),
            "needs": tuple(need for need in NEEDS if need in self.needs),
            "threshold": None if self.threshold is None else _float(self.threshold),
        }


def custom_rubric(text: str) -> Rubric:
    """The rubric that an author wrote as one string: one criterion, range 0 to 100, threshold 80, named `custom`.

    Its revision follows from the text, so that two texts never share a reference.

    Raises:
        RubricInvalid: when the text is blank, longer than 4,000 characters, or no valid Unicode text.
    """
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_CUSTOM:
        raise RubricInvalid("custom rubric", [_custom_fault(text)])
    definition = _text(text)
    try:
        return Rubric(
            name="custom",
            revision=content_id(definition.encode("utf-8", "surrogatepass"))[7:19],
            definition=definition,
            criteria=(Criterion(id="overall", description=_OVERALL, min=0, max=100),),
            threshold=_CUSTOM_THRESHOLD,
            purpose="A rubric written for one suite, as plain text.",
        )
    except RubricInvalid as error:
        raise RubricInvalid("custom rubric", [replace(fault, path="") for fault in error.faults]) from None


_OVERALL = "How fully the output meets the definition, from not at all (lowest) to in every respect (highest)."


def _custom_fault(text: object) -> Fault:
    if not isinstance(text, str):
        found = "something else"
    else:
        found = f"{len(text):,} characters" if text.strip() else "blank text"
    return Fault(path="", expected=f"text of 1 to {MAX_CUSTOM:,} characters, not blank", found=found)


def _members(one: Any) -> dict[str, object]:
    return {part.name: getattr(one, part.name) for part in fields(one)}


def _stranger(value: object) -> object:
    # A bare mapping has the shape but not the type: it would pass the rules and fail later.
    return Misplaced(type(value).__name__) if isinstance(value, Mapping) else value


def _normal_criterion(one: Criterion) -> Criterion:
    return replace(
        one,
        description=_text(one.description),
        min=_float(one.min),
        max=_float(one.max),
        weight=_float(one.weight),
    )


def _normal_anchor(one: Anchor) -> Anchor:
    return replace(one, score=_float(one.score), label=_text(one.label), description=_text(one.description))


def _text(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _float(number: float) -> float:
    return float(number) + 0.0  # -0.0 becomes 0.0


def _tidy(number: float) -> float:
    return int(number) if number.is_integer() and abs(number) < _UNPADDED else number


def _plain(one: Criterion | Anchor) -> dict[str, Json]:
    return {key: _tidy(value) if isinstance(value, float) else value for key, value in _members(one).items()}
