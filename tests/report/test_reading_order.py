"""What readers of a report find first: what leaves the decision open, whether answers are right, and short lists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.report.counted_runs import RECIPES, Recipe, make_outputs

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("recipe", "first"),
    [
        (Recipe({"plain": ("refused", "refused", "good", "error", "good")}, ("recall@10, at_least: 0.2",)), "badge-3"),
        (
            Recipe({"plain": ("refused", "refused", "good", "missing", "good")}, ("recall@10, at_least: 0.2",)),
            "badge-3",
        ),
        (Recipe({"plain": ("refused", "refused", "good", "error", "good")}), "leave-0"),  # nothing is left open by it
        (Recipe({"plain": ("refused", "refused", "leak", "error", "good")}, ("recall@10, at_least: 0.2",)), "gym-2"),
    ],
)
def test_what_to_do_first_begins_with_what_leaves_the_decision_open(tmp_path: Path, recipe: Recipe, first: str) -> None:
    causes = make_outputs(tmp_path, recipe).page["failures"][0]["causes"]
    assert first == causes[0]["cases"][0]


def test_the_first_metric_says_whether_answers_are_right_for_the_run_and_for_its_slices(tmp_path: Path) -> None:
    page = make_outputs(tmp_path, RECIPES["two configurations"]).page
    assert "correct_answer" == page["headlines"][0]
    assert ["Answer correctness", "Recall@10", "MRR@10", "nDCG@10"] == page["slices"]["columns"][:4]
    by_name = {metric["name"]: metric["title"] for metric in page["metrics"]}
    assert {"Citation correctness", "Context recall", "Behaviour"} <= set(page["slices"]["columns"])
    assert set(page["slices"]["columns"]) <= set(by_name.values())  # one name for each metric on the page


def test_what_was_not_measured_comes_last_among_the_first_metrics(tmp_path: Path) -> None:
    page = make_outputs(tmp_path, RECIPES["not applicable"]).page
    by_name = {metric["name"]: metric["by"][0]["value"] for metric in page["metrics"]}
    measured = [by_name[name] is not None for name in page["headlines"]]
    assert measured == sorted(measured, reverse=True)
    assert measured[0] and not measured[-1]


def test_slices_have_no_column_of_what_was_not_measured(tmp_path: Path) -> None:
    slices = make_outputs(tmp_path, RECIPES["not applicable"]).page["slices"]
    assert {"Citation correctness", "Behaviour"} == set(slices["columns"])
    assert all(len(row["cells"]) == 2 for row in slices["rows"])


def test_limitations_count_metrics_of_which_there_are_many(tmp_path: Path) -> None:
    outputs = make_outputs(tmp_path, RECIPES["nothing but errors"])
    (unmeasured,) = [line for line in outputs.page["limits"] if "requested but not measured" in line]
    assert len(unmeasured) < 800
    assert re.search(r"; \d\d metrics, such as [\w(),=]+, [\w(),=]+, [\w(),=]+ \(target error: E_HTTP\)", unmeasured)
    assert re.search(r"\bfile_precision, file_recall, symbol_recall \(the case lists none\)", unmeasured)
