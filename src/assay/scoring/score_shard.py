"""Scores one shard, a byte range of an output file: the unit of work of a worker process.

Observations are joined with their cases, checked and scored in blocks of 4,096 rows. Notices about rows that are not
errors are counted by kind. Python's cyclic garbage collector is suspended while millions of records without cycles are
created and freed.
"""

from __future__ import annotations

import gc
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from math import fsum
from typing import NoReturn

import msgspec
import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from assay.formats import strict_json
from assay.formats.file_io import MAX_LINE_BYTES, read_lines_between
from assay.formats.outputs import (
    BYTE_ORDER_MARK,
    LINES_CHECKED_FOR_KEYS,
    OUTPUT_FORMATS,
    OutputFormat,
    OutputShard,
)
from assay.formats.problems import find_name_doubt
from assay.formats.recorded_outputs.line_checks import (
    DECODING_ERRORS,
    ObservationFlaw,
    explain_bad_line,
    find_config_flaw,
    find_flaws,
    find_repeated_chunks,
    find_suspicious_rows,
    find_unknown_keys,
    has_rising_scores,
    has_tied_scores,
    normalise_names,
)
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.cases.corpus_texts import CorpusTexts
from assay.metrics.leaks.find_leaks import find_leaks_once
from assay.metrics.leaks.withheld_text import WithheldTexts
from assay.metrics.metric import Batch, JoinedRows
from assay.metrics.retrieval.evidence_fields import OtherName, find_other_names, find_shown_names
from assay.records.counts import CountedNoun
from assay.records.errors import (
    MAX_PROBLEMS_KEPT,
    AssayError,
    InputError,
    Problem,
    shorten_repr,
)
from assay.records.golden_set import Case
from assay.records.observations import (
    CONTEXT_STAGE,
    RETRIEVED_STAGE,
    Chunk,
    Observation,
    StageRanking,
    StageRankings,
    TargetError,
    Usage,
    describe_target_error,
    group_rankings,
)
from assay.records.unforeseen import choose_error_code, describe_unforeseen
from assay.scoring import score_tables
from assay.scoring.one_answer import SharedText, note_answers
from assay.scoring.passed_answers import find_passes
from assay.scoring.score_tables import MetricPlan, ScoredBlock, join_blocks, score_batch
from assay.text.claims.claim_support import LONGEST_CLAIM
from assay.text.normalisation import MOST_READ
from assay.text.pattern_cache import compile_pattern
from assay.text.refusals.lexicons_in_use import has_lexicon

MAX_TOKENS_PER_SECOND = 10_000
"""No model generates tokens faster: a higher rate means that latencies were given in seconds, not milliseconds."""

NULL_ANSWER_FAILURE = "the answer is null (expected its text, or an error that says why there is none)"
"""What is said of observations with `"answer": null` and no error of the target."""
MAX_FAILURE_CHARS = 500
"""Error texts that begin with the same characters, up to this many, are counted as one."""

_is_doubtful_id = lru_cache(maxsize=65_536)(find_name_doubt)


_TORN_LINES = CountedNoun("torn last line left out", "torn last lines left out")


def count_row_notices(rows: JoinedRows, notices: Counter[CountedNoun]) -> None:
    """Count everything suspicious about some rows, except for their rankings."""
    observations, stages = rows.observations, rows.stages
    unnamed_count = [row.config_id for row in observations].count("unknown")
    notices[_count_rows("without config_id, scored as configuration 'unknown'")] += unnamed_count
    foreign_count = len(_rows_not_retrieved(stages))
    foreign = _count_rows("with a chunk in the context that no other stage returned (context_not_retrieved)")
    notices[foreign] += foreign_count
    cited = [row.citations for row in observations if row.citations]
    repeated_count = sum([len(set(citations)) < len(citations) for citations in cited])
    cites = "a chunk more than once (it counts once)"
    notices[CountedNoun(f"row that cites {cites}", f"rows that cite {cites}")] += repeated_count
    misread_count = len({row for rankings in stages.values() for row in _rows_easily_misread(rankings)})
    misread = _count_rows("with ids easily misread: invisible characters, or mixed alphabets (E_ID_INVISIBLE)")
    notices[misread] += misread_count
    _note_foreign_chunks(rows, notices)
    pairs = zip(rows.cases, observations, strict=True)
    languages = Counter(case.language for case, row in pairs if case.language and isinstance(row.answer, str))
    for language, count in languages.items():
        if not has_lexicon(language):
            told = "for which there is no lexicon of refusals"
            unless = "did is unknown unless the target declares it"
            notices[
                CountedNoun(
                    f"answer to a case in {language}, {told}: what it {unless}",
                    f"answers to cases in {language}, {told}: what they {unless}",
                )
            ] += count
    for row in observations:
        if isinstance(row.answer, str) and len(row.answer) > LONGEST_CLAIM:
            _note_length(row.answer, notices)
        if row.usage is not None and row.usage.end_to_end_ms is not None:
            _note_usage(row, row.usage, row.usage.end_to_end_ms, notices)


