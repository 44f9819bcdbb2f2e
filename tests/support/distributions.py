"""Distributions with entry points in a temporary folder, found as an installed package is."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.calls.plugins import find_installed_plugins
from assay.calls.target_kinds import TARGET_KINDS
from assay.formats.golden_files import GOLDEN_FORMAT_TABLE
from assay.formats.outputs import OUTPUT_FORMATS
from assay.judging.llm_judge import PROVIDERS
from assay.metrics.catalog import CATALOG, parse_metric


def write_distribution(folder: Path, name: str, entry_points: str, files: Mapping[str, str]) -> None:
    """Write the files that an installer would write for version 1.2 of a distribution; `files` are its modules."""
    info = folder / f"{name.replace('-', '_')}-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")


@contextmanager
def installed_folder(folder: Path) -> Iterator[Path]:
    """Make the distributions of a folder importable within the block, and forget their plugins after it."""
    modules = set(sys.modules)
    folder.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        find_installed_plugins.cache_clear()
        try:
            yield folder
        finally:
            for table in (CATALOG, GOLDEN_FORMAT_TABLE, OUTPUT_FORMATS, TARGET_KINDS, PROVIDERS):
                table.forget_plugins()
            parse_metric.cache_clear()
            for name in set(sys.modules) - modules:
                if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
                    del sys.modules[name]
    find_installed_plugins.cache_clear()
