"""From what an author writes to a provider: `kind:model`, or a row of settings.

`make_provider` is the one place that turns data into a provider. It opens no connection and needs no key; everything
that is wrong with a row is told at once, before anything is spent. Kinds that this version does not have are said to
be missing, never replaced by another.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import freeze, type_name
from jurat.provider.capabilities import capabilities_for, usual_api
from jurat.provider.rows import KINDS, PRESETS, check_row

if TYPE_CHECKING:
    from jurat.jsontext import Json
    from jurat.provider.hosts import HostTrust
    from jurat.provider.protocol import Provider, ProviderSettings

__all__ = ["is_shorthand", "make_provider", "parse_shorthand"]

# OpenRouter would otherwise pass a request on to servers that ignore the schema or the temperature.
_OPENROUTER_ROUTING: Mapping[str, Any] = {"require_parameters": True}


def is_shorthand(text: str) -> bool:
    """Whether a text is of the form `kind:model` (or `local`), with a kind that exists."""
    kind = text.partition(":")[0]
    return text == "local" or (":" in text and kind in KINDS)


def parse_shorthand(text: str) -> dict[str, Json]:
    """The row that a shorthand stands for: `openai:gpt-x`, `local`, `local:MODEL`, `python:module:function`,
    `scripted:FILE`, `replay:FILE`.

    Raises:
        AuthoringError: for a kind that does not exist. The vendor is never guessed from a model's name.
    """
    kind, colon, rest = text.partition(":")
    if not is_shorthand(text) or (colon and not rest):
        expected = "kind:model with one of " + ", ".join(KINDS)
        raise AuthoringError("provider", [Fault(path="provider", expected=expected, found="another text")])
    name = {"python": "function", "scripted": "replies_file", "replay": "file"}.get(kind, "model")
    row: dict[str, Json] = {"name": text, "kind": kind}
    return {**row, name: rest} if rest else row


def make_provider(
    row_or_shorthand: Mapping[str, Any] | str, *, base_dir: str | Path | None = None, trust: HostTrust | None = None
) -> Provider:
    """A provider, ready to be asked.

    Args:
        row_or_shorthand: `kind:model`, or a row (`name`, `kind`, `model`, `base_url`, `api_key_env`, `prices`, …).
        base_dir: what file names in the row are relative to; by default the working directory.
        trust: the hosts that the row may name, where somebody else than the user wrote it; None: any.

    Raises:
        AuthoringError: for everything that is wrong with the row, all together.
    """
    row = parse_shorthand(row_or_shorthand) if isinstance(row_or_shorthand, str) else dict(row_or_shorthand)
    check_row(row)
    base = Path(base_dir) if base_dir is not None else Path()
    if trust is not None:
        _refuse_outside(row, base)
        if row["kind"] in PRESETS:
            return _over_http(row, base, trust)
    makers: dict[str, Callable[[dict[str, Any], Path], Provider]] = {
        "scripted": _scripted,
        "replay": _replay,
        "python": _python,
        "local": _local,
    }
    return makers.get(row["kind"], _over_http)(row, base)


_FILES = ("call_log", "file", "replies_file")


def _refuse_outside(row: Mapping[str, Any], base: Path) -> None:
    """Files that a row of somebody else's reads, or appends to, are those of its own folder."""
    faults = [
        Fault(path=name, expected="a file inside of the suite's folder", found="one outside of it")
        for name in _FILES
        if name in row and not _inside(base, row[name])
    ]
    if faults:
        raise AuthoringError(f"provider {row.get('name', row['kind'])}", faults)


def _inside(base: Path, name: str) -> bool:
    home = os.path.realpath(base)
    try:
        return os.path.commonpath((home, os.path.realpath(base / name))) == home
    except ValueError:  # no name that a file can have, or one on another drive
        return False


def _settings(row: Mapping[str, Any], **more: Any) -> ProviderSettings:
    from jurat.provider.protocol import ProviderSettings

    kind = row["kind"]
    usual = more.pop("model", None)
    model = row.get("model") or usual or kind
    given = {"default_strategy": row["default_strategy"]} if "default_strategy" in row else {}
    prices = row.get("prices")
    return ProviderSettings(
        name=row.get("name") or (kind if model == kind else f"{kind}:{model}"),
        kind=kind,
        model=model,
        capabilities=capabilities_for(kind, model, row.get("capabilities")),
        prices=MappingProxyType({name: float(price) for name, price in prices.items()}) if prices is not None else None,
        extra=freeze(row.get("extra", {})),
        **{**more, **given},
    )


