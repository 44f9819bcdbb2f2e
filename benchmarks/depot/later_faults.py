"""Faults of the depot that were written after the rules of attribution, which were never developed on them.

They are measured by `benchmarks.attribution` as a group of their own. What a fault declares was written down before any
rule saw it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from msgspec.structs import replace as replace_fields

from assay.records.golden_set import Case, User
from benchmarks.depot import pipeline
from benchmarks.depot.documents import SHEETS, Passage
from benchmarks.depot.faults import Fault, declare_fault, prepare_each
from benchmarks.depot.labels import LabelFault
from benchmarks.depot.pipeline import Answer, Depot, Parts, Ranking, with_body


def _shift_column(passage: Passage) -> list[Passage]:
    """Let each row of a table have the value of the row below, as a reader of columns that drops a cell does."""
    lines = passage.body.splitlines()
    if passage.kind != "table":
        return [passage]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    values = [row[1] for row in rows]
    shifted = [f"| {row[0]} | {value} |" for row, value in zip(rows, [*values[1:], values[0]], strict=True)]
    return [with_body(passage, "\n".join([*lines[:2], *shifted]))]


def _lose_points(passage: Passage) -> list[Passage]:
    """Lose the points and commas within numbers, as text recognition of a faint print does."""
    return [with_body(passage, re.sub(r"(?<=\d)[.,](?=\d)", "", passage.body))]


def _glue_halves(passage: Passage) -> list[Passage]:
    """Cut what is not a table into two chunks in the middle, in front of a word; the second has an id of its own."""
    words = passage.body.split()
    if passage.kind == "table" or len(words) < 8:
        return [passage]
    middle = len(words) // 2
    tail = replace(passage, chunk_id=f"{passage.chunk_id}/b", body=" ".join(words[middle:]))
    return [with_body(passage, " ".join(words[:middle])), tail]


def _name_sibling(question: str) -> str:
    """Put the next product of the range in place of the one that is asked about, as a wrong table of synonyms does."""
    text = question.lower()
    names = list(SHEETS)
    for number, name in enumerate(names):
        code = SHEETS[name][0]
        if name.lower() in text or code.lower() in text:
            sibling = names[(number + 1) % len(names)].lower()
            return pipeline.rewrite(text.replace(name.lower(), sibling).replace(code.lower(), sibling))
    return pipeline.rewrite(text)


def _split_syllables(text: str) -> list[str]:
    """Break each word after three letters, in the query alone."""
    return [piece for word in pipeline.analyze(text) for piece in re.findall(r".{1,3}", word)]


def _keep_one(ranking: Ranking, query: str) -> Ranking:
    """Keep what scores highest before anything that is about the wrong product is dropped."""
    return pipeline.filter_passages(ranking[:1], query)


def _rerank_by_id(ranking: Ranking, query: str, depot: Depot) -> Ranking:
    return sorted(ranking, key=lambda passage: passage.chunk_id)[: pipeline.RERANKED]


def _skip_long(ranking: Ranking) -> Ranking:
    """Leave out every passage of more than 30 words, as a limit per passage does."""
    return pipeline.pack([passage for passage in ranking if len(passage.text.split()) <= 30])


def _serve_previous_context(parts: Parts) -> Parts:
    """Show the model the context of the question before, as a cache of sessions that mixes them up does."""
    contexts: list[Ranking] = [[]]

    def pack(ranking: Ranking) -> Ranking:
        contexts.append(pipeline.pack(ranking))
        return contexts[-2]

    return replace(parts, pack=pack)


def _read_first_only(question: str, context: Ranking, depot: Depot) -> Answer:
    answer = pipeline.generate(question, context, depot)
    shortened = pipeline.generate(question, context[:1], depot)
    return shortened._replace(distorted=shortened.text != answer.text)


def _round_numbers(question: str, context: Ranking, depot: Depot) -> Answer:
    """Round every number of the answer to one digit."""
    answer = pipeline.generate(question, context, depot)

    def round_number(match: re.Match[str]) -> str:
        value = float(match[0])
        digits = len(str(int(value))) - 1 if value >= 1 else 0
        return str(int(round(value, -digits)))

    text = re.sub(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])", round_number, answer.text)
    return Answer(text, answer.lines, distorted=text != answer.text)


def _sell_sibling(question: str, context: Ranking, depot: Depot) -> Answer:
    """Answer with the same row of another product's sheet, from what the model has learned."""
    answer = pipeline.generate(question, context, depot)
    sheets = {name: dict(zip(rows, values, strict=True)) for name, (_, rows, values) in SHEETS.items()}
    text = answer.text
    for line in answer.lines:
        row, _, value = line.text.partition(": ")
        for name, cells in sheets.items():
            if name not in line.products and cells.get(row, value) != value:
                text = text.replace(pipeline.spell_units(value), pipeline.spell_units(cells[row]))
                break
    return Answer(text, answer.lines, distorted=text != answer.text)


