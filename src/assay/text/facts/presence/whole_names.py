"""Names of machines, files, releases and commands, which a longer name holds without being it.

"vpn.example.org" is not in "old-vpn.example.org", "7.2.4" not in "7.2.4-rc1", and "Get-Item" not in "Get-ItemProperty".
A megabit is no megabyte, and a gibibyte no gigabyte.
"""

from __future__ import annotations

import re

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.limit_cues import OTHER_RELEASE
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.identifiers import is_named
from assay.text.facts.reading.read_text import ReadText
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern

_RUN = LatePattern(r"[^\s\"'`<>()\[\]{},;|]+")
_SIGNS = LatePattern(r"\w[.@/\\_]\w|^[/\\~.]\w|[a-z][A-Z]|^[A-Z]\w*-[A-Z]")
"""What an ordinary word does not have: an inner point, slash or underscore, or a capital after a small letter."""
_VERSION = LatePattern(r"[vV]?\d+(?:\.\d+){2,}")
_DATE = LatePattern(r"\d{1,2}\.\d{1,2}\.\d{2,4}|\d{4}\.\d{1,2}\.\d{1,2}")
_BEGINS_WITH_NUMBER = LatePattern(r"[^\w/\\~.]{0,3}\d")
_LONGER_BEFORE = LatePattern(r"[\w\\+]\Z|\w[.-]\Z")
_LONGER_AFTER = LatePattern(r"[\w@\\]|[.-]\w|\+\+")
_PATH_AFTER = LatePattern(r"/\w")
_RELEASE_BEFORE = LatePattern(r"\d\.?\Z")
_RELEASE_AFTER = LatePattern(
    r"\.?\d|[-_.~+ ]?(?:(?:alpha|beta|dev|nightly|snapshot|preview|pre|rc|test|hotfix|patch)\b|(?:a|b|rc|beta|p)\d)"
    r"|\+(?!\w)",
    re.IGNORECASE,
)


def list_names(text: str) -> list[str]:
    """Return the parts of a fact that are names of machines, files, releases or commands.

    >>> list_names("Write to desk@acme.example, not 12.50 or a part-time clerk; see 7.2.4 and Get-Item.")
    ['desk@acme.example', '7.2.4', 'Get-Item']
    """
    names = []
    for match in _RUN.finditer(text):
        run = match[0].rstrip(".:!?")
        is_release = _VERSION.fullmatch(run) is not None and _DATE.fullmatch(run) is None
        if is_release or (
            _SIGNS.search(run) is not None and not _BEGINS_WITH_NUMBER.match(run) and not _is_phrase(run)
        ):
            names.append(run)
    return names


_PHRASE = LatePattern(r"(?:[^\W\d_]\.)+[^\W\d_]?|[^\W\d_]+/[^\W\d_]+")


def _is_phrase(run: str) -> bool:
    """Whether a run is an abbreviation ("e.g.", "p.m") or alternatives ("and/or"), and names nothing."""
    return _PHRASE.fullmatch(run) is not None


def judge_whole_names(texts: FactTexts) -> FactJudgment | None:
    """Return the judgment of a fact whose name the answer has only as a part of a longer one; None otherwise."""
    for name in list_names(texts.read_fact.text):
        bound = _find_bound(texts, name) if _VERSION.fullmatch(name) is not None else ""
        if bound:
            return FactJudgment(texts.fact, "unknown", f'the answer says "{bound}", and not which one')
        longer = _find_longer(name, texts.answer)
        if longer and not is_named(name, texts.answer):
            return FactJudgment(texts.fact, "unknown", f'the answer names "{longer}", which may be something else')
    unit = _find_other_unit(texts)
    return FactJudgment(texts.fact, "unknown", f'the answer says this with the unit "{unit}"') if unit else None


_BOUND_BEFORE = build_pattern(rf"\b{OTHER_RELEASE}(?: (?!or\b|and\b|but\b)[a-z]+){{0,2}} v?\Z")


def _find_bound(texts: FactTexts, name: str) -> str:
    """Return the word by which an answer says of a release that another one is meant, wherever it has it; "" if not."""
    plain, bound = texts.answer.plain, ""
    for match in re.finditer(rf"(?<![\d.])v?{re.escape(name.lstrip('vV'))}(?!\.?\d)", plain):
        before = _BOUND_BEFORE.search(plain[max(0, match.start() - 40) : match.start()])
        if before is None or any(before[0].split()[0] in text.plain.split() for text in texts.explaining):
            return ""
        bound = bound or f"{before[0]}{match[0]}"
    return bound


def _find_longer(name: str, answer: ReadText) -> str:
    """Return the longer name that holds a name wherever an answer has it; "" if it is there by itself."""
    is_release = _VERSION.fullmatch(name) is not None
    sought = name.lstrip("vV") if is_release else name
    longer = ""
    if sought.lower() not in answer.text.lower():
        return _find_similar(sought, answer.text)
    for match in re.finditer(re.escape(sought), answer.text, re.IGNORECASE):
        before, after = answer.text[max(0, match.start() - 2) : match.start()], match.end()
        if is_release:
            is_part = _RELEASE_BEFORE.search(before) is not None or _RELEASE_AFTER.match(answer.text, after) is not None
        else:
            is_part = _is_longer(name, before, answer.text, after)
        if not is_part:
            return ""
        if not longer:
            start = re.split(r"\s", answer.text[: match.start()])[-1]
            longer = start + answer.text[match.start() : after] + re.split(r"\s", answer.text[after:], maxsplit=1)[0]
    return longer.rstrip(".,;:!?)")


def _find_similar(name: str, text: str) -> str:
    """Return another name in a text with all words of a name that the text does not have as such; "" without one."""
    words = set(_WORDS.findall(name.lower()))
    for other in list_names(text):
        if words and words < set(_WORDS.findall(other.lower())):
            return other
    return ""


_WORDS = compile_pattern(r"[^\W_]+")


def _is_longer(name: str, before: str, text: str, after: int) -> bool:
    if _LONGER_BEFORE.search(before) is not None or _LONGER_AFTER.match(text, after) is not None:
        return True
    is_path = "/" in name
    return is_path and (before.endswith("/") or _PATH_AFTER.match(text, after) is not None)


_BITS = LatePattern(r"(?<![^\W\d_])(?P<prefix>[kKMGTPE])(?P<binary>i)?(?P<unit>[bB])(?:it|yte)?s?(?![^\W\d_])")


def _find_other_unit(texts: FactTexts) -> str:
    """Return a unit of data in the answer that only its small letter tells from that of the fact; "" without one.

    All small letters ("256 kb") tell nothing.
    """
    wanted = {_read_unit(match) for match in _BITS.finditer(texts.read_fact.text)}
    matches = list(_BITS.finditer(texts.answer.text))
    if not wanted or not matches or any(_read_unit(match) in wanted or _is_sloppy(match) for match in matches):
        return ""
    other = next((match for match in matches if any(_read_unit(match)[0] == prefix for prefix, _, _ in wanted)), None)
    return "" if other is None else other[0]


def _is_sloppy(unit: re.Match[str]) -> bool:
    return unit[0].islower() and unit[0].endswith("b")


def _read_unit(match: re.Match[str]) -> tuple[str, bool, str]:
    return match["prefix"].upper(), match["binary"] is not None, match["unit"]
