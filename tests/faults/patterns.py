"""Attacks every regular expression of the package: `python -m tests.faults.patterns` prints the slowest ones.

The expressions are those that modules and shipped lexicons hold, and those in calls of `re`. Attack strings are derived
from each expression: every part that repeats is pumped, alone and after what must come before it. A quadratic
expression needs minutes for the strings that take a linear one milliseconds, so that a limit on processor time
separates them on any machine, however busy. The limit is a timer of the process: Python's matcher looks for signals.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import pkgutil
import re
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]  # the parser of `re` has no public name
from re import _parser as parser  # type: ignore[attr-defined]  # as above
from types import ModuleType
from typing import Any

from tests.support.source_files import iter_nodes

import assay
from assay.text.late_pattern import LatePattern
from assay.text.refusals.lexicon_file import list_shipped_languages, load_shipped_lexicon

PACKAGE = Path(str(assay.__file__)).parent
CANDIDATES = "a 0A.,\n\t-_\"'()[]{}<>:;/|#*=+\\é中đ\u0301&%@!?^~`$\0"
GENERIC = ("a", " ", "\n", "0", "(", "[", '"', "\\", "a ", "a.", "1,", "<", "a\n", "[1] ", "é", "中", "-", "./", "a: ")
ENDS = ("\0", "")
WAYS = ("search", "match", "fullmatch")
ALL_MATCHES = {"finditer", "findall", "sub", "subn", "split"}
METHODS = {*WAYS, *ALL_MATCHES}
SHARES = (32, 8, 1)
"""Texts are tried at these shares of their length, in turn: an expression that is worse than quadratic never ends at
the first, and one that is fast enough there for a quadratic one needs no more."""


@dataclass(frozen=True)
class Expression:
    """A regular expression with the place where it is, and whether it is only tried at one position of a text."""

    name: str
    pattern: re.Pattern[Any]
    way: str = "search"


BOUNDED = {
    "assay.judging.independence._SNAPSHOT": (200, "only the end of a name is searched"),
    "assay.text.citation_markers._ID": (200, "a marker has 200 characters at most"),
    "assay.text.citation_markers._GLUED_ID": (200, "a marker has 200 characters at most"),
    "assay.text.citation_markers._SURE_ID": (200, "a marker has 200 characters at most"),
    "assay.report.page.html_page._SCRIPT_ELEMENT": (0, "sees the page of the package, and nothing of the user's"),
    "assay.report.page.html_page._STYLE_ELEMENT": (0, "sees the page of the package, and nothing of the user's"),
}
"""Expressions that are not linear, with the longest text that they see, and why."""


class TooSlowError(Exception):
    """Raised when the limit on processor time is over."""


@cache
def find_expressions() -> tuple[Expression, ...]:
    """Return every compiled expression that a module holds, and every constant one in a call of `re`."""
    held = {
        (module.__name__, name): patterns
        for module in _import_modules()
        for name, value in vars(module).items()
        if (patterns := list(list_patterns(name, value)))
    }
    uses = find_uses({name for _, name in held})
    expressions: dict[tuple[Any, int], Expression] = {}
    for (module_name, name), patterns in held.items():
        ways = uses.get((module_name, name), {"search"})
        for place, pattern in patterns:
            way = next(iter(ways)) if place == name and len(ways) == 1 and ways <= set(WAYS) else "search"
            key = (pattern.pattern, pattern.flags)
            if key not in expressions or way == "search":
                expressions[key] = Expression(f"{module_name}.{place}", pattern, way)
    for expression in (*find_calls(), *find_lexicon_expressions()):
        expressions.setdefault((expression.pattern.pattern, expression.pattern.flags), expression)
    return tuple(sorted(expressions.values(), key=lambda expression: expression.name))


def _import_modules() -> Iterator[ModuleType]:
    """Yield the modules of the package; those of an extra that is not installed are left out."""
    for module in pkgutil.walk_packages(assay.__path__, "assay.", onerror=lambda _: None):
        try:
            yield importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("assay"):
                raise


def find_lexicon_expressions() -> Iterator[Expression]:
    """Yield the expressions of the shipped lexicons, which are compiled when they are used."""
    for language in list_shipped_languages():
        lexicon = load_shipped_lexicon(language)
        for name, pattern in lexicon.patterns.items():
            yield Expression(f"lexicon {language}.{name}", pattern)
        for first_words, phrases in lexicon.phrases.items():
            for phrase in phrases:
                if set("*+{") & set(phrase.following_pattern.pattern):
                    yield Expression(f"lexicon {language} after {first_words}", phrase.following_pattern, "match")


def list_patterns(name: str, value: object, depth: int = 0) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Yield the expressions in a value, with names."""
    if isinstance(value, LatePattern):
        value = value.compiled
    if isinstance(value, re.Pattern):
        yield name, value
    elif isinstance(value, dict) and depth < 4 and not name.startswith("__"):
        for key, member in value.items():
            yield from list_patterns(f"{name}[{str(key)[:30]!r}]", member, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset) and depth < 4:
        for index, member in enumerate(value):
            yield from list_patterns(f"{name}[{index}]", member, depth + 1)


