"""Loads settings from defaults, environment, file and flags, later ones winning, with the origin of each value.

Beyond their types, settings are checked for secrets, invalid paths and unknown placeholders.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import structs

from assay.calls.target_kinds import TARGET_KINDS
from assay.calls.templates import PLACEHOLDER_NAMES, find_unknown_placeholders, parse_path
from assay.formats.strict_json import Misfit, MisfitError, convert_strictly, join_field
from assay.formats.strict_yaml import YamlDocument, build_yaml_problem, read_yaml, read_yaml_file
from assay.records.errors import Problem, SettingsError, shorten_repr
from assay.records.settings import GateSettings, GoldenSettings, Settings
from assay.text.escaping import _SECRET_NAME, Redactor
from assay.text.secret_forms import looks_secret


def find_secrets(environment: Mapping[str, str] = os.environ, named: Iterable[str] = ()) -> list[str]:
    """Return the values of the named environment variables, and of all whose name says that they are secret."""
    names = set(named)
    return [value for name, value in environment.items() if name in names or _SECRET_NAME.search(name)]


MakeProblem = Callable[[str, str, str], Problem]

LITERAL_MESSAGE = (
    "looks like a secret (expected the name of an environment variable that holds it, "
    "as auth: {env: NAME} or env: [NAME])"
)

_SECRET_KEYS = ("key", "token", "secret", "password", "passwd", "authorization", "credential", "cookie")
_HARMLESS_KEYS = ("response.key", "per_case", "max_tokens")


def find_file_problems(data: dict[str, Any], make_problem: MakeProblem) -> list[Problem]:
    """Return a problem for each literal secret, invalid path and unknown placeholder in a settings file.

    `make_problem` makes a Problem from field, message and code.
    """
    problems = [make_problem(field, LITERAL_MESSAGE, "E_SECRET") for field in _find_secrets(data, "")]
    targets = data.get("targets")
    for name, target in targets.items() if isinstance(targets, dict) else ():
        if isinstance(target, dict):
            problems += _find_target_problems(target, join_field("targets", name), make_problem)
    return problems


def _find_secrets(value: Any, field: str) -> Iterator[str]:
    """Yield every field that holds a literal secret."""
    if isinstance(value, dict):
        for key, item in value.items():
            item_field = join_field(field, key)
            if isinstance(item, str) and item and _is_secret(str(key), item, item_field):
                yield item_field
            else:
                yield from _find_secrets(item, item_field)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _find_secrets(item, join_field(field, index))
    elif isinstance(value, str) and looks_secret(value):
        yield field


def _is_secret(key: str, text: str, field: str) -> bool:
    if looks_secret(text):
        return True
    name = key.lower().replace("-", "_")
    words = set(name.split("_"))
    has_secret_name = words & set(_SECRET_KEYS) or any(word in name for word in ("apikey", "password", "secret"))
    is_harmless = name.endswith("_env") or "{{" in text or field.endswith(_HARMLESS_KEYS) or ".identity" in field
    return bool(has_secret_name) and not is_harmless


def _find_target_problems(target: dict[str, Any], at: str, problem: MakeProblem) -> Iterator[Problem]:
    for field, path in _find_paths(target.get("response"), join_field(at, "response")):
        try:
            parse_path(path)
        except ValueError as error:
            yield problem(field, str(error), "E_PATH")
    templates = [
        (join_field(at, name), target[name]) for name in ("body", "query", "arguments", "input") if name in target
    ]
    search = target.get("search")
    if isinstance(search, dict):
        templates += [(join_field(join_field(at, "search"), name), search.get(name)) for name in ("body", "query")]
    for field, template in templates:
        for name in find_unknown_placeholders(template):
            yield problem(
                field,
                f"unknown placeholder (got {shorten_repr(name)}; expected one of {', '.join(PLACEHOLDER_NAMES)})",
                "E_TEMPLATE",
            )
    identity = target.get("identity")
    for header, source in identity.items() if isinstance(identity, dict) else ():
        if source not in PLACEHOLDER_NAMES:
            message = (
                f"not something to send (got {shorten_repr(source)}; expected one of {', '.join(PLACEHOLDER_NAMES)})"
            )
            yield problem(join_field(join_field(at, "identity"), header), message, "E_TEMPLATE")


def _find_paths(response: Any, field: str) -> Iterator[tuple[str, str]]:
    """Yield every field of a response mapping that holds a path, with the path; `key` does not hold one."""
    if isinstance(response, dict):
        for key, item in response.items():
            if key != "key":
                yield from _find_paths(item, join_field(field, key))
    elif isinstance(response, str):
        yield field, response


RETIRED_FIELDS = (("scoring", "stage"), ("scoring", "graders"))
"""Settings of earlier versions that never had an effect. A file that has them is read, with a note."""
DEFAULT_FILE = "assay.yaml"
DEFAULT = "default"
SCALARS = ("golden", "corpus", "run_dir")
SECTIONS = ("run", "scoring", "report")
T = TypeVar("T", bound=msgspec.Struct)

_FIELD_IN_MESSAGE = re.compile(r"Expected (?P<wanted>.*) - at `\$\.?(?P<field>[^`]*)`.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Config:
    """The settings, the origin of each value, the settings file (None if there is none), and notes for the user."""

    settings: Settings
    origins: Mapping[str, str]
    path: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder to which paths in the settings file are relative."""
        return Path(self.path).parent if self.path is not None else Path()

    @property
    def golden_settings(self) -> GoldenSettings | None:
        """The golden set, whether the settings hold its path alone or a section."""
        golden = self.settings.golden
        return GoldenSettings(golden) if isinstance(golden, str) else golden

    @property
    def gate_path(self) -> str | None:
        """The file with the gate of the settings, for `load_gate`: that which they name, or their own; None without."""
        gate = self.settings.gate
        if gate is None:
            return None
        return self.resolve_path("gate", gate) if isinstance(gate, str) else self.path

    @property
    def entailment_model_path(self) -> str | None:
        """The folder of the entailment model that the settings name; None without."""
        folder = self.settings.scoring.entailment_model
        return self.resolve_path("scoring.entailment_model", folder) if folder is not None else None

    def place_problem(self, problem: Problem) -> Problem:
        """Return a problem of a setting with the file and line of it, or of the section around it, if that is known."""
        if problem.path:
            return problem
        field = problem.field
        while field and field not in self.origins:
            field = field[: max(field.rfind("."), field.rfind("["), 0)]
        origin, _, line = self.origins.get(field, "").rpartition(":")
        is_in_file = bool(origin) and origin == self.path
        return structs.replace(problem, path=origin, line=int(line)) if is_in_file else problem

    def resolve_path(self, field: str, path: str) -> str:
        """Return a path from the settings, resolved against the settings file if it comes from there."""
        if not self.origins.get(field, "").startswith(f"{self.path}:") or path == "-":
            return path
        return str(self.folder / path)


