"""Format checks: whether an answer has the form that its case demands: a pattern, a JSON schema, a length.

A golden set that demands what cannot be checked is refused when it is read. Patterns run in linear time.
"""

from __future__ import annotations

import json
import math

from msgspec import structs

from assay.metrics.answer_metric import Scorers, define_answer_metric
from assay.metrics.answers.correctness import is_accepted_refusal, no_answer_reason
from assay.metrics.judged.judge_requests import Outcome, not_applicable_outcome, scored_outcome
from assay.metrics.metric import Metric, MetricKey, MetricName
from assay.metrics.parsed_answer import REFUSED, ParsedAnswer, format_list
from assay.records.golden_set import AnswerFormat
from assay.text.json_shape import check_schema
from assay.text.linear_patterns import compile_linear

PATTERN, JSON_SCHEMA, LENGTH, ALL_CHECKS = "pattern", "json_schema", "length", "all"
NO_FORMAT = "the case demands no such form"
MAX_JSON_CHARS = 1_000_000


def find_pattern_faults(answer: str, wanted: AnswerFormat) -> list[str]:
    """Return what is wrong with the answer under the pattern, if one is demanded."""
    if wanted.pattern is None or compile_linear(wanted.pattern).matches(answer.strip()):
        return []
    return [f"does not match {wanted.pattern}"]


def find_length_faults(answer: str, wanted: AnswerFormat) -> list[str]:
    """Return what is wrong with the length of the answer, in characters and in words between white space."""
    faults = []
    text = answer.strip()
    for count, low, high, unit in (
        (len(text), wanted.min_chars, wanted.max_chars, "characters"),
        (len(text.split()), wanted.min_words, wanted.max_words, "words"),
    ):
        if count < (low or 0) or count > (math.inf if high is None else high):
            faults.append(f"{count} {unit}")
    return faults


def find_json_faults(answer: str, wanted: AnswerFormat) -> list[str]:
    """Return what is wrong with the answer as JSON, if a schema is demanded; a code fence around it is no JSON."""
    if wanted.json_schema is None:
        return []
    if len(answer) > MAX_JSON_CHARS:
        return [f"longer than {MAX_JSON_CHARS} characters"]
    try:
        value = json.loads(answer, parse_constant=_refuse_constant)
        return list(check_schema(value, wanted.json_schema))
    except ValueError:
        return ["not JSON"]
    except RecursionError:
        return ["nested too deep"]


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def score_format(reading: ParsedAnswer, check: str = ALL_CHECKS) -> Outcome:
    """1 if the answer has the demanded form, else 0."""
    wanted = reading.case.case.answer_format
    if wanted is None or (check != ALL_CHECKS and not _is_demanded(wanted, check)):
        return not_applicable_outcome(NO_FORMAT)
    if is_accepted_refusal(reading):
        return not_applicable_outcome(REFUSED)
    faults = find_format_faults(reading.answer, wanted, check)
    return scored_outcome(float(not faults), format_list("wrong form", faults))


def find_format_faults(answer: str, wanted: AnswerFormat, check: str = ALL_CHECKS) -> list[str]:
    """Return what is wrong with the form of an answer, by one check or by all of them.

    >>> find_format_faults("about twelve days", AnswerFormat(pattern="^[0-9]+ days$", max_words=2))
    ['does not match ^[0-9]+ days$', '3 words']
    """
    faults = []
    for name, find_faults in _CHECKS.items():
        if check in (name, ALL_CHECKS):
            faults += find_faults(answer, wanted)
    return faults


_CHECKS = {PATTERN: find_pattern_faults, JSON_SCHEMA: find_json_faults, LENGTH: find_length_faults}


def _is_demanded(wanted: AnswerFormat, check: str) -> bool:
    if check == LENGTH:
        lengths = (wanted.min_chars, wanted.max_chars, wanted.min_words, wanted.max_words)
        return any(length is not None for length in lengths)
    return (wanted.pattern if check == PATTERN else wanted.json_schema) is not None


def _score_pattern(reading: ParsedAnswer) -> Outcome:
    return score_format(reading, PATTERN)


def _score_json(reading: ParsedAnswer) -> Outcome:
    return score_format(reading, JSON_SCHEMA)


def _score_length(reading: ParsedAnswer) -> Outcome:
    return score_format(reading, LENGTH)


_SCORERS = {
    ALL_CHECKS: Scorers(score_format, exemption_reason=no_answer_reason),
    PATTERN: Scorers(_score_pattern, exemption_reason=no_answer_reason),
    JSON_SCHEMA: Scorers(_score_json, exemption_reason=no_answer_reason),
    LENGTH: Scorers(_score_length, exemption_reason=no_answer_reason),
}


def _find_scorers(name: MetricName) -> Scorers:
    return _SCORERS[name.key_value("check", ALL_CHECKS)]


FORMAT_METRICS: tuple[Metric, ...] = (
    structs.replace(
        define_answer_metric(
            "answer_format",
            "Whether the answer has the form that its case demands: pattern, JSON schema, length.",
            "`answer_format` of the golden set",
            f"no answer expected, refused as the case accepts, or {NO_FORMAT}",
            _find_scorers,
            keys={"check": MetricKey(ALL_CHECKS, (ALL_CHECKS, *_CHECKS), "the check, or all that the case demands")},
        ),
        family="answer",
        statistic="rate",
        uncalibrated=(),
    ),
)
