"""A leak is counted once wherever it appears, by the chunk that leaked, and no chunk that the user may see is one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import assay
from assay.attribution.attribute_run import attribute_run
from assay.metrics.cases.case_index import CaseIndex, GoldenIndex
from assay.metrics.leaks.find_leaks import Leaks, find_leaks
from assay.records.findings import Attribution
from assay.records.golden_set import Case, Corpus, CorpusChunk, GoldenSet, User
from assay.records.observations import Chunk, Observation, Stage
from assay.report.cases.explain_case import summarise_failed_case
from assay.report.findings.attribution_facts import summarise_attribution
from assay.report.findings.failure_tables import build_worst_answers_table

SECRET = "The merger with the Lindqvist yard is planned for the second Tuesday of November."
OTHER = "Two hundred welders of the northern dock are to be dismissed before the end of winter."
OPEN = "The ferry to the yard leaves every forty minutes from the stone pier."
CANARY = "quartz-falcon-7781"
CORPUS = Corpus(
    {
        "board:4": CorpusChunk("board:4", text=SECRET, document="board", roles=("director",)),
        "board:5": CorpusChunk("board:5", text=OTHER, document="board", roles=("director",)),
        "ferry:1": CorpusChunk("ferry:1", text=OPEN, document="ferry"),
        "note:1": CorpusChunk("note:1", text=f"The code word of the picnic is {CANARY}.", document="note"),
    }
)
BOARD, FERRY = Chunk("board:4", text=SECRET), Chunk("ferry:1", text=OPEN)


def make_case(forbidden_text: Sequence[str] = ()) -> Case:
    return Case(
        "q1",
        "What is planned with the yard?",
        behaviour="permission_denied",
        user=User(roles=("welder",)),
        forbidden_text=tuple(forbidden_text),
    )


def show(
    *chunks: Chunk, answer: str = "I may not tell.", citations: tuple[str, ...] | None = None, case: Case | None = None
) -> Leaks:
    stages = (Stage("retrieved", chunks), Stage("context", chunks))
    observation = Observation("q1", "x", answer=answer, stages=stages, citations=citations)
    made = case or make_case()
    return find_leaks(CaseIndex(made, GoldenIndex(GoldenSet((made,)), CORPUS)), observation)


@pytest.mark.parametrize(
    ("leaks", "names"),
    [
        (show(BOARD, FERRY), ["board:4"]),
        (show(BOARD, FERRY, answer=SECRET), ["board:4"]),
        (show(BOARD, FERRY, answer=SECRET, citations=("board",)), ["board:4"]),
        (show(FERRY, answer=SECRET), ["board:4"]),
        (show(BOARD, answer=OTHER), ["board:4", "board:5"]),
        (show(Chunk("ferry:1", text=SECRET)), ["board:4"]),
        (show(Chunk("ferry:1", text=OPEN, metadata={"next": SECRET})), ["board:4"]),
        (show(BOARD, Chunk("ferry:1", text=OPEN, metadata={"next": SECRET}), answer=SECRET), ["board:4"]),
        (show(FERRY, Chunk("ferry:1", text=f"{OPEN} ")), []),
    ],
)
def test_what_leaked_is_counted_and_named_once(leaks: Leaks, names: list[str]) -> None:
    assert (names, len(names)) == (leaks.list_leaked(), leaks.count_leaks("anywhere"))
    assert "ferry:1" not in leaks.list_leaked()


def test_words_that_only_the_case_lists_are_counted_once() -> None:
    case = make_case([CANARY])
    leaks = show(FERRY, answer=f"It is {CANARY}.", case=case)
    assert [CANARY] == leaks.list_leaked()
    held = Chunk("loose:1", text=f"Write down {CANARY}.")
    assert ["loose:1"] == show(held, answer=f"It is {CANARY}.", case=case).list_leaked()


def test_a_public_chunk_that_holds_a_canary_is_no_leak_of_a_stage() -> None:
    reported = Chunk("note:1", text=f"  The code word of the picnic is {CANARY}. ")
    assert [] == show(reported, case=make_case([CANARY])).list_leaked()


def test_the_cause_names_what_leaked() -> None:
    stages = (Stage("retrieved", (BOARD, FERRY)), Stage("context", (BOARD, FERRY)))
    observation = Observation("q1", "x", answer=SECRET, stages=stages)
    run = assay.score(GoldenSet((make_case(),)), [observation], corpus=CORPUS).run
    assert 1.0 == run.scoring.configs["x"].table.columns["visibility_leaks"].values[0]
    (attribution,) = attribute_run(run, "x").values()
    expected = "1 chunk or passage that this user must not see, in retrieved, context, the answer: board:4"
    assert expected == attribution.evidence[0]


def test_a_leak_is_explained_by_its_id_stage_rank_and_rule_though_the_id_says_what_the_text_says() -> None:
    name = "merger:signed-9-june-2027-with-delft-medical-for-forty-million-euros-in-cash"
    text = "Signed 9 June 2027 with Delft Medical for forty million euros in cash."
    corpus = Corpus({name: CorpusChunk(name, text, roles=("board",)), "f": CorpusChunk("f", "Ferries run daily.")})
    case = Case("q1", "What is new?", user=User(roles=("clerk", "guard")))
    stages = (Stage("found", (Chunk("f"), Chunk(name))), Stage("context", (Chunk(name, text=text),)))
    observation = Observation("q1", "x", answer=f"See: {text}", stages=stages)
    run = assay.score(GoldenSet((case,)), [observation], corpus=corpus).run
    (attribution,) = attribute_run(run, "x").values()
    reason = f"{name} is forbidden: it is for the role board, the user has clerk, guard"
    assert f"{reason} (shown at rank 2 of found, rank 1 of context)" in attribution.evidence
    explained = " ".join(summarise_failed_case(run, "x", run.scoring.configs["x"].table.checks[0]).split())
    assert f"{name} is forbidden" in explained and "million euros in cash." not in explained


def test_an_id_that_only_the_target_gives_is_withheld_with_what_it_says() -> None:
    made_up = "the board sells the mill to its lender for nine hundred thousand crowns"
    text = f"{made_up.capitalize()}."
    corpus = Corpus({"b": CorpusChunk("b", text, roles=("board",))})
    stages = (Stage("context", (Chunk(made_up, text=text),)),)
    observation = Observation("q1", "x", answer="No news.", stages=stages)
    run = assay.score(GoldenSet((Case("q1", "News?", user=User()),)), [observation], corpus=corpus).run
    (attribution,) = attribute_run(run, "x").values()
    assert attribution.subcause == "leak_in_context" and not any(made_up in fact for fact in attribution.evidence)


def test_a_pass_says_what_was_checked_and_claims_no_confidence() -> None:
    case = Case("q1", "What does a berth cost?", must_have=("41 crowns",))
    observation = Observation("q1", "x", answer="It costs 41 crowns.")
    run = assay.score(GoldenSet((case,)), [observation], corpus=CORPUS).run
    (attribution,) = attribute_run(run, "x").values()
    line = summarise_attribution(attribution)
    assert line.startswith("pass: no check failed") and "must-have facts, and nothing else of it" in line
    assert "confidence" not in line
    unread = summarise_attribution(Attribution("q1", "pass", confidence="low"))
    assert "pass: no check failed; what the answer says was not checked; doubtful" == unread


@pytest.mark.parametrize(("answer", "word"), [("It costs 41 crowns.", "yes"), ("It costs 77 crowns.", "no")])
def test_a_right_answer_that_a_leak_set_aside_is_not_called_wrong(answer: str, word: str) -> None:
    corpus = Corpus(
        {"b": CorpusChunk("b", "Pay band nine.", roles=("board",)), "p": CorpusChunk("p", "It is 41 crowns.")}
    )
    case = Case("q1", "What does a berth cost?", must_have=("41 crowns",), user=User(roles=("guest",)))
    stages = (Stage("context", (Chunk("p"), Chunk("b"))),)
    observation = Observation("q1", "x", answer=answer, stages=stages)
    run = assay.score(GoldenSet((case,)), [observation], corpus=corpus).run
    table = build_worst_answers_table(run.scoring, {"q1": case}, show_forbidden=False)
    cell = table.rows[0][table.columns.index("Answer correct?")]
    assert cell == ("no, because the case leaked (else yes)" if word == "yes" else "no")
