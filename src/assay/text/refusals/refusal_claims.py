"""Whether a text that refuses also claims something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern
from assay.text.refusals.refusal_lexicon import RefusalLexicon
from assay.text.segmentation import split_clauses
from assay.text.word_runs import split_words

_NUMBER = compile_pattern(r"(?<![a-z0-9_\[-])[$€£]?\d")
_SENTENCE_ENDS = (". ", "! ", "? ", "; ")
_LONGEST_CONCLUSION = 100  # characters of a conclusion's words, of which a clause may hold some and a refusal
_SENTENCE_END = compile_pattern(r"[.!?;] ")
_LONGEST_BEFORE_WHETHER = 120  # characters from where a refusal begins: "it can not be told from the notes whether"
_COMMA = compile_pattern(r"(?<=, )")
_QUESTION_AHEAD = LatePattern(r"[^.!?;]{1,200}\?")
_CITATION = LatePattern(r"\[[\d, ]{1,40}\]")


def has_substantive_claim(
    text: str, refused: Sequence[int], lexicon: RefusalLexicon, *, hands_over: bool = False
) -> bool:
    """Return whether a clause of the folded text makes a claim, except those with a refusal.

    A claim is a number, or enough words that are not an apology, an offer, advice or a report on what the sources
    are about ("some passages suggest …"). After a refusal, a clause with a
    contrast ("but …") needs only half as many words, as does a whole sentence before the refusal. `refused`: the
    positions at which refusing phrases begin. `hands_over`: they all hand over to a person, and around that stand
    longer remarks ("Compensation is decided case by case.") than around other refusals. What follows "It is unclear
    whether …" is no part of an answer, whatever it reports, unless it leans to one ("possibly", "suggests").
    """
    if _leaves_open_whether(text, refused, lexicon):
        return False
    refusal_starts = iter(sorted(refused))
    refusal_start = next(refusal_starts, len(text))
    end = 0
    contrast_seen = refusal_seen = claim_seen = False  # contrast_seen: a contrast ("but …") followed a refusal
    was_report = concludes = False
    patterns, bits = lexicon.patterns, lexicon.marks.bits
    may_conclude: bool | None = None  # whether a refusal after the first claim may be a conclusion
    for clause, marks in _split_clauses(text, lexicon):
        end += len(clause)
        contrast = bool(marks & bits["contrasts"]) and patterns["contrasts"].match(clause) is not None
        contrast_seen = refusal_seen and (contrast_seen or contrast)
        refuses = refusal_start < end
        concludes = concludes or bool(marks & bits["conclusions"] and patterns["conclusions"].match(clause))
        if not refuses:
            opens = not refusal_seen and clause.endswith(_SENTENCE_ENDS)
            least_words = lexicon.least_claim_words
            if hands_over:
                least_words *= 2
            elif contrast_seen or opens:
                least_words = (least_words + 1) // 2
            claim = find_claim(clause, least_words, lexicon, marks)
            if claim == "certain":
                return True
            is_report = _is_report(clause, lexicon, marks, was_report=was_report) or _opens_question(text, clause, end)
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
        if claim_seen and may_conclude is None:
            may_conclude = any(_may_conclude(text, start, lexicon) for start in refused if start >= end)
        if claim_seen and (refusal_start == len(text) or not (concludes or may_conclude)):
            return True  # no refusal is left that takes the claim back
    return claim_seen


def _leaves_open_whether(text: str, refused: Sequence[int], lexicon: RefusalLexicon) -> bool:
    """Whether a text begins with a refusal to say whether something is so, and nothing after it leans to a yes or no.

    A part of a list or a range may be given where another is declined; of a yes or no there are no parts.
    """
    whether = lexicon.patterns["lacks.whether"]
    start = min(refused, default=len(text))
    sentence_end = _SENTENCE_END.search(text)
    end = sentence_end.end() if sentence_end else len(text)
    if start >= end or find_claim(text[:start], lexicon.least_claim_words, lexicon, lexicon.marks.mark(text[:start])):
        return False
    left_open = whether.search(text, start, min(end, start + _LONGEST_BEFORE_WHETHER))
    return left_open is not None and lexicon.patterns["lacks.leans"].search(text, left_open.end()) is None


def _opens_question(text: str, clause: str, end: int) -> bool:
    """Whether a clause that ends in a colon is the first half of a question: "Which fee: the first or the second?"."""
    return clause.rstrip().endswith(":") and _QUESTION_AHEAD.match(text, end) is not None


def _may_conclude(text: str, refusal_start: int, lexicon: RefusalLexicon) -> bool:
    """Whether the sentence of a refusal may draw a conclusion."""
    sentence_start = max(text.rfind(mark, 0, refusal_start) for mark in _SENTENCE_ENDS)
    conclusions = lexicon.patterns["conclusions"]
    return conclusions.search(text, max(0, sentence_start), refusal_start + _LONGEST_CONCLUSION) is not None


def _split_clauses(text: str, lexicon: RefusalLexicon) -> Iterator[tuple[str, int]]:
    """Yield the clauses with the lists that their words can match; where the lexicon names its contrasts, also cut
    before them."""
    contrasts, contrast_bit = lexicon.patterns["contrasts"], lexicon.marks.bits["contrasts"]
    for clause in split_clauses(text):
        start = 0
        marks = lexicon.marks.mark(clause)
        for contrast in contrasts.finditer(clause) if marks & contrast_bit else ():
            cut = contrast.start()
            if clause[max(0, cut - 2) : cut] in (", ", "; ") and cut > start:
                yield clause[start:cut], marks
                start = cut
        yield clause[start:], marks


def _has_number_elsewhere(sentence: str, refusal: int) -> bool:
    """Whether a part of a sentence, between commas, holds a number although it does not hold the refusal."""
    end = 0
    for part in _COMMA.split(sentence):
        start, end = end, end + len(part)
        if not start <= refusal < end and _NUMBER.search(part):
            return True
    return False


def _is_report(clause: str, lexicon: RefusalLexicon, marks: int, *, was_report: bool) -> bool:
    """Whether a clause only says what the sources are about, or goes on with one that does."""
    patterns, bits = lexicon.patterns, lexicon.marks.bits
    if marks & bits["no_claim.reports"] and patterns["no_claim.reports"].search(clause):
        return True
    goes_on = was_report and marks & bits["no_claim.continuations"]
    return bool(goes_on) and patterns["no_claim.continuations"].match(clause) is not None


def find_claim(clause: str, least_words: int, lexicon: RefusalLexicon, marks: int) -> Literal["certain", "words", ""]:
    """Return how a clause without a refusal claims something: for certain by a number or an opening "yes" or "no", or
    by at least `least_words` words, half of them beside a numeral in words.

    Numbers of passages ("passage 2") do not count. `marks`: the lists that the words of the clause can match.
    """
    text = clause
    if "[" in clause:
        text = _CITATION.sub("", clause)
        marks = lexicon.marks.mark(text)

    def holds(name: str) -> bool:
        return bool(marks & lexicon.marks.bits[name]) and lexicon.patterns[name].search(text) is not None

    def begins_with(name: str) -> bool:
        return bool(marks & lexicon.marks.bits[name]) and lexicon.patterns[name].match(text) is not None

    if text.rstrip(" \"')").endswith("?") or holds("no_claim.contacts") or holds("no_claim.echoes"):
        return ""
    refers = marks & lexicon.marks.bits["no_claim.references"]
    if _NUMBER.search(lexicon.patterns["no_claim.references"].sub(" ", text) if refers else text):
        return "certain"
    if begins_with("answers"):
        return "certain"
    if holds("no_claim.set_aside") or begins_with("no_claim.first_person"):
        return ""
    words = split_words(text)
    if lexicon.is_spaced:
        claimless = lexicon.words["no_claim.words"]
        count: float = len([word for word in words if word not in claimless and not word.isdecimal()])
    else:
        count = sum(1 if word.isascii() else len(word) / 2 for word in words)
    if holds("no_claim.numerals"):
        least_words = (least_words + 1) // 2  # "it opens at nine"
    return "words" if count >= least_words else ""
