"""`jurat runs`, `jurat show`, `jurat export`: the record, read by people and by programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema_rs
import pytest

from jurat.cli._trial import trial_text
from jurat.evidence import Context, number_evidence
from jurat.report.plaintext import columns
from jurat.report.record import AssessmentRecord, CaseRecord, SubjectRecord, TrialRecord
from jurat.report.run_schema import report_schema
from jurat.vocabulary import Status
from suitefolder import CAPITALS, Folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


def test_runs_are_listed_the_newest_first_and_by_suite(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    folder.jurat("run", "suite.yaml", "--filter", "france")
    folder.write("other.yaml", CAPITALS.replace("suite: capitals", "suite: other"))
    folder.jurat("run", "other.yaml")

    lines = folder.jurat("runs").out.splitlines()
    assert [line.split()[1:4] + line.split()[5:] for line in lines[1:]] == [
        ["completed", "failed", "4", "other"],
        ["completed", "passed", "1", "capitals"],
    ]
    assert [line.split()[4] for line in lines[1:]] == [
        run["created_at"][:-1] for run in folder.jurat("runs", "--format", "json").json
    ]
    assert [run["suite"] for run in folder.jurat("runs", "--suite", "capitals", "--format", "json").json] == [
        "capitals"
    ]
    assert [run["suite"] for run in folder.jurat("runs", "--limit", "1", "--format", "json").json] == ["other"]


@pytest.mark.parametrize(("width", "begun"), [(80, False), (99, False), (100, True)])
def test_no_name_breaks_the_lines_of_the_list(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, width: int, begun: bool
) -> None:
    folder.write("long.yaml", CAPITALS.replace("suite: capitals", f"suite: {'long-漢' * 30}"))
    folder.jurat("run", "long.yaml", "--filter", "france")
    monkeypatch.setenv("COLUMNS", str(width))

    head, row = folder.jurat("runs").out.splitlines()

    assert ("begun" in head) == begun
    assert width - 1 <= columns(row) <= width
    assert row.endswith("…")
    assert "completed   passed         1  " in row


def test_a_case_is_shown_with_prompt_answer_reason_and_quotes(folder: Folder) -> None:
    folder.jurat("run", "suite.yaml")

    assert folder.jurat("show", "--case", "spain").out == (
        "case spain  FAIL\n"
        "  suite.yaml:30\n"
        "user\n"
        "    What is the capital of Spain?\n"
        "output\n"
        "    It is Lisbon.\n"
        "assertions\n"
        "  FAIL  rubric_judge (correctness)  score 5 < threshold 85\n"
        "      Another city.\n"
        "        “Lisbon” — output\n"
        "      judge  scripted  ? + ? tokens  $0.000000  1 attempt  0.00 s\n"
        "subject  ? + ? tokens  $0.000000  1 attempt  0.00 s\n"
        "\n"
    )


def test_documents_that_nobody_quoted_are_shown_by_how_they_begin(folder: Folder) -> None:
    document = f"{{name: terms, text: {'Delivery takes three days. ' * 20}}}"
    case = f"{{name: a, output: x, documents: [{document}], assertions: [{{type: contains, value: x}}]}}"
    (folder.path / "papers.yaml").write_text(f"suite: papers\ncases: [{case}]\n", "utf-8")
    folder.jurat("run", "papers.yaml")

    told = folder.jurat("show", "--case", "a").out

    assert "document terms  text/plain, 539 characters\n    Delivery takes three days. " in told
    assert "…\nassertions\n" in told


def test_a_case_without_an_answer_is_shown_with_the_reason(folder: Folder) -> None:
    folder.jurat("run", "suite.yaml")

    shown = folder.jurat("show", "--case", "italy").out

    assert "no answer  network_error: the script of provider answerer says: network_error" in shown
    assert "What is the capital of Italy?" in shown
    assert "SKIPPED  rubric_judge (correctness)" in shown


def test_a_case_as_data_holds_the_whole_conversation(folder: Folder) -> None:
    folder.jurat("run", "suite.yaml")

    told = folder.jurat("show", "--case", "france", "--format", "json").json

    assert told["trials"][0]["subject"]["output"] == "The capital of France is Paris."


def test_a_case_that_is_not_there_names_the_one_that_is_meant(folder: Folder) -> None:
    folder.jurat("run", "suite.yaml")

    done = folder.jurat("show", "--case", "frence")

    assert done.code == 2
    assert "found 'frence'. Did you mean france?" in done.err


def test_a_run_is_shown_as_it_was_told_when_it_ended(folder: Folder) -> None:
    ended = folder.jurat("run", "suite.yaml")

    assert folder.jurat("show").out == ended.out


# --- quotes where they stand ---------------------------------------------------------------------------------------


def shown_trial(*, output: str, quotes: list[tuple[int, str]], document: str = "", colour: bool = False) -> str:
    documents = ({"text": document, "name": "policy"},) if document else ()
    context = Context(output=output, rendered_input="Ask", documents=documents)  # type: ignore[arg-type]
    result = {
        "reason": "Because.",
        "evidence": [{"message_index": index, "quote": quote} for index, quote in quotes],
        "metadata": {"threshold": 80},
    }
    one = AssessmentRecord(name="j", type="rubric_judge", status=Status.PASS, score=90.0, result=result)
    trial = TrialRecord(
        case_index=0,
        trial_index=0,
        status=Status.PASS,
        subject=SubjectRecord(output=output, rendered_input="Ask", recorded=True),
        assessments=(one,),
    )
    case = CaseRecord(case_index=0, name="c", case_hash="sha256:0")
    return trial_text(case, trial, (number_evidence(context),), 1, coloured=colour)


def test_quotes_are_marked_where_they_stand_also_where_they_overlap() -> None:
    text = shown_trial(output="one two three", quotes=[(1, "two three"), (1, "one two")], colour=True)

    mark, end = "\x1b[1;30;43m", "\x1b[0m"
    assert f"    {mark}one two{end}{mark} three{end}\n" in text


def test_escaping_what_a_model_wrote_does_not_shift_the_marks() -> None:
    text = shown_trial(output="\x1b[31mred\x1b[0m \u202eeven", quotes=[(1, "red\x1b[0m")], colour=True)

    assert "\\x1b[31m\x1b[1;30;43mred\\x1b[0m\x1b[0m \\u202eeven" in text


def test_a_document_is_shown_around_its_quotes_alone() -> None:
    document = "a" * 1_000 + " the rule " + "b" * 1_000

    text = shown_trial(output="fine", quotes=[(2, "the rule")], document=document)

    assert "document policy\n" in text
    assert "“the rule” — document policy" in text
    assert text.count("a") < 400


def test_what_a_model_wrote_is_never_read_as_markup() -> None:
    assert "[bold]x[/bold] :smile:" in shown_trial(output="[bold]x[/bold] :smile:", quotes=[])


# --- export --------------------------------------------------------------------------------------------------------


def test_the_report_leaves_the_store_as_the_run_wrote_it_and_fits_its_schema(folder: Folder) -> None:
    written = folder.jurat("run", "suite.yaml", "--format", "json")

    exported = folder.jurat("export", "latest")

    assert exported.out == written.out
    assert folder.jurat("export", "latest").out == exported.out
    jsonschema_rs.validator_for(report_schema()).validate(exported.json)


def test_lines_of_json_hold_a_case_each(folder: Folder) -> None:
    folder.jurat("run", "suite.yaml")

    lines = folder.jurat("export", "latest", "--format", "jsonl").out.splitlines()

    assert [json.loads(line)["name"] for line in lines] == ["france", "spain", "italy", "peru"]
    assert "Lisbon." not in "".join(lines)


def test_a_table_adds_up_to_what_the_report_says(folder: Folder) -> None:
    folder.jurat("run", "suite.yaml", "--samples", "2")

    done = folder.jurat("export", "latest", "--format", "csv", "--output", "run.csv", "--include-output")

    assert (done.code, done.out) == (0, "")
    text = (folder.path / "run.csv").read_bytes().decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(rows) == 4 * 2 + (2 + 1 + 1 + 1) * 2
    assert {row["output"] for row in rows if row["case"] == "spain"} == {"", "It is Lisbon."}
    assert [row["status"] for row in rows if row["stage"] == "assertion"].count("pass") == 4


@pytest.mark.parametrize("output", [".jurat/jurat.db", "."])
def test_an_export_never_takes_the_place_of_the_store(folder: Folder, output: str) -> None:
    folder.jurat("run", "suite.yaml")
    before = (folder.path / ".jurat/jurat.db").read_bytes()

    assert folder.jurat("export", "latest", "--output", output).code == 2
    assert (folder.path / ".jurat/jurat.db").read_bytes() == before


def test_a_run_that_is_not_complete_is_told_without_a_gate(folder: Folder) -> None:
    folder.write("dies.py", "import os\ndef answer(task):\n    os.kill(os.getpid(), 9)\n")
    folder.write("suite.yaml", CAPITALS.replace("subject: answerer", 'subject: {python: "dies:answer"}'))
    folder.run("run", "suite.yaml")

    shown = folder.jurat("show")

    assert "INTERRUPTED" in shown.out
    assert "go on with: jurat resume" in shown.out
    assert folder.jurat("export", "latest").json["gate"] is None
