"""What was measured with what is in the first lines of a report."""

from __future__ import annotations

from msgspec.structs import replace
from tests.report.html_world import world

from assay.records.findings import Comparison
from assay.report.exports.github import render_job_summary
from assay.report.exports.markdown import ReportMeta, render_markdown_report
from assay.report.findings.run_basis import describe_basis, name_baseline

WORLD = world(["apple", "pear"])


def get_comparison() -> Comparison:
    assert WORLD.comparison is not None
    return WORLD.comparison


COMPARED = get_comparison()


def test_the_first_lines_of_both_markdown_reports_say_what_was_measured_with_what() -> None:
    comparisons = {COMPARED.candidate.config_id: COMPARED}
    basis = describe_basis(WORLD.scoring, comparisons)
    cases = {case.id: case for case in WORLD.cases}
    report = render_markdown_report(WORLD.scoring, {}, cases, ReportMeta(), comparisons)
    assert report.split("\n")[2].endswith(f" Measured: {basis}.")
    summary, _, _ = render_job_summary(WORLD.scoring, cases, comparisons=comparisons).partition("\n### ")
    assert f"\nMeasured: {basis}\n" in summary
    configs, golden, gate, baseline = basis.split(" · ")
    assert ", ".join(sorted(WORLD.scoring.configs)) == configs and golden.endswith(": 2 cases")
    assert gate.startswith("gate ") and baseline.startswith("compared with ")


def test_many_configurations_are_counted() -> None:
    result = next(iter(WORLD.scoring.configs.values()))
    many = replace(WORLD.scoring, configs={f"c{number}": result for number in range(4)}, gate=None)
    assert "4 configurations" == describe_basis(many).split(" · ")[0]
    assert "gate" not in describe_basis(many)


def test_a_baseline_is_called_by_its_configuration_and_the_last_part_of_its_path() -> None:
    def name(path: str, config: str) -> str:
        return name_baseline(replace(COMPARED, baseline=replace(COMPARED.baseline, name=path, config_id=config)))

    assert "first (kept)" == name("/runs/week 7/kept/", "first")
    assert "first (kept)" == name("C:\\runs\\kept", "first")
    assert "kept.json" == name("out/kept.json", COMPARED.candidate.config_id)
    assert "first" == name("runs/first", "first")
