"""What happened to the failed cases and what to try first, the worst first, and how many more there are."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from assay.attribution.cause_notes import LEAK_IN_CONTEXT, LEAK_RETRIEVED
from assay.attribution.cause_sentences import describe_cause
from assay.metrics.case_checks import LEAK
from assay.metrics.template_columns import ANSWER
from assay.records.counts import join_first
from assay.records.findings import Attribution
from assay.records.scores import ScoringResult
from assay.report.findings.attribution_facts import format_cause_and_fix, format_cause_ids
from assay.report.findings.measured_headlines import find_measured_summary
from assay.report.screen.decision_lines import order_worst_first
from assay.report.wording.short_names import ELLIPSIS, shorten_names
from assay.scoring.case_outcomes import CaseCounts, count_cases, format_case_counts, list_failed_cases
from assay.scoring.judged_answers import describe_judged_unknowns
from assay.scoring.ways_out import WAYS_OUT
from assay.text.escaping import escape_terminal, shorten_at_word

MAX_FAILED_CASES = 5


class _FailedCase(Struct, frozen=True):
    """A failed case with its rank in the list (`_rank_failed`), and whether it did not fail in the baseline."""

    rank: int
    is_new: bool
    config: str
    case_id: str
    attribution: Attribution | None


def build_failed_lines(
    scoring: ScoringResult,
    configs: Sequence[str],
    attributions: Mapping[str, Mapping[str, Attribution]],
    explained: Mapping[str, Collection[str]],
    width: int,
    room: int,
    new_cases: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> list[str]:
    """Return how many cases failed, and what happened to the first of them; nothing if no case failed or is unknown.

    Leaks come first, then other faults of access, and errors of the target last; of several configurations, the one
    with the worst decision comes first, then the one with the most failed cases. Cases to which the same happened
    share an entry. There are at most `room` lines; where they do not list all failed cases, the last says how many
    more there are. `explained` are the cases whose error is said above: they are counted, and not listed again.
    `new_cases` did not fail in the baseline: among cases of one rank they come first.
    """
    counts = {config: count_cases(scoring.configs[config]) for config in configs}
    if not any(of_config.failed or of_config.unknown for of_config in counts.values()):
        return []
    failed_cases = _list_failed(scoring, configs, attributions, explained, new_cases)
    short_names = shorten_names([failed.case_id for failed in failed_cases], max(width // 4, _SHORTEST_NAME))
    short_names |= shorten_names(configs, _SHORTEST_NAME)
    counted_new = {config: len(new_cases.get(config, ())) for config in configs}
    lines = _wrap_counts(counts, counted_new, short_names, width) + _explain_unknown_cases(scoring, counts, width)
    groups = _group_alike(failed_cases, has_configs=len(configs) > 1)
    described = [_describe_group(group, short_names, width) for group in groups[:MAX_FAILED_CASES]]
    sizes = [len(group.case_ids) for group in groups[:MAX_FAILED_CASES]]
    return [*lines, *_fit_groups(described, sizes, len(failed_cases), width, room - len(lines))]


def _list_failed(
    scoring: ScoringResult,
    configs: Sequence[str],
    attributions: Mapping[str, Mapping[str, Attribution]],
    explained: Mapping[str, Collection[str]],
    new_cases: Mapping[str, Collection[str]],
) -> list[_FailedCase]:
    """Return the failed cases to list, the worst first.

    A configuration whose answers are missing has none: what to do is said once, above, and no case has its own cause.
    """
    failed_cases: list[_FailedCase] = []
    for config in configs:
        result = scoring.configs[config]
        if result.decision is not None and result.decision.unanswered:
            continue
        in_error = {case_id for failure in scoring.failures.get(config, ()) for case_id in failure.case_ids}
        leaked = {checks.case_id for checks in result.table.checks if LEAK in checks.failed}
        for case_id in list_failed_cases(result):
            if case_id not in explained.get(config, ()):
                attribution = attributions.get(config, {}).get(case_id)
                rank = _rank_failed(case_id, leaked, in_error, attribution)
                is_new = case_id in new_cases.get(config, ())
                failed_cases.append(_FailedCase(rank, is_new, config, case_id, attribution))
    worst_first = order_worst_first(scoring)
    return sorted(failed_cases, key=lambda failed: (failed.rank, not failed.is_new, worst_first.index(failed.config)))


_MOST_COUNTED_IN_WORDS = 2
_MAX_LINES_OF_COUNTS = 3


def _wrap_counts(
    counts: Mapping[str, CaseCounts], counted_new: Mapping[str, int], short_names: Mapping[str, str], width: int
) -> list[str]:
    """Return the line with the numbers of cases of each configuration, folded.

    Names of configurations are shortened where the counts would be cut, because a count says more than the end of a
    name.
    """
    counted = _count_in_columns(counts) if len(counts) > _MOST_COUNTED_IN_WORDS else []
    if not counted:
        counted = [
            f"{config} {format_case_counts(of_config)}{_count_new(counted_new[config])}"
            for config, of_config in counts.items()
        ]
    if len("; ".join(counted)) > _MAX_LINES_OF_COUNTS * width or max(map(len, counted)) > width:
        counted = [text.replace(config, short_names[config], 1) for config, text in zip(counts, counted, strict=True)]
    return textwrap.wrap(
        escape_terminal(f"Cases: {'; '.join(counted)}"),
        width,
        max_lines=_MAX_LINES_OF_COUNTS,
        placeholder=f" {ELLIPSIS}",
        break_on_hyphens=False,
    )


def _count_new(count: int) -> str:
    """Return how many of the failed cases did not fail in the baseline; "" where none is new."""
    return f" ({count} new since the baseline)" if count else ""


def _count_in_columns(counts: Mapping[str, CaseCounts]) -> list[str]:
    """Return the counts of each configuration, what they are with the first; none where cases lack an answer, or where
    the configurations have other numbers of cases, which only words tell apart."""
    numbers_of_cases = {of_config.cases for of_config in counts.values()}
    if len(numbers_of_cases) > 1 or any(of_config.unanswered for of_config in counts.values()):
        return []
    has_unknown = any(of_config.unknown for of_config in counts.values())
    head = f"failed of {numbers_of_cases.pop()}" + (" (of the others unknown)" if has_unknown else "")
    columns = []
    for config, of_config in counts.items():
        columns.append(f"{config} {of_config.failed}" + (f" ({of_config.unknown})" if has_unknown else ""))
    return [f"{head}: {columns[0]}", *columns[1:]]


_MAX_LINES_ON_JUDGE = 3
_WHY_UNKNOWN = (
    " - unknown: nothing tells whether the answer is right (ask `assay judge`, or read it: `assay labels export --only "
    "ambiguous`)"
)


def _explain_unknown_cases(scoring: ScoringResult, counts: Mapping[str, CaseCounts], width: int) -> list[str]:
    """Return what a judge says of the unknown cases; else how to decide them, if no answer of the run is decided."""
    judged = _describe_judged(scoring, list(counts))
    if judged:
        folded = textwrap.wrap(judged, width, subsequent_indent="   ", break_on_hyphens=False, break_long_words=False)
        return folded[:_MAX_LINES_ON_JUDGE]
    if any(WAYS_OUT in warning for warning in scoring.warnings):
        return []  # said in the first lines
    if any(of_config.unknown for of_config in counts.values()) and not _has_decided_answers(scoring):
        return textwrap.wrap(_WHY_UNKNOWN, width, subsequent_indent="   ", break_on_hyphens=False)
    return []


def _has_decided_answers(scoring: ScoringResult) -> bool:
    """Return whether any answer was found right or wrong."""
    summaries = (find_measured_summary(ANSWER, result.summary) for result in scoring.configs.values())
    return any(summary is not None and summary.scored for summary in summaries)


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
    """Return the rank of a failed case in the list: leaks first, those that came furthest before the others, then
    faults of access, errors of the target last."""
    if case_id in leaked:
        subcause = attribution.subcause if attribution is not None else ""
        return _RANK_BY_REACH.get(subcause, 0)
    if attribution is not None and attribution.verdict == "access_fault":
        return 3
    return 5 if case_id in in_error else 4


_RANK_BY_REACH = MappingProxyType({LEAK_IN_CONTEXT: 1, LEAK_RETRIEVED: 2})


_SHORTEST_NAME = 14
_MOST_FOR_NAMES = 0.4
"""The share of a line that the names of cases may take, from the second on."""
_MAX_LINES_OF_CAUSE = 2
_INDENT = "   "


class _FailedGroup(Struct, frozen=True):
    """Failed cases of a configuration, named if there are several, to which the same happened."""

    config: str
    case_ids: list[str]
    attribution: Attribution | None
    is_new: bool = False


def _group_alike(failed_cases: Iterable[_FailedCase], *, has_configs: bool) -> list[_FailedGroup]:
    """Return failed cases together of which the same is said: of one rank, of one configuration and with one remedy."""
    groups: dict[tuple[object, ...], _FailedGroup] = {}
    for case in failed_cases:
        is_told = case.attribution is not None and case.attribution.cause is not None
        said = format_cause_and_fix(case.attribution) if is_told else (case.case_id,)
        group = groups.setdefault(
            (case.rank, case.is_new, case.config, *said),
            _FailedGroup(case.config if has_configs else "", [], case.attribution, case.is_new),
        )
        group.case_ids.append(case.case_id)
    return list(groups.values())


class _DescribedGroup(Struct, frozen=True):
    """What happened to a group in lines, and a line with what to try first, which may be left out; "" if none is.

    The ids of the causes are behind what happened where they fit, else before what to try.
    """

    lines: list[str]
    remedy: str


def _describe_group(group: _FailedGroup, short_names: Mapping[str, str], width: int) -> _DescribedGroup:
    """Return what happened to cases in at most two lines, and a remedy: on the same line where both fit."""
    attribution = group.attribution
    if attribution is None or attribution.cause is None:
        named = _join_names(group, {}, len(group.case_ids))
        if len(named) >= width:
            named = _join_names(group, short_names, len(group.case_ids))
        return _DescribedGroup([shorten_at_word(f" {named}", width)], "")
    sentence, ids = escape_terminal(describe_cause(attribution)), f"({format_cause_ids(attribution)})"
    lines = _name_and_wrap(group, {}, sentence, width)
    if len(lines) > _MAX_LINES_OF_CAUSE:  # a cause says more than the middle of an id
        lines = _name_and_wrap(group, short_names, sentence, width)
    if len(lines) > _MAX_LINES_OF_CAUSE:
        lines = [*lines[:1], shorten_at_word(_INDENT + " ".join(map(str.strip, lines[1:])), width)]
    below = _INDENT
    if len(lines[-1]) + len(ids) + 1 <= width:
        lines[-1] += f" {ids}"
    else:
        below += f"{ids} "
    first, *others = escape_terminal(attribution.fix).split("; ")
    if len(lines) == 1 and below == _INDENT and len(lines[0]) + len(first) + 3 <= width and first:
        return _DescribedGroup([_add_remedies(f"{lines[0]} → {first}", others, width)], "")
    below += f"→ {first}" if first else ""
    return _DescribedGroup(lines, shorten_at_word(_add_remedies(below, others, width), width) if below.strip() else "")


def _name_and_wrap(group: _FailedGroup, short_names: Mapping[str, str], cause: str, width: int) -> list[str]:
    """Return names and cause in as few lines as one name allows, with as many names as fit into these."""
    most = _count_fitting(group, short_names, width)
    wrapped = [
        textwrap.wrap(
            f"{_join_names(group, short_names, count)}: {cause}",
            width,
            initial_indent=" ",
            subsequent_indent=_INDENT,
            break_on_hyphens=False,
        )
        for count in range(1, most + 1)
    ]
    fewest = len(wrapped[0])
    return next(lines for lines in reversed(wrapped) if len(lines) == fewest)


def _add_remedies(line: str, others: Iterable[str], width: int) -> str:
    """Return a line with as many further remedies as it has room for, each of them whole."""
    for other in others:
        if len(line) + len(other) + 2 > width:
            break
        line += f"; {other}"
    return line


def _count_fitting(group: _FailedGroup, short_names: Mapping[str, str], width: int) -> int:
    """Return how many names of a group take no more than their share of a line, at least one."""
    names = [escape_terminal(short_names.get(case_id, case_id)) for case_id in group.case_ids]
    count = 1
    while count < len(names) and len(", ".join(names[: count + 1])) <= _MOST_FOR_NAMES * width:
        count += 1
    return count


def _join_names(group: _FailedGroup, short_names: Mapping[str, str], count: int) -> str:
    """Return so many names of a group, how many more there are, and the configuration in parentheses if it is named."""
    config = f" ({short_names.get(group.config, group.config)})" if group.config else ""
    names = [short_names.get(case_id, case_id) for case_id in group.case_ids]
    return escape_terminal(f"- {'new: ' if group.is_new else ''}{join_first(names, count)}{config}")


def _fit_groups(
    described: Sequence[_DescribedGroup], sizes: Sequence[int], failed_count: int, width: int, room: int
) -> list[str]:
    """Return the lines that there is room for: each group in one line, but for the first, which is whole and has its
    remedy; then whole sentences, then remedies. Where the first has no room for that it is cut to a line like the
    others: a cause says more than a count alone. The last line says how many failed cases are left out, if any are."""
    count = _count_groups_that_fit(described, sizes, failed_count, room)
    is_first_whole = count > 0
    if not is_first_whole:
        count = _count_lines_that_fit(sizes, failed_count, room)
    left = failed_count - sum(sizes[:count])
    spare = room - bool(left) - (_count_fewest(described[:count]) if is_first_whole else count)
    shown: list[list[str]] = []
    for number, group in enumerate(described[:count]):
        added = 0 if is_first_whole and number == 0 else len(group.lines) - 1
        shown.append(group.lines if added <= spare else [_cut_to_line(group.lines, width)])
        spare -= added if added <= spare else 0
    for number, group in enumerate(described[:count]):
        is_counted = is_first_whole and number == 0
        if group.remedy and (is_counted or spare > 0):
            shown[number] = [*shown[number], group.remedy]
            spare -= not is_counted
    lines = [line for group_lines in shown for line in group_lines]
    if not left:
        return lines
    more = f"and {left} more" if lines else f"{left} failed"
    return [*lines, f" - {more}: --verbose, or the HTML report for all"]


def _count_groups_that_fit(
    described: Sequence[_DescribedGroup], sizes: Sequence[int], failed_count: int, room: int
) -> int:
    """Return how many groups fit with the first one whole, 0 where not even that one does."""
    count = len(described)
    while count > 0 and _count_fewest(described[:count]) + (sum(sizes[:count]) < failed_count) > room:
        count -= 1
    return count


def _count_lines_that_fit(sizes: Sequence[int], failed_count: int, room: int) -> int:
    """Return how many groups fit in a line each."""
    count = len(sizes)
    while count > 0 and count + (sum(sizes[:count]) < failed_count) > room:
        count -= 1
    return count


def _count_fewest(shown: Sequence[_DescribedGroup]) -> int:
    """Return how many lines groups take at least: one each, and the first all of its lines with its remedy."""
    return len(shown) - 1 + len(shown[0].lines) + bool(shown[0].remedy) if shown else 0


def _cut_to_line(lines: Sequence[str], width: int) -> str:
    return shorten_at_word(" ".join([lines[0], *map(str.strip, lines[1:])]), width)
