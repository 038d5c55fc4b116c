"""Evaluators from other distributions: entry points of the group `jurat.evaluators`.

The entry point's name is the assertion's `type`; what it names is a callable that gets the assertion as a plain mapping
and gives an evaluator (`name`, `revision`, `evaluate(context)`), or raises an `AuthoringError` with what is wrong.
Nothing is loaded before an assertion asks for a type that is not ours, and then that one alone. Our own types cannot be
replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jurat.errors import AuthoringError, Fault
from jurat.evaluation import Evaluator
from jurat.jsontext import Json, thaw, type_name
from jurat.processend import kept_alive

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["GROUP", "installed_types", "make_evaluator"]

GROUP = "jurat.evaluators"


def installed_types() -> tuple[str, ...]:
    """The assertion types that installed distributions add, sorted. Loads none of them."""
    from importlib.metadata import entry_points

    return tuple(sorted({point.name for point in entry_points(group=GROUP)}))


def make_evaluator(type_: str, value: Mapping[str, Json], path: str, faults: list[Fault]) -> Evaluator | None:
    """The evaluator that the installed type `type_` makes of the assertion; or faults and None."""
    from importlib.metadata import entry_points

    points = {point.value: point for point in entry_points(group=GROUP, name=type_)}
    where = f"{path}.type" if path else "type"
    if len(points) != 1:
        found = " and ".join(sorted(points)) or "none"
        expected = f"one installed evaluator of the type {type_}"
        faults.append(Fault(path=where, expected=expected, found=found, hint="Uninstall all but one of them."))
        return None
    (point,) = points.values()
    made = _made(point, value, path, where, faults)
    if made is None:
        return None
    if _is_evaluator(made):
        evaluator: Evaluator = made
        return evaluator
    expected = f"{point.value} to make an evaluator (name, revision, evaluate)"
    faults.append(Fault(path=where, expected=expected, found=type_name(made)))
    return None


def _made(point: EntryPoint, value: Mapping[str, Json], path: str, where: str, faults: list[Fault]) -> Any:
    try:
        with kept_alive():
            return point.load()(thaw(value))
    except AuthoringError as error:
        faults.extend(_under(path, fault) for fault in error.faults)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        expected = f"{point.value} to load and to make an evaluator"
        faults.append(Fault(path=where, expected=expected, found=f"it raised {type(error).__name__}"))
    return None


def _under(path: str, fault: Fault) -> Fault:
    inner = f"{path}.{fault.path}" if path and fault.path else path or fault.path
    return Fault(path=inner, expected=fault.expected, found=fault.found, hint=fault.hint)


def _is_evaluator(made: object) -> bool:
    identity = (getattr(made, "name", None), getattr(made, "revision", None))
    return all(isinstance(part, str) and part for part in identity) and callable(getattr(made, "evaluate", None))
