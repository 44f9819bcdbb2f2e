"""Adds a scored run to the registry next to its folder, from which `assay history` reads (ADR 0078)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from assay.formats.run_files.manifest import read_made_with
from assay.formats.run_files.registry_file import (
    RegisteredConfig,
    RegisteredValue,
    RegistryEntry,
    append_registry_entry,
)
from assay.formats.run_files.run_folder import DERIVED_FOLDER, compute_file_sha256, read_manifest
from assay.records.errors import InputError
from assay.runs.saved_scores import CASES_FILE, load_saved_report
from assay.scoring.saved_results import SavedConfig

PARTIAL_OUTCOME = "PARTIAL"


def register_run(folder: Path, now: str) -> Path:
    """Append a scored run folder to the registry of the folder that it lies in, and return the registry's path.

    The run is dated by the time at which it was started, and by `now`, ISO 8601, if it does not say. Raises InputError
    for a folder without scores, IncompleteError if the registry cannot be written.
    """
    resolved = folder.resolve()
    return append_registry_entry(resolved.parent, make_registry_entry(resolved, now))


def make_registry_entry(folder: Path, now: str) -> RegistryEntry:
    """Return the line of the registry for a scored run folder. Raises InputError for one without scores."""
    manifest, report = read_manifest(folder), load_saved_report(folder)
    try:
        scores = compute_file_sha256(folder / DERIVED_FOLDER / CASES_FILE)
    except OSError as error:
        raise InputError(f"{folder}: no scores of cases ({error.strerror}; expected a scored run folder)") from None
    return RegistryEntry(
        "run",
        folder.name,
        str(manifest.get("started_at") or now),
        report.assay_version,
        report.golden.digest,
        report.golden.name,
        report.golden.version,
        scores,
        report.decision.outcome == PARTIAL_OUTCOME,
        {name: _register_config(name, saved, manifest) for name, saved in sorted(report.configs.items())},
    )


def _register_config(config: str, saved: SavedConfig, manifest: Mapping[str, Any]) -> RegisteredConfig:
    values = {
        metric: RegisteredValue(
            summary.value,
            summary.low,
            summary.high,
            summary.scored,
            None if summary.unknown is None else msgspec.structs.astuple(summary.unknown),
        )
        for metric, summary in sorted(saved.summary.items())
        if summary.scored or summary.unknown is not None
    }
    return RegisteredConfig(_list_versions(config, manifest), values)


def _list_versions(config: str, manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return everything that the manifest says about what was observed and how, as names with their values."""
    recorded = manifest.get("versions", {}).get(config, {})
    versions = {name: " and ".join(map(str, parts)) for name, parts in recorded.items()}
    corpus, judge = manifest.get("corpus"), manifest.get("judge")
    if corpus is not None:
        versions["corpus digest"] = str(corpus.get("digest") or corpus.get("sha256"))
    if judge is not None:
        versions["judge"] = str(judge.get("model") or judge["digest"])
    return dict(sorted((versions | read_made_with(manifest, config)).items()))
