"""A rule on leaks where nothing says who may see what: the general profile accepts that, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

import msgspec
import pytest

import assay
from assay.gates.rules import states_access
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, User
from assay.records.observations import Chunk, Observation, Stage
from assay.records.release_gates import Gate, Rule
from assay.report.exports.junit import render_junit

CASES = [
    Case(f"c{number}", f"Which depot has bus {number}?", reference=f"depot {number}", evidence=(chunk,))
    for number, chunk in enumerate(Evidence(({"chunk_id": f"b{number}"},)) for number in range(4))
]
ROWS = [
    Observation(
        case.id,
        answer=case.reference or "",
        stages=(Stage("retrieved", (Chunk(f"b{number}", text=f"Bus {number} stands in depot {number}."),)),),
    )
    for number, case in enumerate(CASES)
]
CHUNKS = {
    f"b{number}": CorpusChunk(f"b{number}", text=f"Bus {number} stands in depot {number}.") for number in range(4)
}
LEAKS = Rule("visibility_leaks", at_most=0, if_no_data="ignore")
GATE = Gate((LEAKS, Rule("recall@10", at_least=0.9)), correctness=0.5)


@dataclass
class Found:
    outcome: str
    reasons: str
    result: assay.ScoreResult


def decide(cases: list[Case], gate: Gate = GATE, corpus: Corpus | None = None) -> Found:
    scored = assay.score(cases, ROWS, gate=gate, corpus=corpus)
    return Found(scored.decision.outcome, "\n".join(scored.decision.reasons), scored)


def with_first(**changes: object) -> list[Case]:
    return [msgspec.structs.replace(CASES[0], **changes), *CASES[1:]]


def test_a_system_without_access_rules_passes_and_is_told_that_leaks_were_not_looked_for() -> None:
    decision = decide(CASES)
    assert "PASS" == decision.outcome
    said = "visibility_leaks applies to none of 4 cases (no source of truth about access: 4), which this gate accepts"
    assert said in decision.reasons
    assert "PASS" == decide(CASES, corpus=Corpus(CHUNKS)).outcome
    suite = ElementTree.fromstring(render_junit(decision.result.scoring))[0]
    assert ["skipped"] == [part.tag for test in suite if "visibility" in test.get("name", "") for part in test]


@pytest.mark.parametrize(
    "cases",
    [
        with_first(user=User(tenant="north")),
        with_first(user=User(roles=("driver",))),
        with_first(tags=("acl",)),
    ],
    ids=["tenant", "roles", "tag"],
)
def test_a_case_that_states_access_is_never_ignored(cases: list[Case]) -> None:
    decision = decide(cases)
    assert "FAIL" == decision.outcome
    assert (
        "say who asks and who may see which chunk (if_no_data: ignore counts only where nothing says"
        in decision.reasons
    )
    assert "write if_no_data: ignore" not in decision.reasons  # it is written, and changes nothing


def test_a_rule_that_demands_data_names_the_way_to_accept_that_there_is_none() -> None:
    demanding = Gate((Rule("visibility_leaks", at_most=0), *GATE.rules[1:]), correctness=0.5)
    assert "if everybody may see everything, write if_no_data: ignore" in decide(CASES, demanding).reasons
    stated = decide(with_first(user=User(tenant="north")), demanding)
    assert "write if_no_data: ignore" not in stated.reasons


def test_a_case_that_forbids_something_is_measured() -> None:
    forbidding = with_first(forbidden=({"chunk_id": "b3"},))
    assert "PASS" == decide(forbidding).outcome
    assert "which this gate accepts" not in decide(forbidding).reasons
    leaking = with_first(forbidden=({"chunk_id": "b0"},), evidence=())
    assert "FAIL" == decide(leaking).outcome


def test_a_corpus_that_restricts_access_needs_cases_with_users() -> None:
    restricted = {**CHUNKS, "b3": CorpusChunk("b3", text="Bus 3 stands in depot 3.", roles=("driver",))}
    decision = decide(CASES, corpus=Corpus(restricted))
    assert "FAIL" == decision.outcome
    assert "no user, although the corpus restricts access: 4" in decision.reasons


def test_an_empty_slice_is_never_ignored_and_other_metrics_are_where_the_rule_says_so() -> None:
    empty = Gate(
        (Rule("recall@10", at_least=0.5, slice="tag=night-bus", if_no_data="ignore"), *GATE.rules), correctness=0.5
    )
    assert "FAIL" == decide(CASES, empty).outcome
    refusing = Rule("abstention_accuracy", at_least=0.9)
    assert "FAIL" == decide(CASES, Gate((*GATE.rules, refusing), correctness=0.5)).outcome
    accepting = msgspec.structs.replace(refusing, if_no_data="ignore")
    assert "PASS" == decide(CASES, Gate((*GATE.rules, accepting), correctness=0.5)).outcome


def test_a_user_who_only_speaks_a_language_has_no_access_rule() -> None:
    assert not states_access(Case("a", "?", user=User(locale="vi")))
    assert states_access(Case("a", "?", user=User(position=3)))
    assert states_access(Case("a", "?", behaviour="permission_denied"))
