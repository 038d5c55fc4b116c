"""`jurat run`: what it prints, keeps and refuses, and the code with which it ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from suitefolder import CAPITALS, Folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


# --- exit codes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--filter", "label:right"), 0),
        (("--filter", "label:right", "--fail-on", "undecided"), 0),
        (("--filter", "label:wrong"), 1),
        (("--filter", "label:wrong", "--fail-on", "never"), 0),
        (("--filter", "label:broken"), 3),
        (("--filter", "label:broken", "--fail-on", "undecided"), 1),
        (("--filter", "label:broken", "--fail-on", "never"), 0),
        ((), 1),  # a definite failure is not hidden behind what is undecided
        (("--filter", "nobody"), 2),
        (("--filter", "nobody", "--fail-on", "never"), 2),
    ],
)
def test_the_exit_code_says_how_the_gate_came_out(folder: Folder, options: tuple[str, ...], code: int) -> None:
    assert folder.jurat("run", "suite.yaml", *options).code == code


@pytest.mark.parametrize(
    ("labels", "code"), [(("right", "broken"), 3), (("broken", "wrong", "right"), 1), (("right", "right"), 0)]
)
def test_of_several_suites_the_worst_exit_code_counts(folder: Folder, labels: tuple[str, ...], code: int) -> None:
    files = []
    for number, label in enumerate(labels):
        lines = CAPITALS.splitlines(keepends=True)
        head = "".join(lines[: lines.index("cases:\n")]).replace("suite: capitals", f"suite: s{number}")
        case = {"right": "France", "wrong": "Spain", "broken": "Peru"}[label]
        text = f"{head}cases:\n  - {{name: only, variables: {{country: {case}}}}}\n"
        files.append(folder.write(f"s{number}.yaml", text).name)

    done = folder.jurat("run", *files)

    assert done.code == code
    listed = folder.jurat("runs", "--format", "json").json
    assert [run["suite"] for run in reversed(listed)] == [f"s{number}" for number in range(len(labels))]


def test_no_case_selected_is_wrong_input_and_nothing_is_asked_or_kept(folder: Folder) -> None:
    done = folder.jurat("run", "suite.yaml", "--filter", "frence")

    assert done.code == 2
    assert "found 0 cases selected of 4. The cases are called france, spain, italy, peru" in done.err
    assert not folder.calls
    assert not (folder.path / ".jurat").exists()


def test_a_suite_whose_judges_all_fail_never_speaks_of_success(folder: Folder) -> None:
    text = CAPITALS.replace("{match: Paris, json:", "{match: nowhere, json:").replace(
        '- {json: {evidence: [{message_index: 1, quote: "Lisbon"}], reason: "Another city.", score: 5}}',
        "- error: auth_error",
    )
    folder.write("suite.yaml", text)

    done = folder.jurat("run", "suite.yaml", "--filter", "!italy", "--samples", "4", "--concurrency", "1")

    assert done.code == 3
    assert "PASSED" not in done.out
    assert "auth_error" in done.out
    # Three refusals in a row, and nobody asks any more; every verdict is an error all the same.
    assert len(folder.calls) == 12 + 3
    assert "auth_error" in done.err
    report = folder.jurat("export", "latest").json
    assert report["summary"]["errors"]["evaluators"] == {"auth_error": 12}


# --- what is wrong is told before anything is spent ----------------------------------------------------------------


def test_all_that_is_wrong_is_told_at_once_with_file_and_line(folder: Folder) -> None:
    text = CAPITALS.replace("threshold: 85}", "threshold: 850}").replace("value: Paris}", "valeu: Paris}")
    folder.write("suite.yaml", text.replace("subject: answerer", "subject: answerrer"))

    done = folder.jurat("run", "suite.yaml", "--filter", "nobody")

    assert done.code == 2
    assert "threshold: expected a number from 0 to 100, found 850" in done.err
    assert "found 'valeu'" in done.err or "Did you mean value?" in done.err
    assert "answerrer" in done.err
    assert "--filter" in done.err
    assert done.err.count("suite.yaml:") >= 3
    assert not folder.calls


def test_an_assertion_of_the_whole_suite_is_told_wrong_once_and_not_for_every_case(folder: Folder) -> None:
    folder.write("suite.yaml", CAPITALS.replace("threshold: 85", "threshold: 850"))

    done = folder.jurat("run", "suite.yaml")

    assert done.code == 2
    assert done.err == (
        "suite: 1 fault\n  suite.yaml:23: assertions[0].threshold: expected a number from 0 to 100, found 850.0\n"
    )


def test_what_is_wrong_with_several_suites_is_told_together(folder: Folder) -> None:
    folder.write("one.yaml", CAPITALS.replace("template: correctness", "template: correctnes"))
    folder.write("two.yaml", CAPITALS.replace("suite: capitals", "suiet: capitals"))

    done = folder.jurat("run", "one.yaml", "suite.yaml", "two.yaml", "missing.yaml")

    assert done.code == 2
    assert "two.yaml:2: suiet:" in done.err
    assert "missing.yaml: suite file: expected a file, found no such file" in done.err
    assert not folder.calls


def test_every_suite_is_checked_before_the_first_is_run(folder: Folder) -> None:
    folder.write("other.yaml", CAPITALS.replace("template: correctness", "template: correctnes"))

    done = folder.jurat("run", "suite.yaml", "other.yaml")

    assert done.code == 2
    assert "other.yaml:23" in done.err
    assert not folder.calls


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--provider", "judge"), "--provider: expected NAME=PROVIDER, as in judge=openai:MODEL, found 'judge'"),
        (("--provider", "juge=local"), "expected a provider that the suite names, found 'juge'"),
        (("--provider", "judge=nobody"), "there is no provider 'nobody'; there are answerer, judge, local"),
        (("--provider", "judge=answerer", "--provider", "judge=local"), "expected each name once"),
        (("--provider", "judge=openai:MODEL"), "missing_api_key"),
        (("--reducer", "most"), "reducer: expected one of all, any, majority"),
        (("--timeout", "0"), "timeout_s: expected a number above 0, found 0"),
        (("--filter", "labl:x"), "Did you mean label?"),
        (("--filter", ""), "--filter: expected at least one term"),
    ],
)
def test_an_option_that_is_wrong_is_told_and_nothing_is_asked(
    folder: Folder, options: tuple[str, ...], told: str
) -> None:
    done = folder.jurat("run", "suite.yaml", *options)

    assert done.code == 2
    assert told in done.err
    assert not folder.calls


def test_a_budget_needs_known_prices(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "no key at all")

    done = folder.jurat("run", "suite.yaml", "--budget-usd", "1", "--provider", "judge=openai:nobody-knows-it")

    assert done.code == 2
    assert (
        "expected a known price of provider judge, since there is a budget, found none for nobody-knows-it" in done.err
    )
    assert folder.jurat("run", "suite.yaml", "--budget-usd", "1", "--filter", "france").code == 0


# --- providers -----------------------------------------------------------------------------------------------------


def test_a_provider_is_replaced_by_a_shorthand_of_the_working_directory(folder: Folder) -> None:
    folder.write("deep/suite.yaml", CAPITALS)
    folder.write("replies.yaml", '- {json: {evidence: [], reason: "Strict.", score: 1}}\n')

    done = folder.jurat("run", "deep/suite.yaml", "--filter", "france", "--provider", "judge=scripted:replies.yaml")

    assert done.code == 1
    assert "Strict." in done.out


def test_a_provider_is_replaced_by_another_one_of_the_suite(folder: Folder) -> None:
    done = folder.jurat("run", "suite.yaml", "--filter", "france", "--provider", "judge=answerer")

    assert done.code == 3
    assert "malformed_json" in done.out


def test_a_suite_takes_providers_from_the_configuration_of_the_working_directory(folder: Folder) -> None:
    folder.write("deep/suite.yaml", CAPITALS.replace("provider: judge", "provider: house"))
    folder.write("jurat.toml", '[[providers]]\nname = "house"\nkind = "scripted"\nreplies_file = "r.yaml"\n')
    folder.write("r.yaml", '- {json: {evidence: [], reason: "Good.", score: 100}}\n')

    assert folder.jurat("run", "deep/suite.yaml", "--filter", "france").code == 0


# --- trials --------------------------------------------------------------------------------------------------------


def test_options_come_before_what_the_suite_says(folder: Folder) -> None:
    folder.write("suite.yaml", CAPITALS.replace("subject: answerer", "subject: answerer\nsampling: {samples: 2}"))

    report = folder.jurat(
        "run", "suite.yaml", "--filter", "france", "--samples", "3", "--reducer", "0.6", "--format", "json"
    ).json

    assert (report["run"]["samples"], report["run"]["reducer"]) == (3, {"minimum_pass_rate": 0.6})
    assert len(report["cases"][0]["trials"]) == 3
    # The subject is asked three times; the judge is asked the same three times, and so once.
    assert len(folder.calls) == 4
    assert [one["assessments"][0]["result"]["evaluator"]["cached"] for one in report["cases"][0]["trials"]] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(("cache", "asked"), [("off", 4), ("read", 2), ("refresh", 4)])
def test_replies_of_earlier_runs_are_used_where_that_is_asked_for(folder: Folder, cache: str, asked: int) -> None:
    folder.jurat("run", "suite.yaml", "--filter", "france")

    report = folder.jurat("run", "suite.yaml", "--filter", "france", "--cache", cache, "--format", "json").json

    assert len(folder.calls) == asked
    assert report["gate"]["outcome"] == "passed"
    assert report["cases"][0]["trials"][0]["subject"]["spending"]["cached"] is (cache == "read")


def test_a_changed_rubric_is_another_question_and_never_served_from_the_cache(folder: Folder) -> None:
    folder.write("suite.yaml", CAPITALS.replace("template: correctness", 'rubric: "It names the capital."'))
    folder.jurat("run", "suite.yaml", "--filter", "france")
    folder.write("suite.yaml", CAPITALS.replace("template: correctness", 'rubric: "It names the capital. Be strict."'))

    folder.jurat("run", "suite.yaml", "--filter", "france", "--cache", "read")

    assert len(folder.calls) == 3  # the subject's answer is used again, the verdict is not


def test_an_error_is_never_served_from_the_cache(folder: Folder) -> None:
    folder.jurat("run", "suite.yaml", "--filter", "peru")
    asked = len(folder.calls)

    done = folder.jurat("run", "suite.yaml", "--filter", "peru", "--cache", "read")

    assert done.code == 3
    assert len(folder.calls) == asked + 1  # the judge again, whose reply was no valid verdict; not the subject


def test_without_a_terminal_nothing_but_notices_goes_to_standard_error(folder: Folder) -> None:
    done = folder.jurat("run", "suite.yaml", "--filter", "france")

    assert done.err == ""
    assert "\x1b" not in done.out
