"""Runs that are recorded, and runs that answer from recordings: the same verdicts, and nobody is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jurat
from jurat.errors import AuthoringError
from jurat.suiterun.recordings import recording_path
from suitefolder import Done, Folder

FUNCTIONS = """\
from pathlib import Path


def judge(messages):
    with Path("asked.txt").open("a") as log:
        log.write("judge\\n")
    return '{"evidence": [], "reason": "Good.", "score": 90}'


def subject(task):
    with Path("asked.txt").open("a") as log:
        log.write("subject\\n")
    return {"output": "Paris, " + task["input"], "tool_calls": [{"name": "atlas"}]}
"""
PYTHON = """\
suite: by-functions
providers: [{name: judge, kind: python, function: "functions:judge"}]
subject: {python: "functions:subject"}
prompt: "{{country}}"
assertions: [{type: rubric_judge, template: correctness, provider: judge}, {type: required_tool, tool: atlas}]
cases:
  - {name: france, variables: {country: France}, expected: Paris}
  - {name: peru, variables: {country: Peru}, expected: Lima}
"""
RECORDED = PYTHON.replace(
    'kind: python, function: "functions:judge"', "kind: replay, file: replies/judge.jsonl"
).replace('{python: "functions:subject"}', "{provider: judge}")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


@pytest.fixture
def functions(folder: Folder) -> Folder:
    folder.write("functions.py", FUNCTIONS)
    folder.write("python.yaml", PYTHON)
    return folder


def asked(folder: Folder) -> list[str]:
    log = folder.path / "asked.txt"
    return log.read_text().split() if log.exists() else []


def keys(folder: Folder, name: str) -> list[str]:
    lines = (folder.path / name).read_text("utf-8").splitlines()
    return [json.loads(line)["key"] for line in lines[1:]]


def judged(run: jurat.Run) -> list[tuple[str, Any]]:
    return [(case["status"], case["trials"][0]["assessments"][0]["result"]["score"]) for case in run.cases()]


# --- a folder of recordings ----------------------------------------------------------------------------------------


def test_a_replayed_run_has_the_recorded_verdicts_and_asks_nobody(folder: Folder) -> None:
    live = jurat.run_suite("suite.yaml", filter="!italy", record="tapes")
    calls = len(folder.calls)
    replayed = jurat.run_suite("suite.yaml", filter="!italy", replay="tapes", store="another.db")

    assert judged(live) == judged(replayed) == [("pass", 95), ("fail", 5), ("error", None)]
    assert len(folder.calls) == calls == 6
    assert sorted(file.name for file in (folder.path / "tapes").iterdir()) == ["answerer.jsonl", "judge.jsonl"]


def test_an_error_was_no_reply_so_that_its_replay_is_an_error_that_says_how_to_record(folder: Folder) -> None:
    jurat.run_suite("suite.yaml", record="tapes")
    replayed = jurat.run_suite("suite.yaml", replay="tapes", store="another.db")

    error = replayed.cases()[2]["trials"][0]["subject"]["error"]
    assert error["type"] == "invalid_request"
    assert "answerer.jsonl holds no reply to this request" in error["message"]
    assert "jurat run SUITE --live --record FOLDER" in error["message"]


def test_a_replayed_judge_has_the_identity_of_the_recorded_one_and_the_record_tells_them_apart(folder: Folder) -> None:
    live = jurat.run_suite("suite.yaml", record="tapes")
    replayed = jurat.run_suite("suite.yaml", replay="tapes")

    assert live.record.provenance["judges"] == replayed.record.provenance["judges"]
    assert live.record.provenance["subject"] == replayed.record.provenance["subject"]
    assert replayed.record.options["replay"] == "tapes"
    assert set(live.record.snapshots["provider"]).isdisjoint(replayed.record.snapshots["provider"])


def test_a_suite_may_name_its_recordings_itself(folder: Folder) -> None:
    jurat.run_suite("suite.yaml", filter="france", record="tapes")
    rows = "  - {name: answerer, kind: replay, file: tapes/answerer.jsonl}\n"
    rows += "  - {name: judge, kind: replay, file: tapes/judge.jsonl}\n"
    text = (folder.path / "suite.yaml").read_text("utf-8")
    head, _, rest = text.partition("  - name: answerer\n")
    folder.write("own.yaml", head + rows + rest[rest.index("prompt:") :])
    calls = len(folder.calls)

    done = folder.jurat("run", "own.yaml", "--filter", "france")

    assert (done.code, len(folder.calls)) == (0, calls)


def test_a_recording_takes_the_place_of_the_old_one_and_a_filtered_run_adds_to_it(folder: Folder) -> None:
    jurat.run_suite("suite.yaml", filter="france", record="tapes")
    first = keys(folder, "tapes/answerer.jsonl")
    jurat.run_suite("suite.yaml", filter="spain", record="tapes")
    both = keys(folder, "tapes/answerer.jsonl")
    jurat.run_suite("suite.yaml", record="tapes")
    every = keys(folder, "tapes/answerer.jsonl")

    assert len(first) == 1
    assert (len(both), both[0]) == (2, first[0])
    assert len(every) == len(set(every)) == 3  # Italy's is an error, which is no reply


def test_what_is_recorded_with_a_filter_is_not_mixed_with_the_replies_of_another(folder: Folder) -> None:
    jurat.run_suite("suite.yaml", filter="france", record="tapes")
    other = {"name": "answerer", "kind": "scripted", "model": "another", "replies": ["Paris."]}

    with pytest.raises(AuthoringError, match="a recording of the same answerer"):
        jurat.run_suite("suite.yaml", filter="france", record="tapes", providers={"answerer": other})


def test_a_run_that_is_broken_off_leaves_the_old_recording_and_its_resumption_completes_the_new(folder: Folder) -> None:
    jurat.run_suite("suite.yaml", record="tapes")
    before = (folder.path / "tapes/answerer.jsonl").read_bytes()
    broken = stopped(folder)

    assert broken.code == 130
    assert (folder.path / "tapes/answerer.jsonl").read_bytes() == before
    assert (folder.path / "tapes/answerer.jsonl.part").exists()

    (folder.path / "go.txt").write_text("on")
    assert folder.run("resume", "latest", "--fail-on", "never").code == 0
    assert len(keys(folder, "tapes/answerer.jsonl")) == 2
    assert not (folder.path / "tapes/answerer.jsonl.part").exists()
    assert folder.run("run", "stops.yaml", "--replay", "tapes").code == 0


def stopped(folder: Folder) -> Done:
    """A run whose second answer interrupts the program, until there is a file go.txt."""
    folder.write(
        "stopping.py",
        "import os, signal\nfrom pathlib import Path\n\n\ndef answer(messages):\n"
        "    if 'Peru' in messages[-1]['content'] and not Path('go.txt').exists():\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n    return 'Paris.'\n",
    )
    folder.write(
        "stops.yaml",
        'suite: stops\nproviders: [{name: answerer, kind: python, function: "stopping:answer"}]\n'
        'prompt: "{{country}}"\nsubject: answerer\nlimits: {concurrency: 1}\n'
        "assertions: [{type: contains, value: Paris}]\n"
        "cases:\n  - {name: france, variables: {country: France}}\n  - {name: peru, variables: {country: Peru}}\n",
    )
    return folder.run("run", "stops.yaml", "--record", "tapes")


# --- functions -----------------------------------------------------------------------------------------------------


def test_a_function_that_answers_is_recorded_as_the_subject_and_not_called_again(functions: Folder) -> None:
    live = jurat.run_suite("python.yaml", record="tapes")
    before = asked(functions)
    replayed = jurat.run_suite("python.yaml", replay="tapes")

    assert sorted(before) == sorted(asked(functions)) == ["judge", "judge", "subject", "subject"]
    assert live.passed
    assert replayed.passed
    assert replayed.cases()[1]["trials"][0]["subject"]["output"] == "Paris, Peru"
    assert (functions.path / "tapes/subject.jsonl").exists()


def test_the_answers_of_an_older_source_are_not_replayed(functions: Folder) -> None:
    assert functions.run("run", "python.yaml", "--record", "tapes").code == 0
    functions.write("functions.py", FUNCTIONS.replace("Paris, ", "Lima, "))

    done = functions.run("run", "python.yaml", "--replay", "tapes")

    assert done.code == 2
    assert "expected a recording of the subject functions:subject as it is now, found another one" in done.err


# --- live ----------------------------------------------------------------------------------------------------------


def test_live_asks_those_of_whom_the_recordings_were_made_and_records_them_anew(functions: Folder) -> None:
    functions.write("recorded.yaml", RECORDED.replace(", {type: required_tool, tool: atlas}", ""))
    first = ("run", "recorded.yaml", "--record", "replies", "--provider", "judge=python:functions:judge")
    assert functions.jurat(*first).code == 0
    assert len(asked(functions)) == 4
    assert functions.jurat("run", "recorded.yaml").code == 0
    assert len(asked(functions)) == 4

    assert functions.jurat("run", "recorded.yaml", "--live", "--record", "replies").code == 0

    assert len(asked(functions)) == 8
    assert functions.jurat("run", "recorded.yaml").code == 0
    assert len(asked(functions)) == 8


def test_a_recording_of_a_stranger_names_no_host_that_its_suite_could_not_name(
    functions: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The head of a recording says who was asked, where, and with which key: all of that comes with the suite."""
    functions.write("recorded.yaml", RECORDED.replace(", {type: required_tool, tool: atlas}", ""))
    functions.jurat("run", "recorded.yaml", "--record", "replies", "--provider", "judge=python:functions:judge")
    tape = functions.path / "replies" / "judge.jsonl"
    head, *replies = tape.read_text().splitlines(keepends=True)
    told = json.loads(head)
    led = {"kind": "openai", "model": "m", "endpoint": "https://evil.example/v1", "api_key_env": "A_KEY"}
    told["provider"].update(led)
    tape.write_text(json.dumps(told) + "\n" + "".join(replies))
    monkeypatch.setenv("A_KEY", "s3cr3t-word-1")

    done = functions.jurat("run", "recorded.yaml", "--live")

    assert done.code == 2
    assert "expected a vendor's host, this machine, or a host that your own settings allow, found evil.example" in (
        " ".join(done.err.split())
    )
    monkeypatch.setenv("JURAT_ALLOWED_HOSTS", "evil.example")
    assert "your own settings allow" not in functions.jurat("run", "recorded.yaml", "--live", "--dry-run").err


