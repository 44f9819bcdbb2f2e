"""One case in full, for a terminal: question and expectation, what every step returned, the answer, each score."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from assay.metrics.answers.answer_behaviour import describe_reading
from assay.metrics.case_checks import WRONG_BEHAVIOUR
from assay.metrics.cases.settled_answers import find_decision
from assay.records.counts import format_count
from assay.records.findings import Attribution
from assay.records.golden_set import Case
from assay.records.observations import Observation
from assay.records.scores import ERROR, NEEDS_REVIEW, STATUS_NAMES, CaseChecks
from assay.report.findings.attribution_facts import build_evidence_trace_table, list_attribution_facts
from assay.report.findings.expected_sources import describe_expected_sources
from assay.report.wording.number_format import NOT_AVAILABLE, format_number
from assay.text.escaping import escape_terminal, shorten_to_line, withhold_secrets
from assay.text.refusals.behaviour import detect_behaviour
from assay.text.refusals.detected_behaviour import DetectedBehaviour
from assay.text.refusals.wording_reasons import explain_refusal, explain_wording

FORBIDDEN_MARK = "forbidden"
_LABEL_WIDTH = 16
_FACT_WORDS = {None: "?", True: "yes", False: "NO"}
_MAX_TEXT = 20_000
"""Characters of one text that are printed; the rest is counted."""


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """One position of a ranking.

    `grade` is None for an unjudged chunk; `units` counts the units of evidence that no earlier chunk covers. `marks`
    are words such as `forbidden`, `stale` or `repeat`; the text of a chunk marked forbidden is not printed.
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
    """One citation and what is known about it; None means unknown."""

    citation: str
    exists: bool | None = None
    reachable: bool | None = None
    in_context: bool | None = None


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One metric's score of this case, or the reason why there is none."""

    metric: str
    value: float | None
    status: str = "scored"
    reason: str = ""