def _note_foreign_chunks(rows: JoinedRows, notices: Counter[CountedNoun]) -> None:
    """Count the listed chunks whose ids the corpus does not have, by how their texts tell what they are."""
    texts = rows.cases[0].golden_index.corpus_texts if rows.cases else None
    if texts is None:
        return
    for rankings in rows.stages.values():
        for chunk in rankings.chunks:
            if not chunk.text or not texts.is_told_by_text(chunk):
                continue
            notices[_name_way(texts, chunk)] += 1
    for case, observation in zip(rows.cases, rows.observations, strict=True):
        notices[_TEXTLESS] += len(case.evidence.list_unknown_chunks(observation))


def _name_way(texts: CorpusTexts, chunk: Chunk) -> CountedNoun:
    """Return how the text of a chunk tells what it is."""
    if texts.find_framed(chunk):
        return _TOLD_BY_INNER
    if texts.find_chunks(chunk):
        return _TOLD_BY_TEXT
    return _TOLD_BY_PARTS if texts.find_wholes(chunk) else _UNTOLD


def _count_foreign(told: str) -> CountedNoun:
    return CountedNoun(
        f"listed chunk has an id that the corpus does not have, and {told}",
        f"listed chunks have ids that the corpus does not have, and {told}",
    )


_TOLD_BY_TEXT = _count_foreign("the text of a chunk of the corpus: rights, version and evidence are told by the text")
_TOLD_BY_INNER = _count_foreign(
    "the text of a chunk of the corpus between lines of their own: evidence and version are told by that text, and who "
    "may see these lines is unknown, unless they leak"
)
_TOLD_BY_PARTS = _count_foreign("parts of the texts of the corpus: who may see them is told by these")
_TEXTLESS = _count_foreign(
    "no text: nothing tells who may see them, and they count as no evidence (report texts, or ids of the corpus)"
)
_UNTOLD = _count_foreign("texts that it does not have either: who may see them is unknown, unless they leak")


_SENTENCE_END = compile_pattern(r"[.!?…。！？\n]+")


def _note_length(answer: str, notices: Counter[CountedNoun]) -> None:
    """Count an answer of which the rules leave out the end, or the end of a sentence."""
    if len(answer) > MOST_READ:
        looked_for = "the rules look for claims, facts, keywords and refusals in the characters before"
        notices[_count_noun("answer", f"of more than {MOST_READ:,} characters: {looked_for}")] += 1
    if max(map(len, _SENTENCE_END.split(answer[:MOST_READ]))) > LONGEST_CLAIM:
        support = "its support by rules is that of the characters before"
        notices[_count_noun("answer", f"with a sentence of more than {LONGEST_CLAIM:,} characters: {support}")] += 1


def count_ranking_notices(observation: Observation, notices: Counter[CountedNoun]) -> None:
    """Count the rankings that repeat a chunk, have equal scores, or scores that rise."""
    for stage in observation.stages or ():
        if len({chunk.chunk_id for chunk in stage.chunks}) < len(stage.chunks):
            once = "a chunk, which counts as relevant only once (duplicate_chunk)"
            notices[_count_rankings(stage.name, f"that repeats {once}", f"that repeat {once}")] += 1
        if has_tied_scores(stage):
            notices[_count_rankings(stage.name, "with equal scores: the order of the list counts")] += 1
        if has_rising_scores(stage):
            notices[_count_rankings(stage.name, "whose scores rise: taken as distances, the order counts")] += 1


