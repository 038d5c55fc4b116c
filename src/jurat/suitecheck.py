"""Everything that is wrong with a suite, at once: what its files say, its documents, and what is made of them.

A suite that cannot be read whole is looked at as far as it is sound, so that a misspelled key hides no assertion
that is misconfigured. What would only follow from a fault that is told already is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from jurat.errors import AuthoringError, Fault
from jurat.regularfiles import read_regular
from jurat.suite.loaded import LoadedSuite
from jurat.suite.loaded import follows as is_beneath
from jurat.suite.manifest import gather_suite
from jurat.suite.suite import Suite
from jurat.suitefiles import FolderFiles, load_suite, with_bytes
from jurat.suiterun import check_suite
from jurat.yamltext import MAX_BYTES

__all__ = ["checked_suite", "loaded_suite"]


def loaded_suite(path: Path) -> LoadedSuite:
    """The suite of a file. When it cannot be read whole, what is wrong with the rest of it is told as well.

    Raises:
        AuthoringError: with every fault of every file.
    """
    try:
        return load_suite(path)
    except AuthoringError as error:
        faults = list(error.faults)
    if (sound := _sound(path)) is not None:
        faults += _new(_faults_of(sound), faults)
    raise AuthoringError(f"suite {path}", _in_order(faults))


def checked_suite(path: Path) -> Suite:
    """The suite of a file, after everything that can be checked without a key, a model or a connection.

    Raises:
        AuthoringError: with every fault of every file.
    """
    loaded = loaded_suite(path)
    try:
        check_suite(loaded)
    except AuthoringError as error:
        raise AuthoringError(f"suite {path}", error.faults) from None
    return loaded.suite


def _faults_of(loaded: LoadedSuite) -> tuple[Fault, ...]:
    try:
        check_suite(loaded)
    except AuthoringError as error:
        return error.faults
    return ()


def _in_order(faults: list[Fault]) -> list[Fault]:
    """File by file, as they were first met, and each from top to bottom."""
    files = list(dict.fromkeys(fault.file for fault in faults))
    return sorted(faults, key=lambda fault: (files.index(fault.file), fault.line or 0))


def _sound(path: Path) -> LoadedSuite | None:
    """The suite as far as it is sound; what its documents say does not matter here."""
    try:
        content = read_regular(path, MAX_BYTES + 1)
    except (OSError, ValueError):
        return None
    files = FolderFiles(path.parent)
    loaded = gather_suite(content, str(path), files, [])
    return None if loaded is None else replace(loaded, suite=with_bytes(loaded.suite, files, []))


def _new(found: Iterable[Fault], told: list[Fault]) -> list[Fault]:
    """The faults that do not merely follow from those that were told."""
    providers = any(fault.path.startswith("providers") for fault in told)
    places = {(fault.file, fault.line, fault.path) for fault in told}

    def follows(fault: Fault) -> bool:
        if (fault.file, fault.line, fault.path) in places or (told and fault.path == "cases"):
            return True
        if is_beneath(fault, told):
            return True
        if fault.expected == "a picture to show":  # because its file or its data was refused, there or in the prompt
            case = fault.path.partition(".")[0]
            return any(one.path.startswith((f"{case}.", "prompt")) for one in told)
        return providers and fault.expected == "a provider that exists"

    return [fault for fault in found if not follows(fault)]
