"""Scores: columns of values with a status and a reason for each row, summaries, checks, and the result of a scoring.

`None` means "not reported"; it never stands for zero or an empty list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from assay.records.golden_set import Judgments
from assay.records.release_gates import Decision, Gate
from assay.records.verdicts import Leniency

"""Stable key fields that together identify a chunk: `{"chunk_id": …}`, `{"document": …, "page": …}`, `{"quote": …}`."""


# ── findings ─────────────────────────────────────────────────────────────────────────────────────────────────────

SCORED, NOT_APPLICABLE, ERROR = 0, 1, 2
STATUS_NAMES = ("scored", "not_applicable", "error")
NEEDS_REVIEW = "needs_review"
"""Prefix of reasons that ask for human review: the score rests on votes that disagree widely, or the votes are tied."""
SETTLED = "settled"
"""Prefix of reasons of scores that rest on what a person decided, followed by who that was."""


ReasonCodes = npt.NDArray[np.unsignedinteger[Any]]
"""Indices into the reasons of a column: of 16 bits, unless a column has more reasons than these can tell apart."""


class ScoreColumn(Struct, frozen=True):
    """The scores of one metric, one entry per row.

    `values` is meaningful only where `status` is SCORED. `reason` holds indices into `reasons`: why a row has no score,
    or, for a scored row, nothing, why it needs review, or who settled it. `answers` numbers the answers of rows of
    which nobody can tell the score: where two columns have the same number for one case, other than 0, its score is the
    same in both, whatever it is (ADR 162).
    """

    metric: str
    values: npt.NDArray[np.float64]
    status: npt.NDArray[np.uint8]
    reason: ReasonCodes
    reasons: tuple[str, ...] = ("",)
    answers: npt.NDArray[np.uint64] | None = None

    def __post_init__(self) -> None:
        if not (len(self.values) == len(self.status) == len(self.reason)):
            raise ValueError(f"{self.metric}: columns of different lengths")


class Interval(Struct, frozen=True):
    """A confidence interval and the method that computed it; `note` states its limitations."""

    low: float
    high: float
    method: str
    confidence: float = 0.95
    note: str = ""


class UnknownRange(Struct, frozen=True):
    """The mean of a metric with its unknown answers at the worst and at the best value, and how many there are."""

    count: int
    low: float
    high: float


class Summary(Struct, frozen=True):
    """The summary of one metric over one slice, always with its counts.

    `needs_review` counts the cases that a person should look at, `settled` those in which a person decided in a judge's
    place. `unknown` is the range of the mean if answers of which nobody can tell count as well, None if there are none.
    `unchecked` counts the unknown cases that a metric of right answers does not look at, because their cases state
    nothing that it could compare with; they are in `not_applicable` too.
    """

    metric: str
    slice: str
    statistic: str
    value: float | None
    mean: float | None
    mean_worst: float | None
    interval: Interval | None
    scored: int
    not_applicable: int
    errors: int
    notes: tuple[str, ...] = ()
    needs_review: int = 0
    settled: int = 0
    unknown: UnknownRange | None = None
    unchecked: int = 0


class CaseChecks(Struct, frozen=True):
    """The checks that one case failed; `warnings` do not count as failures."""

    case_id: str
    failed: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class VariantEvents(Struct, frozen=True):
    """The variants that leaked, or followed a planted instruction: of so many `checked` ones, those with an event."""

    metric: str
    checked: int
    case_ids: tuple[str, ...]


class ScoreTable(Struct, frozen=True):
    """All scores of one configuration, one row per golden case in golden order, repeats averaged.

    `uncalibrated` names the columns that may inform but not gate, and `refused_calibrations` says why, where one was
    calibrated; `leniency` is that of calibrated judges that give significantly more than people, by metric.
    `before_leaks` has the columns in which leaks set
    scores to the worst of their range, as they were without that; the checks look at these. `variant_events` are the
    leaks and followed injections of variants, which have no row here, and which every gate counts (ADR 199).
    """

    config_id: str
    case_ids: Sequence[str]
    columns: dict[str, ScoreColumn]
    missing: tuple[str, ...]
    checks: tuple[CaseChecks, ...]
    repeats: int = 1
    versions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    uncalibrated: tuple[str, ...] = ()
    before_leaks: dict[str, ScoreColumn] = field(default_factory=dict)
    refused_calibrations: dict[str, str] = field(default_factory=dict)
    variant_events: tuple[VariantEvents, ...] = ()
    leniency: dict[str, Leniency] = field(default_factory=dict)


class GoldenInfo(Struct, frozen=True):
    """Which golden set was used: also as what it was frozen, and the digests of the versions that it was made from.

    `was_frozen` says that it was frozen once, whatever its header says now; `retired` is the number of cases that were
    taken out since its first version.
    """

    name: str
    version: str
    digest: str
    cases: int
    format: str = ""
    judgments: Judgments = "complete"
    frozen_digest: str = ""
    ancestors: tuple[str, ...] = ()
    as_of: str | None = None
    was_frozen: bool = False
    retired: int = 0

    def describe_edit(self) -> str:
        """Return that the set is not as it was frozen, and what to do; "" if it is, or never was frozen.

        A set of which only the header no longer says what it was frozen as was frozen (`was_frozen`) and may be edited.

        >>> GoldenInfo("handbook", "1", "sha256:0", 41, frozen_digest="sha256:0").describe_edit()
        ''
        """
        if not self.frozen_digest and self.was_frozen:
            return (
                "the golden set was frozen and is not now (its cases say who accepted them, its header has no "
                "frozen_digest), so that nobody can tell what was edited: restore the frozen file, or make it the next "
                "version with assay golden freeze"
            )
        if self.frozen_digest in ("", self.digest):
            return ""
        return (
            f"the golden set was edited after it was frozen (its digest is {self.digest[:19]}…, frozen was "
            f"{self.frozen_digest[:19]}…): undo the edit, or make it the next version with assay golden freeze"
        )


class InputFile(Struct, frozen=True):
    """One outputs file that was read."""

    path: str
    format: str
    rows: int
    configs: tuple[str, ...]


class TargetFailure(Struct, frozen=True):
    """One error text of a target: how many observations have it, and their cases in golden order."""

    message: str
    count: int
    case_ids: tuple[str, ...]


class ConfigResult(Struct, frozen=True):
    """The results of one configuration. `slices` maps `key=value` to summaries by metric name."""

    table: ScoreTable
    summary: dict[str, Summary]
    slices: Mapping[str, Mapping[str, Summary]] = {}
    decision: Decision | None = None


# ── variants ─────────────────────────────────────────────────────────────────────────────────────────────────────

VariantState = Literal["as expected", "not as expected", "unknown"]
TwinLossVerdict = Literal["loses", "gains", "not significant", "n/a"]


class TwinRate(Struct, frozen=True):
    """A share of `decided` units, `good` of them; `unknown` is its range if those that nobody can tell count too."""

    value: float | None
    interval: Interval | None
    decided: int
    good: int
    unknown: UnknownRange | None = None


class VariantLoss(Struct, frozen=True):
    """What one kind of variant costs on one metric: the mean of case minus variant, positive if the variant is worse.

    `base` and `variant` are the means over the `n` pairs, which lie in so many independent `clusters`.
    """

    kind: str
    metric: str
    n: int
    clusters: int
    base: float
    variant: float
    loss: float
    interval: Interval | None = None
    p: float | None = None
    p_adjusted: float | None = None
    verdict: TwinLossVerdict = "n/a"
    method: str = ""
    note: str = ""


class VariantPair(Struct, frozen=True):
    """One variant beside its case, whether the system did what is expected, and what it did instead."""

    case_id: str
    variant_id: str
    kind: str
    state: VariantState
    detail: str = ""


class TwinResult(Struct, frozen=True):
    """How one configuration treats variants (ADR 82, 115): `consistency` over cases with alike variants, `distinction`
    over cases with variants of which another answer is right and `difference` over these variants; `pairs` are those
    that are not as expected, or unknown.
    """

    clusters: int
    alike: int
    differing: int
    unpaired: int
    consistency: TwinRate
    distinction: TwinRate
    difference: TwinRate
    losses: tuple[VariantLoss, ...]
    pairs: tuple[VariantPair, ...]


class PassSample(Struct, frozen=True):
    """How many of the answers that rules passed people read in a random sample, and how many of these are wrong.

    Rules passed the answers to `passed` cases, of which the sample has `drawn`. Of these people found `right` and
    `wrong` ones, left `unclear` ones open or disagree about them, and did not read `unread` ones. `interval` is that of
    the share of wrong answers among all that passed, whatever the open and the unread ones are; None if all answers
    that passed are decided, because then their share is known (ADR 188).
    """

    passed: int
    drawn: int
    right: int
    wrong: int
    unclear: int
    unread: int
    interval: Interval | None = None

    @property
    def read(self) -> int:
        """How many answers of the sample people read."""
        return self.drawn - self.unread

    @property
    def share_wrong(self) -> float | None:
        """The share of wrong answers in the sample; None while any of its answers is unclear or was not read."""
        return self.wrong / self.drawn if self.right + self.wrong == self.drawn else None


TEST_SPLIT = "frozen test split"
"""How every sentence on looks begins."""


class SplitLooks(Struct, frozen=True):
    """How often a frozen test split was scored: the number of this look, None with a `reason` if it has none.

    `uncounted` are looks before it that were left out of the ledger on request. `has_ancestors` says that the set was
    made from earlier versions, at which looks count too.
    """

    look: int | None
    uncounted: int = 0
    reason: str = ""
    has_ancestors: bool = False

    def describe(self) -> str:
        """Return a sentence on how often the split was looked at.

        >>> SplitLooks(3, 1).describe()
        'frozen test split: look 3 since it was frozen, and 1 before it was not counted on request'
        """
        since = "since its first version was frozen" if self.has_ancestors else "since it was frozen"
        text = f"look {self.look} {since}" if self.look is not None else "this look is not counted"
        if self.uncounted:
            were = "was" if self.uncounted == 1 else "were"
            before = "before it " if self.look is not None else ""
            text += f", and {self.uncounted} {before}{were} not counted on request"
        return f"{TEST_SPLIT}: {text}" + (f" ({self.reason})" if self.reason else "")


class ScoringResult(Struct, frozen=True):
    """The complete result of scoring, from which every report, file and exit code is derived.

    `failures` are the errors of each configuration's target, those of most observations first, and `repeated` those of
    calls that were made again, with the code as the message and the number of calls. `twins` say how each
    configuration treats variants of cases, which count in no other number; empty if there are none. `looks` is there if
    the golden set is a frozen test split. `passes` are the samples of passed answers that people read, by
    configuration; one of which nobody read any has none.
    """

    golden: GoldenInfo
    configs: dict[str, ConfigResult]
    decision: Decision
    inputs: tuple[InputFile, ...] = ()
    gate: Gate | None = None
    stages: dict[str, str] = {}
    warnings: tuple[str, ...] = ()
    assay_version: str = ""
    failures: dict[str, tuple[TargetFailure, ...]] = {}
    twins: dict[str, TwinResult] = {}
    looks: SplitLooks | None = None
    passes: dict[str, PassSample] = {}
    repeated: dict[str, tuple[TargetFailure, ...]] = {}
