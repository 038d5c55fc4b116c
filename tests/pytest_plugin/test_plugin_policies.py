"""The policy of a suite whose cases are tests, and cases that are each a run of their own."""

from __future__ import annotations

import pytest

from jurat.errors import AuthoringError
from jurat.pytest_plugin.items import policy_name
from jurat.pytest_plugin.plans import Plans
from jurat.pytest_plugin.suiteruns import Order
from jurat.suitecheck import loaded_suite
from plugged import CAPITALS, Project

pytest_plugins = ("pytester",)


def with_policy(*rules: str, suite: str = CAPITALS) -> str:
    return suite.replace("cases:", f"policy: [{', '.join(rules)}]\ncases:")


BROKEN = "{type: overall_pass_rate, minimum: 0.8}"
MET = "{type: total_cost_usd, maximum: 1}"


def test_a_policy_that_is_broken_fails_behind_the_cases_with_its_rules(project: Project) -> None:
    project.suite(with_policy(BROKEN, MET))

    done = project.run("-v", "--junitxml=found.xml")

    done.assert_outcomes(passed=1, failed=2, errors=2)
    done.stdout.fnmatch_lines(
        [
            "evals/capitals.jurat.yaml::peru ERROR *",
            "evals/capitals.jurat.yaml::policy FAILED *",
            "evals/capitals.jurat.yaml:27: EvaluationFailed",
            "E   EvaluationFailed: policy of capitals: failed, 1 of 2 rules is broken",
            "E   failed: overall_pass_rate: *",
            "E   jurat show 2*",
            "evaluated  1 passed, 1 failed, 1 unverified, 1 error",
            "run        capitals: 2*, failed: 1 of 2 rules is broken",
        ]
    )
    assert "total_cost_usd" not in done.stdout.str()
    assert project.junit() == [[], ["failure"], ["error"], ["error"], ["failure"]]
    assert [run.cases for run in project.runs()] == [4]
    assert project.calls() == 8


def test_a_policy_that_is_met_passes_and_forgives_no_case(project: Project) -> None:
    project.suite(with_policy(MET))

    project.run().assert_outcomes(passed=2, failed=1, errors=2)


def test_the_policy_of_the_configuration_is_that_of_suites_without_one(project: Project) -> None:
    project.write("jurat.toml", '[[policy]]\ntype = "overall_pass_rate"\nminimum = 0.8\n')
    project.suite()

    done = project.run("-k", "policy")

    done.assert_outcomes(failed=1, deselected=4)
    done.stdout.fnmatch_lines(["*jurat.toml:1: EvaluationFailed", "E   failed: overall_pass_rate: *"])


def test_a_configuration_that_cannot_be_read_is_an_error_of_collection(project: Project) -> None:
    project.write("jurat.toml", "policy = 3")
    project.suite()

    done = project.run()

    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*jurat.toml*policy*expected *"])


def test_a_policy_that_is_undecided_is_an_error_with_the_category_of_what_kept_it_so(project: Project) -> None:
    project.suite(with_policy("{type: overall_pass_rate, minimum: 0.4}"))

    done = project.run("-k", "policy")

    done.assert_outcomes(errors=1, deselected=4)
    done.stdout.fnmatch_lines(
        [
            "E   Undecided: policy of capitals: undecided, *",
            "E   undecided: overall_pass_rate: *",
            "evaluated  1 passed, 1 failed, 1 unverified, 1 error",
            "errors     1 × malformed_json",
        ]
    )


def test_a_policy_that_is_selected_alone_has_the_whole_suite_run(project: Project) -> None:
    project.suite(with_policy(MET))

    done = project.run("evals/capitals.jurat.yaml::policy", "-x")

    done.assert_outcomes(passed=1)
    assert [run.cases for run in project.runs()] == [4]
    done.stdout.fnmatch_lines(["evaluated  1 passed, 1 failed, 1 unverified, 1 error"])


def test_of_some_cases_a_policy_is_not_decided(project: Project) -> None:
    project.suite(with_policy(BROKEN))

    done = project.run("-m", "jurat", "-k", "not spain", "-rs")

    done.assert_outcomes(passed=1, errors=2, skipped=1, deselected=1)
    told = "the policy is about all 4 cases of the suite; 3 of them were selected"
    done.stdout.fnmatch_lines([f"SKIPPED *evals/capitals.jurat.yaml:27: {told}"])
    assert project.calls() == 6


def test_where_the_first_failure_ends_all_a_policy_is_not_decided(project: Project) -> None:
    project.suite(with_policy(BROKEN))

    done = project.run("--maxfail=9", "-rs")

    done.assert_outcomes(passed=1, failed=1, errors=2, skipped=1)
    done.stdout.fnmatch_lines(["SKIPPED *:27: with -x, --maxfail or --sw each case is a run of its own, *"])