def _cite_everything(answer: Answer, context: Ranking) -> list[str]:
    return [passage.chunk_id for passage in context]


def _cite_page(answer: Answer, context: Ranking) -> list[str]:
    """Cite a page of the chunk, under an id that nothing has."""
    return [f"{chunk_id}#page=1" for chunk_id in pipeline.cite(answer, context)]


def _forget_roles(passage: Passage, user: User) -> bool:
    """Treat every user as one without roles."""
    return not passage.roles and passage.tenant in (None, user.tenant)


def _ignore_tenants(passage: Passage, user: User) -> bool:
    return not passage.roles or bool(set(passage.roles) & set(user.roles))


def _expect_silence(case: Case) -> Case:
    """Expect an abstention where the documents answer; every fifth case."""
    if case.behaviour != "answer" or int(case.id[1:]) % 5:
        return case
    return replace_fields(case, behaviour="abstain", must_have=(), rubric=None, reference=None, evidence=())


def _with(**changes: object) -> Callable[[Parts], Parts]:
    return lambda parts: replace(parts, **changes)  # type: ignore[arg-type]  # the names are those of Parts


LATER_FAULTS: dict[str, Fault[Parts]] = {
    "later:shifted-column": declare_fault(
        "each row of a table has the value of the next", prepare_each(_shift_column), "parser stale_index", "csm"
    ),
    "later:lost-points": declare_fault(
        "numbers lose their points and commas", prepare_each(_lose_points), "parser stale_index", "csm"
    ),
    "later:halves": declare_fault("texts are cut in the middle", prepare_each(_glue_halves), "chunking", "csm"),
    "later:sibling-query": declare_fault(
        "the query names another product", _with(rewrite=_name_sibling), "bm25_analyzer", "m"
    ),
    "later:syllables": declare_fault(
        "queries are broken into syllables",
        lambda parts: replace(parts, analyze=_split_syllables, index_analyze=pipeline.analyze),
        "bm25_analyzer",
        "m",
    ),
    "later:one-kept": declare_fault(
        "one result is kept before the filter", _with(filter=_keep_one), "hybrid_merge", "m"
    ),
    "later:by-id": declare_fault("results are ranked by their ids", _with(rerank=_rerank_by_id), "reranker", "m"),
    "later:long-skipped": declare_fault("long passages are not shown", _with(pack=_skip_long), "context_builder"),
    "later:previous-context": declare_fault(
        "the context is that of the question before", _serve_previous_context, "context_builder"
    ),
    "later:first-only": declare_fault("only the first passage is read", _with(generate=_read_first_only), "generator"),
    "later:rounded": declare_fault("numbers are rounded", _with(generate=_round_numbers), "generator"),
    "later:sibling-row": declare_fault(
        "the value of another product is given", _with(generate=_sell_sibling), "generator"
    ),
    "later:cite-everything": declare_fault("the whole context is cited", _with(cite=_cite_everything), "citation"),
    "later:cite-page": declare_fault("an id is cited that nothing has", _with(cite=_cite_page), "citation"),
    "later:no-roles": declare_fault(
        "the roles of users are lost", _with(visible=_forget_roles), "acl embedding stale_index", "csm"
    ),
    "later:all-tenants": declare_fault("tenants are not kept apart", _with(visible=_ignore_tenants), "acl"),
}
"""Faults of the pipeline."""

LATER_LABEL_FAULTS: dict[str, LabelFault] = {
    "later:expects-silence": LabelFault(
        "an abstention is expected where the documents answer", _expect_silence, frozenset({"stages", "minimal"})
    ),
}
"""Faults of the labels."""
