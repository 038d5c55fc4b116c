"""What is installed, configured and within reach, and how to mend what is not: the findings behind `jurat doctor`.

Nothing here reaches the network, and no key is shown: only whether its variable is set, or the keyring has its entry.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from jurat._version import __version__
from jurat.errors import JuratError, ProviderError
from jurat.provider.credentials import from_keyring
from jurat.provider.registry import make_provider
from jurat.provider.rows import VENDORS
from jurat.workbench import Workbench

__all__ = ["Check", "Health", "examine", "try_local_model"]

_EXTRAS = {
    "local": ("xllamacpp", "the embedded model"),
    "postgres": ("asyncpg", "a PostgreSQL store"),
    "data": ("pyarrow", "Parquet files"),
}
_ENOUGH_DISK = 3_000_000_000
"""Room for the default model and the parts that it is joined from."""


class Health(StrEnum):
    """How one check came out. Only `bad` keeps the main job from running."""

    GOOD = "good"
    ABSENT = "absent"
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One finding, and what to do about it."""

    name: str
    health: Health
    found: str
    mend: str | None = None


def examine(directory: Path) -> Iterator[Check]:
    """Everything that can be found out without asking a model."""
    yield Check(name="jurat", health=Health.GOOD, found=f"{__version__} on Python {platform.python_version()}")
    yield from _extras()
    yield _config(directory)
    yield from _keys(directory)
    yield _model()
    yield _disk(directory)


def _extras() -> Iterator[Check]:
    for extra, (package, purpose) in _EXTRAS.items():
        try:
            version = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            mend = f"{Path(sys.executable).name} -m pip install 'jurat[{extra}]'"
            yield Check(name=f"extra {extra}", health=Health.ABSENT, found=f"no {package}, for {purpose}", mend=mend)
        else:
            yield Check(name=f"extra {extra}", health=Health.GOOD, found=f"{package} {version}, for {purpose}")


def _config(directory: Path) -> Check:
    try:
        config = Workbench(directory).config
    except JuratError as error:
        return Check(name="configuration", health=Health.BAD, found=str(error), mend="correct the file")
    if config.file is None:
        return Check(name="configuration", health=Health.GOOD, found="no jurat.toml, so the defaults hold")
    return Check(name="configuration", health=Health.GOOD, found=f"{config.file}, {len(config.providers)} providers")


def _keys(directory: Path) -> Iterator[Check]:
    for kind, preset in VENDORS.items():
        yield _key(f"key for {kind}", preset.api_key_env)
    try:
        rows = Workbench(directory).config.providers
    except JuratError:
        return
    for name, row in rows.items():
        try:
            settings = make_provider(row, base_dir=directory).settings
        except JuratError as error:
            yield Check(name=f"provider {name}", health=Health.BAD, found=str(error), mend="correct its row")
        else:
            if settings.api_key_env:
                yield _key(f"key for provider {name}", settings.api_key_env)
            elif settings.api_key_keyring:
                yield _kept_key(f"key for provider {name}", settings.api_key_keyring)


def _key(name: str, variable: str) -> Check:
    if os.environ.get(variable):
        return Check(name=name, health=Health.GOOD, found=f"{variable} is set")
    return Check(name=name, health=Health.ABSENT, found=f"{variable} is not set", mend=f"export {variable}=…")


def _kept_key(name: str, entry: str) -> Check:
    try:
        from_keyring(entry)
    except ProviderError as error:
        return Check(name=name, health=Health.ABSENT, found=str(error))
    return Check(name=name, health=Health.GOOD, found=f"the keyring has {entry}")


def _model() -> Check:
    from jurat.provider.models import model_path, resolve

    name = resolve("default").name
    try:
        return Check(name=f"model {name}", health=Health.GOOD, found=str(model_path(name)))
    except JuratError as error:
        return Check(name=f"model {name}", health=Health.ABSENT, found=str(error), mend="jurat models pull")


def _disk(directory: Path) -> Check:
    from jurat.provider.models import models_directory

    place = next(path for path in (models_directory(), *models_directory().parents) if path.exists())
    free = min(shutil.disk_usage(place).free, shutil.disk_usage(directory).free)
    found = f"{free / 1e9:.1f} GB free"
    if free < _ENOUGH_DISK:
        return Check(name="disk", health=Health.ABSENT, found=found, mend="free 3 GB for the default model")
    return Check(name="disk", health=Health.GOOD, found=found)


async def try_local_model() -> Check:
    """Ask the embedded model for one verdict, and see that it answers."""
    from time import monotonic

    provider = make_provider("local")
    started = monotonic()
    try:
        from jurat.judge import Judge, JudgeSettings
        from jurat.vocabulary import Strategy

        judge = Judge("answer_relevance", provider, JudgeSettings(strategy=Strategy.LOGPROB))
        verdict = await judge.judge("The capital of France is Paris.")
    except JuratError as error:
        return Check(name="local model", health=Health.BAD, found=str(error), mend="jurat models pull")
    finally:
        await provider.aclose()
    if (trouble := verdict.opinion.error) is not None:
        return Check(name="local model", health=Health.BAD, found=f"{trouble.type}: {trouble.message}")
    return Check(name="local model", health=Health.GOOD, found=f"answers, in {monotonic() - started:.1f} s")
