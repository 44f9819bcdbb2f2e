"""How a metric asks a judge without calling one: it yields requests, receives rulings and returns an outcome.

Requests do not depend on the judge, and identical questions are identical requests, so that metrics share verdicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from msgspec import Struct, field

from assay.metrics.judged.entailment_model import EntailmentModel
from assay.metrics.judged.vote_folding import (
    DISPUTED,
    REVIEW_SPREAD,
    TIED_VOTE,
    ItemRuling,
    Ruling,
    apply_reviews,
    fold_votes,
    settle_ruling,
)
from assay.records.errors import InputError
from assay.records.scores import ERROR, NEEDS_REVIEW, NOT_APPLICABLE, SCORED, SETTLED
from assay.records.verdicts import (
    Calibration,
    JudgeRequest,
    JudgeRubric,
    JudgeUsage,
    LabelledRate,
    Verdict,
    VerdictReview,
)

if TYPE_CHECKING:
    from assay.metrics.judged.second_judgement import CaseTexts

Rubrics = Mapping[tuple[str, str], JudgeRubric]
"""Rubrics by name and language."""
ENGLISH, VIETNAMESE = "en", "vi"
WHOLE_ANSWER_ITEM = "answer"
"""The one item of a rubric that labels the answer as a whole."""
MAX_ITEMS = 12
"""Items that one request asks about; more are asked about in more requests."""
WITH_ENTAILMENT = "by=entailment"
"""Stands among the names of rubrics, of which none has this form, for an entailment model."""
NO_VERDICT, UNSCORED_PREFIX = "no verdict recorded", "unscored: "
INVALID_JUDGE = "the judge failed its controls or anchors"
NOT_JUDGED_AGAIN = "not judged again without the instructions in its texts"
ASKED_AGAIN = ("provider", "deadline", "budget", "quorum", NOT_JUDGED_AGAIN)
"""Reasons for a missing label that another run of the judge removes: nobody need decide."""
FAR_APART_VOTES = f"{NEEDS_REVIEW}: votes are {REVIEW_SPREAD} or more apart"
TIED_VOTES = f"{NEEDS_REVIEW}: tied votes"
DISPUTED_LABELS = f"{NEEDS_REVIEW}: judged lower without the instructions in its texts"
RULES_VERSION = "4"
"""The version of the scorer by rules; a calibration is bound to it."""


class Outcome(NamedTuple):
    """One score of one observation: a number, or why there is none; `detail` is for the reader of one case.

    The `reason` of a number is empty, says that it needs review, or who settled it."""

    status: int
    value: float
    reason: str
    detail: str = ""


def scored_outcome(value: float, detail: str = "") -> Outcome:
    """A number, and what led to it."""
    return Outcome(SCORED, float(value), "", detail)


def not_applicable_outcome(reason: str) -> Outcome:
    """The metric is undefined here."""
    return Outcome(NOT_APPLICABLE, 0.0, reason)


def unscored_outcome(reason: str) -> Outcome:
    """There should be a number, but it cannot be had."""
    return Outcome(ERROR, 0.0, reason)


def name_combined_scorer(judge: str) -> str:
    """Return the identity of the scorer that joins a judge or a model, by its digest, with this version of the rules.

    >>> name_combined_scorer("sha256:1").startswith("sha256:1 + rules ")
    True
    """
    return f"{judge} + rules {RULES_VERSION}"


Rulings = list[Ruling | None]
JudgeDialogue = Generator[list[JudgeRequest], Rulings, Outcome]
"""A judged metric of one observation: yields what to ask, receives a ruling (None: not recorded) for each request."""


class RecordedVerdicts(Struct, frozen=True, dict=True):
    """Recorded verdicts and calibrations, for replay.

    `verdicts` holds the samples of one judge by the digest of the request, in the order of their numbers. `judge` is
    the digest of that judge and `model` its name; `valid` is false if it failed its controls or drifted; `failure` says
    which controls or anchors it failed, so that its verdicts give no numbers ("" if none); `usage` is what they cost;
    `control_agreement` is the share of control questions that it labelled as expected. `calibrations` are by metric
    name. `second_judge` is the digest of a second judge that was asked about doubtful rulings, and `second_verdicts`
    holds its samples. `reviews` are what people settled, by the digest of the request.
    `entailment_model` compares claims with sources where a metric asks for it. `refused_calibrations` says by metric
    why a calibration that was given lets it not gate.
    """

    rubrics: Rubrics = field(default_factory=dict)
    verdicts: Mapping[str, Sequence[Verdict]] = field(default_factory=dict)
    judge: str = ""
    calibrations: Mapping[str, Calibration] = field(default_factory=dict)
    valid: bool = True
    model: str = ""
    control_agreement: LabelledRate | None = None
    second_judge: str = ""
    second_verdicts: Mapping[str, Sequence[Verdict]] = field(default_factory=dict)
    reviews: Mapping[str, Sequence[VerdictReview]] = field(default_factory=dict)
    failure: str = ""
    usage: JudgeUsage | None = None
    entailment_model: EntailmentModel | None = None
    refused_calibrations: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def answering_models(self) -> tuple[str, ...]:
        """The models that gave the verdicts, as the endpoint named them in its replies; none if it names none.

        Another one than was asked for is usual, where the name is an alias. Several are several judges.
        """
        return tuple(sorted(model for model in self._answers_by_model if model))

    @property
    def unnamed_answers(self) -> int:
        """The number of verdicts of which nobody knows which model gave them, because the endpoint named none."""
        return self._answers_by_model[""]

    @cached_property
    def _answers_by_model(self) -> Counter[str]:
        samples = (sample for samples in self.verdicts.values() for sample in samples)
        return Counter(sample.model or "" for sample in samples if sample.unscored is None)

    @cached_property
    def judged_rubrics(self) -> frozenset[str]:
        """The names of the rubrics for which anything is recorded, whether or not they are here."""
        return frozenset(verdict.rubric.partition("@")[0] for samples in self.verdicts.values() for verdict in samples)

    @cached_property
    def rubrics_with_verdicts(self) -> frozenset[str]:
        """The names of the rubrics that are here and for which anything is recorded: their metrics can be scored."""
        return self.judged_rubrics & {name for name, _ in self.rubrics}

    @property
    def absent_rubrics(self) -> tuple[str, ...]:
        """The names of the rubrics whose verdicts say nothing here, because the rubrics are not here."""
        return tuple(sorted(self.judged_rubrics - self.rubrics_with_verdicts))

    @property
    def scorers(self) -> frozenset[str]:
        """What scores can be had from: the rubrics with verdicts, and the entailment model if there is one."""
        return self.rubrics_with_verdicts | ({WITH_ENTAILMENT} if self.entailment_model is not None else frozenset())

    def find_ruling(self, request: JudgeRequest) -> Ruling | None:
        """Return the ruling of the recorded votes on a request, or None if there are none."""
        samples, second_samples = self.verdicts.get(request.digest), self.second_verdicts.get(request.digest)
        if not samples:
            return None
        rubric = find_rubric(self.rubrics, request.rubric, request.language)
        ruling = fold_votes(samples, rubric)
        return settle_ruling(ruling, fold_votes(second_samples, rubric)) if second_samples else ruling

    def find_confirmed_ruling(self, request: JudgeRequest, texts: CaseTexts) -> Ruling | None:
        """Return the ruling on a request: of the judge, with what people settled in its place (ADR 0101).

        `texts` are those of its case. A request that the judge was not asked has none, whatever people said.
        """
        ruling = self.find_judged_ruling(request, texts)
        reviews = self.reviews.get(request.digest)
        if ruling is None or not reviews or self.failure:
            return ruling
        return apply_reviews(request, ruling, reviews, find_rubric(self.rubrics, request.rubric, request.language))

    def find_judged_ruling(self, request: JudgeRequest, texts: CaseTexts) -> Ruling | None:
        """Return the judge's ruling, compared with the second judgement if its texts hold orders (ADR 0044).

        Where that is not recorded, the items have no label.
        """
        ruling = self.find_ruling(request)
        if self.failure:  # also where it was not asked: it is asked nothing more
            return Ruling(votes=ruling.votes if ruling is not None else 0, unscored=INVALID_JUDGE)
        rubric = find_rubric(self.rubrics, request.rubric, request.language) if ruling is not None else None
        if ruling is None or rubric is None or ruling.unscored is not None:
            return ruling
        from assay.metrics.judged.second_judgement import find_second_requests, settle_disputes  # only for a judged run

        lowest = min((label.value for label in rubric.labels if label.value is not None), default=0.0)
        second_items: dict[str, ItemRuling] = {}
        for second_request in find_second_requests(request, ruling, lowest, texts):
            second = self.find_ruling(second_request)
            ruled_items = {item.id: item for item in second.items} if second is not None else {}
            reason = second.unscored if second is not None else NOT_JUDGED_AGAIN
            for item_id in second_request.items:
                second_items[item_id] = ruled_items.get(item_id) or ItemRuling(
                    item_id, unscored=reason or "judge_parse"
                )
        return settle_disputes(request, ruling, second_items) if second_items else ruling


def find_rubric(rubrics: Rubrics, name: str, language: str) -> JudgeRubric:
    """Return the rubric in the language, else in English, else in the first language that it has.

    Raises InputError where there is none.
    """
    rubric = rubrics.get((name, language)) or rubrics.get((name, ENGLISH))
    if rubric is None:
        rubric = next((rubrics[key] for key in sorted(rubrics) if key[0] == name), None)
    if rubric is None:
        names = ", ".join(sorted({key[0] for key in rubrics})) or "none"
        raise InputError(
            f"no rubric {name} in any language (got {names}; expected --rubrics with a folder that has it)"
        )
    return rubric


def make_request(
    rubric: JudgeRubric, offered: Mapping[str, Any], items: Sequence[str] = (WHOLE_ANSWER_ITEM,)
) -> JudgeRequest:
    """Return the request for a rubric; of the offered inputs it takes those that the rubric names.

    Raises InputError for a rubric that asks for an input that its metric does not offer.
    """
    unknown_inputs = [key for key in rubric.inputs if key not in offered]
    if unknown_inputs:
        expected = ", ".join(offered)
        raise InputError(
            f"rubric {rubric.name}: unknown input (got {', '.join(unknown_inputs)}; expected some of {expected})"
        )
    return JudgeRequest(
        rubric=rubric.name,
        version=rubric.version,
        rubric_hash=rubric.hash,
        language=rubric.language,
        inputs={key: offered[key] for key in rubric.inputs},
        items=tuple(items),
        labels=tuple(label.name for label in rubric.labels),
        quotes=rubric.quotes,
    )


def make_item_requests(
    rubric: JudgeRubric, key: str, entries: Sequence[Mapping[str, str]], other_inputs: Mapping[str, Any]
) -> list[JudgeRequest]:
    """Return requests that ask about entries `{id, text}`, at most 12 in each; `other_inputs` "
    "holds the other inputs."""
    groups = [list(entries[start : start + MAX_ITEMS]) for start in range(0, len(entries), MAX_ITEMS)]
    return [make_request(rubric, {**other_inputs, key: group}, [entry["id"] for entry in group]) for group in groups]


