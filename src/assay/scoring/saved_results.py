"""The scores of a run as its folder keeps them: the part that is read again without scoring."""

from __future__ import annotations

from msgspec import Struct

from assay.metrics.case_checks import UNKNOWN_ANSWER
from assay.scoring.case_outcomes import CaseOutcome


class SavedUnknown(Struct, frozen=True):
    """Between what a metric is, because nobody can tell the score of some cases."""

    cases: int
    low: float
    high: float


class SavedSummary(Struct, frozen=True):
    """One metric over some cases, as the report of a run has it."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    scored: int = 0
    unknown: SavedUnknown | None = None


class SavedGolden(Struct, frozen=True):
    """The golden set of a saved report."""

    digest: str = ""
    name: str = ""
    version: str = ""
    cases: int = 0


class SavedDecision(Struct, frozen=True):
    """What was decided about a saved run."""

    outcome: str = ""


class SavedConfig(Struct, frozen=True):
    """The summaries of one configuration: over all cases, and by slice."""

    summary: dict[str, SavedSummary] = {}
    slices: dict[str, dict[str, SavedSummary]] = {}


class SavedReport(Struct, frozen=True):
    """The part of `derived/report.json` that is read again."""

    golden: SavedGolden = SavedGolden()
    decision: SavedDecision = SavedDecision()
    gate: str | None = None
    configs: dict[str, SavedConfig] = {}
    assay_version: str = ""


class SavedCase(Struct, frozen=True):
    """One line of `derived/cases.jsonl`: the scores of a case and the checks that it failed."""

    config_id: str
    case_id: str
    scores: dict[str, float | None] = {}
    failed_checks: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def outcome(self) -> CaseOutcome:
        """Whether the case passed, failed, or cannot be told."""
        if self.failed_checks:
            return "failed"
        return "unknown" if UNKNOWN_ANSWER in self.warnings else "passed"
