"""What a run would cost, told before anything is spent. Expected figures were worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from jurat.cli.app import app
from jurat.forecast import Forecast, Range, Side
from jurat.provider.protocol import ProviderSettings, Usage
from suitefolder import CAPITALS, Folder

PRICES = {"input": 1.0, "output": 10.0}


def settings(**more: Any) -> ProviderSettings:
    return ProviderSettings(**{"name": "p", "kind": "openai_compatible", "model": "m", "prices": PRICES, **more})


def line_of(side: Side) -> Any:
    return Forecast.of("s", 1, [side]).to_json()["lines"][0]


def test_without_history_texts_are_counted_give_or_take_30_per_cent() -> None:
    side = Side(settings=settings(), name="p", purpose="judge")
    side.add(1000, 500, times=10)
    line = line_of(side)
    assert line["calls"] == 10
    assert line["input_tokens"] == [7000, 13000]
    assert line["output_tokens"] == [10, 5000]
    assert line["cost_usd"] == [0.0071, 0.063]  # 7,000 at 1 and 10 at 10; 13,000 at 1 and 5,000 at 10
    assert line["basis"] == "estimated from the requests"


def test_calls_that_were_made_before_tell_what_further_ones_cost() -> None:
    known = [Usage(input_tokens=100, output_tokens=10)] * 6
    side = Side(settings=settings(), name="p", purpose="judge", known=known)
    side.add(1, 1, times=50)
    line = line_of(side)
    assert line["input_tokens"] == [5000, 5000]
    assert line["cost_usd"] == [pytest.approx(0.01), pytest.approx(0.01)]  # 50 × (100 at 1 and 10 at 10)
    assert line["basis"] == "from 6 such calls in the store"


def test_the_range_of_history_is_the_prediction_interval_of_a_sum() -> None:
    known = [Usage(input_tokens=tokens, output_tokens=0) for tokens in (80, 90, 100, 110, 120)]
    side = Side(settings=settings(), name="p", purpose="judge", known=known)
    side.add(1, 1, times=20)
    # s² = 250, N = 20, n = 5: 1.96 √(250 (20 + 80)) = 309.9 around 2,000.
    assert line_of(side)["input_tokens"] == [1690, 2310]


def test_an_unknown_price_is_said_to_be_unknown_with_its_model_and_is_no_zero() -> None:
    priced = Side(settings=settings(), name="p", purpose="subject")
    priced.add(1000, 0)
    side = Side(settings=settings(name="q", model="nobody-knows", prices=None), name="q", purpose="judge")
    side.add(1000, 500)
    found = Forecast.of("s", 1, [priced, side])
    assert found.cost_usd == Range(low=None, high=None)
    assert found.unknown == ("the price of q (nobody-knows)",)
    assert "cost unknown" in found.text()


def test_a_reply_without_a_limit_has_a_least_cost_and_no_most() -> None:
    side = Side(settings=settings(), name="p", purpose="subject")
    side.add(1000, None)
    found = Forecast.of("s", 1, [side])
    assert found.cost_usd == Range(low=0.00071, high=None)
    assert found.unknown == ("how long replies of p are, since they have no output limit",)


def test_where_nothing_is_paid_the_cost_is_zero() -> None:
    side = Side(settings=settings(kind="scripted", prices=None), name="p", purpose="judge")
    side.add(1000, None)
    assert line_of(side)["cost_usd"][0] == 0.0


# --- the commands --------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


def run(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.stdout, done.stderr


def test_a_dry_run_counts_calls_and_neither_asks_nor_records(folder: Folder) -> None:
    code, out, err = run("run", "suite.yaml", "--dry-run", "--samples", "2", "--format", "json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["jurat_forecast"] == 1
    assert told["trials"] == 8
    assert [(line["purpose"], line["provider"], line["calls"]) for line in told["lines"]] == [
        ("subject", "answerer", 8),
        ("judge", "judge", 8),
    ]
    assert not (folder.path / ".jurat").exists()
    assert not (folder.path / "calls.txt").exists()


def test_a_dry_run_needs_no_key(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    code, out, _ = run("run", "suite.yaml", "--dry-run", "--provider", "judge=openai:gpt-4o")
    assert code == 0
    assert "judge   judge (gpt-4o): 4 calls" in out
    assert "$" in out


def test_earlier_runs_of_the_suite_are_what_a_forecast_rests_on(folder: Folder) -> None:
    usage = "usage: {input_tokens: 100, output_tokens: 10}"
    written = CAPITALS.replace('Paris."}', f'Paris.", {usage}}}').replace('Lisbon."}', f'Lisbon.", {usage}}}')
    written = written.replace("score: 95}", f"score: 95}}, {usage}").replace("score: 5}", f"score: 5}}, {usage}")
    folder.write("suite.yaml", written)
    run("run", "suite.yaml", "--samples", "3")
    runs = run("runs", "--format", "json")[1]
    _, out, _ = run("run", "suite.yaml", "--dry-run", "--format", "json")
    subject, judge = json.loads(out)["lines"]
    assert subject["basis"] == "from 6 such calls in the store"
    assert subject["input_tokens"] == [400, 400]
    assert judge["basis"] == "estimated from the requests"  # three calls were made, since answers were the same
    assert run("runs", "--format", "json")[1] == runs


def test_a_dry_run_makes_no_reports(folder: Folder) -> None:
    code, _, err = run("run", "suite.yaml", "--dry-run", "--format", "junit", "--output", "x.xml")
    assert code == 2
    assert "--format: expected console or json with --dry-run, found 'junit'" in err
    assert "--dry-run: expected a forecast alone" in err


def test_judging_a_file_is_foreseen_too_and_knows_its_own_history(folder: Folder) -> None:
    rows = "".join(json.dumps({"id": str(number), "output": f"Lisbon {number}"}) + "\n" for number in range(8))
    folder.write("rows.jsonl", rows)
    folder.write(
        "jurat.toml",
        '[[providers]]\nname = "j"\nkind = "scripted"\nreplies = [{json = {evidence = [], reason = "So.", score = 1}, '
        "usage = {input_tokens = 9, output_tokens = 5}}]",
    )
    words = ("judge", "rows.jsonl", "--rubric-text", "It is clear.", "--provider", "j", "--pass-rate", "0")
    code, out, err = run(*words, "--dry-run")
    assert (code, err) == (0, "")
    assert out.startswith("rows.jsonl: 8 trials, 8 calls; nothing was asked, nothing spent\n")
    assert not (folder.path / ".jurat").exists()
    assert run(*words)[0] == 0
    told = json.loads(run(*words, "--dry-run", "--format", "json")[1])
    assert told["lines"][0]["basis"] == "from 8 such calls in the store"
