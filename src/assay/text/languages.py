"""Tells English from Vietnamese, with or without diacritics; of any other text it says nothing."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cache
from typing import Literal

from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_text, may_hold_other_script, normalise_nfc
from assay.text.pattern_cache import compile_pattern
from assay.text.text_cache import cache_by_text

KnownLanguage = Literal["en", "vi"]

_VIETNAMESE_LETTER = compile_pattern(r"[ăđơưạ-ỹ]", re.IGNORECASE)
_WORD = compile_pattern(r"[^\W\d_]+")
_ENGLISH = frozenset(
    "an and are as at be by can do does for has have how if in is it many may much my not of on or our the their to "
    "was we what when where which who why with you your".split()
)
_VIETNAMESE = frozenset(
    "bao bi cac can cho chua co cua cung da de den duoc gi hay hoac khi khong la lam mot nao nay neu ngay nguoi nhieu "
    "nhu nhung o phai qua ra sau tai tat thi theo toi trong truoc tu va ve vi voi".split()
)
_OTHER = frozenset(
    "aber auch auf aus bei bis das dem den der des durch ein eine einem einen einer fur ist kann mit muss nach nicht "
    "oder sich sind uber und unter vom von welche wenn werden wie wird zum zur "  # German
    "au aux avec ce ces dans de est et il ils je le les leur nous ou par pas pour quand que quel quelle qui sans sont "
    "sur un une vous "  # French
    "al como cuando cuanto debe del desde donde el en ese esta este hasta las los para pero por puede quien se ser sin "
    "son su sus una y "  # Spanish
    "ao aos das dos e em mais na nao nas nos o os ou pela pelo qual quando sao seu sua um uma".split()  # Portuguese
) - (_ENGLISH | _VIETNAMESE | frozenset("bei das dem den des die des se em con".split()))
_NO_SPACES = LatePattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_FEWEST_WORDS = 2
_CLEAR_MAJORITY = 2


@cache_by_text(maxsize=1024, longest=4000, long_texts=4)
def guess_language(text: str) -> KnownLanguage | None:
    """Return the language of a text, None if its letters and words of grammar do not tell.

    One word in five with a letter that only Vietnamese has is enough: names and loanwords occur in English texts too.

    >>> guess_language("phep nam con lai co duoc chuyen khong"), guess_language("How many days?"), guess_language("PTO")
    ('vi', 'en', None)
    """
    words = _WORD.findall(normalise_nfc(text))
    vietnamese = sum(_VIETNAMESE_LETTER.search(word) is not None for word in words)
    if words and vietnamese / len(words) >= 1 / 5:
        return "vi"
    folded = [fold_text(word) for word in words]
    counts = {"en": sum(word in _ENGLISH for word in folded), "vi": sum(word in _VIETNAMESE for word in folded)}
    if counts["en"] >= _FEWEST_WORDS and counts["en"] >= _CLEAR_MAJORITY * counts["vi"]:
        return "en"
    if counts["vi"] >= _FEWEST_WORDS and counts["vi"] >= _CLEAR_MAJORITY * counts["en"]:
        return "vi"
    return None


def is_other_language(text: str) -> bool:
    """Return whether a text is clearly in another language than English and Vietnamese, by its words of grammar.

    German, French, Spanish and Portuguese are told by words, Chinese, Japanese, Korean and Thai by their letters; of a
    text in any other language this says False.

    >>> [is_other_language(text) for text in ("Mit einer Frist von drei Monaten.", "返金は十四日以内です", "Who pays?")]
    [True, True, False]
    """
    text = normalise_nfc(text)
    if may_hold_other_script(text) and _NO_SPACES.search(text) is not None:
        return True
    if guess_language(text) is not None:
        return False
    return sum(fold_text(word) in _OTHER for word in _WORD.findall(text)) >= _FEWEST_WORDS


EuropeanLanguage = Literal["de", "fr", "es", "pt", "it"]


def _fold_words(spelled: str) -> frozenset[str]:
    return frozenset(fold_text(spelled).split())


GRAMMAR_BY_LANGUAGE: dict[EuropeanLanguage, frozenset[str]] = {
    "de": _fold_words(
        """
        der die das den dem des ein eine einen einem einer eines und sowie beziehungsweise auch ist sind wird werden hat
        haben kann können darf dürfen muss müssen soll sollen sollte sollten dabei hier in im an am auf
        aus bei beim von vom mit zu zum zur für um dass da dort dieser diese dieses diesem diesen bitte
        jeweils
        """
    ),
    "fr": _fold_words(
        """
        le la les l un une des du de d au aux et ainsi aussi est sont sera seront être a ont avoir peut
        peuvent pouvez doit doivent devez ce cet cette ces c qui que qu dont où en dans sur par pour avec
        à y cela ça
        """
    ),
    "es": _fold_words(
        """
        el la los las un una unos unas del de al a y e también es son está están será ser estar ha han hay
        haber puede pueden puedes debe deben debes este esta estos estas ese esa que quien cuyo cuya cuyos
        cuyas en con por para esto eso
        """
    ),
    "pt": _fold_words(
        """
        o a os as um uma uns umas do da dos das de no na nos nas ao à e também é são está estão será ser
        estar tem há pode podem deve devem que quem em com por para pelo pela este esta isto isso
        """
    ),
    "it": _fold_words(
        """
        il lo la i gli le l un uno una di del dello della dei degli delle da dal dalla a al allo alla ai
        agli alle in nel nello nella nei nelle su sul sulla e ed anche è sono sarà essere ha hanno può
        possono deve devono che chi con per questo questa
        """
    ),
}
"""Words of grammar, folded: articles, pronouns, auxiliaries, and prepositions that say neither before nor after, with
nor without. None of them has to be repeated in an answer."""
PRONOUNS_BY_LANGUAGE: dict[EuropeanLanguage, frozenset[str]] = {
    "de": _fold_words(
        "mein meine meinen sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer ihres sie er es man wir uns "
        "sich ich du dein deine unser unsere unseren"
    ),
    "fr": _fold_words("il elle ils elles on nous vous se s son sa ses leur leurs votre vos notre nos"),
    "es": _fold_words("se su sus tu tus te le les nos lo nuestro nuestra nuestros nuestras usted ustedes"),
    "pt": _fold_words("se seu sua seus suas você"),
    "it": _fold_words("si suo sua suoi loro lei vi"),
}
"""Personal and possessive pronouns, folded: they need not be repeated either, but name somebody."""
_TELLING_TOO: dict[EuropeanLanguage, frozenset[str]] = {
    "de": _fold_words(
        "welche welcher welches welchem wie wann wo was wer wem warum wieso wofür nicht kein keine oder nur ab "
        "bis nach"
        "vor über unter ohne wenn sofern falls als per dann bekomme brauche"
    ),
    "fr": _fold_words(
        "quel quelle quels quelles combien comment pourquoi quoi où faut-il faut puis-je je pas ne plus ou sans jusque "
        "jusqu avant après si lorsque quand oui"
    ),
    "es": _fold_words(
        "qué cuál cuáles cuánto cuánta cuántos cuántas cómo cuándo dónde quién quiénes puedo no ni o sin hasta "
        "desde antes si cuando como sí"
    ),
    "pt": _fold_words(
        "qual quais quanto quantos quando onde posso não ou sem até desde antes depois se quando como sim"
    ),
    "it": _fold_words(
        "quale quali quanto quanti quando dove posso non o senza fino dopo prima perché se quando come sì"
    ),
}
"""Further words that tell a language, and whose absence may matter."""
_ENGLISH_TOO = _fold_words("a i e o in do an am as so no come per on me des war die hat man was also is it he us lo")
"""Words of grammar that are English as well, and tell nothing."""
_LEAST_EUROPEAN = 0.25
"""Of the words of a text that must be words of grammar of its language: names ("Las Vegas") make no text Spanish."""


@cache
def _list_telling_words(language: EuropeanLanguage) -> Set[str]:
    return (GRAMMAR_BY_LANGUAGE[language] | PRONOUNS_BY_LANGUAGE[language] | _TELLING_TOO[language]) - _ENGLISH_TOO


@cache_by_text(maxsize=1024, longest=4000, long_texts=4)
def guess_european(text: str) -> EuropeanLanguage | None:
    """Return which of five languages a text is in, by its words of grammar; None for English and for all others.

    >>> texts = ("Wie lange ist die Frist?", "Où est la gare, et quand ouvre-t-elle ?", "Who pays for the die?")
    >>> [guess_european(text) for text in texts]
    ['de', 'fr', None]
    """
    if has_vietnamese_letters(text):
        return None
    written = _WORD.findall(normalise_nfc(text))
    words = fold_text(" ".join(written)).split()
    vietnamese = sum([word in _VIETNAMESE for word in words])
    english = [word for word in words if word in _ENGLISH]
    best: EuropeanLanguage | None = None
    most = max(_FEWEST_WORDS - 1, vietnamese)
    for language, grammar in GRAMMAR_BY_LANGUAGE.items():
        own_words = _list_telling_words(language)
        telling = [word for word in words if word in own_words]
        if len(telling) <= most or len(set(telling)) < _FEWEST_WORDS or len(telling) < _LEAST_EUROPEAN * len(written):
            continue
        if len(telling) > sum([word not in grammar for word in english]):
            best, most = language, len(telling)
    return best


_SCRIPTS = {"ja": r"[\u3040-\u30ff]", "ko": r"[\uac00-\ud7af]", "th": r"[\u0e00-\u0e7f]", "zh": r"[\u3400-\u9fff]"}
_SCRIPT_OF = {code: LatePattern(letters) for code, letters in _SCRIPTS.items()}


def guess_other_language(text: str) -> str | None:
    """Return the code of a language other than English and Vietnamese in which a text is, "" where only that is told;
    None where not even that is.

    >>> texts = ("Das Jahresabo kostet 690 EUR und gilt für ein Jahr.", "返金は十四日以内です", "Who pays for it?")
    >>> [guess_other_language(text) for text in texts]
    ['de', 'ja', None]
    """
    if guess_language(text) is not None:
        return None
    folded = normalise_nfc(text)
    if may_hold_other_script(folded):
        for code, letters in _SCRIPT_OF.items():
            if letters.search(folded) is not None:
                return code
    return guess_european(text) or ("" if is_other_language(text) else None)


def is_read_language(declared: str) -> bool:
    """Return whether a declared language, or none, is one whose words rules compare: English or Vietnamese.

    >>> [is_read_language(declared) for declared in ("", "en-GB", "vi", "de")]
    [True, True, True, False]
    """
    return declared.replace("_", "-").partition("-")[0].casefold() in ("", "en", "vi")


def has_vietnamese_letters(text: str) -> bool:
    """Return whether a text has letters that only Vietnamese has.

    >>> has_vietnamese_letters("Số phép"), has_vietnamese_letters("Größe, informação")
    (True, False)
    """
    return _VIETNAMESE_LETTER.search(normalise_nfc(text)) is not None


def has_diacritics(text: str) -> bool:
    """Return whether a letter of a text is lost when it is folded to plain letters.

    >>> has_diacritics("ngày"), has_diacritics("ngay")
    (True, False)
    """
    lowered = normalise_nfc(text).casefold()
    return any(letter.isalpha() and fold_text(letter) != letter for letter in lowered)


def is_vietnamese(text: str) -> bool:
    """Return whether a text is Vietnamese, with or without diacritics.

    >>> is_vietnamese("phep nam con lai co duoc chuyen khong"), is_vietnamese("How many days?")
    (True, False)
    """
    return guess_language(text) == "vi"
