"""What a document is: its content decides, and what its name or its author says must agree.

Pictures, PDF and archives are known by their first bytes. Text is whatever decodes as text, and there the ending or the
declared media type says which: nothing but its claim tells Markdown from CSV. JSON has to be JSON all the same.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from jurat.documents.faults import Unreadable

__all__ = ["CSV", "DOCX", "HTML", "JPEG", "JSON", "KINDS", "PDF", "PNG", "TEXT", "Kind", "kind_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of document that can be read: its name for people, media types (the first is recorded), and endings."""

    label: str
    media_types: tuple[str, ...]
    endings: tuple[str, ...]
    is_text: bool = False

    @property
    def media_type(self) -> str:
        """The one that is recorded."""
        return self.media_types[0]


_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

PNG = Kind(label="PNG", media_types=("image/png",), endings=(".png",))
JPEG = Kind(label="JPEG", media_types=("image/jpeg", "image/jpg"), endings=(".jpg", ".jpeg"))
PDF = Kind(label="PDF", media_types=("application/pdf", "application/x-pdf"), endings=(".pdf",))
DOCX = Kind(label="DOCX", media_types=(_WORD,), endings=(".docx",))
JSON = Kind(label="JSON", media_types=("application/json", "text/json"), endings=(".json",), is_text=True)
CSV = Kind(label="CSV", media_types=("text/csv", "application/csv"), endings=(".csv",), is_text=True)
TSV = Kind(label="TSV", media_types=("text/tab-separated-values",), endings=(".tsv",), is_text=True)
MARKDOWN = Kind(label="Markdown", media_types=("text/markdown",), endings=(".md", ".markdown"), is_text=True)
HTML = Kind(label="HTML", media_types=("text/html", "application/xhtml+xml"), endings=(".html", ".htm"), is_text=True)
XML = Kind(label="XML", media_types=("application/xml", "text/xml"), endings=(".xml",), is_text=True)
TEXT = Kind(label="text", media_types=("text/plain",), endings=(".txt", ".text", ".log"), is_text=True)

KINDS = (PNG, JPEG, PDF, DOCX, JSON, CSV, TSV, MARKDOWN, HTML, XML, TEXT)
"""Every kind that can be read."""

_READABLE = "PNG, JPEG, PDF, DOCX, CSV, JSON or text in UTF-8"
_FOREIGN_ENDINGS = {
    ".doc": "a Word 97–2003 document",
    ".docm": "a Word document with macros",
    ".odt": "an OpenDocument text",
    ".xls": "an Excel workbook",
    ".xlsx": "an Excel workbook",
    ".ppt": "a PowerPoint file",
    ".pptx": "a PowerPoint file",
    ".rtf": "RTF",
    ".gif": "a GIF picture",
    ".webp": "a WebP picture",
    ".tif": "a TIFF picture",
    ".tiff": "a TIFF picture",
    ".bmp": "a bitmap picture",
    ".zip": "a ZIP archive",
    ".gz": "a gzip file",
    ".epub": "an e-book",
    ".parquet": "a Parquet file",
}
_MAGIC: tuple[tuple[bytes, Kind | str], ...] = (
    (b"\x89PNG\r\n\x1a\n", PNG),
    (b"\xff\xd8\xff", JPEG),
    (b"%PDF-", PDF),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document, or an encrypted one"),
    (b"{\\rtf", "RTF"),
    (b"GIF8", "a GIF picture"),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"\x1f\x8b", "a gzip file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite format 3\x00", "a database"),
    (b"\x7fELF", "a program"),
)
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_TEXT_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
_PDF_REACH = 1024
"""Within how many bytes the mark of a PDF may stand when something stands before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """What somebody says of the content: a kind, or in words one that cannot be read."""

    kind: Kind | None
    label: str
    who: str


def kind_of(data: bytes, name: str, media_type: str | None = None) -> Kind:
    """The kind of a document, by its content.

    Raises:
        Unreadable: when it is none of ours, or the name's ending or the declared media type says otherwise.
    """
    claims = [claim for claim in (_by_ending(name), _by_media_type(media_type)) if claim is not None]
    found = _sniffed(data, any(claim.kind is PDF for claim in claims))
    for claim in claims:
        _agree(claim, found)
    if isinstance(found, str):
        raise Unreadable(_READABLE, found)
    return found if not found.is_text else _text_kind(data, claims)


def _by_ending(name: str) -> _Claim | None:
    ending = "." + name.rpartition(".")[2].lower() if "." in name else ""
    for kind in KINDS:
        if ending in kind.endings:
            return _Claim(kind=kind, label=kind.label, who="the ending")
    foreign = _FOREIGN_ENDINGS.get(ending)
    return _Claim(kind=None, label=foreign, who="the ending") if foreign else None


def _by_media_type(media_type: str | None) -> _Claim | None:
    if media_type is None:
        return None
    word = media_type.partition(";")[0].strip().lower()
    for kind in KINDS:
        if word in kind.media_types:
            return _Claim(kind=kind, label=kind.label, who="the media type")
    if word.startswith("text/"):
        return _Claim(kind=TEXT, label="text", who="the media type")
    return _Claim(kind=None, label=repr(media_type[:80]), who="the media type")


def _sniffed(data: bytes, maybe_pdf: bool) -> Kind | str:
    start = data[:_PDF_REACH].removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    for magic, kind in _MAGIC:
        if data.startswith(magic) or (kind is PDF and start.startswith(magic)):
            return kind
    if data.startswith(_ZIP):
        from jurat.documents.docx import what_archive

        return what_archive(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "a WebP picture"
    if maybe_pdf and b"%PDF-" in data[:_PDF_REACH]:
        return PDF
    if b"\x00" in data and not data.startswith(_TEXT_MARKS):
        return "binary data of no kind known here, or UTF-16 without a byte order mark"
    return TEXT if data else "an empty file"


def _agree(claim: _Claim, found: Kind | str) -> None:
    """Raise when a claim and the content do not agree."""
    if claim.kind is not None and _fits(claim.kind, found):
        return
    expected = f"{claim.label}, as {claim.who} says"
    if isinstance(found, str):
        raise Unreadable(expected if claim.kind else _READABLE, found)
    if claim.kind is None and found.is_text:
        raise Unreadable(_READABLE, f"{claim.label}, as {claim.who} says")
    hint = f"If it is meant to be {found.label}, let its name end in {found.endings[0]}"
    raise Unreadable(expected, found.label, hint if claim.who == "the ending" else None)


def _fits(claimed: Kind, found: Kind | str) -> bool:
    return claimed is found or (isinstance(found, Kind) and claimed.is_text and found.is_text)


def _text_kind(data: bytes, claims: list[_Claim]) -> Kind:
    """Which kind of text: what it is claimed to be, the more special of two claims."""
    special = [claim for claim in claims if claim.kind not in (None, TEXT)]
    kinds = {claim.kind for claim in special}
    if len(kinds) > 1:
        first, second = special
        raise Unreadable(f"{first.label}, as {first.who} says", f"{second.label}, as {second.who} says")
    if special and special[0].kind is not None:
        if special[0].kind in (CSV, TSV) and _is_html(data):
            raise Unreadable(f"{special[0].label}, as {special[0].who} says", "an HTML page")
        return special[0].kind
    return TEXT


def _is_html(data: bytes) -> bool:
    start = data[:256].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html"))