class ItemLabel(Struct, frozen=True):
    """One item as it was ruled: its label, the label's number (None: it has none), and whether a person chose it."""

    label: str
    value: float | None
    by_person: bool = False


def collect_labels(rulings: Rulings, requests: Sequence[JudgeRequest]) -> dict[str, ItemLabel] | Outcome:
    """Return the label of every requested item, or the outcome if any is unrecorded or unscored.

    A share of only the items with labels would be a different number."""
    labels: dict[str, ItemLabel] = {}
    for request, ruling in zip(requests, rulings, strict=True):
        if ruling is None:
            return unscored_outcome(NO_VERDICT)
        if ruling.unscored is not None:
            return unscored_outcome(f"{UNSCORED_PREFIX}{ruling.unscored}")
        ruled_items = {item.id: item for item in ruling.items}
        for item_id in request.items:
            item = ruled_items.get(item_id)
            if item is None or item.label is None:
                return unscored_outcome(f"{UNSCORED_PREFIX}{item.unscored if item is not None else 'judge_parse'}")
            labels[item_id] = ItemLabel(item.label, item.value, bool(item.reviewers))
    return labels


LabelRequests = Generator[list[JudgeRequest], Rulings, dict[str, ItemLabel] | Outcome]
"""Asks about items; ends with the label of each by id, or with the outcome where that cannot be had."""


