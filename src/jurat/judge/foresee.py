"""Which calls a judge would make on a context, with their sizes; none is made."""

from __future__ import annotations

from collections.abc import Iterator

from jurat.evidence import Context, estimate_tokens
from jurat.jsontext import Json
from jurat.judge.judge import Judge
from jurat.vocabulary import Strategy

__all__ = ["foreseen"]


def foreseen(
    judge: Judge, context: Context, grounding: str | None = None, expected: Json = None
) -> Iterator[tuple[int, int | None]]:
    """For each call the tokens of its request, estimated, and the most tokens of its reply (None: no limit).

    A judge that explains itself afterwards (`both`) makes one more call in each repeat, about as large as the first.
    """
    steps = judge.steps(context, grounding, expected)
    try:
        calls = next(steps)
    except StopIteration:
        return  # it decides without asking
    finally:
        steps.close()
    sizes = [estimate_tokens(call.body.decode("utf-8", "replace")) for call in calls]
    answer = answer_limit(judge)
    for size in sizes:
        yield size, answer if judge.strategy is Strategy.ANSWER else 1
    if judge.strategy is Strategy.BOTH:
        for _ in range(judge.settings.samples):
            yield sizes[0], answer


def answer_limit(judge: Judge) -> int | None:
    """The most tokens that an answer may have, hidden reasoning included."""
    limit, able = judge.settings.max_output_tokens, judge.provider.settings.capabilities
    if limit is None:
        return None
    return limit + able.reasoning_room if able.reasoning else limit
