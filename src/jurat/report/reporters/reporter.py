"""What a reporter is: something that is told a run's head, then its cases one by one, and writes bytes to a sink.

It reaches for nothing by itself: no file, no environment, no clock. Whoever feeds it has the figures and the gate
before the first case, so that a reporter need not keep anything of a case that it has written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from jurat.evidence import Evidence
from jurat.jsontext import Json
from jurat.report.record import CaseRecord, RunRecord, TrialRecord
from jurat.suite.case import Place
from jurat.vocabulary import Status

__all__ = ["ReportOptions", "Reporter", "Sink", "Told"]


class Sink(Protocol):
    """Where a report's bytes go."""

    def write(self, data: bytes, /) -> object: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """What every reporter is told.

    Attributes:
        include_output: whether answers and conversations belong to the report.
        runs: how many runs it will be told.
        version: of the program that writes it.
        located: how a file is called, from the name that it has where the program was begun, where those look who read
            the report: from the root of a checkout.
        room: the most bytes that the sink takes, where it is bounded.
    """

    include_output: bool = False
    runs: int = 1
    version: str = "0"
    located: Callable[[str], str] = str
    room: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A case, as reporters are told of it.

    Attributes:
        case: its name and place.
        trials: all that it has, in order.
        outcome: what they come to; None while trials are missing.
        places: where its assertions were written, in their order; empty where that is not known.
        seen: for each trial what each assertion's judge was shown; empty unless outputs belong to the report.
    """

    case: CaseRecord
    trials: Sequence[TrialRecord]
    outcome: Status | None
    places: Sequence[Place] = ()
    seen: Sequence[Sequence[Evidence]] = ()

    @property
    def word(self) -> str:
        """The outcome in a word: that of the status, or `unfinished`."""
        return "unfinished" if self.outcome is None else self.outcome.value

    def place_of(self, assertion: int | None) -> Place:
        """Where an assertion was written; where that is not known, or for the subject, the case's place."""
        known = None if assertion is None or assertion >= len(self.places) else self.places[assertion]
        if known is not None and known.file and known.line is not None:
            return known
        return Place(file=self.case.file, line=self.case.line)

    def own_place_of(self, assertion: int | None) -> Place:
        """Where an assertion was written that the case has to itself; of one that it shares, the case's place.

        A shared one stands in another file than the case, or before it.
        """
        known, case = self.place_of(assertion), self.case
        if case.file is None or case.line is None:
            return known
        own = known.file == case.file and known.line is not None and known.line >= case.line
        return known if own else Place(file=case.file, line=case.line)


class Reporter(Protocol):
    """One report. `begin`, each case, `end`; the same again for another run; at last `close`.

    A sink that cannot be written to raises, and so does the reporter; nothing else of a run makes it raise.
    """

    def begin(self, run: RunRecord, summary: Mapping[str, Json], gate: Mapping[str, Json] | None) -> None:
        """A run begins.

        Args:
            run: whose report it is.
            summary: `RunTally.summary()` of all its cases.
            gate: `GateOutcome.to_json()`; None of a run that is not completed.
        """

    def case(self, told: Told) -> None:
        """One case, in the plan's order."""

    def end(self) -> None:
        """All cases of the run were told."""

    def close(self) -> None:
        """All runs were told. The sink is left open."""
