"""The use cases of `assay history`: what the registered runs tell, and the promotion of a run to the baseline.

Runs are read from their registries (ADR 0078), values of cases from the folders that are still as they were registered.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import NamedTuple

import msgspec

from assay.audit.commands import list_findings
from assay.comparison.baseline_file import read_baseline
from assay.formats.file_io import open_file, write_atomically
from assay.formats.golden_files import load_golden
from assay.formats.problems import parse_time
from assay.formats.run_files.registry_file import (
    REGISTRY_FILE,
    RegisteredValue,
    RegistryEntry,
    append_registry_entry,
    read_registry,
)
from assay.formats.run_files.run_folder import (
    DERIVED_FOLDER,
    GOLDEN_FILE,
    compute_file_sha256,
    parse_run_name,
    read_manifest,
)
from assay.metrics.catalog import parse_metrics
from assay.records.counts import format_count
from assay.records.errors import AssayError, InputError, Problem, shorten_repr
from assay.records.golden_set import Case
from assay.records.series import SeriesPoint
from assay.report.findings.table import Table
from assay.report.wording.metric_titles import format_metric_title
from assay.report.wording.number_format import format_number
from assay.runs.compare_runs import save_baseline
from assay.runs.list_runs import SEARCH_DEPTH, iterate_files_below
from assay.runs.register_run import register_run
from assay.runs.saved_scores import CASES_FILE, SavedScores, load_saved_scores
from assay.scoring.case_content import digest_case_content
from assay.scoring.saved_results import SavedSummary, SavedUnknown
from assay.scoring.slices import find_slices
from assay.text.escaping import escape_csv_cell
from assay.trends.case_outcome_series import HistoryRun, find_failing_cases, find_flapping_cases, list_version_steps
from assay.trends.history_results import BaselinePromotion, CauseCount, ChangeFinding, IncidentCounts, RunHistory
from assay.trends.run_trends import FALSE_DISCOVERY_RATE, analyse_trends, describe_change

BASELINE_NAME = "baseline.json"
LAST_RUNS = 50
ALL_METRICS = "all"
HISTORY_METRICS = (
    "failed",
    "correct_answer",
    "correctness(by=judge)",
    "faithfulness(by=judge)",
    "faithfulness(by=rules)",
    "citation_correctness(by=rules)",
    "recall@10",
    "ndcg@10",
    "context_recall",
    "behaviour",
    "refusal_rate",
    "visibility_leaks",
    "error_rate",
    "latency_ms",
    "cost_usd",
)
"""The metrics of which a history is shown unless others are named; those that no run measured are left out."""


@dataclass(frozen=True)
class HistoryRequest:
    """What to tell: the registries in a folder and below it, and which metrics, slices and configurations.

    `metrics` are names, `all`, or nothing for the usual ones; `by` the keys of slices. `last` is the number of runs of
    each configuration that are looked at. `store` is an audit store and `incidents` are incident files, of which the
    findings are counted. `made_at`, ISO 8601, dates the page.
    """

    folder: str
    made_at: str
    metrics: Sequence[str] = ()
    by: Sequence[str] = ()
    configs: Sequence[str] = ()
    last: int = LAST_RUNS
    store: str | None = None
    incidents: Sequence[str] = ()
    title: str = "History of runs"


@dataclass
class _Loading:
    """What is read on the way: sentences for the reader, and golden sets by digest, which runs share."""

    notes: list[str] = field(default_factory=list)
    golden_cases: dict[str, tuple[Case, ...]] = field(default_factory=dict)


class _RegisteredRun(NamedTuple):
    label: str
    folder: Path
    entry: RegistryEntry


def load_history(request: HistoryRequest) -> RunHistory:
    """Return the history of the runs that are registered in a folder or below it.

    Raises InputError if there is no registry, for an unknown metric or slice, and for incidents that cannot be read. A
    run folder that is gone, or was scored again since, is said in the notes.
    """
    loading = _Loading()
    registered, promotions = _read_registries(request, loading)
    by_config = _load_runs(registered, request, loading)
    metrics = _choose_metrics(request.metrics, by_config)
    slices: list[str | None] = [None, *_list_slices(by_config, request.by)]
    analysis = analyse_trends(by_config, metrics, slices)
    notes = [*loading.notes, *_explain_tests(analysis.tested, analysis.changes, by_config)]
    return RunHistory(
        "trend",
        request.title,
        request.made_at,
        tuple(analysis.series),
        tuple(analysis.changes),
        analysis.tested,
        tuple(case for runs in by_config.values() for case in find_flapping_cases(runs)),
        tuple(case for runs in by_config.values() for case in find_failing_cases(runs)),
        tuple(
            sorted(
                (step for runs in by_config.values() for step in list_version_steps(runs)),
                key=lambda step: parse_time(step.at),
            )
        ),
        tuple(promotions),
        count_incidents(request.store, request.incidents),
        tuple(notes),
    )


def history(
    folder: str | Path = ".",
    *,
    made_at: str,
    metrics: Sequence[str] = (),
    by: Sequence[str] = (),
    configs: Sequence[str] = (),
    last: int = LAST_RUNS,
    store: str | None = None,
    incidents: Sequence[str] = (),
) -> RunHistory:
    """Return what the runs that are registered in a folder or below it tell over time, as `assay history` does.

    `made_at`, ISO 8601, is the time at which the history is made; the other arguments are those of the command. Raises
    InputError as `load_history` does.
    """
    return load_history(HistoryRequest(str(folder), made_at, metrics, by, configs, last, store, incidents))


def add_runs(names: Sequence[str], now: str | None = None) -> list[Path]:
    """Register run folders that are not yet, and return the registries.

    A run that does not say when it was started is dated by `now`, else by its saved scores. Raises InputError for what
    is no scored run folder; then none is registered.
    """
    folders = [parse_run_name(name).path for name in names]
    problems: list[Problem] = []
    for folder in folders:
        try:
            load_saved_scores(folder)
            read_manifest(folder)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return [register_run(folder, now or _date_scores(folder)) for folder in folders]


def promote_run(name: str, now: str, out: str | None = None) -> Path:
    """Make a run the baseline: save its scores as a file next to it, note it in the registry, and return the file.

    `out` is the file (default: `baseline.json` next to the run folder); a baseline that is there is replaced. Raises
    InputError if the name is no run, or names one of several configurations without choosing.
    """
    run = parse_run_name(name)
    manifest = read_manifest(run.path)
    folder = run.path.resolve()
    path = Path(out) if out is not None else folder.parent / BASELINE_NAME
    if path.is_dir() or (path.exists() and path.resolve().is_relative_to(folder)):
        message = "not a file to write a baseline to (expected a file outside the run folder)"
        raise InputError([Problem(str(path), None, "", message, "E_PATH")])
    if path.exists():
        _require_baseline(path)
    saved = save_baseline(name, str(path))
    configs = manifest.get("configs") or [""]
    config = run.config if run.config is not None else str(configs[0])
    append_registry_entry(folder.parent, RegistryEntry("promotion", folder.name, now, config=config, file=saved.name))
    return saved


def _require_baseline(path: Path) -> None:
    """Raise InputError for a file that is no baseline: a promotion must not replace anything else."""
    read_baseline(str(path))


def encode_history(run_history: RunHistory) -> bytes:
    """Return the history as indented JSON, ending in a newline."""
    return msgspec.json.format(msgspec.json.encode(run_history)) + b"\n"


def write_history_csv(run_history: RunHistory, path: str) -> Path:
    """Write one line for each point of each series, and return the path."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = ("metric", "series", "configuration", "slice", "at", "run", "value", "low", "high", "n", "reason")
    writer.writerow(columns)
    for series in run_history.series:
        for point in series.points:
            numbers = ["" if number is None else repr(number) for number in (point.value, point.low, point.high)]
            texts = (series.key, series.name, series.configuration or "", series.slice or "", point.at, point.run or "")
            writer.writerow([*map(escape_csv_cell, texts), *numbers, str(point.n), escape_csv_cell(point.reason)])
    return write_atomically(path, [text.getvalue().encode()], is_shared=True)


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _date_scores(folder: Path) -> str:
    written = (folder / DERIVED_FOLDER / CASES_FILE).stat().st_mtime
    return datetime.fromtimestamp(written, UTC).isoformat(timespec="seconds")


