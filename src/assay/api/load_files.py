"""Golden sets, corpora and recorded outputs from files, as values."""

from __future__ import annotations

from collections.abc import Sequence

from assay.formats import corpus as corpora
from assay.records.golden_set import Corpus, GoldenSet
from assay.records.observations import Observation
from assay.runs.check_arguments import list_values
from assay.runs.python_values import PathLike, load_golden_file, read_output_files, require_path, says_arguments


@says_arguments
def load_golden(path: PathLike, format: str | None = None) -> GoldenSet:
    """Load a golden set in any format that Assay reads. Raises InputError listing all problems of the file."""
    return load_golden_file(require_path(path, "golden"), format)


@says_arguments
def load_corpus(path: PathLike) -> Corpus:
    """Load a corpus, the reference for access rules, texts and versions. Raises InputError listing all its problems."""
    return corpora.load_corpus(require_path(path, "corpus"))[0]


@says_arguments
def load_observations(*paths: PathLike | Sequence[PathLike], format: str | None = None) -> list[Observation]:
    """Load recorded outputs from files or glob patterns. Raises InputError listing all problems of the files."""
    return read_output_files([path for listed in paths for path in list_values(listed)], format)
