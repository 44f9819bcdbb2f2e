"""Turns English sentences into questions by fixed rules: why, when, who, how often, what happens, what a thing is.

Each rule reads one pattern, checks what it would ask, and gives nothing where a check fails: a question that nobody
drafts costs nothing, a bad one costs a reader's time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from assay.golden.corpus_words import CorpusWords, is_numbered_name
from assay.golden.question_forms import DraftedQuestion, capitalise, is_clear_question, is_plain_sentence, is_specific
from assay.text.normalisation import fold_text
from assay.text.quantities import Quantity, find_measures, split_glued_units
from assay.text.statements import Statement
from assay.text.tokens import is_stop_word
from assay.text.units import MONEY, PLAIN, SHARE, TIME

_AUXILIARY = re.compile(r"\s(?P<aux>is|are|was|were|may|can|must|should|will|has to|have to|cannot)\s")
_BAD_START = re.compile(
    r"(?:after|although|and|but|also|as|at|because|before|both|by|even|ever|finally|for|from|here|hence|how|however|"
    r"if|in|"
    r"inside|instead|it|its|let|like|likewise|many|most|much|moreover|near|next|no|not|note|now|of|on|once|one|only|or|"
    r"other|others|otherwise|outside|over|per|perhaps|please|rather|see|several|similarly|since|so|some|still|than|"
    r"that|"
    r"their|then|there|therefore|they|though|through|thus|to|under|unless|unlike|until|upon|we|what|whatever|when|"
    r"where|"
    r"whereas|whether|which|while|who|whoever|why|with|within|without|yet|you|your|my|our|he|she|her|his|anyone|"
    r"everyone|"
    r"each|every|few|another|either|neither|none|nobody|nothing|something|someone|anything|everything|anybody|"
    r"everybody|"
    r"today|yesterday|all|any|during|except|despite|due|given|apart|besides|meanwhile|more|less|two|three|part|same|"
    r"sometimes|often|always|again|almost|quite|very|indeed|maybe|a few|a lot|a number|an example|the (?:following|"
    r"above|same|latter|former|first|second|third|last|next|previous|"
    r"other|others|only|best|main|answer|reason|result|idea|point|problem|goal|purpose|aim|fact|rest|whole|above|"
    r"difference|document|documents|policy|section|chapter|page|question|solution|example|way|key|most|more|exact|"
    r"author|authors|reader|user)|\w+ly|\w+ing|"
    r"(?-i:It|This))\b",
    re.IGNORECASE,
)
_NO_SUBJECT = re.compile(
    r"\b(?:if|when|whether|that|which|who|whose|and|or|but|because|than|then|not|to|how|what|where|be|been|being|as|"
    r"it|he|she|"
    r"they|we|you|i|there|do|does|did|has|have|had|is|are|was|were|also|however)\b|[,;:()'’\"/]",
    re.IGNORECASE,
)
_MOST_SUBJECT_WORDS = 7
_OBJECT_PRONOUN = re.compile(r"\b(?:it|them|him|its|their|he|she|they)\b")
_ACTOR = re.compile(
    r"\b(?:\w{3,}(?:ers|ors|ists|ees|ents|ants)|staff|members?|people|children|guests|owners|visitors|persons?|nurses|"
    r"doctors|vets|teams?|leads?|heads?|parents|pupils|candidates|volunteers|colleagues)\b"
)
_NEGATION = re.compile(r"\b(?:not|never|no|nobody|none|cannot|without|nor)\b|n't\b", re.IGNORECASE)
_RELATIVE = re.compile(r"\b(?:which|that|who|whose|where|while|whereas|although|though|but|if|unless|because|and|or)\b")
_LISTED = re.compile(r"[;:()]")


class Clause(NamedTuple):
    """A main clause: its subject, its auxiliary and the rest without the full stop."""

    subject: str
    auxiliary: str
    rest: str


def read_clause(sentence: str) -> Clause | None:
    """Return the parts of a sentence that begins with its subject and has an auxiliary, None for any other one.

    >>> read_clause("Expired ampoules are kept in the red box.")
    Clause(subject='Expired ampoules', auxiliary='are', rest='kept in the red box')
    """
    match = _AUXILIARY.search(sentence)
    if match is None:
        return None
    subject = sentence[: match.start()]
    if not is_noun_phrase(subject):
        return None
    return Clause(subject, match["aux"], sentence[match.end() :].rstrip(" .!"))


def is_noun_phrase(words: str) -> bool:
    """Return whether words look like a noun phrase that can be the subject of a question.

    >>> [is_noun_phrase(words) for words in ("Expired ampoules", "However", "If the pump", "The first step")]
    [True, False, False, False]
    """
    count = len(words.split())
    return 1 <= count <= _MOST_SUBJECT_WORDS and not _BAD_START.match(words) and not _NO_SUBJECT.search(words)


class SentenceRules(NamedTuple):
    """What the rules of a sentence share: its text, the entity that its heading names, and the words of the corpus."""

    text: str
    entity: str
    words: CorpusWords
    heading: str = ""

    def name_subject(self, subject: str) -> str | None:
        """Return a subject as a question names it, None if it would not be clear of what it speaks.

        "The" with one common noun points back: it becomes "the strainer of the Heron 12" under such a heading.
        """
        if subject.lower().startswith(("a ", "an ")):
            return None
        lowered = self.words.lower_first(f"{subject} x").removesuffix(" x")
        content = [word for word in lowered.split() if not is_stop_word(word.lower())]
        is_named = any(self.words.is_name(word) or is_numbered_name(word) for word in content)
        if self.entity and not is_named:
            return f"{lowered} of {self.entity}" if lowered.startswith("the ") else None
        if lowered.startswith("the ") and not is_named:
            is_titled = fold_text(content[-1]) in fold_text(self.heading) if content else False
            is_rare = self.words.is_rare(subject, 2) if len(content) == 2 else is_titled
            return lowered if content and (len(content) > 2 or is_rare) else None
        return lowered if is_named or len(content) > 1 or self.words.count_statements(subject) <= 2 else None

    def finish(self, question: str, *must_have: str, personal: bool = False) -> DraftedQuestion | None:
        """Return a question about the sentence, None if it is not clear by itself."""
        asked = capitalise(" ".join(question.split())) + "?"
        if not is_clear_question(asked, "en", personal=personal):
            return None
        return DraftedQuestion(asked, self.text, tuple(filter(None, must_have)))


def ask_in_english(statement: Statement, entity: str, words: CorpusWords, heading: str = "") -> DraftedQuestion | None:
    """Return the first question that a rule makes of a sentence, None if none fits; `entity` is what its heading names.

    >>> said = Statement("text", "Rabbits must never be fasted because their gut stops moving.", 0, 0)
    >>> ask_in_english(said, "", CorpusWords([])).question
    'Why must rabbits never be fasted?'
    """
    text = split_glued_units(statement.text).strip()
    if not is_plain_sentence(text, "en"):
        return None
    rules = SentenceRules(text, entity, words, heading)
    for rule in _RULES:
        if rule not in _RULES_OF_CONDITIONS and _OBJECT_PRONOUN.search(text):
            continue  # it may stand for something of another sentence
        asked = rule(rules)
        if asked is not None:
            return asked._replace(reference=text)
    return None


# ── clauses ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_CONDITION = re.compile(r"(?P<word>If|When) (?P<clause>[^,;:()]{12,110}), (?:then )?(?P<main>[^;:()]{12,})\Z")
_WISH = re.compile(r"you (?:want|wish|need|would like|'d like|intend|plan) to (?P<deed>[^,;:()]{8,90})\Z")
_PURPOSE = re.compile(r"(?:In order to|To) (?P<deed>[a-z]+ [^,;:()]{6,90}), (?P<main>[^;:()]{12,})\Z")
_WEAK_MAIN = re.compile(
    r"(?:(?:it|that|this|there)['’]s\b|(?:it|that|this|there) (?:is|was|can|may|might|will|should)\b|feel free|"
    r"don't hesitate|do not hesitate|"
    r"you (?:may|might|can|could|will|are|have|'ll|do|get|probably)\b)"
)
_CONDITION_POINTS = re.compile(r"(?:so|not|possible|necessary|needed|applicable|in doubt|asked|done|it|they|he|she)\b")
_PAST = re.compile(
    r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bbeen )(?<!\bnot )(?<!\bhas )(?<!\bhave )\b(?:was|were|had|did|left|went|"
    r"came|"
    r"became|got|took|gave|made|saw|told|said|began)\b"
)
_IMPERATIVE = re.compile(
    r"(?:please )?(?:stop|call|report|contact|take|write|ring|use|leave|send|ask|tell|press|wait|turn|switch|remove|"
    r"check|open|close|put|keep|give|hand|inform|notify|return|sign|fill|submit|do not|never|move|clean|replace|"
    r"restart|"
    r"enter|choose|select|click|bring|pay|add|make sure|email|phone|speak|talk|go|try|run|install|file|upload|start|"
    r"read|"
    r"skip|change|begin|get|set|edit|create|download|copy|drag|follow|look|mark|announce|consult|be sure|be careful|"
    r"consider|configure|disable|enable|unplug|plug|push|pull|hold|register|apply|request|log|sign|connect|disconnect|"
    r"define|declare|provide|include|specify|compile|build|pass|test|verify|review|avoid|ensure|delete|reset|reboot|"
    r"upgrade|update|refer|just send|please|you (?:also )?(?:must|should|have to|need to)|let|complete|attach|"
    r"record|note down)\b"
)
_SECOND_PERSON = (
    (re.compile(r"\byou are\b", re.IGNORECASE), "I am"),
    (re.compile(r"\byou're\b", re.IGNORECASE), "I am"),
    (re.compile(r"\byour\b", re.IGNORECASE), "my"),
    (re.compile(r"\byou\b", re.IGNORECASE), "I"),
)


def _ask_condition(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask what to do or what happens under a condition: "If the alarm sounds, leave the building"."""
    match = _CONDITION.match(rules.text)
    if match is None or _WISH.match(match["clause"]) or not _is_whole_condition(match["clause"], rules.words):
        return None
    is_told = _IMPERATIVE.match(match["main"]) is not None
    if not is_told and re.search(r"\b(?:can|may|might|could|possible|recommend\w*|advis\w+)\b", match["main"]):
        return None
    if _has_bare_definite(match["clause"], rules.words):
        return None
    if not is_told and (_WEAK_MAIN.match(match["main"]) or re.search(r"\byou", match["clause"], re.IGNORECASE)):
        return None
    duty = re.search(r"\b(should|must)\b", match["main"])
    head = f"What {duty[1]} happen" if duty is not None else "What happens"
    head = "What should I do" if is_told else head
    return rules.finish(f"{head} {match['word'].lower()} {_say_of_oneself(match['clause'])}", personal=True)


