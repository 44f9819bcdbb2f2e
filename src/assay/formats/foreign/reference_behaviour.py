"""What the reference of a row expects an answer to do, where the row itself does not say.

A reference is the answer as a rule. Some references are refusals or questions back themselves, some deny access to what
is asked or say who alone may know it ("Restricted to staff."), and some describe what the system should do ("The
assistant should ask which campus."). The same words can be an answer: "Restricted to staff." to who may park, and "The
bot should ask back." to how it reacts. Where a question fits both readings, the reference stays an answer and is named.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from assay.records.golden_set import Behaviour
from assay.text.facts.expected.yes_or_no import asks_whether
from assay.text.facts.reading.read_text import ReadText
from assay.text.late_pattern import LatePattern
from assay.text.numbers import find_dates
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.measures import find_measures
from assay.text.refusals.behaviour import detect_behaviour
from assay.text.refusals.plain_statements import speaks_of_knowledge

Reading = Literal["answers", "abstains", "asks", "denies", "describes asking", "describes refusing", "may describe"]
"""How a reference is read; `may describe`: it may be the answer, or a description of what the system should do."""


class ReferenceBehaviour(NamedTuple):
    """What a reference expects an answer to do, what else is accepted, and how the reference was read."""

    behaviour: Behaviour
    also_accept: tuple[Behaviour, ...]
    reading: Reading


_ANSWER = ReferenceBehaviour("answer", (), "answers")
_MOST_NAMING_WORDS = 2
"""A reference of so few words, such as "me", names what was asked unless one of its phrases is known to decline."""
_QUESTION_ALONE = compile_pattern(r"""[^:"“”«»„]{1,300}\?\s*""")
"""A question that is not reported: "He asks: who goes there?" is an answer."""


def read_reference_behaviour(reference: str, question: str) -> ReferenceBehaviour:
    """Return what a reference expects an answer to do.

    A reference abstains that has a phrase of a refusal, or speaks of a speaker or of documents and reads like one: what
    only reads like one may state something, and then an answer is expected. One that denies access names no user and
    nothing forbidden, which a case of `permission_denied` needs: it is to abstain or to deny.

    >>> read_reference_behaviour("The assistant should ask which campus.", "Where is the lab?").behaviour
    'clarify'
    >>> read_reference_behaviour("Restricted to staff.", "What does a dean earn?")[:2]
    ('abstain', ('permission_denied',))
    >>> read_reference_behaviour("Restricted to staff.", "Where may I park?").reading
    'may describe'
    """
    if is_denied_by(reference, question):
        return ReferenceBehaviour("abstain", ("permission_denied",), "denies")
    described = _read_description(reference, question)
    if described == "describes asking":
        return ReferenceBehaviour("clarify", (), described)
    if described == "describes refusing":
        return ReferenceBehaviour("abstain", ("permission_denied",), described)
    detected = detect_behaviour(reference, question=question)
    if detected.behaviour == "clarify" and _QUESTION_ALONE.fullmatch(reference):
        return ReferenceBehaviour("clarify", (), "asks")
    is_refusal = detected.behaviour == "abstain" and not detected.has_substantive_claim
    is_by_wording = not detected.phrase and (
        len(reference.split()) <= _MOST_NAMING_WORDS or not speaks_of_knowledge(reference, question)
    )
    if is_refusal and not is_by_wording:
        return ReferenceBehaviour("abstain", (), "abstains")
    return _ANSWER._replace(reading=described)


