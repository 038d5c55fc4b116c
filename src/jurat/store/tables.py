"""The tables, as SQLAlchemy sees them: what migrations are compared with, and what queries are built from.

A reply has one row in `responses`, from the moment it arrives. When it turns out to be no valid answer, its bytes are
overwritten with zeros, hash and length stay, and a row in `withheld` says why and what it cost. The account of a
withheld reply lives in a table of its own so that the first row keeps its size: SQLite then overwrites it where it
stands, and never moves a neighbour's bytes to another page (see `jurat.store.sqlite`).

A run has one row in `runs`, one in `cases` for each case, one in `trials` for each trial, and one in `assessments`
for each assertion on it. What a trial's subject was told and answered lies apart in `answers`, so that whoever counts
or lists reads none of it. Rows refer to their run by its small `number`; people know it by its `id`.

Importing this module imports SQLAlchemy, half a second of CPU. Nothing on the way of a run does.
"""

from __future__ import annotations

import sqlalchemy as sa

__all__ = ["metadata", "responses", "withheld"]

_PLACE = ("run", "case_index", "trial_index")
_TOKENS = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens", "reasoning_tokens")

metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

responses = sa.Table(
    "responses",
    metadata,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("body_sha256", sa.String(64), nullable=False),
    sa.Column("body_bytes", sa.Integer, nullable=False),
    sa.Column("latency_ms", sa.Float, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("request_id", sa.Text),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("scope", sa.Integer),
    sa.Column("failed_attempts", sa.Text),
)
"""One raw reply each. `request_id` is packed (`jurat.store.rows`); `created_at` is UTC, to the second in SQLite;
`scope` is the job that asked last, null where nobody noted it; `failed_attempts` says why the attempts before the
answered one failed: categories in order with blanks between them, null for none."""

withheld = sa.Table(
    "withheld",
    metadata,
    sa.Column("key", sa.String(64), sa.ForeignKey("responses.key", ondelete="CASCADE"), primary_key=True),
    sa.Column("error_category", sa.String(64), nullable=False),
    sa.Column("error_message", sa.Text, nullable=False),
    sa.Column("input_tokens", sa.BigInteger),
    sa.Column("output_tokens", sa.BigInteger),
    sa.Column("cached_input_tokens", sa.BigInteger),
    sa.Column("cache_write_tokens", sa.BigInteger),
    sa.Column("reasoning_tokens", sa.BigInteger),
    sa.Column("cost_usd", sa.Float),
    sa.Column("duration_ms", sa.Float, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("models", sa.Text, nullable=False),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("failed_attempts", sa.Text),
)
"""Why a reply's bytes were not kept, and what it cost. `models` is a JSON array; `error_message` is packed."""

snapshots = sa.Table(
    "snapshots",
    metadata,
    sa.Column("hash", sa.String(71), primary_key=True),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("body", sa.Text, nullable=False),
)
"""What runs rest on, by content: `hash` is the SHA-256 of `body`, which is canonical JSON. Never changed."""

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("id", sa.Text, nullable=False),
    sa.Column("suite", sa.Text, nullable=False),
    sa.Column("suite_hash", sa.Text, nullable=False),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("created_at", sa.Text, nullable=False),
    sa.Column("finished_at", sa.Text),
    sa.Column("samples", sa.Integer, nullable=False),
    sa.Column("reducer", sa.Text, nullable=False),
    sa.Column("cases", sa.Integer, nullable=False),
    sa.Column("options", sa.Text, nullable=False),
    sa.Column("provenance", sa.Text, nullable=False),
    sa.Column("snapshots", sa.Text, nullable=False),
    sa.Column("parent", sa.Text),
    sa.Column("gate", sa.Text),
    sa.UniqueConstraint("id"),
)
"""One run each. `reducer`, `options`, `provenance`, `snapshots` and `gate` are JSON; times are ISO 8601 with `Z`."""

owners = sa.Table(
    "owners",
    metadata,
    sa.Column("run", sa.Integer, sa.ForeignKey("runs.number", ondelete="CASCADE"), primary_key=True),
    sa.Column("token", sa.String(32), nullable=False),
    sa.Column("machine", sa.Text, nullable=False),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("started", sa.Text, nullable=False),
    sa.Column("seen", sa.Float, nullable=False),
)
"""Which process is at work on a run (`jurat.store.owners`); `seen` is its last sign of life, by the database's clock,
in seconds since 1970."""

cases = sa.Table(
    "cases",
    metadata,
    sa.Column("run", sa.Integer, sa.ForeignKey("runs.number", ondelete="CASCADE"), primary_key=True),
    sa.Column("case_index", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("case_hash", sa.Text, nullable=False),
    sa.Column("labels", sa.Text, nullable=False),
    sa.Column("metadata", sa.Text, nullable=False),
    sa.Column("file", sa.Text),
    sa.Column("line", sa.Integer),
    sa.Column("status", sa.String(16)),
)
"""The cases of a run in the plan's order. `labels` and `metadata` are JSON; no status before the run is completed."""


def _spending() -> list[sa.Column[object]]:
    """What something cost; null is unknown. `models` is a JSON array, null for none."""
    return [
        *(sa.Column(name, sa.BigInteger) for name in _TOKENS),
        sa.Column("cost_usd", sa.Float),
        sa.Column("duration_ms", sa.Float, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("cached", sa.Boolean, nullable=False),
        sa.Column("models", sa.Text),
    ]


def _place(*more: str) -> list[sa.Column[object]]:
    return [sa.Column(name, sa.Integer, primary_key=True) for name in (*_PLACE, *more)]


def _of_trial() -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(_PLACE, [f"trials.{name}" for name in _PLACE], ondelete="CASCADE")


trials = sa.Table(
    "trials",
    metadata,
    *_place(),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("assessments", sa.Integer, nullable=False),
    sa.Column("recorded", sa.Boolean, nullable=False),
    sa.Column("error_category", sa.String(64)),
    sa.Column("error_message", sa.Text),
    sa.Column("paid", sa.Text),
    *_spending(),
    sa.Column("seal", sa.String(64)),
    sa.ForeignKeyConstraint(("run", "case_index"), ("cases.run", "cases.case_index"), ondelete="CASCADE"),
)
"""One trial each: its outcome, how many assessments it has, what its subject's answer cost or why there is none, and as
JSON the keys of the calls whose cost stands here (`paid`, null for none). `seal` is the hash of what was written of the
trial (`jurat.store.seals`), null where an older version wrote it."""

answers = sa.Table(
    "answers",
    metadata,
    *_place(),
    sa.Column("output", sa.Text),
    sa.Column("rendered_input", sa.Text),
    sa.Column("messages", sa.Text),
    sa.Column("execution", sa.Text),
    _of_trial(),
)
"""What the subject was told and answered. `messages` and `execution` are JSON, null where there are none."""

assessments = sa.Table(
    "assessments",
    metadata,
    *_place("position"),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("score", sa.Float),
    sa.Column("weight", sa.Float, nullable=False),
    sa.Column("required", sa.Boolean, nullable=False),
    sa.Column("error_category", sa.String(64)),
    *_spending(),
    sa.Column("result", sa.Text, nullable=False),
    _of_trial(),
)
"""One assertion's finding on one trial each. `result` is its result map as JSON."""

scopes = sa.Table(
    "scopes",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.UniqueConstraint("name"),
)
"""Jobs that ask for replies: a run by its id, or a verdict file's job. A job that starts anew gets a new number."""

run_calls = sa.Table(
    "run_calls",
    metadata,
    sa.Column("scope", sa.Integer, sa.ForeignKey("scopes.number", ondelete="CASCADE"), primary_key=True),
    sa.Column("key", sa.String(64), primary_key=True),
    sqlite_with_rowid=False,
)
"""Which replies a job asked for before another did (`responses.scope`): they are its own all the same.

A row for every reply of every job would be simpler, and would cost twice as much as the reply's own index: keys come in
no order, so that each one changes a page of its own.
"""
