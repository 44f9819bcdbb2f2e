"""What a gate changed of the shipped profile that it builds on, in words: who reads its name must not take it for the
profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from assay.records.counts import format_count
from assay.records.release_gates import Gate, Rule

_STRICTEST_FIRST = {
    "severity": ("block", "warn"),
    "if_unmeasured": ("fail", "risk", "ignore"),
    "if_no_data": ("fail", "ignore"),
    "if_inconclusive": ("fail", "risk"),
    "if_unknown": ("fail", "incomplete", "risk"),
    "uncalibrated": ("fail", "risk"),
}
_DEFAULTS = {"if_inconclusive": "risk", "uncalibrated": "fail"}
_WORDS = ("added", "relaxed", "tightened", "changed", "removed")


def get_rule_subject(rule: Rule) -> tuple[str, str | None, bool]:
    """Return the key by which a rule of a file replaces one of its profile; regression rules have keys of their own."""
    return rule.metric, rule.slice, rule.max_regression is not None


def describe_profile_changes(profile: Gate, gate: Gate) -> str:
    """Return what a gate changed of a profile, such as `3 rules added, 2 relaxed, zero tolerance off`; "" if it decides
    as the profile does.

    >>> strict, loose = Rule("recall@10", at_least=0.9), Rule("recall@10", at_least=0.5)
    >>> describe_profile_changes(Gate((strict,)), Gate((loose, Rule("failed", at_most=0.1)), zero_tolerance_tags=()))
    '1 rule added, 1 relaxed, zero tolerance off'
    """
    return ", ".join((*_describe_rules(profile, gate), *_describe_settings(profile, gate)))


def _describe_rules(profile: Gate, gate: Gate) -> Iterator[str]:
    profile_rules = {get_rule_subject(rule): rule for rule in profile.rules}
    rules = {get_rule_subject(rule): rule for rule in gate.rules}
    counts = Counter("removed" for subject in profile_rules if subject not in rules)
    for subject, rule in rules.items():
        counts[_name_change(profile_rules[subject], rule) if subject in profile_rules else "added"] += 1
    named = [word for word in _WORDS if counts[word]]
    for word in named:
        yield f"{format_count(counts[word], 'rule') if word == named[0] else counts[word]} {word}"


def _name_change(before: Rule, after: Rule) -> str:
    """Return whether a rule became stricter or looser, `changed` where neither can be said; "" if it is the same."""
    directions = set(_iter_directions(before, after))
    if not directions:
        return ""
    return next(iter(directions)) if len(directions) == 1 else "changed"


def _iter_directions(before: Rule, after: Rule) -> Iterator[str]:
    for field in Rule.__struct_fields__:
        old, new = (_get_setting(rule, field) for rule in (before, after))
        if old == new or field == "reason":
            continue
        if field in _STRICTEST_FIRST:
            order = _STRICTEST_FIRST[field]
            yield "relaxed" if order.index(new) > order.index(old) else "tightened"
        elif field in ("at_least", "min_coverage", "at_most", "max_regression") and None not in (old, new):
            is_floor = field in ("at_least", "min_coverage")
            yield "relaxed" if (new < old) == is_floor else "tightened"
        else:
            yield "changed"


def _get_setting(rule: Rule, field: str) -> Any:
    setting = getattr(rule, field)
    return _DEFAULTS.get(field) if setting is None else setting


def _describe_settings(profile: Gate, gate: Gate) -> Iterator[str]:
    """Yield what changed beside the rules, as far as it decides something."""
    if gate.zero_tolerance_tags != profile.zero_tolerance_tags:
        yield f"zero tolerance {_describe_tags(gate.zero_tolerance_tags)}"
    if gate.blocking_tags != profile.blocking_tags:
        yield f"blocking tags {_describe_tags(gate.blocking_tags)}"
    if gate.correctness != profile.correctness:
        sides = ("no rule" if share is None else f"{share:g}" for share in (profile.correctness, gate.correctness))
        yield f"correctness {' → '.join(sides)}"
    if gate.exempt_from_correctness and not profile.exempt_from_correctness:
        yield "exempt from correctness"
    if gate.configs != profile.configs:
        yield f"only for {', '.join(gate.configs)}" if gate.configs else "for all configurations"
    if gate.waivers != profile.waivers:
        yield format_count(len(gate.waivers), "waiver")


def _describe_tags(tags: tuple[str, ...]) -> str:
    return f"for {', '.join(tags)}" if tags else "off"
