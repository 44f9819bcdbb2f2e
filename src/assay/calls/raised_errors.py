"""Exceptions of a target in this process: their text, and the line of the user's own code in which they arose."""

from __future__ import annotations

import sys
import sysconfig
import traceback
from pathlib import Path

from assay.calls.interfaces import MAX_MESSAGE_CHARS, CallError

_OWN_PACKAGE = Path(__file__).resolve().parents[1]
_MAX_TEXT = MAX_MESSAGE_CHARS - 200
"""What a text may take of a message, so that the place after it is not cut off."""


def make_exception_error(error: BaseException) -> CallError:
    """Return the failed call that stands for an exception of a target: code `exception`, type, text and place."""
    text = format_exception(error)
    if len(text) > _MAX_TEXT:
        text = text[: _MAX_TEXT - 1] + "…"
    line = find_raising_line(error)
    return CallError("exception", f"{text}, at {line}" if line else text)


def format_exception(error: BaseException) -> str:
    """Return the type and the text of an exception; many, such as time-outs, are raised without a text.

    >>> format_exception(KeyError("key")), format_exception(TimeoutError())
    ("KeyError: 'key'", 'TimeoutError without a message')
    """
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else f"{type(error).__name__} without a message"


def find_raising_line(error: BaseException) -> str:
    """Return `file:line` of the last frame in code that is neither Assay's nor installed, "" without such a frame.

    The file is named as it lies below the working directory or the folder from which it was imported, so that no path
    of the machine is told and the same failure has the same text elsewhere.
    """
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if frame.filename.startswith("<") or frame.lineno is None or _is_installed(path):
            continue
        return f"{_name_below_search_path(path)}:{frame.lineno}"
    return ""


def _is_installed(path: Path) -> bool:
    resolved = _resolve(path)
    folders = [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return any(resolved.is_relative_to(folder) for folder in (_OWN_PACKAGE, *folders))


def _name_below_search_path(path: Path) -> str:
    """Return the path below the working directory, else below a folder of the search path, else the file's name."""
    resolved = _resolve(path)
    entries = [Path(entry) for entry in sys.path if entry and Path(entry).is_dir()]
    for folder in map(_resolve, (Path(), *entries)):
        # Below the root of the machine, the whole path would be told.
        if folder.parent != folder and resolved.is_relative_to(folder):
            return resolved.relative_to(folder).as_posix()
    return resolved.name


def _resolve(path: Path) -> Path:
    try:
        return path.resolve()
    except OSError:  # the working directory was removed
        return path
