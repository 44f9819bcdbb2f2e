"""Whether cases fail and leak is compared whatever metrics were asked for, and is said with its evidence."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from tests.comparison.sides import Scores, side

import assay
from assay.api import ScoreResult
from assay.comparison.paired_comparison import compare_snapshots
from assay.metrics.case_checks import UNKNOWN_ANSWER
from assay.records.errors import InputError
from assay.records.findings import (
    LABEL_FAILURES,
    Comparison,
    describe_failed_evidence,
    describe_leaks,
    list_leaking_cases,
)
from assay.records.golden_set import Corpus, CorpusChunk
from assay.records.release_gates import Decision
from assay.records.scores import CaseChecks
from assay.report.findings.flipped_cases import list_flipped_cases
from assay.report.screen.comparison_screen import render_short_comparison
from assay.scoring.paired_scores import ScoreSnapshot

SIZE = 24
ALL_WELL = [0.0] * SIZE
DECISION = Decision("NOT_GATED", ())


def make_side(
    failed: Scores,
    name: str,
    *,
    unknown: Sequence[int] = (),
    leaks: Scores = ALL_WELL,
    metrics: Sequence[str] = ("recall@10",),
) -> ScoreSnapshot:
    """A side that was asked for some metrics, and of whose cases some are unknown by their checks."""
    made = side({"recall@10": [1.0] * SIZE, "failed": failed, "visibility_leaks": leaks}, name, metrics=metrics)
    checks = tuple(CaseChecks(f"c{row}", (), (UNKNOWN_ANSWER,)) for row in unknown)
    return replace(made, table=replace(made.table, checks=checks))


def fail_first(count: int) -> list[float]:
    return [1.0] * count + [0.0] * (SIZE - count)


def print_comparison(comparison: Comparison) -> str:
    return "\n".join(render_short_comparison(comparison, DECISION, 160).lines)


def test_failed_cases_are_compared_although_nobody_asked_for_them() -> None:
    comparison = compare_snapshots(make_side(fail_first(11), "old"), make_side(ALL_WELL, "new"))
    change = comparison.metrics["failed"]
    assert ("improved", "headline") == (change.verdict, change.family)
    printed = print_comparison(comparison)
    assert "No significant change" not in printed
    assert " - Failed cases improved: 0.458 → 0.000" in printed
    assert "Cases: 0 fail now, 11 no longer (c0, c1, c2, …); significantly fewer: adjusted p 0.001" in printed
    back = compare_snapshots(make_side(ALL_WELL, "old"), make_side(fail_first(11), "new"))
    assert describe_failed_evidence(back) == "significantly more: adjusted p 0.001"
    assert "(significantly more: adjusted p 0.001)" in repr(back)


def test_a_few_cases_are_said_not_to_be_shown() -> None:
    comparison = compare_snapshots(make_side(fail_first(2), "old"), make_side(ALL_WELL, "new"))
    assert "2 no longer (c0, c1); not significant: adjusted p 0.500" in print_comparison(comparison)


def test_nothing_to_compare_is_still_refused() -> None:
    with pytest.raises(InputError, match="nothing to compare"):
        compare_snapshots(make_side(ALL_WELL, "old"), make_side(ALL_WELL, "new"), metrics=["hit@5"])


def test_what_was_not_asked_for_is_not_tested_on_slices() -> None:
    comparison = compare_snapshots(make_side(ALL_WELL, "old"), make_side(ALL_WELL, "new"))
    assert {"recall@10", "failed", "visibility_leaks"} == set(comparison.metrics)
    assert all("failed" not in metrics for metrics in comparison.slices.values())


@pytest.mark.parametrize(("unknown", "verdict"), [((), "improved"), (range(11), "not significant")])
def test_fewer_fail_only_if_that_holds_with_the_unknown_counted_as_failed(unknown: Sequence[int], verdict: str) -> None:
    before, after = make_side(fail_first(11), "old"), make_side(ALL_WELL, "new", unknown=unknown)
    change = compare_snapshots(before, after).metrics["failed"]
    assert (verdict, 11) == (change.verdict, len(change.improved))
    assert bool(unknown) == ("11 cases failed nothing and may be wrong (unknown)" in change.note)


def test_the_p_of_a_gain_is_that_of_the_gain_that_is_certain() -> None:
    """Of eleven cases that fail no longer two are unknown: nine gains and no loss have p = 2/2^9."""
    before, after = make_side(fail_first(11), "old"), make_side(ALL_WELL, "new", unknown=(0, 1))
    assert 2 / 2**9 == pytest.approx(compare_snapshots(before, after).metrics["failed"].p)


def test_more_fail_only_if_that_holds_with_the_unknown_of_the_baseline_counted_as_failed() -> None:
    before, after = make_side(ALL_WELL, "old", unknown=range(8)), make_side(fail_first(11), "new")
    change = compare_snapshots(before, after).metrics["failed"]
    assert ("not significant", 11) == (change.verdict, len(change.regressed))


def test_a_case_that_leaks_more_than_before_is_told_first_and_explained_first() -> None:
    old = make_side(ALL_WELL, "old", leaks=[0.0, 0.0, 0.0, 1.0, 2.0, *([0.0] * 19)])
    new = make_side(fail_first(5), "new", leaks=[0.0, 0.0, 0.0, 3.0, 2.0, *([0.0] * 19)])
    comparison = compare_snapshots(old, new)
    assert (("c3",), True) == (list_leaking_cases(comparison).more_now, list_leaking_cases(comparison).is_worse)
    sentence = "leaks: more than before in 1 case (c3), still in other cases"
    assert sentence == describe_leaks(comparison)
    lines = render_short_comparison(comparison, Decision("FAIL", ("a rule is violated",)), 160).lines
    assert sentence == lines[1]
    assert "c3" == list_flipped_cases(comparison).fail_now[0]
    fewer = compare_snapshots(new, old)
    assert not list_leaking_cases(fewer).is_worse
    assert "leaks: some cases, on both sides alike" == describe_leaks(fewer)


@pytest.mark.slow
def test_labels_that_a_corpus_cut_anew_does_not_have_fail_no_system() -> None:
    days = [f"{number} days" for number in range(12, 24)]
    golden = [
        {
            "id": f"q{number}",
            "question": f"How long is item {number} lent?",
            "behaviour": "answer",
            "must_have": [text],
            "expected_chunk_ids": [f"item-{number}"],
        }
        for number, text in enumerate(days)
    ]

    def score(ending: str, wrong: int = 0, config: str = "search") -> ScoreResult:
        texts = [f"Item {number} is lent for {text}." for number, text in enumerate(days)]
        ids = [f"item-{number}{ending}" for number in range(len(days))]
        corpus = Corpus({name: CorpusChunk(name, text=text) for name, text in zip(ids, texts, strict=True)})
        answers = ["It is lent for 99 days." if row < wrong else text for row, text in enumerate(texts)]
        outputs = [
            {
                "case_id": f"q{row}",
                "config_id": config,
                "answer": text,
                "stages": [{"name": "context", "chunks": [name]}],
            }
            for row, (name, text) in enumerate(zip(ids, answers, strict=True))
        ]
        return assay.score(golden, outputs, corpus=corpus, progress=False)

    whole, cut = score(""), score("/part")
    assert 12 == len(cut.failed) and not whole.failed
    (reason, _) = cut.decision.reasons
    assert reason.startswith("the labels of 12 of 12 cases are not in the corpus: their rankings were not measured (")
    comparison = assay.compare(baseline=whole, candidate=cut)
    failed = comparison.metrics["failed"]
    assert ("not significant", 0) == (failed.verdict, len(failed.regressed))
    (note,) = [note for note in comparison.notes if note.endswith(LABEL_FAILURES)]
    assert "the evidence of 12 cases" in note and note in repr(comparison)
    assert "improved" not in repr(assay.compare(baseline=cut, candidate=whole))
    # Answers that are wrong fail all the same, and no search is accused of what nobody can tell.
    worse = assay.compare(baseline=whole, candidate=score("/part", wrong=10))
    assert ("regressed", 10) == (worse.metrics["failed"].verdict, len(worse.metrics["failed"].regressed))
    assert any("not in the candidate's corpus as it was labelled" in line for line in worse.moved)
    assert not any("retriever" in line for line in worse.moved)
    # A label that is outdated on both sides is the same failure on both.
    both = assay.compare(baseline=cut, candidate=score("/other"))
    assert not any(note.endswith(LABEL_FAILURES) for note in both.notes)
