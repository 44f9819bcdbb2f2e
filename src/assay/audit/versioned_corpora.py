"""The corpora of a system over time: each answer is checked with that of the version that it states."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from assay.records.audit_records import AuditRecord
from assay.records.golden_set import Corpus

VERSION_KEYS = ("index", "corpus", "index_version", "corpus_version")
"""The versions of an answer that may name its corpus."""


class VersionedCorpora(Struct, frozen=True):
    """Corpora by version, and the present one, which also stands for answers of a version that has none.

    >>> corpora = VersionedCorpora(None, {"v1": Corpus({}, "old")})
    >>> corpora.find_corpus(AuditRecord(id="a", at="", versions={"index": "v1"})).digest
    'old'
    """

    present: Corpus | None = None
    by_version: dict[str, Corpus] = {}

    @property
    def is_empty(self) -> bool:
        """Whether there is no corpus at all."""
        return self.present is None and not self.by_version

    @property
    def current(self) -> Corpus | None:
        """The corpus of now: the present one, else the last of those that were named with a version."""
        return self.present if self.present is not None else next(reversed(self.by_version.values()), None)

    def find_corpus(self, record: AuditRecord) -> Corpus | None:
        """Return the corpus of an answer: that of its version, else the present one, None without one."""
        version = self.find_version(record)
        return self.present if version is None else self.by_version[version]

    def find_version(self, record: AuditRecord) -> str | None:
        """Return the version of an answer that has a corpus of its own here; None without one."""
        return next((version for version in list_corpus_versions(record) if version in self.by_version), None)


NO_CORPORA = VersionedCorpora()


def list_corpus_versions(record: AuditRecord) -> Iterator[str]:
    """Yield what an answer states as the version of its index or corpus."""
    for key in VERSION_KEYS:
        if key in record.versions:
            yield record.versions[key]
