"""One case in at most 30 lines: question, expected, answer, verdict, cause and fix, and where the evidence went.

`full_case` has everything else: rankings, context, citations and each score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.attribution.cause_notes import ALL_ARRIVED, READ_AS
from assay.attribution.one_case.answer_quality import BEHAVIOUR_OPEN
from assay.metrics.answers.expected_text import advise_open_answer, read_facts
from assay.metrics.case_checks import JUDGED_CORRECTNESS, WRONG_BEHAVIOUR
from assay.metrics.cases.settled_answers import SETTLED_METRICS, find_decision
from assay.metrics.judged.judge_requests import ASKED_AGAIN, INVALID_JUDGE, NO_VERDICT, UNSCORED_PREFIX
from assay.records.counts import format_count, join_first
from assay.records.findings import Attribution
from assay.records.golden_set import ALIKE_KINDS, Case
from assay.records.scores import NEEDS_REVIEW, SETTLED, VariantPair
from assay.report.cases.deciding_texts import list_deciding_texts
from assay.report.cases.full_case import (
    SET_ASIDE,
    CasePage,
    Explanation,
    describe_case_reading,
    format_answer,
    format_user,
    list_metrics_in_error,
    make_page,
    summarise_checks,
)
from assay.report.findings.attribution_facts import build_evidence_trace_table, list_attribution_facts
from assay.scoring.judged_answers import COUNTING_REMEDY, name_judged_value

_MAX_SET_ASIDE = _MAX_IN_ERROR = 3
_BROAD_METRICS = ("correct_answer", "behaviour", "citation_correctness(by=rules)")
_MERGED = ("What happened", "Attribution", "Reached", "Good", "Because")
"""Facts of an attribution that have lines of their own."""


MOST_LINES = 30
"""The length of the explanation of a case, with what is said of its variants and of a baseline."""


class _Room(NamedTuple):
    """How many lines the parts of an explanation have, and how many units of evidence and reasons are shown.

    `lines` is how many each of question, reference, facts and reasons has: three show nearly every one of them whole.
    """

    answer: int = 8
    units: int = 3
    lines: int = 3
    reasons: int = 6


_ROOMS = (
    *(_Room(answer) for answer in range(8, 2, -1)),
    _Room(3, 2),
    _Room(3, 1),
    *(_Room(3, 1, lines, reasons) for lines in (3, 2, 1) for reasons in (6, 4, 3)),
    _Room(3, 1, 1, 2),
    _Room(3, 1, 1, 1),
)
"""What an explanation that is too long gives up first: lines of the answer, then evidence, reasons and their lines."""


def render_case_summary(
    explanation: Explanation, *, width: int = 100, show_forbidden: bool = False, most_lines: int = MOST_LINES - 1
) -> str:
    """Return what a reader needs first, as plain text of at most `most_lines` lines of `width` columns.

    Forbidden text is withheld unless `show_forbidden`. Long texts are cut, the answer first; what to do about the case
    never is, so that a text of fewer than 25 lines cannot be had of every case.
    """
    page = make_page(explanation, width, show_forbidden)
    for room in _ROOMS:
        lines = _list_summary_lines(explanation, page, room)
        if len(lines) <= most_lines:
            break
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _list_summary_lines(explanation: Explanation, page: CasePage, room: _Room) -> list[str]:
    lines = [
        page.safe(f"{explanation.case.id} under {explanation.config_id}: {summarise_checks(explanation)}"),
        "",
        *_iter_expectation_lines(explanation.case, page, room, access_unchecked=explanation.access_unchecked),
        *_iter_answer_lines(explanation, page, room),
    ]
    if explanation.attribution is not None:
        reasons = " ".join(explanation.attribution.evidence)
        open_facts = _list_open_facts(explanation, reasons)
        remedy = ""
        if open_facts and explanation.attribution.cause is None:  # else there is something to try first
            judged = _describe_judge(explanation)
            remedy = f"what is open: {judged or advise_open_answer(explanation.case)}"
        further_reasons = _list_further_reasons(
            explanation.attribution, is_reading_described=_is_reading_described(explanation)
        )
        lines += ["", *_iter_verdict_lines(explanation.attribution, further_reasons, open_facts, remedy, page, room)]
        if _is_behaviour_open(explanation) and explanation.attribution.cause is None:
            lines += page.paragraph("Try first", _OPEN_BEHAVIOUR, _LINES_OF_REMEDY)
        errors = _describe_errors(explanation)
        if errors:
            lines += page.paragraph("In error", errors, 2)
        review_line = _describe_review(explanation)
        if review_line:
            lines += page.paragraph("By people", review_line, 1)
        set_aside = [score.metric for score in explanation.scores if score.reason.startswith(SET_ASIDE)]
        if set_aside:
            broad_first = sorted(set_aside, key=_BROAD_METRICS.__contains__, reverse=True)
            named = join_first(broad_first, _MAX_SET_ASIDE)
            of_these = 1 if review_line else 2
            lines += page.paragraph("Set aside", f"{named}, worst score because the case leaked", of_these)
        lines += _iter_trace_lines(explanation.attribution, page, room)
    return lines


def _advise_missing_label(reason: str) -> str:
    """Return what gives the label that a judge did not give; "" for an error of another kind, or an INVALID judge."""
    missing = reason.removeprefix(UNSCORED_PREFIX)
    if missing == INVALID_JUDGE or (missing == reason and reason != NO_VERDICT):
        return ""
    if missing in ASKED_AGAIN or reason == NO_VERDICT:
        return " (assay judge asks for it)"
    return " (assay judge review lists it)"


def _describe_errors(explanation: Explanation) -> str:
    """Return which metrics of a case are in error and why, by reason; "" if none is.

    What a judge's reply left open can be settled by people, so the command that lists it is named.
    """
    metrics_by_reason: dict[str, list[str]] = {}
    for score in list_metrics_in_error(explanation):
        metrics_by_reason.setdefault(score.reason or "no reason given", []).append(score.metric)
    parts = []
    for reason, metrics in metrics_by_reason.items():
        remedy = _advise_missing_label(reason)
        parts.append(f"{join_first(metrics, _MAX_IN_ERROR)}: {reason}{remedy}")
    return "; ".join(parts)


def _describe_judge(explanation: Explanation) -> str:
    """Return what the judge says of an answer that the rules leave open, and what makes that count; "" if nothing."""
    value = next((score.value for score in explanation.scores if score.metric == JUDGED_CORRECTNESS), None)
    if value is None:
        return ""
    return f"the judge calls it {name_judged_value(value)}, which does not count so far ({COUNTING_REMEDY})"


def _describe_review(explanation: Explanation) -> str:
    """Return what people settled in the judge's place, else what they are asked to; "" if there is neither."""
    settled = [score for score in explanation.scores if score.reason.startswith(SETTLED)]
    if settled:
        people = settled[0].reason.partition(";")[0]  # what follows explains the score
        opinions = _list_opinions(explanation)
        in_words = f" ({'; '.join(opinions)})" if opinions else ""
        return f"{people}: {', '.join(score.metric for score in settled)}{in_words}"
    in_review = [score for score in explanation.scores if score.reason.startswith(NEEDS_REVIEW)]
    if in_review:
        return f"to settle (assay judge review): {', '.join(score.metric for score in in_review)}"
    return ""


