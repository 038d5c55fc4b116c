"""One file to import, as a stream: a document that is read whole, or rows that are read one by one.

Which of them it is shows in its name and its first line; an archive shows in its first bytes, and its members are
sources of their own. JSON may hold what its writers put there although JSON has no such values: words like NaN become
null, of a repeated key the last value counts, and both are noted.
"""

from __future__ import annotations

import copy
import functools
import io
import math
import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import IO

from jurat._jsonfeed import placed
from jurat._tree import MAX_NUMBER, Place, walk
from jurat.errors import AuthoringError, Fault
from jurat.importing.archive import MAGIC, Archive
from jurat.importing.notes import Notes
from jurat.importing.secrets import clean_text
from jurat.jsontext import Json, JsonSyntaxError, NonFinite, Repeated, parse
from jurat.suite.files import SuiteFiles
from jurat.suite.row import Row
from jurat.suite.rows import read_rows
from jurat.yamltext import MAX_BYTES, parse_yaml

__all__ = ["MAX_DOCUMENT", "Source"]

MAX_DOCUMENT = 256 * 1024 * 1024
"""The most bytes of a document that is read whole. Rows have no such bound together."""
_FIRST = 1024 * 1024
"""How much of a first line is looked at to tell rows from a document."""
_ROWS = (".jsonl", ".ndjson")
_TABLES = (".csv", ".tsv")
_BESIDE = 4 * 1024 * 1024
"""The most bytes of a text that another file names."""
_INNER = 64 * 1024 * 1024
"""The most bytes of a file of tests that another names."""
_MOST_PASSED_OVER = 1_000
_SHOWN = 30
_DEEPEST = 90
"""A suite holds what is imported a few levels deeper than it was."""


