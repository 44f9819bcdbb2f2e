"""One side of a comparison from a run, from a committed baseline, or from what either is called on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.errors import InputError, Problem, shown
from assay.finding import Side
from assay.graders.catalog import DEFAULT_METRICS, parse
from assay.io.baselines import write_baseline
from assay.io.runfolder import read_manifest
from assay.report.figures import with_interval
from assay.report.safe import terminal
from assay.report.tables import Table
from assay.report.terminal import Screen, safe_table
from assay.scoring.measured import cluster_ids
from assay.scoring.snapshot import Snapshot, definition_of, judged_by
from assay.scoring.summary import summaries
from assay.version import __version__
from assay.workflow.attribute import attributions
from assay.workflow.runs import RunName, config_of, is_run, opened, split_run
from assay.workflow.saved import file_of, loaded
from assay.workflow.score import ScoreRun

_MADE_WITH = ("targets", "operations", "seed")


def snapshot(
    run: ScoreRun,
    config: str,
    name: str = "",
    made_with: Mapping[str, str] | None = None,
    *,
    attributed: bool = True,
) -> Snapshot:
    """Return one configuration of a scored run as a side of a comparison; `name` is what reports call it.

    `attributed`: with whose fault each case was, for which every observation is read again.
    """
    scoring = run.scoring
    result = scoring.configs[config]
    cases = run.golden.cases
    judge, rubrics = judged_by(run.judging)
    side = Side(
        name or config,
        config,
        scoring.golden.digest,
        len(cases),
        result.table.versions,
        judge,
        rubrics,
        stage=scoring.stages.get(config, ""),
        assay_version=scoring.assay_version or __version__,
        inputs=tuple(each for each in scoring.inputs if config in each.configs),
    )
    metrics = tuple(result.summary)
    return Snapshot(
        side,
        result.table,
        cases,
        metrics,
        {metric: definition_of(metric) for metric in metrics},
        attributions(run, config) if attributed else {},
        made_with or {},
        scoring.golden,
    )


def side_of(text: str, metrics: Sequence[str] = (), also: Sequence[str] = (), *, attributed: bool = True) -> Snapshot:
    """Return the side that `RUN`, `RUN:CONFIG` or a file of `assay baseline save` names.

    A run is scored again for `metrics`, for those of its manifest without them, and for `also`. Raises InputError where
    the text names none of these, or a run of several configurations.
    """
    if Path(text).is_file():
        return loaded(text)
    name = _run_of(text)
    manifest = read_manifest(name.path)
    with opened(name.path, metrics=_metrics(manifest, metrics, also)) as run:
        config = config_of(run, name)
        found = snapshot(run, config, text, _made_with(manifest, config), attributed=attributed)
    return replace(found, at=manifest.get("started_at"))


def sides_of(text: str, also: Sequence[str] = ()) -> list[Snapshot]:
    """Return the side, or the sides of all configurations where a run is named without one; nothing is attributed."""
    if Path(text).is_file():
        return [loaded(text)]
    name = _run_of(text)
    manifest = read_manifest(name.path)
    with opened(name.path, metrics=_metrics(manifest, (), also)) as run:
        configs = [config_of(run, name)] if name.config is not None else sorted(run.scoring.configs)
        found = [snapshot(run, config, attributed=False) for config in configs]
    return [replace(each, at=manifest.get("started_at")) for each in found]


def _run_of(text: str) -> RunName:
    if not is_run(text):
        message = "neither a run folder nor a baseline (expected RUN, RUN:CONFIG or a file of `assay baseline save`)"
        raise InputError([Problem(text, None, "", message, "E_SIDE")])
    return split_run(text)


def _metrics(manifest: Mapping[str, Any], metrics: Sequence[str], also: Sequence[str]) -> tuple[str, ...]:
    return (*(metrics or manifest.get("metrics") or DEFAULT_METRICS), *also)


def save(text: str, path: str) -> Path:
    """Write the configuration that `RUN` or `RUN:CONFIG` names as a baseline to commit."""
    return write_baseline(file_of(side_of(text)), path)


def described(path: str) -> Screen:
    """Return what a saved baseline says of itself, and its metrics with their counts, as a screen."""
    side = loaded(path)
    golden, found = (
        side.golden,
        summaries(side.table, [parse(name) for name in side.metrics], {}, cluster_ids(side.cases))[0],
    )
    named = " ".join(part for part in (golden.name, golden.version) if part) if golden is not None else ""
    lines = [
        f"{side.side.config_id}: {len(side.cases)} cases of {named or 'an unnamed golden set'}",
        f"golden set: {side.side.golden_digest}",
        f"judge: {side.side.judge or 'none'}; attributed cases: {len(side.attributions)}",
        *(f"{part}: {' and '.join(said)}" for part, said in sorted(side.side.versions.items())),
        *(f"{name}: {said}" for name, said in side.made_with.items()),
    ]
    rows = [(name, with_interval(summary)) for name, summary in found.items() if summary.scored]
    table = Table("Metrics", ("Metric", "Value"), tuple(rows))
    return Screen(tuple(terminal(line) for line in lines), (safe_table(table),), ())


def _made_with(manifest: Mapping[str, Any], config: str) -> dict[str, str]:
    """Return what the manifest of a run says of how one configuration was observed, flat."""
    told = {name: manifest[name] for name in _MADE_WITH if name in manifest}
    if isinstance(told.get("targets"), Mapping):
        told["target"] = told.pop("targets").get(config, {})
    return dict(sorted(_flat("", told)))


def _flat(at: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _flat(f"{at}.{name}" if at else str(name), part)
    else:
        yield at, value if isinstance(value, str) else shown(value)
