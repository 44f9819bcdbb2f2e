"""Answers that only the wording calls a refusal, and that say what is so: they rule out what was asked, or name who.

"Expeditions fall outside the policy." answers whether expeditions are insured, and "The medical service decides that."
answers who decides: nobody declines to tell anything. Such an answer is one short sentence about what its question
names, without a speaker, without documents, and without a word of telling, knowing or access. For the languages of
which such words are known. The patterns are for text prepared by `normalise_answer`.
"""

from __future__ import annotations

import re
from functools import cache

from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity import Quantity, is_plain, is_telephone_number
from assay.text.quantities.units import TIME
from assay.text.refusals.lexicons_in_use import select_rules
from assay.text.refusals.refusal_lexicon import RefusalLexicon
from assay.text.refusals.refusal_rules import find_lexicon
from assay.text.refusals.refusing_words import denies_or_tells
from assay.text.refusals.wording_features import mark_words
from assay.text.segmentation import normalise_answer

_MOST_WORDS = 16
_FEWEST_WORDS = 3
_SEVERAL_PARTS = LatePattern(r"[.!?;:…¶]\s*\S|[\"“”„«»()\[\]{}|=`–—]")
_ASKED = "Q"
_NUMBER_MARK = "#"
_FIGURE = compile_pattern(r"\d+")
_DECIMAL = compile_pattern(r"\d[.,]\d")
_ASKS_FOR_TIME = LatePattern(
    r"\b(?:when|what time|hours?|times?|timetable|schedule|open\w*|clos\w*|start\w*|begin\w*|end|ends|until|leave\w*"
    r"|depart\w*|arriv\w*|wann|\w*uhr\w*|\w*zeit\w*|offnet|schliesst|beginnt|endet|fahrt|quand|heures?|horaires?"
    r"|ouvr\w*|ferm\w*|commence\w*|cuando|horas?|horarios?|abre\w*|cierra\w*|empieza\w*|sale|quando|fecha\w*"
    r"|comeca\w*|gio|luc nao|khi nao|bao gio)\b"
)
"""A question for a time of day; otherwise such a time is when somebody can be asked."""
_ASKS_FOR_NUMBER = LatePattern(
    r"\b(?:(?:phone|telephone|mobile|contact|your|their) number|(?:which|what) number(?! of)"
    r"|number (?:of|for) (?:the|your|our|an?)"
    r"|(?:who|whom|how|where)\b.{0,30}\b(?:i|we|you|one|to) (?:call|phone|ring|telephone|contact|reach)"
    r"|(?:telefon|ruf|notruf|handy|service|kontakt|welche )nummer|nummer (?:der|des|vom|von|fur)"
    r"|(?:wie|wo|wen)\b.{0,30}\b(?:erreich|anruf|ruf)\w*|numero (?:de telephone|d[eu]s? l'|du|de la|des|pour)"
    r"|(?:comment|qui|ou)\b.{0,30}\b(?:joindre|appeler|contacter)|numero (?:de tele[fp]\w+|del|do|da)"
    r"|(?:como|quien|donde|quem)\b.{0,30}\b(?:llam\w+|contact\w+|lig[ao]r?)"
    r"|so dien thoai|duong day nong|goi (?:so|dien|ai|cho ai)|lien he)\b|電話|电话|連絡|联系"
)
"""A question that a telephone number answers; a number of guests and a phone that is insured are others."""
_OURS = frozenset(("our", "notre", "nos"))
"""Whose things are spoken of, which makes nobody a speaker."""
_EXCLUDES = {
    "en": (
        r"\b(?:(?:is|are|was|were) (?:not|no longer) (?:\w+ly )?(?:an? |any )?(?:part of|subject to|insured"
        r"|transferable|refundable|eligible|suitable|possible|allowed|permitted|accepted|Q"
        r"|(?:(?:within|in|under|among|included|covered)(?: in| by| under)?(?= (?:the |your |our )?Q| \.$|$)))"
        r"|(?:do|does) not (?:belong|fall under|come under|come with|count|extend|reach|run|apply|qualify)"
        r"|(?:is|are|falls?|lies?|stays?|remains?) (?:well |clearly |just )?(?:(?:outside|beyond)(?! what)|excluded"
        r"|exempt|left out|barred)|(?:is|are) (?:reserved|restricted|limited|tied) to"
        r"|Q (?:ends?|stops?|begins?|starts?) (?:at|with)"
        r"|only (?:the |an? )?(?:\w+ ){1,3}(?:may|can|could|is allowed to|are allowed to))\b"
    ),
    "de": (
        r"\b(?:(?:gehort|gehoren|zahlt|zahlen|fallt|fallen) (?:\w+ )?nicht|(?:ist|sind|wird|werden) .{0,40}\bnicht"
        r" (?:\w+ ){0,4}(?:enthalten|inbegriffen|\w*versichert|gedeckt|ubertragbar|erstattungsfahig|moglich|erlaubt"
        r"|zulassig|gestattet)|ausserhalb|ausgeschlossen|ausgenommen|vorbehalten"
        r"|(?:endet|enden|beginnt|beginnen|reicht|reichen) (?:an|am|bei|beim|mit|vor|erst)"
        r"|(?:kann|konnen|darf|durfen) (?:\w+ )?(?:nur|allein|ausschliesslich))\b"
    ),
    "fr": (
        r"\b(?:n'entre|n'entrent|ne fait|ne font|ne va|ne vont) pas\b"
        r"|\b(?:n'est|ne sont|n'etait) pas (?:\w+ )?(?:compris|inclus|assure|couvert|cessible|remboursable|autorise"
        r"|permis|possible|admis)|\b(?:hors d|exclu|reserve|s'arrete|commence)|\bseule?s? (?:l[ea]s? |l')"
    ),
    "es": (
        r"\bno (?:forma|forman|entra|entran) (?:parte|en)\b|\bno (?:esta|estan|va|van) (?:incluid|cubiert|asegurad)"
        r"|\b(?:quedan? fuera|excluid|reservad)|\b(?:termina|acaba|empieza|comienza)n? (?:en|con|a)\b"
        r"|\bsolo (?:el|la|los|las|lo) "
    ),
    "pt": (
        r"\bnao (?:faz|fazem|entra|entram) (?:parte|em|no|na)\b|\bnao (?:esta|estao) (?:incluid|cobert|segurad)"
        r"|\b(?:ficam? fora|excluid|reservad)|\b(?:termina|acaba|comeca)m? (?:em|no|na|com|a)\b|\bso (?:o|a|os|as) "
    ),
    "vi": (
        r"\b(?:khong (?:thuoc|nam trong|gom|bao gom|duoc tinh|ap dung)|ngoai (?:pham vi|vung|khu vuc|hop dong|goi)"
        r"|danh rieng|chi danh cho|chi (?:\w+ ){1,5}moi|bat dau tu|dung o|ket thuc o)\b"
    ),
}
"""By language, how a sentence rules something out, or says where it ends or who alone may do it."""
_COVERS_BUT_NOT = {
    "en": r"\bQ (?:includes?|covers?|contains?|comes? with) (?:[\w,]+ ){1,12}but not (?:\w+ )?Q",
    "de": (
        r"\bQ (?:umfasst|umfassen|enthalt|enthalten|beinhalte\w*|deckt) (?:[\w,]+ ){1,12}"
        r"(?:aber nicht|nicht aber|jedoch nicht|nicht jedoch|aber kein\w*) (?:\w+ )?Q"
    ),
    "fr": r"\bQ (?:comprend|comprennent|inclut|incluent|couvre\w*) (?:[\w,']+ ){1,12}mais pas (?:\w+ )?Q",
}
"""By language, how a sentence leaves one thing that is asked out of what another one includes."""
_ASKS_WHO = {
    "en": r"\b(?:who|whom|whose|which)\b",
    "de": r"\b(?:wer|wem|wen|welche\w*)\b",
    "fr": r"^(?:\w+ )?qui\b",
    "es": r"^\W*(?:\w+ )?quien\w*\b",
    "pt": r"^(?:\w+ )?quem\b",
    "vi": r"^(?:\w+ )?ai\b|^\w+ nao (?:co|duoc|cho|gom)\b",
}
_LEAVES_OPEN = {
    "en": (
        r"\b(?:me|mine|us|you|your|yours|here|visible|private|role|log\w*|data\w*|table|directory|index|feed"
        r"|booklet|entry|entries|tool|chat\w*|system|catalogue|list|map|plan|calendar|timetable|study|paper|recipe|series"
        r"|search|question|information|details?|forecast\w*|until|yet|events?)\b"
    ),
    "vi": r"\b(?:bot|biet|ro|chua|quyen|truy cap|bang|danh sach|lich|so do|ban do|he thong|cau hoi|nay|do)\b",
    "pt": r"\b(?:descricao|lista|mapa|tabela|isso|isto)\b",
    "es": r"\b(?:descripcion|lista|mapa|tabla|periodicos|eso|esto)\b",
    "fr": r"\b(?:description|liste|carte|plan|tableau|calendrier|etude|cela)\b",
    "de": r"\b(?:fragen?|auskunft|liste|karte|plan|tabelle|kalender|verzeichnis|studie|arbeit|chronik|dies\w*)\b",
}
"""Who is spoken to, and where something is written or asked: what ends or is left out there is not told."""
_ASKS_TO_SEE = LatePattern(
    r"\b(?:see|read|view|show|send|give me|tell|get|have (?:a|the)|know|look up|sehen|lesen|einsehen|zeigen|schicken"
    r"|senden|sagen|nennen|geben sie|voir|lire|consulter|montre\w*|envoye\w*|donne\w*|dire|ver|leer|consultar"
    r"|muestra\w*|envia\w*|decir|dime|da\w*me|ler|mostr\w*|dizer|xem|doc|cho (?:toi|em|minh|xin)|gui|biet)\b"
)
"""Who asks to see something is denied it by what otherwise rules out: "The files are reserved to members."."""
_KNOWLEDGE = LatePattern(
    r"\b(?:sa(?:y|ys|id)|tells?|told|mention\w*|stated?|states|specif\w*|knows?|known|find|found"
    r"|information|details?|un(?:clear|known)"
    r"|nennt|genannt|sagt|steht|erwahn\w*|angegeben|angaben?|bekannt|weiss|gefunden|finden"
    r"|dit|indiqu\w*|precise\w*|connu\w*|trouv\w*|sait|dice|diz|consta|indica\w*|figura\w*|encontr\w*|sabe"
    r"|noi|ghi|neu|de cap|nhac|biet|ro|thay|tim|thong tin)\b"
)
"""Words of telling and knowing in all languages."""