def load_config(
    path: str | None, flags: Mapping[str, tuple[str, Any]] | None = None, environment: Mapping[str, str] = os.environ
) -> Config:
    """Return the settings. `flags` maps a field (`run.concurrency`) to the flag's name and its value.

    Without `path`, `assay.yaml` in the working directory is read if it exists. Raises SettingsError with all problems.
    """
    if path is None and Path(DEFAULT_FILE).is_file():
        path = DEFAULT_FILE
    document = read_yaml_file(path) if path is not None else YamlDocument(None, {}, {})
    layers = _SettingsLayers(path or DEFAULT_FILE, document)
    layers.add_environment(environment)
    layers.add_file()
    layers.add_flags(flags or {})
    return Config(layers.build_settings(), layers.origins, path, tuple(layers.notes))


def build_settings_schema() -> bytes:
    """Return the JSON Schema of a settings file, for editors."""
    schema = msgspec.json.schema(Settings)
    return msgspec.json.format(msgspec.json.encode(schema, order="sorted"), indent=2) + b"\n"


def format_settings_lines(config: Config) -> Iterator[str]:
    """Yield `field = value  (origin)` for every setting, defaults included, with secrets redacted."""
    redact = Redactor(find_secrets()).redact_text
    for field, value in _flatten(msgspec.to_builtins(config.settings), ""):
        text = msgspec.json.encode(value).decode()
        yield redact(f"{field} = {text}  ({config.origins.get(field, DEFAULT)})")


