"""Tables about the cases that failed and the tags they carry: those of the brief's runner, and its template's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from assay.graders.stages import CONTEXT, RETRIEVED, find_stage
from assay.model import Case, ConfigResult, Observation, Scoring
from assay.report.evidence import EXPECTED, expected_sources
from assay.report.faults import Attributions, cause_and_fix
from assay.report.figures import NA, Graders, plural, score_of, with_count, with_interval
from assay.report.names import ANSWER, CITATION, CONTEXT_RECALL, FAITHFULNESS, MRR_10, RECALL_10, Names
from assay.report.safe import one_line, without
from assay.report.tables import FEW_CASES, Table, failed_ids, measured, slice_size

LISTED, WORST = 30, 10
_IDS = 10
_TAG = "tag="
_LEAK = "leak"

Details = Mapping[tuple[str, str], Observation]
"""Observations of the cases that are shown, by configuration and case id."""
Cases = Mapping[str, Case]
Lists = Mapping[tuple[str, str], Sequence[str]]
"""Sentences about lists of files and symbols, by configuration and case id."""


def by_tag(scoring: Scoring, cases: Cases, graders: Graders) -> Table:
    """The runner's table: one row per configuration and tag."""
    columns = ("Config", "Tag", "Cases", "Recall@10", "MRR@10", "Citation correctness", "Failures")
    rows = [
        (config, tag, size, *(_cell(result, tag, names, graders) for names in (RECALL_10, MRR_10, CITATION)), failures)
        for config, result, tag, size, failures in _tags(scoring, cases)
    ]
    return Table("Breakdown By Tag", columns, tuple(rows))


def tag_notes(scoring: Scoring, cases: Cases, graders: Graders) -> Table:
    """The template's tag table, with faithfulness, the checks that failed most, and a mark on small tags.

    A small tag on which nothing failed is left to the full table: it tells nobody anything.
    """
    columns = ("Config", "Tag", "Cases", "Recall@10", "MRR@10", "Faithfulness", "Citation correctness", "Notes")
    metrics = (RECALL_10, MRR_10, FAITHFULNESS, CITATION)
    rows = [
        (config, tag, size, *(_full(result, tag, names, graders) for names in metrics), _notes(result, cases, tag))
        for config, result, tag, size, failures in _tags(scoring, cases)
        if int(failures) or int(size) >= FEW_CASES
    ]
    quiet = sum(1 for _ in _tags(scoring, cases)) - len(rows)
    where = f"{plural(quiet, 'row')} of tags with fewer than {FEW_CASES} cases and no failure: see Breakdown By Tag"
    return Table("Tags", columns, tuple(rows), (where,) if quiet else ())


def _tags(scoring: Scoring, cases: Cases) -> Iterator[tuple[str, ConfigResult, str, str, str]]:
    """Yield (configuration, its result, tag, cases, failures), configurations and tags sorted."""
    for config, result in sorted(scoring.configs.items()):
        failures = Counter(tag for case_id in failed_ids(result) for tag in set(cases[case_id].tags))
        for key in sorted(result.slices):
            if key.startswith(_TAG):
                tag = key.removeprefix(_TAG)
                yield config, result, tag, str(slice_size(result.slices[key])), str(failures[tag])


def _cell(result: ConfigResult, tag: str, names: Names, graders: Graders) -> str:
    return with_count(measured(names, result.slices[_TAG + tag]), graders)


def _full(result: ConfigResult, tag: str, names: Names, graders: Graders) -> str:
    return with_interval(measured(names, result.slices[_TAG + tag]), graders)


def _notes(result: ConfigResult, cases: Cases, tag: str) -> str:
    failed = (found for found in result.table.checks if tag in cases[found.case_id].tags)
    checks = Counter(name for found in failed for name in found.failed)
    notes = [f"{name} × {count}" for name, count in sorted(checks.items(), key=lambda item: (-item[1], item[0]))[:3]]
    if slice_size(result.slices[_TAG + tag]) < FEW_CASES:
        notes.append(f"fewer than {FEW_CASES} cases: describes only")
    return "; ".join(notes)


def failed_queries(scoring: Scoring, details: Details, cases: Cases, lists: Lists | None = None) -> Table:
    """The runner's table: the first 30 failed cases of each configuration, in golden order.

    `lists` say of a case which expected files and symbols are missing; they stand below the table.
    """
    rows, notes = [], []
    for config, result in sorted(scoring.configs.items()):
        failed = failed_ids(result)
        checks = {found.case_id: found.failed for found in result.table.checks}
        for case_id in failed[:LISTED]:
            seen = details.get((config, case_id))
            notes += [f"{config}, {case_id}: {each}" for each in (lists or {}).get((config, case_id), ())]
            rows.append(
                (
                    config,
                    case_id,
                    cases[case_id].behaviour,
                    ", ".join(checks[case_id]),
                    _ids(_stage_ids(seen, RETRIEVED), 3),
                    _ids(_stage_ids(seen, CONTEXT), _IDS),
                    _ids(seen.citations if seen is not None else None, _IDS),
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


def _stage_ids(seen: Observation | None, stage: str) -> tuple[str, ...] | None:
    found = find_stage(seen, stage) if seen is not None else None
    return tuple(chunk.chunk_id for chunk in found.chunks) if found is not None else None


def _ids(ids: tuple[str, ...] | None, limit: int) -> str:
    """Return ids on one line: `n/a` where they were not reported, `none` where there are none."""
    if ids is None:
        return NA
    if not ids:
        return "none"
    more = f" … {len(ids) - limit} more" if len(ids) > limit and limit > 3 else ""
    return ", ".join(ids[:limit]) + more


def top_failed(scoring: Scoring, cases: Cases, show_forbidden: bool, found_causes: Attributions | None = None) -> Table:
    """The template's table: leaks, then the cases that failed most checks, with what was found and what was not.

    Root cause and fix stand in it where `found_causes` has attributions.
    """
    rows = []
    for config, result in sorted(scoring.configs.items()):
        place = {case_id: row for row, case_id in enumerate(result.table.case_ids)}
        failed = sorted(
            (found for found in result.table.checks if found.failed),
            key=lambda found: (_LEAK not in found.failed, -len(found.failed), place[found.case_id]),
        )
        for found in failed[:WORST]:
            case = cases[found.case_id]
            secrets = () if show_forbidden else case.forbidden_text
            answers = (
                _yes_no(result, names, place[case.id]) for names in (RECALL_10, CONTEXT_RECALL, ANSWER, CITATION)
            )
            sources = expected_sources(case, show_forbidden)[EXPECTED]
            question = one_line(without(case.question, secrets))
            row = (config, case.id, question, "; ".join(sources) or "none", *answers, ", ".join(found.failed))
            known = (found_causes or {}).get(config, {}).get(case.id)
            rows.append((*row, *cause_and_fix(known)) if found_causes else row)
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
        *(("Root cause", "Fix") if found_causes else ()),
    )
    unmade = "Root cause and fix are not listed: they need an attribution, which was not made."
    notes = (
        f"At most {WORST} cases for each configuration: leaks first, then by the number of failed checks.",
        *(() if found_causes else (unmade,)),
    )
    return Table("Top Failed Queries", columns, tuple(rows), notes if rows else ())


def _yes_no(result: ConfigResult, names: Names, row: int) -> str:
    scores = (score_of(result.table.columns.get(name), row) for name in names)
    value = next((score for score in scores if score is not None), None)
    if value is None:
        return NA
    return "yes" if value >= 1 else "no" if value <= 0 else f"partly ({value:.2f})"
