"""`jurat judge` against a server: a refused key costs a handful of calls, and a budget holds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, Server, answer, serving_elsewhere

from suitefolder import Folder

VERDICT = json.dumps({"evidence": [], "reason": "It says so.", "score": 95})
REFUSED = answer({"error": {"message": "Incorrect API key provided: sk-fake-00000000000000000000"}}, 401)


PRICES = "{input = 1.0, output = 10.0}"


def verdict() -> Answer:
    choice = {"index": 0, "message": {"role": "assistant", "content": VERDICT}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    return answer({"object": "chat.completion", "model": "m-1", "choices": [choice], "usage": usage})


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    """Sixty rows, and a key in the environment."""
    monkeypatch.setenv("SOME_KEY", "sk-fake-00000000000000000000")
    for folder in Folder.entered(tmp_path, monkeypatch):
        rows = [{"id": f"r{number}", "output": f"text {number}"} for number in range(60)]
        folder.write("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        yield folder


def jurat(desk: Folder, server: Server, *options: str, **row: str) -> tuple[int, str, str]:
    lines = [f"{name} = {text}" for name, text in row.items()]
    (desk.path / "jurat.toml").write_text(
        '[[providers]]\nname = "judge"\nkind = "openai_compatible"\nmodel = "m"\n'
        f'base_url = "{server.url}"\napi_key_env = "SOME_KEY"\nconcurrency = 64\n' + "\n".join(lines)
    )
    base = ["judge", "rows.jsonl", "--rubric-text", "It is clear.", "--provider", "judge", "--out", "out.jsonl"]
    done = desk.jurat(*base, *options)
    return done.code, done.out, done.err


@pytest.mark.parametrize("concurrency", ["1", "16", "64"])
def test_a_refused_key_costs_three_calls_ends_with_3_and_names_the_variable_once(
    desk: Folder, concurrency: str
) -> None:
    with serving_elsewhere(REFUSED) as server:
        code, out, err = jurat(desk, server, "--concurrency", concurrency)
        asked = len(server.requests)
    lines = [json.loads(line) for line in (desk.path / "out.jsonl").read_text().splitlines()]
    assert (code, asked, len(lines)) == (3, 3, 60)
    assert err.count("is asked no more") == 1
    assert "SOME_KEY" in err
    assert {line["evaluator"]["error"]["type"] for line in lines} == {"auth_error"}
    assert sum(line["evaluator"]["attempts"] for line in lines) == asked
    assert "sk-fake" not in out + err + (desk.path / "out.jsonl").read_text()


def test_a_model_that_nobody_knows_is_asked_for_three_times_and_the_rest_when_it_is_there(desk: Folder) -> None:
    unknown = answer({"error": {"message": "no such model"}}, 404)
    with serving_elsewhere(unknown, unknown, unknown, verdict()) as server:  # the last one goes on
        code, _, err = jurat(desk, server, "--concurrency", "16")
        asked = len(server.requests)
        again, _, _ = jurat(desk, server, "--resume")
        asked_again = len(server.requests) - asked
    lines = [json.loads(line) for line in (desk.path / "out.jsonl").read_text().splitlines()]
    assert (code, asked, err.count("is asked no more")) == (3, 3, 1)
    assert "Check model and base_url" in err
    assert (again, asked_again, sum(line["status"] == "pass" for line in lines)) == (3, 57, 57)


def test_a_judge_whose_name_stands_for_another_model_meanwhile_is_warned_of(desk: Folder) -> None:
    def as_model(name: str) -> Answer:
        choice = {"index": 0, "message": {"role": "assistant", "content": VERDICT}, "finish_reason": "stop"}
        return answer({"object": "chat.completion", "model": name, "choices": [choice]})

    with serving_elsewhere(as_model("m-2026-05"), as_model("m-2026-06")) as server:  # the last one goes on
        code, out, _ = jurat(desk, server, "--concurrency", "1")
    assert code == 0
    assert "warning: the judge was answered for by 2 models: m-2026-05 (1), m-2026-06 (59)" in " ".join(out.split())


def test_a_budget_ends_the_calls_and_what_is_over_was_in_flight(desk: Folder) -> None:
    # One call costs 1,000 tokens at 1 and 100 at 10 USD a million: 0.002 USD, so ten calls are the budget.
    with serving_elsewhere(verdict()) as server:
        code, _, err = jurat(desk, server, "--budget-usd", "0.02", "--concurrency", "4", prices=PRICES)
        asked = len(server.requests)
    lines = [json.loads(line) for line in (desk.path / "out.jsonl").read_text().splitlines()]
    exhausted = [line for line in lines if line["evaluator"].get("error", {}).get("type") == "budget_exhausted"]
    assert code == 3
    assert 10 <= asked <= 13
    assert len(lines) == 60
    assert len(exhausted) == 60 - asked
    assert all(line["evaluator"]["cost_usd"] == 0.0 for line in exhausted)
    assert err.count("the budget of 0.02 USD is spent: no further call is made") == 1


def test_what_earlier_rounds_spent_counts_against_the_budget(desk: Folder) -> None:
    with serving_elsewhere(verdict()) as server:
        jurat(desk, server, "--limit", "9", prices=PRICES)
        jurat(desk, server, "--resume", "--budget-usd", "0.02", "--concurrency", "1", prices=PRICES)
        assert len(server.requests) == 10


def test_a_budget_that_cannot_be_kept_is_refused_before_the_first_call(desk: Folder) -> None:
    with serving_elsewhere(verdict()) as server:
        code, _, err = jurat(desk, server, "--budget-usd", "0.02")
        assert (code, server.requests) == (2, [])
    assert "--budget-usd: expected a known price of provider judge, since there is a budget, found none for m" in err


def verdicts(desk: Folder) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (desk.path / "out.jsonl").read_text().splitlines()]


def test_rows_that_a_budget_was_too_small_for_are_asked_about_when_it_is_raised(desk: Folder) -> None:
    with serving_elsewhere(verdict()) as server:
        jurat(desk, server, "--budget-usd", "0.02", "--concurrency", "1", prices=PRICES)
        before = (desk.path / "out.jsonl").read_text()
        jurat(desk, server, "--resume", "--budget-usd", "0.02", "--concurrency", "1", prices=PRICES)
        assert (desk.path / "out.jsonl").read_text() == before
        assert len(server.requests) == 10
        code, _, _ = jurat(desk, server, "--resume", "--budget-usd", "1", prices=PRICES)
        assert (code, len(server.requests)) == (0, 60)
    lines = verdicts(desk)
    assert [line["id"] for line in lines] == [f"r{number}" for number in range(60)]
    assert [line["status"] for line in lines] == ["pass"] * 60
    assert (desk.path / "out.jsonl").read_text().startswith("".join(before.splitlines(keepends=True)[:10]))


def test_rows_that_a_refused_key_was_in_the_way_of_are_asked_about_with_a_better_one(desk: Folder) -> None:
    with serving_elsewhere(REFUSED, REFUSED, REFUSED, verdict()) as server:
        code, _, _ = jurat(desk, server)
        assert (code, len(server.requests)) == (3, 3)
        code, _, _ = jurat(desk, server, "--resume")
        assert (code, len(server.requests)) == (0, 63)
    assert [line["status"] for line in verdicts(desk)] == ["pass"] * 60


def test_when_the_time_of_the_job_is_over_the_rest_is_an_error_and_is_asked_about_later(desk: Folder) -> None:
    with serving_elsewhere(verdict()) as server:
        code, _, err = jurat(desk, server, "--timeout", "0.000001", "--concurrency", "4")
        lines = verdicts(desk)
        cut_off = [line for line in lines if line["evaluator"]["attempts"]]
        assert (code, len(lines)) == (3, 60)
        assert {line["evaluator"].get("error", {}).get("type") for line in lines} == {"timeout"}
        assert len(cut_off) <= 4
        assert err.count("the job's time of 1e-06 s is over: no further call is made") == 1

        jurat(desk, server, "--resume")
        counted = Counter(line["status"] for line in verdicts(desk))
        assert counted == Counter({"pass": 60 - len(cut_off), "error": len(cut_off)})
        code, _, _ = jurat(desk, server, "--resume", "--retry-errors")
        assert code == 0
    assert [(line["id"], line["status"]) for line in verdicts(desk)] == [(f"r{number}", "pass") for number in range(60)]


def test_answers_that_were_no_verdicts_are_asked_for_again_where_that_is_wanted(desk: Folder) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "zq7canary"}, "finish_reason": "stop"}
    nonsense = answer({"object": "chat.completion", "model": "m-1", "choices": [choice]})
    with serving_elsewhere(nonsense, verdict()) as server:
        jurat(desk, server, "--limit", "3", "--concurrency", "1")
        jurat(desk, server, "--limit", "3", "--resume")
        assert [line["status"] for line in verdicts(desk)] == ["error", "pass", "pass"]
        assert len(server.requests) == 3
        code, _, _ = jurat(desk, server, "--limit", "3", "--resume", "--retry-errors")
        assert (code, len(server.requests)) == (0, 4)
    assert [line["status"] for line in verdicts(desk)] == ["pass"] * 3


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--retry-errors",), "--retry-errors: expected --resume beside it, found nothing"),
        (("--budget-usd", "inf"), "--budget-usd: expected a number from 0, found inf"),
        (("--timeout", "0"), "--timeout: expected a number of seconds above 0, found 0"),
        (("--timeout", "nan"), "--timeout: expected a number of seconds above 0, found nan"),
    ],
)
def test_bounds_that_are_none_are_refused(desk: Folder, options: tuple[str, ...], told: str) -> None:
    with serving_elsewhere(verdict()) as server:
        code, _, err = jurat(desk, server, *options)
        assert (code, server.requests) == (2, [])
    assert told in err


def test_a_forecast_of_a_job_that_goes_on_counts_the_rows_that_are_left(desk: Folder) -> None:
    with serving_elsewhere(verdict()) as server:
        jurat(desk, server, "--budget-usd", "0.02", "--concurrency", "1", prices=PRICES)
        before = (desk.path / "out.jsonl").read_text()
        _, out, _ = jurat(desk, server, "--resume", "--dry-run", "--format", "json", prices=PRICES)
        assert (json.loads(out)["trials"], json.loads(out)["calls"]) == (60, 50)
        _, out, _ = jurat(desk, server, "--overwrite", "--dry-run", "--format", "json", prices=PRICES)
        assert json.loads(out)["calls"] == 60
        assert len(server.requests) == 10
    assert (desk.path / "out.jsonl").read_text() == before
