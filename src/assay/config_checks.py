"""Checks of a settings file beyond its types: secrets, invalid paths and unknown placeholders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from assay.errors import Problem, shown
from assay.io.redaction import looks_secret
from assay.io.strictjson import pointer
from assay.targets.paths import parse
from assay.targets.template import NAMES, check

MakeProblem = Callable[[str, str, str], Problem]

LITERAL_MESSAGE = (
    "looks like a secret (expected the name of an environment variable that holds it, "
    "as auth: {env: NAME} or env: [NAME])"
)

_SECRET_KEYS = ("key", "token", "secret", "password", "passwd", "authorization", "credential", "cookie")
_HARMLESS_KEYS = ("response.key", "per_case", "max_tokens")


def file_problems(data: dict[str, Any], problem: MakeProblem) -> list[Problem]:
    """Return a problem for each literal secret, invalid path and unknown placeholder in a settings file.

    `problem` makes a Problem from field, message and code.
    """
    problems = [problem(field, LITERAL_MESSAGE, "E_SECRET") for field in _find_secrets(data, "")]
    targets = data.get("targets")
    for name, target in targets.items() if isinstance(targets, dict) else ():
        if isinstance(target, dict):
            problems += _find_target_problems(target, pointer("targets", name), problem)
    return problems


def _find_secrets(value: Any, field: str) -> Iterator[str]:
    """Yield every field that holds a literal secret."""
    if isinstance(value, dict):
        for key, item in value.items():
            item_field = pointer(field, key)
            if isinstance(item, str) and item and _is_secret(str(key), item, item_field):
                yield item_field
            else:
                yield from _find_secrets(item, item_field)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _find_secrets(item, pointer(field, index))
    elif isinstance(value, str) and looks_secret(value):
        yield field


def _is_secret(key: str, text: str, field: str) -> bool:
    if looks_secret(text):
        return True
    name = key.lower().replace("-", "_")
    words = set(name.split("_"))
    has_secret_name = words & set(_SECRET_KEYS) or any(word in name for word in ("apikey", "password", "secret"))
    is_harmless = name.endswith("_env") or "{{" in text or field.endswith(_HARMLESS_KEYS) or ".identity" in field
    return bool(has_secret_name) and not is_harmless


def _find_target_problems(target: dict[str, Any], at: str, problem: MakeProblem) -> Iterator[Problem]:
    for field, path in _find_paths(target.get("response"), pointer(at, "response")):
        try:
            parse(path)
        except ValueError as error:
            yield problem(field, str(error), "E_PATH")
    templates = [
        (pointer(at, name), target[name]) for name in ("body", "query", "arguments", "input") if name in target
    ]
    search = target.get("search")
    if isinstance(search, dict):
        templates += [(pointer(pointer(at, "search"), name), search.get(name)) for name in ("body", "query")]
    for field, template in templates:
        for name in check(template):
            yield problem(
                field, f"unknown placeholder (got {shown(name)}; expected one of {', '.join(NAMES)})", "E_TEMPLATE"
            )
    identity = target.get("identity")
    for header, source in identity.items() if isinstance(identity, dict) else ():
        if source not in NAMES:
            message = f"not something to send (got {shown(source)}; expected one of {', '.join(NAMES)})"
            yield problem(pointer(pointer(at, "identity"), header), message, "E_TEMPLATE")


def _find_paths(response: Any, field: str) -> Iterator[tuple[str, str]]:
    """Yield every field of a response mapping that holds a path, with the path; `key` does not hold one."""
    if isinstance(response, dict):
        for key, item in response.items():
            if key != "key":
                yield from _find_paths(item, pointer(field, key))
    elif isinstance(response, str):
        yield field, response
