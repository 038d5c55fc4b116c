"""A model behind an HTTP interface, whatever dialect it speaks.

Three steps, as the protocol has them: `prepare` is pure and cheap, `send` brings bytes, `read` says what they mean.
What arrives is read at once, so that a body that is no reply is an error of the call and never counts as one; `read`
then has it ready. The key is found in the environment when a call is sent; nothing here holds, shows or logs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from jurat.errors import ErrorCategory, ProviderError
from jurat.provider.addresses import checked_base_url, join_path, place
from jurat.provider.credentials import KeySource, shown_variable
from jurat.provider.dialect import Dialect
from jurat.provider.dialects import dialect_for
from jurat.provider.encoder import FrameEncoder
from jurat.provider.errors_from_http import Destination
from jurat.provider.faults import RefusedParameter
from jurat.provider.gate import Gate
from jurat.provider.hosts import HostTrust
from jurat.provider.http import MAX_REPLY_BYTES, AiohttpTransport, Transport
from jurat.provider.protocol import Call, ModelRequest, ProviderSettings, Raw, Reply
from jurat.provider.rates import RateLimit
from jurat.provider.retry import RetryPolicy, Timing
from jurat.provider.sender import HttpSender

__all__ = ["STATIC_HEADERS", "HttpProvider"]

STATIC_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Accept-Encoding": "gzip, deflate",
    "User-Agent": "jurat",
}
_REFUSED = (ErrorCategory.INVALID_REQUEST,)
_OTHER_LIMIT = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


class HttpProvider:
    """A model behind an HTTP interface.

    Args:
        settings: `endpoint` is the base URL (`https://host/v1`), `api_key_env` names the key's variable.
        dialect: how requests and replies are written; None: the kind's own.
        timeout_s: the time of one request, from its first byte to the last of the reply.
        policy: retries; the default deadline is five times `timeout_s`.
        concurrency: how many requests may be in flight; None for no bound of its own.
        requests_per_minute, tokens_per_minute: what the vendor allows; None for no limit.
        headers: further headers, which hold no secret.
        key_header: the header for the key, None for the dialect's own; any but `Authorization` takes it bare.
        allow_plain_http: whether http may leave this machine.
        trust: looked at again when a name is resolved; None: any address will do.

    Raises:
        BadAddress: when the endpoint cannot be used.
    """

    def __init__(
        self,
        settings: ProviderSettings,
        *,
        dialect: Dialect | None = None,
        timeout_s: float = 60.0,
        policy: RetryPolicy | None = None,
        concurrency: int | None = None,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        headers: Mapping[str, str] | None = None,
        key_header: str | None = None,
        allow_plain_http: bool = False,
        max_reply_bytes: int = MAX_REPLY_BYTES,
        trust: HostTrust | None = None,
        transport: Transport | None = None,
        timing: Timing | None = None,
    ) -> None:
        dialect = dialect or dialect_for(settings)
        base = checked_base_url(settings.endpoint, allow_plain_http=allow_plain_http)
        url = join_path(base, dialect.path(settings))
        self._settings, self._read = settings, dialect.read
        self._limit_refused: str | None = None
        self._to = Destination(
            where=place(url),
            model=settings.model,
            key_variable=shown_variable(settings.api_key_env),
            keyring=settings.api_key_keyring,
        )
        self._encoder = FrameEncoder(settings, dialect)
        policy = policy or RetryPolicy(deadline_s=5 * timeout_s)
        static = {**STATIC_HEADERS, **dialect.headers, **(headers or {})}
        header = key_header or dialect.key_header
        self._keys = KeySource(settings.api_key_env, static, header, keyring=settings.api_key_keyring)
        self._sender = HttpSender(
            url=url,
            headers=self._keys.headers,
            destination=self._to,
            read=dialect.read,
            request_id_header=dialect.request_id,
            tells_key=self._keys.repeated_in if settings.keyed else None,
            transport=transport
            or AiohttpTransport(
                timeout_s=min(timeout_s, policy.deadline_s),
                connections=concurrency or 0,
                max_reply_bytes=max_reply_bytes,
                trust=trust,
            ),
            policy=policy,
            timing=timing,
            gate=Gate(concurrency),
            rates=RateLimit(requests_per_minute, tokens_per_minute, timing or Timing())
            if requests_per_minute or tokens_per_minute
            else None,
        )

    def __repr__(self) -> str:
        return f"<{self._settings.kind} provider {self._settings.name!r}: {self._settings.model}>"

    @property
    def settings(self) -> ProviderSettings:
        """Name, model, endpoint, capabilities; never the key."""
        return self._settings

    def prepare(self, request: ModelRequest) -> Call:
        """The bytes that would be sent, and their key. Pure.

        Raises:
            RequestError: for what the model cannot do (`unsupported_structured_output`, `request_invalid`).
        """
        return self._encoder.call(request)

    async def send(self, call: Call) -> Raw:
        """Bring the reply.

        A server that knows the output limit under its other name only is sent that one, this time and ever after.

        Raises:
            ProviderError: after the last try, and nothing else; cancellation passes through.
        """
        if self._limit_refused is not None:
            return await self._sender.send(_limit_renamed(call.body, self._limit_refused))
        try:
            return await self._sender.send(call.body)
        except RefusedParameter as refusal:
            fault = refusal
        if fault.param not in _OTHER_LIMIT:
            raise fault
        return await self._send_renamed(call.body, fault.param)

    async def _send_renamed(self, body: bytes, refused: str) -> Raw:
        try:
            raw = await self._sender.send(_limit_renamed(body, refused))
        except ProviderError as error:
            error.attempts, error.failed = error.attempts + 1, (*_REFUSED, *error.failed)
            raise
        self._limit_refused = refused
        return replace(raw, attempts=raw.attempts + 1, failed=(*_REFUSED, *raw.failed))

    def read(self, raw: Raw) -> Reply:
        """What the bytes say. Pure.

        Raises:
            ProviderError: when they are no reply.
        """
        return raw.reply or self._read(raw.body, self._to)

    def check(self) -> None:
        """See that there is a key where one is wanted.

        Raises:
            ProviderError: `missing_api_key`, with the variable to set.
        """
        self._keys.headers()

    async def aclose(self) -> None:
        """Close the running loop's connections. The provider can be used again afterwards."""
        await self._sender.aclose()


def _limit_renamed(body: bytes, refused: str) -> bytes:
    """The body with its limit under the other name.

    Inside of texts a quotation mark is escaped, and of the members the limit comes before schema and extra settings; so
    the first one of this name is the limit.
    """
    return body.replace(f'"{refused}":'.encode(), f'"{_OTHER_LIMIT[refused]}":'.encode(), 1)
