"""Choosing targets by a name of the settings, an address, an import path or a file, and creating them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from assay.config import Config
from assay.config_model import (
    CommandTarget,
    HttpTarget,
    LangchainTarget,
    LlamaindexTarget,
    McpTarget,
    PythonTarget,
    RecordedTarget,
    TargetSection,
)
from assay.errors import Problem, SettingsError, shown
from assay.io.observations import read_observations
from assay.io.outputs.flaws import config_flaw
from assay.io.runfolder import sha256_of
from assay.io.strictjson import pointer
from assay.ports import Target
from assay.workflow.outputs import output_files

ALLOW_EXEC = "ASSAY_ALLOW_EXEC"

_NAMED = re.compile(r"(?P<name>[^=/:]+)=(?P<spec>.+)")
_IMPORT_PATH = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


@dataclass(frozen=True, slots=True)
class Trust:
    """What the user allows a settings file to do: run commands, and call the given hosts."""

    run_commands: bool = False
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chosen:
    """A chosen target; `typed` means that it was given on the command line, which is trusted more than a file."""

    name: str
    settings: TargetSection
    typed: bool


def choose(config: Config, wanted: Sequence[str]) -> list[Chosen]:
    """Return the named targets; if none are named, all targets of the settings.

    `wanted` holds names of the settings, or `[NAME=]` followed by an address, an import path or a file of outputs.
    Raises SettingsError listing all targets that are not valid.
    """
    targets_of_settings = config.settings.targets
    if not wanted:
        if not targets_of_settings:
            message = "none given (expected --target NAME, URL or module:attr, or targets in the settings)"
            raise SettingsError([Problem("", None, "target", message, "E_TARGET")])
        return _check_names([Chosen(name, settings, typed=False) for name, settings in targets_of_settings.items()], [])
    targets: list[Chosen] = []
    problems: list[Problem] = []
    for spec in wanted:
        if spec in targets_of_settings:
            targets.append(Chosen(spec, targets_of_settings[spec], typed=False))
            continue
        named = _NAMED.fullmatch(spec)
        settings = _parse_spec(named["spec"] if named else spec)
        if settings is None:
            problems.append(
                Problem("", None, "target", _unknown_target_message(spec, list(targets_of_settings)), "E_TARGET")
            )
        else:
            targets.append(Chosen(named["name"] if named else _derive_name(spec), settings, typed=True))
    return _check_names(targets, problems)


def _check_names(targets: list[Chosen], problems: list[Problem]) -> list[Chosen]:
    """Return the targets if their names are valid and unique. Raises SettingsError listing all problems."""
    names = [target.name for target in targets]
    for name in names:
        flaw = config_flaw(name)
        if flaw is not None:
            problems.append(Problem("", None, "target", flaw.message, flaw.code))
    for name in sorted({name for name in names if names.count(name) > 1}):
        message = f"two targets with the same name (got {name!r} twice; expected NAME=… before one of them)"
        problems.append(Problem("", None, "target", message, "E_TARGET"))
    if problems:
        raise SettingsError(problems)
    return targets


def make(chosen: Chosen, config: Config, trust: Trust) -> Target:
    """Create the target. Raises SettingsError if it cannot be created, or if a settings file may not request it."""
    name, settings = chosen.name, chosen.settings
    if isinstance(settings, RecordedTarget):
        return _make_recorded(name, settings, config if not chosen.typed else Config(config.settings, {}))
    if isinstance(settings, (CommandTarget, McpTarget)) and settings.command and not chosen.typed:
        _check_command(name, settings.command, trust)
    _add_working_directory_to_path()
    if isinstance(settings, PythonTarget):
        from assay.targets import python

        return python.from_settings(name, settings)
    if isinstance(settings, HttpTarget):
        from assay.targets import http

        return http.HttpTarget(name, settings, config.settings.run.concurrency, typed=chosen.typed, allowed=trust.hosts)
    if isinstance(settings, McpTarget):
        from assay.targets import mcp

        return mcp.McpTarget(name, settings, typed=chosen.typed, allowed=trust.hosts)
    if isinstance(settings, CommandTarget):
        from assay.targets import command

        return command.CommandTarget(name, settings)
    if isinstance(settings, LangchainTarget):
        from assay.targets import langchain

        return langchain.from_settings(name, settings)
    assert isinstance(settings, LlamaindexTarget)
    from assay.targets import llamaindex

    return llamaindex.from_settings(name, settings)


def secret_names(settings: TargetSection) -> list[str]:
    """Return the environment variables that a target uses and whose values must never be stored."""
    names = list(getattr(settings, "env", ()))
    auth = getattr(settings, "auth", None)
    return [*names, auth.env] if auth is not None else names


def tells_user(chosen: Chosen) -> bool:
    """Return whether a target receives the user of a case: by its settings, or because it gets the whole case."""
    settings = chosen.settings
    if getattr(settings, "identity", None):
        return True
    templates = [getattr(settings, name) for name in ("body", "query", "arguments", "input") if hasattr(settings, name)]
    return isinstance(settings, (PythonTarget, CommandTarget, RecordedTarget)) or "{{user" in repr(templates)


def _parse_spec(spec: str) -> TargetSection | None:
    if spec.startswith(("http://", "https://")):
        return HttpTarget(url=spec)
    if spec.startswith("mcp:"):
        return McpTarget(url=spec.removeprefix("mcp:"))
    if Path(spec).is_file():
        return RecordedTarget(path=spec)
    return PythonTarget(call=spec) if _IMPORT_PATH.fullmatch(spec) else None


def _derive_name(spec: str) -> str:
    """Return the default name of a target: the attribute, the host, or the file's stem."""
    if "://" in spec:
        return re.sub(r"[?#].*", "", spec.split("://", 1)[1]).rsplit("@", 1)[-1].rstrip("/")
    return Path(spec).stem if Path(spec).is_file() else spec.rpartition(":")[2]


def _unknown_target_message(spec: str, target_names: list[str]) -> str:
    close_matches = get_close_matches(spec, target_names, n=1)
    hint = f"did you mean {close_matches[0]!r}? " if close_matches else ""
    names = f"one of {', '.join(target_names)}, or " if target_names else ""
    return f"no such target (got {shown(spec)}; {hint}expected {names}an address, module:attr or a file of outputs)"


def _make_recorded(name: str, settings: RecordedTarget, config: Config) -> Target:
    from assay.targets.recorded import RecordedTarget as Recorded

    path = config.at(pointer(pointer("targets", name), "path"), settings.path)
    with output_files([path], settings.format) as files:
        observations = [
            observation for file in files for observation in read_observations(file.path, file.name, file.format)
        ]
        digest = sha256_of(Path(files[0].path))
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


def _check_command(name: str, command: Sequence[str], trust: Trust) -> None:
    if trust.run_commands or os.environ.get(ALLOW_EXEC) == "1":
        return
    message = (
        f"a settings file may not run programs by itself (got {shown(' '.join(command))}; "
        f"expected --allow-exec, or {ALLOW_EXEC}=1 in the environment)"
    )
    raise SettingsError([Problem("", None, f"targets.{name}.command", message, "E_EXEC")])


def _add_working_directory_to_path() -> None:
    """Allow imports of modules in the working directory, as `python -m` does."""
    working_directory = str(Path.cwd())
    if working_directory not in sys.path and "" not in sys.path:
        sys.path.insert(0, working_directory)
