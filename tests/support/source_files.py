"""The syntax of the package's files, for tests that look for what the source may not do.

Parsing every file takes seconds. What a test looks for has a name, and a name occurs in the text of its file, so that
files without it need not be parsed.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path


@cache
def _compile_words(words: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(words)))})\b")


def has_word(source: str, words: Iterable[str]) -> bool:
    """Return whether one of the words occurs in source code, in any spelling that Python takes for it (NFKC)."""
    text = source if source.isascii() else unicodedata.normalize("NFKC", source)
    return _compile_words(frozenset(words)).search(text) is not None


def iter_nodes(path: Path, words: Iterable[str]) -> Iterator[ast.AST]:
    """Yield the syntax of a file in which one of the words occurs; nothing of other files."""
    source = path.read_text(encoding="utf-8")
    if has_word(source, words):
        yield from ast.walk(ast.parse(source))


def dotted_name(node: ast.expr) -> str:
    """Return the name that an expression consists of, such as `yaml.load`.

    Of an expression such as `(await start()).sleep`, what follows the call is returned: `.sleep`.
    """
    if isinstance(node, ast.Name):
        return node.id
    return f"{dotted_name(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else ""
