"""Words that deny, without which "we do so and so" is no refusal: "Nous facturons une nuit" is an answer.

For the languages whose models know few answers of houses and shops; those of English and Vietnamese learned enough.
"""

from __future__ import annotations

import re
from functools import cache

from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern

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


_TELLING = {
    "en": (
        r"\b(?:not|no|non(?! ?-)|none|nor|never|neither|nothing|nobody|nowhere|cannot|\w{1,10}n't|without|zero|zilch"
        r"|nil|null|n|tb[acdn]|un(?!der|it|til|ion|ique|ivers)\w+"
        r"|in(?:sufficient|complete|conclusive|determinate|accessible|visible|definite|capable)\w*"
        r"|im(?:possible|precise)|il(?:legible|legal)|lack\w*|miss\w+|absen\w+|blank\w*|empt\w+|silen\w+|mute"
        r"|quiet|omit\w*|skip\w*|leav\w+|left|fail\w*|errors?|down|timed|offline|broken?|garbled|crash\w*"
        r"|crop\w*|torn|faded|blur\w+|smudged|lost|burn\w*|destroyed|erased|purged|gone|gap|abort\w*|beyond"
        r"|outside|out|off|beats|myster\w+|guess\w*|idea|clue|wonder|dunno|anyone's|obscure|hint\w*|somewhere"
        r"|vague\w*|restrict\w*|confidential\w*|private\w*|privacy|secre\w+|seal\w*|lock\w*|closed"
        r"|den(?:y|ie)\w*|declin\w*|refus\w*|withh\w+|withdr\w+|protect\w*|privilege\w*|embargo\w*|classified"
        r"|sensitive|proprietary|anonym\w*|redact\w*|hid\w+|suppress\w*|mask\w*|shield\w*|stripped|access"
        r"|clearance|permi(?!um)\w+|forbid\w*|prohibit\w*|scope|role|log|login|authori[sz]\w+|entitled|allowed"
        r"|visible|disclos\w*|shared?|released?|eyes|reserved|law|limited|block\w*|disabled|badge|behind"
        r"|between|stays?|keeps?|kept|40[13]|sorry|afraid|apolog\w*|regret\w*|sadly|alas|hmm|nice|ha|pending"
        r"|yet|still|until|planned|future|forecasts?|please|contact\w*|ask\w*|hand\w*|pass(?:ed|ing)?"
        r"|transfer\w*|escalat\w*|forward\w*|connect\w*|refer\w*|ring|call\w*|see|take|colleagues?|someone"
        r"|specialist|experts?|doctors?|lawyers?|human|person\w*|ticket\w*|need\w*|must|ha[sd] to|have to"
        r"|should|decid\w*|determine\w*|up to|over to|judge\w*|best|told|paged|say|says|said|mention\w*"
        r"|stat(?:es?|ed|ing)|tell\w*|nam(?:es?|ed|ing)|list\w*|describ\w*|record\w*|specif\w*|know\w*"
        r"|answer\w*|question\w*|find\w*|found|search\w*|look\w*|shows?|shown|whether|which|only|just|merely"
        r"|alone|ends?|stops?|breaks?|begins?(?! with)|starts?(?! with)|instead|other|another|anyone|further"
        r"|exceed\w*|too|here)\b"
    ),
    "vi": (
        r"\b(?:khong|chua|chang|cha|dung|thieu|trong|vang|mo|kin|mat|rieng tu|quyen|cam|han che|loi|gioi han"
        r"|ngoai|chi|moi|rat tiec|tiec|xin|loi|hoi|lien he|chuyen|gap|goi|nho|noi may|bao mat|giau|an|khoa|can"
        r"|phai|quyet dinh|tuy|thuoc ve|ranh|ro|biet|noi|neu|ghi|nhac|de cap|tim|thay|tra loi|cau hoi"
        r"|thong tin|tai lieu|het|dung lai|dut|tam|dang|se|sau|tu choi|vuot|khac|nguoi khac|co le|doan|bi an"
        r"|chiu|bo tay|vui long|nen|hay|lang|im|phong toa|niem phong|rieng|bo ngo|quen|troc|rach|hu|bi"
        r"|cua co ay|du lieu)\b"
    ),
    "de": (
        r"\b(?:verschluss|tabu|anonym\w*|\w*schutz\w*|\w*geschutzt\w*|\w*geheim\w*|ungenannt|vergebens"
        r"|lediglich|geschwarzt|ausgeblendet|leer|vorbehalten|entscheid\w*|beurteil\w*|wenden"
        r"|rufen|fragen|bleib\w*|jenseits|hinter|endet|unterschlag\w*|verrat\w*|sagt|nennt|steht (?:im|in|auf)"
        r"|bekannt|weiss|meldet|wenig\w*|verborgen|diskret\w*|chefsache|zustandig\w*|anderswo|woanders|bislang|bisher|noch"
        r"|reserviert|ratsel\w*|schuldig|luckenhaft|zugriff\w*|einsicht\w*|befug\w*|berechtig\w*|freigegeben|vorlieg\w*"
        r"|un(?!d\b|ter|ser|iv|ion)\w{5,})\b"
    ),
    "fr": (
        r"\b(?:guere|soustrai\w*|absente?s?|illisible\w*|cachee?s?|caviarde\w*|vie privee|perdu\w*|reste\w*|relev\w+"
        r"|dit|dire|sait|mentionn\w*|indiqu\w*|precis\w*|efface\w*|faim|mystere|demand\w*|contact\w*|appel\w*|decid\w*"
        r"|priv\w*|acces|ailleurs|encore|renseign\w*|communiqu\w*|divulg\w*|transm\w*|adress\w*|vides?|blanc|taire|lacun\w*"
        r"|opaque|echapp\w*|in(?:certain|determin|accessib|complet|connu)\w*)\b"
    ),
    "es": (
        r"\b(?:ilegible\w*|blindad\w*|ocult\w*|omit\w*|vaci[oa]\w*|tapad\w*|blanco|ausente\w*|exclusivamente"
        r"|reserva|sabr\w*|deriv\w*|preguntar\w*|dice\w*|consta\w*|figura\w*|mencion\w*|indica\w*|contact\w*"
        r"|llam\w*|decid\w*|privad\w*|acceso|aun|todavia|pendient\w*|consult\w*|dirij\w*|huec\w*|lagun\w*|escap\w*"
        r"|in(?:ciert|determin|accesib|complet)\w*)\b"
    ),
    "pt": (
        r"\b(?:indisponiv\w*|mascarad\w*|sigilo\w*|segredo|vedad\w*|trancad\w*|abste\w*|deixam?|ilegiv\w*"
        r"|omit\w*|vazi\w*|ausente\w*|sabe\w*|diz\w*|consta\w*|mencion\w*|indica\w*|contact\w*|lig\w*|decid\w*"
        r"|privad\w*|acesso|ainda|pendent\w*|consult\w*|dirij\w*|lacun\w*|escap\w*|in(?:cert|determin|acessi|complet)\w*)\b"
    ),
}
"""Words of telling, of access and of what is missing, beyond those that deny: with one of them nothing is sure."""

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
    return _load_pattern(_DENIALS[language]).search(text) is None


def denies_or_tells(text: str, language: str) -> bool:
    """Return whether a prepared text holds a word that denies, or one of telling, of access or of what is missing; True
    for a language of which such words are not known.

    >>> [denies_or_tells(text, "en") for text in ("the crew decides.", "the crew cleans the hall.")]
    [True, False]
    """
    if language not in _TELLING:
        return True
    lists = (words[language] for words in (_DENIALS, _TELLING) if language in words)
    return any(_load_pattern(words).search(text) is not None for words in lists)


@cache
def _load_pattern(words: str) -> re.Pattern[str]:
    return compile_pattern(words)
