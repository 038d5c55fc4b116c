"""Keys in the keyring, and keys kept out of logs."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keyring.backend import KeyringBackend
from loopback import REPLY, answer, serving
from test_retry import GOOD, REQUEST_WITHOUT_SCHEMA
from typer.testing import CliRunner

from jurat.cli.app import app
from jurat.credentials import masked
from jurat.errors import AuthoringError, ErrorCategory, ProviderError
from jurat.evaluation.subject import Task
from jurat.health import Health, examine
from jurat.provider import make_provider
from jurat.provider.credentials import SENT
from jurat.provider.redaction import Redacting
from jurat.subject.server import HttpSubject

KEY = "planted-0123456789abcdef"


class Vault(KeyringBackend):
    """A keyring in memory."""

    priority = 1.0
    entries: dict[tuple[str, str], str]

    def get_password(self, service: str, username: str) -> str | None:
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.entries[service, username]


@pytest.fixture
def vault() -> Iterator[Vault]:
    before, made = keyring.get_keyring(), Vault()  # type: ignore[no-untyped-call]
    made.entries = {("models", "me@home"): KEY}
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


def row(url: str, **more: object) -> dict[str, object]:
    return {"kind": "openai_compatible", "base_url": url, "model": "m", "max_attempts": 1, **more}


async def test_a_key_comes_out_of_the_keyring_into_the_header(vault: Vault) -> None:
    async with serving(GOOD) as server:
        provider = make_provider(row(server.url, api_key_keyring="models/me@home"))
        await provider.send(provider.prepare(REQUEST_WITHOUT_SCHEMA))
        await provider.aclose()
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(vars(provider))


async def test_a_refused_key_tells_its_keyring_entry(vault: Vault) -> None:
    async with serving(answer({"error": {"message": KEY}}, 401)) as server:
        provider = make_provider(row(server.url, api_key_keyring="models/me@home"))
        with pytest.raises(ProviderError) as refused:
            await provider.send(provider.prepare(REQUEST_WITHOUT_SCHEMA))
        await provider.aclose()
    assert "It came from the keyring entry models/me@home" in str(refused.value)
    assert KEY not in str(refused.value)


def test_a_missing_entry_is_a_missing_key_with_what_to_do(vault: Vault) -> None:
    provider = make_provider(row("http://127.0.0.1:9/v1", api_key_keyring="models/nobody"))
    with pytest.raises(ProviderError) as missing:
        provider.check()
    assert missing.value.category is ErrorCategory.MISSING_API_KEY
    assert str(missing.value).endswith("found none. Put it there: keyring set models nobody")


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    provider = make_provider(row("http://127.0.0.1:9/v1", api_key_keyring="models/me"))
    with pytest.raises(ProviderError, match=r"not installed\. Install it \(pip install keyring\)"):
        provider.check()


@pytest.mark.parametrize("entry", ["", "nowhere", "/me", "models/", "sk-aaaaaaaaaaaaaaaa", 5])
def test_what_is_no_entry_is_refused(entry: object) -> None:
    with pytest.raises(AuthoringError) as refused:
        make_provider(row("http://127.0.0.1:9/v1", api_key_keyring=entry))
    assert str(entry) not in str(refused.value) or not entry or entry in ("/me", 5, "nowhere", "models/")


def test_a_key_has_one_place() -> None:
    with pytest.raises(AuthoringError, match="expected one place of the key, found api_key_env beside it"):
        make_provider(row("http://127.0.0.1:9/v1", api_key_keyring="models/me", api_key_env="SOME_KEY"))


# --- logs ----------------------------------------------------------------------------------------------------------


def filtered(message: str, *arguments: object, error: BaseException | None = None) -> logging.LogRecord:
    info = (type(error), error, None) if error is not None else None
    record = logging.LogRecord("aiohttp.client", logging.DEBUG, "f.py", 1, message, arguments, info)
    assert Redacting().filter(record)
    return record


def test_keys_that_were_sent_are_masked_to_the_letter_and_others_by_their_looks() -> None:
    SENT.add(KEY)
    record = filtered("headers %s and %s", {"X-Key": KEY}, "sk-fake-000000000000000")
    assert record.getMessage() == "headers {'X-Key': '***'} and ***"


def test_of_a_longer_key_that_begins_like_one_that_was_sent_nothing_is_left() -> None:
    SENT.add("sk-fake-00000000")
    assert filtered("%s!", "sk-fake-000000000000000").getMessage() == "***!"


def test_what_only_looks_a_little_like_a_key_stays() -> None:
    assert filtered("status=%d in %s", 401, "api.example").getMessage() == "status=401 in api.example"


def test_an_exception_is_masked_with_its_text() -> None:
    record = filtered("it failed", error=ValueError(f"sent Bearer {KEY}"))
    assert logging.Formatter().format(record).endswith("ValueError: sent Bearer ***")


def test_arguments_that_do_not_fit_let_nothing_out() -> None:
    assert filtered("%d", "sk-fake-000000000000000").getMessage() == "a log record whose arguments do not fit its text"


@given(before=st.text(max_size=30), after=st.text(max_size=30))
def test_a_known_key_is_never_left_whatever_stands_around_it(before: str, after: str) -> None:
    assert KEY not in masked(before + KEY + after, [KEY])


async def test_the_key_of_a_subject_behind_http_comes_out_of_the_keyring(vault: Vault) -> None:
    async with serving(answer({"text": "x"})) as server:
        subject = HttpSubject(server.url, output="text", api_key_keyring="models/me@home")
        await subject.send(subject.prepare(Task(rendered_input="Well?")))
        await subject.aclose()
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(vars(subject))


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"api_key_env": "0123456789abcdef0123456789abcdef"}, "expected the name of an environment variable"),
        ({"api_key_keyring": KEY}, "expected service/user of a keyring's entry"),
        ({"api_key_env": "A_KEY", "api_key_keyring": "models/me@home"}, "expected one place of the key"),
    ],
)
def test_what_is_no_place_of_a_key_is_refused_and_not_repeated(more: dict[str, str], told: str) -> None:
    with pytest.raises(AuthoringError) as refused:
        HttpSubject("https://example.com/ask", **more)  # type: ignore[arg-type]  # keyword arguments of text
    assert told in str(refused.value)
    assert KEY not in str(refused.value)
    assert "0123456789abcdef" not in str(refused.value)


@pytest.mark.parametrize("body", [{**REPLY, "model": KEY}, {**REPLY, "echo": {"authorization": f"Bearer {KEY}"}}])
async def test_a_reply_that_repeats_the_key_is_an_error_and_no_reply(vault: Vault, body: object) -> None:
    async with serving(answer(body)) as server:
        provider = make_provider(row(server.url, api_key_keyring="models/me@home"))
        with pytest.raises(ProviderError) as refused:
            await provider.send(provider.prepare(REQUEST_WITHOUT_SCHEMA))
        await provider.aclose()
    assert refused.value.category is ErrorCategory.API_ERROR
    assert str(refused.value).endswith("repeats the key in its reply, which is therefore not kept. Mend that server")
    assert KEY not in str(refused.value)


async def test_a_word_that_stands_in_for_a_key_may_stand_in_a_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "Paris")
    async with serving(GOOD) as server:
        provider = make_provider(row(server.url, api_key_env="A_KEY"))
        raw = await provider.send(provider.prepare(REQUEST_WITHOUT_SCHEMA))
        await provider.aclose()
    assert b"Paris" in raw.body


def test_doctor_says_whether_the_keyring_has_the_key_and_never_the_key(vault: Vault, tmp_path: Path) -> None:
    rows = "".join(
        f'[[providers]]\nname = "{name}"\nkind = "openai"\nmodel = "m"\napi_key_keyring = "models/{user}"\n'
        for name, user in [("mine", "me@home"), ("nobodys", "nobody")]
    )
    (tmp_path / "jurat.toml").write_text(rows)
    found = {check.name: check for check in examine(tmp_path)}
    there, missing = found["key for provider mine"], found["key for provider nobodys"]
    assert (there.health, there.found) == (Health.GOOD, "the keyring has models/me@home")
    assert missing.health is Health.ABSENT
    assert missing.found.endswith("found none. Put it there: keyring set models nobody")
    assert KEY not in repr(found)


def test_the_list_of_providers_says_whether_the_keyring_has_the_key(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row_of = '[[providers]]\nname = "{0}"\nkind = "openai"\nmodel = "m"\napi_key_keyring = "models/{0}"\n'
    vault.entries["models", "here"] = KEY
    (tmp_path / "jurat.toml").write_text(row_of.format("here") + row_of.format("gone"))
    monkeypatch.chdir(tmp_path)
    listed = CliRunner().invoke(app, ["providers"]).output
    assert "https://api.openai.com/v1, the keyring has models/here" in listed
    assert "https://api.openai.com/v1, the keyring has no models/gone" in listed
    told = json.loads(CliRunner().invoke(app, ["providers", "--format", "json"]).output)
    assert [(one["api_key_keyring"], one["key_is_set"]) for one in told["configured"]] == [
        ("models/here", True),
        ("models/gone", False),
    ]
    assert KEY not in listed
