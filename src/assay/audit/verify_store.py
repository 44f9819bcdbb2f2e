"""Verifies the chain of an audit store: finds every record that was changed, removed, inserted or moved, by number.

What the chain alone can show is that the store was not touched by somebody who could not compute all later links
again. Roots that are signed off and kept elsewhere show the rest: a store that was rewritten as a whole, or cut off.
"""

from __future__ import annotations

import json
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa

from assay.audit.audit_store import KEYS_PER_QUERY, AuditStore, ChainRow, DamagedStoreError, make_id_key
from assay.audit.batch_rows import count_microseconds, list_index_citations, list_labels
from assay.audit.chain import (
    CHECKPOINT_RECORDS,
    GENESIS,
    compute_commitment,
    compute_link,
    compute_text_key,
    is_genuine,
    sign_root,
)
from assay.audit.check_pages import check_pages
from assay.audit.load_cells import find_foreign_cells, list_foreign_settings, mend_row
from assay.audit.packed_body import UNPACKING_ERRORS, unpack_body
from assay.audit.privacy import AuditKeys
from assay.audit.results import MAX_FAULTS, ChainFault, PageCheck, VerifyResult
from assay.audit.schema import CITATIONS, LABELS, RECORDS, STORE_OWNER, TEXTS, USERS
from assay.audit.verified_point_file import VerifiedPoint
from assay.formats.file_io import Line, open_source, read_lines
from assay.records.audit_records import DayRoot, Erasure, Finding, SignedRoot, StoredAnswer
from assay.records.counts import format_count
from assay.records.errors import IncompleteError, InputError, Problem

PAGE = 2000
PAGES_SKIPPED = "pages of the database: not checked in a verification that reads only what is new (--full checks them)"


def verify_store(
    store: AuditStore,
    signed: Sequence[SignedRoot] = (),
    keys: AuditKeys | None = None,
    verified: VerifiedPoint | None = None,
) -> VerifyResult:
    """Check every record of the store, its texts and its indexes, and compare the days with roots signed off before.

    With `keys` the signatures of the roots are checked too. After a point that was `verified` before, only newer
    records are read; of the older ones, their number and every link in the roots. If those differ, all are read. The
    pages of the database are checked where everything is read. Of a damaged store, all that can be read is checked, and
    the ranges that are lost are named. Raises IncompleteError if nothing of the store can be read.
    """
    result = VerifyResult()
    checker = _ChainChecker(store, result)
    differing = None
    try:
        differing = None if verified is None else find_rewritten(store, verified)
    except DamagedStoreError:
        verified = None  # everything is read, which tells what is lost
    if verified is not None and differing is None:
        checker.resume_after(verified)
    elif verified is not None:
        message = f"the chain is not the one that was verified at {verified.at}: rewritten at or before this record"
        result.add_fault("root", differing, None, message)
    result.pages = PageCheck(notice=PAGES_SKIPPED) if result.skipped and store.is_sqlite else check_pages(store)
    try:
        for message in list_foreign_settings(store):
            result.add_fault("changed", None, None, message)
    except DamagedStoreError:
        if not result.pages.damaged:
            raise
    for part in _iterate_readable(store, result.skipped):
        if isinstance(part, _LostRange):
            checker.pass_lost(part)
        else:
            checker.check_page(part)
    checker.finish()
    _compare_roots(result, signed, keys, _load_signed_links(store, signed))
    return result


class _LostRange(NamedTuple):
    """The numbers of records that cannot be read; `last` is None where the end of the chain cannot be told."""

    first: int
    last: int | None


def _iterate_readable(store: AuditStore, after: int) -> Iterator[list[ChainRow] | _LostRange]:
    """Yield all records after one, page by page; where a page of the file is damaged, which numbers are lost."""
    last = _read_last_sequence(store)
    while True:
        try:
            for page in store.iterate_pages(after=after, page=PAGE):
                yield page
                after = page[-1].sequence
        except DamagedStoreError:
            end = after + PAGE if last is None else min(after + PAGE, last)
            parts = list(_join_lost(_read_in_halves(store, after + 1, end)))
            if last is None and isinstance(parts[-1], _LostRange):
                yield from parts[:-1]
                yield _LostRange(parts[-1].first, None)
                return
            yield from parts
            after = end
            if last is not None and after >= last:
                return
        else:
            return


