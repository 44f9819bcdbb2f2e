"""What a speaker does not vouch for: guesses, hearsay, beliefs, plans, other times, and what is corrected."""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import Cues

MAYBE = Cues(
    "maybe | perhaps | possibly | probably | (?:might|may|could) be | i think | i guess | not sure",
    "có thể là | có lẽ | hình như | chắc là",
)
"""Stands before a guess."""
NOT_REAL = Cues(
    "(?:would|should|could)(?:n't| not)? have (?:been|[a-z]+e[dn]) | suppose | supposing | imagine | if only"
    " | if [^,.;]{1,40} had | (?:^|(?<=[.!?] ))(?:were|had) [^,.;]{1,40},"
    " | (?:was|were|had been) (?:\\w+ )?(?:planned|scheduled|due|expected|intended|meant) for"
    " | (?:is|are|was|were) (?:supposed|meant|expected|intended|rumou?red|alleged|proposed) to"
    " | (?:plan(?:s|ned)?|hop(?:e|es|ed)|wish(?:es|ed)?|proposed|considered) (?:to|that|of) | drafts? | proposals?",
    "lẽ ra | giả sử | giá như | giá mà | đáng lẽ | suýt | ước gì | dự (?:định|kiến|thảo) | bản (?:nháp|thảo)",
)
"""Supposed, wished or planned."""
_PERSONS = (
    "(?:some|many|most|people|others|every(?:one|body)|some(?:one|body)|folks?|they|he|she"
    "|(?:colleague|friend|customer|visitor)s?)"
)
_SAYING = (
    "(?:says?|said|saying|tells?|telling|told|writes?|wrote|claim(?:s|ed)?|think|thinks|thought|believed?|believes"
    "|assumed?|assumes|guess(?:ed)?|heard|insist(?:ed)?)"
)
HEARSAY = Cues(
    rf"{_PERSONS} (?:else )?(?:\w+ )?(?:(?:keep|kept) (?:\w+ )?)?{_SAYING}"
    r" | (?:thought|heard|assumed|guessed|pretend(?:s|ed)?|told [a-z]+) that | rumou?r has it"
    r" | it(?:'s| is| was) (?:\w+ )?(?:rumou?red|said|claimed|alleged|assumed) | wrongly | forget what"
    r" | (?:asked|asking|ask|wondered|wondering|wonder) (?:me |us |him |her )?(?:whether|if)",
    "(?:người ta|nhiều người|một số người|họ|có người|ai cũng) (?:hay |cứ |vẫn |đều )?"
    "(?:nói|bảo|đồn|nghĩ|tưởng|kể|đinh ninh)"
    " | (?:đồn|tưởng|cứ tưởng) (?:là|rằng) | nghe (?:nói|đồn) | hỏi (?:có phải|xem|liệu) | ghi (?:nhầm|sai)",
)
"""Only said, thought or asked."""
OTHER_TIME_OR_PLACE = Cues(
    "next (?:year|month|season|term) | last (?:year|month|season|term|spring|summer|autumn|winter) | elsewhere",
    "năm (?:sau|tới|ngoái|trước) | sang (?:năm|tháng) | tháng (?:sau|trước) | hồi (?:xưa|trước) | ngày xưa | xưa kia",
)
"""Said of another time or place."""
BELIEVED = Cues(
    r"(?:some|many|most|other|a lot of)(?: of)? ?(?:\w+ )?(?:say|think|believe|claim|assume|expect|tell you)"
    r" | people (?:often |sometimes |still |may |might )?(?:say|think|believe|assume)"
    r" | you(?: may| might)? (?:may|might|have|often)? ?(?:have )?(?:heard|read somewhere|seen it said|think|expect)"
    r" | it is (?:often|widely|sometimes) (?:said|thought|believed)",
    "nhiều người (?:nghĩ|tưởng|cho rằng|nói|bảo)",
)
"""Says what some believe, before the sentence goes on with "but"."""
TURNS = Cues("but | however | yet | in fact | actually | in truth", "nhưng | tuy nhiên | thực ra | thực tế")
"""Turns from what some believe to what is so."""
CORRECTION = Cues(
    r"(?:scratch|strike) that | (?:no,? )?wait,? no\b | no,? wait\b | correction[:,]"
    r" | let me correct (?:that|this|myself|it) | i (?:meant|misspoke|misread|mistyped) | my (?:mistake|bad)\b"
    r" | on second thoughts? | i stand corrected",
    "à không | xin đính chính | đính chính[:,] | nói nhầm | nhầm rồi",
    "korrektur[:,] | moment, nein | nein, doch | pardon[,:] | rectification ?: | correccion ?: | correcao ?:",
)
"""Takes back what was just said."""
NO_DOUBT = Cues("either (?:case|way|event|situation|side|direction)", "có lẽ (?:phí|hội|tân|phục|vật|nghi)")
"""Looks like doubt and is none: "in either case", and "có lệ phí" (has a fee) without its marks."""
BETTER_SAID = Cues(
    "actually | in fact | in reality | or rather | rather | more precisely | sorry"
    " | so (?:that is|that's|come|be|arrive)",
    "thực ra | đúng hơn",
)
"""May take back what was just said, if another value follows."""
FORMER_BEFORE_NOUN = Cues("old | former | previous | outdated | obsolete | expired")
"""Says of a thing that it is the one of before."""
UNTIL_THEN = Cues(
    other=r"bis (?:ende |anfang |mitte )?(?:\d{4}|letzte[smn] [a-z]+) | bis vor kurzem"
    r" | jusqu'(?:en|à|à fin) (?:\d{4}|l'an dernier|l'année dernière) | hasta (?:\d{4}|el año pasado|hace poco)"
)
"""Begins a sentence on what ended in a year, or lately; `WAS_SO` goes on."""
WAS_SO = Cues(
    other="war | waren | galt | galten | betrug | kostete | kosteten | hatten? | gab | konnten? | durften? | mussten?"
    " | était | étaient | coûtait | coûtaient | avait | pouvait | fallait | era | eran | costaban? | tenían? | podían?"
)
"""Says of what it was."""
STILL_PRESENT = Cues(
    "currently | so far | right now | at the moment | have signed up | (?:is|are) registered",
    "hiện (?:có|đang|tại) | đang có | mới có | đã có",
)
"""Says how many of something there are now, and not how many there may be."""
NO_LONGER = Cues("no longer | any ?more", "không còn")
"""Says that what was so has ended."""
LATER = Cues("then | after that | afterwards | in that case", "sau đó")
"""Goes on with what comes later."""
LATER_FIRST = Cues("after (?:that|this|which) | afterwards | thereafter | from then on", "sau đó")
"""Begins what is said only of what comes later."""
POINTS_BACK_BY_WORD = Cues(
    "not | no longer | (?:no,? )?sorry | ignore | forget | scrap | at least | was",
    "đó là | xin lỗi | em nhầm | chưa | chỉ là | không phải | giờ khác",
)
"""Begins a sentence that takes up the one before it, without a pronoun."""
DOUBT = Cues(
    "maybe | perhaps | possibly | probably | presumably | supposedly | allegedly | reportedly | might | may have been"
    r" | may be(?! (?:up to|at most|\w+(?:ed|en)|kept|sent|left|put|lent|held|made|paid|met|cut|set|built)\b)"
    " | could be | could it | could have been | i think | i guess | i believe | i suspect | would guess"
    " | not (?:certain|sure|clear) | unclear | uncertain | unsure | unknown | i've heard | hard to say | don't know"
    " | do not know | can't say | cannot say | said to | (?:i|we|they) doubt | doubtful"
    r" | (?:depends? on|ask|check|find out) whether(?! [^.;]{0,80}\bor\b)"
    " | (?:we|they) (?:are )?(?:plan|intend|hope|aim)(?:ning|ing)? to | (?:was|were) (?:supposed|meant|due|going) to"
    " | either(?! ?[.:;,!)]| ?$) | (?:almost|nearly) [a-z]+ed",
    "có thể là | hình như | chắc là | có lẽ | không chắc | không rõ | nghe nói | không biết | được cho là",
    "vielleicht | möglicherweise | vermutlich | wahrscheinlich | angeblich | (?:bin|sind) (?:mir|uns) nicht sicher"
    " | unklar | peut-être | probablement | il se peut | je crois | je ne suis pas sûre? | quizás? | tal vez"
    " | probablemente | posiblemente | a lo mejor | no estoy segur[oa] | talvez | provavelmente | forse"
    " | probabilmente",
)
"""Uncertainty of the speaker, and what did not quite happen or would only happen."""
_IF_IT_DID = (
    r"if (?:(?!(?:is|are|has|have|be) )[\w'-]+ ){1,4}"
    r"(?:could|had|were|was|did|[a-z]+ed|met|got|came|went|knew|paid|took|made)\b"
)
UNREAL = Cues(
    rf"would(?:n't)?\b[^.;]{{1,80}}\b{_IF_IT_DID} | {_IF_IT_DID}[^.;]{{1,60}}\bwould(?:n't)?\b[^.;,]*",
    "",
    r"(?:würden?|wären?|hätten?|gälten?)\b[^.;]{1,80}\bwenn\b[^.;]{1,60}\b(?:hätten?|wären?|gäbe|könnten?|würden?)\b"
    r" | wenn\b[^.;]{1,60}\b(?:hätten?|wären?|gäbe|könnten?)\b[^.;]{1,60}\b(?:würden?|wären?|hätten?|gälten?)\b[^.;,]*",
)
"""A statement with the condition under which alone it would hold, and does not; for written text."""
PARTLY = Cues(
    "only some | some of | some | most of | not all | not every | half of | several of | certain | occasionally"
    " | sometimes | (?:nearly|almost|virtually|practically) (?:all|every|both)"
    r" | (?:one|two|three|four|\d+) (?:out )?of (?:the|all|our|these)",
    "một số | một vài | đôi khi | thỉnh thoảng | hầu hết | gần hết | gần như (?:tất cả|mọi)"
    r" | (?:một|hai|ba|bốn|\d+) trong (?:cả|số|các)",
)
"""Limits a statement to a part."""
PAST_BEFORE = Cues(
    "previously | formerly | used to be | originally | in the past | last year | before,? it was",
    "trước đây | trước kia | năm ngoái | năm trước | từng (?:là|ở|có|được|làm|dạy|mở|bán)",
    "früher | ehemals | ursprünglich | damals | bis vor kurzem | autrefois | auparavant | à l'origine | anteriormente"
    " | antiguamente | originalmente",
)
"""Stands before what was so."""
PAST_AFTER = Cues(r"before(?= ?[,;.!?)]| (?:and|but)\b|$)", r"trước đây\b | trước kia\b")
"""Stands after what was so."""
PRESENT = Cues(
    "now | currently | today | nowadays | as of | since then | these days | from this (?:year|month|week) on"
    " | (?:has|have) been | 's been | this (?:year|month|season|term)",
    "hiện nay | hiện tại | hiện giờ | bây giờ | giờ đây | hôm nay | ngày nay"
    " | nay (?:là|còn|chỉ|được|đã|chuyển|đổi|thì) | năm nay | tháng này",
    "jetzt | seither | seitdem | inzwischen | mittlerweile | heute | heutzutage | désormais | maintenant | actuellement"
    " | aujourd'hui | dorénavant | ahora | actualmente | hoy en día | desde entonces",
)
"""Speaks of the present."""
_WAS = (
    r"(?!was(?: (?:kostet|kosten|ist|sind|wird|werden|muss|müssen|darf|dürfen|kann|können|soll|sollen|gilt|gelten"
    r"|brauchen?|passiert|bekommt|bekommen|mache|machen|gehört|hat|haben|bedeutet|heißt|steht)\b|$))was"
)
"""The English verb, and no German "what"."""
IN_THE_PAST = Cues(
    "previously | formerly | originally | in the past | before,? | (?:until|till) (?:\\d{4}|last [a-z]+|recently)",
    "trước đây | trước kia | hồi trước | năm ngoái | năm trước",
    "früher | ehemals | ursprünglich | damals | bis (?:ende |anfang |mitte )?(?:\\d{4}|letzte[smn] [a-z]+)"
    " | bis vor kurzem | avant | autrefois | auparavant | à l'origine | jusqu'(?:en|à|à fin) (?:\\d{4}|l'an dernier)"
    " | antes | anteriormente | antiguamente | originalmente",
)
"""Begins a sentence on what was so."""
PAST_VERB_BEFORE_VALUE = Cues(
    rf"{_WAS} | were | used to [a-z]+ | had been | stood at",
    "",
    "war(?:en)? | betrug(?:en)? | kostete[n]? | galt(?:en)? | lag(?:en)? | hatten? | begann(?:en)? | endeten?"
    " | (?:ét|coût|ferm|ouvr|av|commenç|finiss|val|dur)(?:ait|aient) | eran? | (?:cost|est|cerr|empez|dur)aban?",
)
"""Stands between a subject and what it was."""
VERB_BEFORE_VALUE = Cues(
    "cost | closed | opened | began | started | ended",
    "có | được | mất | mở cửa | đóng cửa | thu",
)
"""Stands there too where the sentence begins with words for the past."""
TURNS_TO_PRESENT = Cues(
    "but | until | then | when | however",
    "nhưng | rồi | còn",
    "aber | doch | bis | mais | puis | pero | hasta que",
)
"""Turns from what was so to what is so."""
SINCE_THEN = Cues(
    "since (?:the )?[a-z]+(?: \\d{4})? | as of [a-z]+(?: \\d{4})? | from [a-z]+(?: \\d{4})? on",
    "nay | từ (?:nay|năm \\d{4}|tháng \\d{1,2})",
    "seit (?:[a-z]+ )?(?:\\d{4}|[a-z]+) | ab (?:sofort|\\d{4}) | depuis (?:\\d{4}|[a-z]+)",
)
"""Begins what is so since a time."""
CHANGED_TO = Cues(
    "(?:(?:was|were|has|have|had|is|are|been|since|later|now|then|recently) ){0,3}(?:moved|postponed|brought"
    "|put|shifted|changed|raised|lowered|increased|reduced|cut|extended|shortened|rescheduled|replaced|relocated|went|rose|fell"
    "|dropped)(?: (?:back|forward|up|down|out|in))? (?:to|by|with)",
    "(?:đã |được |bị |vừa |mới ){0,3}(?:dời|lùi|chuyển|đổi|tăng|giảm|nâng|hạ|kéo dài|rút ngắn|thay)(?: [a-z]+){0,1}?"
    " (?:sang|lên|xuống|đến|tới|thành|còn|bằng)",
    "(?:wurden?|ist|sind) (?:[a-z]+ ){0,2}?(?:auf|in|nach|zu[mr]?|durch)"
    " | (?:a été|ont été|est|sont) (?:passe|porte|reporte|avance|releve|augmente|reduit|abaisse|prolonge|deplace|ramene"
    "|remplace)e?s? (?:à|au|aux|par|de)",
)
"""Says to what something was changed."""
IS_NOW = Cues("is | are | 's", "là", "ist | sind | est | sont | es | son")
"""Stands before who or what something is since then."""
PAST_VERB = Cues(
    "was | were | used to | had been | formerly | previously | originally | last (?:year|month|season|term)",
    "trước đây | trước kia | năm ngoái | năm trước | tháng trước",
)
"""Says that a statement was true earlier, if another one is about the present."""
USED_TO = Cues(
    "(?<!than it )(?<!than they )used to | formerly | previously | originally | in the past",
    "trước (?:đây|kia|là) | hồi trước",
)
"""Says that a statement was true earlier, and no longer."""
CHANGED = Cues(
    "up | down | raised | lowered | increased | decreased | reduced | changed | rose | fell | risen | fallen"
    " | went | gone"
    " | grew | grown",
    "tăng | giảm",
)
"""Stands before "from" and a value that holds no longer."""
ASKS_PAST = Cues(
    rf"{_WAS} | were | used? to | did | had | formerly | previously | originally | last year | before",
    "trước đây | trước kia",
)
"""A question about the past."""
