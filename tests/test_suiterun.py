"""Suites run from Python: plans, snapshots, gates, and the front door in and out of a running event loop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import jurat
from jurat.report.run_schema import report_schema
from jurat.store import Store
from jurat.suite.case import Case
from jurat.suite.codec import case_from_json, suite_from_json
from jurat.suite.suite import SubjectKind, SubjectSpec, Suite
from jurat.suitefiles import load_suite
from jurat.suiterun import RunOptions, begin, check_suite, checked_options, prepare
from jurat.suiterun.options import options_from_json, options_to_json
from jurat.testing import ScriptedProvider
from suitefolder import CAPITALS, Folder

SUITE = Path("suite.yaml")
GOOD = {"json": {"evidence": [], "reason": "Good.", "score": 100}}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


# --- the front door ------------------------------------------------------------------------------------------------


def test_a_suite_is_run_and_its_record_can_be_read(folder: Folder) -> None:
    run = jurat.run_suite("suite.yaml")

    assert not run.passed
    assert run.gate["outcome"] == "failed"
    assert run.record.suite == "capitals"
    assert [case["status"] for case in run.cases()] == ["pass", "fail", "error", "error"]
    assert run.cases()[1]["trials"][0]["subject"]["output"] == "It is Lisbon."
    assert "output" not in run.report()["cases"][1]["trials"][0]["subject"]
    jsonschema_rs.validator_for(report_schema()).validate(json.loads(json.dumps(run.report())))


async def test_in_a_notebook_the_synchronous_function_works_as_well(folder: Folder) -> None:
    assert jurat.run_suite("suite.yaml", filter="france").passed


async def test_in_a_running_loop_a_suite_is_awaited(folder: Folder) -> None:
    run = await jurat.arun_suite("suite.yaml", filter="france")

    assert run.passed
    assert len(run.cases()) == 1


@pytest.mark.filterwarnings("error")
def test_one_loop_after_another_runs_suites(folder: Folder) -> None:
    for _ in range(2):
        assert asyncio.run(jurat.arun_suite("suite.yaml", filter="france")).passed


def test_two_threads_run_suites_at_once(folder: Folder) -> None:
    runs: list[jurat.Run] = []
    threads = [
        threading.Thread(target=lambda: runs.append(jurat.run_suite("suite.yaml", filter="france"))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [run.passed for run in runs] == [True, True]
    assert len({run.record.id for run in runs}) == 2


async def test_a_run_whose_task_is_cancelled_is_kept_as_interrupted(folder: Folder) -> None:
    asked = asyncio.Event()

    class Hanging(ScriptedProvider):
        async def send(self, call: Any) -> Any:
            asked.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(jurat.arun_suite("suite.yaml", providers={"judge": Hanging(GOOD)}))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    store = await Store.open(Path(".jurat/jurat.db"))
    (run,) = await store.runs.runs()
    await store.aclose()
    assert run.status.value == "interrupted"


INTERRUPTS = """\
import asyncio, os, signal

