"""Annotations: one command a line, escaped by the runner's rules, within its limits, at the line of the case."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from golden_files import golden
from hypothesis import given
from hypothesis import strategies as st
from told_runs import HOSTILE_RUN, RULES, mixed, run_of, support, told_by

from jurat.errors import Fault
from jurat.report.record import RunStatus
from jurat.report.reporters.github import fault_commands
from jurat.suite.case import Place
from jurat.vocabulary import Status
from run_records import case, check, run, trial, verdict

_COMMAND = re.compile(r"::(error|warning|notice) ((?:[a-z]+=[^,:\n\r]*)(?:,[a-z]+=[^,:\n\r]*)*)::([^\n\r]*)")


def read(line: str) -> tuple[str, dict[str, str], str]:
    """A line as the runner reads it (actions/runner, `ActionCommand.cs`)."""
    found = _COMMAND.fullmatch(line)
    assert found is not None, line
    pairs = (pair.partition("=") for pair in found[2].split(","))
    return found[1], {name: _plain(value) for name, _, value in pairs}, _plain(found[3])


def _plain(text: str) -> str:
    for escape, sign in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, sign)
    return text


def test_the_mixed_run_is_told_as_it_was_judged_good() -> None:
    text = told_by("github", mixed(), rules=RULES)

    assert text == golden("mixed.github.txt", text)


def test_a_failure_is_an_error_and_what_is_undecided_a_warning() -> None:
    rows = [(case(), [trial(verdict(5))]), (case(1), [trial(verdict(error="timeout"))]), (case(2), [trial(check())])]
    kinds = [read(line)[0] for line in told_by("github", (run(cases=3), rows)).splitlines()]

    assert kinds == ["error", "warning", "error"]


def test_the_outcome_comes_last_in_a_sentence() -> None:
    passed, interrupted = (
        read(told_by("github", (record, [(case(), [trial(check())])])).splitlines()[-1])
        for record in (run(), run(status=RunStatus.INTERRUPTED, finished_at=None))
    )

    assert passed[0] == "notice"
    assert passed[2].startswith("the one case passed (run ")
    assert interrupted[0] == "warning"
    assert interrupted[2].startswith("the run is not completed (run ")


@pytest.mark.parametrize(
    ("assertion", "told"),
    [
        (Place(file="suite.yaml", line=9), ("suite.yaml", "9")),  # below the case: its own
        (Place(file="suite.yaml", line=2), ("suite.yaml", "4")),  # shared by all cases
        (Place(file="shared, all.yaml", line=12), ("suite.yaml", "4")),
        (Place(), ("suite.yaml", "4")),
    ],
)
def test_the_line_is_that_of_an_assertion_of_the_cases_own_or_else_of_the_case(
    assertion: Place, told: tuple[str, str]
) -> None:
    rows = [(case(file="suite.yaml", line=4), [trial(check(), check("other", Status.FAIL))])]

    found = read(told_by("github", (run(), rows), places=[Place(), assertion]).splitlines()[0])

    assert (found[1]["file"], found[1]["line"]) == told


def test_a_case_whose_place_nobody_knows_is_told_where_its_assertion_stands() -> None:
    rows = [(case(), [trial(check(status=Status.FAIL))])]

    found = read(told_by("github", (run(), rows), places=[Place(file="a,b.yaml", line=12)]).splitlines()[0])

    assert (found[1]["file"], found[1]["line"]) == ("a,b.yaml", "12")


def test_a_step_has_ten_of_a_kind_and_what_is_left_out_is_counted() -> None:
    rows = [(case(index), [trial(verdict(5), case_index=index)]) for index in range(40)]
    found = [read(line) for line in told_by("github", (run(cases=40), rows)).splitlines()]

    assert [kind for kind, _, _ in found] == ["error"] * 9 + ["notice", "error"]
    assert found[9][2].startswith("31 more cases did not pass")
    assert found[10][2].startswith("40 cases of 40 failed")


def test_the_limits_hold_for_all_runs_together() -> None:
    rows = [(case(index), [trial(verdict(5), case_index=index)]) for index in range(40)]
    kinds = [read(line)[0] for line in told_by("github", *[(run(cases=40), rows)] * 14).splitlines()]

    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"error": 10, "notice": 10}


def test_a_message_is_shorter_than_what_the_runner_cuts() -> None:
    long = verdict(5, reason="%\n" * 9_000, quotes=["quote " * 900] * 8)
    found = [read(line) for line in told_by("github", (run(), [(case(), [trial(*[long] * 9)])])).splitlines()]

    assert max(len(message) for _, _, message in found) <= 4_096


def test_answers_are_never_part_of_an_annotation() -> None:
    rows = [(case(), [trial(check(status=Status.FAIL), output="SECRET")])]

    assert "SECRET" not in told_by("github", (run(), rows), include_output=True)


def test_hostile_text_begins_no_command() -> None:
    for line in told_by("github", HOSTILE_RUN, support()).splitlines():
        read(line)


@given(text=st.text(max_size=60))
def test_whatever_stands_in_a_run_every_line_is_one_command(text: str) -> None:
    told = told_by("github", run_of(text))

    assert told.endswith("\n")
    assert [read(line)[0] for line in told[:-1].split("\n")] == ["error", "warning", "warning", "error"]


def test_faults_of_an_author_are_errors_at_their_lines_and_no_more_than_are_shown() -> None:
    first = Fault(path="a[1]", expected="x%", found="'::y\n'", file="s:1.yaml", line=1)
    faults = [first, *(replace(first, line=line) for line in range(2, 13))]
    found = [read(line) for line in fault_commands(faults)]

    assert found[0] == (
        "error",
        {"file": "s:1.yaml", "line": "1", "title": "wrong input"},
        "a[1]: expected x%, found '::y\n'",
    )
    assert len(found) == 10
    assert found[9] == ("error", {"title": "wrong input"}, "3 more faults: see the log")


def test_a_fault_that_stands_in_no_file_has_no_line() -> None:
    (line,) = fault_commands([Fault(path="--filter", expected="a case", found="none", line=3)])

    assert line == "::error title=wrong input::--filter: expected a case, found none"
