"""Variants beside their cases: consistency, differences, losses, and that they count in no other number."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from assay.cli.app import build_app
from assay.formats.golden_files import load_golden
from assay.metrics.variants import NO_ALIKE_VARIANTS, VARIANTS_ARE_CASES
from assay.records.errors import InputError
from assay.records.golden_set import GoldenSet
from assay.records.observations import Observation
from assay.records.release_gates import Gate, Rule
from assay.records.requests import ScoreRequest, ScoringOptions
from assay.records.scores import ScoringResult
from assay.report.cases.explain_case import explain_case
from assay.report.exports.json_report import render_json_report
from assay.report.screen.terminal import render_score_screen
from assay.runs.score_inputs import LoadedGate, ScoreInputs
from assay.runs.score_result import ScoreResult, compare_results
from assay.runs.score_run import score_observations

QUESTIONS = 12


def write_set(path: Path, kinds: tuple[str, ...] = ("typos", "case")) -> GoldenSet:
    """Write a set of questions about prices with variants of the kinds, each set of variants after its case."""
    rows: list[dict[str, Any]] = []
    for number in range(QUESTIONS):
        base = {"id": f"q{number}", "question": f"What does item {number} cost?", "must_have": [f"{number + 10} USD"]}
        rows.append(base)
        for kind in kinds:
            variant = {
                **base,
                "id": f"q{number}~{kind}",
                "question": f"{kind}: item {number}?",
                "cluster": f"q{number}",
            }
            if kind == "entity-swapped":
                variant["must_have"] = [f"{number + 50} USD"]
            rows.append({**variant, "variant_of": f"q{number}", "variant": kind})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load_golden(str(path), "assay").golden


def observe(golden: GoldenSet, wrong: Collection[str] = (), text: dict[str, str] | None = None) -> list[Observation]:
    """Return right answers, except for the wrong cases and those with a text of their own."""
    observations = []
    for case in golden.cases:
        answer = f"It costs {case.must_have[0]}." if case.id not in wrong else f"It costs 99 USD, {case.id}."
        observations.append(Observation(case.id, answer=(text or {}).get(case.id, answer), config_id="a"))
    return observations


def score(golden: GoldenSet, observations: list[Observation], **options: Any) -> ScoringResult:
    """Return the result of scoring in memory."""
    request = ScoreRequest(scoring=ScoringOptions(**options))
    return score_observations(ScoreInputs.from_golden(golden, request), observations).scoring


def test_a_system_that_treats_all_variants_alike_is_consistent(tmp_path: Path) -> None:
    golden = write_set(tmp_path / "golden.jsonl")
    twins = score(golden, observe(golden)).twins["a"]
    assert (twins.clusters, twins.alike, twins.differing) == (QUESTIONS, 2 * QUESTIONS, 0)
    assert twins.consistency.value == 1.0 and twins.consistency.unknown is None
    assert twins.consistency.interval is not None and twins.consistency.interval.low < 0.85
    assert twins.difference.value is None and not twins.pairs
    assert {loss.verdict for loss in twins.losses} == {"not significant"} and {loss.loss for loss in twins.losses} == {
        0.0
    }


def test_one_variant_that_fails_makes_its_cluster_inconsistent(tmp_path: Path) -> None:
    golden = write_set(tmp_path / "golden.jsonl")
    twins = score(golden, observe(golden, {"q3~typos"})).twins["a"]
    assert (twins.consistency.good, twins.consistency.decided) == (QUESTIONS - 1, QUESTIONS)
    assert [(pair.case_id, pair.kind, pair.detail) for pair in twins.pairs] == [("q3", "typos", "passed → failed")]


def test_a_loss_on_every_variant_of_a_kind_is_shown_with_its_interval(tmp_path: Path) -> None:
    golden = write_set(tmp_path / "golden.jsonl")
    twins = score(golden, observe(golden, {f"q{number}~typos" for number in range(QUESTIONS)})).twins["a"]
    losses = {(loss.kind, loss.metric): loss for loss in twins.losses}
    failed = losses["typos", "failed"]
    assert (failed.base, failed.variant, failed.loss, failed.n) == (0.0, 1.0, 1.0, QUESTIONS)
    assert failed.verdict == "loses" and failed.interval is not None and failed.interval.low > 0.3
    assert losses["case", "failed"].verdict == "not significant"
    assert failed.p is not None and failed.p_adjusted is not None and failed.p_adjusted > failed.p


def test_a_loss_over_few_pairs_is_described_and_not_tested(tmp_path: Path) -> None:
    golden = write_set(tmp_path / "golden.jsonl")
    few = GoldenSet(tuple(case for case in golden.cases if case.id.partition("~")[0] in ("q1", "q2", "q3")))
    twins = score(few, observe(few, {"q1~typos", "q2~typos", "q3~typos"})).twins["a"]
    assert {(loss.verdict, loss.p) for loss in twins.losses} == {("n/a", None)}


def test_both_wrong_in_ways_that_nobody_can_compare_is_unknown_and_no_agreement(tmp_path: Path) -> None:
    golden = write_set(tmp_path / "golden.jsonl", ("typos",))
    other = {"q1": "Nobody remembers the price.", "q1~typos": "The shop sells a great many things."}
    twins = score(golden, observe(golden, text=other)).twins["a"]
    assert twins.consistency.unknown is not None and twins.consistency.unknown.count == 1
    assert twins.consistency.decided == QUESTIONS - 1
    assert twins.consistency.unknown.low == (QUESTIONS - 1) / QUESTIONS and twins.consistency.unknown.high == 1.0
    same = dict.fromkeys(("q1", "q1~typos"), "Nobody remembers the price.")
    assert score(golden, observe(golden, text=same)).twins["a"].consistency.unknown is None


def test_a_variant_that_was_not_observed_is_unknown(tmp_path: Path) -> None:
    golden = write_set(tmp_path / "golden.jsonl", ("typos",))
    observations = [row for row in observe(golden) if row.case_id != "q1~typos"]
    scoring = score(golden, observations)
    assert scoring.twins["a"].consistency.unknown is not None
    assert scoring.configs["a"].table.missing == ()  # it makes no case incomplete


def test_a_differing_variant_must_be_right_and_not_the_answer_of_its_case(tmp_path: Path) -> None:
    golden = write_set(tmp_path / "golden.jsonl", ("entity-swapped",))
    blind = {"q1~entity-swapped": "It costs 11 USD.", "q2~entity-swapped": "It costs 77 USD."}
    twins = score(golden, observe(golden, text=blind)).twins["a"]
    assert (twins.difference.good, twins.difference.decided) == (QUESTIONS - 2, QUESTIONS)
    assert {pair.case_id: pair.detail for pair in twins.pairs}["q1"] == "the same answer"
    assert twins.consistency.value is None and not twins.losses


def test_variants_change_no_other_number(tmp_path: Path) -> None:
    golden = write_set(tmp_path / "golden.jsonl")
    bases = GoldenSet(tuple(case for case in golden.cases if case.variant_of is None))
    wrong = {f"q{number}~typos" for number in range(QUESTIONS)} | {"q2"}
    with_twins, alone = score(golden, observe(golden, wrong)), score(bases, observe(bases, wrong))
    reports = [json.loads(render_json_report(result)) for result in (with_twins, alone)]
    assert reports[0]["configs"]["a"].pop("variants")["consistency"]["good"] == 0
    assert any("scored apart" in warning for warning in reports[0].pop("warnings"))
    assert not any("scored apart" in warning for warning in reports[1].pop("warnings"))
    result = reports[0]["configs"]["a"]
    assert result["summary"].pop("consistency")["value"] == 0.0
    for metrics in result["slices"].values():
        metrics.pop("consistency")
    assert reports[0] == reports[1]


def test_variants_count_as_cases_if_asked_or_named(tmp_path: Path) -> None:
    golden = write_set(tmp_path / "golden.jsonl")
    scoring = score(golden, observe(golden), with_variants=True)
    assert len(scoring.configs["a"].table.case_ids) == 3 * QUESTIONS and not scoring.twins
    only_variants = GoldenSet(tuple(case for case in golden.cases if case.variant_of is not None))
    assert len(score(only_variants, observe(only_variants)).configs["a"].table.case_ids) == 2 * QUESTIONS


def test_outputs_without_any_variant_are_scored_as_before(tmp_path: Path) -> None:
    golden = write_set(tmp_path / "golden.jsonl")
    scoring = score(golden, [row for row in observe(golden) if "~" not in row.case_id])
    assert not scoring.twins and scoring.configs["a"].table.missing == ()


@pytest.mark.parametrize("workers", [1, 2])
def test_files_give_what_memory_gives_and_reports_show_it(tmp_path: Path, workers: int) -> None:
    path, outputs = tmp_path / "golden.jsonl", tmp_path / "outputs.jsonl"
    golden = write_set(path)
    observations = observe(golden, {"q3~typos"})
    rows = [{"case_id": row.case_id, "config_id": "a", "answer": row.answer} for row in observations]
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report, page, markdown = tmp_path / "report.json", tmp_path / "page.html", tmp_path / "report.md"
    arguments = ["score", "--golden", str(path), "--outputs", str(outputs), "--json-report", str(report)]
    arguments += ["--html", str(page), "--report", str(markdown), "--verbose", "--workers", str(workers)]
    run = CliRunner().invoke(build_app(arguments), arguments, env={"COLUMNS": "200"})
    assert run.exit_code == 0, run.output
    held = score(golden, observations)
    variants = json.loads(report.read_text())["configs"]["a"]["variants"]
    assert variants == json.loads(render_json_report(held))["configs"]["a"]["variants"]
    for text in (run.output, markdown.read_text(), page.read_text()):
        assert "Treated alike" in text and "91.7%" in text
    titles = [table.title for table in render_score_screen(held).tables]
    assert {"Variants", "What variants cost", "Variants not treated as expected"} <= set(titles)


def test_consistency_is_the_same_number_everywhere(tmp_path: Path) -> None:
    """Value, interval by clusters, and range agree with the table of variants, also where cases share a cluster."""
    golden = write_set(tmp_path / "golden.jsonl")
    pairs = {f"q{number}": f"pair{number // 2}" for number in range(QUESTIONS)}
    golden = replace(
        golden, cases=tuple(replace(case, cluster=pairs[case.id.partition("~")[0]]) for case in golden.cases)
    )
    text = {"q1": "Nobody remembers the price.", "q1~typos": "The shop sells a great many things."}
    scoring = score(golden, observe(golden, {"q3~typos", "q4", "q4~case"}, text))
    summary, rate = scoring.configs["a"].summary["consistency"], scoring.twins["a"].consistency
    assert (summary.value, summary.scored, summary.errors) == (rate.value, rate.decided, 0)
    assert (summary.interval, summary.unknown) == (rate.interval, rate.unknown)
    assert rate.interval is not None and rate.interval.method == "CR1-t"
    alone = score(golden, observe(golden, {"q3~typos", "q4", "q4~case"}, text), metrics=["consistency"])
    assert alone.configs["a"].summary == {"consistency": summary}


def test_without_variants_or_with_variants_as_cases_there_is_no_consistency(tmp_path: Path) -> None:
    golden = write_set(tmp_path / "golden.jsonl")
    bases = replace(golden, cases=tuple(case for case in golden.cases if case.variant_of is None))
    differing = write_set(tmp_path / "other.jsonl", ("entity-swapped",))
    for cases, options, reason in (
        (bases, {}, NO_ALIKE_VARIANTS),
        (differing, {}, NO_ALIKE_VARIANTS),
        (golden, {"with_variants": True}, VARIANTS_ARE_CASES),
    ):
        assert "consistency" not in score(cases, observe(cases), **options).configs["a"].summary
        asked = score(cases, observe(cases), metrics=["consistency"], **options).configs["a"]
        assert asked.summary["consistency"].value is None and asked.summary["consistency"].scored == 0
        assert asked.table.columns["consistency"].reasons == ("", reason)


def test_a_configuration_that_was_asked_no_variant_is_unknown_and_not_consistent(tmp_path: Path) -> None:
    golden = write_set(tmp_path / "golden.jsonl")
    other = [replace(row, config_id="b") for row in observe(golden) if "~" not in row.case_id]
    scoring = score(golden, [*observe(golden), *other])
    assert scoring.configs["a"].summary["consistency"].value == 1.0
    summary = scoring.configs["b"].summary["consistency"]
    assert summary.value is None and summary.unknown is not None
    assert (summary.unknown.count, summary.unknown.low, summary.unknown.high) == (QUESTIONS, 0.0, 1.0)


@pytest.mark.parametrize(
    ("at_least", "state"), [(0.75, "pass"), (0.8, "inconclusive"), (0.95, "fail")]
)  # 9 of 12 at worst, 10 of 12 at best
def test_a_rule_on_consistency_is_evaluated_at_both_ends_of_what_nobody_can_tell(
    tmp_path: Path, at_least: float, state: str
) -> None:
    golden = write_set(tmp_path / "golden.jsonl", ("typos",))
    text = {"q1": "Nobody remembers the price.", "q1~typos": "The shop sells a great many things."}
    gate = Gate(rules=(Rule("consistency", at_least=at_least),))
    inputs = ScoreInputs.from_golden(golden, ScoreRequest(), loaded_gate=LoadedGate(gate))
    scoring = score_observations(inputs, observe(golden, {"q3~typos", "q4~typos"}, text)).scoring
    assert scoring.configs["a"].decision is not None
    (result,) = (rule for rule in scoring.configs["a"].decision.results if rule.rule.metric == "consistency")
    assert result.state == state


def test_variants_change_nothing_else_in_a_comparison(tmp_path: Path) -> None:
    golden = write_set(tmp_path / "golden.jsonl")
    bases = replace(golden, cases=tuple(case for case in golden.cases if case.variant_of is None))
    wrong = {f"q{number}~typos" for number in range(QUESTIONS)}
    both = []
    for cases in (golden, bases):
        before, after = (
            score_observations(ScoreInputs.from_golden(cases, ScoreRequest()), observe(cases, failing))
            for failing in ({"q1", "q2"}, {"q2", *wrong})
        )
        comparison = compare_results(ScoreResult(before), ScoreResult(after))
        both.append((comparison, {name: dict(of_slice) for name, of_slice in comparison.slices.items()}))
    (with_twins, slices), (alone, other_slices) = both
    change = with_twins.metrics.pop("consistency")
    assert (change.family, change.verdict, change.level) == ("variants", "regressed", 0.05)
    for of_slice in slices.values():
        of_slice.pop("consistency", None)
    assert with_twins.metrics == alone.metrics and slices == other_slices
    assert [case.case_id for case in with_twins.cases] == [case.case_id for case in alone.cases]


def test_explain_finds_variants_and_compares_them_with_their_case(tmp_path: Path) -> None:
    path, outputs = tmp_path / "golden.jsonl", tmp_path / "outputs.jsonl"
    golden = write_set(path)
    rows = [
        {"case_id": row.case_id, "config_id": "a", "answer": row.answer} for row in observe(golden, {"q3~typos", "q5"})
    ]
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    texts = {}
    for case in ("q3~typos", "q3~case", "q3", "q5"):
        arguments = ["explain", case, "--golden", str(path), "--outputs", str(outputs)]
        run = CliRunner().invoke(build_app(arguments), arguments, env={"COLUMNS": "100"})
        texts[case] = run.output
        assert run.exit_code == 0, run.output
    assert "q3~typos under a: failed wrong_answer" in texts["q3~typos"]
    assert "typos of q3, should be treated alike: not as expected (passed → failed)" in texts["q3~typos"]
    assert "What does item 3 cost?" in texts["q3~typos"] and "It costs 13 USD. (no failed check)" in texts["q3~typos"]
    assert "case of q3, should be treated alike: as expected" in texts["q3~case"]
    assert "1 of 2 as expected; q3~typos not as expected (passed → failed)" in texts["q3"]
    assert "0 of 2 as expected" in texts["q5"]
    assert all(len(text.splitlines()) <= 36 for text in texts.values())


def test_a_variant_is_explained_with_the_scores_that_the_report_counts(tmp_path: Path) -> None:
    golden = write_set(tmp_path / "golden.jsonl")
    inputs = ScoreInputs.from_golden(golden, ScoreRequest())
    run = score_observations(inputs, observe(golden, {"q3~typos"}))
    text = explain_case(run, "q3~typos", "a", verbose=True)
    assert "failed wrong_answer" in text and "typos of q3" in text
    assert "consistency" not in text.partition("Scores")[2]
    with pytest.raises(InputError, match="no such case"):
        explain_case(run, "q3~none", "a")


def test_the_answer_of_a_case_that_leaked_is_withheld_beside_its_variant(tmp_path: Path) -> None:
    golden = write_set(tmp_path / "golden.jsonl", ("typos",))
    cases = tuple(replace(case, forbidden_text=("SECRET-1",)) for case in golden.cases)
    golden = replace(golden, cases=cases)
    run = score_observations(
        ScoreInputs.from_golden(golden, ScoreRequest()), observe(golden, text={"q1": "SECRET-1 costs 11 USD."})
    )
    assert "SECRET-1" not in explain_case(run, "q1~typos", "a")
    assert "SECRET-1" in explain_case(run, "q1~typos", "a", show_forbidden=True)
