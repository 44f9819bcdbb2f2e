"""Decodes OpenTelemetry traces, as OTLP JSON and as OTLP protobuf, into spans with plain attributes.

The wire format of protobuf is read here for the few messages of `opentelemetry/proto/trace/v1/trace.proto` that matter:
unknown fields are skipped, as protobuf asks, and lengths, depths and numbers are checked before they are used.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

MAX_DEPTH = 32
MAX_ATTRIBUTES = 20_000
"""Attributes of one span: retrieved documents are written one attribute a field."""
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MAX_VARINT_BYTES = 10
_SIGN = 1 << 63
Attributes = dict[str, Any]


class OtlpError(ValueError):
    """The data is no OTLP trace."""


class Span(Struct, frozen=True):
    """One span; times are nanoseconds since 1970. `failed`: its status is an error, with `message`."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start: int
    end: int
    attributes: Attributes
    events: tuple[tuple[str, Attributes], ...]
    failed: bool
    message: str
    resource: Attributes


# ── JSON ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


class _JsonValue(Struct, rename="camel"):
    string_value: str | None = None
    bool_value: bool | None = None
    int_value: int | str | None = None
    double_value: float | str | None = None
    array_value: dict[str, Any] | None = None
    kvlist_value: dict[str, Any] | None = None
    bytes_value: str | None = None


class _JsonPair(Struct):
    key: str
    value: _JsonValue | None = None


class _JsonEvent(Struct):
    name: str = ""
    attributes: list[_JsonPair] = []


class _JsonStatus(Struct):
    code: int | str = 0
    message: str = ""


class _JsonSpan(Struct, rename="camel"):
    trace_id: str
    span_id: str
    start_time_unix_nano: int | str
    end_time_unix_nano: int | str
    parent_span_id: str = ""
    name: str = ""
    attributes: list[_JsonPair] = []
    events: list[_JsonEvent] = []
    status: _JsonStatus | None = None


class _JsonScope(Struct):
    spans: list[_JsonSpan] = []


class _JsonResource(Struct):
    attributes: list[_JsonPair] = []


class _JsonResourceSpans(Struct, rename="camel"):
    resource: _JsonResource | None = None
    scope_spans: list[_JsonScope] = []


class _JsonTraces(Struct, rename="camel"):
    resource_spans: list[_JsonResourceSpans]


_JSON_TRACES = msgspec.json.Decoder(_JsonTraces)


def decode_otlp_json(data: bytes) -> list[Span]:
    """Return the spans of one OTLP JSON object (`resourceSpans`).

    Raises OtlpError, msgspec.DecodeError, UnicodeDecodeError or RecursionError.
    """
    spans: list[Span] = []
    for group in _JSON_TRACES.decode(data).resource_spans:
        resource = _json_attributes(group.resource.attributes if group.resource is not None else [])
        for scope in group.scope_spans:
            spans += [_make_json_span(span, resource) for span in scope.spans]
    return spans


def _make_json_span(span: _JsonSpan, resource: Attributes) -> Span:
    status = span.status or _JsonStatus()
    events = tuple((event.name, _json_attributes(event.attributes)) for event in span.events)
    return Span(
        _check_id(span.trace_id, 32, "traceId"),
        _check_id(span.span_id, 16, "spanId"),
        span.parent_span_id.lower(),
        span.name,
        _parse_integer(span.start_time_unix_nano, "startTimeUnixNano"),
        _parse_integer(span.end_time_unix_nano, "endTimeUnixNano"),
        _json_attributes(span.attributes),
        events,
        status.code in (2, "STATUS_CODE_ERROR"),
        status.message,
        resource,
    )


def _check_id(text: str, digits: int, name: str) -> str:
    try:
        number = int(text, 16)
    except ValueError:
        number = 0
    if len(text) != digits or not number or not text.isalnum():
        raise OtlpError(f"{name}: not {digits} hexadecimal digits (got {text[:80]!r})")
    return text.lower()


def _parse_integer(value: int | str, name: str) -> int:
    try:
        number = int(value)
    except ValueError:
        raise OtlpError(f"{name}: not a whole number (got {value!r:.80})") from None
    if not 0 <= number < 2**64:
        raise OtlpError(f"{name}: out of range (got {number})")
    return number


def _json_attributes(pairs: list[_JsonPair]) -> Attributes:
    if len(pairs) > MAX_ATTRIBUTES:
        raise OtlpError(f"too many attributes of a span (got {len(pairs)}; expected {MAX_ATTRIBUTES} at most)")
    return {pair.key: _json_value(pair.value, 0) for pair in pairs}


def _check_signed(value: int | str) -> int:
    try:
        number = int(value)
    except ValueError:
        raise OtlpError(f"intValue: not a whole number (got {value!r:.80})") from None
    if not -_SIGN <= number < _SIGN:
        raise OtlpError(f"intValue: out of range (got {number})")
    return number


