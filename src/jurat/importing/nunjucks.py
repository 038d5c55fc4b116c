"""Templates of promptfoo as ours: `{{ name }}` and `{{ name.member }}` come over, what is computed does not.

A value's member becomes a variable of its own, under its whole path, because nothing is computed in a suite's texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from jurat.credentials import is_credential_name
from jurat.importing.talk import as_text
from jurat.suite.braces import OPEN, OPEN_BRACES
from jurat.suite.manifest_secrets import WORDS

__all__ = ["VARIABLE_ENDING", "computed", "renamed", "resolved", "template", "woven"]

_PLAIN = re.compile(r"\{\{-?[ \t\r\n]*+([\w.-]++)[ \t\r\n]*+-?\}\}")
_MOST_PASSES = 4
_LONGEST = 1024 * 1024
_TAG = re.compile(r"\{%|\{#")
VARIABLE_ENDING = "_value"
"""Behind the name of a variable that announces a secret, which no suite may hold under that name."""


def renamed(name: str) -> str:
    """The name that a variable has in the suite."""
    return name + VARIABLE_ENDING if name not in WORDS and is_credential_name(name) else name


def computed(text: str) -> bool:
    """Whether a template does more than to name values: filters, conditions, loops, the environment."""
    names = [found[1] for found in _PLAIN.finditer(text)]
    bare = _PLAIN.sub("", text)
    return OPEN in bare or _TAG.search(bare) is not None or any(name.startswith("env.") for name in names)


def template(text: str, tell: Callable[[str], None]) -> str:
    """The text with placeholders as a suite has them. What is computed stays as the text that it is, and is told."""
    if computed(text):
        tell("a template that computes (filter, condition, loop or environment); what is no plain name stays as text")
    pieces: list[str] = []
    end = 0
    for found in _PLAIN.finditer(text):
        name = found[1]
        pieces.append(_bare(text[end : found.start()]))
        pieces.append(_bare(found[0]) if name.startswith("env.") else f"{{{{{renamed(name)}}}}}")
        end = found.end()
    return "".join([*pieces, _bare(text[end:])])


def _bare(text: str) -> str:
    return text.replace(OPEN, f"{{{{{OPEN_BRACES}}}}}")


def resolved(name: str, variables: Mapping[str, Any]) -> Any:
    """The value that a placeholder of a template names, members of values included; None where there is none."""
    if name in variables:
        return variables[name]
    value: Any = variables
    for step in name.split("."):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and len(step) < 6 and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def woven(text: str, variables: Mapping[str, Any]) -> str:
    """A value with what it names of others in their place, as far as they are there; those may name others in turn."""
    for _ in range(_MOST_PASSES):
        pieces: list[str] = []
        end = length = 0
        for found in _PLAIN.finditer(text) if OPEN in text else ():
            value = None if found[1].startswith("env.") else resolved(found[1], variables)
            piece = found[0] if value is None else as_text(value)
            length += len(piece)
            if length > _LONGEST:
                return text
            pieces += [text[end : found.start()], piece]
            end = found.end()
        made = "".join([*pieces, text[end:]])
        if made == text:
            break
        text = made
    return text
