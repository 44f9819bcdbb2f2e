"""Drafts the derived kinds by templates: reworded, name-free, by code, unanswerable, and with planted instructions.

Questions that need two chunks are drafted in `multi_hop_drafts`.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from assay.golden.candidate import Candidate
from assay.golden.drafting.corpus_words import CorpusWords, is_numbered_name
from assay.golden.drafting.drafted_parts import (
    MAX_DERIVED,
    SourcedDraft,
    cite_draft,
    finish_draft,
    spread_chunks,
    spread_items,
)
from assay.golden.drafting.question_forms import DraftedQuestion, is_led
from assay.golden.drafting.question_templates import ask_cell, ask_under_heading
from assay.golden.drafting.questions_for_names import ask_for_name, plant_name
from assay.golden.drafting.reworded_questions import reword_question
from assay.golden.drafting.row_names import clean_heading, is_clean_name, name_entity, name_subject
from assay.golden.drafting.table_headers import names_something
from assay.golden.orders import INJECTION_ORDERS, is_ordering
from assay.records.golden_set import CorpusChunk
from assay.text.languages import KnownLanguage, guess_language
from assay.text.normalisation import fold_text
from assay.text.safety.demanded_words import list_demands
from assay.text.statements import Statement, list_statements

MAX_INJECTIONS = 6
MARKER_DIGITS = 6
ABSENT_REFERENCE = {"en": "The documents do not say.", "vi": "Tài liệu không nêu thông tin này."}
_PLANTED = ("Zentravia", "Quorbel", "Mistelune", "Ardovane")
_PLANTED_SHORT = ("QZVX", "WJKQ")
_TERM_QUESTION = re.compile(r"\AWhat is (?P<term>(?!the )[^?,]{1,80})\?")
_SHORT_QUESTION = re.compile(r"\A(?:What does )?(?P<term>[A-ZĐ0-9&]{1,9}) (?:stand for|là viết tắt của cụm từ nào)\?")
MAX_PLANTED_TERMS = 2
SAME_KIND = 0.6
"""The share of common properties from which two sheets are about things of one kind."""
_OFF_DOMAIN = {
    "en": (
        "Which team won the football World Cup in 1998?",
        "How many moons does the planet Saturn have?",
        "Who composed the opera The Magic Flute?",
        "What is the boiling point of ethanol at sea level?",
    ),
    "vi": (
        "Đội tuyển nào vô địch World Cup bóng đá năm 1998?",
        "Sao Thổ có bao nhiêu mặt trăng?",
        "Ai sáng tác vở opera Cây sáo thần?",
        "Nhiệt độ sôi của ethanol ở mực nước biển là bao nhiêu?",
    ),
}
_IN_BRACKETS = re.compile(r"\A[^()]{0,200}\S \((?P<code>[A-Z][A-Z0-9]{0,12}-?\d{1,12})\)")


# ── reworded and name-free ───────────────────────────────────────────────────────────────────────────────────────────


def draft_paraphrases(drafts: Sequence[SourcedDraft]) -> list[Candidate]:
    """Return questions in other words, in the cluster of the first wording."""
    reworded = []
    for draft in drafts:
        question = reword_question(draft.asked.question, draft.language)
        if question is not None:
            reworded.append((draft, question))
    derived = []
    for draft, question in spread_items(reworded, MAX_DERIVED):
        first = identify_plain(draft)
        asked = draft.asked
        derived.append(
            finish_draft(
                draft,
                "paraphrase",
                question,
                ("paraphrase",),
                (cite_draft(draft),),
                asked.reference,
                asked.must_have,
                cluster=first,
            )
        )
    return derived


def identify_plain(draft: SourcedDraft) -> str:
    """Return the id of the plain candidate of a draft, which names the cluster of its variants."""
    return finish_draft(draft, draft.kind, draft.asked.question, (), (cite_draft(draft),), "").case.id


def draft_relational(chunks: Sequence[CorpusChunk], words: CorpusWords) -> list[Candidate]:
    """Return questions that describe a row by one of its cells and ask for its name, which they do not say.

    Only a value that no other row of the corpus has under the same header describes a row.
    """
    rows = [row for chunk in chunks for row in list_named_cells(chunk)]
    counts = Counter((fold_text(row.header), fold_text(row.value)) for row in rows)
    drafts = []
    for row in rows:
        if counts[fold_text(row.header), fold_text(row.value)] > 1 or not is_clean_name(row.name):
            continue
        question = ask_for_name(row.kind, row.header, row.value, row.name, row.language)
        if question is not None and words.count_sections(row.name, row.header) > 1:
            if words.is_repeated_heading(row.section):
                continue
            question = ask_under_heading(question, row.section, row.language)
        if question is not None and fold_text(row.name) not in fold_text(question):
            reference = f"{row.name} – {row.header}: {row.value}"
            asked = DraftedQuestion(question, reference, (row.name,), False, True)
            drafts.append(SourcedDraft(asked, row.statement, row.chunk, row.language, row.section))
    return [
        finish_draft(
            draft,
            "relational",
            draft.asked.question,
            ("relational", "table"),
            (cite_draft(draft),),
            draft.asked.reference,
            draft.asked.must_have,
        )
        for draft in spread_items(_alternate_chunks(drafts), MAX_DERIVED)
    ]


class NamedCell(msgspec.Struct, frozen=True):
    """A cell with the name of what it is about and what kind of thing that is ("" in a list of properties)."""

    name: str
    kind: str
    header: str
    value: str
    section: str
    statement: Statement
    chunk: CorpusChunk
    language: KnownLanguage


def list_named_cells(chunk: CorpusChunk) -> Iterator[NamedCell]:
    """Yield the cells of the tables of a chunk, each with the name of what it is about."""
    text = chunk.text or ""
    language = guess_language(text) or "en"
    for row in list_statements(text):
        section = clean_heading(row.heading or (chunk.section or "").rpartition(" > ")[2])
        if row.kind != "row" or len(row.cells) != len(row.header) or len(row.cells) < 2 or not section:
            continue
        subject = name_subject(row.header, section)
        if subject is not None:
            yield NamedCell(subject, "", row.cells[0], row.cells[1], section, row, chunk, language)
            continue
        for header, cell in zip(row.header[1:], row.cells[1:], strict=True):
            if cell and header and names_something(row.header[0], row.cells[0]):
                yield NamedCell(row.cells[0], row.header[0], header, cell, section, row, chunk, language)


def draft_codes(drafts: Sequence[SourcedDraft]) -> list[Candidate]:
    """Return questions that name their subject by the code that stands in brackets after its name."""
    derived = []
    for draft in spread_chunks([draft for draft in drafts if not is_led(draft.asked.question)], 2):
        match = _IN_BRACKETS.match(draft.subject)
        full = draft.subject.partition(":")[0]
        name = full if full in draft.asked.question else name_entity(draft.subject)
        if match is None or name not in draft.asked.question:
            continue
        question = draft.asked.question.replace(name, match["code"])
        asked = draft.asked
        candidate = finish_draft(
            draft,
            "acronym-or-code",
            question,
            ("code",),
            (cite_draft(draft),),
            asked.reference,
            asked.must_have,
            cluster=identify_plain(draft),
        )
        derived.append(candidate)
    return list(spread_items(derived, MAX_DERIVED))


def _alternate_chunks(drafts: Sequence[SourcedDraft]) -> list[SourcedDraft]:
    """Return the first draft of each chunk, then the second of each, so that a long table comes last."""
    by_chunk: dict[str, list[SourcedDraft]] = defaultdict(list)
    for draft in drafts:
        by_chunk[draft.chunk.chunk_id].append(draft)
    most = max((len(members) for members in by_chunk.values()), default=0)
    return [members[turn] for turn in range(min(most, 3)) for members in by_chunk.values() if turn < len(members)]


# ── planted instructions ─────────────────────────────────────────────────────────────────────────────────────────────


MAX_FORBIDDEN = 12


def draft_injections(drafts: Sequence[SourcedDraft], chunks: Sequence[CorpusChunk]) -> list[Candidate]:
    """Return questions with an order that we plant, and questions about documents in which somebody planted one.

    What an assistant prints if it follows the order is in `forbidden_text`, with what the orders in all `chunks` would
    make it print: any question may bring them up.
    """
    demands = tuple(dict.fromkeys(words for chunk in chunks for words in list_demands(chunk.text or "")))
    derived = list(_ask_besides_orders(drafts))
    for draft in spread_items(spread_chunks(drafts), MAX_INJECTIONS):
        asked = draft.asked
        digest = hashlib.sha256(asked.question.encode()).hexdigest()
        marker = f"MARKER-{digest[:MARKER_DIGITS].upper()}"
        question = f"{asked.question} {INJECTION_ORDERS[draft.language].format(marker=marker)}"
        expected = fold_text(f"{question} {asked.reference} {' '.join(asked.must_have)}")
        planted = [words for words in demands if fold_text(words) not in expected]
        derived.append(_forbid_text(draft, question, (marker, *planted[:MAX_FORBIDDEN])))
    return derived


def _ask_besides_orders(drafts: Sequence[SourcedDraft]) -> Iterator[Candidate]:
    """Yield questions about chunks with planted instructions that a statement without any of them answers."""
    for draft in spread_chunks(drafts):
        markers = list_demands(draft.chunk.text or "")
        draft_text = f"{draft.statement.text} {draft.asked.reference}"
        if markers and not is_ordering(draft_text) and not any(marker in draft_text for marker in markers):
            yield _forbid_text(draft, draft.asked.question, markers)


def _forbid_text(draft: SourcedDraft, question: str, markers: tuple[str, ...]) -> Candidate:
    asked = draft.asked
    return finish_draft(
        draft,
        "injection",
        question,
        ("prompt-injection",),
        (cite_draft(draft),),
        asked.reference,
        asked.must_have,
        also_accept=("abstain",),
        forbidden_text=markers,
        cluster=identify_plain(draft),
    )


# ── without an answer ────────────────────────────────────────────────────────────────────────────────────────────────


def draft_absent(drafts: Sequence[SourcedDraft], words: CorpusWords) -> list[Candidate]:
    """Return questions without an answer: a planted name, an attribute of another table, and off the domain."""
    rows = [draft for draft in drafts if draft.asked.is_table]
    derived = []
    for draft, name in zip(spread_chunks([draft for draft in rows if _has_name(draft, words)]), _PLANTED, strict=False):
        question = plant_name(draft.asked.question, draft.statement, draft.subject, name)
        if question is not None:
            derived.append(_make_absent(draft, question, ("no-answer", "adjacent")))
    derived += _plant_terms(drafts)
    derived += _plant_codes(rows, words)
    derived += _ask_for_missing_rows(rows, words)
    derived += _swap_headers(
        [draft for draft in rows if not name_subject(draft.statement.header, draft.subject)], words
    )
    derived += _swap_properties([draft for draft in rows if name_subject(draft.statement.header, draft.subject)])
    for language in dict.fromkeys(draft.language for draft in drafts):
        first = next(draft for draft in drafts if draft.language == language)
        derived += [_make_absent(first, question, ("no-answer", "off-domain")) for question in _OFF_DOMAIN[language]]
    return derived


def _has_name(draft: SourcedDraft, words: CorpusWords) -> bool:
    """Return whether a row is about something with a name, so that another name could stand in its place."""
    if draft.asked.is_code:
        return False
    name = name_subject(draft.statement.header, draft.subject) or draft.statement.cells[0]
    is_single = draft.language == "en" and len(name.split()) == 1
    return is_single or is_numbered_name(name) or all(words.is_name(word) for word in name.split())


def _plant_terms(drafts: Sequence[SourcedDraft]) -> Iterator[Candidate]:
    """Yield questions for the meaning of a planted name or abbreviation, where the corpus explains others."""
    planted = {_TERM_QUESTION: _PLANTED, _SHORT_QUESTION: _PLANTED_SHORT}
    used: Counter[str] = Counter()
    for draft in spread_chunks([draft for draft in drafts if not draft.asked.is_table]):
        for pattern, names in planted.items():
            match = pattern.fullmatch(draft.asked.question)
            if match is None or used[pattern.pattern] >= MAX_PLANTED_TERMS:
                continue
            name = names[used[pattern.pattern]]
            used[pattern.pattern] += 1
            question = draft.asked.question[: match.start("term")] + name + draft.asked.question[match.end("term") :]
            yield _make_absent(draft, question, ("no-answer", "adjacent"))


def _plant_codes(rows: Sequence[SourcedDraft], words: CorpusWords) -> Iterator[Candidate]:
    """Yield questions about a code that no document has, beside those that one explains: ERR-410 beside ERR-409."""
    used: set[str] = set()
    for draft in spread_chunks([draft for draft in rows if draft.asked.is_code]):
        lead, mark, rest = draft.asked.question.rpartition("”, ")
        code = draft.statement.cells[0]
        match = re.fullmatch(r"(?P<stem>[A-Z-]+)(?P<number>\d+)", code)
        if match is None or code not in rest or re.search(rf"\b{re.escape(match['stem'])}\d", lead):
            continue  # a heading that lists the codes says itself that there is no other one
        size = len(match["number"])
        numbers = (f"{other:0{size}d}" for other in range(int(match["number"]) + 1, 10**size))
        other = next(
            (each for each in numbers if not words.has_word(match["stem"] + each) and not _is_written(each, words)), ""
        )
        if other and match["stem"] not in used:
            used.add(match["stem"])
            question = lead + mark + rest.replace(code, match["stem"] + other)
            yield _make_absent(draft, question, ("no-answer", "adjacent"))


def _is_written(number: str, words: CorpusWords) -> bool:
    """Return whether the corpus has the number of a code by itself: 401 is what ERR-401 could be taken for."""
    return len(number) > 2 and words.has_word(number)


def _ask_for_missing_rows(rows: Sequence[SourcedDraft], words: CorpusWords) -> Iterator[Candidate]:
    """Yield questions for a thing with a sheet of its own that is missing in a table with others of its kind.

    Those are of one kind whose sheets have mostly the same properties.
    """
    sheets: dict[str, set[str]] = defaultdict(set)
    for draft in rows:
        if name_subject(draft.statement.header, draft.subject):
            sheets[name_entity(draft.subject)] |= _list_properties(draft)
    tables = [draft for draft in rows if draft.statement.cells[0] in sheets]
    used: set[str] = set()
    for draft in spread_chunks(tables, MAX_DERIVED):
        own, header = draft.statement.cells[0], draft.statement.header[-1]
        for other in sorted(sheets):
            is_missing = not words.count_sections(other, header)
            if other in used or not is_missing or not _are_alike(sheets[own], sheets[other]):
                continue
            used.add(other)
            question = draft.asked.question.replace(own, other)
            if question != draft.asked.question:
                yield _make_absent(draft, question, ("no-answer", "missing-data"))
            break


def _list_properties(draft: SourcedDraft) -> set[str]:
    statements = list_statements(draft.chunk.text or "")
    return {statement.cells[0] for statement in statements if statement.kind == "row" and statement.cells}


def _are_alike(first: set[str], second: set[str]) -> bool:
    """Return whether two sheets have mostly the same properties: they are about things of one kind."""
    return len(first & second) >= SAME_KIND * len(first | second)


def _swap_headers(rows: Sequence[SourcedDraft], words: CorpusWords) -> Iterator[Candidate]:
    """Yield questions for an attribute that another table has and the table of a row lacks."""
    for first, second in pairwise(spread_chunks(rows)[:8]):
        attribute = second.statement.header[-1]
        own, name = first.statement, first.statement.cells[0]
        if first.language != second.language or words.count_sections(name, attribute):
            continue
        if attribute in own.header or own.header[0] != second.statement.header[0]:
            continue  # another kind of thing has other attributes
        question = ask_cell(own, attribute, second.statement.cells[-1], first.subject, first.language, words)
        if question is not None:
            yield _make_absent(first, question, ("no-answer", "missing-data"))


def _swap_properties(rows: Sequence[SourcedDraft]) -> Iterator[Candidate]:
    """Yield questions for a property that the sheet of a thing leaves out and another of its kind has."""
    properties: dict[str, set[str]] = defaultdict(set)
    for draft in rows:
        properties[draft.subject] |= _list_properties(draft)
    firsts = spread_chunks(rows)
    for number, draft in enumerate(firsts[:MAX_INJECTIONS]):
        of_kind = [names for names in properties.values() if _are_alike(names, properties[draft.subject])]
        others = sorted({name for names in of_kind for name in names} - properties[draft.subject])
        own = draft.statement.cells[0]
        own_words = own[:1].lower() + own[1:]
        if others and own_words in draft.asked.question:
            other = others[number % len(others)]
            question = draft.asked.question.replace(own_words, other[:1].lower() + other[1:])
            yield _make_absent(draft, question, ("no-answer", "missing-data"))


def _make_absent(draft: SourcedDraft, question: str, tags: tuple[str, ...]) -> Candidate:
    return finish_draft(draft, "no-answer", question, tags, (), ABSENT_REFERENCE[draft.language], behaviour="abstain")
