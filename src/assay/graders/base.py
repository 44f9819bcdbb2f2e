"""The grader row, and the batch it works on: cases and observations joined once, in columns.

A row of a batch is one observation of one case. Each family of graders states the facts it needs; facts take one row at
a time, keep a few dozen bytes of it, and become arrays when the block is full. A grader turns facts into a `ScoreColumn`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from assay.graders.evidence import EvidenceIndex, evidence_units
from assay.graders.names import MetricName
from assay.model import (
    ERROR,
    NOT_APPLICABLE,
    SCORED,
    Case,
    Corpus,
    GoldenSet,
    Observation,
    ScoreColumn,
)

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Direction = Literal["higher", "lower", "neutral"]
Statistic = Literal["mean", "rate", "p50", "p95", "balanced", "total"]


class CaseIndex:
    """One golden case with its look-ups, made once and shared by every observation of it."""

    def __init__(self, case: Case, golden: GoldenSet, corpus: Corpus | None) -> None:
        self.case = case
        self.corpus = corpus
        self.partial = golden.judgments == "partial"
        self.as_of = (case.user.as_of if case.user else None) or golden.as_of
        self.denied = case.behaviour == "permission_denied"
        self._searched = () if self.denied else case.evidence
        self.evidence = EvidenceIndex(evidence_units(self._searched), corpus)
        self._levels: dict[int | None, int] = {}

    @cached_property
    def forbidden(self) -> EvidenceIndex:
        """Chunks that must not be seen: the case's forbidden ones, and its evidence where permission is denied."""
        listed = [(unit.any_of, 1) for unit in self.case.evidence] if self.denied else []
        return EvidenceIndex([*listed, *(((selector,), 1) for selector in self.case.forbidden)], self.corpus)

    def level(self, rel: int | None) -> int:
        """Return the mask of the units that count: the required ones, or those of at least grade `rel`."""
        if rel not in self._levels:
            graded = [unit for unit in self._searched if unit.grade > 0]
            chosen = [unit.required if rel is None else unit.grade >= rel for unit in graded]
            self._levels[rel] = sum(1 << place for place, yes in enumerate(chosen) if yes)
        return self._levels[rel]

    @cached_property
    def ideal(self) -> list[int]:
        """The units' grades, falling."""
        return sorted(self.evidence.grades, reverse=True)


class Facts(Protocol):
    """What one family of graders keeps of each row."""

    def add(self, case: CaseIndex, observation: Observation) -> None:
        """Take one row."""


F = TypeVar("F", bound=Facts)
FactKey = tuple[type[Any], tuple[Any, ...]]


@dataclass(slots=True)
class Batch:
    """Rows that are scored together; `errors` holds the target's error code of each row, "" where there was none."""

    facts: dict[FactKey, Facts]
    cases: list[CaseIndex] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @classmethod
    def needing(cls, keys: Iterable[FactKey]) -> Batch:
        """Return an empty batch that will gather the facts named by `keys`."""
        return cls({key: key[0](*key[1]) for key in dict.fromkeys(keys)})

    def add(self, case: CaseIndex, observation: Observation) -> None:
        """Take one observation."""
        self.cases.append(case)
        self.errors.append(observation.error.code if observation.error is not None else "")
        for facts in self.facts.values():
            facts.add(case, observation)

    def of(self, kind: type[F], *arguments: Any) -> F:
        """Return the facts of a kind, gathered for these rows."""
        return cast(F, self.facts[kind, arguments])

    def __len__(self) -> int:
        return len(self.cases)


@dataclass(frozen=True, slots=True)
class Key:
    """One key that a metric name may carry: its default and its allowed values (none listed: any)."""

    default: str
    values: tuple[str, ...] = ()
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Grader:
    """One row of the catalogue: what the number is, and how it is made from a batch.

    `compute` is None for a metric that only recorded verdicts can measure. `parts` are the metrics that a `balanced`
    statistic is the mean of.
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
    needs: Callable[[MetricName], tuple[FactKey, ...]] = lambda name: ()
    compute: Callable[[Batch, MetricName], ScoreColumn] | None = None
    parts: tuple[str, ...] = ()

    def key(self, name: MetricName, key: str) -> str:
        """Return the value of one of this grader's keys in a name, its default where the name leaves it out."""
        return name.key(key, self.keys[key].default)


Verdict = tuple[Bools, int, str]


def column(name: MetricName, values: Floats, *unless: Verdict) -> ScoreColumn:
    """Make a column from values and the conditions under which a row has none.

    `unless` are (rows, status, reason), the first that applies wins. This is the one place where a value that is not
    finite is stopped: it is a defect of the grader, never a score.
    """
    status = np.full(len(values), SCORED, dtype=np.uint8)
    reason = np.zeros(len(values), dtype=np.uint8)
    reasons = [""]
    for rows, state, why in unless:
        chosen = rows & (status == SCORED)
        if chosen.any():
            if why not in reasons:
                reasons.append(why)
            status[chosen] = state
            reason[chosen] = reasons.index(why)
    clean = np.where(status == SCORED, values, 0.0)
    if not np.isfinite(clean).all():
        raise ArithmeticError(f"{name}: a scored value is not finite")
    return ScoreColumn(str(name), clean, status, reason, tuple(reasons))


def not_applicable(rows: Bools | Sequence[bool], reason: str) -> Verdict:
    """Rows for which the metric has no meaning."""
    return np.asarray(rows, dtype=np.bool_), NOT_APPLICABLE, reason


def error(rows: Bools | Sequence[bool], reason: str) -> Verdict:
    """Rows that should have been measured and could not be."""
    return np.asarray(rows, dtype=np.bool_), ERROR, reason


def target_errors(batch: Batch) -> list[Verdict]:
    """Return one error condition for each code with which the target failed."""
    codes = np.asarray(batch.errors)
    return [error(codes == code, f"target error: {code}") for code in sorted(set(batch.errors)) if code]
