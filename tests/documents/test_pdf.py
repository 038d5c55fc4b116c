"""PDF: all pages, and a file made to exhaust its reader ends its reader's process alone."""

from __future__ import annotations

import io
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from pypdf import PdfWriter

import jurat
from jurat.documents import Extracted, extract
from jurat.documents.faults import Unreadable
from jurat.documents.pdf import PdfText, read_pdf
from jurat.errors import AuthoringError
from papers import pdf, pdf_of, pdf_page, stream


def refusal(data: bytes, **bounds: float) -> str:
    """What is said of a PDF that cannot be read."""
    with pytest.raises(Unreadable) as caught:
        read_pdf(data, 1_000, **bounds)  # type: ignore[arg-type]
    return str(caught.value)


def deflated(piece: bytes, times: int) -> bytes:
    """A stream object that unpacks to so many times the piece."""
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(piece) for _ in range(times)) + packer.flush()
    return stream(packed, b"/Filter /FlateDecode")


def encrypted(password: str) -> bytes:
    """A PDF that is encrypted with RC4, which needs no other library."""
    writer = PdfWriter(clone_from=io.BytesIO(pdf(["A secret"])))
    writer.encrypt(password, owner_password="owner", algorithm="RC4-128")
    sink = io.BytesIO()
    writer.write(sink)
    return sink.getvalue()


def encrypted_with_aes() -> bytes:
    """A PDF that is encrypted with AES and some password that nobody knows."""
    keys = b"/O <%s> /U <%s> /OE <%s> /UE <%s> /Perms <%s>" % tuple(b"5a" * size for size in (48, 48, 32, 32, 16))
    filters = b"/CF << /StdCF << /CFM /AESV3 /Length 32 /AuthEvent /DocOpen >> >> /StmF /StdCF /StrF /StdCF"
    how = b"/Encrypt << /Filter /Standard /V 5 /R 6 /Length 256 /P -44 %s %s >> /ID [<00> <00>]" % (keys, filters)
    return pdf(["A secret"]).replace(b"/Root 1 0 R", b"/Root 1 0 R " + how)


def test_the_text_of_all_pages_comes_out_in_their_order() -> None:
    found = extract(pdf(["First (page)", "", "Zwölf Euro: 12 €", "Last"]), "report.pdf")

    assert found == Extracted(media_type="application/pdf", text="First (page)\n\nZwölf Euro: 12 €\n\nLast", pages=4)


def test_packed_pages_are_unpacked() -> None:
    assert read_pdf(pdf([deflated(pdf_page("Packed"), 1)]), 100) == PdfText(text="Packed", pages=1, cut_on=None)


def test_characters_come_out_as_the_font_maps_them_and_what_is_none_is_replaced() -> None:
    table = b"1 begincodespacerange <00> <ff> endcodespacerange "
    table += b"3 beginbfchar <41> <4e16> <42> <d83cdf55> <43> <d800> endbfchar"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Any /ToUnicode 6 0 R >>"
    data = pdf_of(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
            font,
            b"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>",
            stream(pdf_page("ABC")),
            stream(b"/CIDInit /ProcSet findresource begin begincmap " + table + b" endcmap end"),
        ]
    )

    text = extract(data, "a.pdf").text

    assert text.startswith("世🍕")
    assert "\ud800" not in text


def test_a_pdf_without_any_text_says_so() -> None:
    assert extract(pdf(["", ""]), "scan.pdf").text == "[application/pdf, 2 pages, no text]"
    assert extract(pdf([""]), "scan.pdf").text == "[application/pdf, 1 page, no text]"


def test_reading_ends_where_the_text_is_cut() -> None:
    assert read_pdf(pdf(["four", "five", "six"]), 8) == PdfText(text="four\n\nfi", pages=3, cut_on=2)
    assert read_pdf(pdf(["four", "five"]), 10) == PdfText(text="four\n\nfive", pages=2, cut_on=None)


@pytest.mark.parametrize("data", [encrypted("user"), encrypted_with_aes()])
def test_an_encrypted_pdf_is_a_fault_that_names_the_file(data: bytes) -> None:
    with pytest.raises(AuthoringError) as caught:
        extract(data, "contracts/secret.pdf")

    told = "contracts/secret.pdf: document: expected a PDF that opens without a password, found an encrypted one"
    assert str(caught.value.faults[0]).startswith(told)


def test_a_pdf_that_opens_without_a_password_is_read() -> None:
    assert extract(encrypted(""), "a.pdf").text == "A secret"


def test_without_pypdf_the_message_says_how_to_install_it() -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from jurat.documents import extract\n"
        "from jurat.errors import AuthoringError\n"
        "try: extract(b'%PDF-1.7', 'a.pdf')\n"
        "except AuthoringError as error: print(error.faults[0])\n"
    )
    source = str(Path(jurat.__file__).parents[1])

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, source], capture_output=True, text=True, check=True
    )

    assert (
        done.stdout == "a.pdf: document: expected pypdf, to read PDF, found none. Run: pip install 'jurat[documents]'\n"
    )


