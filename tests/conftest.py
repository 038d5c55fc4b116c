"""Fixtures that every part may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from handed import shared_directory

# How long an example takes says nothing about the code under test, and a build gives the same answer twice. It tries a
# hundred examples where people, who run the tests all day, try forty others each time.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40)
settings.register_profile("build", settings.get_profile("here"), derandomize=True, max_examples=100)
settings.load_profile("build" if os.environ.get("CI") else "here")


@pytest.fixture
def shared() -> Path:
    """The directory of handed inputs beside the repository."""
    return shared_directory()
