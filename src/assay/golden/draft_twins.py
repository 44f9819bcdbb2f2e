"""`golden twins`: drafts the variants that a system should treat alike, and those of which another answer is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from assay.formats.corpus import load_corpus
from assay.formats.file_io import write_atomically
from assay.formats.golden_files import load_golden, write_golden
from assay.golden.lint_finding import LintedSet
from assay.golden.twin_draft import TwinDraft, TwinDrafter, VariantKind
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import ALIKE_KINDS, DIFFERING_KINDS


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


def draft_twin_file(request: TwinRequest) -> TwinDraft:
    """Return the variants of a set's cases and write the files that are named; the same inputs give the same bytes.

    Raises InputError for bad files and unknown kinds, and if there is no case to vary.
    """
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
    draft = TwinDrafter(LintedSet(golden, corpus), request.seed, kinds).draft_all()
    if request.out is not None:
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
    return draft


def twins(
    golden: str,
    *,
    corpus: str | None = None,
    out: str | None = None,
    left_out: str | None = None,
    seed: int = 0,
    kinds: Sequence[str] = (),
) -> TwinDraft:
    """Return the variants of the cases of a golden set, which is a file; `out` and `left_out` are files to write.

    Raises InputError for bad files and unknown kinds, and if there is no case to vary.
    """
    return draft_twin_file(TwinRequest(golden, corpus, out, left_out, seed, kinds))