_THING = r"(?:this|that|it|these|those|them)(?: (?:information|data|documents?|files?|contents?|records?))?"
_SEE_IT = r"(?:see|view|read|access|open|know|have|get|be (?:shown|told|given))"
_READER = "(?:you|(?:the|this) user)"
_MAY_NOT = "(?:may not|must not|mustn't|cannot|can't|can not|should not)"
_ALLOWED = "(?:allowed|permitted|authori[sz]ed|entitled|cleared)"
_TELL = r"(?:told|said|shown|shared|disclosed|revealed|passed on|mentioned|communicated)"
_TO_WHOM = r"(?: to (?:the |any |our |other |this |these )?[\w-]+(?: [\w-]+)?)?"
_ACCESS = r"(?:access|permissions?|authori[sz]ation|clearance|rights)"
_DENIALS = (
    rf"(?:{_THING} )?{_MAY_NOT} be {_TELL}{_TO_WHOM}|(?:{_THING} is )?not to be {_TELL}{_TO_WHOM}",
    rf"(?:do not|don't|never) (?:tell|show|share|disclose|reveal|pass on)(?: {_THING})?{_TO_WHOM}",
    "(?:ceci |cela )?ne (?:doit|peut) pas être (?:dit|communiqué|divulgué|montré|révélé|partagé)e?"
    r"(?: (?:aux?|à (?:la|un|une)) [\w-]+)?",
    "(?:darf|soll) (?:gästen |kunden |niemandem )?nicht (?:gesagt|gezeigt|mitgeteilt|weitergegeben) werden",
    r"không được (?:nói|tiết lộ|cung cấp|cho biết|chia sẻ)(?: (?:cho|với) [\w ]{1,30})?",
    rf"{_READER} {_MAY_NOT} {_SEE_IT} {_THING}",
    rf"{_READER} (?:are|is) not {_ALLOWED} (?:to {_SEE_IT}|for) {_THING}",
    rf"(?:{_THING} is )?not (?:{_ALLOWED}|visible|accessible)(?: (?:for|to) {_READER})?",
    rf"no {_ACCESS}|{_ACCESS} (?:is |are )?(?:denied|refused|restricted)|insufficient {_ACCESS}"
    "|denied|forbidden|confidential|restricted|not (?:disclosed|released|for you)",
    "kein(?:e|en)? (?:zugriff|zugang|zutritt|berechtigung|freigabe|rechte?)"
    "|(?:zugriff|zugang|zutritt) (?:verweigert|verboten|gesperrt|beschränkt)|nicht (?:freigegeben|berechtigt|befugt)"
    "|nur (?:für (?:den )?)?(?:internen|dienstlichen) gebrauch|nur intern",
    "accès (?:refusé|interdit|restreint|réservé)|(?:pas d'|aucun |aucune )(?:accès|autorisation|permission)"
    "|non (?:autorisée?|communiquée?|habilitée?)|(?:à |pour )?usage interne(?: uniquement)?",
    "acceso (?:denegado|restringido|prohibido)|sin (?:acceso|permiso|autorización)|no autorizad[oa]|uso interno",
    "das (?:darfst du|dürfen sie|darf der nutzer) nicht (?:sehen|lesen|wissen|einsehen)",
    "(?:bạn|anh|chị|người dùng(?: này)?) không (?:được(?: phép)?|có quyền) (?:xem|đọc|biết)"
    "(?: (?:điều|nội dung|thông tin|tài liệu))? (?:này|đó)",
    "không (?:được phép|có quyền)(?: (?:truy cập|xem|đọc|biết))?|từ chối truy cập|chỉ (?:dùng |lưu hành )?nội bộ",
)
_DENIAL = LatePattern(rf"(?:(?:sorry|unfortunately),? )?(?:{'|'.join(_DENIALS)})[.!]?", re.IGNORECASE)
"""A denial and nothing else, of what was asked and of nothing that it names itself."""
_LIMIT = compile_pattern(r"\b(?:until|till|unless|except|bis|außer|cho đến|trừ)\b", re.IGNORECASE)
"""Words of a limit: what is denied until a day, or to all but some, is an answer."""
_ASKS_FOR_TEXT = compile_pattern(
    r"\b(?:which|what(?: is the| does the)?|welche[rmns]?|was für eine?n?|quel(?:le)?s?)(?: [\w-]+){0,2}? "
    r"(?:errors?|warnings?|messages?|exceptions?|notices?|[\w-]*fehler|[\w-]*meldung(?:en)?|erreurs?|messages?)\b"
    r"|\b(?:lỗi|thông báo)(?: [\w]+){0,2} (?:nào|gì)\b"
    r"|\bwhat (?:do|does|did|will)\b[^?]{1,80}\b(?:mean\s*\?|print\b|display\b|show\b)"
    r"|\bwas (?:zeigt|meldet)\b|\bqu'affiche\b|\bqué (?:muestra|aparece)\b|\bhiển thị\b"
    r"|\bwhat (?:do|does|did) [^?]{0,40}\b(?:sign|banner|label|stamp|screen|sticker|poster|plate)s?\b[^?]{0,40}"
    r"\b(?:say|read)\s*\?|\bwas (?:bedeutet|heißt)\b|\bwas steht auf (?:dem schild|der tafel)\b"
    r"|\bque (?:signifie|veut dire)\b|\bqué (?:significa|dice el (?:cartel|letrero))\b|\bnghĩa là gì\b"
    r"|\bbiển (?:báo )?[^?]{0,40}ghi gì\b",
    re.IGNORECASE,
)
"""A question for the words of a system or a sign, or what a word means: "Access denied" is their answer."""
_ASKS_KIND = compile_pattern(
    r"\b(?:what|which) (?:kind|type|sort|class|category|level|status|section)\b|\bwhat (?:is|was) the outcome\b"
    r"|\b(?:code ?name|title|classif\w*|confidentiality|secrecy|rating|marking|label)\b|\bwelche art\b"
    r"|\b\w*titel\b|\beingestuft\b"
    r"|\b(?:quel type|quelle sorte|quel est le titre|classée?s?)\b|\bqué (?:tipo|clase) de\b|\bloại\b",
    re.IGNORECASE,
)
"""A question of what kind something is, how it is classified or called: "Private." may be its answer."""
_OF_STATE = compile_pattern(r"[\W_]*(?:(?:strictly|highly|top|streng|strictement|tuyệt) )?[^\W\d_]+[\W_]*")
"""One word, such as "Confidential.", perhaps with another for its degree."""
_SPOKEN = compile_pattern(
    r"\b(?:I|we|you|your|ich|wir|du|dir|sie|ihnen|tôi|chúng tôi|bạn|anh|chị)\b|\bthis (?:information|data|document)\b",
    re.IGNORECASE,
)
"""Words of who denies to whom: without them a text says how access is regulated, which may be what was asked."""


