"""The rules of `golden lint` that hold a case's own reference against the facts and keywords that it asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from assay.golden.lint_finding import SuspectField
from assay.metrics.answers.expected_text import judge_reference
from assay.records.errors import shorten_repr
from assay.records.golden_set import Case
from assay.text.facts.fact_judgments import FactJudgment

REFERENCE_FAILS: Final = "reference-fails"
REFERENCE_OPEN: Final = "reference-open"
_MUST_HAVE, _KEYWORDS = "must_have", "rubric.correct_keywords"


class OwnReference(NamedTuple):
    """What the rules make of the facts and keywords of a case in its own reference, where they do not pass them all.

    `rule` is `reference-fails` if a right answer could only fail, `reference-open` if the rules cannot tell.
    """

    rule: Literal["reference-fails", "reference-open"]
    field: str
    message: str


def check_own_reference(case: Case) -> Iterator[SuspectField]:
    """Yield a finding for must_have and for keywords that the case's own reference does not pass by the rules.

    >>> case = Case("fee", "What does it cost?", reference="It costs £5.", must_have=("£6",))
    >>> [(found.rule, found.field) for found in check_own_reference(case)]
    [('reference-fails', 'must_have')]
    """
    for found in find_open_expectations(case):
        yield SuspectField(found.rule, found.field, found.message)


def find_open_expectations(case: Case) -> Iterator[OwnReference]:
    """Yield what of the expectations of a case its own reference does not pass by the rules."""
    if case.behaviour != "answer" or not case.reference:
        return
    facts, keywords = judge_reference(case)
    yield from _find(facts, _MUST_HAVE)
    needs_all = case.rubric is not None and case.rubric.match == "all"
    if needs_all or not any(judgment.state == "stated" for judgment in keywords):
        if not needs_all and any(judgment.state == "unknown" for judgment in keywords):
            keywords = [judgment for judgment in keywords if judgment.state == "unknown"]
        yield from _find(keywords, _KEYWORDS)


def _find(judgments: Sequence[FactJudgment], field: str) -> Iterator[OwnReference]:
    failed = [judgment for judgment in judgments if judgment.state in ("denied", "missing")]
    if failed:
        yield OwnReference(REFERENCE_FAILS, field, f"the case's own reference fails it: {_explain(failed)}")
    unsure = [judgment for judgment in judgments if judgment.state == "unknown"]
    if unsure:
        message = f"the rules cannot tell whether the case's own reference states it: {_explain(unsure)}"
        yield OwnReference(REFERENCE_OPEN, field, message)


def _explain(judgments: Sequence[FactJudgment]) -> str:
    explained = []
    for judgment in judgments:
        reason = judgment.reason.replace("the answer", "the reference")  # which is what is read as an answer here
        explained.append(f"{shorten_repr(judgment.fact)} ({judgment.state}: {reason})")
    return "; ".join(explained)
