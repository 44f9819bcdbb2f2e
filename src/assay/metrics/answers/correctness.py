"""Correctness, completeness and relevance: answers compared with reference, must-have facts, keywords and question.

By deterministic rules of text (keywords, exact values, numbers, facts that must be present), or by a judge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Literal

import numpy as np
from msgspec import Struct, structs

from assay.metrics.answer_metric import (
    BY_COMBINED,
    BY_ENTAILMENT,
    BY_JUDGE,
    BY_RULES,
    Scorers,
    add_judge_scorer,
    define_answer_metric,
)
from assay.metrics.answers.answer_behaviour import (
    ANSWER_BEHAVIOUR,
    BEHAVIOUR_BITS,
    BEHAVIOUR_CODES,
    REFUSALS,
    AnswerFacts,
)
from assay.metrics.answers.entailed_reference import score_correctness_by_entailment
from assay.metrics.answers.expected_text import (
    UNKNOWN,
    FactReading,
    TextScore,
    advise_open_answer,
    explain_judgments,
    find_label_doubt,
    find_veto,
    list_facts_without_figures,
    read_facts,
)
from assay.metrics.answers.rubric_metrics import (
    EMPTY_ANSWER,
    NO_FACTS,
    NO_REFERENCE,
    MissingInput,
    collect_rubric_inputs,
    judge_labelled_rubric,
    judge_rubric,
    make_rubric_requests,
)
from assay.metrics.cases.case_index import CaseIndex
from assay.metrics.cases.settled_answers import AnswerDecision, SettledMetric, find_decision, mark_settled
from assay.metrics.grounding.combined_support import (
    UNCALIBRATED_ANSWER_CURVE,
    collect_judge_labels,
    compute_combined_probability,
    select_curve,
)
from assay.metrics.grounding.pasted_passages import find_pasted_passage
from assay.metrics.judged.judge_requests import (
    JudgeDialogue,
    Outcome,
    Rubrics,
    collect_labels,
    find_rubric,
    make_item_requests,
    not_applicable_outcome,
    scored_outcome,
    unscored_outcome,
)
from assay.metrics.metric import (
    Batch,
    FactKey,
    JoinedRows,
    Metric,
    MetricKey,
    MetricName,
    make_score_column,
    rows_not_applicable,
)
from assay.metrics.parsed_answer import REFUSED, ParsedAnswer, find_calibration, format_list
from assay.records.golden_set import BEHAVIOURS
from assay.records.scores import SCORED, ScoreColumn
from assay.text.answer_similarity import compute_answer_similarity
from assay.text.facts.fact_judgments import FactJudgment

CORRECT_ANSWER: Literal["correct_answer"] = "correct_answer"
CORRECTNESS, COMPLETENESS, RELEVANCE = "correctness", "completeness", "relevance"


UNKNOWN_REASON = "unknown: the rules cannot tell whether the answer states what the case requires"


def _score_keywords(case: CaseIndex, answer: str) -> TextScore:
    graded = read_facts(case.case, answer, case.source_sentences).keyword_score
    if graded is None:
        return None
    return UNKNOWN if graded.score is None and graded.unknown else graded.score


def _score_keyword_ambiguity(case: CaseIndex, answer: str) -> TextScore:
    graded = read_facts(case.case, answer, case.source_sentences).keyword_score
    if graded is None or not (graded.matched or graded.missing or graded.unknown):
        return None
    return float(graded.hedged or graded.negated)


def _score_exact_match(case: CaseIndex, answer: str) -> TextScore:
    is_exact = read_facts(case.case, answer, case.source_sentences).is_exact
    return None if is_exact is None else float(is_exact)


def _score_number_match(case: CaseIndex, answer: str) -> TextScore:
    return read_facts(case.case, answer, case.source_sentences).number_match


def _score_facts(case: CaseIndex, answer: str) -> TextScore:
    return read_facts(case.case, answer, case.source_sentences).completeness


def _score_denied_facts(case: CaseIndex, answer: str) -> TextScore:
    return read_facts(case.case, answer, case.source_sentences).denied_facts


def _score_stated_expectations(case: CaseIndex, answer: str, *, is_passage: bool = False) -> TextScore:
    return read_facts(case.case, answer, case.source_sentences, is_passage=is_passage).correct_answer


TEXT_RULES: dict[str, Callable[[CaseIndex, str], TextScore]] = {
    "keywords": _score_keywords,
    "keywords_ambiguous": _score_keyword_ambiguity,
    "exact_match": _score_exact_match,
    "number_match": _score_number_match,
    "completeness": _score_facts,
    "denied_facts": _score_denied_facts,
    CORRECT_ANSWER: _score_stated_expectations,
}
"""The score of a case and an answer; None where the case states nothing to look for."""

CORRECTNESS_RULES = ("keywords", "completeness", "exact_match", "number_match")
"""The rules for correctness, in the order in which `correct_answer` looks at them; the first that applies decides."""


def apply_first_rule(case: CaseIndex, answer: str) -> tuple[str, float | Literal["unknown"]] | None:
    """Return the name and score of the first rule that applies to a case, or None; the score may be unknown.

    Beside keywords, must-have facts count too: the lower share is returned. What `correct_answer` calls wrong is never
    1: an incorrect pattern makes it 0.
    """
    for name in CORRECTNESS_RULES:
        value = TEXT_RULES[name](case, answer)
        if value is not None:
            break
    else:
        return None
    completeness = TEXT_RULES[COMPLETENESS](case, answer)
    if isinstance(completeness, float) and value != UNKNOWN and completeness < value:
        name, value = COMPLETENESS, completeness
    if value == 1 and TEXT_RULES[CORRECT_ANSWER](case, answer) == 0:
        return CORRECT_ANSWER, 0.0
    return name, value


def is_answer_open(reading: ParsedAnswer) -> bool:
    """Return whether the rules cannot tell if an answer is right, or flag its keywords as hedged or negated, and no
    person decided about it."""
    if no_answer_reason(reading.case) or is_accepted_refusal(reading) or not reading.answer.strip():
        return False
    decision = find_decision(reading.case.case, CORRECT_ANSWER, reading.answer)
    if decision is not None:
        return decision.is_disputed
    if reading.behaviour in REFUSALS:
        return False
    ambiguous = TEXT_RULES["keywords_ambiguous"](reading.case, reading.answer)
    return _score_reading(reading) == UNKNOWN or ambiguous == 1


def _score_reading(reading: ParsedAnswer) -> TextScore:
    """Return whether an answer states what its case requires, with what was shown beside it."""
    return _read_facts(reading).correct_answer


def _read_facts(reading: ParsedAnswer) -> FactReading:
    is_passage = find_pasted_passage(reading.case, reading.observation) is not None
    return read_facts(reading.case.case, reading.answer, reading.case.source_sentences, is_passage=is_passage)


def list_open_metrics(reading: ParsedAnswer) -> list[SettledMetric]:
    """Return what neither rules nor people tell of an answer: what it does, and whether it is right."""
    metrics: list[SettledMetric] = []
    if reading.behaviour == UNKNOWN:
        metrics.append("behaviour")
    if reading.behaviour in (UNKNOWN, ANSWER_BEHAVIOUR) and not no_answer_reason(reading.case):
        score = _score_reading(reading)
        if score == UNKNOWN or (score is None and reading.case.case.behaviour == ANSWER_BEHAVIOUR):
            metrics.append(CORRECT_ANSWER)
    return metrics


def _text_column(batch: Batch, name: MetricName) -> ScoreColumn:
    facts, rule = batch.get_facts(AnswerFacts), TEXT_RULES[name.base]
    values = np.zeros(len(facts.cases))
    unstated = np.ones(len(facts.cases), dtype=np.bool_)
    unknown = np.zeros(len(facts.cases), dtype=np.bool_)
    is_refusal = facts.find_wrong_refusals(batch) if name.base == CORRECT_ANSWER else np.zeros_like(unknown)
    for row in facts.checkable_rows:
        graded = _score_row(facts, row) if name.base == CORRECT_ANSWER else rule(facts.cases[row], facts.texts[row])
        if graded == UNKNOWN and not is_refusal[row]:
            unknown[row] = True
        elif graded is not None and graded != UNKNOWN:
            values[row] = graded
        unstated[row] = graded is None
    column = make_score_column(
        name,
        values,
        rows_not_applicable(
            (batch.behaviour_codes[1] & BEHAVIOUR_BITS[ANSWER_BEHAVIOUR]) == 0, "no answer is expected"
        ),
        rows_not_applicable(unstated, "the case states nothing to look for"),
        *facts.unscored_conditions(batch),
        rows_not_applicable(facts.find_accepted_refusals(batch), REFUSED),
        rows_not_applicable(unknown, UNKNOWN_REASON),
    )
    return mark_settled(column, _list_decisions(facts)) if name.base == CORRECT_ANSWER else column


def _score_row(facts: AnswerFacts, row: int) -> TextScore:
    return _score_stated_expectations(facts.cases[row], facts.texts[row], is_passage=facts.is_passage[row])


def _list_decisions(facts: AnswerFacts) -> dict[int, AnswerDecision]:
    """Return what people decided about the answers, by row, and whether the rules read them otherwise."""
    decisions = facts.find_decisions(CORRECT_ANSWER)
    for row, decision in decisions.items():
        if read_facts(facts.cases[row].case, facts.texts[row], facts.cases[row].source_sentences).is_against_rules:
            decisions[row] = structs.replace(decision, is_against_rules=True)
    return decisions


def _unknown_column(batch: Batch, name: MetricName) -> ScoreColumn:
    """1 where the rules cannot tell whether the answer is right; similarity to a reference alone tells nothing."""
    facts = batch.get_facts(AnswerFacts)
    graded = {row: _score_row(facts, row) for row in facts.checkable_rows}
    behaviours = facts.observed_behaviours[0]
    values = np.zeros(len(facts.cases))
    for row, case in enumerate(facts.cases):
        score = graded.get(row)
        is_open = score is None and case.case.behaviour == ANSWER_BEHAVIOUR
        if behaviours[row] == BEHAVIOUR_CODES[ANSWER_BEHAVIOUR] and (score == UNKNOWN or is_open):
            values[row] = 1.0
    return make_score_column(
        name,
        values,
        rows_not_applicable(
            (batch.behaviour_codes[1] & BEHAVIOUR_BITS[ANSWER_BEHAVIOUR]) == 0, "no answer is expected"
        ),
        *facts.unscored_conditions(batch),
        rows_not_applicable(facts.find_accepted_refusals(batch), REFUSED),
    )


def _need_answers(_: MetricName) -> tuple[FactKey, ...]:
    return ((AnswerFacts, ()),)


def _read_facts_of_row(rows: JoinedRows) -> FactReading:
    """Return how the answer of the only row relates to what its case looks for."""
    case, observation = rows.cases[0], rows.observations[0]
    answer = observation.answer if isinstance(observation.answer, str) else ""
    is_passage = find_pasted_passage(case, observation) is not None
    return read_facts(case.case, answer, case.source_sentences, is_passage=is_passage)


def _explain_missing_facts(rows: JoinedRows, _: MetricName) -> str:
    judgments = _read_facts_of_row(rows).must_have
    missing = [judgment.fact for judgment in judgments if judgment.state == "missing"]
    unknown = explain_judgments(judgment for judgment in judgments if judgment.state == UNKNOWN)
    parts = (
        format_list(CONTRADICTED, _list_denials(judgments)),
        format_list("missing", missing),
        format_list("unknown", unknown),
    )
    return "; ".join(filter(None, parts))


CONTRADICTED = "contradicted"
"""What the answer does with a must-have fact that it denies, in the words of a reader."""


def _list_denials(judgments: Iterable[FactJudgment]) -> list[str]:
    return explain_judgments(judgment for judgment in judgments if judgment.state == "denied")


def _explain_denied_facts(rows: JoinedRows, _: MetricName) -> str:
    return format_list(CONTRADICTED, _list_denials(_read_facts_of_row(rows).must_have))


def _explain_expectations(rows: JoinedRows, _: MetricName) -> str:
    reading = _read_facts_of_row(rows)
    quality = reading.quality
    if reading.decision is not None and reading.decision.is_disputed:
        return reading.decision.reason
    if quality is None or quality.good:
        return f"by {quality.signal}" if quality is not None else ""
    if quality.good is None and (refusal := _describe_wrong_refusal(rows)):
        return refusal
    if quality.good is None:
        advice = advise_open_answer(rows.cases[0].case)
        return f"by {quality.signal}: {format_list('left open', quality.unknown)}; {advice}"
    parts = [f"{CONTRADICTED}: {'; '.join(quality.denials)}"] if quality.denials else []
    parts += [f"missing: {'; '.join(quality.absent)}"] if quality.absent else []
    parts += [f"wrong: {'; '.join(quality.wrong)}"] if quality.wrong else []
    return f"by {quality.signal}: {', '.join(parts)}" if parts else f"by {quality.signal}"


def _describe_wrong_refusal(rows: JoinedRows) -> str:
    """Return that the answer of the only row refuses where an answer is expected; "" where it does not."""
    facts = AnswerFacts()
    facts.add(rows)
    behaviour = int(facts.observed_behaviours[0][0])
    refusal = BEHAVIOURS[behaviour] if behaviour >= 0 else ""
    is_accepted = bool(rows.cases[0].accepted_bits >> max(behaviour, 0) & 1)
    return (
        f"by behaviour: read as {refusal}, where an answer is expected"
        if refusal in REFUSALS and not is_accepted
        else ""
    )


def _text_row(name: str, summary: str, source: str) -> Metric:
    return Metric(name, "answer", summary, source, needs=_need_answers, compute=_text_column, yields_to_leaks=True)


SIMILARITY = "answer_similarity"
_ANSWER_BIT = 1 << BEHAVIOURS.index("answer")


def no_answer_reason(case: CaseIndex) -> str:
    """Return why the case needs no answer, or "" if one is expected or accepted."""
    return "" if case.accepted_bits & _ANSWER_BIT else "no answer is expected"


def is_accepted_refusal(reading: ParsedAnswer) -> bool:
    """Return whether the answer is a refusal or a question back that the case accepts."""
    accepted_refusals = reading.case.accepted_bits & ~_ANSWER_BIT
    # Most cases accept no refusal, so this comes before the text is classified.
    if not accepted_refusals or not (reading.is_refusal or reading.behaviour == "clarify"):
        return False
    return bool(accepted_refusals >> BEHAVIOURS.index(reading.behaviour) & 1)


# ── by rules ─────────────────────────────────────────────────────────────────────────────────────────────────────


def score_similarity(reading: ParsedAnswer) -> Outcome:
    """How similar the content words of answer and reference are, those of the question left out."""
    if not reading.case.case.reference:
        return not_applicable_outcome("no reference")
    value = reading.similarity
    if value is None:
        return not_applicable_outcome("the reference holds nothing beyond the question")
    return scored_outcome(value)


def score_correctness_by_rules(reading: ParsedAnswer) -> Outcome:
    """The first of keywords, facts, exact value and number that the case states, else the similarity."""
    if is_accepted_refusal(reading):
        return not_applicable_outcome(REFUSED)
    rule_value = apply_first_rule(reading.case, reading.answer)
    if rule_value is not None:
        name, value = rule_value
        if value == 1 and _score_reading(reading) == UNKNOWN:
            name, value = CORRECT_ANSWER, UNKNOWN
        if value == UNKNOWN and reading.behaviour in REFUSALS:
            return scored_outcome(0.0, f"by behaviour: read as {reading.behaviour}, where an answer is expected")
        if value == UNKNOWN:
            return not_applicable_outcome(UNKNOWN_REASON)._replace(detail=f"by {name}: {_list_left_open(reading)}")
        return scored_outcome(value, f"by {name}")
    outcome = score_similarity(reading)
    return outcome._replace(detail=f"by {SIMILARITY}")


def _list_left_open(reading: ParsedAnswer) -> str:
    quality = _read_facts(reading).quality
    return format_list("left open", quality.unknown) if quality is not None else ""


def score_relevance_by_rules(reading: ParsedAnswer) -> Outcome:
    """How far the answer repeats the question's words, or agrees with the reference."""
    if reading.is_refusal:
        return not_applicable_outcome(REFUSED)
    case = reading.case.case
    similarity = score_similarity(reading)
    question_overlap = compute_answer_similarity(reading.answer, case.question, "", reading.case.golden_index.idf)
    return scored_outcome(max(similarity.value, question_overlap or 0.0))


