"""Documentation pages as programs: their fenced blocks, the remarks that steer them, and a place to run them in.

A remark is an HTML comment on a line of its own before a block; readers do not see it.

    <!-- file: NAME -->          the block is written to that file, and is not run
    <!-- in: FOLDER -->          from here on the page's commands run in that folder
    <!-- exit: N -->             the block's last command ends with this code; every other ends with 0
    <!-- needs: local-model -->  run with the embedded model only (marker model_large)
    <!-- needs: network -->      not run with its page; a test of its own does
    <!-- assertion -->           a YAML assertion with `# pass: OUTPUT` lines (or fail, unverified, error) that hold

What follows a command in a ```console block, and a ```text block right after a ```python one, is the output. In it a
`…` stands for anything in a line, and a line of `…` alone for any lines.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["DOCS", "EVERY_BLOCK", "PAGES", "ROOT", "Block", "Desk", "blocks", "sections", "text_of"]

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted(DOCS.glob("*.md")),
    *sorted((ROOT / "examples").glob("*/README.md")),
)

_FENCE = re.compile(r"^```(\w*)$")
_REMARK = re.compile(r"^<!-- ([a-z]+)(?:: (.+))? -->$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block: its language, its text, the line where it begins, its remarks, the output that is shown."""

    page: Path
    line: int
    language: str
    text: str
    remarks: dict[str, str] = field(default_factory=dict)
    output: str | None = None

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    found: list[Block] = []
    remarks: dict[str, str] = {}
    lines = iter(enumerate(page.read_text("utf-8").splitlines(), 1))
    for number, line in lines:
        if remark := _REMARK.match(line):
            remarks[remark[1]] = remark[2] or ""
        elif fence := _FENCE.match(line):
            text = "".join(f"{inner}\n" for inner in _until_fence(lines))
            block = Block(page=page, line=number, language=fence[1], text=text, remarks=remarks)
            found.append(block)
            remarks = {}
        elif line.strip():
            remarks = {}
    return _with_outputs(found)


def _until_fence(lines: Iterator[tuple[int, str]]) -> Iterator[str]:
    for _, line in lines:
        if line == "```":
            return
        yield line
    raise AssertionError("a block that is never closed")


def _with_outputs(found: list[Block]) -> list[Block]:
    made: list[Block] = []
    for block in found:
        last = made[-1] if made else None
        end = last.line + last.text.count("\n") + 1 if last else 0
        if last and block.language == "text" and last.language == "python" and block.line - end <= 2:
            made[-1] = Block(
                page=last.page,
                line=last.line,
                language="python",
                text=last.text,
                remarks=last.remarks,
                output=block.text,
            )
        else:
            made.append(block)
    return made


EVERY_BLOCK = [block for page in PAGES for block in blocks(page)]


def text_of(page: Path) -> str:
    return page.read_text("utf-8")


def sections(page: Path) -> dict[str, str]:
    """The text under each heading of a page, that of its sub-headings included; blocks' comments are no headings."""
    lines, heads, fenced = text_of(page).splitlines(), [], False
    for index, line in enumerate(lines):
        fenced ^= line.startswith("```")
        if not fenced and (head := re.match(r"^(#+) (.+)$", line)):
            heads.append((index, len(head[1]), head[2]))
    ends = [
        next((later for later, depth, _ in heads[place + 1 :] if depth <= own), len(lines))
        for place, (_, own, _) in enumerate(heads)
    ]
    return {title: "\n".join(lines[index:end]) for (index, _, title), end in zip(heads, ends, strict=True)}


class Desk:
    """A temporary copy of `examples/`, in which a page's blocks are carried out one after the other."""

    def __init__(self, directory: Path, *, local_model: bool) -> None:
        self.root = directory / "desk"
        shutil.copytree(ROOT / "examples", self.root / "examples", ignore=shutil.ignore_patterns(".jurat"))
        self.folder = self.root
        self.local_model = local_model
        self._environment = self._clean_environment(directory)

    def _clean_environment(self, directory: Path) -> dict[str, str]:
        """What a new user's shell has: no keys, no configuration; `jurat` and `python` of this environment."""
        kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
        for name in ("JURAT_STORE", "PYTHONPATH", "FORCE_COLOR"):
            kept.pop(name, None)
        if not self.local_model:
            kept["JURAT_MODELS_DIR"] = str(directory / "models")
        path = os.pathsep.join((str(Path(sys.executable).parent), kept.get("PATH", "")))
        return {**kept, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}

    def carry_out(self, block: Block) -> None:
        """Do what a block says, and compare what comes out with what it shows."""
        if folder := block.remarks.get("in"):
            self.folder = self.root / folder
        if file := block.remarks.get("file"):
            target = self.folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, "utf-8")
        elif self._lacks(block.remarks.get("needs")):
            return
        elif block.language == "console":
            self._commands(block)
        elif block.language == "bash":
            self._run(block, ["bash", "-euo", "pipefail", "-c", block.text], None)
        elif block.language == "python":
            self._run(block, [sys.executable, "-c", block.text], block.output)

    def _lacks(self, need: str | None) -> bool:
        return need == "network" or (need == "local-model" and not self.local_model)

    def _commands(self, block: Block) -> None:
        commands = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
        assert commands, f"{block.place}: a console block has lines that begin with $"
        for place, text in enumerate(commands):
            command, output = _command_and_output(text)
            last = place == len(commands) - 1
            self._run(block, ["bash", "-c", command], output, code=int(block.remarks.get("exit", 0)) if last else 0)

    def _run(self, block: Block, command: list[str], expected: str | None, code: int = 0) -> None:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        said = f"{block.place}: {command[-1].strip()}\n--- came out ---\n{done.stdout}"
        assert done.returncode == code, f"expected exit code {code}, found {done.returncode}: {said}"
        if expected is not None:
            assert matches(expected, done.stdout), f"expected another output: {said}--- is shown ---\n{expected}"


def _command_and_output(text: str) -> tuple[str, str | None]:
    lines = text.splitlines(keepends=True)
    end = next((place for place, line in enumerate(lines) if not line.endswith("\\\n")), len(lines) - 1)
    output = "".join(lines[end + 1 :])
    return "".join(lines[: end + 1]), output if output.strip() else None


def matches(expected: str, found: str) -> bool:
    """Whether an output is as shown: line by line, but for white space at the ends and what `…` stands for."""
    pattern = ""
    for line in expected.strip("\n").splitlines():
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += r"[^\n]*".join(re.escape(part) for part in line.rstrip().split("…")) + r"\n"
    tidy = "".join(f"{line.rstrip()}\n" for line in found.strip("\n").splitlines())
    return re.fullmatch(pattern, tidy) is not None
