"""Goes through the answers of an audit store once, in time order, and keeps sums, samples and leaks of them.

A second look is taken only at the answers that were chosen for the sample, week by week.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby

import numpy as np

from assay.audit.audit_store import AuditStore
from assay.audit.feedback_signs import is_negative
from assay.audit.incident import rebuild_observation
from assay.audit.load_answers import TimedAnswer, iterate_answer_pages, load_answers, load_labelled_sequences
from assay.audit.load_incident import FINDING_LABEL
from assay.audit.versioned_corpora import NO_CORPORA, VersionedCorpora, list_corpus_versions
from assay.records.audit_records import AuditRecord
from assay.records.observations import CONTEXT_STAGE
from assay.stats.arrays import BoolArray, IndexArray
from assay.text.escaping import shorten_to_line
from assay.trends.answer_sample import DOUBTFUL, FLAGGED, OTHER, AnswerSampler
from assay.trends.judged_estimates import DAYS_PER_WEEK, JudgedSums, JudgedWeek
from assay.trends.monitor_measures import MAX_VALUE, Measure, list_slices, list_versions
from assay.trends.monitor_results import MonitorLeak, SampledAnswer
from assay.trends.score_answers import AnswerScorer, AnswerScores, describe_asker
from assay.trends.topic_drift import QuestionDrift
from assay.trends.traffic_sums import Calendar, TrafficSums, find_user_group
from assay.trends.version_changes import VersionCounts

MAX_LEAKS_LISTED = 100
MAX_SLICE_VALUES = 50
ROWS_WITH_TEXTS = 500
ALL_PERIODS = ""
"""Instead of a period: why answers of any of them have no value, for a sample that spans several."""


@dataclass(frozen=True, slots=True)
class TrafficRequest:
    """What is looked at: the calendar, its first reported day, slices (`key` or `key=value`), and the sample.

    `budget` is the number of answers scored a week by reading them, None for all.
    """

    calendar: Calendar
    first_day: int
    slices: Sequence[str]
    census: Sequence[Measure]
    sampled: Sequence[Measure]
    budget: int | None
    seed: int = 0
    keep_sample: bool = False
    corpora: VersionedCorpora = NO_CORPORA


@dataclass(slots=True)
class Traffic:
    """What was kept of the answers of a period."""

    sums: TrafficSums
    versions: VersionCounts
    judged: JudgedSums
    questions: QuestionDrift
    slices: list[str] = field(default_factory=list)
    leaks: list[MonitorLeak] = field(default_factory=list)
    leak_count: int = 0
    unsearched: int = 0
    unsearched_reasons: Counter[str] = field(default_factory=Counter)
    answers: int = 0
    dated_later: int = 0
    failures: list[str] = field(default_factory=list)
    failure_count: int = 0
    crowded_slices: set[str] = field(default_factory=set)
    reasons: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    without_corpus: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    errors_by_day: Counter[int] = field(default_factory=Counter)
    sample: list[SampledAnswer] = field(default_factory=list)


class TrafficCollector:
    """Takes the answers of a store, page by page."""

    def __init__(self, store: AuditStore, request: TrafficRequest, census: AnswerScorer, reader: AnswerScorer) -> None:
        """`census` scores every answer, without the texts of chunks; `reader` scores the sample, with them."""
        self._store, self._request, self._census, self._reader = store, request, census, reader
        calendar = request.calendar
        periods = calendar.list_periods(calendar.first + timedelta(days=request.first_day))
        self._traffic = Traffic(
            TrafficSums(calendar, request.census),
            VersionCounts(calendar),
            JudgedSums(calendar, request.sampled, request.first_day),
            QuestionDrift(periods, request.seed),
        )
        self._sampler = AnswerSampler(request.budget, request.seed)
        self._week: int | None = None
        self._with_finding = load_labelled_sequences(store, FINDING_LABEL)

    def collect(self) -> Traffic:
        """Return what was kept of all answers of the calendar."""
        calendar = self._request.calendar
        since, until = calendar.count_microseconds(0), calendar.count_microseconds(calendar.days)
        for page in iterate_answer_pages(self._store, since, until):
            for _, block in groupby(page, key=self._locate):
                self._add_block(list(block))
        self._close_week()
        self._traffic.judged.finish(self._traffic.slices)
        self._traffic.questions.close_period()
        self._traffic.sums.close_period()
        return self._traffic

    def _locate(self, answer: TimedAnswer) -> tuple[str, int]:
        day = self._request.calendar.find_day(answer.at)
        return self._request.calendar.find_period(day), day // DAYS_PER_WEEK

    def _add_block(self, block: Sequence[TimedAnswer]) -> None:
        calendar = self._request.calendar
        week = calendar.find_day(block[0].at) // DAYS_PER_WEEK
        if week != self._week:
            self._close_week()
            self._week = week
        records = [answer.record for answer in block]
        days = np.array([calendar.find_day(answer.at) for answer in block], dtype=np.int64)
        scores = self._census.score(block)
        slices = self._find_slices(records)
        groups = np.array([find_user_group(record) for record in records], dtype=np.int64)
        everything: dict[str | None, BoolArray] = {None: np.ones(len(block), dtype=np.bool_)}
        self._traffic.sums.add_rows(days, groups, everything | dict(slices), scores.values, scores.unknown)
        self._note_scores(scores, calendar.find_period(int(days[0])))
        for record, day in zip(records, days.tolist(), strict=True):
            self._traffic.versions.add_versions(list_versions(record), day)
        reported = [row for row, day in enumerate(days.tolist()) if day >= self._request.first_day]
        self._traffic.answers += len(reported)
        self._note_leaks(records, scores, set(reported))
        self._note_corpora([records[row] for row in reported])
        self._note_errors(records, days)
        self._note_questions(records, calendar.find_period(int(days[0])))
        leaking = set(scores.leaks)
        for row, answer in enumerate(block):
            stratum = FLAGGED if row in leaking else self._choose_stratum(answer)
            self._sampler.add_answer(answer.record.id, answer.sequence, stratum)

    def _choose_stratum(self, answer: TimedAnswer) -> int:
        record = answer.record
        if is_negative(record.feedback) or answer.sequence in self._with_finding:
            return FLAGGED
        return DOUBTFUL if record.answer and _looks_doubtful(record) else OTHER

    def _find_slices(self, records: Sequence[AuditRecord]) -> Mapping[str | None, BoolArray]:
        """Return which of the records are in which of the slices that were asked for."""
        wanted = set(self._request.slices)
        rows: dict[str | None, BoolArray] = {}
        if not wanted:
            return rows
        for row, record in enumerate(records):
            for key, value in list_slices(record):
                name = f"{key}={value}"
                if (name in wanted or key in wanted) and self._admit_slice(name, key, wanted):
                    rows.setdefault(name, np.zeros(len(records), dtype=np.bool_))[row] = True
        return rows

    def _admit_slice(self, name: str, key: str, wanted: set[str]) -> bool:
        names = self._traffic.slices
        if name in names:
            return True
        if name not in wanted and sum(other.startswith(f"{key}=") for other in names) >= MAX_SLICE_VALUES:
            self._traffic.crowded_slices.add(key)
            return False
        names.append(name)
        return True

    def _note_scores(self, scores: AnswerScores, period: str) -> None:
        for name, reasons in scores.reasons.items():
            for key in ((name, period), (name, ALL_PERIODS)):
                self._traffic.reasons.setdefault(key, Counter()).update(reasons)
        self._traffic.failure_count += len(scores.failures)
        self._traffic.failures += scores.failures[: max(0, 5 - len(self._traffic.failures))]

    def _note_leaks(self, records: Sequence[AuditRecord], scores: AnswerScores, reported: set[int]) -> None:
        for row, why in scores.unsearched.items():
            if row in reported:
                self._traffic.unsearched += 1
                self._traffic.unsearched_reasons[why] += 1
        for row in scores.leaks:
            if row not in reported:
                continue
            self._traffic.leak_count += 1
            if len(self._traffic.leaks) < MAX_LEAKS_LISTED:
                record = records[row]
                items = self._census.describe_leaks(record)
                chunk = items[0].rpartition(" (")[0] if items else ""
                more = " …" if len(items) > 5 else ""
                text = f"shown what its user{describe_asker(record)} may not see: {', '.join(items[:5])}{more}"
                self._traffic.leaks.append(MonitorLeak(record.at, record.id, record.user_uid, chunk, text))

    def _note_corpora(self, records: Sequence[AuditRecord]) -> None:
        """Count the answers that state an index version of which there is no corpus, where others have one."""
        corpora = self._request.corpora
        for record in records if corpora.by_version else ():
            version = next(list_corpus_versions(record), None)
            if version is not None and corpora.find_version(record) is None:
                is_named = (
                    version in self._traffic.without_corpus or len(self._traffic.without_corpus) < MAX_SLICE_VALUES
                )
                self._traffic.without_corpus[shorten_to_line(version, MAX_VALUE) if is_named else "(others)"] += 1

    def _note_errors(self, records: Sequence[AuditRecord], days: IndexArray) -> None:
        """Count the errors of the target in reported answers, by code and by day."""
        traffic = self._traffic
        for record, day in zip(records, days.tolist(), strict=True):
            if record.error is not None and day >= self._request.first_day:
                code = shorten_to_line(record.error.code, MAX_VALUE)
                is_named = code in traffic.errors or len(traffic.errors) < MAX_SLICE_VALUES
                traffic.errors[code if is_named else "(others)"] += 1
                traffic.errors_by_day[day] += 1

    def _note_questions(self, records: Sequence[AuditRecord], period: str) -> None:
        for record in records:
            if record.question:
                self._traffic.questions.add_question(period, _name_user(record), record.question)

    # ── the sample ───────────────────────────────────────────────────────────────────────────────────────────────

    def _close_week(self) -> None:
        if self._week is None or not self._request.sampled:
            return
        sample = self._sampler.close_week(self._week)
        stratum_of = {sequence: stratum for stratum, numbers in enumerate(sample.chosen) for sequence in numbers}
        answers: list[TimedAnswer] = []
        parts: list[AnswerScores] = []
        for block in self._load_chosen(sorted(stratum_of)):
            scores = self._reader.score(block)
            self._note_scores(scores, self._locate(block[0])[0])
            parts.append(scores)
            self._keep_sample(block)
            answers += [TimedAnswer(answer.sequence, answer.at, _strip(answer.record)) for answer in block]
        calendar = self._request.calendar
        users = [_number_user(answer.record) for answer in answers]
        week = JudgedWeek(
            sample,
            np.array([calendar.find_day(answer.at) for answer in answers], dtype=np.int64),
            np.array(users, dtype=np.int64),
            np.array([stratum_of[answer.sequence] for answer in answers], dtype=np.int64),
            {str(name): rows for name, rows in self._find_slices([answer.record for answer in answers]).items()},
            {},
            {},
        )
        for measure in self._request.sampled:
            name = measure.name
            week.values[name] = np.concatenate([np.zeros(0), *(part.values[name] for part in parts)])
            nothing = np.zeros(0, dtype=np.bool_)
            week.unscored[name] = np.concatenate([nothing, *(part.unscored[name] for part in parts)])
        self._traffic.judged.add_week(week, self._traffic.slices)

    def _keep_sample(self, block: Sequence[TimedAnswer]) -> None:
        """Keep the answers of reported days as cases and observations, if that was asked for."""
        if not self._request.keep_sample:
            return
        for answer in block:
            if self._request.calendar.find_day(answer.at) >= self._request.first_day:
                case = self._reader.build_case(answer.record, answer.record.at[:10])
                self._traffic.sample.append(SampledAnswer(case, rebuild_observation(answer.record)[0]))

    def _load_chosen(self, sequences: Sequence[int]) -> Iterator[list[TimedAnswer]]:
        for start in range(0, len(sequences), ROWS_WITH_TEXTS):
            yield load_answers(self._store, sequences[start : start + ROWS_WITH_TEXTS])


def _name_user(record: AuditRecord) -> str:
    return record.user_uid or f"answer:{record.id}"


def _number_user(record: AuditRecord) -> int:
    """Return a number that stands for the user of an answer: a digest, so that no list of users is kept."""
    name = _name_user(record).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big", signed=True)


def _strip(record: AuditRecord) -> AuditRecord:
    """Return what the slices of an answer need, without its texts."""
    return AuditRecord(
        id=record.id,
        at=record.at,
        user_uid=record.user_uid,
        user=record.user,
        config_id=record.config_id,
        model=record.model,
        prompt_hash=record.prompt_hash,
        versions=record.versions,
    )


def _looks_doubtful(record: AuditRecord) -> bool:
    """Return whether the record alone gives a reason to doubt an answer: no sources, or such as were not shown."""
    stages = record.stages or ()
    context = next((stage for stage in reversed(stages) if stage.name == CONTEXT_STAGE), stages[-1] if stages else None)
    if context is not None and not context.chunks:
        return True
    if record.citations is None:
        return False
    if not record.citations:
        return True
    if context is None:
        return False
    shown = {chunk.chunk_id for chunk in context.chunks}
    return any(citation not in shown for citation in record.citations)
