"""Claims against their sources by a judge that answers from a table: hand-worked numbers, and what is never asked."""

from __future__ import annotations

from functools import partial

import pytest
from msgspec.structs import replace
from tests.metrics.answers import ANSWER, TEXTS, make_parsed_answer
from tests.metrics.rubrics import RUBRICS, label_by_text, make_ruling_judge

from assay.metrics.answers.hallucination_risk import judge_hallucination_risk
from assay.metrics.grounding.citation_support import (
    judge_citation_support,
    judge_misattribution,
    score_citation_support,
)
from assay.metrics.grounding.faithfulness import (
    judge_critical_claims,
    judge_faithfulness,
    judge_unsupported_claims,
    score_faithfulness,
    score_no_claims,
)
from assay.metrics.judged.judge_requests import JudgeDialogue, Outcome, collect_first_requests, replay_outcome
from assay.metrics.parsed_answer import NO_TEXT, ParsedAnswer
from assay.records.golden_set import Case, Corpus, CorpusChunk
from assay.records.observations import Chunk, Sentence, Stage, describe_unreported_stage
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED


def outcome(asking: JudgeDialogue, **table: str) -> Outcome:
    """What a metric comes to with a judge that goes by the first text it finds."""
    return replay_outcome(asking, make_ruling_judge(label_by_text({**table, "": "not_found"})))


LABELS = {"12 days": "supported", "Five days": "supported", "paid out": "contradicted"}


def test_faithfulness_is_the_share_of_supported_claims() -> None:
    scored_answer = outcome(judge_faithfulness(make_parsed_answer(), RUBRICS), **LABELS)
    assert (SCORED, 2 / 3) == scored_answer[:2]
    assert "Unused days are paid out. (contradicted)" in scored_answer.detail


def test_the_request_holds_claims_question_and_context_and_nothing_else() -> None:
    case = Case("q", "How much leave is there?", reference="SECRET 12 days")
    (request,) = collect_first_requests(judge_faithfulness(make_parsed_answer(case=case), RUBRICS))
    assert ["claims", "context", "question"] == sorted(request.inputs)
    shown = [{key: entry[key] for key in ("id", "text")} for entry in request.inputs["context"]]
    assert [{"id": name, "text": text} for name, text in TEXTS.items()] == shown
    assert {"id", "text", "marked"} >= {key for entry in request.inputs["context"] for key in entry}
    assert ("c1", "c2", "c3") == request.items
    assert "SECRET" not in repr(request) and "'c'" not in repr(request)


def test_requests_do_not_depend_on_configuration_scores_or_order_of_asking() -> None:
    plain, changed = make_parsed_answer(), make_parsed_answer()
    scored = tuple(replace(chunk, score=0.5) for chunk in changed.observation.stages[0].chunks)  # type: ignore[index]
    changed.observation = replace(changed.observation, config_id="other", stages=(Stage("context", scored),))
    first, second = (
        collect_first_requests(judge_faithfulness(parsed, RUBRICS))[0].digest for parsed in (plain, changed)
    )
    assert first == second


def test_twelve_claims_at_most_are_asked_about_at_once() -> None:
    answer = " ".join(f"Rule {n} holds for floor {n}." for n in range(1, 26))
    requests = collect_first_requests(judge_faithfulness(make_parsed_answer(answer), RUBRICS))
    assert [12, 12, 1] == [len(request.items) for request in requests]
    assert 25 == len({item for request in requests for item in request.items})


def test_one_unscored_request_leaves_the_whole_metric_unscored() -> None:
    """A share over the claims that happen to be known would be another number."""
    answer = " ".join(f"Rule {n} holds for floor {n}." for n in range(1, 26))
    scored_answer = outcome(
        judge_faithfulness(make_parsed_answer(answer), RUBRICS), **{"floor 25": "!quote", "Rule": "supported"}
    )
    assert (ERROR, 0.0, "unscored: quote") == scored_answer[:3]


def test_without_a_verdict_nothing_is_scored() -> None:
    assert (ERROR, 0.0, "no verdict recorded") == replay_outcome(
        judge_faithfulness(make_parsed_answer(), RUBRICS), lambda _: None
    )[:3]


def test_an_empty_context_supports_nothing_and_nobody_is_asked() -> None:
    empty = make_parsed_answer(stages=(Stage("context", ()),))
    assert [] == collect_first_requests(judge_faithfulness(empty, RUBRICS))
    assert (SCORED, 0.0) == outcome(judge_faithfulness(empty, RUBRICS))[:2]


