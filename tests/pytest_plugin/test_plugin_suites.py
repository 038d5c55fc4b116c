"""Suite files as tests, and whole suites as assertions of a test."""

from __future__ import annotations

import pytest

from plugged import CAPITALS, Project

pytest_plugins = ("pytester",)


def test_each_case_of_a_suite_is_a_test_under_its_name(project: Project) -> None:
    project.suite()

    done = project.run("-v", "--junitxml=found.xml")

    done.assert_outcomes(passed=1, failed=1, errors=2)
    done.stdout.fnmatch_lines(
        [
            "evals/capitals.jurat.yaml::france PASSED *",
            "evals/capitals.jurat.yaml::spain FAILED *",
            "evals/capitals.jurat.yaml::italy ERROR *",
            "evals/capitals.jurat.yaml::peru ERROR *",
            "evals/capitals.jurat.yaml:30: Undecided",
            "E   Undecided: case italy: error malformed_json",
            "E   Undecided: case peru: unverified",
            "E   rubric_judge (correctness): unverified (evidence is missing), evaluator completed",
            "E     the verdict gives no quotes, which are required",
            "evals/capitals.jurat.yaml:29: EvaluationFailed",
            "E   EvaluationFailed: case spain: fail",
            "E   rubric_judge (correctness): fail, score 5 < threshold 85, evaluator completed",
            "E     Another\\x1b?31m city.",
            "E   jurat show 2*",
            "evaluated  1 passed, 1 failed, 1 unverified, 1 error",
            "errors     1 × malformed_json",
            "cost       subject $0.00, judges $0.00",
            "run        capitals: 2*, failed: 1 case of 4 failed, 2 undecided",
        ]
    )
    assert "GENERATED" not in done.stdout.str()
    assert "GENERATED" not in (project.folder / "found.xml").read_text("utf-8")
    assert project.junit() == [[], ["failure"], ["error"], ["error"]]


def test_the_cases_of_a_session_are_one_run_in_the_store(project: Project) -> None:
    project.suite()

    project.run()

    (run,) = project.runs()
    assert (run.suite, run.cases, run.status.value) == ("capitals", 4, "completed")
    assert project.calls() == 8


def test_answers_and_quotes_are_shown_to_whoever_asks(project: Project) -> None:
    project.suite()

    done = project.run("--jurat-show-output", "-k", "spain")

    done.stdout.fnmatch_lines(
        ["E     “says GENERATED” (evidence 1)", "E   output:", "E     It is Lisbon, says GENERATED."]
    )


@pytest.mark.parametrize(
    ("args", "names"),
    [
        (["-k", "spain"], ["spain"]),
        (["-k", "smoke and not france"], ["spain"]),
        (["-m", "smoke"], ["france", "spain"]),
        (["-m", "high_priority"], ["spain"]),
        (["-m", "label_skip"], ["france"]),
        (["-m", "jurat"], ["france", "spain", "italy", "peru"]),
        (["evals/capitals.jurat.yaml::peru", "evals/capitals.jurat.yaml::france"], ["peru", "france"]),
    ],
)
def test_what_is_not_selected_is_not_asked(project: Project, args: list[str], names: list[str]) -> None:
    project.suite()
    project.tests("def test_of_another_kind(): pass")
    args = args if args[0] != "-k" else [*args, "evals"]

    done = project.run("-v", "--strict-markers", "-W", "error", *args)

    told = [line.split()[0].rpartition("::")[2] for line in done.outlines if line.startswith("evals/") and "::" in line]
    assert told == names
    assert project.calls() == 2 * len(names)
    assert [run.cases for run in project.runs()] == [len(names)]


def test_the_last_failed_are_those_that_failed_and_those_that_erred(project: Project) -> None:
    project.suite()
    project.pytester.runpytest_inprocess()

    done = project.pytester.runpytest_inprocess("--lf", "-v")

    done.assert_outcomes(failed=1, errors=2)
    assert [run.cases for run in project.runs()] == [3, 4]


def test_tests_that_use_a_fixture_of_ours_are_marked_too(project: Project) -> None:
    project.tests("""
def test_asks(assert_evaluation):
    assert_evaluation("Paris", {"type": "contains", "value": "Paris"})

def test_asks_nobody():
    pass
""")

    project.run("-m", "jurat").assert_outcomes(passed=1, deselected=1)


UNRELATED = "{ this: is no YAML at all"


