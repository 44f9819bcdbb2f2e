"""How long an explanation is: long answers, a baseline, narrow screens; and what it quotes of a text that was cut."""

from itertools import product
from pathlib import Path

import pytest

from assay.cli.explain import _explain_with_baseline
from assay.formats.run_files.run_folder import complete_run_request
from assay.records.golden_set import Case, Evidence, GoldenSet
from assay.records.observations import Chunk, Observation, Stage
from assay.records.requests import GateOptions, InputOptions, ScoreRequest
from assay.report.cases.explain_case import explain_case
from assay.runs.compare_runs import load_gate_with_baseline
from assay.runs.score_inputs import ScoreInputs
from assay.runs.score_run import open_scored_run, score_observations
from assay.text.claims.passages import quote_difference

HANDBOOK = Path(__file__).resolve().parents[2] / "examples/handbook"


def explain_answer(answer: str) -> list[str]:
    """Return the lines that explain a case with an answer."""
    golden = GoldenSet((Case("a", "Which steps are there?", must_have=("step 1",)),))
    run = score_observations(
        ScoreInputs.from_golden(golden, ScoreRequest()), [Observation("a", answer=answer, config_id="c")]
    )
    return explain_case(run, "a", "c").splitlines()


@pytest.mark.parametrize(("count", "more"), [(8, ""), (9, "(1 more line)"), (20, "(12 more lines)")])
def test_eight_lines_of_an_answer_are_shown_and_how_many_more_there_are(count: int, more: str) -> None:
    lines = explain_answer("\n".join(f"step {number}" for number in range(1, count + 1)))
    text = "\n".join(lines)
    assert "step 8" in text and "step 9" not in text
    assert (more in text) if more else "more line" not in text
    assert len(lines) <= 30


FILLER = "Please read the whole page before you go on, and ask at the desk if something is not clear to you. "


@pytest.mark.parametrize("position", [0, 4, 9, 19])
def test_of_a_long_answer_the_lines_are_shown_that_have_the_wrong_value(position: int) -> None:
    sentences = [FILLER] * 20
    sentences[position] = "The ferry leaves at 17:45 from the north pier. "
    lines = explain_case_of("When does the ferry leave?", ("16:20",), "".join(sentences))
    begin = next(number for number, line in enumerate(lines) if line.startswith("Answer"))
    answer = lines[begin : begin + 8]
    assert "17:45" in "".join(answer)
    assert "more lines)" in answer[-1]
    assert len(lines) <= 30


def explain_case_of(question: str, must_have: tuple[str, ...], answer: str) -> list[str]:
    """Return the lines that explain a case of which the context has what it asks for."""
    text = f"The answer is {' and '.join(must_have)}."
    chunk = Chunk("timetable:summer:north-pier-and-south-pier:paragraph-12", text=text)
    stages = (Stage("retrieved", (chunk,)), Stage("context", (chunk,)))
    case = Case("a", question, must_have=must_have, evidence=(Evidence(({"chunk_id": chunk.chunk_id},)),))
    request = ScoreRequest()
    observations = [Observation("a", answer=answer, config_id="c", stages=stages)]
    run = score_observations(ScoreInputs.from_golden(GoldenSet((case,)), request), observations)
    return explain_case(run, "a", "c", width=80).splitlines()


def test_a_reason_of_three_lines_is_whole() -> None:
    facts = tuple(f"the pump of lock number {number} is switched on by hand" for number in (3, 7, 9))
    text = " ".join(" ".join(explain_case_of("How is each lock run?", facts, "They are run by the crew.")).split())
    assert "; ".join(facts) in text


def test_a_reason_that_another_line_says_is_not_repeated() -> None:
    text = "\n".join(
        explain_case_of("When does the ferry leave?", ("16:20",), "I could not find that in the timetable.")
    )
    assert "evidence reached the generator: yes" in text
    assert "all required evidence was in the context" not in text
    assert text.count("abstain, by ") == 1


def test_where_evidence_was_lost_is_shown_next_to_a_long_id() -> None:
    lines = explain_case_of("When does the ferry leave?", ("16:20",), "At 17:45.")
    (header,) = [line for line in lines if line.startswith("Evidence  ")]
    assert header.endswith("Lost at")
    (row,) = [line for line in lines if line.startswith("timetable") and "…" in line]
    assert "paragraph-12" in row


@pytest.mark.slow
def test_every_case_of_the_example_is_explained_with_its_baseline_in_thirty_lines(tmp_path: Path) -> None:
    from assay.cli import main

    golden, corpus = str(HANDBOOK / "golden/handbook.jsonl"), str(HANDBOOK / "corpus/chunks.jsonl")
    for name in ("vector-only", "hybrid-rerank"):
        outputs = str(HANDBOOK / f"outputs/{name}.jsonl")
        folder = str(tmp_path / name)
        main(["score", "--golden", golden, "--outputs", outputs, "--corpus", corpus, "--run-dir", folder])
    request = complete_run_request(
        ScoreRequest(
            InputOptions(run=str(tmp_path / "hybrid-rerank")), gate=GateOptions(baseline=str(tmp_path / "vector-only"))
        )
    )
    with open_scored_run(request, loaded_gate=load_gate_with_baseline(request)) as run:
        for case_id, width in product(run.cases, (80, 100)):
            text, change = _explain_with_baseline(
                run, case_id, None, "vector-only", width, show_forbidden=False, verbose=False
            )
            assert change is not None and len(text.splitlines()) + len(change.lines) <= 30, (case_id, width)


def test_a_lost_passage_is_quoted_as_it_is_written() -> None:
    whole = "Leave is 12 days a year. Ask the line manager first: the manager decides within 12 days."
    assert (
        quote_difference(whole, "Leave is 12 days a year.")
        == "Ask the line manager first: the manager decides within 12 days."
    )
    assert quote_difference(whole, "Leave is 12 days a year. Ask the line man") == (
        "manager first: the manager decides within 12 days."
    )
    assert quote_difference("| Basic | 9 USD |\n| Pro | 19 USD |", "| Pro | 19 USD |") == "Basic 9 USD"
    assert quote_difference("same words", "same words") == ""


@pytest.mark.parametrize("width", [80, 100, 160])
def test_what_to_do_about_open_facts_is_not_cut_with_them(width: int) -> None:
    facts = tuple(f"the {name} of the northern harbour" for name in ("caretaker", "harbourmaster", "pilot", "coxswain"))
    golden = GoldenSet((Case("a", "Who opens the gate in winter?", must_have=facts),))
    observation = Observation("a", answer="It stays locked.", config_id="c")
    run = score_observations(ScoreInputs.from_golden(golden, ScoreRequest()), [observation])
    text = " ".join(explain_case(run, "a", "c", width=width).split())
    assert "what is open: a judge can tell (assay judge), or a person who reads the answer (assay labels export" in text
    assert "--only ambiguous)" in text
