"""What stands above the tests of a promptfoo configuration: prompts, providers, options of a run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from jurat.importing.draft import Draft
from jurat.importing.finish import one_line
from jurat.importing.nunjucks import template
from jurat.importing.promptfoo_files import as_tree, content
from jurat.importing.source import Source
from jurat.importing.talk import messages_of, parsed
from jurat.importing.vendors import provider_row, sampling_of, settings_left
from jurat.suite.template import placeholders, texts_within

__all__ = ["judge_of", "read_head"]

_BESIDE = "not mapped: a setting of a model that stands beside; write it into subject when this one takes its place"
_GRADES = "not mapped: a setting of a model that grades; a judge has settings of its own"
_BETWEEN = re.compile(r"(?m)^---[ \t]*(?:\n|$)")

_READ = (
    *("description", "prompts", "providers", "targets", "tests", "defaultTest", "evaluateOptions"),
    *("assertionTemplates", "scenarios", "$schema"),
)


def read_head(config: Mapping[str, Any], source: Source, draft: Draft) -> tuple[str, ...]:
    """Read prompts, providers and options into the draft.

    Returns:
        The names that the prompt which is used wants filled.
    """
    for key in config:
        if key not in _READ:
            source.note(one_line(str(key)), "no counterpart in a suite; left out")
    if isinstance(config.get("description"), str):
        draft.head["description"] = config["description"]
    first = _prompts(config.get("prompts"), source, draft)
    _subject(config, source, draft, first)
    _options(config.get("evaluateOptions"), source, draft)
    used = draft.head.get("prompt", draft.head.get("prompts", {}).get(first))
    return tuple(dict.fromkeys(name for _, text in texts_within(used, "") for name in placeholders(text)))


# --- prompts -------------------------------------------------------------------------------------------------------


def _prompts(value: Any, source: Source, draft: Draft) -> str | None:
    """Read the prompts; the name of the first where there are several."""
    made: dict[str, Any] = {}
    values = value if isinstance(value, list) else [value] if value is not None else []
    for index, one in enumerate(values):
        path = f"prompts[{index}]" if isinstance(value, list) else "prompts"
        label, text = _labelled(one, index)
        for number, text_of in enumerate(_texts(text, source), 1):
            prompt = _prompt(text_of, partial(source.note, path))
            own = label if number == 1 else f"{label} {number}"
            while own in made:
                own += "'"
            if prompt is not None:
                made[own] = prompt
    if len(made) < 2:
        draft.head["prompt"] = next(iter(made.values()), None)
        return None
    draft.head["prompts"] = made
    first = next(iter(made))
    source.note(
        "prompts", f"a suite's subject takes one prompt: {first}. For the others, set subject.prompt and run again"
    )
    return first


def _labelled(one: Any, index: int) -> tuple[str, Any]:
    if isinstance(one, Mapping):
        label = next((one[key] for key in ("label", "id") if isinstance(one.get(key), str)), "")
        return one_line(label) or f"prompt-{index + 1}", one.get("raw", one.get("prompt", one.get("id")))
    return f"prompt-{index + 1}", one


def _texts(text: Any, source: Source) -> list[Any]:
    """A prompt's text; those of a file beside the configuration, where it names one: lines of `---` stand between."""
    if not isinstance(text, str) or "\n" in text or not text.endswith((".txt", ".md", ".json", ".yaml", ".yml")):
        return [text]
    found = content(text, source)
    if found is None:
        return [text]
    parts = _BETWEEN.split(found) if text.endswith(".txt") else [found]
    return [part for part in parts if part.strip()] or [found]


