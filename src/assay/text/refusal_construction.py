"""Whether a short answer is built like a refusal: a look at what a model's sum of weights cannot see.

A sum of weights takes "which ends its insurance cover" for a refusal, because "ends" and "cover" are also said of
sources. So a refusal in free wording needs a construction: a word that lacks, denies or apologises; a negation beside
the speaker, a source, or a verb of finding, knowing and stating; for a question back a word that asks; for handing over
someone who takes over. Words that the question already has, and those that also state things about the world, show no
construction by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

Construction = Literal["refusing", "doubtful", "none"]
"""What a text is built like: a refusal; nothing that settles it; or a statement that holds no negation or speaker."""

ASKING_BACK = frozenset(
    "tell give say specify clarify provide share let rephrase name choose pick indicate confirm send describe state "
    "explain contact ask reach speak talk consult refer check see try call email get".split()
)
"""Verbs that after "please" ask for something, or hand over, where others say what to do."""
POLITE = re.compile(r"\b(?:please|kindly) ([a-z]+)")
REFUSING_ALONE = frozenset(("lack", "private", "scope", "safety", "allowed", "apology"))
FINDING = frozenset(("state", "say", "know", "find", "disclose", "information"))
"""Classes of words that refuse by themselves, and those that do beside a negation."""
_ABOUT_THE_WORLD = REFUSING_ALONE | FINDING | {"source"}
_ANCHORS = frozenset(("speaker", "source"))
_ASKING = frozenset(("ask", "question"))
_TAKING_OVER = frozenset(("person", "hand_over"))
_WILL_ACT = frozenset(("others", "modal"))  # "she will write to you"
_UNWRITTEN_NEGATIONS = frozenset("cant dont isnt wont doesnt arent wasnt didnt havent hasnt couldnt".split())
_NEARBY = 4  # words between a negation and the verb that it denies
_STEM = 5


class ClassifiedWord(NamedTuple):
    """A word or phrase of a text and the class of its meaning, `w` without one."""

    word: str
    name: str


def find_construction(
    words: Sequence[ClassifiedWord], kind: str, text: str, asked: frozenset[str], ambiguous: frozenset[str]
) -> Construction:
    """Return what a prepared text is built like, if a model reads a refusal of a kind in it.

    `asked`: the words of its question. `ambiguous`: words that also state things about the world.

    >>> seal = [ClassifiedWord("seal", "w"), ClassifiedWord("ends", "lack"), ClassifiedWord("cover", "state")]
    >>> find_construction(seal, "abstain", "the seal ends cover.", frozenset(), frozenset(("ends", "cover")))
    'none'
    >>> deny = [ClassifiedWord("i", "speaker"), ClassifiedWord("never", "not"), ClassifiedWord("saw", "find")]
    >>> find_construction(deny, "abstain", "i never saw it.", frozenset(), frozenset())
    'refusing'
    """
    classes = {item.name for item in words}
    if kind == "clarify":
        return "refusing" if "?" in text or not _ASKING.isdisjoint(classes) else "doubtful"
    if kind == "escalate":
        takes_over = not _TAKING_OVER.isdisjoint(classes) or classes >= _WILL_ACT
        return "refusing" if takes_over else "doubtful"
    known = asked | {word.rstrip("s") for word in asked} | {word[:_STEM] for word in asked if len(word) >= _STEM}
    names = [_read_class(item, known, ambiguous) for item in words]
    shown = set(names)
    if not REFUSING_ALONE.isdisjoint(shown) or not ASKING_BACK.isdisjoint(POLITE.findall(text)):
        return "refusing"
    negations = [index for index, name in enumerate(names) if name == "not"]
    is_anchored = not _ANCHORS.isdisjoint(shown)
    if is_anchored and (negations or "lack" in classes):
        return "refusing"
    denied = [index for index, name in enumerate(names) if name in FINDING]
    if any(abs(index - negation) <= _NEARBY for negation in negations for index in denied):
        return "refusing"
    return "doubtful" if negations or "speaker" in shown else "none"


def _read_class(item: ClassifiedWord, known: set[str] | frozenset[str], ambiguous: frozenset[str]) -> str:
    """Return the class of a word; `w` if it says something about the world, or takes up the question."""
    if item.word in _UNWRITTEN_NEGATIONS:
        return "not"
    if item.name not in _ABOUT_THE_WORLD:
        return item.name
    is_asked = item.word in known or item.word.rstrip("s") in known
    is_asked = is_asked or (len(item.word) >= _STEM and item.word[:_STEM] in known)
    return "w" if is_asked or item.word in ambiguous else item.name
