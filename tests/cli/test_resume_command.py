"""`jurat resume` and `jurat rescore`: what is there is not made again, and what has changed is told.

Signals are sent by the subject itself, in its third answer, so that every story is the same each time it is told.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jurat.report.run_report import comparable
from jurat.store import Store
from jurat.suitefiles import load_suite
from jurat.suiterun import RunOptions, begin, prepare
from suitefolder import CAPITALS, Done, Folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


BREAKS = """\
import asyncio, os, signal

ANSWERS = {"France": "Paris.", "Spain": "Lisbon.", "Italy": "Paris?", "Peru": "I do not know."}

async def answer(task):
    country = task["variables"]["country"]
    with open("asked.txt", "a") as log:
        log.write(country + "\\n")
    if country == "Italy" and not os.path.exists("mended"):
        os.kill(os.getpid(), signal.SIGNAL)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            AFTERWARDS
    return ANSWERS[country]
"""


def broken_off(folder: Folder, signal: str, afterwards: str = "raise") -> Done:
    """A run that a signal ends in its third case; from then on nothing stands in its way."""
    folder.write("breaks.py", BREAKS.replace("signal.SIGNAL", f"signal.{signal}").replace("AFTERWARDS", afterwards))
    folder.write("suite.yaml", CAPITALS.replace("subject: answerer", 'subject: {python: "breaks:answer"}'))
    done = folder.run("run", "suite.yaml", "--concurrency", "1")
    folder.write("mended", "")
    return done


def asked(folder: Folder) -> list[str]:
    return (folder.path / "asked.txt").read_text().split()


def only_run(folder: Folder) -> dict[str, Any]:
    (run,) = folder.jurat("runs", "--format", "json").json
    return dict(run)


# --- stopping ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signal", ["SIGINT", "SIGTERM"])
def test_an_interruption_is_told_in_one_line_that_says_how_to_go_on(folder: Folder, signal: str) -> None:
    done = broken_off(folder, signal)

    run = only_run(folder)
    assert (done.code, done.out, run["status"]) == (130, "", "interrupted")
    told = rf"interrupted; \d of 4 trials are kept: jurat resume {run['id']} goes on from there\n"
    assert re.fullmatch(told, done.err)


def test_a_second_interruption_ends_a_program_that_does_not_heed_the_first(folder: Folder) -> None:
    again = "os.kill(os.getpid(), signal.SIGINT); await asyncio.Event().wait()"

    done = broken_off(folder, "SIGINT", afterwards=again)

    run = only_run(folder)
    assert (done.code, done.out, run["status"]) == (130, "", "interrupted")
    assert re.fullmatch(rf"interrupted; .*: jurat resume {run['id']} goes on from there\n", done.err)


@pytest.mark.parametrize("signal", ["SIGINT", "SIGKILL"])
def test_a_resumed_run_leaves_the_record_of_an_undisturbed_one_and_asks_nothing_twice(
    folder: Folder, signal: str
) -> None:
    broken_off(folder, signal)
    assert only_run(folder)["status"] == "interrupted"
    before = asked(folder)
    judged = len(folder.calls)

    resumed = folder.jurat("resume", "latest", "--format", "json")

    assert resumed.code == 1
    assert sorted(asked(folder)) == sorted([*before, "Italy", *({"Peru"} - set(before))])
    undisturbed = folder.jurat("run", "suite.yaml", "--concurrency", "1", "--format", "json")
    assert comparable(resumed.json) == comparable(undisturbed.json)
    assert len(folder.calls) - judged <= 8
    assert len(set(folder.calls[:-4])) == len(folder.calls) - 4  # no verdict was asked for twice in the first run


def test_a_run_is_resumed_from_its_own_snapshot_whatever_became_of_the_suite_file(folder: Folder) -> None:
    broken_off(folder, "SIGKILL")
    (folder.path / "suite.yaml").unlink()

    report = folder.jurat("resume", "latest", "--format", "json").json

    assert [case["name"] for case in report["cases"]] == ["france", "spain", "italy", "peru"]
    assert [case["line"] for case in report["cases"]] == [25, 30, 31, 32]


# --- what has changed ----------------------------------------------------------------------------------------------


def test_a_subject_that_has_changed_is_another_one(folder: Folder) -> None:
    broken_off(folder, "SIGKILL")
    with (folder.path / "breaks.py").open("a") as file:
        file.write("# another version\n")

    done = folder.run("resume", "latest")

    assert done.code == 2
    assert "subject: expected the subject that the run was begun with, found another one" in done.err
    assert only_run(folder)["status"] == "interrupted"


RUBRIC = """\
name: own
revision: v1
definition: It is right.
criteria:
  - {id: right, description: It is right., min: 0, max: 100}
