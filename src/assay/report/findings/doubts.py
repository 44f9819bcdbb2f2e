"""What a reader of the first screen should doubt although no check failed: what was probably misread, variants that
leaked, empty answers, answers from expired sources, passes that people found wrong, numbers from nowhere, and
significant regressions of metrics that the screen does not list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.gates.doubted_answers import DOUBTED_ANSWERS
from assay.metrics.case_checks import (
    EMPTY_ANSWER,
    JUDGED_CORRECTNESS,
    PASTED_PASSAGE,
    STALE_CITATION,
    STALE_CONTEXT,
    UNSOURCED_NUMBER,
)
from assay.metrics.template_columns import FAITHFULNESS
from assay.metrics.variants import LEAKED_VARIANT
from assay.records.counts import format_count, join_first
from assay.records.findings import ChangeVerdict, Comparison, MetricChange
from assay.records.golden_set import GOLDEN_KEYS_UNREAD
from assay.records.scores import ConfigResult, ScoringResult
from assay.report.wording.change_order import describe_checkable, measure_strength, rank_importance
from assay.report.wording.change_values import format_sides
from assay.report.wording.metric_titles import format_metric_title
from assay.scoring.language_differences import LANGUAGES_DIFFER
from assay.scoring.one_answer import ONE_ANSWER
from assay.scoring.passed_answers import describe_pass_sample
from assay.scoring.ways_out import WAYS_OUT
from assay.text.late_pattern import LatePattern

MAX_CASES_NAMED, MAX_METRICS_NAMED, MAX_OF_EACH = 3, 4, 2


def is_listed_as_doubt(warning: str) -> bool:
    """Return whether a warning is one of `list_doubts`, so that it needs no place among the others."""
    return is_misread(warning) or _is_told_here(warning)


def _is_told_here(warning: str) -> bool:
    return any(mark in warning for mark in (LANGUAGES_DIFFER, WAYS_OUT))


def list_doubted_cases(result: ConfigResult) -> list[str]:
    """Return the cases whose answer has a number that no source has, in golden order."""
    return [checks.case_id for checks in result.table.checks if UNSOURCED_NUMBER in checks.warnings]


def list_doubts(scoring: ScoringResult, comparisons: Mapping[str, Comparison] | None = None) -> list[str]:
    """Return outputs that were probably misread, then the doubts about each configuration, one line each, after its
    name if there are several.

    `comparisons` are the changes since the baseline, by configuration.
    """
    risks = {risk for result in scoring.configs.values() if result.decision for risk in result.decision.risks}
    lines = [warning for warning in scoring.warnings if is_misread(warning) and warning not in risks]
    for config, result in sorted(scoring.configs.items()):
        prefix = f"{config}: " if len(scoring.configs) > 1 else ""
        comparison = (comparisons or {}).get(config)
        sentences = (
            describe_repeated_calls(config, scoring),
            describe_empty_answers(result),
            describe_stale_contexts(result),
            describe_leaked_variants(config, scoring),
            describe_read_passes(config, scoring),
            describe_unsourced(result),
            describe_pasted(result),
            describe_regressed(comparison) if comparison else "",
        )
        lines += [prefix + line for line in sentences if line]
    return [*lines, *(warning for warning in scoring.warnings if _is_told_here(warning))]


def list_empty_answers(result: ConfigResult) -> list[str]:
    """Return the cases whose answer is empty, in golden order; with repeats, those of which any answer is."""
    return [checks.case_id for checks in result.table.checks if EMPTY_ANSWER in checks.failed]


def describe_empty_answers(result: ConfigResult) -> str:
    """Return how many answers are empty, the first of them, and what to do; "" if none is.

    Each fails its case, but as one case among others: that a system returned no text at all is said once, and first.
    """
    empty = list_empty_answers(result)
    if not empty:
        return ""
    answers = "has an empty answer" if len(empty) == 1 else "have empty answers"
    return (
        f"{len(empty)} of {format_count(len(result.table.case_ids), 'case')} {answers}: "
        f"{join_first(empty, MAX_CASES_NAMED)} (see in the system's log why, and which field holds the answer)"
    )


def describe_pasted(result: ConfigResult) -> str:
    """Return how many answers are passages of the context as they stand, and the first of them; "" if none is."""
    pasted = [checks.case_id for checks in result.table.checks if PASTED_PASSAGE in checks.warnings]
    if not pasted:
        return ""
    answers = "has an answer that is a passage" if len(pasted) == 1 else "have answers that are passages"
    return (
        f"doubt: {len(pasted)} of {format_count(len(result.table.case_ids), 'case')} {answers} of the context, copied "
        f"whole: {join_first(pasted, MAX_CASES_NAMED)} (what is asked for may be in it, and was not picked out)"
    )


def describe_repeated_calls(config: str, scoring: ScoringResult) -> str:
    """Return how many calls failed and were made again, with their errors; "" if none was.

    Their cases have no error, so that neither the error rate nor a check tells of them.
    """
    repeated = scoring.repeated.get(config, ())
    if not repeated:
        return ""
    calls = sum(failure.count for failure in repeated)
    cases = {case_id for failure in repeated for case_id in failure.case_ids}
    named = [case_id for case_id in scoring.configs[config].table.case_ids if case_id in cases]
    codes = [f"{_name_code(failure.message)} ×{failure.count}" for failure in repeated]
    return (
        f"doubt: {format_count(calls, 'call')} failed and {'was' if calls == 1 else 'were'} repeated: "
        f"{join_first(codes, MAX_OF_EACH)} ({join_first(named, MAX_CASES_NAMED)}; error_rate counts last calls alone, "
        "retries counts these)"
    )


def _name_code(code: str) -> str:
    """Return an error code for people.

    >>> _name_code("http_503"), _name_code("rate_limited")
    ('HTTP 503', 'rate_limited')
    """
    return code.replace("http_", "HTTP ") if code.startswith("http_") else code


STALE_SHARE = 0.1
"""Share of the cases from which on superseded versions in contexts are said first: one among others is no pattern."""


def describe_stale_contexts(result: ConfigResult) -> str:
    """Return how many answers cite a superseded version, and how many cases had one in the context if that is a tenth
    of them; "" without either.

    A golden set that was labelled on old versions finds them right, and so would every gate on it.
    """
    stale, citing = (
        [checks.case_id for checks in result.table.checks if name in checks.warnings]
        for name in (STALE_CONTEXT, STALE_CITATION)
    )
    if not citing and len(stale) < max(1, STALE_SHARE * len(result.table.case_ids)):
        return ""
    count = format_count(len(result.table.case_ids), "case")
    if citing:
        cites = "has an answer that cites" if len(citing) == 1 else "have answers that cite"
        fact = f"{len(citing)} of {count} {cites} a version that is no longer in force"
    else:
        fact = f"{len(stale)} of {count} had a version in the context that is no longer in force"
    others = len(set(stale).difference(citing)) if citing else 0
    more = f"; {others} more had one in the context" if others else ""
    return (
        f"doubt: {fact}: {join_first(citing or stale, MAX_CASES_NAMED)}{more} (filter by date; `assay golden lint` "
        "shows labels on old versions)"
    )


def describe_read_passes(config: str, scoring: ScoringResult) -> str:
    """Return how many of the answers that rules passed people read and found wrong; "" if nobody read a sample."""
    sample = scoring.passes.get(config)
    return describe_pass_sample(sample) if sample is not None else ""


_UNREAD = LatePattern(r"keys that were not read: |(?:has|have) the unknown key ")
_MISREAD = LatePattern(
    r"no answer was read from |(?:keys that were not read|(?:has|have) the unknown key).*\(did you mean "
    r"|: stopped asking| from an earlier run[ ,]|server was (?:started|connected to) again"
    r"|quotes? (?:was|were) found in (?:a chunk|chunks) "
)
"""What a warning says of outputs that were probably not read as they were meant, or not asked for."""


def list_unread_keys(scoring: ScoringResult) -> list[str]:
    """Return the warnings that say which keys of outputs, or of what a target returned, were not read."""
    return [warning for warning in scoring.warnings if _UNREAD.search(warning) is not None]


def is_misread(warning: str) -> bool:
    """Return whether a warning says that outputs were probably not read as they were meant, or a golden set not whole.

    Of what is expected every key counts, because nothing else tells that a case is not checked by it. A target that was
    not asked any more is said here too: its cases without output are no failure of its own. So is one that was not
    asked at all, because its run folder had the answers, one whose server ended on the way, and one that
    gives the same text to every question.

    >>> is_misread("golden-set keys that were not read: split")
    True
    >>> is_misread("target t: keys that were not read: citation (did you mean citations?)")
    True
    >>> is_misread("target t: keys that were not read: trace_id")
    False
    """
    return GOLDEN_KEYS_UNREAD in warning or ONE_ANSWER in warning or _MISREAD.search(warning) is not None


def describe_leaked_variants(config: str, scoring: ScoringResult) -> str:
    """Return how many variants leaked and the first of them, of a configuration that no decision is about; "" if none
    did. A decision, also that there is no gate, has them among its reasons."""
    twins = scoring.twins.get(config)
    if twins is None or scoring.configs[config].decision is not None:
        return ""
    leaked = [pair.variant_id for pair in twins.pairs if pair.detail == LEAKED_VARIANT]
    if not leaked:
        return ""
    return (
        f"doubt: {format_count(len(leaked), 'variant')} of cases leaked what the user must not see: "
        f"{join_first(leaked, MAX_CASES_NAMED)} (the gate was not applied to {config})"
    )


def describe_unsourced(result: ConfigResult) -> str:
    """Return how many answers have numbers that no source has, the first of them, and what to do; "" if none has.

    A source is the question, an earlier turn, the context, or what the golden case itself says.
    """
    doubted = list_doubted_cases(result)
    risks = result.decision.risks if result.decision is not None else ()
    if not doubted or any(DOUBTED_ANSWERS in risk for risk in risks):
        return ""  # or the decision says it of those that passed
    verb, whom = ("have answers", "them") if len(doubted) > 1 else ("has an answer", "it")
    remedy = f"read {whom}" if _is_judged(result) else f"read {whom}, or run `assay judge`"
    return (
        f"doubt: {len(doubted)} of {format_count(len(result.table.case_ids), 'case')} {verb} with numbers "
        f"that are in no source: {join_first(doubted, MAX_CASES_NAMED)} ({remedy})"
    )


def _is_judged(result: ConfigResult) -> bool:
    """Return whether a judge was asked about the answers: asking it again tells nothing more."""
    measured = (summary for name, summary in result.summary.items() if name in _JUDGED_METRICS)
    return any(summary.scored > 0 for summary in measured)


_JUDGED_METRICS = (*FAITHFULNESS, JUDGED_CORRECTNESS)


SINCE_BASELINE = "significant since the baseline: "
"""How the line on changes begins that has them in both directions."""


def describe_regressed(comparison: Comparison) -> str:
    """Return the metrics over all cases that are significantly worse than the baseline, with those that are
    significantly better, if any are: of a release whose answers got better that is said first. "" if none is worse."""
    regressed = list_regressed(comparison)
    if not regressed:
        return ""
    improved = _list_changed(comparison, "improved")
    if not improved:
        return f"regressed significantly since the baseline: {_list_sides(regressed, MAX_METRICS_NAMED)}"
    parts = [
        f"regressed {_list_sides(regressed, MAX_OF_EACH)}",
        f"improved {_list_sides(improved, MAX_OF_EACH)}",
    ]
    if _get_order(improved[0]) < _get_order(regressed[0]):
        parts.reverse()
    return SINCE_BASELINE + "; ".join(parts)


def list_regressed(comparison: Comparison) -> list[MetricChange]:
    """Return the changes over all cases that are significantly for the worse, the most important first."""
    return _list_changed(comparison, "regressed")


def _list_changed(comparison: Comparison, verdict: ChangeVerdict) -> list[MetricChange]:
    changes = [
        change
        for change in comparison.metrics.values()
        if change.claim == verdict and not describe_checkable(change.metric)
    ]
    return sorted(changes, key=_get_order)


def _get_order(change: MetricChange) -> tuple[int, float]:
    return rank_importance(change), -measure_strength(change)


def _list_sides(changes: Sequence[MetricChange], most: int) -> str:
    """Return the first of some changes with both sides, and how many more there are."""
    return join_first([_describe_change(change) for change in changes], most)


def _describe_change(change: MetricChange) -> str:
    before, after = format_sides(change)
    return f"{format_metric_title(change.metric)} {before} → {after}"
