"""What bounds a value: limits, from when and until when, before and after, and words for the side of a bound."""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import Cues

_UNITS = "%|per|points?|times|minutes?|hours?|days?|weeks?|months?|years?|euros?|dollars?|pounds?|c?m|k?g|km"
UPPER_LIMIT = Cues(
    "max(?:imum)? | at most | up to | within | no (?:more|later|longer|larger) than | limit(?:ed)? | largest | longest"
    " | highest | allowance | latest | deadline | how late | until | till"
    rf" | by(?= (?:when|what date|(?:[a-z]+ )?\d(?![\d.,]* ?(?:{_UNITS})\b)))",
    r"tối đa | nhiều nhất | không quá | trong vòng | trong (?=\d|mấy\b) | chậm nhất | trong bao nhiêu"
    " | hạn (?:nộp|chót|cuối)",
)
"""Speaks of an upper limit."""
LOWER_LIMIT = Cues(
    "min(?:imum)? | at least | no (?:less|fewer|earlier) than | smallest | shortest | lowest | earliest",
    "tối thiểu | ít nhất | sớm nhất",
)
"""Speaks of a lower limit."""
UPPER_LIMIT_NAMES = "maximum max most highest largest cap capped limit limited ceiling top tops trần"
"""What the most is called."""
NAMED_VALUES = (
    Cues("max(?:imum)? | at (?:the )?most | most | up to | limit | highest | largest | longest", "tối đa | nhiều nhất"),
    Cues("min(?:imum)? | at least | least | lowest | smallest | shortest", "tối thiểu | ít nhất"),
    Cues("default(?:s|ed)? | out of the box | preset | unless you (?:set|change|configure)", "mặc định"),
    Cues("average | on average | typical(?:ly)? | usual(?:ly)? | mean", "trung bình"),
)
"""What tells several values of one thing apart: the most, the least, the one without a choice, and the usual one."""
ANY_LIMIT = Cues(
    r"limit(?:s|ed)? | deadline | max(?:imum|imal|\.)? | min(?:imum|imal|\.)? | most | least | until | within | by"
    " | earliest | latest | how (?:far|old|big|large|late|early|heavy|tall) | largest | biggest | longest",
    "tối đa | tối thiểu | nhiều nhất | ít nhất | giới hạn | trong vòng | lâu nhất | muộn nhất | sớm nhất | nặng",
)
"""Says that a value is a limit, of whichever side."""
BOUND = Cues(
    "(?<!'re )(?<!are )(?<!is )up to | at (?:the )?(?:most|least) | (?:a )?(?:maximum|minimum)(?: of)?"
    " | (?:no|not) (?:more|less) than | (?:or|and) (?:more|less|above|over|below|under|fewer|upwards?)",
    "không quá | tối đa | nhiều nhất | ít nhất | tối thiểu",
)
"""Makes a bound of the value beside it."""
MAY_BE = Cues(
    "can | may | might | could | allow(?:s|ed)? | permit(?:s|ted)? | capacity | holds? | fits? | how long",
    "được | có thể | chứa",
)
"""Says that something may be: at most a value."""
MUST_BE = Cues(
    "must | shall | should | need(?:s|ed)? | (?:have|has) to | require[sd]? | before | advance"
    " | (?:at|from) (?:what|which) age (?:may|can|is|are|do|does)",
    "phải | cần | nên | trước | (?:từ )?(?:mấy|bao nhiêu) tuổi",
)
"""Says that something has to be: at least a value."""
MUST_BE_IN_OTHER_LANGUAGES = Cues(other="muss | müssen | brauche\\w* | faut | doi[st] | doivent")
"""The same in German and French."""
LEAVES_CHOICE = Cues(
    "can | may | accept(?:s|ed)?", "có thể | được", "kann | können | darf | dürfen | peut | peux | peuvent | pouvez"
)
"""Says what may be done, and not what has to be."""
NEEDED_AT_LEAST = Cues("at least | min(?:imum)? | needs? | needed | requires? | required | must | from")
"""Speaks of what is needed at least, so that "or later" names no other thing."""
FROM = Cues("from | starting(?: at)? | beginning | as of | as from", "từ")
"""Stands before the beginning of a range, a time or a state."""
AFTER = Cues("after | later than | from | starting", "sau(?: ngay| khi)? | (?<!thứ )từ(?: ngày)?")
"""The same where an upper limit is expected; "thứ Tư" is Wednesday."""
WITHIN = Cues("within | inside(?: of)?", "trong(?: vòng)?", "innerhalb(?: von)? | binnen")
"""Stands before a span in which something has to be."""
LATER_THAN = Cues("after | later than | past", "sau(?: khi)? | (?:muộn|lâu|trễ) hơn", "nach | später als")
"""Stands before a span that is over when something is."""
NOT_UNTIL = Cues(
    "not (?:until|till|before) | (?:no|not) (?:earlier|sooner) than", "không trước", "erst nach | nicht vor"
)
"""Stands before a span and says with a negation that it has to be over first."""
LATER_AFTER_VALUE = Cues(
    r"later\b | afterwards\b | have passed\b | are over\b | have gone\b", r"sau(?=\W*$|[.,;!?])", r"später\b | danach\b"
)
"""Follows a span that is over when something is; "14 days after the exam" says after what."""
LATEST = Cues("at (?:the (?:very )?latest|most) | or less | maximum", "chậm nhất | muộn nhất | tối đa", "spätestens")
"""Says that a span is the longest, wherever it stands in the sentence."""
STARTS_TO_BE = Cues(
    "starts? | begins? | opens? | comes? | becomes? | resumes? | available | active | again",
    "bắt đầu | mở | trở lại",
    "beginnt | beginnen | öffnet | wieder",
)
"""Says after a span that something is so from then on."""
ENDS = Cues(
    "ends? | expires? | lapses? | closes? | runs? out | is over | void | too late | deadline",
    "hết | kết thúc | quá hạn",
    "endet | enden | verfällt | erlischt | läuft ab",
)
"""Says after a span that something is over."""
EARLIEST = Cues(
    "(?:not|never) before | (?:not|no) earlier than | at the (?:very )?earliest | or later | earliest",
    "không trước | sớm nhất | trở đi",
    "frühestens | nicht vor",
)
"""Says that a day is the first one possible."""
UNTIL = Cues("until | till | til | to | through | up to", "đến | tới | cho đến")
"""Stands before the end of a range, a time or a state: "open until 4 pm" says when it closes."""
BY_THEN = Cues("before | by | until | till | prior to | no later than", "trước | đến | tới | chậm nhất")
"""Stands before a time before which something is."""
AROUND_TIME = Cues("at | by | until | till | before | after | from", "lúc | trước | sau")
"""Stands before a number that is a time of day: "at six"."""
BEGINNING = Cues("starts? | begins? | opens?", "bắt đầu | mở cửa")
"""A verb of beginning before a time."""
BEGINNING_IN_OTHER_LANGUAGES = Cues(other="beginnt | startet | öffnet | commence | débute | ouvre")
"""The same in German and French."""
AHEAD_AFTER = Cues("before | ahead | prior | in advance | beforehand", "trước")
"""Follows a time by which something has to be done at the latest."""
AHEAD = Cues(
    "before | prior | ahead | advance | beforehand | early | earlier | notice | until | deadline", "trước | sớm"
)
"""Speaks of notice to be given."""
NOTICE = Cues(r"in advance | ahead | beforehand | notice | (?:before|prior to) (?:the|your|an?)\b")
"""Follows a span of time that is notice."""
BEFORE_EVENT = Cues(
    "before | prior to | ahead of | in advance | beforehand", "trước", "avant | vor | vorher | antes | prima"
)
"""Follows a span of time before something."""
AFTER_EVENT = Cues(
    "after | afterwards | later | following | past", "sau", "après | nach | danach | después | dopo | depois"
)
"""Follows a span of time after something."""
SIDE_UNTIL = Cues("before | until | till | by | up to | under | below", "trước | dưới", "bis | vor")
"""Stands before the end of what holds."""
SIDE_SINCE = Cues("after | from | over | above | since", "sau | trên", "nach | ab | seit")
"""Stands before the beginning of what holds."""
JOINS_VALUE = Cues("before | after | under | over | above | below | aged? | at least | at most | for", "dưới | trên")
"""Joins a value to words and limits them by it: "members under 18"."""
UNFIT = Cues("(?:far |much )?(?:too [a-z]+|not enough|insufficient)")
"""Says of a value that it is too little or too much."""
THAN = Cues(
    "less | more | fewer | longer | shorter | cheaper | dearer | faster | slower | higher | lower | later | earlier"
    " | older | younger"
)
"""Says before "than" that something differs by a value."""
THAN_IN_VIETNAMESE = "ít|ngắn|rẻ|nhanh|thấp|sớm|nhiều|dài|đắt|chậm|cao|muộn"
"""The same before "hơn"."""
OTHER_RELEASE = Cues(
    "before | below | under | prior to | (?:older|earlier|lower|less|newer|later|higher|more|greater|other) than"
    " | above | over | after | beyond | up to | except | avoid | not | without",
    "trước | dưới | trên | sau | (?:cũ|mới|thấp|cao) hơn | trừ | tránh",
)
"""Says before a release that another one is meant."""
TOO_MANY = Cues("too (?:many|much|few) | still | (?:not|isn't|aren't) enough | one (?:too|over|short)", "vẫn | chưa đủ")
"""Says of a count that it lies beyond a bound."""
