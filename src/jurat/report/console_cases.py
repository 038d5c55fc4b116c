"""A case that did not pass, for a person: which assertion, how far off, why, on what proof. Not the answer itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jurat.jsontext import Json
from jurat.report.console_look import WORDS, Look
from jurat.report.findings import Problem, problems, unasked
from jurat.report.plaintext import clipped, columns, fitted, padded, wrapped
from jurat.report.record import CaseRecord, TrialRecord
from jurat.report.sampling import sampling_of
from jurat.vocabulary import Status

__all__ = ["case_block", "first_messages"]

_REASON = 400
_QUOTE = 200
_NAME = 200
_MOST_QUOTES = 3
_MOST_FINDINGS = 12
_WIDEST = 24
_INDENT = " " * 6


def first_messages(trials: Sequence[TrialRecord], known: dict[str, str]) -> None:
    """Note for each error category the first message that was recorded under it."""
    for trial in trials:
        if trial.subject.error is not None:
            known.setdefault(trial.subject.error.type.value, trial.subject.error.message)
        for made in trial.assessments:
            if error := _part(made.result, "evaluator").get("error"):
                known.setdefault(str(error["type"]), str(error["message"]))


def case_block(
    case: CaseRecord, trials: Sequence[TrialRecord], status: Status, samples: int, look: Look, told: set[str]
) -> str:
    """The case's line, and below it every assertion that did not pass, with the first trial that shows it.

    Args:
        told: the errors that were told in full before; another case says no more than "as above".
    """
    found = problems(trials)
    parts = _shown(found)
    room = max((columns(clipped(part.title, _NAME)) for part in parts), default=0)
    lines = [_title(case, trials, status, samples, look)]
    for part in parts:
        lines += _lead(part, samples, min(room, _WIDEST), look)
        lines += _why(part.error, part.result, look, told)
    if len(found) > len(parts):
        lines.append(f"  and {len(found) - len(parts)} more findings")
    if not parts:
        lines.append(wrapped(unasked(trials), look.width, "  "))
    return "\n".join(lines)


def _shown(found: Sequence[Problem]) -> list[Problem]:
    """All answers that never came, and so many of the assertions that did not pass."""
    lost = [one for one in found if one.assertion is None]
    return [*lost, *[one for one in found if one.assertion is not None][:_MOST_FINDINGS]]


def _title(case: CaseRecord, trials: Sequence[TrialRecord], status: Status, samples: int, look: Look) -> str:
    word = WORDS[status.value]
    lead = f"{word}{' ' * max(6 - len(word), 1)} "
    name = fitted(clipped(case.name, _NAME), look.width - len(lead))
    place = "" if case.file is None else f"{clipped(case.file, _NAME)}{f':{case.line}' if case.line else ''}"
    beside = "  ".join(filter(None, (place, _sampling(trials, samples) if samples > 1 else "")))
    title = f"{look.paint(word, status.value)}{lead.removeprefix(word)}{look.paint(name, 'bold')}"
    if not beside:
        return title
    if columns(lead) + columns(name) + 2 + columns(beside) <= look.width:
        beside = beside.removeprefix(place)
        return title + (look.paint(f"  {place}", "dim") if place else "  ") + beside
    return f"{title}\n{look.paint(wrapped(beside, look.width, _INDENT), 'dim')}"


def _sampling(trials: Sequence[TrialRecord], samples: int) -> str:
    found = sampling_of(trials, samples)
    told = f"{found['passed']} of {found['planned']} trials passed"
    if found["tied"]:
        told += ", a tie"
    return told + (f", {found['undecided']} undecided" if found["undecided"] else "")


def _lead(part: Problem, samples: int, room: int, look: Look) -> list[str]:
    """The finding's own line; what it is held against goes below where there is no room beside."""
    word, title = part.status.value, clipped(part.title, _NAME)
    held = "  ".join(filter(None, (part.held, part.in_trials(samples))))
    start = f"  {look.paint(word, word)}{' ' * max(11 - len(word), 1)}"
    if held and 13 + max(room, columns(title)) + 2 + columns(held) > look.width:
        return [f"{start}{fitted(title, look.width - 13)}", wrapped(held, look.width, _INDENT)]
    return [f"{start}{padded(fitted(title, look.width - 13), room)}  {held}".rstrip()]


def _why(error: str, result: Mapping[str, Json], look: Look, told: set[str]) -> list[str]:
    said = []
    if error:
        said.append(f"{error.partition(':')[0]}, as above" if error in told else error)
        told.add(error)
    said += [str(finding.get("message", "")) for finding in list(result.get("findings") or ())[:3]]
    said += [str(result["reason"])] if result.get("reason") else []
    lines = [wrapped(clipped(text, _REASON), look.width, _INDENT) for text in said]
    quotes = list(result.get("evidence") or ())
    for quote in quotes[:_MOST_QUOTES]:
        text = f"“{clipped(str(quote['quote']), _QUOTE)}” (evidence {quote['message_index']})"
        lines.append(look.paint(wrapped(text, look.width, _INDENT + "  "), "quote"))
    if len(quotes) > _MOST_QUOTES:
        lines.append(f"{_INDENT}  and {len(quotes) - _MOST_QUOTES} more quotes")
    return lines


def _part(result: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    found = result.get(name)
    return found if isinstance(found, Mapping) else {}
