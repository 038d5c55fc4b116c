"""A provider that refuses the key is asked three times, whatever the concurrency, and says so once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from jobs import items, quiet

from judging import answer, rubric
from jurat.engine import Judged, JudgingJob, MemoryJournal
from jurat.engine.circuit import Circuit, patience_for
from jurat.errors import ErrorCategory, ProviderError
from jurat.judge import Judge, JudgeSettings
from jurat.provider import Call, Raw, ScriptedProvider, ScriptedReply
from jurat.provider.faults import Exhausted, RefusedParameter, UnknownModel
from jurat.provider.protocol import ProviderSettings

REFUSED = ProviderError(ErrorCategory.AUTH_ERROR, "the key was refused; it came from SOME_KEY")
FINE = object()


class Recorder:
    """Notices in the order in which they came."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def __call__(self, message: str) -> None:
        self.said.append(message)


async def ask(circuit: Circuit, outcome: object, asked: list[object]) -> None:
    """One call, as those who make calls do it."""
    await circuit.turn()
    if circuit.closed is None:
        asked.append(outcome)
        await asyncio.sleep(0)
        circuit.note(outcome)
    circuit.over()


async def test_at_any_concurrency_three_refusals_are_all_that_are_asked_for() -> None:
    notices, asked = Recorder(), list[object]()
    circuit = Circuit("judge", notices, patience_s=60)
    await asyncio.gather(*(ask(circuit, REFUSED, asked) for _ in range(1000)))
    assert len(asked) == 3
    told = "judge refused the key 3 times in a row, and is asked no more: every further call to it is an error "
    assert notices.said == [told + "(auth_error) that costs nothing. the key was refused; it came from SOME_KEY"]


async def test_a_first_success_lets_everybody_go() -> None:
    circuit = Circuit("judge", Recorder(), patience_s=60)
    first, second, third = (asyncio.create_task(circuit.turn()) for _ in range(3))
    await quiet()
    assert (first.done(), second.done(), third.done()) == (True, False, False)
    circuit.note(FINE)
    await asyncio.gather(second, third)
    assert circuit.settled


async def test_another_fault_says_that_the_key_is_not_the_trouble() -> None:
    circuit = Circuit("judge", Recorder(), patience_s=60)
    await circuit.turn()
    circuit.note(ProviderError(ErrorCategory.OVERLOADED, "busy"))
    assert circuit.settled
    assert circuit.closed is None


async def test_a_probe_that_is_given_up_lets_the_next_one_go() -> None:
    circuit = Circuit("judge", Recorder(), patience_s=60)
    await circuit.turn()
    waiting = asyncio.create_task(circuit.turn())
    await quiet()
    circuit.over()
    await asyncio.wait_for(waiting, 5)
    assert not circuit.settled


async def test_who_is_slow_has_not_refused_and_holds_nobody_for_longer_than_its_patience() -> None:
    circuit = Circuit("judge", Recorder(), patience_s=1e-6)
    await circuit.turn()
    await asyncio.wait_for(circuit.turn(), 5)
    assert circuit.settled


async def test_who_has_no_more_to_give_is_asked_three_times_and_no_more() -> None:
    notices, asked = Recorder(), list[object]()
    circuit = Circuit("judge", notices, patience_s=60)
    spent = Exhausted(ErrorCategory.RATE_LIMITED, "the credit is used up")
    await asyncio.gather(*(ask(circuit, spent, asked) for _ in range(1000)))
    assert len(asked) == 3
    told = "judge had no more to give 3 times in a row, and is asked no more: every further call to it is an error "
    assert notices.said == [told + "(rate_limited) that costs nothing. the credit is used up"]


UNFIT = RefusedParameter(ErrorCategory.INVALID_REQUEST, "refused temperature for model m (400)", param="temperature")


async def test_who_refuses_a_parameter_that_all_calls_have_alike_is_asked_three_times_and_no_more() -> None:
    notices, asked = Recorder(), list[object]()
    circuit = Circuit("judge", notices, patience_s=60, alike=("temperature",))
    await asyncio.gather(*(ask(circuit, UNFIT, asked) for _ in range(1000)))
    assert len(asked) == 3
    told = "judge refused temperature 3 times in a row, and is asked no more: every further call to it is an error "
    assert notices.said == [told + "(invalid_request) that costs nothing. refused temperature for model m (400)"]


NO_MODEL = UnknownModel(ErrorCategory.INVALID_REQUEST, "knows no model m (404)")


