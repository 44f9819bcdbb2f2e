"""Names of metrics as people know them: the reciprocal rank is shown as MRR, average precision as MAP."""

from __future__ import annotations

from assay.text.pattern_cache import compile_pattern

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


_SCORER = compile_pattern(r"^\(by=(\w+)\)")
_LAST_STAGE = compile_pattern(r"^\(stage=final\)(.*)")


def format_metric_title(metric: str) -> str:
    """Return the name under which a metric is shown; who measured it is said in words, and that it is of the last
    ranking; other parameters and the cut-off stay as they are.

    >>> format_metric_title("rr(stage=final)@10"), format_metric_title("answer_similarity")
    ('MRR@10, last ranking', 'Answer similarity')
    >>> format_metric_title("critical_hallucinations(by=judge)")
    'Critical hallucinations by judge'
    """
    base = metric.partition("(")[0].partition("@")[0]
    rest = _SCORER.sub(r" by \1", metric[len(base) :])
    rest = _LAST_STAGE.sub(rf"\1, {LAST_RANKING}", rest)
    words = base.replace("_", " ")
    return METRIC_TITLES.get(base, words[:1].upper() + words[1:]) + rest
