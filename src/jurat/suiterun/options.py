"""What decides a run beside its suite: the options of `jurat run` and of `jurat.run_suite`, checked once.

An option that is not given leaves the suite's own word. Options travel as plain data in the run's record, so that
`jurat resume` goes on under the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from jurat.errors import AuthoringError, Fault
from jurat.evaluation.reducers import Reducer, reducer_from_json, reducer_to_json
from jurat.jsontext import Json, found_word, thaw, type_name
from jurat.provider import Provider
from jurat.vocabulary import MAX_CONCURRENCY, Cache
from jurat.workbench import provider_faults

__all__ = ["MAX_SAMPLES", "RunOptions", "checked_options", "options_from_json", "options_to_json"]

MAX_SAMPLES = 20
"""How many trials a case may get."""

Providers = Mapping[str, Provider | Mapping[str, Json] | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of one run.

    Attributes:
        samples: trials of each case, 1 to 20.
        reducer: how they become one outcome.
        concurrency: calls in flight, subjects and judges together, 1 to 10,000.
        filter: which cases (`jurat.suite.filter`); None for all.
        cache: whether replies of earlier runs are used.
        budget_usd: no call is begun once so much is known to be spent; from 0.
        timeout_s: for the whole run, above 0.
        providers: by name, before those of the suite: rows, objects, shorthands `kind:model`, or another's name.
        record: the folder in which everybody's replies are recorded.
        replay: the folder of recordings from which everybody answers.
        live: whether providers of the kind `replay` are those again of which the recordings were made.
    """

    samples: int | None = None
    reducer: Reducer | None = None
    concurrency: int | None = None
    filter: str | None = None
    cache: Cache = Cache.OFF
    budget_usd: float | None = None
    timeout_s: float | None = None
    providers: Providers = field(default_factory=dict)
    record: str | None = None
    replay: str | None = None
    live: bool = False


def checked_options(**given: Any) -> RunOptions:
    """The options, from what a caller gave: words may be text, a reducer may be written as in a suite.

    Raises:
        AuthoringError: with every fault.
    """
    faults: list[Fault] = []
    _whole(given, "samples", MAX_SAMPLES, faults)
    _whole(given, "concurrency", MAX_CONCURRENCY, faults)
    _amount(given, "budget_usd", "a number from 0", faults, zero=True)
    _amount(given, "timeout_s", "a number above 0", faults, zero=False)
    if (written := given.get("filter")) is not None and not isinstance(written, str):
        faults.append(Fault(path="filter", expected="text", found=found_word(written)))
    reducer = given.get("reducer")
    if reducer is not None and not isinstance(reducer, Reducer):
        reducer = reducer_from_json(reducer, "reducer", faults)
    cache = given.get("cache") or Cache.OFF
    if cache not in tuple(Cache):
        faults.append(Fault(path="cache", expected="one of " + ", ".join(Cache), found=found_word(cache)))
    faults += provider_faults(given.get("providers"))
    for name in ("record", "replay"):
        if not isinstance(given.get(name), str | PurePath | None):
            faults.append(Fault(path=name, expected="a folder", found=type_name(given[name])))
    if not isinstance(given.get("live"), bool | None):
        faults.append(Fault(path="live", expected="true or false", found=found_word(given["live"])))
    folders = {name: None if given.get(name) is None else str(given[name]) for name in ("record", "replay")}
    live = bool(given.get("live"))
    faults += _contradictions(**folders, live=live, cache=cache)
    if faults:
        raise AuthoringError("options of the run", faults)
    providers = dict(given.get("providers") or {})
    checked = {"reducer": reducer, "cache": Cache(cache), "providers": providers, **folders, "live": live}
    return RunOptions(**{**given, **checked})


def _contradictions(*, record: str | None, replay: str | None, live: bool, cache: object) -> list[Fault]:
    """What cannot be wanted together of recordings."""
    faults = []
    if replay is not None and (record is not None or live):
        found = f"replay together with {'record' if record is not None else 'live'}"
        faults.append(Fault(path="replay", expected="recordings or live providers", found=found))
    if record is not None and cache is Cache.READ:
        hint = "What is taken from the cache is not asked, and so not recorded. Take refresh"
        faults.append(Fault(path="cache", expected="off or refresh with record", found="read", hint=hint))
    return faults


def _whole(given: Mapping[str, Any], name: str, most: int, faults: list[Fault]) -> None:
    value = given.get(name)
    if value is None:
        return
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not 1 <= value <= most:
        faults.append(Fault(path=name, expected=f"an integer from 1 to {most}", found=found_word(value)))


def _amount(given: Mapping[str, Any], name: str, expected: str, faults: list[Fault], *, zero: bool) -> None:
    value = given.get(name)
    if value is None:
        return
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or value < 0 or (value == 0 and not zero):
        faults.append(Fault(path=name, expected=expected, found=found_word(value)))


def options_to_json(options: RunOptions) -> dict[str, Json]:
    """The options as plain data, those alone that were given. A provider object is told by its name."""
    made: dict[str, Json] = {
        name: getattr(options, name)
        for name in ("samples", "concurrency", "filter", "budget_usd", "timeout_s", "record", "replay")
        if getattr(options, name) is not None
    }
    if options.live:
        made["live"] = True
    if options.reducer is not None:
        made["reducer"] = reducer_to_json(options.reducer)
    if options.cache is not Cache.OFF:
        made["cache"] = options.cache.value
    if options.providers:
        made["providers"] = {name: _provider_to_json(given) for name, given in options.providers.items()}
    return made


def _provider_to_json(given: Provider | Mapping[str, Json] | str) -> Json:
    if isinstance(given, str):
        return given
    return thaw(dict(given)) if isinstance(given, Mapping) else {"object": given.settings.name}


def options_from_json(written: Mapping[str, Json], providers: Providers | None = None) -> RunOptions:
    """The options of a recorded run.

    Args:
        written: what `options_to_json` made; further members are left aside.
        providers: the objects that stood in the run's options, by name.

    Raises:
        AuthoringError: when a provider that was an object is not given anew.
    """
    given: dict[str, Any] = {
        name: written[name]
        for name in (
            *("samples", "reducer", "concurrency", "filter", "cache", "budget_usd", "timeout_s"),
            *("record", "replay", "live"),
        )
        if name in written
    }
    rows: dict[str, Any] = {**(written.get("providers") or {}), **(providers or {})}
    faults = [
        Fault(path=f"providers.{name}", expected="the provider that the run was begun with", found="nothing", hint=hint)
        for name, row in rows.items()
        if isinstance(row, Mapping) and set(row) == {"object"}
        for hint in ("It was an object of a program, which has to resume the run itself",)
    ]
    if faults:
        raise AuthoringError("resume", faults)
    return checked_options(**given, providers=rows)
