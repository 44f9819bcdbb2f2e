"""The catalogue rows of answer metrics: grounding, citations, correctness, and the judge itself.

Scores by rules or by a judge always inform; they gate only after the scorer is calibrated against human labels
(ADR 0031).
"""

from __future__ import annotations

import math
from dataclasses import replace

from assay.graders import against_reference as reference
from assay.graders import attached, grounding
from assay.graders.base import Grader, Key
from assay.graders.instruments import JUDGE, RULES, how, outcome_column, outcomes_needed
from assay.graders.reading import CITED
from assay.graders.stages import CONTEXT

_BY = {"by": Key("", (RULES, JUDGE), "rules: the deterministic scorer; judge: recorded verdicts")}
_AGAINST = {"against": Key(CONTEXT, (CONTEXT, CITED), "the sources that claims are compared with")}
_UNDEFINED = "refused, nothing claimed, no context reported, or a chunk of it without text"
_UNCITED = "refused, nothing claimed, no citations, or a cited chunk without text"


def _answer_row(
    name: str,
    summary: str,
    source: str,
    undefined: str,
    *rubrics: str,
    lower: bool = False,
    yields: bool = False,
    keys: dict[str, Key] | None = None,
    rests_on: tuple[str, ...] = (),
) -> Grader:
    by = _BY if rubrics else {}
    return Grader(
        name=name,
        family="judged",
        summary=summary,
        source=source,
        direction="lower" if lower else "higher",
        keys=by | (keys or {}),
        undefined=undefined,
        needs=outcomes_needed,
        compute=outcome_column,
        yields_to_leaks=yields,
        rubrics=rubrics,
        uncalibrated=(RULES, JUDGE),
        rests_on=rests_on,
        explain=how,
    )


def _count_row(row: Grader) -> Grader:
    return replace(row, unit="count", high=math.inf)


GRADERS: tuple[Grader, ...] = (
    _answer_row(
        "faithfulness",
        "Share of the answer's claims that its sources support.",
        "`rag-trace` contract (context), answer audit record (cited chunks)",
        _UNDEFINED,
        grounding.RUBRIC,
        keys=_AGAINST,
    ),
    _count_row(
        _answer_row(
            "unsupported_claims",
            "Claims that the context does not support.",
            "`rag-trace` contract: unsupported_claim",
            _UNDEFINED,
            grounding.RUBRIC,
            lower=True,
            rests_on=("faithfulness",),
        )
    ),
    _count_row(
        _answer_row(
            "critical_hallucinations",
            "Claims that contradict the context; on critical cases all that it does not support.",
            "`rag-trace` contract; critical: tagged so, or to be refused",
            _UNDEFINED,
            grounding.RUBRIC,
            lower=True,
            rests_on=("faithfulness",),
        )
    ),
    _count_row(
        _answer_row(
            "contradiction_suspects",
            "Claims that nearly match a sentence of the context but change a fact or negate it.",
            "another number, date, unit or identifier, a negation or an opposite in a sentence that otherwise matches",
            _UNDEFINED,
            lower=True,
        )
    ),
    replace(
        _answer_row(
            "no_claims",
            "Whether an answer makes no claims although it does not refuse.",
            "such answers have no other score of this family",
            "refused, no context reported, or a chunk of it without text",
        ),
        direction="neutral",
        statistic="rate",
        uncalibrated=(),
    ),
    _answer_row(
        "citation_support",
        "Share of citations that support the claim next to them.",
        "answer audit record: exists ∧ reachable ∧ supports",
        _UNCITED,
        attached.RUBRIC,
        yields=True,
    ),
    _answer_row(
        "misattributed",
        "Share of citations next to a claim that another source of the context supports instead.",
        "`rag-trace` contract: bad_citation",
        f"{_UNCITED}; no citation next to a claim",
        attached.RUBRIC,
        grounding.RUBRIC,
        lower=True,
        rests_on=("citation_support", "faithfulness"),
    ),
    _answer_row(
        "hallucination_risk",
        "1 − faithfulness × citation support.",
        "answer audit record",
        f"{_UNDEFINED}; no citations",
        grounding.RUBRIC,
        attached.RUBRIC,
        lower=True,
        rests_on=("faithfulness", "citation_support"),
    ),
    _answer_row(
        "correctness",
        "How far the answer agrees with the reference.",
        "code benchmark, tool-side evaluator; a failed exact value, number, figure or pattern overrules a judge",
        "no answer expected, refused as the case accepts, or no reference",
        reference.CORRECTNESS,
        yields=True,
    ),
    _answer_row(
        "answer_similarity",
        "How similar the content words of answer and reference are.",
        "F1 of content stems by rarity, without the question's own words",
        "no answer expected, no reference, or one that holds only the question's words",
    ),
    _answer_row(
        "answer_relevance",
        "How far the answer addresses the question.",
        "`rag-trace` contract",
        "no answer expected, or refused",
        reference.RELEVANCE,
    ),
    replace(
        _answer_row(
            "judge_unscored",
            "Share of the requests about an answer for which the judge gave no usable verdict.",
            "an unscored verdict is never imputed",
            "nothing recorded",
            lower=True,
        ),
        instrument="judged",
        uncalibrated=(),
    ),
    replace(
        _answer_row(
            "judge_disagreement",
            "Whether judge and rules differ by more than 0.4 on faithfulness, citation support or correctness.",
            "tool-side evaluator: flags a case for review",
            "nothing measured by both",
            lower=True,
        ),
        instrument="judged",
        statistic="rate",
        uncalibrated=(),
    ),
)
