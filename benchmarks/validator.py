"""What the pure steps of one judgement take, each by itself, in microseconds.

    python benchmarks/validator.py [--calls 2000] [--repeats 15]

The steps work on many different typical rows (question, answer, passage; an answer with two quotes of 60 and 75
characters), not on one that sits in the processor's cache. A figure is the median of the repeats, in CPU time. The bar
is for the local validator, which is the check of a raw answer: 25 µs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from jurat.evidence import Evidence
from jurat.judge import Judge, Verdict, check_text, render_evidence
from jurat.provider.protocol import Raw
from jurat.report import verdict_map
from jurat.suite import Item, parse_mapping, read_rows
from jurat.workbench import Workbench
from loopback_chat import ANSWERS, SCORES
from material import MAPPING, RUBRIC, rows, write_config, write_rows

T = TypeVar("T")


class Steps:
    """The steps, in the order in which a judgement takes them, each on all rows."""

    def __init__(self, judge: Judge, items: Sequence[Item], repeats: int) -> None:
        self.judge, self.items, self.repeats = judge, items, repeats

    def timed(self, what: str, work: Callable[[], Sequence[T]], bar_us: float | None = None) -> Sequence[T]:
        """Time one step on all rows, print it, and give what it made."""
        figures: list[float] = []
        for _ in range(self.repeats):
            started = time.process_time()
            made = work()
            figures.append((time.process_time() - started) / len(made) * 1e6)
        median = statistics.median(figures)
        bar = f"   ratio to the bar of {bar_us:g} µs: {median / bar_us:.2f}" if bar_us else ""
        print(f"  {what:<34} {median:6.1f} µs (least {min(figures):.1f}){bar}")
        return made

    def run(self) -> None:
        """Print every step."""
        judge, items = self.judge, self.items
        evidence: Sequence[Evidence] = self.timed("numbering the evidence", lambda: [_number(judge, i) for i in items])
        self.timed("rendering the prompt", lambda: [render_evidence(one) for one in evidence])
        raws = [_raw(place) for place in range(len(items))]
        texts = [_answer(raw) for raw in raws]
        limits = judge.score_range
        checked = zip(texts, evidence, strict=True)
        pairs = [(text, one.texts) for text, one in checked]
        self.timed("the validator", lambda: [check_text(text, shown, limits) for text, shown in pairs], 25.0)
        self.timed("reading the reply", lambda: [judge.provider.read(raw) for raw in raws])
        verdicts = self.timed(
            "all of it, from context to verdict",
            lambda: [_verdict(judge, item, raw) for item, raw in zip(items, raws, strict=True)],
        )
        self.timed("the result map", lambda: [verdict_map(verdict) for verdict in verdicts])


def _number(judge: Judge, item: Item) -> Evidence:
    assert item.context is not None
    return judge.number(item.context, item.grounding)


def _raw(place: int) -> Raw:
    body = ANSWERS[place % SCORES].partition(b"\r\n\r\n")[2]
    return Raw(body=body, latency_ms=431.0, request_id=f"req-{place}")


def _answer(raw: Raw) -> str:
    return str(json.loads(raw.body)["choices"][0]["message"]["content"])


def _verdict(judge: Judge, item: Item, raw: Raw) -> Verdict:
    assert item.context is not None
    steps = judge.steps(item.context, item.grounding)
    next(steps)
    try:
        steps.send((raw,))
    except StopIteration as stop:
        verdict: Verdict = stop.value
        assert verdict.score is not None
        return verdict
    raise AssertionError("expected a verdict after one reply")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2_000, help="rows (2000)")
    parser.add_argument("--repeats", type=int, default=15, help="how often each step goes through all rows (15)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_config(folder, "http://127.0.0.1:9/v1")
        write_rows(folder / "rows.jsonl", given.calls)
        judge = Workbench(folder).judge(RUBRIC, "loopback")
        columns = parse_mapping(MAPPING)
        with (folder / "rows.jsonl").open("rb") as stream:
            items = [columns.item(row) for row in read_rows(stream, "jsonl", "rows.jsonl")]
    answer = _answer(_raw(0))
    size = sum(len(text) for text in next(rows(1)).values())
    print(f"{given.calls} rows of {size} characters; answers of {len(answer)} characters with two quotes")
    Steps(judge, items, given.repeats).run()


if __name__ == "__main__":
    main()