def find_uses(names: Iterable[str]) -> dict[tuple[str, str], set[str]]:
    """Return the methods called on these names in each module; a name that is passed on is searched for."""
    uses: dict[tuple[str, str], set[str]] = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        here = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        origins: dict[str, tuple[str, str]] = {}
        called: dict[int, str] = {}
        loaded: list[ast.Name] = []
        for node in iter_nodes(path, names):
            if isinstance(node, ast.ImportFrom):
                origins |= {alias.asname or alias.name: (node.module or "", alias.name) for alias in node.names}
            elif isinstance(node, ast.Attribute):
                called[id(node.value)] = node.attr
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                loaded.append(node)
        for node in loaded:
            method = called.get(id(node), "")
            uses[origins.get(node.id, (here, node.id))].add(method if method in METHODS else "search")
    return uses


def find_calls() -> Iterator[Expression]:
    """Yield the constant expressions in calls such as `re.sub(...)`."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in iter_nodes(path, [f"re.{method}" for method in METHODS]):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            owner, argument = node.func.value, node.args[0]
            is_call = isinstance(owner, ast.Name) and owner.id == "re" and node.func.attr in METHODS
            if is_call and isinstance(argument, ast.Constant):
                way = node.func.attr if node.func.attr in WAYS else "search"
                yield Expression(f"{path.stem}:{node.lineno}", re.compile(argument.value), way)


def sample(node: tuple[Any, Any]) -> list[str]:
    """Return up to three texts that a part of a parsed expression matches."""
    kind, value = node
    if kind is codes.LITERAL:
        return [chr(value)]
    if kind in (codes.IN, codes.ANY, codes.NOT_LITERAL):
        return list(islice((mark for mark in CANDIDATES if is_in(node, mark)), 3)) or ["a"]
    if kind is codes.BRANCH:
        return [text for branch in value[1][:3] for text in sample_all(branch)[:1]]
    if kind is codes.SUBPATTERN:
        return sample_all(value[3])
    if kind is codes.ATOMIC_GROUP:
        return sample_all(value)
    if kind in REPEATS:
        least, _, body = value
        return [text * max(1, min(least, 3)) for text in sample_all(body)]
    return [""]


REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


def sample_all(nodes: Any) -> list[str]:
    """Return up to three texts that a sequence of parts matches."""
    texts = ["", "", ""]
    for node in nodes:
        samples = sample(node) or [""]
        texts = [text + samples[index % len(samples)] for index, text in enumerate(texts)]
    return list(dict.fromkeys(texts))


def is_in(node: tuple[Any, Any], mark: str) -> bool:
    """Return whether a class of characters has a character."""
    kind, value = node
    if kind is codes.ANY:
        return mark != "\n"
    if kind is codes.NOT_LITERAL:
        return bool(ord(mark) != value)
    is_negated = value[0][0] is codes.NEGATE
    has: bool = any(_has(item, mark) for item in value[int(is_negated) :])
    return has != bool(is_negated)


def _has(item: tuple[Any, Any], mark: str) -> bool:
    kind, value = item
    if kind is codes.LITERAL:
        return bool(ord(mark) == value)
    if kind is codes.RANGE:
        return bool(value[0] <= ord(mark) <= value[1])
    name = str(value).lower()
    tests: dict[str, Callable[[str], bool]] = {
        "digit": str.isdigit,
        "space": str.isspace,
        "word": lambda text: text.isalnum() or text == "_",
    }
    return tests[name.rpartition("_")[2]](mark) != ("not" in name)


def list_pumps(nodes: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield what comes before each part that repeats, and what repeats."""
    for node in nodes:
        kind, value = node
        if kind in REPEATS:
            if value[1] > 20:
                yield from ((before, body) for body in sample_all(value[2]) if body)
            yield from list_pumps(value[2], before)
        elif kind is codes.BRANCH:
            for branch in value[1]:
                yield from list_pumps(branch, before)
        elif kind is codes.SUBPATTERN:
            yield from list_pumps(value[3], before)
        elif kind is codes.ATOMIC_GROUP:
            yield from list_pumps(value, before)
        elif kind in (codes.ASSERT, codes.ASSERT_NOT):
            yield from list_pumps(value[1], before)
        before += (sample(node) or [""])[0]


