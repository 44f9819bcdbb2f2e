"""Drafts candidates of every kind from a corpus by templates.

No model is asked. Every candidate has its quote and says what drafted it; the filters decide what is left.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from assay.golden.candidate import Candidate
from assay.golden.drafting.corpus_words import CorpusWords, is_numbered_name
from assay.golden.drafting.derived_drafts import (
    draft_absent,
    draft_codes,
    draft_injections,
    draft_paraphrases,
    draft_relational,
    identify_plain,
)
from assay.golden.drafting.drafted_parts import (
    MAX_DERIVED,
    SourcedDraft,
    add_quotes,
    cite_draft,
    finish_draft,
    make_stranger,
    spread_chunks,
    spread_items,
)
from assay.golden.drafting.english_questions import ask_in_english
from assay.golden.drafting.english_sections import is_empty_heading, name_pronoun
from assay.golden.drafting.heading_questions import (
    ask_abbreviations,
    find_asked_questions,
    find_glossary_entry,
    find_tasks,
    goes_on,
)
from assay.golden.drafting.multi_hop_drafts import draft_multi_hop
from assay.golden.drafting.question_forms import FEWEST_WORDS, DraftedQuestion
from assay.golden.drafting.question_places import name_place
from assay.golden.drafting.question_templates import ask_about_row
from assay.golden.drafting.row_names import clean_heading, name_entity
from assay.golden.drafting.term_questions import ask_definition
from assay.golden.drafting.vietnamese_questions import ask_in_vietnamese
from assay.golden.lint_evidence import list_content_words
from assay.metrics.cases.access_rules import has_expired, is_in_force, may_see_chunk
from assay.records.golden_set import Corpus, CorpusChunk, User
from assay.text.languages import KnownLanguage, guess_language, has_diacritics, has_vietnamese_letters
from assay.text.normalisation import fold_text, normalise_nfc
from assay.text.statements import Statement, list_statements

MAX_OF_CHUNK = 4
"""The largest number of plain candidates of one chunk, so that a long table does not fill the set."""
SAME_WORDS = 0.7
"""The share of common words from which an older version answers the same question."""
FEWEST_COMMON = 0.6
"""The share of the words of a question that a sentence of an older version has if it is about the same thing."""
OWN_ANSWER = 0.5
"""The share of the words of a question from which a sentence that the user may see may answer it."""
_FRAME_OF_RULES = re.compile(
    r"\A(?:Theo(?: quy định về)?|According to) “[^”]*”, |\b(?:quy định về|phải làm gì|thì sao|là gì|"
    r"what happens (?:to|if|when)|what should I do (?:if|when))\b",
    re.IGNORECASE,
)
MOST_SECTION_WORDS = 60
"""The length in words of a section that is asked about as a whole."""
_MEANING = re.compile(r"\b(?:nghĩa là gì|được hiểu|là viết tắt|mean|stand for)\b")
"""Who asks for the meaning of a word asks for no document: "I do not know" is as good an answer as a denial."""
_ASK_SECTION = {"en": "What do the documents say about “{}”?", "vi": "Tài liệu nói gì về “{}”?"}
_DENIED = {"en": "You may not see this.", "vi": "Bạn không có quyền xem thông tin này."}


def draft_candidates(corpus: Corpus, as_of: str | None = None) -> list[Candidate]:
    """Return candidates of every kind that the templates can draft, the plain ones in the order of the corpus.

    Chunks that have expired on the day `as_of` only serve to find what changed; those that are not yet in force do not.
    """
    current = [chunk for chunk in corpus.chunks.values() if chunk.text and is_in_force(chunk, as_of)]
    words = CorpusWords(current)
    split = find_split_sections(current)
    drafts = [
        draft
        for chunk in current
        for draft in _draft_chunk(chunk, words, is_whole=(chunk.document, chunk.section) not in split)
    ]
    notes = _find_notes(current)
    drafts = [draft for draft in drafts if not _has_note_elsewhere(draft, notes)]
    candidates = _thin_forms([_make_candidate(draft) for draft in drafts])
    candidates += _draft_spellings(candidates)
    candidates += draft_paraphrases(drafts)
    candidates += draft_relational(current, words)
    candidates += draft_codes(drafts)
    candidates += draft_multi_hop(drafts, current, words)
    candidates = _draft_versions(drafts, corpus, as_of, words) + candidates
    candidates += _draft_denials(drafts, corpus, as_of)
    candidates += draft_absent(drafts, words)
    candidates += draft_injections(drafts, current)
    folded = [fold_text(chunk.text) for chunk in corpus.chunks.values() if chunk.text]
    return [add_quotes(candidate, folded) for candidate in _drop_repeated(candidates)]


_NOTE = re.compile(r"^\[\^(\w+)\]:[ \t]*(\S.*)$", re.MULTILINE)
_NOTE_MARK = re.compile(r"\[\^(\w+)\](?!:)")
LONGEST_MARK = 8
FEWEST_NOTE_WORDS = 4


def _find_notes(chunks: Sequence[CorpusChunk]) -> dict[tuple[str | None, str | None, str], str]:
    """Return the chunk of each footnote that says something, by its document, version and mark."""
    return {
        (chunk.document, chunk.version, mark): chunk.chunk_id
        for chunk in chunks
        for mark, text in _NOTE.findall(chunk.text or "")
        if len(text.split()) >= FEWEST_NOTE_WORDS
    }


def _has_note_elsewhere(draft: SourcedDraft, notes: Mapping[tuple[str | None, str | None, str], str]) -> bool:
    """Return whether a footnote in another chunk belongs to the answer, which is not whole without it."""
    chunk, text = draft.chunk, draft.chunk.text or ""
    marked = text[draft.statement.start : draft.statement.end + LONGEST_MARK]
    marks = _NOTE_MARK.findall(marked) if draft.statement.kind != "row" else []
    holders = [notes.get((chunk.document, chunk.version, mark)) for mark in marks]
    return any(holder is not None and holder != chunk.chunk_id for holder in holders)


def _drop_repeated(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates without the variants of a question that was asked already, of the same user."""
    first: dict[tuple[str, ...], Candidate] = {}
    for candidate in candidates:
        case = candidate.case
        of_kind = case.id if case.cluster is None else candidate.kind
        first.setdefault((of_kind, case.question.casefold(), str(case.user), case.reference or ""), candidate)
    return list(first.values())