def _read_registries(
    request: HistoryRequest, loading: _Loading
) -> tuple[list[_RegisteredRun], list[BaselinePromotion]]:
    """Return the registered runs in the order of time, each once, and the promotions."""
    folder = Path(request.folder)
    if not folder.is_dir():
        raise InputError([Problem(str(folder), None, "", "no such folder (expected one with runs)", "E_PATH")])
    paths = list(iterate_files_below(folder, SEARCH_DEPTH, REGISTRY_FILE))
    if not paths:
        message = (
            f"no history here or below (expected {REGISTRY_FILE}, which `assay run`, `assay score --run-dir` and "
            f"`assay history add RUN` write)"
        )
        raise InputError([Problem(str(folder), None, "", message, "E_HISTORY")])
    latest: dict[tuple[str, str], _RegisteredRun] = {}
    registered_scores: set[tuple[str, str]] = set()
    promotions = []
    for path in paths:
        registry = read_registry(path)
        loading.notes += registry.notes
        for entry in registry.entries:
            run_folder = path.parent / entry.run
            label = str(run_folder.relative_to(folder)) if run_folder.is_relative_to(folder) else str(run_folder)
            if entry.kind == "promotion":
                promotions.append(BaselinePromotion(entry.at, label, entry.config, entry.file))
            elif entry.partial:
                loading.notes.append(f"{label}: only some cases were asked, so that it is not part of the history")
            elif (str(run_folder), entry.scores) not in registered_scores:
                registered_scores.add((str(run_folder), entry.scores))
                latest[(str(run_folder), entry.at)] = _RegisteredRun(label, run_folder, entry)
    runs = sorted(latest.values(), key=lambda run: parse_time(run.entry.at))
    return runs, sorted(promotions, key=lambda promotion: parse_time(promotion.at))


