"""Flags, paths, endpoints and files of a fact, and others of the same form in their place.

No other word can stand for "--delete": "--delete-after" and "--prune" are other flags, "/v1/orders" another endpoint
than "/v2/orders", "settings.yaml" another file than "settings.toml". What names a part of the same path, a short flag
for a long one, and what the evidence puts beside it as another name of it, leaves the fact open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct, structs

from assay.text.facts.cues.value_cues import FILE_ENDINGS, HTTP_METHODS
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, read_text
from assay.text.facts.reading.sentence_around import get_sentence
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern

Form = Literal["flag", "short flag", "path", "method"]
_LEFT = r"(?<![\w/.@:~-])"
_PART = r"[\w.~$*-]*(?:[{<]\w+[}>]|:\w+|[\w~$*-])"
_FILE = rf"[\w-]+(?:\.[\w-]+)*\.(?:{FILE_ENDINGS})(?![\w/-]|\.\w)"
_IDENTIFIER = LatePattern(
    rf"(?<![\w/.@-])(?P<flag>--[A-Za-z][\w-]*)(?:=(?P<value>[\w./:-]*\w))?"
    r"|(?:(?<=[\s\"'(\[|,/])|^)(?P<short>-[A-Za-z])(?![\w-]|\.\w)"
    rf"|(?<![\w-])(?P<method>{HTTP_METHODS})(?= (?:request )?(?:to |on )?(?:https?:)?/)"
    rf"|(?:https?://[\w.:-]+|{_LEFT}(?:~|\.{{1,2}})?)(?P<path>(?:/{_PART})+)"
    rf"|{_LEFT}(?P<file>(?:[\w.-]+/)*{_FILE})"
)
_MAY_HOLD = compile_pattern(r"(?:^|[\s\"'(\[|,/])-|/\w|\.[a-z]")
_PLACEHOLDER = compile_pattern(r"\{\w+\}|<\w+>|(?<=/):\w+")
_AFTER_NUMBER = compile_pattern(r"[\d$€£%] ?\Z")
_OTHER_NAME = 14
"""Characters between two names of one flag in the evidence: "`--jobs` (or `--parallel`)"."""


class Identifier(Struct, frozen=True):
    """A flag, a path or file, or a method of HTTP: its form, its name, the value of a flag, and where it stands."""

    form: Form
    name: str
    value: str
    start: int
    end: int


@lru_cache(maxsize=2048)
def list_identifiers(text: str) -> Sequence[Identifier]:
    """Return the flags, paths, files and methods of HTTP that a text names.

    >>> [(own.form, own.name) for own in list_identifiers("Run it with --dry-run or -n; see ./notes.md.")]
    [('flag', '--dry-run'), ('short flag', '-n'), ('path', 'notes.md')]
    >>> [own.name for own in list_identifiers("POST /v3/items/{id} and/or 5 km/h at €3 /month")]
    ['POST', '/v3/items/{}']
    """
    return tuple(_iterate_identifiers(text)) if _MAY_HOLD.search(text) is not None else ()


def _iterate_identifiers(text: str) -> Iterator[Identifier]:
    for match in _IDENTIFIER.finditer(text):
        start, end = match.span()
        if match["flag"] is not None:
            yield Identifier("flag", match["flag"].lower(), (match["value"] or "").lower(), start, end)
        elif match["short"] is not None:
            yield Identifier("short flag", match["short"], "", start, end)
        elif match["method"] is not None:
            yield Identifier("method", match["method"], "", start, end)
        elif _AFTER_NUMBER.search(text, max(0, start - 2), start) is None:
            name = _PLACEHOLDER.sub("{}", (match["path"] or match["file"]).lower())
            name = _OTHER_ENDING.sub(_spell_ending, name)
            is_relative = match[0].startswith(".")
            yield Identifier("path", name.lstrip("./") if is_relative else name, "", start, end)


_SAME_ENDINGS = {"yml": "yaml", "htm": "html", "jpeg": "jpg"}
_OTHER_ENDING = compile_pattern(rf"(?<=\.)(?:{'|'.join(_SAME_ENDINGS)})\Z")


def _spell_ending(match: re.Match[str]) -> str:
    return _SAME_ENDINGS[match[0]]


def judge_identifiers(texts: FactTexts) -> FactJudgment | None:
    """Return the judgment of a fact one of whose flags, paths or methods an answer does not name, but others of the
    same form in its place; None otherwise."""
    wanted = [own for own in list_identifiers(texts.read_fact.text) if not _is_asked(own, texts)]
    if not wanted:
        return None
    named = list_identifiers(texts.answer.text)
    for identifier in wanted:
        if any(_is_same(identifier, own) for own in named):
            continue
        rivals = [own for own in named if _is_rival(identifier, own) and not _is_asked(own, texts)]
        judgment = _judge_rivals(texts, identifier, rivals) if rivals else None
        if judgment is not None:
            return judgment
    return None


def _is_asked(identifier: Identifier, texts: FactTexts) -> bool:
    """Whether the question has the same flag, path or method."""
    return any(_is_same(identifier, own) for own in list_identifiers(texts.question.text))


def _is_same(wanted: Identifier, own: Identifier) -> bool:
    if wanted.form != own.form or (wanted.value and own.value and wanted.value != own.value):
        return False
    if wanted.form == "path" and ("/" not in wanted.name or "/" not in own.name):
        return _get_file(wanted.name) == _get_file(own.name)
    steps, own_steps = wanted.name.rstrip("/").split("/"), own.name.rstrip("/").split("/")
    return len(steps) == len(own_steps) and all(map(_may_be_same_step, steps, own_steps))


def _may_be_same_step(step: str, other: str) -> bool:
    """Whether two steps of a path are one, or an example is in the place of the other: "keys/42" for "keys/{id}"."""
    return step == other or "{}" in (step, other)


def _get_file(path: str) -> str:
    return path.rpartition("/")[2]


def _is_rival(wanted: Identifier, own: Identifier) -> bool:
    """Whether another identifier may stand in the place of one: two flags, two paths, two methods."""
    return wanted.form.rpartition(" ")[2] == own.form.rpartition(" ")[2]


def _judge_rivals(texts: FactTexts, wanted: Identifier, rivals: Sequence[Identifier]) -> FactJudgment | None:
    answer = texts.answer
    spelled = answer.text[rivals[0].start : rivals[0].end]
    missing = FactJudgment(texts.fact, "missing", f'the answer says "{spelled}"', "other value")
    if wanted.form == "path" and any(_holds_other(wanted.name, own.name) for own in rivals):
        return FactJudgment(texts.fact, "unknown", f'the answer names "{spelled}", which may be something else')
    if any(own.form != wanted.form or _turns_off(wanted, own) or _turns_off(own, wanted) for own in rivals):
        return FactJudgment(texts.fact, "unknown", f'the answer says "{spelled}", which may be another form of it')
    if any(_is_beside_negation(answer, own) for own in rivals):
        return structs.replace(missing, state="unknown", mistake="")
    if any(_are_names_of_one(texts, wanted, own) for own in rivals):
        return FactJudgment(texts.fact, "unknown", f'the answer says "{spelled}", which the evidence has beside it')
    return missing


_OFF = frozenset(("no", "none", "never", "off", "false", "0"))


def _turns_off(flag: Identifier, other: Identifier) -> bool:
    """Whether one flag says in its name what another says by its value: "--no-color" and "--color=never"."""
    return other.value in _OFF and flag.name == other.name.replace("--", "--no-", 1)


def _is_beside_negation(answer: ReadText, identifier: Identifier) -> bool:
    """Whether the sentence of an identifier denies something; the "no" of "--no-cache" denies nothing."""
    named = list_identifiers(answer.text)
    return any(
        not any(own.start <= negation.start() < own.end for own in named)
        for negation in find_negations(answer, *get_sentence(answer, identifier.start))
    )


def is_named(name: str, answer: ReadText) -> bool:
    """Return whether an answer has a path or file as one of its own, perhaps after the address of a machine.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> [is_named("/v2/orders", read_text(f"GET https://api.example{path}")) for path in ("/v2/orders", "/v2/orders/7")]
    [True, False]
    """
    wanted = list_identifiers(name)
    return any(_is_same(one, own) for one in wanted[:1] for own in list_identifiers(answer.text))


def names_other_code(fact: str, answer: ReadText, question: ReadText) -> bool:
    """Return whether a fact says little more than one code, and an answer names only others of its form.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> question = read_text("Which error does an empty tank show?")
    >>> answers = [read_text(f"It is {code}.") for code in ("E-219", "E-217", "ISO-9001")]
    >>> [names_other_code("E-217 is shown", answer, question) for answer in answers]
    [True, False, False]
    """
    read_fact = read_text(fact)
    codes = [word for word in read_fact.words if word.kind == "id"]
    others = [word for word in read_fact.words if word.kind not in ("id", "stop")]
    others = [word for word in others if not question.find_word(word, True)]
    if len(codes) != 1 or read_fact.quantities or len(others) > _MOST_WORDS_BESIDE:
        return False
    named = [
        word for word in answer.words if word.kind == "id" and _get_shape(word.folded) == _get_shape(codes[0].folded)
    ]
    named = [word for word in named if not question.find_word(word, True)]
    is_other = bool(named) and all(word.folded != codes[0].folded for word in named)
    return is_other and not find_negations(answer)


_MOST_WORDS_BESIDE = 2
"""Words besides its code that a reference of one code has."""


def _get_shape(code: str) -> str:
    """Return the form of a code: "nb-9" for "NB-5071", and "a-a-9" for the region "eu-west-3"."""
    shape = re.sub(r"\d+", "9", code)
    letters = re.findall(r"[^\W\d_]+", code)
    return re.sub(r"[^\W\d_]+", "a", shape) if len(letters) > 1 else shape


def _holds_other(path: str, other: str) -> bool:
    """Whether one of two paths is a part of the other, or its name the beginning of a longer one."""
    if path in other:
        return True
    parts, other_parts = path.strip("/").split("/"), other.strip("/").split("/")
    short, long = sorted((parts, other_parts), key=len)
    return any(long[start : start + len(short)] == short for start in range(len(long) - len(short) + 1))


def _are_names_of_one(texts: FactTexts, wanted: Identifier, own: Identifier) -> bool:
    """Whether reference or evidence have two flags right beside each other."""
    for source in (texts.reference, *texts.passages):
        named = list_identifiers(source.text)
        for first in named:
            for second in named:
                is_pair = _is_same(first, wanted) and _is_same(second, own)
                distance = max(first.start, second.start) - min(first.end, second.end)
                if is_pair and distance <= _OTHER_NAME and wanted.form == "flag":
                    return True
    return False
