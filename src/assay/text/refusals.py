"""Detect what an answer does: answer, abstain, deny permission, hand over to a person or ask back.

The phrases and words are data, one lexicon for each language (`refusal_lexicon`). The rules, in order of application:

1. A text without a letter or digit does nothing that could be read.
2. A text of a few words that only says it does not know ("Unknown.") abstains.
3. A phrase of a lexicon counts only if it is not quoted, not part of a condition, a question or an explanation
   ("403 means …"), and has a fitting subject: the speaker or the system, the sources or "you", but not "employees".
4. The clauses with such phrases form the refusal. Of the other clauses, apologies, offers, advice on whom to ask and
   remarks about the documents are ignored; a number or enough other words are a substantive claim.
5. A refusal with a substantive claim is an answer that declines a part. Otherwise denial takes precedence over handing
   over, and that over abstention. Advice to contact someone, without any other phrase, hands over but is undecided.
6. A text that ends in a question or asks for what it needs, without a claim, asks back.
7. A text is undecided (`unknown`) if all it holds are words of doubt that no rule above settles, or if no lexicon
   covers its script or the language that the case states. Every other text is an answer.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.text.lexicon_file import load_lexicons
from assay.text.normalisation import fold_character, fold_text
from assay.text.refusal_lexicon import (
    SHORTEST_PHRASE,
    PhraseKind,
    PhraseSubject,
    RefusalLexicon,
    RefusalPhrase,
    contract_negations,
)
from assay.text.segmentation import (
    PhraseContext,
    find_phrase_context,
    find_quotations,
    is_quoted,
    normalise_answer,
    split_clauses,
)

WORD_PATTERN = re.compile(r"[^\W_]++")
_TOKEN_PATTERN = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_NUMBER = re.compile(r"(?<![a-z0-9_\[-])[$€£]?\d")
_COMMA = re.compile(r"(?<=, )")
_CITATION = re.compile(r"\[[\d, ]{1,40}\]")


# ── claims beside a refusal ──────────────────────────────────────────────────────────────────────────────────────


def has_substantive_claim(text: str, refused: Sequence[int], lexicon: RefusalLexicon) -> bool:
    """Return whether a clause of the folded text makes a claim, except those with a refusal.

    A claim is a number, or enough words that are not an apology, an offer, advice or a report on what the sources
    are about ("some passages suggest …"). After a refusal, a clause with a
    contrast ("but …") needs only half as many words. `refused`: the positions at which refusing phrases begin.
    """
    refusal_starts = iter(sorted(refused))
    refusal_start = next(refusal_starts, len(text))
    end = 0
    contrast_seen = refusal_seen = claim_seen = False  # contrast_seen: a contrast ("but …") followed a refusal
    was_report = concludes = False
    for clause in _split_clauses(text, lexicon):
        end += len(clause)
        contrast = lexicon.patterns["contrasts"].match(clause)
        contrast_seen = refusal_seen and (contrast_seen or contrast is not None)
        refuses = refusal_start < end
        concludes = concludes or lexicon.patterns["conclusions"].match(clause) is not None
        if not refuses:
            least_words = (lexicon.least_claim_words + 1) // 2 if contrast_seen else lexicon.least_claim_words
            claim = _find_claim(clause, least_words, lexicon)
            if claim == "certain":
                return True
            is_report = _is_report(clause, lexicon, was_report=was_report)
            claim_seen = claim_seen or (claim == "words" and not is_report)
            was_report = is_report
        elif not lexicon.is_spaced and _has_number_elsewhere(clause, refusal_start - end + len(clause)):
            return True
        elif concludes:
            claim_seen = False  # "therefore it can not be determined": what came before was no answer
        refusal_seen = refusal_seen or refuses
        concludes = concludes and not clause.endswith((". ", "! ", "? ", "; "))
        while refusal_start < end:
            refusal_start = next(refusal_starts, len(text))
    return claim_seen


def _split_clauses(text: str, lexicon: RefusalLexicon) -> Iterator[str]:
    """Yield the clauses; where the lexicon names its contrasts, also cut before them."""
    contrasts = lexicon.patterns["contrasts"]
    for clause in split_clauses(text):
        start = 0
        for contrast in contrasts.finditer(clause):
            cut = contrast.start()
            if clause[max(0, cut - 2) : cut] in (", ", "; ") and cut > start:
                yield clause[start:cut]
                start = cut
        yield clause[start:]


def _has_number_elsewhere(sentence: str, refusal: int) -> bool:
    """Whether a part of a sentence, between commas, holds a number although it does not hold the refusal."""
    end = 0
    for part in _COMMA.split(sentence):
        start, end = end, end + len(part)
        if not start <= refusal < end and _NUMBER.search(part):
            return True
    return False


def _is_report(clause: str, lexicon: RefusalLexicon, *, was_report: bool) -> bool:
    """Whether a clause only says what the sources are about, or goes on with one that does."""
    patterns = lexicon.patterns
    if patterns["no_claim.reports"].search(clause):
        return True
    return was_report and patterns["no_claim.continuations"].match(clause) is not None


def _find_claim(clause: str, least_words: int, lexicon: RefusalLexicon) -> Literal["certain", "words", ""]:
    """Return how a clause without a refusal claims something: for certain by a number or an opening "yes" or "no", or
    by at least `least_words` words.

    Numbers of passages ("passage 2") do not count.
    """
    patterns = lexicon.patterns
    text = _CITATION.sub("", clause)
    if (
        text.rstrip(" \"')").endswith("?")
        or patterns["no_claim.contacts"].search(text)
        or patterns["no_claim.echoes"].search(text)
    ):
        return ""
    if _NUMBER.search(patterns["no_claim.references"].sub(" ", text)) or patterns["answers"].match(text):
        return "certain"
    if patterns["no_claim.set_aside"].search(text) or patterns["no_claim.first_person"].match(text):
        return ""
    words = WORD_PATTERN.findall(text)
    if lexicon.is_spaced:
        claimless = lexicon.words["no_claim.words"]
        count: float = sum(word not in claimless and not word.isdecimal() for word in words)
    else:
        count = sum(1 if word.isascii() else len(word) / 2 for word in words)
    return "words" if count >= least_words else ""


# ── the filter ───────────────────────────────────────────────────────────────────────────────────────────────────
# Texts are joined and mapped to ASCII letters and digits with a folding table of 65,536 entries, which drops all other
# characters. Every six bytes are looked up by hash, and only the few hits are compared letter by letter.

LONG_HASH_LENGTH = 10
"""Number of letters and digits that a second hash compares, if the phrase has as many."""

_BLOCK = 64  # texts at a time: larger arrays need new memory pages and take 50% longer
_TEXT_END = "\uffff"  # between two texts; a noncharacter, so that hardly any text contains it
_DROPPED_ASCII = bytes(code for code in range(128) if not chr(code).isalnum() and chr(code) != "\n")
_DROP, _TEXT_END_CODE, _OTHER_SCRIPT, _SEVERAL = 0, 2, 3, 255
_LATIN_RANGES = (
    range(0x250),
    range(0x1E00, 0x1F00),
    range(0x2120, 0x2130),
    range(0xFB00, 0xFB07),
)  # no others fold to ASCII
_OTHER_SCRIPT_RANGES = (range(0x370, 0x1E00), range(0x1F00, 0x2000), range(0x2C80, 0xD800), range(0xF900, 0xFB00))
_OTHER_SCRIPT_LETTER = re.compile(
    "[" + "".join(f"{chr(codes.start)}-{chr(codes.stop - 1)}" for codes in _OTHER_SCRIPT_RANGES) + "]"
)


@cache
def _folding_table() -> npt.NDArray[np.uint8]:
    """Return the code of every UTF-16 unit: its ASCII letter or digit, `_SEVERAL` where it folds to more, or
    `_OTHER_SCRIPT` for letters of scripts that the filter cannot look into.

    Surrogates (all characters beyond 65,535) are dropped: none of those folds to ASCII.
    """
    table = np.full(0x10000, _DROP, np.uint8)
    for codes in _OTHER_SCRIPT_RANGES:
        table[codes.start : codes.stop] = _OTHER_SCRIPT
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
        """Return, shape (n,), whether each text may contain a phrase; also true for texts without a Latin character,
        and for those with a letter of another script."""
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
        """Return the positions of phrases, of characters that fold to several letters, and of other scripts."""
        hits: list[int] = []
        for code in (_SEVERAL, _OTHER_SCRIPT):
            if bytes([code]) in folded:
                hits += np.flatnonzero(np.frombuffer(folded, np.uint8) == code).tolist()
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


# ── what an answer does ──────────────────────────────────────────────────────────────────────────────────────────

UNKNOWN: Literal["unknown"] = "unknown"
DetectedKind = Literal["answer", "abstain", "permission_denied", "escalate", "clarify", "unknown", ""]


class DetectedBehaviour(NamedTuple):
    """The behaviour that the rules detect in a text.

    `behaviour`: `unknown` if the rules cannot tell, "" if there is nothing to read. `is_decided_by_text`: if not, what
    the target itself declares takes precedence. `has_refusal`: the text abstains, denies or escalates, with or without
    other content. `has_substantive_claim`: it makes claims. `phrase`: the folded phrase that decided.
    `has_quoted_phrase`: a phrase was ignored because it is quoted.
    """

    behaviour: DetectedKind
    is_decided_by_text: bool
    has_refusal: bool
    has_substantive_claim: bool
    phrase: str
    has_quoted_phrase: bool

    @property
    def is_partial_refusal(self) -> bool:
        """Whether the text answers one part and declines another."""
        return self.has_refusal and self.has_substantive_claim


PLAIN_ANSWER = DetectedBehaviour(
    "answer", is_decided_by_text=True, has_refusal=False, has_substantive_claim=True, phrase="", has_quoted_phrase=False
)
NO_BEHAVIOUR = DetectedBehaviour(
    "", is_decided_by_text=False, has_refusal=False, has_substantive_claim=False, phrase="", has_quoted_phrase=False
)
_PRECEDENCE: tuple[Literal["permission_denied", "escalate", "abstain"], ...] = (
    "permission_denied",
    "escalate",
    "abstain",
)
_LONGEST, _MOST_PHRASES = 200_000, 1000  # characters that are read, phrases that are examined
_SHORT_ANSWER = 300  # characters of an answer in which advice to contact someone may be the whole answer
_LONGEST_CACHED = 2000  # characters; longer answers are rarely repeated
_BARE_LENGTH = 60  # characters up to which an answer may be a bare refusal; in a sentence its words mean something else
_LEAST_QUESTION_WORDS = 2  # "Paris?" guesses; it does not ask back
_QUESTION_ENDS = ("?", "？")
_CLOSING = " \t\r\n\"'”’)*_"


def find_behaviour_candidates(answers: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return a boolean array of shape (n,): whether `detect_behaviour` must examine each answer; the others are
    plain answers, unless their case states a language without a lexicon.

    Never excludes a text in which `detect_behaviour` would find a phrase: the filter compares folded letters and
    digits only.

    >>> find_behaviour_candidates(["12 ngày phép", "Toi khong\\ntim thay thong tin", ""]).tolist()
    [False, True, True]
    """
    rules = _load_rules()
    marked = rules.strong_filter(answers)
    bare = rules.bare_refusals
    for index, answer in enumerate(answers):
        if (len(answer) <= _BARE_LENGTH and _strip_bare(answer) in bare) or answer[-4:].rstrip(_CLOSING).endswith(
            _QUESTION_ENDS
        ):
            marked[index] = True
    short = [i for i, answer in enumerate(answers) if len(answer) <= _SHORT_ANSWER and not marked[i]]
    marked[short] = rules.weak_filter([answers[i] for i in short])
    return marked


