"""Single evaluations as assertions of a test."""

from __future__ import annotations

import json

import pytest

from plugged import Project

pytest_plugins = ("pytester",)


def test_an_evaluation_that_passes_passes_and_is_counted(project: Project) -> None:
    project.tests("""
def test_it(assert_evaluation):
    found = assert_evaluation("It is Paris.", {"type": "contains", "value": "Paris", "name": "city"})
    assert (found.name, found.type, found.passed, found.score) == ("city", "contains", True, 100)
    assert found.result["evaluator"]["status"] == "completed"
""")

    done = project.run()

    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(
        ["*= jurat =*", "evaluated  1 passed, 0 failed", "cost       subject $0.00, judges $0.00"]
    )


def test_a_failure_names_type_score_threshold_evaluator_and_reason(project: Project) -> None:
    project.tests("""
def test_it(assert_evaluation, answer, judge):
    assert_evaluation(answer, JUDGE, providers=judge)
""")

    done = project.run()

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "test_answers.py:26: EvaluationFailed",
            "E   EvaluationFailed: rubric_judge (correctness): fail, score 5 < threshold 85, evaluator completed",
            "E     Another\\x1b?31m city.",
            "evaluated  0 passed, 1 failed",
        ]
    )
    assert "\x1b[31m city" not in done.stdout.str()


def test_all_are_evaluated_and_all_that_did_not_pass_are_told(project: Project) -> None:
    project.tests("""
def test_it(assert_evaluations, answer, judge):
    first = {"type": "contains", "value": "Paris", "name": "the city"}
    assert_evaluations(answer, [first, JUDGE, {"type": "contains", "value": "Lisbon"}], providers=judge)
""")

    done = project.run()

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "E   EvaluationFailed: 2 of 3 evaluations did not pass",
            "E   the city (contains): fail, score 0, evaluator completed",
            "E     “Paris” does not occur",
            "E   rubric_judge (correctness): fail, score 5 < threshold 85, evaluator completed",
            "evaluated  1 passed, 2 failed",
        ]
    )


def test_an_evaluators_error_is_an_error_with_its_category_and_no_failure(project: Project) -> None:
    project.tests("""
def test_it(assert_evaluation, answer, broken):
    assert_evaluation(answer, JUDGE, providers=broken)
""")

    done = project.run("--junitxml=found.xml")

    done.assert_outcomes(errors=1)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(
        [
            "*ERROR at call of test_it*",
            "E   Undecided: rubric_judge (correctness): error malformed_json, evaluator error",
            "E     malformed_json: *",
            "evaluated  0 passed, 0 failed, 1 error",
            "errors     1 × malformed_json",
            "ERROR test_answers.py::test_it - Undecided: rubric_judge (correctness)*",
        ]
    )
    assert project.junit() == [["error"]]


def test_missing_evidence_is_an_error_that_says_so(project: Project) -> None:
    project.tests("""
def test_it(assert_evaluation):
    assert_evaluation("   ", {"type": "contains", "value": "Paris"})
""")

    done = project.run()

    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(
        [
            "E   Undecided: contains: unverified (evidence is missing), evaluator completed",
            "E     the output is empty or blank, so there is nothing to check",
            "evaluated  0 passed, 0 failed, 1 unverified",
        ]
    )


def test_a_failure_is_a_failure_whatever_else_is_undecided(project: Project) -> None:
    project.tests("""
def test_it(assert_evaluations, answer, broken):
    assert_evaluations(answer, [JUDGE, {"type": "contains", "value": "Paris"}], providers=broken)
""")

    done = project.run()

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["E   rubric_judge (correctness): error malformed_json*", "E   contains: fail*"])


def test_what_is_misconfigured_is_an_error_with_all_faults(project: Project) -> None:
    project.tests("""
def test_it(assert_evaluations, answer):
    assert_evaluations(answer, [{"type": "containz"}, {"type": "contains"}])
""")

    done = project.run()

    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(
        ["E   AuthoringError: assertions: 2 faults", "E     assertions?0?.type: *Did you mean contains?"]
    )
    done.stdout.fnmatch_lines(["E     assertions?1?.value: *", "errors     1 × authoring"])


