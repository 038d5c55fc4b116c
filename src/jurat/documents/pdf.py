"""PDF, read in a process of its own: a file made to exhaust its reader ends that process and nothing else.

The process gets the file and three bounds: seconds, memory, size of the answer. It holds none of this one's secrets
(its environment is nearly empty), and ends with it. What it prints or logs is dropped, because it could quote the file.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from jurat.documents.faults import Unreadable

__all__ = ["PDF_MEMORY_BYTES", "PDF_SECONDS", "PdfText", "read_pdf"]

PDF_SECONDS = 20.0
"""How long the reading of one PDF may take."""
PDF_MEMORY_BYTES = 192 * 1024 * 1024
"""How much memory it may take (address space; not kept on macOS)."""
PDF_PAGES = 5_000
"""How many pages one PDF may have."""

_MAIN = Path(__file__).with_name("_pdf_main.py")
_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR", "SYSTEMROOT")
_INSTALL = "Run: pip install 'jurat[documents]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfText:
    """All pages' text, an empty line between them; how many pages there are; on which the text was cut, if on any."""

    text: str
    pages: int
    cut_on: int | None


def read_pdf(data: bytes, max_text: int, *, seconds: float = PDF_SECONDS, memory: int = PDF_MEMORY_BYTES) -> PdfText:
    """The text of a PDF. Waits for the process that reads it, at most `seconds`.

    Raises:
        Unreadable: when pypdf is not installed, or the file is encrypted, damaged, or exceeds a bound.
    """
    if importlib.util.find_spec("pypdf") is None:
        raise Unreadable("pypdf, to read PDF", "none", _INSTALL)
    most = max_text * 12 + 1024  # a character takes up to twelve bytes in JSON
    bounds = {"seconds": seconds, "memory": memory, "text": max_text, "pages": PDF_PAGES, "answer": most}
    config = {"path": [place for place in sys.path if place], "parent": os.getpid(), **bounds}
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as answer:
        given.write(json.dumps(config).encode() + b"\n" + data)
        given.seek(0)
        code = _run(given, answer, seconds)
        answer.seek(0)
        return _told(answer.read(most), code)


def _run(given: IO[bytes], answer: IO[bytes], seconds: float) -> int:
    """The exit code of the process; it is ended when its time is over."""
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(_MAIN)],
        stdin=given,
        stdout=answer,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,  # Ctrl-C is this process's to handle
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        raise Unreadable(f"a PDF that is read in {seconds:g} s", "one that takes longer, or never ends") from None
    finally:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)


def _told(answer: bytes, code: int) -> PdfText:
    try:
        found: dict[str, Any] = json.loads(answer)
    except ValueError:  # it ended before it could say anything
        how = f"signal {-code}" if code < 0 else f"code {code}"
        raise Unreadable("a PDF that can be read", f"one that ended its reader ({how})") from None
    if "text" in found:
        return PdfText(text=found["text"], pages=found["pages"], cut_on=found["cut_on"])
    raise Unreadable(found["expected"], found["found"], found.get("hint"))
