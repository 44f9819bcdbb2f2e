"""Faults that can be switched on one by one: each replaces one part of the pipeline by a broken one.

Faults of the golden set are in `labels.py`; a noisy judge is the business of whoever judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from examples.handbook.app import broken
from examples.handbook.app.parts import Parts


class Fault(NamedTuple):
    """What goes wrong, and the function that makes it so."""

    description: str
    damage: Callable[[Parts], Parts]


def _with(description: str, **changes: Any) -> Fault:
    return Fault(description, lambda parts: replace(parts, **changes))


FAULTS: dict[str, Fault] = {
    "parser:drop-tables": Fault("tables are lost", broken.losing(r"^\|.*\n?")),
    "parser:drop-headings": Fault(
        "the words of headings are lost, only their marks stay", broken.losing(r"(?<=^## ).*", "—")
    ),
    "parser:drop-footnotes": Fault("footnotes are lost", broken.losing(r"^\[\^\w+\]: .*\n?")),
    "chunking:cut-conditions": Fault(
        "long sections are cut in two, often in front of a condition", broken.cut_conditions
    ),
    "chunking:merge-sections": Fault("four sections at a time become one chunk", broken.merge_sections),
    "embedding:blind-to-codes": Fault("codes, numbers and acronyms are not embedded", broken.blind_to_codes),
    "embedding:no-folding": Fault("words without diacritics are other words", broken.unfolded_embedding),
    "bm25_analyzer:splits-codes": Fault(
        "ERR-429 and P2 are indexed as err and p, numbers not at all", broken.splits_codes
    ),
    "bm25_analyzer:no-folding": _with("there is no folded column", analyze=broken.only_exact),
    "hybrid_merge:drop-bm25": _with("the keyword list is not merged", merge=broken.drop_bm25),
    "hybrid_merge:tiny-pool": _with("only two chunks survive the merge", merge=broken.tiny_pool),
    "reranker:promote-noise": _with("the least relevant third is ranked first", rerank=broken.promote_noise),
    "reranker:invert": _with("the worst is ranked first", rerank=broken.invert),
    "context_builder:small-budget": _with("90 tokens of context instead of 800", pack=broken.small_budget),
    "context_builder:drop-first": _with("the best chunk is left out of the context", pack=broken.drop_first),
    "generator:ignore-context": _with("answers come from memory, not from the context", generate=broken.from_memory),
    "generator:embellish": Fault("an invented sentence is added to each answer", broken.embellish),
    "generator:never-refuse": _with("the context is never found insufficient", threshold=0.0, denial_margin=2.0),
    "citation:shifted": _with("each citation names the next chunk of the context", cite=broken.shifted),
    "citation:unseen": _with("citations name a chunk that was not in the context", cite=broken.unseen),
    "acl:filter-off": _with("everybody sees everything", visible=broken.everyone),
    "acl:ignores-roles": _with("tenants are kept apart, roles are not", visible=broken.ignores_roles),
    "acl:too-strict": _with("a document is shown to its own department only", visible=broken.own_department_only),
    "stale_index:old-version": _with(
        "not indexed since 2026-01-31: old versions are served", select=broken.old_version
    ),
    "stale_index:new-missing": _with("documents newer than 2026-01-31 are missing", select=broken.new_missing),
    "stale_index:keeps-superseded": _with(
        "superseded versions stay next to the new ones", select=broken.keeps_superseded
    ),
}
"""Every fault of the pipeline as `cause:variant`; the causes are those of Assay's attribution."""


def apply(faults: Iterable[str], parts: Parts) -> Parts:
    """Return the parts with the faults switched on, in the order given.

    Raises ValueError for a name that FAULTS does not have.
    """
    if isinstance(faults, str):
        raise ValueError(f"faults must be a sequence of names (got the text {faults!r})")
    for name in faults:
        if name not in FAULTS:
            raise ValueError(f"unknown fault {name!r} (expected one of {', '.join(FAULTS)})")
        parts = FAULTS[name].damage(parts)
    return parts
