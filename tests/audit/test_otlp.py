"""Traces of OpenTelemetry become records, from JSON and protobuf alike, and what is malformed is refused.

The samples were written with the protobuf library of the OpenTelemetry project, as the file exporter of its collector
writes them: a line or a length-prefixed message for each request.
"""

from __future__ import annotations

import gzip
import json
import random
import struct
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.audit.traffic import at_noon

import assay
from assay.audit.audit_store import open_audit_store
from assay.audit.otlp import MAX_DEPTH, OtlpError, Span, decode_otlp_json, decode_otlp_protobuf
from assay.audit.privacy import AuditKeys
from assay.audit.trace_files import iterate_messages
from assay.audit.trace_records import read_trace
from assay.records.audit_records import AuditRecord
from assay.records.errors import InputError
from assay.records.golden_set import User
from assay.records.observations import ToolCall

SAMPLES = Path(__file__).parent / "samples"
LEAVE = "4bf92f3577b34da6a3ce929d0e0e4736"
PHEP = "5bf92f3577b34da6a3ce929d0e0e4736"


def ingest(folder: Path, source: Path, **options: Any) -> Any:
    return assay.audit.ingest(folder / "s", source, now=at_noon, dead_letters=folder / "dead.jsonl", **options)


def load(folder: Path, record_id: str) -> AuditRecord:
    with open_audit_store(str(folder / "s")) as store:
        sequence = store.find_by_id(record_id)
        assert sequence is not None
        record = store.load_answer(sequence)
        assert record is not None
        return record


@pytest.fixture(params=["traces.jsonl", "traces.binpb", "traces.binpb.gz"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param.endswith(".gz"):
        packed = tmp_path / "traces.binpb.gz"
        packed.write_bytes(gzip.compress((SAMPLES / "traces.binpb").read_bytes()))
        return packed
    return SAMPLES / str(request.param)


def test_a_trace_by_openinference_is_a_record(source: Path, tmp_path: Path, keys: AuditKeys) -> None:
    ingested = ingest(tmp_path, source)
    assert (2, 2, 0) == (ingested.lines, ingested.stored, ingested.rejected), ingested.reasons
    assert ["1 trace without retrieval or generation"] == [n.split(": ")[2] for n in ingested.notices]
    record = load(tmp_path, LEAVE)
    assert ("How much leave?", "Twelve days.") == (record.question, record.answer)
    assert record.user_uid == keys.make_pseudonym("minh")
    assert ("2026-03-02T12:00:00.000000Z", 1000.0) == (record.at, record.latency_ms)
    assert ("model-a", 321, 12) == (record.model, record.prompt_tokens, record.completion_tokens)
    assert record.stages is not None
    assert {
        "retrieved": ["leave-1", "leave-2"],
        "reranked": ["leave-2", "leave-1"],
        "context": ["leave-1"],  # the only one whose text is in the messages to the model
    } == {stage.name: [chunk.chunk_id for chunk in stage.chunks] for stage in record.stages}
    first = record.stages[0].chunks[0]
    assert (0.875, {"page": 3}) == (first.score, first.metadata)
    assert (ToolCall("calendar", {"year": 2026}, "no calendar", 10.0),) == record.tool_calls
    assert ("handbook", {"service": "1.4.2"}) == (record.config_id, record.versions)
    assert record.prompt_hash is not None
    assert record.error is None


def test_a_trace_by_the_genai_conventions_is_a_record(source: Path, tmp_path: Path, keys: AuditKeys) -> None:
    ingest(tmp_path, source)
    record = load(tmp_path, PHEP)
    assert ("Nghỉ phép?", "Mười hai ngày.") == (record.question, record.answer)
    assert record.user_uid == keys.make_pseudonym("lan")
    assert ("model-b-2026", 50, 7) == (record.model, record.prompt_tokens, record.completion_tokens)
    assert record.stages is not None
    assert ["retrieved", "context"] == [stage.name for stage in record.stages]
    assert ("leave-1",) == record.retrieved_uids


def test_json_and_protobuf_say_the_same() -> None:
    by_json = [span for line in (SAMPLES / "traces.jsonl").read_bytes().splitlines() for span in decode_otlp_json(line)]
    messages = iterate_messages(str(SAMPLES / "traces.binpb"))
    assert by_json == [span for _, message in messages for span in decode_otlp_protobuf(message)]
    assert any(span.attributes.get("a.negative") == -5 for span in by_json)
    assert any(span.attributes.get("a.list") == ["x", "y"] for span in by_json)


def test_one_message_without_its_length_is_read(tmp_path: Path) -> None:
    messages = [message for _, message in iterate_messages(str(SAMPLES / "traces.binpb"))]
    whole = tmp_path / "all.pb"
    whole.write_bytes(b"".join(messages))  # messages joined are one message, as protobuf defines it
    assert ingest(tmp_path, whole).stored == 2


def test_malformed_json_messages_are_refused_one_by_one(tmp_path: Path) -> None:
    good = (SAMPLES / "traces.jsonl").read_text(encoding="utf-8").splitlines()
    span = {"traceId": "f" * 32, "spanId": "f" * 16, "startTimeUnixNano": "1", "endTimeUnixNano": "2"}

    def wrap(**changes: Any) -> str:
        return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span | changes]}]}]})

    deep: Any = {"stringValue": "x"}
    for _ in range(MAX_DEPTH + 5):
        deep = {"arrayValue": {"values": [deep]}}
    bad = [
        wrap(traceId="zz"),
        wrap(traceId="0" * 32),
        wrap(startTimeUnixNano="soon"),
        wrap(endTimeUnixNano=str(2**64)),
        wrap(attributes=[{"key": "x", "value": deep}]),
        wrap(attributes=[{"key": "x", "value": {"intValue": str(2**63)}}]),
        '{"resourceSpans": 5}',
        '{"resourceSpans": [',
        '{"resourceSpans": ' + "[" * 100_000,
    ]
    source = tmp_path / "mixed.jsonl"
    source.write_text("\n".join([*good, *bad]) + "\n", encoding="utf-8")
    ingested = ingest(tmp_path, source)
    assert (2, len(bad)) == (ingested.stored, ingested.rejected)
    rows = [json.loads(line) for line in (tmp_path / "dead.jsonl").read_text().splitlines()]
    assert [4 + number for number in range(len(bad))] == [row["line"] for row in rows]
    assert all("E_OTLP not an OTLP trace" in row["reasons"][0] for row in rows)


