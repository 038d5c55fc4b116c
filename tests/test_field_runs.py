"""Faults of runs that comparable tools had in the field, each in a sentence: they must stay impossible here.

Here a whole run is looked at from outside, by its exit code and its figures; the parts have their own tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import jurat
from jurat.errors import AuthoringError
from suitefolder import Folder

GOOD = {"json": {"evidence": [], "reason": "Good.", "score": 1}}
SCALE = {
    "name": "own",
    "revision": "v1",
    "definition": "Is it right?",
    "criteria": [{"id": "right", "description": "It is right.", "min": 0, "max": 1}],
}
JUDGED = {"type": "rubric_judge", "rubric": SCALE, "provider": "judge"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


def scripted(name: str, *replies: Any) -> dict[str, Any]:
    return {"name": name, "kind": "scripted", "call_log": "calls.txt", "replies": list(replies)}


def cases(number: int, **fields: Any) -> list[dict[str, Any]]:
    return [{"name": f"c{index}", "variables": {"n": index}, **fields} for index in range(number)]


def written(folder: Folder, **suite: Any) -> str:
    return folder.write("own.json", json.dumps({"suite": "own", **suite})).name


# --- sums ----------------------------------------------------------------------------------------------------------


def test_two_hundred_equal_scores_at_fifty_calls_at_once_have_themselves_as_their_mean(folder: Folder) -> None:
    recorded = [{"name": f"c{index}", "output": f"answer {index}"} for index in range(200)]
    judge = scripted("judge", *[GOOD] * 200)

    run = jurat.run_suite(written(folder, providers=[judge], assertions=[JUDGED], cases=recorded), concurrency=50)

    (found,) = run.summary["assertions"]
    assert (found["score"]["n"], found["score"]["mean"], found["counts"]["pass"]) == (200, 1.0, 200)
    scores = [case["trials"][0]["assessments"][0]["result"]["score"] for case in run.cases()]
    assert (len(scores), sum(scores)) == (200, 200.0)


# --- who is to blame -----------------------------------------------------------------------------------------------


def test_what_a_broken_subject_raises_is_never_judged_as_its_answer(folder: Folder) -> None:
    folder.write("broken_app.py", "def answer(task):\n    raise RuntimeError('connection refused')\n")
    checks = [{"type": "not_contains", "value": "price"}, JUDGED]
    suite = written(
        folder,
        providers=[scripted("judge", GOOD)],
        subject={"python": "broken_app:answer"},
        prompt="Question {{n}}",
        assertions=checks,
        cases=cases(1),
    )

    done = folder.jurat("run", suite, "--format", "json")

    (trial,) = done.json["cases"][0]["trials"]
    assert (done.code, trial["status"], trial["subject"]["error"]["type"]) == (3, "error", "evaluator_exception")
    assert [(one["result"]["status"], one["result"]["score"]) for one in trial["assessments"]] == [
        ("skipped", None)
    ] * 2
    assert not folder.calls
    assert "connection refused" not in done.out


@pytest.mark.parametrize(("allowed", "code"), [(0.2, 0), (0.1, 0), (0.05, 1)])
def test_one_timeout_in_ten_costs_its_own_case_and_the_policy_decides(
    folder: Folder, allowed: float, code: int
) -> None:
    answers = [
        {"match": "Question 3", "error": "timeout"},
        *[{"match": f"Question {n}", "text": "x"} for n in range(10)],
    ]
    suite = written(
        folder,
        providers=[scripted("app", *answers)],
        subject="app",
        prompt="Question {{n}}",
        assertions=[{"type": "contains", "value": "x"}],
        cases=cases(10),
        policy=[{"type": "error_rate", "maximum": allowed}],
    )

    done = folder.jurat("run", suite, "--format", "json")

    assert done.code == code
    assert [case["status"] for case in done.json["cases"]] == [*["pass"] * 3, "error", *["pass"] * 6]
    assert done.json["summary"]["errors"]["subject"] == {"timeout": 1}


def test_a_judge_whose_key_is_refused_every_time_leaves_errors_and_no_word_of_success(folder: Folder) -> None:
    refusing = scripted("judge", *[{"error": "auth_error"}] * 12)
    recorded = [{"name": f"c{index}", "output": f"answer {index}"} for index in range(12)]
    suite = written(folder, providers=[refusing], assertions=[JUDGED], cases=recorded)

    done = folder.jurat("run", suite, "--concurrency", "1", "--output", "report.json", "--format", "json")

    summary = json.loads((folder.path / "report.json").read_text("utf-8"))["summary"]
    assert (done.code, summary["cases"]["counts"]["error"]) == (3, 12)
    assert summary["errors"] == {"subject": {}, "evaluators": {"auth_error": 12}}
    assert (summary["assertions"][0]["score"]["n"], summary["assertions"][0]["score"]["mean"]) == (0, None)
    assert "PASS" not in done.out
    assert len(folder.calls) == 3


# --- what is shown -------------------------------------------------------------------------------------------------

BRACKETS = "failed at [/tmpdir/x] [bold]not bold[/] [red]"


def test_square_brackets_are_shown_as_they_are_by_every_command(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    said = {"evidence": [{"message_index": 0, "quote": BRACKETS}], "reason": f"It {BRACKETS}", "score": 0}
    suite = written(
        folder,
        suite=BRACKETS,
        providers=[scripted("judge", {"json": said})],
        assertions=[{**JUDGED, "name": f"a {BRACKETS}"}],
        cases=[{"name": f"c {BRACKETS}", "output": BRACKETS, "labels": [BRACKETS]}],
    )

    done = folder.jurat("run", suite)
    shown = folder.jurat("show", "--case", f"c {BRACKETS}")
    told = [done, folder.jurat("show"), shown, folder.jurat("runs"), folder.jurat("compare", "latest", "latest")]

    assert [one.code for one in told] == [1, 0, 0, 0, 0]
    assert [word for word in (BRACKETS, f"It {BRACKETS}", f"“{BRACKETS}”") if word not in done.out] == []
    assert [word for word in (f"case c {BRACKETS}", f"It {BRACKETS}", f"“{BRACKETS}”") if word not in shown.out] == []
    assert [one.out for one in told if BRACKETS not in one.out] == []
    other = f"x {BRACKETS}"
    for words in (("show", other), ("run", other), ("show", "--case", other), ("compare", other, "latest")):
        refused = folder.jurat(*words)
        assert (refused.code, other in refused.err) == (2, True)


# --- what is refused before anything is spent ----------------------------------------------------------------------


@pytest.mark.parametrize("bound", [0, -1, True, 1.5, "4"])
def test_a_bound_on_calls_that_is_none_is_refused_wherever_it_is_said(folder: Folder, bound: Any) -> None:
    recorded: dict[str, Any] = {"cases": [{"name": "a", "output": "x"}]}
    vendor = {"name": "v", "kind": "ollama", "model": "m", "concurrency": bound}

    assert folder.jurat("run", written(folder, limits={"concurrency": bound}, **recorded)).code == 2
    assert folder.jurat("run", written(folder, providers=[vendor], subject="v", prompt="x", cases=cases(1))).code == 2
    with pytest.raises(AuthoringError, match="concurrency"):
        jurat.run_suite(written(folder, **recorded), concurrency=bound)
    assert not (folder.path / ".jurat").exists()


def test_a_rubric_without_criteria_is_refused_before_the_first_call(folder: Folder) -> None:
    empty = {**JUDGED, "rubric": {**SCALE, "criteria": []}}
    suite = written(
        folder, providers=[scripted("judge", GOOD)], assertions=[empty], cases=[{"name": "a", "output": "fine"}]
    )

    done = folder.jurat("run", suite)

    assert (done.code, done.out) == (2, "")
    assert "assertions[0].rubric.criteria: expected 1 to 64 criteria, found 0" in done.err
    assert not folder.calls
    assert not (folder.path / ".jurat").exists()


def test_a_name_made_from_a_line_never_takes_the_place_of_a_declared_one(folder: Folder) -> None:
    folder.write("rows.csv", "output\nfirst\nsecond\n")
    suite = written(folder, cases_file="rows.csv", cases=[{"name": "rows-3", "output": "x"}])

    done = folder.jurat("run", suite)

    assert done.code == 2
    assert "rows.csv:3: name: expected a name of its own, found the name of the case at own.json:1" in done.err


# --- going on ------------------------------------------------------------------------------------------------------

STOPPED = """\
import asyncio, os, signal
from pathlib import Path


