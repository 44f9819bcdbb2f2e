"""Decides which controls and anchors a judge run asks: a limited share of its calls, and none that count already.

A judge answers a few controls of each kind once; later runs ask none until the answers expire. A run that is too small
for all of them asks as many as fit, and the next run of the same judge goes on ([ADR 56]).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import zip_longest
from math import fsum
from typing import NamedTuple

from assay.judging.control_questions import (
    MAX_CONTROL_MEAN,
    Control,
    ControlQuestions,
    describe_control,
    find_failed_rubrics,
    group_by_kind,
    list_anchor_answers,
    plan_anchor_votes,
)
from assay.judging.rubric_anchors import Anchors, iterate_repeats, list_asked_repeats
from assay.records.verdicts import AnsweredControl, JudgeRubric, JudgeStatus, RubricControl, UncontrolledLabel, Verdict

CONTROLS_PER_KIND = 2
"""Controls of each kind and rubric that a judge answers, if they fit; of a kind in doubt it is asked more."""


class ControlPlan(NamedTuple):
    """What a run asks to check its judge.

    `questions` are the controls and anchors whose answers this run reads, with the number of votes of each anchor;
    `earlier` are the controls that the judge answered before and that count, and `unasked` those that do not fit.
    `uncontrolled` are the labels of rubrics that neither a control nor an anchor deserves. `stages` are the digests of
    the questions without an answer in the order in which they are asked, and `room` is how many more may be asked where
    the answers leave a doubt, of the controls `possible` and of the anchors.
    """

    questions: ControlQuestions
    anchor_votes: dict[str, int]
    earlier: tuple[AnsweredControl, ...]
    unasked: tuple[RubricControl, ...]
    uncontrolled: tuple[UncontrolledLabel, ...] = ()
    stages: tuple[tuple[str, ...], ...] = ()
    room: int = 0
    possible: tuple[Control, ...] = ()


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
    first_controls = [digest for digest in planner.controls if digest not in recorded]
    is_cut_short = status is None or rounds > status.rounds  # no run that asked anchors of this round has ended
    if is_continued or is_cut_short or possible_requests & recorded.keys():
        planner.room -= sum(len(recorded.get(digest, ())) >= rounds for digest in anchors)
        planner.room -= sum(len(list_asked_repeats(request, recorded)) for _, request in anchors.values())
    votes = plan_anchor_votes(ControlQuestions({}, anchors), recorded, rounds, asks_again=asks_again)
    anchor_votes = planner.take_anchor_votes(votes, _order_anchors(anchors, recorded))
    counts = {digest: sum(sample.unscored is None for sample in recorded.get(digest, ())) for digest in anchors}
    asked_anchors = [digest for digest in anchor_votes if anchor_votes[digest] > counts[digest]]
    taken = len(planner.controls)
    planner.take_controls(new, CONTROLS_PER_KIND)
    second_controls = [digest for digest in [*planner.controls][taken:] if digest not in recorded]
    unasked = {describe_control(control) for control in possible} - set(planner.counts)
    questions = ControlQuestions(planner.controls, anchors)
    return ControlPlan(
        questions,
        anchor_votes,
        earlier,
        tuple(sorted(unasked)),
        stages=(tuple(first_controls), tuple(asked_anchors), tuple(second_controls)),
        room=max(0, planner.room),
        possible=tuple(control for control in new if control.request.digest not in planner.controls),
    )


FEWEST_MORE_CONTROLS = 2
REPEATS_AT_ONCE = 2
"""More controls of a kind in doubt that are asked at once, at least, and how often its anchors are then repeated."""

Answers = dict[str, Sequence[Verdict]]
AssessJudge = Callable[[ControlQuestions, Answers], JudgeStatus]


class ControlRounds:
    """What a judge is asked, round by round: what the plan has, and more of what its answers leave in doubt.

    A kind of control that speaks against the judge gets as many more as it answered, and an anchor that it labelled
    wrongly is repeated, with those that deserve the same. So no few slips decide, and a judge that cannot be used is
    known for certain. The rounds together ask no more than the plan leaves room for: where doubts use it up, later
    stages of the plan are left out. They end once the judge is invalid.
    """

    def __init__(self, plan: ControlPlan, rubrics: Mapping[str, JudgeRubric], answers: Answers) -> None:
        """`answers` are those that are recorded of any question of the plan and of the repeats of its anchors."""
        self.questions, self.answers = plan.questions, answers
        self._plan, self._rubrics = plan, rubrics
        self._room = plan.room + sum(map(len, plan.stages))

    def iterate(self, assess: AssessJudge, *, is_rechecked: bool = False) -> Iterator[ControlQuestions]:
        """Yield what to ask next; `answers` must have the answers, or why there are none, before the next step.

        A judge that `is_rechecked` is invalid by its answers so far, and is asked more about what speaks against it
        first.
        """
        if is_rechecked:
            yield self._take(self._plan_in_doubt(assess(self.questions, self.answers)))
        for stage in self._plan.stages:
            if stage := stage[: self._room]:
                yield self._take(_select_questions(self._plan.questions, stage))
            while not (status := assess(self.questions, self.answers)).invalid:
                more = self._plan_in_doubt(status)
                if not more.all_requests():
                    break
                yield self._take(more)
            else:
                return

    def _take(self, questions: ControlQuestions) -> ControlQuestions:
        self.questions = ControlQuestions(self.questions.controls | questions.controls, self.questions.anchors)
        self._room -= len(questions.all_requests())
        return questions

    def _plan_in_doubt(self, status: JudgeStatus) -> ControlQuestions:
        """Return what to ask next about the kinds of controls and the anchors that speak against the judge."""
        controls = _list_more_controls(self._plan, status, self.answers)[: self._room]
        repeats = _list_more_repeats(self.questions, self.answers, self._rubrics)
        repeats = dict(list(repeats.items())[: self._room - len(controls)])
        return ControlQuestions({control.request.digest: control for control in controls}, repeats)


def _select_questions(questions: ControlQuestions, digests: Iterable[str]) -> ControlQuestions:
    selected = set(digests)
    return ControlQuestions(
        {digest: control for digest, control in questions.controls.items() if digest in selected},
        {digest: anchor for digest, anchor in questions.anchors.items() if digest in selected},
    )


def _list_more_controls(
    plan: ControlPlan, status: JudgeStatus, answers: Mapping[str, Sequence[Verdict]]
) -> list[Control]:
    """Return more controls of the kinds in doubt, the kinds in turn so that each has its share of little room."""
    by_kind: dict[str, list[Control]] = {}
    for kind, values in group_by_kind(status.answered).items():
        if fsum(values) > MAX_CONTROL_MEAN * len(values):
            unasked = [
                question
                for question in plan.possible
                if question.kind == kind and question.request.digest not in answers
            ]
            by_kind[kind] = unasked[: max(FEWEST_MORE_CONTROLS, len(values))]
    rows = zip_longest(*(by_kind[kind] for kind in sorted(by_kind)))
    return [control for row in rows for control in row if control is not None]


def _list_more_repeats(
    questions: ControlQuestions, answers: Mapping[str, Sequence[Verdict]], rubrics: Mapping[str, JudgeRubric]
) -> Anchors:
    """Return the next repeats of the anchors in doubt, with their anchors, by digest."""
    anchor_answers = list_anchor_answers(questions, answers, rubrics)
    failed = find_failed_rubrics(questions, answers, rubrics)
    wrong = {labelled[0].group for labelled in anchor_answers.values() if any(not each.is_right for each in labelled)}
    repeats: Anchors = {}
    for digest, labelled in anchor_answers.items():
        if labelled[0].rubric.name in failed and labelled[0].group in wrong:
            anchor, request = questions.anchors[digest]
            unasked = [repeat for repeat in iterate_repeats(request) if repeat.digest not in answers]
            repeats |= {repeat.digest: (anchor, repeat) for repeat in unasked[:REPEATS_AT_ONCE]}
    return repeats


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