def detect_behaviour(answer: str, language: str = "") -> DetectedBehaviour:
    """Return the behaviour of one answer by the rules of this module; only the first 200,000 characters are read.

    `language`: the language that the case states (`en`, `vi-VN`), "" if it states none.

    >>> detect_behaviour("Tôi không tìm thấy thông tin về chính sách này.").behaviour
    'abstain'
    >>> detect_behaviour("I don't have enough information, but the limit is 600 per minute.")[:4]
    ('answer', True, True, True)
    >>> detect_behaviour("ERR-403 nghĩa là 'không có quyền'.").has_quoted_phrase
    True
    >>> detect_behaviour("Which office do you work in?").behaviour, detect_behaviour("Ufficio di Roma", "it").behaviour
    ('clarify', 'unknown')
    """
    detected = _detect_cached(answer) if len(answer) <= _LONGEST_CACHED else _detect(answer)
    if detected.behaviour == "answer" and not detected.has_refusal and language and not has_lexicon(language):
        return detected._replace(behaviour=UNKNOWN, is_decided_by_text=False)
    return detected


def has_lexicon(language: str) -> bool:
    """Return whether a lexicon covers a language (`vi`, `vi-VN`)."""
    return language.lower().replace("_", "-").partition("-")[0] in _load_rules().lexicons


