"""Search against answer: compared at k, as sets, and only where both are known."""

from __future__ import annotations

from assay.records.observations import Chunk, Observation, Stage
from assay.runs.observe_and_score import compare_search_and_answer, describe_search_agreement


def stage(name: str, ids: str) -> Stage:
    return Stage(name, tuple(Chunk(chunk_id) for chunk_id in ids))


def seen(case: str, *stages: Stage) -> Observation:
    return Observation(case, "s", stages=stages)


def test_first_k_chunks_are_compared_as_sets() -> None:
    same = seen("same", stage("search", "abc"), stage("rerank", "bad"), stage("context", "x"))
    other = seen("other", stage("search", "abc"), stage("dense", "xbc"), stage("rerank", "dab"))
    agreement = compare_search_and_answer([same, other], 2)["s"]
    assert (2, ["other"]) == (agreement.compared, agreement.differing)
    assert ["other", "same"] == sorted(compare_search_and_answer([same, other], 3)["s"].differing)


def test_what_reports_only_one_of_them_is_not_compared() -> None:
    assert {} == compare_search_and_answer(
        [seen("a", stage("search", "a")), seen("b", stage("dense", "a")), Observation("c", "s")], 5
    )


def test_notices_name_the_cases() -> None:
    differing = [seen(f"c{n}", stage("search", "a"), stage("dense", "b")) for n in range(7)]
    (notice,) = describe_search_agreement(differing, 5)
    assert "s: search and ask differ in the first 5 chunks of 7 of 7 observations (c0, c1, c2, c3, c4 …)" in notice
    (notice,) = describe_search_agreement([seen("c", stage("search", "a"), stage("dense", "a"))], 5)
    assert "s: search and ask agree on the first 5 chunks of all 1 observation" == notice


def test_like_is_compared_with_like() -> None:
    """A search that is the retrieval of the answer agrees with it, whatever a reranker and the context make of it."""
    found, reranked = tuple(map(Chunk, "abcdef")), tuple(map(Chunk, "fabcde"))
    search = Stage("search", found)
    retrieved, rerank, context = Stage("retrieved", found), Stage("rerank", reranked), Stage("context", reranked[:2])
    alike: list[tuple[Stage, ...]] = [
        (search, retrieved, rerank, context),
        (Stage("search", reranked), retrieved, rerank, context),
        (search, context),
    ]
    for stages in alike:
        observation = Observation("q", "s", stages=stages)
        assert not compare_search_and_answer([observation], 3)["s"].differing
    unlike: list[tuple[Stage, ...]] = [(search, rerank, context), (search, Stage("context", (Chunk("z"),)))]
    for stages in unlike:
        observation = Observation("q", "s", stages=stages)
        assert ["q"] == compare_search_and_answer([observation], 3)["s"].differing
