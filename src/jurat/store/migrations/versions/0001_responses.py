"""Replies, and the account of those whose bytes were withheld."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "responses",
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("body_sha256", sa.String(64), nullable=False),
        sa.Column("body_bytes", sa.Integer, nullable=False),
        sa.Column("latency_ms", sa.Float, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("request_id", sa.Text),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_responses"),
    )
    op.create_table(
        "withheld",
        sa.Column("key", sa.String(64), nullable=False),
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
        sa.PrimaryKeyConstraint("key", name="pk_withheld"),
        sa.ForeignKeyConstraint(["key"], ["responses.key"], name="fk_withheld_key", ondelete="CASCADE"),
    )