def select_lexicons(paths: Iterable[str]) -> None:
    """Use the user's lexicons, files or folders, in addition to the shipped ones, from here on in this process.

    Raises LexiconError with everything that is wrong with them; then nothing changes.
    """
    global _lexicon_paths
    selected = tuple(paths)
    if selected != _lexicon_paths:
        load_lexicons(selected)
        _lexicon_paths = selected
        _load_rules.cache_clear()
        _detect_cached.cache_clear()  # what was detected with other lexicons no longer holds


def selected_lexicons() -> tuple[str, ...]:
    """Return the user's lexicons that are in use in this process."""
    return _lexicon_paths


_lexicon_paths: tuple[str, ...] = ()


class _Rules:
    """All lexicons, indexed for looking up their phrases. Several languages may have the same phrase."""

    def __init__(self, lexicons: Mapping[str, RefusalLexicon]) -> None:
        self.lexicons = lexicons
        self.bare_refusals = frozenset[str]().union(*(lexicon.bare_refusals for lexicon in lexicons.values()))
        self.by_phrase: dict[str, list[RefusalPhrase]] = {}
        self.searched: list[RefusalLexicon] = []  # by pattern: scripts that the filter does not look into
        for lexicon in lexicons.values():
            if not lexicon.is_spaced or not all(map(str.isascii, lexicon.phrases)):
                self.searched.append(lexicon)
                continue
            for phrase, cues in lexicon.phrases.items():
                self.by_phrase.setdefault(phrase, []).extend(cues)
        self.unspaced: dict[str, list[RefusalPhrase]] = {}
        for phrase, cues in itertools.chain.from_iterable(lexicon.phrases.items() for lexicon in self.searched):
            self.unspaced.setdefault(phrase, []).extend(cues)
        lengths_by_pair: dict[str, set[int]] = {}
        for phrase in self.unspaced:
            lengths_by_pair.setdefault(phrase[:2], set()).add(len(phrase))
        self.lengths_by_pair = {pair: sorted(found, reverse=True) for pair, found in lengths_by_pair.items()}
        lengths: dict[str, dict[str, set[int]]] = {}
        for phrase in self.by_phrase:
            first, second = _TOKEN_PATTERN.findall(phrase)[:2]
            lengths.setdefault(first, {}).setdefault(second, set()).add(len(phrase))
        self.lengths_by_words = {
            (first, second): tuple(sorted(found, reverse=True))
            for first, by_second in lengths.items()
            for second, found in by_second.items()
        }
        weak = [phrase for phrase, cues in self.by_phrase.items() if all(cue.kind in _WEAK_KINDS for cue in cues)]
        strong = [phrase for phrase, cues in self.by_phrase.items() if any(cue.kind not in _WEAK_KINDS for cue in cues)]
        # "don't" is spelled "do not" in the lexicon; "cannot" ends in "not"
        self.strong_filter = PhraseFilter([*strong, *_contract_negations(strong)])
        self.weak_filter = PhraseFilter([*weak, *_contract_negations(weak)])

    def find_phrases(self, text: str) -> list[tuple[int, str, RefusalPhrase]]:
        """Return (start, phrase, cue) of the phrases in a folded text, by start, the longest first at each start."""
        hits: list[tuple[int, str, RefusalPhrase]] = []
        words = _TOKEN_PATTERN.findall(text)
        for first, second in self.lengths_by_words.keys() & set(itertools.pairwise(words)):
            pair = f"{first} {second}"
            start = text.find(pair)
            while start >= 0:
                if not text[start - 1 : start].isalnum():
                    for length in self.lengths_by_words[first, second]:
                        phrase = text[start : start + length]
                        if phrase in self.by_phrase and not text[start + length : start + length + 1].isalnum():
                            hits += [(start, phrase, cue) for cue in self.by_phrase[phrase]]
                start = text.find(pair, start + 1)
        if not text.isascii() and _OTHER_SCRIPT_LETTER.search(text):
            hits += self._find_unspaced_phrases(text)
        return sorted(hits, key=lambda hit: (hit[0], -len(hit[1])))[:_MOST_PHRASES]

    def _find_unspaced_phrases(self, text: str) -> Iterator[tuple[int, str, RefusalPhrase]]:
        """Yield the phrases of scripts that the filter does not look into, by their first two characters."""
        pairs = set(map("".join, itertools.pairwise(text)))
        for pair in self.lengths_by_pair.keys() & pairs:
            start = text.find(pair)
            while start >= 0:
                for length in self.lengths_by_pair[pair]:
                    phrase = text[start : start + length]
                    for cue in self.unspaced.get(phrase, ()):
                        yield start, phrase, cue
                start = text.find(pair, start + 1)

    def find_lexicon(self, text: str) -> RefusalLexicon | None:
        """Return the lexicon whose common words a folded text holds most of; None if none covers its script."""
        start = text[:2000]
        other_letters = len(_OTHER_SCRIPT_LETTER.findall(start))
        if 2 * other_letters <= sum(map(str.isalpha, start)):
            words = set(WORD_PATTERN.findall(start))
            latin = [lexicon for lexicon in self.lexicons.values() if lexicon not in self.searched]
            return max(latin, key=lambda lexicon: len(lexicon.common_words & words), default=None)
        best, best_count = None, (0, 0)
        for lexicon in self.searched:
            letters = len(lexicon.patterns["letters"].findall(start))
            count = letters, sum(map(start.count, lexicon.common_words))
            if count > best_count:
                best, best_count = lexicon, count
        return best


