"""A rubric as a metric: what it asks about an answer, and the number that its labels give.

Whatever a rubric names as its inputs is filled in from the case and the observation, so that no rubric, shipped or the
user's, needs code of its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from assay.metrics.answer_metric import BY_JUDGE, AnswerMetric, Scorers, define_answer_metric
from assay.metrics.grounding.citation_support import collect_citation_entries
from assay.metrics.judged.judge_requests import (
    ItemLabel,
    JudgeDialogue,
    Outcome,
    Rubrics,
    Rulings,
    collect_labels,
    find_rubric,
    make_item_requests,
    make_request,
    not_applicable_outcome,
    scored_outcome,
)
from assay.metrics.metric import Metric, MetricKey, MetricName
from assay.metrics.parsed_answer import NO_CLAIMS, ParsedAnswer, format_list
from assay.records.verdicts import JudgeRequest, JudgeRubric

EMPTY_ANSWER = "the answer is empty"
NO_REFERENCE, NO_FACTS = "no reference", "the case states nothing to look for"
LABEL_KEY = "label"
"""The key that names the label to count, for rubrics whose labels have no number."""
ItemEntries = list[dict[str, str]]
JUDGED_ONLY = MetricKey("", (BY_JUDGE,), "recorded verdicts")


class MissingInput(Struct, frozen=True):
    """Why an input of a rubric cannot be filled in."""

    reason: str


InputReader = Callable[[JudgeRubric, ParsedAnswer], Any]
"""Returns an input of a rubric for one answer, or `MissingInput`."""


def _read_history(_: JudgeRubric, reading: ParsedAnswer) -> ItemEntries:
    return [{"role": turn.role, "text": turn.text} for turn in reading.case.case.history]


def _read_question(rubric: JudgeRubric, reading: ParsedAnswer) -> str:
    return reading.case.case.question if "history" in rubric.inputs else reading.question


def _read_reference(_: JudgeRubric, reading: ParsedAnswer) -> str | MissingInput:
    case = reading.case.case
    return case.reference or "; ".join(case.must_have) or MissingInput(NO_REFERENCE)


def _read_facts(_: JudgeRubric, reading: ParsedAnswer) -> ItemEntries | MissingInput:
    facts = reading.case.case.must_have
    return [{"id": f"f{number}", "text": fact} for number, fact in enumerate(facts, 1)] or MissingInput(NO_FACTS)


def _read_claims(_: JudgeRubric, reading: ParsedAnswer) -> ItemEntries | MissingInput:
    return [{"id": claim.id, "text": claim.text} for claim in reading.claims] or MissingInput(NO_CLAIMS)


def _read_citations(rubric: JudgeRubric, reading: ParsedAnswer) -> ItemEntries | MissingInput:
    if isinstance(reading.cited_texts, str):
        return MissingInput(reading.cited_texts)
    entries, _ = collect_citation_entries(reading)
    if "context" not in rubric.sources:  # only sources have names that a citation can be shown with
        entries = [{"id": entry["id"], "text": entry["text"]} for entry in entries]
    return entries or MissingInput("no citation of a known source")


def _read_context(rubric: JudgeRubric, reading: ParsedAnswer) -> ItemEntries | MissingInput | None:
    """Return the passages: those of the citations if the rubric names these, else the context."""
    is_labelled = rubric.per_item and rubric.inputs[0] == "context"
    if "citations" in rubric.inputs:
        texts: Mapping[str, str] = collect_citation_entries(reading)[1]
    elif isinstance(reading.context_texts, str):
        is_needed = is_labelled or "context" in rubric.sources
        return MissingInput(reading.context_texts) if is_needed else None
    else:
        texts = reading.context_texts
    if is_labelled and not texts:
        return MissingInput("no context")
    return [{"id": name, "text": text} for name, text in texts.items()]


_INPUT_READERS: Mapping[str, InputReader] = {
    "answer": lambda _, reading: reading.answer,
    "history": _read_history,
    "question": _read_question,
    "reference": _read_reference,
    "facts": _read_facts,
    "claims": _read_claims,
    "citations": _read_citations,
    "context": _read_context,
}


def collect_rubric_inputs(rubric: JudgeRubric, reading: ParsedAnswer) -> dict[str, Any] | MissingInput:
    """Return the inputs of a rubric for one answer, or why it cannot be asked about it.

    Without the input `history`, the earlier turns are part of the question. A context that was not reported is null,
    unless the rubric labels its passages or needs quotes of it.
    """
    inputs: dict[str, Any] = {}
    for name in rubric.inputs:
        inputs[name] = _INPUT_READERS[name](rubric, reading)
        if isinstance(inputs[name], MissingInput):
            missing: MissingInput = inputs[name]
            return missing
    return inputs


def make_rubric_requests(rubric: JudgeRubric, inputs: Mapping[str, Any]) -> list[JudgeRequest]:
    """Return the requests of a rubric with these inputs: one, or one for each twelve items."""
    if not rubric.per_item:
        return [make_request(rubric, inputs)]
    key = rubric.inputs[0]
    return make_item_requests(rubric, key, inputs[key], inputs)


def judge_rubric(reading: ParsedAnswer, rubrics: Rubrics, name: str, label: str = "") -> JudgeDialogue:
    """Return the mean number of the labels under a rubric; with `label`, the share of items that have this label.

    An item whose label has no number does not count in the mean. An empty answer has the lowest number unasked.
    """
    return (yield from judge_labelled_rubric(reading, rubrics, name, label))[0]


def judge_labelled_rubric(
    reading: ParsedAnswer, rubrics: Rubrics, name: str, label: str = ""
) -> Generator[list[JudgeRequest], Rulings, tuple[Outcome, Mapping[str, ItemLabel]]]:
    """Return what `judge_rubric` does, with the labels by item; none where the judge gave none."""
    rubric = find_rubric(rubrics, name, reading.language)
    if "answer" in rubric.inputs and not reading.answer.strip():
        values = [rubric_label.value for rubric_label in rubric.labels if rubric_label.value is not None]
        return scored_outcome(min(values), EMPTY_ANSWER) if values else not_applicable_outcome(EMPTY_ANSWER), {}
    inputs = collect_rubric_inputs(rubric, reading)
    if isinstance(inputs, MissingInput):
        return not_applicable_outcome(inputs.reason), {}
    requests = reading.cached_requests(name, "", lambda: make_rubric_requests(rubric, inputs))
    labels = collect_labels((yield requests), requests)
    if isinstance(labels, Outcome):
        return labels, {}
    detail = _describe_labels(rubric, labels, inputs)
    if label:
        matching = sum(item.label == label for item in labels.values())
        return scored_outcome(matching / len(labels), detail), labels
    numbers = [item.value for item in labels.values() if item.value is not None]
    if not numbers:
        return not_applicable_outcome(", ".join(sorted({item.label for item in labels.values()}))), labels
    return scored_outcome(math.fsum(numbers) / len(numbers), detail), labels


def _describe_labels(rubric: JudgeRubric, labels: Mapping[str, ItemLabel], inputs: Mapping[str, Any]) -> str:
    """Return the label of an answer; for several items, how often each label was given and the items below the best."""
    if not rubric.per_item:
        return next(iter(labels.values())).label
    texts = {entry["id"]: entry["text"] for entry in inputs[rubric.inputs[0]]}
    counts = Counter(item.label for item in labels.values())
    frequencies = ", ".join(f"{label.name} {counts[label.name]}" for label in rubric.labels if counts[label.name])
    lower = [f"{texts[item_id]} ({item.label})" for item_id, item in labels.items() if (item.value or 0.0) < 1]
    return "; ".join(filter(None, (frequencies, format_list("below the best", lower))))


class RubricScorer(Struct, frozen=True):
    """Asks a rubric; equal ones travel to worker processes as one."""

    rubric: str
    label: str = ""

    def __call__(self, reading: ParsedAnswer, rubrics: Rubrics) -> JudgeDialogue:
        """Return the dialogue with the judge about one answer."""
        return judge_rubric(reading, rubrics, self.rubric, self.label)


class RubricMetric(AnswerMetric, frozen=True):
    """The catalogue row of a rubric.

    `label_values` are its labels with their numbers; `own_rubrics` is a user's rubric in all its languages."""

    label_values: tuple[tuple[str, float | None], ...] = ()
    own_rubrics: tuple[JudgeRubric, ...] = ()

    @property
    def has_numbers(self) -> bool:
        """Whether its labels have numbers; else its names count one label each."""
        return any(value is not None for _, value in self.label_values)

    def list_names(self) -> list[str]:
        """Return the names under which it is scored: one, or one for each label if the labels have no number."""
        if self.has_numbers:
            return [f"{self.name}(by=judge)"]
        return [f"{self.name}(by=judge,label={label})" for label, _ in self.label_values]


