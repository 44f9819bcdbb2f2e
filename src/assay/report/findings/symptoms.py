"""Symptoms that the summaries of a run show together, each with a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.records.scores import ScoringResult, Summary
from assay.report.wording.number_format import format_number

HIGH_SHARE, LOW_SHARE, FREQUENT_SHARE = 0.8, 0.6, 0.1
"""Thresholds: a share of at least HIGH is high, of at most LOW low; a failure rate of at least FREQUENT is frequent."""

_FAITHFULNESS = ("faithfulness(by=judge)", "faithfulness(by=rules)")


def find_symptoms(scoring: ScoringResult) -> list[str]:
    """Return symptoms that the summaries show together, each with a remedy: hints where to look, not findings.

    The patterns are those that audits of recorded answers look for (ADR 0038).
    """
    return [
        f"{config}: {hint}"
        for config, result in sorted(scoring.configs.items())
        for hint in _iter_symptoms(result.summary)
    ]


def _iter_symptoms(summary: Mapping[str, Summary]) -> Iterator[str]:
    coverage = _find_value(summary, "citation_coverage")
    scorer = next((name for name in _FAITHFULNESS if _find_value(summary, name) is not None), "")
    faithful = _find_value(summary, scorer)
    if coverage is not None and faithful is not None:
        pair = f"citation_coverage {format_number(coverage)}, {scorer} {format_number(faithful)}"
        if coverage >= HIGH_SHARE and faithful <= LOW_SHARE:
            yield f"{pair}: sources are cited but not followed; tighten the prompt"
        if coverage <= LOW_SHARE and faithful >= HIGH_SHARE:
            yield f"{pair}: much of the context is not used; check for a context that is too long or truncated sources"
    for name, symptom, remedy in _RATE_SYMPTOMS:
        rate = _find_value(summary, name)
        if rate is not None and rate >= FREQUENT_SHARE:
            yield f"{symptom} in {format_number(rate)} of the cases: {remedy}"
    for name, remedy in _CITATION_SYMPTOMS:
        share = _find_value(summary, name)
        if share is not None and 1 - share >= FREQUENT_SHARE:
            yield f"{format_number(1 - share)} of the citations fail {name}: {remedy}"


def _find_value(summary: Mapping[str, Summary], name: str) -> float | None:
    """Return the value of a metric, None if it was not measured."""
    return summary[name].value if name in summary else None


_RATE_SYMPTOMS = (
    ("over_refusal", "refused an answerable question", "loosen the refusal rule or its threshold"),
    ("under_refusal", "answered what must be refused", "let the prompt allow refusing and expressing uncertainty"),
)
_CITATION_SYMPTOMS = (("citation_exists", "reject unknown ids and retry"),)
