"""Vietnamese words that folding makes like other ones, and how they are spelled.

"Chứa" (holds) is folded like "chưa" (not yet), "cô" (Miss) like "có" (yes). The cues of the rules are for folded text;
how the answer writes a word tells which one it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.text.facts.reading.read_text import ReadText
from assay.text.normalisation import fold_in_place
from assay.text.pattern_cache import compile_pattern

_SPELLINGS = {
    fold_in_place(spelled): spelled
    for spelled in """
    không chưa chẳng khỏi có vâng được là mới trừ đâu miễn hơn hỏi để của từ với giúp giảm tăng bớt thưởng phạt hoàn
    """.split()
}
_SPELLINGS |= {
    fold_in_place(spelled): spelled for spelled in ("từ chối", "ít khi", "hiếm khi", "đâu có", "đâu được", "đâu phải")
}
"""How the words that cues are made of are spelled, by their folded form."""


def is_other_word(folded: str, written: str) -> bool:
    """Return whether a word that is folded like one of a cue is written with other diacritics, and so another word.

    >>> is_other_word("chua", "chứa"), is_other_word("chua", "Chưa"), is_other_word("chua", "chua")
    (True, False, False)
    """
    return folded in _SPELLINGS and not written.isascii() and written.lower() != _SPELLINGS[folded]


def is_cue_spelled(text: ReadText, cue: re.Match[str], group: str) -> bool:
    """Return whether the words of a group of a cue are spelled as it means them, or the text has no diacritics at all.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> cue = re.compile(r"(?P<cue>hoi) ")
    >>> texts = [read_text(text) for text in ("Hỏi chị", "Hội chợ", "hoi chi")]
    >>> [is_cue_spelled(text, cue.match(text.plain), "cue") for text in texts]
    [True, False, True]
    """
    written_words = text.text[slice(*cue.span(group))].split()
    for folded, written in zip(cue[group].split(), written_words, strict=False):
        lacks_marks = written.isascii() and text.has_marks and not _SPELLINGS.get(folded, folded).isascii()
        if lacks_marks or is_other_word(folded, written):
            return False
    return True


_QUOTED = compile_pattern(r'"([^"]+)"')


def quote_as_written(reason: str, texts: Sequence[ReadText]) -> str:
    """Return a reason whose quotations from folded texts have the diacritics with which the texts write them.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> quote_as_written('the answer says this of "cuoi tuan"', [read_text("Cuối tuần: 60.000 đồng")])
    'the answer says this of "Cuối tuần"'
    """

    def write(quotation: re.Match[str]) -> str:
        quoted = quotation[1]
        for text in texts:
            if quoted in text.text:
                return quotation[0]
            is_folded = quoted in text.plain
            place = re.search(rf"(?<!\w){re.escape(quoted)}(?!\w)", text.plain) if is_folded else None
            if place is not None:
                written = text.text[place.start() : place.end()]
                return quotation[0] if written.lower() == quoted else f'"{written}"'
        return quotation[0]

    return _QUOTED.sub(write, reason)
