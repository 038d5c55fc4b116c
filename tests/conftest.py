"""Fixtures that every part may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from handed import shared_directory


@pytest.fixture
def shared() -> Path:
    """The directory of handed inputs beside the repository."""
    return shared_directory()
