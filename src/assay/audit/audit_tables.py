"""What the commands of `assay audit` print: tables for people, and plain values for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from assay.audit.document_exposure import ExposedAnswer, Exposure
from assay.audit.privacy import NOT_LOOKED_FOR
from assay.audit.results import (
    DAMAGE_REMEDY,
    ErasureResult,
    ExportResult,
    IngestResult,
    ShowResult,
    TableDamage,
    VerifyResult,
)
from assay.records.audit_records import AUDIT_FIELDS, AuditRecord
from assay.records.counts import format_count, join_first
from assay.report.findings.table import Table
from assay.text.escaping import shorten_to_line

MAX_FAULTS_SHOWN = 50
MAX_RANGES_SHOWN = 20
MAX_KEYS_SHOWN = 10
ELSEWHERE = (
    "erased here only: logs of the application, dead letters, exports, samples, candidates, incident files and backups "
    "may have the same answers"
)
MAX_EXPOSED_SHOWN = 100


def build_ingest_table(result: IngestResult) -> Table:
    """Return what became of the lines, and how complete the records are."""
    rows = [
        ("lines", str(result.lines)),
        ("stored", str(result.stored)),
        ("known already", str(result.duplicates)),
        ("id of another record", str(result.conflicts)),
        ("erased before", str(result.erased)),
        ("rejected", str(result.rejected)),
        ("schema completeness", _percent(result.completeness)),
    ]
    rows += [(f"  {name}", _percent(_share(result, name))) for name in AUDIT_FIELDS if _share(result, name) != 1]
    for name, count in sorted(result.redacted.items()):
        parts = ", ".join(f"{part} {number}" for part, number in sorted(result.redacted_in.get(name, {}).items()))
        rows.append((f"redacted: {name}", f"{count} ({parts})"))
    notes = [*result.notices, *_list_unknown_keys(result), *result.reasons]
    if result.without_time:
        notes.append(f"{format_count(result.without_time, 'record')} gave no time: they have that of their receipt")
    if result.dead_letters is not None:
        notes.append(
            f"refused lines with their reasons: {result.dead_letters} (correct them in the source and ingest it again: "
            "what is stored is recognised)"
        )
    if result.stored:
        notes.append(f"no shipped rule looks for {', '.join(NOT_LOOKED_FOR)}: --redact takes rules of your own")
    return Table("Ingested answers", ("", ""), tuple(rows), tuple(notes))


def describe_ingest(result: IngestResult) -> dict[str, Any]:
    """Return the result as plain values."""
    return {
        "lines": result.lines,
        "stored": result.stored,
        "duplicates": result.duplicates,
        "conflicts": result.conflicts,
        "erased": result.erased,
        "rejected": result.rejected,
        "without_time": result.without_time,
        "completeness": result.completeness,
        "fields": {name: _share(result, name) for name in AUDIT_FIELDS},
        "redacted": dict(sorted(result.redacted.items())),
        "redacted_in": {name: dict(sorted(parts.items())) for name, parts in sorted(result.redacted_in.items())},
        "unknown_keys": dict(sorted(result.unknown_keys.items())),
        "dead_letters": result.dead_letters,
        "reasons": result.reasons,
        "notices": result.notices,
    }


def _list_unknown_keys(result: IngestResult) -> Iterator[str]:
    rows = sorted(result.unknown_keys.items(), key=lambda row: (-row[1], row[0]))
    for name, count in rows[:MAX_KEYS_SHOWN]:
        yield f"unknown key {name}: not stored (in at least {format_count(count, 'line')})"
    if len(rows) > MAX_KEYS_SHOWN:
        yield f"{len(rows) - MAX_KEYS_SHOWN} more unknown keys (--format json lists them)"


def _share(result: IngestResult, name: str) -> float | None:
    return result.complete[name] / result.parsed if result.parsed else None


def _percent(share: float | None) -> str:
    if share is None:
        return "n/a"
    text = f"{100 * share:.1f}%"
    return "99.9%" if text == "100.0%" and share < 1 else text


def build_verify_table(result: VerifyResult) -> Table:
    """Return the faults of a store; no rows where there is none."""
    rows = [
        (fault.kind, "" if fault.sequence is None else str(fault.sequence), fault.record_id or "", fault.message)
        for fault in result.faults[:MAX_FAULTS_SHOWN]
    ]
    more = len(result.faults) - len(rows) + result.more_faults
    rows += [("page", "", "", _describe_damage(damage)) for damage in result.pages.damaged]
    notes = [f"… and {more} more faults"] if more else []
    chain_faults = len(result.faults) + result.more_faults
    state = format_count(chain_faults, "fault") if chain_faults else "intact"
    counts = f"{format_count(result.answers, 'answer')}, {result.erased} erased"
    notes.append(
        f"{format_count(result.skipped + result.records, 'record')} ({counts}) on "
        f"{format_count(len(result.roots), 'day')}: {state}"
    )
    if result.lost:
        ranges = _join_ranges([(first, last or first) for first, last in result.lost])
        after = " and what came after it" if result.lost[-1][1] is None else ""
        notes.append(f"lost: {ranges}{after}; `assay audit export --salvage` writes what is left to a file")
    notes += _describe_pages(result)
    notes += _describe_sign_off(result)
    notes += result.notices
    return Table("Verification", ("fault", "record", "id", "what is wrong"), tuple(rows), tuple(notes))


def _describe_sign_off(result: VerifyResult) -> Iterator[str]:
    """Yield what a sign-off covers, and what it does not."""
    if result.signed_roots:
        yield f"{format_count(result.signed_roots, 'signed-off day')}, up to record {result.signed_until}"
    first, last = result.unsigned_from, result.roots[-1].last if result.roots else 0
    if first is None:
        return
    records = f"records {first} to {last} are" if first < last else f"record {last} is"
    unsigned_days = [root.day for root in result.roots if root.last >= first]
    days = ", ".join(unsigned_days[:5]) + (" …" if len(unsigned_days) > 5 else "")
    yield (
        f"{records} not signed off ({days}): if the chain had been rewritten as a whole, or cut off at the end, nobody "
        "would notice (--roots FILE --sign-off NAME signs off)"
    )


def _describe_damage(damage: TableDamage) -> str:
    holds = f" ({damage.holds})" if damage.holds else ""
    more = f", and {damage.faults - 1} more" if damage.faults > 1 else ""
    return f"table {damage.table}{holds}: {damage.first}{more}"


def _describe_pages(result: VerifyResult) -> Iterator[str]:
    """Yield what the check of the database's pages found, and what to do about it."""
    if result.pages.notice is not None:
        yield result.pages.notice
    if not result.pages.is_checked:
        return
    damaged = result.pages.damaged
    if not damaged:
        yield "pages of the database: intact"
        return
    yield f"pages of the database: damaged in {', '.join(damage.table for damage in damaged)}"
    if not result.faults:
        yield "every record of the chain could still be read, and is what it was: nothing of it is lost yet"
    yield f"ingest nothing more into this file; {DAMAGE_REMEDY}, and ingest that into a new store"


