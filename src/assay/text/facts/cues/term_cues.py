"""The terms on which something is said to hold: for which part of a time, at once or in all, on what condition."""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import Cues

DURING = Cues(
    "(?:during|for|in|within|throughout|over|until the end of)(?: (?:the|your|their|his|her|our|its|a))?",
    "trong | suốt | vào | cho",
    "(?:während|in|im|für|über)(?: (?:der|des|den|das|die|dem|ihrer|ihres|seiner|seines))?"
    " | (?:pendant|durant|pour|dans|sur)(?: (?:la|le|les|sa|son|leur|votre))?",
)
"""Begins the time for which alone something holds."""
PART_OF_TIME = Cues(
    r"entire | whole | full | \d+(?:st|nd|rd|th) | first | second | third | last | final | initial | remaining",
    "cả | toàn bộ",
    "gesamte[nrsm]? | ganze[nrsm]? | erste[nrsm]? | zweite[nrsm]? | letzte[nrsm]?"
    " | première?s? | premiers? | deuxième | dernière?s? | derniers? | tout(?:e)? (?:la|le)",
)
"""Says which part of a time is meant, before its noun."""
PART_OF_TIME_AFTER = Cues(vietnamese="đầu tiên | đầu | cuối | cuối cùng")
"""Says so after the noun."""
SMALL_NUMBER = Cues(
    r"\d+ | few | two | three | four | five | six", other="zwei | drei | vier | sechs | deux | trois | quatre | six"
)
"""Stands between "first" and such a noun."""
AT_ONCE = Cues(
    "at (?:a|one|any one) time | at once | at the same time | simultaneously",
    "cùng (?:một )?lúc | một lúc",
    "gleichzeitig | auf einmal | zugleich | à la fois | en même temps | simultanément",
)
"""Says of a number that so many are had at one time."""
IN_ALL_TERMS = Cues(
    "in (?:all|total) | altogether | overall | for the (?:whole|entire|full|complete) [a-z]+",
    "tổng cộng | tất cả là | (?:cho|trong) (?:cả|toàn bộ|suốt) [a-z]+",
    "insgesamt | für d(?:ie|en|as) (?:gesamte|ganze)[nrs]? [a-zäöüß]+"
    " | au total | en tout | pour tout(?:e)? (?:la|le) [a-z]+",
)
"""Says of a value that it is all that there is."""
EACH_TIME = Cues(
    "(?:each|every) time | at a time | (?:per|each) (?:renewal|extension)", "mỗi lần", "jeweils | à chaque fois"
)
"""Says of a value that it is counted again and again."""
PROVIDED = Cues(
    "provided(?: that)? | providing(?: that)? | on (?:the )?condition that | unless(?! you )",
    "với điều kiện(?: là)? | trừ khi",
    "sofern | vorausgesetzt(?:, dass)? | unter der bedingung,? dass | es sei denn | außer wenn"
    " | à condition (?:que|de|d') | pourvu que | sous réserve (?:que|de) | à moins (?:que|de) | sauf si",
)
"""Begins a condition in so many words; "as long as you tell us" may be a courtesy."""
ONLY_THEN = Cues(
    "only | just | exclusively", "chỉ", "nur | ausschließlich | ne (?:[a-z]+ )?que | seulement | uniquement"
)
"""Says that something holds then and at no other time."""
UNAVAILABLE = Cues(
    "closed | shut | forbidden | prohibited | banned | not allowed | unavailable | off limits | blocked",
    "nghỉ | đóng cửa | cấm | khóa",
    "geschlossen | gesperrt | verboten | untersagt | zu | fermée?s? | interdite?s?",
)
"""Says that something is not to be had, open or allowed."""
IF = Cues("if", "nếu", "wenn | falls | si")
"""Begins any condition."""
IF_YOU_LIKE = Cues("any | not | so | you (?:need|want|have|like|prefer|wish)")
"""Follows an "if" that limits nothing."""
AS_ALL = Cues(
    "(?:just |exactly |the same )?(?:as|like)(?: (?:it|they|is|are|does|do|with|for|in|of|our|the case|also)){0,4}"
    " (?:all|every|any)",
    "(?:cũng )?như (?:mọi|tất cả)(?: các)?",
    "wie (?:(?:auch|bei|für|es|das) ){0,2}(?:alle[nrs]?|jede[nrsm]?)"
    " | comme (?:(?:pour|à|c'est le cas) ){0,2}(?:tous|toutes|tout|toute)",
)
"""Says that the same holds of all others."""
FINE = Cues(
    "fine | allowed | permitted | ok | okay | possible | enough | accepted | all right | acceptable",
    "được(?: phép)? | đủ",
    "erlaubt | möglich | gestattet | in ordnung | autorisée?s? | permise? | possible | acceptée?s?",
)
"""Says that something will do."""
TOO = Cues("also | too | as well | likewise | equally", "cũng", "auch | ebenfalls | aussi | également")
"""Says that something else is so as well."""
ADVISED = Cues(
    "recommended | advisable | advised | suggested | encouraged | preferred",
    "khuyến nghị | khuyến khích",
    "empfohlen | ratsam | empfehlenswert | conseillée?s? | recommandée?s?",
)
"""Says that something is good to do, and not that it has to be done."""
BESIDE = Cues(
    "on top of | in addition to | besides", "ngoài | bên cạnh", "zusätzlich zu[mr]? | neben | en plus (?:de|du|des)"
)
"""Puts a value beside another thing, which it is no part of."""
NUMBERED_THING = Cues(
    "(?:room|hall|form|class|section|gate|block|flat|unit|apartment|apt|platform|stand|bay|door|exit|entrance|zone"
    "|level|floor|wing|seat|row|table|clause|paragraph|article|appendix|annex|schedule|course|group|grade|line|bus"
    "|route|bed|ward|cabin|desk|locker|lot|suite|terminal|track|aisle|lane|box|slot|page|chapter|exercise|house"
    "|stop|type|category)(?:e?s)?",
    "phòng | lớp | mẫu | cổng | khu | tòa | căn(?: hộ)? | nhà | mục | điều | nhóm | tuyến | ghế | dãy | bàn | ô | bãi",
    "(?:raum|räume|zimmer|saal|halle|formular|klasse|abschnitt|tor|block|wohnung|gleis|bahnsteig|platz|paragra(?:f|ph)"
    "|absatz|artikel|anlage|anhang|kurs|gruppe|linie|sitz|reihe|tisch|haus|gebäude|stufe|typ)(?:e?[nrs]?) | §"
    " | (?:salle|porte|classe|section|formulaire|bâtiment|bloc|appartement|quai|zone|annexe|cours|groupe|ligne|siège"
    "|rangée|chambre|voie|sortie|lot)s?",
)
"""A thing of which there are several, told apart by a number and perhaps a letter: "Room 3B"."""
