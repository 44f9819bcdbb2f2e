"""How often simulated judges are found INVALID or DOUBTFUL by their controls and anchors, give one label, or pass.

`python -m benchmarks.control_rates [JUDGES]` asks each kind of judge the controls and anchors of runs of 100 and of 20
answers by the default metrics, within the usual share of the calls, as `assay judge` does. No model is asked. A judge
with noise gives a wrong label to each question with that probability, independent of all others.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from typing import Any, NamedTuple

from assay.judging.control_plan import Answers, ControlLimits, ControlRounds, plan_controls
from assay.judging.control_questions import (
    SUPPORT,
    ControlQuestions,
    RequestSubject,
    assess_judge,
    build_all_anchors,
    is_doubtful,
    list_possible_controls,
)
from assay.judging.rubric_anchors import select_anchors
from assay.judging.rubric_files import load_anchors, load_rubrics
from assay.metrics.judged.judge_requests import make_request
from assay.records.verdicts import ItemVerdict, JudgeRequest, JudgeRubric, JudgeStatus, Verdict

RUBRICS = load_rubrics()
BY_HASH = {rubric.hash: rubric for rubric in RUBRICS.values()}
ASKED = ("support", "citation_support", "relevance", "correctness", "completeness")
KINDS = ("colon_answer", "empty_answer", "foreign_context", "other_number", "planted_order", "swapped_answer")
SIZES = (100, 20)
SHARE = 0.2
ANCHOR = "anchor"
OUTCOMES = ("INVALID", "ONE LABEL", "DOUBTFUL", "passed")


def _list_shown_texts(request: JudgeRequest) -> list[str]:
    """Return the texts of a request without the ids of its entries, which no judge sees."""
    texts = []
    for value in request.inputs.values():
        texts += [value] if isinstance(value, str) else [entry["text"] for entry in value or ()]
    return texts


class SimulatedJudge(NamedTuple):
    """A judge that is wrong with a probability, always gives an end of the labels, or rewards one kind of control.

    One that is `steady` gives the same answer whenever it is asked the same, as models do at temperature 0: its errors
    on an anchor that is repeated are one error. One that is `right_on_controls` errs on anchors alone, because controls
    are easier.
    """

    name: str
    noise: float = 0.0
    always: int | None = None
    blind: str = ""
    blind_share: float = 1.0
    steady: bool = False
    lowest_under: tuple[str, ...] = ()
    right_on_controls: bool = False

    def choose(self, request: JudgeRequest, deserved: str, kind: str, randomness: random.Random) -> str:
        """Return the label that it gives to a question of this kind that deserves a label."""
        if self.always is not None:
            return request.labels[self.always]
        if request.rubric in self.lowest_under:
            return _find_lowest_label(BY_HASH[request.rubric_hash])
        if self.right_on_controls and kind != ANCHOR:
            return deserved
        if self.steady:
            randomness = random.Random(f"{self.name} {request.rubric_hash} {_list_shown_texts(request)}")  # no secret
        if kind == self.blind and randomness.random() < self.blind_share:
            return request.labels[0]
        if randomness.random() >= self.noise:
            return deserved
        return randomness.choice([label for label in request.labels if label != deserved])


JUDGES = (
    *(SimulatedJudge(f"{noise:.0%} noise", noise) for noise in (0.0, 0.05, 0.1, 0.2, 0.3, 0.4)),
    *(SimulatedJudge(f"{noise:.0%} noise, steady", noise, steady=True) for noise in (0.05, 0.1, 0.15, 0.2, 0.3)),
    *(
        SimulatedJudge(f"{noise:.0%} noise on anchors, steady", noise, steady=True, right_on_controls=True)
        for noise in (0.05, 0.1, 0.15, 0.2, 0.3)
    ),
    SimulatedJudge("always yes", always=0),
    SimulatedJudge("always no, or the lowest", always=-1),
    *(SimulatedJudge(f"the lowest under {name} alone", lowest_under=(name,)) for name in ASKED),
    SimulatedJudge("the lowest under three rubrics", lowest_under=("relevance", "correctness", "completeness")),
    SimulatedJudge("the lowest under all but support", lowest_under=ASKED[1:]),
    *(SimulatedJudge(f"blind to {kind}, 5% noise", 0.05, blind=kind) for kind in KINDS),
    *(SimulatedJudge(f"half blind to {kind}", 0.0, blind=kind, blind_share=0.5) for kind in KINDS),
)


def make_requests(answers: int) -> dict[str, JudgeRequest]:
    """Return the requests of a run: each answer is asked about under every rubric of the default metrics."""
    requests = {}
    for number in range(answers):
        text = f"Claim {number} holds {number + 20} times."
        entry = {"id": "c1", "text": text}
        passage = {"id": "s", "text": f"Passage {number} says {number + 20}."}
        lists: dict[str, Any] = {"claims": [entry], "citations": [{**entry, "source": "s"}], "context": [passage]}
        for name in ASKED:
            rubric = RUBRICS[name, "en"]
            inputs = {key: lists.get(key, f"{key} {number}") for key in rubric.inputs}
            request = make_request(rubric, inputs, ("c1",) if rubric.per_item else ("answer",))
            requests[request.digest] = request
    return requests


class KnownQuestions:
    """The controls and anchors of a run of so many answers."""

    def __init__(self, answers: int) -> None:
        requests = make_requests(answers)
        self.calls = len(requests)
        self.anchors = select_anchors(build_all_anchors(load_anchors().anchors, RUBRICS), requests.values(), SUPPORT)
        subjects = {digest: RequestSubject(frozenset({("request", digest)})) for digest in requests}
        self.possible = list_possible_controls(requests, subjects, RUBRICS)

    def check(self, judge: SimulatedJudge, seed: int) -> tuple[str, int]:
        """Return what a judge is found to be, and how many questions that took.

        "ONE LABEL" is a judge that gives one under some rubric, and in doubt besides.
        """
        judge = judge._replace(name=f"{judge.name} {seed}")
        randomness = random.Random(judge.name)  # no secret
        limits = ControlLimits(SHARE, 30, None)
        plan = plan_controls(
            self.possible, self.anchors, None, {}, limits, calls=self.calls, rounds=1, asks_again=False
        )
        rounds = ControlRounds(plan, BY_HASH, {})
        for asked in rounds.iterate(_assess):
            rounds.answers |= _answer_questions(judge, asked, randomness)
        status = _assess(rounds.questions, rounds.answers)
        if status.invalid:
            return "INVALID", len(rounds.answers)
        if status.one_label:
            return "ONE LABEL", len(rounds.answers)
        return ("DOUBTFUL" if is_doubtful(status) else "passed"), len(rounds.answers)


def _assess(questions: ControlQuestions, answers: Answers) -> JudgeStatus:
    return assess_judge("j", questions, answers, RUBRICS, None)


def _answer_questions(
    judge: SimulatedJudge, questions: ControlQuestions, randomness: random.Random
) -> dict[str, list[Verdict]]:
    answers = {}
    for digest, control in questions.controls.items():
        lowest = _find_lowest_label(BY_HASH[control.request.rubric_hash])
        answers[digest] = [
            _make_verdict(control.request, judge.choose(control.request, lowest, control.kind, randomness))
        ]
    for digest, (anchor, request) in questions.anchors.items():
        answers[digest] = [_make_verdict(request, judge.choose(request, anchor.label, ANCHOR, randomness))]
    return answers


def _find_lowest_label(rubric: JudgeRubric) -> str:
    valued = [label for label in rubric.labels if label.value is not None]
    return min(valued, key=lambda label: label.value or 0.0).name


def _make_verdict(request: JudgeRequest, label: str) -> Verdict:
    items = tuple(ItemVerdict(item, label) for item in request.items)
    return Verdict(request.digest, "j", 0, f"{request.rubric}@{request.version}", items)


def main() -> None:
    """Print a table for each size of a run."""
    judges = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    for answers in SIZES:
        questions = KnownQuestions(answers)
        print(f"\n{answers} answers, {questions.calls} requests; {judges} judges of each kind\n")
        print("| Judge | INVALID | ONE LABEL | DOUBTFUL | passed | questions |\n|---|---|---|---|---|---|")
        for judge in JUDGES:
            results = [questions.check(judge, seed) for seed in range(judges)]
            counts = Counter(outcome for outcome, _ in results)
            shares = " | ".join(f"{counts[name] / judges:.1%}" for name in OUTCOMES)
            print(f"| {judge.name} | {shares} | {sum(n for _, n in results) / judges:.0f} |")


if __name__ == "__main__":
    main()