class Source:
    """A file.

    Args:
        name: the file as its author calls it.
        stream: its bytes, which can be read anew from the start.
        notes: takes what is odd about it.
        folder: the files beside it, which it may name.
        whole: the archive of which it is a member.
    """

    def __init__(
        self, name: str, stream: IO[bytes], notes: Notes, folder: SuiteFiles | None = None, *, whole: str | None = None
    ) -> None:
        self.name, self._stream, self._notes, self._folder = name, stream, notes, folder
        self._whole = whole
        self._lines: Callable[[str], int | None] = lambda _path: None
        self._value: Json = None
        self._read = False
        self._passed_over: Counter[str] = Counter()
        self.kind = self._kind()

    def _kind(self) -> str:
        self._stream.seek(0)
        if self._stream.read(len(MAGIC)) == MAGIC:
            return "archive"
        lower = self.name.lower()
        if lower.endswith(_TABLES):
            return "csv"
        if lower.endswith(_ROWS):
            return "rows"
        self._stream.seek(0)
        first = self._stream.readline(_FIRST)
        rest = self._stream.readline(_FIRST)
        self._stream.seek(0)
        return "rows" if _is_object(first) and rest.lstrip().startswith(b"{") else "document"

    def rows(self) -> Iterator[Row]:
        """The rows, one by one, those that cannot be read passed over with a note.

        Raises:
            AuthoringError: when it holds none, because it is an archive.
        """
        if self.kind == "archive":
            raise self._an_archive()
        self._stream.seek(0)
        for row in read_rows(self._stream, "csv" if self.kind == "csv" else "jsonl", self.name):
            if row.fault is not None:
                self.note(row.fault.path, f"expected {row.fault.expected}, found {row.fault.found}", line=row.number)
            else:
                yield row

    def value(self) -> Json:
        """The document.

        Raises:
            AuthoringError: when it is neither JSON nor YAML, or too large.
        """
        if not self._read:
            self._value = self._tidy(self._document(), "", 0)
            self._read = True
        return self._value

    def sample(self) -> Json:
        """What its format is recognised by: the document, the first row that can be read, or an archive's names."""
        if self.kind == "document":
            return self.value()
        if self.kind == "archive":
            return list(self.archive().names())
        self._stream.seek(0)
        rows = read_rows(self._stream, "csv" if self.kind == "csv" else "jsonl", self.name)
        return next((dict(row.values) for row in rows if row.values is not None), None)

    def note(self, path: str, reason: str, *, line: int | None = None) -> None:
        """Note that something at a path of the document, or in a row's line, was not taken over."""
        self._notes.add(self.name, path, reason, line if line is not None else self._lines(path), whole=self._whole)

    def beside(self, name: str) -> str | None:
        """The text of a file in the same folder or below; None when there is none that can be read."""
        try:
            data = self._folder.read(name, limit=_BESIDE) if self._folder is not None else None
            return data.decode("utf-8-sig").replace("\r\n", "\n") if data is not None else None
        except (AuthoringError, UnicodeDecodeError):
            return None

    def inner(self, name: str) -> Source | None:
        """A file in the same folder or below as a source of its own; None when there is none that can be read."""
        try:
            data = self._folder.read(name, limit=_INNER) if self._folder is not None else None
        except AuthoringError:
            return None
        if data is None:
            return None
        return Source(posixpath.join(posixpath.dirname(self.name), name), io.BytesIO(data), self._notes, self._folder)

    def archive(self) -> Archive:
        """The archive that it is.

        Raises:
            AuthoringError: when it is none, or cannot be read.
        """
        return Archive(self._stream, self.name)

    def member(self, name: str, archive: Archive) -> Source:
        """A member of the archive as a source of its own.

        Raises:
            AuthoringError: when it cannot be read.
        """
        data = archive.read(name, limit=MAX_DOCUMENT)
        return Source(f"{self.name}/{name}", io.BytesIO(data), self._notes, whole=self.name)

    def at(self, line: int) -> Source:
        """This file, as one of its rows sees it: what is noted stands in that line."""
        made = copy.copy(self)
        made._lines = lambda _path: line
        return made

    def pass_over(self, names: Iterable[str]) -> None:
        """Remember what has no counterpart and would be told too often, one by one."""
        for name in names:
            if name in self._passed_over or len(self._passed_over) < _MOST_PASSED_OVER:
                self._passed_over[name] += 1

    def tell_passed_over(self, what: str) -> None:
        """Note what was passed over, in one sentence."""
        if self._passed_over:
            names = sorted(clean_text(visible_name(name)) for name in self._passed_over)
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            shown = ", ".join(names[:_SHOWN])
            self._notes.add(self.name, what, f"no counterpart in a case; left out: {shown}{more}")
            self._passed_over.clear()

    # --- the document ----------------------------------------------------------------------------------------------

    def _document(self) -> Json:
        self._stream.seek(0)
        data = self._stream.read(MAX_DOCUMENT + 1)
        if len(data) > MAX_DOCUMENT:
            raise self._fault("a document of at most 256 MiB", "a larger one", "Rows (JSON Lines) may be larger")
        if data.startswith(MAGIC):
            raise self._an_archive()
        text = self._decoded(data)
        if not text.lstrip().startswith(("{", "[")):
            return self._yaml(data)
        try:
            value = parse(text)
        except JsonSyntaxError as error:
            if self.name.lower().endswith(".json"):
                found = f"a fault at column {error.column}: {error.what}"
                raise self._fault("valid JSON", found, line=error.line) from None
            return self._yaml(data)
        if len(text) <= MAX_BYTES:
            self._lines = functools.partial(_line, _root(text, self.name))
        return value

    def _an_archive(self) -> AuthoringError:
        return self._fault(
            "JSON, YAML or a table", "an archive", "Unpack it first; only logs of Inspect are read packed"
        )

    def _yaml(self, data: bytes) -> Json:
        document = parse_yaml(data, file=self.name, aliases=True)
        self._lines = document.line_of
        return document.value

    def _decoded(self, data: bytes) -> str:
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise self._fault("UTF-8", "bytes that are no UTF-8", "Save the file as UTF-8", line) from None

    def _fault(self, expected: str, found: str, hint: str | None = None, line: int | None = None) -> AuthoringError:
        fault = Fault(path="", expected=expected, found=found, hint=hint, file=self.name, line=line)
        return AuthoringError("import", [fault])

    def _tidy(self, value: Json, path: str, depth: int) -> Json:
        """The value without what JSON has no place for."""
        if isinstance(value, dict | list) and depth >= _DEEPEST:
            self.note(path, f"nested deeper than {_DEEPEST} levels; left out")
            return None
        if isinstance(value, dict):
            if isinstance(value, Repeated):
                self.note(path, "a key that stands twice in one object; the last value counts")
            inner = f"{path}." if path else ""
            return {key: self._tidy(part, inner + key, depth + 1) for key, part in value.items()}
        if isinstance(value, list):
            return [self._tidy(part, f"{path}[{index}]", depth + 1) for index, part in enumerate(value)]
        if isinstance(value, NonFinite) or (isinstance(value, float) and not math.isfinite(value)):
            self.note(path, "a number that is not finite; it became null")
            return None
        if isinstance(value, int) and value.bit_length() > 3 * MAX_NUMBER:
            self.note(path, "a number of too many digits; it became text")
            return str(value)
        return value


def visible_name(name: str) -> str:
    """A member's name, short and on one line."""
    return "".join(character if character.isprintable() else " " for character in name[:60])


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(parse(line.decode("utf-8-sig").strip()), dict)
    except (JsonSyntaxError, UnicodeDecodeError):
        return False


def _root(text: str, name: str) -> Callable[[], Place]:
    """Where everything in a JSON text stands, found out when somebody asks."""

    @functools.cache
    def root() -> Place:
        return placed(text, name).place or Place(1)

    return root


def _line(root: Callable[[], Place], path: str) -> int | None:
    return walk(root(), path)[0].line
