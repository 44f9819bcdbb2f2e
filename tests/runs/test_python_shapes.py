"""Values of Python in the shapes in which people have them: columns, generators, pairs, files of another tool."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.records.errors import InputError

CASES = [
    {"id": "tea", "question": "When is tea?", "must_have": ["four"]},
    {"id": "tram", "question": "Which tram stops here?", "must_have": ["nine"]},
]
COLUMNS = {"question": ["When is tea?", "Which tram stops here?"], "must_have": [["four"], ["nine"]]}
ANSWERS = {"question": COLUMNS["question"], "response": ["At four.", "The nine."]}


def list_right(result: assay.ScoreResult) -> list[bool]:
    return [case.scores["correct_answer"] == 1.0 for case in result.cases]


@pytest.mark.parametrize("make", [list, tuple, np.asarray])
def test_a_dictionary_of_columns_is_its_rows(make: Any) -> None:
    answers = {key: make(column) for key, column in ANSWERS.items()}
    assert [True, True] == list_right(assay.score(COLUMNS, answers))
    assert [True, False] == list_right(assay.run(lambda _: "At four.", COLUMNS))
    chunks = {"chunk_id": make(["c1", "c2"]), "text": make(["Tea is at four.", "The nine stops."])}
    assert 2 == len(assay.score(CASES, ANSWERS, corpus=chunks).run.corpus.chunks)  # type: ignore[union-attr]


def test_texts_of_a_type_that_extends_str_are_texts_in_records_too() -> None:
    """Such as an explanation of Assay, a string of Beautiful Soup or of NumPy."""
    explanation = assay.explain(assay.score(CASES, ANSWERS), "tea")
    assert type(explanation) is not str
    case = assay.Case("tea", explanation, reference=explanation)
    (scored,) = assay.score([case], [assay.Observation("tea", "c", answer=explanation)]).cases
    assert str(explanation) == scored.answer and str is type(scored.answer)
    with pytest.raises(InputError, match="objects of type object cannot be recorded"):
        assay.score([case], [assay.Observation("tea", "c", answer=object())])  # type: ignore[arg-type]  # what is refused


@pytest.mark.parametrize(
    ("golden", "outputs", "message"),
    [
        (
            COLUMNS,
            {**ANSWERS, "response": ["At four."]},
            r"outputs: .*different lengths \(got question: 2, response: 1",
        ),
        (CASES[0], [], r"golden: .*one row, which is no list .*expected it in brackets"),
        (CASES, {"tea": "At four.", "tram": "The nine."}, r'outputs: .*expected rows such as {"id": "tea", …}'),
        (CASES, ["At four.", "The nine."], r'a text is the path of a file here .*"answer": \'At four.\'}'),
        (["When is tea?"], [], r'golden: .*a text is no row .*"question": …, "reference": …'),
        (CASES, {}, r"outputs: .*not rows"),
    ],
)
def test_what_is_nearly_rows_is_refused_with_what_is_rows(golden: Any, outputs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        assay.score(golden, outputs)


def stream(question: str) -> Iterator[str]:
    """Yield an answer in parts."""
    yield "At fo"
    yield "ur, with the nine."


async def stream_async(question: str) -> AsyncIterator[str]:
    """Yield an answer in parts."""
    for part in stream(question):
        yield part


def yield_once(question: str) -> Iterator[dict[str, Any]]:
    """Yield one reply."""
    yield {"answer": "At four, with the nine.", "retrieved": ["c1"]}


@pytest.mark.parametrize("target", [stream, stream_async, yield_once])
def test_a_target_may_yield_its_answer_in_parts(target: Any) -> None:
    assert ["At four, with the nine."] * 2 == [case.answer for case in assay.run(target, CASES).cases]


def test_a_generator_of_other_things_is_an_error_that_says_what_was_expected() -> None:
    def mixed(question: str) -> Iterator[Any]:
        yield "At four."
        yield 7

    (first, _) = assay.run(mixed, CASES).cases
    assert "a generator of other things than texts (got 7; expected the parts of the answer as texts" in str(
        first.error
    )


@pytest.mark.parametrize(
    "documents", [["Tea is served at four, and the tram is the nine."], [{"id": "c1", "text": "Tea."}]]
)
@pytest.mark.parametrize("is_answer_first", [True, False])
def test_a_pair_of_an_answer_and_its_documents_is_both(documents: list[Any], is_answer_first: bool) -> None:
    pair = ("At four, with the nine.", documents)
    observations = assay.observe(lambda _: pair if is_answer_first else pair[::-1], CASES)
    assert ["At four, with the nine."] * 2 == [row.answer for row in observations]
    assert ["retrieved"] == [stage.name for stage in observations[0].stages or ()]


@pytest.mark.parametrize(
    "texts",
    [["Tea is at four."], ["Tea: four.", "Tram nine"], ("The tram is nine", "Tea"), ["四点喝茶 每天。"]],
)
@pytest.mark.parametrize("order", [list, tuple])
def test_short_texts_beside_an_answer_are_its_contexts_and_that_is_said_once(texts: Any, order: Any) -> None:
    measured = assay.run(lambda _: order(["At four, with the nine.", texts]), CASES, name="desk")
    assert [list(texts)] * 2 == [
        [chunk.text for stage in case.observation.stages for chunk in stage.chunks]
        for case in measured.cases
        if case.observation is not None and case.observation.stages is not None
    ]
    said = "target desk: a text and a list of texts are read as the answer and its contexts"
    assert 1 == measured.scoring.warnings.count(said)


@pytest.mark.parametrize("ids", [["tea:1", "tram:9"], ["tea", "tram"], ["c1"]])
def test_a_list_beside_an_answer_whose_strings_have_no_spaces_is_one_of_ids(ids: list[str]) -> None:
    (first, _) = assay.run(lambda _: ("At four.", ids), CASES).cases
    assert first.observation is not None and first.observation.stages is not None
    assert [(name, None) for name in ids] == [
        (chunk.chunk_id, chunk.text) for chunk in first.observation.stages[0].chunks
    ]


@pytest.mark.parametrize("names", [["Tea room"], ["Hours of tea.pdf"], ["Timetable of 2026.md", "Fees"]])
def test_names_beside_an_answer_that_may_be_ids_or_texts_are_refused(names: list[str]) -> None:
    (first, _) = assay.run(lambda _: ("At four.", names), CASES).cases
    assert "strings that could be ids or texts" in str(first.error)


def test_a_name_of_several_words_that_the_case_expects_is_no_text() -> None:
    golden = [{"id": "tea", "question": "When is tea?", "expected_chunk_ids": ["Hours of the room"]}]
    (first,) = assay.run(lambda _: ("At four.", ["Hours of the room"]), golden).cases
    assert "strings that could be ids or texts" in str(first.error)


def test_an_object_beside_an_answer_has_its_other_members() -> None:
    rows = assay.observe(lambda _: ("At four.", {"contexts": ["Tea is at four."], "usage": {"cost_usd": 0.5}}), CASES)
    assert ["At four.", "At four."] == [row.answer for row in rows]
    assert rows[0].stages is not None and "Tea is at four." == rows[0].stages[0].chunks[0].text
    assert rows[0].usage is not None and 0.5 == rows[0].usage.cost_usd


def test_a_pair_of_texts_says_how_to_tell_the_answer() -> None:
    (first, _) = assay.run(lambda _: ("At four.", "Tea is at four."), CASES).cases
    assert "two texts, either of which could be the answer" in str(first.error)
    assert "expected (answer, [context, …])" in str(first.error)


@pytest.mark.parametrize("reply", [("At four.", 0.5), ("At four.", [{"id": "c1"}], {"cost": 1})])
def test_another_tuple_is_an_error_that_says_how_to_return_both(reply: Any) -> None:
    (first, _) = assay.run(lambda _: reply, CASES).cases
    assert 'expected one object, such as {"answer": …, "retrieved": […]}' in str(first.error)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json"])
def test_one_file_of_another_tool_is_golden_set_and_outputs_at_once(tmp_path: Path, name: str) -> None:
    rows = [
        {"user_input": "When is tea?", "response": "At four.", "reference": "At four.", "retrieved_contexts": ["Tea."]},
        {"user_input": "Which tram?", "response": "The nine.", "reference": "The nine.", "mood": "calm"},
    ]
    path = tmp_path / name
    path.write_text(json.dumps(rows) if name.endswith(".json") else "\n".join(map(json.dumps, rows)), encoding="utf-8")
    from_file = assay.score(path, path)
    assert [True, True] == list_right(from_file)
    assert from_file.run.golden == assay.score(rows, rows).run.golden
    assert any("keys that were not read: mood" in warning for warning in from_file.run.scoring.warnings)


def test_a_file_that_is_no_golden_set_is_refused_as_before(tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl"
    path.write_text('{"case_id": "tea", "answer": "At four."}\n', encoding="utf-8")
    with pytest.raises(InputError, match="which looks like recorded outputs"):
        assay.score(path, path)
    path.write_text('{"user_input": "When is tea?", "referense": "At four."}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"referense: E_IMPORT not read .*under the name reference"):
        assay.score(path, path)


def test_files_say_what_was_not_read_and_take_the_configuration_that_is_named(tmp_path: Path) -> None:
    native, rows = tmp_path / "native.jsonl", tmp_path / "rows.jsonl"
    lines = [
        {"case_id": "tea", "answer": "At four.", "reranced": ["c1"]},
        {"case_id": "tram", "config_id": "own", "answer": "Nine."},
    ]
    native.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    rows.write_text(json.dumps({"question": "When is tea?", "response": "At four.", "contexts": ["Tea is at four."]}))
    scored = assay.score(CASES, native, config="nightly")
    assert {"nightly", "own"} == set(scored.configs)
    assert f"{native}: 1 of the first 2 rows has the unknown key reranced" in " | ".join(scored.run.scoring.warnings)
    scored = assay.score(CASES, [rows], config="nightly")
    assert ("nightly",) == scored.configs
    assert f"{rows}: contexts is taken for what the model was shown too" in " | ".join(scored.run.scoring.warnings)
    assert ("rows",) == assay.score(CASES, rows).configs
    strangers = tmp_path / "strangers.jsonl"
    strangers.write_text(rows.read_text() + '\n{"question": "What?", "response": "Nothing."}\n', encoding="utf-8")
    assert ["tea"] == [case.id for case in assay.score(CASES, strangers, ignore_unknown=True).cases if case.answer]


class Chain:
    """An object with a method that answers, and no way to call it."""

    def invoke(self, question: str) -> str:
        """Return an answer."""
        return "At four, with the nine."


class Engine:
    """An engine that answers with a text alone."""

    def query(self, question: str) -> str:
        """Return an answer."""
        return "At four, with the nine."


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (Chain(), r"cannot be called .*perhaps its method \.invoke"),
        ({"When is tea?": "At four."}, r"cannot be called .*recorded answers are scored by assay\.score"),
        ([{"id": "tea", "answer": "At four."}], r"cannot be called .*recorded answers are scored by assay\.score"),
    ],
)
def test_what_is_no_target_is_refused_with_what_is_probably_meant(target: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        assay.run(target, CASES)


@pytest.mark.parametrize("target", [Engine(), Chain().invoke])
def test_a_text_is_the_answer_of_every_kind_of_object(target: Any) -> None:
    assert ["At four, with the nine."] * 2 == [row.answer for row in assay.observe(target, CASES)]


def test_a_behaviour_may_be_spelt_in_either_way() -> None:
    golden = [
        {"question": "Who won?", "behavior": "abstain"},
        {"id": "x", "question": "Who lost?", "behavior": "abstain"},
    ]
    for rows in (golden, golden[1:]):
        assert {"abstain"} == {case.case.behaviour for case in assay.run(lambda _: "I do not know.", rows).cases}
