"""Failed cases with cause and fix in a line each, the worst first, and how many more there are."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence

from assay.metrics.case_checks import LEAK
from assay.metrics.template_columns import ANSWER
from assay.records.findings import Attribution
from assay.records.scores import ScoringResult
from assay.report.findings.failure_tables import format_cause_and_fix
from assay.report.findings.measured_headlines import find_measured_summary
from assay.report.wording.short_names import ELLIPSIS, shorten_names
from assay.scoring.case_outcomes import count_cases, format_case_counts, list_failed_cases
from assay.scoring.judged_answers import describe_judged_unknowns
from assay.text.escaping import escape_terminal, shorten_at_word

MAX_FAILED_CASES = 5


def _has_decided_answers(scoring: ScoringResult) -> bool:
    """Return whether any answer was found right or wrong."""
    summaries = (find_measured_summary(ANSWER, result.summary) for result in scoring.configs.values())
    return any(summary is not None and summary.scored for summary in summaries)


_WHY_UNKNOWN = (
    " - unknown: nothing tells whether the answer is right (ask `assay judge`, or read it: `assay labels export --only "
    "ambiguous`)"
)


def build_failed_lines(
    scoring: ScoringResult,
    configs: Sequence[str],
    attributions: Mapping[str, Mapping[str, Attribution]],
    explained: Mapping[str, Collection[str]],
    width: int,
    room: int,
) -> list[str]:
    """Return how many cases failed, and the first of them with cause and fix: leaks first, then other faults of access,
    and errors of the target last.

    There are at most `room` lines; where they do not list all failed cases, the last says how many more there are.
    `explained` are the cases whose error is said above: they are counted, and not listed again.
    """
    counts: list[str] = []
    has_open_cases = has_unknown_cases = False
    failed_cases: list[tuple[int, str, str, Attribution | None]] = []
    for config in configs:
        result = scoring.configs[config]
        case_ids = list_failed_cases(result)
        case_counts = count_cases(result)
        has_open_cases |= bool(case_counts.failed or case_counts.unknown)
        has_unknown_cases |= bool(case_counts.unknown)
        counts.append(f"{config} {format_case_counts(case_counts)}")
        if result.decision is not None and result.decision.unanswered:
            continue  # what to do is said once, above: no case has a cause of its own
        in_error = {case_id for failure in scoring.failures.get(config, ()) for case_id in failure.case_ids}
        leaked = {checks.case_id for checks in result.table.checks if LEAK in checks.failed}
        for case_id in case_ids:
            if case_id in explained.get(config, ()):
                continue
            attribution = attributions.get(config, {}).get(case_id)
            rank = _rank_failed(case_id, leaked, in_error, attribution)
            failed_cases.append((rank, config, case_id, attribution))
    if not has_open_cases:
        return []
    failed_cases.sort(key=lambda failed: failed[0])
    short_names = shorten_names([case_id for _, _, case_id, _ in failed_cases], max(width // 4, _SHORTEST_NAME))
    short_names |= shorten_names(configs, _SHORTEST_NAME)
    if (
        len("; ".join(counts)) > _MAX_LINES_OF_COUNTS * width or max(map(len, counts)) > width
    ):  # a count says more than the end of a name
        counts = [count.replace(config, short_names[config], 1) for config, count in zip(configs, counts, strict=True)]
    counted = escape_terminal(f"Cases: {'; '.join(counts)}")
    lines = textwrap.wrap(
        counted, width, max_lines=_MAX_LINES_OF_COUNTS, placeholder=f" {ELLIPSIS}", break_on_hyphens=False
    )
    judged = _describe_judged(scoring, configs)
    if judged:
        folded = textwrap.wrap(judged, width, subsequent_indent="   ", break_on_hyphens=False, break_long_words=False)
        lines += folded[:_MAX_LINES_ON_JUDGE]
    elif has_unknown_cases and not _has_decided_answers(scoring):
        lines += textwrap.wrap(_WHY_UNKNOWN, width, subsequent_indent="   ", break_on_hyphens=False)
    described = []
    for _, config, case_id, attribution in failed_cases[:MAX_FAILED_CASES]:
        names = (case_id, config) if len(configs) > 1 else (case_id,)
        line = _describe_failed_case(_join_names(names), attribution, width)
        if ELLIPSIS in line:  # cut: a cause says more than the middle of an id
            line = _describe_failed_case(_join_names(short_names[name] for name in names), attribution, width)
        described.append(line)
    return [*lines, *_cut_failed_lines(described, len(failed_cases), room - len(lines))]


_MAX_LINES_OF_COUNTS = 3
_MAX_LINES_ON_JUDGE = 3


def _describe_judged(scoring: ScoringResult, configs: Sequence[str]) -> str:
    """Return what a judge that may not decide says of the unknown cases of the first configuration of which it says
    something; "" if it says nothing."""
    for config in configs:
        judged = describe_judged_unknowns(scoring.configs[config])
        if judged:
            prefix = f"{config} " if len(configs) > 1 else ""
            return escape_terminal(f" - {prefix}unknown: {judged}")
    return ""


def _rank_failed(
    case_id: str, leaked: Collection[str], in_error: Collection[str], attribution: Attribution | None
) -> int:
    """Return the rank of a failed case in the list: leaks first, then faults of access, errors of the target last."""
    if case_id in leaked:
        return 0
    if attribution is not None and attribution.verdict == "access_fault":
        return 1
    return 3 if case_id in in_error else 2


_SHORTEST_NAME = 14
_MOST_FOR_CAUSE = 0.8
"""The share of a line that the name of a case and its cause may take without being cut for the remedy."""


def _join_names(names: Iterable[str]) -> str:
    """Return a case, and its configuration in parentheses if it is named."""
    case_id, *configs = names
    return f"{case_id} ({configs[0]})" if configs else case_id


def _cut_failed_lines(described: Sequence[str], failed_count: int, room: int) -> list[str]:
    """Return the lines that there is room for; the last says how many failed cases are left out, if any are."""
    if failed_count <= min(len(described), room):
        return list(described)
    shown = list(described[: max(room - 1, 0)])
    return [*shown, f" - and {failed_count - len(shown)} more: --verbose, or the HTML report for all"]


def _name_cause(line: str, cause: str, attribution: Attribution, width: int, room: int) -> str:
    """Return a failed case with its cause: whole if it is a few words, even where the end of the remedy is cut for it;
    else as much of it as there is room for, at least the first of several causes."""
    named = [f"{line}: {escape_terminal(cause)}"]
    if len(named[0]) <= width * _MOST_FOR_CAUSE:
        return named[0]
    if attribution.also:
        named.append(f"{line}: {escape_terminal(f'{attribution.cause}, … ({attribution.confidence})')}")
        named.append(f"{line}: {escape_terminal(f'{attribution.cause} …')}")
    fitting = [text for text in named if len(text) <= room]
    return fitting[0] if fitting else named[min(1, len(named) - 1)]


def _describe_failed_case(name: str, attribution: Attribution | None, width: int) -> str:
    """Return a line with the cause of a failed case, and as many whole remedies as there is room for, at least one."""
    line = escape_terminal(f" - {name}")
    if attribution is None or attribution.cause is None:
        return shorten_at_word(line, width)
    cause, fix = format_cause_and_fix(attribution)
    first, *others = escape_terminal(fix).split("; ")
    remedy = f" → {first}" if fix else ""
    line = _name_cause(line, cause, attribution, width, width - len(remedy)) + remedy
    for other in others:
        if len(line) + len(other) + 2 > width:
            break
        line += f"; {other}"
    return shorten_at_word(line, width)
