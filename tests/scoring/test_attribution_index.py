"""What the traces of a run show of the index behind it: text that was lost, cut, merged or never brought up to date."""

from __future__ import annotations

from tests.scoring.traces import BAD, CARRY, LEAVE, OLD, OLD_TEXT, SICK, TEXTS, blamed, case, corpus, seen, stage

from assay.finding import Attribution
from assay.model import Chunk, CorpusChunk, Evidence, Stage


def told(found: Attribution) -> tuple[str, str | None, str | None]:
    return found.verdict, found.cause, found.stage


def with_text(text: str, *ids: str, answer: str = BAD) -> Attribution:
    """Attribute where chunk `leave` is indexed with another text."""
    shown = stage("context", "leave", *ids, texts={"leave": text})
    return blamed(case(), seen(stage("dense", "leave", *ids, texts={"leave": text}), shown, answer=answer), corpus())


def test_lines_that_are_lost_from_the_indexed_text_are_the_parsers_doing() -> None:
    found = with_text("## Annual leave", answer="I could not find that in the documents.")
    assert ("retrieval_fault", "parser", "index") == told(found)


def test_a_text_cut_inside_a_line_is_the_chunkings_doing() -> None:
    found = with_text("## Annual leave\nFull-time staff get", answer="I could not find that in the documents.")
    assert ("retrieval_fault", "chunking", "index") == told(found)


def test_a_text_with_those_of_its_neighbours_is_the_chunkings_doing() -> None:
    trace = seen(stage("dense", "office"), stage("context", "office"), answer=BAD)
    merged = stage("context", "leave", texts={"leave": f"{LEAVE}\n{SICK}\n{CARRY}"})
    found = blamed(case(), trace, corpus(), others=[seen(merged)])
    assert ("retrieval_fault", "chunking", "index") == told(found)


def test_another_wording_under_the_same_id_is_a_stale_index() -> None:
    found = with_text("## Annual leave\nEverybody has 20 days off.", answer="Everybody has 20 days off.")
    assert ("retrieval_fault", "stale_index", "index") == told(found)


def test_a_text_that_only_its_hash_shows_to_be_changed_is_insufficient() -> None:
    changed = Stage("dense", (Chunk("leave", text_hash="sha256:" + "0" * 64), Chunk("office")))
    found = blamed(case(), seen(changed, stage("context", "office"), answer=BAD), corpus())
    assert ("retrieval_fault", "insufficient_trace", "index") == told(found)
    assert ("parser", "chunking") == found.also


def test_an_index_is_not_suspected_without_a_corpus() -> None:
    trace = seen(stage("dense", "office"), stage("context", "office", texts={"office": "x"}), answer=BAD)
    assert "embedding" == blamed(case(), trace).cause


def test_a_superseded_version_in_place_of_the_evidence_is_a_stale_index() -> None:
    trace = seen(stage("dense", "old", "office"), stage("context", "old", texts={"old": OLD_TEXT}), answer=BAD)
    found = blamed(case(), trace, corpus(old=OLD))
    assert ("retrieval_fault", "stale_index", "index") == told(found)


def test_an_answer_taken_from_a_superseded_version_beside_the_evidence_is_a_stale_index() -> None:
    shown = stage("context", "leave", "old", texts={"old": OLD_TEXT})
    found = blamed(case(), seen(stage("dense", "leave", "old"), shown, answer="Staff get 20 days."), corpus(old=OLD))
    assert ("retrieval_fault", "stale_index", "index") == told(found)


def test_a_document_that_no_trace_shows_and_that_is_newer_than_all_is_not_indexed() -> None:
    new = CorpusChunk("new", text="Staff get 12 days.", document="guide", version="v1", valid_from="2026-03-01")
    asked = case(evidence=(Evidence(({"chunk_id": "new"},)),))
    trace = seen(stage("dense", "sick"), stage("context", "sick"), answer=BAD)
    found = blamed(asked, trace, corpus(new=new), others=[seen(stage("dense", name)) for name in TEXTS])
    assert ("retrieval_fault", "stale_index", "index") == told(found)
    assert "high" == found.confidence
