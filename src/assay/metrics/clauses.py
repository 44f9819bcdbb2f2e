"""Split a folded answer into sentences and clauses, and find the context of a phrase."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from assay.metrics.folding import fold

WINDOW = 200
"""Characters before and after a phrase that are examined; bounds the work on very long sentences."""

_BREAK = "¶"
_PARAGRAPH = re.compile(r"\n\s*\n|\n\s*(?=[-*•#|>]|\d{1,2}[.)])")
_SENTENCE_END = re.compile(rf"[.!?;…{_BREAK}][\"')\]]{{0,3}} ")
_CLAUSE_END = re.compile(
    r": |,? (?=(?:but|however|nhung|tuy nhien|tuy vay)\b)|,? (?=and (?:i|we|you) |va (?:toi|ban) )"
    r"|, (?=(?:and|so|yet|though|although|while|whereas|there is|the|it|because|since|nen|vi|va|con|song|do do"
    r"|khong|chua|toi)\b)"
)
_CONCESSION = re.compile(r"(?:but |and )?(?:although|though|while|even though|mac du|tuy|du|du rang)\b[^,]{0,200}, ")
_QUOTE = re.compile(rf"[\"'`{_BREAK}]")


class Surroundings(NamedTuple):
    """The context of a phrase, each part at most `WINDOW` characters long.

    `sentence`, `before`: the text before it in its sentence and in its clause. `after`: the text after it in its
    clause. `asked`: whether the sentence is a question.
    """

    sentence: str
    before: str
    after: str
    asked: bool


def prepare(answer: str) -> str:
    """Return the folded text, with contractions of "not" spelled out and a mark between paragraphs and list items.

    >>> prepare("I can’t say.\\n\\nAsk HR.")
    'i can not say. ¶ ask hr.'
    """
    if "\n" in answer:
        answer = _PARAGRAPH.sub(f" {_BREAK} ", answer)
    text = fold(answer)
    if "n't" in text:
        text = text.replace("can't", "can not").replace("won't", "will not").replace("n't", " not")
    return text.replace("cannot", "can not")


def clauses(text: str) -> Iterator[str]:
    """Yield the clauses of a prepared text in order; joined they are the text.

    Sentences end at marks before a space; clauses also at colons and before "but", ", so", ", nên" and the like.

    >>> list(clauses("i can not say, but hr may. why?"))
    ['i can not say, ', 'but hr may. ', 'why?']
    """
    start = 0
    while start < len(text):
        match = _SENTENCE_END.search(text, start)
        end = match.end() if match else len(text)
        cuts = {cut.end() for cut in _CLAUSE_END.finditer(text, start, end)}
        concession = _CONCESSION.match(text, start, end)
        if concession:
            cuts.add(concession.end())
        for cut in (*sorted(cuts - {start, end}), end):
            yield text[start:cut]
            start = cut


def around(text: str, start: int, end: int) -> Surroundings:
    """Return the context of text[start:end].

    >>> around("hello. sorry, but i do not know that, so ask hr?", 23, 31)
    Surroundings(sentence='sorry, but i do ', before='but i do ', after=' that', asked=True)
    """
    text_before = text[max(0, start - WINDOW) : start]
    sentence = text_before[_last_match_end(_SENTENCE_END, text_before) :]
    concession = _CONCESSION.match(sentence)
    before = sentence[max(_last_match_end(_CLAUSE_END, sentence), concession.end() if concession else 0) :]
    sentence_end = _SENTENCE_END.search(text, end, end + WINDOW)
    text_after = text[end : sentence_end.start() + 1 if sentence_end else end + WINDOW]
    clause_end = _CLAUSE_END.search(text_after)
    return Surroundings(
        sentence, before, text_after[: clause_end.start()] if clause_end else text_after, text_after.endswith("?")
    )


def _last_match_end(pattern: re.Pattern[str], text: str) -> int:
    last = 0
    for match in pattern.finditer(text):
        last = match.end()
    return last


def quoted(spans: list[tuple[int, int]], place: int) -> bool:
    """Return whether a position lies in one of the sorted spans."""
    index = bisect_left(spans, (place + 1,)) - 1
    return index >= 0 and place < spans[index][1]


def quotations(text: str) -> list[tuple[int, int]]:
    """Return the quoted spans, merged and sorted. A text that is quoted as a whole has none.

    >>> quotations("403 is 'you don't have access'")
    [(7, 30)]
    """
    spans: list[tuple[int, int]] = []
    opened: dict[str, int] = {}
    for match in _QUOTE.finditer(text):
        mark, position = match[0], match.start()
        if mark == _BREAK:
            opened.clear()
        elif mark in opened and (mark != "'" or not text[position + 1 : position + 2].isalnum()):
            spans.append((opened.pop(mark), position + 1))
        elif mark != "'" or not text[position - 1 : position].isalnum():
            opened[mark] = position
    if not spans:
        return []
    text_length = len(text.rstrip(" .!?"))
    merged: list[tuple[int, int]] = []
    for start, end in sorted(span for span in spans if span[1] - span[0] < text_length):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
