"""How many votes each request gets: one, three where a case decides alone, more in doubt, or as many as are set."""

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
"""Without a verdict for a reason that the next vote would meet too."""


@dataclass(slots=True)
class Voting:
    """Votes as DECISIONS 22 has them: a `fixed` number, else as needed. `alone` are the cases that can fail the gate
    alone, `rubrics` are by hash; `known` has one answer, and is asked once but for the `anchors`."""

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
        if len(_cast(samples)) < self._least(request.digest):
            return True
        if self._is_known(request.digest):
            return False
        if self.fixed is not None:  # more were asked for before, and one of them is no ruling
            return len(samples) < SEVERAL and self._ruled(request, samples) == TOO_FEW
        return needs_more(samples, self.rubrics[request.rubric_hash])

    def lacking(self, request: JudgeRequest, samples: Sequence[Verdict]) -> tuple[int, int]:
        """Return how many votes are still to be asked for, at least and at most, beside those that are recorded."""
        scored = [each for each in samples if each.unscored is None]
        least = max(0, self._least(request.digest) - len(scored))
        fixed = self.fixed is not None or self._is_known(request.digest)
        done = not least and not needs_more(scored, self.rubrics[request.rubric_hash])
        return least, least if fixed or done else max(least, MOST - len(scored))

    def asked_for(self, request: JudgeRequest) -> int:
        """Return how many votes a request gets; 0 where a single one decides, unless it leaves doubt."""
        if self._is_known(request.digest):
            return 1
        least = self._least(request.digest)
        return 0 if self.fixed is None and least == 1 else least

    def _ruled(self, request: JudgeRequest, samples: Sequence[Verdict]) -> str | None:
        return fold_votes(samples, self.rubrics[request.rubric_hash]).unscored

    def _least(self, digest: str) -> int:
        if self._is_known(digest):
            return self.anchors.get(digest, 1)
        alone = not self.alone.isdisjoint(self.questions.cases_of.get(digest, ()))
        return self.fixed or (ALONE if alone else 1)

    def _is_known(self, digest: str) -> bool:
        return digest in self.known.controls or digest in self.known.anchors


def _cast(samples: Sequence[Verdict]) -> list[Verdict]:
    """Return the samples but for those that are passed over."""
    return [each for each in samples if each.items or each.unscored is not None]


class VotingJudge:
    """A judge whose verdicts say how many votes were to be taken, so that one of several is no ruling."""

    def __init__(self, judge: LLMJudge, voting: Voting) -> None:
        self._judge, self._voting = judge, voting
        self.identity = judge.identity
        self.estimate = judge.estimate

    async def ask(self, request: JudgeRequest, sample: int) -> Verdict:
        """Return one sample."""
        verdict = await self._judge.ask(request, sample)
        return structs.replace(verdict, votes=self._voting.asked_for(request))

    async def aclose(self) -> None:
        """Give back connections."""
        await self._judge.aclose()
