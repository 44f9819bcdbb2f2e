"""The files that a target's answers come from, as far as they are known: by their digests a later run sees that the
code has changed since its answers were recorded.

Of a Python target these are its module and the modules that it imports; of a program, the scripts and settings that its
command names. Installed packages and the standard library are left out, and nothing is imported.
"""

from __future__ import annotations

import ast
import os
import sys
import sysconfig
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from assay.formats.file_io import is_file
from assay.formats.run_files.run_folder import compute_file_sha256
from assay.records.settings import BaseTargetSettings

_INSTALLED = tuple(
    f"{os.path.realpath(sysconfig.get_paths()[name])}{os.sep}"
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb", ".pl", ".php", ".jar")
_SETTINGS = (".yaml", ".yml", ".toml", ".json", ".ini", ".cfg", ".env")


def digest_source_files(settings: BaseTargetSettings) -> dict[str, str]:
    """Return the SHA-256 of each known source file of a target, by the name of its module or as its command names it.

    Empty for a service behind an address: nothing tells which code answers there. Files that cannot be read are left
    out.
    """
    files: dict[str, Path] = {}
    for field in ("call", "search"):
        reference = getattr(settings, field, None)
        if isinstance(reference, str):
            _add_modules([reference.partition(":")[0]], sys.path, files)
    _add_command_files(getattr(settings, "command", ()), files)
    digests = {}
    for name, path in sorted(files.items()):
        with suppress(OSError):
            digests[name] = compute_file_sha256(path)
    return digests


def _add_command_files(command: Sequence[str], files: dict[str, Path]) -> None:
    """Add the files that a command names, what a Python script imports, and the module of `python -m MODULE`."""
    for position, argument in enumerate(command):
        path = Path(argument)
        if position and command[position - 1] == "-m":
            _add_modules([argument, f"{argument}.__main__"], [str(Path.cwd()), *sys.path], files)
        elif path.suffix in (*_SCRIPTS, *_SETTINGS) and is_file(path):
            files[argument] = path
            if path.suffix == ".py":
                imported = _list_imports(path, "")
                _add_modules(imported, [str(path.parent.absolute()), *sys.path], files)


def _add_modules(names: Sequence[str], search_path: Sequence[str], files: dict[str, Path]) -> None:
    """Add the files of modules and of everything that they import, unless it is installed."""
    waiting = list(names)
    seen = set(files)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        waiting += filter(None, [name.rpartition(".")[0]])  # the packages above it are imported first
        path = _find_module_file(name, search_path)
        if path is None or _is_installed(path):
            continue
        files[name] = path
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        waiting += _list_imports(path, package)


def _find_module_file(name: str, search_path: Sequence[str]) -> Path | None:
    """Return the Python file of a module, found without importing it or a package above it; None for other kinds."""
    places = [Path(place) for place in search_path]
    path = None
    for part in name.split("."):
        path = _find_file(part, places)
        if path is not None and path.name == "__init__.py":
            places = [path.parent]
        else:  # a package without __init__.py may lie in several folders
            places = [place / part for place in places]
    if path is None:  # of a project that is installed for editing, say
        path = Path(str(getattr(sys.modules.get(name), "__file__", None)))
    return path if path.suffix == ".py" and is_file(path) else None


def _find_file(part: str, places: Sequence[Path]) -> Path | None:
    """Return the file of a package or a module in the first of some folders that has one."""
    for place in places:
        for candidate in (place / part / "__init__.py", place / f"{part}.py"):
            if is_file(candidate):
                return candidate
    return None


def _is_installed(path: Path) -> bool:
    real = os.path.realpath(path)
    return real.startswith(_INSTALLED) or "site-packages" in Path(real).parts


def _list_imports(path: Path, package: str) -> list[str]:
    """Return the modules that a file may import; none if it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the target's code: its authors see them where they run it
            tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [name for node in ast.walk(tree) for name in _list_imported_names(node, package)]


def _list_imported_names(node: ast.AST, package: str) -> Iterator[str]:
    """Yield what one statement imports; of `from a import b`, both `a` and `a.b`, which may be a module."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            above = package.split(".")
            above = above[: len(above) - node.level + 1]
            base = ".".join(filter(None, (*above, base)))
        if base:
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names if alias.name != "*")