def _count_rankings(stage: str, rest: str, rest_of_many: str = "") -> CountedNoun:
    return CountedNoun(f"ranking of {stage} {rest}", f"rankings of {stage} {rest_of_many or rest}")


def _count_noun(noun: str, rest: str) -> CountedNoun:
    return CountedNoun(f"{noun} {rest}", f"{noun}s {rest}")


def _count_rows(rest: str) -> CountedNoun:
    return _count_noun("row", rest)


def _rows_not_retrieved(stages: Mapping[str, StageRankings]) -> list[int]:
    """Return the rows with a chunk in the context that none of their other stages returned."""
    context = stages[CONTEXT_STAGE].ranked if CONTEXT_STAGE in stages else {}
    others = [rankings.ranked for name, rankings in stages.items() if name != CONTEXT_STAGE]
    rows = list(context)
    for ranked in reversed(others):  # mostly, the last ranking before the context has all of it
        rows = [row for row in rows if row not in ranked or not context[row].distinct <= ranked[row].distinct]
    return [
        row for row in rows if _has_unretrieved_chunk(context[row], [ranked[row] for ranked in others if row in ranked])
    ]


def _has_unretrieved_chunk(context: StageRanking, others: Sequence[StageRanking]) -> bool:
    return bool(others) and not context.distinct <= set[str]().union(*(ranked.distinct for ranked in others))


def _rows_easily_misread(rankings: StageRankings) -> list[int]:
    if rankings.has_ascii_ids:
        return []
    return [row for row, ranked in rankings.ranked.items() if any(map(_is_doubtful_id, ranked.ids))]


def _note_usage(observation: Observation, usage: Usage, end_to_end_ms: float, notices: Counter[CountedNoun]) -> None:
    stage_times = [stage.latency_ms for stage in observation.stages or () if stage.latency_ms is not None]
    steps = usage.stage_ms
    total = fsum((*stage_times, *steps.values())) - steps.get("judge", 0.0)  # the judge's time is not the target's
    if total > end_to_end_ms + len(steps) + len(stage_times):  # each step may have been rounded up
        notices[_count_rows("whose end_to_end latency is less than the sum of its steps (do they overlap?)")] += 1
    if usage.completion_tokens and usage.completion_tokens * 1000 > MAX_TOKENS_PER_SECOND * end_to_end_ms > 0:
        too_fast = f"with more than {MAX_TOKENS_PER_SECOND} tokens a second (latency in seconds, not milliseconds?)"
        notices[_count_rows(too_fast)] += 1


NO_CASE_POSITION = -1
JOIN_SIZE = 64
"""Number of observations joined at a time: enough for fast loops, few enough to stay in the processor's cache."""
JOIN_CHARACTERS = 100_000
"""Characters of their answers that are enough: what is read of long answers takes hundreds of times their length."""
TellLines = Callable[[int], None]
"""Is told how many lines of a shard were read, and scored but for the last few."""


class CollectedRows(Struct):
    """The result of collecting observations: scored rows, problems and notices.

    `failures` holds the positions of the failed cases by configuration and error text, and `repeated` those of calls
    that failed and were repeated, by configuration and error code. `other_names` counts the quotes that
    were found under another name than the golden set says, `renamed` are the rows (configuration, case, repeat)
    with such quotes, and `shown_names` are the names of the golden set that some chunk has. `texts` tells whether all
    answers of a configuration are one text.
    Line numbers count from the first line collected; they are shifted when shards are merged.
    """

    file: int
    lines: int = 0
    rows: ScoredBlock | None = None
    configs: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    more_problems: int = 0
    unknown: list[tuple[str, int]] = field(default_factory=list)
    notices: Counter[CountedNoun] = field(default_factory=Counter)
    versions: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    stages: dict[str, set[str]] = field(default_factory=dict)
    failures: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    repeated: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    other_names: Counter[OtherName] = field(default_factory=Counter)
    renamed: list[tuple[str, int, int, OtherName]] = field(default_factory=list)
    shown_names: set[tuple[str, str]] = field(default_factory=set)
    texts: dict[str, SharedText] = field(default_factory=dict)


