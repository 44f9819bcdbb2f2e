"""Sets a project up and checks it: the first settings file, everything that a valid measurement needs, golden sets."""

from __future__ import annotations

import asyncio
import json
import platform
import re
import shlex
from collections import Counter
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from enum import IntEnum
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from msgspec import UNSET, structs

from assay.calls.interfaces import CallError, ReplyNotices, Target, TargetCall
from assay.calls.target_kinds import TARGET_KINDS
from assay.formats.corpus import find_stale_evidence, load_corpus
from assay.formats.file_io import write_atomically
from assay.formats.golden_files import (
    GOLDEN_FORMAT_TABLE,
    PLACEHOLDER_REMEDY,
    LoadedGolden,
    describe_placeholders,
    load_golden,
)
from assay.formats.outputs import OUTPUT_FORMATS
from assay.formats.settings_file import Config, find_secrets, load_config
from assay.gates.gate_files import load_gate
from assay.gates.rules import find_rule_problem
from assay.judging.llm_judge import PROVIDERS
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.cases.hidden_evidence import find_hidden_evidence
from assay.metrics.catalog import CATALOG
from assay.metrics.grounding.citations import find_unknown_sources
from assay.metrics.retrieval.evidence_fields import (
    OTHER_NAME_REMEDY,
    describe_other_names,
    find_other_names,
    find_shown_names,
    find_unreported_field,
    leave_out_known,
)
from assay.records.counts import format_count
from assay.records.errors import AssayError, ExitCode, InputError, PluginError, Problem
from assay.records.golden_set import Case, Corpus, GoldenSet, find_placeholders
from assay.records.observations import CONTEXT_STAGE, Chunk, Observation, add_context_stage, find_stage
from assay.records.plugin_table import Plugin, PluginTable
from assay.records.settings import CommandTargetSettings, McpTargetSettings
from assay.report.findings.table import Table
from assay.runs.observation_runner import join_search_and_answer
from assay.runs.score_inputs import UNJUDGEABLE_REMEDY, describe_unjudgeable_cases
from assay.scoring.cluster_suggestions import TwinKind, suggest_clusters
from assay.scoring.column_values import format_case_ids
from assay.targets.choose_target import (
    TURNS_REMEDY,
    ChosenTarget,
    TargetPermissions,
    choose_targets,
    describe_untold_turns,
    list_secret_variables,
    make_target,
    receives_user,
)
from assay.text.escaping import Redactor, escape_terminal, shorten_to_line
from assay.text.near_names import find_near_id
from assay.version import __version__

T = TypeVar("T")
_TIMEOUT_SECONDS = 30.0
_MAX_ANSWER_CHARS, _MAX_TEXT_CHARS, _MAX_CHUNKS, _MAX_CITATIONS = 160, 70, 3, 10
MIN_CASES = 30
_GROUPS_NAMED = 3
GOLDEN_STUB = "golden.jsonl"
EXTRAS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("http", ("httpx2",), "systems behind HTTP (type: http)"),
    ("mcp", ("mcp", "httpx2"), "systems behind MCP (type: mcp)"),
    ("judge", ("aiohttp",), "models that judge (assay judge)"),
    ("langchain", ("langchain_core",), "LangChain chains in the same process"),
    ("llamaindex", ("llama_index",), "LlamaIndex engines in the same process"),
    ("litellm", ("litellm",), "judges of other providers (protocol: litellm)"),
    ("documents", ("markitdown",), "PDF and DOCX in a folder of documents"),
    ("audit", ("sqlalchemy", "alembic"), "the store of production answers (assay audit, assay monitor)"),
    ("postgres", ("psycopg",), "the same in PostgreSQL"),
    ("parquet", ("pyarrow",), "production answers as Parquet"),
    ("entailment", ("onnxruntime", "tokenizers"), "a local model that compares claims with sources"),
)
"""The extras of the package, the modules that each brings, and what needs them; a test compares with pyproject.toml."""
_HEADER_EXAMPLES = {
    "owner": '"owner": "you@example.org"',
    "changelog": '"changelog": ["2026-03-01 first labels"]',
    "version": '"version": "1"',
}
"""The members of the header of a golden set that every set should have, as JSON."""
_PATH_REMEDY = "correct this path in the target's settings, or leave it out if the system never reports this part"
_ADDRESS = re.compile(r"^( +(?:call|url|path): )(?:\"[^\"]*\"|\S+)", re.MULTILINE)


