"""Answers are found by the sources that markers in their texts name, too: the table of citations is completed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from assay.audit.batch_rows import list_missing_citations

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

PAGE = 2000


def upgrade() -> None:
    """Add the citations that the texts of answers name; a record that cannot be read is left as it is."""
    connection = op.get_bind()
    page = sa.text(
        "SELECT sequence, body FROM records WHERE sequence > :after AND kind = 'answer' AND body IS NOT NULL "
        "ORDER BY sequence LIMIT :page"
    )
    citations = sa.text("SELECT citation, sequence FROM citations WHERE sequence > :after AND sequence <= :last")
    insert = sa.text("INSERT INTO citations (citation, sequence) VALUES (:citation, :sequence)")
    after = 0
    while True:
        rows = [(row[0], bytes(row[1])) for row in connection.execute(page, {"after": after, "page": PAGE})]
        if not rows:
            return
        stored: dict[int, set[str]] = {sequence: set() for sequence, _ in rows}
        for citation, sequence in connection.execute(citations, {"after": after, "last": rows[-1][0]}):
            stored.setdefault(sequence, set()).add(citation)
        missing = []
        for sequence, body in rows:
            names = list_missing_citations(body, stored[sequence])
            missing += [{"citation": name, "sequence": sequence} for name in names]
        if missing:
            connection.execute(insert, missing)
        after = rows[-1][0]
