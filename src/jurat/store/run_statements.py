"""The SQL of runs, written out once for both databases (see `jurat.store.statements`).

The place of a trial is (run, case_index, trial_index), `run` being the run's number. A trial's row is written first,
and the first one stays; what belongs to it goes in only where it fits that row, so that a second write of the same
trial, by whomever, changes nothing.
"""

# ruff: noqa: S608  put together from constants alone

from __future__ import annotations

from jurat.store.statements import both

__all__ = [
    "ADD_ANSWER",
    "ADD_ASSESSMENT",
    "ADD_CASE",
    "ADD_OWNER",
    "ADD_RUN",
    "ADD_SCOPE",
    "ADD_SNAPSHOT",
    "ADD_TRIAL",
    "ANSWERS_OF",
    "ASSESSMENTS_OF",
    "CASES_OF",
    "CLAIM",
    "COUNTS",
    "COUNT_TRIALS",
    "DISOWN_WITHHELD",
    "END_CASE",
    "END_RUN",
    "FIND_RUN",
    "FORGET_ERRORS",
    "FORGET_WITHHELD",
    "KEYS_OF",
    "PAID_OF",
    "PREFIXED",
    "RELEASE",
    "RESTART_RUN",
    "RETIRE_SCOPE",
    "RUNS",
    "SCOPE",
    "SEALS_OF",
    "SNAPSHOT",
    "SNAPSHOTS",
    "SPENT_BY",
    "STATUSES_OF",
    "TOUCH",
    "TRIALS_OF",
]

_NOW = "((julianday('now') - 2440587.5) * 86400.0)"
_NOW_POSTGRES = "extract(epoch FROM clock_timestamp())::float8"
_TOKENS = "input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens"
_SPENDING = f"{_TOKENS}, cost_usd, duration_ms, attempts, cached, models"

# --- a run and its cases -------------------------------------------------------------------------------------------

_RUN = (
    "id, suite, suite_hash, status, created_at, samples, reducer, cases, finished_at, options, provenance, snapshots, "
    "parent, gate"
)

ADD_RUN = both(
    f"INSERT INTO runs ({_RUN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "a run of this id is in the store already",
)
ADD_SNAPSHOT = both("INSERT INTO snapshots (hash, kind, body) VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING")
"""A snapshot that is there already is the same one: its name is its content."""

ADD_CASE = both(
    """
INSERT INTO cases (run, case_index, name, case_hash, labels, metadata, file, line, status)
VALUES ((SELECT number FROM runs WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, ?)
""",
    "a run has two cases of one number",
)
ADD_OWNER = both(f"""
INSERT INTO owners (run, token, machine, host, pid, started, seen)
VALUES ((SELECT number FROM runs WHERE id = ?), ?, ?, ?, ?, ?, {_NOW})
""").on_postgres(_NOW, _NOW_POSTGRES)

_FOUND = "r.number, " + ", ".join(f"r.{name}" for name in _RUN.split(", "))
_OWNED = f"o.token, o.machine, o.host, o.pid, o.started, {_NOW} - o.seen"
_RUNS = f"SELECT {_FOUND}, {_OWNED} FROM runs r LEFT JOIN owners o ON o.run = r.number"

FIND_RUN = both(f"{_RUNS} WHERE r.id = ?").on_postgres(_NOW, _NOW_POSTGRES)
"""A run and its owner, by the run's whole id."""

PREFIXED = both("SELECT id FROM runs WHERE substr(id, 1, ?) = ? ORDER BY number DESC LIMIT ?").on_postgres(
    "substr(id, 1, $1)", "substr(id, 1, $1::int)"
)
RUNS = both(f"""
{_RUNS} WHERE r.number < coalesce((SELECT number FROM runs WHERE id = ?), 2147483647) AND (? = 0 OR r.suite = ?)
ORDER BY r.number DESC LIMIT ?
""").on_postgres(_NOW, _NOW_POSTGRES)
"""Runs before one (or all), of one suite (or all), the newest first."""

END_RUN = both("""
UPDATE runs SET status = ?, finished_at = ?, gate = ?
WHERE number = ? AND NOT EXISTS (SELECT 1 FROM owners WHERE run = ? AND token <> ?)
""")
"""End a run, unless another process has just taken it over."""

RESTART_RUN = both("""
UPDATE runs SET status = 'running', finished_at = NULL, gate = NULL
WHERE number = ? AND EXISTS (SELECT 1 FROM owners WHERE run = ? AND token = ?)
""")
END_CASE = both("UPDATE cases SET status = ? WHERE run = ? AND case_index = ?")
SNAPSHOT = both("SELECT hash, kind, body FROM snapshots WHERE hash = ?")
SNAPSHOTS = both("SELECT hash, kind, body FROM snapshots WHERE hash IN (SELECT value FROM json_each(?))").on_postgres(
    "SELECT value FROM json_each(", "SELECT json_array_elements_text("
)
"""Those of a JSON array of hashes."""
CASES_OF = both("""
SELECT case_index, name, case_hash, labels, metadata, file, line, status FROM cases
WHERE run = ? AND case_index > ? AND case_index <= ? ORDER BY case_index LIMIT ?
""")

