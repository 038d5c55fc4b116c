"""Texts in which `{{` is text and opens no placeholder: a variable that holds it stands in its place.

Whatever was said already, in a trace or in an earlier run, is filled no more; as part of a case it would be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["OPEN", "OPEN_BRACES", "literal"]

OPEN = "{{"
OPEN_BRACES = "open_braces"
"""The variable that stands for `{{` where it was said and is no placeholder."""


def literal(value: Any) -> Any:
    """Messages in which `{{` is text; the very same where there is none."""
    if isinstance(value, str):
        return value.replace(OPEN, f"{{{{{OPEN_BRACES}}}}}") if OPEN in value else value
    if isinstance(value, list):
        made: Any = [literal(part) for part in value]
    elif isinstance(value, dict):
        made = {
            key: literal(part) if key in ("content", "text") and _shown(value) else part for key, part in value.items()
        }
    else:
        return value
    return value if made == value else made


def _shown(block: Mapping[str, Any]) -> bool:
    """Whether placeholders would be read in a block: refusals and thinking are left as they are."""
    return block.get("type") in (None, "text", "tool_result")
