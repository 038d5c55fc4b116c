"""The evaluation contract: anything that turns a context into an assessment.

An evaluator has a name and a revision, and one method, which may be awaited. `run_evaluator` is the only way in which
the rest of the house asks one: it contains whatever goes wrong, so that one evaluator's trouble never reaches its
siblings, and it enforces identity, so that no evaluator can speak in another's name.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import Protocol, runtime_checkable

from jurat.errors import ErrorCategory, EvaluationError
from jurat.evaluation.assessment import Assessment, TypedError
from jurat.evidence import Context
from jurat.raised import raised
from jurat.vocabulary import Status

__all__ = ["Evaluator", "error_assessment", "run_evaluator"]


@runtime_checkable
class Evaluator(Protocol):
    """Turns a context into an assessment. Raises EvaluationError when it cannot decide."""

    @property
    def name(self) -> str: ...

    @property
    def revision(self) -> str: ...

    def evaluate(self, context: Context) -> Assessment | Awaitable[Assessment]: ...


async def run_evaluator(evaluator: Evaluator, context: Context) -> Assessment:
    """Ask one evaluator, and give an assessment whatever happens.

    Cancellation and the interpreter's own exits pass through. Everything else that is raised becomes an `error`
    assessment: an EvaluationError under its own category, anything else as `evaluator_exception` with the exception's
    type and place and never its text. What is no Assessment, or bears another name or revision, is `invalid_result`.
    """
    name, revision = evaluator.name, evaluator.revision
    try:
        found: object = evaluator.evaluate(context)
        if inspect.isawaitable(found):
            found = await found
    except EvaluationError as error:
        return error_assessment(name, revision, error.category, str(error))
    except Exception as error:
        message = f"the evaluator {name} {raised(error)}"
        return error_assessment(name, revision, ErrorCategory.EVALUATOR_EXCEPTION, message)
    if not isinstance(found, Assessment):
        message = f"the evaluator {name} must return an Assessment, it returned a {type(found).__name__}"
        return error_assessment(name, revision, ErrorCategory.INVALID_RESULT, message)
    if (found.evaluator, found.revision) != (name, revision):
        message = f"the evaluator {name} ({revision}) returned an assessment under another name or revision"
        return error_assessment(name, revision, ErrorCategory.INVALID_RESULT, message)
    return found


def error_assessment(name: str, revision: str, category: ErrorCategory, message: str) -> Assessment:
    """An assessment that says: could not decide, and why."""
    return Assessment(
        evaluator=name, revision=revision, status=Status.ERROR, error=TypedError(type=category, message=message)
    )
