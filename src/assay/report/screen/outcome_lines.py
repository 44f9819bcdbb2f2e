"""Cases counted in a line: by whether their evidence reached the generator, and how variants are treated."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from assay.records.findings import Attribution
from assay.records.scores import ScoringResult, TwinRate
from assay.report.findings.failure_tables import count_outcomes
from assay.text.escaping import escape_terminal, shorten_at_word


def build_outcome_lines(
    attributions: Mapping[str, Mapping[str, Attribution]], configs: Sequence[str], width: int
) -> list[str]:
    """Return one line with the 2×2 counts of each configuration: evidence reached the generator × answer good.

    One configuration gets a sentence, if there is room for it; several get columns of numbers.
    """
    outcomes = {config: count_outcomes(attributions[config]) for config in configs if config in attributions}
    if not outcomes:
        return []
    if len(outcomes) == 1:
        with_good, with_bad, without_good, without_bad, uncounted = next(iter(outcomes.values())).values()
        reached, not_reached = f"{with_good} good, {with_bad} bad", f"{without_good} good, {without_bad} bad"
        sentences = (
            f"Answers with the evidence: {reached}; without it: {not_reached}; not counted: {uncounted}",
            f"Evidence reached: {reached}; not reached: {not_reached}; not counted: {uncounted}",
        )
        for sentence in sentences:
            if len(sentence) <= width:
                return [sentence]
    columns = []
    for config, counts in outcomes.items():
        with_good, with_bad, without_good, without_bad, uncounted = counts.values()
        columns.append(f"{config} {with_good}/{with_bad} {without_good}/{without_bad} {uncounted}")
    label = "Good/bad with the evidence, without it, not counted: "
    folded = textwrap.wrap(escape_terminal(label + ", ".join(columns)), width, break_on_hyphens=False)
    return folded if len(folded) < 2 else [folded[0], shorten_at_word(" ".join(folded[1:]), width)]


def build_variant_lines(scoring: ScoringResult, configs: Sequence[str], width: int) -> list[str]:
    """Return one line on variants: how many cases are treated alike and told apart."""
    parts = []
    for config in configs:
        twins = scoring.twins.get(config)
        if twins is None:
            continue
        rates = (("treated alike", twins.consistency), ("told apart", twins.distinction))
        counts = [_format_variant_rate(text, rate) for text, rate in rates if rate.decided or rate.unknown is not None]
        if counts:
            prefix = f"{config} " if len(configs) > 1 else ""
            parts.append(prefix + ", ".join(counts))
    return [shorten_at_word(escape_terminal(f"Cases with variants: {'; '.join(parts)}"), width)] if parts else []


def _format_variant_rate(text: str, rate: TwinRate) -> str:
    unknown = f" ({rate.unknown.count} unknown)" if rate.unknown is not None else ""
    return f"{rate.good} of {rate.decided} {text}{unknown}"
