"""An exception that nobody foresaw: whether a plugin raised it, which is named, or it is a bug in Assay."""

from __future__ import annotations

from collections.abc import Iterator

from assay.records.errors import BUG_CODE, describe_bug, describe_exception
from assay.records.plugin_table import Plugin, PluginTable

PLUGIN_CODE = "plugin_error"


def describe_unforeseen(error: BaseException) -> str:
    """Return one line for an exception that no code foresaw, with the plugin or the advice to report it."""
    owner = find_plugin_at_fault(error)
    if owner is None:
        return describe_bug(error)
    kind, plugin = owner
    name = f"{kind} {plugin.name}".rstrip()
    return f"{name}: plugin {plugin}: {describe_exception(error)} (expected a result; please report this to its author)"


def choose_error_code(error: BaseException) -> str:
    """Return the code of the error of a row or call that met the exception."""
    return BUG_CODE if find_plugin_at_fault(error) is None else PLUGIN_CODE


def find_plugin_at_fault(error: BaseException) -> tuple[str, Plugin] | None:
    """Return what a plugin adds, and the plugin, if its code was running when the exception was raised; else None.

    The package of its import path is its code. Where several plugins were running, the innermost is at fault.
    """
    at_fault = None
    for package in _list_packages(error):
        for kind, plugin in PluginTable.in_use:
            if plugin.reference.partition(":")[0].partition(".")[0] == package:
                at_fault = kind, plugin
    return at_fault


def _list_packages(error: BaseException) -> Iterator[str]:
    """Yield the top packages of the code that was running, from the outermost call to the innermost."""
    frames = error.__traceback__
    while frames is not None:
        yield str(frames.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        frames = frames.tb_next
