"""Words that deny, without which "we do so and so" is no refusal: "Nous facturons une nuit" is an answer.

For the languages whose models know few answers of houses and shops; those of English and Vietnamese learned enough.
"""

from __future__ import annotations

import re
from functools import cache

from assay.text.late_pattern import LatePattern

_DENIALS = {
    "fr": (
        r"\b(?:ne|n'|pas|aucune?s?|rien|jamais|ni|sans|non|impossible\w*|incapable\w*|inconnue?s?|introuvable\w*|ignor\w+"
        r"|desolee?s?|navree?s?|malheureusement|regrett\w+|crains|confidentiel\w*|secret\w*|hors|depass\w+|sort|interdite?s?"
        r"|refus\w+|manqu\w+|insuffisan\w+|indisponible\w*|reservee?s?|muet\w*|silenc\w+|prefer\w+|seule?\w*|uniquement"
        r"|echou\w+|erreur|limite\w*|flou\w*|vague\w*|doute\w*)"
    ),
    "de": (
        r"\b(?:nicht|kein\w*|nichts|nie\b|niemand\w*|nirgend\w*|leider|unmoglich|unbekannt|unklar|ungewiss|ohne|weder"
        r"|vertraulich\w*|geheim\w*|fehl\w+|mangel\w*|uberfrag\w*|uberfordert|verweiger\w*|ablehn\w*|unzureichend\w*|nur"
        r"|ausschliesslich|schweig\w*|entzieh\w*|ausser\w*|gesperrt|verwehrt|verboten|untersagt|bedau\w*|leid|entschuldig\w*"
        r"|passen|muss passen|offen|lucke\w*|raten)"
    ),
    "es": (
        r"\b(?:no|ni|nada|nadie|ningun\w*|nunca|jamas|sin|imposible|desconoc\w*|desconozco|ignor\w*|lament\w*|siento"
        r"|disculp\w*|perdon\w*|confidencial\w*|fuera|exced\w*|falt\w*|insuficient\w*|carec\w*|carezco|reservad\w*|secret\w*"
        r"|solo|unicamente|prohib\w*|deneg\w*|restring\w*|incapaz|error|calla\w*|silencio|duda\w*|vago\w*)"
    ),
    "pt": (
        r"\b(?:nao|nem|nada|ninguem|nenhum\w*|nunca|jamais|sem|impossivel|desconhec\w*|ignor\w*|lament\w*|infelizmente"
        r"|desculp\w*|confidencia\w*|fora|falt\w*|insuficient\w*|carec\w*|reservad\w*|sigilos\w*|secret\w*|so|apenas"
        r"|somente|proib\w*|negad\w*|restrit\w*|incapaz|erro|cala\w*|silencio|duvida\w*|omiss\w*)"
    ),
    "ja": (
        r"ない|なく|なかった|ません|ませぬ|かね|ずに|ぬ|不|未|無|非|機密|秘密|控え|申し訳|残念|すみません|お断り|限ら|のみ|だけ"
        r"|エラー|失敗"
    ),
    "zh": r"不|没|無|无|未|非|保密|机密|秘密|抱歉|遗憾|对不起|难以|难|缺|只能|仅|暂|错误|失败|空白",
}
"""What denies, in folded text; in Japanese and Chinese parts of words."""


_FIRST_PERSON = LatePattern(r"nous |wir |nosotros |nosotras |nos |我们|私ども|当館|当店")


def says_what_we_do(text: str, language: str) -> bool:
    """Return whether a prepared text begins with "we" and holds no word that denies; False for languages whose models
    need no such rule.

    >>> texts = ("nous facturons une nuit.", "nous n'avons pas cette information.", "le spa ouvre.")
    >>> [says_what_we_do(text, "fr") for text in texts]
    [True, False, False]
    """
    if language not in _DENIALS or _FIRST_PERSON.match(text) is None:
        return False
    return _load_pattern(language).search(text) is None


@cache
def _load_pattern(language: str) -> re.Pattern[str]:
    return re.compile(_DENIALS[language])
