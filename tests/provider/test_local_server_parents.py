"""The embedded model's server is gone whenever its parent is, however that went."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from processes import alive, until


@contextmanager
def parent(smollm2: Path, code: str, *, group: bool = False) -> Iterator[subprocess.Popen[str]]:
    """A Python process that runs `code` with `server` not started yet; what it prints can be read."""
    prelude = (
        "import os, signal, sys, threading\n"
        "from pathlib import Path\n"
        "from jurat.provider.local_server import LocalServer, ServerSettings, shared_server\n"
        f"server = LocalServer(Path({str(smollm2)!r}), ServerSettings(context_tokens=512))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", prelude + code],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=group,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.model_small
def test_a_parent_that_is_killed_leaves_no_server_behind(smollm2: Path) -> None:
    with parent(smollm2, "server.start(); print(server.pid, flush=True); signal.pause()") as process:
        pid = int(said(process))
        assert alive(pid)
        process.kill()

        until(lambda: not alive(pid), seconds=10)


@pytest.mark.model_small
def test_a_parent_that_is_killed_while_the_model_loads_leaves_no_server_behind(smollm2: Path) -> None:
    code = (
        "threading.Thread(target=server.start).start()\n"
        "while server.pid is None: pass\n"
        "print(server.pid, flush=True); signal.pause()"
    )
    with parent(smollm2, code) as process:
        pid = int(said(process))
        process.kill()

        until(lambda: not alive(pid), seconds=10)


@pytest.mark.model_small
def test_a_forked_process_that_holds_the_pipe_open_does_not_keep_the_server_alive(smollm2: Path) -> None:
    code = (
        "server.start()\n"
        "forked = os.fork()\n"
        "if forked == 0: signal.pause()\n"
        "print(server.pid, forked, flush=True); signal.pause()"
    )
    with parent(smollm2, code) as process:
        pid, forked = map(int, said(process).split())
        process.kill()
        try:
            until(lambda: not alive(pid), seconds=10)
            assert alive(forked)
        finally:
            os.kill(forked, signal.SIGKILL)


@pytest.mark.model_small
def test_a_thread_that_started_the_server_may_end_before_it(smollm2: Path) -> None:
    code = (
        "thread = threading.Thread(target=server.start); thread.start(); thread.join()\n"
        "print(server.pid, flush=True); sys.stdin.readline(); server.check(); print('running', flush=True)"
    )
    with parent(smollm2, code) as process:
        pid = int(said(process))
        assert said(process) == "running"
        process.wait(60)

        until(lambda: not alive(pid), seconds=10)


@pytest.mark.model_small
def test_ctrl_c_is_left_to_the_parent(smollm2: Path) -> None:
    code = (
        "server.start()\n"
        "try: print(server.pid, flush=True); signal.pause()\n"
        "except KeyboardInterrupt: print(server.running, flush=True)\n"
        "server.stop(); print('stopped', flush=True)"
    )
    with parent(smollm2, code, group=True) as process:
        pid = int(said(process))
        os.killpg(process.pid, signal.SIGINT)

        assert said(process) == "True"
        assert said(process) == "stopped"
        assert not alive(pid)


@pytest.mark.model_small
def test_a_forked_process_that_exits_leaves_the_shared_server_to_its_owner(smollm2: Path) -> None:
    code = (
        "lease = shared_server(server.model_path, context_tokens=512)\n"
        "if (forked := os.fork()) == 0: sys.exit()\n"
        "os.waitpid(forked, 0)\n"
        "print(lease.server.pid, lease.server.running, flush=True)"
    )
    with parent(smollm2, code) as process:
        pid, running = said(process).split()
        assert running == "True"
        process.wait(60)

        until(lambda: not alive(int(pid)), seconds=10)
