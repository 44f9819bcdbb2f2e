"""`golden health`: what the runs that there are, prompts and the corpus tell about a golden set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from msgspec import structs

from assay.formats.corpus import load_corpus
from assay.formats.file_io import open_file
from assay.formats.golden_files import load_golden
from assay.formats.problems import parse_time
from assay.formats.run_files.run_folder import GOLDEN_FILE, read_manifest
from assay.golden.check_golden import load_coverage_targets
from assay.golden.evidence_chunks import find_unit_chunks
from assay.golden.health_results import HealthSystem, SetAge, SetHealth
from assay.golden.lint_finding import select_counted_cases
from assay.golden.set_health import (
    CasesOfSystem,
    find_label_suspicions,
    find_text_leaks,
    measure_discrimination,
    measure_power,
    measure_saturation,
)
from assay.records.counts import format_count, join_first
from assay.records.errors import InputError, Problem
from assay.records.golden_set import Case, Corpus, GoldenSet
from assay.report.findings.table import Table
from assay.runs.list_runs import list_runs
from assay.runs.saved_scores import load_saved_scores
from assay.scoring.case_content import digest_case_content

MAX_PROMPT_BYTES = 16 * 2**20
MAX_LISTED = 12


@dataclass(frozen=True)
class HealthRequest:
    """What to look at: a golden set, folders with its runs, prompts, and the corpus. `at` is the day of now, ISO 8601.

    `runs` are run folders or folders that hold some. `targets` is a file of coverage targets.
    """

    golden: str
    at: str
    runs: Sequence[str] = ()
    corpus: str | None = None
    prompts: Sequence[str] = ()
    targets: str | None = None
    seed: int = 0


def check_health(request: HealthRequest) -> SetHealth:
    """Return the health of a golden set. Raises InputError for what cannot be read."""
    loaded = load_golden(request.golden)
    golden = structs.replace(loaded.golden, cases=select_counted_cases(loaded.golden.cases))
    corpus = load_corpus(request.corpus)[0] if request.corpus is not None else None
    targets = load_coverage_targets(request.targets)
    notes: list[str] = []
    systems, described = _load_systems(golden, request.runs, notes)
    tables = list(systems.values())
    suspicions, suspicions_reason = find_label_suspicions(golden.cases, systems)
    prompts = _read_prompts(request.prompts)
    unread = [name for name, is_given in (("prompts", prompts), ("corpus", corpus)) if not is_given]
    leaks_reason = f"not looked for in {' and '.join(unread)}: not given" if unread else ""
    return SetHealth(
        request.golden,
        loaded.digest,
        len(golden.cases),
        described,
        measure_saturation(golden.cases, tables),
        measure_discrimination(golden.cases, tables, seed=request.seed),
        tuple(suspicions),
        suspicions_reason,
        tuple(find_text_leaks(golden.cases, prompts, corpus)),
        leaks_reason,
        measure_power(golden.cases, tables, targets),
        _measure_age(golden, corpus, request.at),
        tuple(notes),
    )


def _load_systems(
    golden: GoldenSet, folders: Sequence[str], notes: list[str]
) -> tuple[dict[str, CasesOfSystem], tuple[HealthSystem, ...]]:
    """Return the cases of each system by its name, and its description; of several runs of one system, the last.

    Only cases that ask and expect what the set does now count.
    """
    content = {case.id: digest_case_content(case) for case in golden.cases}
    rows = [row for folder in folders for row in list_runs(Path(folder))]
    paths = dict.fromkeys(row.path for row in sorted(rows, key=lambda row: row.changed))
    latest: dict[tuple[str, str], tuple[Path, CasesOfSystem]] = {}
    for path in paths:
        try:
            saved, manifest = load_saved_scores(path), read_manifest(path)
            asked = load_golden(path / GOLDEN_FILE, "assay").golden.cases
        except InputError as error:
            notes.append(f"{path}: left out: {error.problems[0].message if error.problems else error}")
            continue
        same = {case.id for case in asked if content.get(case.id) == digest_case_content(case)}
        for config in saved.report.configs:
            members: CasesOfSystem = {
                row.case_id: row for row in saved.cases if row.config_id == config and row.case_id in same
            }
            versions = manifest.get("versions", {}).get(config, {})
            if members:
                latest[config, repr(sorted(versions.items()))] = path, members
            else:
                notes.append(f"{path}: {config} has no case of this set as it is now")
    names = [config for config, _ in latest]
    systems: dict[str, CasesOfSystem] = {}
    described = []
    for (config, _), (path, members) in latest.items():
        systems[config if names.count(config) == 1 else f"{path}:{config}"] = members
        passed = sum(row.outcome == "passed" for row in members.values())
        described.append(HealthSystem(str(path), config, len(members), passed))
    return systems, tuple(described)


def _read_prompts(names: Sequence[str]) -> dict[str, str]:
    """Return the texts of prompt files, and of all files in folders. Raises InputError for one that cannot be read."""
    texts: dict[str, str] = {}
    for name in names:
        path = Path(name)
        for file in sorted(entry for entry in path.rglob("*") if entry.is_file()) if path.is_dir() else [path]:
            with open_file(file) as opened:
                content = opened.read(MAX_PROMPT_BYTES + 1)
            if len(content) > MAX_PROMPT_BYTES:
                message = f"larger than {MAX_PROMPT_BYTES} bytes (expected a prompt)"
                raise InputError([Problem(str(file), None, "", message, "E_SIZE")])
            texts[str(file)] = content.decode("utf-8", "replace")
    return texts


def _measure_age(golden: GoldenSet, corpus: Corpus | None, at: str) -> SetAge:
    now = parse_time(at)
    verified = golden.verification.verified_at if golden.verification is not None else None
    days = (now.astimezone(UTC).date() - _read_day(verified).date()).days if verified else None
    reasons = [] if verified else ["never verified on an index (`assay golden verify --write`)"]
    if corpus is None:
        reasons.append("no corpus was given (--corpus)")
        return SetAge(verified, days, corpus_version=golden.corpus_version or None, reason="; ".join(reasons))
    units = [
        (case, unit.any_of, case.behaviour == "answer" and unit.required and unit.grade > 0)
        for case in golden.cases
        for unit in case.evidence
    ]
    day = golden.as_of or now.date().isoformat()
    missing, expired, asked = [], [], set()
    for case, selectors, is_needed in units:
        chunks = [corpus.chunks[chunk_id] for chunk_id in find_unit_chunks(selectors, corpus)]
        asked |= {chunk.document for chunk in chunks}
        if not chunks:
            missing.append(case.id)
        elif (
            is_needed
            and not _is_stale_case(case)
            and all(chunk.valid_to is not None and chunk.valid_to <= day for chunk in chunks)
        ):
            expired.append(case.id)
    documents = {chunk.document for chunk in corpus.chunks.values() if chunk.document}
    return SetAge(
        verified,
        days,
        len(units),
        tuple(dict.fromkeys(missing)),
        tuple(dict.fromkeys(expired)),
        tuple(sorted(documents - asked)),
        golden.corpus_version or None,
        tuple(sorted({chunk.index_version for chunk in corpus.chunks.values() if chunk.index_version})),
        "; ".join(reasons),
    )


def _is_stale_case(case: Case) -> bool:
    """Return whether a case asks for what was in force on another day, so that its evidence may have expired since."""
    return case.user is not None and case.user.as_of is not None


def _read_day(text: str) -> datetime:
    try:
        return parse_time(text).astimezone(UTC)
    except ValueError:
        message = f"verified_at of the set is no time (got {text[:40]!r})"
        raise InputError(message) from None


def health(
    golden: str,
    *,
    at: str,
    runs: Sequence[str] = (),
    corpus: str | None = None,
    prompts: Sequence[str] = (),
    targets: str | None = None,
) -> SetHealth:
    """Return what runs, prompts and the corpus tell about a golden set, as `assay golden health` does.

    `at` is the day of now, ISO 8601; the others are files and folders. Raises InputError for what cannot be read.
    """
    return check_health(HealthRequest(golden, at, runs, corpus, prompts, targets))


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def build_health_tables(measured: SetHealth) -> list[Table]:
    """Return the health as tables: one line for each question, then the systems and what the next cases should be."""
    saturation, discrimination, power, age = measured.saturation, measured.discrimination, measured.power, measured.age
    unread = "cannot be told without a corpus" if age.evidence_units is None else ""
    rows = [
        ("passed by every system", _answer(saturation.reason, _list_cases(saturation.all_pass, saturation.compared))),
        ("passed by none", _answer(saturation.reason, _list_cases(saturation.none_pass, saturation.compared))),
        ("disagree with the others", _answer(discrimination.reason, _describe_contrary(measured))),
        (
            "labels that may be wrong",
            _answer(
                "" if measured.suspicions else measured.suspicions_reason,
                "; ".join(f"{row.case_id} ({row.part}: {row.because})" for row in measured.suspicions[:MAX_LISTED])
                or "none",
            ),
        ),
        ("words of cases elsewhere", _describe_leaks(measured)),
        ("smallest difference seen", _answer(power.reason, _describe_power(measured))),
        ("evidence not in the corpus", _answer(unread, _list(age.missing_evidence))),
        ("evidence that expired", _answer(unread, _list(age.expired_evidence))),
        ("documents nobody asks about", _answer(unread, _list(age.unasked_documents))),
        (
            "verified",
            f"{age.verified_at} ({format_count(age.days_since_verified or 0, 'day')} ago)"
            if age.verified_at
            else "never",
        ),
    ]
    notes = [*measured.notes, *filter(None, (measured.leaks_reason, age.reason))]
    tables = [Table(f"Health of {measured.golden}", ("Question", "Answer"), tuple(rows), tuple(notes))]
    systems = tuple((row.run, row.configuration, str(row.cases), str(row.passed)) for row in measured.systems)
    tables.append(Table("Systems", ("Run", "Configuration", "Cases", "Passed"), systems))
    slices = tuple(
        (row.slice, str(row.cases), str(row.telling), str(row.next_cases)) for row in power.slices if row.next_cases
    )
    columns = ("Slice", "Cases", "Tell systems apart", "Of the next 20")
    kinds = _describe_kinds(power.kinds_missing)
    if slices:
        tables.append(Table("Where the next cases tell most", columns, slices, kinds))
    else:
        tables[0] = structs.replace(tables[0], notes=(*tables[0].notes, *kinds))
    return [table for table in tables if table.rows]


def _answer(reason: str, text: str) -> str:
    return reason or text


def _list(names: Sequence[str]) -> str:
    return join_first(names, MAX_LISTED) or "none"


def _list_cases(names: Sequence[str], compared: int) -> str:
    return f"{len(names)} of {compared}: {_list(names)}" if names else f"none of {compared}"


def _describe_contrary(measured: SetHealth) -> str:
    discrimination = measured.discrimination
    names, expected = discrimination.contrary, discrimination.contrary_by_chance
    return f"{_list(names)} ({len(names)}; {expected} expected by chance)"


def _describe_leaks(measured: SetHealth) -> str:
    leaks = [f"{leak.case_id}: {leak.part} in {leak.where}" for leak in measured.leaks]
    return _list(leaks)


def _describe_power(measured: SetHealth) -> str:
    power = measured.power
    counts = (format_count(power.cases, "case"), "20 more like these")
    detectable_drops = [
        f"none with {count}" if value is None else f"{value:.3f} of passed cases with {count}"
        for value, count in zip((power.detectable, power.detectable_after), counts, strict=True)
    ]
    needed = "more than 20,000 cases"
    if power.cases_needed is not None:
        needed = f"about {format_count(power.cases_needed, 'case')}"
    return f"{', '.join(detectable_drops)}; to see 0.05: {needed} (4 times in 5, McNemar's exact test at 5%)"


def _describe_kinds(missing: Mapping[str, int]) -> tuple[str, ...]:
    kinds = ", ".join(f"{kind} {count}" for kind, count in missing.items())
    return (f"kinds with fewer cases than the coverage targets: {kinds}",) if kinds else ()
