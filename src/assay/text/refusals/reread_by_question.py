"""Answers whose wording misleads, read by what their question asks for: four rules in English and
Vietnamese.

Who is asked where something is, or how one gets it, has answered when it says so, and advice on whom to ask besides
hands nothing over. "I can't say more than that" ends an answer and is none by itself. And "the rules don't name a fine"
declines, if the fine is what is asked, whatever else they forbid. What an error means may be that "you are not allowed
to enter": then this is the answer. The patterns are for folded text (`fold_text`).
"""

from __future__ import annotations

import re
from functools import lru_cache

from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_text
from assay.text.pattern_cache import compile_pattern
from assay.text.refusals.refusal_lexicon import RefusalLexicon
from assay.text.word_runs import split_words

_ASKS_WHERE_OR_HOW = LatePattern(
    r"(?:^|[.!?] )(?:and |so |but |to |from |with |in )?(?:where|who|whom|whose"
    r"|how (?:do|does|can|could|may|should|would|must) (?:i|we|one|you|they|people|guests|visitors|members)\b)"
    r"|\bwhat (?:happens|happened|becomes|became)\b"
    r"|\b(?:o dau|di dau|den dau|ai|bang cach nao|lam sao|lam the nao)\b"
)
_ADVICE = LatePattern(
    r"(?:[,;.!] |, | [–—-] )(?:(?:so|and|then|but) )?(?:please |just |simply |kindly )?"
    r"(?:you (?:can|could|should|may|might) (?:just |also )?)?(?:it is best to )?"
    r"(?:ask|see|check with|contact|enquire|inquire|speak (?:to|with)|talk to|call|ring|phone|go to|visit)\b"
    r"[^.;!?]{0,100}[.!]*$"
    r"|[,;.] (?:(?:nen|vi vay|va|thi) )?(?:(?:ban|anh|chi|quy khach|em) )?(?:(?:vui long|hay|nen|cu|co the) )?"
    r"(?:hoi|lien he|gap|goi)\b[^.;!?]{0,100}[.!]*$"
)
"""Ends a text with whom to ask."""
_ENDS_THERE = LatePattern(
    r"(?:[,;.!] |, | [–—-] )(?:(?:but|and|though|more) )?(?:i|we) (?:cannot|can not|can't)"
    r" (?:say|tell you|add|give you) (?:any ?thing )?(?:more|further|else)(?: than (?:that|this))?[.!]*$"
    r"|(?:[,;.!] |, | [–—-] )(?:and )?(?:that's|that is) all (?:that )?(?:i|we) (?:can|could) (?:say|tell you)[.!]*$"
    r"|[,;.] (?:toi|chung toi|em|minh) khong the (?:noi|cho biet)(?: gi)? them[^.;!?]{0,20}[.!]*$"
)
"""Ends a text by saying that there is no more to say."""
_TELLS_NOTHING = LatePattern(
    r"\b(?:not|no|nor|none|never|neither|nothing|cannot|\w{1,10}n't|i|we|my|our|me|us|handl\w+|dealt?|deals|dealing"
    r"|responsib\w+|depend\w*|var(?:y|ies)|individual\w*|case by case|confidential|private|personal|sensitive|matter"
    r"|if|whether|unclear|unknown|sorry|unfortunately|afraid|would|might|could|may|outside|beyond|restricted"
    r"|khong|chua|chang|toi|minh|em|tuy|co the|neu|bao mat|rieng|xu ly|phu trach|giai quyet|tai lieu)\b"
)
"""A denial, somebody who speaks of themselves, or words by which a case is left to others."""
_FEWEST_WORDS = 4
_ASKED_VALUE = LatePattern(
    r"\b(?:how (?:high|big|large|much|long|heavy|old) (?:is|are|was|were) |what(?:'s| is| are| was| were) )"
    r"(?:the |a |an )?(?P<noun>[a-z]{3,})\b"
    r"|(?P<vietnamese>(?:muc|gia|phi|tien|le phi) [a-z]+)\b.{0,60}\b(?:bao nhieu|the nao)\b"
)
_RULES = (
    "rules?|regulations?|by-?laws?|terms|statutes?|notices?|price ?lists?|timetables?|leaflets?|brochures?|signs?|list"
    "|noi quy|quy dinh|tai lieu|bang gia|van ban|thong bao|hop dong"
)
_DENIES = "(?:do not|does not|don't|doesn't|did not|didn't)"
_NAMES = (
    r"(?:name|mention|state|give|say|specify|set|list|contain|include|tell|fix|quote|put)"
    r"(?: (?:a|an|any|the|what|how|high|of|amount|that))*"
)
_NAMES_IN_VIETNAMESE = r"khong (?:neu|ghi|noi|de cap|quy dinh|cho biet)(?: (?:ro|den|toi|cu the|ve))*"
_ASKS_FOR_MEANING = LatePattern(
    r"\b(?:what (?:do|does|did|is|are)|meaning of) .{0,60}\b(?:errors?|codes?|status|messages?|warnings?|http|lamps?"
    r"|lights?|leds?|symbols?|signs?|icons?|[a-z]{1,6}-?\d{2,6}|\d{3})\b.{0,60}"
    r"\b(?:mean|means|say|stand for|signify|indicate)\b"
    r"|\b(?:what is )?the meaning of (?:the )?(?:errors?|codes?|status|messages?|warnings?|http)\b"
    r"|\b(?:loi|ma|ma loi|thong bao|den|bieu tuong|ky hieu|http)\b.{0,40}\b(?:nghia la|co nghia|la) (?:gi|sao)\b"
)
_FIGURE = compile_pattern(r"\d")