def test_a_script_cannot_be_asked_again(folder: Folder) -> None:
    jurat.run_suite("suite.yaml", record="tapes")
    providers = {name: f"replay:tapes/{name}.jsonl" for name in ("answerer", "judge")}

    with pytest.raises(AuthoringError, match="found the recording of a script"):
        jurat.run_suite("suite.yaml", providers=providers, live=True)


# --- what cannot be wanted -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--replay", "tapes", "--live"), "expected recordings or live providers, found replay together with live"),
        (("--replay", "tapes", "--record", "more"), "found replay together with record"),
        (("--record", "tapes", "--cache", "read"), "What is taken from the cache is not asked, and so not recorded"),
        (("--replay", "tapes"), "answerer.jsonl: file: expected a readable recording, found No such file"),
        (("--record", "calls.txt"), "expected for --record, a folder that can be written, found calls.txt"),
        (("suite.yaml", "--record", "tapes"), "--record: expected one suite, whose recordings they are, found 2"),
    ],
)
def test_contradictions_and_missing_recordings_are_told_before_anybody_is_asked(
    folder: Folder, words: tuple[str, ...], told: str
) -> None:
    folder.write("calls.txt", "")

    done = folder.jurat("run", "suite.yaml", *words)

    assert done.code == 2
    assert told in " ".join(done.err.split())
    assert folder.calls == []


