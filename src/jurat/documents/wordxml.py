"""The XML of a DOCX, read as a stream: nothing is kept of it but the text.

A document type is refused, and with it every entity; elements may nest no deeper than `_DEPTH`, so that nothing grows
out of a few bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol
from xml.parsers import expat

from jurat.documents.faults import Unreadable

__all__ = ["Relations", "Story", "parse"]

_WORD = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
_MATHS = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_RELATION_IDS = (
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships id",
    "http://purl.oclc.org/ooxml/officeDocument/relationships id",
)
_COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_DEPTH = 1_000
_UNSEEN = frozenset(("del", "moveFrom", "instrText", "delText", "delInstrText", "rPrChange", "pPrChange", "rubyPr"))
_ROOTS = frozenset(("document", "hdr", "ftr", "footnotes", "endnotes"))
_FALSE = frozenset(("0", "false", "off", "none"))
_MARKS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011", "softHyphen": ""}


class Reader(Protocol):
    """What is told of the elements and characters of a part, in order. Names are `namespace local`."""

    def start(self, name: str, attributes: dict[str, str]) -> None: ...
    def end(self, name: str) -> None: ...
    def characters(self, text: str) -> None: ...


def parse(pieces: Iterator[bytes], reader: Reader) -> None:
    """Read XML piece by piece.

    Raises:
        Unreadable: for XML that is not well formed, has a document type, or nests too deep.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEPTH:
            raise Unreadable(f"XML of at most {_DEPTH:,} levels", "more")
        reader.start(name, attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        reader.end(name)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = reader.characters
    parser.StartDoctypeDeclHandler = _refuse
    try:
        for piece in pieces:
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise Unreadable("well-formed XML", f"a fault at line {error.lineno} of a part") from None


def _refuse(*_: object) -> None:
    raise Unreadable("XML without a document type", "one that declares it, and perhaps entities")


class Relations:
    """What a part refers to: id, the last word of the relation's type, and the target."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str, str]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """One relation; those to places outside of the archive are passed over."""
        if name.endswith(" Relationship") and attributes.get("TargetMode") != "External":
            kind = attributes.get("Type", "").rpartition("/")[2]
            self.found.append((attributes.get("Id", ""), kind, attributes.get("Target", "")))

    def end(self, name: str) -> None:
        """Nothing to do."""

    def characters(self, text: str) -> None:
        """Nothing to do."""


class Story:
    """The text of one part: body, header, footer or notes.

    Attributes:
        known: whether the part was one of these.
        headers, footers: the relation ids of those that its sections use.
    """

    def __init__(self) -> None:
        self.known = False
        self.headers: list[str] = []
        self.footers: list[str] = []
        self._lines: list[str] = []
        self._line: list[str] = []
        self._unseen = 0
        self._in_text = self._vanished = self._in_style = False
        self._cells: list[list[list[str]]] = []
        self._outer: list[tuple[list[str], list[str]]] = []

    def text(self) -> str:
        """The lines, without the blank ones at either end."""
        return "\n".join(self._lines).strip("\n")

    # --- elements ----------------------------------------------------------------------------------------------

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        namespace, _, local = name.rpartition(" ")
        if self._unseen or local in _UNSEEN or (namespace == _COMPATIBILITY and local == "Fallback"):
            self._unseen += 1
            return
        if namespace == _MATHS and local == "t":
            self._in_text = True
        if namespace not in _WORD:
            return
        self.known = self.known or local in _ROOTS
        if (begin := _BEGIN.get(local)) is not None:
            begin(self, attributes)
        elif local in _MARKS and not self._vanished and not self._in_style:
            self._line.append(_MARKS[local])

    def end(self, name: str) -> None:
        """An element ends."""
        if self._unseen:
            self._unseen -= 1
            return
        namespace, _, local = name.rpartition(" ")
        if namespace == _MATHS and local == "t":
            self._in_text = False
        if namespace in _WORD and (finish := _FINISH.get(local)) is not None:
            finish(self)

    def characters(self, text: str) -> None:
        """Text, which counts inside of `w:t` alone."""
        if self._in_text and not self._vanished and not self._unseen:
            self._line.append(text)

    # --- what the elements mean ----------------------------------------------------------------------------------

    def _paragraph_ends(self) -> None:
        self._lines.append("".join(self._line))
        self._line.clear()

    def _run_begins(self, _: dict[str, str]) -> None:
        self._vanished = False

    def _vanish(self, attributes: dict[str, str]) -> None:
        self._vanished = _value(attributes) not in _FALSE

    def _text_begins(self, _: dict[str, str]) -> None:
        self._in_text = True

    def _text_ends(self) -> None:
        self._in_text = False

    def _style_begins(self, _: dict[str, str]) -> None:
        self._in_style = True

    def _style_ends(self) -> None:
        self._in_style = False

    def _row_begins(self, _: dict[str, str]) -> None:
        self._cells.append([])

    def _row_ends(self) -> None:
        if self._cells:
            cells = self._cells.pop()
            self._lines.append("\t".join(" ".join(filter(None, cell)) for cell in cells))

    def _box_begins(self, _: dict[str, str]) -> None:
        """A cell or a text box: its paragraphs are gathered apart from those around it."""
        self._outer.append((self._lines, self._line))
        self._lines, self._line = [], []

    def _cell_ends(self) -> None:
        lines = self._box_lines()
        if self._cells:
            self._cells[-1].append(lines)
        else:
            self._lines.extend(lines)

    def _text_box_ends(self) -> None:
        lines = self._box_lines()
        self._lines.extend(lines)

    def _box_lines(self) -> list[str]:
        lines = self._lines
        if self._line:
            lines.append("".join(self._line))
        self._lines, self._line = self._outer.pop() if self._outer else ([], [])
        return lines

    def _note_begins(self, attributes: dict[str, str]) -> None:
        if _value(attributes, "type") in ("", "normal"):
            self._line.append(f"[{_value(attributes, 'id')}] ")
        else:  # the line that divides notes from the page, and the like
            self._unseen += 1

    def _note_referred(self, attributes: dict[str, str]) -> None:
        if not self._vanished:
            self._line.append(f"[{_value(attributes, 'id')}]")

    def _header(self, attributes: dict[str, str]) -> None:
        self.headers.extend(attributes[key] for key in _RELATION_IDS if key in attributes)

    def _footer(self, attributes: dict[str, str]) -> None:
        self.footers.extend(attributes[key] for key in _RELATION_IDS if key in attributes)


def _value(attributes: dict[str, str], name: str = "val") -> str:
    return next((attributes[f"{space} {name}"] for space in _WORD if f"{space} {name}" in attributes), "")


_BEGIN: dict[str, Callable[[Story, dict[str, str]], None]] = {
    "r": Story._run_begins,
    "vanish": Story._vanish,
    "t": Story._text_begins,
    "pPr": Story._style_begins,
    "tr": Story._row_begins,
    "tc": Story._box_begins,
    "txbxContent": Story._box_begins,
    "footnote": Story._note_begins,
    "endnote": Story._note_begins,
    "footnoteReference": Story._note_referred,
    "endnoteReference": Story._note_referred,
    "headerReference": Story._header,
    "footerReference": Story._footer,
}
_FINISH: dict[str, Callable[[Story], None]] = {
    "p": Story._paragraph_ends,
    "t": Story._text_ends,
    "pPr": Story._style_ends,
    "tr": Story._row_ends,
    "tc": Story._cell_ends,
    "txbxContent": Story._text_box_ends,
}