async def answer(task):
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.Event().wait()
"""


@pytest.mark.parametrize("looping", [False, True])
def test_an_interruption_is_raised_when_the_run_has_come_to_an_orderly_end(folder: Folder, looping: bool) -> None:
    folder.write("interrupts.py", INTERRUPTS)
    folder.write("suite.yaml", CAPITALS.replace("subject: answerer", 'subject: {python: "interrupts:answer"}'))

    async def cell() -> None:
        with pytest.raises(KeyboardInterrupt):
            jurat.run_suite("suite.yaml", concurrency=1)

    if looping:  # as a notebook runs its cells
        with contextlib.closing(asyncio.new_event_loop()) as loop:
            loop.run_until_complete(cell())
    else:
        with pytest.raises(KeyboardInterrupt):
            jurat.run_suite("suite.yaml", concurrency=1)

    (run,) = folder.jurat("runs", "--format", "json").json
    assert run["status"] == "interrupted"


@pytest.mark.parametrize(
    ("provider", "status"),
    [
        (ScriptedProvider(GOOD), "pass"),
        ({"kind": "scripted", "replies": [GOOD]}, "pass"),
        ("answerer", "error"),
        ("scripted:replies.yaml", "pass"),
    ],
)
def test_providers_are_objects_rows_names_or_shorthands(folder: Folder, provider: Any, status: str) -> None:
    folder.write("replies.yaml", json.dumps([GOOD]))

    run = jurat.run_suite("suite.yaml", filter="spain", providers={"judge": provider})

    assert run.cases()[0]["status"] == status


def test_a_suite_may_be_made_without_a_file(folder: Folder) -> None:
    case = Case(name="one", output="Paris", assertions=({"type": "contains", "value": "Paris"},))
    suite = Suite(name="made", subject=SubjectSpec(kind=SubjectKind.RECORDED), cases=(case,))

    run = jurat.run_suite(suite)

    assert run.passed
    assert run.cases()[0]["trials"][0]["subject"]["recorded"] is True


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, "4", 10_001, 10**9])
def test_a_concurrency_that_is_none_is_refused(folder: Folder, wrong: Any) -> None:
    with pytest.raises(jurat.AuthoringError, match="concurrency: expected an integer from 1 to 10000, found"):
        jurat.run_suite("suite.yaml", concurrency=wrong)


@pytest.mark.parametrize("command", ["run suite.yaml", "rescore latest suite.yaml", "judge rows.jsonl --rubric x"])
def test_the_command_line_knows_the_same_bound(folder: Folder, command: str) -> None:
    done = folder.jurat(*command.split(), "--concurrency", "10001")

    assert done.code == 2
    assert "less than or equal to 10000" in done.err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"providers": {"app": 5}}, "providers.app: expected a provider, a row, a shorthand kind:model or another"),
        ({"providers": {"app": None}}, "providers.app: expected a provider"),
        ({"providers": {5: "local"}}, "providers: expected names that are text, found a number"),
        ({"providers": ["local"]}, "providers: expected providers by name, found an array"),
        ({"store": 5}, "store: expected a file or a PostgreSQL URL, found a number"),
        ({"record": 5}, "record: expected a folder, found a number"),
        ({"replay": b"x"}, "replay: expected a folder, found bytes"),
        ({"live": "no"}, "live: expected true or false, found"),
        ({"suite": 5}, "suite: expected a suite or the name of its file, found a number"),
        ({"suite": None}, "suite: expected a suite or the name of its file, found null"),
    ],
)
def test_a_slip_of_a_type_is_told_as_such(folder: Folder, given: dict[str, Any], told: str) -> None:
    with pytest.raises(jurat.AuthoringError) as caught:
        jurat.run_suite(**{"suite": "suite.yaml", **given})
    assert told in str(caught.value)


def test_providers_of_one_assertion_are_looked_at_too() -> None:
    with pytest.raises(jurat.AuthoringError, match=r"providers\.app: expected a provider, a row"):
        jurat.evaluate("Paris", {"type": "contains", "value": "Paris"}, providers={"app": 5})  # type: ignore[dict-item]


FAILING = """\
suite: failing
providers:
  - {name: answerer, kind: scripted, replies: [Paris, {error: rate_limited}]}
  - {name: judge, kind: scripted, replies: [{error: overloaded}]}
