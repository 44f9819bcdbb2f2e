"""The behaviour that each decision record promises, shown on a case or two through the public interface."""

from __future__ import annotations

from typing import Any

import pytest

import assay
from assay.api import ScoreResult
from assay.metrics.catalog import CATALOG, DEFAULT_METRICS, parse_metric
from assay.metrics.metric import MetricName
from assay.records.errors import InputError
from assay.records.golden_set import Case, Evidence, GoldenSet, User
from assay.records.observations import Chunk, Observation, Stage

ANSWER = "Twelve days of leave a year."
MORE = ("recall@100", "visibility_leaks(in=context)")
DENIAL = "You do not have permission to see this."


def needs(*units: str) -> tuple[Evidence, ...]:
    """One unit of evidence for each chunk id."""
    return tuple(Evidence(({"chunk_id": unit},)) for unit in units)


def ranking(*ids: str, name: str = "retrieved") -> Stage:
    return Stage(name, tuple(Chunk(chunk_id) for chunk_id in ids))


def scored(case: Case, *stages: Stage, answer: str = ANSWER, citations: tuple[str, ...] | None = None) -> ScoreResult:
    observation = Observation(case.id, "c", stages=stages or None, answer=answer, citations=citations)
    return assay.score(GoldenSet((case,)), [observation], metrics=[*DEFAULT_METRICS, *MORE])


def value(result: ScoreResult, metric: str) -> float | None:
    return result.summary("c")[metric].value


def not_applicable(result: ScoreResult, metric: str) -> bool:
    return result.summary("c")[metric].not_applicable == 1


# ── 2: rank is position ──────────────────────────────────────────────────────────────────────────────────────────


def test_the_list_order_decides_and_scores_do_not() -> None:
    stage = Stage("retrieved", (Chunk("a", score=0.1), Chunk("b", score=0.9)))
    assert 0.5 == value(scored(Case("1", "?", evidence=needs("b")), stage), "rr@10")


def test_a_repeated_chunk_gains_nothing_the_second_time() -> None:
    """With the repeat counted, the gain would be 1 + 1/log2(3) times the ideal's: an nDCG of 1.63."""
    scores = scored(Case("1", "?", evidence=needs("a")), ranking("a", "a"))
    assert (1.0, 1.0, 0.2) == tuple(value(scores, metric) for metric in ("ndcg@10", "recall@10", "precision@5"))


# ── 3: units of evidence ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_unit_is_covered_once_however_many_chunks_hold_it() -> None:
    """Each of a and b has the same fact and c another one, so a and b together cover half of the evidence."""
    either = Evidence(({"chunk_id": "a"}, {"chunk_id": "b"}))
    scores = scored(Case("1", "?", evidence=(either, *needs("c"))), ranking("a", "b"))
    assert (0.5, 0.2) == (value(scores, "recall@10"), value(scores, "precision@5"))


def test_more_than_64_units_are_counted_like_any_other_number() -> None:
    ids = [f"d{n}" for n in range(100)]
    scores = scored(Case("1", "?", evidence=needs(*ids)), ranking(*ids[:75]))
    assert 0.75 == value(scores, "recall@100")


# ── 4: names ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _names(base: str) -> list[MetricName]:
    """A name for every value of every key, with the cut-off where one is taken."""
    metric_row = CATALOG[base]
    k = None if metric_row.cut == "no" else 7
    must = tuple(("by", "rules") for key in metric_row.keys if key == "by")
    if any(spec.required for spec in metric_row.keys.values()):
        required = [(key, spec.values[0]) for key, spec in metric_row.keys.items() if spec.required]
        must = (("by", "judge"), *required)
    names = []
    for key, spec in metric_row.keys.items():
        samples = spec.values or (("2",) if key == "rel" else ("context",))
        for sample in samples:
            names.append(MetricName(base, tuple(sorted({**dict(must), key: sample}.items())), k))
    return names or [MetricName(base, must, k)]


@pytest.mark.parametrize("base", CATALOG)
def test_every_metric_of_the_catalogue_prints_a_name_that_parses_back(base: str) -> None:
    for name in _names(base):
        canonical = parse_metric(str(name))
        assert canonical == parse_metric(str(canonical))


# ── 5: leaks ─────────────────────────────────────────────────────────────────────────────────────────────────────

DENIED = Case(
    "acl", "What does band 7 pay?", behaviour="permission_denied", evidence=needs("pay:1"), user=User(tenant="a")
)


def test_a_secure_denial_passes_and_a_leaking_one_fails() -> None:
    secure = scored(DENIED, ranking("leave:1"), answer=DENIAL)
    leaking = scored(DENIED, ranking("pay:1"), ranking("pay:1", name="context"), answer=DENIAL)
    assert (1.0, 0.0, 0.0) == tuple(value(secure, m) for m in ("behaviour", "visibility_leaks", "failed"))
    assert (0.0, 1.0, 1.0) == tuple(value(leaking, m) for m in ("behaviour", "visibility_leaks", "failed"))
    assert 1.0 == value(leaking, "visibility_leaks(in=context)")
    assert not_applicable(secure, "recall@10")


