"""Long texts: what rules keep of them does not outlive the next ones."""

from __future__ import annotations

import gc
import weakref

import pytest

from assay.text.facts.reading.read_text import read_text
from assay.text.facts.stated_facts import judge_facts


@pytest.mark.slow
def test_no_cache_keeps_long_texts_with_their_words_alive() -> None:
    """A text of 20,000 characters takes a megabyte with its words, and some caches kept 256 of them."""
    answers = [
        f"Row {row}. " + "It is open at night, but not on Sundays, and costs 5 euros. " * 300 for row in range(6)
    ]
    texts = []
    for answer in answers:
        judge_facts(answer, ["12 days", "closed on Sundays"], "When is it open?")
        texts.append(weakref.ref(read_text(answer)))
    gc.collect()
    assert sum(text() is not None for text in texts) <= 2