# ── by a judge ───────────────────────────────────────────────────────────────────────────────────────────────────


def judge_correctness(reading: ParsedAnswer, rubrics: Rubrics) -> JudgeDialogue:
    """The judge's grade, capped where a deterministic rule shows the answer to be wrong.

    An answer that the judge calls right against what the rules find has no grade before a person has looked at it; what
    a person says is not capped.
    """
    case = reading.case.case
    if not (case.reference or case.must_have):
        return not_applicable_outcome(NO_REFERENCE)
    if is_accepted_refusal(reading):
        return not_applicable_outcome(REFUSED)
    outcome, labels = yield from judge_labelled_rubric(reading, rubrics, CORRECTNESS)
    if not outcome.value or any(label.by_person for label in labels.values()):
        return outcome
    failed_rule = find_veto(case, reading.answer, reading.case.source_sentences)
    if failed_rule is not None and outcome.value > failed_rule.max_score:
        return scored_outcome(failed_rule.max_score, f"{outcome.detail}, vetoed by {failed_rule.rule}")
    doubt = find_label_doubt(case, reading.answer, reading.case.source_sentences) if outcome.value == 1 else None
    if doubt is None:
        return outcome
    return unscored_outcome(doubt.reason)._replace(detail=f"{outcome.detail}, but {doubt.detail}")


