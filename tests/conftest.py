"""Fixtures that every part may use."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from handed import shared_directory

# How long an example takes says nothing about the code under test, and a build gives the same answer twice. It tries a
# hundred examples where people, who run the tests all day, try forty others each time.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40)
settings.register_profile("build", settings.get_profile("here"), derandomize=True, max_examples=100)
settings.load_profile("build" if os.environ.get("CI") else "here")


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As of whatever a script or `nohup` starts in the background; tests that interrupt would wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Where no byte code is to be written beside sources, have programs write it to a directory of the session.

    Each of some hundred that tests start would otherwise compile all of its modules anew: as long as all else it does.
    """
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        place = tempfile.TemporaryDirectory(prefix="jurat-tests-", ignore_cleanup_errors=True)
        config.add_cleanup(place.cleanup)
        os.environ["PYTHONPYCACHEPREFIX"] = place.name


@pytest.fixture
def shared() -> Path:
    """The directory of handed inputs beside the repository."""
    return shared_directory()