def test_in_several_processes_a_policy_is_an_error_that_tells_how_to_decide_it(project: Project) -> None:
    project.suite(with_policy(MET))

    done = project.pytester.runpytest_subprocess("-n2")

    done.assert_outcomes(passed=1, failed=1, errors=3)
    done.stdout.fnmatch_lines_random(
        [
            "E   Undecided: the policy is not decided: the cases ran in several processes, each a run of its own",
            "E   keep those of a suite together: --dist loadfile",
            "runs       capitals: 4 (jurat runs)",
        ]
    )


def test_files_that_are_kept_together_are_one_run_and_their_policy_is_decided(project: Project) -> None:
    project.suite(with_policy(BROKEN))
    project.suite(with_policy(MET), "evals/others.jurat.yaml")

    done = project.pytester.runpytest_subprocess("-n2", "--dist", "loadfile")

    done.assert_outcomes(passed=3, failed=3, errors=4)
    done.stdout.fnmatch_lines_random(
        [
            "evaluated  2 passed, 2 failed, 2 unverified, 2 errors",
            "run        capitals: 2*, failed: 1 of 1 rule is broken",
            "run        capitals: 2*, passed: 1 of 1 rule is met",
        ]
    )
    assert [run.cases for run in project.runs()] == [4, 4]


def test_what_keeps_a_suite_from_being_run_is_told_before_its_policy(project: Project) -> None:
    project.suite(with_policy(MET, suite=CAPITALS.replace("threshold: 85", "threshold: 850")))

    done = project.run()

    done.assert_outcomes(errors=5)
    assert len([line for line in done.outlines if line.startswith("E ") and "found 850" in line]) == 1


def test_a_policy_has_a_name_that_no_case_has() -> None:
    assert policy_name(["a"]) == "policy"
    assert policy_name(["policy", "policy_", "a"]) == "policy__"


# --- a run for each case -------------------------------------------------------------------------------------------


def test_runs_of_single_cases_rest_on_the_whole_suite(project: Project) -> None:
    project.suite()
    project.run("--maxfail=9")
    project.run()

    whole, *single = project.runs()

    assert [run.cases for run in single] == [1, 1, 1, 1]
    assert {run.suite_hash for run in single} == {whole.suite_hash}


def test_what_is_wrong_with_a_suite_is_told_once_where_each_case_is_a_run(project: Project) -> None:
    project.suite(CAPITALS.replace("threshold: 85", "threshold: 850"))

    done = project.run("--maxfail=9")

    done.assert_outcomes(errors=4)
    assert len([line for line in done.outlines if line.startswith("E ") and "found 850" in line]) == 1


def test_of_a_suite_that_cannot_be_run_it_is_known_whom_it_asks(project: Project) -> None:
    project.suite(CAPITALS.replace("threshold: 85", "threshold: 850"))

    done = project.run("--jurat-provider", "judge=local", "--jurat-provider", "nobody=local")

    told = [line for line in done.outlines if line.startswith("note")]
    assert told == ["note       --jurat-provider nobody=…: nothing asked for a provider of this name"]


@pytest.mark.parametrize("threshold", ["85", "850"])
async def test_a_suite_is_prepared_once_for_all_of_its_runs(project: Project, threshold: str) -> None:
    path = project.suite(CAPITALS.replace("threshold: 85", f"threshold: {threshold}"))
    order = Order(suite=loaded_suite(path), given={}, told=lambda _: None)
    plans = Plans()

    found = []
    for _ in range(2):
        try:
            found.append(plans.of(path, order))
        except AuthoringError as error:
            found.append(error)  # type: ignore[arg-type]

    assert found[0] is found[1]
    await plans.aclose()


ANSWERS = """
async def answer(task):
    return {"output": "yes", "cost_usd": 0.25}
"""

STOPPED = """
from concurrent.futures import wait
from jurat.pytest_plugin.session import current

def pytest_runtest_logreport(report):
    if report.nodeid.endswith("::first") and report.when == "call":
        (run,) = current().case_runs._all
        wait(run._results.values(), 30)
        raise KeyboardInterrupt
"""


def test_what_was_spent_on_cases_that_no_test_came_to_tell_is_in_the_summary(project: Project) -> None:
    project.write("evals/mine.py", ANSWERS)
    project.suite(
        """\
suite: stopped
prompt: "{{word}}"
subject: {python: "mine:answer"}
assertions: [{type: contains, value: "yes"}]
cases:
  - {name: first, variables: {word: first}}
  - {name: second, variables: {word: second}}
"""
    )
    project.write("conftest.py", STOPPED)

    done = project.pytester.runpytest_inprocess(no_reraise_ctrlc=True)

    done.stdout.fnmatch_lines(["evaluated  1 passed, 0 failed", "cost       subject $0.5000, judges $0.00"])
