"""Control questions and anchors, asked in every judge run: their known answers show whether a judge can be trusted."""

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
"""Number of requests of each rubric from which controls are made."""
LEAST_AREA, LEAST_GAP = 0.9, 0.5
"""Thresholds of the self-test: area under the ROC curve, and gap of means, between grounded and other claims."""

Verdicts = Mapping[str, Sequence[Verdict]]


class Known(NamedTuple):
    """The controls and anchors that are asked with the questions, by the digest of the request."""

    controls: dict[str, Control]
    anchors: dict[str, tuple[Anchor, JudgeRequest]]

    def requests(self) -> list[JudgeRequest]:
        """Return the requests of all controls and anchors."""
        return [control.request for control in self.controls.values()] + [
            request for _, request in self.anchors.values()
        ]


def known_questions(asked: Mapping[str, JudgeRequest], clusters_of: Mapping[str, set[str]], rubrics: Rubrics) -> Known:
    """Return the controls that can be made from a few of the requests, and the anchors.

    `clusters_of` gives the clusters of cases that a request is about: an answer to one case of a cluster may also
    answer another, so a control pairs requests of different clusters.
    """
    controls_by_digest = {}
    for request, other in _pair_requests(asked, clusters_of):
        for control in controls(request, other):
            controls_by_digest[control.request.digest] = control
    return Known(controls_by_digest, anchor_requests(rubrics))


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
    """Return the round in which the anchors are asked: a new one on a later day, if `anew` says that other questions
    are asked too. `at` is an ISO time; without one, the day is unknown and no new round begins."""
    if before is None:
        return 1
    later = at is not None and before.at is not None and at[:10] > before.at[:10]
    return before.rounds + (anew and later)


def votes_of_anchors(known: Known, verdicts: Verdicts, rounds: int, *, anew: bool) -> dict[str, int]:
    """Return the number of votes that each anchor has after this round.

    It is one more if the anchors are asked `anew`, except for those that were asked in this round before a halt, and at
    least one, for an anchor of a rubric under which nothing was asked before.
    """
    votes = {}
    for digest in known.anchors:
        recorded = sum(sample.unscored is None for sample in verdicts.get(digest, ()))
        votes[digest] = max(1, min(rounds, recorded + 1) if anew else recorded)
    return votes


def passing_over(votes: Mapping[str, int], verdicts: Verdicts) -> dict[str, list[Verdict]]:
    """Return the samples of the anchors with several votes, with a placeholder for the sample that shuffles passages.

    A judge that is asked an anchor again must see the same prompt, so that sample number is skipped.
    """
    skipped = {digest: Verdict(digest, "", SHUFFLED_SAMPLE, SUPPORT) for digest, count in votes.items() if count > 1}
    return {digest: [*verdicts.get(digest, ()), placeholder] for digest, placeholder in skipped.items()}


def drift_of(known: Known, verdicts: Verdicts, rubrics: Mapping[str, JudgeRubric]) -> tuple[str, ...]:
    """Return which shares of the last answers to the anchors lie outside the 95% Wilson interval of the first answers.

    The shares are those of anchors labelled as expected, of supported anchors recognised as such, and of other anchors
    recognised as such.
    """
    pairs = []
    for digest, (anchor, request) in known.anchors.items():
        labels = _labels_of_samples(verdicts.get(digest, ()), request, rubrics)
        if len(labels) > 1:
            pairs.append((anchor, labels[0], labels[-1]))
    supported = [(a.label == SUPPORTED, first == SUPPORTED, last == SUPPORTED) for a, first, last in pairs]
    shares = {
        "anchors labelled as expected": [(first == a.label, last == a.label) for a, first, last in pairs],
        "supported anchors recognised as such": [(first, last) for yes, first, last in supported if yes],
        "other anchors recognised as such": [(not first, not last) for yes, first, last in supported if not yes],
    }
    changes = [_describe_change(description, correct) for description, correct in shares.items()]
    return tuple(change for change in changes if change)


