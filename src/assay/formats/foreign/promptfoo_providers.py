"""The HTTP providers of a configuration of promptfoo as targets, without their secrets.

https://www.promptfoo.dev/docs/providers/http describes them: an address with `method`, `headers`, `body`, `queryParams`
and an expression for the answer. `{{prompt}}` is the prompt around the question, `{{env.NAME}}` a variable of the
environment.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from msgspec import Struct, field

from assay.formats.strict_json import decode_json_object
from assay.records.errors import InputError
from assay.text.secret_forms import is_secret_name, looks_secret

_HTTP_IDS = ("http", "https")
_METHODS = ("POST", "GET", "PUT")
_OWN_HEADERS = ("accept", "content-type", "content-length", "host", "user-agent")
"""Headers that Assay sets itself: what it sends and reads is JSON."""
_READ_MEMBERS = ("url", "method", "headers", "body", "queryParams", "transformResponse", "responseParser")
_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")
_ENVIRONMENT = re.compile(r"""(?:(?P<scheme>[\w-]+) )?\{\{\s*env(?:\.|\[['"])(?P<name>\w+)(?:['"]\])?\s*\}\}""")
_ANSWER_PATH = re.compile(r"json((?:\??\.\w+|\[\d+\])+)")
_QUESTION = "{{question}}"


class ImportedTargets(Struct):
    """Settings of targets by their name, what to say of them, and what of the providers was left out."""

    targets: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)


_SECRET_WORDS = frozenset(("key", "token", "secret", "password", "passwd", "authorization", "credential", "cookie"))


def _is_secret(name: str, text: str) -> bool:
    """Return whether a text may be a secret, by its name or its form; a placeholder is none."""
    if "{{" in text:
        return False
    words = set(re.split(r"[^a-z0-9]+", name.lower()))
    return bool(words & _SECRET_WORDS) or is_secret_name(name) or looks_secret(text)


class UnfilledError(ValueError):
    """A text has a placeholder that nothing here fills."""


def read_providers(document: Mapping[str, Any], question_names: Iterable[str]) -> ImportedTargets:
    """Return the targets of a configuration; `question_names` are the variables that hold the questions.

    >>> provider = {"id": "https://desk.example.com/ask", "config": {"body": {"q": "{{prompt}}"}}}
    >>> read_providers({"providers": [provider]}, ["question"]).targets["desk.example.com"]
    {'type': 'http', 'url': 'https://desk.example.com/ask', 'body': {'q': '{{question}}'}}
    """
    imported = ImportedTargets()
    shared = document.get("defaultTest")
    constants = shared.get("vars") if isinstance(shared, Mapping) else None
    texts = {key: str(value) for key, value in (constants or {}).items() if isinstance(value, (str, int, float))}
    texts |= dict.fromkeys(question_names, _QUESTION)
    texts["prompt"] = _read_prompt(document.get("prompts"), texts)
    for provider_id, members in _list_providers(document):
        config = members.get("config")
        config = dict(config) if isinstance(config, Mapping) else {}
        is_address = provider_id.startswith(("http://", "https://"))
        url = config.get("url") or (provider_id if is_address else None)
        if not (is_address or provider_id in _HTTP_IDS) or not isinstance(url, str):
            imported.ignored[f"provider {provider_id}"] += 1
            continue
        _ProviderReader(imported, texts, str(members.get("label") or "")).read(url, config)
    return imported


def _list_providers(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the id and the members of each provider: a text, an object with an id, or one whose only name is the id."""
    providers = document.get("providers") or document.get("targets") or ()
    for provider in providers if isinstance(providers, list) else [providers]:
        if isinstance(provider, str):
            yield provider, {}
        elif isinstance(provider, Mapping) and isinstance(provider.get("id"), str):
            yield provider["id"], provider
        elif isinstance(provider, Mapping):
            for name, members in provider.items():
                yield str(name), members if isinstance(members, Mapping) else {}


def _read_prompt(prompts: Any, texts: Mapping[str, str]) -> str:
    """Return the only prompt as a template of the question; the question itself where there are more, or files."""
    items = prompts if isinstance(prompts, list) else [prompts]
    prompt = items[0].get("raw") if len(items) == 1 and isinstance(items[0], Mapping) else items[0]
    if len(items) != 1 or not isinstance(prompt, str) or "file://" in prompt:
        return _QUESTION
    try:
        return _fill(prompt, texts)
    except UnfilledError:
        return _QUESTION


def _fill(text: str, texts: Mapping[str, str]) -> str:
    """Return a text with the variables in their places. Raises UnfilledError for a variable that has no text."""

    def replace(place: re.Match[str]) -> str:
        name = place[1].strip()
        if name not in texts:
            raise UnfilledError(place[0])
        return texts[name]

    return _PLACEHOLDER.sub(replace, text)


class _ProviderReader:
    """Reads one provider; what cannot be taken over is counted by the name of its member."""

    def __init__(self, imported: ImportedTargets, texts: Mapping[str, str], label: str) -> None:
        self._imported, self._texts, self._label = imported, texts, label
        self._settings: dict[str, Any] = {"type": "http"}
        self._name = ""

    def read(self, url: str, config: Mapping[str, Any]) -> None:
        """Add the target of an address, or count the provider where its address or method cannot be used."""
        parts = urlsplit(url)
        method = str(config.get("method") or ("POST" if config.get("body") else "GET")).upper()
        if "{{" in parts._replace(query="").geturl() or "@" in parts.netloc or method not in _METHODS:
            self._ignore("url" if method in _METHODS else f"method {method}")
            return
        self._name = self._choose_name(parts.hostname or "")
        self._settings["url"] = urlunsplit(parts._replace(query="", fragment=""))
        if method != "POST":
            self._settings["method"] = method
        self._read_body(config.get("body"))
        parameters = config.get("queryParams")
        query = dict(parse_qsl(parts.query)) | (dict(parameters) if isinstance(parameters, Mapping) else {})
        filled = self._fill_members({key: str(value) for key, value in query.items()}, "queryParams")
        if filled:
            self._settings["query"] = filled
        headers = config.get("headers")
        for header, value in headers.items() if isinstance(headers, Mapping) else ():
            self._read_header(str(header), str(value))
        self._read_answer(config.get("transformResponse", config.get("responseParser")))
        for member in config:
            if member not in _READ_MEMBERS:
                self._ignore(member)
        self._imported.targets[self._name] = self._settings
        self._imported.notes.append(f"target {self._name} of the settings is the provider {self._settings['url']}")

    def _choose_name(self, host: str) -> str:
        if not re.search("[a-z]", host.replace("localhost", "")):
            host = "my-system"  # the name of this machine says nothing
        name = re.sub(r"[^\w.-]+", "-", self._label).strip("-") or host
        taken = self._imported.targets
        return name if name not in taken else f"{name}-{len(taken) + 1}"

    def _ignore(self, member: str) -> None:
        self._imported.ignored[f"provider: {member}"] += 1

    def _read_body(self, body: Any) -> None:
        if isinstance(body, str):
            try:
                body = decode_json_object(body, "", None)
            except InputError:
                body = None
                self._ignore("body")
        if isinstance(body, Mapping):
            self._settings["body"] = self._fill_members(body, "body")

    def _fill_members(self, members: Mapping[str, Any], at: str) -> dict[str, Any]:
        """Return members with the variables in their places; those with other variables or a secret are left out."""
        filled: dict[str, Any] = {}
        for key, value in members.items():
            place = f"{at}.{key}"
            try:
                item = self._fill_value(value, place)
            except UnfilledError:
                self._ignore(place)
                continue
            if isinstance(item, str) and _is_secret(str(key), item):
                self._ignore(f"{place} (a secret)")
                continue
            filled[str(key)] = item
        return filled

    def _fill_value(self, value: Any, place: str) -> Any:
        if isinstance(value, str):
            return _fill(value, self._texts)
        if isinstance(value, Mapping):
            return self._fill_members(value, place)
        if isinstance(value, list):
            return [self._fill_value(item, place) for item in value]
        return value

    def _read_header(self, header: str, value: str) -> None:
        """Take a header over: a secret only by the name of a variable of the environment, and only one of them."""
        if header.lower() in _OWN_HEADERS:
            return
        variable = _ENVIRONMENT.fullmatch(value)
        scheme, _, _ = value.partition(" ") if " " in value else ("", "", "")
        is_secret = variable is None and _is_secret(header, value)
        if variable is None and not is_secret:
            self._read_plain_header(header, value)
            return
        if "auth" in self._settings:
            self._ignore(f"headers.{header}")
            return
        name = variable["name"] if variable else re.sub(r"\W+", "_", f"{self._name}_{header}").upper()
        name = name if not name[0].isdigit() else f"_{name}"
        scheme = (variable["scheme"] or "") if variable else scheme
        self._settings["auth"] = {"env": name, "header": header, "scheme": scheme}
        if is_secret:
            self._imported.notes.append(
                f"the secret in the header {header} was not written: set {name} in the environment to it"
                + (f", without {scheme}" if scheme else "")
            )

    def _read_plain_header(self, header: str, value: str) -> None:
        """Take a header over that is the same for every question."""
        try:
            filled = _fill(value, self._texts)
        except UnfilledError:
            filled = _QUESTION
        if "{{" in filled:
            self._ignore(f"headers.{header}")
        else:
            self._settings.setdefault("headers", {})[header] = filled

    def _read_answer(self, expression: Any) -> None:
        """Take over where the answer is, if the expression is a plain path in the reply."""
        if expression is None or expression == "json":
            return
        path = _ANSWER_PATH.fullmatch(expression.strip()) if isinstance(expression, str) else None
        if path is None:
            self._ignore("transformResponse")
            return
        self._settings["response"] = {"answer": path[1].replace("?.", ".").lstrip(".")}
