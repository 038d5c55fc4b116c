"""The files that a suite was made of: what nothing that is written may take the place of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from jurat.suite.loaded import LoadedSuite
from jurat.suiterun.prepare import folder_of

__all__ = ["input_files"]

_FILE_KEYS = ("replies_file", "file", "call_log", "model_path")


def input_files(loaded: LoadedSuite) -> list[Path]:
    """The suite file, the files that it includes, cases files, documents, rubric files and those of its providers."""
    return [Path(name) for name in dict.fromkeys(_named(loaded))]


def _named(loaded: LoadedSuite) -> Iterator[str]:
    suite, folder = loaded.suite, folder_of(loaded.suite)
    if suite.file is not None:
        yield suite.file
    for origins in loaded.origins.values():
        yield from (origin.document.file for origin in origins if origin.document.file is not None)
    for row in suite.providers.values():
        yield from (str(folder / row[key]) for key in _FILE_KEYS if isinstance(row.get(key), str))
    for case in suite.cases:
        if case.place.file is not None:
            yield case.place.file
        yield from (str(folder / document.path) for document in case.documents if document.path is not None)
        for assertion in case.assertions:
            named = assertion.get("template", assertion.get("rubric"))
            if isinstance(named, str) and named.lower().endswith((".yaml", ".yml", ".json")):
                yield str(folder / named)
