"""The workbench: a configuration file is read or refused with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from jurat.errors import AuthoringError
from jurat.workbench import read_config


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("pyproject.toml", "tool = 3\n", "tool: expected a table, found a number"),
        ("pyproject.toml", "[tool]\njurat = 3\n", "expected a table, found a number"),
        ("jurat.toml", "a = " + "[" * 100_000, "expected a TOML file"),
        ("jurat.toml", "a = " + "9" * 10_000, "expected a TOML file, found a number that is too long"),
        ("jurat.toml", "a = \n", "expected a TOML file"),
        ("jurat.toml", "providers = 3\n", "providers: expected an array of tables"),
        ("jurat.toml", "providers = [3]\n", "providers[0].name: expected a name"),
    ],
)
def test_a_configuration_that_cannot_be_read_is_refused_by_name(
    tmp_path: Path, name: str, text: str, told: str
) -> None:
    (tmp_path / name).write_text(text)

    with pytest.raises(AuthoringError) as caught:
        read_config(tmp_path)

    assert f"{tmp_path / name}: " in str(caught.value)
    assert told in str(caught.value)
