"""Which cases: terms separated by blanks, all of which must hold.

    GLOB, name:GLOB          the case's name
    label:GLOB               one of its labels
    metadata.key=GLOB        a member of its metadata, as text; deeper ones by further dots
    !TERM                    the opposite

In a GLOB `*` stands for anything, `?` for one character, `[abc]` for one of some; upper and lower case differ.
Quotation marks keep blanks together: label:"needs review".
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping

from jurat.errors import AuthoringError, Fault
from jurat.jsontext import Json, canonical
from jurat.suite.case import Case
from jurat.vocabulary import nearest

__all__ = ["parse_filter"]

Test = Callable[[Case], bool]

_TERM = re.compile(r'(?:[^\s"]|"[^"]*")+')
_FIELD = re.compile(r"([A-Za-z_]+):(.*)", re.DOTALL)
_MEMBER = re.compile(r"metadata\.([^=]+)=(.*)", re.DOTALL)
_FIELDS = ("name", "label")
_LONGEST = 4_000


def parse_filter(expr: str) -> Callable[[Case], bool]:
    """The test that an expression stands for.

    Raises:
        AuthoringError: for an expression without a term, and for terms that cannot be read; with all of them.
    """
    faults: list[Fault] = []
    tests = list(_tests(expr, faults))
    if not tests and not faults:
        faults.append(_fault("at least one term, such as name:billing-* or label:smoke", "none"))
    if faults:
        raise AuthoringError("filter", faults)
    return lambda case: all(test(case) for test in tests)


def _fault(expected: str, found: str, hint: str | None = None) -> Fault:
    return Fault(path="--filter", expected=expected, found=found, hint=hint)


def _tests(expr: str, faults: list[Fault]) -> Iterator[Test]:
    if len(expr) > _LONGEST:
        faults.append(_fault(f"at most {_LONGEST:,} characters", f"{len(expr):,}"))
        return
    if expr.count('"') % 2:
        faults.append(_fault("quotation marks in pairs", "one that is never closed"))
        return
    for term in _TERM.findall(expr):
        if (test := _term(term, faults)) is not None:
            yield test


def _term(term: str, faults: list[Fault]) -> Test | None:
    if term.startswith("!"):
        inner = _term(term[1:], faults) if len(term) > 1 else None
        if len(term) == 1:
            faults.append(_fault("a term behind !", "nothing"))
        return None if inner is None else lambda case: not inner(case)
    if member := _MEMBER.fullmatch(term):
        return _by_metadata(member[1], _glob(member[2]))
    if term.startswith("metadata"):
        faults.append(_fault("metadata.key=GLOB", repr(term[:60])))
        return None
    if (field := _FIELD.fullmatch(term)) and not field[2].startswith("//"):
        return _by_field(field[1], field[2], term, faults)
    return _by_name(_glob(term))


def _by_field(field: str, glob: str, term: str, faults: list[Fault]) -> Test | None:
    if field not in _FIELDS:
        near = nearest(field, (*_FIELDS, "metadata"))
        hint = f"Did you mean {near}?" if near else f'For a name with a colon, write name:"{term[:60]}"'
        faults.append(_fault("name:GLOB, label:GLOB or metadata.key=GLOB", repr(term[:60]), hint))
        return None
    if not glob:
        faults.append(_fault(f"a GLOB behind {field}:", "nothing"))
        return None
    matches = _glob(glob)
    if field == "name":
        return _by_name(matches)
    return lambda case: any(map(matches, case.labels))


def _by_name(matches: Callable[[str], object]) -> Test:
    return lambda case: bool(matches(case.name))


def _by_metadata(key: str, matches: Callable[[str], object]) -> Test:
    def test(case: Case) -> bool:
        found, text = _member(case.metadata, key.replace('"', ""))
        return found and bool(matches(text))

    return test


def _member(value: Json, path: str) -> tuple[bool, str]:
    """The member at a dotted path as text, and whether there is one. A key that holds dots itself comes first."""
    if isinstance(value, Mapping):
        if path in value:
            part = value[path]
            return True, part if isinstance(part, str) else canonical(part)
        head, dot, rest = path.partition(".")
        if dot and head in value:
            return _member(value[head], rest)
    return False, ""


def _glob(glob: str) -> Callable[[str], object]:
    return re.compile(fnmatch.translate(glob.replace('"', ""))).match
