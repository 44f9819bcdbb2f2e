"""Values with labels: "2.1 for engineers and 1.9 for designers" gives designers 1.9.

A label is what "for" begins right after a value, or before it in the same sentence. Where the label of a stated value
names nobody of whom the question speaks, and another value has that of the question, the fact is open. The patterns are
for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.text.facts.cues.cue_pattern import build_pattern, list_words
from assay.text.facts.cues.link_cues import JOINS_VALUES, LABELS
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence, find_stated_quantity
from assay.text.facts.reading.read_text import Word
from assay.text.facts.reading.sentence_around import REACH_BEFORE
from assay.text.facts.reading.text_parts import list_quantities
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.quantity_agreement import is_comparable, is_same_value

_LABEL_AFTER = build_pattern(rf"(?: [^\W\d_]+)? {LABELS}\b")
_LABEL_BEFORE = build_pattern(rf"(?:^|[;.,:] |\b{JOINS_VALUES} ){LABELS}\b(?P<label>[^\d;.]{{1,60}})$")
_ENDS_LABEL = build_pattern(rf"[,;.!?()]|\b{JOINS_VALUES}\b|$")


def judge_label(texts: FactTexts, occurrence: Occurrence) -> FactJudgment | None:
    """Return the judgment of a value with the label of another than the question asks about; None otherwise."""
    stated = find_stated_quantity(texts.answer, occurrence)
    if stated is None or not texts.question.words:
        return None
    own = _list_label(texts, stated)
    topics = texts.list_topics()
    if not own or any(texts.is_explained(word) for word in own):
        return None
    clause = occurrence.clause
    others = list_quantities(
        texts.answer, clause.sentence_start, min(len(texts.answer.plain), clause.sentence_end + 80)
    )
    for other in others:
        is_rival = other is not stated and is_comparable(stated, other) and not is_same_value(stated, other)
        if not is_rival or any(is_same_value(other, wanted) for text in texts.explaining for wanted in text.quantities):
            continue
        asked = [word for word in _list_label(texts, other) if any(word.key == topic.key for topic in topics)]
        if asked:
            named, rest = (texts.answer.text[words[0].start : words[-1].end] for words in (own, asked))
            reason = f'the answer says this of "{named}", and another value of "{rest}", which is asked about'
            return FactJudgment(texts.fact, "unknown", reason)
    return None


def _list_label(texts: FactTexts, value: Quantity) -> Sequence[Word]:
    """Return the words for whom or what a value holds, right after it or else before it."""
    answer = texts.answer
    after = _LABEL_AFTER.match(answer.plain, value.end)
    if after is not None:
        end = _ENDS_LABEL.search(answer.plain, after.end())
        stop = len(answer.plain) if end is None else end.start()
        return _select_names(answer.list_words(after.end(), stop))
    low = max(0, value.start - 2 * REACH_BEFORE)
    before = _LABEL_BEFORE.search(answer.plain[low : value.start])
    if before is None:
        return ()
    label = (low + before.start("label"), low + before.end("label"))
    return _select_names(answer.list_words(*label))


_ARTICLES = list_words("un une le la les des du de der die das den dem des ein eine einen einem einer các những một")


def _select_names(words: Sequence[Word]) -> list[Word]:
    return [word for word in words if may_be_subject(word) and word.folded not in _ARTICLES]
