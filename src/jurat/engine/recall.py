"""What a run remembers of its own calls, in constant space, and how it asks the journal about the rest.

`Seen` answers "may this call have been made before?" without keeping the keys: a Bloom filter (B. H. Bloom, Space/time
trade-offs in hash coding with allowable errors, 1970). "No" is certain, and is what most calls hear; "maybe" is then
looked up in the journal. `Lookup` gathers what is asked in one round of the event loop into one question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from jurat.judge import Withheld
from jurat.provider.protocol import Raw

__all__ = ["Kept", "Lookup", "Seen"]

Kept = Raw | Withheld
"""What a journal knows of a call."""

_BITS = 25
_MASK = (1 << _BITS) - 1


class Seen:
    """The keys that were noted, in 4 MiB: after 200,000 of them one in 7,000 others passes for noted."""

    __slots__ = ("_bits",)

    def __init__(self) -> None:
        self._bits = bytearray(1 << (_BITS - 3))

    def note(self, key: str) -> bool:
        """Note a key (hexadecimal, at least 13 digits). Whether it may have been noted before."""
        bits, number = self._bits, int(key[:13], 16)
        first, second = number & _MASK, (number >> _BITS) & _MASK
        known = bits[first >> 3] >> (first & 7) & bits[second >> 3] >> (second & 7) & 1
        if not known:
            bits[first >> 3] |= 1 << (first & 7)
            bits[second >> 3] |= 1 << (second & 7)
        return bool(known)


class Lookup:
    """Asks about many keys in one go. One question is on its way at a time; what comes meanwhile is the next.

    Args:
        ask: gives what is known of some keys.
    """

    def __init__(self, ask: Callable[[Sequence[str]], Awaitable[Mapping[str, Kept]]]) -> None:
        self._ask = ask
        self._wanted: dict[str, asyncio.Future[Kept | None]] = {}
        self._asking: asyncio.Task[None] | None = None

    async def find(self, key: str) -> Kept | None:
        """What is known of one key; nobody else may be asking for it.

        Raises:
            StoreError: when it cannot be found out.
        """
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Kept | None] = loop.create_future()
        self._wanted[key] = found
        if self._asking is None:
            self._asking = loop.create_task(self._answer())
        return await found

    async def _answer(self) -> None:
        while self._wanted:
            wanted, self._wanted = self._wanted, {}
            try:
                known = await self._ask(list(wanted))
            except Exception as error:
                for future in wanted.values():
                    if not future.done():
                        future.set_exception(error)
                continue
            for key, future in wanted.items():
                if not future.done():
                    future.set_result(known.get(key))
        self._asking = None

    async def close(self) -> None:
        """Wait until no question is on its way any more."""
        if self._asking is not None:
            await asyncio.wait((self._asking,))
