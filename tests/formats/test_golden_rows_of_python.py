"""Golden rows in Python: what a row expects is read or refused, as in files, and one row changes no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.formats.foreign.foreign_files import load_foreign_file
from assay.formats.golden_files import load_golden
from assay.records.errors import InputError
from assay.records.golden_set import GoldenSet
from assay.runs.python_values import read_golden_value

ASKED = {"question": "Who signs the lease?"}
WORDS = "The landlord signs."
MISSPELT = {
    "referense": "reference", "expcted_answer": "expected_answer", "ground_trut": "ground_truth",
    "expected_behaviuor": "expected_behavior", "must_hvae": "must_have", "forbidden_txt": "forbidden_text",
    "Ideal Anwser": "ideal_answer",
}  # fmt: skip
UNKNOWN = ("gold", "Label", "target", "goldText", "correct_value", "the solution")
ACCEPTED = ("expectedResponse", "Correct Answer", "golden_answer", "ideal")


def read_import(tmp_path: Path, row: dict[str, Any]) -> GoldenSet:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return load_foreign_file(path).golden


def describe(read: Callable[[], GoldenSet]) -> Any:
    """Return the cases that are read, or what is wrong with which line."""
    try:
        return read().cases
    except InputError as error:
        return [(problem.line, problem.field, problem.message) for problem in error.problems]


@pytest.mark.parametrize("has_reference", [False, True])
@pytest.mark.parametrize("has_id", [False, True])
@pytest.mark.parametrize("name", MISSPELT)
def test_a_misspelt_expectation_is_refused_with_the_name_that_was_meant(
    tmp_path: Path, name: str, has_id: bool, has_reference: bool
) -> None:
    row: dict[str, Any] = {
        **ASKED,
        **({"id": "lease"} if has_id else {}),
        **({"reference": WORDS} if has_reference else {}),
    }
    row[name] = [WORDS] if name.startswith(("must", "forbidden")) else WORDS
    with pytest.raises(InputError) as from_python:
        read_golden_value([row])
    with pytest.raises(InputError) as from_import:
        read_import(tmp_path, row)
    for refused in (from_python, from_import):
        assert any(name in str(problem) and MISSPELT[name] in problem.message for problem in refused.value.problems)


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_row_whose_only_expectation_is_not_read_is_refused_and_a_note_is_not(tmp_path: Path, name: str) -> None:

    def read_value(row: dict[str, Any]) -> GoldenSet:
        return read_golden_value([row])

    def read_file(row: dict[str, Any]) -> GoldenSet:
        return read_import(tmp_path, row)

    for read in (read_value, read_file):
        with pytest.raises(InputError, match=r"not read, and nothing else says what is expected .*expected it under"):
            read({**ASKED, name: WORDS})
        assert 1 == len(read({**ASKED, f"x_{name}": WORDS}).cases)
        assert WORDS == read({**ASKED, "reference": WORDS, name: "rent"}).cases[0].reference


@pytest.mark.parametrize("name", ACCEPTED)
def test_another_name_of_the_reference_is_accepted_with_an_id_and_without(tmp_path: Path, name: str) -> None:
    for row in ({**ASKED, name: WORDS}, {"id": "lease", **ASKED, name: WORDS}):
        assert read_golden_value([row]).cases == read_import(tmp_path, row).cases
        assert WORDS == read_golden_value([row]).cases[0].reference


def test_a_native_row_is_refused_in_python_exactly_where_a_file_of_it_is(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    for name in ("must_hav", "evidense", "rubic", "tagz", "forbidden_text"):
        row = {"id": "lease", **ASKED, "reference": WORDS, name: ["x"]}
        path.write_text(json.dumps(row) + "\n", encoding="utf-8")
        from_file = describe(lambda: load_golden(path).golden)
        assert from_file == describe(lambda row=row: read_golden_value([row]))  # type: ignore[misc]


def test_what_is_not_read_of_golden_rows_is_said_with_the_result() -> None:
    rows = [{**ASKED, "reference": WORDS, "mood": ["calm"]}, {"question": "Who pays?", "reference": "I do not know."}]
    result = assay.run(lambda _: WORDS, rows)
    warnings = " | ".join(result.run.scoring.warnings)
    assert "golden-set keys that were not read: mood" in warnings
    assert "golden: expected to abstain, because the reference does" in warnings


@pytest.mark.parametrize(
    ("question", "reference", "behaviour"),
    [
        ("What is the last word of the play?", "It ends in silence.", "answer"),
        ("Which pass includes the ferry?", "The Horizon pass gives you the ferry.", "answer"),
        ("Is Corsica in the delivery zone?", "Corsica is outside the delivery zone.", "answer"),
        ("Which pass includes the ferry?", "The leaflet doesn't say which.", "abstain"),
        ("Who owned the clock?", "I couldn't tell you who owned it.", "abstain"),
    ],
)
def test_a_reference_that_only_sounds_like_a_refusal_expects_an_answer(
    question: str, reference: str, behaviour: str
) -> None:
    assert behaviour == read_golden_value([{"question": question, "reference": reference}]).cases[0].behaviour


@pytest.mark.parametrize("members", [{"reference_contexts": [WORDS]}, {"contexts": [WORDS], "response": "She."}])
@pytest.mark.parametrize("name", ["expected_behavior", "behaviour"])
def test_one_row_that_states_a_behaviour_changes_no_other_row(name: str, members: dict[str, Any]) -> None:
    others = [
        {"id": f"q{number}", "question": f"Who signs {number}?", "reference": WORDS, **members} for number in "123"
    ]
    alone = read_golden_value(others).cases
    mixed = read_golden_value([*others, {"id": "odd", "question": "Who wins the cup?", name: "abstain"}]).cases
    assert alone == mixed[:-1]
    assert "abstain" == mixed[-1].behaviour


@pytest.mark.parametrize(
    "odd",
    [
        {"id": "odd", "question": "Who lets it?", "correct_keywords": ["agent"]},
        {"id": "odd", "question": "Who lets it?", "evidence": [{"chunk_id": "c7"}]},
        {"id": "odd", "question": "Who lets it?", "relevance": {"c7": 3}},
        {"question": "Who lets it?", "user": {"tenant": "a"}, "behaviour": "answer", "must_have": ["agent"]},
    ],
)
@pytest.mark.parametrize("members", [{"reference_contexts": [WORDS]}, {"ground_truth": WORDS, "contexts": [WORDS]}])
def test_one_row_of_another_format_changes_no_other_row(members: dict[str, Any], odd: dict[str, Any]) -> None:
    others = [{"id": case, "question": f"Who signs {case}?", **members} for case in "abc"]
    first = [*others[:1], odd, *others[1:]]
    cases = read_golden_value(first).cases
    assert read_golden_value(others).cases == cases[:1] + cases[2:]
    assert read_golden_value([odd]).cases == cases[1:2]


def test_what_is_wrong_with_rows_of_several_formats_is_placed_and_an_id_counts_once() -> None:
    others: list[dict[str, Any]] = [
        {"id": case, "question": f"Who signs {case}?", "reference": WORDS, "contexts": [WORDS]} for case in "abc"
    ]
    odd = {"id": "odd", "question": "Who lets it?", "evidence": [{"chunk_id": "c7"}], "must_hvae": ["x"]}
    with pytest.raises(InputError) as refused:
        read_golden_value([*others, odd])
    assert [(4, "must_hvae")] == [(problem.line, problem.field) for problem in refused.value.problems]
    del odd["must_hvae"]
    with pytest.raises(InputError, match=r"golden:4: id: E_DUPLICATE_ID"):
        read_golden_value([*others, odd | {"id": "b"}])


def test_records_and_dictionaries_may_be_mixed() -> None:
    (case,) = read_golden_value([{"id": "lease", **ASKED, "reference": WORDS}]).cases
    mixed = read_golden_value([case, {"id": "rent", "question": "Who pays?", "reference": "She."}]).cases
    assert case == mixed[0] and "rent" == mixed[1].id


def test_members_of_cases_need_no_id_beside_them() -> None:
    (case,) = read_golden_value([{**ASKED, "reference": WORDS, "difficulty": "hard", "notes": "from the law"}]).cases
    assert ("hard", "from the law") == (case.difficulty, case.notes)


def test_an_id_that_is_given_twice_is_placed_by_rows() -> None:
    rows = [{"id": "lease", **ASKED, "reference": WORDS}] * 2
    with pytest.raises(InputError) as refused:
        read_golden_value(rows)
    assert "golden:2: id: E_DUPLICATE_ID" in str(refused.value) and "it is at golden:1" in str(refused.value)


LOOK_ALIKE = {
    "must_not_mention": ("forbidden_text", ["rent"]),
    "shouldNotContain": ("forbidden_text", ["rent"]),
    "Prohibited Phrases": ("forbidden_text", ["rent"]),
    "must_decline": ('expected_behavior, as "abstain"', True),
    "should_abstain": ('expected_behavior, as "abstain"', True),
    "relevant_doc_ids": ("expected_chunk_ids", ["c1"]),
    "expected_chunk": ("expected_chunk_ids", "c1"),
    "gold_passages": ("reference_contexts", [WORDS]),
    "valid_answers": ("reference", [WORDS]),
}


@pytest.mark.parametrize("base", [{"reference": WORDS}, {"must_have": ["landlord"]}, {"user_input": ASKED["question"]}])
@pytest.mark.parametrize("name", LOOK_ALIKE)
def test_a_name_that_demands_something_is_refused_with_the_field_that_does_it(
    tmp_path: Path, name: str, base: dict[str, Any]
) -> None:
    meant, value = LOOK_ALIKE[name]
    row = {**ASKED, "reference": WORDS, **base, name: value}
    with pytest.raises(InputError) as from_python:
        read_golden_value([row])
    with pytest.raises(InputError) as from_import:
        read_import(tmp_path, row)
    for refused in (from_python, from_import):
        (problem,) = refused.value.problems
        assert name == problem.field and f"expected it under the name {meant}" in problem.message


def test_the_letters_of_a_field_that_is_the_contrary_suggest_nothing(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    row = {"id": "lease", **ASKED, "must_have": ["landlord"], "must_not_have": ["tenant"]}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"must_not_have'; expected 'forbidden_text'\?"):
        load_golden(path)


@pytest.mark.parametrize("has_id", [False, True])
@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("mood", 'expected x_mood for a note, or attributes: {"mood": …} for slices'),
        ("user_roles", 'under the name user: {"roles": […], "tenant": …}'),
        ("regex", 'under the name answer_format: {"pattern": …'),
    ],
)
def test_rows_in_the_words_of_assay_are_read_strictly(name: str, remedy: str, has_id: bool, tmp_path: Path) -> None:
    row = {**ASKED, "must_have": ["landlord"], **({"id": "lease"} if has_id else {})}
    path = tmp_path / "golden.jsonl"
    path.write_text(json.dumps({**row, name: ["x"]}) + "\n", encoding="utf-8")
    for golden in ([{**row, name: ["x"]}], path):
        with pytest.raises(InputError) as refused:
            read_golden_value(golden)
        assert remedy in str(refused.value)
    (case,) = read_golden_value([{**row, f"x_{name}": "x"}]).cases
    assert {f"x_{name}": "x"} == case.metadata


def test_answers_beside_the_golden_set_keep_members_of_their_own() -> None:
    rows = [{**ASKED, "must_have": ["landlord"], "response": WORDS, "latency": 3, "relevant_docs": ["c1"]}]
    assert ["landlord"] == list(read_golden_value(rows).cases[0].must_have)


def test_keys_of_another_tool_are_named_wherever_the_result_is_read(tmp_path: Path) -> None:
    rows = [{"user_input": ASKED["question"], "reference": WORDS, "splits": ["dev"], "tenant": "north"}]
    result = assay.run(lambda _: WORDS, rows)
    said = "golden-set keys that were not read: tenant (did you mean user?), splits"
    case = result.cases[0]
    assay.report(result, markdown=tmp_path / "r.md", json=tmp_path / "r.json")
    for text in (str(result), result._repr_html_(), case.explain(), case.explain(verbose=True)):
        assert said in text
    assert said in (tmp_path / "r.md").read_text() and said in (tmp_path / "r.json").read_text()
