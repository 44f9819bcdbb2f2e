"""Whether answers in one language fail, or are left open, more often than those in the others.

Users of one language are easily served worse, and so are their answers read by rules; a mean over all hides both. Only
a difference that chance does not explain is told: each language is compared with all others, and the p-values of all
languages, configurations and both questions are adjusted together (Holm). That answers fail more often is told only
where they do even if every open answer in the others is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from assay.records.errors import SettingsError
from assay.records.golden_set import Case
from assay.records.scores import ScoreTable
from assay.scoring.case_clusters import name_clusters
from assay.scoring.case_outcomes import CaseOutcome, classify_checks
from assay.scoring.slices import find_slices
from assay.stats.independent_rates import compute_fisher_p
from assay.stats.multiple_testing import adjust_holm

FEWEST_CASES = 10
"""How many cases a language, and all others together, must have; fewer are only described."""
MOST_BY_CHANCE = 0.05
LANGUAGES_DIFFER = "more often than in the other languages"
"""What the sentence on a difference between languages says."""
_KEY = "language"


class _Share(Struct, frozen=True):
    """How many cases of a language have an outcome, and of the others at most, by those among them that are open."""

    config: str
    language: str
    outcome: CaseOutcome
    own: int
    own_total: int
    others: int
    others_total: int
    others_open: int = 0

    @property
    def is_more_often(self) -> bool:
        return self.own * self.others_total > self.others * self.own_total

    def describe(self, p: float) -> str:
        """Return the sentence on a significant difference."""
        what, remedy = (
            ("answers fail", "read some of them: rules read languages unequally well")
            if self.outcome == "failed"
            else ("the rules leave answers open", "a judge or a person reads them")
        )
        return (
            f"doubt: in {self.language} {what} {LANGUAGES_DIFFER}: {self.own} of {self.own_total}, else "
            f"{'at most ' if self.others_open else ''}{self.others} of {self.others_total} "
            f"(p {p:.2g}, adjusted; {remedy}; --by {_KEY})"
        )


def describe_language_differences(cases: Sequence[Case], tables: Mapping[str, ScoreTable]) -> list[str]:
    """Return a sentence for each language whose answers fail or are left open significantly more often.

    Of the cases of one cluster only the first counts. Empty where the cases have one language, or too few in one.
    """
    names = name_clusters(cases)
    first_rows = {name: row for row, name in reversed(list(enumerate(names)))}
    counted = [row for row, name in enumerate(names) if first_rows[name] == row]
    try:
        slices = find_slices(cases, [_KEY])
    except SettingsError:
        return []
    language_of = {row: name.partition("=")[2] for name, rows in slices.items() for row in rows.tolist()}
    shares = []
    for config, table in tables.items():
        outcomes = _list_outcomes(table)
        rows = [(language_of[row], outcomes[row]) for row in counted if row in language_of]
        shares += list(_list_shares(config, rows))
    p_values = adjust_holm(
        [compute_fisher_p(share.own, share.own_total, share.others, share.others_total) for share in shares]
    )
    shown = [
        (share, p) for share, p in zip(shares, p_values, strict=True) if p <= MOST_BY_CHANCE and share.is_more_often
    ]
    prefixed = len(tables) > 1
    return [f"{share.config}: {share.describe(p)}" if prefixed else share.describe(p) for share, p in shown]


def _list_outcomes(table: ScoreTable) -> list[CaseOutcome]:
    checks_of = {checks.case_id: checks for checks in table.checks}
    return [classify_checks(checks_of.get(case_id)) for case_id in table.case_ids]


def _list_shares(config: str, rows: Sequence[tuple[str, CaseOutcome]]) -> Iterator[_Share]:
    """Yield how often each language and the others fail and are left open; of two languages one comparison each."""
    languages = sorted({language for language, _ in rows})
    for language in languages:
        own = [outcome for each, outcome in rows if each == language]
        others = [outcome for each, outcome in rows if each != language]
        if len(own) < FEWEST_CASES or len(others) < FEWEST_CASES:
            continue
        for outcome in _COMPARED:
            open_others = others.count("unknown") if outcome == "failed" else 0
            most = others.count(outcome) + open_others
            share = _Share(config, language, outcome, own.count(outcome), len(own), most, len(others), open_others)
            if len(languages) > _TWO or share.is_more_often:
                yield share


_COMPARED: tuple[CaseOutcome, ...] = ("failed", "unknown")
_TWO = 2
