"""How Alembic takes the steps: on the connection that `jurat.store.schema.upgrade` hands it, in its transaction."""

from __future__ import annotations

from alembic import context

from jurat.store.schema import VERSION_TABLE
from jurat.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
)
with context.begin_transaction():
    context.run_migrations()
