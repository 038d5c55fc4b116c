"""A budget: what is known to be spent, and whether another call may be begun.

Costs are added exactly, as they are written: ten times 0.00003 are 0.0003, which the sum of ten floats is not. What is
over the budget in the end was in flight when it ran out.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from jurat.errors import ErrorCategory, RequestError

__all__ = ["Purse"]


class Purse:
    """Keeps count where there is a budget.

    Args:
        budget_usd: no call is begun once so much is spent; None for no bound.
        spent_usd: what is known to be spent already.
        notice: is told once that the budget is spent, once that something has an unknown cost, and in the end what
            went over the budget.
    """

    __slots__ = ("_budget", "_exhausted", "_notice", "_shown", "_spent", "_unknown", "kept")

    def __init__(self, budget_usd: float | None, spent_usd: float, notice: Callable[[str], None]) -> None:
        self.kept = budget_usd is not None
        self._shown, self._budget = budget_usd or 0.0, _exact(budget_usd or 0.0)
        self._spent = _exact(spent_usd)
        self._notice = notice
        self._exhausted = self._unknown = False

    @property
    def spent_usd(self) -> float:
        """What is known to be spent, in USD; kept only where there is a budget."""
        return float(self._spent)

    def pay(self, cost_usd: float | None) -> None:
        """Add what something cost. What is not known cannot be added; that this is so is said once."""
        if cost_usd is not None:
            self._spent += _exact(cost_usd)
        elif self.kept and not self._unknown:
            self._unknown = True
            self._notice("what a call cost is not known: the budget holds for what is known to be spent")

    def refusal(self) -> RequestError | None:
        """Why no call may be begun, if none may."""
        if not self.kept or self._spent < self._budget:
            return None
        if not self._exhausted:
            self._exhausted = True
            self._notice(f"the budget of {self._shown:g} USD is spent: no further call is made")
        message = f"the budget of {self._shown:g} USD is spent, so the call was not made"
        return RequestError(ErrorCategory.BUDGET_EXHAUSTED, message)

    def close(self) -> None:
        """When no call is made any more: say what went over the budget, if something did."""
        over = self._spent - self._budget
        if self._exhausted and over > 0:
            self._notice(f"{float(over):.6g} USD went over the budget, by calls in flight when it was spent")


def _exact(usd: float) -> Fraction:
    return Fraction(repr(float(usd)))
