"""Run by Alembic: migrates the store on the connection and in the transaction that the caller has opened."""

from __future__ import annotations

from alembic import context

from assay.audit.schema import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
