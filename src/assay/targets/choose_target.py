"""Choosing targets by a name of the settings, an address, an import path or a file, and creating them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from assay.calls.interfaces import Target
from assay.formats.outputs import open_output_files, read_observations
from assay.formats.outputs_checks import find_config_flaw
from assay.formats.run_folder import compute_file_sha256
from assay.formats.settings_file import Config
from assay.formats.strict_json import join_field
from assay.records.errors import Problem, SettingsError, shorten_repr
from assay.records.settings import (
    BaseTargetSettings,
    CommandTargetSettings,
    HttpTargetSettings,
    LangchainTargetSettings,
    LlamaindexTargetSettings,
    McpTargetSettings,
    PythonTargetSettings,
    RecordedTargetSettings,
)

ALLOW_EXEC_VARIABLE = "ASSAY_ALLOW_EXEC"

_NAMED = re.compile(r"(?P<name>[^=/:]+)=(?P<spec>.+)")
_IMPORT_PATH = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


@dataclass(frozen=True, slots=True)
class TargetPermissions:
    """What the user allows a settings file to do: run commands, and call the given hosts."""

    run_commands: bool = False
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChosenTarget:
    """A chosen target; `is_from_command_line` means that it was given on the command line, which is trusted more than a
    file.
    """

    name: str
    settings: BaseTargetSettings
    is_from_command_line: bool


def choose_targets(config: Config, names: Sequence[str]) -> list[ChosenTarget]:
    """Return the named targets; if none are named, all targets of the settings.

    `names` holds names of the settings, or `[NAME=]` followed by an address, an import path or a file of outputs.
    Raises SettingsError listing all targets that are not valid.
    """
    targets_of_settings = config.settings.targets
    if not names:
        if not targets_of_settings:
            message = "none given (expected --target NAME, URL or module:attr, or targets in the settings)"
            raise SettingsError([Problem("", None, "target", message, "E_TARGET")])
        return _check_names(
            [
                ChosenTarget(name, settings, is_from_command_line=False)
                for name, settings in targets_of_settings.items()
            ],
            [],
        )
    targets: list[ChosenTarget] = []
    problems: list[Problem] = []
    for spec in names:
        if spec in targets_of_settings:
            targets.append(ChosenTarget(spec, targets_of_settings[spec], is_from_command_line=False))
            continue
        named = _NAMED.fullmatch(spec)
        settings = _parse_spec(named["spec"] if named else spec)
        if settings is None:
            problems.append(
                Problem("", None, "target", _unknown_target_message(spec, list(targets_of_settings)), "E_TARGET")
            )
        else:
            targets.append(
                ChosenTarget(named["name"] if named else _derive_name(spec), settings, is_from_command_line=True)
            )
    return _check_names(targets, problems)


def _check_names(targets: list[ChosenTarget], problems: list[Problem]) -> list[ChosenTarget]:
    """Return the targets if their names are valid and unique. Raises SettingsError listing all problems."""
    names = [target.name for target in targets]
    for name in names:
        flaw = find_config_flaw(name)
        if flaw is not None:
            problems.append(Problem("", None, "target", flaw.message, flaw.code))
    for name in sorted({name for name in names if names.count(name) > 1}):
        message = f"two targets with the same name (got {name!r} twice; expected NAME=… before one of them)"
        problems.append(Problem("", None, "target", message, "E_TARGET"))
    if problems:
        raise SettingsError(problems)
    return targets


def make_target(chosen: ChosenTarget, config: Config, trust: TargetPermissions) -> Target:
    """Create the target. Raises SettingsError if it cannot be created, or if a settings file may not request it."""
    name, settings = chosen.name, chosen.settings
    if isinstance(settings, RecordedTargetSettings):
        return _make_recorded(
            name, settings, config if not chosen.is_from_command_line else Config(config.settings, {})
        )
    if (
        isinstance(settings, (CommandTargetSettings, McpTargetSettings))
        and settings.command
        and not chosen.is_from_command_line
    ):
        _check_command(name, settings.command, trust)
    _add_working_directory_to_path()
    if isinstance(settings, PythonTargetSettings):
        from assay.targets import python

        return python.make_python_target(name, settings)
    if isinstance(settings, HttpTargetSettings):
        from assay.targets import http

        return http.HttpTarget(
            name, settings, config.settings.run.concurrency, typed=chosen.is_from_command_line, allowed=trust.hosts
        )
    if isinstance(settings, McpTargetSettings):
        from assay.targets import mcp

        return mcp.McpTarget(name, settings, typed=chosen.is_from_command_line, allowed=trust.hosts)
    if isinstance(settings, CommandTargetSettings):
        from assay.targets import command

        return command.CommandTarget(name, settings)
    if isinstance(settings, LangchainTargetSettings):
        from assay.targets import langchain

        return langchain.make_langchain_target(name, settings)
    assert isinstance(settings, LlamaindexTargetSettings)
    from assay.targets import llamaindex

    return llamaindex.make_llamaindex_target(name, settings)


def list_secret_variables(settings: BaseTargetSettings) -> list[str]:
    """Return the environment variables that a target uses and whose values must never be stored."""
    names = list(getattr(settings, "env", ()))
    auth = getattr(settings, "auth", None)
    return [*names, auth.env] if auth is not None else names


def is_told_user(chosen: ChosenTarget) -> bool:
    """Return whether a target receives the user of a case: by its settings, or because it gets the whole case."""
    settings = chosen.settings
    if getattr(settings, "identity", None):
        return True
    templates = [getattr(settings, name) for name in ("body", "query", "arguments", "input") if hasattr(settings, name)]
    return isinstance(
        settings, (PythonTargetSettings, CommandTargetSettings, RecordedTargetSettings)
    ) or "{{user" in repr(templates)


def _parse_spec(spec: str) -> BaseTargetSettings | None:
    if spec.startswith(("http://", "https://")):
        return HttpTargetSettings(url=spec)
    if spec.startswith("mcp:"):
        return McpTargetSettings(url=spec.removeprefix("mcp:"))
    if Path(spec).is_file():
        return RecordedTargetSettings(path=spec)
    return PythonTargetSettings(call=spec) if _IMPORT_PATH.fullmatch(spec) else None


def _derive_name(spec: str) -> str:
    """Return the default name of a target: the attribute, the host, or the file's stem."""
    if "://" in spec:
        return re.sub(r"[?#].*", "", spec.split("://", 1)[1]).rsplit("@", 1)[-1].rstrip("/")
    return Path(spec).stem if Path(spec).is_file() else spec.rpartition(":")[2]


