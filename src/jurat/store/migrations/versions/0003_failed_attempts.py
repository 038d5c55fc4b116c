"""Why attempts failed, beside how many there were."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("responses", sa.Column("failed_attempts", sa.Text))
    op.add_column("withheld", sa.Column("failed_attempts", sa.Text))
