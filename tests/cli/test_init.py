"""`assay init`: from nothing, or from the files of another tool, to settings, a golden set and a first reply."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from assay.formats.golden_files import load_golden

LEAVE = "Permanent staff have twelve days of paid leave a year."
RAGAS = [
    {
        "user_input": "How much leave?", "retrieved_contexts": [LEAVE], "response": "Twelve days.",
        "reference": "12 days", "reference_contexts": [LEAVE], "synthesizer_name": "single_hop",
    },
    {"user_input": "Who approves?", "retrieved_contexts": [], "response": "Your lead.", "reference": "The team lead"},
]  # fmt: skip
DEEPEVAL = {
    "goldens": [{"input": "How much leave?", "expected_output": "12 days", "context": [LEAVE], "source_file": "hr.md"}]
}
PROMPTFOO = """\
prompts: [file://prompt.txt]
providers: [openai:gpt-5-mini]
defaultTest: {vars: {language: English}}
tests:
  - vars: {question: How much leave?}
    assert:
      - {type: icontains, value: 12 days}
      - {type: llm-rubric, value: is polite}
  - vars: {question: What is 2 + 2?}
    assert:
      - {type: equals, value: '4'}
      - {type: not-contains, value: '5'}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def write(folder: Path, name: str, content: Any) -> str:
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text, encoding="utf-8")
    return name


def test_from_nothing_there_are_settings_and_a_golden_set_that_can_be_read(folder: Path) -> None:
    assert 0 == main(["init"])
    assert 3 == len(load_golden(folder / "golden.jsonl").golden.cases)
    assert "type: python" in (folder / "assay.yaml").read_text()


def test_a_target_that_is_named_is_asked_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        folder,
        "init_rag.py",
        "asked = []\ndef ask(question):\n    asked.append(question)\n    return {'answer': 'x'}\n",
    )
    assert 0 == main(["init", "--target", "init_rag:ask"])
    assert "ok    target my-system: ask: understood as\n      answer: 'x'\n" in capsys.readouterr().out
    import init_rag  # type: ignore[import-not-found]  # written by this test

    assert 1 == len(init_rag.asked)


def test_a_target_that_fails_says_why_and_the_files_stay(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["init", "--target", "no_such_module:ask"])
    assert "no_such_module:ask cannot be imported" in capsys.readouterr().out
    assert (folder / "assay.yaml").exists()


