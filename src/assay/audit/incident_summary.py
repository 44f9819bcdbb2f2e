"""What is known of an incident in sentences: the answer compared with what a near golden case expects, and where the
text that has it was lost.

A golden case that asks nearly the same need not expect the same, so that each sentence names it and how near it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.attribution.evidence_trace import format_selector
from assay.attribution.one_case.contained_facts import contains_fact, quote_facts
from assay.metrics.answers.expected_text import read_facts
from assay.metrics.cases.absent_labels import describe_absent_unit
from assay.metrics.cases.case_index import CaseIndex, GoldenIndex
from assay.records.golden_set import Case, Corpus, GoldenSet, User
from assay.records.observations import CONTEXT_STAGE, Observation, find_stage
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.normalisation import fold_text
from assay.text.refusals.detected_behaviour import UNKNOWN

MAX_CHUNKS_NAMED = 3
_BEHAVIOURS = {
    "answer": "an answer",
    "abstain": "that the sources do not say it",
    "permission_denied": "a denial of access",
    "escalate": "that a person takes over",
    "clarify": "a question back",
}


class ComparedAnswer(NamedTuple):
    """An answer compared with a golden case: what the case expects, what the answer does with it, and whether that is
    what is expected (None: open). `wanted` are the facts that it does not state."""

    expected: str
    stated: str
    is_right: bool | None
    wanted: tuple[str, ...] = ()


def compare_with_case(case: Case, answer: str, behaviour: str, corpus: Corpus | None) -> ComparedAnswer:
    """Compare an answer, which was read as a behaviour, with the facts or the reference of a golden case.

    >>> case = Case("a", "How long is it kept?", must_have=("30 days",))
    >>> compare_with_case(case, "It is kept for 90 days.", "answer", None).stated
    'the answer does not say 30 days; it says "90 days"'
    """
    accepted = {case.behaviour, *case.also_accept}
    if "answer" not in accepted or (behaviour not in accepted and behaviour != UNKNOWN):
        is_right = None if behaviour == UNKNOWN else behaviour in accepted
        stated = "it was read as nothing that is certain" if behaviour == UNKNOWN else f"read as {behaviour}"
        return ComparedAnswer(_describe_expectation(case), stated, is_right, case.must_have if not is_right else ())
    index = GoldenIndex(GoldenSet((case,)), corpus).case_index(0)
    reading = read_facts(case, answer, index.source_sentences)
    judgments = (*reading.must_have, *reading.keywords, *reading.numbers, *reading.reference_facts)
    is_right = reading.quality.good if reading.quality is not None else None
    open_facts = [judgment for judgment in judgments if judgment.state != "stated"]
    stated = "; ".join(map(_describe_judgment, open_facts)) or ("states all of it" if is_right else "nothing tells")
    return ComparedAnswer(
        _describe_expectation(case), stated, is_right, tuple(judgment.fact for judgment in open_facts)
    )


def _describe_expectation(case: Case) -> str:
    if case.behaviour != "answer":
        return _BEHAVIOURS.get(case.behaviour, case.behaviour)
    return "; ".join(case.must_have) or case.reference or _BEHAVIOURS["answer"]


def _describe_judgment(judgment: FactJudgment) -> str:
    if judgment.reason and judgment.fact in judgment.reason:
        return judgment.reason
    state = "left open" if judgment.state == "unknown" else judgment.state
    return f"{judgment.fact}: {state}" + (f" ({judgment.reason})" if judgment.reason else "")


def describe_near_case(
    case: Case, question: str, similarity: float, compared: ComparedAnswer, user: User | None
) -> str:
    """Return in a sentence whether an answer is what a golden case expects that asks the same, or nearly so."""
    is_same = fold_text(case.question).strip() == fold_text(question).strip()
    asks = "asks the same" if is_same else f"asks nearly the same ({similarity:.2f} alike)"
    whom = " of a user with other rights" if _has_other_rights(case.user, user) else ""
    head = f"golden case {case.id}, which {asks}{whom}, expects {compared.expected}"
    if compared.is_right:
        return f"{head}: the answer agrees"
    if compared.is_right is None:
        return f"{head}: whether the answer agrees is open ({compared.stated})"
    return f"{head}: the answer does not agree ({compared.stated})"


def _has_other_rights(expected: User | None, user: User | None) -> bool:
    """Return whether both state a tenant, or both state roles, and not the same."""
    if expected is None or user is None:
        return False
    has_other_tenant = None not in (expected.tenant, user.tenant) and expected.tenant != user.tenant
    has_other_roles = bool(expected.roles and user.roles) and set(expected.roles) != set(user.roles)
    return has_other_tenant or has_other_roles


def list_evidence_places(
    case: Case, observation: Observation, corpus: Corpus | None, wanted: Sequence[str]
) -> Iterator[str]:
    """Yield where the evidence of a case with which an answer does not agree stands in the trace of the answer, and
    which other chunks have the facts that it lacks and were dropped before the context."""
    if not observation.stages:
        return
    index = GoldenIndex(GoldenSet((case,)), corpus).case_index(0)
    named: set[str] = set()
    for number, unit in enumerate(case.evidence):
        if unit.required and unit.grade > 0:
            name = " or ".join(map(format_selector, unit.any_of))
            yield f"its evidence {name} {_describe_place(index, number, observation, named)}"
    dropped = _list_dropped(observation, wanted, named, corpus)
    if dropped:
        more = f" and {len(dropped) - MAX_CHUNKS_NAMED} more" if len(dropped) > MAX_CHUNKS_NAMED else ""
        has = "has" if len(dropped) == 1 else "have"
        names = ", ".join(dropped[:MAX_CHUNKS_NAMED])
        yield f"{names}{more} {has} {quote_facts(wanted)}: retrieved, and dropped before the context"


def _describe_place(index: CaseIndex, unit: int, observation: Observation, named: set[str]) -> str:
    """Return where a unit of evidence stands in a trace; the ids of its chunks are added to `named`."""
    ranks: dict[str, int] = {}
    for stage in observation.stages or ():
        for rank, mask in enumerate(index.evidence.unit_masks(stage.chunks), 1):
            if mask is not None and mask >> unit & 1:
                named.add(stage.chunks[rank - 1].chunk_id)
                ranks.setdefault(stage.name, rank)
    if CONTEXT_STAGE in ranks:
        return "was shown to the model"
    if not ranks:
        absent = describe_absent_unit(index.case.evidence[unit], index)
        where = (
            "is not in the corpus of that time, which may be cut differently: nothing tells whether its text was shown"
        )
        return "was never retrieved" if absent is None else where
    stage_name, rank = next(iter(ranks.items()))
    return f"was retrieved (rank {rank} of {stage_name}) and dropped before the context"


def _list_dropped(observation: Observation, wanted: Sequence[str], named: set[str], corpus: Corpus | None) -> list[str]:
    """Return the chunks before the context, and not in it, whose text has all the facts that are wanted."""
    context = find_stage(observation, CONTEXT_STAGE)
    if context is None or not wanted:
        return []
    excluded = {*named, *(chunk.chunk_id for chunk in context.chunks)}
    dropped: dict[str, None] = {}
    for stage in observation.stages or ():
        for chunk in stage.chunks:
            text = chunk.text
            if text is None and corpus is not None and chunk.chunk_id in corpus.chunks:
                text = corpus.chunks[chunk.chunk_id].text
            if chunk.chunk_id not in excluded and text and all(contains_fact([text], fact) for fact in wanted):
                dropped[chunk.chunk_id] = None
    return list(dropped)
