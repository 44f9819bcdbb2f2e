"""Scores production answers with the metrics of the catalogue, a block at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from msgspec import structs

from assay.audit.incident import rebuild_observation
from assay.audit.load_answers import TimedAnswer
from assay.audit.versioned_corpora import NO_CORPORA, VersionedCorpora
from assay.metrics.cases.case_index import CaseIndex, GoldenIndex
from assay.metrics.catalog import find_metric, parse_metric
from assay.metrics.judged.judge_requests import RecordedVerdicts
from assay.metrics.leaks.find_leaks import IN_ANSWER, find_leaks
from assay.metrics.metric import MAX_MAGNITUDE, Batch, JoinedRows
from assay.records.audit_records import AuditRecord
from assay.records.counts import format_count
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import CONTEXT_STAGE, Observation, find_stage
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED, ScoreColumn
from assay.records.unforeseen import describe_unforeseen
from assay.scoring.score_tables import MetricPlan, score_batch, set_leaked_to_worst
from assay.stats.arrays import BoolArray, FloatArray
from assay.trends.golden_labels import find_label, find_limits
from assay.trends.monitor_measures import LEAKS, NEEDS_LABEL, NO_NEAR_CASE, RECORD_READERS, STALE, Measure
from assay.trends.near_golden import GoldenQuestions

ROWS_JOINED = 64
NO_GOLDEN = "no golden set was given"
NO_CORPUS = "no corpus that says who may see what: --corpus"
NO_RIGHTS = (
    "their records name no tenant or roles of the user: member user of a JSON line, attributes assay.user.tenant and "
    "assay.user.roles of a trace"
)
UNKNOWN_PREFIX = "unknown: "
"""How the reason begins for which an answer has no value that it should have: the rules cannot tell it."""
IN_ERROR = "in error: "
"""What stands before the reason for which an answer has no value although the metric applies to it."""
_NO_ANSWER = ("target error", "the answer is null")
"""Reasons of an error that mean that there is no answer to score."""


class AnswerScores(NamedTuple):
    """The values of some answers by measure, shape (answers,), NaN where there is none, and why there is none.

    `unscored` are the answers that should have a value and have none, such as those without a verdict, `unknown` those
    of which the rules cannot tell the value. `reasons` has for each measure how many answers have
    no value for each reason. `leaks` are the rows that leaked, `unsearched` those in which nothing tells what their
    user must not see, with what is missing.
    """

    answers: int
    values: dict[str, FloatArray]
    unscored: dict[str, BoolArray]
    unknown: dict[str, BoolArray]
    reasons: dict[str, dict[str, int]]
    leaks: tuple[int, ...]
    unsearched: dict[int, str]
    failures: tuple[str, ...]


class AnswerScorer:
    """Scores answers by some measures, with the corpus, the golden set and the verdicts that there are."""

    def __init__(
        self,
        measures: Sequence[Measure],
        corpora: VersionedCorpora = NO_CORPORA,
        golden: GoldenQuestions | None = None,
        judging: RecordedVerdicts | None = None,
    ) -> None:
        self._measures, self._golden, self._corpora = measures, golden, corpora
        whole = golden.golden if golden is not None else GoldenSet(())
        self._indexes: dict[str | None, GoldenIndex] = {}
        # Words are weighed by the corpus of now for all answers: a judge was asked about the sample with one corpus.
        words = GoldenIndex(GoldenSet(()), corpora.current, judging, whole)
        for version, corpus in ((None, corpora.present), *corpora.by_version.items()):
            index = self._indexes[version] = GoldenIndex(GoldenSet(()), corpus, judging, whole)
            index.idf = words.idf
        self._limits = {version: find_limits(index.corpus) for version, index in self._indexes.items()}
        names = [parse_metric(text) for text in dict.fromkeys([LEAKS, *(m.column for m in measures if m.column)])]
        facts = dict.fromkeys(key for name in names for key in find_metric(name).needs(name))
        self._plan = MetricPlan(tuple(names), tuple(names), tuple(names), tuple(facts))

    def score(self, answers: Sequence[TimedAnswer]) -> AnswerScores:
        """Return the scores of answers in time order."""
        parts = []
        for day, rows in groupby(answers, key=lambda answer: answer.record.at[:10]):
            records = [answer.record for answer in rows]
            parts.append(self._score_day(records, day))
        return _join_parts(parts, self._measures)

    def describe_leaks(self, record: AuditRecord) -> list[str]:
        """Return the names of what an answer leaked, with who may see it and where it was shown; never a text."""
        case, observation = self._join([record], record.at[:10])[0]
        leaks = find_leaks(case, observation)
        places: dict[str, list[str]] = {}
        for location, names in leaks.ids.items():
            for name in names:
                places.setdefault(name, []).append(location)
        chunks = case.corpus.chunks if case.corpus is not None else {}
        items = []
        for name, locations in places.items():
            chunk = chunks.get(name)
            rights = _describe_rights(chunk.tenant, chunk.roles) if chunk is not None else ""
            items.append(f"{name} ({'; '.join(filter(None, (rights, ', '.join(locations))))})")
        if leaks.text:
            items.append(f"words or facts of {format_count(len(leaks.text), 'restricted text')} ({IN_ANSWER})")
        return items

    def build_case(self, record: AuditRecord, day: str) -> Case:
        """Return what is expected of an answer: that of the golden case that asks the same, if there is one."""
        user = None if record.user is None else structs.replace(record.user, as_of=day)
        case, _ = self._find_label(record)
        if case is None:
            return Case(id=record.id, question=record.question or "", user=user)
        return structs.replace(case, id=record.id, question=record.question or "", user=user)

    def _find_label(self, record: AuditRecord) -> tuple[Case | None, str]:
        """Return the golden case that asks the same on behalf of such a user, else None and why there is none."""
        limits = self._limits[self._corpora.find_version(record)]
        return find_label(self._golden, record.question, record.user, limits)

    def _join(self, records: Sequence[AuditRecord], day: str) -> list[tuple[CaseIndex, Observation]]:
        cases = tuple(self.build_case(record, day) for record in records)
        golden = GoldenSet(cases, as_of=day)
        versions = [self._corpora.find_version(record) for record in records]
        indexes = {version: self._indexes[version].replace_cases(golden) for version in dict.fromkeys(versions)}
        return [
            (indexes[version].case_index(row), rebuild_observation(record)[0])
            for row, (record, version) in enumerate(zip(records, versions, strict=True))
        ]

    def _score_day(self, records: Sequence[AuditRecord], day: str) -> AnswerScores:
        try:
            return self._score_rows(records, day)
        except Exception as error:  # noqa: BLE001  # one hostile record must not hide all others
            if len(records) == 1:
                return self._leave_out(records[0], describe_unforeseen(error))
            half = len(records) // 2
            parts = [self._score_day(records[:half], day), self._score_day(records[half:], day)]
            return _join_parts(parts, self._measures)

    def _leave_out(self, record: AuditRecord, failure: str) -> AnswerScores:
        nothing = {measure.name: np.full(1, np.nan) for measure in self._measures}
        unscored = {measure.name: np.ones(1, dtype=np.bool_) for measure in self._measures}
        known = {measure.name: np.zeros(1, dtype=np.bool_) for measure in self._measures}
        reasons = {measure.name: {f"met a bug: {failure}": 1} for measure in self._measures}
        return AnswerScores(1, nothing, unscored, known, reasons, (), {0: "met a bug"}, (f"{record.id}: {failure}",))

    def _score_rows(self, records: Sequence[AuditRecord], day: str) -> AnswerScores:
        joined = self._join(records, day)
        batch = Batch(self._plan.facts)
        for start in range(0, len(joined), ROWS_JOINED):
            rows = joined[start : start + ROWS_JOINED]
            batch.add_rows(JoinedRows([case for case, _ in rows], [observation for _, observation in rows]))
        columns = set_leaked_to_worst(score_batch(self._plan, batch))
        leaks = columns[LEAKS]
        leaking = np.flatnonzero((leaks.status == SCORED) & (leaks.values > 0))
        unsearched = {
            row: self._explain_unsearched(records[row], leaks.reasons[leaks.reason[row]])
            for row in np.flatnonzero(leaks.status != SCORED).tolist()
        }
        scores = AnswerScores(len(records), {}, {}, {}, {}, tuple(leaking.tolist()), unsearched, ())
        unlabelled = [self._find_label(record)[1] for record in records]
        every = [""] * len(records)
        for measure in self._measures:
            if not measure.column:
                self._read_records(scores, measure, records, joined)
            else:
                why_not = unlabelled if measure.name in NEEDS_LABEL else every
                column = columns[measure.column]
                if measure.name == STALE:
                    column = _count_undated(column, self._find_undated(records, joined))
                _read_column(scores, measure, column, why_not)
        return scores

    def _find_undated(
        self, records: Sequence[AuditRecord], joined: Sequence[tuple[CaseIndex, Observation]]
    ) -> list[bool]:
        """Return for each answer whether the corpus dates chunks, and none of its context, of which it knows all."""
        undated = []
        for record, (case, observation) in zip(records, joined, strict=True):
            limits = self._limits[self._corpora.find_version(record)]
            undated.append(limits is not None and limits.days and _is_undated(case, observation))
        return undated

    def _explain_unsearched(self, record: AuditRecord, reason: str) -> str:
        """Return what an answer lacks to be searched for leaks: a corpus, its user's rights, or what `reason` says."""
        if reason.startswith(_NO_ANSWER):
            return reason
        has_corpus = self._indexes[self._corpora.find_version(record)].corpus is not None
        if record.user is None:
            return NO_RIGHTS if has_corpus else f"{NO_CORPUS}, and {NO_RIGHTS}"
        return reason if has_corpus else NO_CORPUS

    def _read_records(
        self,
        scores: AnswerScores,
        measure: Measure,
        records: Sequence[AuditRecord],
        joined: Sequence[tuple[CaseIndex, Observation]],
    ) -> None:
        if measure.name == NO_NEAR_CASE:
            why = NO_GOLDEN if self._golden is None else "no question was recorded"
            numbers = [self._lacks_near_case(record) for record in records]
        else:
            read, why = RECORD_READERS[measure.name]
            numbers = [read(record, pair[1]) for record, pair in zip(records, joined, strict=True)]
        numbers = [None if number is not None and abs(number) > MAX_MAGNITUDE else number for number in numbers]
        missing = sum(number is None for number in numbers)
        column = np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)
        scores.values[measure.name] = column
        scores.unscored[measure.name] = np.zeros(len(records), dtype=np.bool_)
        scores.unknown[measure.name] = np.zeros(len(records), dtype=np.bool_)
        scores.reasons[measure.name] = {why: missing} if missing else {}

    def _lacks_near_case(self, record: AuditRecord) -> float | None:
        if self._golden is None or not record.question:
            return None
        return float(not self._golden.has_near_case(record.question))


