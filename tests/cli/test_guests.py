"""Other people's code in the program: neither its exit code, nor its standard output, nor its end are theirs.

Every command is a process of its own here: descriptors and the end of a process cannot be tried in another way. Guests
that must not disturb one another share one: a suite each, side by side.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from suitefolder import Done, Folder

GUESTS = """\
import asyncio, atexit, os, subprocess, sys, threading

def leaves(given): os._exit(0)
async def leaves_async(given): os._exit(0)
def leaves_later(given):
    threading.Thread(target=lambda: os._exit(0)).start()
    return "ok"
def leaves_at_the_end(given):
    atexit.register(os._exit, 0)
    return "ok"
async def leaves_the_loop(given):
    asyncio.get_running_loop().call_soon(sys.exit, 0)
    await asyncio.sleep(3600)
def turns_into_another(given): os.execv("/bin/true", ["true"])
def aborts(given): os.abort()
def exits(given): sys.exit(0)

def noisy(given):
    print("noise of print")
    os.write(1, b"noise of write\\n")
    subprocess.run([sys.executable, "-c", "print('noise of a child')"])
    (sys.__stdout__ or sys.stdout).write("noise of the first stream\\n")
    return "ok"
def closes(given):
    os.closerange(1, 3)
    return "ok"
def closes_and_prints(given):
    os.closerange(1, 3)
    try:
        print("lost")
    finally:
        return "ok"
def closes_streams(given):
    sys.stdout.close()
    sys.stderr.close()
    return "ok"
