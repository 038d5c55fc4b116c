"""A suite with its documents: what they say, and every fault of everything at once."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from jurat.errors import AuthoringError
from jurat.suitefiles import load_suite
from papers import docx, paragraph, pdf, png

SUITE = """\
schema_version: 1
suite: reading
subject: {python: "app:answer"}
assertions: [{type: contains, value: x}]
cases:
"""


def suite_in(folder: Path, cases: str, name: str = "suite.yaml") -> Path:
    (folder / name).write_text(SUITE + cases, encoding="utf-8")
    return folder / name


def faults_of(path: Path) -> list[str]:
    """What is wrong with a suite, without the folder that it stands in."""
    with pytest.raises(AuthoringError) as caught:
        load_suite(path)
    return [str(fault).replace(f"{path.parent}/", "") for fault in caught.value.faults]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A suite's folder, with a file in it and a secret beside it."""
    (tmp_path / "secret.txt").write_text("secret")
    inside = tmp_path / "suite"
    (inside / "docs").mkdir(parents=True)
    (inside / "docs" / "faq.md").write_text("Questions")
    return inside


def test_the_documents_of_a_suite_are_read_with_their_text_kind_and_hash(folder: Path) -> None:
    (folder / "report.pdf").write_bytes(pdf(["First", "Second"]))
    (folder / "terms.docx").write_bytes(docx(paragraph("Thirty days")))
    (folder / "plan.png").write_bytes(png(4, 3))
    cases = """\
  - name: a
    documents:
      - docs/faq.md
      - {path: report.pdf, name: The report}
      - {name: given, text: "Here"}
  - name: b
    documents: [terms.docx, plan.png, docs/faq.md]
"""

    first, second = load_suite(suite_in(folder, cases)).suite.cases

    assert [(one.name, one.media_type, one.text) for one in first.documents] == [
        ("faq.md", "text/markdown", "Questions"),
        ("The report", "application/pdf", "First\n\nSecond"),
        ("given", "text/plain", "Here"),
    ]
    assert [one.text for one in second.documents] == ["Thirty days", "[image/png, 4 × 3]", "Questions"]
    assert first.documents[0].sha256 == hashlib.sha256(b"Questions").hexdigest()
    assert first.documents[2].sha256 == hashlib.sha256(b"Here").hexdigest()


def test_every_fault_of_the_suite_its_rows_and_its_documents_comes_at_once(folder: Path) -> None:
    (folder / "fake.pdf").write_bytes(docx(paragraph("No PDF")))
    (folder / "cases.csv").write_text('name,documents,variables.x\nc,gone.txt,1\nd,"x"y,2\n')
    cases = """\
  - name: a
    documents: [docs/faq.md, fake.pdf, "../secret.txt"]
  - name: b
    document: [fake.pdf]
cases_file: cases.csv
"""

    told = faults_of(suite_in(folder, cases))

    assert told[0].startswith("suite.yaml:9: cases[1].document: expected ")
    assert told[1].startswith("cases.csv:3: documents: expected a CSV row, found text behind a closing quotation mark.")
    assert told[2:] == [
        (
            "suite.yaml:7: cases[0].documents[1]: expected PDF, as the ending says, found DOCX (fake.pdf). "
            "If it is meant to be DOCX, let its name end in .docx"
        ),
        (
            "suite.yaml:7: cases[0].documents[2]: expected a path inside of the suite's folder, "
            "found '../secret.txt', which leads out of it"
        ),
        (
            "cases.csv:2: cases[2].documents[0]: expected a file of the suite's folder, "
            "found 'gone.txt', which is not there"
        ),
    ]


def test_a_document_that_many_cases_show_is_read_once_and_its_fault_told_once(folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    cases = "".join(f"  - {{name: c{number}, documents: [broken.pdf]}}\n" for number in range(20))

    assert faults_of(suite_in(folder, cases)) == [
        (
            "suite.yaml:6: cases[0].documents[0]: expected a PDF that can be read, "
            "found a damaged one (PdfStreamError) (broken.pdf)"
        )
    ]


def test_a_document_that_cannot_be_read_costs_no_other(folder: Path) -> None:
    (folder / "bad.pdf").write_bytes(pdf(["x"]).replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]"))
    (folder / "good.pdf").write_bytes(pdf(["Good"]))
    (folder / "worse.docx").write_bytes(b"PK\x03\x04")
    cases = "  - {name: a, documents: [bad.pdf, good.pdf, worse.docx]}\n"

    told = faults_of(suite_in(folder, cases))

    assert [line.partition(": expected")[0] for line in told] == [
        "suite.yaml:6: cases[0].documents[0]",
        "suite.yaml:6: cases[0].documents[2]",
    ]


def test_what_the_author_says_a_document_is_has_to_be_so(folder: Path) -> None:
    (folder / "export").write_bytes(b"a,b\n1,2\n")
    good = "  - {name: a, documents: [{path: export, media_type: text/csv}]}\n"
    bad = "  - {name: a, documents: [{path: export, media_type: application/pdf}]}\n"

    assert load_suite(suite_in(folder, good)).suite.cases[0].documents[0].media_type == "text/csv"
    assert faults_of(suite_in(folder, bad)) == [
        "suite.yaml:6: cases[0].documents[0]: expected PDF, as the media type says, found text (export)"
    ]


def test_a_suite_and_its_cases_file_may_have_the_line_ends_of_any_system(folder: Path) -> None:
    cases = "  - {name: a, documents: [docs/faq.md]}\ncases_file: cases.csv\n"
    (folder / "cases.csv").write_bytes(b"name,q\nb,one\n")
    plain = load_suite(suite_in(folder, cases)).suite
    (folder / "cases.csv").write_bytes(b"\xef\xbb\xbfname;q\r\nb;one\r\n")
    (folder / "suite.yaml").write_bytes(b"\xef\xbb\xbf" + (SUITE + cases).replace("\n", "\r\n").encode())

    assert load_suite(folder / "suite.yaml").suite == plain


@pytest.mark.parametrize(("name", "found"), [("no.yaml", "no such file"), ("docs", "Is a directory")])
def test_a_suite_file_that_cannot_be_read_is_told(folder: Path, name: str, found: str) -> None:
    assert faults_of(folder / name) == [f"{name}: suite file: expected a file, found {found}"]


def test_an_include_and_a_cases_file_cannot_lead_out_of_the_folder_either(folder: Path) -> None:
    cases = "  - {name: a}\ninclude: ../secret.txt\ncases_file: ../cases.csv\n"

    assert faults_of(suite_in(folder, cases)) == [
        (
            "suite.yaml:7: include: expected a path inside of the suite's folder, "
            "found '../secret.txt', which leads out of it"
        ),
        (
            "suite.yaml:8: cases_file: expected a path inside of the suite's folder, "
            "found '../cases.csv', which leads out of it"
        ),
    ]
