"""Answers of the TREC RAG track: what a line becomes, what is refused, and the three real runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.formats.recorded_outputs.trec_rag import decode_trec_rag
from assay.records.observations import Observation, Sentence


def line(**changes: Any) -> bytes:
    row = {
        "run_id": "run",
        "topic_id": "t1",
        "topic": "why?",
        "references": ["p1", "p2", "p3"],
        "response_length": 4,
        "answer": [{"text": "So it is.", "citations": [2, 0]}, {"text": "Or not.", "citations": []}],
    }
    return json.dumps(row | changes).encode()


def test_a_line_becomes_sentences_with_the_ids_they_cite_and_no_stage() -> None:
    assert Observation(
        case_id="t1",
        config_id="run",
        question="why?",
        answer="So it is. Or not.",
        citations=("p1", "p3"),
        sentences=(Sentence("So it is.", ("p3", "p1")), Sentence("Or not.")),
    ) == decode_trec_rag(line())


def test_a_reference_listed_twice_is_one_citation() -> None:
    answer = [{"text": "a", "citations": [0, 1]}]
    assert ("p",) == decode_trec_rag(line(references=["p", "p"], answer=answer)).citations


def test_an_answer_without_sentences_is_empty_and_cites_nothing() -> None:
    empty = decode_trec_rag(line(answer=[], references=[]))
    assert ("", (), ()) == (empty.answer, empty.citations, empty.sentences)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer": [{"text": "a", "citations": [3]}]}, r"No such reference; .* - at `\$.answer\[0\].citations\[0\]`"),
        ({"answer": [{"text": "a", "citations": [-1]}]}, r">= 0 - at `\$.answer\[0\].citations\[0\]`"),
        ({"answer": [{"text": "a", "citations": ["0"]}]}, r"got `str` - at `\$.answer\[0\].citations\[0\]`"),
        ({"answer": [{"text": "a"}]}, r"missing required field `citations` - at `\$.answer\[0\]`"),
        ({"answer": "text"}, r"got `str` - at `\$.answer`"),
        ({"answer": None}, r"got `null` - at `\$.answer`"),
        ({"topic_id": 7}, r"got `int` - at `\$.topic_id`"),
    ],
)
def test_a_bad_line_is_refused_with_the_place(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=message):
        decode_trec_rag(line(**changes))


@pytest.mark.parametrize("system", ["command-r-plus", "gpt-4o", "l31_70b_instruct"])
def test_a_real_run_is_read_whole(test_data: Path, system: str) -> None:
    folder = test_data / "trec-rag24"
    lines = (folder / f"answers_{system}.jsonl").read_bytes().splitlines()
    read = [decode_trec_rag(each) for each in lines]
    topics = {each.split("\t")[0] for each in (folder / "topics.tsv").read_text(encoding="utf-8").splitlines()}
    assert 301 == len(read)
    assert topics == {each.case_id for each in read}
    assert 1 == len({each.config_id for each in read})
    for each, raw in zip(read, map(json.loads, lines), strict=True):
        assert len(raw["answer"]) == len(each.sentences or ())
        assert set(each.citations or ()) == {cited for piece in each.sentences or () for cited in piece.citations}
        assert each.stages is None
