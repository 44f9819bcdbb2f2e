"""Format `stable-key`: gold that survives re-indexing because it names pages and titles, not vector ids (ADR 0038).

A key is `["page", episode, page]`, `["wiki", title]`, a title alone, or an object of any stable fields; each is a unit
of evidence. A set may be a folder with the files `retrieval`, `qa` and `refusal`, or one of them: `attributes.suite`
holds the name of the file, and rows of `refusal` expect a refusal by default.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.formats.file_io import Source, open_source
from assay.formats.golden_builder import CaseLocation, GoldenBuilder, normalise_selectors
from assay.formats.golden_sets.json_cases import BaseGoldenRow, read_golden_rows
from assay.records.errors import shorten_repr
from assay.records.golden_set import Behaviour, Case, Evidence, Selector, User

STABLE_KEY_MEMBERS = ("keys", "forbidden_keys", "refuse")
STABLE_KEY_NAMES = {
    "evidence": "keys",
    "forbidden": "forbidden_keys",
    "user": "position",
    "user.position_scope": "position_scope",
}
SUITES = ("retrieval", "qa", "refusal")

Key = str | tuple[str | int, ...] | dict[str, str | int]


class KeyRow(BaseGoldenRow, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """One case: retrieval gold has `keys`, question-answer gold also `reference` and `must_have`, refusal gold neither.

    `position` is how far the reader has got in a work; `forbidden_keys` lie beyond it.
    """

    id: str
    question: str
    keys: tuple[Key, ...] = ()
    reference: str | None = None
    must_have: tuple[str, ...] = ()
    refuse: bool | None = None
    forbidden_keys: tuple[Key, ...] = ()
    forbidden_text: tuple[str, ...] = ()
    position: float | None = None
    position_scope: str | None = None


def read_stable_key(source: Source, builder: GoldenBuilder) -> None:
    """Read one file, or the files of a folder as one set with ids that are unique across them."""
    if not source.path.is_dir():
        _read_file(source, builder)
        return
    for path in list_suite_files(source.path):
        builder.findings.path = str(Path(source.name) / path.name)
        with open_source(path) as part:
            _read_file(Source(part.path, builder.findings.path, part.suffix), builder)
    builder.findings.path = source.name


def list_suite_files(folder: Path) -> list[Path]:
    """Return the files of a folder that belong to a stable-key set, in the order of `SUITES`."""
    candidates = [folder / f"{suite}.jsonl{ending}" for suite in SUITES for ending in ("", ".gz")]
    return [path for path in candidates if path.is_file()]


def _read_file(source: Source, builder: GoldenBuilder) -> None:
    stem = Path(source.name).name.partition(".")[0]
    suite = stem if stem in SUITES else ""

    def to_case(row: KeyRow, common: dict[str, Any], builder: GoldenBuilder, spot: CaseLocation) -> Case:
        return _case(row, common, suite, builder, spot)

    read_golden_rows(source, builder, KeyRow, to_case)


def _case(row: KeyRow, common: dict[str, Any], suite: str, builder: GoldenBuilder, spot: CaseLocation) -> Case:
    refuse = suite == "refusal" if row.refuse is None else row.refuse
    if suite == "refusal" and not refuse:
        message = "a refusal file with an answerable case (got False; expected true, or another file)"
        builder.note_error(spot, "refuse", message, "E_BEHAVIOUR")
    if suite:
        common["attributes"].setdefault("suite", suite)
    behaviour: Behaviour = "answer"
    also_accept: tuple[Behaviour, ...] = ()
    if refuse:
        behaviour = "permission_denied" if row.forbidden_keys else "abstain"
        also_accept = ("abstain",) if row.forbidden_keys else ("permission_denied",)
    has_position = row.position is not None or row.position_scope is not None
    selectors = _make_selectors(row.keys, builder, spot, "keys")
    return Case(
        id=row.id,
        question=row.question,
        behaviour=behaviour,
        also_accept=also_accept,
        reference=row.reference or None,
        must_have=row.must_have,
        evidence=tuple([Evidence((selector,), kind=_evidence_kind(selector)) for selector in selectors]),
        forbidden=_make_selectors(row.forbidden_keys, builder, spot, "forbidden_keys"),
        forbidden_text=row.forbidden_text,
        user=User(position=row.position, position_scope=row.position_scope) if has_position else None,
        **common,
    )


def _make_selectors(
    keys: tuple[Key, ...], builder: GoldenBuilder, spot: CaseLocation, name: str
) -> tuple[Selector, ...]:
    selectors = tuple([_make_selector(key, builder, spot, f"{name}[{i}]") for i, key in enumerate(keys)])
    return normalise_selectors(selectors, builder, spot, name)


def _make_selector(key: Key, builder: GoldenBuilder, spot: CaseLocation, name: str) -> Selector:
    match key:
        case dict():
            return key
        case str() | ("wiki", str()):
            return {"title": key if isinstance(key, str) else key[1]}
        case ("page", episode, page):
            return {"episode": episode, "page": page}
    expected = '["page", episode, page], ["wiki", title], a title or an object'
    builder.note_error(spot, name, f"unknown key (got {shorten_repr(list(key))}; expected {expected})", "E_SELECTOR")
    return {"title": str(key)}


def _evidence_kind(selector: Selector) -> str | None:
    if "page" in selector:
        return "page"
    return "wiki" if "title" in selector else None
