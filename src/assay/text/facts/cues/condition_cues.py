"""What makes a statement hold only of some, only then, or of all: conditions, exceptions, "only", and choices."""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import Cues

EXCEPTION = Cues(
    r"except(?:ing)?(?: for| on| that)? | with the exception of | apart from | aside from | besides | other than"
    r" | excluding | save for | unless"
    r" | (?:all|any|every|everything|everyone|anything|anyone|nothing|nobody|none|no one|each)(?: \w+){0,2} but",
    r"ngoại trừ | ngoài(?= (?:thứ|ngày|chủ nhật)\b) | ngoài(?= (?:[^\W\d_]+ ){1,5}ra\b) | trừ(?: khi)?",
)
"""Names what a statement does not hold of: "every day except Tuesdays"."""
MAY_ADD_INSTEAD = ("aside from", "besides", "ngoai")
"""Of these, the ones that may also say that something is there in addition: "besides Monday, it opens on Friday"."""
EXCEPTION_ADDED = Cues(
    "except(?:ing)? | apart from | other than | with the exception of | excluding | but not", r"(?<!trí )trừ(?! khi\b)"
)
"""Adds an exception to a fact: not "unless", and not "trí trừ"."""
UNCONDITIONAL = Cues(
    r"whether or not | with or without | regardless(?: of)? | no matter (?:if|whether) | irrespective of"
    r" | whether(?= [^.;]{0,80} or not\b) | even (?:without|if|when)",
    "bất kể | kể cả | dù có hay không",
)
"""Says that what follows is no condition."""
HOLDS_IF = Cues(
    "(?:only )?(?:if|provided(?: that)?|providing|as long as|so long as|on condition that)"
    " | only (?:with|when|after|in|on|at|during|from|while|for|by) | (?:with|after) (?=the|your|his|her|a|an|written)",
    "nếu | miễn là | với điều kiện | chỉ (?:khi|với|trong)",
    "(?:nur )?(?:wenn|sofern|falls) | nur (?:mit|auf|in|im|nach|bei)",
)
"""Begins the condition on which something holds."""
ONLY_STARTS = ("only ", "nur ", "chi ")
"""Begin a condition on which alone something holds, folded."""
HOLDS_EXCEPT = Cues(
    "unless | except(?: (?:if|when|with|for|in|on|at|where|during))? | but not (?:if|when|with|in|on|for)"
    " | everywhere but | save (?:if|when|with) | (?:only |but )?without",
    "trừ(?: khi)? | ngoại trừ",
    "außer(?: wenn| mit| auf| in| im)? | es sei denn | nur ohne | ohne",
)
"""Begins the condition on which it does not."""
UNIVERSAL = Cues("all | both | any | every | each", "tất cả | mọi")
"""Says that a statement holds of all."""
UNIVERSAL_WRITTEN = "tất cả|toàn bộ|mọi"
"""The same in Vietnamese, as it is written."""
UNIVERSAL_TOO_WRITTEN = r"(?:nào|ai|gì|đâu) (?:thì )?cũng|(?<![^\W\d_])đều(?![^\W\d_])"
"""Says in other words that a statement holds of all, as it is written: "thành viên nào cũng" is every member."""
EVERYONE = Cues(
    r"(?:any|every)(?:one|body|where|thing) | any\b(?: \w+)? | all\b(?: \w+){0,2} | nobody | no one | none | nothing"
    r" | nowhere | never | always",
    "(?:ai|gì|đâu|lúc nào|bao nhiêu|mấy) cũng (?:được|thế)? | không ai | chẳng ai",
)
"""Begins an answer that says all or none, and goes on."""
ONLY = Cues("only | just | merely | solely | exclusively", "chỉ | riêng")
"""Limits what follows it."""
ONLY_WORDS = frozenset(("only", "chi", "seul", "seulement", "nur", "solo", "solamente", "apenas"))
"""Single words that do so, folded, in several languages."""
ONLY_THESE = Cues(
    "(?<!the )(?<!an )only | exclusively | solely"
    " | (?:nobody|no one|none|nothing|no other(?: [a-z]+)?)(?: else)? (?:but|except(?: for)?|other than|than)",
    "(?<!chứng )(?<!địa )chỉ(?! (?:số|huy|đạo|định|thị|tiêu|dẫn)\\b)(?: có| riêng| mỗi)?"
    " | không ai(?: khác)? (?:ngoài|trừ)",
    "nur | ausschließlich | ausschliesslich | niemand (?:außer|ausser|als)",
)
"""Says of a fact that it holds of those whom it names and of nobody else, as it is written: "nobody but Owners"."""
NOBODY_ELSE = Cues("(?:nobody|no one|nothing|nowhere|none) else | mà thôi | niemand sonst")
"""Says the same after those who are named: "Owners and nobody else"."""
NAMES_NOBODY = (
    "if|when|after|before|once|twice|until|till|since|from|between|up|at most|at least|because|partly|then|there|here"
    "|as|where|while|by then|applies|khi|nếu|sau|trước|từ|đến|mới|được|cần|phải|wenn|nach|vor|ab|bis|seit"
)
"""Follow an "only" that limits a time, a condition or a verb, and names nobody."""
SAID_OF = Cues(
    "(?:only )?(?:appl(?:y|ies)|holds?|is|are|goes|go|counts?|is meant|are meant) (?:only )?(?:to|for)"
    " | is (?:what|the (?:fee|price|rate|limit)) (?:for|of)",
    "(?:chỉ )?(?:áp dụng (?:cho|với)|là (?:của|cho)|dành cho)",
    "(?:gilt|gelten) (?:nur )?für",
)
"""Stands between a value and those for whom or what it holds."""
NOT_ONLY = Cues("not (?:only|just)", "không (?:chỉ|riêng|phải chỉ)")
"""Says that something holds of more."""
RESTRICTS_DECISION = Cues(
    "but | only | except | unless | if | however | though | until | just | always | every",
    "nhưng | chỉ | trừ | nếu | tuy | riêng | khi",
    "sauf | mais | seulement | uniquement | à condition | sous réserve | jusqu'à | aber | nur | außer | wenn | solange"
    " | pero | solamente | únicamente | salvo | excepto | siempre que | tranne | soltanto | exceto | apenas"
    " | außerhalb | innerhalb | mit | ohne | en dehors | avec | sans | fuera de | sin",
)
"""Says that a yes or no does not hold as it stands."""
RESTRICTS_REFERENCE = Cues(
    "but | only | unless | except | if | when | provided | as long as | until",
    "nhưng | chỉ | trừ | nếu | khi | miễn là | với điều kiện",
    "sauf | mais | seulement | uniquement | à condition | sous réserve | jusqu'à | aber | nur | außer | wenn | solange"
    " | pero | solamente | únicamente | salvo | excepto | siempre que | tranne | soltanto | exceto | apenas"
    " | außerhalb | innerhalb | mit | ohne | en dehors | avec | sans | fuera de | sin",
)
"""The same in a reference, of which the rest then has to be stated too. In an answer "miễn là" only adds a courtesy."""
CONDITION_OF_DECISION = Cues(
    "but | though | although | if | unless | provided | as long as | so long as | on condition | between | until"
    " | before | after | during | except | outside",
    "nhưng | nếu | miễn là | trước | sau",
)
"""Begins the condition of a yes or no after a comma: "yes, if it rains"."""
TIMES_OF_DECISION = Cues(
    "weekdays? | weekends? | (?:work|sun|mon|tues|wednes|thurs|fri|satur)(?:ing )?days? | summer | winter | spring"
    " | autumn | mornings? | afternoons? | evenings? | nights? | holidays? | january | february | march | april | may"
    " | june | july | august | september | october | november | december",
    "ngày | mùa | buổi | cuối tuần | dịp | tháng",
)
"""Times for which alone a yes or no may hold: "yes, in summer"."""
CONDITION = Cues("if | unless | in case", "nếu | trường hợp")
"""Begins a condition."""
CONDITION_BEFORE_VALUE = Cues(
    "when(?:ever)? | if | once | as soon as | where(?:ver)? | any(?:one|body|thing)? | every(?:one|body|thing)?"
    " | whoever | all | those",
    "khi | nếu | từ | mỗi | ai | những",
)
"""Begins what holds only beyond a value: "whoever spends more than 500 euros"."""
SUBORDINATE = Cues(
    "if | when | whenever | once | as (?:long|soon) as | provided | unless | because | since | after | before | except"
    " | excluding | apart from",
    "ngoại trừ | trừ | nếu | khi",
)
"""Begins a part that goes on in the next one."""
LEADING = Cues("at | in | on | for | with | from", "trong | tại | ở | với")
"""Begins a phrase before a statement: "in summer, …"."""
LEADING_OR_CONDITION = Cues(
    "at | in | on | of | for | with | from | if | when | before | after | during | since | because | unless | except"
    " | excluding | provided | which | who",
    "trong | tại | ở | với | khi | nếu | trước | sau | vì | trừ | ngoại trừ | miễn là",
)
"""Begins a phrase before a statement or a condition after it, which belongs to that statement."""
PLACED = Cues("in | at | under | for", "ở | tại | bên | thời")
"""Begins a sentence with where, under what or for whom a statement holds."""
HEADED_BY_PLACE = Cues(
    "in | at | under | for | with",
    "ở | tại | bên | với",
    "für | bei | im | in | am | an | mit | pour | à | chez | dans | avec",
)
"""Begins the heading of a list with where, under what or for whom it holds."""
HEADED_BY_TIME = Cues("after | before | until", "sau khi | trước khi", "nach | vor | bis | après | avant | jusqu'à")
"""Begins the heading of a list with when it holds."""
SUMMED_UP = Cues(
    "short | brief | summary | a nutshell | conclusion | essence | other words | a word"
    " | (?:plain|simple)r? (?:english|language|terms|words)"
    " | your (?:information|reference|convenience) | the record | a glance | a start"
)
"""Says after "in", "for" or "at" that what follows is said shortly or besides, and names no place."""
OF_A_KIND = Cues(
    "on | in | of | with | from | at | for | that | which | who | whose", "ở | của | từ | thuộc | trên | dưới | trong"
)
"""Says right after "all rooms" which ones: "all rooms on the top floor"."""
ALSO = Cues(
    "(?:also|even|including|as well as) (?:in|on|at|for|during) | and (?:everybody|everyone|anyone|all others?)"
)
"""Says where, when or for whom else something holds."""
OR = Cues("or", "hoặc | hay")
"""Joins what may stand for one another."""
JOINS_ALTERNATIVES = Cues("or | or else", "hoặc(?: là)? | hay", "oder | beziehungsweise | ou(?: bien)? | o(?: bien)?")
"""The same in text as it is written, in five languages."""
OR_OF_NAMES = Cues("or", "hoặc(?: là)?")
"""Joins two names, either of which may be meant."""
OR_MORE = Cues("more | less | fewer | so | later | earlier | not | over | older | under | younger")
"""Follows "or" without naming another thing: "or more"."""
UPWARDS = Cues("later | newer | higher | above | more | over | up | upwards | greater | better")
"""Follows "or" and only says that more is as good, where something is needed at least."""
OR_NOT = Cues("or not", "hay (?:không|chưa)")
"""Says that something holds either way."""
OWN_CLAUSE = Cues("who | that | which | if | unless | until | except | when | where", "nếu | trừ khi | khi | mà")
"""Opens a clause of its own, so that a negation after it may not deny the whole sentence."""
ONLY_FIRST = Cues("only | just", "chỉ(?: có)?")
"""Limits what begins with it to one thing."""
IN_ORDER = Cues("respectively | in that order", "lần lượt")
"""Says that values belong to subjects by their order."""
RESTATES_QUESTION = Cues(
    "if | when | in case | once",
    "nếu | khi | trong trường hợp | để",
    "wenn | falls | bei | si | en cas | lorsque | en caso",
)
"""Begins a condition in which an answer repeats what is asked before it answers."""
