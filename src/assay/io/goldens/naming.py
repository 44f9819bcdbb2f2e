"""Brings every name of a case that is compared with something else into NFC."""

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
"""Selector fields that hold prose, so that the rules for ids (length, characters) do not apply."""


def named(case: Case, builder: Builder, spot: Spot) -> Case:
    """Return the case with id, must_cite, symbols, tags, attributes, cluster and the user's names in NFC, each once."""
    now: dict[str, Any] = {}
    if (case_id := builder.clean_one(case.id, spot, "id")) != case.id:
        now["id"] = case_id
    if case.tags and (tags := builder.clean(case.tags, spot, "tags")) != case.tags:
        now["tags"] = tags
    if case.must_cite and (must_cite := builder.clean(case.must_cite, spot, "must_cite")) != case.must_cite:
        now["must_cite"] = must_cite
    if case.symbols and (symbols := builder.clean(case.symbols, spot, "symbols")) != case.symbols:
        now["symbols"] = symbols
    if case.attributes and (attributes := _named_attributes(case.attributes, builder, spot)) != case.attributes:
        now["attributes"] = attributes
    if case.cluster is not None:
        now["cluster"] = builder.clean_one(case.cluster, spot, "cluster")
    if case.user is not None and (user := _named_user(case.user, builder, spot)) is not case.user:
        now["user"] = user
    return replace(case, **now) if now else case


def _named_attributes(attributes: dict[str, str], builder: Builder, spot: Spot) -> dict[str, str]:
    """Slices are asked for in NFC, whatever the form that the file has."""
    now: dict[str, str] = {}
    for key, value in attributes.items():
        name = unicodedata.normalize("NFC", key)
        if name in now:
            message = f"name equal to another one after NFC normalisation (got {shown(name)} again; expected it once)"
            builder.error(spot, pointer("attributes", name), message, "E_ATTRIBUTE")
        now[name] = unicodedata.normalize("NFC", value)
    return now


def named_evidence(evidence: tuple[Evidence, ...], builder: Builder, spot: Spot) -> tuple[Evidence, ...]:
    """Return units of evidence with the strings of their selectors in NFC; notes selectors that name nothing."""
    return tuple([_named_unit(unit, builder, spot, index) for index, unit in enumerate(evidence)])


def named_selectors(selectors: tuple[Selector, ...], builder: Builder, spot: Spot, name: str) -> tuple[Selector, ...]:
    """Return selectors with their strings in NFC; notes those that name nothing."""
    return tuple([_named_selector(each, builder, spot, pointer(name, i)) for i, each in enumerate(selectors)])


def _named_user(user: User, builder: Builder, spot: Spot) -> User:
    known = builder.users.get(user)
    if known is None:
        now: dict[str, Any] = {"roles": builder.clean(user.roles, spot, "user.roles")}
        for name in ("tenant", "position_scope", "id"):
            if (value := getattr(user, name)) is not None:
                now[name] = builder.clean_one(value, spot, f"user.{name}")
        known = builder.users[user] = replace(user, **now)
    return known


def _named_unit(unit: Evidence, builder: Builder, spot: Spot, index: int) -> Evidence:
    name = f"evidence[{index}].any_of"
    if not unit.any_of:
        builder.error(spot, name, "no selector (got []; expected at least one)", "E_SELECTOR")
    return replace(unit, any_of=named_selectors(unit.any_of, builder, spot, name))


def _named_selector(selector: Selector, builder: Builder, spot: Spot, name: str) -> Selector:
    if not selector:
        builder.error(spot, name, "selector that names nothing (got {}; expected a field)", "E_SELECTOR")
    now: Selector = {}
    for key, value in selector.items():
        if isinstance(value, str):
            if key in PROSE_KEYS and value and not value.isspace():
                value = unicodedata.normalize("NFC", value)
            else:
                value = builder.clean_one(value, spot, pointer(name, key))
        now[unicodedata.normalize("NFC", key)] = value
    return now
