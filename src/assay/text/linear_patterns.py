"""Regular expressions in linear time: patterns of the user's that run over answers and contexts of any length.

Python's own engine backtracks, so that `(a+)+$` on forty letters takes hours. Here a pattern is a set of states that
moves through the text once: the time is proportional to the length of the text, whatever the pattern. What cannot be
had in linear time, back references and look-around, is not supported. `^` and `$` are the ends of the text; `(?i)` at
the beginning ignores case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from msgspec import Struct

from assay.text.late_pattern import LatePattern

MAX_STATES = 2_000
"""States of a pattern: repetitions with bounds are written out, so that `(a{100}){100}` is refused."""
MAX_PATTERN_CHARS = 1_000
MAX_DEPTH = 50
_CACHE_SIZE = 50_000

CharTest = Callable[[str], bool]


class PatternError(ValueError):
    """A pattern that cannot be used: what is wrong, and at which character of it (from 0)."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} at character {position + 1}")
        self.message, self.position = message, position


class _State(Struct, frozen=True):
    """One state: it consumes a character that passes `test`, or an assertion holds, or it moves on without either."""

    test: CharTest | None = None
    assertion: str = ""
    following: tuple[int, ...] = ()


class _Node(Struct, frozen=True):
    """A part of a pattern: `char`, `assert`, `sequence`, `choice` or `repeat` (`low` to `high` times, None: any)."""

    kind: str
    parts: tuple[_Node, ...] = ()
    test: CharTest | None = None
    assertion: str = ""
    low: int = 0
    high: int | None = None


_CLASSES: dict[str, CharTest] = {
    "d": str.isdecimal,
    "w": lambda char: char.isalnum() or char == "_",
    "s": str.isspace,
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_SPECIAL = frozenset("\\^$.|?*+()[]{}-/#&~ \"'`!@%=:;,<>_")
_COUNTED = LatePattern(r"\{(\d{1,4})(,?)(\d{0,4})\}")


class _Parser:
    """Reads a pattern into nodes."""

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        self._pattern, self._position, self._depth = pattern, 0, 0
        self._ignore_case = ignore_case

    def parse(self) -> _Node:
        if len(self._pattern) > MAX_PATTERN_CHARS:
            raise PatternError(f"longer than {MAX_PATTERN_CHARS} characters", MAX_PATTERN_CHARS)
        node = self._parse_choice()
        if self._position < len(self._pattern):
            raise PatternError("a ) without its (", self._position)
        return node

    def _peek(self) -> str:
        return self._pattern[self._position : self._position + 1]

    def _parse_choice(self) -> _Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise PatternError(f"groups nested more than {MAX_DEPTH} deep", self._position)
        branches = [self._parse_sequence()]
        while self._peek() == "|":
            self._position += 1
            branches.append(self._parse_sequence())
        self._depth -= 1
        return branches[0] if len(branches) == 1 else _Node("choice", tuple(branches))

    def _parse_sequence(self) -> _Node:
        parts: list[_Node] = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._parse_repeats(self._parse_atom()))
        return _Node("sequence", tuple(parts))

    def _parse_repeats(self, node: _Node) -> _Node:
        while True:
            char = self._peek()
            counted = _COUNTED.match(self._pattern, self._position) if char == "{" else None
            if counted is not None:
                low = int(counted[1])
                high = int(counted[3]) if counted[3] else (None if counted[2] else low)
                if high is not None and high < low:
                    raise PatternError("a repetition with its bounds reversed", self._position)
                self._position = counted.end()
            elif char and char in "*+?":
                low, high = int(char == "+"), 1 if char == "?" else None
                self._position += 1
            else:
                return node
            if node.kind == "assert":
                raise PatternError("a repetition of an anchor", self._position - 1)
            if self._peek() in ("?", "+"):  # lazy and possessive forms match the same texts, or are not linear
                if self._peek() == "+":
                    raise PatternError("a possessive repetition, which is not supported", self._position)
                self._position += 1
            node = _Node("repeat", (node,), low=low, high=high)

    def _parse_atom(self) -> _Node:
        start, char = self._position, self._peek()
        self._position += 1
        if char == "(":
            return self._parse_group(start)
        if char == "[":
            return _Node("char", test=self._parse_class(start))
        if char == ".":
            return _Node("char", test=lambda other: other != "\n")
        if char in "^$":
            return _Node("assert", assertion=char)
        if char == "\\":
            return self._parse_escape(start)
        if char in "*+?":
            raise PatternError("a repetition of nothing", start)
        return _Node("char", test=self._literal(char))

    def _parse_group(self, start: int) -> _Node:
        if self._peek() == "?":
            if self._pattern[self._position : self._position + 2] != "?:":
                raise PatternError("a group that is not supported: only ( ) and (?: ) are", start)
            self._position += 2
        node = self._parse_choice()
        if self._peek() != ")":
            raise PatternError("a ( without its )", start)
        self._position += 1
        return node

    def _parse_escape(self, start: int) -> _Node:
        char = self._peek()
        self._position += 1
        if char in ("b", "B"):
            return _Node("assert", assertion=char)
        if char and char in "AZz":
            return _Node("assert", assertion="^" if char == "A" else "$")
        return _Node("char", test=self._escaped_test(char, start))

    def _escaped_test(self, char: str, start: int) -> CharTest:
        if char.lower() in _CLASSES:
            test = _CLASSES[char.lower()]
            return test if char.islower() else lambda other: not test(other)
        if char in _ESCAPES:
            return self._literal(_ESCAPES[char])
        if char and char in _SPECIAL:
            return self._literal(char)
        raise PatternError(f"an escape that is not supported (\\{char})", start)

    def _literal(self, char: str) -> CharTest:
        if self._ignore_case:
            folded = char.casefold()
            return lambda other: other.casefold() == folded
        return lambda other: other == char

    def _parse_class(self, start: int) -> CharTest:
        negated = self._peek() == "^"
        self._position += negated
        tests: list[CharTest] = []
        is_first = True
        while self._peek() != "]" or is_first:
            if not self._peek():
                raise PatternError("a [ without its ]", start)
            is_first = False
            tests.append(self._parse_class_member())
        self._position += 1
        if negated:
            return lambda char: not any(test(char) for test in tests)
        return lambda char: any(test(char) for test in tests)

    def _parse_class_member(self) -> CharTest:
        start, char = self._position, self._peek()
        self._position += 1
        if char == "\\":
            escaped = self._peek()
            self._position += 1
            if escaped.lower() in _CLASSES:
                return self._escaped_test(escaped, start)
            if escaped not in _ESCAPES and not (escaped and escaped in _SPECIAL):
                raise PatternError(f"an escape that is not supported (\\{escaped})", start)
            char = _ESCAPES.get(escaped, escaped)
        ahead = self._pattern[self._position : self._position + 2]
        if len(ahead) == 2 and ahead[0] == "-" and ahead[1] not in "]\\":
            self._position += 2
            if ahead[1] < char:
                raise PatternError("a range with its ends reversed", start)
            return self._range(char, ahead[1])
        return self._literal(char)

    def _range(self, low: str, high: str) -> CharTest:
        if self._ignore_case:
            return lambda char: low <= char.lower() <= high or low <= char.upper() <= high
        return lambda char: low <= char <= high