def make_attacks(pattern: re.Pattern[Any], size: int) -> Iterator[str]:
    """Yield texts of about `size` characters on which a badly written expression needs a long time."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    parsed = parser.parse(text, pattern.flags & ~re.DEBUG & ~(re.UNICODE if isinstance(pattern.pattern, bytes) else 0))
    attacked: set[str] = set()
    for before, body in [*list_pumps(parsed), *(("", body) for body in GENERIC)]:
        for head, unit in ((before, body), ("", before + body)):
            start = head + unit * min(4, size)
            if start in attacked:
                continue
            attacked.add(start)
            pumped = head + unit * (size // max(1, len(unit)))
            yield from (pumped + end for end in ENDS[: 1 if body in GENERIC else 2])


def time_expression(expression: Expression, size: int, limit: float) -> tuple[float, str]:
    """Return the processor time of the slowest attack and its beginning. Raises TooSlowError after `limit` seconds."""
    slowest, worst = 0.0, ""
    size = min(size, BOUNDED.get(expression.name, (size, ""))[0])
    for text in make_attacks(expression.pattern, size):
        subject: Any = text.encode("utf-8", "replace") if isinstance(expression.pattern.pattern, bytes) else text
        try:
            for share in SHARES:
                spent = _time_match(expression, subject[: size // share] + subject[-1:], limit)
                # Even if time grows with the square of the length, the whole text takes less than the limit.
                if spent * share**2 <= limit:
                    break
        except TooSlowError:
            raise TooSlowError(f"{expression.name}: more than {limit} s on {text[:60]!r}… {text[-5:]!r}") from None
        if spent > slowest:
            slowest, worst = spent, text[:40]
    return slowest, worst


def _time_match(expression: Expression, subject: Any, limit: float) -> float:
    began = time.process_time()
    with limit_processor_time(limit):
        match_text(expression, subject)
    return time.process_time() - began


def match_text(expression: Expression, subject: Any) -> None:
    """Use the expression in the way in which the package uses it."""
    if expression.way in ("match", "fullmatch"):
        getattr(expression.pattern, expression.way)(subject)
        return
    for _ in expression.pattern.finditer(subject):
        pass


class limit_processor_time:  # a context manager that is used like a function
    """Raises TooSlowError in the block after so many seconds of processor time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        self._previous = signal.signal(signal.SIGVTALRM, self._stop)
        signal.setitimer(signal.ITIMER_VIRTUAL, self._seconds)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, self._previous)

    def _stop(self, *_: object) -> None:
        raise TooSlowError


def main() -> int:
    """Parse the command line, attack all expressions and print the slowest ones."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--size", type=int, default=2**20)
    arguments.add_argument("--only", default="", help="a part of the names of the expressions to attack")
    arguments.add_argument("--limit", type=float, default=1.0, help="seconds of processor time for one text")
    options = arguments.parse_args()
    times, failures = [], []
    expressions = [expression for expression in find_expressions() if options.only in expression.name]
    for number, expression in enumerate(expressions):
        if number % 50 == 0:
            sys.stdout.write(f"{number} of {len(expressions)} expressions\n")
            sys.stdout.flush()
        try:
            times.append((*time_expression(expression, options.size, options.limit), expression.name))
        except TooSlowError as error:
            failures.append(str(error))
            sys.stdout.write(f"{error}\n")
            sys.stdout.flush()
    for spent, text, name in sorted(times, reverse=True)[:10]:
        sys.stdout.write(f"{spent:.3f} s {name} {text!r}\n")
    sys.stdout.write(f"{len(times) + len(failures)} expressions, {options.size} characters: {len(failures)} too slow\n")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
