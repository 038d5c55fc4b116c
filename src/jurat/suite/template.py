"""Placeholders: `{{name}}` in a text stands for a value, and nothing else is ever read in it.

One pass, no code, no escaping. A value that is filled in is never looked at again, whatever it holds; a value that is
no text is written as canonical JSON. Between the braces stands a plain name (letters, digits, `_`, `-`, `.`): anything
else behind `{{` is a fault with its position. `}}` alone is text. Who wants `{{` itself puts it into a variable.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from jurat.errors import AuthoringError, Fault
from jurat.evidence import Block, ImageBlock, Message, TextBlock, ToolResultBlock
from jurat.jsontext import Json, canonical
from jurat.vocabulary import nearest

__all__ = [
    "assertion_texts",
    "fill_assertion",
    "fill_message",
    "message_texts",
    "missing_fault",
    "placeholders",
    "render",
    "template_faults",
    "texts_within",
]

_OPEN = "{{"
# Possessive, so that no text takes more than one look at each of its characters.
_PLACEHOLDER = re.compile(r"\{\{(?:[ \t]*+([\w.-]++)[ \t]*+\}\})?")
_SHOWN = 24


def placeholders(text: str) -> tuple[str, ...]:
    """The names that a text wants filled, each once, in order of appearance. What is no placeholder is passed over."""
    if _OPEN not in text:
        return ()
    return tuple(dict.fromkeys(found[1] for found in _PLACEHOLDER.finditer(text) if found[1] is not None))


def render(text: str, variables: Mapping[str, Json]) -> str:
    """The text with every placeholder filled, in one pass.

    Raises:
        AuthoringError: for a placeholder without a value, and for `{{` that begins none; with all of them.
    """
    if _OPEN not in text:
        return text
    faults: list[Fault] = []
    names = template_faults(text, "", faults)
    faults += (missing_fault(name, variables, "") for name in names if name not in variables)
    if faults:
        raise AuthoringError("template", faults)
    return _PLACEHOLDER.sub(lambda found: _as_text(variables[found[1]]), text)


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else canonical(value)


def template_faults(text: str, path: str, faults: list[Fault]) -> tuple[str, ...]:
    """Check a text's placeholders: a fault for each `{{` that begins none.

    Returns:
        The names that it wants filled, as `placeholders` does.
    """
    if _OPEN not in text:
        return ()
    faults += (_bad_placeholder(text, bad.start(), path) for bad in _PLACEHOLDER.finditer(text) if bad[1] is None)
    return placeholders(text)


def _bad_placeholder(text: str, start: int, path: str) -> Fault:
    line = text.count("\n", 0, start) + 1
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    piece = text[start : start + _SHOWN].partition("\n")[0]
    hint = "Nothing is computed in a text. To write {{ itself, put it into a variable: its value is never read again"
    found = f"{piece!r} at line {line}, column {column} of the text"
    return Fault(path=path, expected="{{name}} with a plain variable's name", found=found, hint=hint)


def missing_fault(name: str, variables: Collection[str], path: str, where: str = "the text") -> Fault:
    """The fault of a placeholder that has no value; a variable of nearly that name is pointed out."""
    known = tuple(variables)
    near = nearest(name, known)
    if near is not None:
        hint = f"The variable {near} is close: did you mean it?"
    else:
        hint = f"There are {', '.join(known[:20])}" if known else "There are no variables"
    expected = f"a value for {{{{{name}}}}} of {where}"
    return Fault(path=path, expected=expected, found="no variable of that name", hint=hint)


# --- messages ------------------------------------------------------------------------------------------------------


def message_texts(message: Message) -> Iterable[str]:
    """The texts of a message that may hold placeholders: its visible text blocks, those of tool results included, and
    the paths of its pictures.
    """
    if isinstance(message.content, str):
        yield message.content
    else:
        yield from _block_texts(message.content)


def _block_texts(blocks: Iterable[Block]) -> Iterable[str]:
    for block in blocks:
        if isinstance(block, TextBlock):
            yield block.text
        elif isinstance(block, ImageBlock) and block.path is not None:
            yield block.path
        elif isinstance(block, ToolResultBlock):
            yield from _block_texts(block.content)


def fill_message(message: Message, variables: Mapping[str, Json], pictures: Iterable[ImageBlock] = ()) -> Message:
    """The message with its placeholders filled; the very same one when it has none.

    Args:
        pictures: those that were read by the paths that come out, which take the places of pictures with placeholders.

    Raises:
        AuthoringError: as `render`.
    """
    if not any(_OPEN in text for text in message_texts(message)):
        return message
    if isinstance(message.content, str):
        return replace(message, content=render(message.content, variables))
    shown = {picture.path: picture for picture in pictures}
    return replace(message, content=tuple(_filled_block(block, variables, shown) for block in message.content))


def _filled_block(block: Block, variables: Mapping[str, Json], shown: Mapping[str | None, ImageBlock]) -> Block:
    if isinstance(block, TextBlock):
        return TextBlock(text=render(block.text, variables))
    if isinstance(block, ImageBlock) and block.path is not None and block.data is None and _OPEN in block.path:
        path = render(block.path, variables)
        return shown.get(path) or replace(block, path=path)
    if isinstance(block, ToolResultBlock):
        return replace(block, content=tuple(_filled_block(part, variables, shown) for part in block.content))
    return block


# --- assertions ----------------------------------------------------------------------------------------------------

_FILLED_KEYS = ("value", "expected", "equals", "context", "rubric")
_LITERAL_VALUES = frozenset(("regex", "json_schema", "structured_output", "python"))
"""Types whose `value` is a pattern, a schema or a function, in which braces have a meaning of their own."""
_TYPED = frozenset(("json_field", "json_deep_compare"))
"""Types that compare JSON values: a text that is one placeholder and nothing else takes the value as it is, so that the
number 5 is not compared as the text 5."""


def _filled_keys(assertion: Mapping[str, Json]) -> Iterable[str]:
    literal = assertion.get("type") in _LITERAL_VALUES
    return (key for key in _FILLED_KEYS if key in assertion and not (literal and key == "value"))


def assertion_texts(assertion: Mapping[str, Json]) -> Iterable[tuple[str, str]]:
    """The texts of an assertion that may hold placeholders, each with its path inside of the assertion."""
    for key in _filled_keys(assertion):
        yield from texts_within(assertion[key], key)


def texts_within(value: Json, path: str) -> Iterable[tuple[str, str]]:
    """Every text in a JSON value, with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from texts_within(part, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from texts_within(part, f"{path}[{index}]")


def fill_assertion(assertion: Mapping[str, Json], variables: Mapping[str, Json]) -> Mapping[str, Json]:
    """The assertion with the placeholders of its `value`, `expected`, `context` and `rubric` filled.

    Patterns and schemas are left as they are. An assertion without placeholders is given back as the same object, so
    that what is built from it can be shared.

    Raises:
        AuthoringError: as `render`.
    """
    if not any(_OPEN in text for _, text in assertion_texts(assertion)):
        return assertion
    keys, typed = frozenset(_filled_keys(assertion)), assertion.get("type") in _TYPED
    return MappingProxyType(
        {key: _filled(part, variables, typed) if key in keys else part for key, part in assertion.items()}
    )


def _filled(value: Json, variables: Mapping[str, Json], typed: bool) -> Json:
    if isinstance(value, str):
        whole = _PLACEHOLDER.fullmatch(value) if typed else None
        return variables[whole[1]] if whole and whole[1] in variables else render(value, variables)
    if isinstance(value, Mapping):
        return MappingProxyType({key: _filled(part, variables, typed) for key, part in value.items()})
    if isinstance(value, list | tuple):
        return tuple(_filled(part, variables, typed) for part in value)
    return value
