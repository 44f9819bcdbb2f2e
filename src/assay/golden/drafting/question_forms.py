"""What every form of a question shares: the drafted question, and when its words can stand without their document."""

from __future__ import annotations

import re
from typing import NamedTuple

from assay.golden.drafting.corpus_words import CorpusWords
from assay.text.languages import KnownLanguage

FEWEST_WORDS, MAX_WORDS = 5, 34
"""The length of a sentence that is asked about, in words."""
MAX_QUESTION_WORDS = 26
_UNCLEAN = re.compile(
    r"[{}\[\]<>|\\=*`“”\"~^•…→¶]|\$(?! ?\d)|\w_\w|https?:|www\.|\w\.\w+\(|--\w|(?:^|\s)[/.]\w|\s[-–—]\s|\?[^\w?]{0,5}\w"
)
_POINTS_ELSEWHERE = {
    "en": re.compile(
        r"\b(?:this|these|those|such|latter|former|(?:above|below)(?! \d)|following|aforementioned|here|hereby|"
        r"aforesaid|previous section|next section|see|figure|example|note|we|our|us|i|my|mine|let's)\b",
        re.IGNORECASE,
    ),
    "vi": re.compile(
        r"\b(?:này|đó|kia|đấy|ấy|trên đây|ở trên|phía trên|bên trên|nói trên|dưới đây|ở dưới|bên dưới|sau đây|như sau|"
        r"như vậy|như thế|chúng tôi|chúng ta|tôi|xem|ví dụ|lưu ý|nhớ rằng|mục lục)\b",
        re.IGNORECASE,
    ),
}
_LEANS_ON_OTHERS = {
    "en": re.compile(
        r"\b(?:instead|otherwise|likewise|similarly|also|too|as well|either way|in (?:that|which) case|"
        r"the same(?! (?:day|time|week|month|year))|"
        r"for instance|for example|however|therefore|moreover|furthermore|in addition|in short|as usual|of course|"
        r"as mentioned|as described|as explained|as shown|as noted|obviously|now)\b",
        re.IGNORECASE,
    ),
    "vi": re.compile(
        r"\b(?:cũng|thay vào đó|ngược lại|tương tự|ngoài ra|hơn nữa|tuy nhiên|do đó|vì thế|vì vậy|nói cách khác|"
        r"chẳng hạn|như đã|đã nói|đã nêu|đã mô tả|vân vân|v\.v)\b",
        re.IGNORECASE,
    ),
}
"""Words that join a sentence to others, which a reference leaves out."""
_FRAGMENT_START = {
    "en": re.compile(
        r"(?:and|but|or|nor|which|who|whose|because|so|then|thus|hence|still|yet|although|though)\b", re.IGNORECASE
    ),
    "vi": re.compile(r"(?:và|nhưng|hoặc|hay|mà|thì|nên|rồi|còn|vì|tuy)\b", re.IGNORECASE),
}
_HOLE = re.compile(
    r"\s[.,;!]|\(\s*\)|“\s*”|\"\s*\"|,\s*[,.]|\b(?:a|an|the|at|to|of|in|on|from|with|by|for|using|called|see|command|run|"
    r"type|enter|like|as)\s*[.:]\s*(?:\Z|[A-Z])",
)
"""What is left of a sentence whose link, image or code was taken out."""
_ENDS_IN_PARTICLE = re.compile(
    r" (?:(?:filled|handed|signed|logged|plugged|switched|turned|put|paid|let) (?:in|on)|from [\w ]{3,20} on)(?=\.\Z)"
)
"""Ends that look like a hole and are none: "may be filled in.", "from autumn on."."""
_PAIRS = (("(", ")"), ("“", "”"), ("[", "]"))
_VAGUE_IN_QUESTION = {
    "en": re.compile(
        r"\b(?:it|its|they|them|their|he|she|him|his|her|that one|there|another|others?|same|also|too|however|"
        r"therefore|"
        r"thus|hence|otherwise|instead|again|else|so|then|both|either|neither|next|(?:the|this) last|last (?:year|"
        r"month|week)|first|second|previous|usual|"
        r"respective|later|earlier|"
        r"(?:older|newer|larger|smaller|longer|shorter|higher|lower)(?! than)|elsewhere|current|existing|"
        r"relevant|appropriate|corresponding|particular|various|"
        r"certain|you|your|today|yesterday|tomorrow|now|currently|recently|soon|already|yet|still|even|only|just|"
        r"etc|e\.g|i\.e|(?:above|below)(?! \d)|thing|things|something|anything|someone|anyone|everyone|everything)\b",
        re.IGNORECASE,
    ),
    "vi": re.compile(
        r"\b(?:nó|họ|chúng|bạn|mình|khác|cũng|vậy|thế|hiện nay|hiện tại|hôm nay|hôm qua|tương tự|còn lại|cái|điều|việc"
        r" đó|v\.v|đây|đầu tiên|cuối cùng|tiếp theo)\b",
        re.IGNORECASE,
    ),
}


