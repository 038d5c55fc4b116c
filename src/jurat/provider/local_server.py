"""One model server for all in this process who want the same model with the same settings.

Loading costs seconds, and the prompt cache is worth keeping, so servers are counted, not owned: each user takes a
lease, and the server stays for a while after the last one was given back. It never outlives the process (see
`local_process`, which starts it and says why it is a process of its own). A forked process begins without any.
"""

from __future__ import annotations

import atexit
import os
import threading
from typing import TYPE_CHECKING

from jurat.provider.local_process import LocalExtraMissing, LocalServer, LocalServerError, ServerSettings

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

__all__ = [
    "LocalExtraMissing",
    "LocalServer",
    "LocalServerError",
    "ServerLease",
    "ServerSettings",
    "shared_server",
    "stop_shared_servers",
]


class _Shared:
    """A server, how many hold it, and the timer that ends it when nobody does."""

    def __init__(self, server: LocalServer) -> None:
        self.server = server
        self.holders = 0
        self.farewell: threading.Timer | None = None


_Key = tuple[str, ServerSettings]
_shared: dict[_Key, _Shared] = {}
_shared_lock = threading.Lock()


class ServerLease:
    """A hold on a shared server. `close` it when done (twice does no harm); also a context manager."""

    def __init__(self, key: _Key, shared: _Shared, linger_s: float) -> None:
        self._key = key
        self._shared = shared
        self._linger_s = linger_s
        self._open = True

    def __enter__(self) -> ServerLease:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def server(self) -> LocalServer:
        return self._shared.server

    @property
    def url(self) -> str:
        """As `LocalServer.url`."""
        return self._shared.server.url

    @property
    def api_key(self) -> str:
        return self._shared.server.api_key

    def close(self) -> None:
        """Let go. The last one to let go ends the server, after its time to linger."""
        with _shared_lock:
            if not self._open:
                return
            self._open = False
            self._shared.holders -= 1
            if self._shared.holders > 0:
                return
            farewell = threading.Timer(self._linger_s, _say_farewell, (self._key, self._shared))
            farewell.daemon = True
            self._shared.farewell = farewell
        if self._linger_s > 0:
            farewell.start()
        else:
            _say_farewell(self._key, self._shared)


def shared_server(
    model_path: Path,
    *,
    context_tokens: int = 8192,
    slots: int = 1,
    threads: int | None = None,
    prompt_cache_mib: int = 512,
    linger_s: float = 60.0,
) -> ServerLease:
    """A running server for this model and these settings: the one that this process has already, or a new one.

    Blocks for seconds when it has to load; from a coroutine, call it in a thread. A server that has died is replaced.
    After the last `close` it stays for `linger_s` seconds (0: ends at once).

    Raises:
        LocalExtraMissing, LocalServerError: as `LocalServer.start`.
    """
    settings = ServerSettings(
        context_tokens=context_tokens, slots=slots, threads=threads, prompt_cache_mib=prompt_cache_mib
    )
    key = (str(model_path.resolve()), settings)
    with _shared_lock:
        shared = _shared.get(key)
        if shared is None or shared.server.ended:
            shared = _shared[key] = _Shared(LocalServer(model_path, settings))
        shared.holders += 1
        if shared.farewell is not None:
            shared.farewell.cancel()
            shared.farewell = None
    try:
        shared.server.start()  # of two callers at once, the second waits for the first
    except BaseException:
        ServerLease(key, shared, 0.0).close()
        raise
    return ServerLease(key, shared, linger_s)


def stop_shared_servers() -> None:
    """End every shared server now, held or not. Runs at exit."""
    with _shared_lock:
        ending = list(_shared.values())
        _shared.clear()
    for shared in ending:
        if shared.farewell is not None:
            shared.farewell.cancel()
        shared.server.stop()


def _say_farewell(key: _Key, shared: _Shared) -> None:
    """End a server that nobody holds any more."""
    with _shared_lock:
        if shared.holders > 0:
            return
        if _shared.get(key) is shared:
            del _shared[key]
    shared.server.stop()


def _forget_after_fork() -> None:
    """A forked process starts with none: the servers belong to its parent, and so do the locks' holders."""
    global _shared_lock
    _shared_lock = threading.Lock()
    _shared.clear()


atexit.register(stop_shared_servers)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
