"""A cause names only what its own page shows: random small runs, and the answers that once had an untrue cause."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from assay import api
from assay.attribution.attribute_run import attribute_run
from assay.attribution.cause_notes import BESIDES, LEAK_IN_CONTEXT, LEAK_RETRIEVED, LEAK_SHOWN
from assay.records.findings import Attribution
from assay.records.golden_set import Behaviour, Case, Corpus, CorpusChunk, Evidence, GoldenSet, User
from assay.records.observations import Chunk, Observation, Stage
from assay.records.scores import SCORED, ScoreTable
from assay.report.findings.attribution_facts import list_attribution_facts
from assay.report.findings.failure_tables import build_worst_cases_table
from assay.scoring.column_values import describe_leaked_scores
from assay.text.quantities.measures import find_measures

TEXTS = {
    "fines:v2#1": "Overdue books cost 30p a day. A lost card costs £2.50 to replace.",
    "wifi:v1#1": "Choose the network Public and accept the terms. The connection drops after 4 hours.",
    "rooms:v1#1": "Book a room at least 48 hours ahead. The Curie room seats 60 people.",
    "hours:v3#1": "The library opens from 10am to 4pm on Sundays.",
    "staff:v1#1": "The alarm code is 7316.",
}
DOCUMENTS = {chunk_id: chunk_id.partition(":")[0] for chunk_id in TEXTS}
RETRIEVAL_CAUSES = {"parser", "chunking", "embedding", "bm25_analyzer", "hybrid_merge", "reranker", "context_builder"}


def make_corpus(ids: Sequence[str] = tuple(TEXTS)) -> Corpus:
    return Corpus(
        {
            chunk_id: CorpusChunk(
                chunk_id,
                text=TEXTS[chunk_id],
                document=DOCUMENTS[chunk_id],
                roles=("staff",) if chunk_id.startswith("staff") else (),
            )
            for chunk_id in ids
        }
    )


def make_chunks(ids: Sequence[str], *, opaque: bool = False) -> tuple[Chunk, ...]:
    """Return chunks as the target reports them; with `opaque` ids only their metadata names the document."""
    return tuple(
        Chunk(
            f"c{list(TEXTS).index(chunk_id)}" if opaque else chunk_id,
            text=TEXTS[chunk_id],
            metadata={"document": DOCUMENTS[chunk_id]},
        )
        for chunk_id in ids
    )


def attribute(case: Case, observation: Observation, corpus: Corpus | None = None) -> tuple[Attribution, ScoreTable]:
    run = api.score(GoldenSet((case,)), [observation], corpus=corpus).run
    return attribute_run(run, observation.config_id)[case.id], run.scoring.configs[observation.config_id].table


def observe(
    answer: str, retrieved: Sequence[str], context: Sequence[str], citations: Sequence[str], *, opaque: bool = False
) -> Observation:
    stages = (
        Stage("retrieved", make_chunks(retrieved, opaque=opaque)),
        Stage("context", make_chunks(context, opaque=opaque)),
    )
    return Observation("a", "c", stages=stages, answer=answer, citations=tuple(citations))


def failed_checks(table: ScoreTable) -> tuple[str, ...]:
    return table.checks[0].failed if table.checks else ()


ALL = tuple(TEXTS)[:4]
WIFI = Case(
    "a",
    "How long does the wi-fi stay connected?",
    must_have=("4 hours",),
    evidence=(Evidence(({"document": "wifi", "quote": "drops after 4 hours"},)),),
)


def test_an_answer_that_cuts_a_sentence_short_leaves_a_part_out() -> None:
    text = (
        "A lost pass is replaced at the office of the central station for 24 euros. It is on sale at all the stations."
    )
    asked = Case(
        "a",
        "What does it cost to replace a pass?",
        must_have=("24 euros",),
        evidence=(Evidence(({"chunk_id": "pass"},)),),
    )
    stages = tuple(Stage(name, (Chunk("pass", text=text),)) for name in ("retrieved", "context"))
    answers = {
        "A lost pass is replaced at the office of the central station.": "incompleteness",
        "It is on sale at all the stations.": "wrong_part",
    }
    for answer, subtype in answers.items():
        attribution, _ = attribute(asked, Observation("a", "c", stages=stages, answer=answer, citations=("pass",)))
        assert ("generator", subtype) == (attribution.cause, attribution.subtype)


def test_an_answer_copied_from_the_context_has_no_wrong_number_or_name() -> None:
    found, _ = attribute(WIFI, observe("Choose the network Public and accept the terms.", ALL, ALL, ALL[1:2]))
    assert ("generator", "other_part", "wrong_part") == (found.cause, found.subcause, found.subtype)
    assert "missing: 4 hours (the answer is copied word for word from wifi:v1#1)" in found.evidence


def test_an_answer_of_a_few_words_is_not_copied_from_a_passage_that_has_them() -> None:
    found, _ = attribute(WIFI, observe("The terms.", ALL, ALL, ALL[1:2]))
    assert "ignored_evidence" == found.subcause
    assert not any("word for word" in fact for fact in found.evidence)


def test_another_quantity_of_the_same_kind_is_named() -> None:
    found, _ = attribute(WIFI, observe("It drops after at least 48 hours.", ALL, ALL, ALL[1:2]))
    assert "wrong_entity_or_number" == found.subcause
    assert any("stated instead: " in fact and "48 hours" in fact for fact in found.evidence)


@pytest.mark.parametrize("answer", ["It does not drop after 4 hours.", "It is not true that it takes 4 hours."])
def test_a_value_that_is_denied_is_not_stated_instead_of_itself(answer: str) -> None:
    found, _ = attribute(WIFI, observe(answer, ALL, ALL, ALL[1:2]))
    assert not any("stated instead" in fact for fact in found.evidence)


def test_an_answer_without_any_number_took_no_wrong_one() -> None:
    found, _ = attribute(WIFI, observe("It drops after some time that nobody knows.", ALL, ALL, ALL[1:2]))
    assert "ignored_evidence" == found.subcause


def test_a_citation_inside_the_context_is_not_called_outside() -> None:
    case = Case("a", "What does a late book cost?", must_have=("30p",), evidence=FINES, must_cite=("fines",))
    found, table = attribute(case, observe("30p a day.", ALL, ALL, ["rooms:v1#1"]))
    assert ("bad_citation",) == failed_checks(table)
    assert ("citation", "other_source") == (found.cause, found.subcause)
    assert found.evidence == ("the answer cites rooms:v1#1 and not fines, which the case requires",)


def test_a_claim_that_cites_the_neighbour_of_its_source_has_a_cause_that_names_both() -> None:
    case = Case("a", "What does a late book cost, and when is it open?", must_have=("30p",), evidence=FINES)
    answer = "Overdue books cost 30p a day [fines:v2#1]. The library opens from 10am to 4pm on Sundays [rooms:v1#1]."
    found, table = attribute(case, observe(answer, ALL, ALL, ["fines:v2#1", "rooms:v1#1"]))
    assert ("bad_citation",) == failed_checks(table)
    assert ("citation", "wrong_in_context") == (found.cause, found.subcause)
    assert found.evidence == ("cites rooms:v1#1 for what stands in hours:v3#1",)


FINES = (Evidence(({"document": "fines", "quote": "cost 30p a day"},)),)


@pytest.mark.parametrize("with_corpus", [False, True])
def test_a_required_document_is_found_by_what_chunks_report(with_corpus: bool) -> None:
    case = Case("a", "What does a late book cost?", must_have=("30p",), evidence=FINES, must_cite=("fines",))
    corpus = make_corpus() if with_corpus else None
    for cited in ("c0", "fines"):
        found, table = attribute(case, observe("30p a day.", ALL, ALL, [cited], opaque=True), corpus)
        assert ("pass", ()) == (found.verdict, failed_checks(table))
        assert [1.0, 1.0] == [table.columns[name].values[0] for name in ("must_cite", "citation_correctness(by=rules)")]


def test_the_corpus_decides_of_which_document_a_chunk_is() -> None:
    case = Case("a", "What does a late book cost?", must_have=("30p",), evidence=FINES, must_cite=("fines",))
    lying = Chunk("rooms:v1#1", text="A late book costs 30p a day.", metadata={"document": "fines"})
    stages = (Stage("context", (*make_chunks(["fines:v2#1"]), lying)),)
    observation = Observation("a", "c", stages=stages, answer="30p a day.", citations=("rooms:v1#1",))
    assert ("bad_citation",) == failed_checks(attribute(case, observation, make_corpus())[1])
    assert () == failed_checks(attribute(case, observation)[1])


def test_a_required_source_that_nothing_knows_is_a_doubtful_label() -> None:
    case = Case("a", "What does a late book cost?", must_have=("30p",), evidence=FINES, must_cite=("fine-list",))
    found, _ = attribute(case, observe("30p a day.", ALL, ALL, ["fines:v2#1"]))
    assert ("label_fault", "golden_label_issue", "unknown_source") == (found.verdict, found.cause, found.subcause)
    assert "fine-list" in found.evidence[0]


# ── random runs ──────────────────────────────────────────────────────────────────────────────────────────────────

ANSWERS = (
    "Overdue books cost 30p a day.",
    "It is 90p a day.",
    "Choose the network Public and accept the terms.",
    "The connection drops after 4 hours.",
    "It drops after 6 hours.",
    "You can ask Marie Stone at the desk.",
    "Sorry, our guides do not say anything about that.",
    "The alarm code is 7316.",
    "Book it 48 hours ahead [rooms:v1#1].",
    "",
)
QUESTIONS: tuple[tuple[str, str, str, str], ...] = (
    ("What does a late book cost?", "30p", "fines", "cost 30p a day"),
    ("How long does the wi-fi stay connected?", "4 hours", "wifi", "drops after 4 hours"),
    ("How early must I book a room?", "48 hours", "rooms", "at least 48 hours ahead"),
    ("When does the library open on Sundays?", "10am", "hours", "from 10am to 4pm"),
)


def make_random_case(generator: random.Random) -> Case:
    question, fact, document, quote = generator.choice(QUESTIONS)
    behaviour: Behaviour = generator.choice(("answer", "answer", "answer", "abstain"))
    return Case(
        "a",
        question,
        behaviour=behaviour,
        must_have=generator.choice(((fact,), (fact, "on Mondays"), ())) if behaviour == "answer" else (),
        evidence=(Evidence(({"document": document, "quote": quote},)),) if behaviour == "answer" else (),
        must_cite=generator.choice(((), (document,), ("unheard-of",))),
        user=generator.choice((None, User(roles=("member",)))),
    )


class Drawn(NamedTuple):
    """A random case and what the system did with it."""

    case: Case
    observation: Observation
    with_corpus: bool
    opaque: bool


def draw(seed: int) -> Drawn:
    generator = random.Random(seed)
    case = replace(make_random_case(generator), id=f"seed {seed}")
    retrieved = generator.sample(list(TEXTS), generator.randint(0, len(TEXTS)))
    context = retrieved[: generator.randint(0, 4)]
    opaque = generator.random() < 0.3
    names = [chunk.chunk_id for chunk in make_chunks(list(TEXTS), opaque=opaque)]
    citations = generator.sample([*names, "fines", "nowhere"], generator.randint(0, 2))
    observation = observe(generator.choice(ANSWERS), retrieved, context, citations, opaque=opaque)
    return Drawn(case, replace(observation, case_id=case.id), generator.choice((False, True)), opaque)


@pytest.mark.parametrize("with_corpus", [False, True])
@pytest.mark.parametrize("part", range(10))
def test_no_cause_contradicts_what_its_page_shows(part: int, with_corpus: bool) -> None:
    """Forty seeds a part; those that have a corpus, or none, are one run."""
    drawn = [item for seed in range(40 * part, 40 * part + 40) if (item := draw(seed)).with_corpus == with_corpus]
    golden = GoldenSet(tuple(item.case for item in drawn))
    corpus = make_corpus() if with_corpus else None
    run = api.score(golden, [item.observation for item in drawn], corpus=corpus).run
    causes, table = attribute_run(run, "c"), run.scoring.configs["c"].table
    for item in drawn:
        check_cause(item, causes[item.case.id], table)


def check_cause(item: Drawn, found: Attribution, table: ScoreTable) -> None:
    row = table.case_ids.index(item.case.id)
    failed = next((checks.failed for checks in table.checks if checks.case_id == item.case.id), ())
    answer, citations = item.observation.answer, item.observation.citations
    assert isinstance(answer, str)
    assert isinstance(citations, tuple)
    assert isinstance(item.observation.stages, tuple)
    context_ids = {chunk.chunk_id for chunk in item.observation.stages[1].chunks}

    assert bool(failed) == (found.cause is not None) == (found.verdict not in ("pass", "unknown"))
    if found.good is not False and found.reached:
        assert "retrieval_fault" != found.verdict
        assert not (found.cause in RETRIEVAL_CAUSES and found.confidence == "high")
    if found.subcause == "outside_context":
        assert not set(citations) <= context_ids
    if found.subcause == "uncited":
        assert not citations
    if found.subcause in ("other_source", "wrong_in_context"):
        assert citations
    if found.subcause == "wrong_entity_or_number":
        assert find_measures(answer) or "Stone" in answer
    if found.subcause == "invented":
        assert find_measures(answer)
    if found.subcause in (LEAK_SHOWN, LEAK_IN_CONTEXT, LEAK_RETRIEVED):
        leaks = table.columns["visibility_leaks"]
        assert leaks.status[row] == SCORED
        assert leaks.values[row] > 0
    if found.cause == "generator" and found.subcause not in ("answered_unanswerable", "injection_followed"):
        assert "wrong_behavior" in failed or (found.good is False and found.reached)
    if (found.verdict, found.cause) == ("generation_fault", "generator"):
        assert ("partial" == found.subcause) == ("incompleteness" == found.subtype)
        assert "partial" != found.subcause or not any("another passage" in fact for fact in found.evidence)


# ── leaks ────────────────────────────────────────────────────────────────────────────────────────────────────────

LATE = Case(
    "a",
    "What does a late book cost?",
    must_have=("30p",),
    evidence=FINES,
    must_cite=("fines",),
    user=User(roles=("member",)),
)


def test_a_leak_overrides_scores_and_not_what_is_said_of_the_answer() -> None:
    found, table = attribute(LATE, observe("30p a day.", [*ALL, "staff:v1#1"], ALL, ["fines:v2#1"]), make_corpus())
    names = ("correct_answer", "behaviour", "citation_correctness(by=rules)")
    assert ("leak",) == failed_checks(table)
    assert ("access_fault", "acl", "leak_retrieved") == (found.verdict, found.cause, found.subcause)
    assert "what the user must not see was retrieved" == found.sign
    assert not any(fact.startswith(BESIDES) for fact in found.evidence), "nothing but the leak failed"
    described = dict(list_attribution_facts(found))["Good"]
    assert "no, because of the leak before it; right apart from that (must-have facts)" == described
    assert (True, True) == (found.good, found.reached)
    assert [0.0] * 3 == [table.columns[name].values[0] for name in names]
    assert [1.0] * 3 == [table.before_leaks[name].values[0] for name in names]
    assert ["1 case that leaked gets the worst score in correct_answer"] == [
        note.partition(",")[0] for note in describe_leaked_scores(table)
    ]


def test_a_wrong_answer_that_leaks_fails_both() -> None:
    found, table = attribute(LATE, observe("90p a day.", [*ALL, "staff:v1#1"], ALL, ["fines:v2#1"]), make_corpus())
    assert ("leak", "wrong_answer") == failed_checks(table)
    assert found.good is False
    assert "besides the leak: the answer states a wrong name, code or number (generator, high confidence)" in (
        found.evidence
    )


def test_a_leak_is_said_to_have_come_as_far_as_it_came() -> None:
    """The same chunk: only ranked, then in the context, then cited, then in the words of the answer."""
    ranked = observe("30p a day.", [*ALL, "staff:v1#1"], ALL, ["fines:v2#1"])
    packed = observe("30p a day.", [*ALL, "staff:v1#1"], [*ALL, "staff:v1#1"], ["fines:v2#1"])
    cited = observe("30p a day.", [*ALL, "staff:v1#1"], ALL, ["fines:v2#1", "staff:v1#1"])
    signs = [attribute(LATE, each, make_corpus())[0].sign for each in (ranked, packed, cited)]
    assert [
        "what the user must not see was retrieved",
        "the model was shown what the user must not see",
        "the user was shown what they must not see",
    ] == signs
    searched = attribute(LATE, Observation("a", stages=packed.stages), make_corpus())[0]
    assert "the user was shown what they must not see" == searched.sign, "a search without an answer shows its list"


def test_without_a_leak_nothing_is_set_aside() -> None:
    _, table = attribute(LATE, observe("30p a day.", ALL, ALL, ["fines:v2#1"]), make_corpus())
    assert ({}, []) == (table.before_leaks, describe_leaked_scores(table))


def test_no_gate_passes_a_leak_because_the_answer_is_right(tmp_path: Path) -> None:
    rules = tmp_path / "gate.yaml"
    rules.write_text("rules:\n  - {metric: recall@10, at_least: 0.5}\n")
    observation = observe("30p a day.", [*ALL, "staff:v1#1"], ALL, ["fines:v2#1"])
    result = api.score(GoldenSet((LATE,)), [observation], corpus=make_corpus())
    assert "FAIL" == api.gate(result, rules).outcome
    assert ["a"] == [case.id for case in result.failed]


WAITING = Case(
    "rooms",
    "How many does the Curie room seat?",
    must_have=("60",),
    evidence=(Evidence(({"chunk_id": "rooms:v1#1"},)),),
)


def _observe(**lists: Sequence[str]) -> Observation:
    stages = tuple(Stage(name, make_chunks(ids)) for name, ids in lists.items())
    return Observation("rooms", "one", answer="I could not find that.", stages=stages)


@pytest.mark.parametrize("name", ["retrieved", "hits"])
def test_a_miss_of_the_only_list_says_how_to_name_it(name: str) -> None:
    found, _ = attribute(WAITING, _observe(**{name: ["wifi:v1#1", "hours:v3#1"], "context": ["wifi:v1#1"]}))
    assert "insufficient_trace" == found.cause
    assert f"record the stage “{name}” as bm25 or vector" in found.fix


def test_the_name_that_the_remedy_asks_for_leads_to_a_cause() -> None:
    found, _ = attribute(WAITING, _observe(bm25=["wifi:v1#1", "hours:v3#1"], context=["wifi:v1#1"]))
    assert "bm25_analyzer" == found.cause


def test_evidence_that_a_separate_search_has_below_the_cut_is_lost_by_the_cut() -> None:
    ids = ["wifi:v1#1", "hours:v3#1", "fines:v2#1", "rooms:v1#1"]
    found, _ = attribute(WAITING, _observe(search=ids, retrieved=ids[:2], context=ids[:2]))
    assert ("context_builder", "medium") == (found.cause, found.confidence)
    assert "rooms:v1#1 has rank 4 in search; retrieved has its first 2" == found.evidence[0]
    assert {"search": 4, "retrieved": None, "context": None} == found.traces[0].ranks


def test_a_separate_search_that_ranks_otherwise_is_named_with_its_rank() -> None:
    lists = _observe(search=["hours:v3#1", "rooms:v1#1"], retrieved=["wifi:v1#1"], context=["wifi:v1#1"])
    found, _ = attribute(WAITING, lists)
    assert "in no list of the answer; a search of its own has it at rank 2" in found.evidence[0]


def test_the_table_of_the_worst_cases_has_what_else_went_wrong_with_a_leak() -> None:
    observation = observe("90p a day.", [*ALL, "staff:v1#1"], ALL, ["fines:v2#1"])
    run = api.score(GoldenSet((LATE,)), [observation], corpus=make_corpus()).run
    attributions = {"c": attribute_run(run, "c")}
    ((*_, cause, fix),) = build_worst_cases_table(run.scoring, {"a": LATE}, False, attributions).rows
    assert cause.startswith(
        "what the user must not see was retrieved (acl); besides the leak: the answer states a wrong"
    )
    assert fix.startswith("make the filters mandatory")
    right = observe("30p a day.", [*ALL, "staff:v1#1"], ALL, ["fines:v2#1"])
    run = api.score(GoldenSet((LATE,)), [right], corpus=make_corpus()).run
    attributions = {"c": attribute_run(run, "c")}
    ((*_, cause, _),) = build_worst_cases_table(run.scoring, {"a": LATE}, False, attributions).rows
    assert "what the user must not see was retrieved (acl)" == cause
