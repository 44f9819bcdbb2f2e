"""Observing targets: every selected case of a golden set is sent to every target; runs are journalled and resumable."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.config import Config, unused
from assay.errors import IncompleteError, InputError, Problem, SettingsError
from assay.io.golden import Loaded, load_golden
from assay.io.redaction import Redactor, secrets_of
from assay.io.runfolder import OBSERVATIONS, Journal, RunFolder, changes, sha256_of
from assay.model import Case
from assay.ports import CallError, Operation, Target
from assay.runners.attempts import Clock
from assay.runners.local import Policy, Progress, Runner, Tally, Work
from assay.version import __version__
from assay.workflow.keeping import Keeper
from assay.workflow.probing import FOLDER, probes
from assay.workflow.select import chosen
from assay.workflow.stopping import halted, interruptible
from assay.workflow.targets import Chosen, Trust, choose, make, secret_names, tells_user

RUNS = "runs"
NO_TRUST = Trust()
Watch = Callable[[str], Progress | None]


@dataclass(frozen=True, slots=True)
class Measurement:
    """The options of `assay run` as given on the command line; `probes_of` is the run folder whose access boundary is
    probed, None for an ordinary run."""

    config: Config
    targets: Sequence[str] = ()
    retrieval_only: bool = False
    limit: int | None = None
    only: Sequence[str] = ()
    retry_errors: bool = False
    trust: Trust = NO_TRUST
    started_at: str | None = None
    probes_of: Path | None = None


@dataclass(slots=True)
class Observed:
    """The result of observing: the run folder, a tally for each target, and notices for the user."""

    folder: Path
    golden: Loaded
    tallies: dict[str, Tally] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    failed: int = 0
    missing: int = 0

    @property
    def interrupted(self) -> bool:
        """Whether the user interrupted it."""
        return any(tally.halted == "interrupted" for tally in self.tallies.values())

    @property
    def status(self) -> int:
        """The exit code: 0 if every selected case has an observation without an error, 3 if not, 130 if interrupted."""
        return 130 if self.interrupted else 3 if self.failed or self.missing else 0


def observe(
    measurement: Measurement,
    watch: Watch = lambda _: None,
    stopping: Callable[[], None] = lambda: None,
    clock: Clock | None = None,
) -> Observed:
    """Observe, or continue an interrupted run; `stopping` is called at the first Ctrl-C.

    Raises InputError for bad inputs, IncompleteError if the disk or a target makes observing impossible, and
    KeyboardInterrupt at the second Ctrl-C; observations that were acknowledged before are kept.
    """
    config = measurement.config
    if config.golden is None:
        raise SettingsError("golden: not given (expected --golden FILE, or golden in the settings)")
    loaded = load_golden(config.at("golden", config.golden.path), config.golden.format)
    _check_split(config, loaded)
    cases = chosen(loaded.golden, measurement.limit, measurement.only)
    if measurement.probes_of is not None:
        loaded = probes(loaded, cases)
        cases = loaded.golden.cases
    picked = choose(config, measurement.targets)
    targets = [make(target, config, measurement.trust) for target in picked]
    folder_path = measurement.probes_of / FOLDER if measurement.probes_of is not None else run_path(config)
    observed = Observed(folder_path, loaded)
    observed.notices += [
        *_targets_without_user(picked, cases),
        *(f"{field} is set and not used yet" for field in unused(config)),
    ]
    session = _Session(measurement, observed, cases, targets, picked, stopping, clock)
    with RunFolder(observed.folder) as folder:
        try:
            asyncio.run(session.run(folder, watch))
        except asyncio.CancelledError:  # a second Ctrl-C: the journal is kept, nothing else is written
            raise KeyboardInterrupt from None
    return observed


def run_path(config: Config) -> Path:
    """Return the run folder: the one named, else the last of `runs/` if it is not finished, else the next number."""
    if config.settings.run_dir is not None:
        return Path(config.at("run_dir", config.settings.run_dir))
    taken = sorted(int(entry.name) for entry in Path(RUNS).glob("[0-9]*") if entry.name.isdigit())
    last = Path(RUNS) / f"{taken[-1]:04d}" if taken else None
    if last is not None and not _is_complete(last):
        return last
    return Path(RUNS) / f"{(taken[-1] if taken else 0) + 1:04d}"


def _is_complete(path: Path) -> bool:
    try:
        return b'"complete": true' in (path / "manifest.json").read_bytes()
    except OSError:
        return False


def _check_split(config: Config, loaded: Loaded) -> None:
    wanted = config.golden.split if config.golden is not None else None
    if wanted is not None and loaded.golden.split != wanted:
        message = f"another split (got {loaded.golden.split!r}; expected {wanted!r})"
        raise InputError([Problem(str(config.path), None, "golden.split", message, "E_SPLIT")])


def _targets_without_user(picked: Sequence[Chosen], cases: Sequence[Case]) -> list[str]:
    if not any(case.user is not None for case in cases):
        return []
    return [
        f"target {target.name} is not told which user asks, although cases name one "
        "(identity, or {{user}} in its arguments)"
        for target in picked
        if not tells_user(target)
    ]


class _Session:
    """One call of `observe`, from opening the targets to the finished manifest."""

    def __init__(
        self,
        measurement: Measurement,
        observed: Observed,
        cases: Sequence[Case],
        targets: Sequence[Target],
        picked: Sequence[Chosen],
        stopping: Callable[[], None],
        clock: Clock | None,
    ) -> None:
        self.stopping = stopping
        self.measurement, self.observed, self.cases, self.targets = measurement, observed, cases, targets
        self.run_settings = measurement.config.settings.run
        self.clock = clock or Clock(jitter=random.Random(self.run_settings.seed).random)  # noqa: S311  # no secret
        names = [name for target in picked for name in secret_names(target.settings)]
        self.redactor = Redactor(secrets_of(named=names))

    async def run(self, folder: RunFolder, watch: Watch) -> None:
        """Check that the folder can be used, observe, and finish the manifest."""
        try:
            manifest = await self._build_manifest()
            self._check_manifest(folder, manifest)
            journal = self._open_journal(folder)
            try:
                if self.measurement.retry_errors:
                    journal.drop_failed([target.name for target in self.targets])
                for target in self.targets:
                    if not await self._observe_target(target, journal, watch(target.name)):
                        break
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
                raise IncompleteError(self.redactor.message(f"target {target.name}: {error}")) from None
        return {
            "assay_version": __version__,
            "golden_digest": loaded.digest,
            "golden": {"name": loaded.golden.name, "version": loaded.golden.version, "format": loaded.format},
            "operations": {
                "retrieval_only": self.measurement.retrieval_only,
                "k": max((*settings.scoring.k, settings.scoring.production_k)),
            },
            "targets": self.redactor.value(identities),
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
        differences = changes({name: recorded_manifest.get(name) for name in pinned}, pinned)
        recorded_targets = recorded_manifest.get("targets", {})
        for name, identity in manifest["targets"].items():
            if name in recorded_targets:
                differences += changes(recorded_targets[name], identity, f"targets.{name}")
        if differences:
            problems = [Problem(str(folder.path), None, "", difference, "E_RUN_CHANGED") for difference in differences]
            last = "this run cannot be continued (expected the same, or another --run-dir for a new run)"
            raise InputError([*problems, Problem(str(folder.path), None, "", last, "E_RUN_CHANGED")])
        manifest["started_at"] = recorded_manifest.get("started_at")
        manifest["targets"] = recorded_targets | manifest["targets"]
        folder.write_manifest(manifest)

    def _open_journal(self, folder: RunFolder) -> Journal:
        journal = Journal(folder)
        if journal.torn_bytes:
            message = f"the last line, {journal.torn_bytes} bytes, was cut off by a crash; its case is observed again"
            self.observed.notices.append(message)
        return journal

    async def _observe_target(self, target: Target, journal: Journal, progress: Progress | None) -> bool:
        """Observe the missing cases of one target; return whether to continue with the next target."""
        work = [
            Work(case, repeat)
            for repeat in range(self.run_settings.repeat)
            for case in self.cases
            if (target.name, case.id, repeat) not in journal.kept
        ]
        runner = Runner(target, self._retry_policy(target), Keeper(journal, self.redactor), self.clock, progress)
        self.observed.tallies[target.name] = runner.tally
        with interruptible(runner, self.stopping):
            await runner.run(work)
        if runner.tally.halted:
            self.observed.notices.append(halted(target.name, runner.tally))
        return runner.tally.halted not in ("interrupted", "max_calls", "max_cost")

    def _retry_policy(self, target: Target) -> Policy:
        settings = self.measurement.config.settings
        operations: tuple[Operation, ...] = target.operations
        if self.measurement.retrieval_only:
            if "search" not in operations:
                message = "cannot search (expected a search function, tool or address for --retrieval-only)"
                raise SettingsError([Problem("", None, f"targets.{target.name}", message, "E_TARGET")])
            operations = ("search",)
        run = self.run_settings
        return Policy(
            operations,
            k=max((*settings.scoring.k, settings.scoring.production_k)),
            concurrency=run.concurrency,
            deadline=run.deadline,
            attempts=run.attempts,
            breaker=run.breaker,
            retry_after_cap=run.retry_after_cap,
            max_calls=run.max_calls,
            max_cost=run.max_cost,
        )

    def _finish_manifest(self, folder: RunFolder, manifest: dict[str, Any], journal: Journal) -> None:
        expected_keys = {
            (target.name, case.id, repeat)
            for target in self.targets
            for case in self.cases
            for repeat in range(self.run_settings.repeat)
        }
        self.observed.missing = len(expected_keys - journal.kept)
        self.observed.failed = len(expected_keys & journal.failed)
        path = folder.path / OBSERVATIONS
        manifest |= {
            "complete": not self.observed.missing,
            "configs": sorted({config for config, _, _ in journal.kept}),
            "observations": [{"path": OBSERVATIONS, "format": "assay", "sha256": sha256_of(path)}],
        }
        folder.write_manifest(manifest)