def test_no_assertion_at_all_is_no_pass(project: Project) -> None:
    project.tests("""
def test_none(assert_evaluations, answer):
    assert_evaluations(answer, [])

def test_one_by_itself(assert_evaluations, answer):
    assert_evaluations(answer, {"type": "contains", "value": "Paris"})
""")

    done = project.run()

    done.assert_outcomes(errors=2)
    done.stdout.fnmatch_lines(
        [
            "E     assertions: expected a list of at least one assertion, found none. Nothing would be decided",
            "E     assertions: expected a list of at least one assertion, found one by itself. Put it into brackets*",
        ]
    )


def test_what_nobody_foresaw_is_told_without_what_was_in_hand(project: Project) -> None:
    project.tests("""
class Odd(dict):
    def get(self, name, default=None):
        raise ZeroDivisionError

def test_it(assert_evaluation, answer):
    local = answer
    assert_evaluation(local, Odd(type="contains"))
""")

    done = project.run("-l", "--tb=long")

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["E   ZeroDivisionError"])
    assert "GENERATED" not in done.stdout.str()


def test_a_provider_that_nobody_knows_is_an_error_of_its_category(project: Project) -> None:
    project.tests("""
def test_it(assert_evaluation, answer):
    assert_evaluation(answer, JUDGE)
""")

    done = project.run()

    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["E   Undecided: *: error provider_not_found, evaluator unavailable"])


def test_who_never_answers_is_an_error_when_the_time_is_over_and_the_session_ends(project: Project) -> None:
    project.write("silent.py", "import asyncio\n\nasync def answer(messages):\n    await asyncio.Event().wait()\n")
    project.tests("""
def test_it(assert_evaluation, answer):
    row = {"kind": "python", "function": "silent:answer", "capabilities": {"structured_output": True}}
    assert_evaluation(answer, JUDGE, providers={"judge": row}, timeout_s=0.05)
""")

    done = project.run("-p", "no:threadexception")

    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(
        ["E   Undecided: *: error timeout, evaluator error", "E     timeout: no verdict within 0.05 s"]
    )


def test_whoever_expects_that_nothing_is_decided_says_so_and_reads_the_category(project: Project) -> None:
    project.tests("""
from jurat.pytest_plugin import Undecided

@pytest.mark.xfail(raises=Undecided, reason="a small judge")
def test_it(assert_evaluation, answer, broken):
    assert_evaluation(answer, JUDGE, providers=broken)

@pytest.mark.xfail(raises=Undecided, reason="a small judge")
def test_a_failure_is_another_thing(assert_evaluation, answer, judge):
    assert_evaluation(answer, JUDGE, providers=judge)
""")

    done = project.run("-rx")

    done.assert_outcomes(xfailed=1, failed=1)
    done.stdout.fnmatch_lines(["XFAIL test_answers.py::test_it - a small judge: malformed_json"])


LEAKY = """
class Answers:
    def __repr__(self):
        return "GENERATED"

@pytest.fixture
def shown():
    return Answers()

def test_fails(assert_evaluation, answer, judge, shown):
    local = answer
    assert_evaluation(local, JUDGE, providers=judge)

def test_errs(assert_evaluations, answer, broken, shown):
    local = answer
    assert_evaluations(local, [JUDGE], providers=broken)

def test_is_misconfigured(assert_evaluation, answer, shown):
    local = answer
    assert_evaluation(local, {"type": "containz"})

def test_looks_at_what_it_got(assert_evaluation):
    found = assert_evaluation("It is Lisbon.", {"type": "contains", "value": "Lisbon"})
    assert found.score == 3

def test_has_it_in_its_source(assert_evaluation):
    assert_evaluation("GENERATED", {"type": "contains", "value": "Paris"})
"""


@pytest.mark.parametrize("style", ["auto", "long", "short", "line", "native"])
def test_no_failure_shows_an_answer_in_any_style_nor_with_locals(project: Project, style: str) -> None:
    project.tests(LEAKY)

    done = project.run("-l", "-vv", f"--tb={style}", "--junitxml=found.xml", "-rA")

    done.assert_outcomes(failed=3, errors=2)
    assert "GENERATED" not in done.stdout.str() + done.stderr.str()
    assert "GENERATED" not in (project.folder / "found.xml").read_text("utf-8")