def rules_out(answer: str, question: str, lexicon: RefusalLexicon) -> bool:
    """Return whether an answer to one question whether something is so says in one short sentence that it is not, or
    for whom, or up to where.

    >>> from assay.text.refusals.lexicon_file import load_shipped_lexicon
    >>> english, question = load_shipped_lexicon("en"), "Does the lease include the paddock?"
    >>> rules_out("The paddock lies outside the lease.", question, english)
    True
    >>> rules_out("The paddock lies outside what I can read.", question, english)
    False
    """
    text, asked = normalise_answer(answer).strip(), normalise_answer(question).strip()
    language = lexicon.language
    if language not in _EXCLUDES and language not in _COVERS_BUT_NOT:
        return False
    is_open = lexicon.patterns["questions.open"].search(asked) is not None
    if is_open or asked.count("?") != 1 or _ASKS_TO_SEE.search(asked) is not None:
        return False
    marked = " ".join(mark_words(text, asked, language))
    return _leaves_out(marked, lexicon) or _excludes(text, asked, marked, lexicon)


def _leaves_out(marked: str, lexicon: RefusalLexicon) -> bool:
    """Whether an answer begins with what something includes and says that the thing asked about is not of it; both are
    named by the question, unlike a leaflet that says nothing."""
    language = lexicon.language
    if language not in _COVERS_BUT_NOT or _load(_COVERS_BUT_NOT[language]).search(marked) is None:
        return False
    return _KNOWLEDGE.search(marked) is None and lexicon.patterns["subjects.speaker"].search(marked) is None