def test_a_recording_is_not_recorded_by_mistake(functions: Folder) -> None:
    functions.write("recorded.yaml", RECORDED)
    functions.jurat("run", "recorded.yaml", "--record", "replies", "--provider", "judge=python:functions:judge")

    done = functions.jurat("run", "recorded.yaml", "--record", "replies")

    assert done.code == 2
    assert "With --live the provider that was recorded is asked again" in done.err


def test_a_recording_that_cannot_be_written_is_told_and_the_run_can_be_resumed(folder: Folder) -> None:
    (folder.path / "tapes" / "judge.jsonl.part").mkdir(parents=True)

    done = folder.jurat("run", "suite.yaml", "--record", "tapes")

    assert done.code == 4
    assert "judge.jsonl cannot be written" in done.err
    assert "jurat resume" in done.err
    (folder.path / "tapes" / "judge.jsonl.part").rmdir()
    assert folder.jurat("resume", "latest", "--fail-on", "never").code == 0
    assert len(keys(folder, "tapes/judge.jsonl")) == 3


def test_names_that_no_file_may_have_are_written_otherwise(functions: Folder) -> None:
    text = PYTHON.replace("provider: judge}", 'provider: "python:functions:judge"}')
    functions.write("named.yaml", text.replace("{name: judge,", "{name: unused,"))

    assert functions.jurat("run", "named.yaml", "--record", "tapes").code == 0
    assert (functions.path / "tapes" / "python%3Afunctions%3Ajudge.jsonl").exists()
    assert functions.jurat("run", "named.yaml", "--replay", "tapes").code == 0


def test_no_two_names_share_a_file_on_any_system() -> None:
    odd = [
        "https://a.example/b",
        "openrouter:org/model:7b",
        "CON",
        "con",
        "nul.x",
        "com1",
        "a.",
        "A",
        "a",
        "x" * 300,
        ".",
    ]
    names = [*odd, "x" * 301, "%41", "ä", "Ä", "a\\b", "..", "conrad"]

    files = [recording_path(Path("tapes"), name).name for name in names]

    assert len({file.casefold() for file in files}) == len(names)
    assert all(re.fullmatch(r"[a-z0-9_%A-F .-]{1,140}\.jsonl", file) for file in files)
    assert not any(file.split(".")[0] in ("con", "nul", "com1") for file in files)
    assert recording_path(Path("tapes"), "judge-2") == Path("tapes/judge-2.jsonl")
    assert recording_path(Path("tapes"), "conrad") == Path("tapes/conrad.jsonl")
