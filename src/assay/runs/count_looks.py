"""Counts the looks at a frozen test split, so that every report can say how often it was looked at (ADR 0085)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from assay.formats.file_io import is_file
from assay.formats.run_files.run_folder import compute_file_sha256, read_manifest
from assay.formats.run_files.test_split_file import LookEntry, digest_outputs, record_look
from assay.records.golden_set import GoldenSet
from assay.records.scores import ScoringResult, SplitLooks
from assay.scoring.scored_run import ScoredRun

TEST_SPLIT = "test"


def count_look(
    run: ScoredRun,
    golden: str,
    at: str,
    *,
    is_counted: bool = True,
    run_of: str = "",
    digests: Sequence[str] | None = None,
) -> None:
    """Record that outputs were scored against a golden set, if that is a frozen test split, and put it into the run.

    The same outputs are one look, and so are outputs of which each file was looked at already. A live run, which may be
    continued, is one by its folder (`run_of`) and start (`at`, ISO 8601). `digests` stand for outputs that are in no
    file. Unless `is_counted`, only the fact that somebody looked is recorded.
    """
    if run.golden.split != TEST_SPLIT or not run.golden.frozen_digest:
        return
    if not is_file(golden):
        looks = SplitLooks(
            None, 0, f"{golden or 'the golden set'} is not a file, so that there is no ledger next to it"
        )
    else:
        outputs, parts = "", tuple[str, ...]()
        if is_counted:
            if digests is None:
                files = [file.path for file in run.files]
                digests = [f"{run_of} {at}"] if run_of else [compute_file_sha256(Path(path)) for path in files]
            outputs = digest_outputs(digests)
            parts = tuple(digest_outputs([digest]) for digest in digests) if len(digests) > 1 else ()
        entry = LookEntry(at, run.golden.frozen_digest, outputs, tuple(sorted(run.scoring.configs)), parts)
        looks = record_look(golden, entry, run.golden.ancestors)
    if run.scoring.golden.digest != run.golden.frozen_digest:
        reason = "; ".join(filter(None, (looks.reason, "the set was edited after it was frozen")))
        looks = msgspec.structs.replace(looks, reason=reason)
    looks = msgspec.structs.replace(looks, has_ancestors=bool(run.golden.lineage))
    run.scoring = msgspec.structs.replace(run.scoring, looks=looks)


def add_recorded_looks(scoring: ScoringResult, golden: GoldenSet, folder: Path) -> ScoringResult:
    """Return the result of scoring a run folder again with the look that its manifest recorded: it is no new one."""
    recorded = read_manifest(folder).get("looks")
    if recorded is None:
        if golden.split != TEST_SPLIT or not golden.frozen_digest:
            return scoring
        return msgspec.structs.replace(scoring, looks=SplitLooks(None, 0, "the run folder records no look"))
    return msgspec.structs.replace(scoring, looks=msgspec.convert(recorded, SplitLooks))
