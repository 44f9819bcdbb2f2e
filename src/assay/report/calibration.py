"""The result of a calibration for the terminal, Markdown and JSON: which scorers may gate, and the numbers why."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from assay.report.figures import NA, number, percent, plural
from assay.report.markdown import table_lines
from assay.report.safe import markdown, one_line, terminal
from assay.report.tables import FEW_CASES, Table
from assay.report.terminal import Screen, safe_table
from assay.scoring.agreement import Agreement, Estimated
from assay.scoring.calibration import Calibrated, Measured
from assay.scoring.leanings import Disagreement
from assay.verdict import Rate

_MAX_DISAGREEMENTS = 10


def calibration_lines(calibrated: Calibrated) -> Screen:
    """Return the screen of a calibration: one line for each scorer and metric, then the tables that are not empty."""
    return Screen(
        tuple(terminal(line) for line in _iter_answers(calibrated)),
        tuple(safe_table(table) for table in _iter_tables(calibrated) if table.rows),
        tuple(terminal(note) for note in _iter_notes(calibrated)),
    )


def calibration_markdown(calibrated: Calibrated) -> str:
    """Return the calibration as Markdown ending in a newline."""
    lines = ["# Calibration against human labels", ""]
    lines += [f"- {markdown(line.strip())}" for line in _iter_answers(calibrated)]
    for table in _iter_tables(calibrated):
        if table.rows:
            lines += ["", f"## {markdown(table.title)}", "", *table_lines(table)]
    notes = list(_iter_notes(calibrated))
    if notes:
        lines += ["", "## Notes", "", *(f"- {markdown(note)}" for note in notes)]
    return "\n".join(lines) + "\n"


def calibration_json(calibrated: Calibrated) -> str:
    """Return the calibration as JSON with sorted keys, ending in a newline."""
    return msgspec.json.format(msgspec.json.encode(calibrated, order="sorted"), indent=2).decode() + "\n"


def _iter_answers(calibrated: Calibrated) -> Iterator[str]:
    raters = plural(len(calibrated.raters), "rater")
    yield f"{plural(calibrated.labelled, 'label')} of {raters}: {', '.join(calibrated.raters)}"
    for scorer in calibrated.measured:
        record = scorer.calibration
        answer = "may gate" if record.may_gate else "may inform, not gate"
        yield f"{_name_scorer(scorer)}: {answer}, n={record.n}"
        for reason in record.reasons:
            yield f" - {reason}"


def _iter_tables(calibrated: Calibrated) -> Iterator[Table]:
    yield _build_rates_table(calibrated)
    yield _build_agreement_table(calibrated)
    yield _build_bias_table(calibrated)
    yield _build_corrected_table(calibrated)
    yield _build_raters_table(calibrated)
    yield _build_differences_table(calibrated)
    for scorer in calibrated.measured:
        yield _build_confusion_table(scorer)
        yield _build_slices_table(scorer)
        title = f"Largest differences from human labels: {_name_scorer(scorer)}"
        yield _build_disagreements_table(title, scorer.worst, "People", scorer.instrument)
    for metric, cases in calibrated.review.items():
        yield _build_disagreements_table(f"Judge and rules disagree, to review: {metric}", cases, "Rules", "Judge")


def _name_scorer(scorer: Measured) -> str:
    metric = scorer.calibration.metric
    return metric if scorer.instrument == scorer.by else f"{metric} ({scorer.instrument})"


def _build_rates_table(calibrated: Calibrated) -> Table:
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
        "failed that the scorer failed. A value above 0.5 passes.",
    )
    return Table("Scorer accuracy", columns, tuple(rows), notes)


def _build_agreement_table(calibrated: Calibrated) -> Table:
    rows = []
    for scorer in calibrated.measured:
        for granularity, agreement in (("pass/fail", scorer.pass_fail), ("labels", scorer.by_label)):
            if agreement is not None:
                prevalence = ", ".join(f"{label} {percent(share)}" for label, share in agreement.prevalence.items())
                rows.append((_name_scorer(scorer), granularity, *_format_agreement(agreement), prevalence))
    columns = ("Metric", "By", "Raw", "Kappa", "AC1", "Weighted kappa", "n", "Human labels")
    return Table("Agreement with human labels", columns, tuple(rows))


def _format_agreement(agreement: Agreement) -> tuple[str, ...]:
    coefficients = (agreement.kappa, agreement.ac1, agreement.weighted)
    return percent(agreement.raw), *(_format_estimate(coefficient) for coefficient in coefficients), str(agreement.n)


def _build_bias_table(calibrated: Calibrated) -> Table:
    rows = []
    for scorer in calibrated.measured:
        bias, vote_consistency = scorer.leaning, scorer.consistency
        flips = (
            f"{percent(vote_consistency.flips)} of pairs, {plural(vote_consistency.items, 'item')}"
            if vote_consistency is not None
            else NA
        )
        rows.append(
            (
                _name_scorer(scorer),
                bias.direction,
                _format_estimate(bias.leniency),
                f"{bias.too_lenient} / {bias.too_strict}",
                f"{number(bias.people)} / {number(bias.instrument)}",
                _format_estimate(bias.length),
                flips,
            )
        )
    columns = ("Metric", "Direction", "Mean difference", "Too lenient / strict", "Mean: people / scorer",
               "Correlation with answer length", "Votes that differ")  # fmt: skip
    return Table("Scorer bias", columns, tuple(rows))


def _build_corrected_table(calibrated: Calibrated) -> Table:
    rows, notes = [], []
    for scorer in calibrated.measured:
        for config, rate_estimates in scorer.corrected.items():
            cells = (
                _format_estimate(estimate)
                for estimate in (rate_estimates.judged, rate_estimates.rogan_gladen, rate_estimates.ppi)
            )
            rows.append((_name_scorer(scorer), config, *cells, rate_estimates.recommended, str(rate_estimates.n)))
            notes += [f"{_name_scorer(scorer)}, {config}: {problem}" for problem in rate_estimates.problems]
    columns = ("Metric", "Config", "As judged", "Rogan-Gladen", "PPI++", "Use", "n")
    return Table("Share that passes, corrected", columns, tuple(rows), tuple(notes))


def _build_raters_table(calibrated: Calibrated) -> Table:
    rows: dict[tuple[str, ...], None] = {}
    for scorer in calibrated.measured:
        metric = scorer.calibration.metric
        for pair in scorer.raters:
            rows[
                (metric, f"{pair.first} / {pair.second}", *_format_agreement(pair), _format_estimate(scorer.alpha))
            ] = None
    columns = ("Metric", "Raters", "Raw", "Kappa", "AC1", "Weighted kappa", "n", "Alpha (all)")
    return Table("Agreement between raters", columns, tuple(rows))


def _build_differences_table(calibrated: Calibrated) -> Table:
    rows = [
        (
            metric,
            difference.first,
            difference.second,
            number(difference.first_right),
            number(difference.second_right),
            _format_estimate(difference.gain),
            number(difference.p),
            percent(difference.same),
            str(difference.n),
        )
        for metric, difference in calibrated.differences
    ]
    columns = ("Metric", "First", "Second", "First correct", "Second correct", "Gain", "p", "Same verdict", "n")
    return Table("Judges or rubrics compared on the same labels", columns, tuple(rows))


def _build_confusion_table(scorer: Measured) -> Table:
    agreement = scorer.by_label or scorer.pass_fail
    rows = tuple(
        (label, *(str(count) for count in counts))
        for label, counts in zip(agreement.labels, agreement.confusion, strict=True)
    )
    return Table(f"Human labels (rows) and {_name_scorer(scorer)} (columns)", ("", *agreement.labels), rows)


def _build_slices_table(scorer: Measured) -> Table:
    rows = [
        (
            name,
            str(slice_quality.n),
            percent(slice_quality.agreement),
            _format_estimate(slice_quality.sensitivity),
            _format_estimate(slice_quality.specificity),
            number(slice_quality.leniency),
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
            number(disagreement.people),
            number(disagreement.instrument),
            one_line("; ".join(filter(None, disagreement.people_said))),
            one_line(disagreement.instrument_said),
        )
        for disagreement in cases[:_MAX_DISAGREEMENTS]
    ]
    columns = ("Case", "Config", "Item", first, second, f"{first}: why", f"{second}: why")
    return Table(title, columns, tuple(rows))


def _iter_notes(calibrated: Calibrated) -> Iterator[str]:
    yield from calibrated.notes
    scorer_notes: dict[str, None] = {}  # in order, without duplicates
    for scorer in calibrated.measured:
        for note in scorer.notes:
            scorer_notes[f"{scorer.calibration.metric}: {note}"] = None
    yield from scorer_notes


def _format_estimate(estimate: Estimated | None) -> str:
    if estimate is None:
        return NA
    bounds = (
        f" [{number(estimate.low)}, {number(estimate.high)}]"
        if estimate.low is not None and estimate.high is not None
        else ""
    )
    return f"{number(estimate.value)}{bounds}"


def _format_rate(rate: Rate | None) -> str:
    return f"{number(rate.value)} [{number(rate.low)}, {number(rate.high)}], n={rate.n}" if rate is not None else NA