def describe_verification(result: VerifyResult) -> dict[str, Any]:
    """Return the result as plain values."""
    faults = [
        {"kind": fault.kind, "sequence": fault.sequence, "id": fault.record_id, "message": fault.message}
        for fault in result.faults
    ]
    return {
        "intact": result.is_intact,
        "records": result.records + result.skipped,
        "skipped": result.skipped,
        "answers": result.answers,
        "erased": result.erased,
        "faults": faults,
        "more_faults": result.more_faults,
        "lost": [{"first": first, "last": last} for first, last in result.lost],
        "pages": {
            "checked": result.pages.is_checked,
            "damaged": [msgspec.to_builtins(damage) for damage in result.pages.damaged],
            "notice": result.pages.notice,
        },
        "roots": [
            {"day": root.day, "first": root.first, "last": root.last, "root": root.root} for root in result.roots
        ],
        "signed_roots": result.signed_roots,
        "signed_until": result.signed_until,
        "unsigned_from": result.unsigned_from,
        "unsigned_days": result.unsigned_days,
    }


def build_erasure_table(result: ErasureResult) -> Table:
    """Return how much was erased."""
    title = "Would be erased" if result.dry_run else "Erased"
    notes: tuple[str, ...] = ()
    if result.records and not result.dry_run:
        notes = (ELSEWHERE,)
    if result.changed:
        numbers = _join_ranges([(number, number) for number in result.changed])
        notes = (
            *notes,
            f"changed by somebody before: {format_count(len(result.changed), 'record')} of these ({numbers}); "
            "`assay audit verify` goes on to name each",
        )
    rows = (("records", str(result.records)), ("texts of chunks", str(result.texts)))
    return Table(title, ("", ""), rows, notes)


def describe_erasure(result: ErasureResult) -> dict[str, Any]:
    """Return the result as plain values."""
    return {
        "records": result.records,
        "texts": result.texts,
        "changed": list(result.changed),
        "dry_run": result.dry_run,
    }


def build_export_table(result: ExportResult) -> Table:
    """Return what was exported, and what was not."""
    rows = [("answers exported", str(result.exported)), ("of them masked", str(result.masked))]
    rows.append(("erased before", str(result.erased)))
    lost = sum(last - first + 1 for first, last in result.lost)
    for name, count in (
        ("records that cannot be read", lost),
        ("records that are not what the chain committed to", len(result.damaged)),
        ("records whose commitment cannot be checked", result.unverified),
        ("texts of chunks that cannot be read", result.lost_texts),
    ):
        if count:
            rows.append((name, str(count)))
    notes = list(result.notices)
    if result.unsearched:
        notes.append(
            f"exported as they are: {format_count(result.unsearched, 'answer')} of which nothing tells what their "
            "users may see (it takes a --corpus with their chunks, and records with tenant and roles of the user)"
        )
    if result.lost:
        notes.append(f"lost: {_join_ranges(result.lost)}")
    if result.damaged:
        notes.append(f"damaged: {_join_ranges([(number, number) for number in result.damaged])}")
    return Table("Exported answers", ("", ""), tuple(rows), tuple(notes))


