"""One document: bytes in, its text out.

What a document is, its content says; an ending or a declared media type that says otherwise is a fault, and so is
whatever is larger, longer in the reading or hungrier than its bounds. Nothing of a document's text stands in a message.
Text comes out in valid Unicode without NUL, with `\\n` between lines, whatever the file had.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from jurat.documents.faults import Unreadable
from jurat.documents.kinds import DOCX, JPEG, PDF, PNG, Kind, kind_of
from jurat.errors import AuthoringError, Fault

__all__ = ["MAX_DOCUMENT_BYTES", "MAX_TEXT", "Extracted", "extract"]

MAX_DOCUMENT_BYTES = 10 * 1024 * 1024
"""The most bytes of one document."""
MAX_TEXT = 2_000_000
"""The most characters that are kept of one document's text."""

_BEYOND = f"what follows the first {MAX_TEXT:,} characters"
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """What came out of a document.

    Attributes:
        media_type: what it is, by its content.
        text: what it says; for pictures, and for PDFs without any text, one line in brackets that says what it is.
        pages: of PDF, from 1; None where there are none.
        cut: what the text lost at its end because of `MAX_TEXT`, in words; None: it is whole.
    """

    media_type: str
    text: str
    pages: int | None = None
    cut: str | None = None


def extract(data: bytes, name: str, *, media_type: str | None = None) -> Extracted:
    """The text of a PNG, JPEG, PDF, CSV, JSON, DOCX or text file.

    May take up to half a minute (PDF is read in a process of its own, which is ended then).

    Args:
        name: the file's name, for its ending and for the message.
        media_type: what the author says it is, if he does.

    Raises:
        AuthoringError: with one fault that names the file: it is too large, of no kind that can be read, not what it is
            said to be, encrypted, damaged, or made to exhaust its reader.
    """
    try:
        if len(data) > MAX_DOCUMENT_BYTES:
            raise Unreadable(f"at most {MAX_DOCUMENT_BYTES // 2**20} MiB", "more")
        return _extract(data, kind_of(data, name, media_type))
    except Unreadable as error:
        fault = Fault(path="document", expected=error.expected, found=error.found, hint=error.hint, file=name)
        raise AuthoringError("document", [fault]) from None


def _extract(data: bytes, kind: Kind) -> Extracted:
    if kind in (PNG, JPEG):
        from jurat.documents.images import jpeg_size, png_size

        width, height = png_size(data) if kind is PNG else jpeg_size(data)
        return Extracted(media_type=kind.media_type, text=f"[{kind.media_type}, {width} × {height}]")
    if kind is PDF:
        return _pdf(data)
    if kind is DOCX:
        from jurat.documents.docx import docx_text

        return _bounded(kind, docx_text(data))
    from jurat.documents.plain import decoded

    return _bounded(kind, decoded(data, kind))


def _pdf(data: bytes) -> Extracted:
    from jurat.documents.pdf import read_pdf

    found = read_pdf(data, MAX_TEXT)
    text = _sound(found.text)
    if not text.strip():
        pages = "1 page" if found.pages == 1 else f"{found.pages:,} pages"
        text = f"[{PDF.media_type}, {pages}, no text]"
    cut = None if found.cut_on is None else f"{_BEYOND}, on page {found.cut_on:,} of {found.pages:,}"
    return Extracted(media_type=PDF.media_type, text=text, pages=found.pages, cut=cut)


def _bounded(kind: Kind, text: str) -> Extracted:
    text = _sound(text)
    cut = f"{_BEYOND} of {len(text):,}" if len(text) > MAX_TEXT else None
    return Extracted(media_type=kind.media_type, text=text[:MAX_TEXT], cut=cut)


def _sound(text: str) -> str:
    """Lines that end in `\\n`; what is no character becomes the replacement character."""
    return _NO_TEXT.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
