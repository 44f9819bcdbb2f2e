"""The files of the package as the architecture tests see them: rooms, imports, and which files are pure.

A file says by its name whether it touches the outside. Edges are all files of `EDGE_ROOMS`, nouns that end in one of
`EDGE_ENDINGS`, and use cases, whose names begin with a verb (`score_run`). Every other file is pure.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src/assay"

EDGE_ROOMS = frozenset(("calls", "cli", "formats", "runs", "targets"))
EDGE_ENDINGS = ("_file", "_files", "_store", "_client", "_scheduler")
USE_CASE_VERBS = frozenset(
    (
        *(
            "attribute",
            "build",
            "calibrate",
            "check",
            "choose",
            "collect",
            "compare",
            "draft",
            "erase",
            "exchange",
            "export",
        ),
        *("explain", "freeze", "ingest", "load", "observe", "relink", "rescore", "review", "save", "score", "search"),
        *("suggest", "verify", "write"),
    )
)
NAMED_EXCEPTIONS = {
    "__init__": "loads what is asked for when it is first used",
    "__main__": "starts the command line",
    "api": "the Python functions that stand for the commands",
    "audit": "loads what is asked for when it is first used",
    "audit.commands": "the Python functions that stand for the commands of `assay audit`",
    "pytest_plugin": "asks a target once for all processes of a test session",
    "golden": "loads what is asked for when it is first used",
    "judging.anthropic": "builds and reads the HTTP messages of one provider",
    "judging.budget": "waits for its turn, because calls run side by side",
    "judging.llm_judge": "calls the provider",
    "judging.azure": "builds and reads the HTTP messages of one provider",
    "judging.openai": "builds and reads the HTTP messages of one provider",
    "judging.provider": "turns a provider's HTTP replies into replies and errors",
    "scoring.scored_run": "reads single observations again when a report wants them",
}
"""Edges whose names do not say so, and why."""
EDGES_OF_PURE_FILES = {
    (
        "text.pattern_cache",
        "text.pattern_file",
    ): "keeps what was made of expressions, constant data, as Python keeps compiled modules",
    (
        "text.refusals.lexicons_in_use",
        "text.refusals.lexicon_file",
    ): "reads the shipped lexicons, constant data, when the first text is examined",
    (
        "text.refusals.chosen_model",
        "text.refusals.lexicon_file",
    ): "tells a shipped lexicon, constant data, from that of a user",
    (
        "text.refusals.chosen_model",
        "text.refusals.refusal_model_file",
    ): "reads the shipped weights, constant data, when the first text needs them",
}
"""Edges that one pure file may import, and why."""


class ImportStatement(NamedTuple):
    """One module that a file imports."""

    importer: str
    imported: str
    line: int
    in_function: bool


def files() -> list[Path]:
    """Return every Python file of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    """Return a file's dotted name below `assay`, `__init__` for the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def is_pure(module: str) -> bool:
    """Return whether a module's name promises that it touches no clock, file, process or network."""
    room, stem = module.split(".")[0], module.split(".")[-1]
    if module in NAMED_EXCEPTIONS or stem == "judge_run" or room in EDGE_ROOMS:
        return False
    return not stem.endswith(EDGE_ENDINGS) and (stem.split("_")[0] not in USE_CASE_VERBS or "_" not in stem)


@cache
def import_statements() -> tuple[ImportStatement, ...]:
    """Return all imports of the package's files, those inside functions and under TYPE_CHECKING too."""
    statements: list[ImportStatement] = []
    for path in files():
        statements += _imports_of(module_name(path), ast.parse(path.read_text(encoding="utf-8")))
    return tuple(statements)


def _imports_of(importer: str, tree: ast.Module) -> Iterator[ImportStatement]:
    at_top = {id(node) for statement in tree.body for node in _without_functions(statement)}
    for node in _iter_statements(tree.body):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield ImportStatement(importer, alias.name, node.lineno, id(node) not in at_top)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                imported = f"{node.module}.{alias.name}"
                is_file = (PACKAGE.parent / imported.replace(".", "/")).with_suffix(".py").exists()
                yield ImportStatement(
                    importer, imported if is_file else node.module, node.lineno, id(node) not in at_top
                )


def _iter_statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a block and of the blocks in it; expressions hold no imports."""
    for statement in body:
        yield statement
        for block in ("body", "orelse", "finalbody"):
            yield from _iter_statements(getattr(statement, block, ()))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _iter_statements(part.body)


def _without_functions(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield a statement and what stands in it outside functions: the body of `if TYPE_CHECKING:`, for one."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    yield statement
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt):
            yield from _without_functions(child)
