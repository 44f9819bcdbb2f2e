"""Laws that every metric of the catalogue keeps, whatever the case and the observation."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.metrics.worlds import ORACLE, cases, corpora, ids, judgments, make_golden_set, observations
from tests.support.examples import try_examples

from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.catalog import CATALOG, DEFAULT_METRICS, find_metric, is_metric_measurable, parse_metric
from assay.metrics.metric import Batch, JoinedRows, Metric, MetricName
from assay.records.errors import MetricNameError
from assay.records.golden_set import Case, Corpus, Evidence
from assay.records.observations import Chunk, Observation, Stage
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED, ScoreColumn
from assay.scoring.score_tables import MetricPlan, plan_columns, score_batch, set_leaked_to_worst

RANKING = ("hit", "recall", "precision", "rr", "ap", "ndcg", "r_precision")
"""An irrelevant tail changes nothing, and evidence that moves up never lowers them."""
CONTEXT = ("context_recall", "context_rr", "context_ap")
"""An irrelevant chunk at the end of the context changes nothing."""
NOISE = ("judged", "context_precision", "file_precision")
"""An irrelevant chunk at the end never raises them."""
YIELDING = (
    "behaviour",
    "abstention_accuracy",
    "denial_accuracy",
    "escalation_accuracy",
    "keywords",
    "exact_match",
    "number_match",
    "completeness",
    "nuggets",
    "citation_correctness",
    *("citation_precision", "citation_support", "correctness", "correct_answer"),
)
"""They are the worst of their range where something leaked."""
BOUNDED = (
    *("overlap", "file_recall", "symbol_recall", "citation_exists", "citation_in_context", "citation_reachable"),
    *("citation_coverage", "must_cite", "cited_judged", "cited_relevant", "cited_grade", "sentence_coverage"),
    *(
        "answered",
        "refused",
        "over_refusal",
        "refusal_rate",
        "under_refusal",
        "refusal_calibration",
        "behaviour_mismatch",
        "behaviour_unknown",
        "empty_answer",
        "correct_answer_unknown",
        "partial_refusal",
        "clarified",
        "keywords_ambiguous",
    ),
    "entity_recall",
    "answer_format",
    "claim_citation_coverage",
    *("visibility_leaks", "over_fetched", "unknown_access", "access_self_reported"),
    *("injection_followed", "stale_chunks", "early_chunks", "gold_outdated", "denied_facts", "unreported_markers"),
    "stale_citations",
    "pasted_passage",
    *(
        "faithfulness",
        "unsupported_claims",
        "critical_hallucinations",
        "contradicted_claims",
        "contradiction_suspects",
        "unsourced_numbers",
        "no_claims",
    ),
    *("misattributed", "hallucination_rate", "hallucination_risk", "answer_similarity", "answer_relevance"),
    *("judge_unscored", "judge_disagreement", "grade", "failure_label", "refusal", "claims"),
    *("latency_ms", "tokens", "cost_usd", "tool_calls", "tool_errors", "retries", "error_rate"),
)
"""Their range and the independence of rows are all that holds for any observation."""
TESTED_ELSEWHERE = (
    "failed",  # of whole tables: tests/scoring
    *("consistency", "twin_distinction"),  # of whole tables: tests/comparison
    "false_passes",  # of whole tables: tests/scoring and tests/cli
)
LISTS = (RANKING, CONTEXT, NOISE, YIELDING, BOUNDED, TESTED_ELSEWHERE)
OPEN_VALUES = {
    "rel": ("2",),
    "stage": ("context", "final", "reranked"),
    "with": ("context",),
    "in": ("answer", "citations"),
}


def variants(metric_row: Metric) -> list[MetricName]:
    """Return the metric's name with every cut, and every value of each of its keys."""
    cuts: list[int | None] = [None] if metric_row.cut == "no" else [1, 3]
    cuts += [None] if metric_row.cut == "optional" else []
    keys: list[tuple[tuple[str, str], ...]] = [()]
    for name, key in metric_row.keys.items():
        values = [value for value in key.values or OPEN_VALUES.get(name, ()) if value != key.default]
        keys += [((name, value),) for value in values]
    required = [[(name, value) for value in key.values] for name, key in metric_row.keys.items() if key.required]
    if required:
        keys = [tuple(sorted((("by", "judge"), *pairs))) for pairs in product(*required)]
    wanted = [MetricName(metric_row.name, pairs, k) for k, pairs in product(cuts, keys)]
    return [name for name in wanted if "by" not in metric_row.keys or dict(name.keys).get("by")]


