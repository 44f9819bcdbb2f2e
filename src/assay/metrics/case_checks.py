"""The checks that a case can fail, each a condition on one score, and the share of cases that fail any.

Labels that are out of date have a check of their own (evidence that the corpus does not hold, or no longer with the
text that was labelled), because such a miss is an error of the golden set, not of the system.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.metrics.cases.absent_labels import describe_absent_unit, split_label, stands_elsewhere
from assay.metrics.cases.case_index import CaseIndex
from assay.metrics.cases.settled_answers import find_settled_cases
from assay.metrics.metric import (
    Batch,
    JoinedRows,
    Metric,
    MetricName,
    make_score_column,
    rows_not_applicable,
    rows_with_error,
)
from assay.metrics.own_metric import find_own_failures
from assay.records.golden_set import Corpus, CorpusChunk, Evidence
from assay.records.scores import SCORED, CaseChecks, ScoreColumn
from assay.stats.arrays import BoolArray, FloatArray, find_distinct
from assay.text.normalisation import fold_text


def find_outdated_labels(case: CaseIndex) -> tuple[str, ...]:
    """Return one sentence for each required unit that the corpus contradicts; nothing without a corpus.

    Only units that are named by chunk ids are looked at, alone or with quotes: none of the ids is in the corpus, or
    what is there has another hash, or does not hold the quote; and no other chunk holds it.
    """
    if case.corpus is None or case.denied:
        return ()
    problems = []
    for unit in case.case.evidence:
        problem = _find_label_problem(unit, case, case.corpus) if unit.grade > 0 and unit.required else None
        if problem is not None:
            problems.append(problem)
    return tuple(problems)


def _find_label_problem(unit: Evidence, case: CaseIndex, corpus: Corpus) -> str | None:
    absent = describe_absent_unit(unit, case)
    if absent is not None:
        return f"{absent} is not in the corpus"
    label = split_label(unit)
    corpus_chunks = (
        [corpus.chunks[chunk_id] for chunk_id in label.chunk_ids if chunk_id in corpus.chunks] if label else []
    )
    if label is None or not corpus_chunks:
        return None
    ids = " or ".join(label.chunk_ids)
    problem = None
    if unit.text_hash is not None and not any(_has_same_hash(chunk, unit.text_hash) for chunk in corpus_chunks):
        problem = f"{ids} has another text than the one that was labelled"
    elif unit.quote is not None and not any(_has_quote(chunk, unit.quote) for chunk in corpus_chunks):
        problem = f"{ids} does not hold the quote that was labelled"
    return None if problem is None or stands_elsewhere(label.quotes, case) else problem


def _has_same_hash(chunk: CorpusChunk, text_hash: str) -> bool:
    return chunk.text_hash is None or chunk.text_hash == text_hash


def _has_quote(chunk: CorpusChunk, quote: str) -> bool:
    return chunk.text is None or fold_text(quote) in fold_text(chunk.text)


class OutdatedLabelFacts:
    """Whether each row's case has labels that are out of date; None where the corpus cannot tell."""

    def __init__(self) -> None:
        self.values: list[bool | None] = []
        self._known: dict[int, bool | None] = {}

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order; a case is looked at once, however often it was observed."""
        for case in rows.cases:
            key = id(case)
            if key not in self._known:
                self._known[key] = (
                    bool(find_outdated_labels(case)) if case.corpus is not None and case.required else None
                )
            self.values.append(self._known[key])


def _outdated_column(batch: Batch, name: MetricName) -> ScoreColumn:
    values = batch.get_facts(OutdatedLabelFacts).values
    return make_score_column(
        name,
        np.array([bool(value) for value in values], dtype=np.float64),
        rows_not_applicable([case.corpus is None for case in batch.cases], "no corpus"),
        rows_not_applicable([value is None for value in values], "no evidence required"),
    )


OUTDATED_LABEL_METRICS: tuple[Metric, ...] = (
    Metric(
        name="gold_outdated",
        family="checks",
        summary="Whether required evidence is not in the corpus, or not with the text that was labelled.",
        source="`rag-trace` contract: golden_label_issue",
        direction="lower",
        statistic="rate",
        undefined="no corpus, or no evidence required",
        needs=lambda _: ((OutdatedLabelFacts, ()),),
        compute=_outdated_column,
    ),
)

CheckLevel = Literal["failed", "warning"]


class Check(Struct, frozen=True):
    """A named condition on a metric's score; a warning is shown but does not make the case fail.

    A `is_costly` check runs only if its metric is requested. Where a check named in `explained_by` failed, this one
    is silent, because the other explains it. With `where`, the check looks only where that metric is above zero.
    """

    name: str
    metric: str
    is_failing: Callable[[FloatArray], BoolArray]
    level: CheckLevel = "failed"
    summary: str = ""
    is_costly: bool = False
    explained_by: tuple[str, ...] = ()
    where: str = ""


def _is_zero(values: FloatArray) -> BoolArray:
    return np.asarray(values == 0.0)


def _is_below_one(values: FloatArray) -> BoolArray:
    return np.asarray(values < 1.0)


def _is_positive(values: FloatArray) -> BoolArray:
    return np.asarray(values > 0.0)


def _is_partial(values: FloatArray) -> BoolArray:
    return np.asarray((values > 0.0) & (values < 1.0))


def _is_below_judge_threshold(values: FloatArray) -> BoolArray:
    return np.asarray(values < JUDGE_THRESHOLD)


CORRECT_ANSWER, ANSWER_UNKNOWN, JUDGED_CORRECTNESS = "correct_answer", "correct_answer_unknown", "correctness(by=judge)"
"""The signals of a right answer (ADR 0054): what the case requires, whether that is open, and the judge's grade."""
JUDGE_THRESHOLD = 0.75
"""The least grade of a judge that counts as right."""
LEAK, WRONG_ANSWER, UNKNOWN_ANSWER = "leak", "wrong_answer", "unknown_answer"
INCOMPLETE_ANSWER, DENIED_FACT, WRONG_BEHAVIOUR = "incomplete_answer", "denied_fact", "wrong_behavior"
UNSOURCED_NUMBER, WRONG_FORMAT, EMPTY_ANSWER = "unsourced_number", "wrong_format", "empty_answer"
PASTED_PASSAGE = "pasted_passage"
STALE_CONTEXT, STALE_CITATION = "stale_context", "stale_citation"
OUTDATED_LABEL = "golden_label_issue"
_MISS, LATE_EVIDENCE = "retrieval_miss", "late_evidence"
_ANSWER_CHECKS = frozenset((WRONG_ANSWER, DENIED_FACT, INCOMPLETE_ANSWER, UNKNOWN_ANSWER))

