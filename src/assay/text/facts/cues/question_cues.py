"""What a question asks for: who, what, when, how much, which end or side, yes or no."""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import Cues

ASKS_WHAT = Cues(
    "who | whom | what | which | where | when | why | how",
    "ai | gì | nào | đâu | bao giờ | mấy (?:giờ|ngày|người|lần) | sao | bao nhiêu",
)
"""Asks for something, and not for yes or no; "mấy" alone is folded like the English "may"."""
QUESTION_WORD = Cues(
    "who | whom | whose | what | where | when | why | which | how",
    "ai | đâu | khi nào | bao giờ | bao nhiêu | bao lâu | vì sao | tại sao",
    r"quand | pourquoi | combien | quel(?:le)?s? | wann | warum | wie(?! bitte) | welche[rsnm]? | cuándo | cuánt[oa]s?"
    r" | dónde | quién(?:es)? | cuál(?:es)? | quando | quant[oaie] | quantos | quale",
)
"""Asks for one thing: with two of them a question asks for two, so that "giờ nào" is none beside "khi nào"."""
ASKS_IN_PART = Cues(
    "how | what | when | where | who | which | is | are | do | does | can",
    "bao nhiêu | bao lâu | mấy | gì | nào | ai | đâu | không | chưa",
)
"""Shows that a part of a question asks something by itself."""
ASKS_WHO = Cues("who", "ai | người nào")
"""Begins a question for who does something."""
ASKS_WHO_ALONE = Cues(
    "who | which (?:body|person|office|officer|authority|department|court|member)",
    "ai | người nào | bộ phận nào | cơ quan nào",
    "wer | welche[rs]? (?:person|stelle|behörde|abteilung|amt)"
    " | qui | quelle? (?:personne|autorité|instance|service) | quién",
)
"""Begins a question for whoever does something, so that a right answer names all who do."""
IS_ASKED = Cues("is | are | was | were", "được | bị | là", "ist | sind | war | est | sont | es | son")
"""Follows it where the question is for who somebody is, or to whom something is done."""
ASKS_FOR_PERSON = Cues("who", "ai")
"""Asks for a person, anywhere in a question."""
ASKS_FOR_REASON = Cues("why | how", "sao")
"""Asks why or how something is."""
AUXILIARY_FIRST = (
    r"do|does|did|is|are|was(?! (?:kostet|kosten|ist|sind|muss|macht|passiert|darf|kann|gibt|bedeutet|brauche)\b"
    r"| [^?]{0,60}\b(?:der|das|dem|den|des|eine?[mnrs]?|im|bei|beim|für|ich|wir|mit|von|vom|zu|zum|zur|auf|nach|und)\b"
    r"| \w{3,}(?:t|en) (?:die|sie)\b)|were"
    "|am|can|could|may|must|should|will|would|has|have"
)
"""Begins a question for yes or no; "was" is what in German."""
ASKS_WHETHER_OF_OTHERS = Cues(
    other=r"est-ce qu(?:e |')[^?]*\? | [^?]{0,80}?\w-(?:t-)?(?:ils?|elles?|on|je|vous|nous|tu)\b[^?]*\?"
    r" | (?:kann|können|darf|dürfen|gibt es|ist|sind|muss|müssen|nehmen|wird|werden|bieten|brauche|soll|habt|haben"
    r") [^?]*\?"
    r" | (?:¿ ?)?(?:puedo|puede|podemos|hay|está|están|tiene[ns]?|se puede|aceptan|admiten|posso|si può|c'è|ci sono"
    r"|accettate|pode-se|aceitam) [^?]*\?"
)
"""Matches such a question in another language, if it has no question word."""
ASKS_WHETHER_LAST = Cues(vietnamese="(?:không|chưa)(?: ạ| vậy| nhỉ)?")
"""Ends a question for yes or no in Vietnamese."""
ASKS_WHEN = Cues(
    "when | what (?:time|date|day) | how (?:early|late|long|soon) | from | since | earliest | latest | deadline | due"
    " | until",
    "khi nào | bao giờ | mấy giờ | lúc nào | ngày nào | bao lâu",
)
"""Asks for a time: "Is it open to guests?" asks for none."""
ASKS_HOW_LONG = Cues("how long(?! (?:after|before))", "bao lâu", "wie lange")
"""Asks for how long something is so."""
ASKS_DAY = Cues(
    "(?:which|what) (?:week)?(?:days?|dates?)",
    "(?:ngày|thứ) (?:nào|mấy) | mấy thứ nào",
    r"quels? jours? | welche[nrms]? (?:wochen)?tag\w* | qué días? | che giorno | que dias?",
)
"""Asks for a day."""
ASKS_MOMENT = Cues(
    r"when | when's | what time | what(?:'s| is) the(?: [\w'-]+){0,4} deadline",
    "khi nào | bao giờ | mấy giờ | lúc nào | giờ nào",
    r"(?:jusqu'à|à partir de|depuis) quand | quand (?:est|sont|se|ferme|ouvre|commence|finit|a lieu|[\w]+-)"
    r" | quelle heure | wann | wie ?viel uhr | cuándo | qué hora | (?:^|(?:fino a|da|até) )quando | che ora"
    r" | que horas",
)
"""Asks for a moment in time."""
ASKS_WHICH = Cues("which | what", "", "welche[rsmn]? | quel(?:le)?s?")
"""Stands before the noun of which one is asked for."""
ASKS_WHICH_DAY = Cues(vietnamese="khi nào | ngày nào | lúc nào | thứ mấy")
"""Asks in Vietnamese when something is, anywhere in a question."""
ASKS_AMOUNT = Cues(
    r"how much | what do(?:es)?(?: [\w'-]+){1,8} (?:cost|pay|charge) | what(?:'s| is| are| was| were) the"
    r"(?: [\w'-]+){0,4} (?:costs?|prices?|fees?|fares?|charges?|fine|rent|deposit|tuition)",
    "(?:bao nhiêu|mấy) tiền",
    r"combien (?:co[uû]te\w*|pai\w+|pay\w+|vaut|faut-il payer|dois-je payer|facture\w*)"
    r" | quel(?:le)?s? (?:est|sont) (?:les? |la |l')(?:prix|tarifs?|montant|frais|loyer|caution|droits?|taxe)"
    r" | (?:was|wie ?viel) (?:kostet|kosten|zahl\w+|bezahl\w+)"
    r" | wie hoch (?:ist|sind) (?:der|die|das) (?:preis|gebühr(?:en)?|eintritt|kaution|miete|kosten|strafe)"
    r" | cuánto (?:cuesta|cuestan|vale|valen|se paga|pago|hay que pagar)"
    r" | cuál es (?:el|la) (?:precio|tarifa|coste|costo|importe|cuota|fianza)"
    r" | quanto (?:costa|costano|custa|custam|si paga|se paga|pago)"
    r" | qual (?:è|é) (?:il|o|a) (?:prezzo|preço|taxa|tariffa)",
)
"""Asks for an amount of money."""
ASKS_MEASURE = Cues(
    r"how (?:many|long|far|often|old|tall|high|big|large|heavy|late|early|soon|wide|deep|fast)"
    r" | what(?:'s| is| are| was| were) the(?: [\w'-]+){0,4} (?:minimum|maximum|limit|rate|percentage|share|age|number"
    r"|size|length|height|weight|width|depth|speed|temperature|capacity|distance|duration)"
    r" | what(?:'s| is| are| was| were) the (?:minimum|maximum|lowest|highest|least|most) \w+"
    r" | what (?:percentage|share|age|number|size|speed|temperature)",
    "bao nhiêu | bao lâu | bao xa | tối đa | tối thiểu | nhiều nhất | ít nhất"
    " | mấy (?:bài|buổi|cái|căn|chiếc|chuyến|con|cuốn|giờ|kỳ|lần|lớp|món|năm|ngày|người|phần|phòng|phút|quyển|suất|tầng"
    "|tháng|tiếng|tuần|tuổi|vé|viên)",
    r"combien (?:de\b|d') | quel(?:le)? (?:âge|taille|poids|durée|distance|pourcentage)"
    r" | wie (?:viele?|lange|weit|oft|alt|hoch|groß|schwer|breit|tief|schnell)"
    r" | cuánt[oa]s | cuánto (?:tiempo|mide|pesa|dura) | quant[ie] | quantos | quantas | quanto tempo",
)
"""Asks for a measure or a count; "mấy" is folded like the English "may", so that it counts before a noun alone."""
ASKS_HOW_MANY = Cues("how many ", "bao nhiêu ", "combien d(?:e |')| wie ?viele ")
"""Asks how many there are of what follows."""
ASKS_START = Cues("start | begin | open | from when | since when | earliest", "bắt đầu | mở cửa")
"""Asks when something begins."""
ASKS_END = Cues(
    "end | finish | close | stop | until when | until what | till when | how long | how late | latest | deadline | due"
    " | expire",
    "kết thúc | đóng cửa | (?:đến|tới) (?:mấy giờ|khi nào|lúc nào)",
)
"""Asks when something ends."""
ASKS_UNTIL = Cues(
    "until (?:when|what|which) | till (?:when|what) | up to (?:when|what) | how (?:late|long)",
    "(?:đến|tới) (?:mấy giờ|khi nào|lúc nào|bao giờ)",
    "jusqu'à (?:quand|quelle) | bis (?:wann|wie viel uhr) | hasta (?:cuándo|qué hora) | fino a (?:quando|che ora)"
    " | até (?:quando|que horas)",
)
"""Asks until when something is so."""
ASKS_DEADLINE = Cues(
    "deadline | closing date | last day | cut-?off",
    "hạn chót | hạn cuối | hạn nộp | thời hạn",
    "frist | anmeldeschluss | einsendeschluss | stichtag | date limite | dernier jour | délai",
)
"""Asks for the day by which something has to be done."""
ASKS_FROM = Cues(
    "(?:from|starting (?:at|from|with)) (?:what|which|how|when)",
    "từ (?:bao nhiêu|bao giờ|mức nào|ngày nào|mấy)",
    "ab (?:welche[mnr]?|wann|wieviel|wie viele?n?)",
)
"""Asks where something begins, which "up to" answers the other way round."""
ASKS_FOR_MOST = Cues("the most | at most | maximum | max | highest | largest | upper limit | cap | ceiling", "tối đa")
"""Asks for the most."""
ASKED_THING = Cues("which | what | how (?:many|much|long|far|old)", "bao nhiêu | bao lâu | mấy")
"""Asks which value stands after a bound: "above which amount"."""
ABOVE_ASKED = Cues(
    "above | over | beyond | past | exceed(?:s|ing)? | upwards of"
    " | (?:more|greater|larger|longer|higher|faster|heavier|taller|older|bigger|wider|deeper) than",
    "trên | hơn | vượt | vượt quá | quá",
)
"""Stands in a question before the value that is exceeded."""
BELOW_ASKED = Cues(
    "below | under | short of | (?:less|fewer|lower|smaller|shorter|slower|lighter|younger) than",
    "dưới | thấp hơn | ít hơn | nhỏ hơn",
)
"""Stands in a question before the value that is not reached."""
ASKS_FROM_WHERE_ON = Cues(
    r"(?:from|since|by|until|at|on|in|with|for|after) (?:when|which|what|how)\b | when\b | which\b | who\b | whose\b"
    r" | what (?:happens|triggers|makes|counts|needs|requires)\b | how (?:long|much|many) (?:of|without)\b"
    r" | how many .{1,60}\b(?:must|need(?:s|ed)?|have to|required|before|makes?|count)\b"
    r" | (?:is|are|do|does|did|can|may|must|should|will|would|has|have)\b"
)
"""Begins a question that a condition answers, which begins to hold at a value."""
ASKS_FOR_MANY = Cues(
    r"(?:what|which|when|where|how much|how long|how often) (?:are|were|do|did|have) (?!i\b|we\b|you\b|they\b)"
    r" | (?:what|which) (?!does\b|was\b|has\b|this\b|bus\b)[\w-]+[^\Ws]s"
    r" | all | every | each | list | lists | overview | table | compare | comparison | schedule | timetable"
    r" | opening hours"
    r" | (?:opening|departure|arrival) times | prices | fees | fares | rates | tariffs | charges | options | different"
    r" | various | respectively | depending",
    "những | các | tất cả | mọi | mỗi | từng | liệt kê | bảng giá | lịch trình | lần lượt | so sánh",
    "welche | alle | allen | jede | jeder | jedes | jeweils | tabelle | übersicht | preise | zeiten | gebühren",
)
"""Asks for several values: an answer that lists them is no guess."""
ASKS_FOR_THRESHOLD = Cues(
    "threshold | cut-?off | trigger(?:s|ed)? | limit", "khi nào | (?:bao nhiêu|bao lâu|mấy) [^?]{0,40}thì"
)
"""Asks for such a value in so many words."""
ASKS_FOR_PREDECESSOR = Cues(
    r"take over | took over | taken over | succeed\w* | successor | replac\w+ | predecessor | former\w* | previous\w*"
    r" | before | used to | instead | inherit\w* | was | were | did | had",
    "thay | trước | cũ",
)
"""Asks for the one of before."""
ASKS_WHAT_IS_GIVEN = Cues(
    r"how (?:much|many)\b[^?]{0,30}\b(?:do|does|will|would|can|could|should) (?:i|we|you|one|they|he|she) "
    r"(?:get|receive|earn|be paid)"
)
"""Asks what the user gets."""
ASKS_HOW_TO = Cues(
    r"how (?:do|can|should|to)\b | what (?:should|must|do) (?:i|we|you|one)\b",
    "làm sao | làm (?:thế )?nào | tôi (?:cần|phải) làm gì",
    "wie (?!lange|viele?|oft|hoch|weit|alt)[a-z]+ | comment | que faire | cómo | come | como",
)
"""Begins a question how to do something."""
ASKS_FOR_ONE = Cues(
    "who | whose | where | when | which | what(?! (?:happens?|do(?:es)? (?:i|we|you|it|one)|should|must|can|is the"
    " difference)) | what is the (?!difference)",
    "ai | đâu | khi nào | bao giờ",
    r"welche[rsmn]? | wer | wo | wann | quel(?:le)? | qui | où | quand | cuál | quién | dónde | cuándo",
)
"""Begins a question for one thing, and not for what is to be done or why."""
ASKS_FOR_SEVERAL = Cues(
    "and | or | when and | conditions | steps | requirements | differences? | documents | all | each | every",
    "và | các | những",
    "und | oder | et | ou | y | o | alle | unterlagen | documents | documentos | requisitos",
)
"""In a question, asks for several things, of which each has to be said."""
