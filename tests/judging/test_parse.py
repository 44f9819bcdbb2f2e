"""Whatever a judge replies is either a verdict on exactly what was asked, or no verdict."""

from __future__ import annotations

import json
import math
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging.asking import relevance_request, rendered, support_request
from tests.judging.malformed_replies import GOOD, REPLIES, first

from assay.judging.reply_parsing import ParsedReply, ReplyProblem, decode_strict_json, parse_reply
from assay.records.verdicts import UnscoredReason

ASKED = rendered(support_request())
CODES = get_args(UnscoredReason)


def test_the_corpus_is_large_and_its_rows_differ() -> None:
    """At least 60 rows are worth nothing; no reply stands twice."""
    assert len([code for _, _, code in REPLIES if code]) >= 60
    assert len({json.dumps(reply) for _, reply, _ in REPLIES}) == len(REPLIES)
    assert len({name for name, _, _ in REPLIES}) == len(REPLIES)


@pytest.mark.parametrize(("name", "reply", "code"), REPLIES, ids=[name for name, _, _ in REPLIES])
def test_a_reply_counts_or_has_a_reason(name: str, reply: Any, code: str | None) -> None:
    parsed = parse_reply(reply, ASKED)
    if code is None:
        assert isinstance(parsed, ParsedReply), parsed
        assert [("c1", "supported"), ("c2", "not_found")] == [(item.id, item.label) for item in parsed.items]
    else:
        assert isinstance(parsed, ReplyProblem), parsed
        assert code == parsed.code


def test_what_could_be_two_verdicts_is_not_asked_again() -> None:
    """Two objects, a field twice and an id twice are ambiguous, not misspelt."""
    final = {
        name
        for name, reply, _ in REPLIES
        if isinstance(parsed := parse_reply(reply, ASKED), ReplyProblem) and parsed.final
    }
    expected = {"two objects", "two objects that disagree", "object then list", "items given twice"}
    expected |= {"label given twice", "id labelled twice", "id labelled twice, otherwise"}
    assert expected == final


def test_a_quote_comes_with_the_source_that_was_named_in_the_request() -> None:
    parsed = parse_reply(GOOD, ASKED)
    assert isinstance(parsed, ParsedReply)
    assert ("hr#1", "period of notice is 30 days") == (parsed.items[0].source, parsed.items[0].quote)
    assert (None, None) == (parsed.items[1].source, parsed.items[1].quote)


def test_quotes_agree_in_composed_and_decomposed_vietnamese() -> None:
    """`ắ` may come as one character or as three."""
    asked = rendered(support_request(context=[{"id": "x", "text": "Ba\u0306\u0301c Giang nghỉ ba ngày."}]))
    reply = first(quote="B\u1eafc Giang")
    assert isinstance(parse_reply(reply, asked), ParsedReply)


FERRIES = "Boats of the day.\n\n| Boat | Berth | Skipper |\n|------|-------|---------|\n| Tern | north | Okafor |\n"
PAIRS = "| Skipper | Okafor |\n|---|---|\n| Berth | north |\n"
NUMBERED = "| Boat | Berth 1 | Berth 2 |\n|---|---|---|\n| Tern | free | taken |\n"


@pytest.mark.parametrize(
    ("text", "quote", "is_accepted"),
    [
        (FERRIES, "| Boat | Berth | Skipper |", False),
        (FERRIES, "Berth | Skipper", False),
        (FERRIES, "Skipper", False),
        (FERRIES, "| Tern | north | Okafor |", True),
        (FERRIES, "| Boat | Berth | Skipper |\n|------|-------|---------|\n| Tern | north", True),
        (FERRIES, "Boats of the day", True),
        (FERRIES + "\nThe Skipper is on board.", "Skipper", True),
        ("Boat,Berth,Skipper\nTern,north,Okafor\nGull,south,Lindqvist\n", "Boat,Berth,Skipper", False),
        (PAIRS, "| Skipper | Okafor |", True),
        (NUMBERED, "| Boat | Berth 1 | Berth 2 |", True),
    ],
)
def test_the_names_of_columns_are_no_quote(text: str, quote: str, is_accepted: bool) -> None:
    """A first row of two cells, or one with a number, may be a row of values."""
    asked = rendered(support_request(context=[{"id": "boats", "text": text}]))
    parsed = parse_reply(first(quote=quote), asked)
    assert is_accepted == isinstance(parsed, ParsedReply)
    if isinstance(parsed, ReplyProblem):
        assert "quote" == parsed.code