class WarningRank(IntEnum):
    """How much a warning matters: something is measured wrongly or not at all, or says less, or is hard to repeat."""

    BREAKS = 0
    NARROWS = 1
    HOUSEKEEPING = 2


class SetupFinding(NamedTuple):
    """One line of `assay doctor`; `remedy` is empty if nothing needs to be done.

    `rank` is that of a warning, and `exit_code` that of the command if this failed.
    """

    state: Literal["ok", "none", "next", "warn", "fail"]
    subject: str
    message: str
    remedy: str = ""
    rank: WarningRank = WarningRank.BREAKS
    exit_code: ExitCode = ExitCode.BAD_INPUT


def refuse_existing(path: str) -> None:
    """Raise InputError where the settings file to write is there already."""
    if Path(path).exists():
        raise InputError([Problem(path, None, "", "already exists (expected a new file: --file NAME)", "E_EXISTS")])


_CONFIG = re.compile(r"# config: \S+ ")


def write_settings_template(
    kind: str,
    path: str,
    address: str | None = None,
    config: str | None = None,
    *,
    targets: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    rules: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write the commented settings for a kind of target; `address` replaces the URL, import path or file in them.

    `config` names the configuration of recorded outputs that hold several. `targets` with their settings come in the
    place of the template, and `rules` in that of the gate. Raises InputError where the file is there already.
    """
    refuse_existing(path)
    folder = files("assay").joinpath("runs", "templates")
    head = folder.joinpath("settings.yaml").read_text(encoding="utf-8")
    target = folder.joinpath(f"{kind}.yaml").read_text(encoding="utf-8")
    if address is not None:
        quoted = json.dumps(address, ensure_ascii=False)
        target, count = _ADDRESS.subn(lambda match: match[1] + quoted, target, count=1)
        if not count:
            message = f"{kind} targets have no address (expected python, http, mcp, recorded, langchain or llamaindex)"
            raise InputError([Problem("", None, "target", message, "E_TARGET")])
    if config is not None:
        target = _CONFIG.sub(lambda _: f"config: {json.dumps(config, ensure_ascii=False)} ", target, count=1)
    if targets:
        target = "".join(_write_target(name, settings) for name, settings in targets.items())
    if rules:
        lines = "".join(f"    - {json.dumps(rule, ensure_ascii=False)}\n" for rule in rules)
        head = _GATE.sub(lambda _: f"gate:  # what decides a release\n  rules:\n{lines}", head)
    return write_atomically(path, [head.replace("# (targets)\n", target).encode()])


_GATE = re.compile(r"^# gate:.*\n(?:#  .*\n)*", re.MULTILINE)


def _write_target(name: str, settings: Mapping[str, Any]) -> str:
    """Return the settings of a target as lines of YAML, of which JSON is a part."""
    members = [f"    {key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in settings.items()]
    return f"  {json.dumps(name, ensure_ascii=False)}:\n{''.join(members)}"


def write_golden_stub(path: str) -> Path | None:
    """Write a golden set of three cases to replace; None where the file is there already."""
    if Path(path).exists():
        return None
    stub = files("assay").joinpath("runs", "templates", GOLDEN_STUB)
    return write_atomically(path, [stub.read_bytes()])


def check_targets(path: str, trust: TargetPermissions) -> list[SetupFinding]:
    """Ask each target of a settings file the first case once; return how the replies were understood, or the errors."""
    config = load_config(path)
    golden = None
    for finding, value in _check_golden(config):
        golden = value or golden
        if finding.state == "fail":
            return [finding]
    return list(_check_targets(config, golden, trust))


def check_setup(
    path: str | None,
    trust: TargetPermissions,
    targets: Sequence[str] = (),
    overrides: Mapping[str, tuple[str, str]] | None = None,
) -> Iterator[SetupFinding]:
    """Yield the findings, settings first, then the warnings, those that matter most first; checks that an earlier fault
    makes impossible are left out.

    `targets` are those to ask, as after `assay run --target`; none means all of the settings. `overrides` maps a
    setting (`golden`, `corpus`) to the name of the option that replaces it and its value.
    """
    warnings = []
    for finding in _iterate_findings(path, trust, targets, overrides):
        if finding.state == "warn":
            warnings.append(finding)
        else:
            yield finding
    yield from sorted(warnings, key=lambda warning: warning.rank)  # stable: within a rank in the order of the checks


def _iterate_findings(
    path: str | None,
    trust: TargetPermissions,
    targets: Sequence[str],
    overrides: Mapping[str, tuple[str, str]] | None,
) -> Iterator[SetupFinding]:
    """Yield the findings in the order of the checks."""
    try:
        config = load_config(path, overrides)
    except AssayError as error:
        yield SetupFinding("fail", "settings", str(error))
        return
    if config.path is None and config.golden_settings is None and not targets:
        yield from check_installation()
        remedy = "assay init, or assay init --target URL or module:attr; then replace the cases in golden.jsonl"
        yield SetupFinding("next", "settings", "no assay.yaml here", remedy)
        return
    if config.path is None:
        remedy = "write one: assay init"
        yield SetupFinding("warn", "settings", "no assay.yaml here", remedy, WarningRank.HOUSEKEEPING)
    else:
        yield SetupFinding("ok", "settings", config.path)
    for note in config.notes:
        yield SetupFinding("warn", "settings", note)
    golden = None
    for finding, value in _check_golden(config):
        golden = value or golden
        yield finding
    yield from _check_placeholders(golden)
    corpus = None
    for finding, loaded in _check_corpus(config, golden):
        corpus = loaded or corpus
        yield finding
    yield from _check_gate(config)
    yield from _check_targets(config, golden, trust, corpus, targets)
    yield from _check_plugins()


def check_installation() -> Iterator[SetupFinding]:
    """Yield what is installed: Assay itself, each extra that works or could be added, and plugins."""
    yield SetupFinding("ok", "assay", f"{__version__}, Python {platform.python_version()}: scoring needs nothing else")
    missing = {extra: purpose for extra, modules, purpose in EXTRAS if any(map(_is_missing, modules))}
    present = [extra for extra, _, _ in EXTRAS if extra not in missing]
    if present:
        yield SetupFinding("ok", "extras", ", ".join(present))
    for extra, purpose in missing.items():
        yield SetupFinding("none", f"extra {extra}", f"{purpose} (pip install 'rag-assay[{extra}]')")
    yield from _check_plugins()


def _is_missing(module: str) -> bool:
    return find_spec(module) is None


def _check_plugins() -> Iterator[SetupFinding]:
    for kind, plugin, fault in check_installed_plugins():
        yield SetupFinding("ok" if fault is None else "fail", f"{kind} {plugin.name}", str(fault or f"plugin {plugin}"))


def _check_golden(config: Config) -> Iterator[tuple[SetupFinding, GoldenSet | None]]:
    if config.golden_settings is None:
        yield SetupFinding("fail", "golden set", "not given", "--golden FILE, or golden: FILE in the settings"), None
        return
    try:
        loaded = load_golden(config.resolve_path("golden", config.golden_settings.path), config.golden_settings.format)
    except AssayError as error:
        yield SetupFinding("fail", "golden set", str(error), "assay golden check FILE"), None
        return
    golden = loaded.golden
    yield SetupFinding("ok", "golden set", f"{format_count(len(golden.cases), 'case')}, {loaded.digest}"), golden
    if loaded.warnings:
        message = f"{format_count(len(loaded.warnings), 'warning')}; the first: {loaded.warnings[0]}"
        yield SetupFinding("warn", "golden set", message, "assay golden check FILE"), None
    unjudgeable = describe_unjudgeable_cases(golden)
    if unjudgeable:
        yield SetupFinding("warn", "golden set", unjudgeable, UNJUDGEABLE_REMEDY, WarningRank.NARROWS), None
    if len(golden.cases) < MIN_CASES:
        message = f"{format_count(len(golden.cases), 'case')}: intervals will be wide"
        yield SetupFinding("warn", "golden set", message, f"use {MIN_CASES} or more cases", WarningRank.NARROWS), None
    for finding in _suggest_clusters(golden):
        yield finding, None
    missing = [attribute for attribute in _HEADER_EXAMPLES if not getattr(golden, attribute)]
    if missing:
        message = ", ".join(f"no {attribute}" for attribute in missing)
        header = ", ".join(_HEADER_EXAMPLES[attribute] for attribute in missing)
        remedy = f'so that changes can be traced, write into the header, its first line: {{"golden_set": {{{header}}}}}'
        yield SetupFinding("warn", "golden set", message, remedy, WarningRank.HOUSEKEEPING), None


def _check_placeholders(golden: GoldenSet | None) -> Iterator[SetupFinding]:
    placeholders = find_placeholders(golden) if golden is not None else []
    if placeholders:
        yield SetupFinding("fail", "golden set", describe_placeholders(placeholders), PLACEHOLDER_REMEDY)


def _suggest_clusters(golden: GoldenSet) -> Iterator[SetupFinding]:
    """Yield a warning for each kind of dependent cases that the golden set does not mark as one cluster."""
    suggestions = suggest_clusters(golden.cases)
    for kind in get_args(TwinKind):
        groups = [suggestion.case_ids for suggestion in suggestions if suggestion.kind == kind]
        if groups:
            examples = "; ".join(format_case_ids(case_ids) for case_ids in groups[:_GROUPS_NAMED])
            more = f"; and {len(groups) - _GROUPS_NAMED} more" if len(groups) > _GROUPS_NAMED else ""
            message = f"{kind}, not marked as a cluster, {format_count(len(groups), 'group')}: {examples}{more}"
            remedy = "give each group one `cluster`, or intervals and comparisons take its cases for independent"
            yield SetupFinding("warn", "golden set", message, remedy, WarningRank.NARROWS)


def _check_corpus(config: Config, golden: GoldenSet | None) -> Iterator[tuple[SetupFinding, Corpus | None]]:
    if config.settings.corpus is None:
        has_access_rules = golden is not None and any(case.user is not None or case.forbidden for case in golden.cases)
        message = "not given" + (": access rules are then taken from the system itself" if has_access_rules else "")
        remedy = "--corpus FILE, or corpus: FILE in the settings: the chunks with tenant, roles and text"
        rank = WarningRank.BREAKS if has_access_rules else WarningRank.NARROWS
        yield SetupFinding("warn", "corpus", message, remedy, rank), None
        return
    try:
        corpus, doubts = load_corpus(config.resolve_path("corpus", config.settings.corpus))
    except AssayError as error:
        yield SetupFinding("fail", "corpus", str(error)), None
        return
    message = f"{format_count(len(corpus.chunks), 'chunk')}, {len(doubts)} doubtful"
    yield SetupFinding("warn" if doubts else "ok", "corpus", message), corpus
    if golden is not None:
        yield from ((finding, None) for finding in _check_evidence(golden, corpus))
        for problem in find_hidden_evidence(golden, corpus, ""):
            message = f"{problem.field.partition(':')[0]}: {problem.message}"
            yield SetupFinding("warn", "golden set", message, "assay golden lint FILE --corpus FILE"), None
    unknown = find_unknown_sources(golden.cases, corpus) if golden is not None else {}
    if unknown:
        names = ", ".join(map(repr, list(unknown)[:_GROUPS_NAMED])) + (" …" if len(unknown) > _GROUPS_NAMED else "")
        cases = format_case_ids([case_id for case_ids in unknown.values() for case_id in case_ids])
        message = f"must_cite {names} is no chunk or document of the corpus: {cases}"
        yield SetupFinding("warn", "golden set", message, "use the ids or documents that the system cites"), None


def _check_evidence(golden: GoldenSet, corpus: Corpus) -> Iterator[SetupFinding]:
    """Yield a warning if evidence is named by ids alone that the corpus does not have: its cases have no recall."""
    cases_by_id: dict[str, list[str]] = {}
    for case in golden.cases:
        for unit in case.evidence:
            ids = [str(selector["chunk_id"]) for selector in unit.any_of if selector.keys() == {"chunk_id"}]
            if len(ids) == len(unit.any_of) and not any(chunk_id in corpus.chunks for chunk_id in ids):
                cases_by_id.setdefault(" or ".join(ids), []).append(case.id)
    if cases_by_id:
        names = list(cases_by_id)
        shown = ", ".join(names[:_GROUPS_NAMED]) + (" …" if len(names) > _GROUPS_NAMED else "")
        cases = format_case_ids([case_id for case_ids in cases_by_id.values() for case_id in case_ids])
        nearest = {name: find_near_id(name, corpus.chunks) for name in names[:_GROUPS_NAMED]}
        hints = [f"{near} for {name}" for name, near in nearest.items() if near]
        message = f"evidence {shown} is not in the corpus: {cases}"
        message += f"; did you mean {', '.join(hints)}?" if hints else ""
        remedy = "assay golden relink, or the corpus that the evidence was labelled in"
        yield SetupFinding("warn", "golden set", message, remedy)


def _check_gate(config: Config) -> Iterator[SetupFinding]:
    if config.gate_path is None:
        yield SetupFinding(
            "warn",
            "gate",
            "none: nothing decides a release",
            "gate: gate.yaml, or gate: {profile: general}; assay gate show",
            WarningRank.NARROWS,
        )
        return
    try:
        gate = load_gate(config.gate_path, find_rule_problem)
    except AssayError as error:
        yield SetupFinding("fail", "gate", str(error))
        return
    yield SetupFinding("ok", "gate", format_count(len(gate.rules), "rule"))


def _check_targets(
    config: Config,
    golden: GoldenSet | None,
    trust: TargetPermissions,
    corpus: Corpus | None = None,
    names: Sequence[str] = (),
) -> Iterator[SetupFinding]:
    if not config.settings.targets and not names:
        yield SetupFinding("warn", "targets", "none in the settings", "targets: …, or --target on the command line")
        return
    try:
        targets = choose_targets(config, names)
    except AssayError as error:
        yield SetupFinding("fail", "targets", str(error))
        return
    for chosen in targets:
        redact = Redactor(find_secrets(named=list_secret_variables(chosen.settings))).redact_message
        for finding in _check_target(config, chosen, golden, trust, corpus):
            yield finding._replace(message=redact(finding.message))


def _check_target(
    config: Config,
    chosen: ChosenTarget,
    golden: GoldenSet | None,
    trust: TargetPermissions,
    corpus: Corpus | None = None,
) -> Iterator[SetupFinding]:
    subject = f"target {chosen.name}"
    try:
        target = make_target(chosen, config, trust)
    except AssayError as error:
        yield SetupFinding("fail", subject, str(error), exit_code=error.exit_code)
        return
    if golden is None:
        yield SetupFinding("ok", subject, "can be created; not called, because there is no golden set")
        return
    notices = ReplyNotices()
    replies = asyncio.run(_try_operations(target, golden.cases[0], notices))
    observation: Observation | None = None
    for operation, reply in replies:
        if isinstance(reply, CallError):
            yield SetupFinding("fail", subject, f"{operation}: {reply}", _find_call_remedy(chosen, reply))
            continue
        observation = reply if observation is None else join_search_and_answer(observation, reply)
        yield SetupFinding("ok", subject, f"{operation}: {describe_reply(reply)}")
        if operation == "ask" and reply.answer is None and reply.error is None:
            remedy = "return the text of the answer, or an error that says why there is none"
            yield SetupFinding("warn", subject, "ask: the answer is null: such a case counts as an error", remedy)
        if operation == "ask" and reply.answer is UNSET and reply.error is None:
            message = "ask: no answer was read, so only retrieval will be scored"
            yield SetupFinding(
                "warn", subject, message, "response: {answer: PATH} in the target's settings says where it is"
            )
    missing_paths = notices.list_missing_paths()
    for notice in missing_paths:
        yield SetupFinding("warn", subject, notice, _PATH_REMEDY)
    for notice in notices:
        if notice not in missing_paths:
            yield SetupFinding("warn" if "not read" in notice else "ok", subject, notice)
    if observation is not None:
        if chosen.settings.context is not None:
            observation = add_context_stage(observation, chosen.settings.context)
        yield from _check_observation(subject, chosen, observation, golden)
        yield from _check_shown_ids(subject, observation, corpus)
        yield from _check_names(subject, observation, golden, corpus)


def _check_names(
    subject: str, observation: Observation, golden: GoldenSet, corpus: Corpus | None
) -> Iterator[SetupFinding]:
    """Yield a warning if the chunks lack a field by which evidence is named, or have its quotes under other names."""
    chunks = [chunk for stage in observation.stages or () for chunk in stage.chunks]
    index = GoldenIndex(golden, corpus)
    cases = [index.case_index(position) for position in range(len(golden.cases))]
    lacking = Counter(find_unreported_field(case, chunks, 0) for case in cases)
    for name, count in lacking.items():
        if name is not None:
            naming = format_count(count, "case names", "cases name")
            message = f"reports no `{name}` of chunks, by which {naming} evidence, so that its recall is not scored"
            remedy = f"report `{name}` with each chunk, or name the evidence by its quote alone"
            yield SetupFinding("warn", subject, message, remedy)
    names = Counter(name for case in cases for name in find_other_names(case, chunks))
    shown = find_shown_names(cases[0].evidence, chunks, index.wanted_names) if cases else set()
    names = leave_out_known(names, shown, corpus)
    if names:
        yield SetupFinding("warn", subject, describe_other_names(names), OTHER_NAME_REMEDY)


def _find_call_remedy(chosen: ChosenTarget, error: CallError) -> str:
    """Return what to do about a call that failed."""
    settings = chosen.settings
    if error.code == "crashed" and isinstance(settings, (McpTargetSettings, CommandTargetSettings)):
        return f"run it by itself and read what it prints: {shlex.join(settings.command or ())}"
    if isinstance(settings, McpTargetSettings) and settings.command and "not_started" in str(error):
        return f"install {settings.command[0]}, or correct `command` in the settings: {shlex.join(settings.command)}"
    if isinstance(settings, McpTargetSettings) and settings.command and error.code in ("connection", "timeout"):
        command = shlex.join(settings.command)
        return f"run it by itself and read what it prints: {command}; it must answer on standard input and output"
    if error.code in ("connection", "timeout"):
        return "start the system, and compare the address and the time limit of the target in the settings"
    if "response." in error.message and "nothing at" in error.message:
        return _PATH_REMEDY
    if error.code in ("schema", "protocol"):
        return "say in the target's settings where the parts are: response: {answer: PATH, stages: {retrieved: PATH}}"
    if error.code == "exception":
        return "call the function with one question by itself, and fix it there"
    if error.code.startswith("http_") or error.code == "redirect":
        return "compare the address, headers and body of the target in the settings with what the system expects"
    return "read what the system itself records of this call, and compare it with the target in the settings"


def _check_shown_ids(subject: str, observation: Observation, corpus: Corpus | None) -> Iterator[SetupFinding]:
    """Yield a warning if the target shows chunks that the corpus does not have: nobody can say who may see them."""
    shown_ids = {chunk.chunk_id for stage in observation.stages or () for chunk in stage.chunks}
    unknown = sorted(shown_ids - corpus.chunks.keys()) if corpus is not None else []
    if unknown:
        message = (
            f"shows {len(unknown)} of {format_count(len(shown_ids), 'chunk')} that the corpus does not have, so that "
            f"access to them is unknown: {format_case_ids(unknown)}"
        )
        yield SetupFinding("warn", subject, message, "give the corpus the ids that the system reports")


async def _try_operations(
    target: Target, case: Case, notices: ReplyNotices
) -> list[tuple[str, Observation | CallError]]:
    """Return the reply to each operation that a run asks for, or its error; nothing is asked without a connection."""
    try:
        connection = await _limit_time(target.identity())
        if isinstance(connection, CallError):
            return [("connection", connection)]
        calls = [TargetCall(case, name, _TIMEOUT_SECONDS, notices=notices) for name in target.operations]
        return [(call.operation, await _limit_time(target.observe(call))) for call in calls]
    finally:
        await target.aclose()


async def _limit_time(reply: Awaitable[T]) -> T | CallError:
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            return await reply
    except TimeoutError:
        return CallError("timeout", f"no reply within {_TIMEOUT_SECONDS:.0f} s")
    except CallError as error:
        return error


def _check_observation(
    subject: str, chosen: ChosenTarget, observation: Observation, golden: GoldenSet
) -> Iterator[SetupFinding]:
    if observation.error is not None:
        yield SetupFinding(
            "warn", subject, f"the first case has an error: {observation.error.code} {observation.error.message}"
        )
    untold_turns = describe_untold_turns(chosen, golden.cases)
    if untold_turns is not None:
        yield SetupFinding("warn", subject, untold_turns, TURNS_REMEDY)
    chunks = [chunk for stage in observation.stages or () for chunk in stage.chunks]
    answers = isinstance(observation.answer, str)
    checks: list[tuple[bool, WarningRank, str, str]] = [
        (
            any(case.user is not None for case in golden.cases) and not receives_user(chosen),
            WarningRank.BREAKS,
            "is not told which user asks, although cases name one",
            "identity: {x-tenant: user.tenant}, or {{user}} in the body or arguments",
        ),
        (
            not observation.stages,
            WarningRank.BREAKS,
            "reports no ranking",
            "without stages, retrieval failures cannot be distinguished from generation failures",
        ),
        (
            bool(chunks) and not any(chunk.text for chunk in chunks),
            WarningRank.BREAKS,
            "reports no texts of chunks",
            "without them, answers are not compared with their sources (expected text, content or page_content)",
        ),
        (
            answers and bool(observation.stages) and find_stage(observation, CONTEXT_STAGE) is None,
            WarningRank.BREAKS,
            "does not say what the model was shown",
            "context: retrieved in the target's settings, if the model is shown what is retrieved",
        ),
        (
            answers and observation.citations is None,
            WarningRank.NARROWS,
            "reports no citations",
            "without them, only markers in the text, such as [1], are checked",
        ),
        (
            not observation.versions,
            WarningRank.HOUSEKEEPING,
            "reports no versions",
            "report versions: model, index, prompt …, so that runs can be compared",
        ),
    ]
    for missing, rank, message, remedy in checks:
        if missing:
            yield SetupFinding("warn", subject, message, remedy, rank)


def describe_reply(observation: Observation) -> str:
    """Return a reply as it was understood, in lines: the answer, each stage with its first chunks, the citations."""
    lines = []
    if observation.answer is not UNSET:
        answer = observation.answer
        lines.append("answer: " + ("null" if answer is None else repr(shorten_to_line(answer, _MAX_ANSWER_CHARS))))
    for stage in observation.stages or ():
        lines.append(f"stage {stage.name}: {format_count(len(stage.chunks), 'chunk')}")
        lines += [f"  {rank}. {_describe_chunk(chunk)}" for rank, chunk in enumerate(stage.chunks[:_MAX_CHUNKS], 1)]
    if observation.citations is not None:
        cited = ", ".join(observation.citations[:_MAX_CITATIONS]) or "none"
        lines.append(f"citations: {cited}" + (" …" if len(observation.citations) > _MAX_CITATIONS else ""))
    if observation.versions:
        lines.append("versions: " + ", ".join(f"{name} {version}" for name, version in observation.versions.items()))
    return "\n".join(["understood as" if lines else "nothing that can be scored", *lines])


def _describe_chunk(chunk: Chunk) -> str:
    score = "" if chunk.score is None else f" (score {chunk.score:g})"
    text = "no text" if chunk.text is None else repr(shorten_to_line(chunk.text, _MAX_TEXT_CHARS))
    return f"{chunk.chunk_id}{score}: {text}"


def describe_golden_set(
    path: str, format: str | None = None, corpus_path: str | None = None
) -> tuple[LoadedGolden, Table]:
    """Return a golden set and a table of its counts: cases by behaviour, difficulty, tag and judgments.

    With a corpus, its warnings name the evidence that it lacks or keeps from the user of its case. A last warning says
    how many cases state nothing by which their answers can be judged.
    """
    loaded = load_golden(path, format)
    golden = loaded.golden
    if corpus_path is not None:
        corpus, doubts = load_corpus(corpus_path)
        labels = find_stale_evidence(golden, corpus, path), find_hidden_evidence(golden, corpus, path)
        loaded = structs.replace(loaded, warnings=(*loaded.warnings, *doubts, *labels[0], *labels[1]))
    unjudgeable = describe_unjudgeable_cases(golden)
    if unjudgeable:
        warning = Problem(path, None, "", f"{unjudgeable}: {UNJUDGEABLE_REMEDY}", "E_UNJUDGEABLE")
        loaded = structs.replace(loaded, warnings=(*loaded.warnings, warning))
    cases = [case for case in golden.cases if case.variant_of is None]
    rows = [
        ("format", loaded.format),
        ("digest", loaded.digest),
        ("cases", str(len(cases))),
        ("judgments", golden.judgments),
    ]
    if len(cases) < len(golden.cases):
        rows.insert(3, ("variants of cases, not counted below", str(len(golden.cases) - len(cases))))
    for attribute, counts in (
        ("behaviour", Counter(case.behaviour for case in cases)),
        ("difficulty", Counter(case.difficulty for case in cases)),
        ("tag", Counter(tag for case in cases for tag in case.tags)),
    ):
        rows += [(f"{attribute} {escape_terminal(name)}", str(count)) for name, count in sorted(counts.items())]
    notes = []
    for entry in golden.lineage:
        notes.append(escape_terminal(f"version {entry.version}: {entry.describe()}"))
        notes += [escape_terminal(entry.list_changes())] if entry.list_changes() else []
    return loaded, Table(escape_terminal(golden.name or path), ("What", "How many"), tuple(rows), tuple(notes))


def check_installed_plugins() -> Iterator[tuple[str, Plugin, PluginError | None]]:
    """Load all installed plugins; yield for each what it adds, the plugin, and why it cannot be used, if so."""
    tables: tuple[PluginTable[Any], ...] = (CATALOG, TARGET_KINDS, PROVIDERS)
    for table in tables:
        for plugin, error in table.load_installed():
            yield table.kind, plugin, error
    # Both kinds of format are declared in one group: a plugin of one kind is no fault of the other.
    golden_formats = GOLDEN_FORMAT_TABLE.load_installed()
    for (plugin, golden_error), (_, output_error) in zip(golden_formats, OUTPUT_FORMATS.load_installed(), strict=True):
        is_usable = golden_error is None or output_error is None
        kind = GOLDEN_FORMAT_TABLE.kind if golden_error is None else OUTPUT_FORMATS.kind
        yield kind, plugin, None if is_usable else output_error
