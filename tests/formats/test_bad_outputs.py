"""The catalogue of bad inputs, as far as it is about recorded outputs, through the real command.

Numbers are those of the catalogue's rows. Every message names `path:line: field`, shows the value, says what was
expected, and the exit code is 2.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.cli import main

pytestmark = pytest.mark.slow

GOLDEN = [
    {"id": "q1", "question": "How many days?", "expected_chunk_ids": ["a"]},
    {"id": "q2", "question": "Who approves?", "expected_chunk_ids": ["b"]},
]
GOOD: dict[str, Any] = {
    "query_id": "q1",
    "config_id": "c",
    "retrieved_chunks": ["a", "b"],
    "answer": "Twelve.",
    "versions": {"index": "1"},
}
OTHER = GOOD | {"query_id": "q2"}
Raw = str | bytes


def row(**changes: Any) -> str:
    return json.dumps(GOOD | changes)


def ranked(*chunks: dict[str, Any]) -> str:
    return row(retrieved_chunks=[{"chunk_id": f"c{place}"} | chunk for place, chunk in enumerate(chunks)])


def score(tmp_path: Path, content: Raw, *options: str) -> int:
    golden, outputs = tmp_path / "golden.jsonl", tmp_path / "outputs.jsonl"
    golden.write_text("".join(json.dumps(case) + "\n" for case in GOLDEN), encoding="utf-8")
    outputs.write_bytes(content if isinstance(content, bytes) else content.encode())
    return main(["score", "--golden", str(golden), "--outputs", str(outputs), *options])


REFUSED: list[tuple[int, str, Raw, str, tuple[str, ...]]] = [
    # row, name, line, field, what the message says
    (3, "latin-1", b'{"query_id": "q1", "answer": "caf\xe9"}', "", ("E_ENCODING", "byte 0xe9 at byte 34")),
    (6, "truncated", '{"query_id": "q1", "answer": "Twel', "", ("E_JSON", "Unterminated string")),
    (16, "misspelt answer", '{"query_id": "q1", "asnwer": "Twelve."}', "", ("no answer", "did you mean answer?")),
    (16, "answer under another name", '{"case_id": "q1", "bot_reply": "Twelve."}', "", ("no answer", "in bot_reply")),
    (8, "nested 100,000 deep", '{"query_id": "q1", "x": ' + "[" * 100_000 + "]" * 100_000 + "}", "", ("E_DEPTH",)),
    (9, "integer of 5,000 digits", row().replace('"Twelve."', "9" * 5000), "answer", ("E_NUMBER", "5000 characters")),
    (10, "NaN", row(cost_usd=float("nan")), "cost_usd", ("E_NUMBER", "got NaN")),
    (10, "infinity", row(x=float("inf")), "x", ("E_NUMBER", "got Infinity")),
    (11, "1e999", row(cost_usd=0).replace('"cost_usd": 0', '"cost_usd": 1e999'), "cost_usd", ("E_NUMBER", "1e999")),
    (13, "row is a list", "[1]\n" + row(), "", ("E_FORMAT", "a JSON array")),
    (13, "later row is a list", row() + "\n[1]", "", (":2: ", "E_TYPE", "got [1]; expected an object with query_id")),
    (13, "later row is null", row() + "\nnull", "", (":2: ", "got None; expected an object")),
    (14, "one JSON array", "[" + row() + ",\n" + row() + "]", "", ("E_FORMAT", "a JSON array", "JSON Lines")),
    (14, "JSON over several lines", json.dumps(GOOD, indent=1), "", ("E_FORMAT", "spread over several lines")),
    (14, "CSV", "query_id,answer\nq1,Twelve\n", "", ("E_FORMAT", "comma-separated values: 'query_id,answer'")),
    (17, "no id", row(query_id="q2") + "\n" + json.dumps({"queryid": "q1"}), "query_id", ("E_MISSING", "'queryid'?")),
    (17, "empty id", row(query_id=" "), "query_id", ("E_ID", "empty (got ' '")),
    (18, "integer id", row(query_id=1), "query_id", ("E_TYPE", "got 1; expected a string")),
    (18, "boolean id", row(query_id=True), "query_id", ("got True; expected a string",)),
    (18, "null id", row(query_id=None), "query_id", ("got None; expected a string",)),
    (25, "lone surrogate", row(answer="\ud800"), "answer", ("E_SURROGATE", "got \\ud800")),
    (42, "unknown case", row(query_id="q9"), "query_id", ("E_UNKNOWN_ID", "got 'q9'", "--ignore-unknown")),
    (45, "another question", row(question="Why?"), "question", ("E_QUESTION_MISMATCH", "'Why?'", "'How many days?'")),
    (46, "empty configuration", row(config_id=""), "config_id", ("E_ID", "empty (got ''")),
    (47, "list is a string", row(retrieved_chunks="a"), "retrieved_chunks", ("got 'a'; expected a list",)),
    (48, "chunk without id", row(retrieved_chunks=["a", {"chunkid": "b"}]), "retrieved_chunks[1].chunk_id",
     ("E_MISSING", "did you mean 'chunkid'?")),
    (48, "chunk is a number", row(context_chunks=["a", 5]), "context_chunks[1]", ("got 5", "chunk_id")),
    (48, "chunk with an empty id", row(context_chunks=[""]), "context_chunks[0].chunk_id", ("E_ID", "empty")),
    (51, "rank against the list", ranked({"rank": 2}, {"rank": 1}), "retrieved_chunks[0].rank",
     ("E_RANK_ORDER", "got 2; expected 1")),
    (51, "rank against the scores", ranked({"rank": 1, "score": 3.0}, {"rank": 2, "score": 2.0},
     {"rank": 3, "score": 5.0}, {"rank": 4, "score": 1.0}), "retrieved_chunks[2].score",
     ("E_RANK_ORDER", "got 5.0 after 2.0")),
    (52, "rank 0", ranked({"rank": 0}), "retrieved_chunks[0].rank", ("E_RANGE", "got 0; expected an integer of 1")),
    (52, "gap", ranked({"rank": 1}, {"rank": 3}), "retrieved_chunks[1].rank", ("E_RANK_ORDER", "got 3; expected 2")),
    (52, "rank is a float", ranked({"rank": 1.0}), "retrieved_chunks[0].rank", ("got 1.0; expected an integer",)),
    (52, "rank missing on some", ranked({"rank": 1}, {}), "retrieved_chunks[1].rank", ("got None; expected 2",)),
    (53, "score NaN", ranked({"score": float("nan")}), "retrieved_chunks[0].score", ("E_NUMBER", "got NaN")),
    (53, "score is a string", ranked({"score": "0.9"}), "retrieved_chunks[0].score", ("got '0.9'; expected a number",)),
    (53, "score missing on some", ranked({"score": 1.0}, {}), "retrieved_chunks[1].score", ("E_SCORE", "missing")),
    (54, "10,001 chunks", row(retrieved_chunks=[str(i) for i in range(10_001)]), "retrieved_chunks",
     ("E_TOO_MANY", "got 10001; expected 10000")),
    (56, "empty citation", row(citations=["a", ""]), "citations[1]", ("E_ID", "empty")),
    (56, "citation is a number", row(citations=[1]), "citations[0]", ("got 1; expected a string",)),
    (57, "5,001 citations", row(citations=["a"] * 5001), "citations", ("got 5001; expected 5000 at most",)),
    (58, "answer is a number", row(answer=3), "answer", ("got 3; expected a string",)),
    (62, "negative latency", row(latency_ms={"embed": -1}), "latency_ms.embed", ("E_RANGE", "got -1")),
    (62, "latency with a unit", row(latency_ms={"embed": "1.2s"}), "latency_ms.embed", ("got '1.2s'",)),
    (62, "one step twice", row(latency_ms={"embed": 1, "embed_ms": 2}), "", ("with and without _ms", "embed_ms")),
    (63, "negative tokens", row(tokens={"prompt": -1}), "tokens.prompt", ("E_RANGE", "got -1")),
    (63, "negative cost", row(cost_usd=-0.5), "cost_usd", ("E_RANGE", "got -0.5")),
    (65, "versions are no names", row(versions={"index": 3}), "versions.index", ("got 3; expected a string",)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "field", "parts"), [pytest.param(*rest, id=f"{number}-{name}") for number, name, *rest in REFUSED]
)
def test_a_bad_line_is_refused_with_its_place_and_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: Raw, field: str, parts: tuple[str, ...]
) -> None:
    assert 2 == score(tmp_path, content)
    printed = capsys.readouterr()
    message = printed.err.splitlines()[0]
    assert "" == printed.out
    assert message.startswith(f"{tmp_path / 'outputs.jsonl'}:")
    assert f": {field}: " in message if field else True
    assert [] == [part for part in parts if part not in message], message


ACCEPTED: list[tuple[int, str, Raw, tuple[str, ...], str]] = [
    # row, name, lines, options, notice
    (2, "byte-order mark", "\ufeff" + row(), (), ""),
    (4, "CRLF and no final newline", row() + "\r\n" + json.dumps(OTHER), (), ""),
    (5, "lone CR between members", row().replace(", ", ",\r", 1), (), ""),
    (5, "U+2028 and U+0085 in strings", json.dumps(GOOD | {"answer": "a\u2028b\u0085c"}, ensure_ascii=False), (), ""),
    (6, "torn tail", row() + '\n{"query_id": "q2", "ans', ("--allow-torn-tail",), "torn last line left out"),
    (16, "unknown key", row(retreived=[]), (), "unknown key retreived"),
    (16, "unknown key of a chunk", ranked({"rnak": 1}), (), "retrieved_chunks[].rnak (did you mean 'rank'?)"),
    (16, "free-form key", row(x_note="seen"), ("--strict-outputs",), ""),
    (12, "key twice", row()[:-1] + ', "answer": "No."}', (), ""),
    (23, "invisible characters", row(retrieved_chunks=["a\u202eb"]), (), "E_ID_INVISIBLE"),
    (24, "ids in another form", row(retrieved_chunks=["e\u0301"]), (), "brought to Unicode NFC"),
    (42, "unknown case counted", row() + "\n" + row(query_id="q9"), ("--ignore-unknown",), "1 row of cases"),
    (45, "question spaced otherwise", row(question=" How  many days?"), (), ""),
    (46, "no configuration", row(config_id=None), (), "without config_id"),
    (49, "repeated chunk", row(retrieved_chunks=["a", "a"]), (), "duplicate_chunk"),
    (50, "equal scores", ranked({"score": 1.0}, {"score": 1.0}), (), "equal scores"),
    (51, "distances rise", ranked({"rank": 1, "score": 0.1}, {"rank": 2, "score": 0.4}), (), "taken as distances"),
    (51, "two retrievers in one list", ranked({"rank": 1, "score": 9.0, "stage": "bm25"},
     {"rank": 1, "score": 0.9, "stage": "dense"}), (), ""),
    (55, "context not retrieved", row(context_chunks=["parent"]), (), "context_not_retrieved"),
    (56, "marker and URL as citations", row(citations=["[1]", "https://example.org"]), (), ""),
    (57, "citation repeated", row(citations=["a", "a"]), (), "cites a chunk more than once"),
    (59, "answer of 5 MB", row(answer="Mười hai ngày. " * 250_000), (), "more than 200,000 characters"),
    (62, "zero latency", row(latency_ms={"end_to_end": 0}), (), ""),
    (62, "whole less than its steps", row(latency_ms={"end_to_end": 5, "embed": 9}), (), "less than the sum"),
    (62, "seconds for milliseconds", row(latency_ms={"end_to_end": 1.2}, tokens={"completion": 80}), (), "in seconds"),
    (62, "step not run", row(latency_ms={"rerank": None, "embed": 3}), (), ""),
    (65, "no versions", row(versions={}), (), "c states no versions"),
    (65, "mixed versions", row() + "\n" + json.dumps(OTHER | {"versions": {"index": "2"}}), (),
     "E_MIXED_VERSIONS c: index differs within the run: 1, 2"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "options", "notice"), [pytest.param(*rest, id=f"{number}-{name}") for number, name, *rest in ACCEPTED]
)
def test_what_is_unusual_but_clear_is_accepted_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: Raw, options: tuple[str, ...], notice: str
) -> None:
    assert score(tmp_path, content, "--format", "json", *options) in (0, 3)  # 3: not every case has an output
    report = json.loads(capsys.readouterr().out)
    (config,) = report["configs"].values()
    assert config["summary"]["recall@10"]["scored"] >= 1
    assert (1 if notice else 0) == len(report["warnings"]), report["warnings"]
    assert notice in "".join(report["warnings"])


@pytest.mark.parametrize("count", [1, 3])
def test_a_notice_about_rows_agrees_with_its_count(tmp_path: Path, count: int) -> None:
    golden = [{"id": f"bay-{n}", "question": "Which bay?", "must_have": ["bay"]} for n in range(3)]
    stage = {"name": "retrieved", "chunks": [{"chunk_id": "b", "score": 0.1}, {"chunk_id": "b", "score": 0.9}]}
    rows: list[dict[str, Any]] = [
        {"case_id": f"bay-{n}", "answer": "Bay 2.", "citations": ["b", "b"], "stages": [stage]} for n in range(count)
    ]
    rows += [{"case_id": f"bay-{n}", "answer": "Bay 2.", "config_id": "unknown", "stages": []} for n in range(count, 3)]
    warnings = assay.score(golden, rows, config="unknown").scoring.warnings
    expected = {
        1: ("1 row that cites a chunk", "1 ranking of retrieved that repeats a chunk"),
        3: ("3 rows that cite a chunk", "3 rankings of retrieved that repeat a chunk"),
    }[count]
    for sentence in expected:
        assert any(warning.startswith(sentence) for warning in warnings), warnings
    assert not any(re.match(r"1 (?:rows|rankings|answers) ", warning) for warning in warnings)
