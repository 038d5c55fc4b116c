"""A model server of our own: llama.cpp behind its OpenAI-compatible endpoint, on loopback, for as long as we live.

It runs in a **child process**, not in a thread of this one. Tried both; in process, xllamacpp holds the interpreter's
lock while it loads (every thread and event loop stands still for seconds), takes SIGINT and SIGTERM away from Python,
prints to our streams, and a damaged model or a failed assertion in C++ would end jurat itself. A child costs one
interpreter start (0.1 s) and gives back its memory whole.

What always holds: it listens on 127.0.0.1 only, on a port of the system's choice, and answers nobody without a random
key, which travels through a pipe and stands in no command line. It ends with `stop`, at exit, and when this process is
killed (the child watches the pipe and its parent); Ctrl-C is left to this process. Its log is dropped once the model
is loaded, because from then on it could quote what is judged.
"""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from jurat.errors import ModelError
from jurat.provider.cores import usable_cores
from jurat.regularfiles import open_regular

if TYPE_CHECKING:
    from types import TracebackType

__all__ = [
    "LocalExtraMissing",
    "LocalServer",
    "LocalServerError",
    "ServerSettings",
]

_MAIN = Path(__file__).with_name("_local_main.py")
_LOG_BYTES = 16_384


class LocalServerError(ModelError):
    """The model server did not start, or is no longer there. `trouble` says which."""

    def __init__(self, model: Path, trouble: str, *, hint: str) -> None:
        self.model = model
        self.trouble = trouble
        self.hint = hint
        super().__init__(f"model server for {model.name}: {trouble}. {hint}")


class LocalExtraMissing(LocalServerError):
    """The package that runs embedded models is not installed."""

    def __init__(self, model: Path) -> None:
        super().__init__(model, "the package xllamacpp is not installed", hint="Install it: pip install 'jurat[local]'")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How a model is served.

    Attributes:
        context_tokens: input and output together, for each slot.
        slots: requests that are worked on at once; each keeps a context of its own in memory.
        threads: None takes the physical cores that this process may use.
        prompt_cache_mib: memory for prompts that no slot holds at the moment, so that judges with different rubrics
            taking turns each keep their prefix. 0 turns it off.
    """

    context_tokens: int = 8192
    slots: int = 1
    threads: int | None = None
    prompt_cache_mib: int = 512


class LocalServer:
    """One model server process. `start` before use, `stop` after; both from any thread. Also a context manager.

    `url` is the root of the endpoint, without `/v1`; requests carry `Authorization: Bearer <api_key>`.
    """

    def __init__(self, model_path: Path, settings: ServerSettings | None = None, *, start_timeout_s: float = 120.0):
        self.model_path = model_path
        self.settings = settings or ServerSettings()
        self.api_key = secrets.token_urlsafe(32)
        self._start_timeout_s = start_timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._url: str | None = None
        self._owner = os.getpid()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"LocalServer({self.model_path.name!r}, url={self._url!r})"

    def __enter__(self) -> LocalServer:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`. Raises LocalServerError when the server is not running."""
        self.check()
        assert self._url is not None  # noqa: S101 (check has seen it)
        return self._url

    @property
    def pid(self) -> int | None:
        """The child's process id, or None when there is none."""
        return None if (process := self._process) is None else process.pid

    @property
    def ended(self) -> bool:
        """Whether the server has ended by itself: it crashed, or somebody killed it."""
        return (process := self._process) is not None and process.poll() is not None

    @property
    def running(self) -> bool:
        """Whether the server answers: it was started, has loaded its model, and has not ended."""
        return self._url is not None and not self.ended

    def check(self) -> None:
        """Raise LocalServerError when the server is not running; the message says how it ended."""
        if self.running:
            return
        code = None if (process := self._process) is None else process.poll()
        trouble = "it is not started" if code is None else f"it ended unexpectedly ({_ending(code)})"
        raise LocalServerError(self.model_path, trouble, hint="Start it")

    def start(self) -> None:
        """Load the model and wait until it answers: seconds. Does nothing when it runs already.

        Raises:
            LocalExtraMissing: xllamacpp is not installed.
            LocalServerError: there is no such file, it is no model, or it did not load in time.
        """
        with self._lock:
            if self.running:
                return
            self._end()  # what is left of one that died
            self._require()
            deadline = time.monotonic() + self._start_timeout_s
            with tempfile.TemporaryFile() as log:
                try:
                    url = self._launch(log, deadline)
                    _await_health(url, deadline)
                except _NotReady as error:
                    self._end()
                    raise self._failure(error, log) from None
                except BaseException:
                    self._end()
                    raise
                self._url = url

    def stop(self) -> None:
        """End the server and free its memory. Requests under way break off. Does nothing when it is not running."""
        if os.getpid() != self._owner:  # a forked copy of us does not own the child
            return
        if (process := self._process) is not None:
            process.kill()  # before the lock: whoever waits for it to load need not wait any longer
        with self._lock:
            self._end()

    def _require(self) -> None:
        if importlib.util.find_spec("xllamacpp") is None:
            raise LocalExtraMissing(self.model_path)
        try:
            with open_regular(self.model_path) as file:
                magic = file.read(4)
        except OSError as error:
            raise LocalServerError(
                self.model_path, f"{self.model_path}: {error.strerror}", hint="See: jurat models list"
            ) from None
        if magic != b"GGUF":
            raise LocalServerError(self.model_path, f"{self.model_path} is no GGUF file", hint="See: jurat models list")

    def _launch(self, log: IO[bytes], deadline: float) -> str:
        """Start the child and wait for its one answer: the server's address."""
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", str(_MAIN)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
            )
        except OSError as error:
            raise _NotReady(f"{sys.executable or 'the Python interpreter'}: {error.strerror}") from None
        self._process = process
        late = threading.Event()
        watchdog = threading.Timer(max(0.0, deadline - time.monotonic()), _kill, (process, late))
        watchdog.daemon = True
        watchdog.start()
        try:
            answer = _ask(process, self._config())
        finally:
            watchdog.cancel()
        if "ready" in answer:
            return answer["ready"]
        code = process.wait()
        raise _NotReady(answer.get("failed") or _ending(code), late=late.is_set())

    def _config(self) -> bytes:
        threads = self.settings.threads
        config = {
            "model": str(self.model_path),
            "parent": os.getpid(),
            "api_key": self.api_key,
            "context_tokens": self.settings.context_tokens,
            "slots": self.settings.slots,
            "threads": usable_cores() if threads is None else threads,
            "prompt_cache_mib": self.settings.prompt_cache_mib,
        }
        return json.dumps(config).encode() + b"\n"

    def _end(self) -> None:
        """Kill the child, wait for it, close the pipes."""
        process, self._process, self._url = self._process, None, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def _failure(self, error: _NotReady, log: IO[bytes]) -> LocalServerError:
        """Why it did not start. Nothing was asked yet, so the log holds llama.cpp's own words only."""
        if error.late:
            trouble = f"it did not load within {self._start_timeout_s:g} s"
            return LocalServerError(self.model_path, trouble, hint="Give it more time, or take a smaller model")
        trouble = f"it could not load the model ({_first_complaint(log) or error.words})"
        hint = "See that there is enough memory, and that `jurat models list` calls the model installed"
        return LocalServerError(self.model_path, trouble, hint=hint)


