"""Files of other tools, read into suites: what can be said in a suite is, and what cannot is listed.

Nothing is dropped in silence: whatever has no counterpart becomes a note with its place and the reason. Cases come one
by one, and each is checked as the reader of suites would check it before it is given away, so that what is made of a
file is a suite that can be read. Nothing here opens a file: the caller hands over streams.
"""

from jurat.importing.draft import Draft
from jurat.importing.finish import compose, finished
from jurat.importing.formats import FORMATS, Importer, importer_for
from jurat.importing.notes import Note, Notes
from jurat.importing.source import Source

__all__ = ["FORMATS", "Draft", "Importer", "Note", "Notes", "Source", "compose", "finished", "importer_for"]
