"""From what a suite file says to assertions that can be asked, or every fault at once.

Unknown types and keys name the nearest known one; a value of the wrong kind says what was expected and what was found;
nothing is taken for something else (true is no number, 1 no text). All of this happens before anything is spent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from jurat.assertions import plugins
from jurat.assertions.assertion import Assertion, Given, asking_judge, asking_user_code
from jurat.assertions.kinds import INVALID
from jurat.assertions.outcome import REVISION
from jurat.assertions.table import COMMON, JUDGE, TYPES, AssertionType, Key
from jurat.errors import AuthoringError, Fault
from jurat.evaluation import Evaluator
from jurat.evidence.conversation import refuse_unknown
from jurat.jsontext import Json, NotJson, freeze, type_name
from jurat.suite.shapes import inner
from jurat.vocabulary import nearest

__all__ = ["JudgeFactory", "build_assertion", "build_assertions"]

_NONE: Mapping[int, Assertion] = MappingProxyType({})
JudgeFactory = Callable[[Mapping[str, Any], str, "list[Fault]"], "Evaluator | None"]
"""Makes the judge of a `rubric_judge` assertion: the values that were read (main names, only keys that were given, and
`name`), the path for faults, the list to add them to. An AuthoringError that it raises is taken in as faults."""


def build_assertion(
    value: object, *, path: str = "", judge_factory: JudgeFactory | None = None, allow_code: bool = True
) -> Assertion:
    """One assertion.

    Args:
        value: the mapping, as it was written.
        path: where it was written (`cases[0].assertions[1]`), for the faults.
        judge_factory: makes the judges; without it, `rubric_judge` is a fault.
        allow_code: whether an assertion may run code: `python`, and evaluators of other distributions.

    Raises:
        AuthoringError: with every fault.
    """
    faults: list[Fault] = []
    made = _Reader(judge_factory, allow_code, faults).assertion(value, path, _name(value, set()))
    if made is None or faults:
        raise AuthoringError("assertion", faults)
    return made


def build_assertions(
    values: object,
    *,
    path: str = "assertions",
    judge_factory: JudgeFactory | None = None,
    allow_code: bool = True,
    made_before: Mapping[int, Assertion] = _NONE,
) -> tuple[Assertion, ...]:
    """The assertions of one case, in order, each under a name of its own.

    Where the author gave no names, the second `contains` is `contains#2`, and so on. A name given twice is a fault.
    What was `made_before` for another case whose list differs at other places alone is taken, by its place.

    Raises:
        AuthoringError: with every fault of all of them.
    """
    if not isinstance(values, Sequence) or isinstance(values, str | bytes | bytearray):
        raise AuthoringError("assertions", [Fault(path=path, expected="a list", found=type_name(values))])
    faults: list[Fault] = []
    reader = _Reader(judge_factory, allow_code, faults)
    taken = _given_names(values, path, faults)
    named = [(index, value, _name(value, taken)) for index, value in enumerate(values)]
    made = [made_before.get(place) or reader.assertion(value, f"{path}[{place}]", name) for place, value, name in named]
    if faults:
        raise AuthoringError("assertions", faults)
    return tuple(assertion for assertion in made if assertion is not None)


def _given_names(values: Sequence[object], path: str, faults: list[Fault]) -> set[str]:
    """The names that authors gave; one that is given twice is a fault."""
    first: dict[str, int] = {}
    for index, value in enumerate(values):
        name = value.get("name") if isinstance(value, Mapping) else None
        if isinstance(name, str) and first.setdefault(name, index) != index:
            found = f"the name of {path}[{first[name]}]"
            faults.append(Fault(path=f"{path}[{index}].name", expected="a name of its own", found=found))
    return set(first)


def _name(value: object, taken: set[str]) -> str:
    """The assertion's name: as given, or its type, numbered where that is taken. Notes that it is taken now."""
    given = value if isinstance(value, Mapping) else {}
    if isinstance(given.get("name"), str):
        return str(given["name"])
    name, number = str(given.get("type")), 1
    while name in taken:
        number += 1
        name = f"{given.get('type')}#{number}"
    taken.add(name)
    return name


