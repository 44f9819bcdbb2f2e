"""Discovery of plugins: the entry points of installed distributions, and import paths that a user names.

This is the only file that reads entry points. Nothing is read until a name is asked for that is not built in, and only
the plugin of that name is imported.
"""

from __future__ import annotations

import sys
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from assay.records.plugin_table import Plugin, PluginTable

ALLOW_EXEC_VARIABLE = "ASSAY_ALLOW_EXEC"
"""Set to 1, this environment variable lets files that may come from elsewhere run commands and import modules."""


def enable_plugins() -> None:
    """Let all tables find installed plugins. Every process calls this once, before it looks anything up."""
    PluginTable.find_plugins = staticmethod(find_installed_plugins)


@cache
def find_installed_plugins(group: str) -> tuple[Plugin, ...]:
    """Return the plugins that installed distributions declare in a group, sorted by name and distribution."""
    from importlib.metadata import entry_points  # slow to import, and needed only where a name is not built in

    plugins: list[Plugin] = []
    for entry in entry_points(group=group):
        distribution = f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "(no distribution)"
        plugins.append(Plugin(entry.name, entry.value, distribution, entry.load))
    return tuple(sorted(plugins, key=lambda plugin: (plugin.name, plugin.distribution)))


def make_path_plugin(reference: str) -> Plugin:
    """Return the plugin at an import path `module:attr`; modules in the working directory can be imported."""
    add_working_directory_to_path()
    return Plugin("", reference, "", partial(import_object, reference))


def import_object(reference: str) -> Any:
    """Import the object that `module:attr` names. Raises what the import raises."""
    module_name, _, attributes = reference.partition(":")
    imported: Any = import_module(module_name)
    for attribute in attributes.split("."):
        imported = getattr(imported, attribute)
    return imported


def add_working_directory_to_path() -> None:
    """Allow imports of modules in the working directory, as `python -m` does."""
    working_directory = str(Path.cwd())
    if working_directory not in sys.path and "" not in sys.path:
        sys.path.insert(0, working_directory)