def _list_opinions(explanation: Explanation) -> list[str]:
    """Return what each person decided about the answer of a case, with what they noted."""
    observation = explanation.observation
    if observation is None or not isinstance(observation.answer, str):
        return []
    opinions: list[str] = []
    for metric in SETTLED_METRICS:
        decision = find_decision(explanation.case, metric, observation.answer)
        opinions += decision.opinions if decision is not None else ()
    return opinions


def _iter_expectation_lines(
    case: Case, page: CasePage, room: _Room, *, access_unchecked: bool = False
) -> Iterator[str]:
    earlier = f" (after {format_count(len(case.history), 'earlier turn')})" if case.history else ""
    yield from page.paragraph("Question", case.question + earlier, 2)
    if case.user is not None or access_unchecked:
        yield from page.paragraph("User", format_user(case), 1)
    also = f" (also accepted: {', '.join(case.also_accept)})" if case.also_accept else ""
    yield from page.paragraph("Expected", case.behaviour + also, 1)
    if case.reference is not None:
        yield from page.paragraph("Reference", case.reference, room.lines)
    for label, items in (("Must have", case.must_have), ("Must cite", case.must_cite)):
        if items:
            yield from page.paragraph(label, "; ".join(items), room.lines)


def _iter_answer_lines(explanation: Explanation, page: CasePage, room: _Room) -> Iterator[str]:
    observation = explanation.observation
    if observation is None:
        yield from page.paragraph("Answer", "no output for this case: every metric counts it as an error", 2)
        return
    if explanation.samples:
        yield from page.paragraph("Samples", explanation.samples, 2)
    if observation.error is not None:
        yield from page.paragraph("Target error", f"{observation.error.code} {observation.error.message}".strip(), 2)
    if observation.error is None or observation.answer:
        most_lines = 1 if observation.error else room.answer
        answer = format_answer(explanation, observation, page)
        yield from page.paragraph(
            "Answer", answer, most_lines, says_how_many=True, deciding=_list_deciding_texts(explanation)
        )
    if _is_reading_described(explanation):
        yield from page.paragraph("Read as", describe_case_reading(explanation), room.lines)
    if observation.citations:
        yield from page.paragraph("Cited", ", ".join(observation.citations), 1)
    if explanation.file_sentences:
        yield from page.paragraph("Lists", "; ".join(explanation.file_sentences), 1)


