"""THE TABLE of built-in graders, and the parsing of metric names against it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType

from assay.errors import MetricNameError, Problem, shown
from assay.graders import answer, citation, cited, files, judged, operations, retrieval, textual, visibility
from assay.graders.base import Grader
from assay.graders.checks import GRADERS as CHECK_GRADERS
from assay.graders.instruments import also_judged
from assay.graders.judging import RULES_VERSION, Judging
from assay.graders.names import MetricName, read_name, split_names, without_defaults
from assay.verdict import rubrics_hash

CATALOG: Mapping[str, Grader] = MappingProxyType(
    {
        grader.name: also_judged(grader)
        for family in (
            retrieval.GRADERS,
            files.GRADERS,
            citation.GRADERS,
            cited.GRADERS,
            answer.GRADERS,
            textual.GRADERS,
            visibility.GRADERS,
            operations.GRADERS,
            CHECK_GRADERS,
            judged.GRADERS,
        )
        for grader in family
    }
)

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "mrr": "rr",
        "map": "ap",
        "recip_rank": "rr",
        "p": "precision",
        "success": "hit",
        "precision_returned": "precision(of=returned)",
        "behavior": "behaviour",
        "behavior_score": "behaviour",
        "rprec": "r_precision",
        "latency_end_to_end_ms": "latency_ms",
        "p95_latency_ms": "latency_ms(stat=p95)",
        "p50_latency_ms": "latency_ms(stat=p50)",
        "failed_case_rate": "failed",
    }
)

DEFAULT_METRICS: tuple[str, ...] = (
    "hit@1", "hit@5", "hit@10", "recall@1", "recall@3", "recall@5", "recall@10",
    "precision@5", "precision@10", "precision(of=returned)@5", "precision(of=returned)@10",
    "rr@5", "rr@10", "ap", "ndcg@5", "ndcg@10", "ndcg(gain=linear)@10", "judged@10", "r_precision",
    "recall(stage=final)@10", "rr(stage=final)@10", "ndcg(stage=final)@10", "overlap@10",
    "context_recall", "context_precision", "context_rr", "context_ap",
    "file_recall", "file_precision", "symbol_recall",
    "citation_correctness(by=rules)", "citation_exists", "citation_in_context", "citation_reachable",
    "citation_coverage", "must_cite", "cited_judged", "cited_relevant", "cited_grade", "sentence_coverage",
    "behaviour", "abstention_accuracy", "denial_accuracy", "escalation_accuracy",
    "answered", "refused", "over_refusal", "under_refusal", "refusal_calibration", "behaviour_mismatch",
    "keywords", "keywords_ambiguous", "exact_match", "number_match", "completeness(by=rules)",
    "correctness(by=rules)", "answer_similarity", "faithfulness(by=rules)", "faithfulness(against=cited,by=rules)",
    "citation_support(by=rules)", "misattributed(by=rules)", "hallucination_risk(by=rules)",
    "contradiction_suspects", "no_claims",
    "visibility_leaks", "access_self_reported", "injection_followed", "stale_chunks",
    "latency_ms", "latency_ms(stat=p50)", "latency_ms(stat=p95)", "tokens", "cost_usd", "tool_calls", "error_rate",
    "failed",
)  # fmt: skip

JUDGED_METRICS: tuple[str, ...] = (
    "faithfulness(by=judge)", "citation_support(by=judge)", "citation_correctness(by=judge)",
    "misattributed(by=judge)", "hallucination_risk(by=judge)", "unsupported_claims(by=judge)",
    "critical_hallucinations(by=judge)", "correctness(by=judge)", "completeness(by=judge)",
    "answer_relevance(by=judge)", "judge_unscored", "judge_disagreement",
)  # fmt: skip
"""What is scored as well where verdicts are recorded, as far as they go: all that the default judging asks for."""

_BOTH = ("rules", "judge")


def grader_of(name: MetricName) -> Grader:
    """Return the catalogue row of a parsed metric name."""
    return CATALOG[name.base]


@cache
def parse(text: str) -> MetricName:
    """Return the canonical name of one metric, with aliases replaced and defaults left out.

    Raises MetricNameError for an unknown name, key or value, a cut-off that the metric does not take, or an instrument
    left open.

    >>> str(parse("mrr@10")), str(parse("ndcg(gain=exp2,stage=retrieved)@5"))
    ('rr@10', 'ndcg@5')
    """
    name = read_name(_respelled(text))
    if name.base in ALIASES:
        target = read_name(ALIASES[name.base])
        name = MetricName(target.base, tuple(sorted({**dict(target.keys), **dict(name.keys)}.items())), name.k)
    grader = CATALOG.get(name.base)
    if grader is None:
        raise _refuse(text, _unknown(name.base))
    for problem in _key_problems(grader, name):
        raise _refuse(text, problem)
    defaults = {key: spec.default for key, spec in grader.keys.items()}
    return MetricName(name.base, without_defaults(dict(name.keys), defaults), name.k)


def _respelled(text: str) -> str:
    """Read the brief's `precision@5_returned` as `precision(of=returned)@5`."""
    base, _, k = text.strip().removesuffix("_returned").partition("@")
    return f"{base}(of=returned)@{k}" if text.strip().endswith("_returned") and k else text


