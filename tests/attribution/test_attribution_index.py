"""What the traces of a run show of the index behind it: text that was lost, cut, merged or never brought up to date."""

from __future__ import annotations

import pytest
from msgspec import structs
from tests.attribution.traces import BAD, CARRY, LEAVE, OLD, OLD_TEXT, SICK, TEXTS, blamed, case, corpus, seen, stage

from assay.records.digest import compute_text_digest
from assay.records.findings import Attribution
from assay.records.golden_set import Corpus, CorpusChunk, Evidence
from assay.records.observations import Chunk, Stage


def told(found: Attribution) -> tuple[str, str | None, str | None]:
    return found.verdict, found.cause, found.stage


def with_text(text: str, *ids: str, answer: str = BAD) -> Attribution:
    """Attribute where chunk `leave` is indexed with another text."""
    shown = stage("context", "leave", *ids, texts={"leave": text})
    return blamed(case(), seen(stage("dense", "leave", *ids, texts={"leave": text}), shown, answer=answer), corpus())


def test_lines_that_are_lost_from_the_indexed_text_are_the_parsers_doing() -> None:
    attribution = with_text("## Annual leave", answer="I could not find that in the documents.")
    assert ("retrieval_fault", "parser", "index") == told(attribution)


def test_a_text_cut_inside_a_line_is_the_chunkings_doing() -> None:
    attribution = with_text("## Annual leave\nFull-time staff get", answer="I could not find that in the documents.")
    assert ("retrieval_fault", "chunking", "index") == told(attribution)


def test_a_text_with_those_of_its_neighbours_is_the_chunkings_doing() -> None:
    trace = seen(stage("dense", "office"), stage("context", "office"), answer=BAD)
    merged = stage("context", "leave", texts={"leave": f"{LEAVE}\n{SICK}\n{CARRY}"})
    attribution = blamed(case(), trace, corpus(), others=[seen(merged)])
    assert ("retrieval_fault", "chunking", "index") == told(attribution)


def test_another_wording_under_the_same_id_is_a_stale_index() -> None:
    attribution = with_text(f"## Annual leave\n{BAD}")
    assert ("retrieval_fault", "stale_index", "index") == told(attribution)


def test_a_text_that_only_its_hash_shows_to_be_changed_is_insufficient() -> None:
    changed = Stage("dense", (Chunk("office"), Chunk("leave", text_hash="sha256:" + "0" * 64)))
    attribution = blamed(case(), seen(changed, stage("context", "office"), answer=BAD), corpus())
    assert ("retrieval_fault", "insufficient_trace", "index") == told(attribution)
    assert ("parser", "chunking") == attribution.also


def test_an_index_is_not_suspected_without_a_corpus() -> None:
    trace = seen(stage("dense", "office"), stage("context", "office", texts={"office": "x"}), answer=BAD)
    assert "embedding" == blamed(case(), trace).cause


def test_a_superseded_version_in_place_of_the_evidence_is_a_stale_index() -> None:
    trace = seen(stage("dense", "old", "office"), stage("context", "old", texts={"old": OLD_TEXT}), answer=BAD)
    attribution = blamed(case(), trace, corpus(old=OLD))
    assert ("retrieval_fault", "stale_index", "index") == told(attribution)


def test_an_answer_taken_from_a_superseded_version_beside_the_evidence_is_a_stale_index() -> None:
    shown = stage("context", "leave", "old", texts={"old": OLD_TEXT})
    attribution = blamed(
        case(), seen(stage("dense", "leave", "old"), shown, answer="Staff get 20 days."), corpus(old=OLD)
    )
    assert ("retrieval_fault", "stale_index", "index") == told(attribution)


