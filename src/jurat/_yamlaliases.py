"""YAML with aliases and merge keys as YAML without: what an anchor names stands again wherever it is meant.

Suites are read without this: they are written out. Files of other tools that are imported may share parts. What it
comes to is bounded, since a few lines of aliases of aliases can stand for more than any memory holds. A key that stands
in a mapping itself comes before a merged one, and of several merged the first, as YAML's merge keys have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from jurat._tree import Halt, TreeBuilder
from jurat.jsontext import MAX_DEPTH

__all__ = ["written_out"]

_MOST = 300_000
"""How many events may come to those that are written."""
_MERGE = "<<"


@dataclass(slots=True, eq=False)
class _Node:
    """A scalar, or what begins a list or mapping with what is in it. Of a mapping, keys and values take turns."""

    start: Any
    items: list[_Node] = field(default_factory=list)
    end: Any = None


def written_out(events: Iterator[Any], builder: TreeBuilder) -> Iterator[Any]:
    """The events of a document in which nothing is an alias. What cannot be written out is told to the builder."""
    expansion = _Expansion(builder)
    for event in events:
        kind = type(event).__name__
        if kind.startswith(("Stream", "Document")):
            yield event
        elif (node := expansion.read(event, kind)) is not None:
            yield from expansion.told(node)


class _Expansion:
    def __init__(self, builder: TreeBuilder) -> None:
        self._builder = builder
        self._anchors: dict[str, _Node] = {}
        self._open: list[_Node] = []
        self._left = _MOST

    def read(self, event: Any, kind: str) -> _Node | None:
        """Take an event; the whole document's node once it is complete."""
        self._left += 1
        if kind in ("MappingEndEvent", "SequenceEndEvent"):
            node = self._open.pop()
            node.end = event
            if kind == "MappingEndEvent":
                node.items = self._merged(node.items)
            return None if self._open else node
        node = self._meant(event) if kind == "AliasEvent" else self._named(event)
        if self._open:
            self._open[-1].items.append(node)
        if kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._open.append(node)
            if len(self._open) > MAX_DEPTH:
                self._give_up(f"nesting of at most {MAX_DEPTH} levels", "more", event)
            return None
        return None if self._open else node

    def _named(self, event: Any) -> _Node:
        node = _Node(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
            event.anchor = None
        return node

    def _meant(self, event: Any) -> _Node:
        found = self._anchors.get(event.anchor)
        if found is None:
            self._give_up("an alias (*) of an anchor (&) above it", "one of an anchor that is not there", event)
        if found in self._open:
            self._give_up("an alias (*) of an anchor (&) that is complete", "one inside of its own anchor", event)
        return found

    def _merged(self, items: list[_Node]) -> list[_Node]:
        """The pairs of a mapping with those that it merges; merged ones know their own by now."""
        pairs = list(zip(items[::2], items[1::2], strict=True))
        if not any(_merges(key) for key, _ in pairs):
            return items
        made = [(key, value) for key, value in pairs if not (_merges(key) and _mappings(value))]
        known = {key.start.value for key, _ in made if key.end is None}
        for value in (value for key, value in pairs if _merges(key)):
            for mapping in _mappings(value):
                for key, part in zip(mapping.items[::2], mapping.items[1::2], strict=True):
                    if key.end is not None or key.start.value not in known:
                        known.add(key.start.value if key.end is None else None)
                        made.append((key, part))
                        self._counted(2, key.start)
        return [node for pair in made for node in pair]

    def told(self, whole: _Node) -> Iterator[Any]:
        """The events of a node."""
        ahead = [(whole, False)]
        while ahead:
            node, left = ahead.pop()
            self._counted(1, node.start)
            if left:
                yield node.end
                continue
            yield node.start
            if node.end is not None:
                ahead.append((node, True))
                ahead += [(item, False) for item in reversed(node.items)]

    def _counted(self, number: int, event: Any) -> None:
        self._left -= number
        if self._left < 0:
            self._give_up(f"aliases (*) that come to at most {_MOST:,} values", "more", event)

    def _give_up(self, expected: str, found: str, event: Any) -> NoReturn:
        self._builder.whole = False
        self._builder.fault(expected, found, None, event.start_mark.line + 1)
        raise Halt


def _merges(key: _Node) -> bool:
    return key.end is None and key.start.value == _MERGE and getattr(key.start, "style", None) is None


def _mappings(value: _Node) -> list[_Node]:
    """The mappings that a merge key merges: one, or a list of them; none where it is anything else."""
    kind = type(value.start).__name__
    if kind == "MappingStartEvent":
        return [value]
    items = value.items if kind == "SequenceStartEvent" else []
    return items if all(type(item.start).__name__ == "MappingStartEvent" for item in items) else []
