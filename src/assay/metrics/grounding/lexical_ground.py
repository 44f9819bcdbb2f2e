"""The rules' veto on a judge's label: a claim of which the sources hold next to nothing is not supported by them.

A judge cannot support what rules do not find at all (ADR 0044); between "not at all" and "almost word by word" it
decides alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.records.scores import NEEDS_REVIEW
from assay.text.claims.source_support import SourceSupport
from assay.text.tokens import collect_word_keys

GROUNDLESS_LABELS = f"{NEEDS_REVIEW}: labelled as supported, but the sources hold none of its words"
LEAST_SHARE_OF_GRAMS = 0.15
"""The share of a claim's character 4-grams that sources must hold for it to have a ground in them.

Below it were none of 646 claims that people called supported (WiCE, QAGS-CNN), and 7 of 417 others."""
_SAME_LANGUAGE_SHARE = 0.25
_FEWEST_WORDS = 3


def has_lexical_ground(claim: str, support: SourceSupport, sources: Iterable[str]) -> bool:
    """Return whether sources hold some of the words of a claim, or cannot be compared with it.

    Words of another language cannot: a quarter of all words, small ones included, must be shared for the absence of the
    others to mean anything.
    """
    if support.c4 >= LEAST_SHARE_OF_GRAMS or support.verdict == "supported":
        return True
    words = collect_word_keys(claim)
    shared = words & collect_word_keys("\n".join(sources))
    return len(words) < _FEWEST_WORDS or len(shared) < _SAME_LANGUAGE_SHARE * len(words)