def test_what_travels_between_processes_and_into_logs_holds_no_answer(project: Project) -> None:
    project.tests(LEAKY)
    project.write(
        "conftest.py",
        """
import json

def pytest_runtest_logreport(report):
    with open("reports.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(CONFIG.hook.pytest_report_to_serializable(config=CONFIG, report=report)) + "\\n")

def pytest_configure(config):
    global CONFIG
    CONFIG = config
""",
    )

    project.run("-l", "-k", "fails or errs or misconfigured or source")

    reports = (project.folder / "reports.jsonl").read_text("utf-8")
    assert len(reports.splitlines()) == 12
    assert "EvaluationFailed: rubric_judge (correctness): fail" in reports
    assert "GENERATED" not in reports
    figures = [figure for line in reports.splitlines() for figure in json.loads(line).get("jurat_figures", ())]
    assert [figure["counts"] for figure in figures] == [{"fail": 1}, {"error": 1}, {"error": 1}, {"fail": 1}]


CHAINED = """
def test_says_it_otherwise(assert_evaluation, answer, judge):
    try:
        assert_evaluation(answer, JUDGE, providers=judge)
    except AssertionError as error:
        raise ValueError("mine") from error

def test_expects_other_words(assert_evaluation, answer, judge):
    with pytest.raises(AssertionError, match="no such words"):
        assert_evaluation(answer, JUDGE, providers=judge)
"""


@pytest.mark.parametrize("style", ["auto", "long", "short"])
def test_what_arises_from_a_failure_shows_no_answer_either(project: Project, style: str) -> None:
    project.tests(CHAINED)

    done = project.run("-l", f"--tb={style}", "--junitxml=found.xml")

    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(["test_answers.py:*: in test_says_it_otherwise", "E   ValueError: mine"])
    assert "GENERATED" not in done.stdout.str() + (project.folder / "found.xml").read_text("utf-8")
    assert "runner.py" not in done.stdout.str()


GROUPED = """
import asyncio

async def both(aassert_evaluation, answer, *judges):
    async with asyncio.TaskGroup() as group:
        for judge in judges:
            group.create_task(aassert_evaluation(answer, JUDGE, providers=judge))

async def test_errs(aassert_evaluation, answer, broken):
    await both(aassert_evaluation, answer, broken, broken)

async def test_fails(aassert_evaluation, answer, broken, judge):
    await both(aassert_evaluation, answer, broken, judge)

async def test_breaks(aassert_evaluation, answer, broken):
    async def breaks():
        raise ValueError("mine")
    async with asyncio.TaskGroup() as group:
        group.create_task(breaks())
        group.create_task(aassert_evaluation(answer, JUDGE, providers=broken))
"""


def test_what_a_group_of_tasks_raises_is_told_as_what_is_in_it(project: Project) -> None:
    project.tests(GROUPED)

    done = project.run("-o", "asyncio_mode=auto", "-l", "--tb=long")

    done.assert_outcomes(failed=2, errors=1)
    done.stdout.fnmatch_lines(
        [
            "*ERROR at call of test_errs*",
            "test_answers.py:*: Undecided",
            "E   Undecided: rubric_judge (correctness): error malformed_json, evaluator error",
            "E   rubric_judge (correctness): error malformed_json, evaluator error",
            "*test_fails*",
            "test_answers.py:*: EvaluationFailed",
        ]
    )
    assert "GENERATED" not in done.stdout.str()


def test_quotes_are_shown_to_whoever_asks(project: Project) -> None:
    project.tests("""
def test_it(assert_evaluation, answer, judge):
    assert_evaluation(answer, JUDGE, providers=judge)
""")

    done = project.run("--jurat-show-output")

    done.stdout.fnmatch_lines(["E     “GENERATED” (evidence 0)"])


def test_what_is_returned_shows_neither_reason_nor_quotes(project: Project) -> None:
    project.tests("""
def test_it(assert_evaluation, answer, judge):
    found = assert_evaluation(answer, {**JUDGE, "threshold": 3}, providers=judge)
    assert repr(found) == "Evaluated('rubric_judge', pass, score=5.0)"
    assert found.reason == "Another\\x1b[31m city."
""")

    project.run().assert_outcomes(passed=1)


@pytest.mark.parametrize(("mode", "mark"), [("auto", ""), ("strict", "@pytest.mark.asyncio")])
def test_it_works_beside_pytest_asyncio(project: Project, mode: str, mark: str) -> None:
    project.tests(f"""
import asyncio

{mark}
async def test_awaited(aassert_evaluation, aassert_evaluations, answer, judge):
    await aassert_evaluation(answer, {{"type": "contains", "value": "Lisbon"}})
    await aassert_evaluations(answer, [JUDGE], providers=judge)

{mark}
async def test_called(assert_evaluation, answer, judge):
    assert_evaluation(answer, {{"type": "contains", "value": "Lisbon"}})
    assert_evaluation(answer, JUDGE, providers=judge)
""")

    done = project.run("-o", f"asyncio_mode={mode}")

    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(["test_answers.py:30: EvaluationFailed", "evaluated  2 passed, 2 failed"])


