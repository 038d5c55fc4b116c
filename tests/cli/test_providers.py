"""`jurat providers`, as a person and as a program see it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from jurat.cli.providers import app
from jurat.provider.protocol import Capabilities
from jurat.provider.rows import KINDS

SECRET = "sk-fake-0000000000000000000000000000"
CONFIG = """
[[providers]]
name = "house"
kind = "vllm"
model = "qwen3-8b"
capabilities = {context_tokens = 16384, images = false}

[[providers]]
name = "judge"
kind = "anthropic"
model = "claude-haiku-4-5"
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jurat.toml").write_text(CONFIG)
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def test_the_list_tells_configured_providers_and_every_kind() -> None:
    shown = run().stdout
    assert "house             vllm:qwen3-8b\n                  http://127.0.0.1:8000/v1\n" in shown
    assert "judge             anthropic:claude-haiku-4-5\n" in shown
    assert "openai            https://api.openai.com/v1, OPENAI_API_KEY is not set\n" in shown
    assert [kind for kind in KINDS if f"\n{kind}" not in shown] == []


def test_of_a_key_only_its_variable_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    for result in (run(), run("--format", "json")):
        assert SECRET not in result.output
    told = json.loads(run("--format", "json").stdout)
    keys = {one["kind"]: (one["api_key_env"], one["key_is_set"]) for one in told["kinds"]}
    assert (keys["openai"], keys["ollama"]) == (("OPENAI_API_KEY", True), (None, None))
    assert [one["name"] for one in told["configured"]] == ["house", "judge"]


def test_the_list_fits_100_columns() -> None:
    assert [line for line in run().stdout.splitlines() if len(line) > 100] == []


def test_what_a_configured_model_can_do_is_told_with_whose_word_it_is() -> None:
    told = json.loads(run("capabilities", "house", "--format", "json").stdout)["models"][0]
    assert (told["kind"], told["model"], told["api"]) == ("vllm", "qwen3-8b", None)
    assert told["capabilities"]["context_tokens"] == {"value": 16384, "source": "declared"}
    assert told["capabilities"]["top_logprobs"] == {"value": 20, "source": "kind"}
    assert set(told["capabilities"]) == set(Capabilities.__slots__)


def test_a_shorthand_is_looked_up_in_the_table() -> None:
    shown = run("capabilities", "openai:gpt-5.2-pro").stdout
    assert shown.startswith("openai:gpt-5.2-pro (by the interface responses)\n")
    assert "  temperature              no                        table\n" in shown
    assert "\ntable of models: 2026-" in shown


@pytest.mark.parametrize("kind", ["azure_openai", "openai_compatible"])
def test_a_kind_without_a_usual_address_needs_none_to_be_looked_up(kind: str) -> None:
    shown = run("capabilities", f"{kind}:gpt-4.1").stdout
    assert shown.startswith(f"{kind}:gpt-4.1\n")
    assert "  context_tokens           1,047,576                 table\n" in shown


def test_a_model_without_a_kind_is_shown_for_every_kind_that_knows_it() -> None:
    told = json.loads(run("capabilities", "claude-opus-4.7", "--format", "json").stdout)["models"]
    assert [one["kind"] for one in told] == ["anthropic", "openrouter"]


def test_a_model_that_no_table_knows_is_an_error_and_no_guess() -> None:
    result = run("capabilities", "nobody")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "there is no provider 'nobody'; there are house, judge, local" in result.stderr


def test_a_row_that_is_wrong_is_told_and_nothing_is_listed(folder: Path) -> None:
    (folder / "jurat.toml").write_text('[[providers]]\nname = "a"\nkind = "antropic"\nmodel = "m"\n')
    result = run()
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Did you mean anthropic?" in result.stderr