class DraftedQuestion(NamedTuple):
    """A question with its answer in the words of the document, and what the answer must say.

    `quote` is the passage that answers it where that is more than the statement that it was drafted from.
    """

    question: str
    reference: str
    must_have: tuple[str, ...] = ()
    is_code: bool = False
    is_table: bool = False
    quote: str = ""


def is_plain_sentence(text: str, language: KnownLanguage) -> bool:
    """Return whether a statement is one whole sentence in plain words that points to nothing outside of it.

    >>> [is_plain_sentence(text, "en") for text in ("Staff have 12 days a year.", "See the table below.")]
    [True, False]
    """
    if not text.endswith((".", "!")) or not (text[:1].isupper() or text[:1].isdigit()):
        return False
    if not FEWEST_WORDS <= len(text.split()) <= MAX_WORDS or text.endswith("..."):
        return False
    if _UNCLEAN.search(text) is not None or _POINTS_ELSEWHERE[language].search(text) is not None:
        return False
    return _LEANS_ON_OTHERS[language].search(text) is None and is_whole_text(text, language)


def is_whole_text(text: str, language: KnownLanguage) -> bool:
    """Return whether an answer is made of whole sentences: nothing was taken out of it, and no conjunction begins it.

    >>> texts = ("Leave ends in May.", "And ends in May.", "Details are at .", "Run (see below.", "To do so, run:")
    >>> [is_whole_text(text, "en") for text in texts]
    [True, False, False, False, False]
    """
    if (
        not text.endswith((".", "!", ".)", ".”"))
        or text.endswith("...")
        or _HOLE.search(_ENDS_IN_PARTICLE.sub("", text)) is not None
    ):
        return False
    if text.count('"') % 2 or any(text.count(left) != text.count(right) for left, right in _PAIRS):
        return False
    return _FRAGMENT_START[language].match(text) is None and not re.search(r":\s*\Z|[:;]\s+\Z", text)


def is_clear_question(question: str, language: KnownLanguage, *, personal: bool = False) -> bool:
    """Return whether a question has no word that only its document explains; a `personal` one may say "I" and "my".

    >>> is_clear_question("How long are they valid?", "en"), is_clear_question("How long are quotes valid?", "en")
    (False, True)
    """
    words = question.split()
    if not 3 <= len(words) <= MAX_QUESTION_WORDS or _UNCLEAN.search(question.rstrip("?")) is not None:
        return False
    checked = re.sub(r"\b(?:I|my|me|am)\b", "", question) if personal else question
    checked = re.sub(r"\bthế nào\b", "", checked)  # how
    if _POINTS_ELSEWHERE[language].search(checked) is not None:
        return False
    return _VAGUE_IN_QUESTION[language].search(checked) is None and question.count("(") == question.count(")")


def is_specific(phrase: str, words: CorpusWords) -> bool:
    """Return whether only one statement of the corpus has all content words of a phrase."""
    return words.count_statements(phrase) == 1


def is_led(question: str) -> bool:
    """Return whether a question begins with the thing that it is about: "For the Otter 3600, what …"."""
    return question.startswith("For the ")


def capitalise(text: str) -> str:
    """Return a text with its first letter in upper case."""
    return text[:1].upper() + text[1:]
