"""All pairs of several systems: one family of tests, names that tell the systems apart, and nothing left out."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.api import ScoreResult
from assay.cli import main
from assay.comparison import all_pairs
from assay.records.errors import InputError
from assay.stats.multiple_testing import adjust_holm

CASES = 60
GOLDEN = [
    {"id": f"shelf-{n}", "question": f"What is on shelf {n}?", "must_have": [f"{n + 20} jars"]} for n in range(CASES)
]


def score(right: np.ndarray, name: str) -> ScoreResult:
    outputs = [
        {"case_id": case["id"], "answer": f"There are {n + 20 if right[n] else n + 40} jars."}
        for n, case in enumerate(GOLDEN)
    ]
    return assay.score(GOLDEN, outputs, config=name, metrics=["correct_answer", "behaviour"], progress=False)


@pytest.fixture(scope="module")
def systems() -> dict[str, ScoreResult]:
    rng = np.random.default_rng(2)
    hard = rng.random(CASES)
    return {name: score(hard < rate, name) for name, rate in (("low", 0.3), ("same", 0.35), ("high", 0.8))}


def test_all_pairs_are_one_family_of_holm(systems: dict[str, ScoreResult]) -> None:
    compared = assay.compare_all(systems)
    assert [("low", "same"), ("low", "high"), ("same", "high")] == [pair[:2] for pair in compared.pairs]
    p_values = [pair.change.p or 0.0 for pair in compared.pairs]
    assert adjust_holm(p_values) == [pair.change.p_adjusted for pair in compared.pairs]
    assert {1 - 0.05 / 3} == {pair.change.confidence for pair in compared.pairs}
    assert ["not significant", "improved", "improved"] == [pair.change.verdict for pair in compared.pairs]
    assert p_values[1] == assay.compare(systems["low"], systems["high"]).metrics["correct_answer"].p
    lines = str(compared).splitlines()
    assert "3 systems by correct_answer: 3 tests of one family (Holm, 5%)" == lines[0]
    assert lines[1].startswith(" - high is better than low by correct_answer: +0.")
    assert lines[3].startswith(" - low and same by correct_answer: no significant difference, ")


def test_a_worse_second_system_is_said_with_the_better_one_first(systems: dict[str, ScoreResult]) -> None:
    compared = assay.compare_all([systems["high"], systems["low"]])
    assert "high is better than low by correct_answer: +0." in str(compared)
    assert (compared.pairs[0].change.gain or 0.0) < 0


def test_equal_systems_are_told_apart_in_at_most_one_study_of_twenty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four equal systems, six pairs: simulated studies, without the scoring of answers."""
    rng = np.random.default_rng(7)
    snapshots = [score(np.ones(CASES, dtype=bool), name) for name in "abcd"]
    from msgspec.structs import replace

    from assay.comparison.compare_scores import take_snapshot

    sides = [take_snapshot(result.run, result.configs[0], attributed=False) for result in snapshots]
    wrong, alone, studies = 0, 0, 200
    for _ in range(studies):
        drawn = []
        for side in sides:
            column = side.table.columns["correct_answer"]
            values = (rng.random(CASES) < 0.5).astype(float)
            columns = {**side.table.columns, "correct_answer": replace(column, values=values, answers=None)}
            drawn.append(replace(side, table=replace(side.table, columns=columns)))
        compared = all_pairs.compare_all_pairs(drawn, ["correct_answer"])
        wrong += any(pair.change.verdict in ("improved", "regressed") for pair in compared.pairs)
        alone += any((pair.change.p or 1.0) <= 0.05 for pair in compared.pairs)
    assert wrong / studies <= 0.08 < alone / studies


def test_runs_and_configurations_of_one_name_are_called_by_their_place(
    systems: dict[str, ScoreResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("golden.jsonl").write_text("".join(json.dumps(case) + "\n" for case in GOLDEN))
    for name, result in systems.items():
        rows = [{"case_id": case.id, "config_id": "v1", "answer": case.answer} for case in result]
        Path("outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--run-dir", name])
    capsys.readouterr()
    assert 0 == main(["compare", "--all-pairs", "low", "same", "high", "--metrics", "correct_answer"])
    printed = capsys.readouterr().out
    assert "v1 (high) is better than v1 (low) by correct_answer" in printed
    assert 0 == main(["compare", "--all-pairs", "low", "high", "--format", "json"])
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    assert "improved" == pair[2]["verdict"]
    assert 2 == main(["compare", "--all-pairs", "low", "high", "--profile", "general"])
    assert "--all-pairs: not with --profile" in capsys.readouterr().err
    assert 2 == main(["compare", "--all-pairs", "low", "high", "--baseline-config", "v1"])
    assert "--all-pairs: not with --baseline-config" in capsys.readouterr().err
    assert 0 == main(["baseline", "save", "low", "--out", "low.json"])
    assert 2 == main(["compare", "low.json", "high", "--baseline-config", "v1"])
    assert "--baseline-config: low.json is the file of one configuration" in capsys.readouterr().err


def test_what_cannot_be_compared_is_refused(systems: dict[str, ScoreResult]) -> None:
    with pytest.raises(InputError, match="systems: E_PAIRS not two systems"):
        assay.compare_all([systems["low"]])
    with pytest.raises(InputError, match="metrics: E_PAIRS not measured by every system"):
        assay.compare_all(systems, metrics=["recall@10"])
    with pytest.raises(InputError, match="another golden set"):
        assay.compare_all(
            [systems["low"], assay.run(lambda _: "9", GOLDEN[:3], name="other")], metrics="correct_answer"
        )


def test_every_pair_is_there_however_many_systems(systems: dict[str, ScoreResult]) -> None:
    many = {f"s{n}": systems[name] for n, name in enumerate(["low", "same", "high", "low", "same"])}
    compared = assay.compare_all(many, metrics="correct_answer,behaviour")
    assert [(*pair, metric) for pair in combinations(many, 2) for metric in ("correct_answer", "behaviour")] == [
        (pair.first, pair.second, pair.change.metric) for pair in compared.pairs
    ]
    assert len(str(compared).splitlines()) <= 22


def test_unknown_answers_leave_a_range_and_never_a_gain_of_nothing() -> None:
    mill = "At the old mill next to the harbour office."
    places = [{"id": f"tool-{n}", "question": f"Where is tool {n}?", "reference": mill} for n in range(5)]
    golden = [*GOLDEN, *places]
    outputs = [{"case_id": case["id"], "answer": "There are 3 jars."} for case in GOLDEN]
    outputs += [{"case_id": case["id"], "answer": "Where boats are registered."} for case in places]
    doubtful = assay.score(golden, outputs, config="doubtful", progress=False)
    right_answers = [{"case_id": case["id"], "answer": f"{n + 20} jars."} for n, case in enumerate(GOLDEN)]
    right_answers += [{"case_id": case["id"], "answer": mill} for case in places]
    right = assay.score(golden, right_answers, config="right", progress=False)
    unknown = doubtful.metric("correct_answer").unknown
    assert unknown is not None and unknown.count == 5
    compared = assay.compare_all([doubtful, right])
    (pair,) = compared.pairs
    assert pair.change.gain is None and pair.change.unknown is not None
    low, high = pair.change.unknown.gain
    assert f"right is better than doubtful by correct_answer: {low:+.3f} to {high:+.3f} as 5 answers may" in str(
        compared
    )
