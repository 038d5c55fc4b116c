"""Graders of OpenAI as assertions of a suite; a grader without a counterpart is listed with the reason.

A score that a model gives becomes a rubric judge on 0 to 100, its threshold brought from the grader's own range; of a
choice among labels, those that pass score 100 and the others 0. What a grader's messages say becomes the rubric; where
they name the output, the rubric says so in words, because the judge is shown it as evidence and never in its
instruction.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jurat.importing.draft import Draft, Raw
from jurat.importing.finish import AT, fitting, one_line
from jurat.importing.nunjucks import computed, template
from jurat.importing.source import Source
from jurat.importing.talk import as_text, messages_of
from jurat.suite.template import assertion_texts, placeholders

__all__ = ["GRADERS", "Graders", "item_texts"]

GRADERS = ("string_check", "text_similarity", "score_model", "label_model", "multi", "python", "endpoint")
_REASONS = {
    "text_similarity": "a measure of likeness of texts",
    "python": "code that gets other arguments; write it as a python assertion (module:function)",
    "endpoint": "a service of its own decides",
}
_KEYS = {
    "string_check": ("type", "name", "input", "reference", "operation"),
    "score_model": ("type", "name", "input", "model", "range", "pass_threshold", "sampling_params"),
    "label_model": ("type", "name", "input", "model", "labels", "passing_labels", "sampling_params"),
    "multi": ("type", "name", "graders", "calculate_output"),
}
_OUTPUT = re.compile(r"\{\{\s*sample\.(output_text|output_json|choices\[0\]\.message\.content)\s*\}\}")
_SAMPLE = re.compile(r"\{\{\s*sample\.")
_TERM = re.compile(r"(?:(\d+(?:\.\d+)?)\s*\*\s*)?([A-Za-z_]\w*)(?:\s*\*\s*(\d+(?:\.\d+)?))?")
_QUESTION = ("question", "input", "query", "prompt", "messages")


def item_texts(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What an item asks, where no prompt does: the member that is called so."""
    for key in _QUESTION:
        if item.get(key):
            found = messages_of(item[key], lambda _: None)
            return found or [{"role": "user", "content": as_text(item[key])}]
    return []


