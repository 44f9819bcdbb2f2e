"""The faults of the depot, with the causes that a reader of a trace may name for each.

A fault replaces one step. `causes` are right where the trace shows everything; `at` has other sets for less complete
traces; at the levels in `hidden` its author thought that nothing which is recorded tells the cause. The benchmark goes
by what it can prove of a case (`benchmarks.attribution_twins`), and not by that.
More than a third of the faults have two acceptable causes, or none.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Literal, TypeVar

from assay.records.findings import RootCause
from assay.records.golden_set import User
from benchmarks.depot import pipeline
from benchmarks.depot.documents import SHEETS, Passage
from benchmarks.depot.pipeline import Answer, Depot, Line, Parts, Ranking, rephrase, with_body

Level = Literal["everything", "stages+corpus", "stages", "minimal"]
LEVELS: tuple[Level, ...] = ("everything", "stages+corpus", "stages", "minimal")
Causes = frozenset[RootCause]
StepsT = TypeVar("StepsT")


@dataclass(frozen=True)
class Fault(Generic[StepsT]):
    """What goes wrong, the function that makes it so, and which causes are right at which level of trace."""

    description: str
    damage: Callable[[StepsT], StepsT]
    causes: Causes
    at: Mapping[Level, Causes] = field(default_factory=dict)
    hidden: frozenset[Level] = frozenset()

    def list_causes(self, level: Level) -> Causes:
        """Return the acceptable causes at one level."""
        return self.at.get(level, self.causes)


def declare_fault(
    description: str, damage: Callable[[StepsT], StepsT], causes: str, hidden: str = "", **at: str
) -> Fault[StepsT]:
    """Make a fault from names in words; `hidden` and the keys of `at` use the first letters of levels."""
    letters: dict[str, Level] = {"e": "everything", "c": "stages+corpus", "s": "stages", "m": "minimal"}
    return Fault(
        description,
        damage,
        _read_causes(causes),
        {letters[letter]: _read_causes(names) for letter, names in at.items()},
        frozenset(letters[letter] for letter in hidden),
    )


def _read_causes(names: str) -> Causes:
    return frozenset(names.split())  # type: ignore[arg-type]  # the tests compare the names with ROOT_CAUSES


# ── the index ────────────────────────────────────────────────────────────────────────────────────────────────────


def prepare_each(change: Callable[[Passage], Sequence[Passage]]) -> Callable[[Parts], Parts]:
    return lambda parts: replace(
        parts, prepare=lambda passages: [new for passage in passages for new in change(passage)]
    )


def _drop_rows(passage: Passage) -> list[Passage]:
    lines = passage.body.splitlines()
    return [with_body(passage, "\n".join(lines[: 2 + (len(lines) - 2) // 2]))] if passage.kind == "table" else [passage]


def _garble_digits(passage: Passage) -> list[Passage]:
    body = passage.body.translate(str.maketrans("0158", "OlSB"))
    return [with_body(passage, body)] if passage.kind == "table" else [passage]


def _drop_sentences(passage: Passage) -> list[Passage]:
    sentences = passage.body.split(". ")
    return [with_body(passage, ". ".join(sentences[:1]))] if passage.kind in ("prose", "guide") else [passage]


def _split_tables(passage: Passage) -> list[Passage]:
    lines = passage.body.splitlines()
    if passage.kind != "table":
        return [passage]
    tail = replace(
        passage, chunk_id=f"{passage.chunk_id}#2", title="(continued)", body="\n".join(lines[4:]), products=()
    )
    return [with_body(passage, "\n".join(lines[:4])), tail]


def _drop_titles(passage: Passage) -> list[Passage]:
    return [replace(passage, title="—", products=())]


def _window(passage: Passage) -> list[Passage]:
    """Cut prose into windows of eleven words without regard for sentences."""
    words = passage.body.split()
    if passage.kind == "table" or len(words) < 12:
        return [passage]
    windows = [" ".join(words[start : start + 11]) for start in range(0, len(words), 11)]
    return [
        replace(passage, chunk_id=f"{passage.chunk_id}~{number}" if number else passage.chunk_id, body=body)
        for number, body in enumerate(windows)
    ]


def _every_third_missing(passages: Sequence[Passage]) -> list[Passage]:
    return [passage for number, passage in enumerate(passages) if number % 3 != 1]


def _flood(passage: Passage) -> list[Passage]:
    copies = [replace(passage, chunk_id=f"{passage.chunk_id}@{number}") for number in range(4)]
    return [*copies, passage] if passage.kind != "table" else [passage]


def _only_old(passages: Sequence[Passage]) -> list[Passage]:
    return [
        replace(passage, valid_to=None)
        for passage in passages
        if passage.valid_to is not None or passage.edition not in ("e2", "2026")
    ]


def _before_spring(passages: Sequence[Passage]) -> list[Passage]:
    return [replace(passage, valid_to=None) for passage in passages if passage.valid_from < "2026-01-15"]


# ── search, rewriting, filter ────────────────────────────────────────────────────────────────────────────────────


def _split_codes(text: str) -> list[str]:
    return re.findall(r"\b[a-z]{4,6}\b", text.lower())


def _without_first_letters(text: str) -> list[str]:
    """An analyzer of the query that cuts words to other stems than the index has."""
    return [word[:4] if len(word) > 5 else word for word in pipeline.analyze(text)]


def _keep_case(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text)


def _drop_codes(question: str) -> str:
    text = question.lower()
    for name, (code, _, _) in SHEETS.items():
        text = text.replace(name.lower(), "it").replace(code.lower(), "it")
    return pipeline.rewrite(text)


def _translate_terms(question: str) -> str:
    text = question.lower()
    for term, other in (
        ("rated flow", "current"), ("weight", "mass"), ("list price", "tariff"), ("motor power", "engine rating"),
        ("tank volume", "reservoir capacity"), ("hours", "time"), ("heavy", "massive"), ("exchanged", "swapped"),
        ("employ", "staff"), ("bearings", "races"),
    ):  # fmt: skip
        text = text.replace(term, other)
    return text


def _shorten_query(question: str) -> str:
    return " ".join(question.lower().split()[:4])


def _only_tables(ranking: Ranking, query: str) -> Ranking:
    return [passage for passage in pipeline.filter_passages(ranking, query) if passage.kind == "table"]


def _no_news_of_this_year(ranking: Ranking, query: str) -> Ranking:
    return [passage for passage in pipeline.filter_passages(ranking, query) if passage.valid_from < "2026-01-01"]


def _first_product_only(ranking: Ranking, query: str) -> Ranking:
    """Keep only what is about the product that comes first in the range, and nothing general."""
    products = set(pipeline.name_products(query)[:1]) or {"Kestrel 40"}
    return [passage for passage in pipeline.filter_passages(ranking, query) if products & set(passage.products)]


def _keep_expired(ranking: Ranking, query: str) -> Ranking:
    """Prefer the editions with the smaller number, as a filter that sorts the wrong way does."""
    products = set(pipeline.name_products(query))
    kept = [passage for passage in ranking if not products or not passage.products or products & set(passage.products)]
    expired = {passage.document for passage in kept if passage.valid_to is not None}
    return [passage for passage in kept if passage.document not in expired or passage.valid_to is not None]


def _fails_now_and_then(ranking: Ranking) -> Ranking:
    """A search that times out for every third query, by its best passage, and returns nothing."""
    seed = ranking[0].chunk_id if ranking else ""
    return [] if int(hashlib.sha256(seed.encode()).hexdigest(), 16) % 3 == 0 else ranking


# ── rerank and context ───────────────────────────────────────────────────────────────────────────────────────────


def _rerank_by_length(ranking: Ranking, query: str, depot: Depot) -> Ranking:
    return sorted(ranking, key=lambda passage: -len(passage.text))[: pipeline.RERANKED]


def _rerank_newest(ranking: Ranking, query: str, depot: Depot) -> Ranking:
    return sorted(ranking, key=lambda passage: passage.valid_from, reverse=True)[: pipeline.RERANKED]


def _rerank_upside_down(ranking: Ranking, query: str, depot: Depot) -> Ranking:
    return pipeline.rerank(ranking, query, depot)[::-1]


def _rerank_prose(ranking: Ranking, query: str, depot: Depot) -> Ranking:
    """A reranker that drops tables, as one trained on sentences does."""
    return [passage for passage in pipeline.rerank(ranking, query, depot) if passage.kind != "table"]


def _rerank_to_last(ranking: Ranking, query: str, depot: Depot) -> Ranking:
    """The best passage comes fourth."""
    ranked = pipeline.rerank(ranking, query, depot)
    return [*ranked[1:4], *ranked[:1], *ranked[4:]]


def _cut_texts(ranking: Ranking) -> Ranking:
    return [
        with_body(passage, " ".join(passage.body.split()[:9]) if passage.kind != "table" else passage.body[:46])
        for passage in pipeline.pack(ranking)
    ]


def _one_of_each_document(ranking: Ranking) -> Ranking:
    """Keep the last passage of each product, as a removal of duplicates that compares titles does."""
    by_product = {passage.title.partition(" (")[0]: passage for passage in ranking}
    return pipeline.pack([passage for passage in ranking if by_product[passage.title.partition(" (")[0]] is passage])


def _without_best(ranking: Ranking) -> Ranking:
    return pipeline.pack(ranking[1:])


# ── generation and citation ──────────────────────────────────────────────────────────────────────────────────────


def _distort(change: Callable[[str, Line], str]) -> pipeline.Generate:
    """Return a generator that changes the words of each line that it rests on."""

    def generate(question: str, context: Ranking, depot: Depot) -> Answer:
        answer = pipeline.generate(question, context, depot)
        if not answer.lines:
            return answer
        text = " ".join(change(rephrase(line), line) for line in answer.lines)
        return Answer(text, answer.lines, distorted=text != answer.text)

    return generate


def _from_memory(question: str, context: Ranking, depot: Depot) -> Answer:
    products = pipeline.name_products(question)
    text = f"As far as I remember, {' and '.join(products) or 'it'} has a value of about 77 in that respect."
    return Answer(text, (), distorted=True)


def _neighbour_row(question: str, context: Ranking, depot: Depot) -> Answer:
    answer = pipeline.generate(question, context, depot)
    if not answer.lines:
        return answer
    neighbours = []
    for line in answer.lines:
        passage = next(passage for passage in context if passage.chunk_id == line.chunk_id)
        lines = pipeline.split_lines(passage)
        neighbours.append(lines[(lines.index(line) + 1) % len(lines)])
    return Answer(" ".join(map(rephrase, neighbours)), tuple(neighbours), distorted=tuple(neighbours) != answer.lines)


_OTHER_UNITS = (
    ("kilowatts", "watts"),
    ("kilograms", "grams"),
    ("millimetres", "metres"),
    ("litres", "millilitres"),
    ("euros", "Norwegian kroner"),
    ("hours", "minutes"),
    ("seconds", "minutes"),
    ("years", "months"),
    ("watts", "kilowatts"),
    ("decibels", "hertz"),
    ("metres", "kilometres"),
)


def swap_unit(text: str, line: Line) -> str:
    """Return a text with another unit."""
    for unit, other in _OTHER_UNITS:
        if unit in text:
            return text.replace(unit, other)
    return text


def swap_product(text: str, line: Line) -> str:
    """Return a text about another product."""
    names = list(SHEETS)
    for number, name in enumerate(names):
        if name in text:
            return text.replace(name, names[(number + 1) % len(names)])
    return text


def negate(text: str, line: Line) -> str:
    """Return a text that denies what it said."""
    for verb in (
        " comes to ",
        " is ",
        " are ",
        " takes ",
        " take ",
        " holds ",
        " ends ",
        " gets ",
        " should be ",
        " can be ",
    ):
        if verb in text:
            return text.replace(verb, f"{verb}not ", 1)
    return text


def shift_numbers(text: str, line: Line) -> str:
    """Return a text with other numbers."""
    return re.sub(r"(?<![\w.-])\d+(?![\w-])", lambda match: str(int(match[0]) + 3), text, count=0)


def _half(question: str, context: Ranking, depot: Depot) -> Answer:
    answer = pipeline.generate(question, context, depot)
    if len(answer.lines) < 2:
        return answer
    return Answer(rephrase(answer.lines[0]), answer.lines[:1], distorted=True)


def _always_answers(question: str, context: Ranking, depot: Depot) -> Answer:
    answer = pipeline.generate(question, context, depot)
    if answer.lines or not context:
        return answer
    lines = (pipeline.split_lines(context[0])[0],)
    return Answer(" ".join(map(rephrase, lines)), lines, distorted=True)


def _refuses_tables(question: str, context: Ranking, depot: Depot) -> Answer:
    answer = pipeline.generate(question, context, depot)
    is_row = any(line.chunk_id.endswith("/spec") for line in answer.lines)
    return Answer(pipeline.ABSTAINED, (), distorted=True) if is_row else answer


def add_promise(text: str, line: Line) -> str:
    """Return a text with a sentence that no document has."""
    return f"{text} Customers in Sweden get a further discount of 37 percent on it."


def _other_questions_answer(question: str, context: Ranking, depot: Depot) -> Answer:
    """A cache that compares only the first words of a question."""
    answer = pipeline.generate(question, context, depot)
    if question.startswith(("What is", "How many", "Which")):
        return Answer("The valve of the older model opens at 6 bar.", answer.lines, distorted=True)
    return answer


def cite_next(answer: Answer, context: Ranking) -> list[str]:
    """Return, for each citation, the chunk that follows it in the context."""
    ids = [passage.chunk_id for passage in context]
    return [ids[(ids.index(name) + 1) % len(ids)] if name in ids else name for name in pipeline.cite(answer, context)]


def _cite_last(answer: Answer, context: Ranking) -> list[str]:
    return [passage.chunk_id for passage in context[-1:]]


# ── access ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _everyone(passage: Passage, user: User) -> bool:
    return True


def _other_tenant(passage: Passage, user: User) -> bool:
    """Tenants are compared with the wrong field: users of a country see only what is of no country."""
    return passage.tenant is None and pipeline.is_visible(passage, user)


def _no_sheets_for_the_public(passage: Passage, user: User) -> bool:
    return pipeline.is_visible(passage, user) and (passage.kind != "terms" or bool(user.roles))


FAULTS: dict[str, Fault[Parts]] = {
    "parser:half-tables": declare_fault(
        "half of the rows of each table are lost", prepare_each(_drop_rows), "parser", "csm"
    ),
    "parser:digits": declare_fault(
        "digits of tables are read as letters", prepare_each(_garble_digits), "parser stale_index", "csm", m="parser"
    ),
    "parser:first-sentence": declare_fault(
        "only the first sentence of a page is read", prepare_each(_drop_sentences), "parser chunking", "csm"
    ),
    "chunking:split-tables": declare_fault(
        "tables are split after two rows", prepare_each(_split_tables), "chunking", "csm"
    ),
    "chunking:no-titles": declare_fault(
        "chunks have lost their titles", prepare_each(_drop_titles), "chunking parser", "csm"
    ),
    "chunking:windows": declare_fault("prose is cut into windows of words", prepare_each(_window), "chunking", "csm"),
    "index:every-third-missing": declare_fault(
        "every third chunk was never indexed",
        lambda parts: replace(parts, prepare=_every_third_missing),
        "embedding stale_index",
        "csm",
    ),
    "index:copies": declare_fault(
        "all but tables is indexed five times under other ids and fills the lists",
        prepare_each(_flood),
        "chunking context_builder hybrid_merge",
        "sm",
    ),
    "stale_index:old-editions": declare_fault(
        "the editions in force are not indexed", lambda parts: replace(parts, prepare=_only_old), "stale_index", "sm"
    ),
    "stale_index:since-january": declare_fault(
        "nothing was indexed since January", lambda parts: replace(parts, prepare=_before_spring), "stale_index", "sm"
    ),
    "analyzer:letters-only": declare_fault(
        "numbers, short and long words are not indexed",
        lambda parts: replace(parts, index_analyze=_split_codes),
        "bm25_analyzer",
        "m",
    ),
    "analyzer:other-stems": declare_fault(
        "query and index are stemmed differently",
        lambda parts: replace(parts, analyze=_without_first_letters, index_analyze=pipeline.analyze),
        "bm25_analyzer",
        "m",
    ),
    "analyzer:case": declare_fault(
        "the index keeps the case of letters and queries do not",
        lambda parts: replace(parts, index_analyze=_keep_case),
        "bm25_analyzer",
        "m",
    ),
    "rewrite:drops-products": declare_fault(
        "names and codes of products are lost in rewriting",
        lambda parts: replace(parts, rewrite=_drop_codes),
        "bm25_analyzer",
        "m",
    ),
    "rewrite:other-terms": declare_fault(
        "the rewritten query has other terms",
        lambda parts: replace(parts, rewrite=_translate_terms),
        "bm25_analyzer",
        "m",
    ),
    "rewrite:first-words": declare_fault(
        "only the first words are searched for",
        lambda parts: replace(parts, rewrite=_shorten_query),
        "bm25_analyzer",
        "m",
    ),
    "search:timeouts": declare_fault(
        "every third search fails and returns nothing",
        lambda parts: replace(parts, search=_fails_now_and_then),
        "",
        "ecsm",
    ),
    "filter:tables-only": declare_fault(
        "the filter keeps tables only", lambda parts: replace(parts, filter=_only_tables), "hybrid_merge", "m"
    ),
    "filter:last-year": declare_fault(
        "the filter drops what is of this year",
        lambda parts: replace(parts, filter=_no_news_of_this_year),
        "hybrid_merge stale_index",
        "m",
    ),
    "filter:first-product": declare_fault(
        "the filter keeps one product", lambda parts: replace(parts, filter=_first_product_only), "hybrid_merge", "m"
    ),
    "filter:expired": declare_fault(
        "the filter keeps the expired edition",
        lambda parts: replace(parts, filter=_keep_expired),
        "stale_index hybrid_merge",
        "m",
    ),
    "rerank:length": declare_fault(
        "long texts come first", lambda parts: replace(parts, rerank=_rerank_by_length), "reranker", "m"
    ),
    "rerank:newest": declare_fault(
        "new texts come first", lambda parts: replace(parts, rerank=_rerank_newest), "reranker", "m"
    ),
    "rerank:upside-down": declare_fault(
        "the worst comes first", lambda parts: replace(parts, rerank=_rerank_upside_down), "reranker", "m"
    ),
    "rerank:no-tables": declare_fault(
        "tables are dropped", lambda parts: replace(parts, rerank=_rerank_prose), "reranker", "m"
    ),
    "rerank:fourth": declare_fault(
        "the best passage comes fourth, and three are shown",
        lambda parts: replace(parts, rerank=_rerank_to_last, pack=lambda ranking: pipeline.pack(ranking, limit=3)),
        "reranker context_builder",
    ),
    "context:small-budget": declare_fault(
        "a budget of 40 tokens",
        lambda parts: replace(parts, pack=lambda ranking: pipeline.pack(ranking, budget=40)),
        "context_builder",
    ),
    "context:cut-texts": declare_fault(
        "texts are cut and keep their ids", lambda parts: replace(parts, pack=_cut_texts), "context_builder", "cs"
    ),
    "context:deduplication": declare_fault(
        "one passage of each product", lambda parts: replace(parts, pack=_one_of_each_document), "context_builder"
    ),
    "context:without-best": declare_fault(
        "the best is left out", lambda parts: replace(parts, pack=_without_best), "context_builder"
    ),
    "context:one": declare_fault(
        "one chunk is shown",
        lambda parts: replace(parts, pack=lambda ranking: pipeline.pack(ranking, limit=1)),
        "context_builder reranker",
    ),
    "prompt:cut": declare_fault(
        "the prompt has room for one chunk less than the trace shows",
        lambda parts: replace(parts, prompt=lambda context: context[1:]),
        "generator context_builder",
    ),
    "generator:memory": declare_fault(
        "answers from memory", lambda parts: replace(parts, generate=_from_memory), "generator"
    ),
    "generator:neighbour": declare_fault(
        "takes the next row or sentence", lambda parts: replace(parts, generate=_neighbour_row), "generator"
    ),
    "generator:units": declare_fault(
        "swaps units", lambda parts: replace(parts, generate=_distort(swap_unit)), "generator"
    ),
    "generator:products": declare_fault(
        "names another product", lambda parts: replace(parts, generate=_distort(swap_product)), "generator"
    ),
    "generator:negation": declare_fault(
        "says the opposite", lambda parts: replace(parts, generate=_distort(negate)), "generator"
    ),
    "generator:numbers": declare_fault(
        "miscopies numbers", lambda parts: replace(parts, generate=_distort(shift_numbers)), "generator"
    ),
    "generator:half": declare_fault(
        "answers half of the question", lambda parts: replace(parts, generate=_half), "generator"
    ),
    "generator:always": declare_fault(
        "answers what has no answer", lambda parts: replace(parts, generate=_always_answers), "generator"
    ),
    "generator:refuses-tables": declare_fault(
        "does not read tables", lambda parts: replace(parts, generate=_refuses_tables), "generator"
    ),
    "generator:promise": declare_fault(
        "adds a promise", lambda parts: replace(parts, generate=_distort(add_promise)), "generator"
    ),
    "cache:other-answer": declare_fault(
        "gives the answer of another question",
        lambda parts: replace(parts, generate=_other_questions_answer),
        "generator",
        "ecsm",
    ),
    "citation:next": declare_fault(
        "cites the next chunk of the context", lambda parts: replace(parts, cite=cite_next), "citation"
    ),
    "citation:last": declare_fault(
        "cites the last chunk of the context", lambda parts: replace(parts, cite=_cite_last), "citation"
    ),
    "citation:none": declare_fault(
        "cites nothing", lambda parts: replace(parts, cite=lambda answer, context: []), "citation"
    ),
    "acl:open": declare_fault("everybody sees everything", lambda parts: replace(parts, visible=_everyone), "acl"),
    "acl:no-country": declare_fault(
        "nobody sees what is of their country",
        lambda parts: replace(parts, visible=_other_tenant),
        "acl embedding stale_index",
        "csm",
    ),
    "acl:no-terms": declare_fault(
        "the public does not see the terms",
        lambda parts: replace(parts, visible=_no_sheets_for_the_public),
        "acl embedding stale_index",
        "csm",
    ),
    "pair:terms+length": declare_fault(
        "other terms are searched for, and long texts come first",
        lambda parts: replace(parts, rewrite=_translate_terms, rerank=_rerank_by_length),
        "bm25_analyzer reranker",
        "m",
    ),
    "pair:memory+uncited": declare_fault(
        "answers from memory and cites nothing",
        lambda parts: replace(parts, generate=_from_memory, cite=lambda answer, context: []),
        "generator citation",
    ),
    "pair:half-tables+budget": declare_fault(
        "tables are read by halves, and the budget is small",
        lambda parts: prepare_each(_drop_rows)(replace(parts, pack=lambda ranking: pipeline.pack(ranking, budget=40))),
        "parser context_builder",
        "csm",
    ),
    "pair:old+negation": declare_fault(
        "old editions are served, and the opposite is said",
        lambda parts: replace(parts, prepare=_only_old, generate=_distort(negate)),
        "stale_index generator",
    ),
    "pair:last+products": declare_fault(
        "names another product and cites the last chunk",
        lambda parts: replace(parts, generate=_distort(swap_product), cite=_cite_last),
        "generator citation",
    ),
    "pair:windows+length": declare_fault(
        "prose is cut into windows, and long texts come first",
        lambda parts: prepare_each(_window)(replace(parts, rerank=_rerank_by_length)),
        "chunking reranker",
        "csm",
    ),
}
"""Every fault of the pipeline, by name."""


def is_untouched(name: str) -> bool:
    """Return whether a fault belongs to the half that is not looked at while the rules are developed."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2 == 1
