"""Repeats: the statuses of several attempts become one, and what the repeats of one judgement say of the judge.

Every reducer asks whether enough attempts passed, so more passes never make it worse. That is what lets it deal fairly
with attempts that nobody decided (errored, unverified, skipped): they are neither passes nor failures. It decides when
all of them passing and all of them failing come to the same; otherwise the whole is undecided too. In the summary of
repeats, likewise, only decided ones count; the others are counted beside, never as a 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from jurat.errors import Fault
from jurat.jsontext import Json, type_name
from jurat.vocabulary import Status, nearest

__all__ = [
    "Reducer",
    "ReducerRule",
    "RepeatSummary",
    "Repeated",
    "reduce_statuses",
    "reducer_from_json",
    "reducer_schema",
    "reducer_to_json",
    "summarize_repeats",
]


class ReducerRule(StrEnum):
    """When repeated attempts pass as a whole."""

    ALL = "all"
    ANY = "any"
    MAJORITY = "majority"
    MINIMUM_PASS_RATE = "minimum_pass_rate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reducer:
    """A rule, and for `minimum_pass_rate` alone its rate (above 0, at most 1).

    Raises:
        ValueError: when the rule is unknown, or rule and rate do not fit together.
    """

    rule: ReducerRule = ReducerRule.ALL
    rate: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule", ReducerRule(self.rule))  # the word may be written as text
        if (self.rule is ReducerRule.MINIMUM_PASS_RATE) != (self.rate is not None):
            raise ValueError(f"a rate stands exactly with minimum_pass_rate, the rule is {self.rule}")
        if self.rate is not None and not 0 < self.rate <= 1:
            raise ValueError(f"expected a pass rate above 0 and at most 1, found {self.rate!r}")

    def met(self, passes: int, attempts: int) -> bool:
        """Whether so many passes of so many attempts (at least 1) are enough. `majority` is strictly more than half."""
        match self.rule:
            case ReducerRule.ALL:
                return passes == attempts
            case ReducerRule.ANY:
                return passes > 0
            case ReducerRule.MAJORITY:
                return 2 * passes > attempts
            case ReducerRule.MINIMUM_PASS_RATE:
                # Divided, not multiplied: 7/100 is the same float as 0.07, while 0.07 * 100 is more than 7.
                return passes / attempts >= (self.rate or 0.0)


def reduce_statuses(statuses: Sequence[Status], reducer: Reducer) -> Status:
    """The one status of the attempts.

    `pass` or `fail` if the decided attempts settle it whichever way the others would have gone. Otherwise what stands
    in the way: `error` when an undecided attempt errored, else `unverified`; `skipped` only when no attempt was made.

    Raises:
        ValueError: for no attempts at all.
    """
    if not statuses:
        raise ValueError("expected at least one attempt, found none")
    passes = statuses.count(Status.PASS)
    undecided = [status for status in statuses if not status.decided]
    worst = reducer.met(passes, len(statuses))
    if worst == reducer.met(passes + len(undecided), len(statuses)):
        return Status.PASS if worst else Status.FAIL
    if Status.ERROR in undecided:
        return Status.ERROR
    made = any(status is not Status.SKIPPED for status in statuses)
    return Status.UNVERIFIED if made else Status.SKIPPED


# --- what repeats say of a judge -----------------------------------------------------------------------------------


class Repeated(Protocol):
    """One of several attempts at the same: a status, and a score exactly when that is decided."""

    @property
    def status(self) -> Status: ...

    @property
    def score(self) -> float | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatSummary:
    """The repeats of one judgement: where its scores lie, how far apart, how often the verdict flips.

    Attributes:
        decided: how many passed or failed.
        undecided: how many did neither.
        passes: how many passed.
        mean: the mean score of the decided, in exact arithmetic and so never outside their range; None for none.
        spread: the sample standard deviation (n - 1) of their scores; None for fewer than two, or beyond all floats.
        flip_rate: the share of the decided that differ from the majority verdict, from 0 to 0.5; None for none. It is
            Freeman's variation ratio, 1 - (count of the mode)/n (L. C. Freeman, Elementary Applied Statistics, 1965).
        tied: whether exactly half of the decided passed, so that there is no majority; the flip rate is then 0.5.
    """

    decided: int
    undecided: int
    passes: int
    mean: float | None
    spread: float | None
    flip_rate: float | None
    tied: bool


def summarize_repeats(repeats: Sequence[Repeated]) -> RepeatSummary:
    """The summary of the repeats, in whatever order they came; of none, a summary of nothing."""
    scores = [repeat.score for repeat in repeats if repeat.score is not None]
    passes = sum(repeat.status is Status.PASS for repeat in repeats)
    fails = len(scores) - passes
    return RepeatSummary(
        decided=len(scores),
        undecided=len(repeats) - len(scores),
        passes=passes,
        mean=_mean(scores),
        spread=_spread(scores),
        flip_rate=min(passes, fails) / len(scores) if scores else None,
        tied=bool(scores) and passes == fails,
    )


def _mean(scores: list[float]) -> float | None:
    # In exact fractions: fsum rounds twice, so that a mean may leave the range, and overflows at the far end.
    from statistics import mean

    return float(mean(scores)) if scores else None


def _spread(scores: list[float]) -> float | None:
    from statistics import stdev

    if len(scores) < 2:
        return None
    try:
        return float(stdev(scores))
    except OverflowError:  # scores at both far ends of what a float can hold
        return None


# --- as JSON -------------------------------------------------------------------------------------------------------

_WORDS = tuple(rule.value for rule in ReducerRule if rule is not ReducerRule.MINIMUM_PASS_RATE)
_EXPECTED = f"one of {', '.join(_WORDS)}, or {{minimum_pass_rate: a number above 0, at most 1}}"


def reducer_from_json(value: object, path: str, faults: list[Fault]) -> Reducer | None:
    """Read `all`, `any`, `majority` or `{minimum_pass_rate: 0.8}`; or add a fault and give None."""
    if isinstance(value, str) and value in _WORDS:
        return Reducer(rule=ReducerRule(value))
    if isinstance(value, Mapping) and tuple(value) == ("minimum_pass_rate",):
        return _rate(value["minimum_pass_rate"], f"{path}.minimum_pass_rate", faults)
    hint = None
    if isinstance(value, str):
        near = nearest(value, _WORDS)
        hint = f"Did you mean {near}?" if near else None
    found = repr(value[:40]) if isinstance(value, str) else type_name(value)
    faults.append(Fault(path=path, expected=_EXPECTED, found=found, hint=hint))
    return None


def _rate(value: object, path: str, faults: list[Fault]) -> Reducer | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and 0 < value <= 1:  # type: ignore[operator]
        return Reducer(rule=ReducerRule.MINIMUM_PASS_RATE, rate=float(value))  # type: ignore[arg-type]
    found = "one outside" if number else type_name(value)
    faults.append(Fault(path=path, expected="a number above 0, at most 1", found=found))
    return None


def reducer_to_json(reducer: Reducer) -> Json:
    """What `reducer_from_json` reads back as the same reducer."""
    return reducer.rule.value if reducer.rate is None else {reducer.rule.value: reducer.rate}


def reducer_schema() -> dict[str, Json]:
    """The JSON Schema of what `reducer_from_json` reads."""
    rate = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
    by_rate = {
        "type": "object",
        "properties": {"minimum_pass_rate": rate},
        "required": ["minimum_pass_rate"],
        "additionalProperties": False,
    }
    return {"anyOf": [{"enum": [*_WORDS]}, by_rate]}
