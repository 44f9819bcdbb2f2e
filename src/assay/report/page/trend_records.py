"""What the pages on trends and monitors show. The JSON of `assay history` and `assay monitor` has the same shape."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from assay.records.series import Series


class VersionChange(Struct, frozen=True):
    """A part of the system whose version changed; None where a version was not recorded."""

    name: str
    before: str | None
    after: str | None


class VersionRow(Struct, frozen=True):
    """What changed in the versions with a run or at a time."""

    at: str
    run: str | None
    changed: tuple[VersionChange, ...]
    configuration: str | None = None


class FlappingRow(Struct, frozen=True):
    """A case whose outcome changes: `outcomes` has P (passed), F (failed) or another letter a run, oldest first."""

    case_id: str
    outcomes: str
    last_passed: str | None
    configuration: str | None = None


class FailingRow(Struct, frozen=True):
    """A case that did not pass in the last run, and how many runs ago it last did."""

    case_id: str
    outcomes: str
    last_passed: str | None
    runs_since_pass: int
    configuration: str | None = None


class SteadyRow(Struct, frozen=True):
    """By how much a metric changes with every run, with the 95% interval."""

    slope: float
    low: float
    high: float


class ChangeRow(Struct, frozen=True):
    """A change of a metric that stands after the correction for the number of series; `p` is adjusted.

    It is a step at `run`, or `steady` from `run_before` to `run`; `may_be_steady` says that the runs cannot tell which.
    `name` is the metric as it is shown.
    """

    metric: str
    slice: str | None
    configuration: str | None
    at: str
    run: str | None
    before: float
    after: float
    p: float
    versions: tuple[VersionChange, ...] = ()
    name: str = ""
    run_before: str | None = None
    runs: int = 0
    cases: int = 0
    steady: SteadyRow | None = None
    may_be_steady: bool = False


class CauseRow(Struct, frozen=True):
    """How often people named a cause."""

    cause: str
    count: int


class IncidentTotals(Struct, frozen=True):
    """How many incidents are open and closed, and by which causes; None with a reason where that was not read."""

    open: int | None
    closed: int | None
    by_cause: tuple[CauseRow, ...]
    reason: str = ""


class TrendPage(Struct, frozen=True):
    """The history of runs: metrics over time, versions, cases that flap, incidents."""

    page: Literal["trend"]
    title: str
    made_at: str | None
    series: tuple[Series, ...]
    flapping: tuple[FlappingRow, ...]
    versions: tuple[VersionRow, ...]
    incidents: IncidentTotals | None
    notes: tuple[str, ...]
    changes: tuple[ChangeRow, ...] = ()
    failing: tuple[FailingRow, ...] = ()


class PagePeriod(Struct, frozen=True, rename={"start": "from", "end": "to"}):
    """The period that a monitor looked at, as ISO dates or times."""

    start: str
    end: str


class AlertCard(Struct, frozen=True):
    """An alert: `value` crossed `bound`, `before` is the value of the reference, `since` what changed there.

    `name` is the metric as it is shown.
    """

    id: str
    at: str
    metric: str
    slice: str | None
    value: float | None
    before: float | None
    bound: float | None
    since: tuple[VersionChange, ...]
    text: str
    state: Literal["open", "acknowledged", "quiet"]
    name: str = ""


class LeakCard(Struct, frozen=True):
    """One answer in which its user saw what they may not see; `text` says where, never what."""

    at: str
    record_id: str
    user: str | None
    chunk: str | None
    text: str


class SamplingPanel(Struct, frozen=True):
    """How many of the answers were read, by rules or a judge, at which cost, and how wide the interval is."""

    judged: int
    answers: int
    budget: float | None
    cost: float | None
    width: float | None
    design: str
    by: Literal["", "rules", "judge"] = "judge"


class RefusalPanel(Struct, frozen=True):
    """The share of answers that refused (`value`), next to the band from `low` to `high` in which it is expected."""

    low: float
    high: float
    value: float | None
    state: str
    text: str


class DriftRow(Struct, frozen=True, rename={"start": "from", "end": "to"}):
    """How far something moved between two periods, with the p value of the test."""

    what: str
    start: str
    end: str
    statistic: float | None
    p: float | None
    text: str


class MonitorPage(Struct, frozen=True):
    """Production answers of a period: alerts and leaks first, then the metrics over time.

    `watch` says what was watched, since when, and what was not; `leak_gaps` in which answers no leak was looked for;
    `unmeasured_bounds` which bounds could not be checked.
    """

    page: Literal["monitor"]
    title: str
    made_at: str | None
    period: PagePeriod
    by: str
    series: tuple[Series, ...]
    alerts: tuple[AlertCard, ...]
    leaks: tuple[LeakCard, ...]
    sampling: SamplingPanel | None
    refusal_band: RefusalPanel | None
    drift: tuple[DriftRow, ...]
    notes: tuple[str, ...]
    watch: tuple[str, ...] = ()
    leak_gaps: tuple[str, ...] = ()
    unmeasured_bounds: tuple[str, ...] = ()