def _read_last_sequence(store: AuditStore) -> int | None:
    """Return the number of the newest record; None where the store does not tell any more."""
    try:
        with store.reading() as connection:
            return int(connection.execute(sa.select(sa.func.max(RECORDS.c.sequence))).scalar_one() or 0)
    except DamagedStoreError:
        return None


def _read_in_halves(store: AuditStore, first: int, last: int) -> Iterator[list[ChainRow] | _LostRange]:
    """Yield the records from first to last; a range that cannot be read is halved until the lost ones are known."""
    query = sa.select(RECORDS).where(RECORDS.c.sequence.between(first, last)).order_by(RECORDS.c.sequence)
    try:
        with store.reading() as connection:
            rows = [ChainRow(*row) for row in connection.execute(query)]
    except DamagedStoreError:
        if first == last:
            yield _LostRange(first, last)
            return
        middle = (first + last) // 2
        yield from _read_in_halves(store, first, middle)
        yield from _read_in_halves(store, middle + 1, last)
        return
    if rows:
        yield rows


def _join_lost(parts: Iterable[list[ChainRow] | _LostRange]) -> Iterator[list[ChainRow] | _LostRange]:
    """Join ranges of lost records that follow one another."""
    lost: _LostRange | None = None
    for part in parts:
        if isinstance(part, _LostRange):
            lost = part if lost is None else _LostRange(lost.first, part.last)
            continue
        if lost is not None:
            yield lost
            lost = None
        yield part
    if lost is not None:
        yield lost


def find_rewritten(store: AuditStore, verified: VerifiedPoint) -> int | None:
    """Return the first record whose link is not that of a point verified before, None if all agree.

    Looked at are the ends of days, every `CHECKPOINT_RECORDS`th record, and how many records there are. Raises
    DamagedStoreError where one of these cannot be read: that is no trace of anybody.
    """
    expected = {sequence: link for root in verified.roots for sequence, link in (*root.links, (root.last, root.root))}
    links = _load_links(store, expected)
    for sequence in sorted(expected):
        if links.get(sequence) != expected[sequence]:
            return sequence
    with store.reading() as connection:
        count = sa.select(sa.func.count()).select_from(RECORDS).where(RECORDS.c.sequence <= verified.sequence)
        return None if connection.execute(count).scalar_one() == verified.sequence else verified.sequence


def _load_links(store: AuditStore, sequences: Iterable[int]) -> dict[int, str]:
    """Return the links of these records, of those that are there."""
    wanted, links = sorted(set(sequences)), {}
    with store.reading() as connection:
        for start in range(0, len(wanted), KEYS_PER_QUERY):
            part = wanted[start : start + KEYS_PER_QUERY]
            query = sa.select(RECORDS.c.sequence, RECORDS.c.link).where(RECORDS.c.sequence.in_(part))
            links.update({row[0]: row[1].hex() for row in connection.execute(query) if isinstance(row[1], bytes)})
    return links


def _load_signed_links(store: AuditStore, signed: Iterable[SignedRoot]) -> dict[int, str]:
    """Return the links of the records with which days were signed off, of those that can be read."""
    links = {}
    for root in (signed_root.root for signed_root in signed):
        try:
            links.update(_load_links(store, [root.last]))
        except DamagedStoreError:  # whoever reads the chain says what is lost
            continue
    return links


def check_record(store: AuditStore, sequence: int) -> list[ChainFault]:
    """Check one record with its texts, its index rows and its link to the record before."""
    result = VerifyResult()
    rows = [row for row, _ in zip(store.iterate_chain(max(0, sequence - 2), page=2), range(2), strict=False)]
    checker = _ChainChecker(store, result)
    checker.start_after([row for row in rows if row.sequence < sequence])
    checker.check_page([row for row in rows if row.sequence == sequence])
    return result.faults


