"""Words that stand for a number: cardinals, ordinals, and months and weekdays by their place in the year and the week.

English as in lower case, Vietnamese as in folded text.
"""

from __future__ import annotations

CARDINALS = tuple(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen".split()
)
"""The numbers below twenty, each at its index."""
TENS = tuple("twenty thirty forty fifty sixty seventy eighty ninety".split())
ORDINALS = tuple(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth"
    " sixteenth seventeenth eighteenth nineteenth twentieth".split()
)
VIETNAMESE_DIGITS = dict(
    zip("mot hai ba bon tu nam sau bay tam chin".split(), (1, 2, 3, 4, 4, 5, 6, 7, 8, 9), strict=True)
)
MONTHS = tuple("january february march april may june july august september october november december".split())
SHORT_MONTHS = tuple(month[:3] for month in MONTHS)
WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
