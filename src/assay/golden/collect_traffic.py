"""`audit sample`: production questions of an audit store as candidates for a golden set, for people to review."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct

from assay.audit.commands import load_redaction_rules, read_answers, read_incidents
from assay.audit.corpus_files import CorpusPaths
from assay.audit.privacy import RecordRedactor
from assay.formats.golden_builder import CANDIDATES_SPLIT
from assay.formats.golden_files import load_golden, write_golden
from assay.golden.traffic_sampling import (
    DEFAULT_STRATUM_KEYS,
    StratumCount,
    TrafficQuestion,
    choose_questions,
    make_candidate_case,
    read_traffic_question,
)
from assay.records.audit_records import AuditRecord
from assay.records.counts import format_count
from assay.records.errors import InputError
from assay.records.golden_set import Case, GoldenSet
from assay.report.findings.table import Table

MAX_SCANNED = 20_000
"""How many of the newest answers of the period are looked at."""
NO_CORPUS = (
    "answers are left out of the candidates: without a corpus (--corpus), nothing tells what their users may see"
)


@dataclass(frozen=True)
class TrafficSampleRequest:
    """What to sample: a store and a period (`since` ≤ time < `until`), how many questions, and with which strata.

    `golden` is the set whose questions are not asked again. `corpus` decides what a user may see (as for `audit show`,
    it may be several `VERSION=FILE`); without it, no answer is shown to reviewers. `redact` is as for `audit ingest`.
    `doubtful_share` of the picks are those with most doubts.
    """

    store: str
    count: int
    out: str | None = None
    golden: str | None = None
    corpus: CorpusPaths = None
    since: str | None = None
    until: str | None = None
    by: Sequence[str] = DEFAULT_STRATUM_KEYS
    doubtful_share: float = 0.5
    seed: int = 0
    redact: str | None = None


class TrafficSample(Struct, frozen=True):
    """The candidates, the strata that they come from, and what was left out and why."""

    candidates: tuple[Case, ...]
    scanned: int
    without_question: int
    known_questions: int
    strata: tuple[StratumCount, ...]
    redacted: dict[str, int]
    notes: tuple[str, ...]


def collect_traffic(request: TrafficSampleRequest) -> TrafficSample:
    """Return production questions as candidates, and write them to `out`, which `golden review` takes.

    The same store, set and seed give the same candidates. Raises InputError for a store, period or file that cannot be
    read, and if no question is left.
    """
    if request.count < 1:
        raise InputError(f"a sample of {request.count} (expected at least 1)")
    golden = load_golden(request.golden).golden if request.golden is not None else GoldenSet(())
    answers = read_answers(request.store, since=request.since, until=request.until, limit=MAX_SCANNED + 1)
    notes = [] if request.corpus else [NO_CORPUS]
    if len(answers) > MAX_SCANNED:
        notes.append(f"only the newest {MAX_SCANNED} answers of the period were looked at")
        answers = answers[:MAX_SCANNED]
    asked = [
        read_traffic_question(record, sequence, request.by)
        for sequence, record in answers
        if record.question and record.question.strip()
    ]
    choice = choose_questions(asked, golden, request.count, seed=request.seed, doubtful_share=request.doubtful_share)
    counts: Counter[str] = Counter()
    redactor = RecordRedactor(load_redaction_rules(request.redact))
    records = _withhold_texts([pick.question for pick in choice.picks], request)
    cases = []
    for pick, record in zip(choice.picks, records, strict=True):
        redacted = redactor.redact_record(record)
        counts.update(redacted.redacted)
        answer = redacted.answer if request.corpus else None
        cases.append(make_candidate_case(pick, redacted, answer))
    if not cases:
        raise InputError(
            f"{request.store}: no question is left ({format_count(len(answers), 'answer')} looked at, "
            f"{choice.known_questions} asked by the golden set already; expected another period or set)"
        )
    if len(cases) < request.count:
        notes.append(f"only {format_count(len(cases), 'group')} of questions that the set lacks")
    if request.out is not None:
        write_golden(GoldenSet(tuple(cases), name="production questions", split=CANDIDATES_SPLIT), request.out)
    return TrafficSample(
        tuple(cases),
        len(answers),
        len(answers) - len(asked),
        choice.known_questions,
        choice.strata,
        dict(sorted(counts.items())),
        tuple(notes),
    )


def _withhold_texts(questions: Sequence[TrafficQuestion], request: TrafficSampleRequest) -> list[AuditRecord]:
    """Return the records of some questions without any text that their users may not see, as the corpus says."""
    if not request.corpus:
        return [question.record for question in questions]
    incidents = read_incidents(request.store, [question.sequence for question in questions], corpus=request.corpus)
    return [incident.record for incident in incidents]


def sample(
    store: str | Path,
    count: int = 40,
    *,
    out: str | Path | None = None,
    golden: str | Path | None = None,
    corpus: CorpusPaths = None,
    since: str | None = None,
    until: str | None = None,
    by: Sequence[str] = DEFAULT_STRATUM_KEYS,
    doubtful_share: float = 0.5,
    seed: int = 0,
    redact: str | None = None,
) -> TrafficSample:
    """Return production questions of an audit store as candidates for a golden set, as `assay audit sample` does.

    `out` is the file to write for `golden review`. See `TrafficSampleRequest` for the arguments. Raises InputError for
    a store, period or file that cannot be read, and if no question is left.
    """
    paths = [None if path is None else str(path) for path in (out, golden)]
    return collect_traffic(
        TrafficSampleRequest(
            str(store), count, paths[0], paths[1], corpus, since, until, by, doubtful_share, seed, redact
        )
    )


def build_sample_tables(sampled: TrafficSample) -> list[Table]:
    """Return the sample as tables: its candidates, and the strata."""
    rows = tuple(
        (
            case.id,
            case.question,
            str(case.metadata["provenance"]["chosen_by"]),
            ", ".join(case.metadata["provenance"]["doubts"]) or "none",
            str(case.metadata["provenance"]["alike"]),
        )
        for case in sampled.candidates
    )
    strata = tuple(
        (stratum.stratum, str(stratum.questions), str(stratum.groups), str(stratum.chosen))
        for stratum in sampled.strata
    )
    redacted = ", ".join(f"{name} ×{count}" for name, count in sampled.redacted.items()) or "nothing"
    notes = (
        f"{format_count(sampled.scanned, 'answer')} looked at; {sampled.known_questions} ask what the golden set asks, "
        f"{sampled.without_question} have no question; redacted: {redacted}",
        *sampled.notes,
    )
    return [
        Table("Candidates", ("Case", "Question", "Chosen by", "Doubts", "Alike"), rows),
        Table("Strata", ("Stratum", "Questions", "Groups the set lacks", "Chosen"), strata, notes),
    ]
