"""Two real runs with known shifts, compared: through the store, through reports, and through the program."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import jurat
from jurat.report.comparison_schema import comparison_schema
from suitefolder import Done, Folder

BASE = """\
schema_version: 1
suite: shifts
providers:
  - name: answerer
    kind: scripted
    order: by_request
    replies:
{answers}
  - name: judge
    kind: scripted
    order: by_request
    model: {judge}
    replies:
      - {{match: "quality ninety", json: {{evidence: [], reason: "Good.", score: 90}}}}
      - {{match: "quality just below", json: {{evidence: [], reason: "Nearly.", score: 79.9999}}}}
      - {{match: "quality ten", json: {{evidence: [], reason: "Bad.", score: 10}}}}
      - {{match: "quality garbled", text: "no verdict"}}
prompt: "Answer {{{{name}}}}{{{{more}}}}."
subject: answerer
assertions:
  - {{type: rubric_judge, template: correctness, provider: judge, threshold: {threshold}}}
cases:
{cases}
"""
OLD = {
    "steady": "quality ninety",
    "poor": "quality ten",
    "falls": "quality ninety",
    "slips": "quality ninety",
    "mends": "quality ten",
    "breaks": "quality ninety",
    "healed": "!network_error",
    "muddled": "quality ninety",
    "renewed": "quality ninety",
    "gone": "quality ninety",
}
NEW = {
    **OLD,
    "falls": "quality ten",
    "slips": "quality just below",
    "mends": "quality ninety",
    "breaks": "!network_error",
    "healed": "quality ninety",
    "muddled": "quality garbled",
    "renewed": "quality ten",
    "came": "quality ten",
}
EXPECTED = {
    "steady": "unchanged",
    "poor": "unchanged",
    "falls": "regressed",
    "slips": "regressed",
    "mends": "fixed",
    "breaks": "errored",
    "healed": "errored",
    "muddled": "errored",
    "renewed": "changed",
    "gone": "removed",
    "came": "added",
}


def suite(
    answers: dict[str, str], *, judge: str = "one", threshold: int = 80, more: dict[str, str] | None = None
) -> str:
    told, cases = [], []
    for name, text in answers.items():
        reply = f"error: {text[1:]}" if text.startswith("!") else f'text: "{text}"'
        told.append(f'      - {{match: "Answer {name}", {reply}}}')
        cases.append(f'  - {{name: {name}, variables: {{name: {name}, more: "{(more or {}).get(name, "")}"}}}}')
    return BASE.format(answers="\n".join(told), cases="\n".join(cases), judge=judge, threshold=threshold)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


def ran(folder: Folder, text: str, **options: Any) -> str:
    """The id of a run of this suite."""
    folder.write("shifts.yaml", text)
    return jurat.run_suite("shifts.yaml", **options).record.id


def ran_both(folder: Folder, **options: Any) -> tuple[str, str]:
    new = {name: text for name, text in NEW.items() if name != "gone"}
    return ran(folder, suite(OLD), **options), ran(folder, suite(new, more={"renewed": " anew"}), **options)


def compared(folder: Folder, *words: str) -> dict[str, Any]:
    done = folder.jurat("compare", *words, "--format", "json")
    assert done.code == 0, done.err
    told: dict[str, Any] = done.json
    jsonschema_rs.validator_for(comparison_schema()).validate(told)
    return told


def changes(told: dict[str, Any]) -> dict[str, str]:
    return {case["name"]: case["change"] for case in told["cases"]}


# --- classification ------------------------------------------------------------------------------------------------


def test_known_shifts_are_classified_exactly(folder: Folder) -> None:
    told = compared(folder, *ran_both(folder))

    assert changes(told) == EXPECTED
    assert told["regression"] == "found"
    assert told["significant_regression"] == "none"
    assert told["summary"]["cases"] == {
        "both": 9,
        "compared": 5,
        "counts": {
            "regressed": 2,
            "fixed": 1,
            "errored": 3,
            "unverified": 0,
            "incompatible": 0,
            "changed": 1,
            "added": 1,
            "removed": 1,
            "unchanged": 2,
        },
        "hiding": 3,  # breaks, muddled and renewed passed, and may fail now
        "undecided": {"base": 1, "candidate": 2},
    }
    assert told["summary"]["mcnemar"] == {"regressed": 2, "fixed": 1, "exact_p": 1.0, "mid_p": pytest.approx(0.625)}


def test_scores_before_and_after_are_told(folder: Folder) -> None:
    told = compared(folder, *ran_both(folder))

    slips = next(case for case in told["cases"] if case["name"] == "slips")
    (judged,) = slips["assertions"]
    assert (judged["base"]["score"], judged["candidate"]["score"]) == (90.0, 79.9999)
    assert judged["difference"] == -10.0001
    (whole,) = told["summary"]["assertions"]
    # steady, poor, falls, slips, mends: 0, 0, -80, -10.0001, +80
    assert (whole["cases"], whole["difference"]) == (5, pytest.approx(-10.0001 / 5))
    assert (whole["base"], whole["candidate"]) == (58.0, pytest.approx(55.99998))


def test_with_the_runs_exchanged_everything_is_the_other_way_round(folder: Folder) -> None:
    base, candidate = ran_both(folder)
    turned = {"regressed": "fixed", "fixed": "regressed", "added": "removed", "removed": "added"}

    there, back = compared(folder, base, candidate), compared(folder, candidate, base)

    assert changes(back) == {name: turned.get(word, word) for name, word in EXPECTED.items()}
    low, high = there["summary"]["pass_rate"]["interval"]
    assert back["summary"]["pass_rate"]["interval"] == [-high, -low]


def test_a_run_compared_with_itself_shows_no_regression(folder: Folder) -> None:
    run = ran(folder, suite({name: text for name, text in OLD.items() if name != "healed"}))

    told = compared(folder, run, "latest")

    assert set(changes(told).values()) == {"unchanged"}
    assert (told["regression"], told["significant_regression"]) == ("none", "none")
    assert told["summary"]["differs"] == told["summary"]["warnings"] == []
    assert "is compared with itself" in folder.jurat("compare", "latest").err


def test_another_judge_makes_cases_incompatible_even_where_they_pass_now(folder: Folder) -> None:
    base = ran(folder, suite({"mends": "quality ten", "steady": "quality ninety"}))
    candidate = ran(folder, suite({"mends": "quality ninety", "steady": "quality ninety"}, judge="two"))

    told = compared(folder, base, candidate)

    assert changes(told) == {"mends": "incompatible", "steady": "incompatible"}
    assert told["cases"][0]["why"] == ["rubric_judge: another judge identity"]
    assert told["regression"] == "undecided"
    assert told["summary"]["pass_rate"]["cases"] == 0
    assert "judges" in told["summary"]["differs"]


def test_another_threshold_makes_cases_incompatible_and_scores_are_still_compared(folder: Folder) -> None:
    base = ran(folder, suite({"slips": "quality ninety"}))

    told = compared(folder, base, ran(folder, suite({"slips": "quality just below"}, threshold=75)))

    assert changes(told) == {"slips": "incompatible"}
    assert told["cases"][0]["why"] == ["rubric_judge: another threshold: 80 before, 75 now"]
    assert told["summary"]["assertions"][0]["difference"] == -10.0001


def test_cases_are_joined_by_name_in_whatever_order_they_stand(folder: Folder) -> None:
    names = [f"case{index:03}" for index in range(300)]
    base = ran(folder, suite(dict.fromkeys(names, "quality ninety")))
    candidate = ran(
        folder, suite({name: "quality ten" if name == "case007" else "quality ninety" for name in names[::-1]})
    )

    told = compared(folder, base, candidate)

    assert len(told["cases"]) == 300
    assert [name for name, word in changes(told).items() if word != "unchanged"] == ["case007"]


def test_trials_of_a_case_count_as_one_case(folder: Folder) -> None:
    told = compared(folder, *ran_both(folder, samples=4))

    assert changes(told) == EXPECTED
    assert told["summary"]["pass_rate"]["cases"] == 5
    assert told["cases"][2]["base"]["passed"] == 4


def test_runs_of_other_numbers_of_trials_are_warned_of(folder: Folder) -> None:
    base = ran(folder, suite(OLD))

    told = compared(folder, base, ran(folder, suite(OLD), samples=2))

    assert told["summary"]["warnings"][0].startswith("the base has 1 trial a case and the candidate 2")


# --- reports -------------------------------------------------------------------------------------------------------


def report_of(folder: Folder, run: str, name: str) -> str:
    assert folder.jurat("export", run, "--output", name).code == 0
    return name


def test_a_report_stands_for_its_run(folder: Folder) -> None:
    base, candidate = ran_both(folder)
    report = report_of(folder, base, "base.json")

    of_runs, of_report = compared(folder, base, candidate), compared(folder, report, candidate)

    assert of_report["base"].pop("source") == "report"
    assert of_runs["base"].pop("source") == "store"
    assert of_report == of_runs


def test_a_report_as_it_is_handed_on_does_as_well(folder: Folder) -> None:
    base, candidate = ran_both(folder)
    assert folder.jurat("export", base, "--format", "report", "--output", "handed.json").code == 0

    assert changes(compared(folder, "handed.json", candidate)) == EXPECTED


def test_two_reports_need_no_store(folder: Folder) -> None:
    base, candidate = ran_both(folder)
    reports = report_of(folder, base, "base.json"), report_of(folder, candidate, "candidate.json")
    for file in (folder.path / ".jurat").iterdir():
        file.unlink()

    told = compared(folder, *reports)

    assert changes(told) == EXPECTED
    renewed = next(case for case in told["cases"] if case["name"] == "renewed")
    assert (renewed["asks_anew"], renewed["why"]) == (True, ["the case asks something else"])


def test_a_report_that_does_not_tell_what_its_cases_ask_leaves_that_open(folder: Folder) -> None:
    base, candidate = ran_both(folder)
    text = (folder.path / report_of(folder, base, "base.json")).read_text("utf-8")
    folder.write("base.json", re.sub(r'"content":\{"asked".*?"pass_threshold":null\},', "", text))
    folder.write("candidate.json", (folder.path / report_of(folder, candidate, "candidate.json")).read_text("utf-8"))
    for file in (folder.path / ".jurat").iterdir():
        file.unlink()

    told = compared(folder, "base.json", "candidate.json")

    assert changes(told) == EXPECTED
    renewed = next(case for case in told["cases"] if case["name"] == "renewed")
    assert renewed["asks_anew"] is None
    assert "the report does not say" in renewed["why"][0]


RECORDED = """
schema_version: 1
suite: recorded
cases:
  - {name: falls, output: OURS, assertions: [{type: contains, value: good}]}
  - {name: steady, output: good, assertions: [{type: contains, value: good}]}
  - {name: other, output: good, assertions: [{type: contains, value: VALUE}]}
