"""`assay explain` says what an answer was read as, and by what, without the words of the answer."""

from __future__ import annotations

import pytest
from msgspec import structs

import assay
from assay.attribution.attribute_run import attribute_run_case
from assay.records.golden_set import Behaviour, Case, GoldenSet
from assay.records.observations import Observation
from assay.records.scores import CaseChecks
from assay.report.cases.full_case import Explanation, describe_case_reading, list_reading_weights, render_case_text
from assay.report.cases.short_case import render_case_summary


def _explain(answer: str, *failed: str, declared: Behaviour | None = None) -> Explanation:
    case = Case(id="c1", question="When does the warranty end?")
    observation = Observation(config_id="a", case_id="c1", answer=answer, behaviour=declared)
    return Explanation(case, "a", observation, checks=CaseChecks("c1", failed))


@pytest.mark.parametrize("answer", ["It ends on 3 May.", ""])
def test_a_plain_answer_needs_no_reading(answer: str) -> None:
    assert "" == describe_case_reading(_explain(answer))


def test_a_phrase_is_named() -> None:
    explanation = _explain("The documents do not mention the warranty.")
    assert "abstain, by “not mention the”" == describe_case_reading(explanation)


def test_a_refusal_that_states_what_is_required_is_not_said_to_be_read_as_one() -> None:
    golden = GoldenSet((Case("c1", "When does the warranty end?", must_have=("3 May",)),))
    answer = "My Orion notes are blank on this, sorry: 3 May."
    result = assay.score(golden, [Observation("c1", "a", answer=answer)])
    explanation = assay.explain(result, "c1")
    assert "Read as         unknown, because it states what the case requires" in str(explanation)


def test_free_wording_is_explained_by_words_of_the_rules_alone() -> None:
    explanation = _explain("My Orion notes are blank on this, sorry.")
    reading = describe_case_reading(explanation)
    assert reading.startswith("abstain, by its wording: “")
    assert "for a refusal" in reading
    assert "orion" not in reading
    assert not set("<>+$") & set(reading)
    assert list_reading_weights(explanation).startswith("“")
    assert "orion" not in list_reading_weights(explanation)
    assert "" == list_reading_weights(_explain("The documents do not mention the warranty."))


def test_weights_are_printed_where_everything_is() -> None:
    explanation = _explain("My Orion notes are blank on this, sorry.")
    assert any(line.startswith("Weights") for line in render_case_text(explanation).splitlines())
    assert not any(line.startswith("Weights") for line in render_case_summary(explanation).splitlines())


@pytest.mark.parametrize(
    ("answer", "reading"),
    [
        ("It ends on 3 May.", "answer, by no phrase or wording of a refusal"),
        ("The documents do not mention the warranty.", "abstain, by “not mention the”"),
        (
            "The passages do not mention the exact day, but the warranty ends in 2027.",
            "partial refusal (answers a part and declines another), by “not mention the”",
        ),
        ("Which model do you have?", "clarify, by its question or wording"),
        ("ERR-403 means 'you do not have access'.", "answer, which only quotes a phrase of a refusal"),
    ],
)
def test_a_wrong_behaviour_says_what_the_answer_was_read_as(answer: str, reading: str) -> None:
    assert describe_case_reading(_explain(answer, "wrong_behavior")).startswith(reading)
    lines = render_case_summary(_explain(answer, "wrong_behavior")).splitlines()
    assert any(line.startswith("Read as") and reading[:60] in line for line in lines)
    assert not any(line.startswith("Read as") for line in render_case_summary(_explain(answer)).splitlines())


def test_what_the_target_declares_decides_where_the_text_does_not() -> None:
    reading = describe_case_reading(_explain("I could not.", "wrong_behavior", declared="abstain"))
    assert reading == "abstain, as the target declares; the text alone: unknown, words of doubt alone: “i could not”"


@pytest.mark.parametrize(
    ("behaviour", "answer", "reading"),
    [
        ("abstain", "It ends on 3 May.", "read as answer, by no phrase or wording of a refusal"),
        ("answer", "The documents do not mention the warranty.", "read as abstain, by “not mention the”"),
        ("permission_denied", "The documents do not mention the warranty.", "read as abstain, by “not mention the”"),
        ("abstain", "The documents do not mention the warranty.", ""),
    ],
)
def test_the_cause_that_reports_show_says_what_the_answer_was_read_as(
    behaviour: Behaviour, answer: str, reading: str
) -> None:
    case = Case("c1", "When does the warranty end?", behaviour=behaviour)
    result = assay.score(GoldenSet((case,)), [Observation("c1", "a", answer=answer)])
    attribution = attribute_run_case(result.run, "a", "c1")
    assert attribution is not None
    assert [reading] * bool(reading) == [fact for fact in attribution.evidence if fact.startswith("read as")]


def test_an_answer_of_which_nothing_tells_what_it_did_says_how_it_was_read_and_what_to_do() -> None:
    case = Case(id="c1", question="Waar staat de fiets?", language="nl", reference="In de schuur.")
    observation = Observation(config_id="a", case_id="c1", answer="Vraag het de buren maar eens.")
    run = assay.score(GoldenSet((case,)), [observation]).run
    attribution = attribute_run_case(run, "a", "c1")
    assert attribution is not None and "nothing tells what the answer did" == attribution.signal
    explained = render_case_summary(Explanation(case, "a", observation, attribution=attribution))
    assert "Read as         unknown" in explained
    assert "a behaviour that the target declares tells" in " ".join(explained.split())
    explanation = Explanation(
        case, "a", observation, attribution=structs.replace(attribution, signal="must-have facts")
    )
    assert "Read as" not in render_case_summary(explanation)
