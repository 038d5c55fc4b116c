"""What a function or a server answers, as JSON: checked when it arrives, kept as canonical bytes, read back as a reply.

An answer is a text, or an object of `output` and any of `messages` (what happened on the way, oldest first),
`tool_calls` (objects with a `name`; an empty list says that none was called), `usage` (counts of tokens), `cost_usd`
and `metadata`. What is not said is not known: without `tool_calls` nothing is recorded about tools.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from jurat.errors import ErrorCategory, Fault, ProviderError
from jurat.evaluation.subject import SubjectReply
from jurat.evidence import message_from_json
from jurat.jsontext import Json, NotJson, canonical, freeze, type_name
from jurat.provider.protocol import Usage

__all__ = ["answer_bytes", "answer_reply", "tool_call_faults"]

_KEYS = ("output", "messages", "tool_calls", "usage", "cost_usd", "metadata")
_TOKENS = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens", "reasoning_tokens")


def answer_bytes(answer: object, who: str) -> bytes:
    """A found answer as canonical JSON.

    Raises:
        ProviderError: `invalid_result` for what is no answer, with everything that is wrong, and nothing of its text.
    """
    value: object = {"output": answer} if isinstance(answer, str) else answer
    faults: list[Fault] = []
    if not isinstance(value, Mapping):
        raise _invalid(who, [Fault(path="", expected="text or an object with output", found=type_name(value))])
    if any(key not in _KEYS for key in value):
        faults.append(Fault(path="", expected="the keys " + ", ".join(_KEYS), found="another key"))
    if not isinstance(value.get("output"), str):
        found = type_name(value["output"]) if "output" in value else "nothing"
        faults.append(Fault(path="output", expected="text", found=found))
    faults += _message_faults(value.get("messages"))
    faults += tool_call_faults(value.get("tool_calls"))
    faults += _count_faults(value.get("usage"), value.get("cost_usd"))
    if not isinstance(value.get("metadata") or {}, Mapping):
        faults.append(Fault(path="metadata", expected="an object", found=type_name(value["metadata"])))
    if faults:
        raise _invalid(who, faults)
    try:
        return canonical(value).encode()
    except NotJson as error:
        raise _invalid(who, [Fault(path=error.path, expected="a JSON value", found=error.found)]) from None


def _invalid(who: str, faults: list[Fault]) -> ProviderError:
    what = "; ".join(str(fault) for fault in faults)
    told = f"{who} gave no answer that can be used: {what}. The page docs/subjects.md says what it may return"
    return ProviderError(ErrorCategory.INVALID_RESULT, told)


def _message_faults(values: object) -> list[Fault]:
    if values is None:
        return []
    if not isinstance(values, list | tuple):
        return [Fault(path="messages", expected="an array of messages", found=type_name(values))]
    faults: list[Fault] = []
    for index, value in enumerate(values):
        message_from_json(value, f"messages[{index}]", faults)
    # The words that were found may be the subject's own text; what was expected says enough.
    return [Fault(path=fault.path, expected=fault.expected, found="something else") for fault in faults]


def tool_call_faults(values: object, path: str = "tool_calls") -> list[Fault]:
    """What is wrong with a list of tool calls: each is an object with a name, and arguments that are an object."""
    if values is None:
        return []
    if not isinstance(values, list | tuple):
        return [Fault(path=path, expected="an array of objects", found=type_name(values))]
    faults: list[Fault] = []
    for index, call in enumerate(values):
        where = f"{path}[{index}]"
        if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
            faults.append(Fault(path=where, expected="an object with a name", found=type_name(call)))
        elif not isinstance(call.get("arguments") or {}, Mapping):
            faults.append(Fault(path=f"{where}.arguments", expected="an object", found=type_name(call["arguments"])))
        elif not isinstance(call.get("failed") or False, bool):
            faults.append(Fault(path=f"{where}.failed", expected="true or false", found=type_name(call["failed"])))
    return faults


def _count_faults(usage: object, cost: object) -> list[Fault]:
    faults: list[Fault] = []
    fine = usage is None or (
        isinstance(usage, Mapping)
        and all(name in _TOKENS and (part is None or (type(part) is int and part >= 0)) for name, part in usage.items())
    )
    if not fine:
        expected = "whole numbers under " + ", ".join(_TOKENS)
        faults.append(Fault(path="usage", expected=expected, found=type_name(usage)))
    number = isinstance(cost, int | float) and not isinstance(cost, bool) and math.isfinite(cost) and cost >= 0
    if cost is not None and not number:
        faults.append(Fault(path="cost_usd", expected="a number of at least 0", found=type_name(cost)))
    return faults


def answer_reply(body: bytes, who: str) -> SubjectReply:
    """An answer read back from its bytes.

    Raises:
        ProviderError: `api_error` when they are none.
    """
    try:
        value: Any = json.loads(body)
        output = value["output"]
        faults: list[Fault] = []
        messages = [message_from_json(part, "messages", faults) for part in value.get("messages") or ()]
        usage = Usage(**(value.get("usage") or {}))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ProviderError(ErrorCategory.API_ERROR, f"what was kept of {who} is no answer") from None
    execution: dict[str, Json] = {
        name: freeze(value[name]) for name in ("tool_calls", "metadata") if value.get(name) is not None
    }
    return SubjectReply(
        output=output,
        messages=tuple(message for message in messages if message is not None),
        execution=execution,
        usage=usage,
        cost_usd=value.get("cost_usd"),
    )
