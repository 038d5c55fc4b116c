"""Who takes events over OTLP and HTTP: an HTTP session that remembers why something was not taken.

OpenTelemetry's SDK only logs what a collector answers, and in its log lines are headers and bodies. So its logs are
kept off, and what is told is made here of status codes and kinds of faults: no body, no header, no address.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jurat.errors import AuthoringError, Fault

__all__ = ["PARTLY", "address_of", "quiet", "refuse_unreadable_headers", "session_for"]

_ADDRESS = re.compile(r"https?://[^/?#\s]+(/\S*)?", re.ASCII)
_OWN_SESSION = tuple(f"OTEL_PYTHON_EXPORTER_OTLP_HTTP_{part}CREDENTIAL_PROVIDER" for part in ("", "LOGS_"))
_HEADERS = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_LOGS_HEADERS")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\s*=", re.ASCII)
PARTLY = "it refused"
"""How a reason begins where the request was taken, but not everything in it."""
_HINTS = {
    401: "; a key belongs into OTEL_EXPORTER_OTLP_HEADERS, as authorization=Bearer%20KEY",
    403: "; look at what OTEL_EXPORTER_OTLP_HEADERS allows",
    404: "; it knows no such path, /v1/logs is the usual one",
}


def address_of(endpoint: str | None) -> str | None:
    """The address to send to; `/v1/logs` is added where there is no path. None: what OpenTelemetry's variables say.

    Raises:
        AuthoringError: for what is no address.
    """
    if endpoint is None:
        return None
    found = _ADDRESS.fullmatch(endpoint)
    if found is None:
        fault = Fault(path="--endpoint", expected="http://HOST:PORT or https://HOST:PORT", found="no such address")
        raise AuthoringError("jurat export", [fault])
    return endpoint if found[1] and found[1] != "/" else endpoint.rstrip("/") + "/v1/logs"


def refuse_unreadable_headers() -> None:
    """Hold the variables for headers against their form: the SDK drops what it cannot read, a key perhaps.

    Raises:
        AuthoringError: that names the variable, and nothing of what is in it.
    """
    for name in _HEADERS:
        parts = (part.strip() for part in os.environ.get(name, "").split(","))
        if not all(part == "" or _HEADER.match(part) for part in parts):
            expected, found = "NAME=VALUE, separated by commas, values URL-encoded", "a part that is none"
            raise AuthoringError("jurat export", [Fault(path=name, expected=expected, found=found)])


def session_for(reasons: list[str]) -> Any:
    """A session of `requests` that adds to the reasons why something was not taken.

    None where the environment names a session of its own, which brings credentials: its reasons are not known.
    """
    if any(os.environ.get(name) for name in _OWN_SESSION):
        return None
    import requests

    class Session(requests.Session):
        def send(self, request: Any, **options: Any) -> Any:
            try:
                response = super().send(request, **options)
            except requests.RequestException as error:
                reasons.append(_fault(error))
                raise
            reasons.extend(_refusal(response))
            return response

        def merge_environment_settings(self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any) -> Any:
            # The certificate that OpenTelemetry's variable names comes before requests' own variables.
            own = self.verify if verify is None and self.verify is not True else verify
            return super().merge_environment_settings(url, proxies, stream, own, cert)

    return Session()


def _fault(error: Exception) -> str:
    import requests

    if isinstance(error, requests.exceptions.SSLError):
        return "TLS failed; OTEL_EXPORTER_OTLP_CERTIFICATE names the certificate to trust"
    if isinstance(error, requests.exceptions.Timeout):
        return "it did not answer in time; OTEL_EXPORTER_OTLP_TIMEOUT gives it more, in seconds"
    if isinstance(error, requests.exceptions.ConnectionError):
        return "there is no connection to it; look whether it is there"
    return f"the request could not be sent ({type(error).__name__}); look at its address"


def _refusal(response: Any) -> list[str]:
    if not response.ok:
        return [f"it answered {response.status_code}{_HINTS.get(response.status_code, '')}"]
    rejected = _rejected(response.content or b"")
    return [f"{PARTLY} {rejected:,} of a batch"] if rejected else []


def _rejected(body: bytes) -> int:
    """How many events a collector says that it has refused, though it took the request."""
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

    try:
        return int(ExportLogsServiceResponse.FromString(body).partial_success.rejected_log_records)
    except DecodeError:
        return 0


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the SDK's own log lines off standard error: they repeat headers, and what a collector answers."""
    logger = logging.getLogger("opentelemetry")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)
