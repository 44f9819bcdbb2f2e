"""One question under many ids is one question: in intervals, bounds, tests, gates and notes (ADR 228)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import assay
from assay.cli import main
from assay.records.golden_set import Case, Turn, User
from assay.scoring.case_clusters import describe_same_questions, name_clusters, number_clusters

ASKED = "When does the last ferry leave?"


def _case(case_id: str, question: str = ASKED, **fields: Any) -> Case:
    return Case(case_id, question, **fields)


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (_case("b", "when does the  last ferry leave"), True),
        (_case("b", "WHEN DOES THE LAST FERRY LEAVE?!"), True),
        (_case("b", "When does the first ferry leave?"), False),
        (_case("b", user=User(roles=("crew",))), False),
        (_case("b", user=User(as_of="2026-12-24")), False),
        (_case("b", history=(Turn("user", "I mean on Sundays."),)), False),
        (_case("b", reference="At 23:10."), True),  # what is expected does not make it another question
        (_case("b", tags=("night",), language="en"), True),
    ],
)
def test_a_question_is_the_same_word_for_word_of_the_same_user(other: Case, is_same: bool) -> None:
    """Case, spaces and the mark at its end are no words; another user, day or conversation is another question."""
    assert is_same == (number_clusters([_case("a"), other]) is not None)


@pytest.mark.parametrize("question", ["", "?", "…"])
def test_cases_without_a_question_are_not_the_same(question: str) -> None:
    """Sets of TREC have none."""
    assert number_clusters([_case("a", question), _case("b", question)]) is None


def test_copies_join_the_clusters_that_the_set_names() -> None:
    """A copy in a cluster of its own joins that of the other, with all cases of both."""
    cases = [
        _case("a", cluster="evening"),
        _case("b", "Is there a ferry at 23:00?", cluster="evening"),
        _case("c", cluster="night"),
        _case("d", "And at 24:00?", cluster="night"),
        _case("e", "Who sails it?"),
        _case("f"),
    ]
    assert ["evening"] * 4 + ["e", "evening"] == name_clusters(cases)


def test_copies_are_told_once_unless_the_set_says_so_itself() -> None:
    """The note names the cases; marked copies need none."""
    copies = [_case(f"n{row}") for row in range(40)]
    (note,) = describe_same_questions([*copies, _case("o", "Who sails it?")])
    assert "40 cases ask 1 question word for word, as the same user (n0, n1, n2, n3, n4 … and 35 more)" in note
    assert [] == describe_same_questions([replace(case, cluster="ferry") for case in copies])


def _write_copies(folder: Path, count: int) -> list[str]:
    golden = [{"id": f"f{row}", "question": ASKED, "must_have": ["23:10"]} for row in range(count)]
    outputs = [{"case_id": f"f{row}", "config_id": "x", "answer": "It leaves at 23:10."} for row in range(count)]
    for name, rows in (("golden", golden), ("outputs", outputs)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return ["--golden", str(folder / "golden.jsonl"), "--outputs", str(folder / "outputs.jsonl")]


def test_a_hundred_copies_pass_no_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bound asks how other questions would go, and one question does not tell; a saved baseline knows it as well."""
    monkeypatch.setenv("COLUMNS", "250")
    recorded = _write_copies(tmp_path, 100)
    gate = tmp_path / "gate.yaml"
    rule = "{metric: correct_answer, at_least: 0.5, basis: bound}"
    gate.write_text(f"rules: [{rule}]\nzero_tolerance_tags: []\n", encoding="utf-8")
    run, saved = str(tmp_path / "run"), str(tmp_path / "saved.json")
    assert 1 == main(["score", *recorded, "--gate", str(gate), "--run-dir", run, "--no-history"])
    printed = capsys.readouterr().out
    assert "100 cases ask 1 question word for word" in printed.replace("\n", " ")
    assert "E_NEAR_DUPLICATE" not in printed
    assert 0 == main(["baseline", "save", run, "--out", saved])
    assert 1 == main(["gate", "check", saved, "--gate", str(gate)])
    assert ASKED not in Path(saved).read_text(encoding="utf-8")


def test_a_copied_case_widens_the_interval() -> None:
    """As much as if the set had named a cluster, and no less than without the copies."""
    golden = [
        {"id": f"f{row}", "question": f"Who is in cabin {row // 2}?", "must_have": [f"guest {row // 2}"]}
        for row in range(40)
    ]
    outputs = [{"case_id": f"f{row}", "answer": f"It is guest {row // 2 if row > 9 else 99}."} for row in range(40)]
    marked = [row | {"cluster": f"cabin {number // 2}"} for number, row in enumerate(golden)]
    intervals = [
        next(iter(assay.score(rows, outputs).scoring.configs.values())).summary["correct_answer"].interval
        for rows in (golden, marked)
    ]
    assert intervals[0] is not None and intervals[0] == intervals[1]
    assert intervals[0].method == "CR1-t"
