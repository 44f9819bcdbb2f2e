"""Tables of variants: whether they are treated alike or differently where they should, and what each kind costs."""

from __future__ import annotations

from collections.abc import Iterator

from assay.records.counts import format_count
from assay.records.scores import Interval, ScoringResult, TwinRate, VariantLoss
from assay.report.findings.table import Table
from assay.report.wording.number_format import NOT_AVAILABLE, format_number, format_percent

MAX_PAIRS = 10
"""The largest number of variants of one configuration that a report names."""
_ALWAYS_SHOWN = "failed"


def build_twin_tables(scoring: ScoringResult) -> list[Table]:
    """Return the tables of variants; none if the golden set has no variants."""
    if not scoring.twins:
        return []
    tables = [_build_rates_table(scoring), _build_losses_table(scoring), _build_pairs_table(scoring)]
    return [table for table in tables if table.rows]


def _build_rates_table(scoring: ScoringResult) -> Table:
    rows = []
    for config, twins in sorted(scoring.twins.items()):
        apart = _format_rate(twins.distinction)
        if twins.differing:
            apart += f"; {twins.difference.good} of {format_count(twins.differing, 'pair')}"
        rows.append((config, str(twins.clusters), _format_rate(twins.consistency), apart))
    notes = [
        "Alike: cases all of whose alike variants have the same verdict and behaviour and answers that agree. "
        "Told apart: cases with variants of which another answer is right; both have the behaviour and the facts that "
        "belong to them, and not the same answer. Variants count in no other number of this report.",
        *_list_doubts(scoring),
    ]
    columns = ("Config", "Cases with variants", "Treated alike (consistency)", "Told apart (twin_distinction)")
    return Table("Variants", columns, tuple(rows), tuple(notes))


def _list_doubts(scoring: ScoringResult) -> Iterator[str]:
    for config, twins in sorted(scoring.twins.items()):
        if twins.unpaired:
            yield f"{config}: {format_count(twins.unpaired, 'variant')} of cases that were not scored: left out"


def _format_rate(rate: TwinRate) -> str:
    if rate.value is None:
        return f"{NOT_AVAILABLE} ({rate.unknown.count} unknown)" if rate.unknown is not None else NOT_AVAILABLE
    text = f"{format_percent(rate.value)}{_format_share_interval(rate.interval)}, {rate.good} of {rate.decided}"
    if rate.unknown is not None:
        low, high = format_percent(rate.unknown.low), format_percent(rate.unknown.high)
        text += f"; {rate.unknown.count} unknown: {low} to {high} with them"
    return text


def _format_share_interval(interval: Interval | None) -> str:
    return f" [{interval.low:.2f}, {interval.high:.2f}]" if interval is not None else ""


def _build_losses_table(scoring: ScoringResult) -> Table:
    """Return the loss of each kind on failed cases, and on whatever else a kind loses or gains significantly."""
    rows, others = [], 0
    for config, twins in sorted(scoring.twins.items()):
        for loss in twins.losses:
            if loss.metric == _ALWAYS_SHOWN or loss.verdict in ("loses", "gains"):
                rows.append((config, *_describe_loss(loss)))
            else:
                others += 1
    notes = [
        "Loss: mean of case minus variant over pairs, positive if the variant is worse. Intervals and verdicts are "
        "adjusted for all kinds and metrics of a configuration together (ADR 82)."
    ]
    if others:
        notes.append(f"{others} more pairs of kind and metric without a significant loss are in the JSON report")
    columns = ("Config", "Kind", "Metric", "Case", "Variant", "Loss", "Pairs", "Verdict")
    return Table("What variants cost", columns, tuple(rows), tuple(notes))


def _describe_loss(loss: VariantLoss) -> tuple[str, ...]:
    interval = ""
    if loss.interval is not None:
        interval = f" [{loss.interval.low:+.3f}, {loss.interval.high:+.3f}]"
    verdict = loss.verdict if not loss.note else f"{loss.verdict} ({loss.note})"
    means = format_number(loss.base, loss.metric), format_number(loss.variant, loss.metric)
    return (loss.kind, loss.metric, *means, f"{loss.loss:+.3f}{interval}", str(loss.n), verdict)


def _build_pairs_table(scoring: ScoringResult) -> Table:
    """Return the first variants that were not treated as they should be."""
    rows, notes = [], []
    for config, twins in sorted(scoring.twins.items()):
        wrong = [pair for pair in twins.pairs if pair.state == "not as expected"]
        rows += [(config, pair.case_id, pair.kind, pair.detail) for pair in wrong[:MAX_PAIRS]]
        if len(wrong) > MAX_PAIRS:
            notes.append(f"{config}: {len(wrong) - MAX_PAIRS} more")
    return Table(
        "Variants not treated as expected", ("Config", "Case", "Kind", "What happened"), tuple(rows), tuple(notes)
    )
