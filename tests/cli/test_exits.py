"""How a command ends: one sentence, one code."""

from __future__ import annotations

import pytest
import typer

import jurat.cli
from jurat.cli._exits import exits


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
