"""`golden init`: a golden set to start from, and the coverage that it should reach.

`assay init` writes settings and the same three cases, for who wants to run something at once; this writes a set that
has an owner, and drafts its examples where there is a corpus.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from assay.formats.corpus import load_corpus
from assay.formats.file_io import write_atomically
from assay.formats.golden_files import compute_golden_digest, load_golden, write_golden
from assay.golden.candidate import Candidate, StarterSet
from assay.golden.drafting.draft_cases import describe_nothing, filter_candidates
from assay.golden.drafting.template_drafts import draft_candidates
from assay.records.errors import InputError, Problem
from assay.records.golden_set import Case, GoldenSet
from assay.runs.check_setup import GOLDEN_STUB

MAX_EXAMPLES = 6
"""The largest number of drafted examples, of as many kinds as there are."""
_DRAFT_NOTE = "An example, drafted by templates: read it, correct it, and delete this note, or delete the case."
_TARGETS_FILE = "coverage_targets.yaml"


@dataclass(frozen=True, slots=True)
class StarterRequest:
    """What to write: the set and the coverage targets, which must be new files, and the corpus of the examples."""

    out: str
    targets: str
    owner: str
    name: str = ""
    version: str = "1"
    corpus: str | None = None
    as_of: str | None = None


def write_starter(request: StarterRequest) -> StarterSet:
    """Write a golden set with header and example cases, and its coverage targets.

    Raises InputError if a file is there already, if the owner has no name, or for a corpus from which nothing can be
    drafted.
    """
    _check_request(request)
    if request.corpus is None:
        cases, change = _load_examples(), "three cases to replace"
    else:
        cases = _draft_examples(request.corpus, request.as_of)
        change = f"examples drafted from {Path(request.corpus).name}, to be read"
    golden = GoldenSet(
        cases,
        name=request.name,
        version=request.version,
        owner=request.owner,
        changelog=(f"{request.version}: {change}",),
        as_of=request.as_of,
    )
    targets = files("assay").joinpath("golden", _TARGETS_FILE).read_bytes()
    write_atomically(request.targets, [targets])
    write_golden(golden, request.out)
    digest = compute_golden_digest(golden)
    return StarterSet(request.out, request.targets, tuple(case.id for case in cases), digest)


def _check_request(request: StarterRequest) -> None:
    problems = [
        Problem(path, None, "", f"already exists (expected a new file: {option} NAME)", "E_EXISTS")
        for path, option in ((request.out, "--out"), (request.targets, "--targets"))
        if Path(path).exists()
    ]
    if Path(request.out).resolve() == Path(request.targets).resolve():
        problems.append(Problem(request.out, None, "", "named twice (expected two files)", "E_EXISTS"))
    for option, value in (("--owner", request.owner), ("--version", request.version)):
        if not value.strip():
            problems.append(Problem("", None, option, f"empty (got {value!r}; expected a name)", "E_EMPTY"))
    if problems:
        raise InputError(problems)


def _load_examples() -> tuple[Case, ...]:
    """Return the cases that `assay init` writes too."""
    with as_file(files("assay").joinpath("runs", "templates", GOLDEN_STUB)) as path:
        return load_golden(path).golden.cases


_MODEL = "assay golden draft --model NAME"


def _draft_examples(corpus: str, as_of: str | None) -> tuple[Case, ...]:
    """Return drafted cases, one of each kind before a second one of any."""
    loaded = load_corpus(corpus)[0]
    kept = filter_candidates(draft_candidates(loaded, as_of), loaded, GoldenSet(()), as_of).kept
    if not kept:
        raise InputError([Problem(corpus, None, "", describe_nothing(loaded, _MODEL), "E_EMPTY")])
    by_kind: dict[str, list[Candidate]] = {}
    for candidate in kept:
        by_kind.setdefault(candidate.kind, []).append(candidate)
    firsts = [candidates[0] for candidates in by_kind.values()]
    seconds = [candidate for candidates in by_kind.values() for candidate in candidates[1:]]
    chosen = (firsts + seconds)[:MAX_EXAMPLES]
    ids = {candidate.case.id for candidate in chosen}
    return tuple(
        msgspec.structs.replace(
            candidate.case,
            notes=_DRAFT_NOTE,
            cluster=candidate.case.cluster if candidate.case.cluster in ids else None,
        )
        for candidate in chosen
    )


def init(
    out: str,
    *,
    owner: str,
    targets: str = "coverage.yaml",
    name: str = "",
    version: str = "1",
    corpus: str | None = None,
    as_of: str | None = None,
) -> StarterSet:
    """Write a golden set to start from to `out` and its coverage targets to `targets`, which must be new files.

    With a `corpus`, the example cases are drafted from it. Raises InputError as `golden init` does.
    """
    return write_starter(StarterRequest(out, targets, owner, name, version, corpus, as_of))
