"""What a calibration found, for the terminal and for Markdown: the answer first, then the figures behind it."""

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

_SHOWN = 10


def calibration_lines(found: Calibrated) -> Screen:
    """Return the screen of a calibration: one line for each instrument and metric, then the tables."""
    return Screen(
        tuple(terminal(line) for line in _answers(found)),
        tuple(safe_table(table) for table in _tables(found) if table.rows),
        tuple(terminal(note) for note in _notes(found)),
    )


def calibration_markdown(found: Calibrated) -> str:
    """Return the calibration as Markdown ending in a newline."""
    lines = ["# Calibration against people", ""]
    lines += [f"- {markdown(line.strip())}" for line in _answers(found)]
    for table in _tables(found):
        if table.rows:
            lines += ["", f"## {markdown(table.title)}", "", *table_lines(table)]
    notes = list(_notes(found))
    if notes:
        lines += ["", "## Notes", "", *(f"- {markdown(note)}" for note in notes)]
    return "\n".join(lines) + "\n"


def calibration_json(found: Calibrated) -> str:
    """Return the calibration as JSON with sorted keys, ending in a newline."""
    return msgspec.json.format(msgspec.json.encode(found, order="sorted"), indent=2).decode() + "\n"


def _answers(found: Calibrated) -> Iterator[str]:
    raters = plural(len(found.raters), "rater")
    yield f"{plural(found.labelled, 'label')} of {raters}: {', '.join(found.raters)}"
    for each in found.measured:
        record = each.calibration
        answer = "may gate" if record.may_gate else "may inform, not gate"
        yield f"{_name(each)}: {answer}, n={record.n}"
        for reason in record.reasons:
            yield f" - {reason}"


def _tables(found: Calibrated) -> Iterator[Table]:
    yield _rates(found)
    yield _agreement(found)
    yield _leanings(found)
    yield _corrected(found)
    yield _raters(found)
    yield _differences(found)
    for each in found.measured:
        yield _confusion(each)
        yield _slices(each)
        yield _worst(f"Furthest from people: {_name(each)}", each.worst, "People", each.instrument)
    for metric, cases in found.review.items():
        yield _worst(f"Judge and rules far apart, to review: {metric}", cases, "Rules", "Judge")


def _name(each: Measured) -> str:
    metric = each.calibration.metric
    return metric if each.instrument == each.by else f"{metric} ({each.instrument})"


def _rates(found: Calibrated) -> Table:
    rows = [
        (
            _name(each),
            _rate(each.calibration.sensitivity),
            _rate(each.calibration.specificity),
            _estimated(each.pass_fail.balanced_accuracy),
            str(each.calibration.n),
            str(each.unjudged),
        )
        for each in found.measured
    ]
    columns = ("Metric", "Sensitivity", "Specificity", "Balanced accuracy", "n", "Unjudged")
    notes = (
        "Sensitivity: of what people passed, the share the instrument passed. Specificity: of what they failed, "
        "the share it failed. A value above 0.5 passes.",
    )
    return Table("What the instrument is worth", columns, tuple(rows), notes)


def _agreement(found: Calibrated) -> Table:
    rows = []
    for each in found.measured:
        for kind, figures in (("pass/fail", each.pass_fail), ("labels", each.by_label)):
            if figures is not None:
                prevalence = ", ".join(f"{label} {percent(share)}" for label, share in figures.prevalence.items())
                rows.append((_name(each), kind, *_figures(figures), prevalence))
    columns = ("Metric", "By", "Raw", "Kappa", "AC1", "Weighted kappa", "n", "People said")
    return Table("Agreement with people", columns, tuple(rows))


def _figures(figures: Agreement) -> tuple[str, ...]:
    parts = (figures.kappa, figures.ac1, figures.weighted)
    return percent(figures.raw), *(_estimated(part) for part in parts), str(figures.n)