def test_a_file_that_is_cut_off_keeps_what_came_before(tmp_path: Path) -> None:
    raw = (SAMPLES / "traces.binpb").read_bytes()
    torn = tmp_path / "torn.binpb"
    torn.write_bytes(raw[:-10])
    ingested = ingest(tmp_path, torn)
    assert (1, 1) == (ingested.stored, ingested.rejected)
    assert "cut off" in ingested.reasons[0]
    torn.write_bytes(struct.pack(">I", 2**31) + raw)
    assert "no length of at most" in ingest(tmp_path, torn).reasons[-1]


def test_a_zip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.audit.trace_files.MAX_OTLP_BYTES", 2**20)
    for name, content in (("bomb.pb.gz", b"\x0a" + bytes(2**23)), ("bomb.binpb.gz", bytes(2**23))):
        bomb = tmp_path / name
        bomb.write_bytes(gzip.compress(content))
        with pytest.raises(InputError, match="unpacks to too much"):
            ingest(tmp_path, bomb)
    lines = tmp_path / "bomb.jsonl.gz"
    lines.write_bytes(gzip.compress((SAMPLES / "traces.jsonl").read_bytes() + b'{"resourceSpans": []}\n' * 100_000))
    with pytest.raises(InputError, match="is too large"):
        ingest(tmp_path, lines)


def test_a_packed_file_of_countless_empty_messages_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.audit.trace_files.MAX_OTLP_MESSAGES", 1000)
    bomb = tmp_path / "bomb.binpb.gz"
    bomb.write_bytes(gzip.compress(bytes(4 * 1000)))
    assert 0 == ingest(tmp_path, bomb).stored
    bomb.write_bytes(gzip.compress(bytes(4 * 1001)))
    with pytest.raises(InputError, match="too many messages"):
        ingest(tmp_path, bomb)


def test_traces_have_no_checkpoint(tmp_path: Path) -> None:
    for name in ("traces.jsonl", "traces.binpb"):
        with pytest.raises(InputError, match="read whole: no checkpoint"):
            ingest(tmp_path, SAMPLES / name, checkpoint=True)


MESSAGE = b"".join(message for _, message in iterate_messages(str(SAMPLES / "traces.binpb")))


@given(st.binary(max_size=300))
@example(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
@example(b"\x80" * 20)
def test_any_bytes_are_spans_or_an_error(data: bytes) -> None:
    try:
        decode_otlp_protobuf(data)
    except OtlpError:
        return


@given(st.integers(0, 2**32))
def test_a_damaged_message_is_a_record_or_an_error(seed: int) -> None:
    chance = random.Random(seed)
    content = bytearray(MESSAGE)
    for _ in range(chance.randrange(1, 6)):
        content[chance.randrange(len(content))] = chance.randrange(256)
    try:
        spans = decode_otlp_protobuf(bytes(content))
    except OtlpError:
        return
    for trace_id in {span.trace_id for span in spans}:
        values = read_trace([span for span in spans if span.trace_id == trace_id])
        assert msgspec.json.encode(values)


def test_deep_nesting_in_protobuf_is_refused() -> None:
    value = b"\x0a\x01x"
    for _ in range(MAX_DEPTH + 5):
        wrapped = b"\x0a" + _length(value) + value
        value = b"\x2a" + _length(wrapped) + wrapped
    pair = b"\x0a\x01k\x12" + _length(value) + value
    resource = b"\x0a" + _length(pair) + pair
    group = b"\x0a" + _length(resource) + resource
    with pytest.raises(OtlpError, match="nested too deeply"):
        decode_otlp_protobuf(b"\x0a" + _length(group) + group)


def _length(data: bytes) -> bytes:
    size, parts = len(data), bytearray()
    while size > 127:
        parts.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([*parts, size])


@pytest.mark.parametrize(
    ("attributes", "user", "user_uid"),
    [
        ({"assay.user.tenant": "acme", "assay.user.roles": ["staff", "hr"]}, User("acme", ("staff", "hr")), None),
        ({"assay.user.roles": '["staff"]', "user.id": "minh"}, User(None, ("staff",)), "minh"),
        ({"assay.user.roles": "staff, hr", "session.id": "s-1"}, User(None, ("staff", "hr")), "session:s-1"),
        ({"user.roles": ["staff"], "assay.user.locale": "vi"}, User(None, ("staff",), locale="vi"), None),
        ({"assay.user.roles": []}, User(None, ()), None),
        ({"assay.user.roles": 7}, User(None, ()), None),
        ({"session.id": "s-1", "enduser.id": "lan"}, None, "lan"),
    ],
)
def test_attributes_say_who_asked_and_with_which_rights(
    attributes: dict[str, Any], user: User | None, user_uid: str | None
) -> None:
    span = Span("a" * 32, "b" * 16, "", "chain", 0, 10, attributes, (), False, "", {})
    record = read_trace([span])
    assert (record["user"], record["user_uid"]) == (user, user_uid)
