"""The front door's functions: one assertion on one context, from a string to the result map."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from jurat.assertions import Assertion, build_assertion
from jurat.errors import Fault, RequestError
from jurat.evaluation import Evaluator, TypedError, run_evaluator
from jurat.evaluation.reducers import Reducer
from jurat.evidence import Context, as_context
from jurat.jsontext import Json
from jurat.judge import Judge, JudgeSettings, WorkedExample
from jurat.judge.examples import examples_from_json
from jurat.provider import Provider, make_provider
from jurat.report import assessment_map, unavailable_map, verdict_map
from jurat.rubric import Rubric, custom_rubric, find, rubric_from_json
from jurat.vocabulary import Contract, EvidenceRule, Strategy
from jurat.workbench import Workbench

__all__ = ["aevaluate", "evaluate", "run_here"]

T = TypeVar("T")


def evaluate(
    context: Context | str,
    assertion: Mapping[str, Any] | str,
    *,
    providers: Mapping[str, Provider | Mapping[str, Json]] | None = None,
) -> dict[str, Json]:
    """Evaluate one assertion on one context, and give the result map. Works where an event loop runs already, too.

    Args:
        context: what is known of the trial, or the output alone.
        assertion: as a suite file has it (`{"type": "contains", "value": "Paris"}`), or a template's name for a
            judge with the defaults (`"groundedness"`).
        providers: providers or provider rows by name, for `provider` in the assertion.

    Raises:
        AuthoringError: when the assertion or the context is wrong; nothing was spent.
    """
    return run_here(aevaluate(context, assertion, providers=providers))


async def aevaluate(
    context: Context | str,
    assertion: Mapping[str, Any] | str,
    *,
    providers: Mapping[str, Provider | Mapping[str, Json]] | None = None,
) -> dict[str, Json]:
    """As `evaluate`, in the running event loop."""
    given = {"type": "rubric_judge", "template": assertion} if isinstance(assertion, str) else assertion
    kind = str(given.get("type")) if isinstance(given, Mapping) else ""
    trial = as_context(context)
    bench = Workbench(providers=providers)
    try:
        made = build_assertion(given, judge_factory=_Factory(bench))
        return await _result(kind, made, trial)
    except RequestError as error:
        return unavailable_map(kind, TypedError(type=error.category, message=str(error)))
    finally:
        await bench.aclose()


async def _result(kind: str, made: Assertion, trial: Context) -> dict[str, Json]:
    judge = made.evaluator
    if not isinstance(judge, Judge):
        return assessment_map(kind, await run_evaluator(made, trial))
    verdict = await judge.judge(trial)
    status, score = made.turned(verdict.status, verdict.score)
    return verdict_map(replace(verdict, opinion=replace(verdict.opinion, status=status, score=score)))


def run_here(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end from synchronous code: here, or in a thread of its own where a loop runs already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="jurat") as thread:
        return thread.submit(asyncio.run, work).result()


class _Factory:
    """Makes the judge of a `rubric_judge` assertion out of the values that were read."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    def __call__(self, values: Mapping[str, Any], path: str, faults: list[Fault]) -> Evaluator | None:
        rubric = self._rubric(values, path)
        settings = JudgeSettings(
            threshold=values.get("threshold"),
            evidence=EvidenceRule(values.get("evidence", EvidenceRule.OPTIONAL)),
            contract=Contract(values.get("contract", Contract.SCORE_V1)),
            strategy=Strategy(values["strategy"]) if "strategy" in values else None,
            samples=values.get("samples", 1),
            reducer=values.get("reducer", Reducer()),
            examples=examples_from_json(values["examples"], f"{path}.examples", faults)
            if "examples" in values
            else None,
            persona=values.get("persona"),
            expected=values.get("expected"),
            grounding=values.get("context"),
        )
        return None if faults else self._bench.judge(rubric, self._provider(values), settings, name=values["name"])

    def _rubric(self, values: Mapping[str, Any], path: str) -> Rubric:
        if "template" in values:
            return find(values["template"])
        written = values["rubric"]
        if isinstance(written, Rubric):
            return written
        return custom_rubric(written) if isinstance(written, str) else rubric_from_json(written, at=f"{path}.rubric")

    def _examples(self, values: Mapping[str, Any], path: str, faults: list[Fault]) -> tuple[WorkedExample, ...] | None:
        if "examples" not in values:
            return None
        return examples_from_json(values["examples"], f"{path}.examples", faults)

    def _provider(self, values: Mapping[str, Any]) -> Provider:
        wanted = values.get("provider")
        if isinstance(wanted, Mapping):
            return make_provider(wanted, base_dir=self._bench.directory)
        return self._bench.provider(wanted)
