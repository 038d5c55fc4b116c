"""A test case: one input, what is expected of the answer, and the assertions that decide. Pure, frozen data.

Placeholders are still in the texts: `jurat.suite.template` fills them when a trial is made ready. Assertions are still
as their author wrote them: `jurat.assertions` builds them. A case's content hash names everything that decides its
outcome, and nothing of where it was written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from jurat.evidence import ImageBlock, Message
from jurat.jsontext import Json

__all__ = ["Case", "CaseDocument", "Place"]

_NOTHING: Mapping[str, Json] = MappingProxyType({})


def _nothing() -> Mapping[str, Json]:
    return _NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where something was written: a file as its author knows it, and the line, from 1."""

    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseDocument:
    """A document of a case: a file of the suite's folder, or text that stands in the suite.

    Attributes:
        name: how the judge's evidence calls it.
        path: relative to the suite's folder, with `/`; None for text that stands in the suite.
        media_type: what it is, found by its content when it is read; None before.
        text: what it says, extracted when it is read; None before.
        sha256: of the file's bytes (of the text's, where there is no file), 64 hexadecimal digits; None before.
        attach: whether the model that answers is shown the file as it is.
        data: of an attached file: its bytes, once they are read. No part of its identity, which the hash is.
    """

    name: str
    path: str | None = None
    media_type: str | None = None
    text: str | None = None
    sha256: str | None = None
    attach: bool = False
    data: bytes | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case.

    Attributes:
        name: unique in its suite.
        variables: what fills the placeholders; JSON values.
        messages: the conversation before the answer, oldest first; their texts may hold placeholders.
        documents: read before the run, shown to the judge by their text.
        expected: the reference answer, any JSON value, or None.
        output: a recorded answer, judged without asking a subject; None asks.
        execution: what is known of how a recorded answer came about (`tool_calls`, `latency_ms`, …).
        labels: words to select and group by.
        metadata: what the author keeps beside the case; the judge is shown it when there is any.
        assertions: the suite's own first, then the case's; as they were written.
        pass_threshold: the weighted mean of the assertions' scores, 0 to 1, from which a trial passes; None: every
            assertion has to pass.
        pictures: what the case's variables make of the pictures in the prompt whose paths hold placeholders, once they
            are read.
        place: where it was written; no part of its identity.
    """

    name: str
    variables: Mapping[str, Json] = field(default_factory=_nothing)
    messages: tuple[Message, ...] = ()
    documents: tuple[CaseDocument, ...] = ()
    expected: Json = None
    output: str | None = None
    execution: Mapping[str, Json] = field(default_factory=_nothing)
    labels: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=_nothing)
    assertions: tuple[Mapping[str, Json], ...] = ()
    pass_threshold: float | None = None
    pictures: tuple[ImageBlock, ...] = ()
    place: Place = field(default=Place(), compare=False)
