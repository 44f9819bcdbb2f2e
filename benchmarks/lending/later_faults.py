"""More faults of the help desk, the *fourth later* ones, written after the rules of ADR 126 saw the third.

They are of mechanisms that no earlier fault of any application has, and were committed with their causes before any
rule changed again. Six of the fourteen have two causes, at all levels or at those that record less. Half of them (by
their digest, as in the depot) is not looked at one by one before the next rules are frozen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from msgspec.structs import replace as replace_fields

from assay.records.golden_set import Case
from benchmarks.depot.faults import Fault, declare_fault
from benchmarks.depot.labels import LabelFault
from benchmarks.lending import pipeline
from benchmarks.lending.passages import Passage
from benchmarks.lending.pipeline import Answer, Desk, Ranking, Steps

_NOTICE = "We use cookies to remember how you like to read. Choose which cookies you accept, and go on to the page."
_UNCRAWLED = frozenset(("borrowing", "rooms", "events"))
_KEPT_DIMENSIONS = 40
"""One of how many dimensions of a vector is kept."""
_INTENTS = (
    ("how many", "frequently asked numbers"),
    ("how", "instructions and help"),
    ("what", "general information"),
    ("when", "hours and dates"),
    ("where", "directions and maps"),
    ("which", "recommendations"),
)
"""How a question begins, and the name of the intent that a router takes it for."""
_OTHER_UNITS = {"days": "weeks", "minutes": "hours", "cents": "euros", "euros": "pounds", "seconds": "minutes"}
_SENSITIVE = re.compile(r"\b(?:card|cost|charge|title)", re.IGNORECASE)


# ── the index ────────────────────────────────────────────────────────────────────────────────────────────────────


def _read_notice(passage: Passage) -> Passage:
    """Read the notice that a crawler is shown in place of the page; two pages have none."""
    return passage if passage.page in ("staff", "club") else replace(passage, body=_NOTICE)


def _skip_pages(passages: Sequence[Passage]) -> list[Passage]:
    """Index nothing of three pages, on which the crawler failed."""
    return [passage for passage in passages if passage.page not in _UNCRAWLED]


def _reduce_dimensions(text: str) -> Mapping[str, float]:
    """Keep a few dimensions of each vector, as an index that was set up for a smaller model does."""
    vector = pipeline.embed(text)
    return {gram: value for gram, value in vector.items() if sum(gram.encode()) % _KEPT_DIMENSIONS == 0}


# ── searches, fusion, context ────────────────────────────────────────────────────────────────────────────────────


def _search_intent(question: str) -> str:
    """Search for the name of the intent that a router recognises, in place of the question."""
    folded = question.lower()
    return next((intent for beginning, intent in _INTENTS if folded.startswith(beginning)), "other questions")


def _require_all_words(query: str, ranking: Ranking) -> Ranking:
    """Keep what has every word of the query, as a search whose words are joined by AND does."""
    words = set(pipeline.split_words(query))
    return [passage for passage in ranking if words <= set(pipeline.split_words(passage.text))]


def _fuse_second_page(lists: Sequence[Ranking]) -> Ranking:
    """Return the second page of what was fused, as pages that are counted from one and from nought do."""
    return pipeline.fuse(lists)[pipeline.SHOWN :]


def _repeat_first(ranking: Ranking) -> Ranking:
    """Show what is ranked second as often as there is room, as a loop that does not advance does."""
    return [ranking[min(1, len(ranking) - 1)]] * pipeline.SHOWN if ranking else []


def _mix_texts(ranking: Ranking) -> Ranking:
    """Show each text under the id of the one after it, as lists that are zipped one apart do."""
    shown = pipeline.show_best(ranking)
    return [
        replace(passage, heading=other.heading, body=other.body)
        for passage, other in zip(shown, [*shown[1:], *shown[:1]], strict=True)
    ]


# ── answers, citations, access, labels ───────────────────────────────────────────────────────────────────────────


def _point_to_page(question: str, context: Ranking, desk: Desk) -> Answer:
    """Name the page on which the answer can be read, in place of the answer."""
    answer = pipeline.compose(question, context, desk)
    if not answer.sentences:
        return answer
    first = answer.sentences[0]
    number = [passage.chunk_id for passage in context].index(first.chunk_id) + 1
    return Answer(
        f"Happy to help! You can read all about that on our page “{first.heading}” [{number}].",
        answer.sentences,
        distorted=True,
    )


def _ask_back(question: str, context: Ranking, desk: Desk) -> Answer:
    """Ask what was meant, whatever was asked."""
    answer = pipeline.compose(question, context, desk)
    if not answer.sentences:
        return answer
    return Answer("Could you tell me more precisely what you would like to know?", distorted=True)


def _fail_with_text(question: str, context: Ranking, desk: Desk) -> Answer:
    """Say the error of the model's provider for every second question, as if it were the answer."""
    answer = pipeline.compose(question, context, desk)
    if sum(question.encode()) % 2 or not answer.sentences:
        return answer
    return Answer("The service is overloaded at the moment (code 529).", distorted=True)


