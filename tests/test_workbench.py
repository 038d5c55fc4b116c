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


@pytest.mark.parametrize(
    "store",
    [
        "postgresql://me:s3cr3t-word@db.example/evals",
        "postgresql://me@db.example/evals?password=s3cr3t-word",
        "postgresql://me:s3cr3t-word@[db.example/evals",
    ],
)
def test_a_password_in_the_address_of_the_store_is_refused_and_not_repeated(tmp_path: Path, store: str) -> None:
    (tmp_path / "jurat.toml").write_text(f'store = "{store}"\n')

    with pytest.raises(AuthoringError) as caught:
        read_config(tmp_path)

    assert "store: expected an address without a password, since files are shared" in str(caught.value)
    assert "s3cr3t-word" not in str(caught.value)


@pytest.mark.parametrize("store", ["postgresql://me@db.example/evals", "folder/runs.db", "sqlite:///runs.db"])
def test_an_address_without_a_password_is_the_stores(tmp_path: Path, store: str) -> None:
    (tmp_path / "jurat.toml").write_text(f'store = "{store}"\n')

    assert read_config(tmp_path).store == store


def test_a_key_in_a_row_is_refused_whoever_is_asked(tmp_path: Path) -> None:
    row = '[[providers]]\nname = "spare"\nkind = "openai"\nmodel = "m"\nheaders = {X-Auth = "s3cr3t-word"}\n'
    (tmp_path / "jurat.toml").write_text(row)

    with pytest.raises(AuthoringError) as caught:
        read_config(tmp_path)

    assert "providers[0].headers.X-Auth: expected no key, token or password in settings" in str(caught.value)
    assert "s3cr3t-word" not in str(caught.value)
