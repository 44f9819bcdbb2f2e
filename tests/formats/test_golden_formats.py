"""Each golden-set format becomes the same records, with the meaning that its documentation gives it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.formats.golden_rows import ACL_003, FIVE_ROWS, HR_LEAVE_001, NO_ANSWER_001, QA_CSV, jsonl, row, saved

from assay.formats.golden_files import LoadedGolden, load_golden
from assay.records.errors import InputError
from assay.records.golden_set import Case, Evidence, GoldenSet, Rubric, Selector, Turn, User

ABSENT_OBJECT: list[Any] = [{}, ...]
ABSENT_LIST: list[Any] = [[], ...]


def load(folder: Path, content: bytes | str, name: str = "golden.jsonl", format: str | None = None) -> LoadedGolden:
    return load_golden(saved(folder, content, name), format)


def unit(chunk_id: str, grade: int = 3, required: bool = True) -> Evidence:
    return Evidence(({"chunk_id": chunk_id},), grade, required)


def cases(folder: Path, *rows: dict[str, Any]) -> tuple[Case, ...]:
    return load(folder, jsonl(*rows)).golden.cases


# ── rag-golden ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_five_shapes_of_rows_load(tmp_path: Path) -> None:
    loaded = load(tmp_path, jsonl(*FIVE_ROWS))
    assert ("rag-golden", "complete", ()) == (loaded.format, loaded.golden.judgments, loaded.warnings)
    assert [each["id"] for each in FIVE_ROWS] == [case.id for case in loaded.golden.cases]
    assert loaded.golden.cases[0] == Case(
        id="hr_leave_001",
        question="Làm toàn thời gian thì mỗi năm được nghỉ phép mấy ngày?",
        reference="Người làm toàn thời gian có 12 ngày phép năm.",
        evidence=(unit("hr_leave_policy:003"),),
        must_cite=("hr_leave_policy",),
        user=User(tenant="company_a", roles=("employee",), locale="vi-VN"),
        tags=("hr", "policy", "single-hop"),
        difficulty="easy",
        notes="The figure is what counts.",
    )


def test_expected_ids_without_relevance_get_grade_three(tmp_path: Path) -> None:
    for absent in ABSENT_OBJECT:
        assert (unit("hr_leave_policy:003"),) == cases(tmp_path, row(relevance=absent))[0].evidence


def test_relevance_without_expected_ids_requires_what_is_graded_one_or_more(tmp_path: Path) -> None:
    graded = {"hr_leave_policy:003": 2, "hr_leave_policy:004": 1, "hr_leave_policy:009": 0}
    expected = (
        unit("hr_leave_policy:003", 2),
        unit("hr_leave_policy:004", 1),
        unit("hr_leave_policy:009", 0, required=False),
    )
    for absent in ABSENT_LIST:
        assert expected == cases(tmp_path, row(relevance=graded, expected_chunk_ids=absent))[0].evidence


def test_a_chunk_that_only_relevance_names_is_graded_but_not_required(tmp_path: Path) -> None:
    graded = {"x:1": 1, "hr_leave_policy:003": 3, "x:0": 0}
    expected = (unit("hr_leave_policy:003"), unit("x:1", 1, required=False), unit("x:0", 0, required=False))
    assert expected == cases(tmp_path, row(relevance=graded))[0].evidence


def test_refusals_need_no_evidence_and_an_empty_expected_answer_is_none(tmp_path: Path) -> None:
    (case,) = cases(tmp_path, NO_ANSWER_001)
    assert ("abstain", (), None) == (case.behaviour, case.evidence, case.reference)


def test_under_permission_denied_the_listed_chunks_stay_as_the_forbidden_set(tmp_path: Path) -> None:
    (case,) = cases(tmp_path, ACL_003)
    assert ("permission_denied", ("answer",)) == (case.behaviour, case.also_accept)
    assert (unit("hr_leave_policy:003"),) == case.evidence
    assert User(tenant="company_b", roles=("employee",), locale="vi-VN") == case.user


def test_an_abstaining_case_may_grade_chunks_zero(tmp_path: Path) -> None:
    (case,) = cases(tmp_path, {**NO_ANSWER_001, "relevance": {"a:1": 0}})
    assert (unit("a:1", 0, required=False),) == case.evidence


def test_optional_members_arrive(tmp_path: Path) -> None:
    extra = {
        "also_accept": ["abstain"],
        "forbidden_chunk_ids": ["notes:3"],
        "forbidden_text": ["MANGO-77"],
        "rubric": {"correct_keywords": ["12"], "incorrect_patterns": ["10"], "match": "all", "kind": "number"},
        "must_have": ["12 days"],
        "cluster": "leave",
        "language": "vi",
        "category": "policy",
        "domain": "hr",
        "attributes": {"traffic": "head"},
        "history": [{"role": "user", "text": "Xin chào"}],
        "metadata": {"source": {"page": 3}},
        "x_reviewer": ["an"],
        "user_context": {"position": 3.5, "position_scope": "s1", "as_of": "2026-02-01", "user_id": "u1"},
    }
    (case,) = cases(tmp_path, row(**extra))
    assert ("abstain",) == case.also_accept
    assert ({"chunk_id": "notes:3"},) == case.forbidden
    assert ("MANGO-77",) == case.forbidden_text
    assert Rubric(("12",), ("10",), "all", "number") == case.rubric
    assert (("12 days",), "leave", "vi") == (case.must_have, case.cluster, case.language)
    assert {"category": "policy", "domain": "hr", "traffic": "head"} == case.attributes
    assert (Turn("user", "Xin chào"),) == case.history
    assert {"source": {"page": 3}, "x_reviewer": ["an"]} == case.metadata
    assert User(position=3.5, position_scope="s1", as_of="2026-02-01", id="u1") == case.user


def test_a_header_line_names_the_set(tmp_path: Path) -> None:
    header = {"name": "handbook", "version": "3", "split": "test", "owner": "hr", "changelog": ["first"]}
    header |= {"corpus_version": "c1", "as_of": "2026-03-01"}
    loaded = load(tmp_path, jsonl({"golden_set": {**header, "schema_version": 1}}, HR_LEAVE_001))
    golden = loaded.golden
    assert ("rag-golden", 1) == (loaded.format, len(golden.cases))
    assert header == {name: json.loads(json.dumps(getattr(golden, name))) for name in header}


def test_a_json_document_may_hold_the_rows(tmp_path: Path) -> None:
    as_lines = load(tmp_path, jsonl(*FIVE_ROWS)).golden
    for document in (FIVE_ROWS, {"cases": FIVE_ROWS}):
        pretty = json.dumps(document, ensure_ascii=False, indent=2)
        assert as_lines == load(tmp_path, pretty, "golden.json").golden
        assert as_lines == load(tmp_path, json.dumps(document), "golden.json").golden


# ── rag-qrels ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_qrels_rows_keep_grades_and_reasons(tmp_path: Path) -> None:
    judged = [{"chunk_id": "a:1", "relevance": 3, "reason": "says it"}, {"chunk_id": "a:2", "relevance": 0}]
    loaded = load(tmp_path, jsonl({"query_id": "q1", "relevant_chunks": judged}))
    expected = (Evidence(({"chunk_id": "a:1"},), 3, True, "says it"), unit("a:2", 0, required=False))
    assert ("rag-qrels", expected) == (loaded.format, loaded.golden.cases[0].evidence)
    assert ["E_QUESTION"] == [warning.code for warning in loaded.warnings]


# ── answer-csv ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_csv_rows_become_cases(tmp_path: Path) -> None:
    loaded = load(tmp_path, QA_CSV, "qa.csv")
    first, second, third, fourth = loaded.golden.cases
    assert "answer-csv" == loaded.format
    assert (("bill-11", "bill-12"), (unit("bill-11"), unit("bill-12"))) == (first.must_cite, first.evidence)
    assert ("Ten working days", {"category": "common"}) == (first.reference, first.attributes)
    assert 'What does "P1" mean\nfor support?' == second.question
    assert ("abstain", ("permission_denied",), None) == (third.behaviour, third.also_accept, third.reference)
    assert ("abstain", {"category": "sensitive"}) == (fourth.behaviour, fourth.attributes)
    assert ["E_CATEGORY"] == [warning.code for warning in loaded.warnings]


def test_csv_category_and_tags_columns_are_taken_as_they_are(tmp_path: Path) -> None:
    header, rest = QA_CSV.split("\n", 1)
    content = f"{header},category,tags\n" + 'q,"=SUM(A1)?",yes,a,false,common: x,money,hr; pay\n'
    loaded = load(tmp_path, content, "qa.csv")
    (case,) = loaded.golden.cases
    assert ("=SUM(A1)?", {"category": "money"}, ("hr", "pay")) == (case.question, case.attributes, case.tags)
    assert () == loaded.warnings
    assert rest


# ── code-benchmark, rubric ───────────────────────────────────────────────────────────────────────────────────────


def test_code_benchmark_rows_select_by_path(tmp_path: Path) -> None:
    with_files: dict[str, Any] = {
        "id": "c1",
        "question": "Where is the lock taken?",
        "category": "lookup",
        "gold_answer": "In run.",
    }
    with_files |= {"expected_files": ["src/run.py"], "expected_symbols": ["take_lock"]}
    without = {"id": "c2", "question": "What is the design?", "category": "design", "gold_answer": "A pipeline."}
    loaded = load(tmp_path, jsonl(with_files, without))
    first, second = loaded.golden.cases
    assert "code-benchmark" == loaded.format
    assert ((Evidence(({"path": "src/run.py"},)),), ("take_lock",)) == (first.evidence, first.symbols)
    assert ("In run.", {"category": "lookup"}) == (first.reference, first.attributes)
    assert ((), "A pipeline.") == (second.evidence, second.reference)


def test_rubric_rows_keep_keywords_and_patterns(tmp_path: Path) -> None:
    content = {"id": "r1", "question": "What is the budget now?", "correct_keywords": ["$1.4M"]}
    content |= {
        "incorrect_patterns": ["$1.2M"],
        "match": "all",
        "category": "temporal",
        "expected_context_ids": ["b:2"],
    }
    loaded = load(tmp_path, jsonl(content))
    (case,) = loaded.golden.cases
    assert ("rubric", Rubric(("$1.4M",), ("$1.2M",), "all")) == (loaded.format, case.rubric)
    assert ((unit("b:2"),), {"category": "temporal"}) == (case.evidence, case.attributes)


# ── stable-key ───────────────────────────────────────────────────────────────────────────────────────────────────

RETRIEVAL: dict[str, Any] = {
    "id": "k1",
    "question": "Who opens the gate?",
    "keys": [["page", "ep-1", 12], ["wiki", "Moon Gate"]],
}
QA: dict[str, Any] = {
    "id": "k2",
    "question": "Who is the smith?",
    "keys": ["The Smith", {"document": "d", "section": "2"}],
}
QA |= {"reference": "Ana's uncle", "must_have": ["uncle"], "position": 9}
REFUSAL: dict[str, Any] = {"id": "k3", "question": "What is the weather in Hue?"}
SPOILER: dict[str, Any] = {"id": "k4", "question": "Who dies at the end?", "forbidden_keys": [["page", "ep-9", 3]]}
SPOILER |= {"position": 4, "position_scope": "book"}


def test_stable_keys_become_selectors(tmp_path: Path) -> None:
    loaded = load(tmp_path, jsonl(RETRIEVAL, QA), "gold.jsonl")
    first, second = loaded.golden.cases
    assert "stable-key" == loaded.format
    page = Evidence(({"episode": "ep-1", "page": 12},), kind="page")
    assert (page, Evidence(({"title": "Moon Gate"},), kind="wiki")) == first.evidence
    assert (Evidence(({"title": "The Smith"},), kind="wiki"), Evidence(({"document": "d", "section": "2"},))) == (
        second.evidence
    )
    assert ("Ana's uncle", ("uncle",), User(position=9)) == (second.reference, second.must_have, second.user)


def test_a_folder_of_three_files_is_one_set_and_says_which_suite(tmp_path: Path) -> None:
    saved(tmp_path, jsonl(RETRIEVAL), "gold/retrieval.jsonl")
    saved(tmp_path, jsonl(QA), "gold/qa.jsonl")
    saved(tmp_path, jsonl(REFUSAL, SPOILER), "gold/refusal.jsonl")
    saved(tmp_path, "not read", "gold/README.md")
    loaded = load_golden(tmp_path / "gold")
    assert "stable-key" == loaded.format
    assert ["retrieval", "qa", "refusal", "refusal"] == [case.attributes["suite"] for case in loaded.golden.cases]
    refusal, spoiler = loaded.golden.cases[2:]
    assert ("abstain", ("permission_denied",)) == (refusal.behaviour, refusal.also_accept)
    assert ("permission_denied", ("abstain",)) == (spoiler.behaviour, spoiler.also_accept)
    assert ({"episode": "ep-9", "page": 3},) == spoiler.forbidden
    assert User(position=4, position_scope="book") == spoiler.user


def test_ids_are_unique_across_the_files_of_a_folder(tmp_path: Path) -> None:
    saved(tmp_path, jsonl(RETRIEVAL), "gold/retrieval.jsonl")
    saved(tmp_path, jsonl({**QA, "id": "k1"}), "gold/qa.jsonl")
    with pytest.raises(InputError, match=r"qa.jsonl:1: id: E_DUPLICATE_ID .*retrieval.jsonl:1\)"):
        load_golden(tmp_path / "gold")


def test_an_answerable_case_in_a_refusal_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"refusal.jsonl:1: refuse: E_BEHAVIOUR .*got False; expected true"):
        load(tmp_path, jsonl({**QA, "refuse": False}), "refusal.jsonl", "stable-key")


def test_an_unknown_kind_of_key_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"golden.jsonl:1: keys\[0\]: E_SELECTOR unknown key \(got \['scene', 3\]"):
        load(tmp_path, jsonl({**RETRIEVAL, "keys": [["scene", 3]]}))


# ── assay ────────────────────────────────────────────────────────────────────────────────────────────────────────

NATIVE: dict[str, Any] = {
    "id": "n1",
    "question": "Which page?",
    "evidence": [{"any_of": [{"document": "d", "page": 3}, {"quote": "long text\nwith a break"}], "reason": "there"}],
    "behaviour": "answer",
}


def test_native_lines_and_documents_hold_the_records_themselves(tmp_path: Path) -> None:
    any_of: tuple[Selector, ...] = ({"document": "d", "page": 3}, {"quote": "long text\nwith a break"})
    expected = GoldenSet((Case("n1", "Which page?", evidence=(Evidence(any_of, reason="there"),)),), name="pages")
    header: dict[str, Any] = {"name": "pages", "schema_version": 1}
    lines = load(tmp_path, jsonl({"golden_set": header}, NATIVE))
    document = load(tmp_path, json.dumps({"cases": [NATIVE], **header}, indent=1), "set.json")
    assert ("assay", expected) == (lines.format, lines.golden)
    assert replace(lines, lines={}) == replace(document, lines={})


def test_a_unit_of_one_selector_may_be_written_without_any_of(tmp_path: Path) -> None:
    short = [
        {"chunk_id": "c1"},
        {"document": "leave", "page": 3, "grade": 2},
        {"path": "src/a.py", "symbol": "A.b", "required": False, "reason": "names it"},
        {"any_of": [{"chunk_id": "c4"}]},
        {"document": "tariffs", "quote": "Kayak | 14 EUR"},
        {"page": 4, "document": "tariffs", "quote": "per hour", "grade": 1},
        {"chunk_id": "c5", "quote": "per day"},
        {"any_of": [{"chunk_id": "c6"}], "quote": "the whole text of c6"},
        {"document": "tariffs", "text": "per week", "grade": 2},
        {"passage": "per month"},
    ]
    long = [
        {"any_of": [{"chunk_id": "c1"}]},
        {"any_of": [{"document": "leave", "page": 3}], "grade": 2},
        {"any_of": [{"path": "src/a.py", "symbol": "A.b"}], "required": False, "reason": "names it"},
        {"any_of": [{"chunk_id": "c4"}]},
        {"any_of": [{"document": "tariffs", "quote": "Kayak | 14 EUR"}]},
        {"any_of": [{"page": 4, "document": "tariffs", "quote": "per hour"}], "grade": 1},
        {"any_of": [{"chunk_id": "c5", "quote": "per day"}]},
        {"any_of": [{"chunk_id": "c6"}], "quote": "the whole text of c6"},
        {"any_of": [{"document": "tariffs", "quote": "per week"}], "grade": 2},
        {"any_of": [{"quote": "per month"}]},
    ]
    sets = [
        load_golden(saved(tmp_path, jsonl({"id": "a", "question": "Q?", "evidence": units}), f"{number}.jsonl")).golden
        for number, units in enumerate((short, long))
    ]
    assert sets[0] == sets[1]
    assert sets[0].cases[0].evidence[1] == Evidence(({"document": "leave", "page": 3},), grade=2)


def test_native_names_are_stored_in_nfc(tmp_path: Path) -> None:
    decomposed, composed = "phe\u0301p", "phép"
    native = {**NATIVE, "id": decomposed, "evidence": [{"any_of": [{"document": decomposed, "title": decomposed}]}]}
    native |= {"must_cite": [decomposed], "forbidden": [{"tenant": decomposed}], "tags": [decomposed]}
    loaded = load(tmp_path, jsonl({**native, "user": {"tenant": decomposed, "roles": [decomposed]}}))
    (case,) = loaded.golden.cases
    assert ({"document": composed, "title": composed},) == case.evidence[0].any_of
    assert (composed, (composed,), ({"tenant": composed},)) == (case.id, case.must_cite, case.forbidden)
    assert ((composed,), User(tenant=composed, roles=(composed,))) == (case.tags, case.user)
    assert ["E_NFC"] == [warning.code for warning in loaded.warnings]
    assert "got 1 in another form" in loaded.warnings[0].message


def test_rows_of_an_id_a_question_and_a_misspelt_member_are_refused_by_that_member(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text('{"id": "a", "question": "Q?", "must_hve": ["x"]}\n')
    with pytest.raises(InputError) as failure:
        load_golden(path)
    assert "golden.jsonl:1: must_hve: E_UNKNOWN_FIELD unknown field (got 'must_hve'; expected 'must_have'?)" in str(
        failure.value
    )
