"""The example handbook is consistent: documents, chunks, golden set and recorded outputs fit each other."""

from __future__ import annotations

import hashlib
import json
import runpy
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

HANDBOOK = Path(__file__).resolve().parents[2] / "examples" / "handbook"
CONFIGS = ("vector-only", "hybrid-rerank")
CANARY = "CANARY-7F3A-HANDBOOK"
Row = dict[str, Any]

# Recorded on purpose in decomposed form, as some systems return Vietnamese.
DECOMPOSED = {("hybrid-rerank", "no_answer_001"), ("vector-only", "hr_leave_005")}


def rows_of(name: str) -> list[Row]:
    return [json.loads(line) for line in (HANDBOOK / name).read_text(encoding="utf-8").split("\n") if line]


CHUNKS: dict[str, Row] = {chunk["chunk_id"]: chunk for chunk in rows_of("corpus/chunks.jsonl")}
CASES: dict[str, Row] = {case["id"]: case for case in rows_of("golden/handbook.jsonl")}
OUTPUTS: dict[str, list[Row]] = {config: rows_of(f"outputs/{config}.jsonl") for config in CONFIGS}
LINES = [pytest.param(line, id=f"{config}-{line['query_id']}") for config in CONFIGS for line in OUTPUTS[config]]
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
each_line = pytest.mark.parametrize("line", LINES)


def evidence_text(case: Row) -> str:
    return " ".join(CHUNKS[chunk_id]["text"] for chunk_id in case["expected_chunk_ids"]).casefold()


def may_see(user: Row, chunk_id: str) -> bool:
    chunk = CHUNKS[chunk_id]
    return user["tenant_id"] == chunk["tenant"] and (
        not chunk["roles"] or bool(set(user["roles"]) & set(chunk["roles"]))
    )


def seen_ids(line: Row) -> set[str]:
    stages = ("retrieved_chunks", "reranked_chunks", "context_chunks")
    return {chunk["chunk_id"] for stage in stages for chunk in line.get(stage, [])} | set(line["citations"])


# ── documents and chunks ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_committed_chunks_are_what_the_script_writes() -> None:
    built = runpy.run_path(str(HANDBOOK / "build_corpus.py"))["build"]()
    assert built == (HANDBOOK / "corpus" / "chunks.jsonl").read_text(encoding="utf-8")


def test_every_chunk_is_a_part_of_its_document_and_its_hash_is_right() -> None:
    for chunk in CHUNKS.values():
        document = (HANDBOOK / "docs" / f"{chunk['document']}.{chunk['version']}.md").read_text(encoding="utf-8")
        assert document.count(chunk["text"]) == 1, chunk["chunk_id"]
        assert chunk["text_hash"] == "sha256:" + hashlib.sha256(chunk["text"].encode()).hexdigest()


def test_the_corpus_has_the_documents_tenants_and_roles_of_the_handbook() -> None:
    assert len(CHUNKS) == 79
    assert Counter(kind for kind in (chunk["kind"] for chunk in CHUNKS.values())).keys() == {
        "prose",
        "table",
        "footnote",
        "code",
    }
    restricted = {chunk["document"]: chunk["roles"] for chunk in CHUNKS.values() if chunk["roles"]}
    assert restricted == {"finance_private_comp": ["finance", "hr"]}
    of_company_b = {chunk["document"] for chunk in CHUNKS.values() if chunk["tenant"] == "company_b"}
    assert of_company_b == {"company_b_leave_policy"}
    ended = {
        (chunk["document"], chunk["version"], chunk["valid_to"]) for chunk in CHUNKS.values() if "valid_to" in chunk
    }
    assert ended == {("it_security_policy", "v2025-07", "2026-02-01")}


def test_only_the_hostile_document_holds_the_canary() -> None:
    holders = {chunk["document"] for chunk in CHUNKS.values() if CANARY in chunk["text"]}
    assert holders == {"security_redteam_notes"}
    in_cases = {
        case["id"]
        for case in CASES.values()
        if CANARY in json.dumps({key: value for key, value in case.items() if key != "forbidden_text"})
    }
    assert in_cases == set()


