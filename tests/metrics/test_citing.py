"""What names stand for, one by one and many at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics.answers import make_parsed_answer

from assay.metrics.cases.case_index import MAX_DOCUMENT_CHUNKS, find_cited_positions, find_cited_texts, resolve_citation
from assay.records.golden_set import Corpus, CorpusChunk
from assay.records.observations import Chunk, Sentence, Stage

NAMES = st.text(alphabet="ab:#/", max_size=4)


@pytest.mark.slow
@given(st.sets(NAMES, max_size=6), st.lists(NAMES.filter(bool), max_size=8), st.dictionaries(NAMES, NAMES, max_size=4))
def test_many_names_mean_what_each_of_them_means(names: set[str], ids: list[str], documents: dict[str, str]) -> None:
    corpus = Corpus({chunk_id: CorpusChunk(chunk_id, document=document) for chunk_id, document in documents.items()})
    for known_corpus in (None, corpus):
        positions_by_name = {
            name: [at for at, chunk_id in enumerate(ids) if resolve_citation(name, chunk_id, known_corpus)]
            for name in names
        }
        assert {name: places for name, places in positions_by_name.items() if places} == find_cited_positions(
            names, ids, known_corpus
        )


def test_of_the_corpus_a_name_means_its_chunk_or_the_first_of_its_document() -> None:
    chunks = [CorpusChunk(f"hr:{n}", text=f"text {n}") for n in range(30)] + [CorpusChunk("it", document="IT")]
    corpus = Corpus({chunk.chunk_id: chunk for chunk in chunks})
    texts = find_cited_texts({"hr", "hr:7", "IT", "it", "x"}, corpus)
    assert (MAX_DOCUMENT_CHUNKS, {"hr:7": "text 7"}) == (len(texts["hr"]), texts["hr:7"])
    assert ({"it": ""}, {"it": ""}, {}) == (texts["IT"], texts["it"], texts["x"])
    assert {"x": {}} == find_cited_texts({"x"}, None)


def test_a_citation_means_the_context_before_other_stages_and_these_before_the_corpus() -> None:
    shown = Stage("retrieved", (Chunk("a:1", text="retrieved a"), Chunk("b:1", text="retrieved b")))
    context = Stage("context", (Chunk("a:2", text="context a"),))
    corpus = Corpus({citation: CorpusChunk(citation, text=f"corpus {citation}") for citation in ("a:3", "b:3", "c:3")})
    parsed = make_parsed_answer("It holds [d:4].", corpus=corpus, stages=(shown, context), citations=("a", "b", "c"))
    assert [
        ("c1.1", "d:4", {}),
        ("c1.2", "a", {"a:2": "context a"}),
        ("c1.3", "b", {"b:1": "retrieved b"}),
        ("c1.4", "c", {"c:3": "corpus c:3"}),
    ] == [(citation.id, citation.name, citation.texts) for citation in parsed.citations]


def test_reported_sentences_cite_for_the_claims_that_they_overlap() -> None:
    reported = ("Staff get 12 days.", "Five days carry over."), (("leave",), ("carry",))
    sentences = tuple(Sentence(text, names) for text, names in zip(*reported, strict=True))
    parsed = make_parsed_answer(
        "Staff get 12 days. Laptops are replaced. Five days carry over.", sentences=sentences, citations=()
    )
    assert [("c1", "leave"), ("c3", "carry")] == [
        (citation.claim and citation.claim.id, citation.name) for citation in parsed.citations
    ]
