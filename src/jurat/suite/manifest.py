"""Reads suite files: from a file's text to a suite, or every fault at once with file, line and path."""

from __future__ import annotations

from jurat.errors import Fault
from jurat.suite.files import SuiteFiles
from jurat.suite.loaded import LoadedSuite

__all__ = ["gather_suite", "read_suite"]


def read_suite(text: bytes, name: str, files: SuiteFiles) -> LoadedSuite:
    """Read a suite file and the files that it names, its documents left aside.

    Args:
        text: the file's content, JSON when its name ends in `.json`, YAML otherwise.
        name: the file as its author calls it.
        files: the suite's folder.

    Raises:
        AuthoringError: with every fault of every file.
    """
    raise NotImplementedError


def gather_suite(text: bytes, name: str, files: SuiteFiles, faults: list[Fault]) -> LoadedSuite | None:
    """As `read_suite`, but the faults are added to a list, and what is sound is given back all the same."""
    raise NotImplementedError