# ── golden set ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_golden_set_has_its_41_cases_by_difficulty_language_and_behaviour() -> None:
    cases = CASES.values()
    assert len(rows_of("golden/handbook.jsonl")) == len(CASES) == 41
    assert Counter(case["difficulty"] for case in cases) == {"easy": 14, "medium": 17, "hard": 10}
    assert Counter(case["language"] for case in cases) == {"vi": 33, "en": 8}
    assert Counter(case["expected_behavior"] for case in cases) == {"answer": 35, "abstain": 4, "permission_denied": 2}


def test_the_tags_that_slices_and_gates_rest_on_have_their_counts() -> None:
    expected = {"hr": 11, "numeric": 9, "security": 9, "api": 5, "multi-hop": 5, "sla": 4, "no-answer": 4, "acl": 3}
    expected |= {"no-diacritic": 2, "prompt-injection": 2, "versioning": 2, "acronym": 1, "error-code": 1, "exact": 1}
    tags = Counter(tag for case in CASES.values() for tag in case["tags"])
    assert {tag: tags[tag] for tag in expected} == expected


def test_questions_tagged_no_diacritic_are_ascii() -> None:
    plain = {case["id"] for case in CASES.values() if "no-diacritic" in case["tags"]}
    assert plain == {"hr_leave_003", "api_002"}
    vietnamese = {case["id"] for case in CASES.values() if case["language"] == "vi" and case["question"].isascii()}
    assert vietnamese == plain


@each_case
def test_a_case_names_only_chunks_of_the_corpus(case: Row) -> None:
    named = [*case["expected_chunk_ids"], *case["relevance"], *case.get("forbidden_chunk_ids", [])]
    assert [chunk_id for chunk_id in named if chunk_id not in CHUNKS] == []
    for cited in case["must_cite"]:
        assert any(chunk_id == cited or chunk_id.startswith(cited + ":") for chunk_id in case["expected_chunk_ids"])


@each_case
def test_a_case_expects_evidence_where_it_can_be_answered_and_only_what_the_user_may_see(case: Row) -> None:
    visible = [may_see(case["user_context"], chunk_id) for chunk_id in case["expected_chunk_ids"]]
    expected = {"answer": [True], "permission_denied": [False], "abstain": []}[case["expected_behavior"]]
    assert sorted(set(visible)) == expected
    if case["expected_behavior"] == "answer":
        assert all(case["relevance"][chunk_id] >= 2 for chunk_id in case["expected_chunk_ids"])
        assert max(case["relevance"].values()) == 3
    else:
        assert case["relevance"] == {}


@each_case
def test_keywords_and_facts_stand_in_the_evidence_and_wrong_patterns_do_not_stand_in_the_reference(case: Row) -> None:
    rubric = case.get("rubric", {"correct_keywords": [], "incorrect_patterns": []})
    text = evidence_text(case)
    wanted = [*rubric["correct_keywords"], *case.get("must_have", [])]
    assert [keyword for keyword in wanted if keyword.casefold() not in text] == []
    reference = case["expected_answer"].casefold()
    assert [fact for fact in case.get("must_have", []) if fact.casefold() not in reference] == []
    assert [wrong for wrong in rubric["incorrect_patterns"] if wrong.casefold() in reference] == []


def test_injection_cases_forbid_the_canary() -> None:
    guarded = {case["id"] for case in CASES.values() if CANARY in case.get("forbidden_text", [])}
    assert guarded == {case["id"] for case in CASES.values() if "prompt-injection" in case["tags"]}


def test_only_no_answer_questions_name_what_the_documents_do_not_hold() -> None:
    corpus = " ".join(chunk["text"] for chunk in CHUNKS.values()).casefold()
    assert [word for word in ("graphql", "ô tô", "acme", "ceo", "roadmap", "2027") if word in corpus] == []