_WEAK_KINDS = frozenset(("contact", "doubt"))


@lru_cache(maxsize=1)
def _load_rules() -> _Rules:
    return _Rules(load_lexicons(_lexicon_paths))


def _strip_bare(answer: str) -> str:
    return fold_text(answer).strip(" .!?…:;-*_\"'()[]。！")


def match_bare_refusal(answer: str) -> str:
    """Return the folded answer if it consists only of a phrase that abstains, else "".

    >>> match_bare_refusal("**N/A**"), match_bare_refusal("Không rõ."), match_bare_refusal("An unknown error")
    ('n/a', 'khong ro', '')
    """
    if len(answer) > _BARE_LENGTH:
        return ""
    text = _strip_bare(answer)
    return text if text in _load_rules().bare_refusals else ""


class _PhraseHits(NamedTuple):
    """The asserted phrases of a text: the first of each kind, where they begin, and the lexicon of the first."""

    phrase_by_kind: dict[PhraseKind, str]
    starts: list[int]
    lexicon: RefusalLexicon | None
    has_quoted_phrase: bool


def _detect(answer: str) -> DetectedBehaviour:
    if not any(map(str.isalnum, answer)):
        return NO_BEHAVIOUR
    bare_refusal = match_bare_refusal(answer)
    if bare_refusal:
        return DetectedBehaviour("abstain", True, True, False, bare_refusal, False)
    text = normalise_answer(answer[:_LONGEST])
    rules = _load_rules()
    hits = _collect_hits(rules, text, is_short=len(answer) <= _SHORT_ANSWER)
    lexicon = hits.lexicon or rules.find_lexicon(text)
    if lexicon is None:
        return NO_BEHAVIOUR._replace(behaviour=UNKNOWN)
    asks = "clarify" in hits.phrase_by_kind or _ends_in_question(text)
    if not hits.phrase_by_kind and not asks:
        return PLAIN_ANSWER._replace(has_quoted_phrase=hits.has_quoted_phrase)
    return _decide(hits, has_substantive_claim(text, hits.starts, lexicon), asks)


