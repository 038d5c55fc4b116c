"""A case that did not pass, for a person: which assertion, how far off, why, on what proof. Not the answer itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jurat.evaluation import TypedError
from jurat.jsontext import Json
from jurat.report.console_look import WORDS, Look
from jurat.report.digits import short, told_apart
from jurat.report.plaintext import clipped, columns, padded, wrapped
from jurat.report.record import AssessmentRecord, CaseRecord, TrialRecord
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
_NOTHING_ASKED = "there are no assertions, so nothing could be decided"
_BELOW_THRESHOLD = "every assertion passed, but the mean of their scores is below the case's pass_threshold"
_Found = tuple[TrialRecord, AssessmentRecord]


class _Part(NamedTuple):
    """One finding of a case, made ready: its own line, its error as it is told, and the result that says why."""

    status: Status
    title: str
    held: str
    error: str
    result: Mapping[str, Json]


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
    lost, found = _lost(trials), _findings(trials)
    parts = [_subject_error(category, records, samples) for category, records in lost.items()]
    parts += [_finding(records, samples) for records in found[:_MOST_FINDINGS]]
    room = max((columns(part.title) for part in parts), default=0)
    lines = [_title(case, trials, status, samples, look)]
    for part in parts:
        lines += _lead(part, min(room, _WIDEST), look)
        lines += _why(part.error, part.result, look, told)
    if len(found) > _MOST_FINDINGS:
        lines.append(f"  and {len(found) - _MOST_FINDINGS} more findings")
    if not parts:
        asked = any(trial.assessments for trial in trials)
        lines.append(f"  {_BELOW_THRESHOLD if asked else _NOTHING_ASKED}")
    return "\n".join(lines)


def _title(case: CaseRecord, trials: Sequence[TrialRecord], status: Status, samples: int, look: Look) -> str:
    word = WORDS[status.value]
    title = (
        f"{look.paint(word, status.value)}{' ' * max(6 - len(word), 1)} {look.paint(clipped(case.name, _NAME), 'bold')}"
    )
    if case.file is not None:
        title += look.paint(f"  {clipped(case.file, _NAME)}{f':{case.line}' if case.line else ''}", "dim")
    return title + (f"  {_sampling(trials, samples)}" if samples > 1 else "")


def _sampling(trials: Sequence[TrialRecord], samples: int) -> str:
    found = sampling_of(trials, samples)
    told = f"{found['passed']} of {found['planned']} trials passed"
    if found["tied"]:
        told += ", a tie"
    return told + (f", {found['undecided']} undecided" if found["undecided"] else "")


def _lost(trials: Sequence[TrialRecord]) -> dict[str, list[tuple[TrialRecord, TypedError]]]:
    """The trials without an answer, by category."""
    found: dict[str, list[tuple[TrialRecord, TypedError]]] = {}
    for trial in trials:
        if (error := trial.subject.error) is not None:
            found.setdefault(error.type.value, []).append((trial, error))
    return found


def _subject_error(category: str, records: Sequence[tuple[TrialRecord, TypedError]], samples: int) -> _Part:
    held = "no answer" + _trials([trial for trial, _ in records], samples)
    return _Part(Status.ERROR, "subject", held, f"{category}: {records[0][1].message}", {})


def _findings(trials: Sequence[TrialRecord]) -> list[list[_Found]]:
    """What did not pass, by assertion, status and category: an error never hides a failure, nor another error."""
    found: dict[tuple[str, Status, str], list[_Found]] = {}
    for trial in trials:
        if trial.subject.error is None:
            for made in trial.assessments:
                if made.status is not Status.PASS:
                    category = _part(_part(made.result, "evaluator"), "error").get("type", "")
                    found.setdefault((made.name, made.status, str(category)), []).append((trial, made))
    return list(found.values())


def _finding(records: Sequence[_Found], samples: int) -> _Part:
    first = records[0][1]
    template = _part(first.result, "metadata").get("template")
    kind = template if isinstance(template, str) else first.type
    title = first.name if first.name == kind else f"{first.name} ({kind})"
    held = _held(first) + _trials([trial for trial, _ in records], samples)
    error = _part(_part(first.result, "evaluator"), "error")
    return _Part(
        first.status,
        clipped(title, _NAME),
        held.strip(),
        f"{error['type']}: {error['message']}" if error else "",
        first.result,
    )


def _lead(part: _Part, room: int, look: Look) -> list[str]:
    """The finding's own line; what it is held against goes below where there is no room beside."""
    word = part.status.value
    start = f"  {look.paint(word, word)}{' ' * max(11 - len(word), 1)}"
    if part.held and 13 + max(room, columns(part.title)) + 2 + columns(part.held) > look.width:
        return [f"{start}{part.title}", wrapped(part.held, look.width, _INDENT)]
    return [f"{start}{padded(part.title, room)}  {part.held}".rstrip()]


def _trials(trials: Sequence[TrialRecord], samples: int) -> str:
    if samples == 1:
        return ""
    numbers = ", ".join(str(trial.trial_index + 1) for trial in trials)
    return f"  in trial{'s' if len(trials) > 1 else ''} {numbers} of {samples}"


def _held(made: AssessmentRecord) -> str:
    """The score against its threshold, as far as that decided."""
    if made.score is None:
        return ""
    facts = _part(made.result, "metadata")
    threshold, repeats = facts.get("threshold"), _part(made.result, "repeats")
    mean = "mean score" if repeats else "score"
    if threshold is None and made.score in (0, 100) and not repeats:
        return ""  # a plain check, whose status says as much
    if not isinstance(threshold, int | float) or facts.get("negate"):
        return f"{mean} {short(made.score)}{' (negated)' if facts.get('negate') else ''}"
    score, limit = told_apart(made.score, threshold)
    sign = "<" if made.score < threshold else ">" if made.score > threshold else "="
    told = f"{mean} {score} {sign} threshold {limit}"
    if not repeats:
        return told
    passed = sum(one.get("status") == "pass" for one in repeats.get("attempts", ()))
    return f"{told}, {passed} of {len(repeats.get('attempts', ()))} repeats passed"


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
