"""Parsing a judge's reply strictly: a label for every requested id, or the reason why there is none.

Nothing is guessed: the reply is one JSON object, bare or alone in one code fence, and every field has its exact form.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from assay.judging.prompt import RenderedRequest
from assay.records.verdicts import ItemVerdict, JudgeRequest
from assay.text.claims.table_rows import list_table_rows

MAX_REPLY_CHARACTERS = 500_000
MAX_REASONING_CHARACTERS = 2_000
MIN_QUOTE_CHARACTERS = 3

_THINKING = re.compile(r"\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL)
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?```", re.DOTALL | re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


class ReplyProblem(NamedTuple):
    """Why a reply is not a verdict: a code of `UNSCORED` and a fixed message; `final` if asking again is useless."""

    code: str
    message: str
    final: bool = False


_OBEYED = ReplyProblem("canary", "the judge did what the data told it to do", final=True)


class ParsedReply(NamedTuple):
    """The labels of a reply, in the order of the requested ids, and flags."""

    items: tuple[ItemVerdict, ...]
    flags: tuple[str, ...] = ()


class ReplyForm(NamedTuple):
    """A request that is no rubric: the digest of its texts, how it is rendered for the judge with a digest and for a
    sample, and how its reply is read; both raise and return what `render_request` and `parse_reply` do."""

    digest: str
    render: Callable[[JudgeRequest, str, int], RenderedRequest]
    parse: Callable[[Any, RenderedRequest], ParsedReply | ReplyProblem]


class _FaultError(ValueError):
    def __init__(self, code: str, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.fault = ReplyProblem(code, message, final)


def parse_reply(reply: Any, rendered: RenderedRequest) -> ParsedReply | ReplyProblem:
    """Return the labels of a reply, or its first problem; never raises, and never fills in a label of its own.

    `reply` is the text of the reply, or the arguments of a tool call if they came decoded.
    """
    try:
        value = decode_reply(reply, rendered.canary)
        return value if isinstance(value, ReplyProblem) else _read(value, rendered)
    except _FaultError as error:
        return error.fault
    except RecursionError:
        return ReplyProblem("judge_parse", "the reply is nested too deep")


def decode_reply(reply: Any, canary: str) -> Any | ReplyProblem:
    """Return the one JSON value of a reply, or its problem; a reply with the canary did what the data ordered."""
    try:
        if canary in (reply if isinstance(reply, str) else _text(reply)).lower():
            return _OBEYED
        value = _decoded(reply) if isinstance(reply, str) else reply
        if isinstance(reply, str) and "\\u" in reply and canary in _text(value).lower():  # written in escapes
            return _OBEYED
        return value
    except _FaultError as error:
        return error.fault
    except RecursionError:
        return ReplyProblem("judge_parse", "the reply is nested too deep")


def decode_strict_json(text: str) -> Any | ReplyProblem:
    """Return the one JSON value of a text; a Fault for anything else, for a duplicate field and for NaN."""
    try:
        return _decoded(text)
    except _FaultError as error:
        return error.fault
    except RecursionError:
        return ReplyProblem("judge_parse", "nested too deep")


def _decoded(text: str) -> Any:
    if len(text) > MAX_REPLY_CHARACTERS:
        _fail(f"the reply is too long (expected {MAX_REPLY_CHARACTERS} characters at most)")
    thinking = _THINKING.match(text)
    text = text[thinking.end() :].strip() if thinking else text.strip()
    fenced = _FENCED.fullmatch(text)
    body = fenced[1].strip() if fenced else text
    try:
        value, end = _DECODER.raw_decode(body)
    except _FaultError:
        raise
    except ValueError:  # not JSON, or a number of thousands of digits
        _fail("the reply is not one JSON object" if body else "the reply is empty")
    if body[end:].strip():
        another = body[end:].strip()[:1] in ("{", "[")
        _fail("the reply holds more than one JSON object", final=another)
    return value


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        _fail("the reply gives a field twice", final=True)
    return members


def _no_constant(_: str) -> NoReturn:
    _fail("the reply holds NaN or Infinity, which are no JSON")


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_pairs, parse_constant=_no_constant)


def _read(value: Any, rendered: RenderedRequest) -> ParsedReply:
    reply = _members(value, ("items", "echo"), "the reply")
    if not isinstance(reply["items"], list):
        _fail("items is not a list")
    if reply["echo"] != "":
        _fail("echo is not the empty text")
    read: dict[str, ItemVerdict] = {}
    label_first = False
    for number, item in enumerate(reply["items"], 1):
        name = item.get("id") if isinstance(item, dict) else None
        if not isinstance(name, str) or name not in rendered.ids:
            _fail(f"entry {number} of items has no id that was asked for")
        if name in read:
            _fail(f"{name} is labelled more than once", final=True)
        read[name] = _item(item, name, rendered)
        label_first |= list(item).index("label") < list(item).index("reasoning")
    missing = [name for name in rendered.ids if name not in read]
    if missing:
        _fail(f"not labelled: {', '.join(missing)}")
    return ParsedReply(tuple(read[name] for name in rendered.ids), ("label_first",) if label_first else ())


def _item(item: dict[str, Any], name: str, rendered: RenderedRequest) -> ItemVerdict:
    quoting = ("source", "quote") if rendered.quoted_labels and rendered.sources else ()
    members = _members(item, ("id", "reasoning", *quoting, "label"), name)
    for key, value in members.items():
        if not isinstance(value, str) or (not value.isascii() and _SURROGATE.search(value)):
            _fail(f"{key} of {name} is not a text")
    label = members["label"]
    if label not in rendered.labels:
        _fail(f"the label of {name} is none of those to choose from", "off_menu")
    if not members["reasoning"].strip():
        _fail(f"the reasoning of {name} is empty")
    quote = source = None
    if label in rendered.quoted_labels:
        source, quote = _quoted(members, name, rendered)
    return ItemVerdict(
        rendered.ids[name], label, members["reasoning"].strip()[:MAX_REASONING_CHARACTERS], quote, source
    )


def _quoted(members: dict[str, Any], name: str, rendered: RenderedRequest) -> tuple[str, str]:
    cited_source = rendered.sources.get(members.get("source", ""))
    if cited_source is None:
        _fail(f"the source of {name} is none of the sources", "quote")
    source, text = cited_source
    copied = _remove_marks(members["quote"], rendered.marks)
    quote = normalise_quote(copied)
    if not any(character.isalnum() for character in quote) or len(quote) < min(MIN_QUOTE_CHARACTERS, len(text)):
        _fail(f"{name} has a label that needs a quote, and none that says anything", "quote")
    if quote not in text and quote not in normalise_quote(text):  # most quotes are exact copies
        _fail(f"the quote of {name} does not stand in its source letter by letter", "quote")
    if _has_only_column_names(quote, text):
        _fail(f"the quote of {name} is the header of a table, which says nothing of any row", "quote")
    return source, copied.strip()


def _has_only_column_names(quote: str, text: str) -> bool:
    r"""Return whether a quote stands only in the header of a table: names of columns support no statement on a row.

    A header of two columns, or with a digit, may be a row of names and values that the table begins with.

    >>> table = "| Room | Beds | Price |\n|---|---|---|\n| Elm | two | €9 |"
    >>> _has_only_column_names("| Room | Beds | Price |", table), _has_only_column_names("| Elm | two", table)
    (True, False)
    """
    if any(map(str.isdigit, quote)):
        return False
    headers, outside, position = [], [], 0
    for row in list_table_rows(text):
        has_digit = any(map(str.isdigit, text[row.start : row.end]))
        if row.is_header and len(row.cells) >= _FEWEST_COLUMNS and not has_digit:
            headers.append(text[row.start : row.end])
            outside.append(text[position : text.rfind("\n", 0, row.start) + 1])
            position = row.end
    outside.append(text[position:])
    names = quote.strip("|: -")
    is_in_header = any(names in normalise_quote(header) for header in headers)
    return is_in_header and not any(names in normalise_quote(part) for part in outside)


_FEWEST_COLUMNS = 3


def _remove_marks(quote: str, marks: tuple[str, str]) -> str:
    """Return a quote without the marks of the rendered text, whole or cut off at its ends."""
    for mark in filter(None, marks):
        quote = quote.replace(mark, "")
        for length in range(len(mark) - 1, 0, -1):
            if quote.endswith(mark[:length]):
                quote = quote[:-length]
            if quote.startswith(mark[-length:]):
                quote = quote[length:]
    return quote


def _members(value: Any, expected: tuple[str, ...], name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        _fail(f"{name} is not a JSON object")
    if set(value) != set(expected):
        _fail(f"the fields of {name} are not {', '.join(expected)}")
    return value


def normalise_quote(text: str) -> str:
    """Return the text as quotes are compared: NFC, single spaces, no invisible characters."""
    return " ".join(unicodedata.normalize("NFC", _UNSEEN.sub("", text)).split())


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _fail(message: str, code: str = "judge_parse", *, final: bool = False) -> NoReturn:
    raise _FaultError(code, message, final=final)
