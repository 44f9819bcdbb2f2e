"""Reading a question: its language, its ids, and the concepts that an answer has to be about."""

from __future__ import annotations

from dataclasses import dataclass

from examples.handbook.app import glossary
from examples.handbook.app.text import ENTITY, fold, language_of, words

_VIETNAMESE = """
ai anh bao bạn bị biết bởi các cách cái cần chỗ cho chị chưa có còn cũng của cùng do dùng được đã đang đâu đây để đến
đó em gì giữa hay hãy hiện hoặc hỏi khi không là lại lâu liền lúc mà mấy mình muốn mỗi một này nào nay ngay nếu người
nghĩa nhiêu như nhau những nên ở ra rằng rồi riêng sao sau sẽ số tại tất thế theo thì tới tôi trên trong trước từ từng
và vào vẫn về vì việc vậy với xảy xem xin phải ít nhất tối đa thiểu hơn đủ hết so sánh cả kể thuộc
"""
_ENGLISH = """
a about all am an and any are as at be been before both by can could did do does each first for from get had has have
he her his how i if in into is it its just long many may me most much must my need no not of on one or other our out
own per shall she should so tell than that the their them then there these they this those to up us was we were what
when where which while who whom whose why will with would you your
"""
_EXACT_STOP = frozenset(words(_VIETNAMESE + _ENGLISH))
_FOLDED_STOP = frozenset(map(fold, _EXACT_STOP))
_AMOUNT = (
    " bao nhieu ",
    " may ",
    " bao lau ",
    " toi da ",
    " toi thieu ",
    " khi nao ",
    " so nao ",
    " how many ",
    " how much ",
    " how long ",
    " when ",
)


@dataclass(frozen=True, slots=True)
class Concept:
    """Something the question is about: any of the forms names it, spelt exactly or without diacritics. A form has a
    space at both ends, so that it is found in spaced words by `in`."""

    exact: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the pipeline uses it: `rewrite` is what is searched; `entities` are its structured ids in upper
    case, `linked` those that an answer has to follow from there, nearest first."""

    text: str
    language: str
    concepts: tuple[Concept, ...]
    entities: tuple[str, ...]
    rewrite: str
    wants_amount: bool
    linked: tuple[str, ...] = ()


def read(text: str) -> Question:
    """Return the question with its concepts; the rewrite adds the glossary's other forms of what it asks about.

    >>> read("hoan tien mat may ngay?").rewrite
    'hoan tien mat may ngay? (refund, hoàn tiền, hoàn lại, lost, mất, day, ngày)'
    """
    plain = text.isascii()
    tokens = words(text)
    concepts: list[Concept] = []
    extra: list[str] = []
    position = 0
    while position < len(tokens):
        length, forms = _phrase_at(tokens, position, plain)
        spoken = " ".join(tokens[position : position + length])
        if forms:
            exact = tuple(dict.fromkeys(f" {' '.join(words(form))} " for form in forms))
            concepts.append(Concept(exact, (f" {spoken} ",) if plain else ()))
            extra += [form for form in forms if form not in text.lower()]
        elif spoken not in (_FOLDED_STOP if plain else _EXACT_STOP):
            concepts.append(Concept(folded=(f" {spoken} ",)) if plain else Concept((f" {spoken} ",)))
        position += length
    spaced = " " + " ".join(map(fold, tokens)) + " "
    return Question(
        text=text,
        language=language_of(text),
        concepts=tuple(dict.fromkeys(concepts)),
        entities=tuple(dict.fromkeys(match.upper() for match in ENTITY.findall(text))),
        rewrite=f"{text} ({', '.join(dict.fromkeys(extra))})" if extra else text,
        wants_amount=any(mark in spaced for mark in _AMOUNT),
    )


def _phrase_at(tokens: list[str], position: int, plain: bool) -> tuple[int, tuple[str, ...]]:
    """Return how many words the longest glossary phrase here has, and all its forms; 1 and none where there is none."""
    table = glossary.FOLDED if plain else glossary.EXACT
    for length in range(min(glossary.LONGEST, len(tokens) - position), 0, -1):
        forms = table.get(tuple(tokens[position : position + length]))
        if forms:
            return length, forms
    return 1, ()
