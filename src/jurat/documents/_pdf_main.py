"""The process that reads one PDF: started by `pdf`, as a script, and never imported by it.

Standard input holds one line of JSON (bounds, where to import from) and then the file. Standard output gets one JSON
object: the text, or what was expected and found. It imports nothing of jurat, and of others pypdf alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import logging
import os
import signal
import sys
from typing import Any

_PR_SET_PDEATHSIG = 1
_OPEN = "a PDF that opens without a password"
_LOST = "Impossible to decode XFormObject"
_STREAM_BYTES = 16_000_000
"""What one stream may unpack to."""


class _Refused(Exception):
    def __init__(self, expected: str, found: str, hint: str | None = None) -> None:
        self.answer = {"expected": expected, "found": found, "hint": hint}


def main() -> int:
    """Read the file and tell. Returns 0 even when it cannot be read: that is an answer too."""
    told = os.dup(1)
    os.dup2(2, 1)  # what a library may print; the answer has a channel of its own
    given = open(0, "rb", closefd=False)  # noqa: SIM115 (a descriptor, for as long as the process lives)
    config = json.loads(given.readline())
    _end_with_parent(config["parent"])
    _bound(config)
    sys.path[:] = [*sys.path, *config["path"]]
    try:
        answer = _read(given.read(), config)
    except _Refused as refused:
        answer = refused.answer
    except MemoryError:
        bound = f"a PDF that is read in {config['memory'] >> 20} MiB of memory"
        answer = {"expected": bound, "found": "one that takes more"}
    except RecursionError:
        answer = {"expected": "a PDF", "found": "one whose parts are nested too deep, or without end"}
    with os.fdopen(told, "wb") as out:
        out.write(json.dumps(answer).encode())
    return 0


def _end_with_parent(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _bound(config: dict[str, Any]) -> None:
    """Bounds that the kernel keeps, for the case that nobody else is there to."""
    if os.name != "posix":
        return
    import resource

    seconds = int(config["seconds"]) + 1
    limits = [(resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, config["answer"])]
    if sys.platform == "linux":
        limits.append((resource.RLIMIT_AS, config["memory"]))
    for what, bound in limits:
        hard = resource.getrlimit(what)[1]
        most = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(what, (most, most))


def _read(data: bytes, config: dict[str, Any]) -> dict[str, Any]:
    import pypdf
    from pypdf import errors

    too_much = getattr(errors, "LimitReachedError", ())  # older releases have no such bounds; memory's holds anyway

    lost = _Lost()
    logger = logging.getLogger("pypdf")
    logger.addHandler(lost)
    logger.propagate = False
    try:
        with _stream_bound(pypdf):
            return _pages(_opened(pypdf, data), config, lost)
    except (_Refused, MemoryError, RecursionError):
        raise
    except errors.DependencyError:  # AES needs a library; that it opens without a password cannot be tried
        hint = "Save it without a password; if it opens without one, run: pip install cryptography"
        raise _Refused(_OPEN, "an encrypted one, and cryptography is not installed", hint) from None
    except too_much:
        raise _Refused("a PDF of reasonable parts", "one whose parts unpack to more than the bound") from None
    except Exception as error:  # whatever the library raises for a damaged file: the type alone says no word of it
        raise _Refused("a PDF that can be read", f"a damaged one ({type(error).__name__})") from None


class _Lost(logging.Handler):
    """Notices when the library passes over a part of a page with a mere warning."""

    seen = False

    def emit(self, record: logging.LogRecord) -> None:
        self.seen = self.seen or str(record.msg).startswith(_LOST)


def _stream_bound(pypdf: Any) -> contextlib.AbstractContextManager[Any]:
    """The library's own bounds, lower than it sets them, in the releases that let one set them."""
    if not hasattr(pypdf, "apply_configuration"):
        return contextlib.nullcontext()
    names = ("zlib", "lzw", "run_length", "array_based_stream")
    bound: contextlib.AbstractContextManager[Any] = pypdf.apply_configuration(
        **{f"{name}_maximum_output_length": _STREAM_BYTES for name in names}
    )
    return bound


def _opened(pypdf: Any, data: bytes) -> Any:
    reader = pypdf.PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise _Refused(_OPEN, "an encrypted one", "Save it without a password")
    return reader


def _pages(reader: Any, config: dict[str, Any], lost: _Lost) -> dict[str, Any]:
    count = len(reader.pages)
    if count > config["pages"]:
        raise _Refused(f"at most {config['pages']:,} pages", f"{count:,}")
    if not count:
        raise _Refused("a PDF with pages", "one without")
    left: int = config["text"]
    texts: list[str] = []
    for number, page in enumerate(reader.pages, start=1):
        text = page.extract_text().strip()
        if lost.seen:
            raise _Refused("a PDF that can be read", f"a damaged part on page {number}")
        if text:
            text = f"\n\n{text}" if texts else text
            texts.append(text[:left])
            left -= len(text)
        if left < 0:  # the rest would be cut anyway
            return {"text": "".join(texts), "pages": count, "cut_on": number}
    return {"text": "".join(texts), "pages": count, "cut_on": None}


if __name__ == "__main__":
    code = main()
    os._exit(code)  # at once: there is nothing to save
