"""How well the sources hold each word of a claim: near its neighbours, or far from what it belongs to."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from assay.text.claims.passages import TermMatch
from assay.text.tokens import Term

_SUPPORT_ALONE = 0.4  # support of a word that is found without its neighbours
_NEIGHBOURS, _DISTANCE_DECAY = 3, 0.3  # words on either side of a word; more distant ones count less
_DECAYS = [1 + _DISTANCE_DECAY * (distance - 1) for distance in range(_NEIGHBOURS + 1)]  # by the distance in words
_CLOSENESS = (1.0,) * 9 + (0.7,) * 8 + (0.35,) * 16  # the weight of a neighbour by its distance in terms
_FAR_DISTANCE = len(_CLOSENESS)
_MOST_POSITIONS = 40  # positions of a term that are examined
_FACT_NEIGHBOURS, _FACT_DISTANCE = 2, 12


def support_of_words(matches: Sequence[TermMatch], weights: Sequence[float]) -> list[float]:
    """Return the support of each content word: its match quality, times 0.4 to 1 by how many neighbours are near."""
    word_supports = []
    for word, match in enumerate(matches):
        if not match.positions:
            word_supports.append(0.0)
            continue
        neighbours_found: list[tuple[Sequence[int], float]] = []
        total_weight = reachable_weight = 0.0
        for neighbour in range(max(0, word - _NEIGHBOURS), min(len(matches), word + _NEIGHBOURS + 1)):
            if neighbour != word:
                weight = weights[neighbour] / _DECAYS[abs(neighbour - word)]
                total_weight += weight
                if matches[neighbour].positions:
                    neighbours_found.append((matches[neighbour].positions, weight))
                    reachable_weight += weight
        best_share = 1.0
        if total_weight:
            best_share = _find_best_weight(match.positions, neighbours_found, reachable_weight) / total_weight
        word_supports.append(match.quality * (_SUPPORT_ALONE + (1 - _SUPPORT_ALONE) * best_share))
    return word_supports


def _find_best_weight(
    positions: Sequence[int], neighbours_found: Sequence[tuple[Sequence[int], float]], reachable_weight: float
) -> float:
    """Return the total weight of the neighbours at that position of a word where it is largest.

    Each neighbour counts by the distance of its nearest position. `reachable_weight`: what all of them weigh where none
    is far, so that no position can have more.
    """
    best_weight = 0.0
    for position in positions[:_MOST_POSITIONS] if neighbours_found else ():
        weight_near = 0.0
        for near_positions, weight in neighbours_found:
            index = bisect_left(near_positions, position)
            distance = position - near_positions[index - 1] if index else _FAR_DISTANCE
            if index < len(near_positions):
                following = near_positions[index]
                if following == position:  # a word is not its own neighbour
                    index += 1
                    following = near_positions[index] if index < len(near_positions) else position + _FAR_DISTANCE
                distance = min(distance, following - position)
            if distance < _FAR_DISTANCE:
                weight_near += weight * _CLOSENESS[distance]
        if weight_near > best_weight:
            best_weight = weight_near
            if best_weight >= reachable_weight:
                break
    return best_weight


def is_misplaced(content: Sequence[Term], matches: Sequence[TermMatch], word: int) -> bool:
    """Whether a number, identifier or name is absent, or present without any of its neighbours nearby."""
    positions = matches[word].positions
    if not positions:
        return True
    neighbours = range(max(0, word - _FACT_NEIGHBOURS), min(len(content), word + _FACT_NEIGHBOURS + 1))
    neighbour_positions = [
        matches[neighbour].positions for neighbour in neighbours if neighbour != word and matches[neighbour].positions
    ]
    return bool(neighbour_positions) and not any(
        _has_position_within(position, other_positions, _FACT_DISTANCE)
        for position in positions[: 2 * _MOST_POSITIONS]
        for other_positions in neighbour_positions
    )


def _has_position_within(position: int, positions: Sequence[int], distance: int) -> bool:
    """Whether one of `positions` lies within `distance` of `position`, other than `position` itself."""
    index = bisect_left(positions, position - distance)
    while index < len(positions) and positions[index] <= position + distance:
        if positions[index] != position:
            return True
        index += 1
    return False
