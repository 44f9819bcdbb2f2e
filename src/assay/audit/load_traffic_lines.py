"""Reads one line of production traffic into an audit record: the audit record itself, an observation, or `rag-trace`.

Observations and traces say nothing of the time, the user and the feedback of a production answer; their lines may carry
the members of `LineEnvelope` in addition.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from assay.audit.privacy import AuditKeys
from assay.formats.outputs import OUTPUT_FORMATS, decode_observation
from assay.formats.problems import find_name_fault
from assay.formats.recorded_outputs.line_checks import find_unknown_keys
from assay.formats.recorded_outputs.rag_trace import decode_rag_trace
from assay.records.audit_records import AUDIT_FIELDS, AuditRecord, Feedback, TimeSource
from assay.records.errors import shorten_repr
from assay.records.golden_set import Behaviour, Count, NonNegative, User
from assay.records.observations import CONTEXT_STAGE, Observation, Stage, TargetError, ToolCall, Usage, find_stage

FORMATS = ("audit", "assay", "rag-trace", "otlp-json", "otlp-protobuf")
TIME_FIELD, ID_FIELD, USER_FIELD = "at", "id", "user_uid"


class LineError(Struct, frozen=True, gc=False):
    """What went wrong, as applications log it: a code or type, and a message. Where all that it has is null, nothing
    did; JavaScript writes errors as `{}`."""

    code: str | int | UnsetType | None = UNSET
    type: str | UnsetType | None = UNSET
    kind: str | UnsetType | None = UNSET
    message: str | UnsetType | None = UNSET
    detail: str | UnsetType | None = UNSET


class AuditLine(Struct, frozen=True, gc=False):
    """One line of format `audit`. A member that is absent was not recorded; null feedback is: nobody gave any."""

    id: str | None = None
    at: str | None = None
    question: str | None = None
    user_uid: str | int | None = None
    retrieved_uids: tuple[str, ...] | None = None
    context_tokens: Count | None = None
    model: str | None = None
    prompt_hash: str | None = None
    answer: str | None = None
    citations: tuple[str, ...] | None = None
    tool_calls: tuple[ToolCall, ...] | Count | None = None
    latency_ms: NonNegative | None = None
    feedback: Feedback | UnsetType | None = UNSET
    config_id: str | None = None
    user: User | None = None
    query_rewrite: str | None = None
    stages: tuple[Stage, ...] | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    versions: dict[str, str] = {}
    behaviour: Behaviour | None = None
    cost_usd: NonNegative | None = None
    error: LineError | str | None = None


class StrictAuditLine(AuditLine, frozen=True, gc=False, forbid_unknown_fields=True):
    """The same line without other members: lines are decoded as this first, which finds those with unknown keys."""


class LineEnvelope(Struct, frozen=True, gc=False):
    """What a line of another format may say of a production answer besides the observation."""

    at: str | None = None
    user_uid: str | int | None = None
    user: User | None = None
    model: str | None = None
    prompt_hash: str | None = None
    feedback: Feedback | UnsetType | None = UNSET


LINE_RECORDS: Mapping[str, type[Struct]] = {"audit": AuditLine, "assay": Observation, "rag-trace": LineEnvelope}
LONGEST_ERROR_CODE = 60
LINES_CHECKED_FOR_KEYS = 100
"""How many lines of a source are searched for unknown keys within their stages, and in other formats than `audit`."""
_AUDIT_LINE = msgspec.json.Decoder(AuditLine)
_STRICT_AUDIT_LINE = msgspec.json.Decoder(StrictAuditLine)
_ENVELOPE = msgspec.json.Decoder(LineEnvelope)


class MissingKeyError(ValueError):
    """A record names a user, and there is no key to make a pseudonym with."""


class ParsedLine(Struct, frozen=True, gc=False):
    """A record, which of the audit fields the line had, and what was replaced in it, by part and rule."""

    record: AuditRecord
    fields: tuple[bool, ...]
    redacted: dict[str, dict[str, int]] = {}


class LineReader:
    """Turns lines of one format into records; `received` is the time of those that give none.

    `strict` refuses lines with unknown keys. Without it `note_unknown_key` is told of each key that is left out, with
    a hint at what may have been meant.
    """

    def __init__(
        self,
        format_name: str,
        keys: AuditKeys | None,
        received: datetime,
        note_unknown_key: Callable[[str, str], None] | None = None,
        *,
        strict: bool = False,
    ) -> None:
        self._keys = keys
        self._note_unknown_key, self._strict = note_unknown_key, strict
        self._lines = 0
        self._record = OUTPUT_FORMATS[format_name].record if format_name in OUTPUT_FORMATS else AuditLine
        self._received = format_time(received)
        self._parse = self._parse_audit if format_name == "audit" else self._parse_observation
        self._decode = decode_rag_trace if format_name == "rag-trace" else decode_observation

    def parse_line(self, line: bytes) -> ParsedLine:
        """Read one line.

        Raises msgspec.DecodeError, UnicodeDecodeError, RecursionError, or ValueError for a value that is no time, no
        id, or for a user without a key.
        """
        return self._parse(line)

    def _parse_audit(self, line: bytes) -> ParsedLine:
        try:
            row: AuditLine = _STRICT_AUDIT_LINE.decode(line)
            if self._lines < LINES_CHECKED_FOR_KEYS:
                self._check_keys(line)
        except msgspec.ValidationError:
            row = _AUDIT_LINE.decode(line)
            self._check_keys(line)
        self._lines += 1
        fields = (
            row.question is not None,
            row.user_uid is not None,
            row.retrieved_uids is not None or row.stages is not None,
            row.context_tokens is not None,
            row.model is not None,
            row.prompt_hash is not None,
            row.answer is not None,
            row.citations is not None,
            row.tool_calls is not None,
            row.latency_ms is not None,
            row.feedback is not UNSET,
        )
        user, user_uid = self._separate_user(row.user, row.user_uid)
        record_id = self._take_id(row.id, line)
        at, time_source = self._take_time(row.at)
        # Each value by its name: a dictionary of all of them takes three times as long.
        record = AuditRecord(
            id=record_id,
            at=at,
            time_source=time_source,
            config_id=row.config_id,
            user_uid=user_uid,
            user=user,
            question=row.question,
            query_rewrite=row.query_rewrite,
            retrieved_uids=row.retrieved_uids,
            stages=row.stages,
            context_tokens=row.context_tokens,
            prompt_tokens=row.prompt_tokens,
            completion_tokens=row.completion_tokens,
            model=row.model,
            prompt_hash=row.prompt_hash,
            versions=row.versions,
            answer=row.answer,
            behaviour=row.behaviour,
            citations=row.citations,
            tool_calls=row.tool_calls,
            latency_ms=row.latency_ms,
            cost_usd=row.cost_usd,
            feedback=None if row.feedback is UNSET else row.feedback,
            error=_read_error(row.error),
        )
        return ParsedLine(record, fields)

    def _parse_observation(self, line: bytes) -> ParsedLine:
        observation = self._decode(line)
        envelope = _ENVELOPE.decode(line)
        if self._strict or self._lines < LINES_CHECKED_FOR_KEYS:
            self._check_keys(line)
        self._lines += 1
        usage = observation.usage or Usage()
        versions = observation.versions
        retrieved = find_stage(observation, "retrieved") or find_stage(observation, CONTEXT_STAGE)
        values: dict[str, Any] = {
            "id": name_observation(observation),
            "at": envelope.at,
            "config_id": None if observation.config_id == "unknown" else observation.config_id,
            "user_uid": envelope.user_uid,
            "user": envelope.user,
            "question": observation.question,
            "query_rewrite": observation.query_rewrite,
            "retrieved_uids": None if retrieved is None else tuple([chunk.chunk_id for chunk in retrieved.chunks]),
            "stages": observation.stages,
            "context_tokens": usage.context_tokens,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "model": envelope.model or versions.get("model"),
            "prompt_hash": envelope.prompt_hash or versions.get("prompt_hash") or versions.get("prompt"),
            "versions": versions,
            "answer": None if observation.answer is UNSET else observation.answer,
            "behaviour": observation.behaviour,
            "citations": observation.citations,
            "tool_calls": observation.tool_calls,
            "latency_ms": usage.end_to_end_ms,
            "cost_usd": usage.cost_usd,
            "feedback": None if envelope.feedback is UNSET else envelope.feedback,
            "error": observation.error,
        }
        fields = _list_fields(values, envelope.feedback is not UNSET)
        return ParsedLine(self._make_record(values, line), fields)

    def _check_keys(self, line: bytes) -> None:
        """Note the unknown keys of a line. Raises FieldError for the first one, if lines with such are refused."""
        for key, hint in find_unknown_keys(line, self._record).items():
            if key in LineEnvelope.__struct_fields__:
                continue
            if self._strict:
                raise FieldError(key, f"unknown key{hint}")
            if self._note_unknown_key is not None:
                self._note_unknown_key(key, hint)

    def parse_trace(self, values: dict[str, Any]) -> ParsedLine:
        """Return the record of a trace, whose values must be those of an `AuditRecord`. Raises as `parse_line`."""
        fields = _list_fields(values, False)
        record = self._make_record(values, b"")
        return ParsedLine(msgspec.convert(msgspec.to_builtins(record), AuditRecord), fields)

    def _make_record(self, values: dict[str, Any], line: bytes) -> AuditRecord:
        values["user"], values["user_uid"] = self._separate_user(values["user"], values["user_uid"])
        values["id"] = self._take_id(values["id"], line)
        values["at"], values["time_source"] = self._take_time(values["at"])
        return AuditRecord(**values)

    def _separate_user(self, user: User | None, user_uid: str | int | None) -> tuple[User | None, str | None]:
        """Return what is said of the user without the id, and the pseudonym of the id."""
        if user is not None and user.id is not None:
            if user_uid is None:
                user_uid = user.id
            user = structs.replace(user, id=None)
        if user_uid is None:
            return user, None
        if self._keys is None:
            raise MissingKeyError
        return user, self._keys.make_pseudonym(str(user_uid))

    def _take_id(self, record_id: str | None, line: bytes) -> str:
        if record_id is None:
            content = line.strip()
            return self._keys.make_id(content) if self._keys is not None else make_content_id(content)
        fault = find_name_fault(record_id)
        if fault:
            raise FieldError(ID_FIELD, fault)
        return record_id

    def _take_time(self, at: str | None) -> tuple[str, TimeSource]:
        return (self._received, "received") if at is None else (normalise_time(at), "reported")


def _read_error(error: LineError | str | None) -> TargetError | None:
    """Return what a line says went wrong as a code, by which answers are found, and a message.

    >>> _read_error("timeout"), _read_error("no reply within 5 s")
    (TargetError(code='timeout', message=''), TargetError(code='error', message='no reply within 5 s'))
    >>> _read_error(LineError(kind="timeout", detail="no reply"))
    TargetError(code='timeout', message='no reply')
    >>> _read_error(LineError(code=None, message=None)), _read_error(LineError())
    (None, TargetError(code='error', message=''))
    """
    if error is None or error == "":
        return None
    if isinstance(error, str):
        return TargetError(error) if _is_code(error) else TargetError("error", error)
    reported = [value for value in structs.astuple(error) if value is not UNSET]
    if reported and all(value is None for value in reported):
        return None
    names = (error.code, error.type, error.kind)
    code = next((str(name) for name in names if name is not UNSET and name is not None and name != ""), "error")
    return TargetError(code, (error.message or "") or (error.detail or ""))


def _is_code(text: str) -> bool:
    return len(text) <= LONGEST_ERROR_CODE and not any(map(str.isspace, text))


def _list_fields(values: Mapping[str, Any], has_feedback: bool) -> tuple[bool, ...]:
    """Return which of the audit fields are there, in their order; feedback is the last one."""
    is_there = [values[name] is not None for name in AUDIT_FIELDS[:-1]]
    is_there[AUDIT_FIELDS.index("retrieved_uids")] |= values["stages"] is not None
    return (*is_there, has_feedback)


class FieldError(ValueError):
    """A value of the right type that cannot be used, with its member."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def make_content_id(content: bytes) -> str:
    """Return the id of a record without an id and without a user: a digest of its line."""
    return "content:" + hashlib.sha256(content).hexdigest()[:32]


