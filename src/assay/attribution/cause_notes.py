"""The sign of each root cause, and what to try first.

What is said of a cause holds for every finding of it: that a list lacks the evidence, or that a step ranks it too low,
is a fact of the case and stands among the facts of the finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from assay.metrics.case_checks import WRONG_FORMAT
from assay.records.findings import RootCause


class CauseNote(NamedTuple):
    """The sign of a cause, and what to try first."""

    sign: str
    fix: str


CAUSE_NOTES: Mapping[RootCause, CauseNote] = MappingProxyType(
    {
        "parser": CauseNote(
            "the indexed text lacks a table, heading or footnote of the document",
            "fix the parser: OCR, extraction of tables and footnotes, headings",
        ),
        "chunking": CauseNote(
            "the evidence is cut, merged or spread over chunks that are not those of the corpus",
            "chunk by section, with overlap or parent and child chunks; then relink the labels",
        ),
        "embedding": CauseNote(
            "the vector search does not bring the evidence near the top",
            "another embedding model; normalise queries (codes, abbreviations, diacritics); add examples",
        ),
        "bm25_analyzer": CauseNote(
            "the keyword search does not bring the evidence near the top",
            "fix the analyzer: fold diacritics and case, keep codes whole, add synonyms",
        ),
        "hybrid_merge": CauseNote(
            "one search has the evidence near the top and the merge loses it",
            "merge by reciprocal rank, retune the weights, enlarge the pool",
        ),
        "reranker": CauseNote(
            "the reranker receives the evidence near the top and ranks it too low",
            "another reranking model or prompt; train it on pairs; rerank more candidates",
        ),
        "context_builder": CauseNote(
            "the evidence is ranked near the top and is not in the context",
            "raise the token budget; remove duplicates; pack by rank",
        ),
        "generator": CauseNote(
            "the answer does not keep to the context: it ignores, changes or adds to what the context says",
            "tighten the prompt; another model; constrained output; examples, also of refusals",
        ),
        "citation": CauseNote(
            "the answer is right and cites something else",
            "align each claim with its source; validate citations against the context",
        ),
        "acl": CauseNote(
            "the user is shown too much, or is denied what they may see",
            "make the filters mandatory and test them; keep the policy as code",
        ),
        "stale_index": CauseNote(
            "an old version is served, or the version in force is not indexed",
            "rebuild the index; record the index version; alert on freshness",
        ),
        "golden_label_issue": CauseNote(
            "the label contradicts the corpus or its own evidence",
            "correct the golden set: relink the evidence, or fix the reference",
        ),
        "judge_noise": CauseNote(
            "the judge contradicts the text of the answer, or itself",
            "ask for more votes; calibrate the judge; prefer the deterministic signal here",
        ),
        "insufficient_trace": CauseNote(
            "the trace does not show the cause",
            "report every stage with its chunks, and the text of the context; score with a corpus",
        ),
    }
)

ALL_ARRIVED = "all required evidence was in the context"
READ_AS = "read as "
"""Reasons that an explanation says in lines of their own: how the evidence fared, and what the answer was read as."""

OVER_REFUSAL_NOTE = CauseNote(
    "it refuses what the evidence in the context answers",
    "loosen the rule or the threshold by which it refuses; name examples that it must answer; test whom it denies",
)
"""Of a generator that refuses what it could answer: a tighter prompt makes that worse."""
_UNINDEXED_NOTE = CauseNote(
    "nothing shows that the evidence is in the index",
    "look the evidence up by its id; index what is missing, and alert on documents that were not indexed",
)
SUBCAUSE_NOTES: Mapping[tuple[RootCause, str], CauseNote] = MappingProxyType(
    {
        ("golden_label_issue", "misspelt_id"): CauseNote(
            "the label names an id that no trace has, and that hardly differs from one in the lists of the case",
            "correct the id in the golden set, if it is misspelt",
        ),
        ("golden_label_issue", "other_name"): CauseNote(
            "the label names a document, page or section that no list has, and its quote is found under another",
            "write into the golden set the names that the system reports, or let it report those of the golden set",
        ),
        ("bm25_analyzer", "query_rewriting"): CauseNote(
            "the query as it was sent is about something else than the question",
            "fix the rewriting of queries: keep the names, codes and words of the question; search for both",
        ),
        ("bm25_analyzer", "vocabulary_mismatch"): CauseNote(
            "question and evidence use different words, and the only search goes by words",
            "add synonyms to the queries or the index; add a search by meaning (vectors) next to the one by words",
        ),
        ("embedding", "not_indexed"): _UNINDEXED_NOTE,
        ("stale_index", "not_indexed"): _UNINDEXED_NOTE,
        ("hybrid_merge", "filtered_out"): CauseNote(
            "a filter drops the evidence that the search has",
            "correct the rules of the filter, or the query that it goes by; let it lower ranks instead of dropping",
        ),
        ("context_builder", "ranked_below_cut_off"): CauseNote(
            "the search has the evidence near the top, and the context takes fewer chunks",
            "show the generator more chunks, or rerank what the search returns before it is cut",
        ),
        ("context_builder", "text_truncated"): CauseNote(
            "the context has the evidence in part only",
            "raise the token budget; cut whole chunks at the end of the ranking instead of texts",
        ),
        ("context_builder", "text_exchanged"): CauseNote(
            "the context shows another text under the id of the evidence",
            "look up the text of each chunk by the id that was ranked; test that ids and texts agree",
        ),
        ("reranker", "ranked_too_low"): CauseNote(
            "the only list has the evidence below what the generator is shown, and does not tell how it was ranked",
            "show the generator more chunks, or rerank what the search returns before it is cut",
        ),
        ("hybrid_merge", "ranked_below_cut_off"): CauseNote(
            "the merged or filtered list has the evidence below what the generator is shown",
            "merge by reciprocal rank, retune the weights; show the generator more chunks",
        ),
        ("acl", "leak"): CauseNote("the user is shown what they must not see", CAUSE_NOTES["acl"].fix),
        ("acl", "access_denied"): CauseNote(
            "the user is denied what they may see",
            "compare the roles and the tenant that the search got with those of the evidence; test that users who may "
            "see it are served",
        ),
        ("acl", "user_not_sent"): CauseNote(
            "the target is not given the user, and does not show what only some users may see",
            "send the user with each question (identity, or {{user}} in the body or arguments of the target), then run "
            "again",
        ),
        ("citation", "uncited"): CauseNote(
            "the answer cites nothing",
            "ask for a source with each claim, with an example; reject answers without one",
        ),
        ("generator", "partial"): CauseNote(
            "the answer has a part of what is asked, and the evidence for the rest was in the context",
            "ask for every part of the question, with an example; let it list what each passage says before it answers",
        ),
        ("generator", "wrong_entity_or_number"): CauseNote(
            "the answer states another name, code or number than the evidence",
            "let it quote the passage before each name and number; compare the values of an answer with the context "
            "before it is sent",
        ),
        ("generator", "denied_fact"): CauseNote(
            "the answer says the contrary of the evidence",
            "let it quote the passage before it answers; compare each denial and each limit of an answer with the "
            "context before it is sent",
        ),
        ("generator", "invented"): CauseNote(
            "the answer states what no text of the context has",
            "forbid what no passage says; reject answers with numbers or claims that no passage has; show it how to "
            "say that something is not stated",
        ),
        ("generator", "ignored_evidence"): CauseNote(
            "the evidence was in the context and the answer does not use it",
            "show it fewer chunks, the best first; let it quote the passage that answers before it answers; another "
            "model",
        ),
        ("generator", "other_passage"): CauseNote(
            "the answer is a passage of the context, word for word, that does not answer the question",
            "let it answer the question instead of copying a passage; show it fewer chunks, the best first",
        ),
        ("generator", "answered_unanswerable"): CauseNote(
            "it answers where no answer was expected",
            "tighten the prompt and show it examples of refusals; decline where the best chunk scores low",
        ),
        ("generator", "injection_followed"): CauseNote(
            "it follows an instruction that stands in a document",
            "mark documents as data in the prompt; filter instructions out of them; test with planted ones",
        ),
        ("generator", "empty_answer"): CauseNote(
            "the system answered with an empty text",
            "look in the log of the system for what failed (a time-out, a limit of tokens, a filter of content); let "
            "it report an error instead of an empty answer; then run again",
        ),
        ("generator", "error_text"): CauseNote(
            "the system answered with an error message",
            "repair what failed (limits of rate, time-outs, keys); let the target report an error instead of an "
            "answer; then run again",
        ),
        ("generator", WRONG_FORMAT): CauseNote(
            "the answer has another form than the case demands",
            "state the form in the prompt, with an example; constrain the model's output to it; check it before it is "
            "sent",
        ),
    }
)
"""Sign and first remedy of refined causes for which those of the cause would be untrue or of no help."""


def get_cause_note(cause: RootCause, subcause: str = "", subtype: str = "") -> CauseNote:
    """Return the sign of a cause and what to try first, as its refinement and that of the verdict have them.

    >>> get_cause_note("context_builder", "ranked_below_cut_off").fix
    'show the generator more chunks, or rerank what the search returns before it is cut'
    >>> get_cause_note("generator", "partial", "over_refusal") == OVER_REFUSAL_NOTE
    True
    """
    if (cause, subtype) == ("generator", "over_refusal"):
        return OVER_REFUSAL_NOTE
    return SUBCAUSE_NOTES.get((cause, subcause), CAUSE_NOTES[cause])
