"""Words for what something costs and that it costs nothing, in folded text: English and Vietnamese, as data."""

from __future__ import annotations

from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.units import MONEY

NOTHING_TO_PAY = compile_pattern(
    r"\b(?:free(?! (?:to|of (?!charge|cost))\b)(?: of (?:charge|cost))?|complimentary|gratis"
    r"|(?:at|for) no (?:extra |additional )?(?:cost|charge)"
    r"|(?:no|without(?: a| any)?) (?:extra |additional )?(?:charge|fee|fees|fine|fines|costs?)|for nothing"
    r"|(?:pays?|costs?|charged?) (?:you )?nothing|nothing to pay"
    r"|(?:don't|doesn't|do not|does not|won't|need not|needn't|never) (?:have to |need to |be )?(?:pay|cost|charged"
    r"|charge (?:\w+ ){0,2}(?:anything|for|an? (?:fee|cent|penny)))"
    r"|mien phi|khong (?:mat|ton|thu|phai tra|phai dong)(?: them)?(?: \w+)? (?:phi|tien)"
    r"|khong (?:mat|ton|thu|phai tra|phai dong)(?: mot)? (?:dong|xu) nao)\b"
)
"""What says that there is nothing to pay."""
NOTHING_ALONE = LatePattern(
    r"(?:^|[.!?\n] ?|: |it's |it is )(?:absolutely )?(?P<nothing>nothing)\b(?! (?:is|was|else|about|but)\b)"
)
"""An answer to what something costs."""
ASKS_FOR_COST = LatePattern(r"\b(?:costs?|price|fee|fees|charges?|charged|pay|how much|bao nhieu tien|gia|phi)\b")
MAY_BE_FREE = LatePattern(
    r"\b(?:on the house|on us|included|including|without paying|without charge|zero|nil|waived?|covered|gift"
    r"|give(?:n)? away|(?:not|without paying) (?:a|one|any) (?:cent|penny|thing|dime)|no money|nothing|save your"
    r"|bao gom|tang|khong (?:can|phai)|duoc mien)\b"
)
"""What may say that there is nothing to pay, or of something else."""


def is_nothing_to_pay(plain: str) -> bool:
    """Return whether a folded fact only says that there is nothing to pay.

    >>> [is_nothing_to_pay(fact) for fact in ("free of charge", "nothing.", "free for guests")]
    [True, True, False]
    """
    fact = plain.strip(" .!")
    for start in ("it's ", "it is ", "is ", "are "):
        fact = fact.removeprefix(start)
    return fact == "nothing" or NOTHING_TO_PAY.fullmatch(fact) is not None


def is_positive_amount(quantity: Quantity) -> bool:
    """Return whether a quantity is an amount of money above nothing."""
    return any(reading.dimension.startswith(MONEY) and reading.high > 0 for reading in quantity.readings)