def name_observation(observation: Observation) -> str:
    """Return the id of an observation in the store: its case, with configuration and repeat where it has them.

    >>> name_observation(Observation("q-1")), name_observation(Observation("q-1", "hybrid", 2))
    ('q-1', 'q-1@hybrid#2')
    """
    config = "" if observation.config_id == "unknown" else f"@{observation.config_id}"
    repeat = f"#{observation.repeat}" if observation.repeat else ""
    return f"{observation.case_id}{config}{repeat}"


def format_time(moment: datetime) -> str:
    """Return a time in UTC with microseconds, so that texts sort like times.

    >>> format_time(datetime(2026, 3, 2, 9, 30, tzinfo=UTC))
    '2026-03-02T09:30:00.000000Z'
    """
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def normalise_time(text: str) -> str:
    """Return a time with its offset from UTC as `format_time` does. Raises FieldError for other texts.

    >>> normalise_time("2026-03-02T09:30:00+07:00")
    '2026-03-02T02:30:00.000000Z'
    """
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None or len(text) < len("2026-03-02T09:30Z"):
            raise ValueError(text)
        if moment.tzinfo is UTC:  # the usual case, in a fraction of the time
            return moment.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"
        return format_time(moment)
    except (ValueError, OverflowError):
        got = shorten_repr(text)
        message = f"not a time (got {got}; expected one with its offset from UTC, such as 2026-03-02T09:30:00Z)"
        raise FieldError(TIME_FIELD, message) from None
