"""Whether citations are in their place: does a citation name the source of its claim, or a neighbour of it?

The texts of what was shown tell it of some citations, of others they do not (ADR 0255): a claim in other words than its
source has little support by rules from any chunk. Such citations are untold, neither right nor wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from assay.metrics.grounding.citation_precision import (
    CLEARLY_BETTER,
    LEAST_SUPPORT,
    find_better_source,
    list_served_claims,
)
from assay.metrics.metric import JoinedRows
from assay.metrics.parsed_answer import Citation, ParsedAnswer, parse_answers
from assay.records.answer_numbers import NO_NUMBER, number_parts
from assay.records.observations import CONTEXT_STAGE
from assay.text.claims.claim_segments import Claim

PLAINLY_BETTER = 4 * CLEARLY_BETTER
"""By how much more z a neighbour must support a claim for the citation to be an error that fails a case (ADR 0100)."""
UNTOLD_REASON = "unknown: the texts do not tell whether every citation names the source of what it is cited for"


class Placements(Struct, frozen=True):
    """What the texts tell of the places of citations (ADR 0255).

    `misplaced` are attached citations that a shown neighbour outdoes by far, each with that neighbour. `untold` are
    citations of which the texts tell neither that nor that their source supports what they are cited for.
    """

    misplaced: tuple[tuple[str, str], ...] = ()
    untold: tuple[str, ...] = ()


def judge_placements(reading: ParsedAnswer) -> Placements:
    """Compare what is cited and was shown with all other chunks that were shown.

    Nothing can be said without the texts of all of them. A surplus citation next to the right one is no error.
    """
    context_texts = reading.context_texts if reading.has_texts and not reading.is_refusal else ""
    if isinstance(context_texts, str):
        return Placements()
    misplaced, untold = [], []
    for citation in reading.citations:
        is_shown = bool(citation.texts) and citation.texts.keys() <= context_texts.keys()
        if not is_shown or not all(citation.texts.values()) or _is_right_or_surplus(citation, reading):
            continue
        better = find_better_source(citation, reading, PLAINLY_BETTER) if citation.claim is not None else None
        if better is None:
            untold.append(citation.name)
        elif not any(better in neighbour.texts for neighbour in _list_neighbours(citation, reading)):
            misplaced.append((citation.name, better))
    return Placements(tuple(misplaced), tuple(untold))


def _list_neighbours(citation: Citation, reading: ParsedAnswer) -> Sequence[Citation]:
    """Return the citations of the same claim, or of the answer as a whole."""
    return reading.citations if citation.claim is None else reading.citations_by_claim[citation.claim.id]


def _is_right_or_surplus(citation: Citation, reading: ParsedAnswer) -> bool:
    """Return whether the cited source supports a claim that it may serve, or what else is cited for them does.

    A citation of the answer as a whole is surplus where each of its claims has its source among what is cited.
    """
    served = list_served_claims(citation, reading)
    if any(_is_source(frozenset(citation.texts), claim, reading) for claim in served):
        return True
    others = [frozenset(other.texts) for other in _list_neighbours(citation, reading) if other is not citation]
    if not others:
        return False
    if citation.claim is None:
        return all(any(_is_source(ids, claim, reading) for ids in others) for claim in served)
    cited_together = frozenset().union(citation.texts, *others)
    return any(_is_source(ids, citation.claim, reading) for ids in (*others, cited_together))


def _is_source(ids: frozenset[str], claim: Claim, reading: ParsedAnswer) -> bool:
    """Return whether a claim is from some chunks of the context as far as the texts tell.

    They support it enough to be compared and no other chunk does so clearly better, or they support it clearly better
    than all others together.
    """
    assert isinstance(reading.context_texts, dict)
    shown = reading.support_by_context(claim)
    shown_ids = ids.intersection(reading.context_texts)
    if shown.source in shown_ids and shown.z >= LEAST_SUPPORT:
        return True
    if not shown_ids:
        return False
    own_z = reading.support_by_context(claim, shown_ids).z
    other_ids = frozenset(reading.context_texts.keys() - shown_ids)
    if not other_ids:
        return own_z >= LEAST_SUPPORT
    advantage = own_z - reading.support_by_context(claim, other_ids).z
    return advantage >= (-CLEARLY_BETTER if own_z >= LEAST_SUPPORT else CLEARLY_BETTER)


class PlacementFacts:
    """What each row's texts tell of the places of its citations.

    `shares`: the share of the attached citations that no shown neighbour outdoes by far. `is_untold`: whether the texts
    leave one open. `numbers`: one for each such answer with what it cites and was shown, on which its score rests.
    """

    def __init__(self) -> None:
        self.shares: list[float] = []
        self.is_untold: list[bool] = []
        self.numbers: list[int] = []

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order."""
        for reading in parse_answers(rows):
            is_answered = isinstance(reading.observation.answer, str)
            placements = judge_placements(reading) if is_answered else Placements()
            attached = sum(citation.claim is not None for citation in reading.citations) if placements.misplaced else 1
            self.shares.append((attached - len(placements.misplaced)) / attached)
            self.is_untold.append(bool(placements.untold))
            self.numbers.append(_number_citations(reading) if placements.untold else int(NO_NUMBER))


def _number_citations(reading: ParsedAnswer) -> int:
    """Return a number for an answer with its citations and the texts that were shown: the same for the same ones."""
    shown = reading.source_texts(CONTEXT_STAGE)
    parts = [reading.answer, *(f"{citation.id} {citation.name}" for citation in reading.citations)]
    parts += [part for text in shown.items() for part in text] if isinstance(shown, dict) else []
    return number_parts([part.encode("utf-8", "surrogatepass") for part in parts])
