"""Comparisons across versions of one golden set: on the cases that both ask and expect alike, the rest named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import golden
from assay.cli import main
from assay.comparison.baseline_file import read_baseline
from assay.records.errors import ExitCode, InputError

AT = "2026-03-01T08:00:00Z"
COUNT = 40
GATE = "rules: [{metric: correct_answer, max_regression: 0.1, basis: point}]\n"
CASES: list[dict[str, Any]] = [
    {"id": f"bay-{number:02}", "question": f"Which bus leaves from bay {number}?", "must_have": [f"line {number}"]}
    for number in range(1, COUNT + 1)
]
NEW_ANSWERS = {"bay-01": "line 91", "bay-02": "line 92", "bay-03": "line 93"}


def write(name: str, rows: list[dict[str, Any]]) -> str:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


def answer(name: str, cases: list[dict[str, Any]], wrong: tuple[str, ...] = (), **new: str) -> str:
    """Write what a system says: every case rightly but for those in `wrong`."""
    rows = []
    for case in cases:
        said = "line 7777" if case["id"] in wrong else case["must_have"][0]
        rows.append({"case_id": case["id"], "config_id": "c", "answer": f"It is {said}."})
    return write(name, rows)


@pytest.fixture
def versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Two versions of a set, v1.jsonl and v2.jsonl: 3 updated, 2 retired, 5 added; the cases of the second."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    Path("gate.yaml").write_text(GATE, encoding="utf-8")
    options: dict[str, Any] = {"owner": "ann", "at": AT, "accept_all": True}
    golden.freeze(write("cases.jsonl", CASES), "v1.jsonl", version="1", change="first", **options)
    updated = [{**case, "must_have": [NEW_ANSWERS[case["id"]]]} for case in CASES[:3]]
    added = [{**CASES[0], "id": f"stop-{letter}", "question": f"Which bus stops at {letter}?"} for letter in "abcde"]
    retired = {"bay-39": "closed", "bay-40": "closed"}
    new = write("new.jsonl", [*updated, *added])
    golden.freeze(
        new, "v2.jsonl", version="2", change="new lines", base="v1.jsonl", update=True, retire=retired, **options
    )
    assert ExitCode.PASS == score("v1.jsonl", answer("before.jsonl", CASES), "--run-dir", "before")
    return [*updated, *CASES[3:38], *added]


def score(set_file: str, outputs: str, *options: str) -> int:
    return main(["score", "--golden", set_file, "--outputs", outputs, "--no-ledger", "--no-history", *options])


def test_two_runs_of_versions_are_compared_on_the_cases_that_both_share(
    versions: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tuple(case["id"] for case in versions[:8])  # the three updated ones are no part of the comparison
    score("v2.jsonl", answer("after.jsonl", versions, wrong), "--run-dir", "after")
    capsys.readouterr()
    files = ["--report", "r.md", "--json-report", "r.json"]
    assert ExitCode.PASS == main(["compare", "before", "after", "--metrics", "correct_answer", *files])
    printed = " ".join(capsys.readouterr().out.split())
    sentence = "versions of the golden set: 1 and 2, compared on 35 cases of the same question, answer and labels"
    rest = "not compared: 3 updated, 2 retired, 5 added; updated: bay-01, bay-02, bay-03; retired: bay-39, bay-40;"
    assert sentence in printed and rest in printed
    assert sentence in Path("r.md").read_text(encoding="utf-8")
    assert sentence in Path("r.json").read_text(encoding="utf-8")
    comparison = assay.compare("before", "after")
    change = comparison.metrics["correct_answer"]
    # 5 of the 35 shared answers are wrong now: 1 - 5/35.
    assert (35, 1.0) == (change.n, change.baseline)
    assert pytest.approx(30 / 35) == change.candidate
    assert 5 == sum("correct_answer" in case.regressed for case in comparison.cases)


def test_the_newer_version_may_be_the_baseline(
    versions: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    score("v2.jsonl", answer("after.jsonl", versions), "--run-dir", "after")
    capsys.readouterr()
    assert ExitCode.PASS == main(["compare", "after", "before", "--metrics", "correct_answer"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "versions of the golden set: 1 and 2 (the baseline is 2), compared on 35 cases" in printed
    assert "2 retired, 5 added; updated: bay-01, bay-02, bay-03; retired: bay-39, bay-40; added: stop-a," in printed


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize(("wrong", "code"), [(3, ExitCode.PASS), (9, ExitCode.FAILED)])
def test_a_regression_rule_looks_at_the_shared_cases_and_names_the_others(
    versions: list[dict[str, Any]], capsys: pytest.CaptureFixture[str], wrong: int, code: int, saved: bool
) -> None:
    """Wrong on the three updated cases and all that were added, and on some of the shared ones."""
    baseline = "before"
    if saved:
        baseline = "baseline.json"
        assert ExitCode.PASS == main(["baseline", "save", "before", "--out", baseline])
    others = [case["id"] for case in versions if case["id"].startswith("stop") or case["id"] in NEW_ANSWERS]
    shared = [case["id"] for case in versions if case["id"] not in others]
    outputs = answer("after.jsonl", versions, (*others, *shared[:wrong]))
    capsys.readouterr()
    assert code == score("v2.jsonl", outputs, "--gate", "gate.yaml", "--baseline", baseline, "--run-dir", "after")
    printed = capsys.readouterr()
    assert "versions of the golden set: 1 and 2, compared on 35 cases" in printed.out + printed.err
    assert code == main(["gate", "check", "after", "--gate", "gate.yaml", "--baseline", baseline])
    table = " ".join(capsys.readouterr().out.split())
    assert "(n 35)" in table and "8 cases of another version of the set not compared" in table


def test_a_baseline_keeps_digests_of_what_its_cases_ask_and_no_question(versions: list[dict[str, Any]]) -> None:
    assert ExitCode.PASS == main(["baseline", "save", "before", "--out", "baseline.json"])
    file = read_baseline("baseline.json")
    assert COUNT == len(set(file.contents)) == len(file.cases)
    assert "Which bus" not in Path("baseline.json").read_text(encoding="utf-8")
    old = json.loads(Path("baseline.json").read_bytes())
    old["version"] = 4
    del old["contents"]
    Path("old.json").write_text(json.dumps(old), encoding="utf-8")
    score("v2.jsonl", answer("after.jsonl", versions), "--run-dir", "after")
    with pytest.raises(InputError, match=r"old\.json: contents: .*expected a baseline saved again"):
        assay.compare("old.json", "after")
    score("v1.jsonl", "before.jsonl", "--run-dir", "again")
    assert assay.compare("old.json", "again").metrics["correct_answer"].n == COUNT  # of the same set it is as it was
    old["contents"] = file.contents[:-1]
    old["version"] = 5
    Path("old.json").write_text(json.dumps(old), encoding="utf-8")
    with pytest.raises(InputError, match="another number of digests than of cases"):
        assay.compare("old.json", "again")


def refuse(name: str, versions: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> str:
    score(name, answer("after.jsonl", versions), "--run-dir", "after")
    capsys.readouterr()
    assert ExitCode.BAD_INPUT == main(["compare", "before", "after", "--metrics", "correct_answer"])
    return capsys.readouterr().err


def test_sets_of_another_lineage_and_edited_versions_are_refused_as_before(
    versions: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [json.dumps(case) for case in versions]
    Path("other.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert "another golden set (before has sha256:" in refuse("other.jsonl", versions, capsys)
    edited = Path("v2.jsonl").read_text(encoding="utf-8").replace('"line 17"', '"line"')
    Path("edited.jsonl").write_text(edited, encoding="utf-8")
    said = refuse("edited.jsonl", versions, capsys)
    assert "or a version of it that assay golden freeze --base made and nobody edited" in said


def test_versions_without_a_common_case_are_refused(
    versions: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"id": "only", "question": "Which bus is last?", "must_have": ["line 5"]}
    golden.freeze(
        write("only.jsonl", [row]),
        "v3.jsonl",
        version="3",
        owner="ann",
        change="all new",
        at=AT,
        base="v1.jsonl",
        accept_all=True,
        retire={case["id"]: "sold" for case in CASES},
    )
    assert "versions 1 and 3 of the golden set have no case in common" in refuse("v3.jsonl", [row], capsys)


def test_another_day_of_the_set_is_said_and_a_case_that_was_updated_back_is_shared(
    versions: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    back = write("back.jsonl", CASES[:1])
    golden.freeze(
        back,
        "v3.jsonl",
        version="3",
        owner="ann",
        change="as before",
        at=AT,
        base="v2.jsonl",
        accept_all=True,
        update=True,
        as_of="2026-04-01",
    )
    score("v3.jsonl", answer("after.jsonl", [CASES[0], *versions[1:]]), "--run-dir", "after")
    capsys.readouterr()
    assert ExitCode.PASS == main(["compare", "before", "after", "--metrics", "correct_answer"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "versions of the golden set: 1 and 3, compared on 36 cases" in printed
    assert "day: none and 2026-04-01, each side is scored with its own" in printed


def test_all_pairs_of_systems_need_one_set(versions: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
    score("v2.jsonl", answer("after.jsonl", versions), "--run-dir", "after")
    capsys.readouterr()
    assert ExitCode.BAD_INPUT == main(["compare", "before", "after", "--all-pairs", "--metrics", "correct_answer"])
    assert "another golden set (got versions of the golden set: 1 and 2" in capsys.readouterr().err


def test_versions_are_compared_where_a_case_leaked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    secret = "The night ferry to Hvide Sande will be sold to a Danish investor in May."
    write("corpus.jsonl", [{"chunk_id": "s1", "document": "s", "text": secret, "roles": ["staff"]}])
    denied = {"id": "sale", "question": "Will the ferry be sold?", "behaviour": "permission_denied"}
    cases = [CASES[0], denied | {"evidence": [{"chunk_id": "s1"}], "user": {"roles": ["rider"]}}]
    golden.freeze(write("cases.jsonl", cases), "v1.jsonl", version="1", owner="ann", at=AT, accept_all=True, change="a")
    new = write("new.jsonl", [CASES[1]])
    golden.freeze(new, "v2.jsonl", version="2", base="v1.jsonl", owner="ann", at=AT, accept_all=True, change="b")
    rows = [{"case_id": case["id"], "config_id": "c", "answer": f"It is {case['must_have'][0]}."} for case in CASES[:2]]
    refused = {"case_id": "sale", "config_id": "c", "answer": "You are not allowed to see that."}
    score("v1.jsonl", write("before.jsonl", [rows[0], refused]), "--corpus", "corpus.jsonl", "--run-dir", "before")
    write("after.jsonl", [*rows, refused | {"answer": secret}])
    Path("gate.yaml").write_text("rules: [{metric: correct_answer, max_regression: 0.1}]\n", encoding="utf-8")
    options = ("--corpus", "corpus.jsonl", "--run-dir", "after", "--gate", "gate.yaml", "--baseline", "before")
    assert ExitCode.FAILED == score("v2.jsonl", "after.jsonl", *options)
    capsys.readouterr()
    assert ExitCode.PASS == main(["compare", "before", "after"])
    assert "leaks: none before, 1 case now (sale)" in " ".join(capsys.readouterr().out.split())
