"""Compiled regular expressions, kept as Python keeps compiled modules: in a file of `__pycache__`.

Compiling the expressions of a small run took a sixth of its time. What `re` made of an expression is kept for one
version of Python, and with it the characters that begin its matches (`first_characters`), which speed up searching; of
those that no text has needed yet, the words that such a text would hold (`required_words`). A file that is damaged or
of another version, and a folder that cannot be written, cost time, nothing else. Python's own settings hold: nothing is
written with `PYTHONDONTWRITEBYTECODE`, and `PYTHONPYCACHEPREFIX` names another place. Only expressions of the product
and of lexicons belong here: what a question, an answer or a document holds would stay in the file.
"""

from __future__ import annotations

import atexit
import re
import sys
import zlib
from array import array
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from types import ModuleType

from msgspec import Struct, msgpack

from assay.text.pattern_file import PatternFile, find_pattern_file, may_write
from assay.text.required_words import Words, list_required_words

_MOST_KEPT = 8000  # expressions; beyond them a file begins again, because a checkout gathers what no code asks for
# The number of the layout is raised too when what is kept of an expression is made in another way.
_MARK = f"expressions of Assay, layout 10, for Python {sys.version}\n".encode()
_DIGEST_BYTES = 4

_Key = tuple[str, int]


class _Made(Struct, frozen=True, array_like=True):
    """What `re` made of an expression for some flags; `all_flags`: with those that the expression sets itself.

    `code`: a part of the file that was read, because copies of all of them took as long as reading it.
    """

    pattern: str
    flags: int
    all_flags: int
    code: memoryview
    group_count: int
    group_index: dict[str, int]


class _Content(Struct, array_like=True):
    """What a file keeps: compiled expressions, and the required words of others."""

    made: list[_Made] = []
    words: dict[str, list[Words]] = {}


_DECODER = msgpack.Decoder(_Content)


class PatternCache:
    """The compiled expressions of a file, to which `save` adds those that were compiled since.

    >>> cache = PatternCache(None)
    >>> cache.compile(r"[0-9]+ days").findall("some days, 12 days")
    ['12 days']
    """

    def __init__(self, file: PatternFile | None) -> None:
        self._file = file
        content = _Content() if file is None else _parse(file.read())
        self._kept, self._words = _index(content.made), content.words
        self._added: dict[_Key, _Made] = {}
        self._added_words: dict[str, list[Words]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether there was no file for this Python to read, or none with an expression."""
        return not self._kept

    def holds(self, pattern: str, flags: int = 0) -> bool:
        """Return whether an expression need not be compiled."""
        return (pattern, flags) in self._kept

    def compile(self, pattern: str, flags: int = 0) -> re.Pattern[str]:
        """Return what `re.compile` returns, without compiling where that was done before.

        Raises:
            re.error: the expression is not one.
        """
        if self._file is None:
            return re.compile(pattern, flags)
        made = self._kept.get((pattern, flags))
        if made is None:
            made = self._kept[pattern, flags] = self._added[pattern, flags] = _make(pattern, flags)
        return _restore(made)

    def get_required_words(self, pattern: str) -> list[Words]:
        """Return what `list_required_words` returns, without reading the expression where that was done before."""
        words = self._words.get(pattern)
        if words is None:
            words = self._words[pattern] = self._added_words[pattern] = list_required_words(pattern)
        return words

    def save(self) -> None:
        """Write the file with what was made since it was read; other processes may do so at the same time."""
        if self._file is None or not (self._added or self._added_words):
            return
        content = _parse(self._file.read())
        made, words = _index(content.made) | self._added, content.words | self._added_words
        if len(made) + len(words) > _MOST_KEPT:
            made, words = self._added, self._added_words
        encoded = msgpack.encode(_Content(list(made.values()), words))
        self._file.replace(_MARK + _compute_digest(encoded) + encoded)
        self._added, self._added_words = {}, {}


@cache
def _open_cache() -> PatternCache:
    """Return the cache of this process: the file beside the compiled modules."""
    patterns = PatternCache(find_pattern_file())
    # A file that holds any was written where that is possible. What nobody may keep is not worth being rewritten.
    if patterns.is_empty and not (may_write() and _can_restore()):
        return PatternCache(None)
    if may_write():
        atexit.register(patterns.save)
    return patterns


def compile_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` returns, without compiling where an earlier process did.

    Raises:
        re.error: the expression is not one.

    >>> compile_pattern(r"[0-9]+ days").findall("some days, 12 days")
    ['12 days']
    """
    return _open_cache().compile(pattern, int(flags))


def is_compiled(pattern: str, flags: int = 0) -> bool:
    """Return whether `compile_pattern` need not compile an expression."""
    return _open_cache().holds(pattern, int(flags))


def get_required_words(pattern: str) -> list[Words]:
    """Return what `list_required_words` returns, without reading the expression where an earlier process did.

    >>> get_required_words(r"[0-9]+ (?:days|weeks)")
    [('days', 'weeks')]
    """
    return _open_cache().get_required_words(pattern)


def _index(made: Iterable[_Made]) -> dict[_Key, _Made]:
    return {(expression.pattern, expression.flags): expression for expression in made}


def _parse(content: bytes) -> _Content:
    start = len(_MARK) + _DIGEST_BYTES
    body = memoryview(content)[start:]
    if content[:start] != _MARK + _compute_digest(body):
        return _Content()
    return _DECODER.decode(body)


def _compute_digest(content: bytes | memoryview) -> bytes:
    return zlib.crc32(content).to_bytes(_DIGEST_BYTES, "big")


def _can_restore() -> bool:
    """Return whether this Python makes and restores expressions as those do for which this module was written."""
    try:
        match = _restore(_make(r"\b(?P<day>(?:is )?[^\W_]+)day|\d", 0)).search("on monday")
    except (ImportError, AttributeError, TypeError, ValueError, RuntimeError):
        return False
    return match is not None and match["day"] == "mon"


def _make(pattern: str, flags: int) -> _Made:
    # most runs find all their expressions in the file
    from assay.text.first_characters import add_first_characters
    from assay.text.latin_tables import add_latin_tables
    from assay.text.parsed_expressions import wrap_items
    from assay.text.shared_beginnings import share_beginnings

    compiler, parser = import_module("re._compiler"), import_module("re._parser")
    parsed = parser.parse(pattern, flags)
    share_beginnings(parsed, flags)
    without_tables = wrap_items(parsed.data, parsed.state)
    add_latin_tables(parsed, flags)
    code = compiler._code(parsed, flags)
    add_first_characters(code, without_tables, flags)
    state = parsed.state
    all_flags, kept_code = int(flags | state.flags), array("I", code).tobytes()
    return _Made(pattern, flags, all_flags, memoryview(kept_code), state.groups - 1, dict(state.groupdict))


@cache
def _import_engine() -> ModuleType:
    return import_module("_sre")  # asking Python for it costs as much as restoring a short expression


def _restore(made: _Made) -> re.Pattern[str]:
    names: list[str | None] = [None] * (made.group_count + 1)
    for name, index in made.group_index.items():
        names[index] = name
    code = array("I")
    code.frombytes(made.code)
    restored: re.Pattern[str] = _import_engine().compile(
        made.pattern, made.all_flags, code.tolist(), made.group_count, made.group_index, tuple(names)
    )
    return restored