class ObservationCollector:
    """Takes observations one at a time and collects their scores."""

    def __init__(
        self,
        joins: GoldenIndex,
        the_plan: MetricPlan,
        source: str,
        file: int = 0,
        form: OutputFormat = OUTPUT_FORMATS["assay"],
        *,
        strict: bool = False,
        is_careful: bool = False,
    ) -> None:
        """`form` names the fields in messages; `strict` makes it an error if a ranking repeats a chunk.

        `is_careful` tries each row by itself first, so that one that raises an unforeseen exception becomes an error.
        """
        self.joins, self.plan, self.source, self.form, self.strict = joins, the_plan, source, form, strict
        self.result = CollectedRows(file)
        self._is_careful = is_careful
        self._join_size = 1 if is_careful else min(JOIN_SIZE, score_tables.BLOCK_ROWS)
        self._blocks: list[ScoredBlock] = []
        self._codes: dict[str, int] = {}
        self._versions: dict[str, dict[str, str]] = {}
        self._pending: list[tuple[Observation, int, int]] = []
        self._pending_characters = 0
        self._unseen_names = dict(joins.wanted_names)
        self._start_block()

    def _start_block(self) -> None:
        self._batch = Batch(self.plan.facts)
        self._ids: list[tuple[int, int, int, int, int]] = []

    def add(self, observation: Observation, number: int = 0, start: int = 0) -> None:
        """Add the observation of line `number`, which begins at byte `start`."""
        if self._is_careful:
            observation = self._replace_unscorable(observation, number)
        self._pending.append((observation, number, start))
        if isinstance(observation.answer, str):
            self._pending_characters += len(observation.answer)
        if len(self._pending) >= self._join_size or self._pending_characters >= JOIN_CHARACTERS:
            self._flush_pending()

    def _replace_unscorable(self, observation: Observation, number: int) -> Observation:
        """Return the observation, or one with an error in its place if no code foresaw what it holds."""
        try:
            trial = ObservationCollector(self.joins, self.plan, self.source, form=self.form, strict=self.strict)
            trial.add(observation, number)
            trial.finish()
        except AssayError:
            raise
        except Exception as error:  # noqa: BLE001  # the last barrier: one row must not stop the scoring of all others
            bug, code = describe_unforeseen(error), choose_error_code(error)
            met = f"such as line {number}: {bug}"
            notice = CountedNoun(f"row met a bug and is an error, {met}", f"rows met a bug and are errors, {met}")
            self.result.notices[notice] += 1
            return Observation(
                observation.case_id, observation.config_id, observation.repeat, error=TargetError(code, bug)
            )
        return observation

    def _flush_pending(self) -> None:
        """Join the pending observations with their cases, and add the rows that can be scored to the block."""
        if not self._pending:
            return
        pending, self._pending, self._pending_characters = self._pending, [], 0
        observations, stages = self._normalise_ids([observation for observation, _, _ in pending])
        positions = [self.joins.position.get(observation.case_id, NO_CASE_POSITION) for observation in observations]
        suspicious = self._find_suspicious_rows(observations, stages, positions)
        refused_rows = {
            row for row in sorted(suspicious) if not self._check_row(observations[row], positions[row], pending[row][1])
        }
        if refused_rows:
            kept_rows = [row for row in range(len(pending)) if row not in refused_rows]
            pending, positions = [pending[row] for row in kept_rows], [positions[row] for row in kept_rows]
            observations = [observations[row] for row in kept_rows]
            stages = group_rankings(observations)
        rows = JoinedRows([self.joins.case_index(position) for position in positions], observations, stages)
        self._note_rows(rows)
        self._note_names(rows, positions)
        self._note_failures(rows, positions)
        self._ids += [
            (position, self._codes[observation.config_id], observation.repeat, number, start)
            for position, observation, (_, number, start) in zip(positions, observations, pending, strict=True)
        ]
        self._batch.add_rows(rows)
        if len(self._batch) >= score_tables.BLOCK_ROWS:
            self._close_block()

    def _normalise_ids(self, observations: list[Observation]) -> tuple[list[Observation], dict[str, StageRankings]]:
        """Return the observations with their ids in Unicode NFC, and their rankings."""
        stages = group_rankings(observations)
        if _are_plain(observations, stages):
            return observations, stages
        normalised = [normalise_names(observation) for observation in observations]
        changed_count = sum([was_changed for _, was_changed in normalised])
        self.result.notices[_count_rows("whose ids were brought to Unicode NFC")] += changed_count
        renamed = [observation for observation, _ in normalised]
        return renamed, group_rankings(renamed) if changed_count else stages

    def _find_suspicious_rows(
        self, observations: list[Observation], stages: dict[str, StageRankings], positions: list[int]
    ) -> set[int]:
        """Return the rows that must be checked one by one; all others are known to be free of problems."""
        cases, codes = self.joins.golden.cases, self._codes
        suspicious = {
            row
            for row, (observation, position) in enumerate(zip(observations, positions, strict=True))
            if position == NO_CASE_POSITION
            or observation.config_id not in codes
            or (observation.question is not None and observation.question != cases[position].question)
        }
        return suspicious | find_suspicious_rows(observations, stages.values())

    def _check_row(self, observation: Observation, position: int, number: int) -> bool:
        """Collect the problems and notices of one row; return whether it can be scored."""
        row_flaws = [*find_flaws(observation), *(find_repeated_chunks(observation) if self.strict else ())]
        self._add_flaws(observation, number, row_flaws)
        count_ranking_notices(observation, self.result.notices)
        if row_flaws:
            return False
        if position == NO_CASE_POSITION:
            self.result.unknown.append((observation.case_id, number))
            return False
        self._compare_question(self.joins.golden.cases[position], observation, number)
        if observation.config_id not in self._codes:
            self._codes[observation.config_id] = len(self._codes)
            self._add_flaws(observation, number, filter(None, [find_config_flaw(observation.config_id)]))
        return True

    def _add_flaws(self, observation: Observation, number: int, row_flaws: Iterable[ObservationFlaw]) -> None:
        for flaw in row_flaws:
            field_path = self.form.translate_field(observation, flaw.field)
            self._add_problem(Problem(self.source, number, field_path, flaw.message, flaw.code))

    def add_problem(self, problem: Problem) -> None:
        """Add a problem of a row that cannot be decoded, after the problems of the rows before it."""
        self._flush_pending()
        self._add_problem(problem)

    def _add_problem(self, problem: Problem) -> None:
        """Add a problem; beyond the number that is kept, only count it."""
        if len(self.result.problems) < MAX_PROBLEMS_KEPT:
            self.result.problems.append(problem)
        else:
            self.result.more_problems += 1

    def finish(self) -> CollectedRows:
        """Score what is pending and return everything collected."""
        self._flush_pending()
        if len(self._batch) or not self._blocks:
            self._close_block()
        self.result.rows = join_blocks(self._blocks)
        self.result.configs = list(self._codes)
        self.result.notices = +self.result.notices
        return self.result

    def _compare_question(self, case: Case, observation: Observation, number: int) -> None:
        reported_question, golden_question = observation.question, case.question
        if (
            reported_question is None
            or reported_question == golden_question
            or not golden_question
            or _normalise_question(reported_question) == _normalise_question(golden_question)
        ):
            return
        message = (
            f"not the golden question of {shorten_repr(case.id)} "
            f"(got {shorten_repr(reported_question)}; expected {shorten_repr(golden_question)})"
        )
        self._add_problem(Problem(self.source, number, "question", message, "E_QUESTION_MISMATCH"))

    def _note_rows(self, rows: JoinedRows) -> None:
        """Collect notices, the versions, and the stage that ranking metrics use, from rows that are scored."""
        count_row_notices(rows, self.result.notices)
        note_answers(self.result.texts, [index.case for index in rows.cases], rows.observations)
        for case, observation in zip(rows.cases, rows.observations, strict=True):
            if observation.versions != self._versions.get(observation.config_id):
                self._versions[observation.config_id] = observation.versions
                values_by_name = self.result.versions.setdefault(observation.config_id, {})
                leaks = find_leaks_once(rows.leaks, case, observation)
                shown_versions = WithheldTexts(case, observation, leaks).withhold(observation.versions)
                for name, version in shown_versions.items():
                    values_by_name.setdefault(name, set()).add(version)
        retrieved = zip(rows.observations, rows.ranked_stages(RETRIEVED_STAGE), strict=True)
        for config, stage in {
            (observation.config_id, ranking.stage.name) for observation, ranking in retrieved if ranking is not None
        }:
            self.result.stages.setdefault(config, set()).add(stage)

    def _note_names(self, rows: JoinedRows, positions: Sequence[int]) -> None:
        """Count the quotes that were found under other names than the golden set says.

        Once every name of the golden set was shown, there is nothing left to count (`leave_out_known`).
        """
        for case, observation, position in zip(rows.cases, rows.observations, positions, strict=True):
            if not self._unseen_names:
                return
            chunks = [chunk for stage in observation.stages or () for chunk in stage.chunks]
            names = find_other_names(case, chunks)
            self.result.other_names.update(names)
            row = observation.config_id, position, observation.repeat
            self.result.renamed += [(*row, name) for name in names]
            shown = find_shown_names(case.evidence, chunks, self._unseen_names)
            self.result.shown_names |= shown
            for name, value in shown:
                self._unseen_names[name] -= {value}
                if not self._unseen_names[name]:
                    del self._unseen_names[name]

    def _note_failures(self, rows: JoinedRows, positions: Sequence[int]) -> None:
        """Collect the errors of the target, and withhold codes that the user must not see: they become reasons."""
        for row, (case, observation) in enumerate(zip(rows.cases, rows.observations, strict=True)):
            if observation.error is None and observation.answer is None:
                positions_by_message = self.result.failures.setdefault(observation.config_id, {})
                positions_by_message.setdefault(NULL_ANSWER_FAILURE, []).append(positions[row])
            if observation.error is not None:
                withheld = WithheldTexts(case, observation, find_leaks_once(rows.leaks, case, observation))
                rows.error_codes[row] = withheld.withhold(observation.error.code)
                message = withheld.withhold(describe_target_error(observation.error))[:MAX_FAILURE_CHARS]
                positions_by_message = self.result.failures.setdefault(observation.config_id, {})
                positions_by_message.setdefault(message, []).append(positions[row])
            if observation.failed_attempts:
                withheld = WithheldTexts(case, observation, find_leaks_once(rows.leaks, case, observation))
                positions_by_code = self.result.repeated.setdefault(observation.config_id, {})
                for attempt in observation.failed_attempts:
                    positions_by_code.setdefault(withheld.withhold(attempt.code), []).append(positions[row])

    def _close_block(self) -> None:
        ids = np.array(self._ids, dtype=np.int64).reshape(-1, 5).T
        columns = score_batch(self.plan, self._batch)
        self._blocks.append(
            ScoredBlock(
                case=ids[0].astype(np.int32),
                config=ids[1].astype(np.int32),
                repeat=ids[2].astype(np.int32),
                line=ids[3].copy(),
                start=ids[4].copy(),
                broken=self._batch.target_failed,
                columns=columns,
                passes=find_passes(self._batch, columns) if self.plan.looks_for_passes else None,
            )
        )
        self._start_block()


