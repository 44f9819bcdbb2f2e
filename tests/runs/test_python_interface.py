"""From Python: a function and a few dictionaries become a result that prints, lists its cases, and can be compared."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import math
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import assay
from assay.cli import main
from assay.metrics.catalog import CATALOG
from assay.metrics.metric import Metric
from assay.records.errors import InputError
from assay.records.golden_set import Case, Corpus, GoldenSet
from assay.records.observations import Observation
from assay.report import collect_cases
from assay.report.exports import arrow_stream
from assay.runs.python_values import read_golden_value

LEAVE = "Permanent staff have twelve days of paid leave a year."
ROWS: list[dict[str, Any]] = [
    {
        "id": "leave", "question": "How much leave?", "reference": "12 days",
        "evidence": [{"any_of": [{"quote": "twelve days"}]}],
    },
    {"id": "lead", "question": "Who approves leave?", "reference": "The team lead"},
    {"id": "gym", "question": "Is there a gym?", "behaviour": "abstain"},
]  # fmt: skip


def ask(question: str) -> dict[str, Any]:
    if "gym" in question:
        raise KeyError("OPENAI_API_KEY")
    return {"answer": "12 days" if "much" in question else "The team lead", "contexts": [LEAVE]}


async def ask_async(question: str) -> dict[str, Any]:
    return ask(question)


@pytest.fixture(autouse=True)
def forget_metrics() -> Iterator[None]:
    """Leave no metric of a test in the catalogue."""
    yield
    CATALOG.forget_plugins()


def test_a_function_and_rows_become_a_result_of_eight_lines() -> None:
    lines = repr(assay.run(ask, ROWS)).splitlines()
    assert 8 == len(lines)
    assert lines[0].endswith(": ask, 3 cases")
    assert lines[1].startswith(" - target error ×1: KeyError: 'OPENAI_API_KEY', at tests/runs/test_python_inter")
    assert any(line.startswith("recall@10") and "1.000" in line for line in lines)
    assert any(line.startswith("without an answer: ") for line in lines)


@pytest.mark.parametrize("target", [ask, ask_async, type("Rag", (), {"ask": staticmethod(ask)})()])
def test_every_kind_of_callable_gives_the_same_scores(target: Any) -> None:
    measured = assay.run(target, ROWS, name="same", metrics=["recall@10", "answer_similarity", "error_rate"])
    assert 1.0 == measured.metric("recall@10").value
    assert pytest.approx(1 / 3) == measured.metric("error_rate").value


def test_it_works_where_an_event_loop_runs_already() -> None:
    async def in_notebook() -> tuple[float | None, float | None]:
        blocking = assay.run(ask, ROWS, metrics=["recall@10"])
        awaited = await assay.run_async(ask_async, ROWS, metrics=["recall@10"])
        return blocking.metric("recall@10").value, awaited.metric("recall@10").value

    assert (1.0, 1.0) == asyncio.run(in_notebook())


def test_what_the_model_saw_can_be_said() -> None:
    plain = assay.run(ask, ROWS, metrics=["context_recall"])
    assert "context: retrieved" in plain.cases[0].reasons["context_recall"]
    assert 1.0 == assay.run(ask, ROWS, metrics=["context_recall"], context="retrieved").metric("context_recall").value


def test_notices_of_the_target_are_in_the_result() -> None:
    assert "target ask: contexts is read as the stage retrieved" in assay.run(ask, ROWS).scoring.warnings


def test_golden_sets_and_outputs_may_be_paths_rows_or_records(tmp_path: Path) -> None:
    golden = GoldenSet(tuple(Case(row["id"], row["question"], reference=row.get("reference", "none")) for row in ROWS))
    outputs = [
        {"case_id": "leave", "answer": "12 days"},
        {"question": "Who approves  leave?", "response": "The team lead"},
        Observation("gym", "mine", answer="No."),
    ]
    scored = assay.score(golden, outputs, config="mine", metrics=["answer_similarity"])
    assert (1.0, 1.0) == tuple(case.scores["answer_similarity"] for case in scored.cases[:2])
    path = tmp_path / "outputs.jsonl"
    path.write_text('{"case_id": "leave", "config_id": "mine", "answer": "12 days"}\n', encoding="utf-8")
    for named in (path, str(path), [path]):
        assert (
            1.0
            == assay.score(list(golden.cases), named, metrics=["answer_similarity"])
            .cases[0]
            .scores["answer_similarity"]
        )


def test_rows_of_ragas_are_golden_set_and_outputs_at_once() -> None:
    rows = [{"user_input": "Leave?", "response": "12 days", "reference": "12 days", "retrieved_contexts": [LEAVE]}]
    scored = assay.score(rows, rows, config="ragas", metrics=["answer_similarity"])
    assert 1.0 == scored.metric("answer_similarity").value


SHELF: list[dict[str, Any]] = [
    {"chunk_id": "fire:1", "text": "The alarm is tested on Mondays.", "roles": ["warden"]},
    {"chunk_id": "fire:2", "text": "Meet at the car park."},
]
FIRE = {"id": "drill", "question": "When is the alarm tested?", "evidence": [{"any_of": [{"chunk_id": "fire:1"}]}]}
DRILLED = {"case_id": "drill", "answer": "On Mondays.", "results": [{"chunk_id": "fire:1"}]}


def find_corpus(corpus: Any) -> Corpus:
    scored = assay.score([FIRE], [DRILLED], corpus=corpus, metrics=["recall@10"])
    assert scored.run.corpus is not None
    return scored.run.corpus


def test_a_corpus_may_be_a_path_rows_chunks_or_a_frame(tmp_path: Path) -> None:
    path = tmp_path / "shelf.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in SHELF), encoding="utf-8")
    stored = find_corpus(path)
    renamed = [{"id": row["chunk_id"], "page_content": row["text"], "roles": row.get("roles")} for row in SHELF]
    for corpus in (SHELF, list(stored.chunks.values()), stored, SimpleNamespace(to_dicts=lambda: renamed), renamed):
        assert stored.digest == find_corpus(corpus).digest
    path.write_text("".join(json.dumps(row) + "\n" for row in renamed).replace(', "roles": null', ""), encoding="utf-8")
    assert stored.digest == assay.load_corpus(path).digest


def test_missing_cells_of_a_frame_are_no_members_of_a_chunk() -> None:
    pandas = pytest.importorskip("pandas")
    assert find_corpus(SHELF).digest == find_corpus(pandas.DataFrame(SHELF)).digest


def test_ids_of_a_corpus_may_be_integers_and_not_floats() -> None:
    assert ["7"] == list(find_corpus([{"id": 7, "text": "Seven."}]).chunks)
    with pytest.raises(InputError, match=r"corpus:1: id: E_TYPE an id that is a float \(got 7\.0"):
        find_corpus([{"id": 7.0, "text": "Seven."}])


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ({"fire:1": "The alarm."}, "corpus: E_VALUE not rows"),
        (["fire:1"], "corpus:1: E_TYPE not a chunk (got 'fire:1'; expected an object with chunk_id and text)"),
        ([SHELF[0], {"text": "No id."}], "corpus:2: chunk_id: E_MISSING missing"),
        ([{"chunk_id": "a", "txt": "b"}], "corpus:1: txt: E_UNKNOWN_FIELD unknown field (got 'txt'; expected 'text'?)"),
        ([{"chunk_id": "a", "text": ["b"]}], "corpus:1: text: E_TYPE "),
        (
            [{"chunk_id": "a", "id": "b"}],
            "corpus:1: chunk_id: E_KEY_TWICE given in two spellings (got chunk_id 'a' and",
        ),
        ([SHELF[1], SHELF[1]], "corpus:2: chunk_id: E_DUPLICATE_ID "),
        ([], "corpus: E_EMPTY empty"),
    ],
)
def test_what_is_wrong_with_a_corpus_is_said_by_row(corpus: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        find_corpus(corpus)


@pytest.mark.parametrize(
    ("golden", "outputs", "message"),
    [
        ("none.jsonl", [], "golden: E_VALUE no such file"),
        ({"id": "a"}, [], "golden: E_VALUE one row, which is no list"),
        (5, [], "golden: E_VALUE not rows"),
        ([Observation("a")], [], "observations .expected the golden set first"),
        (ROWS, [Case("a", "b")], "cases .expected the golden set first"),
        (ROWS, [{"answer": "x"}], "outputs:1: E_OUTPUT nothing names the case"),
        (ROWS, [{"question": "other?", "answer": "x"}], "outputs:1: question: E_OUTPUT the question of no case"),
        ([{"id": "a", "question": 5}], [], "golden:1: question"),
        ([{"reference": "x"}], [], "golden:1: question: E_IMPORT missing"),
    ],
)
def test_errors_say_what_was_expected(golden: Any, outputs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        assay.score(golden, outputs)


@pytest.mark.parametrize("target", [None, 5, dict, {"a": 1}])
def test_what_is_no_target_is_refused(target: Any) -> None:
    with pytest.raises(InputError, match="target"):
        assay.observe(target, ROWS)


def test_cases_have_what_was_asked_answered_and_measured() -> None:
    measured = assay.run(ask, ROWS)
    leave, lead, gym = measured.cases
    assert ("How much leave?", "12 days", None) == (leave.question, leave.answer, leave.error)
    assert (gym.error or "").startswith("KeyError: 'OPENAI_API_KEY', at tests/runs/test_python_interface.py:")
    assert gym in measured.failed
    assert "no evidence to find" == lead.reasons["recall@10"]
    assert "How much leave?" in leave.explain()


def test_an_answer_of_which_nothing_is_known_is_neither_passed_nor_a_bare_key_error() -> None:
    rows = [{"id": "leave", "question": "How much leave?", "reference": "12 days", "must_have": ["12 days"]}]
    measured = assay.run(lambda question: {"answer": "Between 12 days and a year, perhaps more."}, rows)
    (leave,) = measured.unknown
    assert (leave,) == measured.cases and not measured.failed
    assert ("unknown", "<case leave of target: unknown>") == (leave.outcome, repr(leave))
    reason = leave.reasons["correct_answer"]
    with pytest.raises(KeyError, match=re.escape(f"correct_answer has no score: {reason}")):
        leave.scores["correct_answer"]
    assert leave.scores.get("correct_answer") is None
    with pytest.raises(KeyError, match=r"no metric 'recall@7' \(measured: behaviour, "):
        leave.scores["recall@7"]


def test_a_metric_that_was_not_measured_is_refused_with_those_that_were() -> None:
    measured = assay.run(ask, ROWS, metrics=["recall@10"])
    with pytest.raises(InputError, match=r"not measured: score with .* or one of recall@10"):
        measured.metric("recall@5")


def test_columns_have_one_row_for_each_case_and_no_number_where_there_is_no_score() -> None:
    columns = assay.run(ask, ROWS, metrics=["recall@10"]).to_columns()
    assert [["leave", "lead", "gym"], [1.0, None, None]] == [columns["case_id"], columns["recall@10"]]


def test_a_case_has_its_cause_and_what_to_try_and_columns_have_both() -> None:
    measured = assay.run(lambda _: {"answer": "It is 3.", "contexts": [LEAVE]}, ROWS)
    columns = measured.to_columns()
    for row, case in enumerate(measured):
        assert (case.outcome, case.cause, case.fix) == tuple(columns[name][row] for name in ("outcome", "cause", "fix"))
        assert (case.cause is None) == (not case.has_failed) == (case.fix is None)
        if case.cause is not None and case.fix is not None:
            assert case.cause in case.explain() and case.fix[:20] in case.explain()
    assert any(case.cause for case in measured)


def test_columns_without_causes_are_the_others_and_attribute_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = assay.run(lambda _: {"answer": "It is 3.", "contexts": [LEAVE]}, ROWS)
    columns = measured.to_columns()
    assert any(columns["cause"])

    def refuse(*arguments: Any) -> Any:
        raise AssertionError("attributed")

    monkeypatch.setattr(collect_cases, "attribute_failures", refuse)
    expected = {name: cells for name, cells in columns.items() if name not in ("cause", "fix")}
    assert expected == measured.to_columns(causes=False)
    right = assay.run(lambda _: "You have 12 days a year.", [{"question": "How much leave?", "must_have": ["12 days"]}])
    assert [None] == right.to_columns()["cause"]  # nothing failed, so that nothing is read again


def test_columns_have_the_attributes_of_the_cases() -> None:
    rows = [{"question": "What fee?", "reference": "9 EUR", "site": "Ulm"}, {"question": "Rent?", "reference": "8 EUR"}]
    assert ["Ulm", None] == assay.run(lambda _: "9 EUR", rows).to_columns()["attributes.site"]


@pytest.mark.parametrize(
    ("function", "places"),
    [
        (lambda answer, reference: 1.0, "answer is observation.answer, reference is case.reference"),
        (lambda prediction, ground_truth: 1.0, "prediction is observation.answer, ground_truth is case.reference"),
        (lambda question, response, contexts: 1.0, "question is case.question, response is observation.answer"),
    ],
)
def test_a_metric_with_the_parameters_of_another_tool_is_refused_with_where_they_are(
    function: Any, places: str
) -> None:
    with pytest.raises(InputError, match=f"expected .*case, observation: {places}"):
        assay.metric(name="own")(function)
    assert assay.metric(name="own")(lambda case, output: 1.0).name == "own"


def test_scores_by_id_are_an_error_of_every_case_that_says_what_is_expected() -> None:
    @assay.metric
    def by_id(cases: Any, observations: Any) -> Any:
        return {case.id: 1.0 for case in cases}

    measured = assay.run(ask, ROWS[:2], metrics=[by_id])
    for case in measured:
        assert "a list in the order of the cases, such as [scores[case.id] for case in" in case.metric_errors["by_id"]


def test_a_table_of_questions_is_a_golden_set_by_its_path_as_its_rows_are(tmp_path: Path) -> None:
    path = tmp_path / "golden.csv"
    path.write_text("id,question,reference\nleave,How much leave?,12 days\n", encoding="utf-8")
    rows = [{"id": "leave", "question": "How much leave?", "reference": "12 days"}]
    assert read_golden_value(rows).cases == read_golden_value(path).cases


def test_report_has_the_signature_of_the_function() -> None:
    assert {"result", "html", "junit"} <= set(inspect.signature(assay.report).parameters)


def test_dictionaries_of_labels_are_calibrated_as_their_file_is(tmp_path: Path) -> None:
    golden = [{"id": f"q{n}", "question": f"What is {n}?", "must_have": [f"{n} euros"]} for n in range(10, 16)]
    measured = assay.run(lambda question: f"It is {question[8:10]} euros.", golden)
    labels = [{"case_id": row["id"], "metric": "correctness", "rater": "Ann", "label": "correct"} for row in golden]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(label) + "\n" for label in labels), encoding="utf-8")
    assert repr(assay.calibrate(path, measured)) == repr(assay.calibrate(labels, measured))
    with pytest.raises(InputError, match=r"labels:2: "):
        assay.calibrate([labels[0], {**labels[1], "label": "crrect"}], measured)


WRONG_TYPES = """
import assay

