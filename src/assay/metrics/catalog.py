"""The catalogue of metrics, built in and of plugins, and the parsing of metric names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType

from assay.metrics import case_checks, false_passes, usage, variants
from assay.metrics.answer_metric import BY_COMBINED, BY_ENTAILMENT
from assay.metrics.answers import (
    answer_behaviour,
    answer_format,
    correctness,
    hallucination_risk,
    nuggets,
    rubric_metrics,
)
from assay.metrics.answers.rubric_metrics import RubricMetric, make_own_rubric_metric, name_rubric_metric
from assay.metrics.grounding import (
    citation_precision,
    citation_support,
    citations,
    claim_coverage,
    faithfulness,
    pasted_passages,
    stale_citations,
    unsourced_numbers,
)
from assay.metrics.judged.judge_requests import (
    RULES_VERSION,
    WITH_ENTAILMENT,
    RecordedVerdicts,
    name_combined_scorer,
)
from assay.metrics.leaks import leakage
from assay.metrics.metric import (
    Batch,
    Metric,
    MetricName,
    drop_default_keys,
    find_column_fault,
    find_row_fault,
    parse_metric_name,
    split_metric_names,
)
from assay.metrics.retrieval import entity_recall, file_retrieval, ranking
from assay.records.errors import AssayError, MetricNameError, Problem, SettingsError, shorten_repr
from assay.records.plugin_table import PluginTable
from assay.records.scores import ScoreColumn
from assay.records.verdicts import JudgeRubric, compute_rubrics_hash
from assay.text.late_pattern import LatePattern

METRIC_FAMILIES: tuple[tuple[Metric, ...], ...] = (
    ranking.RANKING_METRICS,
    file_retrieval.FILE_METRICS,
    entity_recall.ENTITY_METRICS,
    citations.CITATION_METRICS,
    citations.CITED_JUDGMENT_METRICS,
    stale_citations.STALE_CITATION_METRICS,
    claim_coverage.CLAIM_COVERAGE_METRICS,
    answer_behaviour.BEHAVIOUR_METRICS,
    correctness.TEXT_METRICS,
    false_passes.FALSE_PASS_METRICS,
    answer_format.FORMAT_METRICS,
    leakage.VISIBILITY_METRICS,
    usage.OPERATIONS_METRICS,
    case_checks.CHECK_METRICS,
    variants.VARIANT_METRICS,
    faithfulness.FAITHFULNESS_METRICS,
    unsourced_numbers.UNSOURCED_METRICS,
    pasted_passages.PASTED_METRICS,
    citation_support.CITATION_SUPPORT_METRICS,
    citation_precision.CITATION_PRECISION_METRICS,
    hallucination_risk.HALLUCINATION_METRICS,
    correctness.REFERENCE_METRICS,
    nuggets.NUGGET_METRICS,
    rubric_metrics.RUBRIC_METRICS,
    hallucination_risk.JUDGE_METRICS,
)
"""The rows of every family, in the order of the documentation. A new `…_METRICS` tuple needs a line here."""


METRIC_ALIASES: Mapping[str, str] = MappingProxyType(
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

CATALOG: PluginTable[Metric] = PluginTable(
    "assay.metrics",
    "metric",
    Metric,
    {metric.name: metric for family in METRIC_FAMILIES for metric in family},
    reserved=METRIC_ALIASES,
    find_fault=find_row_fault,
)
"""All metrics by name. Iteration lists the built-in ones and the plugins in use."""

DEFAULT_METRICS: tuple[str, ...] = (
    "hit@1", "hit@5", "hit@10", "recall@1", "recall@3", "recall@5", "recall@10",
    "precision@5", "precision@10", "precision(of=returned)@5", "precision(of=returned)@10",
    "rr@5", "rr@10", "ap", "ndcg@5", "ndcg@10", "ndcg(gain=linear)@10", "judged@10", "r_precision",
    "recall(stage=final)@10", "rr(stage=final)@10", "ndcg(stage=final)@10", "overlap@10",
    "context_recall", "context_precision", "context_rr", "context_ap", "entity_recall",
    "file_recall", "file_precision", "symbol_recall",
    "citation_correctness(by=rules)", "citation_exists", "citation_in_context", "citation_reachable",
    "claim_citation_coverage",
    "citation_coverage", "must_cite", "cited_judged", "cited_relevant", "cited_grade", "sentence_coverage",
    "behaviour", "abstention_accuracy", "denial_accuracy", "escalation_accuracy",
    "answered", "refused", "refusal_rate", "over_refusal", "under_refusal", "refusal_calibration", "behaviour_mismatch",
    "keywords", "keywords_ambiguous", "exact_match", "number_match", "completeness(by=rules)",
    "correct_answer", "answer_format",
    "correctness(by=rules)", "answer_similarity", "faithfulness(by=rules)", "faithfulness(against=cited,by=rules)",
    "citation_support(by=rules)", "citation_precision", "misattributed(by=rules)", "hallucination_risk(by=rules)",
    "contradiction_suspects", "unsourced_numbers", "no_claims",
    "visibility_leaks", "unknown_access", "access_self_reported", "injection_followed", "stale_chunks", "early_chunks",
    "latency_ms", "latency_ms(stat=p50)", "latency_ms(stat=p95)", "tokens", "cost_usd", "tool_calls", "error_rate",
    "failed",
)  # fmt: skip

JUDGED_METRICS: tuple[str, ...] = (
    "faithfulness(by=judge)", "citation_support(by=judge)", "citation_correctness(by=judge)",
    "misattributed(by=judge)", "hallucination_risk(by=judge)", "unsupported_claims(by=judge)",
    "hallucination_rate(by=judge)",
    "critical_hallucinations(by=judge)", "correctness(by=judge)", "completeness(by=judge)",
    "answer_relevance(by=judge)", "judge_unscored", "judge_disagreement",
)  # fmt: skip
"""Also scored, as far as possible, where verdicts are recorded: everything that judging asks for by default."""


def add_rubric_metrics(rubrics: Iterable[JudgeRubric]) -> list[str]:
    """Make a metric of each rubric that belongs to none yet, and return the names of the user's, as they are scored.

    The rubric of a metric in the catalogue, such as another wording of `relevance`, adds nothing. Raises SettingsError
    for a rubric whose name is that of another metric, and for one whose languages have different labels.
    """
    by_name: dict[str, list[JudgeRubric]] = {}
    for rubric in rubrics:
        by_name.setdefault(rubric.name, []).append(rubric)
    shipped = {name for row in CATALOG.values() if _asks_shipped_rubric(row) for name in row.rubrics}
    problems, names = list[Problem](), list[str]()
    for rubric_name in sorted(by_name.keys() - shipped):
        variants = sorted(by_name[rubric_name], key=lambda rubric: (rubric.language != "en", rubric.language))
        scales = {tuple((label.name, label.value) for label in rubric.labels) for rubric in variants}
        if len(scales) > 1:
            languages = ", ".join(rubric.language for rubric in variants)
            message = f"other labels or values in another language (got {languages}; expected the same in each)"
            problems.append(Problem("", None, f"rubric {rubric_name}", message, "E_RUBRIC"))
            continue
        row = make_own_rubric_metric(variants)
        try:
            CATALOG.add_row(row)
        except ValueError as error:
            problems.append(Problem("", None, f"rubric {rubric_name}", f"as a metric, {error}", "E_RUBRIC"))
        names += row.list_names()
    if problems:
        raise SettingsError(problems)
    parse_metric.cache_clear()
    return names


def _asks_shipped_rubric(row: Metric) -> bool:
    return bool(row.rubrics) and not (isinstance(row, RubricMetric) and row.own_rubrics)


def list_rubric_names() -> list[str]:
    """Return the names of all metrics that are rubrics and nothing else, shipped ones first, as they are scored."""
    return [name for row in CATALOG.values() if isinstance(row, RubricMetric) for name in row.list_names()]


def list_own_rubrics() -> list[JudgeRubric]:
    """Return the user's rubrics that metrics were made of, in all their languages."""
    return [rubric for row in CATALOG.values() if isinstance(row, RubricMetric) for rubric in row.own_rubrics]


