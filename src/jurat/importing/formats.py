"""The formats, by name: the one protocol that each of them meets, and which of them a file is in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Protocol, cast

from jurat.errors import AuthoringError, Fault
from jurat.importing.draft import Draft, Raw
from jurat.importing.source import Source
from jurat.jsontext import Json
from jurat.vocabulary import nearest

__all__ = ["FORMATS", "Importer", "importer_for"]

FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "promptfoo": "a configuration of promptfoo",
        "deepeval": "a dataset of DeepEval",
        "otel": "traces of OpenTelemetry (OTLP JSON)",
        "openai-evals": "evals, graders and items of OpenAI",
        "inspect": "a log of Inspect",
        "langfuse": "an export of Langfuse",
    }
)
"""Every format with what it is, in the order in which they are looked for."""


class Importer(Protocol):
    """Reads one format. Every module of a format is one."""

    def recognises(self, sample: Json, kind: str) -> bool:
        """Whether a file's document, its first row, or the names in it, are in this format.

        Args:
            kind: `document`, `rows`, `csv` or `archive`.
        """
        ...

    def read(self, source: Source, draft: Draft) -> Iterator[Raw]:
        """The file's cases, one by one; what all of them share goes into the draft.

        Raises:
            AuthoringError: when the file is in another format.
        """
        ...


def _importer(name: str) -> Importer:
    return cast(Importer, import_module(f"jurat.importing.{name.replace('-', '_')}"))


def importer_for(name: str, source: Source) -> Importer:
    """The importer of a format; of `auto`, the first that recognises the file.

    Raises:
        AuthoringError: for an unknown format, and for a file that none recognises.
    """
    known = ", ".join(FORMATS)
    if name in FORMATS:
        return _importer(name)
    if name != "auto":
        near = nearest(name, (*FORMATS, "auto"))
        hint = f"Did you mean {near}?" if near else None
        fault = Fault(path="FORMAT", expected=f"one of auto, {known}", found=repr(name[:80]), hint=hint)
        raise AuthoringError("import", [fault])
    sample = source.sample()
    for format_name in FORMATS:
        importer = _importer(format_name)
        if importer.recognises(sample, source.kind):
            return importer
    hint = "Name the format instead of auto, if it is one of these"
    fault = Fault(path="", expected=f"a file of {known}", found="none of them", hint=hint, file=source.name)
    raise AuthoringError("import", [fault])
