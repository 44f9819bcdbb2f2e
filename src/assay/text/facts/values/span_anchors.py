"""Whether an answer counts a span of time from another event than its source does: "30 days after payment" where that
says "30 days after delivery".

Fact and reference are the source, or else the passages of the evidence. Another event leaves the fact open, because it
may be the same in other words; the contrary side of the same event ("before delivery") denies it. The patterns are for
text as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Literal

from msgspec import Struct

from assay.text.facts.cues.anchor_cues import COUNTED, COUNTS_FROM, COUNTS_TO, NO_EVENT
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.event_cues import DATED_EVENTS, DEADLINE_EVENTS
from assay.text.facts.cues.limit_cues import WITHIN
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, Word
from assay.text.facts.reading.sentence_around import REACH_BEFORE, get_sentence
from assay.text.facts.reading.word_senses import find_same_sense
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.quantity import Quantity, is_span
from assay.text.quantities.quantity_agreement import is_same_value

_ANCHOR = LatePattern(
    rf"(?: (?:later|at the latest))?,? (?:{COUNTED} )?"
    rf"(?:(?P<to>{COUNTS_TO})|(?P<since>{COUNTS_FROM})|(?P<of>of))(?: |(?<=['’]))",
    re.IGNORECASE,
)
_WITHIN = LatePattern(rf"\b{WITHIN}\b", re.IGNORECASE)
_MOST_WORDS = 7
"""Words after "before" or "after" in which an event is named."""
_ENDS_ANCHOR = compile_pattern(r"[.,;:!?()\n]| - | – ")


class SpanAnchor(Struct, frozen=True):
    """What a span is counted to or from, as the words that name the event in a text."""

    side: Literal["before", "after"]
    words: Sequence[Word]
    text: ReadText

    @property
    def spelled(self) -> str:
        """The event as it is written."""
        return self.text.text[self.words[0].start : self.words[-1].end]


def judge_contrary_anchor(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return that a span is denied that an answer counts to the event from which its source counts it, or reversely."""
    judgment = judge_span_anchor(texts, occurrence, stated)
    return None if judgment is None or judgment.state != "denied" else judgment


def judge_span_anchor(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a span that an answer counts from another event than its source, or to the same one."""
    del occurrence
    if stated is None or not is_span(stated):
        return None
    anchor = find_anchor(texts.answer, stated)
    if anchor is None:
        return None
    expected = list(_list_anchors((texts.read_fact, texts.reference), stated))
    expected = expected or list(_list_anchors(texts.passages, stated))
    if not expected or any(_may_be_same(anchor, other) and anchor.side == other.side for other in expected):
        return None
    if _asks_from(texts.question, anchor.words[0]) and not any(_are_contrary(anchor, own) for own in expected):
        return None
    source = f'{expected[0].side} "{expected[0].spelled}"'
    reason = f'the answer counts this {anchor.side} "{anchor.spelled}", and its source {source}'
    is_sure = all(_may_be_same(anchor, other) for other in expected)
    is_denied = find_negations(texts.answer, *get_sentence(texts.answer, stated.start))
    return FactJudgment(texts.fact, "denied" if is_sure and not is_denied else "unknown", reason)


_COUNTED_FROM = LatePattern(rf"\b(?:{COUNTS_TO}|{COUNTS_FROM}) (?:[\w'’-]+ ){{0,2}}$", re.IGNORECASE)


def _asks_from(question: ReadText, event: Word) -> bool:
    """Whether a question asks of what is before or after an event."""
    starts = [question.words[index].start for index in question.find_word(event, True)]
    return any(_COUNTED_FROM.search(question.text, max(0, at - REACH_BEFORE), at) is not None for at in starts)


def find_anchor(text: ReadText, span: Quantity) -> SpanAnchor | None:
    """Return the event before or after which a text counts a span, None if it names none.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> texts = [read_text(text) for text in ("30 days after delivery", "14 Tage vor Abflug", "12 days of leave")]
    >>> [(own := find_anchor(text, text.quantities[0])) and (own.side, own.spelled) for text in texts]
    [('after', 'delivery'), ('before', 'Abflug'), None]
    """
    cue = _ANCHOR.match(text.text, span.end)
    if cue is None or (cue["of"] is not None and _WITHIN.search(text.text, _get_low(span), span.end) is None):
        return None
    end = _ENDS_ANCHOR.search(text.text, cue.end())
    high = len(text.text) if end is None else end.start()
    following = takewhile(lambda word: word.start < high, text.list_following(cue.end(), _MOST_WORDS))
    words = [word for word in following if word.kind != "stop" and word.folded not in NO_EVENT]
    return SpanAnchor("after" if cue["to"] is None else "before", words, text) if words else None


def _get_low(span: Quantity) -> int:
    return max(0, span.start - REACH_BEFORE)


def _list_anchors(sources: Iterable[ReadText], stated: Quantity) -> Iterator[SpanAnchor]:
    for text in sources:
        for wanted in text.quantities:
            anchor = find_anchor(text, wanted) if is_span(wanted) and is_same_value(wanted, stated) else None
            if anchor is not None:
                yield anchor


def _may_be_same(anchor: SpanAnchor, other: SpanAnchor) -> bool:
    """Whether two events may be one: the first word of either is among those of the other, and none is contrary."""
    if _are_contrary(anchor, other):
        return False
    return _has_event(other, anchor) or _has_event(anchor, other)


def _has_event(anchor: SpanAnchor, other: SpanAnchor) -> bool:
    """Whether an anchor has the first word of another, one of the same sense, or one for the same event."""
    word = other.words[0]
    keys = {own.key for own in anchor.words}
    indices = [*anchor.text.find_word(word, True), *find_same_sense(anchor.text, word.folded)]
    if any(anchor.text.words[index].key in keys for index in indices):
        return True
    named = {_take_token(anchor.text, own) for own in anchor.words}
    token = _take_token(other.text, word)
    return any(token in group and not named.isdisjoint(group) for group in DEADLINE_EVENTS)


def _take_token(text: ReadText, word: Word) -> str:
    """Return a word with what a hyphen joins to it: "take-off"."""
    end = text.plain.find(" ", word.start)
    return text.plain[word.start : end if end >= 0 else None].strip(".,;:!?)")


_CONTRARY = tuple(
    (build_pattern(rf"\b(?:{first})\b"), build_pattern(rf"\b(?:{second})\b")) for first, second in DATED_EVENTS
)


def _are_contrary(anchor: SpanAnchor, other: SpanAnchor) -> bool:
    """Whether one event is the beginning of what the other is the end of."""
    own_text, other_text = (" ".join(word.folded for word in event.words) for event in (anchor, other))
    for pair in _CONTRARY:
        for first, second in (pair, pair[::-1]):
            if first.search(own_text) and second.search(other_text) and not second.search(own_text):
                return True
    return False
