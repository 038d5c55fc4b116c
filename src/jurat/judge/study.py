"""What a small model does before it is asked for a verdict: it looks up the answer itself.

A small model misses what is wrong with an answer when it has to find the place in a longer text, know the right answer
and compare, all in one token. So the first two are a call of their own, which never sees the work:

- `extract`: it repeats what the sources say on the question. The verdict's question is then put twice: once with what
  was repeated in the place of the sources, once with those of their sentences, to the letter, that lie nearest to it
  and to each sentence of the work (`nearest_sentences`). The first view has lost what the question does not need, the
  second what nobody speaks of; they make different mistakes, and the mean of their log-odds is the score.
- `own_answer`: where nobody has given a reference, it answers the question, and the verdict's question shows that as
  what is expected. After the reference-guided grading of L. Zheng et al., 2023, "Judging LLM-as-a-Judge with MT-Bench
  and Chatbot Arena".

What always holds: the study's call is shown all of the evidence but the work; what it finds goes into the question's
frame of untrusted data and nowhere else; the work is never shortened. Quotes are checked against the evidence, never
against what a study found. A finding that was cut off at its limit is not used.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from jurat.evidence import Entry, Evidence
from jurat.judge.answer import check_signals
from jurat.judge.prompt import render_evidence
from jurat.provider.protocol import FinishReason, Frame, ModelRequest, Reply

__all__ = ["STUDY_TOKENS", "Study", "StudyKind", "nearest_sentences", "views_of", "without_work"]

STUDY_TOKENS = 128
"""The output limit of a study, in tokens."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"\w+")


class StudyKind(StrEnum):
    """What a study looks up, and what is made of it; a change of either is a new revision, and so a new identity."""

    EXTRACT = "extract/v1"
    OWN_ANSWER = "own_answer/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One study. `frame` is its trusted part."""

    frame: Frame
    kind: StudyKind

    def request(self, evidence: Evidence, repeat: int) -> ModelRequest | None:
        """What to ask; None where there is no question, no source to look into, or a reference already."""
        asked = any(entry.role == "user" for entry in evidence.entries)
        if self.kind is StudyKind.EXTRACT:
            useful = any(_is_source(entry) for entry in evidence.entries)
        else:
            useful = all(entry.label != "expected" for entry in evidence.entries)
        if not asked or not useful:
            return None
        return ModelRequest(
            frame=self.frame, user=render_evidence(without_work(evidence), sources_first=True), repeat=repeat
        )

    def views(self, evidence: Evidence, reply: Reply) -> tuple[Evidence, ...]:
        """The evidence as the question shows it, in one way or two.

        Raises:
            AnswerError: `refusal` or `empty_response`, as for any reply.
        """
        if reply.finish_reason is FinishReason.LENGTH:
            return (evidence,)
        return views_of(evidence, self.kind, check_signals(reply).strip())


def without_work(evidence: Evidence) -> Evidence:
    """The evidence without the work, which is the last message of the assistant."""
    work = max((index for index, entry in enumerate(evidence.entries) if entry.role == "assistant"), default=None)
    entries = tuple(entry for index, entry in enumerate(evidence.entries) if index != work)
    return replace(evidence, entries=entries)


def views_of(evidence: Evidence, kind: StudyKind, found: str) -> tuple[Evidence, ...]:
    """What was found as what is expected; or two views, the nearest sentences of each source, and what was repeated."""
    if kind is StudyKind.OWN_ANSWER:
        return (replace(evidence, entries=(*evidence.entries, Entry(label="expected", text=found))),)
    work = [entry.text for entry in evidence.entries if entry.role == "assistant"][-1:]
    nearest = tuple(
        replace(entry, text=nearest_sentences(entry.text, (found, *work))) if _is_source(entry) else entry
        for entry in evidence.entries
    )
    others = tuple(entry for entry in evidence.entries if not _is_source(entry))
    repeated = (*others, Entry(label="context", text=found))
    return tuple(replace(evidence, entries=entries) for entries in dict.fromkeys((nearest, repeated)))


def nearest_sentences(source: str, texts: Sequence[str]) -> str:
    """The sentences of a source that lie nearest to the sentences of some texts, in the source's order.

    Near is who shares many words, each weighted by how few of the source's sentences have it: ln((n + 1) / df), after
    K. Spärck Jones, 1972, "A statistical interpretation of term specificity". Of equals the first is taken; a sentence
    that shares no word has none near it. The whole source when there is none at all.
    """
    sentences = _sentences(source)
    words = [_words(sentence) for sentence in sentences]
    spread = Counter(word for found in words for word in found)
    weight = {word: math.log((len(sentences) + 1) / count) for word, count in spread.items()}
    kept: set[int] = set()
    for text in texts:
        for sought in map(_words, _sentences(text)):
            shared = [math.fsum(weight[word] for word in found & sought) for found in words]
            best = max(shared, default=0.0)
            kept |= {shared.index(best)} if best > 0.0 else set()
    return " ".join(sentences[index] for index in sorted(kept)) or source


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _is_source(entry: Entry) -> bool:
    return entry.label is not None and (entry.label == "context" or entry.label.startswith("document "))
