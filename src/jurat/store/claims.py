"""Which runs are this process's: taking them, showing signs of life, and letting go. See `jurat.store.owners`."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from jurat.errors import StoreError
from jurat.store.database import Change, Database
from jurat.store.owners import Owner, hold, is_gone, let_go, new_owner
from jurat.store.rows import Row
from jurat.store.run_statements import CLAIM, END_RUN, RELEASE, RESTART_RUN, TOUCH
from jurat.store.texts import keep_text, read_text

__all__ = ["HEARTBEAT_S", "Claims", "owner_row", "read_owner"]

HEARTBEAT_S = 15.0
"""How often a process says that it is still at work on a run."""

Look = Callable[[str], Awaitable[tuple[int, Owner | None]]]
"""Gives a run's number and whoever is at work on it, by the run's id."""


class Claims:
    """This process's hold on runs of one database. `look` looks a run up."""

    def __init__(self, database: Database, look: Look) -> None:
        self._database, self._look = database, look
        self._tokens: dict[str, str] = {}
        self._touched: dict[str, float] = {}
        self._lost: dict[str, str] = {}

    def ready(self) -> Owner:
        """This process, ready to take a run: `taken` or `dropped` has to follow."""
        owner = new_owner()
        hold(owner)
        return owner

    def taken(self, run_id: str, owner: Owner) -> None:
        """The run is this process's from now on."""
        self._tokens[run_id] = owner.token
        self._lost.pop(run_id, None)

    def dropped(self, owner: Owner) -> None:
        """The run was not taken after all."""
        let_go(owner.token)

    async def claim(self, run_id: str) -> None:
        """Take a run from nobody, or from a process that is gone.

        Raises:
            StoreError: when a live process is at work on it.
        """
        number, owner = await self._look(run_id)
        if owner is not None and not is_gone(owner):
            raise self._held(run_id, owner)
        mine = self.ready()
        try:
            row = (number, *owner_row(mine), owner.token if owner else "")
            await self._database.write(((CLAIM, [row]), (RESTART_RUN, [(number, number, mine.token)])))
            _, winner = await self._look(run_id)
        except BaseException:
            self.dropped(mine)
            raise
        if winner is None or winner.token != mine.token:  # another process was quicker
            self.dropped(mine)
            raise self._held(run_id, winner)
        self.taken(run_id, mine)

    async def touch(self, run_id: str) -> None:
        """Give a sign of life, and see that the run is still this process's.

        Raises:
            StoreError: when another process has taken it over.
        """
        number, _ = await self._look(run_id)
        await self._database.write(self.sign_of_life(run_id, number, now=True))
        _, owner = await self._look(run_id)
        if owner is None or owner.token != self._tokens.get(run_id):
            lost = self._held(run_id, owner)
            self.ended(run_id)
            self._lost[run_id] = str(lost)
            raise lost

    def sign_of_life(self, run_id: str, number: int, *, now: bool = False) -> list[Change]:
        """What to write beside something else; nothing when the last sign was just given, unless it is to be `now`.

        Raises:
            StoreError: when it was found that another process has taken the run over.
        """
        if run_id in self._lost:
            raise StoreError(self._lost[run_id])
        token, moment = self._tokens.get(run_id), time.monotonic()
        if token is None or not (now or moment - self._touched.get(run_id, -HEARTBEAT_S) >= HEARTBEAT_S / 3):
            return []
        self._touched[run_id] = moment
        return [(TOUCH, [(number, token)])]

    async def end(self, run_id: str, outcome: Row, more: Sequence[Change]) -> None:
        """Write a run's outcome (the columns that `END_RUN` sets) and more, and let go of the run.

        Raises:
            StoreError: when another process is at work on it.
        """
        number, owner = await self._look(run_id)
        if owner is not None and owner.token != self._tokens.get(run_id) and not is_gone(owner):
            raise self._held(run_id, owner)
        token = owner.token if owner else ""
        end: list[Change] = [(END_RUN, [(*outcome, number, number, token)]), (RELEASE, [(number, token)])]
        await self._database.write([*more, *end])
        self.ended(run_id)

    def ended(self, run_id: str) -> None:
        """The run is nobody's any more."""
        let_go(self._tokens.pop(run_id, ""))
        self._touched.pop(run_id, None)

    def let_go(self) -> None:
        """No run is this process's any more."""
        for run_id in list(self._tokens):
            self.ended(run_id)

    def _held(self, run_id: str, owner: Owner | None) -> StoreError:
        start = f"{self._database.shown}: run {run_id}"
        if owner is None:
            return StoreError(f"{start} is no longer this process's: another one took it over and ended it")
        return StoreError(
            f"{start}: process {owner.pid} on {owner.host} is at work on it (last sign of life "
            f"{max(owner.silent_s, 0):.0f} s ago); wait for that process or end it, then try again"
        )


def owner_row(owner: Owner) -> Row:
    """The columns of an owner after the run."""
    return owner.token, keep_text(owner.machine), keep_text(owner.host), owner.pid, owner.started


def read_owner(columns: Sequence[Any]) -> Owner | None:
    """What the columns of an owner say; None where there is none."""
    token, machine, host, pid, started, silent_s = columns
    if token is None:
        return None
    return Owner(
        token=token, machine=read_text(machine), host=read_text(host), pid=pid, started=started, silent_s=silent_s
    )