class _Builder:
    """Turns nodes into states; the last state is the end of a match."""

    def __init__(self) -> None:
        self.states: list[_State] = []

    def add(self, state: _State) -> int:
        if len(self.states) >= MAX_STATES:
            raise PatternError(f"too large: it needs more than {MAX_STATES} states", 0)
        self.states.append(state)
        return len(self.states) - 1

    def build(self, node: _Node, following: int) -> int:
        """Add the states of a node that lead to the following state; return the first."""
        if node.kind == "char":
            return self.add(_State(node.test, "", (following,)))
        if node.kind == "assert":
            return self.add(_State(None, node.assertion, (following,)))
        if node.kind == "sequence":
            for part in reversed(node.parts):
                following = self.build(part, following)
            return following
        if node.kind == "choice":
            return self.add(_State(following=tuple(self.build(part, following) for part in node.parts)))
        return self._build_repeat(node, following)

    def _build_repeat(self, node: _Node, following: int) -> int:
        (part,) = node.parts
        first = following
        if node.high is None:
            loop = self.add(_State())
            self.states[loop] = _State(following=(self.build(part, loop), following))
            first = loop
        else:
            for _ in range(node.high - node.low):
                first = self.add(_State(following=(self.build(part, first), following)))
        for _ in range(node.low):
            first = self.build(part, first)
        return first


_IGNORE_CASE = "(?i)"


def _parse(pattern: str, ignore_case: bool) -> _Node:
    """Return a pattern as nodes; `(?i)` at its beginning ignores case, as an option does."""
    if not pattern.startswith(_IGNORE_CASE):
        return _Parser(pattern, ignore_case=ignore_case).parse()
    try:
        return _Parser(pattern.removeprefix(_IGNORE_CASE), ignore_case=True).parse()
    except PatternError as error:
        raise PatternError(error.message, error.position + len(_IGNORE_CASE)) from None


