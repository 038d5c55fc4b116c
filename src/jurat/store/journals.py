"""A job's journal: the store of replies as one job sees it, a run or a verdict file's.

Every reply that the job commits is noted as its own in the same transaction. So when the job is resumed it finds what
it had paid for itself and nothing of other jobs, while `recall_any` finds whatever is known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from jurat.errors import StoreError
from jurat.evaluation import TypedError
from jurat.judge import Spending, Withheld
from jurat.provider.protocol import Raw
from jurat.store.database import Database
from jurat.store.rows import read_reply, reply_rows, withheld_rows
from jurat.store.run_statements import ADD_SCOPE, RETIRE_SCOPE, SCOPE
from jurat.store.statements import BLANK, COMMIT, HAND_OVER, RECALL, RECALL_OWN, REINSTATE, WITHHOLD, Statement

__all__ = ["ScopedJournal", "recall_replies"]

_CHUNK = 1_000


async def recall_replies(
    database: Database, statement: Statement, keys: Sequence[str], *more: int
) -> dict[str, Raw | Withheld]:
    """What a statement that takes keys as a JSON array knows, a chunk of keys at a time."""
    found: dict[str, Raw | Withheld] = {}
    for start in range(0, len(keys), _CHUNK):
        rows = await database.read(statement, json.dumps(keys[start : start + _CHUNK]), *more)
        found.update((row[0], read_reply(row)) for row in rows)
    return found


class ScopedJournal:
    """The journal of one job. Every method raises StoreError when the database cannot do it.

    Args:
        scope: the job's name: a run's id, or anything else that names a job and no other.
    """

    def __init__(self, database: Database, scope: str) -> None:
        self._database, self._scope = database, scope
        self._number: int | None = None

    async def recall(self, keys: Sequence[str]) -> Mapping[str, Raw | Withheld]:
        """What this job asked for itself under these keys."""
        number = await self._numbered()
        return await recall_replies(self._database, RECALL_OWN, keys, number, number)

    async def recall_any(self, keys: Sequence[str]) -> Mapping[str, Raw | Withheld]:
        """What is known under these keys, whichever job asked for it."""
        return await recall_replies(self._database, RECALL, keys)

    async def commit(self, replies: Sequence[tuple[str, Raw]]) -> None:
        """Keep replies and note them as this job's own; both are durable when this returns."""
        if not replies:
            return
        number = await self._numbered()
        rows = reply_rows(replies, number)
        keys = [row[:1] for row in rows]
        others = [(row[0], number) for row in rows]
        await self._database.write(((HAND_OVER, others), (COMMIT, rows), (REINSTATE, keys)))

    async def withhold(self, items: Sequence[tuple[str, TypedError, Spending]]) -> None:
        """Overwrite the bytes of replies that were no valid answers, and keep why, and what they cost."""
        if items:
            rows = withheld_rows(items)
            await self._database.write(((WITHHOLD, rows), (BLANK, [row[:1] for row in rows])))

    async def start_anew(self) -> None:
        """From now on the job has asked for nothing yet. The replies themselves stay."""
        await self._database.write(((RETIRE_SCOPE, [(self._scope,)]),))
        self._number = None

    async def _numbered(self) -> int:
        if self._number is None:
            if not (rows := await self._database.read(SCOPE, self._scope)):
                await self._database.write(((ADD_SCOPE, [(self._scope,)]),))
                rows = await self._database.read(SCOPE, self._scope)
            if not rows:
                raise StoreError(f"{self._database.shown}: the job was removed while it was at work")
            self._number = int(rows[0][0])
        return self._number
