from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

AUTO_SIGNAL = "auto"


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """The options of a scoring as given on the command line.

    `look_again` keeps what is needed to read single cases afterwards. `configs` are the configurations to score, all of
    them if it is empty. `judged` adds the metrics with recorded verdicts to the named metrics. `good` and
    `production_k` are for attribution: the signal of a good answer, and the number of chunks that the system shows its
    model.
    """

    golden: str
    outputs: Sequence[str]
    golden_format: str | None = None
    outputs_format: str | None = None
    corpus: str | None = None
    metrics: Sequence[str] = ()
    by: Sequence[str] = ()
    gate: str | None = None
    profile: str | None = None
    gate_configs: Sequence[str] = ()
    missing_as_zero: bool = False
    ignore_unknown: bool = False
    allow_torn_tail: bool = False
    limit: int | None = None
    workers: int = 1
    strict_outputs: bool = False
    only: Sequence[str] = ()
    notices: Sequence[str] = ()
    look_again: bool = False
    baseline: str | None = None
    today: str | None = None
    approver: str = ""
    verdicts: str | None = None
    judge: str | None = None
    calibration: str | None = None
    rubrics: Sequence[str] = ()
    judged: bool = False
    good: str = AUTO_SIGNAL
    golden_name: str = ""
    configs: Sequence[str] = ()
    production_k: int | None = None
    lexicons: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """The paths of the reports to write; None for a report that is not wanted. `now` is the ISO time for the reports.

    For the HTML report, `detail_mb` is the size in megabytes up to which whole cases are included, `explain` holds the
    arguments after `assay explain CASE --config CONFIG` for the other cases, and `show_forbidden` includes text that
    the user of a case must not see.
    """

    markdown: str | None = None
    json: str | None = None
    per_case: str | None = None
    legacy_json: str | None = None
    run_dir: str | None = None
    owner: str = ""
    now: str | None = None
    junit: str | None = None
    csv: str | None = None
    raw_csv: bool = False
    verdicts: str | None = None
    calibration: str | None = None
    rubrics: Sequence[str] = ()
    html: str | None = None
    detail_mb: float = 25.0
    show_forbidden: bool = False
    explain: str = ""
