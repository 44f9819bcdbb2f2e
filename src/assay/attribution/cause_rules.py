"""The rules that detect the root causes of a bad answer.

The causes are those of the `rag-trace` contract (see ADR 0038). Some rules detect wrong labels: if golden set, corpus
and answer contradict each other, the system may be right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from types import MappingProxyType

from assay.attribution.answer_quality import assess_text, get_scored_value
from assay.attribution.case_facts import (
    CaseFacts,
    compute_word_overlap,
    contains_fact,
    find_unsupported_numbers,
    quote_facts,
)
from assay.attribution.cause_finding import (
    RECORD_BEFORE_ACCESS,
    RECORD_CORPUS,
    RECORD_ID_SEARCH,
    RECORD_TEXTS,
    RECORDS_OF_FAILED_SEARCH,
    CauseFinding,
)
from assay.attribution.denied_evidence import consider_access, describe_sent_user
from assay.attribution.index_state import IndexDefect, IndexView
from assay.attribution.lost_evidence import find_lost_step
from assay.attribution.misread_numbers import find_misread_number
from assay.attribution.other_values import split_lines
from assay.metrics.answers.expected_text import REFERENCE_VALUE
from assay.metrics.case_checks import find_outdated_labels
from assay.metrics.cases.case_index import CHUNK_ID
from assay.metrics.judged.judge_requests import TIED_VOTES
from assay.metrics.leaks.find_leaks import IN_ANYWHERE, INJECTION
from assay.metrics.retrieval.evidence_fields import find_other_names, find_shown_names, is_name_of_corpus
from assay.records.counts import format_count
from assay.records.findings import CauseConfidence, RootCause
from assay.records.golden_set import CorpusChunk, User
from assay.records.observations import CONTEXT_STAGE, Chunk
from assay.records.scores import ERROR
from assay.scoring.attribution_settings import JUDGE_METRIC
from assay.text.citation_markers import remove_citation_markers
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.read_text import read_text
from assay.text.facts.stated_facts import judge_facts
from assay.text.near_names import find_near_id
from assay.text.normalisation import fold_text
from assay.text.numbers import find_quantities
from assay.text.question_entities import find_missing_entities, find_question_entities
from assay.text.refusals.behaviour import UNKNOWN
from assay.text.safety.copied_text import find_canaries
from assay.text.tokens import tokenise_text

INDEX_STAGE, GENERATE_STAGE = "index", "generate"


# ── access ───────────────────────────────────────────────────────────────────────────────────────────────────────


def find_leak(case: CaseFacts) -> CauseFinding | None:
    """Something was shown that the user must not see. Following an injected prompt is the generator's mistake."""
    if not case.leaks.count_leaks(IN_ANYWHERE):
        return None
    injected = case.case.case.forbidden_text if INJECTION in case.case.case.tags else ()
    followed = find_canaries(case.answer, injected) if case.answer else []
    if followed and not case.leaks.ids and set(case.leaks.text) <= set(followed):
        fact = "a planted instruction was followed"
        return CauseFinding("generator", GENERATE_STAGE, (fact,), "high", subcause="injection_followed")
    locations = [name for name, ids in case.leaks.ids.items() if ids]
    if case.leaks.text:
        locations.append("the answer")
    count = case.leaks.count_leaks(IN_ANYWHERE)
    shown = format_count(count, "chunk or passage", "chunks or passages")
    secrecy = "that must not be shown" if case.case.case.user is None else "that this user must not see"
    fact = f"{shown} {secrecy}, in {', '.join(locations)}: {_name_leaked(case)}"
    if case.has_foreign_context:
        foreign = "no chunk of the context is in the ranking before it: it may be that of another question"
        return CauseFinding("acl", locations[0], (fact, foreign), "medium", ("context_builder",), "leak")
    confidence: CauseConfidence = "medium" if case.leaks.self_reported else "high"
    return CauseFinding("acl", locations[0], (fact,), confidence, subcause="leak")


_MOST_NAMED = 3