@pytest.mark.parametrize(
    ("parsed", "reason"),
    [
        (make_parsed_answer(stages=()), describe_unreported_stage("context")),
        (make_parsed_answer(stages=None), describe_unreported_stage("context")),
        (make_parsed_answer(stages=(Stage("context", (Chunk("leave"),)),)), NO_TEXT),
        (make_parsed_answer(stages=(Stage("context", (Chunk("leave", text="x", text_hash="sha256:0"),)),)), NO_TEXT),
        (make_parsed_answer("I could not find any information about this."), "refused"),
        (make_parsed_answer("Can you tell me more?"), "no claims"),
        (make_parsed_answer(""), "no claims"),
    ],
)
def test_without_claims_or_sources_faithfulness_is_not_applicable(parsed: ParsedAnswer, reason: str) -> None:
    assert (NOT_APPLICABLE, 0.0, reason) == outcome(judge_faithfulness(parsed, RUBRICS))[:3]


def test_the_corpus_gives_the_text_where_the_target_gives_none_or_another() -> None:
    corpus = Corpus({"leave": CorpusChunk("leave", text="Staff get 12 days of leave.")})
    for chunk in (Chunk("leave"), Chunk("leave", text="forged", text_hash="sha256:0")):
        parsed = make_parsed_answer(corpus=corpus, stages=(Stage("context", (chunk,)),))
        assert {"leave": "Staff get 12 days of leave."} == parsed.context_texts


def test_against_what_is_cited_only_cited_texts_are_sent() -> None:
    parsed = make_parsed_answer("Staff get 12 days [leave].", citations=("leave",))
    (request,) = collect_first_requests(judge_faithfulness(parsed, RUBRICS, "cited"))
    assert ["leave"] == [entry["id"] for entry in request.inputs["context"]]
    uncited = make_parsed_answer("Staff get 12 days of leave.", citations=())
    assert "no citations" == outcome(judge_faithfulness(uncited, RUBRICS, "cited")).reason


def test_unsupported_claims_are_counted_and_contradictions_are_critical() -> None:
    """One of three is contradicted, and one is not found: two unsupported, one critical."""
    labels = {"12 days": "supported", "Five days": "not_found", "paid out": "contradicted"}
    assert 2.0 == outcome(judge_unsupported_claims(make_parsed_answer(), RUBRICS), **labels).value
    assert 1.0 == outcome(judge_critical_claims(make_parsed_answer(), RUBRICS), **labels).value


@pytest.mark.parametrize(
    "case",
    [
        Case("q", "?", tags=("critical",)),
        Case("q", "?", behaviour="abstain"),
        Case("q", "?", behaviour="permission_denied"),
    ],
)
def test_on_a_critical_case_or_one_to_be_refused_all_unsupported_claims_are_critical(case: Case) -> None:
    labels = {"12 days": "supported", "Five days": "not_found", "paid out": "contradicted"}
    assert 2.0 == outcome(judge_critical_claims(make_parsed_answer(case=case), RUBRICS), **labels).value


def test_an_answer_without_claims_is_reported() -> None:
    assert [1.0, 0.0] == [score_no_claims(make_parsed_answer(text)).value for text in ("Hope this helps!", ANSWER)]
    assert "refused" == score_no_claims(make_parsed_answer("I could not find any information about this.")).reason
    assert describe_unreported_stage("context") == score_no_claims(make_parsed_answer(stages=())).reason