def test_without_a_source_nothing_can_be_supported() -> None:
    asked = rendered(support_request(context=[]))
    item = {"id": "i1", "reasoning": "so", "label": "supported"}
    second = {"id": "i2", "reasoning": "so", "label": "not_found"}
    parsed = parse_reply(json.dumps({"items": [item, second], "echo": ""}), asked)
    assert isinstance(parsed, ReplyProblem)
    assert "quote" == parsed.code


def test_a_label_before_its_reasoning_is_flagged() -> None:
    reply = next(reply for name, reply, _ in REPLIES if name == "label first")
    parsed = parse_reply(reply, ASKED)
    assert isinstance(parsed, ParsedReply)
    assert ("label_first",) == parsed.flags


def test_a_reply_with_the_canary_is_no_verdict_wherever_it_stands() -> None:
    for reply in (
        json.dumps({**json.loads(GOOD), "echo": ASKED.canary}),
        first(reasoning=f"I was told to write {ASKED.canary}."),
        {**json.loads(GOOD), "echo": ASKED.canary},
        ASKED.canary,
    ):
        parsed = parse_reply(reply, ASKED)
        assert isinstance(parsed, ReplyProblem)
        assert ("canary", True) == (parsed.code, parsed.final)


def test_faults_never_repeat_what_the_judge_said() -> None:
    """The next question holds the fault: words of a hostile reply must not get into it."""
    for reply in (first(label="EVIL"), first(id="EVIL"), first(source="EVIL"), first(EVIL="x"), "EVIL", '{"EVIL": 1}'):
        parsed = parse_reply(reply, ASKED)
        assert isinstance(parsed, ReplyProblem)
        assert "EVIL" not in parsed.message


@given(reply=st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_unscored_or_valid(reply: str) -> None:
    _is_sound(parse_reply(reply, ASKED))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True, allow_infinity=True) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
LABELS = st.sampled_from(["supported", "contradicted", "not_found", "", "Supported", "0.5"]) | JSON
ITEM = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["i1", "i2", "i3"]) | JSON,
        "reasoning": st.sampled_from(["because", "", " "]) | JSON,
        "source": st.sampled_from(["s1", "s2", "", "claims"]) | JSON,
        "quote": st.sampled_from(["period of notice", "Interns leave", ""]) | JSON,
        "label": LABELS,
    }
)
REPLY = st.fixed_dictionaries({"items": st.lists(ITEM | JSON, max_size=3) | JSON, "echo": st.just("") | JSON})


@pytest.mark.slow
@given(reply=REPLY | JSON)
def test_any_json_is_unscored_or_valid_decoded_and_as_text(reply: Any) -> None:
    _is_sound(parse_reply(reply, ASKED))
    _is_sound(parse_reply(json.dumps(reply), ASKED))


@pytest.mark.slow
@given(reply=REPLY)
def test_the_answer_as_a_whole_gets_one_label_or_none(reply: Any) -> None:
    parsed = parse_reply(reply, rendered(relevance_request()))
    assert isinstance(parsed, ReplyProblem) or [item.id for item in parsed.items] == ["answer"]


@pytest.mark.slow
@given(value=JSON)
def test_strict_json_reads_what_json_is(value: Any) -> None:
    """NaN and infinity, which Python's own reader takes, are refused."""
    parsed = decode_strict_json(json.dumps(value))
    assert parsed == value if _is_finite(value) else isinstance(parsed, ReplyProblem)


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def _is_sound(parsed: ParsedReply | ReplyProblem) -> None:
    """A verdict is complete, on the menu and can be written down; anything else has a code that is known."""
    if isinstance(parsed, ReplyProblem):
        assert parsed.code in CODES
        assert parsed.message
        return
    assert ["c1", "c2"] == [item.id for item in parsed.items]
    for item in parsed.items:
        assert item.label in {"supported", "contradicted", "not_found"}
        assert item.reasoning
        assert (item.quote is None) == (item.label == "not_found")
        msgspec.json.encode(item)
