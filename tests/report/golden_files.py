"""Compares reports with the reviewed copies in `golden/`; ASSAY_REFRESH=1 rewrites the copies, to be reviewed."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

_FOLDER = Path(__file__).parent / "golden"


def assert_golden(name: str, text: str) -> None:
    """Fail unless `text` equals `golden/<name>` byte for byte."""
    path = _FOLDER / name
    if os.environ.get("ASSAY_REFRESH") == "1":
        path.write_bytes(text.encode())
    reviewed = path.read_bytes().decode()
    changes = difflib.unified_diff(reviewed.splitlines(), text.splitlines(), str(path), "now", n=0, lineterm="")
    assert reviewed == text, "ASSAY_REFRESH=1 accepts these changes:\n" + "\n".join(changes)