CORRECTNESS_COMBINED = "correctness(by=combined)"
_SIMILARITY_WEIGHT = 0.5
"""Of a similarity to the reference in place of a rule that decides."""


class AnswerPrior(Struct, frozen=True):
    """What the rules say of a whole answer before a judge: `signal` from −1 (wrong) over 0 (open) to 1 (right).

    `cap` is the highest grade of a judge that they leave: below 1 where a rule vetoes it.
    """

    signal: float
    cap: float


def read_answer_prior(reading: ParsedAnswer) -> AnswerPrior | None:
    """Return the prior of an answer; None where no judge grades it."""
    case = reading.case.case
    if no_answer_reason(reading.case) or not (case.reference or case.must_have) or is_accepted_refusal(reading):
        return None
    veto = find_veto(case, reading.answer, reading.case.source_sentences)
    rule_value = apply_first_rule(reading.case, reading.answer)
    if rule_value is not None:
        value = rule_value[1]
        signal = 0.0 if value == UNKNOWN else 2 * value - 1
    else:
        outcome = score_similarity(reading)
        signal = _SIMILARITY_WEIGHT * (2 * outcome.value - 1) if outcome.status == SCORED else 0.0
    return AnswerPrior(signal, 1.0 if veto is None else veto.max_score)


def combine_correctness(reading: ParsedAnswer, rubrics: Rubrics) -> JudgeDialogue:
    """The probability that an answer is right, by judge and rules together; a veto caps the judge's grade first.

    The rules decide what the judge left open, and between "right" and "wrong" where it says "partly". What a person
    says is not capped.
    """
    prior = read_answer_prior(reading)
    if prior is None:
        return not_applicable_outcome(REFUSED if is_accepted_refusal(reading) else NO_REFERENCE)
    inputs = collect_rubric_inputs(find_rubric(rubrics, CORRECTNESS, reading.language), reading)
    if isinstance(inputs, MissingInput):
        return not_applicable_outcome(inputs.reason)
    judged: float | None = 0.0
    is_by_person = False
    if reading.answer.strip():
        rubric = find_rubric(rubrics, CORRECTNESS, reading.language)
        requests = reading.cached_requests(CORRECTNESS, "", lambda: make_rubric_requests(rubric, inputs))
        labels = yield from collect_judge_labels(requests)
        if isinstance(labels, Outcome):
            return labels
        label = next(iter(labels.values()), None)
        judged = label.value if label is not None else None
        is_by_person = label is not None and label.by_person
    if judged is not None and not is_by_person:
        judged = min(judged, prior.cap)
    curve = select_curve(find_calibration(reading, CORRECTNESS_COMBINED), UNCALIBRATED_ANSWER_CURVE)
    probability = compute_combined_probability(prior.signal, judged, curve)
    opinion = "none" if judged is None else f"{judged:g}"
    return scored_outcome(probability, f"judge {opinion}, rules {prior.signal:+.2f}, together {probability:.2f}")


