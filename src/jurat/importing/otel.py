"""Traces in OTLP JSON: each call of a model becomes a case with its conversation, its answer and its latency.

Read are the GenAI conventions of OpenTelemetry, as attributes and as events (of spans, or in logs), of today and
before; the numbered attributes of earlier instrumentations; and OpenInference. A file is one document, or a line for
each batch, which is then read line by line. Spans that are no calls of models are counted in a note. Ids become
hexadecimal, as OTLP JSON has them; some writers leave them in base64.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

from jurat.errors import AuthoringError, Fault
from jurat.importing.draft import Draft, Raw
from jurat.importing.finish import one_line
from jurat.importing.otel_messages import Attributes, attributes_of, conversation, value_of
from jurat.importing.source import Source
from jurat.importing.talk import Talk
from jurat.jsontext import Json, type_name

__all__ = ["read", "recognises"]

_RESOURCES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_LOGS = ("resourceLogs", "resource_logs")
_OF_LOGS = (("scopeLogs", "scope_logs"), ("logRecords", "log_records"))
_OTHERS = ("resourceMetrics", "resource_metrics")
_DETAILS = "gen_ai.client.inference.operation.details"
"""The event that tells a whole call, for which there need be no span with contents."""
_CALLS = ("chat", "text_completion", "generate_content", "completion", "responses")

_NUMBER = re.compile(r"\.\d+(?=\.|$)", re.ASCII)
_TAKEN = (
    *("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions", "gen_ai.prompt"),
    *("gen_ai.completion", "llm.input_messages", "llm.output_messages", "input.", "output.", "llm.cost.total"),
    *("gen_ai.operation.name", "openinference.span.kind", "llm.request.type", "gen_ai.usage.cost", "llm.model_name"),
    *("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.usage.prompt_tokens"),
    *("gen_ai.usage.completion_tokens", "llm.token_count.prompt", "llm.token_count.completion"),
    *("gen_ai.request.model", "gen_ai.response.model", "gen_ai.response.id", "gen_ai.conversation.id", "session.id"),
)
_TELLING = ("gen_ai.input.messages", "gen_ai.prompt.", "gen_ai.request.model")


def recognises(sample: Json, kind: str) -> bool:
    """Whether a document or a line is a batch of spans."""
    if kind == "document" and isinstance(sample, list):
        sample = sample[0] if sample else None
    return (
        kind != "csv" and isinstance(sample, Mapping) and any(key in sample for key in (*_RESOURCES, *_LOGS, *_OTHERS))
    )


def read(source: Source, draft: Draft) -> Iterator[Raw]:  # noqa: ARG001 (the protocol of importers)
    """A case for each call of a model, in the order of the file."""
    if source.kind == "document":
        document = source.value()
        batches = document if isinstance(document, list) else [document]
        for index, batch in enumerate(batches):
            yield from _batch(batch, f"[{index}]" if isinstance(document, list) else "", None, source)
    else:
        for row in source.rows():
            yield from _batch(row.values, "", row.number, source)
    source.tell_passed_over("attributes of calls")


def _batch(batch: Any, path: str, line: int | None, source: Source) -> Iterator[Raw]:
    if not isinstance(batch, Mapping):
        if line is None and not path:
            fault = Fault(path="", expected="an object with resourceSpans", found=type_name(batch), file=source.name)
            raise AuthoringError("otel", [fault])
        source.note(path, "expected an object with resourceSpans; left out", line=line)
        return
    for key in _OTHERS:
        if key in batch:
            source.note(_join(path, key), "metrics; only spans and events are read", line=line)
    for where, resource in _members(batch, _RESOURCES, path):
        for scope_path, scope in _members(resource, _SCOPES, where):
            for span_path, span in _members(scope, ("spans",), scope_path):
                yield from _span(span, span_path, line, source)
    scopes, records = _OF_LOGS
    for where, resource in _members(batch, _LOGS, path):
        for scope_path, scope in _members(resource, scopes, where):
            for record_path, record in _members(scope, records, scope_path):
                yield from _event(record, record_path, line, source)


def _event(record: Mapping[str, Any], path: str, line: int | None, source: Source) -> Iterator[Raw]:
    """The call that an event of a log tells; its contents stand in attributes, or in its body."""
    attributes = attributes_of(record.get("attributes"))
    name = record.get("eventName", record.get("event_name", attributes.pop("event.name", None)))
    raw = Raw(source=source, path=path, case={}, line=line)
    if name != _DETAILS:
        raw.note("", "a log record that tells no whole call of a model; left out")
        return
    body = value_of(record.get("body"))
    yield from _called(record, {**(body if isinstance(body, dict) else {}), **attributes}, [], raw)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _members(holder: Any, names: tuple[str, ...], path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name in names:
        values = holder.get(name) if isinstance(holder, Mapping) else None
        for index, value in enumerate(values if isinstance(values, list) else ()):
            if isinstance(value, Mapping):
                yield f"{_join(path, name)}[{index}]", value


def _span(span: Mapping[str, Any], path: str, line: int | None, source: Source) -> Iterator[Raw]:
    attributes = attributes_of(span.get("attributes"))
    raw = Raw(source=source, path=path, case={}, line=line)
    if not _is_call(attributes):
        raw.note("", "a span that is no call of a model; left out")
        return
    yield from _called(span, attributes, _events(span), raw)


def _called(
    span: Mapping[str, Any], attributes: Attributes, events: list[tuple[str, Attributes]], raw: Raw
) -> Iterator[Raw]:
    talk = conversation(attributes, events, lambda reason: raw.note("attributes", reason))
    if talk.output is None:
        raw.note("", "a call without a recorded answer (contents are recorded only when that is turned on); left out")
        return
    _fill(raw.case, span, attributes, talk)
    raw.source.pass_over(
        _NUMBER.sub(".N", key) for key in attributes if not key.startswith(_TAKEN) and key not in _TAKEN
    )
    yield raw


def _is_call(attributes: Attributes) -> bool:
    kind = attributes.get("openinference.span.kind")
    if isinstance(kind, str):
        return kind.upper() == "LLM"
    operation = attributes.get("gen_ai.operation.name", attributes.get("llm.request.type"))
    if isinstance(operation, str):
        return operation in _CALLS
    return any(key.startswith(_TELLING) for key in attributes)


def _events(span: Mapping[str, Any]) -> list[tuple[str, Attributes]]:
    events = span.get("events")
    return [
        (str(event.get("name", "")), attributes_of(event.get("attributes")))
        for event in (events if isinstance(events, list) else ())
        if isinstance(event, Mapping)
    ]


def _fill(case: dict[str, Any], span: Mapping[str, Any], attributes: Attributes, talk: Talk) -> None:
    case["name"] = one_line(str(span.get("name") or attributes.get("gen_ai.operation.name") or "")) or "call"
    case["messages"], case["output"] = talk.before, talk.output
    execution: dict[str, Any] = {"tool_calls": talk.calls} if talk.calls else {}
    start, end = _nanoseconds(span, "startTimeUnixNano"), _nanoseconds(span, "endTimeUnixNano")
    if start is not None and end is not None and end >= start > 0:
        execution["latency_ms"] = (end - start) / 1_000_000
    cost = attributes.get("llm.cost.total", attributes.get("gen_ai.usage.cost"))
    if isinstance(cost, int | float) and not isinstance(cost, bool) and cost >= 0:
        execution["cost_usd"] = cost
    for name, keys in _TOKENS.items():
        found = next((attributes[key] for key in keys if key in attributes), None)
        if isinstance(found, int) and not isinstance(found, bool):
            execution[name] = found
    case["execution"] = execution
    named = {
        "trace_id": _hexadecimal(span.get("traceId", span.get("trace_id")), 16),
        "span_id": _hexadecimal(span.get("spanId", span.get("span_id")), 8),
        "response_id": attributes.get("gen_ai.response.id"),
        "session_id": attributes.get("gen_ai.conversation.id", attributes.get("session.id")),
        "model": _model(attributes),
    }
    case["metadata"] = {key: part for key, part in named.items() if isinstance(part, str) and part}


def _hexadecimal(value: Any, size: int) -> Any:
    """An id of so many bytes in hexadecimal, small letters; what is no such id stays as it is."""
    if not isinstance(value, str):
        return value
    if re.fullmatch(rf"[0-9a-fA-F]{{{2 * size}}}", value):
        return value.lower()
    try:
        read = base64.b64decode(value, validate=True)
    except ValueError:
        return value
    return read.hex() if len(read) == size else value


_TOKENS = {
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
    "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
}


def _model(attributes: Attributes) -> Json:
    keys = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
    return next((attributes[key] for key in keys if key in attributes), None)


def _nanoseconds(span: Mapping[str, Any], key: str) -> int | None:
    """A time of OTLP JSON, which writes numbers of 64 bits as text."""
    value = span.get(key)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 25:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 80 else None
