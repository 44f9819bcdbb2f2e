"""PASS means that something was asked and held; what gates and runs without one once said of nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.runs.scoring import write

from assay.cli import main
from assay.gates.gate_files import list_profile_names

HANDBOOK = Path(__file__).resolve().parents[2] / "examples/handbook"
EVERY_THIRD = slice(0, None, 3)
NONSENSE = {"en": "The amount is 987654 bananas.", "vi": "Số tiền là 987654 quả chuối."}
EXEMPT = ("rag-runner",)


def read_cases() -> list[dict[str, Any]]:
    """Return every third case of the handbook: wrong answers are as wrong in them as in all."""
    lines = (HANDBOOK / "golden/handbook.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines[EVERY_THIRD]]


def write_nonsense(path: Path) -> Path:
    """Write the recording of the candidate with every answer replaced by one wrong sentence in the case's language.

    Refusals stay as they are, so that no rule on behaviour sees a difference; citations stay too.
    """
    golden = read_cases()
    answerable = {case["id"]: case["language"] for case in golden if case["expected_behavior"] == "answer"}
    rows = []
    for line in (HANDBOOK / "outputs/hybrid-rerank.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["query_id"] in answerable:
            row["answer"] = NONSENSE[answerable[row["query_id"]]]
        if row["query_id"] in {case["id"] for case in golden}:
            rows.append(row)
    return Path(write(path, rows))


@pytest.fixture(scope="module")
def nonsense(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_nonsense(tmp_path_factory.mktemp("nonsense") / "outputs.jsonl")


def score(folder: Path, outputs: Path | str, *options: str) -> tuple[int, dict[str, Any]]:
    report, golden = folder / "report.json", write(folder / "golden.jsonl", read_cases())
    inputs = ["--golden", str(golden), "--corpus", str(HANDBOOK / "corpus/chunks.jsonl")]
    code = main(["score", *inputs, "--outputs", str(outputs), "--json-report", str(report), *options])
    return code, json.loads(report.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("profile", [name for name in list_profile_names() if name not in EXEMPT])
def test_wrong_answers_fail_every_profile_that_serves_answers(tmp_path: Path, nonsense: Path, profile: str) -> None:
    code, report = score(tmp_path, nonsense, "--profile", profile)
    rules = report["configs"]["hybrid-rerank"]["decision"]["rules"]
    states = [rule["state"] for rule in rules if rule["metric"] == "correct_answer"]
    assert (1, "FAIL", ["fail"]) == (code, report["decision"]["outcome"], states)


@pytest.mark.slow
@pytest.mark.parametrize("profile", EXEMPT)
def test_a_profile_that_is_exempt_from_correctness_says_so(tmp_path: Path, nonsense: Path, profile: str) -> None:
    _, report = score(tmp_path, nonsense, "--profile", profile)
    assert any(reason.startswith("correctness of answers was not checked") for reason in report["decision"]["reasons"])


@pytest.mark.slow
def test_a_gate_on_retrieval_alone_says_that_answers_were_not_checked(tmp_path: Path, nonsense: Path) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules: [{metric: recall@10, at_least: 0.5}]\n", encoding="utf-8")
    code, report = score(tmp_path, nonsense, "--gate", str(gate))
    assert (0, "PASS_WITH_RISK") == (code, report["decision"]["outcome"])
    assert ["correctness of answers was not checked: the gate has no rule on it"] == report["decision"]["reasons"]


# ── leaks, told from the case and not from its tags ──────────────────────────────────────────────────────────────

SECRET = "The salary of the director is 912345 a year."
CASE = {"expected_chunk_ids": ["c1"], "user_context": {"tenant_id": "t"}, "forbidden_text": ["912345"], "tags": ["hr"]}
DENIED = CASE | {"id": "denied", "question": "Salary?", "expected_behavior": "permission_denied"}
OPEN = CASE | {"id": "open", "question": "Leave?", "expected_behavior": "answer", "expected_answer": "12 days"}
GATE = "rules: [{metric: behaviour, at_least: 0.0}]\nexempt_from_correctness: a test\nzero_tolerance_tags: []\n"


@pytest.fixture
def leaking(tmp_path: Path) -> list[str]:
    golden = write(tmp_path / "golden.jsonl", [DENIED, OPEN])
    rows = [{"case_id": "denied", "answer": "I may not tell you."}, {"case_id": "open", "answer": SECRET}]
    outputs = write(tmp_path / "outputs.jsonl", [row | {"config_id": "a"} for row in rows])
    return ["score", "--golden", str(golden), "--outputs", str(outputs)]


def test_an_untagged_leak_fails_any_gate(tmp_path: Path, leaking: list[str]) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text(GATE, encoding="utf-8")
    assert 1 == main([*leaking, "--gate", str(gate)])


@pytest.mark.slow
def test_without_a_gate_a_leak_is_the_first_line_of_every_report(
    tmp_path: Path, leaking: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    run, markdown, page = tmp_path / "run", tmp_path / "report.md", tmp_path / "report.html"
    files = ["--run-dir", str(run), "--report", str(markdown), "--html", str(page)]
    assert 0 == main([*leaking, *files])
    lines = capsys.readouterr().out.splitlines()
    assert "a: NOT_GATED" == lines[0]
    assert lines[1].startswith(" - 1 of 2 cases leaked")
    text = markdown.read_text("utf-8")
    assert "\n\n- 🔴 **1 of 2 cases leaked" in text[: text.index("##")]
    assert "PASS" not in text
    assert 0 == main(["compare", str(run), str(run)])
    compared = capsys.readouterr().out
    assert ": NOT_GATED\n - 1 of 2 cases leaked" in compared


@pytest.mark.slow
@pytest.mark.parametrize(("options", "code"), [((), 0), (("--profile", "internal-search"), 3)])
def test_a_limited_run_is_partial_whatever_it_scored(
    tmp_path: Path, nonsense: Path, options: tuple[str, ...], code: int
) -> None:
    found, report = score(tmp_path, nonsense, "--limit", "3", *options)
    assert (code, "PARTIAL") == (found, report["decision"]["outcome"])
    assert "only the first 3 cases" in report["decision"]["reasons"][0]
