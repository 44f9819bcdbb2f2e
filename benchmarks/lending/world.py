"""Runs the help desk under its faults and tells, without Assay, which answers are good."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from assay.records.golden_set import GoldenSet
from assay.records.observations import Observation
from benchmarks.attribution_levels import LEVELS, FaultyRun, Level, Part, attribute_trace
from benchmarks.attribution_twins import (
    CONTENT_CAUSES,
    SpoiledRun,
    find_cause_twins,
    find_open_twins,
    find_pair_twins,
    find_text_twins,
)
from benchmarks.depot.faults import Causes, is_untouched
from benchmarks.lending import pipeline
from benchmarks.lending.faults import FAULTS, LABEL_FAULTS
from benchmarks.lending.fifth_faults import FIFTH_LATER_FAULTS, FIFTH_LATER_LABEL_FAULTS
from benchmarks.lending.later_faults import FOURTH_LATER_FAULTS, FOURTH_LATER_LABEL_FAULTS
from benchmarks.lending.passages import PASSAGES, Passage, build_corpus
from benchmarks.lending.pipeline import ABSTAINED, DENIED, Desk, Steps
from benchmarks.lending.questions import QUESTIONS, Question, build_golden, make_user


class LendingWorld:
    """The golden set, the corpus and the observations of the sound help desk."""

    def __init__(self) -> None:
        self.golden, self.corpus = build_golden(), build_corpus()
        self.clean, good = observe(Desk())
        self.good = frozenset(case_id for case_id, is_good in good.items() if is_good)
        self.open_runs = [observe(Desk(Steps(prepare=_open_all)))[0]]

    def measure(self, levels: Sequence[Level] = LEVELS) -> Iterator[FaultyRun]:
        """Yield the runs of every fault at every level; first the sound help desk."""
        for level in levels:
            attributed = attribute_trace(self.golden, self.corpus, self.clean, level)
            spared = tuple(attributed[case_id] for case_id in sorted(self.good))
            yield FaultyRun("lending", "clean", level, frozenset(), "third later", (), spared)
        faults = FAULTS | FOURTH_LATER_FAULTS | FIFTH_LATER_FAULTS
        outcomes = {name: observe(Desk(fault.damage(Steps()))) for name, fault in faults.items()}
        for level in levels:
            spoiled_runs = {
                name: SpoiledRun(observations, self._list_spoiled(good), faults[name].list_causes(level))
                for name, (observations, good) in outcomes.items()
            }
            pairs = find_pair_twins(spoiled_runs, level)
            for name, run in spoiled_runs.items():
                attributed = attribute_trace(self.golden, self.corpus, run.observations, level)
                yield FaultyRun(
                    "lending",
                    name,
                    level,
                    run.causes,
                    find_part(name),
                    tuple(attributed[case_id] for case_id in sorted(run.spoiled)),
                    tuple(attributed[case_id] for case_id in sorted(self.good - run.spoiled)),
                    self._find_twins(self.golden, run.observations, level, run.causes) | pairs[name],
                    find_cause_twins(self.golden, run.observations, level, run.causes),
                )
        for name, label_fault in (LABEL_FAULTS | FOURTH_LATER_LABEL_FAULTS | FIFTH_LATER_LABEL_FAULTS).items():
            golden = GoldenSet(tuple(map(label_fault.damage, self.golden.cases)), as_of=self.golden.as_of)
            part = find_part(name)
            changed = [new.id for old, new in zip(self.golden.cases, golden.cases, strict=True) if old != new]
            for level in levels:
                attributed = attribute_trace(golden, self.corpus, self.clean, level)
                affected = tuple(attributed[case_id] for case_id in changed)
                causes = label_fault.causes
                twins = self._find_twins(golden, self.clean, level, causes)
                ambiguous = find_cause_twins(golden, self.clean, level, causes)
                yield FaultyRun("lending", name, level, causes, part, affected, (), twins, ambiguous)

    def _list_spoiled(self, good: Mapping[str, bool]) -> frozenset[str]:
        return frozenset(case_id for case_id in self.good if not good[case_id])

    def _find_twins(
        self, golden: GoldenSet, observations: Sequence[Observation], level: Level, causes: Causes
    ) -> frozenset[str]:
        if "acl" in causes:
            return find_open_twins(observations, self.open_runs, level)
        return find_text_twins(golden, self.corpus, observations, level) if causes & CONTENT_CAUSES else frozenset()


def find_part(name: str) -> Part:
    """Return the part of the benchmark that a fault of the help desk belongs to."""
    if name in FAULTS or name in LABEL_FAULTS:
        return "third later"
    if name in FIFTH_LATER_FAULTS or name in FIFTH_LATER_LABEL_FAULTS:
        return "fifth later"
    return "fourth later, aside" if is_untouched(name) else "fourth later"


def _open_all(passages: Sequence[Passage]) -> list[Passage]:
    return [replace(passage, roles=(), branch=None) for passage in passages]


def observe(desk: Desk) -> tuple[list[Observation], dict[str, bool]]:
    """Return the observations of all questions, and whether each answer is truly good."""
    observations, good = [], {}
    for observation, is_good in iter_answers(desk):
        observations.append(observation)
        good[observation.case_id] = is_good
    return observations, good


def iter_answers(desk: Desk) -> Iterator[tuple[Observation, bool]]:
    """Yield the observation of each question, and whether the answer is truly good."""
    for question in QUESTIONS:
        record, distorted = desk.ask(question.text, make_user(question))
        row = record | {"case_id": question.case_id, "config_id": "lending"}
        yield msgspec.convert(row, Observation), not distorted and is_truly_good(question, record)


def is_truly_good(question: Question, record: dict[str, Any]) -> bool:
    """Return whether an answer says what the pages say, cites where it stands, and shows nothing forbidden."""
    user = make_user(question)
    passages = {passage.chunk_id: passage for passage in PASSAGES}
    for stage in record["stages"]:
        for chunk in stage["chunks"]:
            passage = passages.get(chunk["chunk_id"])
            if passage is not None and not pipeline.is_visible(passage, user):
                return False
    text = record["answer"]
    if question.behaviour != "answer":
        return bool(text == (DENIED if question.behaviour == "permission_denied" else ABSTAINED))
    cited = record["citations"]
    has_values = all(value in text for value in question.values)
    return has_values and bool(cited) and set(cited) <= set(question.chunks)
