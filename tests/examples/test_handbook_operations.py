"""Entity-linked retrieval, and the operations log with its golden set."""

from __future__ import annotations

import runpy

import pytest
from examples.handbook import handbook
from examples.handbook.app import entities, query
from examples.handbook.app.index import Entry
from examples.handbook.app.records import Chunk
from tests.examples.handbook_cases import CORPUS, HANDBOOK, OPERATIONS_CASES, chunks_of_stage

SECURITY = {"tenant": "company_a", "roles": ["security"]}


def entry(name: str, section: str, text: str) -> Entry:
    made = Chunk(
        name, f"## {section}\n\n{text}", name, "v1", section, (1,), "company_a", (), "2026-01-01", None, "prose"
    )
    return Entry.of(made)


LOG = (
    entry("a", "INC-2026-001", "It hit SRV-001."),
    entry("b", "Servers", "SRV-001 belongs to PROJ-001. SRV-002 belongs to PROJ-002."),
    entry("c", "PROJ-001", "Led by An. INC-2026-002 is another matter."),
)


@pytest.mark.parametrize(
    ("question", "ranking"),
    [
        ("What followed from INC-2026-001?", {"SRV-001": 0.6, "PROJ-001": 0.36}),
        ("Which server did INC-2026-001 hit?", {"SRV-001": 0.6}),
        ("may chu nao cua du an nao bi INC-2026-001?", {"SRV-001": 0.6, "PROJ-001": 0.36}),
        ("Which project is behind inc-2026-001?", {"SRV-001": 0.6, "PROJ-001": 0.36}),
    ],
)
def test_ids_are_followed_statement_by_statement_to_the_kinds_that_the_question_speaks_of(
    question: str, ranking: dict[str, float]
) -> None:
    linked = entities.link(query.read(question), LOG)
    assert pytest.approx({"INC-2026-001": 1.0, **ranking}) == linked


def test_a_chunk_that_several_ids_share_comes_once_and_before_those_of_one_id() -> None:
    # b mentions both servers (0.5 + 0.5), a only one of them; c none.
    found = entities.search({"SRV-001": 1.0, "SRV-002": 1.0}, LOG, 10)
    assert [("b", 1.0), ("a", 0.5)] == [(hit.chunk.chunk_id, hit.score) for hit in found]


@pytest.mark.slow
def test_without_an_id_or_with_an_unknown_one_the_search_is_the_ordinary_one() -> None:
    plain, unknown = "Vì sao hàng đợi thanh toán từng ngừng nhận tin?", "What was the cause of INC-2026-099?"
    for question in (plain, unknown):
        linked, ordinary = (handbook(name).ask(question, SECURITY) for name in ("entity-linked", "hybrid-rerank"))
        assert chunks_of_stage(linked, "context") == chunks_of_stage(ordinary, "context")
        assert linked["answer"] == ordinary["answer"]
    assert "abstain" == ordinary["behaviour"]


def test_the_committed_operations_corpus_is_what_the_script_writes() -> None:
    built = runpy.run_path(str(HANDBOOK / "build_corpus.py"))["build"](operations=True)
    assert built == (HANDBOOK / "corpus" / "operations.jsonl").read_text(encoding="utf-8")


def test_the_operations_cases_name_visible_chunks_that_hold_their_facts() -> None:
    assert 13 == len({case["id"] for case in OPERATIONS_CASES})
    for case in OPERATIONS_CASES:
        named = [*case["expected_chunk_ids"], *case["relevance"], *case.get("forbidden_chunk_ids", [])]
        assert all(CORPUS[chunk_id]["document"].startswith("operations_log.") for chunk_id in named)
        visible = [
            bool(set(CORPUS[each]["roles"]) & set(case["user_context"]["roles"])) for each in case["expected_chunk_ids"]
        ]
        assert (
            sorted(set(visible))
            == {"answer": [True], "abstain": [], "permission_denied": [False]}[case["expected_behavior"]]
        )
        evidence = " ".join(CORPUS[chunk_id]["text"] for chunk_id in case["expected_chunk_ids"]).casefold()
        facts_named = [*case.get("rubric", {}).get("correct_keywords", []), *case.get("must_have", [])]
        assert [fact for fact in facts_named if fact.casefold() not in evidence] == []
