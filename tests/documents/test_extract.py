"""What a document is, its content says; its name and its author have to agree."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurat.documents import MAX_DOCUMENT_BYTES, Extracted, extract
from jurat.documents.extract import MAX_TEXT
from jurat.documents.kinds import KINDS
from jurat.errors import AuthoringError, Fault
from papers import archive, docx, jpeg, paragraph, pdf, png

OLD = "an old Office document, or an encrypted one"
ANY = "PNG, JPEG, PDF, DOCX, CSV, JSON or text in UTF-8"


def fault(data: bytes, name: str, media_type: str | None = None) -> Fault:
    """The one fault of a document that cannot be read."""
    with pytest.raises(AuthoringError) as caught:
        extract(data, name, media_type=media_type)
    (found,) = caught.value.faults
    assert found.file == name
    return found


def test_a_text_file_is_its_text() -> None:
    assert extract("Grüße, 世界 🍕\n".encode(), "notes.txt") == Extracted(
        media_type="text/plain", text="Grüße, 世界 🍕\n"
    )


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.txt", "text/plain"),
        ("a.md", "text/markdown"),
        ("a.HTML", "text/html"),
        ("a.csv", "text/csv"),
        ("a.tsv", "text/tab-separated-values"),
        ("a.xml", "application/xml"),
        ("a.log", "text/plain"),
        ("a.py", "text/plain"),
        ("README", "text/plain"),
        ("a.b/README", "text/plain"),
    ],
)
def test_the_ending_says_which_kind_of_text_it_is(name: str, media_type: str) -> None:
    assert extract(b"a,b\n1,2\n", name).media_type == media_type


def test_the_author_may_say_what_a_file_without_an_ending_is() -> None:
    found = extract(b"a,b\n1,2\n", "export", media_type="text/csv; charset=utf-8")

    assert found == Extracted(media_type="text/csv", text="a,b\n1,2\n")


def test_json_stays_as_it_was_written() -> None:
    assert extract(b'{"price": 1.10,\r\n "a": 1, "a": 2}', "a.json") == Extracted(
        media_type="application/json", text='{"price": 1.10,\n "a": 1, "a": 2}'
    )


def test_what_is_said_to_be_json_has_to_be_json() -> None:
    found = fault(b'{\n  "a": }', "a.json")

    assert (found.expected, found.found) == ("JSON, as it is said to be", "a value was expected (line 2, column 8)")


@pytest.mark.parametrize(
    "data",
    [
        "\ufeffzwei\r\nZeilen\r".encode(),
        "zwei\r\nZeilen\r".encode("utf-16"),
        "\ufeffzwei\r\nZeilen\r".encode("utf-16-be"),
        "\ufeffzwei\r\nZeilen\r".encode("utf-32-le"),
    ],
)
def test_a_byte_order_mark_says_the_encoding_and_is_dropped(data: bytes) -> None:
    assert extract(data, "a.txt").text == "zwei\nZeilen\n"


def test_text_in_a_code_page_is_refused_with_the_byte_that_shows_it() -> None:
    found = fault("Gr\u00fc\u00dfe".encode("cp1252"), "a.txt")

    assert str(found) == "a.txt: document: expected text in UTF-8, found a byte that is none, at 3. Save it as UTF-8"


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.json", "a.bin"])
def test_binary_data_is_no_text(name: str) -> None:
    assert fault(b"\x01\x02\x00\x03abc", name).found.startswith("binary data of no kind known here")


def test_an_empty_file_is_no_document() -> None:
    assert fault(b"", "a.txt").found == "an empty file"


def test_a_picture_is_told_by_a_line_that_gives_its_size() -> None:
    assert extract(png(640, 480), "a.png") == Extracted(media_type="image/png", text="[image/png, 640 × 480]")
    assert extract(jpeg(64, 48), "a.jpeg") == Extracted(media_type="image/jpeg", text="[image/jpeg, 64 × 48]")


@pytest.mark.parametrize(
    ("data", "name", "expected", "found"),
    [
        (docx(paragraph("x")), "a.pdf", "PDF, as the ending says", "DOCX"),
        (archive({"a.txt": "x"}), "a.pdf", "PDF, as the ending says", "a ZIP archive"),
        (archive({"xl/workbook.xml": "x"}), "a.docx", "DOCX, as the ending says", "an Excel workbook"),
        (
            archive({"ppt/presentation.xml": "x"}),
            "deck",
            ANY,
            "a PowerPoint file",
        ),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512),
            "a.docx",
            "DOCX, as the ending says",
            OLD,
        ),
        (docx(paragraph("x")), "a.doc", "a Word 97–2003 document, as the ending says", "DOCX"),
        (png(1, 1), "a.jpg", "JPEG, as the ending says", "PNG"),
        (b"plain", "a.pdf", "PDF, as the ending says", "text"),
        (b"plain", "a.docx", "DOCX, as the ending says", "text"),
        (b"<!DOCTYPE html><p>Not found", "a.csv", "CSV, as the ending says", "an HTML page"),
        (gzip.compress(b"plain", mtime=0), "a.txt", "text, as the ending says", "a gzip file"),
        (b"GIF89a" + bytes(20), "a.gif", ANY, "a GIF picture"),
        (b"{\\rtf1 x}", "a.rtf", ANY, "RTF"),
    ],
)
def test_an_ending_that_the_content_contradicts_is_a_fault(data: bytes, name: str, expected: str, found: str) -> None:
    told = fault(data, name)

    assert (told.expected, told.found) == (expected, found)


def test_the_hint_tells_how_the_file_should_be_called() -> None:
    assert fault(png(1, 1), "a.jpg").hint == "If it is meant to be PNG, let its name end in .png"


@pytest.mark.parametrize(
    ("name", "media_type", "expected", "found"),
    [
        ("a", "application/pdf", "PDF, as the media type says", "text"),
        ("a", "image/webp", ANY, "'image/webp', as the media type says"),
        ("a.csv", "application/json", "CSV, as the ending says", "JSON, as the media type says"),
    ],
)
def test_a_declared_media_type_that_the_content_contradicts_is_a_fault(
    name: str, media_type: str, expected: str, found: str
) -> None:
    told = fault(b"plain text", name, media_type)

    assert (told.expected, told.found) == (expected, found)


def test_a_text_media_type_that_is_not_known_here_is_text() -> None:
    assert extract(b"key: value", "a", media_type="text/x-yaml").media_type == "text/plain"


def test_a_text_that_speaks_of_pdf_is_no_pdf() -> None:
    assert extract(b"The first bytes are %PDF-1.7", "a.txt").media_type == "text/plain"


def test_a_pdf_may_have_a_little_before_its_mark_when_it_is_called_one() -> None:
    assert extract(b"\r\n" + pdf(["Hello"]), "a").media_type == "application/pdf"
    assert extract(b"HTTP/1.1 200 OK\r\n\r\n" + pdf(["Hello"]), "a.pdf").text == "Hello"


def test_a_document_of_more_than_ten_mebibytes_is_refused_before_it_is_looked_at() -> None:
    assert (fault(bytes(MAX_DOCUMENT_BYTES + 1), "a.pdf").expected, MAX_DOCUMENT_BYTES) == ("at most 10 MiB", 10485760)


def test_the_text_is_bounded_and_what_was_cut_is_told() -> None:
    found = extract(b"x" * 2_000_005, "a.txt")

    assert (len(found.text), found.cut) == (MAX_TEXT, "what follows the first 2,000,000 characters of 2,000,005")
    assert extract(b"x" * 2_000_000, "a.txt").cut is None


def test_no_message_repeats_the_text_of_a_document() -> None:
    secret = "Xyzzy-4711"
    for data, name in [
        (f'{{"a": {secret}}}'.encode(), "a.json"),
        (secret.encode() + b"\xff", "a.txt"),
        (secret.encode(), "a.pdf"),
        (b"%PDF-1.7\n" + secret.encode(), "a.pdf"),
        (docx(f"<w:p>{secret}</w:x>"), "a.docx"),
    ]:
        assert secret not in str(fault(data, name))


@given(st.binary(max_size=400), st.sampled_from(["a.txt", "a.json", "a.docx", "a.png", "a.jpg", "a.csv", "a", "a.doc"]))
def test_no_bytes_raise_anything_but_a_fault(data: bytes, name: str) -> None:
    try:
        found = extract(data, name)
    except AuthoringError:
        fault(data, name)
    else:
        assert found.media_type in {kind.media_type for kind in KINDS}
        json.dumps(found.text, ensure_ascii=False).encode()


@pytest.mark.parametrize("whole", [png(3, 2), jpeg(3, 2), docx(paragraph("Hello"))])
def test_any_damage_is_a_fault_or_leaves_a_document(whole: bytes) -> None:
    for place in range(len(whole)):
        for data in (whole[:place], whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]):
            try:
                extract(data, "a")
            except AuthoringError:
                fault(data, "a")


def test_every_kind_of_document_is_documented_with_its_endings() -> None:
    told = (Path(__file__).parents[2] / "docs" / "documents.md").read_text("utf-8")

    assert [kind.label for kind in KINDS if f"`{kind.media_type}`" not in told] == []
    assert [ending for kind in KINDS for ending in kind.endings if f"`{ending}`" not in told] == []