def define_rubric_metric(
    name: str,
    rubric: str,
    label_values: Iterable[tuple[str, float | None]],
    summary: str,
    source: str,
    undefined: str,
    *,
    per_item: bool = False,
    own_rubrics: tuple[JudgeRubric, ...] = (),
) -> RubricMetric:
    """Return the catalogue row of a rubric.

    Labels with numbers give their mean, and more is better. Otherwise the metric takes the key `label` and is the share
    of answers, or of items, with that label, which is neither good nor bad.
    """
    labels = tuple(label_values)
    has_numbers = any(value is not None for _, value in labels)
    label_names = tuple(label for label, _ in labels)

    def find_scorers(metric_name: MetricName) -> Scorers:
        return Scorers(judge=RubricScorer(rubric, metric_name.key_value(LABEL_KEY, "")))

    row = define_answer_metric(name, summary, source, undefined, find_scorers, rubrics=(rubric,))
    keys = {"by": JUDGED_ONLY}
    if not has_numbers:
        keys[LABEL_KEY] = MetricKey("", label_names, "the label to count", required=True)
    row = structs.replace(row, keys=keys, uncalibrated=(BY_JUDGE,))
    if not has_numbers:
        row = structs.replace(row, direction="neutral", statistic="mean" if per_item else "rate")
    return RubricMetric(**structs.asdict(row), label_values=labels, own_rubrics=own_rubrics)


