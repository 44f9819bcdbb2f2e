"""What to do where many answers are unknown, in one line: the cheapest way first, with how many cases it is about.

Facts that a case must have settle this answer and all later ones; a person who reads an answer settles this one; a
judge costs money and has to be calibrated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.metrics.case_checks import JUDGED_CORRECTNESS
from assay.records.counts import format_count
from assay.records.golden_set import Case
from assay.records.scores import SCORED, ScoreTable
from assay.scoring.case_outcomes import find_unknown_cases

MANY_UNKNOWN, FEWEST_UNKNOWN = 1 / 3, 3
"""From which share of the cases, and from how many, unknown ones are many."""
WAYS_OUT = " unknown. To settle them, cheapest first: "
"""What the line says, by which reports find it."""


def describe_ways_out(cases: Sequence[Case], tables: Mapping[str, ScoreTable]) -> list[str]:
    """Return how unknown cases can be settled, of the configuration with most of them; none where they are few."""
    unknown_of = {config: find_unknown_cases(table) for config, table in tables.items()}
    config = max(unknown_of, key=lambda name: len(unknown_of[name]), default="")
    unknown = unknown_of.get(config, [])
    if len(unknown) < max(FEWEST_UNKNOWN, MANY_UNKNOWN * len(cases)):
        return []
    by_id = {case.id: case for case in cases}
    without_facts = [name for name in unknown if by_id[name].behaviour == "answer" and not by_id[name].must_have]
    facts = f"must_have facts ({format_count(len(without_facts), 'case states', 'cases state')} none)"
    ways = [facts] if without_facts else []
    ways.append(f"read the {format_count(len(unknown), 'answer')} (`assay labels export --only ambiguous`)")
    if not _is_judged(tables[config]):
        ways.append("a judge (`assay judge`)")
    prefix = f"{config}: " if len(tables) > 1 else ""
    return [f"{prefix}{len(unknown)} of {format_count(len(cases), 'case')} are{WAYS_OUT}{'; '.join(ways)}"]


def _is_judged(table: ScoreTable) -> bool:
    column = table.columns.get(JUDGED_CORRECTNESS)
    return column is not None and bool((column.status == SCORED).any())