def find_main_rubric(metric: str) -> str:
    """Return the rubric whose labels a metric is made of; "" for a metric that people do not label.

    >>> find_main_rubric("faithfulness"), find_main_rubric("hallucination_risk")
    ('support', '')
    """
    row = CATALOG.get(metric)
    rubric = row.rubrics[0] if row is not None and row.rubrics else ""
    return rubric if name_rubric_metric(rubric) == metric else ""


def find_metric(name: MetricName) -> Metric:
    """Return the catalogue row of a parsed metric name."""
    return CATALOG[name.base]


def compute_column(batch: Batch, name: MetricName) -> ScoreColumn:
    """Return the scores of one metric on the rows of a batch.

    Raises PluginError, with the plugin's distribution, for a plugin that raises, or whose column has another type,
    another length, or values that are not numbers in the declared range.
    """
    metric = find_metric(name)
    assert metric.compute is not None, name
    plugin = CATALOG.get_plugin(name.base)
    if plugin is None:
        return metric.compute(batch, name)
    try:
        column = metric.compute(batch, name)
    except AssayError:
        raise
    except Exception as error:  # the function is not ours and may raise anything
        raise plugin.make_error(CATALOG.kind, f"{type(error).__name__}: {error}") from error
    fault = find_column_fault(column, metric, name, len(batch))
    if fault:
        raise plugin.make_error(CATALOG.kind, fault)
    return column


