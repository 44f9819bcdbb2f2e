"""The errors and warnings of one reader, collected so that people see them all at once, and the checks of names.

Ids and other names that are compared are stored in NFC; invalid and suspicious ones are reported.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, time

from msgspec.structs import replace

from assay.records.counts import format_count
from assay.records.errors import MAX_PROBLEMS_KEPT, InputError, Problem, shorten_repr
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern

MAX_WARNINGS_PER_CODE = 20


def make_value_error(field: str, message: str) -> InputError:
    """Return the error of an argument or member of a value in Python, which no file has."""
    return InputError([Problem("", None, field, message, "E_VALUE")])


def join_field(place: str, field: str) -> str:
    """Return where a field of an item is.

    >>> join_field("rows[2]", "case"), join_field("", "case")
    ('rows[2].case', 'case')
    """
    return f"{place}.{field}" if place else field


class ProblemList:
    """Keeps up to 1,000 errors, and up to 20 warnings of each code; further ones are only counted."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._problems: list[Problem] = []
        self._more = 0
        self._warnings: list[Problem] = []
        self._warned: Counter[str] = Counter()

    def add_error(self, line: int | None, field: str, message: str, code: str) -> None:
        """Note an error in the current file, for `raise_errors` to raise once everything has been read."""
        self._add(Problem(self.path, line, field, message, code))

    def add_warning(self, line: int | None, field: str, message: str, code: str) -> None:
        """Note something suspicious that is not an error."""
        self._warned[code] += 1
        if self._warned[code] <= MAX_WARNINGS_PER_CODE:
            self._warnings.append(Problem(self.path, line, field, message, code))

    def add_raised(self, error: InputError) -> None:
        """Keep the problems of an error raised elsewhere, so that reading can go on."""
        for problem in error.problems:
            self._add(problem)
        self._more += error.more

    def raise_errors(self) -> None:
        """Raise InputError with every error so far, in the order of reading; do nothing if there is none."""
        if self._problems:
            raise InputError(self._problems, more=self._more)

    def warnings(self) -> tuple[Problem, ...]:
        """Return the warnings so far, then one line for each code of which some were only counted."""
        omitted = [
            Problem(self.path, None, "", f"{count - MAX_WARNINGS_PER_CODE} more warnings of this kind", code)
            for code, count in self._warned.items()
            if count > MAX_WARNINGS_PER_CODE
        ]
        return (*self._warnings, *omitted)

    def _add(self, problem: Problem) -> None:
        if len(self._problems) < MAX_PROBLEMS_KEPT:
            self._problems.append(problem)
        else:
            self._more += 1


_MOST_ROWS_NAMED = 5


def join_repeated_problems(problems: Sequence[Problem]) -> list[Problem]:
    """Return the problems with each that several rows have alike said once, at the first of them, with the others.

    >>> rows = [Problem("rows.jsonl", row, "", "two answers, answer and output") for row in (1, 2, 5)]
    >>> [str(problem) for problem in join_repeated_problems(rows)]
    ['rows.jsonl:1: two answers, answer and output; the same in 2 more rows: 2, 5']
    """
    lines_by_problem: dict[Problem, list[int | None]] = {}
    for problem in problems:
        lines_by_problem.setdefault(replace(problem, line=None), []).append(problem.line)
    joined = []
    for problem, (first, *others) in lines_by_problem.items():
        message = problem.message
        rows = [str(line) for line in others if line is not None]
        if rows:
            more = " …" if len(rows) > _MOST_ROWS_NAMED else ""
            message += (
                f"; the same in {format_count(len(rows), 'more row')}: {', '.join(rows[:_MOST_ROWS_NAMED])}{more}"
            )
        joined.append(replace(problem, line=first, message=message))
    return joined


MAX_ID_BYTES = 256

_DATE = compile_pattern(r"\d{4}-\d\d-\d\d", re.ASCII)
_INSTANT = LatePattern(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)", re.ASCII)