def _unknown_target_message(spec: str, target_names: list[str]) -> str:
    close_matches = get_close_matches(spec, target_names, n=1)
    hint = f"did you mean {close_matches[0]!r}? " if close_matches else ""
    names = f"one of {', '.join(target_names)}, or " if target_names else ""
    return (
        f"no such target (got {shorten_repr(spec)}; {hint}expected {names}an address, module:attr or a file of outputs)"
    )


def _make_recorded(name: str, settings: RecordedTargetSettings, config: Config) -> Target:
    from assay.targets.recorded import RecordedTarget as Recorded

    path = config.resolve_path(join_field(join_field("targets", name), "path"), settings.path)
    with open_output_files([path], settings.format) as files:
        observations = [
            observation for file in files for observation in read_observations(file.path, file.name, file.format)
        ]
        digest = compute_file_sha256(Path(files[0].path))
    configs = sorted({observation.config_id for observation in observations})
    config_name = settings.config
    if config_name is None and len(configs) > 1:
        config_name = name if name in configs else None
    if (config_name is None and len(configs) > 1) or (config_name is not None and config_name not in configs):
        message = f"several configurations (expected config: one of {', '.join(configs)})"
        raise SettingsError([Problem(path, None, f"targets.{name}.config", message, "E_TARGET")])
    return Recorded(
        name, [observation for observation in observations if config_name in (None, observation.config_id)], digest
    )


def _check_command(name: str, command: Sequence[str], trust: TargetPermissions) -> None:
    if trust.run_commands or os.environ.get(ALLOW_EXEC_VARIABLE) == "1":
        return
    message = (
        f"a settings file may not run programs by itself (got {shorten_repr(' '.join(command))}; "
        f"expected --allow-exec, or {ALLOW_EXEC_VARIABLE}=1 in the environment)"
    )
    raise SettingsError([Problem("", None, f"targets.{name}.command", message, "E_EXEC")])


def _add_working_directory_to_path() -> None:
    """Allow imports of modules in the working directory, as `python -m` does."""
    working_directory = str(Path.cwd())
    if working_directory not in sys.path and "" not in sys.path:
        sys.path.insert(0, working_directory)
