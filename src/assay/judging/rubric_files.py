"""Loads judge rubrics from YAML: the shipped ones, compared with their lock file, and the user's own.

The hash of a rubric is computed from its content and not from the bytes of the file, so that comments, line ends and
folding do not change it.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, structs

from assay.formats.strict_json import Misfit, MisfitError, convert_strictly
from assay.formats.strict_yaml import YamlDocument, build_yaml_problem, read_yaml, read_yaml_file
from assay.metrics.catalog import add_rubric_metrics
from assay.records.digest import compute_digest
from assay.records.errors import Problem, SettingsError, shorten_repr
from assay.records.verdicts import DriftAnchor, JudgeRubric, RubricLabel
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern

Rubrics = dict[tuple[str, str], JudgeRubric]
"""Rubrics by name and language."""

JUDGE_INPUTS = ("answer", "citations", "claims", "context", "facts", "history", "question", "reference")
"""Everything that a judge may be given, which excludes configurations and scores."""
RUBRICS_LOCK_FILE = "rubrics.lock"
ANCHORS_FILE = "anchors.yaml"
PLACEHOLDER = compile_pattern(r"\{\{([^{}]*+)\}\}")
_NAME = LatePattern(r"[a-z][a-z0-9_]{0,39}")
_LANGUAGE = compile_pattern(r"[a-z]{2,3}")
T = TypeVar("T", bound=Struct)
_CONTROL_INPUTS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "foreign_context": (("context",),),
    "swapped_answer": (("answer", "claims"),),
    "other_number": (("context",), ("claims", "citations")),
    "empty_answer": (("answer",),),
    "colon_answer": (("answer", "claims", "citations"),),
    "planted_order": (("answer", "context"),),
}
"""The inputs that a kind of control changes: one of each group."""
_ITEM_LISTS = ("claims", "citations", "facts", "context")
INPUT_LISTS = (*_ITEM_LISTS, "history")
"""The inputs that are lists; the others are texts."""
_WRITTEN = tuple(name for name in JudgeRubric.__struct_fields__ if name != "hash")


class AnchorFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The file of anchors."""

    version: str
    anchors: tuple[DriftAnchor, ...]


def load_rubrics(extra_dirs: Iterable[Path | str] = ()) -> Rubrics:
    """Load the shipped rubrics and those of the folders (`*.yaml`), by name and language.

    A rubric of a folder replaces a shipped one if it has another version; it has the controls and anchors of that one
    unless it lists its own. Raises SettingsError with everything that is wrong, each with file and line: YAML that
    `read_yaml` refuses, fields that do not fit, unknown labels or inputs, a second rubric of the same name and
    language, and a shipped rubric that differs from the lock file.
    """
    shipped = load_shipped_rubrics()
    problems = compare_with_lock(shipped, _rubrics_folder().joinpath(RUBRICS_LOCK_FILE).read_text(encoding="utf-8"))
    own_rubrics: dict[tuple[str, str], tuple[JudgeRubric, str]] = {}
    paths: list[Path] = []
    for folder in extra_dirs:
        paths += _list_yaml_files(Path(folder), problems)
    for path in paths:
        try:
            rubric = decode_rubric(read_yaml_file(path), str(path))
        except SettingsError as error:
            problems += error.problems
            continue
        key = rubric.name, rubric.language
        replaced = shipped.get(key)
        if key in own_rubrics:
            message = f"a second rubric {rubric.name} in {rubric.language} (the first is in {own_rubrics[key][1]})"
            problems.append(Problem(str(path), 1, "name", message, "E_RUBRIC_TWICE"))
        elif replaced is not None and replaced.version == rubric.version and replaced.hash != rubric.hash:
            message = f"other text than the shipped rubric (got version {rubric.version!r}; expected another version)"
            problems.append(Problem(str(path), 1, "version", message, "E_RUBRIC_VERSION"))
        if replaced is not None:
            rubric = _inherit_checks(rubric, replaced)
        own_rubrics[key] = rubric, str(path)
    if problems:
        raise SettingsError(problems)
    return shipped | {key: rubric for key, (rubric, _) in own_rubrics.items()}


def _inherit_checks(rubric: JudgeRubric, shipped: JudgeRubric) -> JudgeRubric:
    """Return a rubric in the place of a shipped one with the controls and anchors of that, unless it lists its own.

    Anchors are inherited only for the same question: the same labels with the same numbers, and the same inputs.
    """
    controls = rubric.controls or shipped.controls
    is_same_question = rubric.inputs == shipped.inputs and rubric.per_item == shipped.per_item
    is_same_question &= [(label.name, label.value) for label in rubric.labels] == [
        (label.name, label.value) for label in shipped.labels
    ]
    anchors = rubric.anchors or (shipped.anchors if is_same_question else ())
    return structs.replace(rubric, controls=controls, anchors=anchors)


