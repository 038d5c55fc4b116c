"""Assertions of promptfoo as assertions of a suite, type by type; a type without a counterpart is listed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from jurat.importing.draft import Draft
from jurat.importing.finish import AT, one_line
from jurat.importing.nunjucks import computed, template
from jurat.importing.promptfoo_files import content
from jurat.importing.promptfoo_head import judge_of
from jurat.importing.source import Source
from jurat.importing.talk import as_text, parsed
from jurat.jsontext import Json

__all__ = ["Asserts"]

_REF = re.compile(r"#/assertionTemplates/(.+)")
_PARTS = re.compile(r'\s*(?:"([^"]*)"\s*|([^,]+))(?:,|$)')
"""The parts of a list that is written as one text, as CSV has them."""
_KEYS = ("type", "value", "threshold", "weight", "metric", "provider", "assert", "$ref")
_REASONS = {
    **dict.fromkeys(("javascript", "ruby"), "code of another language; write it as a python assertion"),
    "python": "code that gets other arguments; write it as a python assertion (module:function)",
    "contains-json": "no assertion looks for JSON inside of other text; is-json has one",
    "contains-html": "no assertion reads HTML; a regex may do",
    **dict.fromkeys(("webhook", "guardrails", "moderation", "classifier"), "a service of its own decides"),
    **dict.fromkeys(("similar", "rouge-n", "bleu", "gleu", "meteor", "levenshtein"), "a measure of likeness of texts"),
    **dict.fromkeys(("perplexity", "perplexity-score"), "a measure of the model's own probabilities"),
    **dict.fromkeys(("select-best", "max-score"), "it compares several subjects; see jurat compare"),
}


class Asserts:
    """Reads lists of assertions."""

    def __init__(self, source: Source, draft: Draft, templates: Any) -> None:
        self._source, self._draft = source, draft
        self._templates = templates if isinstance(templates, Mapping) else {}

    def read(self, values: Any, path: str, judge: Any, depth: int = 0) -> list[dict[str, Any]]:
        """The assertions of a list, each under a name of its own; what is not taken over is noted.

        Args:
            judge: who grades, as promptfoo says it, unless an assertion names another.
        """
        if values is None:
            return []
        if not isinstance(values, list):
            self._source.note(path, "expected a list of assertions; left out")
            return []
        made: list[dict[str, Any]] = []
        for index, value in enumerate(values):
            made += self._one(value, f"{path}[{index}]", judge, depth)
        return made if depth else _distinct(made)

    def _one(self, value: Any, path: str, judge: Any, depth: int) -> list[dict[str, Any]]:
        if isinstance(value, Mapping) and isinstance(value.get("$ref"), str):
            found = _REF.fullmatch(value["$ref"])
            value = self._templates.get(found[1]) if found else None
        if not isinstance(value, Mapping) or not isinstance(value.get("type"), str):
            self._source.note(path, "expected an assertion with a type; left out")
            return []
        if value["type"] == "assert-set":
            return self._set(value, path, judge, depth)
        if value.get("transform") is not None or value.get("contextTransform") is not None:
            self._source.note(path, f"it checks what is computed first ({one_line(value['type'], 60)}); left out")
            return []
        base, negate = value["type"].removeprefix("not-"), value["type"].startswith("not-")
        made = _Made(value, path, self._source, negate).made(base)
        if made is None:
            return []
        for key in value:
            if key not in _KEYS:
                self._source.note(f"{path}.{key}", "no counterpart in an assertion; left out")
        return [{**made, AT: path}] if self._common(made, value, path, negate, judge) else []

    def _set(self, value: Mapping[str, Any], path: str, judge: Any, depth: int) -> list[dict[str, Any]]:
        if "threshold" in value or depth > 8:
            self._source.note(path, "a set with a threshold of its own; an assertion stands by itself in a suite")
            return []
        if "weight" in value:
            self._source.note(f"{path}.weight", "the weight of a set; its assertions stand by themselves")
        return self.read(value.get("assert"), f"{path}.assert", judge, depth + 1)

    def _common(self, made: dict[str, Any], value: Mapping[str, Any], path: str, negate: bool, judge: Any) -> bool:
        """Add what every assertion has; false when it is left out after all."""
        weight = value.get("weight")
        if weight == 0 and not isinstance(weight, bool):
            self._source.note(path, "a weight of 0, so it decides nothing; left out")
            return False
        if negate:
            made["negate"] = True
        if weight is not None and weight != 1:
            made["weight"] = weight
        if isinstance(value.get("metric"), str) and (name := one_line(value["metric"])):
            if computed(name) or "{{" in name:
                self._source.note(f"{path}.metric", "a name that is computed; left out")
            else:
                made["name"] = name
        if made["type"] == "rubric_judge":
            grader = value.get("provider", judge)
            named = judge_of(grader, f"{path}.provider", self._source, self._draft)
            if named is not None:
                made["provider"] = named
            elif self._draft.provider is None:
                self._source.note(path, "judged by the embedded model unless you name another provider (--provider)")
        return True


def _distinct(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same, a name that stands twice numbered."""
    seen: set[str] = set()
    for one in made:
        name, number = one.get("name"), 2
        while name is not None and one["name"] in seen:
            one["name"], number = f"{name} {number}", number + 1
        seen.add(one.get("name", ""))
    return made


