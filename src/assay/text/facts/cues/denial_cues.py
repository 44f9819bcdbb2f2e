"""What denies, forbids, withdraws or exempts: words by which a sentence says that something is not so, or no longer."""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import Cues, list_words

FORBIDS = Cues(
    "not (?:be )?(?:allowed|permitted) | must not | mustn't | must never | may not | may never | cannot | can't"
    " | can not | should not | should never | shall not | (?<!not )forbidden | (?<!not )prohibited",
    "không được",
)
"""Says that something must not be: "must not take more than 12 days"."""
BANS = Cues("(?<!not )banned | off limits | not welcome", "(?<!không )cấm", "verboten | untersagt")
"""Says the same of what it names."""
FORBIDS_VERB = Cues(
    "cannot | can't | can not | may not | must not | mustn't | won't | (?:is|are|will) not | isn't | aren't | never",
    "không (?:được|thể)(?: phép)?",
)
"""Stands before the verb of what is forbidden: "cannot be renewed"."""
FORBIDS_VERB_IN_OTHER_LANGUAGES = Cues(
    other="(?:kann|können|darf|dürfen|wird|werden) nicht | ne (?:peut|peuvent) (?:pas|plus)(?: être)?"
)
"""The same in German and French."""
PERMITS = Cues("not (?:be )?(?:forbidden|prohibited|banned|refused)")
"""Denies a prohibition, and so permits."""
PROHIBITS_IN_VIETNAMESE = "đừng|chớ"
"""Vietnamese words that forbid, as they are written: folded they look like "đúng" (right) and "cho" (for)."""
DENIES_IN_OTHER_WORDS = Cues(
    "off | out | away | behind | forbidden | prohibited | banned | bans? | illegal | off-limits"
    " | avoid(?:ed)? | refrain"
    " | skip | exclud(?:e|es|ed|ing) | exempt(?:ed)? | refused? | rejected | declined? | denied | stops? | impossible"
    " | unable | waived? | spared | instead | forget | leave | left | zero",
    "đừng | tránh | cấm | tắt | miễn | bỏ qua",
)
"""May say without a negation that something is not so, or not done: "leave the flash off"."""
DENYING_BEFORE_PREDICATE = Cues("not | never | cannot", "không | chưa")
"""Denies the word that follows it, perhaps after an auxiliary."""
WITHDRAWS_ALL = frozenset(("no longer", "stopped", "none", "nobody", "no one", "neither", "nor", "hardly", "few"))
"""Negations of whatever is said with them."""
ABSENCE = Cues(
    "closed | shut | prohibited | forbidden | banned | excluded | exempt | unavailable | off limits | quiet",
    "nghỉ | đóng cửa | cấm",
)
"""Says without a negation that something is not there, not open or not allowed."""
REFRAINING = Cues(
    "stop(?:ped|ping)? | avoid(?:ing)? | refrain(?:ing)? | abstain(?:ing)? | keep off | stay off",
    "nhịn | kiêng | tránh | ngừng",
)
"""Says without a negation that something is not done."""
CLOSED = Cues("closed | shut | off", "đóng cửa | nghỉ")
"""Says of a day that nothing is open on it."""
FALLS_OUT = Cues(
    "cancel(?:l?ed|s)? | off | suspended | without | drops? out | falls? through | skip(?:ped)?", "hủy | nghỉ"
)
"""Says that something does not take place."""
REFUSED_BEYOND = Cues(
    "rejected | refused | blocked | declined | turned away"
    " | not (?:be )?(?:accepted|allowed|possible|permitted) | won't"
    " | can't | cannot | isn't | aren't | must not | mustn't | may not | stops? | stopped | suspended | shut down"
    " | too (?:long|large|big|heavy|late|much) | fails? | (?:costs?|charged) extra",
    "từ chối | không (?:được|nhận|chấp nhận) | không(?: [a-z]+){1,2} (?:được|nữa)",
)
"""Says what becomes of values beyond a bound: "anything larger than 25 MB is rejected"."""
BEYOND = Cues(
    "before | after | until | till | beyond | past | outside | unless | except | other than | earlier than"
    " | later than",
    "trước | sau | quá | ngoài | đến khi",
)
"""Stands before a value beyond which something is denied: "you can't get in before nine"."""
AFTER_A_VALUE = list_words("after beyond past later sau quá")
"""Of these, the ones that speak of the far side."""
AGREES_BY_NEGATION = Cues(
    "(?:no|not an?) (?:problem|worries|issue|doubt|trouble|objection|bother) | (?:don't|do not) (?:hesitate|worry)"
    " | why not | nothing against",
    "không (?:sao|vấn đề|thành vấn đề)",
)
"""Agrees, although it has a negation."""
RULE_THAT_ENDS = (
    "rule|limit|fee|charge|surcharge|policy|requirement|restriction|ban|threshold|deadline|minimum|maximum|cap|discount"
)
"""What may be abolished: "the 8 kg limit was abolished" says that it is none."""
ABOLISHED = "dropped|abolished|scrapped|discontinued|withdrawn|removed|replaced|cancelled|canceled|ended|closed down"
ABOLISHED_IN_VIETNAMESE = "bỏ|hủy|bãi bỏ|thay"
"""Say of a rule or a thing that it is over, after an auxiliary: "has been dropped", "đã bỏ"."""
BROKEN = Cues(
    "out of (?:order|service|use|action) | until further notice | broken | defective | suspended"
    " | under (?:repair|maintenance) | (?:not|n't) (?:running|working|in (?:use|service|operation)|operating)"
    " | temporarily | fully booked | sold out | closed (?:for|due|because|until|off)"
    " | being (?:repaired|renovated|replaced) | withdrawn | discontinued",
    "hỏng | tạm (?:ngừng|dừng|đóng) | đang (?:sửa|bảo trì) | ngừng hoạt động",
)
"""Says that what is named is of no use now."""
EXEMPT = Cues(
    "(?:is|are|was|were) (?:exempt|excused|spared|barred|banned|excluded) | needn't | need not",
    "đâu (?:có|cần|phải|được) | làm gì (?:có|được) | khỏi | (?:được )?miễn | bị cấm"
    " | (?<=cũng )(?:không|chưa|chẳng) | (?<=thì )(?:không|chưa|chẳng)",
)
"""Says right after a name that what is said of others does not hold of it."""
CANNOT = Cues("can't | cannot | don't | doesn't | isn't | aren't | won't | mustn't | (?:are|is|can|may|must) not")
"""Ends a short sentence that denies what is asked: "you can't.", "there isn't"."""
DENIED_LAST = Cues("(?:not|never|no)", "thì (?:không|chưa)(?: (?:ạ|nhé|nha|đâu|bạn|có|được))*")
"""Ends a part that denies what it begins with."""
ALL_DENIED = list_words("no none neither")
"""Denies every one of what follows it."""
NONE_AT_ALL = Cues("nowhere | nobody | no one | nothing | none | never", "không ai | không đâu | không bao giờ")
"""Answers by itself where, who, what or when: there is none."""
NOT_BEFORE_PHRASE = Cues(
    "not | never | no longer | rather than | instead of",
    "không phải | chưa phải | chứ không | không còn | thay vì | không được | không có",
)
"""Denies the phrase that follows it at once."""
CALLED_UNTRUE = Cues(
    "not (?:correct|right|true|the) | wrong | incorrect | false | outdated | no longer",
    "sai | không đúng | không còn | không phải(?= (?:là|đâu|vậy|thế|như)|[^ a-z]| ?$)",
)
"""Says right after a phrase that it is untrue; before a verb "không phải" says what need not be done."""
BEFORE_DENIED_PHRASE = Cues(
    "a | an | the | be | get | have | receive | equal to | exactly | at | by | of | in | for",
    "là | phải | được | nghỉ | có",
)
"""What may stand between a negation and the phrase that it denies."""
DECIDED_LAST = Cues(
    "(?:is|are|does|do|can|may)(?: not|n't)?(?: (?:fine|ok|okay|allowed))? | can't",
    "thì (?:được|không|có|chưa)(?: (?:ạ|nhé|nha|bạn))*",
)
"""Ends a part that says yes or no and nothing else."""
NEGATION = Cues(
    "not | never | no longer | neither | nor | without | no one | nobody | none | nothing | hardly | barely | scarcely"
    " | rarely | seldom | few | little | no | cannot | rather than | instead of | stopped | lacks?"
    " | (?:has|have|had|is|are) yet to"
    " | (?:fail(?:s|ed)?|refuses?|refused|declined?|declines|forg[eo]t(?:s|ten)?|neglect(?:s|ed)?|omit(?:s|ted)?) to"
    " | den(?:y|ies|ied) (?:having|that)",
    "không | chưa | chẳng | thay vì | khỏi | từ chối | ít khi | hiếm khi | đâu (?:có|được|phải)",
)
"""Denies what is said with it."""
DENIES_IN_OTHER_LANGUAGES = Cues(
    other="nicht | kein(?:e[nmrs]?)? | nie(?:mals)? | ne | n(?=['’]) | pas | jamais | nunca | não"
)
"""Denies what is said with it in German, French, Spanish and Portuguese."""
CONTRACTED_VERBS = {"ca": "can", "wo": "will", "sha": "shall"}
"""What is left of a verb before "n't", if that is not the verb."""
BOUNDS_INSTEAD = Cues(
    r"(?:no|not|never|nothing)(?: \w+)? (?:more|less|fewer|later|earlier|longer|greater|larger|higher|lower"
    r"|[a-z]{2,}er) than\b | (?:no|not|nothing) (?:over|above|under|below|beyond)\b",
    r"(?:không|chưa)(?: \w+)? (?:quá|hơn|dưới)\b",
)
"""A negation that makes a bound: "no more than 5"."""
DENIES_NOTHING = Cues(
    r"not only | not just | not until | a few | a little | no doubt | no\.", "không chỉ | không những"
)
"""Has a negation and denies nothing."""
ASKS_BY_NEGATION = r"(?:hay|có|được) không\?"
"""Ends a Vietnamese question; its "không" denies nothing."""
MYTH = Cues(
    "myths? | misconceptions? | (?<!not )(?<!unless i'm )(?<!unless i am )mistaken(?:ly)? | mistook | wrongly | falsely"
    " | erroneously | incorrectly | untrue | (?:false|wrong|incorrect) (?:to|that) | rumou?r(?:s|ed)?"
    " | legend has it | hoax | fallacy | not true | isn't true | no longer (?:true|correct|valid)",
    "lầm tưởng | tin đồn | hiểu lầm | sai lầm | nhầm tưởng",
)
"""Calls a whole statement untrue, before or after it."""
WRONG = Cues(
    "(?<!not )wrong | false | incorrect | erroneous | not (?:correct|right) | isn't (?:correct|right)",
    "là sai | không đúng",
)
"""An adjective that calls a number wrong, and may only describe a thing ("a wrong token")."""
VERBS_NEGATED_AFTER = "is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must"
"""Verbs that a negation right after a statement belongs to."""
UNABLE = Cues("can't | cannot | won't | shan't | (?:is|are|was|were) (?:unable|forbidden)\\b")
"""The same with the negation in it, so that it is written in one word or in another way: "Owners cannot do it"."""
SAME_DEED = Cues(
    "(?:be )?(?:(?:able|allowed|permitted) to )?(?:do )?(?:it|so|that|this)(?: (?:either|at all|myself))?"
    " | (?:be )?(?:able|allowed|permitted)(?: to)?",
    "(?:được |thể )?(?:làm )?(?:được )?(?:việc |điều )?(?:này|đó) | (?:được )?phép | được",
)
"""Stands for what the question asks, after the verb of somebody who can or cannot do it: "do it", "allowed to"."""
VERB_BEGINS_IN_VIETNAMESE = "sẽ|bị|thì|phải|được"
"""Stand before the verb of a Vietnamese sentence, after a clause that narrows its subject: "xe chưa nhận sẽ bị …"."""
NOT_IN_HEADING = Cues(
    "not | never | cannot | nobody | none of",
    "không(?! quên\\b)",
    "nicht(?! vergessen\\b) | kein(?:e[nmrs]?)? | pas(?! oublier\\b) | aucun(?:e|s|es)?",
)
"""Denies, at the end of the heading of a list, what stands under it: "Not covered:", "You don't need:"."""
LEFT_OUT = Cues(
    "exclud(?:e|es|ed|ing) | exclusions? | except(?:ions?)? | lacks? | omits? | without"
    " | leav(?:e|es|ing) (?:out|at home) | optional(?:ly)? | extras? | additional(?:ly)? | separately | on top"
    " | until \\d{4} | formerly | previously | used to | no longer",
    "loại trừ | ngoại trừ | bỏ qua",
    "ausgeschlossen | ausgenommen | verzicht(?:en|et|bar) | ohne | entfällt | entfallen | optional | zusätzlich"
    " | gesondert | separat | früher | sans | exclue?s? | sauf | hormis | en option | en supplément | séparément",
)
"""Says in the heading of a list that what stands under it is left out, comes on top, or was so once."""
_EXTENT = "(?:the |our |this |its |your )?(?:[a-z]+ )?(?:area|scope|range|cover(?:age)?|territory|remit)"
LEAVES_OUTSIDE = Cues(
    f"(?:outside(?: of)?|beyond|not part of) {_EXTENT} | (?:falls?|lies?) outside"
    " | (?:among|one of) (?:the |our )?exclusions",
    "nằm ngoài | ngoài phạm vi | không thuộc",
    "außerhalb (?:des|der|unseres|unserer) | en dehors (?:de|du|des) | hors (?:de|du|zone|champ)",
)
"""Says without a negation that what is asked is not a part of something: "Russia is outside the area of cover"."""
