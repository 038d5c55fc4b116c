"""Documents made by hand, so that every byte of them is known: PDF, DOCX, PNG and JPEG, sound and unsound."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence

__all__ = ["archive", "docx", "jpeg", "paragraph", "pdf", "pdf_of", "pdf_page", "png", "stream", "word_part"]

Files = Mapping[str, bytes | str]


# --- PDF -----------------------------------------------------------------------------------------------------------


def stream(data: bytes, more: bytes = b"") -> bytes:
    """A stream object."""
    return b"<< /Length %d %s >> stream\n%s\nendstream" % (len(data), more, data)


def pdf_page(text: str) -> bytes:
    """The content of a page that shows one line."""
    shown = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)").encode("cp1252")
    return b"BT /F1 12 Tf 72 700 Td (%s) Tj ET" % shown


def pdf_of(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects, numbered from 1; the first is the catalog."""
    out, places = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table)
    return bytes(out)


def pdf(texts: Iterable[str] | Iterable[bytes]) -> bytes:
    """A PDF with a page for each text (or for each stream object, as bytes)."""
    contents = [stream(pdf_page(text)) if isinstance(text, str) else text for text in texts]
    kids = b" ".join(b"%d 0 R" % (4 + 2 * index) for index in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(contents), kids),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for index, content in enumerate(contents):
        font = b"/Resources << /Font << /F1 3 0 R >> >>"
        box = b"/MediaBox [0 0 612 792]"
        objects.append(b"<< /Type /Page /Parent 2 0 R %s %s /Contents %d 0 R >>" % (box, font, 5 + 2 * index))
        objects.append(content)
    return pdf_of(objects)


# --- DOCX ----------------------------------------------------------------------------------------------------------

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
_M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
_KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def paragraph(text: str) -> str:
    """A paragraph of one run."""
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def word_part(root: str, content: str) -> str:
    """A part of a DOCX: `root` is `document`, `hdr`, `ftr`, `footnotes` or `endnotes`."""
    return f'<?xml version="1.0" encoding="UTF-8"?><w:{root} {_W} {_R} {_MC} {_M}>{content}</w:{root}>'


def docx(body: str, parts: Mapping[str, str] | None = None, *, prolog: str = "", more: Files | None = None) -> bytes:
    """A DOCX of this body. `parts` maps a relation's kind and number (`header1`, `footnotes`) to the part's content."""
    parts = parts or {}
    document = word_part("document", f"<w:body>{body}</w:body>").replace("?><w:", f"?>{prolog}<w:", 1)
    roots = {"header": "hdr", "footer": "ftr", "footnotes": "footnotes", "endnotes": "endnotes"}
    kinds = {name: name.rstrip("0123456789") for name in parts}
    relations = "".join(
        f'<Relationship Id="{name}" Type="{_KINDS}/{kind}" Target="{name}.xml"/>' for name, kind in kinds.items()
    )
    files: dict[str, bytes | str] = {
        "[Content_Types].xml": f'<Types><Override PartName="/word/document.xml" ContentType="{_WORD}"/></Types>',
        "_rels/.rels": _relations(f'<Relationship Id="r1" Type="{_KINDS}/officeDocument" Target="word/document.xml"/>'),
        "word/document.xml": document,
        "word/_rels/document.xml.rels": _relations(relations),
        **{f"word/{name}.xml": word_part(roots[kinds[name]], content) for name, content in parts.items()},
        **(more or {}),
    }
    return archive(files)


def _relations(content: str) -> str:
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{space}">{content}</Relationships>'


def archive(files: Files) -> bytes:
    """A ZIP archive."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return sink.getvalue()


# --- pictures ------------------------------------------------------------------------------------------------------


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(width: int, height: int) -> bytes:
    """A black PNG; the pixels are those of one row, whatever the height says."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress(bytes(1 + min(width, 1000)))
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def jpeg(width: int, height: int) -> bytes:
    """The frame of a JPEG: application data with a marker inside, fill bytes, the header, a scan."""
    note = b"\xff\xe0" + struct.pack(">H", 8) + b"JF\xff\xc0\x00\x00"
    frame = b"\xff\xff\xc2" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\x00"
    scan = b"\xff\xda" + struct.pack(">H", 8) + b"\x01\x01\x00\x00\x3f\x00" + b"\x00" * 16
    return b"\xff\xd8" + note + frame + scan + b"\xff\xd9"
