"""Segment an answer into claims: the statements that sources must support, each with its citation markers.

Headings, code, reference lists, headers of CSV, numbering ("II."), questions, lead-ins ("Here is a summary:"),
courtesies, a bare yes or no, and sentences that only refuse are not claims. All scorers that work on claims
share this segmentation.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from unicodedata import category

from msgspec import Struct

from assay.text.citation_markers import CitationMarker, find_citation_markers
from assay.text.late_pattern import LatePattern, squeeze_pattern
from assay.text.normalisation import MOST_READ, fold_text, normalise_nfc
from assay.text.pattern_cache import compile_pattern
from assay.text.refusals.behaviour import detect_phrases
from assay.text.refusals.behaviour_candidates import mark_texts_to_examine
from assay.text.segmentation import Span, TextBlock, find_cell_spans, segment_block_sentences, segment_blocks


class Claim(Struct, frozen=True):
    """One claim of an answer.

    `text`: the claim in NFC, without citation markers. `start`, `end`: its span in the characters of the answer.
    `cites`: the names in the citation markers that belong to it, in order, as written.
    """

    id: str
    text: str
    start: int
    end: int
    cites: tuple[str, ...]


def segment_claims(answer: str, citation_ids: Collection[str] = ()) -> tuple[Claim, ...]:
    """Return the claims of an answer in order, with ids `c1`, `c2` …; their spans are ascending and disjoint.

    Each sentence and each table row is one claim; the text of a row is "header: cell; header: cell". A citation marker
    belongs to the claim that contains it or that it follows in the same paragraph; a marker at the start of a paragraph
    belongs to the next claim. `citation_ids`: identifiers that count as citations also in parentheses or directly
    after a full stop. Except for the spans, the result does not depend on the Unicode form. Runs in linear time;
    only the first 200,000 characters of the answer are read.

    >>> [(c.text, c.cites) for c in segment_claims("Here is a summary:\\n- Staff get 12 days [1].\\n- Ask HR?")]
    [('Staff get 12 days.', ('1',))]
    >>> segment_claims("| Plan | Price |\\n|---|---|\\n| Pro | $5 [a1] |")[0]
    Claim(id='c1', text='Plan: Pro; Price: $5', start=27, end=44, cites=('a1',))
    """
    answer = answer[:MOST_READ]
    text = normalise_nfc(answer)
    found_markers = find_citation_markers(text, [normalise_nfc(name) for name in citation_ids])
    masked = _mask_markers(text, found_markers)
    listed = _find_listed_sources(masked, found_markers)
    if listed:
        found_markers = [marker for marker in found_markers if not _lies_in(marker.start, listed)]
        masked = _mask_spans(masked, listed)
    masked = _mask_spans(masked, _find_csv_headers(masked))
    spans = [span for block in _claim_blocks(masked) for span in _segment_block(masked, block)]
    spans = _drop_refusals(masked, spans)
    cites = _assign_citations(masked, [(start, end) for start, end, _ in spans], found_markers)
    answer_offsets = _map_offsets(answer, text)
    return tuple(
        Claim(f"c{number}", claim_text, answer_offsets[start], answer_offsets[end], cited_names)
        for number, ((start, end, claim_text), cited_names) in enumerate(zip(spans, cites, strict=True), 1)
    )


_ClaimSpan = tuple[int, int, str]  # a span with the claim's text


def _mask_markers(text: str, found_markers: list[CitationMarker]) -> str:
    """Return the text with citation markers replaced by blanks."""
    pieces: list[str] = []
    position = 0
    for marker in found_markers:
        pieces += (text[position : marker.start], " " * (marker.end - marker.start))
        position = marker.end
    return "".join((*pieces, text[position:])) if found_markers else text


def _mask_spans(text: str, spans: Sequence[Span]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _lies_in(position: int, spans: Sequence[Span]) -> bool:
    return any(start <= position < end for start, end in spans)


# ── lists of sources and headers of CSV ──────────────────────────────────────────────────────────────────────────

_FILE_OR_ADDRESS = LatePattern(r"\s*(?:https?://\S+|[\w./-]*\w\.[a-z][a-z0-9]{1,4}\b)", re.IGNORECASE)
_ENDED = LatePattern(r"[.!?。！？]\W*$")
_MOST_SOURCE_WORDS = 12
_MOST_LISTED_SOURCES = 500


def _find_listed_sources(masked: str, found_markers: Sequence[CitationMarker]) -> list[Span]:
    """Return the spans of lines such as "[1] pricing.md": a marker and the name of a source.

    A name is a file or an address; or, in a list of two lines or more, a few words without an end mark.
    """
    lines: list[tuple[int, int, bool]] = []  # span, and whether it names a file or an address
    for marker in found_markers[:_MOST_LISTED_SOURCES]:
        start = masked.rfind("\n", 0, marker.start) + 1
        end = masked.find("\n", marker.end)
        end = len(masked) if end < 0 else end
        name = masked[marker.end : end]
        if masked[start : marker.start].strip(" -*•\t") or not name.strip():
            continue
        is_file = _FILE_OR_ADDRESS.match(name) is not None
        if is_file or (not _ENDED.search(name) and len(name.split()) <= _MOST_SOURCE_WORDS):
            lines.append((start, end, is_file))
    spans = []
    for number, (start, end, is_file) in enumerate(lines):
        follows = number > 0 and not masked[lines[number - 1][1] : start].strip()
        precedes = number + 1 < len(lines) and not masked[end : lines[number + 1][0]].strip()
        if is_file or follows or precedes:
            spans.append((start, end))
    return spans


_CSV_LINE = compile_pattern(r"^[^,;\t\n]{1,60}(?:([,;\t])[^,;\t\n]{1,60})(?:\1[^,;\t\n]{1,60}){1,30}$", re.MULTILINE)


def _find_csv_headers(masked: str) -> list[Span]:
    """Return the spans of the first of several lines with as many separated fields, if it has no number and no space
    after a separator, and the next line has a number."""
    headers = []
    previous_end, previous_count = -2, 0
    for line in _CSV_LINE.finditer(masked):
        count, mark = line[0].count(line[1]), line[1]
        is_first = not (previous_end + 1 == line.start() and previous_count == count)
        following = masked[line.end() + 1 : masked.find("\n", line.end() + 1) % (len(masked) + 1)]
        if (
            is_first
            and f"{mark} " not in line[0]
            and not _ENDED.search(line[0])
            and not any(map(str.isdigit, line[0]))
            and following.count(mark) == count
            and any(map(str.isdigit, following))
        ):
            headers.append(line.span())
        previous_end, previous_count = line.end(), count
    return headers


# ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────

_REFERENCES = LatePattern(
    r"\W*(?:sources?|references?|citations?|bibliography|footnotes?|works cited|further reading|nguon|nguon tham khao"
    r"|nguon trich dan|tai lieu tham khao|trich dan|tham khao|chu thich)(?: (?:used|cited|su dung))?\W*"
)
_LABELLED = LatePattern(
    r"\W*(?:sources?|references?|citations?|nguon(?: tham khao)?|tai lieu tham khao|trich dan)\W*:.*"
)
_DEFINITION = compile_pattern(r"\W{0,3}\s*:\s")
_SHORT = 80  # characters of a line that may be a heading of references or a courtesy


def _claim_blocks(text: str) -> Iterator[TextBlock]:
    """Yield the blocks that may contain claims: no headings, code or reference lists."""
    references = False
    for block in segment_blocks(text):
        line = fold_text(text[block.start : min(block.end, block.start + 2 * _SHORT)])
        if len(line) <= _SHORT and _REFERENCES.fullmatch(line):
            references = True
        elif block.kind == "heading" or (
            block.follows_empty_line and block.kind == "text" and not _DEFINITION.match(line)
        ):
            references = False
        if references or block.kind in ("heading", "code") or _LABELLED.match(line):
            continue
        yield block


def _segment_block(text: str, block: TextBlock) -> Iterator[_ClaimSpan]:
    """Yield the claims of a block."""
    if block.kind == "row":
        row_text = _format_row(text, block)
        if row_text:
            yield block.start, block.end, row_text
        return
    if _DEFINITION.match(text, block.start, block.end):
        return  # a footnote: "[1]: name of the source"
    for start, end in segment_block_sentences(text, block):
        start, end = _strip_emphasis(text, start, end)
        if _is_statement(text[start:end]):
            yield start, end, _flatten(text[start:end])


def _strip_emphasis(text: str, start: int, end: int) -> Span:
    for mark in ("**", "__", "*", "_") if text[start] in "*_" else ():
        if end - start > 2 * len(mark) and text.startswith(mark, start) and text.endswith(mark, start, end):
            inner = text[start + len(mark) : end - len(mark)]
            if mark not in inner:
                return start + len(mark), end - len(mark)
    return start, end


def _format_row(text: str, block: TextBlock) -> str:
    """Return a table row as "header: cell; header: cell"; "" if it has no letters or digits."""
    cells = [_flatten(text[a:b]) for a, b in find_cell_spans(text, block.start, block.end)]
    heads = [_flatten(text[a:b]).rstrip(" :") for a, b in block.header_cells]
    if not any(c.isalnum() for cell in cells for c in cell):
        return ""
    heads += [""] * (len(cells) - len(heads))
    return "; ".join(f"{head}: {cell}" if head else cell for head, cell in zip(heads, cells, strict=False) if cell)


_QUOTATION_MARK = LatePattern(r"\n[ \t]*>[> \t]*")
_BEFORE_MARK = compile_pattern(r" (?=[.,;:!?。！？،؛؟](?:\s|$))")


def _flatten(text: str) -> str:
    """Return a masked piece of an answer on one line, without the blanks of removed markers."""
    if "\n" in text:
        text = _QUOTATION_MARK.sub("\n", text)
    return _BEFORE_MARK.sub("", " ".join(text.split()))


# ── sentences ────────────────────────────────────────────────────────────────────────────────────────────────────

_QUESTION = compile_pattern(r"[?？؟][\"'”’»)\]」』）》*_`]*+$")
_LEAD_IN = compile_pattern(r"[:：][\"'”’»)\]」』）》*_`]*+$")
_COURTESY = r"""\W*(?:
      (?:sure|certainly|of\ course|absolutely|great\ question|good\ question|thanks?(?:\ you)?|you're\ welcome|hello|hi
        |yes|no|ok|okay|yep|nope|right|correct|understood|got\ it|da|vang|co|khong|khong\ duoc|duoc|dung|dung\ vay
        |chac\ chan\ roi|tat\ nhien|cam\ on(?:\ ban)?|xin\ chao|chao\ ban|xin\ loi|rat\ tiec)
        (?:\ (?:a|nhe|there|sir|thing|so\ much|ban|anh|chi|da\ hoi|for\ asking|for\ your\ question))*
    | here\ (?:is|are)\ .{0,80}\b(?:summary|overview|answer|list|details?|breakdown|explanation|points?|steps|response
        |information|highlights|table|comparison)\b.{0,80}
    | (?:i\ )?hope\ (?:this|that|it)\b.{0,120}
    | (?:please\ )?(?:feel\ free|do\ not\ hesitate|don't\ hesitate|let\ me\ know|reach\ out)\b.{0,160}
    | if\ you\ (?:have|need|would\ like|want)\b.{0,100}\b(?:let\ me\ know|feel\ free|(?:just\ )?ask|happy\ to|hesitate
        |i\ can|reach\ out)\b.{0,100}
    | please\ (?:contact|ask|check\ with|consult|refer)\b.{0,160} | vui\ long\ (?:lien\ he|hoi)\b.{0,160}
    | (?:based\ on|according\ to|from)\ (?:the|these|this|your)\ (?:\w+\ ){0,3}(?:context|documents?|sources?|passages?
        |information|excerpts?|text)(?:\ (?:provided|above|given|below))?
    | (?:in\ )?(?:summary|conclusion|short|brief|answer|note|key\ points|overview|tl;dr|tom\ lai|tom\ tat|ket\ luan
        |luu\ y|ghi\ chu|tra\ loi)
    | (?:duoi|sau)\ day\ (?:la|toi)\b.{0,120}
    | day\ la\ (?:ban\ |phan\ |cau\ )?(?:tom\ tat|tong\ hop|tra\ loi|tong\ quan|danh\ sach).{0,80}
    | (?:toi\ |minh\ )?(?:hy|hi)\ vong\b.{0,120} | chuc\ (?:ban|anh|chi)\b.{0,80}
    | (?:dua\ (?:tren|vao)|theo|can\ cu\ vao)\ (?:cac\ )?(?:tai\ lieu|thong\ tin|ngu\ canh|nguon|noi\ dung|van\ ban)
        (?:\ (?:da|duoc|do|ban|noi\ bo|tren|hien\ co|cung\ cap))*
    | (?:neu\ (?:ban|anh|chi|quy\ khach)\b.{0,100})?\b(?:vui\ long|hay|xin|dung\ ngai|cu)\b.{0,30}\b(?:cho\ (?:toi|minh
        |em)\ biet|dat\ cau\ hoi|hoi\ (?:toi|minh|them)|lien\ he\ lai)\b.{0,80}
    )\W*"""
_DIGIT = compile_pattern(r"\d")
_NUMBERING = compile_pattern(r"\W*(?:[IVXLC]{1,6}|[ivx]{1,5}|[A-Za-z])[.)]\W*")
_LONGEST_COURTESY = 300


@cache
def _courtesy_pattern() -> re.Pattern[str]:
    return compile_pattern(squeeze_pattern(_COURTESY))  # compiled on first use: not every run has answers


def _is_statement(sentence: str) -> bool:
    """Whether a masked sentence makes a statement."""
    if not any(c.isalnum() for c in sentence) or _QUESTION.search(sentence, max(0, len(sentence) - 20)):
        return False
    if _NUMBERING.fullmatch(sentence):
        return False
    if _LEAD_IN.search(sentence, max(0, len(sentence) - 20)) and not _DIGIT.search(sentence):
        return False
    if len(sentence) > _LONGEST_COURTESY:
        return True
    folded = fold_text(sentence)
    return bool(_DIGIT.search(folded)) or not _courtesy_pattern().fullmatch(folded)


def _drop_refusals(text: str, spans: list[_ClaimSpan]) -> list[_ClaimSpan]:
    """Return the spans without sentences that refuse and make no claim."""
    if not spans or not mark_texts_to_examine([text])[0]:
        return spans
    may_refuse = mark_texts_to_examine([claim_text for _, _, claim_text in spans]).tolist()
    remaining = []
    for span, is_candidate in zip(spans, may_refuse, strict=True):
        if not (is_candidate and _is_bare_refusal(span[2])):
            remaining.append(span)
    return remaining


def _is_bare_refusal(sentence: str) -> bool:
    observed = detect_phrases(sentence)
    return observed.has_refusal and observed.is_decided_by_text and not observed.has_substantive_claim


# ── markers and offsets ───────────────────────────────────────────────────────────────────────────────────────────

_BETWEEN = 400  # characters between a claim and its markers
_EMPTY_LINE = LatePattern(r"\n[ \t]*\n")


def _assign_citations(masked: str, spans: list[Span], found_markers: list[CitationMarker]) -> list[tuple[str, ...]]:
    """Return the cited names of each claim, without duplicates."""
    names_by_claim: list[dict[str, None]] = [{} for _ in spans]
    starts = [start for start, _ in spans]
    for marker in found_markers:
        next_claim = bisect_left(starts, marker.end)
        previous_claim = bisect_right(starts, marker.start) - 1
        if previous_claim >= 0 and marker.start < spans[previous_claim][1]:
            owner = previous_claim
        else:
            gap_before = _gap_text(masked, spans[previous_claim][1], marker.start) if previous_claim >= 0 else None
            gap_after = _gap_text(masked, marker.end, starts[next_claim]) if next_claim < len(spans) else None
            opens_paragraph = (
                gap_after is not None and "\n" not in gap_after and (gap_before is None or "\n" in gap_before)
            )
            if opens_paragraph:
                owner = next_claim
            elif gap_before is not None:
                owner = previous_claim
            else:
                owner = -1  # belongs to no claim
        if owner >= 0:
            names_by_claim[owner].update(dict.fromkeys(marker.names))
    return [tuple(names) for names in names_by_claim]


def _gap_text(masked: str, start: int, end: int) -> str | None:
    """Return the text between two positions; None if it contains letters, digits or an empty line."""
    if end - start > _BETWEEN:
        return None
    gap = masked[start:end]
    return None if _EMPTY_LINE.search(gap) or any(map(str.isalnum, gap)) else gap


# Marks that may fuse with the character before them in NFC, as do the later letters of a Hangul syllable.
_COMBINING = ("Mn", "Mc", "Me")


def _map_offsets(answer: str, text: str) -> Sequence[int]:
    """Return, for each position of the NFC text including its end, the position in the answer."""
    if answer == text:
        return range(len(text) + 1)
    starts = [i for i, c in enumerate(answer) if not i or not ("\u1160" <= c <= "\u11ff" or category(c) in _COMBINING)]
    offsets: list[int] = []
    for start, end in zip(starts, (*starts[1:], len(answer)), strict=True):
        length = len(normalise_nfc(answer[start:end]))
        offsets += (min(start + i, end) for i in range(length))
    return [*offsets, len(answer)]
