"""One trial for a person to read: what was asked, what was answered, and each assertion with its proof.

Quotes are marked where they stand in what was asked and answered; a document is shown around its quotes, or, where
nobody quoted it, by how it begins. All of this is
foreign text: control characters are written as escapes, and nothing in it is read as markup.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from jurat.cli import _stdout
from jurat.cli._text import visible
from jurat.evidence import Entry, Evidence, message_from_json
from jurat.jsontext import Json
from jurat.judge import Spending
from jurat.report.digits import short, told_apart
from jurat.report.record import AssessmentRecord, CaseRecord, TrialRecord

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

__all__ = ["trial_text"]

_WORDS = {"pass": "PASS", "fail": "FAIL", "unverified": "UNVERIFIED", "error": "ERROR", "skipped": "SKIPPED"}
_STYLES = {"pass": "green", "fail": "red", "unverified": "yellow", "error": "magenta", "skipped": "dim"}
_QUOTED = "bold black on yellow"
_AROUND = 160
"""How much of a document is shown before and after a quote, in characters."""
_MAX_WIDTH = 110
_BEGINNING = 320
"""How much of a document is shown that nobody quoted, in characters."""


def trial_text(
    case: CaseRecord,
    trial: TrialRecord,
    evidence: Sequence[Evidence],
    samples: int,
    *,
    documents: Sequence[Mapping[str, Json]] = (),
    coloured: bool | None = None,
) -> str:
    """A trial as text.

    Args:
        evidence: what each assertion's judge saw, in order; empty when there was no answer.
        samples: trials of the case.
        documents: the case's own, as its snapshot has them.
        coloured: whether colours are used; None: where standard output takes them.
    """
    from rich.console import Console

    width = min(_stdout.columns(80), _MAX_WIDTH)
    page = io.StringIO()
    colour = _stdout.coloured() if coloured is None else coloured
    console = Console(
        file=page,
        width=width,
        color_system="standard" if colour else None,
        force_terminal=colour,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in _parts(case, trial, evidence, samples, documents):
        console.print(part)
    return "".join(f"{line.rstrip()}\n" for line in page.getvalue().splitlines())


def _parts(
    case: CaseRecord,
    trial: TrialRecord,
    evidence: Sequence[Evidence],
    samples: int,
    documents: Sequence[Mapping[str, Json]],
) -> Iterator[RenderableType]:
    which = f"  trial {trial.trial_index + 1} of {samples}" if samples > 1 else ""
    yield _line((f"case {case.name}", "bold"), (f"{which}  ", ""), _status(trial.status.value))
    if case.file is not None:
        yield _line((f"  {case.file}{f':{case.line}' if case.line else ''}", "dim"))
    yield from _conversation(trial, evidence)
    shown = _quoted_entries(trial, evidence)
    yield from _around_quotes(shown)
    yield from _unquoted(documents, [entry.text for entry, _ in shown])
    if trial.assessments:
        yield _line(("assertions", "bold"))
    for index, one in enumerate(trial.assessments):
        yield from _assertion(one, evidence[index] if index < len(evidence) else None)
    yield from _costs(trial)
    yield _line()


def _line(*parts: tuple[str, str]) -> Text:
    from rich.text import Text

    return Text.assemble(*((visible(text), style) for text, style in parts))


def _status(word: str) -> tuple[str, str]:
    return _WORDS[word], f"bold {_STYLES[word]}"


def _indented(text: RenderableType, depth: int = 4) -> RenderableType:
    from rich.padding import Padding

    return Padding(text, (0, 0, 0, depth))


# --- what was asked and answered -----------------------------------------------------------------------------------


def _conversation(trial: TrialRecord, evidence: Sequence[Evidence]) -> Iterator[RenderableType]:
    found = trial.subject
    if not evidence:
        yield from _unjudged(trial)
        return
    entries = [entry for entry in evidence[0].entries if entry.role is not None]
    for index, entry in enumerate(entries):
        answer = index == len(entries) - 1
        yield _line(
            (_called(entry, answer=answer), "bold"), (" (recorded)" if answer and found.recorded else "", "dim")
        )
        yield _indented(_marked(entry.text, _quotes_of(trial, index)))


def _unjudged(trial: TrialRecord) -> Iterator[RenderableType]:
    """Where no judge saw anything: the prompt as it was sent, and the answer or why there is none."""
    found = trial.subject
    for message in found.messages:
        read = message_from_json(message, "message", [])
        if read is not None and (text := read.visible_text):
            yield _line((str(read.role), "bold"))
            yield _indented(_marked(text, ()))
    if not found.messages and found.rendered_input is not None:
        yield _line(("prompt", "bold"))
        yield _indented(_marked(found.rendered_input, ()))
    if found.error is not None:
        yield _line(("no answer  ", "bold"), (f"{found.error.type.value}: {found.error.message}", "magenta"))
    elif found.output is not None:
        yield _line(("output", "bold"))
        yield _indented(_marked(found.output, ()))


def _called(entry: Entry, *, answer: bool) -> str:
    return "output" if answer else str(entry.role or entry.label)


def _quotes_of(trial: TrialRecord, index: int) -> list[str]:
    """The quotes that assertions found in the entry of this number. Conversations are numbered alike for all."""
    return [
        quote["quote"]
        for one in trial.assessments
        for quote in one.result.get("evidence", ())
        if quote["message_index"] == index
    ]


def _marked(text: str, quotes: Sequence[str]) -> Text:
    """The text with its quotes marked where they stand first, and control characters written as escapes."""
    from rich.text import Text

    spans = sorted((at, at + len(quote)) for quote in quotes if (at := text.find(quote)) >= 0)
    made, reached = Text(), 0
    for start, end in spans:
        begin = max(start, reached)
        if begin < end:
            made.append(visible(text[reached:begin]))
            made.append(visible(text[begin:end]), style=_QUOTED)
            reached = end
    return made.append(visible(text[reached:]))


def _quoted_entries(trial: TrialRecord, evidence: Sequence[Evidence]) -> list[tuple[Entry, list[str]]]:
    """What was quoted outside of the conversation: documents, the reference answer, the grounding text."""
    shown: dict[str, tuple[Entry, list[str]]] = {}
    for one, seen in zip(trial.assessments, evidence, strict=False):
        for quote in one.result.get("evidence", ()):
            entry = seen.entries[quote["message_index"]] if quote["message_index"] < len(seen.entries) else None
            if entry is not None and entry.label is not None:
                shown.setdefault(entry.label + entry.text, (entry, []))[1].append(quote["quote"])
    return list(shown.values())


def _around_quotes(shown: Sequence[tuple[Entry, list[str]]]) -> Iterator[RenderableType]:
    for entry, quotes in shown:
        yield _line((str(entry.label), "bold"))
        for excerpt in _excerpts(entry.text, quotes):
            yield _indented(_marked(excerpt, quotes))


def _unquoted(documents: Sequence[Mapping[str, Json]], quoted: Sequence[str]) -> Iterator[RenderableType]:
    """The documents that nobody quoted: name, size, and how they begin."""
    for index, document in enumerate(documents):
        text = str(document.get("text") or "")
        if text in quoted:
            continue
        told = f"  {document.get('media_type') or 'text/plain'}, {len(text):,} characters"
        yield _line((f"document {document.get('name') or index + 1}", "bold"), (told, "dim"))
        yield _indented(_marked(text[:_BEGINNING] + ("…" if len(text) > _BEGINNING else ""), ()))


def _excerpts(text: str, quotes: Sequence[str]) -> Iterator[str]:
    reached = -1
    for at, quote in sorted((text.find(quote), quote) for quote in set(quotes)):
        if at < 0 or at + len(quote) <= reached:
            continue
        start, reached = max(at - _AROUND, 0), min(at + len(quote) + _AROUND, len(text))
        yield f"{'…' if start else ''}{text[start:reached]}{'…' if reached < len(text) else ''}"


# --- what was found ------------------------------------------------------------------------------------------------


def _assertion(one: AssessmentRecord, seen: Evidence | None) -> Iterator[RenderableType]:
    kind = one.result.get("metadata", {}).get("template") or one.type
    named = one.name if one.name == kind else f"{one.name} ({kind})"
    marks = "".join(
        f"  {word}"
        for word in ("required" if one.required else "", f"weight {one.weight:g}" if one.weight != 1 else "")
        if word
    )
    yield _line(("  ", ""), _status(one.status.value), (f"  {named}  {_score(one)}{marks}", ""))
    result = one.result
    if result.get("reason"):
        yield _indented(_marked(str(result["reason"]), ()), 6)
    for quote in result.get("evidence", ()):
        where = _place(quote["message_index"], seen)
        yield _indented(_line((f"“{quote['quote']}”", "italic"), (f" — {where}", "dim")), 8)
    for part in result.get("criteria", ()):
        yield _indented(_line((f"{part['id']}: {short(part['score'])}  {part.get('reason') or ''}", "")), 8)
    for finding in result.get("findings", ()):
        yield _indented(_line((f"{finding['code']}: {finding['message']}", "")), 6)
    if error := result.get("evaluator", {}).get("error"):
        yield _indented(_line((f"{error['type']}: {error['message']}", "magenta")), 6)
    if details := _evaluator(result.get("evaluator", {}), one.spending):
        yield _indented(_line((details, "dim")), 6)


def _score(one: AssessmentRecord) -> str:
    if one.score is None:
        return ""
    metadata: Mapping[str, Json] = one.result.get("metadata", {})
    threshold = metadata.get("threshold")
    if threshold is None or metadata.get("negate"):
        return f"score {short(one.score)}{' (negated)' if metadata.get('negate') else ''}"
    score, limit = told_apart(one.score, threshold)
    return f"score {score} {'≥' if one.score >= threshold else '<'} threshold {limit}"


def _place(index: int, seen: Evidence | None) -> str:
    if seen is None or index >= len(seen.entries):
        return f"entry {index}"
    conversation = sum(entry.role is not None for entry in seen.entries)
    return _called(seen.entries[index], answer=index == conversation - 1)


def _evaluator(evaluator: Mapping[str, Json], spent: Spending) -> str:
    if "provider" not in evaluator:
        return ""
    return f"{evaluator.get('provider')}  {evaluator.get('model')}  {_spent(spent)}{_failed(evaluator)}"


def _failed(told: Mapping[str, Json]) -> str:
    """Why attempts failed, where some did."""
    counts = told.get("failed_attempts")
    if not isinstance(counts, Mapping) or not counts:
        return ""
    return "  failed attempts: " + ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))


def _costs(trial: TrialRecord) -> Iterator[RenderableType]:
    found = trial.subject
    if not found.recorded:
        yield _line((f"subject  {_spent(found.spending)}{_failed(found.execution)}", "dim"))


def _spent(spent: Spending) -> str:
    tokens = [spent.usage.input_tokens, spent.usage.output_tokens]
    told = " + ".join("?" if number is None else f"{number:,}" for number in tokens)
    cost = "cost unknown" if spent.cost_usd is None else f"${spent.cost_usd:.6f}"
    attempts = "1 attempt" if spent.attempts == 1 else f"{spent.attempts} attempts"
    cached = "  from the store" if spent.cached else ""
    return f"{told} tokens  {cost}  {attempts}  {spent.duration_ms / 1000:.2f} s{cached}"
