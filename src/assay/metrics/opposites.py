"""Words that may reverse a statement: negations and pairs of opposites, in English and Vietnamese.

They indicate a contradiction only between statements that agree otherwise; elsewhere they are hardly better than
chance.
"""

from __future__ import annotations

from collections.abc import Sequence

_PAIRS = (
    "increase/decrease increased/decreased increases/decreases rise/fall rose/fell rising/falling higher/lower "
    "more/less more/fewer before/after above/below minimum/maximum first/last earlier/later accept/reject "
    "accepted/rejected approve/reject approved/rejected allow/forbid allowed/forbidden allowed/prohibited "
    "include/exclude included/excluded includes/excludes always/never all/none required/optional mandatory/optional "
    "open/closed start/end began/ended gain/loss win/lose won/lost buy/sell bought/sold import/export "
    "employee/employer public/private permanent/temporary domestic/international true/false valid/invalid "
    "granted/denied enable/disable enabled/disabled paid/unpaid limited/unlimited internal/external online/offline "
    "manual/automatic inbound/outbound max/min highest/lowest older/newer older/younger larger/smaller longer/shorter "
    "faster/slower pass/fail passed/failed permitted/prohibited permitted/forbidden "
    "tăng/giảm sớm/muộn nhanh/chậm trước/sau trên/dưới cao/thấp nhiều/ít mua/bán"
)
OPPOSITES: dict[str, set[str]] = {}
"""The opposites of each word."""
for _pair in _PAIRS.split():
    _one, _other = _pair.split("/")
    OPPOSITES.setdefault(_one, set()).add(_other)
    OPPOSITES.setdefault(_other, set()).add(_one)


_DENYING = frozenset(
    ("not", "no", "never", "none", "nobody", "nothing", "without", "cannot", "không", "khong", "chưa", "chẳng")
)
_BOUNDS = frozenset(
    "more less fewer later earlier longer sooner only just least most quá chỉ những".split()  # noqa: SIM905  # reads easier
)  # "no more than", "không quá" and "not only" deny nothing
_HEDGES = frozenset(
    "unless until except only if but however although trừ ngoại chỉ nếu nhưng tuy".split()  # noqa: SIM905  # reads easier
)  # next to these, a negation does not deny the whole statement


def denials(words: Sequence[str]) -> int | None:
    """Return 1 if lower-case words contain an odd number of negations, 0 if an even number, and None if unclear.

    >>> denials("staff may not wait".split()), denials("no later than friday".split()), denials(["not", "if"])
    (1, 0, None)
    """
    if not _HEDGES.isdisjoint(words):
        return None
    count = 0
    for word, next_word in zip(words, (*words[1:], ""), strict=True):
        count += is_denial(word) and next_word not in _BOUNDS
    return count % 2


def is_denial(word: str) -> bool:
    """Return whether a lower-case word is a negation."""
    return word in _DENYING or word.endswith(("n't", "n’t"))


def opposite(word: str, words: Sequence[str]) -> str | None:
    """Return the opposite of a word that occurs in `words`; None if there is none or the word itself occurs there.

    >>> opposite("rose", ["prices", "fell"])
    'fell'
    """
    if word in words:
        return None
    return next((candidate for candidate in sorted(OPPOSITES.get(word, ())) if candidate in words), None)
