"""Decides which controls and anchors a judge run asks: a limited share of its calls, and none that count already.

A judge answers a few controls of each kind once; later runs ask none until the answers expire. A run that is too small
for all of them asks as many as fit, and the next run of the same judge goes on ([ADR 56]).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from assay.judging.control_questions import (
    Control,
    ControlQuestions,
    describe_control,
    plan_anchor_votes,
)
from assay.judging.rubric_anchors import Anchors
from assay.records.verdicts import AnsweredControl, JudgeStatus, RubricControl, UncontrolledLabel, Verdict

CONTROLS_PER_KIND = 2
"""Controls of each kind and rubric that a judge answers, if they fit: two rewarded ones of a kind make it invalid."""


class ControlPlan(NamedTuple):
    """What a run asks to check its judge.

    `questions` are the controls and anchors whose answers this run reads, with the number of votes of each anchor;
    `earlier` are the controls that the judge answered before and that count, and `unasked` those that do not fit.
    `uncontrolled` are the labels of rubrics that neither a control nor an anchor deserves.
    """

    questions: ControlQuestions
    anchor_votes: dict[str, int]
    earlier: tuple[AnsweredControl, ...]
    unasked: tuple[RubricControl, ...]
    uncontrolled: tuple[UncontrolledLabel, ...] = ()


NO_PLAN = ControlPlan(ControlQuestions({}, {}), {}, (), ())


@dataclass(frozen=True, slots=True)
class ControlLimits:
    """Controls and anchors are at most `share` of all calls of a run; a control counts for `days` days after `at`.

    `at` is the time of the run. Without it nothing expires.
    """

    share: float
    days: int
    at: str | None

    def count_room(self, calls: float) -> int:
        """Return how many control questions may be added to so many other calls.

        >>> [ControlLimits(0.2, 30, None).count_room(calls) for calls in (3, 4, 100)]
        [0, 1, 25]
        """
        return int(self.share * calls / (1 - self.share) + 1e-9)

    def is_expired(self, answer: AnsweredControl) -> bool:
        """Return whether an answer is too old to count; one without a time never is."""
        answered_day, day = _parse_day(answer.at), _parse_day(self.at)
        return answered_day is not None and day is not None and (day - answered_day).days >= self.days


def _parse_day(at: str | None) -> date | None:
    try:
        return date.fromisoformat((at or "")[:10])
    except ValueError:
        return None


class _Planner:
    """Takes controls and anchors while there is room.

    What has an answer in the store takes room too, because an earlier part of this run may have asked it, but is taken
    even if there is none.
    """

    def __init__(self, recorded: Mapping[str, Sequence[Verdict]], room: int) -> None:
        self.recorded, self.room = recorded, room
        self.controls: dict[str, Control] = {}
        self.counts: Counter[RubricControl] = Counter()

    def take_controls(self, possible: Iterable[Control], per_kind: int) -> None:
        """Take controls until there are `per_kind` of each kind and rubric, as far as there is room."""
        for control in possible:
            kind, digest = describe_control(control), control.request.digest
            can_take = digest in self.recorded or self.room > 0
            if self.counts[kind] < per_kind and digest not in self.controls and can_take:
                self.controls[digest] = control
                self.counts[kind] += 1
                self.room -= 1

    def take_anchor_votes(self, votes: Mapping[str, int], ordered: Iterable[str]) -> dict[str, int]:
        """Return the number of votes of each anchor: one more than recorded only as far as there is room."""
        allowed = {}
        for digest in ordered:
            count = sum(sample.unscored is None for sample in self.recorded.get(digest, ()))
            more = votes[digest] > count and self.room > 0
            self.room -= more
            allowed[digest] = votes[digest] if more else min(count, votes[digest])
        return allowed


def plan_controls(
    possible: Sequence[Control],
    anchors: Anchors,
    status: JudgeStatus | None,
    recorded: Mapping[str, Sequence[Verdict]],
    limits: ControlLimits,
    *,
    calls: float,
    rounds: int,
    asks_again: bool,
    is_continued: bool = False,
) -> ControlPlan:
    """Return the controls and anchors of a run that makes so many other `calls`, its earlier parts included.

    The anchors of this round then count as asked by this run if it `is_continued`, which other runs of the same day may
    have done.
    First comes one control of each kind and rubric, then the anchors, then a second control of each kind. `rounds` and
    `asks_again` are about the anchors, as for `plan_anchor_votes`.
    """
    answers = status.answered if status is not None else ()
    earlier = tuple(answer for answer in answers if not limits.is_expired(answer))
    requests_before = {answer.request for answer in answers}
    new = [control for control in possible if control.request.digest not in requests_before]
    planner = _Planner(recorded, limits.count_room(calls))
    planner.counts.update(answer.control for answer in earlier)
    possible_requests = {control.request.digest for control in possible}
    planner.room -= len(possible_requests & {answer.request for answer in earlier})
    planner.take_controls(new, 1)
    is_cut_short = status is None or rounds > status.rounds  # no run that asked anchors of this round has ended
    if is_continued or is_cut_short or possible_requests & recorded.keys():
        planner.room -= sum(len(recorded.get(digest, ())) >= rounds for digest in anchors)
    votes = plan_anchor_votes(ControlQuestions({}, anchors), recorded, rounds, asks_again=asks_again)
    anchor_votes = planner.take_anchor_votes(votes, _order_anchors(anchors, recorded))
    planner.take_controls(new, CONTROLS_PER_KIND)
    unasked = {describe_control(control) for control in possible} - set(planner.counts)
    questions = ControlQuestions(planner.controls, anchors)
    return ControlPlan(questions, anchor_votes, earlier, tuple(sorted(unasked)))


def find_unasked(plan: ControlPlan, status: JudgeStatus) -> tuple[RubricControl, ...]:
    """Return the kinds of controls without an answer after a run: those that did not fit or gave no labels."""
    planned = {describe_control(control) for control in plan.questions.controls.values()}
    unasked = (planned | set(plan.unasked)) - {answer.control for answer in status.answered}
    return tuple(sorted(unasked))


def _order_anchors(anchors: Anchors, recorded: Mapping[str, Sequence[Verdict]]) -> list[str]:
    """Return the anchors in the order in which they are asked: rarely asked first, the labels of the rubrics in turn.

    The first label of a rubric comes before the others, because controls deserve the lowest one.
    """
    numbers: Counter[tuple[str, bool]] = Counter()
    ordered = []
    for digest, (anchor, request) in anchors.items():
        is_other = anchor.label != request.labels[0]
        kind = request.rubric_hash, is_other
        ordered.append((len(recorded.get(digest, ())), numbers[kind], is_other, digest))
        numbers[kind] += 1
    return [digest for *_, digest in sorted(ordered)]
