"""Votes of a judge folded by hand: majority, median, quorum, ties, and when one more vote is asked for."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from assay.metrics.judged.vote_folding import fold_votes, is_ordinal_rubric, needs_more_votes
from assay.records.verdicts import ItemVerdict, JudgeRubric, RubricLabel, Verdict


def rubric(name: str, **labels: float) -> JudgeRubric:
    return JudgeRubric(
        name, "1", "en", "?", (), tuple(RubricLabel(label, "", value) for label, value in labels.items())
    )


SCALE = rubric("correctness", right=1.0, half=0.5, wrong=0.0)
SUPPORT = rubric("support", supported=1.0, contradicted=0.0, not_found=0.0)


def vote(number: int, *labels: str, unscored: str | None = None, flags: tuple[str, ...] = ()) -> Verdict:
    """One sample that labels the items c1, c2 …"""
    items = tuple(
        ItemVerdict(f"c{position}", label, quote=f"quote {number}") for position, label in enumerate(labels, 1)
    )
    return Verdict("request", "judge", number, "r", items, unscored, flags=flags)


def votes(*labels: str) -> list[Verdict]:
    """One sample for each label of a single item; `-` is an unscored one."""
    return [
        vote(n, unscored="judge_parse") if label == "-" else vote(n, label) for n, label in enumerate(labels)
    ]  # fmt: skip


def test_a_scale_is_a_rubric_whose_labels_have_numbers_of_their_own() -> None:
    assert [True, False] == [is_ordinal_rubric(SCALE), is_ordinal_rubric(SUPPORT)]


@pytest.mark.parametrize(
    ("cast", "label", "value"),
    [
        (["right"], "right", 1.0),
        (["right", "wrong", "half"], "half", 0.5),  # the median of 1, 0 and .5; a majority does not exist
        (["right", "right", "wrong"], "right", 1.0),
        (["wrong", "half", "wrong", "right", "half"], "half", 0.5),  # 0 0 .5 .5 1
        (["right", "-", "right"], "right", 1.0),
    ],
)
def test_a_scale_takes_the_median(cast: list[str], label: str, value: float) -> None:
    (item,) = fold_votes(votes(*cast), SCALE).items
    assert (label, value) == (item.label, item.value)


@pytest.mark.parametrize(
    ("cast", "label"),
    [
        (["supported", "not_found", "supported"], "supported"),
        (["contradicted", "not_found", "not_found"], "not_found"),
        (["supported", "supported", "not_found", "contradicted", "not_found"], None),  # 2, 2 and 1
        (["supported", "not_found", "contradicted"], None),
        (["supported", "not_found", "contradicted", "supported", "supported"], "supported"),
    ],
)
def test_other_labels_take_the_majority_and_a_tie_stays_unscored(cast: list[str], label: str | None) -> None:
    (item,) = fold_votes(votes(*cast), SUPPORT).items
    assert (label, None if label else "tie") == (item.label, item.unscored)


def test_two_votes_of_a_scale_that_differ_are_a_tie() -> None:
    (item,) = fold_votes(votes("right", "wrong"), SCALE).items
    assert ("tie", 1.0) == (item.unscored, item.spread)


@pytest.mark.parametrize(
    ("cast", "why"),
    [
        (["-"], "judge_parse"),
        (["right"], None),
        (["-", "right", "-"], "quorum"),
        (["-", "right"], "quorum"),  # several were asked for, and the third never came
        (["right", "-", "right"], None),
        ([], "quorum"),
    ],
)
def test_the_quorum_is_two_of_three(cast: list[str], why: str | None) -> None:
    assert why == fold_votes(votes(*cast), SCALE).unscored


@pytest.mark.parametrize(
    ("label", "votes_asked", "why"),
    [
        ("right", 1, None),
        ("half", 1, None),  # `--votes 1`: nobody asks for more
        ("right", 3, "quorum"),
        ("right", 0, None),  # one was enough
        ("half", 0, "quorum"),  # halfway: it asks for more, and the judging stopped before they came
    ],
)
def test_one_vote_of_three_is_no_ruling(label: str, votes_asked: int, why: str | None) -> None:
    alone = replace(vote(0, label), votes=votes_asked)
    ruling = fold_votes([alone], SCALE)
    assert (why, why is not None or label == "half") == (ruling.unscored, ruling.ambiguous)


def test_the_reason_of_most_unscored_samples_is_reported() -> None:
    samples = [vote(0, unscored="quote"), vote(1, unscored="refused"), vote(2, unscored="quote")]
    assert "quote" == fold_votes(samples, SCALE).unscored


def test_items_are_folded_one_by_one_and_keep_the_first_quote_of_their_label() -> None:
    ruling = fold_votes(
        [vote(0, "supported", "not_found"), vote(1, "supported", "contradicted"), vote(2, "supported", "contradicted")],
        SUPPORT,
    )
    first, second = ruling.items
    assert ("supported", 1.0, 0.0) == (first.label, first.agreement, first.spread)
    assert ("contradicted", 2 / 3, 0.0) == (second.label, second.agreement, second.spread)  # both are worth 0
    assert second.first_vote is not None and "quote 1" == second.first_vote.quote
    assert (True, 3, 3) == (ruling.ambiguous, ruling.votes, ruling.scored)


def test_the_spread_is_reported_in_values() -> None:
    assert 1.0 == fold_votes(votes("right", "wrong", "right"), SCALE).spread
    assert 0.5 == fold_votes(votes("right", "half", "right"), SCALE).spread


def test_a_label_that_the_rubric_does_not_have_is_off_the_menu() -> None:
    (item,) = fold_votes(votes("excellent"), SCALE).items
    assert ("off_menu", None) == (item.unscored, item.value)


@pytest.mark.parametrize(
    ("cast", "more"),
    [
        ([], True),
        (["right"], False),
        (["half"], True),  # halfway
        (["-"], True),
        (["half", "half"], True),  # three were decided on, two have come
        (["half", "half", "half"], False),  # halfway, and all agree
        (["right", "right", "right"], False),
        (["half", "right", "right"], True),  # they differ
        (["half", "right", "right", "right"], True),
        (["half", "right", "right", "wrong", "half"], False),  # five are the most
    ],
)
def test_one_vote_then_three_then_five(cast: list[str], more: bool) -> None:
    assert more == needs_more_votes(votes(*cast), SCALE)


def test_a_flagged_injection_asks_for_more_and_a_spent_budget_for_nothing() -> None:
    assert needs_more_votes([vote(0, "right", flags=("injection",))], SCALE)
    assert not needs_more_votes([vote(0, "right", flags=("repaired",))], SCALE)
    assert not needs_more_votes([vote(0, unscored="budget")], SCALE)
