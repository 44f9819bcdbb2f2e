"""Gates from YAML: the user's own files, and the profiles that are shipped."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import date
from difflib import get_close_matches
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, structs

from assay.errors import Problem, SettingsError, shown
from assay.io.shape import MisfitError, fit
from assay.io.strictjson import pointer
from assay.io.strictyaml import Document, Place, problem_at, read_yaml, read_yaml_file
from assay.model import Gate, Rule, Waiver
from assay.scoring.waivers import waiver_problem

RuleCheck = Callable[[Rule], str | None]
"""Returns what is wrong with a rule whatever is measured (unknown metric, wrong direction …), None where nothing is."""

SETTINGS = ("golden", "corpus", "run_dir", "targets", "run", "scoring", "judge", "gate", "report")
_PROFILES = "profiles"
_SUFFIX = ".yaml"
T = TypeVar("T", bound=Struct)


def load_gate(path: Path | str, check: RuleCheck) -> Gate:
    """Return the gate of a YAML file: `rules` and the other fields of `Gate`, at the top or under `gate:`.

    `profile: NAME` takes a shipped profile as the base: the file's fields replace the profile's, and its rules replace
    the profile's rules for the same metric and slice and add to the others; a regression rule stands beside an absolute
    one. Raises InputError with everything wrong, a waiver without owner, day or rule included.
    """
    return _gate(read_yaml_file(path), str(path), check)


def load_profile(name: str, check: RuleCheck) -> Gate:
    """Return a shipped profile; raises SettingsError for a name that `profile_names` does not list."""
    gate = _gate(read_yaml(profile_text(name), f"profile {name}"), f"profile {name}", check)
    return structs.replace(gate, usual_tags=tuple(dict.fromkeys((*gate.zero_tolerance_tags, *gate.blocking_tags))))


def profile_names() -> tuple[str, ...]:
    """Return the names of the shipped profiles in alphabetical order."""
    names = [entry.name for entry in _folder().iterdir()]
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


def profile_text(name: str) -> str:
    """Return a shipped profile as written, with its comments; raises SettingsError for an unknown name."""
    known = profile_names()
    if name not in known:
        raise SettingsError([Problem("", None, "profile", _unknown("profile", name, known), "E_PROFILE")])
    return _folder().joinpath(name + _SUFFIX).read_text(encoding="utf-8")


def _folder() -> Traversable:
    return files("assay").joinpath(_PROFILES)


def _gate(document: Document, name: str, check: RuleCheck) -> Gate:
    reader = _Reader(document, name)
    body, at = reader.body()
    if body is None:
        raise SettingsError(reader.problems)
    base = reader.base(body, at, check)
    rules = reader.rules(body, at, check)
    written = reader.known(body, at, ("profile", *(field for field in Gate.__struct_fields__ if field != "usual_tags")))
    own = reader.fit({key: value for key, value in written.items() if key not in ("profile", "rules")}, Gate, at)
    if own is not None and not (rules or base.rules or own.blocking_tags or reader.problems):
        reader.refuse(
            at, "a gate without rules decides nothing (expected rules, a profile or blocking_tags)", "E_EMPTY"
        )
    if own is None or reader.problems:
        raise SettingsError(reader.problems)
    fields = {key: getattr(own, key) for key in written if key not in ("profile", "rules")}
    replaced = {_subject(rule) for rule in rules}
    kept = tuple(rule for rule in base.rules if _subject(rule) not in replaced)
    named = {*own.blocking_tags, *fields.get("zero_tolerance_tags", ())}
    usual = tuple(tag for tag in base.usual_tags if tag not in named)
    gate = structs.replace(base, **fields, rules=(*kept, *rules), usual_tags=usual)
    for index, waiver in enumerate(own.waivers):
        wrong = _expiry_problem(waiver) or waiver_problem(waiver, gate.rules)
        if wrong is not None:
            reader.refuse(pointer(pointer(at, "waivers"), index), wrong, "E_WAIVER")
    if reader.problems:
        raise SettingsError(reader.problems)
    return gate


def _subject(rule: Rule) -> tuple[str, str | None, bool]:
    """What a rule of a profile is replaced for: a regression rule stands beside the absolute one."""
    return rule.metric, rule.slice, rule.max_regression is not None


def _expiry_problem(waiver: Waiver) -> str | None:
    try:
        right = date.fromisoformat(waiver.expires).isoformat() == waiver.expires
    except ValueError:
        right = False
    return None if right else f"expires is not a day (got {shown(waiver.expires)}; expected one such as 2026-03-31)"


class _Reader:
    """Reads the parts of one gate, keeping everything that is wrong with them."""

    def __init__(self, document: Document, name: str) -> None:
        self.document, self.name = document, name
        self.problems: list[Problem] = []

    def refuse(self, field: str, message: str, code: str) -> None:
        known = field
        while known and known not in self.document.places:
            known = known[: max(known.rfind("."), known.rfind("["), 0)]
        place = self.document.places.get(known, Place(1, 1))
        self.problems.append(problem_at(self.name, place, field, message, code))

    def body(self) -> tuple[dict[str, Any] | None, str]:
        """Return the mapping that holds the gate, and its field: the document, or what stands under `gate:`."""
        body, at = self.document.data, ""
        if isinstance(body, dict) and "gate" in body:
            self.known(body, at, SETTINGS)
            body, at = body["gate"], "gate"
        if isinstance(body, dict):
            return body, at
        got = "nothing" if body is None else shown(body)
        self.refuse(at, f"not a gate (got {got}; expected a mapping with rules)", "E_TYPE")
        return None, at

    def base(self, body: dict[str, Any], at: str, check: RuleCheck) -> Gate:
        if "profile" not in body:
            return Gate()
        field, profile = pointer(at, "profile"), body["profile"]
        if not isinstance(profile, str):
            self.refuse(field, f"wrong type (got {shown(profile)}; expected the name of a profile)", "E_TYPE")
            return Gate()
        if profile not in profile_names():
            self.refuse(field, _unknown("profile", profile, profile_names()), "E_PROFILE")
            return Gate()
        return load_profile(profile, check)

    def rules(self, body: dict[str, Any], at: str, check: RuleCheck) -> list[Rule]:
        field, listed = pointer(at, "rules"), body.get("rules", [])
        if not isinstance(listed, list):
            self.refuse(field, f"wrong type (got {shown(listed)}; expected a list of rules)", "E_TYPE")
            return []
        rules: dict[tuple[str, str | None, str], Rule] = {}
        for index, item in enumerate(listed):
            place = pointer(field, index)
            rule = self._rule(item, place, check)
            if rule is None:
                continue
            conditions = [name for name in ("at_least", "at_most", "max_regression") if name in item]
            key = rule.metric, rule.slice, " ".join(conditions)
            if key in rules:
                self.refuse(place, f"a second rule for {rule.metric} on the same slice (expected one)", "E_RULE_TWICE")
            rules[key] = rule
        return list(rules.values())

    def _rule(self, item: Any, at: str, check: RuleCheck) -> Rule | None:
        if not isinstance(item, dict):
            self.refuse(at, f"not a rule (got {shown(item)}; expected {{metric: …, at_least: …}})", "E_TYPE")
            return None
        rule = self.fit(self.known(item, at, Rule.__struct_fields__), Rule, at)
        if rule is None:
            return None
        wrong = check(rule)
        if wrong is not None:
            self.refuse(at, wrong, "E_RULE")
        return rule

    def known(self, mapping: dict[str, Any], at: str, names: Sequence[str]) -> dict[str, Any]:
        """Return the members that have one of the names; the others are refused."""
        for key in mapping:
            if key not in names:
                self.refuse(pointer(at, key), _unknown("key", key, names), "E_UNKNOWN_FIELD")
        return {key: value for key, value in mapping.items() if key in names}

    def fit(self, value: dict[str, Any], record: type[T], at: str) -> T | None:
        """Return the value as a record, None where something does not fit and was refused."""
        try:
            return fit(value, record, at)
        except MisfitError as error:
            for misfit in error.misfits:
                self.refuse(*misfit)
            return None


def _unknown(what: str, name: str, known: Collection[str]) -> str:
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"unknown {what} (got {shown(name)}; {hint}expected {', '.join(known)})"