class _Made:
    """One assertion in the making. A maker notes why it cannot, and gives None."""

    def __init__(self, value: Mapping[str, Any], path: str, source: Source, negate: bool) -> None:
        self._value, self._path, self._source, self._negate = value, path, source, negate

    def made(self, base: str) -> dict[str, Any] | None:
        """What the assertion says, without what all have."""
        maker = _MAKERS.get(base)
        if maker is None:
            reason = _REASONS.get(base, "no assertion of this type")
            return self.refused(f"{reason} ({one_line(base, 60)}); left out")
        given = self._value.get("value")
        if isinstance(given, str) and given.startswith(("file://", "package:")):
            text = content(given, self._source) if given.startswith("file://") else None
            if text is None:
                return self.refused("a value in another file; left out")
            self._value = {**self._value, "value": text}
            given = text
        if any(computed(text) for text in _texts(given)) and base not in ("is-json", "regex"):
            return self.refused("a value that is computed; left out")
        return maker(self)

    def refused(self, reason: str) -> dict[str, Any] | None:
        """Note why there is none."""
        self._source.note(self._path, reason)
        return None

    def filled(self, value: Any) -> Any:
        """A value with placeholders as a suite has them."""
        if isinstance(value, str):
            return template(value, lambda _: None)
        if isinstance(value, list):
            return [self.filled(part) for part in value]
        if isinstance(value, Mapping):
            return {key: self.filled(part) for key, part in value.items()}
        return value

    @property
    def value(self) -> Any:
        return self.filled(self._value.get("value"))

    # --- the types -------------------------------------------------------------------------------------------------

    def equals(self) -> dict[str, Any] | None:
        return {"type": "exact_match", "value": self.value}

    def contains(self, *, ignore_case: bool = False, several: str | None = None) -> dict[str, Any] | None:
        value = self.value
        if several is not None and isinstance(value, str):
            value = [found[1] or found[2].strip() for found in _PARTS.finditer(value) if found[0].strip(" ,")]
        if several is None and not isinstance(value, list):
            value = as_text(value) if value is not None else None
        if isinstance(value, list):
            value = [as_text(part) for part in value]
        made: dict[str, Any] = {"type": "contains", "value": value}
        if several == "any":
            made["match"] = "any"
        return {**made, "ignore_case": True} if ignore_case else made

    def starts_with(self) -> dict[str, Any] | None:
        given = self._value.get("value")
        if not isinstance(given, str) or "{{" in given:
            return self.refused("a beginning that is not one fixed text; left out")
        return {"type": "regex", "value": r"\A" + re.sub(r"([^\w\s])", r"\\\1", given, flags=re.ASCII)}

    def regex(self) -> dict[str, Any] | None:
        given = self._value.get("value")
        if isinstance(given, str) and re.search(r"\{\{\s*[A-Za-z_]", given):
            return self.refused("a pattern with placeholders; left out")
        return {"type": "regex", "value": given}

    def is_json(self) -> dict[str, Any] | None:
        schema = parsed(self._value.get("value"))
        if schema is None:
            return {"type": "structured_output"}
        if not isinstance(schema, Mapping | bool):
            return self.refused("a schema that is no object; left out")
        return {"type": "json_schema", "schema": schema}

    def limit(self, kind: str) -> dict[str, Any] | None:
        threshold = self._value.get("threshold")
        if isinstance(threshold, bool) or not isinstance(threshold, int | float):
            return self.refused("no threshold; left out")
        return {"type": kind, "value": threshold}

    def rubric(self, opening: str = "", default: float | None = None) -> dict[str, Any] | None:
        value = self.value
        if isinstance(value, list):
            value = "\n".join(f"- {as_text(part)}" for part in value)
        if value is None:
            return self.refused("no rubric; left out")
        return self._judged({"rubric": opening + as_text(value)}, 100, default)

    def factuality(self) -> dict[str, Any] | None:
        value = self.value
        return self._judged(
            {"template": "correctness", "expected": value} if value else {"template": "correctness"}, 100
        )

    def grounded(self) -> dict[str, Any] | None:
        return self._judged({"template": "faithfulness", "context": "{{context}}"}, 100)

    def relevance(self) -> dict[str, Any] | None:
        if self._value.get("threshold") is not None:
            self._source.note(
                f"{self._path}.threshold", "a threshold of another measure (likeness of questions); left out"
            )
        return {"type": "rubric_judge", "template": "answer_relevance"}

    def _judged(self, made: dict[str, Any], scale: float, default: float | None = None) -> dict[str, Any]:
        threshold: Json = self._value.get("threshold", default)
        number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
        if number and 0 <= threshold <= 1:
            made["threshold"] = round(threshold * scale, 6)
        elif threshold is not None:
            self._source.note(f"{self._path}.threshold", "a threshold that is not from 0 to 1; left out")
        return {"type": "rubric_judge", **made}


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _texts(part)]


_CRITERION = "Score 100 when the output meets this criterion, and 0 when it does not: "
_MAKERS: Mapping[str, Callable[[_Made], dict[str, Any] | None]] = {
    "equals": _Made.equals,
    "contains": _Made.contains,
    "icontains": lambda one: one.contains(ignore_case=True),
    "contains-all": lambda one: one.contains(several="all"),
    "contains-any": lambda one: one.contains(several="any"),
    "icontains-all": lambda one: one.contains(several="all", ignore_case=True),
    "icontains-any": lambda one: one.contains(several="any", ignore_case=True),
    "starts-with": _Made.starts_with,
    "regex": _Made.regex,
    "is-json": _Made.is_json,
    "latency": lambda one: one.limit("max_latency_ms"),
    "cost": lambda one: one.limit("max_cost_usd"),
    "llm-rubric": _Made.rubric,
    "model-graded-closedqa": lambda one: one.rubric(_CRITERION),
    "g-eval": lambda one: one.rubric("Criteria:\n", 0.7),
    **dict.fromkeys(("factuality", "model-graded-factuality"), _Made.factuality),
    "context-faithfulness": _Made.grounded,
    "answer-relevance": _Made.relevance,
}
