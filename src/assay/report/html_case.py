"""One whole case as data for the HTML report: what was asked and expected, and what each configuration made of it.

Text that the asker must not see is withheld before anything is written, unless the reader asked for it.
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
from assay.report.explain import Explanation, RankedChunk, ScoreLine
from assay.report.html_data import CaseDetail, CaseView, Claim, HtmlData
from assay.report.safe import WITHHELD
from assay.verdict import Verdict

Json = dict[str, Any]
TEXT = 6_000
"""Characters of one text that are kept; the rest is counted."""


def detail_of(detail: CaseDetail, data: HtmlData) -> Json:
    """Return a case for the page, with what is forbidden to its asker withheld unless `data.show_forbidden`."""
    case = data.cases[detail.place]
    shape: Json = {
        **_asked(case, data.show_forbidden),
        "views": {
            config: _view(view, data.attributions.get(config, {}).get(case.id), data.show_forbidden)
            for config, view in sorted(detail.views.items())
        },
    }
    pattern = None if data.show_forbidden else _pattern(case.forbidden_text)
    return shape if pattern is None else _each_text(shape, lambda text: pattern.sub(WITHHELD, text))


def _asked(case: Case, show_forbidden: bool) -> Json:
    sources = expected_sources(case, show_forbidden)
    hide = case.behaviour == "permission_denied" and not show_forbidden
    return {
        "question": cut(case.question),
        "history": [{"role": turn.role, "text": cut(turn.text)} for turn in case.history],
        "user": _facts(case.user),
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
        "metadata": _facts(case.metadata),
    }


def _view(view: CaseView, attribution: Attribution | None, show_forbidden: bool) -> Json:
    found = view.found
    seen = found.observation
    hide = found.leaked and not show_forbidden
    hidden = frozenset() if show_forbidden else _hidden_ids(found)
    unsafe = hide or bool(hidden)
    texts: dict[str, str] = {}
    shape: Json = {
        "observed": seen is not None,
        "failed": found.checks.failed if found.checks is not None else (),
        "warnings": found.checks.warnings if found.checks is not None else (),
        "stages": None
        if found.stages is None
        else [
            {"name": each.name, "ms": each.latency_ms, "chunks": _chunks(each.chunks, texts, hidden)}
            for each in found.stages
        ],
        "context": None if found.context is None else _chunks(found.context, texts, hidden),
        "texts": texts,
        "citations": None
        if found.citations is None
        else [[each.citation, each.exists, each.reachable, each.in_context] for each in found.citations],
        "how": {} if unsafe else {line.metric: cut(line.reason) for line in found.scores if _explained(line)},
        "claims": [] if hide else [_claim(each, unsafe) for each in view.claims],
        "verdicts": [_verdict(each, unsafe) for each in view.verdicts],
        "attribution": msgspec.to_builtins(attribution) if attribution is not None else None,
    }
    return shape | (_seen(seen, hide) if seen is not None else {})


def _explained(line: ScoreLine) -> bool:
    """Return whether it is said how a score came about; why there is none stands in the columns of scores."""
    return line.status == "scored" and bool(line.reason)


def _hidden_ids(found: Explanation) -> frozenset[str]:
    """Return the forbidden chunks that were shown: what is said about the answer may then repeat their text."""
    rankings = [found.context or (), *(stage.chunks for stage in found.stages or ())]
    return frozenset(chunk.chunk_id for ranking in rankings for chunk in ranking if HIDDEN in chunk.marks)


def _seen(seen: Observation, hide: bool) -> Json:
    answer = {"answer": None, "answered": "never"}
    if seen.answer is None:
        answer["answered"] = "null"
    elif seen.answer is not UNSET:
        answer = {"answer": None if hide else cut(seen.answer), "answered": "withheld" if hide else "text"}
    error = seen.error
    return {
        **answer,
        "declared": seen.behaviour,
        "rewrite": seen.query_rewrite,
        "error": f"{error.code} {cut(error.message)}".strip() if error is not None else None,
        "usage": msgspec.to_builtins(seen.usage) if seen.usage is not None else None,
        "tools": [{"name": each.name, "error": each.error} for each in seen.tool_calls]
        if isinstance(seen.tool_calls, tuple)
        else seen.tool_calls,
        "versions": seen.versions,
    }


def _chunks(chunks: Iterable[RankedChunk], texts: dict[str, str], hidden: frozenset[str]) -> list[Json]:
    """Return a ranking; the text of each chunk is kept once for all stages, that of a forbidden one not at all."""
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


def _claim(claim: Claim, unsafe: bool) -> Json:
    return {
        "text": claim.text,
        "state": claim.state,
        "by": claim.by,
        "reasoning": _said(claim.reasoning, unsafe),
        "quote": _said(claim.quote, unsafe),
        "source": claim.source,
    }


def _said(text: str | None, unsafe: bool) -> str | None:
    return WITHHELD if text and unsafe else cut(text) if text is not None else None


def _verdict(verdict: Verdict, unsafe: bool) -> Json:
    """Return one recorded vote; `unsafe`: what the judge wrote may repeat what must not be seen."""
    return {
        "rubric": verdict.rubric,
        "sample": verdict.sample,
        "model": verdict.model,
        "unscored": verdict.unscored,
        "message": _said(verdict.message, unsafe),
        "flags": verdict.flags,
        "items": [
            {
                "id": each.id,
                "label": each.label,
                "reasoning": _said(each.reasoning, unsafe),
                "quote": _said(each.quote, unsafe),
                "source": each.source,
            }
            for each in verdict.items
        ],
    }


def _facts(record: Any) -> list[list[str]]:
    """Return a record's fields that say something, as (name, text) pairs."""
    fields: dict[str, Any] = msgspec.to_builtins(record) if record is not None else {}
    return [
        [name, cut(value if isinstance(value, str) else msgspec.json.encode(value).decode(), 500)]
        for name, value in sorted(fields.items())
        if value not in (None, "", [], {})
    ]


def cut(text: str, limit: int = TEXT) -> str:
    """Return the beginning of a text, with the count of what is left out.

    >>> cut("abcdef", 4)
    'abcd … and 2 more characters'
    """
    return text if len(text) <= limit else f"{text[:limit]} … and {len(text) - limit} more characters"


def _pattern(secrets: Iterable[str]) -> re.Pattern[str] | None:
    """Return what finds any of the secrets, whatever its case and white space."""
    parts = [r"\s+".join(map(re.escape, words)) for each in secrets if (words := each.split())]
    return re.compile("|".join(sorted(parts, key=lambda each: (-len(each), each))), re.IGNORECASE) if parts else None


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    """Return JSON data with every text in it changed, keys too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _each_text(each, change) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_each_text(each, change) for each in value]
    return value
