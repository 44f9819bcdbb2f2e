"""The recipes of CONTRIBUTING: who adds a metric, a format, a target or a judge provider is told the forgotten step.

Each function returns one sentence for each step that is missing, with the file in which to do it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest
from scripts.metric_docs import load_notes
from tests.architecture.rooms import PACKAGE, ROOT, module_name

from assay.formats.golden_files import GOLDEN_FORMAT_TABLE
from assay.formats.outputs import OUTPUT_FORMATS
from assay.judging.llm_judge import PROVIDERS
from assay.metrics.catalog import METRIC_FAMILIES
from assay.metrics.metric import Metric
from assay.records.settings import TargetSettings

CATALOG_FILE = "src/assay/metrics/catalog.py"
SETTINGS_FILE = "src/assay/records/settings.py"
PROVIDERS_FILE = "src/assay/judging/llm_judge.py"
FORMAT_FOLDERS = {
    "golden_sets": "GOLDEN_FORMAT_TABLE in golden_files.py",
    "recorded_outputs": "OUTPUT_FORMATS in outputs.py",
}
"""The folders of `formats` with a file for each format, and the table that has its row."""
NO_FORMATS = {"golden_sets/__init__", "recorded_outputs/__init__", "recorded_outputs/line_checks"}
"""Files of these folders that all formats share."""
NO_KINDS = {"__init__", "choose_target", "mcp_connection", "mcp_stdio", "process_group", "reply"}
"""Files of `targets` that make no target themselves."""


def list_assigned_names(source: str) -> set[str]:
    """Return the names that a module assigns at its top level; imported ones are not among them."""
    names: set[str] = set()
    for statement in ast.parse(source).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
        names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def find_metric_gaps(
    file: str, members: Mapping[str, object], joined: Collection[int], documented: Collection[str]
) -> Iterator[str]:
    """Check one file of metrics: `members` are its own names, `joined` the ids of the rows that the catalogue has."""
    in_families: set[str] = set()
    for name, value in members.items():
        if not (isinstance(value, tuple) and value and all(isinstance(row, Metric) for row in value)):
            continue
        in_families |= {row.name for row in value}
        if not {id(row) for row in value} <= set(joined):
            yield f"{file}: {name} is not in the catalogue; add it to METRIC_FAMILIES in {CATALOG_FILE}"
        for row in value:
            if row.name not in documented:
                yield f"{file}: {row.name} has no formula; write one into docs/metrics/notes.yaml, run metric_docs.py"
            if not row.summary or not row.source:
                yield f"{file}: {row.name} does not say what it is; give its Metric a summary and a source"
    for name, value in members.items():
        if isinstance(value, Metric) and value.name not in in_families:
            yield f"{file}: {value.name} is in no family; put {name} into a tuple …_METRICS of this file"


def find_format_gaps(files: Collection[str], modules: Collection[str], names: Collection[str], page: str) -> list[str]:
    """Check the files of formats; `modules` are those that the tables read with, `names` the names of rows."""
    gaps = []
    for file in sorted(files):
        table = FORMAT_FOLDERS[file.partition("/")[0]]
        if file not in modules and file not in NO_FORMATS:
            gaps.append(f"src/assay/formats/{file}.py: no format is read with it; add its row to {table}")
    for name in names:
        if f" {name}: " not in page:
            gaps.append(
                f"docs/formats.md: no example of {name}; add a block under <!-- golden {name}: FILE --> or outputs"
            )
    return gaps


def find_target_gaps(
    files: Mapping[str, str], tags: Collection[str], templates: Collection[str], page: str
) -> list[str]:
    """Check the kinds of target; `files` are the sources in `targets` by name, `tags` those of the settings records."""
    gaps = []
    for name in sorted(files.keys() - NO_KINDS - set(tags)):
        gaps.append(
            f"src/assay/targets/{name}.py: no settings; add a record tagged {name} to TargetSettings in {SETTINGS_FILE}"
        )
    for tag in tags:
        if "def make_target(" not in files.get(tag, ""):
            gaps.append(f"src/assay/targets/{tag}.py: nothing makes the target; write make_target(request) there")
        if tag not in templates:
            gaps.append(f"src/assay/runs/templates/{tag}.yaml: no such file; write the settings that assay init gives")
        if f"type: {tag}" not in page:
            gaps.append(f"docs/how-to/targets.md: no example with type: {tag}; add a section")
    return gaps


def find_provider_gaps(
    classes: Mapping[str, str], used: Collection[str], protocols: Collection[str], page: str
) -> list[str]:
    """Check the judge providers; `classes` are those named …Provider, with their files; `used` those of the table."""
    gaps = []
    for name, file in sorted(classes.items()):
        if name not in used:
            gaps.append(
                f"src/assay/judging/{file}: {name} has no protocol; add its row to PROVIDERS in {PROVIDERS_FILE}"
            )
    for protocol in protocols:
        if protocol not in page:
            gaps.append(f"docs/how-to/judging.md: the protocol {protocol} is not named; say which endpoints speak it")
    return gaps


def read_page(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def list_stems(folder: str, pattern: str = "*.py") -> list[Path]:
    return sorted((PACKAGE / folder).glob(pattern))


# ── the tree ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def documented() -> Collection[str]:
    return load_notes()


@pytest.mark.parametrize("path", list_stems("metrics", "**/*.py"), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_metric_of_a_file_is_in_the_catalogue_and_documented(path: Path, documented: Collection[str]) -> None:
    module = import_module(f"assay.{module_name(path)}")
    assigned = list_assigned_names(path.read_text(encoding="utf-8"))
    members = {name: value for name, value in vars(module).items() if name in assigned}
    joined = {id(row) for family in METRIC_FAMILIES for row in family}
    assert [] == list(find_metric_gaps(str(path.relative_to(ROOT)), members, joined, documented))


def test_every_file_of_a_format_has_its_row_and_every_format_its_example() -> None:
    files = {f"{folder}/{path.stem}" for folder in FORMAT_FOLDERS for path in list_stems(f"formats/{folder}")}
    modules = [form.read.__module__ for form in GOLDEN_FORMAT_TABLE.values()]
    modules += [form.decode.__module__ for form in OUTPUT_FORMATS.values()]
    stems = {"/".join(module.split(".")[-2:]) for module in modules}
    names = [*GOLDEN_FORMAT_TABLE, *OUTPUT_FORMATS]
    assert [] == find_format_gaps(files, stems, names, read_page("docs/formats.md"))


def test_every_kind_of_target_has_its_settings_its_maker_and_its_page() -> None:
    files = {path.stem: path.read_text(encoding="utf-8") for path in list_stems("targets")}
    tags = [str(settings.__struct_config__.tag) for settings in get_args(TargetSettings)]
    templates = {path.stem for path in list_stems("runs/templates", "*.yaml")}
    assert [] == find_target_gaps(files, tags, templates, read_page("docs/how-to/targets.md"))


def test_every_judge_provider_has_its_protocol() -> None:
    classes: dict[str, str] = {}
    for path in list_stems("judging"):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.ClassDef) and statement.name.endswith("Provider") and path.stem != "provider":
                classes[statement.name] = path.name
    used = {type(provider).__name__ for provider in PROVIDERS.values()}
    assert [] == find_provider_gaps(classes, used, list(PROVIDERS), read_page("docs/how-to/judging.md"))


# ── the checks themselves ────────────────────────────────────────────────────────────────────────────────────────


def test_forgotten_steps_of_a_metric_are_named() -> None:
    family = (Metric("depth", "ranking", "", "a paper"),)
    lone = Metric("width", "ranking", "Width.", "a paper")
    gaps = list(find_metric_gaps("src/assay/metrics/new.py", {"NEW_METRICS": family, "WIDTH": lone}, (), ()))
    assert [
        f"src/assay/metrics/new.py: NEW_METRICS is not in the catalogue; add it to METRIC_FAMILIES in {CATALOG_FILE}",
        "src/assay/metrics/new.py: depth has no formula; write one into docs/metrics/notes.yaml, run metric_docs.py",
        "src/assay/metrics/new.py: depth does not say what it is; give its Metric a summary and a source",
        "src/assay/metrics/new.py: width is in no family; put WIDTH into a tuple …_METRICS of this file",
    ] == gaps


def test_forgotten_steps_of_a_format_are_named() -> None:
    gaps = find_format_gaps(["golden_sets/new", "recorded_outputs/new", "golden_sets/__init__"], [], ["mine"], "")
    assert [text.partition(";")[2] for text in gaps] == [
        " add its row to GOLDEN_FORMAT_TABLE in golden_files.py",
        " add its row to OUTPUT_FORMATS in outputs.py",
        " add a block under <!-- golden mine: FILE --> or outputs",
    ]


def test_forgotten_steps_of_a_target_are_named() -> None:
    gaps = find_target_gaps({"new": "", "reply": ""}, ["other"], [], "")
    assert [text.partition(":")[0] for text in gaps] == [
        "src/assay/targets/new.py",
        "src/assay/targets/other.py",
        "src/assay/runs/templates/other.yaml",
        "docs/how-to/targets.md",
    ]


def test_forgotten_steps_of_a_judge_provider_are_named() -> None:
    gaps = find_provider_gaps({"NewProvider": "new.py"}, [], ["new"], "")
    assert [text.partition(":")[0] for text in gaps] == ["src/assay/judging/new.py", "docs/how-to/judging.md"]
