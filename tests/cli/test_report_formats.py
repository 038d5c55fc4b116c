"""Reports from the command line: every format of every command, several at once, and none that spoils another."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from suitefolder import CAPITALS, Folder

FORMATS = {
    "json": '{"jurat_report":1,',
    "junit": '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n',
    "github": "::error file=suite.yaml,line=30,title=fail%3A spain::",
    "markdown": "## capitals: ❌ failed\n",
    "sarif": '{"$schema":"https://docs.oasis-open.org/sarif/',
    "html": "<!doctype html>\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    yield from Folder.entered(tmp_path, monkeypatch)


@pytest.mark.parametrize("form", FORMATS)
def test_run_show_and_export_write_the_same_of_a_run(folder: Folder, form: str) -> None:
    ran = folder.jurat("run", "suite.yaml", "--format", form)
    asked = ("--include-output",) if form == "json" else ()

    assert ran.code == 1
    assert ran.out.startswith(FORMATS[form])
    assert folder.jurat("export", "latest", "--format", form).out == ran.out
    assert folder.jurat("show", "--format", form).out == folder.jurat("export", "latest", "--format", form, *asked).out


def test_several_reports_are_written_beside_the_text(folder: Folder) -> None:
    plain = folder.jurat("run", "suite.yaml", "--filter", "france")
    done = folder.jurat(
        *("run", "suite.yaml", "--report", "junit=out/j.xml", "--report", "html=page.html"),
        *("--report", "sarif=s.sarif", "--report", "console=c.txt", "--output", "r.json", "--format", "json"),
    )

    assert plain.code == 0
    assert done.code == 1
    assert done.out.startswith("capitals  FAILED")
    assert ET.parse("out/j.xml").getroot().tag == "testsuites"  # noqa: S314
    assert Path("page.html").read_text("utf-8").endswith("</html>\n")
    assert json.loads(Path("s.sarif").read_bytes())["version"] == "2.1.0"
    assert json.loads(Path("r.json").read_bytes())["jurat_report"] == 1
    assert Path("c.txt").read_text("utf-8") == done.out


def test_several_suites_are_one_report(folder: Folder) -> None:
    folder.write("other.yaml", CAPITALS.replace("suite: capitals", "suite: other"))
    done = folder.jurat("run", "suite.yaml", "other.yaml", "--format", "junit")

    assert [suite.attrib["name"] for suite in ET.fromstring(done.out)] == ["capitals", "other"]  # noqa: S314


def test_rescore_and_resume_know_the_formats_too(folder: Folder) -> None:
    folder.jurat("run", "suite.yaml")
    folder.write("lenient.yaml", CAPITALS.replace("threshold: 85", "threshold: 3"))

    rescored = folder.jurat(
        "rescore", "latest", "--suite", "lenient.yaml", "--format", "junit", "--report", "html=p.html"
    )
    resumed = folder.jurat("resume", "latest", "--format", "junit", "--report", "html=q.html")

    assert rescored.out == resumed.out
    assert Path("p.html").read_bytes() == Path("q.html").read_bytes()


def test_the_line_in_the_report_is_that_of_the_assertion(folder: Folder) -> None:
    folder.jurat("run", "suite.yaml")
    results = folder.jurat("export", "latest", "--format", "sarif").json["runs"][0]["results"]

    lines = {
        result["properties"]["case"]: result["locations"][0]["physicalLocation"]["region"]["startLine"]
        for result in results
    }
    text = Path("suite.yaml").read_text().splitlines()
    assert "template: correctness" in text[lines["spain"] - 1]
    assert "name: italy" in text[lines["italy"] - 1]


@pytest.mark.parametrize(
    ("named", "told"), [("suite.yaml", "evals/suite.yaml"), ("../evals/suite.yaml", "evals/suite.yaml"), ("", "")]
)
def test_in_a_step_files_are_called_from_the_root_of_the_checkout(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, named: str, told: str
) -> None:
    evals = folder.path / "evals"
    evals.mkdir()
    (evals / "suite.yaml").write_text(Path("suite.yaml").read_text())
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder.path))
    monkeypatch.chdir(evals)

    done = folder.jurat("run", named or str(evals / "suite.yaml"), "--format", "github", "--report", "sarif=r.sarif")

    (place,) = {
        one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for one in json.loads(Path("r.sarif").read_text())["runs"][0]["results"]
    }
    assert done.out.startswith(f"::error file={told or 'evals/suite.yaml'},line=30,")
    assert place == "evals/suite.yaml"


def test_what_is_wrong_with_a_suite_is_annotated_where_it_stands(folder: Folder) -> None:
    folder.write(
        "wrong, all.yaml",
        "schema_version: 1\nsuite: x\npolicy:\n  - {type: overall_pass_rate, minimum: 90}\ncases: []\n",
    )

    done = folder.jurat("run", "wrong, all.yaml", "--format", "github")

    assert done.code == 2
    assert done.out.splitlines()[0] == (
        "::error file=wrong%2C all.yaml,line=4,title=wrong input::policy[0].minimum: expected a number of at least 0, "
        "at most 1, found 90"
    )
    assert done.out.count("::error ") == done.err.count(" expected ")
    assert folder.jurat("run", "wrong, all.yaml").out == ""


def test_a_file_beside_the_checkout_keeps_its_name(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder.path / "checkout").mkdir()
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder.path / "checkout"))

    assert folder.jurat("run", "suite.yaml", "--format", "github").out.startswith("::error file=suite.yaml,")


def test_quotes_are_marked_in_the_page_where_answers_belong_to_it(folder: Folder) -> None:
    folder.jurat("run", "suite.yaml")

    assert "Lisbon</mark>" not in folder.jurat("export", "latest", "--format", "html").out
    shown = folder.jurat("export", "latest", "--format", "html", "--include-output").out
    assert ">Lisbon</mark>." in shown
    assert "What is the capital of Italy?" in shown


def test_the_steps_summary_gets_the_markdown_at_its_end(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = folder.path / "summary.md"
    summary.write_text("what others wrote\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))

    folder.jurat("run", "suite.yaml")
    untouched = summary.read_text()
    done = folder.jurat("run", "suite.yaml", "--format", "github")

    assert untouched == "what others wrote\n"
    assert done.out.startswith("::error ")
    assert summary.read_text().startswith("what others wrote\n## capitals: ❌ failed\n")


def test_what_is_there_of_the_summary_leaves_less_room(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = folder.path / "summary.md"
    summary.write_text("x" * 999_000)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))

    folder.jurat("run", "suite.yaml", "--format", "github")

    assert summary.read_text().lstrip("x") == "\n1 more run: no room is left here; `jurat runs` lists them\n"


def test_a_summary_that_cannot_be_written_is_told_and_costs_no_other_report(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder.path / "nowhere" / "summary.md"))

    done = folder.jurat("run", "suite.yaml", "--format", "github", "--report", "junit=j.xml")

    assert done.code == 4
    assert "summary.md: cannot be written: No such file or directory" in done.err
    assert done.out.startswith("::error ")
    assert Path("j.xml").exists()


# --- refused before anything is spent ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--format", "junitt"],
            "--format: expected one of console, json, report, junit, github, markdown, sarif, html, found",
        ),
        (["--report", "junit"], "--report: expected FORMAT=FILE, as in junit=report.xml, found 'junit'"),
        (["--report", "htm=x"], "found 'htm'. Did you mean html?"),
        (["--report", "html="], "--report: expected FORMAT=FILE"),
        (["--report", "html=suite.yaml"], "--report: expected a file of its own, found a file of the suite"),
        (["--report", "html=.jurat/jurat.db"], "found the store"),
        (["--report", "html=x", "--report", "junit=./x"], "found the file of another report, x"),
        (["--output", "x", "--report", "junit=x"], "found the file of another report, x"),
        (["--report", "html=/dev/null"], "--report: expected a file that can be written, found a device or a pipe"),
        (["--report", "html=."], "--report: expected a file that can be written, found a directory"),
    ],
)
def test_a_report_that_cannot_be_is_told_before_anything_is_spent(
    folder: Folder, options: list[str], said: str
) -> None:
    done = folder.jurat("run", "suite.yaml", *options)

    assert done.code == 2
    assert said in done.err
    assert not folder.calls


def test_a_case_is_shown_as_text_or_data_alone(folder: Folder) -> None:
    folder.jurat("run", "suite.yaml")

    done = folder.jurat("show", "--case", "spain", "--format", "html")

    assert done.code == 2
    assert "--format: expected console or json, for a case, found html" in done.err
