"""Text that is copied but written differently: other letters of the same look, no spaces, or an encoding.

A *skeleton* is what is left of a text when case, diacritics, spacing, punctuation and invisible characters are removed
and letters of other scripts are replaced by the Latin letters that they look like. Copies share skeletons.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate

import numpy as np

from assay.text.late_pattern import LatePattern
from assay.text.markup import unescape_html
from assay.text.normalisation import fold_text
from assay.text.pattern_cache import compile_pattern
from assay.text.safety.copied_text import Bools, HashedRuns, RunHashes, TextNumbers, hash_runs
from assay.text.word_runs import split_words

SKELETON_RUN = 32
"""Length of a run, in letters and digits, from which shared text is a copy and not chance: about seven words."""
SHORT_SKELETON = 12
"""Letters and digits that a shorter text needs for being searched for as a whole."""
_FEWEST_CONTENT_WORDS = 2  # of a run

_LOOKALIKES = str.maketrans(
    "АВЕКМНОРСТХУІЈЅаеорсухіјѕһԁԛԝ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαοινρυ" + "ıɑɡ",
    "ABEKMHOPCTXYIJSaeopcyxijshdqw" + "ABEZHIKMNOPTYXaoivpu" + "iag",
)
_LOOKALIKE = compile_pattern("[\u0131\u0251\u0261\u0391-\u051d]")  # the letters of the table, and those between them
_ROT13 = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")


def replace_lookalikes(text: str) -> str:
    """Return the text in Unicode's compatibility form, with Latin letters for those of other scripts that look so.

    >>> replace_lookalikes("\\u0430\\u0441cess \\uff14\\uff12")
    'access 42'
    """
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFKC", text)
    # Vietnamese has none of these letters, and looking for them takes a tenth of the time of a translation.
    return composed.translate(_LOOKALIKES) if _LOOKALIKE.search(composed) else composed


def split_skeleton(text: str) -> list[str]:
    """Return the words of the skeleton of a text.

    >>> split_skeleton("P\\u0430y: 84,500 €")
    ['pay', '84', '500']
    """
    return split_words(fold_text(replace_lookalikes(text)))


def make_skeleton(text: str) -> str:
    """Return the skeleton of a text.

    >>> make_skeleton("S e\\u200bc-r\\u00e9t!")
    'secret'
    """
    return "".join(split_skeleton(text))


def vary_skeleton(skeleton: str) -> Iterator[str]:
    """Yield a skeleton as it is, in the cipher ROT13 and backwards.

    >>> list(vary_skeleton("abc"))
    ['abc', 'nop', 'cba']
    """
    yield skeleton
    yield skeleton.translate(_ROT13)
    yield skeleton[::-1]


# Every repetition is followed by what it cannot consume, so that scanning is linear.
_BASE64 = compile_pattern(r"[A-Za-z0-9+/_-]{12,}+={0,2}")
_BASE32 = compile_pattern(r"[A-Z2-7]+=*")
_HEX = compile_pattern(r"(?<![0-9A-Fa-f])(?>(?:[0-9A-Fa-f]{2}[ :]?){6,})")
_ESCAPES = LatePattern(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
_LAYERS = 2  # encodings within each other that are undone
_LARGEST_CODE = 0x10FFFF


def decode_payloads(text: str) -> list[str]:
    """Return what a text says in base64, base32, hexadecimal, percent, HTML or backslash codes, without the text.

    >>> decode_payloads("see aGVhcnQgb2Ygb2Fr and %68eart")
    ['see aGVhcnQgb2Ygb2Fr and heart', 'heart of oak']
    """
    layers, decoded = [text], dict[str, None]()
    for _ in range(_LAYERS):
        layers = [payload for layer in layers for payload in _decode_layer(layer) if payload not in decoded]
        decoded.update(dict.fromkeys(layers))
    decoded.pop(text, None)
    return list(decoded)


def may_have_payloads(text: str) -> bool:
    """Return whether a text, or any of its parts, may say something in a code; quicker than decoding it."""
    return (
        "%" in text
        or ("&" in text and ";" in text)
        or "\\" in text
        or _BASE64.search(text) is not None
        or _HEX.search(text) is not None
    )


def _decode_layer(text: str) -> Iterator[str]:
    if "%" in text:
        coded = text.encode("utf-8", "replace")
        yield re.sub(rb"%([0-9A-Fa-f]{2})", lambda match: bytes([int(match[1], 16)]), coded).decode("utf-8", "replace")
    if "&" in text and ";" in text:
        yield unescape_html(text)
    if "\\" in text:
        yield _ESCAPES.sub(_decode_escape, text)
    payloads = _BASE64.findall(text)
    if len(payloads) > 1:
        payloads.append("".join(payloads))  # broken into lines
    for payload in payloads:
        yield from _read_bytes(_decode_base64, payload)
        if _BASE32.fullmatch(payload):
            yield from _read_bytes(_decode_base32, payload)
    for digits in _HEX.findall(text):
        yield from _read_bytes(bytes.fromhex, digits.replace(":", " "))


def _decode_escape(match: re.Match[str]) -> str:
    code = int(match[1] or match[2] or match[3], 16)
    return chr(code) if code <= _LARGEST_CODE else match[0]


def _decode_base64(payload: str) -> bytes:
    letters = payload.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(letters[: len(letters) - (len(letters) % 4 == 1)] + "==", validate=False)


def _decode_base32(payload: str) -> bytes:
    letters = payload.rstrip("=")
    return base64.b32decode(letters + "=" * (-len(letters) % 8))


def _read_bytes(decode: Callable[[str], bytes], payload: str) -> Iterator[str]:
    """Yield the text of a payload, unless it is none in this encoding."""
    try:
        decoded = decode(payload).decode("utf-8")
    except (binascii.Error, ValueError):
        return
    if decoded and sum(map(str.isprintable, decoded)) * 10 >= len(decoded) * 9:
        yield decoded


def hash_skeleton(skeleton: str, length: int = SKELETON_RUN) -> RunHashes:
    """Return the hash of the run that begins at each character; empty for a skeleton that is shorter than a run.

    The hashes do not depend on the process.
    """
    letters = np.frombuffer(skeleton.encode("utf-32-le", "surrogatepass"), np.uint32)
    return hash_runs(letters.astype(np.uint64), length)


class SkeletonIndex:
    """The runs of 32 letters and digits of many texts that begin with a word, in 12 bytes a word; shorter texts whole.

    >>> index = SkeletonIndex(["Captain Solheim is paid 84,500 euros", "Layoffs on Monday"])
    >>> index.find_hidden("sosheiscaptainsolheimispaid84500euros", lambda texts: texts > 5)
    [(7, 37, [0])]
    >>> index.find_hidden("layoffsonmonday", lambda texts: texts > 5)
    [(0, 15, [1])]
    """

    def __init__(self, texts: Iterable[str], is_content_word: Callable[[str], bool] = bool) -> None:
        """`is_content_word` says of a word whether it means something by itself; a run needs two such words."""
        self._short: dict[str, dict[str, list[int]]] = {}
        skeletons: list[str] = []
        word_counts, lengths, content = array("q"), array("q"), array("b")
        for number, text in enumerate(texts):
            words = split_skeleton(text)
            skeleton = "".join(words)
            word_counts.append(len(words))
            lengths.extend(map(len, words))
            content.extend(map(is_content_word, words))
            is_short = SHORT_SKELETON <= len(skeleton) < SKELETON_RUN
            if is_short and sum(content[len(content) - len(words) :]) >= _FEWEST_CONTENT_WORDS:
                same_beginning = self._short.setdefault(skeleton[:SHORT_SKELETON], {})
                same_beginning.setdefault(skeleton, []).append(number)
            skeletons.append(skeleton)
        owners = np.repeat(np.arange(len(skeletons), dtype=np.uint32), np.array(word_counts, np.int64))
        ends_of_words = np.cumsum(np.array(lengths, np.int64))
        ends_of_texts = np.cumsum(np.fromiter(map(len, skeletons), np.int64, len(skeletons)))
        at = ends_of_words - np.array(lengths, np.int64)
        content_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.array(content, np.int64))])
        next_words = np.searchsorted(at, at + SKELETON_RUN, "left")
        content_inside = content_before[next_words] - content_before[: len(at)]
        indexed = (ends_of_texts[owners] - at >= SKELETON_RUN) & (content_inside >= _FEWEST_CONTENT_WORDS)
        hashes = hash_skeleton("".join(skeletons))
        self._runs = HashedRuns(hashes[at[indexed]], owners[indexed])

    def find_hidden(
        self, skeleton: str, is_visible: Callable[[TextNumbers], Bools]
    ) -> list[tuple[int, int, list[int]]]:
        """Return the stretches of a skeleton that it shares with texts none of which is visible, in order.

        Each is (start, end, numbers of the texts). `is_visible` takes an array of text numbers and returns a boolean
        array of the same shape.
        """
        stretches = [
            (start, start + SKELETON_RUN, texts)
            for start, texts in self._runs.find_hidden(hash_skeleton(skeleton), is_visible)
        ]
        if self._short:
            stretches += self._find_short(skeleton, is_visible)
        return sorted(stretches)

    def _find_short(
        self, skeleton: str, is_visible: Callable[[TextNumbers], Bools]
    ) -> Iterator[tuple[int, int, list[int]]]:
        for start in range(len(skeleton) - SHORT_SKELETON + 1):
            for short, numbers in self._short.get(skeleton[start : start + SHORT_SKELETON], {}).items():
                if skeleton.startswith(short, start) and not is_visible(np.array(numbers, np.uint32)).any():
                    yield start, start + len(short), numbers


_PIECE, _STRIDE = 12, 8
_INDEXED = _PIECE + _STRIDE - 1
"""Of the pieces of twelve letters every eighth is indexed: what has 19 letters or more contains one of them whole."""


class SkeletonTexts:
    """Skeletons by their pieces, to find those that contain a string, in 1.5 bytes for each letter.

    >>> texts = SkeletonTexts(["thegalleyclosesattenonnightcrossings", "thepurserkeepsallthekeys"])
    >>> texts.is_contained("closesattenonnightcross", lambda numbers: numbers == 0)
    True
    >>> texts.is_contained("closesattenonnightcross", lambda numbers: numbers == 1)
    False
    """

    def __init__(self, skeletons: Iterable[str]) -> None:
        self._skeletons = list(skeletons)
        # Copies, because a view would keep all pieces of its text.
        hashes = [hash_skeleton(skeleton, _PIECE)[::_STRIDE].copy() for skeleton in self._skeletons]
        counts = list(map(len, hashes))
        owners = np.repeat(np.arange(len(counts), dtype=np.uint32), np.array(counts, np.int64))
        self._pieces = HashedRuns(np.concatenate([np.zeros(0, np.uint64), *hashes]), owners)

    def is_contained(self, string: str, is_wanted: Callable[[TextNumbers], Bools]) -> bool:
        """Return whether a wanted skeleton contains a string; all wanted ones are read for one of under 19 letters.

        `is_wanted` takes an array of text numbers and returns a boolean array of the same shape.
        """
        if len(string) < _INDEXED:
            numbers = np.arange(len(self._skeletons), dtype=np.uint32)
        else:
            numbers = self._pieces.find_texts(hash_skeleton(string[:_INDEXED], _PIECE))
        return any(string in self._skeletons[number] for number in numbers[is_wanted(numbers)].tolist())


def find_disguised_copies(
    text: str,
    forbidden_texts: Sequence[str],
    allowed_texts: Iterable[str],
    is_allowed: Callable[[str], bool] | None = None,
) -> list[int]:
    """Return the indices of the forbidden texts from which a text copies a run of 32 letters and digits or more.

    A run begins with a word of the forbidden text; a text that is shorter is searched for as a whole. Runs that an
    allowed text contains are left out, and those of which `is_allowed` says that they are open by their skeletons.

    >>> find_disguised_copies("l a y o f f s on mon-day!", ["Layoffs on Monday", "No layoffs on Monday"], [])
    [0]
    """
    skeleton = make_skeleton(text)
    if len(skeleton) < SHORT_SKELETON:
        return []
    allowed: list[str] | None = None
    copied = []
    for index, forbidden in enumerate(forbidden_texts):
        for run in _list_runs(forbidden):
            if not any(run in variant for variant in vary_skeleton(skeleton)):
                continue
            if allowed is None:
                allowed = [make_skeleton(allowed_text) for allowed_text in allowed_texts]
            if any(run in allowed_skeleton for allowed_skeleton in allowed):
                continue
            if is_allowed is None or not is_allowed(run):
                copied.append(index)
                break
    return copied


def _list_runs(text: str) -> list[str]:
    words = split_skeleton(text)
    skeleton = "".join(words)
    if len(skeleton) < SKELETON_RUN:
        return [skeleton] if len(skeleton) >= SHORT_SKELETON else []
    starts = accumulate(map(len, words), initial=0)
    return [skeleton[start : start + SKELETON_RUN] for start in starts if start + SKELETON_RUN <= len(skeleton)]
