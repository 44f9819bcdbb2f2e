"""The sign of each root cause, a plain sentence of what happened, and what to try first.

What is said of a cause holds for every finding of it: that a list lacks the evidence, or that a step ranks it too low,
is a fact of the case and stands among the facts of the finding. `cause_sentences` says what a finding claims with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from assay.metrics.case_checks import WRONG_FORMAT
from assay.records.findings import RootCause


class CauseNote(Struct, frozen=True):
    """The sign of a cause, which is what people read as its title, and what to try first."""

    sign: str
    fix: str


CAUSE_NOTES: Mapping[RootCause, CauseNote] = MappingProxyType(
    {
        "parser": CauseNote(
            "the indexed text is incomplete or garbled",
            "fix the parser: OCR, extraction of tables and footnotes, headings",
        ),
        "chunking": CauseNote(
            "the right passage is cut, merged or renamed in the index",
            "chunk by section, with overlap or parent and child chunks; then relink the labels",
        ),
        "embedding": CauseNote(
            "the vector search ranked the right passage low or not at all",
            "another embedding model; normalise queries (codes, abbreviations, diacritics); add examples",
        ),
        "bm25_analyzer": CauseNote(
            "the keyword search ranked the right passage low or not at all",
            "fix the analyzer: fold diacritics and case, keep codes whole, add synonyms",
        ),
        "hybrid_merge": CauseNote(
            "joining the searches lowered or lost the right passage",
            "merge by reciprocal rank, retune the weights, enlarge the pool",
        ),
        "reranker": CauseNote(
            "the reranker ranked the right passage too low",
            "another reranking model or prompt; train it on pairs; rerank more candidates",
        ),
        "context_builder": CauseNote(
            "the right passage was found and left out of the context",
            "raise the token budget; remove duplicates; pack by rank",
        ),
        "generator": CauseNote(
            "the model answered wrongly from what it was shown",
            "tighten the prompt; another model; constrained output; examples, also of refusals",
        ),
        "citation": CauseNote(
            "the answer cites something else than its source",
            "align each claim with its source; validate citations against the context",
        ),
        "acl": CauseNote(
            "the user was shown too much, or denied what they may see",
            "make the filters mandatory and test them; keep the policy as code",
        ),
        "stale_index": CauseNote(
            "the index has an old version, or lacks the passage",
            "rebuild the index; record the index version; alert on freshness",
        ),
        "golden_label_issue": CauseNote(
            "the golden set names a wrong passage or answer",
            "correct the golden set: relink the evidence, or fix the reference",
        ),
        "judge_noise": CauseNote(
            "the judge contradicts the answer, or itself",
            "ask for more votes; calibrate the judge; prefer the deterministic signal here",
        ),
        "insufficient_trace": CauseNote(
            "the trace does not show what went wrong",
            "report every stage with its chunks, and the text of the context; score with a corpus",
        ),
    }
)

ALL_ARRIVED = "all required evidence was in the context"
READ_AS = "read as "
"""Reasons that an explanation says in lines of their own: how the evidence fared, and what the answer was read as."""
BESIDES = "besides the leak: "
"""The reason that says what else went wrong with a case that leaked."""
LEAK_SHOWN, LEAK_IN_CONTEXT, LEAK_RETRIEVED = "leak", "leak_in_context", "leak_retrieved"
"""How far a leak came: to the user, to the model's context, or to a list of the search alone."""