def _join_ranges(ranges: Sequence[tuple[int, int]]) -> str:
    texts = [str(first) if first == last else f"{first} to {last}" for first, last in ranges]
    return join_first(texts, MAX_RANGES_SHOWN)


def describe_export(result: ExportResult) -> dict[str, Any]:
    """Return the result as plain values."""
    return {
        "file": result.file,
        "exported": result.exported,
        "masked": result.masked,
        "unsearched": result.unsearched,
        "erased": result.erased,
        "lost": [list(bounds) for bounds in result.lost],
        "damaged": result.damaged,
        "unverified": result.unverified,
        "lost_texts": result.lost_texts,
        "notices": result.notices,
    }


def build_matches_table(result: ShowResult) -> Table:
    """Return the answers that were found, to choose one by its id."""
    rows = tuple(
        (record.id, record.at, *_describe_user(record), shorten_to_line(record.question or ""))
        for _, record in result.answers
    )
    notes = []
    if result.has_more:
        notes.append(f"more answers match than these {len(rows)}: --limit {10 * len(rows)} lists more")
    if result.truncated:
        notes.append("only the newest answers were searched")
    return Table("Answers that match", ("id", "asked at", "by", "tenant and roles", "question"), rows, tuple(notes))


def _describe_user(record: AuditRecord) -> tuple[str, str]:
    """Return the pseudonym of who asked, and their tenant and roles, each "" where the record has none."""
    user = record.user
    rights = "; ".join(filter(None, (user.tenant, ", ".join(user.roles)))) if user is not None else ""
    return record.user_uid or "", shorten_to_line(rights)


def build_exposure_table(exposure: Exposure) -> Table:
    """Return the answers that a document reached, first those to users who may not see it, and what nothing tells."""
    ordered = sorted(exposure.answers, key=lambda answer: answer.may_see is not False)
    rows = tuple(
        (
            answer.id,
            answer.at,
            answer.user or "",
            "; ".join(filter(None, (answer.tenant, ", ".join(answer.roles)))),
            ", ".join(answer.places),
            {True: "yes", False: "NO", None: "unknown"}[answer.may_see],
        )
        for answer in ordered[:MAX_EXPOSED_SHOWN]
    )
    headers = ("id", "asked at", "by", "tenant and roles", "where", "may see it")
    title = f"Answers that {shorten_to_line(exposure.name)} reached"
    return Table(title, headers, rows, tuple(_describe_exposure(exposure)))


def _describe_exposure(exposure: Exposure) -> Iterator[str]:
    answers, forbidden = exposure.answers, exposure.forbidden
    if len(answers) > MAX_EXPOSED_SHOWN:
        yield f"… and {len(answers) - MAX_EXPOSED_SHOWN} more (--format json lists all)"
    if answers:
        places = Counter(place for answer in answers for place in answer.places)
        users = _count_users(answers)
        counts = ", ".join(f"{place} {count}" for place, count in places.items())
        yield f"{format_count(len(answers), 'answer')} of {exposure.searched}, to {users}: {counts}"
    else:
        yield f"it is in none of {format_count(exposure.searched, 'answer')}"
    if forbidden:
        named = join_first([answer.id for answer in forbidden], MAX_KEYS_SHOWN)
        users = _count_users(forbidden)
        yield f"{format_count(len(forbidden), 'answer')} to {users} who may not see it: {named}"
    unknown = sum(answer.may_see is None for answer in answers)
    if unknown:
        yield f"of {format_count(unknown, 'answer')} nothing tells whether their users may see it (--corpus)"
    if exposure.is_known is None:
        yield "looked for by its name alone: its text in answers, and under other ids, is found with --corpus"
    if exposure.is_known is False:
        yield "no corpus has a chunk or a document of this name: is it written as there?"
    if exposure.untold:
        untold = format_count(exposure.untold, "answer states", "answers state")
        yield f"{untold} nothing of what was retrieved, shown or cited: nobody can tell"
    if exposure.erased:
        erased = format_count(exposure.erased, "answer of the store was", "answers of the store were")
        yield f"{erased} erased: nothing is known of {'it' if exposure.erased == 1 else 'them'}"


def _count_users(answers: Sequence[ExposedAnswer]) -> str:
    """Return how many users some answers were given to, and to how many nobody says whom."""
    users = format_count(len({answer.user for answer in answers if answer.user is not None}), "user")
    unnamed = sum(answer.user is None for answer in answers)
    return f"{users}, and {unnamed} to nobody who is named," if unnamed else users


def describe_exposure(exposure: Exposure) -> dict[str, Any]:
    """Return the exposure as plain values."""
    plain: dict[str, Any] = msgspec.to_builtins(exposure)
    return plain


def describe_show(result: ShowResult) -> dict[str, Any]:
    """Return what was found as plain values."""
    matches = [
        {"id": record.id, "at": record.at, "user": record.user_uid, "question": record.question}
        for _, record in result.answers
    ]
    incident = None if result.incident is None else msgspec.to_builtins(result.incident)
    if incident is not None:
        matches = []
    return {"matches": matches, "truncated": result.truncated, "has_more": result.has_more, "incident": incident}
