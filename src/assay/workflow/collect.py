"""Observations into scored blocks: joined with their cases, graded 4,096 rows at a time, everything odd counted."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from assay.errors import MAX_PROBLEMS_SHOWN, Problem, shown
from assay.graders.base import Batch, CaseIndex, Joins
from assay.graders.row import Row, join
from assay.graders.stages import RETRIEVED
from assay.io.observations import flaws, in_nfc, suspect
from assay.model import Observation
from assay.scoring.engine import BLOCK_ROWS, Block, Plan, join_blocks, score_batch


@dataclass(slots=True)
class Collected:
    """What a run of observations gave: scored rows, and everything that people must be told. Line numbers count from
    the first line collected and are shifted when shards are put together."""

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
    """Takes observations one at a time and keeps their scores."""

    def __init__(self, joins: Joins, the_plan: Plan, source: str, file: int = 0) -> None:
        self.joins, self.plan, self.source = joins, the_plan, source
        self.result = Collected(file)
        self._blocks: list[Block] = []
        self._codes: dict[str, int] = {}
        self._versions: dict[str, dict[str, str]] = {}
        self._fresh()

    def _fresh(self) -> None:
        self._batch = Batch(self.plan.facts)
        self._ids: list[tuple[int, int, int, int, int]] = []

    def take(
        self, observation: Observation, number: int = 0, start: int = 0, *, plain: bool = False, bare: bool = False
    ) -> None:
        """Take the observation of line `number`, which begins at byte `start`.

        `plain` says that its ids are all ASCII, `bare` that its chunks carry no metadata: what the caller knows spares
        a look at every chunk.
        """
        if not plain:
            observation, changed = in_nfc(observation)
            if changed:
                self.result.notices["rows whose ids were brought to Unicode NFC"] += 1
        place = self.joins.position.get(observation.case_id)
        row = join(self.joins.case(place or 0), observation, bare=bare)
        if suspect(observation, row.stages.values()):
            found = flaws(observation)
            for where, what in found:
                self.problem(Problem(self.source, number, where, what))
            if found:
                return
        if place is None:
            self.result.unknown.append((observation.case_id, number))
            return
        self._compare_question(row.case, observation, number)
        code = self._codes.get(observation.config_id)
        if code is None:
            code = self._codes[observation.config_id] = len(self._codes)
            self._note_stage(row)
        self._note(row)
        self._ids.append((place, code, observation.repeat, number, start))
        self._batch.add(row)
        if len(self._batch) == BLOCK_ROWS:
            self._close_block()

    def problem(self, problem: Problem) -> None:
        """Keep a problem, or only count it when there are many."""
        if len(self.result.problems) < MAX_PROBLEMS_SHOWN:
            self.result.problems.append(problem)
        else:
            self.result.more_problems += 1

    def finish(self) -> Collected:
        """Return everything collected."""
        if self._ids or not self._blocks:
            self._close_block()
        self.result.rows = join_blocks(self._blocks)
        self.result.configs = list(self._codes)
        self.result.notices = +self.result.notices
        return self.result

    def _compare_question(self, case: CaseIndex, observation: Observation, number: int) -> None:
        said, asked = observation.question, case.case.question
        if said is None or said == asked or not asked:
            return
        if " ".join(unicodedata.normalize("NFC", said).split()) != " ".join(asked.split()):
            message = f"not the golden question of {case.case.id!r} (got {shown(said)}; expected {shown(asked)})"
            self.problem(Problem(self.source, number, "question", message, "E_QUESTION_MISMATCH"))

    def _note(self, row: Row) -> None:
        """Count what people should know without it being an error."""
        observation, notices = row.observation, self.result.notices
        if observation.config_id == "unknown":
            notices["rows without config_id, scored as configuration 'unknown'"] += 1
        for name, ranked in row.stages.items():
            if len(ranked.distinct) < len(ranked.ids):
                notices[f"rankings of stage {name} that repeat a chunk (a repeat is not relevant again)"] += 1
        versions = observation.versions
        if versions != self._versions.get(observation.config_id):
            self._versions[observation.config_id] = versions
            known = self.result.versions.setdefault(observation.config_id, {})
            for name, version in versions.items():
                known.setdefault(name, set()).add(version)

    def _note_stage(self, row: Row) -> None:
        ranked = row.ranked(RETRIEVED)
        if ranked is not None:
            self.result.stages.setdefault(row.observation.config_id, set()).add(ranked.stage.name)

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
        self._fresh()
