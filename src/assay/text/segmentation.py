"""Segments text into blocks (paragraphs, list items, table rows, headings, code), sentences and clauses, in any script.

Every function runs in linear time and returns spans of characters that are ascending and disjoint.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct, structs

from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_case, fold_text
from assay.text.pattern_cache import compile_pattern
from assay.text.text_cache import cache_by_text

BlockKind = Literal["text", "item", "heading", "row", "code"]
Span = tuple[int, int]


class TextBlock(Struct, frozen=True):
    """A block of a text.

    `start`, `end`: its span without list and quotation markers. `follows_empty_line`: whether an empty
    line precedes it. `header_cells`: for a table row, the spans of the header cells.
    """

    kind: BlockKind
    start: int
    end: int
    follows_empty_line: bool = False
    header_cells: tuple[Span, ...] = ()


_LINE_PREFIX = compile_pattern(r"[ \t\r\u3000]*+(?:>[> \t]*+)?")
_FENCE = LatePattern(r"`{3,}|~{3,}")
_HEADING = compile_pattern(r"#{1,6}(?=\s|$)")
_RULE = compile_pattern(r"(?>(?:[-*_=] ?){3,})$|<!--.*")
_ITEM = compile_pattern(
    r"""(?:
      (?:[-*+•‣◦▪▸●○–—] | \d{1,3}(?>(?:\.\d{1,2})*)[.)] | \d{1,2}(?>(?:\.\d{1,2})+) | [a-zA-Z]\) | [ivx]{1,5}[.)]
        | \((?:\d{1,3}|[a-z]|[ivx]{1,5})\) )(?=[ \t])
      | [①-⑳] | [0-9一二三四五六七八九十]{1,3}、
    )[ \t]*+(?:\[[ xX]\][ \t]++)?""",
    re.VERBOSE,
)
# Lines that begin with a word and a space, or consist of a word, have no Markdown markup.
_PROSE = compile_pattern(r"[^\W\d_]{1,30}+ |[^\W\d_①-⑳]{1,30}+.?$", re.DOTALL)
_PREFIX_CHARACTERS, _FENCE_CHARACTERS, _RULE_CHARACTERS = frozenset(" \t\r\u3000>"), frozenset("`~"), frozenset("-*_=<")
_CELL_END = compile_pattern(r"(?<!\\)\|")
_BOLD_LINE = LatePattern(r"(?P<mark>\*\*|__)(?!\s)(?P<label>(?:(?!\*\*|__).){1,120})(?P=mark)[:：]?$")
_ENDED_SENTENCE = compile_pattern(r"[.!?…:;。！？：；؟۔।॥|][\"'”’»)\]」』）》*_`]*+$")
_LONG_LINE = 50  # characters from which a line was probably wrapped


def segment_blocks(text: str) -> Iterator[TextBlock]:
    """Yield the blocks of a text in order; empty lines, horizontal rules and code fences belong to no block.

    Lines are joined if the next one begins in lower case, or if the last one is long and has no end mark. A line that
    is bold as a whole is a heading if it has no digits and another line follows.

    >>> text = "# Leave\\n- 12 days\\n  a year\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 |"
    >>> [(block.kind, text[block.start : block.end]) for block in segment_blocks(text)]
    [('heading', 'Leave'), ('item', '12 days\\n  a year'), ('row', '| 1 | 2 |')]
    """
    after_empty_line = False
    open_block: TextBlock | None = None  # a paragraph or list item that the next line may continue
    open_end = 0  # where its lines end, so far
    for line in _line_blocks(text, list(_lines(text))):
        if line is None:
            after_empty_line = True
        elif (
            open_block
            and not after_empty_line
            and line.kind == "text"
            and _continues_block(text, open_block.start, open_end, line.start)
        ):
            open_end = line.end
        else:
            if open_block:
                yield open_block if open_block.end == open_end else structs.replace(open_block, end=open_end)
            open_block = None
            if after_empty_line:
                line = structs.replace(line, follows_empty_line=True)
            if line.kind in ("text", "item"):
                open_block, open_end = line, line.end
            else:
                yield line
            after_empty_line = False
    if open_block:
        yield structs.replace(open_block, end=open_end)


def _line_blocks(text: str, lines: list[Span]) -> Iterator[TextBlock | None]:
    """Yield each line as a block, and None for lines that separate blocks."""
    fence = ""
    header: tuple[Span, ...] = ()
    table_rule_line = -1  # the number of the line below a table's header
    for line_number, (start, end) in enumerate(lines):
        line = text[start:end]
        mark = _FENCE.match(line) if line and line[0] in _FENCE_CHARACTERS else None
        if fence or mark:
            closes = bool(mark) and mark is not None and mark[0].startswith(fence) and mark.end() == len(line)
            yield TextBlock("code", start, end) if fence and line and not closes else None
            fence = "" if fence and closes else fence or (mark[0] if mark else "")
        elif line_number == table_rule_line:
            continue
        elif "|" not in line:
            header = ()
            yield _line_block(text, start, end, line_number + 1 < len(lines))
        elif not header and line_number + 1 < len(lines) and _is_table_rule(text[slice(*lines[line_number + 1])]):
            header, table_rule_line = tuple(find_cell_spans(text, start, end)), line_number + 1
        elif header or line[0] == line[-1] == "|":
            yield TextBlock("row", start, end, header_cells=header)
        else:
            yield _line_block(text, start, end, line_number + 1 < len(lines))


def _line_block(text: str, start: int, end: int, has_next_line: bool) -> TextBlock | None:
    """Return a line outside code and tables as a block; `more`: other lines follow."""
    line = text[start:end]
    if _PROSE.match(line):
        return TextBlock("text", start, end)
    if not line or (line[0] in _RULE_CHARACTERS and _RULE.match(line)):
        return None
    heading = _HEADING.match(line) if line[0] == "#" else None
    if heading:
        content_start = trim_span(text, start + heading.end(), end)[0]
        return TextBlock("heading", content_start, end) if content_start < end else None
    bold = _BOLD_LINE.match(line) if has_next_line and line[0] in "*_" else None
    if bold and not _ENDED_SENTENCE.search(bold["label"].rstrip(":：")) and not any(map(str.isdigit, bold["label"])):
        return TextBlock("heading", start, end)
    item = _ITEM.match(line)
    return (
        TextBlock("item", start + item.end(), end) if item and item.end() < len(line) else TextBlock("text", start, end)
    )


def find_cell_spans(text: str, start: int, end: int) -> list[Span]:
    """Return the trimmed spans of the cells of a table row; those of empty cells are empty.

    >>> find_cell_spans("| a || b |", 0, 10)
    [(2, 3), (5, 5), (7, 8)]
    """
    cuts = [mark.start() for mark in _CELL_END.finditer(text, start, end)]
    spans = [trim_span(text, a, b) for a, b in zip([start, *(cut + 1 for cut in cuts)], [*cuts, end], strict=True)]
    first = 1 if text[start] == "|" else 0
    last = len(spans) - 1 if len(spans) > 1 and cuts[-1] == end - 1 else len(spans)
    return spans[first:last]


def trim_span(text: str, start: int, end: int) -> Span:
    """Return the span without whitespace at its ends; (end, end) if it is all whitespace."""
    piece = text[start:end]
    begin = end - len(piece.lstrip())
    return begin, max(begin, start + len(piece.rstrip()))


def _lines(text: str) -> Iterator[Span]:
    """Yield the span of each line without surrounding whitespace and Markdown quotation markers."""
    position = 0
    for line in text.removesuffix("\n").split("\n") if text else ():
        stripped = line.rstrip()
        lead = _LINE_PREFIX.match(stripped) if stripped and stripped[0] in _PREFIX_CHARACTERS else None
        yield position + (lead.end() if lead else 0), position + len(stripped)
        position += len(line) + 1


def _is_table_rule(line: str) -> bool:
    """Whether a line is the rule below a table header: a bar, and dashes in every cell."""
    if "|" not in line or line.strip("|:- \t"):
        return False
    cells = [cell.strip() for cell in line.strip("| \t").split("|")]
    return all("-" in cell for cell in cells)


def _continues_block(text: str, begin: int, end: int, start: int) -> bool:
    """Whether the line at `start` continues the block that lies between `begin` and `end`."""
    last_line_start = max(text.rfind("\n", begin, end), begin)
    looks_unfinished = text[start].islower() or text[end - 1] in ",，、-" or end - last_line_start >= _LONG_LINE
    return looks_unfinished and not _ENDED_SENTENCE.search(text, max(begin, end - 10), end)


# ── sentences ────────────────────────────────────────────────────────────────────────────────────────────────────


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CLOSERS = r"[\"'”’»)\]」』）》*_`]*+"
_STOP = compile_pattern(
    rf"(?:(?<![.!?…])[.!?…]++{_CLOSERS}|(?<![።։])[።։]++)(?=\s|$)|[。！？｡؟۔।॥]++[\"”’»)」』）》*_]*+"
)
_CASED_STOPS = ".!?…"
_QUOTATION = compile_pattern(
    r"`(?! )[^`\n]{1,60}+`|“[^“”]{1,400}+”|«[^«»]{1,400}+»|「[^「」]{1,400}+」|『[^『』]{1,400}+』"
    r"|(?<![^\s(\[])\"(?=\S)[^\"]{1,400}+\"(?!\w)"
)
_OPENERS = "([{\"'“‘«*_"
# No sentence ends after these: in any case, in this exact case, before a digit …
_NEVER_ENDING = _words("e.g i.e eg ie v vs cf viz approx ca")
_CAPITAL_ABBREVIATIONS = _words(
    """
    Mr Mrs Ms Dr Prof St Gen Sen Rep Gov Capt Lt Col Sgt Rev Hon Messrs Mme Mlle Dept Jan Feb Mar Apr Jun Jul Aug Sep
    Sept Oct Nov Dec Tp TP Ths ThS Ts TS Pgs PGS Gs GS Bs BS Cn CN Ks KS Tx TX Ô Bà Q P
    """
)
_BEFORE_NUMBERS = _words("no nos nr fig figs art sec ch vol pp p q eq ver tel ext ed max min avg số đ")
# … and after these only before a word that often begins sentences.
_SOMETIMES_ENDING = _words("etc inc ltd co corp llc plc jr sr al v.v vv bros ave blvd rd est")
_STARTERS = _words(
    """
    the a an this that these those it its he she they we you i in on at by for from with if when while after before
    but and or however so as there here all any both each some most many no not please see note also since his her
    their our your employees users staff customers
    các những một nếu khi sau trước theo tuy nhưng và hoặc để đây đó này ngoài nhân người bạn tôi chúng không có
    với trong mọi mỗi cần phải hãy vui lưu quản công
    """
)
_INITIALS = compile_pattern(r"[^\W\d_]|(?:[^\W\d_]\.)+[^\W\d_]")
_NUMBERING = compile_pattern(r"\W*(?:\d{1,3}(?:\.\d{1,2})*|[a-zA-Z]|[ivx]{1,5})\W*")
_NEXT_WORD = compile_pattern(r"\s*[\"'“‘«(\[*_]*+([^\W_]*+)")


@cache_by_text(maxsize=256, longest=4000)  # retrieved chunks are read for claims and for planted instructions
def segment_sentences(text: str) -> Sequence[Span]:
    """Return the spans of the sentences of all blocks, headings, table rows and lines of code included.

    >>> text = "Dr. Lê pays $1.5. Why? 有三天。五天。"
    >>> [text[a:b] for a, b in segment_sentences(text)]
    ['Dr. Lê pays $1.5.', 'Why?', '有三天。', '五天。']
    """
    return [span for block in segment_blocks(text) for span in segment_block_sentences(text, block)]


def segment_block_sentences(text: str, block: TextBlock) -> list[Span]:
    """Return the spans of the sentences of one block.

    A sentence ends at an end mark before whitespace; in Chinese, Japanese, Arabic and Indic scripts at the mark itself.
    It does not end after abbreviations, initials and numbering, before a lower-case letter, or within a quotation or
    code in a longer text.
    """
    if block.kind in ("row", "code", "heading"):
        return [(block.start, block.end)]
    spans, start = [], block.start
    quotations: Iterator[Span] | None = None
    quotation: Span | None = None
    for stop in _STOP.finditer(text, block.start, block.end):
        if quotations is None:
            quotations = _quotation_spans(text, block)
            quotation = next(quotations, None)
        while quotation and quotation[1] <= stop.start():
            quotation = next(quotations, None)
        if quotation and quotation[0] < stop.start() and stop.end() < quotation[1]:
            continue
        if stop.end() == block.end or _ends_sentence(text, start, stop.start(), stop.end()):
            spans.append(trim_span(text, start, stop.end()))
            start = stop.end()
    if start < block.end:
        spans.append(trim_span(text, start, block.end))
    return [(a, b) for a, b in spans if a < b]


def _quotation_spans(text: str, block: TextBlock) -> Iterator[Span]:
    """Yield the spans of quotations and code, except of one that is the whole block."""
    for match in _QUOTATION.finditer(text, block.start, block.end):
        if match.start() > block.start or text[match.end() : block.end].strip(" \t\n.,;:!?"):
            yield match.span()


def _ends_sentence(text: str, start: int, stop: int, end: int) -> bool:
    """Whether the mark at `stop`, with quotes up to `end`, closes the sentence begun at `start`."""
    mark = text[stop]
    if mark not in _CASED_STOPS:
        return True
    match = _NEXT_WORD.match(text, end, end + 40)
    next_word = match[1] if match else ""
    if next_word[:1].islower():
        return False
    if mark != "." or text[stop + 1 : stop + 2] == ".":
        return True
    if stop - start < 10 and _NUMBERING.fullmatch(text, start, stop):
        return False
    words_before = text[max(start, stop - 24) : stop].split()
    word = words_before[-1].lstrip(_OPENERS) if words_before else ""
    if word.isdecimal() and len(word) <= _DIGITS_OF_ORDINAL and _is_german_ordinal(words_before[:-1], next_word):
        return False
    if (
        word.lower() in _NEVER_ENDING
        or word in _CAPITAL_ABBREVIATIONS
        or (word.lower() in _BEFORE_NUMBERS and next_word[:1].isdigit())
    ):
        return False
    if word.lower() in _SOMETIMES_ENDING or (_INITIALS.fullmatch(word) and (word[0].isupper() or "." in word)):
        return next_word.lower() in _STARTERS
    return True


_DIGITS_OF_ORDINAL = 2
_GERMAN_MONTHS = _words("Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember")
_BEFORE_ORDINALS = _words("im am zum vom beim der dem den das des ins einem einen einer jeder jedem jeden ihrem ihrer")
_GERMAN_STARTERS = _words(
    """
    der die das den dem ein eine es er sie ich wir man dies diese dieser dieses danach dann dort dazu dafür daher
    dabei hier für bei mit in im am an auf ab zu zum zur nach vor von wenn falls wer was wie wann wo und oder
    aber auch nur bitte
    """
)


def _is_german_ordinal(before: Sequence[str], next_word: str) -> bool:
    """Whether a number of one or two digits with a full stop is an ordinal: "zum 31. März", "im 1. Fachsemester"."""
    if next_word in _GERMAN_MONTHS:
        return True
    is_led = bool(before) and before[-1].lower() in _BEFORE_ORDINALS and before[-2:] not in (["I", "am"], ["i", "am"])
    return is_led and next_word[:1].isupper() and next_word.lower() not in _GERMAN_STARTERS


CONTEXT_LENGTH = 200
"""Characters before and after a phrase that are examined; bounds the work on very long sentences."""

_BREAK = "¶"
_PARAGRAPH = LatePattern(r"\n\s*\n|\n\s*(?=[-*•#|>]|\d{1,2}[.)])")
_SENTENCE_END = compile_pattern(rf"[.!?;…{_BREAK}][\"')\]]{{0,3}} ")
_COMMA_CLAUSE = (
    r", (?=(?:and|so|yet|though|although|while|whereas|there is|the|it|because|since|nen|vi|va|con|song|do do"
    r"|khong|chua|toi)\b)"
)
_CLAUSE_END = compile_pattern(
    r": |,? (?=(?:but|however|nhung|tuy nhien|tuy vay)\b)|,? (?=and (?:i|we|you) |va (?:toi|ban) )|" + _COMMA_CLAUSE
)
_CLAUSE_OPENERS = (" but", " however", " nhung", " tuy ", " and i ", " and we ", " and you ", " va toi ", " va ban ")
_MARKED_CLAUSE_END = compile_pattern(": |" + _COMMA_CLAUSE)
"""What `_CLAUSE_END` matches in a text without any of `_CLAUSE_OPENERS`: it need not look behind every space."""
_CONCESSION = compile_pattern(
    r"(?:but |and )?(?:although|though|while|even though|mac du|tuy|du|du rang)\b[^,]{0,200}, "
)
_QUOTE = compile_pattern(rf"[\"'`{_BREAK}]")
_WIDE_MARKS = {
    "。": ". ",
    "．": ". ",
    "，": ", ",
    "、": ", ",
    "？": "? ",
    "！": "! ",
    "；": "; ",
    "：": ": ",
    **dict.fromkeys("「」『』", '"'),
}
"""Marks of Chinese and Japanese as those that clauses are split at."""


class PhraseContext(Struct, frozen=True):
    """The context of a phrase, each part at most `CONTEXT_LENGTH` characters long.

    `sentence`, `before`: the text before it in its sentence and in its clause. `after`: the text after it in its
    clause. `is_question`: whether the sentence is a question.
    """

    sentence: str
    before: str
    after: str
    is_question: bool


def normalise_answer(answer: str, *, keeps_diacritics: bool = False) -> str:
    """Return the folded text, with contractions of "not" spelled out and a mark between paragraphs and list items.

    >>> normalise_answer("I can’t say.\\n\\nAsk HR.")
    'i can not say. ¶ ask hr.'
    """
    if "\n" in answer:
        answer = _PARAGRAPH.sub(f" {_BREAK} ", answer)
    text = fold_case(answer) if keeps_diacritics else fold_text(answer)
    if not _is_narrow(text):
        for mark, narrow in _WIDE_MARKS.items():  # several times as fast as translating each character
            text = text.replace(mark, narrow)
    if "n't" in text:
        text = text.replace("can't", "can not").replace("won't", "will not").replace("n't", " not")
    return text.replace("cannot", "can not")


def _is_narrow(text: str) -> bool:
    """Whether a text has no character beyond Latin-1, and so no wide mark."""
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


def split_clauses(text: str) -> Iterator[str]:
    """Yield the clauses of a prepared text in order; joined they are the text.

    Sentences end at marks before a space; clauses also at colons and before "but", ", so", ", nên" and the like.

    >>> list(split_clauses("i can not say, but hr may. why?"))
    ['i can not say, ', 'but hr may. ', 'why?']
    """
    start = 0
    clause_end = _choose_clause_end(text)
    while start < len(text):
        match = _SENTENCE_END.search(text, start)
        end = match.end() if match else len(text)
        cuts = {cut.end() for cut in clause_end.finditer(text, start, end)}
        concession = _CONCESSION.match(text, start, end)
        if concession:
            cuts.add(concession.end())
        for cut in (*sorted(cuts - {start, end}), end):
            yield text[start:cut]
            start = cut


def _choose_clause_end(text: str) -> re.Pattern[str]:
    """Return the pattern that finds the ends of the clauses of a text fastest."""
    return _CLAUSE_END if any(opener in text for opener in _CLAUSE_OPENERS) else _MARKED_CLAUSE_END


class PhraseContexts:
    """The contexts of the phrases of a prepared text, whose sentences are found once."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _sentence_ends(self) -> tuple[list[int], list[int]]:
        """Where the marks that end sentences begin, and where the sentences after them begin."""
        spans = [match.span() for match in _SENTENCE_END.finditer(self._text)]
        return [start for start, _ in spans], [end for _, end in spans]

    def find_context(self, start: int, end: int) -> PhraseContext:
        """Return the context of text[start:end].

        >>> PhraseContexts("hello. sorry, but i do not know that, so ask hr?").find_context(23, 31)
        PhraseContext(sentence='sorry, but i do ', before='but i do ', after=' that', is_question=True)
        """
        text, (marks, begins) = self._text, self._sentence_ends
        first = max(0, start - CONTEXT_LENGTH)
        last = bisect_right(begins, start) - 1
        if last >= 0 and marks[last] >= first:
            first = begins[last]
        sentence = text[first:start]
        concession = _CONCESSION.match(sentence)
        before = sentence[max(_find_last_clause(sentence), concession.end() if concession else 0) :]
        next_mark = bisect_left(marks, end)
        stop = end + CONTEXT_LENGTH
        if next_mark < len(marks) and begins[next_mark] <= stop:
            stop = marks[next_mark] + 1
        text_after = text[end:stop]
        clause_end = _choose_clause_end(text_after).search(text_after)
        return PhraseContext(
            sentence, before, text_after[: clause_end.start()] if clause_end else text_after, text_after.endswith("?")
        )


def _find_last_clause(text: str) -> int:
    """Return where the last clause of a text begins."""
    last = 0
    for match in _choose_clause_end(text).finditer(text):
        last = match.end()
    return last


def is_quoted(spans: list[tuple[int, int]], position: int) -> bool:
    """Return whether a position lies in one of the sorted spans."""
    index = bisect_left(spans, (position + 1,)) - 1
    return index >= 0 and position < spans[index][1]


def find_quotations(text: str) -> list[tuple[int, int]]:
    """Return the quoted spans, merged and sorted. A text that is quoted as a whole has none.

    >>> find_quotations("403 is 'you don't have access'")
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


VALUE_PART = compile_pattern(r"\n|[.;,](?=\s|$)| (?:and|while|but|whereas|va|con|nhung) ")
"""What separates the parts of a text that have a value each."""
