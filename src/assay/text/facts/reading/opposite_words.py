"""Pairs of words for contrary events and kinds, of which a question has one and an answer the other.

"It takes 90 minutes down" does not say how long the way up takes. English is compared as it is folded; Vietnamese as it
is written, because "bán" (sell) and "bạn" (you) are folded alike, and without diacritics where a text has none.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from assay.text.facts.reading.read_text import ReadText
from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_in_place

_ENGLISH = (
    (r"buy(?:s|ing)?|bought|purchas\w+", r"sell(?:s|ing)?|sold|rent(?:s|ed|al|ing)?|hir(?:e|es|ed|ing)"),
    (r"borrow\w*|len[dt]|lends|lending|loans?", r"(?:buy|sell)(?:s|ing)?|bought|sold"),
    (r"get(?:s|ting)? on|board(?:s|ed|ing)?", r"get(?:s|ting)? off|disembark\w*|alight\w*"),
    (r"pick(?:s|ed|ing)? up|collect(?:s|ed|ing|ion)?|fetch\w*", r"drop(?:s|ped|ping)? off|hand(?:s|ed|ing)? in"),
    (r"withdraw\w*|take out", r"pay(?:s|ing)? in|deposit(?:s|ed|ing)?"),
    (r"way up|uphill|ascent|go(?:ing)? up", r"way down|downhill|descent|go(?:ing)? down"),
    (r"inbound|incoming|way back|return (?:leg|trip|journey)", r"outbound|outgoing|outward|way out|way there"),
    (r"summer", r"winter"),
    (r"weekdays?", r"weekends?"),
    (r"indoors?", r"outdoors?"),
    (r"daytime|by day|during the day", r"at night|overnight|by night"),
    (r"adults?|grown-ups?", r"child(?:ren)?|kids?|pupils?"),
    (r"first|earliest", r"last|latest"),
    (r"last|latest|previous|most recent", r"next|upcoming|coming"),
    (r"men(?:'s)?", r"women(?:'s)?|ladies"),
)
_VIETNAMESE = (
    (r"(?<!trở )(?<!tăng )(?<!tính )lên(?! (?:đến|tới))", r"xuống"),
    (r"mua", r"bán"),
    (r"thuê|mượn", r"mua|bán"),
    (r"gửi", r"rút"),
    (r"nhập", r"xuất"),
    (r"lên xe|lên tàu", r"xuống xe|xuống tàu"),
    (r"lượt đi|chuyến đi", r"lượt về|chuyến về"),
    (r"một chiều", r"khứ hồi"),
    (r"khai mạc", r"bế mạc"),
    (r"người lớn", r"trẻ em|trẻ con|các bé"),
    (r"mùa hè|mùa mưa", r"mùa đông|mùa khô"),
    (r"ngày thường|trong tuần", r"cuối tuần"),
    (r"trong nhà", r"ngoài trời"),
    (r"ban ngày", r"ban đêm"),
    (r"đầu tiên|chuyến đầu", r"cuối cùng|chuyến cuối|chuyến chót"),
    (r"lần trước|gần nhất|vừa qua", r"lần tới|lần sau|sắp tới|tiếp theo"),
    (r"cấp mới", r"cấp lại|cấp đổi"),
    (r"nam", r"nữ"),
)


_STATES = (
    (r"open(?:s|ed|ing)?", r"clos(?:e|es|ed|ing|ure)|shuts?"),
    (r"includ(?:es?|ed|ing)", r"exclud(?:es?|ed|ing)|(?:costs?|charged|paid) (?:extra|separately)"),
    (r"allow(?:s|ed)?|permit(?:s|ted)?", r"forbid(?:s|den)?|prohibit(?:s|ed)?|bann?(?:ed|s)|disallow(?:s|ed)?"),
    (
        r"(?:get|gets|got|given|paid) (?:it |them |that )?back|returned|refund(?:s|ed)?|reimbursed|receives?",
        r"los(?:e|es|ing|t)|forfeit(?:s|ed)?|withheld|deducted|kept back",
    ),
    (r"lock(?:s|ed|ing)?", r"unlock(?:s|ed|ing)?"),
    (r"enabl(?:e|es|ed|ing)", r"disabl(?:e|es|ed|ing)"),
    (r"(?:switch(?:ed|es)?|turn(?:ed|s)?) on", r"(?:switch(?:ed|es)?|turn(?:ed|s)?) off"),
    (r"accept(?:s|ed)?", r"reject(?:s|ed)?|refus(?:e|es|ed)|turn(?:s|ed)? away"),
    (r"required?|requires|compulsory|mandatory|obligatory", r"optional|voluntary"),
    (r"increas(?:e|es|ed)|rais(?:e|es|ed)|rises?", r"decreas(?:e|es|ed)|reduc(?:e|es|ed)|lower(?:s|ed)?|falls?"),
    (r"upload(?:s|ed|ing)?", r"download(?:s|ed|ing)?"),
    (r"import(?:s|ed|ing)?", r"export(?:s|ed|ing)?"),
    (r"reserved", r"open(?:s|ed)? to (?:the public|everyone|everybody|all)"),
    (r"paid leave|is paid", r"unpaid"),
    (r"penalt(?:y|ies)|fines?|fees?|charges?|costs?|cost", r"waived|remitted|written off"),
    (r"außer betrieb", r"(?<!außer )in betrieb"),
    (r"(?:ge)?öffne\w*|offen", r"geschlossen|schließ\w*|schliess\w*"),
    (r"erlaubt|gestattet|zulässig|zugelassen", r"verboten|untersagt|unzulässig"),
    (r"inbegriffen|inklusive|enthalten", r"exklusive|zzgl|zuzüglich"),
    (r"kostenlos|kostenfrei|gratis", r"kostenpflichtig|gebührenpflichtig"),
    (r"mở cửa", r"đóng cửa"),
    (r"(?<!chưa )(?<!không )bao gồm|đã gồm", r"chưa gồm|chưa bao gồm|không gồm"),
    (r"được phép|cho phép", r"bị cấm|cấm|nghiêm cấm"),
    (r"bật", r"tắt"),
    (r"bắt buộc", r"tự nguyện|tùy chọn"),
    (r"tăng", r"giảm"),
    (r"tải lên", r"tải xuống|tải về"),
)
"""Contrary states, of which question or reference have one and an answer the other."""


def _compile_pairs(pairs: Iterable[tuple[str, str]]) -> list[tuple[LatePattern, LatePattern]]:
    return [(LatePattern(rf"\b(?:{first})\b"), LatePattern(rf"\b(?:{second})\b")) for first, second in pairs]


_WRITTEN_PAIRS = _compile_pairs((*_ENGLISH, *_VIETNAMESE))
_FOLDED_PAIRS = _compile_pairs(
    (*_ENGLISH, *((fold_in_place(first), fold_in_place(second)) for first, second in _VIETNAMESE))
)


_WRITTEN_STATES = _compile_pairs(_STATES)
_FOLDED_STATES = _compile_pairs((fold_in_place(first), fold_in_place(second)) for first, second in _STATES)


def find_opposite_state(texts: Iterable[ReadText], answer: ReadText, low: int, high: int) -> tuple[str, str] | None:
    """Return the state that some texts speak of and its contrary in an answer between two positions; None without one.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> answer = read_text("The hall is closed on 3 May.")
    >>> find_opposite_state([read_text("When is the hall open?")], answer, 0, len(answer.plain))
    ('open', 'closed')
    """
    read = list(texts)
    ignores_marks = not answer.has_marks or not any(text.has_marks for text in read)
    own = answer.plain if ignores_marks else answer.text.lower()
    written = [text.plain if ignores_marks else text.text.lower() for text in read]
    for first, second in _FOLDED_STATES if ignores_marks else _WRITTEN_STATES:
        for asked, other in ((first, second), (second, first)):
            said = other.search(own, low, high)
            if said is None or asked.search(own, low, high) or any(other.search(text) for text in written):
                continue
            wanted = next(filter(None, map(asked.search, written)), None)
            if wanted is not None:
                return wanted[0], answer.text[slice(*said.span())]
    return None


def find_opposite_event(question: ReadText, answer: ReadText, low: int, high: int) -> tuple[str, str] | None:
    """Return what a question says and an answer says instead between two positions; None if there is no such pair.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> answer = read_text("It takes 90 minutes on the way down.")
    >>> find_opposite_event(read_text("How long is the way up?"), answer, 0, len(answer.plain))
    ('way up', 'way down')
    """
    ignores_marks = not (question.has_marks and answer.has_marks)
    own_text = answer.plain if ignores_marks else answer.text.lower()
    for asked, other, (start, end) in _list_asked(question, ignores_marks):
        own = other.search(own_text, low, high)
        if own is not None and not asked.search(own_text, low, high):
            return question.text[start:end], answer.text[slice(*own.span())]
    return None


@lru_cache(maxsize=1024)
def _list_asked(question: ReadText, ignores_marks: bool) -> list[tuple[LatePattern, LatePattern, tuple[int, int]]]:
    """Return the pairs of which a question has one side and not the other: that side, the other, and where it is."""
    text = question.plain if ignores_marks else question.text.lower()
    asked_pairs = []
    for first, second in _FOLDED_PAIRS if ignores_marks else _WRITTEN_PAIRS:
        matches = first.search(text), second.search(text)
        for asked, other, wanted, rival in ((first, second, *matches), (second, first, *matches[::-1])):
            if wanted is not None and rival is None:
                asked_pairs.append((asked, other, wanted.span()))
    return asked_pairs