def _describe_change(description: str, correct: Sequence[tuple[bool, bool]]) -> str:
    """Return how the share of correct labels changed from the first to the last answers; "" within the interval."""
    if not correct:
        return ""
    n = len(correct)
    first_count = sum(first for first, _ in correct)
    last_count = sum(last for _, last in correct)
    bounds = wilson(first_count, n)
    if bounds.low <= last_count / n <= bounds.high:
        return ""
    return f"{description}: {last_count} of {n}, were {first_count} ({bounds.low:.0%} to {bounds.high:.0%} allowed)"


def standing_of(judge: str, known: Known, verdicts: Verdicts, rubrics: Rubrics, at: str | None) -> Standing:
    """Return the status of a judge after a run; invalid if the mean score of the controls is above the ceiling."""
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
    """The result of a self-test: the area under the ROC curve, the gap of means, and the number of scored anchors."""

    area: float
    gap: float
    scored: int

    @property
    def is_good(self) -> bool:
        """Whether the judge distinguishes grounded claims from others."""
        return self.area >= LEAST_AREA and self.gap >= LEAST_GAP


def separated(known: Known, verdicts: Verdicts, rubrics: Rubrics) -> Separation:
    """Return how well verdicts on the anchors separate grounded from other claims. Raises InputError for too few."""
    by_hash = {rubric.hash: rubric for rubric in rubrics.values()}
    scores, is_grounded = [], []
    for digest, label in _last_labels(known, verdicts, by_hash):
        anchor, request = known.anchors[digest]
        scores.append(by_hash[request.rubric_hash].value(label) or 0.0)
        is_grounded.append(anchor.label == SUPPORTED)
    area, gap = separation(scores, is_grounded)
    return Separation(area, gap, len(scores))


def _last_labels(questions: Known, verdicts: Verdicts, rubrics: Mapping[str, JudgeRubric]) -> Iterator[tuple[str, str]]:
    """Yield the last label of each anchor that has one."""
    for digest, (_, request) in questions.anchors.items():
        labels = _labels_of_samples(verdicts.get(digest, ()), request, rubrics)
        if labels:
            yield digest, labels[-1]


def _labels_of_samples(
    samples: Sequence[Verdict], request: JudgeRequest, rubrics: Mapping[str, JudgeRubric]
) -> list[str]:
    """Return the labels of the samples that gave one, in their order."""
    labels = (_label_of_sample(sample, request, rubrics) for sample in samples)
    return [label for label in labels if label]


def _label_of_sample(sample: Verdict, request: JudgeRequest, rubrics: Mapping[str, JudgeRubric]) -> str | None:
    """Return the label that one sample gives to an anchor."""
    items = fold_votes([sample], rubrics[request.rubric_hash]).items
    return next((item.label for item in items if item.id == CLAIM), None)


def _item_values(samples: Sequence[Verdict], rubric: JudgeRubric) -> list[float]:
    return [item.value for item in fold_votes(samples, rubric).items if item.value is not None]


def _pair_requests(
    requests: Mapping[str, JudgeRequest], clusters_of: Mapping[str, set[str]]
) -> Iterator[tuple[JudgeRequest, JudgeRequest]]:
    """Yield a few requests of each rubric, each with a request about something else; independent of their order."""
    by_rubric: dict[str, list[str]] = defaultdict(list)
    for digest in sorted(requests):
        by_rubric[requests[digest].rubric_hash].append(digest)
    for digests in by_rubric.values():
        for digest in digests[:PAIRS]:
            question = _normalised_question(requests[digest])
            others = (candidate for candidate in digests if not clusters_of[candidate] & clusters_of[digest])
            other = next(
                (
                    candidate
                    for candidate in others
                    if question is None or _normalised_question(requests[candidate]) != question
                ),
                None,
            )
            if other is not None:
                yield requests[digest], requests[other]


def _normalised_question(request: JudgeRequest) -> str | None:
    """Return the question of a request without differences of case and whitespace: several users may ask the same."""
    question = request.inputs.get("question")
    return " ".join(question.casefold().split()) if isinstance(question, str) else None