NAMES = [name for metric_row in CATALOG.values() for name in variants(metric_row)]
HELD = frozenset(name for name, _ in ORACLE.rubrics)
MEASURED = plan_columns([name for name in NAMES if is_metric_measurable(name, HELD)], HELD)
RANKED = plan_columns([name for name in MEASURED.requested if name.base in (*RANKING, *CONTEXT, *NOISE)])


def score_columns(
    case: Case, corpus: Corpus | None, kind: str, *row_observations: Observation, names: MetricPlan = MEASURED
) -> dict[str, ScoreColumn]:
    """Score observations of one case by every variant of every metric, with verdicts on everything."""
    joins = GoldenIndex(make_golden_set(case, kind=kind), corpus, ORACLE)
    batch = Batch(names.facts)
    batch.add_rows(JoinedRows([joins.case_index(0)] * len(row_observations), list(row_observations)))
    return score_batch(names, batch)


def with_tail(observation: Observation, stage: str, tail: tuple[Chunk, ...]) -> Observation:
    """Return the observation with chunks appended to a stage; the same one where there is no such stage."""
    stages = tuple(
        replace(stage_of, chunks=stage_of.chunks + tail) if stage_of.name == stage else stage_of
        for stage_of in observation.stages or ()
    )
    return replace(observation, stages=stages) if stages else observation


def test_every_metric_is_in_exactly_one_law_list() -> None:
    assert sorted(CATALOG) == sorted(name for names in LISTS for name in names)


def test_what_yields_to_leaks_is_listed() -> None:
    assert sorted(YIELDING) == sorted(name for name, metric_row in CATALOG.items() if metric_row.yields_to_leaks)


@pytest.mark.parametrize("name", NAMES, ids=str)
def test_a_name_parses_back_to_itself(name: MetricName) -> None:
    assert str(name) == str(parse_metric(str(name)))


@pytest.mark.parametrize("text", DEFAULT_METRICS)
def test_the_default_metrics_are_written_as_they_are_printed(text: str) -> None:
    assert text == str(parse_metric(text))


@pytest.mark.slow
@given(observations(), cases(), corpora, judgments)
@try_examples(150)
def test_every_pair_has_one_status_and_a_score_within_the_declared_range(
    observation: Observation, case: Case, corpus: Corpus | None, kind: str
) -> None:
    for metric, column in score_columns(case, corpus, kind, observation).items():
        metric_row = find_metric(parse_metric(metric))
        (value,), (status,) = column.values.tolist(), column.status.tolist()
        assert status in (SCORED, NOT_APPLICABLE, ERROR)
        assert np.isfinite(value)
        if status == SCORED:
            assert metric_row.low <= value <= metric_row.high, metric
        else:
            assert column.reasons[column.reason[0]], f"{metric}: no reason"


@pytest.mark.slow
@given(observations(), observations(), cases(), corpora, judgments)
@try_examples(60)
def test_a_row_scores_the_same_bytes_alone_and_with_others(
    observation: Observation, other: Observation, case: Case, corpus: Corpus | None, kind: str
) -> None:
    alone, together = (
        score_columns(case, corpus, kind, observation),
        score_columns(case, corpus, kind, other, observation),
    )
    for metric, column in alone.items():
        both = together[metric]
        assert column.values[0].tobytes() == both.values[1].tobytes(), metric
        assert column.status[0] == both.status[1], metric
        assert column.reasons[column.reason[0]] == both.reasons[both.reason[1]], metric


@pytest.mark.slow
@given(observations(), cases(), corpora, judgments)
def test_where_something_leaked_what_yields_is_the_worst_of_its_range(
    observation: Observation, case: Case, corpus: Corpus | None, kind: str
) -> None:
    columns = set_leaked_to_worst(score_columns(case, corpus, kind, observation))
    leaks = columns["visibility_leaks"]
    if leaks.status[0] != SCORED or not leaks.values[0]:
        return
    for metric, column in columns.items():
        name = parse_metric(metric)
        if name.base in YIELDING and column.status[0] == SCORED:
            assert find_metric(name).low == column.values[0], metric


