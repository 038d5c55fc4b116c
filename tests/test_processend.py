"""The end of the process: nobody's to call for while a person's code runs, everybody's own otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jurat.errors import ErrorCategory, ProviderError
from jurat.evaluation.subject import Task
from jurat.processend import ProcessExit, kept_alive
from jurat.subject.function import PythonSubject
from jurat.threads import call_user_code


def called(name: str, *arguments: Any) -> Callable[..., Any]:
    """A person's function, which finds what it calls when it is called."""

    def function(*_: object) -> Any:
        return getattr(os, name)(*arguments)

    return function


CALLS = {
    "_exit": called("_exit", 0),
    "abort": called("abort"),
    "execv": called("execv", sys.executable, [sys.executable, "-c", ""]),
    "execve": called("execve", sys.executable, [sys.executable, "-c", ""], {}),
    "execl": called("execl", sys.executable, sys.executable, "-c", ""),
    "execvp": called("execvp", sys.executable, [sys.executable, "-c", ""]),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_process_outlives_every_call_for_its_end(name: str) -> None:
    with kept_alive(), pytest.raises(ProcessExit):
        CALLS[name]()


@pytest.mark.parametrize("name", CALLS)
async def test_an_evaluator_that_calls_for_the_end_raises(name: str) -> None:
    async def later(_: object) -> Any:
        return CALLS[name]()

    for function in (CALLS[name], later):
        with pytest.raises(ProcessExit):
            await call_user_code(function, "context")


async def test_a_subject_that_calls_for_the_end_is_an_error_of_its_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent)
    subject = PythonSubject(CALLS["_exit"], name="mine:leaves")

    with pytest.raises(ProviderError) as caught:
        await subject.send(subject.prepare(Task(rendered_input="Where?")))

    assert caught.value.category is ErrorCategory.EVALUATOR_EXCEPTION
    assert str(caught.value) == "the function mine:leaves raised ProcessExit at test_processend.py:25"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
def test_a_forked_child_ends_by_itself_inside() -> None:
    with kept_alive():
        child = os.fork()
        if child == 0:
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("with kept_alive(): pass\nos._exit(5)", 5),
        ("with kept_alive():\n    t = threading.Thread(target=os._exit, args=(6,)); t.start(); t.join()", 6),
        ("keep_alive_throughout()\ntry: os._exit(0)\nexcept ProcessExit: sys.exit(8)", 8),
        ("keep_alive_throughout()\nend_process(9)", 9),
    ],
    ids=["outside", "a thread of somebody else's", "throughout", "the program's own end"],
)
def test_others_keep_their_end_unless_the_process_is_the_programs(program: str, code: int) -> None:
    head = "import os, sys, threading\nfrom jurat.processend import *\n"

    assert subprocess.run([sys.executable, "-c", head + program], check=False).returncode == code
