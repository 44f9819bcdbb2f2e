"""Checks ids and other names that are compared: stores them in NFC and reports invalid and suspicious ones."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, date, datetime, time

from assay.errors import shown
from assay.io.findings import Findings

MAX_ID_BYTES = 256

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)", re.ASCII)


class Names:
    """Returns names in NFC; a name is data, so every printable character is allowed and nothing is trimmed.

    `known` maps every valid name so far to its NFC form.
    """

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self.known: dict[str, str] = {}
        self._faulty: set[tuple[str, int | None]] = set()
        self._normalised = 0

    def clean(self, raw: str, line: int | None, field: str) -> str:
        """Return `raw` in NFC; note an error if it is blank, longer than 256 bytes or has control characters."""
        known_name = self.known.get(raw)
        if known_name is not None:
            return known_name
        if raw.isascii() and raw.isprintable() and 0 < len(raw) <= MAX_ID_BYTES and not raw.isspace():
            self.known[raw] = raw
            return raw
        name = unicodedata.normalize("NFC", raw)
        fault = fault_of(name)
        if fault:
            if (raw, line) not in self._faulty:
                self._findings.error(line, field, fault, "E_ID")
            self._faulty.add((raw, line))
            return name
        doubt = doubt_of(name)
        if doubt:
            self._findings.warn(line, field, doubt, "E_ID_INVISIBLE")
        self._normalised += name != raw
        self.known[raw] = name
        return name

    def report(self) -> None:
        """Add a warning with the number of names that were not in NFC."""
        if self._normalised:
            message = f"names stored in NFC form (got {self._normalised} in another form; expected NFC)"
            self._findings.warn(None, "", message, "E_NFC")


class Unique:
    """Detects duplicate ids, and different ids that are easily confused."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._first: dict[str, tuple[str, int | None, str]] = {}
        self._folded: dict[str, str] = {}

    def add(self, raw: str, name: str, line: int | None, field: str) -> bool:
        """Add `name` (the NFC form of `raw`); return False and note an error if it was added before."""
        first = self._first.get(name)
        if first is not None:
            fault = "id given twice" if first[0] == raw else "id equal to another one after NFC normalisation"
            message = f"{fault} (got {shown(name)} again; expected it once, it is at {_format_location(*first[1:])})"
            self._findings.error(line, field, message, "E_DUPLICATE_ID")
            return False
        self._first[name] = (raw, line, self._findings.path)
        folded = name.strip().casefold()
        other = self._folded.setdefault(folded, name)
        if other != name:
            location = _format_location(*self._first[other][1:])
            message = (
                f"id easily confused with another one (got {shown(name)}; expected a clearer name than {shown(other)}"
            )
            self._findings.warn(line, field, f"{message} at {location})", "E_ID_CONFUSABLE")
        return True


def fault_of(name: str) -> str:
    """Return why `name` is not a valid id; empty if it is valid."""
    if not name or name.isspace():
        return f"empty (got {shown(name)}; expected a name)"
    if len(name) > MAX_ID_BYTES // 4 and len(name.encode()) > MAX_ID_BYTES:
        return f"too long (got {len(name.encode())} bytes; expected {MAX_ID_BYTES} at most)"
    if not name.isprintable() and any(unicodedata.category(letter) in ("Cc", "Zl", "Zp") for letter in name):
        return f"control character inside (got {shown(name)}; expected printable characters)"
    return ""


def doubt_of(name: str) -> str:
    """Return why people may misread `name` (invisible characters, or Latin mixed with Cyrillic or Greek), or ""."""
    if name.isascii():
        return ""
    if any(unicodedata.category(letter) == "Cf" for letter in name):
        return f"invisible characters inside (got {name!a}; expected visible ones)"
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in name if letter.isalpha()}
    if "LATIN" in scripts and scripts & {"CYRILLIC", "GREEK"}:
        return f"alphabets mixed (got {name!a}; expected one alphabet)"
    return ""


def moment(text: str) -> datetime:
    """Parse a date (its first instant in UTC) or a time with its offset from UTC. Raises ValueError for other texts.

    >>> moment("2026-02-01")
    datetime.datetime(2026, 2, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if _DATE.fullmatch(text):
        return datetime.combine(date.fromisoformat(text), time(), UTC)
    if _INSTANT.fullmatch(text):
        return datetime.fromisoformat(text)
    raise ValueError(text)


def moment_fault(text: str) -> str:
    """Return what is wrong with a date or a time; empty for `2026-02-01` and `2026-02-01T08:00:00Z`.

    >>> moment_fault("2026-02-30")
    "not a date (got '2026-02-30'; expected a date such as 2026-02-01, or a time with its offset from UTC)"
    """
    try:
        moment(text)
    except ValueError:
        return f"not a date (got {shown(text)}; expected a date such as 2026-02-01, or a time with its offset from UTC)"
    return ""


def _format_location(line: int | None, path: str) -> str:
    return path if line is None else f"{path}:{line}"
