"""Metrics as records: the name, the catalogue row, and the batch of joined rows that a row computes a column from.

A name is `name[(key=value,…)][@k]`, keys sorted, defaults omitted; what is printed parses back. A row of a batch is one
observation of one case. Observations are joined with their cases some dozens at a time, so that one short loop visits
all their chunks. Each family of metrics states the facts it needs; facts take some rows at a time, keep a few dozen
bytes of each, and become arrays when the block is full. A metric turns facts into a `ScoreColumn`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Literal, Protocol, TypeVar, cast, get_args

import numpy as np
from msgspec import Struct, field

from assay.metrics.cases.case_index import CaseIndex
from assay.records.errors import MetricNameError, Problem, shorten_repr
from assay.records.golden_set import Case
from assay.records.observations import (
    NULL_ANSWER,
    Observation,
    StageRanking,
    StageRankings,
    find_stage,
    group_rankings,
)
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED, ScoreColumn
from assay.stats.arrays import BoolArray, FloatArray, IndexArray
from assay.text.pattern_cache import compile_pattern

_NAME_PATTERN = compile_pattern(r"(?P<base>[a-z][a-z0-9_]*)(?:\((?P<keys>[^()]*)\))?(?:@(?P<k>[0-9]+))?")
_MOST_DIGITS = 9  # of k: longer than any ranking, and within what arrays hold
_KEY_PATTERN = compile_pattern(r"\s*([a-z_]+)\s*=\s*([A-Za-z0-9_.:/-]+)\s*")


class MetricName(Struct, frozen=True):
    """A metric's identity: base name, keys that differ from their defaults, cut-off.

    >>> str(MetricName("ndcg", (("gain", "linear"),), 10))
    'ndcg(gain=linear)@10'
    """

    base: str
    keys: tuple[tuple[str, str], ...] = ()
    k: int | None = None

    def __str__(self) -> str:
        inner = ",".join(f"{key}={value}" for key, value in self.keys)
        return self.base + (f"({inner})" if inner else "") + ("" if self.k is None else f"@{self.k}")

    def key_value(self, name: str, default: str) -> str:
        """Return the value of a key, or the default where the name does not state it."""
        return dict(self.keys).get(name, default)


@cache
def parse_metric_name(text: str) -> MetricName:
    """Read the shape of a metric name; the name is not looked up in the catalogue.

    Raises MetricNameError with the text and the expected shape.

    >>> parse_metric_name("recall( stage=context, rel=2 )@5")
    MetricName(base='recall', keys=(('rel', '2'), ('stage', 'context')), k=5)
    """
    match = _NAME_PATTERN.fullmatch(text.strip())
    if match is None:
        raise _name_error(text, "expected name, name@k or name(key=value,…)@k")
    keys: dict[str, str] = {}
    for part in (match["keys"] or "").split(",") if match["keys"] else ():
        key_match = _KEY_PATTERN.fullmatch(part)
        if key_match is None:
            raise _name_error(text, f"{shorten_repr(part)} is not key=value")
        if key_match[1] in keys:
            raise _name_error(text, f"key {key_match[1]!r} is given twice")
        keys[key_match[1]] = key_match[2]
    if match["k"] is not None and len(match["k"].lstrip("0")) > _MOST_DIGITS:
        raise _name_error(text, f"k must be at most {10**_MOST_DIGITS - 1}")
    k = None if match["k"] is None else int(match["k"])
    if k == 0:
        raise _name_error(text, "k must be at least 1")
    return MetricName(match["base"], tuple(sorted(keys.items())), k)


_SEPARATOR = compile_pattern(r"([(),])")


def split_metric_names(text: str) -> list[str]:
    """Split a comma-separated list of metric names, leaving the commas inside parentheses alone.

    >>> split_metric_names("recall@5, recall(rel=2,stage=context)@5,ap")
    ['recall@5', 'recall(rel=2,stage=context)@5', 'ap']
    """
    names = [""]
    depth = 0
    for part in _SEPARATOR.split(text):
        depth = max(0, depth + (part == "(") - (part == ")"))
        if part == "," and depth == 0:
            names.append("")
        else:
            names[-1] += part
    return [name.strip() for name in names if name.strip()]


def drop_default_keys(keys: Mapping[str, str], defaults: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the keys that differ from their defaults, sorted: the canonical spelling."""
    return tuple(sorted((key, value) for key, value in keys.items() if defaults.get(key) != value))


def _name_error(text: str, reason: str) -> MetricNameError:
    return MetricNameError([Problem("", None, "metric", f"cannot read {shorten_repr(text)}: {reason}")])


