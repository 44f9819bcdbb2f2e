"""The first schema: the chain of records, users, texts and the look-up tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    sequence = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table("meta", sa.Column("name", sa.Text, primary_key=True), sa.Column("value", sa.Text, nullable=False))
    op.create_table(
        "users",
        sa.Column("number", sequence, primary_key=True, autoincrement=False),
        sa.Column("pseudonym", sa.Text, nullable=False, unique=True),
        sa.Column("salt", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "records",
        sa.Column("sequence", sequence, primary_key=True, autoincrement=False),
        sa.Column("day", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("id_key", sa.LargeBinary, unique=True),
        sa.Column("at", sa.BigInteger),
        sa.Column("owner", sa.BigInteger),
        sa.Column("body", sa.LargeBinary),
        sa.Column("nonce", sa.LargeBinary),
        sa.Column("commitment", sa.LargeBinary, nullable=False),
        sa.Column("link", sa.LargeBinary, nullable=False),
        sa.Column("erased_at", sa.Text),
    )
    op.create_index("records_at", "records", ["at"])
    op.create_index("records_owner_at", "records", ["owner", "at"])
    op.create_table(
        "texts",
        sa.Column("key", sa.LargeBinary, primary_key=True),
        sa.Column("owner", sa.BigInteger, nullable=False, index=True),
        sa.Column("last_at", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    _create_look_up("citations", sa.Column("citation", sa.Text, primary_key=True))
    _create_look_up(
        "labels", sa.Column("name", sa.Text, primary_key=True), sa.Column("value", sa.Text, primary_key=True)
    )
    op.create_table(
        "checkpoints", sa.Column("source", sa.Text, primary_key=True), sa.Column("position", sa.Text, nullable=False)
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE questions USING fts5(words, content='', columnsize=0)")
    else:
        op.execute("CREATE TABLE questions (sequence BIGINT PRIMARY KEY, words TSVECTOR NOT NULL)")
        op.execute("CREATE INDEX questions_words ON questions USING gin (words)")


def _create_look_up(name: str, *columns: sa.Column[str]) -> None:
    sequence = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        name,
        *columns,
        sa.Column("sequence", sequence, sa.ForeignKey("records.sequence"), primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_index(f"{name}_sequence", name, ["sequence"])