def _describe_rights(tenant: str | None, roles: Collection[str]) -> str:
    """Return a tenant and roles in words; "" without either.

    >>> _describe_rights("north", ("hr", "board")), _describe_rights(None, ())
    ('tenant north, roles hr, board', '')
    """
    named = [f"tenant {tenant}"] if tenant is not None else []
    named += [f"{'role' if len(roles) == 1 else 'roles'} {', '.join(roles)}"] if roles else []
    return ", ".join(named)


def describe_asker(record: AuditRecord) -> str:
    """Return what is known of the rights of who asked, in parentheses; "" where nothing is."""
    rights = _describe_rights(record.user.tenant, record.user.roles) if record.user is not None else ""
    return f" ({rights})" if rights else ""


def _is_undated(case: CaseIndex, observation: Observation) -> bool:
    """Return whether an answer had a context of which the corpus dates nothing, and knows every chunk."""
    stage, corpus = find_stage(observation, CONTEXT_STAGE), case.corpus
    if stage is None or corpus is None:
        return False
    chunks = [corpus.chunks.get(chunk.chunk_id) for chunk in stage.chunks]
    return all(chunk is not None and not chunk.valid_from and not chunk.valid_to for chunk in chunks)


def _count_undated(column: ScoreColumn, undated: Sequence[bool]) -> ScoreColumn:
    """Return the stale chunks of answers with those of a context without dates as none: it has no stale chunk.

    The metric itself leaves them out, because nothing of them was compared. Of all answers, which are counted here, the
    share with a stale chunk would else be that of the answers that could have one.
    """
    rows = np.array(undated, dtype=np.bool_) & (column.status == NOT_APPLICABLE)
    return structs.replace(
        column, values=np.where(rows, 0.0, column.values), status=np.where(rows, SCORED, column.status).astype(np.uint8)
    )


