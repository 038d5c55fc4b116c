"""Two kinds of provider error: those that may pass, and those that stay.

`TransientError` is a ProviderError that another try may mend (a busy server, a broken connection); only the retry
layer looks at the difference, and whoever catches ProviderError catches both. An error that only tells a caller what
to do carries its own attempts and delay, so that no second layer has to retry to find out.
"""

from __future__ import annotations

from jurat.errors import ErrorCategory, ProviderError

__all__ = ["TransientError", "settled"]


class TransientError(ProviderError):
    """A ProviderError that may pass. What the retry layer retries, and nothing else."""


def settled(error: ProviderError, attempts: int, remark: str = "") -> ProviderError:
    """The same fault, told after the last try: with the number of requests that were made, and a remark."""
    return ProviderError(
        ErrorCategory(error.category),
        f"{error}{remark}",
        status=error.status,
        attempts=attempts,
        retry_after_s=error.retry_after_s,
        request_id=error.request_id,
    )