golden: list[dict[str, object]] = [{"question": "How long?", "reference": "3 days"}]


@assay.metric
def words(case: assay.Case, observation: assay.Observation) -> float:
    return 0.0


def read(result: assay.ScoreResult) -> tuple[assay.CaseResult, assay.Decision, assay.Comparison, assay.Summary]:
    return result.cases[0], result.decision, result.compare(result), result.metric("words")


result = assay.run(lambda question: "3 days", golden, metrics=[words], gate=assay.Gate((assay.Rule("words"),)))
assay.run(3, golden)
assay.run(lambda question: "3 days", 3)
assay.run(golden, golden)
assay.score(golden, 3, corpus=3)
assay.label_answer(result, "a", "correct", rater="Ann")
"""


@pytest.mark.slow
def test_a_checker_tells_what_is_no_target_golden_set_or_label(tmp_path: Path) -> None:
    (tmp_path / "typed.py").write_text(WRONG_TYPES)
    command = [sys.executable, "-m", "mypy", "--strict", str(tmp_path / "typed.py")]
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    lines = WRONG_TYPES.splitlines()
    first = lines.index("assay.run(3, golden)") + 1
    found = [int(line.split(":")[1]) for line in printed.splitlines() if ": error:" in line and "typed.py" in line]
    assert sorted(set(found)) == list(range(first, first + 5)), printed


def test_columns_without_any_value_are_left_out() -> None:
    columns = assay.run(ask, ROWS).to_columns()
    metrics = list(columns)[list(columns).index("failed_checks") + 1 :]
    assert metrics and not [name for name in metrics if not any(value is not None for value in columns[name])]
    assert "cost_usd" not in columns and {"error", "cause", "fix"} <= columns.keys()


def test_a_result_has_a_length_and_is_iterated_case_by_case() -> None:
    measured = assay.run(ask, ROWS)
    assert (len(ROWS), [row["id"] for row in ROWS]) == (len(measured), [case.id for case in measured])
    assert measured


def test_frames_hold_the_same_rows() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    measured = assay.run(ask, ROWS, metrics=["recall@10"])
    assert [1.0, None, None] == measured.to_polars()["recall@10"].to_list()
    frame = measured.to_pandas()
    assert [1.0, True, True] == [frame["recall@10"][0], *frame["recall@10"].isna()[1:]]
    golden = pandas.DataFrame([{"question": "Leave?", "reference": "12", "tags": float("nan")}])
    outputs = polars.DataFrame([{"question": "Leave?", "response": "12"}])
    assert 1.0 == assay.score(golden, outputs, metrics=["answer_similarity"]).metric("answer_similarity").value


def test_arrow_libraries_read_the_rows_and_release_them() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(arrow_stream.ArrowTable({"text": ["a", None, "ü€"], "number": [1.5, None, 3.0]}))
    assert [{"text": "a", "number": 1.5}, {"text": None, "number": None}, {"text": "ü€", "number": 3.0}] == (
        table.to_pylist()
    )
    assert 0 == pyarrow.table(arrow_stream.ArrowTable({"number": []})).num_rows
    del table
    gc.collect()
    assert ({}, {}) == (arrow_stream._unreleased, arrow_stream._streams)


def test_a_stream_that_nobody_reads_is_released() -> None:
    capsule = arrow_stream.ArrowTable({"number": [1.0]}).__arrow_c_stream__()
    assert 1 == len(arrow_stream._streams)
    del capsule
    gc.collect()
    assert ({}, {}) == (arrow_stream._unreleased, arrow_stream._streams)


def test_a_notebook_shows_the_result_with_every_text_escaped() -> None:
    rows = [{"id": "<script>", "question": "Q?", "reference": "r"}]
    html = assay.score(rows, [{"case_id": "<script>", "answer": None}], config="<b>")._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_a_notebook_shows_a_comparison_with_every_text_escaped() -> None:
    before = assay.run(lambda question: {"answer": "?", "contexts": []}, ROWS, name="<b>", metrics=["recall@10"])
    after = assay.run(ask, ROWS, name="after", metrics=["recall@10"])
    html = after.compare(before)._repr_html_()
    assert "<th>Metric</th><th>&lt;b&gt;</th><th>after</th><th>Verdict</th>" in html
    assert "<td>recall@10</td><td>0.000</td><td>1.000</td>" in html
    assert "after compared with &lt;b&gt;, the baseline" in html


def test_results_are_compared_and_reported(tmp_path: Path) -> None:
    before = assay.run(lambda question: {"answer": "?", "contexts": []}, ROWS, name="before", metrics=["recall@10"])
    after = assay.run(ask, ROWS, name="after", metrics=["recall@10"])
    assert 1.0 == after.compare(before).metrics["recall@10"].gain
    written = assay.report(after, html=tmp_path / "r.html", junit=tmp_path / "r.xml")
    assert [tmp_path / "r.xml", tmp_path / "r.html"] == written
    with pytest.raises(InputError, match="no file named"):
        assay.report(after)


# ── metrics of one's own ─────────────────────────────────────────────────────────────────────────────────────────────


@assay.metric(unit="words", higher_is_better=False, high=math.inf)
def answer_words(case: Case, observation: Observation) -> float | str:
    """Words of the answer."""
    return len(str(observation.answer).split()) if case.id != "lead" else "not for this case"


@assay.metric
def broken(case: Case, observation: Observation) -> float:
    """Goes wrong in three ways."""
    if case.id == "leave":
        raise ValueError("bad\nluck")
    return math.nan if case.id == "lead" else 3.0


@assay.metric(name="answer_share", high=1.0)
def over_arrays(cases: list[Case], observations: list[Observation]) -> list[float]:
    """Share of the answers' characters."""
    lengths = [len(str(observation.answer)) for observation in observations]
    return [length / sum(lengths) for length in lengths]


