"""Titles, words of addresses and of grammar that are written short, spelled out: "Prof. Lin", "14 Mill St.", "bzw.".

A point that ends no sentence would cut one.
"""

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
_WORDS = {
    "bzw": "beziehungsweise",
    "ggf": "gegebenenfalls",
    "evtl": "eventuell",
    "inkl": "inklusive",
    "zzgl": "zuzüglich",
    "incl": "including",
    "approx": "approximately",
    "aprox": "aproximadamente",
    "z b": "zum Beispiel",
    "d h": "das heißt",
    "u a": "unter anderem",
    "e g": "for example",
    "i e": "that is",
    "p ex": "par exemple",
    "p ej": "por ejemplo",
    "v v": "vân vân",
}
"""Words that are always written short with a point, without their points."""


def _write_short(word: str) -> str:
    """Return the expression of a word with points and perhaps a first capital; but for "z. B.", "D. H." is a name."""
    start = f"[{word[0]}{word[0].upper()}]"
    if " " not in word:
        return start + word[1:]
    return start + r"\. ?" + ("[bB]" if word == "z b" else word[2:])


_WORD = LatePattern(rf"(?<![\w.])(?:{'|'.join(map(_write_short, _WORDS))})\.(?!\w)")
_BOTH_GENDERS = LatePattern(
    r"\b(?P<stem>[A-ZÄÖÜ][a-zäöüß]{2,30})innen (?:und|oder|sowie|bzw\.) (?P<men>(?P=stem)(?:en|e|er|n)?)\b"
)
"""German for persons of both genders, whom the second word names as well: "Schülerinnen und Schüler"."""
_EMAIL = LatePattern(r"\b(?P<letter>[eE])-(?=[mM]ails?\b)")
_NAME = r"[A-ZÀ-ỸĐ][^\W\d_]"
_ABBREVIATION = LatePattern(
    rf"(?<![\w.])(?:(?P<name>{_NAME}[^\W\d_]*) (?P<street>{'|'.join(_STREETS)})(?P<point>\.)?(?![\w'-])"
    rf"|(?P<title>{'|'.join(_TITLES)})(?:\. ?| )(?={_NAME}))"
)
_MAY_BE_SHORT = LatePattern(rf"\b(?:{'|'.join((*_STREETS, *_TITLES))})\b")


def spell_abbreviations(text: str) -> str:
    """Return a text with the abbreviations of titles, streets and words of grammar spelled out.

    >>> spell_abbreviations("Prof. Lin and Dr Osei, 14 Mill St., near St. Anne's")
    "Professor Lin and Doctor Osei, 14 Mill Street, near Saint Anne's"
    >>> spell_abbreviations("Mieter bzw. Gäste, z. B. Kinder")
    'Mieter beziehungsweise Gäste, zum Beispiel Kinder'
    >>> spell_abbreviations("D. h. wer? D. H. Lawrence")
    'das heißt wer? D. H. Lawrence'
    """
    if "-" in text:
        text = _EMAIL.sub(r"\g<letter>", text)
    if "innen" in text:
        text = _BOTH_GENDERS.sub(r"\g<men>", text)
    if "." in text:
        text = _WORD.sub(_spell_word, text)
    if _MAY_BE_SHORT.search(text) is None:
        return text
    return _ABBREVIATION.sub(_spell, text)


def _spell_word(match: re.Match[str]) -> str:
    """Return a word in full, with its point where that ends a sentence as well."""
    spelled = _WORDS[" ".join(match[0].lower().replace(".", " ").split())]
    following = match.string[match.end() :].lstrip(" ")
    return spelled if following and not following.startswith("\n") else f"{spelled}."


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
