"""The front door: every name that is promised is there, sorted, documented, and typed."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import jurat

ROOT = Path(__file__).resolve().parents[1]


def with_face() -> list[str]:
    """Every module of jurat; but a program, a step of the store's history and a mere number have no face."""
    every = [module.name for module in pkgutil.walk_packages(jurat.__path__, "jurat.")]
    faceless = (".migrations", "_main", "._version")
    return ["jurat", *(name for name in every if not any(part in name for part in faceless))]


def test_the_names_at_the_front_door_are_sorted_and_each_is_there() -> None:
    assert jurat.__all__ == sorted(jurat.__all__)
    for name in jurat.__all__:
        assert getattr(jurat, name) is not None


def test_dir_tells_the_names_at_the_front_door_and_no_others() -> None:
    assert dir(jurat) == jurat.__all__


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'jurat' has no attribute 'evaluat'"):
        jurat.evaluat  # noqa: B018  # a module with __getattr__ has every attribute, to a type checker


@pytest.mark.parametrize("name", with_face())
def test_every_face_is_sorted_and_holds_what_it_lists(name: str) -> None:
    module = importlib.import_module(name)
    listed = getattr(module, "__all__", None)

    assert listed is not None, f"{name} does not say what is public in it"
    assert list(listed) == sorted(listed, key=_as_ruff_sorts)
    for public in listed:
        assert hasattr(module, public), f"{name}.{public} is listed and not there"


def _as_ruff_sorts(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest: the order of ruff's RUF022."""
    bare = name.strip("_")
    return (0 if bare.isupper() and len(bare) > 1 else 1 if bare[:1].isupper() else 2, name)


def test_every_public_class_and_function_says_what_it_is() -> None:
    silent = []
    for name in jurat.__all__:
        value = getattr(jurat, name)
        own = "\n".join(value.__doc__.split()) if callable(value) and value.__doc__ else ""
        generated = own.startswith(f"{name}(")  # what dataclass writes where there is nothing
        if callable(value) and (not own or generated):
            silent.append(name)
        if inspect.isclass(value):
            silent += [
                f"{name}.{method}"
                for method, member in vars(value).items()
                if not method.startswith("_") and callable(member) and not inspect.getdoc(member)
            ]
    assert not silent


def test_the_map_in_the_front_doors_docstring_names_real_things() -> None:
    lines = (jurat.__doc__ or "").split("\n\n", 1)[1].splitlines()
    named = [word for line in lines for word in line.split("  ")[0].split(", ") if word.strip()]

    assert named
    assert [name for name in named if name.strip() not in jurat.__all__] == []


def test_types_are_part_of_what_is_installed() -> None:
    found = importlib.util.find_spec("jurat")

    assert found is not None
    assert found.submodule_search_locations is not None
    assert (Path(next(iter(found.submodule_search_locations))) / "py.typed").is_file()


@pytest.mark.slow
def test_a_users_program_type_checks_strictly() -> None:
    program = ROOT / "tests" / "typing" / "api.py"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(program)], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_program_runs_as_a_module_too() -> None:
    done = subprocess.run([sys.executable, "-m", "jurat", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"jurat {jurat.__version__}\n"


def test_a_mistake_is_told_without_what_went_on_before() -> None:
    with pytest.raises(jurat.AuthoringError) as caught:
        jurat.evaluate("x", {"type": "contains"})
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
