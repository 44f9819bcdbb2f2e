"""Names of metrics as people know them: the reciprocal rank is shown as MRR, average precision as MAP."""

from __future__ import annotations

import re

LAST_RANKING = "last ranking"
METRIC_TITLES = {
    "correct_answer": "Answer correctness",
    "failed": "Failed cases",
    "rr": "MRR",
    "ap": "MAP",
    "ndcg": "nDCG",
    "hit": "Hit",
    "recall": "Recall",
    "precision": "Precision",
    "context_rr": "Context MRR",
    "context_ap": "Context MAP",
    "latency_ms": "Latency in ms",
    "cost_usd": "Cost in USD",
}


def format_metric_title(metric: str) -> str:
    """Return the name under which a metric is shown; who measured it is said in words, and that it is of the last
    ranking; other parameters and the cut-off stay as they are.

    >>> format_metric_title("rr(stage=final)@10"), format_metric_title("answer_similarity")
    ('MRR@10, last ranking', 'Answer similarity')
    >>> format_metric_title("critical_hallucinations(by=judge)")
    'Critical hallucinations by judge'
    """
    base = re.split(r"[(@]", metric, maxsplit=1)[0]
    rest = re.sub(r"^\(by=(\w+)\)", r" by \1", metric[len(base) :])
    rest = re.sub(r"^\(stage=final\)(.*)", rf"\1, {LAST_RANKING}", rest)
    words = base.replace("_", " ")
    return METRIC_TITLES.get(base, words[:1].upper() + words[1:]) + rest
