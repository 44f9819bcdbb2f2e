"""Evidence that a search returned and a later step removed: a filter, an access filter, the reranker or a cut."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest

import pytest
from tests.attribution.traces import BAD, blamed, case, corpus, seen, stage

from assay.records.findings import Attribution
from assay.records.golden_set import Corpus, CorpusChunk
from assay.records.observations import Stage

TOPICS = "mail parking keys badges printer phone laptop visitor coffee garden heating lift roof bike meeting travel"
OTHERS = {f"x{n}": f"## Topic {n}\nThe {word} is handled on floor {n}." for n, word in enumerate(TOPICS.split())}
SEARCHES = ("bm25", "vector", "retrieved", "bm25 of two", "vector of two", "merged")
Lists = dict[str, list[str]]


def _rank_evidence(rank: int) -> list[str]:
    return [*list(OTHERS)[: rank - 1], "leave", *list(OTHERS)[rank - 1 :]]


def _search(kind: str, rank: int) -> tuple[Lists, list[str]]:
    """Return the lists of the searches with the evidence at a rank of one of them, and what follows them takes."""
    found, without = _rank_evidence(rank)[:16], list(OTHERS)[:11:-1]
    if kind in ("bm25", "vector", "retrieved"):
        return {kind: found}, found
    if kind == "merged":
        return {"bm25": found, "vector": without, "merged": found}, found
    lists = {"bm25": found, "vector": without} if kind == "bm25 of two" else {"bm25": without, "vector": found}
    return lists, list(dict.fromkeys(name for pair in zip_longest(found, without) for name in pair if name))


def _attribute(lists: Lists, shown: list[str]) -> Attribution:
    chunks = {name: CorpusChunk(name, text=text, document=name, tenant="a") for name, text in OTHERS.items()}
    found = [_list_stage(name, ids) for name, ids in lists.items()]
    observation = seen(*found, _list_stage("context", shown[:5]), answer=BAD)
    return blamed(case(), observation, Corpus(corpus().chunks | chunks))


def _list_stage(name: str, ids: list[str]) -> Stage:
    return stage(name, *ids, texts=OTHERS)


def _drop(ids: list[str]) -> list[str]:
    """Return what a filter passes on: two of three, and not the evidence."""
    others = [name for name in ids if name != "leave"]
    return [name for place, name in enumerate(others) if place % 3]


NAMED = ("filtered", "policy", "deduplicated", "score_threshold", "access_filter")
NAMED_UNSEEN = ("entitlements", "pruned", "tenant_scope")  # not looked at before the rules were finished
NAMELESS = ("trimmed", "after_rules", "security_trimming")
WORLDS = [(search, name) for search in SEARCHES for name in (*NAMED, *NAMED_UNSEEN)]
WORLDS += [(search, name) for search in SEARCHES if not search.endswith("of two") for name in NAMELESS]
"""What a stage without a telling name does with two lists, joining or filtering, is not known."""


@pytest.mark.parametrize("rank", [1, 3, 8, 12])
@pytest.mark.parametrize(("search", "name"), WORLDS)
def test_a_filter_behind_any_search_is_what_lost_what_it_drops(search: str, name: str, rank: int) -> None:
    lists, taken = _search(search, rank)
    attribution = _attribute(lists | {name: _drop(taken)}, _drop(taken))
    assert (True, name) == (attribution.cause in ("hybrid_merge", "acl"), attribution.stage)


def test_what_joins_two_lists_and_has_lower_chunks_of_one_of_them_lost_the_evidence() -> None:
    lists = {"bm25": [*list(OTHERS)[:7], "leave", "x7", "x8"], "vector": list(OTHERS)[10:]}
    joined = ["x0", "x10", "x1", "x11", "x2", "x12", "x7", "x8"]
    attribution = _attribute(lists | {"after_rules": joined}, joined)
    assert ("hybrid_merge", "after_rules") == (attribution.cause, attribution.stage)
    cut = _attribute(lists | {"after_rules": joined[:6]}, joined)
    assert "bm25_analyzer" == cut.cause, "a fusion that takes six has nothing that bm25 has lower"


@pytest.mark.parametrize("rank", [1, 3, 8, 12])
@pytest.mark.parametrize("search", SEARCHES)
def test_a_filter_behind_the_reranker_is_what_lost_what_the_reranker_has_first(search: str, rank: int) -> None:
    lists, taken = _search(search, rank)
    reranked = ["leave", *[name for name in taken[::-1] if name != "leave"]]
    attribution = _attribute(lists | {"reranked": reranked, "policy": _drop(reranked)}, _drop(reranked))
    assert ("hybrid_merge", "policy") == (attribution.cause, attribution.stage)


@pytest.mark.parametrize("rank", [1, 3, 8, 12])
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("rerank", [lambda ids: ids[::-1][:8], lambda ids: [*ids[::-1][:8], "leave"]])
def test_a_reranker_that_received_the_evidence_and_lost_it_is_among_the_causes(
    search: str, rank: int, rerank: Callable[[list[str]], list[str]]
) -> None:
    lists, taken = _search(search, rank)
    reranked = rerank([name for name in taken if name != "leave"])
    attribution = _attribute(lists | {"reranked": reranked}, reranked)
    assert "reranker" in (attribution.cause, *attribution.also)
    assert "bm25_analyzer" != attribution.cause or attribution.confidence != "high"


def test_what_is_cut_off_is_not_filtered() -> None:
    ranking = _rank_evidence(8)
    attribution = _attribute({"retrieved": ranking, "top6": ranking[:6]}, ranking)
    assert ("context_builder", "ranked_below_cut_off", "top6") == (
        attribution.cause,
        attribution.subcause,
        attribution.stage,
    )
    assert "filter" not in attribution.sign


def test_an_access_filter_behind_two_searches_is_one_of_access() -> None:
    lists, taken = _search("bm25 of two", 8)
    attribution = _attribute(lists | {"permissions": _drop(taken)}, _drop(taken))
    assert ("acl", "access_denied", "permissions") == (attribution.cause, attribution.subcause, attribution.stage)
