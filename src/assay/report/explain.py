"""One case whole, for a terminal: what was asked and expected, what every step returned, the answer, each score."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import UNSET

from assay.finding import Attribution
from assay.model import Case, CaseChecks, Observation, User
from assay.report.evidence import expected_sources
from assay.report.faults import facts_of, walk_of
from assay.report.figures import NA, number
from assay.report.safe import one_line, terminal, without

FORBIDDEN = "forbidden"
_LABEL = 13
_LONGEST = 20_000
"""Characters of one text that are printed; the rest is counted."""


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """One slot of a ranking: `grade` None means that nobody judged the chunk, `units` how many units it newly covers.

    `marks` are words such as `forbidden`, `stale` or `repeat`; the text of a chunk marked forbidden is not printed.
    """

    rank: int
    chunk_id: str
    score: float | None = None
    grade: int | None = None
    units: int = 0
    marks: tuple[str, ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True)
class RankedStage:
    """What one step returned, in rank order."""

    name: str
    chunks: tuple[RankedChunk, ...]
    latency_ms: float | None = None


@dataclass(frozen=True, slots=True)
class CitationMark:
    """One citation and what is known of it; None means that nothing could tell."""

    citation: str
    exists: bool | None = None
    reachable: bool | None = None
    in_context: bool | None = None


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One metric's score of this case, with the reason where it has none."""

    metric: str
    value: float | None
    status: str = "scored"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything known about one case under one configuration.

    `stages` and `context` are None where the target did not report them. `leaked` says that the answer shows forbidden
    text, which is then withheld. `observation` None: the case has no output. `lists` say which expected files and
    symbols are missing.
    """

    case: Case
    config_id: str
    observation: Observation | None
    stages: tuple[RankedStage, ...] | None = None
    context: tuple[RankedChunk, ...] | None = None
    citations: tuple[CitationMark, ...] | None = None
    scores: tuple[ScoreLine, ...] = ()
    checks: CaseChecks | None = None
    leaked: bool = False
    attribution: Attribution | None = None
    lists: tuple[str, ...] = ()


def explain_text(found: Explanation, *, width: int = 100, show_forbidden: bool = False) -> str:
    """Return the explanation as plain text ending in a newline, wrapped at `width` columns.

    Forbidden text (canaries, forbidden chunks, a leaking answer) is withheld unless `show_forbidden`.
    """
    page = _Page(width, show_forbidden, () if show_forbidden else found.case.forbidden_text)
    lines = [page.safe(f"{found.case.id} under {found.config_id}: {_verdict(found)}"), "", *_asked(found.case, page)]
    if found.observation is None:
        lines += ["", "No output for this case: every grader counts it as an error."]
    else:
        lines += _seen(found, found.observation, page)
    for each in found.lists:
        lines += page.paragraph("Lists", each)
    if found.attribution is not None:
        lines += ["", *_fault(found.attribution, page)]
    lines += ["", "Scores", *_scores(found.scores, page)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Page:
    """How text is put on the page: its width, and what may not stand on it."""

    width: int
    show_forbidden: bool
    secrets: tuple[str, ...]

    def safe(self, text: str) -> str:
        return terminal(without(text, self.secrets))

    def paragraph(self, label: str, text: str) -> list[str]:
        """Return a labelled paragraph that keeps the text's own line breaks; each line is made safe on its own."""
        kept = without(text, self.secrets).replace("\r\n", "\n").replace("\t", "    ")
        if len(kept) > _LONGEST:
            kept = f"{kept[:_LONGEST]} … and {len(kept) - _LONGEST} more characters"
        lines: list[str] = []
        for part in kept.split("\n"):
            wide = max(self.width - _LABEL, 20)
            lines += textwrap.wrap(terminal(part), wide, break_long_words=False, break_on_hyphens=False) or [""]
        return [f"{label if place == 0 else '':<{_LABEL}}{line}" for place, line in enumerate(lines)]


def _verdict(found: Explanation) -> str:
    if found.checks is not None and found.checks.failed:
        return "failed " + ", ".join(found.checks.failed)
    return "missing" if found.observation is None else "no failed check"


def _asked(case: Case, page: _Page) -> Iterator[str]:
    yield from page.paragraph("Question", case.question)
    for turn in case.history:
        yield from page.paragraph(f"  {turn.role}", turn.text)
    yield from page.paragraph("User", _user(case.user))
    also = f" (also accepted: {', '.join(case.also_accept)})" if case.also_accept else ""
    yield from page.paragraph("Expected", case.behaviour + also)
    if case.reference is not None:
        yield from page.paragraph("Reference", case.reference)
    for label, items in (("Must have", case.must_have), ("Must cite", case.must_cite)):
        if items:
            yield from page.paragraph(label, "; ".join(items))
    for label, sources in expected_sources(case, page.show_forbidden).items():
        for source in sources:
            yield from page.paragraph(label, source)
    if case.tags:
        yield from page.paragraph("Tags", ", ".join(case.tags))


