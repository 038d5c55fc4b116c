"""An embedded model as a provider: no key, no account, nothing paid.

It is chat completions again, spoken to a server of our own on loopback (`jurat.provider.local_server`). The server is
started at the first call, in a thread and once, because loading a model takes seconds; one that has died is started
again, once for each call that found it dead. Port and key change from start to start and are no part of the identity,
so that recorded replies stay valid. Requests wait for a slot on our side, so that a call's time counts its own work.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jurat.errors import AuthoringError, ErrorCategory, Fault, ModelError, ProviderError
from jurat.provider.addresses import join_path
from jurat.provider.errors_from_http import Destination
from jurat.provider.gate import Gate
from jurat.provider.http import AiohttpTransport
from jurat.provider.http_provider import STATIC_HEADERS
from jurat.provider.local_wire import LocalEncoder, read_local
from jurat.provider.openai_request import CHAT
from jurat.provider.protocol import Call, ModelRequest, ProviderSettings, Raw, Reply
from jurat.provider.retry import RetryPolicy
from jurat.provider.sender import HttpSender

if TYPE_CHECKING:
    from jurat.provider.local_server import ServerLease

__all__ = ["LocalProvider", "local_provider"]

_TIMEOUT_S = 600.0
_WHERE = "the local model server"


def _unheard() -> None:
    """Where nobody listens."""


class LocalProvider:
    """An embedded model, by name or by file.

    Attributes:
        starting: is called when a server is about to be started, from whatever thread starts it.

    Args:
        settings: `model` is the name in the table of models, `capabilities.context_tokens` the context of each slot.
        model_path: the model's file, instead of the table's.
        slots: how many requests are worked on at once.
        threads: None takes the cores that this process may use.
        timeout_s: the time of one request.
    """

    def __init__(
        self,
        settings: ProviderSettings,
        *,
        model_path: Path | None = None,
        slots: int = 1,
        threads: int | None = None,
        timeout_s: float = _TIMEOUT_S,
    ) -> None:
        self._settings, self._path = settings, model_path
        self.starting: Callable[[], None] = _unheard
        self._slots, self._threads = slots, threads
        self._to = Destination(where=_WHERE, model=settings.model, key_variable=None)
        self._encoder = LocalEncoder(settings)
        self._transport = AiohttpTransport(timeout_s=timeout_s, connections=slots)
        self._policy = RetryPolicy(deadline_s=timeout_s)
        self._gate = Gate(slots)
        self._starting = threading.Lock()
        self._lease: ServerLease | None = None
        self._sender: HttpSender | None = None

    def __repr__(self) -> str:
        return f"<local provider {self._settings.name!r}: {self._settings.model}>"

    @property
    def settings(self) -> ProviderSettings:
        """Name, model, capabilities. The endpoint is empty: it differs from start to start."""
        return self._settings

    def model_file(self) -> Path:
        """The file of the model, verified to be there.

        Raises:
            ModelError: when it is not; the message says which command fetches it.
        """
        if self._path is not None:
            return self._path
        from jurat.provider.models import model_path

        return model_path(self._settings.model)

    def prepare(self, request: ModelRequest) -> Call:
        """The bytes that would be sent, and their key. Starts nothing."""
        return self._encoder.call(request)

    def check(self) -> None:
        """See that the model is here.

        Raises:
            ModelError: when it is not; the message says which command fetches it.
        """
        self.model_file()

    async def send(self, call: Call) -> Raw:
        """Bring the reply, starting the server when there is none.

        Raises:
            ProviderError: and nothing else; `invalid_request` when the model is not on this machine.
        """
        sender = self._sender
        if sender is None:
            sender = await asyncio.to_thread(self._start, None)
        try:
            return await sender.send(call.body)
        except ProviderError as error:
            fault = error
        if fault.category is not ErrorCategory.NETWORK_ERROR or self._lease is None or not self._lease.server.ended:
            raise fault
        return await (await asyncio.to_thread(self._start, sender)).send(call.body)

    def _start(self, dead: HttpSender | None) -> HttpSender:
        """The sender to a running server: the present one, unless it is the one that was found dead."""
        with self._starting:
            if self._sender is not None and self._sender is not dead:
                return self._sender
            if self._lease is not None:
                self._lease.close()
            self.starting()
            try:
                self._lease = self._served()
            except ModelError as error:
                fault = ProviderError(ErrorCategory.INVALID_REQUEST, str(error), attempts=0)
            else:
                self._sender = self._sender_to(self._lease)
                return self._sender
        raise fault

    def _served(self) -> ServerLease:
        from jurat.provider.local_server import shared_server

        context = self._settings.capabilities.context_tokens
        return shared_server(
            self.model_file(), context_tokens=context or 8192, slots=self._slots, threads=self._threads
        )

    def _sender_to(self, lease: ServerLease) -> HttpSender:
        headers = {**STATIC_HEADERS, "Authorization": f"Bearer {lease.api_key}"}
        return HttpSender(
            url=join_path(lease.url, "/chat/completions"),
            headers=lambda: headers,
            destination=self._to,
            read=CHAT.read,
            transport=self._transport,
            policy=self._policy,
            gate=self._gate,
        )

    def read(self, raw: Raw) -> Reply:
        """What the bytes say. The server names the model by its file; a record names it by its name."""
        if raw.reply is not None:
            return replace(raw.reply, model=self._settings.model)
        return read_local(raw.body, self._to)

    async def aclose(self) -> None:
        """Close the connections and let go of the server, which stays a while for the next one who wants it."""
        await self._transport.aclose()
        with self._starting:
            lease, self._lease, self._sender = self._lease, None, None
        if lease is not None:
            lease.close()


def local_provider(settings: ProviderSettings, row: Mapping[str, Any], model_path: Path | None) -> LocalProvider:
    """A local provider from a checked row. The model's name is made canonical (`default` is another model next year).

    Raises:
        AuthoringError: for a name that no entry has, or a file that is not there.
    """
    from jurat.provider.models import resolve

    if model_path is None:
        entry = resolve(row.get("model", "default"))
        strategy = row.get("default_strategy", entry.default_strategy)
        settings = replace(settings, model=entry.name, default_strategy=strategy, wants_examples=True)
    else:
        if not model_path.is_file():
            fault = Fault(path="model_path", expected="the file of a model (GGUF)", found="no such file")
            raise AuthoringError(f"provider {settings.name}", [fault])
        settings = replace(settings, model=row.get("model", model_path.stem))
    context = row.get("context_tokens")
    if context is not None:
        settings = replace(settings, capabilities=replace(settings.capabilities, context_tokens=context))
    return LocalProvider(
        settings,
        model_path=model_path,
        slots=row.get("concurrency", 1),
        threads=row.get("threads"),
        timeout_s=float(row.get("timeout_s", _TIMEOUT_S)),
    )