class JoinedRows:
    """What metrics see of some observations: each with its case, and their rankings by the name of the stage.

    `has_no_metadata`: no chunk carries metadata.
    """

    def __init__(
        self, cases: list[CaseIndex], observations: list[Observation], stages: dict[str, StageRankings] | None = None
    ) -> None:
        self.cases, self.observations = cases, observations
        self.stages = group_rankings(observations) if stages is None else stages
        self.has_no_metadata = all(rankings.has_no_metadata for rankings in self.stages.values())
        self.parsed_answers: list[Any] | None = None  # the parsed answers of these rows
        self.leaks: dict[int, Any] = {}  # what leaked on these rows, by the identity of the observation
        self._ranked: dict[str, list[StageRanking | None]] = {}

    @cached_property
    def error_codes(self) -> list[str]:
        """The code with which the target failed on each row, as reports may show it; empty where it did not."""
        return [_error_code(observation) for observation in self.observations]

    def ranked_stages(self, name: str) -> list[StageRanking | None]:
        """Return for each row the stage that a metric means by `stage=name`, None where it was not reported."""
        if name not in self._ranked:
            self._ranked[name] = self._find_ranked(name)
        return self._ranked[name]

    def _find_ranked(self, name: str) -> list[StageRanking | None]:
        ranked_by_row = self.stages[name].ranked if name in self.stages else {}
        if len(ranked_by_row) == len(self.cases):
            return list(ranked_by_row.values())
        ranked_stages = [ranked_by_row.get(row) for row in range(len(self.cases))]
        for row, observation in enumerate(self.observations):
            if ranked_stages[row] is None:
                stage = find_stage(observation, name)
                ranked_stages[row] = self.stages[stage.name].ranked[row] if stage is not None else None
        return ranked_stages


Direction = Literal["higher", "lower", "neutral"]
SummaryStatistic = Literal["mean", "rate", "p50", "p95", "balanced", "total"]
"""The error code of a target that was asked for an answer and gave null."""


class MetricFacts(Protocol):
    """What one family of metrics keeps of each row."""

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order."""


F = TypeVar("F", bound=MetricFacts)
FactKey = tuple[type[Any], tuple[Any, ...]]


class Batch:
    """Rows that are scored together, with the facts that their metrics need."""

    def __init__(self, keys: Iterable[FactKey]) -> None:
        self.facts: dict[FactKey, MetricFacts] = {key: key[0](*key[1]) for key in dict.fromkeys(keys)}
        self.cases: list[CaseIndex] = []
        self.errors: list[str] = []

    def add_rows(self, rows: JoinedRows) -> None:
        """Take some rows, in order."""
        self.cases += rows.cases
        self.errors += rows.error_codes
        for facts in self.facts.values():
            facts.add(rows)

    def get_facts(self, kind: type[F], *arguments: Any) -> F:
        """Return the facts of a kind, gathered for these rows."""
        return cast("F", self.facts[kind, arguments])

    def __len__(self) -> int:
        return len(self.cases)

    @cached_property
    def target_failed(self) -> BoolArray:
        """Rows on which the target failed."""
        return np.array([bool(code) for code in self.errors], dtype=np.bool_)

    @cached_property
    def target_errors(self) -> list[Unscored]:
        """One error condition for each code with which the target failed."""
        return rows_with_target_error(self.errors)

    @cached_property
    def is_partial(self) -> BoolArray:
        """Rows of a golden set in which not every chunk was judged."""
        return np.array([case.partial for case in self.cases], dtype=np.bool_)

    @cached_property
    def behaviour_codes(self) -> tuple[IndexArray, IndexArray]:
        """The expected behaviour of each row as a number, and the accepted ones as a set of bits."""
        expected = np.array([case.expected_code for case in self.cases], dtype=np.int64)
        return expected, np.array([case.accepted_bits for case in self.cases], dtype=np.int64)


def _error_code(observation: Observation) -> str:
    if observation.error is not None:
        return observation.error.code
    return NULL_ANSWER if observation.answer is None else ""


class MetricKey(Struct, frozen=True):
    """One key that a metric name may carry: its default and its allowed values (none listed: any).

    `withdrawn`: values that are no longer allowed, each with the reason and what to use instead. `required`: there is
    no default; a list of metrics may leave the key out and means all values.
    """

    default: str
    values: tuple[str, ...] = ()
    doc: str = ""
    withdrawn: tuple[tuple[str, str], ...] = ()
    required: bool = False


def _need_nothing(_: MetricName) -> tuple[FactKey, ...]:
    return ()


class Metric(Struct, frozen=True):
    """One row of the catalogue: what the number is, and how it is made from a batch.

    `compute` is None for a metric of whole tables. `parts` are the metrics that a `balanced` statistic averages.
    `yields_to_leaks`: where the case leaked, a score becomes the worst of the range. `rubrics` are those that a judge
    is asked with. `uncalibrated` are the scorers whose numbers may inform but not gate until they, or those of every
    metric in `rests_on`, are calibrated against human labels (ADR 0031). `explain` describes how the score of one
    observation came about: that of the only row that it gets, which keeps what other metrics read of it.
    `least_difference`, in the unit of the metric, and `least_share` of the baseline's value are the smallest difference
    that matters in practice, whichever is larger: a comparison shows no smaller one (ADR 90). `counts_open`: it counts
    the answers that nothing tells of, and says nothing of how good they are. `is_sampled`: it is scored on a random
    sample of the cases to which it applies, so that a rule on it compares the bound unless it says otherwise.
    """

    name: str
    family: str
    summary: str
    source: str
    unit: str = "share"
    direction: Direction = "higher"
    low: float = 0.0
    high: float = 1.0
    cut: Literal["no", "optional", "required"] = "no"
    keys: Mapping[str, MetricKey] = field(default_factory=dict)
    scoring_class: Literal["deterministic", "judged"] = "deterministic"
    statistic: SummaryStatistic = "mean"
    undefined: str = ""
    needs: Callable[[MetricName], tuple[FactKey, ...]] = _need_nothing
    compute: Callable[[Batch, MetricName], ScoreColumn] | None = None
    parts: tuple[str, ...] = ()
    yields_to_leaks: bool = False
    rubrics: tuple[str, ...] = ()
    uncalibrated: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    explain: Callable[[JoinedRows, MetricName], str] | None = None
    least_difference: float = 0.0
    least_share: float = 0.0
    counts_open: bool = False
    is_sampled: bool = False

    def key_value(self, name: MetricName, key: str) -> str:
        """Return the value of one of this metric's keys in a name, or its default where the name omits it."""
        return name.key_value(key, self.keys[key].default)