def _name_leaked(case: CaseFacts) -> str:
    """Return the names of what leaked: chunks and fields by their ids, words of the answer by the chunks that have
    them."""
    names: dict[str, None] = {}
    for item in dict.fromkeys(item for items in case.leaks.ids.values() for item in items):
        origins = case.leaks.origins.get(item)
        if origins and names.keys() >= set(origins):
            continue  # it repeats what is named already
        owners = _list_owners(case, case.leaks.sources.get(item, ()))
        names[f"{item} with words of {', '.join(owners)}" if owners and item not in owners else item] = None
    for source in case.leaks.text:
        names |= dict.fromkeys(_list_owners(case, [source]) or ["words of the answer"])
    more = len(names) - _MOST_NAMED
    return ", ".join(list(names)[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _list_owners(case: CaseFacts, sources: Iterable[str]) -> list[str]:
    """Return the ids of the chunks of the corpus that have one of these texts."""
    return [chunk.chunk_id for source in sources for chunk in case.list_chunks_with_text(source)]


def find_access_denied(case: CaseFacts) -> CauseFinding | None:
    """Access was denied, or nothing was shown, although the user may see what the case needs.

    If the run shows chunks to another user with the same rights, the search failed here and not the access. If no stage
    returned anything in the whole run, the search may be down, so access is only one possible cause.
    """
    if case.good is not False or case.case.accepts("permission_denied"):
        return None
    is_retrieved = any(step.find_rank(unit) is not None for step in case.steps for unit in case.required_units)
    user = case.case.case.user
    is_answerable = case.case.accepts("answer")
    if case.behaviour == "permission_denied" and is_answerable and not is_retrieved and user is not None:
        fact = "permission was denied, and no stage returned what the case needs, which this user may see"
        if not case.required_units:
            fact = "permission was denied, and the case expects an answer for this user"
        facts = (fact, *describe_sent_user(case))
        # Where no trace of the run shows it to anyone, it may not be indexed.
        is_indexed = case.required_units and all(map(case.is_shown_in_run, case.required_units))
        if is_indexed:
            return CauseFinding("acl", _first_stage(case), facts, "high", subcause="access_denied")
        others: tuple[RootCause, ...] = ("stale_index", "embedding")
        return CauseFinding("acl", _first_stage(case), facts, "medium", others, "access_denied", (RECORD_ID_SEARCH,))
    if case.required_units and case.steps and user is not None and not any(step.chunk_ids for step in case.steps):
        return _explain_empty_lists(case, user)
    return None


def _explain_empty_lists(case: CaseFacts, user: User) -> CauseFinding | None:
    """No stage returned anything to a user who may see what the case needs.

    A search by words finds nothing where the words are not those of the index. One by vectors ranks whatever it may
    see: where its list is empty too, it was shown nothing to rank, or failed, and nothing tells these two apart.
    """
    view = case.index_view
    if view is None or not view.returned:
        fact = "no stage returned anything, for this case or any other of the run"
        return CauseFinding(
            "insufficient_trace",
            _first_stage(case),
            (fact,),
            "low",
            ("acl", "stale_index"),
            record=RECORDS_OF_FAILED_SEARCH,
        )
    if not view.is_served(user):
        if _is_search_at_fault(case, view):
            return None
        fact = "no stage returned anything for this user, or any other with the same tenant and roles"
        facts = (fact, *describe_sent_user(case))
        return CauseFinding(
            "acl", _first_stage(case), facts, "low", ("bm25_analyzer",), "access_denied", RECORDS_OF_FAILED_SEARCH
        )
    if _is_search_at_fault(case, view):
        return None
    searches = [step for step in case.steps if step.kind in ("dense", "retriever")]
    alone = len([step for step in case.steps if step.kind in ("lexical", "dense", "retriever")]) == 1
    searches = [
        step for step in searches if view.largest_stages.get(step.name) and not (alone and step.kind == "dense")
    ]
    if not searches:
        return None
    fact = f"no stage returned anything, and {searches[0].name} does for other questions of users with these rights"
    also: tuple[RootCause, ...] = ("acl", "embedding", "bm25_analyzer")
    facts = (fact, *describe_sent_user(case))
    return CauseFinding("insufficient_trace", _first_stage(case), facts, "low", also, record=RECORDS_OF_FAILED_SEARCH)


def _is_search_at_fault(case: CaseFacts, view: IndexView) -> bool:
    """Whether no search of the run finds anything by the words that question and evidence share, for any user."""
    shared_words = [view.find_telling_words(case.query, case.get_expected_texts(unit)) for unit in case.required_units]
    return any(shared_words) and not any(words and view.is_matched(words) for words in shared_words)


def _first_stage(case: CaseFacts) -> str | None:
    return case.steps[0].name if case.steps else None


# ── behaviour ────────────────────────────────────────────────────────────────────────────────────────────────────


def find_missing_refusal(case: CaseFacts) -> CauseFinding | None:
    """The system answered a case that expects a refusal or an escalation."""
    if case.good is not False or case.behaviour != "answer" or case.case.accepts("answer"):
        return None
    fact = f"answered where {case.case.case.behaviour} was expected"
    if case.case.case.behaviour == "permission_denied" and case.is_access_unknown and _tells_what_is_asked(case):
        grounds = "it tells what is asked, cites the context for it, and nothing shows who may see that"
        return CauseFinding("acl", CONTEXT_STAGE, (fact, grounds), "low", ("generator",), record=(_RECORD_ROLES,))
    answering = _find_answering_line(case) if case.case.case.behaviour == "abstain" else None
    if answering is not None:
        grounds = f"the context has what the question asks: “{answering}”"
        return CauseFinding("golden_label_issue", None, (fact, grounds), "medium", ("generator",), "wrong_reference")
    unmentioned = _list_unmentioned_words(case) if case.case.case.behaviour == "abstain" else []
    if unmentioned:  # what the answer has from the context is about something else
        grounds = f"no text of the context has {quote_facts(unmentioned[:3])}, which the question names"
        return CauseFinding("generator", GENERATE_STAGE, (fact, grounds), "high", subcause="answered_unanswerable")
    if case.case.case.behaviour == "abstain" and _rests_on_context(case):
        absent = _list_absent_words(case)
        if absent:
            grounds = f"no text of the context has {quote_facts(absent[:3])}, of which the question asks"
            return CauseFinding("generator", GENERATE_STAGE, (fact, grounds), "medium", (), "answered_unanswerable")
        grounds = "the context has most words of the question and what the answer says: the label may be wrong"
        also: tuple[RootCause, ...] = ("golden_label_issue",)
        return CauseFinding("generator", GENERATE_STAGE, (fact, grounds), "medium", also, "answered_unanswerable")
    if case.case.case.behaviour == "abstain" and not case.context_texts:  # nothing shows that there is no answer in it
        return CauseFinding(
            "generator",
            GENERATE_STAGE,
            (fact,),
            "medium",
            ("golden_label_issue",),
            "answered_unanswerable",
            (RECORD_TEXTS,),
        )
    return CauseFinding("generator", GENERATE_STAGE, (fact,), "high", subcause="answered_unanswerable")


def find_other_refusal(case: CaseFacts) -> CauseFinding | None:
    """A refusal was expected, and the answer is one of another kind.

    Whether the search had anything that this user may not see is what tells a missing permission from a missing text.
    """
    expected = case.case.case.behaviour
    is_refused = case.behaviour not in (None, UNKNOWN, "answer")
    if case.good is not False or not is_refused or case.case.accepts("answer"):
        return None
    fact = f"the answer is {str(case.behaviour).replace('_', ' ')} where {expected.replace('_', ' ')} was expected"
    if expected != "permission_denied":
        return CauseFinding("generator", GENERATE_STAGE, (fact,), "low", ("golden_label_issue",))
    found = [name for names in case.leaks.over_fetched.values() for name in names]
    if found:
        grounds = f"a list that nobody is shown has {', '.join(dict.fromkeys(found))}, which this user may not see"
        return CauseFinding("generator", GENERATE_STAGE, (fact, grounds), "medium", ("golden_label_issue",))
    unseen = "no list shows what this user may not see, so that nothing tells whether the search had it"
    record = (RECORD_BEFORE_ACCESS,)
    return CauseFinding("insufficient_trace", None, (fact, unseen), "low", record=record)


_RECORD_ROLES = "the corpus with the roles and tenants of its chunks"
_ANSWERING = 0.6
"""The share of a question's longer words that a line must have, with the heading of its text, to answer it."""
_STEM = 5
"""By how many letters words count as the same, in whatever form they are."""


_LONG = 6
"""From how many letters on a word of a question names what is asked about, rather than joining other words."""
_NAMING = 3
"""From how many letters on a word that is none of grammar may name what is asked about: "dog", "gym"."""
_WORDS_OF_ASKING = frozenset(
    """
    please kindly hello thanks explain describe clarify provide confirm inform information details whether without
    within anything something everything nothing anyone someone anybody somebody everyone anywhere somewhere happen
    happens happened wondering exactly actually currently usually normally generally possible possibly thuong xuyen
    """.split()
)
"""Other words of that length that name nothing; "thường" is usually."""
_PREFIX = 4
"""By how many letters a word counts as mentioned: no text has a word of which none begins like it."""


def _list_unmentioned_words(case: CaseFacts) -> list[str]:
    """Return the long words of the question that no text of the context has in any form.

    Words of grammar and of asking politely name nothing.
    """
    if not case.context_texts:
        return []
    mentioned = _list_beginnings(case)
    question = case.case.case.question
    words = dict.fromkeys(tokenise_text(question))
    naming_nothing = {word.folded for word in read_text(question).words if word.kind == "stop"} | _WORDS_OF_ASKING
    named = [word for word in words if len(word) >= _LONG and word not in naming_nothing]
    return [word for word in named if word[:_PREFIX] not in mentioned]


def _list_beginnings(case: CaseFacts) -> set[str]:
    """Return the beginnings of the words of the context, by which a word counts as mentioned."""
    return {word[:_PREFIX] for text in case.context_texts for word in tokenise_text(text)}


def _list_absent_words(case: CaseFacts) -> list[str]:
    """Return the words of the question, those of grammar aside, that no text of the context has, if most are such."""
    mentioned = _list_beginnings(case)
    words = dict.fromkeys(word.folded for word in read_text(case.case.case.question).words if word.kind != "stop")
    asked = [word for word in words if len(word) >= _NAMING and word not in _WORDS_OF_ASKING]
    absent = [word for word in asked if word[:_PREFIX] not in mentioned]
    return absent if 2 * len(absent) > len(asked) else []


def _find_answering_line(case: CaseFacts) -> str | None:
    """Return the line of the context that has nearly all that the question names, if the answer rests on it."""
    asked = _list_stems(case.case.case.question)
    if len(asked) < 2 or not _rests_on_context(case):
        return None
    stated = _list_stems(case.answer)
    for text in case.context_texts:
        heading = _list_stems(text.partition("\n")[0])
        for line in split_lines(text):
            own = _list_stems(line)
            is_asked = len(asked & (own | heading)) >= _ANSWERING * len(asked) and bool(asked & own)
            if is_asked and len(own & stated) >= _ANSWERING * len(own):
                return line.strip()
    return None


def _tells_what_is_asked(case: CaseFacts) -> bool:
    """Whether a line of the answer has nearly all that the question names, each name and code of it as it is, and the
    answer cites a chunk of the context, which has that line if its texts are known."""
    asked = _list_stems(case.case.case.question)
    codes = {word for word in tokenise_text(case.case.case.question) if not word.isalpha()}
    is_cited = any(case.is_citing(chunk.chunk_id) for chunk in case.arrived_chunks)
    if len(asked) < 2 or not is_cited or (case.context_texts and not _rests_on_context(case)):
        return False
    lines = split_lines(remove_citation_markers(case.answer))
    return codes <= set(tokenise_text(case.answer)) and any(
        len(asked & _list_stems(line)) >= _ANSWERING * len(asked) for line in lines
    )


def _list_stems(text: str) -> set[str]:
    return {word[:_STEM] for word in tokenise_text(text) if len(word) > 3 or any(map(str.isdigit, word))}


def _rests_on_context(case: CaseFacts) -> bool:
    """Whether the context has most words and every number of the answer."""
    texts = case.context_texts
    is_worded = bool(texts) and compute_word_overlap(case.answer, texts) >= MIN_SUPPORT
    return is_worded and not find_unsupported_numbers(case.answer, [*texts, case.case.case.question])


# ── version ──────────────────────────────────────────────────────────────────────────────────────────────────────


def find_outdated_version(case: CaseFacts) -> CauseFinding | None:
    """A superseded version was shown instead of the evidence, or the document of the evidence is not in the index."""
    if case.good is not False and case.reached is not False:
        return None
    corpus = case.case.corpus
    superseded = case.case.golden_index.superseded_versions(case.case.as_of)
    if corpus is None or superseded is None:
        return None
    for unit in case.lost_units:
        chunks = [corpus.chunks[chunk_id] for chunk_id in case.get_covering_chunk_ids(unit)]
        if (
            chunks
            and case.index_view is not None
            and all(case.index_view.is_version_missing(chunk) for chunk in chunks)
            and any(map(case.index_view.has_other_version, chunks))
            | any(map(case.index_view.is_newer_than_index, chunks))
        ):
            return _report_missing_document(case, unit, chunks[0])
    documents = {
        corpus.chunks[chunk_id].document
        for unit in case.required_units
        for chunk_id in case.get_covering_chunk_ids(unit)
    }
    superseded_chunks = [
        corpus_chunk
        for chunk in case.arrived_chunks
        if superseded.count_superseded([chunk])
        for corpus_chunk in case.list_corpus_chunks(chunk)
    ]
    old_chunks = [corpus_chunk for corpus_chunk in superseded_chunks if corpus_chunk.document in documents]
    if old_chunks and (case.reached is False or _is_answer_from(case, old_chunks)):
        names = ", ".join(corpus_chunk.chunk_id for corpus_chunk in old_chunks)
        return CauseFinding("stale_index", INDEX_STAGE, (f"superseded, and shown to the generator: {names}",), "high")
    others = [corpus_chunk for corpus_chunk in superseded_chunks if corpus_chunk not in old_chunks]
    return _report_value_of_superseded(case, others)


def _report_value_of_superseded(case: CaseFacts, superseded: Sequence[CorpusChunk]) -> CauseFinding | None:
    """The answer states another value than the case expects, which of all that the generator was shown only a chunk
    that is no longer in force has, whatever its document is called."""
    ids = {corpus_chunk.chunk_id for corpus_chunk in superseded}
    valid_ids = [chunk.chunk_id for chunk in case.arrived_chunks if chunk.chunk_id not in ids]
    valid_texts = [text for text in map(case.get_chunk_text, valid_ids) if text]
    for corpus_chunk in superseded:
        text = case.get_chunk_text(corpus_chunk.chunk_id) or corpus_chunk.text or ""
        values = [value for value in case.other_values if contains_fact([text], value)]
        values = [value for value in values if not contains_fact(valid_texts, value)]
        if values:
            has_value = f"{corpus_chunk.chunk_id}, which is superseded, has {quote_facts(values)}"
            fact = f"{has_value}, and no other chunk of the context"
            return CauseFinding("stale_index", INDEX_STAGE, (fact,), "medium", ("generator",))
    return None


def _report_missing_document(case: CaseFacts, unit: int, corpus_chunk: CorpusChunk) -> CauseFinding:
    assert case.index_view is not None
    version = " ".join(part for part in (corpus_chunk.document, corpus_chunk.version) if part)
    evidence = [
        f"no list of this run has anything of {version}, which holds {case.get_unit_name(unit)}; they have most of the "
        "other documents"
    ]
    is_newer = case.index_view.is_newer_than_index(corpus_chunk)
    if is_newer:
        evidence.append(f"it is in force since {corpus_chunk.valid_from}, later than everything that was shown")
    is_sure = is_newer and case.index_view.count_newer_documents() > 1
    return CauseFinding(
        "stale_index",
        INDEX_STAGE,
        tuple(evidence),
        "high" if is_sure else "medium",
        () if is_sure else ("embedding", "bm25_analyzer"),
        "not_indexed",
    )


def _is_answer_from(case: CaseFacts, old_chunks: list[CorpusChunk]) -> bool:
    """Whether the answer is based on a superseded text rather than on the one in force."""
    old_texts = [corpus_chunk.text for corpus_chunk in old_chunks if corpus_chunk.text]
    valid_texts = [text for unit in case.required_units for text in case.get_expected_texts(unit)]
    for number in find_unsupported_numbers(case.answer, valid_texts):
        if not find_unsupported_numbers(number, old_texts):
            return True
    if any(contains_fact(old_texts, fact) for fact in case.content_quality.wrong):
        return True
    return compute_word_overlap(case.answer, old_texts) > compute_word_overlap(case.answer, valid_texts)


# ── stages ───────────────────────────────────────────────────────────────────────────────────────────────────────


def find_lost_evidence(case: CaseFacts) -> CauseFinding | None:
    """Required evidence did not reach the generator, because of how its text was indexed or of a stage that lost it."""
    if case.reached is not False:
        return None
    # Units that hold what the answer lacks come first; then a known cause, and one of the index, wins over others.
    lost_units = sorted(case.lost_units, key=partial(_has_no_missing_fact, case))
    losses = [find_index_defect(case, unit) or _find_loss(case, unit) for unit in lost_units]
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
    return first._replace(
        also=tuple(also), evidence=(*evidence, *_name_missing_entities(case)), lost_at=MappingProxyType(lost_at)
    )


def _find_loss(case: CaseFacts, unit: int) -> CauseFinding:
    return consider_access(case, unit, find_lost_step(case.describe_lost_evidence(unit)))


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
                return defect._replace(evidence=(*defect.evidence, f"its indexed text lacks “{fact}”"))
            if _is_line_lost(fact, expected_texts, shown_texts):
                return defect._replace(
                    evidence=(*defect.evidence, f"its indexed text lacks the line that has “{fact}”")
                )
        if defect.cause == "insufficient_trace":
            continue
        confidence: CauseConfidence = "low" if defect.confidence == "low" else "medium"
        if not case.has_shown_texts:  # ids alone show the defect, and not which words it takes from the generator
            return defect._replace(confidence=confidence, also=("generator",), record=(RECORD_TEXTS,))
        lost_words = _count_words(expected_texts) - _count_words(shown_texts)
        lost_query_words = lost_words.keys() & _count_words([case.query]).keys()
        if lost_query_words:
            fact = f"the lost text has the question's word “{min(lost_query_words)}”"
        elif case.behaviour != "answer":
            fact = "it was not found to answer"
        else:
            continue
        return defect._replace(evidence=(*defect.evidence, fact), confidence=confidence)
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
                return defect._replace(evidence=(*defect.evidence, fact_of_loss), confidence=confidence, also=others)
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


def _count_words(texts: Iterable[str]) -> Counter[str]:
    return Counter(word for text in texts for word in tokenise_text(text))


def find_index_defect(case: CaseFacts, unit: int) -> CauseFinding | None:
    """Return what is wrong with the indexed text of a unit, if all chunks that cover it have a defect."""
    chunk_ids = case.get_covering_chunk_ids(unit)
    if case.index_view is None or not chunk_ids:
        return None
    defects: list[IndexDefect] = []
    for chunk_id in chunk_ids:
        defect = case.index_view.find_defect(chunk_id)
        if defect is None:
            return None
        defects.append(defect)
    kind, fact, others = defects[0]
    if kind == "unclear":
        is_read = any(case.index_view.has_read(chunk_id) for chunk_id in chunk_ids)
        cause: RootCause = "chunking" if is_read else "insufficient_trace"
        also: tuple[RootCause, ...] = ("parser", "context_builder") if is_read else ("parser", "chunking")
        return CauseFinding(cause, INDEX_STAGE, (fact,), "low", also, "cut_off" if is_read else "", (_WHOLE_TEXTS,))
    return CauseFinding(kind, INDEX_STAGE, (fact,), "medium" if others else "high", others)


_WHOLE_TEXTS = "the text or hash of each chunk as it is indexed, in every stage"


# ── labels and judge ─────────────────────────────────────────────────────────────────────────────────────────────

MIN_SUPPORT = 0.6
"""The share of an answer's words that the evidence must contain for the answer to count as taken from it."""


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
        copy = _find_copy(case, unit, texts)
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


def _find_copy(case: CaseFacts, unit: int, folded_texts: set[str]) -> CauseFinding | None:
    """A chunk that the corpus does not have, or of which no corpus tells, is shown with the text of a lost unit."""
    name = case.get_unit_name(unit)
    if folded_texts:
        copies = [chunk for chunk in case.foreign_chunks if fold_text(chunk.text or "") in folded_texts]
        if copies:
            fact = f"{copies[0].chunk_id}, which the corpus does not have, is indexed with the text of {name}"
            return CauseFinding("chunking", INDEX_STAGE, (fact,), "medium", ("stale_index",), "other_ids")
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


def find_wrong_reference(case: CaseFacts) -> CauseFinding | None:
    """The answer is taken from the evidence, and the case requires what that evidence does not say.

    The evidence must contain none of the missing facts, or lack a required number: the words of a label may differ from
    its evidence, its numbers may not. The answer is taken from the evidence if it has most of its words from there, or
    every number that it adds to the question.
    """
    if case.good is not False or not case.reached or case.behaviour != "answer":
        return None
    evidence_texts = [text for unit in case.required_units for text in case.get_expected_texts(unit)]
    evidence_texts = evidence_texts or [text for unit in case.required_units for text in case.get_shown_texts(unit)]
    unsupported = [fact for fact in case.content_quality.missing if not _is_supported(case, fact, evidence_texts)]
    if not evidence_texts or not unsupported:
        return None
    is_all_unsupported = len(unsupported) == len(case.content_quality.missing)
    if not is_all_unsupported and not any(map(find_quantities, unsupported)):
        return None
    if find_unsupported_numbers(case.answer, [*evidence_texts, *case.context_texts, case.case.case.question]):
        return None
    share = compute_word_overlap(case.answer, evidence_texts)
    is_anchored = is_all_unsupported and _adds_numbers_of(case, evidence_texts)
    if share < MIN_SUPPORT and not is_anchored:
        return None
    names = ", ".join(case.get_unit_name(unit) for unit in case.required_units)
    evidence = (
        f"{names} does not contain {quote_facts(unsupported)}, which the case requires",
        f"{share:.0%} of the answer's words are in that evidence, and all of its numbers are in the context",
    )
    if case.is_index_unknown:  # the index may lack what the document says
        misread = find_misread_number(case.answer, unsupported)
        if misread is not None:
            others: tuple[RootCause, ...] = ("generator", "golden_label_issue")
            return CauseFinding("parser", INDEX_STAGE, (*evidence, misread), "medium", others, record=(RECORD_CORPUS,))
        # Nothing tells an index that says something else than the document from a label that does.
        also: tuple[RootCause, ...] = ("golden_label_issue", "stale_index")
        return CauseFinding("insufficient_trace", None, evidence, "low", also, record=(RECORD_CORPUS,))
    if share < MIN_SUPPORT:
        return CauseFinding("golden_label_issue", None, evidence, "medium", ("generator",), "wrong_reference")
    confidence: CauseConfidence = "high" if is_all_unsupported else "medium"
    return CauseFinding("golden_label_issue", None, evidence, confidence, subcause="wrong_reference")


def _is_supported(case: CaseFacts, fact: str, texts: list[str]) -> bool:
    """Whether texts contain a fact; of a numeric reference only the numbers count, and not the words around them."""
    if contains_fact(texts, fact) or any(_may_state(case, fact, text) for text in texts):
        return True
    is_number = case.content_quality.signal in ("number_match", REFERENCE_VALUE) and bool(find_quantities(fact))
    return is_number and not find_unsupported_numbers(fact, texts)


def _may_state(case: CaseFacts, fact: str, text: str) -> bool:
    """Whether a text would not be held to miss or deny the fact if it were the answer: then the label is not wrong."""
    (found,) = judge_facts(text, [fact], case.case.case.question) or [FactJudgment(fact, "missing")]
    return found.state in ("stated", "unknown")


def _adds_numbers_of(case: CaseFacts, evidence_texts: list[str]) -> bool:
    """Whether the answer has numbers that its question has not, all of them from the evidence: it only rephrases it."""
    added_numbers = find_unsupported_numbers(case.answer, [case.case.case.question])
    return bool(added_numbers) and not find_unsupported_numbers(" ; ".join(added_numbers), evidence_texts)


def find_judge_noise(case: CaseFacts) -> CauseFinding | None:
    """The judge decided and the answer's text shows the opposite, or its votes were tied and nothing else decides."""
    status, _, reason = case.scores.get(JUDGE_METRIC, (None, 0.0, ""))
    if status == ERROR and reason == TIED_VOTES and case.good is None:
        return CauseFinding("judge_noise", None, (f"{JUDGE_METRIC}: the votes were tied",), "medium")
    if not case.content_quality.signal.startswith(JUDGE_METRIC) or case.good is None or case.behaviour != "answer":
        return None
    text = assess_text(case.case.case, case.observation)
    value = get_scored_value(case.scores, JUDGE_METRIC)
    if case.good is False and case.content_quality.good is False and text.good:
        fact = f"{text.signal}: everything that the case looks for is in the answer"
    elif case.good and text.good is False and text.wrong:
        fact = f"{text.signal}: {quote_facts(text.wrong)} is wrong and is in the answer"
    else:
        return None
    return CauseFinding("judge_noise", None, (f"{JUDGE_METRIC} is {value:.2f}", fact), "medium")
