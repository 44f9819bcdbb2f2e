"""What the commands of the audit store return: counts, faults, and what was erased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from assay.audit.incident import Incident
from assay.records.audit_records import AUDIT_FIELDS, AuditRecord, DayRoot
from assay.text.escaping import shorten_to_line

DAMAGE_REMEDY = (
    "restore a copy of it and ingest what came since once more, or export what can still be read with "
    "`assay audit export --salvage`"
)
"""What to do about a store whose file is damaged."""
MAX_FAULTS = 1000
MAX_UNKNOWN_KEYS, MAX_KEY = 100, 120


@dataclass
class IngestResult:
    """What became of every line: `lines` = stored + duplicates + conflicts + erased + rejected.

    `complete` counts, of the lines that were read (stored or known), how many have each audit field. `redacted` counts
    what each rule replaced, `redacted_in` by part (questions, answers, documents, tool calls, elsewhere).
    `unknown_keys` are members of lines that no record has, with a hint, and how many lines were seen to have them.
    """

    lines: int = 0
    stored: int = 0
    duplicates: int = 0
    conflicts: int = 0
    erased: int = 0
    rejected: int = 0
    without_time: int = 0
    complete: dict[str, int] = field(default_factory=lambda: dict.fromkeys(AUDIT_FIELDS, 0))
    redacted: dict[str, int] = field(default_factory=dict)
    redacted_in: dict[str, dict[str, int]] = field(default_factory=dict)
    unknown_keys: dict[str, int] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    dead_letters: str | None = None

    def note_unknown_key(self, key: str, hint: str) -> None:
        """Count a key that was left out; of lines that make up keys of their own, the first keys are named."""
        name = f"{shorten_to_line(key, MAX_KEY)}{hint}"
        if name not in self.unknown_keys and len(self.unknown_keys) >= MAX_UNKNOWN_KEYS:
            name = "(others)"
        self.unknown_keys[name] = self.unknown_keys.get(name, 0) + 1

    @property
    def parsed(self) -> int:
        """The lines that were read as records."""
        return self.lines - self.rejected

    @property
    def completeness(self) -> float | None:
        """The share of audit fields that the records have, over all fields and records; None without a record."""
        return sum(self.complete.values()) / (self.parsed * len(AUDIT_FIELDS)) if self.parsed else None


class ChainFault(msgspec.Struct, frozen=True):
    """One thing that is wrong: `kind` is changed, removed, moved, inserted, erased, index or root.

    `sequence` is the number of the record, `record_id` its id where it can still be read.
    """

    kind: str
    sequence: int | None
    record_id: str | None
    message: str


class TableDamage(msgspec.Struct, frozen=True):
    """A damaged table of the database: what it holds, how many faults were found, and the first of them."""

    table: str
    holds: str
    faults: int
    first: str


class PageCheck(msgspec.Struct, frozen=True):
    """What a check of the database's pages found; `notice` says why they were not checked."""

    is_checked: bool = False
    damaged: tuple[TableDamage, ...] = ()
    notice: str | None = None


@dataclass
class VerifyResult:
    """What a verification saw. `roots` are those of all days; `faults` is empty for a store that is intact.

    `records` were read; the first `skipped` were not, because they were verified before. Answers and erased records are
    those of both, as far as is known. `pages` are those of the database, of which the chain needs only some. `lost` are
    ranges of records on pages that cannot be read, the last one without an end where nobody can say how many.

    `signed_roots` counts the days that were signed off, the last of them up to the record `signed_until`.
    `unsigned_days` are those that were not, and the last one if it went on afterwards.
    """

    records: int = 0
    skipped: int = 0
    answers: int = 0
    erased: int = 0
    faults: list[ChainFault] = field(default_factory=list)
    more_faults: int = 0
    lost: list[tuple[int, int | None]] = field(default_factory=list)
    roots: list[DayRoot] = field(default_factory=list)
    signed_roots: int = 0
    signed_until: int = 0
    unsigned_days: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    pages: PageCheck = field(default_factory=PageCheck)

    @property
    def is_intact(self) -> bool:
        """Whether nothing is wrong, as far as was checked."""
        return self.fault_count == 0

    @property
    def unsigned_from(self) -> int | None:
        """The number of the first record that no sign-off covers; None where all are covered."""
        return self.signed_until + 1 if self.roots and self.signed_until < self.roots[-1].last else None

    @property
    def fault_count(self) -> int:
        """The number of faults of the chain and of damaged tables."""
        return len(self.faults) + self.more_faults + len(self.pages.damaged)

    def add_fault(self, kind: str, sequence: int | None, record_id: str | None, message: str) -> None:
        """Note a fault; after the first thousand they are only counted."""
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(ChainFault(kind, sequence, record_id, message))
        else:
            self.more_faults += 1


@dataclass(frozen=True)
class ShowResult:
    """The answers that a question found, newest first, and the one that was rebuilt, if there is only one.

    `truncated` says that older answers were not searched, `has_more` that more were found than were asked for.
    """

    answers: list[tuple[int, AuditRecord]]
    incident: Incident | None = None
    truncated: bool = False
    has_more: bool = False


@dataclass(frozen=True)
class ErasureResult:
    """What was erased: records and texts; `dry_run` says that nothing was.

    `changed` are the numbers of those records whose content somebody had changed: it is erased like the rest, and
    verifying goes on to report them.
    """

    records: int
    texts: int
    dry_run: bool = False
    changed: Sequence[int] = ()


@dataclass
class ExportResult:
    """What became of the answers of a store. Exported are those of the period, user and slices that were asked for.

    `masked` had text that their users may not see; of `unsearched`, nothing told what their users may see. `erased` are
    those whose content was erased before. Of a damaged store, `lost` are ranges of records that cannot be read,
    `damaged` records that are not what the chain committed to (they are left out), `unverified` such of which that
    cannot be told, `lost_texts` texts of chunks.
    """

    file: str
    exported: int = 0
    masked: int = 0
    unsearched: int = 0
    erased: int = 0
    lost: list[tuple[int, int]] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)
    unverified: int = 0
    lost_texts: int = 0
    notices: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether nothing was lost."""
        return not (self.lost or self.damaged or self.lost_texts or self.notices)
