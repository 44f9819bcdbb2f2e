"""Summarises, compares and selects for review the grades of answers, whoever gave them (`*-graded.jsonl`).

A grade is fully correct, partially correct, unsupported or wrong, with a failure label. People and models give it, and
models add a confidence. A row whose grade cannot be read counts in no rate and is selected for review.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import NamedTuple

from msgspec import Struct

from assay.calibration.collect_scorer_labels import label_scales
from assay.formats.labels.label_files import (
    GRADE_METRIC,
    NO_FAILURE_LABEL,
    PERSON_SOURCE,
    AnswerKey,
    Grade,
    LabelScale,
    load_graded,
)
from assay.judging.rubric_files import load_rubrics
from assay.records.counts import format_count
from assay.records.errors import InputError, Problem
from assay.stats.intervals import estimate_mean_interval, wilson_interval
from assay.stats.paired_tests import compare_paired_scores

DEFAULT_CONFIDENCE = 0.7
"""A model's grade below this confidence is selected for review unless another threshold is named."""
ALL_ANSWERS, NO_CATEGORY = "all", "none"


class GradedRequest(NamedTuple):
    """Which files to summarise; `below` is the confidence under which a grade is reviewed.

    `rubrics` are folders with the rubrics that the answers were graded by.
    """

    files: Sequence[str]
    below: float = DEFAULT_CONFIDENCE
    rater: str | None = None
    rubrics: Sequence[str] = ()


class LabelShare(Struct, frozen=True):
    """How many answers have a label, their share, and its 95% interval."""

    count: int
    share: float
    low: float
    high: float


class GradeSummary(Struct, frozen=True):
    """The grades of one rater on the answers of one configuration, of all or of one category.

    `mean` is the mean value of the grades with its 95% interval. `failures` counts the failure labels of the answers
    that are not fully correct; `ungraded` the rows without a grade that can be read.
    """

    config: str
    rater: str
    category: str
    n: int
    ungraded: int
    mean: float | None
    low: float | None
    high: float | None
    grades: dict[str, LabelShare]
    failures: dict[str, int]


class GradeComparison(Struct, frozen=True):
    """Two gradings of the same questions: two configurations by one rater, or two raters on one configuration.

    `difference` is second minus first, with its 95% interval and the p-value of the paired test. `changed` are the
    cases with another grade, as `case: first → second`.
    """

    first: str
    second: str
    kind: str
    n: int
    better: int
    worse: int
    same: int
    difference: float
    low: float | None
    high: float | None
    p_value: float | None
    changed: tuple[str, ...]


class GradeReview(Struct, frozen=True):
    """An answer that a person should look at, and why."""

    case_id: str
    config: str
    rater: str
    grade: str
    reason: str


