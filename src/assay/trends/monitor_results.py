"""What a monitor of production answers reports; as JSON it is the data of the monitor's page.

Unknown is None with a reason, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from msgspec import Struct

from assay.records.golden_set import Case
from assay.records.observations import Observation
from assay.records.series import SeriesMark

CORRECTED = ", corrected"
"""How the key of a series ends whose values are corrected by a calibration."""


class MonitorPoint(Struct, frozen=True):
    """One value of a series: that of the period which begins at `at`, with its 95% interval.

    `n` counts the answers that the value rests on; `reason` says why there is no value. Of `unknown` more answers, the
    rules cannot tell what the metric asks.
    """

    at: str
    label: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str = ""
    note: str = ""
    run: str | None = None
    unknown: int = 0


class BoundWatch(Struct, frozen=True):
    """What became of a bound: `value` was observed on the reported `days`, None with a `reason` if there are no values.

    `state` is `exceeded` (an alert says so), `not_significant` (the value is beyond the bound, which may be chance),
    `kept` or `unmeasured`.
    """

    bound: str
    limit: float
    state: Literal["exceeded", "not_significant", "kept", "unmeasured"]
    value: float | None
    days: int
    reason: str = ""


class MonitorSeries(Struct, frozen=True):
    """One metric over all traffic or one slice, period by period.

    `sampled`: only a sample of the answers was scored, and the values are weighted. `caveat` says what the values are
    not, "" for values with a scale. `detectable` is the change of the daily rate that would be found by the end of its
    first week in nine of ten cases, None where `undetectable` says why, and of corrected values, which nothing watches.
    `watched_since` is the first reported day on which a change could have been found, None where `unwatched` says why.
    `silent_since` is the first of the last days with answers of which none has a value, where these are too many for a
    change to be found.
    """

    name: str
    key: str
    unit: str
    higher_is_better: bool | None
    slice: str | None
    points: tuple[MonitorPoint, ...]
    marks: tuple[SeriesMark, ...] = ()
    configuration: str | None = None
    sampled: bool = False
    caveat: str = ""
    detectable: float | None = None
    undetectable: str = ""
    watched_since: str | None = None
    unwatched: str = ""
    silent_since: str | None = None
    bounds: tuple[BoundWatch, ...] = ()


class ChangedVersion(Struct, frozen=True):
    """A version (of the index, the prompt, the model …) that most answers had until `at`, and the one after it."""

    name: str
    before: str
    after: str
    at: str


class MonitorAlert(Struct, frozen=True):
    """A change of a metric that its sequential test found.

    `at` is the day of the alarm, `change_point` the estimated first day of the new level, `before` and `value` the
    levels up to it and from it on, `since` the versions that changed at about that time. Alerts of one `group` changed
    together. `bound` is where the alarm began: for a percentile, that of all days that were compared. An alert of the
    kind `bound` says that the metric is beyond the bound that was stated; nothing need have changed, and `before` is
    None. `ended` is the estimated first day on which the metric was back, None while it is not, and `ended_value` its
    level since then.
    """

    id: str
    at: str
    metric: str
    slice: str | None
    value: float
    before: float | None
    bound: float
    p: float
    window_days: int
    change_point: str
    since: tuple[ChangedVersion, ...]
    group: str
    text: str
    state: str
    acknowledged_by: str | None = None
    kind: Literal["change", "bound"] = "change"
    ended: str | None = None
    ended_value: float | None = None


class MonitorLeak(Struct, frozen=True):
    """An answer that showed what its user may not see: `chunk` names it, never its text."""

    at: str
    record_id: str
    user: str | None
    chunk: str
    text: str


class LeakGroup(NamedTuple):
    """The answers of one day that leaked the same to users of the same rights: most likely one incident."""

    day: str
    text: str
    leaks: tuple[MonitorLeak, ...]


def group_leaks(leaks: Iterable[MonitorLeak]) -> list[LeakGroup]:
    """Return leaks together that happened on one day and of which the same is said, in order of their first."""
    groups: dict[tuple[str, str], list[MonitorLeak]] = {}
    for leak in leaks:
        groups.setdefault((leak.at[:10], leak.text), []).append(leak)
    return [LeakGroup(day, text, tuple(members)) for (day, text), members in groups.items()]


class SamplingSummary(Struct, frozen=True):
    """How many answers were scored for the metrics that need reading.

    `by` is `rules` or `judge`, "" where nothing was read. `width` is the mean width of the intervals of all traffic,
    None where unknown. `unjudged` were chosen and have no
    verdict. `cost` is what the recorded verdicts cost in dollars.
    """

    judged: int
    answers: int
    budget: int | None
    cost: float | None
    width: float | None
    design: str
    unjudged: int = 0
    by: Literal["", "rules", "judge"] = ""


class SampledAnswer(Struct, frozen=True):
    """An answer of the sample as a case and an observation, for a judge."""

    case: Case
    observation: Observation


class RefusalBand(Struct, frozen=True):
    """Where the refusal rate lies: `state` is below, within, above, zero or unknown."""

    low: float
    high: float
    value: float | None
    state: str
    text: str


class MonitorDrift(Struct, frozen=True):
    """A change in what is asked between two periods: the statistic of a permutation test and its p-value."""

    what: str
    from_period: str
    to_period: str
    statistic: float
    p: float
    text: str


class WeekChange(Struct, frozen=True):
    """A metric over the last seven days, `value`, and over the seven `before` them, each with its number of answers.

    `p` is that of the difference: the larger one of two tests, one that swaps the weeks of users, adjusted for all
    metrics that were compared, and one that swaps each day with the same weekday of the other week. `least_p` is the
    smallest one that so many users and days can give.
    """

    metric: str
    higher_is_better: bool | None
    before: float
    value: float
    n_before: int
    n: int
    p: float
    least_p: float


class MonitorPeriod(Struct, frozen=True):
    """The days that a report covers, both inclusive."""

    first: str
    last: str


class MonitorReport(Struct, frozen=True):
    """Everything that a monitor found in a period.

    `leak_count` counts all leaking answers, `leaks` lists the first, and `unsearched` counts the answers in which no
    leak could be looked for, because nothing tells who may see what; `unsearched_reasons` counts them by what is
    missing. `last_weeks` compares the last seven days with the seven before, for metrics of every answer.
    """

    title: str
    made_at: str | None
    period: MonitorPeriod
    by: str
    answers: int
    series: tuple[MonitorSeries, ...]
    alerts: tuple[MonitorAlert, ...]
    leaks: tuple[MonitorLeak, ...]
    leak_count: int
    unsearched: int
    sampling: SamplingSummary
    refusal_band: RefusalBand
    drift: tuple[MonitorDrift, ...]
    versions: tuple[ChangedVersion, ...]
    notes: tuple[str, ...]
    unsearched_reasons: dict[str, int] = {}
    last_weeks: tuple[WeekChange, ...] = ()

    @property
    def has_unmeasured_bound(self) -> bool:
        """Whether a bound over all traffic could not be checked, because the metric has no value."""
        overall = (row for row in self.series if row.slice is None)
        return any(bound.state == "unmeasured" for row in overall for bound in row.bounds)

    @property
    def needs_attention(self) -> bool:
        """Whether there is an open alert or a leak."""
        return bool(self.leak_count) or any(alert.state == "open" for alert in self.alerts)
