"""Removes secrets from what is written: known secret values, and texts that look like keys."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

REDACTED = "[redacted]"
MIN_SECRET_LENGTH = 6

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTHORIZATION)(_?\d+)?$", re.IGNORECASE)
_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\bA[KS]IA[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{30,}|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----|\bhf_[A-Za-z0-9]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"
)
_SECRET_PREFIXES = (
    *("sk-", "pk-", "rk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "xox", "AKIA", "ASIA", "AIza", "eyJ"),
    *("PRIVATE KEY", "hf_", "glpat-"),
)  # every match of `_LOOKS_SECRET` contains one of these; searching for them first is faster in long texts
_BEARER = re.compile(r"(?i)\b((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}")
_USERINFO = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^/\s@:]+:[^/\s@]+@")


def looks_secret(text: str) -> bool:
    """Return whether a text has the form of a key, a token or an address with a password."""
    return any(pattern.search(text) for pattern in (_LOOKS_SECRET, _BEARER, _USERINFO))


class Redactor:
    """Replaces the given secret values in any text, and in messages also everything that looks like a secret."""

    def __init__(self, secrets: Iterable[str]) -> None:
        long_enough = {secret for secret in secrets if len(secret) >= MIN_SECRET_LENGTH}
        # Longest first, so that a secret is replaced before another one that is part of it.
        self._secrets = tuple(sorted(long_enough, key=lambda secret: (-len(secret), secret)))
        self._json_secrets = [json.dumps(secret, ensure_ascii=False)[1:-1].encode() for secret in self._secrets]
        self._pattern = re.compile("|".join(map(re.escape, self._secrets))) if self._secrets else None

    def touches(self, line: bytes) -> bool:
        """Return whether a line of JSON may hold a secret value: a fast test without false negatives."""
        return any(secret in line for secret in self._json_secrets)

    def text(self, text: str) -> str:
        """Return `text` without the secret values."""
        if self._pattern is None or not any(secret in text for secret in self._secrets):
            return text
        return self._pattern.sub(REDACTED, text)

    def message(self, text: str) -> str:
        """Return an error message without the secret values and without anything that looks like a key."""
        text = self.text(text)
        lower = text.lower()
        if "bearer" in lower or "basic" in lower:
            text = _BEARER.sub(rf"\1{REDACTED}", text)
        if "://" in text and "@" in text:
            text = _USERINFO.sub(rf"\1{REDACTED}@", text)
        return _LOOKS_SECRET.sub(REDACTED, text) if any(map(text.__contains__, _SECRET_PREFIXES)) else text

    def value(self, value: Any) -> Any:
        """Return plain values (objects, lists, texts) without the secret values; keys are not changed."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        return value


def secrets_of(environment: Mapping[str, str] = os.environ, named: Iterable[str] = ()) -> list[str]:
    """Return the values of the named environment variables, and of all whose name says that they are secret."""
    names = set(named)
    return [value for name, value in environment.items() if name in names or _SECRET_NAME.search(name)]