OUTPUTS = [
    {"case_id": "leave", "answer": "12 days"},
    {"case_id": "lead", "answer": "a b c"},
    {"case_id": "gym", "answer": "x"},
]


def test_a_decorated_function_is_a_metric_and_still_a_function() -> None:
    assert 2 == answer_words(Case("a", "b"), Observation("a", answer="one two"))
    scored = assay.score(ROWS, OUTPUTS, config="one", metrics=[answer_words, "answer_similarity"])
    assert {"answer_words": 2.0} == {name: scored.cases[0].scores[name] for name in ["answer_words"]}
    assert "not for this case" == scored.cases[1].reasons["answer_words"]
    assert ("words", "lower") == (CATALOG["answer_words"].unit, CATALOG["answer_words"].direction)


def leave_out_lines(text: str) -> str:
    """Return a text without the lines of this file on which something was raised."""
    return re.sub(rf", at {Path(__file__).name}:\d+", "", text)


def test_what_goes_wrong_in_a_metric_is_an_error_of_that_case() -> None:
    scored = assay.score(ROWS, OUTPUTS, config="one", metrics=[broken])
    assert [
        "the metric raised ValueError: bad luck",
        "the metric returned nan (expected a finite number)",
        "the metric left its range (got 3; expected 0 to 1)",
    ] == [leave_out_lines(case.reasons["broken"]) for case in scored.cases]
    assert re.search(rf", at {Path(__file__).name}:\d+$", scored.cases[0].reasons["broken"])
    assert (3, 0) == (scored.metric("broken").errors, scored.metric("broken").scored)


