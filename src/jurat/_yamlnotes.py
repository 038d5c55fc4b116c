"""What a YAML text holds beside its value: comments, blank lines between entries, and which collections stood in
brackets. What `jurat.yamlformat` needs to lay a file out anew without losing what people wrote for people.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jurat._tree import TreeBuilder
from jurat._yamlfeed import yaml_events

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Entry", "Node", "Notes", "notes_of"]

_COMMENT = re.compile(r"(?<!\S)#[^\n]*")
_BEFORE_AN_ENTRY = re.compile(r"[ \t?:-]*")


@dataclass(slots=True, eq=False)
class Node:
    """A value as it was written: of a collection its entries, and whether it stood in brackets."""

    start: int
    end: int
    flow: bool = False
    entries: list[Entry] | None = None


@dataclass(slots=True, eq=False)
class Entry:
    """A member of a mapping or an element of a list.

    Attributes:
        start, line: where its key begins, or the element itself; the line counts from 0.
        above: the comments that stand before it, each on its line; an empty one is a blank line.
        beside: the comments that stand behind it.
        parent: the entry whose value holds it; None at the top level.
    """

    start: int
    line: int
    parent: Entry | None
    node: Node
    above: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Notes:
    """A text's layout: the top node, and the comments behind everything."""

    root: Node
    below: list[str]
    comments: list[str]


def notes_of(text: str) -> Notes:
    """The layout of a YAML text that is known to be sound, in the line breaks of which LF is the only one."""
    reading = _Reading(text)
    for event in yaml_events(text, TreeBuilder(None)):
        reading.feed(event)
    return reading.notes()


class _Reading:
    """Builds nodes and entries from events, and then hands out what stands between them."""

    def __init__(self, text: str) -> None:
        self._text, self._lines = text, text.split("\n")
        self._spans: list[tuple[int, int]] = []
        self._entries: list[Entry] = []
        self._root: Node | None = None
        self._open: list[tuple[Node, bool, Entry | None]] = []
        self._key: Any = None

    def feed(self, event: Any) -> None:
        """Take in one event."""
        kind = type(event).__name__
        if kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._open.pop()[0].end = event.end_mark.index
        elif kind == "ScalarEvent":
            self._span(event)
            if self._open and self._open[-1][1] and self._key is None:
                self._key = event.start_mark
            else:
                self._attach(Node(event.start_mark.index, event.end_mark.index), event.start_mark)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            node = Node(event.start_mark.index, 0, bool(event.flow_style), [])
            entry = self._attach(node, event.start_mark)
            self._open.append((node, kind == "MappingStartEvent", entry))

    def _span(self, event: Any) -> None:
        """Note where no comment can be: inside of a scalar, but for the first line of a block."""
        start, end = event.start_mark.index, event.end_mark.index
        if event.style in ("|", ">"):
            line_end = self._text.find("\n", start)
            start = end if line_end < 0 else line_end
        self._spans.append((start, end))

    def _attach(self, node: Node, mark: Any) -> Entry | None:
        if not self._open:
            self._root = node
            return None
        holder, mapping, parent = self._open[-1]
        begin = self._key if mapping else mark
        self._key = None
        entry = Entry(begin.index, begin.line, parent, node)
        self._entries.append(entry)
        if holder.entries is not None:
            holder.entries.append(entry)
        return entry

    # --- comments --------------------------------------------------------------------------------------------------

    def notes(self) -> Notes:
        """Hand out comments and blank lines to the entries."""
        below: list[str] = []
        comments = []
        starts = [entry.start for entry in self._entries]
        for place, comment in self._comments():
            comments.append(comment)
            line_start = self._text.rfind("\n", 0, place) + 1
            number = bisect_right(starts, place)
            if _BEFORE_AN_ENTRY.fullmatch(self._text, line_start, place) or not number:
                above = self._entries[number].above if number < len(starts) else below
                above += [*self._blank(self._text.count("\n", 0, place)), comment]
            else:
                self._behind(self._entries[number - 1], place).beside.append(comment)
        self._note_blanks()
        return Notes(self._root or Node(0, 0), below, comments)

    def _comments(self) -> Iterator[tuple[int, str]]:
        place = 0
        for start, end in [*self._spans, (len(self._text), len(self._text))]:
            for found in _COMMENT.finditer(self._text, place, max(start, place)):
                yield found.start(), found[0].rstrip()
            place = max(end, place)

    def _behind(self, entry: Entry, place: int) -> Entry:
        """The entry that a comment at the end of a line belongs to: not one in brackets that are closed by then."""
        while (parent := entry.parent) is not None and parent.node.flow and parent.node.end <= place:
            entry = parent
        return entry

    def _note_blanks(self) -> None:
        seen: set[int] = set()
        for entry in self._entries:
            if entry.line not in seen:  # of several that begin on one line, the outermost
                seen.add(entry.line)
                entry.above += self._blank(entry.line)
        if self._entries:
            first = self._entries[0].above
            while first and not first[0]:
                first.pop(0)

    def _blank(self, line: int) -> list[str]:
        return [""] if line > 0 and not self._lines[line - 1].strip() else []
