"""Finds the answer that somebody complains about, rebuilds it, and keeps what people find out about it."""

from __future__ import annotations

from datetime import datetime

import msgspec
import sqlalchemy as sa

from assay.audit.audit_store import CHANGED_REMEDY, AuditStore, ChangedRecordError
from assay.audit.incident import Incident, IncidentSources, build_incident
from assay.audit.load_traffic_lines import format_time
from assay.audit.packed_body import UNPACKING_ERRORS, unpack_body
from assay.audit.schema import LABELS, RECORDS, STORE_OWNER
from assay.audit.verify_store import check_record
from assay.records.audit_records import Finding
from assay.records.errors import InputError, shorten_repr
from assay.text.escaping import escape_surrogates

FINDING_LABEL, FINDING_OF_LABEL = "finding", "finding-of"
MAX_CAUSE = 100


def require_answer(store: AuditStore, record_id: str) -> int:
    """Return the number of an answer. Raises InputError for an unknown id and for an answer that was erased."""
    sequence = store.find_by_id(record_id)
    if sequence is None:
        raise InputError(f"{store.name}: no answer with this id (got {shorten_repr(record_id)})")
    if store.load_answer(sequence) is None:
        raise InputError(f"{store.name}: the answer {shorten_repr(record_id)} was erased (record {sequence})")
    return sequence


def load_incident(
    store: AuditStore, sequence: int, sources: IncidentSources, *, show_restricted: bool = False
) -> Incident:
    """Return an answer by its number, with its claims and citations checked again and its record verified."""
    record = store.load_answer(sequence)
    if record is None:
        raise InputError(f"{store.name}: record {sequence} is no answer, or was erased")
    with store.reading() as connection:
        day = str(connection.execute(sa.select(RECORDS.c.day).where(RECORDS.c.sequence == sequence)).scalar_one())
    faults = [fault.message for fault in check_record(store, sequence)]
    findings = load_findings(store, sequence)
    return build_incident(record, sequence, day, faults, findings, sources, show_restricted=show_restricted)


def load_findings(store: AuditStore, sequence: int) -> list[Finding]:
    """Return what people found out about an answer, in the order in which they wrote it down."""
    labelled = sa.select(LABELS.c.sequence).where(LABELS.c.name == FINDING_OF_LABEL, LABELS.c.value == str(sequence))
    query = sa.select(RECORDS.c.sequence, RECORDS.c.body).where(RECORDS.c.sequence.in_(labelled))
    with store.reading() as connection:
        rows = [
            (row[0], row[1]) for row in connection.execute(query.order_by(RECORDS.c.sequence)) if row[1] is not None
        ]
    return [_read_finding(number, body) for number, body in rows]


def add_finding(store: AuditStore, sequence: int, cause: str, owner: str, decision: str, now: datetime) -> Finding:
    """Append a finding to the chain; it is erased with the user whom the answer belongs to.

    Raises InputError for a cause, owner or decision that is empty, and for a cause that is no short name.
    """
    for name, value in (("cause", cause), ("owner", owner), ("decision", decision)):
        if not value.strip():
            raise InputError(f"a finding without {name} (expected cause, owner and decision)")
    if len(cause) > MAX_CAUSE or not cause.isprintable():
        raise InputError(f"not a cause (got {shorten_repr(cause)}; expected a name of {MAX_CAUSE} characters at most)")
    record = store.load_answer(sequence)
    if record is None:
        raise InputError(f"{store.name}: record {sequence} is no answer, or was erased")
    finding = Finding(record.id, cause, escape_surrogates(owner), escape_surrogates(decision), format_time(now))
    with store.writing() as connection:
        query = sa.select(RECORDS.c.owner).where(RECORDS.c.sequence == sequence)
        user = connection.execute(query).scalar_one()
        number = store.append_event(
            connection, "finding", finding, now.date().isoformat(), STORE_OWNER if user is None else int(user)
        )
        connection.execute(sa.insert(LABELS).values(name=FINDING_OF_LABEL, value=str(sequence), sequence=number))
        label = {"name": FINDING_LABEL, "value": cause, "sequence": sequence}
        same_finding = sa.select(LABELS.c.sequence).where(*(LABELS.c[name] == value for name, value in label.items()))
        if connection.execute(same_finding).first() is None:
            connection.execute(sa.insert(LABELS).values(**label))
    return finding


def load_all_findings(store: AuditStore) -> list[Finding]:
    """Return what people found out about all answers that were not erased, in the order in which they wrote it down."""
    query = sa.select(RECORDS.c.sequence, RECORDS.c.body).where(
        RECORDS.c.kind == "finding", RECORDS.c.body.is_not(None)
    )
    with store.reading() as connection:
        rows = [(row[0], row[1]) for row in connection.execute(query.order_by(RECORDS.c.sequence))]
    return [_read_finding(number, body) for number, body in rows]


def _read_finding(number: int, body: object) -> Finding:
    try:
        return msgspec.json.decode(unpack_body(body), type=Finding)
    except UNPACKING_ERRORS as error:
        message = f"record {number}: this finding was changed and cannot be read ({error}); {CHANGED_REMEDY}"
        raise ChangedRecordError(message) from None
