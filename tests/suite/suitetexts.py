"""Suites as text for tests: a folder in memory, and what reading comes to."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import IO

import pytest

from jurat.errors import AuthoringError, Fault
from jurat.suite.loaded import LoadedSuite
from jurat.suite.manifest import read_suite
from jurat.suite.suite import Suite

__all__ = ["CAPITALS", "Folder", "faults_in", "loaded", "places", "suite_of"]

CAPITALS = """\
schema_version: 1
suite: capital-cities
providers:
  - {name: answerer, kind: openai, model: gpt-x}
  - {name: judge, kind: local, model: default}
prompt: "What is the capital of {{country}}?"
subject: answerer
sampling: {samples: 3, reducer: majority}
policy: [{type: overall_pass_rate, minimum: 0.9}]
cases:
  - name: france
    variables: {country: France}
    assertions:
      - {type: contains, value: Paris}
      - {type: rubric_judge, template: correctness, provider: judge, threshold: 85, expected: Paris}
"""


class Folder:
    """The files of a folder that is not there. A `jurat.suite.files.SuiteFiles`."""

    def __init__(self, files: Mapping[str, str | bytes] | None = None) -> None:
        self._files = {name: text.encode() if isinstance(text, str) else text for name, text in (files or {}).items()}

    def read(self, path: str, *, limit: int) -> bytes:
        with self.open(path) as file:
            return file.read(limit)

    def open(self, path: str) -> IO[bytes]:
        if path not in self._files:
            raise AuthoringError("file", [Fault(path="", expected="a file of the suite's folder", found=repr(path))])
        return io.BytesIO(self._files[path])


def loaded(text: str | bytes, files: Mapping[str, str | bytes] | None = None, name: str = "suite.yaml") -> LoadedSuite:
    return read_suite(text.encode() if isinstance(text, str) else text, name, Folder(files))


def suite_of(text: str | bytes, files: Mapping[str, str | bytes] | None = None, name: str = "suite.yaml") -> Suite:
    return loaded(text, files, name).suite


def faults_in(
    text: str | bytes, files: Mapping[str, str | bytes] | None = None, name: str = "suite.yaml"
) -> tuple[Fault, ...]:
    with pytest.raises(AuthoringError) as caught:
        loaded(text, files, name)
    return caught.value.faults


def places(faults: tuple[Fault, ...]) -> list[str]:
    return [f"{fault.file}:{fault.line} {fault.path}" for fault in faults]
