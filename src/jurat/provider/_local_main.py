"""The model server's own process: started by `local_server`, as a script, and never imported by it.

It reads one JSON line from standard input, loads the model, writes one JSON line to standard output (`ready` with the
address, or `failed` with the reason), and then lives exactly as long as its parent holds standard input open. It
imports nothing of jurat, so that it starts quickly and whatever `sys.path` the parent has.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
from typing import Any

_PR_SET_PDEATHSIG = 1
_LOOK_AT_PARENT_S = 1.0


def main() -> int:
    """Serve until the parent is gone. Returns 1 when the model could not be served."""
    status = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # llama.cpp prints as it likes; the answer to the parent has a channel of its own
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    with open(0, "rb", buffering=0, closefd=False) as lifeline:
        config = json.loads(lifeline.readline())
    _die_with_parent(config["parent"], during_load=True)
    try:
        server, address = _serve(config)
    except Exception as error:  # whatever it is, the parent has to hear of it
        _tell(status, {"failed": f"{type(error).__name__}: {error}"})
        return 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # llama.cpp has taken both for itself
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _die_with_parent(config["parent"], during_load=False)
    _tell(status, {"ready": address})
    _be_silent()
    _outlive_parent_never(config["parent"])
    del server
    return 0


def _serve(config: dict[str, Any]) -> tuple[object, str]:
    """The running server and its address. Holds the interpreter's lock until the model is loaded."""
    # Its threads meet at barriers many times a token. Where a core is shared, waiting by spinning made a prompt cost
    # 106 ms a token instead of 42; on idle cores there is no difference. It is read when the library is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = config["model"]
    params.model_alias = {config["model"].replace("\\", "/").rpartition("/")[2]}  # replies are kept: no path in them
    params.n_parallel = config["slots"]
    params.n_ctx = config["context_tokens"] * config["slots"]  # the server divides it among the slots
    params.port = 0
    params.api_keys = [config["api_key"]]
    params.verbosity = 1
    params.cache_prompt = True
    if config["threads"] is not None:
        params.cpuparams.n_threads = config["threads"]
        params.cpuparams_batch.n_threads = config["threads"]
    optional = {
        "cache_ram_mib": config["prompt_cache_mib"],
        "ui": False,
        "webui": False,
        "endpoint_slots": False,
        "fit_params": False,
    }
    for name, value in optional.items():
        if hasattr(params, name):  # these come, go and are renamed between releases
            setattr(params, name, value)
    server = xllamacpp.Server(params)
    address = str(server.listening_address)
    if not address.startswith("http://127.0.0.1:"):
        raise RuntimeError(f"it listens on {address}, expected a port of 127.0.0.1")
    return server, address


def _die_with_parent(parent: int, *, during_load: bool) -> None:
    """While loading, nothing can watch the parent; so the kernel is asked to (Linux).

    Only then: the signal comes when the parent's *thread* ends that started us, and that one waits just for the load.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL if during_load else 0)
        if os.getppid() != parent:
            os._exit(1)


def _tell(status: Any, answer: dict[str, str]) -> None:
    with contextlib.suppress(BrokenPipeError), status:
        status.write(json.dumps(answer) + "\n")


def _be_silent() -> None:
    """From here on the log could quote what a model was asked or answered. Nobody reads it; it is not kept."""
    void = os.open(os.devnull, os.O_WRONLY)
    os.dup2(void, 1)
    os.dup2(void, 2)


def _outlive_parent_never(parent: int) -> None:
    """Return when standard input ends, or when the parent is another one.

    A process that the parent has forked may hold the other end of the pipe open, so the pipe alone is not enough.
    """
    if os.name == "nt":
        os.read(0, 1)
        return
    while not select.select([0], [], [], _LOOK_AT_PARENT_S)[0]:
        if os.getppid() != parent:
            return


if __name__ == "__main__":
    os._exit(main())  # at once: there is nothing to save, and the kernel frees the memory