def _are_plain(observations: list[Observation], stages: dict[str, StageRankings]) -> bool:
    """Return whether every id is certain to be in NFC: all are ASCII, and none occurs in metadata or sentences."""
    names = [
        name
        for observation in observations
        for name in (observation.case_id, observation.config_id, *(observation.citations or ()))
    ]
    return (
        "".join(names).isascii()
        and all(rankings.has_ascii_ids and rankings.has_no_metadata for rankings in stages.values())
        and not any(observation.sentences for observation in observations)
    )


def _normalise_question(text: str) -> list[str]:
    """Return the words of a question in NFC, for a comparison that ignores whitespace."""
    return unicodedata.normalize("NFC", text).split()


@contextmanager
def suspend_garbage_collection() -> Iterator[None]:
    """Suspend garbage collection within the block: each collection would traverse every golden case to free nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def score_shard(
    shard: OutputShard, joins: GoldenIndex, plan: MetricPlan, tell_lines: TellLines | None = None
) -> CollectedRows:
    """Return the scored rows of one shard, with its problems up to a limit; beyond it they are counted.

    `tell_lines` is told after each line. If a row raises an exception that nobody foresaw, the shard is scored again,
    slowly, to find and leave out that row.
    """
    try:
        return _score_shard(shard, joins, plan, tell_lines)
    except (AssayError, OSError, MemoryError):
        raise
    except Exception:  # noqa: BLE001  # a bug, which the second pass reports with its row
        return _score_shard(shard, joins, plan, tell_lines, is_careful=True)


def _score_shard(
    shard: OutputShard,
    joins: GoldenIndex,
    plan: MetricPlan,
    tell_lines: TellLines | None = None,
    *,
    is_careful: bool = False,
) -> CollectedRows:
    form = OUTPUT_FORMATS[shard.format]
    collector = ObservationCollector(
        joins, plan, shard.source, shard.file, form, strict=shard.strict, is_careful=is_careful
    )
    decode = partial(_decode_strictly, form) if shard.strict else form.decode
    number, offset = 0, shard.start
    with suspend_garbage_collection():
        for number, line in enumerate(read_lines_between(shard.path, shard.start, shard.end), 1):
            start, offset = offset, offset + len(line) + 1
            if start == 0:
                line = line.removeprefix(BYTE_ORDER_MARK)
            if not line or line.isspace():
                continue
            try:
                observation = decode(line) if len(line) <= MAX_LINE_BYTES else _refuse_long_line(line)
            except (InputError, *DECODING_ERRORS) as error:
                if shard.allow_torn_tail and offset > shard.end and type(error) is msgspec.DecodeError:
                    collector.result.notices[_TORN_LINES] += 1
                else:
                    _add_line_problems(collector, shard, number, line, error)
            else:
                if shard.start == 0 and number <= LINES_CHECKED_FOR_KEYS:
                    _note_unknown_keys(collector, form, line)
                collector.add(observation, number, start)
            if tell_lines is not None:
                tell_lines(number)
        collector.result.lines = number
        return collector.finish()


def _add_line_problems(
    collector: ObservationCollector, ref: OutputShard, number: int, line: bytes, error: Exception
) -> None:
    if isinstance(error, InputError):
        problems = [replace(problem, path=ref.source, line=number) for problem in error.problems]
    else:
        problems = explain_bad_line(ref.source, number, line, OUTPUT_FORMATS[ref.format].record, error)
    for problem in problems:
        collector.add_problem(problem)


def _note_unknown_keys(collector: ObservationCollector, form: OutputFormat, line: bytes) -> None:
    for key, hint in find_unknown_keys(line, form.record).items():
        looked_at = f"of the rows looked at (the first {LINES_CHECKED_FOR_KEYS} of each part)"
        rest = f"the unknown key {key}{hint}"
        collector.result.notices[CountedNoun(f"{looked_at} has {rest}", f"{looked_at} have {rest}")] += 1


def _refuse_long_line(line: bytes) -> NoReturn:
    message = f"line too long (got {len(line)} bytes; expected {MAX_LINE_BYTES} at most)"
    raise InputError([Problem("", None, "", message, "E_LINE_TOO_LONG")])


def _decode_strictly(form: OutputFormat, line: bytes) -> Observation:
    """Decode a line; raise InputError if one of its keys is duplicated or unknown."""
    observation = form.decode(line)
    strict_json.decode_json(line.decode(), "")
    unknown = find_unknown_keys(line, form.record).items()
    if unknown:
        raise InputError([Problem("", None, key, f"unknown field{hint}", "E_UNKNOWN_FIELD") for key, hint in unknown])
    return observation
