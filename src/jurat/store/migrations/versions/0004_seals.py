"""A seal on each trial: the hash of what was written of it. Trials of older versions have none."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("trials", sa.Column("seal", sa.String(64)))
