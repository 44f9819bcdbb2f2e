"""Labels that contradict themselves, beyond the numbered table: named under the format's own field names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.formats.golden_rows import ACL_003, jsonl, row, saved

from assay.formats.golden_builder import SEPARATORS
from assay.formats.golden_files import load_golden
from assay.metrics.cases import case_index
from assay.records.errors import InputError

NATIVE: dict[str, Any] = {"id": "n", "question": "What?", "behaviour": "answer", "reference": "That"}
RUBRIC: dict[str, Any] = {"id": "r", "question": "How much?", "correct_keywords": ["12"]}
KEYED: dict[str, Any] = {"id": "k", "question": "Who?", "keys": ["Moon Gate"]}

CONTRADICTIONS = [
    (row(forbidden_chunk_ids=["hr_leave_policy:003"]), "forbidden_chunk_ids[0]", "E_FORBIDDEN"),
    (row(rubric={"correct_keywords": ["12 Ngày"], "incorrect_patterns": ["12 ngày"]}), "rubric.correct_keywords",
     "E_RUBRIC"),
    (row(rubric={"correct_keywords": [" "]}), "rubric.correct_keywords[0]", "E_TEXT"),
    (row(must_have=["a", ""]), "must_have[1]", "E_TEXT"),
    (row(forbidden_text=[""]), "forbidden_text[0]", "E_TEXT"),
    (row(category="a", attributes={"category": "b"}), "attributes.category", "E_ATTRIBUTE"),
    (row(attributes={"tag": "hr"}), "attributes.tag", "E_ATTRIBUTE"),
    (row(attributes={"k=e": "v"}), 'attributes["k=e"]', "E_ATTRIBUTE"),
    (row(attributes={"đệ": "a", "\u0111e\u0323\u0302": "b"}), "attributes.đệ", "E_ATTRIBUTE"),
    (row(question="\u200b\u2060 \ufeff\u3164"), "question", "E_QUESTION"),
    (row(must_have=["\u200d"]), "must_have[0]", "E_TEXT"),
    (row(user_context={"as_of": "1 May"}), "user_context.as_of", "E_DATE"),
    (row(user_context={"tenant_id": "a\n"}), "user_context.tenant_id", "E_ID"),
    (row(user_context={"roles": ["hr", " "]}), "user_context.roles[1]", "E_ID"),
    ({**ACL_003, "user_context": {"roles": []}}, "user_context", "E_BEHAVIOUR"),
    ({**RUBRIC, "correct_keywords": ["12", ""]}, "correct_keywords[1]", "E_TEXT"),
    ({**RUBRIC, "incorrect_patterns": ["12"]}, "correct_keywords", "E_RUBRIC"),
    ({**RUBRIC, "correct_keywords": []}, "expected_context_ids", "E_NO_GOLD"),
    ({**RUBRIC, "tolerance": -0.5}, "tolerance", "E_RANGE"),
    ({**KEYED, "refuse": True}, "keys", "E_BEHAVIOUR"),
    ({**KEYED, "keys": [], "refuse": True, "forbidden_keys": ["The end"]}, "position", "E_BEHAVIOUR"),
    ({**KEYED, "position_scope": "\t"}, "position_scope", "E_ID"),
    ({**KEYED, "keys": [{}]}, "keys[0]", "E_SELECTOR"),
    ({**KEYED, "keys": [["wiki", 3]]}, "keys[0]", "E_SELECTOR"),
    ({**NATIVE, "reference": "", "must_have": ["a"]}, "reference", "E_REFERENCE"),
    ({**NATIVE, "evidence": [{"any_of": []}]}, "evidence[0].any_of", "E_SELECTOR"),
    ({**NATIVE, "evidence": [{"any_of": [{"page": 1}, {}]}]}, "evidence[0].any_of[1]", "E_SELECTOR"),
    ({**NATIVE, "evidence": [{"any_of": [{"page": True}]}]}, "evidence[0].any_of[0].page", "E_TYPE"),
    ({**NATIVE, "evidence": [{"any_of": [{"title": ""}]}]}, "evidence[0].any_of[0].title", "E_ID"),
    ({**NATIVE, "evidence": [{"any_of": [{"page": 1}], "grade": 0}]}, "evidence", "E_UNANSWERABLE"),
    ({"query_id": "q", "relevant_chunks": []}, "relevant_chunks", "E_NO_GOLD"),
    ({"query_id": "q", "relevant_chunks": [{"chunk_id": "c", "relevance": 1}] * 2}, "relevant_chunks[1].chunk_id",
     "E_DUPLICATE_ID"),
    ({"id": "c", "question": "Where?", "expected_files": []}, "expected_files", "E_NO_GOLD"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "field", "code"), CONTRADICTIONS)
def test_a_contradiction_is_refused(tmp_path: Path, content: dict[str, Any], field: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        load_golden(saved(tmp_path, jsonl(content)))
    assert [(1, field, code)] == [(each.line, each.field, each.code) for each in caught.value.problems]
    assert all("(got" in each.message and "expected" in each.message for each in caught.value.problems)


@pytest.mark.parametrize(
    ("evidence", "must_cite"),
    [
        ([{"chunk_id": "hr:v1:3"}], ["hr", "hr:v1", "hr:v1:3"]),
        ([{"chunk_id": "docs/hr.md#3"}], ["docs", "docs/hr.md", "docs/hr.md#3"]),
        ([{"chunk_id": "c-17", "document": "hr"}], ["hr"]),
        ([{"document": "hr", "page": 2}], ["hr", "hr:v1:3"]),
        ([{"quote": "twelve days"}], ["anything"]),
        ([{"page": 2}], ["anything"]),
    ],
)
def test_what_must_be_cited_may_be_the_evidence_or_its_document(
    tmp_path: Path, evidence: list[dict[str, Any]], must_cite: list[str]
) -> None:
    content = {**NATIVE, "evidence": [{"any_of": evidence}], "must_cite": must_cite}
    assert tuple(must_cite) == load_golden(saved(tmp_path, jsonl(content))).golden.cases[0].must_cite


def test_a_document_beside_ids_that_tell_none_is_doubtful_because_a_corpus_may_know(tmp_path: Path) -> None:
    content = row(expected_chunk_ids=["c-17"], relevance={}, must_cite=["hr_leave_policy"])
    (warning,) = load_golden(saved(tmp_path, jsonl(content))).warnings
    assert (1, "must_cite[0]", "E_MUST_CITE") == (warning.line, warning.field, warning.code)


def test_documents_are_told_from_ids_as_the_citation_metrics_do() -> None:
    assert set(SEPARATORS) == set(case_index.SEPARATORS)


def test_partial_judgments_leave_room_for_citations_that_nobody_judged(tmp_path: Path) -> None:
    content = row(must_cite=["another_document"])
    header = {"golden_set": {"judgments": "partial"}}
    assert ("another_document",) == load_golden(saved(tmp_path, jsonl(header, content))).golden.cases[0].must_cite
