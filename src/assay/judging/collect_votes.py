"""Decides how many votes each request gets, and which requests a second judge is asked.

One vote, three for a case that can fail the gate alone, more in doubt, or a fixed number. A second judge, of another
model family, gets the requests that the first leaves in doubt (ADR 0023).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from msgspec import structs

from assay.calls.retry import Clock
from assay.judging.budget import Budget, BudgetCaps, TokenPrice
from assay.judging.call_scheduler import JudgingLimits, JudgingRunner, JudgingTally, is_settled
from assay.judging.choose_judge import ChosenJudge, choose_judge
from assay.judging.collect_questions import JudgeQuestions, JudgingRequest
from assay.judging.control_questions import ControlQuestions
from assay.judging.independence import find_model_family
from assay.judging.llm_judge import MAX_REPEATED_REQUESTS, LLMJudge
from assay.judging.verdict_files import StoreContents
from assay.judging.verdict_store import SqliteVerdictStore
from assay.metrics.judged.judge_requests import find_rubric
from assay.metrics.judged.vote_folding import (
    MAX_VOTES,
    QUORUM_MISSED,
    REPEAT_VOTES,
    fold_votes,
    is_doubtful_ruling,
    needs_more_votes,
)
from assay.records.errors import Problem, SettingsError
from assay.records.verdicts import JudgeRequest, JudgeRubric, Verdict

VOTES_ON_DECIDING_CASES = 3
"""Votes on a case that can fail the gate alone."""
PERMANENT_FAILURES = ("provider", "deadline", "budget")
"""Reasons for a missing verdict that the next vote would meet too."""


@dataclass(slots=True)
class VotingRule:
    """The rule for the number of votes (ADR 0033): a `fixed` number, else as many as needed.

    `deciding_cases` are the cases that can fail the gate alone, and `rubrics` are given by hash. The control
    questions of `known` are asked once, except for those anchors for which `anchor_votes` gives another number of
    votes. With `retry_errors`, samples that were paid for in vain are missing.
    """

    questions: JudgeQuestions
    rubrics: Mapping[str, JudgeRubric]
    fixed: int | None
    deciding_cases: AbstractSet[str]
    control_questions: ControlQuestions
    anchor_votes: Mapping[str, int] = field(default_factory=dict)
    retry_errors: bool = False

    def needs_more(self, request: JudgeRequest, samples: Sequence[Verdict]) -> bool:
        """Return whether one more vote is to be taken."""
        if samples and samples[-1].unscored in PERMANENT_FAILURES:
            return False
        if len(_valid_samples(samples)) < self._min_votes(request.digest):
            return True
        if self._is_known(request.digest):
            return False
        if self.fixed is not None:  # an earlier run asked for more votes, so that a single one gives no ruling
            return len(samples) < REPEAT_VOTES and self._unscored_reason(request, samples) == QUORUM_MISSED
        return needs_more_votes(samples, self.rubrics[request.rubric_hash])

    def count_missing_votes(self, request: JudgeRequest, samples: Sequence[Verdict]) -> tuple[int, int]:
        """Return how many votes are missing, at least and at most, in addition to those that are recorded."""
        settled = [sample for sample in samples if is_settled(sample, retry_errors=self.retry_errors)]
        least = max(0, self._min_votes(request.digest) - len(settled))
        fixed = self.fixed is not None or self._is_known(request.digest)
        is_decided = not least and not self.needs_more(request, settled)
        return least, least if fixed or is_decided else max(least, MAX_VOTES - len(settled))

    def requested_votes(self, request: JudgeRequest) -> int:
        """Return how many votes a request gets; 0 if a single vote decides unless it leaves doubt."""
        if self._is_known(request.digest):
            return 1
        least = self._min_votes(request.digest)
        return 0 if self.fixed is None and least == 1 else least

    def _unscored_reason(self, request: JudgeRequest, samples: Sequence[Verdict]) -> str | None:
        return fold_votes(samples, self.rubrics[request.rubric_hash]).unscored

    def _min_votes(self, digest: str) -> int:
        if self._is_known(digest):
            return self.anchor_votes.get(digest, 1)
        alone = not self.deciding_cases.isdisjoint(self.questions.cases_of.get(digest, ()))
        return self.fixed or (VOTES_ON_DECIDING_CASES if alone else 1)

    def _is_known(self, digest: str) -> bool:
        return digest in self.control_questions.controls or digest in self.control_questions.anchors


def _valid_samples(samples: Sequence[Verdict]) -> list[Verdict]:
    """Return the samples without the placeholders of skipped sample numbers."""
    return [sample for sample in samples if sample.items or sample.unscored is not None]


class VotingJudge:
    """A judge whose verdicts record how many votes were requested, so that one of several is not taken as a ruling."""

    def __init__(self, judge: LLMJudge, voting: VotingRule) -> None:
        self._judge, self._voting = judge, voting
        self.identity = judge.identity
        self.estimate = judge.estimate

    async def ask(self, request: JudgeRequest, sample: int) -> Verdict:
        """Ask for one sample and return its verdict."""
        verdict = await self._judge.ask(request, sample)
        return structs.replace(verdict, votes=self._voting.requested_votes(request))

    async def aclose(self) -> None:
        """Close the connections of the judge."""
        await self._judge.aclose()


MAX_CALLS_PER_VOTE = 1 + MAX_REPEATED_REQUESTS
"""The maximum number of calls for one vote, not counting calls that fail."""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Prompt and completion tokens, and their cost in dollars; None if the price of the judge is unknown."""

    prompt: int
    completion: int
    cost: float | None

    def plus(self, other: TokenUsage) -> TokenUsage:
        """Return the sum of both."""
        cost = self.cost + other.cost if self.cost is not None and other.cost is not None else None
        return TokenUsage(self.prompt + other.prompt, self.completion + other.completion, cost)


