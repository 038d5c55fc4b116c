"""How well the embedded model judges, by strategy, on the labelled items of `data/judge_items.jsonl`.

    python benchmarks/judge_quality.py                        # the default strategy on all test items
    python benchmarks/judge_quality.py --strategy answer --strategy answer+examples --items 64

The prompts were chosen on the items marked `dev` and on `examples/first_judgement`; figures are of the items marked
`test`, on which nothing was tried before. For each strategy it prints:
the area under the ROC curve (0.5 is chance), the accuracy at the rubric's own threshold (an error counts as wrong), the
share of verdicts whose quotes all verify (a verdict without quotes does not count as verified), errors, and the median
seconds a verdict. Rubrics have different thresholds, so scores are compared by their distance from the threshold in
log-odds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import statistics
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jurat.evidence import Context
from jurat.judge import Judge, JudgeSettings, Verdict
from jurat.metrics import wilson_interval
from jurat.provider import make_provider
from jurat.vocabulary import Strategy

ITEMS = Path(__file__).parent / "data" / "judge_items.jsonl"
STRATEGIES = ("answer", "answer+examples", "logprob", "logprob+examples", "both")
_EDGE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One item, judged."""

    item: dict[str, Any]
    verdict: Verdict
    seconds: float

    @property
    def good(self) -> bool:
        return bool(self.item["label"] == "pass")

    @property
    def right(self) -> bool:
        return self.verdict.status.decided and (self.verdict.status == "pass") == self.good

    @property
    def margin(self) -> float | None:
        """Log-odds of the score less log-odds of the threshold; None when there is no score."""
        if self.verdict.score is None:
            return None
        low, high = self.verdict.judge.score_range
        return _log_odds((self.verdict.score - low) / (high - low)) - _log_odds(
            (self.verdict.judge.threshold - low) / (high - low)
        )


def _log_odds(share: float) -> float:
    inside = min(max(share, _EDGE), 1 - _EDGE)
    return math.log(inside / (1 - inside))


def area_under_curve(good: Sequence[float], bad: Sequence[float]) -> float:
    """The probability that a good item scores above a bad one, ties counting half (Mann-Whitney's U over its range)."""
    if not good or not bad:
        return math.nan
    return sum((a > b) + 0.5 * (a == b) for a in good for b in bad) / (len(good) * len(bad))


def chosen_items(split: str, most: int | None) -> list[dict[str, Any]]:
    """The items of a split; when there are too many, evenly from every kind and rubric, in the order of the file."""
    items = [item for line in ITEMS.read_text(encoding="utf-8").splitlines() if (item := json.loads(line))]
    items = [item for item in items if item["split"] == split]
    if most is None or most >= len(items):
        return items
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for item in items:
        groups[item["rubric"], item["kind"]].append(item)
    kept = {item["id"] for group in groups.values() for item in group[: math.ceil(len(group) * most / len(items))]}
    return [item for item in items if item["id"] in kept][:most]


def judge_for(rubric: str, provider: Any, strategy: str) -> Judge:
    name, _, extra = strategy.partition("+")
    examples = None if extra == "examples" or name == "both" else ()
    return Judge(rubric, provider, JudgeSettings(strategy=Strategy(name), examples=examples))


async def run(model: str, strategy: str, items: Sequence[dict[str, Any]]) -> list[Outcome]:
    provider = make_provider(f"local:{model}")
    outcomes: list[Outcome] = []
    try:
        for rubric in sorted({item["rubric"] for item in items}):
            judge = judge_for(rubric, provider, strategy)
            for item in (item for item in items if item["rubric"] == rubric):
                context = Context(output=item["answer"], rendered_input=item["question"], expected=item["expected"])
                started = time.monotonic()
                verdict = await judge.judge(context, grounding=item["passage"])
                outcomes.append(Outcome(item=item, verdict=verdict, seconds=time.monotonic() - started))
                print(".", end="", flush=True)
    finally:
        await provider.aclose()
    print()
    return outcomes


def summary(outcomes: Sequence[Outcome]) -> str:
    right = sum(outcome.right for outcome in outcomes)
    low, high = wilson_interval(right, len(outcomes))
    quoted = [outcome for outcome in outcomes if outcome.verdict.opinion.quotes]
    errors = sum(not outcome.verdict.status.decided for outcome in outcomes)
    seconds = statistics.median(outcome.seconds for outcome in outcomes)
    return (
        f"AUC {_auc(outcomes):.3f}  accuracy {right / len(outcomes):.3f} ({low:.2f}-{high:.2f})  "
        f"quotes verified {len(quoted) / len(outcomes):.2f}  errors {errors}  median {seconds:.1f} s  n {len(outcomes)}"
    )


def _auc(outcomes: Iterable[Outcome]) -> float:
    scored = [(outcome.good, outcome.margin) for outcome in outcomes if outcome.margin is not None]
    return area_under_curve([m for good, m in scored if good], [m for good, m in scored if not good])


def details(outcomes: Sequence[Outcome]) -> Iterable[str]:
    for key in ("rubric", "kind"):
        for value in sorted({outcome.item[key] for outcome in outcomes}):
            group = [outcome for outcome in outcomes if outcome.item[key] == value]
            right = sum(outcome.right for outcome in group)
            auc = _auc(group)
            yield f"    {value:<16} right {right}/{len(group)}" + ("" if math.isnan(auc) else f"  AUC {auc:.3f}")
    with_reference = [outcome for outcome in outcomes if outcome.item["expected"] or outcome.item["passage"]]
    yield f"    with a reference or passage: AUC {_auc(with_reference):.3f} (n {len(with_reference)})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="default")
    parser.add_argument("--strategy", action="append", choices=STRATEGIES)
    parser.add_argument("--split", default="test", choices=("dev", "test"))
    parser.add_argument("--items", type=int, help="at most so many items, evenly from every kind")
    options = parser.parse_args()
    items = chosen_items(options.split, options.items)
    for strategy in options.strategy or ["both"]:
        outcomes = asyncio.run(run(options.model, strategy, items))
        print(f"{options.model}, {strategy}, {options.split}: {summary(outcomes)}")
        print("\n".join(details(outcomes)), flush=True)


if __name__ == "__main__":
    main()