class _ChainChecker:
    """Walks through the chain page by page."""

    def __init__(self, store: AuditStore, result: VerifyResult) -> None:
        self._store, self._result = store, result
        self._previous = GENESIS
        self._sequence = 0
        self._day = ""
        self._first_of_day = 1
        self._links: list[tuple[int, str]] = []
        self._is_after_gap = False
        self._erased_rows: list[int] = []
        self._erased_by_event: list[tuple[int, int]] = []
        self._foreign: dict[int, list[str]] = {}
        with store.reading() as connection:
            query = sa.select(USERS.c.salt).where(USERS.c.number == STORE_OWNER)
            self._store_salt = connection.execute(query).scalar_one_or_none()

    def start_after(self, rows: Sequence[ChainRow]) -> None:
        """Begin after the last of these records, which are taken as they are."""
        if rows:
            last = rows[-1]
            last = mend_row(last)
            self._previous, self._sequence, self._day = last.link, last.sequence, last.day

    def resume_after(self, verified: VerifiedPoint) -> None:
        """Begin after records that were verified before; their days are taken from there."""
        last = verified.roots[-1]
        self._previous, self._sequence, self._day = bytes.fromhex(last.root), last.last, last.day
        self._first_of_day, self._links = last.first, list(last.links)
        self._result.roots += verified.roots[:-1]
        self._result.skipped, self._result.answers = verified.sequence, verified.answers
        self._result.erased = verified.erased

    def pass_lost(self, lost: _LostRange) -> None:
        """Note records that cannot be read; whether the next one follows from them, nobody can say."""
        if lost.last is None:
            message = "cannot be read, nor can what came after it, if there was anything: its page is damaged"
        else:
            many = f"records {lost.first} to {lost.last}" if lost.last > lost.first else f"record {lost.first}"
            message = f"{many} cannot be read: a page of the file is damaged"
            self._sequence = lost.last
        self._result.lost.append((lost.first, lost.last))
        self._result.add_fault("lost", lost.first, None, message)
        self._is_after_gap = True

    def check_page(self, stored: Sequence[ChainRow]) -> None:
        """Check some records that follow one another."""
        rows, self._foreign = [], {}
        for row in stored:
            foreign = find_foreign_cells(row)
            if foreign:
                self._foreign[row.sequence] = foreign
            rows.append(mend_row(row) if foreign else row)
        salts, texts = self._load_page(rows)
        citations, labels = self._load_look_ups(CITATIONS, rows), self._load_look_ups(LABELS, rows)
        for row in rows:
            self._result.records += 1
            if row.sequence in self._foreign:
                message = f"changed to another type: {'; '.join(self._foreign[row.sequence])}"
                self._result.add_fault("changed", row.sequence, _read_id(row), message)
            self._check_link(row)
            if row.body is None or row.nonce is None:
                self._check_erased(row)
                continue
            owner = salts.get(row.owner)
            if owner is None:
                self._add_fault(
                    "changed",
                    row.sequence,
                    _read_id(row),
                    "its user is not in the store, was changed, or cannot be read",
                )
                continue
            pseudonym, salt = owner
            answer = self._check_body(row, salt)
            if answer is None:
                continue
            self._check_columns(row, answer, pseudonym)
            for key in answer.texts:
                if key is not None:
                    self._check_text(row, answer, key, texts, salt)
            if citations is not None and citations[row.sequence] != _count_citations(answer):
                self._add_fault("index", row.sequence, answer.record.id, "its citations in the index differ")
            if labels is not None and not labels[row.sequence] >= Counter(list_labels(answer.record)):
                self._add_fault("index", row.sequence, answer.record.id, "its verdicts in the index differ")

    def _add_fault(self, kind: str, sequence: int, record_id: str | None, message: str) -> None:
        """Note a fault, unless it only follows from a cell of the record that holds another type."""
        if sequence not in self._foreign:
            self._result.add_fault(kind, sequence, record_id, message)

    def finish(self) -> None:
        """Close the last day, and compare what is erased with the erasures in the chain."""
        self._close_day()
        for sequence in self._erased_rows:
            if not any(first <= sequence <= last for first, last in self._erased_by_event):
                self._result.add_fault("erased", sequence, None, "its content is gone, and no erasure says so")
        self._result.erased += len(self._erased_rows)

    def _load_page(
        self, rows: Sequence[ChainRow]
    ) -> tuple[dict[int | None, tuple[object, bytes]], dict[str, StoredText]]:
        """Return the users of some records by their numbers, and their texts by their keys."""
        owners = sorted({row.owner for row in rows if row.owner is not None})
        salts: dict[int | None, tuple[object, bytes]] = {}
        texts: dict[str, StoredText] = {}
        keys: set[bytes] = set()
        for row in rows:
            keys |= _list_text_keys(row)
        for number, pseudonym, salt in self._read_rows(USERS, USERS.c.number, owners):
            if isinstance(salt, bytes):
                salts[number] = (pseudonym, salt)
        for key, *values in self._read_rows(TEXTS, TEXTS.c.key, sorted(keys)):
            texts[bytes(key).hex()] = StoredText(*values)
        return salts, texts

    def _read_rows(self, table: sa.Table, column: sa.Column[Any], keys: Sequence[Any]) -> Iterator[Any]:
        """Yield the rows with these keys; of those that a damaged page keeps from being read together, each that can be
        read by itself."""
        for start in range(0, len(keys), KEYS_PER_QUERY):
            part = keys[start : start + KEYS_PER_QUERY]
            try:
                with self._store.reading() as connection:
                    rows = connection.execute(sa.select(table).where(column.in_(part))).all()
            except DamagedStoreError:
                if not self._result.pages.damaged:
                    raise
                middle = len(part) // 2
                if middle:
                    yield from self._read_rows(table, column, part[:middle])
                    yield from self._read_rows(table, column, part[middle:])
                continue
            yield from rows

    def _load_look_ups(self, table: sa.Table, rows: Sequence[ChainRow]) -> dict[int, Counter[Any]] | None:
        """Return the rows of a look-up table for some records; None where damage, which is reported, hides them."""
        counts: dict[int, Counter[Any]] = {row.sequence: Counter() for row in rows}
        query = sa.select(table).where(table.c.sequence.between(rows[0].sequence, rows[-1].sequence))
        try:
            with self._store.reading() as connection:
                for *values, sequence in connection.execute(query):
                    counts.setdefault(sequence, Counter())[tuple(values)] += 1
        except DamagedStoreError:
            if not self._result.pages.damaged:
                raise
            return None
        return counts

    def _check_link(self, row: ChainRow) -> None:
        result = self._result
        if row.sequence != self._sequence + 1:
            missing = range(self._sequence + 1, row.sequence)
            for sequence in missing[:MAX_FAULTS]:
                result.add_fault("removed", sequence, None, "is missing from the chain")
            result.more_faults += max(0, len(missing) - MAX_FAULTS)
        elif row.day < self._day:
            self._add_fault("moved", row.sequence, None, f"its day is {row.day}, after records of {self._day}")
        elif not self._is_after_gap and self._compute_link(row) != row.link:
            message = "its link does not follow from the record before: one of the two was changed or moved"
            self._add_fault("moved", row.sequence, None, message)
        self._is_after_gap = False
        foreign = {cell.partition(" ")[0] for cell in self._foreign.get(row.sequence, ())}
        if row.day != self._day and "day" not in foreign:
            self._close_day()
            self._day, self._first_of_day = row.day, row.sequence
        # Where the link was changed to another type, what it must have been shows whether the next record is in order.
        link = self._compute_link(row) if "link" in foreign else row.link
        if row.sequence % CHECKPOINT_RECORDS == 0:
            self._links.append((row.sequence, link.hex()))
        self._previous, self._sequence = link, row.sequence

    def _compute_link(self, row: ChainRow) -> bytes:
        return compute_link(self._previous, row.sequence, row.day, row.kind, row.commitment)

    def _close_day(self) -> None:
        if self._day:
            root = self._previous.hex()
            self._result.roots.append(DayRoot(self._day, self._first_of_day, self._sequence, root, tuple(self._links)))
        self._links = []

    def _check_erased(self, row: ChainRow) -> None:
        if row.erased_at is None or row.kind == "erasure":
            self._add_fault("changed", row.sequence, None, "its content is gone")
        else:
            self._erased_rows.append(row.sequence)

    def _check_body(self, row: ChainRow, salt: bytes) -> StoredAnswer | None:
        """Return the answer of a record whose content is what the chain committed to; note a fault otherwise."""
        assert row.body is not None
        assert row.nonce is not None
        try:
            body = unpack_body(row.body)
        except zlib.error:
            self._add_fault("changed", row.sequence, None, "its content cannot be unpacked")
            return None
        intact = compute_commitment(body, salt, row.nonce) == row.commitment
        try:
            if row.kind == "erasure":
                if intact:
                    self._note_erasure(msgspec.json.decode(body, type=Erasure))
                answer = None
            elif row.kind == "finding":
                msgspec.json.decode(body, type=Finding)
                answer = None
            else:
                answer = msgspec.json.decode(body, type=StoredAnswer)
        except (msgspec.DecodeError, UnicodeDecodeError):
            answer = None
        if not intact:
            record_id = answer.record.id if answer is not None else None
            message = "its content is not what the chain committed to"
            self._add_fault("changed", row.sequence, record_id, message)
            return None
        return answer

    def _note_erasure(self, erasure: Erasure) -> None:
        self._erased_by_event += erasure.ranges
        message = f"its content was not what the chain committed to when it was erased at {erasure.at}"
        for first, last in erasure.changed:
            for sequence in range(first, last + 1):
                self._result.add_fault("changed", sequence, None, message)

    def _check_columns(self, row: ChainRow, answer: StoredAnswer, pseudonym: object) -> None:
        self._result.answers += 1
        record = answer.record
        differing = []
        if row.at != count_microseconds(record.at):
            differing.append("time")
        if (record.user_uid or "store") != pseudonym:
            differing.append("user")
        if isinstance(self._store_salt, bytes) and row.id_key != make_id_key(record.id, self._store_salt):
            differing.append("id")
        if row.erased_at is not None:
            differing.append("erasure")
        if differing:
            message = f"its {' and '.join(differing)} in the index is not that of its content"
            self._add_fault("index", row.sequence, record.id, message)

    def _check_text(
        self, row: ChainRow, answer: StoredAnswer, key: str, texts: dict[str, StoredText], salt: bytes
    ) -> None:
        text = texts.get(key)
        fault = (
            "is missing, or cannot be read"
            if text is None
            else _find_text_fault(row.owner, count_microseconds(answer.record.at), key, text, salt)
        )
        if fault is not None:
            message = f"the text of one of its chunks {fault}"
            self._add_fault("changed", row.sequence, answer.record.id, message)


