"""The house has one-way stairs: what may import what, what stays pure, what stays out of the repository.

Everything here is read from the source, so that a late import inside a function counts like any other.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "jurat"

FLOORS: tuple[frozenset[str], ...] = tuple(
    map(
        frozenset,
        (
            ("credentials", "_lazy", "_version", "processend", "eventloop", "raised"),
            ("errors",),
            ("vocabulary", "threads", "usermodules", "regularfiles"),
            ("jsontext",),
            ("_tree", "_yamlwrite"),
            ("_jsonfeed", "_yamlaliases"),
            ("_yamlfeed",),
            ("yamltext", "_yamlnotes"),
            ("yamlformat",),
            ("rubric", "evidence"),
            ("suite", "provider", "documents", "folderfiles"),
            ("evaluation", "suitefiles"),
            ("judge", "assertions", "subject"),
            ("report", "importing"),
            ("metrics", "engine", "store", "forecast"),
            ("workbench", "filejob"),
            ("judgefactory", "health", "rubrics"),
            ("suiterun",),
            ("suitecheck",),
            ("_api",),
            ("_comparing",),
            ("testing", "cli", "pytest_plugin"),
            ("jurat", "__main__"),
        ),
    )
)
"""From the ground up. A part imports itself and what stands below it, and nothing beside or above it."""

PURE = ("errors", "vocabulary", "credentials", "jsontext", "yamltext", "rubric", "evidence", "suite", "importing")
OUTSIDE = {
    *("asyncio", "socket", "ssl", "http", "urllib", "subprocess", "threading", "multiprocessing", "sqlite3"),
    *("aiohttp", "sqlalchemy", "aiosqlite", "asyncpg", "alembic", "os", "pathlib", "shutil", "tempfile"),
}
"""What reaches beyond memory: pure data imports none of it."""

HOMES = {
    "aiohttp": ("provider",),
    "xllamacpp": ("provider",),
    "genai_prices": ("provider",),
    "sqlalchemy": ("store",),
    "alembic": ("store",),
    "aiosqlite": ("store",),
    "asyncpg": ("store",),
    "sqlite3": ("store",),
    "pypdf": ("documents",),
    "typer": ("cli",),
    "rich": ("cli",),
    "opentelemetry": ("cli",),
    "orjson": ("report",),
    "ruamel": ("yamltext", "_yamlfeed", "_yamlwrite"),
}
"""Libraries that one part alone knows, so that another can take their place."""


def files_of(part: str) -> list[Path]:
    package = SOURCE / part
    if part == "jurat":
        return [SOURCE / "__init__.py"]
    return sorted(package.rglob("*.py")) if package.is_dir() else [SOURCE / f"{part}.py"]


@cache
def imports(file: Path) -> tuple[tuple[int, str], ...]:
    """Every module that a file imports, at whatever depth of it, with its line; type-checking imports too."""
    return tuple(_imports(file))


def _imports(file: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: imports are absolute here"
            if node.module == "jurat":
                yield from ((node.lineno, f"jurat.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module or ""


def parts() -> list[str]:
    """Every module and package directly under `jurat`, and `jurat` itself for the front door."""
    named = {path.stem for path in SOURCE.glob("*.py")} | {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    return sorted((named - {"__init__"}) | {"jurat"})


FLOOR = {part: height for height, floor in enumerate(FLOORS) for part in floor}


def test_every_part_has_a_floor() -> None:
    assert sorted(FLOOR) == parts()


@pytest.mark.parametrize("part", parts())
def test_imports_go_down_the_stairs(part: str) -> None:
    wrong = []
    for file in files_of(part):
        for line, module in imports(file):
            root, _, rest = module.partition(".")
            wanted = rest.partition(".")[0] or "jurat"
            if root == "jurat" and wanted != part and FLOOR[wanted] >= FLOOR[part]:
                wrong.append(f"{file.relative_to(ROOT)}:{line} imports {module}")
    assert not wrong, f"{part} may import what stands below it alone:\n" + "\n".join(wrong)


@pytest.mark.parametrize("part", PURE)
def test_pure_data_reaches_nothing_outside_of_memory(part: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {module}"
        for file in files_of(part)
        for line, module in imports(file)
        if module.partition(".")[0] in OUTSIDE
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("part", PURE)
def test_pure_data_never_awaits_and_opens_no_file(part: str) -> None:
    wrong = []
    for file in files_of(part):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            waits = isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith)
            opens = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("open", "print")
            if waits or opens:
                wrong.append(f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("library", HOMES)
def test_a_library_is_known_to_its_own_part_alone(library: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{line}"
        for part in parts()
        if part not in HOMES[library]
        for file in files_of(part)
        for line, module in imports(file)
        if module.partition(".")[0] == library
    ]
    assert not wrong, f"{library} belongs to {', '.join(HOMES[library])}:\n" + "\n".join(wrong)


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after a statement."""
    code = f"{statement}\nimport sys\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


COSTLY = {"aiohttp", "alembic", "sqlalchemy", "typer", "rich", "ruamel", "numpy", "scipy", "pyarrow", "genai_prices"}


@pytest.mark.parametrize(
    ("statement", "spared"),
    [
        ("import jurat", COSTLY | {"asyncio", "ssl", "jsonschema_rs", "re2"}),
        ("import jurat; jurat.Context(output='x'); jurat.Rubric", COSTLY | {"asyncio", "ssl"}),
        ("import jurat; jurat.evaluate('Paris', {'type': 'contains', 'value': 'Paris'})", COSTLY),
        ("import jurat.cli.app", COSTLY - {"typer", "rich"}),
    ],
)
def test_what_costs_is_imported_late(statement: str, spared: set[str]) -> None:
    assert not loaded_by(statement) & spared


# --- the repository ------------------------------------------------------------------------------------------------


def tracked() -> list[Path]:
    """The files of the repository; where there is none (an sdist), the files that stand here."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0:
        names = [name for name in listed.stdout.decode().split("\0") if name]
        return [ROOT / name for name in names if (ROOT / name).is_file()]
    return [path for top in ("src", "tests", "docs", "examples", "benchmarks") for path in (ROOT / top).rglob("*.*")]


_MACHINE = re.compile("(?<![A-Za-z0-9_.~-])/(?:" + "|".join(("work", "tmp", "root")) + ")/")


def test_no_file_names_a_place_on_somebodys_machine() -> None:
    found = []
    for path in tracked():
        if path.suffix in (".py", ".md", ".toml", ".yaml", ".yml", ".json", ".jsonl", ".cfg", ".ini", "", ".sh"):
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                if _MACHINE.search(line):
                    found.append(f"{path.relative_to(ROOT)}:{number}")
    # Paths inside of a cgroup's name, in the tests that read such names.
    own = [line for line in found if not line.startswith("tests/provider/test_cores.py")]
    assert not own, "\n".join(own)


def test_every_module_opens_with_its_idea() -> None:
    bare = [
        str(path.relative_to(ROOT))
        for path in SOURCE.rglob("*.py")
        if not ast.get_docstring(ast.parse(path.read_text("utf-8")))
    ]
    assert not bare
