"""Numbers of versions with the signs that people write around them, spelled out: "v7.2.4", "7.2.4+"."""

from __future__ import annotations

import re

from assay.text.late_pattern import LatePattern

_VERSION = LatePattern(r"(?<![\w.])(?:[vV]\.? ?(?=\d+\.\d))?(?P<number>\d+(?:\.\d+){1,3})(?P<open>\+(?![\w+]))?")
_MAY_BE_MARKED = LatePattern(r"\b[vV]\.? ?\d+\.\d|\d\.\d+\+")


def spell_versions(text: str) -> str:
    """Return a text in which numbers of versions have neither a "v" before nor a "+" after them.

    >>> spell_versions("Use v7.2.4 or FortiClient 7.2.4+, not 7.2 V")
    'Use 7.2.4 or FortiClient 7.2.4 or later, not 7.2 V'
    """
    return _VERSION.sub(_spell, text) if _MAY_BE_MARKED.search(text) is not None else text


_FEWEST_PARTS = 2  # points of a number that is surely one of a version


def _spell(match: re.Match[str]) -> str:
    is_open = match["open"] is not None and match["number"].count(".") >= _FEWEST_PARTS
    if match["open"] is not None and not is_open:
        return match[0] if not match[0].lower().startswith("v") else f"{match['number']}+"
    return f"{match['number']}{' or later' if is_open else ''}"