def _json_value(value: _JsonValue | None, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise OtlpError(f"an attribute is nested too deeply (expected {MAX_DEPTH} levels at most)")
    if value is None:
        return None
    if value.int_value is not None:
        return _check_signed(value.int_value)
    if value.double_value is not None:
        return float(value.double_value)
    if value.array_value is not None:
        items = msgspec.convert(value.array_value.get("values") or [], list[_JsonValue])
        return [_json_value(item, depth + 1) for item in items]
    if value.kvlist_value is not None:
        pairs = msgspec.convert(value.kvlist_value.get("values") or [], list[_JsonPair])
        return {pair.key: _json_value(pair.value, depth + 1) for pair in pairs}
    if value.string_value is not None:
        return value.string_value
    return value.bool_value if value.bool_value is not None else value.bytes_value


# ── protobuf ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def decode_otlp_protobuf(data: bytes) -> list[Span]:
    """Return the spans of one protobuf message `TracesData` or `ExportTraceServiceRequest`. Raises OtlpError."""
    spans: list[Span] = []
    for number, group in _iterate_fields(memoryview(data)):
        if number == 1:
            spans += _read_resource_spans(_require_bytes(group))
    return spans


def _read_resource_spans(data: memoryview) -> Iterator[Span]:
    resource: Attributes = {}
    scopes: list[memoryview] = []
    for number, value in _iterate_fields(data):
        if number == 1:
            resource = _read_attributes(_require_bytes(value), 1)
        elif number == 2:
            scopes.append(_require_bytes(value))
    for scope in scopes:
        for number, value in _iterate_fields(scope):
            if number == 2:
                yield _read_span(_require_bytes(value), resource)


def _read_span(data: memoryview, resource: Attributes) -> Span:
    texts = {1: b"", 2: b"", 4: b"", 5: b""}
    times = {7: 0, 8: 0}
    events: list[tuple[str, Attributes]] = []
    failed, message = False, ""
    for number, value in _iterate_fields(data):
        if number in texts:
            texts[number] = bytes(_require_bytes(value))
        elif number in times:
            times[number] = _require_number(value)
        elif number == 11:
            event = _require_bytes(value)
            names = [_decode_text(_require_bytes(name)) for field, name in _iterate_fields(event) if field == 2]
            events.append((names[-1] if names else "", _read_attributes(event, 3)))
        elif number == 15:
            for field, part in _iterate_fields(_require_bytes(value)):
                if field == 2:
                    message = _decode_text(_require_bytes(part))
                elif field == 3:
                    failed = _require_number(part) == 2
    return Span(
        _check_id(texts[1].hex(), 32, "trace_id"),
        _check_id(texts[2].hex(), 16, "span_id"),
        texts[4].hex(),
        _decode_text(memoryview(texts[5])),
        times[7],
        times[8],
        _read_attributes(data, 9),
        tuple(events),
        failed,
        message,
        resource,
    )


def _read_attributes(data: memoryview, wanted: int, depth: int = 0) -> Attributes:
    """Return the pairs in the repeated field `wanted` of a message."""
    attributes: Attributes = {}
    for number, value in _iterate_fields(data):
        if number != wanted:
            continue
        key, item = "", None
        for field, part in _iterate_fields(_require_bytes(value)):
            if field == 1:
                key = _decode_text(_require_bytes(part))
            elif field == 2:
                item = _read_value(_require_bytes(part), depth)
        attributes[key] = item
        if len(attributes) > MAX_ATTRIBUTES:
            raise OtlpError(f"too many attributes of a span (expected {MAX_ATTRIBUTES} at most)")
    return attributes


def _read_value(data: memoryview, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise OtlpError(f"an attribute is nested too deeply (expected {MAX_DEPTH} levels at most)")
    result: Any = None
    for number, value in _iterate_fields(data):
        if number == 1:
            result = _decode_text(_require_bytes(value))
        elif number == 2:
            result = bool(_require_number(value))
        elif number == 3:
            unsigned = _require_number(value)
            result = unsigned - 2 * _SIGN if unsigned & _SIGN else unsigned
        elif number == 4:
            result = struct.unpack("<d", struct.pack("<Q", _require_number(value)))[0]
        elif number == 5:
            parts = [_require_bytes(part) for field, part in _iterate_fields(_require_bytes(value)) if field == 1]
            result = [_read_value(part, depth + 1) for part in parts]
        elif number == 6:
            result = _read_attributes(_require_bytes(value), 1, depth + 1)
        elif number == 7:
            result = bytes(_require_bytes(value)).hex()
    return result


def _iterate_fields(data: memoryview) -> Iterator[tuple[int, memoryview | int]]:
    """Yield the fields of a message: number, and bytes or a number."""
    position, size = 0, len(data)
    while position < size:
        key, position = _read_varint(data, position)
        number, kind = key >> 3, key & 7
        if not number:
            raise OtlpError("a field with number 0")
        if kind == _VARINT:
            value, position = _read_varint(data, position)
            yield number, value
            continue
        if kind == _BYTES:
            length, position = _read_varint(data, position)
        elif kind in (_FIXED64, _FIXED32):
            length = 8 if kind == _FIXED64 else 4
        else:
            raise OtlpError(f"a field of an unknown kind (got {kind})")
        if length > size - position:
            raise OtlpError(f"cut off: a field of {length} bytes where {size - position} are left")
        part = data[position : position + length]
        position += length
        yield number, part if kind == _BYTES else int.from_bytes(part, "little")


def _read_varint(data: memoryview, position: int) -> tuple[int, int]:
    value = 0
    for index in range(_MAX_VARINT_BYTES):
        if position >= len(data):
            raise OtlpError("cut off inside a number")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value & (2 * _SIGN - 1), position
    raise OtlpError("a number of more than ten bytes")


def _require_bytes(value: memoryview | int) -> memoryview:
    if isinstance(value, int):
        raise OtlpError("a number where a message or a text is expected")
    return value


def _require_number(value: memoryview | int) -> int:
    if not isinstance(value, int):
        raise OtlpError("a message where a number is expected")
    return value


def _decode_text(data: memoryview) -> str:
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        raise OtlpError("a text that is not UTF-8") from None
