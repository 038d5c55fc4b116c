"""`python`: a person's own function as an assertion, named `module:function`.

The function gets the context, and as keyword arguments what the assertion lists under `arguments`. It may be async;
otherwise it runs in a thread. It gives

- True or False: pass with 100, fail with 0;
- a number from 0 to 100, held against the assertion's `threshold`, which is then needed;
- an object of `passed` (or `score`, with `threshold`), and optionally `reason` and `score`;
- an `Assessment` of its own, for whoever wants findings, quotes or `unverified`. Its score lies between 0 and 100.

Everything else is `invalid_result`, and what it raises is `evaluator_exception`: an error, never a score. Whether the
function can be found and called is settled when the assertion is built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from jurat.assertions.execution import as_finite
from jurat.assertions.outcome import Check, clip, decided
from jurat.errors import ErrorCategory, EvaluatorFault, Fault
from jurat.evaluation import Assessment
from jurat.evidence import Context
from jurat.jsontext import Json, thaw, type_name
from jurat.threads import call_user_code
from jurat.usermodules import Unimportable, import_module, unfit_signature
from jurat.vocabulary import nearest

__all__ = ["load_function", "python"]

_KEYS = ("passed", "reason", "score")
_MAX_REASON = 4000


def load_function(
    reference: str, path: str, faults: list[Fault], *, arguments: Mapping[str, Json] | None = None
) -> Callable[..., Any] | None:
    """The function that `module:function` names, its `arguments` bound; or a fault and None. Imports the module."""
    module_name, _, name = reference.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *name.split("."))):
        expected = "module:function, as in my_package.checks:is_polite"
        faults.append(Fault(path=path, expected=expected, found=repr(reference[:200])))
        return None
    found: Any = _import(module_name, path, faults)
    for part in name.split("."):
        if found is None:
            return None
        found = _member(found, part, module_name, path, faults)
    if found is None or not _callable(found, reference, path, faults):
        return None
    if not _takes(found, arguments or {}, reference, path, faults):
        return None
    return partial(found, **thaw(arguments)) if arguments else found


def _import(module_name: str, path: str, faults: list[Fault]) -> object | None:
    found = import_module(module_name)
    if not isinstance(found, Unimportable):
        return found
    expected = f"a module {module_name} that can be imported"
    faults.append(Fault(path=path, expected=expected, found=found.found, hint=found.hint))
    return None


def _member(owner: object, name: str, module_name: str, path: str, faults: list[Fault]) -> object | None:
    found: object | None = getattr(owner, name, None)
    if found is None:
        near = nearest(name, [known for known in dir(owner) if not known.startswith("_")])
        hint = f"Did you mean {near}?" if near else None
        faults.append(Fault(path=path, expected=f"a function in {module_name}", found=f"no {name} there", hint=hint))
    return found


def _callable(found: object, reference: str, path: str, faults: list[Fault]) -> bool:
    if not callable(found):
        faults.append(Fault(path=path, expected=f"{reference} to be a function", found=type_name(found)))
    return callable(found)


def _takes(
    found: Callable[..., Any], arguments: Mapping[str, Json], reference: str, path: str, faults: list[Fault]
) -> bool:
    unfit = unfit_signature(found, None, **arguments)
    if unfit is None:
        return True
    listed = f" and {', '.join(arguments)}" if arguments else ""
    faults.append(
        Fault(path=path, expected=f"{reference} to take the context{listed}", found=f"a function of {clip(unfit)}")
    )
    return False


def python(function: Callable[..., Any], *, threshold: float | None = None) -> Check:
    """Ask the function. Score 0 to 100; pass as it says, or when its score is at least `threshold`."""

    async def run(context: Context) -> Assessment:
        return _assessment(await call_user_code(function, context), threshold)

    return run


def _assessment(found: object, threshold: float | None) -> Assessment:
    if isinstance(found, Assessment):
        if found.score is not None and not 0 <= found.score <= 100:
            raise _nonsense("an assessment with a score from 0 to 100", f"the score {found.score!r}")
        return found
    if isinstance(found, bool):
        return decided("python", found, f"the function returned {found}")
    if isinstance(found, Mapping):
        return _from_mapping(found, threshold)
    score = _score(found, "a boolean, a number, an object or an Assessment")
    return _by_score(score, threshold, f"the function returned {score!r}")


def _from_mapping(found: Mapping[Any, Any], threshold: float | None) -> Assessment:
    unknown = [key for key in found if key not in _KEYS]
    if unknown:
        raise _nonsense("an object of " + ", ".join(_KEYS), "another key")
    reason = found.get("reason", "the function gave no reason")
    if not isinstance(reason, str) or len(reason) > _MAX_REASON:
        raise _nonsense(f"a reason of at most {_MAX_REASON:,} characters", type_name(reason))
    score = _score(found["score"], "a number as score") if found.get("score") is not None else None
    if "passed" not in found:
        return _by_score(score, threshold, reason)
    if not isinstance(found["passed"], bool):
        raise _nonsense("true or false as passed", type_name(found["passed"]))
    if threshold is not None:
        raise _nonsense("a score, for the threshold decides", "passed")
    return decided("python", found["passed"], reason, score=score)


def _by_score(score: float | None, threshold: float | None, reason: str) -> Assessment:
    if score is None:
        raise _nonsense("an object with passed or score", "neither")
    if threshold is None:
        raise _nonsense("a boolean, since the assertion has no threshold for a score", "a number")
    return decided("python", score >= threshold, reason, score=score, details={"threshold": threshold})


def _score(value: object, expected: str) -> float:
    number = as_finite(value)
    if number is None:
        raise _nonsense(expected, type_name(value))
    if not 0 <= number <= 100:
        raise _nonsense("a score from 0 to 100", repr(number))
    return number


def _nonsense(expected: str, found: str) -> EvaluatorFault:
    return EvaluatorFault(ErrorCategory.INVALID_RESULT, f"the function must return {expected}, it returned {found}")
