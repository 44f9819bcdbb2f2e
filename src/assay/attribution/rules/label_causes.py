"""Detects wrong labels: where golden set and corpus contradict each other, the system may be right."""

from __future__ import annotations

from assay.attribution.cause_finding import RECORD_CORPUS, CauseFinding
from assay.attribution.cause_terms import INDEX_STAGE, MIN_SUPPORT
from assay.attribution.one_case.case_facts import CaseFacts
from assay.attribution.one_case.contained_facts import compute_word_overlap, contains_fact, quote_facts
from assay.metrics.case_checks import find_outdated_labels
from assay.metrics.cases.case_index import CHUNK_ID
from assay.metrics.retrieval.evidence_fields import find_other_names, find_shown_names, is_name_of_corpus
from assay.records.findings import RootCause
from assay.records.observations import Chunk
from assay.text.near_names import find_near_id
from assay.text.normalisation import fold_text

_MIN_ADVANTAGE = 0.25
"""How much more of the reference's words another chunk must contain than the labelled one."""


def find_stale_label(case: CaseFacts) -> CauseFinding | None:
    """The required evidence is not in the corpus, or its text differs from the text that was labelled."""
    facts = find_outdated_labels(case.case)
    return CauseFinding("golden_label_issue", None, facts, "high", subcause="label_outdated") if facts else None


def find_misspelt_label(case: CaseFacts) -> CauseFinding | None:
    """Required evidence is named by an id that no trace of the run has, and that hardly differs from one in the lists
    of this case.

    With a corpus `find_stale_label` has looked at the ids, and knows more.
    """
    if case.case.corpus is not None:
        return None
    listed_ids = {chunk_id: None for step in case.steps for chunk_id in step.chunk_ids}
    for unit in case.lost_units:
        for selector in case.units[unit].any_of:
            name = str(selector.get(CHUNK_ID, ""))
            is_shown = case.index_view is not None and case.index_view.is_shown(name)
            near = find_near_id(name, listed_ids) if name and not is_shown else ""
            if near:
                fact = f"{name}, which the case names, is in no list, and {near} is: did you mean that?"
                return CauseFinding("golden_label_issue", None, (fact,), "medium", ("embedding",), "misspelt_id")
    return None


def find_renamed_label(case: CaseFacts) -> CauseFinding | None:
    """A list of the case has the quote of lost evidence in a chunk of another document, page or section than the label
    says, and nothing shows that the one of the label exists."""
    if not case.lost_units:
        return None
    chunks = [chunk for step in case.steps for chunk in step.stage.chunks]
    for name in find_other_names(case.case, chunks):
        wanted = {name.field: frozenset({name.wanted})}
        is_shown = find_shown_names(case.case.evidence, chunks, wanted)
        if is_shown or is_name_of_corpus(case.case.corpus, name):
            continue
        other = f"the quote is in a chunk whose {name.field} is “{name.shown}”"
        fact = f"{other}, the label says “{name.wanted}”, and no chunk of the case has that"
        return CauseFinding("golden_label_issue", None, (fact,), "medium", ("stale_index",), "other_name")
    return None


