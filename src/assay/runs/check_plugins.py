"""Checks every installed plugin by loading it, as `assay doctor` does; no other command needs all tables at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.calls.target_kinds import TARGET_KINDS
from assay.formats.golden_files import GOLDEN_FORMAT_TABLE
from assay.formats.outputs import OUTPUT_FORMATS
from assay.judging.llm_judge import PROVIDERS
from assay.metrics.catalog import CATALOG
from assay.records.errors import PluginError
from assay.records.plugin_table import Plugin, PluginTable


def check_installed_plugins() -> Iterator[tuple[str, Plugin, PluginError | None]]:
    """Load all installed plugins; yield for each what it adds, the plugin, and why it cannot be used, if so."""
    tables: tuple[PluginTable[Any], ...] = (CATALOG, TARGET_KINDS, PROVIDERS)
    for table in tables:
        for plugin, error in table.load_installed():
            yield table.kind, plugin, error
    # Both kinds of format are declared in one group: a plugin of one kind is no fault of the other.
    golden_formats = GOLDEN_FORMAT_TABLE.load_installed()
    for (plugin, golden_error), (_, output_error) in zip(golden_formats, OUTPUT_FORMATS.load_installed(), strict=True):
        is_usable = golden_error is None or output_error is None
        kind = GOLDEN_FORMAT_TABLE.kind if golden_error is None else OUTPUT_FORMATS.kind
        yield kind, plugin, None if is_usable else output_error
