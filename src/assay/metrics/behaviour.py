"""Detect what an answer does: answer, abstain, deny permission or escalate to a person.

The rules, in order of application:

1. A text without a Latin letter or digit is undecided. Other languages count as answers.
2. A text of a few words that only says it does not know ("Unknown.") abstains.
3. A phrase of the lexicon counts only if it is not quoted, not part of a condition, a question or an explanation
   ("403 means …"), and has a fitting subject: the speaker or the system, the sources or "you", but not "employees".
4. The clauses with such phrases form the refusal. Of the other clauses, apologies, offers, advice on whom to ask and
   remarks about the documents are ignored; a number or enough other words are a substantive claim.
5. A refusal with a substantive claim is an answer. Otherwise denial takes precedence over escalation, and escalation
   over abstention. Advice to contact someone, without any other phrase, counts as escalation but is undecided.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.metrics.assertions import WORD, substantive
from assay.metrics.behaviour_lexicon import FILLERS, Cue, Kind, Voice, alone, phrases
from assay.metrics.clauses import Surroundings, around, prepare, quotations, quoted
from assay.metrics.folding import fold
from assay.metrics.prefilter import PhraseFilter

Behaviour = Literal["answer", "abstain", "permission_denied", "escalate", ""]


class Observed(NamedTuple):
    """The behaviour that the rules detect in a text.

    `behaviour`: "" if the rules cannot tell. `decided`: if false, what the target itself declares takes precedence.
    `refusal`: the text abstains, denies or escalates, with or without other content. `substantive`: it makes claims.
    `phrase`: the folded phrase that decided. `quoted`: a phrase was ignored because it is quoted.
    """

    behaviour: Behaviour
    decided: bool
    refusal: bool
    substantive: bool
    phrase: str
    quoted: bool


PLAIN = Observed("answer", decided=True, refusal=False, substantive=True, phrase="", quoted=False)
NOTHING = Observed("", decided=False, refusal=False, substantive=False, phrase="", quoted=False)

_LATIN = re.compile("[A-Za-z0-9]")
_PRECEDENCE: tuple[Literal["permission_denied", "escalate", "abstain"], ...] = (
    "permission_denied",
    "escalate",
    "abstain",
)
_LONGEST, _MOST_PHRASES = 200_000, 1000  # characters that are read, phrases that are examined
_SHORT_ANSWER = 300  # characters of an answer in which advice to contact someone may be the whole answer
_LONGEST_CACHED = 2000  # characters; longer answers are rarely repeated


def candidates(answers: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return a boolean array of shape (n,): whether `observe` must examine each answer; the others are plain answers.

    Never excludes a text in which `observe` would find a phrase: the filter compares folded letters and digits only.

    >>> candidates(["12 ngày phép", "Toi khong\\ntim thay thong tin", ""]).tolist()
    [False, True, True]
    """
    strong, weak = _phrase_filters()
    marked = strong(answers)
    marked[[i for i, answer in enumerate(answers) if alone(answer)]] = True
    short = [i for i, answer in enumerate(answers) if len(answer) <= _SHORT_ANSWER and not marked[i]]
    marked[short] = weak([answers[i] for i in short])
    return marked


def observe(answer: str) -> Observed:
    """Return the behaviour of one answer by the rules of this module; only the first 200,000 characters are read.

    >>> observe("Tôi không tìm thấy thông tin về chính sách này.").behaviour
    'abstain'
    >>> observe("I don't have enough information, but the limit is 600 per minute.")[:4]
    ('answer', True, True, True)
    >>> observe("ERR-403 nghĩa là 'không có quyền'.")
    Observed(behaviour='answer', decided=True, refusal=False, substantive=True, phrase='', quoted=True)
    """
    return _observe_cached(answer) if len(answer) <= _LONGEST_CACHED else _observe(answer)


