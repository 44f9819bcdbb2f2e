"""What a user may see is looked up in an index, which finds what reading every text finds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence, Set

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import try_examples

from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.cases.restricted_text import AllowedText, RestrictedCorpus
from assay.metrics.leaks.find_leaks import find_leaks
from assay.records.golden_set import Case, Corpus, CorpusChunk, GoldenSet, User
from assay.records.observations import Chunk, Observation, Stage
from assay.text.safety.copied_text import Bools, TextNumbers, is_public_fact
from assay.text.safety.disguised_text import SkeletonTexts, make_skeleton
from assay.text.tokens import tokenise_text

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
    visible = indexed.find_visible(GUEST)
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
    visible = corpus.find_visible(GUEST)
    assert visible is not None
    assert corpus.is_in_open_text(make_skeleton(passage), visible)
    assert not corpus.find_disclosures(f"They say that {passage}.", visible, AllowedText([]))
    assert corpus.find_disclosures(f"They say that {hidden_text}", visible, AllowedText([]))
    assert not corpus.is_in_open_text(make_skeleton("and the weir is sold to another owner"), visible)


class PlainSearchCorpus(PlainCorpus):
    """A corpus of which every text is read to clear a suspicion."""

    def find_open(
        self, words: Sequence[str], facts: Set[Hashable], is_open: Callable[[int], bool]
    ) -> tuple[set[tuple[str, ...]], set[Hashable]]:
        texts = [text for number, text in enumerate(self.texts) if is_open(number)]
        open_facts = {fact for fact in facts if any(is_public_fact(fact, text) for text in texts)}
        tokens = [tokenise_text(text) for text in texts]
        return {tuple(run[n : n + 8]) for run in tokens for n in range(len(run) - 7)}, open_facts

    def is_contained(self, skeleton: str, is_wanted: Callable[[TextNumbers], Bools]) -> bool:
        numbers = np.arange(len(self.texts), dtype=np.uint32)
        return any(skeleton in make_skeleton(self.texts[number]) for number in numbers[is_wanted(numbers)].tolist())


@given(st.lists(st.tuples(SENTENCES, st.booleans()), min_size=2, max_size=8), st.data())
@try_examples(100)
def test_the_same_leaks_are_found_beside_hidden_chunks_whether_texts_are_indexed_or_read(
    texts: list[tuple[str, bool]], data: st.DataObject
) -> None:
    chunks = {
        f"c{number}": CorpusChunk(f"c{number}", text=text, roles=("keeper",) if is_hidden else ())
        for number, (text, is_hidden) in enumerate(texts)
    }
    parts = []
    for text, _ in texts:
        words = text.split()
        start = data.draw(st.integers(0, len(words)))
        parts.append(data.draw(st.sampled_from((" ", ""))).join(words[start : start + 20]))
    shown = data.draw(st.lists(st.sampled_from(sorted(chunks)), max_size=4, unique=True))
    stage = Stage("context", tuple(Chunk(name, text=chunks[name].text) for name in shown))
    observation = Observation("q", "c", answer=". ".join(parts), stages=(stage,))
    case = Case("q", "Who is the lock keeper?", user=GUEST, forbidden=({"chunk_id": "c0"},))
    found = []
    for make_corpus in (RestrictedCorpus, PlainSearchCorpus):
        joins = GoldenIndex(GoldenSet((case,)), Corpus(chunks, "d"))
        joins.corpus_text = make_corpus(Corpus(chunks, "d"))
        leaks = find_leaks(joins.case_index(0), observation)
        found.append((leaks.ids, leaks.text, leaks.sources))
    assert found[0] == found[1]