MOST_OF_A_FORM = 2
"""How many questions of one form have the same answer: a log says of ten pumps that they were collected on Friday."""
_OWN_WORD = re.compile(r"“[^“”]*”|\b[A-ZÀ-Ỹ0-9][\w-]*")


def _thin_forms(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return plain candidates without more of one form and answer than `MOST_OF_A_FORM`, in order."""
    counts: Counter[tuple[str, tuple[str, ...]]] = Counter()
    kept = []
    for candidate in candidates:
        form = _OWN_WORD.sub("…", candidate.case.question), candidate.case.must_have
        counts[form] += 1
        if not candidate.case.must_have or counts[form] <= MOST_OF_A_FORM:
            kept.append(candidate)
    return kept


def find_split_sections(chunks: Sequence[CorpusChunk]) -> set[tuple[str | None, str | None]]:
    """Return the sections, with their documents, of which no chunk is the whole: cut, or with sections below them.

    >>> parts = [CorpusChunk(name, document="faq", section="How?") for name in ("faq:how", "faq:how~2")]
    >>> find_split_sections(parts)
    {('faq', 'How?')}
    """
    counts = Counter((chunk.document, chunk.section) for chunk in chunks)
    split = {place for place, count in counts.items() if count > 1}
    for document, section in counts:
        upper = (section or "").rpartition(" > ")[0]
        while upper:
            split.add((document, upper))
            upper = upper.rpartition(" > ")[0]
    return split


def _draft_chunk(chunk: CorpusChunk, words: CorpusWords, *, is_whole: bool = True) -> Iterator[SourcedDraft]:
    text = chunk.text or ""
    language = find_text_language(text, guess_language(text) or "en")
    if language is None:
        return
    statements = list(list_statements(text))
    section = name_section(chunk.section or "")
    if not section and (title := find_title(statements)):
        section, statements = title, statements[1:]
    drafts = [
        SourcedDraft(question.asked, question.statement, chunk, language, section)
        for find in ((find_asked_questions, find_tasks) if is_whole else ())
        for question in find(statements, text, section, language)
    ]
    if is_whole:
        drafts += [
            SourcedDraft(question.asked, question.statement, chunk, language, section)
            for question in find_glossary_entry(statements, text, chunk.section or "", language)
        ]
    for number, statement in enumerate(statements):
        subject = clean_heading(statement.heading) or section
        spoken = find_text_language(statement.text, language) if statement.kind != "row" else language
        if spoken is None:
            continue
        following = statements[number + 1].text if number + 1 < len(statements) else ""
        before = statements[number - 1] if number else None
        named = name_pronoun(statement, before, text) if spoken == "en" else None
        asked = [
            item if named is None else item._replace(reference=named.statement.text, quote=named.quote)
            for item in _ask_about(
                statement if named is None else named.statement, subject, spoken, words, is_alone=len(statements) == 1
            )
            if not goes_on(item.question, following, spoken)
        ]
        if statement.kind != "row" and len(statements) > 1:  # one that is alone is all that there is to ask about
            asked = [framed for item in asked if (framed := name_place(item, subject, spoken, words)) is not None]
        drafts += [SourcedDraft(item, statement, chunk, spoken, subject) for item in asked]
    # Spread over the chunk: the first of each statement, then the second, …
    step = max(1, len(drafts) // MAX_OF_CHUNK)
    yield from drafts[::step][:MAX_OF_CHUNK]


def name_section(path: str) -> str:
    """Return the heading of a section by its path: the last one, or the one above it where that says nothing.

    >>> name_section("Prices > Blood tests"), name_section("Prices of blood tests > Details")
    ('Blood tests', 'Prices of blood tests')
    """
    above, _, last = path.rpartition(" > ")
    heading = clean_heading(last)
    return name_section(above) if above and is_empty_heading(heading) else heading


_MOST_TITLE_WORDS = 10


def find_title(statements: Sequence[Statement]) -> str:
    r"""Return the first line of a chunk without a section if it is a title: a short line without a mark at its end.

    >>> find_title(list_statements("Harbour café\nSoup costs 7 EUR.")), find_title(list_statements("Soup costs 7 EUR."))
    ('Harbour café', '')
    """
    if len(statements) < 2 or statements[0].kind != "text" or statements[0].heading:
        return ""
    line = statements[0].text
    is_short = len(line.split()) <= _MOST_TITLE_WORDS and line[:1].isupper()
    return clean_heading(line) if is_short and re.search(r"[\w)]\Z", line) is not None else ""


def find_text_language(text: str, language: KnownLanguage = "en") -> KnownLanguage | None:
    """Return the language of a text, `language` if it is too short to tell, None if it is in neither that we know.

    >>> texts = ("Hold the key while you draw.", "Giữ phím.", "Für die Größe gilt das Maß.")
    >>> [find_text_language(text, "vi") for text in texts]
    ['en', 'vi', None]
    """
    guessed, is_vietnamese = guess_language(text), has_vietnamese_letters(text)
    if guessed == "en" or (guessed == "vi" and is_vietnamese):
        return guessed
    if len(text.split()) < FEWEST_WORDS:
        return language
    if has_diacritics(text):
        return None
    return "vi" if guessed == "vi" and language == "vi" else "en"


def _ask_about(
    statement: Statement, subject: str, language: KnownLanguage, words: CorpusWords, *, is_alone: bool = False
) -> Iterator[DraftedQuestion]:
    if statement.kind == "row":
        if subject:
            yield from ask_about_row(statement, subject, language, words)
        return
    yield from ask_abbreviations(statement, language)
    definition = ask_definition(statement, subject, language)
    if definition is not None:
        yield definition
        return
    name = name_entity(subject)
    entity = f"the {name}" if is_numbered_name(name) else ""
    if language == "vi":
        asked = ask_in_vietnamese(statement, words, subject, is_alone=is_alone)
    else:
        asked = ask_in_english(statement, entity, words, subject, is_alone=is_alone)
    if asked is not None:
        yield asked


def _make_candidate(draft: SourcedDraft) -> Candidate:
    kind = draft.kind
    tags = {"exact": ("exact",), "acronym-or-code": ("code",)}.get(
        kind, ("table",) if draft.asked.is_table else ("numeric",)
    )
    return finish_draft(
        draft, kind, draft.asked.question, tags, (cite_draft(draft),), draft.asked.reference, draft.asked.must_have
    )


# ── derived kinds ────────────────────────────────────────────────────────────────────────────────────────────────────


def _draft_spellings(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return Vietnamese questions again without diacritics, in the cluster of the first."""
    derived = []
    spelled_so = [row for row in candidates if row.case.language == "vi" and has_diacritics(row.case.question)]
    for candidate in spread_items(spelled_so, MAX_DERIVED):
        case = candidate.case
        spelled = msgspec.structs.replace(
            case,
            id=f"no-diacritic-{case.id.rpartition('-')[2]}",
            question=strip_diacritics(case.question),
            tags=("no-diacritic",),
            cluster=case.id,
        )
        derived.append(Candidate(spelled, "no-diacritic", candidate.drafted_from))
    return derived


def strip_diacritics(text: str) -> str:
    """Return a text in plain letters, each in the case it had.

    >>> strip_diacritics("Mức P3 là gì?")
    'Muc P3 la gi?'
    """
    letters = []
    for letter in normalise_nfc(text):
        plain = fold_text(letter) if letter.isalpha() else letter
        letters.append(plain.upper() if letter.isupper() else plain)
    return "".join(letters)


def _draft_versions(
    drafts: Sequence[SourcedDraft], corpus: Corpus, as_of: str | None, words: CorpusWords
) -> list[Candidate]:
    """Return questions whose answer is another one in an expired version of the same document."""
    expired = [
        chunk for chunk in corpus.chunks.values() if chunk.text and has_expired(chunk.valid_to, as_of or "9999-12-31")
    ]
    old_by_document: dict[str | None, list[SourcedDraft]] = defaultdict(list)
    old_chunks: dict[str | None, list[CorpusChunk]] = defaultdict(list)
    for chunk in expired:
        old_by_document[chunk.document] += _draft_chunk(chunk, words)
        old_chunks[chunk.document].append(chunk)
    derived = []
    for draft in drafts:
        old = next((old for old in old_by_document.get(draft.chunk.document, ()) if _changed(draft, old)), None)
        old = old or _find_changed_statement(draft, old_chunks.get(draft.chunk.document, ()))
        question = _ask_of_both(draft, old_chunks.get(draft.chunk.document, ())) if old is not None else None
        if old is not None and question is not None:
            units = (cite_draft(draft), msgspec.structs.replace(cite_draft(old), grade=0, required=False))
            asked = draft.asked
            derived.append(finish_draft(draft, "stale", question, ("stale",), units, asked.reference, asked.must_have))
    return derived[:MAX_DERIVED]


_ATTRIBUTE = {
    "en": r"\s(?:of|with|in|for|from|under)\s(?:(?:the|an?|type|class|grade|kind|category|version|edition|level)\s)*"
    r"{}(?!\w)",
    "vi": r"\s(?:(?:của|với|thuộc|theo)\s)?(?:loại|hạng|cấp|bậc|nhóm|phiên bản|mức)\s{}(?!\w)",
}
_ALTERNATIVE = r"\s(?:or|hoặc)\s(?:[^\W\d_]+\s)*?{}(?:\s[^\W\d_]+)*?(?=,|\?)"
"""What may be left out of a question: how a thing is told apart that both versions speak of."""


def _ask_of_both(draft: SourcedDraft, older: Sequence[CorpusChunk]) -> str | None:
    """Return the question of a draft without what only the newer version says, None if it needs that.

    "9 g of grease of type L4" where the older version has L2: whoever asks for L4 has the newer version in hand.
    """
    question = draft.asked.question
    older_values = _list_written("\n".join(f"{chunk.section}\n{chunk.text}" for chunk in older))
    new = _list_written(draft.statement.text) - older_values
    for word in sorted(new & _list_written(question)):
        for pattern in (_ATTRIBUTE[draft.language], _ALTERNATIVE):
            question = re.sub(pattern.format(re.escape(word)), "", question, flags=re.IGNORECASE)
    return None if new & _list_written(question) else question


def _list_written(text: str) -> frozenset[str]:
    """Return the words and codes of a text as they are written, but those without content."""
    words = re.findall(r"[^\W_]+(?:[-_.][^\W_]+)*", text.casefold())
    return frozenset(word for word in words if re.search(r"\d", word) or list_content_words(word))


def _changed(draft: SourcedDraft, old: SourcedDraft) -> bool:
    """Return whether an older version answers the same question with another value."""
    new_value, old_value = draft.asked.must_have, old.asked.must_have
    is_same_place = old.subject == draft.subject and old.chunk.version != draft.chunk.version
    is_other_value = bool(new_value) and bool(old_value) and new_value != old_value
    return is_same_place and is_other_value and _asks_the_same(draft, old)


def _find_changed_statement(draft: SourcedDraft, chunks: Sequence[CorpusChunk]) -> SourcedDraft | None:
    """Return the sentence of an older version under the same heading that says something else about the same thing.

    It has most words of the question, and lacks many of the answer.
    """
    question = list_content_words(_FRAME_OF_RULES.sub(" ", draft.asked.question))
    reference = list_content_words(draft.asked.reference)
    for chunk in chunks if not draft.asked.is_table else ():
        heading = list_content_words(_get_heading(chunk))
        is_same_place = bool(heading) and len(heading & list_content_words(draft.subject)) >= SAME_WORDS * len(heading)
        if not is_same_place or chunk.version == draft.chunk.version:
            continue
        for statement in list_statements(chunk.text or ""):
            own = list_content_words(statement.text)
            is_same_thing = bool(question) and len(own & question) >= FEWEST_COMMON * len(question)
            if is_same_thing and len(own & reference) < SAME_WORDS * len(reference):
                return SourcedDraft(draft.asked._replace(quote=""), statement, chunk, draft.language, draft.subject)
    return None


def _asks_the_same(draft: SourcedDraft, old: SourcedDraft) -> bool:
    new_words, old_words = (list_content_words(each.asked.question) for each in (draft, old))
    return len(new_words & old_words) >= SAME_WORDS * len(new_words | old_words)


def _draft_denials(drafts: Sequence[SourcedDraft], corpus: Corpus, as_of: str | None) -> list[Candidate]:
    """Return questions about restricted chunks, asked by a user of the corpus who may not see them.

    Of a restricted document without any other question, a section is asked about, by one who may see it too.
    """
    roles = sorted({role for chunk in corpus.chunks.values() for role in chunk.roles})
    tenants = sorted({chunk.tenant for chunk in corpus.chunks.values() if chunk.tenant is not None})
    restricted = [draft for draft in drafts if draft.chunk.roles] + [
        draft for draft in drafts if not draft.chunk.roles and draft.chunk.tenant is not None
    ]
    derived = []
    texts = [chunk for chunk in corpus.chunks.values() if chunk.text and is_in_force(chunk, as_of)]
    topics = _list_topics(texts)
    named = [draft for draft in restricted if not _MEANING.search(draft.asked.question)]
    for draft in spread_chunks(named, 2):
        user = make_stranger(draft.chunk, roles, tenants)
        if user is None or _has_an_own_document(draft, user, topics):
            continue
        if not _has_an_own_answer(draft, user, texts):
            derived.append(_deny(draft, user, identify_plain(draft)))
    for draft in find_undrafted_sections(drafts, corpus, as_of):
        user = make_stranger(draft.chunk, roles, tenants)
        if user is not None:
            asked = draft.asked
            allowed = finish_draft(draft, "access", asked.question, ("access",), (cite_draft(draft),), asked.reference)
            case = msgspec.structs.replace(allowed.case, cluster=allowed.case.id)
            derived += [msgspec.structs.replace(allowed, case=case), _deny(draft, user, case.id)]
    return derived[:MAX_DERIVED]


_EVERYWHERE = frozenset(
    "policy policies company handbook guide manual document documents note notes terms rule rules internal private "
    "public version reference chính sách quy định hướng dẫn tài liệu ghi chú công ty nội bộ của cho và theo".split()
)
"""Words of titles that say nothing about a topic."""


_Topics = Mapping[tuple[str | None, str | None], frozenset[str]]


def _has_an_own_document(draft: SourcedDraft, user: User, topics: _Topics) -> bool:
    """Return whether the tenant of a user has a document on the topic of one of another tenant.

    They mean their own rules then, unless the question names whose rules it asks for.
    """
    tenant = draft.chunk.tenant
    if tenant is None or user.tenant in (None, tenant) or fold_text(tenant) in fold_text(draft.asked.question):
        return False
    own = topics.get((tenant, draft.chunk.document), frozenset())
    return any(own & topic for (owner, _), topic in topics.items() if owner == user.tenant)


def _list_topics(chunks: Sequence[CorpusChunk]) -> _Topics:
    """Return of each tenant's documents the words of name and title that tell the topic, without the tenant's name."""
    everywhere = {fold_text(word) for word in _EVERYWHERE}
    topics: dict[tuple[str | None, str | None], frozenset[str]] = {}
    for chunk in chunks:
        if chunk.tenant is None or (chunk.tenant, chunk.document) in topics:
            continue
        title = clean_heading((chunk.section or "").partition(" > ")[0])
        named = f"{chunk.document or ''} {title}".casefold().replace(chunk.tenant.casefold(), " ")
        words = {fold_text(word) for word in re.findall(r"[^\W\d_]{3,}", named)}
        topics[chunk.tenant, chunk.document] = frozenset(words - everywhere)
    return topics


def _has_an_own_answer(draft: SourcedDraft, user: User, chunks: Sequence[CorpusChunk]) -> bool:
    """Return whether a user may see a sentence with most words of a question: their own rules about the same thing.

    A row that is asked about under the heading of its table is that of no other table.
    """
    if draft.asked.is_table and "“" in draft.asked.question:
        return False
    words = list_content_words(_FRAME_OF_RULES.sub(" ", draft.asked.question))
    for chunk in chunks:
        if may_see_chunk(user, chunk):
            for statement in list_statements(chunk.text or ""):
                if len(words & list_content_words(statement.text)) >= OWN_ANSWER * len(words):
                    return True
    return False


def _deny(draft: SourcedDraft, user: User, cluster: str) -> Candidate:
    """Return the question of a draft as asked by a user who may not see its chunk.

    A system that filters before it searches cannot know that there is something: it may say that it found nothing.
    """
    unit = cite_draft(draft)
    denied = finish_draft(
        draft, "access", draft.asked.question, ("access",), (unit,), _DENIED[draft.language], user=user
    )
    case = msgspec.structs.replace(
        denied.case, behaviour="permission_denied", also_accept=("abstain",), cluster=cluster
    )
    return msgspec.structs.replace(denied, case=case)


def find_undrafted_sections(
    drafts: Sequence[SourcedDraft], corpus: Corpus, as_of: str | None
) -> Iterator[SourcedDraft]:
    """Yield one question about a whole section of each restricted document of which nothing else was drafted.

    Its heading is asked about, so that it needs one of its own, and few enough words for an answer to state them.
    """
    drafted = {draft.chunk.document for draft in drafts}
    headings = Counter(fold_text(_get_heading(chunk)) for chunk in corpus.chunks.values())
    for chunk in corpus.chunks.values():
        heading, text = _get_heading(chunk), (chunk.text or "").strip()
        language = find_text_language(text, guess_language(text) or "en")
        is_open = not chunk.roles and chunk.tenant is None
        if is_open or chunk.document in drafted or not is_in_force(chunk, as_of) or language is None:
            continue
        body = list_statements(text)
        is_prose = bool(body) and all(part.kind == "text" for part in body)
        is_short = FEWEST_WORDS <= len(text.split()) <= MOST_SECTION_WORDS
        if not heading or headings[fold_text(heading)] > 1 or not is_short or not is_prose:
            continue
        passage = text[body[0].start : body[-1].end]
        drafted.add(chunk.document)
        asked = DraftedQuestion(_ASK_SECTION[language].format(heading), passage, quote=passage)
        yield SourcedDraft(asked, body[0], chunk, language, heading)


def _get_heading(chunk: CorpusChunk) -> str:
    return clean_heading((chunk.section or "").rpartition(" > ")[2])
