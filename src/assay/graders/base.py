"""The grader row, and the batch it works on: cases and observations joined once, in columns.

A row of a batch is one observation of one case. Each family of graders states the facts it needs; facts take some rows
at a time, keep a few dozen bytes of each, and become arrays when the block is full. A grader turns facts into a
`ScoreColumn`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from assay.graders.access import Superseded
from assay.graders.evidence import EvidenceIndex
from assay.graders.names import MetricName
from assay.graders.rows import Rows
from assay.model import (
    BEHAVIOURS,
    ERROR,
    NOT_APPLICABLE,
    SCORED,
    Case,
    Chunk,
    Corpus,
    Evidence,
    GoldenSet,
    Observation,
    ScoreColumn,
)

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Direction = Literal["higher", "lower", "neutral"]
Statistic = Literal["mean", "rate", "p50", "p95", "balanced", "total"]


NULL_ANSWER = "null_answer"
"""The error code of a target that was asked for an answer and gave null."""


class Joins:
    """A golden set with its corpus, and the look-ups that cases share; each case is indexed when first observed."""

    def __init__(self, golden: GoldenSet, corpus: Corpus | None = None) -> None:
        self.golden, self.corpus = golden, corpus
        self.position = {case.id: place for place, case in enumerate(golden.cases)}
        self._indexed: dict[int, CaseIndex] = {}
        self._superseded: dict[str | None, Superseded] = {}

    def case(self, place: int) -> CaseIndex:
        """Return the case at a place of the golden set with its look-ups."""
        found = self._indexed.get(place)
        if found is None:
            found = self._indexed[place] = CaseIndex(self.golden.cases[place], self)
        return found

    def superseded(self, as_of: str | None) -> Superseded | None:
        """Return which chunks are of a replaced version at a date; None without a corpus."""
        if self.corpus is None:
            return None
        if as_of not in self._superseded:
            self._superseded[as_of] = Superseded(self.corpus, as_of)
        return self._superseded[as_of]


class CaseIndex:
    """One golden case with its look-ups, made once and shared by every observation of it."""

    __slots__ = (
        "__dict__",  # for what only few cases need
        "accepted_bits",
        "as_of",
        "case",
        "corpus",
        "denied",
        "evidence",
        "expected_code",
        "guarded",
        "ideal",
        "joins",
        "partial",
        "required",
        "restricted",
        "states_text",
    )

    def __init__(self, case: Case, joins: Joins) -> None:
        self.case = case
        self.joins = joins
        self.corpus = joins.corpus
        self.partial = joins.golden.judgments == "partial"
        self.as_of = (case.user.as_of if case.user else None) or joins.golden.as_of
        self.denied = case.behaviour == "permission_denied"
        self.restricted = self.denied or bool(case.forbidden)
        self.guarded = self.restricted or bool(case.forbidden_text)
        self.expected_code = BEHAVIOURS.index(case.behaviour)
        self.accepted_bits = sum(1 << BEHAVIOURS.index(each) for each in {case.behaviour, *case.also_accept})
        self.states_text = case.rubric is not None or bool(case.must_have)
        searched = () if self.denied else case.evidence
        self.evidence = EvidenceIndex([(unit.any_of, unit.grade) for unit in searched], self.corpus)
        self.ideal: list[int] = sorted(self.evidence.grades, reverse=True)
        self.required = self._mask_of(lambda unit: unit.required)

    @cached_property
    def may_see(self) -> dict[str, bool]:
        """What was found out about chunks of the corpus and this asker."""
        return {}

    @cached_property
    def forbidden(self) -> EvidenceIndex:
        """Chunks that must not be seen: the case's forbidden ones, and its evidence where permission is denied."""
        listed = [(unit.any_of, 1) for unit in self.case.evidence] if self.denied else []
        return EvidenceIndex([*listed, *(((selector,), 1) for selector in self.case.forbidden)], self.corpus)

    @cached_property
    def forbidden_texts(self) -> tuple[str, ...]:
        """The texts of the forbidden chunks, as far as the corpus or a quote gives them."""
        texts = [unit.quote for unit in self.case.evidence if self.denied and unit.quote]
        if self.corpus is not None:
            known = self.corpus.chunks
            ids = self.forbidden.by_id if self.forbidden.by_id_alone else known
            chunks = [known[each] for each in ids if each in known]
            masks = self.forbidden.masks([Chunk(chunk.chunk_id) for chunk in chunks])
            texts += [chunk.text for chunk, mask in zip(chunks, masks, strict=True) if mask and chunk.text]
        return tuple(texts)

    def level(self, rel: int) -> int:
        """Return the mask of the units of at least grade `rel`."""
        return self._mask_of(lambda unit: unit.grade >= rel)

    def _mask_of(self, counts: Callable[[Evidence], bool]) -> int:
        mask, bit = 0, 1
        for unit in () if self.denied else self.case.evidence:
            if unit.grade > 0:
                mask |= bit if counts(unit) else 0
                bit <<= 1
        return mask


class Facts(Protocol):
    """What one family of graders keeps of each row."""

    def add(self, rows: Rows) -> None:
        """Take some rows, in order."""


F = TypeVar("F", bound=Facts)
FactKey = tuple[type[Any], tuple[Any, ...]]


class Batch:
    """Rows that are scored together, with the facts that their graders need."""

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
        """Rows whose evidence is forbidden to the asker."""
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

    `compute` is None for a metric that only recorded verdicts can measure. `parts` are the metrics that a `balanced`
    statistic is the mean of. `yields_to_leaks`: where the case leaked, a score becomes the worst of the range.
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
    reason = np.zeros(len(values), dtype=np.uint16)
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
