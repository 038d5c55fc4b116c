"""Counting the cores that are really ours, on made-up machines."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from jurat.provider.cores import usable_cores

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the count is left to llama.cpp")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four physical cores with two hyper-threads each; the process is bound to the first six threads."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3, 4, 5})
    for cpu in range(8):
        write(tmp_path, f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list", f"{cpu % 4},{cpu % 4 + 4}\n")
    write(tmp_path, "proc/self/cgroup", "0::/team/job\n")
    return tmp_path


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def test_hyper_threads_of_one_core_count_once(machine: Path) -> None:
    assert usable_cores(machine) == 4


def test_a_core_that_the_process_is_not_bound_to_does_not_count(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {1, 5})

    assert usable_cores(machine) == 1


def test_a_machine_that_tells_no_topology_has_a_core_for_each_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2})

    assert usable_cores(tmp_path) == 3


@pytest.mark.parametrize(
    ("own", "above", "cores"),
    [
        ("200000 100000", "max 100000", 2),
        ("max 100000", "150000 100000", 1),
        ("300000 100000", "200000 100000", 2),
        ("50000 100000", "max 100000", 1),
        ("max 100000", "max 100000", 4),
        ("800000 100000", "max 100000", 4),
        ("nonsense", "max", 4),
        ("1 0", "max 100000", 4),
    ],
)
def test_the_control_groups_quota_bounds_the_count(machine: Path, own: str, above: str, cores: int) -> None:
    write(machine, "sys/fs/cgroup/team/job/cpu.max", own)
    write(machine, "sys/fs/cgroup/team/cpu.max", above)

    assert usable_cores(machine) == cores


def test_inside_a_container_the_quota_stands_at_the_top(machine: Path) -> None:
    write(machine, "proc/self/cgroup", "0::/\n")
    write(machine, "sys/fs/cgroup/cpu.max", "300000 100000")

    assert usable_cores(machine) == 3


def test_this_machine_has_at_least_one_core() -> None:
    assert (usable_cores() or 0) >= 1
