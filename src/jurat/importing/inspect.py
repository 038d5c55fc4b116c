"""Logs of Inspect, packed (`.eval`) or in JSON: each sample becomes a case with its conversation, answer and target.

A packed log holds each sample as a member of its own, so that a large one is read sample by sample. Scores become
labels (`match: C`), which no judge is shown. A sample of several epochs gives a case for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jurat.errors import AuthoringError, Fault
from jurat.importing.draft import Draft, Raw
from jurat.importing.finish import one_line
from jurat.importing.source import Source
from jurat.importing.talk import Talk, as_text, message, messages_of, split
from jurat.jsontext import Json, type_name

__all__ = ["read", "recognises"]

_ATTACHMENT = re.compile(r"attachment://([0-9a-fA-F]{32})")
_TAKEN = (
    *("id", "epoch", "input", "target", "choices", "messages", "output", "scores", "score", "metadata", "attachments"),
    *("working_time", "total_time", "error", "sandbox", "files", "setup"),
)
_HEADERS = ("header.json", "_journal/start.json", "start.json")
_SAMPLES = "samples/"
_ACTED = ("sandbox", "files", "setup")
_DEEPEST = 90


def recognises(sample: Json, kind: str) -> bool:
    """Whether a document, or an archive with these names, is such a log."""
    if kind == "archive":
        return isinstance(sample, list) and _header_of(sample) is not None
    return kind == "document" and isinstance(sample, Mapping) and isinstance(sample.get("eval"), Mapping)


def read(source: Source, draft: Draft) -> Iterator[Raw]:
    """The cases of a log."""
    yield from _packed(source, draft) if source.kind == "archive" else _whole(source, draft)
    source.tell_passed_over("members of samples")


def _whole(source: Source, draft: Draft) -> Iterator[Raw]:
    log = source.value() if source.kind == "document" else None
    samples = log.get("samples") if isinstance(log, Mapping) else None
    if not isinstance(log, Mapping) or not isinstance(samples, list):
        found = "a header alone" if isinstance(log, Mapping) and "eval" in log else type_name(log)
        hint = "Write the whole log as JSON: inspect log dump FILE"
        fault = Fault(path="", expected="a log with samples", found=found, hint=hint, file=source.name)
        raise AuthoringError("inspect", [fault])
    model = _about(log, draft)
    for index, sample in enumerate(samples):
        yield from _any(sample, model, Raw(source=source, path=f"samples[{index}]", case={}), source)


def _packed(source: Source, draft: Draft) -> Iterator[Raw]:
    archive = source.archive()
    names = archive.names()
    header = _header_of(names)
    if header is None:
        expected = f"a packed log of Inspect, with {_HEADERS[0]}"
        raise AuthoringError("inspect", [Fault(path="", expected=expected, found="another archive", file=source.name)])
    log = source.member(header, archive).value()
    model = _about(log if isinstance(log, Mapping) else {}, draft)
    for name in names:
        if not (name.startswith(_SAMPLES) and name.endswith(".json")):
            continue
        try:
            inner = source.member(name, archive)
            sample = inner.value()
        except AuthoringError as error:
            fault = error.faults[0]
            hint = "" if fault.hint is None else f" ({fault.hint})"
            source.note(name, f"expected {fault.expected}, found {fault.found}{hint}; the sample is left out")
        else:
            yield from _any(sample, model, Raw(source=inner, path="", case={}), source)


def _header_of(names: Iterable[Any]) -> str | None:
    """Where a packed log tells what it is of; of one that was broken off, where it began."""
    known = set(names)
    return next((name for name in _HEADERS if name in known), None)


def _about(log: Mapping[str, Any], draft: Draft) -> Any:
    """Name the suite; the model that was asked."""
    about = log.get("eval")
    about = about if isinstance(about, Mapping) else {}
    task = about.get("task")
    if isinstance(task, str):
        draft.head["suite"] = one_line(task.rpartition("/")[2])
    return about.get("model")


def _any(sample: Any, model: Any, raw: Raw, source: Source) -> Iterator[Raw]:
    if not isinstance(sample, Mapping):
        raw.note("", f"expected a sample, found {type_name(sample)}; left out")
        return
    yield from _sample(sample, model, raw)
    source.pass_over(key for key, part in sample.items() if key not in _TAKEN and part not in (None, "", [], {}))


def _sample(sample: Mapping[str, Any], model: Any, raw: Raw) -> Iterator[Raw]:
    attached = sample.get("attachments")
    if isinstance(attached, Mapping) and attached:
        sample = _restored(dict(sample), attached, 0)
    for key in _ACTED:
        if sample.get(key):
            raw.note(key, "what a sample acts in; a recorded conversation is judged without it")
    talk = _talk(sample, lambda reason: raw.note("messages", reason))
    if talk.output is None:
        failed = "the sample failed" if sample.get("error") else "no output was recorded"
        raw.note("output", f"{failed}; left out")
        return
    raw.case.update(
        name=_name(sample), messages=talk.before, output=talk.output, expected=_target(sample.get("target"))
    )
    raw.case["execution"] = _execution(sample, talk)
    raw.case["labels"] = _labels(sample.get("scores", sample.get("score")))
    raw.case["metadata"] = _metadata(sample, model)
    yield raw


def _restored(value: Any, attached: Mapping[str, Any], depth: int) -> Any:
    """The value with what Inspect put aside, because it was long, in its place again."""
    if isinstance(value, str):
        if "attachment://" not in value:
            return value
        return _ATTACHMENT.sub(lambda found: str(attached.get(found[1], found[0])), value)
    if depth > _DEEPEST:
        return value
    if isinstance(value, Mapping):
        kept = ("attachments", "events")
        return {key: part if key in kept else _restored(part, attached, depth + 1) for key, part in value.items()}
    return [_restored(part, attached, depth + 1) for part in value] if isinstance(value, list) else value


def _talk(sample: Mapping[str, Any], tell: Any) -> Talk:
    """The conversation. Where it was not kept, the input and the output's message."""
    messages = messages_of(sample.get("messages"), tell) or []
    output = sample.get("output")
    choices = output.get("choices") if isinstance(output, Mapping) else None
    first = (
        choices[0].get("message") if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else None
    )
    answer = message({"role": "assistant", **first}, tell) if isinstance(first, Mapping) else None
    talk = split(messages)
    if talk.output is not None or answer is None:
        return talk
    given = sample.get("input")
    asked = messages or messages_of(given, tell) or ([{"role": "user", "content": as_text(given)}] if given else [])
    return split([*asked, answer])


