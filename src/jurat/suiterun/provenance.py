"""Where, when and with what a run was made: what its record says of its circumstances. No secrets, no machine names."""

from __future__ import annotations

import platform
import secrets
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from jurat._version import __version__
from jurat.jsontext import Json

__all__ = ["new_run_id", "now", "provenance"]

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_GIT_PATIENCE_S = 5


def now() -> str:
    """The time in UTC, ISO 8601 with seconds and `Z`."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_run_id() -> str:
    """A run's name: its time to the millisecond in UTC, and four letters against another one of that moment."""
    at = datetime.now(UTC)
    tail = "".join(secrets.choice(_LETTERS) for _ in range(4))
    return f"{at:%Y%m%d-%H%M%S}-{at.microsecond // 1000:03d}{tail}"


def provenance(folder: Path | None) -> dict[str, Json]:
    """What a run was made with; what is not known is left out.

    Args:
        folder: the suite's, whose git commit is told.
    """
    made: dict[str, Json] = {
        "jurat": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "prices": _version("genai-prices"),
    }
    made.update(_git(folder) if folder is not None else {})
    return {name: value for name, value in made.items() if value is not None}


def _version(distribution: str) -> str | None:
    try:
        return f"{distribution} {metadata.version(distribution)}"
    except metadata.PackageNotFoundError:
        return None


def _git(folder: Path) -> dict[str, Json]:
    commit = _ask_git(folder, "rev-parse", "HEAD")
    if not commit:
        return {}
    changed = _ask_git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"git_commit": commit, "git_changed": None if changed is None else bool(changed)}


def _ask_git(folder: Path, *words: str) -> str | None:
    """What git says, without the end of the line; None where there is no git or no repository."""
    # What a repository configures is not run: it may be a stranger's.
    command = ["git", "-C", str(folder), "-c", "core.fsmonitor=false", "--no-optional-locks", *words]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_GIT_PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
