"""Questions whose answer is known, asked with every judging: what a judge says of them is how it stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.graders.judging import Rubrics
from assay.graders.votes import fold_votes
from assay.io.rubrics import load_anchors
from assay.judges.controls import CEILING, CLAIM, Control, anchor_request, controls, separation
from assay.verdict import Anchor, JudgeRequest, JudgeRubric, Standing, Verdict

SUPPORT = "support"
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
        return [each.request for each in self.controls.values()] + [request for _, request in self.anchors.values()]


def known_questions(asked: Mapping[str, JudgeRequest], clusters_of: Mapping[str, set[str]], rubrics: Rubrics) -> Known:
    """Return the controls that can be made of a few of the requests, and the anchors.

    `clusters_of` says which clusters of cases a request is about: what answers one of a cluster may answer another.
    """
    made = [control for one, other in _pairs(asked, clusters_of) for control in controls(one, other)]
    return Known({each.request.digest: each for each in made}, anchor_requests(rubrics))


def anchor_requests(rubrics: Rubrics) -> dict[str, tuple[Anchor, JudgeRequest]]:
    """Return the anchors with their requests, by digest."""
    found = {}
    for anchor in load_anchors().anchors:
        rubric = rubrics.get((SUPPORT, anchor.language))
        if rubric is not None:
            request = anchor_request(anchor, rubric)
            found[request.digest] = anchor, request
    return found


def standing_of(judge: str, known: Known, verdicts: Verdicts, rubrics: Rubrics, at: str | None) -> Standing:
    """Return how a judge stands after it was asked; invalid where the mean of the controls is above the ceiling."""
    by_hash = {rubric.hash: rubric for rubric in rubrics.values()}
    worth: dict[str, list[float]] = defaultdict(list)
    for digest, control in known.controls.items():
        values = _values(verdicts.get(digest, ()), by_hash[control.request.rubric_hash])
        if values:
            worth[control.kind].append(sum(values) / len(values))
    right = [label == known.anchors[digest][0].label for digest, label in _labels(known, verdicts, by_hash)]
    numbers = [value for values in worth.values() for value in values]
    mean = sum(numbers) / len(numbers) if numbers else None
    reasons = [
        f"controls {kind}: mean {sum(values) / len(values):.2f} (expected {CEILING} at most)"
        for kind, values in sorted(worth.items())
        if sum(values) / len(values) > CEILING
    ]
    return Standing(
        judge,
        controls=len(numbers),
        controls_mean=mean,
        anchors=len(right),
        anchors_right=sum(right) / len(right) if right else None,
        invalid=mean is not None and mean > CEILING,
        reasons=tuple(reasons),
        at=at,
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
    scores, grounded = [], []
    for digest, label in _labels(known, verdicts, by_hash):
        anchor, request = known.anchors[digest]
        scores.append(by_hash[request.rubric_hash].value(label) or 0.0)
        grounded.append(anchor.label == "supported")
    area, gap = separation(scores, grounded)
    return Separation(area, gap, len(scores))


def _labels(known: Known, verdicts: Verdicts, rubrics: Mapping[str, JudgeRubric]) -> Iterator[tuple[str, str]]:
    for digest, (_, request) in known.anchors.items():
        for item in fold_votes(verdicts.get(digest, ()), rubrics[request.rubric_hash]).items:
            if item.id == CLAIM and item.label is not None:
                yield digest, item.label


def _values(samples: Sequence[Verdict], rubric: JudgeRubric) -> list[float]:
    return [item.value for item in fold_votes(samples, rubric).items if item.value is not None]


def _pairs(
    asked: Mapping[str, JudgeRequest], clusters_of: Mapping[str, set[str]]
) -> Iterator[tuple[JudgeRequest, JudgeRequest]]:
    """Yield a few requests of each rubric with one about something else, the same ones whatever the order."""
    by_rubric: dict[str, list[str]] = defaultdict(list)
    for digest in sorted(asked):
        by_rubric[asked[digest].rubric_hash].append(digest)
    for digests in by_rubric.values():
        for digest in digests[:PAIRS]:
            question = _question(asked[digest])
            others = (each for each in digests if not clusters_of[each] & clusters_of[digest])
            other = next((each for each in others if question is None or _question(asked[each]) != question), None)
            if other is not None:
                yield asked[digest], asked[other]


def _question(request: JudgeRequest) -> str | None:
    """Return the question of a request, however it is written: the same one may be asked by several people."""
    question = request.inputs.get("question")
    return " ".join(question.casefold().split()) if isinstance(question, str) else None
