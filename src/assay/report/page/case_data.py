"""Cases as data for the HTML report: one case in full, and a short row for every case.

A case in full has question and expectation, and the outcome in each configuration. Text that the case's user must not
see is withheld before anything is written, unless the report is to show it. Short rows are stored column by column:
they are what the page's case list searches, filters, sorts and shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec
import numpy as np
from msgspec import UNSET

from assay.attribution.cause_sentences import get_claim, list_signs, name_causes
from assay.records.findings import Attribution, Comparison, list_leaking_cases, list_unknown_now
from assay.records.golden_set import Case, User
from assay.records.observations import Observation, ToolCall
from assay.records.scores import SCORED, STATUS_NAMES, CaseChecks, ConfigResult, ScoreColumn, ScoringResult
from assay.records.verdicts import Verdict
from assay.report.cases.full_case import FORBIDDEN_MARK as HIDDEN
from assay.report.cases.full_case import CitationMark, Explanation, RankedChunk, RankedStage, ScoreLine
from assay.report.findings.expected_sources import EVIDENCE_LABEL, FORBIDDEN_LABEL, describe_expected_sources
from assay.report.findings.flipped_cases import list_flipped_cases
from assay.report.wording.number_format import find_metric_row
from assay.scoring.case_outcomes import classify_checks
from assay.text.escaping import WITHHELD, shorten_to_line, withhold_secrets

DEFAULT_DETAIL_MB = 25.0
ClaimLabel = Literal["supported", "contradicted", "unsupported", "unknown"]


@dataclass(frozen=True, slots=True)
class ClaimView:
    """One claim of an answer in its own words, and how `rules`, a `judge` or a person labelled it."""

    text: str
    state: ClaimLabel
    by: str
    reasoning: str = ""
    quote: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class CaseView:
    """One case in one configuration: its explanation, the claims of its answer, the judge's recorded votes.

    `entities` are the codes and names of the question, each with whether the context mentions it.
    """

    explanation: Explanation
    claims: tuple[ClaimView, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    entities: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class CaseDetail:
    """A case in full: its index in the golden set (`case_index`), and its view in each configuration."""

    case_index: int
    views: Mapping[str, CaseView]


@dataclass(frozen=True, slots=True)
class StepTime:
    """How long one step took under one configuration, in milliseconds, over `n` cases."""

    config: str
    step: str
    p50: float
    p95: float
    n: int


@dataclass(frozen=True, slots=True)
class HtmlData:
    """Everything the page shows.

    `details` come in order of importance and are included until they take up `detail_mb` megabytes of JSON;
    `attributions` are by configuration and case id; `explain_arguments` holds the arguments after
    `assay explain CASE --config CONFIG`, a command that the page shows for the cases that are not included in full.
    """

    scoring: ScoringResult
    cases: Sequence[Case]
    details: Iterable[CaseDetail] = ()
    attributions: Mapping[str, Mapping[str, Attribution]] = field(default_factory=dict)
    comparison: Comparison | None = None
    timings: Sequence[StepTime] = ()
    date: str = ""
    owner: str = ""
    explain_arguments: str = ""
    detail_mb: float = DEFAULT_DETAIL_MB
    show_forbidden: bool = False


Json = dict[str, Any]
MAX_TEXT_LENGTH = 6_000
"""Characters of one text that are shown; longer texts end with the count of the others."""


def build_case_detail(detail: CaseDetail, data: HtmlData) -> Json:
    """Return a case for the page; text that its user must not see is withheld unless `data.show_forbidden`."""
    case = data.cases[detail.case_index]
    case_data: Json = {
        **_build_case_facts(case, data.show_forbidden),
        "views": {
            config: _build_view(view, data.attributions.get(config, {}).get(case.id), data.show_forbidden)
            for config, view in sorted(detail.views.items())
        },
    }
    pattern = None if data.show_forbidden else _compile_secrets(case.forbidden_text)
    if pattern is not None:
        case_data = _map_texts(case_data, lambda text: pattern.sub(WITHHELD, text))
    if not data.show_forbidden:
        views = {config: detail.views[config].explanation.withhold(view) for config, view in case_data["views"].items()}
        case_data["views"] = views
    return case_data


def _build_case_facts(case: Case, show_forbidden: bool) -> Json:
    sources = describe_expected_sources(case, show_forbidden)
    hide = case.behaviour == "permission_denied" and not show_forbidden
    return {
        "question": truncate_text(case.question),
        "history": [{"role": turn.role, "text": truncate_text(turn.text)} for turn in case.history],
        "user": _list_user(case.user),
        "behaviour": case.behaviour,
        "also": case.also_accept,
        "reference": truncate_text(case.reference) if case.reference is not None else None,
        "must_have": case.must_have,
        "must_cite": case.must_cite,
        "keywords": case.rubric.correct_keywords if case.rubric is not None else (),
        "evidence": sources[EVIDENCE_LABEL],
        "forbidden": sources[FORBIDDEN_LABEL],
        "quotes": [unit.quote for unit in case.evidence if unit.quote and not hide],
        "difficulty": case.difficulty,
        "language": case.language,
        "attributes": case.attributes,
        "notes": truncate_text(case.notes),
        "metadata": _list_facts(case.metadata),
    }


def _build_attribution(attribution: Attribution) -> Json:
    happened = build_happened(attribution)
    fields: Json = msgspec.to_builtins(attribution)
    return fields if happened is None else {**fields, "happened": happened}


def build_happened(attribution: Attribution) -> Json | None:
    """Return what happened to a case, in parts that a page says in its own language; None without a cause."""
    if attribution.cause is None:
        return None
    return {
        "claim": get_claim(attribution),
        "signs": list_signs(attribution),
        "ids": name_causes(attribution),
    }


def _build_view(view: CaseView, attribution: Attribution | None, show_forbidden: bool) -> Json:
    explanation = view.explanation
    observation = explanation.observation
    answer_hidden = explanation.leaked and not show_forbidden
    hidden = frozenset() if show_forbidden else _find_hidden_chunks(explanation)
    unsafe = answer_hidden or bool(hidden)
    texts: dict[str, str] = {}  # filled by _build_chunks
    checks = explanation.checks
    view_data: Json = {
        "observed": observation is not None,
        "failed": checks.failed if checks is not None else (),
        "warnings": checks.warnings if checks is not None else (),
        "stages": _build_stages(explanation.stages, texts, hidden),
        "context": None if explanation.context is None else _build_chunks(explanation.context, texts, hidden),
        "texts": texts,
        "citations": _build_citations(explanation.citations),
        "how": {} if unsafe else _list_score_reasons(explanation.scores),
        "claims": [] if answer_hidden else [_build_claim(claim, unsafe) for claim in view.claims],
        "verdicts": [_build_vote(verdict, unsafe) for verdict in view.verdicts],
        "attribution": _build_attribution(attribution) if attribution is not None else None,
    }
    if view.entities and not unsafe:
        view_data["entities"] = [list(entity) for entity in view.entities]
    if observation is not None:
        tools_hidden = unsafe or (explanation.tools_leaked and not show_forbidden)
        view_data |= _build_observation(observation, answer_hidden, tools_hidden)
    return view_data


def _build_stages(
    stages: Iterable[RankedStage] | None, texts: dict[str, str], hidden: frozenset[str]
) -> list[Json] | None:
    if stages is None:
        return None
    return [
        {"name": stage.name, "ms": stage.latency_ms, "chunks": _build_chunks(stage.chunks, texts, hidden)}
        for stage in stages
    ]


def _build_citations(citations: Iterable[CitationMark] | None) -> list[list[str | bool | None]] | None:
    if citations is None:
        return None
    return [[mark.citation, mark.exists, mark.reachable, mark.in_context] for mark in citations]


def _list_score_reasons(scores: Iterable[ScoreLine]) -> dict[str, str]:
    """Return the reasons of scored metrics; those for a missing score are in the `scores-N` islands."""
    return {line.metric: truncate_text(line.reason) for line in scores if line.status == "scored" and line.reason}


def _find_hidden_chunks(explanation: Explanation) -> frozenset[str]:
    """Return the ids of forbidden chunks that were returned: comments on the answer may repeat their text."""
    rankings = [explanation.context or (), *(stage.chunks for stage in explanation.stages or ())]
    return frozenset(chunk.chunk_id for ranking in rankings for chunk in ranking if HIDDEN in chunk.marks)


def _build_observation(observation: Observation, hide: bool, hide_tools: bool) -> Json:
    answer = None
    if observation.answer is UNSET:
        answered = "never"
    elif observation.answer is None:
        answered = "null"
    elif hide:
        answered = "withheld"
    else:
        answered = "text"
        answer = truncate_text(observation.answer)
    error = observation.error
    tools: Any = observation.tool_calls  # a list of calls, or only their number
    if isinstance(tools, tuple):
        tools = [_build_tool_call(call, hide_tools) for call in tools]
    return {
        "answer": answer,
        "answered": answered,
        "declared": observation.behaviour,
        "rewrite": observation.query_rewrite,
        "error": f"{error.code} {truncate_text(error.message)}".strip() if error is not None else None,
        "usage": msgspec.to_builtins(observation.usage) if observation.usage is not None else None,
        "tools": tools,
        "versions": observation.versions,
    }


def _build_tool_call(call: ToolCall, hide: bool) -> Json:
    result = None if hide or call.result_text is None else truncate_text(call.result_text)
    return {"name": call.name, "error": call.error, "result": result}


def _build_chunks(chunks: Iterable[RankedChunk], texts: dict[str, str], hidden: frozenset[str]) -> list[Json]:
    """Return a ranking and add the text of each chunk to `texts` once; that of a hidden chunk is left out."""
    rows = []
    for chunk in chunks:
        if chunk.text is not None and chunk.chunk_id not in hidden:
            texts.setdefault(chunk.chunk_id, truncate_text(chunk.text))
        rows.append(
            {
                "id": chunk.chunk_id,
                "score": chunk.score,
                "grade": chunk.grade,
                "units": chunk.units,
                "marks": chunk.marks,
                "hidden": chunk.chunk_id in hidden,
            }
        )
    return rows


def _build_claim(claim: ClaimView, unsafe: bool) -> Json:
    return {
        "text": claim.text,
        "state": claim.state,
        "by": claim.by,
        "reasoning": _withhold_unsafe(claim.reasoning, unsafe),
        "quote": _withhold_unsafe(claim.quote, unsafe),
        "source": claim.source,
    }


def _withhold_unsafe(text: str | None, unsafe: bool) -> str | None:
    if text and unsafe:
        return WITHHELD
    return truncate_text(text) if text is not None else None


def _build_vote(verdict: Verdict, unsafe: bool) -> Json:
    """Return one recorded vote; `unsafe` means that the judge's words may repeat forbidden text."""
    return {
        "rubric": verdict.rubric,
        "sample": verdict.sample,
        "model": verdict.model,
        "unscored": verdict.unscored,
        "message": _withhold_unsafe(verdict.message, unsafe),
        "flags": verdict.flags,
        "items": [
            {
                "id": item.id,
                "label": item.label,
                "reasoning": _withhold_unsafe(item.reasoning, unsafe),
                "quote": _withhold_unsafe(item.quote, unsafe),
                "source": item.source,
            }
            for item in verdict.items
        ],
    }


