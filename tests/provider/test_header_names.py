"""Headers that steer the way to a server are nobody's to name."""

from __future__ import annotations

import pytest

from jurat.errors import AuthoringError
from jurat.provider import make_provider
from jurat.provider.headers import header_name_fault
from jurat.subject.server import HttpSubject

STEERING = [
    "Host",
    "content-length",
    "Transfer-Encoding",
    "Connection",
    "Proxy-Connection",
    "Upgrade",
    "Accept-Encoding",
]
OTHERS = ["X Y", "X: y", "", "-x", "ünicode", "x\r\ny"]
URL = "https://host.example/v1"


@pytest.mark.parametrize("name", ["X-Team", "OpenAI-Organization", "anthropic-beta", "api_version", "x"])
def test_what_says_something_to_the_server_may_be_named(name: str) -> None:
    assert header_name_fault(name, "headers") is None
    make_provider({"kind": "openai", "model": "m", "headers": {name: "a"}})
    HttpSubject(URL, headers={name: "a"})


@pytest.mark.parametrize("name", STEERING + OTHERS)
def test_what_steers_the_way_may_not_be_named_by_a_row_or_a_subject(name: str) -> None:
    told = "a header that leaves the way to the server alone" if name in STEERING else "the name of a header"
    for where in ({"headers": {name: "a"}}, {"api_key_header": name}):
        with pytest.raises(AuthoringError, match=told):
            make_provider({"kind": "openai", "model": "m", **where})
        with pytest.raises(AuthoringError, match=told):
            HttpSubject(URL, **where)


def test_a_value_that_no_header_can_carry_is_refused() -> None:
    with pytest.raises(AuthoringError, match="headers: expected values that a header can carry"):
        make_provider({"kind": "openai", "model": "m", "headers": {"X-Team": "ä"}})
