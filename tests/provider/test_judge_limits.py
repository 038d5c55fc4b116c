"""`jurat judge` against a server: a refused key costs a handful of calls, and a budget holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from loopback import Answer, Server, answer, serving_elsewhere

VERDICT = json.dumps({"evidence": [], "reason": "It says so.", "score": 95})
REFUSED = answer({"error": {"message": "Incorrect API key provided: sk-fake-00000000000000000000"}}, 401)


PRICES = "{input = 1.0, output = 10.0}"


def verdict() -> Answer:
    choice = {"index": 0, "message": {"role": "assistant", "content": VERDICT}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    return answer({"object": "chat.completion", "model": "m-1", "choices": [choice], "usage": usage})


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    rows = [{"id": f"r{number}", "output": f"text {number}"} for number in range(60)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def jurat(desk: Path, server: Server, *options: str, **row: str) -> tuple[int, str, str]:
    lines = [f"{name} = {text}" for name, text in row.items()]
    (desk / "jurat.toml").write_text(
        '[[providers]]\nname = "judge"\nkind = "openai_compatible"\nmodel = "m"\n'
        f'base_url = "{server.url}"\napi_key_env = "SOME_KEY"\nconcurrency = 64\n' + "\n".join(lines)
    )
    base = ["judge", "rows.jsonl", "--rubric-text", "It is clear.", "--provider", "judge", "--out", "out.jsonl"]
    program = [sys.executable, "-c", "from jurat.cli import main; main()", *base, *options]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("JURAT_")}
    environment["SOME_KEY"] = "sk-fake-00000000000000000000"
    done = subprocess.run(program, cwd=desk, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("concurrency", ["1", "16", "64"])
def test_a_refused_key_costs_three_calls_ends_with_3_and_names_the_variable_once(desk: Path, concurrency: str) -> None:
    with serving_elsewhere(REFUSED) as server:
        code, out, err = jurat(desk, server, "--concurrency", concurrency)
        asked = len(server.requests)
    lines = [json.loads(line) for line in (desk / "out.jsonl").read_text().splitlines()]
    assert (code, asked, len(lines)) == (3, 3, 60)
    assert err.count("is asked no more") == 1
    assert "SOME_KEY" in err
    assert {line["evaluator"]["error"]["type"] for line in lines} == {"auth_error"}
    assert sum(line["evaluator"]["attempts"] for line in lines) == asked
    assert "sk-fake" not in out + err + (desk / "out.jsonl").read_text()


def test_a_budget_ends_the_calls_and_what_is_over_was_in_flight(desk: Path) -> None:
    # One call costs 1,000 tokens at 1 and 100 at 10 USD a million: 0.002 USD, so ten calls are the budget.
    with serving_elsewhere(verdict()) as server:
        code, _, err = jurat(desk, server, "--budget-usd", "0.02", "--concurrency", "4", prices=PRICES)
        asked = len(server.requests)
    lines = [json.loads(line) for line in (desk / "out.jsonl").read_text().splitlines()]
    exhausted = [line for line in lines if line["evaluator"].get("error", {}).get("type") == "budget_exhausted"]
    assert code == 3
    assert 10 <= asked <= 13
    assert len(lines) == 60
    assert len(exhausted) == 60 - asked
    assert all(line["evaluator"]["cost_usd"] == 0.0 for line in exhausted)
    assert err.count("the budget of 0.02 USD is spent: no further call is made") == 1


def test_what_earlier_rounds_spent_counts_against_the_budget(desk: Path) -> None:
    with serving_elsewhere(verdict()) as server:
        jurat(desk, server, "--limit", "9", prices=PRICES)
        jurat(desk, server, "--resume", "--budget-usd", "0.02", "--concurrency", "1", prices=PRICES)
        assert len(server.requests) == 10


def test_a_budget_that_cannot_be_kept_is_refused_before_the_first_call(desk: Path) -> None:
    with serving_elsewhere(verdict()) as server:
        code, _, err = jurat(desk, server, "--budget-usd", "0.02")
        assert (code, server.requests) == (2, [])
    assert "--budget-usd: expected a known price of provider judge, since there is a budget, found none for m" in err
