"""Ingests production answers into the audit store: reads, redacts, appends in batches, and accounts for every line."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TextIO

import msgspec

from assay.audit.audit_store import AuditStore, open_audit_store
from assay.audit.load_own_fields import rename_fields
from assay.audit.load_traffic_lines import FORMATS, LINE_RECORDS, FieldError, LineReader, MissingKeyError, ParsedLine
from assay.audit.otlp import OtlpError, Span, decode_otlp_json, decode_otlp_protobuf
from assay.audit.privacy import DEFAULT_RULES, AuditKeys, PersonalData, RecordRedactor
from assay.audit.results import IngestResult
from assay.audit.trace_files import OTLP_JSON, OTLP_PROTOBUF, TraceCollector, is_protobuf_name, iterate_messages
from assay.audit.trace_records import is_answer_trace, read_trace
from assay.audit.traffic_files import FilePosition, TrafficFile, TrafficLine, detect_traffic_format, open_traffic
from assay.formats.file_io import MAX_LINE_BYTES
from assay.formats.recorded_outputs.line_checks import DECODING_ERRORS, explain_bad_line
from assay.records.audit_records import AUDIT_FIELDS
from assay.records.counts import format_count
from assay.records.errors import IncompleteError, InputError, Problem, shorten_repr

BATCH_RECORDS = 5000
BATCH_BYTES = 8 * 2**20
MAX_REASONS_SHOWN = 10
CHECKED_LINES = 20
"""How many lines of a source are looked at before a store is made."""
MAX_QUOTED_LINE = 10_000
DEFAULT_KEY_ENV = "ASSAY_AUDIT_KEY"


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What to ingest, and how.

    `dead_letters` is the file for lines that were refused, `batch` the number of records in a transaction. With
    `checkpoint` a file is read on from where it was left; with `keep_waiting` its end is waited at while that function
    returns true. `on_commit` is told the source and line up to which everything is on disk. `strict` refuses lines with
    keys that no record has; else they are left out, and named in the result. `fields` are the own names of members.
    """

    store: str
    sources: Sequence[str]
    format: str | None = None
    dead_letters: str | None = None
    keys: AuditKeys | None = None
    rules: Sequence[PersonalData] = DEFAULT_RULES
    checkpoint: bool = False
    batch: int = BATCH_RECORDS
    keep_waiting: Callable[[], bool] | None = None
    on_commit: Callable[[str, int], None] | None = None
    strict: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)


def load_audit_keys(variable: str) -> AuditKeys | None:
    """Return the keys made of the secret in an environment variable, None if it is not set."""
    secret = os.environ.get(variable)
    return None if not secret else AuditKeys(secret.encode())


def ingest_traffic(request: IngestRequest, now: Callable[[], datetime]) -> IngestResult:
    """Append all answers of the sources to the store and say what became of each line.

    Raises InputError for a source or store that cannot be read, IncompleteError if the store cannot be written. What
    was committed before stays; ingesting the same source again adds what is missing.
    """
    if request.format is not None and request.format not in FORMATS:
        expected = ", ".join(FORMATS)
        raise InputError(f"no such format of traffic (got {shorten_repr(request.format)}; expected one of {expected})")
    if request.fields and request.format not in (None, "audit"):
        raise InputError(f"--fields: only for lines of your own (got --traffic-format {request.format})")
    if "://" not in request.store and not Path(request.store).exists():
        _check_sources(request, now)
    result = IngestResult()
    with open_audit_store(request.store, create=True) as store, _open_dead_letters(request, result) as dead_letters:
        if request.keys is not None:
            store.check_key(request.keys.fingerprint)
        for path in request.sources:
            _SourceIngester(request, store, result, dead_letters, now).ingest(path)
    return result


def _check_sources(request: IngestRequest, now: Callable[[], datetime]) -> None:
    """Raise InputError for what is refused at the beginning of a source, before a store is made for it.

    Standard input and files of protobuf messages are only read once.
    """
    letters = _DeadLetters(None, IngestResult(), RecordRedactor(request.rules))
    for path in request.sources:
        is_read_once = path == "-" or (Path(path).exists() and not Path(path).is_file())
        is_awaited = request.keep_waiting is not None and not Path(path).exists()
        if is_read_once or is_awaited or request.format == OTLP_PROTOBUF or is_protobuf_name(path):
            continue
        ingester = _SourceIngester(request, None, IngestResult(), letters, now)
        with open_traffic(path, None) as (traffic, _):
            for line in islice(traffic.iterate(None), CHECKED_LINES):
                ingester.check_line(traffic, line)


def _missing_key(name: str, number: int) -> InputError:
    return InputError(
        f"{name}:{number}: user_uid: users are stored by a keyed pseudonym, and there is no key "
        f"(expected at least 16 random bytes in {DEFAULT_KEY_ENV}, or a variable named by --key-env)"
    )


