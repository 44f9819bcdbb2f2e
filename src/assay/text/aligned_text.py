"""Finds a passage again in texts that were cut in another way, by the runs of words that both have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from assay.text.tokens import tokenise_text
from assay.text.word_runs import list_word_runs

RUN_LENGTH = 4
"""Words in a run: fewer occur by chance, more are lost at every change of a word."""


class FoundPassage(NamedTuple):
    """A text that has a share of a passage's words in runs."""

    text_id: str
    share: float


class PassageFinder:
    """The runs of words of many texts, to find passages in them."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._words = {text_id: tokenise_text(text) for text_id, text in texts.items()}
        self._places: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for text_id, words in self._words.items():
            for run in dict.fromkeys(list_word_runs(words, RUN_LENGTH)):
                self._places[run].append(text_id)

    def find(self, passage: str) -> list[FoundPassage]:
        """Return the texts that have words of a passage in runs, the largest share first, then by id.

        The share counts each word of the passage that lies in a run of four words which the text has too. A passage of
        fewer words is found only as a whole.

        >>> finder = PassageFinder({"a": "Staff get twelve days of leave.", "b": "Sick staff stay at home."})
        >>> [(found.text_id, round(found.share, 2)) for found in finder.find("staff get twelve days of annual leave")]
        [('a', 0.71)]
        """
        words = tokenise_text(passage)
        if len(words) < RUN_LENGTH:
            return self._find_short(words)
        covered: dict[str, set[int]] = defaultdict(set)
        for start, run in enumerate(list_word_runs(words, RUN_LENGTH)):
            for text_id in self._places.get(run, ()):
                covered[text_id].update(range(start, start + RUN_LENGTH))
        passages = [FoundPassage(text_id, len(places) / len(words)) for text_id, places in covered.items()]
        return sorted(passages, key=lambda item: (-item.share, item.text_id))

    def _find_short(self, words: list[str]) -> list[FoundPassage]:
        if not words:
            return []
        run = tuple(words)
        return [
            FoundPassage(text_id, 1.0)
            for text_id, text_words in sorted(self._words.items())
            if run in list_word_runs(text_words, len(words))
        ]
