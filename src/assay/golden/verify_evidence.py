"""`golden verify`: asks a live target every question of a set and looks for its evidence in what it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from msgspec import structs

from assay.calls.interfaces import Target
from assay.formats.corpus import load_corpus
from assay.formats.file_io import open_source, read_lines, write_atomically
from assay.formats.golden_files import LoadedGolden, load_golden
from assay.formats.golden_sets.json_cases import HEADER_MEMBER
from assay.formats.settings_file import load_config
from assay.golden.verification import (
    VerificationReport,
    VerifiedCase,
    add_presence,
    describe_faults,
    find_permitted_user,
    plan_questions,
    plan_text_questions,
    verify_cases,
)
from assay.metrics.cases.case_index import GoldenIndex
from assay.records.errors import IncompleteError, InputError, Problem
from assay.records.golden_set import Case, Corpus, GoldenSet, Verification
from assay.records.observations import Observation
from assay.runs.observation_runner import ObservationLimits
from assay.runs.observe_target import observe_target, run_blocking
from assay.runs.python_values import make_target_of_value
from assay.targets.choose_target import TargetPermissions, choose_targets, make_target

DEFAULT_DEPTH = 50
Connect = Callable[[], Target]
"""Makes a target; one is closed when its questions have been asked."""


@dataclass(frozen=True, slots=True)
class VerificationRequest:
    """What to verify: the set, its corpus, the target by name, address or import path, and how deep to look.

    `at` is the time to record; without `write` the set stays as it is.
    """

    golden: str
    target: str
    at: str
    corpus: str | None = None
    settings: str | None = None
    depth: int = DEFAULT_DEPTH
    concurrency: int = 8
    deadline: float = 120.0
    write: bool = False
    permissions: TargetPermissions = field(default_factory=TargetPermissions)


def verify_file(request: VerificationRequest) -> VerificationReport:
    """Verify a golden set on a target. Raises InputError for bad files, IncompleteError if nothing could be asked."""
    loaded = load_golden(request.golden)
    corpus = load_corpus(request.corpus)[0] if request.corpus is not None else None
    limits = ObservationLimits((), k=request.depth, concurrency=request.concurrency, deadline=request.deadline)
    report = verify_golden(loaded, corpus, lambda: make_named_target(request), limits, request.at)
    if request.write:
        write_header(request.golden, loaded, {"verification": report.verification})
    return report


def make_named_target(request: Any) -> Target:
    """Return the target that a request names: one of the settings, else an address, an import path or a file."""
    config = load_config(request.settings)
    (chosen,) = choose_targets(config, [request.target])
    return make_target(chosen, config, request.permissions)


def verify(
    golden: str, target: Any, *, at: str, corpus: str | None = None, depth: int = DEFAULT_DEPTH
) -> VerificationReport:
    """Verify a golden set, which is a file, on a target: a function, an object with `search`, or an address.

    `at` is the time to record, ISO 8601; `depth` is how many chunks a search returns. The file stays as it is.
    Raises InputError for bad files, IncompleteError if nothing could be asked.
    """
    loaded_corpus = load_corpus(corpus)[0] if corpus is not None else None
    limits = ObservationLimits((), k=depth)
    return verify_golden(
        load_golden(golden), loaded_corpus, lambda: make_target_of_value(target, None, None), limits, at
    )


def verify_golden(
    loaded: LoadedGolden, corpus: Corpus | None, connect: Connect, limits: ObservationLimits, at: str
) -> VerificationReport:
    """Verify a golden set on the target that `connect` makes, and compare with what was verified before."""
    golden = loaded.golden
    name, observed = ask_questions(
        connect(), GoldenSet(tuple(plan_questions(golden, corpus)), as_of=golden.as_of), limits
    )
    joins = GoldenIndex(golden, corpus)
    cases = tuple(verify_cases(joins, observed))
    cases = _look_for_texts(cases, joins, connect, limits)
    if all(case.state == "error" for case in cases):
        raise IncompleteError(f"target {name}: no case could be verified ({cases[0].message})")
    faults = describe_faults(cases)
    earlier = golden.verification.faults if golden.verification is not None else ()
    versions = sorted({row.versions["index"] for row in observed.values() if "index" in row.versions})
    verification = Verification(
        verified_at=at,
        target=name,
        index_version=", ".join(versions),
        cases_digest=loaded.digest,
        found=sum(case.state in ("found", "present", "absent") for case in cases),
        missing=len(faults),
        faults=faults,
    )
    broke = tuple(fault for fault in faults if fault not in earlier) if golden.verification is not None else ()
    return VerificationReport(cases, verification, broke, tuple(fault for fault in earlier if fault not in faults))


def _look_for_texts(
    cases: tuple[VerifiedCase, ...], joins: GoldenIndex, connect: Connect, limits: ObservationLimits
) -> tuple[VerifiedCase, ...]:
    """Ask for missing evidence by its own text: what is found by it is in the index."""
    golden, corpus = joins.golden, joins.corpus
    by_id = {case.id: case for case in golden.cases}
    probes: dict[str, list[Case]] = {}
    for verified in cases:
        case = by_id[verified.case]
        if verified.state == "not_answerable":
            case = structs.replace(case, user=find_permitted_user(case, golden, corpus))
        if verified.state in ("missing", "not_answerable"):
            probes[case.id] = plan_text_questions(case, verified.ranks, corpus)
    questions = tuple(probe for planned in probes.values() for probe in planned)
    if not questions:
        return cases
    _, observed = ask_questions(connect(), GoldenSet(questions, as_of=golden.as_of), limits)
    return tuple(add_presence(case, probes.get(case.case, ()), joins, observed) for case in cases)


def ask_questions(
    target: Target, questions: GoldenSet, limits: ObservationLimits
) -> tuple[str, dict[str, Observation]]:
    """Return the name of a target and its observation of each case, after which it is closed.

    That is its search where it can search, else its answer with its stages.
    """
    operations = ("search",) if "search" in target.operations else target.operations
    observed = run_blocking(observe_target(target, questions, replace(limits, operations=tuple(operations))))
    return target.name, {observation.case_id: observation for observation in observed.observations}


LINE_FORMATS = ("assay", "rag-golden", "stable-key", "code-benchmark", "rag-qrels", "rubric")


def write_header(path: str, loaded: LoadedGolden, members: Mapping[str, Any]) -> None:
    """Set members of the header of a golden set; a file without a header gets one as its first line.

    Raises InputError for a file that is not JSON Lines.
    """
    if loaded.format not in LINE_FORMATS or any(line is None for line in loaded.lines.values()):
        message = f"a header can be written into JSON Lines (got {loaded.format}; assay convert writes them)"
        raise InputError([Problem(path, None, HEADER_MEMBER, message, "E_FORMAT")])
    with open_source(path) as source:
        lines = [line.data.rstrip(b"\r\n") for line in read_lines(source)]
    header: dict[str, Any] = {}
    if lines and HEADER_MEMBER.encode() in lines[0]:
        row = msgspec.json.decode(lines[0])
        if row.keys() == {HEADER_MEMBER}:
            header = row[HEADER_MEMBER]
            del lines[0]
    header |= {name: msgspec.to_builtins(value) for name, value in members.items()}
    written = [msgspec.json.encode({HEADER_MEMBER: header}), *lines]
    write_atomically(path, (line + b"\n" for line in written))