@cache
def parse_metric(text: str) -> MetricName:
    """Return the canonical name of one metric, with aliases replaced and defaults left out.

    Raises MetricNameError for an unknown name, key or value, a cut-off that the metric does not take, or a missing
    scorer (`by=`).

    >>> str(parse_metric("mrr@10")), str(parse_metric("ndcg(gain=exp2,stage=retrieved)@5"))
    ('rr@10', 'ndcg@5')
    """
    try:
        name = parse_metric_name(_expand_returned_suffix(text))
    except MetricNameError:
        meant = _find_metric_of_title(text) or _translate_trec_name(text)
        if meant is None:
            raise
        raise _metric_error(text, f"is not the name of a metric; did you mean {meant}?") from None
    if name.base in METRIC_ALIASES:
        alias_target = parse_metric_name(METRIC_ALIASES[name.base])
        keys = {**dict(alias_target.keys), **dict(name.keys)}
        name = MetricName(alias_target.base, tuple(sorted(keys.items())), name.k)
    metric = CATALOG.get(name.base)
    if metric is None:
        meant = _find_metric_of_title(text) or _translate_trec_name(text)
        raise _metric_error(text, f"no such metric; did you mean {meant}?" if meant else _unknown_metric_reason(name))
    for problem in _find_key_problems(metric, name):
        raise _metric_error(text, problem)
    defaults = {key: spec.default for key, spec in metric.keys.items()}
    return MetricName(name.base, drop_default_keys(dict(name.keys), defaults), name.k)


def _expand_returned_suffix(text: str) -> str:
    """Read the alias `precision@5_returned` as `precision(of=returned)@5`."""
    base, _, k = text.strip().removesuffix("_returned").partition("@")
    return f"{base}(of=returned)@{k}" if text.strip().endswith("_returned") and k else text


def parse_metrics(texts: Iterable[str]) -> list[MetricName]:
    """Return many names, once each, and report all bad ones together; a name without its scorer stands for that
    by rules and that by a judge."""
    names: dict[MetricName, None] = {}
    problems: list[Problem] = []
    for text in (part for metric_list in texts for part in split_metric_names(metric_list)):
        try:
            names.update(dict.fromkeys(_parse_for_scorers(text)))
        except MetricNameError as error:
            problems.extend(error.problems)
    if problems:
        raise MetricNameError(problems)
    return list(names)


def _parse_for_scorers(text: str) -> list[MetricName]:
    try:
        name = parse_metric_name(_expand_returned_suffix(text))
    except MetricNameError:
        return [parse_metric(text)]  # it says which metric is meant where reports print such a title
    metric = CATALOG.get(METRIC_ALIASES.get(name.base, name.base))
    names = [name]
    for key, spec in metric.keys.items() if metric is not None else ():
        if (key == "by" or spec.required) and key not in dict(name.keys):
            names = [
                MetricName(part.base, tuple(sorted((*part.keys, (key, value)))), part.k)
                for part in names
                for value in spec.values
                if value not in (BY_COMBINED, BY_ENTAILMENT) or spec.values == (value,)
            ]
    return [parse_metric(text)] if names == [name] else [parse_metric(str(part)) for part in names]


def _find_key_problems(metric: Metric, name: MetricName) -> list[str]:
    problems: list[str] = []
    stated_keys = dict(name.keys)
    for key, value in stated_keys.items():
        spec = metric.keys.get(key)
        if spec is None:
            problems.append(f"{metric.name} has no key {key!r} (expected {', '.join(metric.keys) or 'none'})")
        elif value in dict(spec.withdrawn):
            problems.append(f"{metric.name}({key}={value}) was withdrawn: {dict(spec.withdrawn)[value]}")
        elif spec.values and value not in spec.values:
            problems.append(f"{key} must be one of {', '.join(spec.values)} (got {value!r})")
        elif key == "rel" and not (value == spec.default or (value.isdigit() and 1 <= int(value) <= 10)):
            problems.append(f"rel must be a grade from 1 to 10 (got {value!r})")
    if "by" in metric.keys and "by" not in stated_keys:
        scorers = " or ".join(f"{metric.name}(by={by})" for by in metric.keys["by"].values)
        problems.append(f"say which scorer: {scorers}")
    for key, spec in metric.keys.items():
        if spec.required and key not in stated_keys:
            names = [MetricName(name.base, tuple(sorted((*name.keys, (key, value))))) for value in spec.values]
            problems.append(f"say which {key}: {' or '.join(map(str, names))}")
    if metric.cut == "no" and name.k is not None:
        problems.append(f"{metric.name} takes no cut-off (got @{name.k})")
    if metric.cut == "required" and name.k is None:
        problems.append(f"{metric.name} needs a cut-off, as in {metric.name}@5")
    return problems


