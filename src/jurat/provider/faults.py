"""Kinds of provider error: those that may pass, those that stay, those that all calls come to, and those that name
what to send otherwise.

`TransientError` is a ProviderError that another try may mend (a busy server, a broken connection); only the retry
layer looks at the difference, and whoever catches ProviderError catches both. An error that only tells a caller what
to do carries its own attempts and delay, so that no second layer has to retry to find out.
"""

from __future__ import annotations

from typing import Any

from jurat.errors import ErrorCategory, ProviderError

__all__ = ["Exhausted", "RefusedParameter", "TransientError", "UnknownModel", "settled"]


class TransientError(ProviderError):
    """A ProviderError that may pass. What the retry layer retries, and nothing else."""


class Exhausted(ProviderError):
    """A ProviderError that other calls would come to, too: the credit is used up, or for long nothing is to be had."""


class UnknownModel(ProviderError):
    """A ProviderError of a server that knows no such model, or no such path: other calls would come to it, too."""


class RefusedParameter(ProviderError):
    """A ProviderError that names the member of the request which the server does not take.

    Attributes:
        param: the member's name on the wire, one of ours.
    """

    def __init__(self, category: ErrorCategory, message: str, *, param: str, **fields: Any) -> None:
        super().__init__(category, message, **fields)
        self.param = param


def settled(error: ProviderError, failed: tuple[ErrorCategory, ...], remark: str = "") -> ProviderError:
    """The same fault, told after the last try: with why each request failed, and a remark."""
    kind = Exhausted if isinstance(error, Exhausted) else ProviderError
    return kind(
        ErrorCategory(error.category),
        f"{error}{remark}",
        status=error.status,
        attempts=len(failed),
        failed=failed,
        retry_after_s=error.retry_after_s,
        request_id=error.request_id,
    )
