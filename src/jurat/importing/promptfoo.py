"""Configurations of promptfoo: prompts, providers, tests with their variables and assertions, defaults.

A suite has one subject and one prompt, so of several the first is taken and the others stand beside it. Variables that
are lists become a case for each combination, as promptfoo runs them. What is computed, or stands in other files, is
listed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

from jurat.errors import AuthoringError, Fault
from jurat.importing.draft import Draft, Raw
from jurat.importing.finish import fitting, one_line
from jurat.importing.nunjucks import renamed, resolved, template, woven
from jurat.importing.promptfoo_asserts import Asserts
from jurat.importing.promptfoo_files import Found, content, object_of, tests_of, variables_of
from jurat.importing.promptfoo_head import read_head
from jurat.importing.source import Source
from jurat.importing.talk import as_text
from jurat.jsontext import Json, type_name
from jurat.suite.braces import OPEN, OPEN_BRACES
from jurat.suite.template import assertion_texts, placeholders

__all__ = ["read", "recognises"]

_MOST_COMBINATIONS = 1_000
_OF_CONFIG = ("prompts", "providers", "targets", "tests", "defaultTest", "scenarios", "evaluateOptions", "description")
_READ = ("description", "vars", "assert", "threshold", "metadata", "providerOutput", "options")
_OPTIONS = ("provider", "disableVarExpansion", "disableDefaultAsserts")


def recognises(sample: Json, kind: str) -> bool:
    """Whether a document is such a configuration."""
    if kind != "document" or not isinstance(sample, Mapping):
        return False
    return "prompts" in sample and any(key in sample for key in ("providers", "targets", "tests", "defaultTest"))


def read(source: Source, draft: Draft) -> Iterator[Raw]:
    """The cases of a configuration."""
    config = source.value() if source.kind == "document" else None
    if not isinstance(config, Mapping) or not any(key in config for key in _OF_CONFIG):
        expected = "an object with prompts, providers and tests"
        fault = Fault(path="", expected=expected, found=type_name(config), file=source.name)
        raise AuthoringError("promptfoo", [fault])
    used = read_head(config, source, draft)
    default = object_of(config.get("defaultTest"), "defaultTest", source)
    yield from _Tests(source, draft, config, default, used).cases()


class _Tests:
    """Makes cases of tests, in the light of the defaults."""

    def __init__(
        self, source: Source, draft: Draft, config: Mapping[str, Any], default: Mapping[str, Any], used: tuple[str, ...]
    ) -> None:
        self._source, self._draft, self._default, self._used = source, draft, default, used
        self._config = config
        self._default_vars = self._variables(default.get("vars"), "defaultTest.vars", source)
        self._known: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        self._defaults: list[dict[str, Any]] = []

    def cases(self) -> Iterator[Raw]:
        """All cases."""
        tests = self._config.get("tests")
        # In files that are yet to be read a test may want the defaults left out.
        here = tests if isinstance(tests, list) else [] if tests is None else [None]
        plain = all(isinstance(test, Mapping) and not _option(test, "disableDefaultAsserts") for test in here)
        self._read_defaults(shared=plain and "scenarios" not in self._config)
        for found in tests_of(self._config, self._source):
            yield from self._expanded(found)

    def _read_defaults(self, *, shared: bool) -> None:
        default, source = self._default, self._source
        self._others(default, "defaultTest", source)
        judge = _option(default, "provider")
        made = self._asserts(source, default.get("assert"), "defaultTest.assert", judge)
        everywhere: list[dict[str, Any]] = []
        for one in made:
            whole = shared and not any(placeholders(text) for _, text in assertion_texts(one))
            (everywhere if whole else self._defaults).append(one)
        raw = Raw(source=source, path="defaultTest", case={})
        fit = [one for one in everywhere if fitting(one, self._draft.provider, raw, {})]
        self._draft.head["assertions"] = fit
        self._draft.assertions += len(fit)

    def _asserts(self, source: Source, values: Any, path: str, judge: Any) -> list[dict[str, Any]]:
        return Asserts(source, self._draft, self._config.get("assertionTemplates")).read(values, path, judge)

    def _others(self, test: Mapping[str, Any], path: str, source: Source) -> None:
        """Tell what a test holds that no case can."""
        for key in test:
            if key not in _READ:
                source.note(_join(path, one_line(str(key))), _why(key))
        options = test.get("options")
        for key in options if isinstance(options, Mapping) else ():
            if key not in _OPTIONS:
                source.note(_join(path, f"options.{one_line(str(key))}"), _why(key))

    def _expanded(self, found: Found) -> Iterator[Raw]:
        source, path, test = found.source, found.path, found.test
        self._others(test, path, source)
        variables = {
            **self._default_vars,
            **self._variables(found.base.get("vars"), f"{found.base_path}.vars", self._source),
            **self._variables(test.get("vars"), _join(path, "vars"), source),
        }
        own = self._own(found)
        name = one_line(str(test.get("description") or found.base.get("description") or "")) or found.name
        lists = self._lists(found, variables)
        for values in itertools.product(*lists.values()):
            chosen = self._woven({**variables, **dict(zip(lists, values, strict=True))}, found)
            yield self._raw(found, name, chosen, [dict(one) for one in own])

    def _own(self, found: Found) -> list[dict[str, Any]]:
        """The assertions of a test, with those of its scenario and the defaults; what is listed of them, once."""
        judge = self._option(found, "provider")
        own: list[dict[str, Any]] = []
        parts = (
            (self._source, found.base.get("assert"), _join(found.base_path, "assert")),
            (found.source, found.test.get("assert"), _join(found.path, "assert")),
        )
        for source, values, path in parts:
            key = (source.name, path, as_text(judge) if found.base else "")
            if not found.base or key not in self._known:
                self._known[key] = self._asserts(source, values, path, judge)
            own += self._known[key]
        return own if self._option(found, "disableDefaultAsserts") else [*self._defaults, *own]

    def _option(self, found: Found, name: str) -> Any:
        return next(
            (one for part in (found.test, found.base, self._default) if (one := _option(part, name)) is not None), None
        )

    def _lists(self, found: Found, variables: Mapping[str, Any]) -> dict[str, list[Any]]:
        """The variables that are lists, of which each value is a case."""
        if self._option(found, "disableVarExpansion"):
            return {}
        lists = {name: value for name, value in variables.items() if isinstance(value, list) and value}
        if math.prod(len(value) for value in lists.values()) > _MOST_COMBINATIONS:
            reason = f"more than {_MOST_COMBINATIONS:,} combinations; the lists stay as they are"
            found.source.note(_join(found.path, "vars"), reason)
            return {}
        return lists

    def _variables(self, value: Any, path: str, source: Source) -> dict[str, Any]:
        made = variables_of(value, path, source)
        for name, part in list(made.items()):
            if isinstance(part, str) and part.startswith("file://"):
                text = content(part, source)
                if text is None:
                    source.note(f"{path}.{name}", "a value in another file; its name stands in its place")
                made[name] = part if text is None else text
        return made

    def _woven(self, variables: dict[str, Any], found: Found) -> dict[str, Any]:
        """The variables, those that name others filled with them: a suite never fills a value."""
        made = {name: woven(part, variables) if isinstance(part, str) else part for name, part in variables.items()}
        for name, part in made.items():
            if isinstance(part, str) and OPEN in part:
                reason = "a value with a template that cannot be filled; in a suite it is text"
                found.source.note(_join(found.path, f"vars.{name}"), reason)
        return made

    def _raw(self, found: Found, name: str, variables: dict[str, Any], own: list[dict[str, Any]]) -> Raw:
        case: dict[str, Any] = {"name": name, "variables": {renamed(key): part for key, part in variables.items()}}
        raw = Raw(source=found.source, path=found.path, case=case, literal=False)
        for key in variables:
            if renamed(key) != key:
                case["variables"][renamed(key)] = "***"
                raw.note(
                    f"vars.{key}", f"a variable by the name of a secret; it is {renamed(key)} now, and its value ***"
                )
        self._fill(case, own, variables, raw)
        parts = (self._default, found.base, found.test)
        metadata: dict[str, Any] = {}
        for part in parts:
            metadata.update(_mapping(part.get("metadata")))
        whole = {**found.base, **found.test}
        if "providerOutput" in whole:
            given = whole["providerOutput"]
            case["output"] = given if isinstance(given, str) else template(as_text(given), lambda _: None)
        threshold = self._threshold(whole, raw)
        case.update(metadata=metadata, assertions=own, pass_threshold=threshold)
        return raw

    def _fill(self, case: dict[str, Any], own: list[dict[str, Any]], variables: dict[str, Any], raw: Raw) -> None:
        """Give every placeholder of the prompt and the assertions a value of its own."""
        wanted = [
            *self._used,
            *(name for one in own for _, text in assertion_texts(one) for name in placeholders(text)),
        ]
        for name in dict.fromkeys(wanted):
            if name == OPEN_BRACES:
                case["variables"][name] = OPEN
            elif name not in case["variables"]:
                value = resolved(name, variables)
                if value is None:
                    raw.note("vars", f"nothing fills {{{{{name}}}}}; it stands for empty text")
                case["variables"][name] = "" if value is None else value

    def _threshold(self, test: Mapping[str, Any], raw: Raw) -> float | None:
        value = test.get("threshold", self._default.get("threshold"))
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            raw.note(
                "threshold", "a threshold that is not above 0 and at most 1; left out, so every assertion has to pass"
            )
            return None
        return value


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _why(key: object) -> str:
    """Why a member of a test has no counterpart."""
    if key in ("transform", "postprocess"):
        return "what is checked is computed from the output first; here assertions look at the output as it is"
    return "no counterpart in a case; left out"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _option(test: Any, name: str) -> Any:
    return _mapping(_mapping(test).get("options")).get(name)
