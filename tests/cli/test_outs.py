"""Reports on their way: one that cannot be written is given up, and the others come to their end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jurat.cli._outs import Out, appended, whole
from jurat.errors import StoreError
from jurat.report.reporters import Sink, Told


class Lines:
    """A reporter that writes a line for whatever it is told."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink

    def begin(self, run: Any, summary: Mapping[str, Any], gate: Mapping[str, Any] | None) -> None:
        self.sink.write(b"begin\n")

    def case(self, told: Told) -> None:
        self.sink.write(b"case\n")

    def end(self) -> None:
        self.sink.write(b"end\n")

    def close(self) -> None:
        self.sink.write(b"close\n")


class Full:
    """A sink on a disk that is full after the first line."""

    def __init__(self) -> None:
        self.lines = 0

    def write(self, data: bytes) -> None:
        self.lines += 1
        if self.lines > 1:
            raise OSError(28, "No space left on device")


@contextmanager
def full() -> Iterator[Sink]:
    yield Full()


def test_a_report_is_there_when_it_was_closed_and_not_before(tmp_path: Path) -> None:
    out = Out(whole(tmp_path / "r"), Lines)
    out.tell(lambda reporter: reporter.end())
    before = [path.name for path in tmp_path.iterdir()]
    out.close()

    assert "r" not in before
    assert (tmp_path / "r").read_bytes() == b"end\nclose\n"
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_a_full_disk_stops_its_own_report_alone(tmp_path: Path) -> None:
    outs = [Out(full(), Lines), Out(whole(tmp_path / "r"), Lines)]
    for out in outs:
        for _ in range(3):
            out.tell(lambda reporter: reporter.end())
        out.close()

    assert str(outs[0].failed) == "report: cannot be written: No space left on device"
    assert outs[1].failed is None
    assert (tmp_path / "r").read_bytes() == b"end\nend\nend\nclose\n"


def test_a_file_that_cannot_be_opened_is_told_with_its_name(tmp_path: Path) -> None:
    out = Out(appended(tmp_path / "nowhere" / "s.md"), Lines)
    out.tell(lambda reporter: reporter.end())
    out.close()

    assert isinstance(out.failed, StoreError)
    assert str(out.failed) == f"{tmp_path / 'nowhere' / 's.md'}: cannot be written: No such file or directory"


def test_a_report_that_was_dropped_leaves_nothing(tmp_path: Path) -> None:
    out = Out(whole(tmp_path / "r"), Lines)
    out.tell(lambda reporter: reporter.end())
    out.drop()

    assert list(tmp_path.iterdir()) == []


def test_a_fault_of_the_reporter_itself_is_no_fault_of_the_disk(tmp_path: Path) -> None:
    outs = [Out(whole(tmp_path / "broken"), Lines), Out(whole(tmp_path / "r"), Lines)]
    outs[0].tell(lambda _: print(1 // 0))
    for out in outs:
        out.close()

    assert isinstance(outs[0].failed, ZeroDivisionError)
    assert [path.name for path in tmp_path.iterdir()] == ["r"]