def is_denied_by(reference: str, question: str) -> bool:
    """Return whether a reference denies access to what is asked, and says nothing else.

    The answer to whether somebody may see something is no denial, and neither are one with a value of its own and the
    words of an error message that the question asks for. Such a row names no user and nothing forbidden, which a case
    of `permission_denied` needs: it is to abstain or to deny.

    >>> is_denied_by("I cannot share that.", "Who owes rent?"), is_denied_by("You may not see this.", "May I see it?")
    (True, False)
    """
    if asks_whether(ReadText(question)) or _ASKS_FOR_TEXT.search(question) or _LIMIT.search(reference):
        return False
    if _may_be_kind(reference, question):
        return False
    if _DENIAL.fullmatch(" ".join(reference.split()).replace("’", "'")):
        return True
    detected = detect_behaviour(reference, question=question)
    if detected.behaviour != "permission_denied" or detected.has_substantive_claim:
        return False
    return bool(_SPOKEN.search(reference)) and not find_measures(reference) and not find_dates(reference)


def _may_be_kind(reference: str, question: str) -> bool:
    """Return whether a reference of one word may be what its question asks for: "Private." of a kind of road."""
    return _OF_STATE.fullmatch(reference) is not None and _ASKS_KIND.search(question) is not None


_SYSTEMS = (
    r"(?:(?:the |our |this |an? )?(?:(?:ai|chat|virtual|voice|right|correct|expected) ?)?"
    r"(?:assistant|chatbot|bot|system|model|llm|ai|agent|answer|response|reply)"
    r"|(?:der |das |die )?(?:ki-?|chat)?(?:assistent|bot|system|modell|ki|agent|antwort)"
    r"|(?:trợ lý(?: ảo| ai)?|(?:chat)?bot|hệ thống|mô hình|câu trả lời)"
    r"|(?:l'assistant|le (?:chat)?bot|le système|le modèle|l'ia|l'agent|la réponse)"
    r"|(?:el asistente|el (?:chat)?bot|el sistema|el modelo|la ia|el agente|la respuesta))"
)
"""What answers, in the third person."""
_SHOULD = (
    r"(?:should|must|needs? to|has to|ought to|shall|would have to|is (?:expected|supposed|required|meant) to)"
    r"(?: (?:first|then|always|instead|therefore|rather|please)){0,2}"
)
_SOLL = r"(?:soll(?:te)?|muss|müsste|hat|hätte)"
_NEN = r"(?:nên|phải|cần|sẽ)(?: phải)?"
_DOIT = r"(?:doit|devrait|devra)(?: (?:d'abord|alors|plutôt|donc))?"
_DEBE = r"(?:debe|debería|deberá|tiene que)(?: (?:primero|antes|más bien))?"
_USER = (
    r"(?:user|customer|client|person|student|caller|guest|patient|employee|applicant)s?"
    r"(?=[.:;,!?]|$| (?:for|about|which|what|whether|if|to|back|who|when|where|how|first|again)\b)"
)
_WHICH = r"(?:which|what|whether|if|when|where|who|whose|how|for which)\b"
_LEQUEL = (
    r"(?:à l'utilisateur|à la personne|au client|de préciser|des précisions"
    r"|(?:de |à |pour |dans |en )?(?:quel(?:le)?s?|qui)\b|laquelle|lequel|s'il|si |ce qu|où|quand|combien)"
)
_CUAL = (
    r"(?:al usuario|a la persona|al cliente|(?:a |de |en |para |por )?(?:qué|cuál(?:es)?|quién)|si |dónde|cuándo"
    r"|cuánt)"
)
_QUESTION_BACK = r"(?:(?:clarifying|clarification|follow-up|counter|return)[ -]?questions?|question back|clarification)"
_ADVERBS = r"(?:(?:zuerst|erst|zunächst|hier|also|daher|deshalb|immer|vorher|aber|da|dazu|noch|einmal) ){0,3}"
_SYSTEM_ASKS_BACK = (
    rf"{_SYSTEMS} {_SHOULD} (?:ask|clarify|inquire|enquire|request|find out (?:from|{_WHICH}))\b",
    rf"{_SYSTEMS} (?:asks (?:the user |back )?|clarifies )(?:for )?{_WHICH}",
    rf"{_SYSTEMS} {_SHOULD} be (?:an? )?{_QUESTION_BACK}",
    rf"{_SYSTEMS} {_SOLL} [^.:;!?]{{0,60}}?\b(?:nach|zurück|rück|er)?(?:zu)?(?:fragen|klären|haken)\b",
    rf"{_SYSTEMS} {_NEN} (?:hỏi|làm rõ|xác nhận|đề nghị làm rõ)",
    rf"{_SYSTEMS} {_DOIT} (?:demander|faire préciser|clarifier|poser une question)",
    rf"{_SYSTEMS} {_DEBE} (?:preguntar|aclarar|repreguntar|pedir)",
)
_ASKS_BACK = (
    r"(?:should|must|needs to|has to|ought to) (?:first )?(?:ask|clarify|inquire|enquire)\b",
    rf"(?:please )?ask (?:the |back the )?{_USER}|(?:please )?ask back\b|(?:please )?ask {_WHICH}",
    rf"(?:please )?clarify (?:with the user|{_WHICH})",
    rf"(?:this )?(?:needs?|requires?|expects?|expected|wanted|asks? for):? (?:an? )?{_QUESTION_BACK}",
    rf"(?:an? )?{_QUESTION_BACK}(?: is| are)? (?:needed|required|expected|necessary|wanted)",
    rf"(?:es |hier |dazu |da )?(?:muss|müsste|soll|sollte) {_ADVERBS}(?:nach|zurück|rück)gefragt werden",
    r"(?:bitte )?(?:nach|zurück|rück)fragen\b|bitte nach [^.:;!?]{2,60} fragen\b|(?:rück|nach)frage (?:ist )?"
    r"(?:nötig|erforderlich|notwendig|erwartet|erwünscht)",
    r"(?:cần|nên|phải)(?: phải)? (?:hỏi lại|hỏi rõ|làm rõ)|hỏi lại\b|hỏi (?:rõ )?người dùng",
    rf"il (?:faut|faudrait) (?:d'abord )?(?:demander {_LEQUEL}|faire préciser)|demander {_LEQUEL}",
    r"(?:une )?(?:question en retour|demande de précision|clarification) (?:est )?(?:attendue|nécessaire|requise)",
    rf"(?:hay que|se debe|habría que) (?:primero )?preguntar {_CUAL}|preguntar {_CUAL}",
    r"(?:se )?(?:necesita|requiere) (?:una )?aclaración|(?:una )?(?:aclaración|repregunta) (?:necesaria|esperada)",
)
_ASKS_WHICH = LatePattern(rf"[.:;,!?–—-] ?(?:please )?ask {_WHICH}")
"""Behind something else that is said, "ask which guide is free" may be advice for the user."""
_CLAUSE_START = r"(?:^|[.:;,!?(–—-] ?)(?:(?:so|then|therefore|here|hence|and|also|daher|nên|donc|así que) )?"
_SYSTEM_DESCRIBED = LatePattern(rf"\b(?:{'|'.join(_SYSTEM_ASKS_BACK)})")
_ASKING_DESCRIBED = LatePattern(rf"{_CLAUSE_START}(?:{'|'.join(_ASKS_BACK)})")
_DESCRIBES_REFUSING = (
    rf"(?:{_SYSTEMS} )?{_SHOULD} (?:refuse|decline|deny|withhold|not (?:tell|disclose|answer|reveal|share|say|give))",
    rf"(?:{_SYSTEMS} )?(?:must not|mustn't|may not|should not|shouldn't|(?:should|must) never|cannot|can't"
    r"|is not (?:allowed|permitted|supposed) to) (?:tell|disclose|reveal|share|answer|say|give|show|provide|discuss)",
    rf"{_SYSTEMS} (?:darf|soll(?:te)?|kann) [^.:;!?]{{0,60}}?nicht (?:\w+ ){{0,2}}?"
    r"(?:sagen|verraten|nennen|preisgeben|weitergeben|herausgeben|offenlegen|mitteilen|beantworten|zeigen)",
    rf"(?:das|dies|dies\w+ \w+) (?:darf|soll(?:te)?) {_SYSTEMS} nicht (?:\w+ ){{0,2}}?"
    r"(?:sagen|verraten|nennen|preisgeben|weitergeben|herausgeben|offenlegen|mitteilen|beantworten|zeigen)",
    rf"{_SYSTEMS} {_SOLL} [^.:;!?]{{0,60}}?(?:ablehnen|verweigern)",
    rf"{_SYSTEMS} (?:không được|không nên|không thể)(?: phép)? (?:tiết lộ|nói|cung cấp|trả lời|chia sẻ|cho biết)",
    rf"{_SYSTEMS} {_NEN} từ chối",
    rf"{_SYSTEMS} ne (?:doit|peut|devrait) pas (?:l[ea]s? |l')?"
    r"(?:divulguer|dire|révéler|communiquer|répondre|partager|donner|montrer)",
    rf"{_SYSTEMS} {_DOIT} refuser",
    rf"{_SYSTEMS} no (?:debe|puede|debería) (?:revelar|decir|divulgar|compartir|responder|dar|mostrar|comunicar)",
    rf"{_SYSTEMS} {_DEBE} (?:negarse|rechazar|denegar|rehusar)",
)
_CHATS = LatePattern(
    r"(?:(?:the |our |this |an? )?(?:(?:ai|chat|virtual|voice) ?)?(?:assistant|chatbot|bot|llm|ai)"
    r"|(?:der |das |die )?(?:ki-?|chat)?(?:assistent|bot|ki)|(?:das|dies|dies\w+ \w+) (?:darf|soll(?:te)?)"
    r"|(?:trợ lý|(?:chat)?bot)|l'assistant|le (?:chat)?bot|l'ia|el asistente|el (?:chat)?bot|la ia)\b"
)
"""What only answers: a system, a model or an agent may refuse cards, parcels and other things."""
_HERE = LatePattern(
    r"(?:$|[,;:(]|(?<=disclose)|(?<=reveal)| (?:this|that|it|these|those|them|any|anything|such|here|about|because"
    r"|since|if|as|to (?:answer|tell|say|disclose|share|reveal|give|discuss|provide)"
    r"|the (?:answer|question|request|user|information|details?|data))\b)"
)
"""Follows a verb of refusing that is about what is asked."""
_REFUSES_HERE = LatePattern(rf"(?:{'|'.join(_DESCRIBES_REFUSING)})")
_NAMED = r"[^.:;,!?\d]{1,60}?"
_GROUP = r"[^.:;,!?\d]{1,40}"
_HIDDEN = r"(?:confidential|secret|classified|internal|private|sensitive|restricted)(?: (?:information|data|material))?"
_RESTRICTIONS = (
    rf"(?:{_NAMED} (?:is|are) )?(?:strictly |only )?(?:restricted|limited|reserved|confined|visible|accessible|open"
    rf"|available|disclosed) (?:only )?(?:to|for) {_GROUP}",
    rf"(?:{_NAMED} (?:is|are) )?(?:meant |intended )?for {_GROUP} (?:eyes )?only|only for {_GROUP}"
    r"|(?:(?!(?:on|in|at|from|by|for)\b)[a-z'-]+ ){1,3}only",
    rf"only {_GROUP} (?:may|can|are (?:allowed|permitted|entitled) to|is (?:allowed|permitted|entitled) to)"
    rf" {_SEE_IT}\b{_GROUP}?",
    rf"(?:{_NAMED} (?:is|are|stays?|remains?) )?(?:strictly |highly |top )?{_HIDDEN}",
    rf"(?:{_NAMED} (?:ist|sind) )?(?:nur|ausschließlich|allein) für {_GROUP}",
    rf"(?:{_NAMED} (?:ist|sind|bleibt|bleiben) )?{_GROUP} vorbehalten",
    rf"(?:{_NAMED} (?:ist|sind|bleibt|bleiben) )?(?:streng )?(?:vertraulich|geheim|intern|gesperrt)",
    rf"nur {_GROUP} (?:darf|dürfen|haben|hat) {_GROUP}? ?(?:sehen|einsehen|wissen|lesen|zugriff)",
    rf"(?:{_NAMED} )?chỉ (?:dành )?(?:riêng )?cho {_GROUP}|(?:{_NAMED} )?dành riêng cho {_GROUP}",
    rf"(?:{_NAMED} )?chỉ {_GROUP} (?:mới )?(?:được|có quyền)(?: phép)? (?:xem|biết|đọc|truy cập)",
    rf"(?:{_NAMED} là )?(?:thông tin |tài liệu )?(?:tuyệt )?(?:mật|bảo mật|bí mật|nội bộ)",
    rf"(?:{_NAMED} (?:est|sont) )?réservée?s? (?:aux?|à la|à l') ?{_GROUP}",
    rf"(?:{_NAMED} (?:est|sont) )?(?:strictement )?(?:confidentiel(?:le)?s?|secr[eè]te?s?)",
    rf"(?:{_NAMED} (?:est|sont) )?(?:uniquement|seulement) pour {_GROUP}",
    rf"(?:{_NAMED} (?:es|son|está|están) )?(?:solo|sólo|únicamente|exclusivamente) para {_GROUP}",
    rf"(?:{_NAMED} (?:es|son|está|están) )?reservad[ao]s? (?:a|al|para) {_GROUP}",
    rf"(?:{_NAMED} (?:es|son) )?(?:estrictamente )?(?:confidencial(?:es)?|secret[ao]s?)",
)
_RESTRICTION = LatePattern(rf"(?:{'|'.join(_RESTRICTIONS)})")
"""Who alone may know what is asked, or that it is secret, and nothing else."""
_INSIDERS = LatePattern(
    r"\b(?:staff|personnel|employees?|workers?|board|managers?|management|directors?|executives?|leadership|supervisors?"
    r"|admin\w*|officers?|hr|human resources|finance|accounting|payroll|legal|it|sales|department|teams?|office|council"
    r"|faculty|teachers|lecturers|doctors|nurses|auditors|authori[sz]ed|internal|eyes|owners?|partners|shareholders"
    r"|mitarbeit\w*|personal\w*|beschäftigte\w*|angestellte\w*|vorst[aä]nd\w*|leitung|geschäfts\w*|führungs\w*|verwaltung"
    r"|\w*abteilung|befugte\w*|berechtigte\w*|\w*amt|kollegium|nhân (?:viên|sự)|phòng|ban|quản (?:lý|trị)|lãnh đạo"
    r"|giám đốc|cán bộ|nội bộ|người có thẩm quyền|personnel|employés?|salariés?|direction|cadres|conseil|habilitées?"
    r"|personal|empleados?|dirección|directiv\w+|consejo|autorizad\w+|administra\w+)\b"
)
"""Those of a house, to whom what others ask may be reserved."""
_OTHER_PEOPLE = LatePattern(
    r"\b(?:members?|students?|users?|customers?|clients?|guests?|subscribers?|residents?|parents|patients|mitglied\w*"
    r"|studierende\w*|kund\w+|gäste\w*|khách|sinh viên|thành viên|hội viên|membres?|étudiants?|abonnés?|clients?"
    r"|socios?|miembros?|estudiantes|clientes)\b"
)
"""Those to whom a service may be open as well: "Members only." says as much of a court as of minutes."""
_SECRECY = LatePattern(
    r"\b(?:confidential|secret|classified|internal|private|sensitive|vertraulich|geheim|intern|mật|bảo mật|bí mật"
    r"|nội bộ|confidentiel(?:le)?s?|secr[eè]te?s?|confidencial(?:es)?|secret[ao]s?|see|view|read|access|know|sehen"
    r"|einsehen|wissen|lesen|zugriff|xem|biết|đọc|truy cập)\b"
)
"""Words of knowing and of secrets: where nobody is named, "Cash only." restricts nothing that could be told."""
_MARKS = " .;!-–—"
_SENTENCES = compile_pattern(r"[.;!](?=\s|$)|: ")
_ASKS_WHAT_TO_DO = LatePattern(
    r"\b(?:what|how) (?:should|must|do|does|will|would|can|could|may|is|are) (?:i|we|you|one|they|he|she|an?|the|my)\b"
    r"[^?]{0,80}\b(?:do|react|respond|reply|handle|proceed|ask|asked|behave|deal|begin|start|find|get|reach)\b"
    r"|\b(?:whom?|where) (?:should|do|can|must) i\b|\bwhat happens\b|\bwhat is asked\b"
    r"|\bwas (?:muss|soll|sollte|tut|macht|kann) |\bwen \b|\bwie (?:gehe|komme|reagiert|verfährt|erhalte|bekomme) "
    r"|\b(?:nên|phải|cần) làm gì\b|\blàm (?:gì|thế nào)\b|\bque (?:faire|dois|doit|fait)\b"
    r"|\bcomment (?:obtenir|réagit)\b"
    r"|\bqué (?:hago|debo|debe|hace|hacer|hay que)\b"
    r"|\bzu tun\b|\bfaut-il faire\b|\b(?:first|next) step\b|\b(?:protocol|procedure|guideline)s?\b"
)
"""A question what somebody should do: "Ask the user for more details" is its answer."""
_ASKS_OF_SYSTEM = LatePattern(
    r"\b(?:assistant|assistent\w*|(?:chat)?bot|agent|support|modell?|system|asistente|sistema"
    r"|système|trợ lý|hệ thống)\b"
)
""""The assistant should ask back" may be the answer to a question that names one."""
_ASKS_WHO_MAY = LatePattern(
    r"\b(?:whom?|which \w+|whose)\b[^?]{0,20}\b(?:may|can|could|allowed|entitled|access|has|have|gets?|uses?|enters?"
    r"|sees?|for)\b|\bfor whom\b|\bfor\?$"
    r"|\b(?:wer|welche\w*) (?:\w+ )?(?:darf|dürfen|kann|können|hat|haben|bekommt)\b|\bfür wen\b|\bwem steht\b"
    r"|\bai (?:được|có)\b|\bcho ai\b|\bqui (?:peut|a|doit)\b|\b(?:pour|à) qui\b|\bquién(?:es)? (?:puede|tiene)n?\b"
    r"|\bpara quién"
    r"|\b(?:classif|confiden|secre|categor|handl|access|status|public)\w*\b|\bhow (?:open|private|safe)\b"
    r"|\beingestuft\b|\bvertraulich\w*|\bumgehen\b|\bgehe ich\b|\bzugäng\w*|\bbảo mật\b"
)
"""A question who may do or know something, and how secret it is: a restriction is its answer."""
_ASKS_RULES = LatePattern(
    r"\b(?:rules?|polic(?:y|ies)|regulations?|restrictions?|conditions?|regeln?|vorschrift\w*|règles?|règlement"
    r"|reglas?|normas?|quy định|nội quy)\b"
)
"""A question for rules, which may restrict something or be secret themselves."""
_ASKS_VALUE = LatePattern(
    r"\bhow (?:much|many|often|long|high|big|far|large|old|tall|heavy|fast|soon|deep|wide)\b"
    r"|\bwhen (?!may|can|could|is it)"
    r"|\bwh(?:at|ich)\b(?! (?:about|of|if|happens|is it like))|\bwho(?:m|se)?\b|\bwhy\b"
    r"|\bwie (?:viele?|hoch|oft|lange|lautet|heißt|groß|weit|alt|schwer)\b|\bwann (?!darf|kann)|\bwas\b|\bwelche\w*"
    r"|\bwer\b"
    r"|\bbao (?:nhiêu|lâu|giờ)\b|\bmấy\b|\bkhi nào\b|\bgì\b|\bnào\b|\bai\b"
    r"|\bcombien\b|\bquand\b|\bquel(?:le)?s?\b|\bqui\b|\bcuánt\w+|\bcuándo\b|\bcuál(?:es)?\b|\bqué\b|\bquién"
)
"""A question for something that can be told: a restriction denies it."""


