"""Text for the chunks that a case expects or forbids: their keys, never the text of a forbidden chunk."""

from __future__ import annotations

from assay.model import Case, Selector
from assay.report.safe import WITHHELD

EXPECTED, FORBIDDEN = "Evidence", "Forbidden"


def expected_sources(case: Case, show_forbidden: bool = False) -> dict[str, list[str]]:
    """Return the case's evidence and forbidden chunks as text; with `permission_denied` its evidence is forbidden.

    >>> from assay.model import Evidence
    >>> expected_sources(Case("a", "Why?", evidence=(Evidence(({"chunk_id": "doc:1"},), grade=2),)))
    {'Evidence': ['doc:1 (grade 2)'], 'Forbidden': []}
    """
    denied = case.behaviour == "permission_denied"
    hide = not show_forbidden
    units = [_format_alternatives(unit.any_of, hide and denied) for unit in case.evidence]
    graded = [f"{text} (grade {unit.grade})" for text, unit in zip(units, case.evidence, strict=True)]
    listed = [selector_text(selector, hide) for selector in case.forbidden]
    return {EXPECTED: [] if denied else graded, FORBIDDEN: [*(units if denied else ()), *listed]}


def selector_text(selector: Selector, hide_quote: bool) -> str:
    """Return a selector as text: a lone chunk id as it is, other keys as `key=value` joined by `&`."""
    if selector.keys() == {"chunk_id"}:
        return str(selector["chunk_id"])
    shown = {key: WITHHELD if hide_quote and key == "quote" else value for key, value in selector.items()}
    return " & ".join(f"{key}={value}" for key, value in sorted(shown.items()))


def _format_alternatives(selectors: tuple[Selector, ...], hide_quote: bool) -> str:
    return " or ".join(selector_text(selector, hide_quote) for selector in selectors)