_FUNCTION_FIELDS = frozenset(("needs", "compute", "explain"))


def describe_metric(metric: Metric) -> Metric:
    """Return a catalogue row without its functions: what numbers that were computed mean.

    A result keeps this, so that it can be pickled: most functions of the catalogue cannot.
    """
    fields = {name: getattr(metric, name) for name in Metric.__struct_fields__ if name not in _FUNCTION_FIELDS}
    return Metric(**fields)


Unscored = tuple[BoolArray, int, str]
MAX_MAGNITUDE = 1e100
"""The largest score: sums of squares of larger ones overflow."""
TOO_LARGE = f"beyond {MAX_MAGNITUDE:g}"


def make_score_column(name: MetricName, values: FloatArray, *unless: Unscored) -> ScoreColumn:
    """Make a column from values and the conditions under which a row has none.

    `unless` are (rows, status, reason), the first that applies wins. This is the one place where a value that is not
    finite is stopped: it is a defect of the metric, never a score. Raises ArithmeticError for one. A number beyond
    `MAX_MAGNITUDE`, which a target may report, is an error of its row.
    """
    status = np.full(len(values), SCORED, dtype=np.uint8)
    reason = np.zeros(len(values), dtype=np.uint16)
    reasons = [""]
    is_small = np.abs(values) <= MAX_MAGNITUDE  # False where a value is not a number
    has_others = np.count_nonzero(is_small) < len(values)
    too_large = [rows_with_error(np.isfinite(values) & ~is_small, TOO_LARGE)] if has_others else []
    is_scored = np.ones(len(values), dtype=np.bool_)
    for rows, status_code, reason_text in (*unless, *too_large):
        affected = rows & is_scored
        if np.count_nonzero(affected):
            if reason_text not in reasons:
                reasons.append(reason_text)
            status[affected] = status_code
            reason[affected] = reasons.index(reason_text)
            is_scored = status == SCORED
    clean = np.where(is_scored, values, 0.0)
    if has_others and not np.isfinite(clean).all():
        raise ArithmeticError(f"{name}: a scored value is not finite")
    return ScoreColumn(str(name), clean, status, reason, tuple(reasons))


def rows_not_applicable(rows: BoolArray | Sequence[bool], reason: str) -> Unscored:
    """Rows for which the metric is undefined."""
    return np.asarray(rows, dtype=np.bool_), NOT_APPLICABLE, reason


def rows_with_error(rows: BoolArray | Sequence[bool], reason: str) -> Unscored:
    """Rows that should have been measured and could not be."""
    return np.asarray(rows, dtype=np.bool_), ERROR, reason


def rows_with_target_error(codes: Sequence[str]) -> list[Unscored]:
    """Return one error condition for each code with which the target failed; the code of a good row is empty."""
    failed_codes = sorted(set(codes) - {""})
    code_of_row = np.asarray(codes)
    return [rows_with_error(code_of_row == code, f"target error: {code}") for code in failed_codes]


