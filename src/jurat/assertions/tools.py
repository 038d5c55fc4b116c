"""Checks of the tools that were called: `required_tool`, `forbidden_tool`, `max_tool_error_rate`.

The calls are those of the conversation's tool blocks and those of `execution.tool_calls` (an array of objects: `name`,
`arguments`, `failed`, `id`; the name alone is needed). A call that stands in both counts once. No record is not the
same as no calls: where a context has neither, all three are `unverified`. `execution.tool_calls: []` says that none
were made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from jurat.assertions.jsonvalues import json_equal
from jurat.assertions.outcome import Check, decided, too_much, unverified
from jurat.evaluation import Assessment, Measurement
from jurat.evidence import Context, ToolCallBlock, ToolResultBlock
from jurat.jsontext import Json, type_name

__all__ = ["ToolCall", "forbidden_tool", "max_tool_error_rate", "required_tool", "tool_calls"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call. `failed` is None when its result is not known."""

    name: str
    arguments: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    failed: bool | None = None
    id: str = ""


def tool_calls(context: Context) -> tuple[ToolCall, ...] | None:
    """Every call that the context records, in order; None when it records nothing about tools.

    A call of the conversation failed when its result says so, and is open while it has no result. A call in
    `execution.tool_calls` failed when it says so.

    Raises:
        RequestError: when `execution.tool_calls` has another shape.
    """
    blocks = [block for message in context.messages for block in message.blocks]
    results = {block.tool_call_id: block.failed for block in blocks if isinstance(block, ToolResultBlock)}
    spoken = [
        ToolCall(name=block.name, arguments=block.arguments, failed=results.get(block.id), id=block.id)
        for block in blocks
        if isinstance(block, ToolCallBlock)
    ]
    listed = context.execution.get("tool_calls")
    if listed is None:
        return tuple(spoken) if spoken or results else None
    return tuple(_merged(spoken, list(_listed(listed))))


def _listed(value: Json) -> Iterator[ToolCall]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise too_much(f"execution.tool_calls: expected an array, found {type_name(value)}")
    for index, item in enumerate(value):
        path = f"execution.tool_calls[{index}]"
        if not isinstance(item, Mapping):
            raise too_much(f"{path}: expected an object with a name, found {type_name(item)}")
        yield ToolCall(
            name=_typed(item, "name", str, "text", path, None),
            arguments=_typed(item, "arguments", Mapping, "an object", path, {}),
            failed=_typed(item, "failed", bool, "true or false", path, False),
            id=_typed(item, "id", str, "text", path, ""),
        )


def _typed(item: Mapping[str, Json], key: str, kind: type, expected: str, path: str, default: Json) -> Json:
    value = item.get(key)
    value = default if value is None else value
    if not isinstance(value, kind):
        raise too_much(f"{path}.{key}: expected {expected}, found {type_name(value) if key in item else 'nothing'}")
    return value


def _merged(spoken: list[ToolCall], listed: list[ToolCall]) -> Iterator[ToolCall]:
    """Both lists as one; of a call that stands in both, what either knows of its end."""
    for call in spoken:
        twin = next((other for other in listed if _same_call(call, other)), None)
        if twin is None:
            yield call
        else:
            listed.remove(twin)
            yield replace(call, failed=bool(call.failed) or bool(twin.failed))
    yield from listed


def _same_call(call: ToolCall, other: ToolCall) -> bool:
    if call.id and other.id:
        return call.id == other.id
    return call.name == other.name and json_equal(call.arguments, other.arguments)


def required_tool(
    tool: Sequence[str], *, arguments: Mapping[str, Json] | None = None, arguments_match: str = "subset"
) -> Check:
    """Pass when each of the tools was called, with these arguments where some are given. Score 0 or 100.

    Args:
        tool: the names, compared to the letter.
        arguments: what the call's arguments must hold, typed and exact.
        arguments_match: `subset`: every argument given here, objects within alike; others may stand beside.
            `exact`: these and no others.
    """

    def look(calls: tuple[ToolCall, ...]) -> Assessment:
        missing = [name for name in tool if not _count(calls, name, arguments, arguments_match)]
        reason = f"{len(tool) - len(missing)} of {len(tool)} tools were called{_so(arguments)}"
        return decided("required_tool", not missing, reason, details={"calls": len(calls), "missing": [*missing]})

    return _on_calls("required_tool", look)


def forbidden_tool(
    tool: Sequence[str], *, arguments: Mapping[str, Json] | None = None, arguments_match: str = "subset"
) -> Check:
    """Pass when none of the tools was called (with these arguments, where some are given). Score 0 or 100."""

    def look(calls: tuple[ToolCall, ...]) -> Assessment:
        called = [name for name in tool if _count(calls, name, arguments, arguments_match)]
        reason = f"{len(called)} of {len(tool)} tools were called{_so(arguments)}"
        return decided("forbidden_tool", not called, reason, details={"calls": len(calls), "called": [*called]})

    return _on_calls("forbidden_tool", look)


def _so(arguments: Mapping[str, Json] | None) -> str:
    return "" if arguments is None else " with these arguments"


def _count(calls: Sequence[ToolCall], name: str, arguments: Mapping[str, Json] | None, match: str) -> int:
    holds = json_equal if match == "exact" else _holds
    return sum(call.name == name and (arguments is None or holds(arguments, call.arguments)) for call in calls)


def _holds(wanted: Json, given: Json) -> bool:
    if isinstance(wanted, Mapping) and isinstance(given, Mapping):
        return all(key in given and _holds(part, given[key]) for key, part in wanted.items())
    return json_equal(wanted, given)


def max_tool_error_rate(value: float) -> Check:
    """Pass when at most this share (0 to 1) of the tool calls failed. Score 0 or 100.

    Calls without a result count as neither: the check decides only if the others settle it whichever way those went.
    No calls have no rate; that is `unverified`, as is the open case.
    """
    check = "max_tool_error_rate"

    def look(calls: tuple[ToolCall, ...]) -> Assessment:
        if not calls:
            return unverified(check, "no_tool_calls", "no tool was called, so there is no error rate")
        failed = sum(call.failed is True for call in calls)
        still_open = sum(call.failed is None for call in calls)
        low, high = failed / len(calls), (failed + still_open) / len(calls)
        if low <= value < high:
            message = f"{still_open} of {len(calls)} tool calls have no result, and they could decide"
            return unverified(check, "tool_result_unknown", message)
        rate = Measurement(name="tool_error_rate", value=low, unit="ratio")
        details: dict[str, Json] = {"calls": len(calls), "failed": failed, "open": still_open, "limit": value}
        reason = f"{failed} of {len(calls)} tool calls failed, the limit is {value!r}"
        measurements = () if still_open else (rate,)
        return decided(check, high <= value, reason, measurements=measurements, details=details)

    return _on_calls(check, look)


def _on_calls(check: str, look: Callable[[tuple[ToolCall, ...]], Assessment]) -> Check:
    def run(context: Context) -> Assessment:
        calls = tool_calls(context)
        if calls is None:
            message = "nothing is recorded about tools; execution.tool_calls lists them ([] when none was called)"
            return unverified(check, "no_tool_record", message)
        return look(calls)

    return run