def _observe(answer: str) -> Observed:
    if not _LATIN.search(answer) and not _LATIN.search(fold(answer)):
        return NOTHING
    bare_refusal = alone(answer)
    if bare_refusal:
        return Observed("abstain", decided=True, refusal=True, substantive=False, phrase=bare_refusal, quoted=False)
    prepared = prepare(answer[:_LONGEST])
    quotes: list[tuple[int, int]] | None = None
    phrase_by_kind: dict[Kind, str] = {}
    refusal_starts: list[int] = []
    quoted_phrase_seen = False
    for start, phrase, cue in _find_phrases(prepared):
        quotes = quotations(prepared) if quotes is None else quotes
        if refusal_starts and refusal_starts[-1] == start:
            continue  # a shorter phrase at the same position
        if quoted(quotes, start):
            quoted_phrase_seen = True
        elif cue.kind != "contact" or len(answer) <= _SHORT_ANSWER:
            surroundings = around(prepared, start, start + len(phrase))
            if _is_asserted(surroundings, cue):
                phrase_by_kind.setdefault(_effective_kind(surroundings, phrase, cue), phrase)
                refusal_starts.append(start)
    if not phrase_by_kind:
        return PLAIN._replace(quoted=quoted_phrase_seen)
    return _decide(phrase_by_kind, substantive(prepared, refusal_starts), quoted_phrase_seen)


_observe_cached = lru_cache(maxsize=1024)(_observe)  # a system usually refuses in the same words


def _decide(phrase_by_kind: dict[Kind, str], substantive: bool, quoted_phrase_seen: bool) -> Observed:
    for kind in _PRECEDENCE:
        if kind in phrase_by_kind:
            return Observed(
                "answer" if substantive else kind, True, True, substantive, phrase_by_kind[kind], quoted_phrase_seen
            )
    if "contact" in phrase_by_kind and not substantive:
        return Observed("escalate", False, True, False, phrase_by_kind["contact"], quoted_phrase_seen)
    return PLAIN._replace(quoted=quoted_phrase_seen)


# ── finding phrases ──────────────────────────────────────────────────────────────────────────────────────────────


_NOT_WORD = re.compile(r"\bnot\b")


@lru_cache(maxsize=1)
def _lexicon() -> tuple[dict[str, Cue], dict[tuple[str, ...], tuple[int, ...]]]:
    """Return the phrases with their cues, and the lengths of the phrases, longest first, by their first two words."""
    cues = phrases()
    lengths: dict[tuple[str, ...], set[int]] = {}
    for phrase in cues:
        lengths.setdefault(tuple(WORD.findall(phrase)[:2]), set()).add(len(phrase))
    return cues, {words: tuple(sorted(phrase_lengths, reverse=True)) for words, phrase_lengths in lengths.items()}


@lru_cache(maxsize=1)
def _phrase_filters() -> tuple[PhraseFilter, PhraseFilter]:
    """Return two filters: for advice to contact someone (the second), and for all other phrases (the first)."""
    weak = [phrase for phrase, cue in phrases().items() if cue.kind == "contact"]
    strong = [phrase for phrase, cue in phrases().items() if cue.kind != "contact"]
    # "don't" is spelled "do not" in the lexicon; "cannot" ends in "not"
    return PhraseFilter([*strong, *_contract_negations(strong)]), PhraseFilter([*weak, *_contract_negations(weak)])


def _contract_negations(spelled: Iterable[str]) -> list[str]:
    return [_NOT_WORD.sub("nt", phrase) for phrase in spelled if "not" in phrase]


def _find_phrases(text: str) -> list[tuple[int, str, Cue]]:
    """Return (start, phrase, cue) of the lexicon's phrases in the text, by start, the longest first at each start."""
    hits: list[tuple[int, str, Cue]] = []
    cues, by_words = _lexicon()
    words = WORD.findall(text)
    for first, second in by_words.keys() & set(itertools.pairwise(words)):
        pair = f"{first} {second}"
        start = text.find(pair)
        while start >= 0:
            if not text[start - 1 : start].isalnum():
                for length in by_words[first, second]:
                    phrase = text[start : start + length]
                    if phrase in cues and not text[start + length : start + length + 1].isalnum():
                        hits.append((start, phrase, cues[phrase]))
            start = text.find(pair, start + 1)
    return sorted(hits, key=lambda hit: (hit[0], -len(hit[1])))[:_MOST_PHRASES]


# ── checking a phrase ────────────────────────────────────────────────────────────────────────────────────────────

_CONDITION = re.compile(
    r"\b(?:if|when|whenever|unless|whether|in case|until|once|who|neu|khi|truong hop (?!nay|cua|do)|gia su|tru khi"
    r"|should (?:say|reply|answer)|must (?:say|reply|answer)|instead of|without having)\b"
)
_TOPIC_MARKER = re.compile(r"[^,]{0,60}\bthi\b")  # "không có quyền thì phải …": if they have none, they must …
_EXPLAINS = re.compile(
    r"\b(?:means?|meaning|indicates?|returns? (?!polic)|returned|message|nghia la|tuc la|tra ve|hien thi|thong bao"
    r"|bao loi|ma loi|replies|responds)\b"
)
_ERROR_CODE = re.compile(r"\b(?:40[0-9]|429|50[0-4]|err-?\d+)\b")
_DENIED = re.compile(r"\b(?:not true that|not mean|not saying|not the case|khong phai|khong dung)\b")

