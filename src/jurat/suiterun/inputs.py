"""The files that a suite was made of: what nothing that is written may take the place of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from jurat.evidence import Message
from jurat.report.record import RunRecord
from jurat.store import Store
from jurat.suite.loaded import LoadedSuite
from jurat.suite.suite import Suite
from jurat.suiterun.prepare import folder_of
from jurat.suiterun.reopen import stored_suite

__all__ = ["input_files", "input_files_of_run"]

_FILE_KEYS = ("replies_file", "file", "call_log", "model_path")


def input_files(loaded: LoadedSuite) -> list[Path]:
    """The suite file, what it includes, cases files, documents, pictures, rubric files and those of its providers."""
    included = (origin.document.file for origins in loaded.origins.values() for origin in origins)
    return _paths([*(file for file in included if file is not None), *_named(loaded.suite)])


async def input_files_of_run(store: Store, record: RunRecord) -> list[Path]:
    """The same, of a run that is in the store, as far as its record tells them.

    Raises:
        StoreError: when it cannot be read.
    """
    return _paths(_named(await stored_suite(store, record)))


def _paths(names: Iterable[str]) -> list[Path]:
    return [Path(name) for name in dict.fromkeys(names)]


def _named(suite: Suite) -> Iterator[str]:
    folder = folder_of(suite)
    if suite.file is not None:
        yield suite.file
    for prompt in suite.prompts:
        yield from (str(folder / name) for name in _pictures(prompt.messages))
    for row in suite.providers.values():
        yield from (str(folder / row[key]) for key in _FILE_KEYS if isinstance(row.get(key), str))
    for case in suite.cases:
        if case.place.file is not None:
            yield case.place.file
        yield from (str(folder / document.path) for document in case.documents if document.path is not None)
        yield from (str(folder / name) for name in _pictures(case.messages))
        yield from (str(folder / picture.path) for picture in case.pictures if picture.path is not None)
        for assertion in case.assertions:
            named = assertion.get("template", assertion.get("rubric"))
            if isinstance(named, str) and named.lower().endswith((".yaml", ".yml", ".json")):
                yield str(folder / named)


def _pictures(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        yield from (picture.path for _, picture in message.pictures() if picture.path is not None)