def test_a_metric_may_take_all_cases_at_once() -> None:
    scored = assay.score(ROWS, OUTPUTS, config="one", metrics=[over_arrays])
    assert [7 / 13, 5 / 13, 1 / 13] == [case.scores["answer_share"] for case in scored.cases]


def test_a_metric_over_arrays_of_the_wrong_length_scores_nothing() -> None:
    @assay.metric
    def too_short(cases: list[Case], observations: list[Observation]) -> list[float]:
        """Forgets one."""
        return [1.0] * (len(cases) - 1)

    scored = assay.score(ROWS, OUTPUTS, config="one", metrics=[too_short])
    assert "not one value for each case (got 2; expected 3)" in scored.cases[0].reasons["too_short"]


def test_a_metric_of_ones_own_decides_a_gate_and_is_compared(tmp_path: Path) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules: [{metric: answer_words, at_most: 1}]\n", encoding="utf-8")
    scored = assay.score(ROWS, OUTPUTS, config="one", metrics=[answer_words], gate=gate)
    assert "FAIL" == scored.decision.outcome
    shorter = [{"case_id": row["case_id"], "answer": "x"} for row in OUTPUTS]
    better = assay.score(ROWS, shorter, config="two", metrics=[answer_words], gate=gate)
    assert "FAIL" != better.decision.outcome
    change = better.compare(scored).metrics["answer_words"]
    assert change.gain is not None
    assert change.gain > 0


def test_a_metric_at_an_import_path_works_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from assay.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "decorated_metrics.py").write_text(
        "import assay\n\n\n@assay.metric(unit='words', high=1000)\ndef words(case, observation):\n"
        "    return len(observation.answer.split())\n",
        encoding="utf-8",
    )
    (tmp_path / "g.jsonl").write_text('{"id": "a", "question": "Q?", "reference": "r"}\n', encoding="utf-8")
    (tmp_path / "o.jsonl").write_text('{"case_id": "a", "config_id": "c", "answer": "one two"}\n', encoding="utf-8")
    assert 0 == main(["score", "--golden", "g.jsonl", "--outputs", "o.jsonl", "--metrics", "decorated_metrics:words"])
    assert "2.000" in capsys.readouterr().out


