"""How a test learns that an evaluation did not pass: decided against it, or not decided. Neither is ever the other.

    AssertionError
    └── EvaluationFailed   a verdict: below the threshold, a check that does not hold, a gate that failed
    JuratError
    └── Undecided          no verdict: an evaluator's error, or missing evidence. pytest reports an ERROR

Messages are bounded and harmless on a terminal, and hold no text of a model but a judge's reason.
"""

from __future__ import annotations

from collections.abc import Sequence

from jurat.errors import AuthoringError, EvaluationError, JuratError, StoreError

__all__ = ["EvaluationFailed", "Undecided", "category_of", "error_for"]


class EvaluationFailed(AssertionError):
    """An evaluation, a case or a gate failed: there is a verdict, and it is no."""


class Undecided(JuratError):
    """An evaluation, a case or a gate came to no verdict.

    Attributes:
        category: why: one of the error categories (`timeout`, `quote_not_found`, …), or `unverified` where evidence is
            missing.
    """

    def __init__(self, message: str, category: str) -> None:
        self.category = category
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (str(self), self.category))


def category_of(error: BaseException) -> str:
    """The word under which an error is counted: its category, or whose trouble it is."""
    if isinstance(error, Undecided):
        return error.category
    if isinstance(error, EvaluationError):
        return error.category.value
    if isinstance(error, AuthoringError):
        return "authoring"
    return "store" if isinstance(error, StoreError) else "model"


def error_for(message: str, *, failed: bool, categories: Sequence[str]) -> EvaluationFailed | Undecided:
    """What to raise. A failure is a failure whatever else is undecided; an error says more than missing evidence."""
    if failed:
        return EvaluationFailed(message)
    named = [one for one in categories if one != "unverified"]
    return Undecided(message, (named or ["unverified"])[0])
