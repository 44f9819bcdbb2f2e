"""What may follow an answer and is no part of it: an offer of more help, a question whether that was all, thanks.

"The pool opens at 07:00. Would you like me to book a lane?" answers. "That depends on your tariff. Would you like me to
look it up?" asks back, and so does an offer between two things. The words are in the lexicons (`offers`).
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.text.normalisation import fold_text
from assay.text.pattern_cache import compile_pattern
from assay.text.refusals.refusal_lexicon import RefusalLexicon

_SENTENCE = compile_pattern(r"[^.!?。！？\n]*(?:[.!?](?=[^\s*_)\"”»])[^.!?。！？\n]*)*[.!?。！？]*[*_)\"”»]*\s*")
_AROUND = compile_pattern(r"^\W+|\W+$")
_CLOSING = ' *_)"”»\n\t'
_FIGURES = compile_pattern(r"\d+")
_FEWEST = 2  # sentences: one that states, and one that asks


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
    if end == len(sentences) and _asks_after_figure(sentences, question, lexicons):
        end -= 1
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


def _asks_after_figure(sentences: Sequence[str], question: str, lexicons: Sequence[RefusalLexicon]) -> bool:
    """Whether the last sentence asks for no choice and for nothing of the user, in whatever language, after others have
    stated a figure for the value that the question asks for."""
    asked = fold_text(question)
    if len(sentences) < _FEWEST or not _asks(sentences[-1]) or not _matches_any(asked, lexicons, "offers.values"):
        return False
    asked_figures = set(_FIGURES.findall(asked))
    statements = [sentence for sentence in sentences[:-1] if not _asks(sentence)]
    is_stated = any(not asked_figures.issuperset(_FIGURES.findall(_fold(sentence))) for sentence in statements)
    return is_stated and not _matches_any(_fold(sentences[-1]), lexicons, "offers.choice", "offers.lacking")


def _matches_any(folded: str, lexicons: Sequence[RefusalLexicon], *names: str) -> bool:
    return any(lexicon.patterns[name].search(folded) for lexicon in lexicons for name in names)


def _states(sentence: str, lexicons: Sequence[RefusalLexicon]) -> bool:
    """Whether a sentence says something: it neither asks nor offers, nor says only that an answer depends."""
    folded = _fold(sentence)
    if not folded or _asks(sentence) or _is_offer(folded, lexicons):
        return False
    if _FIGURES.search(folded) is not None:
        return True
    return not _matches_any(folded, lexicons, "offers.open")