def test_expectations_of_assays_own_beside_names_of_other_tools_are_not_dropped() -> None:
    rows = [
        {"id": "a", "question": "How long?", "reference": "12 days", "expected_chunk_ids": ["x"], "must_have": ["12"]},
        {"id": "b", "question": "What does she earn?", "expected_chunk_ids": ["y"], "behaviour": "escalate"},
        {"question": "Is there a canary?", "reference": "No", "forbidden_text": ["BLUE-HERON"], "must_cite": ["doc"]},
    ]
    first, second, third = read_golden_value(rows).cases
    assert (("12",), "12 days", "answer") == (first.must_have, first.reference, first.behaviour)
    assert ("escalate", ({"chunk_id": "y"},)) == (second.behaviour, second.evidence[0].any_of)
    assert (("BLUE-HERON",), ("doc",)) == (third.forbidden_text, third.must_cite)
    with pytest.raises(InputError, match=r"golden:1: behaviour: .*'refuse'; expected one of answer, abstain"):
        read_golden_value([{"question": "Why?", "reference": "So", "behaviour": "refuse"}])


def test_a_printed_result_leads_with_right_answers_and_counts_those_that_nobody_can_tell() -> None:
    golden = [
        {"id": "a", "question": "What does it cost?", "reference": "The same as at the library."},
        {"id": "b", "question": "How long?", "must_have": ["4 hours"]},
    ]
    outputs = [{"case_id": "a", "answer": "It is £2.80."}, {"case_id": "b", "answer": "It is 4 hours."}]
    lines = repr(assay.score(golden, outputs)).splitlines()
    assert any(line.startswith("correct_answer ") for line in lines[:4])
    assert "failed: 0 of 2, 1 unknown: nothing tells whether the answer is right" in lines


def test_a_metric_that_raises_is_named_with_its_exception_and_its_cases() -> None:
    @assay.metric
    def halves(case: object, observation: object) -> float:
        """Divide by nothing."""
        return 1 / 0

    golden = [{"id": "a", "question": "What does it cost?", "must_have": ["£2"]}]
    scored = assay.score(golden, [{"case_id": "a", "answer": "It is £2."}], metrics=["correct_answer", halves])
    reasons = leave_out_lines(" ".join(scored.decision.reasons))
    assert "halves could not measure 1 of 1 case: the metric raised ZeroDivisionError: division by zero (a)" in reasons
    assert "in error" not in reasons


TOOLS = [
    {"id": name, "question": f"What is {name}?", "must_have": ["steel"]} for name in ("adze", "awl", "saw", "vice")
]
TOOL_ROWS = [{"case_id": tool["id"], "answer": "It is made of steel."} for tool in TOOLS]


@assay.metric
def sharpness(case: Case, observation: Observation) -> float:
    """How sharp a tool is."""
    if case.id.startswith("a"):
        raise LookupError(f"no edge on {case.id}")
    return math.nan if case.id == "saw" else 0.5


def test_each_case_that_a_metric_could_not_measure_fails_with_its_own_error(tmp_path: Path) -> None:
    scored = assay.score(TOOLS, TOOL_ROWS, metrics=["correct_answer", sharpness])
    errors = {case.id: {"sharpness": leave_out_lines(case.metric_errors["sharpness"])} for case in scored.failed}
    assert errors == {
        "adze": {"sharpness": "the metric raised LookupError: no edge on adze"},
        "awl": {"sharpness": "the metric raised LookupError: no edge on awl"},
        "saw": {"sharpness": "the metric returned nan (expected a finite number)"},
    }
    assert [("metric_error",)] * 3 == [case.failed_checks for case in scored.failed]
    assert [1.0] * 4 == [case.scores["correct_answer"] for case in scored.cases], "other metrics are measured"
    assert (1, 3) == (scored.metric("sharpness").scored, scored.metric("sharpness").errors)
    printed = repr(scored)
    assert "failed: 3 of 4 (adze, awl, saw)" in printed
    assert "no edge on adze (adze); the metric raised LookupError: no edge on awl (awl)" in leave_out_lines(
        scored.decision.reasons[0]
    )
    explained = scored.failed[1].explain()
    assert "sharpness: the metric raised LookupError: no edge on awl" in explained
    assert "repair the metric, then score again" in explained
    assay.report(scored, markdown=tmp_path / "r.md", junit=tmp_path / "r.xml", html=tmp_path / "r.html")
    junit = (tmp_path / "r.xml").read_text(encoding="utf-8")
    assert 'errors="3"' in junit
    for name in ("r.md", "r.xml", "r.html"):
        assert "LookupError: no edge on awl" in (tmp_path / name).read_text(encoding="utf-8")


def test_cases_with_the_same_error_of_a_metric_are_named_together_and_others_only_counted() -> None:
    @assay.metric
    def weight(case: Case, observation: Observation) -> float:
        """How heavy a tool is."""
        raise ValueError("no scales" if case.id in ("awl", "vice") else f"too heavy: {case.id}")

    more = [{"id": f"t{n}", "question": f"What is t{n}?", "must_have": ["steel"]} for n in range(2)]
    tools: list[dict[str, Any]] = [*TOOLS, *more]
    rows = [{"case_id": tool["id"], "answer": "steel"} for tool in tools]
    reason = assay.score(tools, rows, metrics=["correct_answer", weight]).decision.reasons[0]
    assert leave_out_lines(reason) == (
        "weight could not measure 6 of 6 cases: the metric raised ValueError: no scales (awl, vice); "
        "the metric raised ValueError: too heavy: adze (adze); the metric raised ValueError: too heavy: saw (saw); "
        "and 2 other texts, each with its failed case"
    )


def test_a_metric_that_fails_and_that_no_rule_looks_at_leaves_a_risk() -> None:
    gate = {"rules": [{"metric": "correct_answer", "at_least": 0.5}]}
    metrics: list[str | Metric] = ["correct_answer", sharpness]
    assert not any(
        "sharpness" in risk for risk in assay.score(TOOLS[3:], TOOL_ROWS[3:], metrics=metrics, gate=gate).decision.risks
    )
    decision = assay.score(TOOLS, TOOL_ROWS, metrics=metrics, gate=gate).decision
    assert "PASS_WITH_RISK" == decision.outcome
    assert any(risk.startswith("sharpness could not measure 3 of 4 cases: ") for risk in decision.risks)
    needed = {"rules": [{"metric": "sharpness", "at_least": 0.1}]}
    assert "INCOMPLETE" == assay.score(TOOLS, TOOL_ROWS, metrics=metrics, gate=needed).decision.outcome


