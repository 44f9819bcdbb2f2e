"""A second judge, of another family, for what the first leaves in doubt: where both agree, a label stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.errors import Problem, SettingsError
from assay.graders.judging import rubric_of
from assay.graders.votes import is_doubtful
from assay.judges.book import Book
from assay.judges.guards import model_family
from assay.judges.llm import REPAIRS, LLMJudge
from assay.judges.rows import Contents
from assay.runners.attempts import Clock
from assay.runners.budget import Budget, Caps, Price
from assay.runners.judging import JudgingRunner, JudgingTally, Limits
from assay.verdict import JudgeRequest, Verdict
from assay.workflow.judgement import Judgement
from assay.workflow.judges import ChosenJudge, choose_judge
from assay.workflow.questions import Questions

CALLS_OF_VOTE = 1 + REPAIRS
"""Calls that one vote takes at most, but for those that fail."""


@dataclass(frozen=True, slots=True)
class Took:
    """Tokens and dollars; None where nobody says what the judge costs."""

    prompt: int
    completion: int
    cost: float | None

    def and_also(self, other: Took) -> Took:
        """Return both together."""
        cost = self.cost + other.cost if self.cost is not None and other.cost is not None else None
        return Took(self.prompt + other.prompt, self.completion + other.completion, cost)


class SecondJudge:
    """A second judge with what it said, one vote for each request."""

    def __init__(self, chosen: ChosenJudge, judge: LLMJudge) -> None:
        self.chosen, self.judge = chosen, judge
        self.said: dict[str, list[Verdict]] = {}

    @property
    def name(self) -> str:
        """What people read of it."""
        return f"{self.judge.identity.model} ({self.chosen.name}, {self.judge.identity.digest})"

    def recall(self, contents: Contents) -> None:
        """Take what is recorded."""
        recorded = contents.verdicts.get(self.judge.identity.digest, {})
        self.said = {name: list(samples) for name, samples in recorded.items()}

    def most(self, asked: Iterable[JudgeRequest]) -> tuple[int, Took]:
        """Return the calls, and what they take, at most: where everything is in doubt."""
        unanswered = [each for each in asked if all(vote.unscored for vote in self.said.get(each.digest, ()))]
        each = [self.judge.estimate(request) for request in unanswered]
        prompt, completion = (CALLS_OF_VOTE * sum(tokens[kind] for tokens in each) for kind in (0, 1))
        price = self.chosen.price
        cost = price.of(prompt, completion) if price is not None else None
        return CALLS_OF_VOTE * len(unanswered), Took(prompt, completion, cost)

    def runner(
        self, book: Book, limits: Limits, budget: Budget, clock: Clock | None, tally: JudgingTally
    ) -> JudgingRunner:
        """Return what asks it within the same limits, budget and tally."""
        runner = JudgingRunner(self.judge, book, lambda _, samples: not samples, limits, budget, clock)
        runner.tally = tally
        return runner

    async def ask(self, runner: JudgingRunner, requests: Iterable[JudgeRequest]) -> None:
        """Ask what is not recorded."""
        self.said |= await runner.run(requests, self.said)


def second_of(judgement: Judgement, first: ChosenJudge) -> ChosenJudge | None:
    """Return the second judge that is named, asked under the rubrics of the first; None where none is.

    Raises SettingsError for a judge that is not in the settings, and for one of the same model or family.
    """
    if judgement.second is None:
        return None
    second = replace(choose_judge(judgement.config, judgement.second, {}), rubrics=first.rubrics, folders=first.folders)
    family = _model_family(second)
    if second.settings.model == first.settings.model or (family and family == _model_family(first)):
        got = f"got {second.settings.model} beside {first.settings.model}"
        _raise_settings_error(
            f"a second judge of the same family says nothing new ({got}; expected one of another family)"
        )
    return second


def shared_caps(caps: Caps, second: ChosenJudge) -> Caps:
    """Return the caps for two judges: what a call may cost is set aside at the higher of their prices.

    Raises SettingsError for a cap on money where nobody knows what the second costs.
    """
    if caps.price is None or second.price is None:
        if caps.cost is not None:
            _raise_settings_error(
                f"nobody says what {second.settings.model} costs, so that no cap on money can be kept"
            )
        return caps
    pairs = (caps.price, second.price)
    higher_price = Price(max(price.prompt_per_1k for price in pairs), max(price.completion_per_1k for price in pairs))
    return replace(caps, price=higher_price)


def flagged(
    questions: Questions, asked: Mapping[str, JudgeRequest], verdicts: Mapping[str, Sequence[Verdict]]
) -> dict[str, JudgeRequest]:
    """Return the requests that a second judge is asked: with votes far apart or tied, with data that talks to its
    judge, and behind what rules of text say very differently."""
    contradicted = questions.contradicted(verdicts)
    return {
        digest: request
        for digest, request in asked.items()
        if (samples := verdicts.get(digest))
        and (
            digest in contradicted
            or is_doubtful(samples, rubric_of(questions.rubrics, request.rubric, request.language))
        )
    }


def _model_family(judge: ChosenJudge) -> str:
    return judge.settings.family or model_family(judge.settings.model or "")


def _raise_settings_error(message: str) -> None:
    raise SettingsError([Problem("", None, "second", message, "E_JUDGE")])
