"""`jurat suite validate` and `jurat suite fmt`, as a person sees them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from jurat.cli.suite import app
from jurat.suite.codec import suite_hash
from jurat.suitefiles import load_suite

if TYPE_CHECKING:
    from typer.testing import Result

SUITE = """\
suite:    capitals   # of countries
prompt: 'Capital of {{country}}?'
subject: "local"
cases:
    # The easy one.
    - {name: france, variables: {country: France}, assertions: [{type: contains, value: Paris}]}
    - name: spain
      variables: {country: Spain}
"""
LAID_OUT = """\
suite: capitals  # of countries
prompt: "Capital of {{country}}?"
subject: local
cases:
  # The easy one.
  - {name: france, variables: {country: France}, assertions: [{type: contains, value: Paris}]}
  - name: spain
    variables: {country: Spain}
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "suite.yaml"
    file.write_text(SUITE, "utf-8")
    return file


def test_a_sound_suite_is_summed_up_in_a_line(file: Path) -> None:
    result = run("validate", file)

    assert (result.exit_code, result.stdout) == (0, f"{file}: capitals, 2 cases, 1 assertion, subject local\n")


def test_recorded_outputs_and_functions_are_called_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("suite: a\ncases: [{name: x, output: y}]\n", "utf-8")
    (tmp_path / "b.yaml").write_text("suite: b\nsubject: {python: 'json:dumps'}\ncases: [{name: x}]\n", "utf-8")

    assert run("validate", tmp_path / "a.yaml", tmp_path / "b.yaml").stdout == (
        f"{tmp_path / 'a.yaml'}: a, 1 case, 0 assertions, subject recorded outputs\n"
        f"{tmp_path / 'b.yaml'}: b, 1 case, 0 assertions, subject json:dumps\n"
    )


def test_all_faults_of_all_files_are_told_and_the_exit_code_is_2(file: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text(SUITE.replace("country: Spain", "contry: Spain").replace("contains", "contians"), "utf-8")
    second.write_text("suite: [\n", "utf-8")

    result = run("validate", first, file, second)

    assert result.exit_code == 2
    assert result.stdout == f"{file}: capitals, 2 cases, 1 assertion, subject local\n"
    told = result.stderr.splitlines()
    assert told[0] == f"suite {first}: 2 faults"
    assert told[1].startswith(f"  {first}:6: cases[0].assertions[0].type: expected one of contains, ")
    assert told[1].endswith("found 'contians'. Did you mean contains?")
    assert told[2] == (
        f"  {first}:8: cases[1].variables: expected a value for {{{{country}}}} of the prompt, "
        "found no variable of that name. The variable contry is close: did you mean it?"
    )
    assert told[3] == f"suite {second}: 1 fault"


def test_what_a_file_says_cannot_move_the_cursor(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text('suite: s\n"a\\x1b[2J": 1\ncases: [{name: "x\\u202ey", output: z}]\n', "utf-8")
    result = run("validate", tmp_path / "suite.yaml")

    assert result.exit_code == 2
    assert "\x1b" not in result.stderr
    assert "a\\x1b[2J: expected one of" in result.stderr


def test_a_file_is_laid_out_and_its_content_hash_stays(file: Path) -> None:
    before = suite_hash(load_suite(file).suite)

    assert run("fmt", file).stdout == f"{file}: laid out anew\n"
    assert file.read_text("utf-8") == LAID_OUT
    assert suite_hash(load_suite(file).suite) == before


def test_a_file_that_is_laid_out_is_left_alone(file: Path) -> None:
    file.write_text(LAID_OUT, "utf-8")
    os.utime(file, ns=(1, 1))
    result = run("fmt", file)

    assert (result.exit_code, result.stdout, file.stat().st_mtime_ns) == (0, "", 1)
    assert run("fmt", "--check", file).exit_code == 0


def test_checking_changes_nothing_and_ends_with_1(file: Path) -> None:
    result = run("fmt", "--check", file)

    assert (result.exit_code, result.stdout) == (1, f"{file}: would be laid out anew\n")
    assert file.read_text("utf-8") == SUITE


def test_a_file_that_cannot_be_read_stays_as_it_is_and_the_others_are_laid_out(file: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("suite: a\nsuite: b\n", "utf-8")
    result = run("fmt", broken, file, tmp_path / "none.yaml")

    assert result.exit_code == 2
    assert broken.read_text("utf-8") == "suite: a\nsuite: b\n"
    assert file.read_text("utf-8") == LAID_OUT
    assert "'suite' twice (first on line 1, again on line 2)" in result.stderr
    assert "expected a file that can be read, found No such file or directory" in result.stderr


def test_json_is_laid_out_too(tmp_path: Path) -> None:
    file = tmp_path / "suite.json"
    file.write_text('{"suite":"s","cases":[{"name":"é","output":""}]}', "utf-8")
    run("fmt", file)

    assert (
        file.read_text("utf-8")
        == json.dumps({"suite": "s", "cases": [{"name": "é", "output": ""}]}, ensure_ascii=False, indent=2) + "\n"
    )


def test_permissions_and_links_stay(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.yaml"
    link.symlink_to(file)
    file.chmod(0o640)
    run("fmt", link)

    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert file.read_text("utf-8") == LAID_OUT
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.yaml", "suite.yaml"]


def test_windows_line_ends_become_plain_ones(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + SUITE.replace("\n", "\r\n").encode())
    run("fmt", file)

    assert file.read_bytes() == LAID_OUT.encode()


def test_a_file_that_cannot_be_written_whole_is_left_as_it_was(file: Path) -> None:
    # No file may grow beyond ten bytes in this process, as if the disk were full.
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)); sys.argv = ['jurat', 'suite', 'fmt', sys.argv[1]];"
        "from jurat.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=False)

    assert done.returncode == 4
    assert done.stderr == f"{file} could not be written (File too large); it is left as it was\n"
    assert file.read_text("utf-8") == SUITE
    assert [path.name for path in file.parent.iterdir()] == ["suite.yaml"]