"""


def begun(folder: Folder) -> str:
    """A run that has not made a single call yet, and whose process is gone; its id."""

    async def begin_it() -> str:
        prepared = prepare(load_suite(Path("suite.yaml")), RunOptions())
        store = await Store.open(Path(".jurat/jurat.db"))
        try:
            return (await begin(prepared, store)).id
        finally:
            await store.aclose()
            await prepared.aclose()

    return asyncio.run(begin_it())


def test_a_rubric_file_that_has_changed_is_refused_and_accepted_again_as_it_was(folder: Folder) -> None:
    folder.write("own.yaml", RUBRIC)
    folder.write("suite.yaml", CAPITALS.replace("template: correctness", "template: own.yaml"))
    run = begun(folder)
    folder.write("own.yaml", RUBRIC.replace("definition: It is right.", "definition: It is clear."))

    done = folder.jurat("resume", run)

    assert done.code == 2
    assert "rubric: expected the rubric own that the run was begun with, found another one" in done.err
    assert not folder.calls
    folder.write("own.yaml", RUBRIC)
    assert folder.jurat("resume", run).code == 1


def test_a_row_of_the_configuration_that_has_changed_is_refused(folder: Folder) -> None:
    folder.write("suite.yaml", CAPITALS.replace("provider: judge", "provider: house"))
    row = '[[providers]]\nname = "house"\nkind = "openai_compatible"\nbase_url = "http://127.0.0.1:9/"\nmodel = "a"\n'
    folder.write("jurat.toml", row)
    run = begun(folder)
    folder.write("jurat.toml", row.replace('model = "a"', 'model = "b"'))

    done = folder.jurat("resume", run)

    assert done.code == 2
    assert "provider: expected the provider house that the run was begun with, found another one" in done.err


# --- which run -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [("resume", "x"), ("show", "x"), ("export", "x"), ("rescore", "x", "--suite")])
def test_reading_a_store_that_is_not_there_makes_none(folder: Folder, command: tuple[str, ...]) -> None:
    words = (*command, "suite.yaml") if command[0] == "rescore" else command

    done = folder.jurat(*words)

    assert done.code == 2
    assert "expected a store that holds runs, found no file" in done.err
    assert not (folder.path / ".jurat").exists()
    assert folder.jurat("runs").out == "no runs\n"
    assert not (folder.path / ".jurat").exists()


def test_a_run_is_named_by_a_beginning_that_no_other_has(folder: Folder) -> None:
    run = begun(folder)

    assert folder.jurat("resume", run[:-1]).code == 1
    assert folder.jurat("show", run[:8]).code == 0
    done = folder.jurat("resume", "2000")
    assert done.code == 2
    assert "expected a run '2000'" in done.err


def test_a_run_that_is_complete_is_told_as_it_is_and_nothing_is_asked(folder: Folder) -> None:
    first = folder.jurat("run", "suite.yaml")
    calls = len(folder.calls)

    again = folder.jurat("resume", "latest")

    assert (again.code, again.out) == (first.code, first.out)
    assert len(folder.calls) == calls


def test_a_run_that_a_live_process_is_at_work_on_is_left_to_it(folder: Folder) -> None:
    async def at_work() -> tuple[str, Done]:
        prepared = prepare(load_suite(Path("suite.yaml")), RunOptions())
        store = await Store.open(Path(".jurat/jurat.db"))
        try:
            record = await begin(prepared, store)
            return record.id, await asyncio.to_thread(folder.run, "resume", record.id)
        finally:
            await store.aclose()
            await prepared.aclose()

    run, done = asyncio.run(at_work())

    assert done.code == 4
    assert f"run {run}: process {os.getpid()} on" in done.err
    assert "is at work on it" in done.err
    assert not folder.calls


def test_what_came_to_an_error_is_made_anew_on_demand_and_nothing_else(folder: Folder) -> None:
    folder.jurat("run", "suite.yaml")
    calls = len(folder.calls)
    folder.write("suite.yaml", "")  # which is not looked at

    report = folder.jurat("resume", "latest", "--retry-errors", "--format", "json").json

    # Italy's answer, and Peru's answer is known, so the verdict on it alone.
    assert len(folder.calls) == calls + 2
    assert [len(case["trials"]) for case in report["cases"]] == [1, 1, 1, 1]
    assert len(folder.jurat("runs", "--format", "json").json) == 1


# --- rescore -------------------------------------------------------------------------------------------------------


def test_answers_are_judged_anew_and_the_subject_is_not_asked(folder: Folder) -> None:
    folder.jurat("run", "suite.yaml", "--samples", "2", "--filter", "!peru")
    calls = len(folder.calls)
    first = only_run(folder)
    strict = "- {type: contains, value: Lisbon, required: true}"
    text = CAPITALS.replace("- {type: rubric_judge, template: correctness, provider: judge, threshold: 85}", strict)
    folder.write("other.yaml", text)

    done = folder.jurat("rescore", "latest", "--suite", "other.yaml", "--filter", "!peru", "--format", "json")

    assert len(folder.calls) == calls
    report = done.json
    assert report["run"]["parent"] == first["id"]
    assert report["run"]["samples"] == 2
    assert [case["status"] for case in report["cases"]] == ["fail", "pass", "error"]
    assert all(trial["subject"]["recorded"] for case in report["cases"] for trial in case["trials"])
    assert report["summary"]["cost_usd"]["subject"]["known"] == 0.0
    assert folder.jurat("export", first["id"]).json["cases"][0]["status"] == "pass"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("country: France}", "country: Freedonia}", "cases[0]: expected what case 'france' asked in run"),
        ('prompt: "What is', 'prompt: "Tell me what is', "prompt: expected the prompt of run"),
        ("name: france", "name: frence", "cases[0].name: expected a case of run"),
    ],
)
def test_answers_to_something_else_are_not_judged(folder: Folder, old: str, new: str, told: str) -> None:
    folder.jurat("run", "suite.yaml")
    calls = len(folder.calls)
    folder.write("other.yaml", CAPITALS.replace(old, new))

    done = folder.jurat("rescore", "latest", "--suite", "other.yaml")

    assert done.code == 2
    assert told in done.err
    assert "other.yaml:" in done.err
    assert len(folder.calls) == calls
    assert len(folder.jurat("runs", "--format", "json").json) == 1


def test_a_run_that_is_not_complete_has_no_answers_to_judge_yet(folder: Folder) -> None:
    run = begun(folder)

    done = folder.jurat("rescore", run, "--suite", "suite.yaml")

    assert done.code == 2
    assert f"Complete it first: jurat resume {run}" in done.err


def test_a_run_whose_budget_was_spent_goes_on_with_a_larger_one_and_pays_for_nothing_twice(folder: Folder) -> None:
    # Every call costs a dollar, so that two are made: France is answered and judged.
    priced = CAPITALS.replace("kind: scripted\n", "kind: scripted\n    prices: {input: 1, output: 0}\n")
    priced = re.sub(
        r"(text: \"[^\"]*\"|reason: \"[^\"]*\", score: \d+})",
        r"\1, usage: {input_tokens: 1000000, output_tokens: 0}",
        priced,
    )
    folder.write("suite.yaml", priced)
    first = folder.jurat("run", "suite.yaml", "--concurrency", "1", "--budget-usd", "2", "--format", "json")
    assert first.json["summary"]["cost_usd"]["total"] == {"known": 2.0, "unknown": 0}
    calls = len(folder.calls)

    same = folder.jurat("resume", "latest", "--retry-errors", "--format", "json")
    assert len(folder.calls) == calls
    assert same.json["summary"]["cost_usd"]["total"] == {"known": 2.0, "unknown": 0}

    more = folder.jurat("resume", "latest", "--retry-errors", "--budget-usd", "100", "--format", "json")
    assert "budget_exhausted" not in more.out
    assert len(folder.calls) - calls == 5
    assert [case["name"] for case in more.json["cases"]] == ["france", "spain", "italy", "peru"]


def test_a_bound_that_is_none_is_refused_by_resume_as_by_run(folder: Folder) -> None:
    folder.jurat("run", "suite.yaml")
    done = folder.jurat("resume", "latest", "--retry-errors", "--timeout", "0")
    assert done.code == 2
    assert "timeout_s: expected a number above 0" in done.err
