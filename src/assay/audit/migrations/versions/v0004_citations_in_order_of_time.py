"""The table of citations has the time of each answer, so that the newest of many answers are found without the rest."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table again: in neither database can a key take in another column."""
    op.rename_table("citations", "citations_0003")
    if op.get_bind().dialect.name != "sqlite":  # where the names of constraints have to differ
        op.execute("ALTER TABLE citations_0003 DROP CONSTRAINT citations_pkey, DROP CONSTRAINT citations_sequence_fkey")
    sequence = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "citations",
        sa.Column("citation", sa.Text, primary_key=True),
        sa.Column("at", sa.BigInteger, primary_key=True),
        sa.Column("sequence", sequence, sa.ForeignKey("records.sequence"), primary_key=True),
        sqlite_with_rowid=False,
    )
    # A record that somebody changed may have no time: verifying names it, here it stays. In this order SQLite reads the
    # times and the citations from their indexes, and writes the new table from one end to the other.
    op.execute(
        "INSERT INTO citations (citation, at, sequence) SELECT earlier.citation, COALESCE(records.at, 0), "
        "earlier.sequence FROM records CROSS JOIN citations_0003 AS earlier WHERE earlier.sequence = records.sequence "
        "ORDER BY 1, 2, 3"
    )
    op.drop_table("citations_0003")
    op.create_index("citations_sequence", "citations", ["sequence"])
    if op.get_bind().dialect.name != "sqlite":
        op.execute("ANALYZE citations")
