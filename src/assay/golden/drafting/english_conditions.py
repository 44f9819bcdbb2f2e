"""Turns English clauses with "if", "to" and "because" into questions: what to do, how, why."""

from __future__ import annotations

import re

from assay.golden.drafting.corpus_words import CorpusWords
from assay.golden.drafting.english_clauses import LISTED, RELATIVE, SentenceRules, invert_clause, read_clause
from assay.golden.drafting.question_forms import DraftedQuestion, is_specific
from assay.text.tokens import is_stop_word

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


def ask_condition(rules: SentenceRules) -> DraftedQuestion | None:
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
    return rules.finish(f"{head} {match['word'].lower()} {_write_in_first_person(match['clause'])}", personal=True)


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


def _write_in_first_person(clause: str) -> str:
    for pattern, own in _SECOND_PERSON:
        clause = pattern.sub(own, clause)
    return clause


def ask_how(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask how something is done: "To restore a record, open the archive"."""
    match = _PURPOSE.match(rules.text)
    deed, main = (match["deed"], match["main"]) if match is not None else ("", "")
    condition = _CONDITION.match(rules.text)
    wish = _WISH.match(condition["clause"]) if condition is not None else None
    if condition is not None and wish is not None:
        deed, main = wish["deed"], condition["main"]
    is_told = _IMPERATIVE.match(main) or re.match(r"you (?:can|may|must|should|have to|need to)\b", main)
    if not deed or not is_told or RELATIVE.search(deed) or re.match(r"(?:be|do|have|get|know|see|help|make)\b", deed):
        return None
    if len(deed.split()) < 3 or not is_specific(deed, rules.words) or not rules.words.is_rare(deed):
        return None
    if _has_bare_definite(deed, rules.words):
        return None
    return rules.finish(f"How can I {_write_in_first_person(deed)}", personal=True)


_REASON = re.compile(r"(?P<main>.{10,140}?),? because (?P<reason>[^;:]{10,})\Z")


def ask_reason(rules: SentenceRules) -> DraftedQuestion | None:
    """Ask for the reason of a sentence with "because"."""
    match = _REASON.match(rules.text)
    clause = read_clause(match["main"]) if match is not None else None
    if match is None or clause is None or LISTED.search(clause.rest) or re.match(r"(?:of|it's)\b", match["reason"]):
        return None
    subject = rules.name_subject(clause.subject)
    if subject is None or RELATIVE.search(clause.rest):
        return None
    return rules.finish(f"Why {invert_clause(clause, subject)}")
