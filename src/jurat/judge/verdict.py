"""A judge's verdict: what was decided, by which judge, on what evidence, and what it cost.

Like an assessment it is consistent by construction: a score stands exactly with `pass` or `fail`. Beside that it holds
everything that the result map shows (`jurat.report.result_map`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from jurat.errors import ErrorCategory, EvaluationError, ProviderError
from jurat.evaluation import Assessment, Finding, Quote, TypedError
from jurat.evaluation.reducers import RepeatSummary
from jurat.judge.answer import CriterionAnswer
from jurat.provider.protocol import Usage
from jurat.vocabulary import Contract, Status, Strategy

__all__ = [
    "NOTHING_SENT",
    "JudgeFacts",
    "Opinion",
    "Spending",
    "Verdict",
    "Withheld",
    "may_have_cost",
    "spent_in_vain",
    "sum_spending",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What asking cost. None is unknown, never 0; every attempt counts, retried and failed ones too.

    Attributes:
        usage: tokens, summed over the calls; a kind that any call left out is None.
        cost_usd: None when a price or a token count is unknown. A reply out of the store costs nothing again.
        duration_ms: the waiting, calls side by side counted once.
        attempts: how many requests were made.
        failed: of them, why those that failed did: a category each, sorted.
        cached: whether every reply came out of the store.
        models: the models that say they answered, sorted.
    """

    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    duration_ms: float = 0.0
    attempts: int = 0
    failed: tuple[str, ...] = ()
    cached: bool = False
    models: tuple[str, ...] = ()

    @property
    def failed_attempts(self) -> dict[str, int]:
        """How many attempts failed, by category."""
        return dict(Counter(self.failed))


NOTHING_SENT = Spending(usage=Usage(input_tokens=0, output_tokens=0), cost_usd=0.0)
"""What is spent when no request was made: known to be nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """A reply that was found invalid, and whose text is therefore not kept: why, and what that one call cost."""

    error: TypedError
    spending: Spending


_TURNED_AWAY = frozenset((ErrorCategory.AUTH_ERROR, ErrorCategory.MISSING_API_KEY, ErrorCategory.RATE_LIMITED))
"""Requests that are refused before anybody works on them, and that no vendor charges for."""


def may_have_cost(error: EvaluationError) -> bool:
    """Whether a call that ended in an error may have been charged for; how much is then known to nobody."""
    return isinstance(error, ProviderError) and error.attempts > 0 and not _TURNED_AWAY.issuperset(error.failed)


def spent_in_vain(error: EvaluationError, *, free: bool = False) -> Spending:
    """What a call that ended in an error spent. `free`: whether it is known that nothing is ever paid there."""
    if not isinstance(error, ProviderError) or not error.attempts:
        return NOTHING_SENT
    cost = None if may_have_cost(error) and not free else 0.0
    return Spending(cost_usd=cost, attempts=error.attempts, failed=tuple(sorted(error.failed)))


_TOKENS = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens", "reasoning_tokens")


def sum_spending(parts: Iterable[Spending], *, together: bool) -> Spending:
    """Add up. `together`: the parts waited side by side, so the longest wait counts; else one after the other."""
    found = list(parts)
    if len(found) == 1:
        return found[0]
    counts = {name: _known_sum(getattr(part.usage, name) for part in found) for name in _TOKENS}
    costs = [part.cost_usd for part in found]
    waits = [part.duration_ms for part in found] or [0.0]
    return Spending(
        usage=Usage(**counts),
        cost_usd=None if None in costs else math.fsum(cost for cost in costs if cost is not None),
        duration_ms=max(waits) if together else math.fsum(waits),
        attempts=sum(part.attempts for part in found),
        failed=tuple(sorted(category for part in found for category in part.failed)),
        cached=bool(found) and all(part.cached for part in found),
        models=tuple(sorted({model for part in found for model in part.models})),
    )


def _known_sum(counts: Iterable[int | None]) -> int | None:
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFacts:
    """Who judged: the same for every verdict of one judge.

    Attributes:
        name: the evaluator's name in the suite.
        identity: `sha256:` of rubric, instruction, contract, strategy, examples and provider settings.
        rubric: the text that defines it, or the template's reference.
        template: the catalog's or the user's rubric name, or None for a custom text.
        template_revision: its revision.
        rubric_hash: the content hash of the resolved rubric.
        provider: the provider's name; `model`: the model that is asked.
    """

    name: str
    identity: str
    rubric: str
    template: str | None
    template_revision: str | None
    rubric_hash: str
    score_range: tuple[float, float]
    threshold: float
    contract: Contract
    strategy: Strategy
    provider: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What one asking of the judge came to (with `samples`, one of several)."""

    status: Status
    score: float | None = None
    reason: str | None = None
    quotes: tuple[Quote, ...] = ()
    criteria: tuple[CriterionAnswer, ...] = ()
    findings: tuple[Finding, ...] = ()
    error: TypedError | None = None
    spending: Spending = field(default_factory=Spending)
    rejected: Mapping[str, Withheld] = field(default_factory=dict)

    @classmethod
    def failed(cls, category: ErrorCategory, message: str, spending: Spending | None = None) -> Opinion:
        """An opinion that could not be formed; without a spending, because nothing was sent."""
        error = TypedError(type=category, message=message)
        return cls(status=Status.ERROR, error=error, spending=spending or NOTHING_SENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The judge's finding on one context.

    Attributes:
        judge: who judged.
        opinion: the outcome over all repeats.
        truncated_fields: which parts of the evidence were cut before they were shown.
        unseen_fields: the pictures in it, which the judge is not shown.
        repeats: mean, spread and flip rate over the repeats, when there are several.
        opinions: each repeat by itself, in order, when there are several.
    """

    judge: JudgeFacts
    opinion: Opinion
    truncated_fields: tuple[str, ...] = ()
    unseen_fields: tuple[str, ...] = ()
    repeats: RepeatSummary | None = None
    opinions: tuple[Opinion, ...] = ()

    @property
    def status(self) -> Status:
        """What was decided."""
        return self.opinion.status

    @property
    def score(self) -> float | None:
        """Within the judge's range exactly when the status is `pass` or `fail`."""
        return self.opinion.score

    @property
    def rejected(self) -> Mapping[str, Withheld]:
        """The replies, by key of their call, that were no valid answers: their text is not to be kept."""
        if not self.opinions:
            return self.opinion.rejected
        return {key: kept for opinion in self.opinions for key, kept in opinion.rejected.items()}

    def assessment(self) -> Assessment:
        """The verdict in the words that all evaluators share."""
        found = self.opinion
        return Assessment(
            evaluator=self.judge.name,
            revision=self.judge.identity,
            status=found.status,
            score=found.score,
            reason=found.reason,
            quotes=found.quotes,
            findings=found.findings,
            error=found.error,
        )

    def with_finding(self, finding: Finding) -> Verdict:
        """The same verdict with one more finding."""
        opinion = replace(self.opinion, findings=(*self.opinion.findings, finding))
        return replace(self, opinion=opinion)
