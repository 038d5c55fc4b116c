"""Datasets of DeepEval: goldens and test cases, as JSON or CSV, and the metrics that stand beside them.

`input` is what the user says, `actual_output` the recorded answer, both kinds of context become documents, and tools
that were called stand in `execution`. DeepEval keeps metrics in Python; where a file holds their settings (`metrics`),
a GEval becomes a rubric and a few others their template. Scores of old runs become labels, which no judge is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jurat.errors import AuthoringError, Fault
from jurat.importing.draft import Draft, Raw
from jurat.importing.finish import fitting, one_line
from jurat.importing.source import Source
from jurat.importing.talk import as_text, messages_of, parsed, split
from jurat.jsontext import Json, canonical, type_name

__all__ = ["read", "recognises"]

_CASES = ("test_cases", "goldens", "conversational_test_cases", "conversational_goldens", "conversations")
_TELLING = ("actual_output", "expected_output", "retrieval_context", "expected_tools", "tools_called")
_FIGURES = (
    *(("completion_time", "latency_ms", 1000), ("token_cost", "cost_usd", 1)),
    *(("input_token_count", "input_tokens", 1), ("output_token_count", "output_tokens", 1)),
)
"""What a test case took: its member here, in ours, and what brings one to the other."""
_READ = (
    *("input", "actual_output", "expected_output", "context", "retrieval_context", "tools_called", "expected_tools"),
    *("additional_metadata", "metadata", "comments", "name", "tags", "turns", "scenario", "expected_outcome"),
    *("user_description", "chatbot_role", "source_file", "metrics_data", *(key for key, _, _ in _FIGURES)),
)
_AS_METADATA = ("comments", "scenario", "user_description", "chatbot_role", "source_file")
_HEAD = (*_CASES, "metrics", "name", "alias")


def recognises(sample: Json, kind: str) -> bool:
    """Whether a file holds goldens or test cases."""
    if kind == "document" and isinstance(sample, list):
        sample = sample[0] if sample else None
    if not isinstance(sample, Mapping):
        return False
    keys = {_snake(str(key)) for key in sample}
    if kind == "document" and keys & set(_CASES):
        return True
    return ("input" in keys and bool(keys & set(_TELLING))) or {"turns", "scenario"} <= keys


def read(source: Source, draft: Draft) -> Iterator[Raw]:
    """The cases of a dataset."""
    if source.kind != "document":
        for row in source.rows():
            values: Mapping[str, Any] = row.values or {}
            between = "|;" if source.kind == "csv" else "|"
            yield from _case(values, f"row {row.number}", row.number, source, between=between)
        return
    document = source.value()
    if isinstance(document, list):
        yield from _all(document, "", source)
        return
    if not isinstance(document, Mapping):
        fault = Fault(path="", expected="a list of goldens or test cases", found=type_name(document), file=source.name)
        raise AuthoringError("deepeval", [fault])
    whole = {_snake(str(key)): (str(key), part) for key, part in document.items()}
    for key, (written, _) in whole.items():
        if key not in _HEAD:
            source.note(written, "no counterpart in a suite; left out")
    draft.head["suite"] = next((whole[key][1] for key in ("name", "alias") if key in whole), None)
    if "metrics" in whole:
        _metrics(whole["metrics"][1], whole["metrics"][0], source, draft)
    for key in _CASES:
        if key in whole and isinstance(whole[key][1], list):
            yield from _all(whole[key][1], whole[key][0], source)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()).lower().replace(" ", "_")


def _all(values: list[Any], path: str, source: Source) -> Iterator[Raw]:
    for index, value in enumerate(values):
        yield from _case(value, f"{path}[{index}]", None, source)


def _case(value: Any, path: str, line: int | None, source: Source, *, between: str = "") -> Iterator[Raw]:
    if not isinstance(value, Mapping):
        source.note(path, f"expected a golden or a test case, found {type_name(value)}; left out", line=line)
        return
    given = {_snake(str(key)): part for key, part in value.items() if part not in (None, "", [], {})}
    raw = Raw(source=source, path=path, case={}, line=line)
    for key in given:
        if key not in _READ and not key.startswith("_"):
            raw.note(key, "no counterpart in a case; left out")
    if "input" not in given and "turns" not in given:
        simulated = "a scenario that is to be played" if "scenario" in given else "neither an input nor turns"
        raw.note("input", f"{simulated}, so there is nothing to ask; the case is left out")
        return
    _fill(raw, given, between)
    yield raw


def _fill(raw: Raw, given: Mapping[str, Any], between: str) -> None:
    case = raw.case
    calls = _tools(given.get("tools_called"), raw, "tools_called")
    if "input" in given:
        case["messages"] = [{"role": "user", "content": as_text(given["input"])}]
        if "actual_output" in given:
            case["output"] = as_text(given["actual_output"])
    else:
        turns = messages_of(given.get("turns"), lambda reason: raw.note("turns", reason)) or []
        talk = split(turns)
        case["messages"], case["output"] = talk.before, talk.output
        calls = calls or talk.calls
    case["name"] = given.get("name")
    case["expected"] = given.get("expected_output", given.get("expected_outcome"))
    case["documents"] = [
        {"name": f"{key.replace('_', ' ')} {number}", "text": text}
        for key in ("context", "retrieval_context")
        for number, text in enumerate(_texts(given.get(key), between), 1)
    ]
    case["metadata"] = _metadata(given)
    case["labels"] = _labels(given)
    case["assertions"] = [
        {"type": "required_tool", "tool": one["name"], **({"arguments": one["arguments"]} if one["arguments"] else {})}
        for one in _tools(given.get("expected_tools"), raw, "expected_tools")
    ]
    case["execution"] = _execution(given, calls)


def _execution(given: Mapping[str, Any], calls: list[dict[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {"tool_calls": calls} if calls or "tools_called" in given else {}
    for key, name, factor in _FIGURES:
        value = given.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            made[name] = round(value * factor, 9)
    return made


def _texts(value: Any, between: str) -> list[str]:
    """The pieces of a context. In rows they may be one text: a JSON list, or pieces between the first sign it holds."""
    if between and isinstance(value, str):
        read = parsed(value)
        sign = next((one for one in between if one in value), between[0])
        value = read if isinstance(read, list) else value.split(sign)
    parts = value if isinstance(value, list) else [value] if value is not None else []
    return [text for part in parts if (text := as_text(part).strip())]


def _tools(value: Any, raw: Raw, key: str) -> list[dict[str, Any]]:
    value = parsed(value)
    made: list[dict[str, Any]] = []
    for one in value if isinstance(value, list) else [value] if value is not None else []:
        name = one if isinstance(one, str) else one.get("name") if isinstance(one, Mapping) else None
        if not isinstance(name, str) or not name.strip():
            raw.note(key, "a tool without a name; left out")
            continue
        found = one.get("input_parameters", one.get("inputParameters")) if isinstance(one, Mapping) else None
        made.append({"name": name, "arguments": dict(found) if isinstance(found, Mapping) else {}})
    return made


def _metadata(given: Mapping[str, Any]) -> dict[str, Any]:
    made = {key: given[key] for key in _AS_METADATA if key in given}
    for key in ("additional_metadata", "metadata"):
        value = parsed(given.get(key))
        if isinstance(value, Mapping):
            made.update(value)
        elif value is not None:
            made[key] = value
    return made


def _labels(given: Mapping[str, Any]) -> list[str]:
    tags = given.get("tags")
    labels = [one_line(as_text(tag)) for tag in tags] if isinstance(tags, list) else []
    scores = given.get("metrics_data")
    graded = [one for one in scores if isinstance(one, Mapping)] if isinstance(scores, list) else []
    labels += [one_line(f"{as_text(one.get('name'))}: {canonical(one.get('score'))}") for one in graded]
    return [label for label in dict.fromkeys(labels) if label]


# --- metrics -------------------------------------------------------------------------------------------------------

_TEMPLATES: Mapping[str, tuple[str, float, bool]] = {
    "answerrelevancy": ("answer_relevance", 1, False),
    "faithfulness": ("faithfulness", 100, False),
    "hallucination": ("hallucination", 100, True),
    "toxicity": ("toxicity", 1, True),
}
"""The template of a metric, the range of its scores, and whether less is better where it comes from."""
_METRIC = ("name", "metric", "type", "criteria", "evaluation_steps", "threshold", "evaluation_params", "strict_mode")


def _metrics(values: Any, path: str, source: Source, draft: Draft) -> None:
    made: list[dict[str, Any]] = []
    for index, value in enumerate(values if isinstance(values, list) else []):
        at = f"{path}[{index}]"
        one = {_snake(str(key)): part for key, part in value.items()} if isinstance(value, Mapping) else {}
        assertion = _assertion(one, at, source)
        raw = Raw(source=source, path=at, case={})
        if assertion is not None and fitting(assertion, draft.provider, raw, {}):
            made.append(assertion)
    draft.head["assertions"] = [*draft.head.get("assertions", ()), *made]
    draft.assertions += len(made)


def _assertion(one: Mapping[str, Any], at: str, source: Source) -> dict[str, Any] | None:
    kind = next((one[key] for key in ("metric", "type", "name") if isinstance(one.get(key), str)), "")
    bare = re.sub(r"[\W_]|metric", "", kind.lower())
    for key in one:
        if key not in _METRIC:
            source.note(f"{at}.{key}", "no counterpart in an assertion; left out")
    if one.get("criteria") or one.get("evaluation_steps"):
        return _geval(one, at, source)
    if bare not in _TEMPLATES:
        reason = "a GEval without criteria and steps" if bare == "geval" else "no template like this metric"
        source.note(at, f"{reason} ({one_line(kind, 60) or 'without a name'}); left out")
        return None
    template, scale, less = _TEMPLATES[bare]
    threshold = _threshold(one, at, source, scale, less=less)
    return {"type": "rubric_judge", "template": template, **threshold}


def _geval(one: Mapping[str, Any], at: str, source: Source) -> dict[str, Any]:
    steps = one.get("evaluation_steps")
    lines = [f"{number}. {as_text(step)}" for number, step in enumerate(steps, 1)] if isinstance(steps, list) else []
    parts = [as_text(one["criteria"])] if one.get("criteria") else []
    text = "\n".join([*parts, *(["Evaluation steps:", *lines] if lines else [])]).replace("{{", "{ {")
    name = one_line(as_text(one.get("name") or ""))
    threshold = _threshold(one, at, source, 100, less=False) or {"threshold": 50.0}
    return {"type": "rubric_judge", **({"name": name} if name else {}), "rubric": text, **threshold}


def _threshold(one: Mapping[str, Any], at: str, source: Source, scale: float, *, less: bool) -> dict[str, float]:
    value = one.get("threshold")
    if one.get("strict_mode") is True:  # there, what is not perfect does not pass
        return {"threshold": float(scale)}
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return {"threshold": round((1 - value if less else value) * scale, 6)}
    if value is not None:
        source.note(f"{at}.threshold", "a threshold that is not from 0 to 1; left out")
    return {}