def test_it_works_beside_anyio(project: Project) -> None:
    project.tests("""
@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.anyio
async def test_it(aassert_evaluation, assert_evaluation, answer, broken):
    assert_evaluation(answer, {"type": "contains", "value": "Lisbon"})
    await aassert_evaluation(answer, JUDGE, providers=broken)
""")

    done = project.run("-o", "asyncio_mode=strict")

    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["test_answers.py:32: Undecided"])


def test_a_function_of_the_user_runs_in_the_loop_of_the_test_that_awaits(project: Project) -> None:
    project.write(
        "mine.py",
        "import asyncio\n\nloops = []\n\n\nasync def look(context):\n"
        "    loops.append(asyncio.get_running_loop())\n    return True\n",
    )
    project.tests("""
import asyncio

async def test_it(aassert_evaluation, assert_evaluation, answer):
    import mine
    await aassert_evaluation(answer, {"type": "python", "function": "mine:look"})
    assert_evaluation(answer, {"type": "python", "function": "mine:look"})
    assert [loop is asyncio.get_running_loop() for loop in mine.loops] == [True, False]
""")
    project.pytester.syspathinsert()

    project.run("-o", "asyncio_mode=auto").assert_outcomes(passed=1)


def test_the_functions_can_be_imported_instead(project: Project) -> None:
    project.tests("""
from jurat.pytest_plugin import EvaluationFailed, assert_evaluation, assert_evaluations

def test_it(answer):
    assert len(assert_evaluations(answer, [{"type": "contains", "value": "Lisbon"}])) == 1
    with pytest.raises(EvaluationFailed, match="contains: fail"):
        assert_evaluation(answer, {"type": "contains", "value": "Paris"})
""")

    project.run().assert_outcomes(passed=1)


def test_the_command_lines_provider_comes_first_and_one_that_nobody_asks_for_is_told(project: Project) -> None:
    project.write(
        "jurat.toml",
        """
[[providers]]
name = "kind"
kind = "scripted"
replies = [{json = {evidence = [], reason = "Fine.", score = 99}}]
""",
    )
    project.tests("""
def test_it(assert_evaluation, answer, judge):
    assert assert_evaluation(answer, JUDGE, providers=judge).score == 99
""")

    done = project.run("--jurat-provider", "judge=kind", "--jurat-provider", "juge=kind")

    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["note       --jurat-provider juge=…: nothing asked for a provider of this name"])


def test_replies_are_recorded_and_replayed_without_a_judge(project: Project) -> None:
    project.tests("""
def test_it(assert_evaluation, answer, judge):
    assert assert_evaluation(answer, {**JUDGE, "threshold": 3}, providers=judge).score == 5
""")
    project.run("--jurat-record", "replies").assert_outcomes(passed=1)
    project.tests("""
def test_it(assert_evaluation, answer):
    assert assert_evaluation(answer, {**JUDGE, "threshold": 3}).score == 5

def test_another_question(assert_evaluation):
    assert_evaluation("It is Madrid.", JUDGE)
""")

    done = project.run("--jurat-replay", "replies")

    done.assert_outcomes(passed=1, errors=1)
    assert (project.folder / "replies" / "evaluations" / "judge.jsonl").is_file()
    done.stdout.fnmatch_lines(["E     invalid_request: judge.jsonl holds no reply to this request*"])


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--jurat-samples", "21"], "--jurat-samples: expected a whole number from 1 to 20, found 21"),
        (["--jurat-provider", "judge"], "--jurat-provider: expected NAME=PROVIDER*"),
        (["--jurat-replay", "nowhere"], "--jurat-replay: expected a folder of recordings, found no folder *nowhere"),
        (["--jurat-replay", ".", "--jurat-record", "x"], "--jurat-record: expected recordings to be made or replayed*"),
        (["--jurat-record", "x", "-n2"], "--jurat-record: expected one process, found several*"),
    ],
)
def test_what_cannot_be_meant_is_told_at_once(project: Project, args: list[str], told: str) -> None:
    project.tests("def test_it(): pass")

    done = project.run(*args)

    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"*{told}"])
