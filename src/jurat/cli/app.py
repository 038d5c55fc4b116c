"""The commands of `jurat` and how they hang together.

Exit codes: 0 passed · 1 a gate or case failed · 2 the author's input is wrong · 3 undecided · 4 store or internal
fault · 130 interrupted.
"""

from __future__ import annotations

from typing import Annotated

import typer

from jurat._version import __version__
from jurat.cli import models, providers, report, rubrics, store, suite
from jurat.cli._stdout import line
from jurat.cli.compare import compare
from jurat.cli.doctor import doctor
from jurat.cli.export import export
from jurat.cli.import_ import import_
from jurat.cli.judge import judge
from jurat.cli.rescore import rescore
from jurat.cli.resume import resume
from jurat.cli.run import run
from jurat.cli.runs import runs
from jurat.cli.schema import schema
from jurat.cli.show import show

__all__ = ["app"]

app = typer.Typer(
    name="jurat",
    help="Evaluate language-model output with verdicts that show their proof.",
    epilog="Exit codes: 0 passed, 1 a gate or case failed, 2 wrong input, 3 undecided, 4 store or internal fault, "
    "130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        line(f"jurat {__version__}")
        raise typer.Exit


@app.callback()
def jurat(
    _: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Evaluate language-model output with verdicts that show their proof."""


app.command("run")(run)
app.command("resume")(resume)
app.command("rescore")(rescore)
app.command("runs")(runs)
app.command("show")(show)
app.command("compare")(compare)
app.command("import")(import_)
app.command("export")(export)
app.command("judge")(judge)
app.add_typer(suite.app, name="suite")
app.add_typer(rubrics.app, name="rubrics")
app.add_typer(providers.app, name="providers")
app.add_typer(models.app, name="models")
app.add_typer(store.app, name="store")
app.add_typer(report.app, name="report")
app.command("schema")(schema)
app.command("doctor")(doctor)
