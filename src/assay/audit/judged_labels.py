"""What recorded verdicts of a judge say of one production answer: a label for each claim and each citation.

A verdict is about exactly the texts that the judge was sent. Which words mark the evidence in them follows from the
golden set and the corpus of that time, which a record does not hold: those at hand are tried, and then none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.grounding.citation_support import label_citations
from assay.metrics.grounding.faithfulness import judge_claims
from assay.metrics.judged.judge_requests import (
    ItemLabel,
    LabelRequests,
    Outcome,
    RecordedVerdicts,
    Rubrics,
    replay_dialogue,
)
from assay.metrics.parsed_answer import ParsedAnswer
from assay.records.golden_set import Case, Corpus, GoldenSet
from assay.records.observations import Observation

OF_THEN = "what the judge said is about the texts of then"


class JudgedLabels(Struct, frozen=True):
    """The labels of a judge: of claims by their ids, of citations by the text of the claim (or None) and the name."""

    claims: dict[str, str]
    citations: dict[tuple[str | None, str], str]
    notes: tuple[str, ...]


def find_judged_labels(
    case: Case,
    observation: Observation,
    corpora: Sequence[Corpus | None],
    golden_sets: Sequence[GoldenSet | None],
    judging: RecordedVerdicts,
) -> JudgedLabels:
    """Return the labels that the judge gave to an answer; the first golden set and corpus that yield any count.

    Without verdicts, or with a judge that failed its controls, there is no label, and a note says why.
    """
    claims: dict[str, str] = {}
    citations: dict[tuple[str | None, str], str] = {}
    reasons: dict[str, None] = {}
    for reading in _read_answers(case, observation, corpora, golden_sets, judging):
        if not claims:
            labels = _replay(reading, judge_claims, judging, reasons)
            claims = {claim.id: labels[claim.id].label for claim in reading.claims if claim.id in labels}
        if not citations:
            labels = _replay(reading, label_citations, judging, reasons)
            for citation in reading.citations:
                if citation.texts and citation.id in labels:
                    claim_text = None if citation.claim is None else citation.claim.text
                    citations[claim_text, citation.name] = labels[citation.id].label
        if claims and citations:
            break
    if claims or citations:
        return JudgedLabels(claims, citations, (f"{OF_THEN}: {judging.model}",))
    return JudgedLabels({}, {}, tuple(f"judge: {reason}" for reason in list(reasons)[:1]))


def _read_answers(
    case: Case,
    observation: Observation,
    corpora: Sequence[Corpus | None],
    golden_sets: Sequence[GoldenSet | None],
    judging: RecordedVerdicts,
) -> Iterator[ParsedAnswer]:
    read_pairs: set[tuple[int, int]] = set()
    for golden in golden_sets:
        for corpus in corpora:
            if (id(golden), id(corpus)) not in read_pairs:
                read_pairs.add((id(golden), id(corpus)))
                whole = golden if golden is not None else GoldenSet(())
                index = GoldenIndex(GoldenSet((case,)), corpus, judging, whole)
                yield ParsedAnswer(index.case_index(0), observation)


def _replay(
    reading: ParsedAnswer,
    ask: Callable[[ParsedAnswer, Rubrics], LabelRequests],
    judging: RecordedVerdicts,
    reasons: dict[str, None],
) -> dict[str, ItemLabel]:
    labels = replay_dialogue(ask(reading, judging.rubrics), reading.find_ruling)
    if isinstance(labels, Outcome):
        reasons[labels.reason] = None
        return {}
    return labels
