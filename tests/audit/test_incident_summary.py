"""What an incident says first: whether the answer agrees with a near golden case, and where its evidence was lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.audit.test_show import EMPLOYEE, show_answer, write_corpus
from tests.audit.traffic import make_line, write_lines

from assay.audit.incident_file import build_incident_tables, render_incident_markdown

LOCKER = "A locker in the basement is rented for 18 euros a month."
GARAGE = "A place in the garage is rented for 75 euros a month."
KASSE = "Schließfächer im Keller: 18 Euro im Monat."
QUESTION = "How much is a locker in the basement per month?"
GOLDEN = {
    "id": "locker-price",
    "question": QUESTION,
    "must_have": ["18 euros"],
    "evidence": [{"any_of": [{"chunk_id": "locker-1"}]}],
}


def summarise(
    folder: Path, answer: str, stages: dict[str, list[str]], question: str = QUESTION, **case: Any
) -> tuple[str, ...]:
    """Return the first sentences on an answer with some chunks in each stage."""
    folder = folder / str(len(list(folder.iterdir())))  # a store of its own
    folder.mkdir()
    texts = {"locker_1": LOCKER, "garage_1": GARAGE, "kasse_1": KASSE}
    corpus = write_corpus(folder / "corpus.jsonl", **texts)
    golden = write_lines(folder / "golden.jsonl", [GOLDEN | case])
    by_id = {name.replace("_", "-"): text for name, text in texts.items()}
    recorded = [
        {"name": name, "chunks": [{"chunk_id": chunk_id, "text": by_id[chunk_id]} for chunk_id in ids]}
        for name, ids in stages.items()
    ]
    line = make_line(1, question=question, answer=answer, stages=recorded, citations=None, user=EMPLOYEE)
    incident = show_answer(folder, line, corpus=corpus, golden=golden)
    assert all(sentence in render_incident_markdown(incident).replace("\\", "") for sentence in incident.summary)
    (near,) = [table.rows for table in build_incident_tables(incident) if table.title == "Near golden cases"]
    assert near[0][4]
    return incident.summary


@pytest.mark.parametrize(
    ("stages", "place"),
    [
        ({"retrieved": ["garage-1"], "context": ["garage-1"]}, "was never retrieved"),
        (
            {"retrieved": ["garage-1", "locker-1"], "context": ["garage-1"]},
            "was retrieved (rank 2 of retrieved) and dropped before the context",
        ),
        ({"retrieved": ["locker-1"], "context": ["locker-1"]}, "was shown to the model"),
    ],
)
def test_a_wrong_answer_is_compared_with_the_golden_case_and_its_evidence_is_placed(
    stages: dict[str, list[str]], place: str, tmp_path: Path
) -> None:
    first, second, *_ = summarise(tmp_path, "A locker in the basement is 75 euros a month.", stages)
    assert first.startswith(
        "golden case locker-price, which asks the same, expects 18 euros: the answer does not agree"
    )
    assert "75 euros" in first
    assert f"its evidence locker-1 {place}" == second


def test_another_chunk_with_the_fact_that_was_dropped_is_named(tmp_path: Path) -> None:
    stages = {"retrieved": ["kasse-1", "garage-1"], "context": ["garage-1"]}
    sentences = summarise(tmp_path, "A locker in the basement is 75 euros a month.", stages)
    assert "kasse-1 has “18 euros”: retrieved, and dropped before the context" in sentences
    shown = {"retrieved": ["kasse-1"], "context": ["kasse-1"]}
    sentences = summarise(tmp_path, "A locker in the basement is 75 euros a month.", shown)
    assert not any("kasse-1" in sentence for sentence in sentences), "what was shown was not lost"


def test_a_right_answer_agrees_and_looks_for_no_evidence(tmp_path: Path) -> None:
    stages = {"retrieved": ["locker-1"], "context": ["locker-1"]}
    first, *others = summarise(tmp_path, LOCKER, stages, question=f"Please: {QUESTION}")
    assert "which asks nearly the same (0." in first
    assert first.endswith("expects 18 euros: the answer agrees")
    assert others == ["what was shown to the model supports its claim"]


def test_an_answer_where_none_is_expected_does_not_agree(tmp_path: Path) -> None:
    stages = {"retrieved": ["garage-1"], "context": ["garage-1"]}
    expected: dict[str, Any] = {"behaviour": "abstain", "must_have": [], "evidence": []}
    first, *_ = summarise(tmp_path, "A locker in the basement is 75 euros a month.", stages, **expected)
    assert "expects that the sources do not say it: the answer does not agree (read as answer)" in first
    refusal = "I could not find this in the documents."
    first, *_ = summarise(tmp_path, refusal, stages, **expected)
    assert first.endswith("the answer agrees")
    first, *_ = summarise(tmp_path, refusal, stages)
    assert first.endswith("expects 18 euros: the answer does not agree (read as abstain)")


def test_a_golden_case_of_another_user_is_named_as_such(tmp_path: Path) -> None:
    stages = {"retrieved": ["locker-1"], "context": ["locker-1"]}
    first, *_ = summarise(tmp_path, LOCKER, stages, user={"roles": ["landlord"]})
    assert "which asks the same of a user with other rights, expects" in first


def test_evidence_that_the_corpus_does_not_have_accuses_no_search(tmp_path: Path) -> None:
    stages = {"retrieved": ["locker-1"], "context": ["locker-1"]}
    label = [{"any_of": [{"chunk_id": "locker-of-another-cut"}]}]
    sentences = summarise(tmp_path, "It costs 75 euros.", stages, evidence=label)
    (sentence,) = [text for text in sentences if "locker-of-another-cut" in text]
    assert "is not in the corpus of that time" in sentence and "retrieved" not in sentence