class _Reader:
    """Reads assertions, and gathers the faults of all of them in one list."""

    def __init__(self, judge_factory: JudgeFactory | None, allow_code: bool, faults: list[Fault]) -> None:
        self._judge_factory = judge_factory
        self._allow_code = allow_code
        self._faults = faults

    def _fault(self, path: str, expected: str, found: str, hint: str | None = None) -> None:
        self._faults.append(Fault(path=path, expected=expected, found=found, hint=hint))

    def assertion(self, value: object, path: str, name: str) -> Assertion | None:
        if not isinstance(value, Mapping):
            self._fault(path, "an object with a type", type_name(value))
            return None
        type_, where = value.get("type"), inner(path, "type")
        if not isinstance(type_, str):
            found = type_name(type_) if "type" in value else "nothing"
            self._fault(where, "one of " + ", ".join(TYPES), found)
        elif type_ in TYPES:
            return self._known(type_, TYPES[type_], value, path, name)
        elif type_ in (others := plugins.installed_types()):
            return self._installed(type_, value, path, name)
        else:
            known = (*TYPES, *others)
            near = nearest(type_[:80], known)
            hint = f"Did you mean {near}?" if near else None
            self._fault(where, "one of " + ", ".join(known), repr(type_[:80]), hint)
        return None

    def _known(
        self, type_: str, spec: AssertionType, value: Mapping[str, object], path: str, name: str
    ) -> Assertion | None:
        before = len(self._faults)
        self._refuse_unknown(type_, value, path)
        common = {**self._read(COMMON, value, path), "name": name}
        values = self._read(spec.keys, value, path)
        self._exactly_one(spec.exactly_one_of, value, path)
        if spec.needs_code and not self._allow_code:
            self._fault(inner(path, "type"), "a type that runs no code, which is not allowed here", type_)
        if len(self._faults) > before:
            return None
        if spec.make is None:
            return self._judge(values, common, path)
        made = spec.make(values, path, self._faults)
        if made is None:
            return None
        return Assertion(type=type_, revision=REVISION, check=made.check, heavy=made.heavy, **common)

    def _refuse_unknown(self, type_: str, value: Mapping[str, object], path: str) -> None:
        names = _names(type_)
        if not value.keys() <= names.keys():
            refuse_unknown(value, tuple(names), path, self._faults)

    def _read(self, keys: Mapping[str, Key], value: Mapping[str, object], path: str) -> dict[str, Any]:
        """The values of the keys that were given, under their main names."""
        read: dict[str, Any] = {}
        for name, key in keys.items():
            given = [word for word in (name, *key.also) if word in value]
            if len(given) > 1:
                self._fault(inner(path, given[1]), f"{name} once", f"{given[1]} beside {given[0]}")
            elif given:
                found = key.kind.read(value[given[0]], inner(path, given[0]), self._faults)
                if found is not INVALID:
                    read[name] = found
            elif key.required:
                self._fault(inner(path, name), key.about.rstrip(".").lower(), "nothing")
        return read

    def _exactly_one(self, names: tuple[str, ...], value: Mapping[str, object], path: str) -> None:
        given = [name for name in names if name in value]
        if names and len(given) != 1:
            self._fault(path, "exactly one of " + " and ".join(names), " and ".join(given) or "neither")

    def _judge(self, values: dict[str, Any], common: dict[str, Any], path: str) -> Assertion | None:
        if self._judge_factory is None:
            self._fault(inner(path, "type"), "a type that needs no model, since no judges are made here", JUDGE)
            return None
        before = len(self._faults)
        try:
            judge = self._judge_factory({**values, "name": common["name"]}, path, self._faults)
        except AuthoringError as error:
            self._faults.extend(error.faults)
            return None
        if judge is None and len(self._faults) == before:
            self._fault(path, "a judge that can be made", "none, for reasons not given")
        if judge is None:
            return None
        given = Given(expected=values.get("expected"), grounding=values.get("context"))
        return _of_evaluator(judge, JUDGE, {**common, "given": given}, partial(asking_judge, given=given))

    def _installed(self, type_: str, value: Mapping[str, object], path: str, name: str) -> Assertion | None:
        before = len(self._faults)
        if not self._allow_code:
            self._fault(inner(path, "type"), "a type that runs no code, which is not allowed here", repr(type_[:80]))
        common = {**self._read(COMMON, value, path), "name": name}
        try:
            plain: Json = freeze(value, path)
        except NotJson as error:
            self._fault(error.path or path, "a JSON value", error.found)
        if len(self._faults) > before:
            return None
        made = plugins.make_evaluator(type_, plain, path, self._faults)
        return None if made is None else _of_evaluator(made, type_, common, asking_user_code)


@cache
def _names(type_: str) -> Mapping[str, None]:
    """The keys that a type knows, in order."""
    keys = {**COMMON, **TYPES[type_].keys}
    return dict.fromkeys(("type", *(name for key, known in keys.items() for name in (key, *known.also))))


def _of_evaluator(
    evaluator: Evaluator, type_: str, common: dict[str, Any], ask: Callable[[Evaluator], Any]
) -> Assertion:
    low, high = getattr(evaluator, "score_range", (0.0, 100.0))
    return Assertion(
        type=type_,
        revision=evaluator.revision,
        check=ask(evaluator),
        score_range=(float(low), float(high)),
        evaluator=evaluator,
        **common,
    )
