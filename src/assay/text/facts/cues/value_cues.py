"""What is said of a value: per what, in all, as a difference, on top of another one, and who gives it to whom."""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import Cues

PER = Cues("per | each | every", "mỗi")
"""Stands before what a value is counted per: "2 euros per 5 pages"."""
EVERY_BEFORE = Cues("every | each", "cứ | mỗi")
"""Stands before a span of time after which something is repeated."""
SPEAKS_OF_EVERY = Cues("every | each | per | often | frequently", "cứ | mỗi | hàng | định kỳ")
"""Speaks of how often something is."""
ONE = Cues("an?", "một")
"""The same where an article does: "10 euros a month"."""
ADVERBS_OF_RATE = "hourly|daily|nightly|weekly|monthly|quarterly|yearly|annual(?:ly)?"
"""Say per which span of time."""
PERIOD_BEFORE = Cues("per | an? | each | every | one | whole | entire", "mỗi | một | hàng | cả")
"""Stands before a period that something is counted for."""
PERIOD = Cues(
    "minute | hour | day | night | week | month | quarter | year | semester | term | season | session | visit | group"
    " | party | family | household | room | table",
    "giờ | tiếng | ngày | đêm | tuần | tháng | quý | năm | học kỳ | kỳ | mùa | lần | lượt | buổi | ca | khóa"
    " | đoàn | nhóm"
    " | gia đình | phòng",
)
"""A span of time, or a group, that something is counted for."""
WITHIN_PERIOD = Cues("in | within | over | during | throughout | every | across", "trong | suốt | cứ | mỗi")
"""Stands before a span of time in which something is counted: "30 nights in two years"."""
IN_A_ROW = Cues(
    "in a row | consecutive(?:ly)? | back[- ]to[- ]back | without (?:a|any) (?:break|gap)",
    "liên tiếp | liên tục",
)
"""Says of things that are counted that one follows the other without a gap."""
TIMES_OF_THE_PAST = "week|month|year|season|term|semester|quarter|winter|spring|summer|autumn|fall|night|time"
"""Spans of time of which there was a last one."""
IN_ALL = Cues("in (?:all|total) | altogether | all told | overall", "tổng cộng | tất cả là")
"""Says that another value is the total."""
SUMS_UP = Cues(
    "in (?:all|total|sum) | total(?:s|ling)? | sum | altogether | together | all told | overall | combined | comes to"
    " | adds up | makes",
    "tổng(?: cộng)? | tất cả | cả thảy",
)
"""Says that a value is the sum of those of other parts, so that it may be that of what the question asks."""
FOR_SEVERAL = Cues("for | buys? | covers?", "cho")
"""Stands between a price and the number of things that it is for."""
FOR_MANY_USES = Cues(
    "pass(?:es)? | cards? | seasons? | memberships? | subscriptions? | annual | yearly | monthly | hourly | daily"
    " | weekly | per"
)
"""Speaks of what is paid once and used often."""
OF_A_GROUP = Cues(
    "famil(?:y|ies) | groups? | teams? | couples? | part(?:y|ies) | households? | whole | total | altogether",
    "gia đình | nhóm | đoàn",
)
"""Says that a value is one for several people, so that it is none per person."""
ADDITION = Cues(
    "more | further | additional | extra | another | other | on top | plus | longer",
    "thêm | khác | nữa",
    "länger | mehr | zusätzlich | weitere[nr]? | de plus | supplémentaires?",
)
"""Speaks of something that comes on top."""
ADDITION_AFTER = Cues(
    "more | further | additional | extra | other | longer",
    "nữa",
    "länger | mehr | zusätzlich | de plus | supplémentaires?",
)
"""Says right after a value that it comes on top."""
ADDITION_LAST = Cues("longer | more | extra", "nữa", "länger | mehr | de plus")
"""Says so after what a number counts, at the end."""
ADDITION_BEFORE = Cues("another | a further | an additional | an extra | plus", other="(?:um )?weitere[nr]?")
"""Says right before a value that it comes on top."""
DIFFERENCE_BEFORE = Cues(
    "save | saves | discount of | refund of | fine of | surcharge of | bonus of"
    " | (?:up|down|off|reduced|raised|cut|drops?|rises?) by | (?:extended|prolonged|lengthened) by"
    " | dropped | fell | rose | climbed | shrank | grew"
    " | (?:went|gone) (?:up|down) | twice | thrice | double | triple",
    "giảm | tăng | bớt | thưởng | phạt | hoàn(?: lại)? | gấp (?:đôi|ba|bốn)",
)
"""Says that a value is a difference, or a part of another, or is paid back or as a fine, not what something costs."""
SPEAKS_OF_DIFFERENCE = Cues(
    r"sav(?:e|es|ed|ings?) | discounts? | refund\w* | fine[sd]? | surcharge\w* | bonus\w* | off"
    r" | exten[ds]\w* | prolong\w* | renew\w* | reduc\w* | raise\w*"
    r" | increase\w* | change\w* | cheaper | drop\w* | ris(?:e|es|en|ing) | rose | f[ae]ll(?:s|en|ing)? | cut"
    r" | climb\w*"
    r" | shr[aiu]nk\w* | gr[eo]w\w* | go(?:es|ing)? (?:up|down) | went (?:up|down) | twice | thrice | doubl\w*"
    r" | tripl\w*",
    "giảm | tăng | bớt | thưởng | phạt | hoàn | gấp",
)
"""Speaks of a difference."""
COMPARED_IN_VIETNAMESE = "rẻ|cao|thấp|đắt|nhiều|ít|lớn|nhỏ|dài|ngắn|chậm|nhanh"
"""Adjectives before "hơn", after which follows what something is compared with."""
NOT_COMPARED_IN_VIETNAMESE = "thì|là|phải|được|nên|còn|mà|và|nếu|khi|ở|chỉ|sẽ"
"""Words of grammar, which begin something else after "hơn"."""
CHANGE = Cues(
    "reduc | cut | lower | decreas | drop | f[ae]ll | shr[iau]nk | rais | r[io]se | increas | gr[eo]w"
    " | (?:go(?:es)?|went) (?:up|down)",
    "giảm | tăng",
)
"""How verbs of change begin."""
CHANGE_BY, CHANGE_TO = Cues("by", "đi | thêm"), Cues("to", "xuống | lên | còn")
"""Stand before the difference, and before what is left."""
REDUCTION = Cues(
    r"off | discounts? | reduc\w+ | cheaper | less | saves? | saved | instead of | rebate",
    "thay vì | giảm | chiết khấu",
)
"""Speaks of a price that is lowered, so that the rest may be said for the reduction."""
WORKING_DAYS = Cues("(?:working|business|work) ?-?days? | weekdays", "ngày làm việc")
"""Days of work."""
SPEAKS_OF_WORK = Cues("working | business | work | workdays? | weekdays?", "làm việc")
"""Speaks of days of work in any words."""
GIVEN = Cues(
    "you(?:'ll| will| can| would|'d)? (?:get|receive|earn|gain)"
    r" | we(?:'ll| will)? (?:give|refund|credit|owe|transfer) | (?:refund|reimburs|reward)\w*",
    "(?:hoàn|trả) lại | được (?:hoàn|trả|nhận)(?: lại)? | nhận (?:lại|được)",
)
"""Stands before an amount that the user gets."""
GIVEN_AFTER = Cues("back | in return | refund(?:ed)? | cashback | credit(?:ed)? | reward | to you")
"""Follows an amount that the user gets."""
YOU_PAY = Cues("you(?:'ll| will| have to| must| need to| should|'ve got to)? (?:pay|owe|be charged)(?: us)?")
IT_COSTS = Cues("(?:it|this|that) (?:will )?costs?")
MUST_PAY_IN_VIETNAMESE = Cues(vietnamese="phải (?:trả|đóng|nộp) | bị phạt")
"""Stand before an amount that the user pays."""
BEFORE_AMOUNT = Cues("about | around | only | just | a | an | the | you | us | me | up | to | back", "khoảng")
"""What may stand between a verb of paying and the amount."""
WITHOUT_PAYING = Cues(
    "free | without (?:paying|payment|being charged|(?:a|any) (?:fee|charge|fine|penalty|cost)) | for nothing | gratis"
    " | (?:at|for) no (?:cost|charge) | no (?:fee|charge|cost|fine|penalty) | nothing | zero | waived | complimentary",
    "miễn phí | không (?:mất|tốn|tính|thu|phải trả|bị phạt)",
    "gratuit(?:e|es|s|ement)? | sans (?:frais|payer) | kostenlos | kostenfrei | gratis | umsonst | gratuit[oa]s?"
    " | gratuitamente | sin (?:coste|cargo|pagar)",
)
"""Says that what is spoken of costs nothing."""
TO_BE_PAID = Cues(
    "costs? | charged? | charges | pay | paid | pays | fees? | fine | billed | due",
    "mất phí | tính phí | thu phí | phải trả | bị phạt",
    "coûte | payante? | kostet | kostenpflichtig | cuesta",
)
"""Says that what is spoken of is paid for."""
SPEAKS_OF_GIVING = Cues(
    r"get | gets | receiv\w* | earn\w* | give[sn]? | gain\w* | refund\w* | reimburs\w* | returned | reward\w*"
    r" | credit\w*"
    r" | we (?:pay|owe|transfer) | (?:is|are|be) paid | bonus\w* | allowance | salary | wage\w*",
    "nhận | hoàn | được | trả lại | thưởng",
)
"""Speaks of what the user gets."""
PEOPLE = Cues(
    "guests? | kids? | children | adults? | friends? | visitors? | passengers?",
    "bạn | đứa | em | bé | cháu | người | học sinh | sinh viên | khách",
)
"""Names of people that a number may count."""
NO_UNIT = Cues(
    "or | and | but | if | on | in | at | of | for | from | to | when | with | is | are | was | were | can | may | must"
    " | will | would | should | has | have | you | it | they | he | she | we | not | so | then | because"
    " | since | as | by"
    " | before | after | until | a | an | the | each",
    "hoặc | và | nếu | khi | ở | là | thì | nhé | ạ | được | phải",
)
"""Follows a number without being its unit."""
ASKED_PER = Cues("per | (?:for |of )?(?:each|every) | for one", "(?:cho )?mỗi", "pro | je")
"""Asks for a value per one of several things."""
HTTP_METHODS = "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS"
"""Stand before the path of an endpoint."""
FILE_ENDINGS = (
    "ya?ml|toml|jsonl?|conf|cfg|ini|env|txt|md|rst|csv|tsv|log|sh|bat|ps1|py|js|ts|go|rb|java|xml|html?|css|png|jpe?g|gif|svg|pdf|docx?"
    "|xlsx?|pptx?|lock|pem|crt|cer|key|service|sql|db|sqlite|zip|tar|gz|tgz|exe|dll|so|jar|properties|plist|desktop"
)
"""Ends the name of a file."""
WITHOUT_COST = Cues(
    other="sans (?:frais|supplément|coût) | ohne (?:aufpreis|zusatzkosten|kosten|gebühr) | sin (?:coste|costo|cargo)"
    " | sem custo | senza (?:costi|spese)"
)
"""Says that nothing has to be paid, and denies nothing else."""
