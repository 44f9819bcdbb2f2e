"""Citations of which the texts do not tell whether they are in their place."""

from __future__ import annotations

from collections import Counter

import pytest
from benchmarks.citations import read_paraphrased
from tests.metrics.answers import TEXTS, make_parsed_answer

import assay
from assay.metrics.grounding.citation_placement import UNTOLD_REASON, judge_placements
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Chunk, Observation, Stage
from assay.records.scores import NOT_APPLICABLE, SCORED, ScoreColumn

CORRECTNESS = "citation_correctness(by=rules)"
LEAVE, CARRY, PARAPHRASE = "Staff get 12 days of leave", "Five days carry over", "You may swap old computers"
SHOWN = Stage("context", tuple(Chunk(name, text=text) for name, text in TEXTS.items()))


@pytest.mark.parametrize("untouched", [False, True])
def test_no_false_citation_of_a_paraphrase_scores_1_and_no_right_one_is_accused(*, untouched: bool) -> None:
    """All 40 false ones scored 1.000: a claim in other words than its source has little support from any chunk."""
    of_half = [citation for citation in read_paraphrased() if citation.untouched is untouched]
    verdicts = Counter((citation.is_right, citation.judge()) for citation in of_half)
    assert (0, 0) == (verdicts[False, "right"], verdicts[True, "wrong"])
    assert verdicts[True, "right"] >= 4


def _score(answer: str, citations: tuple[str, ...], case: Case | None = None) -> ScoreColumn:
    observation = Observation("q", "c", stages=(SHOWN,), answer=answer, citations=citations)
    golden = GoldenSet((case or Case("q", "What do staff get?"),))
    return assay.score(golden, [observation], metrics=(CORRECTNESS,)).table("c").columns[CORRECTNESS]


@pytest.mark.parametrize(
    ("answer", "citations", "untold"),
    [
        (f"{PARAPHRASE} [carry].", ("carry",), ("carry",)),
        (f"{LEAVE} [leave]. {PARAPHRASE} [carry].", ("leave", "carry"), ("carry",)),
        (f"{LEAVE}. {PARAPHRASE}.", ("leave", "carry"), ("carry",)),
        (f"{LEAVE} [leave][carry].", ("leave", "carry"), ()),
        (f"{LEAVE}. {CARRY}.", ("leave", "carry", "it"), ()),
        (f"{PARAPHRASE}. {CARRY} [carry].", ("carry",), ()),
    ],
)
def test_untold_is_a_citation_whose_claims_no_cited_text_has(
    answer: str, citations: tuple[str, ...], untold: tuple[str, ...]
) -> None:
    """A surplus citation next to the right one is none, for a claim and for the answer as a whole."""
    assert untold == judge_placements(make_parsed_answer(answer, citations=citations)).untold


def test_an_untold_citation_leaves_the_score_open_unless_another_one_is_wrong() -> None:
    column = _score(f"{PARAPHRASE} [carry].", ("carry",))
    assert (NOT_APPLICABLE, UNTOLD_REASON) == (column.status[0], column.reasons[column.reason[0]])
    column = _score(f"{PARAPHRASE} [carry]. {LEAVE} [it].", ("carry", "it"))
    assert (SCORED, 0.5) == (column.status[0], column.values[0])
    column = _score(f"{PARAPHRASE} [carry].", ("carry",), Case("q", "What do staff get?", must_cite=("it",)))
    assert (SCORED, 0.0) == (column.status[0], column.values[0])


def test_an_open_score_is_the_same_for_the_same_citations_only() -> None:
    first, again, other = (_score(f"{PARAPHRASE}.", (name,)).answers for name in ("carry", "carry", "leave"))
    assert first is not None and again is not None and other is not None
    assert first[0] == again[0] != other[0]
    assert first[0] != 0


def test_a_rule_on_citations_is_open_where_untold_ones_could_break_it() -> None:
    observation = Observation("q", "c", stages=(SHOWN,), answer=f"{PARAPHRASE} [carry].", citations=("carry",))
    golden = GoldenSet((Case("q", "What do staff get?"),))
    gate = {"rules": [{"metric": CORRECTNESS, "at_least": 0.9}]}
    scored = assay.score(golden, [observation], metrics=(CORRECTNESS,), gate=gate)
    assert scored.decision is not None
    assert "PASS_WITH_RISK" == scored.decision.outcome
