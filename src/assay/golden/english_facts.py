"""Turns an English sentence that is a chunk by itself into a question: how often, when, where, what must be worn.

Nothing stands before such a sentence, so that "the laboratory" points to nothing: it is the one that the corpus has.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from assay.golden.english_clauses import NEGATION, SentenceRules, is_noun_phrase, read_clause
from assay.golden.question_forms import DraftedQuestion, is_specific
from assay.text.quantities import find_measures
from assay.text.units import PLAIN

_VERBS = (
    "accept accompany answer appear apply approve arrive begin book bring carry check charge clean close collect come "
    "contain continue cost deliver depart elect empty end enter expire fall finish gather get give go grow hand happen "
    "have hold hire inspect issue keep last lead leave lend live make meet move need offer open order park pass pay "
    "perform pick place play post practise print provide publish receive register rehearse rent repair replace report "
    "require reside rest return ripen rise run seat sell send serve sign sit sleep stand start stay stop store submit "
    "take test train travel treat turn use visit wait wash weigh work write"
).split()


def _conjugate(verb: str) -> str:
    if verb == "have":
        return "has"
    if re.search(r"[^aeiou]y\Z", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "o")) else f"{verb}s"


BASE_FORMS = {**{verb: verb for verb in _VERBS}, **{_conjugate(verb): verb for verb in _VERBS}}
"""The verbs that plain facts have, by the form after "she" and after "they"."""
_ANY_FORM = "|".join(sorted(BASE_FORMS, key=len, reverse=True))
_ACTIVE = re.compile(
    rf"(?P<subject>(?:(?:[Tt]he|[Aa]n?) )?[^\s,;:()][^,;:()]{{1,60}}?) (?P<verb>{_ANY_FORM})\b"
    r"(?P<rest>[^;:()]*|[^;()]*\d:\d\d[^;()]*)\Z"
)
_MORE_THAN = re.compile(r"\b(?:more|less|fewer) than\b")
_NUMBER = r"(?:two|three|four|five|six|seven|eight|nine|ten|twelve|\d+)"
_PERIOD = r"(?:minute|hour|shift|day|night|week|fortnight|month|quarter|season|year|tour|visit)"
_WEEKDAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
_CLOCK = r"(?:\d{1,2}[:.]\d\d(?: ?[ap]\.?m)?|\d{1,2} (?:[ap]\.?m|o['’]clock)|noon|midnight)"
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|spring|summer|"
    r"autumn|winter)"
)
_OFTEN = re.compile(
    rf" (?P<asked>(?:once|twice|{_NUMBER} times) (?:a|an|per|every|each) {_PERIOD}|"
    rf"(?:every|each) (?:(?:second|other|third|{_NUMBER}) )?{_PERIOD}s?|hourly|daily|weekly|monthly|quarterly|yearly|"
    r"annually)\Z"
)
_WHEN = re.compile(
    rf" (?P<asked>(?:at|before|after|from|until|by) {_CLOCK}|(?:on|every|each) {_WEEKDAY}(?: and {_WEEKDAY})?|"
    rf"on (?:the )?\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:each|every|the|{_MONTH})(?: month)?|(?:in|until|since|from) "
    rf"(?:{_MONTH}|1[5-9]\d\d|20\d\d)|(?:after|before) (?:each|every|the) [a-z]+(?: [a-z]+)?|around the clock|"
    r"on (?:public )?holidays|at weekends)\Z"
)
_TIME_NOUN = re.compile(
    r"\b(?:morning|afternoon|evening|night|weekend|day|week|month|year|season|time|case|event|future|past|end|"
    r"beginning|start|moment|latest|least|most|once|average|request|hour|minute|first|total|rate|price|cost)s?\Z"
)
_WHERE = re.compile(
    r" (?P<asked>(?:in|at|on|under|behind) (?:the (?:[a-z-]+ ){0,2}[a-z-]+|(?:room|tank|building|hall|floor|gate|"
    r"counter|desk|shelf|office|zone|area|bay|box) [A-Z0-9]+|[A-Z][\w-]+))\Z"
)
_TO = re.compile(r" (?P<asked>to (?:the (?:[a-z-]+ ){0,2}[a-z-]+|[A-Z][\w-]+))\Z")
_GIVING = frozenset("bring deliver go give hand report return send submit".split())
_PASSED_ON = re.compile(
    r"(?:brought|delivered|given|handed(?: in| over)?|reported|returned|sent|submitted|forwarded|addressed|"
    r"passed(?: on)?)\Z"
)
_WORN = re.compile(r"(?P<verb>wear|carry|show|bring|sign|present|hold|have|submit) (?:an? )(?P<thing>[a-z -]{3,40}?)"
                   r"(?P<after> (?:in|on|at|before|during|for) [^,;:()]{3,40})?\Z")  # fmt: skip
_NO_FEE = re.compile(r"pay no (?P<fee>[a-z -]{3,30})\Z")
_ROLE = re.compile(
    r"The (?P<name>(?:[a-z-]+ )?(?:\w+(?:er|or|man|woman|ist|ant|ent|ee|ian)|chair|head|board|council|committee|nurse|"
    r"clerk|office|department|team|bursar|registrar|warden|dean|janitor))\Z"
)
_OF_A_ROLE = re.compile(r"(?:approve|sign|check|inspect|collect|keep|issue|order|clean|repair|train|lead|book|elect)\Z")


_OPEN_END = re.compile(r"\b(?:of|on|in|at|to|by|for|from|with|within|until|before|after|during|and|or)\s*\Z")
_NO_FACT = re.compile(r"\A(?:at|on|in|to)(?: the)? ")
"""Words with which an answer need not begin: "at 16:30" is stated by "16:30" too."""
_COUNTED = re.compile(
    rf" (?P<number>{_NUMBER}) (?!minutes|hours|days|weeks|months|years)(?P<thing>[a-z-]+s|people)"
    r"(?P<after> (?:per|in|on|at|for|of) [^,;:()]{3,40})?\Z"
)


class PlainFact(NamedTuple):
    """A sentence with one main verb: the subject, the auxiliary that its question takes, the verb, and the rest."""

    subject: str
    auxiliary: str
    verb: str
    rest: str

    def ask(self, head: str, rest: str) -> str:
        """Return the question that begins with a question word, with what is left of the sentence."""
        subject = self.subject[:1].lower() + self.subject[1:]
        return f"{head} {self.auxiliary} {subject} {self.verb}{rest}"


def read_fact(text: str) -> PlainFact | None:
    """Return the parts of a plain sentence, None for any other one.

    >>> read_fact("The laboratory closes at 16:30.")
    PlainFact(subject='The laboratory', auxiliary='does', verb='close', rest=' at 16:30')
    """
    plain = text.rstrip(" .!")
    clause = read_clause(_MORE_THAN.sub("over", plain))
    if clause is not None:
        subject = plain[: len(clause.subject)] if not _MORE_THAN.search(plain) else ""
        verb, space, rest = clause.rest.partition(" ")
        if clause.auxiliary not in ("is", "are", "was", "were", "must") or not subject:
            return None
        return PlainFact(subject, clause.auxiliary, verb, space + rest)
    match = _ACTIVE.match(plain)
    if match is None or not is_noun_phrase(_MORE_THAN.sub("over", match["subject"])):
        return None
    verb = BASE_FORMS[match["verb"]]
    return PlainFact(match["subject"], "do" if verb == match["verb"] else "does", verb, match["rest"])


def ask_fact(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask for the time, place, person or thing of a sentence that stands alone in its chunk.

    >>> from assay.golden.corpus_words import CorpusWords
    >>> from assay.records.golden_set import CorpusChunk
    >>> text = "Milk is collected every second day."
    >>> ask_fact(SentenceRules(text, "", CorpusWords([CorpusChunk("a", text=text)]), is_alone=True)).question
    'How often is milk collected?'
    """
    fact = read_fact(rules.text) if rules.is_alone else None
    if fact is None:
        return None
    fact = fact._replace(subject=rules.words.lower_first(fact.subject + " x").removesuffix(" x"))
    no_fee = _NO_FEE.match(fact.verb + fact.rest)
    if no_fee is not None:
        return rules.finish(f"What {no_fee['fee']} {fact.auxiliary} {fact.subject} pay", f"no {no_fee['fee']}")
    if NEGATION.search(fact.verb + fact.rest) or not is_specific(f"{fact.subject} {fact.verb}", rules.words):
        return _ask_role(fact, rules)
    return _ask_complement(fact, rules) or _ask_role(fact, rules)


