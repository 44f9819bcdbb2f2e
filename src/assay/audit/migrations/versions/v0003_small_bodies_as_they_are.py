"""Small bodies are stored as they are; no row changes. The version keeps releases away that can only unpack bodies."""

from __future__ import annotations

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change nothing: bodies that were compressed are read as before."""
