"""One text for every question is said once, as what to doubt; one refusal where nothing else is expected is not."""

from __future__ import annotations

from typing import Any

import pytest

import assay
from assay.scoring.one_answer import ONE_ANSWER, describe_one_answer, merge_shared_texts, note_answers

BAD_GATEWAY = "502 Bad Gateway nginx"
ROWS: list[dict[str, Any]] = [
    {"id": f"q{number}", "question": f"What is thing {number}?", "reference": f"{number} days"} for number in range(6)
]


def score(*answers: str | None, rows: list[dict[str, Any]] | None = None) -> assay.Result:
    rows = rows or ROWS
    outputs = [{"case_id": row["id"], "answer": text} for row, text in zip(rows, answers, strict=True)]
    return assay.score(rows, outputs)


def test_one_text_for_all_questions_is_the_first_doubt_and_the_text_is_not_shown() -> None:
    notice = repr(score(*[BAD_GATEWAY] * 5, f" {BAD_GATEWAY}\n"))
    assert f"6 answers{ONE_ANSWER}: an error page" in notice
    assert BAD_GATEWAY not in notice


@pytest.mark.parametrize(
    ("answers", "rows"),
    [
        ([*[BAD_GATEWAY] * 5, "5 days"], ROWS),
        (["I do not know."] * 6, [row | {"behaviour": "abstain"} for row in ROWS]),
        (["3 days"] * 6, [row | {"question": "How long?"} for row in ROWS]),
        (["3 days"] * 2, ROWS[:2]),
        ([""] * 6, ROWS),
    ],
)
def test_other_texts_few_questions_and_expected_refusals_are_no_doubt(
    answers: list[str], rows: list[dict[str, Any]]
) -> None:
    assert ONE_ANSWER not in " ".join(score(*answers, rows=rows).scoring.warnings)


def test_parts_of_the_outputs_are_told_together() -> None:
    result = score(*[BAD_GATEWAY] * 6)
    cases, observations = zip(*[(case.case, case.observation) for case in result.cases], strict=True)
    parts: list[dict[str, Any]] = [{}, {}, {}]
    for part, low in zip(parts, (0, 2, 4), strict=True):
        note_answers(part, cases[low : low + 2], observations[low : low + 2])
    (notice,) = describe_one_answer(merge_shared_texts(parts))
    assert notice.startswith(f"outputs: 6 answers{ONE_ANSWER}")
    next(iter(parts[1].values())).text = "another"
    assert [] == list(describe_one_answer(merge_shared_texts(parts)))