def _show_all(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything known about one case under one configuration.

    `stages` and `context` are None if the target did not report them, `observation` if the case has no output. `leaked`
    is true if the answer shows or cites what its user must not see; it is then withheld. `file_sentences` name missing
    and extra files and symbols. `access_unchecked` says that the case names no user although the corpus restricts
    access to a chunk. `samples` says how several samples of the case differ, "" for one.
    `withhold` replaces, in JSON data or one text about the observation, every text that gives something
    away. `source_sentences`: what the corpus says where the evidence stands.
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
    tools_leaked: bool = False
    is_refusal_doubted: bool = False
    attribution: Attribution | None = None
    file_sentences: tuple[str, ...] = ()
    access_unchecked: bool = False
    samples: str = ""
    source_sentences: tuple[str, ...] = ()
    withhold: Callable[[Any], Any] = _show_all


def render_case_text(explanation: Explanation, *, width: int = 100, show_forbidden: bool = False) -> str:
    """Return the explanation as plain text ending in a newline, wrapped at `width` columns.

    Forbidden text (canaries, forbidden chunks, a leaking answer) is withheld unless `show_forbidden`.
    """
    page = make_page(explanation, width, show_forbidden)
    lines = [
        page.safe(f"{explanation.case.id} under {explanation.config_id}: {summarise_checks(explanation)}"),
        "",
        *_iter_case_lines(explanation.case, page),
    ]
    if explanation.observation is None:
        lines += ["", "No output for this case: every metric counts it as an error."]
    else:
        lines += ["", *page.paragraph("Samples", explanation.samples)] if explanation.samples else []
        lines += _iter_observation_lines(explanation, explanation.observation, page)
    for sentence in explanation.file_sentences:
        lines += page.paragraph("Lists", sentence)
    if explanation.attribution is not None:
        lines += ["", *_iter_attribution_lines(explanation.attribution, page)]
    lines += ["", "Scores", *_iter_score_lines(explanation.scores, page)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


@dataclass(frozen=True, slots=True)
class CasePage:
    """How text is printed: the width in columns, the secrets to withhold, and what else gives something away."""

    width: int
    show_forbidden: bool
    secrets: tuple[str, ...]
    withhold: Callable[[Any], Any]

    def safe(self, text: str) -> str:
        return escape_terminal(self.hide(text))

    def hide(self, text: str) -> str:
        """Return a text without secrets, and nothing of it where it gives something else away."""
        return str(self.withhold(withhold_secrets(text, self.secrets)))

    def paragraph(
        self,
        label: str,
        text: str,
        most_lines: int | None = None,
        *,
        says_how_many: bool = False,
        deciding: Sequence[str] = (),
    ) -> list[str]:
        """Return a labelled paragraph that keeps the text's own line breaks; each line is escaped separately.

        Of a text that takes more than `most_lines`, the first ones are returned, and the last of them ends in "…";
        with `says_how_many` it says how many lines more there are. Lines that have one of the `deciding` texts come
        before others: "…" stands where lines are left out.
        """
        shown_text = self.hide(text).replace("\r\n", "\n").replace("\t", "    ")
        if len(shown_text) > _MAX_TEXT:
            shown_text = f"{shown_text[:_MAX_TEXT]} … and {len(shown_text) - _MAX_TEXT} more characters"
        width = max(self.width - _LABEL_WIDTH, 20)
        lines = _wrap_lines(shown_text, width)
        if most_lines is not None and len(lines) > most_lines:
            longest_end = f" … ({format_count(len(lines), 'more line')})" if says_how_many else " …"
            lines = _wrap_lines(shown_text, max(width - len(longest_end) - 2, 20))  # no line loses its last words
            chosen = _choose_lines(lines, most_lines, [escape_terminal(self.hide(part)) for part in deciding])
            end = f" … ({format_count(len(lines) - most_lines, 'more line')})" if says_how_many else " …"
            lines = _join_chosen(lines, chosen, end)
        if len(label) >= _LABEL_WIDTH:  # a long label has a line of its own
            return [label, *(f"{'':<{_LABEL_WIDTH}}{line}" for line in lines)]
        return [f"{label if number == 0 else '':<{_LABEL_WIDTH}}{line}" for number, line in enumerate(lines)]


def _wrap_lines(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for text_line in text.split("\n"):
        escaped = escape_terminal(text_line)
        lines += textwrap.wrap(escaped, width, break_long_words=False, break_on_hyphens=False) or [""]
    return lines


def _choose_lines(lines: Sequence[str], most: int, deciding: Sequence[str]) -> list[int]:
    """Return the numbers of the lines to show, in order: those that have what decides, then the first ones.

    A text may stand on the end of one line and the beginning of the next: both have it.
    """
    chosen: dict[int, None] = {}
    for part in deciding:
        wanted = " ".join(part.split()).casefold()
        for number, line in enumerate(lines):
            following = f"{line} {lines[number + 1]}" if number + 1 < len(lines) else line
            if wanted in line.casefold():
                chosen[number] = None
            elif wanted in following.casefold() and wanted not in following[len(line) + 1 :].casefold():
                chosen |= {number: None, number + 1: None}
            else:
                continue
            break  # the first place of each text
    chosen |= dict.fromkeys(range(len(lines)))
    return sorted(list(chosen)[:most])


def _join_chosen(lines: Sequence[str], chosen: Sequence[int], end: str) -> list[str]:
    """Return the chosen lines with "…" where others are left out; the last one ends in `end`."""
    joined = []
    for position, number in enumerate(chosen):
        begins_after_gap = number > 0 and (position == 0 or chosen[position - 1] != number - 1)
        joined.append(f"… {lines[number]}" if begins_after_gap else lines[number])
    joined[-1] = joined[-1].rstrip() + end
    return joined


def make_page(explanation: Explanation, width: int, show_forbidden: bool) -> CasePage:
    """Return the page on which a case is printed."""
    secrets = () if show_forbidden else explanation.case.forbidden_text
    return CasePage(width, show_forbidden, secrets, _show_all if show_forbidden else explanation.withhold)


SET_ASIDE = "set to the worst because the case leaked"
"""How the reason of a score begins that a leak gave, and not the answer."""


def summarise_checks(explanation: Explanation) -> str:
    """Return the failed checks of a case in a few words, with how many of its metrics are in error."""
    errors = list_metrics_in_error(explanation)
    in_error = f"; in error: {format_count(len(errors), 'metric')}" if errors else ""
    if explanation.checks is not None and explanation.checks.failed:
        return "failed " + ", ".join(explanation.checks.failed) + in_error
    return "missing" if explanation.observation is None else "no failed check" + in_error


def list_metrics_in_error(explanation: Explanation) -> list[ScoreLine]:
    """Return the scores that could not be had of an answer that is there; what waits for a person is none of them.

    Without an answer, or with an error of the target, that is what is said of the case.
    """
    if explanation.observation is None or explanation.observation.error is not None:
        return []
    in_error = [score for score in explanation.scores if score.status == STATUS_NAMES[ERROR]]
    return [score for score in in_error if not score.reason.startswith(NEEDS_REVIEW)]


def _iter_case_lines(case: Case, page: CasePage) -> Iterator[str]:
    yield from page.paragraph("Question", case.question)
    for turn in case.history:
        yield from page.paragraph(f"  {turn.role}", turn.text)
    yield from page.paragraph("User", format_user(case))
    also = f" (also accepted: {', '.join(case.also_accept)})" if case.also_accept else ""
    yield from page.paragraph("Expected", case.behaviour + also)
    if case.reference is not None:
        yield from page.paragraph("Reference", case.reference)
    for label, items in (("Must have", case.must_have), ("Must cite", case.must_cite)):
        if items:
            yield from page.paragraph(label, "; ".join(items))
    for label, sources in describe_expected_sources(case, page.show_forbidden).items():
        for source in sources:
            yield from page.paragraph(label, source)
    if case.tags:
        yield from page.paragraph("Tags", ", ".join(case.tags))


def _iter_attribution_lines(attribution: Attribution, page: CasePage) -> Iterator[str]:
    """Yield the attribution, its reasons, and the evidence trace as a table."""
    for label, text in list_attribution_facts(attribution):
        yield from page.paragraph(label, text)
    trace = build_evidence_trace_table(attribution)
    if trace.rows:
        rows = [[page.safe(cell) for cell in row] for row in (trace.columns, *trace.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        yield page.safe(trace.title)
        for row in rows:
            yield "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))


def format_user(case: Case) -> str:
    """Return who asks: tenant, roles and whatever else is known; without a user, what is checked of access."""
    user = case.user
    if user is None:
        checked = "of access, only what the case forbids is checked" if case.forbidden else "access not checked"
        return f"none named ({checked})"
    facts = {
        "id": user.id,
        "tenant": user.tenant,
        "roles": "+".join(user.roles) or None,
        "position": None if user.position is None else f"{user.position:g}",
        "position_scope": user.position_scope,
        "locale": user.locale,
        "as_of": user.as_of,
    }
    return (
        ", ".join(f"{name}={value}" for name, value in facts.items() if value is not None)
        or "a stranger (no tenant, no roles)"
    )


def _iter_observation_lines(explanation: Explanation, observation: Observation, page: CasePage) -> Iterator[str]:
    if observation.error is not None:
        yield from (
            "",
            *page.paragraph("Target error", f"{observation.error.code} {observation.error.message}".strip()),
        )
    if observation.query_rewrite is not None:
        yield from page.paragraph("Rewritten as", observation.query_rewrite)
    if explanation.stages is None:
        yield from ("", "Stages: not reported")
    for stage in explanation.stages or ():
        latency = f", {stage.latency_ms:.0f} ms" if stage.latency_ms is not None else ""
        yield from ("", page.safe(f"Stage {stage.name}{latency}"), *_iter_ranking_lines(stage.chunks, page))
    yield from ("", "Context" + (": not reported" if explanation.context is None else ""))
    if explanation.context is not None:
        yield from _iter_ranking_lines(explanation.context, page, excerpts=True)
    yield from ("", *page.paragraph("Answer", format_answer(explanation, observation, page)))
    reading = describe_case_reading(explanation)
    if reading:
        yield from page.paragraph("Read as", reading)
        weights = list_reading_weights(explanation)
        if weights:
            yield from page.paragraph("Weights", weights)
    if observation.behaviour is not None:
        yield from page.paragraph("Declared as", observation.behaviour)
    yield from ("", *_iter_citation_lines(explanation.citations, page))
    checks = explanation.checks
    for label, names in (("Failed", checks.failed), ("Warnings", checks.warnings)) if checks is not None else ():
        if names:
            yield from page.paragraph(label, ", ".join(names))


def describe_case_reading(explanation: Explanation) -> str:
    """Return what the text of an answer was read as and by what: a phrase, or the words that count most.

    "" without a text, and for a plain answer where one is accepted. Of the answer's words only those are named that
    belong to the rules, because others may be restricted.
    """
    detected = _detect_case_behaviour(explanation)
    if detected is None or explanation.observation is None:
        return ""
    reading = describe_reading(detected, explanation.observation.behaviour)
    if explanation.is_refusal_doubted:
        reading = (
            f"unknown, because it states what the case requires or another value for it; the words alone: {reading}"
        )
    if not _is_read_by_wording(detected):
        return reading
    reasons = explain_wording(str(explanation.observation.answer), explanation.case.question)
    counting = [
        f"{_quote_all(phrases)} {'counts' if len(phrases) == 1 else 'count'} {side}"
        for phrases, side in ((reasons.counting_for, "for a refusal"), (reasons.counting_against, "against it"))
        if phrases
    ]
    return f"{reading}: {'; '.join(counting)}" if counting else reading


def list_reading_weights(explanation: Explanation) -> str:
    """Return the runs of words by which a model read an answer, with their weights; "" if a phrase decided."""
    detected = _detect_case_behaviour(explanation)
    if detected is None or explanation.observation is None or not _is_read_by_wording(detected):
        return ""
    weights = explain_refusal(str(explanation.observation.answer), explanation.case.question)
    return ", ".join(f"“{item.phrase}” {item.weight:+.2f}" for item in weights)


def _detect_case_behaviour(explanation: Explanation) -> DetectedBehaviour | None:
    """Return what an answer was read as; None without a text, and for a plain answer where one is accepted."""
    case, observation, checks = explanation.case, explanation.observation, explanation.checks
    if observation is None or not isinstance(observation.answer, str) or not observation.answer.strip():
        return None
    if find_decision(case, "behaviour", observation.answer) is not None:
        return None
    detected = detect_behaviour(observation.answer, case.language or "", case.question)
    if _is_plain_answer(detected) and (checks is None or WRONG_BEHAVIOUR not in checks.failed):
        return None
    return detected


def _is_plain_answer(detected: DetectedBehaviour) -> bool:
    return detected.behaviour == "answer" and not detected.is_partial_refusal


def _is_read_by_wording(detected: DetectedBehaviour) -> bool:
    return not detected.phrase and not _is_plain_answer(detected)


def _quote_all(phrases: tuple[str, ...]) -> str:
    quoted = [f"“{phrase}”" for phrase in phrases]
    return " and ".join((", ".join(quoted[:-1]), quoted[-1])) if len(quoted) > 1 else quoted[0]


def _iter_ranking_lines(chunks: tuple[RankedChunk, ...], page: CasePage, *, excerpts: bool = False) -> Iterator[str]:
    if not chunks:
        yield "  nothing returned"
        return
    ids = [page.safe(chunk.chunk_id) for chunk in chunks]
    id_width = min(max(map(len, ids)), 60)
    yield f"  {'rank':>4}  {'chunk':<{id_width}}  {'score':>9}  grade  units  marks"
    for chunk, chunk_id in zip(chunks, ids, strict=True):
        score = NOT_AVAILABLE if chunk.score is None else f"{chunk.score:.4g}"
        grade = "-" if chunk.grade is None else str(chunk.grade)
        marks = page.safe(", ".join(chunk.marks))
        yield f"  {chunk.rank:>4}  {chunk_id:<{id_width}}  {score:>9}  {grade:>5}  {chunk.units:>5}  {marks}"
        if excerpts and chunk.text is not None:
            hidden = FORBIDDEN_MARK in chunk.marks and not page.show_forbidden
            excerpt = shorten_to_line(page.hide(chunk.text), max(page.width - 8, 20))
            yield "        " + ("text withheld" if hidden else escape_terminal(excerpt))


def format_answer(explanation: Explanation, observation: Observation, page: CasePage) -> str:
    """Return the answer, or in words why there is none to print."""
    if observation.answer is UNSET:
        return "not reported"
    if observation.answer is None:
        return "none given"
    if explanation.leaked and not page.show_forbidden:
        return "withheld: it shows or cites what the user must not see"
    return observation.answer if observation.answer.strip() else "empty"


def _iter_citation_lines(citations: tuple[CitationMark, ...] | None, page: CasePage) -> Iterator[str]:
    if citations is None:
        yield "Citations: not reported"
        return
    yield "Citations" if citations else "Citations: none"
    for mark in citations:
        facts = (("exists", mark.exists), ("reachable", mark.reachable), ("in context", mark.in_context))
        description = ", ".join(f"{name}: {_FACT_WORDS[holds]}" for name, holds in facts)
        yield f"  {page.safe(mark.citation)}  ({description})"


def _iter_score_lines(scores: tuple[ScoreLine, ...], page: CasePage) -> Iterator[str]:
    metric_width = max((len(line.metric) for line in scores), default=0)
    for line in scores:
        value = format_number(line.value, line.metric) if line.status == "scored" else line.status.replace("_", " ")
        yield f"  {line.metric:<{metric_width}}  {value:<14}  {page.safe(line.reason)}"
