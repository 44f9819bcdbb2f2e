"""The errors that Assay raises on purpose.

AssayError
├── InputError           a file, record or argument is wrong; carries one or many `Problem`s      BAD_INPUT
│   ├── SettingsError    settings, gate files or command-line values
│   ├── PluginError      a plugin that cannot be used, named with its distribution
│   └── MetricNameError  a metric name that the catalogue does not know or cannot read
└── IncompleteError      the measurement could not be finished (infrastructure)                   INCOMPLETE
    └── MissingExtraError  packages that only some commands need are not installed

`ExitCode` lists all exit codes of the command.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from enum import IntEnum
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace

MAX_PROBLEMS_KEPT = 1000
MAX_PROBLEMS_SHOWN = 50
MAX_ALIKE_SHOWN = 3
"""Up to so many problems of one kind are shown with their values; more of them are one line with a count."""
MAX_PLACES_NAMED = 5
MAX_BUG_TEXT = 200


class ExitCode(IntEnum):
    """The exit codes of the `assay` command. Only 1 is about quality; 2, 3 and 130 say that nothing was decided."""

    PASS = 0
    """Done; the gate, if there is one, passed."""
    FAILED = 1
    """The gate or a test of the judge failed, or a probe leaked."""
    BAD_INPUT = 2
    """A file, a setting or the command line is wrong."""
    INCOMPLETE = 3
    """Something could not be measured, or the system failed."""
    INTERRUPTED = 130
    """The user pressed Ctrl-C; what was finished is saved."""


class Problem(Struct, frozen=True, order=True):
    """One problem with the input: where it is, what it is and what to do about it."""

    path: str
    line: int | None
    field: str
    message: str
    code: str = ""

    def __str__(self) -> str:
        location = self.path if self.line is None else f"{self.path}:{self.line}"
        text = f"{self.code} {self.message}" if self.code else self.message
        return ": ".join(part for part in (location, self.field, text) if part)


class AssayError(Exception):
    """Base of all errors raised on purpose; `exit_code` is the process's exit status for it."""

    exit_code = ExitCode.BAD_INPUT


class InputError(AssayError):
    """Bad input. Raised once with all problems, so that they can be fixed together."""

    def __init__(self, problems: Iterable[Problem] | str, *, more: int = 0) -> None:
        all_problems = [Problem("", None, "", problems)] if isinstance(problems, str) else list(problems)
        self.problems: Sequence[Problem] = all_problems[:MAX_PROBLEMS_KEPT]
        self.more = more + max(0, len(all_problems) - MAX_PROBLEMS_KEPT)
        super().__init__(str(self))

    def __str__(self) -> str:
        groups = group_alike_problems(self.problems)
        lines = [str(_name_places(group)) for group in groups[:MAX_PROBLEMS_SHOWN]]
        more = self.more + sum(map(len, groups[MAX_PROBLEMS_SHOWN:]))
        if more:
            lines.append(f"… and {more} more")
        return "\n".join(lines)


def group_alike_problems(problems: Iterable[Problem]) -> list[list[Problem]]:
    """Return the problems in their order, with more than three of one kind in one group, at the first of them.

    Two are of one kind if they differ only in their line, in the numbers of list items in their field, and in what was
    got and expected: one habit of whoever wrote the file. Problems of one place are not, because nobody could find the
    values of the others there.

    >>> rows = [Problem("g.jsonl", row, "evidence[0]", f"no unit (got {row})") for row in range(1, 6)]
    >>> [len(group) for group in group_alike_problems([*rows, Problem("g.jsonl", 9, "", "no id")])]
    [5, 1]
    """
    alike: dict[tuple[str, str, str, str], list[tuple[int, Problem]]] = {}
    for number, problem in enumerate(problems):
        field, message = re.sub(r"\[\d+\]", "[]", problem.field), problem.message.partition(" (got ")[0]
        alike.setdefault((problem.path, problem.code, field, message), []).append((number, problem))
    groups: list[tuple[int, list[Problem]]] = []
    for numbered in alike.values():
        members = [problem for _, problem in numbered]
        if _is_one_habit(members):
            groups.append((numbered[0][0], members))
        else:
            groups += [(number, [problem]) for number, problem in numbered]
    return [members for _, members in sorted(groups, key=itemgetter(0))]


def _is_one_habit(problems: Sequence[Problem]) -> bool:
    """Return whether there are more problems than are shown one by one, each at a place of its own."""
    return len(problems) > MAX_ALIKE_SHOWN and len({(problem.line, problem.field) for problem in problems}) == len(
        problems
    )


def _name_places(group: Sequence[Problem]) -> Problem:
    """Return the first of some problems of one kind; its message says how many more there are, and where."""
    problem, *others = group
    if not others:
        return problem
    lines = [other.line for other in others if other.line is not None]
    places = list(dict.fromkeys(map(str, lines) if lines else (other.field for other in others)))
    named = ", ".join(places[:MAX_PLACES_NAMED]) + (" …" if len(places) > MAX_PLACES_NAMED else "")
    where = f"line {named}" if lines and len(places) == 1 else f"lines {named}" if lines else named
    return replace(problem, message=f"{problem.message}; {len(others)} more of this kind: {where}")


class SettingsError(InputError):
    """Settings, gate files or command-line values that cannot be used."""


class PluginError(InputError):
    """A plugin that cannot be used: it cannot be imported, or what it adds breaks the rules for it."""


class MetricNameError(InputError):
    """A metric name that the catalogue does not know or cannot read."""


class MissingLibraryError(AssayError, ImportError):
    """A library that only some functions need is not installed."""

    def __init__(self, library: str) -> None:
        super().__init__(f"{library} is not installed (pip install {library}, or use to_columns())")


class IncompleteError(AssayError):
    """The measurement could not be finished. Nothing that was not measured has a score."""

    exit_code = ExitCode.INCOMPLETE


class MissingExtraError(IncompleteError):
    """Packages that only some commands need are not installed; nothing is wrong with the input."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs the optional extra: pip install 'rag-assay[{extra}]'")


BUG_CODE = "assay_bug"
"""The error code of a row that met an exception nobody foresaw."""


BUG_EVENT = "assay.bug"
"""The audit event of each line about a bug in Assay; a hook can watch for it, as the tests do."""


def describe_bug(error: BaseException) -> str:
    """Return one line for an exception that nobody foresaw: what, where in the code, and what to do about it.

    >>> describe_bug(KeyError("x"))
    "KeyError: 'x' (a bug in Assay: please report this line, with the row if you can)"
    """
    line = f"{describe_exception(error)} (a bug in Assay: please report this line, with the row if you can)"
    sys.audit(BUG_EVENT, line)
    return line


def describe_exception(error: BaseException) -> str:
    """Return the type of an exception, where in the code it was raised, and its message on one line."""
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    code_location = (
        f" at {frames.tb_frame.f_code.co_filename.rpartition('/')[2]}:{frames.tb_lineno}" if frames is not None else ""
    )
    text = " ".join(str(error).split())
    message = text if len(text) <= MAX_BUG_TEXT else text[: MAX_BUG_TEXT - 1] + "…"
    return f"{type(error).__name__}{code_location}: {message or 'no message'}"


def shorten_repr(value: object, limit: int = 80) -> str:
    """Return `repr(value)` cut to `limit` characters, for use inside an error message.

    >>> shorten_repr("x" * 100, limit=10)
    "'xxxxxxxx…"
    """
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