_NAMES_IN_REPORTS = {"answer_correctness": "correct_answer", "latency_in_ms": "latency_ms", "cost_in_usd": "cost_usd"}
"""Metrics whose title in reports is not their name written with spaces."""


_NEAR_TITLE = 0.8


def _find_metric_of_title(text: str) -> str | None:
    """Return the name of the metric that reports show under this title, with its parameters and cut-off.

    >>> _find_metric_of_title("Answer corectness"), _find_metric_of_title("Recall(rel=2)@10")
    ('correct_answer', 'recall(rel=2)@10')
    >>> _find_metric_of_title("Faithfullness")
    'faithfulness'
    """
    title = re.split(r"[(@]", text.strip(), maxsplit=1)[0]
    rest = text.strip()[len(title) :]
    words = "_".join(title.lower().split())
    names = {*CATALOG.list_names(), *METRIC_ALIASES}
    if words != title and words not in {*names, *_NAMES_IN_REPORTS}:  # a misspelt title; names have their own hint
        near = get_close_matches(words, [*sorted(names), *_NAMES_IN_REPORTS], n=1, cutoff=_NEAR_TITLE)
        words = near[0] if near else words
    base = _NAMES_IN_REPORTS.get(words, words)
    if base not in names or base + rest == text.strip():
        return None
    try:
        parse_metric_name(base + rest)
    except MetricNameError:
        return None
    return base + rest


_TREC_NAMES = {
    "ndcg": "ndcg(gain=linear)",
    "ndcg_cut": "ndcg(gain=linear)",
    "map_cut": "ap",
    "recip_rank": "rr",
    "p": "precision",
    "recall": "recall",
    "success": "hit",
}
"""What trec_eval calls a metric, in small letters."""
_TREC_NAME = LatePattern(r"([A-Za-z]+(?:_cut|_rank)?)(?:[._](\d+))?")


def _translate_trec_name(text: str) -> str | None:
    """Return the metric that trec_eval writes like this, None if it has none of that name.

    >>> _translate_trec_name("ndcg_cut.10"), _translate_trec_name("P_5"), _translate_trec_name("set_F")
    ('ndcg(gain=linear)@10', 'precision@5', None)
    """
    match = _TREC_NAME.fullmatch(text.strip())
    name = _TREC_NAMES.get(match[1].lower()) if match is not None else None
    if match is None or name is None:
        return None
    return f"{name}@{match[2]}" if match[2] else name


OWN_METRIC_REMEDY = "one of your own is named by its import path, module:name"


def _unknown_metric_reason(name: MetricName) -> str:
    """Return the reason with the closest names, written with the cut-off that was meant (`recal@10`, `recall10`)."""
    letters = name.base.rstrip("0123456789")
    digits = name.base[len(letters) :]
    cutoff = str(name.k or digits)
    loaded_rows = dict(CATALOG.items())  # a plugin is not imported for a hint
    names = [*CATALOG.list_names(), *METRIC_ALIASES]
    close_names = get_close_matches(letters, names, n=3, cutoff=0.75) or _list_names_with_same_words(letters, names)
    if not close_names:
        return f"no such metric; `assay metrics` lists all, {OWN_METRIC_REMEDY}"
    spellings = []
    for close_name in close_names:
        row = loaded_rows.get(METRIC_ALIASES.get(close_name, close_name))
        takes_cutoff = row is not None and row.cut != "no"
        spellings.append(f"{close_name}@{cutoff}" if cutoff and takes_cutoff else close_name)
    return f"no such metric; did you mean {' or '.join(spellings)}? ({OWN_METRIC_REMEDY})"


FEWEST_LETTERS_OF_A_WORD = 3
"""Shorter words, such as "of" and "no", say nothing of what a metric measures."""


