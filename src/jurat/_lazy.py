"""Names of a package that are imported at first use, so that whoever needs one of them pays for that one alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["lazily"]


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package.

    Args:
        package: its name.
        homes: of each public name the module that it lives in, below the package. A module of the same name is itself
            what is meant.

    Returns:
        What gives a name's object, always that of the module as it is loaded now: nothing is kept, so that who loads
        modules anew gets no classes of two loadings. It raises AttributeError for a name that has no home.
    """

    def attribute(name: str) -> Any:
        from importlib import import_module

        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{homes[name]}")
        return module if homes[name] == name else getattr(module, name)

    return attribute
