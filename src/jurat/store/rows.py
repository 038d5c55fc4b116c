"""Replies as rows, and back. Pure: what goes in comes out the same, on every database.

Two kinds of text come from outside and may hold what a database's text type refuses (NUL, lone surrogates): they are
*packed*, which leaves ordinary text as it is and writes anything else with Python's own escapes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from operator import itemgetter
from typing import Any

from jurat.errors import ErrorCategory, StoreError
from jurat.evaluation import TypedError
from jurat.judge import Spending, Withheld
from jurat.provider.protocol import Raw, Usage

__all__ = ["Row", "pack", "read_reply", "reply_rows", "token_count", "unpack", "withheld_rows"]

Row = tuple[Any, ...]
_by_key = itemgetter(0)
_LARGEST = 2**63 - 1


def reply_rows(replies: Iterable[tuple[str, Raw]], scope: int | None = None) -> list[Row]:
    """The arguments of `COMMIT`, by key: two processes that write the same keys then lock them in the same order."""
    rows: list[Row] = []
    for key, raw in replies:
        body, name = raw.body, raw.request_id
        name = name if name is None else pack(name)
        account = (raw.latency_ms, raw.attempts, name, scope, " ".join(raw.failed) or None)
        rows.append((key, body, sha256(body).hexdigest(), len(body), *account))
    rows.sort(key=_by_key)
    return rows


def withheld_rows(items: Iterable[tuple[str, TypedError, Spending]]) -> list[Row]:
    """The arguments of `WITHHOLD`, by key."""
    rows: list[Row] = []
    for key, error, spent in items:
        used = spent.usage
        tokens = (used.input_tokens, used.output_tokens, used.cached_input_tokens)
        more = (used.cache_write_tokens, used.reasoning_tokens)
        counts = map(token_count, (*tokens, *more))
        cost = (spent.cost_usd, spent.duration_ms, spent.attempts, json.dumps(spent.models))
        rows.append((key, error.type.value, pack(error.message), *counts, *cost, " ".join(spent.failed) or None))
    rows.sort(key=_by_key)
    return rows


def read_reply(row: Sequence[Any]) -> Raw | Withheld:
    """What a row of `RECALL` says.

    Raises:
        StoreError: when it was withheld under a category that this version does not know.
    """
    _, body, latency_ms, attempts, name, told, category, *account = row
    failed = () if told is None else tuple(map(_known, told.split()))
    if category is not None:
        return _read_withheld(failed, category, *account)
    request_id = name if name is None else unpack(name)
    return Raw(body=body, latency_ms=latency_ms, attempts=attempts, failed=failed, request_id=request_id)


def _known(category: str) -> ErrorCategory:
    try:
        return ErrorCategory(category)
    except ValueError:
        raise StoreError(
            "the store holds a reply withheld, or an attempt failed, for a reason that this version of jurat does not "
            "know: it was written by a newer one; upgrade jurat"
        ) from None


def _read_withheld(failed: tuple[ErrorCategory, ...], category: str, message: str, *account: Any) -> Withheld:
    *tokens, cost_usd, duration_ms, attempts, models = account
    error = TypedError(type=_known(category), message=unpack(message))
    given, made, cached, written, reasoning = tokens
    usage = Usage(
        input_tokens=given,
        output_tokens=made,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=reasoning,
    )
    spending = Spending(
        usage=usage,
        cost_usd=cost_usd,
        duration_ms=duration_ms,
        attempts=attempts,
        failed=failed,
        models=tuple(json.loads(models)),
    )
    return Withheld(error=error, spending=spending)


def token_count(tokens: int | None) -> int | None:
    """A count as a column holds it."""
    # No model takes 2^63 tokens: a count that no database holds is a slip of the server's, and so unknown.
    return tokens if tokens is None or tokens <= _LARGEST else None


def pack(text: str) -> str:
    """The text in characters that every database takes: itself, unless it holds a backslash or what cannot be seen."""
    return text if text.isprintable() and "\\" not in text else text.encode("unicode_escape").decode("ascii")


def unpack(packed: str) -> str:
    """The text that was packed."""
    return packed if "\\" not in packed else packed.encode("ascii").decode("unicode_escape")