MIXED: list[tuple[dict[str, Any], str, tuple[dict[str, Any], ...]]] = [
    ({"question": "Who?", "reference": "L", "expected_chunk_ids": ["d:1"]}, "L", ({"chunk_id": "d:1"},)),
    ({"query": "Who?", "expected_answer": "L", "evidence": [{"quote": "L leads."}]}, "L", ({"quote": "L leads."},)),
    ({"user_input": "Who?", "ground_truth": "L", "evidence": [{"chunk_id": "d:1"}]}, "L", ({"chunk_id": "d:1"},)),
    ({"question": "Who?", "ideal": "L", "user": {"tenant": "t"}, "relevant_ids": ["d:1"]}, "L", ({"chunk_id": "d:1"},)),
    (
        {"question": "Who?", "expected_answer": "L", "expected_behavior": "answer", "evidence": [{"page": 3}]},
        "L",
        ({"page": 3},),
    ),
]


@pytest.mark.parametrize(("row", "reference", "selectors"), MIXED)
def test_names_of_several_formats_in_one_row_are_understood(
    row: dict[str, Any], reference: str, selectors: tuple[dict[str, Any], ...], tmp_path: Path
) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text(json.dumps({"id": "a", **row}) + "\n", encoding="utf-8")
    for golden in (read_golden_value([{"id": "a", **row}]), assay.load_golden(path)):
        (case,) = golden.cases
        assert ("a", "Who?", reference) == (case.id, case.question, case.reference)
        assert selectors == case.evidence[0].any_of
        assert ("t" if "user" in row else None) == (None if case.user is None else case.user.tenant)


