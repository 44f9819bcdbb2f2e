"""Paths into a JSON value: `data.hits[0].id`, `hits[*].id`, `$` for the whole value; nothing is ever executed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

MAX_STEPS = 20

_STEP = re.compile(r"\.?(?P<name>[^.\[\]$*\s]+)|\[(?P<index>\d{1,6})\]|(?P<wildcard>\[\*\])")


class Missing(LookupError):  # noqa: N818  # reads as a fact at the call site: `except Missing`
    """A value has nothing at a path."""


def parse(path: str) -> list[str | int | None]:
    """Return the steps of a path: a name, an index, or None for every item. Raises ValueError for other texts.

    >>> parse("$.hits[*].meta.page")
    ['hits', None, 'meta', 'page']
    """
    text = path.removeprefix("$")
    steps: list[str | int | None] = []
    at = 0
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None or len(steps) == MAX_STEPS or (at == 0 and path[0] != "$" and text.startswith(".")):
            raise ValueError(f"not a path (got {path!r}; expected names, [0] and [*], such as data.hits[*].id)")
        if match["index"]:
            steps.append(int(match["index"]))
        else:
            steps.append(match["name"])  # None for [*]
        at = match.end()
    if not path:
        raise ValueError("an empty path (expected names, [0] and [*], or $ for the whole)")
    return steps


def find(value: Any, path: str) -> Any:
    """Return the value at `path`, a list if the path has `[*]`. Raises Missing if there is none.

    >>> find({"hits": [{"id": "a"}, {"id": "b"}]}, "hits[*].id")
    ['a', 'b']
    """
    steps = parse(path)
    matches = list(_iterate_matches(value, steps, path))
    return matches if None in steps else matches[0]


def _iterate_matches(value: Any, steps: list[str | int | None], path: str) -> Iterator[Any]:
    if not steps:
        yield value
        return
    step, further_steps = steps[0], steps[1:]
    if step is None:
        if not isinstance(value, list):
            raise Missing(f"{path}: expected a list (got {type(value).__name__})")
        for item in value:
            yield from _iterate_matches(item, further_steps, path)
    elif isinstance(step, int):
        if not isinstance(value, list) or step >= len(value):
            raise Missing(f"{path}: nothing at [{step}]")
        yield from _iterate_matches(value[step], further_steps, path)
    else:
        if not isinstance(value, dict) or step not in value:
            keys = ", ".join(sorted(map(str, value))[:12]) if isinstance(value, dict) else type(value).__name__
            raise Missing(f"{path}: nothing at {step!r} (got {keys})")
        yield from _iterate_matches(value[step], further_steps, path)
