"""Variants that a model writes: what it is asked, and what is thrown away of its replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.golden.drafting_prompts import DECLINED, make_vary_request
from assay.golden.orders import is_ordering
from assay.golden.twin_cases.twin_draft import (
    KINDS_FOR_A_MODEL,
    DraftedVariant,
    TwinDrafter,
    VariantFault,
    VariantKind,
    find_case_language,
    make_variant,
)
from assay.records.golden_set import Case
from assay.records.verdicts import JudgeRequest, Verdict
from assay.text.languages import KnownLanguage, guess_language
from assay.text.normalisation import fold_text
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity_agreement import is_same_quantity
from assay.text.question_entities import find_missing_entities, find_question_entities
from assay.text.tokens import tokenise_text

_OTHER: Mapping[KnownLanguage, KnownLanguage] = {"en": "vi", "vi": "en"}


class PlannedVariant(NamedTuple):
    """A variant to ask a model for: the case, the kind, the language to write in, and the request."""

    case: Case
    kind: VariantKind
    language: KnownLanguage
    request: JudgeRequest


def plan_variants(cases: Sequence[Case], drafter: TwinDrafter) -> list[PlannedVariant]:
    """Return what to ask a model for: each of the kinds that no rule can do, for each case in a known language."""
    planned = []
    for case in cases:
        language = find_case_language(case)
        if language is None or case.variant_of is not None or not case.question.strip():
            continue
        for kind in KINDS_FOR_A_MODEL:
            if kind not in drafter.kinds or (kind == "negated" and case.behaviour != "answer"):
                continue
            target = _OTHER[language] if kind == "other-language" else language
            planned.append(PlannedVariant(case, kind, target, make_vary_request(kind, case.question, target)))
    return planned


def read_variants(
    planned: Sequence[PlannedVariant], replies: Mapping[str, Verdict], model: str, seed: int
) -> dict[str, list[DraftedVariant]]:
    """Return the variants in a model's replies by the id of their case, with why one is left out."""
    by_case: dict[str, list[DraftedVariant]] = {}
    for plan in planned:
        verdict = replies.get(plan.request.digest)
        item = verdict.items[0] if verdict is not None and verdict.items and verdict.unscored is None else None
        question = item.reasoning if item is not None and item.label != DECLINED else plan.case.question
        changes = {"question": question, **({"language": plan.language} if plan.kind == "other-language" else {})}
        variant = make_variant(plan.case, plan.kind, "a model", changes, seed, model)
        fault: VariantFault | None
        if item is None:
            fault = "no-reply", verdict.message if verdict is not None else "not asked"
        elif item.label == DECLINED:
            fault = "declined", ""
        else:
            fault = next(_find_faults(plan, question), None)
        by_case.setdefault(plan.case.id, []).append((variant, fault))
    return by_case


def _find_faults(plan: PlannedVariant, question: str) -> Iterator[VariantFault]:
    case = plan.case
    if is_ordering(question) and not is_ordering(case.question):
        yield "instruction", ""
    guessed = guess_language(question)
    if guessed is not None and guessed != plan.language:
        yield "other-language", guessed
    for fact in case.must_have:
        if fold_text(fact) in fold_text(question) and fold_text(fact) not in fold_text(case.question):
            yield "gives-answer-away", fact
    detail = _compare_facts(case.question, question)
    if detail:
        yield "other-facts", detail
    if plan.kind == "negated":
        yield "undecided", "the opposite question has an answer of its own: say what is right"
    worded = [fact for fact in case.must_have if not any(letter.isdigit() for letter in fact)]
    if plan.kind == "other-language" and worded:
        yield "undecided", f"must_have is in the words of another language: {worded[0]}"


def _compare_facts(original: str, question: str) -> str:
    """Return what a question lacks or adds of the quantities and codes of another, "" if nothing."""
    for first, second, verb in ((original, question, "lacks"), (question, original, "adds")):
        codes = [name for name in find_question_entities(first) if any(letter.isdigit() for letter in name)]
        missing = find_missing_entities(codes, [second])
        if missing:
            return f"{verb} {missing[0]}"
        others = find_measures(second)
        for measure in find_measures(first):
            text = first[measure.start : measure.end]
            is_shared = any(is_same_quantity(measure, other) for other in others)
            if not is_shared and not measure.is_spelled_one and set(tokenise_text(text)) - set(tokenise_text(second)):
                return f"{verb} {text}"
    return ""
