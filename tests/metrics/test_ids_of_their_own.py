"""Chunks of a system with ids of its own: what the corpus does not know by its id is told by its text."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import assay
from assay.attribution.attribute_run import attribute_run
from assay.records.findings import Attribution
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet, Selector, User
from assay.records.observations import Chunk, Observation, Stage
from assay.records.scores import SCORED

LEAVE = "Permanent staff have twelve days of paid leave in every full year of service."
EXPIRY = "Unused days of leave expire at the end of March unless the head of the unit agrees in writing."
PAY = "The bonus of the board is paid in April, after the accounts have been approved by the owners."
MEMBER = User(tenant="a", roles=("member",))


def make_corpus(**restrictions: Any) -> Corpus:
    """Return two open chunks of one document, and one with restrictions of another."""
    chunks = (
        CorpusChunk("hr:1", LEAVE, document="hr", version="1"),
        CorpusChunk("hr:2", EXPIRY, document="hr", version="1"),
        CorpusChunk("pay:1", PAY, document="pay", version="1", **restrictions),
    )
    return Corpus({chunk.chunk_id: chunk for chunk in chunks})


def score(chunks: list[Chunk], metric: str, corpus: Corpus, *, case: Case | None = None, **fields: Any) -> float | str:
    """Return the score of one case, or why it has none."""
    case = case or Case("c", "When?", user=MEMBER)
    observation = Observation("c", "one", stages=(Stage("retrieved", tuple(chunks)),), **fields)
    scores = assay.score(GoldenSet((case,)), [observation], metrics=[metric], corpus=corpus).table("one")
    column = scores.columns[metric]
    return float(column.values[0]) if column.status[0] == SCORED else column.reasons[column.reason[0]]


@pytest.mark.parametrize(
    "text",
    [
        LEAVE,
        f"  {LEAVE.upper()}\n",
        LEAVE[10:-9],
        f"{LEAVE}\n\n{EXPIRY}",
        f"{LEAVE[30:]}\n{EXPIRY[:40]}",
        f"{EXPIRY}\n---\n{LEAVE}",
        f"## **{LEAVE}**",
    ],
)
def test_a_chunk_that_is_made_of_open_ones_is_no_leak(text: str) -> None:
    assert 0.0 == score([Chunk("n-1", text=text)], "visibility_leaks", make_corpus(roles=("owner",)))
    assert 0.0 == score([Chunk("n-1", text=text)], "unknown_access", make_corpus(roles=("owner",)))


@pytest.mark.parametrize("text", [PAY, PAY.lower(), f"{LEAVE}\n{PAY}", f"{PAY} {EXPIRY[:50]}"])
def test_a_chunk_that_has_restricted_text_is_a_leak_whatever_else_it_has(text: str) -> None:
    assert 1.0 == score([Chunk("n-1", text=text)], "visibility_leaks", make_corpus(tenant="b"))


@pytest.mark.parametrize("text", ["The canteen opens at seven on every working day of the week.", f"{LEAVE} And more."])
def test_what_is_not_in_the_corpus_is_still_unknown(text: str) -> None:
    assert str(score([Chunk("n-1", text=text)], "visibility_leaks", make_corpus())).startswith("access unknown")


def test_a_known_id_is_never_overruled_by_a_text() -> None:
    corpus = make_corpus(tenant="b")
    assert 1.0 == score([Chunk("pay:1", text=LEAVE)], "visibility_leaks", corpus)
    case = Case("c", "When?", evidence=(Evidence(({"chunk_id": "hr:1"},)),))
    assert 0.0 == score([Chunk("hr:2", text=LEAVE)], "recall@5", corpus, case=case)


def test_a_text_in_another_stage_tells_as_well() -> None:
    stages = (Stage("retrieved", (Chunk("n-1"), Chunk("n-2"))), Stage("context", (Chunk("n-1", text=LEAVE),)))
    observation = Observation("c", "one", stages=stages)
    case = Case("c", "When?", user=MEMBER, evidence=(Evidence(({"chunk_id": "hr:1"},)),))
    summary = assay.score(GoldenSet((case,)), [observation], corpus=make_corpus()).summary("one")
    assert 1.0 == summary["unknown_access"].value  # n-2 alone
    assert 1.0 == summary["recall@10"].value


def test_evidence_version_and_document_are_those_of_the_text() -> None:
    corpus = Corpus(
        {
            "hr:1": CorpusChunk("hr:1", LEAVE, document="hr", version="1", valid_from="2025-01-01"),
            "hr:2": CorpusChunk("hr:2", EXPIRY, document="hr", version="2", valid_from="2026-01-01"),
        }
    )
    shown = [Chunk("n-1", text=LEAVE)]
    assert 1.0 == score(shown, "stale_chunks(stage=retrieved)", corpus)
    selectors: tuple[Selector, ...] = ({"chunk_id": "hr:1"}, {"document": "hr", "version": "1"})
    for selector in selectors:
        case = Case("c", "When?", evidence=(Evidence((selector,)),), must_cite=("hr",))
        assert 1.0 == score(shown, "recall@5", corpus, case=case)
        assert 1.0 == score(shown, "must_cite", corpus, case=case, answer="Twelve.", citations=("n-1",))
    required = Case("c", "When?", must_cite=("hr:1",))
    assert 1.0 == score(shown, "must_cite", corpus, case=required, answer="Twelve.", citations=("n-1",))


def test_marks_of_a_format_make_no_other_text() -> None:
    case = Case("c", "When?", evidence=(Evidence(({"chunk_id": "hr:1"},)),))
    assert 1.0 == score([Chunk("n-1", text=f"# Leave\n* {LEAVE}")], "recall@5", make_corpus(), case=case)
    assert 1.0 == score([Chunk("n-1", text=LEAVE.replace(" ", " **", 1))], "recall@5", make_corpus(), case=case)


CONTEXT = "From the rules on leave, for staff:"
FRAMED = [
    f"{CONTEXT}\n\n{LEAVE}",
    f"{LEAVE}\nSource: staff rules",
    f"Staff rules\nPart 2\n\n{LEAVE}\n(page 4)\n- end -",
]


@pytest.mark.parametrize("text", FRAMED)
def test_a_few_lines_before_or_after_a_text_leave_it_that_of_its_chunk(text: str) -> None:
    corpus, shown = make_corpus(roles=("owner",)), [Chunk("n-1", text=text)]
    assert 1.0 == score(shown, "unknown_access", corpus), "nothing tells who may see the lines"
    case = Case("c", "When?", evidence=(Evidence(({"chunk_id": "hr:1"},)),), must_cite=("hr",))
    asked = replace(case, user=User(roles=("owner",)))
    assert str(score(shown, "visibility_leaks", corpus, case=asked)).startswith("access unknown")
    assert 1.0 == score(shown, "recall@5", corpus, case=case)
    assert 1.0 == score(shown, "must_cite", corpus, case=case, answer="Twelve.", citations=("n-1",))
    pay = [Chunk("n-1", text=text.replace(LEAVE, PAY))]
    assert 1.0 == score(pay, "visibility_leaks", make_corpus(tenant="b"))


@pytest.mark.parametrize("text", [f"PURPLE-CANARY-77\n{LEAVE}", f"{LEAVE}\nPURPLE-CANARY-77"])
def test_what_a_case_forbids_leaks_in_a_line_beside_an_expected_text(text: str) -> None:
    evidence, user = (Evidence(({"chunk_id": "hr:1"},)),), User(roles=("owner",))
    case = Case("c", "When?", evidence=evidence, user=user, forbidden_text=("PURPLE-CANARY-77",))
    assert 1.0 == score([Chunk("n-1", text=text)], "visibility_leaks", make_corpus(), case=case)


@pytest.mark.parametrize(
    "text",
    [
        f"{CONTEXT} {LEAVE}",  # not a line of its own
        f"One\nTwo\nThree\nFour\n{LEAVE}",
        f"{' '.join(f'word{number}' for number in range(15))}\n{LEAVE}",  # more than the text
        f"Unused days of leave\nexpire at the end of March\n{LEAVE}",  # a part of another chunk, over two lines
        f"{CONTEXT}\n{LEAVE.replace('twelve', 'thirteen')}",
    ],
)
def test_what_a_chunk_has_besides_a_text_is_more_than_a_few_lines(text: str) -> None:
    assert str(score([Chunk("n-1", text=text)], "visibility_leaks", make_corpus())).startswith("access unknown")


def test_lines_around_a_text_make_it_no_near_duplicate_and_tell_nothing_where_rights_differ() -> None:
    near = LEAVE.replace("twelve", "thirteen")
    twins = {"hr:3": CorpusChunk("hr:3", near, document="old", tenant="b")}
    corpus, shown = Corpus(make_corpus().chunks | twins), [Chunk("n-1", text=FRAMED[0])]
    case = Case("c", "When?", evidence=(Evidence(({"chunk_id": "hr:3"},)),))
    assert 0.0 == score(shown, "recall@5", corpus, case=case)
    same = Corpus(make_corpus().chunks | {"hr:3": CorpusChunk("hr:3", LEAVE, document="old", tenant="b")})
    assert str(score(shown, "unknown_access", same)) == "1.0"


def test_a_citation_of_a_chunk_that_has_the_required_text_among_more_is_one_of_its_source() -> None:
    case = Case("c", "When?", must_cite=("hr:1",))
    shown = [Chunk("n-1", text=f"{' '.join(f'word{number}' for number in range(30))}\n{LEAVE}")]
    assert 1.0 == score(shown, "must_cite", make_corpus(), case=case, answer="Twelve.", citations=("n-1",))


def test_a_run_says_how_many_chunks_were_told_by_their_texts() -> None:
    texts = [LEAVE, f"{LEAVE}\n{EXPIRY}", "The canteen opens at seven on every working day of the week."]
    stage = Stage("retrieved", tuple(Chunk(f"n-{number}", text=text) for number, text in enumerate(texts)))
    observation = Observation("c", "one", stages=(stage,))
    scored = assay.score(GoldenSet((Case("c", "When?"),)), [observation], corpus=make_corpus())
    warnings = " ".join(scored.scoring.warnings)
    assert 3 == warnings.count("1 listed chunk has an id that the corpus does not have")


def test_a_run_says_how_many_chunks_have_ids_of_their_own_and_no_text() -> None:
    bare, told = Chunk("n-1"), Chunk("n-2")
    stages = Stage("retrieved", (bare, told, Chunk("hr:1"))), Stage("context", (bare, Chunk("n-2", text=LEAVE)))
    observation = Observation("c", "one", stages=stages)
    scored = assay.score(GoldenSet((Case("c", "When?"),)), [observation], corpus=make_corpus())
    expected = "2 listed chunks have ids that the corpus does not have, and no text"
    assert 1 == sum(expected in warning for warning in scored.scoring.warnings)
    without = assay.score(GoldenSet((Case("c", "When?"),)), [observation])
    assert not any("no text" in warning for warning in without.scoring.warnings)


def test_a_chunk_that_its_document_tells_is_not_said_to_count_as_no_evidence() -> None:
    case = Case("c", "When?", evidence=(Evidence(({"document": "leave.pdf"},)),))
    stage = Stage("retrieved", tuple(Chunk(name, metadata={"document": f"{name}.pdf"}) for name in ("leave", "menu")))
    scored = assay.score(GoldenSet((case,)), [Observation("c", "one", stages=(stage,))], corpus=make_corpus())
    assert 1.0 == scored.scoring.configs["one"].table.columns["recall@5"].values[0]
    assert any(text.startswith("1 listed chunk has an id") for text in scored.scoring.warnings)


# ── causes ───────────────────────────────────────────────────────────────────────────────────────────────────────


def attribute(stages: tuple[Stage, ...], selector: Selector) -> Attribution:
    """Return the cause of one refusal of what the corpus says."""
    case = Case("c", "When do unused days expire?", evidence=(Evidence((selector,)),), must_have=("end of March",))
    observation = Observation("c", "one", stages=stages, answer="I cannot find it in the documents.")
    scored = assay.score(GoldenSet((case,)), [observation], corpus=make_corpus())
    return attribute_run(scored.run, "one")["c"]


@pytest.mark.parametrize("selector", [{"quote": "expire at the end of March"}, {"chunk_id": "hr:2"}])
@pytest.mark.parametrize("text", [EXPIRY, f"{LEAVE}\n\n{EXPIRY}"])
def test_what_the_trace_has_under_another_id_is_indexed(selector: Selector, text: str) -> None:
    others = tuple(
        Chunk(f"n-{number}", text=f"The canteen opens at {number} on every working day.", metadata={"document": "hr"})
        for number in range(6, 9)
    )
    found = Chunk("n-1", text=text, metadata={"document": "hr"})
    stages = (Stage("retrieved", (*others, found)), Stage("context", others))
    attribution = attribute(stages, selector)
    assert "chunking" not in attribution.named_causes
    assert "has rank 4 in retrieved" in attribution.evidence[0]


def test_the_cause_is_that_of_the_same_run_under_the_ids_of_the_corpus() -> None:
    by_own_ids, by_ids = [
        attribute((Stage("retrieved", (Chunk(name, text=EXPIRY),)),), {"chunk_id": "hr:2"}) for name in ("n-1", "hr:2")
    ]
    assert by_ids == by_own_ids
    assert "generator" == by_ids.cause


@pytest.mark.parametrize("text", [f"{CONTEXT}\n{EXPIRY}", f"{EXPIRY}\nSource: staff rules"])
def test_lines_around_a_text_are_no_difference_of_what_is_indexed(text: str) -> None:
    by_own_ids = attribute((Stage("retrieved", (Chunk("n-1", text=text),)),), {"chunk_id": "hr:2"})
    assert by_own_ids == attribute((Stage("retrieved", (Chunk("hr:2", text=EXPIRY),)),), {"chunk_id": "hr:2"})
