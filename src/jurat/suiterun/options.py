"""What decides a run beside its suite: the options of `jurat run` and of `jurat.run_suite`, checked once.

An option that is not given leaves the suite's own word. Options travel as plain data in the run's record, so that
`jurat resume` goes on under the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jurat.errors import AuthoringError, Fault
from jurat.evaluation.reducers import Reducer, reducer_from_json, reducer_to_json
from jurat.filejob import Cache
from jurat.jsontext import Json, found_word, thaw
from jurat.provider import Provider

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
        concurrency: calls in flight, subjects and judges together, from 1.
        filter: which cases (`jurat.suite.filter`); None for all.
        cache: whether replies of earlier runs are used.
        budget_usd: no call is begun once so much is known to be spent; from 0.
        timeout_s: for the whole run, above 0.
        providers: by name, before those of the suite: rows, objects, shorthands `kind:model`, or another's name.
    """

    samples: int | None = None
    reducer: Reducer | None = None
    concurrency: int | None = None
    filter: str | None = None
    cache: Cache = Cache.OFF
    budget_usd: float | None = None
    timeout_s: float | None = None
    providers: Providers = field(default_factory=dict)


def checked_options(**given: Any) -> RunOptions:
    """The options, from what a caller gave: words may be text, a reducer may be written as in a suite.

    Raises:
        AuthoringError: with every fault.
    """
    faults: list[Fault] = []
    _whole(given, "samples", MAX_SAMPLES, faults)
    _whole(given, "concurrency", None, faults)
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
    if faults:
        raise AuthoringError("options of the run", faults)
    return RunOptions(
        **{**given, "reducer": reducer, "cache": Cache(cache), "providers": dict(given.get("providers") or {})}
    )


def _whole(given: Mapping[str, Any], name: str, most: int | None, faults: list[Fault]) -> None:
    value = given.get(name)
    if value is None:
        return
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or value < 1 or (most is not None and value > most):
        expected = f"an integer from 1 to {most}" if most else "an integer from 1"
        faults.append(Fault(path=name, expected=expected, found=found_word(value)))


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
        for name in ("samples", "concurrency", "filter", "budget_usd", "timeout_s")
        if getattr(options, name) is not None
    }
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
        for name in ("samples", "reducer", "concurrency", "filter", "cache", "budget_usd", "timeout_s")
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
