"""Citations against judgments: shares judged and relevant, mean grade, sentences that cite."""

from __future__ import annotations

import pytest

import assay
from assay.records.golden_set import Case, Evidence, GoldenSet, Judgments
from assay.records.observations import Observation, Sentence

JUDGED = (("a", 3), ("b", 1), ("c", 0))
METRICS = ("cited_judged", "cited_relevant", "cited_relevant(rel=2)", "cited_grade", "sentence_coverage")


def golden(judgments: Judgments = "partial", judged: tuple[tuple[str, int], ...] = JUDGED) -> GoldenSet:
    units = tuple(Evidence(({"chunk_id": name},), grade, grade > 0) for name, grade in judged)
    return GoldenSet((Case("q", "Why?", evidence=units),), judgments=judgments)


def scores(observation: Observation, golden: GoldenSet) -> dict[str, float | str]:
    table = assay.score(golden, [observation], metrics=METRICS).table("c")
    cells: dict[str, float | str] = {}
    for name in METRICS:
        column = table.columns[name]
        cells[name] = float(column.values[0]) if column.status[0] == 0 else column.reasons[column.reason[0]]
    return cells


def test_shares_are_of_judged_citations_and_each_citation_counts_once() -> None:
    """a (3), b (1), c (0) are judged, x is not: 3 of 4 judged, 2 of 3 relevant, 1 of 3 at grade 2, mean (3+1+0)/3."""
    pieces = (Sentence("One.", ("a", "b")), Sentence("Two."), Sentence("Three.", ("c", "x", "a")))
    observation = Observation(
        "q", "c", citations=("a", "b", "c", "x", "a"), sentences=pieces, answer="One. Two. Three."
    )
    assert [3 / 4, 2 / 3, 1 / 3, 4 / 3, 2 / 3] == list(scores(observation, golden()).values())


def test_unjudged_citations_say_nothing_about_quality() -> None:
    cells = scores(Observation("q", "c", citations=("x", "y"), answer="One."), golden())
    assert 0.0 == cells["cited_judged"]
    assert ["no judged citation"] * 3 == [cells[name] for name in METRICS[1:4]]


@pytest.mark.parametrize(
    ("citations", "kind", "judged", "reason"),
    [
        (None, "partial", JUDGED, "citations not reported"),
        ((), "partial", JUDGED, "no citations"),
        (("a",), "partial", (), "nothing was judged for this case"),
        (("a",), "complete", JUDGED, "the golden set is judged completely"),
    ],
)
def test_without_judged_citations_the_metrics_do_not_apply(
    citations: tuple[str, ...] | None, kind: Judgments, judged: tuple[tuple[str, int], ...], reason: str
) -> None:
    cells = scores(Observation("q", "c", citations=citations, answer="One."), golden(kind, judged))
    assert [reason] * 4 == [cells[name] for name in METRICS[:4]]
    assert "sentences not reported" == cells["sentence_coverage"]


def test_an_answer_without_sentences_has_no_coverage() -> None:
    assert "no sentences" == scores(Observation("q", "c", sentences=(), answer=""), golden())["sentence_coverage"]
