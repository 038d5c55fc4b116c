"""DOCX: the text that a reader sees, in the order in which it is read.

Headers first, then the body (tables row by row, cells divided by tabs), foot- and endnotes, footers. A note's number
stands in brackets where it is referred to. What a reader does not see is left out: deleted and hidden text, field
codes, comments. Numbers of lists are made by the word processor and stand in no file.
"""

from __future__ import annotations

from collections.abc import Iterator

from jurat.documents.archive import Archive
from jurat.documents.faults import Unreadable
from jurat.documents.kinds import DOCX, Kind
from jurat.documents.wordxml import Relations, Story, parse

__all__ = ["docx_text", "what_archive"]

_TYPES = "[Content_Types].xml"
_KNOWN = (
    ("xl/workbook.xml", "an Excel workbook"),
    ("ppt/presentation.xml", "a PowerPoint file"),
    ("META-INF/manifest.xml", "an OpenDocument file or a Java archive"),
)
_ROOT = "_rels/.rels"
_BODY = "word/document.xml"


def what_archive(data: bytes) -> Kind | str:
    """What a ZIP archive is: DOCX, or in words something else."""
    try:
        names = set(Archive(data).names())
    except Unreadable as error:
        return f"{error.found} (a ZIP archive)"
    if _TYPES in names and (_BODY in names or any(name.startswith("word/") for name in names)):
        return DOCX
    return next((label for name, label in _KNOWN if name in names), "a ZIP archive")


def docx_text(data: bytes) -> str:
    """The text of a DOCX file, a line a paragraph.

    Raises:
        Unreadable: when it is damaged, encrypted, or unpacks to more than the bounds.
    """
    archive = Archive(data)
    main = _main_part(archive)
    related = _relations(archive, main)
    body = _story(archive, main)
    parts = [
        *(_story(archive, part).text() for part in _references(body.headers, related, "header")),
        body.text(),
        *(_story(archive, part).text() for part in _of_kind(related, "footnotes")),
        *(_story(archive, part).text() for part in _of_kind(related, "endnotes")),
        *(_story(archive, part).text() for part in _references(body.footers, related, "footer")),
    ]
    return "\n\n".join(_once(part for part in parts if part))


def _once(parts: Iterator[str]) -> list[str]:
    """Each text once: a header that three sections repeat is read once."""
    return list(dict.fromkeys(parts))


def _main_part(archive: Archive) -> str:
    if _ROOT in archive.names():
        for _, kind, target in _relations_in(archive, _ROOT):
            if kind == "officeDocument":
                return target.lstrip("/")
    return _BODY


def _relations(archive: Archive, main: str) -> dict[str, tuple[str, str]]:
    """From id to kind and part, for everything that the main part refers to inside of the archive."""
    folder, _, file = main.rpartition("/")
    name = f"{folder}/_rels/{file}.rels"
    if name not in archive.names():
        return {}
    found = _relations_in(archive, name)
    names = set(archive.names())
    placed = {key: (kind, _resolved(folder, target)) for key, kind, target in found}
    return {key: (kind, part) for key, (kind, part) in placed.items() if part in names}


def _resolved(folder: str, target: str) -> str:
    if target.startswith("/"):
        return target[1:]
    parts = folder.split("/") if folder else []
    for step in target.split("/"):
        if step == "..":
            parts = parts[:-1]
        elif step != ".":
            parts.append(step)
    return "/".join(parts)


def _relations_in(archive: Archive, name: str) -> list[tuple[str, str, str]]:
    relations = Relations()
    parse(archive.pieces(name), relations)
    return relations.found


def _story(archive: Archive, part: str) -> Story:
    story = Story()
    parse(archive.pieces(part), story)
    if not story.known:
        raise Unreadable("a DOCX", "one whose text is in another format")
    return story


def _references(ids: list[str], related: dict[str, tuple[str, str]], kind: str) -> list[str]:
    """The parts that ids refer to, each once, in the order of the document."""
    parts = [related[key][1] for key in ids if key in related and related[key][0] == kind]
    return list(dict.fromkeys(parts))


def _of_kind(related: dict[str, tuple[str, str]], wanted: str) -> list[str]:
    return [part for kind, part in related.values() if kind == wanted]
