"""Feeds YAML, as ruamel.yaml reads it event by event, to a tree builder.

The reader's own constructors are not used: the core schema is applied here, so that no date, octal number or `yes`
comes in by surprise, and nothing is built for what is refused (aliases, anchors, tags, merge keys, directives).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jurat._tree import MAX_NUMBER, Halt, TreeBuilder, shown
from jurat._yamlaliases import written_out
from jurat.jsontext import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["feed_yaml", "yaml_events"]

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_MAY_NAME = re.compile(r"(?:^|[\s\[{,])&\S", re.MULTILINE)
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def feed_yaml(text: str, builder: TreeBuilder, *, aliases: bool = False) -> None:
    """Give a YAML text's events to a builder; a syntax error becomes a fault at its line.

    Args:
        aliases: whether what anchors name is written out wherever it is meant, instead of being refused.
    """
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        events = yaml_events(text, builder)
        shared = aliases and _MAY_NAME.search(text)  # else there is no need to hold all events at once
        for event in written_out(events, builder) if shared else events:
            _feed_event(event, builder)
    except MarkedYAMLError as error:
        builder.whole = False
        mark = error.problem_mark or error.context_mark
        found, hint = _in_our_words(str(error.problem or error.context or ""))
        builder.fault("valid YAML", found, hint, mark.line + 1 if mark is not None else None)
    except (YAMLError, ValueError, OverflowError, LookupError):
        builder.whole = False
        # The reader trips over a few escapes (\U00110000) with errors of Python's own.
        builder.fault("valid YAML", "an escape or a construct that cannot be read", None, builder.line)


def yaml_events(text: str, builder: TreeBuilder) -> Iterator[Any]:
    """The reader's events, each with its marks; `Halt` beyond the nesting limit, which the builder is told."""
    from ruamel.yaml import YAML
    from ruamel.yaml.scanner import Scanner

    class BoundedScanner(Scanner):
        """Gives up at the nesting limit: the reader looks 1,024 characters ahead, at a cost for each open bracket."""

        def fetch_flow_collection_start(self, TokenClass: Any, to_push: str) -> None:  # noqa: N803
            if len(self.flow_context) > MAX_DEPTH:
                line = self.reader.line + 1
                builder.fault(f"nesting of at most {MAX_DEPTH} levels", "more", None, line)
                raise Halt
            super().fetch_flow_collection_start(TokenClass, to_push)

    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = BoundedScanner
    return iter(yaml.parse(text))


def _feed_event(event: Any, builder: TreeBuilder) -> None:
    kind = type(event).__name__
    line = event.start_mark.line + 1
    builder.line = line
    if kind == "DocumentStartEvent":
        _check_document_start(event, builder, line)
    elif kind == "AliasEvent":
        builder.fault("values written out", "an alias (*)", "Aliases are not expanded; repeat the value.", line)
        _scalar("", True, builder, line)
    elif kind in ("ScalarEvent", "MappingStartEvent", "SequenceStartEvent"):
        _refuse_properties(event, builder, line)
        if kind == "ScalarEvent":
            _scalar(event.value, event.style is None, builder, line)
        else:
            builder.open({} if kind == "MappingStartEvent" else [], line)
    elif kind in ("MappingEndEvent", "SequenceEndEvent"):
        builder.close()


def _check_document_start(event: Any, builder: TreeBuilder, line: int) -> None:
    if builder.place is not None:
        builder.fault("one document", "a second one (after ---)", None, line)
        raise Halt
    if event.tags or event.version not in (None, (1, 2)):
        builder.fault("YAML 1.2 without directives", "a %YAML or %TAG directive", "Remove it.", line)


def _refuse_properties(event: Any, builder: TreeBuilder, line: int) -> None:
    if event.anchor is not None:
        hint = "Anchors are not supported. Put text that begins with & in quotes."
        builder.fault("values written out", "an anchor (&)", hint, line)
    if event.ctag is not None:
        hint = "Tags are not supported. Put text that begins with ! in quotes."
        builder.fault("values without a tag", "a tag (!)", hint, line)


def _scalar(text: str, plain: bool, builder: TreeBuilder, line: int) -> None:
    if builder.wants_key:
        if plain and text == "<<":
            builder.fault("values written out", "a merge key (<<)", "Write the members out.", line)
        elif plain and not text:
            builder.fault("a key", "nothing before the colon", None, line)
        builder.key(text, line)
    elif plain:
        _plain(text, builder, line)
    else:
        builder.text(text, line)


def _plain(text: str, builder: TreeBuilder, line: int) -> None:
    """Resolve a scalar without quotes by the core schema of YAML 1.2 (section 10.3.2 of its specification)."""
    if text in _NULL:
        builder.word(None, text, line)
    elif text in _BOOLEANS:
        builder.word(_BOOLEANS[text], text, line)
    elif _NOT_FINITE.fullmatch(text):
        builder.word(float(text.replace(".", "")), text, line)
    elif not (_FLOAT.fullmatch(text) or _BASED.fullmatch(text)):
        builder.text(text, line)
    elif len(text) > MAX_NUMBER:
        hint = "If text is meant, put it in quotes."
        builder.fault(f"a number of at most {MAX_NUMBER:,} characters", "a longer one", hint, line)
        builder.word(0, text, line)
    elif _BASED.fullmatch(text):
        builder.word(int(text, 0), text, line)
    else:
        builder.word(int(text) if _INTEGER.fullmatch(text) else float(text), text, line)


_QUOTES = "Put text that holds it in quotes."
_SYNTAX: tuple[tuple[str, str, str | None], ...] = (
    ("mapping values are not allowed", "a colon where no key can stand", f"Check the indentation. {_QUOTES}"),
    ("found character '\\t'", "a tab where none may stand", "Indent with spaces; put text that holds tabs in quotes."),
    ("found character", "a character that cannot begin a value", _QUOTES),
    ("could not find expected ':'", "a key without a colon", "Check the indentation and the quotes."),
    ("found unexpected end of stream", "quotes that are not closed", None),
    ("expected ',' or", "a bracket that is not closed, or a comma that is missing", None),
    ("expected <block end>", "a line that fits nowhere", "Check the indentation, and the quotes around text."),
    ("sequence entries are not allowed", "a list entry where none may stand", "Begin the list on a line of its own."),
    ("found unknown escape", "an unknown escape in double quotes", "Write a backslash as two, or use single quotes."),
    ("expected escape sequence", "an unfinished escape in double quotes", "Write a backslash as two."),
    ("expected '<document start>'", "text after the end of the document", None),
)


def _in_our_words(problem: str) -> tuple[str, str | None]:
    for theirs, ours, hint in _SYNTAX:
        if problem.startswith(theirs):
            return ours, hint
    return f"a syntax error ({shown(problem, 80, quoted=False)})", None
