"""The models directory: verified once, believed while it looks the same, and changed by one process at a time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from wheel_index import TinyModel, tiny_model

from jurat.provider import model_table
from jurat.provider.model_files import ModelFiles
from jurat.provider.models import (
    ModelBusy,
    ModelCorrupt,
    ModelMissing,
    ModelState,
    ModelUnknown,
    installed,
    model_path,
    model_state,
    models_directory,
    remove,
)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> TinyModel:
    """A table with one tiny model in it."""
    model = tiny_model()
    monkeypatch.setattr(model_table, "_TABLE", (model.entry,))
    return model


def put(tiny: TinyModel, directory: Path, content: bytes | None = None) -> Path:
    path = directory / "tiny.gguf"
    path.write_bytes(tiny.content if content is None else content)
    return path


def spoiled(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


def test_the_directory_is_the_users_choice_or_the_platforms_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")

    assert models_directory({"JURAT_MODELS_DIR": "/models"}) == Path("/models")
    assert models_directory({"XDG_CACHE_HOME": "/cache"}) == Path("/cache/jurat/models")
    assert models_directory({}) == Path.home() / ".cache/jurat/models"
    monkeypatch.setattr("sys.platform", "darwin")
    assert models_directory({"XDG_CACHE_HOME": "/cache"}) == Path.home() / "Library/Caches/jurat/models"
    monkeypatch.setattr("sys.platform", "win32")
    assert models_directory({"LOCALAPPDATA": "/local"}) == Path("/local/jurat/models")


def test_a_missing_model_says_which_command_fetches_it(tmp_path: Path, tiny: TinyModel) -> None:
    with pytest.raises(ModelMissing, match=r"tiny\.gguf, nothing found\. Fetch it with: jurat models pull tiny$"):
        model_path("default", tmp_path)


def test_a_directory_that_does_not_exist_holds_no_model(tmp_path: Path, tiny: TinyModel) -> None:
    with pytest.raises(ModelMissing):
        model_path("tiny", tmp_path / "none")
    with pytest.raises(ModelMissing):
        remove("tiny", tmp_path / "none")
    assert installed(tmp_path / "none") == ()


def test_a_file_put_there_by_hand_is_verified_and_gets_a_receipt(tmp_path: Path, tiny: TinyModel) -> None:
    path = put(tiny, tmp_path)

    assert model_path("tiny", tmp_path) == path
    assert (tmp_path / "tiny.gguf.json").is_file()
    assert installed(tmp_path) == (tiny.entry,)


def test_another_file_of_the_same_size_is_refused(tmp_path: Path, tiny: TinyModel) -> None:
    put(tiny, tmp_path, spoiled(tiny.content))

    with pytest.raises(ModelCorrupt) as caught:
        model_path("tiny", tmp_path)
    assert tiny.entry.sha256 in caught.value.expected
    assert caught.value.found.startswith("SHA-256 ")
    assert model_state(tiny.entry, tmp_path) is ModelState.DAMAGED


def test_a_file_of_another_size_is_refused_without_hashing_it(tmp_path: Path, tiny: TinyModel) -> None:
    put(tiny, tmp_path, tiny.content[:-1])

    with pytest.raises(ModelCorrupt, match="found 499,999 bytes"):
        model_path("tiny", tmp_path)


def test_the_receipt_spares_the_hashing_while_size_and_time_are_the_same(tmp_path: Path, tiny: TinyModel) -> None:
    path = put(tiny, tmp_path)
    model_path("tiny", tmp_path)
    stat = path.stat()

    path.write_bytes(spoiled(tiny.content))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert model_path("tiny", tmp_path) == path


def test_a_file_that_was_touched_is_hashed_again(tmp_path: Path, tiny: TinyModel) -> None:
    path = put(tiny, tmp_path)
    model_path("tiny", tmp_path)
    stat = path.stat()

    path.write_bytes(spoiled(tiny.content))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))

    with pytest.raises(ModelCorrupt):
        model_path("tiny", tmp_path)


@pytest.mark.parametrize("receipt", ["", "null", "[]", '{"sha256": "0"}', "\0"])
def test_a_receipt_that_says_nothing_useful_is_as_none(tmp_path: Path, tiny: TinyModel, receipt: str) -> None:
    put(tiny, tmp_path, spoiled(tiny.content))
    (tmp_path / "tiny.gguf.json").write_text(receipt)

    with pytest.raises(ModelCorrupt):
        model_path("tiny", tmp_path)


def test_a_receipt_of_another_pin_is_not_believed(
    tmp_path: Path, tiny: TinyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tiny, tmp_path)
    model_path("tiny", tmp_path)

    monkeypatch.setattr(model_table, "_TABLE", (tiny_model(sha256="1" * 64).entry,))

    with pytest.raises(ModelCorrupt):
        model_path("tiny", tmp_path)


def test_removing_takes_the_file_the_receipt_and_every_leftover(tmp_path: Path, tiny: TinyModel) -> None:
    put(tiny, tmp_path)
    model_path("tiny", tmp_path)
    (tmp_path / "tiny.gguf.bad").write_bytes(b"12345")
    work = tmp_path / ".pull/tiny"
    work.mkdir(parents=True)
    (work / "joined.gguf").write_bytes(b"123")

    assert remove("default", tmp_path) > 500_008
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".lock"] == []
    assert model_state(tiny.entry, tmp_path) is ModelState.ABSENT
    with pytest.raises(ModelMissing):
        remove("tiny", tmp_path)


def test_what_an_unfinished_pull_left_is_a_partial_model(tmp_path: Path, tiny: TinyModel) -> None:
    work = tmp_path / ".pull/tiny"
    work.mkdir(parents=True)
    assert model_state(tiny.entry, tmp_path) is ModelState.ABSENT

    (work / "joined.gguf").write_bytes(b"123")
    assert model_state(tiny.entry, tmp_path) is ModelState.PARTIAL


def test_a_model_that_is_being_fetched_cannot_be_removed(tmp_path: Path, tiny: TinyModel) -> None:
    put(tiny, tmp_path)

    with ModelFiles.of(tiny.entry, tmp_path).locked(), pytest.raises(ModelBusy, match="another process is fetching it"):
        remove("tiny", tmp_path)
    assert remove("tiny", tmp_path) >= 500_000


def test_an_unknown_model_cannot_be_removed(tmp_path: Path) -> None:
    with pytest.raises(ModelUnknown):
        remove("gpt-x", tmp_path)