def judge_relevance(reading: ParsedAnswer, rubrics: Rubrics) -> JudgeDialogue:
    """How far the answer addresses the question."""
    if reading.is_refusal:
        return not_applicable_outcome(REFUSED)
    return (yield from judge_rubric(reading, rubrics, RELEVANCE))


def judge_completeness(reading: ParsedAnswer, rubrics: Rubrics) -> JudgeDialogue:
    """The mean of the labels of the must-have facts; a fact whose figures are missing counts as not stated."""
    facts = {f"f{number}": fact for number, fact in enumerate(reading.case.case.must_have, 1)}
    if not facts:
        return not_applicable_outcome(NO_FACTS)
    if is_accepted_refusal(reading):
        return not_applicable_outcome(REFUSED)
    if not reading.answer.strip():
        return scored_outcome(0.0, EMPTY_ANSWER)
    entries = [{"id": fact_id, "text": fact} for fact_id, fact in facts.items()]
    other_inputs = {"question": reading.question, "answer": reading.answer}
    rubric = find_rubric(rubrics, COMPLETENESS, reading.language)
    requests = reading.cached_requests(
        COMPLETENESS, "", lambda: make_item_requests(rubric, "facts", entries, other_inputs)
    )
    labels = collect_labels((yield requests), requests)
    if isinstance(labels, Outcome):
        return labels
    facts_lacking_figures = list_facts_without_figures(
        read_facts(reading.case.case, reading.answer, reading.case.source_sentences), reading.answer
    )
    vetoed_ids = {
        fact_id for fact_id, fact in facts.items() if labels[fact_id].value == 1 and fact in facts_lacking_figures
    }
    values = [0.0 if fact_id in vetoed_ids else labels[fact_id].value or 0.0 for fact_id in facts]
    lacking = []
    for fact_id, fact in facts.items():
        label = labels[fact_id]
        if fact_id in vetoed_ids:
            lacking.append(f"{fact} ({label.label}, vetoed: without its figures)")
        elif label.value != 1:
            lacking.append(f"{fact} ({label.label})")
    return scored_outcome(math.fsum(values) / len(values), format_list("lacking", lacking))


