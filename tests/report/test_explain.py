"""One case explained in full, with forbidden text withheld."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from msgspec import UNSET
from tests.report.golden_files import assert_golden
from tests.report.sample import BAD, CASE_BY_ID, CASES, SECRET, observation
from tests.report.test_safe import HOSTILE

from assay.metrics.answers.expected_text import advise_open_answer
from assay.records.findings import Attribution, EvidenceTrace
from assay.records.golden_set import Case, Turn
from assay.records.observations import TargetError
from assay.records.scores import CaseChecks
from assay.report.cases.full_case import (
    CitationMark,
    Explanation,
    RankedChunk,
    RankedStage,
    ScoreLine,
    render_case_text,
)
from assay.report.cases.short_case import render_case_summary
from assay.text.escaping import escape_terminal

DENIED = Explanation(
    case=CASE_BY_ID["pay_001"],
    config_id=BAD,
    observation=observation("pay_001"),
    stages=(
        RankedStage(
            "retrieved",
            (RankedChunk(1, "pay:v1:001", 1.0, marks=("forbidden",)), RankedChunk(2, "leave:v1:003", 0.5)),
            latency_ms=12.4,
        ),
        RankedStage("rerank", ()),
    ),
    context=(RankedChunk(1, "pay:v1:001", text=f"Note: {SECRET}", marks=("forbidden", "stale")),),
    citations=(CitationMark("pay:v1:001", exists=True, reachable=False, in_context=None),),
    scores=(
        ScoreLine("recall@10", None, "not_applicable", "evidence is forbidden to this user"),
        ScoreLine("visibility_leaks", 2.0, reason="pay:v1:001 in retrieved"),
    ),
    checks=CaseChecks("pay_001", ("leak", "wrong_behavior"), ("behaviour_mismatch",)),
    leaked=True,
)
ANSWERED = Explanation(
    case=CASE_BY_ID["leave_001"],
    config_id=BAD,
    observation=observation("leave_001"),
    stages=(
        RankedStage(
            "retrieved",
            (
                RankedChunk(1, "travel:v1:001", 0.91),
                RankedChunk(2, "leave:v1:003", 0.875, grade=3, units=1),
                RankedChunk(3, "leave:v1:003", 0.5, grade=3, marks=("repeat",)),
            ),
        ),
    ),
    context=(RankedChunk(1, "travel:v1:001", text="Travel is  booked\nby the office. " * 9),),
    citations=(),
    scores=(ScoreLine("recall@10", 1.0), ScoreLine("context_recall", 0.0)),
    checks=CaseChecks("leave_001", ("context_miss",)),
)


def test_denied_case_is_as_reviewed() -> None:
    assert_golden("explain-denied.txt", render_case_text(DENIED))


def test_answered_case_is_as_reviewed() -> None:
    assert_golden("explain-answered.txt", render_case_text(ANSWERED, width=80))


def test_forbidden_text_is_printed_only_on_request() -> None:
    hidden = render_case_text(DENIED)
    assert SECRET not in hidden
    assert "withheld: it shows or cites what the user must not see" in hidden
    shown = render_case_text(DENIED, show_forbidden=True)
    assert "[withheld]" not in shown
    assert all(text in shown for text in (f"In short: {SECRET}.", f"Note: {SECRET}", f"quote={SECRET}"))


def test_canary_in_an_answer_that_nobody_flagged_is_still_withheld() -> None:
    text = render_case_text(replace(DENIED, leaked=False))
    assert "In short: [withheld]." in text


def test_case_without_output_says_so() -> None:
    text = render_case_text(Explanation(CASES[3], BAD, None))
    assert text.startswith("none_001 under vector-only: missing\n")
    assert "No output for this case: every metric counts it as an error." in text


def test_unreported_and_empty_lists_differ() -> None:
    observed = msgspec.structs.replace(observation("none_001"), answer=UNSET)
    text = render_case_text(Explanation(CASES[3], BAD, observed))
    lines = [line.split("  ")[0] for line in text.split("\n") if line.endswith("not reported")]
    assert ["Stages: not reported", "Context: not reported", "Answer", "Citations: not reported"] == lines
    empty = replace(ANSWERED, stages=(RankedStage("retrieved", ()),), context=())
    assert 2 == render_case_text(empty).count("  nothing returned\n")


@pytest.mark.parametrize(
    ("answer", "expected"), [(None, "none given"), ("", "empty"), (" \n", "empty"), ("Yes", "Yes")]
)
def test_answers_that_are_hard_to_see_are_named(answer: str | None, expected: str) -> None:
    observed = msgspec.structs.replace(observation("leave_001"), answer=answer)
    assert f"Answer          {expected}\n" in render_case_text(replace(ANSWERED, observation=observed))


def test_target_error_rewrite_and_history_are_shown() -> None:
    observed = msgspec.structs.replace(
        observation("leave_001"), error=TargetError("timeout", "after 30 s"), query_rewrite="annual leave days"
    )
    case = msgspec.structs.replace(CASES[0], history=(Turn("user", "Hello"), Turn("assistant", "Hi")))
    text = render_case_text(replace(ANSWERED, case=case, observation=observed))
    assert all(
        part in text for part in ("timeout after 30 s", "Rewritten as    annual leave days", "  assistant     Hi")
    )


def test_long_answers_wrap_and_keep_their_line_breaks() -> None:
    observed = msgspec.structs.replace(observation("leave_001"), answer="one two three four five six seven\nnew line")
    text = render_case_text(replace(ANSWERED, observation=observed), width=33)
    assert "Answer          one two three four\n                five six seven\n                new line\n" in text


def _hostile(text: str) -> Explanation:
    observed = msgspec.structs.replace(observation("leave_001"), answer=text, query_rewrite=text)
    chunk = RankedChunk(1, text, marks=(text,), text=text)
    case = Case(text, text, reference=text, must_have=(text,), tags=(text,), history=(Turn("user", text),))
    return Explanation(
        case,
        text,
        observed,
        (RankedStage(text, (chunk,)),),
        (chunk,),
        (CitationMark(text),),
        (ScoreLine("recall@10", None, "error", text),),
        CaseChecks(text, (text,), (text,)),
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_has_no_effect_on_the_terminal_or_the_build(name: str) -> None:
    lines = render_case_text(_hostile(HOSTILE[name])).split("\n")
    assert [] == [line for line in lines if line != escape_terminal(line)]


def test_canary_broken_over_lines_is_withheld() -> None:
    observed = msgspec.structs.replace(observation("pay_001"), answer="It says: " + SECRET.replace(" ", "\n").upper())
    assert "Answer          It says: [withheld]\n" in render_case_text(
        replace(DENIED, observation=observed, leaked=False)
    )


def test_text_that_is_too_long_is_cut_and_counted() -> None:
    observed = msgspec.structs.replace(observation("leave_001"), answer="word " * 5_000)
    text = render_case_text(replace(ANSWERED, observation=observed))
    assert "… and 5000 more characters" in text
    assert len(text) < 25_000


# ── the summary ──────────────────────────────────────────────────────────────────────────────────────────────────

LONG = "Staff have twelve days of paid leave for each full year of service with the company, and more later. "
WORST_CASE = replace(
    ANSWERED,
    case=msgspec.structs.replace(
        ANSWERED.case,
        question=LONG * 9,
        reference=LONG * 9,
        must_have=(LONG, LONG),
        must_cite=(LONG, LONG),
        history=(Turn("user", LONG),) * 9,
    ),
    observation=msgspec.structs.replace(observation("leave_001"), answer=LONG * 20, citations=tuple("abc") * 90),
    file_sentences=(LONG, LONG),
    attribution=Attribution(
        case_id="leave_001",
        verdict="retrieval_fault",
        reached=False,
        good=False,
        cause="reranker",
        subcause="ranked_below_cut_off",
        stage="reranked",
        confidence="high",
        evidence=(LONG * 3,) * 5,
        sign=LONG,
        fix="another reranking model or prompt; train it on pairs; rerank more; and then look whether it helps",
        also=("parser", "chunking"),
        record=(LONG, LONG),
        traces=tuple(
            EvidenceTrace(
                number, f"leave:v1:{number:03}", 3, True, {"retrieved": 2, "reranked": 7, "context": None}, "context"
            )
            for number in range(40)
        ),
    ),
)


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize(
    "failure", [None, TargetError("http_500", LONG * 9)], ids=["without a target error", "with a target error"]
)
def test_the_summary_of_any_case_has_thirty_lines_and_the_whole_remedy(width: int, failure: TargetError | None) -> None:
    assert WORST_CASE.observation is not None
    worst = replace(WORST_CASE, observation=msgspec.structs.replace(WORST_CASE.observation, error=failure))
    text = render_case_summary(worst, width=width)
    lines = text.splitlines()
    assert len(lines) <= 29  # `assay explain` adds one on --verbose
    assert max(map(len, lines)) <= width
    assert "and then look whether it helps" in " ".join(text.split())


def test_the_summary_leads_with_question_expected_answer_verdict_cause_and_trace() -> None:
    text = render_case_summary(WORST_CASE)
    labels = ("Question", "Expected", "Reference", "Answer", "Verdict", "Because", "Try first", "Evidence ")
    places = [text.index(f"\n{label}") for label in labels]
    assert places == sorted(places)
    assert "not applicable" not in text


def test_every_reason_is_shown_where_there_is_room_and_the_last_where_there_is_not() -> None:
    reasons = tuple(f"reason {number}" for number in range(1, 7))
    finding = Attribution("leave_001", "retrieval_fault", "parser", evidence=reasons)
    text = render_case_summary(replace(ANSWERED, attribution=finding))
    assert [line.partition("Because")[2].strip() for line in text.splitlines() if line.startswith("Because")] == list(
        reasons
    )
    assert WORST_CASE.attribution is not None
    crowded = msgspec.structs.replace(WORST_CASE.attribution, evidence=(*reasons, "its indexed text lacks “12 days”"))
    text = render_case_summary(replace(WORST_CASE, attribution=crowded))
    assert "its indexed text lacks “12 days”" in text
    assert "more reason" in text
    assert len(text.splitlines()) <= 29


def test_a_fact_that_the_rules_leave_open_is_named_with_the_reason() -> None:
    asked = msgspec.structs.replace(
        ANSWERED.case, question="How soon must foulbrood be reported?", must_have=("24 hours",)
    )
    answer = "Varroa must be reported to the vet within 24 hours."
    answered = msgspec.structs.replace(observation("leave_001"), answer=answer)
    unknown = Attribution("leave_001", "unknown")
    explanation = replace(ANSWERED, case=asked, observation=answered, attribution=unknown)
    assert (
        '24 hours: left open (the answer says this of "Varroa", and the question does not speak of that)'
        in " ".join(render_case_summary(explanation).split())
    )


def test_the_summary_withholds_what_the_full_text_withholds() -> None:
    hidden = render_case_summary(DENIED)
    assert SECRET not in hidden
    assert "withheld: it shows or cites what the user must not see" in hidden
    assert f"In short: {SECRET}." in render_case_summary(DENIED, show_forbidden=True)


@pytest.mark.parametrize("name", HOSTILE)
def test_the_summary_cannot_be_broken_by_what_it_quotes(name: str) -> None:
    for line in render_case_summary(_hostile(HOSTILE[name])).split("\n"):
        assert line == escape_terminal(line)


def test_facts_that_a_case_has_are_not_asked_for_again() -> None:
    for case, is_asked in (
        (Case("q1", "How long is the notice?", must_have=("six weeks",)), False),
        (Case("q2", "How long is the notice?", reference="Six weeks."), True),
    ):
        assert is_asked == ("must_have" in advise_open_answer(case))
