"""What joins a sentence to others or sets its parts apart: contrast, consequence, pronouns that point back, asides."""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import Cues

CONTRAST = Cues(
    "but | however | though | although | whereas | while",
    "nhưng | tuy nhiên | (?<!không )(?<!chưa )còn | chứ không phải | mà là",
)
"""Begins a clause that is set against the one before."""
IN_FACT = Cues("in fact | actually | instead | in reality", "thực ra | thực tế")
"""Begins a clause that says what is so instead."""
NOT_THIS = Cues("not", "không phải | chứ")
"""Begins after a comma what is not so."""
RATHER_THAN = Cues(r"rather than\b | instead of\b", r"thay vì\b")
"""Begins what is not so, where something else is."""
AND_VERB = "is|are|was|were|must|should|may|can|will|has|have|had|be|get|the"
"""Follow an "and" that begins a clause of its own."""
SET_AGAINST = Cues("but | while | whereas", "nhưng | trong khi")
"""Sets a part against the one before, as "còn" does where it is not "still"."""
NO_CLAUSE_BEFORE_CON = r"(?<!không)(?<!chưa)(?<!vẫn)(?<!chỉ)"
"""Does not stand before the "còn" that joins two parts: after these it is "still"."""
AND = Cues("and", "và")
"""Joins things of one kind."""
AND_IN_OTHER_LANGUAGES = Cues(other="et | und | y | e | ed | en")
"""The same, where a value stands on either side: elsewhere they are words of English or Vietnamese too."""
AND_BEFORE_MEMBER = Cues(other=r"und | sowie | et | y(?= (?:el|los|las|una?)\b)")
"""The same between parts of a sentence; "y" is Vietnamese too."""
JOINS_MEMBERS = Cues("and(?: also)? | as well as | plus", "và | cùng(?: với)? | lẫn", "und(?: auch)? | sowie | et | y")
"""Joins the members of a list all of which are meant, in text as it is written."""
JOINS_NAMES = Cues(
    "and | or | as well as | along with | together with | but also | and also",
    "và | hoặc | hay | cũng như | cùng(?: với)? | lẫn",
    r"und(?! zwar\b) | oder | sowie | et(?! al\b) | ou",
)
"""Joins those of whom the same is said."""
CONSEQUENCE = Cues(
    "so | thus | therefore | then | which | that(?! is|'s) | hence | because | since | if | when",
    "vậy | nên | vì | nếu | sau đó | rồi",
)
"""Begins a part that goes on with what the part before says."""
IF_AVAILABLE = Cues("if | when | whenever | once | as long as | as soon as | provided | while")
"""Begins a condition: "if a room is free"."""
CONCLUDES = Cues(
    "so | thus | hence | therefore | in short | in other words | yours | in your case | the answer is",
    "vậy | do đó | vì vậy | tóm lại",
    "somit | daher | folglich | damit | das heißt",
)
"""Begins the last sentence of an answer with what follows from the others."""
RESULT = Cues(
    "(?<=, )so | therefore | hence | thus | which means | (?:this|that) means | in practice",
    "(?<!trở )nên | vì vậy | do đó | vì thế",
    "(?<=, )also | daher | deshalb | somit | folglich | das heißt | donc | par conséquent | du coup",
)
"""Says what follows from what was said before, for the one who asks."""
SET_AGAINST_ANY = Cues(
    "but | however | though | although | whereas | while | in practice",
    "nhưng | tuy | mặc dù | dù",
    "aber | zwar | jedoch | obwohl | mais | cependant | bien qu | quoiqu",
)
"""Sets one statement against another."""
TO_READER = Cues("you | your | yours", "bạn | anh | chị", "sie | ihr | ihnen | ihre[nrms]? | vous | votre")
"""Speaks to the one who asks."""
JOINS_VALUES = Cues("and | but | while", "và | nhưng | còn", "und | aber | et | mais")
"""Stands between two values with a label each."""
LABELS = Cues("for", "cho | đối với", "für | bei | pour")
"""Begins for whom or what a value holds."""
SO = Cues("so", "nên | vì vậy | do đó")
"""Begins what follows from a fact."""
PRONOUN = Cues(
    "it | it's | they | they're | this | that | that's | these | those | she | he | there | both | each | here"
    " | otherwise | no",
    "đó | giá là | như vậy",
)
"""Begins a sentence that goes on with what the sentence before is about."""
PRONOUN_OF_SUBJECT = Cues("it | they | she | he | there | this", "nó | họ", "er | sie | es | elles? | ils? | on")
"""Stands for the subject of the part before, at the beginning of the next one."""
POINTS_AT_ASKED = Cues("it | that | this | they | these | those | he | she", "đó | cái đó | như vậy | nó")
"""Begins a sentence about what is asked."""
POINTS_BACK = Cues("that | this | these | those | it | so | which")
"""Begins a sentence that speaks of the statement before it."""
TURNS_BACK = Cues("but | or | and | anyway | well | actually | though", "nhưng | mà | còn")
"""Stands before such a pronoun."""
NO_NOUN_NEXT = Cues("for | in | at | on | when | if | with | to | from | as", "cho | khi | nếu | với")
"""Follows a number that counts nothing."""
BEFORE_VERB = Cues("can | may | must | to | you | we | they | i | will | should | could | please | don't | not | do")
"""Stands before a verb: "send shoes" is no other kind of shoes than those of "return shoes"."""
COURTESY = Cues(
    r"(?:that's )?(?:a )?(?:good|great|excellent) question | (?:i )?hope (?:this|that|it) helps?"
    r" | let (?:me|us) know\b | (?:please )?(?:feel free|don't hesitate) to (?:ask|contact|reach|get)\b"
    r" | (?:i'm |we're )?happy to help | have a (?:nice|great|good|lovely)\b"
    r" | thank(?:s| you) for (?:asking|your|reaching)\b | you're welcome"
    r" | if you have (?:any )?(?:other|more|further)? ?questions?\b | is there anything else\b | enjoy your\b"
)
"""Begins a sentence that tells nothing."""
SOURCE = Cues("according to | based on | as (?:stated|described|mentioned|noted|written) in | as per | going by")
"""Names where something stands, before it is said."""
ADDRESSED = Cues(vietnamese="ạ | nhé | nha | nhỉ | bạn | anh | chị | em | ơi | bác | chú | đâu")
"""Follows a Vietnamese yes or no and says nothing."""
GREETING = Cues("sorry | well | oh | hi | hello", "dạ | vâng | xin lỗi | rất tiếc | tiếc là")
"""Stands before a yes or no and says nothing."""
LATER_THAN = Cues("after", "sau", "nach | après | después de | dopo | depois de")
"""Begins what something comes after."""