def _load_runs(
    registered: Sequence[_RegisteredRun], request: HistoryRequest, loading: _Loading
) -> dict[str, list[HistoryRun]]:
    """Return the last runs of each configuration, in the order of time."""
    configs = sorted({config for run in registered for config in run.entry.configs})
    unknown = sorted(set(request.configs) - set(configs))
    if unknown:
        raise InputError(f"--config: never run (got {', '.join(unknown)}; expected one of {', '.join(configs)})")
    scores: dict[str, SavedScores | None] = {}
    by_config: dict[str, list[HistoryRun]] = {}
    for config in request.configs or configs:
        members = [run for run in registered if config in run.entry.configs]
        if len(members) > request.last:
            left_out = format_count(len(members) - request.last, "older run")
            loading.notes.append(f"{config}: {left_out} left out (see --last)")
        by_config[config] = [_make_run(run, config, scores, loading) for run in members[-request.last :]]
    return by_config


def _make_run(run: _RegisteredRun, config: str, scores: dict[str, SavedScores | None], loading: _Loading) -> HistoryRun:
    """Return one configuration of a run, with the scores of its cases if its folder is still as it was registered."""
    key = f"{run.folder}\0{run.entry.at}"
    if key not in scores:
        scores[key] = _load_scores(run, loading)
    registered = run.entry.configs[config]
    versions = dict(registered.versions)
    if run.entry.assay_version:
        versions["assay"] = run.entry.assay_version
    saved = scores[key]
    if saved is None or config not in saved.report.configs:
        summary = {name: _restore_summary(value) for name, value in registered.values.items()}
        return HistoryRun(run.label, run.entry.at, config, run.entry.golden, versions, summary)
    cases = loading.golden_cases[run.entry.golden]
    return HistoryRun(
        run.label,
        run.entry.at,
        config,
        run.entry.golden,
        versions,
        saved.report.configs[config].summary,
        saved.report.configs[config].slices,
        {case.case_id: case for case in saved.cases if case.config_id == config},
        cases,
        {case.id: digest_case_content(case) for case in cases},
    )


def _restore_summary(registered: RegisteredValue) -> SavedSummary:
    unknown = None if registered.unknown is None else SavedUnknown(*registered.unknown)
    return SavedSummary(registered.value, registered.low, registered.high, registered.n, unknown)


def _load_scores(run: _RegisteredRun, loading: _Loading) -> SavedScores | None:
    """Return the scores in a run folder; None, with a note, if it is gone, was scored again, or cannot be read."""
    kept = "its means are shown as they were registered, its cases are not compared"
    if not run.folder.is_dir():
        loading.notes.append(f"{run.label}: the run folder is gone or was moved; {kept}")
        return None
    try:
        if compute_file_sha256(run.folder / DERIVED_FOLDER / CASES_FILE) != run.entry.scores:
            loading.notes.append(f"{run.label}: scored again since it was registered at {run.entry.at}; {kept}")
            return None
        saved = load_saved_scores(run.folder)
        if run.entry.golden not in loading.golden_cases:
            golden = load_golden(run.folder / GOLDEN_FILE, "assay")
            if golden.digest != run.entry.golden:
                loading.notes.append(f"{run.label}: its golden set was edited; {kept}")
                return None
            loading.golden_cases[run.entry.golden] = golden.golden.cases
        return saved
    except (AssayError, OSError) as error:
        reason = str(error).split("\n", 1)[0]
        loading.notes.append(f"{run.label}: {reason}; {kept}")
        return None


