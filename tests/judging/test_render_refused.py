"""Requests that cannot be put to a judge are refused before anything is sent."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs
from tests.judging.asking import CLAIMS, CONTEXT, JUDGE, RUBRICS, rendered, request_for, support_request

from assay.judging.prompt import render_request
from assay.records.errors import InputError


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"claims": [*CLAIMS, CLAIMS[0]]}, "each id once"),
        ({"claims": []}, "each id once"),
        ({"claims": "Notice is 30 days."}, "entry of input claims|each id once|expected"),
        ({"context": [*CONTEXT, CONTEXT[0]]}, "no id twice"),
        ({"context": [{"text": "x"}]}, "an id for each"),
        ({"context": [{"id": "x"}]}, "entry of input context"),
        ({"context": [{"id": "x", "text": None}]}, "entry of input context"),
        ({"context": {"x": "y"}}, "a list of entries"),
        ({"question": 3}, "expected a text"),
    ],
)
def test_requests_that_are_not_whole_are_refused(changed: dict[str, Any], said: str) -> None:
    request = structs.replace(support_request(), inputs={**support_request().inputs, **changed})
    if isinstance(changed.get("claims"), list):
        request = structs.replace(request, items=tuple(entry["id"] for entry in changed["claims"]))
    with pytest.raises(InputError, match=said):
        rendered(request)


def test_a_citation_of_a_source_that_is_not_there_is_refused() -> None:
    rubric = RUBRICS["citation_support", "en"]
    inputs = {"citations": [{"id": "1", "text": "x", "source": "gone"}], "question": "?", "context": CONTEXT}
    with pytest.raises(InputError, match=r"names a source that is not there \(got 'gone'"):
        render_request(request_for(rubric, inputs, ("1",)), rubric, JUDGE, 0)


def test_labels_and_rubric_have_to_be_those_that_were_locked() -> None:
    with pytest.raises(InputError, match="another rubric"):
        rendered(structs.replace(support_request(), rubric_hash="sha256:old"))
    with pytest.raises(InputError, match="labels of support"):
        rendered(structs.replace(support_request(), labels=("supported", "great")))