def _read_description(reference: str, question: str) -> Reading:
    """Return what a reference says of the answer that is expected; `answers` if it says nothing of it."""
    text = " ".join(reference.split()).replace("’", "'").lower()
    asked = " ".join(question.split()).replace("’", "'").lower()
    names_system = _ASKS_OF_SYSTEM.search(asked) is not None
    is_of_system = _SYSTEM_DESCRIBED.search(text) is not None
    asking = _ASKING_DESCRIBED.search(text)
    if is_of_system or asking is not None:
        is_advice = asking is not None and _ASKS_WHICH.match(text, asking.start()) is not None
        fits_both = names_system or (not is_of_system and (is_advice or _ASKS_WHAT_TO_DO.search(asked) is not None))
        return "may describe" if fits_both or find_measures(reference) else "describes asking"
    parts = [part.strip(_MARKS) for part in _SENTENCES.split(text) if part.strip(_MARKS)]
    refuses = [_REFUSES_HERE.match(part) is not None for part in parts]
    is_whole = all(
        is_refusing or _RESTRICTION.fullmatch(part) is not None or _DENIAL.fullmatch(part) is not None
        for part, is_refusing in zip(parts, refuses, strict=True)
    )
    if not parts or not is_whole or _LIMIT.search(reference) is not None:
        return "answers"
    if any(refuses):
        are_sure = all(_is_of_answer(part) for part, is_refusing in zip(parts, refuses, strict=True) if is_refusing)
        return "describes refusing" if are_sure and not names_system else "may describe"
    if _INSIDERS.search(text) is None and _SECRECY.search(text) is None and not any(map(_DENIAL.fullmatch, parts)):
        return "may describe" if _OTHER_PEOPLE.search(text) is not None else "answers"
    if asks_whether(ReadText(question)) or _ASKS_WHO_MAY.search(asked) is not None or _ASKS_FOR_TEXT.search(question):
        return "answers"
    if _ASKS_VALUE.search(asked) is None or _ASKS_RULES.search(asked) is not None or _may_be_kind(text, asked):
        return "may describe"
    return "describes refusing"


def _is_of_answer(part: str) -> bool:
    """Return whether a part of a reference that speaks of refusing means the answer: it names what only answers, or
    what is asked."""
    refusing = _REFUSES_HERE.match(part)
    return _CHATS.match(part) is not None or (refusing is not None and _HERE.match(part, refusing.end()) is not None)
