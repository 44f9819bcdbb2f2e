"""Normalises to NFC every name of a case that is compared with something else."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from assay.errors import shown
from assay.io.strictjson import pointer
from assay.model import Case, Evidence, Selector, User

if TYPE_CHECKING:
    from assay.io.goldens.base import Spot
    from assay.io.goldens.builder import Builder

PROSE_KEYS = ("quote", "title")
"""Selector fields that hold prose: the rules for ids (length, characters) do not apply to them."""


def named(case: Case, builder: Builder, spot: Spot) -> Case:
    """Return the case with its ids and names in NFC; lists of names lose repetitions."""
    changes: dict[str, Any] = {}
    case_id = builder.clean_one(case.id, spot, "id")
    if case_id != case.id:
        changes["id"] = case_id
    for field, names in (("tags", case.tags), ("must_cite", case.must_cite), ("symbols", case.symbols)):
        if names:
            cleaned = builder.clean(names, spot, field)
            if cleaned != names:
                changes[field] = cleaned
    if case.attributes:
        attributes = _normalise_attributes(case.attributes, builder, spot)
        if attributes != case.attributes:
            changes["attributes"] = attributes
    if case.cluster is not None:
        changes["cluster"] = builder.clean_one(case.cluster, spot, "cluster")
    if case.user is not None:
        changes["user"] = _normalise_user(case.user, builder, spot)
    return replace(case, **changes) if changes else case


def _normalise_attributes(attributes: dict[str, str], builder: Builder, spot: Spot) -> dict[str, str]:
    """Return attributes in NFC, the form in which slices are looked up; notes names that become equal."""
    normalised: dict[str, str] = {}
    for key, value in attributes.items():
        name = unicodedata.normalize("NFC", key)
        if name in normalised:
            message = f"name equal to another one after NFC normalisation (got {shown(name)} again; expected it once)"
            builder.error(spot, pointer("attributes", name), message, "E_ATTRIBUTE")
        normalised[name] = unicodedata.normalize("NFC", value)
    return normalised


def named_evidence(evidence: tuple[Evidence, ...], builder: Builder, spot: Spot) -> tuple[Evidence, ...]:
    """Return units of evidence with the strings of their selectors in NFC; notes empty selectors."""
    return tuple([_normalise_unit(unit, builder, spot, index) for index, unit in enumerate(evidence)])


def named_selectors(selectors: tuple[Selector, ...], builder: Builder, spot: Spot, name: str) -> tuple[Selector, ...]:
    """Return selectors with their strings in NFC; notes empty ones."""
    return tuple(
        [_normalise_selector(selector, builder, spot, pointer(name, i)) for i, selector in enumerate(selectors)]
    )


def _normalise_user(user: User, builder: Builder, spot: Spot) -> User:
    normalised = builder.users.get(user)
    if normalised is None:
        changes: dict[str, Any] = {"roles": builder.clean(user.roles, spot, "user.roles")}
        for name in ("tenant", "position_scope", "id"):
            value = getattr(user, name)
            if value is not None:
                changes[name] = builder.clean_one(value, spot, f"user.{name}")
        normalised = builder.users[user] = replace(user, **changes)
    return normalised


def _normalise_unit(unit: Evidence, builder: Builder, spot: Spot, index: int) -> Evidence:
    name = f"evidence[{index}].any_of"
    if not unit.any_of:
        builder.error(spot, name, "no selector (got []; expected at least one)", "E_SELECTOR")
    return replace(unit, any_of=named_selectors(unit.any_of, builder, spot, name))


def _normalise_selector(selector: Selector, builder: Builder, spot: Spot, name: str) -> Selector:
    if not selector:
        builder.error(spot, name, "empty selector (got {}; expected a field)", "E_SELECTOR")
    normalised: Selector = {}
    for key, value in selector.items():
        if isinstance(value, str):
            if key in PROSE_KEYS and value and not value.isspace():
                value = unicodedata.normalize("NFC", value)
            else:
                value = builder.clean_one(value, spot, pointer(name, key))
        normalised[unicodedata.normalize("NFC", key)] = value
    return normalised
