"""Setting up a project: the first settings file, and a check of everything that a valid measurement needs.

The description of a golden set: its digest and counts.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import UNSET

from assay.calls.interfaces import CallError, Target, TargetCall
from assay.formats.corpus import load_corpus
from assay.formats.file_io import write_atomically
from assay.formats.golden_files import LoadedGolden, load_golden
from assay.formats.settings_file import Config, find_secrets, load_config
from assay.gates.gate_files import load_gate
from assay.gates.rules import find_rule_problem
from assay.records.errors import AssayError, InputError, Problem
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Observation
from assay.report.tables import Table
from assay.targets.choose_target import (
    ChosenTarget,
    TargetPermissions,
    choose_targets,
    is_told_user,
    list_secret_variables,
    make_target,
)
from assay.text.escaping import Redactor, escape_terminal

_TIMEOUT_SECONDS = 30.0
MIN_CASES = 30


class SetupFinding(NamedTuple):
    """One line of `assay doctor`; `remedy` is empty if nothing needs to be done."""

    state: Literal["ok", "warn", "fail"]
    subject: str
    message: str
    remedy: str = ""


def write_settings_template(kind: str, path: str) -> Path:
    """Write the commented settings for a kind of target. Raises InputError where the file is there already."""
    if Path(path).exists():
        raise InputError([Problem(path, None, "", "already exists (expected a new file: --file NAME)", "E_EXISTS")])
    folder = files("assay").joinpath("runs", "templates")
    head = folder.joinpath("settings.yaml").read_text(encoding="utf-8")
    target = folder.joinpath(f"{kind}.yaml").read_text(encoding="utf-8")
    return write_atomically(path, [head.replace("# (targets)\n", target).encode()])


def check_setup(path: str | None, trust: TargetPermissions) -> Iterator[SetupFinding]:
    """Yield the findings, settings first; checks that an earlier fault makes impossible are left out."""
    try:
        config = load_config(path)
    except AssayError as error:
        yield SetupFinding("fail", "settings", str(error))
        return
    if config.path is None:
        yield SetupFinding("warn", "settings", "no assay.yaml here", "write one: assay init")
    else:
        yield SetupFinding("ok", "settings", config.path)
    for note in config.notes:
        yield SetupFinding("warn", "settings", note)
    golden = None
    for finding, value in _check_golden(config):
        golden = value or golden
        yield finding
    yield from _check_corpus(config, golden)
    yield from _check_gate(config)
    yield from _check_targets(config, golden, trust)


def _check_golden(config: Config) -> Iterator[tuple[SetupFinding, GoldenSet | None]]:
    if config.golden_settings is None:
        yield SetupFinding("fail", "golden set", "not given", "golden: FILE in the settings, or --golden FILE"), None
        return
    try:
        loaded = load_golden(config.resolve_path("golden", config.golden_settings.path), config.golden_settings.format)
    except AssayError as error:
        yield SetupFinding("fail", "golden set", str(error), "assay golden check FILE"), None
        return
    golden = loaded.golden
    yield SetupFinding("ok", "golden set", f"{len(golden.cases)} cases, {loaded.digest}"), golden
    if loaded.warnings:
        message = f"{len(loaded.warnings)} warnings; the first: {loaded.warnings[0]}"
        yield SetupFinding("warn", "golden set", message, "assay golden check FILE"), None
    if len(golden.cases) < MIN_CASES:
        message = f"{len(golden.cases)} cases: intervals will be wide"
        yield SetupFinding("warn", "golden set", message, f"use {MIN_CASES} or more cases"), None
    for attribute, value in (("owner", golden.owner), ("changelog", golden.changelog), ("version", golden.version)):
        if not value:
            remedy = f"write {attribute} into the golden set's header, so that a change of labels can be traced"
            yield SetupFinding("warn", "golden set", f"no {attribute}", remedy), None


def _check_corpus(config: Config, golden: GoldenSet | None) -> Iterator[SetupFinding]:
    if config.settings.corpus is None:
        has_access_rules = golden is not None and any(case.user is not None or case.forbidden for case in golden.cases)
        message = "not given" + (": access rules are then taken from the system itself" if has_access_rules else "")
        yield SetupFinding("warn", "corpus", message, "corpus: FILE, the chunks with tenant, roles and text")
        return
    try:
        corpus, doubts = load_corpus(config.resolve_path("corpus", config.settings.corpus))
    except AssayError as error:
        yield SetupFinding("fail", "corpus", str(error))
        return
    yield SetupFinding("warn" if doubts else "ok", "corpus", f"{len(corpus.chunks)} chunks, {len(doubts)} doubtful")


def _check_gate(config: Config) -> Iterator[SetupFinding]:
    if config.settings.gate is None or config.path is None:
        yield SetupFinding(
            "warn", "gate", "none: nothing decides a release", "gate: {profile: general}; assay gate show"
        )
        return
    try:
        gate = load_gate(config.path, find_rule_problem)
    except AssayError as error:
        yield SetupFinding("fail", "gate", str(error))
        return
    yield SetupFinding("ok", "gate", f"{len(gate.rules)} rules")


def _check_targets(config: Config, golden: GoldenSet | None, trust: TargetPermissions) -> Iterator[SetupFinding]:
    if not config.settings.targets:
        yield SetupFinding("warn", "targets", "none in the settings", "targets: …, or --target on the command line")
        return
    for chosen in choose_targets(config, ()):
        subject = f"target {chosen.name}"
        redact = Redactor(find_secrets(named=list_secret_variables(chosen.settings))).redact_message
        try:
            target = make_target(chosen, config, trust)
        except AssayError as error:
            yield SetupFinding("fail", subject, redact(str(error)))
            continue
        if golden is None:
            yield SetupFinding("ok", subject, "can be created; not called, because there is no golden set")
            continue
        try:
            observation = asyncio.run(_ask_first_case(target, golden.cases[0]))
        except CallError as error:
            yield SetupFinding("fail", subject, redact(str(error)), "docs/how-to/targets.md")
            continue
        yield from _check_observation(subject, chosen, observation, golden)


async def _ask_first_case(target: Target, case: Case) -> Observation:
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            await target.identity()
            return await target.observe(TargetCall(case, target.operations[-1], _TIMEOUT_SECONDS))
    except TimeoutError:
        raise CallError("timeout", f"no reply within {_TIMEOUT_SECONDS:.0f} s") from None
    finally:
        await target.aclose()


def _check_observation(
    subject: str, chosen: ChosenTarget, observation: Observation, golden: GoldenSet
) -> Iterator[SetupFinding]:
    yield SetupFinding("ok", subject, f"answered the first case with {_describe_observation(observation)}")
    if observation.error is not None:
        yield SetupFinding(
            "warn", subject, f"the first case has an error: {observation.error.code} {observation.error.message}"
        )
    checks: list[tuple[bool, str, str]] = [
        (
            not observation.stages,
            "reports no ranking",
            "without stages, retrieval failures cannot be distinguished from generation failures",
        ),
        (
            not observation.versions,
            "reports no versions",
            "report versions: model, index, prompt …, so that runs can be compared",
        ),
        (
            observation.answer is not UNSET and observation.citations is None,
            "reports no citations",
            "without them, citations are not checked",
        ),
        (
            any(case.user is not None for case in golden.cases) and not is_told_user(chosen),
            "is not told which user asks, although cases name one",
            "identity: {x-tenant: user.tenant}, or {{user}} in the body or arguments",
        ),
    ]
    for missing, message, remedy in checks:
        if missing:
            yield SetupFinding("warn", subject, message, remedy)


def _describe_observation(observation: Observation) -> str:
    parts: list[tuple[object, Callable[[], str]]] = [
        (observation.stages, lambda: "stages " + ", ".join(stage.name for stage in observation.stages or ())),
        (isinstance(observation.answer, str), lambda: "an answer"),
        (observation.citations, lambda: f"{len(observation.citations or ())} citations"),
        (observation.versions, lambda: "versions " + ", ".join(observation.versions)),
    ]
    return "; ".join(text() for present, text in parts if present) or "nothing that can be scored"


def describe_golden_set(path: str, format: str | None = None) -> tuple[LoadedGolden, Table]:
    """Return a golden set and a table of its counts: cases by behaviour, difficulty, tag and judgments."""
    loaded = load_golden(path, format)
    golden = loaded.golden
    rows = [
        ("format", loaded.format),
        ("digest", loaded.digest),
        ("cases", str(len(golden.cases))),
        ("judgments", golden.judgments),
    ]
    for attribute, counts in (
        ("behaviour", Counter(case.behaviour for case in golden.cases)),
        ("difficulty", Counter(case.difficulty for case in golden.cases)),
        ("tag", Counter(tag for case in golden.cases for tag in case.tags)),
    ):
        rows += [(f"{attribute} {escape_terminal(name)}", str(count)) for name, count in sorted(counts.items())]
    return loaded, Table(escape_terminal(golden.name or path), ("What", "How many"), tuple(rows))
