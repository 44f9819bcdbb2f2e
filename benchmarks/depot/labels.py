"""Faults of the depot's golden set: the system answers soundly, and its labels are wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from assay.records.findings import RootCause
from assay.records.golden_set import Case, Evidence, Rubric
from benchmarks.depot.faults import Causes, Level


@dataclass(frozen=True)
class LabelFault:
    """What is wrong with the labels; `damage` returns a case with the wrong label, or the same case."""

    description: str
    damage: Callable[[Case], Case]
    hidden: frozenset[Level] = frozenset()
    causes: Causes = field(default=frozenset[RootCause](("golden_label_issue",)))

    def list_causes(self, level: Level) -> Causes:
        """Return the acceptable causes at one level."""
        return self.causes


def _change_numbers(case: Case) -> Case:
    """State another number, as after a change of the document; every third case."""
    if not case.must_have or int(case.id[1:]) % 3:
        return case
    facts = tuple(
        "".join(str((int(letter) + 4) % 10) if letter.isdigit() else letter for letter in fact)
        for fact in case.must_have
    )
    return replace(case, must_have=facts) if facts != case.must_have else case


def _forget_twins(case: Case) -> Case:
    """Label one of two passages that say the same: the sheet alone."""
    units = tuple(replace(unit, any_of=unit.any_of[:1]) for unit in case.evidence)
    return replace(case, evidence=units) if units != case.evidence else case


def _rename_chunk(case: Case) -> Case:
    """Point to an id that the corpus does not have; every fourth case."""
    if not case.evidence or case.behaviour != "answer" or int(case.id[1:]) % 4:
        return case
    gone: tuple[dict[str, Any], ...] = tuple(
        {"chunk_id": f"{item['chunk_id']}-old"} for item in case.evidence[0].any_of
    )
    return replace(case, evidence=(replace(case.evidence[0], any_of=gone), *case.evidence[1:]))


def _label_other_chunk(case: Case) -> Case:
    """Point to the other chunk of the product: the limits of use instead of the data; cases of tables."""
    if not case.id.startswith("t") or int(case.id[1:]) % 2:
        return case
    units = tuple(
        Evidence(any_of=({"chunk_id": str(unit.any_of[0]["chunk_id"]).replace("/spec", "/limits")},))
        for unit in case.evidence
    )
    return replace(case, evidence=units)


def _wrong_keywords(case: Case) -> Case:
    """Ask for a word that the documents do not use."""
    if case.rubric is None or not case.rubric.correct_keywords:
        return case
    return replace(case, rubric=Rubric(correct_keywords=("see appendix", "table 9"), match="all"))


LABEL_FAULTS: dict[str, LabelFault] = {
    "label:other-numbers": LabelFault("facts of an earlier document", _change_numbers, frozenset({"stages"})),
    "label:one-of-twins": LabelFault(
        "one of two equal passages is labelled", _forget_twins, frozenset({"stages", "minimal"})
    ),
    "label:gone-chunk": LabelFault("the labelled id does not exist", _rename_chunk, frozenset({"stages", "minimal"})),
    "label:other-chunk": LabelFault(
        "the wrong chunk is labelled", _label_other_chunk, frozenset({"stages", "minimal"})
    ),
    "label:keywords": LabelFault("keywords that nobody says", _wrong_keywords, frozenset({"stages"})),
}
"""Every fault of the labels, by name."""
