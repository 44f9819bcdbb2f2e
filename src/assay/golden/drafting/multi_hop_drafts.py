"""Drafts questions that need two chunks, by templates.

Four forms: a thing that another table describes, a term that a glossary defines elsewhere, one value under two
headings, and two questions about one named thing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from assay.golden.candidate import Candidate
from assay.golden.drafting.corpus_words import CorpusWords
from assay.golden.drafting.derived_drafts import NamedCell, list_named_cells
from assay.golden.drafting.drafted_parts import MAX_DERIVED, SourcedDraft, cite_draft, finish_draft, spread_items
from assay.golden.drafting.question_forms import MAX_QUESTION_WORDS, DraftedQuestion, capitalise, is_led
from assay.golden.drafting.question_templates import ask_cell
from assay.golden.drafting.questions_for_names import describe_thing
from assay.golden.drafting.row_names import name_entity, name_subject
from assay.golden.lint_evidence import list_content_words
from assay.metrics.cases.access_rules import read_corpus_access
from assay.records.golden_set import CorpusChunk
from assay.text.languages import KnownLanguage
from assay.text.normalisation import fold_text

MOST_MENTIONS = 12
"""The largest number of statements with a name for which two questions with it are about the same thing."""
MAX_OF_FORM = MAX_DERIVED // 2
"""The largest number of candidates of each form but the last, which takes what is left of the kind."""
MOST_MEANING_WORDS = 14
_LEAD = re.compile(r"\A(?:Theo|According to) “[^”]*”, ")
_ASKED_TERM = re.compile(r"\A(?:“(?P<vi>[^”]+)” nghĩa là gì|What does “(?P<en>[^”]+)” mean)\?\Z")
_VALUE_WORD = re.compile(r" là (?P<word>bao lâu một lần|bao lâu|mấy giờ|bao nhiêu|khi nào|ai|đâu|gì)\?\Z")
_MEANS_A_THING = {
    "vi": re.compile(r"(?:người|nhân viên|khách|khoản|phần|số|tháng|ngày|đơn vị|loại|thiết bị|hợp đồng)\s", re.I),
    "en": re.compile(r"(?:an?|the|any|people|persons|staff|employees|customers|goods|[a-z]{1,40}s)\s", re.I),
}
"""How a meaning begins that can stand in the place of its term."""


def draft_multi_hop(
    drafts: Sequence[SourcedDraft], chunks: Sequence[CorpusChunk], words: CorpusWords
) -> list[Candidate]:
    """Return questions that need two chunks with the same readers."""
    cells = [cell for chunk in chunks for cell in list_named_cells(chunk)]
    derived = list(spread_items(list(_draft_bridges(drafts, cells, words)), MAX_OF_FORM))
    derived += spread_items(list(_draft_terms(drafts)), MAX_OF_FORM)
    derived += spread_items(list(_draft_comparisons(cells, words)), MAX_OF_FORM)
    pairs = list(_choose_pairs(drafts, words))
    return derived + [
        _join_drafts(first, second)
        for first, second in spread_items(pairs, max(MAX_DERIVED - len(derived), MAX_OF_FORM))
    ]


def _have_same_readers(first: CorpusChunk, second: CorpusChunk) -> bool:
    return read_corpus_access(first) == read_corpus_access(second)


# ── a thing that is described instead of named ───────────────────────────────────────────────────────────────────────


def _draft_bridges(
    drafts: Sequence[SourcedDraft], cells: Sequence[NamedCell], words: CorpusWords
) -> Iterator[Candidate]:
    """Yield questions about a row that is described by a cell of a table in another chunk instead of named.

    No question and no description is used twice. What stands under several headings describes nothing by itself.
    """
    counts = Counter((fold_text(cell.header), fold_text(cell.value)) for cell in cells)
    by_name: dict[str, list[NamedCell]] = defaultdict(list)
    for cell in cells:
        is_single = counts[fold_text(cell.header), fold_text(cell.value)] == 1
        if is_single and words.count_sections(cell.name, cell.header) <= 1:
            by_name[cell.name].append(cell)
    described: Counter[tuple[str, str]] = Counter()
    for draft in drafts:
        if not draft.asked.is_table:
            continue
        name = _name_row(draft)
        # first the descriptions that were used least
        for cell in sorted(by_name.get(name, ()), key=lambda cell: described[cell.header, cell.value]):
            candidate = _bridge_draft(draft, cell, name)
            if candidate is not None and not described[cell.header, cell.value]:
                described[cell.header, cell.value] += 1
                yield candidate
                break


def _name_row(draft: SourcedDraft) -> str:
    return name_subject(draft.statement.header, draft.subject) or draft.statement.cells[0]


def _bridge_draft(draft: SourcedDraft, cell: NamedCell, name: str) -> Candidate | None:
    is_other = cell.chunk.chunk_id != draft.chunk.chunk_id and cell.language == draft.language
    if not is_other or not _have_same_readers(cell.chunk, draft.chunk) or fold_text(name) in fold_text(cell.value):
        return None
    kind = "" if name_subject(draft.statement.header, draft.subject) else draft.statement.header[0]
    described = describe_thing(cell.kind or kind, cell.header, cell.value, name, cell.language)
    question = _describe_instead(draft.asked.question, draft, name, described) if described is not None else None
    if question is None:
        return None
    asked = draft.asked
    first_hop = SourcedDraft(asked, cell.statement, cell.chunk, cell.language, cell.section)
    lead = _LEAD.match(asked.question)
    under = f"{draft.subject}: " if lead is not None and draft.subject in lead[0] else ""
    reference = f"{cell.name} – {cell.header}: {cell.value}. {under}{asked.reference}"
    units = (cite_draft(first_hop), cite_draft(draft))
    return finish_draft(draft, "multi-hop", question, ("multi-hop",), units, reference, asked.must_have)


def _describe_instead(question: str, draft: SourcedDraft, name: str, described: tuple[str, str]) -> str | None:
    """Return a question with a description in the place of a name; None if it does not name it once."""
    noun, has = described
    full = draft.subject.partition(":")[0]
    shown = full if full in question and name in full else name
    lead, quote, rest = question.rpartition("”, ")
    if rest.count(shown) != 1:
        return None
    if draft.language == "vi":
        pattern, other = rf"(?:\b{re.escape(noun)} )?{re.escape(shown)}", f"{noun} {has}"
    else:
        pattern = rf"(?:\bthe )?(?:\b{re.escape(noun)} )?{re.escape(shown)}"
        other = f"the {noun} {re.sub(r'^has ', 'with ', has)}"
    return lead + quote + re.sub(pattern, lambda _: other, rest, count=1)


# ── a term that another chunk defines ────────────────────────────────────────────────────────────────────────────────


def _draft_terms(drafts: Sequence[SourcedDraft]) -> Iterator[Candidate]:
    """Yield questions that say what a term means instead of the term, which another chunk defines."""
    for defining in drafts:
        match = _ASKED_TERM.match(defining.asked.question)
        if match is None:
            continue
        term = match["vi"] or match["en"]
        meaning = defining.asked.reference.partition(":")[2].strip().rstrip(".")
        if not _MEANS_A_THING[defining.language].match(meaning) or re.search(r"[.;:()]", meaning):
            continue
        if len(meaning.split()) > MOST_MEANING_WORDS or fold_text(term) in fold_text(meaning):
            continue
        for draft in drafts:
            candidate = _replace_term(draft, defining, term, meaning)
            if candidate is not None:
                yield candidate


def _replace_term(draft: SourcedDraft, defining: SourcedDraft, term: str, meaning: str) -> Candidate | None:
    is_other = draft.chunk.chunk_id != defining.chunk.chunk_id and draft.language == defining.language
    if not is_other or draft.asked.is_table or not _have_same_readers(draft.chunk, defining.chunk):
        return None
    pattern = rf"(?:\b(?:an?|the) )?(?<!\w){re.escape(term)}(?!\w)"
    if len(re.findall(pattern, draft.asked.question, re.IGNORECASE)) != 1 or "“" in draft.asked.question:
        return None
    lowered = meaning[:1].lower() + meaning[1:]
    question = capitalise(re.sub(pattern, lambda _: lowered, draft.asked.question, count=1, flags=re.IGNORECASE))
    if len(question.split()) > MAX_QUESTION_WORDS + MOST_MEANING_WORDS:
        return None
    asked = draft.asked
    reference = f"{defining.asked.reference.rstrip('. ')}. {asked.reference}"
    units = (cite_draft(defining), cite_draft(draft))
    return finish_draft(draft, "multi-hop", question, ("multi-hop",), units, reference, asked.must_have)


# ── one value under two headings ─────────────────────────────────────────────────────────────────────────────────────


def _draft_comparisons(cells: Sequence[NamedCell], words: CorpusWords) -> Iterator[Candidate]:
    """Yield questions for the value of one thing under two headings, where the two values differ."""
    by_place: dict[tuple[str, str, str], list[NamedCell]] = defaultdict(list)
    for cell in cells:
        if cell.kind:
            by_place[fold_text(cell.kind), fold_text(cell.name), fold_text(cell.header)].append(cell)
    for same in by_place.values():
        for first, second in pairwise(same):
            candidate = _compare_cells(first, second, words)
            if candidate is not None:
                yield candidate
                break


def _compare_cells(first: NamedCell, second: NamedCell, words: CorpusWords) -> Candidate | None:
    is_other = first.chunk.chunk_id != second.chunk.chunk_id and first.section != second.section
    is_other &= fold_text(first.value) != fold_text(second.value) and first.language == second.language
    if not is_other or not _have_same_readers(first.chunk, second.chunk):
        return None
    asked = [ask_cell(cell.statement, cell.header, cell.value, cell.section, cell.language, words)
             for cell in (first, second)]  # fmt: skip
    if None in asked:
        return None
    plain = [capitalise(_LEAD.sub("", question or "")) for question in asked]
    question = _ask_twice(plain[0], (first.section, second.section), first.language) if plain[0] == plain[1] else None
    if question is None:
        return None
    reference = ". ".join(f"{cell.section}: {cell.name} – {cell.header}: {cell.value}" for cell in (first, second))
    facts = (first.value, second.value)
    sources = [SourcedDraft(DraftedQuestion(question, reference, facts, False, True), cell.statement, cell.chunk,
                            cell.language, cell.section) for cell in (first, second)]  # fmt: skip
    units = tuple(cite_draft(source) for source in sources)
    return finish_draft(sources[0], "multi-hop", question, ("multi-hop",), units, reference, facts)


def _ask_twice(question: str, headings: tuple[str, str], language: KnownLanguage) -> str | None:
    """Return a question about a value as it is asked of two headings, None if it has no word for the value.

    >>> _ask_twice("Phản hồi đối với mức P1 là bao lâu?", ("Gói A", "Gói B"), "vi")
    'Phản hồi đối với mức P1 theo “Gói A” là bao lâu, và theo “Gói B” là bao lâu?'
    """
    if language == "en":
        return f"{question.rstrip('?')} according to “{headings[0]}”, and what according to “{headings[1]}”?"
    match = _VALUE_WORD.search(question)
    if match is None:
        return None
    asked = [f"theo “{heading}” là {match['word']}" for heading in headings]
    return f"{question[: match.start()]} {asked[0]}, và {asked[1]}?"


# ── two questions about one thing ────────────────────────────────────────────────────────────────────────────────────


def _choose_pairs(drafts: Sequence[SourcedDraft], words: CorpusWords) -> Iterator[tuple[SourcedDraft, SourcedDraft]]:
    met: set[str] = set()
    for first, second in _pair_drafts(drafts, words):
        if not {first.asked.question, second.asked.question} & met:
            met |= {first.asked.question, second.asked.question}
            yield first, second


def _join_drafts(first: SourcedDraft, second: SourcedDraft) -> Candidate:
    question = f"{first.asked.question.rstrip('?')}{', và ' if first.language == 'vi' else ', and '}"
    question += second.asked.question[:1].lower() + second.asked.question[1:]
    reference = f"{first.asked.reference.rstrip('. ')}. {second.asked.reference}"
    facts = (first.asked.must_have, second.asked.must_have)
    must_have = (*facts[0], *facts[1]) if all(facts) else ()  # half of the facts would be taken for the whole
    units = (cite_draft(first), cite_draft(second))
    return finish_draft(first, "multi-hop", question, ("multi-hop",), units, reference, must_have)


def _pair_drafts(drafts: Sequence[SourcedDraft], words: CorpusWords) -> Iterator[tuple[SourcedDraft, SourcedDraft]]:
    """Yield pairs of drafts of two chunks with the same readers that are about the same named thing."""
    by_name: dict[tuple[str, KnownLanguage], list[SourcedDraft]] = defaultdict(list)
    for draft in drafts:
        if is_led(draft.asked.question):
            continue  # no question that another one can be joined to
        for name in _list_names(draft, words):
            by_name[name, draft.language].append(draft)
    for members in by_name.values():
        firsts = list({draft.chunk.chunk_id: draft for draft in members}.values())
        for first, second in pairwise(firsts):
            is_other = first.statement.header[-1:] != second.statement.header[-1:] or not first.asked.is_table
            is_other &= _asks_otherwise(first.asked.question, second.asked.question)
            if is_other and _have_same_readers(first.chunk, second.chunk):
                yield first, second


def _asks_otherwise(first: str, second: str) -> bool:
    """Return whether two questions about one thing ask for two things: half of the words of each are its own."""
    own, other = list_content_words(first), list_content_words(second)
    return len(own & other) <= min(len(own), len(other)) / 2


def _list_names(draft: SourcedDraft, words: CorpusWords) -> list[str]:
    """Return what a question names: the thing that a row or sheet is about, else a name of the corpus in it."""
    question = draft.asked.question
    if draft.asked.is_table:
        name = _name_row(draft)
        return [fold_text(name)] if len(name) > 3 else []
    entity = name_entity(draft.subject)
    if entity in question and entity != draft.subject:
        return [fold_text(entity)]
    named = re.findall(r"(?<=\s)[A-Z][\w-]{3,}", question)
    return [fold_text(name) for name in named if words.is_name(name) and words.count_statements(name) <= MOST_MENTIONS]