class StoredText(NamedTuple):
    """A text of a chunk as it is stored: cells that may hold anything."""

    owner: object
    last_at: object
    body: object


def _find_text_fault(owner: int | None, at: int, key: str, text: StoredText, salt: bytes) -> str | None:
    """Return what is wrong with a text, None if nothing is: erasing goes by its user and by when it was last used."""
    if not isinstance(text.body, bytes):
        return "cannot be unpacked"
    try:
        if compute_text_key(zlib.decompress(text.body), salt).hex() != key:
            return "was changed"
    except zlib.error:
        return "cannot be unpacked"
    if text.owner != owner:
        return "is filed under another user"
    if not isinstance(text.last_at, int) or text.last_at < at:
        return "is filed under an earlier time"
    return None


def _count_citations(answer: StoredAnswer) -> Counter[Any]:
    """Return what the look-up table of citations has of an answer: each citation with the time of the answer."""
    at = count_microseconds(answer.record.at)
    return Counter((citation, at) for citation in set(list_index_citations(answer.record)))


def _read_id(row: ChainRow) -> str | None:
    """Return the id in the content of a record, None where it cannot be read."""
    try:
        return msgspec.json.decode(unpack_body(row.body), type=StoredAnswer).record.id
    except UNPACKING_ERRORS:
        return None


