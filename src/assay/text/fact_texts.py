"""The texts by which a fact is judged, and what they say of a word: whether it names a subject, asks, or is explained.

Question, reference and facts explain a word of the answer that they have too: it is no other answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from assay.text.fact_scope import ExpectedLimit
from assay.text.normalisation import fold_in_place
from assay.text.quantities import Quantity
from assay.text.read_text import ReadText, Word
from assay.text.tokens import classify_word

AUXILIARIES = frozenset(
    """
    is are was were be been has have had do does did can could may might must shall should will would get gets got need
    needs la duoc co phai can se da do bi
    """.split()
)
NO_SUBJECT = frozenset(
    """
    now currently today nowadays since until previously formerly
    it they you we he she i this that these those there please then yes no not nothing only ban no ho toi chung hay
    khong duoc vui xin theo voi vang
    """.split()
)
"""Words before which there is no subject that could be another one: pronouns, imperatives, negations."""
GENERIC = frozenset(
    """
    answer yes company policy rule rules document documents total number amount limit value figure employee employees
    staff worker workers team member members person people everyone everybody anyone customer customers user users
    each every all please note according exactly currently moi nhan vien so luong cong ty quy dinh tai lieu
    """.split()
)
_ASKING = frozenset(
    """
    how long much many what which who whom whose when where why does do did is are was were can need needed happens
    happen kind often bao nhieu ai khi nao gi nao o dau the may la cua co duoc mot thi cac
    """.split()
)
_ASKING_WRITTEN = frozenset("nhiêu nào gì ở đâu thế mấy là của có được một thì các".split())
_GRAMMAR_MARKS: dict[str, set[str]] = {}
"""The diacritics with which the Vietnamese words of grammar are written, by their folded form."""
for _written in "là được có phải cần sẽ đã bị họ tôi chúng hãy không với vâng này đó thì mà".split():
    _GRAMMAR_MARKS.setdefault(fold_in_place(_written), set()).add(classify_word(_written)[2].rpartition("~")[2])


def may_be_subject(word: Word) -> bool:
    """Return whether a word may name what a statement is about, and is no word of grammar."""
    stem = word.folded.partition("'")[0]
    is_grammar = stem in NO_SUBJECT or stem in AUXILIARIES
    if is_grammar and word.marks and word.marks not in _GRAMMAR_MARKS.get(stem, ()):
        is_grammar = False  # "máy" and "cơ" are folded like "may" and "có"
    return word.kind != "stop" and not is_grammar


class FactTexts(NamedTuple):
    """A fact and the texts by which it is judged.

    `explaining`: question, reference and all facts. `expected`: the quantities of all facts. `limit`: the limit that an
    answer has to state.
    """

    fact: str
    read_fact: ReadText
    answer: ReadText
    question: ReadText
    reference: ReadText
    explaining: Sequence[ReadText]
    expected: Sequence[Quantity]
    limit: ExpectedLimit

    @property
    def ignore_marks(self) -> bool:
        """Whether fact or answer are written without diacritics, so that those of the other do not count."""
        return not (self.read_fact.has_marks and self.answer.has_marks)

    def list_topics(self) -> list[Word]:
        """Return the words of the question that say what it is about."""
        return [word for word in self.question.words if word.kind != "stop" and not self._asks(word)]

    def _asks(self, word: Word) -> bool:
        """Whether a word of the question only asks; "mấy" and "có" do, "máy" and "cơ" are folded alike and do not."""
        if word.folded not in _ASKING:
            return False
        written = self.question.text[word.start : word.end].lower()
        return not self.question.has_marks or written.isascii() or written in _ASKING_WRITTEN

    def is_explained(self, word: Word) -> bool:
        """Return whether question, reference or facts have a word."""
        return any(text.find_word(word, True) for text in self.explaining)

    def is_familiar(self, word: Word) -> bool:
        """Return whether a word is explained, or so general that it names nothing else."""
        return word.folded in GENERIC or self.is_explained(word)
