"""Words that may turn a statement round: negations and pairs of opposites, in English and Vietnamese.

They are near chance as a measure of contradiction, so they only explain: no score depends on them.
"""

from __future__ import annotations

from collections.abc import Set

_NEGATIONS = frozenset(
    ("not", "no", "never", "none", "neither", "nor", "nobody", "nothing", "without", "cannot", "không", "chưa", "chẳng")
)
_PAIRS = (
    "increase/decrease increased/decreased increases/decreases rise/fall rose/fell rising/falling higher/lower "
    "more/less more/fewer before/after above/below minimum/maximum first/last earlier/later accept/reject "
    "accepted/rejected approve/reject approved/rejected allow/forbid allowed/forbidden allowed/prohibited "
    "include/exclude included/excluded includes/excludes always/never all/none required/optional mandatory/optional "
    "open/closed start/end began/ended gain/loss win/lose won/lost buy/sell bought/sold import/export "
    "employee/employer public/private permanent/temporary domestic/international true/false valid/invalid "
    "tăng/giảm trước/sau trên/dưới cao/thấp nhiều/ít mua/bán"
)
_OPPOSITES: dict[str, set[str]] = {}
for _pair in _PAIRS.split():
    _one, _other = _pair.split("/")
    _OPPOSITES.setdefault(_one, set()).add(_other)
    _OPPOSITES.setdefault(_other, set()).add(_one)


def turned(claim: Set[str], evidence: Set[str]) -> tuple[str, ...]:
    """Return what may make a claim say the opposite of its evidence; both are given as their words in lower case.

    >>> turned({"prices", "rose", "not"}, {"prices", "fell"})
    ('a negation only in the claim', '"rose" where the evidence has "fell"')
    """
    hints = []
    denied, denies = _negated(claim), _negated(evidence)
    if denied != denies:
        hints.append(f"a negation only in the {'claim' if denied else 'evidence'}")
    for word in sorted(claim - evidence):
        hints += [
            f'"{word}" where the evidence has "{other}"' for other in sorted(_OPPOSITES.get(word, set()) & evidence)
        ]
    return tuple(hints)


def _negated(words: Set[str]) -> bool:
    return not _NEGATIONS.isdisjoint(words) or any(word.endswith(("n't", "n’t")) for word in words)
