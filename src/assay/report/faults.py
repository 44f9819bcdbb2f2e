"""Whose fault it was, for people: the cells of reached × good, the causes by tag, symptoms, and one case's walk."""

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

_SHOWN_TAGS = 5


def cells(found: Attributions) -> Table:
    """How many cases ended in each verdict, for each configuration."""
    rows = []
    for config, cases in sorted(found.items()):
        counts = Counter(each.verdict for each in cases.values())
        rows.append((config, *(str(counts[fault]) for fault in FAULTS)))
    signals = sorted({each.signal for cases in found.values() for each in cases.values() if each.good is not None})
    notes = (
        "Pass: the evidence reached the generator and the answer is good. Generation fault: reached, not good. "
        "Retrieval fault: neither. Masked gap: good without its evidence, so the label or the luck deserves a look.",
        f"What decided that an answer is good: {'; '.join(signals) or 'nothing that was measured'}.",
    )
    return Table("Whose fault", ("Config", *(fault.replace("_", " ") for fault in FAULTS)), tuple(rows), notes)


def causes(found: Attributions, tags: Cases) -> Table:
    """The causes of each configuration, most frequent first, with the tags that they strike and what to try first."""
    rows = []
    for config, cases in sorted(found.items()):
        struck = Counter(each.cause for each in cases.values() if each.cause is not None)
        for cause, count in sorted(struck.items(), key=lambda item: (-item[1], item[0])):
            hit = Counter(tag for name, each in cases.items() if each.cause == cause for tag in set(tags[name]))
            most = sorted(hit.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN_TAGS]
            sure = Counter(each.confidence for each in cases.values() if each.cause == cause)
            rows.append(
                (
                    config,
                    cause,
                    str(count),
                    ", ".join(f"{level} × {sure[level]}" for level in ("high", "medium", "low") if sure[level]),
                    ", ".join(f"{tag} × {times}" for tag, times in most),
                    NOTES[cause].fix,
                )
            )
    return Table("Root causes", ("Config", "Cause", "Cases", "Confidence", "Tags", "What to try first"), tuple(rows))


def by_tag(found: Attributions, tags: Cases) -> Table:
    """Causes × tag: how many cases of each tag each cause struck."""
    counts: Counter[tuple[str, str, Cause]] = Counter()
    for config, cases in found.items():
        for name, each in cases.items():
            if each.cause is not None:
                counts.update((config, tag, each.cause) for tag in set(tags[name]))
    seen = sorted({cause for _, _, cause in counts})
    places = sorted({(config, tag) for config, tag, _ in counts})
    rows = [(config, tag, *(str(counts[config, tag, cause] or "") for cause in seen)) for config, tag in places]
    return Table("Causes by tag", ("Config", "Tag", *seen), tuple(rows))


# ── symptoms ─────────────────────────────────────────────────────────────────────────────────────────────────────

HIGH, LOW, OFTEN = 0.8, 0.6, 0.1
"""From where on a share counts as high, up to where as low, and from where on a fault counts as frequent."""

_FAITHFUL = ("faithfulness(by=judge)", "faithfulness(by=rules)")


def hints(scoring: Scoring) -> list[str]:
    """Return what the pattern of the summaries suggests ([003]): a hint where to look, not a finding."""
    return [
        f"{config}: {hint}" for config, result in sorted(scoring.configs.items()) for hint in _hints(result.summary)
    ]


def _hints(summary: Mapping[str, Summary]) -> Iterator[str]:
    def value(*names: str) -> float | None:
        found = (summary[name].value for name in names if name in summary)
        return next((each for each in found if each is not None), None)

    coverage, faithful = value("citation_coverage"), value(*_FAITHFUL)
    if coverage is not None and faithful is not None:
        pair = f"citation coverage {number(coverage)}, faithfulness {number(faithful)}"
        if coverage >= HIGH and faithful <= LOW:
            yield f"{pair}: sources are cited and not followed; tighten the prompt"
        if coverage <= LOW and faithful >= HIGH:
            yield f"{pair}: much of the context is not used; look for a context that is too long or sources cut off"
    for name, symptom, remedy in _RATES:
        rate = value(name)
        if rate is not None and rate >= OFTEN:
            yield f"{symptom} in {number(rate)} of the cases: {remedy}"
    for name, remedy in _CITED:
        right = value(name)
        if right is not None and 1 - right >= OFTEN:
            yield f"{number(1 - right)} of the citations fail {name}: {remedy}"


_RATES = (
    ("over_refusal", "refused an answerable question", "loosen the refusal rule or its threshold"),
    ("under_refusal", "answered what must be refused", "add a way to refuse, and words for uncertainty"),
)
_CITED = (("citation_exists", "reject unknown ids and ask again"),)


# ── one case ─────────────────────────────────────────────────────────────────────────────────────────────────────


def one_line_of(found: Attribution) -> str:
    """Return verdict, cause and confidence in one line."""
    verdict = found.verdict.replace("_", " ") + (f" ({found.subtype.replace('_', ' ')})" if found.subtype else "")
    if found.cause is None:
        return verdict
    at = f" at {found.stage}" if found.stage else ""
    return f"{verdict}: {found.cause}{at}, {found.confidence} confidence"


def facts_of(found: Attribution) -> list[tuple[str, str]]:
    """Return (label, text) of what stands behind an attribution."""
    reached = {None: "cannot be told", True: "yes", False: "no"}
    lines = [
        ("Fault", one_line_of(found)),
        ("Reached", reached[found.reached]),
        ("Good", f"{reached[found.good]}{f' ({found.signal})' if found.signal else ''}"),
    ]
    lines += [("Because", fact) for fact in found.evidence]
    if found.cause is not None:
        lines += [("Sign", found.sign), ("Try first", found.fix)]
    return lines + ([("Also", ", ".join(found.also))] if found.also else [])


def walk_of(found: Attribution) -> Table:
    """The rank of every unit of evidence in every stage, and the stage that lost it."""
    stages = list(dict.fromkeys(stage for unit in found.walk for stage in unit.ranks))
    rows = [
        (
            unit.name,
            f"{unit.grade}{'' if unit.required else ' (optional)'}",
            *("-" if unit.ranks.get(stage) is None else str(unit.ranks[stage]) for stage in stages),
            unit.lost_at or "",
        )
        for unit in found.walk
    ]
    return Table("Walk of the evidence", ("Evidence", "Grade", *stages, "Lost at"), tuple(rows))


def lists_of(files: Compared, symbols: Compared) -> list[str]:
    """Return which expected files and symbols are missing and which files came beside them; nothing not reported.

    >>> lists_of(Compared(frozenset(("a.py",)), frozenset(("b.py",))), Compared(frozenset(), None))
    ['missing files: a.py', 'extra files: b.py']
    """
    found: list[tuple[str, Sequence[str]]] = []
    if files.returned is not None:
        found += [("missing files", files.missing), ("extra files", files.extra)]
    if symbols.returned is not None:
        found += [("missing symbols", symbols.missing)]
    return [f"{what}: {_some(names)}" for what, names in found if names]


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more


def cause_and_fix(found: Attribution | None) -> tuple[str, str]:
    """Return the cells of root cause and fix, `n/a` where there was no attribution."""
    if found is None:
        return NA, NA
    return (f"{found.cause} ({found.confidence})", found.fix) if found.cause is not None else ("none found", "")
