"""Words that deny or bound a statement in languages whose sentences the rules do not read, as data.

"200 Seiten sind nicht erlaubt" has the words of the fact "200 Seiten" and denies it. What such a word is said of is not
read; a fact beside one is open, where neither question, reference nor facts have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Protocol

from assay.text.facts.cues.condition_cues import ONLY_WORDS, RESTRICTS_REFERENCE
from assay.text.facts.cues.cue_pattern import build_pattern, list_words
from assay.text.facts.cues.value_cues import WITHOUT_COST
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.languages import guess_language, is_other_language
from assay.text.late_items import LateItems
from assay.text.late_pattern import LatePattern

_SURE = (
    # German
    r"nicht|kein(?:e[nmrs]?)?|niemals|keinesfalls|weder|keineswegs|(?:nicht )?(?:weniger|mehr|länger|höher|kürzer"
    r"|später|früher|älter|jünger|größer|kleiner|niedriger) als|höchstens|mindestens|wenigstens|bis zu|außer"
    r"|ausgenommen|sondern|statt(?:dessen)?|nie|unzulässig|ungültig"
    r"|(?:unter|über|ab)(?= \d[\d.,]* ?(?:€|%|(?:euro|prozent)\b))"
    # French
    r"|(?:ne |n'|n’)[^\W\d_]+(?: [^\W\d_]+)?? (?:pas|plus|jamais|aucune?|que)|(?:moins|plus) (?:de|d'|d’|que)|aucune?"
    r"|jamais|au (?:plus|moins)|sauf|hormis|jusqu'à"
    # Spanish and Portuguese
    r"|nunca|jamás|ning[uú]n[ao]?|(?:menos|m[aá]s|mais) de(?: que)?|(?:al|a lo|como) (?:menos|máximo|mínimo)"
    r"|excepto|hasta|não|nenhum[ao]?|jamais|pelo menos|no máximo|até|exceto|tampoco|senão"
    # Dutch, Italian, the languages of the North, Polish, Czech, Russian
    r"|niet|geen|nooit|(?:minder|meer) dan|hoogstens|minstens|nessun[oa]?|(?:meno|più) di|inte|ikke|ingen|inget"
    r"|aldrig|(?:mindre|mer|færre|flere|fler|färre) än|nigdy|mniej niż|więcej niż|nikdy|méně než|více než|не|нет|нельзя"
    r"|без|никогда|менее|более"
)
"""Words that no English or Vietnamese text has."""
_IN_OTHERS = (
    r"maximal|mai|nem|salvo|sino|no|non|ne|pas|sin|sans|ohne|sem|senza|unter|über|nur|seulement|solo|só|sólo|apenas|bis|ab|zonder|nie"
    r"|bez"
)
"""Words that deny or limit in such a language and may be others in English, Vietnamese or another."""
_DENIALS = LatePattern(rf"(?<![^\W\d_])(?:{_SURE})(?![^\W\d_])", re.IGNORECASE)
_DENIALS_OF_OTHERS = LatePattern(rf"(?<![^\W\d_])(?:{_SURE}|{_IN_OTHERS})(?![^\W\d_])", re.IGNORECASE)
_WITHOUT_SPACES = LatePattern(
    r"ない|なく|ません|ず(?:に|、|。)|以外|以上|以下|未満|超え|まで|禁止|[不没沒未無无]|少于|少於|超过|超過|除|않|없|못|아니|이상|이하"
    r"|미만|초과|제외|금지|ไม่|ห้าม|กว่า|ยกเว้น"
)
"""Of Chinese, Japanese, Korean and Thai."""
_LETTERS_WITHOUT_SPACES = LatePattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_PART_CUT = LatePattern(r"[,;:、，；：()]|\s[–—-]\s|\b(?:aber|doch|mais|pero|mas|ma|och|og|maar)\b")


_RATE_AFTER = LatePattern(
    r" (?:pro|je|par|por|cada)"
    r" (?!person|personne|persona|pessoa|kopf|(?:schadens?|versicherungs)?fall\b|schaden\b|sinistre|siniestro)"
    r"(?P<noun>[^\W\d_]{3,})",
    re.IGNORECASE,
)
"""Says after a value per what it is; one per person or per loss is one of what is asked."""
_BEFORE_VALUE = frozenset("unter über bis ab maximal".split())
"""Limit only what follows: "fährt von Gleis 7 ab", "maximal 500 Euro im Jahr" of another value."""
_UNDER_NUMBER, _CODE = "unter", "code"
"""Also says before a number of a telephone where someone is reached."""
_UPPER = frozenset(("bis zu", "höchstens", "maximal", "jusqu'à", "hasta", "até", "au plus", "no máximo"))
_GRAMMAR = list_words(
    "est sont en de des du le la les un une ist sind wird werden der die das den dem ein eine kann darf"
)
_RESTRICTED = build_pattern(rf"\b{RESTRICTS_REFERENCE}\b")
_WITHOUT_COST = build_pattern(rf"{WITHOUT_COST}\b")
_ASKS_MOST = LatePattern(
    r"(?<![^\W\d_])(?:plafond|limite|maxim[^\W\d_]{0,20}|höchst[^\W\d_]{0,20}|obergrenze|límite|máxim[^\W\d_]{0,20}"
    r"|(?:wie (?:viele?|lange|oft|hoch|spät)|combien|cuánt[^\W\d_]{1,9}|quant[^\W\d_]{1,9})\b[^?]{0,40}"
    r" (?:darf|dürfen|können|kann|peut|peux|puis|pouvons|puedo|puede|posso|pode))(?![^\W\d_])",
    re.IGNORECASE,
)
"""Asks for the most, so that "up to" says it."""


class _Pattern(Protocol):
    def finditer(self, text: str, start: int = ..., end: int = ...) -> Iterator[re.Match[str]]: ...


def judge_foreign_denial(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of a fact beside a denial or bound in a language that is not read; None without one.

    Only the part between two commas counts: in "80 Euro, nicht mehr" the denial is of something else.
    """
    answer, clause = texts.answer.text, occurrence.clause
    language = guess_language(answer)
    if language == "vi":
        return None
    start, end = _find_part(answer, occurrence, clause.sentence_start, clause.sentence_end)
    known = LateItems(text.text.lower() for text in chain((texts.read_fact,), texts.explaining, texts.passages))
    rate = _RATE_AFTER.match(answer, occurrence.end) if language is None else None
    if rate is not None and not any(rate["noun"].lower() in text for text in known):
        return FactJudgment(
            texts.fact, "unknown", f'the answer counts this "{rate[0].strip()}", and neither question nor evidence do'
        )
    for denial in _choose_pattern(answer).finditer(answer, start, end):
        cue = denial[0].lower()
        if any(_has_word(text, cue) for text in known) or _limits_nothing(texts, occurrence, cue, denial.start()):
            continue
        return FactJudgment(
            texts.fact,
            "unknown",
            f'the answer says "{denial[0].strip()}" of this, in a language of which such words are not read',
        )
    return None


