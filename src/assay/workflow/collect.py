"""Scoring of observations in blocks of 4,096 rows: joined with their cases, checked, and scored."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from assay.errors import MAX_PROBLEMS_SHOWN, Problem, shown
from assay.graders.base import Batch, Joins
from assay.graders.rows import Rankings, Rows, rankings_of
from assay.graders.stages import RETRIEVED
from assay.io.observations import FORMATS, OutputFormat
from assay.io.outputs.flaws import Flaw, config_flaw, flaws, repeat_flaws, suspects
from assay.io.outputs.nfc import in_nfc
from assay.model import Case, Observation
from assay.scoring import engine
from assay.scoring.engine import Block, Plan, join_blocks, score_batch
from assay.workflow.notices import note_rankings, note_rows

NO_CASE = -1
JOIN_SIZE = 64
"""Number of observations joined at a time: enough for fast loops, few enough to stay in the processor's cache."""


@dataclass(slots=True)
class Collected:
    """The result of collecting observations: scored rows, problems and notices.

    Line numbers count from the first line collected; they are shifted when shards are merged.
    """

    file: int
    lines: int = 0
    rows: Block | None = None
    configs: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    more_problems: int = 0
    unknown: list[tuple[str, int]] = field(default_factory=list)
    notices: Counter[str] = field(default_factory=Counter)
    versions: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    stages: dict[str, set[str]] = field(default_factory=dict)


