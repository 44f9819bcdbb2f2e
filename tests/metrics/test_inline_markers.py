"""Markers in the text of an answer are checked, whatever the target reports next to it."""

from __future__ import annotations

import pytest

import assay
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.grounding.inline_markers import read_inline_markers
from assay.metrics.parsed_answer import ParsedAnswer
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Chunk, Observation, Stage
from assay.records.scores import SCORED

LEAVE, ROOMS, PAY = "leave:v1:c1", "rooms:v2:c1", "pay:v1:c2"
TEXTS = {
    LEAVE: "Staff get 12 days of leave.",
    ROOMS: "Rooms are booked online for two hours.",
    PAY: "Salaries are paid on the 25th of each month.",
}
CONTEXT = (Stage("context", tuple(Chunk(chunk_id, text=text) for chunk_id, text in TEXTS.items())),)
BOTH = "Staff get 12 days of leave [{}]. Salaries are paid on the 25th [{}]."


def score(answer: str, citations: tuple[str, ...] | None) -> dict[str, float | str]:
    observation = Observation("q", "c", answer=answer, behaviour="answer", citations=citations, stages=CONTEXT)
    names = ["citation_correctness(by=rules)", "citation_exists", "citation_coverage", "unreported_markers"]
    table = assay.score(GoldenSet((Case("q", "How many days?"),)), [observation], metrics=names).table("c")
    scores: dict[str, float | str] = {}
    for name in names:
        column = table.columns[name]
        is_scored = column.status[0] == SCORED
        scores[name.partition("(")[0]] = float(column.values[0]) if is_scored else column.reasons[column.reason[0]]
    failed = {name for checks in table.checks for name in checks.failed}
    warnings = {name for checks in table.checks for name in checks.warnings}
    return scores | {"failed": "bad_citation" in failed, "warned": "unreported_marker" in warnings}


@pytest.mark.parametrize(
    ("answer", "citations"),
    [
        (BOTH.format(1, 3), None),  # places in the context
        (BOTH.format(1, 3), (LEAVE, PAY)),
        (BOTH.format(1, 2), (LEAVE, PAY)),  # places in the reported list
        (BOTH.format(LEAVE, PAY), None),
        (BOTH.format(LEAVE, PAY), (LEAVE, PAY)),
        (BOTH.format("^1", "^3"), (LEAVE, PAY)),
        ("Staff get 12 days of leave [4].\n\n[4] handbook.md", (LEAVE,)),  # its own list of sources
        ("Staff get 12 days of leave [1]. Use `items[0]`, then days[0].", (LEAVE,)),
        ("Staff get 12 days of leave [INC-2024-001].", (LEAVE,)),
        ("Staff get 12 days of leave.", (LEAVE,)),
    ],
)
def test_markers_that_are_right_in_a_usual_way_to_count_are_not_accused(
    answer: str, citations: tuple[str, ...] | None
) -> None:
    scores = score(answer, citations)
    assert (1.0, 1.0) == (scores["citation_correctness"], scores["citation_exists"])
    assert not scores["failed"]
    assert not scores["warned"]


@pytest.mark.parametrize("citations", [None, (LEAVE,)])
@pytest.mark.parametrize("marker", ["9", "0", "leave:v1:c9", "^9"])
def test_a_marker_that_names_nothing_is_a_bad_citation(marker: str, citations: tuple[str, ...] | None) -> None:
    scores = score(f"Staff get 12 days of leave [{marker}].", citations)
    assert scores["citation_correctness"] == 0
    assert float(scores["citation_exists"]) < 1
    assert scores["failed"]


def test_a_number_that_names_nothing_leaves_the_others_their_places() -> None:
    observation = Observation("q", "c", answer=BOTH.format(1, 9), behaviour="answer", stages=CONTEXT)
    markers = read_inline_markers(make_reading(observation))
    assert ((LEAVE,), ("9",)) == (markers.named, markers.dangling)


def test_a_marker_copied_from_a_source_is_not_accused() -> None:
    context = (Stage("context", (Chunk(LEAVE, text="Staff get 12 days of leave.[9]"),)),)
    observation = Observation("q", "c", answer="Staff get 12 days of leave.[9]", behaviour="answer", stages=context)
    assert read_inline_markers(make_reading(observation)).dangling == ()


def test_without_a_reported_context_no_number_is_accused() -> None:
    observation = Observation("q", "c", answer=BOTH.format(1, 9), behaviour="answer", citations=(LEAVE,))
    assert read_inline_markers(make_reading(observation)).dangling == ()


def test_a_marker_that_the_reported_citations_leave_out_is_named() -> None:
    scores = score(BOTH.format(1, 3), (LEAVE,))
    assert scores["unreported_markers"] == 1
    assert scores["warned"]
    assert not scores["failed"]
    observation = Observation(
        "q", "c", answer=BOTH.format(1, 3), behaviour="answer", citations=(LEAVE,), stages=CONTEXT
    )
    assert read_inline_markers(make_reading(observation)).unreported == (("3", PAY),)


def test_markers_of_an_answer_without_reported_citations_count() -> None:
    assert score(BOTH.format(1, 3), None)["citation_coverage"] == pytest.approx(2 / 3)
    assert score("Staff get 12 days of leave.", None)["citation_correctness"] == "citations not reported"


def make_reading(observation: Observation) -> ParsedAnswer:
    golden_set = GoldenSet((Case("q", "How many days?"),))
    return ParsedAnswer(GoldenIndex(golden_set).case_index(0), observation)