def test_no_other_yaml_file_is_touched(project: Project) -> None:
    project.suite(UNRELATED, "evals/settings.yaml")
    project.suite(UNRELATED, "docker-compose.yml")
    project.suite(UNRELATED, "evals/deep/capitals.yaml")
    project.suite(name="evals/capitals.yaml")
    project.pytester.makeini(
        "[pytest]\nasyncio_default_fixture_loop_scope = function\njurat_suites = evals/cap*.yaml *.jurat.yaml\n"
    )

    project.run().assert_outcomes(passed=1, failed=1, errors=2)
    project.run("-o", "jurat_suites=").assert_outcomes()
    project.run("-o", "jurat_suites=", "--jurat-collect", "evals/capitals.yaml").assert_outcomes(
        passed=1, failed=1, errors=2
    )


def test_a_faulty_suite_is_an_error_of_collection_that_tells_all_faults(project: Project) -> None:
    project.suite(CAPITALS.replace("variables: {country: Italy}", "vars: {country: Italy}").replace("type:", "typ:"))

    done = project.run()

    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(
        ["*ERROR collecting evals/capitals.jurat.yaml*", "*capitals.jurat.yaml:30: cases?2?.vars: *"]
    )
    assert project.calls() == 0


def test_of_very_many_faults_the_first_are_told_and_how_many_more_there_are(project: Project) -> None:
    rows = "".join(f"  - {{name: c{number}, vars: {{}}}}\n" for number in range(200))
    project.suite(f"suite: many\nprompt: hello\nassertions: [{{type: contains, value: a}}]\ncases:\n{rows}")
    project.tests("""
def test_it(assert_evaluations, answer):
    assert_evaluations(answer, [{"type": "contians"}] * 200)
""")

    done = project.run("--continue-on-collection-errors", "--tb=long")

    # pytest's own summary at the end repeats one of the two where nothing is cut, as in builds.
    told = [line for line in done.outlines if "more lines; jurat suite validate tells all faults of a suite" in line]
    assert len({line.removeprefix("E").strip() for line in told}) == 2
    assert len(done.outlines) < 150


def test_what_keeps_a_suite_from_being_run_is_told_once(project: Project) -> None:
    project.suite(CAPITALS.replace("threshold: 85", "threshold: 850"))

    done = project.run()

    done.assert_outcomes(errors=4)
    # pytest's own summary at the end repeats it where nothing is cut, as in builds.
    assert len([line for line in done.outlines if line.startswith("E ") and "found 850" in line]) == 1
    done.stdout.fnmatch_lines(["E   Undecided: the suite could not be run, as told above", "errors     4 × authoring"])
    assert project.calls() == 0


def test_samples_are_trials_of_each_case(project: Project) -> None:
    project.suite()

    done = project.run("--jurat-samples", "3", "-k", "spain")

    done.stdout.fnmatch_lines(["E   rubric_judge (correctness): fail, score 5 < *, in trials 1, 2, 3 of 3"])
    assert [run.samples for run in project.runs()] == [3]


def test_a_name_that_no_node_id_may_hold_is_written_otherwise(project: Project) -> None:
    project.suite(CAPITALS.replace("name: france", 'name: "a::b\\u202ec [d]"'))

    done = project.run("-v", "evals/capitals.jurat.yaml::a\\x3a\\x3ab\\u202ec [d]")

    done.assert_outcomes(passed=1)


def test_recorded_replies_need_no_key_and_no_network(project: Project) -> None:
    project.suite()
    project.run("--jurat-record", "replies")
    assert project.calls() == 8
    project.suite(CAPITALS.replace("kind: scripted\n    order: by_request\n    call_log: calls.txt", "kind: scripted"))

    done = project.run("--jurat-replay", "replies")

    done.assert_outcomes(passed=1, failed=1, errors=2)
    assert project.calls() == 8
    assert sorted(path.name for path in (project.folder / "replies/evals/capitals").iterdir()) == [
        "answerer.jsonl",
        "judge.jsonl",
    ]


def test_where_what_is_asked_was_not_recorded_the_summary_says_how_to_record_it(project: Project) -> None:
    project.suite()
    project.run("--jurat-record", "replies")
    project.suite(CAPITALS.replace("country: Peru", "country: Chile"))

    done = project.run("--jurat-replay", "replies")

    done.assert_outcomes(passed=1, failed=1, errors=2)
    done.stdout.fnmatch_lines(
        [
            "errors     1 × malformed_json, 1 × invalid_request",
            "note       what is asked is not what was recorded: --jurat-record FOLDER records it anew",
        ]
    )


def test_recording_some_cases_keeps_what_was_recorded_of_the_others(project: Project) -> None:
    project.suite()
    project.run("--jurat-record", "replies")
    project.run("--jurat-record", "replies", "-k", "france")

    project.run("--jurat-replay", "replies").assert_outcomes(passed=1, failed=1, errors=2)


