"""Varies a case so that another answer is right: another user, tenant or day, another thing that is asked about.

The expected behaviour and the evidence follow from the corpus and the users, or the variant is left to people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import timedelta
from typing import Any, NamedTuple

import msgspec

from assay.golden.evidence_chunks import find_unit_chunks
from assay.golden.lint_evidence import ANSWERABLE_SHARE, has_its_numbers, list_content_words, share_words
from assay.golden.lint_finding import LintedSet
from assay.golden.lint_rules import normalise_question
from assay.golden.twin_cases.twin_versions import find_earlier_answer
from assay.metrics.cases.access_rules import is_in_force, may_see_chunk, parse_day
from assay.records.golden_set import Case, Corpus, CorpusChunk, DifferingKind, Evidence, User
from assay.text.normalisation import fold_text
from assay.text.question_entities import find_missing_entities, find_question_entities
from assay.text.statements import Statement, list_statements, strip_markup

DOUBTFUL_SHARE = 0.6
"""The share of the question's words from which a chunk in force on another day may answer it."""
PLANTED_NAMES = ("Zentravia", "Quorbel", "Mistelune", "Ardovane")
_LABEL_FEWEST_LETTERS = 2


_FORM_WORDS = frozenset(
    ("policy", "document", "guide", "handbook", "manual", "rules", "faq", "notes", "page", "chunk", "the", "and", "for")
)
"""Words of document names that say what form a document has and not what it is about."""


class Contrast(NamedTuple):
    """A variant of which another answer is right: the fields that change, or why that is for people to say."""

    kind: DifferingKind
    changes: dict[str, Any]
    rule: str
    undecided: str = ""


AskedQuestions = Mapping[tuple[str, User | None], str]
"""The questions of a set in one spelling with their users, and the case of each."""


def name_question(question: str, user: User | None) -> tuple[str, User | None]:
    """Return a question with its user as `AskedQuestions` has it."""
    return normalise_question(question), user


def vary_expectation(case: Case, linted: LintedSet, asked: AskedQuestions) -> Iterator[Contrast]:
    """Yield the variants of an answerable case whose right answer differs, those that nothing decides too."""
    if case.behaviour != "answer" or linted.corpus is None or case.history:
        return
    required = [unit for unit in case.evidence if unit.required and unit.grade]
    if not required:
        return
    users = _vary_user(case, required, linted), _vary_tenant(case, required, linted)
    contrasts = (*users, _vary_day(case, required, linted), _swap_entity(case, required, linted, asked))
    yield from (contrast for contrast in contrasts if contrast is not None)


def _list_chunks(unit: Evidence, linted: LintedSet) -> list[CorpusChunk]:
    assert linted.corpus is not None
    return [linted.corpus.chunks[chunk_id] for chunk_id in find_unit_chunks(unit.any_of, linted.corpus)]


# ── who asks ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _vary_user(case: Case, required: Sequence[Evidence], linted: LintedSet) -> Contrast | None:
    """Return the case asked by a user of the same tenant with other roles, who may not see the evidence."""
    assert linted.corpus is not None
    own = case.user or User()
    roles = sorted({role for chunk in linted.corpus.chunks.values() for role in chunk.roles})
    others = [other.user for other in linted.golden.cases if other.user is not None and other.user.tenant == own.tenant]
    strangers = [user for user in others if set(user.roles).isdisjoint(own.roles) and user.roles]
    strangers += [msgspec.structs.replace(own, roles=(role,)) for role in roles if role not in own.roles]
    return _deny(case, "other-user", strangers, required, linted)


def _vary_tenant(case: Case, required: Sequence[Evidence], linted: LintedSet) -> Contrast | None:
    """Return the case asked by a user of another tenant with the same roles, who may not see the evidence."""
    assert linted.corpus is not None
    own = case.user
    if own is None or own.tenant is None:
        return None
    tenants = sorted({chunk.tenant for chunk in linted.corpus.chunks.values() if chunk.tenant is not None})
    strangers = [msgspec.structs.replace(own, tenant=tenant, id=None) for tenant in tenants if tenant != own.tenant]
    return _deny(case, "other-tenant", strangers, required, linted)


