"""What a user may see is looked up in an index, which finds what reading every text finds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import try_examples

from assay.metrics.restricted_text import AllowedText, RestrictedCorpus
from assay.records.golden_set import Corpus, CorpusChunk, User
from assay.text.disguised_text import SkeletonTexts, make_skeleton

WORDS = ("barge", "lock", "keeper", "toll", "weir", "Ærø", "kênh", "đào", "40", "m", "tow", "quay")
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)
GUEST = User(roles=("guest",))


@given(st.lists(st.text("ab", min_size=16, max_size=60), max_size=6), st.data())
@try_examples(300)
def test_a_string_is_contained_where_reading_every_text_finds_it(texts: list[str], data: st.DataObject) -> None:
    is_visible = np.array(data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))), np.bool_)
    source = data.draw(st.sampled_from(texts)) if texts else ""
    start = data.draw(st.integers(0, len(source)))
    string = data.draw(st.text("ab", max_size=2)) + source[start : data.draw(st.integers(start, len(source)))]
    naive = any(string in text for text, visible in zip(texts, is_visible.tolist(), strict=True) if visible)
    assert naive == SkeletonTexts(texts).is_contained(string, lambda numbers: is_visible[numbers])


class PlainCorpus(RestrictedCorpus):
    """A corpus whose visible texts are read one by one."""

    def is_in_open_text(self, skeleton: str, visible: npt.NDArray[np.bool_]) -> bool:
        return any(skeleton in text for text in self.find_open_texts(visible))


@given(st.lists(st.tuples(SENTENCES, st.booleans()), max_size=8), st.data())
@try_examples(100)
def test_the_same_is_given_away_whether_texts_are_indexed_or_read(
    texts: list[tuple[str, bool]], data: st.DataObject
) -> None:
    chunks = {
        f"c{number}": CorpusChunk(f"c{number}", text=text, roles=("keeper",) if is_hidden else ())
        for number, (text, is_hidden) in enumerate(texts)
    }
    parts = [data.draw(SENTENCES)]
    for text, _ in texts:
        words = text.split()
        start = data.draw(st.integers(0, len(words)))
        parts.append(data.draw(st.sampled_from((" ", ""))).join(words[start : start + 20]))
    answer = ". ".join(parts)
    indexed, plain = RestrictedCorpus(Corpus(chunks, "d")), PlainCorpus(Corpus(chunks, "d"))
    visible = indexed.find_visible(GUEST, None)
    if visible is not None:
        allowed = AllowedText(["Who is the lock keeper?"])
        disclosures = indexed.find_disclosures(answer, visible, allowed)
        assert plain.find_disclosures(answer, visible, allowed) == disclosures


@pytest.mark.parametrize("spare", ["", " ", "xy "])
def test_a_passage_that_a_visible_text_has_too_is_open_wherever_it_begins(spare: str) -> None:
    passage = "the keeper of the upper lock raises the toll on barges over forty tons"
    open_text, hidden_text = f"{spare}Notice: {passage}.", f"Minutes: {passage}, and the weir is sold."
    chunks = {"notice": CorpusChunk("notice", text=open_text), "m": CorpusChunk("m", text=hidden_text, roles=("x",))}
    corpus = RestrictedCorpus(Corpus(chunks, "d"))
    visible = corpus.find_visible(GUEST, None)
    assert visible is not None
    assert corpus.is_in_open_text(make_skeleton(passage), visible)
    assert not corpus.find_disclosures(f"They say that {passage}.", visible, AllowedText([]))
    assert corpus.find_disclosures(f"They say that {hidden_text}", visible, AllowedText([]))
    assert not corpus.is_in_open_text(make_skeleton("and the weir is sold to another owner"), visible)