_BY = {"by": MetricKey("", ("rules", "judge"), "rules: matching of text; judge: a recorded verdict")}

TEXT_METRICS: tuple[Metric, ...] = (
    _text_row("keywords", "Share of the case's keywords in the answer, correct ones first.", "keyword rubric"),
    structs.replace(
        _text_row(
            "keywords_ambiguous",
            "Whether the keyword score rests on a hedged or negated phrase.",
            "traps of the keyword rubric",
        ),
        direction="lower",
        statistic="rate",
        yields_to_leaks=False,
    ),
    _text_row(
        "exact_match",
        "Whether the answer is the reference, but for case, spacing and outer punctuation.",
        "`rag-trace` contract",
    ),
    _text_row(
        "number_match", "Whether the answer holds the reference's numbers, with their units.", "`rag-trace` contract"
    ),
    structs.replace(
        _text_row(
            CORRECT_ANSWER,
            "Whether the answer states everything that the case requires: facts, keywords, an exact value or a number.",
            "ADR 0030: each must-have fact, the keywords by the case's match, else the exact or numeric reference",
        ),
        statistic="rate",
        explain=_explain_expectations,
    ),
    structs.replace(
        _text_row(
            "correct_answer_unknown",
            "Whether nothing tells if the answer is right: its words are open, or the case states nothing to look for.",
            "ADR 0047, ADR 0054",
        ),
        direction="lower",
        statistic="rate",
        compute=_unknown_column,
        explain=_explain_expectations,
        yields_to_leaks=False,
        counts_open=True,
    ),
    structs.replace(
        _text_row(
            "denied_facts",
            "Number of must-have facts that the answer contradicts: it negates them, or says something else of them.",
            "ADR 110",
        ),
        unit="count",
        direction="lower",
        high=float("inf"),
        explain=_explain_denied_facts,
        yields_to_leaks=False,
    ),
    add_judge_scorer(
        structs.replace(
            _text_row(
                "completeness",
                "Share of the must-have facts that the answer holds.",
                "`rag-trace` contract, tool-side evaluator",
            ),
            keys=_BY,
            explain=_explain_missing_facts,
        ),
        judge_completeness,
        (COMPLETENESS,),
        exemption_reason=no_answer_reason,
    ),
)


