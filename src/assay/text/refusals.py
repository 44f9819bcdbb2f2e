"""Whether an answer makes a claim in addition to its refusal.

A claim is a number, or enough words that are not an apology, an offer or advice. Texts are folded (`clauses.prepare`).
After a refusal, a clause with a contrast ("but …") needs only half as many words.

A fast filter that finds the texts in a block that may contain any of many phrases, regardless of spelling.

Texts are joined and mapped to ASCII letters and digits with a folding table of 65,536 entries, which drops all other
characters. Every six bytes are looked up by hash, and only the few hits are compared letter by letter.

Detect what an answer does: answer, abstain, deny permission or escalate to a person.

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
from functools import cache, lru_cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.text.normalisation import fold_character, fold_text
from assay.text.refusal_lexicon import (
    CLAIMLESS_WORDS,
    FILLER_WORDS,
    PhraseKind,
    PhraseSubject,
    RefusalPhrase,
    load_refusal_phrases,
    match_bare_refusal,
)
from assay.text.segmentation import (
    PhraseContext,
    find_phrase_context,
    find_quotations,
    is_quoted,
    normalise_answer,
    split_clauses,
)

_ENGLISH_CLAIM, _VIETNAMESE_CLAIM = 4, 7  # words of a claim; Vietnamese separates syllables by spaces
WORD_PATTERN = re.compile(r"[^\W_]++")
_NUMBER = re.compile(r"(?<![\w\[-])(?<!\[)[$€£]?\d")
_ECHO = re.compile(r"\b(?:you (?:have )?asked|your question|cau hoi cua ban|ban (?:da |vua )?hoi)\b")
_CITATION = re.compile(r"\[[\d, ]{1,40}\]")
_CONTACTS = re.compile(
    r"\b(?:contact|reach out|get in touch|check with|speak (?:to|with)|talk to|consult|ask (?:your|the|hr|a)|get back"
    r"|repl(?:y|ies)|respond|follow up|request access|lien he|hoi (?:phong|bo phan|quan ly|nhan su)|phan hoi"
    r"|xin quyen|trao doi (?:truc tiep )?voi)\b"
)
_SET_ASIDE = re.compile(
    r"\b(?:sorry|apologi[sz]e|thank|please|let me know|if you|would you|you (?:can|may|might|could|should) (?:want|try"
    r"|check|find|look)|i (?:can|will|would)|perhaps|maybe|only (?:cover|mention|discuss"
    r"|describe|talk)s?|based on|feel free|(?:happy|glad|willing) to|(?:may|might) help"
    r"|(?:may|can) (?:see|view|access|read)|(?:limited|restricted|available) to"
    r"|xin loi|rat tiec|cam on|vui long|neu (?:ban|muon|can)|ban co the|chi (?:de cap|noi ve|neu|co)"
    r"|san long|da (?:kiem tra|tim kiem|tra cuu|xem qua)|co the (?:giup|ho tro)|chi danh|dua tren)\b"
)
_FIRST_PERSON = re.compile(r"(?:and |so |but |va |nen )?(?:i|we|i'm|i've|i'll|we've|toi|minh|em|chung toi) ")
_VIETNAMESE = re.compile(
    r"\b(?:khong|chua|toi|cua|va|nay|duoc|trong|cac|thi|ve|phai|nhung|voi|ngay|theo|cho|la|ly|quyen|xem|cung|luong|nhan"
    r"|vien|thong|lieu|bao|nguoi|viec|hien|truong|yeu|cau|khach)\b"
)
_CONTRAST = re.compile(r"(?:but|however|still|nonetheless|nhung|tuy nhien|song) ?,?\b")


def has_substantive_claim(text: str, refused: Sequence[int]) -> bool:
    """Return whether a clause of the folded text makes a claim, except those with a refusal.

    `refused`: the positions in the text at which refusing phrases begin.
    """
    claim_length = 0
    refusal_starts = iter(sorted(refused))
    refusal_start = next(refusal_starts, len(text))
    end = 0
    contrast_seen = refusal_seen = False  # contrast_seen: a contrast ("but …") followed a refusal
    for clause in split_clauses(text):
        end += len(clause)
        contrast_seen = refusal_seen and (contrast_seen or _CONTRAST.match(clause) is not None)
        if refusal_start >= end:
            claim_length = claim_length or _claim_length(text)
            if _makes_claim(clause, (claim_length + 1) // 2 if contrast_seen else claim_length):
                return True
        refusal_seen = refusal_seen or refusal_start < end
        while refusal_start < end:
            refusal_start = next(refusal_starts, len(text))
    return False


def _claim_length(text: str) -> int:
    return _VIETNAMESE_CLAIM if len(_VIETNAMESE.findall(text, 0, 1000)) > 1 else _ENGLISH_CLAIM


def _makes_claim(clause: str, claim_length: int) -> bool:
    """Whether a clause without a refusal contains a number, or at least `claim_length` words that can make a claim."""
    text = _CITATION.sub("", clause)
    if text.rstrip(" \"')").endswith("?") or _CONTACTS.search(text) or _ECHO.search(text):
        return False
    if _NUMBER.search(text):
        return True
    if _SET_ASIDE.search(text) or _FIRST_PERSON.match(text):
        return False
    return sum(word not in CLAIMLESS_WORDS for word in WORD_PATTERN.findall(text)) >= claim_length


SHORTEST_PHRASE = 6
"""Least number of letters and digits of a phrase."""

LONG_HASH_LENGTH = 10
"""Number of letters and digits that a second hash compares, if the phrase has as many."""

_BLOCK = 64  # texts at a time: larger arrays need new memory pages and take 50% longer
_TEXT_END = "\uffff"  # between two texts; a noncharacter, so that hardly any text contains it
_DROPPED_ASCII = bytes(code for code in range(128) if not chr(code).isalnum() and chr(code) != "\n")
_DROP, _TEXT_END_CODE, _SEVERAL = 0, 2, 255
_LATIN_RANGES = (
    range(0x250),
    range(0x1E00, 0x1F00),
    range(0x2120, 0x2130),
    range(0xFB00, 0xFB07),
)  # no others fold to ASCII


@cache
def _folding_table() -> npt.NDArray[np.uint8]:
    """Return the code of every UTF-16 unit: its ASCII letter or digit, or `_SEVERAL` where it folds to more.

    Surrogates (all characters beyond 65,535) are dropped: none of those folds to ASCII.
    """
    table = np.full(0x10000, _DROP, np.uint8)
    for code in itertools.chain(*_LATIN_RANGES):
        folded = "".join(c for c in fold_character(chr(code)) if c.isascii() and c.isalnum())
        if folded:
            table[code] = ord(folded) if len(folded) == 1 else _SEVERAL
    table[ord(_TEXT_END)] = _TEXT_END_CODE
    return table


_Hashes = npt.NDArray[np.uint16]
_STEP = np.uint16(40503)  # arithmetic on 16 bits wraps around on purpose


def _hashes(folded: bytes) -> tuple[_Hashes, _Hashes]:
    """Return the hash of the `SHORTEST_PHRASE` bytes from each byte on, and that of four bytes, which `_long_hashes`
    needs.
    """
    wide = np.frombuffer(folded + bytes(LONG_HASH_LENGTH - 1), np.uint8).astype(np.uint16)
    two = wide[:-1] * np.uint16(251) + wide[1:]
    four: _Hashes = two[:-2] * _STEP + two[2:]
    six: _Hashes = four[:-2] * _STEP + two[4:]
    return six[: len(folded)], four


def _long_hashes(six: _Hashes, four: _Hashes, positions: npt.NDArray[np.intp]) -> _Hashes:
    """Return the hash of the `LONG_HASH_LENGTH` bytes from each position on."""
    hashes: _Hashes = six[positions] * _STEP + four[positions + SHORTEST_PHRASE]
    return hashes


class PhraseFilter:
    """Marks texts that may contain one of the phrases: without false negatives and with few false positives.

    >>> can_hold = PhraseFilter(["khong co quyen", "access denied"])
    >>> can_hold(["Bạn KHÔNG\\ncó quyền xem.", "12 ngày", "", "ACCE\\u0301SS denied"]).tolist()
    [True, False, True, True]
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        """`phrases` are folded text, each with at least `SHORTEST_PHRASE` letters and digits (ValueError otherwise)."""
        prefixes: list[bytes] = []
        self._by_start: dict[bytes, list[bytes]] = {}
        all_phrases = "\n".join(phrases).encode("ascii")
        for phrase in sorted(set(all_phrases.translate(None, _DROPPED_ASCII).split(b"\n"))):
            if len(phrase) < SHORTEST_PHRASE:
                raise ValueError(f"phrase too short to filter by: {phrase!r}")
            if not prefixes or not phrase.startswith(
                prefixes[-1]
            ):  # otherwise the shorter phrase, sorted before it, finds it too
                prefixes.append(phrase)
                start = phrase[: LONG_HASH_LENGTH if len(phrase) >= LONG_HASH_LENGTH else SHORTEST_PHRASE]
                self._by_start.setdefault(start, []).append(phrase)
        self._known_hashes, self._known_long_hashes, self._short_hashes = np.zeros((3, 0x10000), np.bool_)
        six, four = _hashes(b"".join(phrase[:LONG_HASH_LENGTH].ljust(LONG_HASH_LENGTH, b"\0") for phrase in prefixes))
        places = np.arange(len(prefixes)) * LONG_HASH_LENGTH
        is_long = np.array([len(phrase) >= LONG_HASH_LENGTH for phrase in prefixes])
        self._known_hashes[six[places]] = self._short_hashes[six[places[~is_long]]] = True
        self._known_long_hashes[_long_hashes(six, four, places[is_long])] = True
        self._table = _folding_table()

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return, shape (n,), whether each text may contain a phrase; also true for texts without a Latin character."""
        may_hold = np.zeros(len(texts), np.bool_)
        for first in range(0, len(texts), _BLOCK):
            block = texts[first : first + _BLOCK]
            may_hold[first : first + len(block)] = self._filter_block(block)
        return may_hold

    def _filter_block(self, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        units = np.frombuffer(_TEXT_END.join(texts).encode("utf-16-le", "surrogatepass"), "<u2")
        folded = self._table.take(units, mode="clip").tobytes().translate(None, bytes([_DROP]))
        data = np.frombuffer(folded, np.uint8)
        ends = np.append(np.flatnonzero(data == _TEXT_END_CODE), len(data))
        if len(ends) != len(texts):
            return self._filter_block([text.replace(_TEXT_END, "") for text in texts])
        may_hold: npt.NDArray[np.bool_] = np.diff(ends, prepend=-1) == 1
        may_hold[np.searchsorted(ends, self._hit_positions(folded))] = True
        return may_hold

    def _hit_positions(self, folded: bytes) -> list[int]:
        """Return the positions of phrases and of characters that fold to several letters."""
        hits = (
            [position for position, byte in enumerate(folded) if byte == _SEVERAL]
            if bytes([_SEVERAL]) in folded
            else []
        )
        six, four = _hashes(folded)
        positions = np.flatnonzero(self._known_hashes.take(six, mode="clip"))
        positions = positions[
            self._known_long_hashes[_long_hashes(six, four, positions)] | self._short_hashes[six[positions]]
        ]
        for position in positions.tolist():
            start = folded[position : position + LONG_HASH_LENGTH]
            phrases = self._by_start.get(start) or self._by_start.get(start[:SHORTEST_PHRASE])
            if phrases is not None and folded.startswith(tuple(phrases), position):
                hits.append(position)
        return hits


Behaviour = Literal["answer", "abstain", "permission_denied", "escalate", ""]


class DetectedBehaviour(NamedTuple):
    """The behaviour that the rules detect in a text.

    `behaviour`: "" if the rules cannot tell. `is_decided_by_text`: if false, what the target itself declares takes
    precedence. `has_refusal`: the text abstains, denies or escalates, with or without other content.
    `has_substantive_claim`: it makes claims. `phrase`: the folded phrase that decided. `has_quoted_phrase`: a phrase
    was ignored because it is quoted.
    """

    behaviour: Behaviour
    is_decided_by_text: bool
    has_refusal: bool
    has_substantive_claim: bool
    phrase: str
    has_quoted_phrase: bool


PLAIN_ANSWER = DetectedBehaviour(
    "answer", is_decided_by_text=True, has_refusal=False, has_substantive_claim=True, phrase="", has_quoted_phrase=False
)
NO_BEHAVIOUR = DetectedBehaviour(
    "", is_decided_by_text=False, has_refusal=False, has_substantive_claim=False, phrase="", has_quoted_phrase=False
)

_LATIN = re.compile("[A-Za-z0-9]")
_PRECEDENCE: tuple[Literal["permission_denied", "escalate", "abstain"], ...] = (
    "permission_denied",
    "escalate",
    "abstain",
)
_LONGEST, _MOST_PHRASES = 200_000, 1000  # characters that are read, phrases that are examined
_SHORT_ANSWER = 300  # characters of an answer in which advice to contact someone may be the whole answer
_LONGEST_CACHED = 2000  # characters; longer answers are rarely repeated


def find_behaviour_candidates(answers: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return a boolean array of shape (n,): whether `detect_behaviour` must examine each answer; the others are
    plain answers.

    Never excludes a text in which `detect_behaviour` would find a phrase: the filter compares folded letters and
    digits only.

    >>> find_behaviour_candidates(["12 ngày phép", "Toi khong\\ntim thay thong tin", ""]).tolist()
    [False, True, True]
    """
    strong, weak = _phrase_filters()
    marked = strong(answers)
    marked[[i for i, answer in enumerate(answers) if match_bare_refusal(answer)]] = True
    short = [i for i, answer in enumerate(answers) if len(answer) <= _SHORT_ANSWER and not marked[i]]
    marked[short] = weak([answers[i] for i in short])
    return marked