subject: answerer
prompt: "Name a city of {{country}}."
assertions: [{type: rubric_judge, rubric: It is a city., provider: judge}]
policy: [{type: total_cost_usd, maximum: 1}]
limits: {concurrency: 1}
cases: [{name: a, variables: {country: France}}, {name: b, variables: {country: Peru}}]
"""


def test_who_is_never_paid_costs_nothing_after_an_error_either(folder: Folder) -> None:
    folder.write("failing.yaml", FAILING)

    run = jurat.run_suite("failing.yaml")

    assert run.summary["cost_usd"]["total"] == {"known": 0.0, "unknown": 0}
    assert run.gate["rules"][0]["outcome"] == "passed"
    assert run.summary["attempts"]["judge"]["failed"] == {"overloaded": 1}
    assert run.summary["attempts"]["subject"]["failed"] == {"rate_limited": 1}


def test_all_options_that_are_wrong_are_told_at_once() -> None:
    with pytest.raises(jurat.AuthoringError) as caught:
        jurat.run_suite("suite.yaml", samples=21, reducer="most", cache="always", budget_usd=-1, timeout_s=float("inf"))

    assert [fault.path for fault in caught.value.faults] == ["samples", "budget_usd", "timeout_s", "reducer", "cache"]


# --- options -------------------------------------------------------------------------------------------------------


def test_options_come_back_as_they_were_written() -> None:
    options = checked_options(
        samples=3,
        reducer={"minimum_pass_rate": 0.5},
        concurrency=2,
        filter="a*",
        cache="read",
        budget_usd=0.0,
        timeout_s=1.5,
        providers={"judge": "openai:MODEL", "row": {"kind": "scripted", "replies": ["x"]}},
    )

    written = json.loads(json.dumps(options_to_json(options)))

    assert options_from_json({**written, "suite_file": "x.yaml"}) == options


def test_an_object_has_to_be_given_anew_where_a_run_is_gone_on_with() -> None:
    written = options_to_json(checked_options(providers={"judge": ScriptedProvider(GOOD)}))

    with pytest.raises(
        jurat.AuthoringError, match=r"providers.judge: expected the provider that the run was begun with"
    ):
        options_from_json(written)
    assert options_from_json(written, {"judge": "local"}).providers == {"judge": "local"}


# --- the plan ------------------------------------------------------------------------------------------------------


def test_cases_that_say_the_same_share_what_is_built_of_it(folder: Folder) -> None:
    rows = "".join(json.dumps({"name": f"c{n}", "country": "France", "expected": n}) + "\n" for n in range(50))
    folder.write("rows.jsonl", rows)
    head = CAPITALS[: CAPITALS.index("cases:\n")].replace(
        "assertions:\n", "assertions:\n  - {type: contains, value: P}\n"
    )
    folder.write("suite.yaml", head + "cases_file: rows.jsonl\n")

    prepared = prepare(load_suite(SUITE), RunOptions())

    assert len(prepared.cases) == 50
    assert len({id(planned.assertions) for planned in prepared.cases}) == 1
    assert len(prepared.judges) == 1


def test_of_a_list_in_which_one_assertion_is_filled_anew_the_others_are_shared(folder: Folder) -> None:
    head = CAPITALS.replace(
        "assertions:\n", "assertions:\n  - {type: contains, value: P}\n  - {type: contains, value: a}\n"
    )
    folder.write("suite.yaml", head.replace("threshold: 85}", 'threshold: 85, expected: "{{country}}"}'))

    cases = [planned.assertions for planned in prepare(load_suite(SUITE), RunOptions()).cases]
    france, *others = [[one.name for one in case] for case in cases]

    assert france == ["contains", "contains#2", "rubric_judge", "contains#3"]  # it has one of its own
    assert others == [["contains", "contains#2", "rubric_judge"]] * 3
    assert len({id(case[0]) for case in cases[1:]}) == len({id(case[1]) for case in cases[1:]}) == 1
    assert [case[2].given.expected for case in cases] == ["France", "Spain", "Italy", "Peru"]


def test_a_judge_serves_every_case_whose_reference_answer_is_its_own(folder: Folder) -> None:
    text = CAPITALS.replace(
        "provider: judge, threshold: 85}",
        'provider: judge, threshold: 85, expected: "{{country}}", context: "x {{country}}"}',
    )
    folder.write("suite.yaml", text)

    prepared = prepare(load_suite(SUITE), RunOptions())

    assert len(prepared.judges) == 1
    given = [planned.assertions[0].given for planned in prepared.cases]
    assert [one.expected for one in given] == ["France", "Spain", "Italy", "Peru"]
    assert given[1].grounding == "x Spain"


def test_judges_that_ask_in_another_way_are_others(folder: Folder) -> None:
    more = (
        "  - {type: rubric_judge, template: correctness, provider: judge, threshold: 50, name: b}\n"
        "  - {type: rubric_judge, template: relevance, provider: judge, threshold: 85, name: c}\n"
        "  - {type: rubric_judge, template: correctness, provider: judge, threshold: 85, name: d, weight: 2}\n"
        "cases:\n"
    )
    folder.write("suite.yaml", CAPITALS.replace("cases:\n", more, 1))

    assert len(prepare(load_suite(SUITE), RunOptions()).judges) == 3  # the weight is the assertion's own business


@pytest.mark.parametrize(
    ("options", "expected"), [({}, 16), ({"concurrency": 3}, 3), ({"providers": {"judge": "scripted:r.yaml"}}, 16)]
)
def test_where_nobody_says_how_many_calls_may_be_in_flight_it_is_sixteen(
    folder: Folder, options: dict[str, Any], expected: int
) -> None:
    folder.write("r.yaml", json.dumps([GOOD]))

    assert prepare(load_suite(SUITE), RunOptions(**options)).limits.concurrency == expected


def test_a_suite_is_checked_without_keys_or_models(folder: Folder) -> None:
    folder.write("suite.yaml", CAPITALS.replace("provider: judge", "provider: openai:MODEL"))

    check_suite(load_suite(SUITE))
    with pytest.raises(jurat.AuthoringError, match="OPENAI_API_KEY"):
        prepare(load_suite(SUITE), RunOptions())


def test_a_provider_row_is_checked_once_at_its_own_line_whoever_uses_it(folder: Folder) -> None:
    folder.write(
        "suite.yaml",
        "schema_version: 1\nsuite: s\nproviders:\n  - {name: idle, kind: olama, model: m}\n"
        "  - {name: judge, kind: local, threads: 0}\ncases:\n  - name: one\n    output: Hi.\n    assertions:\n"
        "      - {type: rubric_judge, template: safety, provider: judge}\n"
        "      - {type: rubric_judge, template: pii, provider: judge}\n",
    )

    with pytest.raises(jurat.AuthoringError) as raised:
        check_suite(load_suite(SUITE))

    assert [(fault.path, fault.line) for fault in raised.value.faults] == [
        ("providers[0].kind", 4),
        ("providers[1].threads", 5),
    ]


def test_a_rubric_file_stands_in_the_suites_own_folder(folder: Folder) -> None:
    rubric = "name: own\ndefinition: d\ncriteria:\n  - {id: a, description: b, min: 0, max: 10}\n"
    folder.write("deep/own.yaml", rubric)
    folder.write("own.yaml", "")
    folder.write("deep/suite.yaml", CAPITALS.replace("template: correctness", "rubric: own.yaml").replace("85", "8"))
    folder.write("deep/out.yaml", CAPITALS.replace("template: correctness", "rubric: ../own.yaml"))

    prepared = prepare(load_suite(Path("deep/suite.yaml")), RunOptions())

    assert [judge.rubric.name for judge in prepared.judges] == ["own"]
    with pytest.raises(jurat.AuthoringError, match="leads out of it"):
        prepare(load_suite(Path("deep/out.yaml")), RunOptions())


def test_a_module_of_another_suite_is_never_taken_for_ones_own(folder: Folder) -> None:
    for name in ("one", "two"):
        folder.write(f"{name}/app.py", f"def answer(task):\n    return '{name}'\n")
        folder.write(f"{name}/suite.yaml", CAPITALS.replace("subject: answerer", 'subject: {python: "app:answer"}'))

    prepare(load_suite(Path("one/suite.yaml")), RunOptions())

    with pytest.raises(
        jurat.AuthoringError, match="expected the module app beside the suite, found one of the same name"
    ):
        prepare(load_suite(Path("two/suite.yaml")), RunOptions())


# --- the record ----------------------------------------------------------------------------------------------------


async def test_what_a_run_rests_on_is_in_the_store_before_its_first_call(folder: Folder) -> None:
    loaded = load_suite(SUITE)
    prepared = prepare(loaded, RunOptions(filter="!peru"))
    store = await Store.open(Path("x.db"))

    record = await begin(prepared, store)

    assert not folder.calls
    assert record.cases == 3
    assert {kind: len(hashes) for kind, hashes in record.snapshots.items()} == {
        "suite": 1,
        "prompt": 1,
        "provider": 2,
        "rubric": 1,
        "places": 1,
    }
    cases = [case async for case in store.runs.cases(record.id)]
    bodies = [case_from_json((await store.runs.snapshot(case.case_hash)).body) for case in cases]
    assert bodies == [case for case in loaded.suite.cases if case.name != "peru"]
    suite = suite_from_json((await store.runs.snapshot(record.suite_hash)).body, loaded.suite.cases)
    assert suite == loaded.suite
    assert [fault async for fault in store.verify()] == []
    await store.aclose()


async def test_a_runs_provenance_says_with_what_it_was_made_and_holds_no_secret(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_KEY", "a-secret-of-ours")
    row = "  - {name: third, kind: openai, model: m, api_key_env: JUDGE_KEY}\nprompt:"
    folder.write("suite.yaml", CAPITALS.replace("prompt:", row, 1).replace("provider: judge", "provider: third"))
    store = await Store.open(Path("x.db"))

    record = await begin(prepare(load_suite(SUITE), RunOptions()), store)

    assert set(record.provenance) >= {"jurat", "python", "platform", "prices", "subject", "judges"}
    bodies = [
        json.dumps((await store.runs.snapshot(name)).body) for names in record.snapshots.values() for name in names
    ]
    assert any("JUDGE_KEY" in body for body in bodies)
    assert "a-secret-of-ours" not in "".join([*bodies, json.dumps(dict(record.options)), str(record)])
    await store.aclose()


POLICY = "policy: [{type: no_regression, maximum_drop: 0}]\n"


def test_a_policy_compares_case_by_case_with_the_last_run_of_the_suite_that_will_do(folder: Folder) -> None:
    folder.write("suite.yaml", CAPITALS + POLICY)
    first = jurat.run_suite("suite.yaml", filter="!italy !peru")
    second = jurat.run_suite("suite.yaml", filter="!italy !peru")
    third = jurat.run_suite("suite.yaml", filter="!italy !peru !france")

    assert (first.gate["outcome"], first.record.options.get("baseline")) == ("undecided", None)
    assert (second.gate["outcome"], second.record.options["baseline"]) == ("passed", first.record.id)
    # No run before it looked at all that this one looks at.
    assert (third.gate["outcome"], third.record.options.get("baseline")) == ("undecided", None)


REGRESSING = """
schema_version: 1
suite: steady
policy: [{type: no_regression}]
cases:
  - {name: a, output: "THIS", assertions: [{type: contains, value: good}]}
  - {name: b, output: good, assertions: [{type: contains, value: good}]}
