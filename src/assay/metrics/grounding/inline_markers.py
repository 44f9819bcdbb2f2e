"""Citation markers in the text of an answer: what they name, which name nothing, and which the target does not report.

The reader sees the markers, whatever the target reports next to the text. A number is right in any of the usual ways to
count: a place in the context, a place in the reported citations, or an entry of the answer's own list of sources. Only
a marker that is wrong in all of them is called dangling (ADR 113).
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from assay.metrics.cases.case_index import find_cited_positions, is_cited_among, list_reported_documents
from assay.metrics.parsed_answer import ParsedAnswer
from assay.records.observations import CONTEXT_STAGE
from assay.text.citation_markers import find_citation_markers
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern


class InlineMarkers(Struct, frozen=True):
    """The sources that the markers of an answer name; the markers that name nothing; and those whose source is none of
    the reported citations, each with that source."""

    named: tuple[str, ...] = ()
    dangling: tuple[str, ...] = ()
    unreported: tuple[tuple[str, str], ...] = ()


NO_MARKERS = InlineMarkers()
_MAY_HAVE_MARKER = compile_pattern(r"[\[【<¹²³⁰⁴-⁹]|[\w][:#_][\w]")
_CODE_SPAN = LatePattern(r"`[^`\n]{0,400}`|(?<=\w)\[0\]")
"""Code, and an index into it: `items[0]` cites nothing."""


def read_inline_markers(reading: ParsedAnswer) -> InlineMarkers:
    """Return what the markers in the text of an answer name."""
    if not isinstance(reading.observation.answer, str) or _MAY_HAVE_MARKER.search(reading.answer) is None:
        return NO_MARKERS
    if reading.is_refusal:
        return NO_MARKERS
    named: dict[str, None] = {}
    dangling: list[str] = []
    unreported: list[tuple[str, str]] = []
    for marker, name in reading.names_by_marker.items():
        if _names_something(reading, name):
            named[name] = None
            if _is_unreported(reading, name):
                unreported.append((marker, name))
        elif _is_dangling(reading, marker):
            dangling.append(marker)
    return InlineMarkers(tuple(named), tuple(dangling), tuple(unreported))


def _names_something(reading: ParsedAnswer, name: str) -> bool:
    """Whether a name is a reported citation, or means a chunk that was shown or that the corpus has."""
    if name in (reading.observation.citations or ()):
        return True
    documents = list_reported_documents(reading.observation, reading.case.golden_index)
    if is_cited_among(name, reading.known_ids, reading.case.corpus, documents):
        return True
    corpus = reading.case.corpus
    return corpus is not None and bool(find_cited_positions({name}, corpus.chunks, corpus))


def _is_unreported(reading: ParsedAnswer, name: str) -> bool:
    reported = reading.observation.citations
    if reported is None or name in reported:
        return False
    documents = list_reported_documents(reading.observation, reading.case.golden_index)
    return not any(is_cited_among(other, (name,), reading.case.corpus, documents) for other in reported)


def _is_dangling(reading: ParsedAnswer, marker: str) -> bool:
    """Whether a marker that names nothing was surely meant to name something."""
    if not _is_in_prose(reading, marker):
        return False
    if not marker.isdecimal():
        return any(_get_shape(marker) == _get_shape(chunk_id) for chunk_id in reading.known_ids)
    if marker in reading.listed_numbers or any(f"[{marker}]" in text for text in reading.shown_texts):
        return False  # explained by the answer itself, or copied from a source
    has_context = any(stage.name == CONTEXT_STAGE for stage in reading.observation.stages or ())
    return has_context and not 1 <= int(marker) <= reading.most_places


def _is_in_prose(reading: ParsedAnswer, marker: str) -> bool:
    prose = _CODE_SPAN.sub(" ", reading.answer)
    return any(marker in found.names for found in find_citation_markers(prose, reading.known_ids))


@lru_cache(maxsize=4096)
def _get_shape(name: str) -> str:
    """Return the form of an identifier: "leave:v1:c3" and "rooms:v2:c12" look alike, and words look like none."""
    shape = re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", name))
    return shape if re.search(r"[:#_/]", shape) and "0" in shape else name
