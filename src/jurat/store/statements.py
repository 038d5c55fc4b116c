"""The SQL of the response store, written out once for both databases.

It is text, not SQLAlchemy expressions, because importing SQLAlchemy costs as much CPU as thousands of judgements; the
tests hold it against `jurat.store.tables`. A `?` marks an argument and stands for nothing else in any statement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import count

__all__ = [
    "BLANK",
    "COMMIT",
    "COUNT_KEPT",
    "COUNT_WITHHELD",
    "HAND_OVER",
    "LATEST",
    "PAGE",
    "RECALL",
    "RECALL_OWN",
    "REINSTATE",
    "WITHHOLD",
    "Statement",
    "both",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement, as each database wants it: SQLite numbers its arguments `?`, PostgreSQL `$1`.

    `refused` says what it means when the database refuses its rows for what they refer to, or for being there already.
    """

    sqlite: str
    postgres: str
    refused: str = "a row contradicts what is stored"

    def on_postgres(self, theirs: str, ours: str) -> Statement:
        """The same, with the one phrase that PostgreSQL says otherwise."""
        return replace(self, postgres=self.postgres.replace(theirs, ours))


def both(sql: str, refused: str | None = None) -> Statement:
    """A statement that both databases take as it is, but for how arguments are numbered."""
    number = count(1)
    made = Statement(sqlite=sql, postgres=re.sub(r"\?", lambda _: f"${next(number)}", sql))
    return made if refused is None else replace(made, refused=refused)


COMMIT = both("""
INSERT INTO responses (
    key, body, body_sha256, body_bytes, latency_ms, attempts, request_id, created_at, scope, failed_attempts
)
VALUES (?, ?, ?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)
ON CONFLICT (key) DO UPDATE SET
    body = excluded.body, body_sha256 = excluded.body_sha256, body_bytes = excluded.body_bytes,
    latency_ms = excluded.latency_ms, attempts = excluded.attempts, request_id = excluded.request_id,
    created_at = excluded.created_at, scope = coalesce(excluded.scope, responses.scope),
    failed_attempts = excluded.failed_attempts
""")
"""Keep a reply. The last one to come under a key is the one that stays."""

HAND_OVER = both("""
INSERT INTO run_calls (scope, key) SELECT scope, key FROM responses WHERE key = ? AND scope <> ?
ON CONFLICT (scope, key) DO NOTHING
""")
"""Before a job keeps a reply: whoever asked for it before it asked for it all the same."""

REINSTATE = both("DELETE FROM withheld WHERE key = ?")
"""A reply that comes anew is not withheld for its predecessor's fault."""

WITHHOLD = both(
    """
INSERT INTO withheld (
    key, error_category, error_message, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens,
    reasoning_tokens, cost_usd, duration_ms, attempts, models, created_at, failed_attempts
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ?)
ON CONFLICT (key) DO UPDATE SET
    error_category = excluded.error_category, error_message = excluded.error_message,
    input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
    cached_input_tokens = excluded.cached_input_tokens, cache_write_tokens = excluded.cache_write_tokens,
    reasoning_tokens = excluded.reasoning_tokens, cost_usd = excluded.cost_usd, duration_ms = excluded.duration_ms,
    attempts = excluded.attempts, models = excluded.models, created_at = excluded.created_at,
    failed_attempts = excluded.failed_attempts
WHERE excluded.attempts >= withheld.attempts
""",
    "a reply was to be withheld that had never been committed",
)
"""Say why a reply's bytes go, and what it cost: who shared it and asked for nothing does not write over who paid."""

BLANK = both("UPDATE responses SET body = zeroblob(body_bytes) WHERE key = ?").on_postgres(
    "zeroblob(body_bytes)", "decode(repeat('00', body_bytes), 'hex')"
)
"""Overwrite a reply's bytes: as many zeros, so that SQLite writes them where the text stood."""

RECALL = both("""
SELECT r.key, r.body, r.latency_ms, r.attempts, r.request_id, coalesce(w.failed_attempts, r.failed_attempts),
    w.error_category, w.error_message, w.input_tokens, w.output_tokens, w.cached_input_tokens, w.cache_write_tokens,
    w.reasoning_tokens, w.cost_usd, w.duration_ms, w.attempts, w.models
FROM responses r LEFT JOIN withheld w ON w.key = r.key
WHERE r.key IN (SELECT value FROM json_each(?))
""").on_postgres("SELECT value FROM json_each(", "SELECT json_array_elements_text(")
"""What is known under the keys of a JSON array."""

PAGE = both("""
SELECT r.key, r.body, r.body_sha256, r.body_bytes, w.error_category
FROM responses r LEFT JOIN withheld w ON w.key = r.key
WHERE r.key > ? ORDER BY r.key LIMIT ?
""")
"""The next rows after a key, to be verified."""

RECALL_OWN = both("""
SELECT r.key, r.body, r.latency_ms, r.attempts, r.request_id, coalesce(w.failed_attempts, r.failed_attempts),
    w.error_category, w.error_message, w.input_tokens, w.output_tokens, w.cached_input_tokens, w.cache_write_tokens,
    w.reasoning_tokens, w.cost_usd, w.duration_ms, w.attempts, w.models
FROM responses r LEFT JOIN withheld w ON w.key = r.key
WHERE r.key IN (SELECT value FROM json_each(?))
    AND (r.scope = ? OR EXISTS (SELECT 1 FROM run_calls c WHERE c.scope = ? AND c.key = r.key))
""").on_postgres("SELECT value FROM json_each(", "SELECT json_array_elements_text(")
"""What is known under those keys of a JSON array that a job asked for."""

LATEST = both("""
SELECT r.key, r.body, r.latency_ms, r.attempts, r.request_id, r.failed_attempts
FROM responses r JOIN scopes s ON s.number = r.scope
WHERE substr(s.name, 1, ?) = ? AND NOT EXISTS (SELECT 1 FROM withheld w WHERE w.key = r.key)
ORDER BY r.created_at DESC, r.key LIMIT ?
""").on_postgres("substr(s.name, 1, $1)", "substr(s.name, 1, $1::int)")
"""The latest replies that are kept of the jobs whose name begins so."""

COUNT_KEPT = both("""
SELECT count(*), coalesce(sum(body_bytes), 0) FROM responses r
WHERE NOT EXISTS (SELECT 1 FROM withheld w WHERE w.key = r.key)
""")
COUNT_WITHHELD = both("""
SELECT count(*), coalesce(sum(r.body_bytes), 0) FROM responses r JOIN withheld w ON w.key = r.key
""")
