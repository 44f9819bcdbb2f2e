"""The result of a calibration for the terminal, Markdown and JSON: which scorers may gate, and the numbers why."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from assay.calibration.judge_bias import Disagreement
from assay.calibration.rater_agreement import RaterAgreement, ReportedEstimate
from assay.calibration.scorer_quality import CalibrationResult, ScorerMeasurement
from assay.metrics.case_checks import JUDGED_CORRECTNESS
from assay.records.counts import format_count, join_first
from assay.records.verdicts import LabelledRate
from assay.report.exports.markdown import render_table_lines
from assay.report.findings.slice_tables import FEW_CASES
from assay.report.findings.table import Table
from assay.report.screen.terminal import Screen, escape_table
from assay.report.wording.number_format import NOT_AVAILABLE, format_number, format_percent
from assay.text.escaping import escape_markdown, escape_terminal, shorten_to_line

_MAX_DISAGREEMENTS, _MAX_TITLES = 10, 4


def render_calibration_screen(calibrated: CalibrationResult, *, is_verbose: bool = False) -> Screen:
    """Return the screen of a calibration: whether each scorer may gate, and why; with `is_verbose` the tables too."""
    tables = [escape_table(table) for table in _iter_tables(calibrated) if table.rows]
    notes = [escape_terminal(note) for note in _iter_notes(calibrated)]
    if tables and not is_verbose:
        titles = join_first([table.title for table in tables], _MAX_TITLES)
        notes.append(f"--verbose, or --report FILE, for how this was measured: {titles}")
    answers = tuple(escape_terminal(line) for line in _iter_answers(calibrated))
    return Screen(answers, tuple(tables) if is_verbose else (), tuple(notes))


def render_calibration_markdown(calibrated: CalibrationResult) -> str:
    """Return the calibration as Markdown ending in a newline."""
    lines = ["# Calibration against human labels", ""]
    for line in _iter_answers(calibrated):
        reason = line.removeprefix(_REASON_MARK)
        lines.append(f"- {escape_markdown(line)}" if reason == line else f"  - {escape_markdown(reason)}")
    for table in _iter_tables(calibrated):
        if table.rows:
            lines += ["", f"## {escape_markdown(table.title)}", "", *render_table_lines(table)]
    notes = list(_iter_notes(calibrated))
    if notes:
        lines += ["", "## Notes", "", *(f"- {escape_markdown(note)}" for note in notes)]
    return "\n".join(lines) + "\n"


def render_calibration_json(calibrated: CalibrationResult) -> str:
    """Return the calibration as JSON with sorted keys, ending in a newline."""
    return msgspec.json.format(msgspec.json.encode(calibrated, order="sorted"), indent=2).decode() + "\n"


_REASON_MARK = " - "


def _iter_answers(calibrated: CalibrationResult) -> Iterator[str]:
    raters = format_count(len(calibrated.raters), "rater")
    yield f"{format_count(calibrated.labelled, 'label')} of {raters}: {', '.join(calibrated.raters)}"
    for scorer in calibrated.measured:
        record = scorer.calibration
        answer = "may gate" if record.may_gate else "may inform, not gate"
        rates = (("sensitivity", record.sensitivity), ("specificity", record.specificity))
        rates_text = "".join(f", {name} {_format_share(rate)}" for name, rate in rates if rate is not None)
        yield f"{_name_scorer(scorer)}: {answer}, n={record.n}{rates_text}"
        for reason in record.reasons:
            yield f"{_REASON_MARK}{reason}"
    for name, reason in calibrated.uncombined.items():
        yield f"{name}: not calibrated, so a rule on it is a risk"
        yield f"{_REASON_MARK}{reason}"


def _iter_tables(calibrated: CalibrationResult) -> Iterator[Table]:
    yield _build_rates_table(calibrated)
    yield _build_cuts_table(calibrated)
    yield _build_agreement_table(calibrated)
    yield _build_bias_table(calibrated)
    yield _build_corrected_table(calibrated)
    yield _build_raters_table(calibrated)
    yield _build_differences_table(calibrated)
    yield _build_costs_table(calibrated)
    for scorer in calibrated.measured:
        yield _build_confusion_table(scorer)
        yield _build_slices_table(scorer)
        title = f"Largest differences from human labels: {_name_scorer(scorer)}"
        yield _build_disagreements_table(title, scorer.worst, "People", scorer.scorer_name)
    for metric, cases in calibrated.review.items():
        yield _build_disagreements_table(f"Judge and rules disagree, to review: {metric}", cases, "Rules", "Judge")


def _name_scorer(scorer: ScorerMeasurement) -> str:
    metric = scorer.calibration.metric
    return metric if scorer.scorer_name == scorer.by else f"{metric} ({scorer.scorer_name})"


def _build_rates_table(calibrated: CalibrationResult) -> Table:
    rows = [
        (
            _name_scorer(scorer),
            _format_rate(scorer.calibration.sensitivity),
            _format_rate(scorer.calibration.specificity),
            _format_estimate(scorer.pass_fail.balanced_accuracy),
            str(scorer.calibration.n),
            str(scorer.unjudged),
        )
        for scorer in calibrated.measured
    ]
    columns = ("Metric", "Sensitivity", "Specificity", "Balanced accuracy", "n", "Unjudged")
    notes = (
        "Sensitivity: the share of what people passed that the scorer passed. Specificity: the share of what they "
        "failed that the scorer failed. A value above 0.5 passes; a probability passes above the middle cut, chosen "
        "for each item from the labels of other cases.",
    )
    return Table("Scorer accuracy", columns, tuple(rows), notes)


def _build_cuts_table(calibrated: CalibrationResult) -> Table:
    rows = []
    for scorer in calibrated.measured:
        record = scorer.calibration
        if record.cuts is None:
            continue
        cuts = [format_number(cut) for cut in (record.cuts.reject, record.cuts.middle, record.cuts.accept)]
        precisions = _format_rate(record.unsupported_precision), _format_rate(record.supported_precision)
        share = format_percent(record.decided) if record.decided is not None else NOT_AVAILABLE
        rows.append((_name_scorer(scorer), *cuts, *precisions, share, _format_rate(record.corrected)))
    columns = (
        "Metric", "Unsupported up to", "Middle", "Supported from", "Unsupported: right", "Supported: right", "Decided",
        "Corrected pass rate",
    )  # fmt: skip
    notes = (
        "Probabilities between the outer cuts are unknown. How often verdicts are right was measured on labels that "
        "had no part in choosing the cuts. Decided: the share of all items with a verdict.",
    )
    return Table("From probability to verdict", columns, tuple(rows), notes)


def _build_agreement_table(calibrated: CalibrationResult) -> Table:
    rows = []
    for scorer in calibrated.measured:
        for granularity, agreement in (("pass/fail", scorer.pass_fail), ("labels", scorer.by_label)):
            if agreement is not None:
                prevalence = ", ".join(
                    f"{label} {format_percent(share)}" for label, share in agreement.prevalence.items()
                )
                rows.append((_name_scorer(scorer), granularity, *_format_agreement(agreement), prevalence))
    columns = ("Metric", "By", "Raw", "Kappa", "AC1", "Weighted kappa", "n", "Human labels")
    return Table("Agreement with human labels", columns, tuple(rows))


def _format_agreement(agreement: RaterAgreement) -> tuple[str, ...]:
    coefficients = (agreement.kappa, agreement.ac1, agreement.weighted)
    return (
        format_percent(agreement.raw),
        *(_format_estimate(coefficient) for coefficient in coefficients),
        str(agreement.n),
    )


def _build_bias_table(calibrated: CalibrationResult) -> Table:
    rows = []
    for scorer in calibrated.measured:
        bias, vote_consistency = scorer.bias, scorer.consistency
        flips = (
            f"{format_percent(vote_consistency.flips)} of pairs, {format_count(vote_consistency.items, 'item')}"
            if vote_consistency is not None
            else NOT_AVAILABLE
        )
        rows.append(
            (
                _name_scorer(scorer),
                bias.direction,
                _format_estimate(bias.leniency),
                f"{bias.too_lenient} / {bias.too_strict}",
                f"{format_number(bias.people)} / {format_number(bias.scorer)}",
                _format_estimate(bias.length),
                flips,
            )
        )
    columns = ("Metric", "Direction", "Mean difference", "Too lenient / strict", "Mean: people / scorer",
               "Correlation with answer length", "Votes that differ")  # fmt: skip
    return Table("Scorer bias", columns, tuple(rows))


_VETO_NOTE = (
    f"As judged is the word of the judge alone. In the scores of a run {JUDGED_CORRECTNESS} may be lower: an answer "
    "that lacks a fact which its case requires is not right there, whatever the judge says (vetoed by must_have)."
)


def _build_corrected_table(calibrated: CalibrationResult) -> Table:
    rows, notes = [], []
    for scorer in calibrated.measured:
        for config, rate_estimates in scorer.corrected.items():
            cells = (
                _format_estimate(estimate)
                for estimate in (rate_estimates.judged, rate_estimates.rogan_gladen, rate_estimates.ppi)
            )
            rows.append((_name_scorer(scorer), config, *cells, rate_estimates.recommended, str(rate_estimates.n)))
            notes += [f"{_name_scorer(scorer)}, {config}: {problem}" for problem in rate_estimates.problems]
    if any(scorer.calibration.metric == JUDGED_CORRECTNESS and scorer.corrected for scorer in calibrated.measured):
        notes.append(_VETO_NOTE)
    columns = ("Metric", "Config", "As judged", "Rogan-Gladen", "PPI++", "Use", "n")
    return Table("Share that passes, corrected", columns, tuple(rows), tuple(notes))


def _build_raters_table(calibrated: CalibrationResult) -> Table:
    rows: dict[tuple[str, ...], None] = {}
    for scorer in calibrated.measured:
        metric = scorer.calibration.metric
        for pair in scorer.raters:
            rows[
                (metric, f"{pair.first} / {pair.second}", *_format_agreement(pair), _format_estimate(scorer.alpha))
            ] = None
    columns = ("Metric", "Raters", "Raw", "Kappa", "AC1", "Weighted kappa", "n", "Alpha (all)")
    return Table("Agreement between raters", columns, tuple(rows))


def _build_differences_table(calibrated: CalibrationResult) -> Table:
    rows = [
        (
            metric,
            difference.first,
            difference.second,
            format_number(difference.first_right),
            format_number(difference.second_right),
            _format_estimate(difference.gain),
            format_number(difference.p),
            format_percent(difference.same),
            str(difference.n),
        )
        for metric, difference in calibrated.differences
    ]
    columns = ("Metric", "First", "Second", "First correct", "Second correct", "Gain", "p", "Same verdict", "n")
    return Table("Judges or rubrics compared on the same labels", columns, tuple(rows))


def _build_costs_table(calibrated: CalibrationResult) -> Table:
    rows = []
    for scorer in calibrated.measured:
        for row in scorer.label_costs:
            cost = NOT_AVAILABLE if row.cost_usd is None else f"{row.cost_usd:.4f}"
            tokens = f"{row.prompt_tokens:.0f}", f"{row.completion_tokens:.0f}"
            rows.append(
                (
                    _name_scorer(scorer),
                    row.label,
                    str(row.items),
                    _format_rate(row.agreement),
                    f"{row.calls:.1f}",
                    *tokens,
                    cost,
                )
            )
    columns = ("Metric", "Label", "Items", "Agreement", "Calls", "Prompt tokens", "Completion tokens", "Cost (USD)")
    notes = (
        "Agreement: the share of the labelled items with this label that people put on the same side of one half. A "
        "request about several items counts for each of them by an equal share; controls and anchors are not counted.",
    )
    return Table("Labels of the judge: cost and agreement", columns, tuple(rows), notes)


def _build_confusion_table(scorer: ScorerMeasurement) -> Table:
    agreement = scorer.by_label or scorer.pass_fail
    rows = tuple(
        (label, *(str(count) for count in counts))
        for label, counts in zip(agreement.labels, agreement.confusion, strict=True)
    )
    return Table(f"Human labels (rows) and {_name_scorer(scorer)} (columns)", ("", *agreement.labels), rows)


def _build_slices_table(scorer: ScorerMeasurement) -> Table:
    rows = [
        (
            name,
            str(slice_quality.n),
            format_percent(slice_quality.agreement),
            _format_estimate(slice_quality.sensitivity),
            _format_estimate(slice_quality.specificity),
            format_number(slice_quality.leniency),
        )
        for name, slice_quality in scorer.slices.items()
    ]
    columns = ("Slice", "n", "Agreement", "Sensitivity", "Specificity", "Mean difference")
    notes = (f"Slices of fewer than {FEW_CASES} items are descriptive only.",) if rows else ()
    return Table(f"Slices: {_name_scorer(scorer)}", columns, tuple(rows), notes)


def _build_disagreements_table(title: str, cases: tuple[Disagreement, ...], first: str, second: str) -> Table:
    rows = [
        (
            disagreement.case_id,
            disagreement.config_id,
            disagreement.item,
            format_number(disagreement.people),
            format_number(disagreement.scorer),
            shorten_to_line("; ".join(filter(None, disagreement.people_reasons))),
            shorten_to_line(disagreement.scorer_reason),
        )
        for disagreement in cases[:_MAX_DISAGREEMENTS]
    ]
    columns = ("Case", "Config", "Item", first, second, f"{first}: why", f"{second}: why")
    return Table(title, columns, tuple(rows))


def _iter_notes(calibrated: CalibrationResult) -> Iterator[str]:
    yield from calibrated.notes
    metrics_by_note: dict[str, dict[str, None]] = {}  # in order, without duplicates
    for scorer in calibrated.measured:
        for note in scorer.notes:
            metrics_by_note.setdefault(note, {})[scorer.calibration.metric] = None
    for note, metrics in metrics_by_note.items():
        yield f"{', '.join(metrics)}: {note}"


def _format_estimate(estimate: ReportedEstimate | None) -> str:
    if estimate is None:
        return NOT_AVAILABLE
    bounds = (
        f" [{format_number(estimate.low)}, {format_number(estimate.high)}]"
        if estimate.low is not None and estimate.high is not None
        else ""
    )
    return f"{format_number(estimate.value)}{bounds}"


def _format_rate(rate: LabelledRate | None) -> str:
    return f"{_format_share(rate)}, n={rate.n}" if rate is not None else NOT_AVAILABLE


def _format_share(rate: LabelledRate) -> str:
    return f"{format_number(rate.value)} [{format_number(rate.low)}, {format_number(rate.high)}]"
