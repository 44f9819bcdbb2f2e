"""Whether the text of an answer states what its case requires: facts, keywords, an exact value or a number (ADR 0030).

Checks, the metric `correct_answer` and attribution all ask here, so that they count the same answers as wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from assay.records.golden_set import Case, Rubric
from assay.text.answer_matching import is_exact_match, partition_facts, score_keywords
from assay.text.normalisation import fold_text
from assay.text.stated_facts import FactJudgment, combine_states, judge_facts, judge_quantities


class AnswerQuality(NamedTuple):
    """Whether an answer is good (None: unknown), the signal that decided, missing, wrong and undecided facts.

    `unknown`: facts of which the rules cannot tell whether the answer states them, each with the reason.
    """

    good: bool | None
    signal: str
    missing: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def assess_answer_text(case: Case, answer: str) -> AnswerQuality | None:
    """Assess an answer by keywords and must-have facts, else by the exact or numeric reference.

    None if the case states none of these: then no rule can tell whether the answer is right.
    """
    by_facts = _assess_facts(case, answer)
    return by_facts if by_facts is not None else _assess_reference(case, answer)


def find_text_signal(case: Case) -> str | None:
    """Return what decides whether the text of an answer is good, None if the case states nothing to look for."""
    rubric = case.rubric
    has_facts = any(fold_text(fact) for fact in case.must_have)
    has_keywords = rubric is not None and any(fold_text(keyword) for keyword in rubric.correct_keywords)
    if has_facts and has_keywords:
        return "must-have facts and keywords"
    if has_facts:
        return "must-have facts"
    if has_keywords:
        return "keywords"
    if rubric is None or not case.reference:
        return None
    return {"exact": "exact_match", "number": "number_match"}.get(rubric.kind)


def _assess_facts(case: Case, answer: str) -> AnswerQuality | None:
    """Require every must-have fact, the keywords (any or all of them) and no incorrect pattern.

    An incorrect pattern next to all correct keywords, without hedging, is taken as history and not as an error: the
    keyword rubric looks at correct keywords first (ADR 0038).
    """
    facts = [fact for fact in case.must_have if fold_text(fact)]
    rubric = case.rubric
    keywords = [keyword for keyword in rubric.correct_keywords if fold_text(keyword)] if rubric is not None else []
    if not facts and not keywords:
        return None
    judgments = judge_facts(answer, facts, case.question, case.reference or "")
    unknown = [_explain_judgment(judgment) for judgment in judgments if judgment.state == "unknown"]
    absent = [judgment.fact for judgment in judgments if judgment.state in ("denied", "missing")]
    missing = [fact for fact in absent if not _is_denied_as_in_reference(case, answer, fact)]
    wrong: tuple[str, ...] = ()
    if rubric is not None and keywords:
        by_keywords = _assess_keywords(case, rubric, keywords, answer, has_missing_facts=bool(missing))
        missing += [keyword for keyword in by_keywords.missing if keyword not in missing]
        unknown += by_keywords.unknown
        wrong = by_keywords.wrong
    elif rubric is not None:
        wrong = tuple(partition_facts(answer, rubric.incorrect_patterns)[0])
    good = False if missing or wrong else None if unknown else True
    return AnswerQuality(good, find_text_signal(case) or "", tuple(missing), wrong, tuple(unknown))


def _assess_keywords(
    case: Case, rubric: Rubric, keywords: Sequence[str], answer: str, *, has_missing_facts: bool
) -> AnswerQuality:
    """Return which keywords are missing or unknown, and the incorrect patterns that count; `good` is not set."""
    grade = score_keywords(answer, keywords, rubric.incorrect_patterns, rubric.match, case.question)
    judgments = judge_facts(answer, keywords, case.question, case.reference or "")
    states = {judgment.fact: judgment.state for judgment in judgments}
    unknown = [judgment for judgment in judgments if judgment.state == "unknown"]
    is_any_stated = any(states.get(keyword) == "stated" for keyword in grade.matched)
    needs_more = rubric.match == "all" or not is_any_stated
    missing: tuple[str, ...] = ()
    if grade.missing and needs_more and (rubric.match == "all" or not unknown):
        missing = grade.missing
    wrong = grade.incorrect_matched if missing or has_missing_facts or grade.hedged else ()
    undecided = tuple(map(_explain_judgment, unknown)) if needs_more else ()
    return AnswerQuality(None, "keywords", missing, wrong, undecided)


def _explain_judgment(judgment: FactJudgment) -> str:
    return f"{judgment.fact} ({judgment.reason})"


def _is_denied_as_in_reference(case: Case, answer: str, fact: str) -> bool:
    """Return whether an answer denies a fact in which the reference denies it too: there the denial belongs to it."""
    folded_fact, reference = fold_text(fact), case.reference or ""
    if folded_fact not in fold_text(reference) or folded_fact not in fold_text(answer):
        return False
    return not partition_facts(reference, [fact])[0]


def _assess_reference(case: Case, answer: str) -> AnswerQuality | None:
    """Compare with the reference or its numbers, if the case asks for an exact match.

    Where it does not, an answer that is the reference word for word is right, and of any other this rule tells nothing.
    """
    rubric, reference = case.rubric, case.reference
    if not reference:
        return None
    if rubric is None or rubric.kind == "text":
        return AnswerQuality(True, "the reference, verbatim") if is_exact_match(answer, reference) else None
    if rubric.kind == "exact":
        is_equal = is_exact_match(answer, reference)
        return AnswerQuality(is_equal, "exact_match", () if is_equal else (reference,))
    judgments = judge_quantities(answer, reference, Decimal(repr(float(rubric.tolerance))), case.question)
    if not judgments:
        return None
    good = combine_states(judgment.state for judgment in judgments)
    unknown = tuple(_explain_judgment(judgment) for judgment in judgments if judgment.state == "unknown")
    missing = tuple(judgment.fact for judgment in judgments if judgment.state in ("denied", "missing"))
    return AnswerQuality(good, "number_match", missing, (), unknown)
