"""`jurat schema NAME`: the JSON Schema of a kind of file, for editors that complete and check.

A new kind is one line in `_SCHEMAS`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from jurat.cli._stdout import say_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from jurat.jsontext import Json

__all__ = ["Schema", "schema"]


class Schema(StrEnum):
    """The kinds of files that have a schema."""

    ASSERTION = "assertion"
    COMPARISON = "comparison"
    REPORT = "report"
    RUBRIC = "rubric"
    SUITE = "suite"


def schema(name: Annotated[Schema, typer.Argument(help="The kind of file.")]) -> None:
    """Print the JSON Schema (draft 2020-12) of a kind of file."""
    say_json(_SCHEMAS[name]())


def _rubric() -> dict[str, Json]:
    from jurat.rubric import rubric_schema

    return rubric_schema()


def _report() -> dict[str, Json]:
    from jurat.report.run_schema import report_schema

    return report_schema()


def _comparison() -> dict[str, Json]:
    from jurat.report.comparison_schema import comparison_schema

    return comparison_schema()


def _assertion() -> dict[str, Json]:
    from jurat.assertions import assertion_schema

    return assertion_schema()


def _suite() -> dict[str, Json]:
    from jurat.assertions import assertion_schema
    from jurat.assertions.plugins import installed_types
    from jurat.evaluation.reducers import reducer_schema
    from jurat.metrics.policy import policy_schema
    from jurat.provider.rows import KINDS
    from jurat.suite.suite_schema import suite_schema

    name = {"type": "string", "description": "What assertions and the subject call it.", "pattern": r"\S"}
    provider: Json = {
        "type": "object",
        "description": "A model: kind, model, settings, and where its key is found. Never the key.",
        "properties": {"name": name, "kind": {"enum": [*KINDS]}},
        "required": ["name", "kind"],
    }
    return suite_schema(
        assertion=assertion_schema(installed_types()),
        reducer=reducer_schema(),
        policy=policy_schema(),
        provider=provider,
    )


_SCHEMAS: dict[Schema, Callable[[], dict[str, Json]]] = {
    Schema.ASSERTION: _assertion,
    Schema.COMPARISON: _comparison,
    Schema.REPORT: _report,
    Schema.RUBRIC: _rubric,
    Schema.SUITE: _suite,
}