LIBRARY = """
import os, signal, sys, types
errors = types.ModuleType("pypdf.errors")
errors.DependencyError = type("DependencyError", (Exception,), {})
sys.modules["pypdf.errors"] = errors

class PdfReader:
    is_encrypted = False

    def __init__(self, stream):
        self.pages = [self]

    def extract_text(self):
        print("from the library")
        WORK
"""
"""A library that stands in for pypdf, to do what the real one does not."""


def in_place_of_pypdf(folder: Path, work: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "pypdf.py").write_text(LIBRARY.replace("WORK", work), encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))


def test_the_reading_process_has_none_of_the_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-everybody")
    in_place_of_pypdf(tmp_path, "return repr(sorted(os.environ))", monkeypatch)

    assert "PATH" in read_pdf(b"%PDF-", 10_000).text
    assert "OPENAI_API_KEY" not in read_pdf(b"%PDF-", 10_000).text


@pytest.mark.parametrize(
    ("work", "told"),
    [
        ("os._exit(3)", "expected a PDF that can be read, found one that ended its reader (code 3)"),
        ("os.kill(os.getpid(), 9)", "expected a PDF that can be read, found one that ended its reader (signal 9)"),
        ("raise KeyError('a secret')", "expected a PDF that can be read, found a damaged one (KeyError)"),
        ("return self.extract_text()", "expected a PDF, found one whose parts are nested too deep, or without end"),
    ],
)
def test_a_reader_that_ends_in_any_way_ends_alone(
    work: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_place_of_pypdf(tmp_path, work, monkeypatch)

    assert refusal(b"%PDF-") == told


# --- hostile files -------------------------------------------------------------------------------------------------


def test_a_cross_reference_table_that_points_at_itself_ends() -> None:
    whole = pdf(["Hello"])
    table = whole.rpartition(b"startxref\n")[2].partition(b"\n")[0]

    found = read_pdf(whole.replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev " + table), 100)

    assert found.text == "Hello"


def test_a_page_tree_that_contains_itself_is_damaged() -> None:
    tree = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 1 /Kids [2 0 R] >>"]

    assert "found a damaged one" in refusal(pdf_of(tree))


def test_a_page_tree_that_multiplies_its_pages_is_refused() -> None:
    floors = [b"<< /Type /Pages /Count 1 /Kids [%s] >>" % (b"%d 0 R " % (floor + 3) * 10) for floor in range(8)]
    tree = [b"<< /Type /Catalog /Pages 2 0 R >>", *floors, b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 1 1] >>"]

    assert refusal(pdf_of(tree)).startswith("expected ")


def test_too_many_pages_are_refused() -> None:
    pages = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 5001 /Kids [%s] >>" % (b"3 0 R " * 5001)]

    told = refusal(pdf_of([*pages, b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 1 1] >>"]))

    assert told == "expected at most 5,000 pages, found 5,001"


def test_a_stream_that_unpacks_to_more_than_its_bound_is_refused() -> None:
    told = refusal(pdf([deflated(b"0" * 1_000_000, 17)]))  # a million more, and far less than the library allows

    assert told == "expected a PDF of reasonable parts, found one whose parts unpack to more than the bound"


def test_a_page_that_needs_more_memory_than_the_bound_is_refused() -> None:
    pages = [deflated(b"(a) Tj " * 1_000, 2_000)]

    told = refusal(pdf(pages), memory=96 * 1024 * 1024)

    assert told == "expected a PDF that is read in 96 MiB of memory, found one that takes more"


def test_a_pdf_that_takes_longer_than_its_time_is_given_up() -> None:
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 4000 /Kids [%s] >>" % (b"4 0 R " * 4000),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>",
        deflated(b"BT /F1 9 Tf () Tj ET " * 1_000, 5),  # four thousand pages of much work and no text
    ]

    told = refusal(pdf_of(objects), seconds=0.5)

    assert told == "expected a PDF that is read in 0.5 s, found one that takes longer, or never ends"


def test_a_form_that_contains_itself_ends() -> None:
    form = b"/Type /XObject /Subtype /Form /Resources << /XObject << /X 4 0 R >> >>"
    page = b"<< /Type /Page /Parent 2 0 R /Resources << /XObject << /X 4 0 R >> >> /Contents 5 0 R >>"
    tree = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>", page]

    found = read_pdf(pdf_of([*tree, stream(b"/X Do /X Do", form), stream(b"/X Do")]), 100)

    assert found == PdfText(text="", pages=1, cut_on=None)


@pytest.mark.parametrize(
    "data", [b"%PDF-", b"%PDF-1.7\n%%EOF", pdf(["x"])[:200], b"%PDF-1.4 trailer << /Root 1 0 R >> startxref 0"]
)
def test_what_only_begins_like_a_pdf_is_damaged(data: bytes) -> None:
    assert refusal(data).startswith("expected a PDF that can be read, found a damaged one")
