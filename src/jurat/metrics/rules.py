"""The rules that a policy is made of: which there are, and what each of them may be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from jurat.jsontext import parse_strict
from jurat.metrics.run_tally import metadata_group

__all__ = ["ALONE", "NAME", "RULES", "Key", "Rule", "RuleType"]


class RuleType(StrEnum):
    """What a rule looks at."""

    OVERALL_PASS_RATE = "overall_pass_rate"
    LABEL_PASS_RATE = "label_pass_rate"
    CASE_PASS_RATE = "case_pass_rate"
    EVALUATOR_SCORE = "evaluator_score"
    NO_REGRESSION = "no_regression"
    TOTAL_COST_USD = "total_cost_usd"
    JUDGE_COST_USD = "judge_cost_usd"
    LATENCY_MS = "latency_ms"
    ERROR_RATE = "error_rate"
    FLIP_RATE = "flip_rate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. Which of the fields a type knows is in `RULES`; the others are None.

    Attributes:
        type: what it looks at.
        name: what it is called in reports, where its author gave it a name.
        minimum, maximum, maximum_drop, maximum_regressed: the limit, inclusive.
        of: what is counted: `cases` or `trials`; for `flip_rate` `trials` or `judge`.
        label: the label of the cases that count.
        metadata: a key and the value that the cases that count have there.
        assertion: the name of the assertion that counts.
        template: the rubric of the judges that count, with or without its revision.
        minimum_decided: the share that has to be decided for the decided ones alone to count.
        percentile: which one of the durations, above 0, at most 100; None: their mean.
        stage: whose: `subject` or `judge`.
        baseline: the run to compare with; None leaves that to whoever runs the suite.
    """

    type: RuleType
    name: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    maximum_drop: float | None = None
    maximum_regressed: float | None = None
    of: str | None = None
    label: str | None = None
    metadata: tuple[str, str] | None = None
    assertion: str | None = None
    template: str | None = None
    minimum_decided: float | None = None
    percentile: float | None = None
    stage: str | None = None
    baseline: str | None = None

    @property
    def group(self) -> str:
        """The label, or what stands for the metadata, of the cases that count."""
        if self.metadata is None:
            return self.label or ""
        return metadata_group(self.metadata[0], parse_strict(self.metadata[1]))

    def counts(self, name: str, template: str) -> bool:
        """Whether an assertion of this name and template (`name@revision`) is one that counts."""
        if self.assertion is not None:
            return name == self.assertion
        return self.template is not None and self.template in (template, template.partition("@")[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key of a rule: what it is for, and what may stand there.

    `words` are the values of a closed choice, the first one the default; `low` and `high` bound a number, `above`
    instead of `low` excludes the bound itself, and `whole` admits whole numbers alone. Of the keys that bear the same
    `one_of`, exactly one is given.
    """

    text: str
    words: tuple[str, ...] = ()
    number: bool = False
    whole: bool = False
    low: float | None = None
    above: float | None = None
    high: float | None = None
    required: bool = False
    one_of: str | None = None
    mapping: bool = False


NAME = Key(text="What the rule is called in reports.")
_SHARE = {"number": True, "low": 0.0, "high": 1.0}
_DECIDED = Key(
    text="Which share has to be decided for the decided ones alone to count; 1 when left out. Below it the rule is "
    "decided only if the undecided ones cannot tip it.",
    **_SHARE,  # type: ignore[arg-type]
)
_OF = Key(text="What is counted.", words=("cases", "trials"))
_LEAST_RATE = Key(text="The lowest pass rate that will do, 0 to 1.", required=True, **_SHARE)  # type: ignore[arg-type]
_MOST_USD = Key(text="The most that may have been spent, in US dollars.", number=True, low=0.0, required=True)
_ASSERTION = Key(text="The name of the assertion.")
_TEMPLATE = Key(text="The rubric of the judges, `name` or `name@revision`.")
_WHICH = {
    "assertion": Key(text=_ASSERTION.text, one_of="assertion or template"),
    "template": Key(text=_TEMPLATE.text, one_of="assertion or template"),
}

RULES: Mapping[RuleType, Mapping[str, Key]] = {
    RuleType.OVERALL_PASS_RATE: {"minimum": _LEAST_RATE, "of": _OF, "minimum_decided": _DECIDED},
    RuleType.LABEL_PASS_RATE: {
        "label": Key(text="The label of the cases that count.", one_of="label or metadata"),
        "metadata": Key(text="One key and the value that counts.", mapping=True, one_of="label or metadata"),
        "minimum": _LEAST_RATE,
        "of": _OF,
        "minimum_decided": _DECIDED,
    },
    RuleType.CASE_PASS_RATE: {"minimum": _LEAST_RATE},
    RuleType.EVALUATOR_SCORE: {
        **_WHICH,
        "minimum": Key(
            text="The lowest mean score that will do, in the assertion's range.", number=True, required=True
        ),
        "minimum_decided": _DECIDED,
    },
    RuleType.NO_REGRESSION: {
        "maximum_drop": Key(
            text="By how much it may be lower than in the baseline; 0 when left out.", number=True, low=0.0
        ),
        "maximum_regressed": Key(
            text="How many cases may fail that passed in the baseline; instead of `maximum_drop`.",
            number=True,
            whole=True,
            low=0.0,
        ),
        "baseline": Key(text="The run to compare with, by id or a prefix of it."),
        "of": _OF,
        "assertion": _ASSERTION,
        "template": _TEMPLATE,
        "minimum_decided": _DECIDED,
    },
    RuleType.TOTAL_COST_USD: {"maximum": _MOST_USD},
    RuleType.JUDGE_COST_USD: {"maximum": _MOST_USD},
    RuleType.LATENCY_MS: {
        "maximum": Key(text="The longest that will do, in milliseconds.", number=True, low=0.0, required=True),
        "percentile": Key(text="Which percentile; the mean when left out.", number=True, above=0.0, high=100.0),
        "stage": Key(text="Whose answers are timed.", words=("subject", "judge")),
        "minimum_decided": _DECIDED,
    },
    RuleType.ERROR_RATE: {
        "maximum": Key(text="The highest share of errors that will do, 0 to 1.", required=True, **_SHARE),  # type: ignore[arg-type]
        "of": Key(text="What is counted.", words=("trials", "subject", "evaluators")),
    },
    RuleType.FLIP_RATE: {
        "maximum": Key(text="The highest rate that will do, 0 to 0.5.", number=True, low=0.0, high=0.5, required=True),
        "of": Key(text="Whose repeats are compared.", words=("trials", "judge")),
        "assertion": _ASSERTION,
        "template": _TEMPLATE,
    },
}
"""Every rule type and its keys, beside `type` and `name`."""

ALONE = ("maximum_drop", "of", "assertion", "template", "minimum_decided")
"""What a rule that counts cases (`maximum_regressed`) does not have beside it."""
