"""What is wrong with a suite, shown where it stands: for a build whose report is GitHub's annotations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jurat.errors import AuthoringError

__all__ = ["annotated"]


@contextmanager
def annotated(form: str) -> Iterator[None]:
    """Inside: the author's faults become annotations, too, where the report is to be annotations."""
    try:
        yield
    except AuthoringError as error:
        if form == "github":
            from jurat.cli._outs import from_workspace
            from jurat.cli._stdout import line
            from jurat.report.reporters.github import fault_commands

            for command in fault_commands(error.faults, from_workspace):
                line(command)
        raise