def _is_whole_condition(clause: str, words: CorpusWords) -> bool:
    """Return whether a condition says by itself when it holds: it has a subject and a verb, and words of its own."""
    if (
        _CONDITION_POINTS.match(clause)
        or _PAST.search(clause)
        or re.match(r"(?:\w+ed|\w+ing|in|on|at|by|for|with)\b", clause)
    ):
        return False
    if re.search(r"\byou (?:will|must|should|can|may|need|have to|are)\b", clause[4:]) or not is_specific(
        clause, words
    ):
        return False
    content = [word for word in clause.split() if not is_stop_word(word.lower())]
    is_named = any(words.is_name(word) or any(map(str.isdigit, word)) for word in content)
    fewest = 3 if re.search(r"\byou\b", clause, re.IGNORECASE) else 4
    is_long = len(content) >= 5 or (len(content) >= fewest and words.is_rare(clause, 2))
    return is_named or (is_long and not clause.startswith("the "))


_BARE_DEFINITE = re.compile(
    r"\bthe (?P<noun>[a-z][a-z-]+)(?= (?:is|are|was|were|has|have|had|does|do|did|can|cannot|could|must|may|will|would|"
    r"should|to|in|on|at|by|with|from|for|and|or|when|if|while|using|[a-z]+(?:s|ed))\b|,|\?|\Z)"
)
_FEWEST_OF_A_SUBJECT, _SUBJECT_SHARE = 8, 0.03
"""How many statements, and which share of them, speak of a thing that the whole corpus is about."""