def use_rubrics(folders: Iterable[Path | str]) -> tuple[Rubrics, list[str]]:
    """Load rubrics as `load_rubrics` does and make metrics of the user's own; return rubrics and names of metrics.

    Raises SettingsError as `load_rubrics` and `add_rubric_metrics` do.
    """
    rubrics = load_rubrics(folders)
    return rubrics, add_rubric_metrics(rubrics.values())


@contextmanager
def write_rubric_records(rubrics: Sequence[Path | str | JudgeRubric]) -> Iterator[list[str]]:
    """Yield folders of rubrics, in which records are written as the files that they stand for."""
    folders = [str(item) for item in rubrics if not isinstance(item, JudgeRubric)]
    records = [item for item in rubrics if isinstance(item, JudgeRubric)]
    with tempfile.TemporaryDirectory() as folder:
        for number, record in enumerate(records, 1):
            written = structs.replace(record, hash="")  # computed when it is read
            Path(folder, f"{number}-{record.name}.yaml").write_bytes(msgspec.json.encode(written))
        yield [*folders, folder] if records else folders


def load_shipped_rubrics() -> Rubrics:
    """Load the shipped rubrics, without comparing them with the lock file."""
    return dict(_read_shipped_rubrics())


@cache
def _read_shipped_rubrics() -> Rubrics:
    rubrics: Rubrics = {}
    for entry in sorted(_rubrics_folder().iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".yaml") and entry.name != ANCHORS_FILE:
            name = f"rubrics/{entry.name}"
            rubric = decode_rubric(read_yaml(entry.read_text(encoding="utf-8"), name), name)
            rubrics[rubric.name, rubric.language] = rubric
    return rubrics


@cache
def load_anchors() -> AnchorFile:
    """Load the anchors: fixed claims whose label is known, which show whether a judge works and whether it drifts."""
    document = read_yaml(_rubrics_folder().joinpath(ANCHORS_FILE).read_text(encoding="utf-8"), ANCHORS_FILE)
    return _fit_document(document, ANCHORS_FILE, AnchorFile, {})


def decode_rubric(document: YamlDocument, name: str) -> JudgeRubric:
    """Return the rubric of one file. Raises SettingsError with everything that is wrong."""
    if not isinstance(document.data, dict):
        got = "nothing" if document.data is None else shorten_repr(document.data)
        message = f"not a rubric (got {got}; expected a mapping with {', '.join(_WRITTEN)})"
        raise SettingsError([Problem(name, 1, "", message, "E_TYPE")])
    misfits = []
    if "hash" in document.data:
        message = "unknown key (got 'hash', which is computed from the text)"
        misfits.append(Misfit("hash", message, "E_UNKNOWN_FIELD"))
    try:
        rubric: JudgeRubric | None = convert_strictly({**document.data, "hash": ""}, JudgeRubric)
    except MisfitError as error:
        misfits += error.misfits
        rubric = _fit_the_rest(document.data, [misfit.field for misfit in misfits])
    if rubric is not None:
        faults = _select_certain_faults(_find_contradictions(rubric), [misfit.field for misfit in misfits])
        misfits += [Misfit(field, message, "E_RUBRIC") for field, message in faults]
    if misfits or rubric is None:
        raise SettingsError([_problem_at_field(document, name, *misfit) for misfit in misfits])
    return structs.replace(rubric, hash=compute_digest(structs.replace(rubric, controls=(), anchors=())))


_STAND_INS: Mapping[str, Any] = {
    "name": "stand_in",
    "version": "1",
    "language": "en",
    "task": "…",
    "inputs": ["question"],
    "labels": [{"name": "high", "meaning": "…", "value": 1.0}, {"name": "low", "meaning": "…", "value": 0.0}],
}
_LABEL_STAND_INS: Mapping[str, Any] = {"name": "stand_in", "meaning": "…"}
_RESTS_ON: Mapping[str, tuple[str, ...]] = {
    "task": ("inputs",),
    "inputs": ("per_item",),
    "quotes": ("labels", "sources"),
    "sources": ("inputs", "quotes", "per_item"),
    "controls": ("labels", "inputs"),
    "anchors": ("labels", "inputs", "per_item"),
}
"""The other fields that decide whether a field makes sense."""
_FIELD = LatePattern(r"(?P<member>\w+)(?:\[(?P<index>\d+)\](?:\.(?P<part>\w+))?)?")


