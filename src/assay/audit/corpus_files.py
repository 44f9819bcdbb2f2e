"""Reads corpora for audits: `FILE` is the present corpus, `VERSION=FILE` that of an index version."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.audit.versioned_corpora import VersionedCorpora
from assay.formats.corpus import load_corpus
from assay.records.errors import InputError, shorten_repr
from assay.records.golden_set import Corpus

PathLike = str | Path
CorpusPaths = PathLike | Sequence[PathLike] | None


def load_corpora(paths: CorpusPaths) -> VersionedCorpora:
    """Return the corpora of some files. Raises InputError for a version or a present corpus that is given twice."""
    present: Corpus | None = None
    by_version: dict[str, Corpus] = {}
    for version, path in split_corpus_paths(paths):
        if version is None and present is not None:
            raise InputError(f"--corpus: two without a version (got {path!r} as well; expected VERSION={path})")
        if version is not None and version in by_version:
            raise InputError(f"--corpus: two of one version (got {shorten_repr(version)} again)")
        if version is None:
            present = load_corpus(path)[0]
        else:
            by_version[version] = load_corpus(path)[0]
    return VersionedCorpora(present, by_version)


def split_corpus_paths(paths: CorpusPaths) -> list[tuple[str | None, str]]:
    """Return version and path of each corpus; a name that is a file is a path, whatever signs it holds.

    >>> split_corpus_paths(["v11=march.jsonl", "now.jsonl"])
    [('v11', 'march.jsonl'), (None, 'now.jsonl')]
    """
    listed = [] if paths is None else [paths] if isinstance(paths, (str, Path)) else list(paths)
    pairs: list[tuple[str | None, str]] = []
    for item in listed:
        version, separator, path = str(item).partition("=")
        if not separator or isinstance(item, Path) or Path(str(item)).is_file():
            pairs.append((None, str(item)))
        elif not version or not path:
            raise InputError(f"--corpus: no version or no file (got {shorten_repr(item)}; expected VERSION=FILE)")
        else:
            pairs.append((version, path))
    return pairs