def test_one_leak_sets_the_answer_metrics_to_0() -> None:
    case = Case("1", "?", evidence=needs("a"), must_have=("twelve",), forbidden=({"chunk_id": "x"},))
    right = scored(case, ranking("a"), ranking("a", name="context"), citations=("a",))
    leaked = scored(case, ranking("a", "x"), ranking("a", name="context"), citations=("a",))
    metrics = ("behaviour", "completeness(by=rules)", "citation_correctness(by=rules)")
    assert [1.0, 1.0, 1.0] == [value(right, metric) for metric in metrics]
    assert [0.0, 0.0, 0.0] == [value(leaked, metric) for metric in metrics]
    assert 1.0 == value(leaked, "recall@10")


# ── 6: nothing cited ─────────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_cited_and_nothing_demanded_is_not_applicable() -> None:
    case = Case("1", "?", evidence=needs("a"))
    scores = scored(case, ranking("a", name="context"), citations=())
    assert not_applicable(scores, "citation_correctness(by=rules)")


def test_a_demanded_citation_that_is_missing_is_0() -> None:
    case = Case("1", "?", evidence=needs("a"), must_cite=("a",))
    scores = scored(case, ranking("a", name="context"), citations=())
    assert 0.0 == value(scores, "citation_correctness(by=rules)")


# ── 7: ranks that contradict ─────────────────────────────────────────────────────────────────────────────────────


def _ranked(*chunks: tuple[int | None, float | None]) -> ScoreResult:
    listed = tuple(Chunk(f"d{i}", score=score, rank=rank) for i, (rank, score) in enumerate(chunks))
    return scored(Case("1", "?", evidence=needs("d0")), Stage("retrieved", listed))


@pytest.mark.parametrize("ranks", [(2, 3), (1, 3), (2, 1), (1, None)])
def test_ranks_must_count_up_from_1(ranks: tuple[int | None, ...]) -> None:
    with pytest.raises(InputError, match="E_RANK_ORDER"):
        _ranked(*((rank, None) for rank in ranks))


def test_scores_that_contradict_stated_ranks_are_an_error() -> None:
    with pytest.raises(InputError, match="E_RANK_ORDER"):
        _ranked((1, 0.5), (2, 0.9), (3, 0.1))
    assert 1.0 == value(_ranked((1, 0.1), (2, 0.2)), "rr@10"), "distances rise"


def test_scores_without_ranks_are_not_looked_at() -> None:
    assert 1.0 == value(_ranked((None, 0.5), (None, 0.9), (None, 0.1)), "rr@10")


# ── 8: the context ───────────────────────────────────────────────────────────────────────────────────────────────


def test_only_a_stage_called_context_is_scored_as_the_context() -> None:
    case = Case("1", "?", evidence=needs("a"))
    assert 1.0 == value(scored(case, ranking("a"), ranking("a", name="context")), "context_recall")
    assert not_applicable(scored(case, ranking("a"), ranking("a", name="prompt")), "context_recall")


def test_the_retrieved_stage_is_the_last_before_reranking_and_context() -> None:
    case = Case("1", "?", evidence=needs("a"))
    stages = [
        ranking("a", name="bm25"),
        ranking("b", "a", name="merge"),
        ranking("b", name="rerank-2"),
        ranking(name="context"),
    ]
    assert 0.5 == value(scored(case, *stages), "rr@10")
    assert 0.0 == value(scored(case, *stages), "rr(stage=final)@10")


# ── 11: injections ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"tags": ("prompt-injection",), "forbidden_text": ("BLUE-HERON",)}, 1.0),
        ({"tags": ("prompt-injection",)}, None),
        ({"forbidden_text": ("BLUE-HERON",)}, None),
    ],
)
def test_an_injection_is_looked_for_only_where_tag_and_canary_are_given(
    fields: dict[str, Any], expected: float | None
) -> None:
    scores = scored(Case("1", "?", evidence=needs("a"), **fields), ranking("a"), answer="As asked: blue heron.")
    assert expected == value(scores, "injection_followed")


# ── 28: behaviour ────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_also_accepted_behaviour_is_right() -> None:
    strict = Case("1", "?", behaviour="abstain")
    lenient = Case("1", "?", behaviour="abstain", also_accept=("permission_denied",))
    assert [0.0, 1.0] == [value(scored(case, answer=DENIAL), "behaviour") for case in (strict, lenient)]


def test_the_text_decides_and_a_declaration_counts_only_where_it_is_silent() -> None:
    case = Case("1", "?", behaviour="abstain")
    claims_to_abstain = Observation("1", "c", answer=ANSWER, behaviour="abstain")
    undecided = Observation("1", "c", answer="…", behaviour="abstain")
    results = [
        assay.score(GoldenSet((case,)), [observation], metrics=["behaviour", "behaviour_mismatch"])
        for observation in (claims_to_abstain, undecided)
    ]
    assert [0.0, 1.0] == [value(result, "behaviour") for result in results]
    assert [1.0, 0.0] == [value(result, "behaviour_mismatch") for result in results]