class _NotReady(Exception):
    """The child does not serve: `words` is the reason, `late` whether it was out of time."""

    def __init__(self, words: str, *, late: bool = False) -> None:
        self.words = words
        self.late = late
        super().__init__(words)


def _kill(process: subprocess.Popen[bytes], late: threading.Event) -> None:
    late.set()
    process.kill()


def _ask(process: subprocess.Popen[bytes], config: bytes) -> dict[str, str]:
    """Hand the child its settings and read its one answer; empty when it ended without one."""
    assert process.stdin is not None  # noqa: S101 (both are pipes)
    assert process.stdout is not None  # noqa: S101
    try:
        process.stdin.write(config)
        answer: dict[str, str] = json.loads(process.stdout.readline())
    except (BrokenPipeError, ValueError):
        return {}
    return answer


def _await_health(url: str, deadline: float) -> None:
    """Wait until the server says that it is healthy. Raises _NotReady when it does not before the deadline."""
    address = urllib.parse.urlsplit(url)
    while time.monotonic() < deadline:
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=5.0)
        try:
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        except (OSError, http.client.HTTPException):
            pass  # not yet
        finally:
            connection.close()
        time.sleep(0.05)
    raise _NotReady("it does not answer", late=True)


def _first_complaint(log: IO[bytes]) -> str | None:
    """The first error line of llama.cpp's log, without its time stamp, or None."""
    log.seek(0)
    for line in log.read(_LOG_BYTES).decode("utf-8", "replace").splitlines():
        _, found, words = line.partition(" E ")
        if found and words.strip():
            return "".join(char if char.isprintable() else "?" for char in words.strip())[:200]
    return None


def _ending(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
