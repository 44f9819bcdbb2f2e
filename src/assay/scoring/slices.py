"""Selections of golden cases: slices that share a tag, a difficulty, a language or any other `key=value`, and `--only`.

A selection by `--limit` or `--only` is never gated, and the cases that it leaves out are no errors.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from assay.records.counts import format_count
from assay.records.errors import Problem, SettingsError, shorten_repr
from assay.records.golden_set import Case, GoldenSet
from assay.stats.arrays import RowIndices, find_distinct

DEFAULT_KEYS = ("tag", "difficulty", "behaviour", "language")
_UNSTATED = "difficulty=unknown"


def _language(case: Case) -> Iterable[str]:
    """The language of the case, else its `lang:xx` tags, else the locale of the user."""
    if case.language:
        return (case.language,)
    tagged = [tag.removeprefix("lang:") for tag in case.tags if tag.startswith("lang:")]
    return tagged or ((case.user.locale,) if case.user is not None and case.user.locale else ())


_KEYS: Mapping[str, Callable[[Case], Iterable[str]]] = {
    "tag": lambda case: case.tags,
    "difficulty": lambda case: (case.difficulty,),
    "behaviour": lambda case: (case.behaviour,),
    "language": _language,
    "kind": lambda case: (unit.kind for unit in case.evidence if unit.kind),
}


def find_slices(cases: Sequence[Case], keys: Sequence[str] | None = None) -> dict[str, RowIndices]:
    """Return the rows of each slice, rising, by its name `key=value`; values of a key are in alphabetical order.

    `keys` are tag, difficulty, behaviour, language, kind (of evidence) or the name of a case's attribute; without them
    those of `DEFAULT_KEYS` that some case states. A case with several values is in several slices. Raises
    SettingsError for a key that no case has, listing those that exist.

    >>> cases = [Case("a", "?", tags=("hr", "acl")), Case("b", "?", tags=("hr",))]
    >>> {name: rows.tolist() for name, rows in find_slices(cases, ["tag"]).items()}
    {'tag=acl': [0], 'tag=hr': [0, 1]}
    """
    if keys is None:
        rows_by_slice = {name: rows for key in DEFAULT_KEYS for name, rows in _rows_by_value(cases, key).items()}
        if len(rows_by_slice.get(_UNSTATED, ())) == len(cases):
            del rows_by_slice[_UNSTATED]
        return rows_by_slice
    _check_keys(cases, keys)
    return {name: rows for key in keys for name, rows in _rows_by_value(cases, key).items()}


def find_slice_rows(cases: Sequence[Case], slice_name: str) -> RowIndices:
    """Return the rows of one slice, rising; none where no case is in it. Names are compared in NFC, as cases hold them.

    >>> find_slice_rows([Case("a", "?", attributes={"domain": "hr"})], "domain=hr").tolist()
    [0]
    """
    key, _, value = unicodedata.normalize("NFC", slice_name).partition("=")
    read = _reader(key)
    rows = [row for row, case in enumerate(cases) if value in read(case)]
    return np.array(rows, dtype=np.intp)


def suggest_slice(slice_name: str, cases: Sequence[Case]) -> str:
    """Return the slice of some cases whose name is nearest to one that none of them is in, "" if none is near.

    >>> suggest_slice("tag=timetabel", [Case("a", "?", tags=("timetable",)), Case("b", "?", tags=("fares",))])
    'tag=timetable'
    >>> suggest_slice("tags=fares", [Case("b", "?", tags=("fares",))])
    'tag=fares'
    """
    keys = list(dict.fromkeys((*_KEYS, *sorted({key for case in cases for key in case.attributes}))))
    names = [name for key in keys for name in _rows_by_value(cases, key)]
    return next(iter(difflib.get_close_matches(slice_name, names, n=1, cutoff=0.75)), "")


def find_slice_name_problem(name: str) -> str | None:
    """Return what is wrong with the name of a slice, None where nothing is.

    >>> find_slice_name_problem("hr")
    "not a slice (got 'hr'; expected key=value, such as 'tag=hr')"
    """
    key, equals, value = name.partition("=")
    if equals and key and value and name == name.strip():
        return None
    near = f"tag={value.strip() or key.strip() or 'hr'}"
    return f"not a slice (got {shorten_repr(name)}; expected key=value, such as {shorten_repr(near)})"


def _reader(key: str) -> Callable[[Case], Iterable[str]]:
    return _KEYS.get(key) or (lambda case: (case.attributes[key],) if key in case.attributes else ())


def _rows_by_value(cases: Sequence[Case], key: str) -> dict[str, RowIndices]:
    read, rows = _reader(key), defaultdict[str, list[int]](list)
    for row, case in enumerate(cases):
        for value in read(case):
            rows[value].append(row)
    return {f"{key}={value}": find_distinct(np.array(rows[value], dtype=np.intp)) for value in sorted(rows)}


def _check_keys(cases: Sequence[Case], keys: Sequence[str]) -> None:
    existing = sorted({*_KEYS, *(key for case in cases for key in case.attributes)})
    problems = []
    for key in keys:
        if key not in existing:
            close = difflib.get_close_matches(key, existing, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            expected = f"expected {', '.join(existing)}, or a key of the attributes of the cases"
            problems.append(
                Problem("", None, "by", f"no case has this key (got {shorten_repr(key)}; {hint}{expected})")
            )
    if problems:
        raise SettingsError(problems)


def _describe_selector_fault(selector: str, other_words: Sequence[str]) -> str:
    """Return what is expected in the place of a selector, and the word or kind of selector that it nearly is."""
    kind, _, value = selector.partition(":")
    near = difflib.get_close_matches(kind.casefold(), [*other_words, *_SELECTOR_KINDS], 1)
    meant = f"; did you mean {near[0]}{f':{value}' if near[0] in _SELECTOR_KINDS else ''}?" if near else ""
    *others, last = [*other_words, "tag:NAME", "case:ID"]
    return f"not a selector (got {shorten_repr(selector)}{meant}; expected {', '.join(others)} or {last})"


_SELECTOR_KINDS = ("tag", "case")


def _suggest_selector(selector: str, cases: Sequence[Case]) -> str:
    """Return the selector of the tag or id that was probably meant, as the end of a sentence; "" where none is near."""
    kind, _, value = selector.partition(":")
    known = {case.id for case in cases} if kind == "case" else {tag for case in cases for tag in case.tags}
    near = difflib.get_close_matches(value, sorted(known), 1)
    return f"; did you mean {kind}:{near[0]}?" if near else ""


def select_cases(
    golden: GoldenSet, limit: int | None, only: Sequence[str], other_words: Sequence[str] = ()
) -> tuple[Case, ...]:
    """Return the cases with any of the tags or ids of `only` (`tag:hr`, `case:q1`), then the first `limit` of them.

    Raises SettingsError for a selector of another form, or one that no case has. `other_words` are what the option
    takes beside selectors, to be named as expected.
    """
    problems = []
    for selector in only:
        kind, colon, value = selector.partition(":")
        if kind not in _SELECTOR_KINDS or not colon or not value:
            message = _describe_selector_fault(selector, other_words)
            problems.append(Problem("", None, "only", message, "E_SELECTOR"))
        elif not any(_matches(case, selector) for case in golden.cases):
            message = f"no case has it (got {shorten_repr(selector)}{_suggest_selector(selector, golden.cases)})"
            problems.append(Problem("", None, "only", message, "E_SELECTOR"))
    if problems:
        raise SettingsError(problems)
    cases = tuple(case for case in golden.cases if not only or any(_matches(case, selector) for selector in only))
    return cases[:limit]


def _matches(case: Case, selector: str) -> bool:
    kind, _, value = selector.partition(":")
    return value in case.tags if kind == "tag" else value == case.id


def describe_selection(limit: int | None, only: Sequence[str]) -> str:
    """Return the description of a selection for reports; empty if all cases are selected."""
    parts = [f"only {', '.join(only)}"] if only else []
    if limit is not None:
        parts.append(f"only the first {format_count(limit, 'case')}")
    return f"{' and '.join(parts)}: not gated" if parts else ""
