"""Setting up a project: the first settings file, and a check of everything that a valid measurement needs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import UNSET

from assay.config import Config, load_config
from assay.errors import AssayError, InputError, Problem
from assay.io.corpus import load_corpus
from assay.io.gates import load_gate
from assay.io.golden import load_golden
from assay.io.redaction import Redactor, secrets_of
from assay.io.writing import write_whole
from assay.model import Case, GoldenSet, Observation
from assay.ports import Call, CallError, Target
from assay.scoring.rules import rule_problem
from assay.workflow.targets import Chosen, Trust, choose, make, secret_names, tells_user

_TIMEOUT_SECONDS = 30.0
FEW_CASES = 30


class Finding(NamedTuple):
    """One line of `assay doctor`; `remedy` is empty if nothing needs to be done."""

    state: Literal["ok", "warn", "fail"]
    what: str
    message: str
    remedy: str = ""


def write_settings(kind: str, path: str) -> Path:
    """Write the commented settings for a kind of target. Raises InputError where the file is there already."""
    if Path(path).exists():
        raise InputError([Problem(path, None, "", "already exists (expected a new file: --file NAME)", "E_EXISTS")])
    folder = files("assay").joinpath("templates")
    head = folder.joinpath("settings.yaml").read_text(encoding="utf-8")
    target = folder.joinpath(f"{kind}.yaml").read_text(encoding="utf-8")
    return write_whole(path, [head.replace("# (targets)\n", target).encode()])


def examine(path: str | None, trust: Trust) -> Iterator[Finding]:
    """Yield the findings, settings first; checks that an earlier fault makes impossible are left out."""
    try:
        config = load_config(path)
    except AssayError as error:
        yield Finding("fail", "settings", str(error))
        return
    if config.path is None:
        yield Finding("warn", "settings", "no assay.yaml here", "write one: assay init")
    else:
        yield Finding("ok", "settings", config.path)
    golden = None
    for finding, value in _check_golden(config):
        golden = value or golden
        yield finding
    yield from _check_corpus(config, golden)
    yield from _check_gate(config)
    yield from _check_targets(config, golden, trust)


def _check_golden(config: Config) -> Iterator[tuple[Finding, GoldenSet | None]]:
    if config.golden is None:
        yield Finding("fail", "golden set", "not given", "golden: FILE in the settings, or --golden FILE"), None
        return
    try:
        loaded = load_golden(config.at("golden", config.golden.path), config.golden.format)
    except AssayError as error:
        yield Finding("fail", "golden set", str(error), "assay golden check FILE"), None
        return
    golden = loaded.golden
    yield Finding("ok", "golden set", f"{len(golden.cases)} cases, {loaded.digest}"), golden
    if loaded.warnings:
        message = f"{len(loaded.warnings)} warnings; the first: {loaded.warnings[0]}"
        yield Finding("warn", "golden set", message, "assay golden check FILE"), None
    if len(golden.cases) < FEW_CASES:
        message = f"{len(golden.cases)} cases: intervals will be wide"
        yield Finding("warn", "golden set", message, f"use {FEW_CASES} or more cases"), None
    for attribute, value in (("owner", golden.owner), ("changelog", golden.changelog), ("version", golden.version)):
        if not value:
            remedy = f"write {attribute} into the golden set's header, so that a change of labels can be traced"
            yield Finding("warn", "golden set", f"no {attribute}", remedy), None


def _check_corpus(config: Config, golden: GoldenSet | None) -> Iterator[Finding]:
    if config.settings.corpus is None:
        has_access_rules = golden is not None and any(case.user is not None or case.forbidden for case in golden.cases)
        message = "not given" + (": access rules are then taken from the system itself" if has_access_rules else "")
        yield Finding("warn", "corpus", message, "corpus: FILE, the chunks with tenant, roles and text")
        return
    try:
        corpus, doubts = load_corpus(config.at("corpus", config.settings.corpus))
    except AssayError as error:
        yield Finding("fail", "corpus", str(error))
        return
    yield Finding("warn" if doubts else "ok", "corpus", f"{len(corpus.chunks)} chunks, {len(doubts)} doubtful")


def _check_gate(config: Config) -> Iterator[Finding]:
    if config.settings.gate is None or config.path is None:
        yield Finding("warn", "gate", "none: nothing decides a release", "gate: {profile: general}; assay gate show")
        return
    try:
        gate = load_gate(config.path, rule_problem)
    except AssayError as error:
        yield Finding("fail", "gate", str(error))
        return
    yield Finding("ok", "gate", f"{len(gate.rules)} rules")


def _check_targets(config: Config, golden: GoldenSet | None, trust: Trust) -> Iterator[Finding]:
    if not config.settings.targets:
        yield Finding("warn", "targets", "none in the settings", "targets: …, or --target on the command line")
        return
    for chosen in choose(config, ()):
        subject = f"target {chosen.name}"
        redact = Redactor(secrets_of(named=secret_names(chosen.settings))).message
        try:
            target = make(chosen, config, trust)
        except AssayError as error:
            yield Finding("fail", subject, redact(str(error)))
            continue
        if golden is None:
            yield Finding("ok", subject, "can be created; not called, because there is no golden set")
            continue
        try:
            observation = asyncio.run(_ask_first_case(target, golden.cases[0]))
        except CallError as error:
            yield Finding("fail", subject, redact(str(error)), "docs/how-to/targets.md")
            continue
        yield from _check_observation(subject, chosen, observation, golden)


async def _ask_first_case(target: Target, case: Case) -> Observation:
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            await target.identity()
            return await target.observe(Call(case, target.operations[-1], _TIMEOUT_SECONDS))
    except TimeoutError:
        raise CallError("timeout", f"no reply within {_TIMEOUT_SECONDS:.0f} s") from None
    finally:
        await target.aclose()


def _check_observation(subject: str, chosen: Chosen, observation: Observation, golden: GoldenSet) -> Iterator[Finding]:
    yield Finding("ok", subject, f"answered the first case with {_describe_observation(observation)}")
    if observation.error is not None:
        yield Finding(
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
            any(case.user is not None for case in golden.cases) and not tells_user(chosen),
            "is not told which user asks, although cases name one",
            "identity: {x-tenant: user.tenant}, or {{user}} in the body or arguments",
        ),
    ]
    for missing, message, remedy in checks:
        if missing:
            yield Finding("warn", subject, message, remedy)


def _describe_observation(observation: Observation) -> str:
    parts: list[tuple[object, Callable[[], str]]] = [
        (observation.stages, lambda: "stages " + ", ".join(stage.name for stage in observation.stages or ())),
        (isinstance(observation.answer, str), lambda: "an answer"),
        (observation.citations, lambda: f"{len(observation.citations or ())} citations"),
        (observation.versions, lambda: "versions " + ", ".join(observation.versions)),
    ]
    return "; ".join(text() for present, text in parts if present) or "nothing that can be scored"
