"""Where the golden set or the judge is wrong and the system right: attribution says so, and blames no part."""

from __future__ import annotations

from typing import Literal

import pytest
from tests.attribution.traces import BAD, LEAVE, blamed, case, corpus, score, seen, stage

from assay.records.findings import Attribution
from assay.records.golden_set import CorpusChunk, Evidence, Rubric
from assay.records.scores import ERROR
from assay.report.findings.attribution_facts import list_attribution_facts
from assay.scoring.attribution_settings import AttributionSettings

JUDGE = "correctness(by=judge)"


def told(found: Attribution) -> tuple[str, str | None, str | None]:
    return found.verdict, found.cause, found.stage


def test_evidence_that_the_corpus_does_not_hold_is_a_label_issue() -> None:
    asked = case(evidence=(Evidence(({"chunk_id": "gone"},)),))
    attribution = blamed(asked, seen(stage("dense", "sick"), stage("context", "sick"), answer=BAD), corpus())
    assert ("unknown", "golden_label_issue", None) == told(attribution)


@pytest.mark.parametrize(("reached", "absent_alone"), [("all", False), ("any", None)])
def test_whether_evidence_arrived_that_the_corpus_does_not_have_is_unknown(
    reached: Literal["all", "any"], absent_alone: bool | None
) -> None:
    gone, office = (Evidence(({"chunk_id": name},)) for name in ("gone", "office"))
    trace = seen(stage("dense", "leave"), stage("context", "leave"))
    settings = AttributionSettings(reached=reached)
    attribution = blamed(case(evidence=(gone,)), trace, corpus(), settings=settings)
    assert (None, True, "unknown") == (attribution.reached, attribution.good, attribution.verdict)
    assert "unknown, its label is in doubt" == dict(list_attribution_facts(attribution))["Reached"]
    # Where one that the corpus has was lost for certain, not all arrived; of any, nobody can tell.
    assert absent_alone is blamed(case(evidence=(gone, office)), trace, corpus(), settings=settings).reached


def test_evidence_did_not_arrive_where_nothing_was_shown_whatever_its_label() -> None:
    gone = case(evidence=(Evidence(({"chunk_id": "gone"},)),))
    assert blamed(gone, seen(stage("dense", "leave"), stage("context")), corpus()).reached is False


def test_a_quote_that_the_chunk_no_longer_holds_is_a_label_issue() -> None:
    asked = case(evidence=(Evidence(({"chunk_id": "leave"},), quote="15 days"),))
    assert "golden_label_issue" == blamed(asked, seen(stage("context", "sick"), answer=BAD), corpus()).cause


def test_a_label_beside_the_chunk_that_holds_the_facts_is_a_label_issue() -> None:
    asked = case(evidence=(Evidence(({"chunk_id": "office"},)),))
    attribution = blamed(asked, seen(stage("dense", "leave"), stage("context", "leave")), corpus())
    assert ("masked_gap", "golden_label_issue", None) == told(attribution)
    assert "gold_misspecified" == attribution.subtype


def test_a_chunk_with_the_same_text_under_another_id_is_a_label_issue() -> None:
    twin = CorpusChunk("twin", text=LEAVE, document="copy", tenant="a")
    trace = seen(stage("dense", "twin"), stage("context", "twin", texts={"twin": LEAVE}))
    assert "golden_label_issue" == blamed(case(), trace, corpus(twin=twin)).cause


def test_a_reference_that_its_own_evidence_contradicts_is_a_label_issue() -> None:
    asked = case(rubric=Rubric(correct_keywords=("13 days",)), reference="They get 13 days.")
    attribution = blamed(asked, seen(stage("dense", "leave"), stage("context", "leave")), corpus())
    assert ("unknown", "golden_label_issue", None) == told(attribution)


@pytest.mark.parametrize(
    ("required", "is_blamed"),
    [("10 terms", False), ("6 terms", False), ("4 terms", False), ("12 terms", True)],
)
def test_a_label_is_not_blamed_for_what_two_numbers_of_its_evidence_add_up_to(required: str, is_blamed: bool) -> None:
    text = "A stay in a hall ends after 8 terms, and members of the council may stay 2 terms more, or 2 less."
    hall = CorpusChunk("hall", text=text, document="hall", tenant="a")
    asked = case(
        question="How long may a member of the council stay?",
        evidence=(Evidence(({"chunk_id": "hall"},)),),
        must_have=(required,),
        rubric=None,
        reference="",
    )
    trace = seen(
        stage("dense", "hall"),
        stage("context", "hall", texts={"hall": text}),
        answer="A stay in a hall ends after 8 terms.",
    )
    attribution = blamed(asked, trace, corpus(hall=hall))
    assert is_blamed == (attribution.cause == "golden_label_issue")
    assert is_blamed or attribution.cause == "generator"


@pytest.mark.parametrize("answer", ["Mit zweiwöchiger Frist.", "Der Vertrag kann mit einer Frist von drei Mon"])
def test_a_label_is_not_blamed_where_its_evidence_would_pass_as_an_answer(answer: str) -> None:
    text = "Der Vertrag kann mit einer Frist von drei Monaten zum Ende des Jahres gekündigt werden."
    terms = CorpusChunk("terms", text=text, document="terms", tenant="a")
    asked = case(
        question="Mit welcher Frist kann der Vertrag gekündigt werden?",
        evidence=(Evidence(({"chunk_id": "terms"},)),),
        must_have=("drei Monate",),
        rubric=None,
        reference="",
    )
    trace = seen(stage("dense", "terms"), stage("context", "terms", texts={"terms": text}), answer=answer)
    assert "golden_label_issue" != blamed(asked, trace, corpus(terms=terms)).cause


@pytest.mark.parametrize(
    ("text", "is_blamed"),
    [
        ("The lido lends towels to members; guests and school classes get none.", False),
        ("The lido lends towels to members, guests and school classes.", True),
    ],
)
def test_a_label_that_denies_is_not_blamed_where_its_evidence_denies_in_other_words(text: str, is_blamed: bool) -> None:
    asked = case(
        question="Does the lido lend towels to guests?",
        evidence=(Evidence(({"chunk_id": "lido"},)),),
        must_have=("no towels for guests",),
        rubric=None,
        reference="",
    )
    lido = CorpusChunk("lido", text=text, document="lido", tenant="a")
    answer = "Yes, the lido lends towels to guests."
    trace = seen(stage("dense", "lido"), stage("context", "lido", texts={"lido": text}), answer=answer)
    assert is_blamed == ("golden_label_issue" == blamed(asked, trace, corpus(lido=lido)).cause)


def test_a_judge_against_the_answers_own_text_is_noise() -> None:
    settings = AttributionSettings(calibrated=frozenset((JUDGE,)))
    trace = seen(stage("dense", "leave"), stage("context", "leave"))
    attribution = blamed(case(), trace, corpus(), {JUDGE: score(0.0)}, settings=settings)
    assert ("unknown", "judge_noise", None) == told(attribution)
    assert "correctness(by=judge) ≥ 0.75" == attribution.signal


def test_tied_votes_are_noise_where_nothing_else_decides() -> None:
    asked = case(rubric=None, reference="A rule of the manual.")
    tied = {JUDGE: (ERROR, 0.0, "needs_review: tied votes")}
    attribution = blamed(asked, seen(stage("dense", "leave"), stage("context", "leave")), corpus(), tied)
    assert ("unknown", "judge_noise") == (attribution.verdict, attribution.cause)
