"""Reads the parts of a suite file that are neither cases nor assertions: prompts, the subject, sampling, limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from jurat.jsontext import Json
from jurat.suite.suite import Limits, Prompt, SubjectKind, SubjectSpec

__all__ = ["made_limits", "made_prompts", "made_subject"]

_RECORDED = SubjectSpec(kind=SubjectKind.RECORDED)


def made_prompts(read: Mapping[str, Any]) -> Iterator[tuple[Prompt, str]]:
    """The prompts of a file whose members were read, each with its path there."""
    if "prompt" in read:
        yield _prompt(read["prompt"], "prompt"), "prompt"
    prompts = read.get("prompts", {})
    if isinstance(prompts, Mapping):
        for name, value in prompts.items():
            yield _prompt(value, name), f"prompts.{name}"
    else:
        for index, value in enumerate(prompts):
            yield _prompt(value, value["name"]), f"prompts[{index}]"


def _prompt(value: str | Mapping[str, Any], name: str) -> Prompt:
    return Prompt(name=name, text=value) if isinstance(value, str) else Prompt(**{"name": name, **value})


def made_subject(value: str | Mapping[str, Any] | None) -> SubjectSpec:
    """The subject, in whichever spelling."""
    if value is None:
        return _RECORDED
    if isinstance(value, str):
        return SubjectSpec(kind=SubjectKind.PROVIDER, provider=value)
    given = dict(value)
    prompt = given.pop("prompt", None)
    if "provider" in given:
        return SubjectSpec(
            kind=SubjectKind.PROVIDER, provider=given.pop("provider"), prompt=prompt, settings=_frozen(given)
        )
    if "python" in given:
        function = given.pop("python")
        return SubjectSpec(kind=SubjectKind.PYTHON, prompt=prompt, settings=_frozen({"function": function, **given}))
    return SubjectSpec(kind=SubjectKind.HTTP, prompt=prompt, settings=_frozen(given["http"]))


def _frozen(value: Mapping[str, Json]) -> Mapping[str, Json]:
    return MappingProxyType(dict(value))


def made_limits(value: Mapping[str, Any]) -> Limits:
    """The limits; seconds and dollars become floats."""
    made: dict[str, Any] = {name: float(part) for name, part in value.items()}
    return Limits(**{**made, **{name: value[name] for name in ("concurrency",) if name in value}})