def test_what_jurat_run_recorded_can_be_replayed(project: Project) -> None:
    import jurat

    path = project.suite()
    jurat.run_suite(path, record=project.folder / "replies")
    before = project.calls()

    project.run("--jurat-replay", "replies").assert_outcomes(passed=1, failed=1, errors=2)
    assert project.calls() == before


@pytest.mark.parametrize("option", ["-x", "--sw"])
def test_after_the_first_failure_nothing_more_is_asked(project: Project, option: str) -> None:
    project.suite()

    project.pytester.runpytest_inprocess(option).assert_outcomes(passed=1, failed=1)

    assert project.calls() == 4


def test_several_processes_keep_their_runs_in_one_store(project: Project) -> None:
    project.suite()
    project.tests("""
def test_it(assert_evaluation, answer, broken):
    assert_evaluation(answer, JUDGE, providers=broken)
""")

    done = project.pytester.runpytest_subprocess("-n2", "-v", "--junitxml=found.xml", "-l")

    done.assert_outcomes(passed=1, failed=1, errors=3)
    done.stdout.fnmatch_lines_random(
        [
            "*ERROR at call of italy*",
            "E   Undecided: case italy: error malformed_json",
            "ERROR evals/capitals.jurat.yaml::peru - Undecided: case peru: unverified",
            "evaluated  1 passed, 1 failed, 1 unverified, 2 errors",
            "errors     2 × malformed_json",
            "runs       capitals: 4 (jurat runs)",
        ]
    )
    assert "GENERATED" not in done.stdout.str() + (project.folder / "found.xml").read_text("utf-8")
    assert [(run.cases, run.status.value) for run in project.runs()] == [(1, "completed")] * 4
    assert sorted(project.junit()) == [[], ["error"], ["error"], ["error"], ["failure"]]


SLOW = """
import asyncio

async def answer(task):
    if task["input"] == "slow":
        await asyncio.Event().wait()
    return "yes"
"""

STOPPED = """
import pytest

def pytest_runtest_logreport(report):
    if report.nodeid.endswith("::quick") and report.when == "call":
        raise KeyboardInterrupt
"""


def test_ctrl_c_keeps_what_is_durable_and_says_that_the_run_is_interrupted(project: Project) -> None:
    project.write("evals/mine.py", SLOW)
    project.suite(
        """\
suite: stopped
prompt: "{{word}}"
subject: {python: "mine:answer"}
assertions: [{type: contains, value: "yes"}]
cases:
  - {name: quick, variables: {word: quick}}
  - {name: slow, variables: {word: slow}}
"""
    )
    project.write("conftest.py", STOPPED)

    done = project.pytester.runpytest_inprocess(no_reraise_ctrlc=True)

    assert done.ret == pytest.ExitCode.INTERRUPTED
    done.stdout.fnmatch_lines(["run        stopped: 2*, interrupted: jurat resume 2*"])
    (run,) = project.runs()
    assert (run.status.value, run.cases) == ("interrupted", 2)


def test_a_subject_that_never_answers_is_an_error_when_its_time_is_over(project: Project) -> None:
    project.write("evals/mine.py", SLOW)
    project.suite(
        """\
suite: silent
prompt: "{{word}}"
subject: {python: "mine:answer"}
limits: {subject_timeout_s: 0.05}
assertions: [{type: contains, value: "yes"}]
cases:
  - {name: quick, variables: {word: quick}}
  - {name: slow, variables: {word: slow}}
"""
    )

    done = project.run()

    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines(["E   Undecided: case slow: error timeout", "E   subject: error timeout, no answer"])


# --- a whole suite as one assertion --------------------------------------------------------------------------------


def test_a_suite_that_meets_its_policy_passes_and_its_run_is_returned(project: Project) -> None:
    project.suite(
        CAPITALS.replace("cases:", "policy: [{type: case_pass_rate, minimum: 0}]\ncases:"), "tests/capitals.yaml"
    )
    project.write(
        "tests/test_suites.py",
        """
def test_it(assert_suite):
    run = assert_suite("capitals.yaml", filter="france")
    assert run.passed
    assert [case["name"] for case in run.cases()] == ["france"]
    assert "GENERATED" not in repr(run)
""",
    )

    done = project.run()

    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["run        capitals: 2*, passed: 1 of 1 rule is met"])


@pytest.mark.parametrize(("how", "mode"), [("assert_suite", "strict"), ("await aassert_suite", "auto")])
def test_a_suite_whose_gate_fails_fails_with_the_cases_that_did_not_pass(project: Project, how: str, mode: str) -> None:
    project.suite()
    kind = "async def" if "await" in how else "def"
    project.tests(f"""
{kind} test_it({how.split()[-1]}):
    {how}("evals/capitals.jurat.yaml")
""")

    done = project.run("test_answers.py", "-o", f"asyncio_mode={mode}", "-l")

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "test_answers.py:26: EvaluationFailed",
            "E   EvaluationFailed: capitals: failed, 1 case of 4 failed, 2 undecided",
            "E   spain",
            "E     rubric_judge (correctness): fail, score 5 < threshold 85, evaluator completed",
            "E   italy",
            "E   peru",
            "E   jurat show 2*",
            "evaluated  1 passed, 1 failed, 1 unverified, 1 error",
        ]
    )
    assert "GENERATED" not in done.stdout.str()