def detect_behaviour(answer: str) -> DetectedBehaviour:
    """Return the behaviour of one answer by the rules of this module; only the first 200,000 characters are read.

    >>> detect_behaviour("Tôi không tìm thấy thông tin về chính sách này.").behaviour
    'abstain'
    >>> detect_behaviour("I don't have enough information, but the limit is 600 per minute.")[:4]
    ('answer', True, True, True)
    >>> detect_behaviour("ERR-403 nghĩa là 'không có quyền'.").has_quoted_phrase
    True
    """
    return _observe_cached(answer) if len(answer) <= _LONGEST_CACHED else _observe(answer)


def _observe(answer: str) -> DetectedBehaviour:
    if not _LATIN.search(answer) and not _LATIN.search(fold_text(answer)):
        return NO_BEHAVIOUR
    bare_refusal = match_bare_refusal(answer)
    if bare_refusal:
        return DetectedBehaviour(
            "abstain",
            is_decided_by_text=True,
            has_refusal=True,
            has_substantive_claim=False,
            phrase=bare_refusal,
            has_quoted_phrase=False,
        )
    prepared = normalise_answer(answer[:_LONGEST])
    quotes: list[tuple[int, int]] | None = None
    phrase_by_kind: dict[PhraseKind, str] = {}
    refusal_starts: list[int] = []
    quoted_phrase_seen = False
    for start, phrase, cue in _find_phrases(prepared):
        quotes = find_quotations(prepared) if quotes is None else quotes
        if refusal_starts and refusal_starts[-1] == start:
            continue  # a shorter phrase at the same position
        if is_quoted(quotes, start):
            quoted_phrase_seen = True
        elif cue.kind != "contact" or len(answer) <= _SHORT_ANSWER:
            surroundings = find_phrase_context(prepared, start, start + len(phrase))
            if _is_asserted(surroundings, cue):
                phrase_by_kind.setdefault(_effective_kind(surroundings, phrase, cue), phrase)
                refusal_starts.append(start)
    if not phrase_by_kind:
        return PLAIN_ANSWER._replace(has_quoted_phrase=quoted_phrase_seen)
    return _decide(phrase_by_kind, has_substantive_claim(prepared, refusal_starts), quoted_phrase_seen)


