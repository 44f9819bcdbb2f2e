"""Tables of failed cases and of tags: the tables of the legacy runner, and those of the report template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from assay.graders.stages import CONTEXT, RETRIEVED, find_stage
from assay.model import Case, CaseChecks, ConfigResult, Observation, Scoring
from assay.report.evidence import EXPECTED, expected_sources
from assay.report.faults import Attributions, cause_and_fix
from assay.report.figures import NA, Graders, plural, score_of, with_count, with_interval
from assay.report.names import ANSWER, CITATION, CONTEXT_RECALL, FAITHFULNESS, MRR_10, RECALL_10, Names
from assay.report.safe import one_line, without
from assay.report.tables import FEW_CASES, Table, failed_ids, measured, slice_size

LISTED, WORST = 30, 10
_MAX_IDS = 10
_TAG_PREFIX = "tag="
_LEAK_CHECK = "leak"

Details = Mapping[tuple[str, str], Observation]
"""Observations of the cases in the table, by (configuration, case id)."""
Cases = Mapping[str, Case]
Lists = Mapping[tuple[str, str], Sequence[str]]
"""Sentences about missing and extra files and symbols, by (configuration, case id)."""


def by_tag(scoring: Scoring, cases: Cases, graders: Graders) -> Table:
    """Return the legacy runner's table: one row per configuration and tag."""
    columns = ("Config", "Tag", "Cases", "Recall@10", "MRR@10", "Citation correctness", "Failures")
    rows = [
        (
            config,
            tag,
            size,
            *(_format_tag_count(result, tag, names, graders) for names in (RECALL_10, MRR_10, CITATION)),
            failures,
        )
        for config, result, tag, size, failures in _iter_tag_rows(scoring, cases)
    ]
    return Table("Breakdown By Tag", columns, tuple(rows))


def tag_notes(scoring: Scoring, cases: Cases, graders: Graders) -> Table:
    """Return the report template's tag table, with faithfulness, the checks that failed most, and a mark on small tags.

    A small tag on which nothing failed is only in the full table (`by_tag`).
    """
    columns = ("Config", "Tag", "Cases", "Recall@10", "MRR@10", "Faithfulness", "Citation correctness", "Notes")
    metrics = (RECALL_10, MRR_10, FAITHFULNESS, CITATION)
    rows = [
        (
            config,
            tag,
            size,
            *(_format_tag_interval(result, tag, names, graders) for names in metrics),
            _summarise_tag_failures(result, cases, tag),
        )
        for config, result, tag, size, failures in _iter_tag_rows(scoring, cases)
        if int(failures) or int(size) >= FEW_CASES
    ]
    hidden_rows = sum(1 for _ in _iter_tag_rows(scoring, cases)) - len(rows)
    hidden_note = (
        f"{plural(hidden_rows, 'row')} of tags with fewer than {FEW_CASES} cases and no failure: see Breakdown By Tag"
    )
    return Table("Tags", columns, tuple(rows), (hidden_note,) if hidden_rows else ())


def _iter_tag_rows(scoring: Scoring, cases: Cases) -> Iterator[tuple[str, ConfigResult, str, str, str]]:
    """Yield (configuration, its result, tag, cases, failures), configurations and tags sorted."""
    for config, result in sorted(scoring.configs.items()):
        failures = Counter(tag for case_id in failed_ids(result) for tag in set(cases[case_id].tags))
        for key in sorted(result.slices):
            if key.startswith(_TAG_PREFIX):
                tag = key.removeprefix(_TAG_PREFIX)
                yield config, result, tag, str(slice_size(result.slices[key])), str(failures[tag])


def _format_tag_count(result: ConfigResult, tag: str, names: Names, graders: Graders) -> str:
    return with_count(measured(names, result.slices[_TAG_PREFIX + tag]), graders)


def _format_tag_interval(result: ConfigResult, tag: str, names: Names, graders: Graders) -> str:
    return with_interval(measured(names, result.slices[_TAG_PREFIX + tag]), graders)


def _summarise_tag_failures(result: ConfigResult, cases: Cases, tag: str) -> str:
    failed = (case_checks for case_checks in result.table.checks if tag in cases[case_checks.case_id].tags)
    checks = Counter(name for case_checks in failed for name in case_checks.failed)
    notes = [f"{name} × {count}" for name, count in sorted(checks.items(), key=lambda item: (-item[1], item[0]))[:3]]
    if slice_size(result.slices[_TAG_PREFIX + tag]) < FEW_CASES:
        notes.append(f"fewer than {FEW_CASES} cases: descriptive only")
    return "; ".join(notes)


