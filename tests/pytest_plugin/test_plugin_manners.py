"""How the plugin behaves where nobody needs it, and its small parts."""

from __future__ import annotations

import asyncio
import pickle
import threading

import pytest

from jurat.errors import AuthoringError, ErrorCategory, RequestError, StoreError
from jurat.pytest_plugin.items import item_name, marker_name
from jurat.pytest_plugin.loopthread import LoopThread
from jurat.pytest_plugin.options import matches
from jurat.pytest_plugin.raised import EvaluationFailed, Undecided, category_of
from jurat.pytest_plugin.summary import Summary
from plugged import Project

pytest_plugins = ("pytester",)

LOADED = """
import sys

def pytest_sessionfinish(session):
    names = sorted(name for name in sys.modules if name.partition(".")[0] in ("jurat", "aiohttp", "sqlalchemy", "re2"))
    print("\\nloaded:", *names)
"""


def test_a_project_without_evaluations_does_not_notice_it(project: Project) -> None:
    project.write("conftest.py", LOADED)
    project.write("test_plain.py", "def test_it(): pass\n")
    project.write("jurat.toml", "this is no configuration")

    done = project.pytester.runpytest_subprocess("-p", "no:cacheprovider", "-s")

    done.assert_outcomes(passed=1)
    (loaded,) = [line for line in done.outlines if line.startswith("loaded:")]
    light = {"jurat", "jurat._lazy", "jurat._version", "jurat.credentials", "jurat.errors", "jurat.pytest_plugin"}
    names = ("entry", "options", "raised", "reporting", "session", "summary")
    parts = {f"jurat.pytest_plugin.{name}" for name in names}
    assert set(loaded.split()[1:]) == light | parts
    assert "= jurat =" not in done.stdout.str()
    assert not (project.folder / ".jurat").exists()


def test_pytest_does_not_rewrite_the_plugin_nor_warns_that_it_cannot() -> None:
    import jurat.pytest_plugin

    # It is imported before pytest could rewrite it: by its entry point, with the package around that.
    assert "PYTEST_DONT_REWRITE" in (jurat.pytest_plugin.__doc__ or "")


def test_it_can_be_left_out(project: Project) -> None:
    project.suite()

    done = project.pytester.runpytest_subprocess("-p", "no:jurat", "--collect-only")

    assert done.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_it_can_be_named_as_well(project: Project) -> None:
    project.suite()
    project.write("conftest.py", 'pytest_plugins = ["jurat.pytest_plugin"]\n')

    project.run().assert_outcomes(passed=1, failed=1, errors=2)
    project.run("-p", "jurat.pytest_plugin").assert_outcomes(passed=1, failed=1, errors=2)


def test_its_marker_and_its_options_are_listed(project: Project) -> None:
    project.run("--markers").stdout.fnmatch_lines(["@pytest.mark.jurat: asks evaluators, or is a case of a suite"])

    told = project.run("--help").stdout.str()
    for name in ("provider", "samples", "replay", "record", "store", "show-output", "collect"):
        assert f"--jurat-{name}" in told


