"""Phrases of scripts without spaces are found wherever they stand, as a search for each of them finds them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.text.refusals.lexicons_in_use import load_rules

_RULES = load_rules("unspaced")
_PHRASES = sorted({phrase for lexicon in _RULES.searched for phrase in lexicon.phrases})


@given(
    st.lists(
        st.one_of(
            st.sampled_from(_PHRASES),
            st.builds(lambda phrase, cut: phrase[: cut % len(phrase)], st.sampled_from(_PHRASES), st.integers(1, 30)),
            st.sampled_from(["。", "資料", "价格", "は", "2024", " the "]),
        ),
        max_size=6,
    )
)
def test_every_phrase_is_found_at_every_place(pieces: list[str]) -> None:
    text = "".join(pieces)
    found = {(start, phrase) for start, phrase, _ in _RULES.find_phrases(text)}
    searched = set()
    for phrase in _PHRASES:
        start = text.find(phrase)
        while start >= 0:
            searched.add((start, phrase))
            start = text.find(phrase, start + 1)
    assert found == searched