def _has_bare_definite(words: str, corpus: CorpusWords) -> bool:
    """Return whether words name one certain thing by a common noun alone ("the template"), and not which one.

    What the whole corpus speaks of is clear.
    """
    for match in _BARE_DEFINITE.finditer(words):
        fewest = max(_FEWEST_OF_A_SUBJECT, _SUBJECT_SHARE * corpus.statement_count)
        if corpus.count_statements(match["noun"]) < fewest:
            return True
    return False


def _say_of_oneself(clause: str) -> str:
    for pattern, own in _SECOND_PERSON:
        clause = pattern.sub(own, clause)
    return clause


def _ask_how(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask how something is done: "To restore a record, open the archive"."""
    match = _PURPOSE.match(rules.text)
    deed, main = (match["deed"], match["main"]) if match is not None else ("", "")
    condition = _CONDITION.match(rules.text)
    wish = _WISH.match(condition["clause"]) if condition is not None else None
    if condition is not None and wish is not None:
        deed, main = wish["deed"], condition["main"]
    is_told = _IMPERATIVE.match(main) or re.match(r"you (?:can|may|must|should|have to|need to)\b", main)
    if not deed or not is_told or _RELATIVE.search(deed) or re.match(r"(?:be|do|have|get|know|see|help|make)\b", deed):
        return None
    if len(deed.split()) < 3 or not is_specific(deed, rules.words) or not rules.words.is_rare(deed):
        return None
    if _has_bare_definite(deed, rules.words):
        return None
    return rules.finish(f"How can I {_say_of_oneself(deed)}", personal=True)


_REASON = re.compile(r"(?P<main>.{10,140}?),? because (?P<reason>[^;:]{10,})\Z")


def _ask_reason(rules: SentenceRules) -> DraftedQuestion | None:
    match = _REASON.match(rules.text)
    clause = read_clause(match["main"]) if match is not None else None
    if match is None or clause is None or _LISTED.search(clause.rest) or re.match(r"(?:of|it's)\b", match["reason"]):
        return None
    subject = rules.name_subject(clause.subject)
    if subject is None or _RELATIVE.search(clause.rest):
        return None
    return rules.finish(f"Why {_invert(clause, subject)}")


def _invert(clause: Clause, subject: str) -> str:
    if clause.auxiliary == "cannot":
        return f"can {subject} not {clause.rest}"
    if clause.auxiliary in ("has to", "have to"):
        return f"{'does' if clause.auxiliary == 'has to' else 'do'} {subject} have to {clause.rest}"
    if clause.rest.startswith("not "):
        return f"{clause.auxiliary} {subject} {clause.rest}"
    return f"{clause.auxiliary} {subject} {clause.rest}"


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
    is_empty = kind is not None and not is_person and not _tells_apart(subject, kind["meaning"])
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


def _tells_apart(subject: str, meaning: str) -> bool:
    """Return whether a kind is told with what tells it apart: "a format for …", and not "a special format".

    >>> [_tells_apart("Tar", meaning) for meaning in ("format for archives of many files", "very old and odd format")]
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
    if match is None or _BAD_START.match(match["name"]):
        return None
    parts = re.findall(r"[^\W\d_]{3,}", match["name"])
    if any(rules.words.lower_first(f"{part} x")[:1].islower() and not rules.words.is_name(part) for part in parts[1:]):
        return None
    rest = match["rest"].rstrip(" .")
    if _RELATIVE.search(rest) or not is_specific(f"{match['verb']} {rest}", rules.words):
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
    if clause is None or clause.auxiliary not in ("is", "are", "was", "were") or _NEGATION.search(clause.rest):
        return None
    subject = rules.name_subject(clause.subject)
    if subject is None or rules.words.count_statements(clause.subject) > MOST_ABOUT_SUBJECT:
        return None
    place, agent = _ABOUT_PLACE.match(clause.rest), _ABOUT_AGENT.match(clause.rest)
    thing = _ABOUT_THING.match(clause.rest)
    if place is not None and not _RELATIVE.search(place["place"]):
        return rules.finish(f"Where {clause.auxiliary} {subject} {place['how']}")
    if agent is not None and not _RELATIVE.search(agent["agent"]):
        return rules.finish(f"Who {clause.auxiliary} {subject} {agent['how']} by", agent["agent"])
    if thing is not None:
        how = (
            re.sub(r" (?:to|as)\Z", " for", thing["how"].removeprefix("also "))
            if "used" in thing["how"]
            else thing["how"]
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
    if match is None or not is_specific(match["subject"], rules.words) or _RELATIVE.search(match["value"]):
        return None
    words = match["subject"].split()
    is_clear = len(words) > 3 or any(rules.words.is_name(word) for word in words[1:])
    if not is_clear or _NO_SUBJECT.search(match["subject"]) or _BAD_VALUE.match(match["value"]):
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
    if match is None or clause is None or not _is_passive(clause) or _RELATIVE.search(clause.rest):
        return None
    subject = rules.name_subject(clause.subject)
    if subject is None or _NEGATION.search(clause.rest) or _RELATIVE.search(match["after"]):
        return None
    return rules.finish(f"How often {_invert(clause, subject)}{match['after']}", match["often"])


def _ask_date(rules: SentenceRules) -> DraftedQuestion | None:
    match = _DATE.search(rules.text.rstrip(" .!"))
    clause = read_clause(rules.text[: match.start()]) if match is not None else None
    if match is None or clause is None or _RELATIVE.search(clause.rest) or _NEGATION.search(clause.rest):
        return None
    subject = rules.name_subject(clause.subject)
    if subject is None or not _is_passive(clause) or re.search(r"\d", clause.rest + match["after"]):
        return None
    asked = _DATE_WORDS.get(match["preposition"], "When")
    return rules.finish(f"{asked} {_invert(clause, subject)}{match['after']}", match["date"])


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
    if match is None or not is_noun_phrase(match["subject"]) or _AUXILIARY.search(match["subject"] + " "):
        return None
    subject = rules.name_subject(match["subject"])
    if subject is None or len(subject.split()) < 2 or not is_specific(match["subject"], rules.words):
        return None
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
    if clause is None or match is None or _RELATIVE.search(match["rest"]):
        return None
    is_of_entity = bool(rules.entity) and not clause.subject.lower().startswith("the ")
    subject = (
        rules._replace(entity="").name_subject(clause.subject) if is_of_entity else rules.name_subject(clause.subject)
    )
    if subject is None or not (is_of_entity or is_specific(f"{clause.subject} {match['rest']}", rules.words)):
        return None
    rest = match["rest"].removeprefix("only ") + (f" with {rules.entity}" if is_of_entity else "")
    head = "When" if match["word"] == "when" else "Under what condition"
    return rules.finish(f"{head} {_invert(clause._replace(rest=rest), subject)}")


# ── quantities ───────────────────────────────────────────────────────────────────────────────────────────────────────

_MAIN_VERB = re.compile(
    r"\s(?P<verb>have|has|get|gets|need|needs|take|takes|cost|costs|earn|earns|receive|receives|weigh|weighs|"
    r"contain|contains|require|requires|hold|holds|last|lasts|allow|allows|expire|expires|pay|pays|serve|serves|"
    r"use|uses|cover|covers|include|includes|employ|employs)(?=\s|\Z)(?! (?:been|to|not|\w+ed)\b)"
)
_LEADING_PREPOSITION = re.compile(r"(?:^|\s)(for|after|in|at|before|every|from|by|to|with)\s*$")
_NUMBER_WORD = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|hundreds?|"
    r"thousands?|millions?|dozens?|several|half)\b",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"^(?P<bound>within|up to|at most|at least|about|nearly|almost|around|roughly|some|approximately|more than|"
    r"less than|over|under)\s+"
)
_ROUGH_BOUNDS = ("about", "approximately", "nearly", "almost", "around", "roughly", "some")
_ASKED_BOUNDS = frozenset({"within", "at most", "at least", "up to"})
_BASE_VERBS = {"has": "have"}
_NUMBER_OF_A_NAME = re.compile(r"\b[A-Z][\w-]* \d+\b|\b[A-Z]+-?\d+\b")
_COUNTED_THING = re.compile(
    r"of (?:(?!(?:a|an|per|each|every|in|for|on|with|after|before|from|at|to|during)\b)\S+\s*)+"
)
_LONG_UNITS = {
    "g": "grams",
    "kg": "kilograms",
    "mg": "milligrams",
    "mm": "millimetres",
    "cm": "centimetres",
    "m": "metres",
    "km": "kilometres",
    "l": "litres",
    "ml": "millilitres",
    "h": "hours",
    "min": "minutes",
    "s": "seconds",
    "Nm": "newton metres",
    "W": "watts",
    "kW": "kilowatts",
}
_VAGUE_UNIT = re.compile(
    r"(?:thing|way|reason|kind|type|sort|part|point|case|step|option|example|people|person|other|item|side|factor)s?\b"
)


def ask_quantity(rules: SentenceRules) -> DraftedQuestion | None:
    """Return a question that asks for the one quantity of a sentence, None if the sentence fits no rule.

    >>> ask_quantity(SentenceRules("Quotes are valid for thirty days.", "", CorpusWords([]))).question
    'For how many days are quotes valid?'
    """
    rules = rules._replace(text=_cut_second_statement(rules.text))
    measures = _list_measures(rules.text)
    if len(measures) != 1 or measures[0].date or measures[0].is_range or measures[0].is_spelled_one:
        return None
    measure, sentence = measures[0], rules.text.rstrip(" .!")
    words = rules.text[measure.start : measure.end]
    has_other = len(re.findall(r"\d[\d.,]*", _NUMBER_OF_A_NAME.sub("", rules.text))) > 1
    if has_other or measure.end > len(sentence) or re.match(r"(?:one|a|an)\b", words) or not _has_unit(measure, words):
        return None
    if "," in sentence or _LISTED.search(sentence) or _NEGATION.search(sentence) or _RELATIVE.search(sentence):
        return None
    question = _ask_how_many(rules, sentence, measure)
    return rules.finish(question, _BOUND.sub("", words)) if question else None


def _list_measures(text: str) -> list[Quantity]:
    """Return the quantities of a text without the numbers of names: "the Lynx 15", "type L2"."""
    names = [match.span() for match in _NUMBER_OF_A_NAME.finditer(text)]
    measures = find_measures(text)
    return [part for part in measures if not any(start <= part.start and part.end <= end for start, end in names)]


def _cut_second_statement(text: str) -> str:
    """Return a text without what a second verb adds after its first quantity: "… after 180 days and need …"."""
    measures = _list_measures(text)
    if len(measures) < 2 or measures[0].date:
        return text
    joined = re.compile(r",? and (?:\w+s|need|cost|must|may|can|have|are|will)\b|, (?:but|where|so)\b").match(
        text, measures[0].end
    )
    return f"{text[: joined.start()]}." if joined is not None else text


def _has_unit(measure: Quantity, words: str) -> bool:
    dimensions = {reading.dimension for reading in measure.readings}
    if dimensions != {PLAIN}:
        return True
    unit = _BOUND.sub("", words).partition(" ")[2]
    return bool(unit) and not _VAGUE_UNIT.match(unit)


def _ask_how_many(rules: SentenceRules, sentence: str, measure: Quantity) -> str | None:
    words = sentence[measure.start : measure.end]
    bound, asked = _BOUND.match(words), _name_unit(_BOUND.sub("", words), measure)
    if asked is None or (bound is not None and bound["bound"] not in (*_ASKED_BOUNDS, *_ROUGH_BOUNDS)):
        return None
    if bound is not None and bound["bound"] in _ASKED_BOUNDS:
        asked = f"{bound['bound']} {asked}"
    before, after = sentence[: measure.start], sentence[measure.end :].strip().removesuffix("only").rstrip()
    preposition = _LEADING_PREPOSITION.search(before)
    front = f"{preposition[1]} {asked}" if preposition else asked
    rest = before[: preposition.start()] if preposition else before
    clause = read_clause(f"{rest.rstrip()} ")
    if clause is not None:
        return _ask_with_auxiliary(rules, clause, front, after, is_object=not preposition)
    return _ask_with_verb(rules, rest.rstrip(), front, after, is_object=not preposition)


def _ask_with_auxiliary(rules: SentenceRules, clause: Clause, front: str, after: str, *, is_object: bool) -> str | None:
    subject, predicate = rules.name_subject(clause.subject), clause.rest.strip().removesuffix("only").rstrip()
    if subject is None or re.search(r"\b(?:a|an|the)$", predicate):
        return None
    if is_object and not predicate and clause.auxiliary in ("is", "are"):
        return f"{'How much' if front.startswith('how much') else 'What'} {clause.auxiliary} {subject} {after}"
    if is_object and not re.search(
        r"\b(?:\w+ed|have|get|take|use|need|be|cost|last|keep|hold|earn|charged)$", predicate
    ):
        return None
    inverted = _invert(clause._replace(rest=predicate), subject)
    return f"{front} {inverted} {after}"


def _ask_with_verb(rules: SentenceRules, rest: str, front: str, after: str, *, is_object: bool) -> str | None:
    verb = _MAIN_VERB.search(rest)
    if verb is None or not is_noun_phrase(rest[: verb.start()]) or (rest[verb.end() :].strip() and is_object):
        return None
    subject = rules.name_subject(rest[: verb.start()])
    if subject is None:
        return None
    does = "does" if verb["verb"].endswith("s") else "do"
    base = _BASE_VERBS.get(verb["verb"], verb["verb"].removesuffix("s") if does == "does" else verb["verb"])
    counted = _COUNTED_THING.match(after) if is_object else None
    if counted is not None:
        front, after = f"{front} {counted[0].strip()}", after[counted.end() :]
    return f"{front} {does} {subject} {base} {rest[verb.end() :].strip()} {after}"


def _name_unit(words: str, measure: Quantity) -> str | None:
    """Return the words that ask for a quantity: "how many days", "what percentage"; None without a unit."""
    dimensions = {reading.dimension for reading in measure.readings}
    if SHARE in dimensions:
        return "what percentage"
    if any(dimension.startswith(MONEY) for dimension in dimensions):
        return "how much"
    match = re.search(r"([^\W\d_][^\d]*)$", words.split(maxsplit=1)[-1] if " " in words else "")
    if match is None or (dimensions == {TIME} and re.search(r"\b[ap]\.?m\b", words)):
        return None
    unit = match[1].strip()
    if _NUMBER_WORD.search(unit):
        return None
    return f"how many {_LONG_UNITS.get(unit, unit)}"


_RULES_OF_CONDITIONS = (_ask_how, _ask_condition, _ask_reason)
_RULES: tuple[Callable[[SentenceRules], DraftedQuestion | None], ...] = (
    _ask_how,
    _ask_condition,
    _ask_reason,
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
    _ask_fate,
    _ask_stay,
    _ask_duty,
)