async def test_who_knows_no_such_model_from_the_start_is_asked_three_times_and_no_more() -> None:
    notices, asked = Recorder(), list[object]()
    circuit = Circuit("judge", notices, patience_s=60)
    await asyncio.gather(*(ask(circuit, NO_MODEL, asked) for _ in range(1000)))
    assert len(asked) == 3
    told = "judge knew no such model 3 times in a row, and is asked no more: every further call to it is an error "
    assert notices.said == [told + "(invalid_request) that costs nothing. knows no model m (404)"]


async def test_who_has_answered_once_does_know_the_model_and_is_asked_on() -> None:
    circuit = Circuit("judge", Recorder(), patience_s=60)
    for outcome in (FINE, *[NO_MODEL] * 10):
        circuit.note(outcome)
    assert circuit.closed is None


async def test_a_parameter_that_calls_need_not_have_alike_closes_nothing() -> None:
    other = RefusedParameter(ErrorCategory.INVALID_REQUEST, "refused response_format", param="response_format")
    for circuit, outcome in ((Circuit("judge", Recorder()), UNFIT), (Circuit("j", Recorder(), alike=["n"]), other)):
        for _ in range(10):
            circuit.note(outcome)
        assert circuit.closed is None


async def test_a_limit_of_the_rate_closes_nothing() -> None:
    circuit = Circuit("judge", Recorder(), patience_s=60)
    for _ in range(10):
        circuit.note(ProviderError(ErrorCategory.RATE_LIMITED, "slow down"))
    assert circuit.closed is None


async def test_refusals_between_successes_close_nothing() -> None:
    circuit = Circuit("judge", Recorder())
    for _ in range(5):
        circuit.note(REFUSED)
        circuit.note(REFUSED)
        circuit.note(FINE)
    assert circuit.closed is None


@pytest.mark.parametrize(
    ("endpoint", "keyed", "seconds"),
    [
        ("", True, 0.0),
        ("http://127.0.0.1:8000/v1", False, 0.05),
        ("http://localhost:1/v1", True, 0.25),
        ("https://api.x.example/v1", True, 10.0),
        ("https://api.x.example/v1", False, 10.0),
    ],
)
def test_patience_depends_on_where_the_provider_is(endpoint: str, keyed: bool, seconds: float) -> None:
    assert patience_for(endpoint, keyed=keyed) == seconds


class Refusing(ScriptedProvider):
    """A provider with an address that refuses every key, or something else."""

    def __init__(self, refusals: int = 10**9, error: ProviderError | None = None) -> None:
        settings = ProviderSettings(
            name="judge", kind="openai_compatible", model="m", endpoint="https://models.example/v1"
        )
        super().__init__(ScriptedReply(text=answer(evidence=[])), settings=settings)
        self.calls, self._refusals = 0, refusals
        self._error = error or ProviderError(ErrorCategory.AUTH_ERROR, "refused; the key came from SOME_KEY")

    async def send(self, call: Call) -> Raw:
        self.calls += 1
        await asyncio.sleep(0)
        if self.calls <= self._refusals:
            raise self._error
        return await super().send(call)


async def judged(provider: Refusing, count: int, notices: Recorder) -> Sequence[Judged]:
    found: list[Judged] = []
    judge = Judge(rubric(), provider, JudgeSettings())
    work = iter(items(count))
    await JudgingJob(judge, work, MemoryJournal(), found.extend, concurrency=64, notice=notices).run()
    return found


async def test_a_judging_job_stops_asking_and_every_row_says_why() -> None:
    provider, notices = Refusing(), Recorder()
    found = await judged(provider, 500, notices)
    assert provider.calls == 3
    assert len(notices.said) == 1
    assert "SOME_KEY" in notices.said[0]
    errors = [one.verdict.opinion.error for one in found]
    assert {error.type for error in errors if error} == {ErrorCategory.AUTH_ERROR}
    assert len(errors) == 500
    assert [one.verdict.opinion.spending.attempts for one in found].count(1) == 3


async def test_a_judging_job_goes_on_when_the_key_is_taken_in_the_end() -> None:
    provider, notices = Refusing(refusals=2), Recorder()
    found = await judged(provider, 100, notices)
    assert notices.said == []
    assert sum(one.verdict.opinion.error is not None for one in found) == 2


async def test_a_judging_job_stops_asking_when_its_temperature_is_refused() -> None:
    provider, notices = Refusing(error=UNFIT), Recorder()
    found = await judged(provider, 500, notices)
    assert provider.calls == 3
    errors = [one.verdict.opinion.error for one in found]
    assert {error.type for error in errors if error} == {ErrorCategory.INVALID_REQUEST}
    assert len(errors) == 500
