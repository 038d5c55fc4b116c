"""What a run would ask for and cost, before anything is spent.

Calls are counted from the plan; retries are not foreseen. Tokens and cost of a call come from what the store knows of
the same kind of call, where it knows at least a few: the total of N further calls lies within

    N m ± 1.96 s sqrt(N + N² / n)

of n known ones with mean m and standard deviation s (the prediction interval of a sum, normal approximation). Otherwise
they come from the requests themselves: their texts counted, give or take 30 %, as far as common tokenizers lie apart;
and replies of one token up to the output limit. What is not known (a price, a reply without a limit) is said to be
unknown together with its name, and is never counted as nothing; so are the tokens of pictures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from jurat.jsontext import Json
from jurat.provider.pricing import Pricer
from jurat.provider.protocol import ProviderSettings, Usage

__all__ = ["Forecast", "Line", "Range", "Side"]

_ENOUGH = 5
_APART = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """From the least to the most that is expected; None is unknown."""

    low: float | None = 0.0
    high: float | None = 0.0

    def plus(self, other: Range) -> Range:
        """Both together."""
        return Range(low=_sum(self.low, other.low), high=_sum(self.high, other.high))


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


@dataclass(slots=True)
class Side:
    """The calls to one provider for one purpose, gathered before they are made.

    Attributes:
        settings: the provider's.
        purpose: `subject` or `judge`.
        calls: how many.
        input_tokens: of all requests together, estimated from their texts.
        output_limit: the most tokens of all replies together; None where one has no limit.
        known: usages of such calls that were made before.
        unsized: calls whose requests have no size that can be seen (a person's own server or function).
        unseen: calls that show pictures or documents as they are, of whose tokens only those of the text are counted.
    """

    settings: ProviderSettings | None
    name: str
    purpose: str
    calls: int = 0
    input_tokens: int = 0
    output_limit: int | None = 0
    known: list[Usage] = field(default_factory=list)
    unsized: int = 0
    unseen: int = 0

    def add(self, tokens: int, output_limit: int | None, *, times: int = 1, unseen: bool = False) -> None:
        """Some calls alike; `unseen`: of whose tokens only some can be counted."""
        self.calls += times
        self.unseen += times if unseen else 0
        self.input_tokens += times * tokens
        if output_limit is None or self.output_limit is None:
            self.output_limit = None
        else:
            self.output_limit += times * output_limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What one side comes to.

    Attributes:
        basis: what the figures rest on, in words.
        unknown: what is missing for the cost, or None.
    """

    name: str
    model: str
    purpose: str
    calls: int
    input_tokens: Range
    output_tokens: Range
    cost_usd: Range
    price_source: str | None
    basis: str
    unknown: str | None = None

    def to_json(self) -> dict[str, Json]:
        """As plain data; ranges are pairs."""
        return {
            "provider": self.name,
            "model": self.model,
            "purpose": self.purpose,
            "calls": self.calls,
            "input_tokens": _whole(self.input_tokens),
            "output_tokens": _whole(self.output_tokens),
            "cost_usd": _pair(self.cost_usd),
            "price_source": self.price_source,
            "basis": self.basis,
            "unknown": self.unknown,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a whole run comes to.

    Attributes:
        title: the suite's name, or the input's.
        trials: how many answers are looked at.
        lines: by provider and purpose.
    """

    title: str
    trials: int
    lines: tuple[Line, ...]

    @classmethod
    def of(cls, title: str, trials: int, sides: Iterable[Side]) -> Forecast:
        """Work it out."""
        return cls(title=title, trials=trials, lines=tuple(_line(side) for side in sides if side.calls))

    @property
    def calls(self) -> int:
        """To everybody."""
        return sum(line.calls for line in self.lines)

    @property
    def cost_usd(self) -> Range:
        """Of everybody."""
        total = Range()
        for line in self.lines:
            total = total.plus(line.cost_usd)
        return total

    @property
    def unknown(self) -> tuple[str, ...]:
        """What is missing for the cost."""
        return tuple(dict.fromkeys(line.unknown for line in self.lines if line.unknown is not None))

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        return {
            "jurat_forecast": 1,
            "title": self.title,
            "trials": self.trials,
            "calls": self.calls,
            "cost_usd": _pair(self.cost_usd),
            "unknown": list(self.unknown),
            "lines": [line.to_json() for line in self.lines],
        }

    def text(self) -> str:
        """For people."""
        rows = [f"{self.title}: {self.trials:,} trials, {self.calls:,} calls; nothing was asked, nothing spent\n"]
        for line in self.lines:
            tokens = f"{_shown(line.input_tokens, _count)} in + {_shown(line.output_tokens, _count)} out tokens"
            rows.append(
                f"  {line.purpose:<7} {line.name} ({line.model}): {line.calls:,} calls, {tokens}, "
                f"cost {_shown(line.cost_usd, _usd)}; {line.basis}\n"
            )
        rows.append(f"  total cost {_shown(self.cost_usd, _usd)}\n")
        rows += [f"  unknown: {what}\n" for what in self.unknown]
        return "".join(rows)


def _line(side: Side) -> Line:
    settings = side.settings
    if settings is None:
        return _unpriced(side)
    pricer = Pricer(settings)
    known = [usage for usage in side.known if usage.input_tokens is not None and usage.output_tokens is not None]
    if len(known) >= _ENOUGH:
        given = _of_known([float(usage.input_tokens or 0) for usage in known], side.calls)
        made = _of_known([float(usage.output_tokens or 0) for usage in known], side.calls)
        costs = [pricer.cost(usage) for usage in known]
        told = [cost for cost in costs if cost is not None]
        cost = _of_known(told, side.calls) if len(told) == len(costs) else Range(low=None, high=None)
        basis = f"from {len(known)} such calls in the store"
    else:
        most = None if side.unseen else (1 + _APART) * side.input_tokens
        given = Range(low=(1 - _APART) * side.input_tokens, high=most)
        made = Range(low=float(side.calls), high=None if side.output_limit is None else float(side.output_limit))
        cost = Range(low=_priced(pricer, given.low, made.low), high=_priced(pricer, given.high, made.high))
        basis = "estimated from the requests"
    return Line(
        name=side.name,
        model=settings.model,
        purpose=side.purpose,
        calls=side.calls,
        input_tokens=given,
        output_tokens=made,
        cost_usd=cost,
        price_source=pricer.price_source,
        basis=basis,
        unknown=_missing(side, pricer, cost),
    )


def _unpriced(side: Side) -> Line:
    nobody_knows = Range(low=None, high=None)
    return Line(
        name=side.name,
        model="",
        purpose=side.purpose,
        calls=side.calls,
        input_tokens=nobody_knows,
        output_tokens=nobody_knows,
        cost_usd=nobody_knows,
        price_source=None,
        basis="a subject of one's own",
        unknown=f"what {side.name} costs",
    )


def _missing(side: Side, pricer: Pricer, cost: Range) -> str | None:
    if cost.high is not None:
        return None
    if cost.low is None:
        return f"the price of {side.name} ({pricer.settings.model})"
    if side.unseen:
        calls = "1 call" if side.unseen == 1 else f"{side.unseen:,} calls"
        return f"how many tokens the pictures and documents take that {calls} to {side.name} show"
    return f"how long replies of {side.name} are, since they have no output limit"


def _priced(pricer: Pricer, given: float | None, made: float | None) -> float | None:
    if given is None or made is None:
        return None
    return pricer.cost(Usage(input_tokens=math.ceil(given), output_tokens=math.ceil(made)))


def _of_known(values: Sequence[float], calls: int) -> Range:
    count = len(values)
    mean = math.fsum(values) / count
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1) if count > 1 else 0.0
    spread = 1.96 * math.sqrt(variance * (calls + calls * calls / count))
    return Range(low=max(calls * mean - spread, 0.0), high=calls * mean + spread)


def _pair(found: Range) -> Json:
    return [found.low, found.high]


def _whole(found: Range) -> Json:
    return [None if end is None else round(end) for end in (found.low, found.high)]


def _shown(found: Range, write: Callable[[float], str]) -> str:
    if found.low is None:
        return "unknown"
    if found.high is None:
        return f"from {write(found.low)}, at most unknown"
    return write(found.low) if found.low == found.high else f"{write(found.low)} to {write(found.high)}"


def _count(number: float) -> str:
    return f"{round(number):,}"


def _usd(number: float) -> str:
    return f"${number:.4f}"
