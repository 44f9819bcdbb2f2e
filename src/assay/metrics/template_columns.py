"""The metrics behind the columns of the report template and behind the columns and keys of the legacy runner.

A column may be filled by any of several metrics: the first that was measured is shown, and its full name is in the
table of all metrics.
"""

from __future__ import annotations

from collections.abc import Container

MetricNames = tuple[str, ...]

RECALL_10: MetricNames = ("recall@10",)
MRR_10: MetricNames = ("rr@10",)
NDCG_10: MetricNames = ("ndcg@10",)
CONTEXT_RECALL: MetricNames = ("context_recall",)
CITATION: MetricNames = ("citation_correctness(by=rules)", "citation_correctness(by=judge)")
BEHAVIOUR: MetricNames = ("behaviour",)
FAITHFULNESS: MetricNames = (
    "faithfulness(by=judge)",
)  # scored by rules it only serves ranking and trends: no headline
RELEVANCE: MetricNames = ("answer_relevance(by=judge)",)
ANSWER: MetricNames = ("correctness(by=judge)", "correct_answer", "keywords", "exact_match", "number_match")
ABSTENTION: MetricNames = ("abstention_accuracy",)
P95_LATENCY: MetricNames = ("latency_ms(stat=p95)",)

RUNNER_COLUMNS: tuple[tuple[str, MetricNames], ...] = (
    ("Recall@10", RECALL_10),
    ("MRR@10", MRR_10),
    ("NDCG@10", NDCG_10),
    ("Context recall", CONTEXT_RECALL),
    ("Citation correctness", CITATION),
    ("Behavior score", BEHAVIOUR),
)

FAILED: MetricNames = ("failed",)

HEADLINES: tuple[tuple[str, MetricNames], ...] = (
    ("Failed cases", FAILED),
    ("Answer correctness", ("correct_answer",)),
    ("Hit@5", ("hit@5",)),
    ("Recall@5", ("recall@5",)),
    ("Recall@10", RECALL_10),
    ("Precision@5", ("precision@5",)),
    ("MRR@10", MRR_10),
    ("nDCG@10", NDCG_10),
    ("Faithfulness", FAITHFULNESS),
    ("Answer relevance", RELEVANCE),
    ("Citation correctness", CITATION),
    ("Abstention accuracy", ABSTENTION),
    ("p95 latency ms", P95_LATENCY),
)
"""The metrics that are a family of tests in a comparison; its size is part of how many claims survive (ADR 49)."""

FIRST_METRICS: tuple[tuple[str, MetricNames], ...] = (
    ("Answer correctness", ANSWER),
    ("Faithfulness", FAITHFULNESS),
    ("Citation correctness", CITATION),
    ("Behaviour", BEHAVIOUR),
    ("Context recall", CONTEXT_RECALL),
    ("Recall@10", RECALL_10),
    ("MRR@10", MRR_10),
    ("p95 latency ms", P95_LATENCY),
)
"""What every output shows first, in this order: whether the answers are right, before what they were made from."""

SHOWN_HEADLINES: tuple[tuple[str, MetricNames], ...] = (
    ("Answer correctness", ("correct_answer",)),
    *FIRST_METRICS[1:],
    ("Recall@5", ("recall@5",)),
    ("nDCG@10", NDCG_10),
    ("Answer relevance", RELEVANCE),
    ("Abstention accuracy", ABSTENTION),
)
"""The headlines that reports show."""

RUNNER_METRICS: dict[str, MetricNames] = {
    f"{theirs}@{k}": (f"{ours}@{k}",)
    for k in (5, 10)
    for theirs, ours in (
        ("hit", "hit"),
        ("recall", "recall"),
        ("precision", "precision(of=returned)"),
        ("mrr", "rr"),
        ("ndcg", "ndcg"),
    )
} | {
    "context_recall": CONTEXT_RECALL,
    "citation_correctness": CITATION,
    "behavior_score": BEHAVIOUR,
    "latency_end_to_end_ms": ("latency_ms",),
    "cost_usd": ("cost_usd",),
}
"""The keys of a row's `metrics` in the legacy runner's JSON, and the metric behind each of them."""


LAST_RANKINGS: dict[MetricNames, MetricNames] = {
    MRR_10: ("rr(stage=final)@10",),
    NDCG_10: ("ndcg(stage=final)@10",),
}
"""The metrics of the last ranking before the context, by those of the ranking that was retrieved."""


def find_first_present(names: MetricNames, available: Container[str]) -> str | None:
    """Return the first of `names` that is available, None if none is.

    >>> find_first_present(("a", "b"), {"b": 1})
    'b'
    """
    return next((name for name in names if name in available), None)
