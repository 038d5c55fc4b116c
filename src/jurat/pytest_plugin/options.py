"""What the command line and the ini file say of evaluations, and which files are suites.

A file is a suite only if it matches a pattern that somebody wrote for suites: `jurat_suites` in the ini file (by
default `*.jurat.yaml`, `*.jurat.yml`, `*.jurat.json`) or `--jurat-collect`. No other file is opened.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

__all__ = ["DEFAULT_PATTERNS", "TOGETHER", "WHOLE", "Options", "add_options", "matches", "near", "options_of"]

DEFAULT_PATTERNS = ("*.jurat.yaml", "*.jurat.yml", "*.jurat.json")
_ANY_FOLDERS = "(?:[^/]+/)*"
WHOLE = "jurat_whole"
"""What a process is told that has all tests of a file, if it has one of them."""
TOGETHER = ("loadfile", "loadscope", "each")
"""The ways of pytest-xdist to deal out tests that keep those of one file together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for.

    Attributes:
        root: the root directory of the tests; patterns with a `/` and recordings are relative to it.
        directory: where pytest was called; `jurat.toml` and the store are looked for there.
        providers: by name, before those of suites and tests.
        samples: trials of each case of a suite.
        record, replay: folders of recordings.
        store: where runs are kept.
        show_output: whether answers and quotes belong to failures.
        patterns: which files are suites.
        alone: whether each case is a run of its own: where another process has the other cases, or the first failure
            ends the session.
        scattered: whether that is because other processes have them.
    """

    root: Path = field(default_factory=Path.cwd)
    directory: Path = field(default_factory=Path.cwd)
    providers: Mapping[str, str] = field(default_factory=dict)
    samples: int | None = None
    record: Path | None = None
    replay: Path | None = None
    store: str | None = None
    show_output: bool = False
    patterns: tuple[str, ...] = ()
    alone: bool = False
    scattered: bool = False

    def is_suite(self, path: Path) -> bool:
        """Whether a file is a suite."""
        relative = path.relative_to(self.root) if path.is_relative_to(self.root) else path
        return any(matches(relative.as_posix(), pattern) for pattern in self.patterns)

    def recordings(self, path: Path | None) -> tuple[str | None, str | None]:
        """Where a suite's replies are recorded, and where they are replayed from. None: those of single evaluations.

        Each suite has a folder of its own, named as the suite file; a replay takes the folder itself where there is
        none such, so that what `jurat run --record` left can be given as it is.
        """
        own = Path("evaluations") if path is None else self._named(path)
        record = None if self.record is None else str(self.record / own)
        if self.replay is None:
            return record, None
        return record, str(self.replay / own if (self.replay / own).is_dir() else self.replay)

    def _named(self, path: Path) -> Path:
        path = path.absolute()
        relative = path.relative_to(self.root) if path.is_relative_to(self.root) else Path(path.name)
        return relative.with_name(relative.stem.removesuffix(".jurat"))


def matches(path: str, pattern: str) -> bool:
    """Whether a path with `/` matches: a pattern without `/` looks at the name alone, `**` stands for any folders."""
    if "/" not in pattern:
        return fnmatch.fnmatchcase(path.rpartition("/")[2], pattern)
    parts = [_ANY_FOLDERS if part == "**" else f"{_part(part)}/" for part in pattern.removeprefix("./").split("/")]
    return re.fullmatch("".join(parts), f"{path}/") is not None


def _part(pattern: str) -> str:
    """One part of a path; what stands for characters stands for none of `/`."""
    words = re.split(r"([*?])", pattern)
    return "".join({"*": "[^/]*", "?": "[^/]"}.get(word, re.escape(word)) for word in words)


def near(path: Path) -> Path:
    """A path as a person would write it who stands here."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return path
    return path if relative.startswith("..") else Path(relative)


def add_options(parser: pytest.Parser) -> None:
    """Tell pytest the options; all begin with `--jurat-`."""
    group = parser.getgroup("jurat", "jurat: evaluation of language-model output")
    group.addoption(
        "--jurat-provider",
        action="append",
        default=[],
        metavar="NAME=PROVIDER",
        help="take kind:model, or another provider, for this name",
    )
    group.addoption("--jurat-samples", type=int, metavar="N", help="trials of each case of a suite, 1 to 20")
    group.addoption("--jurat-replay", metavar="FOLDER", help="answer from recorded replies: no key, no network")
    group.addoption("--jurat-record", metavar="FOLDER", help="keep everybody's replies for a replay")
    group.addoption("--jurat-store", metavar="PLACE", help="where runs are kept: a file or postgresql://…")
    group.addoption("--jurat-show-output", action="store_true", help="show answers and quotes in failures")
    group.addoption(
        "--jurat-collect",
        action="append",
        default=[],
        metavar="PATTERN",
        help="collect these files as suites, too",
    )
    parser.addini("jurat_suites", "patterns of files that are suites", type="args", default=[*DEFAULT_PATTERNS])


def options_of(config: pytest.Config) -> Options:
    """What was asked for.

    Raises:
        pytest.UsageError: for what cannot be meant.
    """
    given = config.option
    directory = config.invocation_params.dir
    scattered = not getattr(config, "workerinput", {WHOLE: True}).get(WHOLE, False)
    record, replay = (None if name is None else directory / name for name in (given.jurat_record, given.jurat_replay))
    fault = _contradiction(config)
    if fault is None and replay is not None and not replay.is_dir():
        fault = f"--jurat-replay: expected a folder of recordings, found no folder {replay}"
    if fault is not None:
        raise pytest.UsageError(fault)
    return Options(
        root=config.rootpath,
        directory=directory,
        providers=_providers(given.jurat_provider),
        samples=given.jurat_samples,
        record=record,
        replay=replay,
        store=given.jurat_store,
        show_output=given.jurat_show_output,
        patterns=(*config.getini("jurat_suites"), *given.jurat_collect),
        alone=scattered or bool(config.getoption("maxfail", 0) or config.getoption("stepwise", False)),
        scattered=scattered,
    )


def _contradiction(config: pytest.Config) -> str | None:
    given = config.option
    if given.jurat_samples is not None and not 1 <= given.jurat_samples <= 20:
        return f"--jurat-samples: expected a whole number from 1 to 20, found {given.jurat_samples}"
    if given.jurat_record is None:
        return None
    if given.jurat_replay is not None:
        return "--jurat-record: expected recordings to be made or replayed, found both"
    if getattr(given, "numprocesses", None) or getattr(given, "dist", "no") != "no":
        return "--jurat-record: expected one process, found several; leave -n out while recording"
    return None


def _providers(given: Sequence[str]) -> dict[str, str]:
    made: dict[str, str] = {}
    for text in given:
        name, sign, wanted = (part.strip() for part in text.partition("="))
        if not (name and sign and wanted) or name in made:
            expected = "each name once" if name in made else "NAME=PROVIDER, as in judge=openai:MODEL"
            raise pytest.UsageError(f"--jurat-provider: expected {expected}, found {text[:80]!r}")
        made[name] = wanted
    return made
