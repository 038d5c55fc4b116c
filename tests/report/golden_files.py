"""Golden files: what a person or a program is shown, kept as it was judged good.

With JURAT_UPDATE_GOLDEN=1 the files are written anew; read the difference before you commit it.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["golden"]

_FOLDER = Path(__file__).parent / "golden"


def golden(name: str, found: str) -> str:
    """What the golden file of this name says; UTF-8 with `\\n`."""
    path = _FOLDER / name
    if os.environ.get("JURAT_UPDATE_GOLDEN") == "1":
        path.write_bytes(found.encode())
    return path.read_bytes().decode()