def parse_all(texts: Iterable[str]) -> list[MetricName]:
    """Return many names, once each, reporting every bad one together; an open instrument stands for both."""
    names: dict[MetricName, None] = {}
    problems: list[Problem] = []
    for text in (part for each in texts for part in split_names(each)):
        try:
            names.update(dict.fromkeys(_each_instrument(text)))
        except MetricNameError as wrong:
            problems.extend(wrong.problems)
    if problems:
        raise MetricNameError(problems)
    return list(names)


def _each_instrument(text: str) -> list[MetricName]:
    name = read_name(_respelled(text))
    grader = CATALOG.get(ALIASES.get(name.base, name.base))
    if grader is None or "by" not in grader.keys or "by" in dict(name.keys):
        return [parse(text)]
    return [parse(str(MetricName(name.base, (*name.keys, ("by", by)), name.k))) for by in _BOTH]


def _key_problems(grader: Grader, name: MetricName) -> list[str]:
    found: list[str] = []
    given = dict(name.keys)
    for key, value in given.items():
        spec = grader.keys.get(key)
        if spec is None:
            found.append(f"{grader.name} has no key {key!r} (expected {', '.join(grader.keys) or 'none'})")
        elif spec.values and value not in spec.values:
            found.append(f"{key} must be one of {', '.join(spec.values)} (got {value!r})")
        elif key == "rel" and not (value == spec.default or (value.isdigit() and 1 <= int(value) <= 10)):
            found.append(f"rel must be a grade from 1 to 10 (got {value!r})")
    if "by" in grader.keys and "by" not in given:
        found.append(f"say which instrument: {grader.name}(by=rules) or {grader.name}(by=judge)")
    if grader.cut == "no" and name.k is not None:
        found.append(f"{grader.name} takes no cut-off (got @{name.k})")
    if grader.cut == "required" and name.k is None:
        found.append(f"{grader.name} needs a cut-off, as in {grader.name}@5")
    return found


def _unknown(base: str) -> str:
    near = get_close_matches(base, [*CATALOG, *ALIASES], n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else "; `assay graders` lists all"
    return f"no such metric{hint}"


def _refuse(text: str, why: str) -> MetricNameError:
    return MetricNameError([Problem("", None, "metric", f"{shown(text)}: {why}", "E_METRIC")])


def judged_beside(names: Iterable[MetricName]) -> list[MetricName]:
    """Return for each metric of a ranking how much of the same ranks was judged.

    >>> [str(name) for name in judged_beside([parse("ndcg(gain=linear)@10"), parse("ap")])]
    ['judged@10']
    """
    stages = {"stage": dict(CATALOG["judged"].keys)["stage"].default}
    ranked = [
        name for name in names if name.k is not None and "stage" in grader_of(name).keys and name.base != "overlap"
    ]
    return [
        MetricName("judged", without_defaults({"stage": name.key("stage", stages["stage"])}, stages), name.k)
        for name in ranked
    ]


def is_measurable(name: MetricName, held: Collection[str] = ()) -> bool:
    """Return whether a name can be scored with verdicts on the rubrics `held`: all that it is found with, if any."""
    grader = grader_of(name)
    if grader.instrument == "judged":
        return bool(held)
    return name.key("by", "rules") != "judge" or set(grader.rubrics) <= set(held)


def may_gate(name: MetricName, judging: Judging | None) -> bool:
    """Return whether a rule may decide by a metric: by any but those whose instrument must first be held against people
    (DECISIONS 19), and by these where it was: for the metric itself or for all that it rests on. What the rules count
    (claims that they call contradicted) is not what their calibrated probability says.

    >>> may_gate(parse("recall@10"), None), may_gate(parse("faithfulness(by=rules)"), None)
    (True, False)
    """
    grader, by = grader_of(name), name.key("by", "rules")
    if by not in grader.uncalibrated:
        return True
    if judging is None:
        return False
    parts = [MetricName(base, (("by", by),)) for base in grader.rests_on]
    made_of_parts = by == "judge" or grader.unit != "count"
    by_parts = made_of_parts and bool(parts) and all(_calibrated(part, by, judging) for part in parts)
    return _calibrated(name, by, judging) or by_parts


def _calibrated(name: MetricName, by: str, judging: Judging) -> bool:
    found = judging.calibrations.get(str(name))
    if found is None or not found.may_gate:
        return False
    if by == "rules":
        return found.counts_for(RULES_VERSION, "")
    return judging.valid and found.counts_for(
        judging.judge, rubrics_hash(judging.rubrics.values(), grader_of(name).rubrics[0])
    )


def column_name(name: MetricName) -> MetricName:
    """Return the name of the per-case column behind a name: the same without the statistic that only sums it up.

    >>> str(column_name(parse("latency_ms(stat=p95)")))
    'latency_ms'
    """
    return MetricName(name.base, tuple(pair for pair in name.keys if pair[0] != "stat"), name.k)