def test_without_any_text_nothing_is_segmented(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large runs without texts must not pay for claims that cannot be compared with anything."""

    def refuse(*_: object) -> None:
        raise AssertionError("an answer was segmented")

    monkeypatch.setattr("assay.text.claims.claim_segments.segment_claims", refuse)
    bare = make_parsed_answer(stages=(Stage("context", (Chunk("leave"),)),))
    rules = (score_no_claims, score_faithfulness, partial(score_faithfulness, against="cited"), score_citation_support)
    assert [NO_TEXT] * 4 == [rule(bare).reason for rule in rules]


# ── citations ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_each_citation_is_compared_with_the_claim_it_is_attached_to() -> None:
    """leave supports its claim (1), `it` does not (0), carry half (.5): a mean of .5."""
    parsed = make_parsed_answer()
    (request,) = collect_first_requests(judge_citation_support(parsed, RUBRICS))
    assert [("c1", "leave"), ("c2", "it"), ("c3", "carry")] == [
        (entry["id"].partition(".")[0], entry["source"]) for entry in request.inputs["citations"]
    ]
    labels = {"leave.leave": "supported", "over.it": "not_found", "out.carry": "partly_supported"}
    assert (SCORED, 0.5) == outcome(judge_citation_support(parsed, RUBRICS), **labels)[:2]


def test_a_citation_of_nothing_known_is_worth_nothing_and_not_asked_about() -> None:
    parsed = make_parsed_answer("Staff get 12 days [leave] [nowhere-1].", citations=("leave", "nowhere-1"))
    (request,) = collect_first_requests(judge_citation_support(parsed, RUBRICS))
    assert ["leave"] == [entry["source"] for entry in request.inputs["citations"]]
    assert 0.5 == outcome(judge_citation_support(parsed, RUBRICS), **{"12 days": "supported"}).value


def test_citations_that_support_a_claim_together_each_count() -> None:
    parsed = make_parsed_answer("Staff get 12 days and five carry over [leave] [carry].", citations=("leave", "carry"))
    joint = {".leave + carry": "supported", "Staff": "partly_supported"}
    assert 1.0 == outcome(judge_citation_support(parsed, RUBRICS), **joint).value
    apart = {"Staff": "partly_supported"}
    assert 0.5 == outcome(judge_citation_support(parsed, RUBRICS), **apart).value


def test_a_citation_that_adds_nothing_to_others_is_worth_nothing() -> None:
    parsed = make_parsed_answer("Staff get 12 days [leave] [it].", citations=("leave", "it"))
    labels = {".leave + it": "supported", ".it": "not_found", ".leave": "supported"}
    assert 0.5 == outcome(judge_citation_support(parsed, RUBRICS), **labels).value


def test_a_citation_of_the_whole_answer_needs_to_support_only_a_part() -> None:
    parsed = make_parsed_answer("Staff get 12 days of leave. Five days carry over.", citations=("leave",))
    (request,) = collect_first_requests(judge_citation_support(parsed, RUBRICS))
    assert parsed.answer == request.inputs["citations"][0]["text"]
    assert 1.0 == outcome(judge_citation_support(parsed, RUBRICS), Staff="partly_supported").value


def test_the_only_claim_has_the_citations_of_the_answer() -> None:
    parsed = make_parsed_answer("Staff get 12 days of leave.", citations=("leave",))
    (request,) = collect_first_requests(judge_citation_support(parsed, RUBRICS))
    assert "Staff get 12 days of leave." == request.inputs["citations"][0]["text"]
    assert 0.5 == outcome(judge_citation_support(parsed, RUBRICS), Staff="partly_supported").value


def test_numbers_and_reported_sentences_attach_citations_as_well() -> None:
    numbered = make_parsed_answer("Staff get 12 days of leave [1]. Five days carry over [3].")
    assert [("c1", "leave"), ("c2", "carry")] == [
        (citation.claim.id, citation.name) for citation in numbered.citations if citation.claim is not None
    ]
    text = "Staff get 12 days of leave. Five days carry over."
    sentences = (Sentence("Staff get 12 days of leave.", ("leave",)), Sentence("Five days carry over.", ("carry",)))
    reported = make_parsed_answer(text, citations=None, sentences=sentences)
    assert [("c1", "leave"), ("c2", "carry")] == [
        (citation.claim and citation.claim.id, citation.name) for citation in reported.citations
    ]


def test_a_document_stands_for_its_chunks() -> None:
    stage = Stage("context", (Chunk("hr:1", text="Staff get 12 days."), Chunk("hr:2", text="Five carry over.")))
    parsed = make_parsed_answer("Staff get 12 days [hr:1].", citations=("hr",), stages=(stage,))
    document = make_parsed_answer("Staff get 12 days.", citations=("hr",), stages=(stage,))
    assert {"hr:1": "Staff get 12 days."} == parsed.citations[0].texts
    assert {"hr:1", "hr:2"} == set(document.citations[0].texts)


def test_a_misattributed_citation_is_one_whose_claim_another_source_bears_out() -> None:
    """Of three citations, `it` is attached to a claim that the context supports, carry to one that it does not."""
    labels = {
        "leave.leave": "supported",
        "over.it": "not_found",
        "out.carry": "not_found",
        "12 days": "supported",
        "Five days": "supported",
        "paid out": "not_found",
    }
    assert 1 / 3 == outcome(judge_misattribution(make_parsed_answer(), RUBRICS), **labels).value


def test_the_risk_is_one_minus_the_product() -> None:
    """Faithfulness 2/3 and citation support 2/3: 1 − 4/9."""
    labels = {"leave.leave": "supported", "over.it": "not_found", "out.carry": "supported"} | LABELS
    assert 1 - 4 / 9 == pytest.approx(outcome(judge_hallucination_risk(make_parsed_answer(), RUBRICS), **labels).value)


def test_both_questions_of_the_risk_are_asked_in_one_round() -> None:
    requests = collect_first_requests(judge_hallucination_risk(make_parsed_answer(), RUBRICS))
    assert ["support", "citation_support"] == [request.rubric for request in requests]


def test_the_risk_has_no_meaning_where_citations_are_not_reported_even_if_verdicts_are_missing() -> None:
    scored_answer = replay_outcome(
        judge_hallucination_risk(make_parsed_answer("Staff get 12 days of leave.", citations=None), RUBRICS),
        lambda _: None,
    )
    assert (NOT_APPLICABLE, "citations not reported") == (scored_answer.status, scored_answer.reason)
