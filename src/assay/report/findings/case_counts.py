"""How many cases of a run passed, failed and are unknown: in a table, in a line each, and with names."""

from __future__ import annotations

from assay.records.counts import format_count, join_first
from assay.records.scores import ConfigResult, ScoringResult
from assay.report.findings.table import Table
from assay.scoring.case_outcomes import count_cases, format_case_counts, list_unknown_cases
from assay.scoring.judged_answers import describe_judged_unknowns


def build_case_counts_table(scoring: ScoringResult) -> Table:
    """Return how many cases of every configuration passed, failed and are unknown."""
    rows, unanswered = [], []
    for config, result in sorted(scoring.configs.items()):
        counts = count_cases(result)
        rows.append((config, str(counts.cases), str(counts.passed), str(counts.failed), str(counts.unknown)))
        if counts.unanswered:
            unanswered.append(f" Without an answer, of the failed cases of {config}: {counts.unanswered}.")
    note = (
        "Failed: a check failed, and the case has a root cause. Unknown: nothing failed, and nothing that was measured "
        f"tells whether the answer is right.{''.join(unanswered)}"
    )
    columns = ("Config", "Cases", "Passed", "Failed", "Unknown")
    return Table("Cases", columns, tuple(rows), (note,) if rows else ())


_MAX_UNKNOWN_NAMED = 5


def list_case_outcomes(scoring: ScoringResult) -> list[str]:
    """Return how many cases of each configuration failed, passed and are unknown, one line each; no name if alone.

    A configuration of which nothing failed is not called good while answers are unknown: their cases are named.
    """
    lines = []
    for config, result in sorted(scoring.configs.items()):
        prefix = f"{config}: " if len(scoring.configs) > 1 else ""
        lines.append(prefix + describe_case_outcomes(result))
    return lines


def describe_case_outcomes(result: ConfigResult) -> str:
    """Return what is known of the cases of a configuration, and what is open, in one sentence."""
    counts = count_cases(result)
    failed = f"{counts.failed} of {format_count(counts.cases, 'case')} failed"
    if counts.unanswered and counts.unanswered == counts.failed:
        failed = f"{counts.unanswered} of {format_count(counts.cases, 'case')} without an answer"
    elif counts.unanswered:
        failed += f" ({counts.unanswered} without an answer)"
    if not counts.unknown:
        return f"{failed}, {counts.passed} passed"
    return f"{failed}, {counts.passed} passed, {counts.unknown} {_describe_unknown(result)}"


def _describe_unknown(result: ConfigResult) -> str:
    listed = join_first(list_unknown_cases(result), _MAX_UNKNOWN_NAMED)
    judged = describe_judged_unknowns(result)
    return f"unknown ({listed}): {judged}" if judged else f"unknown: {NOTHING_TELLS} ({listed})"


NOTHING_TELLS = "nothing that was measured tells whether the answer is right"


def list_unknown_lines(scoring: ScoringResult) -> list[str]:
    """Return the cases of each configuration of which nobody can tell, one line each where there are any."""
    return [
        f"{config}, {_describe_unknown(result)}"
        for config, result in sorted(scoring.configs.items())
        if list_unknown_cases(result)
    ]


def list_case_counts(scoring: ScoringResult) -> list[str]:
    """Return one line for each configuration: `<config>: 4 of 41 failed, 2 unknown`."""
    results = sorted(scoring.configs.items())
    return [f"{config}: {format_case_counts(count_cases(result))}" for config, result in results]