_observe_cached = lru_cache(maxsize=1024)(_observe)  # a system usually refuses in the same words


def _decide(phrase_by_kind: dict[PhraseKind, str], substantive: bool, quoted_phrase_seen: bool) -> DetectedBehaviour:
    for kind in _PRECEDENCE:
        if kind in phrase_by_kind:
            return DetectedBehaviour(
                "answer" if substantive else kind, True, True, substantive, phrase_by_kind[kind], quoted_phrase_seen
            )
    if "contact" in phrase_by_kind and not substantive:
        return DetectedBehaviour("escalate", False, True, False, phrase_by_kind["contact"], quoted_phrase_seen)
    return PLAIN_ANSWER._replace(has_quoted_phrase=quoted_phrase_seen)


# ── finding phrases ──────────────────────────────────────────────────────────────────────────────────────────────


_NOT_WORD = re.compile(r"\bnot\b")


@lru_cache(maxsize=1)
def _lexicon() -> tuple[dict[str, RefusalPhrase], dict[tuple[str, ...], tuple[int, ...]]]:
    """Return the phrases with their cues, and the lengths of the phrases, longest first, by their first two words."""
    cues = load_refusal_phrases()
    lengths: dict[tuple[str, ...], set[int]] = {}
    for phrase in cues:
        lengths.setdefault(tuple(WORD_PATTERN.findall(phrase)[:2]), set()).add(len(phrase))
    return cues, {words: tuple(sorted(phrase_lengths, reverse=True)) for words, phrase_lengths in lengths.items()}