def _prompt(text: Any, tell: Any) -> Any:
    if not isinstance(text, str) or not text.strip():
        tell("expected a prompt's text; left out")
        return None
    if text.startswith(("file://", "exec:", "python:")) or text.endswith(
        (".txt", ".json", ".py", ".js", ".md", ".yaml", ".yml")
    ):
        tell("a prompt of another file; put its text in its place")
        return None
    messages = messages_of(parsed(text), tell)
    if messages is None:
        return template(text, tell)
    system = [one["content"] for one in messages if one["role"] == "system" and isinstance(one["content"], str)]
    others = [{**one, "content": _filled(one["content"], tell)} for one in messages if one["role"] != "system"]
    made: dict[str, Any] = {"system": template("\n\n".join(system), tell)} if system else {}
    if others and others[-1]["role"] == "user" and isinstance(others[-1]["content"], str):
        made["text"] = others.pop()["content"]
    return {**made, "messages": others} if others else made


def _filled(content: Any, tell: Any) -> Any:
    if isinstance(content, str):
        return template(content, tell)
    return [{**one, "text": template(one["text"], tell)} if one.get("type") == "text" else one for one in content]


# --- who answers ---------------------------------------------------------------------------------------------------


def _subject(config: Mapping[str, Any], source: Source, draft: Draft, prompt: str | None) -> None:
    key = "targets" if "targets" in config and "providers" not in config else "providers"
    value = as_tree(config.get(key), key, source, "providers")
    values = value if isinstance(value, list) else [value] if value is not None else []
    subject: dict[str, Any] | None = None
    for index, one in enumerate(values):
        path = f"{key}[{index}]" if isinstance(value, list) else key
        made = _provider(one, path, source, draft, None if subject is None else _BESIDE)
        if made is not None and subject is None:
            subject = made
        elif made is not None:
            source.note(
                path, f"a suite has one subject; {made['provider']} stands beside it, to take its place and run again"
            )
    subject = subject or {"provider": draft.provider or "local"}
    draft.head["subject"] = {**subject, "prompt": prompt} if prompt else subject


def _provider(one: Any, path: str, source: Source, draft: Draft, unmapped: str | None) -> dict[str, Any] | None:
    """The subject that a provider makes, its row added. `unmapped`: why its settings are left out, if it is none."""
    name, settings = _named(one)
    if name is None:
        source.note(path, "expected a provider's id; left out")
        return None
    config = settings.get("config")
    config = config if isinstance(config, Mapping) else {}

    def tell(inner: str, reason: str) -> None:
        source.note(f"{path}.{inner}" if inner else path, reason)

    label = settings.get("label")
    row = provider_row(name, config, label if isinstance(label, str) else None, tell)
    if row is None:
        return None
    for other in settings:
        if other not in ("id", "label", "config"):
            tell(one_line(str(other)), "no counterpart in a provider row; left out")
    added = {"provider": draft.add_provider(row)}
    if unmapped is None:
        return {**added, **sampling_of(config, tell)}
    settings_left(config, unmapped, tell)
    return added


def _named(one: Any) -> tuple[str | None, Mapping[str, Any]]:
    """A provider's id and its settings, in whichever of the three spellings."""
    if isinstance(one, str):
        return one, {}
    if not isinstance(one, Mapping):
        return None, {}
    if isinstance(one.get("id"), str):
        return one["id"], one
    if len(one) == 1:
        name, settings = next(iter(one.items()))
        return str(name), settings if isinstance(settings, Mapping) else {}
    return None, {}


def judge_of(value: Any, path: str, source: Source, draft: Draft) -> str | None:
    """The name of the provider that grades, with its row added; None where there is none, or none that is known."""
    if isinstance(value, Mapping) and isinstance(value.get("text"), str | Mapping):
        value = value["text"]
    if value is None:
        return None
    made = _provider(value, path, source, draft, _GRADES)
    return made["provider"] if made else None


def _options(value: Any, source: Source, draft: Draft) -> None:
    if not isinstance(value, Mapping):
        return
    for key, one in value.items():
        whole = isinstance(one, int) and not isinstance(one, bool)
        if key == "repeat" and whole and 1 <= one <= 20:
            draft.head["sampling"] = {"samples": one}
        elif key == "maxConcurrency" and whole and 1 <= one <= 10_000:
            draft.head["limits"] = {"concurrency": one}
        elif key not in ("showProgressBar", "cache"):
            source.note(f"evaluateOptions.{one_line(str(key))}", "no counterpart in a suite; left out")