def make_own_rubric_metric(rubrics: Sequence[JudgeRubric]) -> RubricMetric:
    """Return the row of a user's rubric, given in all its languages. The first gives the labels and the summary."""
    rubric = rubrics[0]
    return define_rubric_metric(
        rubric.name,
        rubric.name,
        [(label.name, label.value) for label in rubric.labels],
        " ".join(rubric.task.replace("{{", "").replace("}}", "").split()),
        f"rubric {rubric.name}, version {rubric.version}",
        "an input of the rubric is missing",
        per_item=rubric.per_item,
        own_rubrics=tuple(rubrics),
    )


_GRADES = (("fully_correct", 1.0), ("partially_correct", 0.5), ("unsupported", 0.0), ("wrong", 0.0))
_FAILURES = (
    "hallucination", "retrieval_miss", "wrong_chunk", "missing_evidence", "reasoning_error", "scope_confusion", "none",
)  # fmt: skip
_BEHAVIOURS = ("answer", "abstain", "permission_denied", "escalate", "clarify")
_SEGMENTS = ("claim", "several_claims", "unclear", "not_a_claim")


def _without_numbers(labels: Iterable[str]) -> list[tuple[str, None]]:
    return [(label, None) for label in labels]


RUBRIC_METRICS: tuple[Metric, ...] = (
    define_rubric_metric(
        "grade",
        "grade",
        _GRADES,
        "The grade of the answer by reference and evidence: fully or partially correct, unsupported, wrong.",
        "code benchmark: graded run log",
        NO_REFERENCE,
    ),
    define_rubric_metric(
        "failure_label",
        "failure",
        _without_numbers(_FAILURES),
        "Whether the answer has this failure, the one that explains most of what is wrong with it.",
        "code benchmark: graded run log",
        NO_REFERENCE,
    ),
    define_rubric_metric(
        "refusal",
        "refusal",
        _without_numbers(_BEHAVIOURS),
        "Whether the answer did this, by a judge: it answered, abstained, denied, escalated or asked back.",
        "the behaviours of the golden set",
        EMPTY_ANSWER,
    ),
    define_rubric_metric(
        "claims",
        "claims",
        _without_numbers(_SEGMENTS),
        "Share of the pieces that an answer was segmented into that are this: one claim, several, unclear, none.",
        "checks the segmentation that all metrics of claims rest on",
        NO_CLAIMS,
        per_item=True,
    ),
)

METRIC_OF_RUBRIC: Mapping[str, str] = {
    "support": "faithfulness",
    "relevance": "answer_relevance",
    "failure": "failure_label",
}
"""The metric of a shipped rubric that has another name than its main metric."""


def name_rubric_metric(rubric: str) -> str:
    """Return the name of the main metric of a rubric.

    >>> name_rubric_metric("relevance"), name_rubric_metric("tone")
    ('answer_relevance', 'tone')
    """
    return METRIC_OF_RUBRIC.get(rubric, rubric)