def test_rows_of_ragas_become_a_golden_set_and_outputs_that_score(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(["init", "--from", write(folder, "ragas.json", RAGAS)])
    assert "2 cases: 2 with a reference, 1 with evidence; 2 recorded outputs" in capsys.readouterr().err
    case = load_golden(folder / "golden.jsonl").golden.cases[0]
    assert ("12 days", LEAVE, ("single_hop",)) == (case.reference, case.evidence[0].quote, case.tags)
    assert 0 == main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--metrics", "recall@5"])
    assert "1.000" in capsys.readouterr().out


def test_a_reference_that_abstains_expects_an_abstention(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gym = {"user_input": "Which gym is paid for?", "reference": "The information is not provided in the documents."}
    pay = {"user_input": "What does the CEO earn?", "reference": "You do not have permission to see salaries."}
    fee = {"user_input": "What does parking cost?", "reference": "There is no fee."}
    stated = {**gym, "id": "stated", "expected_behavior": "answer"}
    assert 0 == main(["init", "--from", write(folder, "ragas.json", [gym, pay, fee, stated])])
    cases = load_golden(folder / "golden.jsonl").golden.cases
    assert ["abstain", "answer", "answer", "answer"] == [case.behaviour for case in cases]
    assert f"expected to abstain, because the reference does: {cases[0].id}\n" in capsys.readouterr().err


def test_goldens_of_deepeval_have_their_context_as_evidence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["init", "--from", write(folder, "dataset.json", DEEPEVAL)])
    assert "not imported, because it has no counterpart: source_file ×1" in capsys.readouterr().err
    (case,) = load_golden(folder / "golden.jsonl").golden.cases
    assert ("How much leave?", "12 days", LEAVE) == (case.question, case.reference, case.evidence[0].quote)
    assert not (folder / "outputs.jsonl").exists()


def test_tests_of_promptfoo_have_their_texts_and_the_others_are_counted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(["init", "--from", write(folder, "promptfooconfig.yaml", PROMPTFOO)])
    said = capsys.readouterr().err
    assert "assert llm-rubric ×1, vars.language ×2" in said
    leave, total = load_golden(folder / "golden.jsonl").golden.cases
    assert (("12 days",), "4") == (leave.must_have, total.reference)
    assert total.rubric is not None
    assert ("5",) == total.rubric.incorrect_patterns


PROMPTFOO_INIT = """\
description: "My eval"
prompts:
  - "Write a tweet about {{topic}}"
providers:
  - "openai:gpt-5-mini"
tests:
  - vars:
      topic: bananas
  - vars:
      topic: avocado toast
    assert:
      - type: icontains
        value: avocado
      - type: javascript
        value: 1 / (output.length + 1)
  - vars:
      topic: new york city
    assert:
      - type: llm-rubric
        value: ensure that the output is funny
"""


def test_the_configuration_that_promptfoo_itself_writes_is_imported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `promptfoo init` of version 0.121.20 writes it."""
    assert 0 == main(["init", "--from", write(folder, "promptfooconfig.yaml", PROMPTFOO_INIT)])
    said = capsys.readouterr().err
    assert "the question is the variable topic; the prompts around it are your system's part" in said
    assert "assert javascript ×1, assert llm-rubric ×1" in said
    assert "next: name your target in assay.yaml, then: assay doctor" in said
    cases = load_golden(folder / "golden.jsonl").golden.cases
    assert [("bananas", ()), ("avocado toast", ("avocado",)), ("new york city", ())] == [
        (case.question, case.must_have) for case in cases
    ]


def test_forms_and_refusals_of_promptfoo_become_those_of_a_case(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tests = [
        {"vars": {"question": "As JSON?"}, "assert": [{"type": "is-json", "value": {"required": ["days"]}}]},
        {"vars": {"question": "Days?"}, "assert": [{"type": "regex", "value": "\\d+ days"}, {"type": "latency"}]},
        {"vars": {"question": "Ahead?"}, "assert": [{"type": "regex", "value": "x(?=y)"}]},
        {"vars": {"question": "Steal a car?"}, "assert": [{"type": "is-refusal"}]},
    ]
    assert 0 == main(["init", "--from", write(folder, "c.yaml", {"tests": tests})])
    assert "assert latency ×1, assert regex ×1" in capsys.readouterr().err
    as_json, days, ahead, car = load_golden(folder / "golden.jsonl").golden.cases
    assert as_json.answer_format is not None and {"required": ["days"]} == as_json.answer_format.json_schema
    assert days.answer_format is not None and "\\d+ days" == days.answer_format.pattern
    assert (None, "answer", "abstain") == (ahead.answer_format, ahead.behaviour, car.behaviour)


def test_what_promptfoo_asks_of_every_test_is_asked_of_every_case(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configuration = {
        "defaultTest": {"assert": [{"type": "not-contains", "value": "As an AI"}, {"type": "cost", "threshold": 1}]},
        "tests": [
            {"vars": {"question": "Price?"}, "assert": [{"type": "contains", "value": "49", "weight": 3}]},
            {
                "vars": {"question": "For {{whom}}?", "whom": "whom"},
                "assert": [{"type": "equals", "value": "{{whom}}"}],
            },
            {"vars": {"question": "Open?"}, "assert": [{"type": "contains", "value": "{{hour}}"}]},
            {
                "vars": {"question": "Any?"},
                "assert": [
                    {"type": "contains-any", "value": "49, 50"},
                    {"type": "contains-any", "value": ["a"]},
                    {"type": "equals", "value": "x"},
                    {"type": "factuality", "value": "y"},
                ],
            },
        ],
        "scenarios": [{"config": [], "tests": []}],
    }
    assert 0 == main(["init", "--from", write(folder, "c.yaml", configuration)])
    assert (
        "no counterpart: assert contains ×1, assert contains-any ×1, assert contains: weight ×1, assert cost ×4, "
        "assert factuality ×1, scenarios ×1, vars.whom ×1"
    ) in capsys.readouterr().err
    cases = load_golden(folder / "golden.jsonl").golden.cases
    assert all(case.rubric is not None and ("As an AI",) == case.rubric.incorrect_patterns for case in cases)
    assert [("Price?", ("49",)), ("For whom?", ("whom",)), ("Open?", ()), ("Any?", ("x",))] == [
        (case.question, case.must_have) for case in cases
    ]
    assert cases[3].rubric is not None and ("49", "50") == cases[3].rubric.correct_keywords


def test_a_table_of_tests_has_its_assertions(folder: Path) -> None:
    write(
        folder,
        "tests.csv",
        "question,__expected,__expected2\nHow much?,contains: 49,\nWho?,is-refusal,\nRaw?,exactly,\n",
    )
    assert 0 == main(["init", "--from", write(folder, "c.yaml", {"tests": "file://tests.csv"})])
    much, who, raw = load_golden(folder / "golden.jsonl").golden.cases
    assert (("49",), "abstain", "exactly") == (much.must_have, who.behaviour, raw.reference)


def test_a_question_given_twice_is_named_by_its_rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tests = [{"vars": {"question": "Same?"}}, {"vars": {"question": "Same?"}}]
    assert 2 == main(["init", "--from", write(folder, "c.yaml", {"tests": tests})])
    assert "c.yaml:2: id: E_DUPLICATE_ID id given twice" in (said := capsys.readouterr().err)
    assert "it is at row 1)" in said


def test_a_spreadsheet_with_semicolons_and_capitals_is_read(folder: Path) -> None:
    assert 0 == main(["init", "--from", write(folder, "rows.csv", "Question;Reference\nHow much, please?;4,50\n")])
    (case,) = load_golden(folder / "golden.jsonl").golden.cases
    assert ("How much, please?", "4,50") == (case.question, case.reference)


def test_a_spreadsheet_is_read_with_its_lists(folder: Path) -> None:
    text = 'question,reference,contexts,answer\nHow much leave?,12 days,"[""' + LEAVE + '""]",Twelve\n'
    assert 0 == main(["init", "--from", write(folder, "rows.csv", text)])
    (row,) = [json.loads(line) for line in (folder / "outputs.jsonl").read_text().splitlines()]
    assert ("Twelve", LEAVE) == (row["answer"], row["stages"][0]["chunks"][0]["text"])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.json", [RAGAS[0], {"response": "x"}], "r.json:2: question: E_IMPORT missing (got response"),
        (
            "r.json",
            [{"user_input": [{"content": "hi", "type": "human"}]}],
            "r.json:1: user_input: E_IMPORT a conversation",
        ),
        (
            "r.json",
            [{"input": "a", "expected": "b"}, {"turns": [{}]}],
            "r.json:2: turns: E_IMPORT conversations of several",
        ),
        ("r.json", [{"question": "a", "answer": "b"}], "r.json:1: answer: E_IMPORT could be what is expected or"),
        ("r.json", [{"question": "a", "input": "b", "reference": "c"}], "two questions, question and input"),
        ("r.json", [RAGAS[0], RAGAS[0]], "r.json:2: id: E_IMPORT the same case again"),
        ("r.json", {"version": 3}, "no rows"),
        ("r.json", "[{", "r.json"),
        ("r.csv", "question,reference\na,b,c\n", "r.csv:1: E_CELLS another number of cells"),
        ("r.csv", "question,contexts\na,\"['x', 'y']\"\n", "r.csv:1: E_CELL a list as Python prints it"),
        ("p.yaml", "tests: [{vars: {a: why, b: how}}]\n", "p.yaml:1: tests[0].vars: E_IMPORT no variable that is the"),
        ("p.yaml", "tests: 'huggingface://datasets/x'\n", "tests: E_IMPORT no list of tests"),
    ],
)
def test_a_malformed_or_foreign_file_is_refused_with_row_and_field_and_nothing_is_written(
    folder: Path, name: str, content: Any, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == main(["init", "--from", write(folder, name, content)])
    assert message in capsys.readouterr().err
    assert [name] == sorted(path.name for path in folder.iterdir())


def test_nothing_is_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, "golden.jsonl", "mine")
    assert 2 == main(["init", "--from", write(folder, "ragas.json", RAGAS)])
    assert "golden.jsonl: E_EXISTS already exists" in capsys.readouterr().err
    assert ("mine", False) == ((folder / "golden.jsonl").read_text(), (folder / "assay.yaml").exists())
