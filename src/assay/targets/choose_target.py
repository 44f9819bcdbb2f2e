"""Choosing targets by a name of the settings, an address, an import path or a file, and creating them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec

from assay.calls.interfaces import Target
from assay.calls.plugins import ALLOW_EXEC_VARIABLE, add_working_directory_to_path
from assay.calls.target_kinds import TARGET_KINDS, TargetRequest
from assay.calls.templates import TURN_PLACEHOLDERS, names_placeholder
from assay.formats.recorded_outputs.line_checks import find_config_flaw
from assay.formats.settings_file import Config
from assay.records.counts import format_count
from assay.records.errors import AssayError, Problem, SettingsError, shorten_repr
from assay.records.golden_set import Case
from assay.records.settings import (
    BaseTargetSettings,
    CommandTargetSettings,
    HttpTargetSettings,
    McpTargetSettings,
    PythonTargetSettings,
    RecordedTargetSettings,
)

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
    try:
        return _make_target(chosen, config, trust)
    except SettingsError as error:
        if chosen.is_from_command_line:
            raise
        raise SettingsError(map(config.place_problem, error.problems), more=error.more) from error


def refuse_search(chosen: ChosenTarget, config: Config) -> SettingsError:
    """Return the error of a target that cannot search, with what to write so that it can.

    >>> from assay.records.settings import Settings
    >>> chosen = ChosenTarget("desk", PythonTargetSettings(call="desk:ask"), is_from_command_line=True)
    >>> refuse_search(chosen, Config(Settings(), {})).problems[0].message
    'cannot search, as --retrieval-only needs (expected in the settings: search: "module:function")'
    """
    field, example = _SEARCH_EXAMPLES.get(str(chosen.settings.__struct_config__.tag), ("", ""))
    expected = f"in the settings: {example}" if example else "a kind of target that can search, such as http or python"
    message = f"cannot search, as --retrieval-only needs (expected {expected})"
    problem = Problem("", None, f"targets.{chosen.name}{field}", message, "E_TARGET")
    return SettingsError([problem if chosen.is_from_command_line else config.place_problem(problem)])


_SEARCH_EXAMPLES = {
    "http": (".search", "search: {url: ADDRESS}, and no url if the system only searches"),
    "python": (".search", 'search: "module:function"'),
    "llamaindex": (".search", 'search: "module:retriever"'),
    "mcp": (".tools.search", "tools: {search: NAME}, as the server calls it"),
}
"""For each kind of target that may search: the field that says how, and what is written there."""


def _make_target(chosen: ChosenTarget, config: Config, trust: TargetPermissions) -> Target:
    name, settings = chosen.name, chosen.settings
    if (
        isinstance(settings, (CommandTargetSettings, McpTargetSettings))
        and settings.command
        and not chosen.is_from_command_line
    ):
        _check_command(name, settings.command, trust)
    add_working_directory_to_path()
    kind = str(settings.__struct_config__.tag)
    make = TARGET_KINDS[kind].make
    is_from_file = not chosen.is_from_command_line
    request = TargetRequest(
        name,
        settings,
        config.settings.run.concurrency,
        is_from_command_line=chosen.is_from_command_line,
        allowed_hosts=trust.hosts,
        resolve_path=config.resolve_path if is_from_file else Config(config.settings, {}).resolve_path,
    )
    plugin = TARGET_KINDS.get_plugin(kind)
    if plugin is None:
        return make(request)
    try:
        target: object = make(request)
    except AssayError:
        raise
    except Exception as error:  # the function is not ours and may raise anything
        raise plugin.make_error(TARGET_KINDS.kind, f"{type(error).__name__}: {error}") from error
    if not isinstance(target, Target):
        expected = "name, operations, identity, observe and aclose"
        raise plugin.make_error(TARGET_KINDS.kind, f"not a target (got {shorten_repr(target)}; expected {expected})")
    return target


def list_secret_variables(settings: BaseTargetSettings) -> list[str]:
    """Return the environment variables that a target uses and whose values must never be stored."""
    names = list(getattr(settings, "env", ()))
    auth = getattr(settings, "auth", None)
    return [*names, auth.env] if auth is not None else names


def calls_address(chosen: ChosenTarget) -> bool:
    """Return whether a target is a service behind an address, of which nothing tells what runs there.

    >>> calls_address(ChosenTarget("desk", HttpTargetSettings(url="http://desk/ask"), is_from_command_line=True))
    True
    """
    search = getattr(chosen.settings, "search", None)
    return bool(getattr(chosen.settings, "url", None) or getattr(search, "url", None))


def receives_user(chosen: ChosenTarget) -> bool:
    """Return whether a target receives the user of a case: by its settings, or because it gets the whole case."""
    settings = chosen.settings
    if getattr(settings, "identity", None):
        return True
    templates = [*_list_templates(settings), getattr(settings, "arguments", None)]
    gets_whole_case = isinstance(settings, (PythonTargetSettings, CommandTargetSettings, RecordedTargetSettings))
    is_of_plugin = TARGET_KINDS.get_plugin(str(settings.__struct_config__.tag)) is not None
    return gets_whole_case or is_of_plugin or "{{user" in repr(templates)


def _list_templates(settings: BaseTargetSettings) -> list[Any]:
    """Return the templates of what a target is sent: of its search where it only searches."""
    search = getattr(settings, "search", None)
    if isinstance(settings, HttpTargetSettings) and settings.url is None and search is not None:
        settings = search
    return [getattr(settings, name) for name in ("body", "query", "input") if hasattr(settings, name)]


TURNS_REMEDY = 'messages: "{{messages}}" or history: "{{history}}" in its body, arguments or input'


def receives_turns(chosen: ChosenTarget) -> bool:
    """Return whether a target receives the earlier turns of a case: by its templates, or because it gets the case."""
    settings = chosen.settings
    if isinstance(settings, (PythonTargetSettings, CommandTargetSettings, RecordedTargetSettings)):
        return True
    if TARGET_KINDS.get_plugin(str(settings.__struct_config__.tag)) is not None:
        return True
    templates = _list_templates(settings)
    arguments = getattr(settings, "arguments", None)
    templates += [msgspec.to_builtins(arguments)] if arguments is not None else []
    return any(names_placeholder(template, TURN_PLACEHOLDERS) for template in templates)


def describe_untold_turns(chosen: ChosenTarget, cases: Sequence[Case]) -> str | None:
    """Return what is said of a target that is not told the earlier turns of cases; None if it is, or none has any."""
    count = sum(bool(case.history) for case in cases)
    if not count or receives_turns(chosen):
        return None
    having = format_count(count, "case has", "cases have")
    return f"is not told the earlier turns of conversations, although {having} some"


def _parse_spec(spec: str) -> BaseTargetSettings | None:
    if spec.startswith(("http://", "https://")):
        return HttpTargetSettings(url=spec)
    if spec.startswith("mcp:"):
        return McpTargetSettings(url=spec.removeprefix("mcp:"))
    if Path(spec).is_file():
        return RecordedTargetSettings(path=spec)
    return PythonTargetSettings(call=spec) if _IMPORT_PATH.fullmatch(spec) else None


def infer_target_kind(spec: str | None) -> str:
    """Return the kind of a target that is given as an address, an import path or a file; `python` without one.

    Raises SettingsError for a text that is none of them.
    """
    if spec is None:
        return "python"
    settings = _parse_spec(spec)
    if settings is None:
        raise SettingsError([Problem("", None, "target", _unknown_target_message(spec, []), "E_TARGET")])
    return str(settings.__struct_config__.tag)


def _derive_name(spec: str) -> str:
    """Return the default name of a target: the attribute, the host, or the file's stem."""
    if "://" in spec:
        return re.sub(r"[?#].*", "", spec.split("://", 1)[1]).rsplit("@", 1)[-1].rstrip("/")
    return Path(spec).stem if Path(spec).is_file() else spec.rpartition(":")[2]


def _unknown_target_message(spec: str, target_names: list[str]) -> str:
    close_matches = get_close_matches(spec, target_names, n=1)
    hint = f"did you mean {close_matches[0]!r}? " if close_matches else ""
    module, dot, attribute = spec.rpartition(".")
    if not close_matches and dot and all(part.isidentifier() for part in (*module.split("."), attribute)):
        hint = f"did you mean '{module}:{attribute}'? "
    names = f"one of {', '.join(target_names)}, or " if target_names else ""
    return (
        f"no such target (got {shorten_repr(spec)}; {hint}expected {names}an address, module:attr or a file of outputs)"
    )


def _check_command(name: str, command: Sequence[str], trust: TargetPermissions) -> None:
    if trust.run_commands or os.environ.get(ALLOW_EXEC_VARIABLE) == "1":
        return
    message = (
        f"a settings file may not run programs by itself (got {shorten_repr(' '.join(command))}; "
        f"expected --allow-exec, or {ALLOW_EXEC_VARIABLE}=1 in the environment)"
    )
    raise SettingsError([Problem("", None, f"targets.{name}.command", message, "E_EXEC")])
