"""Evals and graders of OpenAI, and their datasets: objects of the API, bare graders, and rows of JSON Lines.

Templates name `item.…` and `sample.…`. An item's members become variables under those very names, so that
`{{ item.question }}` stays what it is; `{{ sample.output_text }}` is the output, which every assertion looks at anyway.
Several files are read as one: graders in one, rows in another. Rows of the older `{input, ideal}` shape are read, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jurat.importing.draft import Draft, Raw
from jurat.importing.finish import one_line
from jurat.importing.graders import GRADERS, Graders, item_texts
from jurat.importing.nunjucks import resolved, template
from jurat.importing.source import Source
from jurat.importing.talk import as_text, messages_of, split
from jurat.jsontext import Json, type_name
from jurat.suite.template import placeholders

__all__ = ["read", "recognises"]

_GRADERS = ("testing_criteria", "graders", "grader")
_EVAL = (*_GRADERS, "data_source", "name", "id", "object")
_ROW = ("item", "sample", "input", "ideal", "expected", "metadata")


def recognises(sample: Json, kind: str) -> bool:
    """Whether a document holds graders, or a row an item."""
    if isinstance(sample, list):
        sample = sample[0] if sample else None
    if kind == "csv" or not isinstance(sample, Mapping):
        return False
    if any(key in sample for key in ("testing_criteria", "data_source_config")) or sample.get("type") in GRADERS:
        return True
    if isinstance(sample.get("grader"), Mapping):
        return True
    return isinstance(sample.get("item"), Mapping) or ("input" in sample and "ideal" in sample)


def read(source: Source, draft: Draft) -> Iterator[Raw]:
    """The cases; graders go into the draft."""
    if source.kind == "document":
        yield from _document(source.value(), source, draft)
        return
    for row in source.rows():
        values = row.values or {}
        if values.get("type") in GRADERS:
            Graders(source, draft).read([values], f"row {row.number}")
        else:
            yield from _row(values, f"row {row.number}", row.number, source, draft)


def _document(document: Json, source: Source, draft: Draft) -> Iterator[Raw]:
    if isinstance(document, list):
        graders = [one for one in document if isinstance(one, Mapping) and one.get("type") in GRADERS]
        if graders:
            Graders(source, draft).read(document, "")
            return
        yield from _rows(document, "", source, draft)
        return
    if not isinstance(document, Mapping):
        source.note("", f"expected an eval, graders or items, found {type_name(document)}")
        return
    if document.get("type") in GRADERS:
        Graders(source, draft).read([document], "")
        return
    if "item" in document or ("input" in document and "ideal" in document):
        yield from _row(document, "", None, source, draft)
        return
    yield from _eval(document, source, draft)


def _eval(document: Mapping[str, Any], source: Source, draft: Draft) -> Iterator[Raw]:
    for key in document:
        if key not in _EVAL:
            source.note(one_line(str(key)), "no counterpart in a suite; left out")
    if isinstance(document.get("name"), str):
        draft.head["suite"] = document["name"]
    for key in _GRADERS:
        value = document.get(key)
        if isinstance(value, list):
            Graders(source, draft).read(value, key)
        elif isinstance(value, Mapping):
            Graders(source, draft).read([value], key, single=True)
    data = document.get("data_source")
    if isinstance(data, Mapping):
        yield from _data(data, source, draft)


def _data(data: Mapping[str, Any], source: Source, draft: Draft) -> Iterator[Raw]:
    """The items of a run's data source, and the prompt that asks them."""
    asked = data.get("input_messages")
    turns = asked.get("template") if isinstance(asked, Mapping) else None
    messages = messages_of(turns, lambda reason: source.note("data_source.input_messages", reason))
    if messages:
        _prompt(messages, source, draft)
    if isinstance(data.get("model"), str):
        name = draft.add_provider({"name": data["model"], "kind": "openai", "model": data["model"]})
        draft.head["subject"] = {"provider": name}
    inner = data.get("source")
    content = inner.get("content") if isinstance(inner, Mapping) else None
    if isinstance(content, list):
        yield from _rows(content, "data_source.source.content", source, draft)
    else:
        source.note("data_source.source", "items that stand elsewhere; give their file (JSON Lines) beside this one")


def _prompt(messages: list[dict[str, Any]], source: Source, draft: Draft) -> None:
    def filled(text: str) -> str:
        return template(text, lambda reason: source.note("data_source.input_messages", reason))

    made = [{**one, "content": filled(one["content"])} for one in messages if isinstance(one["content"], str)]
    draft.head["prompt"] = {"messages": made}
    for one in made:
        draft.wanted.update(placeholders(one["content"]))


def _rows(values: list[Any], path: str, source: Source, draft: Draft) -> Iterator[Raw]:
    for index, value in enumerate(values):
        yield from _row(value, f"{path}[{index}]", None, source, draft)


def _row(value: Any, path: str, line: int | None, source: Source, draft: Draft) -> Iterator[Raw]:
    raw = Raw(source=source, path=path, case={}, line=line)
    if not isinstance(value, Mapping):
        raw.note("", f"expected an item, found {type_name(value)}; left out")
        return
    for key in value:
        if "item" in value and key not in _ROW:
            raw.note(one_line(str(key)), "no counterpart in a case; left out")
    if "item" not in value and "ideal" in value:
        _older(value, raw)
    else:
        item = value.get("item", value)
        if not isinstance(item, Mapping):
            raw.note("item", f"expected an object, found {type_name(item)}; left out")
            return
        _item(item, value.get("sample"), raw, draft)
    yield raw


def _older(value: Mapping[str, Any], raw: Raw) -> None:
    given, ideal = value.get("input"), value["ideal"]
    messages = messages_of(given, lambda reason: raw.note("input", reason))
    raw.case["messages"] = messages or [{"role": "user", "content": as_text(given)}]
    raw.case["expected"] = ideal[0] if isinstance(ideal, list) and len(ideal) == 1 else ideal
    metadata = value.get("metadata")
    raw.case["metadata"] = metadata if isinstance(metadata, Mapping) else {}


def _item(item: Mapping[str, Any], sample: Any, raw: Raw, draft: Draft) -> None:
    variables: dict[str, Any] = {f"item.{key}": part for key, part in item.items()}
    for name in draft.wanted:
        if name not in variables:
            value = resolved(name, {"item": item})
            if value is None:
                raw.note(
                    f"item.{name.removeprefix('item.')}", f"nothing fills {{{{{name}}}}}; it stands for empty text"
                )
            variables[name] = "" if value is None else value
    raw.case["variables"] = variables
    raw.case["name"] = next((as_text(item[key]) for key in ("id", "name") if item.get(key)), None)
    if isinstance(sample, Mapping):
        output = sample.get("output_text")
        raw.case["output"] = output if isinstance(output, str) else None
        calls = sample.get("output_tools")
        talk = split(messages_of([{"role": "assistant", "tool_calls": calls}], lambda _: None) or []) if calls else None
        if talk is not None and talk.calls and isinstance(output, str):
            raw.case["execution"] = {"tool_calls": talk.calls}
    asked = item_texts(item) if "prompt" not in draft.head else []
    raw.case["messages"] = asked
