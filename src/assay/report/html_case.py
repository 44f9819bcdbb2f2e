"""One case in full as data for the HTML report: question and expectation, and the outcome in each configuration.

Text that the case's user must not see is withheld before anything is written, unless the report is to show it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import UNSET

from assay.finding import Attribution
from assay.model import Case, Observation
from assay.report.evidence import EXPECTED, FORBIDDEN, expected_sources
from assay.report.explain import FORBIDDEN as HIDDEN
from assay.report.explain import CitationMark, Explanation, RankedChunk, RankedStage, ScoreLine
from assay.report.html_data import CaseDetail, CaseView, Claim, HtmlData
from assay.report.safe import WITHHELD
from assay.verdict import Verdict

Json = dict[str, Any]
TEXT = 6_000
"""Characters of one text that are shown; longer texts end with the count of the others."""


def detail_of(detail: CaseDetail, data: HtmlData) -> Json:
    """Return a case for the page; text that its user must not see is withheld unless `data.show_forbidden`."""
    case = data.cases[detail.place]
    case_data: Json = {
        **_build_case_facts(case, data.show_forbidden),
        "views": {
            config: _build_view(view, data.attributions.get(config, {}).get(case.id), data.show_forbidden)
            for config, view in sorted(detail.views.items())
        },
    }
    pattern = None if data.show_forbidden else _compile_secrets(case.forbidden_text)
    return case_data if pattern is None else _map_texts(case_data, lambda text: pattern.sub(WITHHELD, text))


def _build_case_facts(case: Case, show_forbidden: bool) -> Json:
    sources = expected_sources(case, show_forbidden)
    hide = case.behaviour == "permission_denied" and not show_forbidden
    return {
        "question": cut(case.question),
        "history": [{"role": turn.role, "text": cut(turn.text)} for turn in case.history],
        "user": _list_facts(case.user),
        "behaviour": case.behaviour,
        "also": case.also_accept,
        "reference": cut(case.reference) if case.reference is not None else None,
        "must_have": case.must_have,
        "must_cite": case.must_cite,
        "keywords": case.rubric.correct_keywords if case.rubric is not None else (),
        "evidence": sources[EXPECTED],
        "forbidden": sources[FORBIDDEN],
        "quotes": [unit.quote for unit in case.evidence if unit.quote and not hide],
        "difficulty": case.difficulty,
        "language": case.language,
        "attributes": case.attributes,
        "notes": cut(case.notes),
        "metadata": _list_facts(case.metadata),
    }


def _build_view(view: CaseView, attribution: Attribution | None, show_forbidden: bool) -> Json:
    explanation = view.found
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
        "attribution": msgspec.to_builtins(attribution) if attribution is not None else None,
    }
    if observation is not None:
        view_data |= _build_observation(observation, answer_hidden)
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
    return {line.metric: cut(line.reason) for line in scores if line.status == "scored" and line.reason}


def _find_hidden_chunks(explanation: Explanation) -> frozenset[str]:
    """Return the ids of forbidden chunks that were returned: comments on the answer may repeat their text."""
    rankings = [explanation.context or (), *(stage.chunks for stage in explanation.stages or ())]
    return frozenset(chunk.chunk_id for ranking in rankings for chunk in ranking if HIDDEN in chunk.marks)


def _build_observation(observation: Observation, hide: bool) -> Json:
    answer = None
    if observation.answer is UNSET:
        answered = "never"
    elif observation.answer is None:
        answered = "null"
    elif hide:
        answered = "withheld"
    else:
        answered = "text"
        answer = cut(observation.answer)
    error = observation.error
    tools: Any = observation.tool_calls  # a list of calls, or only their number
    if isinstance(tools, tuple):
        tools = [{"name": call.name, "error": call.error} for call in tools]
    return {
        "answer": answer,
        "answered": answered,
        "declared": observation.behaviour,
        "rewrite": observation.query_rewrite,
        "error": f"{error.code} {cut(error.message)}".strip() if error is not None else None,
        "usage": msgspec.to_builtins(observation.usage) if observation.usage is not None else None,
        "tools": tools,
        "versions": observation.versions,
    }


def _build_chunks(chunks: Iterable[RankedChunk], texts: dict[str, str], hidden: frozenset[str]) -> list[Json]:
    """Return a ranking and add the text of each chunk to `texts` once; that of a hidden chunk is left out."""
    rows = []
    for chunk in chunks:
        if chunk.text is not None and chunk.chunk_id not in hidden:
            texts.setdefault(chunk.chunk_id, cut(chunk.text))
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


def _build_claim(claim: Claim, unsafe: bool) -> Json:
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
    return cut(text) if text is not None else None


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
        [name, cut(value if isinstance(value, str) else msgspec.json.encode(value).decode(), 500)]
        for name, value in sorted(fields.items())
        if value not in (None, "", [], {})
    ]


def cut(text: str, limit: int = TEXT) -> str:
    """Return at most `limit` characters of a text, with the count of those left out.

    >>> cut("abcdef", 4)
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
