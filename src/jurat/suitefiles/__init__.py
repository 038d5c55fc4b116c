"""Suites from the disk: the suite file, the files of its folder that it names, what its documents say, and the bytes of
its pictures.

All faults come together: those of the suite, of its cases, its documents and its pictures, each where its author wrote
it.
"""

from jurat.folderfiles import FolderFiles
from jurat.suitefiles.load import MAX_TEXTS, load_suite
from jurat.suitefiles.shown import MAX_SHOWN, with_bytes

__all__ = ["MAX_SHOWN", "MAX_TEXTS", "FolderFiles", "load_suite", "with_bytes"]