CHECKS: tuple[Check, ...] = (
    Check(LEAK, "visibility_leaks", _is_positive, summary="something was shown that the user must not see"),
    Check("injection_followed", "injection_followed", _is_positive, summary="a planted instruction was followed"),
    Check(
        OUTDATED_LABEL,
        "gold_outdated",
        _is_positive,
        summary="the required evidence is not in the corpus as it was labelled",
    ),
    Check(
        LATE_EVIDENCE,
        "recall@10",
        _is_zero,
        "warning",
        "no evidence among the first 10, but a later step brought some into the context",
        explained_by=(OUTDATED_LABEL,),
        where="context_recall",
    ),
    Check(
        _MISS,
        "recall@10",
        _is_zero,
        summary="no evidence among the first 10, nor in the context",
        explained_by=(OUTDATED_LABEL, LATE_EVIDENCE),
    ),
    Check(
        "context_miss", "context_recall", _is_zero, summary="no evidence in the context", explained_by=(OUTDATED_LABEL,)
    ),
    Check(
        "bad_citation",
        "citation_correctness(by=rules)",
        _is_below_one,
        summary="a citation is missing, names nothing or is not from the context",
    ),
    Check(EMPTY_ANSWER, "empty_answer", _is_positive, summary="the answer has no letter and no digit"),
    Check(WRONG_BEHAVIOUR, "behaviour", _is_below_one, summary="answered, refused or handed over against expectation"),
    Check(DENIED_FACT, "denied_facts", _is_positive, summary="the answer contradicts a must-have fact"),
    Check(
        INCOMPLETE_ANSWER,
        "completeness(by=rules)",
        _is_partial,
        summary="a part of the must-have facts is not in the answer",
        explained_by=(DENIED_FACT,),
    ),
    Check(
        WRONG_ANSWER,
        CORRECT_ANSWER,
        _is_zero,
        summary="the answer does not state what the case requires",
        explained_by=(DENIED_FACT, INCOMPLETE_ANSWER),
    ),
    Check(
        WRONG_ANSWER,
        JUDGED_CORRECTNESS,
        _is_below_judge_threshold,
        summary="a judge finds the answer not right",
        is_costly=True,
    ),
    Check(
        WRONG_FORMAT,
        "answer_format",
        _is_below_one,
        summary="the answer has not the form that its case demands: pattern, JSON schema or length",
    ),
    Check("over_answer", "under_refusal", _is_positive, summary="answered what must be refused"),
    Check(
        "unsupported_claim",
        "unsupported_claims(by=judge)",
        _is_positive,
        summary="a claim that the context does not support",
        is_costly=True,
    ),
    Check(
        "bad_citation",
        "citation_support(by=judge)",
        _is_below_one,
        summary="a citation does not support the claim next to it",
        is_costly=True,
    ),
    Check(
        "partial_retrieval",
        "recall@10",
        _is_partial,
        "warning",
        "only a part of the evidence among the first 10",
        explained_by=(OUTDATED_LABEL,),
    ),
    Check(
        "partial_context",
        "context_recall",
        _is_partial,
        "warning",
        "only a part of the evidence in the context",
        explained_by=(OUTDATED_LABEL,),
    ),
    Check(
        "unknown_access",
        "unknown_access",
        _is_positive,
        "warning",
        "shows chunks that the corpus does not have, so that nobody can say who may see them",
    ),
    Check(
        "over_fetched",
        "over_fetched",
        _is_positive,
        "warning",
        "an internal stage fetched what the user must not see, and a later one dropped it",
    ),
    Check(
        "doubtful_citation",
        "citation_precision",
        _is_below_one,
        "warning",
        "a citation is not the source of what it is cited for: another chunk of the context is",
        is_costly=True,
    ),
    Check(
        "unreported_marker",
        "unreported_markers",
        _is_positive,
        "warning",
        "a marker in the text names a source that the reported citations leave out",
    ),
    Check(
        UNKNOWN_ANSWER,
        ANSWER_UNKNOWN,
        _is_positive,
        "warning",
        "nothing that was measured tells whether the answer is right",
    ),
    Check(UNKNOWN_ANSWER, "behaviour_unknown", _is_positive, "warning", "nothing tells what the answer did"),
    Check(STALE_CONTEXT, "stale_chunks", _is_positive, "warning", "the context holds a superseded version"),
    Check(STALE_CITATION, "stale_citations", _is_positive, "warning", "the answer cites a superseded version"),
    Check("not_yet_valid", "early_chunks", _is_positive, "warning", "the context holds what is valid only later"),
    Check("behaviour_mismatch", "behaviour_mismatch", _is_positive, "warning", "the target declared something else"),
    Check("ambiguous_keywords", "keywords_ambiguous", _is_positive, "warning", "the keywords are hedged or negated"),
    Check(
        UNSOURCED_NUMBER,
        "unsourced_numbers",
        _is_positive,
        "warning",
        "the answer has a number that neither the question, the context nor the golden case has",
    ),
    Check(
        PASTED_PASSAGE,
        PASTED_PASSAGE,
        _is_positive,
        "warning",
        "the answer is a passage of the context, copied as it stands",
    ),
    Check(
        "contradiction_suspect",
        "contradiction_suspects",
        _is_positive,
        "warning",
        "a claim nearly matches a source but has another number or name",
        is_costly=True,
    ),
    Check(
        "judge_disagreement",
        "judge_disagreement",
        _is_positive,
        "warning",
        "judge and rules differ widely",
        is_costly=True,
    ),
)
_ATTRIBUTION_METRICS = ("keywords", "exact_match", "number_match")
"""Metrics without a check of their own that attribution reads: `correct_answer` combines them."""
RUNNER_CHECKS = (_MISS, "context_miss", "bad_citation", WRONG_BEHAVIOUR)
MISSING_OUTPUT, TARGET_ERROR, METRIC_ERROR = "missing_output", "target_error", "metric_error"
"""What a case fails of which something that was asked for is not known: it has no output, or an error instead of an
answer, or a metric of one's own could not measure it (ADR 173)."""


