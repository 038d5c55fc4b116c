"""The assertions of a suite's cases, built: placeholders filled, judges found, and what is alike built once.

A hundred thousand cases that share their assertions share what is built of them. Only where a case's own variables
stand in an assertion, or its own reference answer, is there something of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from jurat.assertions import Assertion, build_assertions
from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json
from jurat.judgefactory import JudgeFactory
from jurat.suite.case import Case
from jurat.suite.manifest_checks import filling_faults
from jurat.suite.template import fill_assertion

__all__ = ["AssertionBuilder"]


class AssertionBuilder:
    """Builds the assertions of cases one after the other.

    Args:
        factory: makes the judges.
        faults: gets what is wrong, with paths as `LoadedSuite.locate` wants them.
    """

    def __init__(self, factory: JudgeFactory, faults: list[Fault]) -> None:
        self._factory, self._faults = factory, faults
        self._shared: dict[tuple[int, ...], tuple[Assertion, ...]] = {}

    def build(self, index: int, case: Case) -> tuple[Assertion, ...]:
        """The assertions of a case, which stands at this index in its suite; none when something is wrong."""
        path = f"cases[{index}].assertions"
        filled = self._filled(case, path)
        if filled is None:
            return ()
        # The suite keeps what was written, so that an object's id stays its own.
        alike = tuple(map(id, filled)) if _same(filled, case) else None
        if alike is not None and alike in self._shared:
            return self._shared[alike]
        try:
            made = build_assertions(filled, path=path, judge_factory=self._factory)
        except AuthoringError as error:
            self._faults += error.faults
            made = ()
        if alike is not None:
            self._shared[alike] = made
        return made

    def _filled(self, case: Case, path: str) -> tuple[Mapping[str, Json], ...] | None:
        try:
            return tuple(fill_assertion(assertion, case.variables) for assertion in case.assertions)
        except AuthoringError:  # told in the words of whoever reads a suite file, so that it is told once
            self._faults += filling_faults(
                case.assertions, case.variables, path, f"{path.rpartition('.')[0]}.variables"
            )
            return None


def _same(filled: tuple[Mapping[str, Json], ...], case: Case) -> bool:
    return all(one is written for one, written in zip(filled, case.assertions, strict=True))
