"""What models can do, as data: `capabilities.toml`, from the vendors' own documentation, and overrides.

An author's declaration always wins. A model that no row knows gets the plain defaults of its kind, and a wrong guess
shows itself as a refused request whose message says which capability to declare. Nothing here decides on a vendor:
the kind does; a model name is only ever looked up inside its kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any

from jurat.errors import Fault
from jurat.jsontext import Json, type_name
from jurat.provider.protocol import Capabilities
from jurat.vocabulary import nearest

__all__ = ["capabilities_for", "capability_faults", "capability_sources", "knows", "table_revision", "usual_api"]

_TOKEN_LIMIT_NAMES = ("max_tokens", "max_completion_tokens")
_STRUCTURED_BY = ("schema", "tool", "openapi")
_SWITCHES = ("structured_output", "temperature", "reasoning", "images", "documents", "later_system")
_WAYS = ("structured_by", "api")
"""What of a row speaks of how a vendor's own server is asked, and not of the model."""


def capabilities_for(kind: str, model: str, overrides: Mapping[str, Json] | None = None) -> Capabilities:
    """What a model can do: the kind's defaults, then its family's row, then the author's own word.

    Args:
        overrides: fields of Capabilities, already checked by `capability_faults`.
    """
    usual = _table().get(kind, {})
    known = {**usual.get("every", {}), **usual.get("defaults", {}), **_row(kind, model), **(overrides or {})}
    known.pop("api", None)
    told: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in known.items()}
    return replace(Capabilities(), **told)


def capability_sources(kind: str, model: str, overrides: Mapping[str, Json] | None = None) -> dict[str, str]:
    """Whose word each capability is: `declared`, `table` (the model's row), or `kind` (what holds for the kind)."""
    row, told = _row(kind, model), overrides or {}
    names = [field.name for field in fields(Capabilities)]
    return {name: "declared" if name in told else "table" if name in row else "kind" for name in names}


def knows(kind: str, model: str) -> bool:
    """Whether a row of the table speaks of this model under this kind."""
    return bool(_family(kind, model))


def usual_api(kind: str, model: str) -> str:
    """The interface that alone serves a model (`responses`), or "" for the kind's usual one."""
    return str(_family(kind, model).get("api", ""))


def table_revision() -> str:
    """The day on which the table was last looked through."""
    return str(_table()["revision"])


@cache
def _table() -> dict[str, Any]:
    import tomllib
    from importlib.resources import files

    return tomllib.loads(files("jurat.provider").joinpath("capabilities.toml").read_text("utf-8"))


def _row(kind: str, model: str) -> dict[str, Any]:
    """What the table says of a model by its name: its family's row, and what holds where it was trained further."""
    tuned = _table().get(kind, {}).get("tuned", {}) if model.lower().startswith("ft:") else {}
    return {**_family(kind, model), **tuned}


def _family(kind: str, model: str) -> dict[str, Any]:
    """The row with the longest name that the model's name begins with, up to a boundary."""
    bare = model.lower().removeprefix("ft:").rpartition("/")[2].replace(".", "-")
    best: dict[str, Any] = {}
    longest = 0
    for names, row in _rows(kind):
        for pattern, length in names:
            if length > longest and pattern.match(bare):
                best, longest = row, length
    return best


@cache
def _rows(kind: str) -> tuple[tuple[list[tuple[re.Pattern[str], int]], dict[str, Any]], ...]:
    return tuple(_compiled(kind))


def _compiled(kind: str) -> Iterator[tuple[list[tuple[re.Pattern[str], int]], dict[str, Any]]]:
    usual = _table().get(kind, {})
    like = usual.get("like", ())
    for source in (kind, *usual.get("same", ()), *like):
        table = _table().get(source, {})
        left = ("names", *_WAYS) if source in like else ("names",)
        for row in table.get("models", ()):
            told = {name: value for name, value in {**table.get("every", {}), **row}.items() if name not in left}
            yield [(_pattern(name), len(name)) for name in row["names"]], told


def _pattern(name: str) -> re.Pattern[str]:
    # Vendors and gateways write a version's dot as they like: 4.5 and 4-5 are the same.
    literal = ".*".join(re.escape(part.replace(".", "-")) for part in name.split("*"))
    return re.compile(literal + r"(?=$|[-@:])")


def capability_faults(value: Json, path: str = "capabilities") -> list[Fault]:
    """Everything that is wrong with an author's declaration of capabilities; empty when it can be used."""
    if not isinstance(value, Mapping):
        return [Fault(path=path, expected="an object of capabilities", found=type_name(value))]
    return [fault for name, part in value.items() if (fault := _fault(name, part, f"{path}.{name}")) is not None]


def _fault(name: str, value: Json, path: str) -> Fault | None:
    names = [field.name for field in fields(Capabilities)]
    if name not in names:
        close = nearest(str(name), names)
        hint = f"Did you mean {close}?" if close else None
        return Fault(path=path, expected="one of " + ", ".join(names), found="an unknown name", hint=hint)
    if name in _SWITCHES:
        return None if isinstance(value, bool) else Fault(path=path, expected="true or false", found=type_name(value))
    if name == "token_limit_name":
        fine = value in _TOKEN_LIMIT_NAMES
        return None if fine else Fault(path=path, expected=" or ".join(_TOKEN_LIMIT_NAMES), found="another name")
    if name == "structured_by":
        fine = value in _STRUCTURED_BY
        return None if fine else Fault(path=path, expected="one of " + ", ".join(_STRUCTURED_BY), found="another word")
    if name == "schema_keywords_refused":
        fine = isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)
        return None if fine else Fault(path=path, expected="a list of words of JSON Schema", found=type_name(value))
    return _count_fault(name, value, path)


def _count_fault(name: str, value: Json, path: str) -> Fault | None:
    least = 1 if name == "context_tokens" else 0
    if value is None and name == "context_tokens":
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return None
    found = str(value) if isinstance(value, int) and not isinstance(value, bool) else type_name(value)
    return Fault(path=path, expected=f"a whole number from {least}", found=found)
