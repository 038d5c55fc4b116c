"""SARIF: of the standard's shape, at the line of the assertion, with the quote as message and no text that acts."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from golden_files import golden
from hypothesis import given
from hypothesis import strategies as st
from sarif_rules import SARIF
from told_runs import HOSTILE_RUN, RULES, mixed, run_of, support, told_by

from jurat.report.record import RunStatus
from jurat.report.reporters import sarif as module
from jurat.suite.case import Place
from jurat.vocabulary import Status
from run_records import Rows, case, check, run, trial, verdict

SCHEMA = jsonschema_rs.validator_for(SARIF, validate_formats=True)


def sarif(*runs: Any, **how: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(told_by("sarif", *runs, **how))
    assert [error.message for error in SCHEMA.iter_errors(made)] == []
    return made


def results(rows: Rows, **how: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sarif((run(cases=len(rows)), rows), **how)["runs"][0]["results"]
    return found


def test_the_mixed_run_is_told_as_it_was_judged_good() -> None:
    text = json.dumps(sarif(mixed(), rules=RULES), ensure_ascii=False, indent=1) + "\n"

    assert text == golden("mixed.sarif", text)


def test_several_runs_are_several_runs() -> None:
    assert len(sarif(mixed(), support())["runs"]) == 2


def test_the_message_leads_with_the_quote() -> None:
    (found,) = results([(case(), [trial(verdict(5, quotes=["It is Lisbon."], reason="Lisbon is in Portugal."))])])

    assert found["message"]["text"] == (
        "“It is Lisbon.” — case-0: rubric_judge (correctness) score 5 < threshold 80 — Lisbon is in Portugal."
    )
    assert (found["ruleId"], found["level"]) == ("rubric_judge/correctness@v1", "error")


def test_the_line_is_that_of_the_failing_assertion_or_else_of_the_case() -> None:
    rows = [(case(file="suites/a b.yaml", line=4), [trial(check(), check("other", Status.FAIL))])]

    (known,) = results(rows, places=[Place(file="x.yaml", line=9), Place(file="y.yaml", line=12)])
    (unknown,) = results(rows)

    assert known["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "y.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 12},
    }
    assert unknown["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "suites/a%20b.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 4},
    }


@pytest.mark.parametrize(
    ("file", "uri"), [("/srv/a.yaml", "file:///srv/a.yaml"), ("C:\\s\\a.yaml", "file:///C:/s/a.yaml")]
)
def test_absolute_files_are_file_addresses(file: str, uri: str) -> None:
    (found,) = results([(case(file=file, line=1), [trial(check(status=Status.FAIL))])])

    assert found["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": uri}


@pytest.mark.parametrize("undecided", [verdict(error="timeout"), check(status=Status.UNVERIFIED)])
def test_what_is_undecided_is_a_warning_that_says_so(undecided: Any) -> None:
    (found,) = results([(case(), [trial(undecided)])])

    assert found["level"] == "warning"
    assert "not decided" in found["message"]["text"]


def test_a_case_that_passed_has_no_result_whatever_single_trials_did() -> None:
    record = run(samples=3, reducer="any")
    trials = [
        trial(check(status=status), index=index) for index, status in enumerate((Status.FAIL, Status.PASS, Status.FAIL))
    ]

    assert sarif((record, [(case(), trials)]))["runs"][0]["results"] == []


def test_a_finding_keeps_its_fingerprint_when_its_line_moves() -> None:
    one, other = (
        results([(case(file="a.yaml", line=line), [trial(verdict(score))])])[0] for line, score in ((3, 5), (90, 7))
    )

    assert one["partialFingerprints"] == other["partialFingerprints"]


def test_links_and_placeholders_of_others_are_escaped() -> None:
    (found,) = results([(case(), [trial(verdict(5, reason="[x](javascript:alert(3)) {0} \\"))])])

    assert r"\[x\](javascript:alert(3)) {{0}} \\" in found["message"]["text"]


def test_json_in_a_reason_stays_as_it_is() -> None:
    (found,) = results([(case(), [trial(verdict(5, reason='{"a": [1, 2]}'))])])

    assert '{"a": [1, 2]}' in found["message"]["text"]


def test_an_interrupted_run_says_that_it_did_not_come_to_its_end() -> None:
    record = run(status=RunStatus.INTERRUPTED, finished_at=None)

    assert sarif((record, [(case(), [])]))["runs"][0]["invocations"] == [
        {"executionSuccessful": False, "startTimeUtc": "2026-11-30T12:00:00Z"}
    ]


def test_results_beyond_what_github_takes_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_RESULTS", 3)
    rows = [(case(index), [trial(verdict(5), case_index=index)]) for index in range(5)]
    (found,) = sarif((run(cases=5), rows))["runs"]

    assert len(found["results"]) == 3
    assert (
        found["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"] == "2 more results are not listed"
    )


def test_answers_are_no_part_of_it() -> None:
    rows = [(case(), [trial(check(status=Status.FAIL), output="SECRET")])]

    assert "SECRET" not in told_by("sarif", (run(), rows), include_output=True)


def test_hostile_text_is_text() -> None:
    sarif(HOSTILE_RUN)


@given(text=st.text(max_size=60))
def test_whatever_stands_in_a_run_the_document_is_of_the_shape(text: str) -> None:
    found = sarif(run_of(text))["runs"][0]

    rules = [rule["id"] for rule in found["tool"]["driver"]["rules"]]
    assert {result["ruleId"] for result in found["results"]} <= set(rules)
    assert len(rules) == len(set(rules))
