"""Write src/assay/rubrics/rubrics.lock again; refuse if a rubric has changed without a new version."""

from __future__ import annotations

import sys
from pathlib import Path

from assay.io.rubrics import LOCK, lock_lines, lock_problems, shipped_rubrics

FILE = Path(__file__).resolve().parents[1] / "src" / "assay" / "rubrics" / LOCK


def main() -> int:
    """Return 0 if the file is up to date, 2 if a version must be raised first."""
    rubrics = shipped_rubrics()
    locked = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    same_version = [problem for problem in lock_problems(rubrics, locked) if "same version" in problem.message]
    for problem in same_version:
        print(problem, file=sys.stderr)
    if same_version:
        return 2
    if lock_lines(rubrics) != locked:
        FILE.write_text(lock_lines(rubrics), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
