"""Dependent cases that nobody marked: repeated questions, user twins and paraphrases, and what is none of them."""

from __future__ import annotations

import pytest

from assay.records.golden_set import Case, Evidence, User
from assay.scoring.cluster_suggestions import suggest_clusters

LEAVE = (Evidence(({"chunk_id": "policy:leave"},)),)
OTHER = [
    Case("x1", "Who approves a business trip abroad?", evidence=(Evidence(({"chunk_id": "policy:travel"},)),)),
    Case("x2", "Where do I report a lost laptop?", evidence=(Evidence(({"chunk_id": "it:loss"},)),)),
    Case("x3", "Which meals does the company pay for?", evidence=(Evidence(({"chunk_id": "policy:meals"},)),)),
]


def suggest(*cases: Case) -> list[tuple[str, tuple[str, ...]]]:
    return [tuple(suggestion) for suggestion in suggest_clusters([*cases, *OTHER])]  # type: ignore[misc]


@pytest.mark.parametrize(
    "twin",
    [
        "how many days of annual leave do i get",
        "How many days of annual leave do I get ?!",
        "How  many days of ánnual leave do I get?",
    ],
)
def test_a_question_repeated_in_another_spelling_is_one_question(twin: str) -> None:
    first = Case("a", "How many days of annual leave do I get?")
    assert [("repeated question", ("a", "b"))] == suggest(first, Case("b", twin))


def test_a_question_asked_by_two_users_is_a_pair_of_twins() -> None:
    cases = [Case(name, "May I see the salary table?", user=User(roles=(name,))) for name in ("hr", "guest")]
    assert [("same question by several users", ("hr", "guest"))] == suggest(*cases)


def test_questions_of_similar_words_and_the_same_evidence_are_paraphrases() -> None:
    first = Case("a", "How many days of annual leave do new employees get?", evidence=LEAVE)
    second = Case("b", "Annual leave of new employees: how many days?", evidence=LEAVE)
    assert [("paraphrase", ("a", "b"))] == suggest(first, second)


def test_the_same_evidence_alone_does_not_make_a_paraphrase() -> None:
    first = Case("a", "How many days of annual leave do new employees get?", evidence=LEAVE)
    assert [] == suggest(first, Case("b", "Can unused holidays be carried over?", evidence=LEAVE))


def test_cases_that_are_marked_already_are_not_suggested() -> None:
    cases = [Case(name, "How many days of annual leave?", cluster="leave") for name in "ab"]
    assert [] == suggest(*cases)
    assert [("repeated question", ("a", "b", "c"))] == suggest(*cases, Case("c", "How many days of annual leave?"))
