"""Scores recorded outputs a second time, with another judge, rubric or version of the rules, and lists what flips.

The target is not asked again, and neither is a judge: its verdicts must have been recorded (`assay judge`).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from assay.formats.run_files.run_folder import DERIVED_FOLDER, complete_run_request, parse_run_name
from assay.metrics.catalog import CATALOG, find_main_rubric, find_metric, parse_metric
from assay.metrics.metric import Metric, parse_metric_name
from assay.records.counts import format_count
from assay.records.errors import IncompleteError, InputError, Problem, shorten_repr
from assay.records.requests import InputOptions, ScoreRequest, ScoringOptions, VerdictOptions
from assay.report.exports.case_scores import iter_case_lines
from assay.runs.compare_runs import load_gate_with_baseline
from assay.runs.score_run import open_scored_run
from assay.scoring.scored_run import ScoredRun
from assay.scoring.slices import find_slices

CASES_FILE = "cases.jsonl"
SHIPPED = "shipped"
"""The value of `rubrics` that means the shipped ones alone."""
CHANGES = ("verdicts", "judge", "rubrics", "calibration", "labels", "lexicons", "rules")
CURRENT_RULES = "rules=current"

FlipKind = Literal[
    "pass → fail", "fail → pass", "scored → unscored", "unscored → scored", "open → decided", "decided → open"
]
Scores = dict[str, float | None]
"""The scores of one case by metric; None where there is none."""


class RegradeRequest(NamedTuple):
    """The run to score a second time, what is different then, and the metrics; without them those of the run.

    `changes` are `KEY=VALUE`: `verdicts=FILE`, `judge=NAME`, `rubrics=DIR` (or `shipped`), `calibration=FILE`,
    `labels=FILE`, `lexicons=FILE`, or `rules=current`: the saved scores of the run are compared with those by the rules
    of today.
    `by` are the keys of the categories by which flips are counted.
    """

    run: str
    changes: Sequence[str]
    metrics: Sequence[str] | None = None
    by: Sequence[str] | None = None


class Flip(Struct, frozen=True):
    """A case whose score passes on one side and not on the other, or exists on one side only.

    `settled` says who decided about it, on the second side or else on the first; "" if the scorer did.
    """

    case_id: str
    kind: FlipKind
    before: float | None
    after: float | None
    categories: tuple[str, ...] = ()
    settled: str = ""


class MetricRegrade(Struct, frozen=True):
    """One metric of one configuration, scored twice: the means over the cases scored on both sides, and the flips.

    `kinds` counts the flips, and `by_category` the flips of each category with the number of its cases.
    """

    config: str
    metric: str
    n: int
    before: float | None
    after: float | None
    changed: int
    kinds: dict[str, int]
    by_category: dict[str, tuple[int, int]]
    flips: tuple[Flip, ...]


class Regrade(Struct, frozen=True):
    """A run scored twice. `metrics` are those of which any case changed, `unchanged` the names of the others.

    `absent_rubrics` are those of the run that the second side does not have: their metrics are left out of it.
    """

    run: str
    first: str
    second: str
    metrics: tuple[MetricRegrade, ...]
    unchanged: tuple[str, ...]
    only_once: tuple[str, ...]
    absent_rubrics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Side:
    """The scores of all cases by configuration and case, and by whom people settled them, as far as they did."""

    name: str
    scores: dict[str, dict[str, Scores]]
    settled: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)


def regrade_run(request: RegradeRequest) -> Regrade:
    """Score a run a second time with the changes and compare case by case.

    Rubrics of the run that the second side does not have are left out and named. Raises InputError for a run or a
    change that cannot be read, IncompleteError if nothing is scored the second time that was scored the first, because
    no verdicts of that judge on those rubrics are recorded or the rubrics are not there.
    """
    changes = _parse_changes(request.changes)
    base = complete_run_request(
        ScoreRequest(InputOptions(run=request.run), scoring=ScoringOptions(metrics=request.metrics))
    )
    changed = _apply_changes(base, changes)
    names = ", ".join(f"{key}={value}" for key, value in changes.items())
    with ExitStack() as stack:
        if "rules" in changes:
            first = _read_saved_scores(parse_run_name(request.run).path)
        else:
            loaded = stack.enter_context(open_scored_run(base, loaded_gate=load_gate_with_baseline(base)))
            first = _collect_scores("the run as it is", loaded)
        run = stack.enter_context(open_scored_run(changed, loaded_gate=load_gate_with_baseline(changed)))
        if {"judge", "verdicts"} & changes.keys():
            _refuse_invalid_judge(run)
        second = _collect_scores(f"with {names}", run)
        categories = _find_categories(run, request.by)
        absent = run.judging.absent_rubrics if run.judging is not None else ()
        if absent and run.judging is not None and not run.judging.rubrics_with_verdicts:
            raise IncompleteError(f"no verdict to compare: {_describe_absent_rubrics(absent)}")
    return replace(_compare_sides(request.run, first, second, categories), absent_rubrics=absent)


def _refuse_invalid_judge(run: ScoredRun) -> None:
    """Raise IncompleteError if the verdicts that a run is to be scored with are of a judge that failed its controls."""
    judging = run.judging
    if judging is not None and judging.failure:
        message = (
            f"judge {judging.model} is INVALID: it failed its controls or anchors ({judging.failure}), so none of its "
            "recorded verdicts gives a number; asking for more makes no call (expected another judge)"
        )
        raise IncompleteError(message)


def _parse_changes(changes: Sequence[str]) -> dict[str, str]:
    parsed: dict[str, str] = {}
    problems = []
    for change in changes:
        key, separator, value = change.partition("=")
        if key not in CHANGES or not separator or not value:
            expected = ", ".join(f"{name}=…" for name in CHANGES)
            message = f"not a change (got {shorten_repr(change)}; expected one of {expected})"
            problems.append(Problem("", None, "--with", message, "E_OPTION"))
        elif key == "rules" and change != CURRENT_RULES:
            message = (
                f"only the rules of this version can be used (got {shorten_repr(change)}; expected {CURRENT_RULES})"
            )
            problems.append(Problem("", None, "--with", message, "E_OPTION"))
        parsed[key] = value
    if not changes:
        problems.append(Problem("", None, "--with", f"missing (expected one of {', '.join(CHANGES)})", "E_OPTION"))
    if problems:
        raise InputError(problems)
    return parsed


def _apply_changes(base: ScoreRequest, changes: Mapping[str, str]) -> ScoreRequest:
    """Return the request with other verdicts, judge, rubrics, calibration, labels or lexicons."""
    verdicts = base.verdicts
    if "verdicts" in changes:  # a judge of the run's own verdicts is not one of others
        verdicts = VerdictOptions(changes["verdicts"], None, verdicts.calibration, verdicts.rubrics, judged=True)
    if "judge" in changes:
        verdicts = replace(verdicts, judge=changes["judge"], judged=True)
    if "rubrics" in changes:
        verdicts = replace(verdicts, rubrics=() if changes["rubrics"] == SHIPPED else (changes["rubrics"],))
    if "calibration" in changes:
        verdicts = replace(verdicts, calibration=changes["calibration"])
    scoring = base.scoring
    if "labels" in changes:
        scoring = replace(scoring, labels=(changes["labels"],))
    if "lexicons" in changes:
        scoring = replace(scoring, lexicons=(changes["lexicons"],))
    return replace(base, verdicts=verdicts, scoring=scoring)


def _collect_scores(name: str, run: ScoredRun) -> _Side:
    side = _Side(name, {})
    for config, result in run.scoring.configs.items():
        for line in iter_case_lines(result.table):
            _add_row(side, config, json.loads(line))
    return side


def _read_saved_scores(folder: Path) -> _Side:
    """Return the scores that a run folder was saved with. Raises InputError if there are none."""
    path = folder / DERIVED_FOLDER / CASES_FILE
    if not path.is_file():
        message = "does not exist (expected the scores that were saved with the run)"
        raise InputError([Problem(str(path), None, "", message, "E_NO_FILE")])
    rows = [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
    side = _Side("the scores saved with the run", {})
    for row in rows:
        _add_row(side, row["config_id"], row)
    return side


def _add_row(side: _Side, config: str, row: Mapping[str, Any]) -> None:
    side.scores.setdefault(config, {})[row["case_id"]] = row["scores"]
    side.settled.setdefault(config, {})[row["case_id"]] = row.get("settled", {})


def _find_categories(run: ScoredRun, by: Sequence[str] | None) -> dict[str, tuple[str, ...]]:
    """Return the names of the slices that each case is in."""
    cases = run.golden.cases
    categories: dict[str, list[str]] = {case.id: [] for case in cases}
    for name, rows in find_slices(cases, by).items():
        for row in rows.tolist():
            categories[cases[row].id].append(name)
    return {case_id: tuple(names) for case_id, names in categories.items()}


def _compare_sides(run: str, first: _Side, second: _Side, categories: Mapping[str, tuple[str, ...]]) -> Regrade:
    results: list[MetricRegrade] = []
    unchanged: dict[str, None] = {}
    only_once: dict[str, None] = {}
    for config in sorted(first.scores.keys() & second.scores.keys()):
        before, after = first.scores[config], second.scores[config]
        for metric in sorted(_list_metrics(before) ^ _list_metrics(after)):
            only_once[metric] = None
        for metric in sorted(_list_metrics(before) & _list_metrics(after)):
            if parse_metric_name(metric).base not in CATALOG:
                continue
            result = _compare_metric(config, metric, first, second, categories)
            if result.changed:
                results.append(result)
            else:
                unchanged[metric] = None
    _refuse_lost_verdicts(results)
    shown = {result.metric for result in results}
    return Regrade(
        run,
        first.name,
        second.name,
        tuple(results),
        tuple(name for name in unchanged if name not in shown),
        tuple(only_once),
    )


def _refuse_lost_verdicts(results: Sequence[MetricRegrade]) -> None:
    """Raise IncompleteError where the second side only lost scores: the verdicts answer another rubric or judge."""
    judged = []
    for result in results:
        name = parse_metric(result.metric)
        if name.key_value("by", "rules") == "judge" and find_main_rubric(name.base):
            judged.append(result)
    if judged and all(map(_is_lost, judged)):
        message = (
            "no verdict of this judge on these rubrics is recorded (ask for them first: assay judge --run RUN with the "
            "same judge and --rubrics, and --store for a verdict store of their own)"
        )
        raise IncompleteError(message)


def _is_lost(result: MetricRegrade) -> bool:
    return not result.n and set(result.kinds) == {"scored → unscored"}


def _list_metrics(scores: Mapping[str, Scores]) -> set[str]:
    return {metric for case_scores in scores.values() for metric in case_scores}


def _compare_metric(
    config: str,
    metric: str,
    first: _Side,
    second: _Side,
    categories: Mapping[str, tuple[str, ...]],
) -> MetricRegrade:
    before, after = first.scores[config], second.scores[config]
    row = find_metric(parse_metric(metric))
    flips: list[Flip] = []
    pairs: list[tuple[float, float]] = []
    changed = 0
    for case_id in before:
        old, new = before[case_id].get(metric), after.get(case_id, {}).get(metric)
        if old is not None and new is not None:
            pairs.append((old, new))
        changed += old != new
        kind = _find_flip(row, old, new)
        if kind is not None:
            settled = _find_settled(second, config, case_id, metric) or _find_settled(first, config, case_id, metric)
            flips.append(Flip(case_id, kind, old, new, categories.get(case_id, ()), settled))
    sizes = Counter(name for case_id in before for name in categories.get(case_id, ()))
    flipped = Counter(name for flip in flips for name in flip.categories)
    kinds = Counter[str](flip.kind for flip in flips)
    return MetricRegrade(
        config,
        metric,
        len(pairs),
        math.fsum(old for old, _ in pairs) / len(pairs) if pairs else None,
        math.fsum(new for _, new in pairs) / len(pairs) if pairs else None,
        changed,
        dict(sorted(kinds.items())),
        {name: (count, sizes[name]) for name, count in sorted(flipped.items(), key=lambda item: (-item[1], item[0]))},
        tuple(flips),
    )


def _find_settled(side: _Side, config: str, case_id: str, metric: str) -> str:
    """Return who settled a score on a side, "" if nobody did."""
    return side.settled[config].get(case_id, {}).get(metric, "")


def _find_flip(row: Metric, old: float | None, new: float | None) -> FlipKind | None:
    if row.counts_open and old != new:
        return "open → decided" if old else "decided → open"
    if (old is None) != (new is None):
        return "unscored → scored" if old is None else "scored → unscored"
    if old is None or new is None or _passes(row, old) == _passes(row, new):
        return None
    return "fail → pass" if _passes(row, new) else "pass → fail"


def _passes(row: Metric, value: float) -> bool:
    """Whether a score is good: above the middle of its range, for counts none at all; of a neutral metric, the same."""
    if not math.isfinite(row.high):
        return value == row.low if row.direction == "lower" else value > row.low
    middle = (row.low + row.high) / 2
    return value < middle if row.direction == "lower" else value > middle


# ── as text ──────────────────────────────────────────────────────────────────────────────────────────────────────

MAX_CASES = 10
MAX_CATEGORIES = 8


def format_regrade(regrade: Regrade) -> Iterator[str]:
    """Yield the lines for the screen: a block for each metric that changed, with its flips by category."""
    yield f"{regrade.run}: {regrade.first}, and {regrade.second}"
    for result in regrade.metrics:
        yield from _format_metric(result)
    if not regrade.metrics:
        yield "no score changed"
    yield f"{format_count(len(regrade.unchanged), 'metric is', 'metrics are')} the same for every case"
    if regrade.only_once:
        yield f"scored on one side only: {', '.join(regrade.only_once)}"
    if regrade.absent_rubrics:
        yield _describe_absent_rubrics(regrade.absent_rubrics)


def _describe_absent_rubrics(absent: Sequence[str]) -> str:
    names = ", ".join(absent)
    return f"left out the second time, for want of the rubric: {names} (expected rubrics=DIR with a wording of it)"


def _format_metric(result: MetricRegrade) -> Iterator[str]:
    """Yield the lines of a metric of which some score changed.

    >>> print(*_format_metric(MetricRegrade("a", "keywords", 9, 0.5, 0.5, 2, {}, {}, ())))
    a keywords: 0.500 → 0.500, equal on average (n 9), 2 scores differ; nothing flips
    """
    means = f"{result.before:.3f} → {result.after:.3f}" if result.before is not None else "never scored on both sides"
    if result.changed and result.before is not None and f"{result.before:.3f}" == f"{result.after:.3f}":
        means += ", equal on average"
    kinds = ", ".join(f"{kind} {count}" for kind, count in result.kinds.items()) or "nothing flips"
    yield (
        f"{result.config} {result.metric}: {means} (n {result.n}), "
        f"{format_count(result.changed, 'score differs', 'scores differ')}; {kinds}"
    )
    if result.by_category:
        shares = [f"{name} {count} of {size}" for name, (count, size) in result.by_category.items()]
        more = f" … and {len(shares) - MAX_CATEGORIES} more" if len(shares) > MAX_CATEGORIES else ""
        yield f"  by category: {', '.join(shares[:MAX_CATEGORIES])}{more}"
    for kind in result.kinds:
        cases = [_describe_flip(flip) for flip in result.flips if flip.kind == kind]
        more = f" … and {len(cases) - MAX_CASES} more" if len(cases) > MAX_CASES else ""
        yield f"  {kind}: {', '.join(cases[:MAX_CASES])}{more}"


def _describe_flip(flip: Flip) -> str:
    """Return the case of a flip, with a score that there was not before, and who settled it."""
    parts = [f"{flip.after:.3g}"] if flip.kind == "unscored → scored" else []
    parts += [flip.settled] if flip.settled else []
    return f"{flip.case_id} ({', '.join(parts)})" if parts else flip.case_id
