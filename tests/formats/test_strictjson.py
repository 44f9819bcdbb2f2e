"""Strict JSON: valid texts give the same values as the standard library; all others are refused with a reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.formats.strict_json import decode_json, decode_json_object
from assay.records.errors import InputError

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.slow
@given(values, st.booleans())
def test_sound_json_decodes_as_the_standard_library_does(value: Any, ascii_only: bool) -> None:
    assert value == decode_json(json.dumps(value, ensure_ascii=ascii_only), "x", 1)


@given(st.text(max_size=40) | st.text('{}[]",:0123456789.eE-\\u dDaAnNIfity', max_size=40))
def test_any_text_decodes_to_what_can_be_written_again_or_is_refused(text: str) -> None:
    try:
        value = decode_json(text, "x", 1)
    except InputError as error:
        assert all(problem.line == 1 and problem.code and problem.message for problem in error.problems)
    else:
        assert value == json.loads(json.dumps(value, allow_nan=False).encode().decode())


def test_a_hundred_levels_pass_and_brackets_in_strings_do_not_count() -> None:
    deep = "[" * 100 + "]" * 100
    assert json.loads(deep) == decode_json(deep, "x", 1)
    assert {"a": "[" * 500 + '"{'} == decode_json(json.dumps({"a": "[" * 500 + '"{'}), "x", 1)
    with pytest.raises(InputError, match="E_DEPTH"):
        decode_json("[" * 101, "x", 1)
    with pytest.raises(InputError, match="E_JSON"):  # a string without an end has no levels
        decode_json('"' + "[" * 101, "x", 1)


def test_escaped_pairs_of_surrogates_are_one_character() -> None:
    assert {"a": "\U0001f600"} == decode_json_object(r'{"a": "\ud83d\ude00"}', "x", 1)


def test_every_fault_of_a_text_is_named_with_its_place() -> None:
    text = '{"a": NaN, "b c": [1, {"d": 1e999, "d": ' + "7" * 101 + r'}], "e": "\udc00", "a": 1}'
    with pytest.raises(InputError) as caught:
        decode_json(text, "x.jsonl", 7)
    assert [
        ("a", "E_NUMBER"),
        ('["b c"][1].d', "E_NUMBER"),
        ('["b c"][1].d', "E_KEY_TWICE"),
        ('["b c"][1].d', "E_NUMBER"),
        ("e", "E_SURROGATE"),
        ("a", "E_KEY_TWICE"),
    ] == [(problem.field, problem.code) for problem in caught.value.problems]
    assert {("x.jsonl", 7)} == {(problem.path, problem.line) for problem in caught.value.problems}


def test_a_document_names_the_line_of_a_fault() -> None:
    with pytest.raises(InputError, match=r"x.json:3: E_JSON invalid JSON: .* at line 3 column 3"):
        decode_json('{\n "a": 1\n  "b": 2}', "x.json")
