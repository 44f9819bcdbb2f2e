"""Turns English sentences into questions by fixed rules: who, when, how often, what happens, what a thing is.

Each rule reads one pattern, checks what it would ask, and gives nothing where a check fails: a question that nobody
drafts costs nothing, a bad one costs a reader's time.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from assay.golden.drafting.corpus_words import CorpusWords, is_numbered_name
from assay.golden.drafting.english_adverbials import ask_with_adverbial
from assay.golden.drafting.english_clauses import (
    AUXILIARY,
    BAD_START,
    NEGATION,
    NO_SUBJECT,
    RELATIVE,
    Clause,
    SentenceRules,
    invert_clause,
    is_noun_phrase,
    read_clause,
)
from assay.golden.drafting.english_conditions import ask_condition, ask_how, ask_reason
from assay.golden.drafting.english_denials import ask_denial
from assay.golden.drafting.english_facts import ask_fact
from assay.golden.drafting.english_prices import ask_price
from assay.golden.drafting.english_quantities import ask_quantity
from assay.golden.drafting.english_sections import ask_in_section
from assay.golden.drafting.question_forms import DraftedQuestion, is_plain_sentence, is_specific
from assay.golden.drafting.question_templates import ask_under_heading
from assay.text.normalisation import fold_text
from assay.text.quantities.unit_names import split_glued_units
from assay.text.statements import Statement
from assay.text.tokens import is_stop_word

_OBJECT_PRONOUN = re.compile(r"\b(?:it|them|him|its|their|he|she|they)\b")
_ACTOR = re.compile(
    r"\b(?:\w{3,}(?:ers|ors|ists|ees|ents|ants)|staff|members?|people|children|guests|owners|visitors|persons?|nurses|"
    r"doctors|vets|teams?|leads?|heads?|parents|pupils|candidates|volunteers|colleagues)\b"
)


def ask_in_english(
    statement: Statement, entity: str, words: CorpusWords, heading: str = "", *, is_alone: bool = False
) -> DraftedQuestion | None:
    """Return the first question that a rule makes of a sentence, None if none fits; `entity` is what its heading names.

    A sentence that `is_alone` is all that its chunk says.

    >>> said = Statement("text", "Rabbits must never be fasted because their gut stops moving.", 0, 0)
    >>> ask_in_english(said, "", CorpusWords([])).question
    'Why must rabbits never be fasted?'
    """
    text = split_glued_units(statement.text).strip()
    if not is_plain_sentence(text, "en"):
        return None
    rules = SentenceRules(text, entity, words, heading, is_alone)
    for rule in _RULES:
        if rule not in _RULES_OF_CONDITIONS and _OBJECT_PRONOUN.search(text):
            continue  # it may stand for something of another sentence
        asked = rule(rules)
        if asked is not None:
            return asked._replace(reference=text)
    return None


# ── what a thing is ──────────────────────────────────────────────────────────────────────────────────────────────────

_KIND_OF = re.compile(r"(?P<article>a|an|the)\s+(?P<meaning>.+)\Z")
_PERSON_NOUN = re.compile(
    r"\b(?:\w+(?:ologist|nomist|ician|orian|alist|builder)|judge|member|graduate|contributor|director|producer|author|"
    r"writer|lawyer|attorney|professor|teacher|singer|actor|actress|player|founder|president|CEO|chairman|chairwoman|"
    r"manager|editor|partner|officer|coach|artist|researcher|engineer|consultant|nurse|doctor|scientist|leader|native|"
    r"veteran|husband|wife|son|daughter|speaker|owner|fellow|minister|mayor|bishop|king|queen|captain|employee|student|"
    r"developer|designer|photographer|composer|musician|politician|activist|executive|expert|entrepreneur|man|"
    r"woman)s?\b"
)
MOST_WORDS_TO_A_PERSON = 8
"""How many words after "is" may pass before a noun for a person."""
_EMPTY_KINDS = re.compile(
    r"(?:very|good|bad|great|nice|common|important|simple|useful|separate|different|similar|new|big|small|little|lot|"
    r"bit|few|matter|problem|way|must|reason|result|case|number|first|second|same|most|best|only|main|more|less|one|"
    r"last|next|other|default|recommended|right|wrong|exception|example|part|list|set|long|short|possible|major|minor|"
    r"real|single|special|perfect|complete|key|primary)\b",
    re.IGNORECASE,
)


def _ask_meaning(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask what a name is; of common nouns only those are asked about that the corpus speaks of here alone."""
    clause = read_clause(rules.text)
    if clause is None or clause.auxiliary not in ("is", "are") or len(clause.subject.split()) > 4:
        return None
    kind = _KIND_OF.match(clause.rest)
    is_bare_plural = (
        clause.auxiliary == "are"
        and _PLURAL.fullmatch(clause.rest.split()[0]) is not None
        and clause.subject.endswith("s")
    )
    if (kind is None and not is_bare_plural) or len(clause.rest.split()) < 5:
        return None
    if kind is not None and (_EMPTY_KINDS.match(kind["meaning"]) or re.match(r"\w+est\b", kind["meaning"])):
        return None
    subject = clause.subject
    is_named = rules.words.is_name(subject.split()[0]) or is_numbered_name(subject)
    is_person = _PERSON_NOUN.search(" ".join(clause.rest.split()[:MOST_WORDS_TO_A_PERSON])) is not None
    is_empty = kind is not None and not is_person and not _names_difference(subject, kind["meaning"])
    if is_empty or re.match(r"violation|must\b", clause.rest):
        return None
    if subject.lower().startswith(("the ", "a ", "an ")):
        return _ask_titled(rules, clause)
    is_titled = fold_text(subject) in fold_text(rules.heading)
    if not is_named and not is_titled and rules.words.count_statements(subject) > 3:
        return None
    if is_person:
        is_full_name = len(subject.split()) > 1 and all(word[:1].isupper() for word in subject.split())
        return rules.finish(f"Who {clause.auxiliary} {subject}") if is_full_name else None
    if len(subject.split()) > 1 and not is_named:
        subject = rules.words.lower_first(subject)
    return rules.finish(f"What {clause.auxiliary} {subject}")