def _limits_nothing(texts: FactTexts, occurrence: Occurrence, cue: str, position: int) -> bool:
    """Whether a word that may limit something limits no value of the fact, or says the most that is asked for."""
    values = texts.read_fact.quantities
    if cue in _BEFORE_VALUE and position >= occurrence.end:
        return True
    if cue in ONLY_WORDS and texts.has_cue(_RESTRICTED):
        return True
    if _WITHOUT_COST.match(texts.answer.plain, position) is not None:
        return True
    if cue == _UNDER_NUMBER and any(own.readings[:1] and own.readings[0].dimension.startswith(_CODE) for own in values):
        return True
    if cue not in _UPPER or _ASKS_MOST.search(texts.question.text) is None:
        return False
    clause = occurrence.clause
    words = texts.answer.list_words(clause.sentence_start, clause.sentence_end)
    asked = [word for word in texts.list_topics() if may_be_subject(word) and word.folded not in _GRAMMAR]
    return position == clause.sentence_start or any(word.key == own.key for word in words for own in asked)


def _has_word(text: str, word: str) -> bool:
    """Whether a text has a word by itself, or in a language without spaces the same signs."""
    if _has_letters_without_spaces(word):
        return word in text
    return re.search(rf"(?<![^\W\d_]){re.escape(word)}(?![^\W\d_])", text) is not None


def _has_letters_without_spaces(text: str) -> bool:
    return not text.isascii() and _LETTERS_WITHOUT_SPACES.search(text) is not None


def _choose_pattern(answer: str) -> _Pattern:
    if _has_letters_without_spaces(answer):
        return _WITHOUT_SPACES
    return _DENIALS_OF_OTHERS if is_other_language(answer) else _DENIALS


def _find_part(answer: str, occurrence: Occurrence, low: int, high: int) -> tuple[int, int]:
    """Return the part of a sentence that holds a place, from one comma or "but" to the next."""
    start, end = low, high
    for cut in _PART_CUT.finditer(answer, low, high):
        if cut.end() <= occurrence.start:
            start = cut.end()
        elif cut.start() >= occurrence.end:
            end = cut.start()
            break
    return start, end
