"""Pytest within pytest."""

from __future__ import annotations

import pytest

from plugged import Project


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose tests evaluate."""
    for name in ("JURAT_STORE", "PYTEST_ADDOPTS", "PY_COLORS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return Project(pytester)
