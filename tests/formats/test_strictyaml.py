"""Strict YAML: what two parsers could read differently is refused, with its line and column."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.formats.strict_yaml import YamlPosition, read_yaml
from assay.records.errors import SettingsError


def test_plain_values_mean_what_they_look_like_and_quotes_make_text() -> None:
    text = "a: [1, -2.5, .5, 1e3, true, ~, null, word, '1', \"yes\", 2026-01, 1.2.3, e5]\nb:\nc: |\n  no\n"
    expected = {
        "a": [1, -2.5, 0.5, 1000.0, True, None, None, "word", "1", "yes", "2026-01", "1.2.3", "e5"],
        "b": None,
        "c": "no\n",
    }
    assert expected == read_yaml(text, "x").data


def test_places_count_lines_and_columns_from_one() -> None:
    places = read_yaml("đ: 1\nrules:\n  - {metric: ap, at_least: 0.5}\n", "x").positions
    assert YamlPosition(1, 4) == places["đ"]
    assert YamlPosition(3, 28) == places["rules[0].at_least"]


REFUSED = {
    "a tab": ("rules:\n\t- a\n", "x.yaml:2: E_YAML invalid YAML: a tab as indentation (expected spaces), at column 1"),
    "a key twice": ("name: a\nname: b\n", "x.yaml:2: name: E_KEY_TWICE key given twice (got 'name' again"),
    "a deep key twice": ("a: [{b: 1, b: 2}]", "x.yaml:1: a[0].b: E_KEY_TWICE"),
    "an anchor": ("name: &a x\n", "x.yaml:1: E_YAML anchors and aliases are not read"),
    "an alias bomb": ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "E_YAML anchors and aliases are not read"),
    "a Python object": ("a: !!python/object/apply:os.system [ls]\n", "E_YAML tags are not read (got 'tag:yaml.org"),
    "a tag of one's own": ("a: !mine []\n", "E_YAML tags are not read (got '!mine'"),
    "two documents": ("a: 1\n---\na: 2\n", "x.yaml:2: E_YAML more than one document"),
    "deep nesting": ("[" * 5000, "E_YAML nested too deep (expected 20 levels at most)"),
    "a flow left open": ("a: [{b: 1\n", "E_YAML invalid YAML"),
    "a control character": ("name: \x01\n", "E_YAML invalid YAML"),
    "a list as key": ("? [a]\n: 1\n", "E_KEY a key must be a text"),
    "not a number": ("a: .nan", "x.yaml:1: a: E_NUMBER unclear number (got .nan"),
    "infinity": ("a: -.Inf", "E_NUMBER unclear number (got -.Inf"),
    "overflow": ("a: 1e999", "E_NUMBER unclear number (got 1e999"),
    "an octal number": ("a: 010", "E_NUMBER unclear number (got 010"),
    "a hexadecimal number": ("a: 0x1F", "E_NUMBER unclear number (got 0x1F"),
    "an underscored number": ("a: 1_000", "E_NUMBER unclear number (got 1_000"),
    "a base-60 number": ("a: 1:30", "E_NUMBER unclear number (got 1:30"),
    "a number too long": ("a: " + "1" * 5000, "E_NUMBER unclear number"),
    "yes": ("a: yes", "E_BOOL unclear word (got yes; expected true, false, or the word in quotes), at column 4"),
    "Off": ("a: [Off]", "x.yaml:1: a[0]: E_BOOL unclear word (got Off"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_could_be_misread_is_refused(name: str) -> None:
    text, expected = REFUSED[name]
    with pytest.raises(SettingsError) as caught:
        read_yaml(text, "x.yaml")
    assert expected in str(caught.value)


def test_every_unclear_value_is_named_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        read_yaml("a: yes\nb: 010\nb: 1\n", "x.yaml")
    assert [problem.line for problem in caught.value.problems] == [1, 2, 3]


def test_an_empty_text_holds_nothing() -> None:
    assert (read_yaml("", "x").data, read_yaml("# later\n", "x").data) == (None, None)


@given(st.text(max_size=40) | st.text("ab01:-[]{}#&*!|>'\"%@`,?.\n\t ~", max_size=40))
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    with suppress(SettingsError):
        read_yaml(text, "x.yaml")
