"""Tables and sentences about attribution: verdicts, root causes, symptoms, and the evidence trace of one case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from assay.finding import FAULTS, Attribution, Cause
from assay.graders.files import Compared
from assay.model import Scoring, Summary
from assay.report.figures import NA, number
from assay.report.tables import Table
from assay.scoring.causes import NOTES

Attributions = Mapping[str, Mapping[str, Attribution]]
"""Attributions by configuration and case id."""
Cases = Mapping[str, tuple[str, ...]]

_MAX_TAGS = 5


def cells(attributions: Attributions) -> Table:
    """Return how many cases got each attribution verdict, for each configuration."""
    rows = []
    for config, cases in sorted(attributions.items()):
        counts = Counter(attribution.verdict for attribution in cases.values())
        rows.append((config, *(str(counts[fault]) for fault in FAULTS)))
    signals = sorted(
        {
            attribution.signal
            for cases in attributions.values()
            for attribution in cases.values()
            if attribution.good is not None
        }
    )
    notes = (
        "Pass: the evidence reached the generator and the answer is good. Generation fault: the evidence reached the "
        "generator and the answer is not good. Retrieval fault: neither. Masked gap: a good answer without its "
        "evidence, so check the label; the answer may be right by chance.",
        f"An answer counts as good by: {'; '.join(signals) or 'nothing that was measured'}.",
    )
    return Table("Attribution", ("Config", *(fault.replace("_", " ") for fault in FAULTS)), tuple(rows), notes)


def causes(attributions: Attributions, tags: Cases) -> Table:
    """Return the root causes of each configuration, most frequent first, with their commonest tags and a fix."""
    rows = []
    for config, cases in sorted(attributions.items()):
        cause_counts = Counter(attribution.cause for attribution in cases.values() if attribution.cause is not None)
        for cause, count in sorted(cause_counts.items(), key=lambda item: (-item[1], item[0])):
            tag_counts: Counter[str] = Counter()
            confidence_counts: Counter[str] = Counter()
            for case_id, attribution in cases.items():
                if attribution.cause == cause:
                    tag_counts.update(set(tags[case_id]))
                    confidence_counts[attribution.confidence] += 1
            top_tags = sorted(tag_counts.items(), key=lambda item: (-item[1], item[0]))[:_MAX_TAGS]
            levels = [level for level in ("high", "medium", "low") if confidence_counts[level]]
            rows.append(
                (
                    config,
                    cause,
                    str(count),
                    ", ".join(f"{level} × {confidence_counts[level]}" for level in levels),
                    ", ".join(f"{tag} × {times}" for tag, times in top_tags),
                    NOTES[cause].fix,
                )
            )
    return Table("Root causes", ("Config", "Cause", "Cases", "Confidence", "Tags", "What to try first"), tuple(rows))


def by_tag(attributions: Attributions, tags: Cases) -> Table:
    """Return the number of cases by root cause and tag."""
    counts: Counter[tuple[str, str, Cause]] = Counter()
    for config, cases in attributions.items():
        for name, attribution in cases.items():
            if attribution.cause is not None:
                counts.update((config, tag, attribution.cause) for tag in set(tags[name]))
    cause_columns = sorted({cause for _, _, cause in counts})
    row_keys = sorted({(config, tag) for config, tag, _ in counts})
    rows = [
        (config, tag, *(str(counts[config, tag, cause] or "") for cause in cause_columns)) for config, tag in row_keys
    ]
    return Table("Causes by tag", ("Config", "Tag", *cause_columns), tuple(rows))


# ── symptoms ─────────────────────────────────────────────────────────────────────────────────────────────────────

HIGH, LOW, OFTEN = 0.8, 0.6, 0.1
"""Thresholds: a share of at least HIGH is high, of at most LOW low; a failure rate of at least OFTEN is frequent."""

_FAITHFULNESS = ("faithfulness(by=judge)", "faithfulness(by=rules)")


def hints(scoring: Scoring) -> list[str]:
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
    faithful = _find_value(summary, *_FAITHFULNESS)
    if coverage is not None and faithful is not None:
        pair = f"citation coverage {number(coverage)}, faithfulness {number(faithful)}"
        if coverage >= HIGH and faithful <= LOW:
            yield f"{pair}: sources are cited but not followed; tighten the prompt"
        if coverage <= LOW and faithful >= HIGH:
            yield f"{pair}: much of the context is not used; check for a context that is too long or truncated sources"
    for name, symptom, remedy in _RATE_SYMPTOMS:
        rate = _find_value(summary, name)
        if rate is not None and rate >= OFTEN:
            yield f"{symptom} in {number(rate)} of the cases: {remedy}"
    for name, remedy in _CITATION_SYMPTOMS:
        share = _find_value(summary, name)
        if share is not None and 1 - share >= OFTEN:
            yield f"{number(1 - share)} of the citations fail {name}: {remedy}"


def _find_value(summary: Mapping[str, Summary], *names: str) -> float | None:
    """Return the value of the first of `names` that was measured, None if none was."""
    for name in names:
        if name in summary and summary[name].value is not None:
            return summary[name].value
    return None


_RATE_SYMPTOMS = (
    ("over_refusal", "refused an answerable question", "loosen the refusal rule or its threshold"),
    ("under_refusal", "answered what must be refused", "let the prompt allow refusing and expressing uncertainty"),
)
_CITATION_SYMPTOMS = (("citation_exists", "reject unknown ids and retry"),)


# ── one case ─────────────────────────────────────────────────────────────────────────────────────────────────────


def one_line_of(attribution: Attribution) -> str:
    """Return verdict, cause and confidence in one line."""
    verdict = attribution.verdict.replace("_", " ")
    if attribution.subtype:
        verdict += f" ({attribution.subtype.replace('_', ' ')})"
    if attribution.cause is None:
        return verdict
    stage = f" at {attribution.stage}" if attribution.stage else ""
    return f"{verdict}: {attribution.cause}{stage}, {attribution.confidence} confidence"


def facts_of(attribution: Attribution) -> list[tuple[str, str]]:
    """Return (label, text) pairs that explain an attribution."""
    reached = {None: "unknown", True: "yes", False: "no"}
    lines = [
        ("Attribution", one_line_of(attribution)),
        ("Reached", reached[attribution.reached]),
        ("Good", f"{reached[attribution.good]}{f' ({attribution.signal})' if attribution.signal else ''}"),
    ]
    lines += [("Because", fact) for fact in attribution.evidence]
    if attribution.cause is not None:
        lines += [("Sign", attribution.sign), ("Try first", attribution.fix)]
    return lines + ([("Also", ", ".join(attribution.also))] if attribution.also else [])


def walk_of(attribution: Attribution) -> Table:
    """Return the rank of every unit of evidence at every stage, and the stage that lost it."""
    stages = list(dict.fromkeys(stage for unit in attribution.walk for stage in unit.ranks))
    rows = [
        (
            unit.name,
            f"{unit.grade}{'' if unit.required else ' (optional)'}",
            *("-" if unit.ranks.get(stage) is None else str(unit.ranks[stage]) for stage in stages),
            unit.lost_at or "",
        )
        for unit in attribution.walk
    ]
    return Table("Evidence trace", ("Evidence", "Grade", *stages, "Lost at"), tuple(rows))


def lists_of(files: Compared, symbols: Compared) -> list[str]:
    """Return the missing files and symbols and the extra files as text; what was not reported is left out.

    >>> lists_of(Compared(frozenset(("a.py",)), frozenset(("b.py",))), Compared(frozenset(), None))
    ['missing files: a.py', 'extra files: b.py']
    """
    name_lists: list[tuple[str, Sequence[str]]] = []
    if files.returned is not None:
        name_lists += [("missing files", files.missing), ("extra files", files.extra)]
    if symbols.returned is not None:
        name_lists += [("missing symbols", symbols.missing)]
    return [f"{label}: {_join_names(names)}" for label, names in name_lists if names]


def _join_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more


def cause_and_fix(attribution: Attribution | None) -> tuple[str, str]:
    """Return the cells of root cause and fix, `n/a` if there is no attribution."""
    if attribution is None:
        return NA, NA
    return (
        (f"{attribution.cause} ({attribution.confidence})", attribution.fix)
        if attribution.cause is not None
        else ("none found", "")
    )