async def answer(task):
    number = task["variables"]["n"]
    with open("asked.txt", "a") as log:
        log.write(f"{number}\\n")
    if number == 1:
        raise RuntimeError("no answer")
    if number == 3 and not Path("mended").exists():
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()
    return "x"
"""


def test_a_resumed_run_makes_what_is_missing_and_not_even_its_errors_again(folder: Folder) -> None:
    folder.write("stopped_app.py", STOPPED)
    suite = written(
        folder,
        subject={"python": "stopped_app:answer"},
        prompt="Question {{n}}",
        assertions=[{"type": "contains", "value": "x"}],
        cases=cases(10),
    )

    stopped = folder.run("run", suite, "--concurrency", "1")
    folder.write("mended", "")
    resumed = folder.jurat("resume", "latest", "--format", "json", "--fail-on", "never")

    assert (stopped.code, resumed.code) == (130, 0)
    assert stopped.err.startswith("interrupted; 3 of 10 trials are kept: jurat resume ")
    assert (folder.path / "asked.txt").read_text().split() == [*"0123", *"3456789"]
    assert [case["status"] for case in resumed.json["cases"]] == ["pass", "error", *["pass"] * 8]
    assert resumed.json["summary"]["trials"]["total"] == 10


# --- what is paid for once -----------------------------------------------------------------------------------------


def test_a_reply_out_of_the_cache_keeps_its_tokens_and_costs_nothing_again(folder: Folder) -> None:
    usage = {"input_tokens": 120, "output_tokens": 24}
    priced = {**scripted("judge", {**GOOD, "usage": usage}), "prices": {"input": 1, "output": 10}}
    suite = written(folder, providers=[priced], assertions=[JUDGED], cases=[{"name": "a", "output": "x"}])

    first, second = (jurat.run_suite(suite, cache="read") for _ in range(2))

    paid, again = (run.cases()[0]["trials"][0]["assessments"][0]["spending"] for run in (first, second))
    assert (paid["cost_usd"], paid["cached"], paid["attempts"]) == (pytest.approx(0.00036), False, 1)
    assert (again["cost_usd"], again["cached"], again["attempts"]) == (0.0, True, 0)
    assert [(one["input_tokens"], one["output_tokens"]) for one in (paid, again)] == [(120, 24)] * 2
    assert len(folder.calls) == 1


def test_a_run_tells_of_each_provider_where_its_prices_come_from(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_KEY", "none-of-them")
    vendor = {"kind": "openai", "base_url": "http://127.0.0.1:9/v1", "api_key_env": "OUR_KEY", "max_attempts": 1}
    providers = [
        scripted("free", GOOD),
        {**scripted("own", GOOD), "prices": {"input": 1, "output": 10}},
        {**vendor, "name": "known", "model": "gpt-4o"},
        {**vendor, "name": "unknown", "model": "brand-new-judge"},
    ]
    checks = [{**JUDGED, "name": row["name"], "provider": row["name"]} for row in providers]
    suite = written(folder, providers=providers, assertions=checks, cases=[{"name": "a", "output": "x"}])

    run = jurat.run_suite(suite)

    table = f"genai-prices {metadata.version('genai-prices')}"
    sources = {"free": "nothing is paid", "known": table, "own": "custom", "unknown": None}
    assert run.record.provenance["price_sources"] == sources


def test_a_verdict_that_was_cut_off_is_never_served_from_the_cache(folder: Folder) -> None:
    cut = {"text": '{"evidence": [], "reason": "It', "finish_reason": "length"}
    suite = written(
        folder, providers=[scripted("judge", cut, GOOD)], assertions=[JUDGED], cases=[{"name": "a", "output": "x"}]
    )

    done = [folder.jurat("run", suite, "--cache", "read") for _ in range(2)]

    assert [one.code for one in done] == [3, 3]
    assert len(folder.calls) == 2