class LinearPattern:
    """A compiled pattern. Sets of states are the bits of a number."""

    def __init__(self, pattern: str, *, ignore_case: bool = False) -> None:
        """Raises PatternError for a pattern that is malformed, not supported or too large."""
        builder = _Builder()
        accept = builder.add(_State())
        first = builder.build(_parse(pattern, ignore_case), accept)
        self.pattern, self.ignore_case = pattern, ignore_case
        self._states = builder.states
        self._accept, self._first = 1 << accept, 1 << first
        self._before: list[list[int]] = [[] for _ in self._states]
        for number, state in enumerate(self._states):
            for following in state.following:
                self._before[following].append(number)
        self._steps: dict[tuple[int, str, bool], int] = {}
        self._closures: dict[tuple[int, str, bool], int] = {}

    def matches(self, text: str) -> bool:
        """Return whether the pattern occurs anywhere in a text.

        >>> LinearPattern(r"^INC-\\d{4}$").matches("INC-2024"), LinearPattern("(a+)+$").matches("a" * 50 + "b")
        (True, False)
        """
        return any(states & self._accept for states in self._walk(text))

    def find_covered(self, text: str) -> list[tuple[int, int]]:
        """Return the stretches of a text of which each character belongs to some match, as (start, end), in order.

        Overlapping and adjacent matches are one stretch, and of several possible matches all count: what a rule of
        redaction may mean is covered.

        >>> LinearPattern(r"\\d{3}-\\d{2}").find_covered("call 555-12, 777-34")
        [(5, 11), (13, 19)]
        """
        forward = list(self._walk(text))
        covered: list[tuple[int, int]] = []
        backward = self._close(self._accept, _context(text, len(text)), backward=True)
        for position in range(len(text) - 1, -1, -1):
            consumed = self._step(backward, text[position], backward=True)
            if consumed & forward[position]:
                end = covered.pop()[1] if covered and covered[-1][0] == position + 1 else position + 1
                covered.append((position, end))
            backward = self._close(consumed | self._accept, _context(text, position), backward=True)
        return covered[::-1]

    def replace(self, text: str, replacement: str) -> str:
        """Return a text with every covered stretch replaced."""
        pieces, end_of_last = [], 0
        for start, end in self.find_covered(text):
            pieces += [text[end_of_last:start], replacement]
            end_of_last = end
        return "".join([*pieces, text[end_of_last:]])

    def _walk(self, text: str) -> Iterator[int]:
        """Yield the states before each character and after the last one; a match may begin anywhere."""
        states = self._close(self._first, _context(text, 0), backward=False)
        yield states
        for position, char in enumerate(text, 1):
            states = self._step(states, char, backward=False)
            states = self._close(states | self._first, _context(text, position), backward=False)
            yield states

    def _step(self, states: int, char: str, *, backward: bool) -> int:
        """Return the states after a character; backwards, the states from which it leads to these."""
        key = states, char, backward
        cached = self._steps.get(key)
        if cached is not None:
            return cached
        reached = 0
        for number in _bits(states):
            if backward:
                for earlier in self._before[number]:
                    test = self._states[earlier].test
                    if test is not None and test(char):
                        reached |= 1 << earlier
            else:
                state = self._states[number]
                if state.test is not None and state.test(char):
                    reached |= 1 << state.following[0]
        if len(self._steps) < _CACHE_SIZE:
            self._steps[key] = reached
        return reached

    def _close(self, states: int, context: str, *, backward: bool) -> int:
        """Return the states and all that can be reached from them, or lead to them, without a character."""
        key = states, context, backward
        cached = self._closures.get(key)
        if cached is not None:
            return cached
        closed, waiting = states, list(_bits(states))
        while waiting:
            number = waiting.pop()
            neighbours = self._before[number] if backward else self._states[number].following
            for neighbour in neighbours:
                source = self._states[neighbour if backward else number]
                if source.test is not None or (source.assertion and source.assertion not in context):
                    continue
                if not closed >> neighbour & 1:
                    closed |= 1 << neighbour
                    waiting.append(neighbour)
        if len(self._closures) < _CACHE_SIZE:
            self._closures[key] = closed
        return closed


def _bits(states: int) -> Iterator[int]:
    while states:
        lowest = states & -states
        yield lowest.bit_length() - 1
        states ^= lowest


def _context(text: str, position: int) -> str:
    """Return the assertions that hold at a position."""
    before = position > 0 and _CLASSES["w"](text[position - 1])
    after = position < len(text) and _CLASSES["w"](text[position])
    holding = "b" if before != after else "B"
    if position == 0:
        holding += "^"
    if position == len(text):
        holding += "$"
    return holding


@lru_cache(maxsize=256)
def compile_linear(pattern: str, *, ignore_case: bool = False) -> LinearPattern:
    """Return the compiled pattern, the same object for the same pattern. Raises PatternError."""
    return LinearPattern(pattern, ignore_case=ignore_case)
