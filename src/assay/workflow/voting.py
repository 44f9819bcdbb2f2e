"""How many votes each request gets: one, three for a case that can fail the gate alone, more in doubt, or a fixed
number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from msgspec import structs

from assay.graders.votes import MOST, SEVERAL, TOO_FEW, fold_votes, needs_more
from assay.judges.llm import LLMJudge
from assay.verdict import JudgeRequest, JudgeRubric, Verdict
from assay.workflow.controls import Known
from assay.workflow.questions import Questions

ALONE = 3
"""Votes on a case that can fail the gate alone."""
HOPELESS = ("provider", "deadline", "budget")
"""Reasons for a missing verdict that the next vote would meet too."""


@dataclass(slots=True)
class Voting:
    """The rule for the number of votes (ADR 0033): a `fixed` number, else as many as needed.

    `alone` are the cases that can fail the gate alone, and `rubrics` are given by hash. The control questions of
    `known` are asked once, except for those anchors for which `anchors` gives another number of votes.
    """

    questions: Questions
    rubrics: Mapping[str, JudgeRubric]
    fixed: int | None
    alone: AbstractSet[str]
    known: Known
    anchors: Mapping[str, int] = field(default_factory=dict)

    def needs_more(self, request: JudgeRequest, samples: Sequence[Verdict]) -> bool:
        """Return whether one more vote is to be taken."""
        if samples and samples[-1].unscored in HOPELESS:
            return False
        if len(_valid_samples(samples)) < self._min_votes(request.digest):
            return True
        if self._is_known(request.digest):
            return False
        if self.fixed is not None:  # an earlier run asked for more votes, so that a single one gives no ruling
            return len(samples) < SEVERAL and self._unscored_reason(request, samples) == TOO_FEW
        return needs_more(samples, self.rubrics[request.rubric_hash])

    def lacking(self, request: JudgeRequest, samples: Sequence[Verdict]) -> tuple[int, int]:
        """Return how many votes are missing, at least and at most, in addition to those that are recorded."""
        scored = [sample for sample in samples if sample.unscored is None]
        least = max(0, self._min_votes(request.digest) - len(scored))
        fixed = self.fixed is not None or self._is_known(request.digest)
        is_decided = not least and not needs_more(scored, self.rubrics[request.rubric_hash])
        return least, least if fixed or is_decided else max(least, MOST - len(scored))

    def asked_for(self, request: JudgeRequest) -> int:
        """Return how many votes a request gets; 0 if a single vote decides unless it leaves doubt."""
        if self._is_known(request.digest):
            return 1
        least = self._min_votes(request.digest)
        return 0 if self.fixed is None and least == 1 else least

    def _unscored_reason(self, request: JudgeRequest, samples: Sequence[Verdict]) -> str | None:
        return fold_votes(samples, self.rubrics[request.rubric_hash]).unscored

    def _min_votes(self, digest: str) -> int:
        if self._is_known(digest):
            return self.anchors.get(digest, 1)
        alone = not self.alone.isdisjoint(self.questions.cases_of.get(digest, ()))
        return self.fixed or (ALONE if alone else 1)

    def _is_known(self, digest: str) -> bool:
        return digest in self.known.controls or digest in self.known.anchors


def _valid_samples(samples: Sequence[Verdict]) -> list[Verdict]:
    """Return the samples without the placeholders of skipped sample numbers."""
    return [sample for sample in samples if sample.items or sample.unscored is not None]


class VotingJudge:
    """A judge whose verdicts record how many votes were requested, so that one of several is not taken as a ruling."""

    def __init__(self, judge: LLMJudge, voting: Voting) -> None:
        self._judge, self._voting = judge, voting
        self.identity = judge.identity
        self.estimate = judge.estimate

    async def ask(self, request: JudgeRequest, sample: int) -> Verdict:
        """Ask for one sample and return its verdict."""
        verdict = await self._judge.ask(request, sample)
        return structs.replace(verdict, votes=self._voting.asked_for(request))

    async def aclose(self) -> None:
        """Close the connections of the judge."""
        await self._judge.aclose()
