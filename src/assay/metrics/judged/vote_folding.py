"""Fold repeated votes of a judge into one ruling: majority or median of each item, and the spread of the votes.

Fewer votes than the quorum and ties stay unscored (ADR 0033). Votes that are far apart mark a ruling for human review.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from assay.records.verdicts import ItemVerdict, JudgeRequest, JudgeRubric, Verdict, VerdictReview

VOTE_QUORUM = 2
"""Scored votes that are needed where more than one was asked for."""
REPEAT_VOTES, MAX_VOTES = 3, 5
REVIEW_SPREAD = 0.5
"""The spread from which on a ruling needs human review."""
UNKNOWN_LABEL, TIED_VOTE, QUORUM_MISSED = "off_menu", "tie", "quorum"
DISPUTED = "disputed"
"""Why an item has no label: it was labelled higher with the orders in its texts than without them."""
_FINAL_REASONS = ("budget", "deadline", "provider")
"""Reasons that would also leave another vote unscored."""
_DOUBTFUL_FLAGS = ("injection",)
"""Flags of a guard after which one vote is not enough."""


class ItemRuling(Struct, frozen=True, omit_defaults=True):
    """The folded votes on one item: `label` and `value` (None: the label has no number), or `unscored`.

    `agreement` is the share of votes for the label; `spread` the distance between the furthest votes' numbers, 1 where
    some have one and others none. `first_vote` is the first for the label, with its quote; `tied` are the labels of a
    tie. `reviewers` are the people who settled the item; none if its label is the judge's.
    """

    id: str
    label: str | None = None
    value: float | None = None
    agreement: float = 0.0
    spread: float = 0.0
    first_vote: ItemVerdict | None = None
    unscored: str | None = None
    tied: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()


class Ruling(Struct, frozen=True, omit_defaults=True):
    """The folded votes on one request: an entry for every id, or `unscored` with the reason.

    `votes` counts the samples, `scored` those with labels; `ambiguous`: more votes are worth asking for.
    """

    items: tuple[ItemRuling, ...] = ()
    votes: int = 0
    scored: int = 0
    unscored: str | None = None
    ambiguous: bool = False

    @property
    def spread(self) -> float:
        """The largest distance between two votes on one item."""
        return max((item.spread for item in self.items), default=0.0)

    @property
    def reviewers(self) -> tuple[str, ...]:
        """The people who settled an item of it, sorted."""
        return tuple(sorted({reviewer for item in self.items for reviewer in item.reviewers}))


def fold_votes(samples: Sequence[Verdict], rubric: JudgeRubric) -> Ruling:
    """Return the ruling of several samples of one judge on one request, given in the order of their numbers.

    The median decides where every label has a number of its own (an ordinal scale), else the majority. A tie is
    unscored `tie`; fewer than two scored samples where several were asked for, cast or not, are unscored `quorum`; no
    scored sample at all is unscored for the reason most of them give; a label that the rubric does not have is unscored
    `off_menu`.

    >>> from assay.records.verdicts import RubricLabel
    >>> rubric = JudgeRubric("r", "1", "en", "?", (), (RubricLabel("yes", "", 1.0), RubricLabel("no", "", 0.0)))
    >>> votes = [Verdict("q", "j", n, "r", (ItemVerdict("a", label),)) for n, label in enumerate(["yes", "no", "yes"])]
    >>> ruling = fold_votes(votes, rubric)
    >>> ruling.items[0].label, ruling.items[0].value, round(ruling.items[0].agreement, 3), ruling.ambiguous
    ('yes', 1.0, 0.667, True)
    """
    scored = [sample for sample in samples if sample.unscored is None]
    reasons = [sample.unscored for sample in samples if sample.unscored is not None]
    can_improve = any(reason not in _FINAL_REASONS for reason in reasons)
    if not scored:
        return Ruling((), len(samples), 0, _most_frequent_reason(reasons) if reasons else QUORUM_MISSED, can_improve)
    votes: dict[str, list[ItemVerdict]] = {}
    for sample in scored:
        for item in {item.id: item for item in sample.items}.values():
            votes.setdefault(item.id, []).append(item)
    items = tuple(_rule_item(item_id, cast, rubric) for item_id, cast in votes.items())
    votes_differ = len(scored) < len(samples) or any(item.agreement < 1 for item in items)
    is_doubtful_alone = len(samples) == 1 and (
        _is_flagged(samples[0]) or any(_is_between_ends(item, rubric) for item in items)
    )
    if len(scored) < VOTE_QUORUM and _was_asked_twice(samples, in_doubt=is_doubtful_alone):
        return Ruling((), len(samples), len(scored), QUORUM_MISSED, can_improve or not reasons)
    return Ruling(items, len(samples), len(scored), None, votes_differ or is_doubtful_alone)


def _was_asked_twice(samples: Sequence[Verdict], *, in_doubt: bool) -> bool:
    """Whether more than one vote was asked for: several were cast, or the judging stopped before the second."""
    return len(samples) > 1 or samples[0].votes > 1 or (samples[0].votes == 0 and in_doubt)


def settle_ruling(first: Ruling, second: Ruling) -> Ruling:
    """Return the ruling of a first judge, settled by the ruling of a second one on the same request.

    Where the second judge agrees, a label is confirmed and a tie is broken; where it disagrees, the votes count as far
    apart.
    """
    second_items = {item.id: item for item in second.items if item.label is not None}
    return structs.replace(first, items=tuple(_settle_item(item, second_items.get(item.id)) for item in first.items))


def _settle_item(item: ItemRuling, second_item: ItemRuling | None) -> ItemRuling:
    if second_item is None or (item.label is None and second_item.label not in item.tied):
        return item
    if item.label is None:
        return ItemRuling(
            item.id, second_item.label, second_item.value, 1 / len(item.tied), first_vote=second_item.first_vote
        )
    spread = 0.0 if second_item.label == item.label else max(item.spread, REVIEW_SPREAD)
    return structs.replace(item, spread=spread)


def apply_reviews(
    request: JudgeRequest, ruling: Ruling, reviews: Sequence[VerdictReview], rubric: JudgeRubric
) -> Ruling:
    """Return a ruling in which the labels of reviewers take the place of the judge's, for the items that they settled.

    An item on which reviewers disagree stays as the judge left it. A request without any usable vote gets an entry for
    each item, so that those that nobody settled keep its reason.

    >>> request = JudgeRequest("r", "1", "", "en", {}, ("a", "b"), ("yes", "no"))
    >>> rubric = JudgeRubric("r", "1", "en", "?", (), ())
    >>> reviews = [VerdictReview("", "a", "ann", "r@1", "no", "why"), VerdictReview("", "b", "ann", "r@1", "no", "why")]
    >>> reviews.append(VerdictReview("", "b", "bob", "r@1", "yes", "why"))
    >>> ruling = apply_reviews(request, Ruling(unscored="quorum"), reviews, rubric)
    >>> [(item.label, item.unscored) for item in ruling.items]
    [('no', None), (None, 'quorum')]
    """
    reviews_by_item: dict[str, list[VerdictReview]] = {}
    for review in reviews:
        reviews_by_item.setdefault(review.item, []).append(review)
    settled_items = {}
    for item_id, item_reviews in reviews_by_item.items():
        if item_id in request.items and count_labels(item_reviews) == 1:
            settled_items[item_id] = _make_settled_item(item_reviews, rubric)
    if not settled_items:
        return ruling
    judged_items = {item.id: item for item in ruling.items}
    items = []
    for item_id in request.items:
        item = settled_items.get(item_id) or judged_items.get(item_id)
        items.append(item or ItemRuling(item_id, unscored=ruling.unscored or "judge_parse"))
    return structs.replace(ruling, items=tuple(items), unscored=None)


def count_labels(reviews: Iterable[VerdictReview]) -> int:
    """Return how many different labels reviewers chose; an item is settled if it is one."""
    return len({review.label for review in reviews})


def _make_settled_item(reviews: Sequence[VerdictReview], rubric: JudgeRubric) -> ItemRuling:
    """Return the entry of an item to which all its reviewers gave the same label."""
    values = {label.name: label.value for label in rubric.labels}
    first = reviews[0]
    reviewers = tuple(sorted({review.reviewer for review in reviews}))
    shown_vote = ItemVerdict(first.item, first.label, first.reason)
    return ItemRuling(first.item, first.label, values.get(first.label), 1.0, first_vote=shown_vote, reviewers=reviewers)


def is_doubtful_ruling(samples: Sequence[Verdict], rubric: JudgeRubric) -> bool:
    """Return whether a second judge should be asked: votes are far apart or tied, or flagged as injection."""
    ruling = fold_votes(samples, rubric)
    return any(map(_is_flagged, samples)) or ruling.spread >= REVIEW_SPREAD or any(item.tied for item in ruling.items)


def needs_more_votes(samples: Sequence[Verdict], rubric: JudgeRubric) -> bool:
    """Return whether one more sample is to be taken: one at first, three where that one is ambiguous, then five.

    Ambiguous are: an unscored sample that another may fix, and votes that differ; for a single vote also a label
    between the ends of the scale, a label without a number if others have one, and the flag `injection`.
    """
    if not samples:
        return True
    if len(samples) >= MAX_VOTES:
        return False
    round_ended = 1 if len(samples) < REPEAT_VOTES else REPEAT_VOTES
    return fold_votes(samples[:round_ended], rubric).ambiguous


def is_ordinal_rubric(rubric: JudgeRubric) -> bool:
    """Return whether the labels are a scale: each has a number, and no two have the same."""
    values = [label.value for label in rubric.labels]
    return None not in values and len(set(values)) == len(values)


def _rule_item(item_id: str, votes: Sequence[ItemVerdict], rubric: JudgeRubric) -> ItemRuling:
    values = {label.name: label.value for label in rubric.labels}
    labels = [item.label for item in votes]
    if not values.keys() >= set(labels):
        return ItemRuling(item_id, unscored=UNKNOWN_LABEL)
    leading = _leading_by_median(labels, values) if is_ordinal_rubric(rubric) else _leading_by_majority(labels)
    spread = _compute_spread([values[label] for label in labels])
    if len(leading) > 1:
        return ItemRuling(item_id, spread=spread, unscored=TIED_VOTE, tied=leading)
    (winner,) = leading
    first_vote = next(item for item in votes if item.label == winner)
    return ItemRuling(item_id, winner, values[winner], labels.count(winner) / len(labels), spread, first_vote)


def _leading_by_majority(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the label that most votes are for; several where that is a tie."""
    counts = Counter(labels)
    most = max(counts.values())
    return tuple(label for label, count in counts.items() if count == most)


def _leading_by_median(labels: Sequence[str], values: dict[str, float | None]) -> tuple[str, ...]:
    """Return the label in the middle; both where two lie around it."""
    ordered = sorted(labels, key=lambda label: values[label] or 0.0)
    return tuple(dict.fromkeys((ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2])))


def _compute_spread(values: Sequence[float | None]) -> float:
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        return float(bool(numbers))
    return max(numbers) - min(numbers)


def _is_flagged(sample: Verdict) -> bool:
    return any(flag in _DOUBTFUL_FLAGS for flag in sample.flags)


def _is_between_ends(item: ItemRuling, rubric: JudgeRubric) -> bool:
    """Whether a label lies between the ends of the scale, or has no number where others have one."""
    values = [label.value for label in rubric.labels if label.value is not None]
    return bool(values) if item.value is None else min(values) < item.value < max(values)


def _most_frequent_reason(reasons: Sequence[str]) -> str:
    return max(sorted(set(reasons)), key=reasons.count)
