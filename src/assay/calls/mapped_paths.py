"""What to say of a path of the settings at which a reply has nothing: what is there instead, and the nearest path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from assay.calls.templates import MissingPath, find_value, parse_path

_MOST_LEVELS = 4
_MOST_KEYS = 12


def describe_missing_path(value: Any, setting: str, path: str, owner: str = "the reply") -> str:
    """Return what is missing and what is there instead; "" where the value has something at the path, if only null.

    `setting` is the name of the setting that holds the path, and `owner` says whose keys those of the value are.

    >>> describe_missing_path({"result": {"hits": [], "reply": "Yes."}}, "response.stages.retrieved", "result.hit")
    'response.stages.retrieved: nothing at result.hit (result has the keys hits, reply; did you mean result.hits?)'
    """
    try:
        find_value(value, path)
    except MissingPath:
        pass
    else:
        return ""
    steps = parse_path(path)
    depth, holder = _follow(value, steps)
    place = _join_steps(steps[:depth]) or owner
    near = _find_near_path(value, steps, depth, holder)
    hint = f"; did you mean {near}?" if near else ""
    return f"{setting}: nothing at {path} ({place} {_describe_content(holder)}{hint})"


def _follow(value: Any, steps: Sequence[str | int | None]) -> tuple[int, Any]:
    """Return how many steps of a path can be taken, and the value where the path ends; of lists, in the first item."""
    for depth, step in enumerate(steps):
        if isinstance(step, str):
            if not isinstance(value, Mapping) or step not in value:
                return depth, value
            value = value[step]
        else:
            index = step or 0
            if not isinstance(value, (list, tuple)) or index >= len(value):
                return depth, value
            value = value[index]
    return len(steps), value


def _join_steps(steps: Sequence[str | int | None]) -> str:
    path = ""
    for step in steps:
        if isinstance(step, str):
            path += f".{step}" if path else step
        else:
            path += "[*]" if step is None else f"[{step}]"
    return path


def _describe_content(value: Any) -> str:
    if isinstance(value, Mapping):
        keys = sorted(map(str, value))
        if len(keys) == 1:
            return f"has the key {keys[0]} alone"
        more = " …" if len(keys) > _MOST_KEYS else ""
        return f"has the keys {', '.join(keys[:_MOST_KEYS])}{more}" if keys else "has no keys"
    if isinstance(value, (list, tuple)):
        return f"is a list of {len(value)}"
    names = {str: "a text", bool: "true or false", int: "a number", float: "a number", type(None): "null"}
    return f"is {names.get(type(value), type(value).__name__)}"


def _find_near_path(value: Any, steps: Sequence[str | int | None], depth: int, holder: Any) -> str:
    """Return the path that was probably meant: a key spelt alike at the same place, or of the same name elsewhere."""
    step = steps[depth] if depth < len(steps) else None
    if not isinstance(step, str):
        return ""
    if isinstance(holder, Mapping):
        for key in get_close_matches(step, [key for key in holder if isinstance(key, str)], n=1):
            corrected = [*steps[:depth], key, *steps[depth + 1 :]]
            if _follow(value, corrected)[0] == len(steps):
                return _join_steps(corrected)
    name = next(step for step in reversed(steps) if isinstance(step, str))
    path_by_name: dict[str, str] = {}
    for path in _iterate_paths(value, "", _MOST_LEVELS):
        path_by_name.setdefault(path.rpartition(".")[2], path)
    near_names = get_close_matches(name, list(path_by_name), n=1)
    return path_by_name[near_names[0]] if near_names else ""


def _iterate_paths(value: Any, path: str, levels: int) -> Iterator[str]:
    """Yield the paths of the members of a value, outer ones first; lists are not entered."""
    if not isinstance(value, Mapping) or not levels:
        return
    paths = {f"{path}.{key}" if path else key: item for key, item in value.items() if isinstance(key, str)}
    yield from paths
    for member_path, item in paths.items():
        yield from _iterate_paths(item, member_path, levels - 1)
