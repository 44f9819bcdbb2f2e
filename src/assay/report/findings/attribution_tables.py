"""Tables of attributions: verdicts, evidence reached by good answers, root causes by tag, and doubts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from assay.attribution.cause_notes import CAUSE_NOTES
from assay.attribution.cause_sentences import describe_first_cause, list_signs, name_causes
from assay.records.findings import FAULT_PARTIES, Attribution, RootCause
from assay.report.findings.table import Table
from assay.text.escaping import shorten_to_line

AttributionsByConfig = Mapping[str, Mapping[str, Attribution]]
"""Attributions by configuration and case id."""
TagsByCase = Mapping[str, tuple[str, ...]]

_MAX_TAGS = 5


def build_attribution_table(attributions: AttributionsByConfig) -> Table:
    """Return how many cases got each attribution verdict, for each configuration."""
    rows = []
    for config, cases in sorted(attributions.items()):
        counts = Counter(attribution.verdict for attribution in cases.values())
        rows.append((config, *(str(counts[fault]) for fault in FAULT_PARTIES)))
    signals = sorted(
        {
            attribution.signal
            for cases in attributions.values()
            for attribution in cases.values()
            if attribution.good is not None
        }
    )
    notes = (
        "Pass: no check failed and the answer is known to be right. Unknown: no check failed, and nothing tells if "
        "the answer is right. Each other column is a fault of failed cases. Generation fault: the evidence reached the "
        "generator. Retrieval fault: it did not, or not whole. Masked gap: a good answer without its evidence, so "
        "check the label; the answer may be right by chance. Label fault: the golden set or the judge is wrong. "
        "Unlocated fault: the trace does not show what failed.",
        f"An answer counts as good by: {'; '.join(signals) or 'nothing that was measured'}.",
    )
    return Table("Attribution", ("Config", *(fault.replace("_", " ") for fault in FAULT_PARTIES)), tuple(rows), notes)


def count_outcomes(attributions: Mapping[str, Attribution]) -> dict[str, int]:
    """Return the counts of the table reached × good, by `<reached>_<good>`, and of the cases that are not counted."""
    counts = dict.fromkeys(OUTCOME_CELLS, 0)
    for attribution in attributions.values():
        if attribution.reached is None or attribution.good is None:
            counts["no_cell"] += 1
        else:
            reached = "reached" if attribution.reached else "not_reached"
            is_good = attribution.good and not attribution.is_leak
            counts[f"{reached}_{'good' if is_good else 'bad'}"] += 1
    return counts


OUTCOME_CELLS = ("reached_good", "reached_bad", "not_reached_good", "not_reached_bad", "no_cell")
"""The cells of the table reached × good; `no_cell` counts cases that need no evidence, and those of which one of the
two is not known."""


def build_outcomes_table(attributions: AttributionsByConfig) -> Table:
    """Return, for each configuration, how often the evidence reached the generator and the answer was good."""
    rows = [
        (config, *(str(count) for count in count_outcomes(cases).values())) for config, cases in attributions.items()
    ]
    columns = (
        "Config",
        "Reached, good",
        "Reached, not good",
        "Not reached, good",
        "Not reached, not good",
        "Not counted",
    )
    note = "Not counted: the case requires no evidence, or the trace or the answer does not tell."
    return Table("Evidence and answers", columns, tuple(sorted(rows)), (note,))


def build_root_causes_table(attributions: AttributionsByConfig, tags: TagsByCase) -> Table:
    """Return the root causes of each configuration with their commonest tags and a fix: leaks first, then by count."""
    rows: list[tuple[str, ...]] = []
    for config, cases in sorted(attributions.items()):
        cases_by_cause: dict[RootCause, dict[str, Attribution]] = {}
        for case_id, attribution in cases.items():
            if attribution.cause is not None:
                cases_by_cause.setdefault(attribution.cause, {})[case_id] = attribution
        sorted_causes = sorted(cases_by_cause.values(), key=_rank_cause)
        rows += [(config, *_describe_cause_of(same, tags)) for same in sorted_causes]
    columns = ("Config", "What happened", "Cases", "Cause", "Confidence", "Tags", "What to try first")
    return Table("Root causes", columns, tuple(rows))


def _rank_cause(cases: Mapping[str, Attribution]) -> tuple[bool, int, str]:
    """Return by what the cases of one cause are sorted: leaks first, then the cause of most cases."""
    attributions = list(cases.values())
    return not any(attribution.is_leak for attribution in attributions), -len(cases), str(attributions[0].cause)


def _describe_cause_of(cases: Mapping[str, Attribution], tags: TagsByCase) -> tuple[str, ...]:
    """Return the cells about the cases of one cause."""
    attributions = cases.values()
    tag_counts = Counter(tag for case_id in cases for tag in set(tags[case_id]))
    top_tags = sorted(tag_counts.items(), key=lambda item: (-item[1], item[0]))[:_MAX_TAGS]
    happened = Counter(map(describe_first_cause, attributions))
    levels = Counter(attribution.confidence for attribution in attributions)
    return (
        "; ".join(f"{sentence} × {times}" for sentence, times in happened.most_common(_MAX_TAGS)),
        str(len(cases)),
        " or ".join(dict.fromkeys(name_causes(attribution)[0] for attribution in attributions)),
        ", ".join(f"{level} × {levels[level]}" for level in ("high", "medium", "low") if levels[level]),
        ", ".join(f"{tag} × {times}" for tag, times in top_tags),
        _join_fixes(Counter(attribution.fix for attribution in attributions)),
    )


def _join_fixes(fixes: Counter[str]) -> str:
    """Return what to try first for the cases of a cause: what helps one that refuses too much harms one that refuses
    too little."""
    if len(fixes) < 2:
        return "".join(fixes)
    return ". ".join(f"{fix} (× {count})" for fix, count in fixes.most_common(_MAX_FIXES))


_MAX_FIXES = 3


def build_causes_by_tag_table(attributions: AttributionsByConfig, tags: TagsByCase) -> Table:
    """Return, for each tag, what went wrong in how many of its cases, the commonest first, and the ids of causes."""
    counts: dict[tuple[str, str], Counter[RootCause]] = defaultdict(Counter)
    for config, cases in attributions.items():
        for name, attribution in cases.items():
            for tag in set(tags[name]) if attribution.cause is not None else ():
                counts[config, tag].update(attribution.named_causes[:1])
    rows = []
    for (config, tag), of_tag in sorted(counts.items()):
        ordered = sorted(of_tag.items(), key=lambda item: (-item[1], item[0]))
        happened = "; ".join(f"{CAUSE_NOTES[cause].sign} × {count}" for cause, count in ordered)
        rows.append((config, tag, str(of_tag.total()), happened, ", ".join(cause for cause, _ in ordered)))
    return Table("Causes by tag", ("Config", "Tag", "Cases", "What happened", "Causes"), tuple(rows))


_MAX_DOUBTS = 20


def build_doubts_table(attributions: AttributionsByConfig) -> Table:
    """Return the cases that failed no check although something may be wrong with them, with what was seen."""
    rows = []
    for config, cases in sorted(attributions.items()):
        for case_id, attribution in cases.items():
            if attribution.cause is None and attribution.also:
                facts = shorten_to_line("; ".join(attribution.evidence))
                rows.append((config, case_id, attribution.verdict, _name_doubts(attribution), facts))
    notes = ["No check failed on these cases, so they are not counted as failed and have no root cause."]
    if len(rows) > _MAX_DOUBTS:
        notes.append(f"{len(rows) - _MAX_DOUBTS} more are in the JSON report.")
    columns = ("Config", "Query ID", "Verdict", "Look at", "Because")
    return Table("Doubts", columns, tuple(rows[:_MAX_DOUBTS]), tuple(notes) if rows else ())


def _name_doubts(attribution: Attribution) -> str:
    """Return what may be wrong with a case that failed no check, with the ids of the causes."""
    return f"{' or '.join(list_signs(attribution))} ({', '.join(name_causes(attribution))})"
