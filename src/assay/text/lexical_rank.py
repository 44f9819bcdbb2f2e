"""A reference for lexical search: the rank of a text by the words that it shares with a question (BM25)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import fsum, log

from assay.text.tokens import tokenise_text

_K1, _B = 1.2, 0.75


def compute_lexical_rank(query: str, relevant_texts: Sequence[str], other_texts: Sequence[str]) -> int | None:
    """Return the BM25 rank (from 1) of the best `relevant_texts` text among the others, or None if none shares a
    query word.

    Tokens are folded words and whole identifiers. Document frequencies come from these texts alone, so a word that all
    of them contain has little weight. Ties do not worsen the rank. Source: Robertson and Zaragoza (2009) with k1 = 1.2,
    b = 0.75 and a non-negative idf.

    >>> compute_lexical_rank("meaning of ERR-429", ["ERR-429: too many requests"], ["an error", "429 days"])
    1
    """
    texts = [Counter(tokenise_text(text)) for text in (*relevant_texts, *other_texts)]
    scores = _bm25_scores(dict.fromkeys(tokenise_text(query)), texts)
    best = max(scores[: len(relevant_texts)], default=0.0)
    return 1 + sum(score > best for score in scores[len(relevant_texts) :]) if best > 0 else None


def _bm25_scores(query_words: dict[str, None], texts: Sequence[Counter[str]]) -> list[float]:
    lengths = [text.total() for text in texts]
    mean = sum(lengths) / len(lengths) if sum(lengths) else 1.0
    weights: dict[str, float] = {}
    for word in query_words:
        document_count = sum(word in text for text in texts)
        weights[word] = log(1 + (len(texts) - document_count + 0.5) / (document_count + 0.5))
    scores = []
    for text, length in zip(texts, lengths, strict=True):
        norm = _K1 * (1 - _B + _B * length / mean)
        shared = [word for word in query_words if word in text]
        scores.append(fsum(weights[word] * text[word] * (_K1 + 1) / (text[word] + norm) for word in shared))
    return scores