"""
NOISE = ["noise of print", "noise of write", "noise of a child", "noise of the first stream"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    for folder in Folder.entered(tmp_path, monkeypatch):
        folder.write("guests.py", GUESTS)
        yield folder


def suite_of(
    folder: Folder, function: str, *, module: str = "guests", role: str = "subject", file: str = "guests.json"
) -> str:
    """A suite of one case, in which the function is the subject or an evaluator; the answer has `ok` in it."""
    python = f"{module}:{function}"
    mine = {"name": "mine", "kind": "python", "function": python}
    asked: dict[str, dict[str, object]] = {
        "subject": {"subject": {"python": python}},
        "provider": {"subject": "mine", "providers": [mine]},
    }
    suite: dict[str, object] = {
        "suite": "guests",
        "prompt": "Say ok.",
        "assertions": [{"type": "contains", "value": "ok"}],
        "cases": [{"name": "one"}],
        **asked.get(role, {}),
    }
    if role == "evaluator":
        suite["cases"] = [{"name": "one", "output": "ok"}]
        suite["assertions"] = [{"type": "python", "function": python}]
        del suite["prompt"]
    folder.write(file, json.dumps(suite))
    return file


ROLES = ["subject", "provider", "evaluator"]
ENDS = ["leaves", "leaves_async", "turns_into_another", "aborts", "exits"]
BROKEN = {"import os; os._exit(0)": "ProcessExit", "import sys; sys.exit(0)": "SystemExit", "nope": "NameError"}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Done, dict[str, Any]]]:
    """One run of those who call for the end, by their role; and the report of each."""

    @cache
    def together(role: str) -> tuple[Done, dict[str, Any]]:
        folder = Folder(tmp_path_factory.mktemp(role))
        folder.write("guests.py", GUESTS)
        files = [suite_of(folder, function, role=role, file=f"{function}.json") for function in ENDS]
        done = folder.run("run", *files, "--format", "json")
        return done, dict(zip(ENDS, done.json, strict=True))

    return together


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("function", ENDS)
def test_who_calls_for_the_end_of_the_program_gets_an_error_of_the_trial(
    ended: Callable[[str], tuple[Done, dict[str, Any]]], role: str, function: str
) -> None:
    done, reports = ended(role)

    (case,) = reports[function]["cases"]
    assert (done.code, case["status"], done.err) == (3, "error", "")


@pytest.mark.parametrize("function", ["leaves_later", "leaves_at_the_end"])
def test_a_call_for_the_end_beside_the_function_changes_no_exit_code(folder: Folder, function: str) -> None:
    suite_of(folder, function)
    text = (folder.path / "guests.json").read_text()
    folder.write("guests.json", text.replace('"value": "ok"', '"value": "another"'))

    done = folder.run("run", "guests.json", "--format", "json")

    assert (done.code, done.json["gate"]["outcome"]) == (1, "failed")


def test_who_ends_the_loop_from_outside_of_its_call_ends_in_a_fault_that_is_told(folder: Folder) -> None:
    suite_of(folder, "leaves_the_loop")

    done = folder.run("run", "guests.json")

    assert (done.code, done.out) == (4, "")
    assert "code of a suite, an evaluator or a provider called for the end of the program\n" in done.err


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Done]:
    """What a command says of suites whose modules cannot be imported, each by a module of its own."""

    @cache
    def together(command: str) -> Done:
        folder = Folder(tmp_path_factory.mktemp("refused"))
        files = []
        for role in ROLES:
            for line, found in BROKEN.items():
                module = f"bad_{role}_{found}"
                folder.write(f"{module}.py", f"\n{line}\n")
                files.append(suite_of(folder, "f", module=module, role=role, file=f"{module}.json"))
        return folder.run(*command.split(), *files)

    return together


@pytest.mark.parametrize("command", ["suite validate", "run"])
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("found", BROKEN.values())
def test_a_module_that_cannot_be_imported_is_a_fault_with_file_and_line(
    refused: Callable[[str], Done], command: str, role: str, found: str
) -> None:
    done = refused(command)

    assert (done.code, done.out) == (2, "")
    module = f"bad_{role}_{found}"
    told = f"a module {module} that can be imported, found {found} while it was imported ({module}.py, line 2)"
    assert done.err.count(told) == 1


@pytest.mark.parametrize("role", ROLES)
def test_what_is_printed_meanwhile_goes_to_standard_error(folder: Folder, role: str) -> None:
    suite_of(folder, "noisy", role=role)

    done = folder.run("run", "guests.json", "--format", "json", "--fail-on", "never")

    assert done.json["run"]["suite"] == "guests"
    assert sorted(done.err.splitlines()) == sorted(NOISE)


def test_what_a_module_prints_while_it_is_imported_goes_to_standard_error(folder: Folder) -> None:
    folder.write("loud_guest.py", "print('loud')\ndef f(task): return 'ok'\n")
    suite_of(folder, "f", module="loud_guest")

    done = folder.run("suite", "validate", "guests.json")

    assert (done.code, done.err) == (0, "loud\n")
    assert done.out == "guests.json: guests, 1 case, 1 assertion, subject loud_guest:f\n"


@pytest.mark.parametrize("streams", [">&-", "2>&-", "| true; exit ${PIPESTATUS[0]}"])
def test_noise_finds_its_way_whatever_became_of_the_standard_streams(folder: Folder, streams: str) -> None:
    suite_of(folder, "noisy")

    done = folder.run("run", "guests.json", streams=streams)

    assert done.code == 0
    assert "noise" not in done.out
    assert "Traceback" not in done.err


@pytest.mark.parametrize("function", ["closes", "closes_and_prints", "closes_streams"])
def test_who_closes_the_standard_streams_silences_nobody_but_itself(folder: Folder, function: str) -> None:
    suite_of(folder, function)

    done = folder.run("run", "guests.json", "--report", "json=report.json")

    assert (done.code, done.err) == (0, "")
    assert done.out.rstrip().splitlines()[-1].startswith("PASSED")
    assert json.loads((folder.path / "report.json").read_text("utf-8"))["gate"]["outcome"] == "passed"


def test_a_file_that_standard_output_leads_to_is_still_no_place_for_a_report(folder: Folder) -> None:
    suite_of(folder, "noisy")

    done = folder.run("run", "guests.json", "--output", "same.txt", "--format", "json", streams="> same.txt")

    assert done.code == 2
    assert "expected a file of its own, found standard output" in done.err


@pytest.mark.parametrize("role", ["subject", "provider"])
def test_a_function_of_another_number_of_parameters_is_a_fault_of_the_suite(folder: Folder, role: str) -> None:
    folder.write("many_guest.py", "def f(a, b, c): return 'ok'\n")
    suite_of(folder, "f", module="many_guest", role=role)

    done = folder.run("suite", "validate", "guests.json")

    assert done.code == 2
    assert "expected many_guest:f to take one argument, found a function of (a, b, c)" in done.err