@pytest.mark.slow
@given(observations(), cases(), corpora, judgments, st.lists(ids, max_size=3))
@try_examples(60)
def test_an_irrelevant_tail_changes_no_ranking_metric(
    observation: Observation, case: Case, corpus: Corpus | None, kind: str, repeats: list[str]
) -> None:
    """The tail is of chunks of another corpus and of repeats of the list itself: neither covers anything new.

    Chunks without a text might hold a quote that is asked for. A list of nothing but unknown chunks does not tell which
    documents they are of, and an empty one has none.
    """
    rankings = [stage.chunks for stage in observation.stages or () if stage.name == "retrieved"]
    listed = {chunk.chunk_id: chunk for chunks in rankings for chunk in chunks}
    assume(listed or not rankings)
    repeated = [listed[chunk_id] for chunk_id in repeats if chunk_id in listed]
    tail = (*repeated, *(Chunk(name, text="Of other things.") for name in ("nobody", "nothing")))
    before = score_columns(case, corpus, kind, observation, names=RANKED)
    after = score_columns(case, corpus, kind, with_tail(observation, "retrieved", tail), names=RANKED)
    for name in RANKED.requested:
        if name.base in RANKING and not {"of", "stage"} & set(dict(name.keys)):
            score_before, score_after = before[str(name)], after[str(name)]
            assert (score_before.values[0], score_before.status[0]) == (score_after.values[0], score_after.status[0]), (
                name
            )


@pytest.mark.slow
@given(observations(), cases(), corpora, judgments, st.sampled_from(["context", "retrieved"]))
@try_examples(60)
def test_an_unknown_chunk_at_the_end_is_only_noise(
    observation: Observation, case: Case, corpus: Corpus | None, kind: str, stage: str
) -> None:
    before = score_columns(case, corpus, kind, observation, names=RANKED)
    after = score_columns(case, corpus, kind, with_tail(observation, stage, (Chunk("nobody"),)), names=RANKED)
    for metric, column in before.items():
        base, longer = parse_metric(metric).base, after[metric].values[0]
        if column.status[0] == SCORED and base in CONTEXT:
            assert column.values[0] == longer, metric
        if column.status[0] == SCORED and base in NOISE:
            assert longer <= column.values[0], metric


@pytest.mark.slow
@given(cases(), corpora, judgments, st.permutations(["a", "b", "c", "d"]))
@try_examples(60)
def test_evidence_that_moves_up_never_lowers_a_ranking_metric(
    case: Case, corpus: Corpus | None, kind: str, order: list[str]
) -> None:
    position = order.index("b")
    if position == 0:
        return
    case = replace(case, evidence=(*case.evidence, Evidence(({"chunk_id": "b"},), 2)))
    better = [*order[: position - 1], "b", order[position - 1], *order[position + 1 :]]

    def ranked(names: list[str]) -> Observation:
        return Observation("q", "c", stages=(Stage("retrieved", tuple(map(Chunk, names))),))

    before, after = (score_columns(case, corpus, kind, ranked(names), names=RANKED) for names in (order, better))
    for name in RANKED.requested:
        if name.base in RANKING and before[str(name)].status[0] == SCORED:
            assert after[str(name)].values[0] >= before[str(name)].values[0], name


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("recal@10", "did you mean recall@10?"),
        ("recall10", "did you mean recall@10?"),
        ("Recall@10", "did you mean recall@10?"),
        ("Answer correctness", "did you mean correct_answer?"),
        ("answer_correctness", "did you mean correct_answer?"),
        ("Faithfullness", "did you mean faithfulness?"),
        ("Contxt Recall", "did you mean context_recall?"),
        ("MRR@5", "did you mean mrr@5?"),
        ("mrr5", "did you mean mrr@5 or rr@5?"),
        ("correct_answr", "did you mean correct_answer or correctness?"),
        ("correct_answr@3", "did you mean correct_answer or correctness?"),
        ("quality", "`assay metrics` lists all"),
    ],
)
def test_a_misspelt_metric_is_suggested_as_it_can_be_written(text: str, suggestion: str) -> None:
    with pytest.raises(MetricNameError, match=re.escape(suggestion)):
        parse_metric(text)


def test_the_documentation_has_a_section_for_every_metric() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "metrics" / "index.md").read_text(encoding="utf-8")
    assert [] == [name for name in CATALOG if f"\n### {name}\n" not in page]
