"""Whether the text of an answer states what its case requires: facts, keywords, an exact value or a number (ADR 0030).

Checks, the metric `correct_answer` and attribution all ask here, so that they count the same answers as wrong.
"""

from __future__ import annotations

from typing import NamedTuple

from assay.records.golden_set import Case
from assay.text.answer_matching import has_all_quantities, is_exact_match, partition_facts, score_keywords
from assay.text.normalisation import fold_text


class AnswerQuality(NamedTuple):
    """Whether an answer is good (None: unknown), the signal that decided, missing expected facts and wrong facts."""

    good: bool | None
    signal: str
    missing: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


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
    missing = [fact for fact in partition_facts(answer, facts)[1] if not _is_denied_as_in_reference(case, answer, fact)]
    wrong: tuple[str, ...] = ()
    if rubric is not None and keywords:
        grade = score_keywords(answer, keywords, rubric.incorrect_patterns, rubric.match)
        if grade.missing and (rubric.match == "all" or not grade.matched):
            missing += [keyword for keyword in grade.missing if keyword not in missing]
        wrong = grade.incorrect_matched if missing or grade.hedged else ()
    elif rubric is not None:
        wrong = tuple(partition_facts(answer, rubric.incorrect_patterns)[0])
    return AnswerQuality(not missing and not wrong, find_text_signal(case) or "", tuple(missing), wrong)


def _is_denied_as_in_reference(case: Case, answer: str, fact: str) -> bool:
    """Return whether an answer denies a fact in which the reference denies it too: there the denial belongs to it."""
    folded_fact, reference = fold_text(fact), case.reference or ""
    if folded_fact not in fold_text(reference) or folded_fact not in fold_text(answer):
        return False
    return not partition_facts(reference, [fact])[0]


def _assess_reference(case: Case, answer: str) -> AnswerQuality | None:
    """Compare with the reference or its numbers, if the case asks for an exact match."""
    rubric, reference = case.rubric, case.reference
    if rubric is None or rubric.kind == "text" or not reference:
        return None
    if rubric.kind == "exact":
        is_equal = is_exact_match(answer, reference)
        return AnswerQuality(is_equal, "exact_match", () if is_equal else (reference,))
    is_match = has_all_quantities(answer, reference, rubric.tolerance)
    return None if is_match is None else AnswerQuality(is_match, "number_match", () if is_match else (reference,))
