"""How a grader asks a judge without calling one: it yields requests, receives rulings and returns an outcome.

Requests do not depend on who judges, and identical questions are identical requests, so that metrics share verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from assay.errors import InputError
from assay.graders.votes import FAR_APART, TIED, Ruling, fold_votes, settled
from assay.model import ERROR, NEEDS_REVIEW, NOT_APPLICABLE, SCORED
from assay.verdict import Calibration, JudgeRequest, JudgeRubric, Rate, Verdict

Rubrics = Mapping[tuple[str, str], JudgeRubric]
"""Rubrics by name and language."""
ENGLISH, VIETNAMESE = "en", "vi"
ANSWER = "answer"
"""The one item of a rubric that labels the answer as a whole."""
MOST_ITEMS = 12
"""Items that one request asks about; more are asked about in more requests."""
NO_VERDICT, UNSCORED = "no verdict recorded", "unscored: "
FAR_APART_VOTES = f"{NEEDS_REVIEW}: votes are {FAR_APART} or more apart"
TIED_VOTES = f"{NEEDS_REVIEW}: tied votes"
RULES_VERSION = "2"
"""The version of the rules instrument: what a calibration of it is bound to."""


class Outcome(NamedTuple):
    """One score of one observation: a number, or why there is none; `detail` is for the reader of one case.

    The `reason` of a number is empty, or says that it needs review."""

    status: int
    value: float
    reason: str
    detail: str = ""


def scored(value: float, detail: str = "") -> Outcome:
    """A number, and what led to it."""
    return Outcome(SCORED, float(value), "", detail)


def not_applicable(reason: str) -> Outcome:
    """The metric has no meaning here."""
    return Outcome(NOT_APPLICABLE, 0.0, reason)


def unscored(reason: str) -> Outcome:
    """There should be a number, and there is none."""
    return Outcome(ERROR, 0.0, reason)


Rulings = list[Ruling | None]
Asking = Generator[list[JudgeRequest], Rulings, Outcome]
"""A judged metric of one observation: yields what to ask, receives a ruling (None: not recorded) for each request."""


@dataclass(frozen=True)
class Judging:
    """What judges and people said, for replay: `book` holds the samples of one judge by the digest of the request, in
    the order of their numbers; `judge` is the digest of that judge and `model` its name, `valid` false if it failed its
    controls or drifted, `anchors` the share of them labelled as expected. `calibrations` are by metric name. `second`
    is the digest of a judge that was asked about what the first left in doubt, and `seconds` what it said."""

    rubrics: Rubrics = field(default_factory=dict)
    book: Mapping[str, Sequence[Verdict]] = field(default_factory=dict)
    judge: str = ""
    calibrations: Mapping[str, Calibration] = field(default_factory=dict)
    valid: bool = True
    model: str = ""
    anchors: Rate | None = None
    second: str = ""
    seconds: Mapping[str, Sequence[Verdict]] = field(default_factory=dict)

    @cached_property
    def held(self) -> frozenset[str]:
        """The names of the rubrics for which anything is recorded."""
        return frozenset(each.rubric.partition("@")[0] for samples in self.book.values() for each in samples)

    def ruling(self, request: JudgeRequest) -> Ruling | None:
        """Return what the recorded votes on a request come to, None where there are none."""
        samples, others = self.book.get(request.digest), self.seconds.get(request.digest)
        if not samples:
            return None
        rubric = rubric_of(self.rubrics, request.rubric, request.language)
        ruling = fold_votes(samples, rubric)
        return settled(ruling, fold_votes(others, rubric)) if others else ruling


def rubric_of(rubrics: Rubrics, name: str, language: str) -> JudgeRubric:
    """Return the rubric in the language, else in English. Raises InputError where there is none."""
    found = rubrics.get((name, language)) or rubrics.get((name, ENGLISH))
    if found is None:
        raise InputError(f"no rubric {name} in {language} or {ENGLISH}")
    return found


def request(rubric: JudgeRubric, offered: Mapping[str, Any], items: Sequence[str] = (ANSWER,)) -> JudgeRequest:
    """Return the request that puts a rubric's question; of what is offered it takes the inputs that the rubric names.

    Raises InputError for a rubric that asks for an input that its metric does not offer.
    """
    lacking = [key for key in rubric.inputs if key not in offered]
    if lacking:
        expected = ", ".join(offered)
        raise InputError(f"rubric {rubric.name}: unknown input (got {', '.join(lacking)}; expected some of {expected})")
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


def item_requests(
    rubric: JudgeRubric, key: str, entries: Sequence[Mapping[str, str]], beside: Mapping[str, Any]
) -> list[JudgeRequest]:
    """Return requests that ask about entries `{id, text}`, at most 12 in each; `beside` are the other inputs."""
    groups = [list(entries[start : start + MOST_ITEMS]) for start in range(0, len(entries), MOST_ITEMS)]
    return [request(rubric, {**beside, key: group}, [entry["id"] for entry in group]) for group in groups]


class Labelled(NamedTuple):
    """One item as it was ruled: its label, and the label's number (None: it has none)."""

    label: str
    value: float | None


