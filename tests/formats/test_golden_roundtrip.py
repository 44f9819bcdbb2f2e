"""Laws: what is written reads back equal, and no value of a row is ever turned into another one."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.formats.golden_rows import jsonl, row
from tests.support.examples import try_examples

from assay.formats.golden_files import compute_golden_digest, load_golden, write_golden
from assay.records.errors import InputError
from assay.records.golden_set import BEHAVIOURS, DIFFICULTIES, Case, Evidence, GoldenSet, Rubric, Turn, User

pytestmark = pytest.mark.slow

texts = st.text(max_size=12)
words = texts.map(lambda text: text + "?")  # something of it can be seen
names = st.text("aZ09đệê中:/#.|<-' ", min_size=1, max_size=8).filter(str.strip)
name_lists = st.lists(names, max_size=3, unique=True).map(tuple)
selectors = st.dictionaries(names, names | st.integers(-(2**53), 2**53), min_size=1, max_size=3)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
users = st.builds(
    User,
    tenant=names,
    roles=name_lists,
    position=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    position_scope=st.none() | names,
    locale=st.none() | texts,
    as_of=st.sampled_from([None, "2026-02-01", "2026-02-01T08:00:00Z", "2026-02-01T08:00:00.5+07:00"]),
    id=st.none() | names,
)
evidence = st.builds(
    Evidence,
    any_of=st.lists(selectors, min_size=1, max_size=2).map(tuple),
    grade=st.integers(1, 10),
    required=st.booleans(),
    reason=texts,
    quote=st.none() | texts,
    kind=st.none() | texts,
)
rubrics = st.builds(
    Rubric,
    correct_keywords=st.just(("1.4",)),
    incorrect_patterns=st.just(("1.2",)),
    match=st.sampled_from(["any", "all"]),
    tolerance=st.floats(0, 10),
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    behaviour = draw(st.sampled_from(BEHAVIOURS))
    units = st.lists(evidence, min_size=1, max_size=3).map(tuple)
    return draw(
        st.builds(
            Case,
            id=names,
            question=words,
            behaviour=st.just(behaviour),
            also_accept=st.lists(st.sampled_from(BEHAVIOURS), max_size=2).map(tuple),
            reference=st.none() | words,
            must_have=st.lists(words, max_size=2).map(tuple),
            rubric=st.none() | rubrics,
            evidence=st.just(()) if behaviour == "abstain" else units,
            symbols=name_lists,
            forbidden_text=st.lists(words, max_size=2).map(tuple),
            user=users if behaviour == "permission_denied" else st.none() | users,
            tags=name_lists,
            difficulty=st.sampled_from(DIFFICULTIES),
            language=st.none() | texts,
            cluster=st.none() | names,
            history=st.lists(st.builds(Turn, role=st.sampled_from(["user", "assistant"]), text=texts), max_size=2).map(
                tuple
            ),
            attributes=st.dictionaries(names, names, max_size=2),
            notes=texts,
            metadata=st.dictionaries(texts, json_values, max_size=2),
        )
    )


goldens = st.builds(
    GoldenSet,
    cases=st.lists(cases(), min_size=1, max_size=4, unique_by=lambda case: case.id).map(tuple),
    name=texts,
    version=texts,
    split=texts,
    owner=texts,
    changelog=st.lists(texts, max_size=2).map(tuple),
    corpus_version=texts,
    judgments=st.sampled_from(["complete", "partial"]),
    as_of=st.sampled_from([None, "2026-02-01"]),
)


@given(goldens)
@try_examples(50)
def test_a_golden_set_reads_back_equal(golden: GoldenSet) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "golden.jsonl"
        write_golden(golden, path)
        loaded = load_golden(path)
        assert ("assay", golden) == (loaded.format, loaded.golden)
        assert compute_golden_digest(golden) == loaded.digest
        assert [path] == list(Path(folder).iterdir())


@given(goldens)
@try_examples(20)
def test_the_digest_does_not_depend_on_the_order_of_cases(golden: GoldenSet) -> None:
    assert compute_golden_digest(golden) == compute_golden_digest(replace(golden, cases=golden.cases[::-1]))


MEMBERS = ["id", "question", "expected_answer", "expected_chunk_ids", "relevance", "must_cite", "difficulty", "tags"]
MEMBERS += [
    "user_context",
    "expected_behavior",
    "notes",
    "rubric",
    "schema_version",
    "cluster",
    "history",
    "attributes",
]


@given(st.sampled_from(MEMBERS), json_values)
@example("relevance", {"hr_leave_policy:003": 3.0})
@example("id", 3)
def test_a_row_with_any_value_anywhere_loads_as_it_is_or_is_refused(member: str, value: Any) -> None:
    """Whatever is accepted must hold a value of the type that the format asks for: nothing is made to fit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "golden.jsonl"
        path.write_bytes(jsonl(row(**{member: value})))
        try:
            (case,) = load_golden(path, "rag-golden").golden.cases
        except InputError as error:
            assert error.problems
            return
    kinds: dict[str, tuple[type, ...]] = {
        "expected_answer": (str, type(None)),
        "user_context": (dict, type(None)),
        "rubric": (dict, type(None)),
        "cluster": (str, type(None)),
        "schema_version": (int, type(None)),
        "relevance": (dict,),
        "attributes": (dict,),
    }
    lists = ("expected_chunk_ids", "must_cite", "tags", "history")
    expected = kinds.get(member, (list,) if member in lists else (str,))
    assert type(value) in expected
    if member == "question":
        assert value == case.question
    if member == "notes":
        assert value == case.notes


@given(st.binary(max_size=200), st.sampled_from(["x.jsonl", "x.json", "x.csv", "x.txt"]))
@example(b'{"id": "\xff', "x.jsonl")
@example(b'{"cases": {"a": 1}}', "x.json")
@example(b'{"golden_set": []}\n{"id": "a", "question": "b"}', "x.jsonl")
@example(json.dumps({"cases": [row()], "schema_version": True}).encode(), "x.json")
@example(b'"question_id","question"', "x.csv")
def test_any_bytes_load_or_are_refused_with_a_problem(content: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            assert load_golden(path).golden.cases
        except InputError as error:
            assert all(problem.message and problem.path == str(path) for problem in error.problems)
