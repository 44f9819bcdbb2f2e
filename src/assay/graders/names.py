"""Metric names: `name[(key=value,…)][@k]`, keys sorted, defaults omitted; what is printed parses back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from assay.errors import MetricNameError, Problem, shown

_NAME_PATTERN = re.compile(r"(?P<base>[a-z][a-z0-9_]*)(?:\((?P<keys>[^()]*)\))?(?:@(?P<k>[0-9]+))?")
_MOST_DIGITS = 9  # of k: longer than any ranking, and within what arrays hold
_KEY_PATTERN = re.compile(r"\s*([a-z_]+)\s*=\s*([A-Za-z0-9_.:/-]+)\s*")


@dataclass(frozen=True, slots=True)
class MetricName:
    """A metric's identity: base name, keys that differ from their defaults, cut-off.

    >>> str(MetricName("ndcg", (("gain", "linear"),), 10))
    'ndcg(gain=linear)@10'
    """

    base: str
    keys: tuple[tuple[str, str], ...] = ()
    k: int | None = None

    def __str__(self) -> str:
        inner = ",".join(f"{key}={value}" for key, value in self.keys)
        return self.base + (f"({inner})" if inner else "") + ("" if self.k is None else f"@{self.k}")

    def key(self, name: str, default: str) -> str:
        """Return the value of a key, or the default where the name does not state it."""
        return dict(self.keys).get(name, default)


@cache
def read_name(text: str) -> MetricName:
    """Read the shape of a metric name; the name is not looked up in the catalogue.

    Raises MetricNameError with the text and the expected shape.

    >>> read_name("recall( stage=context, rel=2 )@5")
    MetricName(base='recall', keys=(('rel', '2'), ('stage', 'context')), k=5)
    """
    match = _NAME_PATTERN.fullmatch(text.strip())
    if match is None:
        raise _name_error(text, "expected name, name@k or name(key=value,…)@k")
    keys: dict[str, str] = {}
    for part in (match["keys"] or "").split(",") if match["keys"] else ():
        key_match = _KEY_PATTERN.fullmatch(part)
        if key_match is None:
            raise _name_error(text, f"{shown(part)} is not key=value")
        if key_match[1] in keys:
            raise _name_error(text, f"key {key_match[1]!r} is given twice")
        keys[key_match[1]] = key_match[2]
    if match["k"] is not None and len(match["k"].lstrip("0")) > _MOST_DIGITS:
        raise _name_error(text, f"k must be at most {10**_MOST_DIGITS - 1}")
    k = None if match["k"] is None else int(match["k"])
    if k == 0:
        raise _name_error(text, "k must be at least 1")
    return MetricName(match["base"], tuple(sorted(keys.items())), k)


def split_names(text: str) -> list[str]:
    """Split a comma-separated list of metric names, leaving the commas inside parentheses alone.

    >>> split_names("recall@5, recall(rel=2,stage=context)@5,ap")
    ['recall@5', 'recall(rel=2,stage=context)@5', 'ap']
    """
    names = re.split(r",(?![^(]*\))", text)
    return [part.strip() for part in names if part.strip()]


def without_defaults(keys: Mapping[str, str], defaults: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the keys that differ from their defaults, sorted: the canonical spelling."""
    return tuple(sorted((key, value) for key, value in keys.items() if defaults.get(key) != value))


def _name_error(text: str, reason: str) -> MetricNameError:
    return MetricNameError([Problem("", None, "metric", f"cannot read {shown(text)}: {reason}")])
