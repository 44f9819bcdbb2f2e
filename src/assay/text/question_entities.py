"""The entities that a question names: codes such as INC-2024-001 or CVE-2024-3094, acronyms, and names.

Which evidence is needed often hangs on them: a passage about another incident is about nothing that was asked. A code
holds a letter and a digit; a name is a run of capitalised words that does not begin a sentence. Numbers, dates and
quantities are no entities.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from assay.text.late_pattern import LatePattern
from assay.text.number_words import MONTHS, WEEKDAYS
from assay.text.pattern_cache import compile_pattern
from assay.text.text_cache import cache_by_text
from assay.text.word_runs import split_words

MAX_ENTITIES = 20
"""Entities of one question that are looked for; a question with more is a pasted document."""
_CODE = compile_pattern(r"(?<![\w-])[^\W\d_](?:[\w]|[-./#:](?=\w)){1,60}(?![\w])")
_NUMBERED = compile_pattern(r"#\d{2,}")
_WORD = compile_pattern(r"[^\W\d_][\w'’-]*")
_BEFORE_SENTENCES = '.!?:;…"“«('
_PARTICLES = LatePattern(r"(?: (?:van|von|der|den|de|del|della|da|di|du|dos|la|ten|ter|bin|al)){1,2} ")
"""What stands in lower case within a name ("Van der Meer"). "of" is none: it also joins two names."""
_POSSESSIVE, _POSSESSIVES = compile_pattern(r"(?:'|’)s$"), compile_pattern(r"(?:'|’)s\b")
_MOST_CAPITALISED = 0.75
"""A question of which more words after the first are capitalised is a title, whose capitals name nothing."""
_LANGUAGES_WITH_CAPITALISED_NOUNS = ("de",)
_NO_NAMES = frozenset(
    (
        *("i", "i'm", "i'd", "i'll", "i've", "ok", "am", "pm", "faq", "english"),
        *MONTHS,
        *WEEKDAYS,
    )
)


def find_question_entities(question: str, language: str | None = None) -> tuple[str, ...]:
    """Return the codes, acronyms and names of a question, as they are written, each once, in their order.

    >>> find_question_entities("Who closed INC-2024-001, and does the VPN of Delft Medical follow CVE-2024-3094?")
    ('INC-2024-001', 'VPN', 'Delft Medical', 'CVE-2024-3094')
    >>> find_question_entities("How many days of leave are there in 2025?")
    ()
    """
    text = unicodedata.normalize("NFC", question)
    spans = [(match.start(), match[0]) for match in _CODE.finditer(text) if _is_code(match[0])]
    spans += [(match.start(), match[0]) for match in _NUMBERED.finditer(text)]
    taken = [(start, start + len(code)) for start, code in spans]
    spans += [
        (start, name)
        for start, name in _find_names(text, language)
        if not any(start < end and begin < start + len(name) for begin, end in taken)
    ]
    entities = dict.fromkeys(entity for _, entity in sorted(spans))
    return tuple(entities)[:MAX_ENTITIES]


def find_missing_entities(entities: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Return the entities that occur in none of the texts, whatever their case, hyphens and spaces.

    A code is compared with whole codes, so that INC-2024-001 is not found in INC-2024-0012.

    >>> find_missing_entities(["INC-2024-001", "Delft Medical"], ["inc 2024 001: closed.", "INC-2024-0012 is open."])
    ['Delft Medical']
    """
    words = " ".join(f" {_fold(text)} " for text in texts)
    return [entity for entity in entities if f" {_fold(entity)} " not in words]


def _is_code(token: str) -> bool:
    has_digit = any(char.isdigit() for char in token)
    return has_digit and (len(token) >= 4 or "-" in token)


def _find_names(text: str, language: str | None) -> list[tuple[int, str]]:
    """Return runs of capitalised words that do not begin a sentence, and acronyms anywhere, with their positions."""
    words = list(_WORD.finditer(text))
    capitalised = [word for word in words[1:] if word[0][0].isupper()]
    has_names = len(capitalised) <= _MOST_CAPITALISED * (len(words) - 1) and (
        language is None or not language.lower().startswith(_LANGUAGES_WITH_CAPITALISED_NOUNS)
    )
    names: list[tuple[int, str]] = []
    end_of_last = -1
    for word in words:
        name = _POSSESSIVE.sub("", word[0])
        is_acronym = len(name) > 1 and name.isupper() and name.isalpha()
        begins = _begins_sentence(text, word.start())
        is_name = has_names and name[0].isupper() and not begins
        if name.casefold() in _NO_NAMES or not (is_acronym or is_name):
            continue
        between = text[end_of_last : word.start()] if names else ""
        if between and (between == " " or _PARTICLES.fullmatch(between)):
            start = names[-1][0]
            names[-1] = start, text[start : word.start() + len(name)]
        else:
            names.append((word.start(), name))
        end_of_last = word.start() + len(name)
    return names


def _begins_sentence(text: str, start: int) -> bool:
    """Return whether the word at `start` is the first of a text, a line, a sentence, a quotation or a parenthesis."""
    position = start - 1
    while position >= 0 and text[position].isspace():
        if text[position] == "\n":
            return True
        position -= 1
    return position < 0 or text[position] in _BEFORE_SENTENCES


@cache_by_text(maxsize=256, longest=4000)  # a retrieved chunk is read for several questions
def _fold(text: str) -> str:
    """Return the words of a text in one case; what separates the parts of a code separates words."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    if "'s" in folded or "’s" in folded:
        folded = _POSSESSIVES.sub("", folded)
    return " ".join(split_words(folded))
