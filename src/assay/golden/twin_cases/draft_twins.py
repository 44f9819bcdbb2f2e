"""`golden twins`: drafts the variants that a system should treat alike, and those of which another answer is right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from assay.formats.corpus import load_corpus
from assay.formats.file_io import write_atomically
from assay.formats.golden_files import load_golden, write_golden
from assay.golden.drafting_prompts import DECLINED, make_vary_request
from assay.golden.lint_finding import LintedSet
from assay.golden.model_client import ModelClient, ModelOptions
from assay.golden.model_effort import ModelEffort
from assay.golden.orders import is_ordering
from assay.golden.twin_cases.twin_draft import (
    KINDS_FOR_A_MODEL,
    DraftedVariant,
    TwinDraft,
    TwinDrafter,
    VariantFault,
    VariantKind,
    find_case_language,
    make_variant,
)
from assay.judging.call_scheduler import ReportProgress
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import ALIKE_KINDS, DIFFERING_KINDS, Case, GoldenSet
from assay.records.verdicts import JudgeRequest, Verdict
from assay.text.languages import KnownLanguage, guess_language
from assay.text.normalisation import fold_text
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity_agreement import is_same_quantity
from assay.text.question_entities import find_missing_entities, find_question_entities
from assay.text.tokens import tokenise_text


@dataclass(frozen=True, slots=True)
class TwinRequest:
    """What to vary, with which seed, and the files to write: `out` takes the variants, `left_out` the others.

    Without a corpus no variant is drafted of which another answer is right. `kinds` are the kinds to draft, all of them
    if it is empty.
    """

    golden: str
    corpus: str | None = None
    out: str | None = None
    left_out: str | None = None
    seed: int = 0
    kinds: Sequence[str] = ()
    model: ModelOptions | None = None


def draft_twin_file(
    request: TwinRequest, progress: ReportProgress | None = None, on_interrupt: Callable[[], None] = lambda: None
) -> TwinDraft:
    """Return the variants of a set's cases and write the files that are named; the same inputs give the same bytes.

    `progress` and `on_interrupt` are told about the calls of a model; once these are halted, the variants so far are
    written and `effort.halted` says why.
    Raises InputError for bad files and unknown kinds, and if there is no case to vary, SettingsError for a model that
    cannot be asked.
    """
    golden, drafter = _load_drafter(request)
    if request.model is None:
        draft = drafter.draft_all()
    else:
        client = ModelClient(request.model, progress, on_interrupt)
        planned = plan_variants(golden.cases, drafter)
        replies = client.ask_all(plan.request for plan in planned)
        draft = drafter.draft_all(read_variants(planned, replies, client.name, request.seed))
        draft = msgspec.structs.replace(draft, effort=client.effort)
    _write_draft(request, golden, draft)
    return draft


def estimate_twins(request: TwinRequest) -> ModelEffort:
    """Return what `draft_twin_file` would ask a model, without asking.

    Raises InputError for bad files and unknown kinds, SettingsError for a model that cannot be asked.
    """
    assert request.model is not None
    golden, drafter = _load_drafter(request)
    return ModelClient(request.model).estimate_effort(plan.request for plan in plan_variants(golden.cases, drafter))


def _load_drafter(request: TwinRequest) -> tuple[GoldenSet, TwinDrafter]:
    kinds: list[VariantKind] = [kind for kind in (*ALIKE_KINDS, *DIFFERING_KINDS) if kind in request.kinds]
    unknown = [kind for kind in request.kinds if kind not in kinds]
    if unknown:
        expected = ", ".join((*ALIKE_KINDS, *DIFFERING_KINDS))
        message = f"no such kind of variant (got {shorten_repr(unknown[0])}; expected {expected})"
        raise InputError([Problem("", None, "kinds", message, "E_VARIANT")])
    golden = load_golden(request.golden).golden
    if all(case.variant_of is not None or not case.question.strip() for case in golden.cases):
        message = "no case to vary (expected cases with a question that are no variants)"
        raise InputError([Problem(request.golden, None, "", message, "E_EMPTY")])
    corpus = load_corpus(request.corpus)[0] if request.corpus is not None else None
    return golden, TwinDrafter(LintedSet(golden, corpus), request.seed, kinds)


def _write_draft(request: TwinRequest, golden: GoldenSet, draft: TwinDraft) -> None:
    if request.out is not None and draft.variants:
        name = f"variants of {golden.name}" if golden.name else "variants"
        drafted = msgspec.structs.replace(
            golden,
            cases=draft.variants,
            name=name,
            split="candidates",
            silenced=(),
            verification=None,
            frozen_digest="",
        )
        write_golden(drafted, request.out)
    if request.left_out is not None:
        write_atomically(request.left_out, (msgspec.json.encode(row) + b"\n" for row in draft.left_out))


def twins(
    golden: str,
    *,
    corpus: str | None = None,
    out: str | None = None,
    left_out: str | None = None,
    seed: int = 0,
    kinds: Sequence[str] = (),
    model: ModelOptions | None = None,
) -> TwinDraft:
    """Return the variants of the cases of a golden set, which is a file; `out` and `left_out` are files to write.

    With a `model`, paraphrases, translations and negations are drafted too.
    Raises InputError for bad files and unknown kinds, and if there is no case to vary, SettingsError for a model that
    cannot be asked.
    """
    return draft_twin_file(TwinRequest(golden, corpus, out, left_out, seed, kinds, model))


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
