"""The corpus: read strictly, with both sets of member names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.formats.golden_rows import FIVE_ROWS, jsonl, saved

from assay.formats.corpus import find_stale_evidence, load_corpus
from assay.formats.golden_files import load_golden
from assay.records.digest import compute_text_digest
from assay.records.errors import InputError, Problem
from assay.records.golden_set import Corpus, CorpusChunk

TEXT = "Người làm toàn thời gian có 12 ngày phép năm."
FULL: dict[str, Any] = {
    "chunk_id": "hr_leave_policy:v2026-01:003",
    "text": TEXT,
    "text_hash": compute_text_digest(TEXT),
    "document_id": "hr_leave_policy",
    "document_version": "v2026-01",
    "section_path": ["Leave", "Annual"],
    "page_start": 2,
    "page_end": 4,
    "acl_roles": ["employee", "hr"],
    "tenant_id": "company_a",
    "chunking_strategy": "by-heading",
    "index_version": "i7",
    "valid_from": "2026-01-01",
    "valid_to": "2027-01-01T00:00:00+07:00",
    "kind": "text",
    "metadata": {"lines": [1, 2]},
    "x_parser": "p2",
}
RECORD = CorpusChunk(
    chunk_id="hr_leave_policy:v2026-01:003",
    text=TEXT,
    text_hash=compute_text_digest(TEXT),
    document="hr_leave_policy",
    version="v2026-01",
    section="Leave > Annual",
    pages=(2, 3, 4),
    tenant="company_a",
    roles=("employee", "hr"),
    valid_from="2026-01-01",
    valid_to="2027-01-01T00:00:00+07:00",
    kind="text",
    chunking_strategy="by-heading",
    index_version="i7",
    metadata={"lines": [1, 2], "x_parser": "p2"},
)


def load(folder: Path, *rows: dict[str, Any]) -> tuple[Corpus, tuple[Problem, ...]]:
    return load_corpus(saved(folder, jsonl(*rows), "chunks.jsonl"))


def chunk(**changes: Any) -> dict[str, Any]:
    return {name: value for name, value in {**FULL, **changes}.items() if value is not ...}


def test_both_spellings_give_the_same_chunk(tmp_path: Path) -> None:
    names = {"document_id": "document", "document_version": "version", "section_path": "section"}
    names |= {"acl_roles": "roles", "tenant_id": "tenant"}
    own = {names.get(name, name): value for name, value in FULL.items() if name not in ("page_start", "page_end")}
    own |= {"pages": [2, 3, 4], "section": "Leave > Annual"}
    first, second = load(tmp_path, FULL), load(tmp_path, own)
    assert ({RECORD.chunk_id: RECORD}, ()) == (first[0].chunks, first[1])
    assert first == second


def test_a_chunk_needs_nothing_but_its_id(tmp_path: Path) -> None:
    corpus, _ = load(tmp_path, {"chunk_id": "c"})
    assert {"c": CorpusChunk("c")} == corpus.chunks


def test_the_digest_is_that_of_the_content_in_any_order(tmp_path: Path) -> None:
    one, other = chunk(), chunk(chunk_id="b")
    digest = load(tmp_path, one, other)[0].digest
    assert digest == load(tmp_path, other, one)[0].digest
    windows = saved(tmp_path, b"\xef\xbb\xbf" + jsonl(one, other).replace(b"\n", b"\r\n"), "chunks.jsonl")
    assert digest == load_corpus(windows)[0].digest
    assert digest != load(tmp_path, one, chunk(chunk_id="b", tenant_id="company_b"))[0].digest


def test_names_are_stored_in_nfc_and_counted(tmp_path: Path) -> None:
    decomposed, composed = "phe\u0301p", "phép"
    names = ("document_id", "document_version", "tenant_id", "kind")
    row = chunk(chunk_id=decomposed, acl_roles=[decomposed], **dict.fromkeys(names, decomposed))
    corpus, warnings = load(tmp_path, row)
    corpus_chunk = corpus.chunks[composed]
    assert [composed] * 4 == [corpus_chunk.document, corpus_chunk.version, corpus_chunk.tenant, corpus_chunk.kind]
    assert (composed,) == corpus_chunk.roles
    assert ["E_NFC"] == [warning.code for warning in warnings]


def test_ids_that_people_mistake_for_each_other_are_doubtful(tmp_path: Path) -> None:
    _, warnings = load(tmp_path, {"chunk_id": "Doc:1"}, {"chunk_id": "doc:1"}, {"chunk_id": "x\u200b"})
    assert [(2, "E_ID_CONFUSABLE"), (3, "E_ID_INVISIBLE")] == [(problem.line, problem.code) for problem in warnings]


@pytest.mark.parametrize(
    ("changes", "field", "code", "message"),
    [
        ({"chunk_id": ...}, "chunk_id", "E_MISSING", "missing (got no 'chunk_id'; expected a string)"),
        ({"chunk_id": 3}, "chunk_id", "E_TYPE", "wrong type (got 3; expected a string)"),
        ({"chunk_id": ""}, "chunk_id", "E_ID", "empty (got ''; expected a name)"),
        ({"acl_roles": ["hr", 1]}, "acl_roles[1]", "E_TYPE", "wrong type (got 1; expected a string)"),
        ({"tenant": "company_b"}, "tenant", "E_KEY_TWICE", "got 'company_b' and 'company_a'; expected one value"),
        ({"roles": ["x"]}, "roles", "E_KEY_TWICE", "expected one value"),
        ({"teant_id": "x"}, "teant_id", "E_UNKNOWN_FIELD", "got 'teant_id'; expected 'tenant_id'?"),
        ({"text": "else"}, "text_hash", "E_HASH", f"expected {compute_text_digest('else')}"),
        ({"text_hash": "abc"}, "text_hash", "E_HASH", "got 'abc'; expected sha256: and 64 hexadecimal digits"),
        ({"valid_from": "1/2/2026"}, "valid_from", "E_DATE", "got '1/2/2026'; expected a date such as 2026-02-01"),
        ({"valid_from": "2026-01-01T08:00"}, "valid_from", "E_DATE", "or a time with its offset from UTC"),
        ({"valid_to": "2025-12-31"}, "valid_to", "E_DATE", "got 2025-12-31; expected a time after valid_from 2026"),
        ({"page_end": 1}, "page_start", "E_PAGES", "page_start 2, page_end 1; expected pages, or"),
        ({"page_start": ...}, "page_start", "E_PAGES", "page_start None, page_end 4"),
        ({"page_start": 0}, "page_start", "E_RANGE", "got 0; expected an integer of 1 or more"),
        ({"page_start": 2.0}, "page_start", "E_TYPE", "got 2.0; expected an integer"),
        ({"position": True}, "position", "E_TYPE", "got True; expected a number"),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, changes: dict[str, Any], field: str, code: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, {"chunk_id": "sound"}, chunk(**changes))
    (problem,) = caught.value.problems
    assert (2, field, code) == (problem.line, problem.field, problem.code)
    assert message in problem.message


def test_many_brackets_are_not_deep_ones(tmp_path: Path) -> None:
    corpus, _ = load(tmp_path, {"chunk_id": "a", "text": "[" * 200, "metadata": {"a": [[]] * 200}})
    assert {"a": [[]] * 200} == corpus.chunks["a"].metadata


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "E_EMPTY"),
        (b'{"chunk_id": "a"}\n{"chunk_id": "a"}\n', "E_DUPLICATE_ID"),
        ('{"chunk_id": "e\u0301"}\n{"chunk_id": "\u00e9"}\n'.encode(), "E_DUPLICATE_ID"),
        (b'{"chunk_id": "a", "text": "\xff"}', "E_ENCODING"),
        (b'{"chunk_id": "a", "text": "\\ud800"}', "E_SURROGATE"),
        (b'{"chunk_id": "a", "position": 1e999}', "E_NUMBER"),
        (b'{"chunk_id": "a", "position": NaN}', "E_NUMBER"),
        (b'{"chunk_id": "a", "metadata": {"a": ' + b"[" * 5000 + b"]" * 5000 + b"}}", "E_DEPTH"),
        (b'{"chunk_id": "a"', "E_JSON"),
        (b'["a"]', "E_ROW"),
        (b'{"chunk_id": "a", "text": "' + b"x" * 2**24 + b'"}', "E_LINE_TOO_LONG"),
    ],
)
def test_broken_files_are_refused(tmp_path: Path, content: bytes, code: str) -> None:
    with pytest.raises(InputError) as caught:
        load_corpus(saved(tmp_path, content, "chunks.jsonl"))
    assert [code] == [problem.code for problem in caught.value.problems]


def test_labels_that_the_corpus_does_not_hold_are_stale(tmp_path: Path) -> None:
    """A stale label is an error of the golden set, never a retrieval miss."""
    golden = load_golden(saved(tmp_path, jsonl(*FIVE_ROWS))).golden
    corpus, _ = load(tmp_path, *[{"chunk_id": chunk_id} for chunk_id in ("hr_leave_policy:003", "sales_handbook:007")])
    stale = find_stale_evidence(golden, corpus, "golden.jsonl")
    expected = [("api_002", "product_api_docs:004"), ("sales_004", "support_sla_policy:007")]
    expected.append(("sales_004", "sales_handbook:001"))
    assert [(f"{case}: evidence", "E_STALE_GOLD") for case, _ in expected] == [
        (problem.field, problem.code) for problem in stale
    ]
    assert all(chunk_id in problem.message for (_, chunk_id), problem in zip(expected, stale, strict=True))


def test_a_title_goes_to_the_metadata_and_may_select_evidence(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    rows: list[dict[str, Any]] = [
        {"chunk_id": "a", "text": "Tents cost 45 euros.", "title": "Prices"},
        {
            "chunk_id": "b",
            "text": "Stoves cost 9 euros.",
            "metadata": {"title": "Prices", "lines": 3},
            "title": "Prices",
        },
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus, warnings = load_corpus(path)
    assert () == warnings
    assert [{"title": "Prices"}, {"title": "Prices", "lines": 3}] == [
        chunk.metadata for chunk in corpus.chunks.values()
    ]
    path.write_text(json.dumps(rows[1] | {"title": "Rents"}) + "\n")
    with pytest.raises(InputError, match="title: E_KEY_TWICE given in two spellings"):
        load_corpus(path)