class Graders:
    """Reads graders into the draft."""

    def __init__(self, source: Source, draft: Draft) -> None:
        self._source, self._draft = source, draft

    def read(self, values: list[Any], path: str, *, single: bool = False) -> None:
        """Every grader of a list; `single`: the list was made of the one grader at the path."""
        for index, value in enumerate(values):
            at = path if single or (len(values) == 1 and not path) else f"{path}[{index}]"
            for assertion in self._one(value, at, 1.0):
                self._add(assertion, at)

    def _add(self, assertion: dict[str, Any], at: str) -> None:
        names = [name for _, text in assertion_texts(assertion) for name in placeholders(text)]
        case: dict[str, Any] = {"variables": dict.fromkeys(names, "x")}
        raw = Raw(source=self._source, path=at, case={})
        if not fitting(assertion, None if "provider" in assertion else self._draft.provider, raw, case):
            return
        held = self._draft.head.setdefault("assertions", [])
        taken, name, number = {one.get("name") for one in held}, assertion.get("name"), 2
        while name is not None and assertion["name"] in taken:
            assertion["name"], number = f"{name} {number}", number + 1
        held.append(assertion)
        self._draft.assertions += 1
        self._draft.wanted.update(names)

    def _one(self, value: Any, at: str, weight: float) -> list[dict[str, Any]]:
        kind = value.get("type") if isinstance(value, Mapping) else None
        if not isinstance(kind, str) or kind not in _KEYS:
            reason = _REASONS.get(kind, "no assertion of this type") if isinstance(kind, str) else "expected a grader"
            self._source.note(at, f"{reason} ({one_line(as_text(kind), 40)}); left out")
            return []
        for key in value:
            if key not in _KEYS[kind]:
                self._source.note(f"{at}.{key}", "no counterpart in an assertion; left out")
        if kind == "multi":
            return self._multi(value, at)
        makers = {"string_check": self._string_check, "score_model": self._score_model}
        made = makers.get(kind, self._label_model)(value, at)
        if made is None:
            return []
        name = one_line(as_text(value.get("name") or ""))
        common: dict[str, Any] = {"name": name} if name else {}
        if weight != 1:
            common["weight"] = weight
        return [{"type": made.pop("type"), **common, **made, AT: at}]

    def _string_check(self, value: Mapping[str, Any], at: str) -> dict[str, Any] | None:
        given, reference, operation = value.get("input"), value.get("reference"), value.get("operation")
        if not isinstance(given, str) or not isinstance(reference, str):
            self._source.note(at, "an input or a reference that is no text; left out")
            return None
        if operation in ("eq", "ne") and _OUTPUT.fullmatch(reference.strip()):
            given, reference = reference, given
        if not _OUTPUT.fullmatch(given.strip()) or computed(reference) or _SAMPLE.search(reference):
            self._source.note(at, "it compares something else than the output with a text; left out")
            return None
        text = template(reference, lambda _: None)
        made: dict[str, dict[str, Any]] = {
            "eq": {"type": "exact_match", "value": text},
            "ne": {"type": "exact_match", "value": text, "negate": True},
            "like": {"type": "contains", "value": text},
            "ilike": {"type": "contains", "value": text, "ignore_case": True},
        }
        if operation not in made:
            self._source.note(f"{at}.operation", "no assertion compares so; left out")
            return None
        return made[operation]

    def _score_model(self, value: Mapping[str, Any], at: str) -> dict[str, Any] | None:
        made = self._judge(value, at)
        if made is None:
            return None
        low, high = self._range(value.get("range"), at)
        if (low, high) != (0, 100):
            made["rubric"] += f"\n\nWhere scores from {low:g} to {high:g} are spoken of, bring them to 0 to 100."
        threshold = value.get("pass_threshold")
        if isinstance(threshold, int | float) and not isinstance(threshold, bool) and low <= threshold <= high:
            made["threshold"] = round((threshold - low) / (high - low) * 100, 6)
        else:
            self._source.note(
                f"{at}.pass_threshold", "no threshold within the range; the rubric's own holds, which is 80 of 100"
            )
        return made

    def _label_model(self, value: Mapping[str, Any], at: str) -> dict[str, Any] | None:
        labels, passing = (_labels(value.get(key)) for key in ("labels", "passing_labels"))
        others = [label for label in labels if label not in passing]
        if not passing or not others or len(passing) + len(others) > len(labels):
            self._source.note(at, "labels of which not some pass and the others do not; left out")
            return None
        made = self._judge(value, at)
        if made is None:
            return None
        good, bad = (template(", ".join(some), lambda _: None) for some in (passing, others))
        ends = f"Score 100 when it is one of: {good}; score 0 when it is one of: {bad}."
        made["rubric"] += f"\n\nChoose the label that fits. {ends}"
        self._source.note(at, "a choice among labels; it became a score, 100 for a label that passes and 0 otherwise")
        return {**made, "threshold": 50.0}

    def _judge(self, value: Mapping[str, Any], at: str) -> dict[str, Any] | None:
        """A judge by what a grader's messages say, without its threshold."""
        messages = messages_of(value.get("input"), lambda reason: self._source.note(f"{at}.input", reason))
        texts = [one["content"] for one in messages or [] if isinstance(one["content"], str)]
        text = _OUTPUT.sub("(the output, which is the last assistant message)", "\n\n".join(texts))
        if not text.strip():
            self._source.note(at, "no instruction for the model; left out")
            return None
        if computed(text) or _SAMPLE.search(text):
            self._source.note(at, "an instruction that is computed, or tells other parts of the sample; left out")
            return None
        if value.get("sampling_params"):
            self._source.note(f"{at}.sampling_params", "settings of the model; judges have their own")
        made: dict[str, Any] = {"type": "rubric_judge", "rubric": template(text, lambda _: None)}
        if isinstance(value.get("model"), str) and value["model"].strip():
            name = one_line(value["model"])
            made["provider"] = self._draft.add_provider({"name": name, "kind": "openai", "model": value["model"]})
        return made

    def _range(self, value: Any, at: str) -> tuple[float, float]:
        if value is None:
            return 0, 1
        numbers = value if isinstance(value, list) and len(value) == 2 else []
        if all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers) and numbers:
            low, high = numbers
            if low < high:
                return low, high
        self._source.note(f"{at}.range", "expected two numbers, the lower first; 0 to 1 is taken")
        return 0, 1

    def _multi(self, value: Mapping[str, Any], at: str) -> list[dict[str, Any]]:
        graders = value.get("graders")
        named: list[tuple[str, Any, str]] = []
        if isinstance(graders, Mapping):
            named = [(str(key), one, f"{at}.graders.{key}") for key, one in graders.items()]
        elif isinstance(graders, list):
            given = [one.get("name") if isinstance(one, Mapping) else None for one in graders]
            named = [(str(given[i]), one, f"{at}.graders[{i}]") for i, one in enumerate(graders)]
        weights = _weights(value.get("calculate_output"), {key for key, _, _ in named})
        if weights is None:
            self._source.note(
                f"{at}.calculate_output", "a formula that is no weighted sum; each grader stands by itself"
            )
        else:
            reason = (
                "a weighted sum without a threshold; the weights are kept, and pass_threshold of a case would set one"
            )
            self._source.note(f"{at}.calculate_output", reason)
        made: list[dict[str, Any]] = []
        for key, one, path in named:
            nested = isinstance(one, Mapping) and one.get("type") == "multi"
            if nested:
                self._source.note(path, "graders within graders within graders; left out")
                continue
            weight = (weights or {}).get(key, 1.0)
            if weight == 0:
                self._source.note(path, "it does not count in the formula; left out")
                continue
            made += self._one(one, path, weight)
        return made


def _labels(value: Any) -> list[str]:
    """Labels, each once and on one line."""
    found = [one_line(as_text(one)) for one in value] if isinstance(value, list) else []
    return [label for label in dict.fromkeys(found) if label]


def _weights(formula: Any, names: set[str]) -> dict[str, float] | None:
    """The weights of a sum such as `0.4 * a + 0.6 * b`; None where the formula is another one."""
    if not isinstance(formula, str) or len(formula) > 10_000:
        return None
    weights = dict.fromkeys(names, 0.0)
    for term in formula.split("+"):
        found = _TERM.fullmatch(term.strip())
        if found is None or found[2] not in names or (found[1] and found[3]):
            return None
        weights[found[2]] += float(found[1] or found[3] or 1)
    return weights