def _choose_metrics(names: Sequence[str], by_config: dict[str, list[HistoryRun]]) -> list[str]:
    """Return the metrics that any run measured, of those that are asked for."""
    measured = {
        name
        for runs in by_config.values()
        for run in runs
        for name, summary in run.summary.items()
        if summary.value is not None or summary.unknown is not None
    }
    if list(names) == [ALL_METRICS]:
        return sorted(measured)
    if not names:
        return [name for name in HISTORY_METRICS if name in measured]
    wanted = [str(name) for name in parse_metrics([name for name in names if name not in measured])]
    wanted = [*(name for name in names if name in measured), *wanted]
    missing = [name for name in wanted if name not in measured]
    if missing:
        raise InputError(f"--metrics: measured by no run (got {', '.join(missing)}; see `--metrics all`)")
    return list(dict.fromkeys(wanted))


def _list_slices(by_config: dict[str, list[HistoryRun]], keys: Sequence[str]) -> list[str]:
    """Return the slices by some keys that any run has, sorted. Raises InputError for a key that no case has."""
    if not keys:
        return []
    names: set[str] = set()
    for runs in by_config.values():
        for run in runs:
            if run.golden_cases is not None:
                names |= set(find_slices(run.golden_cases, keys))
    if not names:
        raise InputError(f"--by: no case has such a slice (got {shorten_repr(', '.join(keys))})")
    return sorted(names)


def _explain_tests(tested: int, changes: Sequence[ChangeFinding], by_config: dict[str, list[HistoryRun]]) -> list[str]:
    """Return what the tests for changes could and could not tell."""
    if not tested:
        fewest = max((sum(run.cases is not None for run in runs) for runs in by_config.values()), default=0)
        reason = (
            f"the longest series has {format_count(fewest, 'run')} whose cases can be compared"
            if fewest < 2
            else "no two runs differ on the cases that they share"
        )
        return [f"no series was tested for a change: {reason}"]
    changed = {(change.configuration, change.metric, change.slice) for change in changes}
    outcome = f"{tested} series tested for a change, {format_count(len(changes), 'change')} found"
    if changes:
        outcome += f" in {len(changed)} of them: of those {len(changed)},"
    else:
        outcome += "; of series with a change,"
    return [
        f"{outcome} at most {FALSE_DISCOVERY_RATE:.0%} are expected to have none (permutation within cases, "
        f"Benjamini–Hochberg). A change is dated by the run after it; a run in which many cases moved at once, such as "
        f"an outage, counts as one"
    ]


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────

MAX_LISTED_CASES = 15
_LAST_POINTS = 3


def build_history_tables(run_history: RunHistory) -> list[Table]:
    """Return the history as tables: the last values, changes, versions, cases, promotions and incidents."""
    tables = [_build_series_table(run_history)]
    changes = tuple(
        (
            change.configuration,
            format_metric_title(change.metric),
            change.slice or "all",
            change.at,
            describe_change(change),
        )
        for change in run_history.changes
    )
    tables.append(Table("Changes", ("Configuration", "Metric", "Cases", "From", "What"), changes))
    versions = tuple(
        (step.at, step.run, step.configuration, item.name, item.before or "not recorded", item.after or "not recorded")
        for step in run_history.versions
        for item in step.changed
    )
    tables.append(Table("Versions", ("At", "Run", "Configuration", "What", "Before", "After"), versions))
    tables += _build_case_tables(run_history)
    promotions = tuple((row.at, row.run, row.configuration, row.file) for row in run_history.promotions)
    tables.append(Table("Baselines", ("Promoted at", "Run", "Configuration", "File"), promotions))
    incidents = run_history.incidents
    causes = tuple((cause.cause, str(cause.count)) for cause in incidents.by_cause)
    if incidents.open is not None:
        causes = (("open, without a finding", str(incidents.open)), ("closed", str(incidents.closed)), *causes)
    tables.append(Table("Incidents", ("Cause", "Incidents"), causes))
    return [table for table in tables if table.rows]


def _build_series_table(run_history: RunHistory) -> Table:
    rows = []
    for series in run_history.series:
        shown = series.points[-_LAST_POINTS:]
        values = " → ".join(_format_point(point, series.key) for point in shown)
        last = shown[-1]
        bounds = last.low, last.high
        interval = " … ".join(format_number(bound, series.key) for bound in bounds) if None not in bounds else ""
        rows.append(
            (
                series.configuration or "",
                f"{series.name} ({series.key})",
                series.slice or "all",
                str(len(series.points)),
                values,
                interval,
            )
        )
    columns = ("Configuration", "Metric", "Cases", "Runs", f"Last {_LAST_POINTS} values", "95% interval of the last")
    return Table("Metrics over runs", columns, tuple(rows))


