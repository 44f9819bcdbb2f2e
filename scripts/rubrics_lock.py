"""Write src/assay/judging/rubrics/rubrics.lock again; refuse if a rubric has changed without a new version."""

from __future__ import annotations

import sys
from pathlib import Path

from assay.judging.rubric_files import RUBRICS_LOCK_FILE, compare_with_lock, format_lock, load_shipped_rubrics

FILE = Path(__file__).resolve().parents[1] / "src" / "assay" / "judging" / "rubrics" / RUBRICS_LOCK_FILE


def main() -> int:
    """Return 0 if the file is up to date, 2 if a version must be raised first."""
    rubrics = load_shipped_rubrics()
    locked = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    same_version = [problem for problem in compare_with_lock(rubrics, locked) if "same version" in problem.message]
    for problem in same_version:
        print(problem, file=sys.stderr)
    if same_version:
        return 2
    if format_lock(rubrics) != locked:
        FILE.write_text(format_lock(rubrics), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
