"""The record on disk: SQLite in a folder of the project, or PostgreSQL for a team. SQL lives here and nowhere else.

`responses.py` is the face; `database.py` the window that `sqlite.py` and `postgres.py` implement; `rows.py` and
`statements.py` the shapes; `schema.py`, `tables.py` and `migrations/` how they came to be.
"""

from jurat.store.responses import ResponseStore, StoreFault, StoreStats

__all__ = ["ResponseStore", "StoreFault", "StoreStats"]
