"""What `assay history` tells: the data of the trend page, which is also what `--format json` prints."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from assay.records.series import Series


class FlappingCase(Struct, frozen=True):
    """A case whose outcome went back and forth; `outcomes` has a letter for each run of its configuration, in order.

    P passed, F failed, U unknown, - not asked or asked otherwise. `changes` counts P after F and F after P,
    `changes_without_version` those between two runs of which no recorded version differs.
    """

    case_id: str
    configuration: str
    outcomes: str
    last_passed: str | None
    changes: int
    changes_without_version: int


class FailingCase(Struct, frozen=True):
    """A case that did not pass in the last run: when it last did, None if never, and how many runs ago."""

    case_id: str
    configuration: str
    outcomes: str
    last_passed: str | None
    runs_since_pass: int


class VersionDifference(Struct, frozen=True):
    """A version, or another fact about a run, that differs from the run before; None where not recorded."""

    name: str
    before: str | None
    after: str | None


class VersionStep(Struct, frozen=True):
    """What is different in a run from the run before it of the same configuration."""

    at: str
    run: str
    configuration: str
    changed: tuple[VersionDifference, ...]


class SteadyChange(Struct, frozen=True):
    """A change of the mean by `slope` a run, with its 95% interval over cases like these."""

    slope: float
    low: float
    high: float


class ChangeFinding(Struct, frozen=True):
    """A change that stands after the correction for the number of series.

    `before` and `after` are means over `cases`, those that all `runs` of the stretch share; `p` is adjusted. With
    `steady`, the mean changes by about as much with every run from `run_before` to `run`: no run is that of a change,
    and `before` and `after` are the ends of the line. `may_be_steady`: the runs cannot tell a step from it.
    """

    metric: str
    slice: str | None
    configuration: str
    at: str
    run: str
    run_before: str
    before: float
    after: float
    cases: int
    runs: int
    p: float
    versions: tuple[VersionDifference, ...]
    steady: SteadyChange | None = None
    may_be_steady: bool = False


class CauseCount(Struct, frozen=True):
    """How many incidents people put down to a cause."""

    cause: str
    count: int


class IncidentCounts(Struct, frozen=True):
    """Incidents without (`open`) and with (`closed`) a finding of cause, owner, decision and date; null if not read."""

    open: int | None
    closed: int | None
    by_cause: tuple[CauseCount, ...] = ()
    reason: str = ""


class BaselinePromotion(Struct, frozen=True):
    """A run that was made the baseline."""

    at: str
    run: str
    configuration: str
    file: str


class RunHistory(Struct, frozen=True):
    """Everything that the registered runs tell. `tested` is the number of series that were tested for a change."""

    page: Literal["trend"]
    title: str
    made_at: str
    series: tuple[Series, ...]
    changes: tuple[ChangeFinding, ...]
    tested: int
    flapping: tuple[FlappingCase, ...]
    failing: tuple[FailingCase, ...]
    versions: tuple[VersionStep, ...]
    promotions: tuple[BaselinePromotion, ...]
    incidents: IncidentCounts
    notes: tuple[str, ...]