def _score_correctness_by_entailment(reading: ParsedAnswer) -> Outcome:
    if is_accepted_refusal(reading):
        return not_applicable_outcome(REFUSED)
    return score_correctness_by_entailment(reading)


_CORRECTNESS_KEY = {
    "by": MetricKey(
        "",
        (BY_RULES, BY_JUDGE, BY_COMBINED, BY_ENTAILMENT),
        "rules: the deterministic scorer; judge: recorded verdicts; combined: both, with weights from human labels; "
        "entailment: a local model",
    )
}
REFERENCE_METRICS: tuple[Metric, ...] = (
    define_answer_metric(
        "correctness",
        "How far the answer agrees with the reference.",
        "code benchmark, tool-side evaluator; a failed exact value, number, figure or pattern overrules a judge",
        "no answer expected, refused as the case accepts, or no reference",
        Scorers(
            score_correctness_by_rules,
            judge_correctness,
            no_answer_reason,
            combined=combine_correctness,
            entailment=_score_correctness_by_entailment,
        ),
        rubrics=(CORRECTNESS,),
        keys=_CORRECTNESS_KEY,
        yields_to_leaks=True,
    ),
    define_answer_metric(
        SIMILARITY,
        "How similar the content words of answer and reference are.",
        "F1 of content stems by rarity, without the question's own words",
        "no answer expected, no reference, or one that holds only the question's words",
        Scorers(score_similarity, exemption_reason=no_answer_reason),
    ),
    define_answer_metric(
        "answer_relevance",
        "How far the answer addresses the question.",
        "`rag-trace` contract",
        "no answer expected, or refused",
        Scorers(score_relevance_by_rules, judge_relevance, no_answer_reason),
        rubrics=(RELEVANCE,),
    ),
)
