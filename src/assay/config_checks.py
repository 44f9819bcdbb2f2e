"""What a settings file may not hold, whatever its shape: secrets, paths that are none, placeholders without meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from assay.errors import Problem, shown
from assay.io.redaction import looks_secret
from assay.io.strictjson import pointer
from assay.targets.paths import parse
from assay.targets.template import NAMES, check

Refuse = Callable[[str, str, str], Problem]

LITERAL = (
    "looks like a secret (expected the name of an environment variable that holds it, "
    "as auth: {env: NAME} or env: [NAME])"
)

_SECRET_KEYS = ("key", "token", "secret", "password", "passwd", "authorization", "credential", "cookie")
_HARMLESS_KEYS = ("response.key", "per_case", "max_tokens")


def file_problems(data: dict[str, Any], problem: Refuse) -> list[Problem]:
    """Return a problem for each secret, wrong path and unknown placeholder in a settings file."""
    found = [problem(field, LITERAL, "E_SECRET") for field in _secrets(data, "")]
    targets = data.get("targets")
    for name, target in targets.items() if isinstance(targets, dict) else ():
        if isinstance(target, dict):
            found += _target_problems(target, pointer("targets", name), problem)
    return found


def _secrets(value: Any, at: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            place = pointer(at, key)
            if isinstance(item, str) and item and _is_secret(str(key), item, place):
                yield place
            else:
                yield from _secrets(item, place)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _secrets(item, pointer(at, index))
    elif isinstance(value, str) and looks_secret(value):
        yield at


def _is_secret(key: str, text: str, place: str) -> bool:
    if looks_secret(text):
        return True
    name = key.lower().replace("-", "_")
    words = set(name.split("_"))
    called = words & set(_SECRET_KEYS) or any(word in name for word in ("apikey", "password", "secret"))
    harmless = name.endswith("_env") or "{{" in text or place.endswith(_HARMLESS_KEYS) or ".identity" in place
    return bool(called) and not harmless


def _target_problems(target: dict[str, Any], at: str, problem: Refuse) -> Iterator[Problem]:
    for place, path in _paths(target.get("response"), pointer(at, "response")):
        try:
            parse(path)
        except ValueError as error:
            yield problem(place, str(error), "E_PATH")
    templates = [
        (pointer(at, name), target[name]) for name in ("body", "query", "arguments", "input") if name in target
    ]
    search = target.get("search")
    if isinstance(search, dict):
        templates += [(pointer(pointer(at, "search"), name), search.get(name)) for name in ("body", "query")]
    for place, template in templates:
        for name in check(template):
            yield problem(
                place, f"unknown placeholder (got {shown(name)}; expected one of {', '.join(NAMES)})", "E_TEMPLATE"
            )
    identity = target.get("identity")
    for header, source in identity.items() if isinstance(identity, dict) else ():
        if source not in NAMES:
            message = f"not something to send (got {shown(source)}; expected one of {', '.join(NAMES)})"
            yield problem(pointer(pointer(at, "identity"), header), message, "E_TEMPLATE")


def _paths(response: Any, at: str) -> Iterator[tuple[str, str]]:
    """Yield every place of a response mapping that holds a path; `key` is none."""
    if isinstance(response, dict):
        for key, item in response.items():
            if key != "key":
                yield from _paths(item, pointer(at, key))
    elif isinstance(response, str):
        yield at, response
