"""Runs for tests of reporters: told to any of them, with the evidence that their judges would have seen."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from jurat.errors import ErrorCategory
from jurat.evaluation import TypedError
from jurat.evidence import Context, Evidence, number_evidence
from jurat.metrics import Policy, read_policy
from jurat.report.record import RunRecord, RunStatus, SubjectRecord, TrialRecord
from jurat.report.reporters import Reporter, ReportOptions, Told, make_reporter
from jurat.suite.case import Place
from jurat.vocabulary import Status
from run_records import Rows, case, check, mixed, run, skipped, spent, tallied, trial, verdict

__all__ = ["HOSTILE", "HOSTILE_RUN", "RULES", "feed", "mixed", "run_of", "support", "told_by"]

RULES = ({"type": "overall_pass_rate", "minimum": 0.9}, {"type": "total_cost_usd", "maximum": 1})
HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> <!-- <script> "
    "]]> <b>&amp; \x12\x00\x1b[31m\ufffe\ud800 ::error file=x::y ##[error]z %0A @somebody #12 [x](javascript:alert(1)) "
    "{0} | `code` \u202e5 ton si\u202c =1+1\r\nsecond line\n::set-output name=a::b\u2028third"
)
_SURROGATES = re.compile("[\ud800-\udfff]")


def seen_of(one: TrialRecord, document: str = "") -> list[Evidence]:
    """What the judges of a trial were shown, one for each assertion; nothing without an answer."""
    if one.subject.output is None:
        return []
    documents: Any = [{"name": "policy.txt", "text": document, "media_type": "text/plain"}] if document else []
    answer, asked = (text and _SURROGATES.sub("", text) for text in (one.subject.output, one.subject.rendered_input))
    context = Context(output=answer or "", rendered_input=asked, documents=documents)
    return [number_evidence(context, expected=None) for _ in one.assessments]


def feed(
    reporter: Reporter,
    record: RunRecord,
    rows: Rows,
    *rules: dict[str, Any],
    seen: bool = False,
    document: str = "",
    places: Sequence[Place] = (),
) -> None:
    """Tell a reporter of one run."""
    policy = read_policy(list(rules), "policy", []) if rules else Policy()
    tally = tallied(record, rows, policy)
    gate = policy.decide(tally).to_json() if record.status is RunStatus.COMPLETED else None
    reporter.begin(record, tally.summary(), gate)
    outcomes = tallied(record, [], policy)
    for place, trials in rows:
        shown = [seen_of(one, document) for one in trials] if seen else []
        reporter.case(Told(case=place, trials=trials, outcome=outcomes.add(place, trials), places=places, seen=shown))
    reporter.end()


def told_by(
    name: str,
    *runs: tuple[RunRecord, Rows],
    rules: Sequence[dict[str, Any]] = (),
    include_output: bool = False,
    **how: Any,
) -> str:
    """The report of these runs in a format."""
    sink = io.BytesIO()
    reporter = make_reporter(name, sink, ReportOptions(include_output=include_output, version="0.1.0"))
    for record, rows in runs:
        feed(reporter, record, rows, *rules, seen=include_output, **how)
    reporter.close()
    return sink.getvalue().decode("utf-8")


def run_of(text: str) -> tuple[RunRecord, Rows]:
    """A run of three cases, in all of whose texts this one stands: one fails, one is an error, one has no answer."""
    judged = verdict(
        20,
        name=text,
        reason=text,
        quotes=[text],
        template=None,
        criteria=[{"id": text, "score": 1, "reason": text, "evidence": []}],
        findings=[{"code": "x", "severity": "error", "message": text}],
    )
    broken = verdict(error="api_error", message=text)
    facts: dict[str, Any] = {"labels": (text,), "metadata": {text: text}, "file": text, "line": 3}
    asked: dict[str, Any] = {"output": text, "rendered_input": text, "messages": ({"role": text, "content": text},)}
    lost = TrialRecord(
        case_index=2,
        trial_index=0,
        status=Status.ERROR,
        subject=SubjectRecord(error=TypedError(type=ErrorCategory.TIMEOUT, message=text), rendered_input=text),
    )
    rows = [
        (case(0, text, **facts), [trial(judged, broken, **asked)]),
        (case(1, f"1{text}", **facts), [trial(broken, case_index=1, **asked)]),
        (case(2, f"2{text}", **facts), [lost]),
    ]
    record = run(suite=text, cases=3, provenance={"jurat": text, text: text}, options={"suite_file": text}, parent=text)
    return record, rows


HOSTILE_RUN = run_of(HOSTILE)
"""A run with texts that would act in one format or another."""


def support() -> tuple[RunRecord, Rows]:
    """A run as a team would have it: a support assistant, some of whose answers are poor, and some not decided."""
    asked = {
        "refund-window": (
            "Can I return boots after 45 days?",
            "You can return them within 60 days, no questions asked.",
            22,
        ),
        "opening-hours": ("When do you open on Sundays?", "We open at nine on weekdays and at ten on Sundays.", 96),
        "damaged-parcel": ("My parcel arrived broken.", "I am sorry to hear that. We send a new one today.", 88),
        "gift-card": ("Does a gift card expire?", "Gift cards are valid for three years.", 91.5),
        "warranty": ("Is the zip covered by the warranty?", "Everything is covered for life.", 40),
        "tracking": ("Where is my order?", "It left our store on Monday and arrives tomorrow.", 79.66),
        "vat-invoice": ("I need an invoice with VAT.", "You find it in your account under “Orders”.", 93),
        "loyalty": ("How many points do I have?", "You have 120 points, worth six dollars.", None),
        "日本への配送": ("日本にも配送できますか？", "はい、通常は五営業日以内に届きます。", 95),
        "delete-account": ("Delete my account, please.", "", None),
    }
    rows = []
    for index, (name, (question, answer, score)) in enumerate(asked.items()):
        place = case(
            index,
            name,
            labels=("returns", "policy") if index in (0, 4) else ("orders",) if index % 2 else (),
            metadata={"tier": "gold"} if index == 0 else {},
            file="suites/support.yaml",
            line=24 + 7 * index,
        )
        rows.append((place, [_answered(index, question, answer, score)]))
    record = run(
        suite="support-assistant",
        cases=len(rows),
        id="20261130-120000-3fa9c1e",
        options={"concurrency": 16, "cache": "off", "suite_file": "suites/support.yaml"},
        provenance={"jurat": "0.1.0", "python": "3.11.7", "platform": "Linux-6.1-x86_64", "git_commit": "8f2c1d0"},
    )
    return record, rows


def _answered(index: int, question: str, answer: str, score: float | None) -> TrialRecord:
    if not answer:
        return trial(
            skipped(), skipped("contains", "contains"), case_index=index, error="timeout", rendered_input=question
        )
    quotes = [answer.rstrip(".")[-28:].lstrip()]
    if score is None:
        judged = verdict(error="quote_not_found", message="the quote of evidence 1 is not in it, to the letter")
    else:
        poor = "The policy says 30 days; the answer promises more than the shop keeps."
        good = "It answers what was asked, and all of it stands in the policy."
        judged = verdict(
            score, reason=poor if score < 80 else good, quotes=quotes, template="faithfulness", name="faithful"
        )
    found = check("polite", Status.PASS, "the text occurs")
    missing = replace(check("polite", Status.FAIL, "the text does not occur"), required=True)
    spending = spent(0.00042 if index != 6 else None, duration_ms=310.0 + 173 * index)
    return trial(
        replace(judged, spending=spending) if judged.spending.attempts else judged,
        missing if index == 0 else found,
        case_index=index,
        output=answer,
        rendered_input=question,
        spending=spent(0.0011, duration_ms=820.0 + 90 * index),
    )
