"""Drafts the variants of the cases of a set: each with the case that it varies, in one cluster with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import msgspec
from msgspec import Struct

from assay.golden.lint_finding import LintedSet
from assay.golden.model_effort import ModelEffort
from assay.golden.twin_cases.twin_contrasts import AskedQuestions, name_question, vary_expectation
from assay.golden.twin_cases.twin_rules import ALIKE_RULES, QuestionToVary, Rewriting, find_long_forms
from assay.records.golden_set import ALIKE_KINDS, DIFFERING_KINDS, AlikeKind, Case, DifferingKind
from assay.text.languages import KnownLanguage, guess_language
from assay.text.normalisation import fold_text, normalise_nfc
from assay.text.tokens import tokenise_text

VariantKind = AlikeKind | DifferingKind
LeftOutReason = Literal[
    "unchanged",
    "same-as-other",
    "undecided",
    "id-taken",
    "instruction",
    "gives-answer-away",
    "other-facts",
    "other-language",
    "declined",
    "no-reply",
]
LEFT_OUT_REASONS: dict[LeftOutReason, str] = {
    "unchanged": "the variant is the question itself",
    "same-as-other": "another case or variant is the same question",
    "undecided": "the corpus does not say what is right: for people to complete",
    "id-taken": "a case has this id already, such as the same variant from before",
    "instruction": "a model's variant orders a model about",
    "gives-answer-away": "a model's variant states what the answer must say",
    "other-facts": "a model's variant lacks a number, code or name of the question, or adds one",
    "other-language": "a model's variant is not in the language that was asked for",
    "declined": "the model finds no such variant",
    "no-reply": "the model gave no reply of the right form",
}
KINDS_FOR_A_MODEL: tuple[VariantKind, ...] = ("paraphrase", "other-language", "negated")
"""The kinds that no rule can do."""
DRAFTED_BY = "twins-1"
VariantFault = tuple[LeftOutReason, str]
DraftedVariant = tuple[Case, VariantFault | None]
"""A variant, and why it is left out with what was seen; None if it is not."""


class LeftOutVariant(Struct, frozen=True):
    """A variant that is not among the candidates, and why: a reason of `LEFT_OUT_REASONS` and what was seen."""

    case: Case
    reason: LeftOutReason
    detail: str = ""


class TwinDraft(Struct, frozen=True):
    """The variants of a set's cases, and those that were left out; `unvaried` are cases without a variant."""

    variants: tuple[Case, ...]
    left_out: tuple[LeftOutVariant, ...]
    unvaried: tuple[str, ...] = ()
    effort: ModelEffort | None = None

    @property
    def kinds(self) -> dict[str, int]:
        """How many variants of each kind there are, in the order of the kinds."""
        counts = Counter(case.variant for case in self.variants)
        return {kind: counts[kind] for kind in (*ALIKE_KINDS, *DIFFERING_KINDS) if counts[kind]}

    @property
    def reasons(self) -> dict[LeftOutReason, int]:
        """How many variants were left out for each reason."""
        return dict(sorted(Counter(variant.reason for variant in self.left_out).items()))