def _list_facts(record: Any) -> list[list[str]]:
    """Return a record's fields that are not empty, as (name, text) pairs."""
    fields: dict[str, Any] = msgspec.to_builtins(record) if record is not None else {}
    return [
        [name, truncate_text(_format_fact(value), 500)]
        for name, value in sorted(fields.items())
        if value not in (None, "", [], {})
    ]


def _format_fact(value: Any) -> str:
    """Return a value as people write it: several names with commas, other values as JSON."""
    if isinstance(value, list | tuple) and all(isinstance(member, str) for member in value):
        return ", ".join(value)
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _list_user(user: User | None) -> list[list[str]]:
    """Return what is known of who asks; of a stranger that they have no rights, and nothing where no user is named."""
    return _list_facts(user) or ([["tenant", "none"], ["roles", "none"]] if user is not None else [])


def truncate_text(text: str, limit: int = MAX_TEXT_LENGTH) -> str:
    """Return at most `limit` characters of a text, with the count of those left out.

    >>> truncate_text("abcdef", 4)
    'abcd … and 2 more characters'
    """
    return text if len(text) <= limit else f"{text[:limit]} … and {len(text) - limit} more characters"


def _compile_secrets(secrets: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern that matches any of the secrets, ignoring case and white space; None without secrets."""
    parts = []
    for secret in secrets:
        words = secret.split()
        if words:
            parts.append(r"\s+".join(map(re.escape, words)))
    return (
        re.compile("|".join(sorted(parts, key=lambda secret: (-len(secret), secret))), re.IGNORECASE) if parts else None
    )


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return JSON data with `change` applied to every text in it, keys included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _map_texts(member, change) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_map_texts(member, change) for member in value]
    return value


PASSED, FAILED, LEAKED, MISSING, UNKNOWN = "passed", "failed", "leaked", "missing", "unknown"
CASE_STATES = (PASSED, FAILED, LEAKED, MISSING, UNKNOWN)
CHANGE_STATES = (
    "unchanged", "improved", "regressed", "unclear", "cleared", "worse", "better", "mixed", "unpaired",
)  # fmt: skip
LEAK_CHECK = "leak"
MAX_QUESTION_LENGTH = 160
MAX_CASES_PER_LIST = 1000
"""The largest number of improved or of regressed cases that are listed for one metric."""
_STATUS_FACTOR = 65_536
_DECIMALS = {"ms": 1, "tokens": 0, "USD": 6}


def build_case_rows(data: HtmlData, islands: Mapping[int, int]) -> Json:
    """Return the columns of the case list; `islands` maps case indices to the island that holds the case in full."""
    cases = data.cases
    rows: Json = {
        "ids": [case.id for case in cases],
        "questions": [shorten_question(case, data.show_forbidden) for case in cases],
        "behaviours": encode_names(case.behaviour for case in cases),
        "tags": _encode_name_lists(case.tags for case in cases),
        "islands": [islands.get(case_index, -1) for case_index in range(len(cases))],
        "states": CASE_STATES,
        "configs": {
            config: _build_config_rows(result, data.attributions.get(config, {}))
            for config, result in sorted(data.scoring.configs.items())
        },
    }
    if data.comparison is not None:
        rows["changes"] = _build_change_columns(data.comparison, cases)
    return rows


def encode_names(values: Iterable[str]) -> Json:
    """Return the distinct values in order of first appearance (`names`), and each value's index in them (`codes`).

    >>> encode_names(["a", "b", "a"])
    {'names': ['a', 'b'], 'codes': [0, 1, 0]}
    """
    names: dict[str, int] = {}
    codes = [names.setdefault(value, len(names)) for value in values]
    return {"names": list(names), "codes": codes}


def _encode_happened(attributions: Iterable[Attribution | None]) -> Json:
    """Return the distinct findings in order of first appearance, and each case's index in them, -1 without a cause."""
    numbers: dict[bytes, int] = {}
    findings: list[Json] = []
    codes = []
    for attribution in attributions:
        happened = build_happened(attribution) if attribution is not None else None
        if happened is None:
            codes.append(-1)
            continue
        number = numbers.setdefault(msgspec.json.encode(happened), len(numbers))
        if number == len(findings):
            findings.append(happened)
        codes.append(number)
    return {"findings": findings, "codes": codes}


def _encode_name_lists(values: Iterable[Iterable[str]]) -> Json:
    names: dict[str, int] = {}
    codes = [[names.setdefault(name, len(names)) for name in value] for value in values]
    return {"names": list(names), "codes": codes}


def shorten_question(case: Case, show_forbidden: bool) -> str:
    """Return the question in one line, with what its user must not see withheld unless `show_forbidden`."""
    return shorten_to_line(
        case.question if show_forbidden else withhold_secrets(case.question, case.forbidden_text), MAX_QUESTION_LENGTH
    )


def classify_cases(result: ConfigResult) -> list[str]:
    """Return the state of every case, in golden order; failed cases that leaked or have no output are told apart."""
    checks_by_case = {checks.case_id: checks for checks in result.table.checks}
    missing = set(result.table.missing)
    return [
        MISSING if case_id in missing else _classify_case(checks_by_case.get(case_id))
        for case_id in result.table.case_ids
    ]


def _classify_case(checks: CaseChecks | None) -> str:
    return LEAKED if checks is not None and LEAK_CHECK in checks.failed else classify_checks(checks)


def build_score_columns(result: ConfigResult, data: HtmlData) -> list[Json]:
    """Return the scores of every case under one configuration, metric by metric."""
    return [_build_score_column(column, data) for _, column in sorted(result.table.columns.items())]


def _build_config_rows(result: ConfigResult, attributions: Mapping[str, Attribution]) -> Json:
    table = result.table
    failed = {case_checks.case_id: case_checks.failed for case_checks in table.checks}
    warned = {case_checks.case_id: case_checks.warnings for case_checks in table.checks}
    config_rows: Json = {
        "states": [CASE_STATES.index(state) for state in classify_cases(result)],
        "checks": _encode_name_lists(failed.get(case_id, ()) for case_id in table.case_ids),
        "warned": _encode_name_lists(warned.get(case_id, ()) for case_id in table.case_ids),
        "metrics": sorted(table.columns),
    }
    if attributions:
        causes, verdicts = [], []
        for case_id in table.case_ids:
            attribution = attributions.get(case_id)
            causes.append((attribution.cause or "") if attribution is not None else "")
            verdicts.append(attribution.verdict if attribution is not None else "")
        config_rows["causes"] = encode_names(causes)
        config_rows["happened"] = _encode_happened(attributions.get(case_id) for case_id in table.case_ids)
        config_rows["verdicts"] = encode_names(verdicts)
    return config_rows


def _build_score_column(column: ScoreColumn, data: HtmlData) -> Json:
    """Return a metric's scores, and the reasons for missing ones as runs of (rows, reason): most rows share one."""
    metric_row = find_metric_row(column.metric)
    decimals = _DECIMALS.get(metric_row.unit, 4) if metric_row is not None else 4
    values: list[float | None] = np.round(column.values, decimals).tolist()
    unscored = column.status != SCORED
    for row in np.flatnonzero(unscored).tolist():
        values[row] = None
    # One number for status and reason; consecutive rows with the same number become one run.
    kinds = np.where(unscored, column.status.astype(np.int64) * _STATUS_FACTOR + column.reason, 0)
    starts = np.flatnonzero(np.diff(kinds, prepend=-1))
    lengths = np.diff(starts, append=len(kinds)).tolist()
    runs = encode_names(map(str, kinds[starts].tolist()))
    return {
        "name": column.metric,
        "values": values,
        "why": [number for run in zip(lengths, runs["codes"], strict=True) for number in run],
        "reasons": [_decode_reason(column, int(kind)) for kind in runs["names"]],
    }


def _decode_reason(column: ScoreColumn, kind: int) -> list[str]:
    status, reason = divmod(kind, _STATUS_FACTOR)
    return [STATUS_NAMES[status], column.reasons[reason] if status != SCORED else ""]


_CHANGED_KNOWLEDGE = {("pass", "unknown"): "unclear", ("unknown", "pass"): "cleared"}
"""The change of a case that fails on neither side, by the verdicts before and after."""


def list_case_changes(comparison: Comparison, cases: Sequence[Case]) -> list[str]:
    """Return how each case changed, in golden order.

    The outcome comes first: a case regressed if it fails now alone, and improved if it failed with the baseline alone;
    a case that leaks on one side alone is worse or better by that, whatever its other scores; one that passed or failed
    is unclear if nothing tells any longer whether it is right, and one that passes cleared the other way round. Only
    where the outcome is the same, its scores are worse, better or mixed; else it is unchanged, or unpaired.
    """
    case_ids = [case.id for case in cases]
    change_by_case = {change.case_id: _compare_scores(change.improved, change.regressed) for change in comparison.cases}
    for change in comparison.cases:
        verdicts = (change.before and change.before.verdict, change.after and change.after.verdict)
        if verdicts in _CHANGED_KNOWLEDGE:
            change_by_case[change.case_id] = _CHANGED_KNOWLEDGE[verdicts]
    leaking = list_leaking_cases(comparison)
    change_by_case |= dict.fromkeys(leaking.now_alone, "worse") | dict.fromkeys(leaking.before_alone, "better")
    flipped = list_flipped_cases(comparison)
    change_by_case |= dict.fromkeys(flipped.fail_now, "regressed") | dict.fromkeys(flipped.fail_no_longer, "improved")
    change_by_case |= dict.fromkeys(list_unknown_now(comparison, flipped.fail_no_longer), "unclear")
    paired = {
        case_id
        for change in comparison.metrics.values()
        for case_id in (*change.improved, *change.regressed, *change.unchanged, *change.needs_review)
    }
    return [change_by_case.get(case_id, "unchanged" if case_id in paired else "unpaired") for case_id in case_ids]


def _build_change_columns(comparison: Comparison, cases: Sequence[Case]) -> Json:
    index_by_case = {case.id: number for number, case in enumerate(cases)}
    words = list_case_changes(comparison, cases)
    lists = {
        metric: {
            "improved": [index_by_case[name] for name in change.improved if name in index_by_case][:MAX_CASES_PER_LIST],
            "regressed": [index_by_case[name] for name in change.regressed if name in index_by_case][
                :MAX_CASES_PER_LIST
            ],
        }
        for metric, change in comparison.metrics.items()
    }
    return {"names": CHANGE_STATES, "codes": [CHANGE_STATES.index(word) for word in words], "metrics": lists}


def _compare_scores(improved: tuple[str, ...], regressed: tuple[str, ...]) -> str:
    if improved and regressed:
        return "mixed"
    if improved:
        return "better"
    return "worse" if regressed else "unchanged"
