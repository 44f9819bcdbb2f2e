"""What a golden set states by which answers can be judged, said before anything is asked or scored (ADR 0160)."""

from __future__ import annotations

from assay.metrics.answers.expected_text import find_unjudgeable_cases
from assay.records.counts import format_count
from assay.records.golden_set import GoldenSet
from assay.scoring.column_values import format_case_ids

UNJUDGEABLE_REMEDY = "add must_have to such a case, or run `assay judge`"


def describe_unjudgeable_cases(golden: GoldenSet) -> str:
    """Return how many cases have nothing but a long reference to tell a right answer by, and which; "" for none.

    >>> from assay.records.golden_set import Case
    >>> long = "It is £5 for members who book online, £7 at the door, and nothing for children in a group."
    >>> describe_unjudgeable_cases(GoldenSet((Case("fee", "Tell me the fee.", reference=long),)))
    '1 of 1 case has a long reference and no must_have: rules can seldom tell whether its answer is right (fee)'
    """
    unjudgeable = find_unjudgeable_cases(golden.cases)
    if not unjudgeable:
        return ""
    total = format_count(sum(case.variant_of is None for case in golden.cases), "case")
    is_one = len(unjudgeable) == 1
    long = "has a long reference" if is_one else "have a long reference"
    answers = "its answer is right" if is_one else "their answers are right"
    ids = format_case_ids([case.id for case in unjudgeable])
    return f"{len(unjudgeable)} of {total} {long} and no must_have: rules can seldom tell whether {answers} ({ids})"
