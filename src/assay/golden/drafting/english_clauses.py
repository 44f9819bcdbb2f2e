"""Reads English sentences as far as the question rules need: a subject, an auxiliary, the rest, and what to call it."""

from __future__ import annotations

import re
from typing import NamedTuple

from assay.golden.drafting.corpus_words import CorpusWords, is_numbered_name
from assay.golden.drafting.question_forms import DraftedQuestion, capitalise, is_clear_question
from assay.text.normalisation import fold_text
from assay.text.tokens import is_stop_word

AUXILIARY = re.compile(r"\s(?P<aux>is|are|was|were|may|can|must|should|will|has to|have to|cannot)\s")
BAD_START = re.compile(
    r"(?:after|afterwards|although|and|but|also|as|at|because|before|both|by|even|ever|finally|for|from|here|hence|how|however|"
    r"if|in|"
    r"inside|instead|it|its|let|like|likewise|many|most|much|moreover|near|next|no|not|note|now|of|on|once|one|only|or|"
    r"other|others|otherwise|outside|over|per|perhaps|please|rather|see|several|similarly|since|so|some|still|than|"
    r"that|"
    r"their|then|there|therefore|they|though|through|thus|to|under|unless|unlike|until|upon|we|what|whatever|when|"
    r"where|"
    r"whereas|whether|which|while|who|whoever|why|with|within|without|yet|you|your|my|our|he|she|her|his|anyone|"
    r"everyone|"
    r"each|every|few|another|either|neither|none|nobody|nothing|something|someone|anything|everything|anybody|"
    r"everybody|"
    r"today|yesterday|all|any|during|except|despite|due|given|apart|besides|meanwhile|more|less|two|three|part|same|"
    r"sometimes|often|always|again|almost|quite|very|indeed|maybe|a few|a lot|a number|an example|the (?:following|"
    r"above|same|latter|former|first|second|third|last|next|previous|"
    r"other|others|only|best|main|answer|reason|result|idea|point|problem|goal|purpose|aim|fact|rest|whole|above|"
    r"difference|document|documents|policy|section|chapter|page|question|solution|example|way|key|most|more|exact|"
    r"author|authors|reader|user)|(?<!\w)(?!early\b)\w+ly|(?<!\w)\w+ing|"
    r"(?-i:It|This))\b",
    re.IGNORECASE,
)
NO_SUBJECT = re.compile(
    r"\b(?:if|when|whether|that|which|who|whose|and|or|but|because|than|then|not|to|how|what|where|be|been|being|as|"
    r"it|he|she|"
    r"they|we|you|i|there|do|does|did|has|have|had|is|are|was|were|also|however)\b|[,;:()'’\"/]",
    re.IGNORECASE,
)
_MOST_SUBJECT_WORDS = 7
NEGATION = re.compile(r"\b(?:not|never|no|nobody|none|cannot|without|nor)\b|n't\b", re.IGNORECASE)
RELATIVE = re.compile(r"\b(?:which|that|who|whose|where|while|whereas|although|though|but|if|unless|because|and|or)\b")
LISTED = re.compile(r"[;:()]")


class Clause(NamedTuple):
    """A main clause: its subject, its auxiliary and the rest without the full stop."""

    subject: str
    auxiliary: str
    rest: str


def read_clause(sentence: str) -> Clause | None:
    """Return the parts of a sentence that begins with its subject and has an auxiliary, None for any other one.

    >>> read_clause("Expired ampoules are kept in the red box.")
    Clause(subject='Expired ampoules', auxiliary='are', rest='kept in the red box')
    """
    match = AUXILIARY.search(sentence)
    if match is None:
        return None
    subject = sentence[: match.start()]
    if not is_noun_phrase(subject):
        return None
    return Clause(subject, match["aux"], sentence[match.end() :].rstrip(" .!"))


def is_noun_phrase(words: str) -> bool:
    """Return whether words look like a noun phrase that can be the subject of a question.

    >>> [is_noun_phrase(words) for words in ("Expired ampoules", "However", "If the pump", "The first step")]
    [True, False, False, False]
    """
    count = len(words.split())
    return 1 <= count <= _MOST_SUBJECT_WORDS and not BAD_START.match(words) and not NO_SUBJECT.search(words)


class SentenceRules(NamedTuple):
    """What the rules of a sentence share: its text, the entity that its heading names, and the words of the corpus.

    One that `is_alone` is the only statement of its chunk, so that nothing before it tells what it speaks of. The
    question will end with the `adverbial`, which is part of what tells the statement apart.
    """

    text: str
    entity: str
    words: CorpusWords
    heading: str = ""
    is_alone: bool = False
    adverbial: str = ""

    def name_subject(self, subject: str) -> str | None:
        """Return a subject as a question names it, None if it would not be clear of what it speaks.

        "The" with one common noun points back: it becomes "the strainer of the Heron 12" under such a heading.
        """
        if subject.lower().startswith(("a ", "an ")):
            return subject[:1].lower() + subject[1:] if self.is_alone else None
        lowered = self.words.lower_first(f"{subject} x").removesuffix(" x")
        content = [word for word in lowered.split() if not is_stop_word(word.lower())]
        is_named = any(self.words.is_name(word) or is_numbered_name(word) for word in content)
        if self.entity and not is_named:
            return f"{lowered} of {self.entity}" if lowered.startswith("the ") else None
        if lowered.startswith("the ") and not is_named:
            is_titled = fold_text(content[-1]) in fold_text(self.heading) if content else False
            is_rare = self.words.is_rare(subject, 2) if len(content) == 2 else is_titled
            return lowered if content and (len(content) > 2 or is_rare or self.is_alone) else None
        is_named |= self.is_alone
        return lowered if is_named or len(content) > 1 or self.words.count_statements(subject) <= 2 else None

    def finish(self, question: str, *must_have: str, personal: bool = False) -> DraftedQuestion | None:
        """Return a question about the sentence, None if it is not clear by itself."""
        asked = capitalise(" ".join(question.split())) + "?"
        if not is_clear_question(asked, "en", personal=personal):
            return None
        return DraftedQuestion(asked, self.text, tuple(filter(None, must_have)))


def invert_clause(clause: Clause, subject: str) -> str:
    """Return a clause as a question puts it, with the subject after the auxiliary.

    >>> invert_clause(Clause("Opened cans", "are", "kept"), "opened cans")
    'are opened cans kept'
    """
    if clause.auxiliary == "cannot":
        return f"can {subject} not {clause.rest}"
    if clause.auxiliary in ("has to", "have to"):
        return f"{'does' if clause.auxiliary == 'has to' else 'do'} {subject} have to {clause.rest}"
    if clause.rest.startswith("not "):
        return f"{clause.auxiliary} {subject} {clause.rest}"
    return f"{clause.auxiliary} {subject} {clause.rest}"