def find_row_fault(metric: Metric) -> str:
    """Return what is wrong with a catalogue row as such, or "". Types are not checked beyond those named."""
    if parse_metric_name(metric.name) != MetricName(metric.name):
        return f"not a name of a metric (got {metric.name!r}; expected lower-case letters, digits and _)"
    if not callable(metric.compute) or not callable(metric.needs):
        return "nothing to compute (expected functions as compute and needs)"
    if metric.direction not in get_args(Direction) or metric.statistic not in get_args(SummaryStatistic):
        return f"unknown direction or statistic (got {metric.direction!r} and {metric.statistic!r})"
    return "" if metric.low < metric.high else f"empty range (got {metric.low} to {metric.high}; expected low < high)"


def find_column_fault(column: object, metric: Metric, name: MetricName, row_count: int) -> str:
    """Return what is wrong with a computed column: type, name, length, or a scored value outside the range; or ""."""
    if not isinstance(column, ScoreColumn):
        return f"wrong type of column (got {type(column).__name__}; expected ScoreColumn)"
    if column.metric != str(name):
        return f"a column of another metric (got {column.metric!r}; expected {str(name)!r})"
    lengths = {len(column.values), len(column.status), len(column.reason)}
    if lengths != {row_count}:
        got = ", ".join(map(str, sorted(lengths)))
        return f"wrong length of column (got {got} values; expected {row_count}, one for each row)"
    scored = column.values[column.status == SCORED]
    if not np.isfinite(scored).all():
        return f"a score that is not a number (got {scored[~np.isfinite(scored)][0]}; expected a finite one)"
    outside = scored[(scored < metric.low) | (scored > metric.high)]
    if len(outside):
        return f"a score out of range (got {outside[0]:g}; expected {metric.low:g} to {metric.high:g})"
    return ""


# ── metrics of one observation at a time ──────────────────────────────────────────────────────────────────────────────

ScoreRow = Callable[[Case, Observation], "float | str"]
"""Returns the score of one observation, or the reason why the metric is not applicable to it."""


class RowScores:
    """What a function returned for each row; rows on which the target failed are not passed to it."""

    def __init__(self, score_row: ScoreRow) -> None:
        self.score_row = score_row
        self.values: list[float] = []
        self.reasons: list[str] = []
        self.failure = ""

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order. The first failure of the function is kept, and raised by `compute_row_scores`."""
        for case_index, observation in zip(rows.cases, rows.observations, strict=True):
            value, reason = 0.0, ""
            if not _error_code(observation) and not self.failure:
                value, reason = self._score(case_index.case, observation)
            self.values.append(value)
            self.reasons.append(reason)

    def _score(self, case: Case, observation: Observation) -> tuple[float, str]:
        try:
            score = self.score_row(case, observation)
        except Exception as error:  # noqa: BLE001  # reported with the metric's name once the block is computed
            self.failure = f"raised {type(error).__name__} on case {case.id}: {error}"
            return 0.0, ""
        if isinstance(score, str) and score:
            return 0.0, score
        if isinstance(score, (bool, int, float, np.number)) and math.isfinite(score):
            return float(score), ""
        expected = "a finite number, or the reason why the metric is not applicable"
        self.failure = f"wrong score on case {case.id} (got {shorten_repr(score)}; expected {expected})"
        return 0.0, ""


def define_row_metric(
    name: str,
    score_row: ScoreRow,
    summary: str,
    *,
    source: str = "",
    unit: str = "share",
    direction: Direction = "higher",
    low: float = 0.0,
    high: float = 1.0,
    family: str = "plugin",
    statistic: SummaryStatistic = "mean",
) -> Metric:
    """Return the catalogue row of a metric that scores one observation at a time, without keys or cut-off.

    A row on which the target failed, or gave null instead of an answer, is an error without a call of `score_row`.
    Scoring raises ValueError, naming the case, if `score_row` raises or returns neither a finite number nor a reason.
    """
    return Metric(
        name=name,
        family=family,
        summary=summary,
        source=source,
        unit=unit,
        direction=direction,
        low=low,
        high=high,
        statistic=statistic,
        needs=lambda _: ((RowScores, (score_row,)),),
        compute=lambda batch, metric_name: compute_row_scores(
            batch.get_facts(RowScores, score_row), batch, metric_name
        ),
    )


def compute_row_scores(facts: RowScores, batch: Batch, name: MetricName) -> ScoreColumn:
    """Return the scores of a function as a column. Raises ValueError for the first row on which it failed."""
    if facts.failure:
        raise ValueError(facts.failure)
    reasons = np.asarray(facts.reasons, dtype=object)
    unless = [rows_not_applicable(reasons == reason, reason) for reason in sorted(set(facts.reasons)) if reason]
    return make_score_column(name, np.array(facts.values, dtype=np.float64), *batch.target_errors, *unless)
