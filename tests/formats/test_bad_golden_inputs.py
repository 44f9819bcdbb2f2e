"""Golden sets with one fault each: the message names the line, the field, the value and what was expected."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.formats.golden_rows import ACL_003, HR_LEAVE_001, NO_ANSWER_001, QA_CSV, jsonl, row, saved

from assay.formats.file_io import MAX_LINE_BYTES
from assay.formats.golden_files import load_golden
from assay.records.errors import InputError

pytestmark = pytest.mark.slow


class Bad(NamedTuple):
    """A file that must be refused: the place of the fault, its code, and what the message says was got and expected."""

    content: bytes
    line: int | None
    field: str
    code: str
    got: str
    expected: str
    name: str = "golden.jsonl"


def raw(text: str) -> bytes:
    """Return a sound row followed by one with `text` in place of the difficulty's value."""
    sound = jsonl(row(id="sound", question="Another question?"))
    return sound + jsonl(row(difficulty="@")).replace(b'"@"', text.encode("utf-8", "surrogatepass"))


def second(**changes: Any) -> bytes:
    """Return a sound row followed by one with the changes."""
    return jsonl(row(id="sound", question="Another question?"), row(**changes))


def csv(*lines: str) -> bytes:
    """Return the header and lines of an `answer-csv` file."""
    return "\n".join([QA_CSV.partition("\n")[0], *lines]).encode()


NATIVE = {"id": "n", "question": "What?", "reference": "That"}

