"""The journal: what the engine asks of whoever keeps the record. The store implements it; neither knows the other.

What is committed is durable when `commit` returns. A reply is committed as it arrives, before anybody looks at it; a
reply that then turns out to be no valid answer is withheld: its text goes, its account stays.

A journal belongs to one job. `recall` knows what this job asked itself; `recall_any` what any job did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from jurat.evaluation import TypedError
from jurat.judge import Spending, Withheld
from jurat.provider.protocol import Raw

__all__ = ["Journal", "MemoryJournal"]


class Journal(Protocol):
    """Keeps replies by the key of their call. Raises StoreError when it cannot."""

    async def recall(self, keys: Sequence[str]) -> Mapping[str, Raw | Withheld]: ...

    async def recall_any(self, keys: Sequence[str]) -> Mapping[str, Raw | Withheld]: ...

    async def commit(self, replies: Sequence[tuple[str, Raw]]) -> None: ...

    async def withhold(self, items: Sequence[tuple[str, TypedError, Spending]]) -> None: ...


class MemoryJournal:
    """A journal that forgets with the process: for tests, and for callers that want no files.

    Args:
        others: what other jobs have asked.
    """

    def __init__(self, others: Mapping[str, Raw | Withheld] | None = None) -> None:
        self.kept: dict[str, Raw | Withheld] = {}
        self._others = others or {}

    async def recall(self, keys: Sequence[str]) -> Mapping[str, Raw | Withheld]:
        return {key: self.kept[key] for key in keys if key in self.kept}

    async def recall_any(self, keys: Sequence[str]) -> Mapping[str, Raw | Withheld]:
        every = {**self._others, **self.kept}
        return {key: every[key] for key in keys if key in every}

    async def commit(self, replies: Sequence[tuple[str, Raw]]) -> None:
        self.kept.update(replies)

    async def withhold(self, items: Sequence[tuple[str, TypedError, Spending]]) -> None:
        for key, error, spending in items:
            self.kept[key] = Withheld(error=error, spending=spending)
