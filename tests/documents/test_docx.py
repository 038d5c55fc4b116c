"""DOCX: what a reader sees, in the order of reading; and no archive grows beyond its bounds."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from jurat.documents.archive import MAX_PARTS, Archive
from jurat.documents.docx import docx_text
from jurat.documents.faults import Unreadable
from papers import archive, docx, paragraph


def refusal(data: bytes) -> str:
    with pytest.raises(Unreadable) as caught:
        docx_text(data)
    return str(caught.value)


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def test_a_paragraph_is_a_line() -> None:
    assert docx_text(docx(paragraph("Grüße") + paragraph("") + paragraph("世界 &amp; 🍕"))) == "Grüße\n\n世界 & 🍕"


def test_runs_are_joined_and_tabs_breaks_and_hyphens_are_characters() -> None:
    line = "<w:tab/>".join(("<w:p><w:r><w:t>a</w:t>", "<w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/></w:r>"))

    assert docx_text(docx(line + run("d<!-- no -->e") + "</w:p>")) == "a\tb\nc\u2011de"


def test_the_tab_stops_of_a_paragraph_are_no_text() -> None:
    stops = '<w:pPr><w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs></w:pPr>'

    assert docx_text(docx(f"<w:p>{stops}{run('a')}</w:p>")) == "a"


def test_a_table_is_read_row_by_row_with_its_cells_divided_by_tabs() -> None:
    def cell(*texts: str) -> str:
        return "<w:tc>" + "".join(map(paragraph, texts)) + "</w:tc>"

    rows = f"<w:tr>{cell('Item')}{cell('Price')}</w:tr><w:tr>{cell('Tea', 'green')}{cell('')}</w:tr>"

    found = docx_text(docx(paragraph("Before") + f"<w:tbl>{rows}</w:tbl>" + paragraph("After")))

    assert found == "Before\nItem\tPrice\nTea green\t\nAfter"


def test_headers_come_first_then_the_body_then_notes_then_footers() -> None:
    section = "<w:sectPr>{}{}{}</w:sectPr>".format(
        '<w:headerReference r:id="header2"/>',
        '<w:headerReference r:id="header1"/>',
        '<w:footerReference r:id="footer1"/>',
    )
    line = '<w:p><w:r><w:t>Body</w:t><w:footnoteReference w:id="2"/><w:endnoteReference w:id="1"/></w:r></w:p>'
    mark = '<w:footnote w:id="0" w:type="separator">' + paragraph("——") + "</w:footnote>"
    parts = {
        "footer1": paragraph("Page 1"),
        "header1": paragraph("First header"),
        "header2": paragraph("Second header"),
        "header3": paragraph("Not used"),
        "footnotes": mark + f'<w:footnote w:id="2">{paragraph("A footnote")}</w:footnote>',
        "endnotes": f'<w:endnote w:id="1">{paragraph("An endnote")}</w:endnote>',
    }

    found = docx_text(docx(line + section, parts))

    assert found.split("\n\n") == [
        "Second header",
        "First header",
        "Body[2][1]",
        "[2] A footnote",
        "[1] An endnote",
        "Page 1",
    ]


def test_a_header_that_every_section_repeats_is_read_once() -> None:
    section = '<w:sectPr><w:headerReference r:id="header1"/></w:sectPr>'

    assert docx_text(docx(paragraph("Body") + section * 3, {"header1": paragraph("Top")})) == "Top\n\nBody"


def test_what_a_reader_does_not_see_is_left_out() -> None:
    line = (
        "<w:p>"
        + run("seen ")
        + f"<w:del>{run('deleted')}</w:del><w:ins>{run('inserted ')}</w:ins>"
        + run("hidden", "<w:vanish/>")
        + run("shown", '<w:vanish w:val="0"/>')
        + "<w:r><w:instrText>PAGE</w:instrText></w:r>"
        + "<mc:AlternateContent><mc:Choice>"
        + run(" new")
        + "</mc:Choice><mc:Fallback>"
        + run("old")
        + "</mc:Fallback></mc:AlternateContent></w:p>"
    )

    assert docx_text(docx(line)) == "seen inserted shown new"


def test_text_boxes_and_equations_are_read() -> None:
    box = f"<w:r><w:txbxContent>{paragraph('Boxed')}</w:txbxContent></w:r>"
    sums = "<m:oMath><m:r><m:t>a=b</m:t></m:r></m:oMath>"

    assert docx_text(docx(f"<w:p>{box}{run('Around ')}{sums}</w:p>")) == "Boxed\nAround a=b"


def test_the_strict_form_is_read_too() -> None:
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    body = f'<w:document xmlns:w="{strict}"><w:body>{paragraph("Strict")}</w:body></w:document>'

    assert docx_text(docx("", more={"word/document.xml": body})) == "Strict"


def test_xml_in_utf16_is_read() -> None:
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = f'<?xml version="1.0" encoding="UTF-16"?><w:document xmlns:w="{space}">{paragraph("Zwölf")}</w:document>'

    assert docx_text(docx("", more={"word/document.xml": body.encode("utf-16")})) == "Zwölf"


# --- hostile files -------------------------------------------------------------------------------------------------


def test_a_document_type_is_refused_and_with_it_every_entity() -> None:
    laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'

    assert refusal(docx(paragraph("&b;"), prolog=laughs)).startswith("expected XML without a document type")


def test_a_part_is_counted_while_it_is_unpacked_and_stopped_at_the_bound() -> None:
    with_padding = docx("", more={"word/document.xml": b"<a>" + b" " * 60_000_000})

    assert refusal(with_padding) == (
        "expected at most 50 MiB unpacked, and 100 times its packed size, found more: a decompression bomb, most likely"
    )


def test_a_part_that_unpacks_to_more_than_a_hundred_times_its_size_is_refused() -> None:
    assert refusal(docx("", more={"word/document.xml": b"<a>" + b" " * 9_000_000})).endswith("most likely")


def test_the_size_that_an_archive_declares_is_not_believed() -> None:
    data = bytearray(docx("", more={"word/document.xml": b"<a>" + b" " * 9_000_000}))
    place = data.rfind(b"word/document.xml") - 46  # of its entry in the list of parts
    struct.pack_into("<I", data, place + 24, 1_000)

    assert refusal(bytes(data)) == "expected an archive that is whole, found a damaged part"


def test_parts_are_counted_together() -> None:
    padding = ("<a>" + "0123456789abcdef" * 100_000).encode()
    parts = {f"word/{number}.xml": padding for number in range(40)}
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    opened = Archive(sink.getvalue())

    with pytest.raises(Unreadable, match="at most 50 MiB unpacked"):
        [opened.read(name) for name in parts]


def test_archives_inside_of_the_archive_are_not_opened() -> None:
    inner = docx(paragraph("Inner"))

    assert docx_text(docx(paragraph("Outer"), more={"word/embeddings/inner.docx": inner})) == "Outer"


def test_an_archive_of_too_many_parts_is_refused_before_they_are_listed() -> None:
    with pytest.raises(Unreadable, match="one of more parts"):
        Archive(b"PK\x03\x04" + b"PK\x01\x02" * (MAX_PARTS + 1))


def test_elements_without_end_are_refused() -> None:
    assert refusal(docx("<w:p>" * 2_000 + "</w:p>" * 2_000)) == "expected XML of at most 1,000 levels, found more"


def test_a_relation_that_leads_out_of_the_archive_is_passed_over() -> None:
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/header"
    away = (
        f'<Relationships><Relationship Id="a" Type="{kind}" Target="../../../../etc/passwd"/>'
        f'<Relationship Id="b" Type="{kind}" Target="http://127.0.0.1/x" TargetMode="External"/></Relationships>'
    )
    section = '<w:sectPr><w:headerReference r:id="a"/><w:headerReference r:id="b"/></w:sectPr>'

    data = docx(paragraph("Body") + section, more={"word/_rels/document.xml.rels": away})

    assert docx_text(data) == "Body"


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"word/document.xml": "<w:document>"}, "expected well-formed XML, found a fault at line 1 of a part"),
        ({"word/document.xml": ""}, "expected well-formed XML, found a fault at line 1 of a part"),
        ({"word/document.xml": "<html/>"}, "expected a DOCX, found one whose text is in another format"),
    ],
)
def test_a_body_that_is_none_is_damaged(more: dict[str, bytes | str], found: str) -> None:
    assert refusal(docx("", more=more)) == found


def test_a_document_without_its_body_is_damaged() -> None:
    data = archive({"[Content_Types].xml": "<Types/>", "word/other.xml": "<a/>"})

    assert refusal(data) == "expected an archive with the part word/document.xml, found one without"


def test_an_encrypted_part_is_told() -> None:
    data = bytearray(docx(paragraph("x")))
    data[data.rfind(b"word/document.xml") - 46 + 8] |= 1

    assert refusal(bytes(data)) == "expected a document that opens without a password, found an encrypted one"
