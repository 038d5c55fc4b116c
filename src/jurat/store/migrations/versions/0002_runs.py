"""Runs, their cases, trials and assessments, what they rest on, and which replies each job asked for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_TOKENS = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens", "reasoning_tokens")


def upgrade() -> None:
    _runs()
    _trials()
    _calls()
    for view in _VIEWS:
        op.execute(view)


def _runs() -> None:
    op.create_table(
        "snapshots",
        sa.Column("hash", sa.String(71), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_snapshots"),
    )
    op.create_table(
        "runs",
        sa.Column("number", sa.Integer, nullable=False),
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
        sa.PrimaryKeyConstraint("number", name="pk_runs"),
        sa.UniqueConstraint("id", name="uq_runs_id"),
    )
    op.create_table(
        "owners",
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("token", sa.String(32), nullable=False),
        sa.Column("machine", sa.Text, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("started", sa.Text, nullable=False),
        sa.Column("seen", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("run", name="pk_owners"),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="fk_owners_run", ondelete="CASCADE"),
    )
    op.create_table(
        "cases",
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("case_index", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("case_hash", sa.Text, nullable=False),
        sa.Column("labels", sa.Text, nullable=False),
        sa.Column("metadata", sa.Text, nullable=False),
        sa.Column("file", sa.Text),
        sa.Column("line", sa.Integer),
        sa.Column("status", sa.String(16)),
        sa.PrimaryKeyConstraint("run", "case_index", name="pk_cases"),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="fk_cases_run", ondelete="CASCADE"),
    )


def _spending() -> list[sa.Column[object]]:
    return [
        *(sa.Column(name, sa.BigInteger) for name in _TOKENS),
        sa.Column("cost_usd", sa.Float),
        sa.Column("duration_ms", sa.Float, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("cached", sa.Boolean, nullable=False),
        sa.Column("models", sa.Text),
    ]


def _trials() -> None:
    place = ["run", "case_index", "trial_index"]
    of_trial = [f"trials.{name}" for name in place]
    op.create_table(
        "trials",
        *(sa.Column(name, sa.Integer, nullable=False) for name in place),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("assessments", sa.Integer, nullable=False),
        sa.Column("recorded", sa.Boolean, nullable=False),
        sa.Column("error_category", sa.String(64)),
        sa.Column("error_message", sa.Text),
        sa.Column("paid", sa.Text),
        *_spending(),
        sa.PrimaryKeyConstraint(*place, name="pk_trials"),
        sa.ForeignKeyConstraint(
            ["run", "case_index"], ["cases.run", "cases.case_index"], name="fk_trials_run", ondelete="CASCADE"
        ),
    )
    op.create_table(
        "answers",
        *(sa.Column(name, sa.Integer, nullable=False) for name in place),
        sa.Column("output", sa.Text),
        sa.Column("rendered_input", sa.Text),
        sa.Column("messages", sa.Text),
        sa.Column("execution", sa.Text),
        sa.PrimaryKeyConstraint(*place, name="pk_answers"),
        sa.ForeignKeyConstraint(place, of_trial, name="fk_answers_run", ondelete="CASCADE"),
    )
    op.create_table(
        "assessments",
        *(sa.Column(name, sa.Integer, nullable=False) for name in (*place, "position")),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("score", sa.Float),
        sa.Column("weight", sa.Float, nullable=False),
        sa.Column("required", sa.Boolean, nullable=False),
        sa.Column("error_category", sa.String(64)),
        *_spending(),
        sa.Column("result", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint(*place, "position", name="pk_assessments"),
        sa.ForeignKeyConstraint(place, of_trial, name="fk_assessments_run", ondelete="CASCADE"),
    )


def _calls() -> None:
    op.add_column("responses", sa.Column("scope", sa.Integer))
    op.create_table(
        "scopes",
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_scopes"),
        sa.UniqueConstraint("name", name="uq_scopes_name"),
    )
    op.create_table(
        "run_calls",
        sa.Column("scope", sa.Integer, nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("scope", "key", name="pk_run_calls"),
        sa.ForeignKeyConstraint(["scope"], ["scopes.number"], name="fk_run_calls_scope", ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )


_VIEWS = (
    """
    CREATE VIEW run_results AS
    SELECT r.id AS run_id, r.suite AS suite, c.case_index AS case_index, c.name AS case_name,
        a.trial_index AS trial_index, a.position AS position, a.name AS assertion, a.type AS type,
        a.status AS status, a.score AS score, a.weight AS weight, a.required AS required,
        a.error_category AS error_category, a.input_tokens AS input_tokens, a.output_tokens AS output_tokens,
        a.cost_usd AS cost_usd, a.duration_ms AS duration_ms, a.attempts AS attempts, a.cached AS cached,
        a.result AS result
    FROM runs r
    JOIN cases c ON c.run = r.number
    JOIN assessments a ON a.run = c.run AND a.case_index = c.case_index
    """,
    """
    CREATE VIEW run_trials AS
    SELECT r.id AS run_id, r.suite AS suite, c.case_index AS case_index, c.name AS case_name,
        c.status AS case_status, t.trial_index AS trial_index, t.status AS status,
        t.error_category AS error_category, t.input_tokens AS input_tokens, t.output_tokens AS output_tokens,
        t.cost_usd AS cost_usd, t.duration_ms AS duration_ms, t.attempts AS attempts, t.cached AS cached,
        b.output AS output
    FROM runs r
    JOIN cases c ON c.run = r.number
    JOIN trials t ON t.run = c.run AND t.case_index = c.case_index
    LEFT JOIN answers b ON b.run = t.run AND b.case_index = t.case_index AND b.trial_index = t.trial_index
    """,
)
