"""The SQL by which a store is verified, written out once for both databases (see `jurat.store.statements`)."""

# ruff: noqa: S608  put together from constants alone

from __future__ import annotations

from jurat.store.statements import both

__all__ = [
    "BEYOND",
    "BEYOND_WITHHELD",
    "CASES_PAGE",
    "CASE_BODIES",
    "KNOWN",
    "LOOSE",
    "RUNS_PAGE",
    "SNAPSHOTS_PAGE",
    "STATUSES_PAGE",
]

SNAPSHOTS_PAGE = both("SELECT hash, kind, body FROM snapshots WHERE hash > ? ORDER BY hash LIMIT ?")
KNOWN = both("SELECT hash FROM snapshots WHERE hash IN (SELECT value FROM json_each(?))").on_postgres(
    "SELECT value FROM json_each(", "SELECT json_array_elements_text("
)
"""Which snapshots of a JSON array are there."""

RUNS_PAGE = both("SELECT number, id FROM runs WHERE number > ? ORDER BY number LIMIT ?")
CASES_PAGE = both("""
SELECT case_index, status, case_hash FROM cases WHERE run = ? AND case_index > ? ORDER BY case_index LIMIT ?
""")
STATUSES_PAGE = both("""
SELECT case_index, trial_index, status FROM trials WHERE run = ? AND case_index > ? AND case_index <= ?
""")
CASE_BODIES = both("""
SELECT c.case_index, s.body FROM cases c JOIN snapshots s ON s.hash = c.case_hash
WHERE c.run = ? AND c.case_index >= ? AND c.case_index <= ?
""")

_MOST = "1000000000000000"
_AMOUNTS = (
    *("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens", "reasoning_tokens"),
    *("cost_usd", "duration_ms", "attempts"),
)
_BEYOND = " OR ".join(f"{name} NOT BETWEEN 0 AND {_MOST}" for name in _AMOUNTS)

BEYOND = tuple(
    both(f"""
SELECT r.id, t.{", t.".join(place)} FROM {table} t JOIN runs r ON r.number = t.run WHERE {_BEYOND}
ORDER BY r.number LIMIT 100
""")
    for table, place in (
        ("trials", ("case_index", "trial_index")),
        ("assessments", ("case_index", "trial_index", "position")),
    )
)
"""Amounts that nothing can have used or cost, a hundred of each kind at most: negative, endless, or no numbers."""

BEYOND_WITHHELD = both(f"SELECT key FROM withheld WHERE {_BEYOND} LIMIT 100")

LOOSE = (
    (
        "a trial belongs to no case",
        both("""
SELECT t.run, t.case_index, t.trial_index FROM trials t
WHERE NOT EXISTS (SELECT 1 FROM cases c WHERE c.run = t.run AND c.case_index = t.case_index) LIMIT 100
"""),
    ),
    (
        "an assessment belongs to no trial",
        both("""
SELECT a.run, a.case_index, a.trial_index FROM assessments a WHERE NOT EXISTS (
    SELECT 1 FROM trials t WHERE t.run = a.run AND t.case_index = a.case_index AND t.trial_index = a.trial_index
) LIMIT 100
"""),
    ),
    (
        "an answer belongs to no trial",
        both("""
SELECT a.run, a.case_index, a.trial_index FROM answers a WHERE NOT EXISTS (
    SELECT 1 FROM trials t WHERE t.run = a.run AND t.case_index = a.case_index AND t.trial_index = a.trial_index
) LIMIT 100
"""),
    ),
    (
        "a case belongs to no run",
        both("""
SELECT c.run, c.case_index FROM cases c WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.number = c.run) LIMIT 100
"""),
    ),
)
"""Rows that lost what they belong to, a hundred of each kind at most."""
