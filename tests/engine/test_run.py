"""A run: every trial in its place, three kinds of bad apart, one trial's trouble nobody else's."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from runs import (
    BROKEN,
    CONTAINS,
    COST,
    JUDGED,
    PASS,
    POOR,
    PROMPT,
    Plain,
    answerer,
    assertions,
    cases,
    errors,
    judging_model,
    plan,
    run,
    says,
    statuses,
)

from jurat.assertions import Assertion
from jurat.engine import PlannedCase
from jurat.errors import ErrorCategory
from jurat.evaluation import Assessment
from jurat.evidence import Context, Message, Role
from jurat.provider import ScriptedReply
from jurat.suite.case import Case, CaseDocument
from jurat.suite.suite import Prompt
from jurat.vocabulary import Status

# --- A trial ---------------------------------------------------------------------------------------------------------


async def test_a_trial_is_recorded_whole() -> None:
    checks = assertions(CONTAINS, {**JUDGED, "name": "quality", "weight": 2}, model=judging_model())

    (trial,) = await run(plan(cases(1, checks)), answerer())

    assert (trial.case_index, trial.trial_index, trial.status) == (0, 0, Status.PASS)
    assert trial.subject.output == "a good answer to q0;"
    assert trial.subject.rendered_input == "q0;"
    assert trial.subject.messages == ({"role": "user", "content": "q0;"},)
    assert dict(trial.subject.execution) == {
        "latency_ms": 0.0,
        "cost_usd": COST,
        "tool_calls": (),
        "finish_reason": "stop",
    }
    assert (trial.subject.spending.cost_usd, trial.subject.spending.attempts) == (COST, 1)
    assert trial.subject.spending.models == ("answerer-1",)
    contains, quality = trial.assessments
    assert (contains.name, contains.type, contains.status, contains.score) == ("contains", "contains", "pass", 100.0)
    assert contains.spending.cost_usd == 0.0
    assert (quality.name, quality.type, quality.score, quality.weight) == ("quality", "rubric_judge", 0.75, 2.0)
    assert quality.spending.cost_usd == COST
    assert quality.result["evaluator"]["provider"] == "oracle"
    assert len(trial.paid) == 2


async def test_an_evaluator_sees_every_field_of_the_trial() -> None:
    seen: list[Context] = []

    class Looker:
        name, revision = "looker", "1"

        def evaluate(self, context: Context) -> Assessment:
            seen.append(context)
            return Assessment(evaluator="looker", revision="1", status=Status.PASS, score=100.0)

    looker = Looker()
    check = Assertion(type="looker", name="looker", revision="1", check=looker.evaluate)
    case = Case(
        name="one",
        variables={"q": "Why?"},
        messages=(Message(role=Role.USER, content="Hello"), Message(role=Role.ASSISTANT, content="Hi {{q}}")),
        documents=(CaseDocument(name="page.txt", media_type="text/plain", text="It says so."),),
        expected={"yes": True},
        metadata={"tier": 1},
    )
    prompt = Prompt(name="ask", system="Be brief, {{q}}", text="Now: {{q}}")

    await run(plan([PlannedCase(case_index=0, case=case, assertions=(check,))], prompt=prompt), answerer())

    (context,) = seen
    assert context.output == "a good answer to Now: Why?"
    assert context.expected == {"yes": True}
    assert (context.rendered_input, context.prompt_template) == ("Now: Why?", "Now: {{q}}")
    assert context.variables == {"q": "Why?"}
    assert [(message.role, message.content) for message in context.messages] == [
        ("system", "Be brief, Why?"),
        ("user", "Hello"),
        ("assistant", "Hi Why?"),
        ("user", "Now: Why?"),
    ]
    assert [(document.name, document.text) for document in context.documents] == [("page.txt", "It says so.")]
    assert context.metadata == {"tier": 1}
    assert (context.provider, context.prompt_version) == ("answerer", "ask@1")
    assert context.execution["cost_usd"] == COST
    assert context.execution["tool_calls"] == ()


async def test_each_repeat_is_a_question_of_its_own() -> None:
    subject = Plain(lambda _, repeat: f"good {repeat}")

    trials = await run(plan(cases(2, assertions(CONTAINS)), samples=3), subject)

    assert sorted(subject.asked) == [("q0;", 0), ("q0;", 1), ("q0;", 2), ("q1;", 0), ("q1;", 1), ("q1;", 2)]
    assert [(trial.case_index, trial.trial_index, trial.subject.output) for trial in trials] == [
        (case, repeat, f"good {repeat}") for case in range(2) for repeat in range(3)
    ]


async def test_a_value_that_looks_like_a_placeholder_is_never_filled() -> None:
    planned = cases(1, variables={"q": "{{secret}}", "secret": "zq7canary"})

    (trial,) = await run(plan(planned), answerer())

    assert trial.subject.rendered_input == "{{secret}}"


async def test_a_negated_judge_turns_its_verdict_round_and_says_so() -> None:
    checks = assertions({**JUDGED, "negate": True}, model=judging_model())

    (trial,) = await run(plan(cases(1, checks)), answerer())

    (found,) = trial.assessments
    assert (found.status, found.score) == ("fail", 0.25)
    assert found.result["metadata"]["negate"] is True
    assert (found.result["status"], found.result["score"], found.result["passed"]) == ("fail", 0.25, False)


async def test_one_judge_serves_assertions_that_give_it_different_answers_to_compare_with() -> None:
    model = judging_model()
    checks = assertions({**JUDGED, "expected": "four"}, {**JUDGED, "expected": "five", "context": "maths"}, model=model)

    await run(plan(cases(1, checks)), answerer())

    assert checks[0].evaluator is checks[1].evaluator
    first, second = sorted(model.asked)
    assert '"label":"expected","text":"five"' in first
    assert '"label":"context","text":"maths"' in first
    assert '"label":"expected","text":"four"' in second
    assert '"label":"context"' not in second


def test_a_prompt_without_a_text_asks_what_the_case_ends_with() -> None:
    case = Case(name="one", messages=(Message(role=Role.USER, content="Well?"),))
    made = plan([PlannedCase(case_index=0, case=case)], prompt=Prompt(system="Be good."))

    (trial,) = asyncio.run(run(made, answerer()))

    assert trial.subject.output == "a good answer to Well?"
    assert trial.subject.rendered_input is None
    assert PROMPT.text == "{{q}}"


# --- Three kinds of bad ----------------------------------------------------------------------------------------------


async def test_a_subject_that_fails_is_an_error_and_its_judges_are_not_asked() -> None:
    model = judging_model()
    subject = answerer(lambda q: ScriptedReply(error=ErrorCategory.OVERLOADED) if q == "q1;" else says("good"))
    checks = assertions({"type": "not_contains", "value": "prices"}, JUDGED, model=model)

    trials = await run(plan(cases(3, checks)), subject)

    assert statuses(trials) == ["pass", "error", "pass"]
    assert errors(trials) == [None, "overloaded", None]
    failed = trials[1]
    assert failed.subject.output is None
    assert [found.status.value for found in failed.assessments] == ["skipped", "skipped"]
    assert [found.score for found in failed.assessments] == [None, None]
    assert failed.assessments[0].result["findings"][0]["code"] == "no_answer"
    assert failed.subject.spending.cost_usd is None, "a request that failed may have been charged for"
    assert len(model.asked) == 2


async def test_a_judge_that_fails_touches_its_own_assertion_alone() -> None:
    checks = assertions(CONTAINS, JUDGED, model=judging_model(BROKEN))

    (trial,) = await run(plan(cases(1, checks)), answerer())

    assert trial.status is Status.ERROR
    assert [found.status.value for found in trial.assessments] == ["pass", "error"]
    assert trial.assessments[1].result["evaluator"]["error"]["type"] == "malformed_json"
    assert trial.assessments[1].spending.cost_usd == COST, "a reply that is no verdict was paid for all the same"
    assert "zq7canary" not in str(trial)


async def test_a_poor_answer_is_a_failure_and_no_error() -> None:
    (trial,) = await run(plan(cases(1, assertions(JUDGED, model=judging_model(POOR)))), answerer())

    assert (trial.status, trial.assessments[0].score) == ("fail", 0.0)


async def test_an_error_of_one_case_stays_with_it() -> None:
    judge = judging_model(lambda user: ScriptedReply(error=ErrorCategory.RATE_LIMITED) if "q0;" in user else PASS)

    trials = await run(plan(cases(3, assertions(JUDGED, model=judge))), answerer(), limits={"concurrency": 1})

    assert statuses(trials) == ["error", "pass", "pass"]


async def test_a_case_without_assertions_is_unverified() -> None:
    assert statuses(await run(plan(cases(1)), answerer())) == ["unverified"]


async def test_an_evaluator_that_raises_is_an_error_that_names_the_type_and_place_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(Path(__file__).parent)

    def burst(context: Context) -> Assessment:
        raise RuntimeError(f"zq7canary {context.output}")

    check = Assertion(type="mine", name="mine", revision="1", check=burst)
    (trial,) = await run(plan(cases(1, (check, *assertions(CONTAINS)))), answerer())

    assert [found.status.value for found in trial.assessments] == ["error", "pass"]
    assert trial.assessments[0].result["evaluator"]["error"] == {
        "type": "evaluator_exception",
        "message": f"the evaluator mine raised RuntimeError at test_run.py:{burst.__code__.co_firstlineno + 1}",
    }


async def test_an_evaluator_that_cancels_itself_is_an_error_and_ends_nothing() -> None:
    class Jumpy:
        name, revision = "jumpy", "1"

        async def evaluate(self, context: Context) -> Assessment:
            raise asyncio.CancelledError

    check = Assertion(type="jumpy", name="jumpy", revision="1", check=Jumpy().evaluate, evaluator=Jumpy())
    trials = await run(plan(cases(2, (check, *assertions(CONTAINS)))), answerer())

    assert [[found.status.value for found in trial.assessments] for trial in trials] == [["error", "pass"]] * 2


async def test_every_failing_repeat_of_every_case_is_kept() -> None:
    subject = Plain(lambda q, _: "good" if q == "q0;" else "bad")

    trials = await run(plan(cases(2, assertions(CONTAINS)), samples=4), subject)

    assert statuses(trials) == ["pass"] * 4 + ["fail"] * 4