class _DeadLetters:
    """Writes refused lines with their reasons, and makes them durable before the batch that passes them."""

    def __init__(self, path: str | None, result: IngestResult, redactor: RecordRedactor) -> None:
        self._path, self._result, self._redactor = path, result, redactor
        self._file: TextIO | None = None

    def add(self, source: str, number: int, line: bytes | None, problems: Sequence[Problem]) -> None:
        reasons = [str(problem) for problem in problems]
        self._result.reasons += reasons[: MAX_REASONS_SHOWN - len(self._result.reasons)]
        if self._path is None:
            return
        if self._file is None:
            handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            self._file = os.fdopen(handle, "a", encoding="utf-8")
            self._result.dead_letters = self._path
        text = None
        if line is not None:
            text = self._redactor.redact_text(line[:MAX_QUOTED_LINE].decode("utf-8", "backslashreplace"), Counter())
        row = {"source": source, "line": number, "reasons": reasons, "text": text}
        with self._naming_the_file():
            self._file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def sync(self) -> None:
        if self._file is not None:
            with self._naming_the_file():
                self._file.flush()
                os.fsync(self._file.fileno())

    @contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        """Let errors of writing name this file: the system names it only where opening fails."""
        try:
            yield
        except OSError as error:
            error.filename = self._path
            raise

    def close(self) -> None:
        if self._file is not None:
            try:
                self.sync()
            finally:
                with suppress(OSError):  # what could not be written, cannot be written on closing either
                    self._file.close()


@contextmanager
def _open_dead_letters(request: IngestRequest, result: IngestResult) -> Iterator[_DeadLetters]:
    letters = _DeadLetters(request.dead_letters, result, RecordRedactor(request.rules))
    try:
        with closing(letters):
            yield letters
    except OSError as error:
        raise IncompleteError(f"{error.filename or request.store}: {error.strerror or error}") from error