# --- who is at work on it ------------------------------------------------------------------------------------------

CLAIM = both(f"""
INSERT INTO owners (run, token, machine, host, pid, started, seen) VALUES (?, ?, ?, ?, ?, ?, {_NOW})
ON CONFLICT (run) DO UPDATE SET
    token = excluded.token, machine = excluded.machine, host = excluded.host, pid = excluded.pid,
    started = excluded.started, seen = excluded.seen
WHERE owners.token = ?
""").on_postgres(_NOW, _NOW_POSTGRES)
"""Take a run over from the owner of this token, or from nobody; from whoever else came first it is not taken."""

TOUCH = both(f"UPDATE owners SET seen = {_NOW} WHERE run = ? AND token = ?").on_postgres(_NOW, _NOW_POSTGRES)
RELEASE = both("DELETE FROM owners WHERE run = ? AND token = ?")

# --- trials --------------------------------------------------------------------------------------------------------

ADD_TRIAL = both(
    f"""
INSERT INTO trials (
    run, case_index, trial_index, status, assessments, recorded, error_category, error_message, paid,
    {_SPENDING}, seal
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run, case_index, trial_index) DO NOTHING
""",
    "a trial belongs to a case that its run does not have",
)
ADD_ANSWER = both("""
INSERT INTO answers (run, case_index, trial_index, output, rendered_input, messages, execution)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run, case_index, trial_index) DO NOTHING
""")
ADD_ASSESSMENT = both(f"""
INSERT INTO assessments (
    run, case_index, trial_index, position, name, type, status, score, weight, required, error_category, {_SPENDING},
    result
)
SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
WHERE ? < (SELECT t.assessments FROM trials t WHERE t.run = ? AND t.case_index = ? AND t.trial_index = ?)
ON CONFLICT (run, case_index, trial_index, position) DO NOTHING
""")

_PAGE = "run = ? AND (case_index, trial_index) > (?, ?) AND (case_index, trial_index) <= (?, ?)"
_IN_ORDER = "ORDER BY case_index, trial_index"

COUNT_TRIALS = both("SELECT count(*) FROM trials WHERE run = ?")
KEYS_OF = both("SELECT case_index, trial_index FROM trials WHERE run = ?")
STATUSES_OF = both("SELECT case_index, trial_index, status FROM trials WHERE run = ?")
PAID_OF = both("SELECT paid FROM trials WHERE run = ? AND paid IS NOT NULL")
SPENT_BY = both("""
SELECT coalesce(sum(cost_usd), 0) FROM (
    SELECT cost_usd FROM trials WHERE run = ? UNION ALL SELECT cost_usd FROM assessments WHERE run = ?
) AS costs
""")
TRIALS_OF = both(f"""
SELECT case_index, trial_index, status, assessments, recorded, error_category, error_message, paid, {_SPENDING}
FROM trials WHERE {_PAGE} {_IN_ORDER} LIMIT ?
""")
SEALS_OF = both(f"SELECT case_index, trial_index, seal FROM trials WHERE {_PAGE}")
ANSWERS_OF = both(f"""
SELECT case_index, trial_index, output, rendered_input, messages, execution FROM answers WHERE {_PAGE}
""")
ASSESSMENTS_OF = both(f"""
SELECT case_index, trial_index, name, type, status, score, weight, required, error_category, {_SPENDING}, result
FROM assessments WHERE {_PAGE} {_IN_ORDER}, position
""")

FORGET_ERRORS = both("DELETE FROM trials WHERE run = ? AND status = 'error'")

# --- which replies a job asked for ---------------------------------------------------------------------------------

ADD_SCOPE = both("INSERT INTO scopes (name) VALUES (?) ON CONFLICT (name) DO NOTHING")
SCOPE = both("SELECT number FROM scopes WHERE name = ?")
RETIRE_SCOPE = both("UPDATE scopes SET name = name || ' #' || number WHERE name = ?")
"""What a job of this name asked for until now is nobody's; the next of its name gets a number of its own."""

FORGET_WITHHELD = both("DELETE FROM run_calls WHERE scope = ? AND key IN (SELECT key FROM withheld)")
DISOWN_WITHHELD = both("UPDATE responses SET scope = NULL WHERE key IN (SELECT key FROM withheld) AND scope = ?")

COUNTS = both("""
SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM cases), (SELECT count(*) FROM trials),
    (SELECT count(*) FROM assessments), (SELECT count(*) FROM snapshots),
    (SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size())
""").on_postgres(
    "(SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size())",
    "pg_database_size(current_database())",
)
"""How many of each there are, and the bytes of the whole database."""
