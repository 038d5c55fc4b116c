"""The SQL by which a store is verified, written out once for both databases (see `jurat.store.statements`)."""

from __future__ import annotations

from jurat.store.statements import both

__all__ = [
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
