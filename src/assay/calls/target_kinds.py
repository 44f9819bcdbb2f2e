"""The kinds of target: their settings, and how a target is made from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, get_args

from assay.calls.interfaces import Target
from assay.records.plugin_table import PluginTable
from assay.records.settings import BaseTargetSettings, TargetSettings


@dataclass(frozen=True, slots=True)
class TargetRequest:
    """What a target is made from.

    `name` becomes the observations' config_id. `settings` is the record of its kind. `concurrency` is the largest
    number of calls at the same time. `is_from_command_line` means that the user named it there, which is trusted more
    than a file (ADR 13); `allowed_hosts` are those that a file may name as well. `resolve_path` returns the path of a
    field relative to the settings file.
    """

    name: str
    settings: Any
    concurrency: int
    is_from_command_line: bool = False
    allowed_hosts: tuple[str, ...] = ()
    resolve_path: Callable[[str, str], str] = lambda _, path: path


MakeTarget = Callable[[TargetRequest], Target]
"""Makes a target. Raises SettingsError if it cannot be made from its settings."""


@dataclass(frozen=True, slots=True)
class TargetKind:
    """One kind of target; `name` is the `type` of its settings and the tag of their record."""

    name: str
    settings: type[BaseTargetSettings]
    make: MakeTarget


def _find_kind_fault(kind: TargetKind) -> str:
    settings: object = kind.settings
    if not (isinstance(settings, type) and issubclass(settings, BaseTargetSettings)):
        return f"wrong settings (got {settings!r}; expected a subclass of BaseTargetSettings)"
    tag = settings.__struct_config__.tag
    if tag != kind.name:
        return f"settings of another kind (got the tag {tag!r}; expected tag={kind.name!r})"
    return "" if callable(kind.make) else "nothing makes it (expected a function as make)"


def _make_built_in(request: TargetRequest) -> Target:
    """Make a target in the file of its kind, which is imported only now: most kinds need optional packages."""
    kind = request.settings.__struct_config__.tag
    target: Target = import_module(f"assay.targets.{kind}").make_target(request)
    return target


TARGET_KINDS: PluginTable[TargetKind] = PluginTable(
    "assay.targets",
    "target kind",
    TargetKind,
    {
        str(settings.__struct_config__.tag): TargetKind(str(settings.__struct_config__.tag), settings, _make_built_in)
        for settings in get_args(TargetSettings)
    },
    find_fault=_find_kind_fault,
)
"""All kinds of target by name; the built-in ones are the members of `TargetSettings`."""
