"""What a monitor watches: metrics of the catalogue, and a few facts that only a production record has.

A metric that needs a text to be read is scored on a sample; everything else on every answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from assay.audit.feedback_signs import is_negative
from assay.metrics.answer_metric import BY_ENTAILMENT
from assay.metrics.catalog import case_column_name, find_metric, may_metric_gate, parse_metric
from assay.metrics.judged.judge_requests import RecordedVerdicts
from assay.records.audit_records import AuditRecord
from assay.records.errors import InputError, shorten_repr
from assay.records.observations import RETRIEVED_STAGE, Observation, find_stage
from assay.text.escaping import shorten_to_line

NEEDS_LABEL = ("over_refusal", "under_refusal")
"""Metrics that say something only where a golden case says what was expected."""
EVERY_ANSWER = (
    "refusal_rate",
    "over_refusal",
    "under_refusal",
    "error_rate",
    "citation_exists",
    "citation_in_context",
    "citation_reachable",
    "stale_chunks",
    "latency_ms",
    "latency_ms(stat=p95)",
    "tokens",
    "cost_usd",
    "cost_usd(stat=p95)",
)
SAMPLED = ("faithfulness", "hallucination_risk", "citation_support")
UNCALIBRATED = "uncalibrated ranking, no rate"
"""What the row of a score by rules says until labels give it a scale."""
ALLOWED_SHARES = {
    "stale_chunks": "<=0.02",
    "error_rate": "<=0.02",
    "citation_exists": ">=0.98",
    "citation_in_context": ">=0.98",
    "citation_reachable": ">=0.98",
}
"""Bounds to offer for metrics of which none, or all, is the only right share: they need no weeks to compare with."""
LEAKS, STALE = "visibility_leaks", "stale_chunks"
MAX_VALUE = 120
"""The longest name of a version or slice that is shown whole."""
_SLICE_KEYS = ("tenant", "role", "locale", "config", "model", "prompt")


class Measure(Struct, frozen=True):
    """One number of each answer: its name, unit, range (None: open), and whether higher is better (None: neither).

    `column` is the column of the scores that it is read from, "" for one that the record itself states. `as_share`:
    what counts is whether the number is above 0. `percentile` is None for a mean. `caveat` says what the number is not.
    """

    name: str
    unit: str
    higher_is_better: bool | None
    low: float | None
    high: float | None
    column: str = ""
    as_share: bool = False
    percentile: float | None = None
    sampled: bool = False
    caveat: str = ""

    @property
    def quantile(self) -> float:
        """The quantile that is meant, in (0, 1); the median for a mean."""
        return (self.percentile or 50.0) / 100

    @property
    def direction(self) -> int:
        """1 where a rise is bad, −1 where a fall is, 0 where either may be."""
        return 0 if self.higher_is_better is None else -1 if self.higher_is_better else 1


RecordReader = Callable[[AuditRecord, Observation], float | None]


def _read_feedback(record: AuditRecord, _: Observation) -> float | None:
    negative = is_negative(record.feedback)
    return None if negative is None else float(negative)


def _read_empty_retrieval(_: AuditRecord, observation: Observation) -> float | None:
    stage = find_stage(observation, RETRIEVED_STAGE)
    return None if stage is None else float(not stage.chunks)


def _list_scores(observation: Observation) -> list[float]:
    stage = find_stage(observation, RETRIEVED_STAGE)
    chunks = stage.chunks if stage is not None else ()
    return sorted((chunk.score for chunk in chunks if chunk.score is not None), reverse=True)


def _read_top_score(_: AuditRecord, observation: Observation) -> float | None:
    scores = _list_scores(observation)
    return scores[0] if scores else None


def _read_score_gap(_: AuditRecord, observation: Observation) -> float | None:
    scores = _list_scores(observation)
    return scores[0] - scores[1] if len(scores) > 1 else None


RECORD_READERS: dict[str, tuple[RecordReader, str]] = {
    "negative_feedback": (_read_feedback, "nobody gave feedback that says up or down"),
    "empty_retrieval": (_read_empty_retrieval, "what was retrieved was not reported"),
    "top_score": (_read_top_score, "no scores of retrieved chunks were reported"),
    "score_gap": (_read_score_gap, "fewer than two scores of retrieved chunks were reported"),
}
NO_NEAR_CASE = "no_near_case"
_RECORD_MEASURES = (
    Measure("negative_feedback", "share", False, 0.0, 1.0),
    Measure("empty_retrieval", "share", False, 0.0, 1.0),
    Measure("top_score", "score", None, None, None),
    Measure("score_gap", "score", None, None, None),
    Measure(NO_NEAR_CASE, "share", None, 0.0, 1.0),
)


def choose_measures(names: Sequence[str] | None, by: str, judging: RecordedVerdicts | None = None) -> list[Measure]:
    """Return what is measured: the metrics named, or the usual ones; those that need reading are scored `by` a scorer.

    Scores that no calibration in `judging` gives a scale say so. Raises InputError for a metric that cannot be watched,
    MetricNameError for one that does not exist.
    """
    if names is None:
        names = [*(f"{name}(by={by})" for name in SAMPLED), *EVERY_ANSWER, *(row.name for row in _RECORD_MEASURES)]
    own = {measure.name: measure for measure in _RECORD_MEASURES}
    return [own[name] if name in own else _measure_metric(name, judging) for name in dict.fromkeys(names)]


def _measure_metric(text: str, judging: RecordedVerdicts | None) -> Measure:
    name = parse_metric(text)
    metric = find_metric(name)
    if metric.name == LEAKS:
        raise InputError(f"{LEAKS}: leaks are always reported, one by one, and are no rate to watch")
    if metric.compute is None or metric.parts:
        raise InputError(f"not a metric of single answers (got {shorten_repr(text)}; expected one of them)")
    is_count = metric.unit == "count"
    better = {"higher": True, "lower": False}.get(metric.direction)
    bounded = metric.high != float("inf")
    low, high = (0.0, 1.0) if is_count else (metric.low, metric.high) if bounded else (metric.low, None)
    has_scale = name.key_value("by", "judge") == "judge" or may_metric_gate(name, judging)  # as in gates: ADR 43
    return Measure(
        str(name),
        ("share" if is_count else metric.unit) if has_scale else "score",
        better,
        low,
        high,
        str(case_column_name(name)),
        as_share=is_count,
        percentile={"p95": 95.0, "p50": 50.0}.get(name.key_value("stat", "")),
        sampled=bool(metric.rubrics) or name.key_value("by", "") == BY_ENTAILMENT,
        caveat="" if has_scale else UNCALIBRATED,
    )


# ── slices ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def list_slices(record: AuditRecord) -> Iterable[tuple[str, str]]:
    """Yield the slices that an answer is in as key and value: tenant, role, locale, config, model, prompt, version.…"""
    user = record.user
    if user is not None:
        if user.tenant is not None:
            yield "tenant", shorten_to_line(user.tenant, MAX_VALUE)
        for role in user.roles:
            yield "role", shorten_to_line(role, MAX_VALUE)
        if user.locale is not None:
            yield "locale", shorten_to_line(user.locale, MAX_VALUE)
    yield from list_versions(record)


def list_versions(record: AuditRecord) -> Iterable[tuple[str, str]]:
    """Yield what made an answer: the configuration, the model, the prompt, and every version that it states."""
    stated = {"config": record.config_id, "model": record.model, "prompt": record.prompt_hash}
    for name, value in stated.items():
        if value is not None:
            yield name, shorten_to_line(value, MAX_VALUE)
    for name, value in record.versions.items():
        yield f"version.{shorten_to_line(name, MAX_VALUE)}", shorten_to_line(value, MAX_VALUE)


def check_slices(names: Sequence[str]) -> None:
    """Raise InputError for what is neither a key of answers nor `key=value`."""
    for name in names:
        key = name.partition("=")[0]
        if (key not in _SLICE_KEYS and not key.startswith("version.")) or name.endswith("="):
            keys = ", ".join(_SLICE_KEYS)
            raise InputError(
                f"--slice: not a slice of answers (got {shorten_repr(name)}; expected KEY or KEY=VALUE, "
                f"where KEY is {keys} or version.NAME)"
            )
