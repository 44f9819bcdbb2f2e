"""How often a pass is wrong by a sample that people read: what counts, and that the interval holds the true share."""

from __future__ import annotations

import numpy as np
import pytest

from assay.metrics.cases.case_index import CaseIndex, GoldenIndex
from assay.metrics.cases.settled_answers import SETTLED_METRICS
from assay.records.golden_set import Case, GoldenSet
from assay.records.scores import PassSample
from assay.scoring import passed_answers
from assay.scoring.passed_answers import (
    FOUND_RIGHT,
    FOUND_WRONG,
    LEFT_OPEN,
    NOT_PASSED,
    UNREAD,
    PassRows,
    describe_pass_sample,
    measure_pass_sample,
)
from assay.stats.arrays import BoolArray


def make_passes(readings: list[int], *, draws: list[int] | None = None, failed: int = 0) -> PassRows:
    """Passes with these readings in the order of the draw, and some rows that failed before them."""
    numbers = draws or list(range(1, len(readings) + 1))
    return PassRows(
        np.array([NOT_PASSED] * failed + [0] * len(readings), dtype=np.int8),
        np.array([0] * failed + numbers, dtype=np.uint64),
        np.array([UNREAD] * failed + readings, dtype=np.uint8),
    )


def read(passes: PassRows, *sizes: int) -> PassSample:
    sample = measure_pass_sample(passes, sizes)
    assert sample is not None
    return sample


def read_first(is_wrong: BoolArray, draws: list[int], size: int, others: BoolArray | None = None) -> PassSample:
    """The sample where people read the first so many, and others for whatever reason."""
    is_read = np.zeros(len(is_wrong), dtype=np.bool_) if others is None else others.copy()
    is_read[np.argsort(draws)[:size]] = True
    readings = np.where(is_read, np.where(is_wrong, FOUND_WRONG, FOUND_RIGHT), UNREAD)
    return read(make_passes(readings.tolist(), draws=draws), size)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("passed", "wrong", "size"), [(60, 0, 12), (60, 3, 20), (180, 9, 30), (40, 30, 10), (25, 2, 25)]
)
def test_the_interval_holds_the_true_share_at_least_as_often_as_it_says(passed: int, wrong: int, size: int) -> None:
    """The draws are the real ones: 400 sets of cases, each with answers of which the same ones are wrong."""
    is_wrong = np.arange(passed) < wrong
    held = 0
    for number in range(400):
        golden = GoldenSet(tuple(Case(f"set {number} case {case}", "How many?") for case in range(passed)))
        joins = GoldenIndex(golden, None)
        draws = [
            passed_answers.number_draw(CaseIndex(case, joins), "correct_answer", "Twelve.") for case in golden.cases
        ]
        sample = read_first(is_wrong, draws, size)
        low, high = (
            (sample.share_wrong, sample.share_wrong)
            if sample.interval is None
            else (sample.interval.low, sample.interval.high)
        )
        assert low is not None
        assert high is not None
        held += low <= wrong / passed <= high
    assert held / 400 >= 0.95 - 1.645 * (0.95 * 0.05 / 400) ** 0.5


def test_answers_that_were_read_for_another_reason_change_nothing() -> None:
    """People who look for errors label every wrong answer; others label nothing but what is easy, and right."""
    generator = np.random.Generator(np.random.PCG64(7))
    for _ in range(200):
        is_wrong = generator.random(90) < 0.1
        draws = generator.permutation(np.arange(1, 91)).tolist()
        alone = read_first(is_wrong, draws, 20)
        assert read_first(is_wrong, draws, 20, others=is_wrong) == alone
        assert read_first(is_wrong, draws, 20, others=~is_wrong & (generator.random(90) < 0.9)) == alone


def test_labels_without_a_sample_tell_nothing_of_what_passed() -> None:
    passes = make_passes([FOUND_WRONG, FOUND_RIGHT, UNREAD, UNREAD])
    assert measure_pass_sample(passes, ()) is None
    assert measure_pass_sample(make_passes([UNREAD, UNREAD, FOUND_RIGHT]), [2]) is None
    assert measure_pass_sample(make_passes([], failed=3), [2]) is None


def test_the_share_is_known_where_every_pass_was_read_for_whatever_reason() -> None:
    sample = read(make_passes([FOUND_RIGHT, FOUND_WRONG, FOUND_RIGHT, FOUND_RIGHT], failed=2))
    assert (sample.passed, sample.drawn, sample.share_wrong, sample.interval) == (4, 4, 0.25, None)
    assert describe_pass_sample(sample) == "people read all 4 answers that rules passed: 1 is wrong (25%)"


def test_open_and_unread_answers_may_be_wrong_or_right() -> None:
    sample = read(make_passes([FOUND_RIGHT] * 6 + [FOUND_WRONG, LEFT_OPEN, UNREAD, FOUND_RIGHT] + [UNREAD] * 30), 10)
    assert (sample.right, sample.wrong, sample.unclear, sample.unread, sample.share_wrong) == (7, 1, 1, 1, None)
    surely = read(make_passes([FOUND_RIGHT] * 9 + [FOUND_WRONG] + [UNREAD] * 30), 10)
    at_worst = read(make_passes([FOUND_RIGHT] * 7 + [FOUND_WRONG] * 3 + [UNREAD] * 30), 10)
    assert sample.interval is not None
    assert surely.interval is not None
    assert at_worst.interval is not None
    assert (sample.interval.low, sample.interval.high) == (surely.interval.low, at_worst.interval.high)
    said = describe_pass_sample(sample)
    assert said.startswith("people read 9 of 10 drawn at random from the 40 answers that rules passed")
    assert "1 is wrong, 1 is unclear (of all 40 between 2.5% and" in said


def test_of_several_samples_the_most_complete_counts_and_of_equal_ones_the_largest() -> None:
    readings = [FOUND_RIGHT] * 6 + [UNREAD] * 4 + [UNREAD] * 10
    assert read(make_passes(readings), 6, 10).drawn == 6
    assert read(make_passes([FOUND_RIGHT] * 10 + [UNREAD] * 10), 6, 10).drawn == 10
    assert read(make_passes([FOUND_RIGHT, UNREAD, *[FOUND_RIGHT] * 8, *[UNREAD] * 10]), 2, 10).drawn == 10


def test_a_sample_larger_than_what_passed_is_all_of_it() -> None:
    sample = read(make_passes([FOUND_RIGHT, FOUND_WRONG, UNREAD]), 500)
    assert (sample.passed, sample.drawn, sample.unread) == (3, 3, 1)
    assert sample.interval is not None
    assert (sample.interval.low, sample.interval.high) == (1 / 3, 2 / 3)


def test_the_place_of_an_answer_follows_from_what_was_read_and_nothing_else() -> None:
    def place(case: Case, answer: str = "Six.", tags: int = 0) -> int:
        joins = GoldenIndex(GoldenSet((case,)), None)
        return passed_answers.number_draw(CaseIndex(case, joins), SETTLED_METRICS[0], answer)

    case = Case("loan", "How many?", reference="Six.")
    assert place(case) == place(Case("loan", "How many?", reference="Six.", tags=("desk",)))
    others = (
        place(case, "Six!"),
        place(Case("loan-2", "How many?", reference="Six.")),
        place(Case("loan", "How many?", reference="Seven.")),
    )
    assert len({place(case), *others}) == 4