def _excludes(text: str, asked: str, marked: str, lexicon: RefusalLexicon) -> bool:
    """Whether one short sentence says that what is asked about is excluded, or for whom, or up to where it holds."""
    language = lexicon.language
    if language not in _EXCLUDES or _load(_LEAVES_OPEN[language]).search(text) is not None:
        return False
    is_excluded = any(_load(_EXCLUDES[language]).search(words) for words in (marked, text))
    return is_excluded and _is_one_statement(text, asked, lexicon)


def names_who(answer: str, question: str, lexicon: RefusalLexicon) -> bool:
    """Return whether an answer to who or which says so in one short sentence, without a word that denies or tells.

    >>> from assay.text.refusals.lexicon_file import load_shipped_lexicon
    >>> english, question = load_shipped_lexicon("en"), "Who releases the deposit?"
    >>> names_who("The letting office releases it.", question, english)
    True
    >>> names_who("Who releases it remains a mystery.", question, english)
    False
    """
    text, asked = normalise_answer(answer).strip(), normalise_answer(question).strip()
    language = lexicon.language
    if language not in _ASKS_WHO or asked.count("?") != 1 or _load(_ASKS_WHO[language]).search(asked) is None:
        return False
    others = " ".join(mark_words(text, asked, language))  # "decides" hands nothing over where it is asked who decides
    return not denies_or_tells(others, language) and _is_one_statement(text, asked, lexicon)


