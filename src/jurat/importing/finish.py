"""From what importers make to cases that a suite may hold, and to the suite around them.

A case is checked by the very reader of suites. A part that does not fit is left out with a note; a case whose name,
output or conversation does not fit is left out as a whole. Names become unique, `{{` in what was said becomes text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jurat.assertions import build_assertion
from jurat.assertions.table import JUDGE
from jurat.credentials import is_credential_name
from jurat.errors import AuthoringError, Fault
from jurat.importing.draft import Draft, Raw
from jurat.importing.secrets import Tell, clean, clean_text
from jurat.jsontext import Json
from jurat.suite.braces import OPEN, OPEN_BRACES, literal
from jurat.suite.case import Place
from jurat.suite.manifest_case import read_case
from jurat.suite.template import assertion_texts, fill_assertion, placeholders, template_faults

__all__ = ["AT", "compose", "finished", "fitting", "one_line"]

AT = "\0at"
"""The key under which an assertion says where it stands in its file."""

_VITAL = ("name", "output", "messages")
_DEEPEST = 90
"""A case stands a few levels deep in a suite, which may have 100."""
_ORDER = (
    *("name", "variables", "messages", "documents", "expected", "output", "execution", "labels", "metadata"),
    *("assertions", "pass_threshold"),
)
_PROMPTS = ("prompt", "prompts")
_HEAD = (
    *("schema_version", "suite", "description", "providers", "prompt", "prompts", "subject", "sampling", "policy"),
    *("limits", "assertions"),
)


def one_line(text: str, longest: int = 200) -> str:
    """A text as a name: on one line, without control characters, no longer than names may be."""
    shown = "".join(
        " " if character in "\u2028\u2029" or not character.isprintable() else character for character in text
    )
    return " ".join(shown.split())[:longest].strip()


def finished(raws: Iterable[Raw], draft: Draft) -> Iterator[dict[str, Json]]:
    """The cases, each as a suite may hold it, in order; what does not fit is noted."""
    for raw in raws:
        case = _case(raw, draft)
        if case is not None:
            draft.cases += 1
            draft.assertions += len(case.get("assertions", ()))
            draft.unanswered += "output" not in case
            yield case


def _case(raw: Raw, draft: Draft) -> dict[str, Json] | None:
    given = {
        key: part for key, part in raw.case.items() if part is not None and (part or key in ("expected", "output"))
    }
    if raw.literal and "messages" in given:
        given["messages"] = _literal_messages(given["messages"], given)
    for key in ("variables", "metadata", "labels"):
        if key in given:
            given[key] = clean(given[key], key, raw.note)
    if "execution" in given and "output" not in given:
        raw.note("execution", "known of an output that is not there; left out")
        del given["execution"]
    if "assertions" in given:
        provider = draft.provider
        given["assertions"] = [one for one in given["assertions"] if fitting(one, provider, raw, given)]
    if not any(key in given for key in ("output", "messages")) and not any(draft.head.get(key) for key in _PROMPTS):
        raw.note("", "nothing to ask, neither a prompt nor messages; the case is left out")
        return None
    given["name"] = _name(given.get("name"), draft)
    return _fitted({key: given[key] for key in _ORDER if given.get(key) not in ({}, []) and key in given}, raw)


def _name(wanted: object, draft: Draft) -> str:
    name = one_line(clean_text(str(wanted or ""))) or f"case-{draft.cases + 1}"
    made = name
    while made in draft.names:
        draft.names[name] += 1
        made = f"{name[:180]} ({draft.names[name]})"
    draft.names[made] = 1
    return made


def _literal_messages(messages: list[Any], case: dict[str, Any]) -> list[Any]:
    made: list[Any] = literal(messages)
    if made is messages:
        return messages
    case["variables"] = {**case.get("variables", {}), OPEN_BRACES: OPEN}
    return made


def fitting(assertion: dict[str, Any], provider: str | None, raw: Raw, case: dict[str, Any]) -> bool:
    """Whether an assertion can be asked as it stands; otherwise that is noted.

    A judge that names no provider gets `provider`. A placeholder without a value gets an empty one, as the templates of
    other tools have it. Under `AT` an importer may say where the assertion stands in its file; that is taken out.
    """
    at = assertion.pop(AT, None)
    if assertion.get("type") == JUDGE and provider is not None:
        assertion.setdefault("provider", provider)
    if isinstance(assertion.get("name"), str) and clean_text(assertion["name"]) != assertion["name"]:
        del assertion["name"]
        _note_at(at, f"name of {assertion.get('type')}", "what looks like a key, token or password; left out", raw)
    faults: list[Fault] = []
    for path, text in assertion_texts(assertion):
        template_faults(text, path, faults)
        _give_values(text, raw, case)
    if not faults:
        try:
            filled = fill_assertion(assertion, case.get("variables", {}))
            build_assertion(filled, judge_factory=_no_judge, allow_code=False)
        except AuthoringError as error:
            faults.extend(error.faults)
    if faults:
        first = faults[0]
        reason = f"expected {first.expected}, found {first.found}; the assertion is left out"
        _note_at(at, f"{first.path} of {assertion.get('type')}", reason, raw)
    return not faults


def _note_at(at: str | None, path: str, reason: str, raw: Raw) -> None:
    """Note something about a part of an assertion, where it stands in its file if that is known."""
    if at is None:
        raw.note(path, reason)
    else:
        raw.source.note(at, f"{path}: {reason}", line=raw.line)


def _give_values(text: str, raw: Raw, case: dict[str, Any]) -> None:
    for name in placeholders(text):
        if name not in case.setdefault("variables", {}):
            case["variables"][name] = ""
            raw.note("variables", f"nothing fills {{{{{name}}}}}; it stands for empty text")


class _Judge:
    """Stands for a judge where only the assertion is looked at."""

    name, revision = "judge", "0"


def _no_judge(_values: Mapping[str, Any], _path: str, _faults: list[Fault]) -> Any:
    return _Judge()


def _fitted(case: dict[str, Any], raw: Raw) -> dict[str, Json] | None:
    """The case without the parts that the reader of suites refuses; None when nothing would be left of it."""
    if _deeper(case, _DEEPEST):
        raw.note("", f"nested deeper than {_DEEPEST} levels; the case is left out")
        return None
    for _ in range(2 * len(_ORDER)):
        faults: list[Fault] = []
        read_case(case, "", faults, place=Place(file=raw.source.name, line=raw.line))
        if not faults:
            return case
        lost: dict[str, set[int]] = {}
        for fault in faults:
            found = _PART.match(fault.path)
            key, item = (found[1], found[2]) if found is not None else (fault.path, None)
            if key in _VITAL or key not in case:
                raw.note(fault.path, f"expected {fault.expected}, found {fault.found}; the case is left out")
                return None
            raw.note(fault.path, f"expected {fault.expected}, found {fault.found}; left out")
            lost.setdefault(key, set()).add(-1 if item is None else int(item))
        for key, items in lost.items():
            case = _without(case, key, items)
    raw.note("", "a case that no suite can hold; left out")
    return None


_PART = re.compile(r"(\w+)(?:\[(\d{1,9})\])?", re.ASCII)


def _without(case: dict[str, Any], key: str, items: set[int]) -> dict[str, Any]:
    """The case without these items of a list, or without the whole member."""
    if key == "variables":
        return {**case, key: _emptied(case[key])}
    if isinstance(case[key], list) and -1 not in items:
        kept = [one for index, one in enumerate(case[key]) if index not in items]
        if kept and len(kept) < len(case[key]):
            return {**case, key: kept}
    return {name: part for name, part in case.items() if name != key}


def _emptied(variables: Any) -> dict[str, str]:
    """The variables as empty texts, so that placeholders stay filled; what stands for braces keeps its own."""
    names = variables if isinstance(variables, Mapping) else {}
    return {name: OPEN if name == OPEN_BRACES else "" for name in names if not is_credential_name(name)}


def _deeper(value: Json, most: int) -> bool:
    """Whether lists and objects stand within one another more often than `most` times."""
    level = [value]
    for _ in range(most):
        parts = (part for one in level for part in (one.values() if isinstance(one, Mapping) else one))
        level = [part for part in parts if isinstance(part, Mapping | list | tuple)]
        if not level:
            return False
    return True


def compose(draft: Draft, name: str, tell: Tell = lambda _path, _reason: None) -> dict[str, Json]:
    """The suite without its cases, its members in the order in which people read them.

    Args:
        tell: takes where something of the suite itself looked like a secret, and what became of it.
    """
    head = {"schema_version": 1, **draft.head}
    head["suite"] = one_line(clean_text(str(head.get("suite") or ""))) or one_line(clean_text(name)) or "imported"
    if draft.unanswered and "subject" not in head:
        head["subject"] = draft.provider or "local"
    if not draft.unanswered and "prompt" not in head and "prompts" not in head:
        head.pop("subject", None)
    for key in ("prompt", "prompts", "description"):
        if key in head:
            head[key] = clean(head[key], key, tell)
    return {key: head[key] for key in _HEAD if key in head and head[key] not in ([], {}, None)}
