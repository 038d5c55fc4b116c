"""Cases, prompts and suites as plain data: what snapshots hold, and what content hashes are made of.

Only what decides an outcome is in it: not the files and lines where it was written, nor how it was spelled. What has
its default is left out, so that a field which a later version adds changes no hash of today. What is written here reads
back as the same; reading believes what it is given, since it was checked when it was authored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from jurat.evidence import ImageBlock, Message, message_from_json, message_to_json
from jurat.evidence.picture import Pictures
from jurat.jsontext import Json, freeze
from jurat.suite.case import Case, CaseDocument
from jurat.suite.suite import Limits, Prompt, SubjectKind, SubjectSpec, Suite
from jurat.vocabulary import content_id

__all__ = [
    "case_from_json",
    "case_hash",
    "case_to_json",
    "prompt_from_json",
    "prompt_hash",
    "prompt_to_json",
    "subject_to_json",
    "suite_from_json",
    "suite_hash",
    "suite_to_json",
]


def _hash(value: Json) -> str:
    # As jsontext.canonical, for values that are frozen or made here and so need no second check.
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False, default=dict)
    return content_id(text.encode())


def _plain(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


# --- cases ---------------------------------------------------------------------------------------------------------

_CASE_FIELDS = tuple(field.name for field in fields(Case) if field.name != "place")


def case_to_json(case: Case) -> dict[str, Json]:
    """A case as plain data."""
    made: dict[str, Json] = _plain(_case(case))
    return made


def _case(case: Case) -> dict[str, Json]:
    made: dict[str, Json] = {}
    for name in _CASE_FIELDS:
        value = getattr(case, name)
        if value is not None and (value or name == "expected" or not isinstance(value, Mapping | tuple)):
            made[name] = value
    if case.messages:
        pictures: Pictures = "kept" if case.output is None else "recorded"  # nobody is shown those of a recorded answer
        made["messages"] = [message_to_json(message, pictures) for message in case.messages]
    if case.documents:
        made["documents"] = [_document(document) for document in case.documents]
    if case.pictures:
        made["pictures"] = [picture.to_json() for picture in case.pictures]
    return made


def _document(document: CaseDocument) -> dict[str, Json]:
    """A document by its content; by its path as long as it has not been read, or where it is to be shown as it is."""
    made = {name: getattr(document, name) for name in ("name", "media_type", "text", "sha256")}
    if document.sha256 is None or document.attach:
        made["path"] = document.path
    if document.attach:
        made["attach"] = True
    return {name: value for name, value in made.items() if value is not None}


def case_hash(case: Case) -> str:
    """The name of a case by its content: `sha256:…`."""
    return _hash(_case(case))


def case_from_json(value: Mapping[str, Json]) -> Case:
    """The case that `case_to_json` wrote, without its place."""
    made: dict[str, Any] = dict(freeze(value))
    if "messages" in made:
        made["messages"] = _messages(made["messages"])
    if "documents" in made:
        made["documents"] = tuple(CaseDocument(**document) for document in made["documents"])
    if "pictures" in made:
        read = ({name: part for name, part in picture.items() if name != "type"} for picture in made["pictures"])
        made["pictures"] = tuple(ImageBlock(**picture) for picture in read)
    return Case(**made)


def _messages(values: Iterable[Json]) -> tuple[Message, ...]:
    read = (message_from_json(value, "", []) for value in values)
    return tuple(message for message in read if message is not None)


# --- prompts and the suite -----------------------------------------------------------------------------------------


def prompt_to_json(prompt: Prompt) -> dict[str, Json]:
    """A prompt version as plain data. Its name is how the suite calls it, and no part of what it says."""
    made: dict[str, Json] = {
        "system": prompt.system,
        "text": prompt.text,
        "messages": _plain([message_to_json(message, "kept") for message in prompt.messages]),
    }
    return {name: value for name, value in made.items() if value not in (None, [])}


def prompt_hash(prompt: Prompt) -> str:
    """The name of a prompt version by what it says: `sha256:…`."""
    return _hash(prompt_to_json(prompt))


def prompt_from_json(value: Mapping[str, Json], name: str = "prompt") -> Prompt:
    """The prompt that `prompt_to_json` wrote."""
    return Prompt(
        name=name,
        system=value.get("system"),
        text=value.get("text"),
        messages=_messages(freeze(value.get("messages", []))),
    )


def subject_to_json(subject: SubjectSpec) -> dict[str, Json]:
    """Who answers, as the suite says it, as plain data."""
    made = {
        "kind": subject.kind.value,
        "provider": subject.provider,
        "prompt": subject.prompt,
        "settings": _plain(subject.settings),
    }
    return {name: value for name, value in made.items() if value not in (None, {})}


def suite_to_json(suite: Suite, case_hashes: Sequence[str] | None = None) -> dict[str, Json]:
    """A suite as plain data, its cases by their hashes, in order.

    Args:
        case_hashes: of its cases, where they are known already.
    """
    hashes = case_hashes if case_hashes is not None else [case_hash(case) for case in suite.cases]
    limits = {field.name: getattr(suite.limits, field.name) for field in fields(Limits)}
    made: dict[str, Json] = {
        "suite": suite.name,
        "description": suite.description,
        "providers": [_plain(row) for row in suite.providers.values()],
        "prompts": [{"name": prompt.name, **prompt_to_json(prompt)} for prompt in suite.prompts],
        "subject": subject_to_json(suite.subject),
        "samples": suite.samples,
        "reducer": _plain(suite.reducer),
        "policy": _plain(suite.policy),
        "limits": {name: value for name, value in limits.items() if value is not None},
        "cases": list(hashes),
    }
    return {name: value for name, value in made.items() if value not in (None, [], {})}


def suite_hash(suite: Suite, case_hashes: Sequence[str] | None = None) -> str:
    """The name of a suite by its content: `sha256:…` of `suite_to_json`."""
    return _hash(suite_to_json(suite, case_hashes))


def suite_from_json(value: Mapping[str, Json], cases: Iterable[Case]) -> Suite:
    """The suite that `suite_to_json` wrote, together with its cases."""
    read: dict[str, Any] = dict(freeze(value))
    subject = dict(read["subject"])
    return Suite(
        name=read["suite"],
        description=read.get("description"),
        subject=SubjectSpec(**{**subject, "kind": SubjectKind(subject["kind"])}),
        cases=tuple(cases),
        providers=freeze({row["name"]: row for row in read.get("providers", ())}),
        prompts=tuple(prompt_from_json(one, one["name"]) for one in read.get("prompts", ())),
        samples=read.get("samples", 1),
        reducer=read.get("reducer", "all"),
        policy=read.get("policy", ()),
        limits=Limits(**read.get("limits", {})),
    )
