"""Suites that are prepared once where each case is a run of its own: one reading, one set of judges and connections.

To prepare a suite is to look at all of its cases. Were that done for every case anew, ten thousand of them would take
an hour, and an embedded model would be started as often.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from jurat.errors import JuratError
from jurat.pytest_plugin.suiteruns import Order, prepared_for

if TYPE_CHECKING:
    from jurat.suiterun import Prepared

__all__ = ["Plans"]


class Plans:
    """The plans of one session, by suite file; for the session's loop alone."""

    def __init__(self) -> None:
        self._made: dict[Path, Prepared | JuratError] = {}

    def of(self, path: Path, order: Order) -> Prepared:
        """The plan of a suite; it stays open until `aclose`.

        Raises:
            JuratError: what is wrong with the suite, each time.
        """
        if path not in self._made:
            try:
                self._made[path] = prepared_for(order)
            except JuratError as error:
                self._made[path] = error
        made = self._made[path]
        if isinstance(made, JuratError):
            raise made
        return made

    async def aclose(self) -> None:
        """Close all of them."""
        async with contextlib.AsyncExitStack() as stack:
            for made in self._made.values():
                if not isinstance(made, JuratError):
                    stack.push_async_callback(made.aclose)
            self._made = {}
