"""Phrases of one sense: how what a case says may be said in an answer, and bounds that are said by a birthday."""

from __future__ import annotations

_FREE = (
    r"without (?:having to )?pay(?:ing)?|(?:costs?|pays?) nothing|nobody pays"
    r"|(?:doesn't|don't|does not|do not) (?:pay|charge)(?: anything)?(?= ?[.;,!)]| if\b| for it|$)"
    r"|(?:at )?no (?:extra |additional )?(?:cost|charge)\b"
    r"|(?:won't|doesn't|don't) cost (?:you )?a (?:thing|penny|cent)"
)
_MAY = r"(?:you|we|they|one|guests|visitors|members|everyone|everybody) (?:can|may)"
SAME_PHRASES = (
    ("closed", r"(?:(?:do|does|did|is|are|was|were|will|would)(?:n't| not)(?: be)?|not|never) open(?:s|ed)?(?! to\b)"),
    ("not allowed", r"(?<!not )(?<!n't )(?:forbidden|prohibited|banned|off-limits|not permitted)"),
    ("allowed", rf"{_MAY} (?:still )?(?:use|bring|take|have|wear|keep)(?: along)?(?! (?:no|not|it|them)\b)"),
    ("forbidden", r"not (?:allowed|permitted)"),
    ("không được", r"(?<!không )(?:bị )?cấm(?! ơn\b)"),
    ("out of order", r"broken|out of service|not working"),
    ("reception", r"front desk"),
    ("front desk", r"reception(?: desk)?"),
    ("half price", r"50 ?(?:%|per ?cent) off|(?:at )?half the price"),
    ("weekdays", r"(?:from )?mondays? (?:to|through|till|until|[-–]) fridays?|working days"),
    ("Monday to Friday", r"(?:on )?weekdays|working days"),
    ("weekends", r"saturdays? (?:and|or|[&+]) sundays?"),
    ("Saturday and Sunday", r"(?:at |on )?(?:the )?weekends?"),
    ("every second", r"every other"),
    ("every other", r"every (?:second|2nd)"),
    ("first", r"1st"),
    ("second", r"2nd"),
    ("third", r"3rd"),
    (
        "per person",
        r"each(?= ?[.,;!?]|$)|(?:from )?(?:each|every) (?:person|guest|visitor|passenger|participant)|(?:a|per) head",
    ),
    ("black and white", r"b ?/ ?w|b ?& ?w|greyscale|grayscale"),
    ("public holidays", r"bank holidays"),
    ("bank holidays", r"public holidays"),
    ("adult", r"grown-?up"),
    ("adults", r"grown-?ups"),
    ("free of charge", rf"free(?! of\b)|{_FREE}"),
    ("free", _FREE),
    ("miễn phí", r"không (?:mất|tốn|thu|tính) (?:tiền|phí)"),
    ("in advance", r"beforehand|ahead of time"),
    ("every day", r"daily|each day"),
    ("daily", r"every day|each day"),
    ("out of stock", r"sold out"),
    ("sold out", r"out of stock"),
    ("around the clock", r"24 ?/ ?7|24 hours a day|day and night"),
    ("at any time", r"around the clock|24 ?/ ?7|whenever (?:you|they) (?:like|want)"),
    ("the next day", r"the following day|the day after"),
    ("the day before", r"(?:one|a) day (?:before|in advance|ahead|earlier)"),
    ("one day before", r"(?:the|a) day (?:before|in advance|ahead|earlier)"),
    ("on foot", r"walk(?:ing)?"),
    ("as long as", r"provided(?: that)?|providing|on condition that|if"),
    ("provided that", r"as long as|providing|on condition that|if"),
    ("provided", r"as long as|providing|on condition that|if"),
    ("once a year", r"annually|yearly|(?:every|each) year"),
    ("annually", r"once a year|yearly|(?:every|each) year"),
    ("once a month", r"monthly|(?:every|each) month"),
    ("once a week", r"weekly|(?:every|each) week"),
    ("gratuitement", r"sans (?:frais|supplément)"),
    ("kostenlos", r"ohne (?:aufpreis|zusatzkosten|zusätzliche kosten)"),
    ("gratis", r"sin (?:coste|costo|cargo)(?: adicional)?"),
    ("trẻ em", r"các (?:bé|cháu)"),
    ("take place", r"(?:is|are) held"),
    ("go back", r"(?:are |is |get |gets )?(?:sent back|returned)"),
    ("hằng ngày", r"hàng ngày|mỗi ngày"),
    ("hàng ngày", r"hằng ngày|mỗi ngày"),
    ("hằng tuần", r"hàng tuần|mỗi tuần"),
    ("hàng tuần", r"hằng tuần|mỗi tuần"),
    ("hằng tháng", r"hàng tháng|mỗi tháng"),
    ("hàng tháng", r"hằng tháng|mỗi tháng"),
    ("hằng năm", r"hàng năm|mỗi năm"),
    ("hàng năm", r"hằng năm|mỗi năm"),
    ("tiền cọc", r"tiền đặt cọc"),
    ("sous", r"dans (?:un délai de|les)(?= \d)"),
    ("dans un délai de", r"(?:sous|dans les)(?= \d)"),
    ("dans les", r"(?:sous|dans un délai de)(?= \d)"),
)
"""How a phrase of a fact may be said, in folded text. Phrases that name each other stand in both directions."""
BOUNDS_BY_BIRTHDAY = (
    ("under ", r"(?:who )?(?:(?:have|has)(?:n't| not)|not) (?:yet )?turned (?=\w)"),
    ("at least ", r"(?:who )?(?:have|has|'ve|'s) (?:already )?turned (?=\w)|as soon as there are (?=\w)"),
    ("dưới ", r"\bchưa (?:đủ|tới|tròn|đầy) (?=\d)"),
)
"""How a bound is said by a birthday: who has not turned six is under six."""
