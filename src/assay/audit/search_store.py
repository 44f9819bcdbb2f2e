"""Finds answers by id, question, user, time, citation or verdict, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from assay.audit.audit_store import AuditStore, read_answer
from assay.audit.batch_rows import MAX_LEXEME, index_citation, index_label, index_words
from assay.audit.schema import CITATIONS, LABELS, RECORDS, USERS
from assay.formats.problems import parse_time
from assay.records.audit_records import AuditRecord
from assay.records.errors import InputError, shorten_repr
from assay.text.escaping import escape_surrogates, shorten_to_line

MAX_SCANNED = 5000
"""How many records of one user, citation or verdict are searched for the words of a question."""
MAX_LISTED_LABELS = 5000
"""A verdict that more answers have is looked up answer by answer."""
NEWEST_QUESTIONS = 20_000
"""How many questions PostgreSQL reads backwards for words that may be common, before it asks its index."""
MAX_NEAR_CITATIONS = 5
MICROSECONDS = 1_000_000
_PAGE = 100


@dataclass(frozen=True, slots=True)
class AnswerQuery:
    """What is asked for; all conditions must hold. `since` ≤ time < `until`; `verdict` is `NAME=VALUE`."""

    question: str | None = None
    pseudonym: str | None = None
    since: str | None = None
    until: str | None = None
    citation: str | None = None
    verdict: str | None = None
    limit: int = 20


@dataclass(frozen=True)
class SearchResult:
    """The answers found, newest first, with their numbers; `truncated` says that older ones were not searched."""

    answers: list[tuple[int, AuditRecord]]
    truncated: bool = False


def parse_moment(text: str) -> tuple[str, str]:
    """Return the beginning and end of a day, or of a minute around a time. Raises InputError for other texts.

    >>> parse_moment("2026-03-02")
    ('2026-03-02T00:00:00+00:00', '2026-03-03T00:00:00+00:00')
    """
    try:
        moment = parse_time(text).astimezone(UTC)
    except (ValueError, OverflowError):
        message = f"not a day or a time (got {shorten_repr(text)}; expected 2026-03-02 or 2026-03-02T08:00:00Z)"
        raise InputError(message) from None
    minute = timedelta(minutes=1)
    before, after = (timedelta(0), timedelta(days=1)) if len(text) == len("2026-03-02") else (minute, minute)
    earliest, latest = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    since = moment - min(before, moment - earliest)
    until = moment + min(after, latest - moment)
    return since.isoformat(), until.isoformat()


def parse_day_bounds(first: str | None, last: str | None) -> tuple[int | None, int | None]:
    """Return the beginning of the first day and the end of the last, in microseconds since 1970; None where not given.

    Raises InputError for other texts than days, and for days in the wrong order.

    >>> parse_day_bounds("2026-03-02", "2026-03-02")
    (1772409600000000, 1772496000000000)
    """
    bounds: list[int | None] = []
    for name, text, end in (("--from", first, 0), ("--to", last, 1)):
        if text is not None and len(text) != len("2026-03-02"):
            raise InputError(f"{name}: not a day (got {shorten_repr(text)}; expected one such as 2026-03-02)")
        bounds.append(None if text is None else _microseconds(parse_moment(text)[end]))
    since, until = bounds
    if since is not None and until is not None and since >= until:
        raise InputError(f"--to: before the first day (got {last}; expected {first} or later)")
    return since, until


def search_answers(store: AuditStore, query: AnswerQuery) -> SearchResult:
    """Return the newest answers that match. Raises InputError for a query without a condition or with a bad value."""
    conditions: list[sa.ColumnElement[bool]] = []
    verdict = None if query.verdict is None else _parse_verdict(query.verdict)
    words = index_words(query.question)
    if query.question is not None and not words:
        raise InputError(f"a question without a word (got {shorten_repr(query.question)})")
    narrowing = (query.pseudonym, query.since, query.until, query.citation)
    is_narrowed = any(condition is not None for condition in narrowing)
    if not words and not is_narrowed and verdict is None:
        raise InputError("nothing to look for (expected a question, user, time, citation or verdict)")
    if query.limit < 1:
        raise InputError(f"limit of {query.limit} (expected at least 1)")
    with store.reading() as connection:
        if not store.is_sqlite:
            # A plan for any words takes all of them for alike: plan for these words.
            connection.execute(sa.text("SET LOCAL plan_cache_mode = force_custom_plan"))
        if verdict is not None:
            if not words and not is_narrowed:
                rows = connection.execute(_select_labelled(*verdict).limit(query.limit))
                return SearchResult([(row[0], read_answer(row[0], row[1]).record) for row in rows])
            conditions.append(_labelled(connection, *verdict))
        if not words:
            rows = connection.execute(_select(query, conditions).limit(query.limit))
            return SearchResult([(row[0], read_answer(row[0], row[1]).record) for row in rows])
        if _is_selective(query):
            return _scan(connection, _select(query, conditions), words.split(), query.limit)
        return _search_index(store, connection, query, conditions, words.split())


def list_near_citations(store: AuditStore, citation: str) -> list[str]:
    """Return names that answers cite and that begin with another one, such as the chunks of a document."""
    cited = CITATIONS.c.citation
    begins = cited.startswith(index_citation(escape_surrogates(citation)), autoescape=True)
    query = sa.select(cited).where(begins).distinct().order_by(cited).limit(MAX_NEAR_CITATIONS)
    with store.reading() as connection:
        return [shorten_to_line(row[0]) for row in connection.execute(query)]


def list_answers(store: AuditStore, query: AnswerQuery) -> list[tuple[int, AuditRecord]]:
    """Return the newest answers that meet the conditions of a query on time, user and citation, all without any."""
    with store.reading() as connection:
        rows = connection.execute(_select(query).limit(query.limit))
        return [(row[0], read_answer(row[0], row[1]).record) for row in rows]


def _parse_verdict(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise InputError(f"not a verdict (got {shorten_repr(text)}; expected NAME=VALUE such as feedback=down)")
    return index_label(escape_surrogates(name)), index_label(escape_surrogates(value))


def _microseconds(text: str) -> int:
    try:
        moment = parse_time(text)
    except ValueError:
        message = f"not a day or a time (got {shorten_repr(text)}; expected 2026-03-02 or 2026-03-02T08:00:00Z)"
        raise InputError(message) from None
    return int(moment.timestamp()) * MICROSECONDS + moment.microsecond


def _is_selective(query: AnswerQuery) -> bool:
    return query.pseudonym is not None or query.citation is not None


def _select(query: AnswerQuery, conditions: Sequence[sa.ColumnElement[bool]] = ()) -> sa.Select[int, bytes]:
    """Return the query for the answers of a user, a time or a citation that meet further conditions, newest first.

    The index of citations is in the order of time: of a source that many answers cite, only the newest are read.
    """
    is_cited = CITATIONS.c.citation == index_citation(escape_surrogates(query.citation or ""))
    answers = sa.select(RECORDS.c.sequence, RECORDS.c.body).where(
        RECORDS.c.kind == "answer", RECORDS.c.body.is_not(None), *conditions
    )
    ordered = RECORDS.c
    if query.pseudonym is not None:
        owner = sa.select(USERS.c.number).where(USERS.c.pseudonym == query.pseudonym).scalar_subquery()
        answers = answers.where(RECORDS.c.owner == owner)
        if query.citation is not None:
            answers = answers.where(RECORDS.c.sequence.in_(sa.select(CITATIONS.c.sequence).where(is_cited)))
    elif query.citation is not None:
        ordered = CITATIONS.c
        answers = answers.join(CITATIONS, CITATIONS.c.sequence == RECORDS.c.sequence).where(is_cited)
    if query.since is not None:
        answers = answers.where(ordered.at >= _microseconds(query.since))
    if query.until is not None:
        answers = answers.where(ordered.at < _microseconds(query.until))
    return answers.order_by(ordered.at.desc(), ordered.sequence.desc())


def _select_labelled(name: str, value: str) -> sa.Select[int, bytes]:
    """Return the query for the answers with a verdict, the last one stored first.

    The index of verdicts is in that order; sorting all of them by time would read them all.
    """
    joined = sa.select(RECORDS.c.sequence, RECORDS.c.body).join(LABELS, LABELS.c.sequence == RECORDS.c.sequence)
    labelled = joined.where(LABELS.c.name == name, LABELS.c.value == value, RECORDS.c.body.is_not(None))
    return labelled.order_by(LABELS.c.sequence.desc())


def _labelled(connection: sa.Connection, name: str, value: str) -> sa.ColumnElement[bool]:
    """Return the condition that an answer has a verdict: a list of those that have a rare one, a test for each else."""
    has_label = sa.select(LABELS.c.sequence).where(LABELS.c.name == name, LABELS.c.value == value)
    first = has_label.limit(MAX_LISTED_LABELS + 1).subquery()
    if connection.execute(sa.select(sa.func.count()).select_from(first)).scalar_one() <= MAX_LISTED_LABELS:
        return RECORDS.c.sequence.in_(has_label)
    return has_label.where(LABELS.c.sequence == RECORDS.c.sequence).correlate(RECORDS).exists()


def _scan(
    connection: sa.Connection, answers_newest_first: sa.Select[int, bytes], words: Sequence[str], limit: int
) -> SearchResult:
    """Search the newest records of one user or citation for the words: quicker than the index of all questions."""
    wanted = set(words)
    answers: list[tuple[int, AuditRecord]] = []
    scanned = 0
    # The database hands out a page at a time: where the words are common, it never reads the rest.
    options = {"yield_per": _PAGE}
    with connection.execute(answers_newest_first.limit(MAX_SCANNED), execution_options=options) as rows:
        for sequence, body in rows:
            scanned += 1
            record = read_answer(sequence, body).record
            if wanted <= set(index_words(record.question).split()):
                answers.append((sequence, record))
                if len(answers) == limit:
                    return SearchResult(answers)
    return SearchResult(answers, truncated=scanned == MAX_SCANNED)


def _search_index(
    store: AuditStore,
    connection: sa.Connection,
    query: AnswerQuery,
    conditions: Sequence[sa.ColumnElement[bool]],
    words: Sequence[str],
) -> SearchResult:
    """Go through the matches of the index from the last one stored backwards, until there are enough."""
    answers: list[tuple[int, AuditRecord]] = []
    before = 2**62
    scanned = 0
    while scanned < MAX_SCANNED:
        matches = _matching_sequences(store, connection, words, before)
        for sequence, body in connection.execute(_select(query, [*conditions, RECORDS.c.sequence.in_(matches)])):
            answers.append((sequence, read_answer(sequence, body).record))
        if len(answers) >= query.limit:
            return SearchResult(sorted(answers, key=lambda row: (row[1].at, row[0]), reverse=True)[: query.limit])
        if len(matches) < _PAGE:
            return SearchResult(sorted(answers, key=lambda row: (row[1].at, row[0]), reverse=True))
        scanned += len(matches)
        before = matches[-1]
    return SearchResult(answers, truncated=True)


def _matching_sequences(store: AuditStore, connection: sa.Connection, words: Sequence[str], before: int) -> list[int]:
    """Return the last records before a number whose questions have all the words; less than a page if that is all."""
    if not store.is_sqlite:
        return _match_in_postgres(connection, " & ".join(f"'{word[:MAX_LEXEME]}'" for word in words), before)
    statement = (
        "SELECT rowid FROM questions WHERE questions MATCH :words AND rowid < :before ORDER BY rowid DESC LIMIT :page"
    )
    values = {"words": " ".join(f'"{word}"' for word in words), "before": before, "page": _PAGE}
    return [int(row[0]) for row in connection.execute(sa.text(statement), values)]


def _match_in_postgres(connection: sa.Connection, expression: str, before: int) -> list[int]:
    """Return matches as PostgreSQL finds them quickly: of common words among the newest questions, else by the index.

    Its planner knows how common the commonest words are and guesses for all others. For a rare one it then reads a
    million questions backwards instead of the index, which takes a second.
    """
    newest = connection.execute(
        sa.text("SELECT max(sequence) FROM questions WHERE sequence < :before"), {"before": before}
    ).scalar_one()
    if newest is None:
        return []
    values = {"words": expression, "last": newest, "first": newest - NEWEST_QUESTIONS + 1, "page": _PAGE}
    among_newest = (
        "SELECT sequence FROM questions WHERE words @@ CAST(:words AS tsquery) AND sequence BETWEEN :first AND :last "
        "ORDER BY sequence DESC LIMIT :page"
    )
    matches = [int(row[0]) for row in connection.execute(sa.text(among_newest), values)]
    if len(matches) == _PAGE or values["first"] <= 1:
        return matches
    by_index = (
        "WITH found AS MATERIALIZED (SELECT sequence FROM questions WHERE words @@ CAST(:words AS tsquery)) "
        "SELECT sequence FROM found WHERE sequence <= :last ORDER BY sequence DESC LIMIT :page"
    )
    connection.execute(sa.text("SET LOCAL enable_seqscan = off"))
    return [int(row[0]) for row in connection.execute(sa.text(by_index), values)]