def test_members_of_assays_own_need_no_id_beside_them() -> None:
    (case,) = read_golden_value([{"query": "Who?", "expected": "L", "evidence": [{"quote": "L leads."}]}]).cases
    assert ("Who?", "L", ({"quote": "L leads."},)) == (case.question, case.reference, case.evidence[0].any_of)
    assert case.id.startswith("who-")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"reference": "L", "expected_answer": "M"},
            "two values of one thing (got expected_answer: 'M' and reference: 'L'",
        ),
        ({"query": "When?", "reference": "L"}, "two values of one thing (got question: 'Who?' and query: 'When?'"),
        (
            {"evidence": [{"chunk_id": "a"}], "expected_chunk_ids": ["b"]},
            "golden:1: evidence: E_KEY_TWICE two values of",
        ),
        (
            {"user": {"tenant": "t"}, "behaviour": "permission_denied", "expected_chunk_ids": ["b"]},
            "expected_chunk_ids: E_EVIDENCE evidence, or what must not be shown? (got ['b']; expected evidence or",
        ),
        ({"evidence": [{"chunk_id": "a"}], "relevance": {"a": 3}}, "golden: E_FORMAT no golden-set format fits"),
    ],
)
def test_two_values_of_one_thing_are_refused_with_both(row: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read_golden_value([{"id": "a", "question": "Who?", **row}])


FEES = [
    {"id": str(fee), "question": f"What is fee {fee}?", "reference": f"{fee} euros", "must_have": [f"{fee} euros"]}
    for fee in range(10, 16)
]


class Frame:
    """A data frame as Polars has them: rows with a cell for every column."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows
        self.columns = list(rows[0])

    def to_dicts(self) -> list[dict[str, Any]]:
        return self.rows


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_answer_of_a_frame_is_an_error_and_no_case_without_a_question(missing: float | None) -> None:
    rows = [
        {"case_id": str(fee), "answer": f"Fee {fee} is {fee} euros." if fee < 13 else missing, "latency_ms": None}
        for fee in range(10, 16)
    ]
    scored = assay.score(FEES, Frame(rows), gate={"rules": [{"metric": "failed", "at_most": 0}], "correctness": 0.9})
    assert ("INCOMPLETE", ["13", "14", "15"]) == (scored.decision.outcome, [case.id for case in scored.failed])


def test_answers_that_some_rows_lack_let_no_rule_on_answers_pass() -> None:
    rows: list[dict[str, Any]] = [
        {"case_id": str(fee), "answer": f"Fee {fee} is {fee} euros."} for fee in range(10, 13)
    ]
    rows += [{"case_id": str(fee), "usage": {"cost_usd": 0.1}} for fee in range(13, 16)]
    gate = {"rules": [{"metric": "failed", "at_most": 0}], "correctness": 0.9}
    decision = assay.score(FEES, rows, gate=gate).decision
    assert "PASS_WITH_RISK" == decision.outcome
    assert all("not reported on 3 of 6 cases (13, 14, 15)" in reason for reason in decision.reasons[:2])
    assert "PASS" == assay.score(FEES[:3], rows[:3], gate=gate).decision.outcome


@pytest.mark.parametrize("name", ["hypothesis", "x_note", "antwort"])
def test_a_row_that_reports_nothing_is_refused_with_the_names_that_it_has(name: str) -> None:
    rows = [{"case_id": "10", name: "Fee 10 is 10 euros."}]
    with pytest.raises(InputError, match=rf"outputs:1: E_OUTPUT neither an answer nor a ranking .got case_id, {name};"):
        assay.score(FEES[:1], rows)


def test_failed_cases_are_not_counted_where_no_answer_and_no_evidence_could_be_looked_at() -> None:
    rows = [{"case_id": case["id"], "contexts": ["Fees are due."]} for case in FEES]
    decision = assay.score(FEES, rows, gate={"rules": [{"metric": "failed", "at_most": 0}]}).decision
    assert "FAIL" == decision.outcome
    assert decision.reasons[0].startswith("failed had nothing to check: no answer")


def test_what_a_user_must_not_see_is_looked_for_without_an_answer() -> None:
    case = {"id": "pay", "question": "What is the pay?", "user": {"roles": ["staff"]}, "behaviour": "permission_denied"}
    golden = [case | {"evidence": [{"chunk_id": "pay:1"}]}]
    corpus = [{"chunk_id": "pay:1", "text": "4,000 euros.", "roles": ["hr"]}, {"chunk_id": "a:1", "text": "At noon."}]
    gate = {"rules": [{"metric": "failed", "at_most": 0}]}
    outcomes = [
        assay.score(golden, [{"case_id": "pay", **reported}], corpus=corpus, gate=gate).decision.outcome
        for reported in ({"retrieved": ["a:1"]}, {"retrieved": ["pay:1"]}, {"usage": {"cost_usd": 0.1}})
    ]
    assert ["PASS", "FAIL", "FAIL"] == outcomes
    silent = assay.score(golden, [{"case_id": "pay", "usage": {"cost_usd": 0.1}}], corpus=corpus)
    assert "visibility_leaks" not in silent.cases[0].scores


def test_rows_that_report_citations_alone_are_scored() -> None:
    rows = [{"case_id": case["id"], "citations": ["a"]} for case in FEES]
    scored = assay.score(FEES, rows, corpus=[{"chunk_id": "a", "text": "Fees."}])
    assert 1.0 == scored.metric("citation_exists").value


def test_a_misspelt_argument_is_named_with_the_one_that_was_probably_meant() -> None:
    with pytest.raises(TypeError, match=r"assay.score has no argument outputs .expected one of golden, observations"):
        assay.score(ROWS, outputs=[])  # type: ignore[call-arg]  # what is refused
    with pytest.raises(TypeError, match=r"assay.run has no argument gates .did you mean gate\?"):
        assay.run(ask, ROWS, gates="general")  # type: ignore[call-arg]  # what is refused
    with pytest.raises(TypeError, match=r"assay.report has no argument zip .expected one of result, markdown, html"):
        assay.report(assay.run(ask, ROWS), zip="x.zip")  # type: ignore[call-arg]  # what is refused


def test_a_target_with_a_parameter_that_nothing_fills_is_refused_before_it_is_asked() -> None:
    with pytest.raises(InputError, match=r"target: E_VALUE <lambda> needs top_k too, which nothing gives it"):
        assay.run(lambda question, top_k: "12 days", ROWS)
    assert "12 days" == assay.run(lambda text, user, k, top_k=5: "12 days", ROWS).cases[0].answer

    def search(question: str, connection: str) -> str:
        return f"12 days from {connection}"

    @wraps(search)
    def connected(question: str) -> str:
        return search(question, "a pool")

    assert "12 days from a pool" == assay.run(connected, ROWS).cases[0].answer


def test_a_gate_is_a_dictionary_too_and_what_is_none_says_so() -> None:
    measured = assay.run(ask, ROWS)
    assert "FAIL" == assay.gate(measured, {"rules": [{"metric": "error_rate", "at_most": 0}]}).outcome
    assert "FAIL" == assay.gate(measured, [{"metric": "error_rate", "at_most": 0}]).outcome
    assert "FAIL" == assay.gate(measured, [assay.Rule("error_rate", at_most=0)]).outcome
    with pytest.raises(InputError, match=r"a comparison can be printed, and .assay compare"):
        assay.report(assay.compare(measured, measured), html="x.html")  # type: ignore[arg-type]  # what is refused
    with pytest.raises(InputError, match=r"gate:1: rules\[0\].metrik: .*did you mean 'metric'"):
        assay.gate(measured, {"rules": [{"metrik": "failed"}]})
    with pytest.raises(InputError, match=r"no rules .got 3; expected an assay.Gate, a dictionary, a list"):
        assay.gate(measured, 3)  # type: ignore[arg-type]  # what is refused is no form of rules


def test_a_case_is_explained_by_its_id_or_as_it_is() -> None:
    measured = assay.run(ask, ROWS)
    assert assay.explain(measured, "leave") == assay.explain(measured, measured.cases[0])


def test_an_explanation_has_its_lines_in_a_notebook() -> None:
    class Printer:
        shown = ""

        def text(self, text: str) -> None:
            self.shown += text

    measured = assay.run(ask, ROWS)
    for explanation in (assay.explain(measured, "leave"), measured.cases[0].explain()):
        printer = Printer()
        explanation._repr_pretty_(printer, False)  # type: ignore[attr-defined]  # IPython looks for it on the value
        assert printer.shown == explanation
        assert "\n" in printer.shown


def test_a_metric_that_is_a_coroutine_is_refused_at_once() -> None:
    async def waits(case: Any, observation: Any) -> float:
        return 1.0

    with pytest.raises(InputError, match=r"metric waits: .*an async function"):
        assay.metric(waits)


def test_an_answer_that_is_no_text_is_one_answer() -> None:
    with pytest.raises(InputError, match="answer") as raised:
        assay.score(FEES[:1], [{"case_id": "10", "answer": 7.5}])
    assert "two answers" not in str(raised.value)


@pytest.mark.parametrize("number", [int, np.int64])
def test_ids_of_rows_may_be_integers(number: Callable[[int], Any]) -> None:
    golden = [
        {"id": number(1), "question": "Leave?", "must_have": ["12"], "expected_chunk_ids": [number(7)]},
        {"id": number(2), "question": "Gym?", "must_have": ["no"], "expected_chunk_ids": ["8"]},
    ]
    outputs = [
        {"case_id": number(2), "answer": "Yes.", "retrieved": [{"id": number(8), "text": "No gym."}]},
        {"case_id": number(1), "answer": "12 days.", "retrieved": [{"id": number(7), "text": "12 days."}]},
    ]
    scored = assay.score(golden, outputs)
    assert [("1", True), ("2", True)] == [(case.id, case.scores["recall@10"] == 1.0) for case in scored.cases]
    assert ["1", "2"] == [case.id for case in assay.run(lambda _: "12 days.", golden).cases]


def test_ids_that_are_floats_are_refused_on_both_sides_with_the_reason() -> None:
    golden = [{"id": 1.0, "question": "Leave?", "reference": "12"}]
    with pytest.raises(InputError, match=r"golden:1: id: .*got 1.0; .*a column with empty cells is one of floats"):
        assay.score(golden, [])
    golden[0]["id"] = 1
    with pytest.raises(InputError, match=r"outputs:1: .*an id that is a float \(got 1.0"):
        assay.score(golden, [{"case_id": 1.0, "answer": "12"}])


def test_rows_may_have_a_list_for_each_stage_as_files_may() -> None:
    golden = [{"id": "a", "question": "Leave?", "expected_chunk_ids": ["c1"]}]
    row = {"case_id": "a", "answer": "12", "retrieved": ["c2", "c1"], "reranked": ["c1", "c2"], "context": ["c1"]}
    scored = assay.score(golden, [row], metrics="recall@1,rr(stage=final)@10,context_recall")
    assert {"recall@1": 0.0, "rr(stage=final)@10": 1.0, "context_recall": 1.0}.items() <= scored.cases[0].scores.items()
    asked = assay.run(lambda _: {key: row[key] for key in ("answer", "retrieved", "context")}, golden)
    assert [0.5, 1.0] == [asked.cases[0].scores[metric] for metric in ("rr@10", "context_recall")]


def test_what_is_not_read_of_rows_is_said() -> None:
    golden = [{"id": "a", "question": "Leave?", "must_have": ["12"]}]
    scored = assay.score(golden, [{"case_id": "a", "answer": "12", "retreived": ["c1"]}])
    assert "outputs: keys that were not read: retreived (did you mean retrieved?)" in scored.run.scoring.warnings


def test_run_folders_and_saved_baselines_compare_from_python(tmp_path: Path) -> None:
    golden, outputs, saved = tmp_path / "golden.jsonl", tmp_path / "outputs.jsonl", str(tmp_path / "saved.json")
    golden.write_text(json.dumps(ROWS[0]) + "\n", encoding="utf-8")
    outputs.write_text(
        json.dumps({"case_id": "leave", "answer": "12 days", "config_id": "old"}) + "\n", encoding="utf-8"
    )
    folder = str(tmp_path / "run")
    assert 0 == main(["score", "--golden", str(golden), "--outputs", str(outputs), "--run-dir", folder])
    assert 0 == main(["baseline", "save", folder, "--out", saved])
    after = assay.score(golden, [{"case_id": "leave", "answer": "No idea.", "config_id": "new"}])
    for before in (folder, Path(saved)):
        comparison = assay.compare(before, after, gate={"rules": [{"metric": "failed", "at_most": 0}]})
        assert ("leave",) == tuple(comparison.metrics["failed"].regressed)
        assert comparison.decision is not None
        assert "FAIL" == comparison.decision.outcome
    assert not assay.compare(folder, folder).metrics["failed"].regressed


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: assay.gate("runs/1", "general"), "result: not a result (got 'runs/1'"),  # type: ignore[arg-type]  # refused
        (lambda: assay.explain("runs/1", "leave"), "`assay explain`"),  # type: ignore[arg-type]  # refused
        (lambda: assay.report(Path("runs/1"), html="x.html"), "`assay report`"),  # type: ignore[arg-type]  # refused
        (lambda: assay.compare(None, None), "baseline: not a result (got None"),  # type: ignore[arg-type]  # refused
        (lambda: assay.compare("runs/none", "runs/1"), "runs/none: E_SIDE no such file or folder"),
    ],
)
def test_what_is_no_result_is_refused_with_what_was_expected(call: Callable[[], Any], argument: str) -> None:
    with pytest.raises(assay.InputError) as refused:
        call()
    assert argument in str(refused.value)


def test_reasons_tell_what_is_open_or_wrong_however_they_are_read(tmp_path: Path) -> None:
    cases = [
        {"id": "seal", "question": "Which seal is on the crate?", "must_have": ["blue"]},
        {"id": "crew", "question": "Who loads the crate?", "must_have": ["the night crew"]},
        {"id": "sold", "question": "What will it be sold for?", "expected_behavior": "abstain"},
    ]
    answers = {"seal": "It is blue or perhaps red.", "crew": "The day crew loads it.", "sold": "For 90 euros."}
    outputs = tmp_path / "outputs.jsonl"
    rows = [{"case_id": case_id, "config_id": "yard", "answer": answer} for case_id, answer in answers.items()]
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for read in (rows, outputs):
        seal, crew, sold = assay.score(cases, read).cases
        assert "unknown" == seal.outcome
        for metric in ("correct_answer", "completeness(by=rules)", "correctness(by=rules)"):
            reason = seal.reasons[metric]
            assert reason.startswith("unknown: ") and reason.count("unknown") == 1 and "blue" in reason
            assert (
                reason == dict(seal.reasons)[metric] == dict(seal.reasons.items())[metric] == seal.reasons.get(metric)
            )
        assert not any("the rules cannot tell" in reason for reason in seal.reasons.values())
        assert "night crew" in dict(crew.reasons)["correct_answer"]
        assert "read as answer" in dict(sold.reasons)["behaviour"] and "expected: abstain" in sold.reasons["behaviour"]
        assert "scored 1: answered what must be refused" == dict(sold.reasons)["under_refusal"]
        assert dict(crew.reasons) == pickle.loads(pickle.dumps(crew)).reasons
        assert json.loads(json.dumps(crew.reasons)) == dict(crew.reasons)


def test_a_metric_that_fails_is_no_failure_of_the_system_in_a_comparison() -> None:
    rows = [{"id": f"q{number}", "question": f"Question {number}?", "reference": "12 days"} for number in range(12)]
    answers = ["12 days"] * 10 + ["13 days"] * 2

    @assay.metric
    def crashing(case: Case, observation: Observation) -> float:
        raise ValueError(f"no {case.id}")

    def score(*texts: str, metrics: list[Any] | None = None) -> assay.Result:
        outputs = [{"case_id": row["id"], "answer": text} for row, text in zip(rows, texts, strict=True)]
        return assay.score(rows, outputs, metrics=metrics)

    measured = [*assay.DEFAULT_METRICS, crashing]
    before, after = score(*answers), score(*answers, metrics=measured)
    assert 12 == len(after.failed)
    comparison = assay.compare(baseline=before, candidate=after)
    failed = comparison.metrics["failed"]
    assert ("not significant", 0, 0) == (failed.verdict, len(failed.regressed), len(failed.improved))
    assert "regressed" not in repr(comparison)
    assert (
        "crashing failed on 12 cases (the metric raised ValueError: no q0): an error of the metric"
        in leave_out_lines(repr(comparison))
    )
    back = assay.compare(baseline=after, candidate=before)
    assert "improved" not in repr(back) and "baseline: crashing failed on 12 cases" in repr(back)
    # What fails besides is still told, and that a case is right is claimed of none that the metric did not measure.
    worse = assay.compare(baseline=before, candidate=score(*["13 days"] * 12, metrics=measured))
    assert ("regressed", 10) == (worse.metrics["failed"].verdict, len(worse.metrics["failed"].regressed))
    better = assay.compare(baseline=score(*["13 days"] * 12), candidate=after)
    assert "not significant" == better.metrics["failed"].verdict
