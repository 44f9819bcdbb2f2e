"""Comparing a candidate with a baseline: the comparison, the decision on the candidate, and the reports of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from msgspec import structs

from assay.errors import InputError
from assay.finding import Comparison
from assay.graders.catalog import CATALOG, DEFAULT_METRICS, parse_all
from assay.io.writing import write_whole
from assay.model import Decision, Gate
from assay.report.comparisonjson import comparison_json
from assay.report.markdown import ReportMeta, comparison_markdown
from assay.report.safe import terminal
from assay.report.tables import checklist
from assay.report.terminal import Screen, safe_table
from assay.scoring.comparison import compare
from assay.scoring.gate import decide, exit_code, gated_configs, metrics_needed, overall
from assay.scoring.snapshot import Snapshot, is_judged, refuse_incomparable, regressions
from assay.workflow.baseline import side_of, sides_of, snapshot
from assay.workflow.score import ScoreRun
from assay.workflow.session import Request, day_of, scored, the_gate

OTHER_JUDGE = "the judges differ, or their rubrics: both sides must be judged again with the same; not compared"


@dataclass(frozen=True)
class Asked:
    """The options of a comparison; `by` None means the default slices, `now` is an ISO time."""

    gate: str | None = None
    profile: str | None = None
    approver: str = ""
    metrics: Sequence[str] = ()
    by: Sequence[str] | None = None
    now: str | None = None

    @cached_property
    def rules(self) -> Gate | None:
        """The gate that decides, None without one; read only once, because the file may be a pipe."""
        return the_gate(self.gate, self.profile, self.approver)


def compared(
    baseline: ScoreRun, baseline_config: str, candidate: ScoreRun, candidate_config: str, gate: Gate | None = None
) -> Comparison:
    """Compare a configuration of a scored run with a configuration of another run, or of the same run."""
    names = (baseline_config, candidate_config)
    if names[0] == names[1]:
        names = ("baseline", "candidate")
    before = snapshot(baseline, baseline_config, names[0])
    return hold(before, snapshot(candidate, candidate_config, names[1]), gate)


def hold(
    baseline: Snapshot,
    candidate: Snapshot,
    gate: Gate | None = None,
    *,
    metrics: Sequence[str] = (),
    by: Sequence[str] | None = None,
    today: str | None = None,
) -> Comparison:
    """Compare two sides, with the gate's decision on the candidate. Raises InputError for incomparable sides."""
    comparison = compare(baseline, candidate, gate=gate, metrics=metrics, by=by)
    if gate is None:
        return comparison
    return structs.replace(comparison, decision=decide_side(candidate, gate, baseline, today))


def decide_side(
    candidate: Snapshot, gate: Gate | None, baseline: Snapshot | None = None, today: str | None = None
) -> Decision:
    """Return the decision of a gate on one side; without a gate, whether any observation is missing."""
    table = baseline.table if baseline is not None else None
    return decide(gate, candidate.table, candidate.cases, baseline=table, today=today)


def compare_named(baseline: str, candidate: str, asked: Asked) -> tuple[Comparison, Decision]:
    """Compare the runs or baselines that two names mean; return the comparison and the decision for the exit code."""
    gate_metrics = _gate_metrics(asked)
    sides = side_of(baseline, asked.metrics, gate_metrics), side_of(candidate, asked.metrics, gate_metrics)
    return _decide_comparison(*sides, asked)


def baseline_for(text: str, metrics: Sequence[str], gate: Gate | None) -> Snapshot:
    """Return the side that a name means, scored for `metrics` and for those of the gate."""
    return side_of(text, metrics, metrics_needed(gate) if gate is not None else ())


def compare_configs(
    request: Request, baseline_config: str, candidate_config: str, asked: Asked
) -> tuple[Comparison, Decision]:
    """Compare two configurations of the same recorded outputs; return the comparison and the decision."""
    metrics = (*(request.metrics or DEFAULT_METRICS), *_gate_metrics(asked))
    with scored(replace(request, metrics=metrics, look_again=True)) as run:
        configs = sorted(run.scoring.configs)
        for config in (baseline_config, candidate_config):
            if config not in configs:
                expected = f"expected {', '.join(configs)}"
                raise InputError(
                    f"--baseline-config, --candidate-config: no such configuration (got {config!r}; {expected})"
                )
        return _decide_comparison(snapshot(run, baseline_config), snapshot(run, candidate_config), asked)