def _flatten(value: Any, field: str) -> Iterator[tuple[str, Any]]:
    """Yield every field below `field` that holds a value, with the value."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _flatten(item, join_field(field, key))
    else:
        yield field, value


class _SettingsLayers:
    """Merges the layers of settings, recording the origin of every value, every problem and notes for the user."""

    def __init__(self, name: str, document: YamlDocument) -> None:
        self.name, self.document = name, document
        self.data: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.problems: list[Problem] = []
        self.notes: list[str] = []

    def add_environment(self, environment: Mapping[str, str]) -> None:
        """Add the variables ASSAY_GOLDEN, ASSAY_RUN_CONCURRENCY and so on: single texts and numbers, no lists."""
        fields = dict(_list_environment_fields())
        for name in sorted(environment.keys() & fields.keys()):
            section, key, is_text = fields[name]
            text = environment[name]
            value = text if is_text else read_yaml(text, name).data
            self._set(section, key, value, f"environment {name}")
        for section, key in RETIRED_FIELDS:
            name = f"ASSAY_{section}_{key}".upper()
            if name in environment:
                self._note_retired(f"environment {name}", section, key)

    def add_file(self) -> None:
        """Add the settings file: sections are merged field by field, lists are replaced."""
        data, places = self.document.data, self.document.positions
        if data is None:
            return
        if not isinstance(data, dict):
            self._refuse(
                "", f"not settings (got {shorten_repr(data)}; expected a mapping with golden, targets …)", "E_TYPE"
            )
            return
        self.problems += find_file_problems(data, self._make_problem)
        for key, value in data.items():
            if key in SECTIONS and isinstance(value, dict):
                self.data[key] = {**self.data.get(key, {}), **self._without_retired(key, value)}
            else:
                self.data[key] = value
        self.origins |= {field: f"{self.name}:{position.line}" for field, position in places.items() if field}

    def _without_retired(self, section: str, values: dict[str, Any]) -> dict[str, Any]:
        """Return a section without the settings that are no longer used, each of which becomes a note."""
        kept = dict(values)
        for retired_section, key in RETIRED_FIELDS:
            if section == retired_section and key in kept:
                del kept[key]
                position = self.document.positions.get(join_field(section, key))
                self._note_retired(f"{self.name}:{position.line}" if position else self.name, section, key)
        return kept

    def _note_retired(self, origin: str, section: str, key: str) -> None:
        message = "is no longer a setting; it never had an effect and is not read (remove it)"
        self.notes.append(str(Problem(origin, None, join_field(section, key), message)))

    def add_flags(self, flags: Mapping[str, tuple[str, Any]]) -> None:
        """Add the options of the command line."""
        for field, (flag, value) in flags.items():
            section, _, key = field.rpartition(".")
            self._set(section, key, value, flag)

    def build_settings(self) -> Settings:
        """Return the merged settings as one record. Raises SettingsError with all problems."""
        # Targets, gate and golden set each have a record of their own kind; the other fields are read together.
        sections: dict[str, Any] = {}
        sections["targets"] = self._build_targets(self.data.get("targets", {}))
        gate = self.data.get("gate")
        if isinstance(gate, str):
            sections["gate"] = gate
        elif gate is not None:
            sections["gate"] = self._build_record(gate, GateSettings, "gate")
        golden = self.data.get("golden")
        if isinstance(golden, str):
            sections["golden"] = golden
        elif golden is not None:
            sections["golden"] = self._build_record(golden, GoldenSettings, "golden")
        other_data = {key: value for key, value in self.data.items() if key not in ("targets", "gate", "golden")}
        settings = self._build_record(other_data, Settings, "")
        if self.problems or settings is None:
            raise SettingsError(self.problems)
        return structs.replace(settings, **sections)

    def _build_targets(self, targets: Any) -> dict[str, Any]:
        if not isinstance(targets, dict):
            self._refuse(
                "targets", f"wrong type (got {shorten_repr(targets)}; expected names with their targets)", "E_TYPE"
            )
            return {}
        targets_by_name = {}
        for name, value in targets.items():
            target_field = join_field("targets", name)
            kind = value.get("type") if isinstance(value, dict) else None
            if not isinstance(kind, str) or kind not in TARGET_KINDS:
                message = (
                    f"unknown type (got {shorten_repr(kind)}; expected one of {', '.join(TARGET_KINDS.list_names())})"
                )
                self._refuse(join_field(target_field, "type"), message, "E_ENUM")
                continue
            target_data = {key: item for key, item in value.items() if key != "type"}
            targets_by_name[name] = self._build_record(target_data, TARGET_KINDS[kind].settings, target_field)
        return targets_by_name

    def _build_record(self, value: Any, record: type[T], at: str) -> T | None:
        try:
            return convert_strictly(value, record, at)
        except MisfitError as error:
            for misfit in error.misfits:
                self._refuse(*_locate_misfit(misfit, at))
            return None

    def _set(self, section: str, key: str, value: Any, origin: str) -> None:
        if section:
            section_data = self.data.get(section)
            self.data[section] = {**(section_data if isinstance(section_data, dict) else {}), key: value}
        else:
            self.data[key] = value
        field = join_field(section, key)
        # A list is replaced as a whole: the origins of the entries that it had before no longer apply.
        self.origins = {name: origin for name, origin in self.origins.items() if not name.startswith(f"{field}[")}
        self.origins[field] = origin

    def _refuse(self, field: str, message: str, code: str) -> None:
        self.problems.append(self._make_problem(field, message.replace(", or an x_ name", ""), code))

    def _make_problem(self, field: str, message: str, code: str) -> Problem:
        origin = self.origins.get(field, "")
        if origin and not origin.startswith(f"{self.name}:"):
            return Problem(origin, None, field, message, code)
        position = self.document.find_position(field, code)
        return build_yaml_problem(self.name, position, field, message, code)


def _locate_misfit(misfit: Misfit, at: str) -> tuple[str, str, str]:
    """Return field, message and code of a misfit; some messages (patterns, bounds) are all that names the field."""
    match = _FIELD_IN_MESSAGE.fullmatch(misfit.message)
    if match is None:
        return misfit
    field = f"{at}{'.' if at and not match['field'].startswith('[') else ''}{match['field']}"
    return field, f"does not fit (expected {match['wanted'].replace('`', '')})", misfit.code


def _list_environment_fields() -> Iterator[tuple[str, tuple[str, str, bool]]]:
    """Yield the variables that are read: name, section, key, and whether the value is used as text."""
    for key in SCALARS:
        yield f"ASSAY_{key.upper()}", ("", key, True)
    defaults = msgspec.to_builtins(Settings())
    for section in SECTIONS:
        for key, value in defaults[section].items():
            if not isinstance(value, (list, dict)):
                is_text = isinstance(value, str) or section == "report"
                yield f"ASSAY_{section.upper()}_{key.upper()}", (section, key, is_text)