def _over_http(row: dict[str, Any], _: Path, trust: HostTrust | None = None) -> Provider:
    from jurat.provider.addresses import BadAddress, checked_base_url, distrusted
    from jurat.provider.http import MAX_REPLY_BYTES
    from jurat.provider.http_provider import HttpProvider
    from jurat.provider.retry import RetryPolicy

    kind, preset = row["kind"], PRESETS[row["kind"]]
    if kind == "openrouter":
        row["extra"] = _routed(row)
    plain = row.get("allow_plain_http", False)
    try:
        url = checked_base_url(row.get("base_url", preset.base_url), allow_plain_http=plain)
        if trust is not None and (stranger := distrusted(url, trust)) is not None:
            raise stranger
    except BadAddress as bad:
        fault = Fault(path="base_url", expected=bad.expected, found=bad.found, hint=bad.hint)
        raise AuthoringError(f"provider {row.get('name', kind)}", [fault]) from None
    timeout_s, keyring = float(row.get("timeout_s", 60.0)), row.get("api_key_keyring")
    return HttpProvider(
        _settings(
            row,
            endpoint=_azure(row, url) if kind == "azure_openai" else url,
            api=_api(row),
            api_key_env=None if keyring else row.get("api_key_env", preset.api_key_env or None),
            api_key_keyring=keyring,
        ),
        timeout_s=timeout_s,
        policy=RetryPolicy(max_attempts=row.get("max_attempts", 4), deadline_s=row.get("deadline_s", 5 * timeout_s)),
        concurrency=row.get("concurrency"),
        requests_per_minute=row.get("requests_per_minute"),
        tokens_per_minute=row.get("tokens_per_minute"),
        headers=row.get("headers"),
        key_header=row.get("api_key_header", "api-key" if kind == "azure_openai" else None),
        allow_plain_http=plain,
        max_reply_bytes=row.get("max_reply_bytes", MAX_REPLY_BYTES),
        trust=trust,
    )


def _routed(row: Mapping[str, Any]) -> dict[str, Any]:
    """The extra settings, with the demand that no server is chosen which ignores what is asked for."""
    extra = row.get("extra", {})
    routing = extra.get("provider", {})
    if not isinstance(routing, Mapping):
        fault = Fault(path="extra.provider", expected="an object of routing", found=type_name(routing))
        raise AuthoringError(f"provider {row.get('name', 'openrouter')}", [fault])
    return {**extra, "provider": {**_OPENROUTER_ROUTING, **routing}}


def _api(row: Mapping[str, Any]) -> str:
    """The interface: the author's word, else what alone serves the model, else chat completions, which is "".

    Chat completions are the usual one because every gateway behind a `base_url` speaks them, and they keep nothing.
    """
    told = row["api"] if "api" in row else usual_api(row["kind"], row["model"])
    return "" if told == "chat" else str(told)


def _azure(row: Mapping[str, Any], url: str) -> str:
    """Azure's two ways: with `api_version`, the path names the deployment; without, it is the v1 interface.

    The path of an address that leads into either already is left as it is.
    """
    from urllib.parse import quote, urlsplit

    from jurat.provider.addresses import join_path

    split = urlsplit(url)
    path = split.path.rstrip("/")
    if not path.endswith("/openai") and "/openai/" not in path:
        url, path = join_path(url, "/openai"), "/openai"
    if path.endswith("/openai"):
        deployment = "" if _api(row) == "responses" else f"/deployments/{quote(row['model'], safe='')}"
        url = join_path(url, deployment if "api_version" in row else "/v1")
    if "api_version" in row and "api-version=" not in split.query:
        url += f"{'&' if split.query else '?'}api-version={quote(row['api_version'], safe='')}"
    return url


def _scripted(row: dict[str, Any], base: Path) -> Provider:
    from jurat.provider.scripted import ScriptedProvider, load_script

    if ("replies" in row) == ("replies_file" in row):
        found = "both" if "replies" in row else "neither"
        fault = Fault(path="replies", expected="either replies or replies_file", found=found)
        raise AuthoringError(f"provider {row.get('name', 'scripted')}", [fault])
    replies = row["replies"] if "replies" in row else load_script(base / row["replies_file"])
    log = row.get("call_log")
    return ScriptedProvider(
        replies,
        order=row.get("order", "in_turn"),
        cycle=row.get("cycle", True),
        settings=_settings(row),
        call_log=base / log if log else None,
    )


def _replay(row: dict[str, Any], base: Path) -> Provider:
    from jurat.provider.replay import ReplayProvider

    return ReplayProvider(base / row["file"], name=row.get("name"))


def _python(row: dict[str, Any], base: Path) -> Provider:
    from jurat.provider.python import PythonProvider, load_function

    settings = _settings(row, model=row["function"])
    return PythonProvider(
        load_function(row["function"], base.resolve()),
        settings=settings,
        timeout_s=float(row.get("timeout_s", 60.0)),
        concurrency=row.get("concurrency"),
    )


def _local(row: dict[str, Any], base: Path) -> Provider:
    from jurat.provider.local import local_provider

    path = row.get("model_path")
    return local_provider(_settings(row), row, base / path if path else None)
