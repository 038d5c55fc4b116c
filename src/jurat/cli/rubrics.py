"""`jurat rubrics`: the built-in rubrics at a glance, and one rubric in full, from the catalog or from a file.

What `show` prints as YAML or JSON is a rubric file: saved, renamed and changed, it is the start of one's own.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jurat.cli._exits import exits
from jurat.cli._stdout import columns, line, say_data, say_json
from jurat.cli._text import visible, wrapped
from jurat.errors import AuthoringError, Fault
from jurat.regularfiles import read_regular
from jurat.rubric import Criterion, Rubric, catalog, find, read_rubric
from jurat.yamltext import MAX_BYTES, to_yaml

if TYPE_CHECKING:
    from jurat.jsontext import Json

__all__ = ["app"]

app = typer.Typer(help="List the built-in rubrics, or show one in full.", invoke_without_command=True)

_FILE_ENDINGS = (".yaml", ".yml", ".json")
_MAX_WIDTH = 100


class ListFormat(StrEnum):
    """How a list is printed."""

    CONSOLE = "console"
    JSON = "json"


class ShowFormat(StrEnum):
    """How one rubric is printed."""

    CONSOLE = "console"
    JSON = "json"
    YAML = "yaml"


@app.callback()
def rubrics(
    context: typer.Context,
    form: Annotated[ListFormat, typer.Option("--format", help="How to print the list.")] = ListFormat.CONSOLE,
) -> None:
    """List the built-in rubrics: score range, pass threshold, the evidence each needs, and what it asks."""
    if context.invoked_subcommand is not None:
        return
    if form is ListFormat.JSON:
        say_json([_summary(one) for one in catalog()])
    else:
        line(_table(catalog(), _width()))


@app.command()
def show(
    rubric: Annotated[str, typer.Argument(metavar="NAME[@REVISION]|FILE", help="A built-in rubric, or a rubric file.")],
    form: Annotated[ShowFormat, typer.Option("--format", help="How to print it.")] = ShowFormat.CONSOLE,
) -> None:
    """Show one rubric in full. YAML and JSON come out as rubric files."""
    with exits():
        found = _resolve(rubric)
    if form is ShowFormat.JSON:
        say_json(found.to_json())
    elif form is ShowFormat.YAML:
        say_data(to_yaml(found.to_json()))
    else:
        line(_full(found, _width()))


def _resolve(reference: str) -> Rubric:
    """A word that ends like a file or holds a separator is a file; everything else is looked up in the catalog."""
    if reference.lower().endswith(_FILE_ENDINGS) or "/" in reference or "\\" in reference:
        return read_rubric(_content(Path(reference)), reference)
    return find(reference)


def _content(path: Path) -> bytes:
    try:
        return read_regular(path, MAX_BYTES + 1)
    except OSError as error:
        found = error.strerror or type(error).__name__
        raise AuthoringError("rubric file", [_unreadable(path, found)]) from None
    except ValueError:
        raise AuthoringError("rubric file", [_unreadable(path, "a name that no file can have")]) from None


def _unreadable(path: Path, found: str) -> Fault:
    return Fault(path="", expected="a file that can be read", found=found, file=str(path))


def _width() -> int:
    return min(columns(80), _MAX_WIDTH)


def _summary(rubric: Rubric) -> dict[str, Json]:
    return {
        "name": rubric.name,
        "revision": rubric.revision,
        "scope": rubric.scope.value,
        "score_range": [_tidy(bound) for bound in rubric.score_range],
        "threshold": _tidy(rubric.pass_threshold),
        "scores_absence": rubric.scores_absence,
        "needs": list(rubric.needs),
        "purpose": rubric.purpose,
        "content_hash": rubric.content_hash,
    }


def _tidy(number: float) -> float:
    return int(number) if number.is_integer() else number


# --- For people ------------------------------------------------------------------------------------------------------

_ROW = "{:<30}{:<10}{:<9}{:<12}{:<9}"


def _table(rubrics: tuple[Rubric, ...], width: int) -> str:
    """One block a rubric: a row of figures, then purpose and evidence. Fits 80 columns."""
    lines = [_ROW.format("rubric", "revision", "scope", "range", "threshold").rstrip()]
    for one in rubrics:
        row = _ROW.format(one.name, one.revision, one.scope, _range(one), f"{one.pass_threshold:g}")
        lines += ["", visible(row).rstrip(), wrapped(one.purpose, width, "  ")]
        lines.append(wrapped(f"needs: {', '.join(one.needs)}", width, "  "))
    return "\n".join(lines)


def _range(rubric: Rubric) -> str:
    low, high = rubric.score_range
    return f"{low:g} to {high:g}"


def _full(rubric: Rubric, width: int) -> str:
    lines = [visible(rubric.reference)]
    if rubric.purpose:
        lines.append(wrapped(rubric.purpose, width))
    lines += ["", *_facts(rubric), "", "Definition", wrapped(rubric.definition, width, "  "), "", "Criteria"]
    for one in rubric.criteria:
        lines += ["  " + visible(_criterion_line(one)), wrapped(one.description, width, "    ")]
    if rubric.anchors:
        lines += ["", "Anchors"]
    for anchor in rubric.anchors:
        label = f"{anchor.score:g}: {anchor.label}"
        lines += [wrapped(label, width, "  "), wrapped(anchor.description, width, "    ")]
    return "\n".join(lines)


def _facts(rubric: Rubric) -> list[str]:
    meaning = "the absence of the fault it is named after" if rubric.scores_absence else "the quality"
    facts = {
        "scope": rubric.scope.value,
        "range": _range(rubric),
        "threshold": f"{rubric.pass_threshold:g}",
        "scores": f"{meaning}; higher is better",
        "needs": ", ".join(rubric.needs) or "no particular evidence",
    }
    return [f"{name + ':':<11}{value}" for name, value in facts.items()] + [f"hash: {rubric.content_hash}"]


def _criterion_line(criterion: Criterion) -> str:
    required = ", required" if criterion.required else ""
    return f"{criterion.id} ({criterion.min:g} to {criterion.max:g}, weight {criterion.weight:g}{required})"