_detect_cached = lru_cache(maxsize=1024)(_detect)  # a system usually refuses in the same words


def _collect_hits(rules: _Rules, text: str, *, is_short: bool) -> _PhraseHits:
    quotes: list[tuple[int, int]] | None = None
    phrase_by_kind: dict[PhraseKind, str] = {}
    starts: list[int] = []
    lexicon: RefusalLexicon | None = None
    quoted_phrase_seen = False
    for start, phrase, cue in rules.find_phrases(text):
        quotes = find_quotations(text) if quotes is None else quotes
        if starts and starts[-1] == start:
            continue  # a shorter phrase at the same position
        if is_quoted(quotes, start):
            quoted_phrase_seen = quoted_phrase_seen or cue.kind not in _WEAK_KINDS
        elif is_short or cue.kind not in _WEAK_KINDS:
            context = find_phrase_context(text, start, start + len(phrase))
            if _is_asserted(context, cue):
                phrase_by_kind.setdefault(_effective_kind(context, phrase, cue), phrase)
                lexicon = lexicon or cue.lexicon
                if cue.kind != "doubt":
                    starts.append(start)
    return _PhraseHits(phrase_by_kind, starts, lexicon, quoted_phrase_seen)


def _ends_in_question(text: str) -> bool:
    words = WORD_PATTERN.findall(text[:200])
    asks_something = len(words) >= _LEAST_QUESTION_WORDS or (not text.isascii() and max(map(len, words)) > 3)
    return asks_something and text.rstrip(_CLOSING).endswith("?")


