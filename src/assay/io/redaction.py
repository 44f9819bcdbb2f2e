"""Keeping secrets out of what is written: values that are known to be secret, and texts that look like keys."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

REDACTED = "[redacted]"
SHORTEST = 6

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTHORIZATION)(_?\d+)?$", re.IGNORECASE)
_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\bA[KS]IA[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{30,}|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----|\bhf_[A-Za-z0-9]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"
)
_SPELLED = (
    *("sk-", "pk-", "rk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "xox", "AKIA", "ASIA", "AIza", "eyJ"),
    *("PRIVATE KEY", "hf_", "glpat-"),
)  # one of these stands in every text that `_LOOKS_SECRET` finds: long texts are searched for them first
_BEARER = re.compile(r"(?i)\b((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}")
_USERINFO = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^/\s@:]+:[^/\s@]+@")


def looks_secret(text: str) -> bool:
    """Return whether a text has the form of a key, a token or an address with a password."""
    return any(pattern.search(text) for pattern in (_LOOKS_SECRET, _BEARER, _USERINFO))


class Redactor:
    """Replaces secrets: in anything the values that it was given, in messages also what looks like one."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = tuple(sorted({s for s in secrets if len(s) >= SHORTEST}, key=lambda s: (-len(s), s)))
        self._spelled = [json.dumps(secret, ensure_ascii=False)[1:-1].encode() for secret in self._secrets]
        self._pattern = re.compile("|".join(map(re.escape, self._secrets))) if self._secrets else None

    def touches(self, line: bytes) -> bool:
        """Return whether a line of JSON may hold a secret value; quick, and true for every line that does."""
        return any(secret in line for secret in self._spelled)

    def text(self, text: str) -> str:
        """Return `text` without the secret values."""
        if self._pattern is None or not any(secret in text for secret in self._secrets):
            return text
        return self._pattern.sub(REDACTED, text)

    def message(self, text: str) -> str:
        """Return the message of an error without the secret values, and without what looks like a key."""
        text = self.text(text)
        lower = text.lower()
        if "bearer" in lower or "basic" in lower:
            text = _BEARER.sub(rf"\1{REDACTED}", text)
        if "://" in text and "@" in text:
            text = _USERINFO.sub(rf"\1{REDACTED}@", text)
        return _LOOKS_SECRET.sub(REDACTED, text) if any(map(text.__contains__, _SPELLED)) else text

    def value(self, value: Any) -> Any:
        """Return plain values (objects, lists, texts) without the secret values; names of fields stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        return value


def secrets_of(environment: Mapping[str, str] = os.environ, named: Iterable[str] = ()) -> list[str]:
    """Return the values of the environment that are secrets: of the named variables, and of those called so."""
    wanted = set(named)
    return [value for name, value in environment.items() if name in wanted or _SECRET_NAME.search(name)]
