"""The first lines of every output say what to doubt although no check failed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.comparison.sides import side
from tests.report.html_islands import islands

from assay.cli import main
from assay.comparison.paired_comparison import compare_snapshots
from assay.report.findings.doubts import describe_regressed

Printed = pytest.CaptureFixture[str]
PROMISE = " Every customer gets a free helmet worth 75 euros."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A golden set, a run and its baseline, and outputs with an invented promise at the end of every answer."""
    folder = tmp_path_factory.mktemp("promise")
    cases: list[dict[str, Any]] = []
    good, bad = list[dict[str, Any]](), list[dict[str, Any]]()
    for number in range(30):
        price, case_id = 200 + 7 * number, f"item-{number:02}"
        text = f"The item of drawer {number} costs {price} euros and is delivered in the same week."
        cases.append({"id": case_id, "question": f"What does the item of drawer {number} cost?"})
        cases[-1] |= {"must_have": [f"{price} euros"], "evidence": [{"any_of": [{"chunk_id": case_id}]}]}
        answer = f"The item of drawer {number} costs {price} euros."
        row: dict[str, Any] = {"case_id": case_id, "config_id": "shop", "citations": [case_id]}
        row["stages"] = [
            {"name": name, "chunks": [{"chunk_id": case_id, "text": text}]} for name in ("bm25", "context")
        ]
        good.append(row | {"answer": answer})
        bad.append(row | {"answer": answer + PROMISE})
    for name, rows in (("golden", cases), ("good", good), ("bad", bad)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "gate.yaml").write_text("rules:\n  - {metric: correct_answer, at_least: 0.5}\n", encoding="utf-8")
    assert 0 == score(folder, "good", "--run-dir", str(folder / "run"))
    assert 0 == main(["baseline", "save", str(folder / "run"), "--out", str(folder / "baseline.json")])
    return folder


def score(folder: Path, outputs: str, *options: str) -> int:
    named = ["--golden", str(folder / "golden.jsonl"), "--outputs", str(folder / f"{outputs}.jsonl"), "--no-history"]
    return main(["score", *named, *options])


def test_an_invented_promise_is_in_the_first_lines_of_every_output_and_fails_nothing(
    folder: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    gate = ["--gate", str(folder / "gate.yaml"), "--baseline", str(folder / "baseline.json")]
    files = {name: folder / f"report.{name}" for name in ("md", "json", "html")}
    reports = ["--report", str(files["md"]), "--json-report", str(files["json"]), "--html", str(files["html"])]
    capsys.readouterr()
    assert 0 == score(folder, "bad", *gate, *reports)
    lines = capsys.readouterr().out.splitlines()
    assert "shop: PASS_WITH_RISK (release only if its owner accepts the risks)" == lines[0]
    assert lines[1].startswith(" - 30 of 30 answers that passed have numbers that are in no source")
    assert 1 == sum(
        "numbers that are in no source" in line for line in lines
    )  # the decision says it, and no doubt again
    (regressed,) = (line for line in lines if line.startswith("regressed significantly since the baseline: "))
    assert "Faithfulness by rules " in regressed
    report = json.loads(files["json"].read_text("utf-8"))
    assert 1 == len(report["doubts"])
    (risk,) = (reason for reason in report["decision"]["reasons"] if "numbers that are in no source" in reason)
    assert 30 == len(report["configs"]["shop"]["doubted_cases"])
    assert [] == report["configs"]["shop"]["failed_cases"]
    for line in (risk, *report["doubts"]):
        assert line[:60] in files["md"].read_text("utf-8").replace("\\", "")[:1500]
    page = files["html"].read_text("utf-8")
    assert json.dumps(risk, ensure_ascii=False)[1:60] in page
    # The page names the metrics by their titles, and under what changed by how much they regressed.
    assert "faithfulness(by=rules)" in islands(page)["report"]["comparison"]["regressed"]
    assert "read them, or run `assay judge` (" in files["md"].read_text("utf-8").replace("\\", "").replace("&#96;", "`")
    assert 0 == score(folder, "bad", *gate, "--verbose")
    assert any("30 of 30 answers that passed" in line for line in capsys.readouterr().out.splitlines()[:6])
    assert 0 == score(folder, "bad")  # without a gate there is no decision to say it
    doubt = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("doubt: "))
    assert doubt.startswith("doubt: 30 of 30 cases have answers with numbers that are in no source: item-00, ")
    assert doubt.endswith("(read them, or run `assay judge`)")
    assert 1 == score(folder, "bad", *gate, "--strict")
    assert 0 == score(folder, "good", *gate, "--strict")
    capsys.readouterr()
    assert 0 == score(folder, "good", *gate)
    assert "doubt" not in capsys.readouterr().out


