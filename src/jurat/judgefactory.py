"""From what a `rubric_judge` assertion says to the judge that it asks: rubric, provider and settings brought together.

Assertions that ask the same model by the same rubric in the same way share one judge, however many cases they stand
in: making a judge costs far more than asking one. What differs from case to case, the reference answer and the
grounding text, stays with the assertion (`Assertion.given`) and reaches the judge with each question.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

from jurat.errors import AuthoringError, Fault, RequestError
from jurat.evaluation.reducers import Reducer
from jurat.jsontext import canonical
from jurat.judge import Judge, JudgeSettings
from jurat.judge.examples import examples_from_json
from jurat.provider import Provider
from jurat.rubric import Rubric, custom_rubric, find, rubric_from_json
from jurat.vocabulary import Contract, EvidenceRule, Strategy
from jurat.workbench import Workbench

__all__ = ["JudgeFactory", "is_rubric_file"]

_FILE_ENDINGS = (".yaml", ".yml", ".json")


def is_rubric_file(word: str) -> bool:
    """Whether a rubric's reference names a file. A rubric in words has blanks, and a template no such ending."""
    return word.lower().endswith(_FILE_ENDINGS) and not any(letter.isspace() for letter in word)


class JudgeFactory:
    """Makes judges out of the values that were read (`jurat.assertions.JudgeFactory`).

    Args:
        bench: finds providers and, unless told otherwise, rubric files.
        read_rubric: reads a rubric file by the name that the author gave it; it raises AuthoringError.
        collect: whether a provider that does not exist is one of the author's faults, told with the others. Otherwise
            it is raised as the RequestError that it is.

    Attributes:
        judges: every judge that was made, with the path of the first assertion that wanted it.
    """

    def __init__(
        self, bench: Workbench, *, read_rubric: Callable[[str], Rubric] | None = None, collect: bool = False
    ) -> None:
        self._bench = bench
        self._read_rubric = read_rubric or bench.rubric
        self._collect = collect
        self._rubrics: dict[str, Rubric] = {}
        self._judges: dict[Hashable, Judge] = {}
        self.judges: dict[Judge, str] = {}

    def __call__(self, values: Mapping[str, Any], path: str, faults: list[Fault]) -> Judge | None:
        before = len(faults)
        rubric = self._rubric(values, path, faults)
        provider = self._provider(values, path, faults)
        settings = _settings(values, path, faults)
        if len(faults) > before or rubric is None or provider is None:
            return None
        key = (rubric.reference, rubric.content_hash, id(provider), *_told(values))
        if key in self._judges:
            return self._judges[key]
        try:
            judge = self._judges[key] = self._bench.judge(rubric, provider, settings)
        except AuthoringError as error:
            faults += _below(path, error)
            return None
        self.judges[judge] = path
        return judge

    def _rubric(self, values: Mapping[str, Any], path: str, faults: list[Fault]) -> Rubric | None:
        name = "template" if "template" in values else "rubric"
        written = values[name]
        if isinstance(written, Rubric):
            return written
        try:
            if not isinstance(written, str):
                return rubric_from_json(written, at=_inner(path, "rubric"))
            if written not in self._rubrics:
                self._rubrics[written] = self._named(written, in_words=name == "rubric")
            return self._rubrics[written]
        except AuthoringError as error:
            faults += error.faults if not isinstance(written, str) else _at(_inner(path, name), error)
            return None

    def _named(self, written: str, *, in_words: bool) -> Rubric:
        if is_rubric_file(written):
            return self._read_rubric(written)
        return custom_rubric(written) if in_words else find(written)

    def _provider(self, values: Mapping[str, Any], path: str, faults: list[Fault]) -> Provider | None:
        try:
            return self._bench.provider(values.get("provider"))
        except AuthoringError as error:
            faults += _below(_inner(path, "provider"), error)
        except RequestError as error:
            if not self._collect:
                raise
            faults.append(Fault(path=_inner(path, "provider"), expected="a provider that exists", found=str(error)))
        return None


def _settings(values: Mapping[str, Any], path: str, faults: list[Fault]) -> JudgeSettings:
    examples = (
        examples_from_json(values["examples"], _inner(path, "examples"), faults) if "examples" in values else None
    )
    return JudgeSettings(
        threshold=values.get("threshold"),
        evidence=EvidenceRule(values.get("evidence", EvidenceRule.OPTIONAL)),
        contract=Contract(values.get("contract", Contract.SCORE_V1)),
        strategy=Strategy(values["strategy"]) if "strategy" in values else None,
        samples=values.get("samples", 1),
        reducer=values.get("reducer", Reducer()),
        examples=examples,
        persona=values.get("persona"),
    )


def _told(values: Mapping[str, Any]) -> tuple[Hashable, ...]:
    """What two assertions must say alike to share a judge, beside rubric and provider."""
    plain = ("threshold", "evidence", "contract", "strategy", "samples", "reducer", "persona")
    examples = canonical(values["examples"]) if "examples" in values else None
    return (*(values.get(name) for name in plain), examples)


def _below(path: str, error: AuthoringError) -> list[Fault]:
    """The faults of a part, told from where the part stands."""
    return [fault if fault.file else replace(fault, path=_inner(path, fault.path)) for fault in error.faults]


def _at(path: str, error: AuthoringError) -> list[Fault]:
    """The faults of something that stands in one place as a whole; those of another file keep their own."""
    return [fault if fault.file else replace(fault, path=path) for fault in error.faults]


def _inner(path: str, key: str) -> str:
    return f"{path}.{key}" if path and key else path or key