"""


def outcome_of(folder: Folder, text: str, **options: Any) -> tuple[str, str | None, str]:
    folder.write("suite.yaml", text)
    made = jurat.run_suite("suite.yaml", **options)
    return made.gate["outcome"], made.record.options.get("baseline"), made.record.id


def test_a_regression_is_not_met_by_running_it_again(folder: Folder) -> None:
    good, bad = REGRESSING.replace("THIS", "good"), REGRESSING.replace("THIS", "worse")
    _, _, first = outcome_of(folder, good)
    _, _, second = outcome_of(folder, good)

    assert [outcome_of(folder, bad)[:2] for _ in range(3)] == [("failed", second)] * 3
    assert outcome_of(folder, good)[:2] == ("passed", second)
    assert first != second


def test_a_run_of_some_of_the_cases_is_no_baseline_for_all_of_them(folder: Folder) -> None:
    good = REGRESSING.replace("THIS", "good")
    _, _, whole = outcome_of(folder, good)
    _, compared, _ = outcome_of(folder, good, filter="b")

    assert compared == whole
    assert outcome_of(folder, good)[1] == whole


def test_what_is_measured_in_another_way_is_undecided_once_and_then_the_baseline(folder: Folder) -> None:
    good = REGRESSING.replace("THIS", "good")
    other = good.replace("value: good", "value: oo")
    _, _, first = outcome_of(folder, good)
    was, compared, second = outcome_of(folder, other)

    assert (was, compared) == ("undecided", first)
    assert outcome_of(folder, other)[:2] == ("passed", second)


def test_a_run_with_errors_is_no_baseline_while_there_is_another(folder: Folder) -> None:
    good = REGRESSING.replace("THIS", "good")
    lost = good.replace('output: "good", ', "")
    _, _, first = outcome_of(folder, good)
    was, compared, _ = outcome_of(folder, lost + "subject: {provider: nobody}\nprompt: x\n" + BROKEN)

    assert (was, compared) == ("undecided", first)
    assert outcome_of(folder, REGRESSING.replace("THIS", "worse"))[:2] == ("failed", first)


BROKEN = "providers: [{name: nobody, kind: scripted, replies: [{error: timeout}]}]\n"


def test_a_baseline_that_is_not_there_is_told_before_the_first_call(folder: Folder) -> None:
    folder.write("suite.yaml", CAPITALS + POLICY.replace("maximum_drop: 0", "maximum_drop: 0, baseline: '2000'"))

    with pytest.raises(jurat.AuthoringError, match="expected a run '2000'"):
        jurat.run_suite("suite.yaml")

    assert not folder.calls


def test_once_the_budget_is_spent_no_call_is_begun_and_a_resumed_run_remembers_it(folder: Folder) -> None:
    priced = CAPITALS.replace("    call_log", "    prices: {input: 1000000, output: 1000000}\n    call_log")
    told = priced.replace("score: 95}}", "score: 95}, usage: {input_tokens: 1, output_tokens: 0}}")
    outputs = ["Paris", "Paris!", "Paris?", "Paris."]
    for country, output in zip(["Paris", "Madrid", "Rome", "Lima"], outputs, strict=True):
        told = told.replace(f"expected: {country}", f"output: {output!r}")
    folder.write("suite.yaml", told.replace("subject: answerer\n", ""))

    report = folder.jurat("run", "suite.yaml", "--budget-usd", "2", "--concurrency", "1", "--format", "json").json

    assert report["summary"]["errors"]["evaluators"] == {"budget_exhausted": 2}
    assert report["summary"]["cost_usd"]["judge"]["known"] == 2.0
    assert len(folder.calls) == 2
    again = folder.jurat("resume", "latest", "--retry-errors", "--format", "json").json
    assert again["summary"]["errors"]["evaluators"] == {"budget_exhausted": 2}
    assert len(folder.calls) == 2


# --- rules of the workspace ----------------------------------------------------------------------------------------

TWO_CASES = """
schema_version: 1
suite: two
cases:
  - {name: a, output: good, labels: [core], assertions: [{type: contains, value: good}]}
  - {name: b, output: bad, assertions: [{type: contains, value: good}]}
