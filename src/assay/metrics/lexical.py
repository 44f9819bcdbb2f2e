"""A reference for lexical search: where a text is due by the words that it shares with a question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from assay.metrics.text import tokens

_K1, _B = 1.2, 0.75


def lexical_rank(query: str, wanted: Sequence[str], others: Sequence[str]) -> int | None:
    """Return the rank (from 1) of the best of the `wanted` texts among the others by BM25 over folded words and whole
    codes; None where it shares no word with the query.

    Weights come from these texts alone, so a word that all of them have counts little. Equal scores are no loss.
    Source: Robertson and Zaragoza 2009, k1 = 1.2, b = 0.75, with the idf that cannot be negative.

    >>> lexical_rank("meaning of ERR-429", ["ERR-429: too many requests"], ["an error", "429 days"])
    1
    """
    texts = [Counter(tokens(text)) for text in (*wanted, *others)]
    scores = _bm25_scores(dict.fromkeys(tokens(query)), texts)
    best = max(scores[: len(wanted)], default=0.0)
    return 1 + sum(score > best for score in scores[len(wanted) :]) if best > 0 else None


def _bm25_scores(query_words: dict[str, None], texts: Sequence[Counter[str]]) -> list[float]:
    lengths = [text.total() for text in texts]
    mean = sum(lengths) / len(lengths) if sum(lengths) else 1.0
    document_counts = {word: sum(word in text for text in texts) for word in query_words}
    weight = {word: log(1 + (len(texts) - count + 0.5) / (count + 0.5)) for word, count in document_counts.items()}
    return [
        sum(
            weight[word] * text[word] * (_K1 + 1) / (text[word] + _K1 * (1 - _B + _B * length / mean))
            for word in query_words
            if word in text
        )
        for text, length in zip(texts, lengths, strict=True)
    ]
