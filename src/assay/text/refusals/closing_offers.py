"""What may follow an answer and is no part of it: an offer of more help, a question whether that was all, thanks.

"The pool opens at 07:00. Would you like me to book a lane?" answers. "That depends on your tariff. Would you like me to
look it up?" asks back, and so does an offer between two things. The words are in the lexicons (`offers`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.text.normalisation import fold_text
from assay.text.refusals.refusal_lexicon import RefusalLexicon

_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:[.!?](?=[^\s*_)\"”»])[^.!?。！？\n]*)*[.!?。！？]*[*_)\"”»]*\s*")
_AROUND = re.compile(r"^\W+|\W+$")
_CLOSING = ' *_)"”»\n\t'
_FIGURE, _FIGURES = re.compile(r"\d"), re.compile(r"\d+")


def leave_out_offers(answer: str, question: str, lexicons: Sequence[RefusalLexicon]) -> str:
    """Return an answer without the offers at its end, in whatever language; unchanged where nothing is stated before.

    Behind a figure that answers a question for a value, any question is one that asks nothing of the user.

    >>> from assay.text.refusals.lexicons_in_use import list_lexicons
    >>> answer = "The pool opens at 07:00. Would you like me to book a lane?"
    >>> leave_out_offers(answer, "", list_lexicons(answer))
    'The pool opens at 07:00.'
    >>> leave_out_offers("It depends on the day. Shall I look it up?", "", list_lexicons(answer))
    'It depends on the day. Shall I look it up?'
    """
    sentences = _split_sentences(answer)
    end = len(sentences)
    while end and _is_offer(_fold(sentences[end - 1]), lexicons):
        end -= 1
    if end == len(sentences) > 1 and _asks(sentences[-1]) and _states_asked_figure(sentences[:-1], question, lexicons):
        end -= _is_about_nothing_lacking(_fold(sentences[-1]), lexicons)
    if end == len(sentences) or not any(_states(sentence, lexicons) for sentence in sentences[:end]):
        return answer
    return "".join(sentences[:end]).rstrip()


def leave_out_questions(answer: str) -> str:
    """Return an answer without the questions at its end.

    >>> leave_out_questions("Staff get 12 days. Do you work full time? In which office?")
    'Staff get 12 days.'
    """
    sentences = _split_sentences(answer)
    while sentences and _asks(sentences[-1]):
        sentences.pop()
    return "".join(sentences).rstrip()


def _split_sentences(answer: str) -> list[str]:
    """Return the sentences of an answer, which are the answer together: blanks belong to a sentence beside them."""
    sentences: list[str] = []
    blank = ""
    for piece in _SENTENCE.findall(answer):
        if piece.strip():
            sentences.append(blank + piece)
            blank = ""
        elif sentences:
            sentences[-1] += piece
        else:
            blank += piece
    return sentences


def _asks(sentence: str) -> bool:
    return sentence.rstrip(_CLOSING).endswith(("?", "？"))


def _fold(sentence: str) -> str:
    return _AROUND.sub("", fold_text(sentence))


def _is_offer(folded: str, lexicons: Sequence[RefusalLexicon]) -> bool:
    """Whether a sentence offers more help or asks whether that was all, and asks for nothing that is lacking."""
    for lexicon in lexicons:
        if lexicon.patterns["offers.closing"].match(folded) is not None:
            return lexicon.patterns["offers.choice"].search(folded) is None
    return False


def _states_asked_figure(sentences: Sequence[str], question: str, lexicons: Sequence[RefusalLexicon]) -> bool:
    """Whether a question asks for a value, and sentences state a figure that it does not have."""
    asked = fold_text(question)
    if not any(lexicon.patterns["offers.values"].search(asked) for lexicon in lexicons):
        return False
    known = set(_FIGURES.findall(asked))
    return any(not known.issuperset(_FIGURES.findall(_fold(sentence))) for sentence in sentences if not _asks(sentence))


def _is_about_nothing_lacking(folded: str, lexicons: Sequence[RefusalLexicon]) -> bool:
    """Whether a question asks for no choice and for nothing of the user, in any language that it may be in."""
    return not any(
        lexicon.patterns[name].search(folded) for lexicon in lexicons for name in ("offers.choice", "offers.lacking")
    )


def _states(sentence: str, lexicons: Sequence[RefusalLexicon]) -> bool:
    """Whether a sentence says something: it neither asks nor offers, nor says only that an answer depends."""
    folded = _fold(sentence)
    if not folded or _asks(sentence) or _is_offer(folded, lexicons):
        return False
    if _FIGURE.search(folded) is not None:
        return True
    return not any(lexicon.patterns["offers.open"].search(folded) for lexicon in lexicons)