def answers_before_advice(answer: str, question: str, lexicon: RefusalLexicon | None) -> bool:
    """Return whether an answer says where, who or how, and then only whom to ask.

    >>> question = "Where is my bag?"
    >>> answers_before_advice("Lost bags are taken to the depot, so please ask the depot.", question, None)
    True
    >>> answers_before_advice("Lost bags are dealt with by the depot, so please ask the depot.", question, None)
    False
    """
    text = fold_text(answer.strip())
    advice = _ADVICE.search(text)
    if advice is None or _ASKS_WHERE_OR_HOW.search(fold_text(question)) is None:
        return False
    return _tells(text[: advice.start()], lexicon, _FEWEST_WORDS)


def answers_before_remark(answer: str, lexicon: RefusalLexicon | None) -> bool:
    """Return whether an answer says something of the world, and then only that there is no more to say.

    >>> remark = "I cannot say more than that."
    >>> answers_before_remark(f"The captain decides; {remark}", None), answers_before_remark(remark, None)
    (True, False)
    """
    text = fold_text(answer)
    closing = _ENDS_THERE.search(text)
    return closing is not None and _tells(text[: closing.start()], lexicon, _FEWEST_WORDS - 1)


def _tells(statement: str, lexicon: RefusalLexicon | None, fewest_words: int) -> bool:
    """Whether a statement is about the world, and neither denies nor speaks of documents."""
    if len(split_words(statement)) < fewest_words or _TELLS_NOTHING.search(statement) is not None:
        return False
    return lexicon is None or lexicon.patterns["subjects.documents"].search(statement) is None


@lru_cache(maxsize=1024)
def asks_for_meaning(question: str) -> bool:
    """Return whether a question asks what an error, a code, a message or a sign means.

    >>> [asks_for_meaning(question) for question in ("What does HTTP 403 mean?", "What does the contract say?")]
    [True, False]
    """
    return _ASKS_FOR_MEANING.search(fold_text(question)) is not None


@lru_cache(maxsize=1024)
def find_asked_noun(question: str) -> str:
    """Return the noun of whose value a question asks: "fine" of "How high is the fine?"; "" if it asks for no value."""
    asked = _ASKED_VALUE.search(fold_text(question))
    if asked is None:
        return ""
    return asked["vietnamese"] or asked["noun"].removesuffix("s")


def find_declined_value(answer: str, question: str, lexicon: RefusalLexicon | None) -> str:
    """Return with what words an answer says that the rules do not name the value that is asked for; "" if it does not.

    A figure anywhere in the answer may be the value.

    >>> question = "How high is the fine for littering?"
    >>> find_declined_value("Littering is forbidden; the rules don't name a fine.", question, None)
    "the rules don't name a fine"
    >>> find_declined_value("The rules don't name a bin, but the fine is harsh.", question, None)
    ''
    """
    text, noun = fold_text(answer), find_asked_noun(question)
    if not noun or _FIGURE.search(text) is not None:
        return ""
    own = lexicon.patterns["subjects.documents"].pattern if lexicon is not None else _RULES
    subject = rf"\b(?:the |our |these |those )?(?:\w+ )?(?:{_RULES}|{own})(?: \w+){{0,3}}"
    denial = re.search(rf"{subject} (?:{_DENIES} {_NAMES}|{_NAMES_IN_VIETNAMESE}) {re.escape(noun)}s?\b", text)
    return denial[0] if denial is not None else ""