OVER_REFUSAL_NOTE = CauseNote(
    "the right passage was shown, and no answer was given",
    "loosen the rule or the threshold by which it refuses; name examples that it must answer; test whom it denies",
)
"""Of a generator that refuses what it could answer: a tighter prompt makes that worse."""
_UNINDEXED_NOTE = CauseNote(
    "nothing shows that the right passage is in the index",
    "look the evidence up by its id; index what is missing, and alert on documents that were not indexed",
)
TARGET_ERROR, NO_OUTPUT, UNMEASURED = "target_error", "no_output", "metric_error"
"""What is known of a case of which no trace tells: the target failed, there is no output of it, or nothing failed but a
metric of one's own."""
_SUBCAUSE_SIGNS: Mapping[tuple[RootCause, str], str] = MappingProxyType(
    {
        ("chunking", "cut_off"): "the right passage is cut off in the index",
        ("chunking", "other_ids"): "the right passage is in the index under another id",
        ("reranker", "dropped"): "the reranker dropped the right passage",
        ("citation", "outside_context"): "the answer cites what the model was not shown",
        ("citation", "other_source"): "the answer does not cite the source that the case requires",
        ("citation", "wrong_in_context"): "the answer cites another passage than its source",
        ("citation", "over_cited"): "the answer cites more passages than it rests on",
        ("golden_label_issue", "wrong_reference"): "the golden set requires what its passage does not say",
        ("golden_label_issue", "wrong_evidence"): "another passage than the labelled one has the answer",
        ("golden_label_issue", "label_outdated"): "the labelled passage has changed, expired or gone",
        ("golden_label_issue", "unlabelled_duplicate"): "an unlabelled passage says the same as the labelled one",
        ("golden_label_issue", "unknown_source"): "the golden set requires a source that nothing has",
        ("acl", LEAK_SHOWN): "the user was shown what they must not see",
        ("acl", LEAK_IN_CONTEXT): "the model was shown what the user must not see",
        ("acl", LEAK_RETRIEVED): "what the user must not see was retrieved",
    }
)
"""The signs of refined causes for which the first remedy of the cause holds."""
SUBCAUSE_NOTES: Mapping[tuple[RootCause, str], CauseNote] = MappingProxyType(
    {
        **{key: CauseNote(sign, CAUSE_NOTES[key[0]].fix) for key, sign in _SUBCAUSE_SIGNS.items()},
        ("insufficient_trace", TARGET_ERROR): CauseNote(
            "the target failed with an error", "repair the target, then ask again"
        ),
        ("insufficient_trace", NO_OUTPUT): CauseNote("the case has no output", "ask the target this case"),
        ("insufficient_trace", UNMEASURED): CauseNote(
            "a metric of your own failed on this case", "repair the metric, then score again"
        ),
        ("golden_label_issue", "misspelt_id"): CauseNote(
            "the golden set seems to misspell an id",
            "correct the id in the golden set, if it is misspelt",
        ),
        ("golden_label_issue", "other_name"): CauseNote(
            "the golden set calls the right passage by another name",
            "write into the golden set the names that the system reports, or let it report those of the golden set",
        ),
        ("bm25_analyzer", "query_rewriting"): CauseNote(
            "the search was asked something else than the question",
            "fix the rewriting of queries: keep the names, codes and words of the question; search for both",
        ),
        ("bm25_analyzer", "vocabulary_mismatch"): CauseNote(
            "the right passage has other words than the question, and the only search goes by words",
            "add synonyms to the queries or the index; add a search by meaning (vectors) next to the one by words",
        ),
        ("embedding", "not_indexed"): _UNINDEXED_NOTE,
        ("stale_index", "not_indexed"): _UNINDEXED_NOTE,
        ("hybrid_merge", "filtered_out"): CauseNote(
            "a filter dropped the right passage",
            "correct the rules of the filter, or the query that it goes by; let it lower ranks instead of dropping",
        ),
        ("context_builder", "ranked_below_cut_off"): CauseNote(
            "the right passage was found, and too few passages are shown",
            "show the generator more chunks, or rerank what the search returns before it is cut",
        ),
        ("context_builder", "text_truncated"): CauseNote(
            "the model was shown the right passage in part only",
            "raise the token budget; cut whole chunks at the end of the ranking instead of texts",
        ),
        ("context_builder", "text_exchanged"): CauseNote(
            "the model was shown a text under the id of another",
            "look up the text of each chunk by the id that was ranked; test that ids and texts agree",
        ),
        ("reranker", "ranked_too_low"): CauseNote(
            "the right passage was found, but ranked too low to be shown",
            "show the generator more chunks; improve how the search ranks; or rerank what it returns before it is cut",
        ),
        ("hybrid_merge", "ranked_below_cut_off"): CauseNote(
            "the last list has the right passage too low to be shown",
            "merge by reciprocal rank, retune the weights; show the generator more chunks",
        ),
        ("generator", "other_part"): CauseNote(
            "the answer copies the wrong part of the right passage",
            "let it answer the question instead of copying a passage; let it read a passage to its end; another model",
        ),
        ("generator", "other_behaviour"): CauseNote(
            "the answer does something else than was expected",
            "tell the model when to answer, decline, ask back or hand over, with an example of each",
        ),
        ("acl", "access_denied"): CauseNote(
            "the user was denied what they may see",
            "compare the roles and the tenant that the search got with those of the evidence; test that users who may "
            "see it are served",
        ),
        ("acl", "user_not_sent"): CauseNote(
            "the system was not told who is asking",
            "send the user with each question (identity, or {{user}} in the body or arguments of the target), then run "
            "again",
        ),
        ("citation", "uncited"): CauseNote(
            "the answer cites no source",
            "ask for a source with each claim, with an example; reject answers without one",
        ),
        ("generator", "partial"): CauseNote(
            "the answer leaves out a part of what was asked",
            "ask for every part of the question, with an example; let it list what each passage says before it answers",
        ),
        ("generator", "wrong_entity_or_number"): CauseNote(
            "the answer states a wrong name, code or number",
            "let it quote the passage before each name and number; compare the values of an answer with the context "
            "before it is sent",
        ),
        ("generator", "denied_fact"): CauseNote(
            "the answer contradicts what the model was shown",
            "let it quote the passage before it answers; compare each denial and each limit of an answer with the "
            "context before it is sent",
        ),
        ("generator", "invented"): CauseNote(
            "the answer states what no shown passage says",
            "forbid what no passage says; reject answers with numbers or claims that no passage has; show it how to "
            "say that something is not stated",
        ),
        ("generator", "ignored_evidence"): CauseNote(
            "the right passage was shown, the answer does not use it",
            "show it fewer chunks, the best first; let it quote the passage that answers before it answers; another "
            "model",
        ),
        ("generator", "other_passage"): CauseNote(
            "the right passage was shown, the answer copies another",
            "let it answer the question instead of copying a passage; show it fewer chunks, the best first",
        ),
        ("generator", "answered_unanswerable"): CauseNote(
            "the system answered where no answer was expected",
            "tighten the prompt and show it examples of refusals; decline where the best chunk scores low",
        ),
        ("generator", "injection_followed"): CauseNote(
            "the answer follows an instruction in a document",
            "mark documents as data in the prompt; filter instructions out of them; test with planted ones",
        ),
        ("generator", "empty_answer"): CauseNote(
            "the system gave an empty answer",
            "look in the log of the system for what failed (a time-out, a limit of tokens, a filter of content); let "
            "it report an error instead of an empty answer; then run again",
        ),
        ("generator", "error_text"): CauseNote(
            "the system gave an error message as its answer",
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
UNSEEN_RANKING_NOTE = CauseNote(
    "the right passage was found, then ranked too low or dropped", SUBCAUSE_NOTES["reranker", "ranked_too_low"].fix
)
"""Of a ranking after the search where no reranker is reported: nobody is told to repair what is not there."""
UNSEEN_SEARCH_NOTES: Mapping[RootCause, CauseNote] = MappingProxyType(
    {
        "embedding": CauseNote(
            "the search, if by vectors, ranked the right passage low or not at all", CAUSE_NOTES["embedding"].fix
        ),
        "bm25_analyzer": CauseNote(
            "the search, if by words, ranked the right passage low or not at all", CAUSE_NOTES["bm25_analyzer"].fix
        ),
    }
)
"""Of a search of a kind that no stage is reported to be."""
UNSEEN_SEARCH = "the search ranked the right passage low or not at all"
"""The sign of both in one: of a search that may go by vectors or by words."""
CONTEXT_NOTE = CauseNote("the context was put together wrongly or too short", CAUSE_NOTES["context_builder"].fix)
"""Of the context as one of several causes, of which none is known to be it."""


def says_no_answer(sign: str) -> bool:
    """Return whether a sign is that of a case without an answer, of which nothing was looked at."""
    return any(sign == SUBCAUSE_NOTES["insufficient_trace", kind].sign for kind in (TARGET_ERROR, NO_OUTPUT))


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