"""
HALF = '[[policy]]\ntype = "overall_pass_rate"\nminimum = 0.5\n'


def test_a_suite_without_rules_is_held_against_those_of_the_workspace(folder: Folder) -> None:
    folder.write("jurat.toml", HALF)
    folder.write("suite.yaml", TWO_CASES)
    without = jurat.run_suite("suite.yaml")
    folder.write("suite.yaml", TWO_CASES + "policy: [{type: case_pass_rate, minimum: 1}]\n")
    with_its_own = jurat.run_suite("suite.yaml")

    assert (without.gate["outcome"], without.gate["rules"][0]["rule"]) == (
        "passed",
        {"type": "overall_pass_rate", "minimum": 0.5},
    )
    assert with_its_own.gate["outcome"] == "failed"
    assert without.gate["policy"] is not None


def test_a_run_stays_held_against_the_rules_that_it_was_begun_with(folder: Folder) -> None:
    folder.write("jurat.toml", HALF)
    folder.write("suite.yaml", TWO_CASES)
    folder.jurat("run", "suite.yaml")
    folder.write("jurat.toml", "")

    assert folder.jurat("show", "latest", "--format", "json").json["gate"]["outcome"] == "passed"
    assert folder.jurat("store", "verify").code == 0


def test_rules_of_the_workspace_that_do_not_fit_a_suite_are_told_where_they_stand(folder: Folder) -> None:
    folder.write("jurat.toml", '[[policy]]\ntype = "label_pass_rate"\nlabel = "code"\nminimum = 1\n')
    folder.write("suite.yaml", TWO_CASES)

    with pytest.raises(jurat.AuthoringError) as caught:
        jurat.run_suite("suite.yaml")

    (fault,) = caught.value.faults
    assert (fault.file, fault.path) == (str(Path("jurat.toml").absolute()), "policy[0].label")
    assert str(fault).endswith("expected a label of the suite, found 'code'. Did you mean core?")


def test_rules_about_cases_that_are_left_out_are_undecided_and_no_fault(folder: Folder) -> None:
    folder.write("suite.yaml", TWO_CASES + "policy: [{type: label_pass_rate, label: core, minimum: 1}]\n")

    gate = jurat.run_suite("suite.yaml", filter="b").gate

    assert (gate["outcome"], gate["rules"][0]["reason"]) == ("undecided", "there is no case of core")
