"""Compares a candidate with a baseline: the comparison, the decision on the candidate, and the reports of both.

A side is a run or a saved baseline, as named on the command line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs
from msgspec.structs import replace

from assay.comparison.baseline_file import decode_baseline, encode_baseline, write_baseline
from assay.comparison.compare_scores import decide_side, note_own_baseline, take_snapshot
from assay.comparison.paired_comparison import compare_candidates
from assay.formats.file_io import write_atomically
from assay.formats.run_files.manifest import read_made_with
from assay.formats.run_files.run_folder import (
    RunName,
    counts_missing,
    is_run_name,
    list_run_labels,
    list_run_rubrics,
    parse_run_name,
    read_manifest,
    read_recorded_baseline,
    read_recorded_gate,
)
from assay.gates.decision_weight import combine_decisions
from assay.gates.gate_files import load_requested_gate
from assay.gates.release_decision import find_own_baseline, list_gate_metrics, select_gated_configs
from assay.judging.rubric_files import use_rubrics
from assay.metrics.catalog import DEFAULT_METRICS, parse_metric, parse_metrics
from assay.records.counts import format_count
from assay.records.errors import InputError, Problem
from assay.records.findings import Comparison
from assay.records.release_gates import Decision, Gate
from assay.records.requests import GateOptions, ScoreRequest, date_of_time
from assay.records.scores import SplitLooks
from assay.report.exports.json_report import render_candidates_json, render_comparison_json
from assay.report.exports.markdown import ReportMeta, render_candidates_markdown, render_comparison_markdown
from assay.report.findings.gate_tables import build_checklist_table
from assay.report.findings.table import Table
from assay.report.screen.decision_lines import list_rule_lines
from assay.report.screen.terminal import Screen, build_decision_lines, escape_table
from assay.report.wording.number_format import format_with_interval
from assay.runs.count_looks import count_look
from assay.runs.find_own_baseline import is_own_baseline
from assay.runs.load_plugins import load_gate, load_remembered_metrics
from assay.runs.rescore_run import choose_config, open_run
from assay.runs.score_inputs import LoadedGate
from assay.runs.score_run import open_scored_run
from assay.scoring.case_clusters import number_clusters
from assay.scoring.paired_scores import ScoreSnapshot, check_comparable, is_missing_scored, list_regression_metrics
from assay.scoring.summaries import summarise_table
from assay.text.escaping import escape_terminal


def load_side(
    side_name: str,
    metrics: Sequence[str] = (),
    extra_metrics: Sequence[str] = (),
    *,
    attributed: bool = True,
    missing_as_zero: bool | None = None,
    labels: Sequence[str] = (),
) -> ScoreSnapshot:
    """Return the side that `RUN`, `RUN:CONFIG` or a file written by `assay baseline save` names.

    A run is scored again for `metrics` (by default those of its manifest) and for `extra_metrics`, with the `labels` of
    answers (by default its own). Raises InputError
    if the text names none of these, or names a run of several configurations without choosing one, or with
    `missing_as_zero` a baseline that was saved with cases without an observation, which cannot be scored again.
    """
    if Path(side_name).is_file():
        return _load_baseline(side_name, missing_as_zero=missing_as_zero)
    name = _require_run(side_name)
    manifest = read_manifest(name.path)
    scored_metrics = _metrics_to_score(manifest, metrics, extra_metrics)
    with open_run(name.path, scored_metrics, missing_as_zero=missing_as_zero, labels=labels) as run:
        config = choose_config(run, name)
        side = take_snapshot(run, config, side_name, read_made_with(manifest, config), attributed=attributed)
    return replace(side, at=manifest.get("started_at"))


def _load_baseline(path: str, *, missing_as_zero: bool | None) -> ScoreSnapshot:
    side = decode_baseline(path)
    missing = side.table.missing
    if missing_as_zero and missing and not is_missing_scored(side.table):
        count = format_count(len(missing), "case")
        expected = "expected the run that it was saved from, or --missing error"
        message = f"--missing zero: a saved baseline is not scored again (got {count} without observation; {expected})"
        raise InputError([Problem(path, None, "", message, "E_MISSING")])
    return side


def load_sides(
    text: str,
    extra_metrics: Sequence[str] = (),
    *,
    missing_as_zero: bool | None = None,
    labels: Sequence[str] = (),
) -> list[ScoreSnapshot]:
    """Return the named side, or one side per configuration of a run named without one; cases are not attributed."""
    if Path(text).is_file():
        return [_load_baseline(text, missing_as_zero=missing_as_zero)]
    name = _require_run(text)
    manifest = read_manifest(name.path)
    metrics = _metrics_to_score(manifest, (), extra_metrics)
    with open_run(name.path, metrics, missing_as_zero=missing_as_zero, labels=labels) as run:
        configs = [choose_config(run, name)] if name.config is not None else sorted(run.scoring.configs)
        sides = [take_snapshot(run, config, attributed=False) for config in configs]
    return [replace(side, at=manifest.get("started_at")) for side in sides]


def _require_run(text: str) -> RunName:
    if not is_run_name(text):
        is_there = parse_run_name(text).path.exists()
        kind = "neither a run folder nor a baseline" if is_there else "no such file or folder"
        message = f"{kind} (expected RUN, RUN:CONFIG or a file of `assay baseline save`)"
        raise InputError([Problem(text, None, "", message, "E_SIDE")])
    return parse_run_name(text)


def _metrics_to_score(manifest: Mapping[str, Any], metrics: Sequence[str], also: Sequence[str]) -> tuple[str, ...]:
    return (*(metrics or manifest.get("metrics") or DEFAULT_METRICS), *also)


def save_baseline(name: str, path: str) -> Path:
    """Write the configuration that `RUN` or `RUN:CONFIG` names as a baseline to commit."""
    return write_baseline(encode_baseline(load_side(name)), path)


def describe_baseline(path: str) -> Screen:
    """Return the description of a saved baseline, and its metrics with their counts, as a screen."""
    side = decode_baseline(path)
    golden = side.golden
    metric_names = [parse_metric(name) for name in side.metrics]
    metric_summaries, _ = summarise_table(side.table, metric_names, {}, number_clusters(side.cases))
    golden_name = f"{golden.name} {golden.version}".strip() if golden is not None else ""
    lines = [
        f"{side.side.config_id}: {format_count(len(side.cases), 'case')} of {golden_name or 'an unnamed golden set'}",
        f"golden set: {side.side.golden_digest}",
        f"judge: {side.side.judge or 'none'}; attributed cases: {len(side.attributions)}",
        *(f"{part}: {' and '.join(versions)}" for part, versions in sorted(side.side.versions.items())),
        *(f"{name}: {value}" for name, value in side.made_with.items()),
    ]
    rows = [(name, format_with_interval(summary)) for name, summary in metric_summaries.items() if summary.scored]
    table = Table("Metrics", ("Metric", "Value"), tuple(rows))
    return Screen(tuple(escape_terminal(line) for line in lines), (escape_table(table),), ())


@dataclass(frozen=True)
class ComparisonRequest:
    """The options of a comparison; `by` None means the default slices, `now` is an ISO time.

    `missing_as_zero` gives cases without an observation the worst score instead of leaving them out; None does so if
    one of the compared runs did.
    """

    gate: GateOptions = field(default_factory=GateOptions)
    metrics: Sequence[str] = ()
    by: Sequence[str] | None = None
    now: str | None = None
    missing_as_zero: bool | None = None

    @cached_property
    def rules(self) -> Gate | None:
        """The gate that decides, None without one; read only once, because the file may be a pipe."""
        return load_requested_gate(self.gate)


class ComparedCandidate(NamedTuple):
    """One candidate compared with the baseline, and the decision on it."""

    comparison: Comparison
    decision: Decision


def compare_named(baseline: str, candidates: Sequence[str], request: ComparisonRequest) -> list[ComparedCandidate]:
    """Compare each of the runs or baselines that `candidates` name with the baseline; their tests are one family.

    Raises InputError for a candidate that is named twice.
    """
    repeated = sorted({name for name in candidates if candidates.count(name) > 1})
    if repeated:
        raise InputError(f"CANDIDATE: given twice (got {', '.join(repeated)}; expected each candidate once)")
    names = (baseline, *candidates)
    _use_run_rubrics(names)
    gate_metrics = _gate_metrics(request)
    as_zero = _resolve_missing(names, request)
    labels = list_labels(names)
    before, *others = (
        load_side(name, request.metrics, gate_metrics, missing_as_zero=as_zero, labels=labels) for name in names
    )
    return _decide_comparisons(before, others, request)


def _use_run_rubrics(names: Sequence[str]) -> None:
    """Make metrics of the rubrics that the named runs were judged with, before a gate is read that may name them."""
    for name in names:
        folders = list_run_rubrics(parse_run_name(name).path)
        if folders:
            use_rubrics(folders)


def list_labels(names: Sequence[str]) -> list[str]:
    """Return the labels of answers of all runs that are compared: a decision holds for its answer, whoever gave it."""
    runs = dict.fromkeys(parse_run_name(name).path for name in names if is_run_name(name))
    labels: list[str] = []
    for run in runs:
        labels += list_run_labels(run, read_manifest(run))
    return labels


def find_recorded_baseline(run: str, gate: GateOptions) -> str | None:
    """Return the run or file with which a run was last compared, None if it is gone, and where the options say
    themselves what decides."""
    if any(given is not None for given in (gate.gate, gate.profile, gate.baseline)):
        return None
    recorded = read_recorded_baseline(parse_run_name(run).path)
    is_there = recorded is not None and (is_run_name(recorded) or Path(recorded).is_file())
    return recorded if is_there else None


def find_recorded_gate(request: ScoreRequest) -> Gate | None:
    """Return the gate that last decided about the run of a request that names none; None if no gate did.

    Raises InputError for a gate that compares with a baseline, if the request names no baseline: without one the same
    run would have another decision, or none.
    """
    if request.inputs.run is None or request.gate.gate is not None or request.gate.profile is not None:
        return None
    load_remembered_metrics(request)
    run = parse_run_name(request.inputs.run).path
    gate = read_recorded_gate(run)
    if gate is not None and list_regression_metrics(gate) and request.gate.baseline is None:
        named = f"the gate {gate.name}" if gate.name else "the gate"
        recorded = read_recorded_baseline(run)
        was = f"that of then is not at {recorded}" if recorded is not None else "none is named"
        raise InputError(
            f"{run}: {named} that decided about this run compares it with a baseline, and {was} (expected "
            "--baseline with the run or file that it was compared with, or --gate or --profile to decide by another)"
        )
    return gate


def load_gate_with_baseline(request: ScoreRequest, recorded: Gate | None = None) -> LoadedGate:
    """Return the gate of a request and the side that its `baseline` names, with the metrics of request and gate.

    `recorded` is the gate to use where the request names none.
    """
    gate = load_gate(request) or recorded
    if request.gate.baseline is None:
        return LoadedGate(gate)
    gate_metrics = list_gate_metrics(gate) if gate is not None else ()
    as_zero = request.scoring.missing_as_zero
    metrics = request.scoring.metrics or ()
    labels = [*request.scoring.labels, *list_labels([request.gate.baseline])]
    side = load_side(request.gate.baseline, metrics, gate_metrics, missing_as_zero=as_zero, labels=labels)
    return LoadedGate(gate, side)


def _resolve_missing(names: Sequence[str], request: ComparisonRequest) -> bool | None:
    """Return how the sides of a comparison count cases without an observation: all of them alike."""
    if request.missing_as_zero is not None:
        return request.missing_as_zero
    runs = [parse_run_name(name).path for name in names if is_run_name(name)]
    return True if any(counts_missing(read_manifest(run)) for run in runs) else None


def compare_configs(
    request: ScoreRequest,
    baseline_config: str,
    candidate_configs: Sequence[str],
    comparison_request: ComparisonRequest,
    at: str = "",
    *,
    is_counted: bool = True,
) -> list[ComparedCandidate]:
    """Compare configurations of the same recorded outputs with one of them; their tests are one family.

    It is a look at a frozen test split, at the time `at`, as scoring is.
    """
    scoring = replace(
        request.scoring,
        also=_gate_metrics(comparison_request),
        look_again=True,
        missing_as_zero=comparison_request.missing_as_zero,
    )
    with open_scored_run(replace(request, scoring=scoring)) as run:
        count_look(run, request.inputs.golden, at, is_counted=is_counted)
        configs = sorted(run.scoring.configs)
        for config in (baseline_config, *candidate_configs):
            if config not in configs:
                expected = f"expected {', '.join(configs)}"
                raise InputError(
                    f"--baseline-config, --candidate-config: no such configuration (got {config!r}; {expected})"
                )
        others = [take_snapshot(run, config) for config in dict.fromkeys(candidate_configs)]
        return _decide_comparisons(take_snapshot(run, baseline_config), others, comparison_request)


def _decide_comparisons(
    baseline: ScoreSnapshot, candidates: Sequence[ScoreSnapshot], request: ComparisonRequest
) -> list[ComparedCandidate]:
    gate = request.rules
    metrics = [str(name) for name in parse_metrics(request.metrics)]
    comparisons = compare_candidates(baseline, candidates, gate=gate, metrics=metrics, slice_keys=request.by)
    compared = []
    for candidate, comparison in zip(candidates, comparisons, strict=True):
        is_own = is_own_baseline(baseline.side, candidate.side)
        if is_own:
            comparison = note_own_baseline(comparison)
        if gate is None:
            compared.append(ComparedCandidate(comparison, decide_side(candidate, None)))
            continue
        day = date_of_time(request.now or candidate.at)
        decision = decide_side(candidate, gate, baseline, day, own_baseline="alone" if is_own else "no")
        compared.append(ComparedCandidate(structs.replace(comparison, decision=decision), decision))
    return compared


def combine_candidates(compared: Sequence[ComparedCandidate]) -> Decision:
    """Return the decision for the exit code: that on the only candidate, else the worst, with the reasons of all."""
    if len(compared) == 1:
        return compared[0].decision
    return combine_decisions({item.comparison.candidate.name: item.decision for item in compared})


class CheckedGate(NamedTuple):
    """The decision of a gate on a run, that on each configuration, and the look at a test split, if it is one."""

    decision: Decision
    decisions: Mapping[str, Decision]
    looks: SplitLooks | None = None


def check_gate(name: str, request: ComparisonRequest, baseline: str | None = None) -> CheckedGate:
    """Return the decision of a gate on a run or a saved baseline, and its decision on each gated configuration.

    Regression rules compare with `baseline`. Unless RUN:CONFIG or `request.gate.configs` are named, the gate itself
    says which configurations of a run are gated.
    """
    _use_run_rubrics([name] if baseline is None else [baseline, name])
    gate = request.rules
    if gate is None:
        raise InputError("no gate (expected --gate FILE or --profile NAME)")
    gate_metrics = _gate_metrics(request)
    as_zero = _resolve_missing([name] if baseline is None else [baseline, name], request)
    labels = list_labels([name] if baseline is None else [baseline, name])
    loaded_sides = load_sides(name, gate_metrics, missing_as_zero=as_zero, labels=labels)
    sides = {side.side.config_id: side for side in loaded_sides}
    named = tuple(request.gate.configs) or (() if len(sides) > 1 else tuple(sides))
    baseline_side = None
    if baseline is not None:
        baseline_side = load_side(baseline, (), gate_metrics, attributed=False, missing_as_zero=as_zero, labels=labels)
    decisions = {}
    gated = select_gated_configs(gate, list(sides), named)
    for config in gated:
        side = sides[config]
        own_config = ""
        if baseline_side is not None:
            check_comparable(baseline_side, side.side, side.definitions, list_regression_metrics(gate))
            own_config = config if is_own_baseline(baseline_side.side, side.side) else ""
        day = date_of_time(request.now or side.at)
        own = find_own_baseline(config, own_config, gated)
        decisions[config] = decide_side(side, gate, baseline_side, day, own_baseline=own)
    looks = next((side.looks for side in sides.values()), None)
    return CheckedGate(combine_decisions(decisions), decisions, looks)


def build_gate_screen(
    decisions: Mapping[str, Decision],
    request: ComparisonRequest,
    looks: SplitLooks | None = None,
    *,
    is_verbose: bool = False,
) -> Screen:
    """Return the decisions with the finding of every rule, the look at a test split, and the reviewer, as a screen.

    `is_verbose`: the rules as a table, with bounds, counts and what so many cases can show, and not as lines.
    """
    decided = [build_decision_lines(config, decision) for config, decision in decisions.items()]
    gate = request.rules
    reviewer = f"reviewer: {(gate.approver if gate is not None else '') or 'not named'}"
    looked = [escape_terminal(looks.describe())] if looks is not None else []
    return Screen(
        (
            *(line for lines in decided for line in lines.lines),
            *looked,
            escape_terminal(reviewer),
            *(() if is_verbose else list_rule_lines(decisions)),
        ),
        (escape_table(build_checklist_table(decisions)),) if is_verbose else (),
        (),
        tuple(line for lines in decided for line in lines.alerts),
    )


def _gate_metrics(request: ComparisonRequest) -> tuple[str, ...]:
    gate = request.rules
    return list_gate_metrics(gate) if gate is not None else ()


def write_comparison(
    compared: Sequence[ComparedCandidate], request: ComparisonRequest, markdown: str | None, json: str | None
) -> list[tuple[str, Path]]:
    """Write the reports for which a path is given and return pairs of description and path."""
    written = []
    if markdown is not None:
        content = comparison_as_markdown(compared, request).encode()
        written.append(("report", write_atomically(markdown, [content])))
    if json is not None:
        content = comparison_as_json(compared, request).encode()
        written.append(("JSON report", write_atomically(json, [content])))
    return written


def comparison_as_markdown(compared: Sequence[ComparedCandidate], request: ComparisonRequest) -> str:
    """Return the comparison as a Markdown report; several candidates one after the other, below the decision on all."""
    gate = request.rules
    meta = ReportMeta(date=date_of_time(request.now) or "", approver=gate.approver if gate is not None else "")
    reports = [render_comparison_markdown(item.comparison, item.decision, meta) for item in compared]
    if len(compared) == 1:
        return reports[0]
    decisions = [(item.comparison.candidate.name, item.decision.outcome) for item in compared]
    return render_candidates_markdown(decisions, reports, combine_candidates(compared))


def comparison_as_json(compared: Sequence[ComparedCandidate], request: ComparisonRequest) -> str:
    """Return the comparison as a JSON report; of several candidates as a list of such reports with one decision."""
    reports = [render_comparison_json(item.comparison, item.decision, request.now, request.rules) for item in compared]
    return reports[0] if len(compared) == 1 else render_candidates_json(reports, combine_candidates(compared))