class Collector:
    """Takes observations one at a time and collects their scores."""

    def __init__(
        self,
        joins: Joins,
        the_plan: Plan,
        source: str,
        file: int = 0,
        form: OutputFormat = FORMATS["assay"],
        *,
        strict: bool = False,
    ) -> None:
        """`form` names the fields in messages; `strict` makes it an error if a ranking repeats a chunk."""
        self.joins, self.plan, self.source, self.form, self.strict = joins, the_plan, source, form, strict
        self.result = Collected(file)
        self._join_size = min(JOIN_SIZE, engine.BLOCK_ROWS)
        self._blocks: list[Block] = []
        self._codes: dict[str, int] = {}
        self._versions: dict[str, dict[str, str]] = {}
        self._pending: list[tuple[Observation, int, int]] = []
        self._start_block()

    def _start_block(self) -> None:
        self._batch = Batch(self.plan.facts)
        self._ids: list[tuple[int, int, int, int, int]] = []

    def take(self, observation: Observation, number: int = 0, start: int = 0) -> None:
        """Add the observation of line `number`, which begins at byte `start`."""
        self._pending.append((observation, number, start))
        if len(self._pending) >= self._join_size:
            self._flush_pending()

    def _flush_pending(self) -> None:
        """Join the pending observations with their cases, and add the rows that can be scored to the block."""
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        observations, stages = self._normalise_ids([observation for observation, _, _ in pending])
        positions = [self.joins.position.get(observation.case_id, NO_CASE) for observation in observations]
        suspicious = self._find_suspicious_rows(observations, stages, positions)
        refused_rows = {
            row for row in sorted(suspicious) if not self._check_row(observations[row], positions[row], pending[row][1])
        }
        if refused_rows:
            kept_rows = [row for row in range(len(pending)) if row not in refused_rows]
            pending, positions = [pending[row] for row in kept_rows], [positions[row] for row in kept_rows]
            observations = [observations[row] for row in kept_rows]
            stages = rankings_of(observations)
        rows = Rows([self.joins.case(position) for position in positions], observations, stages)
        self._note_rows(rows)
        self._ids += [
            (position, self._codes[observation.config_id], observation.repeat, number, start)
            for position, observation, (_, number, start) in zip(positions, observations, pending, strict=True)
        ]
        self._batch.add(rows)
        if len(self._batch) >= engine.BLOCK_ROWS:
            self._close_block()

    def _normalise_ids(self, observations: list[Observation]) -> tuple[list[Observation], dict[str, Rankings]]:
        """Return the observations with their ids in Unicode NFC, and their rankings."""
        stages = rankings_of(observations)
        if _are_plain(observations, stages):
            return observations, stages
        normalised = [in_nfc(observation) for observation in observations]
        changed_count = sum([was_changed for _, was_changed in normalised])
        self.result.notices["rows whose ids were brought to Unicode NFC"] += changed_count
        renamed = [observation for observation, _ in normalised]
        return renamed, rankings_of(renamed) if changed_count else stages

    def _find_suspicious_rows(
        self, observations: list[Observation], stages: dict[str, Rankings], positions: list[int]
    ) -> set[int]:
        """Return the rows that must be checked one by one; all others are known to be free of problems."""
        cases, codes = self.joins.golden.cases, self._codes
        suspicious = {
            row
            for row, (observation, position) in enumerate(zip(observations, positions, strict=True))
            if position == NO_CASE
            or observation.config_id not in codes
            or (observation.question is not None and observation.question != cases[position].question)
        }
        return suspicious | suspects(observations, stages.values())

    def _check_row(self, observation: Observation, position: int, number: int) -> bool:
        """Collect the problems and notices of one row; return whether it can be scored."""
        row_flaws = [*flaws(observation), *(repeat_flaws(observation) if self.strict else ())]
        self._add_flaws(observation, number, row_flaws)
        note_rankings(observation, self.result.notices)
        if row_flaws:
            return False
        if position == NO_CASE:
            self.result.unknown.append((observation.case_id, number))
            return False
        self._compare_question(self.joins.golden.cases[position], observation, number)
        if observation.config_id not in self._codes:
            self._codes[observation.config_id] = len(self._codes)
            self._add_flaws(observation, number, filter(None, [config_flaw(observation.config_id)]))
        return True

    def _add_flaws(self, observation: Observation, number: int, row_flaws: Iterable[Flaw]) -> None:
        for field_path, message, code in row_flaws:
            self._add_problem(Problem(self.source, number, self.form.in_words(observation, field_path), message, code))

    def problem(self, problem: Problem) -> None:
        """Add a problem of a row that cannot be decoded, after the problems of the rows before it."""
        self._flush_pending()
        self._add_problem(problem)

    def _add_problem(self, problem: Problem) -> None:
        """Add a problem; beyond the number that is shown, only count it."""
        if len(self.result.problems) < MAX_PROBLEMS_SHOWN:
            self.result.problems.append(problem)
        else:
            self.result.more_problems += 1

    def finish(self) -> Collected:
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
            f"not the golden question of {shown(case.id)} "
            f"(got {shown(reported_question)}; expected {shown(golden_question)})"
        )
        self._add_problem(Problem(self.source, number, "question", message, "E_QUESTION_MISMATCH"))

    def _note_rows(self, rows: Rows) -> None:
        """Collect notices, the versions, and the stage that ranking metrics use, from rows that are scored."""
        note_rows(rows, self.result.notices)
        for observation in rows.observations:
            if observation.versions != self._versions.get(observation.config_id):
                self._versions[observation.config_id] = observation.versions
                values_by_name = self.result.versions.setdefault(observation.config_id, {})
                for name, version in observation.versions.items():
                    values_by_name.setdefault(name, set()).add(version)
        retrieved = zip(rows.observations, rows.ranked(RETRIEVED), strict=True)
        for config, stage in {
            (observation.config_id, ranking.stage.name) for observation, ranking in retrieved if ranking is not None
        }:
            self.result.stages.setdefault(config, set()).add(stage)

    def _close_block(self) -> None:
        ids = np.array(self._ids, dtype=np.int64).reshape(-1, 5).T
        self._blocks.append(
            Block(
                case=ids[0].astype(np.int32),
                config=ids[1].astype(np.int32),
                repeat=ids[2].astype(np.int32),
                line=ids[3].copy(),
                start=ids[4].copy(),
                broken=self._batch.broken,
                columns=score_batch(self.plan, self._batch),
            )
        )
        self._start_block()


def _are_plain(observations: list[Observation], stages: dict[str, Rankings]) -> bool:
    """Return whether every id is certain to be in NFC: all are ASCII, and none occurs in metadata or sentences."""
    names = [
        name
        for observation in observations
        for name in (observation.case_id, observation.config_id, *(observation.citations or ()))
    ]
    return (
        "".join(names).isascii()
        and all(rankings.ascii and rankings.bare for rankings in stages.values())
        and not any(observation.sentences for observation in observations)
    )


def _normalise_question(text: str) -> list[str]:
    """Return the words of a question in NFC, for a comparison that ignores whitespace."""
    return unicodedata.normalize("NFC", text).split()
