"""The summary at the end of a session: how evaluations came out, errors by category, what was spent, which runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Summary"]

_WORDS = (("pass", "passed"), ("fail", "failed"), ("unverified", "unverified"), ("skipped", "skipped"))
_MOST_RUNS = 10
_MOST_OF_ONE = 2
"""How many runs of one suite are told one by one; two suites may have one name."""


class Summary:
    """Adds up what tests counted, in whichever process they ran.

    Args:
        providers: the names that the command line gives providers for.
        replays: whether recorded replies answer.
    """

    def __init__(self, providers: Iterable[str], *, replays: bool = False) -> None:
        self._providers, self._replays = list(providers), replays
        self._counts: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._known = {"subject": 0.0, "judges": 0.0}
        self._unknown = {"subject": 0, "judges": 0}
        self._runs: dict[str, dict[str, str]] = {}
        self._asked: set[str] = set()

    def add(self, figure: Mapping[str, Any]) -> None:
        """Take in one figure."""
        self._counts.update(figure["counts"])
        self._errors.update(figure["errors"])
        for name, key in (("subject", "subject_usd"), ("judges", "judge_usd")):
            known, unknown = figure.get(key, (0.0, 0))
            self._known[name] += known
            self._unknown[name] += unknown
        self._asked.update(figure.get("asked", ()))
        if figure.get("run"):
            runs = self._runs.setdefault(figure["suite"], {})
            runs[figure["run"]] = figure.get("gate") or runs.get(figure["run"], "")

    def lines(self, outcomes: Iterable[tuple[str, str, str]]) -> list[str]:
        """What there is to say; nothing where nothing was evaluated.

        Args:
            outcomes: what is known of runs by now: suite, id, in words.
        """
        for suite, run, told in outcomes:
            self._runs.setdefault(suite, {})[run] = told
        if not self._counts and not self._runs:
            return []
        lines = [f"evaluated  {self._told()}"]
        if self._errors:
            lines.append("errors     " + ", ".join(f"{number} × {name}" for name, number in self._errors.most_common()))
        lines.append("cost       " + ", ".join(self._cost(name) for name in self._known))
        lines += self._ran()
        if self._replays and self._errors["invalid_request"]:
            lines.append("note       what is asked is not what was recorded: --jurat-record FOLDER records it anew")
        idle = [name for name in self._providers if name not in self._asked]
        lines += [f"note       --jurat-provider {name}=…: nothing asked for a provider of this name" for name in idle]
        return lines

    def _told(self) -> str:
        counts = self._counts
        told = [f"{counts[key]:,} {word}" for key, word in _WORDS if counts[key] or key in ("pass", "fail")]
        if counts["error"]:
            told.append(f"{counts['error']:,} error{'' if counts['error'] == 1 else 's'}")
        return ", ".join(told)

    def _cost(self, name: str) -> str:
        from jurat.report.digits import money

        known, unknown = self._known[name], self._unknown[name]
        if not unknown:
            return f"{name} {money(known)}"
        return f"{name} at least {money(known)} ({unknown:,} unknown)" if known else f"{name} unknown"

    def _ran(self) -> list[str]:
        from jurat.report.plaintext import clipped

        lines = []
        for suite, runs in self._runs.items():
            if len(runs) > _MOST_OF_ONE:
                lines.append(f"runs       {clipped(suite, 80)}: {len(runs):,} (jurat runs)")
            for run, gate in runs.items():
                if len(runs) > _MOST_OF_ONE and not gate.startswith("interrupted"):
                    continue
                lines.append(f"run        {clipped(suite, 80)}: {run}" + (f", {clipped(gate, 300)}" if gate else ""))
        if len(lines) > _MOST_RUNS:
            lines[_MOST_RUNS:] = [f"           and {len(lines) - _MOST_RUNS} more"]
        return lines