R = TypeVar("R")


def run_together(
    *askings: Generator[list[JudgeRequest], Rulings, R],
) -> Generator[list[JudgeRequest], Rulings, list[R]]:
    """Run several askings in lockstep, each round of requests in one list; return their results in order."""
    results: dict[int, R] = {}
    waiting: dict[int, tuple[Generator[list[JudgeRequest], Rulings, R], list[JudgeRequest]]] = {}

    def step(number: int, asking: Generator[list[JudgeRequest], Rulings, R], rulings: Rulings | None) -> None:
        try:
            waiting[number] = asking, next(asking) if rulings is None else asking.send(rulings)
        except StopIteration as ended:
            results[number] = ended.value

    for position, asking in enumerate(askings):
        step(position, asking, None)
    while waiting:
        current_round, waiting = waiting, {}
        answers = iter((yield [request for _, requests in current_round.values() for request in requests]))
        for position, (asking, requests) in current_round.items():
            step(position, asking, [next(answers) for _ in requests])
    return [results[position] for position in range(len(askings))]


def replay_outcome(asking: JudgeDialogue, answer: Callable[[JudgeRequest], Ruling | None]) -> Outcome:
    """Run a judged metric to its outcome with recorded rulings."""
    return replay_dialogue(asking, answer)


def replay_dialogue(
    asking: Generator[list[JudgeRequest], Rulings, R], answer: Callable[[JudgeRequest], Ruling | None]
) -> R:
    """Run whatever asks a judge to its result with recorded rulings."""
    try:
        requests = next(asking)
        while True:
            requests = asking.send([answer(request) for request in requests])
    except StopIteration as ended:
        result: R = ended.value
        return result


def mark_for_review(outcome: Outcome, rulings: Sequence[Ruling | None]) -> Outcome:
    """Return the outcome, marked for human review if its votes are far apart, tied or disputed.

    A number that needs none and rests on what people settled names them.
    """
    if outcome.status == ERROR and outcome.reason == UNSCORED_PREFIX + TIED_VOTE:
        return outcome._replace(reason=TIED_VOTES)
    if outcome.status == ERROR and outcome.reason == UNSCORED_PREFIX + DISPUTED:
        return outcome._replace(reason=DISPUTED_LABELS)
    if outcome.status == SCORED and any(ruling is not None and ruling.spread >= REVIEW_SPREAD for ruling in rulings):
        return outcome._replace(reason=FAR_APART_VOTES)
    reviewers = sorted({reviewer for ruling in rulings if ruling is not None for reviewer in ruling.reviewers})
    if outcome.status == SCORED and reviewers:
        return outcome._replace(reason=f"{SETTLED} by {', '.join(reviewers)}")
    return outcome


def collect_first_requests(asking: JudgeDialogue) -> list[JudgeRequest]:
    """Return the first requests of a judged metric; none if it needs no judge for this observation."""
    try:
        return next(asking)
    except StopIteration:
        return []
    finally:
        asking.close()
