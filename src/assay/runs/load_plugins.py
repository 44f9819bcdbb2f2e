"""Plugins that are not found by their names: metrics at an import path, and those that a run folder remembers.

An import path comes from the command line or a settings file, which may import modules (ADR 13). A run folder is data
that may come from elsewhere: its paths are imported only with consent.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from assay.calls.plugins import ALLOW_EXEC_VARIABLE, enable_plugins, make_path_plugin
from assay.gates.gate_files import load_requested_gate
from assay.judging.rubric_files import use_rubrics
from assay.metrics.catalog import CATALOG
from assay.metrics.metric import parse_metric_name, split_metric_names
from assay.records.errors import PluginError, Problem
from assay.records.release_gates import Gate
from assay.records.requests import ScoreRequest
from assay.text.late_pattern import LatePattern

_PATH = LatePattern(r"(?P<path>[A-Za-z_][\w.]*:[A-Za-z_]\w*)(?P<rest>.*)")


def load_metric_paths(metrics: Iterable[str]) -> tuple[str, ...]:
    """Return names of metrics, in which each import path `module:attr` is replaced by the name of the metric there.

    A cut-off may follow the path: `my_metrics:depth@5`. Raises PluginError for a path that cannot be used.
    """
    names: list[str] = []
    for text in (part for metric_list in metrics for part in split_metric_names(metric_list)):
        match = _PATH.fullmatch(text)
        names.append(CATALOG.add_plugin(make_path_plugin(match["path"])) + match["rest"] if match else text)
    return tuple(names)


def list_metric_names(text: str) -> list[str]:
    """Return the names and import paths in a comma-separated list, as they are written."""
    return split_metric_names(text)


def list_metric_paths(names: Iterable[str]) -> dict[str, str]:
    """Return the import paths of those metrics that were loaded from one, by name."""
    plugins = {name: CATALOG.get_plugin(name) for name in names}
    return {
        name: plugin.reference for name, plugin in plugins.items() if plugin is not None and not plugin.distribution
    }


def can_be_imported(path: str) -> bool:
    """Return whether another process finds a metric at its import path: not one of a script, or inside a function.

    >>> [can_be_imported(path) for path in ("my_metrics:depth", "__main__:depth", "my_metrics:make.<locals>.depth")]
    [True, False, False]
    """
    match = _PATH.fullmatch(path)
    return match is not None and not match["rest"] and not path.startswith("__main__:")


def load_remembered_metrics(request: ScoreRequest) -> None:
    """Load the metrics of a run folder that were loaded from an import path when the run was made.

    Raises PluginError for one that is requested and neither loaded nor installed, unless ASSAY_ALLOW_EXEC=1 allows to
    import its module.
    """
    if not request.scoring.metric_paths:
        return
    requested = {
        parse_metric_name(text).base for part in request.scoring.metrics or () for text in split_metric_names(part)
    }
    for name, path in request.scoring.metric_paths.items():
        if name not in requested or name in CATALOG:
            continue
        if os.environ.get(ALLOW_EXEC_VARIABLE) != "1":
            message = (
                f"a run folder may not import modules by itself (got {path}; expected {ALLOW_EXEC_VARIABLE}=1 in the "
                "environment, or the metric as an installed plugin)"
            )
            raise PluginError([Problem("", None, f"metric {name}", message, "E_EXEC")])
        load_metric_paths([path])


def enable_plugins_in_worker(paths: Mapping[str, str]) -> None:
    """Let a worker process find the same plugins as its parent; `paths` are those of `list_metric_paths`."""
    enable_plugins()
    load_metric_paths(paths.values())


def load_installed_metrics() -> list[PluginError]:
    """Add the metrics of all installed plugins to the catalogue; return an error for each that cannot be used."""
    return [error for _, error in CATALOG.load_installed() if error is not None]


def load_gate(request: ScoreRequest) -> Gate | None:
    """Return the gate of a request, None if it names none."""
    load_remembered_metrics(request)
    if request.verdicts.rubrics:  # the shipped ones make no metrics
        use_rubrics(request.verdicts.rubrics)
    return load_requested_gate(request.gate)
