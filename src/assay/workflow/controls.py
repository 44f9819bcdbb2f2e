"""Questions whose answer is known, asked with every judging: what a judge says of them is how it stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.graders.judging import Rubrics
from assay.graders.votes import fold_votes
from assay.io.rubrics import load_anchors
from assay.judges.controls import CEILING, CLAIM, Control, anchor_request, controls, separation
from assay.judges.render import SHUFFLED_SAMPLE
from assay.metrics.rates import wilson
from assay.verdict import Anchor, JudgeRequest, JudgeRubric, Standing, Verdict

SUPPORT, SUPPORTED = "support", "supported"
PAIRS = 2
"""Requests of each rubric that controls are made from."""
LEAST_AREA, LEAST_GAP = 0.9, 0.5
"""What a selftest expects of a judge that can tell grounded claims from others."""

Verdicts = Mapping[str, Sequence[Verdict]]


class Known(NamedTuple):
    """What is asked beside the questions, by the digest of the request."""

    controls: dict[str, Control]
    anchors: dict[str, tuple[Anchor, JudgeRequest]]

    def requests(self) -> list[JudgeRequest]:
        """Return all of it."""
        return [control.request for control in self.controls.values()] + [
            request for _, request in self.anchors.values()
        ]


def known_questions(asked: Mapping[str, JudgeRequest], clusters_of: Mapping[str, set[str]], rubrics: Rubrics) -> Known:
    """Return the controls that can be made of a few of the requests, and the anchors.

    `clusters_of` says which clusters of cases a request is about: what answers one of a cluster may answer another.
    """
    made = [control for one, other in _pair_requests(asked, clusters_of) for control in controls(one, other)]
    return Known({each.request.digest: each for each in made}, anchor_requests(rubrics))


def anchor_requests(rubrics: Rubrics) -> dict[str, tuple[Anchor, JudgeRequest]]:
    """Return the anchors with their requests, by digest."""
    anchors = {}
    for anchor in load_anchors().anchors:
        rubric = rubrics.get((SUPPORT, anchor.language))
        if rubric is not None:
            request = anchor_request(anchor, rubric)
            anchors[request.digest] = anchor, request
    return anchors


def rounds_of(before: Standing | None, at: str | None, *, anew: bool) -> int:
    """Return how often the anchors are asked, this time included: again on a later day, where `anew` says that
    something else is asked too. `at` is an ISO time; without one, nobody knows the day."""
    if before is None:
        return 1
    later = at is not None and before.at is not None and at[:10] > before.at[:10]
    return before.rounds + (anew and later)


def votes_of_anchors(known: Known, verdicts: Verdicts, rounds: int, *, anew: bool) -> dict[str, int]:
    """Return how many votes each anchor has after this time: one more where they are asked `anew`, but for those that
    were asked for this round before a halt; one for an anchor of a rubric that nobody asked under."""
    given = {digest: sum(each.unscored is None for each in verdicts.get(digest, ())) for digest in known.anchors}
    return {digest: max(1, min(rounds, count + 1) if anew else count) for digest, count in given.items()}


def passing_over(votes: Mapping[str, int], verdicts: Verdicts) -> dict[str, list[Verdict]]:
    """Return the samples of the anchors with several votes, and an empty one in place of that which sees passages in
    another order: who is asked again must see the same."""
    skipped = {digest: Verdict(digest, "", SHUFFLED_SAMPLE, SUPPORT) for digest, count in votes.items() if count > 1}
    return {digest: [*verdicts.get(digest, ()), placeholder] for digest, placeholder in skipped.items()}


def drift_of(known: Known, verdicts: Verdicts, rubrics: Mapping[str, JudgeRubric]) -> tuple[str, ...]:
    """Return what of the last answers to the anchors lies outside the 95% interval of the first: the share as expected,
    and the shares of supported and of other claims that were told as such."""
    pairs = []
    for digest, (anchor, request) in known.anchors.items():
        rounds = [label for each in verdicts.get(digest, ()) if (label := _label_of_sample(each, request, rubrics))]
        if len(rounds) > 1:
            pairs.append((anchor, rounds[0], rounds[-1]))
    supported = [(a.label == SUPPORTED, first == SUPPORTED, last == SUPPORTED) for a, first, last in pairs]
    shares = {
        "anchors labelled as expected": [(first == a.label, last == a.label) for a, first, last in pairs],
        "supported anchors told as such": [(first, last) for yes, first, last in supported if yes],
        "other anchors told as such": [(not first, not last) for yes, first, last in supported if not yes],
    }
    return tuple(told for what, share in shares.items() if (told := _moved(what, share)))


def _moved(what: str, share: Sequence[tuple[bool, bool]]) -> str:
    if not share:
        return ""
    before, now = (sum(each[side] for each in share) for side in (0, 1))
    n = len(share)
    bounds = wilson(before, n)
    if bounds.low <= now / n <= bounds.high:
        return ""
    return f"{what}: {now} of {n}, were {before} ({bounds.low:.0%} to {bounds.high:.0%} allowed)"


def standing_of(judge: str, known: Known, verdicts: Verdicts, rubrics: Rubrics, at: str | None) -> Standing:
    """Return how a judge stands after it was asked; invalid where the mean of the controls is above the ceiling."""
    by_hash = {rubric.hash: rubric for rubric in rubrics.values()}
    values_by_kind: dict[str, list[float]] = defaultdict(list)
    for digest, control in known.controls.items():
        values = _item_values(verdicts.get(digest, ()), by_hash[control.request.rubric_hash])
        if values:
            values_by_kind[control.kind].append(sum(values) / len(values))
    is_right = [label == known.anchors[digest][0].label for digest, label in _last_labels(known, verdicts, by_hash)]
    means = [value for values in values_by_kind.values() for value in values]
    mean = sum(means) / len(means) if means else None
    reasons = [
        f"controls {kind}: mean {sum(values) / len(values):.2f} (expected {CEILING} at most)"
        for kind, values in sorted(values_by_kind.items())
        if sum(values) / len(values) > CEILING
    ]
    return Standing(
        judge,
        controls=len(means),
        controls_mean=mean,
        anchors=len(is_right),
        anchors_right=sum(is_right) / len(is_right) if is_right else None,
        invalid=mean is not None and mean > CEILING,
        reasons=tuple(reasons),
        at=at,
        drift=drift_of(known, verdicts, by_hash),
    )


class Separation(NamedTuple):
    """What a selftest found: the area under the ROC curve, the gap of means, and how many anchors had a verdict."""

    area: float
    gap: float
    scored: int

    @property
    def is_good(self) -> bool:
        """Whether the judge tells grounded claims from others."""
        return self.area >= LEAST_AREA and self.gap >= LEAST_GAP


def separated(known: Known, verdicts: Verdicts, rubrics: Rubrics) -> Separation:
    """Return how far verdicts on the anchors separate the grounded from the others. Raises InputError for too few."""
    by_hash = {rubric.hash: rubric for rubric in rubrics.values()}
    scores, is_grounded = [], []
    for digest, label in _last_labels(known, verdicts, by_hash):
        anchor, request = known.anchors[digest]
        scores.append(by_hash[request.rubric_hash].value(label) or 0.0)
        is_grounded.append(anchor.label == SUPPORTED)
    area, gap = separation(scores, is_grounded)
    return Separation(area, gap, len(scores))


def _last_labels(known: Known, verdicts: Verdicts, rubrics: Mapping[str, JudgeRubric]) -> Iterator[tuple[str, str]]:
    """Yield the last label of each anchor that has one."""
    for digest, (_, request) in known.anchors.items():
        labels = [label for each in verdicts.get(digest, ()) if (label := _label_of_sample(each, request, rubrics))]
        if labels:
            yield digest, labels[-1]


def _label_of_sample(sample: Verdict, request: JudgeRequest, rubrics: Mapping[str, JudgeRubric]) -> str | None:
    """Return what one sample says of an anchor."""
    items = fold_votes([sample], rubrics[request.rubric_hash]).items
    return next((item.label for item in items if item.id == CLAIM), None)


def _item_values(samples: Sequence[Verdict], rubric: JudgeRubric) -> list[float]:
    return [item.value for item in fold_votes(samples, rubric).items if item.value is not None]


def _pair_requests(
    asked: Mapping[str, JudgeRequest], clusters_of: Mapping[str, set[str]]
) -> Iterator[tuple[JudgeRequest, JudgeRequest]]:
    """Yield a few requests of each rubric with one about something else, the same ones whatever the order."""
    by_rubric: dict[str, list[str]] = defaultdict(list)
    for digest in sorted(asked):
        by_rubric[asked[digest].rubric_hash].append(digest)
    for digests in by_rubric.values():
        for digest in digests[:PAIRS]:
            question = _normalised_question(asked[digest])
            others = (each for each in digests if not clusters_of[each] & clusters_of[digest])
            other = next(
                (each for each in others if question is None or _normalised_question(asked[each]) != question), None
            )
            if other is not None:
                yield asked[digest], asked[other]


def _normalised_question(request: JudgeRequest) -> str | None:
    """Return the question of a request, however it is written: the same one may be asked by several people."""
    question = request.inputs.get("question")
    return " ".join(question.casefold().split()) if isinstance(question, str) else None
