"""Notes on a run in two lines: access that nobody checked first, then what failed, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from assay.metrics.template_columns import FAITHFULNESS, RELEVANCE, MetricNames
from assay.records.scores import ScoringResult
from assay.report.findings.doubts import is_listed_as_doubt
from assay.report.findings.measured_headlines import find_measured_summary
from assay.report.screen.fold_lines import FOUND_NOTHING, fold_note
from assay.report.screen.terminal import list_remedies
from assay.report.wording.number_format import find_common_reason, find_source_column
from assay.scoring.unlabelled_scores import NO_LABELS
from assay.text.escaping import escape_terminal
from assay.text.late_pattern import LatePattern

_MAX_NOTES = 2
_ASKED_OF_A_JUDGE = (("Faithfulness", FAITHFULNESS), ("Answer relevance", RELEVANCE))


def build_note_lines(scoring: ScoringResult, width: int, named: Sequence[str]) -> list[str]:
    """Return at most two lines: why metrics that were `named` have no score, who judged, what to do, other notes."""
    prefixed = len(scoring.configs) > 1
    notes = _explain_unscored(named, scoring)
    for config, result in sorted(scoring.configs.items()):
        others = [note for note in result.table.notes if not note.startswith(NO_LABELS)]
        notes += [f"{config}: {note}" if prefixed else note for note in others]
    unscored = [metric for metric in _list_metrics(scoring) if not _has_value((metric,), scoring)]
    remedies = list_remedies(unscored, scoring)
    unmeasured = [] if named or scoring.decision.unanswered else _list_unmeasured(scoring)
    if unmeasured and not remedies:
        remedies.append(f"not measured: {', '.join(unmeasured)} (run `assay judge`)")
    notes += [*remedies, *(warning for warning in scoring.warnings if not is_listed_as_doubt(warning))]
    # Access that nobody checked first, for no number tells of it; then a judge that failed its controls or never
    # answered, metrics that were named and not measured, and scores in which leaks count, before the rest.
    notes.sort(key=lambda note: (_UNCHECKED_ACCESS not in note, _URGENT.search(note) is None))
    more = f" (and {len(notes) - _MAX_NOTES} more: --verbose)" if len(notes) > _MAX_NOTES else ""
    lines = []
    for number, note in enumerate(notes[:_MAX_NOTES], 1):
        suffix = more if number == _MAX_NOTES else ""
        most_lines = 1 if len(notes) > 1 and _TWO_LINES.search(note) is None else 2
        lines += fold_note(escape_terminal(_shorten_digests(note)), width, suffix, most_lines)
    return lines


def _shorten_digests(note: str) -> str:
    """Return a note with the first characters of its digests: whole ones leave no room for the rest.

    >>> _shorten_digests("judged by m (sha256:" + "0" * 64 + "), verdicts")
    'judged by m (sha256:00000000…), verdicts'
    """
    return _DIGEST.sub(r"\1…", note)


_UNCHECKED_ACCESS = "access is not checked on "
_TWO_LINES = LatePattern(f"{_UNCHECKED_ACCESS}|{FOUND_NOTHING}")
_URGENT = LatePattern(
    r"\bE_[A-Z_]+\b| leaked gets? the worst score | gave no verdict on anything "
    rf"|^not measured, because |{FOUND_NOTHING}"
)
_DIGEST = LatePattern(r"\b(sha256:[0-9a-f]{8})[0-9a-f]{56}\b")


def _explain_unscored(metrics: Sequence[str], scoring: ScoringResult) -> list[str]:
    """Return why metrics have no score in any configuration, such as a stage that no output reports."""
    notes = []
    for metric in metrics:
        if _has_value((metric,), scoring):
            continue
        columns = (find_source_column(metric, result.table) for result in scoring.configs.values())
        reasons = dict.fromkeys(filter(None, map(find_common_reason, columns)))
        notes += [f"{metric} has no score: {reason}" for reason in reasons]
    return notes


def _list_metrics(scoring: ScoringResult) -> list[str]:
    return list(dict.fromkeys(metric for result in scoring.configs.values() for metric in result.summary))


def _has_value(names: MetricNames, scoring: ScoringResult) -> bool:
    summaries = (find_measured_summary(names, result.summary) for result in scoring.configs.values())
    return any(summary is not None and summary.value is not None for summary in summaries)


def _list_unmeasured(scoring: ScoringResult) -> list[str]:
    """Return the headline metrics that only a judge can measure and that no configuration has a value of; none where a
    judge was asked and failed its controls, which has a note of its own."""
    if any("E_JUDGE_INVALID" in warning for warning in scoring.warnings):
        return []
    return [label for label, names in _ASKED_OF_A_JUDGE if not _has_value(names, scoring)]
