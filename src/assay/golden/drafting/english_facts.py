"""Turns a plain English sentence into a question: how often, when, where, in which form, what must be worn.

The sentence is a chunk by itself, or is asked about under its heading: nothing before it has to say which laboratory
"the laboratory" is.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from assay.golden.drafting.english_clauses import NEGATION, RELATIVE, SentenceRules, is_noun_phrase, read_clause
from assay.golden.drafting.question_forms import DraftedQuestion, is_specific
from assay.text.quantities.measures import find_measures
from assay.text.quantities.units import PLAIN

_VERBS = (
    "accept accompany allow answer appear apply approve arrive ask attend award begin belong book borrow bring "
    "build buy calculate call cancel carry change charge check clean climb close collect come complete confirm "
    "contain continue cost cover create cross decide deliver depart drive earn eat elect employ empty end enter "
    "expire fall fill find finish follow gather get give go grant grow hand handle hang happen have hire hold "
    "include inform inspect issue join keep last lead leave lend lie live lock maintain make manage measure meet "
    "monitor move need notify offer open operate order organise own park pass pay perform pick place play post "
    "practise prepare print produce provide publish reach receive record refund register rehearse release remain "
    "remove renew rent repair replace report require reserve reside rest return ripen ring rise run sail seat "
    "sell send serve share ship sign sit sleep stand start stay stop store submit supervise supply take teach "
    "test train travel treat turn unload use visit wait wash wear weigh work write"
).split()
_NOUNS_TOO = frozenset(
    "answer award book call change charge check climb cost cover drive end fall fill hand hire issue lead lock "
    "measure need offer order park pass place play post print record refund release rent repair report rest "
    "return ring rise run sail share ship sign sleep stand start stay stop store supply test train travel treat "
    "turn use visit wait wash work".split()
)
"""Verbs whose forms are nouns too: only the number of the subject tells them apart."""
_PLURAL_WITHOUT_S = re.compile(
    r"(?:\A|\s)(?:staff|people|children|men|women|police|teeth|feet|mice|they)\Z", re.IGNORECASE
)


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
_TIME = (
    rf"(?:(?:at|before|after|from|until|by|between) {_CLOCK}(?:(?: to | and | until |–){_CLOCK})?|"
    rf"(?:on|every|each) (?:(?:the )?(?:first|second|third|fourth|last|other) )?{_WEEKDAY}(?: (?:morning|afternoon|"
    rf"evening|night)s?)?(?: and {_WEEKDAY})?(?: (?:of|in) (?:every|each|the|a) {_PERIOD})?|"
    rf"on (?:the )?\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:each|every|the|{_MONTH})(?: month)?|(?:in|until|since|from) "
    rf"(?:{_MONTH}|1[5-9]\d\d|20\d\d)|(?:after|before) (?:each|every|the) [a-z]+(?: [a-z]+)?|around the clock|"
    r"on (?:public )?holidays|on weekdays|at weekends)"
)
_WHEN = re.compile(rf" (?P<asked>{_TIME}(?:(?: and)? {_TIME}){{0,3}})\Z")
_TIME_NOUN = re.compile(
    r"\b(?:morning|afternoon|evening|night|weekend|day|week|month|year|season|time|case|event|future|past|end|"
    r"beginning|start|moment|latest|least|most|once|average|request|hour|minute|first|total|rate|price|cost)s?\Z"
)
_WHERE = re.compile(
    r" (?P<asked>(?:in|at|on|under|behind) (?:the (?:[a-z-]+ ){0,2}[a-z-]+|(?:room|tank|building|hall|floor|gate|"
    r"counter|desk|shelf|office|zone|area|bay|box) [A-Z0-9]+|[A-Z][\w-]+))\Z"
)
_NUMBERED = (
    r"(?:account|bay|box|building|channel|counter|desk|extension|file|floor|folder|form|gate|hall|lane|office|platform|"
    r"port|register|room|shelf|tank|template|terminal|ward|warehouse|zone)"
)
_WITH_CODE = re.compile(
    rf" (?P<preposition>in|on|with|using|from|under|at|to) (?P<kind>{_NUMBERED}) "
    r"(?P<code>[A-Z]*-?\d[\w.-]*|[A-Z]{1,3})"
    r"(?P<after>(?: [^,;:()]{3,50})?)\Z"
)
_STANDING = re.compile(
    r"(?P<before>.*?\b(?:hangs?|lies|lie|stands?|kept|stored|located|placed|parked|found|displayed|posted|sold|served|"
    r"installed|mounted|picked up|bought|available|filed|archived|held|locked|washed|loaded|unloaded)(?: only)?) "
    r"(?P<asked>(?:in|at|on|under|behind|beside|near|above|below|outside|inside|opposite|next to|in front of) the "
    r"[a-z][^,;:()\d]{3,90})\Z"
)
_NO_PLACE = re.compile(
    rf"\b(?:{_WEEKDAY}|{_MONTH}|{_PERIOD}s?|advance|request|expense|basis|case|event|name|presence|order|condition|"
    r"when|which|that|if|who|by)\b"
)
_TO = re.compile(r" (?P<asked>to (?:the (?:[a-z-]+ ){0,2}[a-z-]+|[A-Z][\w-]+))\Z")
_GIVING = frozenset("bring deliver go give hand report return send submit".split())
_PASSED_ON = re.compile(
    r"(?:brought|delivered|given|handed(?: in| over)?|reported|returned|sent|submitted|forwarded|addressed|"
    r"passed(?: on)?)\Z"
)
_WORN = re.compile(r"(?P<verb>wear|carry|show|bring|sign|present|hold|have|submit) (?:an? )(?P<thing>[a-z -]{3,40}?)"
                   r"(?P<after> (?:in|on|at|before|during|for) [^,;:()]{3,40})?\Z")  # fmt: skip
_MEANS = re.compile(
    r"(?P<deed>\w{3,}ed(?: [a-z]+ly)?) with (?P<means>(?:an? |the )?[^\W\d][\w-]*(?: [^\W\d][\w-]*){0,2})\Z"
)
_NO_FEE = re.compile(r"pay no (?P<fee>[a-z -]{3,30})\Z")
_ROLE = re.compile(
    r"The (?P<name>(?:[a-z-]+ )?(?:\w+(?:er|or|man|woman|ist|ant|ent|ee|ian)|chair|head|board|council|committee|nurse|"
    r"clerk|office|department|team|bursar|registrar|warden|dean|janitor))\Z"
)
_OF_A_ROLE = re.compile(
    r"(?:approve|sign|check|inspect|collect|keep|issue|order|clean|repair|train|lead|book|elect|decide|grant|supervise|"
    r"maintain|operate|organise|prepare|calculate|release|register|record|measure|manage|handle)\Z"
)


_OF_A_SUBJECT = re.compile(r" (?:of|in|on|at|for|from|with|without|under|over|between|to|who|above|below) ")
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
        return f"{head} {self.auxiliary} {self.subject} {self.verb}{rest}"


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
        if clause.auxiliary not in ("is", "are", "was", "were", "must", "can", "may") or not subject:
            return None
        if re.match(r"(?:in|on|at|from|under|behind|between|beside)\Z", verb):
            return PlainFact(subject, clause.auxiliary, "", f" {clause.rest}")
        return PlainFact(subject, clause.auxiliary, verb, space + rest)
    match = _ACTIVE.match(plain)
    if match is None or not is_noun_phrase(_MORE_THAN.sub("over", match["subject"])):
        return None
    verb = BASE_FORMS[match["verb"]]
    in_plural = verb == match["verb"]
    if verb in _NOUNS_TOO and in_plural != is_plural(match["subject"]):
        return None
    return PlainFact(match["subject"], "do" if in_plural else "does", verb, match["rest"])


def is_plural(subject: str) -> bool:
    """Return whether a subject takes the form of a verb without "s": "cars", "holders of a pass", "staff".

    >>> [is_plural(subject) for subject in ("Cars", "Holders of a pass", "The hall", "The bus", "Staff", "Tim and Jo")]
    [True, True, False, False, True, True]
    """
    head = _OF_A_SUBJECT.split(subject, maxsplit=1)[0]
    is_counted = head.endswith("s") and not head.endswith(("ss", "us", "is"))
    return is_counted or " and " in head or _PLURAL_WITHOUT_S.search(head) is not None


def ask_fact(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask for the time, place, person or thing of a sentence that is clear alone.

    >>> from assay.golden.drafting.corpus_words import CorpusWords
    >>> from assay.records.golden_set import CorpusChunk
    >>> text = "Milk is collected every second day."
    >>> ask_fact(SentenceRules(text, "", CorpusWords([CorpusChunk("a", text=text)]), is_alone=True)).question
    'How often is milk collected?'
    """
    fact = read_fact(rules.text) if rules.is_alone else None
    if fact is None:
        return None
    subject = rules.words.lower_first(f"{fact.subject} x").removesuffix(" x")
    fact = fact._replace(subject=re.sub(r"\A(?:An?|The) ", lambda article: article[0].lower(), subject))
    no_fee = _NO_FEE.match(fact.verb + fact.rest)
    if no_fee is not None:
        return rules.finish(f"What {no_fee['fee']} {fact.auxiliary} {fact.subject} pay", f"no {no_fee['fee']}")
    if NEGATION.search(fact.verb + fact.rest) or not is_specific(
        f"{fact.subject} {fact.verb} {rules.adverbial}", rules.words
    ):
        return _ask_role(fact, rules)
    return _ask_complement(fact, rules) or _ask_role(fact, rules)


