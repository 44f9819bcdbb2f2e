"""`golden twins`: drafts the variants that a system should treat alike, and those of which another answer is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from assay.formats.corpus import load_corpus
from assay.formats.file_io import write_atomically
from assay.formats.golden_files import load_golden, write_golden
from assay.golden.lint_finding import LintedSet
from assay.golden.model_client import ModelClient, ModelOptions
from assay.golden.model_effort import ModelEffort
from assay.golden.twin_cases.twin_draft import TwinDraft, TwinDrafter, VariantKind
from assay.golden.twin_cases.twin_model import plan_variants, read_variants
from assay.judging.call_scheduler import ReportProgress
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import ALIKE_KINDS, DIFFERING_KINDS, GoldenSet


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
