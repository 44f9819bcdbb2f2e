"""The table of golden-set formats, in the order in which help and errors list them."""

from __future__ import annotations

from assay.io.goldens import answer_csv, code, native, pools, rag, rubric, stable_key
from assay.io.goldens.base import Form

FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        Form(
            "assay",
            "native records: JSON Lines of cases, or one JSON golden set",
            native.read,
            decisive=native.DECISIVE,
            needs_question=False,
        ),
        Form(
            "rag-golden",
            "JSON Lines with expected_chunk_ids, relevance, expected_behavior",
            rag.read,
            decisive=rag.DECISIVE,
            fields=rag.FIELDS,
        ),
        Form(
            "rag-qrels",
            "JSON Lines with query_id and relevant_chunks",
            rag.read_qrels,
            decisive=rag.QRELS_DECISIVE,
            fields=rag.QRELS_FIELDS,
            needs_question=False,
        ),
        Form(
            "answer-csv",
            "CSV with question_id, expected_answer, expected_citations, must_refuse",
            answer_csv.read,
            fields=answer_csv.FIELDS,
        ),
        Form(
            "code-benchmark",
            "JSON Lines with gold_answer, expected_files, expected_symbols",
            code.read,
            decisive=code.DECISIVE,
            fields=code.FIELDS,
        ),
        Form(
            "stable-key",
            "JSON Lines with keys, or a folder of retrieval.jsonl, qa.jsonl, refusal.jsonl",
            stable_key.read,
            decisive=stable_key.DECISIVE,
            fields=stable_key.FIELDS,
        ),
        Form(
            "rubric",
            "JSON Lines with correct_keywords and incorrect_patterns",
            rubric.read,
            decisive=rubric.DECISIVE,
            fields=rubric.FIELDS,
        ),
        Form(
            "trec-qrels",
            "four columns: query, iteration, chunk, grade",
            pools.read_trec,
            fields={"id": "query", "evidence": "chunk"},
            judgments="partial",
            needs_question=False,
        ),
        Form(
            "beir",
            "a folder with queries.jsonl and qrels/<split>.tsv",
            pools.read_beir,
            fields={"id": "_id", "question": "text", "evidence": "corpus-id"},
            judgments="partial",
        ),
    )
}