def test_nothing_is_asked_while_tests_are_only_collected(project: Project) -> None:
    project.suite()

    done = project.run("--collect-only", "-q")

    done.stdout.fnmatch_lines(["evals/capitals.jurat.yaml::france", "evals/capitals.jurat.yaml::peru"])
    assert project.calls() == 0
    assert not (project.folder / ".jurat").exists()


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.jurat.yaml", ["a.jurat.yaml", "x/y/a.jurat.yaml"], ["a.yaml", "jurat.yaml", "a.jurat.yaml.bak"]),
        ("evals/*.yaml", ["evals/a.yaml"], ["a.yaml", "evals/x/a.yaml", "x/evals/a.yaml", "evals/a.yml"]),
        ("evals/**/*.yaml", ["evals/a.yaml", "evals/x/y/a.yaml"], ["a.yaml", "x/evals/a.yaml"]),
        ("./evals/q?.json", ["evals/q1.json"], ["evals/q12.json", "evals/q/.json"]),
        ("a+b/c[1].yaml", ["a+b/c[1].yaml"], ["aab/c1.yaml"]),
    ],
)
def test_a_pattern_means_what_it_says(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [path for path in (*yes, *no) if matches(path, pattern)] == yes


@pytest.mark.parametrize(
    ("label", "marker"),
    [
        ("smoke", "smoke"),
        ("high priority (new): yes", "high_priority__new___yes"),
        ("_private", "private"),
        ("naïve-ü", "naïve-ü"),
        ("xfail", "label_xfail"),
        ("???", ""),
    ],
)
def test_a_label_becomes_a_marker_that_does_nothing(label: str, marker: str) -> None:
    assert marker_name(label) == marker


def test_a_cases_name_stays_on_one_line_and_in_one_part() -> None:
    assert item_name("plain name [1] ✓") == "plain name [1] ✓"
    assert item_name("a::b\n\tc\x1b[1m") == "a\\x3a\\x3ab\\n\\tc\\x1b[1m"


def test_the_summary_never_takes_an_unknown_cost_for_none() -> None:
    summary = Summary([])
    summary.add({"counts": {"pass": 1}, "errors": {}, "subject_usd": [0.0, 1], "judge_usd": [0.25, 2]})
    summary.add({"counts": {"fail": 2}, "errors": {}, "subject_usd": [0.0, 0], "judge_usd": [0.5, 0]})

    assert summary.lines([]) == [
        "evaluated  1 passed, 2 failed",
        "cost       subject unknown, judges at least $0.7500 (2 unknown)",
    ]


def test_the_summary_tells_a_run_by_its_id_and_many_by_their_number() -> None:
    summary = Summary([])
    for run in ("r1", "r2", "r5"):
        summary.add({"counts": {"pass": 1}, "errors": {}, "run": run, "suite": "many"})
    summary.add({"counts": {"pass": 1}, "errors": {}, "run": "r3", "suite": "one", "gate": "passed: all"})

    told = summary.lines([("never told", "r4", "interrupted: jurat resume r4")])

    assert told[2:] == [
        "runs       many: 3 (jurat runs)",
        "run        one: r3, passed: all",
        "run        never told: r4, interrupted: jurat resume r4",
    ]


def test_a_summary_of_nothing_is_nothing() -> None:
    assert Summary(["judge"]).lines([]) == []


def test_every_error_has_a_word_to_be_counted_under() -> None:
    assert category_of(Undecided("x", "unverified")) == "unverified"
    assert category_of(RequestError(ErrorCategory.TIMEOUT, "x")) == "timeout"
    assert category_of(AuthoringError("x", [])) == "authoring"
    assert category_of(StoreError("x")) == "store"


def test_what_is_raised_travels_between_processes() -> None:
    again = pickle.loads(pickle.dumps(Undecided("no verdict", "timeout")))  # noqa: S301  # it is our own

    assert (str(again), again.category) == ("no verdict", "timeout")
    assert isinstance(EvaluationFailed("x"), AssertionError)
    assert not isinstance(again, AssertionError)


def test_what_is_interrupted_comes_to_its_end_before_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, ended, begun = LoopThread(), threading.Event(), threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    def interrupted(_: object) -> None:
        assert begun.wait(10)
        raise KeyboardInterrupt

    job = loop.start(work())
    monkeypatch.setattr("jurat.pytest_plugin.loopthread.wait_for", interrupted)
    with pytest.raises(KeyboardInterrupt):
        job.result()

    assert ended.is_set()
    loop.close()


def test_work_that_was_cancelled_before_it_began_is_over() -> None:
    loop, held, free = LoopThread(), threading.Event(), threading.Event()

    async def hold() -> None:
        held.set()
        free.wait(10)

    async def never() -> None:
        raise AssertionError

    loop.start(hold())
    assert held.wait(10)
    job = loop.start(never())
    job.cancel()
    free.set()

    assert job.settled(10)
    loop.close()
