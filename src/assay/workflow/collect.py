"""Observations into scored blocks: joined with their cases, graded 4,096 rows at a time, everything odd counted."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from assay.errors import MAX_PROBLEMS_SHOWN, Problem, shown
from assay.graders.base import Batch, CaseIndex, Joins
from assay.graders.row import Row, join
from assay.graders.stages import RETRIEVED
from assay.io.observations import FORMATS, OutputFormat
from assay.io.outputs.flaws import Flaw, config_flaw, flaws, repeat_flaws, suspect
from assay.io.outputs.nfc import in_nfc
from assay.model import Observation
from assay.scoring import engine
from assay.scoring.engine import Block, Plan, join_blocks, score_batch
from assay.workflow.notices import note_rankings, note_row


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
        """`form` gives places their names in messages; `strict` makes a chunk that a ranking repeats an error."""
        self.joins, self.plan, self.source, self.form, self.strict = joins, the_plan, source, form, strict
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
        if self._is_flawed(row, number):
            return
        if place is None:
            self.result.unknown.append((observation.case_id, number))
            return
        self._compare_question(row.case, observation, number)
        code = self._codes.get(observation.config_id)
        if code is None:
            code = self._codes[observation.config_id] = len(self._codes)
            self._refuse(observation, number, filter(None, [config_flaw(observation.config_id)]))
        self._note(row, plain=plain)
        self._ids.append((place, code, observation.repeat, number, start))
        self._batch.add(row)
        if len(self._batch) >= engine.BLOCK_ROWS:
            self._close_block()

    def _is_flawed(self, row: Row, number: int) -> bool:
        observation = row.observation
        if not suspect(observation, row.stages.values()):
            return False
        found = flaws(observation)
        if self.strict:
            found += repeat_flaws(observation)
        self._refuse(observation, number, found)
        note_rankings(row, self.result.notices)
        return bool(found)

    def _refuse(self, observation: Observation, number: int, found: Iterable[Flaw]) -> None:
        for where, what, code in found:
            self.problem(Problem(self.source, number, self.form.in_words(observation, where), what, code))

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
        if said is None or said == asked or not asked or _words(said) == _words(asked):
            return
        message = f"not the golden question of {shown(case.case.id)} (got {shown(said)}; expected {shown(asked)})"
        self.problem(Problem(self.source, number, "question", message, "E_QUESTION_MISMATCH"))

    def _note(self, row: Row, *, plain: bool) -> None:
        """Count what people should know, the versions, and the stage that ranking metrics mean."""
        config, versions = row.observation.config_id, row.observation.versions
        note_row(row, self.result.notices, plain=plain)
        if versions != self._versions.get(config):
            self._versions[config] = versions
            known = self.result.versions.setdefault(config, {})
            for name, version in versions.items():
                known.setdefault(name, set()).add(version)
        ranked = row.ranked(RETRIEVED)
        if ranked is not None:
            self.result.stages.setdefault(config, set()).add(ranked.stage.name)

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


def _words(text: str) -> list[str]:
    """Return a question as it is compared: its words in NFC, whatever the spaces between them."""
    return unicodedata.normalize("NFC", text).split()
