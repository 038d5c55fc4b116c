"""Several askings of one judge become one opinion.

The reducer decides the status; the score is the mean of the decided repeats; reason and quotes are those of the
repeat that lies nearest to that mean among the ones that agree with the outcome. What the others said is kept beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jurat.errors import ErrorCategory
from jurat.evaluation import TypedError
from jurat.evaluation.reducers import Reducer, RepeatSummary, reduce_statuses, summarize_repeats
from jurat.judge.verdict import Opinion, sum_spending
from jurat.vocabulary import Status

__all__ = ["combine_opinions"]


def combine_opinions(opinions: Sequence[Opinion], reducer: Reducer) -> tuple[Opinion, RepeatSummary | None]:
    """The one opinion, and the summary of the repeats (None when there was one asking)."""
    if len(opinions) == 1:
        return opinions[0], None
    summary = summarize_repeats(opinions)
    status = reduce_statuses([opinion.status for opinion in opinions], reducer)
    spending = sum_spending((opinion.spending for opinion in opinions), together=True)
    if not status.decided:
        return replace(_undecided(opinions, status), spending=spending, score=None), summary
    mean = summary.mean if summary.mean is not None else 0.0
    agreeing = [opinion for opinion in opinions if opinion.status is status] or list(opinions)
    nearest = min(agreeing, key=lambda opinion: abs((opinion.score if opinion.score is not None else mean) - mean))
    return replace(nearest, status=status, score=mean, error=None, spending=spending), summary


def _undecided(opinions: Sequence[Opinion], status: Status) -> Opinion:
    first = next(opinion for opinion in opinions if not opinion.status.decided)
    if status is not Status.ERROR:
        return replace(first, status=status, error=None)
    errors = [opinion.error for opinion in opinions if opinion.error is not None]
    count = f"{len(errors)} of {len(opinions)} repeats failed, and the others do not settle it; the first: "
    category = errors[0].type if errors else ErrorCategory.INVALID_RESULT
    message = count + errors[0].message if errors else count
    return Opinion(status=status, error=TypedError(type=category, message=message), rejected=first.rejected)
