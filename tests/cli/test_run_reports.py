"""The reports of `jurat run`: what they hold, and what they never take the place of."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from suitefolder import CAPITALS, Folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


def test_the_json_report_holds_no_answer_unless_it_is_asked_for(folder: Folder) -> None:
    plain = folder.jurat("run", "suite.yaml", "--filter", "france", "--format", "json")
    full = folder.jurat("run", "suite.yaml", "--filter", "france", "--format", "json", "--include-output")

    assert plain.json["jurat_report"] == 1
    assert "The capital of France is Paris." not in plain.out
    assert full.json["cases"][0]["trials"][0]["subject"]["output"] == "The capital of France is Paris."


def test_several_suites_make_an_array_of_reports(folder: Folder) -> None:
    done = folder.jurat("run", "suite.yaml", "suite.yaml", "--filter", "france", "--format", "json")

    assert [report["jurat_report"] for report in done.json] == [1, 1]


def test_a_report_goes_to_a_file_and_the_summary_is_still_printed(folder: Folder) -> None:
    done = folder.jurat("run", "suite.yaml", "--format", "json", "--output", "out/report.json")

    assert done.code == 1
    assert done.out.startswith("capitals  FAILED")
    report = json.loads((folder.path / "out/report.json").read_text("utf-8"))
    assert report["gate"]["outcome"] == "failed"
    assert sorted(path.name for path in (folder.path / "out").iterdir()) == ["report.json"]


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("suite.yaml", "expected a file of its own, found a file of the suite"),
        ("sub/../suite.yaml", "expected a file of its own, found a file of the suite"),
        ("more.yaml", "expected a file of its own, found a file of the suite"),
        ("policy.txt", "expected a file of its own, found a file of the suite"),
        ("rows.jsonl", "expected a file of its own, found a file of the suite"),
        (".jurat/jurat.db", "expected a file of its own, found the store"),
        ("jurat.toml", "expected a file of its own, found the configuration file"),
        (".", "expected a file that can be written, found a directory"),
        ("suite.yaml/x", "expected a file that can be written"),
    ],
)
def test_a_report_never_takes_the_place_of_what_the_run_reads(folder: Folder, output: str, told: str) -> None:
    (folder.path / "sub").mkdir()
    folder.write("jurat.toml", "")
    folder.write("more.yaml", "cases:\n  - {name: more, variables: {country: France}}\n")
    folder.write("policy.txt", "The customer is right.")
    folder.write("rows.jsonl", '{"name": "row", "country": "France"}\n')
    text = CAPITALS + "include: more.yaml\ncases_file: rows.jsonl\n"
    folder.write("suite.yaml", text.replace("labels: [right]", "documents: [policy.txt]"))
    before = {path: path.read_bytes() for path in folder.path.iterdir() if path.is_file()}

    done = folder.jurat("run", "suite.yaml", "--output", output)

    assert done.code == 2
    assert told in done.err
    assert not folder.calls
    assert {path: path.read_bytes() for path in folder.path.iterdir() if path.is_file()} == before


SUBJECT = """\
suite: own
subject: {python: "answering:answer"}
prompt: hello
assertions: [{type: contains, value: hi}, {type: python, function: "judging:judge"}]
cases: [{name: a}]
"""


@pytest.fixture
def own_code(
    folder: Folder, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A suite of a person's own functions: the subject beside it, the evaluator from elsewhere on the path."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.syspath_prepend(str(elsewhere))
    monkeypatch.syspath_prepend(str(folder.path))
    folder.write("suite.yaml", SUBJECT)
    folder.write("wording.py", "HI = 'hi'\n")
    folder.write("answering.py", "def answer(task):\n    from wording import HI\n    return HI\n")
    (elsewhere / "judging.py").write_text("def judge(context):\n    return True\n", "utf-8")
    yield elsewhere
    for name in ("answering", "judging", "wording"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("option", ["--output", "--report"])
@pytest.mark.parametrize("name", ["answering.py", "wording.py", "link.json", "elsewhere/judging.py"])
def test_a_report_never_takes_the_place_of_a_person_s_own_code(
    folder: Folder, own_code: Path, option: str, name: str
) -> None:
    (folder.path / "link.json").symlink_to("answering.py")
    place = own_code / "judging.py" if name.startswith("elsewhere") else folder.path / name
    before = place.read_bytes()
    given = f"json={place}" if option == "--report" else str(place)

    done = folder.jurat("run", "suite.yaml", "--format", "json", option, given)

    assert done.code == 2
    assert "expected a file of its own, found a Python module that is there already" in done.err
    assert place.read_bytes() == before


def test_a_module_without_the_usual_ending_is_known_once_it_is_imported(
    folder: Folder, own_code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = types.ModuleType("odd")
    module.__file__ = str(folder.write("odd.module", "HI = 1\n"))
    monkeypatch.setitem(sys.modules, "odd", module)

    done = folder.jurat("run", "suite.yaml", "--output", "odd.module")

    assert "found a Python module that is there already" in done.err


@pytest.mark.parametrize("option", ["--record", "--replay"])
def test_a_report_never_takes_the_place_of_a_recording(folder: Folder, option: str) -> None:
    assert folder.jurat("run", "suite.yaml", "--record", "kept").code == 1
    before = (folder.path / "kept/answerer.jsonl").read_bytes()

    done = folder.jurat("run", "suite.yaml", option, "kept", "--output", "kept/answerer.jsonl")

    assert done.code == 2
    assert "expected a file of its own, found a recording" in done.err
    assert (folder.path / "kept/answerer.jsonl").read_bytes() == before


@pytest.mark.parametrize("command", ["export", "resume"])
def test_who_tells_a_run_again_leaves_its_suite_alone(folder: Folder, command: str) -> None:
    folder.jurat("run", "suite.yaml")
    before = (folder.path / "suite.yaml").read_bytes()

    done = folder.jurat(command, "latest", "--output", "suite.yaml")

    assert done.code == 2
    assert "expected a file of its own, found a file of the suite" in done.err
    assert (folder.path / "suite.yaml").read_bytes() == before


def test_results_are_stored_before_a_report_is_written(folder: Folder) -> None:
    target = folder.path / "there" / "report.json"
    target.parent.mkdir()
    # The folder of the report goes away while the run is at work.
    folder.write("gone.py", "import shutil\ndef answer(task):\n    shutil.rmtree('there')\n    return 'Paris'\n")
    folder.write("suite.yaml", CAPITALS.replace("subject: answerer", 'subject: {python: "gone:answer"}'))

    done = folder.jurat("run", "suite.yaml", "--filter", "france", "--format", "json", "--output", str(target))

    assert done.code == 4
    assert f"{target}: cannot be written: No such file or directory" in done.err
    (run,) = folder.jurat("runs", "--format", "json").json
    assert (run["status"], run["gate"]) == ("completed", "passed")
    assert f"the results are stored: jurat export {run['id']}" in done.err


def test_no_control_character_of_a_model_reaches_the_terminal(folder: Folder) -> None:
    text = CAPITALS.replace('reason: "Another city."', 'reason: "\\e[2J\\u202e gone"')
    folder.write("suite.yaml", text)

    printed = folder.jurat("run", "suite.yaml").out + folder.jurat("show", "--case", "spain").out

    assert "\\x1b[2J\\u202e gone" in printed
    assert not {"\x1b", "\u202e"} & set(printed)