def _list_deciding_texts(explanation: Explanation) -> list[str]:
    case, observation = explanation.case, explanation.observation
    answer = observation.answer if observation is not None else None
    reasons = explanation.attribution.evidence if explanation.attribution is not None else ()
    keywords = case.rubric.correct_keywords if case.rubric is not None else ()
    if not isinstance(answer, str):
        return []
    return list_deciding_texts(reasons, (*case.must_have, *keywords), answer, case.question)


def _is_reading_described(explanation: Explanation) -> bool:
    is_wrong = explanation.checks is not None and WRONG_BEHAVIOUR in explanation.checks.failed
    return (is_wrong or _is_behaviour_open(explanation)) and bool(describe_case_reading(explanation))


def _is_behaviour_open(explanation: Explanation) -> bool:
    """Return whether nothing tells what the answer did: its wording is undecided, and the target declares nothing."""
    return explanation.attribution is not None and explanation.attribution.signal == BEHAVIOUR_OPEN


_OPEN_BEHAVIOUR = (
    "what the answer did is open: a behaviour that the target declares tells, or a person who reads the answer "
    "(assay labels export --only ambiguous)"
)


def _list_open_facts(explanation: Explanation, reasons: str) -> list[str]:
    """Return which must-have facts the answer denies or leaves open, and why; the rules may misread a wording.

    What a reference asks for is such a fact; where it is missing no cause may say so, and it is listed as well. What
    the reasons of the cause say already is not.
    """
    case, observation = explanation.case, explanation.observation
    answer = observation.answer if observation is not None else None
    if case.behaviour != "answer" or not isinstance(answer, str):
        return []
    listed = []
    reading = read_facts(case, answer, explanation.source_sentences)
    if reading.decision is not None:
        return [reading.decision.reason] if reading.decision.is_disputed else []
    of_reference = reading.reference_facts
    for judgment in (*reading.must_have, *of_reference):
        if judgment.state in ("denied", "unknown") or (judgment.state == "missing" and judgment in of_reference):
            state = "left open" if judgment.state == "unknown" else judgment.state
            if judgment.reason and f"{judgment.fact} ({judgment.reason})" in reasons:
                continue
            listed.append(f"{judgment.fact}: {state}{f' ({judgment.reason})' if judgment.reason else ''}")
    return listed


def _iter_verdict_lines(
    attribution: Attribution,
    further_reasons: Sequence[str],
    open_facts: Sequence[str],
    remedy: str,
    page: CasePage,
    room: _Room,
) -> Iterator[str]:
    """Yield the verdict with its reasons. `remedy`: what to do about the facts that are open, "" if something else is
    to be tried first."""
    facts = list_attribution_facts(attribution)
    values = dict(facts)
    if "What happened" in values:
        yield from page.paragraph("What happened", values["What happened"], _LINES_OF_CAUSE)
    yield from page.paragraph("Verdict", values["Attribution"], 2)
    reached = f"evidence reached the generator: {values['Reached']}; good answer: {values['Good']}"
    yield from page.paragraph("", reached, min(2, room.lines))
    if open_facts:
        yield from _list_open_lines(open_facts, remedy, page, room)
    for reason in _choose_reasons(further_reasons, room.reasons):
        yield from page.paragraph("Because", reason, room.lines)
    for label, text in facts:
        if label not in _MERGED and (label not in _REPEATED or room.lines > 1):
            yield from page.paragraph(label, text, _LINES_OF_REMEDY if label == "Try first" else room.lines)


_REPEATED = ("Also possible", "Record next")
"""Facts that what happened and what to try say in other words: the first to go where there is no room."""
_LINES_OF_CAUSE = 4
"""Enough for three causes of which none is known to be the one."""
_LINES_OF_REMEDY = 8
"""More than any remedy has: what to do is never cut."""


