"""What a call of a judge is expected to take: by the length of its texts, corrected by what earlier verdicts took."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from assay.records.verdicts import JudgeUsage

MOST_VERDICTS_READ = 50
"""Earlier verdicts from which is learnt what a call takes: rendering their requests takes time."""


class ExpectedUsage(NamedTuple):
    """How many times the rough estimate of a call the earlier `verdicts` took; 1 without any."""

    verdicts: int = 0
    prompt_ratio: float = 1.0
    completion_ratio: float = 1.0

    def correct(self, prompt: int, completion: int) -> tuple[int, int]:
        """Return a rough estimate of prompt and completion tokens, as the earlier verdicts correct it.

        >>> ExpectedUsage(3, 0.5, 2.0).correct(301, 140)
        (151, 280)
        """
        return math.ceil(prompt * self.prompt_ratio), math.ceil(completion * self.completion_ratio)

    @property
    def assumption(self) -> str:
        """What the estimate assumes, in words."""
        if self.verdicts:
            return f"one vote on each, as long as {self.verdicts} earlier verdicts of this judge took"
        return "one vote on each, 3 bytes a token, replies of 100 tokens a label, no call repeated"


def learn_usage(taken: Iterable[tuple[JudgeUsage, tuple[int, int]]]) -> ExpectedUsage:
    """Return what verdicts took in proportion to the rough estimates of their calls, repeated calls included.

    Verdicts whose endpoint does not report its usage tell nothing.

    >>> learn_usage([(JudgeUsage(200, 70), (400, 140)), (JudgeUsage(0, 0), (400, 140))])
    ExpectedUsage(verdicts=1, prompt_ratio=0.5, completion_ratio=0.5)
    """
    measured = [(usage, rough) for usage, rough in taken if usage.prompt_tokens and usage.completion_tokens]
    if not measured:
        return ExpectedUsage()
    prompt, completion = (sum(rough[part] for _, rough in measured) for part in (0, 1))
    return ExpectedUsage(
        len(measured),
        sum(usage.prompt_tokens for usage, _ in measured) / prompt,
        sum(usage.completion_tokens for usage, _ in measured) / completion,
    )
