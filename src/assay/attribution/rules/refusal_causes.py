"""Detects that an answer should have refused or refused for another reason, and what it rests on instead."""

from __future__ import annotations

from assay.attribution.cause_finding import RECORD_BEFORE_ACCESS, RECORD_TEXTS, CauseFinding
from assay.attribution.cause_terms import GENERATE_STAGE, MIN_SUPPORT
from assay.attribution.one_case.case_facts import CaseFacts
from assay.attribution.one_case.contained_facts import compute_word_overlap, quote_facts
from assay.attribution.one_case.other_values import split_lines
from assay.attribution.one_case.unsupported_numbers import find_unsupported_numbers
from assay.records.findings import RootCause
from assay.records.observations import CONTEXT_STAGE
from assay.text.citation_markers import remove_citation_markers
from assay.text.facts.reading.read_text import read_text
from assay.text.refusals.detected_behaviour import UNKNOWN
from assay.text.tokens import tokenise_text

OTHER_BEHAVIOUR = "other_behaviour"
"""The subcause of an answer that does something else than its case expects, whatever the passages say."""


def find_missing_refusal(case: CaseFacts) -> CauseFinding | None:
    """The system answered a case that expects a refusal or an escalation."""
    if case.good is not False or case.behaviour != "answer" or case.case.accepts("answer"):
        return None
    fact = f"answered where {case.case.case.behaviour} was expected"
    if case.case.case.behaviour == "permission_denied" and case.is_access_unknown and _states_what_is_asked(case):
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
        also: tuple[RootCause, ...] = ("golden_label_issue",)
        return CauseFinding("generator", GENERATE_STAGE, (fact,), "low", also, OTHER_BEHAVIOUR)
    shown_ids = [name for names in case.leaks.over_fetched.values() for name in names]
    if shown_ids:
        grounds = f"a list that nobody is shown has {', '.join(dict.fromkeys(shown_ids))}, which this user may not see"
        also = ("golden_label_issue",)
        return CauseFinding("generator", GENERATE_STAGE, (fact, grounds), "medium", also, OTHER_BEHAVIOUR)
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


def _states_what_is_asked(case: CaseFacts) -> bool:
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