def _deny(
    case: Case, kind: DifferingKind, strangers: Sequence[User], required: Sequence[Evidence], linted: LintedSet
) -> Contrast | None:
    """Return the case as asked by the first user who is denied a required unit; undecided if others answer for them."""
    undecided = None
    for user in strangers:
        denied = [unit for unit in required if _is_denied(unit, user, linted)]
        if not denied:
            continue
        answering = _find_answering(case, user, linted, ANSWERABLE_SHARE) or _find_own_document(user, required, linted)
        changes: dict[str, Any] = {
            "user": user,
            "behaviour": "permission_denied",
            "also_accept": ("abstain",),
            "evidence": tuple(denied),
            "tags": ("access",),
            **_NO_ANSWER,
        }
        if answering is None:
            return Contrast(kind, changes, "the corpus denies this user the evidence")
        reason = f"{answering} may answer it for this user: say what is right"
        undecided = undecided or Contrast(kind, changes, "the corpus denies this user the evidence", reason)
    return undecided


_NO_ANSWER: dict[str, Any] = {
    "reference": None,
    "must_have": (),
    "rubric": None,
    "answer_format": None,
    "must_cite": (),
    "symbols": (),
}


_ABSTAIN: dict[str, Any] = {
    "behaviour": "abstain",
    "also_accept": ("clarify",),
    "evidence": (),
    "tags": ("no-answer",),
}


def _is_denied(unit: Evidence, user: User, linted: LintedSet) -> bool:
    chunks = _list_chunks(unit, linted)
    return bool(chunks) and not any(may_see_chunk(user, chunk) for chunk in chunks)


def _find_own_document(user: User, required: Sequence[Evidence], linted: LintedSet) -> str | None:
    """Return a chunk of the user's own tenant about the subject of evidence of another tenant, whatever its language.

    Documents are of one subject if their names share a word: hr_leave_policy, beta_leave.
    """
    assert linted.corpus is not None
    evidence = [chunk for unit in required for chunk in _list_chunks(unit, linted) if chunk.tenant != user.tenant]
    subjects = {word for chunk in evidence for word in _name_words(chunk)}
    for chunk in linted.corpus.chunks.values():
        if chunk.tenant == user.tenant is not None and _name_words(chunk) & subjects and may_see_chunk(user, chunk):
            return chunk.chunk_id
    return None


def _name_words(chunk: CorpusChunk) -> set[str]:
    """Return the words of the name of a chunk's document; without a document, of its own id."""
    words = re.findall(r"[^\W\d_]{3,}", fold_text(chunk.document or chunk.chunk_id))
    return set(words) - _FORM_WORDS


def _find_answering(case: Case, user: User, linted: LintedSet, share: float) -> str | None:
    """Return a chunk in force that the user may see and that has nearly all words of the question."""
    assert linted.corpus is not None
    words, as_of = list_content_words(case.question), user.as_of or linted.golden.as_of
    for chunk_id, text in linted.texts.items():
        chunk = linted.corpus.chunks[chunk_id]
        if not is_in_force(chunk, as_of) or not may_see_chunk(user, chunk):
            continue
        in_context = f"{text}\n{chunk.section}"
        if share_words(words, in_context, linted) >= share and has_its_numbers(case.question, in_context):
            return chunk_id
    return None


# ── when ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _vary_day(case: Case, required: Sequence[Evidence], linted: LintedSet) -> Contrast | None:
    """Return the case asked on a day on which its evidence is not in force; None if the corpus has no such day.

    The first day of a document alone says too little, because it is mostly the day on which all were imported: there
    has to be another version, or an end.
    """
    chunks = [chunk for unit in required for chunk in _list_chunks(unit, linted)]
    day = _find_day_before(chunks)
    if day is None:
        return None
    user = msgspec.structs.replace(case.user or User(), as_of=day)
    if any(is_in_force(chunk, day) and may_see_chunk(user, chunk) for chunk in chunks):
        return None
    changes = {**_NO_ANSWER, **_ABSTAIN, "user": user}
    rule = "the evidence is not in force on this day"
    assert linted.corpus is not None
    documents = {chunk.document for chunk in chunks if chunk.document is not None}
    earlier = [
        chunk
        for chunk in linted.corpus.chunks.values()
        if chunk.document in documents and is_in_force(chunk, day) and may_see_chunk(user, chunk)
    ]
    if earlier:
        return _answer_earlier(case, required, earlier, user, linted)
    if not any(chunk.valid_to for chunk in chunks) and not _has_versions(documents, linted.corpus):
        return None
    answering = _find_answering(case, user, linted, DOUBTFUL_SHARE)
    reason = f"{answering} may answer it on this day: say what is right" if answering is not None else ""
    return Contrast("other-date", changes, rule, reason)


