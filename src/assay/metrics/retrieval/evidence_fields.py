"""Evidence that is named by fields of a chunk, such as its document.

Where chunks do not report the field, nothing tells whether they are the evidence; where a chunk that has the quote
reports another name, one of the two names is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from assay.metrics.cases.case_index import QUOTE, CaseIndex, EvidenceIndex, has_field_value, list_needed_fields
from assay.records.counts import format_count, join_first
from assay.records.golden_set import Corpus, Evidence, GoldenSet
from assay.records.observations import Chunk, is_text_id
from assay.text.normalisation import fold_text

_MOST_NAMED = 3


class OtherName(Struct, frozen=True):
    """A field whose value differs between the golden set (`wanted`) and a chunk (`shown`) that has the quote."""

    field: str
    shown: str
    wanted: str


def find_unreported_field(case: CaseIndex, chunks: Sequence[Chunk], covered: int) -> str | None:
    """Return the field without which nothing tells whether chunks are evidence that none of them is known to be.

    `covered` are the units that the chunks cover. None if all units can be told: of some chunks the field is known, and
    none of the others has the quote of the unit.
    """
    for bit, unit in case.field_units:
        if covered >> bit & 1:
            continue
        name = _find_field_of_unit(case.evidence, unit, chunks)
        if name is not None:
            return name
    return None


NO_TEXTS = (
    "text of chunks not reported, and evidence that is named by quotes (report the text with each chunk, or ids of the "
    "corpus)"
)


def lacks_texts(case: CaseIndex, chunks: Sequence[Chunk], covered: int) -> bool:
    """Return whether a unit that the chunks do not cover is named by a quote, and nothing tells whether it is in one of
    them: of that chunk no text is known, and its id is none of those by which a corpus names what the unit is."""
    index = case.evidence
    return any(
        index.get_known_text(chunk) is None and not (names_ids and index.can_compare_id(chunk))
        for bit, names_ids in case.quoted_units
        if not covered >> bit & 1
        for chunk in chunks
    )


def _find_field_of_unit(index: EvidenceIndex, unit: Evidence, chunks: Sequence[Chunk]) -> str | None:
    lacking = [(chunk, name) for chunk in chunks if (name := _find_lack(index, unit, chunk)) is not None]
    if lacking and len(lacking) == len(chunks):
        return lacking[0][1]
    quotes = [quote for quote in _list_quotes(unit) if quote]
    for chunk, name in lacking:
        folded = fold_text(index.get_known_text(chunk) or "")
        if any(quote in folded for quote in quotes):
            return name
    return None


def _list_quotes(unit: Evidence) -> list[str]:
    """Return the folded quote of each selector of a unit: its own, or that of the unit; empty without one."""
    return [fold_text(str(selector.get(QUOTE, unit.quote or ""))) for selector in unit.any_of]


def _find_lack(index: EvidenceIndex, unit: Evidence, chunk: Chunk) -> str | None:
    """Return a field that a chunk lacks, so that no selector of the unit can be compared with it; None if one can."""
    if is_text_id(chunk.chunk_id) and (unit.quote or index.knows_texts):
        return None  # it is told by the quote, or by the texts of the corpus
    reported = index.list_known_fields(chunk)
    first = None
    for selector in unit.any_of:
        names = [name for name in list_needed_fields(selector) if all(fields.get(name) is None for fields in reported)]
        if not names:
            return None
        first = first or names[0]
    return first


def describe_unreported_field(name: str) -> str:
    """Return why chunks without a field have no score.

    >>> describe_unreported_field("page")
    'chunks without `page`, by which the evidence is named (report it with each chunk, or name the quote alone)'
    """
    return (
        f"chunks without `{name}`, by which the evidence is named (report it with each chunk, or name the quote alone)"
    )


def find_other_names(case: CaseIndex, chunks: Iterable[Chunk]) -> list[OtherName]:
    """Return, for each required unit that no chunk covers, the name of a chunk that has its quote and another name."""
    units = [(bit, unit) for bit, unit in case.field_units if any(_list_quotes(unit))]
    if not units:
        return []
    shown = list(chunks)
    covered = 0
    for mask in case.evidence.unit_masks(shown):
        covered |= mask or 0
    others = [_find_other_name(case.evidence, unit, shown) for bit, unit in units if not covered >> bit & 1]
    return [other for other in others if other is not None]


def _find_other_name(index: EvidenceIndex, unit: Evidence, chunks: Sequence[Chunk]) -> OtherName | None:
    for selector, quote in zip(unit.any_of, _list_quotes(unit), strict=True):
        names = list_needed_fields(selector)
        for chunk in chunks if quote else ():
            if quote not in fold_text(index.get_known_text(chunk) or ""):
                continue
            for fields in index.list_known_fields(chunk):
                differing = [name for name in names if not has_field_value(fields, name, selector[name])]
                if len(differing) == 1 and isinstance(fields.get(differing[0]), (str, int)):
                    return OtherName(differing[0], str(fields[differing[0]]), str(selector[differing[0]]))
    return None


def find_shown_names(
    index: EvidenceIndex, chunks: Iterable[Chunk], wanted: Mapping[str, frozenset[str]]
) -> set[tuple[str, str]]:
    """Return which of the wanted values some chunk has, as pairs of field and value."""
    shown = set()
    for chunk in chunks:
        for fields in index.list_known_fields(chunk):
            for name, values in wanted.items():
                value = fields.get(name)
                stated = value if isinstance(value, (list, tuple)) else [value]
                shown |= {(name, str(item)) for item in stated if str(item) in values}
    return shown


def find_cases_by_field(golden: GoldenSet, fields: Collection[str]) -> set[int]:
    """Return the positions of the cases with a required unit of evidence that only some fields name."""
    positions = set()
    for position, case in enumerate(golden.cases if fields else ()):
        for unit in [unit for unit in case.evidence if unit.required and unit.grade > 0]:
            if all(not set(fields).isdisjoint(list_needed_fields(selector)) for selector in unit.any_of):
                positions.add(position)
    return positions


def is_name_of_corpus(corpus: Corpus | None, name: OtherName) -> bool:
    """Return whether a chunk of the corpus has the name that the golden set says."""
    chunks = corpus.chunks.values() if corpus is not None else ()
    return any(str(getattr(chunk, name.field, None)) == name.wanted for chunk in chunks)


OTHER_NAME_REMEDY = "correct one of the two; until then it is not scored whether they were found"
RENAMED = "evidence has other names in the run than the golden set says (the notes have both)"
"""Why a row has no score of its evidence."""


def describe_other_names(names: Mapping[OtherName, int]) -> str:
    """Return what is said once of quotes that were found under other names than the golden set says.

    >>> describe_other_names({OtherName("document", "tides.html", "tides"): 4})
    "4 quotes were found in chunks whose document is 'tides.html', the golden set says 'tides'"
    """
    counts = sorted(names.items(), key=lambda item: (-item[1], item[0]))
    fields = list(dict.fromkeys(name.field for name, _ in counts))
    quotes = format_count(sum(names.values()), "quote was", "quotes were")
    if len(counts) == 1:
        (name, _), *_ = counts
        chunks = "a chunk" if sum(names.values()) == 1 else "chunks"
        return f"{quotes} found in {chunks} whose {name.field} is '{name.shown}', the golden set says '{name.wanted}'"
    examples = [f"'{name.shown}' for '{name.wanted}'" for name, _ in counts]
    listed = join_first(examples, _MOST_NAMED)
    return f"{quotes} found in chunks with another {' or '.join(fields)} than the golden set says: {listed}"


def leave_out_known(
    names: Mapping[OtherName, int], shown: set[tuple[str, str]], corpus: Corpus | None
) -> Counter[OtherName]:
    """Return the names without those of which a chunk of the run or the corpus has the one that the golden set says:
    there the evidence exists under its name, and was not found."""
    unknown = {name: count for name, count in names.items() if (name.field, name.wanted) not in shown}
    return Counter({name: count for name, count in unknown.items() if not is_name_of_corpus(corpus, name)})
