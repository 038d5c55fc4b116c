"""A case that did not pass, for a person: which assertion, how far off, why, on what proof. Not the answer itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
_SUBJECT = "subject"
_Found = tuple[TrialRecord, AssessmentRecord]


def first_messages(trials: Sequence[TrialRecord], known: dict[str, str]) -> None:
    """Note for each error category the first message that was recorded under it."""
    for trial in trials:
        if trial.subject.error is not None:
            known.setdefault(trial.subject.error.type.value, trial.subject.error.message)
        for made in trial.assessments:
            if error := _part(made.result, "evaluator").get("error"):
                known.setdefault(str(error["type"]), str(error["message"]))


def case_block(case: CaseRecord, trials: Sequence[TrialRecord], status: Status, samples: int, look: Look) -> str:
    """The case's line, and below it every assertion that did not pass, with the first trial that shows it."""
    lines = [_title(case, trials, status, samples, look)]
    lines += _subject_errors(trials, samples, look)
    found = _findings(trials)
    for records in found[:_MOST_FINDINGS]:
        lines += _finding(records, samples, look)
    if len(found) > _MOST_FINDINGS:
        lines.append(f"  and {len(found) - _MOST_FINDINGS} more findings")
    if len(lines) == 1:
        lines.append("  there are no assertions, so nothing could be decided")
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


def _subject_errors(trials: Sequence[TrialRecord], samples: int, look: Look) -> list[str]:
    found: dict[str, list[tuple[TrialRecord, TypedError]]] = {}
    for trial in trials:
        if (error := trial.subject.error) is not None:
            found.setdefault(error.type.value, []).append((trial, error))
    lines = []
    for category, pairs in found.items():
        held = "no answer" + _trials([trial for trial, _ in pairs], samples)
        lines.append(_lead(Status.ERROR, _SUBJECT, held, look))
        lines.append(wrapped(f"{category}: {pairs[0][1].message}", look.width, "      "))
    return lines


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


def _finding(records: Sequence[_Found], samples: int, look: Look) -> list[str]:
    first = records[0][1]
    template = _part(first.result, "metadata").get("template")
    kind = first.type if not isinstance(template, str) else template
    title = first.name if first.name == kind else f"{first.name} ({kind})"
    held = _held(first) + _trials([trial for trial, _ in records], samples)
    return [_lead(first.status, title, held.strip(), look), *_why(first, look)]


def _lead(status: Status, name: str, held: str, look: Look) -> str:
    word = status.value
    told = padded(clipped(name, _NAME), 24)
    return f"  {look.paint(word, status.value)}{' ' * max(11 - columns(word), 1)}{told}  {held}".rstrip()


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


def _why(made: AssessmentRecord, look: Look) -> list[str]:
    result, lines = made.result, []
    if error := _part(result, "evaluator").get("error"):
        lines.append(wrapped(f"{error['type']}: {error['message']}", look.width, "      "))
    said = [str(finding.get("message", "")) for finding in list(result.get("findings") or ())[:3]]
    said += [str(result["reason"])] if result.get("reason") else []
    lines += [wrapped(clipped(text, _REASON), look.width, "      ") for text in said]
    quotes = list(result.get("evidence") or ())
    for quote in quotes[:_MOST_QUOTES]:
        told = f"“{clipped(str(quote['quote']), _QUOTE)}” (evidence {quote['message_index']})"
        lines.append(look.paint(wrapped(told, look.width, "        "), "quote"))
    if len(quotes) > _MOST_QUOTES:
        lines.append(f"        and {len(quotes) - _MOST_QUOTES} more quotes")
    return lines


def _part(result: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    found = result.get(name)
    return found if isinstance(found, Mapping) else {}