def test_a_document_that_no_trace_shows_and_that_is_newer_than_all_is_not_indexed() -> None:
    new = CorpusChunk("new", text="Staff get 12 days.", document="guide", version="v1", valid_from="2026-03-01")
    asked = case(evidence=(Evidence(({"chunk_id": "new"},)),))
    trace = seen(stage("dense", "sick"), stage("context", "sick"), answer=BAD)
    attribution = blamed(asked, trace, corpus(new=new), others=[seen(stage("dense", name)) for name in TEXTS])
    assert ("retrieval_fault", "stale_index", "index") == told(attribution)
    assert ("medium", "embedding") == (attribution.confidence, attribution.also[0])
    reference_corpus = corpus(new=new, other=structs.replace(new, chunk_id="other", document="other guide"))
    attribution = blamed(asked, trace, reference_corpus, others=[seen(stage("dense", name)) for name in TEXTS])
    assert ("stale_index", "high") == (attribution.cause, attribution.confidence)


def test_line_breaks_and_marks_that_a_target_drops_are_no_damage() -> None:
    attribution = with_text("Annual leave Full-time staff get **12** days of annual leave.")
    assert ("generation_fault", "generator", "generate") == told(attribution)


def test_an_excerpt_without_a_hash_is_a_cut_at_low_confidence_only() -> None:
    shown = Stage("context", (Chunk("leave", text="## Annual leave\nFull-time staff get"),))
    attribution = blamed(
        case(), seen(Stage("dense", (Chunk("leave"),)), shown, answer="Staff get some leave."), corpus()
    )
    assert ("chunking", "low") == (attribution.cause, attribution.confidence)
    assert ("parser", "context_builder") == attribution.also
    assert any("hash" in field for field in attribution.record)


def test_an_excerpt_with_the_right_hash_is_no_damage() -> None:
    shown = Stage(
        "context", (Chunk("leave", text="## Annual leave\nFull-time …", text_hash=compute_text_digest(LEAVE)),)
    )
    attribution = blamed(case(), seen(stage("dense", "leave"), shown, answer="Staff get some leave."), corpus())
    assert "generator" == attribution.cause


@pytest.mark.parametrize("text_hash", ["md5:0123", "sha256:" + "0" * 64])
def test_hashes_of_something_else_than_the_corpus_hashes_say_nothing(text_hash: str) -> None:
    """No hash of the whole run agrees, so none of them shows that this chunk is another. It is cut off at rank 4."""
    ranked = Stage("dense", tuple(Chunk(name, text_hash=text_hash) for name in ("sick", "office", "carry", "leave")))
    trace = seen(ranked, Stage("context", (Chunk("sick"), Chunk("office"))), answer=BAD)
    assert ("retrieval_fault", "context_builder", "context") == told(blamed(case(), trace, corpus()))


def test_a_run_that_shows_few_documents_says_nothing_of_one_that_it_does_not_show() -> None:
    """The evidence is of the newest document; of ten older ones the run shows one."""
    new = CorpusChunk("new", text="Staff get 12 days.", document="guide", version="v1", valid_from="2026-03-01")
    older = {
        f"o{n}": CorpusChunk(f"o{n}", text="Old.", document=f"old{n}", version="v1", valid_from="2025-01-01")
        for n in range(9)
    }
    asked = case(evidence=(Evidence(({"chunk_id": "new"},)),))
    trace = seen(stage("dense", "sick"), stage("context", "sick"), answer=BAD)
    attribution = blamed(asked, trace, corpus(new=new, **older), others=[seen(stage("dense", name)) for name in TEXTS])
    assert ("retrieval_fault", "embedding", "dense") == told(attribution)


def test_a_section_whose_name_is_part_of_anothers_is_not_taken_for_merged() -> None:
    """Chunk `sick` lost a line; its section "Sick leave" was so named before, and swallowed no section "leave"."""
    reference_corpus = corpus(
        part=CorpusChunk("part", text="Nothing.", document="policy", version="v2", section="leave")
    )
    damaged = Stage("context", (Chunk("sick", text="## Sick leave", metadata={"section": "Sick leave"}),))
    asked = case(evidence=(Evidence(({"chunk_id": "part"},)),))
    trace = seen(stage("dense", "office"), stage("context", "office"), answer=BAD)
    assert "embedding" == blamed(asked, trace, reference_corpus, others=[seen(damaged)]).cause