def _read_column(scores: AnswerScores, measure: Measure, column: ScoreColumn, why_not: Sequence[str]) -> None:
    """Add the scores of a metric; rows that do not count have no value, for want of a label, as `why_not` says."""
    counts = np.array([not why for why in why_not], dtype=np.bool_)
    has_value = (column.status == SCORED) & counts
    numbers = (column.values > 0).astype(np.float64) if measure.as_share else column.values
    scores.values[measure.name] = np.where(has_value, numbers, np.nan)
    without_answer = [code for code, why in enumerate(column.reasons) if why.startswith(_NO_ANSWER)]
    scores.unscored[measure.name] = (column.status == ERROR) & ~np.isin(column.reason, without_answer)
    untold = [code for code, why in enumerate(column.reasons) if why.startswith(UNKNOWN_PREFIX)]
    scores.unknown[measure.name] = (column.status == NOT_APPLICABLE) & counts & np.isin(column.reason, untold)
    missing: dict[str, int] = {}
    for rows, prefix in ((~has_value & ~scores.unscored[measure.name], ""), (scores.unscored[measure.name], IN_ERROR)):
        codes = np.bincount(column.reason[rows & counts], minlength=len(column.reasons))
        missing |= {prefix + why: int(count) for why, count in zip(column.reasons, codes, strict=True) if count}
    for why in filter(None, why_not):
        missing[why] = missing.get(why, 0) + 1
    scores.reasons[measure.name] = missing


def _join_parts(parts: Sequence[AnswerScores], measures: Sequence[Measure]) -> AnswerScores:
    if len(parts) == 1:
        return parts[0]
    names = [measure.name for measure in measures]
    reasons: dict[str, dict[str, int]] = {name: {} for name in names}
    leaks: list[int] = []
    unsearched: dict[int, str] = {}
    start = 0
    for part in parts:
        leaks += [start + row for row in part.leaks]
        unsearched |= {start + row: why for row, why in part.unsearched.items()}
        start += part.answers
        for name, missing in part.reasons.items():
            for why, number in missing.items():
                reasons[name][why] = reasons[name].get(why, 0) + number
    values = {name: np.concatenate([np.zeros(0), *(part.values[name] for part in parts)]) for name in names}
    nothing = np.zeros(0, dtype=np.bool_)
    unscored = {name: np.concatenate([nothing, *(part.unscored[name] for part in parts)]) for name in names}
    unknown = {name: np.concatenate([nothing, *(part.unknown[name] for part in parts)]) for name in names}
    failures = tuple(text for part in parts for text in part.failures)
    return AnswerScores(start, values, unscored, unknown, reasons, tuple(leaks), unsearched, failures)