def _ask_complement(fact: PlainFact, rules: SentenceRules) -> DraftedQuestion | None:
    whole = fact.verb + fact.rest
    worn = _WORN.match(whole) if fact.auxiliary == "must" else None
    if worn is not None:
        return rules.finish(f"What must {fact.subject} {worn['verb']}{worn['after'] or ''}", worn["thing"])
    for head, pattern in (("How often", _OFTEN), ("When", _WHEN), ("Where", _WHERE), ("Where", _TO)):
        match = pattern.search(fact.rest)
        if match is None or (pattern is _WHERE and _TIME_NOUN.search(match["asked"])):
            continue
        before = fact.rest[: match.start()]
        if _OPEN_END.search(before):
            continue
        is_passed = fact.verb in _GIVING or _PASSED_ON.match(fact.verb + before) is not None
        if (pattern is _TO and not is_passed) or re.search(r"\b(?:and|or|but|when|if|that|which)\b|,", before):
            continue
        return rules.finish(fact.ask(head, before), _NO_FACT.sub("", match["asked"]))
    counted = _COUNTED.match(fact.rest)
    if counted is None or fact.auxiliary not in ("do", "does") or not _is_plain_count(counted[0]):
        return None
    head = f"How many {counted['thing']}"
    return rules.finish(fact.ask(head, counted["after"] or ""), f"{counted['number']} {counted['thing']}")


def _is_plain_count(words: str) -> bool:
    """Return whether a number counts things: no money, time, weight or other measure."""
    measures = find_measures(words)
    return all(reading.dimension == PLAIN for measure in measures for reading in measure.readings)


def _ask_role(fact: PlainFact, rules: SentenceRules) -> DraftedQuestion | None:
    """Ask who does something: "The treasurer signs payments above 500 euros"."""
    role = _ROLE.match(fact.subject[:1].upper() + fact.subject[1:])
    if role is None or not _OF_A_ROLE.match(fact.verb) or len(fact.rest.split()) < 2 or fact.auxiliary != "does":
        return None
    if not is_specific(fact.rest, rules.words) or "," in fact.rest:
        return None
    return rules.finish(f"Who {_conjugate(fact.verb)}{fact.rest}", role["name"])