class NameChecker:
    """Returns names in NFC; a name is data, so every printable character is allowed and nothing is trimmed.

    `normalised` maps every valid name so far to its NFC form.
    """

    def __init__(self, findings: ProblemList) -> None:
        self._findings = findings
        self.normalised: dict[str, str] = {}
        self._faulty: set[tuple[str, int | None]] = set()
        self._normalised = 0

    def normalise(self, raw: str, line: int | None, field: str) -> str:
        """Return `raw` in NFC; note an error if it is blank, longer than 256 bytes or has control characters."""
        known_name = self.normalised.get(raw)
        if known_name is not None:
            return known_name
        if raw.isascii() and raw.isprintable() and 0 < len(raw) <= MAX_ID_BYTES and not raw.isspace():
            self.normalised[raw] = raw
            return raw
        name = unicodedata.normalize("NFC", raw)
        fault = find_name_fault(name)
        if fault:
            if (raw, line) not in self._faulty:
                self._findings.add_error(line, field, fault, "E_ID")
            self._faulty.add((raw, line))
            return name
        doubt = find_name_doubt(name)
        if doubt:
            self._findings.add_warning(line, field, doubt, "E_ID_INVISIBLE")
        self._normalised += name != raw
        self.normalised[raw] = name
        return name

    def warn_normalised(self) -> None:
        """Add a warning with the number of names that were not in NFC."""
        if self._normalised:
            message = f"names stored in NFC form (got {self._normalised} in another form; expected NFC)"
            self._findings.add_warning(None, "", message, "E_NFC")


class UniqueIds:
    """Detects duplicate ids, and different ids that are easily confused."""

    def __init__(self, findings: ProblemList) -> None:
        self._findings = findings
        self._first: dict[str, tuple[str, int | None, str]] = {}
        self._folded: dict[str, str] = {}

    def add_id(self, raw: str, name: str, line: int | None, field: str) -> bool:
        """Add `name` (the NFC form of `raw`); return False and note an error if it was added before."""
        first = self._first.get(name)
        if first is not None:
            fault = "id given twice" if first[0] == raw else "id equal to another one after NFC normalisation"
            message = (
                f"{fault} (got {shorten_repr(name)} again; expected it once, it is at {_format_location(*first[1:])})"
            )
            self._findings.add_error(line, field, message, "E_DUPLICATE_ID")
            return False
        self._first[name] = (raw, line, self._findings.path)
        folded = name.strip().casefold()
        other = self._folded.setdefault(folded, name)
        if other != name:
            location = _format_location(*self._first[other][1:])
            message = (
                f"id easily confused with another one (got {shorten_repr(name)}; expected a clearer "
                f"name than {shorten_repr(other)}"
            )
            self._findings.add_warning(line, field, f"{message} at {location})", "E_ID_CONFUSABLE")
        return True


def find_name_fault(name: str) -> str:
    """Return why `name` is not a valid id; empty if it is valid."""
    if not name or name.isspace():
        return f"empty (got {shorten_repr(name)}; expected a name)"
    if len(name) > MAX_ID_BYTES // 4 and len(name.encode()) > MAX_ID_BYTES:
        return f"too long (got {len(name.encode())} bytes; expected {MAX_ID_BYTES} at most)"
    if not name.isprintable() and any(unicodedata.category(letter) in ("Cc", "Zl", "Zp") for letter in name):
        return f"control character inside (got {shorten_repr(name)}; expected printable characters)"
    return ""


def find_name_doubt(name: str) -> str:
    """Return why people may misread `name` (invisible characters, or Latin mixed with Cyrillic or Greek), or ""."""
    if name.isascii():
        return ""
    if any(unicodedata.category(letter) == "Cf" for letter in name):
        return f"invisible characters inside (got {name!a}; expected visible ones)"
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in name if letter.isalpha()}
    if "LATIN" in scripts and scripts & {"CYRILLIC", "GREEK"}:
        return f"alphabets mixed (got {name!a}; expected one alphabet)"
    return ""


def parse_time(text: str) -> datetime:
    """Parse a date (its first instant in UTC) or a time with its offset from UTC. Raises ValueError for other texts.

    >>> parse_time("2026-02-01")
    datetime.datetime(2026, 2, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if _DATE.fullmatch(text):
        return datetime.combine(date.fromisoformat(text), time(), UTC)
    if _INSTANT.fullmatch(text):
        return datetime.fromisoformat(text)
    raise ValueError(text)


def find_time_fault(text: str) -> str:
    """Return what is wrong with a date or a time; empty for `2026-02-01` and `2026-02-01T08:00:00Z`.

    >>> find_time_fault("2026-02-30")
    "not a date (got '2026-02-30'; expected a date such as 2026-02-01, or a time with its offset from UTC)"
    """
    try:
        parse_time(text)
    except ValueError:
        return (
            f"not a date (got {shorten_repr(text)}; expected a date such as 2026-02-01, or a time "
            f"with its offset from UTC)"
        )
    return ""


def _format_location(line: int | None, path: str) -> str:
    return path if line is None else f"{path}:{line}"