class TwinDrafter:
    """Drafts variants with a seed; what the rules look up in the set and its corpus is read once."""

    def __init__(self, linted: LintedSet, seed: int = 0, kinds: Collection[VariantKind] = ()) -> None:
        """`kinds` are the kinds to draft, all of them if it is empty."""
        self._linted, self._seed = linted, seed
        self._kinds = frozenset(kinds) or frozenset((*ALIKE_KINDS, *DIFFERING_KINDS))

    @property
    def kinds(self) -> frozenset[VariantKind]:
        """The kinds to draft."""
        return self._kinds

    def draft_all(self, by_model: Mapping[str, Sequence[DraftedVariant]] | None = None) -> TwinDraft:
        """Return the variants of all cases that are no variants themselves, in the order of the set.

        `by_model` are further variants, by the id of their case.
        """
        cases = self._linted.golden.cases
        taken = {case.id for case in cases}
        variants: list[Case] = []
        left_out: list[LeftOutVariant] = []
        unvaried: list[str] = []
        in_set = {name_question(case.question, case.user): case.id for case in cases}
        for case in cases:
            if case.variant_of is not None:
                continue
            before = len(variants)
            asked = {(normalise_nfc(case.question), case.user)}
            for variant, fault in (*self._draft(case, in_set), *(by_model or {}).get(case.id, ())):
                has_no_question = fault is not None and fault[0] in ("declined", "no-reply")
                repeated = None if has_no_question else _find_fault(variant, case, asked, taken)
                repeated = repeated or _find_repeated(variant, in_set)
                reason, detail = repeated or fault or (None, "")
                if reason is not None:
                    left_out.append(LeftOutVariant(variant, reason, detail))
                    continue
                asked.add((normalise_nfc(variant.question), variant.user))
                taken.add(variant.id)
                in_set.setdefault(name_question(variant.question, variant.user), variant.id)
                variants.append(variant)
            if len(variants) == before:
                unvaried.append(case.id)
        return TwinDraft(tuple(variants), tuple(left_out), tuple(unvaried))

    def _draft(self, case: Case, in_set: AskedQuestions) -> Iterator[DraftedVariant]:
        """Yield the variants of one case by rules, each with why it is left out, if it is."""
        if not case.question.strip():
            return
        for kind, rewriting in self._rewrite(case):
            yield make_variant(case, kind, rewriting.rule, {"question": rewriting.question}, self._seed), None
        for contrast in vary_expectation(case, self._linted, in_set):
            if contrast.kind in self._kinds:
                fault: VariantFault | None = ("undecided", contrast.undecided) if contrast.undecided else None
                yield make_variant(case, contrast.kind, contrast.rule, contrast.changes, self._seed), fault

    def _rewrite(self, case: Case) -> Iterator[tuple[AlikeKind, Rewriting]]:
        language = find_case_language(case)
        if language is None:
            return
        asked = QuestionToVary(case.question, language, f"{self._seed} {case.id}", self._vocabulary, self._long_forms)
        for kind, rule in ALIKE_RULES.items():
            if kind not in self._kinds or (kind == "no-diacritic" and language != "vi"):
                continue
            rewriting = rule(asked)
            if rewriting is not None and not _reveals_answer(rewriting.question, case):
                yield kind, rewriting

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        texts = [*self._linted.texts.values(), *(case.question for case in self._linted.golden.cases)]
        return frozenset(word for text in texts for word in tokenise_text(normalise_nfc(text).casefold()))

    @cached_property
    def _long_forms(self) -> dict[str, str]:
        return find_long_forms(self._linted.texts.values())


def _reveals_answer(question: str, case: Case) -> bool:
    """Return whether another wording states a fact that the question does not: an acronym that is to be spelled out."""
    own, other = fold_text(case.question), fold_text(question)
    facts = [fold_text(fact) for fact in case.must_have]
    return any(fact and fact in other and fact not in own for fact in facts)


def find_case_language(case: Case) -> KnownLanguage | None:
    """Return the language of a case if it is one that the rules know."""
    stated = (case.language or "").partition("-")[0].lower()
    if stated:
        return "vi" if stated == "vi" else "en" if stated == "en" else None
    return guess_language(case.question)


def make_variant(
    case: Case, kind: VariantKind, rule: str, changes: dict[str, Any], seed: int, drafted_by: str = DRAFTED_BY
) -> Case:
    """Return a variant of a case with other fields; it knows the case that it varies and is in its cluster."""
    provenance = {"drafted_by": drafted_by, "kind": kind, "rule": rule, "seed": seed}
    metadata = {name: value for name, value in case.metadata.items() if name != "provenance"}
    return msgspec.structs.replace(
        case,
        id=f"{case.id}~{kind}",
        cluster=case.cluster or case.id,
        variant_of=case.id,
        variant=kind,
        metadata={**metadata, "provenance": provenance},
        **changes,
    )


def _find_fault(
    variant: Case, case: Case, asked: Collection[tuple[str, Any]], taken: Collection[str]
) -> VariantFault | None:
    """Return why a variant is none: its id, or its question with its user, is another's."""
    key = normalise_nfc(variant.question), variant.user
    if variant.id in taken:
        return "id-taken", variant.id
    if key == (normalise_nfc(case.question), case.user):
        return "unchanged", ""
    return ("same-as-other", "") if key in asked else None


def _find_repeated(variant: Case, in_set: AskedQuestions) -> VariantFault | None:
    """Return the case or variant that asks what a variant about something else asks, for the same user."""
    other = in_set.get(name_question(variant.question, variant.user)) if variant.variant == "entity-swapped" else None
    return ("same-as-other", other) if other is not None else None