def _leanings(found: Calibrated) -> Table:
    rows = []
    for each in found.measured:
        leaning, steady = each.leaning, each.consistency
        flips = f"{percent(steady.flips)} of pairs, {plural(steady.items, 'item')}" if steady is not None else NA
        rows.append(
            (
                _name(each),
                leaning.direction,
                _estimated(leaning.leniency),
                f"{leaning.too_lenient} / {leaning.too_strict}",
                f"{number(leaning.people)} / {number(leaning.instrument)}",
                _estimated(leaning.length),
                flips,
            )
        )
    columns = ("Metric", "Direction", "Mean difference", "Too lenient / strict", "Mean: people / instrument",
               "With answer length", "Votes that differ")  # fmt: skip
    return Table("Which way it leans", columns, tuple(rows))


def _corrected(found: Calibrated) -> Table:
    rows, notes = [], []
    for each in found.measured:
        for config, figures in each.corrected.items():
            cells = (_estimated(part) for part in (figures.judged, figures.rogan_gladen, figures.ppi))
            rows.append((_name(each), config, *cells, figures.recommended, str(figures.n)))
            notes += [f"{_name(each)}, {config}: {problem}" for problem in figures.problems]
    columns = ("Metric", "Config", "As judged", "Rogan-Gladen", "PPI++", "Use", "n")
    return Table("Share that passes, corrected", columns, tuple(rows), tuple(notes))


def _raters(found: Calibrated) -> Table:
    rows: dict[tuple[str, ...], None] = {}
    for each in found.measured:
        metric = each.calibration.metric
        for pair in each.raters:
            rows[(metric, f"{pair.first} / {pair.second}", *_figures(pair), _estimated(each.alpha))] = None
    columns = ("Metric", "Raters", "Raw", "Kappa", "AC1", "Weighted kappa", "n", "Alpha (all)")
    return Table("Agreement between people", columns, tuple(rows))


def _differences(found: Calibrated) -> Table:
    rows = [
        (
            metric,
            each.first,
            each.second,
            number(each.first_right),
            number(each.second_right),
            _estimated(each.gain),
            number(each.p),
            percent(each.same),
            str(each.n),
        )
        for metric, each in found.differences
    ]
    columns = ("Metric", "First", "Second", "First right", "Second right", "Gain", "p", "Same verdict", "n")
    return Table("Judges or rubrics on the same labels", columns, tuple(rows))


def _confusion(each: Measured) -> Table:
    figures = each.by_label or each.pass_fail
    rows = tuple(
        (label, *(str(count) for count in counts))
        for label, counts in zip(figures.labels, figures.confusion, strict=True)
    )
    return Table(f"People (rows) against {_name(each)} (columns)", ("", *figures.labels), rows)


def _slices(each: Measured) -> Table:
    rows = [
        (
            name,
            str(figures.n),
            percent(figures.agreement),
            _estimated(figures.sensitivity),
            _estimated(figures.specificity),
            number(figures.leniency),
        )
        for name, figures in each.slices.items()
    ]
    columns = ("Slice", "n", "Agreement", "Sensitivity", "Specificity", "Mean difference")
    notes = (f"A slice of fewer than {FEW_CASES} items describes them and proves nothing.",) if rows else ()
    return Table(f"Slices: {_name(each)}", columns, tuple(rows), notes)


def _worst(title: str, cases: tuple[Disagreement, ...], first: str, second: str) -> Table:
    rows = [
        (
            each.case_id,
            each.config_id,
            each.item,
            number(each.people),
            number(each.instrument),
            one_line("; ".join(filter(None, each.people_said))),
            one_line(each.instrument_said),
        )
        for each in cases[:_SHOWN]
    ]
    columns = ("Case", "Config", "Item", first, second, f"{first}: why", f"{second}: why")
    return Table(title, columns, tuple(rows))


def _notes(found: Calibrated) -> Iterator[str]:
    yield from found.notes
    said = dict.fromkeys(f"{each.calibration.metric}: {note}" for each in found.measured for note in each.notes)
    yield from said


def _estimated(found: Estimated | None) -> str:
    if found is None:
        return NA
    bounds = f" [{number(found.low)}, {number(found.high)}]" if found.low is not None and found.high is not None else ""
    return f"{number(found.value)}{bounds}"


def _rate(found: Rate | None) -> str:
    return (
        f"{number(found.value)} [{number(found.low)}, {number(found.high)}], n={found.n}" if found is not None else NA
    )
