"""Each injected fault of the handbook application breaks what it names, at the stage that it names."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest
from examples.handbook.app.embedding import RemoteEmbeddings
from examples.handbook.app.endpoint import Endpoint
from examples.handbook.app.faults import FAULTS, apply
from examples.handbook.app.labels import LABEL_FAULTS
from examples.handbook.app.parts import Parts
from examples.handbook.app.pipeline import Handbook
from tests.examples.handbook_cases import (
    CORPUS,
    HANDBOOK_CASES,
    OPERATIONS_CASES,
    ROOT,
    Row,
    chunks_of_stage,
    fake_clock,
    seen,
    user_of,
)

PIPELINE_CAUSES = (
    "parser",
    "chunking",
    "embedding",
    "bm25_analyzer",
    "hybrid_merge",
    "reranker",
    "context_builder",
    "generator",
    "citation",
    "acl",
    "stale_index",
)
CASES = {case["id"]: case for case in (*HANDBOOK_CASES, *OPERATIONS_CASES)}


@cache
def application(fault: str, config: str = "hybrid-rerank") -> Handbook:
    return Handbook(config, [fault] if fault else [], clock=fake_clock())


@cache
def healthy(case_id: str, config: str = "hybrid-rerank") -> Row:
    return faulty("", case_id, config)


def faulty(fault: str, case_id: str, config: str = "hybrid-rerank") -> Row:
    case = CASES[case_id]
    return application(fault, config).ask(case["question"], user_of(case))


def without_times(observation: Row) -> str:
    stages = [
        {key: value for key, value in stage_fields.items() if key != "latency_ms"}
        for stage_fields in observation["stages"]
    ]
    without_usage = {key: value for key, value in observation.items() if key != "usage"}
    return json.dumps(without_usage | {"stages": stages}, sort_keys=True)


def test_each_cause_that_lives_in_the_pipeline_has_at_least_two_variants() -> None:
    counted = Counter(name.split(":")[0] for name in FAULTS)
    assert set(PIPELINE_CAUSES) == set(counted)
    assert min(counted.values()) >= 2
    assert len({fault.description for fault in FAULTS.values()}) == len(FAULTS)


def test_the_documentation_lists_every_fault_as_it_is() -> None:
    page = (ROOT / "docs" / "how-to" / "handbook-example.md").read_text(encoding="utf-8")
    listed = [
        line for line in page.splitlines() if line.startswith("| `") and line.split(":")[0][3:] in PIPELINE_CAUSES
    ]
    assert [f"| `{name}` | {fault.description} |" for name, fault in FAULTS.items()] == listed


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_changes_the_traces_of_at_least_two_golden_cases(fault: str) -> None:
    changed = 0
    for case in HANDBOOK_CASES:
        changed += without_times(faulty(fault, case["id"])) != without_times(healthy(case["id"]))
        if changed == 2:
            return
    pytest.fail(f"only {changed} cases changed")


@pytest.mark.slow
def test_a_fault_does_not_name_itself_in_the_trace() -> None:
    for fault in FAULTS:
        observation = faulty(fault, "hr_leave_001")
        assert healthy("hr_leave_001")["versions"] == observation["versions"]
        assert fault.split(":")[1] not in json.dumps(observation)


def indexed(fault: str, chunk_id: str) -> str:
    """Return the text that a chunk has in the index."""
    return application(fault)._index.entries[chunk_id].chunk.text


@pytest.mark.slow
def test_a_parser_loses_tables_headings_or_footnotes() -> None:
    sla = "support_sla_policy:v2026-01:003"
    assert "|" in CORPUS[sla]["text"]
    assert "|" not in indexed("parser:drop-tables", sla)
    assert "Gói Enterprise được" in indexed("parser:drop-tables", sla)
    assert "2. Gói Enterprise" not in indexed("parser:drop-headings", sla)
    assert "P1 | 30 phút" in indexed("parser:drop-headings", sla)
    assert "Tháng nghỉ không lương" not in indexed("parser:drop-footnotes", "hr_leave_policy:v2026-01:010")


def test_a_chunker_cuts_the_condition_off_or_makes_four_sections_one() -> None:
    leave = "hr_leave_policy:v2026-01:006"
    text = CORPUS[leave]["text"]
    head, tail = (indexed("chunking:cut-conditions", chunk_id) for chunk_id in (leave, leave + "b"))
    assert text == f"{head} {tail}"
    assert "quản lý trực tiếp phê duyệt" in tail
    merged = application("chunking:merge-sections")._index.entries
    assert leave not in merged
    assert text in merged["hr_leave_policy:v2026-01:005"].chunk.text


def rank(observation: Row, name: str, chunk_id: str) -> int:
    ids = chunks_of_stage(observation, name)
    return ids.index(chunk_id) + 1 if chunk_id in ids else 99


@pytest.mark.slow
def test_an_embedding_that_is_blind_loses_codes_or_questions_without_diacritics() -> None:
    server, leave = "operations_log.vulnerabilities:v2026-03:002", "hr_leave_policy:v2026-01:006"
    for fault, case_id, chunk_id in (("blind-to-codes", "ops_002", server), ("no-folding", "hr_leave_003", leave)):
        assert 1 == rank(healthy(case_id, "vector-only"), "dense", chunk_id)
        assert rank(faulty(f"embedding:{fault}", case_id, "vector-only"), "dense", chunk_id) > 3


@pytest.mark.slow
def test_an_analyzer_that_splits_codes_or_does_not_fold_loses_them_in_the_keyword_list() -> None:
    split = application("bm25_analyzer:splits-codes")._parts.analyze("ERR-429, mức P2")
    assert ["err", "mức", "p"] == split.exact
    error, leave = "product_api_docs:v2026-03:005", "hr_leave_policy:v2026-01:006"
    assert 1 == rank(healthy("api_004"), "bm25", error)
    assert rank(faulty("bm25_analyzer:splits-codes", "api_004"), "bm25", error) > 10
    assert score(healthy("hr_leave_003"), leave) > 2 * score(faulty("bm25_analyzer:no-folding", "hr_leave_003"), leave)


def score(observation: Row, chunk_id: str) -> float:
    chunks = next(each["chunks"] for each in observation["stages"] if each["name"] == "bm25")
    return float(next((chunk["score"] for chunk in chunks if chunk["chunk_id"] == chunk_id), 0.0))


def test_a_merge_drops_a_list_or_keeps_too_little() -> None:
    dropped = faulty("hybrid_merge:drop-bm25", "api_002")
    assert chunks_of_stage(dropped, "dense") == chunks_of_stage(dropped, "merge")
    assert chunks_of_stage(dropped, "bm25") == chunks_of_stage(healthy("api_002"), "bm25")
    assert chunks_of_stage(healthy("api_002"), "merge")[:2] == chunks_of_stage(
        faulty("hybrid_merge:tiny-pool", "api_002"), "merge"
    )


def test_a_reranker_promotes_noise_or_turns_the_ranking_over() -> None:
    right = chunks_of_stage(healthy("hr_leave_001"), "rerank")
    assert right[-2:] + right[:-2] == chunks_of_stage(faulty("reranker:promote-noise", "hr_leave_001"), "rerank")
    assert right[::-1] == chunks_of_stage(faulty("reranker:invert", "hr_leave_001"), "rerank")


@pytest.mark.slow
def test_a_context_is_too_small_or_lacks_the_best() -> None:
    right = chunks_of_stage(healthy("hr_leave_001"), "context")
    assert right[1:] == chunks_of_stage(faulty("context_builder:drop-first", "hr_leave_001"), "context")
    assert faulty("context_builder:small-budget", "hr_leave_001")["usage"]["context_tokens"] <= 90


@pytest.mark.slow
def test_a_generator_ignores_the_context_adds_to_it_or_never_refuses() -> None:
    right = healthy("security_002")
    ignored, embellished = (faulty(f"generator:{name}", "security_002") for name in ("ignore-context", "embellish"))
    assert (
        chunks_of_stage(right, "context")
        == chunks_of_stage(ignored, "context")
        == chunks_of_stage(embellished, "context")
    )
    assert "8 ký tự" in ignored["answer"]
    assert embellished["answer"].startswith(right["answer"] + " ")
    assert len(embellished["sentences"]) == len(right["sentences"]) + 1
    assert "abstain" == healthy("no_answer_001")["behaviour"]
    assert "answer" == faulty("generator:never-refuse", "no_answer_001")["behaviour"]
    assert "answer" == faulty("generator:never-refuse", "acl_001")["behaviour"]


def test_citations_point_one_chunk_further_or_to_something_never_shown() -> None:
    right, shifted, unseen = (faulty(fault, "billing_002") for fault in ("", "citation:shifted", "citation:unseen"))
    assert right["answer"] == shifted["answer"] == unseen["answer"]
    context = chunks_of_stage(right, "context")
    assert [context[0]] == right["citations"]
    assert [context[1]] == shifted["citations"]
    assert set(unseen["citations"]).isdisjoint(context)
    assert set(unseen["citations"]) <= set(chunks_of_stage(right, "rerank"))


@pytest.mark.slow
def test_access_leaks_or_is_too_strict() -> None:
    pay, tenant = "finance_private_comp:v2026-01:002", "hr_leave_policy:v2026-01:003"
    for fault in ("acl:filter-off", "acl:ignores-roles"):
        leaked = faulty(fault, "acl_001")
        assert pay in seen(leaked)
        assert "answer" == leaked["behaviour"]
    assert tenant in seen(faulty("acl:filter-off", "acl_003"))
    assert tenant not in seen(faulty("acl:ignores-roles", "acl_003"))
    assert "permission_denied" == faulty("acl:too-strict", "hr_leave_001")["behaviour"]


def test_a_stale_index_serves_the_old_lacks_the_new_or_keeps_both() -> None:
    old, new = "it_security_policy:v2025-07:003", "it_security_policy:v2026-02:003"
    expected: dict[str, tuple[bool, bool]] = {"": (False, True), "old-version": (True, False)}
    expected |= {"new-missing": (False, False), "keeps-superseded": (True, True)}
    for variant, shown in expected.items():
        chunk_ids = seen(faulty(f"stale_index:{variant}" if variant else "", "security_002"))
        assert shown == (old in chunk_ids, new in chunk_ids), variant


def test_faults_add_up() -> None:
    both = Handbook("hybrid-rerank", ["context_builder:drop-first", "citation:unseen"], clock=fake_clock())
    observation = both.ask("Nghỉ ốm từ mấy ngày liên tiếp thì cần giấy xác nhận?", user_of(CASES["hr_leave_005"]))
    assert "hr_leave_policy:v2026-01:007" not in chunks_of_stage(observation, "context")
    assert set(observation["citations"]).isdisjoint(chunks_of_stage(observation, "context"))


@pytest.mark.parametrize(
    ("faults", "message"),
    [(["reranker:shuffle"], "unknown fault 'reranker:shuffle'"), ("acl:filter-off", "must be a seq")],
)
def test_an_unknown_fault_is_refused(faults: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        apply(faults, Parts())


def test_an_unknown_configuration_and_k_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown configuration 'hybrid'"):
        Handbook("hybrid")
    with pytest.raises(ValueError, match="k must be at least 1"):
        application("").search("MFA", 0)


def test_the_folding_fault_is_only_that_of_the_built_in_embedding() -> None:
    remote = Parts(embedder=RemoteEmbeddings(Endpoint("m", "http://127.0.0.1:1/v1")))
    with pytest.raises(ValueError, match="built-in embedding only"):
        apply(["embedding:no-folding"], remote)


# ── faults of the golden set ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("damage", LABEL_FAULTS.values(), ids=LABEL_FAULTS)
@pytest.mark.parametrize("cases", [HANDBOOK_CASES, OPERATIONS_CASES], ids=["handbook", "operations"])
def test_a_label_fault_damages_some_answerable_cases_and_leaves_the_others(
    damage: Callable[[list[Row], set[str]], list[Row]], cases: list[Row]
) -> None:
    before = json.dumps(cases)
    damaged = damage(cases, set(CORPUS))
    changed = [old["id"] for old, new in zip(cases, damaged, strict=True) if old != new]
    assert before == json.dumps(cases)
    assert 2 <= len(changed) <= len(cases) / 3
    assert {"answer"} == {CASES[case_id]["expected_behavior"] for case_id in changed}
    assert [old.keys() for old in cases] == [new.keys() for new in damaged]


def test_wrong_evidence_names_a_neighbour_that_exists_and_is_graded() -> None:
    damaged = LABEL_FAULTS["golden_label_issue:wrong-evidence"](HANDBOOK_CASES, set(CORPUS))
    for old, new in zip(HANDBOOK_CASES, damaged, strict=True):
        if old != new:
            assert set(new["expected_chunk_ids"]) <= set(CORPUS)
            assert set(new["expected_chunk_ids"]) != set(old["expected_chunk_ids"])
            assert all(new["relevance"][chunk_id] >= 2 for chunk_id in new["expected_chunk_ids"])


def test_an_outdated_reference_holds_other_numbers() -> None:
    damaged = {row["id"]: row for row in LABEL_FAULTS["golden_label_issue:outdated-reference"](HANDBOOK_CASES, ())}
    # The first answerable case of the set is the first that is damaged.
    assert "13 ngày" in damaged["hr_leave_001"]["expected_answer"]
    assert ["13 ngày"] == damaged["hr_leave_001"]["rubric"]["correct_keywords"]


def test_mixed_up_references_are_those_of_the_next_case() -> None:
    damaged = {row["id"]: row for row in LABEL_FAULTS["golden_label_issue:mixed-up-references"](HANDBOOK_CASES, ())}
    assert damaged["hr_leave_001"]["expected_answer"] == CASES["hr_leave_002"]["expected_answer"]
    assert damaged["hr_leave_001"]["rubric"] == CASES["hr_leave_002"]["rubric"]
    assert damaged["hr_leave_001"]["expected_chunk_ids"] == CASES["hr_leave_001"]["expected_chunk_ids"]


def test_gone_evidence_is_not_in_the_corpus_and_keeps_its_grades() -> None:
    damaged = {row["id"]: row for row in LABEL_FAULTS["golden_label_issue:gone-evidence"](HANDBOOK_CASES, ())}
    row = damaged["hr_leave_001"]
    assert set(row["expected_chunk_ids"]).isdisjoint(CORPUS)
    assert [3] == [row["relevance"][chunk_id] for chunk_id in row["expected_chunk_ids"]]
