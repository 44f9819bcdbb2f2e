"""Tells English from Vietnamese, with or without diacritics; of any other text it says nothing."""

from __future__ import annotations

import re
from typing import Literal

from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_text, may_hold_other_script, normalise_nfc
from assay.text.text_cache import cache_by_text

KnownLanguage = Literal["en", "vi"]

_VIETNAMESE_LETTER = re.compile(r"[ăđơưạ-ỹ]", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    "an and are as at be by can do does for has have how if in is it many may much my not of on or our the their to "
    "was we what when where which who why with you your".split()
)
_VIETNAMESE = frozenset(
    "bao bi cac can cho chua co cua cung da de den duoc gi hay hoac khi khong la lam mot nao nay neu ngay nguoi nhieu "
    "nhu nhung o phai qua ra sau tai tat thi theo toi trong truoc tu va ve vi voi".split()
)
_SHARED = _ENGLISH | _VIETNAMESE | frozenset("bei das dem den des die se em con".split())
_OTHER_WORDS = {
    "de": "aber auch auf aus bei bis das dem der den des durch ein eine einem einen einer fur ist kann mit muss nach "
    "nicht oder sich sind uber und unter vom von welche wenn werden wie wird zum zur",
    "fr": "au aux avec ce ces dans de est et il ils je le les leur nous ou par pas pour quand que quel quelle qui sans "
    "sont sur un une vous",
    "es": "al como cuando cuanto debe del desde donde el en ese esta este hasta las los para pero por puede quien se "
    "ser sin son su sus una y",
    "pt": "ao aos das dos e em mais na nao nas nos o os ou pela pelo qual quando sao seu sua um uma",
}
"""Words of grammar of some other languages, by code."""
_WORDS_OF = {code: frozenset(words.split()) - _SHARED for code, words in _OTHER_WORDS.items()}
_OTHER = frozenset().union(*_WORDS_OF.values())
_SCRIPTS = {"ja": r"[\u3040-\u30ff]", "ko": r"[\uac00-\ud7af]", "th": r"[\u0e00-\u0e7f]", "zh": r"[\u3400-\u9fff]"}
_SCRIPT_OF = {code: LatePattern(letters) for code, letters in _SCRIPTS.items()}
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


def guess_other_language(text: str) -> str | None:
    """Return the code of the language of a text that `is_other_language` tells, "" if its words are of several alike;
    None for any other text.

    >>> texts = ("Das Jahresabo kostet 690 EUR und gilt ein Jahr.", "返金は十四日以内です", "Who pays for it?")
    >>> [guess_other_language(text) for text in texts]
    ['de', 'ja', None]
    """
    if not is_other_language(text):
        return None
    text = normalise_nfc(text)
    for code, letters in _SCRIPT_OF.items():
        if letters.search(text) is not None:
            return code
    words = [fold_text(word) for word in _WORD.findall(text)]
    counts = {code: sum(word in own for word in words) for code, own in _WORDS_OF.items()}
    best = [code for code, count in counts.items() if count == max(counts.values())]
    return best[0] if len(best) == 1 else ""


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
