"""Comparing text that people read with the copy in `golden/`; ASSAY_REFRESH=1 writes the copy anew, to be reviewed."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

_FOLDER = Path(__file__).parent / "golden"


def assert_golden(name: str, text: str) -> None:
    """Fail unless `text` is byte for byte what `golden/<name>` holds."""
    path = _FOLDER / name
    if os.environ.get("ASSAY_REFRESH") == "1":
        path.write_bytes(text.encode())
    reviewed = path.read_bytes().decode()
    changes = difflib.unified_diff(reviewed.splitlines(), text.splitlines(), str(path), "now", n=0, lineterm="")
    assert reviewed == text, "ASSAY_REFRESH=1 accepts these changes:\n" + "\n".join(changes)