class _SourceIngester:
    """Ingests one source: collects a batch, appends it, reports it."""

    def __init__(
        self,
        request: IngestRequest,
        store: AuditStore | None,
        result: IngestResult,
        dead_letters: _DeadLetters,
        now: Callable[[], datetime],
    ) -> None:
        self._request, self._store, self._result, self._dead_letters = request, store, result, dead_letters
        self._now = now
        self._redactor = RecordRedactor(request.rules)
        self._reader: LineReader | None = None
        self._format = "audit" if request.fields else request.format
        self._batch: list[tuple[TrafficLine, ParsedLine]] = []
        self._bytes = 0
        self._last: TrafficLine | None = None
        self._collector: TraceCollector | None = None

    def ingest(self, path: str) -> None:
        """Read the source to its end, or for as long as it is followed."""
        if self._format == OTLP_PROTOBUF or (self._format is None and is_protobuf_name(path)):
            self._ingest_protobuf(path)
            return
        checkpoint = self._request.checkpoint and path != "-"
        key = str(Path(path).resolve()) if checkpoint else ""
        saved = self._store.load_position(key) if checkpoint and self._store is not None else None
        position = None if saved is None else msgspec.json.decode(saved, type=FilePosition)
        with open_traffic(path, position) as (traffic, notice):
            if notice is not None:
                self._result.notices.append(notice)
            for line in traffic.iterate(self._request.keep_waiting):
                if line is None:
                    self._commit(traffic, key)
                    self._reader = None  # so that the time of receipt is that of the next line
                    continue
                self._last = line
                if line.data is None or line.data.strip():
                    self._read(traffic, line)
                self._commit_full_batch(traffic, key)
            self._add_traces(traffic.name, lambda: self._commit_full_batch(traffic, key))
            self._commit(traffic, key)

    def check_line(self, traffic: TrafficFile, line: TrafficLine | None) -> None:
        """Raise what reading a line raises, and keep nothing of it."""
        if line is not None and (line.data is None or line.data.strip()):
            self._read(traffic, line)
        self._batch, self._collector = [], None

    def _read(self, traffic: TrafficFile, line: TrafficLine) -> None:
        if line.data is None:
            message = f"line too long (got more than {MAX_LINE_BYTES} bytes; expected {MAX_LINE_BYTES} at most)"
            self._result.lines += 1
            self._reject(traffic.name, line, [Problem(traffic.name, line.number, "", message, "E_LINE_TOO_LONG")])
            return
        if self._format is None:
            self._format = detect_traffic_format(traffic.name, line.number, line.data)
        if self._format == OTLP_JSON:
            self._refuse_checkpoint(traffic.name)
            self._collect_spans(traffic.name, line.number, line.data, decode_otlp_json)
            return
        if self._reader is None:
            self._reader = LineReader(
                self._format,
                self._request.keys,
                self._now(),
                self._result.note_unknown_key,
                strict=self._request.strict,
            )
        self._result.lines += 1
        try:
            data = rename_fields(line.data, self._request.fields) if self._request.fields else line.data
            parsed = self._reader.parse_line(data)
            record, redacted = self._redactor.redact_parts(parsed.record)
        except MissingKeyError:
            raise _missing_key(traffic.name, line.number) from None
        except FieldError as error:
            self._reject(traffic.name, line, [Problem(traffic.name, line.number, error.field, str(error), "E_VALUE")])
            return
        except DECODING_ERRORS as error:
            kind = LINE_RECORDS[self._format]
            self._reject(traffic.name, line, explain_bad_line(traffic.name, line.number, line.data, kind, error))
            return
        self._batch.append((line, ParsedLine(record, parsed.fields, redacted)))
        self._bytes += len(line.data)

    # ── traces ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _ingest_protobuf(self, path: str) -> None:
        """Read a file of protobuf messages; what follows a message that is cut off cannot be found."""
        self._refuse_checkpoint(path)
        number = 0
        try:
            for number, data in iterate_messages(path):
                self._collect_spans(path, number, data, decode_otlp_protobuf)
        except OtlpError as error:
            self._reject_message(path, number + 1, b"", error)
        self._add_traces(path, lambda: self._commit_full_batch(None, "", path))
        self._commit(None, "", path)

    def _refuse_checkpoint(self, name: str) -> None:
        if self._request.checkpoint:
            raise InputError(f"{name}: a trace may lie anywhere in its file, which is read whole: no checkpoint")

    def _collect_spans(self, name: str, number: int, data: bytes, decode: Callable[[bytes], list[Span]]) -> None:
        if self._collector is None:
            self._collector = TraceCollector(name)
        try:
            spans = decode(data)
        except DECODING_ERRORS as error:
            self._reject_message(name, number, data, error)
            return
        self._collector.add(number, spans, len(data))

    def _reject_message(self, name: str, number: int, data: bytes, error: Exception) -> None:
        self._result.lines += 1
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        problem = Problem(name, number, "", f"not an OTLP trace ({shorten_repr(reason, 300)})", "E_OTLP")
        self._reject(name, TrafficLine(number, data, 0), [problem])

    def _add_traces(self, name: str, commit_full_batch: Callable[[], None]) -> None:
        """Make records of the traces that were collected; those without retrieval or generation are left out."""
        if self._collector is None:
            return
        reader = LineReader("audit", self._request.keys, self._now())
        left_out = 0
        for number, spans in self._collector.traces.values():
            if not is_answer_trace(spans):
                left_out += 1
                continue
            self._result.lines += 1
            line = TrafficLine(number, b"", 0)
            try:
                parsed = reader.parse_trace(read_trace(spans))
                record, redacted = self._redactor.redact_parts(parsed.record)
            except MissingKeyError:
                raise _missing_key(name, number) from None
            except DECODING_ERRORS as error:
                message = f"trace {spans[0].trace_id} is no record ({shorten_repr(str(error), 300)})"
                self._reject(name, line, [Problem(name, number, "", message, "E_OTLP")])
                continue
            self._last = self._last or line
            self._batch.append((line, ParsedLine(record, parsed.fields, redacted)))
            commit_full_batch()
        self._collector = None
        if left_out:
            self._result.notices.append(
                f"{name}: left out: {format_count(left_out, 'trace')} without retrieval or generation"
            )

    # ── batches ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _commit_full_batch(self, traffic: TrafficFile | None, key: str, name: str = "") -> None:
        if len(self._batch) >= self._request.batch or self._bytes >= BATCH_BYTES:
            self._commit(traffic, key, name)

    def _reject(self, name: str, line: TrafficLine, problems: Sequence[Problem]) -> None:
        self._result.rejected += 1
        self._dead_letters.add(name, line.number, line.data, problems)

    def _commit(self, traffic: TrafficFile | None, key: str, name: str = "") -> None:
        if self._last is None:
            return
        name = name if traffic is None else traffic.name
        batch, last = self._batch, self._last
        self._dead_letters.sync()
        position = ""
        if key and traffic is not None:
            position = msgspec.json.encode(traffic.tell(last.number, last.end)).decode()
        records = [parsed.record for _, parsed in batch]
        assert self._store is not None  # only lines that are checked have none
        today = self._now().date().isoformat()
        appended = self._store.append_answers(records, today, source=key or None, position=position)
        for index in appended.conflicts:
            line, parsed = batch[index]
            message = f"id of another record (got {shorten_repr(parsed.record.id)}; expected an id of its own)"
            problem = Problem(name, line.number, "id", message, "E_ID_CONFLICT")
            self._dead_letters.add(name, line.number, line.data, [problem])
        self._count([parsed for _, parsed in batch])
        self._result.stored += appended.stored
        self._result.duplicates += len(appended.duplicates)
        self._result.conflicts += len(appended.conflicts)
        self._result.erased += len(appended.erased)
        self._batch, self._bytes, self._last = [], 0, None
        if self._request.on_commit is not None:
            self._request.on_commit(name, last.number)

    def _count(self, lines: Sequence[ParsedLine]) -> None:
        fields = [line.fields for line in lines]
        for name, column in zip(AUDIT_FIELDS, zip(*fields, strict=True), strict=True) if fields else ():
            self._result.complete[name] += sum(column)
        for line in lines:
            self._result.without_time += line.record.time_source == "received"
            for part, rules in line.redacted.items():
                for rule, count in rules.items():
                    self._result.redacted[rule] = self._result.redacted.get(rule, 0) + count
                    parts = self._result.redacted_in.setdefault(rule, {})
                    parts[part] = parts.get(part, 0) + count
