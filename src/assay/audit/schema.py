"""The tables of the audit store, for SQLite and PostgreSQL. `migrations` creates and changes them.

`records` is the chain. The other tables are indexes and texts, which follow from the records and are checked with them.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, MetaData, Table, Text

HEAD = "0004"
"""The newest version of the schema."""
STORE_OWNER = 0
"""The number of the row in `users` whose salt is used for records without a user."""

METADATA = MetaData()
_SEQUENCE = BigInteger().with_variant(Integer(), "sqlite")  # in SQLite only an INTEGER key is the row's own number

META = Table("meta", METADATA, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))

USERS = Table(
    "users",
    METADATA,
    Column("number", _SEQUENCE, primary_key=True, autoincrement=False),
    Column("pseudonym", Text, nullable=False, unique=True),
    Column("salt", LargeBinary, nullable=False),
)

RECORDS = Table(
    "records",
    METADATA,
    Column("sequence", _SEQUENCE, primary_key=True, autoincrement=False),
    Column("day", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("id_key", LargeBinary, unique=True),
    Column("at", BigInteger),
    Column("owner", BigInteger),
    Column("body", LargeBinary),
    Column("nonce", LargeBinary),
    Column("commitment", LargeBinary, nullable=False),
    Column("link", LargeBinary, nullable=False),
    Column("erased_at", Text),
    Index("records_at", "at"),
    Index("records_owner_at", "owner", "at"),
)

TEXTS = Table(
    "texts",
    METADATA,
    Column("key", LargeBinary, primary_key=True),
    Column("owner", BigInteger, nullable=False, index=True),
    Column("last_at", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

CITATIONS = Table(
    "citations",
    METADATA,
    Column("citation", Text, primary_key=True),
    Column("at", BigInteger, primary_key=True),
    Column("sequence", _SEQUENCE, ForeignKey("records.sequence"), primary_key=True),
    Index("citations_sequence", "sequence"),
    sqlite_with_rowid=False,
)

LABELS = Table(
    "labels",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("value", Text, primary_key=True),
    Column("sequence", _SEQUENCE, ForeignKey("records.sequence"), primary_key=True),
    Index("labels_sequence", "sequence"),
    sqlite_with_rowid=False,
)

CHECKPOINTS = Table(
    "checkpoints", METADATA, Column("source", Text, primary_key=True), Column("position", Text, nullable=False)
)
