"""Pairs of contrary events, states and kinds: what opens and what closes, what goes up and what comes down.

Of each pair a question has one side and an answer may have the other. English is compared as it is folded; Vietnamese
as it is written where a text has diacritics, because "bán" (sell) and "bạn" (you) are folded alike.
"""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import Cues, list_words

OPPOSITE_EVENTS = (
    (r"buy(?:s|ing)?|bought|purchas\w+", r"sell(?:s|ing)?|sold|rent(?:s|ed|al|ing)?|hir(?:e|es|ed|ing)"),
    (r"borrow\w*|len[dt]|lends|lending|loans?", r"(?:buy|sell)(?:s|ing)?|bought|sold"),
    (r"get(?:s|ting)? on|board(?:s|ed|ing)?", r"get(?:s|ting)? off|disembark\w*|alight\w*"),
    (r"pick(?:s|ed|ing)? up|collect(?:s|ed|ing|ion)?|fetch\w*", r"drop(?:s|ped|ping)? off|hand(?:s|ed|ing)? in"),
    (r"withdraw\w*|take out", r"pay(?:s|ing)? in|deposit(?:s|ed|ing)?"),
    (r"way up|uphill|ascent|go(?:ing)? up", r"way down|downhill|descent|go(?:ing)? down"),
    (r"inbound|incoming|way back|return (?:leg|trip|journey)", r"outbound|outgoing|outward|way out|way there"),
    (r"summer", r"winter"),
    (r"weekdays?|(?:mon|tues|wednes|thurs|fri)days?", r"weekends?|saturdays?|sundays?"),
    (r"singles?|one[- ]way", r"return|round[- ]trips?|both ways"),
    (
        r"(?:low|off|green|quiet)[- ]?season|off[- ]peak",
        r"(?:high|peak|main|busy)[- ]season|(?<!off-)(?<!off )peak (?:times?|hours?|days?)",
    ),
    (
        r"(?:day|evening|night) before|(?:previous|preceding) (?:day|evening)|day earlier",
        r"(?:same|next|following) day|day after",
    ),
    (r"cash", r"cards?|che(?:que|ck)s?|vouchers?|(?:bank|wire) transfers?"),
    (r"cards?", r"cash|che(?:que|ck)s?|vouchers?|(?:bank|wire) transfers?"),
    (r"(?:bank|wire) transfers?", r"cash|cards?|che(?:que|ck)s?|vouchers?"),
    (
        r"together|altogether|in (?:total|all)|combined|for the (?:whole|entire)",
        r"each|per (?:person|head|seat|user)|apiece|a head",
    ),
    (r"mornings?", r"afternoons?|evenings?"),
    (r"(?<!non-)(?<!non )members?", r"non[- ]members?"),
    (r"sommers?", r"winters?"),
    (r"werktags?|werktagen?|wochentags?", r"wochenenden?|sonntags?|samstags?"),
    (r"einfache fahrt|einfach", r"hin[- ]und (?:zurück|rückfahrt)|rückfahrt"),
    (r"nebensaison", r"hauptsaison|hochsaison"),
    (r"vorabend|vortag\w*|tags? zuvor", r"(?:selben|gleichen|nächsten|folgenden) tag\w*"),
    (r"erwachsene\w*", r"kind(?:er|ern)?"),
    (r"(?:en |l'|d'|cet )(?:été|ete)", r"hiver"),
    (r"verano|estate|verão|verao", r"invierno|inverno"),
    (r"adultes?", r"enfants?"),
    (r"adult[oia]s?", r"niñ[oa]s?|ninos?|bambini|crianças?|criancas?"),
    (r"aller simple", r"aller-retour|aller et retour"),
    (r"en semaine|jours ouvrables", r"week-ends?|le dimanche|le samedi"),
    (r"basse saison", r"haute saison"),
    (r"temporada baja|bassa stagione|época baixa", r"temporada alta|alta stagione|época alta"),
    (r"indoors?", r"outdoors?"),
    (r"daytime|by day|during the day", r"at night|overnight|by night"),
    (r"adults?|grown-ups?", r"child(?:ren)?|kids?|pupils?"),
    (r"first|earliest", r"last|latest"),
    (r"last|latest|previous|most recent", r"next|upcoming|coming"),
    (r"men(?:'s)?", r"women(?:'s)?|ladies"),
)
"""Contrary events and kinds."""
OPPOSITE_EVENTS_IN_VIETNAMESE = (
    (r"(?<!trở )(?<!tăng )(?<!tính )lên(?! (?:đến|tới))", r"xuống"),
    (r"mua", r"bán"),
    (r"thuê|mượn", r"mua|bán"),
    (r"gửi", r"rút"),
    (r"nhập", r"xuất"),
    (r"lên xe|lên tàu", r"xuống xe|xuống tàu"),
    (r"lượt đi|chuyến đi", r"lượt về|chuyến về"),
    (r"một chiều", r"khứ hồi"),
    (r"tối thiểu|ngắn nhất|thấp nhất|nhỏ nhất", r"tối đa|dài nhất|cao nhất|lớn nhất"),
    (r"tối thiểu|tối đa", r"mặc định"),
    (r"khai mạc", r"bế mạc"),
    (r"người lớn", r"trẻ em|trẻ con|các bé"),
    (r"mùa hè|mùa mưa", r"mùa đông|mùa khô"),
    (r"ngày thường|trong tuần", r"cuối tuần"),
    (r"mùa thấp điểm", r"mùa cao điểm"),
    (r"(?:hôm|ngày|tối|chiều) trước", r"(?:hôm|ngày) sau|cùng ngày"),
    (r"tiền mặt", r"chuyển khoản|quẹt thẻ"),
    (r"tổng cộng|cả thảy", r"mỗi người|từng người"),
    (r"trong nhà", r"ngoài trời"),
    (r"ban ngày", r"ban đêm"),
    (r"đầu tiên|chuyến đầu", r"cuối cùng|chuyến cuối|chuyến chót"),
    (r"lần trước|gần nhất|vừa qua", r"lần tới|lần sau|sắp tới|tiếp theo"),
    (r"cấp mới", r"cấp lại|cấp đổi"),
    (r"nam", r"nữ"),
)
"""The same in Vietnamese."""
LEAVES_PLACE = Cues(
    "from | leav(?:es?|ing) | departs?(?: from)? | departing(?: from)? | departure from | out of",
    "từ | rời | khởi hành từ | xuất phát từ",
    "von | ab",
)
"""Stands before the place where something begins."""
REACHES_PLACE = Cues(
    "to | towards | bound for | arriv(?:es?|ing) (?:at|in) | reach(?:es|ing)?", "đến | tới | về", "nach | bis"
)
"""Stands before the place where something ends."""
CONTRARY_STATES = (
    (r"open(?:s|ed|ing)?", r"clos(?:e|es|ed|ing|ure)|shuts?"),
    (r"includ(?:es?|ed|ing)", r"exclud(?:es?|ed|ing)|(?:costs?|charged|paid) (?:extra|separately|[$€£]?\d)"),
    (r"allow(?:s|ed)?|permit(?:s|ted)?", r"forbid(?:s|den)?|prohibit(?:s|ed)?|bann?(?:ed|s)|disallow(?:s|ed)?"),
    (
        r"(?:get|gets|got|given|paid) (?:it |them |that )?back|returned|refund(?:s|ed)?|reimbursed|receives?",
        r"los(?:e|es|ing|t)|forfeit(?:s|ed)?|withheld|deducted|kept back",
    ),
    (r"lock(?:s|ed|ing)?", r"unlock(?:s|ed|ing)?"),
    (r"enabl(?:e|es|ed|ing)", r"disabl(?:e|es|ed|ing)"),
    (r"(?:switch(?:ed|es)?|turn(?:ed|s)?) on", r"(?:switch(?:ed|es)?|turn(?:ed|s)?) off"),
    (r"accept(?:s|ed)?", r"reject(?:s|ed)?|refus(?:e|es|ed)|turn(?:s|ed)? away"),
    (r"required?|requires|compulsory|mandatory|obligatory", r"optional|voluntary"),
    (r"increas(?:e|es|ed)|rais(?:e|es|ed)|rises?", r"decreas(?:e|es|ed)|reduc(?:e|es|ed)|lower(?:s|ed)?|falls?"),
    (r"upload(?:s|ed|ing)?", r"download(?:s|ed|ing)?"),
    (r"import(?:s|ed|ing)?", r"export(?:s|ed|ing)?"),
    (r"reserved", r"open(?:s|ed)? to (?:the public|everyone|everybody|all)"),
    (r"paid leave|is paid", r"unpaid"),
    (r"penalt(?:y|ies)|fines?|fees?|charges?|costs?|cost", r"waived|remitted|written off"),
    (r"außer betrieb", r"(?<!außer )in betrieb"),
    (r"(?:ge)?öffne\w*|offen", r"geschlossen|schließ\w*|schliess\w*"),
    (r"erlaubt|gestattet|zulässig|zugelassen", r"verboten|untersagt|unzulässig"),
    (r"inbegriffen|inklusive|enthalten", r"exklusive|zzgl|zuzüglich"),
    (r"kostenlos|kostenfrei|gratis", r"kostenpflichtig|gebührenpflichtig"),
    (r"dürfen|darf", r"verboten|untersagt|gesperrt"),
    (r"ouvert(?:e|s|es)?|ouvre(?:nt)?", r"fermé(?:e|s|es)?|ferme(?:nt)?"),
    (r"autorisée?s?|permise?s?", r"interdite?s?|défendue?s?"),
    (r"mở cửa", r"đóng cửa"),
    (r"(?<!chưa )(?<!không )bao gồm|đã gồm", r"chưa gồm|chưa bao gồm|không gồm"),
    (r"được phép|cho phép", r"bị cấm|cấm|nghiêm cấm"),
    (r"bật", r"tắt"),
    (r"bắt buộc", r"tự nguyện|tùy chọn"),
    (r"tăng", r"giảm"),
    (r"tải lên", r"tải xuống|tải về"),
)
"""Contrary states, of which question or reference have one and an answer the other."""
DATED_EVENTS = (
    (r"open(?:s|ed|ing)?", r"clos(?:e|es|ed|ing)|shuts?|deadline"),
    (
        r"start(?:s|ed|ing)?|begin(?:s|ning)?|began|commences?",
        r"end(?:s|ed|ing)?|finish(?:es|ed)?|stops?|(?:is|are) over",
    ),
    (r"lands?|landing", r"takes? off|take-?off"),
    (r"arriv(?:e|es|ed|al)|gets? in", r"depart(?:s|ed|ure)?|leav(?:e|es|ing)|set(?:s|ting)? off"),
    (r"check(?:ing)?[ -]?in", r"check(?:ing)?[ -]?out"),
    (r"mở cửa", r"đóng cửa"),
    (r"bắt đầu", r"kết thúc"),
    (
        r"(?:đến|tới|về) (?:nơi|ga|bến|cảng|sân bay)|cập bến|hạ cánh",
        r"khởi hành|rời (?:bến|ga|cảng|sân bay)|xuất phát|cất cánh",
    ),
    (r"giao hàng", r"nhận hàng"),
    (r"nhận phòng", r"trả phòng"),
    (r"ouvr(?:e|ent|ir)|ouverture", r"ferm(?:e|ent|er|eture)"),
    (r"commenc(?:e|ent|er)|débute\w*", r"fini(?:t|ssent|r)|(?:se )?termine(?:nt)?"),
    (r"öffne[tn]?|öffnung", r"schließ(?:t|en|ung)"),
    (r"beginn(?:t|en)?", r"end(?:et|en)"),
    (r"ankunft|ankommt", r"abfahrt|abfährt|abflug"),
    (r"abren?|abrir|apertura", r"cierran?|cerrar|cierre"),
    (r"empiezan?|comienzan?", r"terminan?|acaban?"),
    (r"apre|aprono|apertura", r"chiude|chiudono|chiusura"),
    (r"abrem?|abertura", r"fecham?|encerramento"),
)
"""Contrary events that a time may be said of."""
DEADLINE_EVENTS = tuple(
    list_words(words)
    for words in (
        "booking bookings book booked reservation reserving reserve reserved ordering order ordered purchase purchasing"
        " buying buy bought payment paying pay paid",
        "arrival arriving arrive arrived check-in checkin delivery delivering delivered receipt receiving receive"
        " received",
        "departure departing depart departed leaving leave left checkout check-out",
        "application applying apply applied registration registering register registered",
        "birth born",
        "accident damage loss theft",
        "repair repairs repairing repaired",
        "return returning returned",
        "take-off takeoff flight departure abflug abfahrt abreise départ décollage khởi hành",
        "bestellung bestellen kauf buchung buchen zahlung bezahlung commande achat réservation paiement đặt mua",
        "erhalt empfang eingang zugang lieferung zustellung ankunft réception livraison remise nhận giao",
        "publication publishing published announcement announced",
        "trip trips journey journeys travel travelling traveling travelled ride reise fahrt voyage trajet",
        "end ends ended ending over ende abschluss ablauf fin kết",
    )
)
"""Words for the events before and after which spans of time are counted, those of one event together: who is told of a
booking, and who of a payment, may be told of the same."""
