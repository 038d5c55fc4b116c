"""Exports of Langfuse: traces and observations in JSON, JSON Lines or CSV, from its pages, its API or its blob storage.

A trace becomes a case by its own input and output, or by those of the last generation in it; an observation becomes one
when it is a generation. Times of Langfuse are seconds and become milliseconds. Scores become labels, which no judge is
shown; who the user was stays behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from jurat.errors import AuthoringError, Fault
from jurat.importing.draft import Draft, Raw
from jurat.importing.finish import one_line
from jurat.importing.source import Source
from jurat.importing.talk import Talk, answer_of, as_text, messages_of, parsed, split
from jurat.jsontext import Json, canonical, parse, type_name

__all__ = ["read", "recognises"]

_LISTS = ("traces", "observations", "data", "generations")
_TELLING = ("traceId", "trace_id", "htmlPath", "projectId", "project_id", "totalCost", "total_cost", "observations")
_GENERATIONS = ("GENERATION", "AGENT")
_TAKEN = (
    *(
        "id",
        "traceId",
        "trace_id",
        "type",
        "name",
        "trace_name",
        "input",
        "output",
        "latency",
        "totalCost",
        "total_cost",
    ),
    *("calculatedTotalCost", "calculated_total_cost", "costDetails", "cost_details", "usage", "usageDetails"),
    *("usage_details", "promptTokens", "prompt_tokens", "completionTokens", "completion_tokens", "tags", "scores"),
    *("metadata", "sessionId", "session_id", "model", "providedModelName", "provided_model_name", "environment"),
    *("startTime", "start_time", "endTime", "end_time", "userId", "user_id", "observations"),
)
_SAID = ("input", "output")
_NAMES = ("id", "traceId", "trace_id", "name", "trace_name", "sessionId", "session_id", "userId", "user_id", "model")
_NUMERIC = re.compile(r"(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?", re.ASCII)
_PERSONAL = ("userId", "user_id")


def recognises(sample: Json, kind: str) -> bool:
    """Whether a document or a row is such an export."""
    if isinstance(sample, list):
        sample = sample[0] if sample else None
    if not isinstance(sample, Mapping):
        return False
    if kind == "csv":
        return "output" in sample and "id" in sample and any(key in sample for key in _TELLING)
    if isinstance(sample.get("trace"), Mapping):
        return True
    held = next((sample[key] for key in _LISTS if isinstance(sample.get(key), list)), None)
    if held and "id" not in sample:
        return recognises(held, kind)
    return "id" in sample and any(key in sample for key in _TELLING)


def read(source: Source, draft: Draft) -> Iterator[Raw]:  # noqa: ARG001 (the protocol of importers)
    """A case for each trace, or for each generation where traces are not told."""
    if source.kind == "document":
        document = source.value()
        if not isinstance(document, Mapping | list):
            expected = "traces or observations"
            fault = Fault(path="", expected=expected, found=type_name(document), file=source.name)
            raise AuthoringError("langfuse", [fault])
        yield from _any(document, "", None, source)
    else:
        for row in source.rows():
            yield from _any(_typed(row.values) if source.kind == "csv" else row.values, "", row.number, source)
    source.tell_passed_over("members of traces and generations")


def _typed(row: Mapping[str, Json] | None) -> dict[str, Json]:
    """A row of a table with the numbers and lists that its cells spell; an empty cell says nothing."""
    made: dict[str, Json] = {}
    for key, cell in (row or {}).items():
        if key in _SAID or not isinstance(cell, str):
            made[key] = cell
        elif cell.strip():
            made[key] = parse(cell) if key not in _NAMES and _NUMERIC.fullmatch(cell) else parsed(cell)
    return made


def _any(value: Any, path: str, line: int | None, source: Source, depth: int = 0) -> Iterator[Raw]:
    """The cases of a trace, an observation, or whatever holds some."""
    if isinstance(value, list) and depth < 4:
        for index, one in enumerate(value):
            yield from _any(one, f"{path}[{index}]", line, source, depth + 1)
        return
    if not isinstance(value, Mapping):
        source.note(path, f"expected a trace or an observation, found {type_name(value)}; left out", line=line)
        return
    if isinstance(value.get("trace"), Mapping):
        trace = {"observations": value.get("observations"), "scores": value.get("scores"), **value["trace"]}
        yield from _trace(trace, Raw(source=source, path=_join(path, "trace"), case={}, line=line))
        return
    held = [key for key in _LISTS if isinstance(value.get(key), list)] if "id" not in value else []
    for key in held:
        yield from _any(value[key], _join(path, key), line, source, depth + 1)
    if held:
        return
    raw = Raw(source=source, path=path, case={}, line=line)
    if _is_observation(value):
        yield from _observation(value, raw)
    else:
        yield from _trace(value, raw)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _is_observation(value: Mapping[str, Any]) -> bool:
    return any(key in value for key in ("traceId", "trace_id")) or isinstance(value.get("type"), str)


def _observation(value: Mapping[str, Any], raw: Raw) -> Iterator[Raw]:
    kind = value.get("type", "GENERATION")
    if kind not in _GENERATIONS:
        raw.note("", "an observation that is no generation; left out")
        return
    yield from _case(value, value, raw)


def _trace(value: Mapping[str, Any], raw: Raw) -> Iterator[Raw]:
    if value.get("output") in (None, ""):
        observations = value.get("observations")
        found = [one for one in observations if _generated(one)] if isinstance(observations, list) else []
        if found:
            yield from _case(value, max(found, key=_started), raw)
            return
    yield from _case(value, value, raw)


def _generated(one: Any) -> bool:
    return isinstance(one, Mapping) and one.get("type") in _GENERATIONS and one.get("output") not in (None, "")


def _started(one: Mapping[str, Any]) -> str:
    return str(one.get("startTime", one.get("start_time", "")))


def _case(whole: Mapping[str, Any], said: Mapping[str, Any], raw: Raw) -> Iterator[Raw]:
    """A case: the conversation of `said`, and what is known of the `whole` that it stands in."""
    talk = _conversation(said.get("input"), said.get("output"), raw)
    if talk.output is None:
        raw.note("output", "no recorded output; left out")
        return
    name = whole.get("name", whole.get("trace_name"))
    raw.case.update(name=one_line(str(name or "")) or "trace", messages=talk.before, output=talk.output)
    raw.case["execution"] = _execution(said, whole, talk)
    raw.case["labels"] = _labels(whole)
    raw.case["metadata"] = _metadata(whole, said)
    raw.source.pass_over(key for key, part in whole.items() if key not in _TAKEN and part not in (None, "", [], {}))
    for key in _PERSONAL:
        if whole.get(key):
            raw.note(key, "who the user was; left out")
    yield raw


def _conversation(given: Json, answer: Json, raw: Raw) -> Talk:
    given, answer = parsed(given), parsed(answer)
    before = messages_of(given, lambda reason: raw.note("input", reason))
    if before is None:
        before = [{"role": "user", "content": _bare(given)}] if given not in (None, "") else []
    answer = answer_of(answer)
    if answer in (None, ""):
        return Talk(before=before)
    after = messages_of(answer, lambda reason: raw.note("output", reason))
    if after is None:
        return Talk(before=before, output=_bare(answer))
    talk = split(after if after[: len(before)] == before else [*before, *after])
    return talk if talk.output is not None else Talk(before=before, output=canonical(answer))


def _bare(value: Json) -> str:
    """A text, or the one text that an object holds; any other value as JSON."""
    if isinstance(value, Mapping):
        texts = [part for part in value.values() if isinstance(part, str)]
        keys = ("content", "text", "output", "input", "question", "query", "answer", "response", "result", "completion")
        if len(value) == 1 and texts and next(iter(value)) in keys:
            return texts[0]
    return as_text(value)


def _execution(said: Mapping[str, Any], whole: Mapping[str, Any], talk: Talk) -> dict[str, Any]:
    made: dict[str, Any] = {"tool_calls": talk.calls} if talk.calls else {}
    latency = _number(said, "latency")
    latency = latency * 1000 if latency is not None else _elapsed(said)
    cost = _number(whole, "totalCost", "total_cost", "calculatedTotalCost", "calculated_total_cost")
    costs = whole.get("costDetails", whole.get("cost_details"))
    if cost is None and isinstance(costs, Mapping):
        cost = _number(costs, "total")
    details = [said.get(key) for key in ("usage", "usage_details", "usageDetails")]
    used: dict[str, Any] = dict(said)
    for one in details:
        used.update(one if isinstance(one, Mapping) else {})
    found = {
        "latency_ms": None if latency is None else round(latency, 6),
        "cost_usd": cost,
        "input_tokens": _number(used, "input", "promptTokens", "prompt_tokens", "inputTokens"),
        "output_tokens": _number(used, "output", "completionTokens", "completion_tokens", "outputTokens"),
    }
    return {**made, **{key: part for key, part in found.items() if part is not None}}


def _number(value: Mapping[str, Any], *keys: str) -> float | None:
    for key in keys:
        found = value.get(key)
        if isinstance(found, int | float) and not isinstance(found, bool) and found >= 0:
            return found
    return None


def _elapsed(value: Mapping[str, Any]) -> float | None:
    """Milliseconds between start and end, as they are written."""
    times = [
        value.get(camel, value.get(snake)) for camel, snake in (("startTime", "start_time"), ("endTime", "end_time"))
    ]
    try:
        start, end = (datetime.fromisoformat(one) for one in times if isinstance(one, str))
        elapsed = (end - start).total_seconds() * 1000
    except (ValueError, TypeError, OverflowError):
        return None
    return elapsed if elapsed >= 0 else None


def _labels(whole: Mapping[str, Any]) -> list[str]:
    tags = whole.get("tags")
    labels = [one_line(as_text(tag)) for tag in tags] if isinstance(tags, list) else []
    scores = whole.get("scores")
    for one in scores if isinstance(scores, list) else ():
        if isinstance(one, Mapping):
            value = next(
                (one[key] for key in ("stringValue", "string_value", "value") if one.get(key) is not None), None
            )
            labels.append(one_line(f"{as_text(one.get('name', 'score'))}: {as_text(value)}"))
    return [label for label in dict.fromkeys(labels) if label]


def _metadata(whole: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    value = parsed(whole.get("metadata"))
    made: dict[str, Any] = dict(value) if isinstance(value, Mapping) else {}
    if value not in (None, "", [], {}) and not isinstance(value, Mapping):
        made["metadata"] = value
    trace = whole.get("traceId", whole.get("trace_id", whole.get("id")))
    model = said.get("model", said.get("providedModelName", said.get("provided_model_name")))
    session = whole.get("sessionId", whole.get("session_id"))
    named = {"trace_id": trace, "session_id": session, "model": model, "environment": whole.get("environment")}
    return {**made, **{key: part for key, part in named.items() if isinstance(part, str) and part}}
