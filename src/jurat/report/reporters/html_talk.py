"""What was asked and answered, in a page, with every quote marked where it stands.

The conversation is shown whole; of documents, reference answers and the like, what stands around their quotes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from jurat.evidence import Entry, Evidence, message_from_json
from jurat.report.record import TrialRecord
from jurat.report.reporters.foreign import xml

__all__ = ["anchor", "called", "marked_html", "talk_html"]

_AROUND = 240
"""How much of a document is shown before and after a quote, in characters."""
Names = Mapping[str, str]
"""Quotes of one entry, and how each is called in the page."""


def called(seen: Evidence, number: int) -> str:
    """What an entry is, for a person: `output`, a role, or a label."""
    conversation = sum(entry.role is not None for entry in seen.entries)
    entry = seen.entries[number]
    return "output" if number == conversation - 1 else str(entry.role or entry.label)


def anchor(key: str, seen: Evidence, number: int, quote: str) -> str:
    """How a quote's mark is called in the page: by trial, entry and place in it."""
    return f"{key}e{number}q{max(seen.entries[number].text.find(quote), 0)}"


def talk_html(trial: TrialRecord, seen: Sequence[Evidence], key: str) -> str:
    """The conversation of a trial, the answer last; then what was quoted outside of it."""
    turns = _judged(trial, seen, key) if seen else _unjudged(trial)
    inner = "".join(turns)
    return f'<div class="talk">{inner}</div>\n' if inner else ""


def _judged(trial: TrialRecord, seen: Sequence[Evidence], key: str) -> Iterator[str]:
    quotes = _by_entry(trial, seen, key)
    first = seen[0]
    for number, entry in enumerate(first.entries):
        if entry.role is not None:
            name = called(first, number)
            recorded = " (recorded)" if name == "output" and trial.subject.recorded else ""
            yield _turn(name + recorded, marked_html(entry.text, quotes.get((None, number), {})), name == "output")
    for (label, _), (entry, names) in _labelled(seen, quotes):
        yield _turn(label, "\n".join(_excerpts(entry.text, names)), False)


def _unjudged(trial: TrialRecord) -> Iterator[str]:
    """Where no judge saw anything: the conversation as it was sent."""
    found = trial.subject
    for message in found.messages:
        read = message_from_json(message, "message", [])
        if read is not None and (text := read.visible_text):
            yield _turn(str(read.role), xml(text), False)
    if not found.messages and found.rendered_input is not None:
        yield _turn("user", xml(found.rendered_input), False)
    if found.output is not None:
        yield _turn("output", xml(found.output), True)


def _turn(name: str, inner: str, answer: bool) -> str:
    mark = " data-answer" if answer else ""
    return f'<div class="turn"{mark}><h4><bdi>{xml(name)}</bdi></h4><pre><bdi>{inner}</bdi></pre></div>'


Key = tuple[str | None, int]


def _by_entry(trial: TrialRecord, seen: Sequence[Evidence], key: str) -> dict[Key, dict[str, str]]:
    """The quotes of each entry. Conversations are numbered alike for all assertions, what follows them is not."""
    found: dict[Key, dict[str, str]] = {}
    for index, (made, evidence) in enumerate(zip(trial.assessments, seen, strict=False)):
        for one in made.result.get("evidence") or ():
            number, text = int(one["message_index"]), str(one["quote"])
            if number < len(evidence.entries) and text:
                shared = evidence.entries[number].role is not None
                place: Key = (None, number) if shared else (str(index), number)
                found.setdefault(place, {})[text] = anchor(key, evidence, number, text)
    return found


def _labelled(
    seen: Sequence[Evidence], quotes: Mapping[Key, dict[str, str]]
) -> Iterator[tuple[tuple[str, str], tuple[Entry, dict[str, str]]]]:
    """What was quoted outside of the conversation, each text once."""
    made: dict[tuple[str, str], tuple[Entry, dict[str, str]]] = {}
    for (index, number), names in quotes.items():
        if index is not None:
            entry = seen[int(index)].entries[number]
            made.setdefault((str(entry.label), entry.text), (entry, {}))[1].update(names)
    yield from made.items()


def marked_html(text: str, names: Names) -> str:
    """The text with its quotes marked where they stand first; where they overlap, what is marked already stays so."""
    spans = sorted((at, at + len(quote), name) for quote, name in names.items() if (at := text.find(quote)) >= 0)
    parts, reached, used = [], 0, set[str]()
    for start, end, name in spans:
        begin = max(start, reached)
        if begin < end:
            tag = "" if name in used else f' id="{name}"'
            used.add(name)
            parts += [xml(text[reached:begin]), f"<mark{tag}>{xml(text[begin:end])}</mark>"]
            reached = end
    return "".join([*parts, xml(text[reached:])])


def _excerpts(text: str, names: Names) -> Iterator[str]:
    reached = -1
    for at, quote in sorted((text.find(quote), quote) for quote in names):
        if at < 0 or at + len(quote) <= reached:
            continue
        start, reached = max(at - _AROUND, 0, reached), min(at + len(quote) + _AROUND, len(text))
        yield f"{'…' if start else ''}{marked_html(text[start:reached], names)}{'…' if reached < len(text) else ''}"