class GradedAnswers(Struct, frozen=True):
    """Everything that is said about the grades of some files."""

    summaries: tuple[GradeSummary, ...]
    comparisons: tuple[GradeComparison, ...]
    review: tuple[GradeReview, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Grading:
    """The grades that one rater gave to one configuration, by case, with the categories of the cases."""

    config: str
    rater: str
    grades: dict[str, Grade]
    categories: dict[str, str]
    ungraded: dict[str, str]

    @property
    def name(self) -> str:
        return f"{self.config} by {self.rater}"


def summarise_graded(request: GradedRequest) -> GradedAnswers:
    """Return summaries by configuration, rater and category, comparisons of every two gradings, and cases for review.

    Raises InputError for files that are no run logs, and for an answer that one rater graded twice.
    """
    scales = label_scales(load_rubrics(request.rubrics))
    scale = scales[GRADE_METRIC]
    gradings: dict[tuple[str, str], _Grading] = {}
    notes: list[str] = []
    for path in request.files:
        notes += _add_file(path, request, scales, gradings)
    ordered = [gradings[key] for key in sorted(gradings)]
    summaries: list[GradeSummary] = []
    for grading in ordered:
        summaries += _summarise_grading(grading, scale)
    comparisons = tuple(_compare_all(ordered, scale))
    review = tuple(_select_for_review(ordered, request.below))
    return GradedAnswers(tuple(summaries), comparisons, review, tuple(notes))


def _add_file(
    path: str,
    request: GradedRequest,
    scales: Mapping[str, LabelScale],
    gradings: dict[tuple[str, str], _Grading],
) -> list[str]:
    """Add the grades of a file to those of their raters; return notes on what cannot be read."""
    graded = load_graded(path, scales, request.rater)
    valid_grades = {(label.case_id, label.config_id) for label in graded.labels if label.metric == GRADE_METRIC}
    problems: list[Problem] = []
    for row in graded.rows:
        case_id = str(row["question_id"])
        config = next((str(row[name]) for name in ("config_id", "model") if row.get(name) is not None), "unknown")
        grade = graded.grades.get((case_id, config))
        is_valid = grade is not None and (case_id, config) in valid_grades
        rater = (grade.model if grade is not None else None) or request.rater or PERSON_SOURCE
        grading = gradings.setdefault((config, rater), _Grading(config, rater, {}, {}, {}))
        if case_id in grading.categories:
            message = f"graded twice by {rater} (got {case_id} of {config} again; expected it once)"
            problems.append(Problem(path, None, "question_id", message, "E_DUPLICATE_ID"))
            continue
        grading.categories[case_id] = str(row.get("category") or NO_CATEGORY)
        if grade is not None and is_valid:
            grading.grades[case_id] = grade
        else:
            grading.ungraded[case_id] = str(row.get("grading_error") or "no grade that is on the scale")
    if problems:
        raise InputError(problems)
    return [str(problem) for problem in graded.flawed]


def _summarise_grading(grading: _Grading, scale: LabelScale) -> Iterator[GradeSummary]:
    yield _summarise_cases(grading, ALL_ANSWERS, list(grading.categories), scale)
    categories = sorted(set(grading.categories.values()))
    if len(categories) > 1:
        for category in categories:
            cases = [case_id for case_id, name in grading.categories.items() if name == category]
            yield _summarise_cases(grading, category, cases, scale)


def _summarise_cases(grading: _Grading, category: str, cases: Sequence[str], scale: LabelScale) -> GradeSummary:
    grades = [grading.grades[case_id] for case_id in cases if case_id in grading.grades]
    counts = Counter(grade.grade for grade in grades)
    values = [scale[grade.grade] or 0.0 for grade in grades]
    bounds = estimate_mean_interval(values, low=0.0, high=1.0) if values else None
    shares = {}
    for label in scale:
        if grades:
            interval = wilson_interval(counts[label], len(grades))
            shares[label] = LabelShare(counts[label], counts[label] / len(grades), interval.low, interval.high)
    failures = Counter(grade.failure for grade in grades if grade.failure not in (None, NO_FAILURE_LABEL))
    return GradeSummary(
        grading.config,
        grading.rater,
        category,
        len(grades),
        len(cases) - len(grades),
        fsum(values) / len(values) if values else None,
        bounds.low if bounds is not None else None,
        bounds.high if bounds is not None else None,
        shares,
        {str(label): count for label, count in sorted(failures.items(), key=lambda pair: (-pair[1], str(pair[0])))},
    )


def _compare_all(gradings: Sequence[_Grading], scale: LabelScale) -> Iterator[GradeComparison]:
    """Yield the comparison of every two gradings with a case in common that differ in rater or configuration only."""
    for first, second in combinations(gradings, 2):
        if first.rater == second.rater:
            kind = "configurations"
        elif first.config == second.config:
            kind = "raters"
        else:
            continue
        shared = sorted(first.grades.keys() & second.grades.keys())
        if shared:
            yield _compare_gradings(first, second, kind, shared, scale)


def _compare_gradings(
    first: _Grading, second: _Grading, kind: str, cases: Sequence[str], scale: LabelScale
) -> GradeComparison:
    changed = []
    for case_id in cases:
        before, after = first.grades[case_id].grade, second.grades[case_id].grade
        if before != after:
            changed.append(f"{case_id}: {before} → {after}")
    values = [[scale[grading.grades[case_id].grade] or 0.0 for case_id in cases] for grading in (first, second)]
    paired = compare_paired_scores(values[0], values[1], low=0.0, high=1.0)
    assert paired is not None
    return GradeComparison(
        first.name,
        second.name,
        kind,
        paired.n,
        paired.wins,
        paired.losses,
        paired.ties,
        paired.mean,
        paired.bounds.low if paired.bounds is not None else None,
        paired.bounds.high if paired.bounds is not None else None,
        paired.p_value,
        tuple(changed),
    )


def _select_for_review(gradings: Sequence[_Grading], below: float) -> Iterator[GradeReview]:
    """Yield, by configuration and case, grades without confidence enough, unreadable ones, and raters that differ."""
    by_answer: dict[AnswerKey, list[tuple[_Grading, Grade]]] = {}
    for grading in gradings:
        for case_id, reason in grading.ungraded.items():
            yield GradeReview(case_id, grading.config, grading.rater, "", reason)
        for case_id, grade in grading.grades.items():
            by_answer.setdefault((case_id, grading.config), []).append((grading, grade))
            if grade.confidence is not None and grade.confidence < below:
                reason = f"confidence {grade.confidence:g} is below {below:g}"
                yield GradeReview(case_id, grading.config, grading.rater, grade.grade, reason)
    for (case_id, config), answer_grades in sorted(by_answer.items()):
        if len({grade.grade for _, grade in answer_grades}) > 1:
            stated = ", ".join(f"{grade.grade} by {grading.rater}" for grading, grade in answer_grades)
            yield GradeReview(case_id, config, "", "", f"raters differ: {stated}")


# ── as text ──────────────────────────────────────────────────────────────────────────────────────────────────────

MAX_LISTED = 20
"""Changed answers and answers for review that the text lists; the JSON has all of them."""


def format_graded(graded: GradedAnswers) -> list[str]:
    """Return the lines for the screen: a block for each grading, then comparisons, then what to review."""
    lines: list[str] = []
    for summary in graded.summaries:
        lines += _format_summary(summary)
    for comparison in graded.comparisons:
        lines += _format_comparison(comparison)
    if graded.review:
        lines.append(f"review: {format_count(len(graded.review), 'answer')}")
        for entry in graded.review[:MAX_LISTED]:
            rater = f" by {entry.rater}" if entry.rater else ""
            grade = f", {entry.grade}" if entry.grade else ""
            lines.append(f"  {entry.case_id} ({entry.config}{rater}{grade}): {entry.reason}")
        lines += _format_more(len(graded.review))
    return lines


def _format_summary(summary: GradeSummary) -> list[str]:
    if summary.category != ALL_ANSWERS:
        mean = "no grade" if summary.mean is None else f"mean {summary.mean:.2f}"
        return [f"  {summary.category}: {summary.n} graded, {mean}"]
    if summary.mean is None:
        return [f"{summary.config} by {summary.rater}: no grade, {format_count(summary.ungraded, 'row')} without one"]
    interval = f" ({summary.low:.2f}–{summary.high:.2f})" if summary.low is not None else ""
    lines = [
        f"{summary.config} by {summary.rater}: {summary.n} graded, mean {summary.mean:.2f}{interval}"
        + (f", {format_count(summary.ungraded, 'row')} without a grade" if summary.ungraded else "")
    ]
    for label, share in summary.grades.items():
        lines.append(f"  {label}: {share.count} ({share.share:.0%}, {share.low:.0%}–{share.high:.0%})")
    if summary.failures:
        lines.append("  failures: " + ", ".join(f"{label} {count}" for label, count in summary.failures.items()))
    return lines


def _format_comparison(comparison: GradeComparison) -> list[str]:
    interval = f" ({comparison.low:+.2f} to {comparison.high:+.2f})" if comparison.low is not None else ""
    p_value = f", p {comparison.p_value:.3f}" if comparison.p_value is not None else ""
    counts = f"{comparison.better} better, {comparison.worse} worse, {comparison.same} the same"
    lines = [
        f"{comparison.first} → {comparison.second}: {comparison.n} in common, {counts}; "
        f"difference {comparison.difference:+.2f}{interval}{p_value}"
    ]
    lines += [f"  {change}" for change in comparison.changed[:MAX_LISTED]]
    return lines + _format_more(len(comparison.changed))


def _format_more(count: int) -> list[str]:
    return [f"  … and {count - MAX_LISTED} more"] if count > MAX_LISTED else []
