"""Tables of failed cases: by tag, with their chunks, and the worst ones with what was expected and answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from assay.metrics.case_checks import JUDGED_CORRECTNESS
from assay.metrics.template_columns import CITATION, CONTEXT_RECALL, FAITHFULNESS, MRR_10, RECALL_10, MetricNames
from assay.records.counts import format_count
from assay.records.golden_set import Case
from assay.records.observations import CONTEXT_STAGE, RETRIEVED_STAGE, Observation, find_stage
from assay.records.scores import CaseChecks, ConfigResult, ScoringResult
from assay.report.findings.attribution_facts import format_cause_and_besides
from assay.report.findings.attribution_tables import AttributionsByConfig
from assay.report.findings.expected_sources import EVIDENCE_LABEL, describe_expected_sources
from assay.report.findings.measured_headlines import find_measured_summary
from assay.report.findings.slice_tables import FEW_CASES, count_slice_cases
from assay.report.findings.table import Table
from assay.report.wording.answer_metrics import order_answer_metrics
from assay.report.wording.number_format import NOT_AVAILABLE, format_with_count, format_with_interval, get_row_score
from assay.scoring.case_outcomes import list_failed_cases
from assay.scoring.judged_answers import describe_standing
from assay.text.escaping import shorten_to_line, withhold_secrets

MAX_LISTED_CASES, MAX_WORST_CASES = 30, 10
_MAX_IDS = 10
_TAG_PREFIX = "tag="
_LEAK_CHECK = "leak"

ObservationsByCase = Mapping[tuple[str, str], Observation]
"""Observations of the cases in the table, by (configuration, case id)."""
CasesById = Mapping[str, Case]
FileSentencesByCase = Mapping[tuple[str, str], Sequence[str]]
"""Sentences about missing and extra files and symbols, by (configuration, case id)."""


def build_tag_breakdown_table(scoring: ScoringResult, cases: CasesById) -> Table:
    """Return the legacy runner's table: one row per configuration and tag.

    A tag of one case that did not fail says nothing of its own; such rows are counted if there are many tags.
    """
    columns = ("Config", "Tag", "Cases", "Recall@10", "MRR@10", "Citation correctness", "Failures")
    tag_rows = list(_iter_tag_rows(scoring, cases))
    shown = tag_rows
    if len(tag_rows) > _MAX_SINGLE_TAGS:
        shown = [row for row in tag_rows if int(row[3]) > 1 or int(row[4])]
    rows = []
    for config, result, tag, size, failures in shown:
        values = (_format_tag_count(result, tag, names) for names in (RECALL_10, MRR_10, CITATION))
        rows.append((config, tag, size, *values, failures))
    hidden = len(tag_rows) - len(shown)
    note = f"{format_count(hidden, 'more row')} of tags with one case, which did not fail: see the JSON report."
    return Table("Breakdown By Tag", columns, tuple(rows), (note,) if hidden else ())


_MAX_SINGLE_TAGS = 20
"""With more rows of tags, those that have one case and no failure are counted and not listed."""


def build_tag_table(scoring: ScoringResult, cases: CasesById) -> Table:
    """Return the report template's tag table, with faithfulness, the checks that failed most, and a mark on small tags.

    A small tag on which nothing failed is only in the full table (`build_tag_breakdown_table`).
    """
    columns = ("Config", "Tag", "Cases", "Recall@10", "MRR@10", "Faithfulness", "Citation correctness", "Notes")
    metrics = (RECALL_10, MRR_10, FAITHFULNESS, CITATION)
    rows = [
        (
            config,
            tag,
            size,
            *(_format_tag_interval(result, tag, names) for names in metrics),
            _summarise_tag_failures(result, cases, tag),
        )
        for config, result, tag, size, failures in _iter_tag_rows(scoring, cases)
        if int(failures) or int(size) >= FEW_CASES
    ]
    hidden_rows = sum(1 for _ in _iter_tag_rows(scoring, cases)) - len(rows)
    hidden_note = (
        f"{format_count(hidden_rows, 'row')} of tags with fewer than {FEW_CASES} cases and no "
        f"failure: see Breakdown By Tag"
    )
    return Table("Tags", columns, tuple(rows), (hidden_note,) if hidden_rows else ())


def _iter_tag_rows(scoring: ScoringResult, cases: CasesById) -> Iterator[tuple[str, ConfigResult, str, str, str]]:
    """Yield (configuration, its result, tag, cases, failures), configurations and tags sorted."""
    for config, result in sorted(scoring.configs.items()):
        failures = Counter(tag for case_id in list_failed_cases(result) for tag in set(cases[case_id].tags))
        for key in sorted(result.slices):
            if key.startswith(_TAG_PREFIX):
                tag = key.removeprefix(_TAG_PREFIX)
                yield config, result, tag, str(count_slice_cases(result.slices[key])), str(failures[tag])


def _format_tag_count(result: ConfigResult, tag: str, names: MetricNames) -> str:
    return format_with_count(find_measured_summary(names, result.slices[_TAG_PREFIX + tag]))


def _format_tag_interval(result: ConfigResult, tag: str, names: MetricNames) -> str:
    return format_with_interval(find_measured_summary(names, result.slices[_TAG_PREFIX + tag]))


def _summarise_tag_failures(result: ConfigResult, cases: CasesById, tag: str) -> str:
    failed = (case_checks for case_checks in result.table.checks if tag in cases[case_checks.case_id].tags)
    checks = Counter(name for case_checks in failed for name in case_checks.failed)
    notes = [f"{name} × {count}" for name, count in sorted(checks.items(), key=lambda item: (-item[1], item[0]))[:3]]
    if count_slice_cases(result.slices[_TAG_PREFIX + tag]) < FEW_CASES:
        notes.append(f"fewer than {FEW_CASES} cases: descriptive only")
    return "; ".join(notes)


def build_failed_queries_table(
    scoring: ScoringResult, details: ObservationsByCase, cases: CasesById, lists: FileSentencesByCase | None = None
) -> Table:
    """Return the legacy runner's table: the first 30 failed cases of each configuration, in golden order.

    `lists` holds the missing and extra files and symbols of each case; they become notes below the table.
    """
    rows, notes = [], []
    for config, result in sorted(scoring.configs.items()):
        failed = list_failed_cases(result)
        checks = {case_checks.case_id: case_checks.failed for case_checks in result.table.checks}
        for case_id in failed[:MAX_LISTED_CASES]:
            observation = details.get((config, case_id))
            notes += [f"{config}, {case_id}: {sentence}" for sentence in (lists or {}).get((config, case_id), ())]
            rows.append(
                (
                    config,
                    case_id,
                    cases[case_id].behaviour,
                    ", ".join(checks[case_id]),
                    _format_ids(_list_stage_ids(observation, RETRIEVED_STAGE), 3),
                    _format_ids(_list_stage_ids(observation, CONTEXT_STAGE), _MAX_IDS),
                    _format_ids(observation.citations if observation is not None else None, _MAX_IDS),
                )
            )
        if len(failed) > MAX_LISTED_CASES:
            notes.append(f"{config}: {len(failed) - MAX_LISTED_CASES} more failed cases are in the JSON report.")
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
        return NOT_AVAILABLE
    if not ids:
        return "none"
    more = f" … {len(ids) - limit} more" if len(ids) > limit and limit > 3 else ""
    return ", ".join(ids[:limit]) + more


def build_worst_cases_table(
    scoring: ScoringResult, cases: CasesById, show_forbidden: bool, attributions: AttributionsByConfig | None = None
) -> Table:
    """Return the report template's table of the worst cases: leaks first, then those that failed most checks.

    Root cause and fix are included if there are `attributions`. What the template asks of evidence and answers is a
    table of its own, `build_worst_answers_table`: a pull request shows six columns well, and not eleven.
    """
    rows = []
    for config, case_checks in _list_worst_cases(scoring):
        case = cases[case_checks.case_id]
        question = shorten_to_line(withhold_secrets(case.question, () if show_forbidden else case.forbidden_text))
        attribution = (attributions or {}).get(config, {}).get(case.id)
        cause = format_cause_and_besides(attribution) if attributions else ()
        rows.append((config, case.id, question, ", ".join(case_checks.failed), *cause))
    columns = ("Config", "Query ID", "Question", "Failed checks", *(("Root cause", "Fix") if attributions else ()))
    not_attributed = "Root cause and fix are not listed, because the cases were not attributed."
    most = max((len(list_failed_cases(result)) for result in scoring.configs.values()), default=0)
    limited = (
        f"At most {MAX_WORST_CASES} cases for each configuration: leaks first, then by the number of failed checks."
    )
    notes = (*((limited,) if most > MAX_WORST_CASES else ()), *(() if attributions else (not_attributed,)))
    return Table("Top Failed Queries", columns, tuple(rows), (" ".join(notes),) if rows and notes else ())


def build_worst_answers_table(scoring: ScoringResult, cases: CasesById, show_forbidden: bool) -> Table:
    """Return of the same cases what was expected, whether it was found and shown, and whether the answer is right."""
    rows = []
    for config, case_checks in _list_worst_cases(scoring):
        result = scoring.configs[config]
        row = result.table.case_ids.index(case_checks.case_id)
        sources = describe_expected_sources(cases[case_checks.case_id], show_forbidden)[EVIDENCE_LABEL]
        answers = (
            _format_unleaked(result, names, row)
            for names in (RECALL_10, CONTEXT_RECALL, order_answer_metrics([result.table]), CITATION)
        )
        rows.append((config, case_checks.case_id, "; ".join(sources) or "none", *answers))
    questions = ("Retrieved?", "Context?", "Answer correct?", "Citation correct?")
    columns = ("Config", "Query ID", "Expected source", *questions)
    return Table("Evidence and answers of the top failed queries", columns, tuple(rows), (_CITED,) if rows else ())


def _list_worst_cases(scoring: ScoringResult) -> Iterator[tuple[str, CaseChecks]]:
    """Yield the worst failed cases of each configuration."""
    for config, result in sorted(scoring.configs.items()):
        row_by_case = {case_id: row for row, case_id in enumerate(result.table.case_ids)}
        for case_checks in _sort_worst_first(result, row_by_case)[:MAX_WORST_CASES]:
            yield config, case_checks


_CITED = (
    "Citation correct: what is cited was in the context, what must be cited is, and no other chunk fits a claim much "
    "better. Whether the sources support the answer, or are out of date, it does not say."
)


def _sort_worst_first(result: ConfigResult, row_by_case: Mapping[str, int]) -> list[CaseChecks]:
    """Return the failed cases: leaks first, then by the number of failed checks, then in golden order."""

    def get_sort_key(case_checks: CaseChecks) -> tuple[bool, int, int]:
        return _LEAK_CHECK not in case_checks.failed, -len(case_checks.failed), row_by_case[case_checks.case_id]

    return sorted((case_checks for case_checks in result.table.checks if case_checks.failed), key=get_sort_key)


def _format_unleaked(result: ConfigResult, names: MetricNames, row: int) -> str:
    """Return how far one of `names` succeeded; where a leak set its score aside, that, and what it was without."""
    own = result.table.before_leaks
    for name in names:
        value = get_row_score(result.table.columns.get(name), row)
        before = get_row_score(own.get(name), row)
        if value is not None and before is not None and before != value:
            word = "yes" if before >= 1 else "no" if before <= 0 else f"partly ({before:.2f})"
            return f"no, because the case leaked (else {word})"
        if value is not None:
            break
    return _format_success(result, names, row)


def _format_success(result: ConfigResult, names: MetricNames, row: int) -> str:
    """Return `yes`, `no` or `partly` by the first of `names` that has a score in this row."""
    for name in names:
        value = get_row_score(result.table.columns.get(name), row)
        if value is not None:
            standing = describe_standing(result.table) if name == JUDGED_CORRECTNESS else ""
            word = "yes" if value >= 1 else "no" if value <= 0 else f"partly ({value:.2f})"
            return f"{word}, says the judge ({standing})" if standing else word
    return NOT_AVAILABLE
