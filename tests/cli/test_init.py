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
    assert ["abstain", "abstain", "answer", "answer"] == [case.behaviour for case in cases]
    assert [(), ("permission_denied",), (), ()] == [case.also_accept for case in cases]
    printed = capsys.readouterr().err
    assert f"expected to abstain, because the reference does: {cases[0].id}\n" in printed
    assert f"expected to abstain or to deny access, because the reference denies it: {cases[1].id} (to look" in printed


def test_scores_of_another_tool_are_named_with_the_command_that_reads_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {
        "user_input": "How much leave?",
        "response": "12 days",
        "reference": "12 days",
        "faithfulness": 0.9,
        "seed": 1,
    }
    assert 0 == main(["init", "--from", write(folder, "ragas.json", [row])])
    printed = capsys.readouterr().err
    assert "because another tool scored it: faithfulness ×1 (`assay labels import FILE --format ragas`" in printed
    assert "because it has no counterpart: seed ×1" in printed


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
    printed = capsys.readouterr().err
    assert "no counterpart: provider openai:gpt-5-mini ×1, vars.language ×2" in printed
    assert "set up by hand: assert llm-rubric (a rubric of your own for a judge) ×1" in printed
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
    printed = capsys.readouterr().err
    assert "the question is the variable topic; the prompts around it are your system's part" in printed
    assert (
        "to be set up by hand: assert javascript (a metric of your own in Python) ×1, "
        "assert llm-rubric (a rubric of your own for a judge) ×1\n"
    ) in printed
    assert "next: name your target in assay.yaml, then: assay doctor" in printed
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
    printed = capsys.readouterr().err
    assert "no counterpart: assert regex ×1\n" in printed
    assert "by hand: assert latency (a rule on latency_ms(stat=p95)) ×1\n" in printed
    as_json, days, ahead, car = load_golden(folder / "golden.jsonl").golden.cases
    assert as_json.answer_format is not None and {"required": ["days"]} == as_json.answer_format.json_schema
    assert days.answer_format is not None and "\\d+ days" == days.answer_format.pattern
    assert (None, "answer", "abstain") == (ahead.answer_format, ahead.behaviour, car.behaviour)