_PLURAL = re.compile(r"(?!always|perhaps|across|towards|unless|besides|sometimes|thus|less)[a-z]{3,}s")
_FEWEST_NEW_WORDS = 3
_TELLS_APART = re.compile(
    r"\b(?:that|which|who|whose|where|by which|in which|used|for|of|to|with|from|containing|describing|designed|made)\b"
)


def _names_difference(subject: str, meaning: str) -> bool:
    """Return whether a kind is told with what tells it apart: "a format for …", and not "a special format".

    >>> meanings = ("format for archives of many files", "very old and odd format")
    >>> [_names_difference("Tar", meaning) for meaning in meanings]
    [True, False]
    """
    own = set(fold_text(subject).split())
    new = [word for word in fold_text(meaning).split() if not is_stop_word(word) and word not in own]
    return len(new) >= _FEWEST_NEW_WORDS and _TELLS_APART.search(meaning) is not None


def _ask_titled(rules: SentenceRules, clause: Clause) -> DraftedQuestion | None:
    """Ask what a common noun is that its heading names too: "A backport is …" under "Backports"."""
    article, _, name = clause.subject.partition(" ")
    kind = _KIND_OF.match(clause.rest)
    if kind is None or clause.auxiliary != "is" or _PERSON_NOUN.search(" ".join(kind["meaning"].split()[:4])):
        return None
    is_titled = fold_text(name) in fold_text(rules.heading) and len(name) > 3
    if not is_titled or (article == "The" and not all(word[:1].isupper() for word in name.split())):
        return None
    return rules.finish(f"What is {article.lower()} {name}")


# ── who, when, how often ─────────────────────────────────────────────────────────────────────────────────────────────

_PERSON = re.compile(
    r"(?P<name>(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][a-zà-ÿ'’-]+(?: [A-Z]\.)?(?: [A-Z][a-zà-ÿ'’-]+){1,2}) "
    r"(?P<verb>heads|leads|runs|manages|signs|approves|founded|wrote|created|designed|directed|won|invented|discovered|"
    r"owns|built|chairs|maintains|developed|started|introduced|played|became|keeps|coordinates|supervises|organises|"
    r"organizes|published|recorded|composed|painted|produced|presented|received|joined|hosted|edited|represented|"
    r"is the|"
    r"was the) (?P<rest>[^,;:()]{10,90}?)(?=,|\.?\Z| and )"
)


