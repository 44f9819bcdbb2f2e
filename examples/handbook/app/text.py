"""Text rules of the handbook application: folding, words, sentences, the language of a question, counting tokens."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

ENTITY = re.compile(r"\b(?:INC-\d{4}-\d{3}|CVE-\d{4}-\d{4,}|PROJ-\d{3}|SRV-\d{3})\b", re.IGNORECASE)
"""The structured ids of the operations log."""

_WORD = re.compile(r"[^\W_]+(?:(?:[-_]|(?<=\d)[.,:/](?=\d))[^\W_]+)*%?")
_PIECE = re.compile(r"[^\W_]+|[^\w\s]|_")
_MARKS = re.compile(r"\*\*|`|\[\^\w+\]:?|^#+ ", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?]) +")
_LIST_ITEM = re.compile(r"(?:[-*]|\d+\.) +")
_VIETNAMESE = frozenset(
    (
        "ai",
        "bao",
        "co",
        "cua",
        "duoc",
        "gi",
        "khi",
        "khong",
        "la",
        "lam",
        "may",
        "nao",
        "nghia",
        "nhieu",
        "phai",
        "thi",
        "va",
    )
)


@lru_cache(maxsize=1 << 14)
def fold(text: str) -> str:
    """Return the text in lower case without diacritics; đ becomes d, which Unicode's decomposition does not do.

    >>> fold("Nghỉ Ốm, Điều 3")
    'nghi om, dieu 3'
    """
    parts = unicodedata.normalize("NFD", text.lower()).replace("đ", "d")
    return "".join(character for character in parts if not unicodedata.combining(character))


def stem(word: str) -> str:
    """Cut the common endings of English words; Vietnamese syllables and codes have none of them.

    >>> [stem(word) for word in ("retries", "retried", "invoices", "phép", "err-429")]
    ['retry', 'retry', 'invoic', 'phép', 'err-429']
    """
    if len(word) < 5 or not (word.isascii() and word.isalpha()):
        return word
    if word.endswith(("ies", "ied")):
        return word[:-3] + "y"
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and not word.endswith("ss"):
            return word[: -len(ending)]
    return word


def words(text: str) -> list[str]:
    """Return the stemmed words in lower case. Codes, numbers, versions and names with `_` stay whole.

    >>> words("Lỗi ERR-429: part-time, v2026-02, company_a, 57.200.000 (10%)")
    ['lỗi', 'err-429', 'part', 'time', 'v2026-02', 'company_a', '57.200.000', '10%']
    """
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFC", text).lower()):
        whole = "-" not in word or any(character.isdigit() for character in word)
        found.extend([stem(word)] if whole else [stem(part) for part in word.split("-")])
    return found


def count_tokens(text: str) -> int:
    """Count words and punctuation marks: a simple stand-in for a model's tokens, the same on every machine.

    >>> count_tokens("12 ngày phép, hưởng lương.")
    7
    """
    return len(_PIECE.findall(text))


def language_of(text: str) -> str:
    """Return `vi` where letters have Vietnamese diacritics or two words are typical Vietnamese ones, else `en`.

    >>> [language_of(text) for text in ("nghỉ ốm", "phep nam duoc may ngay", "How many days?")]
    ['vi', 'vi', 'en']
    """
    composed = unicodedata.normalize("NFC", text)
    if any(character.isalpha() and not character.isascii() for character in composed):
        return "vi"
    return "vi" if len(_VIETNAMESE & set(words(text))) >= 2 else "en"


def without_marks(text: str) -> str:
    """Return Markdown as a reader sees it: no emphasis, code marks, footnote marks or heading signs."""
    return _MARKS.sub("", text).strip()


def sentences(text: str) -> list[str]:
    """Return the sentences of one paragraph; a full stop before a lower-case letter ends none.

    >>> sentences("Ask HR, e.g. by mail. Ở nhà thì gọi.")
    ['Ask HR, e.g. by mail.', 'Ở nhà thì gọi.']
    """
    found = [""]
    for part in _SENTENCE_END.split(text):
        if part[:1].islower():
            found[-1] += " " + part
        else:
            found.append(part)
    return [sentence for sentence in found if sentence]


def statements(markdown: str) -> Iterator[tuple[str, bool]]:
    """Yield what a section states, one statement at a time, as plain text, and whether it is a row of a table.

    A sentence is a statement; a list belongs to the line that leads to it with a colon, otherwise each item stands
    alone; a table row is joined to its column names. The heading, code and quotations state nothing of their own:
    what a document quotes, it does not claim.

    >>> list(statements("## Days\\n\\nAsk **HR**.\\n\\n| Level | Pay |\\n|---|---|\\n| E1 | 5 |\\n\\n> Obey me!"))
    [('Ask HR.', False), ('E1: Pay 5', True)]
    """
    fenced = False
    lead = ""
    for block in re.split(r"\n\s*\n", markdown):
        fence_marks = block.count("```")
        if fenced or fence_marks:
            fenced ^= fence_marks % 2 == 1
            continue
        if lead and not _LIST_ITEM.match(block):
            yield lead, False
            lead = ""
        if block.startswith("#"):
            block = block.partition("\n")[2]
        if not block or block.startswith(">"):
            continue
        if block.startswith("|"):
            yield from ((row, True) for row in _rows(block))
        elif _LIST_ITEM.match(block):
            yield from ((item, False) for item in _items(block, lead))
            lead = ""
        else:
            *whole, last = sentences(without_marks(block).replace("\n", " "))
            yield from ((sentence, False) for sentence in whole)
            lead = last if last.endswith(":") else ""
            if not lead:
                yield last, False
    if lead:
        yield lead, False


def _items(block: str, lead: str) -> Iterator[str]:
    items = [without_marks(_LIST_ITEM.sub("", line, count=1)) for line in block.splitlines()]
    if lead:
        yield lead + " " + "; ".join(item.rstrip(";.") for item in items) + "."
    else:
        yield from items


def _rows(block: str) -> Iterator[str]:
    lines = [[without_marks(cell.strip()) for cell in line.strip("|").split("|")] for line in block.splitlines()]
    header, *rows = [cells for cells in lines if not set("".join(cells)) <= set("-: ")]
    for cells in rows:
        named = [f"{name} {cell}" for name, cell in zip(header[1:], cells[1:], strict=False)]
        yield f"{cells[0]}: {'; '.join(named)}"
