"""Loads settings from defaults, environment, file and flags, later ones winning, with the origin of each value."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import structs

from assay.config_checks import file_problems
from assay.config_model import TARGET_KINDS, GateSettings, GoldenSettings, Settings
from assay.errors import Problem, SettingsError, shown
from assay.io.redaction import Redactor, secrets_of
from assay.io.shape import Misfit, MisfitError, fit
from assay.io.strictjson import pointer
from assay.io.strictyaml import Document, Place, problem_at, read_yaml, read_yaml_file

DEFAULT_FILE = "assay.yaml"
DEFAULT = "default"
SCALARS = ("golden", "corpus", "run_dir")
SECTIONS = ("run", "scoring", "report")
T = TypeVar("T", bound=msgspec.Struct)

_FIELD_IN_MESSAGE = re.compile(r"Expected (?P<wanted>.*) - at `\$\.?(?P<field>[^`]*)`.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Config:
    """The settings, the origin of each value, and the settings file (None if there is none)."""

    settings: Settings
    origins: Mapping[str, str]
    path: str | None = None

    @property
    def folder(self) -> Path:
        """The folder to which paths in the settings file are relative."""
        return Path(self.path).parent if self.path is not None else Path()

    @property
    def golden(self) -> GoldenSettings | None:
        """The golden set, whether the settings hold its path alone or a section."""
        golden = self.settings.golden
        return GoldenSettings(golden) if isinstance(golden, str) else golden

    def at(self, field: str, value: str) -> str:
        """Return a path from the settings, resolved against the settings file if it comes from there."""
        if not self.origins.get(field, "").startswith(f"{self.path}:") or value == "-":
            return value
        return str(self.folder / value)


def load_config(
    path: str | None, flags: Mapping[str, tuple[str, Any]] | None = None, environment: Mapping[str, str] = os.environ
) -> Config:
    """Return the settings. `flags` maps a field (`run.concurrency`) to the flag's name and its value.

    Without `path`, `assay.yaml` in the working directory is read if it exists. Raises SettingsError with all problems.
    """
    if path is None and Path(DEFAULT_FILE).is_file():
        path = DEFAULT_FILE
    document = read_yaml_file(path) if path is not None else Document(None, {})
    layers = _SettingsLayers(path or DEFAULT_FILE, document)
    layers.add_environment(environment)
    layers.add_file()
    layers.add_flags(flags or {})
    return Config(layers.build_settings(), layers.origins, path)


def unused(config: Config) -> list[str]:
    """Return the fields that were set and that this version reads but does not use."""
    defaults = Settings()
    settings = config.settings
    is_set_by_field = {
        "scoring.stage": settings.scoring.stage != defaults.scoring.stage,
        "scoring.graders": bool(settings.scoring.graders),
    }
    return [field for field, is_set in is_set_by_field.items() if is_set]


def settings_schema() -> bytes:
    """Return the JSON Schema of a settings file, for editors."""
    schema = msgspec.json.schema(Settings)
    return msgspec.json.format(msgspec.json.encode(schema, order="sorted"), indent=2) + b"\n"


def settings_lines(config: Config) -> Iterator[str]:
    """Yield `field = value  (origin)` for every setting, defaults included, with secrets redacted."""
    redact = Redactor(secrets_of()).text
    for field, value in _flatten(msgspec.to_builtins(config.settings), ""):
        text = msgspec.json.encode(value).decode()
        yield redact(f"{field} = {text}  ({config.origins.get(field, DEFAULT)})")


def _flatten(value: Any, field: str) -> Iterator[tuple[str, Any]]:
    """Yield every field below `field` that holds a value, with the value."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _flatten(item, pointer(field, key))
    else:
        yield field, value


class _SettingsLayers:
    """Merges the layers of settings, recording the origin of every value and every problem."""

    def __init__(self, name: str, document: Document) -> None:
        self.name, self.document = name, document
        self.data: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.problems: list[Problem] = []

    def add_environment(self, environment: Mapping[str, str]) -> None:
        """Add the variables ASSAY_GOLDEN, ASSAY_RUN_CONCURRENCY and so on: single texts and numbers, no lists."""
        fields = dict(_list_environment_fields())
        for name in sorted(environment.keys() & fields.keys()):
            section, key, is_text = fields[name]
            text = environment[name]
            value = text if is_text else read_yaml(text, name).data
            self._set(section, key, value, f"environment {name}")

    def add_file(self) -> None:
        """Add the settings file: sections are merged field by field, lists are replaced."""
        data, places = self.document.data, self.document.places
        if data is None:
            return
        if not isinstance(data, dict):
            self._refuse("", f"not settings (got {shown(data)}; expected a mapping with golden, targets …)", "E_TYPE")
            return
        self.problems += file_problems(data, self._make_problem)
        for key, value in data.items():
            if key in SECTIONS and isinstance(value, dict):
                self.data[key] = {**self.data.get(key, {}), **value}
            else:
                self.data[key] = value
        self.origins |= {field: f"{self.name}:{position.line}" for field, position in places.items() if field}

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
        if self.data.get("gate") is not None:
            sections["gate"] = self._build_record(self.data["gate"], GateSettings, "gate")
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
            self._refuse("targets", f"wrong type (got {shown(targets)}; expected names with their targets)", "E_TYPE")
            return {}
        targets_by_name = {}
        for name, value in targets.items():
            target_field = pointer("targets", name)
            kind = value.get("type") if isinstance(value, dict) else None
            if not isinstance(kind, str) or kind not in TARGET_KINDS:
                message = f"unknown type (got {shown(kind)}; expected one of {', '.join(TARGET_KINDS)})"
                self._refuse(pointer(target_field, "type"), message, "E_ENUM")
                continue
            target_data = {key: item for key, item in value.items() if key != "type"}
            targets_by_name[name] = self._build_record(target_data, TARGET_KINDS[kind], target_field)
        return targets_by_name

    def _build_record(self, value: Any, record: type[T], at: str) -> T | None:
        try:
            return fit(value, record, at)
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
        field = pointer(section, key)
        # A list is replaced as a whole: the origins of the entries that it had before no longer apply.
        self.origins = {name: origin for name, origin in self.origins.items() if not name.startswith(f"{field}[")}
        self.origins[field] = origin

    def _refuse(self, field: str, message: str, code: str) -> None:
        self.problems.append(self._make_problem(field, message.replace(", or an x_ name", ""), code))

    def _make_problem(self, field: str, message: str, code: str) -> Problem:
        origin = self.origins.get(field, "")
        if origin and not origin.startswith(f"{self.name}:"):
            return Problem(origin, None, field, message, code)
        # A field that is missing from the file is reported at the closest parent that is in it.
        ancestor = field
        while ancestor and ancestor not in self.document.places:
            ancestor = ancestor[: max(ancestor.rfind("."), ancestor.rfind("["), 0)]
        position = self.document.places.get(ancestor, Place(1, 1))
        return problem_at(self.name, position, field, message, code)


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
