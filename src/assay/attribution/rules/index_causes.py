"""Detects evidence that did not reach the generator, or reached it with another text than the corpus has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from types import MappingProxyType

from msgspec import structs

from assay.attribution.cause_finding import RECORD_CORPUS, RECORD_TEXTS, CauseFinding
from assay.attribution.cause_terms import INDEX_STAGE
from assay.attribution.evidence_trace import find_rank_apart
from assay.attribution.index.text_differences import IndexDefect
from assay.attribution.losses.lost_step import find_lost_step
from assay.attribution.losses.lost_unit import LostEvidence
from assay.attribution.losses.step_losses import check_context_builder
from assay.attribution.one_case.case_facts import CaseFacts
from assay.attribution.one_case.contained_facts import contains_fact, quote_facts
from assay.attribution.rules.denied_evidence import consider_access
from assay.metrics.answers.answer_behaviour import ANSWER_BEHAVIOUR
from assay.records.findings import CauseConfidence, RootCause
from assay.text.quantities.units import UNITS
from assay.text.question_entities import find_missing_entities, find_question_entities
from assay.text.tokens import is_stop_word, tokenise_text


def find_lost_evidence(case: CaseFacts) -> CauseFinding | None:
    """Required evidence did not reach the generator, because of how its text was indexed or of a stage that lost it."""
    if case.reached is not False and not (case.reached is None and case.lost_units and case.lacks_arrived_texts):
        return None
    # Units that hold what the answer lacks come first; then a known cause, and one of the index, wins over others.
    lost_units = sorted(case.lost_units, key=partial(_has_no_missing_fact, case))
    losses = [_find_loss(case, unit) for unit in lost_units]
    first = min(losses, key=lambda loss: (loss.cause == "insufficient_trace", loss.stage != INDEX_STAGE))
    also: dict[RootCause, None] = {}
    evidence: dict[str, None] = {}
    for loss in losses:
        also |= dict.fromkeys(cause for cause in (loss.cause, *loss.also) if cause != first.cause)
        if loss.cause == first.cause:
            evidence |= dict.fromkeys(loss.evidence)
    if case.behaviour == "permission_denied" and case.case.case.user is None:
        also = dict.fromkeys(("acl", *also))
        evidence[_DENIED_TO_NOBODY] = None
    lost_at = {unit: loss.stage for unit, loss in zip(lost_units, losses, strict=True) if loss.stage is not None}
    return structs.replace(
        first, also=tuple(also), evidence=(*evidence, *_name_missing_entities(case)), lost_at=MappingProxyType(lost_at)
    )


def _find_loss(case: CaseFacts, unit: int) -> CauseFinding:
    """Return what lost a unit. A defect of its indexed text did not where the last ranking still had it high enough."""
    loss = _describe_lost_evidence(case, unit)
    left_out = check_context_builder(loss)
    is_ranked_well = left_out is not None and left_out.confidence == "high"
    defect = None if is_ranked_well else find_index_defect(case, unit)
    return defect or consider_access(case, unit, find_lost_step(loss))


def _describe_lost_evidence(case: CaseFacts, unit: int) -> LostEvidence:
    """Return what is known about a unit that did not reach the generator."""
    k = case.settings.production_k or (case.index_view.production_k if case.index_view is not None else 0)
    chunk_ids = tuple(case.get_covering_chunk_ids(unit) or case.list_labelled_ids(unit))
    view = case.index_view
    return LostEvidence(
        unit,
        case.get_unit_name(unit),
        case.steps,
        case.query,
        case.get_expected_texts(unit),
        case.get_chunk_text,
        k,
        case.observation.question or case.case.case.question,
        chunk_ids,
        view,
        case.observation.query_rewrite is not None,
        case.good is not False and case.behaviour == ANSWER_BEHAVIOUR,
        case.states_other_values,
        view is not None and view.access.is_hidden_from(case.case.case.user, chunk_ids),
        find_rank_apart(case.case, case.observation, case.steps, unit),
        has_untold_chunks(case, unit),
    )


def has_untold_chunks(case: CaseFacts, unit: int) -> bool:
    """Return whether a quote alone names a unit, and a step lists chunks of which no text is known."""
    is_quoted = any(bit == unit and not names_ids for bit, names_ids in case.case.quoted_units)
    listed = (chunk_id for step in case.steps for chunk_id in step.chunk_ids)
    return is_quoted and any(case.get_chunk_text(chunk_id) is None for chunk_id in listed)


_DENIED_TO_NOBODY = "permission was denied, and the case names no user"


def _name_missing_entities(case: CaseFacts) -> list[str]:
    """Return a line for each code or name of the question that nothing mentions of what reached the generator."""
    texts = [case.get_chunk_text(chunk.chunk_id) for chunk in case.arrived_chunks]
    if not texts or None in texts:
        return []
    entities = find_question_entities(case.case.case.question, case.case.language)
    missing = find_missing_entities(entities, filter(None, texts))
    return [f"nothing that the generator was shown has “{entity}”, which the question names" for entity in missing]


def _has_no_missing_fact(case: CaseFacts, unit: int) -> bool:
    return not any(contains_fact(case.get_expected_texts(unit), fact) for fact in case.content_quality.missing)


def find_corrupted_index_text(case: CaseFacts) -> CauseFinding | None:
    """The evidence reached the generator, but its indexed text lacks what the answer needed."""
    if case.good is not False or not case.reached:
        return None
    for unit in case.required_units:
        defect = find_index_defect(case, unit)
        if defect is None:
            continue
        shown_texts, expected_texts = case.get_shown_texts(unit), case.get_expected_texts(unit)
        for fact in case.content_quality.missing:
            if contains_fact(expected_texts, fact) and not contains_fact(shown_texts, fact):
                return structs.replace(defect, evidence=(*defect.evidence, f"its indexed text lacks “{fact}”"))
            if _is_line_lost(fact, expected_texts, shown_texts):
                return structs.replace(
                    defect, evidence=(*defect.evidence, f"its indexed text lacks the line that has “{fact}”")
                )
        if defect.cause == "insufficient_trace":
            continue
        confidence: CauseConfidence = "low" if defect.confidence == "low" else "medium"
        if not case.has_shown_texts:  # ids alone show the defect, and not which words it takes from the generator
            return structs.replace(defect, confidence=confidence, also=("generator",), record=(RECORD_TEXTS,))
        lost_query_words = _list_lost_query_words(case.query, expected_texts, shown_texts)
        if lost_query_words:
            fact = f"the lost text has the question's word “{lost_query_words[0]}”"
        elif case.behaviour != "answer":
            fact = "it was not found to answer"
        else:
            continue
        return structs.replace(defect, evidence=(*defect.evidence, fact), confidence=confidence)
    return None


def find_defect_of_unknown_answer(case: CaseFacts) -> CauseFinding | None:
    """Nothing tells whether the answer is right, and its evidence was indexed without what the reference says."""
    if case.good is not None or not case.reached or case.behaviour != "answer":
        return None
    reference = case.case.case.reference or ""
    looked_for = (*case.facts, *tokenise_text(reference))
    for unit in case.required_units:
        defect = find_index_defect(case, unit)
        if defect is None or defect.cause == "insufficient_trace":
            continue
        shown_texts, expected_texts = case.get_shown_texts(unit), case.get_expected_texts(unit)
        for fact in looked_for if case.has_shown_texts else ():
            is_lost = contains_fact(expected_texts, fact) and not contains_fact(shown_texts, fact)
            if is_lost or _is_line_lost(fact, expected_texts, shown_texts):
                others: tuple[RootCause, ...] = (*defect.also, "generator")
                fact_of_loss = f"its indexed text lacks “{fact}”, or the line that has it"
                confidence: CauseConfidence = "low" if defect.confidence == "low" else "medium"
                return structs.replace(
                    defect, evidence=(*defect.evidence, fact_of_loss), confidence=confidence, also=others
                )
    return None


def _is_line_lost(fact: str, expected_texts: Sequence[str], shown_texts: Sequence[str]) -> bool:
    """Whether the lines of the expected texts that have a fact are in none of the shown texts, word by word."""
    lines = [line for text in expected_texts for line in text.splitlines() if contains_fact([line], fact)]
    shown = [f" {' '.join(tokenise_text(text))} " for text in shown_texts]
    return bool(lines) and not any(f" {' '.join(tokenise_text(line))} " in text for line in lines for text in shown)


def find_cut_text(case: CaseFacts) -> CauseFinding | None:
    """Without a corpus: the text of the evidence stops inside a sentence, or goes on in a piece that is named after it,
    and lacks what the case looks for."""
    if case.good is not False or not case.reached or not case.is_index_unknown or case.index_view is None:
        return None
    looked_for = case.facts if case.behaviour != "answer" else case.content_quality.missing
    for chunk_id, text in case.list_evidence_texts():
        lost_facts = [fact for fact in looked_for if not contains_fact([text], fact)]
        whole_text = case.get_whole_text(chunk_id)
        if not lost_facts or (whole_text is not None and contains_fact([whole_text], lost_facts[0])):
            continue  # an earlier stage has it, so that it is indexed
        lack = f"{chunk_id} as it is indexed lacks {quote_facts(lost_facts)}"
        for piece in case.index_view.list_shown_pieces(chunk_id):
            if contains_fact([case.index_view.texts.get(piece, "")], lost_facts[0]):
                facts = (lack, f"{piece}, which is named as a piece of it, has it")
                return CauseFinding(
                    "chunking", INDEX_STAGE, facts, "medium", ("golden_label_issue",), "cut_off", (RECORD_CORPUS,)
                )
        if ends_inside_sentence(text):
            facts = (lack, f"it stops inside a sentence: “… {' '.join(text.split()[-5:])}”")
            return CauseFinding(
                "chunking", INDEX_STAGE, facts, "low", ("golden_label_issue",), "cut_off", (RECORD_CORPUS,)
            )
    return None


_MIN_SENTENCE = 5
"""How many words the last line of a text must have to be an unfinished sentence and not a title or an entry."""


def ends_inside_sentence(text: str) -> bool:
    """Return whether a text ends in prose without a mark that ends a sentence, as a text that was cut does.

    >>> ends_inside_sentence("The pump must never run dry for more than")
    True
    >>> ends_inside_sentence("- two sockets for each of the three sets")
    False
    """
    lines = text.rstrip().splitlines()
    if not lines:
        return False
    last = lines[-1].strip()
    is_prose = last[:1] not in "|-*#•>" and len(last.split()) >= _MIN_SENTENCE
    return is_prose and (last[-1].isalnum() or last[-1] in ",-–")


def _list_lost_query_words(query: str, expected_texts: Iterable[str], shown_texts: Iterable[str]) -> list[str]:
    """Return the words of a query that a text should have and has nowhere; units and the words of any text aside.

    >>> rows = ["car up to 4 m 46", "trailer up to 4 m 25"]
    >>> _list_lost_query_words("What does a 4 m car cost?", rows, rows[:1])
    []
    >>> _list_lost_query_words("What does a 4 m trailer cost?", rows, rows[:1])
    ['trailer']
    """
    shown = {word for text in shown_texts for word in tokenise_text(text)}
    lost = {word for text in expected_texts for word in tokenise_text(text)} - shown
    asked = set(tokenise_text(query))
    return sorted(word for word in lost & asked if not is_stop_word(word) and word not in UNITS)


def find_index_defect(case: CaseFacts, unit: int) -> CauseFinding | None:
    """Return what is wrong with the indexed text of a unit, if all chunks that cover it have a defect.

    A chunk that no trace shows under its id lacks nothing where this trace has its text under another one.
    """
    chunk_ids = case.get_covering_chunk_ids(unit)
    if case.index_view is None or not chunk_ids:
        return None
    is_changed = any(chunk_id in case.index_view.indexed.changed for chunk_id in chunk_ids)
    if not is_changed and case.is_shown_under_other_id(unit):
        return None
    defects: list[IndexDefect] = []
    for chunk_id in chunk_ids:
        defect = case.index_view.find_defect(chunk_id)
        if defect is None:
            return None
        defects.append(defect)
    first = defects[0]
    if first.kind == "unclear":
        is_read = any(case.index_view.indexed.has_read(chunk_id) for chunk_id in chunk_ids)
        cause: RootCause = "chunking" if is_read else "insufficient_trace"
        also: tuple[RootCause, ...] = ("parser", "context_builder") if is_read else ("parser", "chunking")
        subcause = "cut_off" if is_read else ""
        return CauseFinding(cause, INDEX_STAGE, (first.evidence,), "low", also, subcause, (_WHOLE_TEXTS,))
    return CauseFinding(first.kind, INDEX_STAGE, (first.evidence,), "medium" if first.also else "high", first.also)


_WHOLE_TEXTS = "the text or hash of each chunk as it is indexed, in every stage"
