"""Why attempts failed stands in the record, and all of them add up to what the server counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, Server, answer, serving_elsewhere

import jurat
from suitefolder import Folder

VERDICT = {"evidence": [], "reason": "It says so.", "score": 95}


def chat(text: str) -> Answer:
    """A reply of a chat model."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    return answer({"object": "chat.completion", "model": "m-1", "choices": [choice], "usage": usage})


BUSY = answer({"error": {"message": "slow down"}}, 429, retry_after_ms="0")
OVERLOADED = answer({"error": {"type": "overloaded_error"}}, 529, retry_after_ms="0")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


def suite(folder: Folder, server: Server, cases: int, **more: Any) -> None:
    row = {"kind": "openai_compatible", "base_url": server.url, "model": "m", "max_attempts": 3, **more}
    written: dict[str, Any] = {
        "schema_version": 1,
        "suite": "capitals",
        "providers": [{**row, "name": "answerer"}, {**row, "name": "judge"}],
        "prompt": "Capital of {{country}}?",
        "subject": "answerer",
        "limits": {"concurrency": 1},
        "assertions": [{"type": "rubric_judge", "template": "correctness", "provider": "judge"}],
        "cases": [{"name": f"c{number}", "variables": {"country": f"land {number}"}} for number in range(cases)],
    }
    folder.write("suite.json", json.dumps(written))


def attempts_of(run: jurat.Run) -> int:
    made: int = sum(run.summary["attempts"][side]["made"] for side in ("subject", "judge"))
    return made


def test_result_maps_say_why_attempts_failed_and_the_sum_is_the_servers_own(folder: Folder) -> None:
    verdict = chat(json.dumps(VERDICT))
    with serving_elsewhere(BUSY, chat("Paris"), Answer(reset=True), OVERLOADED, verdict) as server:
        suite(folder, server, 1)
        run = jurat.run_suite("suite.json")
        asked = len(server.requests)

    trial = run.cases()[0]["trials"][0]
    assert trial["subject"]["execution"]["failed_attempts"] == {"rate_limited": 1}
    evaluator = trial["assessments"][0]["result"]["evaluator"]
    assert evaluator["failed_attempts"] == {"network_error": 1, "overloaded": 1}
    assert evaluator["attempts"] == 3
    assert run.summary["attempts"]["judge"]["failed"] == {"network_error": 1, "overloaded": 1}
    assert run.summary["attempts"]["subject"]["failed"] == {"rate_limited": 1}
    assert attempts_of(run) == asked == 5


def test_attempts_of_a_verdict_that_never_came_are_counted_too(folder: Folder) -> None:
    with serving_elsewhere(chat("Paris"), OVERLOADED) as server:
        suite(folder, server, 1)
        run = jurat.run_suite("suite.json")
        asked = len(server.requests)

    judged = run.cases()[0]["trials"][0]["assessments"][0]["result"]["evaluator"]
    assert judged["error"]["type"] == "overloaded"
    assert judged["failed_attempts"] == {"overloaded": 3}
    assert attempts_of(run) == asked == 4
    assert run.summary["attempts"]["judge"]["retried"] == 1


def test_attempts_of_an_answer_that_never_came_are_counted_too(folder: Folder) -> None:
    with serving_elsewhere(BUSY) as server:
        suite(folder, server, 1)
        run = jurat.run_suite("suite.json")
        asked = len(server.requests)

    subject = run.cases()[0]["trials"][0]["subject"]
    assert subject["execution"]["failed_attempts"] == {"rate_limited": 3}
    assert attempts_of(run) == asked == 3


def test_one_request_that_failed_for_good_was_not_retried(folder: Folder) -> None:
    with serving_elsewhere(chat("Paris"), answer({"error": {"message": "no"}}, 400)) as server:
        suite(folder, server, 1)
        run = jurat.run_suite("suite.json")

    assert run.summary["attempts"]["judge"] == {
        "asked": 1,
        "made": 1,
        "retried": 0,
        "failed": {"invalid_request": 1},
        "cached": 0,
    }


def test_a_run_whose_key_is_refused_asks_three_times_and_every_trial_says_why(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-fake-00000000000000000000")
    with serving_elsewhere(answer({"error": {"message": "no"}}, 401)) as server:
        suite(folder, server, 30, api_key_env="SOME_KEY", concurrency=16)
        run = jurat.run_suite("suite.json", concurrency=16)
        asked = len(server.requests)

    assert asked == attempts_of(run) == 3
    errors = [case["trials"][0]["subject"]["error"] for case in run.cases()]
    assert {error["type"] for error in errors} == {"auth_error"}
    assert all("SOME_KEY" in error["message"] for error in errors)
