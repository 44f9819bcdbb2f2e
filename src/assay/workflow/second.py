"""A second judge of another model family for the requests that the first leaves in doubt (ADR 0023)."""

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
"""The maximum number of calls for one vote, not counting calls that fail."""


@dataclass(frozen=True, slots=True)
class Took:
    """Prompt and completion tokens, and their cost in dollars; None if the price of the judge is unknown."""

    prompt: int
    completion: int
    cost: float | None

    def and_also(self, other: Took) -> Took:
        """Return the sum of both."""
        cost = self.cost + other.cost if self.cost is not None and other.cost is not None else None
        return Took(self.prompt + other.prompt, self.completion + other.completion, cost)


class SecondJudge:
    """A second judge with its samples, one vote for each request."""

    def __init__(self, chosen: ChosenJudge, judge: LLMJudge) -> None:
        self.chosen, self.judge = chosen, judge
        self.said: dict[str, list[Verdict]] = {}

    @property
    def name(self) -> str:
        """Its model, name and digest, as shown to the user."""
        return f"{self.judge.identity.model} ({self.chosen.name}, {self.judge.identity.digest})"

    def recall(self, contents: Contents) -> None:
        """Load its recorded samples."""
        recorded = contents.verdicts.get(self.judge.identity.digest, {})
        self.said = {name: list(samples) for name, samples in recorded.items()}

    def most(self, asked: Iterable[JudgeRequest]) -> tuple[int, Took]:
        """Return the maximum of calls and of their usage, reached if every request is in doubt."""
        unanswered = 0
        prompt = completion = 0
        for request in asked:
            if all(vote.unscored for vote in self.said.get(request.digest, ())):
                prompt_tokens, completion_tokens = self.judge.estimate(request)
                unanswered += 1
                prompt += CALLS_OF_VOTE * prompt_tokens
                completion += CALLS_OF_VOTE * completion_tokens
        price = self.chosen.price
        cost = price.of(prompt, completion) if price is not None else None
        return CALLS_OF_VOTE * unanswered, Took(prompt, completion, cost)

    def runner(
        self, book: Book, limits: Limits, budget: Budget, clock: Clock | None, tally: JudgingTally
    ) -> JudgingRunner:
        """Return a runner that asks it within the same limits, budget and tally as the first judge."""
        runner = JudgingRunner(self.judge, book, lambda _, samples: not samples, limits, budget, clock)
        runner.tally = tally
        return runner

    async def ask(self, runner: JudgingRunner, requests: Iterable[JudgeRequest]) -> None:
        """Ask the requests without a recorded sample."""
        self.said |= await runner.run(requests, self.said)


def second_of(judgement: Judgement, first: ChosenJudge) -> ChosenJudge | None:
    """Return the named second judge with the rubrics of the first; None if none is named.

    Raises SettingsError for a judge that is not in the settings, and for one of the same model or family.
    """
    if judgement.second is None:
        return None
    second = replace(choose_judge(judgement.config, judgement.second, {}), rubrics=first.rubrics, folders=first.folders)
    family = _model_family(second)
    if second.settings.model == first.settings.model or (family and family == _model_family(first)):
        got = f"got {second.settings.model} in addition to {first.settings.model}"
        _raise_settings_error(
            f"a second judge of the same family adds no information ({got}; expected one of another family)"
        )
    return second


def shared_caps(caps: Caps, second: ChosenJudge) -> Caps:
    """Return the caps for two judges: the cost of a call is reserved at the higher of their prices.

    Raises SettingsError for a cap on cost if the price of the second is unknown.
    """
    if caps.price is None or second.price is None:
        if caps.cost is not None:
            _raise_settings_error(
                f"the price of {second.settings.model} is unknown, so that no cap on cost can be enforced"
            )
        return caps
    pairs = (caps.price, second.price)
    higher_price = Price(max(price.prompt_per_1k for price in pairs), max(price.completion_per_1k for price in pairs))
    return replace(caps, price=higher_price)


def flagged(
    questions: Questions, asked: Mapping[str, JudgeRequest], verdicts: Mapping[str, Sequence[Verdict]]
) -> dict[str, JudgeRequest]:
    """Return the requests that a second judge is asked.

    These are requests with votes far apart or tied, with a suspected prompt injection, and those behind a score that
    differs widely from that of the rules.
    """
    contradicted = questions.contradicted(verdicts)
    doubtful = {}
    for digest, request in asked.items():
        samples = verdicts.get(digest)
        if not samples:
            continue
        rubric = rubric_of(questions.rubrics, request.rubric, request.language)
        if digest in contradicted or is_doubtful(samples, rubric):
            doubtful[digest] = request
    return doubtful


def _model_family(judge: ChosenJudge) -> str:
    return judge.settings.family or model_family(judge.settings.model or "")


def _raise_settings_error(message: str) -> None:
    raise SettingsError([Problem("", None, "second", message, "E_JUDGE")])
