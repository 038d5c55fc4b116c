"""JUnit: a strict parser reads it, Jenkins counts it as it is, and nothing undecided looks passed."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest
from golden_files import golden
from hypothesis import given
from hypothesis import strategies as st
from junit_rules import breaks, parsed
from told_runs import HOSTILE, HOSTILE_RUN, RULES, mixed, run_of, support, told_by

from jurat.report.record import RunStatus
from jurat.report.reporters.foreign import shown
from jurat.vocabulary import Status
from run_records import case, check, run, skipped, trial, verdict


def junit(*assessments: Any, include_output: bool = False, **subject: Any) -> ET.Element:
    """The one test case of a run of one case."""
    text = told_by("junit", (run(), [(case(), [trial(*assessments, **subject)])]), include_output=include_output)
    assert breaks(text) == []
    found = parsed(text).find("testsuite/testcase")
    assert found is not None
    return found


def test_the_mixed_run_is_written_as_it_was_judged_good() -> None:
    text = told_by("junit", mixed(), rules=RULES)

    assert text == golden("mixed.junit.xml", text)
    assert breaks(text) == []


def test_several_runs_are_several_suites() -> None:
    text = told_by("junit", mixed(), support())

    assert [suite.attrib["name"] for suite in parsed(text)] == ["capital-cities", "support-assistant"]
    assert breaks(text) == []


@pytest.mark.parametrize(
    ("assessments", "element", "type_"),
    [
        ([check()], None, None),
        ([check(status=Status.FAIL)], "failure", "fail"),
        ([verdict(12)], "failure", "fail"),
        ([verdict(error="refusal")], "error", "refusal"),
        ([check(status=Status.UNVERIFIED)], "error", "unverified"),
        ([skipped()], "error", "unverified"),
        ([], "error", "unverified"),
        ([verdict(12), verdict(error="timeout")], "failure", "fail"),
    ],
)
def test_a_poor_answer_is_a_failure_and_whatever_is_undecided_is_an_error(
    assessments: list[Any], element: str | None, type_: str | None
) -> None:
    found = junit(*assessments)

    bad = [child for child in found if child.tag in ("failure", "error", "skipped")]
    assert [(child.tag, child.attrib["type"]) for child in bad] == ([(element, type_)] if element else [])


def test_a_subject_without_an_answer_is_an_error_with_its_category() -> None:
    found = junit(skipped(), error="timeout").find("error")

    assert found is not None
    assert found.attrib["type"] == "timeout"
    assert found.attrib["message"] == "subject no answer: timeout: the connection was refused"


def test_a_run_that_was_interrupted_does_not_look_passed_even_if_all_its_cases_passed() -> None:
    record = run(status=RunStatus.INTERRUPTED, finished_at=None, cases=2)
    text = told_by("junit", (record, [(case(), [trial(check())]), (case(1), [])]))

    errors = [error.attrib for error in parsed(text).iter("error")]
    assert [error["type"] for error in errors] == ["unfinished", "undecided"]
    assert errors[0]["message"] == "the run did not come to an end; no trial was made"
    assert breaks(text) == []


def test_a_run_without_cases_does_not_look_passed() -> None:
    text = told_by("junit", (run(cases=0), []))

    assert [error.attrib["message"] for error in parsed(text).iter("error")] == ["there was no case"]


def test_a_broken_rule_fails_even_where_every_case_passed() -> None:
    rows = [(case(), [trial(check())])]
    text = told_by("junit", (run(), rows), rules=[{"type": "total_cost_usd", "maximum": 0, "name": "cheap"}])

    found = parsed(text).find("testsuite")
    assert found is not None
    assert (found.attrib["tests"], found.attrib["failures"]) == ("2", "1")
    assert [one.attrib["name"] for one in found.findall("testcase")] == ["case-0", "1. cheap"]
    assert breaks(text) == []


def test_the_failure_tells_score_threshold_reason_and_quotes() -> None:
    found = junit(verdict(79.66, reason="It does not say when.", quotes=["soon"])).find("failure")

    assert found is not None
    assert found.attrib["message"] == "rubric_judge (correctness) score 79.66 < threshold 80: It does not say when."
    assert found.text == (
        "fail: rubric_judge (correctness) score 79.66 < threshold 80\n  It does not say when.\n  “soon” (evidence 1)"
    )


def test_answers_are_told_only_where_they_were_asked_for() -> None:
    kept, told = (junit(check(), output="SECRET", include_output=asked).find("system-out") for asked in (False, True))

    assert kept is not None
    assert told is not None
    assert "SECRET" not in (kept.text or "")
    assert (told.text or "").endswith("output:\nSECRET")


def test_what_xml_forbids_is_shown_as_an_escape_and_the_rest_stays() -> None:
    found = junit(verdict(5, reason="bad \x12 byte \x00 \x1b[31m \ufffe ]]> <b>& 👩‍👧 \u202e"))

    assert r"bad \x12 byte \x00 \x1b[31m \ufffe ]]> <b>& 👩‍👧 \u202e" in "".join(found.itertext())


def test_hostile_text_is_text() -> None:
    text = told_by("junit", HOSTILE_RUN, include_output=True)

    assert breaks(text) == []
    assert shown(HOSTILE) in "".join(parsed(text).itertext())


def test_the_name_of_a_rule_is_text_too() -> None:
    rules = [{"type": "total_cost_usd", "maximum": 0, "name": '<b>&\x12 "cheap" ]]>'}]
    text = told_by("junit", (run(), [(case(), [trial(check())])]), rules=rules)

    assert breaks(text) == []
    assert [one.attrib["name"] for one in parsed(text).iter("testcase")] == ["case-0", '1. <b>&\\x12 "cheap" ]]>']


@given(text=st.text(max_size=60))
def test_whatever_stands_in_a_run_the_file_is_well_formed_and_its_counts_agree(text: str) -> None:
    assert breaks(told_by("junit", run_of(text), include_output=True)) == []
