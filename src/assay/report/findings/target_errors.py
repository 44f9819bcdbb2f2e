"""The errors of a target as the first lines of every report: each text once, with its count and its cases.

Errors that differ only in numbers, ids and addresses are one error; the text of the first is shown, marked *alike*.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from msgspec import Struct

from assay.records.counts import format_count, join_first
from assay.records.release_gates import Decision
from assay.records.scores import ScoringResult, TargetFailure
from assay.text.escaping import escape_terminal, shorten_at_word
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern

MAX_FAILURE_TEXTS, MAX_FAILURE_CASES = 3, 5
"""The largest number of error texts of a target, and of their cases, that a report shows first."""
_PLACE = LatePattern(r", at \S+:\d+(?: \(in [^()]*\))?$")
"""Where an exception arose, at the end of its text."""
_TOKEN = compile_pattern(r"\S+")
_KEPT_AFTER = frozenset(("http", "status", "code", "error", "errno", "exit", "line", "signal", "version"))
"""Words after which a number says what went wrong: HTTP 404 and HTTP 500 are two errors."""
_INDENT = "   "


class FailureGroup(Struct, frozen=True):
    """Errors of a target that are one error: its first text, how many observations have it, and their cases.

    `texts` counts the texts, which differ in numbers, ids or addresses.
    """

    message: str
    count: int
    case_ids: tuple[str, ...]
    texts: int = 1


def group_failures(failures: Sequence[TargetFailure]) -> list[FailureGroup]:
    """Return the errors of a target, alike ones together, those of most observations first."""
    groups: dict[str, list[TargetFailure]] = {}
    for failure in failures:
        groups.setdefault(_make_pattern(failure.message), []).append(failure)
    merged = [_merge_failures(group) for group in groups.values()]
    return sorted(merged, key=lambda group: -group.count)


def _merge_failures(failures: Sequence[TargetFailure]) -> FailureGroup:
    case_ids = tuple(dict.fromkeys(case_id for failure in failures for case_id in failure.case_ids))
    count = sum(failure.count for failure in failures)
    return FailureGroup(" ".join(failures[0].message.split()), count, case_ids, len(failures))


def _make_pattern(message: str) -> str:
    """Return a text without what differs from case to case: words with digits, but for codes and the place.

    >>> _make_pattern("HTTP 503: no shard for req-17") == _make_pattern("HTTP 503: no shard for req-4")
    True
    >>> _make_pattern("HTTP 503: no shard") == _make_pattern("HTTP 500: no shard")
    False
    """
    location = _PLACE.search(message)
    text = message[: location.start()] if location else message
    previous, words = "", []
    for word in _TOKEN.findall(text):
        is_kept = previous in _KEPT_AFTER or not any(map(str.isdigit, word))
        words.append(word if is_kept else "#")
        previous = word.strip("(:,").lower()
    return " ".join(words) + (location[0] if location else "")


def describe_failures(config: str, scoring: ScoringResult) -> list[str]:
    """Return the most frequent errors of a target, each with its count and cases, as one line each."""
    groups = group_failures(scoring.failures.get(config, ()))
    lines = []
    for group in groups[:MAX_FAILURE_TEXTS]:
        cases = _format_cases(group, MAX_FAILURE_CASES)
        lines.append(f"{_begin_line(group)}{group.message} {cases}")
    if len(groups) > MAX_FAILURE_TEXTS:
        lines.append(_describe_others(groups[MAX_FAILURE_TEXTS:]))
    return lines


def describe_all_failures(scoring: ScoringResult) -> list[str]:
    """Return the error lines of every configuration, each after the name of its configuration if there are several."""
    lines = []
    for config in sorted(scoring.configs):
        prefix = f"{config}: " if len(scoring.configs) > 1 else ""
        lines += [prefix + line for line in describe_failures(config, scoring)]
    return lines


def order_reasons(failures: Sequence[str], reasons: Sequence[str], decision: Decision | None) -> list[str]:
    """Return what explains a decision in the order to read it: the errors of the target, then the reasons.

    Where the target answered nothing at all, that is the first line, and its errors follow.
    """
    if decision is not None and decision.unanswered:
        return [*reasons[:1], *failures, *reasons[1:]]
    return [*failures, *reasons]


def _begin_line(group: FailureGroup) -> str:
    alike = ", alike" if group.texts > 1 else ""
    return f"target error ×{group.count}{alike}: "


def _describe_others(groups: Sequence[FailureGroup]) -> str:
    count = sum(group.count for group in groups)
    return f"target error ×{count}: {format_count(len(groups), 'other text')}"


def _format_cases(group: FailureGroup, most: int) -> str:
    return f"(case {join_first(group.case_ids, most)})"


# ── lines of a given width ───────────────────────────────────────────────────────────────────────────────────────────


class FoldedFailures(Struct, frozen=True):
    """The errors of a target as lines of a screen, escaped, and the cases of the errors that are shown."""

    lines: list[str]
    case_ids: frozenset[str]


def fold_failures(failures: Sequence[TargetFailure], width: int, most_lines: int) -> FoldedFailures:
    """Return the most frequent errors in at most so many lines, one or two for each; the last counts the others."""
    groups = group_failures(failures)
    shown = (
        groups[:MAX_FAILURE_TEXTS] if len(groups) <= most_lines else groups[: min(MAX_FAILURE_TEXTS, most_lines - 1)]
    )
    shown = shown or groups[:most_lines]
    others = groups[len(shown) :]
    spare = most_lines - len(shown) - bool(others)
    lines: list[str] = []
    for group in shown:
        folded = fold_failure(group, width, 2 if spare > 0 else 1)
        spare -= len(folded) - 1
        lines += folded
    if others and len(lines) < most_lines:
        lines.append(f" - {_describe_others(others)}")
    return FoldedFailures(lines, frozenset(case_id for group in shown for case_id in group.case_ids))


def fold_failure(group: FailureGroup, width: int, most_lines: int, prefix: str = " - ") -> list[str]:
    """Return one error in at most so many lines: as many ids as there is room for next to its text.

    Where not even the first one fits, the end of the text is left out, but for the place where it arose; where too
    little is left of the text, its cases are counted. Ids are whole, and no word is cut that fits on a line.
    """
    head = prefix + _begin_line(group)
    text = " ".join(shorten_at_word(word, width // 2) for word in escape_terminal(group.message).split(" "))
    for most_named in range(min(MAX_FAILURE_CASES, len(group.case_ids)), 0, -1):
        lines = _wrap(f"{head}{text} {escape_terminal(_format_cases(group, most_named))}", width)
        if len(lines) <= most_lines:
            return lines
    location = _PLACE.search(text)
    tail = location[0] if location else ""
    words = text[: len(text) - len(tail)].split(" ")
    fewest_chars = min(width // 3, len(text))  # of the text: where the id of a case leaves less, its cases are counted
    count = f"({format_count(len(group.case_ids), 'case')})"
    for cases in (escape_terminal(_format_cases(group, 1)), count):
        for kept in range(len(words), 0, -1):
            shown = " ".join(words[:kept]) + (" …" if kept < len(words) else "") + tail
            lines = _wrap(f"{head}{shown} {cases}", width)
            if len(lines) <= most_lines and len(shown) >= fewest_chars:
                return lines
    return [shorten_at_word(f"{head}{text}", width)]


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=_INDENT, break_on_hyphens=False, drop_whitespace=True)


def fold_first_failures(scoring: ScoringResult, width: int) -> tuple[list[str], int]:
    """Return the most frequent errors of all targets, at most three, a line each, and how many errors are left out.

    Of several targets, the first error of each comes before the second of any. A single error takes a second line for
    the end of its text, which often says what is to be done.
    """
    ranked: list[tuple[int, str, FailureGroup]] = []
    for config in sorted(scoring.configs):
        groups = group_failures(scoring.failures.get(config, ()))
        prefix = f" - {config}: " if len(scoring.configs) > 1 else " - "
        ranked += [(rank, prefix, group) for rank, group in enumerate(groups)]
    ranked.sort(key=lambda item: item[:2])
    shown = ranked[:MAX_FAILURE_TEXTS]
    lines = [line for _, prefix, group in shown for line in fold_failure(group, width, 1, escape_terminal(prefix))]
    if len(shown) == 1 and " …" in lines[0]:
        _, prefix, group = shown[0]
        lines = fold_failure(group, width, 2, escape_terminal(prefix))
    return lines, len(ranked) - len(shown)
