"""A run for a person to read: what did not pass and why, then the figures, and last what all of it comes to.

Cases are taken one by one, and a bounded part of them is kept. Every text of a model is made harmless and cut; answers
are not shown. Numbers have as many digits as it takes to see on which side of a limit they lie. Nothing speaks of
success where nothing was decided, and a cost that is not known is called unknown, never $0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jurat.jsontext import Json
from jurat.report.console_cases import case_block, first_messages
from jurat.report.console_figures import figures
from jurat.report.console_look import Look
from jurat.report.digits import count
from jurat.report.plaintext import clipped, columns, fitted, padded, wrapped
from jurat.report.record import CaseRecord, RunRecord, RunStatus, TrialRecord
from jurat.vocabulary import Status

__all__ = ["Look", "RunConsole"]

_WORDS = {"passed": "PASSED", "failed": "FAILED", "undecided": "UNDECIDED"}
_LEAST = 20
"""With fewer columns than that for it, a name says little."""
_STYLES = {"passed": "pass", "failed": "fail", "undecided": "unverified"}


@dataclass(slots=True)
class RunConsole:
    """Gathers what there is to say of a run.

    Args:
        run: whose cases these are.
        look: how wide, in what colours.
        show: how many of the cases that did not pass are shown with their reasons.
    """

    run: RunRecord
    look: Look = field(default_factory=Look)
    show: int = 20
    _blocks: list[str] = field(default_factory=list)
    _unshown: int = 0
    _told: set[str] = field(default_factory=set)
    _messages: dict[str, str] = field(default_factory=dict)

    def case(self, case: CaseRecord, trials: Sequence[TrialRecord], status: Status | None) -> None:
        """Take in one case; `status` is its outcome, None while it lacks trials."""
        first_messages(trials, self._messages)
        if status is Status.PASS or status is None:
            return
        if len(self._blocks) < self.show:
            self._blocks.append(case_block(case, trials, status, self.run.samples, self.look, self._told))
        else:
            self._unshown += 1

    def text(self, summary: Mapping[str, Json], gate: Mapping[str, Json] | None) -> str:
        """The whole, ending with a line break.

        Args:
            summary: `RunTally.summary()`.
            gate: `GateOutcome.to_json()`; None for a run that is not completed.
        """
        parts = [self._head(gate), *self._cases(), figures(summary, self._messages, self.look), self._outcome(gate)]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _head(self, gate: Mapping[str, Json] | None) -> str:
        run = self.run
        times = f" × {count(run.samples, 'trial')}" if run.samples > 1 else ""
        facts = f"run {run.id}, {count(run.cases, 'case')}{times}"
        word = _WORDS[gate["outcome"]] if gate is not None else run.status.value
        name, room = clipped(run.suite, 200), self.look.width - len(word) - len(facts) - 4
        if columns(name) > room and room < _LEAST:  # then below
            room, facts = self.look.width - len(word) - 2, f"\n{wrapped(facts, self.look.width, '  ')}"
        else:
            facts = f"  {facts}"
        return f"{self.look.paint(fitted(name, room), 'bold')}  {self._word(gate)}{facts}"

    def _word(self, gate: Mapping[str, Json] | None) -> str:
        if gate is None:
            return self.look.paint(self.run.status.value.upper(), "unverified")
        return self.look.paint(_WORDS[gate["outcome"]], _STYLES[gate["outcome"]])

    def _cases(self) -> list[str]:
        total = len(self._blocks) + self._unshown
        if not total:
            return []
        shown = f", the first {len(self._blocks)} of them" if self._unshown and self._blocks else ""
        title = self.look.paint(f"{count(total, 'case')} did not pass{shown}:", "bold")
        more = [f"{self._unshown:,} more: jurat show {self.run.id}"] if self._unshown else []
        return ["\n\n".join([title, *self._blocks, *more])]

    # --- the end ---------------------------------------------------------------------------------------------------

    def _outcome(self, gate: Mapping[str, Json] | None) -> str:
        if gate is None:
            return self._unfinished()
        lines = [] if gate["policy"] is None else [*self._rules(gate["rules"]), ""]
        sentence = wrapped(f"{gate['reason']}", self.look.width - 11, "").replace("\n", "\n" + " " * 11)
        return "\n".join([*lines, f"{padded_word(self._word(gate), _WORDS[gate['outcome']], 11)}{sentence}"])

    def _rules(self, rules: Sequence[Mapping[str, Json]]) -> list[str]:
        made = [self.look.paint("policy", "bold")]
        told = (str(rule["rule"].get("name") or rule["rule"].get("type", "")) for rule in rules)
        names = [fitted(clipped(name, 200), 25) for name in told]
        room = max((columns(name) for name in names), default=0) + 2
        for name, rule in zip(names, rules, strict=True):
            word = rule["outcome"] if rule["outcome"] != "failed" else "FAILED"
            lead = padded_word(self.look.paint(word, _STYLES[rule["outcome"]]), word, 11)
            margin = " " * (13 + room)
            reason = wrapped(rule["reason"], self.look.width, margin).removeprefix(margin)
            made.append(f"  {lead}{padded(name, room)}{reason}")
        return made

    def _unfinished(self) -> str:
        run = self.run
        if run.status is RunStatus.INTERRUPTED:
            return f"{self._word(None)}  nothing is lost; go on with: jurat resume {run.id}"
        return f"{self._word(None)}  the gate is decided at the end"


def padded_word(painted: str, word: str, width: int) -> str:
    """A painted word followed by spaces, as if it were not painted."""
    return painted + " " * max(width - len(word), 1)
