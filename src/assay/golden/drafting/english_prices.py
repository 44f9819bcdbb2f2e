"""Asks what something costs or what somebody pays: "Early check-in from 10:00 costs $20 and depends on availability".

One amount of money is asked for; other numbers tell what it is paid for, and stay in the question.
"""

from __future__ import annotations

import re

from assay.golden.drafting.english_clauses import BAD_START, NEGATION, RELATIVE, SentenceRules
from assay.golden.drafting.question_forms import DraftedQuestion, is_specific

_MONEY = (
    r"(?:[€$£¥] ?\d[\d.,]*\d|[€$£¥] ?\d|(?<![\d.,])(?>\d+(?:[.,]\d+)*) ?"
    r"(?:EUR|USD|GBP|CHF|NOK|SEK|DKK|VND|PLN|€|£|euros?|dollars?|pounds?|dong|cents?)(?!\w))"
)
_PRICED = re.compile(
    r"(?P<subject>[^,;()€$£¥]{3,70}?) (?P<verb>costs?|pays?|is|are) (?P<amount>(?:(?:at least|at most|up to|only) )?"
    rf"{_MONEY})(?P<kept>(?: [^,;:()€$£¥]{{1,70}}?)??)(?:(?:,| and (?=(?:must|may|can|cannot|is|are|has|have|needs?|"
    r"depends?|includes?|leaves?|lasts?|takes?)\b)|;|:)(?P<cut>.*))?\Z"
)
_ANY_MONEY = re.compile(_MONEY)
_GERUND = re.compile(r"[A-Z][a-z]+ing\b")
_MOST_SUBJECT_WORDS = 11
_VERBS = {
    "costs": ("does", " cost"),
    "cost": ("do", " cost"),
    "pays": ("does", " pay"),
    "pay": ("do", " pay"),
    "is": ("is", ""),
    "are": ("are", ""),
}


def ask_price(rules: SentenceRules) -> DraftedQuestion | None:
    """Return the question for the one price of a sentence, None for any other sentence.

    >>> from assay.golden.drafting.corpus_words import CorpusWords
    >>> from assay.records.golden_set import CorpusChunk
    >>> text = "A private car costs $18 for up to three people and must be ordered 24 hours ahead."
    >>> words = CorpusWords([CorpusChunk("a", text=text)])
    >>> asked = ask_price(SentenceRules(text, "", words, is_alone=True))
    >>> asked.question, asked.must_have
    ('How much does a private car cost for up to three people?', ('$18',))
    """
    match = _PRICED.match(rules.text.rstrip(" .!"))
    if match is None or len(_ANY_MONEY.findall(rules.text)) != 1 or NEGATION.search(match["subject"]):
        return None
    subject, kept = match["subject"], match["kept"]
    is_named = _GERUND.match(subject) is not None or BAD_START.match(subject) is None
    if not is_named or RELATIVE.search(subject) or RELATIVE.search(kept.replace(" or ", " ")):
        return None
    if len(subject.split()) > _MOST_SUBJECT_WORDS or not is_specific(
        f"{subject} {kept} {rules.adverbial}", rules.words
    ):
        return None
    named = rules.name_subject(subject)
    if named is None:
        return None
    does, verb = _VERBS[match["verb"]]
    return rules.finish(f"How much {does} {named}{verb}{kept}", match["amount"])
