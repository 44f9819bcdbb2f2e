"""The selection of cases by `--limit` and `--only`; a selection is never gated, and cases left out are no errors."""

from __future__ import annotations

from collections.abc import Sequence

from assay.errors import Problem, SettingsError, shown
from assay.model import Case, GoldenSet


def chosen(golden: GoldenSet, limit: int | None, only: Sequence[str]) -> tuple[Case, ...]:
    """Return the cases with any of the tags or ids of `only` (`tag:hr`, `case:q1`), then the first `limit` of them.

    Raises SettingsError for a selector of another form, or one that no case has.
    """
    problems = []
    for selector in only:
        kind, colon, value = selector.partition(":")
        if kind not in ("tag", "case") or not colon or not value:
            message = f"not a selector (got {shown(selector)}; expected tag:NAME or case:ID)"
            problems.append(Problem("", None, "only", message, "E_SELECTOR"))
        elif not any(_matches(case, selector) for case in golden.cases):
            problems.append(Problem("", None, "only", f"no case has it (got {shown(selector)})", "E_SELECTOR"))
    if problems:
        raise SettingsError(problems)
    cases = tuple(case for case in golden.cases if not only or any(_matches(case, selector) for selector in only))
    return cases[:limit]


def _matches(case: Case, selector: str) -> bool:
    kind, _, value = selector.partition(":")
    return value in case.tags if kind == "tag" else value == case.id


def selection_note(limit: int | None, only: Sequence[str]) -> str:
    """Return the description of a selection for reports; empty if all cases are selected."""
    parts = [f"only {', '.join(only)}"] if only else []
    if limit is not None:
        parts.append(f"only the first {limit} cases")
    return f"{' and '.join(parts)}: not gated" if parts else ""
