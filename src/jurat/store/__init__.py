"""The record on disk: SQLite in a folder of the project, or PostgreSQL for a team. SQL lives here and nowhere else.

`store.py` is the face: `responses.py` and `runs.py` behind one door, `journals.py` the replies as one job sees them.
`database.py` is the window that `sqlite.py` and `postgres.py` implement, `grouping.py` the one writer; `rows.py`,
`run_rows.py`, `texts.py` and `shared.py` the shapes; the `…statements.py` the SQL; `schema.py`, `tables.py` and
`migrations/` how it came to be. `claims.py` and `owners.py` know which process a run belongs to, `verification.py`
whether the record is sound.
"""

from jurat.store.journals import ScopedJournal
from jurat.store.responses import ResponseStore, StoreFault, StoreStats
from jurat.store.runs import RunStore
from jurat.store.store import RecordStats, Store

__all__ = ["RecordStats", "ResponseStore", "RunStore", "ScopedJournal", "Store", "StoreFault", "StoreStats"]
