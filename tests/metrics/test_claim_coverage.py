"""The share of the claims with a citation next to them, in every form in which answers cite."""

from __future__ import annotations

from typing import Any

import pytest

from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.grounding.claim_coverage import NOT_REPORTED, score_claim_coverage
from assay.metrics.judged.judge_requests import Outcome
from assay.metrics.parsed_answer import NO_CLAIMS, REFUSED, ParsedAnswer
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Observation, Sentence
from assay.records.scores import NOT_APPLICABLE, SCORED


def score(answer: str, must_cite: tuple[str, ...] = (), **members: Any) -> Outcome:
    case = Case("q", "How much leave is there?", reference="12 days", must_cite=must_cite)
    joins = GoldenIndex(GoldenSet((case,)))
    return score_claim_coverage(ParsedAnswer(joins.case_index(0), Observation("q", "a", answer=answer, **members)))


@pytest.mark.parametrize(
    ("answer", "share"),
    [
        ("Staff get 12 days [1]. They carry over five.", 0.5),
        ("Staff get 12 days [leave:v2]. They carry over five [carry:v1].", 1.0),
        ("Staff get 12 days.[^1] They carry over five.\n\n[^1]: leave policy", 0.5),
        ("Staff get 12 days ([policy](https://x.test/leave)). They carry over five.", 0.5),
        ("Staff get [12 days](handbook/leave.md). They [carry over](https://x.test/carry) five.", 1.0),
        ("Staff get 12 days.\u00b9 They carry over five.", 0.5),
        ("Staff get 12 days. They carry over five.", 0.0),
        ("The room has 12 m\u00b2. It is [on the left].", 0.0),
    ],
)
def test_markers_of_every_form_are_seen(answer: str, share: float) -> None:
    outcome = score(answer, citations=("leave:v2", "carry:v1"))
    assert (SCORED, share) == (outcome.status, outcome.value)


def test_reported_sentences_and_a_single_claim_count() -> None:
    sentences = (Sentence("Staff get 12 days.", ("leave",)), Sentence("They carry over five.", ()))
    assert 0.5 == score("Staff get 12 days. They carry over five.", sentences=sentences).value
    assert 1.0 == score("Staff get 12 days.", citations=("leave",)).value
    assert (
        "without a citation: They carry over five."
        == score("Staff get 12 days. They carry over five.", sentences=sentences).detail
    )


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("I could not find any information about this.", REFUSED), ("", NO_CLAIMS), ("Staff get 12 days.", NOT_REPORTED)],
)
def test_where_it_is_undefined(answer: str, reason: str) -> None:
    outcome = score(answer)
    assert (NOT_APPLICABLE, reason) == (outcome.status, outcome.reason)
    assert SCORED == score("Staff get 12 days.", must_cite=("leave",)).status, "a required citation is missed"