def states_value(answer: str, question: str, lexicon: RefusalLexicon) -> bool:
    """Return whether an answer states a value of what its question names, and holds no word that denies or tells, no
    speaker and no documents: nothing of it declines.

    A number without a unit is a value only with decimals: "Room 214" is none. A time of day is one where it is asked
    for: "Repairs are a topic for the desk, open 8:00 to 17:00" tells no cost.

    >>> from assay.text.refusals.lexicon_file import load_shipped_lexicon
    >>> english, question = load_shipped_lexicon("en"), "How high is the tuition?"
    >>> states_value("Tuition is €1,500. The contribution of €168 comes on top of that.", question, english)
    True
    >>> states_value("Tuition is among the €1,500 that nobody will explain.", question, english)
    False
    """
    text, asked = normalise_answer(answer).strip(), normalise_answer(question).strip()
    words = mark_words(text, asked, lexicon.language)
    others = " ".join(word for word in words if word not in _OURS and not word.startswith(_NUMBER_MARK))
    if _ASKED not in words or denies_or_tells(others, lexicon.language) or _names_speaker_or_documents(others, lexicon):
        return False
    asked_figures = set(_FIGURE.findall(question))
    measures = [measure for measure in find_measures(answer) if _is_value(measure, answer)]
    if _ASKS_FOR_TIME.search(asked) is None:
        measures = [measure for measure in measures if all(own.dimension != TIME for own in measure.readings)]
    spans = (answer[measure.start : measure.end] for measure in measures)
    return any(not asked_figures.issuperset(_FIGURE.findall(span)) for span in spans)


def gives_number(answer: str, question: str) -> bool:
    """Return whether an answer has a telephone number that its question asks for: "Please call 0151 440" then hands
    nothing over.

    >>> gives_number("Please call 0151 440 2290.", "What is the number of the night desk?")
    True
    >>> gives_number("Please call 0151 440 2290.", "How long is the warranty?")
    False
    """
    if _ASKS_FOR_NUMBER.search(normalise_answer(question)) is None:
        return False
    asked_figures = set(_FIGURE.findall(question))
    numbers = (answer[number.start : number.end] for number in find_measures(answer) if is_telephone_number(number))
    return any(not asked_figures.issuperset(_FIGURE.findall(number)) for number in numbers)


def _is_value(measure: Quantity, answer: str) -> bool:
    if is_plain(measure):
        return _DECIMAL.search(answer, measure.start, measure.end) is not None
    return not is_telephone_number(measure)


def speaks_of_knowledge(answer: str, question: str) -> bool:
    """Return whether a speaker, documents or a word of telling and knowing occur in an answer, as in an abstention.

    >>> speaks_of_knowledge("I never saw it.", "Where?"), speaks_of_knowledge("The ferry ends at Jura.", "Where?")
    (True, False)
    """
    text = normalise_answer(answer)
    lexicon = find_lexicon(select_rules(answer), f"{text} {normalise_answer(question)}")
    return _KNOWLEDGE.search(text) is not None or (lexicon is not None and _names_speaker_or_documents(text, lexicon))


def _names_speaker_or_documents(text: str, lexicon: RefusalLexicon) -> bool:
    return any(lexicon.patterns[name].search(text) for name in ("subjects.speaker", "subjects.documents"))


def _is_one_statement(text: str, asked: str, lexicon: RefusalLexicon) -> bool:
    """Whether a text is one short sentence of the thing asked, in which neither the speaker nor documents occur."""
    if not _FEWEST_WORDS <= len(text.split()) <= _MOST_WORDS or _SEVERAL_PARTS.search(text):
        return False
    words = mark_words(text, asked, lexicon.language)  # a contract that is asked about is no source
    others = " ".join(word for word in words if word not in _OURS)
    return _ASKED in words and not _names_speaker_or_documents(others, lexicon)


@cache
def _load(pattern: str) -> re.Pattern[str]:
    return compile_pattern(pattern)
