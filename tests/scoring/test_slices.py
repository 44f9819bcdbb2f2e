"""Which cases a slice holds."""

from __future__ import annotations

import re
import unicodedata

import pytest

from assay.records.errors import SettingsError
from assay.records.golden_set import Case, Evidence, GoldenSet, User
from assay.scoring.slices import find_slice_name_problem, find_slice_rows, find_slices, select_cases

CASES = [
    Case(
        "a", "?", tags=("hr", "acl", "hr"), difficulty="easy", user=User(locale="vi"), attributes={"domain": "people"}
    ),
    Case("b", "?", tags=("hr", "lang:en"), difficulty="hard", user=User(locale="vi")),
    Case(
        "c", "?", behaviour="abstain", difficulty="easy", language="de", evidence=(Evidence(any_of=(), kind="table"),)
    ),
    Case("d", "?", tags=("không dấu",), difficulty="easy", attributes={"domain": "it"}),
]


def rows(*keys: str) -> dict[str, list[int]]:
    return {name: found.tolist() for name, found in find_slices(CASES, keys or None).items()}


def test_without_keys_the_usual_ones_are_cut_in_a_fixed_order() -> None:
    expected = {
        "tag=acl": [0],
        "tag=hr": [0, 1],
        "tag=không dấu": [3],
        "tag=lang:en": [1],
        "difficulty=easy": [0, 2, 3],
        "difficulty=hard": [1],
        "behaviour=abstain": [2],
        "behaviour=answer": [0, 1, 3],
        "language=de": [2],
        "language=en": [1],
        "language=vi": [0],
    }
    assert expected == rows()
    assert list(expected) == list(rows())


def test_a_difficulty_that_no_case_states_is_left_out_unless_asked_for() -> None:
    alike = [Case("a", "?", tags=("hr",)), Case("b", "?", tags=("hr",))]
    assert list(find_slices(alike)) == ["tag=hr", "behaviour=answer"]
    assert list(find_slices(alike, ["difficulty"])) == ["difficulty=unknown"]
    assert list(find_slices(alike, ["tag", "behaviour"])) == ["tag=hr", "behaviour=answer"]


def test_kind_and_attributes_can_be_asked_for() -> None:
    assert {"kind=table": [2], "domain=it": [3], "domain=people": [0]} == rows("kind", "domain")


def test_language_is_the_cases_own_then_a_tag_then_the_locale() -> None:
    case = Case("x", "?", language="de", tags=("lang:en",), user=User(locale="vi"))
    assert list(find_slices([case], ["language"])) == ["language=de"]


def test_an_unknown_key_names_the_nearest_and_all_that_exist() -> None:
    with pytest.raises(SettingsError) as caught:
        find_slices(CASES, ["tag", "domian", "tenant"])
    first, second = caught.value.problems
    assert "did you mean 'domain'? expected behaviour, difficulty, domain, kind, language, tag" in str(first)
    assert "'tenant'" in str(second)


def test_a_known_key_without_values_gives_no_slice() -> None:
    assert find_slices([Case("a", "?")], ["kind", "tag"]) == {}


def test_one_slice_holds_the_same_rows_as_the_table_of_all() -> None:
    for name, expected in rows("tag", "difficulty", "behaviour", "language", "kind", "domain").items():
        assert expected == find_slice_rows(CASES, name).tolist()


def test_a_slice_named_with_decomposed_diacritics_is_found() -> None:
    assert find_slice_rows(CASES, unicodedata.normalize("NFD", "tag=không dấu")).tolist() == [3]


def test_a_slice_that_no_case_is_in_is_empty() -> None:
    assert find_slice_rows(CASES, "tag=h").tolist() == []
    assert find_slice_rows(CASES, "nothing=at all").tolist() == []


@pytest.mark.parametrize("name", ["", "hr", "=hr", "tag=", " tag=hr"])
def test_a_name_that_is_not_key_and_value_is_refused(name: str) -> None:
    assert "expected key=value" in str(find_slice_name_problem(name))


def test_a_value_may_hold_an_equals_sign() -> None:
    assert find_slice_name_problem("domain=a=b") is None
    assert find_slice_rows([Case("a", "?", attributes={"domain": "a=b"})], "domain=a=b").tolist() == [0]


@pytest.mark.parametrize(
    ("selector", "words", "expected"),
    [
        (
            "ambigous",
            ("ambiguous", "gate"),
            "not a selector (got 'ambigous'; did you mean ambiguous?; expected ambiguous, gate, tag:NAME or case:ID)",
        ),
        ("gat", ("ambiguous", "gate"), "did you mean gate?; expected ambiguous, gate, tag:NAME or case:ID"),
        ("tags:hr", (), "not a selector (got 'tags:hr'; did you mean tag:hr?; expected tag:NAME or case:ID)"),
        ("everything", (), "not a selector (got 'everything'; expected tag:NAME or case:ID)"),
        ("tag:leaves", (), "no case has it (got 'tag:leaves'; did you mean tag:leave?)"),
        ("case:q11", (), "no case has it (got 'case:q11'; did you mean case:q1?)"),
        ("tag:q1", (), "no case has it (got 'tag:q1')"),
    ],
)
def test_a_selector_of_no_case_is_an_error_with_what_was_probably_meant(
    selector: str, words: tuple[str, ...], expected: str
) -> None:
    golden = GoldenSet((Case("q1", "How much?", tags=("leave",)),))
    with pytest.raises(SettingsError, match=re.escape(expected)):
        select_cases(golden, None, [selector], words)