def _ask_complement(fact: PlainFact, rules: SentenceRules) -> DraftedQuestion | None:
    whole = fact.verb + fact.rest
    coded = _WITH_CODE.search(f" {whole}" if fact.verb else whole)
    if coded is not None and not _OPEN_END.search(whole[: max(coded.start() - 1, 0)]):
        return _ask_code(fact, coded, rules)
    standing = _STANDING.match(whole)
    if standing is not None and not _NO_PLACE.search(standing["asked"]) and not RELATIVE.search(standing["before"]):
        place = fact._replace(verb="", rest="")
        before = standing["before"].strip().removesuffix(" only")
        return rules.finish(place.ask("Where", f" {before}"), _shorten(standing["asked"]))
    is_worn = fact.auxiliary == "must" or (fact.auxiliary in ("do", "does") and fact.verb == "wear")
    worn = _WORN.match(whole) if is_worn else None
    if worn is not None:
        return rules.finish(f"What {fact.auxiliary} {fact.subject} {worn['verb']}{worn['after'] or ''}", worn["thing"])
    means = _MEANS.match(whole) if fact.auxiliary in ("is", "are", "was", "were") else None
    if means is not None:
        return rules.finish(f"With what {fact.auxiliary} {fact.subject} {means['deed']}", _shorten(means["means"]))
    for head, pattern in (("How often", _OFTEN), ("When", _WHEN), ("Where", _WHERE), ("Where", _TO)):
        match = pattern.search(fact.rest)
        if match is None or (pattern is _WHERE and _TIME_NOUN.search(match["asked"])):
            continue
        before = fact.rest[: match.start()]
        if _OPEN_END.search(before):
            continue
        is_passed = fact.verb in _GIVING or _PASSED_ON.match(fact.verb + before) is not None
        between = _BETWEEN.sub("", before)
        if (pattern is _TO and not is_passed) or re.search(r"\b(?:and|or|but|when|if|that|which)\b|,", between):
            continue
        return rules.finish(fact.ask(head, before), *_state(match["asked"]))
    counted = _COUNTED.match(fact.rest)
    if counted is None or fact.auxiliary not in ("do", "does") or not _is_plain_count(counted[0]):
        return None
    head = f"How many {counted['thing']}"
    return rules.finish(fact.ask(head, counted["after"] or ""), f"{counted['number']} {counted['thing']}")