def _list_open_lines(open_facts: Sequence[str], remedy: str, page: CasePage, room: _Room) -> list[str]:
    """Return the lines of open facts and what to do about them, which is not cut with them."""
    facts = list(page.paragraph("Facts", "; ".join(open_facts), room.lines))
    if not remedy:
        return facts
    together = list(page.paragraph("Facts", "; ".join([*open_facts, remedy]), room.lines + 1))
    if len(together) <= room.lines:
        return together
    return [*facts, *page.paragraph("", remedy, _LINES_OF_REMEDY)]


def _list_further_reasons(attribution: Attribution, *, is_reading_described: bool) -> list[str]:
    """Return the reasons that no other line says: not that the evidence arrived, nor what the answer was read as."""
    reasons = [text for text in attribution.evidence if not (is_reading_described and text.startswith(READ_AS))]
    further_reasons = [reason for reason in reasons if reason != ALL_ARRIVED or attribution.reached is not True]
    return further_reasons or reasons


def _choose_reasons(evidence: Sequence[str], most: int) -> list[str]:
    """Return the reasons that there is room for: the first ones and the last, which rules add to settle the cause."""
    if len(evidence) <= most:
        return list(evidence)
    left_out = format_count(len(evidence) - most, "more reason")
    if most == 1:
        return [f"{evidence[0]}; and {left_out}"]
    return [*evidence[: most - 1], f"and {left_out}; {evidence[-1]}"]


def _iter_trace_lines(attribution: Attribution, page: CasePage, room: _Room) -> Iterator[str]:
    """Yield the rank of each unit of evidence by stage; required units and lost ones come first."""
    trace = build_evidence_trace_table(attribution)
    if not trace.rows:
        return
    rows = sorted(trace.rows, key=lambda row: ("(optional)" in row[1], not row[-1]))
    shown = rows if len(rows) <= room.units else rows[: max(1, room.units - 1)]
    cells = [[page.safe(cell) for cell in row] for row in (trace.columns, *shown)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    room_of_names = max(page.width - sum(widths[1:]) - 2 * len(widths[1:]), _MIN_NAME)
    if widths[0] > room_of_names:  # the ends of ids tell them apart, and where evidence was lost is in the last column
        cells = [[_shorten_middle(row[0], room_of_names), *row[1:]] for row in cells]
        widths[0] = room_of_names
    for row in cells:
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        yield line if len(line) <= page.width else line[: page.width - 1] + "…"
    if len(shown) < len(rows):
        yield f"and {format_count(len(rows) - len(shown), 'more unit')} of evidence"


_MIN_NAME = 20


def _shorten_middle(name: str, width: int) -> str:
    """Return a name of at most `width` characters, without its middle if it is longer.

    >>> _shorten_middle("house-rules:section-04:paragraph-002", 20)
    'house-r…ragraph-002'
    """
    if len(name) <= width:
        return name
    end = (width - 1) * 3 // 5
    return f"{name[: width - 2 - end]}…{name[-end:]}"


# ── variants ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def describe_variants_of_case(variants: Sequence[Case], pairs: Mapping[str, VariantPair]) -> str:
    """Return in a sentence how a system treated the variants of a case; `pairs` are those not treated as expected."""
    odd = [pairs[variant.id] for variant in variants if variant.id in pairs]
    odd_states = [f"{pair.variant_id} {_describe_state(pair)}" for pair in odd]
    count = f"{len(variants) - len(odd)} of {len(variants)} as expected"
    return "; ".join([count, *odd_states])


def compare_with_case(
    variant: Explanation, base: Explanation, pair: VariantPair | None, *, width: int, show_forbidden: bool
) -> list[str]:
    """Return what a variant is, and what was asked and answered of the case that it varies, in at most five lines."""
    page, base_page = make_page(variant, width, show_forbidden), make_page(base, width, show_forbidden)
    is_alike = variant.case.variant in ALIKE_KINDS
    wanted = "should be treated alike" if is_alike else "has another right answer"
    state = _describe_state(pair) if pair is not None else "as expected"
    about = f"{variant.case.variant} of {variant.case.variant_of}, {wanted}: {state}; it counts in no other number"
    answer = "no output for this case" if base.observation is None else format_answer(base, base.observation, base_page)
    return [
        *page.paragraph("Variant", about, 2),
        *base_page.paragraph("The case", base.case.question, 1),
        *base_page.paragraph("Its answer", f"{answer.strip()} ({summarise_checks(base)})", 2),
    ]


def _describe_state(pair: VariantPair) -> str:
    return f"{pair.state} ({pair.detail})" if pair.detail else pair.state