def test_a_suite_whose_gate_is_undecided_is_an_error(project: Project) -> None:
    project.suite()
    project.tests("""
def test_it(assert_suite):
    assert_suite("evals/capitals.jurat.yaml", filter="italy")
""")

    done = project.run("test_answers.py")

    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(
        ["E   Undecided: capitals: undecided, *", "E   italy", "E     rubric_judge *malformed_json*"]
    )


def test_the_rules_of_a_policy_that_are_not_met_are_told(project: Project) -> None:
    policy = "policy: [{type: overall_pass_rate, minimum: 0.5}, {type: total_cost_usd, maximum: 1}]\ncases:"
    project.suite(CAPITALS.replace("cases:", policy))
    project.tests("""
def test_it(assert_suite):
    assert_suite("evals/capitals.jurat.yaml", filter="spain")
""")

    done = project.run("test_answers.py")

    done.stdout.fnmatch_lines(["E   failed: overall_pass_rate: 0 % of *"])
    assert "total_cost_usd" not in done.stdout.str()


def test_the_command_line_comes_before_what_a_test_says(project: Project) -> None:
    project.suite()
    project.write(
        "jurat.toml",
        '[[providers]]\nname = "kind"\nkind = "scripted"\n'
        'replies = [{json = {evidence = [{message_index = 1, quote = "It is"}], reason = "Fine.", score = 99}}]\n'
        "cycle = true\n",
    )
    project.tests("""
def test_it(assert_suite):
    assert assert_suite("evals/capitals.jurat.yaml", samples=1).record.samples == 2
""")

    done = project.run("test_answers.py", "--jurat-samples", "2", "--jurat-provider", "judge=kind")

    done.assert_outcomes(passed=1)


def test_an_options_fault_is_an_error(project: Project) -> None:
    project.suite()
    project.tests("""
def test_it(assert_suite):
    assert_suite("evals/capitals.jurat.yaml", samples=99)

def test_an_option_that_is_none(assert_suite):
    assert_suite("evals/capitals.jurat.yaml", sample=2)

def test_a_suite_that_is_not_there(assert_suite):
    assert_suite("evals/captals.jurat.yaml")
""")

    done = project.run("test_answers.py")

    done.assert_outcomes(errors=3)
    done.stdout.fnmatch_lines(
        [
            "E     samples: expected *, found 99",
            "E     sample: expected one of *, found this option. Did you mean samples?",
        ]
    )


def test_a_suite_without_a_file_is_recorded_inside_of_the_folder_whatever_it_is_called(project: Project) -> None:
    project.suite()
    project.tests("""
def test_it(assert_suite):
    from dataclasses import replace
    from pathlib import Path
    from jurat.suitecheck import loaded_suite

    suite = loaded_suite(Path("evals/capitals.jurat.yaml")).suite
    assert_suite(replace(suite, name="../../out/of it"), filter="france")
""")

    project.run("test_answers.py", "--jurat-record", "replies").assert_outcomes(passed=1)

    (folder,) = (project.folder / "replies").iterdir()
    assert sorted(path.name for path in folder.iterdir()) == ["answerer.jsonl", "judge.jsonl"]
    before = project.calls()
    project.run("test_answers.py", "--jurat-replay", "replies").assert_outcomes(passed=1)
    assert project.calls() == before


INTERRUPTED = """
import _thread
import asyncio

async def answer(task):
    _thread.interrupt_main()
    await asyncio.Event().wait()
"""


def test_a_suite_that_is_interrupted_within_a_test_says_how_it_is_resumed(project: Project) -> None:
    project.write("mine.py", INTERRUPTED)
    project.suite(
        """\
suite: stopped
prompt: hello
subject: {python: "mine:answer"}
assertions: [{type: contains, value: "yes"}]
cases: [{name: one}]
""",
        "stopped.yaml",
    )
    project.tests('def test_it(assert_suite):\n    assert_suite("stopped.yaml")\n')

    done = project.pytester.runpytest_inprocess(no_reraise_ctrlc=True)

    assert done.ret == pytest.ExitCode.INTERRUPTED
    (run,) = project.runs()
    assert run.status.value == "interrupted"
    done.stdout.fnmatch_lines([f"run        stopped: {run.id}, interrupted: jurat resume {run.id}"])
