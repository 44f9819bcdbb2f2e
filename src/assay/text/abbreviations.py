"""Titles and words of addresses that are written short beside a name, spelled out: "Prof. Lin", "14 Mill St."."""

from __future__ import annotations

import re

from assay.text.late_pattern import LatePattern

_TITLES = {
    "Dr": "Doctor",
    "Prof": "Professor",
    "St": "Saint",
    "BS": "Bác sĩ",
    "GS": "Giáo sư",
    "PGS": "Phó giáo sư",
    "TS": "Tiến sĩ",
    "ThS": "Thạc sĩ",
    "TP": "Thành phố",
}
"""What stands before a name."""
_STREETS = {
    "St": "Street",
    "Rd": "Road",
    "Ave": "Avenue",
    "Blvd": "Boulevard",
    "Ln": "Lane",
    "Sq": "Square",
}
"""What stands after the name of a street."""
_NAME = r"[A-ZÀ-ỸĐ][^\W\d_]"
_ABBREVIATION = LatePattern(
    rf"(?<![\w.])(?:(?P<name>{_NAME}[^\W\d_]*) (?P<street>{'|'.join(_STREETS)})(?P<point>\.)?(?![\w'-])"
    rf"|(?P<title>{'|'.join(_TITLES)})(?:\. ?| )(?={_NAME}))"
)
_MAY_BE_SHORT = LatePattern(rf"\b(?:{'|'.join((*_STREETS, *_TITLES))})\b")


def spell_abbreviations(text: str) -> str:
    """Return a text with the abbreviations of titles and streets spelled out.

    >>> spell_abbreviations("Prof. Lin and Dr Osei, 14 Mill St., near St. Anne's")
    "Professor Lin and Doctor Osei, 14 Mill Street, near Saint Anne's"
    """
    if _MAY_BE_SHORT.search(text) is None:
        return text
    return _ABBREVIATION.sub(_spell, text)


_HOUSE_BEFORE = LatePattern(rf"\d\w? (?:{_NAME}[^\W\d_]* )*$")
_LONGEST_ADDRESS = 40


def _spell(match: re.Match[str]) -> str:
    text = match.string
    if match["title"] is not None:
        return f"{_TITLES[match['title']]} "
    is_before_name = _NAME_AFTER.match(text, match.end()) is not None
    before = text[max(0, match.start() - _LONGEST_ADDRESS) : match.start()]
    if match["street"] == "St" and is_before_name and _HOUSE_BEFORE.search(before) is None:
        return f"{match['name']} Saint"  # "In St. Anne's"
    ends_sentence = match["point"] is not None and (is_before_name or not text[match.end() :].strip())
    return f"{match['name']} {_STREETS[match['street']]}{'.' if ends_sentence else ''}"


_NAME_AFTER = LatePattern(rf"\s+{_NAME}")
