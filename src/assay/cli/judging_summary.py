"""The sentences that say what a judging asked, what it had already, and how its calls add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.records.counts import format_count

if TYPE_CHECKING:
    from assay.judging.budget import Budget
    from assay.judging.call_scheduler import JudgingTally


def describe_samples(tally: JudgingTally, earlier_controls: int = 0) -> list[str]:
    """Return how many samples were asked for, how many of them have labels, and how many were stored before.

    The parts of each sentence add up to its total. `earlier_controls` of earlier runs count and are not read again.
    """
    lines = [f"asked: {format_count(tally.asked, 'sample')}{_describe_parts(tally.asked, tally.asked_controls)}"]
    failed = tally.unscored.total()
    if tally.asked:
        lines[0] += f": {tally.asked - failed} with labels, {failed} without"
    if tally.uncalled:
        lines[0] += f" ({tally.uncalled} of them not called for in time)"
    stored = f"stored before: {format_count(tally.reused, 'sample')}"
    stored += _describe_parts(tally.reused, tally.reused_controls)
    if earlier_controls:
        stored += f"; {format_count(earlier_controls, 'control')} of earlier runs count too"
    if tally.reused or earlier_controls:
        lines.append(stored)
    return lines


def _describe_parts(total: int, controls: int) -> str:
    return f" ({total - controls} about answers, {controls} to check the judge)" if controls else ""


def describe_calls(tally: JudgingTally, budget: Budget) -> str:
    """Return the calls, as the sum of what they were made for, with their tokens and cost."""
    cost = f"${budget.cost:.4f}" if budget.cost_known else "unknown"
    parts = [format_count(tally.first_calls, "first call")]
    parts += [f"{format_count(tally.retries, 'retry', 'retries')} after errors"] if tally.retries else []
    parts += [f"{format_count(budget.repeats, 'repeat')} for a reply of the right form"] if budget.repeats else []
    given_up = ""
    if tally.given_up:
        were = "was" if tally.given_up == 1 else "were"
        given_up = f"; {format_count(tally.given_up, 'sample')} {were} given up when it stopped"
    made = f" ({' + '.join(parts)}{given_up})" if len(parts) > 1 or given_up else ""
    return f"calls: {budget.calls}{made}; tokens: {budget.tokens}; cost: {cost}"
