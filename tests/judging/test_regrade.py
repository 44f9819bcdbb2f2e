"""`assay regrade`: the same outputs under another judge, another rubric and other rules, without asking anyone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.runs.judged import JUDGE, OTHER, World, supports

from assay.cli import main
from assay.judging.verdict_files import StoreContents, sort_verdicts
from assay.records.verdicts import ItemVerdict, JudgeRequest, Verdict

FAITHFUL = "faithfulness(by=judge)"


def is_severe(request: JudgeRequest, item: str) -> str:
    """A judge that supports nothing, and is content with everything else."""
    return "contradicted" if request.rubric == "support" else supports(request, item)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run that was judged by one judge, whose verdict store has those of a severe one too."""
    world = World(tmp_path)
    contents = world.contents(JUDGE)
    requests = world.requests()
    severe = []
    for request in requests:
        items = tuple(ItemVerdict(item, is_severe(request, item)) for item in request.items)
        severe.append(Verdict(request.digest, OTHER.digest, 0, request.rubric, items))
    own = [verdict for by_request in contents.verdicts[JUDGE.digest].values() for verdict in by_request]
    verdicts = world.export(StoreContents([JUDGE, OTHER], sort_verdicts([*own, *severe])))
    assert 0 == world.score(verdicts, "--judge", "judge-1", "--run-dir", str(tmp_path / "run"))[0]
    return tmp_path / "run"


def regrade(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert 0 == main(["regrade", *words, "--format", "json"])
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


@pytest.mark.slow
def test_another_judge_flips_cases_and_nothing_else(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the first judge q1 has 1 of 1 claims supported and q2 1 of 2; by the severe one none is. q3 is a refusal."""
    result = regrade(capsys, str(run), "--with", "judge=judge-2", "--by", "behaviour")
    by_metric = {(entry["config"], entry["metric"]): entry for entry in result["metrics"]}
    faithful = by_metric["a", FAITHFUL]
    assert (2, 0.75, 0.0, 2) == (faithful["n"], faithful["before"], faithful["after"], faithful["changed"])
    assert {"pass → fail": 1} == faithful["kinds"]
    assert [("q1", ["behaviour=answer"])] == [(flip["case_id"], flip["categories"]) for flip in faithful["flips"]]
    assert {"behaviour=answer": [1, 3]} == faithful["by_category"]
    assert "recall@10" in result["unchanged"] and "correctness(by=judge)" in result["unchanged"]
    assert 0 == main(["regrade", str(run), "--with", "judge=judge-2"])
    printed = capsys.readouterr().out
    assert f"a {FAITHFUL}: 0.750 → 0.000 (n 2), 2 scores differ; pass → fail 1" in printed
    assert "  pass → fail: q1" in printed


@pytest.mark.slow
def test_the_rules_of_today_are_compared_with_the_saved_scores(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not regrade(capsys, str(run), "--with", "rules=current")["metrics"]
    saved = run / "derived" / "cases.jsonl"
    rows = [json.loads(line) for line in saved.read_bytes().splitlines()]
    rows[0]["scores"]["completeness(by=rules)"] = 0.0  # as a version of the rules would have it that finds no fact
    saved.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (changed,) = regrade(capsys, str(run), "--with", "rules=current")["metrics"]
    assert ("completeness(by=rules)", {"fail → pass": 1}) == (changed["metric"], changed["kinds"])


@pytest.mark.slow
def test_a_rubric_without_verdicts_says_what_to_ask(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import assay

    folder = tmp_path / "stricter"
    folder.mkdir()
    for name in ("support", "citation_support", "correctness", "completeness", "relevance"):
        text = (Path(assay.__file__).parent / f"judging/rubrics/{name}.en.yaml").read_text()
        (folder / f"{name}.yaml").write_text(text.replace('version: "', 'version: "strict-'))
    assert 3 == main(["regrade", str(run), "--with", f"rubrics={folder}", "--metrics", FAITHFUL])
    assert "no verdict of this judge on these rubrics is recorded" in capsys.readouterr().err
    assert 0 == main(["regrade", str(run), "--with", "rubrics=shipped", "--metrics", FAITHFUL])
    assert "no score changed" in capsys.readouterr().out


def test_changes_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for change in ("model=x", "judge", "rules=2"):
        assert 2 == main(["regrade", str(tmp_path), "--with", change])
        assert "--with: E_OPTION" in capsys.readouterr().err