"""


def test_reports_of_recorded_outputs_are_compared_where_no_store_holds_the_cases(folder: Folder) -> None:
    base = ran(folder, RECORDED.replace("OURS", "good").replace("VALUE", "good"))
    candidate = ran(folder, RECORDED.replace("OURS", "worse").replace("VALUE", "oo"))
    reports = report_of(folder, base, "base.json"), report_of(folder, candidate, "candidate.json")
    of_runs = changes(compared(folder, base, candidate))
    for file in (folder.path / ".jurat").iterdir():
        file.unlink()

    assert of_runs == {"falls": "regressed", "steady": "unchanged", "other": "incompatible"}
    assert changes(compared(folder, *reports)) == of_runs


def test_a_report_that_contradicts_itself_is_not_believed(folder: Folder) -> None:
    base, candidate = ran_both(folder)
    text = (folder.path / report_of(folder, base, "base.json")).read_text("utf-8")
    folder.write("forged.json", text.replace('"status":"pass"', '"status":"fail"', 1))

    done = folder.jurat("compare", "forged.json", candidate)

    assert done.code == 2
    assert "forged.json: cases[0]" in done.err


# --- exit codes and wrong input ------------------------------------------------------------------------------------


def test_the_exit_code_says_what_was_asked_for(folder: Folder) -> None:
    base, candidate = ran_both(folder)

    def code(*words: str) -> int:
        return folder.jurat("compare", *words).code

    assert code(base, candidate) == 0
    assert code(base, candidate, "--fail-on", "never") == 0
    assert code(base, candidate, "--fail-on", "regression") == 1
    assert code(base, candidate, "--fail-on", "significant-regression") == 0  # of nine cases even the worst is no proof


def test_a_fall_beyond_chance_fails_and_one_case_does_not(folder: Folder) -> None:
    names = [f"case{index:03}" for index in range(30)]
    base = ran(folder, suite(dict.fromkeys(names, "quality ninety")))
    one = ran(folder, suite({name: "quality ten" if name == "case003" else "quality ninety" for name in names}))
    ten = ran(folder, suite({name: "quality ten" if name[-1] in "05" else "quality ninety" for name in names}))

    def code(candidate: str, word: str) -> int:
        return folder.jurat("compare", base, candidate, "--fail-on", word).code

    assert (code(one, "regression"), code(one, "significant-regression")) == (1, 0)
    assert (code(ten, "regression"), code(ten, "significant-regression")) == (1, 1)


def test_an_error_that_could_hide_a_regression_leaves_it_undecided(folder: Folder) -> None:
    base = ran(folder, suite({"steady": "quality ninety", "breaks": "quality ninety"}))
    candidate = ran(folder, suite({"steady": "quality ninety", "breaks": "!network_error"}))

    done = folder.jurat("compare", base, candidate, "--fail-on", "regression")

    assert done.code == 3
    assert "UNDECIDED  0 of 1 compared case regressed" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing", "latest"), "RUN: expected a run 'nothing'"),
        (("missing.json", "latest"), "BASE: expected a run, or a file with a JSON report, found No such file"),
        (("suite.yaml", "latest"), "suite.yaml:1: (top level): expected JSON"),
        (("other", "latest"), "CANDIDATE: expected a run with cases of the base, found none of the 1 cases"),
    ],
)
def test_what_cannot_be_compared_is_told(folder: Folder, words: tuple[str, ...], said: str) -> None:
    other = ran(folder, suite({"elsewhere": "quality ten"}))
    ran(folder, suite({"here": "quality ten"}))

    done = folder.jurat("compare", *(other if word == "other" else word for word in words))

    assert done.code == 2
    assert said in done.err


async def test_a_run_that_was_broken_off_is_no_run_to_compare(folder: Folder) -> None:
    from jurat.report.record import RunStatus
    from jurat.store import Store

    first = jurat.run_suite(folder.write("shifts.yaml", suite({"a": "quality ten"}))).record
    store = await Store.open(folder.path / ".jurat" / "jurat.db")
    cases = [case async for case in store.runs.cases(first.id)]
    await store.runs.begin(_broken(first), cases, [])
    await store.runs.interrupt("broken", "2026-01-01T00:00:00Z")
    await store.aclose()

    done = folder.run("compare", "broken", first.id)

    assert RunStatus.INTERRUPTED in done.err
    assert done.code == 2
    assert "jurat resume broken" in done.err


def _broken(run: Any) -> Any:
    from dataclasses import replace

    from jurat.report.record import RunStatus

    return replace(run, id="broken", status=RunStatus.RUNNING, gate=None, finished_at=None)


def test_a_file_is_written_whole_and_never_over_what_is_read(folder: Folder) -> None:
    base, candidate = ran_both(folder)
    report = report_of(folder, base, "base.json")

    done = folder.jurat("compare", report, candidate, "--format", "json", "--output", "out.json")

    assert json.loads((folder.path / "out.json").read_text("utf-8"))["jurat_comparison"] == 1
    assert done.out.startswith("shifts  REGRESSED")
    assert folder.jurat("compare", report, candidate, "--output", report).code == 2


def test_two_comparisons_of_the_same_runs_are_equal_to_the_byte(folder: Folder) -> None:
    pair = ran_both(folder)

    def told(form: str) -> Done:
        return folder.jurat("compare", *pair, "--format", form)

    assert told("json").out == told("json").out
    assert told("markdown").out == told("markdown").out


# --- for people ----------------------------------------------------------------------------------------------------


def test_the_console_tells_regressions_first_with_scores_told_apart(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    base, candidate = ran_both(folder)

    shown = folder.jurat("compare", base, candidate).out

    golden = (Path(__file__).parent / "report" / "golden" / "comparison-80.txt").read_text("utf-8")
    assert shown == golden.replace("BASE", base).replace("CANDIDATE", candidate)
    assert max(map(len, shown.splitlines()[1:])) <= 80


def test_markdown_tells_the_same_and_what_others_wrote_stays_text(folder: Folder) -> None:
    text = suite({"falls": "quality ninety"}).replace("name: falls, variables", 'name: "<b>falls</b> @you", variables')
    base = ran(folder, text)
    candidate = ran(folder, text.replace("quality ninety", "quality ten", 1))

    shown = folder.jurat("compare", base, candidate, "--format", "markdown").out

    assert shown.startswith(
        "## shifts: ❌ regressed\n\n1 of 1 compared case regressed, 0 were fixed.\n\n### 1 case regressed"
    )
    assert "<code>&#60;b&#62;falls&#60;/b&#62; @<!-- -->you</code> <code>shifts.yaml</code>:" in shown
    assert "pass → fail, score 90 → 10, threshold 80" in shown
