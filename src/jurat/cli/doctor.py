"""`jurat doctor`: what is installed, configured and within reach, and how to mend what is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jurat.cli._exits import ExitCode, exits
from jurat.cli._stdout import line, say_json
from jurat.cli._text import visible
from jurat.eventloop import run_in_loop

if TYPE_CHECKING:
    from jurat.health import Check

__all__ = ["doctor"]


class Form(StrEnum):
    """How the findings are printed."""

    CONSOLE = "console"
    JSON = "json"


def doctor(
    ask: Annotated[bool, typer.Option("--ask/--no-ask", help="Whether the embedded model is asked.")] = True,
    form: Annotated[Form, typer.Option("--format", help="How the findings are printed.")] = Form.CONSOLE,
) -> None:
    """Say what is installed, which keys are set, whether the embedded model answers, and how to mend the rest.

    Exit codes: 0 nothing is broken (things may be absent), 1 something is.
    """
    from jurat.health import Health, examine, try_local_model

    with exits():
        checks = list(examine(Path.cwd()))
        present = any(check.name.startswith("model ") and check.health is Health.GOOD for check in checks)
        if ask and present:
            checks.append(run_in_loop(try_local_model()))
        if form is Form.JSON:
            say_json([asdict(check) for check in checks])
        else:
            line(_table(checks))
        if any(check.health is Health.BAD for check in checks):
            raise typer.Exit(ExitCode.FAILED)


_MARKS = {"good": "ok", "absent": "--", "bad": "!!"}


def _table(checks: Sequence[Check]) -> str:
    wide = max(len(check.name) for check in checks)
    lines: list[str] = []
    for check in checks:
        first, *rest = visible(check.found).splitlines() or [""]
        lines.append(f"{_MARKS[check.health]}  {visible(check.name):<{wide}}  {first}")
        lines += [f"    {'':<{wide}}  {line}" for line in rest]
        if check.mend:
            lines.append(f"    {'':<{wide}}  mend: {visible(check.mend)}")
    return "\n".join(lines)
