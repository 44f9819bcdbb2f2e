"""The evidence and the forbidden chunks of a case, named by their keys, never by the text of a forbidden chunk."""

from __future__ import annotations

from assay.attribution.evidence_trace import format_selector
from assay.records.golden_set import Case, Selector
from assay.text.escaping import WITHHELD

EVIDENCE_LABEL, FORBIDDEN_LABEL = "Evidence", "Forbidden"


def describe_expected_sources(case: Case, show_forbidden: bool = False) -> dict[str, list[str]]:
    """Return the case's evidence and forbidden chunks as text; with `permission_denied` its evidence is forbidden.

    >>> from assay.records.golden_set import Evidence
    >>> describe_expected_sources(Case("a", "Why?", evidence=(Evidence(({"chunk_id": "doc:1"},), grade=2),)))
    {'Evidence': ['doc:1 (grade 2)'], 'Forbidden': []}
    """
    denied = case.behaviour == "permission_denied"
    hide = not show_forbidden
    units = [_format_alternatives(unit.any_of, hide and denied) for unit in case.evidence]
    graded = [f"{text} (grade {unit.grade})" for text, unit in zip(units, case.evidence, strict=True)]
    listed = [_format_shown(selector, hide) for selector in case.forbidden]
    return {EVIDENCE_LABEL: [] if denied else graded, FORBIDDEN_LABEL: [*(units if denied else ()), *listed]}


def _format_shown(selector: Selector, hide_quote: bool) -> str:
    return format_selector({**selector, "quote": WITHHELD} if hide_quote and "quote" in selector else selector)


def _format_alternatives(selectors: tuple[Selector, ...], hide_quote: bool) -> str:
    return " or ".join(_format_shown(selector, hide_quote) for selector in selectors)