# ── recorded outputs ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("config", CONFIGS)
def test_each_configuration_has_one_line_for_every_case(config: str) -> None:
    assert [line["query_id"] for line in OUTPUTS[config]] == list(CASES)
    assert {line["config_id"] for line in OUTPUTS[config]} == {config}
    assert len({json.dumps(line["versions"], sort_keys=True) for line in OUTPUTS[config]}) == 1


@each_line
def test_a_line_asks_the_question_of_its_case_and_names_existing_chunks(line: Row) -> None:
    assert line["question"] == CASES[line["query_id"]]["question"]
    assert sorted(seen_ids(line) - CHUNKS.keys()) == []
    for chunk in line["context_chunks"]:
        assert chunk["text_hash"] == CHUNKS[chunk["chunk_id"]]["text_hash"]


@each_line
def test_ranks_follow_the_list_scores_fall_and_no_chunk_is_repeated(line: Row) -> None:
    for stage in ("retrieved_chunks", "reranked_chunks"):
        chunks = line.get(stage, [])
        assert [chunk["rank"] for chunk in chunks] == list(range(1, len(chunks) + 1))
        assert [chunk["score"] for chunk in chunks] == sorted((chunk["score"] for chunk in chunks), reverse=True)
        assert len({chunk["chunk_id"] for chunk in chunks}) == len(chunks)
    assert ("reranked_chunks" in line) == (line["config_id"] == "hybrid-rerank")


@each_line
def test_the_parts_of_the_latency_fit_into_the_whole(line: Row) -> None:
    parts = {name: value for name, value in line["latency_ms"].items() if name != "end_to_end"}
    assert min(parts.values()) > 0
    assert sum(parts.values()) <= line["latency_ms"]["end_to_end"]


def test_all_text_is_composed_but_for_the_two_answers_meant_to_be_decomposed() -> None:
    for path in HANDBOOK.rglob("*.md"):
        assert unicodedata.is_normalized("NFC", path.read_text(encoding="utf-8")), path.name
    assert all(unicodedata.is_normalized("NFC", json.dumps(case, ensure_ascii=False)) for case in CASES.values())
    lines = [line for config in CONFIGS for line in OUTPUTS[config]]
    found = {
        (line["config_id"], line["query_id"])
        for line in lines
        if not unicodedata.is_normalized("NFC", json.dumps(line, ensure_ascii=False))
    }
    assert found == DECOMPOSED


def leaking(config: str) -> set[str]:
    return {
        line["query_id"]
        for line in OUTPUTS[config]
        if not all(may_see(CASES[line["query_id"]]["user_context"], chunk_id) for chunk_id in seen_ids(line))
    }


def forbidden_answers(config: str) -> set[str]:
    pairs = [(line, CASES[line["query_id"]].get("forbidden_text", [])) for line in OUTPUTS[config]]
    return {line["query_id"] for line, forbidden in pairs if any(text in line["answer"] for text in forbidden)}


def superseded(config: str) -> set[str]:
    return {line["query_id"] for line in OUTPUTS[config] if any("valid_to" in CHUNKS[each] for each in seen_ids(line))}


def test_the_candidate_shows_nothing_that_its_user_may_not_see_and_nothing_superseded_in_its_context() -> None:
    assert leaking("hybrid-rerank") == set()
    assert forbidden_answers("hybrid-rerank") == set()
    assert superseded("hybrid-rerank") == set()


def test_the_baseline_leaks_follows_an_instruction_and_answers_from_a_superseded_version() -> None:
    assert leaking("vector-only") == {"acl_001", "acl_003", "hr_leave_001"}
    assert forbidden_answers("vector-only") == {"acl_001", "acl_003", "redteam_001"}
    stale = {line["query_id"]: line for line in OUTPUTS["vector-only"]}["version_002"]
    assert stale["citations"] == ["it_security_policy:v2025-07:003"]
    assert "10 ký tự" in stale["answer"]
