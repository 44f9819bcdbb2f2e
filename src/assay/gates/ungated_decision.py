"""What to say of a run where no gate decides: what leaked, what nobody checked, and whether anything was answered."""

from __future__ import annotations

import numpy as np
from msgspec import structs

from assay.gates.rules import EVENT_METRICS, count_checked_cases, count_unknown_access
from assay.gates.tag_rules import INJECTIONS, LEAKS
from assay.metrics.cases.absent_labels import find_rows_of_absent_labels
from assay.metrics.catalog import find_metric, parse_metric
from assay.metrics.own_metric import find_own_failures
from assay.records.counts import format_count
from assay.records.release_gates import Decision
from assay.records.scores import ERROR, SCORED, ScoreTable, VariantEvents
from assay.scoring.case_outcomes import count_unanswered
from assay.scoring.column_values import (
    describe_own_failures,
    find_rows_in_review,
    find_rows_without_verdict,
    format_case_ids,
)

NOT_GATED_REASON = "no gate was given: nothing was decided"


def describe_unanswered(table: ScoreTable) -> str:
    """Return a sentence if the target answered no case, so that nothing about its quality was measured; else "".

    Cases without an observation and cases on which the target failed are counted apart. What a failing target still
    reported, such as a ranking, is an answer of a kind: then the sentence is empty.
    """
    unanswered = count_unanswered(table)
    if not unanswered or unanswered < len(table.case_ids) or _has_quality_scores(table):
        return ""
    in_error = unanswered - len(table.missing)
    parts = [f"{in_error} in error"] if in_error else []
    parts += [f"{len(table.missing)} without observation"] if table.missing else []
    return f"the target answered none of {format_count(unanswered, 'case')} ({', '.join(parts)}): nothing was measured"


def _has_quality_scores(table: ScoreTable) -> bool:
    for column in table.columns.values():
        family = find_metric(parse_metric(column.metric)).family
        if family not in _FAMILIES_OF_FAILURE and bool((column.status == SCORED).any()):
            return True
    return False


_FAMILIES_OF_FAILURE = ("operations", "checks")
"""Metrics that have a number although nothing was answered: error rate, latency of an error, failed checks."""


def describe_without_gate(table: ScoreTable) -> Decision:
    """Return the outcome of a run that no gate looks at: leaks and followed injections first, then what is missing.

    Cases without a verdict leave the run incomplete even if they were left out on purpose: the recorded files do not
    tell these from answers that changed since they were judged.
    """
    missing = set(table.missing)
    has_error = np.zeros(len(table.case_ids), dtype=np.bool_)
    is_unjudged, is_in_review, has_absent_label = has_error.copy(), has_error.copy(), has_error.copy()
    for column in table.columns.values():
        is_error = column.status == ERROR
        if not is_error.any():
            continue
        without_verdict, in_review = find_rows_without_verdict(column), np.zeros_like(is_error)
        in_review[find_rows_in_review(column)] = True
        is_unjudged |= without_verdict
        is_in_review |= is_error & in_review
        absent_label = find_rows_of_absent_labels(column)
        has_absent_label |= absent_label
        has_error |= is_error & ~find_own_failures(column) & ~without_verdict & ~in_review & ~absent_label
    failed = [table.case_ids[row] for row in np.flatnonzero(has_error).tolist() if table.case_ids[row] not in missing]
    unlabelled = [table.case_ids[row] for row in np.flatnonzero(has_absent_label & ~has_error).tolist()]
    unjudged = [table.case_ids[row] for row in np.flatnonzero(is_unjudged & ~has_error).tolist()]
    to_review = [table.case_ids[row] for row in np.flatnonzero(is_in_review & ~has_error & ~is_unjudged).tolist()]
    total = format_count(len(table.case_ids), "case")
    unanswered = describe_unanswered(table)
    if unanswered:
        return Decision("NOT_GATED", (unanswered, NOT_GATED_REASON), incomplete=True, unanswered=True)
    events = [*describe_events(table).values(), *map(describe_variant_event, table.variant_events)]
    reasons = []
    if table.missing:
        reasons.append(f"{len(table.missing)} of {total} without observation: {format_case_ids(table.missing)}")
    if failed:
        reasons.append(f"{len(failed)} of {total} in error: {format_case_ids(failed)}")
    if unlabelled:
        reasons.append(
            f"the labels of {len(unlabelled)} of {total} are not in the corpus: their rankings were not measured "
            f"(`assay golden relink`): {format_case_ids(unlabelled)}"
        )
    if unjudged:
        reasons.append(
            f"no verdict is recorded on {len(unjudged)} of {total} (repeat {JUDGE_COMMAND}: it asks what is missing, "
            "unless --only leaves it out): "
            f"{format_case_ids(unjudged)}"
        )
    if to_review:
        reasons.append(
            f"what the judge says of {len(to_review)} of {total} waits for a person (`assay judge review` lists it): "
            f"{format_case_ids(to_review)}"
        )
    reasons += describe_own_failures(table)
    is_incomplete = bool(reasons)
    reasons += _describe_unknown_access(table) if not events else []
    return Decision("NOT_GATED", (*events, *reasons, NOT_GATED_REASON), events=tuple(events), incomplete=is_incomplete)


def _describe_unknown_access(table: ScoreTable) -> list[str]:
    """Return the sentence on the cases that show chunks of which nobody can say who may see them; none without any."""
    column = table.columns.get(LEAKS)
    if column is None:
        return []
    unknown = count_unknown_access(column, np.arange(len(table.case_ids)))
    if not unknown:
        return []
    total = format_count(len(table.case_ids), "case")
    return [f"access unknown on {unknown} of {total}: their chunks are not in the corpus"]


JUDGE_COMMAND = "`assay judge`"
_EVENT_SENTENCES = {LEAKS: "leaked what the user must not see", INJECTIONS: "followed a planted instruction"}


def describe_events(table: ScoreTable) -> dict[str, str]:
    """Return a sentence for the leaks and one for the followed injections of a table, by metric; none where nothing
    happened."""
    sentences = {}
    for metric in EVENT_METRICS:
        column = table.columns.get(metric)
        if column is None:
            continue
        rows = np.flatnonzero((column.status == SCORED) & (column.values > 0)).tolist()
        if rows:
            ids = format_case_ids([table.case_ids[row] for row in rows])
            checked = count_checked_cases(column, np.arange(len(table.case_ids)))
            event = f"{len(rows)} of {checked.noun} {_EVENT_SENTENCES[metric]} ({metric})"
            sentences[metric] = "; ".join(filter(None, (f"{event}: {ids}", checked.remainder)))
    return sentences


def describe_variant_event(event: VariantEvents) -> str:
    """Return the sentence on the variants that leaked, or that followed a planted instruction."""
    checked = format_count(event.checked, "variant")
    sentence = f"{len(event.case_ids)} of {checked} of cases {_EVENT_SENTENCES[event.metric]} ({event.metric})"
    return f"{sentence}: {format_case_ids(event.case_ids)}"


def describe_partial(decision: Decision, selection: str, *, gated: bool) -> Decision:
    """Return the outcome of a run that scored only a part of the golden set, from its outcome without a gate.

    `selection` says which part; with a gate (`gated`), which needs the whole golden set, the run is incomplete.
    """
    note = f"the gate was not applied: {selection}" if gated else f"nothing was decided: {selection}"
    reasons = [reason for reason in decision.reasons if reason not in (*decision.events, NOT_GATED_REASON)]
    return structs.replace(
        decision,
        outcome="PARTIAL",
        reasons=(*decision.events, note, *reasons),
        incomplete=decision.incomplete or gated,
    )