def _decide_comparison(baseline: Snapshot, candidate: Snapshot, request: Asked) -> tuple[Comparison, Decision]:
    gate, today = request.rules, day_of(request.now or candidate.at)
    metrics = [str(name) for name in parse_all(request.metrics)]
    comparison = hold(baseline, candidate, gate, metrics=metrics, by=request.by, today=today)
    return comparison, comparison.decision or decide_side(candidate, None)


def gate_check(text: str, asked: Asked, baseline: str | None = None) -> tuple[Decision, Mapping[str, Decision]]:
    """Return the decision of a gate on a run or a saved baseline, and its decision on each gated configuration.

    Regression rules compare with `baseline`. Unless RUN:CONFIG is named, the gate itself says which configurations of
    a run are gated.
    """
    gate = asked.rules
    if gate is None:
        raise InputError("no gate (expected --gate FILE or --profile NAME)")
    gate_metrics = _gate_metrics(asked)
    sides = {side.side.config_id: side for side in sides_of(text, gate_metrics)}
    named = () if len(sides) > 1 else tuple(sides)
    baseline_side = side_of(baseline, (), gate_metrics, attributed=False) if baseline is not None else None
    decisions = {}
    for config in gated_configs(gate, list(sides), named):
        if baseline_side is not None:
            side = sides[config]
            refuse_incomparable(baseline_side, side.side, side.definitions, regressions(gate))
        decisions[config] = decide_side(sides[config], gate, baseline_side, day_of(asked.now or sides[config].at))
    return overall(decisions), decisions


def gate_screen(decisions: Mapping[str, Decision], asked: Asked) -> Screen:
    """Return the decisions with the finding of every rule, and the approver, as a screen."""
    lines = [
        line
        for config, decision in decisions.items()
        for line in (f"{config}: {decision.outcome}", *_reason_lines(decision))
    ]
    gate = asked.rules
    lines.append(f"approver: {(gate.approver if gate is not None else '') or 'nobody named'}")
    return Screen(tuple(terminal(line) for line in lines), (safe_table(checklist(decisions, CATALOG)),), ())


def _reason_lines(decision: Decision) -> list[str]:
    return [f" - {reason}" for reason in decision.reasons]


def comparisons(run: ScoreRun) -> Mapping[str, Comparison]:
    """Compare every configuration of a run with the baseline that it was scored with; empty without a baseline.

    If the judges differ, judged metrics are left out and the comparison says so; rules on them were refused before.
    """
    if run.baseline is None:
        return {}
    by_config, baseline_side = {}, run.baseline.side
    for config, result in sorted(run.scoring.configs.items()):
        side = snapshot(run, config)
        same_judge = (baseline_side.judge, baseline_side.rubrics) == (side.side.judge, side.side.rubrics)
        metrics = () if same_judge else [name for name in side.metrics if not is_judged(name)]
        comparison = compare(run.baseline, side, gate=run.scoring.gate, metrics=metrics)
        left_out = [
            name for name in side.metrics if not same_judge and is_judged(name) and name in run.baseline.metrics
        ]
        changed = (*comparison.changed, f"{OTHER_JUDGE}: {', '.join(left_out)}") if left_out else comparison.changed
        by_config[config] = structs.replace(comparison, decision=result.decision, changed=changed)
    return by_config


def _gate_metrics(request: Asked) -> tuple[str, ...]:
    gate = request.rules
    return metrics_needed(gate) if gate is not None else ()


def status_of(decision: Decision, *, strict: bool = False) -> int:
    """Return the exit code that a decision stands for."""
    return exit_code(decision, strict=strict)


def write_comparison(
    found: Comparison, decision: Decision, asked: Asked, markdown: str | None, json: str | None
) -> list[tuple[str, Path]]:
    """Write the reports for which a path is given and return pairs of description and path."""
    written = []
    if markdown is not None:
        written.append(("report", write_whole(markdown, [markdown_text(found, decision, asked).encode()])))
    if json is not None:
        written.append(("JSON report", write_whole(json, [json_text(found, decision, asked).encode()])))
    return written


def markdown_text(found: Comparison, decision: Decision, asked: Asked) -> str:
    """Return the comparison as a Markdown report."""
    gate = asked.rules
    meta = ReportMeta(date=day_of(asked.now) or "", approver=gate.approver if gate is not None else "")
    return comparison_markdown(found, decision, meta)


def json_text(found: Comparison, decision: Decision, asked: Asked) -> str:
    """Return the comparison as a JSON report."""
    return comparison_json(found, decision, asked.now, asked.rules)