def _answer_earlier(
    case: Case, required: Sequence[Evidence], earlier: Sequence[CorpusChunk], user: User, linted: LintedSet
) -> Contrast | None:
    """Return the case asked on a day on which an earlier version of its document was in force, with what that says.

    None if the earlier version says the same: then another answer is not right.
    """
    rule = f"{earlier[0].document}: another version is in force on this day"
    changes: dict[str, Any] = {**_NO_ANSWER, "user": user}
    reason = f"{earlier[0].chunk_id} of the same document is in force on this day: say what is right"
    undecided = Contrast("other-date", changes, rule, reason)
    chunks = _list_chunks(required[0], linted) if len(required) == 1 else []
    facts = case.must_have or (case.rubric.correct_keywords if case.rubric is not None else ())
    if len(chunks) != 1 or len(facts) != 1:
        return undecided
    answer = find_earlier_answer(facts[0], chunks[0], required[0].quote, earlier)
    if answer is None or not has_its_numbers(case.question, f"{answer.statement.context}\n{answer.statement.text}"):
        return undecided  # also where the question names what the earlier version does not: "of type L4"
    if answer.is_same:
        return None
    source = answer.chunk.text or ""
    unit = Evidence(
        ({"chunk_id": answer.chunk.chunk_id},),
        quote=source[answer.statement.start : answer.statement.end],
        text_hash=answer.chunk.text_hash,
    )
    later = msgspec.structs.replace(required[0], grade=0, required=False)
    changes |= {
        "reference": answer.statement.text,
        "must_have": (answer.fact,),
        "must_cite": (),
        "evidence": (unit, later),
    }
    return Contrast("other-date", changes, f"{rule}: {facts[0]} → {answer.fact}")


def _has_versions(documents: Set[str], corpus: Corpus) -> bool:
    """Return whether one of some documents is in the corpus in several versions, or from several days on."""
    versions: dict[str, set[tuple[str | None, str | None]]] = {}
    for chunk in corpus.chunks.values():
        if chunk.document is not None and chunk.document in documents:
            versions.setdefault(chunk.document, set()).add((chunk.version, chunk.valid_from))
    return any(len(starts) > 1 for starts in versions.values())


def _find_day_before(chunks: Sequence[CorpusChunk]) -> str | None:
    """Return the day before the first of the chunks came into force, None if one of them always was."""
    days = [parse_day(chunk.valid_from) if chunk.valid_from else None for chunk in chunks]
    starts = [day for day in days if day is not None]
    if not starts or len(starts) < len(days):
        return None
    return (min(starts) - timedelta(days=1)).isoformat()


# ── what is asked about ──────────────────────────────────────────────────────────────────────────────────────────────


def _swap_entity(case: Case, required: Sequence[Evidence], linted: LintedSet, asked: AskedQuestions) -> Contrast | None:
    """Return the case asked about another row of its table, else about something that the corpus does not have."""
    if len(required) == 1:
        for chunk in _list_chunks(required[0], linted):
            swapped = _swap_row(case, required[0], chunk, asked)
            if swapped is not None:
                return swapped
    return _plant_entity(case, required, linted)


def _swap_row(case: Case, unit: Evidence, chunk: CorpusChunk, asked: AskedQuestions) -> Contrast | None:
    """Return the case asked about the first other row of its table that no case asks about in these words."""
    rows = [row for row in list_statements(chunk.text or "") if row.kind == "row" and len(row.cells) == len(row.header)]
    for row in rows:
        column = _find_asked_column(case, row)
        if column is None:
            continue
        for other in rows:
            if other.header == row.header and _is_other_answer(case, row, other, column):
                contrast = _ask_about_row(case, unit, chunk, (row, other), column)
                if name_question(contrast.changes["question"], case.user) not in asked:
                    return contrast
    return None


