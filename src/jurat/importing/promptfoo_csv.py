"""Rows of promptfoo's CSV as tests: columns are variables; those that begin with `__` say what is expected."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from jurat.importing.talk import as_text

__all__ = ["test_of"]

Tell = Callable[[str, str], None]

_EXPECTED = re.compile(r"__expected(\d*)")
_CONFIG = re.compile(r"__config:(__expected\d*):(threshold)")
_ASSERTION = re.compile(
    r"(?P<type>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?:\((?P<limit>\d{1,9}(?:\.\d{1,9})?)\))?(?::(?P<value>.*))?", re.DOTALL
)
_BARE = (
    *("is-json", "is-xml", "is-html", "is-sql", "is-refusal"),
    *("contains-json", "contains-html", "contains-xml", "contains-sql"),
)
"""Types that a cell may hold with nothing behind them."""
_WITH_VALUE = (
    *("contains", "icontains", "contains-all", "contains-any", "icontains-all", "icontains-any", "starts-with"),
    *("equals", "regex", "llm-rubric", "model-graded-closedqa", "factuality", "model-graded-factuality", "g-eval"),
    *("javascript", "python", "similar", "latency", "cost", "levenshtein", "rouge-n", "bleu", "perplexity"),
    *("perplexity-score", "answer-relevance", "context-faithfulness", "context-recall", "context-relevance", "webhook"),
    *("classifier", "moderation", "select-best", "is-valid-openai-tools-call", "is-valid-openai-function-call", *_BARE),
)
_LISTS = ("contains-all", "contains-any", "icontains-all", "icontains-any")
_OTHER_NAMES = {"fn": "javascript", "eval": "javascript", "grade": "llm-rubric"}
_OUTPUT, _DESCRIPTION, _THRESHOLD, _METRIC = "__providerOutput", "__description", "__threshold", "__metric"
_METADATA = "__metadata:"


def test_of(row: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """A row as a test like those of a configuration. Columns that have no counterpart are told."""
    made: dict[str, Any] = {"vars": {}, "assert": [], "metadata": {}}
    limits = {found[1]: cell for key, cell in row.items() if (found := _CONFIG.fullmatch(key)) and cell}
    metric = as_text(row.get(_METRIC) or "").strip()
    for key, cell in row.items():
        text = as_text(cell if cell is not None else "")
        if _EXPECTED.fullmatch(key):
            made["assert"] += _assertions(text, limits.get(key), metric, key, tell)
        elif key.startswith(_METADATA):
            if text:
                made["metadata"][key.removeprefix(_METADATA).removesuffix("[]")] = text
        elif not key.startswith("__"):
            made["vars"][key] = text
        elif key not in (_OUTPUT, _DESCRIPTION, _THRESHOLD, _METRIC) and not _CONFIG.fullmatch(key) and text:
            tell(key, "no counterpart in a case; left out")
    for key, name in ((_OUTPUT, "providerOutput"), (_DESCRIPTION, "description")):
        if row.get(key):
            made[name] = as_text(row[key])
    if row.get(_THRESHOLD):
        made["threshold"] = _number(row[_THRESHOLD], row[_THRESHOLD])
    return made


def _assertions(text: str, limit: Any, metric: str, key: str, tell: Tell) -> list[dict[str, Any]]:
    """What one cell expects; a text that names no type is what the output has to be."""
    if not text.strip():
        return []
    found = _ASSERTION.fullmatch(text)
    named = "" if found is None else _OTHER_NAMES.get(found["type"], found["type"])
    base = named.removeprefix("not-")
    made: dict[str, Any] = {"type": "equals", "value": text}
    if text.startswith("file://"):
        tell(key, "what another file says, or code; left out")
        return []
    if found is not None and base in _WITH_VALUE and (found["value"] is not None or base in _BARE or found["limit"]):
        value = found["value"]
        made = {"type": named}
        if value is not None and value.strip():
            made["value"] = [part.strip() for part in value.split(",")] if base in _LISTS else value.strip()
        if found["limit"]:
            made["threshold"] = float(found["limit"])
        elif base in ("latency", "cost") and value is not None:
            made["threshold"] = _number(value, None)
    if limit is not None:
        made["threshold"] = _number(limit, limit)
    return [{**made, **({"metric": metric} if metric else {})}]


def _number(text: Any, otherwise: Any) -> Any:
    try:
        return float(as_text(text))
    except ValueError:
        return otherwise
