"""Observes targets: every selected case of a golden set is sent to every target; runs are journalled and resumable.

Observations are encoded as lines of a run without secrets, readable again, and valid for scoring.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from assay.calls.interfaces import CallError, Target, TargetOperation
from assay.calls.interruption import _REASONS, handle_interrupts
from assay.calls.retry import Clock
from assay.formats import outputs
from assay.formats.file_io import MAX_LINE_BYTES
from assay.formats.golden_files import LoadedGolden, load_golden, refuse_placeholders
from assay.formats.recorded_outputs.line_checks import DECODING_ERRORS, find_flaws
from assay.formats.run_files.manifest import EarlierAnswers
from assay.formats.run_files.run_folder import (
    OBSERVATIONS_FILE,
    ObservationJournal,
    ObservationKey,
    RunFolder,
    RunInUseError,
    compute_file_sha256,
    describe_manifest_changes,
    make_observation_key,
)
from assay.formats.settings_file import Config, find_secrets
from assay.formats.strict_json import join_field
from assay.records.counts import format_count, join_first
from assay.records.errors import ExitCode, IncompleteError, InputError, Problem, SettingsError
from assay.records.golden_set import Case
from assay.records.observations import FailedAttempt, Observation, TargetError
from assay.records.settings import RecordedTargetSettings
from assay.runs.access_probes import PROBE_FOLDER, list_identities, make_probes
from assay.runs.earlier_answers import (
    MAX_FILES_NAMED,
    Versions,
    describe_age,
    describe_changed_code,
    describe_earlier_answers,
    find_sameness,
)
from assay.runs.observation_runner import (
    ObservationLimits,
    ObservationRunner,
    ObservationTally,
    ObservationTask,
    ReportProgress,
)
from assay.runs.source_files import digest_source_files
from assay.scoring.slices import select_cases
from assay.targets.choose_target import (
    TURNS_REMEDY,
    ChosenTarget,
    TargetPermissions,
    calls_address,
    choose_targets,
    describe_untold_turns,
    list_secret_variables,
    make_target,
    receives_user,
    refuse_search,
)
from assay.text.escaping import Redactor
from assay.version import __version__


def prepare_observation(observation: Observation, redactor: Redactor) -> tuple[Observation, bytes]:
    """Return the observation as it is stored, and its line.

    An observation that could not be read again, or that would stop the scoring of all others (a contradictory ranking,
    a number that is not finite), is stored as an error with code `schema`; one beyond 16 MiB as `too_large`.
    """
    if observation.error is not None:
        message = redactor.redact_message(observation.error.message)
        observation = structs.replace(observation, error=TargetError(observation.error.code, message))
    if observation.failed_attempts:
        attempts = [_redact_attempt(attempt, redactor) for attempt in observation.failed_attempts]
        observation = structs.replace(observation, failed_attempts=tuple(attempts))
    fault = ""
    code = "schema"
    line = b""
    try:
        line = _encode_redacted(observation, redactor)
        if len(line) > MAX_LINE_BYTES:
            fault, code = f"an observation of {len(line)} bytes (expected {MAX_LINE_BYTES} at most)", "too_large"
        else:
            decoded = outputs.decode_observation(line)
            if msgspec.json.encode(decoded) != line:  # JSON has no NaN, which is written as null
                place, number = next(_find_infinite_numbers(msgspec.to_builtins(observation), ""), ("", "NaN"))
                fault = f"{place}: not finite (got {number}; expected a number, or no score)".removeprefix(": ")
            else:
                fault = "; ".join(f"{flaw.field}: {flaw.message}" for flaw in find_flaws(decoded))
    except (*DECODING_ERRORS, TypeError) as error:
        fault = f"cannot be kept: {error}"
    if not fault:
        return decoded, line
    broken = Observation(
        observation.case_id,
        observation.config_id,
        observation.repeat,
        observation.question,
        error=TargetError(code, redactor.redact_message(fault)[:500]),
    )
    return broken, msgspec.json.encode(broken)


def _redact_attempt(attempt: FailedAttempt, redactor: Redactor) -> FailedAttempt:
    return structs.replace(attempt, message=redactor.redact_message(attempt.message))


def _find_infinite_numbers(value: Any, at: str) -> Iterator[tuple[str, str]]:
    """Yield where a value holds NaN or an infinity, and which of them.

    >>> list(_find_infinite_numbers({"chunks": [{"score": math.nan}, {"score": 1.0}]}, ""))
    [('chunks[0].score', 'nan')]
    """
    if isinstance(value, float) and not math.isfinite(value):
        yield at, str(value)
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _find_infinite_numbers(member, join_field(at, key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _find_infinite_numbers(item, join_field(at, index))


class ObservationWriter:
    """The sink of a runner: writes observations to the journal of a run."""

    def __init__(self, journal: ObservationJournal, redactor: Redactor) -> None:
        self.journal, self.redactor = journal, redactor

    def __call__(self, observation: Observation) -> Observation:
        """Write the observation and return it as written. Raises IncompleteError if the write fails."""
        stored, line = prepare_observation(observation, self.redactor)
        self.journal.append(line, make_observation_key(stored), failed=stored.error is not None)
        return stored


def _encode_redacted(observation: Observation, redactor: Redactor) -> bytes:
    line = msgspec.json.encode(observation)
    if not redactor.may_contain_secret(line):
        return line
    clean = redactor.redact_value(msgspec.to_builtins(observation))
    clean |= {"case_id": observation.case_id, "config_id": observation.config_id, "question": observation.question}
    return msgspec.json.encode(msgspec.convert(clean, Observation))


def describe_halt(name: str, tally: ObservationTally) -> str:
    """Return the notice for a run that ended early."""
    codes = ", ".join(f"{code} {count}" for code, count in sorted(tally.codes.items()))
    error_counts = f"; errors: {codes}" if codes else ""
    return (
        f"target {name}: {_REASONS[tally.halted]}, after {tally.done} of "
        f"{format_count(tally.total, 'observation')}{error_counts}"
    )


RUNS_FOLDER = "runs"
NO_TRUST = TargetPermissions()
ProgressFactory = Callable[[str], ReportProgress | None]


@dataclass(frozen=True, slots=True)
class ObservationRequest:
    """The options of `assay run` as given on the command line; `probes_of` is the run folder whose access boundary is
    probed, None for an ordinary run. `fresh` asks every case again, although the folder has answers."""

    config: Config
    targets: Sequence[str] = ()
    retrieval_only: bool = False
    limit: int | None = None
    only: Sequence[str] = ()
    retry_errors: bool = False
    trust: TargetPermissions = NO_TRUST
    started_at: str | None = None
    probes_of: Path | None = None
    fresh: bool = False

    @property
    def golden_file_stem(self) -> str:
        """The name of the golden file without its ending: the name of a set that has none of its own."""
        named = self.config.golden_settings
        return Path(named.path).stem if named is not None else ""


@dataclass(slots=True)
class ObservedRun:
    """The result of observing: the run folder, a tally for each target, and notices for the user.

    `earlier` has those of each target's observations that were recorded before: it was not asked for them. That run
    began `earlier_age` before this one. `unverified` has the notice on those of each target of which nothing shows
    that it is still the system that gave them.
    """

    folder: Path
    golden: LoadedGolden
    tallies: dict[str, ObservationTally] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    failed: int = 0
    missing: int = 0
    earlier: dict[str, EarlierAnswers] = field(default_factory=dict)
    earlier_age: str = ""
    unverified: dict[str, str] = field(default_factory=dict)

    @property
    def is_interrupted(self) -> bool:
        """Whether the user interrupted it."""
        return any(tally.halted == "interrupted" for tally in self.tallies.values())

    @property
    def exit_code(self) -> ExitCode:
        """PASS if every selected case has an observation without an error, else INCOMPLETE or INTERRUPTED."""
        if self.is_interrupted:
            return ExitCode.INTERRUPTED
        return ExitCode.INCOMPLETE if self.failed or self.missing else ExitCode.PASS


def observe_run(
    request: ObservationRequest,
    make_progress: ProgressFactory = lambda _: None,
    on_interrupt: Callable[[], None] = lambda: None,
    clock: Clock | None = None,
    on_wait: Callable[[str, float], None] = lambda *_: None,
) -> ObservedRun:
    """Observe, or continue an interrupted run; `on_interrupt` is called at the first Ctrl-C, and `on_wait` where a
    target asks to wait, with its name and the seconds.

    Raises InputError for bad inputs, IncompleteError if the disk or a target makes observing impossible, and
    KeyboardInterrupt at the second Ctrl-C; observations that were acknowledged before are kept.
    """
    config = request.config
    loaded = _load_golden(config)
    cases = select_cases(loaded.golden, request.limit, request.only)
    if request.probes_of is not None:
        loaded = make_probes(loaded, cases)
        cases = loaded.golden.cases
    picked = choose_targets(config, request.targets)
    targets = [make_target(target, config, request.trust) for target in picked]
    probes = request.probes_of
    folder_of_run = (
        RunFolder(probes / PROBE_FOLDER) if probes is not None else open_run_folder(config, fresh=request.fresh)
    )
    with folder_of_run as folder:
        observed = ObservedRun(folder.path, loaded)
        observed.notices += [*_targets_without_user(picked, cases), *_targets_without_turns(picked, cases)]
        observed.notices += config.notes
        session = _Session(request, observed, cases, targets, picked, on_interrupt, clock, on_wait)
        try:
            asyncio.run(session.run(folder, make_progress))
        except asyncio.CancelledError:  # a second Ctrl-C: the journal is kept, nothing else is written
            raise KeyboardInterrupt from None
        finally:
            if not folder.manifest and config.settings.run_dir is None and probes is None:
                folder.discard()
    return observed


def check_probes(request: ObservationRequest) -> None:
    """Raise SettingsError, before anything is asked, if the golden set names no two users between whom to swap."""
    golden = request.config.golden_settings
    if golden is None or golden.path != "-":  # standard input can be read only once
        list_identities(_load_golden(request.config).golden)


def _load_golden(config: Config) -> LoadedGolden:
    if config.golden_settings is None:
        raise SettingsError("golden: not given (expected --golden FILE, or golden in the settings)")
    loaded = load_golden(config.resolve_path("golden", config.golden_settings.path), config.golden_settings.format)
    _check_split(config, loaded)
    refuse_placeholders(loaded.golden, config.golden_settings.path, loaded.lines)
    return loaded


def open_run_folder(config: Config, *, fresh: bool = False) -> RunFolder:
    """Return the open run folder: the one named, else the last of `runs/` if its run was interrupted, else a new one.

    With `fresh` an interrupted run is not continued.

    A new folder is made in one step, so that runs that begin at the same time get one each.
    """
    if config.settings.run_dir is not None:
        return RunFolder(Path(config.resolve_path("run_dir", config.settings.run_dir)))
    taken = _list_numbered_runs()
    last = taken[-1][1] if taken and not fresh else None
    if last is not None and _is_interrupted(last):
        with suppress(RunInUseError):  # it goes on in another process
            return RunFolder(last)
    for number in count(taken[-1][0] + 1 if taken else 1):
        path = Path(RUNS_FOLDER) / f"{number:0{_RUN_DIGITS}d}"
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError:
            return RunFolder(path)  # which says why it cannot be written
        with suppress(RunInUseError):
            return RunFolder(path)
    raise AssertionError("numbers do not end")


_RUN_DIGITS = 4


def _list_numbered_runs() -> list[tuple[int, Path]]:
    """Return the folders of `runs/` whose names are numbers, in their order."""
    entries = [entry for entry in Path(RUNS_FOLDER).glob("[0-9]*") if entry.name.isascii() and entry.name.isdigit()]
    return sorted((int(entry.name), entry) for entry in entries)


def _is_interrupted(path: Path) -> bool:
    """Whether a folder that was numbered here holds a run that has begun and is not finished."""
    if len(path.name) < _RUN_DIGITS:
        return False
    try:
        return b'"complete": true' not in (path / "manifest.json").read_bytes()
    except OSError:
        return False


def _check_split(config: Config, loaded: LoadedGolden) -> None:
    split = config.golden_settings.split if config.golden_settings is not None else None
    if split is not None and loaded.golden.split != split:
        message = f"another split (got {loaded.golden.split!r}; expected {split!r})"
        raise InputError([Problem(str(config.path), None, "golden.split", message, "E_SPLIT")])


def _targets_without_user(picked: Sequence[ChosenTarget], cases: Sequence[Case]) -> list[str]:
    if not any(case.user is not None for case in cases):
        return []
    return [
        f"target {target.name} is not told which user asks, although cases name one "
        "(identity, or {{user}} in its arguments)"
        for target in picked
        if not receives_user(target)
    ]


def _targets_without_turns(picked: Sequence[ChosenTarget], cases: Sequence[Case]) -> list[str]:
    untold = {target.name: describe_untold_turns(target, cases) for target in picked}
    return [f"target {name} {fact} ({TURNS_REMEDY})" for name, fact in untold.items() if fact is not None]


def _refuse_recorded_scores(folder: RunFolder) -> None:
    """Raise InputError for a folder in which `assay score` saved recorded outputs: no target is asked into it."""
    if folder.manifest and "targets" not in folder.manifest:
        message = "holds the scores of recorded outputs (expected another --run-dir for the answers of a target)"
        raise InputError([Problem(str(folder.path), None, "", message, "E_RUN_FOLDER")])


def _collect_versions(
    path: Path, keys: Collection[ObservationKey], earlier: Collection[ObservationKey]
) -> tuple[set[Versions], set[Versions]]:
    """Return the versions that a target reported with its earlier answers, and with those that it gave now."""
    before: set[Versions] = set()
    now: set[Versions] = set()
    with open(path, "rb") as lines:
        for line in lines:
            observation = outputs.decode_observation(line)
            key = make_observation_key(observation)
            if key in keys and observation.error is None:
                (before if key in earlier else now).add(frozenset(observation.versions.items()))
    return before, now


class _Session:
    """One call of `observe_run`, from opening the targets to the finished manifest."""

    def __init__(
        self,
        measurement: ObservationRequest,
        observed: ObservedRun,
        cases: Sequence[Case],
        targets: Sequence[Target],
        picked: Sequence[ChosenTarget],
        stopping: Callable[[], None],
        clock: Clock | None,
        on_wait: Callable[[str, float], None],
    ) -> None:
        self.stopping, self.on_wait = stopping, on_wait
        self.measurement, self.observed, self.cases, self.targets = measurement, observed, cases, targets
        self.picked = picked
        self.run_settings = measurement.config.settings.run
        self.clock = clock or Clock(jitter=random.Random(self.run_settings.seed).random)  # noqa: S311  # no secret
        names = [name for target in picked for name in list_secret_variables(target.settings)]
        self.redactor = Redactor(find_secrets(named=names))

    async def run(self, folder: RunFolder, watch: ProgressFactory) -> None:
        """Check that the folder can be used, observe, and finish the manifest."""
        try:
            manifest = await self._build_manifest()
            for target in self.targets:
                self._choose_operations(target)  # before the first is asked, because it refuses what cannot search
            _refuse_recorded_scores(folder)
            if self._keeps_nothing(folder):
                self._note_unasked_targets(folder)
                folder.begin_again()
            earlier_start, known_code = folder.manifest.get("started_at"), folder.manifest.get("code", {})
            self.observed.earlier_age = describe_age(earlier_start, self.measurement.started_at)
            self._check_manifest(folder, manifest)
            journal = self._open_journal(folder)
            try:
                journal.move_out(self._select_replaced(journal))
                earlier_keys, position = frozenset(journal.keys), len(self.observed.notices)
                for target in self.targets:
                    if not await self._observe_target(target, journal, watch(target.name)):
                        break
                notices = self._note_earlier_answers(journal, earlier_keys, known_code, earlier_start)
                self.observed.notices[position:position] = notices
            finally:
                journal.close()
        finally:
            for target in self.targets:
                await target.aclose()
        self._finish_manifest(folder, manifest, journal)

    async def _build_manifest(self) -> dict[str, Any]:
        loaded, settings = self.observed.golden, self.measurement.config.settings
        identities = {}
        for target in self.targets:
            try:
                async with asyncio.timeout(self.run_settings.deadline):
                    identities[target.name] = await target.identity()
            except TimeoutError:
                raise IncompleteError(f"target {target.name}: not ready after {self.run_settings.deadline} s") from None
            except CallError as error:
                raise IncompleteError(self.redactor.redact_message(f"target {target.name}: {error}")) from None
        return {
            "assay_version": __version__,
            "golden_digest": loaded.digest,
            "golden": {
                "name": loaded.golden.name or self.measurement.golden_file_stem,
                "version": loaded.golden.version,
                "format": loaded.format,
            },
            "operations": {
                "retrieval_only": self.measurement.retrieval_only,
                "k": max((*settings.scoring.k, settings.scoring.production_k)),
            },
            "targets": self.redactor.redact_value(identities),
            "code": {target.name: digest_source_files(target.settings) for target in self.picked},
            "seed": self.run_settings.seed,
        }

    def _check_manifest(self, folder: RunFolder, manifest: dict[str, Any]) -> None:
        """Write the manifest of a new folder; refuse a folder whose manifest names other inputs."""
        recorded_manifest = folder.manifest
        if not recorded_manifest:
            manifest["started_at"] = self.measurement.started_at
            folder.write_golden(self.observed.golden.golden)
            folder.write_manifest(manifest)
            return
        pinned = {name: manifest[name] for name in ("golden_digest", "operations")}
        differences = describe_manifest_changes({name: recorded_manifest.get(name) for name in pinned}, pinned)
        recorded_targets = recorded_manifest.get("targets", {})
        if recorded_targets.keys() != manifest["targets"].keys():
            before, now = sorted(recorded_targets), sorted(manifest["targets"])
            differences.append(f"targets: was {', '.join(before) or 'none'}, is now {', '.join(now)}")
        for name, identity in manifest["targets"].items():
            if name in recorded_targets:
                differences += describe_manifest_changes(recorded_targets[name], identity, f"targets.{name}")
        differences += describe_changed_code(recorded_manifest.get("code", {}), manifest["code"])
        if differences:
            problems = [Problem(str(folder.path), None, "", difference, "E_RUN_CHANGED") for difference in differences]
            fresh = "--fresh without --limit and --only" if self.measurement.fresh else "--fresh"
            last = (
                "this run cannot be continued: its answers were given with what was there before (expected the same; "
                f"{fresh} asks every case again, another --run-dir begins a new run)"
            )
            raise InputError([*problems, Problem(str(folder.path), None, "", last, "E_RUN_CHANGED")])
        # Of answers whose code was not recorded, today's is not known to be that of which they are.
        manifest["code"] = recorded_manifest.get("code", {})
        manifest["started_at"] = recorded_manifest.get("started_at")
        if "earlier_answers" in recorded_manifest:  # until this run knows which it asked for
            manifest["earlier_answers"] = recorded_manifest["earlier_answers"]
        folder.write_manifest(manifest)

    def _note_earlier_answers(
        self,
        journal: ObservationJournal,
        earlier: frozenset[ObservationKey],
        known_code: dict[str, Any],
        started_at: str | None,
    ) -> list[str]:
        """Return for each target how many of its answers were recorded before this call: it was not asked for them."""
        notices = []
        for target in self.picked:
            keys = self._list_keys(target.name)
            count = len(keys & earlier)
            if not count:
                continue
            has_address = calls_address(target)
            before, now = _collect_versions(journal.path, keys, earlier) if has_address else (set(), set())
            knows_code = bool(known_code.get(target.name))
            is_recorded = isinstance(target.settings, RecordedTargetSettings)
            sameness = find_sameness(
                has_address=has_address, is_recorded=is_recorded, knows_code=knows_code, before=before, now=now
            )
            failed = len(keys & earlier & journal.failed_keys)
            answers = EarlierAnswers(count, len(keys), sameness.sentence, sameness.is_shown, failed, started_at)
            self.observed.earlier[target.name] = answers
            notice = describe_earlier_answers(target.name, answers)
            notices.append(notice)
            if not sameness.is_shown:
                self.observed.unverified[target.name] = notice
        return notices

    def _note_unasked_targets(self, folder: RunFolder) -> None:
        """Note the targets whose answers are moved away with those that are made again, although nobody asks them."""
        unasked = sorted(folder.manifest.get("targets", {}).keys() - {target.name for target in self.targets})
        if unasked and folder.has_observations():
            self.observed.notices.append(
                f"not asked: {join_first(unasked, MAX_FILES_NAMED)}, whose earlier answers moved to replaced.jsonl too"
            )

    def _keeps_nothing(self, folder: RunFolder) -> bool:
        """Return whether no answer of a folder would stay in it, so that any other inputs can be taken: it has none, or
        each of them is asked for again."""
        is_fresh, retries = self.measurement.fresh, self.measurement.retry_errors
        if not folder.has_observations() or (is_fresh and not self._is_selection):
            return True
        if not (is_fresh or retries):
            return False
        journal = ObservationJournal(folder)
        journal.close()
        if not is_fresh and journal.keys <= journal.failed_keys:
            return True
        return journal.keys <= self._select_replaced(journal)

    def _select_replaced(self, journal: ObservationJournal) -> set[ObservationKey]:
        """Return the recorded observations that are made again: of the selected cases alone, all or the failed ones."""
        asked = set().union(*(self._list_keys(target.name) for target in self.targets))
        if self.measurement.fresh:
            return asked & journal.keys
        return asked & journal.failed_keys if self.measurement.retry_errors else set()

    @property
    def _is_selection(self) -> bool:
        """Whether some cases are left out (`--limit`, `--only`): what is recorded of them stays."""
        return len(self.cases) < len(self.observed.golden.golden.cases)

    def _list_keys(self, target: str) -> set[ObservationKey]:
        """Return the keys of all observations that a target is to have in the end."""
        return {(target, case.id, repeat) for case in self.cases for repeat in range(self.run_settings.repeat)}

    def _open_journal(self, folder: RunFolder) -> ObservationJournal:
        journal = ObservationJournal(folder)
        if journal.torn_bytes:
            message = f"the last line, {journal.torn_bytes} bytes, was cut off by a crash; its case is observed again"
            self.observed.notices.append(message)
        return journal

    async def _observe_target(
        self, target: Target, journal: ObservationJournal, progress: ReportProgress | None
    ) -> bool:
        """Observe the missing cases of one target; return whether to continue with the next target."""
        work = [
            ObservationTask(case, repeat)
            for repeat in range(self.run_settings.repeat)
            for case in self.cases
            if (target.name, case.id, repeat) not in journal.keys
        ]
        runner = ObservationRunner(
            target,
            self._retry_policy(target),
            ObservationWriter(journal, self.redactor),
            self.clock,
            progress,
            partial(self.on_wait, target.name),
        )
        self.observed.tallies[target.name] = runner.tally
        with handle_interrupts(runner, self.stopping):
            await runner.run(work)
        self.observed.notices += [f"target {target.name}: {notice}" for notice in runner.notices]
        if runner.tally.halted:
            self.observed.notices.append(describe_halt(target.name, runner.tally))
        return runner.tally.halted not in ("interrupted", "max_calls", "max_cost")

    def _choose_operations(self, target: Target) -> tuple[TargetOperation, ...]:
        """Return what a target is called for. Raises SettingsError for --retrieval-only with one that cannot search."""
        if not self.measurement.retrieval_only:
            return target.operations
        if "search" not in target.operations:
            raise refuse_search(self._find_chosen(target), self.measurement.config)
        return ("search",)

    def _retry_policy(self, target: Target) -> ObservationLimits:
        settings = self.measurement.config.settings
        run = self.run_settings
        return ObservationLimits(
            self._choose_operations(target),
            k=max((*settings.scoring.k, settings.scoring.production_k)),
            concurrency=run.concurrency,
            deadline=run.deadline,
            attempts=run.attempts,
            breaker=run.breaker,
            retry_after_cap=run.retry_after_cap,
            max_calls=run.max_calls,
            max_cost=run.max_cost,
            context=self._find_chosen(target).settings.context,
        )

    def _find_chosen(self, target: Target) -> ChosenTarget:
        return next(chosen for chosen in self.picked if chosen.name == target.name)

    def _finish_manifest(self, folder: RunFolder, manifest: dict[str, Any], journal: ObservationJournal) -> None:
        expected_keys = set().union(*(self._list_keys(target.name) for target in self.targets))
        self.observed.missing = len(expected_keys - journal.keys)
        self.observed.failed = len(expected_keys & journal.failed_keys)
        path = folder.path / OBSERVATIONS_FILE
        manifest |= {
            "complete": not self.observed.missing,
            "configs": sorted({config for config, _, _ in journal.keys}),
            "observations": [{"path": OBSERVATIONS_FILE, "format": "assay", "sha256": compute_file_sha256(path)}],
        }
        manifest.pop("earlier_answers", None)
        if self.observed.earlier:
            manifest["earlier_answers"] = msgspec.to_builtins(self.observed.earlier)
        folder.write_manifest(manifest)