_SPEAKER = re.compile(r"\b(?:i|we|my|our|let me|toi|em|(?<!xac )minh|he thong|tro ly|assistant)\b")
_YOU = re.compile(r"\b(?:you|your|ban|anh|quy khach)\b")
_OTHERS = re.compile(
    r"\b(?:employees?|staff|users?|customers?|clients?|contractors?|reps?|agents?|managers?|callers?|members?|people"
    r"|anyone|someone|everyone|he(?! thong)|she|nhan vien|nguoi|khach hang|lap trinh vien|quan ly|tong dai|doi tac"
    r"|ung vien|ky su|giam doc)\b"
)
_SOURCES = re.compile(
    r"\b(?:documents?|documentation|docs|sources?|context|handbook|passages?|excerpts?|corpus|knowledge base|materials?"
    r"|text|polic(?:y|ies)|guide|manual|faq|they|these|it|this|none|tai lieu|nguon|ngu canh|chinh sach|so tay|van ban"
    r"|thong tin|noi dung|doan|du lieu|quy dinh)\b"
)
_TOPICS = re.compile(
    r"\b(?:this|that|it|information|info|details?|answer|topic|subject|question|data|figure|thong tin|noi dung|dieu"
    r"|van de|cau hoi|chi tiet|cau tra loi)\b"
)
_SUBJECT_PATTERNS: dict[Voice, re.Pattern[str]] = {
    "me": _SPEAKER,
    "contact": re.compile(r"\b(?:lien he|gap|gui|hoi|bao)\b"),
    "exclusive": re.compile(r"\b(?:only|needs?|requires?)\b"),
    "free": re.compile(""),
}


def _is_asserted(surroundings: Surroundings, cue: Cue) -> bool:
    """Whether the answer asserts a phrase in these surroundings: not as a condition, question or explanation."""
    window = surroundings.before.rpartition(", ")[2]
    if (
        surroundings.asked
        or _CONDITION.search(window)
        or _EXPLAINS.search(surroundings.sentence)
        or _DENIED.search(window)
    ):
        return False
    if cue.kind == "permission_denied" and _ERROR_CODE.search(surroundings.sentence):
        return False
    if cue.kind != "escalate" and _TOPIC_MARKER.match(surroundings.after):
        return False
    return cue.after.match(surroundings.after) is not None and _has_allowed_subject(
        cue.voice, window, surroundings.before
    )


def _has_allowed_subject(voice: Voice, window: str, before: str) -> bool:
    """Whether the subject of the phrase, somewhere in `window`, is one that the voice allows."""
    if voice in _SUBJECT_PATTERNS:
        return _SUBJECT_PATTERNS[voice].search(before) is not None
    speaker, you = _SPEAKER.search(window) is not None, _YOU.search(window) is not None
    others = not (speaker or you) and _OTHERS.search(window) is not None
    absent = all(word in FILLERS for word in re.findall(r"[\w']+", window))
    allowed: dict[Voice, bool] = {
        "anyone": True,
        "you": you,
        "speaker": speaker or absent or _SOURCES.search(window) is not None,
        "reader": speaker or you or absent,
        "source": speaker or absent or _SOURCES.search(window) is not None,
        "topic": absent or _TOPICS.search(window) is not None,
    }
    return allowed[voice] and not others


_GIVE = re.compile(r"\b(?:provide|give|answer|offer|help|assist|tell|cung cap|tra loi|dua ra|cho biet)\b")
_PERMISSION = re.compile(
    r"\b(?:permissions?|your (?:current )?role|authori[sz]ed|confidential\w*|restricted|privacy|your account|quyen"
    r"|vai tro|bao mat|bi mat)\b"
)


def _effective_kind(surroundings: Surroundings, phrase: str, cue: Cue) -> Kind:
    """Return the cue's kind; an abstention becomes a denial if the sentence mentions permission."""
    if (
        cue.kind == "abstain"
        and _GIVE.search(phrase)
        and _PERMISSION.search(surroundings.sentence + surroundings.after)
    ):
        return "permission_denied"
    return cue.kind
