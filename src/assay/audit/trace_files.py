"""Collects the spans of OTLP files into traces: JSON lines and protobuf messages, as collectors write them.

The spans of a trace may lie anywhere in a file, so that a file is read whole; its size is bounded, also unpacked.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.audit.otlp import OtlpError, Span
from assay.audit.traffic_files import MAX_TRAFFIC_RATIO
from assay.formats.file_io import MAX_LINE_BYTES, Source, open_unpacked
from assay.records.errors import InputError, Problem

OTLP_JSON, OTLP_PROTOBUF = "otlp-json", "otlp-protobuf"
MAX_OTLP_BYTES = 512 * 2**20
MAX_OTLP_MESSAGES = 2_000_000
"""Without a limit, a small packed file of empty messages would be read for minutes."""
PROTOBUF_SUFFIXES = (".pb", ".binpb", ".pb.gz", ".binpb.gz")
_PREFIX_BYTES = 4
_FIRST_FIELD = b"\x0a"  # how a message begins that is not preceded by its length


class TraceCollector:
    """Groups spans by trace, in the order in which the traces begin in the file."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bytes = 0
        self.traces: dict[str, tuple[int, list[Span]]] = {}

    def add(self, number: int, spans: list[Span], size: int) -> None:
        """Add the spans of one message. Raises InputError once the file is too large to be read whole."""
        self._bytes += size
        if self._bytes > MAX_OTLP_BYTES:
            message = f"is too large (got more than {MAX_OTLP_BYTES} bytes; expected that at most: split it)"
            raise InputError([Problem(self._name, number, "", message, "E_TOO_LARGE")])
        for span in spans:
            _, known_spans = self.traces.setdefault(span.trace_id, (number, []))
            known_spans.append(span)


def is_protobuf_name(path: str) -> bool:
    """Return whether a file is one of protobuf messages, by its suffix."""
    return path.lower().endswith(PROTOBUF_SUFFIXES)


def iterate_messages(path: str) -> Iterator[tuple[int, bytes]]:
    """Yield the protobuf messages of a file, each preceded by its length in four bytes, or the only one without.

    Raises OtlpError where a message is cut off or too long: what follows cannot be found. Raises InputError for a file
    that cannot be read or unpacks to too much.
    """
    with open_unpacked(Source(Path(path), path, max_bytes=MAX_OTLP_BYTES, max_ratio=MAX_TRAFFIC_RATIO)) as file:
        head = file.read(_PREFIX_BYTES)
        if head.startswith(_FIRST_FIELD):
            rest = file.read(MAX_OTLP_BYTES)
            yield 1, head + rest
            return
        number = 0
        while head:
            number += 1
            if number > MAX_OTLP_MESSAGES:
                message = f"too many messages (got more than {MAX_OTLP_MESSAGES}; expected that at most: split it)"
                raise InputError([Problem(path, number, "", message, "E_TOO_LARGE")])
            length = int.from_bytes(head, "big")
            if len(head) < _PREFIX_BYTES or length > MAX_LINE_BYTES:
                raise OtlpError(f"message {number}: no length of at most {MAX_LINE_BYTES} bytes (got {head.hex()})")
            data = file.read(length)
            if len(data) < length:
                raise OtlpError(f"message {number}: cut off (got {len(data)} of {length} bytes)")
            yield number, data
            head = file.read(_PREFIX_BYTES)
