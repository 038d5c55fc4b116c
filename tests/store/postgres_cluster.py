"""A private PostgreSQL server for the tests: made for the session, reached through a socket in its own folder."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path


def find_binaries() -> Path | None:
    """The folder of `initdb` and `pg_ctl`: the newest under /usr/lib/postgresql, or what the path names."""
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "pg_ctl").exists():
            return folder
    found = shutil.which("pg_ctl")
    return Path(found).resolve().parent if found and shutil.which("initdb") else None


@contextlib.contextmanager
def private_server(binaries: Path) -> Iterator[str]:
    """Start a server and give its address; it goes with the block, and its files with it."""
    folder = Path(tempfile.mkdtemp(prefix="jurat-pg-", dir="/tmp"))
    user = _servant(folder)
    data = folder / "data"

    def run(*command: str) -> None:
        done = subprocess.run(command, user=user, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command[0]} failed:\n{done.stdout}{done.stderr}"

    try:
        run(str(binaries / "initdb"), "-D", str(data), "-U", "jurat", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        # Started and stopped without a pipe to us: the server would keep it open.
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        log = str(folder / "server.log")
        subprocess.run(
            [str(binaries / "pg_ctl"), "-D", str(data), "-w", "-l", log, "-o", options, "start"],
            user=user, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        try:
            yield f"postgresql://jurat@/postgres?host={folder}"
        finally:
            run(str(binaries / "pg_ctl"), "-D", str(data), "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _servant(folder: Path) -> str | None:
    """PostgreSQL does not run as root: another user who gets the folder, or None where we are no root."""
    if os.getuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = "postgres" if "postgres" in names else "nobody"
    shutil.chown(folder, user)
    return user
