"""How a command ends: one sentence, one code."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer

import jurat.cli
from jurat.cli import _stdout
from jurat.cli._exits import exits


@pytest.fixture(autouse=True)
def _nothing_told_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_stdout, "_interruptions", [])


def test_what_nobody_foresaw_is_told_without_its_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JURAT_DEBUG", raising=False)

    with pytest.raises(typer.Exit) as caught, exits():
        raise ZeroDivisionError("a secret")

    assert caught.value.exit_code == 4
    said = "jurat: internal fault (ZeroDivisionError); set JURAT_DEBUG=1 to see where it arose\n"
    assert capsys.readouterr().err == said


def test_on_demand_the_trace_is_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JURAT_DEBUG", "1")

    with pytest.raises(ZeroDivisionError), exits():
        raise ZeroDivisionError


@pytest.mark.parametrize(("words", "said"), [("", "interrupted\n"), ("interrupted; 2 kept", "interrupted; 2 kept\n")])
def test_an_interruption_is_told_once(capsys: pytest.CaptureFixture[str], words: str, said: str) -> None:
    with pytest.raises(typer.Exit) as caught, exits():
        raise KeyboardInterrupt(*([words] if words else []))

    assert caught.value.exit_code == 130
    assert capsys.readouterr().err == said


def test_a_pipe_that_breaks_inside_a_command_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as caught, exits():
        raise BrokenPipeError

    assert caught.value.exit_code == 4
    assert "internal fault (BrokenPipeError)" in capsys.readouterr().err


def test_an_interruption_is_told_by_the_first_who_knows(capsys: pytest.CaptureFixture[str]) -> None:
    _stdout.interrupted("interrupted; 2 kept")
    _stdout.interrupted()

    assert capsys.readouterr().err == "interrupted; 2 kept\n"


@pytest.mark.parametrize("arguments", ["--version", "rubrics", "schema rubric", "rubrics show toxicity --format yaml"])
@pytest.mark.parametrize(("streams", "code"), [(">/dev/full", 4), ("| true; exit ${PIPESTATUS[0]}", 0), (">&-", 0)])
def test_every_command_survives_a_standard_output_that_takes_nothing(arguments: str, streams: str, code: int) -> None:
    program = [sys.executable, "-c", "from jurat.cli import main; main()", *arguments.split()]

    done = subprocess.run(["bash", "-c", f'"$@" {streams}', "bash", *program], capture_output=True, check=False)

    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert (b"No space left" in done.stderr) == (code == 4)


def test_an_interruption_while_the_program_is_still_loading_shows_no_trace(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(jurat.cli, "_run", interrupted)

    with pytest.raises(SystemExit) as caught:
        jurat.cli.main()

    assert caught.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"