_MOST_STATED_WORDS = 4
_BETWEEN = re.compile(r" between [A-Z][\w'’-]+ and [A-Z][\w'’-]+")


def _state(asked: str) -> list[str]:
    """Return what an answer must say of the words that were asked for: all, or the times of day in many.

    >>> _state("at 9:00 on weekdays and at 8:00 on Saturdays"), _state("on Mondays")
    (['9:00', '8:00'], ['Mondays'])
    """
    words = _NO_FACT.sub("", asked)
    is_short = len(words.split()) <= _MOST_STATED_WORDS or not re.search(_CLOCK, words)
    return [words] if is_short else re.findall(_CLOCK, words)


def _shorten(asked: str) -> str:
    words = _NO_FACT.sub("", asked)
    return words if len(words.split()) <= _MOST_STATED_WORDS else ""


def _ask_code(fact: PlainFact, coded: re.Match[str], rules: SentenceRules) -> DraftedQuestion | None:
    """Ask for the form, room or lane that a sentence names by its code: "Accidents are recorded in form AC-7"."""
    whole = f" {fact.verb}{fact.rest}" if fact.verb else fact.rest
    deed = whole[: coded.start()] + coded["after"]
    if re.search(r"\b(?:and|or|but|when|if|that|which)\b|,", deed):
        return None
    head = f"{coded['preposition']} which {coded['kind']}"
    return rules.finish(fact._replace(verb="", rest="").ask(head, deed), f"{coded['kind']} {coded['code']}")


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
