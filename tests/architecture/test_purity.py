"""Names that no module, or no pure module, may use; import-linter checks the imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.architecture.rooms import PACKAGE, files, is_pure, module_name
from tests.support.source_files import dotted_name, has_word, iter_nodes

UNSAFE_EVERYWHERE = {"pickle", "marshal", "shelve", "eval", "exec", "__import__"}
SIDE_EFFECTS = {"open", "print", "input", "breakpoint"}
CLOCKS = {"now", "utcnow", "today"}
REQUESTS = {"request.gate"}  # its `today` is the day that the request names
SEEDED_RANDOM = {"default_rng", "Generator", "PCG64", "Philox", "SeedSequence"}
SAFE_LOADERS = {"SafeLoader", "CSafeLoader"}
WATCHED = UNSAFE_EVERYWHERE | SIDE_EFFECTS | CLOCKS | SEEDED_RANDOM | {"yaml", "random"}
"""What a violation is a use of; source without any of these words has none, and is not parsed."""


def _iter_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node imports or uses."""
    if isinstance(node, ast.Import):
        yield from (part for alias in node.names for part in alias.name.split("."))
    elif isinstance(node, ast.ImportFrom):
        yield from (node.module or "").split(".")
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.Name):
        yield node.id


def _is_unsafe_yaml(node: ast.AST) -> bool:
    if not (isinstance(node, ast.Call) and dotted_name(node.func) in ("yaml.load", "yaml.load_all")):
        return False
    loaders = node.args[1:] + [keyword.value for keyword in node.keywords if keyword.arg == "Loader"]
    return not any(ast.unparse(loader).split(".")[-1] in SAFE_LOADERS for loader in loaders)


def _is_unseeded_random(node: ast.AST) -> bool:
    """Return whether a node uses NumPy's random numbers without a seed."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SEEDED_RANDOM:
        return not (node.args or node.keywords)
    if isinstance(node, ast.Attribute) and dotted_name(node.value) in ("np.random", "numpy.random"):
        return node.attr not in SEEDED_RANDOM
    return False


def _find_impurity(node: ast.AST) -> str | None:
    """Return what makes this node impure, None if it is pure."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in SIDE_EFFECTS:
        return node.id
    if isinstance(node, ast.Attribute) and node.attr in CLOCKS and dotted_name(node.value) not in REQUESTS:
        return ast.unparse(node)
    return "unseeded random numbers" if _is_unseeded_random(node) else None


def find_violations(source: str, *, pure: bool) -> list[str]:
    """Return `line: name` for each thing that `source` may not use."""
    problems: list[str] = []
    if not has_word(source, WATCHED):
        return problems
    for node in ast.walk(ast.parse(source)):
        line = getattr(node, "lineno", 0)
        problems += [f"{line}: {name}" for name in _iter_names(node) if name in UNSAFE_EVERYWHERE]
        if _is_unsafe_yaml(node):
            problems.append(f"{line}: yaml.load without a safe loader")
        impurity = _find_impurity(node) if pure else None
        if impurity is not None:
            problems.append(f"{line}: {impurity}")
    return problems


@pytest.mark.slow
@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_keeps_to_its_layer(path: Path) -> None:
    assert [] == find_violations(path.read_text(encoding="utf-8"), pure=is_pure(module_name(path)))


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from marshal import loads",
        "eval('1')",
        "import yaml\nyaml.load(text)",
        "import yaml\nyaml.load(text, Loader=yaml.UnsafeLoader)",
    ],
)
def test_unsafe_source_is_found_in_every_layer(source: str) -> None:
    assert 1 == len(find_violations(source, pure=False))


@pytest.mark.parametrize(
    "source",
    [
        "open('x')",
        "print(1)",
        "datetime.now()",
        "date.today()",
        "datetime.date.today()",
        "np.random.rand()",
        "np.random.default_rng()",
        "f(input)",
    ],
)
def test_side_effects_and_hidden_input_are_found_in_pure_layers_only(source: str) -> None:
    assert 1 == len(find_violations(source, pure=True))
    assert [] == find_violations(source, pure=False)


def test_safe_yaml_seeded_numbers_and_words_in_strings_are_allowed() -> None:
    source = (
        "yaml.load(text, Loader=yaml.CSafeLoader)\nyaml.safe_load(text)\nx = 'eval print'\nnp.random.default_rng(7)\n"
        "request.gate.today"
    )
    assert [] == find_violations(source, pure=True)


VALUE_TOOLS = {"Struct", "structs", "field"}
"""What rules on texts may import from `msgspec`: it defines and copies values."""
READ_THEIR_OWN_FILES = ("text.pattern_cache", "text.refusals.lexicon_file")


def test_text_rules_define_values_and_read_no_json() -> None:
    """ADR 0267: text rules take strings."""
    imported = [
        (module_name(path), f"{getattr(node, 'module', '')}.{alias.name}")
        for path in files()
        for node in iter_nodes(path, ["msgspec"])
        if isinstance(node, ast.ImportFrom | ast.Import)
        for alias in node.names
    ]
    in_text = [(module, name) for module, name in imported if module.startswith("text.") and "msgspec" in name]
    assert len(in_text) > 50
    allowed = {f"msgspec.{name}" for name in VALUE_TOOLS}
    assert [row for row in in_text if row[0] not in READ_THEIR_OWN_FILES and row[1] not in allowed] == []
