"""The tables, as SQLAlchemy sees them: what migrations are compared with, and what queries are built from.

A reply has one row in `responses`, from the moment it arrives. When it turns out to be no valid answer, its bytes are
overwritten with zeros, hash and length stay, and a row in `withheld` says why and what it cost. The account of a
withheld reply lives in a table of its own so that the first row keeps its size: SQLite then overwrites it where it
stands, and never moves a neighbour's bytes to another page (see `jurat.store.sqlite`).

Importing this module imports SQLAlchemy, half a second of CPU. Nothing on the way of a run does.
"""

from __future__ import annotations

import sqlalchemy as sa

__all__ = ["metadata", "responses", "withheld"]

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
)
"""One raw reply each. `request_id` is packed (`jurat.store.rows`); `created_at` is UTC, to the second in SQLite."""

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
)
"""Why a reply's bytes were not kept, and what it cost. `models` is a JSON array; `error_message` is packed."""