def labels_of(rulings: Rulings, requests: Sequence[JudgeRequest]) -> dict[str, Labelled] | Outcome:
    """Return the label of every item asked for; the outcome where any is not recorded or unscored: a share of the
    items that happen to be known would be another number."""
    found: dict[str, Labelled] = {}
    for asked, ruling in zip(requests, rulings, strict=True):
        if ruling is None:
            return unscored(NO_VERDICT)
        if ruling.unscored is not None:
            return unscored(f"{UNSCORED}{ruling.unscored}")
        ruled = {item.id: item for item in ruling.items}
        for item_id in asked.items:
            item = ruled.get(item_id)
            if item is None or item.label is None:
                return unscored(f"{UNSCORED}{item.unscored if item is not None else 'judge_parse'}")
            found[item_id] = Labelled(item.label, item.value)
    return found


Labels = Generator[list[JudgeRequest], Rulings, dict[str, Labelled] | Outcome]
"""Asks about items; ends with the label of each by id, or with the outcome where that cannot be had."""


R = TypeVar("R")


def together(
    *askings: Generator[list[JudgeRequest], Rulings, R],
) -> Generator[list[JudgeRequest], Rulings, list[R]]:
    """Ask everything that several askings ask at once, each round in one list; return what they end with, in order."""
    ends: dict[int, R] = {}
    waiting: dict[int, tuple[Generator[list[JudgeRequest], Rulings, R], list[JudgeRequest]]] = {}

    def step(place: int, asking: Generator[list[JudgeRequest], Rulings, R], rulings: Rulings | None) -> None:
        try:
            waiting[place] = asking, next(asking) if rulings is None else asking.send(rulings)
        except StopIteration as ended:
            ends[place] = ended.value

    for place, asking in enumerate(askings):
        step(place, asking, None)
    while waiting:
        round_of, waiting = waiting, {}
        answers = iter((yield [each for _, requests in round_of.values() for each in requests]))
        for place, (asking, requests) in round_of.items():
            step(place, asking, [next(answers) for _ in requests])
    return [ends[place] for place in range(len(askings))]


def replay(asking: Asking, answer: Callable[[JudgeRequest], Ruling | None]) -> Outcome:
    """Drive a judged metric to its outcome with what is recorded."""
    try:
        requests = next(asking)
        while True:
            requests = asking.send([answer(each) for each in requests])
    except StopIteration as ended:
        outcome: Outcome = ended.value
        return outcome


def reviewed(outcome: Outcome, rulings: Sequence[Ruling | None]) -> Outcome:
    """Return the outcome marked for a person where it stands on votes far apart, or lacks a number for tied ones."""
    if outcome.status == ERROR and outcome.reason == UNSCORED + TIED:
        return outcome._replace(reason=TIED_VOTES)
    if outcome.status == SCORED and any(ruling is not None and ruling.spread >= FAR_APART for ruling in rulings):
        return outcome._replace(reason=FAR_APART_VOTES)
    return outcome


def first_requests(asking: Asking) -> list[JudgeRequest]:
    """Return what a judged metric asks first; nothing where it can tell without a judge."""
    try:
        return next(asking)
    except StopIteration:
        return []
    finally:
        asking.close()