def test_values_that_moved_to_other_rows_are_the_parsers_doing() -> None:
    table = "## Days of leave\n| Staff | Days |\n| full-time staff | 12 days |\n| part-time staff | 6 days |"
    moved = "## Days of leave\n| Staff | Days |\n| full-time staff | 6 days |\n| part-time staff | 12 days |"
    row = CorpusChunk("leave", text=table, document="policy", version="v2", tenant="a", kind="table")
    shown = Stage("context", (Chunk("leave", text=moved),))
    attribution = blamed(case(), seen(shown, answer="Full-time staff get 6 days."), corpus(leave=row))
    assert ("retrieval_fault", "parser", "index") == told(attribution)
    assert "another order" in attribution.evidence[0]


FEES = "# Locker fees\n| Locker | Day | Week |\n| --- | --- | --- |\n| Small locker 40 l | 2 EUR | 9 EUR |\n"
FEES_WITH_LARGE = f"{FEES}| Large locker 90 l | 4 EUR | 18 EUR |\n\nKeys are handed out at desk five."
LOCKERS = {
    "fees": CorpusChunk("fees", document="fees", text=FEES_WITH_LARGE),
    "office": CorpusChunk("office", document="office", text="The office is on floor 2."),
}


def ask_desk(found_text: str, shown_text: str | None, *, quote: str, reply: str, asked: str) -> Attribution:
    """Attribute a question about lockers of which the search has one text and the context another, or none."""
    office = Chunk("office", text="The office is on floor 2.", metadata={"document": "office"})
    fees = Chunk("fees", text=found_text, metadata={"document": "fees"})
    shown = office if shown_text is None else structs.replace(fees, text=shown_text)
    trace = seen(Stage("bm25", (fees, office)), Stage("context", (shown,)), answer=reply)
    unit = Evidence(({"document": "fees", "quote": quote},))
    wanted = case(question=asked, evidence=(unit,), must_have=(quote,), reference=None, rubric=None)
    return blamed(wanted, trace, Corpus(LOCKERS))


DESK = "Keys are handed out at desk five."
NOT_FOUND = "I could not find that in the documents."


def test_a_lost_row_does_not_explain_evidence_that_the_ranking_still_had() -> None:
    """The row of the large locker is not indexed, and the question is about the keys."""
    indexed = f"{FEES}\n{DESK}"
    cut = ask_desk(indexed, FEES, quote=DESK, reply=NOT_FOUND, asked="Where do I get my key?")
    assert ("retrieval_fault", "context_builder", "context") == told(cut)
    assert "text_truncated" == cut.subcause
    left_out = ask_desk(indexed, None, quote=DESK, reply=NOT_FOUND, asked="Where do I get my key?")
    assert ("retrieval_fault", "context_builder", "context") == told(left_out)


def test_a_lost_row_explains_the_evidence_that_it_is() -> None:
    indexed = f"{FEES}\n{DESK}"
    row = "Large locker 90 l | 4 EUR"
    attribution = ask_desk(indexed, indexed, quote=row, reply=NOT_FOUND, asked="What is a large locker?")
    assert ("retrieval_fault", "parser", "index") == told(attribution)


@pytest.mark.parametrize(
    ("asked", "cause"), [("What does a 40 l locker cost a day?", False), ("Is there a large one?", True)]
)
def test_a_unit_or_a_word_of_other_rows_does_not_relate_a_lost_row_to_a_question(asked: str, cause: bool) -> None:
    indexed = f"{FEES}\n{DESK}"
    attribution = ask_desk(indexed, indexed, quote="Small locker 40 l", reply="It costs 7 EUR.", asked=asked)
    assert cause == (attribution.cause == "parser")