def _format_point(point: SeriesPoint, metric: str) -> str:
    if point.open_range is None:
        return format_number(point.value, metric)
    return "–".join(format_number(bound, metric) for bound in point.open_range)


def _build_case_tables(run_history: RunHistory) -> list[Table]:
    flapping = tuple(
        (case.configuration, case.case_id, case.outcomes[-40:], str(case.changes), str(case.changes_without_version))
        for case in run_history.flapping[:MAX_LISTED_CASES]
    )
    failing = tuple(
        (
            case.configuration,
            case.case_id,
            case.outcomes[-40:],
            case.last_passed or "never",
            str(case.runs_since_pass) if case.last_passed else "all",
            str(case.outcomes.count("F")),
        )
        for case in run_history.failing[:MAX_LISTED_CASES]
    )
    columns = ("Configuration", "Case", "Outcomes, oldest first")
    return [
        Table(
            "Cases that go back and forth",
            (*columns, "Changes", "with the same versions"),
            flapping,
            _count_unlisted(len(run_history.flapping)),
        ),
        Table(
            "Cases that fail now, by the time since they last passed",
            (*columns, "Last passed", "Runs since then", "Runs that it failed"),
            failing,
            _count_unlisted(len(run_history.failing)),
        ),
    ]


def _count_unlisted(count: int) -> tuple[str, ...]:
    more = count - MAX_LISTED_CASES
    return (f"{more} more; `--format json` lists all",) if more > 0 else ()


MAX_INCIDENT_BYTES = 64 * 2**20
FINDING_COLUMNS = 4
_TITLE = re.compile(r"^# Incident (.+)$", re.MULTILINE)
_FINDINGS_HEADING = "\n## Findings\n"
_CELL_END = re.compile(r"(?<!\\)\|")


def count_incidents(store: str | None, files: Sequence[str]) -> IncidentCounts:
    """Return the incidents of an audit store and of incident files in Markdown, each counted once by its answer.

    An answer of the store with a finding is closed, under the cause of its last finding. A file is closed if a row of
    its findings has cause, owner, decision and date, else open. Raises InputError for a file that is no incident.
    """
    if store is None and not files:
        return IncidentCounts(None, None, (), "no audit store or incident files were named (--store, --incidents)")
    causes: dict[str, str | None] = {}
    for path in files:
        answer_id, cause = read_incident_finding(Path(path))
        causes[answer_id] = cause or causes.get(answer_id)
    if store is not None:
        causes |= {finding.answer_id: finding.cause for finding in list_findings(store)}
    counted = Counter(cause for cause in causes.values() if cause is not None)
    by_cause = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    closed = sum(counted.values())
    return IncidentCounts(len(causes) - closed, closed, tuple(CauseCount(*item) for item in by_cause))


def read_incident_finding(path: Path) -> tuple[str, str | None]:
    """Return the id of the answer in an incident file of `assay audit show --file`, and the cause of its last finding.

    The cause is None while no row is filled in. Raises InputError for another file.
    """
    with open_file(path) as file:
        content = file.read(MAX_INCIDENT_BYTES + 1)
    if len(content) > MAX_INCIDENT_BYTES:
        raise _refuse(path, f"larger than {MAX_INCIDENT_BYTES} bytes")
    try:
        text = content.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise _refuse(path, f"not UTF-8 (byte {error.start})") from None
    title = _TITLE.match(text)
    _, heading, findings = text.rpartition(_FINDINGS_HEADING)
    if title is None or not heading:
        raise _refuse(path, "not an incident in Markdown")
    cause = None
    for cells in _iterate_rows(findings.partition("\n## ")[0]):
        cause = cells[0]
    return unescape(title[1].strip()), cause


def _iterate_rows(table: str) -> Iterator[list[str]]:
    """Yield the rows of the findings of which every cell is filled in."""
    rows = [line.strip() for line in table.splitlines() if line.strip().startswith("|")]
    for row in rows[2:]:
        cells = [unescape(cell.replace("\\|", "|")).strip() for cell in _CELL_END.split(row.strip("|"))]
        if len(cells) == FINDING_COLUMNS and all(cells):
            yield cells


def _refuse(path: Path, fault: str) -> InputError:
    message = f"{fault} (expected a file of `assay audit show ID --file FILE.md`, with its table of findings)"
    return InputError([Problem(str(path), None, "", message, "E_FORMAT")])