class SecondJudge:
    """A second judge with its samples, one vote for each request."""

    def __init__(self, chosen: ChosenJudge, judge: LLMJudge, *, retry_errors: bool = False) -> None:
        self.chosen, self.judge, self._retry_errors = chosen, judge, retry_errors
        self.samples: dict[str, list[Verdict]] = {}

    @property
    def name(self) -> str:
        """Its model, name and digest, as shown to the user."""
        return f"{self.judge.identity.model} ({self.chosen.name}, {self.judge.identity.digest})"

    def load_recorded(self, contents: StoreContents) -> None:
        """Load its recorded samples."""
        recorded = contents.verdicts.get(self.judge.identity.digest, {})
        self.samples = {name: list(samples) for name, samples in recorded.items()}

    def estimate_most(self, requests: Iterable[JudgeRequest]) -> tuple[int, TokenUsage]:
        """Return the maximum of calls and of their usage, reached if every request is in doubt."""
        unanswered = 0
        prompt = completion = 0
        for request in requests:
            votes = self.samples.get(request.digest, ())
            if not any(is_settled(vote, retry_errors=self._retry_errors) for vote in votes):
                prompt_tokens, completion_tokens = self.judge.estimate(request)
                unanswered += 1
                prompt += MAX_CALLS_PER_VOTE * prompt_tokens
                completion += MAX_CALLS_PER_VOTE * completion_tokens
        price = self.chosen.price
        cost = price.compute_cost(prompt, completion) if price is not None else None
        return MAX_CALLS_PER_VOTE * unanswered, TokenUsage(prompt, completion, cost)

    def make_runner(
        self, store: SqliteVerdictStore, limits: JudgingLimits, budget: Budget, clock: Clock | None, tally: JudgingTally
    ) -> JudgingRunner:
        """Return a runner that asks it within the same limits, budget and tally as the first judge."""
        runner = JudgingRunner(
            self.judge,
            store,
            lambda _, samples: not samples,
            limits,
            budget,
            clock,
            retry_errors=self._retry_errors,
        )
        runner.tally = tally
        return runner

    async def ask(self, runner: JudgingRunner, requests: Iterable[JudgeRequest]) -> None:
        """Ask the requests without a recorded sample."""
        self.samples |= await runner.run(requests, self.samples)


def choose_second_judge(judgement: JudgingRequest, first_judge: ChosenJudge) -> ChosenJudge | None:
    """Return the named second judge with the rubrics of the first; None if none is named.

    Raises SettingsError for a judge that is not in the settings, and for one of the same model or family.
    """
    if judgement.second_judge is None:
        return None
    second = replace(
        choose_judge(judgement.config, judgement.second_judge, {}, is_asked=not judgement.is_estimate),
        rubrics=first_judge.rubrics,
        folders=first_judge.folders,
    )
    family = _model_family(second)
    if second.settings.model == first_judge.settings.model or (family and family == _model_family(first_judge)):
        got = f"got {second.settings.model} in addition to {first_judge.settings.model}"
        _raise_settings_error(
            f"a second judge of the same family adds no information ({got}; expected one of another family)"
        )
    return second


def share_caps(caps: BudgetCaps, second: ChosenJudge) -> BudgetCaps:
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
    higher_price = TokenPrice(
        max(price.prompt_per_1k for price in pairs), max(price.completion_per_1k for price in pairs)
    )
    return replace(caps, price=higher_price)


def find_doubtful_requests(
    questions: JudgeQuestions, requests: Mapping[str, JudgeRequest], verdicts: Mapping[str, Sequence[Verdict]]
) -> dict[str, JudgeRequest]:
    """Return the requests that a second judge is asked.

    These are requests with votes far apart or tied, with a suspected prompt injection, and those behind a score that
    differs widely from that of the rules.
    """
    contradicted = questions.find_contradicted(verdicts)
    doubtful = {}
    for digest, request in requests.items():
        samples = verdicts.get(digest)
        if not samples:
            continue
        rubric = find_rubric(questions.rubrics, request.rubric, request.language)
        if digest in contradicted or is_doubtful_ruling(samples, rubric):
            doubtful[digest] = request
    return doubtful


def _model_family(judge: ChosenJudge) -> str:
    return judge.settings.family or find_model_family(judge.settings.model or "")


def _raise_settings_error(message: str) -> None:
    raise SettingsError([Problem("", None, "second", message, "E_JUDGE")])