def find_moved_label(case: CaseFacts) -> CauseFinding | None:
    """A good answer is based on an unlabelled chunk, while the labelled one contains nothing that the case looks for.

    The labelled chunk did not reach the generator, or is not cited. The rule also applies if an unlabelled chunk with
    the same text was shown instead.
    """
    units = case.lost_units or (case.required_units if case.is_miscited else [])
    expired = _find_expired_label(case)
    if expired is not None:
        return expired
    for unit in case.lost_units:
        texts = {fold_text(text) for text in case.get_expected_texts(unit)}
        copy = _find_copy(case, unit)
        if copy is not None:
            return copy
        twin = next((chunk_id for chunk_id, text in case.unlabelled_texts.items() if fold_text(text) in texts), None)
        if twin is not None and not _has_corpus_text(case, twin, texts):
            fact = f"{twin} is indexed with the text of {case.get_unit_name(unit)}, and the corpus has another for it"
            return CauseFinding("chunking", INDEX_STAGE, (fact,), "medium", ("stale_index",), "other_ids")
        if twin is not None:
            return CauseFinding(
                "golden_label_issue",
                None,
                (f"{twin} has the same text as {case.get_unit_name(unit)}",),
                "medium",
                subcause="unlabelled_duplicate",
            )
    labelled_texts = [text for unit in units for text in case.get_expected_texts(unit)]
    if not case.good or not labelled_texts:
        return None
    names = ", ".join(case.get_unit_name(unit) for unit in units)
    unlabelled_facts = [fact for fact in case.facts if contains_fact(case.unlabelled_texts.values(), fact)]
    if unlabelled_facts and not any(contains_fact(labelled_texts, fact) for fact in case.facts):
        evidence = (
            f"{names} contains nothing that the case looks for",
            f"{quote_facts(unlabelled_facts)} is in an unlabelled chunk that the generator was shown",
        )
        return CauseFinding("golden_label_issue", None, evidence, "high", subcause="wrong_evidence")
    return _find_better_source(case, names, labelled_texts)


def _find_copy(case: CaseFacts, unit: int) -> CauseFinding | None:
    """A chunk of which no corpus tells is shown with the text of a lost unit."""
    name = case.get_unit_name(unit)
    if case.case.corpus is None:
        ranked = {fold_text(text) for text in case.list_ranked_texts(unit)}
        copies = [chunk for chunk in case.arrived_chunks if chunk.text and fold_text(chunk.text) in ranked]
        if copies:
            fact = f"{copies[0].chunk_id} is shown with the text that {name} has in the list before"
            others: tuple[RootCause, ...] = ("golden_label_issue",)
            return CauseFinding("chunking", INDEX_STAGE, (fact,), "low", others, "other_ids", (RECORD_CORPUS,))
    return None


def _has_corpus_text(case: CaseFacts, chunk_id: str, folded_texts: set[str]) -> bool:
    """Whether the corpus gives a chunk one of these texts."""
    corpus = case.case.corpus
    text = corpus.chunks[chunk_id].text if corpus is not None and chunk_id in corpus.chunks else None
    return text is not None and fold_text(text) in folded_texts


def _find_expired_label(case: CaseFacts) -> CauseFinding | None:
    """Lost evidence had expired on the day of the question, and another version of its document was in force."""
    corpus = case.case.corpus
    superseded = case.case.golden_index.superseded_versions(case.case.as_of)
    if corpus is None or superseded is None:
        return None
    for unit in case.lost_units:
        names = case.get_covering_chunk_ids(unit)
        if names and all(superseded.count_superseded([Chunk(name)]) for name in names):
            fact = f"{case.get_unit_name(unit)}, which the case requires, is of a version that is superseded"
            return CauseFinding("golden_label_issue", None, (fact,), "medium", ("stale_index",), "label_outdated")
    return None


def _find_better_source(case: CaseFacts, names: str, labelled_texts: list[str]) -> CauseFinding | None:
    """An unlabelled chunk contains the reference, and the labelled one clearly less of it."""
    reference = case.case.case.reference
    if not reference or not case.unlabelled_texts:
        return None
    if case.facts and all(contains_fact(labelled_texts, fact) for fact in case.facts):
        return None  # the labelled text has all that the case looks for, whatever other words the reference has
    share_by_chunk = {name: compute_word_overlap(reference, [text]) for name, text in case.unlabelled_texts.items()}
    best = max(share_by_chunk, key=share_by_chunk.__getitem__)
    share, labelled_share = share_by_chunk[best], compute_word_overlap(reference, labelled_texts)
    if share < MIN_SUPPORT or share < labelled_share + _MIN_ADVANTAGE:
        return None
    evidence = (f"{best} contains {share:.0%} of the reference's words, {names} {labelled_share:.0%}",)
    return CauseFinding("golden_label_issue", None, evidence, "medium", subcause="wrong_evidence")