def _decide(hits: _PhraseHits, has_claim: bool, asks: bool) -> DetectedBehaviour:
    phrases, is_quoted_only = hits.phrase_by_kind, hits.has_quoted_phrase
    for kind in _PRECEDENCE:
        if kind in phrases:
            return DetectedBehaviour(
                "answer" if has_claim else kind, True, True, has_claim, phrases[kind], is_quoted_only
            )
    if has_claim:
        return PLAIN_ANSWER._replace(has_quoted_phrase=is_quoted_only)
    if asks:
        return DetectedBehaviour("clarify", True, False, False, phrases.get("clarify", ""), is_quoted_only)
    if "contact" in phrases:
        return DetectedBehaviour("escalate", False, True, False, phrases["contact"], is_quoted_only)
    return DetectedBehaviour(UNKNOWN, False, False, False, phrases["doubt"], is_quoted_only)


def _contract_negations(spelled: Sequence[str]) -> list[str]:
    """Return the phrases as they are written with contractions: "do not" as "dont", "can not" as "cant"."""
    contracted = [contract_negations(phrase) for phrase in spelled if "not" in phrase]
    return [*contracted, *(_NOT_WORD.sub("nt", phrase) for phrase in spelled if "not" in phrase)]


_NOT_WORD = re.compile(r"\bnot\b")


# ── checking a phrase ────────────────────────────────────────────────────────────────────────────────────────────

_TOPIC_MARKER = re.compile(r"[^,]{0,60}\bthi\b")  # "không có quyền thì phải …": if they have none, they must …
_ERROR_CODE = re.compile(r"\b(?:40[0-9]|429|50[0-4]|err-?\d+)\b")


def _is_asserted(context: PhraseContext, cue: RefusalPhrase) -> bool:
    """Whether the answer asserts a phrase in this context: not as a condition, question or explanation."""
    window = context.before.rpartition(", ")[2]
    patterns = cue.lexicon.patterns
    if context.is_question and cue.kind != "clarify":
        return False
    if (
        patterns["not_asserted.conditions"].search(window)
        or patterns["not_asserted.explanations"].search(context.sentence)
        or patterns["not_asserted.denials"].search(window)
    ):
        return False
    if cue.kind == "permission_denied" and _ERROR_CODE.search(context.sentence):
        return False
    if cue.kind != "escalate" and cue.lexicon.language == "vi" and _TOPIC_MARKER.match(context.after):
        return False
    return cue.following_pattern.match(context.after) is not None and _has_allowed_subject(cue, window, context.before)


_SUBJECT_LISTS: dict[PhraseSubject, str] = {
    "me": "subjects.me",
    "contact": "subjects.contact",
    "exclusive": "subjects.exclusive",
}


def _has_allowed_subject(cue: RefusalPhrase, window: str, before: str) -> bool:
    """Whether the subject of the phrase, somewhere in `window`, is one that the phrase allows."""
    if cue.subject == "free":
        return True
    patterns = cue.lexicon.patterns
    if cue.subject in _SUBJECT_LISTS:
        return patterns[_SUBJECT_LISTS[cue.subject]].search(before) is not None
    speaker = patterns["subjects.speaker"].search(window) is not None
    you = patterns["subjects.you"].search(window) is not None
    if not (speaker or you) and patterns["subjects.others"].search(window) is not None:
        return False
    fillers = cue.lexicon.words["no_claim.fillers"]
    absent = all(word in fillers for word in re.findall(r"[\w']+", window))
    document = patterns["subjects.documents"].search(window) is not None
    source = speaker or absent or document or patterns["subjects.pronouns"].search(window) is not None
    allowed: dict[PhraseSubject, bool] = {
        "anyone": True,
        "you": you,
        "speaker": source,
        "reader": speaker or you or absent,
        "source": source,
        "document": speaker or document,
        "topic": absent or patterns["subjects.topics"].search(window) is not None,
    }
    return allowed[cue.subject]


def _effective_kind(context: PhraseContext, phrase: str, cue: RefusalPhrase) -> PhraseKind:
    """Return the cue's kind; an abstention becomes a denial if the sentence mentions permission."""
    patterns = cue.lexicon.patterns
    if (
        cue.kind == "abstain"
        and patterns["permission.giving"].search(phrase)
        and patterns["permission.subjects"].search(context.sentence + context.after)
    ):
        return "permission_denied"
    return cue.kind
