"""The hallucination rate and the refusal rate, over all cases and over a slice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.runs.judged import JUDGE, World

from assay.cli import main

HALLUCINATED, REFUSED = "hallucination_rate(by=judge)", "refusal_rate"


@pytest.mark.slow
def test_rates_are_shares_of_answers_in_any_slice(tmp_path: Path) -> None:
    """By the judge q1 is supported and one claim of q2 is not; q3 refuses and claims nothing."""
    world = World(tmp_path)
    cases = [json.loads(line) for line in Path(world.golden).read_text().splitlines()]
    tagged = [case | {"tags": ["late" if case["id"] == "q3" else "early"]} for case in cases]
    Path(world.golden).write_text("".join(json.dumps(case) + "\n" for case in tagged))
    status, _, report = world.score(world.export(world.contents(JUDGE)), "--by", "tag")
    assert 0 == status
    of_a = report["configs"]["a"]
    summary, slices = of_a["summary"], of_a["slices"]
    assert (0.5, 2) == (summary[HALLUCINATED]["value"], summary[HALLUCINATED]["scored"])
    assert 1 / 3 == pytest.approx(summary[REFUSED]["value"])
    assert (0.0, 1.0) == (slices["tag=early"][REFUSED]["value"], slices["tag=late"][REFUSED]["value"])
    assert 0.5 == slices["tag=early"][HALLUCINATED]["value"]


def test_an_expected_refusal_counts_in_the_rate_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refusal: dict[str, Any] = {"id": "a", "question": "Who?", "behaviour": "abstain"}
    cases = [refusal, {"id": "b", "question": "Who?", "reference": "An Le"}]
    rows = [{"case_id": "a", "answer": "I do not know."}, {"case_id": "b", "answer": "An Le."}]
    golden, outputs = tmp_path / "golden.jsonl", tmp_path / "outputs.jsonl"
    header = {"golden_set": {"name": "g", "schema_version": 1}}
    golden.write_text("".join(json.dumps(row) + "\n" for row in [header, *cases]))
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["score", "--golden", str(golden), "--outputs", str(outputs), "--metrics", REFUSED, "--format", "json"]
    assert 0 == main(words)
    (result,) = json.loads(capsys.readouterr().out)["configs"].values()
    assert (0.5, 2) == (result["summary"][REFUSED]["value"], result["summary"][REFUSED]["scored"])