def failed_queries(scoring: Scoring, details: Details, cases: Cases, lists: Lists | None = None) -> Table:
    """Return the legacy runner's table: the first 30 failed cases of each configuration, in golden order.

    `lists` holds the missing and extra files and symbols of each case; they become notes below the table.
    """
    rows, notes = [], []
    for config, result in sorted(scoring.configs.items()):
        failed = failed_ids(result)
        checks = {case_checks.case_id: case_checks.failed for case_checks in result.table.checks}
        for case_id in failed[:LISTED]:
            observation = details.get((config, case_id))
            notes += [f"{config}, {case_id}: {sentence}" for sentence in (lists or {}).get((config, case_id), ())]
            rows.append(
                (
                    config,
                    case_id,
                    cases[case_id].behaviour,
                    ", ".join(checks[case_id]),
                    _format_ids(_list_stage_ids(observation, RETRIEVED), 3),
                    _format_ids(_list_stage_ids(observation, CONTEXT), _MAX_IDS),
                    _format_ids(observation.citations if observation is not None else None, _MAX_IDS),
                )
            )
        if len(failed) > LISTED:
            notes.append(f"{config}: {len(failed) - LISTED} more failed cases are in the JSON report.")
    columns = (
        "Config",
        "Query ID",
        "Expected behavior",
        "Failed checks",
        "Retrieved top 3",
        "Context IDs",
        "Citations",
    )
    return Table("Failed Queries", columns, tuple(rows), tuple(notes))


def _list_stage_ids(observation: Observation | None, stage: str) -> tuple[str, ...] | None:
    ranked_stage = find_stage(observation, stage) if observation is not None else None
    return tuple(chunk.chunk_id for chunk in ranked_stage.chunks) if ranked_stage is not None else None


def _format_ids(ids: tuple[str, ...] | None, limit: int) -> str:
    """Return ids on one line: `n/a` if they were not reported, `none` if there are none."""
    if ids is None:
        return NA
    if not ids:
        return "none"
    more = f" … {len(ids) - limit} more" if len(ids) > limit and limit > 3 else ""
    return ", ".join(ids[:limit]) + more


def top_failed(scoring: Scoring, cases: Cases, show_forbidden: bool, attributions: Attributions | None = None) -> Table:
    """Return the report template's table of the worst cases: leaks first, then those that failed most checks.

    Root cause and fix are included if there are `attributions`.
    """
    rows = []
    for config, result in sorted(scoring.configs.items()):
        row_by_case = {case_id: row for row, case_id in enumerate(result.table.case_ids)}
        for case_checks in _sort_worst_first(result, row_by_case)[:WORST]:
            case = cases[case_checks.case_id]
            secrets = () if show_forbidden else case.forbidden_text
            answers = (
                _format_success(result, names, row_by_case[case.id])
                for names in (RECALL_10, CONTEXT_RECALL, ANSWER, CITATION)
            )
            sources = expected_sources(case, show_forbidden)[EXPECTED]
            question = one_line(without(case.question, secrets))
            row = (config, case.id, question, "; ".join(sources) or "none", *answers, ", ".join(case_checks.failed))
            attribution = (attributions or {}).get(config, {}).get(case.id)
            rows.append((*row, *cause_and_fix(attribution)) if attributions else row)
    columns = (
        "Config",
        "Query ID",
        "Question",
        "Expected source",
        "Retrieved?",
        "Context?",
        "Answer correct?",
        "Citation correct?",
        "Failed checks",
        *(("Root cause", "Fix") if attributions else ()),
    )
    not_attributed = "Root cause and fix are not listed, because the cases were not attributed."
    notes = (
        f"At most {WORST} cases for each configuration: leaks first, then by the number of failed checks.",
        *(() if attributions else (not_attributed,)),
    )
    return Table("Top Failed Queries", columns, tuple(rows), notes if rows else ())


def _sort_worst_first(result: ConfigResult, row_by_case: Mapping[str, int]) -> list[CaseChecks]:
    """Return the failed cases: leaks first, then by the number of failed checks, then in golden order."""

    def get_sort_key(case_checks: CaseChecks) -> tuple[bool, int, int]:
        return _LEAK_CHECK not in case_checks.failed, -len(case_checks.failed), row_by_case[case_checks.case_id]

    return sorted((case_checks for case_checks in result.table.checks if case_checks.failed), key=get_sort_key)


def _format_success(result: ConfigResult, names: Names, row: int) -> str:
    """Return `yes`, `no` or `partly` by the first of `names` that has a score in this row."""
    scores = (score_of(result.table.columns.get(name), row) for name in names)
    value = next((score for score in scores if score is not None), None)
    if value is None:
        return NA
    if value >= 1:
        return "yes"
    return "no" if value <= 0 else f"partly ({value:.2f})"
