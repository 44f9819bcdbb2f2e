"""Observations into scored blocks: joined with their cases, graded 4,096 rows at a time, everything odd counted."""

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

NOWHERE = -1
TOGETHER = 64
"""Observations that are joined together: enough to make loops pay, few enough to stay in the processor's cache."""


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
        self._together = min(TOGETHER, engine.BLOCK_ROWS)
        self._blocks: list[Block] = []
        self._codes: dict[str, int] = {}
        self._versions: dict[str, dict[str, str]] = {}
        self._taken: list[tuple[Observation, int, int]] = []
        self._fresh()

    def _fresh(self) -> None:
        self._batch = Batch(self.plan.facts)
        self._ids: list[tuple[int, int, int, int, int]] = []

    def take(self, observation: Observation, number: int = 0, start: int = 0) -> None:
        """Take the observation of line `number`, which begins at byte `start`."""
        self._taken.append((observation, number, start))
        if len(self._taken) >= self._together:
            self._settle()

    def _settle(self) -> None:
        """Join what was taken since the last time with its cases, and keep every row that is to be scored."""
        if not self._taken:
            return
        taken, self._taken = self._taken, []
        observations, stages = self._in_nfc([observation for observation, _, _ in taken])
        places = [self.joins.position.get(seen.case_id, NOWHERE) for seen in observations]
        odd = self._odd(observations, stages, places)
        refused = {row for row in sorted(odd) if not self._accepts(observations[row], places[row], taken[row][1])}
        if refused:
            kept = [row for row in range(len(taken)) if row not in refused]
            taken, places = [taken[row] for row in kept], [places[row] for row in kept]
            observations = [observations[row] for row in kept]
            stages = rankings_of(observations)
        rows = Rows([self.joins.case(place) for place in places], observations, stages)
        self._note(rows)
        self._ids += [
            (place, self._codes[seen.config_id], seen.repeat, number, start)
            for place, seen, (_, number, start) in zip(places, observations, taken, strict=True)
        ]
        self._batch.add(rows)
        if len(self._batch) >= engine.BLOCK_ROWS:
            self._close_block()

    def _in_nfc(self, observations: list[Observation]) -> tuple[list[Observation], dict[str, Rankings]]:
        """Return the observations with their names in NFC, and their rankings."""
        stages = rankings_of(observations)
        if _are_plain(observations, stages):
            return observations, stages
        found = [in_nfc(observation) for observation in observations]
        changed = sum([was_changed for _, was_changed in found])
        self.result.notices["rows whose ids were brought to Unicode NFC"] += changed
        named = [observation for observation, _ in found]
        return named, rankings_of(named) if changed else stages

    def _odd(self, observations: list[Observation], stages: dict[str, Rankings], places: list[int]) -> set[int]:
        """Return the rows that must be looked at one by one; all others have nothing to be said about."""
        cases, codes = self.joins.golden.cases, self._codes
        odd = {
            row
            for row, (seen, place) in enumerate(zip(observations, places, strict=True))
            if place == NOWHERE
            or seen.config_id not in codes
            or (seen.question is not None and seen.question != cases[place].question)
        }
        return odd | suspects(observations, stages.values())

    def _accepts(self, observation: Observation, place: int, number: int) -> bool:
        """Say everything that there is to be said of one row; return whether it is to be scored."""
        found = [*flaws(observation), *(repeat_flaws(observation) if self.strict else ())]
        self._refuse(observation, number, found)
        note_rankings(observation, self.result.notices)
        if found:
            return False
        if place == NOWHERE:
            self.result.unknown.append((observation.case_id, number))
            return False
        self._compare_question(self.joins.golden.cases[place], observation, number)
        if observation.config_id not in self._codes:
            self._codes[observation.config_id] = len(self._codes)
            self._refuse(observation, number, filter(None, [config_flaw(observation.config_id)]))
        return True

    def _refuse(self, observation: Observation, number: int, found: Iterable[Flaw]) -> None:
        for where, what, code in found:
            self._keep(Problem(self.source, number, self.form.in_words(observation, where), what, code))

    def problem(self, problem: Problem) -> None:
        """Keep a problem of a row that cannot be taken, after those of the rows before it."""
        self._settle()
        self._keep(problem)

    def _keep(self, problem: Problem) -> None:
        """Keep a problem, or only count it when there are many."""
        if len(self.result.problems) < MAX_PROBLEMS_SHOWN:
            self.result.problems.append(problem)
        else:
            self.result.more_problems += 1

    def finish(self) -> Collected:
        """Return everything collected."""
        self._settle()
        if len(self._batch) or not self._blocks:
            self._close_block()
        self.result.rows = join_blocks(self._blocks)
        self.result.configs = list(self._codes)
        self.result.notices = +self.result.notices
        return self.result

    def _compare_question(self, case: Case, observation: Observation, number: int) -> None:
        said, asked = observation.question, case.question
        if said is None or said == asked or not asked or _words(said) == _words(asked):
            return
        message = f"not the golden question of {shown(case.id)} (got {shown(said)}; expected {shown(asked)})"
        self._keep(Problem(self.source, number, "question", message, "E_QUESTION_MISMATCH"))

    def _note(self, rows: Rows) -> None:
        """Count what people should know, the versions, and the stage that ranking metrics mean."""
        note_rows(rows, self.result.notices)
        for seen in rows.observations:
            if seen.versions != self._versions.get(seen.config_id):
                self._versions[seen.config_id] = seen.versions
                known = self.result.versions.setdefault(seen.config_id, {})
                for name, version in seen.versions.items():
                    known.setdefault(name, set()).add(version)
        retrieved = zip(rows.observations, rows.ranked(RETRIEVED), strict=True)
        for config, stage in {(seen.config_id, found.stage.name) for seen, found in retrieved if found is not None}:
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
        self._fresh()


def _are_plain(observations: list[Observation], stages: dict[str, Rankings]) -> bool:
    """Whether every name is sure to be in NFC: all are ASCII, and none is hidden in metadata or sentences."""
    names = [name for seen in observations for name in (seen.case_id, seen.config_id, *(seen.citations or ()))]
    return (
        "".join(names).isascii()
        and all(rankings.ascii and rankings.bare for rankings in stages.values())
        and not any(seen.sentences for seen in observations)
    )


def _words(text: str) -> list[str]:
    """Return a question as it is compared: its words in NFC, whatever the spaces between them."""
    return unicodedata.normalize("NFC", text).split()