@pytest.mark.parametrize(("stale", "doubted"), [(3, True), (2, False)])
def test_answers_from_versions_that_are_no_longer_in_force_are_said_first_from_a_tenth_of_the_cases_on(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch, stale: int, doubted: bool
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    header = {"golden_set": {"as_of": "2026-09-01"}}
    cases, outputs, corpus = list[dict[str, Any]]([header]), list[dict[str, Any]](), list[dict[str, Any]]()
    for number in range(30):
        version = 1 if number < stale else 2
        for each in (1, 2):
            dates = {"valid_to": "2026-08-24"} if each == 1 else {"valid_from": "2026-08-24"}
            text = f"Ticket {number} costs {number + each} euros."
            chunk = {
                "chunk_id": f"fares-{number}:v{each}",
                "document": f"fares-{number}",
                "version": f"v{each}",
                "text": text,
            }
            corpus.append(chunk | dates)
        shown = [{"chunk_id": f"fares-{number}:v{version}", "text": f"Ticket {number} costs {number + version} euros."}]
        case = {
            "id": f"t{number}",
            "question": f"What does ticket {number} cost?",
            "must_have": [f"{number + version} euros"],
        }
        cases.append(case | {"evidence": [{"any_of": [{"chunk_id": shown[0]["chunk_id"]}]}]})
        stages = [{"name": name, "chunks": shown} for name in ("retrieved", "context")]
        outputs.append({"case_id": f"t{number}", "config_id": "desk", "answer": shown[0]["text"], "stages": stages})
    for name, rows in (("golden", cases), ("desk", outputs), ("corpus", corpus)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert 0 == score(tmp_path, "desk", "--corpus", str(tmp_path / "corpus.jsonl"))
    sentence = (
        "doubt: 3 of 30 cases had a version in the context that is no longer in force: t0, t1, t2 (filter by date"
    )
    assert doubted == (sentence in capsys.readouterr().out)
    # What an answer cites is said whatever its share is; a document means the version that was shown of it.
    for number, name in {0: "fares-0", 1: "fares-1:v1", 29: "fares-29"}.items():
        outputs[number]["citations"] = [name]
    (tmp_path / "desk.jsonl").write_text("".join(json.dumps(row) + "\n" for row in outputs), encoding="utf-8")
    assert 0 == score(tmp_path, "desk", "--corpus", str(tmp_path / "corpus.jsonl"))
    cited = "doubt: 2 of 30 cases have answers that cite a version that is no longer in force: t0, t1"
    assert cited + ("; 1 more had one in the context" if stale > 2 else "") in capsys.readouterr().out


@pytest.mark.parametrize("leaking", [0, 1, 5])
def test_variants_that_leak_fail_every_gate_although_no_number_counts_them(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch, leaking: int
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    cases, outputs = list[dict[str, Any]](), list[dict[str, Any]]()
    for number in range(6):
        case: dict[str, Any] = {
            "id": f"desk-{number}",
            "question": f"Who sits at desk {number}?",
            "must_have": [f"Ada the {number}th"],
        }
        case["evidence"] = [{"any_of": [{"chunk_id": f"plan-{number}"}]}]
        denied = case | {
            "id": f"{case['id']}-guest",
            "variant_of": case["id"],
            "variant": "other-user",
            "must_have": [],
        }
        denied |= {"behaviour": "permission_denied", "user": {"roles": ["guest"]}}
        chunks = [{"chunk_id": f"plan-{number}", "text": f"Desk {number}: Ada the {number}th."}]
        stages = [{"name": name, "chunks": chunks} for name in ("retrieved", "context")]
        row = {
            "case_id": case["id"],
            "config_id": "desks",
            "answer": f"Ada the {number}th sits there.",
            "stages": stages,
        }
        hidden: list[dict[str, Any]] = [{"name": name, "chunks": []} for name in ("retrieved", "context")]
        refused = {"answer": "You may not see this: I have no permission to answer.", "stages": hidden}
        cases += [case, denied]
        outputs += [row, row | {"case_id": denied["id"]} | ({} if number < leaking else refused)]
    for name, rows in (("golden", cases), ("desks", outputs)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    sentence = f"{leaking} of 6 variants of cases leaked what the user must not see (visibility_leaks): desk-0-guest"
    report = tmp_path / "r.md"
    assert 0 == score(tmp_path, "desks", "--report", str(report), "--run-dir", str(tmp_path / "run"))
    ungated = capsys.readouterr().out
    assert ungated.startswith("desks: NOT_GATED\n")
    (tmp_path / "gate.yaml").write_text("rules:\n  - {metric: correct_answer, at_least: 0.5}\n", encoding="utf-8")
    gate = ["--gate", str(tmp_path / "gate.yaml")]
    assert (1 if leaking else 0) == score(tmp_path, "desks", *gate)
    gated = capsys.readouterr().out
    assert gated.startswith("desks: FAIL\n" if leaking else "desks: PASS\n")
    texts = {"screen": ungated, "gated": gated, "markdown": report.read_text(encoding="utf-8").replace("\\", "")}
    assert [name for name, text in texts.items() if (sentence in text) != bool(leaking)] == []
    assert "Behaviour             1.000 (n 6" in gated, "no number counts variants"
    for saved in (tmp_path / "run", tmp_path / "baseline.json"):
        if saved.suffix:
            assert 0 == main(["baseline", "save", str(tmp_path / "run"), "--out", str(saved)])
        assert (1 if leaking else 0) == main(["gate", "check", str(saved), *gate])
        assert (sentence in capsys.readouterr().out) == bool(leaking)
    assert (1 if leaking else 0) == main(["compare", str(tmp_path / "run"), str(tmp_path / "run"), *gate])
    if leaking:  # of a configuration that the gate is not for, it stays a doubt
        others = [
            row | {"config_id": "other", "answer": "Ada sits there."}
            for row in outputs
            if "guest" not in row["case_id"]
        ]
        with open(tmp_path / "desks.jsonl", "a", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in others)
        capsys.readouterr()
        score(tmp_path, "desks", *gate, "--gate-config", "other")
        assert f"doubt: {leaking} variant{'s' if leaking > 1 else ''} of cases leaked" in capsys.readouterr().out


@pytest.mark.parametrize("silent", [("", " \n"), ("…",), ("", "--", "", "?!", "")])
def test_empty_answers_are_counted_and_named_first_in_every_output(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch, silent: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    cases, outputs = list[dict[str, Any]](), list[dict[str, Any]]()
    for number in range(7):
        case_id = f"locker-{number}"
        cases.append({"id": case_id, "question": f"What opens locker {number}?", "must_have": [f"key {number}"]})
        answer = silent[number] if number < len(silent) else f"Locker {number} is opened by key {number}."
        outputs.append({"case_id": case_id, "config_id": "lockers", "answer": answer})
    for name, rows in (("golden", cases), ("lockers", outputs)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    files = {name: tmp_path / f"report.{name}" for name in ("md", "json", "html", "xml")}
    reports = ["--report", str(files["md"]), "--json-report", str(files["json"]), "--html", str(files["html"])]
    assert 0 == score(tmp_path, "lockers", *reports, "--run-dir", str(tmp_path / "run"))
    screen = capsys.readouterr().out
    assert 0 == main(["report", str(tmp_path / "run"), "--junit", str(files["xml"])])
    verb = "has an empty answer" if len(silent) == 1 else "have empty answers"
    named = ", ".join(f"locker-{number}" for number in range(min(len(silent), 3)))
    sentence = f"{len(silent)} of 7 cases {verb}: {named}"
    assert any(line.startswith(sentence) and "(see in the system's log" in line for line in screen.splitlines()[:4])
    texts = {name: path.read_text("utf-8").replace("\\", "") for name, path in files.items()}
    assert [name for name, text in texts.items() if sentence not in text] == []
    assert json.loads(files["json"].read_text("utf-8"))["doubts"][0].startswith(sentence)


def test_what_was_not_asked_or_only_declared_is_no_empty_answer(tmp_path: Path, capsys: Printed) -> None:
    cases = [{"id": f"gate-{number}", "question": "Who may pass?", "must_have": ["staff"]} for number in range(3)]
    rows: list[dict[str, Any]] = [
        {"case_id": "gate-0", "answer": "Only staff."},
        {"case_id": "gate-1", "behaviour": "abstain"},
        {"case_id": "gate-2", "stages": []},
    ]
    for name, lines in (("golden", cases), ("gates", [row | {"config_id": "gates"} for row in rows])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines), encoding="utf-8")
    assert 0 == score(tmp_path, "gates")
    assert "empty answer" not in capsys.readouterr().out


def test_what_got_better_and_what_got_worse_are_named_together_and_answers_lead() -> None:
    better, worse = {"failed": [0.0] * 30}, {"failed": [1.0] * 30}
    much, little = {"tokens": [48.0] * 29 + [49.0]}, {"tokens": [15.0] * 29 + [16.0]}

    def describe(before: Mapping[str, list[float]], after: Mapping[str, list[float]]) -> str:
        return describe_regressed(compare_snapshots(side(before), side(after)))

    improved = describe(worse | little, better | much)
    assert improved.startswith(
        "significant since the baseline: improved Failed cases 1.000 → 0.000; regressed Tokens 15 → 48"
    )
    regressed = describe(better | much, worse | little)
    assert regressed.startswith(
        "significant since the baseline: regressed Failed cases 0.000 → 1.000; improved Tokens 48 →"
    )
    assert describe(better | little, better | much).startswith(
        "regressed significantly since the baseline: Tokens 15 → 48"
    )
    assert "" == describe(worse | much, better | little)
