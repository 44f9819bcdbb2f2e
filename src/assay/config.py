"""Settings from defaults, environment, file and flags, in that order of weight; each value knows where it came from."""

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

_PLACED = re.compile(r"Expected (?P<wanted>.*) - at `\$\.?(?P<field>[^`]*)`.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that was set, where each value came from, and the file (None where there is none)."""

    settings: Settings
    origins: Mapping[str, str]
    path: str | None = None

    @property
    def folder(self) -> Path:
        """The folder that relative paths of the settings file are meant from."""
        return Path(self.path).parent if self.path is not None else Path()

    @property
    def golden(self) -> GoldenSettings | None:
        """The golden set, however briefly it was written."""
        golden = self.settings.golden
        return GoldenSettings(golden) if isinstance(golden, str) else golden

    def at(self, field: str, value: str) -> str:
        """Return a path of the settings as seen from the working directory: the file's paths are relative to it."""
        if not self.origins.get(field, "").startswith(f"{self.path}:") or value == "-":
            return value
        return str(self.folder / value)


def load_config(
    path: str | None, flags: Mapping[str, tuple[str, Any]] | None = None, environment: Mapping[str, str] = os.environ
) -> Config:
    """Return the settings. `flags` maps a field (`run.concurrency`) to the flag's name and its value.

    Without `path`, `assay.yaml` of the working directory is read where there is one. Raises SettingsError with
    everything that is wrong.
    """
    found = path if path is not None else DEFAULT_FILE if Path(DEFAULT_FILE).is_file() else None
    document = read_yaml_file(found) if found is not None else Document(None, {})
    reader = _Reader(found or DEFAULT_FILE, document)
    reader.environment(environment)
    reader.file()
    reader.flags(flags or {})
    settings = reader.settings()
    return Config(settings, reader.origins, found)


def unused(config: Config) -> list[str]:
    """Return the fields that were set and that this version reads but does not use yet."""
    defaults = Settings()
    settings = config.settings
    later = {
        "scoring.stage": settings.scoring.stage != defaults.scoring.stage,
        "scoring.graders": bool(settings.scoring.graders),
    }
    return [field for field, is_set in later.items() if is_set]


def settings_schema() -> bytes:
    """Return the JSON Schema of a settings file, for editors."""
    schema = msgspec.json.schema(Settings)
    return msgspec.json.format(msgspec.json.encode(schema, order="sorted"), indent=2) + b"\n"


def settings_lines(config: Config) -> Iterator[str]:
    """Yield `field = value  (origin)` for every setting, defaults included, without any secret."""
    redact = Redactor(secrets_of()).text
    for field, value in _leaves(msgspec.to_builtins(config.settings), ""):
        text = msgspec.json.encode(value).decode()
        yield redact(f"{field} = {text}  ({config.origins.get(field, DEFAULT)})")


def _leaves(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, pointer(at, key))
    else:
        yield at, value


class _Reader:
    """Puts the layers on top of each other, keeping the origin of every value and everything that is wrong."""

    def __init__(self, name: str, document: Document) -> None:
        self.name, self.document = name, document
        self.data: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.problems: list[Problem] = []

    def environment(self, environment: Mapping[str, str]) -> None:
        """Take ASSAY_GOLDEN, ASSAY_RUN_CONCURRENCY and so on: single texts and numbers, no lists."""
        fields = dict(_environment_fields())
        for name in sorted(environment.keys() & fields.keys()):
            section, key, is_text = fields[name]
            text = environment[name]
            value = text if is_text else read_yaml(text, name).data
            self._set(section, key, value, f"environment {name}")

    def file(self) -> None:
        """Take the settings file: its sections replace what was set field by field, its lists whole."""
        data, places = self.document.data, self.document.places
        if data is None:
            return
        if not isinstance(data, dict):
            self._refuse("", f"not settings (got {shown(data)}; expected a mapping with golden, targets …)", "E_TYPE")
            return
        self.problems += file_problems(data, self._problem)
        for key, value in data.items():
            if key in SECTIONS and isinstance(value, dict):
                self.data[key] = {**self.data.get(key, {}), **value}
            else:
                self.data[key] = value
        self.origins |= {field: f"{self.name}:{place.line}" for field, place in places.items() if field}

    def flags(self, flags: Mapping[str, tuple[str, Any]]) -> None:
        """Take what was given on the command line."""
        for field, (flag, value) in flags.items():
            section, _, key = field.rpartition(".")
            self._set(section, key, value, flag)

    def settings(self) -> Settings:
        """Return everything as one record. Raises SettingsError with all that is wrong."""
        rest = {key: value for key, value in self.data.items() if key not in ("targets", "gate", "golden")}
        parts: dict[str, Any] = {}
        parts["targets"] = self._targets(self.data.get("targets", {}))
        if self.data.get("gate") is not None:
            parts["gate"] = self._fit(self.data["gate"], GateSettings, "gate")
        golden = self.data.get("golden")
        if golden is not None:
            parts["golden"] = golden if isinstance(golden, str) else self._fit(golden, GoldenSettings, "golden")
        whole = self._fit(rest, Settings, "")
        if self.problems or whole is None:
            raise SettingsError(self.problems)
        return structs.replace(whole, **parts)

    def _targets(self, targets: Any) -> dict[str, Any]:
        if not isinstance(targets, dict):
            self._refuse("targets", f"wrong type (got {shown(targets)}; expected names with their targets)", "E_TYPE")
            return {}
        found = {}
        for name, value in targets.items():
            at = pointer("targets", name)
            kind = value.get("type") if isinstance(value, dict) else None
            if not isinstance(kind, str) or kind not in TARGET_KINDS:
                expected = ", ".join(TARGET_KINDS)
                self._refuse(
                    pointer(at, "type"), f"unknown type (got {shown(kind)}; expected one of {expected})", "E_ENUM"
                )
                continue
            rest = {key: item for key, item in value.items() if key != "type"}
            found[name] = self._fit(rest, TARGET_KINDS[kind], at)
        return found

    def _fit(self, value: Any, record: type[T], at: str) -> T | None:
        try:
            return fit(value, record, at)
        except MisfitError as error:
            for misfit in error.misfits:
                self._refuse(*_placed(misfit, at))
            return None

    def _set(self, section: str, key: str, value: Any, origin: str) -> None:
        if section:
            held = self.data.get(section)
            self.data[section] = {**(held if isinstance(held, dict) else {}), key: value}
        else:
            self.data[key] = value
        field = pointer(section, key)
        self.origins = {known: where for known, where in self.origins.items() if not known.startswith(f"{field}[")}
        self.origins[field] = origin

    def _refuse(self, field: str, message: str, code: str) -> None:
        self.problems.append(self._problem(field, message.replace(", or an x_ name", ""), code))

    def _problem(self, field: str, message: str, code: str) -> Problem:
        origin = self.origins.get(field, "")
        if origin and not origin.startswith(f"{self.name}:"):
            return Problem(origin, None, field, message, code)
        known = field
        while known and known not in self.document.places:
            known = known[: max(known.rfind("."), known.rfind("["), 0)]
        place = self.document.places.get(known, Place(1, 1))
        return problem_at(self.name, place, field, message, code)


def _placed(misfit: Misfit, at: str) -> tuple[str, str, str]:
    """Return a fault with its own place, where only the message named it (a pattern, or a number above another)."""
    found = _PLACED.fullmatch(misfit.message)
    if found is None:
        return misfit
    field = f"{at}{'.' if at and not found['field'].startswith('[') else ''}{found['field']}"
    return field, f"does not fit (expected {found['wanted'].replace('`', '')})", misfit.code


def _environment_fields() -> Iterator[tuple[str, tuple[str, str, bool]]]:
    """Yield the variables that are read: name, section, key, and whether the value is taken as text."""
    for key in SCALARS:
        yield f"ASSAY_{key.upper()}", ("", key, True)
    defaults = msgspec.to_builtins(Settings())
    for section in SECTIONS:
        for key, value in defaults[section].items():
            if not isinstance(value, (list, dict)):
                is_text = isinstance(value, str) or section == "report"
                yield f"ASSAY_{section.upper()}_{key.upper()}", (section, key, is_text)
