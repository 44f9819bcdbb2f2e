"""`golden health`: saturation, discrimination, suspect labels, leaks, power and age, and what few runs cannot tell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import try_examples
from tests.trends.run_series import make_case, score_run

from assay import golden
from assay.cli import main
from assay.golden.check_health import build_health_tables
from assay.golden.coverage_matrix import CoverageTarget
from assay.golden.health_results import SetHealth
from assay.golden.set_health import (
    find_label_suspicions,
    find_text_leaks,
    measure_discrimination,
    measure_power,
    measure_saturation,
)
from assay.records.errors import ExitCode
from assay.records.golden_set import Case, Corpus, CorpusChunk
from assay.scoring.saved_results import SavedCase
from assay.stats.sign_flip_test import compute_mcnemar_p

AT = "2026-04-01"
Scores = dict[str, float | None]


def make_system(outcomes: str, scores: Scores | None = None) -> dict[str, SavedCase]:
    """The cases of a system from letters: P passed, F failed, U unknown, - not asked."""
    rows = {}
    for row, letter in enumerate(outcomes):
        if letter != "-":
            failed, warned = (("wrong_answer",) if letter == "F" else ()), ("unknown_answer",) if letter == "U" else ()
            rows[f"c{row}"] = SavedCase("s", f"c{row}", scores or {}, failed, warned)
    return rows


def make_cases(count: int, tags: Sequence[tuple[str, ...]] = ()) -> list[Case]:
    return [Case(f"c{row}", f"Question {row}?", tags=tags[row] if tags else ()) for row in range(count)]


def test_cases_that_all_pass_or_none_passes_are_saturated() -> None:
    saturation = measure_saturation(make_cases(5), [make_system("PPFUF"), make_system("PFFP-")])
    assert (3, ("c0",), ("c2",)) == (saturation.compared, saturation.all_pass, saturation.none_pass)


def test_few_systems_tell_little_and_say_so() -> None:
    assert "cannot be told with 1 configuration (" in measure_saturation(make_cases(1), [make_system("P")]).reason
    assert "with 3 configurations" in measure_discrimination(make_cases(1), [make_system("P")] * 3).reason
    assert find_label_suspicions(make_cases(1), {"a": make_system("P")})[1].startswith("cannot be told")
    power = measure_power(make_cases(1), [make_system("P")], {"exact": CoverageTarget(3, ("exact",))})
    assert (None, {"exact": 3}) == (power.detectable, power.kinds_missing)
    assert measure_power(make_cases(2), [make_system("PF")] * 2, {}).detectable is None


def test_the_case_that_disagrees_with_all_others_is_named_with_what_chance_would_give() -> None:
    systems = [make_system(letters) for letters in ("PPPPF", "PPPPF", "PPPFF", "FFFFP", "FFFFP", "FPFFP")]
    discrimination = measure_discrimination(make_cases(5), systems)
    assert ("c4",) == discrimination.contrary
    assert discrimination.cases[0].correlation < -0.9
    assert min(row.correlation for row in discrimination.cases[1:]) > 0.3
    assert discrimination.contrary_by_chance is not None
    assert 0 < discrimination.contrary_by_chance < 2


def test_correlations_are_those_worked_out_by_hand() -> None:
    # c0: 1 1 0 0; rest (c1 + c2): 2 1 1 0 → covariance sum .5·1 + .5·0 + .5·0 + .5·1 = 1; spreads 1 and 2 → 1/√2
    systems = [make_system(letters) for letters in ("PPP", "PPF", "FFP", "FFF")]
    rows = {row.case_id: row.correlation for row in measure_discrimination(make_cases(3), systems).cases}
    assert rows["c0"] == pytest.approx(0.5**0.5)


def test_a_label_is_suspect_if_the_better_systems_fail_it_and_all_else_says_good() -> None:
    good: Scores = {"answer_similarity": 0.9, "faithfulness(by=rules)": 0.95}
    mixed: Scores = {"answer_similarity": 0.9, "faithfulness(by=rules)": 0.2}
    suspicions, reason = find_label_suspicions(
        make_cases(3), {"a": make_system("FPP", good), "b": make_system("FPP", good), "c": make_system("PFF", mixed)}
    )
    assert ([("c0", "answer", ("a", "b"))], "") == ([(s.case_id, s.part, s.systems) for s in suspicions], reason)
    suspicions, _ = find_label_suspicions(
        make_cases(3), {"a": make_system("FPP", mixed), "b": make_system("FPP", good), "c": make_system("PFF", mixed)}
    )
    assert [] == suspicions
    right: Scores = {"correct_answer": 1.0, "context_recall": 0.0}
    suspicions, reason = find_label_suspicions(
        make_cases(1), {"a": make_system("F", right), "b": make_system("F", right)}
    )
    assert [("c0", "evidence")] == [(s.case_id, s.part) for s in suspicions]
    assert "no run has a score that calls answers good" in reason


def test_the_promised_difference_is_detected_four_times_in_five_by_the_test_that_comparisons_use() -> None:
    """Two systems differ on half of 40 cases; differences of the promised size are drawn and tested."""
    power = measure_power(make_cases(40), [make_system("PF" * 10 + "PP" * 10), make_system("FP" * 10 + "PP" * 10)], {})
    assert power.detectable is not None and power.detectable_after is not None and power.cases_needed is not None
    assert power.detectable > power.detectable_after
    generator = np.random.default_rng(5)
    for cases, difference in ((40, power.detectable), (power.cases_needed, 0.05)):
        shares = [(0.5 + difference) / 2, (0.5 - difference) / 2, 0.5]
        drawn = generator.multinomial(cases, shares, 3000)
        pairs, counts = np.unique(drawn[:, :2], axis=0, return_counts=True)
        is_detected = [compute_mcnemar_p(int(wins), int(losses)) < 0.05 for wins, losses in pairs]
        detected = np.average(is_detected, weights=counts)
        assert 0.77 < detected < 0.84


def test_where_nothing_can_be_detected_health_says_none() -> None:
    power = measure_power(make_cases(10), [make_system("PFPPPPPPPP"), make_system("FPPPPPPPPP")], {})
    assert (power.detectable, power.reason) == (None, "") and power.cases_needed is not None


@try_examples(20)
@given(st.lists(st.text("PFU-", min_size=12, max_size=12), min_size=0, max_size=6))
def test_any_outcomes_give_numbers_or_a_reason(letters: list[str]) -> None:
    cases = make_cases(12, [("a", "b")] * 6 + [("b", "c")] * 6)
    systems = [make_system(row) for row in letters]
    saturation = measure_saturation(cases, systems)
    assert len(saturation.all_pass) + len(saturation.none_pass) <= saturation.compared <= 12
    discrimination = measure_discrimination(cases, systems)
    assert bool(discrimination.cases) != bool(discrimination.reason)
    assert all(-1.000001 <= row.correlation <= 1.000001 for row in discrimination.cases)
    power = measure_power(cases, systems, {})
    assert power.detectable is None or not power.reason
    assert sum(row.next_cases for row in power.slices) in (0, 20)


def test_words_of_cases_in_prompts_and_questions_in_the_corpus_are_leaks() -> None:
    case = Case("a", "How many days of annual leave does Ann get?", reference="Ann gets twelve days of annual leave.")
    short = Case("b", "Who pays?", reference="Ann.")
    prompt = "Examples:\nQ: how many days of annual leave does ann get\nA: Ann gets twelve days, of annual leave!"
    corpus = Corpus({"x": CorpusChunk("x", "Ann gets twelve days of annual leave."), "y": CorpusChunk("y", prompt)})
    leaks = find_text_leaks([case, short], {"system.txt": prompt, "other.txt": "Who pays? Ann."}, corpus)
    assert [
        ("question", "prompt", "system.txt"),
        ("reference", "prompt", "system.txt"),
        ("question", "corpus", "y"),
    ] == [(leak.part, leak.source, leak.where) for leak in leaks]


# ── with files ───────────────────────────────────────────────────────────────────────────────────────────────────────


def measure(folder: Path) -> SetHealth:
    measured = golden.health(str(folder / "golden.jsonl"), at=AT, runs=[str(folder / "runs")])
    assert isinstance(measured, SetHealth)
    return measured


def test_runs_are_systems_by_their_versions_and_only_unchanged_cases_count(tmp_path: Path) -> None:
    old = [make_case(0), make_case(1, question="Otherwise?"), make_case(2)]
    score_run(tmp_path, "1", [True, True, False], cases=old)
    score_run(tmp_path, "2", [True, True, False], index="v2")
    (tmp_path / "runs" / "2b").mkdir()
    (tmp_path / "runs" / "2b" / "manifest.json").write_text("{", encoding="utf-8")
    measured = measure(tmp_path)
    assert {2, 3} == {system.cases for system in measured.systems}
    assert (2, ("c00",), ("c02",)) == (
        measured.saturation.compared,
        measured.saturation.all_pass,
        measured.saturation.none_pass,
    )
    assert any("2b" in note for note in measured.notes)


def test_the_command_exits_with_1_on_leaks_into_prompts_and_lost_evidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = {"id": "a", "question": "How many days of annual leave does Ann get?", "expected_chunk_ids": ["x"]}
    path = tmp_path / "golden.jsonl"
    path.write_text(json.dumps(case) + "\n", encoding="utf-8")
    (tmp_path / "corpus.jsonl").write_text('{"chunk_id": "x", "text": "Twelve."}\n', encoding="utf-8")
    arguments = ["golden", "health", str(path), "--now", AT, "--corpus", str(tmp_path / "corpus.jsonl")]
    assert ExitCode.PASS == main([*arguments, "--strict"])
    assert "cannot be told with 0 configurations" in capsys.readouterr().out
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "system.txt").write_text(f"Example: {case['question']}", encoding="utf-8")
    assert ExitCode.FAILED == main([*arguments, "--prompts", str(tmp_path / "prompts"), "--format", "json"])
    printed = json.loads(capsys.readouterr().out)
    assert "prompt" == printed["leaks"][0]["source"]
    (tmp_path / "corpus.jsonl").write_text('{"chunk_id": "y", "text": "Twelve."}\n', encoding="utf-8")
    assert ExitCode.FAILED == main([*arguments, "--format", "json"])
    assert ["a"] == json.loads(capsys.readouterr().out)["age"]["missing_evidence"]


def test_variants_and_evidence_that_nobody_needs_are_no_faults(tmp_path: Path) -> None:
    """Expired background is no expired label, and what a variant shares with its case is counted once."""
    case = {
        "id": "a",
        "question": "How many days of paid leave do the staff have?",
        "reference": "12 days",
        "evidence": [
            {"any_of": [{"chunk_id": "new"}]},
            {"any_of": [{"chunk_id": "old"}], "grade": 0, "required": False},
        ],
    }
    variant = {**case, "id": "a~case", "variant_of": "a", "variant": "case", "cluster": "a"}
    (tmp_path / "golden.jsonl").write_text(json.dumps(case) + "\n" + json.dumps(variant) + "\n", encoding="utf-8")
    chunks = [
        {"chunk_id": "new", "text": "12 days of paid leave. How many days of paid leave do the staff have? 12."},
        {"chunk_id": "old", "text": "Ten days.", "valid_to": "2026-01-01"},
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, chunks)), encoding="utf-8")
    measured = golden.health(
        str(tmp_path / "golden.jsonl"), at="2026-03-01T00:00:00Z", corpus=str(tmp_path / "corpus.jsonl")
    )
    assert measured.age.expired_evidence == () and measured.age.evidence_units == 2
    assert [leak.case_id for leak in measured.leaks] == ["a"] and measured.cases == 1


def test_kinds_that_lack_cases_are_named_where_no_slice_can_be_planned(tmp_path: Path) -> None:
    (tmp_path / "golden.jsonl").write_text(json.dumps({"id": "a", "question": "?", "reference": "x"}) + "\n")
    measured = golden.health(str(tmp_path / "golden.jsonl"), at="2026-03-01T00:00:00Z")
    notes = [note for table in build_health_tables(measured) for note in table.notes]
    assert any("fewer cases than the coverage targets" in note for note in notes)