def _name(sample: Mapping[str, Any]) -> str:
    name = one_line(as_text(sample.get("id", ""))) or "sample"
    epoch = sample.get("epoch")
    return (
        f"{name[:180]} epoch {epoch}" if isinstance(epoch, int) and not isinstance(epoch, bool) and epoch > 1 else name
    )


def _target(value: Json) -> Json:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return None if value in ("", []) else value


def _execution(sample: Mapping[str, Any], talk: Talk) -> dict[str, Any]:
    made: dict[str, Any] = {"tool_calls": talk.calls} if talk.calls else {}
    output = sample.get("output")
    times = [
        output.get("time") if isinstance(output, Mapping) else None,
        sample.get("working_time"),
        sample.get("total_time"),
    ]
    for time_s in times:
        if isinstance(time_s, int | float) and not isinstance(time_s, bool) and time_s >= 0:
            made["latency_ms"] = round(time_s * 1000, 6)
            break
    return made


def _labels(scores: Any) -> list[str]:
    if not isinstance(scores, Mapping):
        return []
    named = scores if all(isinstance(one, Mapping) for one in scores.values()) else {"score": scores}
    labels = [one_line(f"{name}: {as_text(one.get('value'))}") for name, one in named.items()]
    return [label for label in dict.fromkeys(labels) if label]


def _metadata(sample: Mapping[str, Any], model: Any) -> dict[str, Any]:
    value = sample.get("metadata")
    made = dict(value) if isinstance(value, Mapping) else {}
    if sample.get("choices"):
        made.setdefault("choices", sample["choices"])
    output = sample.get("output")
    named = output.get("model") if isinstance(output, Mapping) else None
    for one in (named, model):
        if isinstance(one, str) and one:
            made.setdefault("model", one)
    return made
