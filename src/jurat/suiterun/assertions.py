"""The assertions of a suite's cases, built: placeholders filled, judges found, and what is alike built once.

A hundred thousand cases that share their assertions share what is built of them. Only where a case's own variables
stand in an assertion, or its own reference answer, is there something of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
        self._whole: dict[tuple[int, ...], tuple[Assertion, ...]] = {}
        self._parts: dict[tuple[int, ...], dict[int, Assertion]] = {}

    def build(self, index: int, case: Case) -> tuple[Assertion, ...]:
        """The assertions of a case, which stands at this index in its suite; none when something is wrong."""
        path = f"cases[{index}].assertions"
        filled = self._filled(case, path)
        if filled is None:
            return ()
        # The suite keeps what was written, so that an object's id stays its own.
        written = tuple(map(id, case.assertions))
        own = {place for place, one in enumerate(filled) if one is not case.assertions[place]}
        if not own:
            if written not in self._whole:  # with faults too: once for all cases that share them
                self._whole[written] = self._built(filled, path, {})
            return self._whole[written]
        shared = self._parts.setdefault(written, {})
        made = self._built(filled, path, {place: one for place, one in shared.items() if place not in own})
        shared |= {place: one for place, one in enumerate(made) if place not in own}
        return made

    def _built(
        self, values: Sequence[Mapping[str, Json]], path: str, made_before: Mapping[int, Assertion]
    ) -> tuple[Assertion, ...]:
        try:
            return build_assertions(values, path=path, judge_factory=self._factory, made_before=made_before)
        except AuthoringError as error:
            self._faults += error.faults
            return ()

    def _filled(self, case: Case, path: str) -> tuple[Mapping[str, Json], ...] | None:
        try:
            return tuple(fill_assertion(assertion, case.variables) for assertion in case.assertions)
        except AuthoringError:  # told in the words of whoever reads a suite file, so that it is told once
            self._faults += filling_faults(
                case.assertions, case.variables, path, f"{path.rpartition('.')[0]}.variables"
            )
            return None
