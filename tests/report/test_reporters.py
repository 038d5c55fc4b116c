"""Reporters by name: ours, those of other distributions, and what is told of those that are none."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import pytest
from told_runs import feed, mixed, support, told_by

from jurat.errors import AuthoringError, Fault, ReporterFault
from jurat.report.record import CaseRecord, TrialRecord
from jurat.report.reporters import (
    REPORTERS,
    Reporter,
    ReportOptions,
    Sink,
    Told,
    installed_reporters,
    make_reporter,
)
from run_records import case, check, run, tallied, trial, verdict


class NamesReporter:
    """A reporter of another distribution: the names of the cases."""

    def __init__(self, sink: Sink, options: ReportOptions) -> None:
        self.sink = sink
        del options

    def begin(self, run: Any, summary: Mapping[str, Any], gate: Mapping[str, Any] | None) -> None:
        self.sink.write(
            f"{run.suite} {summary['cases']['total']} {None if gate is None else gate['outcome']}\n".encode()
        )

    def case(self, told: Told) -> None:
        self.sink.write(f"{told.case.name} {told.word}\n".encode())

    def end(self) -> None:
        self.sink.write(b"end\n")

    def close(self) -> None:
        self.sink.write(b"close\n")


def no_reporter(sink: Sink, options: ReportOptions) -> object:
    del sink, options
    return "a text"


def broken(sink: Sink, options: ReportOptions) -> Reporter:
    raise RuntimeError("SECRET")


class Failing(NamesReporter):
    """One that raises at its first case: an error of its own, or the end of the program."""

    raised: type[BaseException] = ValueError

    def case(self, told: Told) -> None:
        raise self.raised("SECRET")


class Leaving(Failing):
    raised = SystemExit


class Stopping(Failing):
    raised = KeyboardInterrupt


class Unwritable(Failing):
    raised = BrokenPipeError


def refusing(sink: Sink, options: ReportOptions) -> Reporter:
    raise AuthoringError("names", [Fault(path="names", expected="a licence", found="none")])


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = EntryPoints(
        EntryPoint(name=name, value=f"test_reporters:{value}", group="jurat.reporters")
        for name, value in (
            ("names", "NamesReporter"),
            ("none", "no_reporter"),
            ("broken", "broken"),
            ("refusing", "refusing"),
            ("twice", "broken"),
            ("twice", "NamesReporter"),
            ("html", "NamesReporter"),
        )
    )
    monkeypatch.setattr("importlib.metadata.entry_points", found.select)


@pytest.mark.usefixtures("installed")
def test_a_reporter_of_another_distribution_is_found_by_its_name() -> None:
    text = told_by("names", (run(cases=2), [(case(), [trial(check())]), (case(1), [])]))

    assert text == "capital-cities 2 undecided\ncase-0 pass\ncase-1 unfinished\nend\nclose\n"
    assert installed_reporters() == ("broken", "names", "none", "refusing", "twice")


@pytest.mark.usefixtures("installed")
def test_ours_cannot_be_replaced() -> None:
    assert told_by("html", mixed()).startswith("<!doctype html>")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("name", "--report: expected one of json, report, junit, github, markdown, sarif, html, broken, names"),
        ("name", "found 'name'. Did you mean names?"),
        ("none", "expected test_reporters:no_reporter to make a reporter (begin, case, end, close), found text"),
        ("broken", "expected test_reporters:broken to load and to make a reporter, found it raised RuntimeError"),
        ("refusing", "names: expected a licence, found none"),
        ("twice", "found test_reporters:NamesReporter and test_reporters:broken. Uninstall all but one of them"),
    ],
)
def test_what_makes_no_reporter_is_told(name: str, said: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        make_reporter(name, io.BytesIO(), ReportOptions(), "--report")

    assert said in str(caught.value)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("name", REPORTERS)
def test_two_reports_of_one_record_are_equal_byte_for_byte(name: str) -> None:
    assert told_by(name, mixed(), include_output=True) == told_by(name, mixed(), include_output=True)


@pytest.mark.parametrize("name", REPORTERS)
def test_a_report_of_no_run_is_written_too(name: str) -> None:
    sink = io.BytesIO()
    make_reporter(name, sink, ReportOptions(runs=0)).close()
    text = sink.getvalue().decode()

    assert text == "" or text.endswith("\n")


def test_json_of_several_runs_is_an_array() -> None:
    sink = io.BytesIO()
    reporter = make_reporter("json", sink, ReportOptions(runs=2))
    feed(reporter, *mixed())
    feed(reporter, *support())
    reporter.close()

    assert [one["run"]["suite"] for one in json.loads(sink.getvalue())] == ["capital-cities", "support-assistant"]


class Nowhere:
    """A sink in which everything is lost."""

    def write(self, data: bytes) -> None:
        del data


@pytest.mark.parametrize("name", REPORTERS)
def test_no_reporter_takes_more_room_for_more_cases(name: str) -> None:
    summary = tallied(run(), [(case(), [trial(verdict(5))])]).summary()

    def rows(number: int) -> Iterator[tuple[CaseRecord, list[TrialRecord]]]:
        return (
            (case(index), [trial(verdict(index % 101, quotes=["q"]), check(), case_index=index)])
            for index in range(number)
        )

    def peak(number: int) -> int:
        tracemalloc.start()
        reporter = make_reporter(name, Nowhere(), ReportOptions())
        reporter.begin(run(cases=number), summary, None)
        for place, trials in rows(number):
            reporter.case(Told(case=place, trials=trials, outcome=trials[0].status))
        reporter.end()
        reporter.close()
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    peak(20)

    assert peak(1_000) < peak(100) + 60_000


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    found = EntryPoints(
        EntryPoint(name=kind.lower(), value=f"test_reporters:{kind}", group="jurat.reporters")
        for kind in ("Failing", "Leaving", "Stopping", "Unwritable")
    )
    monkeypatch.setattr("importlib.metadata.entry_points", found.select)


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize(("name", "raised"), [("failing", "ValueError"), ("leaving", "SystemExit")])
def test_what_an_installed_reporter_raises_is_a_fault_of_that_reporter(name: str, raised: str) -> None:
    reporter = make_reporter(name, io.BytesIO(), ReportOptions())

    with pytest.raises(ReporterFault) as caught:
        feed(reporter, *mixed())

    kind = name.capitalize()
    assert str(caught.value) == (
        f"report {name} (test_reporters:{kind}): the reporter raised {raised}; its report is not written"
    )


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize(("name", "raised"), [("stopping", KeyboardInterrupt), ("unwritable", BrokenPipeError)])
def test_an_interruption_and_a_full_disk_are_what_they_are(name: str, raised: type[BaseException]) -> None:
    with pytest.raises(raised):
        feed(make_reporter(name, io.BytesIO(), ReportOptions()), *mixed())
