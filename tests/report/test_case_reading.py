"""`assay explain` says what an answer was read as, and why, without the words of the answer."""

from __future__ import annotations

import pytest

from assay.records.golden_set import Case
from assay.records.observations import Observation
from assay.report.case_text import _describe_reading


def _read(answer: str) -> str:
    case = Case(id="c1", question="When does the warranty end?")
    return _describe_reading(case, Observation(config_id="a", case_id="c1", answer=answer))


@pytest.mark.parametrize("answer", ["It ends on 3 May.", ""])
def test_a_plain_answer_needs_no_reading(answer: str) -> None:
    assert "" == _read(answer)


def test_a_phrase_is_named() -> None:
    assert 'abstain ("not mention the")' == _read("The documents do not mention the warranty.")


def test_free_wording_is_explained_by_classes_of_words_alone() -> None:
    reading = _read("My Orion notes are blank on this, sorry.")
    assert reading.startswith("abstain (<")
    assert "orion" not in reading