def _fit_the_rest(data: Mapping[str, Any], misfit_fields: Sequence[str]) -> JudgeRubric | None:
    """Return the rubric with something that fits in the place of what does not, so that the rest can be checked too.

    None if there are more misfits than are listed.
    """
    members = {key: value for key, value in data.items() if key in _WRITTEN}
    labels = members.get("labels")
    if isinstance(labels, list):
        members["labels"] = labels = [_keep_label_members(label) for label in labels]
    for field in misfit_fields:
        match = _FIELD.match(field)
        if match is None:
            continue
        member, index, part = match["member"], match["index"], match["part"]
        if member == "labels" and index is not None and isinstance(labels, list):
            label = labels[int(index)]
            label.pop(part, None)
            label |= {key: value for key, value in _LABEL_STAND_INS.items() if key not in label}
        else:
            members.pop(member, None)
    try:
        return convert_strictly({**_STAND_INS, **members}, JudgeRubric)
    except MisfitError:
        return None


def _keep_label_members(label: Any) -> dict[str, Any]:
    members = label if isinstance(label, dict) else {}
    return {key: value for key, value in members.items() if key in RubricLabel.__struct_fields__}


def _select_certain_faults(
    faults: Iterable[tuple[str, str]], misfit_fields: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield the faults that have nothing to do with fields that do not fit."""
    misfit_members = {re.split(r"[.\[]", field)[0] for field in misfit_fields}
    for field, message in faults:
        member = re.split(r"[.\[]", field)[0]
        rests_on_misfit = not misfit_members.isdisjoint(_RESTS_ON.get(member, ()))
        is_misfit = member in misfit_members if member != "labels" else _is_around(field, misfit_fields)
        if not rests_on_misfit and not is_misfit:
            yield field, message


def _is_around(field: str, misfit_fields: Sequence[str]) -> bool:
    """Return whether one of the fields is this one, or one around or inside it."""
    return any(field.startswith(misfit) or misfit.startswith(field) for misfit in misfit_fields)


def format_lock(rubrics: Mapping[tuple[str, str], JudgeRubric]) -> str:
    """Return the lock file of these rubrics: `name.language version hash`, sorted."""
    lines = [f"{rubric.name}.{rubric.language} {rubric.version} {rubric.hash}\n" for rubric in rubrics.values()]
    return "".join(sorted(lines))


def compare_with_lock(rubrics: Mapping[tuple[str, str], JudgeRubric], locked: str) -> list[Problem]:
    """Return what differs from the lock file, including rubrics whose text changed without a new version."""
    locked_lines = {line.split(" ")[0]: line for line in locked.splitlines()}
    problems = []
    for line in format_lock(rubrics).splitlines():
        name, version, _ = line.split(" ")
        locked_line = locked_lines.pop(name, "")
        if locked_line == line:
            continue
        message = "not as locked (run scripts/rubrics_lock.py)"
        if locked_line.split(" ")[1:2] == [version]:
            message = f"changed under the same version (got {version!r} again; expected a new version)"
        problems.append(Problem(f"rubrics/{name}.yaml", None, "version", message, "E_RUBRIC_VERSION"))
    missing = [
        Problem(f"rubrics/{name}.yaml", None, "", "in the lock file, but missing", "E_RUBRIC") for name in locked_lines
    ]
    return problems + missing


def _find_contradictions(rubric: JudgeRubric) -> Iterator[tuple[str, str]]:
    """Yield (field, message) for everything that fits the types but makes no sense."""
    labels = [label.name for label in rubric.labels]
    if not _NAME.fullmatch(rubric.name):
        yield "name", f"not a name (got {shorten_repr(rubric.name)}; expected lower case letters, digits and _)"
    if not _LANGUAGE.fullmatch(rubric.language):
        yield "language", f"not a language code (got {shorten_repr(rubric.language)}; expected two or three letters)"
    if not rubric.version or not rubric.version.isprintable() or " " in rubric.version or "@" in rubric.version:
        yield "version", f"not a version (got {shorten_repr(rubric.version)}; expected a text without spaces and @)"
    if not rubric.task.strip():
        yield "task", "empty (expected what the judge has to decide)"
    yield from _find_unknown("inputs", rubric.inputs, JUDGE_INPUTS)
    if not rubric.inputs:
        yield "inputs", f"empty (expected some of {', '.join(JUDGE_INPUTS)})"
    yield from _find_unknown("quotes", rubric.quotes, labels)
    yield from _find_unknown("sources", rubric.sources, rubric.inputs[rubric.per_item :])
    if rubric.per_item and rubric.inputs and rubric.inputs[0] not in _ITEM_LISTS:
        expected = ", ".join(_ITEM_LISTS)
        yield "inputs[0]", f"no list of items to label (got {rubric.inputs[0]!r}; expected one of {expected})"
    yield from _find_control_faults(rubric)
    if bool(rubric.quotes) != bool(rubric.sources):
        yield "sources", "quotes need sources, and sources quotes (got one of them)"
    for index, name in enumerate(PLACEHOLDER.findall(rubric.task)):
        if name not in rubric.inputs:
            expected = ", ".join(rubric.inputs)
            yield (
                "task",
                f"placeholder {index + 1} is not an input (got {shorten_repr(name)}; expected one of {expected})",
            )
    yield from _find_label_faults(rubric)
    yield from _find_anchor_faults(rubric)


def _find_control_faults(rubric: JudgeRubric) -> Iterator[tuple[str, str]]:
    """Yield (field, message) for each control that cannot be made, or has no lowest label to deserve."""
    has_values = any(label.value is not None for label in rubric.labels)
    for index, kind in enumerate(rubric.controls):
        if not has_values:
            yield f"controls[{index}]", f"no label has a value (got {kind}; expected values, or no controls)"
            return
        lacking = [group for group in _CONTROL_INPUTS[kind] if not set(group) & set(rubric.inputs)]
        if lacking:
            expected = " or ".join(lacking[0])
            yield f"controls[{index}]", f"cannot be made (got {kind} without an input to change; expected {expected})"


def _find_anchor_faults(rubric: JudgeRubric) -> Iterator[tuple[str, str]]:
    """Yield (field, message) for each anchor that has another label or other inputs than the rubric."""
    labels = [label.name for label in rubric.labels]
    for index, anchor in enumerate(rubric.anchors):
        at = f"anchors[{index}]"
        if anchor.label not in labels:
            message = f"unknown (got {shorten_repr(anchor.label)}; expected one of {', '.join(labels)})"
            yield f"{at}.label", message
        if not rubric.inputs or set(anchor.inputs) != set(rubric.inputs):
            got = ", ".join(sorted(anchor.inputs)) or "none"
            yield f"{at}.inputs", f"other inputs (got {got}; expected {', '.join(rubric.inputs)})"
            continue
        for name, value in anchor.inputs.items():
            if value is not None and (name in INPUT_LISTS) != isinstance(value, tuple):
                expected = "a list of texts" if name in INPUT_LISTS else "a text"
                yield f"{at}.inputs", f"{name}: neither null nor {expected} (got {shorten_repr(value)})"
        items = anchor.inputs[rubric.inputs[0]] if rubric.per_item else ("the answer",)
        if not isinstance(items, tuple) or len(items) != 1:
            count = len(items) if isinstance(items, tuple) else 0
            yield f"{at}.inputs", f"{rubric.inputs[0]}: one item has the label (got {count}; expected 1)"


def _find_label_faults(rubric: JudgeRubric) -> Iterator[tuple[str, str]]:
    if len(rubric.labels) < 2:
        yield "labels", f"too few to choose from (got {len(rubric.labels)}; expected 2 or more)"
    names = [label.name for label in rubric.labels]
    for index, label in enumerate(rubric.labels):
        at = f"labels[{index}]"
        if not _NAME.fullmatch(label.name):
            yield (
                f"{at}.name",
                f"not a label (got {shorten_repr(label.name)}; expected lower case letters, digits and _)",
            )
        if label.name in names[:index]:
            yield f"{at}.name", f"label given twice (got {shorten_repr(label.name)} again)"
        if label.value is not None and not 0 <= label.value <= 1:
            yield f"{at}.value", f"out of range (got {label.value}; expected 0 to 1, or null for none)"
        if not label.meaning.strip():
            yield f"{at}.meaning", "empty (expected what makes the judge choose this label)"


def _find_unknown(field: str, names: Sequence[str], known_names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (field, message) for each name that is unknown or given twice."""
    for index, name in enumerate(names):
        if name not in known_names:
            yield f"{field}[{index}]", f"unknown (got {shorten_repr(name)}; expected one of {', '.join(known_names)})"
        elif name in names[:index]:
            yield f"{field}[{index}]", f"given twice (got {shorten_repr(name)} again)"


def _fit_document(document: YamlDocument, name: str, record: type[T], more: dict[str, Any]) -> T:
    try:
        return convert_strictly({**document.data, **more}, record)
    except MisfitError as error:
        raise SettingsError([_problem_at_field(document, name, *misfit) for misfit in error.misfits]) from None


def _problem_at_field(document: YamlDocument, name: str, field: str, message: str, code: str) -> Problem:
    """Return a problem at a field, or at the nearest field around it that the document has."""
    return build_yaml_problem(name, document.find_position(field, code), field, message, code)


def _list_yaml_files(folder: Path, problems: list[Problem]) -> list[Path]:
    if not folder.is_dir():
        problems.append(Problem(str(folder), None, "", "not a folder (expected one with rubrics as *.yaml)", "E_FILE"))
        return []
    return sorted(folder.glob("*.yaml"))


def _rubrics_folder() -> Path:
    return Path(__file__).with_name("rubrics")
