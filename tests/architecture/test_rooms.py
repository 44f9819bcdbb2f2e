"""The rooms beyond what import-linter checks: no cycles between files, pure files by their names, few late imports."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter

import pytest
from tests.architecture.rooms import (
    EDGES_OF_PURE_FILES,
    NAMED_EXCEPTIONS,
    files,
    import_statements,
    is_pure,
    module_name,
)

CLOCKS_FILES_AND_PROCESSES = {
    *("asyncio", "concurrent", "io", "logging", "multiprocessing", "os", "pathlib", "random", "secrets", "shutil"),
    *("signal", "sqlite3", "subprocess", "tempfile", "threading", "time", "uuid", "yaml"),
}
NETWORK_AND_TERMINAL = {"aiohttp", "http", "httpx2", "mcp", "rich", "socket", "typer", "urllib"}
OUTSIDE = CLOCKS_FILES_AND_PROCESSES | NETWORK_AND_TERMINAL
"""What a pure file may not import."""
LATE_PACKAGES = {
    *(
        "aiohttp",
        "alembic",
        "anyio",
        "concurrent",
        "fcntl",
        "gguf",
        "httpx2",
        "importlib",
        "langchain_core",
        "llama_index",
        "mcp",
    ),
    *("gzip", "html", "multiprocessing", "numpy", "pandas", "polars", "pyarrow", "rich", "socket", "sqlite3", "yaml"),
}
"""Heavy or optional: these may be imported inside the function that needs them."""
USE_CASES_OF_AN_EXTRA = ("audit.commands", "trends.check_production")
"""Python functions that stand for commands and explain which extra is missing: they load the store in the function."""
LATE_FILES = {
    *("assay.formats.foreign.row_outputs", "assay.formats.trec.qrels", "assay.formats.trec.runs"),
    "assay.runs.score_trec_run",
    *("assay.judging.control_questions", "assay.judging.independence", "assay.judging.verdict_files"),
    "assay.judging.verdict_store",
    *("assay.text.first_characters", "assay.text.latin_tables", "assay.text.parsed_expressions"),
    "assay.text.shared_beginnings",
    "assay.metrics.judged.second_judgement",
    *("assay.comparison.compare_scores", "assay.comparison.twin_clusters", "assay.comparison.twin_distinction"),
}
"""Files of the package that few runs need: readers of other tools' rows, what reads TREC files, what replays the
verdicts of a judge, what compiles new expressions, and what compares runs and variants."""
PUBLIC_CLASS = re.compile(r"^class ([^\W_]\w*)", re.MULTILINE)
PROTOCOLS = "assay.calls.interfaces"
"""What targets, judges and stores promise; a pure file may name their types."""


@pytest.mark.slow
def test_files_import_each_other_without_cycles() -> None:
    graph: dict[str, set[str]] = {}
    for statement in import_statements():
        if statement.imported.startswith("assay."):
            graph.setdefault(statement.importer, set()).add(statement.imported.removeprefix("assay."))
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"files that import each other: {' -> '.join(reversed(error.args[1]))}")


def test_a_type_name_means_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for path in files():
        for name in PUBLIC_CLASS.findall(path.read_text(encoding="utf-8")):
            places.setdefault(name, []).append(module_name(path))
    repeated = {name: modules for name, modules in places.items() if len(modules) > 1}
    assert not repeated, "give the newer one a name that says what is different about it"


@pytest.mark.parametrize("module", [module_name(path) for path in files() if is_pure(module_name(path))])
def test_a_pure_file_imports_neither_the_outside_nor_an_edge(module: str) -> None:
    wrong = []
    for statement in import_statements():
        if statement.importer != module:
            continue
        name = statement.imported
        is_edge = name.startswith("assay.") and name != PROTOCOLS and not is_pure(name.removeprefix("assay."))
        if (module, name.removeprefix("assay.")) in EDGES_OF_PURE_FILES:
            continue
        if name.split(".")[0] in OUTSIDE or is_edge:
            wrong.append(f"{statement.line}: {name}")
    assert [] == wrong, f"{module}: rename it to an edge (docs/architecture.md), or pass in what these give"


def test_exceptions_are_files_that_exist() -> None:
    assert set(NAMED_EXCEPTIONS) <= {module_name(path) for path in files()}
    imported = {(statement.importer, statement.imported.removeprefix("assay.")) for statement in import_statements()}
    assert set(EDGES_OF_PURE_FILES) <= imported


def may_be_late(importer: str, imported: str) -> bool:
    """Return whether a function may import this: heavy or optional packages, target kinds, and in cli the use case."""
    package = imported.split(".")[0]
    if package != "assay":
        return package in LATE_PACKAGES
    if importer.split(".")[0] in ("cli", "__init__", "api", "pytest_plugin") or importer in USE_CASES_OF_AN_EXTRA:
        return True
    return imported.startswith("assay.targets.") or imported in LATE_FILES


def test_functions_import_only_what_is_heavy_optional_or_a_target_kind() -> None:
    wrong = []
    for statement in import_statements():
        if statement.in_function and not may_be_late(statement.importer, statement.imported):
            wrong.append(f"{statement.importer}:{statement.line}: {statement.imported}")
    assert [] == wrong
