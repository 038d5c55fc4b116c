"""The embedded model's server: it answers us alone, serves all who want the same, and ends with the last of them."""

from __future__ import annotations

import http.client
import json
import os
import signal
import sys
import threading
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import alive, until

from jurat.provider.local_server import (
    LocalExtraMissing,
    LocalServer,
    LocalServerError,
    ServerSettings,
    shared_server,
    stop_shared_servers,
)

SMALL = ServerSettings(context_tokens=1024, prompt_cache_mib=0)
SCORE_ONLY = {
    "type": "object",
    "properties": {"score": {"type": "integer"}},
    "required": ["score"],
    "additionalProperties": False,
}


def ask(url: str, path: str, api_key: str | None = None, body: dict[str, Any] | None = None) -> tuple[int, Any]:
    """One request to a server: its status, and its JSON."""
    address = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=120)
    headers = {"Content-Type": "application/json"}
    if api_key is not None:
        headers["Authorization"] = f"Bearer {api_key}"
    try:
        connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


# --- Without a model


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)

    with pytest.raises(
        LocalExtraMissing, match=r"xllamacpp is not installed\. Install it: pip install 'jurat\[local\]'$"
    ):
        LocalServer(tmp_path / "m.gguf").start()


def test_a_file_that_is_not_there_is_an_error_not_a_crash(tmp_path: Path) -> None:
    with pytest.raises(LocalServerError, match=r"none\.gguf: No such file or directory"):
        LocalServer(tmp_path / "none.gguf").start()


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"PK\3\4")

    with pytest.raises(LocalServerError, match=r"m\.gguf is no GGUF file"):
        LocalServer(tmp_path / "m.gguf").start()


def test_a_damaged_model_is_an_error_with_the_loaders_reason(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + bytes(100))
    server = LocalServer(tmp_path / "m.gguf")

    with pytest.raises(LocalServerError, match=r"it could not load the model \(gguf_init_from_reader: .*\)") as caught:
        server.start()
    assert "See that there is enough memory" in caught.value.hint
    assert (server.running, server.pid) == (False, None)


def test_a_server_that_is_not_started_has_no_address(tmp_path: Path) -> None:
    server = LocalServer(tmp_path / "m.gguf")

    with pytest.raises(LocalServerError, match="it is not started"):
        _ = server.url
    server.stop()
    assert server.api_key not in repr(server)


def test_every_server_has_a_key_of_its_own(tmp_path: Path) -> None:
    keys = {LocalServer(tmp_path / "m.gguf").api_key for _ in range(3)}

    assert len(keys) == 3
    assert all(len(key) >= 40 for key in keys)


# --- With the smallest model


@pytest.fixture(scope="module")
def server(smollm2: Path) -> Iterator[LocalServer]:
    """One running server for the tests that do not end it."""
    with LocalServer(smollm2, SMALL) as running:
        yield running


@pytest.mark.model_small
def test_it_is_healthy_and_answers_by_a_schema(server: LocalServer) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": SCORE_ONLY}}
    body = {
        "messages": [{"role": "user", "content": "Score this from 0 to 9."}],
        "response_format": schema,
        "max_tokens": 60,
        "temperature": 0,
    }

    assert ask(server.url, "/health") == (200, {"status": "ok"})
    status, reply = ask(server.url, "/v1/chat/completions", server.api_key, body)
    assert status == 200
    verdict = json.loads(reply["choices"][0]["message"]["content"])
    assert list(verdict) == ["score"]
    assert isinstance(verdict["score"], int)


@pytest.mark.model_small
def test_a_prefix_that_was_read_is_not_read_again(server: LocalServer) -> None:
    def read_tokens(question: str) -> int:
        messages = [{"role": "system", "content": "Judge strictly. " * 40}, {"role": "user", "content": question}]
        body = {"messages": messages, "max_tokens": 1, "temperature": 0}
        return int(ask(server.url, "/v1/chat/completions", server.api_key, body)[1]["timings"]["prompt_n"])

    first = read_tokens("Is Paris in France?")
    second = read_tokens("Is Oslo in Norway?")
    assert first > 120
    assert second < 30


@pytest.mark.model_small
@pytest.mark.parametrize("api_key", [None, "wrong"])
def test_nobody_else_gets_an_answer(server: LocalServer, api_key: str | None) -> None:
    body = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}

    assert ask(server.url, "/v1/chat/completions", api_key, body)[0] == 401
    assert ask(server.url, "/completion", api_key, {"prompt": "Hello"})[0] == 401


