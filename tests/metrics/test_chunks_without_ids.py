"""Chunks whose ids are made from their texts: matched by quotes and by the corpus, and never counted as missed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

import assay
from assay.formats.foreign.chunk_shapes import make_text_id
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet, User
from assay.records.observations import Chunk, Observation, Stage
from assay.records.scores import NOT_APPLICABLE, SCORED

LEAVE = "Permanent staff have  Twelve days of paid leave a year."
OTHER = "The cafeteria opens at seven."


def score(case: Case, texts: list[str], metric: str = "recall@5", corpus: Corpus | None = None) -> tuple[int, Any]:
    """Return the status, and the score or reason, of one case whose target returned chunks without ids."""
    chunks = tuple(Chunk(make_text_id(text), text=text) for text in texts)
    observation = Observation(case.id, "one", stages=(Stage("retrieved", chunks),), answer="Twelve.")
    column = (
        assay.score(GoldenSet((case,)), [observation], metrics=[metric], corpus=corpus).table("one").columns[metric]
    )
    status = int(column.status[0])
    return status, float(column.values[0]) if status == SCORED else column.reasons[column.reason[0]]


def named(*, quote: str | None = None, selector: dict[str, str | int] | None = None) -> Case:
    return Case("c", "Leave?", evidence=(Evidence((selector or {"chunk_id": "hr:1"},), quote=quote),))


def test_evidence_named_by_ids_only_cannot_be_found_and_is_not_missed() -> None:
    status, reason = score(named(), [LEAVE])
    assert NOT_APPLICABLE == status
    assert reason.startswith("chunks without ids, and evidence that is named by ids only")


@pytest.mark.parametrize("case", [named(quote="twelve days of paid leave"), named(selector={"quote": "twelve days"})])
def test_evidence_with_a_quote_is_found_in_the_text(case: Case) -> None:
    assert (SCORED, 1.0) == score(case, [OTHER, LEAVE])
    assert (SCORED, 0.0) == score(case, [OTHER])


def test_the_corpus_tells_which_text_an_id_has() -> None:
    corpus = Corpus({"hr:1": CorpusChunk("hr:1", "Permanent staff have twelve days of paid leave a year.")})
    assert (SCORED, 0.5) == score(named(), [OTHER, LEAVE], "rr", corpus)
    assert (SCORED, 0.0) == score(named(), [OTHER], "rr", corpus)


def test_chunks_with_ids_of_their_own_are_matched_by_ids_alone() -> None:
    chunk = Chunk("hr:2", text=LEAVE)
    observation = Observation("c", "one", stages=(Stage("retrieved", (chunk,)),))
    result = assay.score(GoldenSet((named(quote="twelve days"),)), [observation], metrics=["recall@5"])
    assert 0.0 == result.summary("one")["recall@5"].value


def test_a_forbidden_chunk_named_by_its_id_is_not_declared_absent() -> None:
    case = Case("c", "Pay?", forbidden=({"chunk_id": "pay:1"},), user=User(tenant="a"))
    status, reason = score(case, [OTHER], "visibility_leaks")
    assert NOT_APPLICABLE == status
    assert "access unknown" in reason


def test_rows_of_one_block_do_not_disturb_each_other() -> None:
    cases = tuple(Case(f"c{n}", "Q", evidence=(Evidence(({"chunk_id": "hr:1"},)),)) for n in range(3))
    stages = [
        Stage("retrieved", (Chunk("hr:1"),)),
        Stage("retrieved", (Chunk(make_text_id(LEAVE), text=LEAVE),)),
        Stage("retrieved", (Chunk("hr:2"),)),
    ]
    observations = [Observation(case.id, "one", stages=(stage,)) for case, stage in zip(cases, stages, strict=True)]
    column = assay.score(GoldenSet(cases), observations, metrics=["recall@5"]).table("one").columns["recall@5"]
    assert [SCORED, NOT_APPLICABLE, SCORED] == column.status.tolist()
    assert [1.0, 0.0] == column.values[np.asarray(column.status) == SCORED].tolist()


# ── who may see them ─────────────────────────────────────────────────────────────────────────────────────────────

MEMBER = User(tenant="a", roles=("member",), position=3)
PAY = "The bonus of the board is paid in April, after the accounts have been approved by the owners."


def judge(texts: list[str], *chunks: CorpusChunk, case: Case | None = None) -> tuple[int, Any]:
    """Return the status, and the leaks or the reason, of chunks without ids that are shown to a member."""
    corpus = Corpus({chunk.chunk_id: chunk for chunk in chunks})
    return score(case or Case("c", "Leave?", user=MEMBER), texts, "visibility_leaks", corpus)


@pytest.mark.parametrize(
    ("chunk", "leaks"),
    [
        (CorpusChunk("p:1", PAY), 0.0),
        (CorpusChunk("p:1", PAY, tenant="a"), 0.0),
        (CorpusChunk("p:1", PAY, roles=("member",)), 0.0),
        (CorpusChunk("p:1", PAY, position=2), 0.0),
        (CorpusChunk("p:1", PAY, tenant="b"), 1.0),
        (CorpusChunk("p:1", PAY, roles=("owner",)), 1.0),
        (CorpusChunk("p:1", PAY, position=3), 1.0),
    ],
)
def test_the_corpus_tells_by_a_text_who_may_see_it(chunk: CorpusChunk, leaks: float) -> None:
    assert (SCORED, leaks) == judge([PAY], chunk)
    assert (SCORED, leaks) == judge([PAY.upper().replace(" ", "  ")], chunk)


def test_a_short_text_of_a_restricted_chunk_is_a_leak_and_a_foreign_text_is_unknown() -> None:
    secret = CorpusChunk("s:1", "Cancel it.", roles=("owner",))
    assert (SCORED, 1.0) == judge(["Cancel it."], secret)
    status, reason = judge(["Cancel that."], secret)
    assert NOT_APPLICABLE == status
    assert reason.startswith("access unknown")


def test_a_text_with_different_access_is_unknown_unless_all_of_it_is_alike_for_the_user() -> None:
    shown, hidden = CorpusChunk("p:1", PAY, tenant="a"), CorpusChunk("p:2", PAY, tenant="b")
    assert NOT_APPLICABLE == judge([PAY], shown, hidden)[0]
    assert (SCORED, 1.0) == judge([PAY], hidden, CorpusChunk("p:3", PAY, roles=("owner",)))
    assert (SCORED, 0.0) == judge([PAY], shown, CorpusChunk("p:3", PAY, roles=("member",)))


def test_a_part_of_chunks_that_the_user_may_see_is_no_leak_and_one_of_others_is_never_silent() -> None:
    whole, part = f"{LEAVE} {PAY} {OTHER}", PAY[4:-7]
    assert (SCORED, 0.0) == judge([part], CorpusChunk("p:1", whole))
    assert (SCORED, 1.0) == judge([part], CorpusChunk("p:1", whole, tenant="b"))
    assert NOT_APPLICABLE == judge([part], CorpusChunk("p:1", whole), CorpusChunk("p:2", whole, tenant="b"))[0]
    # Of a few words the corpus cannot tell whether they are a part of it.
    assert NOT_APPLICABLE == judge(["in April"], CorpusChunk("p:1", whole))[0]
    # A chunk that has more than one of the corpus may show anything.
    assert NOT_APPLICABLE == judge([f"{PAY} And more."], CorpusChunk("p:1", PAY))[0]


def test_a_part_of_what_a_case_forbids_is_not_cleared_by_the_corpus() -> None:
    whole = CorpusChunk("p:1", f"{LEAVE} {PAY} {OTHER}")
    for user in (MEMBER, None):
        case = Case("c", "Pay?", forbidden=({"chunk_id": "p:1"},), user=user)
        status, value = judge([PAY], whole, case=case)
        assert (status, value) != (SCORED, 0.0)


def test_what_a_case_expects_is_no_leak_by_its_text() -> None:
    hidden = CorpusChunk("hr:1", LEAVE, tenant="b")
    case = Case("c", "Leave?", evidence=(Evidence(({"chunk_id": "hr:1"},)),), user=MEMBER)
    assert (SCORED, 0.0) == judge([LEAVE], hidden, case=case)
    assert (SCORED, 1.0) == judge([LEAVE], hidden)


def test_a_text_has_the_fields_of_its_chunk_in_the_corpus() -> None:
    corpus = Corpus({"hr:1": CorpusChunk("hr:1", LEAVE, document="hr", section="leave")})
    case = named(selector={"document": "hr", "section": "leave"})
    assert (SCORED, 1.0) == score(case, [OTHER, LEAVE], corpus=corpus)
    assert (SCORED, 0.0) == score(case, [OTHER], corpus=corpus)


def test_a_text_is_outdated_if_all_chunks_that_have_it_are() -> None:
    old = CorpusChunk("hr:1", LEAVE, document="hr", version="1", valid_from="2024-01-01")
    new = CorpusChunk("hr:2", OTHER, document="hr", version="2", valid_from="2025-01-01")
    name = "stale_chunks(stage=retrieved)"
    assert (SCORED, 1.0) == score(named(), [LEAVE, OTHER], name, Corpus({"hr:1": old, "hr:2": new}))
    same = CorpusChunk("hr:3", LEAVE, document="hr", version="2", valid_from="2025-01-01")
    assert (SCORED, 0.0) == score(named(), [LEAVE], name, Corpus({"hr:1": old, "hr:2": new, "hr:3": same}))


def test_a_later_version_is_early_and_not_superseded() -> None:
    now = CorpusChunk("hr:1", LEAVE, document="hr", version="1", valid_from="2024-01-01")
    later = CorpusChunk("hr:2", OTHER, document="hr", version="2", valid_from="2027-01-01")
    corpus = Corpus({"hr:1": now, "hr:2": later})
    case = replace(named(), user=User(as_of="2026-03-01"))
    assert (SCORED, 0.0) == score(case, [LEAVE, OTHER], "stale_chunks(stage=retrieved)", corpus)
    assert (SCORED, 1.0) == score(case, [LEAVE, OTHER], "early_chunks(stage=retrieved)", corpus)
    assert (SCORED, 0.0) == score(case, [LEAVE], "early_chunks(stage=retrieved)", corpus)
    assert NOT_APPLICABLE == score(replace(case, user=None), [OTHER], "early_chunks(stage=retrieved)", corpus)[0]


@pytest.mark.parametrize("text", ["", "   ", None])
def test_chunks_of_the_corpus_without_text_are_no_match(text: str | None) -> None:
    empty = CorpusChunk("e:1", text, tenant="b")
    assert NOT_APPLICABLE == judge([OTHER], empty)[0]
    observation = Observation("c", "one", stages=(Stage("retrieved", (Chunk("text:sha256:0", text=text),)),))
    golden, corpus = GoldenSet((Case("c", "Q", user=MEMBER),)), Corpus({"e:1": empty})
    column = assay.score(golden, [observation], metrics=["visibility_leaks"], corpus=corpus).table("one").columns
    assert NOT_APPLICABLE == int(column["visibility_leaks"].status[0])
