"""Later sentences of an answer that take back what came before them: "Please ignore this, it is no longer true."

A sentence is one of these only if it speaks of the answer itself or points back at it, and says nothing but that it
does not hold. "It is not the case on Sundays" restricts an answer, and takes nothing back.
"""

from __future__ import annotations

from msgspec import Struct

from assay.text.facts.cues.cue_pattern import Cues, build_pattern
from assay.text.facts.reading.read_text import ReadText

_SAID = (
    r"(?:this|that|it|the above|all of (?:this|that)|(?:what|everything) (?:i|we) (?:just )?(?:said|wrote|told you)"
    r"|(?:my|the|our|this|that) (?:last |previous |first |above )?"
    r"(?:answer|message|statement|sentence|reply|information|figure|number|price)(?: above)?)"
)
_SAID_IN_VIETNAMESE = r"(?:điều|câu|thông tin|con số|câu trả lời) (?:này|đó|trên|vừa rồi|ở trên)"
_HEDGE = r"(?>(?: (?:really|actually|simply|just|probably|perhaps|in fact|completely|all|now))*)"
_NO_MORE = (
    r"(?:(?:no longer|not|never|not quite)"
    r" (?:true|correct|right|valid|in force|the case|so|current|applicable|accurate)"
    r"|wrong|incorrect|false|untrue|outdated|out of date|obsolete|superseded|invalid|a mistake|an error|mistaken"
    r"|made up|invented|a guess|otherwise)"
)

_TO_DROP = Cues(
    rf"(?:(?:ignore|disregard|forget|scratch|strike|discard|(?:don't|do not) (?:rely on|trust|use)) {_SAID})",
    rf"(?:xin |vui lòng |hãy ){{0,3}}(?:bỏ qua|quên|đừng tin|đừng dùng) {_SAID_IN_VIETNAMESE}",
    r"(?:veuillez )?(?:ignorez|oubliez|ignorer|oublier) (?:ceci|cela|ça|ce qui précède|cette réponse)"
    r" | (?:ignorieren|vergessen) sie (?:das|dies|diese antwort|bitte das)"
    r" | (?:ignore|olvide|olvida) (?:esto|eso|lo anterior|esta respuesta)",
)
_MISTAKEN = Cues(
    r"(?:i|we) (?:am|was|are|were|may be|might be|have been)(?: probably| perhaps)?"
    r" (?:wrong|mistaken|guessing|making (?:this|that|it) up)"
    rf" | (?:i|we) (?:have to |just )?(?:made|take|took|invented) {_SAID}(?: up| back)?"
    r" | (?:i|we) (?:am|are) not (?:at all )?sure (?:about|of) (?:this|that|it)",
    r"tôi (?:đã )?(?:nhầm|sai|nói sai|bịa ra|rút lại)",
    r"je me (?:suis )?tromp(?:e|é) | ich (?:habe mich geirrt|irre mich) | me he equivocado",
)
_NOT_SO = Cues(
    rf"{_SAID} (?:is|was|are|were|may be|might be|could be|has been|seems|turned out)(?: to be)?{_HEDGE} {_NO_MORE}"
    rf" | {_SAID} (?:no longer (?:applies|holds|counts)|does ?n[o']t (?:apply|hold|count) any ?more)"
    r" | (?:it|this|that) (?:may|might|could)(?: also| well| just as well| equally)* be"
    r" (?:wrong|different|otherwise|(?:twice|half|three times) (?:as (?:much|many)|that|of (?:it|that)))",
    rf"{_SAID_IN_VIETNAMESE}"
    r" (?:là sai|không đúng|không còn đúng|không chính xác|không còn hiệu lực|đã cũ|đã lỗi thời|có thể sai)",
    r"(?:ce|cela|ça|ceci|cette réponse) n'est (?:plus|pas) (?:vrai|exact|valable|correct|le cas)"
    r" | c'est (?:faux|une erreur|périmé)"
    r" | (?:das|dies|diese antwort) (?:ist|war|stimmt|gilt)(?: so)?"
    r" (?:nicht mehr|nicht (?:richtig|wahr|korrekt)|falsch|veraltet)"
    r" | (?:esto|eso) (?:(?:ya )?no es (?:verdad|cierto|correcto|válido)|es (?:falso|un error))",
)
_OR_NOT = Cues(
    "(?:perhaps|maybe|possibly|probably|or) not | on second thoughts? | scratch that | strike that"
    " | no, wait | wait, no",
    "(?:hoặc )?(?:có lẽ|có thể) (?:là )?không(?: phải)?",
    "peut-être pas | vielleicht (?:auch )?nicht | (?:quizás|tal vez) no",
)
_BEFORE = (
    r"[\s(*_>\"'“–—-]{0,4}+(?>(?:(?:but|or|and|sorry|actually|correction|however|wait|no|hm+|please|so|then|oder|ou|o|mais|aber)\b"
    r"[ ,:–—-]{0,4}+){0,6})"
)
_END = (
    r"(?>(?: (?:any ?more|any longer|now|at all|today|though|anyway|either|so|either way))*)"
    r"(?= ?(?:[.,;:!?)–—-]|and\b|but\b|$))"
)
_OF_ALL = build_pattern(rf"{_BEFORE}(?:{_TO_DROP}\b|{_MISTAKEN}{_END})")
_OF_LAST = build_pattern(rf"{_BEFORE}(?:{_NOT_SO}|{_OR_NOT}){_END}")


class Retraction(Struct, frozen=True):
    """Words from `end` to `after` that take back what an answer said before them, from `start` on."""

    start: int
    end: int
    after: int


def find_retraction(read: ReadText) -> Retraction | None:
    """Return what the first sentence that takes something back takes back: all before it, or the last sentence.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> texts = ("It is $25. Sorry, that is no longer true.", "It is $25. That is not the case on Sundays.")
    >>> [find_retraction(read_text(text)) for text in texts]
    [Retraction(start=0, end=10, after=40), None]
    """
    starts = list(dict.fromkeys(clause.sentence_start for clause in read.clauses))
    for number, start in enumerate(starts[1:], 1):
        of_all, of_last = (pattern.match(read.plain, start) for pattern in (_OF_ALL, _OF_LAST))
        if of_all is not None:
            return Retraction(0, start, of_all.end())
        if of_last is not None:
            return Retraction(starts[number - 1], start, of_last.end())
    return None


def takes_something_back(read: ReadText) -> bool:
    """Return whether any sentence of a question or a reference takes something back, so that an answer may too."""
    starts = {clause.sentence_start for clause in read.clauses}
    return any(pattern.match(read.plain, start) is not None for start in starts for pattern in (_OF_ALL, _OF_LAST))