def test_what_promptfoo_asks_of_every_test_is_asked_of_every_case(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configuration = {
        "defaultTest": {"assert": [{"type": "not-contains", "value": "As an AI"}, {"type": "moderation"}]},
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
        "no counterpart: assert contains ×1, assert contains-any ×1, assert contains: weight ×1, "
        "assert factuality ×1, assert moderation ×4, scenarios ×1\n"
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
    assert "c.yaml:1: tests[1].id: E_DUPLICATE_ID id given twice" in (said := capsys.readouterr().err)
    assert "it is at tests[0])" in said


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
        ("r.json", [RAGAS[0], {"response": "x"}], "r.json:1: row 2: question: E_IMPORT missing (got response"),
        (
            "r.json",
            [{"user_input": [{"content": "hi", "type": "human"}]}],
            "r.json:1: user_input: E_IMPORT a conversation",
        ),
        (
            "r.json",
            [{"input": "a", "expected": "b"}, {"turns": [{}]}],
            "r.json:1: row 2: turns: E_IMPORT conversations of several",
        ),
        ("r.json", [{"question": "a", "answer": "b"}], "r.json:1: answer: E_IMPORT could be what is expected or"),
        ("r.json", [{"question": "a", "input": "b", "reference": "c"}], "two questions, question and input"),
        ("r.json", [RAGAS[0], RAGAS[0]], "r.json:1: row 2: id: E_IMPORT the same case again"),
        ("r.json", {"version": 3}, "no rows"),
        ("r.json", "[{", "r.json"),
        ("r.csv", "question,reference\na,b,c\n", "r.csv:2: row 1: E_CELLS another number of cells"),
        (
            "r.csv",
            "question,contexts\na,['x' 'y']\n",
            "r.csv:2: row 1: contexts: E_CELL texts without a comma between them, as",
        ),
        (
            "r.csv",
            "question,contexts\na,\"['x', open('y')]\"\n",
            "r.csv:2: row 1: contexts: E_CELL a list that cannot be read",
        ),
        (
            "r.csv",
            "question,contexts\na,\"['x', 5]\"\n",
            "r.csv:2: row 1: contexts: E_CELL a list of other things than texts",
        ),
        ("r.json", [{"question": "a", "reference": "b", "ground_truth": "c"}], "reference: 'b' and ground_truth: 'c'"),
        ("r.csv", "Question,QUESTION\na,b\n", "r.csv:2: row 1: question: E_IMPORT given twice (got"),
        ("r.csv", "question,note,note\na,b,c\n", "r.csv: note: E_CELLS a column twice (got note"),
        ("r.json", [{"input": "a", "output": "b"}], "r.json:1: output: E_IMPORT could be what is expected or"),
        ("r.json", [{"_id": "1", "text": "a"}], "a BEIR data set is read with its judgments"),
        ("r.json", {"results": {"results": []}}, "of promptfoo the configuration with the tests is imported"),
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


LEAD = "The team lead approves leave."
SHAPES: list[tuple[str, Any, str | None, list[str], str | None]] = [
    ("t.csv", "Question,Expected Answer,Source\nWho?,The lead,hr.md\n", "The lead", [], None),
    ("t.csv", f'PROMPT,Ground Truth,Retrieved Contexts,Response\nWho?,The lead,["{LEAD}"],Me\n', "The lead", [], None),
    ("t.csv", f"question,ground_truth,contexts,answer\nWho?,The lead,\"['{LEAD}', 'b']\",Me\n", "The lead", [], "Me"),
    ("t.csv", f",user_input,reference,reference_contexts\n0,Who?,The lead,\"['{LEAD}']\"\n", "The lead", [LEAD], None),
    ("t.csv", "\ufeffQuestion;Expected output\r\nWho?;The lead, or HR\r\n", "The lead, or HR", [], None),
    ("t.tsv", "query\texpected\r\nWho?\tThe lead\r\n", "The lead", [], None),
    ("t.csv", "inputs.question,reference_outputs.text,outputs.answer\nWho?,The lead,Me\n", "The lead", [], "Me"),
    (
        "t.json",
        {"testCases": [{"input": "Who?", "actualOutput": "Me", "expectedOutput": "The lead", "context": [LEAD]}]},
        "The lead",
        [LEAD],
        "Me",
    ),
    (
        "t.jsonl",
        json.dumps({"inputs": {"q": "Who?"}, "outputs": {"answer": "Me"}, "reference_outputs": {"answer": "The lead"}}),
        "The lead",
        [],
        "Me",
    ),
    ("t.json", [{"input": {"question": "Who?"}, "expectedOutput": {"answer": "The lead"}}], "The lead", [], None),
    ("t.json", [{"inputs": {"q": "Who?"}, "expectations": {"expected_response": "L"}, "outputs": "Me"}], "L", [], "Me"),
    ("t.json", {"rows": [{"row_idx": 0, "row": {"question": "Who?", "ground_truth": "L"}}]}, "L", [], None),
    ("t.json", [{"input": "Who?", "record_id": "r1", "output": "Me"}], None, [], "Me"),
    ("t.json", [{"input": "Who?", "expected": "The lead", "output": "Me"}], "The lead", [], "Me"),
    (
        "t.json",
        {"data": [{"paragraphs": [{"context": LEAD, "qas": [{"question": "Who?", "answers": [{"text": "lead"}]}]}]}]},
        "lead",
        [LEAD],
        None,
    ),
    (
        "t.json",
        [{"question": "Who?", "context": LEAD, "answers": {"text": ["lead", "lead"], "answer_start": [9, 9]}}],
        "lead",
        [LEAD],
        None,
    ),
    ("t.json", '{"question": "Who?", "reference": "L"}\n{"question": "When?", "reference": "M"}\n', "L", [], None),
    ("t.yaml", "- vars: {question: Who?}\n  assert: [{type: equals, value: L}]\n", "L", [], None),
]


@pytest.mark.parametrize(("name", "content", "reference", "texts", "answer"), SHAPES)
def test_files_of_other_tools_are_read_as_they_are(
    folder: Path, name: str, content: Any, reference: str | None, texts: list[str], answer: str | None
) -> None:
    if "Response" in str(content):
        content, answer = content.replace(f'["{LEAD}"]', f'"[""{LEAD}""]"'), "Me"
    assert 0 == main(["init", "--from", write(folder, name, content)])
    case = load_golden(folder / "golden.jsonl").golden.cases[0]
    assert ("Who?", reference) == (case.question, case.reference)
    assert texts == [unit.quote for unit in case.evidence]
    outputs = folder / "outputs.jsonl"
    answers = [json.loads(line)["answer"] for line in outputs.read_text().splitlines()] if outputs.exists() else []
    assert ([] if answer is None else [answer]) == answers


def test_questions_of_llamaindex_have_the_ids_of_their_nodes(folder: Path) -> None:
    document = {"queries": {"a": "Who?"}, "corpus": {"n1": LEAD}, "relevant_docs": {"a": ["n1"]}, "mode": "text"}
    assert 0 == main(["init", "--from", write(folder, "qa.json", document)])
    (case,) = load_golden(folder / "golden.jsonl").golden.cases
    assert ("a", ({"chunk_id": "n1"},)) == (case.id, case.evidence[0].any_of)


def test_a_question_without_an_accepted_answer_is_to_be_declined(folder: Path) -> None:
    rows = [{"question": "Why?", "context": LEAD, "answers": {"text": [], "answer_start": []}}]
    assert 0 == main(["init", "--from", write(folder, "squad.json", rows)])
    (case,) = load_golden(folder / "golden.jsonl").golden.cases
    assert ("abstain", ()) == (case.behaviour, case.evidence)


def test_answers_of_two_systems_to_one_question_are_two_outputs_of_one_case(folder: Path) -> None:
    table = "question,reference,response,config\nWho?,L,Me,old\nWho?,L,The lead,new\n"
    assert 0 == main(["init", "--from", write(folder, "both.csv", table)])
    (case,) = load_golden(folder / "golden.jsonl").golden.cases
    rows = [json.loads(line) for line in (folder / "outputs.jsonl").read_text().splitlines()]
    assert [("old", "Me"), ("new", "The lead")] == [(row["config_id"], row["answer"]) for row in rows]
    assert [case.id] * 2 == [row["case_id"] for row in rows]


@pytest.mark.parametrize(
    ("second", "remedy"),
    [
        ("Who?,L,Me,old", "a config_id in each row that names the system"),
        ("Who?,M,Me,new", "expected an id of its own for each case"),
        ("Who?,L,,", "expected each case once: leave one of the rows out"),
    ],
)
def test_a_case_that_is_there_again_is_refused_with_what_to_do(
    folder: Path, second: str, remedy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = f"question,reference,response,config\nWho?,L,I,old\n{second}\n"
    assert 2 == main(["init", "--from", write(folder, "both.csv", table)])
    message = capsys.readouterr().err
    assert "both.csv:3: row 2: id: E_IMPORT the same case again" in message
    assert remedy in message


def test_columns_that_are_not_read_are_named_with_what_was_meant(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(
        ["init", "--from", write(folder, "t.csv", "Question,Retrived Contexts,Source,Mood\nWho?,L,hr.md,\n")]
    )
    message = capsys.readouterr().err
    assert "Retrived Contexts (did you mean retrieved_contexts?) ×1" in message
    assert "Source (a text that holds the answer is named reference_contexts" in message
    assert "the expected answer is read from reference, expected_output" in message


def test_a_column_that_says_what_is_expected_under_a_misspelt_name_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == main(["init", "--from", write(folder, "t.csv", "Question,Expcted Answer,Mood\nWho?,Lena,\n")])
    message = capsys.readouterr().err
    assert (
        "t.csv:2: row 1: Expcted Answer: E_IMPORT not read (got 'Lena'; expected it under the name expected_answer"
        in message
    )
    assert not (folder / "golden.jsonl").exists()


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_a_table_in_another_encoding_is_refused_with_how_to_save_it(
    folder: Path, encoding: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "t.csv").write_bytes("question,reference\nWie heißt er?,Jürgen\n".encode(encoding))
    assert 2 == main(["init", "--from", "t.csv"])
    assert "in a spreadsheet, save as “CSV UTF-8”" in capsys.readouterr().err


def test_recorded_rows_may_have_titles_for_names(folder: Path) -> None:
    write(folder, "golden.jsonl", json.dumps({"id": "who", "question": "Who?", "reference": "The lead"}))
    write(folder, "out.csv", "Question,Actual Output\nWho?,The lead\n")
    assert 0 == main(["score", "--golden", "golden.jsonl", "--outputs", "out.csv", "--metrics", "answer_similarity"])


@pytest.mark.parametrize(
    ("question", "reference", "behaviour"),
    [
        ("Is it me?", "me", "answer"),
        ("Whose cup is it?", "my", "answer"),
        ("Which error does a stranger get?", "Access denied", "answer"),
        ("Welche Fehlermeldung sieht ein Gast?", "Zugriff verweigert", "answer"),
        ("What error message is shown?", "Permission denied.", "answer"),
        ("What does a colleague earn?", "Access denied", "abstain"),
        ("Which colleague made the error?", "No access", "abstain"),
        ("Who has the key?", "unknown", "abstain"),
        ("Who has the key?", "n/a", "abstain"),
    ],
)
def test_a_short_reference_abstains_only_where_it_declines(
    folder: Path, question: str, reference: str, behaviour: str
) -> None:
    write(folder, "rows.json", [{"question": question, "reference": reference}])
    assert 0 == main(["init", "--from", "rows.json"])
    (case,) = load_golden(folder / "golden.jsonl").golden.cases
    assert (behaviour, reference) == (case.behaviour, case.reference)


@pytest.mark.parametrize(
    ("count", "listed"), [(12, "r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11"), (40, "40 cases")]
)
def test_cases_that_are_expected_to_abstain_are_all_listed_or_counted(
    folder: Path, capsys: pytest.CaptureFixture[str], count: int, listed: str
) -> None:
    rows = [{"id": f"r{row}", "question": f"Q{row}?", "reference": "I don't know."} for row in range(count)]
    write(folder, "rows.json", rows)
    assert 0 == main(["init", "--from", "rows.json"])
    assert f"expected to abstain, because the reference does: {listed}" in capsys.readouterr().err


def test_a_chunk_that_cannot_be_read_is_named_with_its_list(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, "rows.jsonl", '{"question": "Who?", "response": "Ida", "contexts": ["The porter.", 7]}\n')
    assert 2 == main(["init", "--from", "rows.jsonl"])
    assert "rows.jsonl:1: E_IMPORT contexts: chunk 1: neither an object nor an id (got 7)" in capsys.readouterr().err
