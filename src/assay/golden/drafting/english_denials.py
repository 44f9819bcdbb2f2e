"""Turns English sentences that deny something into the question whether it is so: "Dogs are not allowed in the café".

The answer is "no", and the words that say so are in the sentence: they are what an answer must say, in its own way.
"""

from __future__ import annotations

import re

from assay.golden.drafting.english_clauses import SentenceRules, is_noun_phrase
from assay.golden.drafting.question_forms import DraftedQuestion, capitalise, is_specific

_ADJECTIVES = (
    "available|compulsory|eligible|exempt|free|liable|mandatory|necessary|obligatory|open|possible|responsible|suitable|"
    "valid|welcome|\\w{3,}[ai]ble"
)
_PARTICIPLES = (
    "bought|brought|built|given|held|kept|known|made|paid|put|sent|shown|sold|taken|told|worn|written|\\w{3,}ed"
)
_SUBJECT = r"(?P<subject>[^,.;:()]{3,70}?)"
_REST = r"(?P<rest>(?: [^,;:()]{1,90})?)\Z"
_NOT_BEING = re.compile(
    rf"{_SUBJECT} (?P<auxiliary>is|are) (?P<denied>not (?P<state>(?:{_ADJECTIVES}|{_PARTICIPLES})\b)){_REST}"
)
_FORBIDDEN = re.compile(rf"{_SUBJECT} (?P<auxiliary>is|are) (?P<denied>forbidden|prohibited|banned){_REST}")
_NOT_DOING = re.compile(rf"{_SUBJECT} (?P<denied>(?P<auxiliary>does|do) not (?P<state>[a-z]{{3,}})){_REST}")
_MAY_NOT = re.compile(
    rf"{_SUBJECT} (?P<denied>(?P<auxiliary>may|must|can)(?: not|(?<=can)not) (?P<state>(?:be )?[a-z]{{2,}})){_REST}"
)
_CONDITIONED = re.compile(
    r"\b(?:and|but|or|nor|unless|except|if|when|because|while|where|until|only|than|which|that|who|whose|so|as|alone|any|"
    r"anything|anyone|always|necessarily|all|every|both|more|longer|yet)\b",
    re.IGNORECASE,
)
"""Words with which "no" would not be the whole answer, or the question would ask for something else."""
_AND_A_NAME = re.compile(r" and (?=[A-Z]\w*\Z)")
_GERUND = re.compile(r"[A-Z][a-z]+ing\b")


_MAY_BE_SO = re.compile(r"may not (?!be\b)(?:always|[a-z]*(?:apply|appear|arrive|contain|exist|fit|happen|have|include|"
                        r"match|mean|need|reach|reflect|show|work|want|know))\Z")  # fmt: skip
"""What "may not" leaves open and does not forbid: "Letters may not arrive on the next day"."""


def ask_denial(rules: SentenceRules) -> DraftedQuestion | None:
    """Return the question whether something is so that a sentence denies; None for any other sentence.

    >>> from assay.golden.drafting.corpus_words import CorpusWords
    >>> from assay.records.golden_set import CorpusChunk
    >>> texts = ("Dogs are not allowed in the café.", "Holiday homes do not qualify.", "Swimming is forbidden.")
    >>> words = CorpusWords([CorpusChunk(text, text=text) for text in texts])
    >>> for text in texts:
    ...     asked = ask_denial(SentenceRules(text, "", words, is_alone=True))
    ...     print(asked.question, asked.must_have)
    Are dogs allowed in the café? ('not allowed',)
    Do holiday homes qualify? ('do not qualify',)
    Is swimming allowed? ('forbidden',)
    """
    text = rules.text.rstrip(" .!")
    for pattern in (_FORBIDDEN, _NOT_BEING, _MAY_NOT, _NOT_DOING):
        match = pattern.match(text)
        if match is not None:
            return _ask_whether(rules, match)
    return None


def _ask_whether(rules: SentenceRules, match: re.Match[str]) -> DraftedQuestion | None:
    subject, rest = match["subject"], match["rest"]
    if _MAY_BE_SO.match(match["denied"]) or _CONDITIONED.search(_AND_A_NAME.sub("", rest)) or not _is_subject(subject):
        return None
    if not is_specific(f"{subject} {match['denied']} {rest} {rules.adverbial}", rules.words):
        return None
    named = rules.words.lower_first(f"{subject} x").removesuffix(" x") if _GERUND.match(subject) else None
    named = named or rules.name_subject(subject)
    if named is None:
        return None
    auxiliary = {"must": "may"}.get(match["auxiliary"], match["auxiliary"])
    state = match.groupdict().get("state") or "allowed"
    return rules.finish(f"{capitalise(auxiliary)} {named} {state}{rest}", match["denied"])


def _is_subject(subject: str) -> bool:
    if _GERUND.match(subject):
        return _CONDITIONED.search(subject) is None and len(subject.split()) <= _MOST_GERUND_WORDS
    return is_noun_phrase(subject)


_MOST_GERUND_WORDS = 8