def _ask_person(rules: SentenceRules) -> DraftedQuestion | None:
    match = _PERSON.match(rules.text)
    if match is None or BAD_START.match(match["name"]):
        return None
    parts = re.findall(r"[^\W\d_]{3,}", match["name"])
    if any(rules.words.lower_first(f"{part} x")[:1].islower() and not rules.words.is_name(part) for part in parts[1:]):
        return None
    rest = match["rest"].rstrip(" .")
    if RELATIVE.search(rest) or not is_specific(f"{match['verb']} {rest}", rules.words):
        return None
    is_named = any(rules.words.is_name(word) or any(map(str.isdigit, word)) for word in rest.split())
    is_clear = is_named or rules.words.is_rare(rest)
    return rules.finish(f"Who {match['verb']} {rest}", match["name"]) if is_clear else None


_SCHEDULE = re.compile(
    r"(?P<subject>[^,;:()]{3,70}?) (?P<verb>opens?|closes?|starts?|begins?|ends?|expires?) (?P<rest>(?:at|on|from|"
    r"in|every|after)"
    r" [^;:()]{3,})\Z"
)
_WHEN_WORD = re.compile(
    r"\d|\b(?:January|February|March|April|May|June|July|August|September|October|November|December|noon|midnight|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)"
)


def _ask_schedule(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask when something begins or ends: "The lease ends on 31 January"."""
    match = _SCHEDULE.match(rules.text.rstrip(" ."))
    if match is None or not is_noun_phrase(match["subject"]) or not _WHEN_WORD.search(match["rest"][:25]):
        return None
    subject = rules.name_subject(match["subject"])
    if subject is None or not is_specific(f"{match['subject']} {match['verb']}", rules.words):
        return None
    is_singular = match["verb"].endswith("s")
    return rules.finish(f"When {'does' if is_singular else 'do'} {subject} {match['verb'].removesuffix('s')}")


_TOOL = re.compile(
    r"(?P<subject>The [^,;:()]{2,40} (?:command|program|tool|package|module|option|function|class|button|setting|panel|"
    r"service|script|utility|plugin|field|method|flag|key|menu|dialog|daemon|library|form|committee|team|department|"
    r"column|attribute|variable|parameter|keyword|switch|application|app|window|tab)) (?P<verb>is used to|is used for|"
    r"is responsible for|is meant to|provides|contains|converts|generates|checks|manages|shows|prints|lists|displays|"
    r"installs|handles|creates|builds|reads|writes|enables|disables|allows|lets|controls|stores|collects|monitors|"
    r"tests|"
    r"compares|deletes|copies|sends|returns|removes|computes|decides|organises|organizes|reviews|maintains|specifies|"
    r"determines|defines|describes|indicates|names) (?P<rest>[^;:]{12,})\Z"
)


_STRANDED = {
    "where": r"(?:stored|located|kept|found|installed|placed|saved|held|archived|situated)",
    "who": r"(?:maintained|managed|owned|published|operated|provided|headed|led|founded|created|written|designed|"
    "directed|"
    r"developed|produced|invented|approved|signed|organised|organized|hosted|discovered|painted|built|introduced)",
}
_ABOUT_PLACE = re.compile(rf"(?P<how>{_STRANDED['where']}) (?P<place>(?:in|at|under|on|near) [^,;:()]{{3,60}})\Z")
_NO_PLACE = re.compile(
    r"\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|May|June|July|August|September|"
    r"October|November|December|day|days|week|month|year|quarter|season|lead|leash|request|demand)\b"
)
_ABOUT_AGENT = re.compile(rf"(?P<how>{_STRANDED['who']}) by (?P<agent>[A-Z][^,;:()]{{2,50}}|the [^,;:()]{{3,40}})\Z")
_ABOUT_THING = re.compile(
    r"(?P<how>(?:also )?(?:based on|named after|derived from|written in|made of|made from|composed of|made up of|"
    r"divided into|"
    r"called|known as|used (?:to|for|as)|responsible for|modelled on|built on)) (?P<thing>[^;:]{3,})\Z"
)
_CONSISTS = re.compile(
    r"(?P<subject>[^,;:()]{4,60}?) (?P<verb>consists of|depends on|stands for|refers to|"
    r"corresponds to) (?P<thing>[^;:]{4,})\Z"
)
_DEFAULT = re.compile(
    r"(?P<subject>The (?:default|maximum|minimum|recommended|usual|standard|maximal|minimal|longest|shortest|"
    r"largest|smallest|"
    r"oldest|highest|lowest|first) [^,;:()]{4,60}?) (?P<verb>is|was) (?P<value>[^,;:()]{1,60})\Z"
)


def _ask_relation(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask where a thing is kept, by whom it is made or what it is based on: "The register is kept in room 14"."""
    clause = read_clause(rules.text)
    if clause is None or clause.auxiliary not in ("is", "are", "was", "were") or NEGATION.search(clause.rest):
        return None
    subject = rules.name_subject(clause.subject)
    if subject is None or rules.words.count_statements(clause.subject) > MOST_ABOUT_SUBJECT:
        return None
    place, agent = _ABOUT_PLACE.match(clause.rest), _ABOUT_AGENT.match(clause.rest)
    topic = _ABOUT_THING.match(clause.rest)
    if place is not None and _NO_PLACE.search(place["place"]) is not None:
        return None
    if place is not None and not RELATIVE.search(place["place"].replace(" and ", " ")):
        return rules.finish(f"Where {clause.auxiliary} {subject} {place['how']}")
    if agent is not None and not RELATIVE.search(agent["agent"]):
        return rules.finish(f"Who {clause.auxiliary} {subject} {agent['how']} by", agent["agent"])
    if topic is not None:
        how = (
            re.sub(r" (?:to|as)\Z", " for", topic["how"].removeprefix("also "))
            if "used" in topic["how"]
            else topic["how"]
        )
        return rules.finish(f"What {clause.auxiliary} {subject} {how.removeprefix('also ').removesuffix(' as for')}")
    return None


def _ask_parts(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask what a thing consists of, depends on or refers to."""
    match = _CONSISTS.match(rules.text.rstrip(" ."))
    if match is None or not is_noun_phrase(match["subject"]):
        return None
    subject = rules.name_subject(match["subject"])
    if re.search(r"(?:ly|[^s]s)\Z", match["subject"]):
        return None  # an adverb, or a plural that does not fit the verb
    if subject is None or rules.words.count_statements(match["subject"]) > MOST_ABOUT_SUBJECT:
        return None
    verb, preposition = match["verb"].split()
    return rules.finish(f"What does {subject} {verb.removesuffix('s')} {preposition}")


def _ask_default(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask for a named extreme: "The default port is 8080"."""
    match = _DEFAULT.match(rules.text.rstrip(" ."))
    if match is None or not is_specific(match["subject"], rules.words) or RELATIVE.search(match["value"]):
        return None
    words = match["subject"].split()
    is_clear = len(words) > 3 or any(rules.words.is_name(word) for word in words[1:])
    if not is_clear or NO_SUBJECT.search(match["subject"]) or _BAD_VALUE.match(match["value"]):
        return None
    value = match["value"] if len(match["value"].split()) <= 5 else ""
    return rules.finish(f"What {match['verb']} t{match['subject'][1:]}", value)


_BAD_VALUE = re.compile(r"(?:to|not|in|on|at|that|used|set|also|always|\w+ed|\w+ing)\b")
MOST_ABOUT_SUBJECT = 4
"""The largest number of statements about a subject for which it is clear which of them a question asks for."""


def _ask_function(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask what a tool, part or team does: "The backup script copies …"."""
    match = _TOOL.match(rules.text)
    if match is None or not is_noun_phrase(match["subject"]) or rules.words.count_statements(match["subject"]) > 2:
        return None
    subject = f"t{match['subject'][1:]}"
    if re.match(r"the (?:first|second|last|next|new|old|whole|default|same|main|final|whole)\b", subject):
        return None
    if re.search(r"\b(?:current|selected|specified|given)\b", match["rest"]):
        return None
    if match["verb"].startswith("is "):
        return rules.finish(f"What is {subject} {match['verb'].split()[1]} for")
    return rules.finish(f"What does {subject} do")


_OFTEN = re.compile(
    r"\s(?P<often>(?:once|twice|three times|four times) (?:a|an|per|every) (?:day|week|month|quarter|year)|"
    r"(?:every|each) (?:hour|day|night|week|month|quarter|year|morning|evening|(?:[a-z]+|\d+) (?:[a-z]+ )?"
    r"(?:minutes|hours|days|weeks|months|years))|hourly|daily|weekly|monthly|quarterly|yearly|"
    r"annually)(?P<after>[^,;:]*)\Z"
)
_OPEN_END = re.compile(r"\b(?:of|on|in|at|to|by|for|from|with|within|until|before|after|during|and|or)\s*\Z")
_PARTICIPLE = re.compile(
    r"(?:\w{2,}ed|kept|sent|made|taken|given|held|written|paid|done|run|set|read|shown|sold|built)\b"
)
_DATE = re.compile(
    r",?\s(?P<preposition>on|in|since|until|from|by)\s(?P<date>(?:\d{1,2} )?(?:January|February|March|April|May|"
    r"June|July|"
    r"August|September|October|November|December)(?: \d{1,2})?(?:,? \d{4})?|(?:1[5-9]|20)\d\d)(?P<after>[^,;:]{0,60})\Z"
)
_DATE_WORDS = {"since": "Since when", "until": "Until when", "by": "By when", "from": "From when on"}


def _ask_often(rules: SentenceRules) -> DraftedQuestion | None:
    match = _OFTEN.search(rules.text.rstrip(" .!"))
    clause = read_clause(rules.text[: match.start()]) if match is not None else None
    if match is None or clause is None or not _is_passive(clause) or RELATIVE.search(clause.rest):
        return None
    subject = rules.name_subject(clause.subject)
    if subject is None or NEGATION.search(clause.rest) or RELATIVE.search(match["after"]):
        return None
    if _OPEN_END.search(clause.rest):
        return None  # "on the 25th of each month" is no answer to how often
    return rules.finish(f"How often {invert_clause(clause, subject)}{match['after']}", match["often"])


def _ask_date(rules: SentenceRules) -> DraftedQuestion | None:
    match = _DATE.search(rules.text.rstrip(" .!"))
    clause = read_clause(rules.text[: match.start()]) if match is not None else None
    if match is None or clause is None or RELATIVE.search(clause.rest) or NEGATION.search(clause.rest):
        return None
    subject = rules.name_subject(clause.subject)
    if subject is None or not _is_passive(clause) or re.search(r"\d", clause.rest + match["after"]):
        return None
    asked = _DATE_WORDS.get(match["preposition"], "When")
    return rules.finish(f"{asked} {invert_clause(clause, subject)}{match['after']}", match["date"])


def _is_passive(clause: Clause) -> bool:
    rest = clause.rest.removeprefix("be ").removeprefix("been ").removeprefix("only ")
    return _PARTICIPLE.match(rest) is not None


# ── what happens, what must be done ──────────────────────────────────────────────────────────────────────────────────

_FATE = re.compile(
    r"(?:be )?(?:kept|archived|destroyed|deleted|removed|returned|revoked|replaced|stored|charged|discharged|refunded|"
    r"rejected|sent|moved|copied|forwarded|transferred|handed|collected|paid|billed|reimbursed|recorded|logged|erased|"
    r"disposed|recycled|cancelled|canceled|closed|locked|blocked|discarded|converted|merged|invoiced|credited|ignored|"
    r"parked|reviewed|checked|tested|inspected|repaired|scrapped|lost|forfeited|overwritten|encrypted|published|sold|"
    r"treated|handled|processed|quarantined|escalated|shipped|announced)\b"
)


_NAMED_PLURAL = re.compile(r"\b\w+s (?:of|from|for|with|in|without|over|under|that|older|on|to|by|between)\b")


def _ask_fate(rules: SentenceRules) -> DraftedQuestion | None:
    clause = read_clause(rules.text)
    if clause is None or clause.auxiliary not in ("is", "are", "must", "will") or not _FATE.match(clause.rest):
        return None
    if ":" in clause.rest:
        return None  # what follows explains what was said, which is no fate
    subject = rules.name_subject(clause.subject)
    if subject is None or len(clause.rest.split()) < 4 or not is_specific(clause.subject, rules.words):
        return None
    if len(subject.split()) < 2:
        return None
    is_plural = clause.subject.endswith("s") or _NAMED_PLURAL.search(clause.subject) is not None
    if not (is_plural or subject.startswith("the ")):
        return None  # one thing without an article is no subject of a question
    asked = "What must be done with" if clause.auxiliary == "must" else "What happens to"
    return rules.finish(f"{asked} {subject}")


_STAYING = re.compile(
    r"(?P<subject>[^,;:()]{5,60}?) (?:stays?|goes to|go to|belongs? to|lapses?|becomes?) (?P<rest>[^;:()]{8,})\Z"
)


def _ask_stay(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask what becomes of a thing: "Opened fuel cans stay with the buyer"."""
    match = _STAYING.match(rules.text)
    if match is None or not is_noun_phrase(match["subject"]) or AUXILIARY.search(match["subject"] + " "):
        return None
    subject = rules.name_subject(match["subject"])
    if subject is None or len(subject.split()) < 2 or not is_specific(match["subject"], rules.words):
        return None
    stays = re.match(r".* stays? (?:in|at|on|under|behind) the \w+", rules.text)
    if stays is not None:
        does = "does" if " stays " in rules.text else "do"
        return rules.finish(f"Where {does} {subject} stay")
    return rules.finish(f"What happens to {subject}")


def _ask_duty(rules: SentenceRules) -> DraftedQuestion | None:
    clause = read_clause(rules.text)
    if (
        clause is None
        or clause.auxiliary not in ("must", "have to", "may", "cannot")
        or not _ACTOR.search(clause.subject)
    ):
        return None
    rest = clause.rest
    is_denied = rest.startswith("not ") or clause.auxiliary == "cannot"
    is_passive = re.match(r"(?:not |only |never )?be\b", rest) is not None
    if is_passive or (clause.auxiliary == "may" and not is_denied) or rest.startswith("never"):
        return None
    subject = rules.name_subject(clause.subject)
    if subject is None or len(subject.split()) < 2 or not is_specific(clause.subject, rules.words):
        return None
    if clause.auxiliary == "have to":
        return rules.finish(f"What do {subject} have to do")
    auxiliary = "can" if clause.auxiliary == "cannot" else clause.auxiliary
    return rules.finish(f"What {auxiliary} {subject} not do" if is_denied else f"What {auxiliary} {subject} do")


_WHEN_ALLOWED = re.compile(
    r"(?P<rest>(?:only |not )?(?:be )?(?:\w+ed|available|free|open|possible|due)\b[^,;:()]{0,50}?) "
    r"(?P<word>if|when) [^;:()]{8,}\Z"
)


def _ask_circumstance(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask when something is permitted: "Sea water is permitted if …"."""
    clause = read_clause(rules.text)
    match = _WHEN_ALLOWED.match(clause.rest) if clause is not None else None
    if clause is None or match is None or RELATIVE.search(match["rest"]):
        return None
    is_of_entity = bool(rules.entity) and not clause.subject.lower().startswith("the ")
    subject = (
        rules._replace(entity="").name_subject(clause.subject) if is_of_entity else rules.name_subject(clause.subject)
    )
    if subject is None or not (is_of_entity or is_specific(f"{clause.subject} {match['rest']}", rules.words)):
        return None
    rest = match["rest"].removeprefix("only ") + (f" with {rules.entity}" if is_of_entity else "")
    head = "When" if match["word"] == "when" else "Under what condition"
    return rules.finish(f"{head} {invert_clause(clause._replace(rest=rest), subject)}")


_LONGER = re.compile(r"\b(?:longer|more|less|fewer|higher|larger) than\b")
_NEED = re.compile(r"(?P<subject>[^,;:()]{4,60}?) (?P<verb>needs?|requires?) (?P<thing>[^,;:()]{4,60})\Z")
_WITHOUT = re.compile(
    r"(?P<subject>[^,;:()]{4,60}?) (?:is|are) (?:forbidden|prohibited|not (?:allowed|permitted)) without "
    r"(?P<thing>[^,;:()]{4,60})\Z"
)
_ONLY_IN = re.compile(r"Only (?P<thing>[^,;:()]{4,60}?) may be (?P<deed>[a-z]+(?: in)?)\Z")


def _ask_need(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask what is needed for a thing: "Parallel operation needs the cable PX-2", "… is forbidden without …"."""
    text = rules.text.rstrip(" .!")
    only = _ONLY_IN.match(text)
    if only is not None and rules.entity:
        return rules.finish(f"For {rules.entity}, what may be {only['deed']}")
    match = _NEED.match(text) or _WITHOUT.match(text)
    if match is None or not is_noun_phrase(_LONGER.sub("over", match["subject"])) or RELATIVE.search(match["thing"]):
        return None
    if match["subject"].lower().startswith(("a ", "an ", "the ")) or len(match["subject"].split()) < 2:
        return None
    subject = rules.words.lower_first(match["subject"])
    if not is_specific(match["subject"], rules.words) or _ACTOR.search(match["subject"]):
        return None
    does = "do" if re.search(r" (?:need|require|are)\b", text) else "does"
    return rules.finish(_lead_with(rules, f"what {does} {subject} require"))


def _lead_with(rules: SentenceRules, question: str) -> str:
    """Return a question that begins with the thing which its heading names: "For the Otter 3600, what …"."""
    return f"For {rules.entity}, {question}" if rules.entity else question


_EFFECT = re.compile(
    r"(?P<subject>(?:An? )?[^,;:()]{4,50}?) (?P<verb>lowers?|raises?|reduces?|increases?|destroys?|jams?|damages?|"
    r"harms?|blocks?|triggers?|prevents?|causes?|protects?|replaces?|improves?) (?P<thing>(?:the )?[^,;:()]{4,60}?)"
    r"(?: and (?:is|are) [a-z]+)?\Z"
)
_TAKES_OVER = re.compile(
    r"(?P<name>[A-Z][a-zà-ÿ'’-]+(?: [A-Z][a-zà-ÿ'’-]+){1,2}) (?P<deed>takes over|retires as|succeeds|replaces|joins) "
    r"(?P<rest>[^,;:()]{6,70})\Z"
)


def _ask_effect(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask what has an effect, or who takes something over: "Fuel or solvents destroy the membrane"."""
    text = rules.text.rstrip(" .!")
    person = _TAKES_OVER.match(text)
    if person is not None and is_specific(f"{person['deed']} {person['rest']}", rules.words):
        rest = re.sub(r" (?:on|in|from) \d[^,]*\Z", "", person["rest"])
        return rules.finish(f"Who {person['deed']} {rest}", person["name"])
    match = _EFFECT.match(text)
    if match is None or BAD_START.match(match["subject"]) or NEGATION.search(text) or RELATIVE.search(match["thing"]):
        return None
    if RELATIVE.search(match["subject"].replace(" or ", " ")) or not is_specific(match["thing"], rules.words):
        return None
    subject, verb = match["thing"], match["verb"]
    is_named = (
        any(rules.words.is_name(part) for part in subject.split()) or re.search(r"\b[A-Z]\w* \d", subject) is not None
    )
    if not is_named and not (rules.entity and subject.startswith("the ") and len(subject.split()) == 2):
        return None
    owner = "" if is_named else f" of {rules.entity}"
    stated = re.sub(r"\A(?:An?|The) ", "", match["subject"])
    return rules.finish(f"What {verb if verb.endswith('s') else verb + 's'} {subject}{owner}", _lower(stated, rules))


def _lower(words: str, rules: SentenceRules) -> str:
    return rules.words.lower_first(f"{words} x").removesuffix(" x")


_PAYER = re.compile(
    r"The (?P<name>[a-z]+(?:er|or|ee|ant|ent)) (?P<verb>pays|bears|covers|approves|signs) "
    r"(?P<rest>the [^,;:()]{6,60})\Z"
)


def _ask_payer(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask who pays for or approves something, under its heading: "The sender pays the freight above 30 kg"."""
    match = _PAYER.match(rules.text.rstrip(" .!"))
    if match is None or rules.entity or not rules.heading or rules.words.is_repeated_heading(rules.heading):
        return None
    if not is_specific(match["rest"], rules.words):
        return None
    asked = rules.finish(f"Who {match['verb']} {match['rest']}", match["name"])
    if asked is None:
        return None
    return asked._replace(question=ask_under_heading(asked.question, rules.heading, "en"))


def _ask_alone_with_adverbial(rules: SentenceRules) -> DraftedQuestion | None:
    return ask_with_adverbial(rules) if rules.is_alone else None


_RULES_OF_CONDITIONS = (ask_how, ask_condition, ask_reason)
_RULES: tuple[Callable[[SentenceRules], DraftedQuestion | None], ...] = (
    ask_how,
    ask_condition,
    ask_reason,
    ask_fact,
    ask_quantity,
    _ask_person,
    _ask_schedule,
    _ask_function,
    _ask_often,
    _ask_date,
    _ask_meaning,
    _ask_circumstance,
    _ask_default,
    _ask_parts,
    _ask_relation,
    ask_in_section,
    _ask_fate,
    _ask_stay,
    _ask_duty,
    _ask_need,
    _ask_effect,
    _ask_payer,
    ask_price,
    ask_denial,
    _ask_alone_with_adverbial,
)
