"""Compiled regular expressions, kept as Python keeps compiled modules: in a file of `__pycache__`.

Compiling the expressions of a small run took a sixth of its time. What `re` made of an expression is kept for one
version of Python, and with it the characters that begin its matches (`first_characters`), which speed up searching. A
file that is damaged or of another version, and a folder that cannot be written, cost time, nothing else. Python's own
settings hold: nothing is written with `PYTHONDONTWRITEBYTECODE`, and `PYTHONPYCACHEPREFIX` names another place. Only
expressions of the product and of lexicons belong here: what a question, an answer or a document holds would stay in the
file.
"""

from __future__ import annotations

import atexit
import re
import sys
import zlib
from array import array
from functools import cache
from importlib import import_module

from msgspec import Struct, msgpack

from assay.text.first_characters import add_first_characters
from assay.text.pattern_file import PatternFile, find_pattern_file, may_write

_MOST_KEPT = 5000  # expressions; beyond them a file begins again, because a checkout gathers what no code asks for
_MARK = f"expressions of Assay, layout 3, for Python {sys.version}\n".encode()
_DIGEST_BYTES = 4

_Key = tuple[str, int]


class _Made(Struct, frozen=True, array_like=True):
    """What `re` made of an expression for some flags; `all_flags`: with those that the expression sets itself."""

    pattern: str
    flags: int
    all_flags: int
    code: bytes
    group_count: int
    group_index: dict[str, int]


_DECODER = msgpack.Decoder(list[_Made])


class PatternCache:
    """The compiled expressions of a file, to which `save` adds those that were compiled since.

    >>> cache = PatternCache(None)
    >>> cache.compile(r"[0-9]+ days").findall("some days, 12 days")
    ['12 days']
    """

    def __init__(self, file: PatternFile | None) -> None:
        self._file = file
        self._kept = {} if file is None else _parse(file.read())
        self._added: dict[_Key, _Made] = {}

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

    def save(self) -> None:
        """Write the file with what was compiled since it was read; other processes may do so at the same time."""
        if self._file is None or not self._added:
            return
        made = _parse(self._file.read()) | self._added
        content = msgpack.encode(list((made if len(made) <= _MOST_KEPT else self._added).values()))
        self._file.replace(_MARK + _compute_digest(content) + content)
        self._added = {}


@cache
def _open_cache() -> PatternCache:
    """Return the cache of this process: the file beside the compiled modules."""
    if not _can_restore():
        return PatternCache(None)
    patterns = PatternCache(find_pattern_file())
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


def _parse(content: bytes) -> dict[_Key, _Made]:
    start = len(_MARK) + _DIGEST_BYTES
    body = content[start:]
    if content[:start] != _MARK + _compute_digest(body):
        return {}
    return {(made.pattern, made.flags): made for made in _DECODER.decode(body)}


def _compute_digest(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(_DIGEST_BYTES, "big")


def _can_restore() -> bool:
    """Return whether this Python makes and restores expressions as those do for which this module was written."""
    try:
        match = _restore(_make(r"\b(?P<day>[a-z]+)day", 0)).search("on monday")
    except (ImportError, AttributeError, TypeError, ValueError, RuntimeError):
        return False
    return match is not None and match["day"] == "mon"


def _make(pattern: str, flags: int) -> _Made:
    compiler, parser = import_module("re._compiler"), import_module("re._parser")
    parsed = parser.parse(pattern, flags)
    code = compiler._code(parsed, flags)
    add_first_characters(code, parsed, flags)
    state = parsed.state
    all_flags, kept_code = int(flags | state.flags), array("I", code).tobytes()
    return _Made(pattern, flags, all_flags, kept_code, state.groups - 1, dict(state.groupdict))


def _restore(made: _Made) -> re.Pattern[str]:
    names: list[str | None] = [None] * (made.group_count + 1)
    for name, index in made.group_index.items():
        names[index] = name
    code = array("I", made.code).tolist()
    restored: re.Pattern[str] = import_module("_sre").compile(
        made.pattern, made.all_flags, code, made.group_count, made.group_index, tuple(names)
    )
    return restored
