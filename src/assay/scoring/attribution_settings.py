"""Decides whether an answer is good: the first available signal decides, and is named with its threshold (ADR 0030)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from msgspec import Struct, field

from assay.metrics.case_checks import JUDGE_THRESHOLD, JUDGED_CORRECTNESS
from assay.metrics.catalog import parse_metric
from assay.records.errors import SettingsError, shorten_repr
from assay.records.observations import CONTEXT_STAGE
from assay.records.requests import AUTO_SIGNAL
from assay.text.late_pattern import LatePattern

JUDGE_METRIC = JUDGED_CORRECTNESS
SIMILARITY_METRIC = "answer_similarity"


_NEVER_INTERNAL = frozenset((CONTEXT_STAGE, "citations", "answer"))


class QualityThreshold(NamedTuple):
    """A metric and the minimum value that counts as good."""

    metric: str
    least: float


_SPEC = LatePattern(r"(?P<metric>[^<>=\s](?:[^<>]*[^<>=\s])?)\s*>=\s*(?P<least>[0-9.]+(?:e-?[0-9]+)?)")


@lru_cache(maxsize=64)  # asked for each case
def parse_good_threshold(good: str) -> QualityThreshold | None:
    """Parse the setting `scoring.good`: a metric with its minimum, or `auto`, for which None is returned.

    Raises SettingsError for anything else, MetricNameError for a metric that is not in the catalogue.

    >>> parse_good_threshold("number_match >= 1")
    QualityThreshold(metric='number_match', least=1.0)
    """
    if good == AUTO_SIGNAL:
        return None
    match = _SPEC.fullmatch(good.strip())
    try:
        least = float(match["least"]) if match else None
    except ValueError:
        least = None
    if match is None or least is None:
        expected = "auto, or a metric with its minimum, such as correctness(by=judge)>=0.75"
        raise SettingsError(f"scoring.good: cannot be read (got {shorten_repr(good)}; expected {expected})")
    return QualityThreshold(str(parse_metric(match["metric"])), least)


class AttributionSettings(Struct, frozen=True):
    """The settings of attribution.

    `good` is the signal that decides whether an answer is good: `auto`, or a metric with its minimum. `production_k` is
    the number of chunks that the system shows its model. `reached` says whether all of the required evidence must have
    reached the model or any of it. `calibrated` are the judge metrics that were calibrated against human labels;
    `judge_threshold` is the least grade of a judge that `auto` takes as right. `internal_stages` are shown to nobody.
    `sent_users` says of configurations whether their target is given the user of a case, where that is known, and
    `is_user_sent` is that of the one that is attributed.
    """

    good: str = AUTO_SIGNAL
    production_k: int | None = None
    reached: Literal["all", "any"] = "all"
    calibrated: frozenset[str] = frozenset()
    judge_threshold: float = JUDGE_THRESHOLD
    internal_stages: tuple[str, ...] = ()
    sent_users: Mapping[str, bool] = field(default_factory=dict)
    is_user_sent: bool | None = None

    @property
    def threshold(self) -> QualityThreshold | None:
        """The metric that alone decides, with its minimum; None if the first signal does that is available."""
        return parse_good_threshold(self.good)

    @property
    def deciding_metrics(self) -> tuple[str, ...]:
        """The metrics that may decide."""
        threshold = self.threshold
        return (threshold.metric,) if threshold is not None else (JUDGE_METRIC, SIMILARITY_METRIC)

    def __post_init__(self) -> None:
        """Raise SettingsError for a signal that cannot be read, and for a place that is never internal."""
        shown = sorted(_NEVER_INTERNAL.intersection(self.internal_stages))
        if shown:
            expected = "stages before the context, such as the list before a filter"
            raise SettingsError(
                f"scoring.internal_stages: shown to the user (got {', '.join(shown)}; expected {expected})"
            )
        parse_good_threshold(self.good)
