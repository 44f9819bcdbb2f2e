r"""Sets of characters that look up those of Latin in a table, before they ask what kind of character one is.

For `\w`, `\d` and `[^\W_]`, `re` asks Unicode's tables about every character, which takes several times as long. Most
characters of most texts are Latin, and of each the answer is known.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from assay.text.parsed_expressions import Item, import_of_re, rewrite_items

_LATIN = "".join(map(chr, range(256)))
_WORD_BITS = 32


def add_latin_tables(parsed: Any, flags: int) -> None:
    """Add the tables to the sets in what `re._parser` made of an expression.

    The set becomes one block of code, which `re` takes over as it is: the table, and for other characters what it made
    of the set.
    """
    rewrite_items(parsed, flags, import_of_re("_constants").IN, _add_table)


def _add_table(item: Item, flags: int, state: Any) -> list[Item]:
    del state
    constants = import_of_re("_constants")
    if not any(kind is constants.CATEGORY for kind, _ in item[1]):
        return [item]
    code: list[int] = []
    import_of_re("_compiler")._compile(code, [item], flags)
    if code[0] != constants.IN:
        return [item]  # it ignores the case
    return [(constants.IN, [(constants.CHARSET, list(_make_table(tuple(code), flags)))])]


@cache
def _make_table(code: tuple[int, ...], flags: int) -> tuple[int, ...]:
    """Return the code of a set that begins with a table.

    A set yields what holds so far at the first of its members that has a character; "negate" turns that round.
    """
    constants = import_of_re("_constants")
    one = import_of_re("_compiler")._sre.compile("", flags, [*code, constants.SUCCESS], 0, {}, (None,))
    table = [0] * (len(_LATIN) // _WORD_BITS)
    for character in one.findall(_LATIN):
        table[ord(character) // _WORD_BITS] |= 1 << ord(character) % _WORD_BITS
    negate = int(constants.NEGATE)
    others = code[2:-1]  # without the name and the length of the set, and without its end
    return *table, negate, int(constants.RANGE), 0, len(_LATIN) - 1, negate, *others