@lru_cache(maxsize=1)
def _phrase_filters() -> tuple[PhraseFilter, PhraseFilter]:
    """Return two filters: for advice to contact someone (the second), and for all other phrases (the first)."""
    weak = [phrase for phrase, cue in load_refusal_phrases().items() if cue.kind == "contact"]
    strong = [phrase for phrase, cue in load_refusal_phrases().items() if cue.kind != "contact"]
    # "don't" is spelled "do not" in the lexicon; "cannot" ends in "not"
    return PhraseFilter([*strong, *_contract_negations(strong)]), PhraseFilter([*weak, *_contract_negations(weak)])


def _contract_negations(spelled: Iterable[str]) -> list[str]:
    return [_NOT_WORD.sub("nt", phrase) for phrase in spelled if "not" in phrase]


def _find_phrases(text: str) -> list[tuple[int, str, RefusalPhrase]]:
    """Return (start, phrase, cue) of the lexicon's phrases in the text, by start, the longest first at each start."""
    hits: list[tuple[int, str, RefusalPhrase]] = []
    cues, by_words = _lexicon()
    words = WORD_PATTERN.findall(text)
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
_SUBJECT_PATTERNS: dict[PhraseSubject, re.Pattern[str]] = {
    "me": _SPEAKER,
    "contact": re.compile(r"\b(?:lien he|gap|gui|hoi|bao)\b"),
    "exclusive": re.compile(r"\b(?:only|needs?|requires?)\b"),
    "free": re.compile(""),
}


