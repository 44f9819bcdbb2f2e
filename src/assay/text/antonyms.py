"""Words of contrary meaning, in pairs: a text with one of a pair says the contrary of a text with the other."""

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
ANTONYMS: dict[str, set[str]] = {}
"""The words of contrary meaning to each word."""
for _pair in _PAIRS.split():
    _one, _other = _pair.split("/")
    ANTONYMS.setdefault(_one, set()).add(_other)
    ANTONYMS.setdefault(_other, set()).add(_one)


def find_antonym(word: str, words: Sequence[str]) -> str | None:
    """Return the antonym of a word that occurs in `words`; None if there is none or the word itself occurs there.

    >>> find_antonym("rose", ["prices", "fell"])
    'fell'
    """
    if word in words:
        return None
    return next((candidate for candidate in sorted(ANTONYMS.get(word, ())) if candidate in words), None)