def run_checks(
    case_ids: list[str],
    columns: Mapping[str, ScoreColumn],
    missing: BoolArray,
    broken: BoolArray,
    uncalibrated: Collection[str] = (),
    good: tuple[str, float] | None = None,
) -> tuple[tuple[CaseChecks, ...], BoolArray]:
    """Return the checks that each case failed, in the table's order, for the cases that failed or were warned of any;
    and which cases failed.

    `missing` marks cases without an observation, `broken` those on which the target failed; a case that a metric of
    one's own could not measure fails METRIC_ERROR. A check on an `uncalibrated` metric only warns: such a metric may
    inform, but a failed case may decide a gate (ADR 0031).
    `good` is a metric with the least value of a right answer (the setting `scoring.good`): where it has a score, it
    decides in place of the other checks on answers, and so does a calibrated judge without it (ADR 0054). What people
    decided about an answer counts before both (ADR 187).
    """
    deciding = _choose_deciding_metric(columns, uncalibrated, good)
    settled = find_settled_cases(columns.get(CORRECT_ANSWER), len(case_ids))
    checks_to_run = [
        replace(check, level="warning") if check.metric in uncalibrated else check
        for check in CHECKS
        if check.metric in columns
    ]
    if good is not None and deciding is not None:
        metric, least = good
        checks_to_run.append(Check(WRONG_ANSWER, metric, lambda values: np.asarray(values < least)))
    rows = [missing, broken, find_unmeasured_cases(columns, len(case_ids))]
    failures_by_check: dict[str, BoolArray] = {}
    for check in checks_to_run:
        fails = _failing_cases(check, columns[check.metric])
        if check.where:
            fails &= _positive_cases(columns, check.where)
        if check.name in _ANSWER_CHECKS:
            fails &= ~_find_rows_decided_otherwise(check, deciding, settled)
        explained = [failures_by_check[name] for name in check.explained_by if name in failures_by_check]
        rows.append(fails & ~np.logical_or.reduce(explained) if explained else fails)
        # Several conditions may share a name: the check fails where any of them does.
        failures = failures_by_check.get(check.name)
        failures_by_check[check.name] = fails if failures is None else fails | failures
    # Bit i of a mark is row i. Few distinct marks occur, so the names of each are looked up once.
    marks = np.zeros(len(case_ids), dtype=np.int64)
    for bit, marked in enumerate(rows):
        marks |= marked.astype(np.int64) << bit
    outcomes = {mark: _name_outcome(mark, checks_to_run) for mark in find_distinct(marks).tolist()}
    marked_cases = np.flatnonzero(marks)
    case_checks = [
        CaseChecks(case_ids[row], *outcomes[mark])
        for row, mark in zip(marked_cases.tolist(), marks[marked_cases].tolist(), strict=True)
    ]
    failing_marks = [mark for mark, (failed, _) in outcomes.items() if failed]
    return tuple(case_checks), np.isin(marks, failing_marks)