def _fault(found: Attribution, page: _Page) -> Iterator[str]:
    """Yield whose fault it was, why, and the walk of the evidence as a table."""
    for label, text in facts_of(found):
        yield from page.paragraph(label, text)
    walk = walk_of(found)
    if walk.rows:
        rows = [[page.safe(cell) for cell in row] for row in (walk.columns, *walk.rows)]
        wide = [max(len(row[place]) for row in rows) for place in range(len(walk.columns))]
        yield page.safe(walk.title)
        yield from ("  " + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, wide, strict=True)) for row in rows)


def _user(user: User | None) -> str:
    if user is None:
        return "anyone"
    facts = {
        "id": user.id,
        "tenant": user.tenant,
        "roles": "+".join(user.roles) or None,
        "position": None if user.position is None else f"{user.position:g}",
        "position_scope": user.position_scope,
        "locale": user.locale,
        "as_of": user.as_of,
    }
    return ", ".join(f"{name}={value}" for name, value in facts.items() if value is not None) or "anyone"


def _seen(found: Explanation, seen: Observation, page: _Page) -> Iterator[str]:
    if seen.error is not None:
        yield from ("", *page.paragraph("Target error", f"{seen.error.code} {seen.error.message}".strip()))
    if seen.query_rewrite is not None:
        yield from page.paragraph("Rewritten as", seen.query_rewrite)
    if found.stages is None:
        yield from ("", "Stages: not reported")
    for stage in found.stages or ():
        took = f", {stage.latency_ms:.0f} ms" if stage.latency_ms is not None else ""
        yield from ("", page.safe(f"Stage {stage.name}{took}"), *_ranking(stage.chunks, page))
    yield from ("", "Context" + (": not reported" if found.context is None else ""))
    if found.context is not None:
        yield from _ranking(found.context, page, excerpts=True)
    yield from ("", *page.paragraph("Answer", _answer(found, seen, page)))
    if seen.behaviour is not None:
        yield from page.paragraph("Declared as", seen.behaviour)
    yield from ("", *_citations(found.citations, page))
    checks = found.checks
    for label, names in (("Failed", checks.failed), ("Warnings", checks.warnings)) if checks is not None else ():
        if names:
            yield from page.paragraph(label, ", ".join(names))


def _ranking(chunks: tuple[RankedChunk, ...], page: _Page, *, excerpts: bool = False) -> Iterator[str]:
    if not chunks:
        yield "  nothing returned"
        return
    ids = [page.safe(chunk.chunk_id) for chunk in chunks]
    wide = min(max(map(len, ids)), 60)
    yield f"  {'rank':>4}  {'chunk':<{wide}}  {'score':>9}  grade  units  marks"
    for chunk, shown in zip(chunks, ids, strict=True):
        score = NA if chunk.score is None else f"{chunk.score:.4g}"
        grade = "-" if chunk.grade is None else str(chunk.grade)
        marks = page.safe(", ".join(chunk.marks))
        yield f"  {chunk.rank:>4}  {shown:<{wide}}  {score:>9}  {grade:>5}  {chunk.units:>5}  {marks}"
        if excerpts and chunk.text is not None:
            hidden = FORBIDDEN in chunk.marks and not page.show_forbidden
            excerpt = one_line(without(chunk.text, page.secrets), max(page.width - 8, 20))
            yield "        " + ("text withheld" if hidden else terminal(excerpt))


def _answer(found: Explanation, seen: Observation, page: _Page) -> str:
    if seen.answer is UNSET:
        return "never asked for"
    if seen.answer is None:
        return "none given"
    if found.leaked and not page.show_forbidden:
        return "withheld: it shows forbidden text"
    return seen.answer if seen.answer.strip() else "empty"


def _citations(citations: tuple[CitationMark, ...] | None, page: _Page) -> Iterator[str]:
    if citations is None:
        yield "Citations: not reported"
        return
    yield "Citations" if citations else "Citations: none"
    for mark in citations:
        facts = (("exists", mark.exists), ("reachable", mark.reachable), ("in context", mark.in_context))
        said = ", ".join(f"{name}: {'?' if yes is None else 'yes' if yes else 'NO'}" for name, yes in facts)
        yield f"  {page.safe(mark.citation)}  ({said})"


def _scores(scores: tuple[ScoreLine, ...], page: _Page) -> Iterator[str]:
    wide = max((len(line.metric) for line in scores), default=0)
    for line in scores:
        value = number(line.value, line.metric) if line.status == "scored" else line.status.replace("_", " ")
        yield f"  {line.metric:<{wide}}  {value:<14}  {page.safe(line.reason)}"
