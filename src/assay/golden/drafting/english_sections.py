"""Asks about one English sentence of a section under its heading: "According to “Cash desk”, how much is the float?".

What such a sentence speaks of may be clear only from its section ("the hall", "the course"); the heading says which
one it is. So the rules for sentences that stand alone serve here too, one predicate at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from assay.golden.drafting.corpus_words import CorpusWords
from assay.golden.drafting.english_adverbials import ask_with_adverbial
from assay.golden.drafting.english_clauses import BAD_START, RELATIVE, SentenceRules, is_noun_phrase, read_clause
from assay.golden.drafting.english_denials import ask_denial
from assay.golden.drafting.english_facts import BASE_FORMS, ask_fact, is_plural, read_fact
from assay.golden.drafting.english_prices import ask_price
from assay.golden.drafting.english_quantities import ask_quantity
from assay.golden.drafting.question_forms import DraftedQuestion
from assay.golden.drafting.question_templates import ask_under_heading
from assay.text.normalisation import fold_text
from assay.text.statements import Statement

_EMPTY_HEADING = re.compile(
    r"(?:overview|introduction|general|notes?|faq|other|miscellaneous|details|summary|about|background|basics|"
    r"information|rules|more|remarks|scope|purpose|contents?|examples?|welcome|preface)\Z",
    re.IGNORECASE,
)


def ask_in_section(rules: SentenceRules) -> DraftedQuestion | None:
    """Return a question about one of several sentences of a section, led by the heading; None if no rule fits.

    >>> text = "The float is 300 EUR."
    >>> ask_in_section(SentenceRules(text, "", CorpusWords([]), "Cash desk")).question
    'According to “Cash desk”, how much is the float?'
    """
    if rules.is_alone or rules.entity or not _is_distinctive(rules.heading, rules.words):
        return None
    for text in split_predicates(rules.text):
        alone = rules._replace(text=text, is_alone=True)
        for rule in (ask_role_holder, ask_fact, ask_quantity, ask_price, ask_denial, ask_with_adverbial):
            asked = rule(alone)
            if asked is not None:
                is_named = fold_text(rules.heading) in fold_text(asked.question)
                return asked if is_named else _lead_with_heading(asked, rules.heading)
    return None


def _lead_with_heading(asked: DraftedQuestion, heading: str) -> DraftedQuestion:
    return asked._replace(question=ask_under_heading(asked.question, heading, "en"))


def _is_distinctive(heading: str, words: CorpusWords) -> bool:
    """Return whether a heading says, of all the corpus, which section is asked about."""
    is_name = bool(heading) and not heading.endswith("?") and not is_empty_heading(heading)
    return is_name and not words.is_repeated_heading(heading)


def is_empty_heading(heading: str) -> bool:
    """Return whether a heading says nothing of what its section is about.

    >>> is_empty_heading("Details"), is_empty_heading("Prices of blood tests")
    (True, False)
    """
    return _EMPTY_HEADING.match(heading) is not None


class NamedStatement(NamedTuple):
    """A statement whose first word was a pronoun, with the name it stands for, and the passage that says both."""

    statement: Statement
    quote: str


_LONGEST_GAP = 3


def name_pronoun(statement: Statement, before: Statement | None, text: str) -> NamedStatement | None:
    """Return a statement that begins with "It" with the subject of the one right before it in its place.

    Only where that subject is one thing and no person, and "it" stands for no clause ("It is important to …").

    >>> from assay.text.statements import list_statements
    >>> text = "The beginner course takes three evenings. It costs 79 EUR."
    >>> before, after = list_statements(text)
    >>> name_pronoun(after, before, text).statement.text
    'The beginner course costs 79 EUR.'
    """
    if before is None or not statement.text.startswith("It ") or before.heading != statement.heading:
        return None
    if before.kind != statement.kind or statement.start - before.end > _LONGEST_GAP:
        return None
    subject = _find_subject(next(split_predicates(before.text)))
    is_thing = (
        subject.startswith(("The ", "A ", "An ")) and not is_plural(subject) and _PERSON_ROLE.search(subject) is None
    )
    if not is_thing or re.match(
        r"It (?:is|was|may be|can be) (?:\w+ )?(?:to|that|not|important|possible)\b", statement.text
    ):
        return None
    named = re.sub(r"\AAn? ", "The ", subject) + statement.text[2:]
    return NamedStatement(statement._replace(text=named), text[before.start : statement.end])


_FINITE = "|".join(["is", "are", "was", "were", "can", "may", "must", "will", "cannot", *sorted(BASE_FORMS)])
_JOINED = re.compile(rf",? and (?P<second>(?:{_FINITE})\b[^;]*)|; .*|, and (?:they|it|the|he|she|a|an|then)\b.*")


_AMOUNT = r"[€$£]?\d[\d.,]{0,12} ?[^\W\d_]{0,12}[%€$£]? (?:for|on|in|from|per) [^,.;]{2,40}?"
_TWO_PRICES = re.compile(rf"(?P<start>[^,;]{{5,80}}? )(?P<first>{_AMOUNT}),? (?:and|but) (?P<second>{_AMOUNT})\.\Z")


def split_predicates(text: str) -> Iterator[str]:
    """Yield a sentence, or each of its two predicates with the subject that they share.

    >>> list(split_predicates("The training lasts a day and takes place every Monday."))
    ['The training lasts a day.', 'The training takes place every Monday.']
    >>> list(split_predicates("A ticket costs 64 NOK for adults and 32 NOK for seniors."))
    ['A ticket costs 64 NOK for adults.', 'A ticket costs 32 NOK for seniors.']
    >>> list(split_predicates("Two men and a dog live there."))
    ['Two men and a dog live there.']
    """
    priced = _TWO_PRICES.match(text)
    if priced is not None:
        yield f"{priced['start']}{priced['first']}."
        yield f"{priced['start']}{priced['second']}."
        return
    match = _JOINED.search(text)
    first = text[: match.start()].rstrip(" .") if match is not None else ""
    subject = _find_subject(first)
    if match is None or not subject:
        yield text
        return
    yield f"{first}."
    if match["second"]:
        yield f"{subject} {match['second'].rstrip(' .')}."


def _find_subject(text: str) -> str:
    """Return the subject of a sentence, or of one without its complement ("The hall is"); "" if none is read."""
    fact, clause = read_fact(text), read_clause(f"{text} ")
    if fact is not None:
        return fact.subject
    return clause.subject if clause is not None else ""


_FULL_NAME = r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][\w'’-]+(?: [A-Z]\.)?(?: [A-Z][\w'’-]+){1,2}"
_ROLE_NAME = r"(?P<role>(?:[a-z-]+ ){0,2}[a-z-]{3,}(?: (?:of|for) (?:the )?[a-z-]+(?: [a-z-]+)?)?)"
_HOLDER = re.compile(rf"The {_ROLE_NAME}(?:, (?P<apposed>{_FULL_NAME}),| is (?P<name>{_FULL_NAME})(?=\.?\Z|,| \())")


def ask_role_holder(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask who holds a role: "The master is Jon Aasen", "The duty officer, Kari Berge, can be reached …".

    >>> text = "The duty officer, Kari Berge, is on the quay."
    >>> ask_role_holder(SentenceRules(text, "", CorpusWords([]))).question
    'Who is the duty officer?'
    """
    match = _HOLDER.match(rules.text)
    if match is None or BAD_START.match(f"the {match['role']}") or RELATIVE.search(match["role"]):
        return None
    name = match["apposed"] or match["name"]
    is_person = (
        is_noun_phrase(name) and _PERSON_ROLE.search(match["role"].split(" of ")[0].split(" for ")[0]) is not None
    )
    if not is_person:
        return None
    return rules.finish(f"Who is the {match['role']}", name)


_PERSON_ROLE = re.compile(
    r"(?:\w(?:er|or|man|woman|ist|ant|ent|ian|ee|ess|eon)|chair|head|lead|master|mate|nurse|clerk|warden|dean|bursar|"
    r"registrar|coach|chief|captain|contact|deputy|curator|vet|cook|chef|pilot|judge|priest|rabbi|imam)\Z"
)
