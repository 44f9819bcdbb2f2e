"""Whether an answer says a value of something else than its sources do: the other season, direction or day.

"€12 for a round trip" is another fare than "one way: €12". What the sources say of a value is in `value_sources`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.event_cues import LEAVES_PLACE, REACHES_PLACE
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.presence.value_sources import find_stretch, iterate_value_sources
from assay.text.facts.reading.opposite_words import find_opposite_event, holds_event
from assay.text.facts.reading.read_text import ReadText, read_text
from assay.text.facts.reading.text_parts import Part
from assay.text.late_items import LateItems
from assay.text.late_pattern import LatePattern
from assay.text.quantities.quantity import Quantity

_LEAVES = build_pattern(rf"\b{LEAVES_PLACE} (?:the )?(?=(?P<name>\w+))")
_REACHES = build_pattern(rf"\b{REACHES_PLACE} (?:the )?(?=(?P<name>\w+))")


def list_other_terms(texts: FactTexts, stated: Quantity, part: Part) -> Iterator[str]:
    """Yield how a part of an answer says a value of the contrary of what the sources say it of."""
    sources = LateItems(iterate_value_sources(texts, stated))
    for source in sources if holds_event(texts.answer, part.start, part.end) else ():
        opposite = find_opposite_event(source, texts.answer, part.start, part.end)
        if opposite is None or find_opposite_event(texts.question, source, 0, len(source.plain)):
            continue
        if not any(_says(text, opposite[1]) for text in chain((texts.question,), sources)):
            yield f'the answer says this with "{opposite[1]}", and the evidence with "{opposite[0]}"'
    other_way = _find_other_way(texts, find_stretch(texts.answer, stated), sources)
    if other_way:
        yield f'the answer says this of the other direction: "{other_way}" is at the other end in the evidence'


def _says(text: ReadText, words: str) -> bool:
    return re.search(rf"\b{re.escape(read_text(words).plain)}\b", text.plain) is not None


def _find_other_way(texts: FactTexts, stretch: tuple[int, int], sources: Iterable[ReadText]) -> str:
    """Return a place that the sources of a value have as where something begins, and the answer as where it ends, or
    the other way round; "" if there is none."""
    for wanted, other in ((_LEAVES, _REACHES), (_REACHES, _LEAVES)):
        named_places = _list_places(texts.answer, other, *stretch)
        if not named_places:
            continue
        places = {name for source in sources for name in _list_places(source, wanted, 0, len(source.plain))}
        expected = chain(sources, (texts.question,))
        places -= {name for source in expected for name in _list_places(source, other, 0, len(source.plain))}
        contrary = {name: text for name, text in named_places.items() if name in places}
        if contrary and places.isdisjoint(_list_places(texts.answer, wanted, *stretch)):
            return next(iter(contrary.values()))
    return ""


def _list_places(text: ReadText, pattern: LatePattern, low: int, high: int) -> dict[str, str]:
    """Return the names after the words of a pattern, folded, each as it is written."""
    places = {}
    for match in pattern.finditer(text.plain, low, high):
        written = text.text[slice(*match.span("name"))]
        if written[:1].isupper():
            places[match["name"]] = written
    return places
