"""Whose hosts a suite may name, in whatever spelling, and what they may resolve to."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from hypothesis import given
from hypothesis import strategies as st
from loopback import serving_elsewhere
from typer.testing import CliRunner

from jurat.cli.app import app
from jurat.errors import AuthoringError, ErrorCategory, ProviderError
from jurat.provider import make_provider
from jurat.provider.addresses import BadAddress, checked_base_url
from jurat.provider.hosts import OPEN, HostTrust, is_this_machine, plain_host
from jurat.provider.http import AiohttpTransport
from jurat.provider.resolving import Distrusted, TrustedResolver
from suitefolder import Folder

NOBODY = HostTrust.of(())


@pytest.mark.parametrize(
    "url",
    [
        *(
            "https://api.openai.com/v1",
            "https://API.OpenAI.com./v1",
            "https://x.openai.azure.com",
            "http://127.0.0.1:9",
        ),
        *("http://localhost:1/v1", "http://[::1]/v1", "http://[::ffff:127.0.0.1]/v1", "http://models.localhost/"),
    ],
)
def test_vendors_and_this_machine_may_be_named_by_anybody(url: str) -> None:
    assert NOBODY.permits(url)


@pytest.mark.parametrize(
    "url",
    [
        *("https://api.openai.com.evil.example/", "https://evil.example/api.openai.com", "https://10.0.0.7/"),
        *("http://169.254.169.254/latest", "http://[fd00:ec2::254]/", "http://[::ffff:169.254.169.254]/"),
        *("http://metadata.google.internal/", "http://[64:ff9b::a9fe:a9fe]/", "https://openai.azure.com/"),
        *("https://api.openai.com@evil.example/", "https://xopenai.azure.com/"),
        *("https://[2002:7f00:1::]/v1", "https://[64:ff9b::7f00:1]/v1"),  # loopback, but of a gateway
        *("http://0.0.0.0:8000", "http://[::]:8000/"),  # this machine to some systems, none of ours
    ],
)
def test_other_hosts_may_not(url: str) -> None:
    assert not NOBODY.permits(url)
    assert OPEN.permits(url)


@pytest.mark.parametrize(
    ("allowed", "url"),
    [
        ("gpu.example", "https://GPU.example.:8000/v1"),
        ("*.corp.example", "https://a.b.corp.example/v1"),
        ("10.0.0.7", "http://10.0.0.7/v1"),
        ("10.0.0.7", "http://[::ffff:10.0.0.7]/v1"),
        ("[fd00::7]", "http://[fd00:0:0::7]/v1"),
    ],
)
def test_the_users_own_settings_allow_more(allowed: str, url: str) -> None:
    assert HostTrust.of([allowed]).permits(url)
    assert not HostTrust.of(["other.example"]).permits(url)


@pytest.mark.parametrize(
    "host",
    [
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "017700000001",
        "127.1",
        "127.0.0.01",
        "0177.0.0.1",
        "169.254.43518",
        "1.2.3.4.5",
    ],
)
def test_numbers_in_other_forms_are_refused_whoever_says_them(host: str) -> None:
    with pytest.raises(BadAddress, match="a number in another form"):
        checked_base_url(f"https://{host}/v1")


@pytest.mark.parametrize("host", ["a%2f.openai.azure.com", "a\\.openai.azure.com", "a;b.example", "*.example", "a..b"])
def test_characters_that_no_name_has_are_refused(host: str) -> None:
    with pytest.raises(BadAddress, match="other characters"):
        checked_base_url(f"https://{host}/v1")


def test_a_key_of_a_cloud_function_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(BadAddress, match=r"without a key in it, found https://f\.example/api\?code=\*\*\*"):
        checked_base_url("https://f.example/api?code=hidden")


@pytest.mark.parametrize("url", ["http://localhost./v1", "http://[::ffff:127.0.0.1]/v1", "http://127.0.0.1./v1"])
def test_this_machine_is_itself_in_every_spelling(url: str) -> None:
    assert checked_base_url(url) == url


def test_letters_that_turn_into_others_are_refused() -> None:
    with pytest.raises(BadAddress, match="other letters"):
        checked_base_url("https://①②⑦.⓪.⓪.①/v1")


@given(st.ip_addresses())
def test_an_address_has_one_spelling_and_keeps_it(address: object) -> None:
    once = plain_host(str(address))
    assert plain_host(once) == once
    assert is_this_machine(str(address)) == is_this_machine(once)


@pytest.mark.parametrize(
    ("host", "address", "fine"),
    [
        ("api.openai.com", "104.18.7.192", True),
        ("api.openai.com", "10.0.0.7", False),
        ("api.openai.com", "127.0.0.1", False),
        ("api.openai.com", "::ffff:169.254.169.254", False),
        ("localhost", "127.0.0.1", True),
        ("localhost", "10.0.0.7", False),
        ("gpu.example", "10.0.0.7", True),
        ("gpu.example", "169.254.169.254", False),
        ("gpu.example", "100.100.100.200", False),
        ("gpu.example", "fd00:ec2::254", False),
        ("gpu.example", "0.0.0.0", False),  # noqa: S104  nothing is bound
    ],
)
def test_what_a_name_leads_to_counts_too(host: str, address: str, fine: bool) -> None:
    assert HostTrust.of(["gpu.example"]).reaches(host, address) is fine


class Rebinding(AbstractResolver):
    """A resolver that says what it is told."""

    def __init__(self, address: str) -> None:
        self.address = address

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=self.address, port=port, family=socket.AF_INET, proto=0, flags=0),
        ]

    async def close(self) -> None:
        """Nothing is open."""


async def test_a_name_that_leads_inside_is_not_found() -> None:
    resolver = TrustedResolver(NOBODY, Rebinding("169.254.169.254"))
    with pytest.raises(Distrusted):
        await resolver.resolve("api.openai.com", 443)
    assert await TrustedResolver(NOBODY, Rebinding("104.18.7.192")).resolve("api.openai.com", 443)


async def test_a_connection_to_a_name_that_leads_inside_is_refused_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("jurat.provider.resolving.DefaultResolver", lambda: Rebinding("10.0.0.7"))
    transport = AiohttpTransport(timeout_s=5, trust=NOBODY)
    with pytest.raises(ProviderError) as refused:
        await transport.post("https://api.openai.com/v1", {}, b"{}")
    await transport.aclose()
    assert refused.value.category is ErrorCategory.NETWORK_ERROR
    assert "allowed_hosts" in str(refused.value)


def test_a_row_of_a_suite_is_held_to_it_and_the_users_own_row_is_not() -> None:
    row = {"kind": "openai_compatible", "base_url": "https://gpu.example/v1", "model": "m"}
    with pytest.raises(AuthoringError) as refused:
        make_provider(row, trust=NOBODY)
    (fault,) = refused.value.faults
    assert (fault.path, fault.found) == ("base_url", "gpu.example")
    assert 'allowed_hosts = ["gpu.example"]' in str(fault)
    make_provider(row, trust=HostTrust.of(["gpu.example"]))
    make_provider(row)


# --- the commands --------------------------------------------------------------------------------------------------

SUITE = {
    "schema_version": 1,
    "suite": "s",
    "providers": [{"name": "far", "kind": "openai_compatible", "base_url": "https://gpu.example/v1", "model": "m"}],
    "prompt": "{{q}}",
    "subject": "far",
    "cases": [{"name": "one", "variables": {"q": "x"}, "assertions": [{"type": "contains", "value": "x"}]}],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    yield from Folder.entered(tmp_path, monkeypatch)


def validate() -> tuple[int, str]:
    done = CliRunner().invoke(app, ["suite", "validate", "far.json"])
    return done.exit_code, done.stdout + done.stderr


def test_a_suite_that_names_a_strangers_host_is_refused_until_the_user_allows_it(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write("far.json", json.dumps(SUITE))
    code, told = validate()
    assert code == 2
    assert "base_url: expected a vendor's host, this machine, or a host that your own settings allow" in told
    monkeypatch.setenv("JURAT_ALLOWED_HOSTS", "other.example,gpu.example")
    assert validate()[0] == 0
    monkeypatch.delenv("JURAT_ALLOWED_HOSTS")
    folder.write("jurat.toml", 'allowed_hosts = ["*.example"]')
    assert validate()[0] == 0
    folder.write("jurat.toml", "allowed_hosts = [5]")
    assert "allowed_hosts: expected a list of hosts" in validate()[1]


def test_an_http_subject_of_a_suite_is_held_to_it_too(folder: Folder) -> None:
    subject = {"http": {"url": "https://gpu.example/ask", "output": "answer"}}
    folder.write("far.json", json.dumps({**SUITE, "providers": [], "subject": subject}))
    code, told = validate()
    assert code == 2
    assert "http.url: expected a vendor's host" in told


def test_a_row_of_the_configuration_may_name_any_host(folder: Folder) -> None:
    folder.write("far.json", json.dumps({**SUITE, "providers": []}))
    folder.write(
        "jurat.toml",
        '[[providers]]\nname = "far"\nkind = "openai_compatible"\nbase_url = "https://gpu.example/v1"\nmodel = "m"',
    )
    assert validate()[0] == 0


def test_this_machine_needs_no_permission(folder: Folder) -> None:
    with serving_elsewhere() as server:
        far = {**SUITE["providers"][0], "base_url": server.url}  # type: ignore[index]
        folder.write("far.json", json.dumps({**SUITE, "providers": [far]}))
        done = CliRunner().invoke(app, ["run", "far.json", "--fail-on", "never"])
    assert done.exit_code == 0
    assert len(server.requests) == 1
