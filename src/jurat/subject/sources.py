"""The code that a function's answers depend on, as far as it is known: its file, and what that imports of its folder.

The imports are read out of the sources, those inside of functions too, and followed from file to file. So it does not
matter what else the process has imported. Not seen are imports by a name that is computed, data files that the code
reads, and packages that are installed.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["source_hash"]


def source_hash(function: Callable[..., Any], name: str = "", folder: Path | None = None) -> str | None:
    """A hash of the code, blind to the kind of line ends; None for a function that stands in no file.

    Args:
        function: as it was found.
        name: `module:function`, as it was named; that module may be another than the one that defines the function.
        folder: the folder of modules that are followed; None: the function's own file alone counts.
    """
    try:
        file = inspect.getsourcefile(inspect.unwrap(function))
        if file is None:
            return None
        digest = hashlib.sha256(_content(Path(file))).hexdigest()
        others = _others(Path(file), name.partition(":")[0], folder)
    except (TypeError, OSError):
        return None
    if not others:
        return digest
    told = [digest, *(f"{place} {hashlib.sha256(text).hexdigest()}" for place, text in sorted(others.items()))]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


def _others(own: Path, module: str, folder: Path | None) -> dict[str, bytes]:
    """The other files of the folder that count, by their places in it."""
    if folder is None:
        return {}
    root, first = folder.resolve(), own.resolve()
    named = getattr(sys.modules.get(module), "__file__", None)
    waiting = [file for file in (first, *([Path(named).resolve()] if named else [])) if file.is_relative_to(root)]
    found: dict[Path, bytes] = {}
    while waiting:
        file = waiting.pop()
        if file not in found:
            found[file] = _content(file)
            waiting += _imported(found[file], file, root)
    return {file.relative_to(root).as_posix(): text for file, text in found.items() if file != first}


def _content(file: Path) -> bytes:
    return file.read_bytes().replace(b"\r\n", b"\n")


def _imported(text: bytes, file: Path, root: Path) -> Iterator[Path]:
    """The files of the folder that a source imports."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files(root, alias.name.split("."), root)
        elif isinstance(node, ast.ImportFrom):
            start = root if node.level == 0 else file.parents[min(node.level, len(file.parents)) - 1]
            steps = node.module.split(".") if node.module else []
            for alias in node.names:
                yield from _files(start, [*steps, alias.name], root)


def _files(start: Path, steps: list[str], root: Path) -> Iterator[Path]:
    """The modules on the way to a dotted name, as far as they are files of the folder."""
    for end in range(len(steps) + 1):
        stem = start.joinpath(*steps[:end])
        for file in (stem / "__init__.py", *([stem.with_name(f"{stem.name}.py")] if end else [])):
            if file.is_file() and file.resolve().is_relative_to(root):
                yield file.resolve()