def _list_text_keys(row: ChainRow) -> set[bytes]:
    """Return the keys of the texts of a record; none where it cannot be read, which is reported elsewhere."""
    if row.kind != "answer" or row.body is None:
        return set()
    try:
        answer = msgspec.json.decode(unpack_body(row.body), type=StoredAnswer)
        return {bytes.fromhex(key) for key in answer.texts if key is not None}
    except (*UNPACKING_ERRORS, ValueError):
        return set()


# ── roots that were signed off ───────────────────────────────────────────────────────────────────────────────────────


def _compare_roots(
    result: VerifyResult, signed: Sequence[SignedRoot], keys: AuditKeys | None, links: Mapping[int, str]
) -> None:
    """Compare the days with the roots signed off before; `links` are those of the last records of these roots."""
    by_day = {root.day: root for root in result.roots}
    last = result.roots[-1].last if result.roots else 0
    days = set()
    for signed_root in signed:
        root = signed_root.root
        if keys is not None and not is_genuine(signed_root, keys.signing):
            reason = "has no signature" if signed_root.signature is None else "was not signed with this key"
            result.add_fault("root", None, None, f"the signed-off root of {root.day} {reason}")
            continue
        days.add(root.day)
        result.signed_until = max(result.signed_until, root.last)
        here = by_day.get(root.day)
        if last < root.last:
            message = (
                f"{format_count(root.last, 'record was', 'records were')} signed off for {root.day}, and the "
                f"chain ends at {last}: cut off"
            )
            result.add_fault("removed", last + 1, None, message)
        elif here is None or not _contains_root(here, root, links.get(root.last)):
            sequence = _first_difference(here, root)
            message = f"the chain was rewritten: the root signed off for {root.day} by {signed_root.signed_by} differs"
            result.add_fault("root", sequence, None, f"{message}; first differing record at or before this one")
    result.signed_roots = len(days)
    result.unsigned_days = [root.day for root in result.roots if root.day not in days]
    if result.signed_until < last and result.roots[-1].day in days:
        result.unsigned_days.append(result.roots[-1].day)


