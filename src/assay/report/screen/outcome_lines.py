"""Cases counted in a line: by whether their evidence reached the generator, and how variants are treated."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from assay.records.findings import Attribution
from assay.records.scores import ScoringResult, TwinRate
from assay.report.findings.attribution_tables import count_outcomes
from assay.text.escaping import escape_terminal, shorten_at_word

_MOST_SENTENCES = 2
"""The largest number of configurations whose counts are sentences."""


def build_outcome_lines(
    attributions: Mapping[str, Mapping[str, Attribution]], configs: Sequence[str], width: int
) -> list[str]:
    """Return the 2×2 counts of each configuration, in at most two lines: evidence reached the generator × answer good.

    One or two configurations get a sentence each, if there is room for it; more get columns of numbers. Where no case
    of any configuration is counted, there is nothing to say.
    """
    outcomes = {config: count_outcomes(attributions[config]) for config in configs if config in attributions}
    if not any(sum(counts.values()) > counts["no_cell"] for counts in outcomes.values()):
        return []
    if len(outcomes) <= _MOST_SENTENCES:
        names = [f", {escape_terminal(config)}" if len(outcomes) > 1 else "" for config in outcomes]
        for with_it, without_it in (("Answers with the evidence", "without it"), ("Evidence reached", "not reached")):
            sentences = []
            for name, counts in zip(names, outcomes.values(), strict=True):
                with_good, with_bad, without_good, without_bad, uncounted = counts.values()
                reached, not_reached = f"{with_good} good, {with_bad} bad", f"{without_good} good, {without_bad} bad"
                sentences.append(f"{with_it}{name}: {reached}; {without_it}: {not_reached}; not counted: {uncounted}")
            if all(len(sentence) <= width for sentence in sentences):
                return sentences
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