@pytest.mark.model_small
def test_it_listens_on_loopback_and_its_key_stands_in_no_command_line(server: LocalServer) -> None:
    assert server.url.startswith("http://127.0.0.1:")
    command_line = Path(f"/proc/{server.pid}/cmdline").read_bytes()
    assert server.api_key.encode() not in command_line
    assert server.api_key.encode() not in Path(f"/proc/{server.pid}/environ").read_bytes()


@pytest.mark.model_small
def test_stopping_ends_the_process_and_starting_again_makes_another(smollm2: Path) -> None:
    server = LocalServer(smollm2, SMALL)
    server.start()
    first = server.pid
    server.start()
    assert server.pid == first

    server.stop()
    server.stop()
    assert first is not None
    assert not alive(first)
    with pytest.raises(LocalServerError, match="it is not started"):
        server.check()

    server.start()
    assert server.pid not in (None, first)
    server.stop()


@pytest.mark.model_small
def test_a_model_that_does_not_load_in_time_is_given_up(smollm2: Path) -> None:
    server = LocalServer(smollm2, SMALL, start_timeout_s=0.0)

    with pytest.raises(LocalServerError, match="it did not load within 0 s"):
        server.start()
    assert server.pid is None


@pytest.mark.model_small
def test_a_crash_of_the_model_is_an_error_of_ours_not_our_end(smollm2: Path) -> None:
    with LocalServer(smollm2, SMALL) as server:
        assert server.pid is not None
        os.kill(server.pid, signal.SIGSEGV)
        until(lambda: server.ended)

        with pytest.raises(LocalServerError, match=r"it ended unexpectedly \(signal SIGSEGV\)"):
            _ = server.url


@pytest.mark.model_small
def test_a_stop_from_another_thread_does_not_wait_for_the_model_to_load(smollm2: Path) -> None:
    server = LocalServer(smollm2, SMALL)
    errors: list[LocalServerError] = []

    def start() -> None:
        try:
            server.start()
        except LocalServerError as error:
            errors.append(error)

    starting = threading.Thread(target=start)
    starting.start()
    until(lambda: server.pid is not None)
    server.stop()
    starting.join(60)

    assert ["signal SIGKILL" in error.trouble for error in errors] == [True]


# --- One for all


@pytest.fixture
def no_others() -> Iterator[None]:
    stop_shared_servers()
    yield
    stop_shared_servers()


@pytest.mark.model_small
def test_all_who_want_the_same_share_one_server_and_the_last_one_ends_it(smollm2: Path, no_others: None) -> None:
    leases = []

    def lease() -> None:
        leases.append(shared_server(smollm2, context_tokens=512, linger_s=0))

    threads = [threading.Thread(target=lease) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pids = {one.server.pid for one in leases}
    (pid,) = pids
    assert pid is not None

    leases[0].close()
    leases[0].close()
    leases[1].close()
    assert alive(pid)
    assert leases[2].url == leases[0].url
    leases[2].close()
    assert not alive(pid)


@pytest.mark.model_small
def test_other_settings_are_another_server(smollm2: Path, no_others: None) -> None:
    with shared_server(smollm2, context_tokens=512) as one, shared_server(smollm2, context_tokens=640) as other:
        assert one.url != other.url
        assert one.api_key != other.api_key


@pytest.mark.model_small
def test_a_server_lingers_for_the_next_user_until_it_is_told_to_go(smollm2: Path, no_others: None) -> None:
    first = shared_server(smollm2, context_tokens=512, linger_s=3600)
    pid = first.server.pid
    first.close()
    second = shared_server(smollm2, context_tokens=512, linger_s=3600)
    assert second.server.pid == pid
    second.close()

    stop_shared_servers()
    assert pid is not None
    assert not alive(pid)


@pytest.mark.model_small
def test_a_server_that_has_waited_long_enough_goes(smollm2: Path, no_others: None) -> None:
    lease = shared_server(smollm2, context_tokens=512, linger_s=0.01)
    pid = lease.server.pid
    assert pid is not None
    lease.close()

    until(lambda: not alive(pid))


@pytest.mark.model_small
def test_a_server_that_has_died_is_replaced(smollm2: Path, no_others: None) -> None:
    with shared_server(smollm2, context_tokens=512) as first:
        assert first.server.pid is not None
        os.kill(first.server.pid, signal.SIGKILL)
        until(lambda: first.server.ended)
        with shared_server(smollm2, context_tokens=512) as second:
            assert ask(second.url, "/health")[0] == 200
            with pytest.raises(LocalServerError, match="signal SIGKILL"):
                _ = first.url


def test_a_server_that_cannot_start_leaves_no_hold_behind(tmp_path: Path, no_others: None) -> None:
    for _ in range(2):
        with pytest.raises(LocalServerError, match="No such file"):
            shared_server(tmp_path / "none.gguf")
