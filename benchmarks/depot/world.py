"""Runs the depot under its faults and tells, without Assay, which answers are good."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from assay.records.golden_set import GoldenSet
from assay.records.observations import Observation
from benchmarks.attribution_levels import LEVELS, PARTS, FaultyRun, Level, Part, attribute_trace
from benchmarks.attribution_twins import (
    CONTENT_CAUSES,
    SpoiledRun,
    find_cause_twins,
    find_open_twins,
    find_pair_twins,
    find_text_twins,
)
from benchmarks.depot import pipeline
from benchmarks.depot.documents import Passage, build_corpus, list_passages
from benchmarks.depot.faults import FAULTS, Causes, is_untouched
from benchmarks.depot.labels import LABEL_FAULTS
from benchmarks.depot.later_faults import LATER_FAULTS, LATER_LABEL_FAULTS
from benchmarks.depot.pipeline import Depot, Parts
from benchmarks.depot.questions import QUESTIONS, Question, build_golden, make_user
from benchmarks.depot.second_later_faults import SECOND_LATER_FAULTS, SECOND_LATER_LABEL_FAULTS
from benchmarks.depot.sixth_faults import SIXTH_LATER_FAULTS


class DepotWorld:
    """The golden set, the corpus and the observations of the sound depot."""

    def __init__(self) -> None:
        self.golden, self.corpus = build_golden(), build_corpus()
        self.clean, good = observe(Depot())
        self.good = frozenset(case_id for case_id, is_good in good.items() if is_good)
        self.open_runs = [
            observe(Depot(Parts(prepare=opened)))[0] for opened in (_open_all, _open_roles, _open_tenants)
        ]

    def measure(
        self, levels: Sequence[Level] = LEVELS, parts: Sequence[Part] = PARTS, faults: Sequence[str] = ()
    ) -> Iterator[FaultyRun]:
        """Yield the runs of every fault of the parts (or of the named ones) at every level; first the sound depot."""
        for level in levels:
            attributed = attribute_trace(self.golden, self.corpus, self.clean, level)
            spared = tuple(attributed[case_id] for case_id in sorted(self.good))
            yield FaultyRun("depot", "clean", level, frozenset(), "known", (), spared)
        chosen = {
            name: fault
            for name, fault in (FAULTS | LATER_FAULTS | SECOND_LATER_FAULTS | SIXTH_LATER_FAULTS).items()
            if find_part(name) in parts and (not faults or name in faults)
        }
        outcomes = {name: observe(Depot(fault.damage(Parts()))) for name, fault in chosen.items()}
        for level in levels:
            spoiled_runs = {
                name: SpoiledRun(observations, self._list_spoiled(good), chosen[name].list_causes(level))
                for name, (observations, good) in outcomes.items()
            }
            pairs = find_pair_twins(spoiled_runs, level)
            for name, run in spoiled_runs.items():
                attributed = attribute_trace(self.golden, self.corpus, run.observations, level)
                yield FaultyRun(
                    "depot",
                    name,
                    level,
                    run.causes,
                    find_part(name),
                    tuple(attributed[case_id] for case_id in sorted(run.spoiled)),
                    tuple(attributed[case_id] for case_id in sorted(self.good - run.spoiled)),
                    self._find_twins(self.golden, run.observations, level, run.causes) | pairs[name],
                    find_cause_twins(self.golden, run.observations, level, run.causes),
                )
        for name, label_fault in (LABEL_FAULTS | LATER_LABEL_FAULTS | SECOND_LATER_LABEL_FAULTS).items():
            part = find_part(name)
            if part not in parts or (faults and name not in faults):
                continue
            golden = GoldenSet(tuple(map(label_fault.damage, self.golden.cases)), as_of=self.golden.as_of)
            spoiled = _find_spoiled(self.golden, golden, self.clean) & self.good
            for level in levels:
                attributed = attribute_trace(golden, self.corpus, self.clean, level)
                affected = tuple(attributed[case_id] for case_id in sorted(spoiled))
                twins = self._find_twins(golden, self.clean, level, label_fault.causes)
                ambiguous = find_cause_twins(golden, self.clean, level, label_fault.causes)
                yield FaultyRun("depot", name, level, label_fault.causes, part, affected, (), twins, ambiguous)

    def _list_spoiled(self, good: Mapping[str, bool]) -> frozenset[str]:
        return frozenset(case_id for case_id in self.good if not good[case_id])

    def _find_twins(
        self, golden: GoldenSet, observations: Sequence[Observation], level: Level, causes: Causes
    ) -> frozenset[str]:
        if "acl" in causes:
            return find_open_twins(observations, self.open_runs, level)
        return find_text_twins(golden, self.corpus, observations, level) if causes & CONTENT_CAUSES else frozenset()


def _open_all(passages: Sequence[Passage]) -> list[Passage]:
    return [replace(passage, roles=(), tenant=None) for passage in passages]


def _open_roles(passages: Sequence[Passage]) -> list[Passage]:
    return [replace(passage, roles=()) for passage in passages]


def _open_tenants(passages: Sequence[Passage]) -> list[Passage]:
    return [replace(passage, tenant=None) for passage in passages]


def find_part(name: str) -> Part:
    """Return the part of the benchmark that a fault of the depot belongs to."""
    if name in LATER_FAULTS or name in LATER_LABEL_FAULTS:
        return "later"
    if name in SECOND_LATER_FAULTS or name in SECOND_LATER_LABEL_FAULTS:
        return "second later"
    if name in SIXTH_LATER_FAULTS:
        return "sixth later"
    return "untouched" if is_untouched(name) else "known"


def observe(depot: Depot) -> tuple[list[Observation], dict[str, bool]]:
    """Return the observations of all questions, and whether each answer is truly good."""
    observations, good = [], {}
    for observation, is_good in iter_answers(depot):
        observations.append(observation)
        good[observation.case_id] = is_good
    return observations, good


def iter_answers(depot: Depot) -> Iterator[tuple[Observation, bool]]:
    """Yield the observation of each question, and whether the answer is truly good."""
    for question in QUESTIONS:
        record, distorted = depot.ask(question.text, make_user(question))
        row = record | {"case_id": question.case_id, "config_id": "depot"}
        yield msgspec.convert(row, Observation), not distorted and is_truly_good(question, record)


def is_truly_good(question: Question, record: dict[str, Any]) -> bool:
    """Return whether an answer says what the documents say, cites where it stands, and shows nothing forbidden."""
    text = record["answer"]
    passages = {passage.chunk_id: passage for passage in list_passages()}
    listed = [passages.get(chunk["chunk_id"]) for stage in record["stages"] for chunk in stage["chunks"]]
    user = make_user(question)
    if any(passage is not None and not pipeline.is_visible(passage, user) for passage in listed):
        return False
    if question.behaviour != "answer":
        return bool(text == (pipeline.DENIED if question.behaviour == "permission_denied" else pipeline.ABSTAINED))
    has_values = all(value in text or pipeline.spell_units(value) in text for value in question.values)
    cited = record["citations"]
    return has_values and bool(cited) and set(cited) <= set(question.chunks)


def _find_spoiled(sound: GoldenSet, damaged: GoldenSet, observations: Sequence[Observation]) -> frozenset[str]:
    """Return the cases whose label was changed, and whose sound answer the new label no longer fits."""
    spoiled = set()
    for old, new, observation in zip(sound.cases, damaged.cases, observations, strict=True):
        labelled = {str(item["chunk_id"]) for unit in new.evidence for item in unit.any_of}
        is_same_text = (old.must_have, old.rubric) == (new.must_have, new.rubric)
        if old != new and not (is_same_text and set(observation.citations or ()) <= labelled):
            spoiled.add(new.id)
    return frozenset(spoiled)
