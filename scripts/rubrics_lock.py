"""Write src/assay/rubrics/rubrics.lock anew; refuses while a rubric has changed under the version that is locked."""

from __future__ import annotations

import sys
from pathlib import Path

from assay.io.rubrics import LOCK, lock_lines, lock_problems, shipped_rubrics

FILE = Path(__file__).resolve().parents[1] / "src" / "assay" / "rubrics" / LOCK


def main() -> int:
    """Return 0 where the file was written, 2 where a version has to be raised first."""
    rubrics = shipped_rubrics()
    locked = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    same_version = [each for each in lock_problems(rubrics, locked) if "same version" in each.message]
    for problem in same_version:
        print(problem, file=sys.stderr)
    if same_version:
        return 2
    if lock_lines(rubrics) != locked:
        FILE.write_text(lock_lines(rubrics), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