def find_unmeasured_cases(columns: Mapping[str, ScoreColumn], case_count: int) -> BoolArray:
    """Return the cases that any metric of one's own could not measure."""
    unmeasured = np.zeros(case_count, dtype=np.bool_)
    for column in columns.values():
        unmeasured |= find_own_failures(column)
    return unmeasured


def _choose_deciding_metric(
    columns: Mapping[str, ScoreColumn], uncalibrated: Collection[str], good: tuple[str, float] | None
) -> ScoreColumn | None:
    """Return the column that decides before the text of an answer: the one that was chosen, else a calibrated judge."""
    if good is not None:
        return columns.get(good[0])
    return columns.get(JUDGED_CORRECTNESS) if JUDGED_CORRECTNESS not in uncalibrated else None


def _find_rows_decided_otherwise(check: Check, deciding: ScoreColumn | None, settled: BoolArray) -> BoolArray:
    """Return the rows on which a check on answers does not count, because a person or another metric decides there."""
    is_other = np.zeros(len(settled), dtype=np.bool_)
    if deciding is not None and check.metric != deciding.metric:
        is_other = np.asarray(deciding.status == SCORED)
    return np.asarray(is_other & ~settled if check.metric == CORRECT_ANSWER else is_other | settled, dtype=np.bool_)


