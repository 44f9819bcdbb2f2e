"""What to doubt although nothing failed, in a line each, and the mark of scores that rest on nobody's labels."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from assay.records.counts import format_count
from assay.records.findings import Comparison
from assay.records.scores import ScoringResult
from assay.report.findings.doubts import SINCE_BASELINE, list_doubts
from assay.report.screen.fold_lines import shorten_before_remedy
from assay.scoring.passed_answers import PASSES_READ
from assay.scoring.unlabelled_scores import NO_LABELS, VALUE_OF_LABELS
from assay.scoring.ways_out import WAYS_OUT
from assay.text.escaping import escape_terminal, shorten_at_word

_MAX_DOUBTS, _MAX_LINES_ON_WAYS = 4, 3


def build_doubt_lines(scoring: ScoringResult, comparisons: Mapping[str, Comparison], width: int) -> list[str]:
    """Return at most four things to doubt although nothing failed, each in a line; a remedy stays where one is cut.

    What people found of passes has two lines, because its figures are at the end, and so have changes for the better
    and for the worse; what settles unknown answers has three.
    """
    doubts = list_doubts(scoring, comparisons)
    shown = doubts if len(doubts) <= _MAX_DOUBTS else doubts[: _MAX_DOUBTS - 1]
    lines: list[str] = []
    for line in map(escape_terminal, shown):
        if PASSES_READ in line or SINCE_BASELINE in line or WAYS_OUT in line:
            most = _MAX_LINES_ON_WAYS if WAYS_OUT in line else 2
            lines += textwrap.wrap(line, width, max_lines=most, placeholder=" …", break_on_hyphens=False)
        else:
            lines.append(shorten_before_remedy(line, width))
    if len(shown) < len(doubts):
        lines.append(f"and {format_count(len(doubts) - len(shown), 'more doubt')}: --verbose")
    return lines


_MAX_LINES_ON_LABELS = 2


def build_unlabelled_lines(scoring: ScoringResult, width: int) -> list[str]:
    """Return the mark of scores that rest on nobody's labels, in two lines, and what labels would allow."""
    marks = {note for result in scoring.configs.values() for note in result.table.notes if note.startswith(NO_LABELS)}
    if not marks:
        return []
    folded = textwrap.wrap(escape_terminal(min(marks)), width, break_on_hyphens=False)
    room = [*folded[:1], shorten_at_word(" ".join(folded[1:]), width)] if len(folded) > 1 else folded
    warnings = [line for line in scoring.warnings if VALUE_OF_LABELS in line]
    warnings.sort(key=lambda line: " and " not in line.partition(":")[0])  # pairs of configurations before single ones
    return [*room, *(shorten_at_word(escape_terminal(line), width) for line in warnings[:_MAX_LINES_ON_LABELS])]
