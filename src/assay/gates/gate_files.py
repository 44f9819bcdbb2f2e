"""Loads gates from YAML: the user's own files and the shipped profiles."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, structs

from assay.formats.file_io import is_file
from assay.formats.strict_json import MisfitError, convert_strictly, join_field
from assay.formats.strict_yaml import YamlDocument, build_yaml_problem, read_yaml, read_yaml_file
from assay.gates.profile_changes import describe_profile_changes, get_rule_subject
from assay.gates.rules import find_rule_problem, find_waived_rule_problem
from assay.records.errors import InputError, Problem, SettingsError, shorten_repr
from assay.records.release_gates import Gate, Rule
from assay.records.requests import GateOptions

RuleCheck = Callable[[Rule], str | None]
"""Returns what makes a rule invalid whatever the scores are (unknown metric, wrong direction), or None."""

SETTINGS_KEYS = ("golden", "corpus", "run_dir", "targets", "run", "scoring", "judge", "gate", "report")
_PROFILES = "profiles"
_SUFFIX = ".yaml"
T = TypeVar("T", bound=Struct)


def load_gate(path: Path | str, check: RuleCheck) -> Gate:
    """Load the gate of a YAML file: `rules` and the other fields of `Gate`, at the top level or under `gate:`.

    `profile: NAME` takes a shipped profile as the base. The file's fields replace those of the profile, and its rules
    replace the profile's rules for the same metric and slice; a regression rule and an absolute rule do not replace
    each other. All other rules are added. `gate: FILE` in a settings file stands for that file, relative to it.
    Raises InputError with everything that is wrong, including waivers without an owner, a day or a matching rule.
    """
    document = read_yaml_file(path)
    named = document.data.get("gate") if isinstance(document.data, dict) else None
    if isinstance(named, str):
        path = Path(path).parent / named
        document = read_yaml_file(path)
    return _read_gate(document, str(path), check, Path(path).name)


def read_gate_fields(fields: Mapping[str, Any], check: RuleCheck) -> Gate:
    """Return the gate that has the fields of a gate file. Raises InputError as `load_gate` does.

    >>> read_gate_fields({"rules": [{"metric": "failed", "at_most": 0}]}, lambda rule: None).rules[0].at_most
    0.0
    """
    try:
        text = msgspec.json.encode(dict(fields)).decode()
    except (TypeError, ValueError) as error:
        message = f"{error} (expected the fields of a gate file)"
        raise SettingsError([Problem("", None, "gate", message, "E_VALUE")]) from None
    return _read_gate(read_yaml(text, "gate"), "gate", check)


def load_profile(name: str, check: RuleCheck) -> Gate:
    """Load a shipped profile. Raises SettingsError for a name that `list_profile_names` does not list."""
    gate = _read_gate(read_yaml(read_profile_text(name), f"profile {name}"), f"profile {name}", check, is_shipped=True)
    return structs.replace(gate, usual_tags=tuple(dict.fromkeys((*gate.zero_tolerance_tags, *gate.blocking_tags))))


def list_profile_names() -> tuple[str, ...]:
    """Return the names of the shipped profiles in alphabetical order."""
    names = [entry.name for entry in _profiles_folder().iterdir()]
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


def read_profile_text(name: str) -> str:
    """Return the text of a shipped profile, comments included. Raises SettingsError for an unknown name."""
    names = list_profile_names()
    if name not in names:
        raise SettingsError([Problem("", None, "profile", _describe_unknown("profile", name, names), "E_PROFILE")])
    return _profiles_folder().joinpath(name + _SUFFIX).read_text(encoding="utf-8")


def _profiles_folder() -> Path:
    return Path(__file__).with_name(_PROFILES)


def _read_gate(
    document: YamlDocument, name: str, check: RuleCheck, file: str = "", *, is_shipped: bool = False
) -> Gate:
    reader = _GateReader(document, name)
    body, at = reader.find_body()
    if body is None:
        raise SettingsError(reader.problems)
    base = reader.read_base(body, at, check)
    rules = reader.read_rules(body, at, check)
    # A rule that could not be read may be the one that is waived.
    reader.check_waivers(body, at, None if reader.problems else [*base.rules, *rules])
    gate_keys = [key for key in Gate.__struct_fields__ if key != "usual_tags"]
    written = reader.take_known(body, at, ["profile", *gate_keys])
    plain_fields = {key: value for key, value in written.items() if key not in ("profile", "rules")}
    own_gate = reader.fit_record(plain_fields, Gate, at)
    has_rules = bool(rules or base.rules)
    if own_gate is not None and not (has_rules or _decides_without_rules(own_gate) or reader.problems):
        reader.refuse(
            at,
            "a gate without rules decides nothing (expected rules, a profile, correctness or blocking_tags)",
            "E_EMPTY",
        )
    if own_gate is None or reader.problems:
        raise SettingsError(reader.problems)
    fields = {key: getattr(own_gate, key) for key in plain_fields}
    replaced = {get_rule_subject(rule) for rule in rules}
    base_rules = tuple(rule for rule in base.rules if get_rule_subject(rule) not in replaced)
    # A tag that the file names itself is no longer one that only the profile asks for.
    named_tags = {*own_gate.blocking_tags, *fields.get("zero_tolerance_tags", ())}
    usual_tags = tuple(tag for tag in base.usual_tags if tag not in named_tags)
    gate = structs.replace(base, **fields, rules=(*base_rules, *rules), usual_tags=usual_tags)
    if not is_shipped and gate.name in list_profile_names():
        gate = structs.replace(gate, name=_name_changed_profile(gate, gate.name, file, check))
    return gate


def _decides_without_rules(gate: Gate) -> bool:
    return bool(gate.blocking_tags) or gate.correctness is not None


def _name_changed_profile(gate: Gate, profile: str, file: str, check: RuleCheck) -> str:
    """Return the name of a gate that a profile gave its name: where it decides otherwise than the profile, that of its
    file with what it changed, so that nobody takes it for the shipped gate."""
    changes = describe_profile_changes(load_profile(profile, check), gate)
    if not changes:
        return gate.name
    return f"{file} ({profile}, changed: {changes})" if file else f"{profile}, changed: {changes}"


def _find_expiry_problem(expires: str) -> str | None:
    try:
        is_day = date.fromisoformat(expires).isoformat() == expires
    except ValueError:
        is_day = False
    return None if is_day else f"expires is not a day (got {shorten_repr(expires)}; expected one such as 2026-03-31)"


def _find_waiver_problems(item: Mapping[str, Any], rules: Sequence[Rule] | None) -> Iterator[str]:
    """Yield what is wrong with the members of a waiver that are texts, those that it has; `rules` may not be known."""
    texts = {key: value for key, value in item.items() if isinstance(value, str)}
    expiry_problem = _find_expiry_problem(texts["expires"]) if "expires" in texts else None
    if expiry_problem is not None:
        yield expiry_problem
    slice_name = item.get("slice")
    if rules is not None and "metric" in texts and (slice_name is None or isinstance(slice_name, str)):
        subject_problem = find_waived_rule_problem(texts["metric"], slice_name, rules)
        if subject_problem is not None:
            yield subject_problem
    empty = [key for key in ("owner", "reason") if key in texts and not texts[key].strip()]
    if empty:
        yield f"a waiver needs an owner and a reason (got an empty {' and '.join(empty)})"


class _GateReader:
    """Reads the parts of one gate and collects everything that is wrong with them."""

    def __init__(self, document: YamlDocument, name: str) -> None:
        self.document, self.name = document, name
        self.problems: list[Problem] = []

    def refuse(self, field: str, message: str, code: str) -> None:
        """Note a problem at a field, or at the nearest field around it that the document has."""
        position = self.document.find_position(field, code)
        self.problems.append(build_yaml_problem(self.name, position, field, message, code))

    def find_body(self) -> tuple[dict[str, Any] | None, str]:
        """Return the mapping that holds the gate, and its field: the whole document, or the value of `gate:`."""
        body, at = self.document.data, ""
        if isinstance(body, dict) and "gate" in body:
            self.take_known(body, at, SETTINGS_KEYS)
            body, at = body["gate"], "gate"
        if isinstance(body, dict):
            return body, at
        got = "nothing" if body is None else shorten_repr(body)
        self.refuse(at, f"not a gate (got {got}; expected a mapping with rules)", "E_TYPE")
        return None, at

    def read_base(self, body: dict[str, Any], at: str, check: RuleCheck) -> Gate:
        """Return the profile that the file builds on, an empty gate if it names none."""
        if "profile" not in body:
            return Gate()
        field, profile = join_field(at, "profile"), body["profile"]
        if not isinstance(profile, str):
            self.refuse(field, f"wrong type (got {shorten_repr(profile)}; expected the name of a profile)", "E_TYPE")
            return Gate()
        if profile not in list_profile_names():
            self.refuse(field, _describe_unknown("profile", profile, list_profile_names()), "E_PROFILE")
            return Gate()
        return load_profile(profile, check)

    def read_rules(self, body: dict[str, Any], at: str, check: RuleCheck) -> list[Rule]:
        """Return the valid rules, without a second one for the same metric, slice and conditions."""
        field, listed = join_field(at, "rules"), body.get("rules", [])
        if not isinstance(listed, list):
            self.refuse(field, f"wrong type (got {shorten_repr(listed)}; expected a list of rules)", "E_TYPE")
            return []
        rules: dict[tuple[str, str | None, str], Rule] = {}
        for index, item in enumerate(listed):
            item_field = join_field(field, index)
            rule = self._read_rule(item, item_field, check)
            if rule is None:
                continue
            conditions = [name for name in ("at_least", "at_most", "max_regression") if name in item]
            key = rule.metric, rule.slice, " ".join(conditions)
            if key in rules:
                message = f"a second rule for {rule.metric} on the same slice (expected one)"
                self.refuse(item_field, message, "E_RULE_TWICE")
            rules[key] = rule
        return list(rules.values())

    def _read_rule(self, item: Any, at: str, check: RuleCheck) -> Rule | None:
        if not isinstance(item, dict):
            self.refuse(at, f"not a rule (got {shorten_repr(item)}; expected {{metric: …, at_least: …}})", "E_TYPE")
            return None
        rule = self.fit_record(self.take_known(item, at, Rule.__struct_fields__), Rule, at)
        if rule is None:
            return None
        problem = check(rule)
        if problem is not None:
            self.refuse(at, problem, "E_RULE")
        return rule

    def check_waivers(self, body: dict[str, Any], at: str, rules: Sequence[Rule] | None) -> None:
        """Refuse what is wrong with the members that each waiver has; that others are missing is told by its type."""
        field, listed = join_field(at, "waivers"), body.get("waivers")
        for index, item in enumerate(listed if isinstance(listed, list) else ()):
            if not isinstance(item, dict):
                continue
            for message in _find_waiver_problems(item, rules):
                self.refuse(join_field(field, index), message, "E_WAIVER")

    def take_known(self, mapping: dict[str, Any], at: str, names: Sequence[str]) -> dict[str, Any]:
        """Return the members that have one of the names; refuse the others."""
        for key in mapping:
            if key not in names:
                self.refuse(join_field(at, key), _describe_unknown("key", key, names), "E_UNKNOWN_FIELD")
        return {key: value for key, value in mapping.items() if key in names}

    def fit_record(self, value: dict[str, Any], record: type[T], at: str) -> T | None:
        """Return the value as a record, or None if something did not fit and was refused."""
        try:
            return convert_strictly(value, record, at)
        except MisfitError as error:
            for misfit in error.misfits:
                self.refuse(*misfit)
            return None


_OTHER_NAMES = {
    **dict.fromkeys(("min", "minimum", "above", "threshold", "target"), "at_least"),
    **dict.fromkeys(("max", "maximum", "below", "limit"), "at_most"),
}
"""What other tools call the keys of a rule."""


def _describe_unknown(noun: str, name: str, known_names: Collection[str]) -> str:
    translated = _OTHER_NAMES.get(name)
    close = [translated] if translated in known_names else get_close_matches(name, known_names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"unknown {noun} (got {shorten_repr(name)}; {hint}expected {', '.join(known_names)})"


def load_gate_or_profile(path: str | None, profile: str | None, approver: str = "") -> Gate | None:
    """Return the gate of a file or a profile, None if neither is named; an `approver` replaces that of the file."""
    if path is not None and profile is not None:
        raise InputError(
            "--gate and --profile: both given (expected one of them; a gate file can name a profile as its base)"
        )
    if path is None and profile is None:
        if approver:
            raise InputError("--approver: nothing to approve without a gate (expected --gate FILE or --profile NAME)")
        return None

    if path in list_profile_names() and not is_file(Path(path)):
        raise InputError(f"{path}: no such file, but a profile (expected --profile {path}, or a gate file)")
    gate = load_gate(path, find_rule_problem) if path is not None else load_profile(str(profile), find_rule_problem)
    return structs.replace(gate, approver=approver) if approver else gate


def load_requested_gate(options: GateOptions) -> Gate | None:
    """Return the gate that the options name or hold; None if there is none."""
    if isinstance(options.gate, Gate):
        return options.gate
    return load_gate_or_profile(options.gate, options.profile, options.approver)
