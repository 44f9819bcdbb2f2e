"""What a golden set states by which answers can be judged, said before anything is asked or scored (ADR 0160)."""

from __future__ import annotations

from assay.metrics.answers.expected_text import find_unjudgeable_cases
from assay.records.counts import format_count
from assay.records.golden_set import GoldenSet
from assay.scoring.column_values import format_case_ids

UNJUDGEABLE_REMEDY = "add must_have to such a case, or run `assay judge`"


def describe_unjudgeable_cases(golden: GoldenSet) -> str:
    """Return how many cases state nothing by which rules can tell whether an answer is right, and which; "" for none.

    >>> from assay.records.golden_set import Case
    >>> describe_unjudgeable_cases(GoldenSet((Case("fee", "What is the fee?", reference="There is none."),)))
    '1 of 1 case states nothing by which rules can tell whether its answer is right (fee)'
    """
    unjudgeable = find_unjudgeable_cases(golden.cases)
    if not unjudgeable:
        return ""
    total = format_count(sum(case.variant_of is None for case in golden.cases), "case")
    is_one = len(unjudgeable) == 1
    nothing = "states nothing" if is_one else "state nothing"
    answers = "its answer is right" if is_one else "their answers are right"
    ids = format_case_ids([case.id for case in unjudgeable])
    return f"{len(unjudgeable)} of {total} {nothing} by which rules can tell whether {answers} ({ids})"