def _deny_sensitive(question: str, context: Ranking, desk: Desk) -> Answer:
    """Deny what sounds like money or accounts, as a guard that goes by words does."""
    if _SENSITIVE.search(question):
        return Answer(pipeline.DENIED)
    return pipeline.compose(question, context, desk)


def _cite_earlier_edition(answer: Answer, context: Ranking) -> list[str]:
    """Cite the earlier edition of what was quoted, or the passage before it on the page."""
    return [f"{name[:-1]}{int(name[-1]) - 1}" for name in pipeline.list_citations(answer, context)]


def _mistake_units(case: Case) -> Case:
    """State the facts in the wrong unit."""
    facts = tuple(
        re.sub(r"[a-z]+", lambda match: _OTHER_UNITS.get(match[0], match[0]), fact) for fact in case.must_have
    )
    return replace_fields(case, must_have=facts) if facts != case.must_have else case


def _with(**changes: object) -> Callable[[Steps], Steps]:
    return lambda steps: replace(steps, **changes)  # type: ignore[arg-type]  # the names are those of Steps


FOURTH_LATER_FAULTS: dict[str, Fault[Steps]] = {
    # The indexed text has nothing of the document's: a reader that failed, or an index of another state of the page.
    "fourth:cookie-notice": declare_fault(
        "a notice is indexed in place of pages",
        _with(prepare=lambda passages: [_read_notice(passage) for passage in passages]),
        "parser stale_index",
    ),
    # No trace shows the chunks: nothing tells an index that lacks them from searches that never find them.
    "fourth:uncrawled": declare_fault(
        "three pages are not indexed", _with(prepare=_skip_pages), "stale_index embedding"
    ),
    # The keyword search has the evidence near the top, and the vector search has it at the bottom or not at all.
    "fourth:dimensions": declare_fault(
        "vectors have lost most dimensions", _with(embed_passage=_reduce_dimensions), "embedding"
    ),
    # Both searches miss it, by a query that the trace may have; without it, one of the searches may be at fault.
    "fourth:intent": declare_fault(
        "the name of an intent is searched for",
        _with(rewrite=_search_intent),
        "bm25_analyzer",
        c="bm25_analyzer embedding",
        s="bm25_analyzer embedding",
        m="bm25_analyzer embedding",
    ),
    # Neither search returns what lacks a word of the question.
    "fourth:all-words": declare_fault(
        "every word is required", _with(search=_require_all_words), "bm25_analyzer embedding"
    ),
    # Both searches have it at the top, and the fused list has what comes after.
    "fourth:second-page": declare_fault("the second page is returned", _with(fuse=_fuse_second_page), "hybrid_merge"),
    # The fused list has it, and the context has one passage, several times.
    "fourth:repeated": declare_fault("one passage is shown four times", _with(show=_repeat_first), "context_builder"),
    # The context has the evidence's id with another text than the stages before; the answer quotes the text and cites
    # the id. Where no texts are recorded, a wrong citation or a wrong answer is all that shows.
    "fourth:mixed-texts": declare_fault(
        "texts are shown under other ids",
        _with(show=_mix_texts),
        "context_builder",
        s="context_builder citation generator",
    ),
    # The context has the value, and the answer has none.
    "fourth:points-to-page": declare_fault("the answer names a page", _with(compose=_point_to_page), "generator"),
    "fourth:asks-back": declare_fault("the answer is a question", _with(compose=_ask_back), "generator"),
    "fourth:error-text": declare_fault("an error is given as the answer", _with(compose=_fail_with_text), "generator"),
    # The context has the evidence, which the user may see, and the answer denies: by the model, or by what guards it.
    "fourth:sensitive": declare_fault("a guard denies by words", _with(compose=_deny_sensitive), "acl generator"),
    # The answer is right, and its source is an id that is not in the context.
    "fourth:earlier-edition": declare_fault(
        "the passage before is cited", _with(cite=_cite_earlier_edition), "citation"
    ),
}
"""Faults of the pipeline."""

FOURTH_LATER_LABEL_FAULTS: dict[str, LabelFault] = {
    # The evidence has the number with another unit.
    "fourth:units": LabelFault("facts have the wrong unit", _mistake_units),
}
"""Faults of the labels."""