BAD = [
    Bad(b"", None, "", "E_EMPTY", "got no content", "expected cases"),
    Bad(b"\n  \n\r\n", None, "", "E_EMPTY", "got no content", "expected cases"),
    Bad(b"# one\n// two\n\n", None, "", "E_EMPTY", "got no content", "expected cases"),
    Bad(jsonl({"golden_set": {"name": "x"}}), None, "", "E_EMPTY", "got no case", "expected at least one"),
    Bad(csv(), None, "", "E_EMPTY", "got no case", "expected at least one", "qa.csv"),
    Bad(b"[]", None, "", "E_EMPTY", "got no case", "expected at least one", "set.json"),
    Bad(jsonl(HR_LEAVE_001).decode().encode("utf-16"), 1, "", "E_ENCODING", "UTF-16", "expected UTF-8"),
    Bad(jsonl(row()) + b'{"id": "caf\xe9"}', 2, "", "E_ENCODING", "got byte 0xe9 at byte offset", "expected UTF-8"),
    Bad(csv("q1,caf\xe9,,,,").decode().encode("latin-1"), 2, "", "E_ENCODING", "0xe9", "expected UTF-8", "qa.csv"),
    Bad(raw('"a\rb"'), 2, "", "E_JSON", "Invalid control character", "expected one JSON object on each line"),
    Bad(jsonl(row(), row(id="b"))[:-40], 2, "", "E_JSON", "got ", "expected one JSON object on each line"),
    Bad(jsonl(row()) + b'{"id": "b", ', 2, "", "E_JSON", "the end of the text, as if cut off", "expected one JSON"),
    Bad(raw('"' + "x" * MAX_LINE_BYTES + '"'), 2, "", "E_LINE_TOO_LONG", "got more than", "expected 16777216"),
    Bad(raw("[" * 101 + "]" * 101), 2, "", "E_DEPTH", "got more than 100 levels", "expected 100 at most"),
    Bad(raw('{"a":' * 200_000 + "1" + "}" * 200_000), 2, "", "E_DEPTH", "more than 100 levels", "expected 100"),
    Bad(raw("9" * 5000), 2, "difficulty", "E_NUMBER", "got 5000 characters", "expected 100 at most"),
    Bad(raw("1." + "9" * 5000), 2, "difficulty", "E_NUMBER", "got 5002 characters", "expected 100 at most"),
    Bad(raw("NaN"), 2, "difficulty", "E_NUMBER", "got NaN", "expected a number that JSON can hold"),
    Bad(raw('{"a": [-Infinity]}'), 2, "difficulty.a[0]", "E_NUMBER", "got -Infinity", "expected a number"),
    Bad(raw("1e999"), 2, "difficulty", "E_NUMBER", "got 1e999", "expected a number that JSON can hold"),
    Bad(raw('"easy", "id": "b"'), 2, "id", "E_KEY_TWICE", "got 'id' again", "expected it once"),
    Bad(raw('{"a": {"k": 1, "k": 1}}'), 2, "difficulty.a.k", "E_KEY_TWICE", "got 'k' again", "expected it once"),
    Bad(jsonl(row(), ["a"]), 2, "", "E_ROW", "got ['a']", "expected a JSON object"),
    Bad(jsonl(row(), "text"), 2, "", "E_ROW", "got 'text'", "expected a JSON object"),
    Bad(jsonl(row(), None), 2, "", "E_ROW", "got None", "expected a JSON object"),
    Bad(json.dumps([row(), 3]).encode(), None, "[1]", "E_ROW", "got 3", "expected a case", "set.json"),
    Bad(json.dumps([row()]).encode(), 1, "", "E_FORMAT", "one JSON list", "a name that ends in .json"),
    Bad(QA_CSV.encode(), 1, "", "E_FORMAT", "CSV under the name of JSON Lines", "a name that ends in .csv"),
    Bad(jsonl({"query_id": "q", "config_id": "c"}), None, "", "E_FORMAT", "like recorded outputs", "rag-golden"),
    Bad(jsonl({"chunk_id": "c", "text": "t"}), None, "", "E_FORMAT", "like a corpus", "rag-golden"),
    Bad(b"1 Q0 d 1 0.5 run\n", 1, "", "E_FORMAT", "like a TREC run", "trec-qrels", "run.txt"),
    Bad(b"golden: x\n", 1, "", "E_FORMAT", "like YAML settings", "rag-golden", "assay.yaml"),
    Bad(b"PK\x03\x04rest", None, "", "E_FORMAT", "a zip archive or a workbook", "CSV UTF-8", "qa.xlsx"),
    Bad(gzip.compress(b"{}"), None, "", "E_FORMAT", "gzip data", "a name that ends in .gz"),
    Bad(csv("q,w,a,c,false,n,more"), 2, "", "E_CELLS", "got 7", "expected 6 as in the header", "qa.csv"),
    Bad(csv('q,"a', 'b",c,,false,n', '"open,,,,,'), 4, "", "E_CSV", "unexpected end of data", "RFC 4180", "qa.csv"),
    Bad(csv('q,"a', 'b",c,,no,n'), 2, "must_refuse", "E_ENUM", "got 'no'", "expected true or false", "qa.csv"),
    Bad(csv('q1,"a', 'b",c,,false,n', "q2, ,c,,false,n"), 4, "question", "E_QUESTION", "' '", "words", "qa.csv"),
    Bad(b"qa-1,Why?,x,,false,\n", 1, "", "E_HEADER", "got ['qa-1'", "expected the columns question_id", "qa.csv"),
    Bad(QA_CSV.replace("notes", "notes,note", 1).encode(), 1, "note", "E_UNKNOWN_FIELD", "'note'", "'notes'?",
        "qa.csv"),
    Bad(QA_CSV.replace("must_refuse,", "", 1).encode(), 1, "must_refuse", "E_MISSING", "got ['question_id'",
        "must_refuse", "qa.csv"),
    Bad(csv("q,w,a,c;;d,false,n"), 2, "expected_citations[1]", "E_ID", "got ''", "expected a name", "qa.csv"),
    Bad(second(expected_chunk_id=["a:1"]), 2, "expected_chunk_id", "E_UNKNOWN_FIELD", "'expected_chunk_id'",
        "expected 'expected_chunk_ids'?"),
    Bad(second(colour="red"), 2, "colour", "E_UNKNOWN_FIELD", "got 'colour'", "or an x_ name"),
    Bad(second(user_context={"tenant": "a"}), 2, "user_context.tenant", "E_UNKNOWN_FIELD", "'tenant'",
        "expected 'tenant_id'?"),
    Bad(second(id=...), 2, "id", "E_MISSING", "got no 'id'", "expected a string"),
    Bad(second(question=...), 2, "question", "E_MISSING", "got no 'question'", "expected a string"),
    Bad(second(question=""), 2, "question", "E_QUESTION", "got ''", "expected the words"),
    Bad(second(question=" \n\u3000"), 2, "question", "E_QUESTION", r"got ' \n\u3000'", "expected the words"),
    Bad(second(expected_answer="  "), 2, "expected_answer", "E_REFERENCE", "got '  '", "expected an answer"),
    Bad(jsonl({**NATIVE, "question": "", "behaviour": "answer"}), 1, "question", "E_QUESTION", "''", "the words"),
    *[
        Bad(second(id=value), 2, "id", "E_TYPE", f"got {value!r}", "expected a string")
        for value in (1, 1.0, True, None, ["a"])
    ],
    Bad(second(expected_chunk_ids=["a", 3]), 2, "expected_chunk_ids[1]", "E_TYPE", "got 3", "expected a string"),
    Bad(jsonl(row(), row(question="Another?")), 2, "id", "E_DUPLICATE_ID", "'hr_leave_001' again",
        "golden.jsonl:1"),
    Bad(jsonl(row(id="ph\u00e9p"), row(id="phe\u0301p")), 2, "id", "E_DUPLICATE_ID", "after NFC", "golden.jsonl:1"),
    Bad(second(relevance={"\u00e9": 1, "e\u0301": 1}, expected_chunk_ids=[], must_cite=[]), 2, "relevance",
        "E_DUPLICATE_ID", "after NFC normalisation", "expected each chunk once"),
    Bad(second(id="a\x00b"), 2, "id", "E_ID", r"got 'a\x00b'", "expected printable"),
    Bad(second(id="a\nb"), 2, "id", "E_ID", r"got 'a\nb'", "expected printable"),
    Bad(second(id="a\u2028b"), 2, "id", "E_ID", r"got 'a\u2028b'", "expected printable"),
    Bad(second(id="đ" * 129), 2, "id", "E_ID", "got 258 bytes", "expected 256 at most"),
    Bad(second(id=""), 2, "id", "E_ID", "got ''", "expected a name"),
    Bad(second(tags=["a\tb"]), 2, "tags[0]", "E_ID", r"got 'a\tb'", "expected printable"),
    Bad(raw(r'"\ud800"'), 2, "difficulty", "E_SURROGATE", r"got \ud800", "expected a whole character"),
    Bad(raw(r'{"\udfff": 1}'), 2, r'difficulty["\udfff"]', "E_SURROGATE", r"got \udfff", "expected a whole"),
    *[
        Bad(second(relevance={"hr_leave_policy:003": value}), 2, 'relevance["hr_leave_policy:003"]', "E_TYPE",
            f"got {value!r}", "expected an integer from 0 to 10")
        for value in ("3", "1.9", "yes", 3.0, True, None, [3])
    ],
    Bad(second(relevance={"c": -1}), 2, "relevance.c", "E_RANGE", "got -1", "expected an integer from 0 to 10"),
    Bad(second(relevance={"c": 11}), 2, "relevance.c", "E_RANGE", "got 11", "expected an integer from 0 to 10"),
    Bad(second(relevance={"c": 10**99}), 2, "relevance.c", "E_RANGE", "got 10000", "an integer from 0 to 10"),
    Bad(second(relevance={"c": 0}, expected_chunk_ids=[], must_cite=[]), 2, "expected_chunk_ids", "E_UNANSWERABLE",
        "got no grade above 0", "expected one, or behaviour abstain"),
    Bad(second(relevance={"hr_leave_policy:003": 0}), 2, "expected_chunk_ids[0]", "E_GRADE",
        "got 'hr_leave_policy:003' with grade 0", "expected a grade from 1 to 10"),
    Bad(second(relevance={"x:1": 3}, must_cite=[]), 2, "expected_chunk_ids[0]", "E_GRADE",
        "got 'hr_leave_policy:003' with no grade", "expected a grade from 1 to 10"),
    Bad(jsonl({**NO_ANSWER_001, "expected_chunk_ids": ["a:1"]}), 1, "expected_chunk_ids", "E_BEHAVIOUR",
        "got ['a:1']", "expected none"),
    Bad(jsonl({**NO_ANSWER_001, "relevance": {"a:1": 2}}), 1, "expected_chunk_ids", "E_BEHAVIOUR", "got ['a:1']",
        "expected none"),
    Bad(jsonl({**NO_ANSWER_001, "must_cite": ["a"]}), 1, "must_cite", "E_BEHAVIOUR", "got ['a']", "expected none"),
    Bad(second(expected_chunk_ids=[], relevance={}, must_cite=[], expected_answer=None), 2, "expected_chunk_ids",
        "E_NO_GOLD", "got no evidence and no reference", "expected either"),
    Bad(jsonl({**ACL_003, "user_context": None}), 1, "user_context", "E_BEHAVIOUR", "got None",
        "expected who asks"),
    Bad(jsonl({**ACL_003, "user_context": {"locale": "vi"}}), 1, "user_context", "E_BEHAVIOUR", "locale='vi'",
        "expected who asks"),
    Bad(jsonl({**ACL_003, "expected_chunk_ids": [], "relevance": {}}), 1, "expected_chunk_ids", "E_BEHAVIOUR",
        "got none", "expected the ids that this user may not see"),
    Bad(second(must_cite=["leave"]), 2, "must_cite[0]", "E_MUST_CITE", "got 'leave'", "hr_leave_policy:003"),
    Bad(second(must_cite=["hr_leave_policy:00"]), 2, "must_cite[0]", "E_MUST_CITE", "'hr_leave_policy:00'",
        "its part before : # or /"),
    Bad(second(must_cite=["hr_leave_policy:003:p1"]), 2, "must_cite[0]", "E_MUST_CITE", "003:p1", "expected an id"),
    Bad(csv("q,w,,bill-1,true,n"), 2, "expected_citations", "E_BEHAVIOUR", "got ['bill-1']",
        "expected none, or must_refuse false", "qa.csv"),
    Bad(second(expected_behavior="refuse"), 2, "expected_behavior", "E_ENUM", "got 'refuse'",
        "expected one of abstain, answer, clarify, escalate, permission_denied"),
    Bad(second(difficulty="Easy"), 2, "difficulty", "E_ENUM", "got 'Easy'", "one of easy, hard, medium, unknown"),
    Bad(second(tags="hr"), 2, "tags", "E_TYPE", "got 'hr'", "expected a list, each item a string"),
    Bad(second(tags=[f"t{i}" for i in range(10_000)]), 2, "tags", "E_TAGS", "got 10000", "expected 100 at most"),
    Bad(second(tags=["hr", ""]), 2, "tags[1]", "E_ID", "got ''", "expected a name"),
    Bad(jsonl(row(schema_version=1), row(id="b")), 2, "schema_version", "E_SCHEMA_VERSION", "got none",
        "expected 1, as at line 1"),
    Bad(jsonl(row(schema_version=2)), 1, "schema_version", "E_SCHEMA_VERSION", "got 2", "upgrade rag-assay"),
    Bad(jsonl({"golden_set": {"schema_version": 9}}, row()), 1, "golden_set.schema_version", "E_SCHEMA_VERSION",
        "got 9", "expected 1 at most: upgrade"),
    Bad(b"id,question,ground_truth\n1,Why?,12\n", 1, "", "E_HEADER", "another table of questions (got ['id'",
        "makes a golden set of rows", "qa.csv"),
    Bad(b'[{"question": "Why?", "answer": "12"}]', None, "", "E_FORMAT", "rows with question, answer; `assay init",
        "makes a golden set of rows", "qa.json"),
    Bad(jsonl({**NATIVE, "evidence": ["c1"]}), 1, "evidence[0]", "E_EVIDENCE", "an id or a text? (got 'c1'",
        'expected {"chunk_id": "c1"}, or {"quote": "c1"}'),
    Bad(jsonl({**NATIVE, "evidence": [["c1", "c2"]]}), 1, "evidence[0]", "E_EVIDENCE", "got ['c1', 'c2']",
        'expected {"any_of": [{"chunk_id": "c1"}, {"chunk_id": "c2"}]}'),
    Bad(jsonl({**NATIVE, "evidence": [{"any_of": ["c1"]}]}), 1, "evidence[0]", "E_EVIDENCE", "got ['c1']",
        'expected {"any_of": [{"chunk_id": "c1"}]}'),
    Bad(jsonl({**NATIVE, "evidence": [{"document": "leave", "text": "12 days", "passage": "Staff"}]}), 1, "evidence[0]",
        "E_EVIDENCE", "a unit without any_of",
        'expected {"document": "leave", "quote": "12 days"}, and beside any_of only'),
    Bad(jsonl({**NATIVE, "evidence": [{"quote": "12 days", "text": "Staff have 12 days."}]}), 1, "evidence[0]",
        "E_EVIDENCE", "a unit without any_of", 'expected {"quote": "12 days"}'),
    Bad(jsonl({**NATIVE, "evidence": [{"chunk_id": "c1", "quote": "12 days", "text_hash": "sha256:0"}]}), 1,
        "evidence[0]", "E_EVIDENCE", "a unit without any_of", 'expected {"chunk_id": "c1", "quote": "12 days"}'),
    Bad(jsonl({**NATIVE, "evidence": [{"doc_id": "c1"}]}), 1, "evidence[0]", "E_EVIDENCE",
        "the id of a chunk or of a document?",
        'expected {"chunk_id": "c1"} for what the search returns under this id, or {"document": "c1"}'),
    Bad(jsonl({**NATIVE, "evidence": [{"source": "leave", "page": 3}]}), 1, "evidence[0]", "E_EVIDENCE",
        "the id of a chunk or of a document?", 'or {"document": "leave", "page": 3} for any chunk'),
    Bad(jsonl({**NATIVE, "evidence": [{"id": "c1", "quote": "12 days"}]}), 1, "evidence[0]", "E_EVIDENCE",
        'expected {"chunk_id": "c1", "quote": "12 days"} for', 'or {"document": "c1", "quote": "12 days"}'),
    Bad(jsonl({**NATIVE, "evidence": [{"chunk_ids": "c1"}]}), 1, "evidence[0]", "E_EVIDENCE",
        "a unit without any_of", 'expected {"chunk_id": "…"}'),
    Bad(jsonl({**NATIVE, "evidence": "c1"}), 1, "evidence", "E_TYPE", "got 'c1'", '[{"chunk_id": "…"}]'),
    Bad(jsonl({**NATIVE, "evidence": {"document": "leave"}}), 1, "evidence", "E_TYPE", "no list",
        'expected units in brackets: [{"document": "leave"}]'),
    Bad(jsonl({**NATIVE, "forbidden": ["c1"]}), 1, "forbidden[0]", "E_EVIDENCE", "an id without a field (got 'c1'",
        'expected {"chunk_id": "c1"}'),
    Bad(jsonl({**NATIVE, "evidence": [{"chunk_id": ["c1"]}]}), 1, "evidence[0].any_of[0].chunk_id", "E_TYPE",
        "got ['c1']", "expected a string or an integer"),
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: " ".join(filter(None, (bad.code, bad.field, bad.got))))
def test_a_bad_golden_set_is_refused_with_place_value_and_remedy(tmp_path: Path, bad: Bad) -> None:
    path = saved(tmp_path, bad.content, bad.name)
    with pytest.raises(InputError) as caught:
        load_golden(path)
    assert 2 == caught.value.exit_code
    assert [(str(path), bad.line, bad.field, bad.code)] == [
        (problem.path, problem.line, problem.field, problem.code) for problem in caught.value.problems
    ]
    assert bad.got in caught.value.problems[0].message
    assert bad.expected in caught.value.problems[0].message
    str(caught.value).encode()
