"""Words that say on which side of a value something holds: up to it, or from it on; for text as it is written."""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import Cues

UPPER_BEFORE = Cues(
    "up to(?: and including)? | at most | no (?:more|later|older|longer) than | (?:a )?maximum(?: of)? | until | till",
    "tối đa | nhiều nhất | không quá | đến | tới",
    "höchstens | maximal | längstens | bis(?: (?:zu[mr]?|einschließlich))?"
    " | jusqu['’](?:à|au|aux|en) | au (?:plus(?! tôt)|maximum) | unter | moins de",
)
"""Stands before a value up to which something holds."""
LOWER_BEFORE = Cues(
    "at least | no (?:less|fewer|earlier|younger) than | (?:a )?minimum(?: of)? | from | starting (?:at|from) | as of",
    "ít nhất | tối thiểu | từ",
    "mindestens | wenigstens | ab | ab dem | à partir d(?:e|u|es|['’]) | au (?:moins|minimum) | dès",
)
"""Stands before a value from which something holds."""
UPPER_BEFORE_MOMENT = Cues(
    "by | before | on or before | no later than | prior to | the latest(?: is)?",
    "trước(?: hoặc trong)? | chậm nhất(?: là)? | muộn nhất(?: là)? | trễ nhất(?: là)?",
    "spätestens | vor | avant | au plus tard",
)
"""The same before a day or a time alone: of a span it says what it is counted to."""
LOWER_BEFORE_MOMENT = Cues(
    "after | on or after | since | the earliest(?: is)?",
    "sau | sớm nhất(?: là)? | kể từ",
    "frühestens | nach | seit | après | au plus tôt | depuis",
)
"""The same before a day or a time alone, from which something holds."""
MOST_BEFORE = Cues(other="höchstens | maximal | frühestens | au plus(?! tard) | au maximum | au plus tôt")
"""Stands before the most of a span that something is before: the earliest day is the longest span."""
LEAST_BEFORE = Cues(other="mindestens | wenigstens | spätestens | au moins | au minimum | au plus tard")
"""Stands before the least of such a span."""
UPPER_AFTER = Cues(
    "or (?:less|fewer|younger|under|below|earlier|before|shorter|lower|smaller) | at (?:the )?(?:most|latest) | at max",
    "trở xuống | trở về trước | là (?:muộn|chậm|trễ) nhất | đổ lại",
    "(?:oder|und) (?:jünger|weniger|früher|kürzer|darunter) | spätestens | höchstens | maximal"
    " | (?:ou|et) (?:moins|avant|plus jeunes?) | au plus(?: tard)? | au maximum | maximum",
)
"""Follows a value up to which something holds."""
LOWER_AFTER = Cues(
    "or (?:more|older|over|above|later|after|longer|higher|larger) | at (?:the )?(?:least|earliest)"
    " | onwards? | upwards? | and (?:up|over|older|later)",
    "trở lên | trở đi | trở về sau | là sớm nhất",
    "(?:oder|und) (?:älter|mehr|später|länger|darüber) | frühestens | mindestens | aufwärts"
    " | (?:ou|et) (?:plus(?! (?:tard|jeunes?))|davantage|après|plus tard) | au moins | au plus tôt | minimum",
)
"""Follows a value from which something holds."""
TURNS_SIDE = Cues("not | never | no", "không | chưa", "nicht | pas | keinesfalls")
"""Turns the side of the word after it: "not before 8 pm"."""
