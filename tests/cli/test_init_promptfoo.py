"""`assay init --from promptfooconfig.yaml`: what its tests, limits and HTTP providers become."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.formats.settings_file import load_config
from assay.records.golden_set import Case
from assay.records.settings import GateSettings, HttpTargetSettings, PythonTargetSettings
from assay.text.linear_patterns import PatternError, compile_linear

TESTS = [{"vars": {"question": "When is high tide?"}, "assert": [{"type": "contains", "value": "06:30"}]}]
SECRET = "sk-proj-Zx81hQ0aPnW4tYvB7dKcR2mL"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_import(code: int = 0, **document: Any) -> None:
    Path("promptfooconfig.yaml").write_text(json.dumps({"tests": TESTS, **document}), encoding="utf-8")
    assert code == main(["init", "--from", "promptfooconfig.yaml"])


def import_target(provider: Any, **document: Any) -> HttpTargetSettings:
    run_import(providers=[provider], **document)
    ((_, target),) = load_config("assay.yaml").settings.targets.items()
    assert isinstance(target, HttpTargetSettings)
    return target


def load_cases() -> tuple[Case, ...]:
    return load_golden("golden.jsonl").golden.cases


def test_a_provider_with_address_headers_and_body_is_a_target(capsys: pytest.CaptureFixture[str]) -> None:
    config = {
        "url": "https://tides.example.com/v1/ask",
        "method": "put",
        "headers": {"Content-Type": "application/json", "x-area": "{{area}}", "Authorization": "Bearer {{env.TIDES}}"},
        "body": {"messages": [{"role": "user", "content": "{{prompt}}"}], "top": 3},
        "transformResponse": "json.choices[0].message.content",
    }
    target = import_target(
        {"id": "https", "label": "Tide desk", "config": config},
        prompts=["Answer for {{area}}: {{question}}"],
        defaultTest={"vars": {"area": "Baltic"}},
    )
    assert ("https://tides.example.com/v1/ask", "PUT", {"x-area": "Baltic"}) == (
        target.url,
        target.method,
        target.headers,
    )
    assert {"messages": [{"role": "user", "content": "Answer for Baltic: {{question}}"}], "top": 3} == target.body
    assert target.auth is not None
    assert ("TIDES", "Authorization", "Bearer") == (target.auth.env, target.auth.header, target.auth.scheme)
    assert "choices[0].message.content" == target.response.answer
    printed = capsys.readouterr().err
    assert "target Tide-desk of the settings is the provider https://tides.example.com/v1/ask" in printed
    assert "not imported" not in printed
    assert "next: assay doctor" in printed


def test_an_address_as_id_with_parameters_is_a_target() -> None:
    target = import_target({"id": "http://localhost:8080/find?q={{prompt}}", "config": {"queryParams": {"n": 5}}})
    assert ("http://localhost:8080/find", "GET", {"q": "{{question}}", "n": "5"}) == (
        target.url, target.method, target.query,
    )  # fmt: skip


def test_a_secret_is_never_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = {
        "headers": {"X-Api-Key": SECRET, "cookie": f"session={SECRET}"},
        "body": {"q": "{{question}}", "api_key": SECRET, "page_token": "abc"},
        "queryParams": {"token": SECRET},
    }
    target = import_target({"id": "https://tides.example.com/ask", "label": "tides", "config": config})
    written = "".join(path.read_text() for path in folder.iterdir() if path.name != "promptfooconfig.yaml")
    assert SECRET not in written
    assert target.auth is not None and ("TIDES_X_API_KEY", "X-Api-Key", "") == (
        target.auth.env, target.auth.header, target.auth.scheme,
    )  # fmt: skip
    assert ({"q": "{{question}}"}, {}, {}) == (target.body, target.query, target.headers)
    printed = capsys.readouterr().err
    assert "set TIDES_X_API_KEY in the environment to it" in printed
    assert SECRET not in printed
    for name in (
        "body.api_key (a secret)",
        "body.page_token (a secret)",
        "headers.cookie",
        "queryParams.token (a secret)",
    ):
        assert f"provider: {name} ×1" in printed


def test_what_a_target_cannot_do_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    config = {
        "body": {"q": "{{question}}", "for": "{{age}}"},
        "transformResponse": "json.a.filter(x => x.ok)[0]",
        "transformRequest": "file://request.js",
    }
    providers = [
        {"id": "https://one.example.com/ask", "config": config},
        {"id": "https://two.example.com/{{question}}", "config": {}},
        {"id": "https", "config": {"request": "POST / HTTP/1.1"}},
        {"id": "https://three.example.com", "config": {"method": "DELETE"}},
        "openai:chat:any",
    ]
    run_import(providers=providers)
    assert ["one.example.com"] == list(load_config("assay.yaml").settings.targets)
    printed = capsys.readouterr().err
    for name in ("body.for", "transformResponse", "transformRequest", "url", "method DELETE"):
        assert f"provider: {name} ×1" in printed
    assert "provider https ×1" in printed and "provider openai:chat:any ×1" in printed


def test_a_model_alone_leaves_the_target_to_name(capsys: pytest.CaptureFixture[str]) -> None:
    run_import(providers=["openai:chat:any"])
    assert [PythonTargetSettings] == [type(target) for target in load_config("assay.yaml").settings.targets.values()]
    assert "next: name your target in assay.yaml, then: assay doctor" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "metric", "limit"), [("latency", "latency_ms(stat=p95)", 2500), ("cost", "cost_usd(stat=p95)", 0.02)]
)
def test_a_limit_of_time_or_money_for_all_tests_is_a_rule(
    capsys: pytest.CaptureFixture[str], kind: str, metric: str, limit: float
) -> None:
    run_import(defaultTest={"assert": [{"type": kind, "threshold": limit}]})
    gate = load_config("assay.yaml").settings.gate
    assert isinstance(gate, GateSettings)
    assert [(metric, limit)] == [(rule.metric, rule.at_most) for rule in gate.rules]
    printed = capsys.readouterr().err
    assert f"assert {kind} is the rule {metric} at most {limit:g} of the gate: of 19 in 20 answers" in printed
    assert "not imported" not in printed


@pytest.mark.parametrize("kind", ["latency", "cost"])
def test_limits_that_not_all_tests_share_are_left_to_set_up(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    slow = {"vars": {"question": "Which pier?"}, "assert": [{"type": kind, "threshold": 9000}]}
    run_import(tests=[*TESTS, slow])
    assert load_config("assay.yaml").settings.gate is None
    assert f"not imported, to be set up by hand: assert {kind} (a rule on {kind}_" in capsys.readouterr().err


def test_the_page_names_for_an_assertion_what_the_import_names(capsys: pytest.CaptureFixture[str]) -> None:
    """What docs/coming-from.md maps to something of Assay is never said to have no counterpart."""
    kinds = {
        "context-faithfulness": "`faithfulness(by=judge)`", "answer-relevance": "`answer_relevance(by=judge)`",
        "rouge-n": "`answer_similarity`", "levenshtein": "`answer_similarity`", "context-recall": "`context_recall`",
        "llm-rubric": "[a rubric]", "javascript": "[a function]", "python": "[a function]",
        "context-relevance": "`context_precision`", "word-count": "`answer_format`", "cost": "`cost_usd`",
    }  # fmt: skip
    page = (Path(__file__).parents[2] / "docs" / "coming-from.md").read_text(encoding="utf-8")
    for kind, name in kinds.items():
        rows = [row.split("|") for row in page.splitlines() if row.startswith("| ")]
        assert any(kind in row[5] and name in row[2] for row in rows if len(row) > 5), kind
    run_import(tests=[{"vars": {"question": "Is it open?"}, "assert": [{"type": kind} for kind in kinds]}])
    printed = capsys.readouterr().err
    by_hand = next(line for line in printed.splitlines() if line.startswith("not imported, to be set up by hand"))
    for kind in kinds.keys() - {"word-count"}:
        assert f"assert {kind} (" in by_hand


def test_a_list_of_questions_is_a_case_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    variables = {"question": ["Is the ferry late?", "Is {{pier}} open?"], "pier": ["east", "west"], "seen": ["a", "b"]}
    run_import(tests=[{"vars": variables, "assert": [{"type": "not-contains", "value": "maybe"}]}])
    assert "a list of questions is a case for each of them" in capsys.readouterr().err
    assert ["Is the ferry late?", "Is east open?", "Is west open?"] == [case.question for case in load_cases()]
    assert all(case.rubric is not None for case in load_cases())


def test_an_empty_list_of_questions_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    run_import(tests=[*TESTS, {"vars": {"question": []}}], code=2)
    assert "tests[1].vars.question: E_IMPORT an empty list" in capsys.readouterr().err


def test_a_list_of_questions_that_promptfoo_does_not_take_apart_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    run_import(tests=[{"vars": {"question": ["When?", "Where?"]}, "options": {"disableVarExpansion": True}}], code=2)
    assert "tests[0].vars.question: E_IMPORT not a text" in capsys.readouterr().err


def test_lengths_and_sets_of_assertions_are_those_of_the_case() -> None:
    inner = {"type": "assert-set", "assert": [{"type": "contains", "value": "noon"}]}
    share = {**inner, "threshold": 0.5, "assert": [{"type": "contains", "value": "pier"}]}
    words = {"type": "word-count", "value": {"min": 2, "max": 40}}
    run_import(tests=[{"vars": {"question": "When?"}, "assert": [inner, share, words]}])
    (case,) = load_cases()
    assert ("noon",) == case.must_have
    assert case.answer_format is not None
    assert (2, 40) == (case.answer_format.min_words, case.answer_format.max_words)


def test_metadata_and_other_variables_are_attributes(capsys: pytest.CaptureFixture[str]) -> None:
    tests = [
        {"vars": {"question": "Which pier?", "area": "north"}, "metadata": {"team": "desk"}, "assert": []},
        {"vars": {"question": "Which buoy?", "area": "south", "context": "Buoy 7 " * 40}, "metadata": {"team": "sea"}},
    ]
    run_import(tests=tests)
    assert [{"area": "north", "team": "desk"}, {"area": "south", "team": "sea"}] == [
        case.attributes for case in load_cases()
    ]
    printed = capsys.readouterr().err
    assert "golden-set columns read as attributes, for slices and gates: area=north, team=desk" in printed
    assert "vars.context ×1" in printed


def test_a_table_of_tests_has_its_metadata(folder: Path) -> None:
    table = "question,__expected,__metadata:team,__metadata:areas[]\nWhich pier?,contains: 4,desk,north\n"
    (folder / "tests.csv").write_text(table, encoding="utf-8")
    run_import(tests="file://tests.csv", providers=[{"id": "https://tides.example.com/ask"}])
    assert [{"team": "desk", "areas": "north"}] == [case.attributes for case in load_cases()]
    assert ["tides.example.com"] == list(load_config("assay.yaml").settings.targets)


def test_a_pattern_without_case_is_the_form_of_the_answer() -> None:
    tests = [{"vars": {"question": "Is it open?"}, "assert": [{"type": "regex", "value": "(?i)^open"}]}]
    run_import(tests=tests)
    (case,) = load_cases()
    assert case.answer_format is not None and "(?i)^open" == case.answer_format.pattern
    assert compile_linear("(?i)^open").matches("OPEN until six")
    assert not compile_linear("(?i)^open").matches("It is OPEN")
    assert not compile_linear("^open").matches("OPEN until six")
    with pytest.raises(PatternError, match="at character 6"):
        compile_linear("(?i)^(?=x)")


def test_words_and_scalars_of_yaml_are_the_texts_that_promptfoo_reads(capsys: pytest.CaptureFixture[str]) -> None:
    """js-yaml reads `no` as a text; a boolean is written as `true`, and no text to look for."""
    Path("promptfooconfig.yaml").write_text(
        """\
tests:
  - vars: {question: "Is it open on Sunday?", answer: no}
    assert: [{type: equals, value: no}, {type: icontains, value: "{{answer}}"}]
  - vars: {question: "Is {{tide}} m high?", tide: 2.50, high: true}
    assert: [{type: equals, value: "{{high}}"}, {type: contains, value: 2.50}, {type: contains, value: false}]
""",
        encoding="utf-8",
    )
    assert 0 == main(["init", "--from", "promptfooconfig.yaml"])
    first, second = load_cases()
    assert ("no", ("no",)) == (first.reference, first.must_have)
    assert ("Is 2.5 m high?", "true", ("true", "2.5")) == (second.question, second.reference, second.must_have)
    assert "assert contains" in capsys.readouterr().err
