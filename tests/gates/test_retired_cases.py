"""Who retires the cases that fail passes by it: a risk until a person accepts it; and a lost digest hides no edit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import golden
from assay.cli import main

AT = "2026-03-01T08:00:00Z"
COUNT, WRONG = 40, range(31, 41)
CASES: list[dict[str, Any]] = [
    {"id": f"bus-{number}", "question": f"From which stop does bus {number} leave?", "must_have": [f"stop {number}"]}
    for number in range(1, COUNT + 1)
]
RULES = "rules: [{metric: correct_answer, at_least: 0.7}, {metric: failed, max_regression: 0.2}]\n"
SENTENCE = "that failed in the baseline"
LOST = "the golden set was frozen and is not now"
Printed = pytest.CaptureFixture[str]


def write(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def answer(ids: list[str]) -> list[dict[str, Any]]:
    rows = []
    for number, case in enumerate(CASES, 1):
        text = "It leaves from stop 99." if number in WRONG else f"It leaves from stop {number}."
        rows.append({"case_id": case["id"], "config_id": "c", "answer": text})
    return [row for row in rows if row["case_id"] in ids]


def retire(ids: list[str], out: str = "v2.jsonl") -> None:
    Path("retired.csv").write_text("case,reason\n" + "".join(f"{name},no longer asked\n" for name in ids))
    options = ["--out", out, "--version", "2", "--owner", "ann", "--change", "fewer"]
    assert 0 == main(["golden", "freeze", "--base", "v1.jsonl", "--retire", "retired.csv", *options])
    write("o2.jsonl", answer([case["id"] for case in CASES if case["id"] not in ids]))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A frozen set, the run of it, of which the last ten answers are wrong, and a gate, in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    write("cases.jsonl", CASES)
    golden.freeze("cases.jsonl", "v1.jsonl", version="1", owner="ann", change="x", at=AT, accept_all=True)
    write("o1.jsonl", answer([case["id"] for case in CASES]))
    Path("gate.yaml").write_text(RULES, encoding="utf-8")
    assert 0 == main(["score", "--golden", "v1.jsonl", "--outputs", "o1.jsonl", "--run-dir", "before", "--no-history"])
    assert 0 == main(["baseline", "save", "before", "--out", "saved.json"])


def score(capsys: Printed, *options: str, golden_set: str = "v2.jsonl") -> tuple[int, str]:
    capsys.readouterr()
    recorded = ["--golden", golden_set, "--outputs", "o2.jsonl", "--strict"]
    code = main(["score", *recorded, *([] if "--gate" in options else ["--gate", "gate.yaml"]), *options])
    return code, capsys.readouterr().out


def test_retired_cases_that_failed_in_the_baseline_are_a_risk_everywhere(capsys: Printed) -> None:
    """By a run and by a saved baseline, in every command that applies a gate, with their number and names."""
    retire([f"bus-{number}" for number in WRONG])
    for baseline in ("before", "saved.json"):
        code, printed = score(capsys, "--baseline", baseline)
        assert (1, True) == (code, f"10 cases {SENTENCE} are no longer in the golden set" in printed), printed
        assert "PASS_WITH_RISK" in printed and "(bus-31, bus-32" in printed
    score(capsys, "--baseline", "before", "--run-dir", "after", "--report", "r.md", "--html", "r.html")
    assert all(SENTENCE in Path(name).read_text(encoding="utf-8") for name in ("r.md", "r.html"))
    for arguments in (("gate", "check", "after", "--baseline", "saved.json"), ("compare", "before", "after")):
        capsys.readouterr()
        assert 1 == main([*arguments, "--gate", "gate.yaml", "--strict"])
        assert SENTENCE in capsys.readouterr().out, arguments
    compared = assay.compare("before", "after", gate="gate.yaml")
    assert compared.decision is not None and any(SENTENCE in risk for risk in compared.decision.risks)
    assert any("of the retired 10 failed in the baseline" in note for note in compared.notes)


def test_retired_cases_that_passed_are_no_risk(capsys: Printed) -> None:
    """What was taken out says nothing of the system: only the note on what is not compared names it."""
    retire(["bus-1", "bus-2", "bus-3"])
    _, printed = score(capsys, "--baseline", "before")
    assert SENTENCE not in printed and "3 retired" in printed


def test_a_baseline_of_the_new_version_ends_the_risk(capsys: Printed) -> None:
    """Its cases are those of the candidate."""
    retire(["bus-31"])
    score(capsys, "--run-dir", "new")
    _, printed = score(capsys, "--baseline", "new")
    assert SENTENCE not in printed and "retired since" not in printed


def test_without_a_baseline_a_pass_says_that_nobody_can_tell(capsys: Printed) -> None:
    """It is a reason and no risk; a gate that fails says what failed instead."""
    Path("gate.yaml").write_text("rules: [{metric: correct_answer, at_least: 0.8}]\n", encoding="utf-8")
    retire([f"bus-{number}" for number in WRONG])
    code, printed = score(capsys)
    assert (0, True) == (code, "10 cases were retired since the first version of the golden set" in printed)
    Path("gate.yaml").write_text("rules: [{metric: correct_answer, at_least: 0.9}]\n", encoding="utf-8")
    retire(["bus-40"], "v3.jsonl")
    code, printed = score(capsys, golden_set="v3.jsonl")
    assert (1, False) == (code, "retired" in printed)


def test_a_waiver_accepts_them_until_its_day(capsys: Printed) -> None:
    """Then the release passes, with who accepted it among the reasons; the waiver needs no rule."""
    retire(["bus-35", "bus-36"])
    waiver = "{metric: retired_cases, owner: Lan, expires: 2026-06-30, reason: the depot is closed}"
    Path("waived.yaml").write_text(f"{RULES}waivers: [{waiver}]\n", encoding="utf-8")
    options = ["--baseline", "saved.json", "--gate", "waived.yaml"]
    code, printed = score(capsys, *options, "--now", "2026-06-30T09:00:00Z")
    assert 0 == code and "waived by Lan until 2026-06-30: the depot is closed" in printed
    for day, why in ((["--now", "2026-07-01T09:00:00Z"], "has expired"), ([], "no time was given")):
        code, printed = score(capsys, *options, *day)
        assert (1, True) == (code, why in printed), printed


def test_a_frozen_set_whose_digest_was_taken_out_of_the_header_is_a_risk(capsys: Printed) -> None:
    """It may say anything now: of a first version the signatures of its cases tell, of a later one the lineage too."""
    Path("gate.yaml").write_text("rules: [{metric: correct_answer, at_least: 0.7}]\n", encoding="utf-8")
    write("o2.jsonl", answer([case["id"] for case in CASES]))
    assert LOST not in score(capsys, golden_set="v1.jsonl")[1]
    header, *rows = Path("v1.jsonl").read_text(encoding="utf-8").splitlines()
    fields = json.loads(header)
    del fields["golden_set"]["frozen_digest"]
    edited = [row.replace('"stop 33"', '"stop 99"') for row in rows]
    Path("lost.jsonl").write_text("\n".join([json.dumps(fields), *edited]) + "\n", encoding="utf-8")
    code, printed = score(capsys, golden_set="lost.jsonl")
    assert (1, True) == (code, LOST in printed), printed
    main(
        ["score", "--golden", "lost.jsonl", "--outputs", "o2.jsonl", "--gate", "gate.yaml", "--baseline", "saved.json"]
    )
    assert "the golden set of the candidate was frozen and is not now" in capsys.readouterr().err
    unsigned = [
        json.dumps({name: value for name, value in json.loads(row).items() if name != "metadata"}) for row in edited
    ]
    Path("unsigned").mkdir()
    Path("unsigned/v1.jsonl").write_text("\n".join([json.dumps(fields), *unsigned]) + "\n", encoding="utf-8")
    assert LOST not in score(capsys, golden_set="unsigned/v1.jsonl")[1]  # only a baseline knows it now
    main(
        [
            "score",
            "--golden",
            "unsigned/v1.jsonl",
            "--outputs",
            "o2.jsonl",
            "--gate",
            "gate.yaml",
            "--baseline",
            "saved.json",
        ]
    )
    assert "the golden set of the candidate was frozen and is not now" in capsys.readouterr().err


def test_a_changelog_is_no_sign_of_freezing(capsys: Printed) -> None:
    """People write one into sets that they never froze."""
    header = {"golden_set": {"name": "stops", "version": "1", "changelog": ["1: first labels"]}}
    write("own.jsonl", [header, *CASES])
    write("o2.jsonl", answer([case["id"] for case in CASES]))
    assert LOST not in score(capsys, golden_set="own.jsonl")[1]