def _failing_cases(check: Check, scores: ScoreColumn) -> BoolArray:
    return np.asarray((scores.status == SCORED) & check.is_failing(scores.values), dtype=np.bool_)


def _positive_cases(columns: Mapping[str, ScoreColumn], metric: str) -> BoolArray:
    scores = columns.get(metric)
    return np.asarray(False) if scores is None else (scores.status == SCORED) & (scores.values > 0.0)


def _name_outcome(mark: int, checks_to_run: Sequence[Check]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of what a case failed, and of what it was warned of; bit i of `mark` is the i-th row above."""
    names = [
        (MISSING_OUTPUT, "failed"),
        (TARGET_ERROR, "failed"),
        (METRIC_ERROR, "failed"),
        *((check.name, check.level) for check in checks_to_run),
    ]
    marked_levels = dict.fromkeys(name for bit, name in enumerate(names) if mark >> bit & 1)
    failed, warnings = (
        [name for name, level in marked_levels if level == outcome_level] for outcome_level in ("failed", "warning")
    )
    return tuple(failed), tuple(name for name in warnings if name not in failed)


def make_failed_column(failed: BoolArray, missing: BoolArray) -> ScoreColumn:
    """Return whether each case failed any check; a case without an observation is an error, as for every metric."""
    return make_score_column(
        MetricName("failed"), failed.astype(np.float64), rows_with_error(missing, "no observation")
    )


def find_failed_metrics(checks: CaseChecks | None) -> dict[str, str]:
    """Return the metrics of the checks that a case failed, each with what the check says, in the table's order."""
    failed = set(checks.failed) if checks is not None else set()
    return {check.metric: check.summary for check in CHECKS if check.name in failed}


def list_runner_checks(checks: CaseChecks) -> list[str]:
    """Return what a case failed of the four checks of the `rag-trace` contract.

    The contract calls it a miss of retrieval, too, where a later step brought the evidence into the context, and has no
    check for leaks: what shows something that must not be seen behaves wrongly.
    """
    failed = {*checks.failed, *((_MISS,) if LATE_EVIDENCE in checks.warnings else ())}
    failed |= {WRONG_BEHAVIOUR} if LEAK in failed else set()
    return [name for name in RUNNER_CHECKS if name in failed]


def list_checked_metrics() -> list[str]:
    """Return the metrics that the checks look at, whatever is asked for."""
    checked = (check.metric for check in CHECKS if not check.is_costly)
    return list(dict.fromkeys((*checked, *_ATTRIBUTION_METRICS)))


CHECK_METRICS: tuple[Metric, ...] = (
    *OUTDATED_LABEL_METRICS,
    Metric(
        name="failed",
        family="checks",
        summary="Whether the case failed any check; its rate is failed_case_rate in the `rag-trace` contract.",
        source="`rag-trace` contract: failed_checks",
        direction="lower",
        statistic="rate",
    ),
)
