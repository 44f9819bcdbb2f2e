"""The metric record, and the batch it works on: cases and observations joined once, in columns.

A row of a batch is one observation of one case. Each family of metrics states the facts it needs; facts take some rows
at a time, keep a few dozen bytes of each, and become arrays when the block is full. A metric turns facts into a
`ScoreColumn`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from assay.graders.joins import CaseIndex, Joins
from assay.graders.names import MetricName
from assay.graders.rows import Rows
from assay.model import ERROR, NOT_APPLICABLE, SCORED, Observation, ScoreColumn

__all__ = ["Batch", "Bools", "CaseIndex", "FactKey", "Facts", "Floats", "Grader", "Ints", "Joins", "Key", "Verdict",
           "column", "error", "not_applicable"]  # fmt: skip

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Direction = Literal["higher", "lower", "neutral"]
Statistic = Literal["mean", "rate", "p50", "p95", "balanced", "total"]


NULL_ANSWER = "null_answer"
"""The error code of a target that was asked for an answer and gave null."""


class Facts(Protocol):
    """What one family of metrics keeps of each row."""

    def add(self, rows: Rows) -> None:
        """Take some rows, in order."""


F = TypeVar("F", bound=Facts)
FactKey = tuple[type[Any], tuple[Any, ...]]


class Batch:
    """Rows that are scored together, with the facts that their metrics need."""

    def __init__(self, keys: Iterable[FactKey]) -> None:
        self.facts: dict[FactKey, Facts] = {key: key[0](*key[1]) for key in dict.fromkeys(keys)}
        self.cases: list[CaseIndex] = []
        self.errors: list[str] = []

    def add(self, rows: Rows) -> None:
        """Take some rows, in order."""
        self.cases += rows.cases
        self.errors += map(_error_code, rows.observations)
        for facts in self.facts.values():
            facts.add(rows)

    def of(self, kind: type[F], *arguments: Any) -> F:
        """Return the facts of a kind, gathered for these rows."""
        return cast(F, self.facts[kind, arguments])

    def __len__(self) -> int:
        return len(self.cases)

    @cached_property
    def broken(self) -> Bools:
        """Rows on which the target failed."""
        return np.array([bool(code) for code in self.errors], dtype=np.bool_)

    @cached_property
    def target_errors(self) -> list[Verdict]:
        """One error condition for each code with which the target failed."""
        if not self.broken.any():
            return []
        codes = np.asarray(self.errors)
        return [error(codes == code, f"target error: {code}") for code in sorted(set(self.errors)) if code]

    @cached_property
    def denied(self) -> Bools:
        """Rows whose evidence is forbidden to the user."""
        return np.array([case.denied for case in self.cases], dtype=np.bool_)

    @cached_property
    def partial(self) -> Bools:
        """Rows of a golden set in which not every chunk was judged."""
        return np.array([case.partial for case in self.cases], dtype=np.bool_)

    @cached_property
    def behaviours(self) -> tuple[Ints, Ints]:
        """The expected behaviour of each row as a number, and the accepted ones as a set of bits."""
        expected = np.array([case.expected_code for case in self.cases], dtype=np.int64)
        return expected, np.array([case.accepted_bits for case in self.cases], dtype=np.int64)


def _error_code(observation: Observation) -> str:
    if observation.error is not None:
        return observation.error.code
    return NULL_ANSWER if observation.answer is None else ""


@dataclass(frozen=True, slots=True)
class Key:
    """One key that a metric name may carry: its default and its allowed values (none listed: any)."""

    default: str
    values: tuple[str, ...] = ()
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Grader:
    """One row of the catalogue: what the number is, and how it is made from a batch.

    `compute` is None for a metric of whole tables. `parts` are the metrics that a `balanced` statistic averages.
    `yields_to_leaks`: where the case leaked, a score becomes the worst of the range. `rubrics` are those that a judge
    is asked with. `uncalibrated` are the scorers whose numbers may inform but not gate until they, or those of every
    metric in `rests_on`, are calibrated against human labels (ADR 0031). `explain` describes how the score of one
    observation came about.
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
    keys: Mapping[str, Key] = field(default_factory=dict)
    instrument: Literal["deterministic", "judged"] = "deterministic"
    statistic: Statistic = "mean"
    undefined: str = ""
    needs: Callable[[MetricName], tuple[FactKey, ...]] = lambda _: ()
    compute: Callable[[Batch, MetricName], ScoreColumn] | None = None
    parts: tuple[str, ...] = ()
    yields_to_leaks: bool = False
    rubrics: tuple[str, ...] = ()
    uncalibrated: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    explain: Callable[[CaseIndex, Observation, MetricName], str] | None = None

    def key(self, name: MetricName, key: str) -> str:
        """Return the value of one of this metric's keys in a name, or its default where the name omits it."""
        return name.key(key, self.keys[key].default)


Verdict = tuple[Bools, int, str]


def column(name: MetricName, values: Floats, *unless: Verdict) -> ScoreColumn:
    """Make a column from values and the conditions under which a row has none.

    `unless` are (rows, status, reason), the first that applies wins. This is the one place where a value that is not
    finite is stopped: it is a defect of the metric, never a score. Raises ArithmeticError for one.
    """
    status = np.full(len(values), SCORED, dtype=np.uint8)
    reason = np.zeros(len(values), dtype=np.uint16)
    reasons = [""]
    for rows, status_code, reason_text in unless:
        affected = rows & (status == SCORED)
        if affected.any():
            if reason_text not in reasons:
                reasons.append(reason_text)
            status[affected] = status_code
            reason[affected] = reasons.index(reason_text)
    clean = np.where(status == SCORED, values, 0.0)
    if not np.isfinite(clean).all():
        raise ArithmeticError(f"{name}: a scored value is not finite")
    return ScoreColumn(str(name), clean, status, reason, tuple(reasons))


def not_applicable(rows: Bools | Sequence[bool], reason: str) -> Verdict:
    """Rows for which the metric is undefined."""
    return np.asarray(rows, dtype=np.bool_), NOT_APPLICABLE, reason


def error(rows: Bools | Sequence[bool], reason: str) -> Verdict:
    """Rows that should have been measured and could not be."""
    return np.asarray(rows, dtype=np.bool_), ERROR, reason
