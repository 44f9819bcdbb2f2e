"""What an answer does with each member of a reference that is nothing but a list: "Morocco, but not Tunisia".

Each is judged as must-have facts are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import structs

from assay.text.facts.cues.cue_pattern import list_words
from assay.text.facts.cues.link_cues import JOINS_MEMBERS
from assay.text.facts.cues.word_classes import AUXILIARIES
from assay.text.facts.fact_judgments import FactJudgment, FactState
from assay.text.facts.reading.choices import offers_choice
from assay.text.facts.reading.exceptions import has_exception
from assay.text.facts.reading.read_text import read_text
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern

_CUT = LatePattern(rf",? {JOINS_MEMBERS} |, (?:{JOINS_MEMBERS} )?", re.IGNORECASE)
_JOINED = LatePattern(rf"\b{JOINS_MEMBERS}\b", re.IGNORECASE)
_IN_SENTENCES = compile_pattern(r"[:;?!()\n]|\.(?!\d)")
_OF_SENTENCES = AUXILIARIES | list_words("i we you they he she it one ich wir sie ihr es man je nous vous on ils elles")
"""Words that members of a list do not have, and sentences do."""
_FEWEST_MEMBERS, _MOST_MEMBERS = 2, 8
_MOST_WORDS = 5
"""Words of a member of a list."""


def list_members(reference: str) -> tuple[str, ...]:
    """Return the members of a reference that is nothing but a list joined by "and"; empty for any other.

    >>> list_members("Copper, brass and zinc."), list_members("The sauna and the squash court.")
    (('Copper', 'brass', 'zinc'), ('The sauna', 'the squash court'))
    >>> list_members("We close at noon and open again at two."), list_members("Card or cash")
    ((), ())
    >>> list_members("All days except Mondays and Tuesdays")
    ()
    """
    whole = reference.strip().rstrip(".")
    if _JOINED.search(whole) is None or offers_choice(whole) or _IN_SENTENCES.search(whole) is not None:
        return ()
    read = read_text(whole)
    if has_exception(read) or any(word.folded in _OF_SENTENCES for word in read.words):
        return ()  # in "All but the attic and the loft" the last member is an exception
    members, start = [], 0
    for cut in _CUT.finditer(whole):
        members.append(whole[start : cut.start()].strip())
        start = cut.end()
    members.append(whole[start:].strip())
    is_short = all(0 < len(read_text(member).words) <= _MOST_WORDS for member in members)
    return tuple(members) if is_short and _FEWEST_MEMBERS <= len(members) <= _MOST_MEMBERS else ()


def check_members(judgment: FactJudgment, members: Sequence[FactJudgment]) -> FactJudgment:
    """Return a stated list as denied where an answer denies a member of it, and as unknown where it leaves one open.

    >>> whole, own = FactJudgment("a and b", "stated"), FactJudgment("b", "denied", "the answer denies this")
    >>> check_members(whole, [FactJudgment("a", "stated"), own]).state
    'denied'
    """
    if judgment.state != "stated":
        return judgment
    order: tuple[FactState, ...] = ("denied", "missing", "unknown")
    for state in order:
        for member in members:
            has_value = bool(
                read_text(member.fact).quantities
            )  # rules of values are for values alone, and leave much open
            if member.state == state and (state == "denied" or not has_value):
                open_or_denied: FactState = "denied" if state == "denied" else "unknown"
                return structs.replace(judgment, state=open_or_denied, reason=f"{member.fact}: {member.reason}")
    return judgment
