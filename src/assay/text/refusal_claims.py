"""Whether a text that refuses also claims something."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from assay.text.refusal_lexicon import RefusalLexicon
from assay.text.segmentation import split_clauses

WORD_PATTERN = re.compile(r"[^\W_]++")
_NUMBER = re.compile(r"(?<![a-z0-9_\[-])[$€£]?\d")
_SENTENCE_ENDS = (". ", "! ", "? ", "; ")
_COMMA = re.compile(r"(?<=, )")
_CITATION = re.compile(r"\[[\d, ]{1,40}\]")


def has_substantive_claim(text: str, refused: Sequence[int], lexicon: RefusalLexicon) -> bool:
    """Return whether a clause of the folded text makes a claim, except those with a refusal.

    A claim is a number, or enough words that are not an apology, an offer, advice or a report on what the sources
    are about ("some passages suggest …"). After a refusal, a clause with a
    contrast ("but …") needs only half as many words, as does a whole sentence before the refusal. `refused`: the
    positions at which refusing phrases begin.
    """
    refusal_starts = iter(sorted(refused))
    refusal_start = next(refusal_starts, len(text))
    end = 0
    contrast_seen = refusal_seen = claim_seen = False  # contrast_seen: a contrast ("but …") followed a refusal
    was_report = concludes = False
    for clause in _split_clauses(text, lexicon):
        end += len(clause)
        contrast = lexicon.patterns["contrasts"].match(clause)
        contrast_seen = refusal_seen and (contrast_seen or contrast is not None)
        refuses = refusal_start < end
        concludes = concludes or lexicon.patterns["conclusions"].match(clause) is not None
        if not refuses:
            opens = not refusal_seen and clause.endswith(_SENTENCE_ENDS)
            least_words = lexicon.least_claim_words
            if contrast_seen or opens:
                least_words = (least_words + 1) // 2
            claim = _find_claim(clause, least_words, lexicon)
            if claim == "certain":
                return True
            is_report = _is_report(clause, lexicon, was_report=was_report)
            claim_seen = claim_seen or (claim == "words" and not is_report)
            was_report = is_report
        elif not lexicon.is_spaced and _has_number_elsewhere(clause, refusal_start - end + len(clause)):
            return True
        elif concludes:
            claim_seen = False  # "therefore it can not be determined": what came before was no answer
        refusal_seen = refusal_seen or refuses
        concludes = concludes and not clause.endswith(_SENTENCE_ENDS)
        while refusal_start < end:
            refusal_start = next(refusal_starts, len(text))
    return claim_seen


def _split_clauses(text: str, lexicon: RefusalLexicon) -> Iterator[str]:
    """Yield the clauses; where the lexicon names its contrasts, also cut before them."""
    contrasts = lexicon.patterns["contrasts"]
    for clause in split_clauses(text):
        start = 0
        for contrast in contrasts.finditer(clause):
            cut = contrast.start()
            if clause[max(0, cut - 2) : cut] in (", ", "; ") and cut > start:
                yield clause[start:cut]
                start = cut
        yield clause[start:]


def _has_number_elsewhere(sentence: str, refusal: int) -> bool:
    """Whether a part of a sentence, between commas, holds a number although it does not hold the refusal."""
    end = 0
    for part in _COMMA.split(sentence):
        start, end = end, end + len(part)
        if not start <= refusal < end and _NUMBER.search(part):
            return True
    return False


def _is_report(clause: str, lexicon: RefusalLexicon, *, was_report: bool) -> bool:
    """Whether a clause only says what the sources are about, or goes on with one that does."""
    patterns = lexicon.patterns
    if patterns["no_claim.reports"].search(clause):
        return True
    return was_report and patterns["no_claim.continuations"].match(clause) is not None


def _find_claim(clause: str, least_words: int, lexicon: RefusalLexicon) -> Literal["certain", "words", ""]:
    """Return how a clause without a refusal claims something: for certain by a number or an opening "yes" or "no", or
    by at least `least_words` words, half of them beside a numeral in words.

    Numbers of passages ("passage 2") do not count.
    """
    patterns = lexicon.patterns
    text = _CITATION.sub("", clause)
    if (
        text.rstrip(" \"')").endswith("?")
        or patterns["no_claim.contacts"].search(text)
        or patterns["no_claim.echoes"].search(text)
    ):
        return ""
    if _NUMBER.search(patterns["no_claim.references"].sub(" ", text)) or patterns["answers"].match(text):
        return "certain"
    if patterns["no_claim.set_aside"].search(text) or patterns["no_claim.first_person"].match(text):
        return ""
    words = WORD_PATTERN.findall(text)
    if lexicon.is_spaced:
        claimless = lexicon.words["no_claim.words"]
        count: float = sum(word not in claimless and not word.isdecimal() for word in words)
    else:
        count = sum(1 if word.isascii() else len(word) / 2 for word in words)
    if patterns["no_claim.numerals"].search(text):
        least_words = (least_words + 1) // 2  # "it opens at nine"
    return "words" if count >= least_words else ""