def _contains_root(here: DayRoot, root: DayRoot, link: str | None) -> bool:
    """Return whether a day began with one that was signed off, and perhaps went on after it.

    `link` is that of the record with which the signed-off root ended; None where it cannot be read, which is a fault of
    its own.
    """
    if here.first != root.first or any(pair not in here.links for pair in root.links):
        return False
    return link is None or link == root.root


def _first_difference(here: DayRoot | None, root: DayRoot) -> int:
    """Return the number of the first checkpoint that differs: the rewriting began at it or before."""
    if here is None or here.first != root.first:
        return root.first
    own_links = dict(here.links)
    for sequence, link in root.links:
        if own_links.get(sequence) != link:
            return sequence
    return root.last


def load_signed_roots(path: str) -> list[SignedRoot]:
    """Load the roots that were signed off, one a line. Raises InputError with every line that is none."""
    roots: list[SignedRoot] = []
    problems: list[Problem] = []
    with open_source(path) as source:
        for line in read_lines(source):
            if not line.data.strip():
                continue
            try:
                roots.append(msgspec.json.decode(line.data, type=SignedRoot))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                problems.append(_root_problem(source.name, line, error))
    if problems:
        raise InputError(problems)
    return roots


def _root_problem(name: str, line: Line, error: Exception) -> Problem:
    message = f"not a signed-off root ({error}; expected a line that `assay audit verify --sign-off` wrote)"
    return Problem(name, line.number, "", message, "E_ROOT")


def sign_off_days(path: str, result: VerifyResult, signed_by: str, at: str, keys: AuditKeys | None) -> list[DayRoot]:
    """Append the roots of all days that are not signed off to their end to a file, and return them.

    A store with faults is not signed off: raises InputError. Raises IncompleteError if the file cannot be written.
    """
    if not result.is_intact:
        raise InputError(f"{path}: not signed off, because the store has {format_count(result.fault_count, 'fault')}")
    wanted = [root for root in result.roots if root.day in result.unsigned_days]
    lines = [
        json.dumps(msgspec.to_builtins(sign_root(root, signed_by, at, keys.signing if keys else None))) + "\n"
        for root in wanted
    ]
    if lines:
        _append_whole(Path(path), "".join(lines).encode())
    return wanted


def _append_whole(path: Path, lines: bytes) -> None:
    """Add lines to a file that is its owner's, all or none. Raises IncompleteError if they cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            size = os.fstat(descriptor).st_size
            try:
                while lines:
                    lines = lines[file.write(lines) :]
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
    except OSError as error:
        raise IncompleteError(f"{path}: cannot be written: {error.strerror or error}") from error