def _find_asked_column(case: Case, row: Statement) -> int | None:
    """Return the column of a row that the question names and whose cell has every must-have fact; None if not one."""
    label = row.cells[0] if row.cells else ""
    if len(label) < _LABEL_FEWEST_LETTERS or not case.must_have or not _find_label(label, case.question):
        return None
    facts = [fold_text(fact) for fact in case.must_have]
    columns = [
        number
        for number, cell in enumerate(row.cells)
        if number and all(fact in fold_text(strip_markup(cell)) for fact in facts)
    ]
    return columns[0] if len(columns) == 1 else None


def _find_label(label: str, question: str) -> re.Match[str] | None:
    return re.search(rf"(?<!\w){re.escape(label)}(?!\w)", question, re.IGNORECASE)


def _is_other_answer(case: Case, row: Statement, other: Statement, column: int) -> bool:
    label, cell = other.cells[0], strip_markup(other.cells[column])
    is_other = label != row.cells[0] and len(label) >= _LABEL_FEWEST_LETTERS and not _find_label(label, case.question)
    states_same = any(fold_text(fact) in fold_text(cell) for fact in case.must_have)
    return is_other and any(letter.isalnum() for letter in cell) and not states_same


def _ask_about_row(
    case: Case, unit: Evidence, chunk: CorpusChunk, rows: tuple[Statement, Statement], column: int
) -> Contrast:
    row, other = rows
    match = _find_label(row.cells[0], case.question)
    assert match is not None
    cell = strip_markup(other.cells[column])
    quote = (chunk.text or "")[other.start : other.end]
    selectors = tuple(selector for selector in unit.any_of if "quote" not in selector) or (
        {"chunk_id": chunk.chunk_id},
    )
    changes = {
        **_NO_ANSWER,
        "question": case.question[: match.start()] + other.cells[0] + case.question[match.end() :],
        "reference": f"{other.cells[0]} – {other.header[column]}: {cell}",
        "must_have": (cell,),
        "must_cite": case.must_cite,
        "evidence": (msgspec.structs.replace(unit, any_of=selectors, quote=quote),),
    }
    return Contrast("entity-swapped", changes, f"another row of the table: {row.cells[0]} → {other.cells[0]}")


def _plant_entity(case: Case, required: Sequence[Evidence], linted: LintedSet) -> Contrast | None:
    """Return the case asked about a name or code that no chunk has, where its evidence names the true one."""
    texts = [text for unit in required for chunk in _list_chunks(unit, linted) if (text := chunk.text)]
    named = find_question_entities(case.question)
    entities = [entity for entity in named if not find_missing_entities([entity], texts)]
    if not entities or not texts:
        return None
    codes = [entity for entity in named if _is_code(entity)]
    entity = next((entity for entity in reversed(entities) if entity in codes), entities[-1])
    planted = _invent_entity(entity, case, linted)
    if planted is None:
        return None
    changes = {
        **_NO_ANSWER,
        **_ABSTAIN,
        "question": case.question.replace(entity, planted),
    }
    undecided = "" if codes == [entity] else "an answer may not depend on this name alone: say what is right"
    return Contrast("entity-swapped", changes, f"not in the corpus: {entity} → {planted}", undecided)


def _invent_entity(entity: str, case: Case, linted: LintedSet) -> str | None:
    """Return a name, or a code of the same form, that is in no chunk; None if every try is."""
    if _is_code(entity):
        shifts = range(1, 10)
        invented = ["".join(_shift_digit(letter, shift) for letter in entity) for shift in shifts]
    else:
        start = sum(map(ord, case.id)) % len(PLANTED_NAMES)
        invented = [*PLANTED_NAMES[start:], *PLANTED_NAMES[:start]]
    texts = [*linted.texts.values(), case.question]
    return next((name for name in invented if find_missing_entities([name], texts)), None)


def _is_code(entity: str) -> bool:
    return any(letter.isdigit() for letter in entity)


def _shift_digit(letter: str, shift: int) -> str:
    return str((int(letter) + shift) % 10) if letter.isdecimal() and letter.isascii() else letter
