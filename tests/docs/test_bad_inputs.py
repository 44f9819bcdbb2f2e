"""The page of bad inputs is that of its table, and every row names tests that exist."""

from __future__ import annotations

from scripts.bad_inputs import PAGE, find_problems, load_table, render_page


def test_every_bad_input_names_tests_that_exist() -> None:
    assert [] == find_problems()
    assert sum(len(rows) for rows in load_table().values()) >= 88


def test_the_page_of_bad_inputs_is_up_to_date() -> None:
    assert render_page() == PAGE.read_text(encoding="utf-8"), "run python scripts/bad_inputs.py"