def _list_names_with_same_words(text: str, names: Iterable[str]) -> list[str]:
    """Return at most three names that share words with a text, those with most of their words in it first.

    >>> _list_names_with_same_words("leaks", ["recall", "visibility_leaks"])
    ['visibility_leaks']
    """
    words = {word for word in text.lower().split("_") if len(word) >= FEWEST_LETTERS_OF_A_WORD}
    shared = {name: len(words & set(name.split("_"))) / len(words | set(name.split("_"))) for name in names}
    return sorted((name for name in shared if shared[name]), key=lambda name: (-shared[name], name))[:3]


def _metric_error(text: str, reason: str) -> MetricNameError:
    return MetricNameError([Problem("", None, "metric", f"{shorten_repr(text)}: {reason}", "E_METRIC")])


def judged_counterparts(names: Iterable[MetricName]) -> list[MetricName]:
    """Return the `judged` metric that belongs to each ranking metric, over the same ranks.

    >>> [str(name) for name in judged_counterparts([parse_metric("ndcg(gain=linear)@10"), parse_metric("ap")])]
    ['judged@10']
    """
    default_stage = CATALOG["judged"].keys["stage"].default
    counterparts = []
    for name in names:
        if name.k is None or "stage" not in find_metric(name).keys or name.base == "overlap":
            continue
        keys = drop_default_keys({"stage": name.key_value("stage", default_stage)}, {"stage": default_stage})
        counterparts.append(MetricName("judged", keys, name.k))
    return counterparts


def is_metric_measurable(name: MetricName, held: Collection[str] = ()) -> bool:
    """Return whether a name can be scored with the recorded verdicts: `held` must have all its rubrics, or for a metric
    by an entailment model that."""
    metric = find_metric(name)
    if name.key_value("by", "") == BY_ENTAILMENT:
        return WITH_ENTAILMENT in held
    if metric.scoring_class == "judged":
        return bool(set(held) - {WITH_ENTAILMENT})
    return name.key_value("by", "rules") == "rules" or set(metric.rubrics) <= set(held)


def may_metric_gate(name: MetricName, judging: RecordedVerdicts | None) -> bool:
    """Return whether a rule may decide by a metric (ADR 0031).

    Deterministic metrics may always gate. A metric whose scorer needs calibration may gate once the scorer is
    calibrated against human labels, for the metric itself or for every metric that it rests on. Counts by rules need
    their own calibration: the claims that rules call contradicted are not those that their calibrated probability
    calls unsupported.

    >>> may_metric_gate(parse_metric("recall@10"), None), may_metric_gate(parse_metric("faithfulness(by=rules)"), None)
    (True, False)
    """
    metric, by = find_metric(name), name.key_value("by", "rules")
    if by not in metric.uncalibrated:
        return True
    if judging is None:
        return False
    parts = [MetricName(base, (("by", by),)) for base in metric.rests_on]
    follows_from_parts = by == "judge" or metric.unit != "count"
    if _is_calibrated(name, by, judging):
        return True
    return follows_from_parts and bool(parts) and all(_is_calibrated(part, by, judging) for part in parts)


def explain_refused_calibration(name: MetricName, refused: Mapping[str, str]) -> str:
    """Return why the calibrations that were given for a metric, or for what it rests on, let it not gate; "" if none.

    `refused` says it by metric, as `RecordedVerdicts.refused_calibrations` does.
    """
    by = name.key_value("by", "rules")
    calibrated_names = [name, *(MetricName(base, (("by", by),)) for base in find_metric(name).rests_on)]
    refused_names = [str(calibrated) for calibrated in calibrated_names if str(calibrated) in refused]
    return "; ".join(f"the calibration of {text} does not let it gate: {refused[text]}" for text in refused_names)


def _is_calibrated(name: MetricName, by: str, judging: RecordedVerdicts) -> bool:
    calibration = judging.calibrations.get(str(name))
    if calibration is None or not calibration.may_gate:
        return False
    if by == "rules":
        return calibration.applies_to(RULES_VERSION, "")
    if by == BY_ENTAILMENT:
        model = judging.entailment_model
        return model is not None and calibration.applies_to(name_combined_scorer(model.digest), "")
    rubric_hash = compute_rubrics_hash(judging.rubrics.values(), find_metric(name).rubrics[0])
    scorer = judging.judge if by == "judge" else name_combined_scorer(judging.judge)
    return judging.valid and calibration.applies_to(scorer, rubric_hash)


def case_column_name(name: MetricName) -> MetricName:
    """Return the name of the per-case column behind a name: the same without the statistic that only sums it up.

    >>> str(case_column_name(parse_metric("latency_ms(stat=p95)")))
    'latency_ms'
    """
    return MetricName(name.base, tuple(pair for pair in name.keys if pair[0] != "stat"), name.k)
