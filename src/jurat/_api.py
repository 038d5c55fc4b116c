"""The front door's functions: one assertion on one context, and a whole suite. Each has a synchronous twin on top.

The synchronous ones also work where an event loop runs already (notebooks, async tests): in a thread of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from jurat.assertions import Assertion, build_assertion
from jurat.errors import RequestError
from jurat.evaluation import TypedError, run_evaluator
from jurat.evidence import Context, as_context
from jurat.jsontext import Json
from jurat.judge import Judge
from jurat.judgefactory import JudgeFactory
from jurat.provider import Provider
from jurat.report import assessment_map, unavailable_map, verdict_map
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
        made = build_assertion(given, judge_factory=JudgeFactory(bench))
        return await _result(kind, made, trial)
    except RequestError as error:
        return unavailable_map(kind, TypedError(type=error.category, message=str(error)))
    finally:
        await bench.aclose()


async def _result(kind: str, made: Assertion, trial: Context) -> dict[str, Json]:
    judge = made.evaluator
    if not isinstance(judge, Judge):
        return assessment_map(kind, await run_evaluator(made, trial))
    verdict = await judge.judge(trial, made.given.grounding, made.given.expected)
    status, score = made.turned(verdict.status, verdict.score)
    return verdict_map(replace(verdict, opinion=replace(verdict.opinion, status=status, score=score)))


def run_here(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end from synchronous code: here, or in a thread of its own where a loop runs already.

    An interruption (Ctrl-C) cancels it, and is raised when it has come to its orderly end.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()

    async def watched() -> T:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 (we are in it)
        begun.set_result((asyncio.get_running_loop(), task))
        return await work

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="jurat") as thread:
        done = thread.submit(asyncio.run, watched())
        try:
            return done.result()
        except BaseException:
            if not done.done():  # it is we who were interrupted, not the work
                loop, task = begun.result()
                loop.call_soon_threadsafe(task.cancel)
            raise