def _is_asserted(surroundings: PhraseContext, cue: RefusalPhrase) -> bool:
    """Whether the answer asserts a phrase in these surroundings: not as a condition, question or explanation."""
    window = surroundings.before.rpartition(", ")[2]
    if (
        surroundings.is_question
        or _CONDITION.search(window)
        or _EXPLAINS.search(surroundings.sentence)
        or _DENIED.search(window)
    ):
        return False
    if cue.kind == "permission_denied" and _ERROR_CODE.search(surroundings.sentence):
        return False
    if cue.kind != "escalate" and _TOPIC_MARKER.match(surroundings.after):
        return False
    return cue.following_pattern.match(surroundings.after) is not None and _has_allowed_subject(
        cue.subject, window, surroundings.before
    )


def _has_allowed_subject(voice: PhraseSubject, window: str, before: str) -> bool:
    """Whether the subject of the phrase, somewhere in `window`, is one that the voice allows."""
    if voice in _SUBJECT_PATTERNS:
        return _SUBJECT_PATTERNS[voice].search(before) is not None
    speaker, you = _SPEAKER.search(window) is not None, _YOU.search(window) is not None
    others = not (speaker or you) and _OTHERS.search(window) is not None
    absent = all(word in FILLER_WORDS for word in re.findall(r"[\w']+", window))
    allowed: dict[PhraseSubject, bool] = {
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


def _effective_kind(surroundings: PhraseContext, phrase: str, cue: RefusalPhrase) -> PhraseKind:
    """Return the cue's kind; an abstention becomes a denial if the sentence mentions permission."""
    if (
        cue.kind == "abstain"
        and _GIVE.search(phrase)
        and _PERMISSION.search(surroundings.sentence + surroundings.after)
    ):
        return "permission_denied"
    return cue.kind
